# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenes that a page shows of a replay: a limited number of frames."""

from dataclasses import dataclass
from math import inf, isnan
from typing import Any

from ..replay.drive import Drive
from ..replay.golden import LABELS, Comparison
from ..replay.rows import Row
from ..verdict import WORST_FIRST
from .scene_view import Scenery, SceneView, exact, rounded, scenery

__all__ = ["Film"]

MAX_FRAMES = 400


@dataclass(slots=True)
class _Run:
    """Successive stamps that share one frame: that of the worst stamp."""

    first: int
    count: int
    begin: float  # time of the first stamp after the begin of the bag [s]
    number: int  # of the worst stamp, as all below
    t: float  # s
    row: Row
    change: Comparison | None  # since the golden result; None: there is none
    scenery: Scenery

    @property
    def kind(self) -> tuple[int, int]:
        """The verdict, and the change since the golden result."""
        return self.row.verdict, 0 if self.change is None else self.change.code

    @property
    def badness(self) -> tuple[int, int, float]:
        """Which frame is kept: the worst verdict, most severe change and smallest distance."""
        code = self.kind[1]
        far = inf if isnan(self.row.distance) else self.row.distance
        return -WORST_FIRST.index(self.row.verdict), -code if code else -len(LABELS) - 1, -far

    def join(self, later: "_Run") -> None:
        """Take over the stamps of the next run."""
        self.count += later.count
        if later.badness > self.badness:
            self.number, self.t = later.number, later.t
            self.row, self.change, self.scenery = later.row, later.change, later.scenery


class Film:
    """Frames for the scene view. Each stamp of the replay belongs to one frame.

    A frame stands for a run of stamps. A run ends where the verdict, or the kind of change since
    the golden result, is another one, and after `_stride` stamps. If there are 2 `MAX_FRAMES`
    runs, neighbours of one kind are joined, or, if the kind changes too often, up to `_mixed`
    stamps of several kinds. Only the frames that are left at the end are drawn.

    Parameters
    ----------
    drive : Drive
        The replay whose rows are passed to `add`.
    """

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._stride, self._mixed = 1, 1
        self._runs: list[_Run] = []
        self._count, self._end = 0, 0.0

    def add(self, t: float, row: Row, change: Comparison | None = None) -> None:
        """Add the answer `row` at the time `t` [s], and its comparison with the golden result."""
        number, self._count, self._end = self._count, self._count + 1, t
        data = scenery(self._drive)
        self._append(_Run(number, 1, t, number, t, row, change, data))
        while len(self._runs) >= 2 * MAX_FRAMES:
            self._thin()

    def to_dict(self) -> dict[str, Any]:
        """Return the frames in order of time, and what they refer to by index."""
        view = SceneView()
        frames = [_frame(view, run) for run in self._runs]
        return {"end": round(self._end, 6), **view.to_dict(), "frames": frames}

    def _append(self, run: _Run) -> None:
        last = self._runs[-1] if self._runs else None
        if last is not None:
            most = max(self._stride, self._mixed) if last.kind == run.kind else self._mixed
            if last.count + run.count <= most:
                last.join(run)
                return
        self._runs.append(run)

    def _thin(self) -> None:
        """Join neighbours of one kind; if this is not enough, neighbours of several kinds."""
        runs, self._runs = self._runs, []
        self._stride *= 2
        for run in runs:
            self._append(run)
        if len(self._runs) > 0.8 * len(runs):
            self._stride //= 2
            self._mixed *= 2


def _frame(view: SceneView, run: _Run) -> dict[str, Any]:
    row, change = run.row, run.change
    frame = {
        **{"first": run.first, "n": run.count, "begin": round(run.begin, 6)},
        **{"i": run.number, "t": round(run.t, 6), **_answer(view, row)},
        **{"m": row.message, "lb": rounded(row.lower_bound)},
        **view.at(row, run.scenery),
    }
    if change is not None:  # without a verdict, the golden result has no answer to this stamp
        frame["g"] = {"c": change.code, **(_answer(view, change.old) if change.old else {})}
    return frame


def _answer(view: SceneView, row: Row) -> dict[str, Any]:
    return {
        "v": int(row.verdict),
        "s": row.status.name,
        "d": rounded(row.distance),
        "id": exact(row.nearest_id),
        "src": row.nearest_source,
        **view.answer(row),
    }
