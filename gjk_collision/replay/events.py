# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What happened in a replay: successive stamps with one answer, or with one change of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ..verdict import WORST_FIRST, Status, Verdict
from .causes import State
from .rows import Row

__all__ = ["KEPT", "LEAST", "MISSING", "NEAR", "NEW", "Events"]

# m. An answer FREE at a smaller distance is an event too.
NEAR = 0.1

# A smaller change of a distance is not told [m].
LEAST = 1e-6

# Number of events that are kept at least, the most severe ones.
KEPT = 500

COMPARED, MISSING, NEW = "compared", "missing stamp", "new stamp"
_ABSENT = {MISSING: "golden {}, now no answer", NEW: "golden no answer, now {}"}


@dataclass(slots=True)
class _Run:
    """Successive stamps with one answer, or with one change."""

    key: tuple[Any, ...]  # what the stamps have in common
    label: str  # the change, as in `golden.LABELS`; empty: there is no golden result
    severity: int  # 0: the most severe
    at: float  # time of the stamp that is described [s]
    old: Row | None  # the golden answer at this time
    new: Row | None
    worst: float  # m, the larger the worse: minus the distance, or its change
    begin: float = field(init=False)  # times of the first and of the last stamp [s]
    end: float = field(init=False)
    count: int = 1
    more: str = ""  # what else is known about the first stamp, or the margin
    since: str = ""  # the parameters that changed at the first stamp

    def __post_init__(self) -> None:
        self.begin = self.end = self.at

    @property
    def rank(self) -> tuple[int, int]:
        """The most severe event first, and of those the longest."""
        return self.severity, -self.count

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain data, with the texts for people."""
        return {
            "from": round(self.begin, 6),
            "to": round(self.end, 6),
            "stamps": self.count,
            "what": self._what(),
            "why": self._why(),
        }

    def _what(self) -> str:
        old, new = self.old, self.new
        if old is None or new is None:
            row = new or old
            assert row is not None
            if self.label in (MISSING, NEW):
                return f"{self.label} ({_ABSENT[self.label].format(_answer(row))})"
            if self.label:
                return f"{self.label}, {_answer(row)}"
            return _answer(row) + (", near miss" if row.verdict is Verdict.FREE else "")
        before, after = _answer(old), _answer(new)
        change = f"{before} -> {after}" if before != after else f"{after}, another {self.label}"
        return change if new.is_state else f"{new.cause}: {change}"

    def _why(self) -> str:
        new = self.new
        if new is None:
            return ""
        if self.old is None and self.label not in ("", NEW):
            return self.more
        if new.status is not Status.SUCCESS:
            return "; ".join(filter(None, (new.message, self.more, self.since)))
        before = "" if self.old is None else _nearest(self.old)
        after = _nearest(new)
        text = f"{before} -> {after}" if before and before != after else after
        parts = [text, self.more, self.since]
        where = f" at {self.at:.3f} s" if self.at > self.begin else ""
        if self.old is not None and self.old.verdict is new.verdict:
            if isfinite(self.worst) and self.worst >= LEAST:
                parts.append(f"largest change {self.worst:.3g} m{where}")
        elif where and after:
            parts.append(f"smallest distance{where}")
        return ", ".join(filter(None, parts))


class Events:
    """The events of a replay. An answer FREE at a distance of at least `NEAR` is no event.

    Parameters
    ----------
    explain : callable
        Returns what else is known about an answer, now or later, as its `str`.
    """

    def __init__(self, explain: Callable[[Row], str] = lambda row: "") -> None:
        self.explain = explain
        self.changed = ""  # the parameters that have changed since the stamp before
        self._open: dict[tuple[str, str], _Run] = {}
        self._ended: list[_Run] = []
        self._count = 0

    def add(self, t: float, row: Row) -> None:
        """Add the answer `row` at the time `t` [s], which is compared with nothing."""
        if not row.is_state:
            return
        if row.verdict is Verdict.FREE and not row.distance < NEAR:
            self._end(("", COMPARED))
            return
        key = row.verdict, row.status, row.bad_sources
        severity = WORST_FIRST.index(row.verdict)
        self._extend(("", COMPARED), _Run(key, "", severity, t, None, row, -row.distance))

    def add_states(self, t: float, row: Row, states: Iterable[State]) -> None:
        """Add what lasts at the time `t` [s] while the answer is `row`, and end what does not."""
        lasting = set()
        for name, label, size, text in states:
            lane = label, name
            lasting.add(lane)
            self._extend(lane, _Run(lane, label, len(WORST_FIRST), t, None, row, size, more=text))
        for lane in [each for each in self._open if each[1] != COMPARED and each not in lasting]:
            self._end(lane)

    def add_change(
        self, t: float, old: Row | None, new: Row | None, label: str, severity: int
    ) -> None:
        """Add a change from the golden answer to this one, at the time `t` [s]; None: no answer.

        `label` is the change, as in `golden.LABELS`; empty: nothing has changed. The most severe
        change has the severity 0.
        """
        row = new or old
        assert row is not None
        place = "" if row.is_state else row.cause
        kind = MISSING if new is None else NEW if old is None else COMPARED
        if kind != MISSING:  # a stamp of this result ends the others
            for other in (COMPARED, MISSING, NEW) if kind == COMPARED else (COMPARED,):
                if other != kind or not label:
                    self._end((place, other))
        if label:
            both = [each for each in (old, new) if each is not None]
            key = (label, *((each.verdict, each.status) for each in both))
            is_moved = both[0].verdict is both[-1].verdict
            worst = abs(both[0].distance - both[-1].distance) if is_moved else -row.distance
            self._extend((place, kind), _Run(key, label, severity, t, old, new, worst))

    def to_dict(self) -> dict[str, Any]:
        """Return the number of events, and those that are kept, in the order of time."""
        for lane in list(self._open):
            self._end(lane)
        kept = [
            {**run.to_dict(), "rank": rank}
            for rank, run in enumerate(sorted(self._ended, key=lambda each: each.rank))
        ]
        return {"count": self._count, "kept": sorted(kept, key=lambda each: each["from"])}

    def _extend(self, lane: tuple[str, str], one: _Run) -> None:
        run = self._open.get(lane)
        if run is None or run.key != one.key:
            self._end(lane)
            if one.new is not None:
                one.more = one.more or self.explain(one.new)
                if self.changed and one.new.is_state:
                    one.since = f"since {self.changed}"
            self._open[lane] = one
            return
        run.end, run.count = one.at, run.count + 1
        if one.worst > run.worst + LEAST:
            run.at, run.old, run.new, run.worst = one.at, one.old, one.new, one.worst
            if one.new is not None and one.new.verdict is Verdict.MARGIN:
                one.more = self.explain(one.new)  # the margin of this obstacle
            run.more = one.more or run.more

    def _end(self, lane: tuple[str, str]) -> None:
        run = self._open.pop(lane, None)
        if run is None:
            return
        self._count += 1
        self._ended.append(run)
        if len(self._ended) >= 2 * KEPT:
            self._ended = sorted(self._ended, key=lambda each: each.rank)[:KEPT]


def _answer(row: Row) -> str:
    is_success = row.status is Status.SUCCESS
    return row.verdict.name + ("" if is_success else f" ({row.status.name})")


def _nearest(row: Row) -> str:
    if row.nearest_id == -1 or not isfinite(row.distance):
        return ""
    return f"obstacle {row.nearest_id} of {row.nearest_source} at {row.distance:.3f} m"
