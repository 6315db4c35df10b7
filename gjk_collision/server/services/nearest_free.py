# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/NearestFree``: the nearest pose at which the vehicle is free."""

from ... import _core
from ...verdict import Verdict
from ..answers import Answer, answer_of
from ..frames import IDENTITY, Pose
from ..snapshot import Snapshot
from .poses import NO_LIMIT, Data, one_pose
from .service import OnePose

__all__ = ["NearestFree", "nearest_free"]


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
        """Compute the answer."""
        (pose, frame), m = self.place, self.message
        values = map(float, (m.max_shift, m.max_turn, m.margin, m.tolerance))
        return nearest_free(data, pose, *values, frame=frame, budget=budget)

    def verifiable(
        self, answer: Answer, snapshot: Snapshot, index: int
    ) -> tuple[Snapshot, Pose, Pose, Verdict] | None:
        """Return the free pose, or the requested one."""
        if len(answer.free_pose):
            return snapshot, Pose(*answer.free_pose.tolist()), IDENTITY, answer.verdict
        return super().verifiable(answer, snapshot, index)


def nearest_free(
    data: Data,
    pose: Pose,
    max_shift: float,
    max_turn: float = 0.0,
    margin: float = 0.0,
    tolerance: float = 0.0,
    *,
    frame: Pose = IDENTITY,
    budget: _core.Budget = NO_LIMIT,
) -> Answer:
    """Search the nearest pose of the base frame that is FREE.

    Parameters
    ----------
    data, pose, margin, frame
        As for `collide`.
    max_shift, max_turn : float
        Maximum distance [m] and change of the yaw [rad], >= 0.
    tolerance : float
        Resolution of the search [m]; 0: the parameter `toi_tolerance`.
    budget : _core.Budget
        Its `search_time` is the longest duration of the search. After it, `InputError` is raised
        with the status TIME_BUDGET.
    """
    core, placed, error = one_pose(data, pose, frame)
    return answer_of(
        core.nearest_free(placed, max_shift, max_turn, margin, tolerance, error, budget)
    )
