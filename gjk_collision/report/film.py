# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenes that a page shows of a replay: a limited number of frames."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..replay.drive import Drive
from ..replay.rows import Row
from ..server.frames import FrameError, Pose
from ..server.obstacles import REGION, Obstacles
from ..verdict import Verdict

__all__ = ["WORST_FIRST", "Film"]

MAX_FRAMES = 400
MAX_KNOWN = 50_000  # number of outlines from which unused ones are deleted

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
        self._drive = drive
        self._stride, self._mixed = 1, 1
        self._runs: list[_Run] = []
        self._count, self._end = 0, 0.0
        self._least = inf
        self._shapes: dict[tuple[bytes, float], int] = {}
        self._outlines: list[dict[str, Any]] = []
        self._origin: tuple[float, float] | None = None

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
        """Return the frames in order of time, and the outlines that they refer to by index."""
        self._delete_unused()
        return {
            "end": round(self._end, 6),
            "origin": self._origin or (0.0, 0.0),
            "outlines": self._outlines,
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
        if len(self._shapes) > MAX_KNOWN:
            self._delete_unused()
        placed = self._placed(row)
        return {
            "i": index,
            "t": round(t, 6),
            "v": int(row.verdict),
            "s": row.status.name,
            "m": row.message,
            "d": _or_none(row.distance),
            "lb": _or_none(row.lower_bound),
            "id": _exact(row.nearest_id),
            "src": row.nearest_source,
            "w": self._local([*row.witness_ego, *row.witness_obstacle]),
            "dir": [round(each, 6) for each in row.direction],
            "ego": self._pose(row.ego) if row.ego else None,
            "f": self._footprint(),
            "o": placed,
            "fa": _or_none(row.footprint_age),
            "oa": _or_none(row.obstacle_age),
            "bad": list(row.bad_sources),
            "snap": row.snapshot_id,
        }

    def _delete_unused(self) -> None:
        """Delete the outlines that no frame refers to any more."""
        frames = [run.frame for run in self._runs]
        used = sorted({each[0] for frame in frames for each in frame["o"]}
                      | {each for frame in frames for each in frame["f"]})  # fmt: skip
        number = {old: new for new, old in enumerate(used)}
        for frame in frames:
            frame["o"] = [[number[each[0]], *each[1:]] for each in frame["o"]]
            frame["f"] = [number[each] for each in frame["f"]]
        self._shapes = {key: number[i] for key, i in self._shapes.items() if i in number}
        self._outlines = [self._outlines[i] for i in used]

    # ---- geometry, relative to a nearby origin and rounded to millimetres

    def _pose(self, pose: tuple[float, ...]) -> list[float]:
        x0, y0 = self._anchor(pose[0], pose[1])
        return [round(pose[0] - x0, 3), round(pose[1] - y0, 3), round(pose[2], 5)]

    def _anchor(self, x: float, y: float) -> tuple[float, float]:
        if self._origin is None:
            self._origin = (round(x), round(y))
        return self._origin

    def _local(self, flat: list[float]) -> list[float]:
        if self._origin is None or not all(map(isfinite, flat)):
            return []
        return [round(value - self._origin[k % 2], 4) for k, value in enumerate(flat)]

    def _footprint(self) -> list[int]:
        shape = self._drive.snapshot.footprint
        if shape is None:
            return []
        parts = zip(shape.parts, shape.radii, strict=True)
        return [self._outline(part, radius) for part, radius in parts]

    def _outline(self, points: npt.NDArray[np.float64], radius: float) -> int:
        raw = (points.tobytes(), radius)
        if (known := self._shapes.get(raw)) is not None:
            return known
        rounded = np.round(points, 3) + 0.0
        key = (rounded.tobytes(), round(radius, 3))
        if key not in self._shapes:
            self._shapes[key] = len(self._outlines)
            self._outlines.append({"p": rounded.tolist(), "r": round(radius, 3)})
        self._shapes[raw] = self._shapes[key]  # the same obstacle is in many messages
        return self._shapes[key]

    def _placed(self, row: Row) -> list[list[Any]]:
        """Return [outline, x, y, yaw, id, is bad, sender] of each obstacle received last."""
        placed: list[list[Any]] = []
        config = self._drive.snapshot.config
        if row.ego:
            self._anchor(row.ego[0], row.ego[1])
        for (source, _), obstacles in self._drive.shown.items():
            try:
                obstacles.check(config.max_obstacles, config.max_points_per_obstacle)
                frame = self._drive.frame_of(source, obstacles)
            except (InputError, FrameError):
                continue  # the status of the row gives the reason
            used = config.source(source)
            listed = self._list(obstacles, frame, used.inflation, source in row.bad_sources)
            placed += [[*each, obstacles.source or used.topic] for each in listed]
        return placed

    def _list(
        self, obstacles: Obstacles, frame: Pose, inflation: float, is_bad: bool
    ) -> list[list[Any]]:
        n = len(obstacles)
        points = obstacles.xy.reshape(-1, 2)
        if not np.isfinite(points).all():
            return []  # the source is bad; the status of the row gives the reason
        ends = obstacles.offsets.astype(np.int64).tolist()
        radii = obstacles.radius.tolist() or [0.0] * n
        ids = [*map(_exact, obstacles.ids.tolist())]
        rows = frame.compose(obstacles.poses.reshape(-1, 3)) if len(obstacles.poses) else None
        placed = []
        for i in range(n):
            own = points[ends[i] : ends[i + 1]]
            if not len(own):
                continue
            if rows is None:
                # Store the points relative to the first one. An obstacle that is only translated
                # then keeps the same outline.
                own = frame.transform(own)
                x, y = own[0].tolist()
                yaw = 0.0
                own = own - own[0]
            else:
                x, y, yaw = rows[i].tolist()
            if not all(map(isfinite, (x, y, yaw))):
                continue
            x0, y0 = self._anchor(x, y)
            # Of a region only the boundary is drawn.
            is_region = obstacles.has_region and obstacles.kinds[i] >= REGION
            pieces = zip(own, np.roll(own, -1, axis=0), strict=True) if is_region else [own]
            for piece in pieces:
                number = self._outline(np.asarray(piece), radii[i] + inflation)
                at = round(x - x0, 3), round(y - y0, 3), round(yaw, 5)
                placed.append([number, *at, ids[i], int(is_bad)])
        return placed


def _exact(number: int) -> int | str:
    """Return an id as the page needs it: JavaScript rounds whole numbers above 2^53."""
    return number if abs(number) <= 2**53 else str(number)


def _or_none(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None
