# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Expected results of a replay: windows, reactions and maximum shares of false stops.

Times are seconds after the begin of the bag. Only answers for the vehicle's own pose are checked.
An expectation that could not be tested counts as failed: a window that contains no stamp, or a
reaction whose verdict never occurs.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

from ..verdict import Status, Verdict
from .faults import FaultSpec
from .rows import Row

__all__ = ["ExpectError", "Expectations", "Reaction", "Share", "Window", "parse"]


class ExpectError(ValueError):
    """An expectation in a scenario file is not valid."""


@dataclass
class Window:
    """The expected answer at every stamp in [begin, end).

    Attributes
    ----------
    begin, end : float
        Begin and end of the window [s].
    verdicts : frozenset of Verdict
        Allowed verdicts.
    status : Status or None
        Expected status; None: any.
    nearest_id : int or None
        Expected id of the nearest obstacle; None: any.
    distance : (float, float)
        Minimum and maximum distance [m].
    why : str
        Reason for the window, for the report; empty for a window from a file.
    """

    begin: float
    end: float
    verdicts: frozenset[Verdict]
    status: Status | None = None
    nearest_id: int | None = None
    distance: tuple[float, float] = (-inf, inf)
    why: str = ""
    _seen: int = field(default=0, init=False)
    _wrong: int = field(default=0, init=False)
    _first: str = field(default="", init=False)

    def add(self, t: float, row: Row) -> None:
        """Check the answer `row` at the time `t` [s]."""
        if not self.begin <= t < self.end:
            return
        self._seen += 1
        low, high = self.distance
        right = (
            row.verdict in self.verdicts
            and self.status in (None, row.status)
            and self.nearest_id in (None, row.nearest_id)
            and (self.distance == (-inf, inf) or low <= row.distance <= high)
        )
        if not right:
            self._wrong += 1
            answer = f"{row.verdict.name}/{row.status.name}, nearest {row.nearest_id}"
            self._first = self._first or f"first at {t:.3f} s: {answer} at {row.distance:.6g} m"

    def failure(self) -> str:
        """Return why the expectation failed; empty: it did not fail."""
        if not self._seen:
            return f"{self}: not tested, because the window contains no stamp"
        if self._wrong:
            return f"{self}: wrong at {self._wrong} of {self._seen} stamps, {self._first}"
        return ""

    def __str__(self) -> str:
        wanted = ["|".join(sorted(verdict.name for verdict in self.verdicts))]
        if len(self.verdicts) == len(Verdict):
            wanted = []
        if self.status is not None:
            wanted.append(self.status.name)
        if self.nearest_id is not None:
            wanted.append(f"nearest {self.nearest_id}")
        if self.distance != (-inf, inf):
            wanted.append(f"distance in [{self.distance[0]:.9g}, {self.distance[1]:.9g}] m")
        text = f"{self.begin:g} to {self.end:g} s: {', '.join(wanted)}"
        return f"{self.why}, {text}" if self.why else text


@dataclass
class Reaction:
    """A verdict that must occur within a time after `at`.

    Attributes
    ----------
    at, within : float
        Time from which the verdict is expected, and maximum time until it occurs [s].
    verdict : Verdict
        Expected verdict.
    """

    at: float
    verdict: Verdict
    within: float
    _reached: float | None = field(default=None, init=False)

    def add(self, t: float, row: Row) -> None:
        """Check the answer `row` at the time `t` [s]."""
        if self._reached is None and t >= self.at and row.verdict is self.verdict:
            self._reached = t

    def failure(self) -> str:
        """Return why the expectation failed; empty: it did not fail."""
        if self._reached is None:
            return f"{self}: not tested, because the verdict never occurred"
        late = self._reached - self.at
        return f"{self}: took {late:.3f} s" if late > self.within + 1e-9 else ""

    def __str__(self) -> str:
        return f"{self.verdict.name} within {self.within:g} s after {self.at:g} s"


@dataclass
class Share:
    """A maximum share of false stops in [begin, end).

    Attributes
    ----------
    begin, end : float
        Begin and end of the time [s].
    at_most : float
        Maximum share of stamps with a verdict other than FREE, in [0, 1].
    """

    begin: float
    end: float
    at_most: float
    _seen: int = field(default=0, init=False)
    _stops: int = field(default=0, init=False)

    def add(self, t: float, row: Row) -> None:
        """Check the answer `row` at the time `t` [s]."""
        if self.begin <= t < self.end:
            self._seen += 1
            self._stops += row.verdict is not Verdict.FREE

    def failure(self) -> str:
        """Return why the expectation failed; empty: it did not fail."""
        if not self._seen:
            return f"{self}: not tested, because this time contains no stamp"
        share = self._stops / self._seen
        text = f"{self}: {share:.2%} ({self._stops} of {self._seen} stamps)"
        return text if share > self.at_most else ""

    def __str__(self) -> str:
        return f"false stops from {self.begin:g} to {self.end:g} s: at most {self.at_most:.2%}"


