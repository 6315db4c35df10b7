# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of two results of the same bag: which answers have changed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from ..verdict import Verdict
from .rows import FORMAT, Row

__all__ = ["Golden", "GoldenError", "read_rows"]

# Number of examples that are stored for each kind of change.
KEPT = 10


class GoldenError(Exception):
    """The golden file cannot be used for a comparison."""


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a result file.

    Raises
    ------
    GoldenError
        The file cannot be read, or it is not a result file.
    """
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(next(file, "{}"))
            if header.get("format") != FORMAT:
                raise GoldenError(f"{path}: is not a result file of format {FORMAT}")
            for line in file:
                yield Row.from_json(json.loads(line))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise GoldenError(f"{path}: cannot be read as a result file: {error}") from error


@dataclass
class Changes:
    """The number of answers that changed in one way, and the first examples."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count one change, with a description."""
        self.count += 1
        if len(self.first) < KEPT:
            self.first.append(text)


class Golden:
    """Compares a result with an earlier one, in one pass over both.

    Parameters
    ----------
    path : Path
        The earlier ``results.jsonl``.
    tolerance : float
        Maximum difference of two distances [m].
    is_judged : callable
        Returns whether an answer at a log time [ns] is compared.
    """

    # The most severe kind is first. Kinds in HARMLESS are reported but are not failures.
    KINDS = (
        "lost_collisions",  # COLLISION -> FREE
        "new_collisions",  # FREE -> COLLISION
        "new_unknowns",  # anything -> UNKNOWN
        "other_verdicts",
        "distances",
        "missing_stamps",  # in the earlier result only
        "new_stamps",  # in this result only
        "statuses",
        "nearest_obstacles",  # another id, or the same id of another source
    )
    HARMLESS = ("statuses", "nearest_obstacles")

    def __init__(
        self, path: Path, tolerance: float, is_judged: Callable[[int], bool] = lambda time: True
    ) -> None:
        self._rows = (row for row in read_rows(path) if is_judged(row.time))
        self._tolerance = tolerance
        self._next: Row | None = next(self._rows, None)
        self.compared = 0
        self.largest_delta = 0.0
        self.changes = {kind: Changes() for kind in self.KINDS}

    def add(self, t: float, row: Row) -> None:
        """Compare the answer `row` at the time `t` [s] with the earlier one."""
        while self._next is not None and self._next.time < row.time:
            self._miss()
        old = self._next
        if old is None or (old.time, old.cause) != (row.time, row.cause):
            self.changes["new_stamps"].add(f"{t:.3f} s: {row.cause}")
            return
        self._next = next(self._rows, None)
        self.compared += 1
        self._compare(t, old, row)

    def finish(self) -> None:
        """Count the answers of the earlier result after the end of this result."""
        while self._next is not None:
            self._miss()

    @property
    def failures(self) -> list[str]:
        """One text for each kind of change that counts as a failure."""
        found = [
            f"{kind.replace('_', ' ')}: {changes.count}, first {changes.first[0]}"
            for kind, changes in self.changes.items()
            if changes.count and kind not in self.HARMLESS
        ]
        if not self.compared:
            found.append("not tested: this result and the golden file have no stamp in common")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and examples of all changes as plain data."""
        return {
            "compared": self.compared,
            "tolerance": self._tolerance,
            "largest_delta": self.largest_delta,
            **{
                kind: {"count": changes.count, "first": changes.first}
                for kind, changes in self.changes.items()
            },
        }

    def _miss(self) -> None:
        assert self._next is not None
        self.changes["missing_stamps"].add(f"log time {self._next.time} ns: {self._next.cause}")
        self._next = next(self._rows, None)

    def _compare(self, t: float, old: Row, new: Row) -> None:
        where = f"{t:.3f} s: {_text(old)} -> {_text(new)}"
        if old.verdict is not new.verdict:
            self.changes[_kind(old.verdict, new.verdict)].add(where)
            return
        if old.status is not new.status:
            self.changes["statuses"].add(where)
        nearest = [(row.nearest_id, row.nearest_source) for row in (old, new)]
        if nearest[0] != nearest[1]:
            texts = " -> ".join(f"{number} of '{source}'" for number, source in nearest)
            self.changes["nearest_obstacles"].add(f"{t:.3f} s: {texts}")
        known = not isnan(old.distance) and not isnan(new.distance)
        if isnan(old.distance) != isnan(new.distance) or (not known and old.digest != new.digest):
            self.changes["distances"].add(where)
        elif known and old.distance != new.distance:  # infinities are equal
            delta = abs(new.distance - old.distance)
            self.largest_delta = max(self.largest_delta, delta)
            if not delta <= self._tolerance:
                self.changes["distances"].add(f"{where}: by {delta:.3g} m")


def _kind(old: Verdict, new: Verdict) -> str:
    if (old, new) == (Verdict.COLLISION, Verdict.FREE):
        return "lost_collisions"
    if (old, new) == (Verdict.FREE, Verdict.COLLISION):
        return "new_collisions"
    return "new_unknowns" if new is Verdict.UNKNOWN else "other_verdicts"


def _text(row: Row) -> str:
    return f"{row.verdict.name}/{row.status.name} {row.distance:.6g} m"
