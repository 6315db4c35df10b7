# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of two results of the same bag: which answers have changed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import permutations
from math import isnan
from pathlib import Path
from typing import Any

from ..verdict import Verdict
from .events import MISSING, NEW, Events
from .rows import FORMAT, Row

__all__ = ["LABELS", "Comparison", "Golden", "GoldenError", "read_rows"]

# Number of missing stamps whose time is stored.
KEPT_TIMES = 10_000


_HOW = (
    "make it by a replay of the same case with the version, or the parameters, to compare with: "
    "python -m gjk_collision replay BAG --out FOLDER, then --golden FOLDER"
)


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
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError
    ) as error:  # fmt: skip
        raise GoldenError(f"{path}: cannot be read as a result file: {error}") from error


@dataclass
class Changes:
    """The number of answers that changed in one way, and the time of the first one [s]."""

    count: int = 0
    first: float | None = None

    def add(self, t: float) -> None:
        """Count one change at the time `t` [s]."""
        self.count += 1
        self.first = round(t, 6) if self.first is None else self.first


@dataclass(frozen=True, slots=True)
class Comparison:
    """An answer beside that of the golden result.

    Attributes
    ----------
    old : Row or None
        The answer of the golden result; None: it has no answer at this stamp.
    label : str
        The most severe change, one of `LABELS`; empty: nothing changed.
    """

    old: Row | None
    label: str

    @property
    def code(self) -> int:
        """Number of the label in `LABELS`, from 1 for the most severe one; 0: nothing changed."""
        return LABELS.index(self.label) + 1 if self.label else 0


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
    events : Events
        Each change is added to it.
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
        self,
        path: Path,
        tolerance: float,
        is_judged: Callable[[int], bool] = lambda time: True,
        events: Events | None = None,
    ) -> None:
        if not path.is_file():
            raise GoldenError(f"{path}: cannot be read, because it does not exist: {_HOW}")
        self._rows = (row for row in read_rows(path) if is_judged(row.time))
        self._tolerance, self._events = tolerance, events or Events()
        self._next: Row | None = next(self._rows, None)
        self.compared = 0
        self.largest_delta = 0.0
        self.changes = {kind: Changes() for kind in self.KINDS}
        self.verdicts: dict[str, Changes] = {}
        self.missing: list[float] = []
        self._begin: int | None = None

    def add(self, t: float, row: Row) -> Comparison:
        """Compare the answer `row` at the time `t` [s] with the earlier one."""
        if self._begin is None:
            self._begin = row.time - round(t * 1e9)
        while self._next is not None and self._next.time < row.time:
            self._miss()
        old = self._next
        if old is None or (old.time, old.cause) != (row.time, row.cause):
            self.changes["new_stamps"].add(t)
            return self._told(t, None, row, NEW)
        self._next = next(self._rows, None)
        self.compared += 1
        found = self._compare(t, old, row)
        return self._told(t, old, row, min(found, key=LABELS.index, default=""))

    def finish(self) -> None:
        """Count the answers of the earlier result after the end of this result."""
        while self._next is not None:
            self._miss()

    @property
    def failures(self) -> list[tuple[str, float | None]]:
        """One text for each kind of change that counts as a failure, and its first time [s]."""
        found: list[tuple[str, float | None]] = [
            (f"{kind.replace('_', ' ')}: {changes.count}", changes.first)
            for kind, changes in self.changes.items()
            if changes.count and kind not in self.HARMLESS
        ]
        if not self.compared:
            text = "not tested: this result and the golden file have no stamp in common"
            found.append((text, None))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and first times of all changes as plain data."""
        return {
            "compared": self.compared,
            "tolerance": self._tolerance,
            "largest_delta": self.largest_delta,
            **{kind: asdict(changes) for kind, changes in self.changes.items()},
            "verdicts": {
                label: asdict(self.verdicts[label]) for label in LABELS if label in self.verdicts
            },
        }

    def _told(self, t: float, old: Row | None, row: Row, label: str) -> Comparison:
        found = Comparison(old, label)
        self._events.add_change(t, old, row, label, found.code)
        return found

    def _miss(self) -> None:
        row = self._next
        assert row is not None
        t = (row.time - (row.time if self._begin is None else self._begin)) * 1e-9
        self.changes["missing_stamps"].add(t)
        self._events.add_change(t, row, None, MISSING, LABELS.index(MISSING) + 1)
        if len(self.missing) < KEPT_TIMES:
            self.missing.append(t)
        self._next = next(self._rows, None)

    def _compare(self, t: float, old: Row, new: Row) -> list[str]:
        """Count the changes of one answer, and return the label of each one."""
        if old.verdict is not new.verdict:
            label = _label(old.verdict, new.verdict)
            self.changes[_kind(old.verdict, new.verdict)].add(t)
            self.verdicts.setdefault(label, Changes()).add(t)
            return [label]
        found = []
        if old.status is not new.status:
            found.append("status")
        if (old.nearest_id, old.nearest_source) != (new.nearest_id, new.nearest_source):
            found.append("nearest obstacle")
        known = not isnan(old.distance) and not isnan(new.distance)
        is_changed = isnan(old.distance) != isnan(new.distance)
        if known and old.distance != new.distance:  # infinities are equal
            delta = abs(new.distance - old.distance)
            self.largest_delta = max(self.largest_delta, delta)
            is_changed = not delta <= self._tolerance
        elif not known:
            is_changed |= old.digest != new.digest
        if is_changed:
            found.append("distance")
        for label in found:
            self.changes[_KINDS_OF_LABELS[label]].add(t)
        return found


_KINDS_OF_LABELS = {
    "status": "statuses", "nearest obstacle": "nearest_obstacles", "distance": "distances"
}  # fmt: skip


def _kind(old: Verdict, new: Verdict) -> str:
    if (old, new) == (Verdict.COLLISION, Verdict.FREE):
        return "lost_collisions"
    if (old, new) == (Verdict.FREE, Verdict.COLLISION):
        return "new_collisions"
    return "new_unknowns" if new is Verdict.UNKNOWN else "other_verdicts"


def _label(old: Verdict, new: Verdict) -> str:
    return f"{old.name} to {new.name}"


# The label of each change on the page. The most severe one is first.
LABELS = (
    *(
        _label(old, new)
        for old, new in sorted(
            permutations(Verdict, 2), key=lambda pair: Golden.KINDS.index(_kind(*pair))
        )
    ),
    "distance",
    MISSING,
    NEW,
    "status",
    "nearest obstacle",
)
