# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of plain data to ROS messages. Arrays are never converted element by element.

rclpy stores numeric sequences as `array.array`. numpy reads them without a copy, and they are
written with one copy of memory. If an ndarray were assigned to a field, rclpy would check each
element.
"""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import accumulate
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Vector3
from gjk_collision.msg import CollisionState, Footprint, ObstacleArray, ReplyInfo, Verdict
from std_msgs.msg import Header

from ..server import dispatch
from ..server.answers import (
    Answer,
    DistanceAnswer,
    NearestFreeAnswer,
    PathAnswer,
    PosesAnswer,
    ShapesAnswer,
    StateAnswer,
    unknown,
)
from ..server.compose import Placed, in_check_frame
from ..server.dispatch import Found
from ..server.obstacles import Obstacles
from ..server.server import Heartbeat
from ..server.snapshot import Fault, Snapshot
from ..server.snapshot_message import obstacle_fields
from ..verdict import Status

__all__ = [
    "fill",
    "fill_answer",
    "fill_info",
    "fill_snapshot",
    "fill_state",
    "filled",
    "none",
    "state",
    "time",
]


def time(nanoseconds: int) -> Time:
    """Return a time [ns] as a stamp."""
    sec, nanosec = divmod(nanoseconds, 1_000_000_000)
    return Time(sec=sec, nanosec=nanosec)


def fill_info(info: ReplyInfo, snapshot: Snapshot) -> None:
    """Fill the fields of ``msg/ReplyInfo`` from a snapshot, except `compute_time`."""
    info.header.stamp = time(snapshot.stamp)
    info.header.frame_id = snapshot.config.check_frame
    info.snapshot_id = snapshot.id
    info.footprint = snapshot.footprint_name if snapshot.footprint is not None else ""
    info.oldest_data_stamp = time(snapshot.oldest_data_stamp)
    info.footprint_age = snapshot.footprint_age
    info.max_obstacle_age = snapshot.max_obstacle_age
    info.bad_sources = list(snapshot.bad_sources)
    info.config_hash = snapshot.config.hash


def none(kind: Any, fault: Fault) -> Any:
    """Return a reply that is UNKNOWN with a reason. Other fields have their "none" values.

    Parameters
    ----------
    kind : service class
        Type of the service.
    fault : Fault
        The reason.
    """
    reply = kind.Response()
    if kind.__name__ in dispatch.SERVICES:
        fill(reply, dispatch.none(kind.__name__, fault))
    else:
        fill_answer(reply, unknown(fault))
    if hasattr(reply, "info"):
        reply.info.footprint_age = reply.info.max_obstacle_age = nan
    return reply


def fill(reply: Any, found: Found) -> None:
    """Fill the reply of a service, except its info."""
    _FILL[type(found)](reply, found)


def fill_answer(reply: Any, answer: Answer) -> None:
    """Fill `verdict`, and `is_free` if the reply has this field."""
    reply.verdict.verdict = int(answer.verdict)
    reply.verdict.status = int(answer.status)
    reply.verdict.message = answer.message
    if hasattr(reply, "is_free"):
        reply.is_free = answer.is_free


def _fill_collide(reply: Any, answer: Answer) -> None:
    """Fill the fields of ``srv/Collide``."""
    fill_answer(reply, answer)
    reply.obstacle_id, reply.obstacle_source = answer.nearest_id, answer.nearest_source


def _fill_distance(reply: Any, found: DistanceAnswer) -> None:
    """Fill the fields of ``srv/Distance``."""
    fill_answer(reply, found.answer)
    reply.ids = _array("q", found.ids)
    reply.sources = list(found.sources)
    reply.distances = _array("d", found.distances)
    reply.lower_bounds = _array("d", found.lower_bounds)
    reply.witness_ego = _array("d", found.witness_shape)
    reply.witness_obstacle = _array("d", found.witness_obstacle)
    reply.directions = _array("d", found.directions)
    reply.statuses = _array("H", found.statuses)


def _fill_poses(reply: Any, found: PosesAnswer) -> None:
    """Fill the fields of ``srv/CheckPoses``."""
    fill_answer(reply, found.answer)
    reply.verdicts = _array("B", found.verdicts)
    reply.statuses = _array("H", found.statuses)
    reply.distances = _array("d", found.distances)
    reply.lower_bounds = _array("d", found.lower_bounds)
    reply.nearest_ids = _array("q", found.nearest_ids)
    reply.witnesses = _array("d", found.witnesses)
    reply.first_invalid_index = found.first_invalid_index
    reply.group_first_invalid = _array("i", found.group_first_invalid)
    if (each := found.gradients) is not None:
        reply.gradient_ids = _array("q", each.ids)
        reply.gradient_distances = _array("d", each.distances)
        reply.gradients = _array("d", each.gradients)
        reply.gradient_rates = _array("d", each.rates)
        reply.gradient_smooth = _array("B", each.smooth)


def _fill_path(reply: Any, found: PathAnswer) -> None:
    """Fill the fields of ``srv/CheckPath``."""
    fill_answer(reply, found.answer)
    reply.first_invalid_segment = found.first_invalid_segment
    reply.last_valid_fraction = found.last_valid_fraction
    reply.first_collision_time = found.first_collision_time
    reply.obstacle_id = found.obstacle_id
    reply.min_distance = found.min_distance
    reply.min_distance_lower_bound = found.min_distance_lower_bound


def _fill_nearest_free(reply: Any, found: NearestFreeAnswer) -> None:
    """Fill the fields of ``srv/NearestFree``."""
    fill_answer(reply, found.answer)
    reply.free_pose = _array("d", found.free_pose)
    reply.shift, reply.turn = found.shift, found.turn


def _fill_shapes(reply: Any, found: ShapesAnswer) -> None:
    """Fill the fields of ``srv/CheckShapes``."""
    fill_answer(reply, found.answer)
    reply.verdicts = _array("B", found.verdicts)
    reply.statuses = _array("H", found.statuses)
    reply.distances = _array("d", found.distances)
    reply.lower_bounds = _array("d", found.lower_bounds)
    reply.witnesses = _array("d", found.witnesses)
    reply.directions = _array("d", found.directions)


_FILL: dict[type[Found], Callable[[Any, Any], None]] = {
    Answer: _fill_collide,
    DistanceAnswer: _fill_distance,
    PosesAnswer: _fill_poses,
    PathAnswer: _fill_path,
    NearestFreeAnswer: _fill_nearest_free,
    ShapesAnswer: _fill_shapes,
}


def fill_snapshot(reply: Any, snapshot: Snapshot) -> None:
    """Fill the fields of ``srv/GetSnapshot``, except info, from a snapshot, complete or not."""
    complete = Fault(Status.SUCCESS, "complete")
    fill_answer(reply, unknown(snapshot.fault or complete))
    config = snapshot.config
    if snapshot.outline is not None:
        reply.footprint = ObstacleArray(
            header=Header(stamp=time(snapshot.outline_stamp), frame_id=config.base_frame),
            source="footprint",
            ids=array("q", [0]),
            kinds=array("B", [ObstacleArray.CONCAVE if len(snapshot.outline) > 2 else 0]),
            offsets=array("I", [0, len(snapshot.outline)]),
            xy=_array("d", snapshot.outline),
            radius=array("d", [snapshot.footprint.radius if snapshot.footprint else 0.0]),
        )
    named = snapshot.footprints
    reply.footprint_names = [each.name for each in named]
    counts = [len(each.outline) for each in named]
    reply.footprints = ObstacleArray(
        header=Header(stamp=time(snapshot.stamp), frame_id=config.base_frame),
        source="footprints",
        ids=array("q", range(len(named))),
        kinds=array("B", [ObstacleArray.CONCAVE if count > 2 else 0 for count in counts]),
        offsets=array("I", accumulate(counts, initial=0)),
        xy=_array("d", np.concatenate([np.empty((0, 2)), *(each.outline for each in named)])),
        radius=array("d", [each.shape.radius for each in named]),
    )
    names = [name for _, name in snapshot.spans]
    reply.obstacles = [
        filled(
            ObstacleArray,
            obstacle_fields(
                name,
                in_check_frame(replace(part, inflation=0.0, obstacles=_received(part)), config),
            ),
        )
        for name, part in zip(names, snapshot.parts, strict=True)
    ]


def _received(part: Placed) -> Obstacles:
    """Return the list as received, with the outlines of a region."""
    return part.obstacles if part.received is None else part.received


def filled(kind: Any, fields: Mapping[str, Any]) -> Any:
    """Return a message with these fields.

    Times are in ns, messages are mappings, and numeric sequences are ndarrays.
    """
    message, types = kind(), kind.get_fields_and_field_types()
    for name, value in fields.items():
        setattr(message, name, _converted(types[name], value))
    return message


def _converted(kind: str, value: Any) -> Any:
    if kind in _TYPECODES:
        return _array(_TYPECODES[kind], value)
    if kind == "builtin_interfaces/Time":
        return time(value)
    if kind.startswith("sequence<") and "/" in kind:
        inner = kind[len("sequence<") : -1]
        return [_converted(inner, each) for each in value]
    return filled(_KINDS[kind], value) if "/" in kind else value


_TYPECODES = {
    "sequence<uint8>": "B",
    "sequence<uint16>": "H",
    "sequence<uint32>": "I",
    "sequence<int64>": "q",
    "sequence<double>": "d",
}
_KINDS = {
    "std_msgs/Header": Header,
    **{
        f"gjk_collision/{each.__name__}": each
        for each in (Footprint, ObstacleArray, ReplyInfo, Verdict)
    },
}


def state(beat: Heartbeat) -> CollisionState:
    """Return a ``msg/CollisionState``."""
    message = CollisionState()
    fill_state(message, beat.found)
    fill_info(message.info, beat.snapshot)
    message.counter, message.snapshot_sequence = beat.counter, beat.sequence
    message.header.stamp = time(beat.stamp)
    message.header.frame_id = beat.snapshot.config.check_frame
    message.info.compute_time = beat.seconds
    return message


def fill_state(message: CollisionState, found: StateAnswer) -> None:
    """Fill the fields of ``msg/CollisionState``, except header, counter and info."""
    fill_answer(message, found.answer)
    message.distance = found.distance
    message.distance_lower_bound = found.lower_bound
    message.time_to_collision = found.time_to_collision
    message.nearest_id = found.answer.nearest_id
    message.nearest_source = found.answer.nearest_source
    message.witness_ego = Point(x=found.witness_ego[0], y=found.witness_ego[1])
    message.witness_obstacle = Point(x=found.witness_obstacle[0], y=found.witness_obstacle[1])
    message.direction = Vector3(x=found.direction[0], y=found.direction[1])


def _array(typecode: str, values: npt.NDArray[Any] | None) -> "array[Any]":
    filled = array(typecode)
    if values is not None:
        filled.frombytes(np.ascontiguousarray(values, dtype=np.dtype(typecode)).tobytes())
    return filled
