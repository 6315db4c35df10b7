# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""`Config` as the parameters of a node."""

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..config import Config, checked_value, parameter_facts
from ..errors import InputError

__all__ = ["Parameters"]

# Of rclpy itself; everything else that is set on the node must be ours, so that a name with a
# slip in it is refused rather than left without effect.
_FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")


class Parameters:
    """Declares the parameters on a node, reads them, and lets them change where they may.

    Parameters
    ----------
    node : Node
        Theirs.
    may_change : callable
        Given the new configuration of a configured server, returns why not, or "".
    changed : callable
        Called with the new configuration once it is in force.
    """

    def __init__(
        self,
        node: Node,
        may_change: Callable[[Config], str],
        changed: Callable[[Config], None],
    ) -> None:
        self._node = node
        self._config: Config | None = None  # None: not configured, any good value may be set
        self._defaults: set[str] = set()
        self._may_change = may_change
        self._changed = changed
        names = tuple(name for name in Config().parameters() if "." not in name)
        self._declare({name: Config().parameters()[name] for name in names})
        self._declare_sources()
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._apply)

    def configure(self) -> Config:
        """Read the parameters; from now on they change only as a configured server's may.

        Raises
        ------
        InputError
            One of them is bad, or no parameter of the server.
        """
        self._declare_sources()
        values = self._values()
        for name in values.keys() & self._defaults:
            owner = name.rpartition(".")[0]
            if owner and owner not in values["obstacle_sources"]:
                del values[name]  # of a source that has been dropped; nobody has set it
        self._config = Config.from_parameters(values)
        return self._config

    def release(self) -> None:
        """Let any good value be set again."""
        self._config = None

    def _values(self) -> dict[str, Any]:
        """Return what is set, and what somebody meant to set: a slip in a name must come out."""
        declared = self._node.get_parameters_by_prefix("")
        given = {**self._node._parameter_overrides, **declared}
        ours = {name: each.value for name, each in given.items() if not _foreign(name)}
        # An empty list in a parameter file has no type, and arrives as a parameter not set.
        return {name: () if value is None else value for name, value in ours.items()}

    def _declare_sources(self) -> None:
        try:
            names = self._node.get_parameter("obstacle_sources").value
            config = Config.from_parameters({"obstacle_sources": names})
        except InputError:
            return  # refused, with the reason, by configure
        self._declare({name: each for name, each in config.parameters().items() if "." in name})

    def _declare(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            facts = parameter_facts(name)
            descriptor = ParameterDescriptor(
                description=facts.text,
                additional_constraints=facts.span,
                # The type is checked with the range, and 1 is as good as 1.0.
                dynamic_typing=True,
            )
            if not self._node.has_parameter(name):
                plain = list(value) if isinstance(value, tuple) else value
                self._node.declare_parameter(name, plain, descriptor)
                if name not in self._node._parameter_overrides:
                    self._defaults.add(name)

    def _check(self, changes: list[Parameter]) -> SetParametersResult:
        ours = {each.name: each.value for each in changes if not _foreign(each.name)}
        try:
            for name, value in ours.items():
                checked_value(name, value)
            if self._config is None or not ours:
                return SetParametersResult(successful=True)
            refusal = self._may_change(self._config.changed(ours))
        except InputError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=not refusal, reason=refusal)

    def _apply(self, changes: list[Parameter]) -> None:
        ours = {each.name: each.value for each in changes if not _foreign(each.name)}
        self._defaults -= ours.keys()
        if self._config is not None and ours:
            self._config = self._config.changed(ours)
            self._changed(self._config)


def _foreign(name: str) -> bool:
    return name.startswith(_FOREIGN)
