# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the node: declaration, checks and changes of a `Config`."""

from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..errors import InputError
from ..server.parameters.config import (
    WHILE_CONFIGURED,
    Config,
    checked_value,
    group_defaults,
    parameter_facts,
)
from ..server.parameters.files import check_values
from ..server.parameters.names import is_of_every_node

__all__ = ["Parameters"]

Type = Parameter.Type


class Parameters:
    """Declares the parameters of a node, reads them, and checks changes.

    Parameters
    ----------
    node : Node
        The node that has the parameters.
    arguments : sequence of str
        The command line arguments with the parameter files of the node.
    may_change : callable
        Called with the new configuration of a configured server. Returns why the change is not
        allowed; empty: it is allowed.
    changed : callable
        Called with the new configuration after a change.
    """

    def __init__(
        self,
        node: Node,
        arguments: Sequence[str],
        may_change: Callable[[Config], str],
        changed: Callable[[Config], None],
    ) -> None:
        self._node = node
        self._config: Config | None = None  # None: not configured, any valid value can be set
        self._refused: dict[str, InputError] = {}  # invalid values from the start of the node
        self._may_change = may_change
        self._changed = changed
        defaults = Config().parameters()
        self._declare({name: defaults[name] for name in defaults if "." not in name})
        self._declare_groups()
        try:
            used = {name: _plain(each) for name, each in node._parameter_overrides.items()}
            check_values(arguments, node.get_fully_qualified_name(), used)
        except InputError as error:
            self._refused["command line"] = error
        node.add_pre_set_parameters_callback(lambda changes: list(map(self._typed, changes)))
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._apply)

    def configure(self) -> Config:
        """Read the parameters. Until `release`, `may_change` must allow each change.

        Raises
        ------
        InputError
            A value is invalid, a name is not a parameter of the server, or a parameter file does
            not apply to the node.
        """
        self._declare_groups()
        if self._refused:
            raise next(iter(self._refused.values()))
        # With the names that were given but not declared, which may be misspelled.
        given = {**self._node._parameter_overrides, **self._node.get_parameters_by_prefix("")}
        values = {name: _plain(given[name]) for name in given if not is_of_every_node(name)}
        self._config = Config.from_parameters(values)
        return self._config

    def release(self) -> None:
        """Allow any valid value again."""
        self._config = None

    def _declare_groups(self) -> None:
        """Declare the parameters of the listed sources and footprints, and of no others."""
        lists = ("obstacle_sources", "footprint_names")
        wanted = group_defaults({name: self._node.get_parameter(name).value for name in lists})
        for name in self._node.get_parameters_by_prefix(""):
            if "." in name and name not in wanted and not is_of_every_node(name):
                self._node.undeclare_parameter(name)
        self._declare(wanted)

    def _declare(self, values: dict[str, Any]) -> None:
        """Declare parameters with their types and ranges.

        An invalid value from the start of the node does not end the process. It is stored, and
        `configure` raises an error with its name.
        """
        for name, default in values.items():
            if self._node.has_parameter(name):
                continue
            given = self._node._parameter_overrides.get(name)
            try:
                value = default if given is None else checked_value(name, _plain(given))
                self._declare_typed(name, default, value)
            except InputError as error:
                self._declare_typed(name, default, default)
                self._refused[name] = error

    def _declare_typed(self, name: str, default: Any, value: Any) -> None:
        facts = parameter_facts(name)
        descriptor = ParameterDescriptor(description=facts.text, additional_constraints=facts.span)
        low, high = facts.low, facts.high
        if isinstance(default, float):
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        elif low is not None and high is not None and isinstance(default, int):
            limits = IntegerRange(from_value=int(low), to_value=int(high))
            descriptor.integer_range = [limits]
        if value != ():
            value = list(value) if isinstance(value, tuple) else value
            self._node.declare_parameter(name, value, descriptor, ignore_override=True)
            return
        # Without a type, rclpy declares an empty list as a list of bytes.
        kind = Type.STRING_ARRAY if facts.low is None else Type.DOUBLE_ARRAY
        self._node.declare_parameter(name, kind, descriptor, ignore_override=True)
        self._node.set_parameters([Parameter(name, kind, [])])

    def _typed(self, change: Parameter) -> Parameter:
        """Return a change with the type of the parameter: 1 becomes 1.0 for a float."""
        if is_of_every_node(change.name) or not self._node.has_parameter(change.name):
            return change
        kind = self._node.get_parameter(change.name).type_
        try:
            value = checked_value(change.name, change.value)
        except InputError:
            # rclpy or `_check` will refuse the change. With the right type, the message has the
            # range.
            if (change.type_, kind) == (Type.INTEGER, Type.DOUBLE):
                return Parameter(change.name, kind, float(change.value))
            if (change.type_, kind) == (Type.INTEGER_ARRAY, Type.DOUBLE_ARRAY):
                return Parameter(change.name, kind, [float(each) for each in change.value])
            return change
        return Parameter(change.name, kind, list(value) if isinstance(value, tuple) else value)

    def _check(self, changes: list[Parameter]) -> SetParametersResult:
        ours = {each.name: each.value for each in changes if not is_of_every_node(each.name)}
        try:
            for name, value in ours.items():
                checked_value(name, value)
            refusal = ""
            if self._config is not None:
                refusal = self._clock_refusal(changes)
                if ours and not refusal:
                    refusal = self._may_change(self._config.changed(ours))
        except InputError as error:
            refusal = str(error)
        return SetParametersResult(successful=not refusal, reason=refusal)

    def _clock_refusal(self, changes: list[Parameter]) -> str:
        """Return why a configured node cannot use another clock; empty if none is requested."""
        now = self._node.get_parameter("use_sim_time").value
        if all(each.value == now for each in changes if each.name == "use_sim_time"):
            return ""
        return f"use_sim_time: {WHILE_CONFIGURED}"

    def _apply(self, changes: list[Parameter]) -> None:
        ours = {each.name: each.value for each in changes if not is_of_every_node(each.name)}
        for name in ours:
            self._refused.pop(name, None)
        if self._config is not None and ours:
            config = self._config.changed(ours)
            if config != self._config:
                self._config = config
                self._changed(config)


def _plain(given: Parameter) -> Any:
    # An empty list in a parameter file has no type, and rclpy returns it as not set.
    return () if given.value is None else given.value
