# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A list of obstacles as a sender publishes it: flat arrays, and the checks of the list.

This module checks the lengths, the limits and the motion. The kernel checks each shape (finite,
enough points, in range, convex or concave), so that these checks apply to every user of the
kernel.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..geometry import ConcavePolicy, Shape, outlined
from ..verdict import Status

__all__ = ["Obstacles"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]


def _no_floats() -> Floats:
    return np.empty(0)


def _no_integers() -> Integers:
    return np.empty(0, dtype=np.int64)


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
        Name of the sender; empty: the name of the topic.
    sequence : int
        Increases with each message of the sender; 0: the sender does not count its messages.
    ids : (N,) integers
        Unique ids. Empty only if the receiver does not need ids.
    kinds : (N,) integers
        0: convex, the obstacle is the convex hull of its points; 1: concave; empty: all 0.
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

    def __len__(self) -> int:
        """Return the number of obstacles."""
        return max(len(self.offsets) - 1, 0)

    def shape(self, index: int, policy: ConcavePolicy) -> Shape:
        """Return the shape of one obstacle in its own frame. `check` must have passed before.

        Raises
        ------
        InputError
            The points are not a valid shape, or the shape is concave and the policy is 'reject'.
        """
        begin, end = self.offsets[index : index + 2].tolist()
        points = self.xy[2 * begin : 2 * end].reshape(-1, 2)
        radius = float(self.radius[index]) if len(self.radius) else 0.0
        concave = len(self.kinds) and self.kinds[index]
        return outlined(points, policy if concave else "hull", radius)

    def check(self, max_obstacles: int, max_points: int, *, need_ids: bool = True) -> None:
        """Check the list, except the shapes, in linear time and without a copy.

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
        n = len(self)
        if n > max_obstacles:
            _fail(Status.LIMIT_EXCEEDED, "offsets", None, f"{n} obstacles, limit {max_obstacles}")
        self._check_lengths(n, need_ids)
        if n == 0:
            return
        counts = _check_offsets("offsets", self.offsets, len(self.xy) // 2)
        if (i := _first(counts > max_points)) is not None:
            rule = f"{counts[i]} points in this obstacle, limit {max_points}"
            _fail(Status.LIMIT_EXCEEDED, "offsets", i, rule)
        if (i := _first(self.kinds > 1)) is not None:
            rule = f"must be 0 (convex) or 1 (concave) (got {self.kinds[i]})"
            _fail(Status.INVALID_INPUT, "kinds", i, rule)
        # The kernel checks radii too, but only after the inflation was added.
        if (i := _first(~np.isfinite(self.radius))) is not None:
            _fail(Status.NON_FINITE, "radius", i, f"must be finite (got {self.radius[i]})")
        if (i := _first(self.radius < 0.0)) is not None:
            _fail(Status.INVALID_INPUT, "radius", i, f"must be >= 0 (got {self.radius[i]})")
        self._check_ids()
        self._check_motion()

    def _check_lengths(self, n: int, need_ids: bool) -> None:
        for name, per_obstacle, may_be_empty in (
            ("ids", 1, not need_ids),
            ("kinds", 1, True),
            ("radius", 1, True),
            ("poses", 3, True),
            ("velocities", 3, True),
        ):
            length = len(getattr(self, name))
            if length != per_obstacle * n and not (may_be_empty and length == 0):
                rule = f"must have {per_obstacle * n} values for {n} obstacles (got {length})"
                _fail(Status.ARRAY_MISMATCH, name, None, rule)
        if len(self.xy) % 2:
            rule = f"must have an even number of values, x and y per point (got {len(self.xy)})"
            _fail(Status.ARRAY_MISMATCH, "xy", None, rule)
        if n == 0 and len(self.xy):
            rule = "must have N + 1 values for N obstacles, because xy is not empty"
            _fail(Status.ARRAY_MISMATCH, "offsets", None, f"{rule} (got {len(self.offsets)})")
        if n == 0 and len(self.offsets) and self.offsets[0] != 0:
            _fail(Status.ARRAY_MISMATCH, "offsets", 0, f"must be 0 (got {self.offsets[0]})")
        if len(self.path_poses) != 3 * len(self.path_times):
            times = len(self.path_times)
            rule = f"must have {3 * times} values for {times} path_times"
            rule += f" (got {len(self.path_poses)})"
            _fail(Status.ARRAY_MISMATCH, "path_poses", None, rule)
        if len(self.path_offsets) not in (0, n + 1):
            rule = f"must be empty or have {n + 1} values for {n} obstacles"
            rule += f" (got {len(self.path_offsets)})"
            _fail(Status.ARRAY_MISMATCH, "path_offsets", None, rule)
        if len(self.path_times) and not len(self.path_offsets):
            rule = f"must have {n + 1} values, because path_times is not empty (got 0)"
            _fail(Status.ARRAY_MISMATCH, "path_offsets", None, rule)

    def _check_ids(self) -> None:
        # In a reply, -1 means "none", and an id must identify one obstacle.
        if (i := _first(self.ids == -1)) is not None:
            rule = 'must not be -1, because replies use -1 for "no obstacle"'
            _fail(Status.INVALID_INPUT, "ids", i, rule)
        order = np.argsort(self.ids, kind="stable")
        twice = order[1:][np.diff(self.ids[order]) == 0]
        if len(twice):
            i = int(twice.min())
            _fail(Status.INVALID_INPUT, "ids", i, f"must be unique (got {self.ids[i]} again)")

    def _check_motion(self) -> None:
        if (i := _first(np.isinf(self.velocities))) is not None:
            _fail(Status.NON_FINITE, "velocities", i, "must be finite, or NaN for unknown")
        for name in ("path_times", "path_poses"):
            values = getattr(self, name)
            if (i := _first(~np.isfinite(values))) is not None:
                _fail(Status.NON_FINITE, name, i, f"must be finite (got {values[i]})")
        if len(self.path_offsets):
            _check_offsets("path_offsets", self.path_offsets, len(self.path_times))
            falling = np.diff(self.path_times) <= 0.0
            starts = self.path_offsets[1:-1].astype(np.int64)
            inner = starts[(starts > 0) & (starts < len(self.path_times))]
            falling[inner - 1] = False  # from the end of one path to the start of the next
            if (i := _first(falling)) is not None:
                rule = "must increase strictly for each obstacle"
                rule += f" (got {self.path_times[i + 1]} after {self.path_times[i]})"
                _fail(Status.INVALID_INPUT, "path_times", i + 1, rule)


def _check_offsets(name: str, offsets: Integers, total: int) -> Integers:
    """Check that offsets split `total` elements into one range per obstacle; return the counts."""
    wide = offsets.astype(np.int64)
    if wide[0] != 0:
        _fail(Status.ARRAY_MISMATCH, name, 0, f"must be 0 (got {wide[0]})")
    counts = np.diff(wide)
    if (i := _first(counts < 0)) is not None:
        rule = f"must not decrease (got {wide[i + 1]} after {wide[i]})"
        _fail(Status.ARRAY_MISMATCH, name, i + 1, rule)
    if wide[-1] != total:
        points = "points in xy" if name == "offsets" else "values in path_times"
        rule = f"the last value must be {total}, the number of {points} (got {wide[-1]})"
        _fail(Status.ARRAY_MISMATCH, name, len(wide) - 1, rule)
    return counts


def _first(mask: npt.NDArray[np.bool_]) -> int | None:
    if not mask.any():
        return None
    return int(np.argmax(mask))


def _fail(status: Status, name: str, index: int | None, rule: str) -> None:
    raise InputError(status, name, index, rule)
