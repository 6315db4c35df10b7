# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the scene view of a page draws at one stamp: vehicle, obstacles, velocities and paths.

Coordinates are in the check frame, relative to an origin near the first pose, and rounded to
millimetres.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import hypot, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry import Shape
from ..replay.drive import Drive
from ..replay.requests import AskedPath
from ..replay.rows import Row
from ..server.frames import FrameError, Pose
from ..server.obstacles import REGION, Obstacles
from ..server.snapshot import Report

__all__ = ["SceneView", "Scenery", "exact", "rounded", "scenery"]

Floats = npt.NDArray[np.float64]

MAX_PATHS = 16  # number of obstacles whose predicted path is drawn
MAX_POINTS = 16  # number of points of a drawn path


@dataclass(frozen=True, slots=True)
class _Sent:
    """The list of one sender: its obstacles and their frame in the check frame.

    Attributes
    ----------
    source : (str, str, str, float)
        Source, sender, frame, and inflation [m].
    obstacles : Obstacles
        The obstacles.
    frame : Pose
        Pose of their frame in the check frame.
    age : float or None
        Age of the list [s]; None: the list is static, so its stamp has no meaning.
    until : float
        End of the predictions [s after the stamp of the list]; 0: nothing is predicted.
    """

    source: tuple[str, str, str, float]
    obstacles: Obstacles
    frame: Pose
    age: float | None
    until: float


@dataclass(frozen=True, slots=True)
class Scenery:
    """The data of one stamp, which never changes.

    Attributes
    ----------
    sent : tuple of _Sent
        The lists of the snapshot that the answer was computed from. Messages that are too old or
        invalid are not among them.
    waiting : tuple of _Sent
        Newer lists that wait for their transform, at the last known pose of their frame.
    footprint : Shape or None
        The vehicle with the directional margins.
    outline : (n, 2) float64 or None
        The vehicle without these margins; None: there are none, or it is not known.
    path : AskedPath or None
        The path of the last request, unless its answer is older than the horizon.
    policy : str
        The parameter ``prediction_policy``.
    """

    sent: tuple[_Sent, ...]
    waiting: tuple[_Sent, ...]
    footprint: Shape | None
    outline: Floats | None
    path: AskedPath | None
    policy: str


def scenery(drive: Drive, row: Row, reports: Iterable[Report]) -> Scenery:
    """Return the data of the present stamp of a replay: of its answer, and of each sender."""
    snapshot, config = drive.snapshot, drive.snapshot.config
    sent = []
    for part, (_, sender), limits in zip(
        snapshot.parts, snapshot.spans, snapshot.expiries, strict=True
    ):
        obstacles = part.obstacles if part.received is None else part.received
        source = (limits.source, sender, obstacles.frame, part.inflation)
        age, until = None, 0.0
        if not part.is_static:
            age = (snapshot.stamp - obstacles.stamp) * 1e-9
            ahead = (snapshot.oldest_data_stamp - obstacles.stamp) * 1e-9
            until = max(0.0, config.prediction_horizon + ahead)
        sent.append(_Sent(source, obstacles, part.pose, age, until))
    sides = config.margin_front, config.margin_rear, config.margin_left, config.margin_right
    is_round = snapshot.outline is None or len(snapshot.outline) == 1
    path = drive.asked_path
    if path is not None and (row.time - path.time) * 1e-9 > config.prediction_horizon:
        path = None
    return Scenery(
        tuple(sent),
        tuple(_waiting(drive, reports)),
        snapshot.footprint,
        snapshot.outline if any(sides) and not is_round else None,
        path,
        config.prediction_policy,
    )


def _waiting(drive: Drive, reports: Iterable[Report]) -> Iterator[_Sent]:
    config = drive.snapshot.config
    for each in reports:
        if isinstance(each.waiting, Obstacles):
            inflation = config.source(each.source).inflation
            source = each.source, each.sender, each.waiting.frame, inflation
            try:
                pose, _ = drive.transforms.latest(config.check_frame, each.waiting.frame)
            except FrameError:  # no pose is known
                continue
            age = (drive.snapshot.stamp - each.waiting.stamp) * 1e-9
            yield _Sent(source, each.waiting, pose, age, 0.0)


