# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenes that a page shows of a replay: a limited number of frames."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from ..replay.drive import Drive
from ..replay.rows import Row
from ..verdict import Verdict
from .drawing import Drawing, exact

__all__ = ["WORST_FIRST", "Film"]

MAX_FRAMES = 400

WORST_FIRST = (Verdict.COLLISION, Verdict.UNKNOWN, Verdict.MARGIN, Verdict.FREE)
_BADNESS = {verdict: -i for i, verdict in enumerate(WORST_FIRST)}


@dataclass(slots=True)
class _Run:
    """Successive stamps that share one frame.

    Attributes
    ----------
    first : int
        Number of the first stamp.
    begin : float
        Time of the first stamp after the begin of the bag [s].
    count : int
        Number of stamps.
    frame : dict
        The frame of the stamp with the worst verdict.
    """

    first: int
    begin: float
    count: int
    frame: dict[str, Any]

    @property
    def badness(self) -> tuple[int, float]:
        """The run whose frame is kept has the worse verdict, else the smaller distance."""
        distance = self.frame["d"]
        return _BADNESS[self.frame["v"]], -inf if distance is None else -distance


def _joined(runs: Iterable[_Run], most: int, *, mixed: bool) -> list[_Run]:
    """Return runs of at most `most` stamps, of one verdict unless `mixed`."""
    joined: list[_Run] = []
    for run in runs:
        last = joined[-1] if joined else None
        fits = last is not None and last.count + run.count <= most
        if last is None or not fits or not (mixed or last.frame["v"] == run.frame["v"]):
            joined.append(run)
        else:
            worse = max(last, run, key=lambda each: each.badness)
            joined[-1] = _Run(last.first, last.begin, last.count + run.count, worse.frame)
    return joined


class Film:
    """Frames for the scene view. Each stamp of the replay belongs to one frame.

    A frame stands for a run of stamps. A run ends at a change of verdict, and after `_stride`
    stamps. If there are 2 `MAX_FRAMES` runs, neighbours are joined: runs of one verdict, or, if
    the verdict changes too often, up to `_mixed` stamps of several verdicts. Such a run shows its
    worst verdict.

    Parameters
    ----------
    drive : Drive
        The replay whose rows are passed to `add`.
    """

    def __init__(self, drive: Drive) -> None:
        self._drawing = Drawing(drive)
        self._stride, self._mixed = 1, 1
        self._runs: list[_Run] = []
        self._count, self._end = 0, 0.0
        self._least = inf

    def add(self, t: float, row: Row) -> None:
        """Add the answer `row` at the time `t` [s] after the begin of the bag."""
        index, self._count, self._end = self._count, self._count + 1, t
        nearer = row.distance < self._least
        if nearer:
            self._least = row.distance
        run = self._runs[-1] if self._runs else None
        same = run is not None and run.frame["v"] == row.verdict
        if run is None or run.count >= (max(self._stride, self._mixed) if same else self._mixed):
            self._runs.append(_Run(index, t, 1, self._frame(index, t, row)))
        else:
            run.count += 1
            if (same and nearer) or _BADNESS[row.verdict] > _BADNESS[run.frame["v"]]:
                run.frame = self._frame(index, t, row)
        if len(self._runs) >= 2 * MAX_FRAMES:
            self._thin()

    def to_dict(self) -> dict[str, Any]:
        """Return the frames in order of time, and what they refer to by index."""
        self._drawing.delete_unused(run.frame for run in self._runs)
        return {
            "end": round(self._end, 6),
            **self._drawing.to_dict(),
            "frames": [
                {**run.frame, "first": run.first, "begin": round(run.begin, 6), "n": run.count}
                for run in self._runs
            ],
        }

    def _thin(self) -> None:
        while len(self._runs) > 1.5 * MAX_FRAMES:
            runs = _joined(self._runs, 2 * self._stride, mixed=False)
            if len(runs) < 0.8 * len(self._runs):
                self._stride *= 2
            else:
                self._mixed *= 2
                runs = _joined(self._runs, self._mixed, mixed=True)
            self._runs = runs

    def _frame(self, index: int, t: float, row: Row) -> dict[str, Any]:
        if self._drawing.is_full:
            self._drawing.delete_unused(run.frame for run in self._runs)
        return {
            "i": index,
            "t": round(t, 6),
            "v": int(row.verdict),
            "s": row.status.name,
            "m": row.message,
            "d": _or_none(row.distance),
            "lb": _or_none(row.lower_bound),
            "id": exact(row.nearest_id),
            "src": row.nearest_source,
            "dir": [round(each, 6) for each in row.direction],
            **self._drawing.at(row),
            "fa": _or_none(row.footprint_age),
            "oa": _or_none(row.obstacle_age),
            "bad": list(row.bad_sources),
            "snap": row.snapshot_id,
        }


def _or_none(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None
