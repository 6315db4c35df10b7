# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that the recorded node had, if they differ from those of the replay."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..server.parameter_files import NODE_NAME
from .bag import Bag

__all__ = ["PARAMETER_EVENT", "parameter_notes"]

PARAMETER_EVENT = "rcl_interfaces/msg/ParameterEvent"

# Field of rcl_interfaces/msg/ParameterValue, by its type.
_FIELDS = ("", "bool_value", "integer_value", "double_value", "string_value", "byte_array_value",
           "bool_array_value", "integer_array_value", "double_array_value",
           "string_array_value")  # fmt: skip


def parameter_notes(bag: Bag, parameters: Mapping[str, Any], server: str = "") -> Iterator[str]:
    """Yield from when on the recorded node had other parameters than the replay.

    The replay does not apply them: it has the same parameters to its end.

    Parameters
    ----------
    bag : Bag
        The bag, whose topics of the type `PARAMETER_EVENT` are read.
    parameters : mapping
        The parameters of the replay.
    server : str
        Full name of the node; empty: all nodes with the usual name.
    """
    present: dict[str, Any] = dict(parameters)
    topics = [name for name, kinds in bag.topics.items() if PARAMETER_EVENT in kinds]
    for message in bag.messages(topics) if topics else ():
        event = bag.decode(message)
        if event.node != server if server else event.node.rpartition("/")[2] != NODE_NAME:
            continue
        changed = []
        for each in (*event.new_parameters, *event.changed_parameters):
            value: Any = getattr(each.value, _FIELDS[each.value.type], None)
            value = value.tolist() if hasattr(value, "tolist") else value
            if each.name in present and present[each.name] != value:
                changed.append(f"{each.name} {present[each.name]} -> {value}")
                present[each.name] = value
        if changed:
            t = (message.time - bag.begin) * 1e-9
            text = f"from {t:.3f} s on, the recorded node {event.node} had other parameters, "
            yield f"{text}which are not applied: {', '.join(changed)}"
