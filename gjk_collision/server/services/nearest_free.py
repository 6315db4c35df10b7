# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/NearestFree``: the nearest pose at which the vehicle is free."""

from ... import _core
from .answers import Answer, answer_of
from .poses import NO_LIMIT, Data
from .service import OnePose

__all__ = ["NearestFree"]


class NearestFree(OnePose):
    """A request of ``~/nearest_free``."""

    name = "nearest_free"
    may_be_large = True
    digested = ("free_pose",), ()

    @property
    def is_large(self) -> bool:
        """Whether this request is computed in the second thread."""
        return True

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer; raises `InputError` after the `search_time` of the budget."""
        (core, pose, error), m = self.placed(data), self.message
        shift, turn, margin = float(m.max_shift), float(m.max_turn), float(m.margin)
        return answer_of(
            core.nearest_free(pose, shift, turn, margin, float(m.tolerance), error, budget)
        )
