# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The outcome and the result of a replay, as plain data."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

__all__ = ["Outcome", "Result"]


class Outcome(IntEnum):
    """How a replay ended. The exit code of the command is the greatest value of all cases."""

    PASSED = 0
    FAILED = 1  # an expectation, the golden comparison or a reply failed
    REFUSED = 2  # the golden file is missing or not valid
    BROKEN = 3  # the bag is missing or truncated, or has no stamp or not all topics
    INTERRUPTED = 130  # the exit code of shells for Ctrl-C


@dataclass
class Result:
    """The result of one case, as plain data that can be sent to other processes.

    Attributes
    ----------
    name : str
        Name of the case.
    outcome : Outcome
        How the replay ended.
    failures : list of str
        The reasons if it did not pass.
    summary : dict
        The content of summary.json; empty if the case was not replayed.
    """

    name: str
    outcome: Outcome
    failures: list[str]
    summary: dict[str, Any] = field(default_factory=dict)
