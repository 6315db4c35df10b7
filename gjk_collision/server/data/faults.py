# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Why data cannot be used, or why a question cannot be answered."""

from dataclasses import dataclass

from ...verdict import Status

__all__ = ["Fault", "prefixed"]


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why data cannot be used, or why a question cannot be answered."""

    status: Status
    message: str


def prefixed(name: str, fault: Fault) -> Fault:
    """Return a fault whose message begins with the name of its source."""
    return Fault(fault.status, f"{name}: {fault.message}")
