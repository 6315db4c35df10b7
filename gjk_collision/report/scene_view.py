# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the scene view of a page draws at one stamp: vehicle, obstacles, and velocities.

Coordinates are in the check frame, relative to an origin near the first pose, and rounded to
millimetres.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry import Shape
from ..region import OUTSIDE, Region
from ..replay.drive import Drive
from ..replay.rows import Row
from ..server.data.obstacles import Obstacles
from ..server.frames.poses import Pose

__all__ = ["SceneView", "Scenery", "exact", "rounded", "scenery"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Sent:
    """The list of one sender."""

    source: tuple[str, str, str, float]  # source, sender, frame, inflation [m]
    obstacles: Obstacles  # without the outlines of a region
    region: Region | None
    frame: Pose  # in the check frame
    age: float | None  # s; None: the list is static, so its stamp has no meaning


@dataclass(frozen=True, slots=True)
class Scenery:
    """The data of one stamp, which never changes.

    Attributes
    ----------
    sent : tuple of _Sent
        The lists of the snapshot that the answer was computed from. Messages that are too old or
        invalid are not among them.
    footprint : Shape or None
        The vehicle with the directional margins.
    outline : (n, 2) float64 or None
        The vehicle without these margins; None: there are none, or it is not known.
    margin : float
        The safety margin, which recorded changes of parameters change [m].
    """

    sent: tuple[_Sent, ...]
    footprint: Shape | None
    outline: Floats | None
    margin: float


def scenery(drive: Drive) -> Scenery:
    """Return the data of the present stamp of a replay."""
    snapshot, config = drive.snapshot, drive.snapshot.config
    sent = []
    for each in snapshot.senders:
        received, source = each.received, each.source
        age = None if source.static else (snapshot.stamp - received.stamp) * 1e-9
        names = source.name, each.name, received.frame, source.inflation
        sent.append(_Sent(names, each.obstacles, each.region, each.pose, age))
    sides = config.margin_front, config.margin_rear, config.margin_left, config.margin_right
    is_round = snapshot.outline is None or len(snapshot.outline) == 1
    return Scenery(
        tuple(sent),
        snapshot.footprint,
        snapshot.outline if any(sides) and not is_round else None,
        config.safety_margin,
    )


class SceneView:
    """The shapes that the frames of a page refer to by index, and the places of these shapes."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[bytes, float], int] = {}
        self._outlines: list[dict[str, Any]] = []
        self._lists: list[list[Any] | dict[str, Any]] = []
        self._listed: dict[tuple[Any, ...], list[int]] = {}
        self._sources: dict[tuple[str, str, str, float], int] = {}
        self._origin: tuple[float, float] | None = None

    def at(self, row: Row, data: Scenery) -> dict[str, Any]:
        """Return the geometry of a stamp, for the answer `row`.

        Returns
        -------
        dict
            ``f``, ``bare``: outlines of the footprint, with and without the directional margins.
            ``l``: the lists of obstacles. ``a``: for each source with a list that is not static,
            the age of its list [s]. ``sm``: the safety margin [m].
        """
        if row.ego:
            self._anchor(row.ego[0], row.ego[1])
        shape = data.footprint
        parts = [] if shape is None else zip(shape.parts, shape.radii, strict=True)
        return {
            "f": [self._outline(part, radius) for part, radius in parts],
            "bare": [] if data.outline is None else [self._outline(data.outline, 0.0)],
            "l": [number for each in data.sent for number in self._list(each)],
            "a": self._ages(data.sent),
            "sm": data.margin,
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
        """Return the origin [m], and the outlines, lists and sources that frames refer to.

        A list has for each obstacle: outline, x, y, yaw, id, number of the source, vx, vy, own
        margin; the last three may be missing. A list of points has outlines ``k``, number of the
        source ``n``, ids ``i``, and x y [mm].
        """
        names = ("source", "sender", "frame", "inflation")
        return {
            "origin": self._origin or (0.0, 0.0),
            "outlines": self._outlines,
            "lists": self._lists,
            "sources": [dict(zip(names, key, strict=True)) for key in self._sources],
        }

    def _source(self, sent: _Sent) -> int:
        return self._sources.setdefault(sent.source, len(self._sources))

    def _ages(self, lists: tuple[_Sent, ...]) -> dict[int, float]:
        known = ((self._source(each), each.age) for each in lists)
        return {number: round(age, 4) for number, age in known if age is not None}

    # ---- obstacles

    def _list(self, sent: _Sent) -> list[int]:
        """Return the numbers of the lists of a sender, which hold for many frames."""
        key = id(sent.obstacles), id(sent.region), *sent.frame, self._source(sent)
        if key not in self._listed:
            each, first = sent.obstacles, len(self._lists)
            are_plain = not (len(each.poses) or len(each.velocities) or each.margins.any())
            are_points = np.diff(each.offsets) == (1 if are_plain else -1)
            if are_points.any():
                self._lists.append(self._points(sent, are_points))
            self._lists.append([*self._placed(sent, ~are_points), *self._bounds(sent)])
            self._listed[key] = [*range(first, len(self._lists))]
        return self._listed[key]

    def _points(self, sent: _Sent, which: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Return the points of a scan or a cloud as arrays."""
        each = sent.obstacles
        points = sent.frame.transform(each.xy.reshape(-1, 2)[each.offsets[:-1][which]])
        radius = each.radius if len(each.radius) else np.zeros(len(each))
        radii, kinds = np.unique(radius[which].round(3), return_inverse=True)
        outlines = [self._outline(np.zeros((1, 2)), size) for size in radii.tolist()]
        x0, y0 = self._anchor(*points[0].tolist())
        return {
            "k": [outlines[k] for k in kinds.tolist()],
            "n": self._source(sent),
            "i": [exact(number) for number in each.ids[which].tolist()],
            "xy": np.rint(1e3 * (points - (x0, y0))).astype(np.int64).ravel().tolist(),
        }

    def _placed(self, sent: _Sent, which: npt.NDArray[np.bool_]) -> Iterator[list[Any]]:
        """Yield the item of each of these obstacles."""
        obstacles, frame, source = sent.obstacles, sent.frame, self._source(sent)
        points, ends = obstacles.xy.reshape(-1, 2), obstacles.offsets.astype(np.int64)
        radii = obstacles.radius.tolist() or [0.0] * len(obstacles)
        if len(obstacles.poses):
            rows = frame.compose(obstacles.poses.reshape(-1, 3))
        else:
            # The points are stored relative to the first one. An obstacle that is only translated
            # then keeps the same outline.
            points = frame.transform(points)
            rows = np.zeros((len(obstacles), 3))
            full = np.diff(ends) > 0 if len(ends) else np.zeros(0, bool)
            rows[full, :2] = points[ends[:-1][full]]
            points = points - np.repeat(rows[:, :2], np.diff(ends), axis=0)
        if not len(rows):
            return
        x0, y0 = self._anchor(*rows[0, :2].tolist())
        places = np.column_stack([(rows[:, :2] - (x0, y0)).round(3), rows[:, 2].round(5)])
        more = _speeds_and_margins(obstacles, frame)
        ids = obstacles.ids.tolist()
        rest = np.flatnonzero(which).tolist()
        for i, (x, y, yaw) in zip(rest, places[which].tolist(), strict=True):
            own = points[ends[i] : ends[i + 1]]
            if len(own):
                yield [self._outline(own, radii[i]), x, y, yaw, exact(ids[i]), source, *more[i]]

    def _bounds(self, sent: _Sent) -> Iterator[list[Any]]:
        """Yield the items of a region: the segments of its boundary."""
        if sent.region is None:
            return
        source = self._source(sent)
        for x, y, *end in sent.region.boundary.tolist():
            x0, y0 = self._anchor(x, y)
            number = self._outline(np.array([[0.0, 0.0], [end[0] - x, end[1] - y]]), 0.0)
            yield [number, round(x - x0, 3), round(y - y0, 3), 0.0, OUTSIDE, source]

    # ---- numbers of the page

    def _pose(self, pose: tuple[float, ...]) -> list[float]:
        x0, y0 = self._anchor(pose[0], pose[1])
        return [round(pose[0] - x0, 3), round(pose[1] - y0, 3), round(pose[2], 5)]

    def _anchor(self, x: float, y: float) -> tuple[float, float]:
        if self._origin is None:
            self._origin = (round(x), round(y))
        return self._origin

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


def _speeds_and_margins(obstacles: Obstacles, frame: Pose) -> list[list[float | None]]:
    """Return vx, vy and the margin of each obstacle, without missing values at the end."""
    found: list[list[float | None]] = [[] for _ in range(len(obstacles))]
    if len(obstacles.velocities):
        speeds = frame.turn(obstacles.velocities.reshape(-1, 3))[:, :2].round(2) + 0.0
        for i in np.flatnonzero(np.isfinite(speeds).all(axis=1)).tolist():
            found[i] = speeds[i].tolist()
    for i in np.flatnonzero(obstacles.margins > 0.0).tolist():
        found[i] = [*(found[i] or [None, None]), round(float(obstacles.margins[i]), 3)]
    return found


def rounded(value: float) -> float | None:
    """Return a number of the page with 6 decimal places; not finite: None."""
    return round(value, 6) if isfinite(value) else None
