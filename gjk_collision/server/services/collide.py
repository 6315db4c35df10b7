# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/Collide``: whether the vehicle is free at one pose."""

from ... import _core
from .answers import Answer, answer_of
from .poses import NO_LIMIT, Data
from .service import OnePose

__all__ = ["Collide"]


class Collide(OnePose):
    """A request of ``~/collide``."""

    name = "collide"

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        core, pose, error = self.placed(data)
        return answer_of(core.collide(pose, float(self.message.margin), error))
