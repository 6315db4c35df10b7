# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of plain data to ROS messages. Arrays are never converted element by element.

rclpy stores numeric sequences as `array.array`. numpy reads them without a copy, and they are
written with one copy of memory. If an ndarray were assigned to a field, rclpy would check each
element.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt
from gjk_collision.msg import CollisionState

from gjk_collision import msg

from ..server.data.faults import Fault
from ..server.server import Heartbeat
from ..server.services.answers import refused

__all__ = ["fill", "filled", "none", "state"]


def none(kind: Any, fault: Fault) -> Any:
    """Return a reply that is UNKNOWN with a reason. Other fields have their "none" values.

    Parameters
    ----------
    kind : service class
        Type of the service.
    fault : Fault
        The reason.
    """
    reply = filled(kind.Response, refused(kind.__name__, fault).fields())
    if hasattr(reply, "info"):
        reply.info.footprint_age = reply.info.max_obstacle_age = nan
    return reply


def state(beat: Heartbeat) -> CollisionState:
    """Return a ``msg/CollisionState``."""
    message: CollisionState = filled(CollisionState, beat.fields())
    return message


def filled(kind: Any, fields: Mapping[str, Any]) -> Any:
    """Return a message with these fields, see `fill`."""
    message = kind()
    fill(message, fields)
    return message


def fill(message: Any, fields: Mapping[str, Any]) -> None:
    """Set fields of a message. They are given as `Answer.fields` returns them."""
    setters = _setters(message.__class__)
    for name, value in fields.items():
        setters[name](message, name, value)


@cache
def _setters(kind: Any) -> dict[str, Callable[[Any, str, Any], None]]:
    """Return a function for each field of a type of message that sets it."""
    return {name: _setter(each) for name, each in kind.get_fields_and_field_types().items()}


def _setter(kind: str) -> Callable[[Any, str, Any], None]:
    if kind in _TYPECODES:
        return partial(_set_array, _TYPECODES[kind])
    if kind in _KINDS:
        return partial(_set_messages, _KINDS[kind])
    if kind in _SETTERS:
        return _SETTERS[kind]
    return _set_part if "/" in kind else setattr


def _set_array(typecode: str, message: Any, name: str, value: npt.NDArray[Any] | None) -> None:
    numbers = array(typecode)
    if value is not None and len(value):
        numbers.frombytes(np.ascontiguousarray(value, dtype=np.dtype(typecode)).tobytes())
    setattr(message, name, numbers)


def _set_messages(kind: Any, message: Any, name: str, value: Iterable[Any]) -> None:
    setattr(message, name, [filled(kind, each) for each in value])


def _set_strings(message: Any, name: str, value: Iterable[str]) -> None:
    setattr(message, name, list(value))


def _set_part(message: Any, name: str, value: Mapping[str, Any]) -> None:
    fill(getattr(message, name), value)


def _set_time(message: Any, name: str, value: int) -> None:
    part = getattr(message, name)
    part.sec, part.nanosec = divmod(value, 1_000_000_000)


def _set_point(message: Any, name: str, value: Sequence[float]) -> None:
    part = getattr(message, name)
    part.x, part.y = value


_TYPECODES = {
    "sequence<uint8>": "B",
    "sequence<uint16>": "H",
    "sequence<uint32>": "I",
    "sequence<int32>": "i",
    "sequence<int64>": "q",
    "sequence<double>": "d",
}
_KINDS = {f"sequence<gjk_collision/{name}>": kind for name, kind in vars(msg).items()}
_SETTERS: dict[str, Callable[[Any, str, Any], None]] = {
    "sequence<string>": _set_strings,
    "builtin_interfaces/Time": _set_time,
    "geometry_msgs/Point": _set_point,
    "geometry_msgs/Vector3": _set_point,
}
