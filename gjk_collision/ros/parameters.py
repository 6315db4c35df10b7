# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the node: declaration, checks and changes of a `Config`."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, ReliabilityPolicy

from ..arguments import as_choice, as_integer
from ..errors import InputError
from ..server.parameters.config import (
    WHILE_CONFIGURED,
    Config,
    checked_value,
    group_defaults,
    group_names,
    parameter_facts,
)
from ..server.parameters.files import (
    Section,
    check_values,
    foreign_names,
    named_files,
    sections_for,
)
from ..server.parameters.names import is_of_every_node

__all__ = ["Parameters"]

# Values of the parameters qos_overrides.<topic>.subscription.*
MAX_DEPTH = 10_000
POLICIES: dict[str, Any] = {"history": HistoryPolicy, "reliability": ReliabilityPolicy}


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
        self._defaults: set[str] = set()
        self._refused: dict[str, InputError] = {}  # invalid values from the start of the node
        # The sections for this node in each parameter file.
        self._sections: dict[str, list[Section]] = {}
        self._may_change = may_change
        self._changed = changed
        names = tuple(name for name in Config().parameters() if "." not in name)
        self._declare({name: Config().parameters()[name] for name in names})
        self._declare_sources()
        for file in named_files(arguments):
            self._read_file(file)
        try:
            check_values(arguments, self._sections, node.get_fully_qualified_name())
        except InputError as error:
            self._refused["-p"] = error
        node.add_pre_set_parameters_callback(self._typed)
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
        self._declare_sources()
        if self._refused:
            raise next(iter(self._refused.values()))
        self._check_quality()
        values = self._values()
        for name in values.keys() & self._defaults:
            owner = name.rpartition(".")[0]
            if owner and owner not in group_names(values):
                del values[name]  # the default of a source or footprint that was removed
        self._config = Config.from_parameters(values)
        return self._config

    def release(self) -> None:
        """Allow any valid value again."""
        self._config = None

    def warn_of_unused_quality(self) -> None:
        """Warn of parameters ``qos_overrides.*`` that no subscription has; rclpy ignores them."""
        given = self._node._parameter_overrides
        unused = {n for n in given if is_of_every_node(n) and not self._node.has_parameter(n)}
        self._warn_of(
            unused, "name no subscription of the node, or a policy that it does not have"
        )

    def _check_quality(self) -> None:
        """Check parameters ``qos_overrides.*``. The errors of rcl name neither them nor a rule."""
        for name, given in self._node._parameter_overrides.items():
            if not is_of_every_node(name):
                continue
            policy = name.rpartition(".")[2]
            if policy == "depth":
                as_integer(given.value, name, 0, MAX_DEPTH)
            elif policy in POLICIES:
                names = (each.name for each in POLICIES[policy])
                as_choice(given.value, tuple(n.lower() for n in names if n != "UNKNOWN"), name)

    def _warn_of(self, names: set[str], why: str) -> None:
        if names:
            text = f"these parameters {why}, and have no effect: {', '.join(sorted(names))}"
            self._node.get_logger().warning(text)

    def _read_file(self, file: str) -> None:
        """Find the sections for this node. If the file is not valid, `configure` raises."""
        try:
            name = self._node.get_fully_qualified_name()
            self._sections[file] = sections_for(Path(file), name)
        except InputError as error:
            self._refused[file] = error

    def _values(self) -> dict[str, Any]:
        """Return all values that were set, including unknown names, which may be misspelled."""
        declared = self._node.get_parameters_by_prefix("")
        given = {**self._node._parameter_overrides, **declared}
        ours = {name: _plain(each) for name, each in given.items() if not is_of_every_node(name)}
        sections = chain.from_iterable(self._sections.values())
        foreign = foreign_names(sections, group_names(ours)) & ours.keys()
        self._warn_of(foreign, "are not parameters of the collision server")
        return {name: value for name, value in ours.items() if name not in foreign}

    def _declare_sources(self) -> None:
        lists = ("obstacle_sources", "footprint_names")
        self._declare(
            group_defaults({name: self._node.get_parameter(name).value for name in lists})
        )

    def _declare(self, values: dict[str, Any]) -> None:
        """Declare parameters with their types and ranges.

        An invalid value from the start of the node does not end the process. It is stored, and
        `configure` raises an error with its name.
        """
        for name, default in values.items():
            if self._node.has_parameter(name):
                continue
            value, refusal = default, None
            given = self._node._parameter_overrides.get(name)
            try:
                value = default if given is None else checked_value(name, _plain(given))
            except InputError as error:
                refusal = error
            self._declare_typed(name, default, value)
            if refusal is not None:
                self._refused[name] = refusal
            if given is None:
                self._defaults.add(name)

    def _declare_typed(self, name: str, default: Any, value: Any) -> None:
        facts = parameter_facts(name)
        descriptor = ParameterDescriptor(description=facts.text, additional_constraints=facts.span)
        low, high = facts.low, facts.high
        if isinstance(default, float):
            descriptor.floating_point_range.append(
                FloatingPointRange(from_value=low, to_value=high)
            )
        elif low is not None and high is not None and isinstance(default, int):
            limits = IntegerRange(from_value=int(low), to_value=int(high))
            descriptor.integer_range.append(limits)
        if value != ():
            value = list(value) if isinstance(value, tuple) else value
            self._node.declare_parameter(name, value, descriptor, ignore_override=True)
            return
        # Without a type, rclpy declares an empty list as a list of bytes.
        kinds = Parameter.Type
        kind = kinds.STRING_ARRAY if facts.low is None else kinds.DOUBLE_ARRAY
        self._node.declare_parameter(name, kind, descriptor, ignore_override=True)
        self._node.set_parameters([Parameter(name, kind, [])])

    def _typed(self, changes: list[Parameter]) -> list[Parameter]:
        """Return the changes with the types of the parameters: 1 becomes 1.0 for a float."""
        return [self._typed_change(each) for each in changes]

    def _typed_change(self, change: Parameter) -> Parameter:
        if is_of_every_node(change.name) or not self._node.has_parameter(change.name):
            return change
        kind = self._node.get_parameter(change.name).type_
        try:
            value = checked_value(change.name, change.value)
        except InputError:
            # rclpy or `_check` will refuse the change. With the right type, the message has the
            # range.
            types = Parameter.Type
            if (change.type_, kind) == (types.INTEGER, types.DOUBLE):
                return Parameter(change.name, kind, float(change.value))
            if (change.type_, kind) == (types.INTEGER_ARRAY, types.DOUBLE_ARRAY):
                return Parameter(change.name, kind, [float(each) for each in change.value])
            return change
        return Parameter(change.name, kind, list(value) if isinstance(value, tuple) else value)

    def _check(self, changes: list[Parameter]) -> SetParametersResult:
        ours = {each.name: each.value for each in changes if not is_of_every_node(each.name)}
        try:
            for name, value in ours.items():
                checked_value(name, value)
            if self._config is None:
                return SetParametersResult(successful=True)
            refusal = self._clock_refusal(changes)
            if ours and not refusal:
                refusal = self._may_change(self._config.changed(ours))
        except InputError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=not refusal, reason=refusal)

    def _clock_refusal(self, changes: list[Parameter]) -> str:
        """Return why a configured node cannot use another clock; empty if none is requested."""
        now = self._node.get_parameter("use_sim_time").value
        if all(each.value == now for each in changes if each.name == "use_sim_time"):
            return ""
        return f"use_sim_time: {WHILE_CONFIGURED}"

    def _apply(self, changes: list[Parameter]) -> None:
        ours = {each.name: each.value for each in changes if not is_of_every_node(each.name)}
        self._defaults -= ours.keys()
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
