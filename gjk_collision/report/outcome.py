# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The outcome and the result of a replay, as plain data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

__all__ = ["NOT_JUDGED", "Outcome", "Result", "outcome_text", "total_text"]


# Outcome in words of a replay that ended well, but had nothing to compare its answers with.
NOT_JUDGED = "not judged"


class Outcome(IntEnum):
    """How a replay ended. The exit code of the command is the greatest value of all cases."""

    PASSED = 0
    FAILED = 1  # an expectation, the golden comparison or a reply failed
    REFUSED = 2  # the golden file or the scenario is not valid
    BROKEN = 3  # the bag is missing or not complete, or has no stamp or not all topics
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
    is_judged : bool
        Whether there was an expectation, a golden result or a recorded reply to compare with.
    """

    name: str
    outcome: Outcome
    failures: list[str]
    summary: dict[str, Any] = field(default_factory=dict)
    is_judged: bool = True

    @property
    def counts(self) -> str:
        """The numbers of stamps, verdicts and replies, and the closest approach, for people."""
        text = counts_text([self])
        if closest := self.summary.get("closest"):
            form = "; closest {distance:.3f} m at {time:.3f} s, obstacle {id} of {source}"
            text += form.format(**closest)
        requests = self.summary.get("requests", {})
        if compared := requests.get("replies_compared"):
            changed = sum(each["count"] for each in requests["replies_changed"].values())
            text += f"; {compared - changed} of {compared} replies have the recorded verdict"
        return text


def counts_text(results: Sequence[Result]) -> str:
    """Return the number of stamps and of each verdict of one or more cases as text."""
    stamps, verdicts = 0, Counter[str]()
    for result in results:
        stamps += result.summary.get("stamps", 0)
        verdicts.update(result.summary.get("verdicts", {}))
    each = ", ".join(f"{count} {name}" for name, count in verdicts.items() if count)
    return f"{stamps} stamps" + (f": {each}" if each else "")


def total_text(results: Sequence[Result]) -> str:
    """Return the outcomes and the counts of many cases as text."""
    outcomes = Counter(outcome_text([result]) for result in results)
    each = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    return f"{len(results)} replays: {each}; {counts_text(results)}"


def outcome_text(results: Sequence[Result]) -> str:
    """Return the outcome of one or more cases in words. Exit code 0 alone is not a success."""
    outcome = max(result.outcome for result in results)
    if outcome is Outcome.PASSED and not any(result.is_judged for result in results):
        return NOT_JUDGED
    return outcome.name.lower()
