# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The message types of this package for rosbags, read from the .msg and .srv files."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

__all__ = [
    "CLOCK",
    "POLYGON_STAMPED",
    "TF_MESSAGE",
    "as_today",
    "default_types",
    "defined_types",
    "installed_types",
    "message",
    "typestore",
]

POLYGON_STAMPED = "geometry_msgs/msg/PolygonStamped"
TF_MESSAGE = "tf2_msgs/msg/TFMessage"
CLOCK = "rosgraph_msgs/msg/Clock"

# Packages of the types that replay uses. A store of all ROS types would take half a second.
_PACKAGES = {
    "builtin_interfaces",
    "geometry_msgs",
    "nav_msgs",
    "rcl_interfaces",
    "rosgraph_msgs",
    "sensor_msgs",
    "service_msgs",
    "std_msgs",
    "tf2_msgs",
    "visualization_msgs",
}


def _folder() -> Path:
    """Return the folder with msg/ and srv/, in the installed package or in the source tree."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "interfaces", package.parent):
        if (folder / "msg" / "ObstacleArray.msg").is_file():
            return folder
    raise FileNotFoundError(f"{package}/interfaces/msg is missing: install the package again")


@cache
def default_types() -> dict[str, Any]:
    """Return the types of this package and of the packages it uses, with service events."""
    folder = _folder()
    types: dict[str, Any] = {
        name: fields
        for name, fields in get_typestore(Stores.ROS2_JAZZY).fielddefs.items()
        if name.partition("/")[0] in _PACKAGES
    }
    for path in folder.glob("msg/*.msg"):
        text = path.read_text(encoding="utf-8")
        types.update(get_types_from_msg(text, f"gjk_collision/msg/{path.stem}"))
    for path in folder.glob("srv/*.srv"):
        text = path.read_text(encoding="utf-8")
        types.update(_service_types(f"gjk_collision/srv/{path.stem}", text))
    return types


def defined_types(kind: str, text: str) -> dict[str, Any]:
    """Return the types of a definition in a bag.

    For the events of a service, rosbag2 writes its .srv file and the messages that it uses, and
    rosbags the definition of the event.
    """
    before, *parts = text.split(f"{'=' * 80}\n")
    if before.strip():
        return get_types_from_msg(text, kind)
    (_, service), *messages = (each.split("\n", 1) for each in parts)
    types = _service_types(kind.removesuffix("_Event"), service)
    for head, fields in messages:
        types.update(get_types_from_msg(fields, head.removeprefix("MSG: ")))
    return types


def installed_types(kinds: Iterable[str], definition: Callable[[str], str]) -> dict[str, Any]:
    """Return the types that are not known by default, with those of their parts.

    `definition` returns the text of the .msg file of a type.
    """
    types, left, known = dict[str, Any](), list(kinds), default_types()
    while left:
        kind = left.pop()
        if kind not in known and kind not in types:
            types.update(get_types_from_msg(definition(kind), kind))
            for _, (node, part) in types[kind][1]:
                while node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
                    node, part = part[0]  # noqa: PLW2901
                left += [part] if node == Nodetype.NAME else []
    return types


def _service_types(name: str, text: str) -> dict[str, Any]:
    """Return the types of a service, of the text of its .srv file."""
    # In a .srv file, rosbags would search a name without a package among the services.
    own = re.compile(rf"^({'|'.join(path.stem for path in _folder().glob('msg/*.msg'))})\b", re.M)
    request, response = own.sub(r"gjk_collision/msg/\1", text).split("\n---\n")
    event = (
        "service_msgs/ServiceEventInfo info\n"
        f"{name}_Request[<=1] request\n{name}_Response[<=1] response\n"
    )
    types: dict[str, Any] = {}
    for suffix, fields in (("Request", request), ("Response", response), ("Event", event)):
        types.update(get_types_from_msg(fields, f"{name}_{suffix}"))
    return types


_stores: dict[str, Any] = {}


def typestore(own: dict[str, Any] | None = None) -> Any:
    """Return a store of the default types. The definitions in `own` replace them.

    Equal definitions have one store, because rosbags makes and compiles the code of each anew.
    """
    own = {kind: new for kind, new in (own or {}).items() if default_types().get(kind) != new}
    key = repr(own)
    if key not in _stores:
        types = {**default_types(), **own}
        _stores[key] = get_typestore(Stores.EMPTY)
        _stores[key].register(types)
    return _stores[key]


def message(store: Any, kind: str, **fields: Any) -> Any:
    """Return a message; fields that are not given are 0 or empty, as in ROS.

    Parts of the message are given as messages, or as `Answer.fields` has them.
    """
    return store.types[kind](
        **{
            name: _part(store, node, fields[name]) if name in fields else _default(store, *node)
            for name, node in store.fielddefs[kind][1]
        }
    )


def as_today(recorded: Any) -> Any:
    """Return a message of this package with its present fields; those it lacks are 0 or empty."""
    if isinstance(recorded, list):
        return [as_today(each) for each in recorded]
    kind = getattr(recorded, "__msgtype__", "")
    if not kind.startswith("gjk_collision/"):
        return recorded
    fields = {name: as_today(value) for name, value in vars(recorded).items()}
    return message(typestore(), kind, **fields)


def _part(store: Any, node: Any, value: Any) -> Any:
    kind, of = node
    if kind is not Nodetype.NAME or hasattr(value, "__msgtype__"):
        return value
    if isinstance(value, int):
        value = dict(zip(("sec", "nanosec"), divmod(value, 1_000_000_000), strict=True))
    elif isinstance(value, tuple):
        value = dict(zip("xy", value, strict=True))
    return message(store, of, **value)


def _default(store: Any, node: Any, of: Any) -> Any:
    if node is Nodetype.NAME:
        return message(store, of)
    if node is Nodetype.BASE:
        return "" if of[0] == "string" else 0
    (inner, (name, *_)) = of[0]
    return [] if inner is Nodetype.NAME or name == "string" else np.zeros(0, name)
