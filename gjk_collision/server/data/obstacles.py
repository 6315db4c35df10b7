# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Footprints and lists of obstacles as senders publish them, and the checks of a list.

This module checks the limits and the ids. The kernel checks everything else, for all its users. It
checks the arrays when a list is received, and the shapes (finite, enough points, in range, convex
or concave) when they are built.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...convert.seen import Boundary
from ...errors import refuse
from ...geometry import ConcavePolicy
from ...scene import flat_arrays
from ...verdict import Status
from ..frames.fields import nanoseconds, numbers
from ..frames.poses import MAX_TILT

__all__ = ["ARRAYS", "HOLE", "REGION", "Footprint", "Obstacles"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

REGION, HOLE = 2, 3  # kinds of ``msg/ObstacleArray`` that are no obstacles

ARRAYS = (
    "ids", "kinds", "offsets", "xy", "radius", "poses", "velocities", "path_offsets",
    "path_times", "path_poses", "margins", "margin_rates",
)  # fmt: skip


def _no_floats() -> Floats:
    return np.empty(0)


def _no_integers() -> Integers:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Footprint:
    """The vehicle's outline, as received from a topic.

    Attributes
    ----------
    frame : str
        Frame of the points.
    stamp : int
        Time at which the outline is valid [ns].
    points : (n, 2) float64
        Outline [m].
    height : float
        Largest distance of a point from the plane of the frame [m].
    """

    frame: str
    stamp: int
    points: Floats
    height: float = 0.0
    may_be_flipped = False  # the frame may be upside down


@dataclass(frozen=True, eq=False)
class Obstacles:
    """The fields of ``msg/ObstacleArray``, for N obstacles. The arrays are never changed.

    Attributes
    ----------
    frame : str
        Frame of poses, velocities and paths.
    stamp : int
        Time at which the data is valid [ns].
    source : str
        Name of the sender; empty: the sender has the name of the source, see `sender`.
    sequence : int
        Increases with each message of the sender; 0: the sender does not count its messages.
    ids : (N,) integers
        Unique ids. Empty only if the receiver does not need ids.
    kinds : (N,) integers
        0: convex, the obstacle is the convex hull of its points; 1: concave; 2: an outline of the
        region in which the vehicle must stay; 3: a hole of this region; empty: all 0.
    offsets : (N + 1,) integers
        The points of obstacle i are ``[offsets[i], offsets[i + 1])``; empty: N = 0.
    xy : (2 P,) float64
        x and y of each point [m].
    radius : (N,) float64
        Radius of each obstacle [m]; empty: all 0.
    poses : (3 N,) float64
        x y yaw of each obstacle [m, m, rad]; empty: the points are in `frame`.
    velocities : (3 N,) float64
        vx vy wz of each obstacle [m/s, m/s, rad/s]; empty or NaN: unknown.
    path_offsets : (N + 1,) integers
        The predicted poses of obstacle i are ``[path_offsets[i], path_offsets[i + 1])``; empty:
        no predictions.
    path_times : (Q,) float64
        Time of each predicted pose [s] after `stamp`, strictly increasing for each obstacle.
    path_poses : (3 Q,) float64
        x y yaw of each predicted pose [m, m, rad].
    margins : (N,) float64
        Distance that each obstacle requires in addition to the margin of a request [m]; empty: all
        0.
    margin_rates : (N,) float64
        Growth of this distance after `stamp` [m/s], for requests with times; empty: all 0.
    height : float
        Maximum distance of the measured points from the plane of `frame` [m].
    max_tilt : float
        Maximum tilt of `frame` against the check frame [rad].
    seen : Boundary or None
        The boundary of what the sensor has seen, in `frame`; None: the source has not
        ``marks_seen``.
    bounds : Boundary or None
        The boundary of the region of a source with ``marks_outside``, in `frame`, if the list has
        no outlines of it.
    """

    frame: str
    stamp: int
    source: str = ""
    sequence: int = 0
    ids: Integers = field(default_factory=_no_integers)
    kinds: Integers = field(default_factory=_no_integers)
    offsets: Integers = field(default_factory=_no_integers)
    xy: Floats = field(default_factory=_no_floats)
    radius: Floats = field(default_factory=_no_floats)
    poses: Floats = field(default_factory=_no_floats)
    velocities: Floats = field(default_factory=_no_floats)
    path_offsets: Integers = field(default_factory=_no_integers)
    path_times: Floats = field(default_factory=_no_floats)
    path_poses: Floats = field(default_factory=_no_floats)
    margins: Floats = field(default_factory=_no_floats)
    margin_rates: Floats = field(default_factory=_no_floats)
    height: float = 0.0
    max_tilt: float = MAX_TILT
    seen: Boundary | None = None
    bounds: Boundary | None = None
    may_be_flipped = True  # no field: the frame may be upside down
    _parts: dict[str, _core.ObstacleParts] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        """Return the number of obstacles."""
        return max(len(self.offsets) - 1, 0)

    @classmethod
    def of(cls, message: Any) -> "Obstacles":
        """Return the list of a gjk_collision/ObstacleArray. The values are not checked."""
        arrays: dict[str, Any] = {name: numbers(getattr(message, name)) for name in ARRAYS}
        header, sequence = message.header, int(message.sequence)
        stamp = nanoseconds(header.stamp)
        return cls(header.frame_id, stamp, message.source, sequence, **arrays)

    def parts(self, policy: ConcavePolicy) -> _core.ObstacleParts:
        """Return the convex parts of the obstacles. They are computed once; `check` must pass.

        Raises
        ------
        InputError
            The points of an obstacle are not a valid shape.
        """
        if policy not in self._parts:
            chosen = getattr(_core.ConcavePolicy, policy)
            self._parts[policy] = _core.ObstacleParts(self.offsets, self.xy, self.kinds, chosen)
        return self._parts[policy]

    def sender(self, source: str) -> str:
        """Return the name of the sender, for a list of the source with this name."""
        return self.source or source

    @property
    def has_region(self) -> bool:
        """Whether the list has outlines of a region, or holes."""
        return bool(len(self.kinds)) and int(self.kinds.max()) >= REGION

    def with_kinds(self, *, hulls: bool) -> "Obstacles":
        """Return the list without the outlines of a region, or with them as convex hulls.

        The hulls keep the indices of the obstacles, for the message of an error.
        """
        if not self.has_region:
            return self
        is_solid = self.kinds < REGION
        if hulls:
            return replace(self, kinds=np.where(is_solid, self.kinds, 0).astype(np.uint8))
        changes: dict[str, Any] = {}
        for name in ("ids", "kinds", "radius", "poses", "velocities", "margins", "margin_rates"):
            values = getattr(self, name)
            if len(values):
                changes[name] = values.reshape(len(is_solid), -1)[is_solid].ravel()
        ends = self.offsets.astype(np.int64)
        counts = ends[1:] - ends[:-1]
        changes["offsets"] = np.concatenate([[0], np.cumsum(counts[is_solid])])
        changes["xy"] = self.xy.reshape(-1, 2)[np.repeat(is_solid, counts)].ravel()
        if len(self.path_offsets):
            lengths = np.diff(self.path_offsets.astype(np.int64))
            changes["path_offsets"] = np.concatenate([[0], np.cumsum(lengths[is_solid])])
        return replace(self, **changes)

    def flipped(self) -> "Obstacles":
        """Return the list mirrored at the x axis, as seen from below."""

        def of(values: Floats, *columns: int) -> Floats:
            rows = values.reshape(-1, max(columns) + 1).copy()
            rows[:, columns] *= -1.0
            return rows.ravel()

        seen, bounds = (
            each and (of(each[0], 1, 3).reshape(-1, 4)[:, [2, 3, 0, 1]], each[1])
            for each in (self.seen, self.bounds)
        )
        return replace(
            self, xy=of(self.xy, 1), poses=of(self.poses, 1, 2), seen=seen, bounds=bounds,
            velocities=of(self.velocities, 1, 2), path_poses=of(self.path_poses, 1, 2),
        )  # fmt: skip

    def check(self, max_obstacles: int, max_points: int, *, need_ids: bool = True) -> None:
        """Check the list, except the shapes, without a copy of the points.

        Parameters
        ----------
        max_obstacles, max_points : int
            Maximum number of obstacles, and of points per obstacle.
        need_ids : bool
            Whether each obstacle must have an id.

        Raises
        ------
        InputError
            LIMIT_EXCEEDED, ARRAY_MISMATCH, NON_FINITE or INVALID_INPUT, with field and index.
        """
        for each in fields(self):
            if isinstance(values := getattr(self, each.name), np.ndarray) and values.ndim != 1:
                rule = f"must have shape (n,) (got {values.shape})"
                refuse(each.name, rule, status=Status.ARRAY_MISMATCH)
        if self.ids.dtype != np.int64:
            refuse("ids", f"must be an array of int64 (got {self.ids.dtype})")
        n = len(self)
        if n > max_obstacles:
            rule = f"{n} obstacles, limit {max_obstacles}"
            refuse("offsets", rule, status=Status.LIMIT_EXCEEDED)
        if len(self.ids) != n and (need_ids or len(self.ids)):
            rule = f"hold one id for each of {n} obstacles (got {len(self.ids)})"
            rule = f"must {rule}" if need_ids else f"must be empty or {rule}"
            refuse("ids", rule, status=Status.ARRAY_MISMATCH)
        if need_ids and self.has_region:
            self._check_region(n)
        kinds = self.with_kinds(hulls=True).kinds if need_ids else self.kinds
        _core.check_arrays(
            *flat_arrays(
                self.offsets, self.xy, kinds, self.radius, self.poses,
                self.velocities, self.path_offsets, self.path_times, self.path_poses,
                margins=self.margins, margin_rates=self.margin_rates,
            )
        )  # fmt: skip
        if (i := _first(self.path_times > 1e6)) is not None:
            rule = "must be in s after header.stamp, at most 1e6 (is it an absolute time?)"
            refuse("path_times", rule, self.path_times[i], i)
        counts = np.diff(self.offsets)
        if (i := _first(counts > max_points)) is not None:
            rule = f"{counts[i]} points in this obstacle, limit {max_points}"
            refuse("offsets", rule, index=i, status=Status.LIMIT_EXCEEDED)
        self._check_ids()

    def check_at_rest(self) -> None:
        """Check that no obstacle moves, as in the list of a static source.

        Raises
        ------
        InputError
            INVALID_INPUT: the list has a path, a velocity, or a margin that grows.
        """
        rule = "must be 0 or unknown, because the source has the parameter static"
        if (i := _first((self.velocities != 0.0) & ~np.isnan(self.velocities))) is not None:
            refuse("velocities", rule, self.velocities[i], i)
        if (i := _first(self.margin_rates != 0.0)) is not None:
            rule = "must be 0, because the source has the parameter static"
            refuse("margin_rates", rule, self.margin_rates[i], i)
        if len(self.path_times):
            refuse("path_times", "must be empty, because the source has the parameter static")

    def _check_region(self, count: int) -> None:
        """Check the arrays of the outlines of a region: they have coordinates only."""
        if (i := _first(self.kinds > HOLE)) is not None:
            rule = "must be 0 (convex), 1 (concave), 2 (region) or 3 (hole)"
            refuse("kinds", rule, self.kinds[i], i)
        is_region = self.kinds >= REGION
        for name, width in (("radius", 1), ("poses", 3), ("velocities", 3), ("margins", 1),
                            ("margin_rates", 1)):  # fmt: skip
            values = getattr(self, name)
            if len(self.kinds) != count or len(values) != width * count:
                continue  # it is empty, or has a wrong length, which the kernel refuses
            # NaN is an unknown velocity; the kernel refuses any other.
            given = (values != 0.0) & ~np.isnan(values) & np.repeat(is_region, width)
            if (i := _first(given)) is not None:
                rule = "must be 0 for the outlines of a region (kinds 2 and 3)"
                refuse(name, rule, values[i], i)
        if len(self.path_offsets) == count + 1 and len(self.kinds) == count:
            lengths = np.diff(self.path_offsets.astype(np.int64))
            if (i := _first((lengths != 0) & is_region)) is not None:
                rule = "must have no path for the outlines of a region (kinds 2 and 3)"
                refuse("path_offsets", rule, index=i)

    def _check_ids(self) -> None:
        # In a reply, -1 means "none", and an id must identify one obstacle.
        if (i := _first(self.ids == -1)) is not None:
            rule = 'must not be -1, because replies use -1 for "no obstacle"'
            refuse("ids", rule, index=i)
        order = np.argsort(self.ids, kind="stable")
        twice = order[1:][np.diff(self.ids[order]) == 0]
        if len(twice):
            i = int(twice.min())
            refuse("ids", f"must be unique (got {self.ids[i]} again)", index=i)


def _first(mask: npt.NDArray[np.bool_]) -> int | None:
    if not mask.any():
        return None
    return int(np.argmax(mask))
