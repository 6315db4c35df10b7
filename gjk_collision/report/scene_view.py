# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the scene view of a page draws at one stamp: vehicle, obstacles, velocities and paths.

Coordinates are in the check frame, relative to an origin near the first pose, and rounded to
millimetres.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import hypot, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from ..replay.drive import Drive
from ..replay.rows import Row
from ..server.frames import Pose
from ..server.obstacles import REGION, Obstacles

__all__ = ["SceneView", "exact"]

Floats = npt.NDArray[np.float64]

MAX_KNOWN = 50_000  # number of outlines from which unused ones are deleted
MAX_PATHS = 16  # number of obstacles whose predicted path is drawn
MAX_POINTS = 16  # number of points of a drawn path


@dataclass(frozen=True, slots=True)
class _Sent:
    """The list of one sender, its frame in the check frame, its age and the predicted time."""

    obstacles: Obstacles
    frame: Pose
    number: int  # in `SceneView.to_dict`
    age: float | None  # s; None: the list is static, so its stamp has no meaning
    until: float  # s after the stamp of the list


class SceneView:
    """The shapes that the frames of a page refer to by index, and the places of these shapes.

    The obstacles are those of the snapshot that the answer was computed from. Messages that are
    not used are not drawn: they are too old or invalid, or their transform is not known yet.

    Parameters
    ----------
    drive : Drive
        The replay whose present stamp is drawn.
    """

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._shapes: dict[tuple[bytes, float], int] = {}
        self._outlines: list[dict[str, Any]] = []
        self._sources: dict[tuple[str, str, str, float], int] = {}
        self._origin: tuple[float, float] | None = None

    @property
    def is_full(self) -> bool:
        """Whether the outlines that are no longer used should be deleted."""
        return len(self._shapes) > MAX_KNOWN

    def at(self, row: Row) -> dict[str, Any]:
        """Return the geometry of the present stamp, for the answer `row`.

        Returns
        -------
        dict
            ``ego``: x y yaw of the vehicle. ``f``, ``bare``: outlines of the footprint, with and
            without the directional margins. ``o``: for each obstacle: outline, x, y, yaw, id,
            number of the source, vx, vy, own margin; the last three may be missing. ``a``: for
            each source with obstacles that is not static, the age of its list [s]. ``u``: for
            each of them, the end of its predictions [s after the stamp of its list].
            ``p``: predicted paths, index in ``o`` and x y of each point. ``path``: the path of the
            last request. ``w``: witness points.
        """
        if row.ego:
            self._anchor(row.ego[0], row.ego[1])
        sent = list(self._sent())
        placed: list[list[Any]] = []
        paths: list[tuple[float, int, _Sent, int]] = []
        for each in sent:
            for i, item in self._placed(each):
                if each.until > 0.0 and _path_length(each.obstacles, i):
                    x, y = row.ego[:2] if row.ego else self._origin or (0.0, 0.0)
                    x0, y0 = self._origin or (0.0, 0.0)
                    far = hypot(item[1] + x0 - x, item[2] + y0 - y)
                    paths.append((far, len(placed), each, i))
                placed.append(item)
        paths = sorted(paths, key=lambda path: path[:2])[:MAX_PATHS]
        return {
            **self.answer(row),
            "f": self._footprint(),
            "bare": self._bare(),
            "o": placed,
            "a": {each.number: round(each.age, 4) for each in sent if each.age is not None},
            "u": {each.number: round(each.until, 3) for each in sent if each.until > 0.0},
            "p": [[k, *self._predicted(each, i)] for _, k, each, i in paths],
            "path": self._asked(row.time),
        }

    def answer(self, row: Row) -> dict[str, Any]:
        """Return ``w`` and ``ego`` of an answer, as in `at`."""
        return {
            "w": self._local([*row.witness_ego, *row.witness_obstacle]),
            "ego": self._pose(row.ego) if row.ego else None,
        }

    def delete_unused(self, frames: Iterable[dict[str, Any]]) -> None:
        """Delete the outlines that no frame refers to, and number the others again."""
        frames = list(frames)
        vehicles = {each for frame in frames for each in (*frame["f"], *frame["bare"])}
        used = sorted(vehicles | {each[0] for frame in frames for each in frame["o"]})
        number = {old: new for new, old in enumerate(used)}
        for frame in frames:
            frame["o"] = [[number[each[0]], *each[1:]] for each in frame["o"]]
            for name in ("f", "bare"):
                frame[name] = [number[each] for each in frame[name]]
        self._shapes = {key: number[i] for key, i in self._shapes.items() if i in number}
        self._outlines = [self._outlines[i] for i in used]

    def to_dict(self) -> dict[str, Any]:
        """Return the origin [m], the outlines, and the sources that obstacles refer to."""
        names = ("source", "sender", "frame", "inflation")
        return {
            "origin": self._origin or (0.0, 0.0),
            "outlines": self._outlines,
            "sources": [dict(zip(names, key, strict=True)) for key in self._sources],
        }

    def _sent(self) -> Iterable[_Sent]:
        """Yield the list of each sender in the snapshot."""
        snapshot = self._drive.snapshot
        for part, (_, sender), limits in zip(
            snapshot.parts, snapshot.spans, snapshot.expiries, strict=True
        ):
            obstacles = part.obstacles if part.received is None else part.received
            key = (limits.source, sender, obstacles.frame, part.inflation)
            number = self._sources.setdefault(key, len(self._sources))
            if part.is_static:
                yield _Sent(obstacles, part.pose, number, None, 0.0)
                continue
            age = (snapshot.stamp - obstacles.stamp) * 1e-9
            ahead = (snapshot.oldest_data_stamp - obstacles.stamp) * 1e-9
            until = snapshot.config.prediction_horizon + ahead
            yield _Sent(obstacles, part.pose, number, age, until)

    # ---- obstacles

    def _placed(self, sent: _Sent) -> Iterable[tuple[int, list[Any]]]:
        """Yield the index in the list, and the item of ``o``, of each obstacle."""
        obstacles, frame = sent.obstacles, sent.frame
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
                yield i, [number, *at, ids[i], sent.number, *more]

    def _predicted(self, sent: _Sent, i: int) -> list[float]:
        """Return x y of the predicted path of an obstacle's middle, up to the horizon."""
        data, policy = sent.obstacles, self._drive.snapshot.config.prediction_policy
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

    # ---- vehicle

    def _footprint(self) -> list[int]:
        shape = self._drive.snapshot.footprint
        if shape is None:
            return []
        parts = zip(shape.parts, shape.radii, strict=True)
        return [self._outline(part, radius) for part, radius in parts]

    def _bare(self) -> list[int]:
        """Return the outline without the directional margins, if there are such margins."""
        snapshot = self._drive.snapshot
        config = snapshot.config
        sides = config.margin_front, config.margin_rear, config.margin_left, config.margin_right
        if not any(sides) or snapshot.outline is None or len(snapshot.outline) == 1:
            return []
        return [self._outline(snapshot.outline, 0.0)]

    def _asked(self, time: int) -> dict[str, Any] | None:
        """Return the path of the last request, while its answer is not older than the horizon."""
        path = self._drive.asked_path
        if path is None:
            return None
        age = (time - path.time) * 1e-9
        if age > self._drive.snapshot.config.prediction_horizon:
            return None
        rows = path.poses
        if len(rows) > MAX_POINTS:
            rows = rows[np.linspace(0, len(rows) - 1, MAX_POINTS).round().astype(int)]
        end = self._pose(tuple(path.poses[-1].tolist()))
        xy = self._points(rows[:, :2])
        return {"xy": xy, "end": end, "v": int(path.verdict), "age": round(age, 3)}

    # ---- numbers of the page

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
