# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages: plain facts as objects with the fields of the messages in msg/, srv/ and of ROS."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from types import SimpleNamespace as Fields
from typing import Any

import numpy as np

from gjk_collision.server import adapters
from gjk_collision.server.parameters.config import Config
from gjk_collision.server.server import Heartbeat

from .facts import BEAMS, CELL, CELLS, MAX_RANGE, SECOND, Message, Question

BOW = [(-1, -1), (1, 1), (1, -1), (-1, 1)]  # an outline that crosses itself
CONVEX, CONCAVE, REGION = 0, 1, 2


def time(value: int) -> Fields:
    """Return a builtin_interfaces/Time."""
    return Fields(sec=value // SECOND, nanosec=value % SECOND)


def header(frame: str, stamp: int) -> Fields:
    """Return a std_msgs/Header."""
    return Fields(frame_id=frame, stamp=time(stamp))


def as_message(value: Any, name: str = "") -> Any:
    """Return fields, as server/services/answers.py makes them, as an object like a message."""
    if isinstance(value, Mapping):
        return Fields(**{key: as_message(each, key) for key, each in value.items()})
    if isinstance(value, list):
        return [as_message(each, name) for each in value]
    if name == "position":
        return _point(*value)
    is_time = name in ("stamp", "time_zero", "oldest_data_stamp")
    return time(value) if is_time else value


def state(beat: Heartbeat) -> Any:
    """Return a msg/CollisionState."""
    return as_message(beat.fields())


# ---- what sensors send


def converted(message: Message, config: Config) -> Any:
    """Return what the package makes of a message; raises what the package raises."""
    if message.bad == "undecodable":
        raise ValueError("not enough bytes")
    if message.kind == "footprint":
        return adapters.footprint(_footprint(message), config)
    if message.kind == "twist":
        return adapters.twist(_twist(message), config)
    source = next(each for each in config.sources if each.name == message.source)
    return adapters.CONVERTERS[source.type](_SENSORS[source.type](message), config, source)


def _point(x: float, y: float) -> Fields:
    return Fields(x=x, y=y, z=0.0)


def _pose(x: float, y: float) -> Fields:
    return Fields(position=_point(x, y), orientation=Fields(x=0.0, y=0.0, z=0.0, w=1.0))


def _footprint(message: Message) -> Fields:
    points = _corners(*message.size)
    if message.bad == "value":
        points[1] = (float("nan"), points[1][1])
    if message.bad == "shape":
        points = points[:1]
    polygon = Fields(points=[_point(*each) for each in points])
    return Fields(header=header(message.frame, message.stamp), polygon=polygon)


def _twist(message: Message) -> Fields:
    speed = float("nan") if message.bad else message.speed
    linear, angular = _point(speed, 0.0), _point(0.0, 0.0)
    twist = Fields(twist=Fields(linear=linear, angular=angular))
    return Fields(header=header("odom", message.stamp), child_frame_id=message.frame, twist=twist)


def _corners(hx: float, hy: float) -> list[tuple[float, float]]:
    return [(hx, hy), (-hx, hy), (-hx, -hy), (hx, -hy)]


def _array(message: Message) -> Fields:
    boxes = message.boxes
    outlines = [_corners(b.hx, b.hy) if b.hx or b.hy else [(0.0, 0.0)] for b in boxes]
    kinds = [REGION if each.is_region else CONVEX for each in boxes]
    radius = [each.r for each in boxes]
    if message.bad == "shape":
        outlines[0], kinds[0] = [(float(x), float(y)) for x, y in BOW], CONCAVE
    if message.bad == "value":
        radius[0] = float("nan")
    places = [(0.0, 0.0) if b.is_region else (b.x, b.y) for b in boxes]
    points = [
        (x + b.x * b.is_region, y + b.y * b.is_region)
        for b, outline in zip(boxes, outlines, strict=True)
        for x, y in outline
    ]
    return Fields(
        header=header(message.frame, message.stamp),
        source=message.sender,
        sequence=message.number,
        ids=np.arange(len(boxes)),
        kinds=np.array(kinds, np.uint8),
        offsets=np.cumsum([0, *map(len, outlines)]),
        xy=np.array(points, float).ravel(),
        radius=np.array(radius, float),
        poses=np.array([(x, y, 0.0) for x, y in places], float).ravel(),
        velocities=np.array([(b.vx, b.vy, 0.0) for b in boxes], float).ravel(),
        path_offsets=(),
        path_times=(),
        path_poses=(),
        margins=(),
        margin_rates=(),
    )


def _scan(message: Message) -> Fields:
    ranges = np.full(BEAMS, np.inf)
    for beam, distance in message.returns:
        ranges[beam] = distance
    step = 2.0 * pi / BEAMS
    if message.bad == "value":
        ranges[0] = np.nan
    return Fields(
        header=header(message.frame, message.stamp),
        ranges=ranges,
        angle_min=0.0,
        angle_increment=step,
        angle_max=step * (BEAMS + 9 if message.bad == "shape" else BEAMS - 1),
        range_min=0.05,
        range_max=MAX_RANGE,
    )


def _grid(message: Message) -> Fields:
    data = np.zeros(CELLS * CELLS, np.int8)
    for row, column in message.returns:
        data[CELLS * int(row) + int(column)] = 100
    if message.bad == "value":
        data[0] = 120
    if message.bad == "shape":
        data = data[:-1]
    (x, y), half = message.place, 0.5 * CELL * CELLS
    origin = _pose(x - half, y - half)
    return Fields(
        header=header(message.frame, message.stamp),
        info=Fields(resolution=CELL, width=CELLS, height=CELLS, origin=origin),
        data=data,
    )


_SENSORS = {
    "gjk_collision/msg/ObstacleArray": _array,
    "sensor_msgs/msg/LaserScan": _scan,
    "nav_msgs/msg/OccupancyGrid": _grid,
}


# ---- requests


def rows_of(question: Question) -> Any:
    """Return the poses of a question (n, 3)."""
    return np.array([(x, y, 0.0) for x, y in question.poses])


def request(question: Question, stamp: int, required: int) -> Any:
    """Return the request of a service; `stamp`: that of its header."""
    return as_message(request_fields(question, stamp, required))


def request_fields(question: Question, stamp: int, required: int) -> dict[str, Any]:
    """Return the fields of a request, as `Answer.fields` those of a reply."""
    header = {"frame_id": question.frame, "stamp": stamp}
    fields: dict[str, Any] = {"margin": question.margin, "footprint": question.name_at(0)}
    if question.service in ("CheckPoses", "CheckPath"):
        poses, times = rows_of(question).ravel(), np.array(question.times)
        fields |= {"header": header, "poses": poses, "times": times}
    else:
        place = {
            "position": question.poses[0],
            "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0},
        }
        fields["pose"] = {"header": header, "pose": place}
    own: dict[str, dict[str, Any]] = {
        "Collide": {},
        "Distance": {"k": 1, "max_distance": 0.0},
        "NearestFree": {"max_shift": 1.0, "max_turn": 0.0, "tolerance": 0.01},
        "CheckPath": {"interpolation": 1, "tolerance": 0.0, "arcs": ()},
        "CheckPoses": {
            "footprint": "", "footprints": list(question.names),
            "which": np.array(question.which, np.uint8), "require_snapshot_id": required,
            "mode": 0, "k": 0, "stop_at_first": False, "group_offsets": (),
        },
    }  # fmt: skip
    return fields | own[question.service]
