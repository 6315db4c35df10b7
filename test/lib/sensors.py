# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of sensors and of other packages: objects with the fields of their definitions."""

from __future__ import annotations

import random
import struct
from math import cos, pi, sin
from types import SimpleNamespace as Message
from typing import Any

import numpy as np

NS = 1_000_000_000


def header(frame: str = "odom", stamp: int = 100 * NS) -> Any:
    return Message(frame_id=frame, stamp=Message(sec=stamp // NS, nanosec=stamp % NS))


def xyz(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Any:
    return Message(x=x, y=y, z=z)


def turn(yaw: float) -> tuple[float, float, float, float]:
    return 0.0, 0.0, sin(yaw / 2), cos(yaw / 2)


def pose(
    x: float, y: float, yaw: float = 0.0, q: tuple[float, float, float, float] | None = None
) -> Any:
    """A geometry_msgs/Pose with a yaw or a quaternion."""
    orientation = Message(**dict(zip("xyzw", q or turn(yaw), strict=True)))
    return Message(position=xyz(x, y), orientation=orientation)


def polygon(*points: tuple[float, float]) -> Any:
    return Message(points=[xyz(*point) for point in points])


def twist(vx: float = 0.0, vy: float = 0.0, wz: float = 0.0) -> Any:
    return Message(linear=xyz(vx, vy), angular=xyz(z=wz))


def scan(ranges: Any, /, **changes: Any) -> Any:
    """A scan of a full circle."""
    count = len(ranges)
    fields = {
        "header": header(), "angle_min": -pi, "angle_increment": 2 * pi / max(count, 1),
        "angle_max": -pi + (count - 1) * 2 * pi / max(count, 1), "time_increment": 0.0,
        "scan_time": 0.05, "range_min": 0.1, "range_max": 100.0,
        "ranges": np.array(ranges, dtype=np.float32), "intensities": np.empty(0, np.float32),
    }  # fmt: skip
    return Message(**{**fields, **changes})


def cloud(
    points: Any, rng: random.Random, *, rows: int = 1, padding: int = 0, **changes: Any
) -> Any:
    """A cloud with other fields between x, y and z, whose bytes are packed one by one."""
    big = rng.random() < 0.5
    names = ["x", "y", "z", "intensity", "ring"]
    rng.shuffle(names)
    types = {name: rng.choice((7, 8)) for name in "xyz"} | {"intensity": 7, "ring": 4}
    sizes = {7: ("f", 4), 8: ("d", 8), 4: ("H", 2)}
    fields, offset = [], rng.choice((0, 3))
    for name in names:
        fields.append(Message(name=name, offset=offset, datatype=types[name], count=1))
        offset += sizes[types[name]][1] + rng.choice((0, 0, 5))
    step = offset + rng.choice((0, 7))
    width = len(points) // rows
    data = bytearray()
    for i, point in enumerate(points):
        raw = bytearray(rng.randbytes(step))
        for each in fields:
            value = point["xyz".index(each.name)] if each.name in "xyz" else 1
            format = (">" if big else "<") + sizes[each.datatype][0]
            struct.pack_into(format, raw, each.offset, value)
        data += raw
        if (i + 1) % width == 0:
            data += rng.randbytes(padding)
    message = {
        "header": header(), "height": rows, "width": width, "fields": fields, "is_bigendian": big,
        "point_step": step, "row_step": width * step + padding,
        "data": np.frombuffer(bytes(data), np.uint8), "is_dense": True,
    }  # fmt: skip
    return Message(**{**message, **changes})


def grid(cells: Any, resolution: float = 0.5, origin: Any = None) -> Any:
    """An occupancy grid."""
    height, width = cells.shape
    info = Message(
        map_load_time=header().stamp, resolution=resolution, width=width, height=height,
        origin=origin or pose(0.0, 0.0),
    )  # fmt: skip
    return Message(header=header(), info=info, data=cells.ravel().astype(np.int8))


def converted(
    *points: tuple[float, float], radius: float = 0.0, number: int = 1, frame: str = "odom",
    stamp: int = 100 * NS, velocity: Any = None,
) -> Any:  # fmt: skip
    """An obstacle of costmap_converter_msgs."""
    return Message(
        header=header(frame, stamp), polygon=polygon(*points), radius=radius, id=number,
        orientation=pose(0.0, 0.0).orientation,
        velocities=Message(twist=velocity or twist(), covariance=[0.0] * 36),
    )  # fmt: skip
