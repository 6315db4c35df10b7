# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/Distance``: the obstacles that are nearest to the vehicle at one pose."""

from ... import _core
from .answers import Answer, answer_of
from .poses import NO_LIMIT, Data
from .service import OnePose

__all__ = ["Distance"]


class Distance(OnePose):
    """A request of ``~/distance``.

    If the data has a fault, the list may be incomplete. It is then only returned if the verdict is
    COLLISION.
    """

    name = "distance"
    digested = ("ids", "statuses", "distances"), ()

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        (core, pose, error), message = self.placed(data), self.message
        return answer_of(core.distance(pose, int(message.k), float(message.max_distance), error))

    def least(self, answer: Answer) -> tuple[float, float] | None:
        """Return the distance of the nearest obstacle."""
        if not len(answer.distances):
            return None
        return float(answer.distances[0]), float(answer.lower_bounds[0])
