# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes of the parameters of the recorded node (``/parameter_events``), applied from their time.

A parameter that the node declared at its start is not a change: the replay has its own value.
"""

from typing import Any

from ..errors import InputError
from ..server.parameters.files import NODE_NAME
from ..server.server import Server

__all__ = ["PARAMETER_EVENT", "LiveParameters"]

PARAMETER_EVENT = "rcl_interfaces/msg/ParameterEvent"

# Field of rcl_interfaces/msg/ParameterValue, by its type.
_FIELDS = ("", "bool_value", "integer_value", "double_value", "string_value", "byte_array_value",
           "bool_array_value", "integer_array_value", "double_array_value",
           "string_array_value")  # fmt: skip


class LiveParameters:
    """Applies the changes of parameters to the server of a replay.

    Parameters
    ----------
    server : Server
        The server.
    node : str
        Full name of the recorded node; empty: the first one with the usual name.
    is_applied : bool
        Whether to apply the changes. Otherwise they are only noted.

    Attributes
    ----------
    notes : list of str
        From when on the recorded node had other parameters.
    """

    def __init__(self, server: Server, node: str, *, is_applied: bool) -> None:
        self._server, self._node, self._is_applied = server, node, is_applied
        self.notes: list[str] = []

    def receive(self, event: Any, t: float) -> str:
        """Apply a ParameterEvent at the time `t` [s]; return the changes that were applied."""
        if not self._node and event.node.rpartition("/")[2] == NODE_NAME:
            self._node = event.node
        if event.node != self._node:
            return ""
        before = self._server.config.parameters()
        values = {each.name: _value(each.value) for each in event.changed_parameters}
        changes = {
            name: value for name, value in values.items()
            if name in before and _plain(before[name]) != value
        }  # fmt: skip
        if not changes:
            return ""
        reason = "" if self._is_applied else "--no-live-parameters"
        try:
            config = self._server.config.changed(changes)
            reason = reason or self._server.refusal(config)
        except InputError as error:
            reason = reason or str(error)
        said = [f"{name} {_text(before[name])} -> {_text(new)}" for name, new in changes.items()]
        texts = ", ".join(said)
        if not reason:
            self._server.reconfigure(config)
        what = f"from {t:.3f} s on, the recorded node {event.node} had other parameters: {texts}"
        self.notes.append(f"{what}; {f'not applied: {reason}' if reason else 'applied'}")
        return "" if reason else texts


def _text(value: Any) -> str:
    return "''" if value == "" else str(value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _value(value: Any) -> Any:
    found: Any = getattr(value, _FIELDS[value.type], None)
    return found.tolist() if hasattr(found, "tolist") else found
