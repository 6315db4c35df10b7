# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/Collide``: whether the vehicle is free at one pose."""

from ... import _core
from ..answers import Answer, answer_of
from ..frames import IDENTITY, Pose
from .poses import NO_LIMIT, Data, one_pose
from .service import OnePose

__all__ = ["Collide", "collide"]


class Collide(OnePose):
    """A request of ``~/collide``."""

    name = "collide"

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        pose, frame = self.place
        return collide(data, pose, float(self.message.margin), frame=frame)


def collide(data: Data, pose: Pose, margin: float = 0.0, *, frame: Pose = IDENTITY) -> Answer:
    """Check one pose of the base frame.

    Parameters
    ----------
    data : Data
        The data to be used.
    pose : Pose
        x y yaw [m, m, rad] of the base frame, in `frame`.
    margin : float
        Added to the configured margin [m], >= 0.
    frame : Pose
        Pose of the request's frame in the check frame.
    """
    core, placed, error = one_pose(data, pose, frame)
    return answer_of(core.collide(placed, margin, error))
