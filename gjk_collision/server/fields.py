# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Fields of messages as plain data: of ROS's messages, and of those that a bag is read into.

Messages are taken as they are defined, without their packages: whatever has the fields will do.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from .frames import Pose, planar
from .obstacles import Obstacles

__all__ = ["frame_and_stamp", "nanoseconds", "numbers", "obstacles", "pose"]


def nanoseconds(stamp: Any) -> int:
    """Return a builtin_interfaces/Time as whole nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def numbers(values: Any) -> npt.NDArray[Any]:
    """Return an array field as an array that shares its memory.

    rclpy keeps such a field as an `array.array`, rosbags as an ndarray.
    """
    return np.asarray(values)


def obstacles(message: Any) -> Obstacles:
    """Return a gjk_collision/ObstacleArray as data; nothing is checked yet."""
    return Obstacles(
        frame=message.header.frame_id,
        stamp=nanoseconds(message.header.stamp),
        source=message.source,
        sequence=int(message.sequence),
        ids=numbers(message.ids),
        kinds=numbers(message.kinds),
        offsets=numbers(message.offsets),
        xy=numbers(message.xy),
        radius=numbers(message.radius),
        poses=numbers(message.poses),
        velocities=numbers(message.velocities),
        path_offsets=numbers(message.path_offsets),
        path_times=numbers(message.path_times),
        path_poses=numbers(message.path_poses),
    )


def frame_and_stamp(request: Any) -> tuple[str, int]:
    """Return the frame of a request's poses and its stamp [ns]; "" and 0: it has none."""
    header = getattr(getattr(request, "pose", request), "header", None)
    return ("", 0) if header is None else (str(header.frame_id), nanoseconds(header.stamp))


def pose(message: Any, name: str) -> Pose:
    """Return a geometry_msgs/Pose in the plane; raises `InputError` where it is none."""
    p, q = message.position, message.orientation
    return planar(float(p.x), float(p.y), (q.x, q.y, q.z, q.w), name)