class Expectations:
    """All expectations of a case. They are checked in one pass over the answers.

    Parameters
    ----------
    each : sequence of Window, Reaction or Share
        The expectations.
    faults : sequence of FaultSpec
        Injected faults. The status that each fault must cause is one more expectation.
    """

    def __init__(
        self, each: Sequence[Window | Reaction | Share], faults: Sequence[FaultSpec] = ()
    ) -> None:
        self._each = [deepcopy(one) for one in each]  # each one has counters
        for fault in faults:
            name = f"fault {fault.kind} {fault.topic}".rstrip()
            begin = fault.begin + fault.after
            any_verdict = frozenset(Verdict)
            self._each.append(Window(begin, fault.end, any_verdict, fault.status, why=name))

    def __len__(self) -> int:
        return len(self._each)

    def add(self, t: float, row: Row) -> None:
        """Check the answer `row` at the time `t` [s] after the begin of the bag."""
        for each in self._each:
            each.add(t, row)

    def results(self) -> list[tuple[str, str]]:
        """Return each expectation as text, with the reason why it failed (empty: it did not)."""
        return [(str(each), each.failure()) for each in self._each]


def parse(given: Any) -> list[Window | Reaction | Share]:
    """Return the expectations in the field ``expect`` of a scenario file.

    Raises
    ------
    ExpectError
        The field is not valid.
    """
    if given is None:
        return []
    if not isinstance(given, dict) or not any(given.values()):
        raise ExpectError(f"expect: must have at least one of {', '.join(_PARSERS)}")
    if stray := given.keys() - _PARSERS.keys():
        names = ", ".join(sorted(map(str, stray)))
        raise ExpectError(f"expect: unknown key: {names}; allowed: {', '.join(_PARSERS)}")
    found: list[Window | Reaction | Share] = []
    for name, parser in _PARSERS.items():
        for i, each in enumerate(given.get(name) or ()):
            fields = _Fields(f"{name}[{i}]", each)
            found.append(parser(fields))
            fields.done()
    return found


class _Fields:
    """The fields of one mapping. Each field is taken once; fields that remain are an error."""

    def __init__(self, where: str, given: Any) -> None:
        if not isinstance(given, dict):
            raise ExpectError(f"{where}: must be a mapping (got {given!r})")
        self._where, self._left = where, dict(given)

    def refuse(self, text: str) -> ExpectError:
        return ExpectError(f"{self._where}: {text}")

    def take(self, name: str, default: Any = None) -> Any:
        return self._left.pop(name, default)

    def number(self, name: str) -> float:
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise self.refuse(f"'{name}' must be a number (got {value!r})")
        return float(value)

    def verdict(self, value: Any) -> Verdict:
        if value not in Verdict.__members__:
            names = ", ".join(Verdict.__members__)
            raise self.refuse(f"'verdict' must be one of {names} (got {value!r})")
        return Verdict[value]

    def done(self) -> None:
        if self._left:
            raise self.refuse(f"unknown key: {', '.join(sorted(map(str, self._left)))}")


def _window(fields: _Fields) -> Window:
    wanted, never = fields.take("verdict"), fields.take("never")
    if (wanted is None) == (never is None):
        raise fields.refuse("must have either 'verdict' or 'never'")
    named = wanted if never is None else never
    verdicts = frozenset(map(fields.verdict, named if isinstance(named, list) else [named]))
    if never is not None:
        verdicts = frozenset(Verdict) - verdicts
    status = fields.take("status")
    if status is not None and status not in Status.__members__:
        raise fields.refuse(f"'status' must be the name of a status (got {status!r})")
    span = fields.take("distance", [-inf, inf])
    if not isinstance(span, list) or len(span) != 2:
        raise fields.refuse(f"'distance' must be [low, high] in m (got {span!r})")
    return Window(
        fields.number("from"),
        fields.number("to"),
        verdicts,
        None if status is None else Status[status],
        fields.take("nearest_id"),
        (float(span[0]), float(span[1])),
    )


def _reaction(fields: _Fields) -> Reaction:
    verdict = fields.verdict(fields.take("verdict"))
    return Reaction(fields.number("at"), verdict, fields.number("within"))


def _share(fields: _Fields) -> Share:
    return Share(fields.number("from"), fields.number("to"), fields.number("at_most"))


_PARSERS: dict[str, Callable[[_Fields], Window | Reaction | Share]] = {
    "windows": _window,
    "reactions": _reaction,
    "false_stops": _share,
}
