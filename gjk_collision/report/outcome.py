# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How a replay ended, as plain data."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

__all__ = ["Outcome", "Result"]


class Outcome(IntEnum):
    """How a replay ended; the exit code of the command is the greatest of all."""

    PASSED = 0
    FAILED = 1  # an expectation, the golden comparison, a reply
    BROKEN = 3  # the bag: missing, truncated, no stamp, a topic not in it. (2 is a wrong call)
    INTERRUPTED = 130  # as shells have it for Ctrl-C


@dataclass
class Result:
    """What came out of one case; plain data, so that it can travel."""

    name: str
    outcome: Outcome
    failures: list[str]
    summary: dict[str, Any] = field(default_factory=dict)
