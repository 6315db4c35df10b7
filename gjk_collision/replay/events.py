# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What happened in a replay: a cause and its answers, or answers without a cause."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from math import isfinite
from typing import Any

from ..verdict import WORST_FIRST, Status, Verdict
from .causes import Reason
from .rows import Row, near_change
from .senders import BACK, Cause

__all__ = ["KEPT", "LEAST", "MISSING", "NEAR", "NEW", "Events"]

# m. An answer FREE at a smaller distance is an event too.
NEAR = 0.1

# A smaller change of a distance is not told [m].
LEAST = 1e-6

# Number of events that are kept at least, the most severe ones.
KEPT = 500

# s. A longer start-up is as severe as its answers.
START = 5.0

COMPARED, MISSING, NEW = "compared", "missing stamp", "new stamp"
_ABSENT = {MISSING: "golden {}, now no answer", NEW: "golden no answer, now {}"}

_MINOR = len(WORST_FIRST)  # the severity of an event that changed no answer


@dataclass(slots=True, eq=False)
class _Event:
    """Stamps with one cause, with one answer, or with one change of it."""

    key: tuple[Any, ...]  # what successive stamps have in common
    label: str  # the change, as in `golden.LABELS`; empty: there is no golden result
    severity: int  # 0: the most severe
    at: float  # time of the stamp that is described [s]
    old: Row | None  # the golden answer at this time
    new: Row | None
    worst: float  # m, the larger the worse: minus the distance, or its change
    begin: float = field(init=False)  # times of the first and of the last stamp [s]
    end: float = field(init=False)
    stamps: int = 1
    times: int = 1
    more: Reason = ()  # what else is known about the first stamp, or the margin

    def __post_init__(self) -> None:
        self.begin = self.end = self.at

    @property
    def rank(self) -> tuple[int, float]:
        """The most severe event first, and of those the worst or that of the most stamps."""
        return self.severity, -self.worst if isfinite(self.worst) else -self.stamps

    def add(self, one: "_Event") -> None:
        """Add the next stamp."""
        self.key, self.end, self.stamps = one.key, one.at, self.stamps + 1
        if one.worst > self.worst + LEAST:
            self.at, self.old, self.new, self.worst = one.at, one.old, one.new, one.worst

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain data, with the texts for people."""
        return {
            "from": round(self.begin, 6),
            "to": round(self.end, 6),
            "stamps": self.stamps,
            "times": self.times,
            "what": self._what(),
            "why": self._why(),
            "cause": ", ".join(str(each) for each in self.more if isinstance(each, Cause)),
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
        new, more = self.new, [str(each) for each in self.more]
        if new is None:
            return ""
        if self.old is None and self.label not in ("", NEW, _START):
            return ", ".join(more)
        if new.status is not Status.SUCCESS:
            return "; ".join(filter(None, (", ".join(more), new.message)))
        before = "" if self.old is None else _nearest(self.old)
        after = _nearest(new)
        text = f"{before} -> {after}" if before and before != after else after
        if self.old is not None and (near := near_change(self.old, new, LEAST)):
            text = near if before == after else text
        parts = [text, *more]
        where = f" at {self.at:.3f} s" if self.at > self.begin else ""
        if self.old is not None and self.old.verdict is new.verdict:
            if isfinite(self.worst) and self.worst >= LEAST:
                parts.append(f"largest change {self.worst:.3g} m{where}")
        elif where and after:
            parts.append(f"smallest distance{where}")
        return ", ".join(filter(None, parts))


_START = "start-up"


class Events:
    """The events of a replay. An answer FREE at a distance of at least `NEAR` is no event.

    Parameters
    ----------
    explain : callable
        Returns what else is known about an answer, now or later.
    """

    def __init__(self, explain: Callable[[Row], Reason] = lambda row: ()) -> None:
        self.explain = explain
        self._open: dict[tuple[str, str], _Event] = {}  # by place and kind of the answer
        self._all: list[_Event] = []
        self._last: dict[tuple[Any, ...], _Event] = {}  # by what makes it the same event
        self._count = 0
        self._is_starting = True

    def add(self, t: float, row: Row) -> None:
        """Add the answer `row` at the time `t` [s], which is compared with nothing."""
        if not row.is_state:
            return
        self._is_starting &= row.verdict is Verdict.UNKNOWN
        if row.verdict is Verdict.FREE and not row.distance < NEAR:
            self._open.pop(("", COMPARED), None)
            return
        key = row.verdict, row.status, row.bad_sources
        label = _START if self._is_starting else ""
        severity = WORST_FIRST.index(row.verdict)
        self._extend(("", COMPARED), _Event(key, label, severity, t, None, row, -row.distance))

    def add_causes(self, t: float, row: Row, causes: Iterable[Cause]) -> None:
        """Add what has changed in the data up to the time `t` [s], when the answer is `row`."""
        for each in causes:
            event = _Event((), each.kind, _MINOR, t, None, row, 0.0, more=(each,))
            self._start(event, (each,))

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
                    self._open.pop((place, other), None)
        if label:
            both = [each for each in (old, new) if each is not None]
            key = (label, *((each.verdict, each.status) for each in both))
            is_moved = both[0].verdict is both[-1].verdict
            worst = abs(both[0].distance - both[-1].distance) if is_moved else -row.distance
            self._extend((place, kind), _Event(key, label, severity, t, old, new, worst))

    def to_dict(self) -> dict[str, Any]:
        """Return the number of events, and those that are kept, in the order of time.

        The rank is that of the worst event of each severity, then of the next ones; last, of those
        that changed no answer.
        """
        told = {id(each) for event in self._all if event.key for each in event.more}
        events = [each for each in self._all if each.key or id(each.more[0]) not in told]
        for each in events:
            if each.label == _START:
                is_short = each.end - each.begin < START and not self._is_starting
                each.severity = _MINOR if is_short else each.severity
                each.label = "" if self._is_starting else _START  # nothing was ever known
            if not each.key and isinstance(cause := each.more[0], Cause):
                each.begin, each.end, each.stamps = cause.begin, max(cause.begin, cause.end), 0
        places = {
            each: count() for each in range(1 + max((e.severity for e in events), default=0))
        }
        ordered = sorted(events, key=lambda each: each.rank)
        order = [
            (e.label == _START, not e.key, next(places[e.severity]), e.severity) for e in ordered
        ]
        ranks = sorted(range(len(ordered)), key=order.__getitem__)
        kept = [{**ordered[i].to_dict(), "rank": rank} for rank, i in enumerate(ranks)]
        total = self._count - len(self._all) + len(events)
        return {"count": total, "kept": sorted(kept[:KEPT], key=lambda each: each["from"])}

    def _extend(self, lane: tuple[str, str], one: _Event) -> None:
        event = self._open.get(lane)
        if event is not None and event.key == one.key:
            is_worse = one.worst > event.worst + LEAST
            event.add(one)
            if is_worse and one.new is not None and one.new.verdict is Verdict.MARGIN:
                event.more = self.explain(one.new) or event.more  # the margin of this obstacle
            return
        one.more = one.more or (() if one.new is None else self.explain(one.new))
        same = (*lane, *_same(one))
        before = self._last.get(same)
        if before is not None and one.at - before.end <= BACK:
            before.times += before is not event
            before.add(one)
        else:
            before = self._start(one, same)
        self._open[lane] = before

    def _start(self, event: _Event, same: tuple[Any, ...]) -> _Event:
        self._count += 1
        self._all.append(event)
        self._last[same] = event
        if len(self._all) >= 4 * KEPT:
            self._all = sorted(self._all, key=lambda each: each.rank)[: 2 * KEPT]
            left = {id(each) for each in self._all}
            self._last = {key: each for key, each in self._last.items() if id(each) in left}
        return event


def _same(one: _Event) -> tuple[Any, ...]:
    """Return what makes a stamp one more of an event that has ended a moment ago."""
    if one.label == _START:
        return (_START,)
    causes = tuple(id(each) for each in one.more if isinstance(each, Cause))
    row = one.new
    if row is None or one.old is not None or one.label:
        return one.key
    if causes and row.verdict is Verdict.UNKNOWN:
        return row.verdict, *causes
    return (*one.key, row.nearest_id, row.nearest_source, *causes)


def _answer(row: Row) -> str:
    is_success = row.status is Status.SUCCESS
    return row.verdict.name + ("" if is_success else f" ({row.status.name})")


def _nearest(row: Row) -> str:
    if row.nearest_id == -1 or not isfinite(row.distance):
        return ""
    return f"obstacle {row.nearest_id} of {row.nearest_source} at {row.distance:.3f} m"
