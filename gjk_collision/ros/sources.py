# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The message class, the converter and the quality of service (QoS) of an obstacle source."""

from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from ..errors import InputError, refuse
from ..server.adapters import CONVERTERS
from ..server.adapters.updates import update_type
from ..server.parameters.config import SourceConfig
from ..server.parameters.names import did_you_mean

__all__ = ["UPDATES_QOS", "Adapter", "adapter", "message_class", "qos"]

# None of the updates may be lost, because each one changes the grid.
UPDATES_QOS = QoSProfile(depth=100)


@dataclass(frozen=True)
class Adapter:
    """The class of the messages of a source, and of the updates of its grids, if there are any."""

    message: type[Any]
    update: type[Any] | None


def adapter(source: SourceConfig) -> Adapter:
    """Return the adapter for the type of a source.

    Raises
    ------
    InputError
        The type is not supported, or its package is not installed.
    """
    argument = f"{source.name}.type"
    if source.type not in CONVERTERS:
        names = ", ".join(dict.fromkeys(kind.rpartition("/")[2] for kind in CONVERTERS))
        rule = f"must be package/msg/Name, Name one of {names}"
        rule += did_you_mean(source.type, CONVERTERS)
        refuse(argument, rule, repr(source.type))
    message, update = message_class(argument, source.type), None
    if kind := update_type(source):
        with suppress(InputError):  # without the package, nobody here publishes them
            update = message_class(argument, kind)
    return Adapter(message, update)


def message_class(parameter: str, kind: str) -> type[Any]:
    """Return the class of a message type, which is the value of a parameter.

    Raises
    ------
    InputError
        The package of the type is not installed.
    """
    package, _, name = kind.partition("/msg/")
    try:
        message: type[Any] = getattr(import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError) as error:
        rule = f"the package '{package}' of the type {name} is not installed ({error})"
        refuse(parameter, rule, repr(kind))
    return message


def qos(source: SourceConfig) -> QoSProfile:
    """Return the quality of service of the subscription of a source."""
    latched = source.qos_durability == "transient_local"
    # DDS keeps messages for late subscriptions only if they are reliable.
    best_effort = source.qos_reliability == "best_effort" and not latched
    reliability = ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE
    durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST, depth=5, reliability=reliability, durability=durability
    )
