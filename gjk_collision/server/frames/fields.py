# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of message fields to plain data, for messages of ROS and of a bag.

The packages of the messages are not imported. Any object with the right fields can be passed.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from .poses import Pose, planar

__all__ = ["frame_and_stamp", "nanoseconds", "numbers", "pose"]


def nanoseconds(stamp: Any) -> int:
    """Return a builtin_interfaces/Time in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def numbers(values: Any) -> npt.NDArray[Any]:
    """Return an array field as an ndarray that shares its memory.

    rclpy stores such a field as an `array.array`, and rosbags as an ndarray.
    """
    return np.asarray(values)


def frame_and_stamp(request: Any) -> tuple[str, int]:
    """Return the frame and the stamp [ns] of a request's header; "" and 0 without a header."""
    header = getattr(getattr(request, "pose", request), "header", None)
    return ("", 0) if header is None else (str(header.frame_id), nanoseconds(header.stamp))


def pose(message: Any, name: str) -> Pose:
    """Return a geometry_msgs/Pose as a pose in the plane.

    Raises
    ------
    InputError
        It is not a pose in the plane, see `planar`.
    """
    p, q = message.position, message.orientation
    return planar(float(p.x), float(p.y), (q.x, q.y, q.z, q.w), name)
