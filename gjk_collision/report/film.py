# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenes that a page shows of a replay: a limited number of frames."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from ..replay.drive import Drive
from ..replay.golden import LABELS, Comparison
from ..replay.rows import Row
from ..verdict import WORST_FIRST, Verdict
from .scene_view import SceneView, exact

__all__ = ["Film"]

MAX_FRAMES = 400

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

    def is_milder(self, verdict: Verdict, change: int) -> bool:
        """Whether its frame has a better verdict than this one, or a less severe change."""
        own = _BADNESS[self.frame["v"]], _severity(_change(self.frame))
        return own < (_BADNESS[verdict], _severity(change))

    @property
    def kind(self) -> tuple[int, int]:
        """The verdict, and the change since the golden result."""
        return self.frame["v"], _change(self.frame)

    @property
    def badness(self) -> tuple[int, int, float]:
        """Which frame is kept: the worst verdict, most severe change and smallest distance."""
        distance = self.frame["d"]
        nearness = -inf if distance is None else -distance
        return _BADNESS[self.frame["v"]], _severity(_change(self.frame)), nearness


def _joined(runs: Iterable[_Run], most: int, *, mixed: bool) -> list[_Run]:
    """Return runs of at most `most` stamps, of one verdict and change unless `mixed`."""
    joined: list[_Run] = []
    for run in runs:
        last = joined[-1] if joined else None
        fits = last is not None and last.count + run.count <= most
        if last is None or not fits or not (mixed or last.kind == run.kind):
            joined.append(run)
        else:
            worse = max(last, run, key=lambda each: each.badness)
            joined[-1] = _Run(last.first, last.begin, last.count + run.count, worse.frame)
    return joined


class Film:
    """Frames for the scene view. Each stamp of the replay belongs to one frame.

    A frame stands for a run of stamps. A run ends where the verdict, or the kind of change since
    the golden result, is another one, and after `_stride` stamps. If there are 2 `MAX_FRAMES`
    runs, neighbours of one kind are joined, or, if the kind changes too often, up to `_mixed`
    stamps of several kinds. Such a run shows its worst verdict.

    Parameters
    ----------
    drive : Drive
        The replay whose rows are passed to `add`.
    """

    def __init__(self, drive: Drive) -> None:
        self._view = SceneView(drive)
        self._stride, self._mixed = 1, 1
        self._runs: list[_Run] = []
        self._count, self._end = 0, 0.0
        self._least = inf

    def add(self, t: float, row: Row, change: Comparison | None = None) -> None:
        """Add the answer `row` at the time `t` [s] after the begin of the bag.

        Parameters
        ----------
        change : Comparison
            The comparison with the golden result; None: there is none.
        """
        index, self._count, self._end = self._count, self._count + 1, t
        nearer = row.distance < self._least
        if nearer:
            self._least = row.distance
        run = self._runs[-1] if self._runs else None
        code = 0 if change is None else change.code
        same = run is not None and run.kind == (row.verdict, code)
        if run is None or run.count >= (max(self._stride, self._mixed) if same else self._mixed):
            self._runs.append(_Run(index, t, 1, self._frame(index, t, row, change)))
        else:
            run.count += 1
            if (same and nearer) or run.is_milder(row.verdict, code):
                run.frame = self._frame(index, t, row, change)
        if len(self._runs) >= 2 * MAX_FRAMES:
            self._thin()

    def to_dict(self) -> dict[str, Any]:
        """Return the frames in order of time, and what they refer to by index."""
        self._view.delete_unused(run.frame for run in self._runs)
        return {
            "end": round(self._end, 6),
            **self._view.to_dict(),
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

    def _frame(self, index: int, t: float, row: Row, change: Comparison | None) -> dict[str, Any]:
        if self._view.is_full:
            self._view.delete_unused(run.frame for run in self._runs)
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
            **self._view.at(row),
            "fa": _or_none(row.footprint_age),
            "oa": _or_none(row.obstacle_age),
            "bad": list(row.bad_sources),
            **({} if change is None else {"g": self._golden(change)}),
        }

    def _golden(self, change: Comparison) -> dict[str, Any]:
        """Return the golden answer; without the verdict if there is none for this stamp."""
        found: dict[str, Any] = {"c": change.code}
        if (old := change.old) is not None:
            found |= {
                "v": int(old.verdict),
                "s": old.status.name,
                "d": _or_none(old.distance),
                "id": exact(old.nearest_id),
                "src": old.nearest_source,
                **self._view.answer(old),
            }
        return found


def _change(frame: dict[str, Any]) -> int:
    golden = frame.get("g")
    return golden["c"] if golden else 0


def _severity(code: int) -> int:
    return -code if code else -len(LABELS) - 1


def _or_none(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None
