# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of two results of the same bag: which answers have changed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from math import isnan
from pathlib import Path
from typing import Any

from ..verdict import Verdict
from .events import MISSING, NEW, Events
from .rows import FORMAT, Row, near_change

__all__ = ["LABELS", "Comparison", "Golden", "GoldenError", "read_rows"]

# Number of missing stamps whose time is stored.
KEPT_TIMES = 10_000


_HOW = (
    "Replay the same case with the version, or the parameters, to compare with: "
    "python -m gjk_collision replay BAG --out FOLDER, then use --golden FOLDER"
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

    def __init__(
        self,
        path: Path,
        tolerance: float,
        is_judged: Callable[[int], bool] = lambda time: True,
        events: Events | None = None,
    ) -> None:
        if not path.is_file():
            others = sorted(
                each.parent.name for each in path.parent.parent.glob("*/results.jsonl")
            )
            text = f"{path}: cannot be read: it does not exist"
            if others:
                text += f"; {path.parent.parent} has results of: {', '.join(others)}"
            raise GoldenError(f"{text}. {_HOW}")
        self._rows = (row for row in read_rows(path) if is_judged(row.time))
        self._tolerance, self._events = tolerance, events or Events()
        self._next: Row | None = next(self._rows, None)
        self.compared = 0
        self.largest_delta = 0.0
        self._changes: dict[str, dict[str, Any]] = {}  # label -> number and first time [s]
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
            return self._told(t, None, row, NEW)
        self._next = next(self._rows, None)
        self.compared += 1
        return self._told(t, old, row, *self._compare(old, row))

    def finish(self) -> None:
        """Count the answers of the earlier result after the end of this result."""
        while self._next is not None:
            self._miss()

    @property
    def failures(self) -> list[tuple[str, float | None]]:
        """One text for each kind of change that counts as a failure, and its first time [s]."""
        found: list[tuple[str, float | None]] = [
            (f"{'another ' * (label == 'distance')}{label}: {each['count']}", each["first"])
            for label, each in self._sorted().items()
            if label not in HARMLESS
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
            "changes": self._sorted(),
        }

    def _sorted(self) -> dict[str, dict[str, Any]]:
        return {label: self._changes[label] for label in LABELS if label in self._changes}

    def _count(self, t: float, label: str) -> None:
        found = self._changes.setdefault(label, {"count": 0, "first": round(t, 6)})
        found["count"] += 1

    def _told(self, t: float, old: Row | None, row: Row, *labels: str) -> Comparison:
        for label in labels:
            self._count(t, label)
        found = Comparison(old, min(labels, key=LABELS.index, default=""))
        self._events.add_change(t, old, row, found.label, found.code)
        return found

    def _miss(self) -> None:
        row = self._next
        assert row is not None
        t = (row.time - (row.time if self._begin is None else self._begin)) * 1e-9
        self._count(t, MISSING)
        self._events.add_change(t, row, None, MISSING, LABELS.index(MISSING) + 1)
        if len(self.missing) < KEPT_TIMES:
            self.missing.append(t)
        self._next = next(self._rows, None)

    def _compare(self, old: Row, new: Row) -> list[str]:
        """Return the label of each change of one answer."""
        if old.verdict is not new.verdict:
            return [_label((old.verdict, new.verdict))]
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
        if old.near and new.near:
            is_changed |= bool(near_change(old, new, self._tolerance))
        if is_changed:
            found.append("distance")
        return found


def _label(pair: tuple[Verdict, Verdict]) -> str:
    return f"{pair[0].name} to {pair[1].name}"


def _severity(pair: tuple[Verdict, Verdict]) -> int:
    """Return 0 for COLLISION that became FREE, 1 for the reverse, 2 for UNKNOWN, 3 for others."""
    hit = Verdict.COLLISION, Verdict.FREE
    return 0 if pair == hit else 1 if pair == hit[::-1] else 2 + (pair[1] is not Verdict.UNKNOWN)


# The kinds of changes. The most severe one is first.
LABELS = (
    *map(_label, sorted(permutations(Verdict, 2), key=_severity)),
    "distance",
    MISSING,  # in the earlier result only
    NEW,  # in this result only
    "status",
    "nearest obstacle",  # another id, or the same id of another source
)

# These are no failures.
HARMLESS = LABELS[-2:]