class SceneView:
    """The shapes that the frames of a page refer to by index, and the places of these shapes."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[bytes, float], int] = {}
        self._outlines: list[dict[str, Any]] = []
        self._sources: dict[tuple[str, str, str, float], int] = {}
        self._origin: tuple[float, float] | None = None

    def at(self, row: Row, data: Scenery) -> dict[str, Any]:
        """Return the geometry of a stamp, for the answer `row`.

        Returns
        -------
        dict
            ``f``, ``bare``: outlines of the footprint, with and without the directional margins.
            ``o``: for each obstacle: outline, x, y, yaw, id, number of the source, vx, vy, own
            margin; the last three may be missing. ``wait``: the same for the messages that wait
            for their transform. ``a``, ``wa``: for each source with obstacles in ``o`` or in
            ``wait`` that is not static, the age of its list [s]. ``u``: for each of them, the end
            of its predictions [s after the stamp of its list]. ``p``: predicted paths, index in
            ``o`` and x y of each point. ``path``: the path of the last request.
        """
        if row.ego:
            self._anchor(row.ego[0], row.ego[1])
        placed: list[list[Any]] = []
        paths: list[tuple[float, int, _Sent, int]] = []
        for each in data.sent:
            for i, item in self._placed(each):
                if each.until > 0.0 and _path_length(each.obstacles, i):
                    x0, y0 = self._origin or (0.0, 0.0)
                    x, y = row.ego[:2] if row.ego else (x0, y0)
                    paths.append((hypot(item[1] + x0 - x, item[2] + y0 - y), len(placed), each, i))
                placed.append(item)
        paths = sorted(paths, key=lambda path: path[:2])[:MAX_PATHS]
        shape = data.footprint
        parts = [] if shape is None else zip(shape.parts, shape.radii, strict=True)
        return {
            "f": [self._outline(part, radius) for part, radius in parts],
            "bare": [] if data.outline is None else [self._outline(data.outline, 0.0)],
            "o": placed,
            "wait": [item for each in data.waiting for _, item in self._placed(each)],
            "a": self._by_source(data.sent, "age"),
            "wa": self._by_source(data.waiting, "age"),
            "u": self._by_source(data.sent, "until"),
            "p": [[k, *self._predicted(each, i, data.policy)] for _, k, each, i in paths],
            "path": None if data.path is None else self._asked(data.path, row.time),
        }

    def answer(self, row: Row) -> dict[str, Any]:
        """Return ``w``, the closest points, and ``ego``, x y yaw of the vehicle, of an answer."""
        ego = self._pose(row.ego) if row.ego else None
        flat, origin = [*row.witness_ego, *row.witness_obstacle], self._origin
        if origin is None or not all(map(isfinite, flat)):
            flat = []
        local = [round(value - (origin or flat)[k % 2], 4) for k, value in enumerate(flat)]
        return {"w": local, "ego": ego}

    def to_dict(self) -> dict[str, Any]:
        """Return the origin [m], the outlines, and the sources that obstacles refer to."""
        names = ("source", "sender", "frame", "inflation")
        return {
            "origin": self._origin or (0.0, 0.0),
            "outlines": self._outlines,
            "sources": [dict(zip(names, key, strict=True)) for key in self._sources],
        }

    def _source(self, sent: _Sent) -> int:
        return self._sources.setdefault(sent.source, len(self._sources))

    def _by_source(self, lists: tuple[_Sent, ...], name: str) -> dict[int, float]:
        values = ((self._source(each), getattr(each, name)) for each in lists)
        return {number: round(value, 4) for number, value in values if value is not None}

    # ---- obstacles

    def _placed(self, sent: _Sent) -> Iterator[tuple[int, list[Any]]]:
        """Yield the index in the list, and the item of ``o``, of each obstacle."""
        obstacles, frame, source = sent.obstacles, sent.frame, self._source(sent)
        n = len(obstacles)
        points = obstacles.xy.reshape(-1, 2)
        ends = obstacles.offsets.astype(np.int64).tolist()
        radii = obstacles.radius.tolist() or [0.0] * n
        margins = obstacles.margins.tolist() or [0.0] * n
        ids = [*map(exact, obstacles.ids.tolist())]
        rows = frame.compose(obstacles.poses.reshape(-1, 3)) if len(obstacles.poses) else None
        has_speed = len(obstacles.velocities)
        speeds = frame.turn(obstacles.velocities.reshape(-1, 3)).tolist() if has_speed else None
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
            x0, y0 = self._anchor(x, y)
            more = _speed_and_margin(speeds[i] if speeds else None, margins[i])
            # Of a region only the boundary is drawn.
            is_region = obstacles.has_region and obstacles.kinds[i] >= REGION
            pieces = zip(own, np.roll(own, -1, axis=0), strict=True) if is_region else [own]
            for piece in pieces:
                number = self._outline(np.asarray(piece), radii[i])
                at = round(x - x0, 3), round(y - y0, 3), round(yaw, 5)
                yield i, [number, *at, ids[i], source, *more]

    def _predicted(self, sent: _Sent, i: int, policy: str) -> list[float]:
        """Return x y of the predicted path of an obstacle's middle, up to the horizon."""
        data = sent.obstacles
        first, last = data.path_offsets[i : i + 2].tolist()
        begin, end = data.offsets[i : i + 2].tolist()
        middle = data.xy.reshape(-1, 2)[begin:end].mean(axis=0)
        own = data.poses.reshape(-1, 3)[i : i + 1] if len(data.poses) else np.zeros((1, 3))
        poses = np.concatenate([own, data.path_poses.reshape(-1, 3)[first:last]])
        times = np.concatenate([[0.0], data.path_times[first:last]])
        way = np.array([Pose(*pose).transform(middle[None])[0] for pose in poses.tolist()])
        stretch = float(times[-1] - times[-2])
        if sent.until > times[-1] and policy == "constant_velocity" and stretch > 0.0:
            share = (sent.until - float(times[-1])) / stretch
            way = np.vstack([way, way[-1] + share * (way[-1] - way[-2])])
            times = np.append(times, sent.until)
        stop = min(sent.until, float(times[-1]))
        kept = np.append(times[times < stop], stop)
        if len(kept) > MAX_POINTS:
            kept = np.linspace(0.0, stop, MAX_POINTS)
        drawn = np.column_stack([np.interp(kept, times, column) for column in way.T])
        return self._points(sent.frame.transform(drawn))

    def _asked(self, path: AskedPath, time: int) -> dict[str, Any]:
        """Return the path of a request, at a log time [ns]."""
        rows = path.poses
        if len(rows) > MAX_POINTS:
            rows = rows[np.linspace(0, len(rows) - 1, MAX_POINTS).round().astype(int)]
        return {
            "xy": self._points(rows[:, :2]),
            "end": self._pose(tuple(path.poses[-1].tolist())),
            "v": int(path.verdict),
            "age": round((time - path.time) * 1e-9, 3),
        }

    # ---- numbers of the page

    def _pose(self, pose: tuple[float, ...]) -> list[float]:
        x0, y0 = self._anchor(pose[0], pose[1])
        return [round(pose[0] - x0, 3), round(pose[1] - y0, 3), round(pose[2], 5)]

    def _anchor(self, x: float, y: float) -> tuple[float, float]:
        if self._origin is None:
            self._origin = (round(x), round(y))
        return self._origin

    def _points(self, points: Floats) -> list[float]:
        flat: list[float] = np.round(points - (self._origin or (0.0, 0.0)), 2).ravel().tolist()
        return flat

    def _outline(self, points: Floats, radius: float) -> int:
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


def exact(number: int) -> int | str:
    """Return an id as the page needs it: JavaScript rounds whole numbers above 2^53."""
    return number if abs(number) <= 2**53 else str(number)


def _path_length(obstacles: Obstacles, i: int) -> int:
    if not len(obstacles.path_offsets):
        return 0
    return int(obstacles.path_offsets[i + 1]) - int(obstacles.path_offsets[i])


def _speed_and_margin(speed: list[float] | None, margin: float) -> list[float | None]:
    """Return vx, vy and the margin, without missing values at the end."""
    known = speed is not None and isfinite(speed[0]) and isfinite(speed[1])
    found: list[float | None] = [round(v, 2) + 0.0 for v in speed[:2]] if speed and known else []
    if margin > 0.0:
        found = [*(found or [None, None]), round(margin, 3)]
    return found


def rounded(value: float) -> float | None:
    """Return a number of the page with 6 decimal places; not finite: None."""
    return round(value, 6) if isfinite(value) else None
