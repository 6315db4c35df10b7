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
from math import inf, isnan
from typing import Any

from ..verdict import Status, Verdict
from .case_fields import NOWHERE, Fields, Place
from .faults import FaultSpec
from .rows import Row
from .span import Span

__all__ = ["Expectations", "Reaction", "Share", "Window", "parse"]


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
    nearest_source : str
        Expected source of the nearest obstacle, as in ``msg/CollisionState.msg``; empty: any.
    distance : (float, float)
        Minimum and maximum distance [m].
    why : str
        Reason for the window, for the report; empty for a window from a file.
    never : frozenset of Verdict
        The verdicts that must not occur, if the file names these; empty: it names those allowed.
    first : float or None
        Time of the first wrong answer [s]; None: no answer was wrong.
    """

    begin: float
    end: float
    verdicts: frozenset[Verdict]
    status: Status | None = None
    nearest_id: int | None = None
    nearest_source: str = ""
    distance: tuple[float, float] = (-inf, inf)
    why: str = ""
    never: frozenset[Verdict] = frozenset()
    first: float | None = field(default=None, init=False)
    _seen: int = field(default=0, init=False)
    _wrong: int = field(default=0, init=False)
    _first: str = field(default="", init=False)

    def is_tested_in(self, span: Span) -> bool:
        """Return whether a part of the window is in the part of the recording that is judged."""
        return self.begin <= span.end and span.begin < self.end

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
            and self.nearest_source in ("", row.nearest_source)
            and (self.distance == (-inf, inf) or low <= row.distance <= high)
        )
        if not right:
            self._wrong += 1
            self.first = t if self.first is None else self.first
            answer = f"{row.verdict.name}/{row.status.name}"
            if row.nearest_id != -1:
                answer += f", nearest {row.nearest_id} of '{row.nearest_source}'"
            if not isnan(row.distance):
                answer += f" at {row.distance:.6g} m"
            answer += f": {row.message}" if row.message else ""
            self._first = self._first or f"first at {t:.3f} s: {answer}"

    def failure(self) -> str:
        """Return why the expectation failed; empty: it did not fail."""
        if not self._seen:
            return f"{self}: not tested, because the window contains no stamp"
        if self._wrong:
            return f"{self}: wrong at {self._wrong} of {self._seen} stamps, {self._first}"
        return ""

    def __str__(self) -> str:
        named = self.never or self.verdicts
        wanted = ["never " * bool(self.never) + " or ".join(sorted(each.name for each in named))]
        if len(named) == len(Verdict):
            wanted = []
        if self.status is not None:
            wanted.append(self.status.name)
        if self.nearest_id is not None:
            wanted.append(f"nearest {self.nearest_id}")
        if self.nearest_source:
            wanted.append(f"nearest of '{self.nearest_source}'")
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

    @property
    def first(self) -> float:
        """Time of the first stamp to look at if the expectation failed [s]."""
        return self.at + self.within if self._reached is None else self._reached

    def is_tested_in(self, span: Span) -> bool:
        """Return whether the times are in the part of the recording that is judged."""
        return self.at in span and self.at + self.within in span

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
    first : float or None
        Time of the first stamp with a verdict other than FREE [s]; None: there is none.
    """

    begin: float
    end: float
    at_most: float
    first: float | None = field(default=None, init=False)
    _seen: int = field(default=0, init=False)
    _stops: int = field(default=0, init=False)

    def is_tested_in(self, span: Span) -> bool:
        """Return whether the times are in the part of the recording that is judged."""
        return self.begin in span and self.end in span

    def add(self, t: float, row: Row) -> None:
        """Check the answer `row` at the time `t` [s]."""
        if self.begin <= t < self.end:
            self._seen += 1
            if row.verdict is not Verdict.FREE:
                self._stops += 1
                self.first = t if self.first is None else self.first

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
    span : Span
        The part of the recording that is judged. Expectations that cannot be tested there are left
        out. A window is tested at its stamps in this part; the others must be inside of it.

    Attributes
    ----------
    left_out : list of str
        The expectations that are left out, as text.
    """

    def __init__(
        self,
        each: Sequence[Window | Reaction | Share],
        faults: Sequence[FaultSpec] = (),
        span: Span = Span(),  # noqa: B008
    ) -> None:
        self._each = [deepcopy(one) for one in each]  # each one has counters
        for fault in faults:
            name = f"fault {fault.kind} {fault.topic}".rstrip()
            begin = fault.begin + fault.after
            any_verdict = frozenset(Verdict)
            self._each.append(Window(begin, fault.end, any_verdict, fault.status, why=name))
        self.left_out = [str(one) for one in self._each if not one.is_tested_in(span)]
        self._each = [one for one in self._each if one.is_tested_in(span)]

    def add(self, t: float, row: Row) -> None:
        """Check the answer `row` at the time `t` [s] after the begin of the bag."""
        for each in self._each:
            each.add(t, row)

    def results(self) -> list[dict[str, Any]]:
        """Return each expectation as plain data.

        Returns
        -------
        list of dict
            ``text``: the expectation. ``failure``: why it failed; empty: it did not fail.
            ``at``: time of the first stamp to look at [s]; None: it did not fail, or was not
            tested.
        """
        found = []
        for each in self._each:
            failure = each.failure()
            at = each.first if failure else None
            found.append({"text": str(each), "failure": failure, "at": at})
        return found


def parse(given: Any, place: Place = NOWHERE) -> list[Window | Reaction | Share]:
    """Return the expectations in the field ``expect`` of a scenario file.

    Raises
    ------
    CaseError
        The field is not valid.
    """
    if given is None:
        return []
    fields = Fields(given, place, _PARSERS)
    found = [
        parser(Fields(each, where, names))
        for name, (parser, names) in _PARSERS.items()
        for each, where in fields.items(name)
    ]
    if not found:
        raise place.error(f"must have an element in at least one of {', '.join(_PARSERS)}")
    return found


_CHECKS = ("verdict", "never", "status", "nearest_id", "nearest_source", "distance")


def _window(fields: Fields) -> Window:
    given = [name for name in _CHECKS if fields.get(name) is not None]
    if not given:
        raise fields.place.error(f"must have at least one of {', '.join(_CHECKS)}")
    if "verdict" in given and "never" in given:
        raise fields.place.error("must not have both 'verdict' and 'never'")
    never = _verdicts(fields, "never") if "never" in given else frozenset()
    verdicts = _verdicts(fields, "verdict") if "verdict" in given else frozenset(Verdict) - never
    distance = (-inf, inf)
    if "distance" in given:
        distance = _distances(fields)
    return Window(
        *fields.span(),
        verdicts,
        Status[fields.one_of("status", Status.__members__)] if "status" in given else None,
        fields.whole("nearest_id"),
        fields.text("nearest_source") if "nearest_source" in given else "",
        distance,
        never=never,
    )


def _verdicts(fields: Fields, name: str) -> frozenset[Verdict]:
    """Return the verdicts in a field, which holds one name or a list of names."""
    named = fields.get(name)
    for each in named if isinstance(named, list) else [named]:
        fields.place.at(name).unless_one_of(each, Verdict.__members__)
    return frozenset(Verdict[each] for each in (named if isinstance(named, list) else [named]))


def _distances(fields: Fields) -> tuple[float, float]:
    given = fields.get("distance")
    if isinstance(given, list) and len(given) == 2:
        low, high = given
        are_numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in given)
        if are_numbers and low <= high:
            return float(low), float(high)
    raise fields.error("distance", "must be [low, high] in m with low <= high")


def _reaction(fields: Fields) -> Reaction:
    verdict = Verdict[fields.one_of("verdict", Verdict.__members__)]
    return Reaction(fields.number("at"), verdict, fields.number("within", low=0.0))


def _share(fields: Fields) -> Share:
    return Share(*fields.span(), fields.number("at_most", low=0.0))


# Key -> parser of one element, and the keys of an element.
_PARSERS: dict[str, tuple[Callable[[Fields], Window | Reaction | Share], tuple[str, ...]]] = {
    "windows": (_window, ("from", "to", *_CHECKS)),
    "reactions": (_reaction, ("at", "verdict", "within")),
    "false_stops": (_share, ("from", "to", "at_most")),
}
