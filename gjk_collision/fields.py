# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Fields of messages as plain data: of ROS's messages, and of those that a bag is read into.

Messages are taken as they are defined, without their packages: whatever has the fields will do.
"""

from typing import Any

from .frames import Pose, planar

__all__ = ["nanoseconds", "pose"]


def nanoseconds(stamp: Any) -> int:
    """Return a builtin_interfaces/Time as whole nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def pose(message: Any, name: str) -> Pose:
    """Return a geometry_msgs/Pose in the plane; raises `InputError` where it is none."""
    p, q = message.position, message.orientation
    return planar(float(p.x), float(p.y), (q.x, q.y, q.z, q.w), name)
