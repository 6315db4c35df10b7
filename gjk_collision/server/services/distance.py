# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/Distance``: the obstacles that are nearest to the vehicle at one pose."""

from ... import _core
from ..answers import Answer, answer_of
from ..frames import IDENTITY, Pose
from .poses import NO_LIMIT, Data, one_pose
from .service import OnePose

__all__ = ["Distance", "distance"]


class Distance(OnePose):
    """A request of ``~/distance``."""

    name = "distance"
    digested = ("ids", "statuses", "distances"), ()

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        (pose, frame), message = self.place, self.message
        return distance(data, pose, int(message.k), float(message.max_distance), frame=frame)

    def least(self, answer: Answer) -> tuple[float, float] | None:
        """Return the distance of the nearest obstacle."""
        if not len(answer.distances):
            return None
        return float(answer.distances[0]), float(answer.lower_bounds[0])


def distance(
    data: Data,
    pose: Pose,
    k: int = 1,
    max_distance: float = 0.0,
    *,
    frame: Pose = IDENTITY,
) -> Answer:
    """Find the obstacles that are nearest to the vehicle at a pose.

    If the data has a fault, the list may be incomplete. It is then only returned if the verdict is
    COLLISION.

    Parameters
    ----------
    data, pose, frame
        As for `collide`.
    k : int
        Maximum number of obstacles; 0: one.
    max_distance : float
        Obstacles farther away are not returned [m]; 0: no limit.
    """
    core, placed, error = one_pose(data, pose, frame)
    return answer_of(core.distance(placed, max(k, 0), max_distance, error))
