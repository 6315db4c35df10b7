# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``msg/CollisionState``: the verdict in the heartbeat."""

from ..data.faults import Fault
from ..data.twist import Twist
from ..frames.poses import Pose
from .answers import Answer, answer_of
from .poses import Data

__all__ = ["state"]


def state(data: Data, pose: Pose | Fault, twist: Twist | Fault | None) -> Answer:
    """Check the present pose of the vehicle, and find the nearest obstacle.

    Parameters
    ----------
    data : Data
        The data to be used.
    pose : Pose or Fault
        Pose of the base frame in the check frame, or the reason why it is not known.
    twist : Twist, Fault or None
        Twist of the base frame. If it is not known, there is no time to collision.
    """
    return answer_of(
        data.cores()[0].state(
            None if isinstance(pose, Fault) else (pose.x, pose.y, pose.yaw),
            (int(pose.status), pose.message) if isinstance(pose, Fault) else None,
            (twist.vx, twist.vy, twist.wz) if isinstance(twist, Twist) else None,
        )
    )
