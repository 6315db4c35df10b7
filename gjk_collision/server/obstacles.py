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
        counts = _check_offsets("offsets", self.offsets, "points", len(self.xy) // 2)
        if (i := _first(counts > max_points)) is not None:
            rule = f"{counts[i]} points in this obstacle, limit {max_points}"
            _fail(Status.LIMIT_EXCEEDED, "offsets", i, rule)
        if (i := _first(self.kinds > 1)) is not None:
            _fail(
                Status.INVALID_INPUT,
                "kinds",
                i,
                f"must be 0 (convex) or 1 (concave) (got {self.kinds[i]})",
            )
        # The kernel checks radii too, but it sees them after the inflation has been added.
        if (i := _first(~np.isfinite(self.radius))) is not None:
            _fail(Status.NON_FINITE, "radius", i, f"must be finite (got {self.radius[i]})")
        if (i := _first(self.radius < 0.0)) is not None:
            _fail(
                Status.INVALID_INPUT, "radius", i, f"must not be negative (got {self.radius[i]})"
            )
        self._check_ids()
        self._check_motion()

    def _check_lengths(self, n: int, need_ids: bool) -> None:
        """Check the length of each field. The messages are those of `Scene.from_arrays`."""
        one_each = f"one value for each of {n} obstacles"
        for name, per_obstacle, what in (
            ("ids", 1, one_each),
            ("kinds", 1, one_each),
            ("radius", 1, one_each),
            ("poses", 3, f"3 values (x, y, yaw) for each of {n}"),
            ("velocities", 3, f"3 values (vx, vy, wz) for each of {n}"),
        ):
            length, must_be = len(getattr(self, name)), name == "ids" and need_ids
            if length != per_obstacle * n and (must_be or length):
                rule = f"must {'' if must_be else 'be empty or '}hold {what} (got {length})"
                _fail(Status.ARRAY_MISMATCH, name, None, rule)
        if len(self.xy) % 2:
            rule = f"must hold 2 values (x, y) per point (got {len(self.xy)})"
            _fail(Status.ARRAY_MISMATCH, "xy", None, rule)
        if not len(self.offsets) and len(self.xy):
            _fail(Status.ARRAY_MISMATCH, "offsets", None, "empty, but xy is not")
        if n == 0 and len(self.offsets):
            _check_offsets("offsets", self.offsets, "points", len(self.xy) // 2)
        if len(self.path_poses) != 3 * len(self.path_times):
            rule = f"must hold 3 values (x, y, yaw) for each of {len(self.path_times)}"
            _fail(
                Status.ARRAY_MISMATCH, "path_poses", None, f"{rule} (got {len(self.path_poses)})"
            )
        if len(self.path_offsets) not in (0, n + 1):
            rule = f"must be empty or hold {n + 1} values (got {len(self.path_offsets)})"
            _fail(Status.ARRAY_MISMATCH, "path_offsets", None, rule)
        if len(self.path_times) and not len(self.path_offsets):
            _fail(Status.ARRAY_MISMATCH, "path_offsets", None, "empty, but path_times is not")

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
            _fail(Status.NON_FINITE, "velocities", i, "must be finite, or NaN where not known")
        for name in ("path_times", "path_poses"):
            values = getattr(self, name)
            if (i := _first(~np.isfinite(values))) is not None:
                _fail(Status.NON_FINITE, name, i, f"must be finite (got {values[i]})")
        if len(self.path_offsets):
            count = len(self.path_times)
            _check_offsets("path_offsets", self.path_offsets, "path_times", count)
            falling = np.diff(self.path_times) <= 0.0
            starts = self.path_offsets[1:-1].astype(np.int64)
            inner = starts[(starts > 0) & (starts < len(self.path_times))]
            falling[inner - 1] = False  # from the end of one path to the start of the next
            if (i := _first(falling)) is not None:
                rule = f"must increase strictly (got {self.path_times[i + 1]})"
                _fail(Status.INVALID_INPUT, "path_times", i + 1, rule)


def _check_offsets(name: str, offsets: Integers, elements: str, total: int) -> Integers:
    """Check that offsets cut `total` elements into runs; return the length of each."""
    wide = offsets.astype(np.int64)
    if wide[0] != 0:
        _fail(Status.ARRAY_MISMATCH, name, 0, f"must start at 0 (got {wide[0]})")
    if wide[-1] != total:
        rule = f"must end at the number of {elements}, {total} (got {wide[-1]})"
        _fail(Status.ARRAY_MISMATCH, name, len(wide) - 1, rule)
    counts, beyond = np.diff(wide), wide[1:] > total
    if (i := _first((counts < 0) | beyond)) is not None:
        rule = f"not exceed {total}" if beyond[i] else "not decrease"
        _fail(Status.ARRAY_MISMATCH, name, i + 1, f"must {rule} (got {wide[i + 1]})")
    return counts


def _first(mask: npt.NDArray[np.bool_]) -> int | None:
    if not mask.any():
        return None
    return int(np.argmax(mask))


def _fail(status: Status, name: str, index: int | None, rule: str) -> None:
    raise InputError(status, name, index, rule)
