# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answers of all stamps for the timeline of a page: compact, and bounded in size."""

from array import array
from collections.abc import Iterable, Sequence
from math import isfinite, isnan, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ..replay.golden import LABELS, Comparison
from ..replay.rows import Row
from ..server.data.snapshot import Report
from ..verdict import WORST_FIRST, Status, Verdict

__all__ = ["MAX_BINS", "Timeline"]

# 40 000 stamps, which are 33 minutes at 20 Hz, have a bin each.
MAX_BINS = 20_000

# Decimal places in the page: us and um, and 0.1 ms for ages.
FINE, COARSE = 6, 4

# How bad each verdict is, by its value.
_BADNESS = np.array([-WORST_FIRST.index(verdict) for verdict in sorted(Verdict)])

Floats = npt.NDArray[np.float64]


class Timeline:
    """The answer, the ages and the comparison with the golden result of each bin of stamps.

    A bin has one stamp. Pairs of neighbours are merged until there are less than 2 `MAX_BINS`
    bins. A bin of several stamps has the time of the first one, the worst verdict with its status,
    the smallest distance, the greatest age of each source, and the most severe change.

    Parameters
    ----------
    sources : sequence of str
        Names of the sources, as in `Report.source`.
    """

    def __init__(self, sources: Sequence[str] = ()) -> None:
        self._sources = tuple(sources)
        # For each stamp: time, verdict, status, distance; change, and verdict, status, distance of
        # the golden result; and for each source its age and its status.
        self._values = array("d")
        self._other: list[list[Any]] = []
        self._requests: list[list[float]] = []
        self._is_compared = False

    def add(
        self, t: float, row: Row, reports: Iterable[Report] = (), change: Comparison | None = None
    ) -> None:
        """Add the answer `row` at the time `t` [s], and its comparison with the golden result.

        `reports`: the state of each sender at this time. A source has the greatest age and the
        first fault of its senders.
        """
        one = [t, float(row.verdict), float(row.status), row.distance, 0.0, -1.0, 0.0, nan]
        if change is not None:
            self._is_compared = True
            one[4] = float(change.code)
            if change.old is not None:
                old = change.old
                one[5:8] = float(old.verdict), float(old.status), old.distance
        ages, faults = dict.fromkeys(self._sources, nan), dict.fromkeys(self._sources, 0)
        for each in reports:
            if each.source in ages:
                if each.age > ages[each.source] or isnan(ages[each.source]):
                    ages[each.source] = each.age
                own = Status.SUCCESS if each.fault is None else each.fault.status
                if faults[each.source] in (0, Status.SUCCESS):
                    faults[each.source] = int(own)
        for name in self._sources:
            one += [ages[name], float(faults[name])]
        self._values.extend(one)

    def add_request(self, t: float, row: Row) -> None:
        """Add the new answer to a recorded request, at the time `t` [s]."""
        if len(self._requests) < MAX_BINS:
            self._requests.append([round(t, 6), int(row.verdict)])

    def mark(self, t: float, label: str) -> None:
        """Add a change at a time without a stamp: a missing stamp, or a recorded request."""
        if len(self._other) < MAX_BINS:
            self._other.append([round(t, 6), LABELS.index(label) + 1])

    def to_dict(self) -> dict[str, Any]:
        """Return the columns. A value that is not finite is None."""
        rows = np.array(self._values).reshape(-1, 8 + 2 * len(self._sources))
        stamps, size = len(rows), 1
        while len(rows) >= 2 * MAX_BINS:
            odd = rows[len(rows) & ~1 :]
            rows = np.vstack([_merged(rows[: len(rows) & ~1]), odd])
            size *= 2
        columns = rows.T
        t, verdict, status, distance, change, old_verdict, old_status, old_distance = columns[:8]
        golden = {
            "labels": LABELS,
            "change": change.astype(int).tolist(),
            "verdict": old_verdict.astype(int).tolist(),
            "status": old_status.astype(int).tolist(),
            "distance": _rounded(old_distance, FINE),
            "other": self._other,
        }
        return {
            "worst_first": WORST_FIRST,
            "statuses": {each.value: each.name for each in Status},
            "stamps": stamps,
            "size": size,
            "t": _rounded(t, FINE),
            "verdict": verdict.astype(int).tolist(),
            "status": status.astype(int).tolist(),
            "distance": _rounded(distance, FINE),
            "sources": [
                {
                    "name": name,
                    "age": _rounded(columns[8 + 2 * i], COARSE),
                    "status": columns[9 + 2 * i].astype(int).tolist(),
                }
                for i, name in enumerate(self._sources)
            ],
            "requests": self._requests,
            "golden": golden if self._is_compared else None,
        }


def _merged(rows: Floats) -> Floats:
    """Merge each pair of successive rows."""
    a, b = rows[::2], rows[1::2]
    merged = a.copy()
    worse = _BADNESS[b[:, 1].astype(int)] > _BADNESS[a[:, 1].astype(int)]
    merged[worse, 1:3] = b[worse, 1:3]
    merged[:, 3] = np.fmin(a[:, 3], b[:, 3])
    # The code of a more severe change is smaller; 0 is no change.
    rank_a, rank_b = (np.where(each[:, 4] == 0.0, np.inf, each[:, 4]) for each in (a, b))
    merged[rank_b < rank_a, 4:8] = b[rank_b < rank_a, 4:8]
    merged[:, 8::2] = np.fmax(a[:, 8::2], b[:, 8::2])
    excused = np.isin(a[:, 9::2], (0.0, float(Status.SUCCESS)))
    merged[:, 9::2] = np.where(excused, b[:, 9::2], a[:, 9::2])
    return merged


def _rounded(values: Floats, digits: int) -> list[float | None]:
    """Return each value with a number of decimal places; not finite: None."""
    return [each if isfinite(each) else None for each in values.round(digits).tolist()]
