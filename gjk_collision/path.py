# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths that vehicles drive: straight lines, arcs, Dubins and Reeds-Shepp curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arguments import as_floats, as_integer, as_number, as_poses, located, located_in
from .errors import InputError, refuse
from .formats import svg
from .formats.figures import VEHICLE
from .results import of_whole_length
from .verdict import Status

__all__ = ["Path"]

_TWO_PI = 2.0 * np.pi
_DRAWN = 100  # points of a path in a picture


class Path:
    """A path of the vehicle, or several of them. Immutable.

    Create paths with the class methods, and check them with `Scene.check_path`. A path is a start
    pose and segments that follow one another. A segment of `arcs`, `dubins` or `reeds_shepp` is
    a circular arc or a straight line. The angle between the vehicle and the direction of such a
    segment is constant. A segment of `straight` is a straight line, on which the vehicle may turn.
    """

    __slots__ = ("_arcs", "_first", "_leading", "_poses")

    _poses: NDArray[np.float64]  # (K, n, 3) if straight, else (K, 3): the starts
    _first: NDArray[np.uint64]  # (K + 1,): curve k has the arcs first[k] to first[k + 1] - 1
    _arcs: NDArray[np.float64] | None  # (m, 2): curvature [1/m], length [m]; None: straight
    _leading: tuple[int, ...]

    def __init__(self, *_: object) -> None:
        """Refuse: a path is created by one of the class methods."""
        refuse("Path", "use Path.straight, Path.arcs, Path.dubins or Path.reeds_shepp")

    @classmethod
    def straight(cls, poses: ArrayLike) -> Path:
        """Return a path through poses.

        Between two poses the vehicle moves in a straight line, and takes the shorter rotation, as
        in the SE2 space of OMPL and in nav2.

        Parameters
        ----------
        poses : array_like, shape (..., n, 3)
            Poses of the base frame: x [m], y [m], yaw [rad]; n >= 1. For shape (K, n, 3), the
            result is K paths.

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.
        """
        given = _checked_poses(poses, "poses")
        if given.ndim < 2:
            rule = "must have shape (..., n, 3)"
            refuse("poses", rule, given.shape, status=Status.ARRAY_MISMATCH)
        return cls._of(np.array(given).reshape(-1, *given.shape[-2:]), (), None, given.shape[:-2])

    @classmethod
    def arcs(cls, start: ArrayLike, arcs: ArrayLike) -> Path:
        """Return a path of circular arcs and straight lines.

        Parameters
        ----------
        start : array_like, shape (..., 3)
            First pose of the base frame: x [m], y [m], yaw [rad].
        arcs : array_like, shape (..., m, 2)
            Curvature [1/m] and length [m] of each arc. The curvature is positive if the path turns
            left when driven forwards. 0: a straight line. A negative length drives backwards. An
            arc of length 0 is a stop. For example, starts of shape (K, 1, 3) and arcs of shape
            (P, m, 2) give the paths of P motion primitives from K states, of shape (K, P).

        Raises
        ------
        InputError
            NON_FINITE. COORD_RANGE: the yaw of the start and all turns sum up to more than 1e6
            rad, or the path is longer than 1e15 m. EMPTY_REQUEST, ARRAY_MISMATCH, INVALID_INPUT.
        """
        starts = _checked_poses(start, "start")
        ways = as_floats(arcs, "arcs")
        if ways.shape in ((0,), (0, 2)):
            ways = np.zeros((1, 2))  # no arc: the vehicle stands
        if ways.size == 0 and ways.ndim >= 2:
            refuse("arcs", "must hold at least one arc", status=Status.EMPTY_REQUEST)
        if ways.ndim < 2 or ways.shape[-1] != 2:
            refuse("arcs", "must have shape (..., m, 2)", ways.shape, status=Status.ARRAY_MISMATCH)
        steps = ways.shape[-2]
        leading = ways.shape[:-1]  # where a check of the kernel finds an error
        try:
            _core.check_arcs(ways)
            leading = np.broadcast(starts[..., 0], ways[..., 0, 0]).shape
            begins, each = np.empty((*leading, 3)), np.empty((*leading, steps, 2))
            begins[...], each[...] = starts, ways
            _core.check_curves(begins, each)
        except InputError as error:  # faster than `located_in`
            raise located(error, arcs=leading) from None
        except ValueError:
            rule = f"must be broadcastable with start, shape {starts.shape} (got {ways.shape})"
            raise InputError(Status.ARRAY_MISMATCH, "arcs", None, rule) from None
        begins, each = begins.reshape(-1, 3), each.reshape(-1, 2)
        return cls._of(begins, np.full(len(begins), steps), each, leading)

    @classmethod
    def dubins(cls, a: ArrayLike, b: ArrayLike, radius: float) -> Path:
        """Return the shortest path that drives forwards and turns with at least a given radius.

        Parameters
        ----------
        a, b : array_like, shape (..., 3)
            First and last pose of the base frame: x [m], y [m], yaw [rad]. Both shapes are
            broadcast to one. For shape (K, 3), the result is K paths.
        radius : float
            Minimum turning radius [m], > 0.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT. NUMERIC_FAILURE: the poses are
            too far apart for the radius.

        Notes
        -----
        L. E. Dubins, "On Curves of Minimal Length with a Constraint on Average Curvature", 1957.
        The last pose is `b`, except for rounding errors. The error of the position is that of the
        coordinates. The error of the yaw is this error divided by the radius. If several paths are
        equally short, one of them is returned. Another library may return another one.
        """
        return cls._shortest(_core.dubins, a, b, radius)

    @classmethod
    def reeds_shepp(cls, a: ArrayLike, b: ArrayLike, radius: float) -> Path:
        """Return the shortest path that drives forwards and backwards.

        The parameters, errors and notes are as for `dubins`.

        Notes
        -----
        J. A. Reeds and L. A. Shepp, "Optimal paths for a car that goes both forwards and
        backwards", 1990.
        """
        return cls._shortest(_core.reeds_shepp, a, b, radius)

    @classmethod
    def _shortest(cls, curves: Any, a: ArrayLike, b: ArrayLike, radius: float) -> Path:
        begin, end = as_poses(a, "a"), as_poses(b, "b")
        try:
            leading = np.broadcast_shapes(begin.shape, end.shape)[:-1]
        except ValueError:
            rule = f"must have a shape that fits that of a, {begin.shape} (got {end.shape})"
            raise InputError(Status.ARRAY_MISMATCH, "b", None, rule) from None
        starts, ends = (
            np.array(np.broadcast_to(poses, (*leading, 3))).reshape(-1, 3)
            for poses in (begin, end)
        )
        with located_in(a=leading, b=leading):
            counts, arcs = curves(starts, ends, as_number(radius, "radius"))
        counts = np.maximum(counts, 1)  # a == b: an arc of length 0
        used = np.arange(arcs.shape[1]) < counts[:, None]
        return cls._of(starts, counts, arcs[used], leading)

    @classmethod
    def _of(
        cls,
        poses: NDArray[np.float64],
        counts: Sequence[int] | NDArray[np.integer],
        arcs: NDArray[np.float64] | None,
        leading: tuple[int, ...],
    ) -> Path:
        """Return paths that keep the arrays; path k has counts[k] arcs."""
        path = cls.__new__(cls)
        path._poses, path._arcs, path._leading = poses, arcs, leading
        path._first = np.zeros(len(counts) + 1, np.uint64)
        np.cumsum(counts, out=path._first[1:])
        return path

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of paths. (): one path."""
        return self._leading

    @property
    def length(self) -> float | NDArray[np.float64]:
        """Length of each path [m], shape `shape`. A turn in place has no length."""
        return self._totals().reshape(self._leading)[()]

    @property
    def starts(self) -> NDArray[np.float64]:
        """First pose of each path, shape (..., 3): x [m], y [m], yaw [rad]."""
        first = self._poses if self._arcs is not None else self._poses[:, 0]
        return first.reshape(*self._leading, 3).copy()

    @property
    def ends(self) -> NDArray[np.float64]:
        """Last pose of each path, rounded, shape (..., 3): x [m], y [m], yaw [rad]."""
        if self._arcs is None:
            last = self._poses[:, -1]
        else:
            of_path = self._first[1:].astype(np.intp) + np.arange(len(self._poses))
            last = _core.curve_knots(self._poses, self._first, self._arcs)[of_path]
        return last.reshape(*self._leading, 3).copy()

    @property
    def poses(self) -> NDArray[np.float64]:
        """Poses at the start of one path and at the end of each segment, shape (m + 1, 3).

        x [m], y [m], yaw [rad].

        Raises
        ------
        InputError
            INVALID_INPUT: there are several paths; select one of them, or use `starts`, `ends` or
            `at`.
        """
        only = self._only("poses")
        if only._arcs is None:
            return np.array(only._poses[0])
        return _core.curve_knots(only._poses, only._first, only._arcs)

    @property
    def segments(self) -> NDArray[np.float64]:
        """Curvature [1/m] and length [m] of each segment of one path of arcs, shape (m, 2).

        Raises
        ------
        InputError
            INVALID_INPUT: there are several paths, or the path is `straight`.
        """
        arcs = self._only("segments")._arcs
        if arcs is None:
            refuse("segments", "a straight path has poses only: use Path.poses")
        return arcs.copy()

    def __len__(self) -> int:
        """Return the number of paths, of shape (K,)."""
        if len(self._leading) != 1:
            raise TypeError(f"a Path of shape {self._leading} has no length: use Path.ravel")
        return self._leading[0]

    def __getitem__(self, index: int) -> Path:
        """Return one path. Only for a `Path` of shape (K,)."""
        if len(self._leading) != 1:
            refuse("index", "needs a path of shape (K,), as of Path.ravel", self._leading)
        count = self._leading[0]
        k = as_integer(index, "index")
        if not -count <= k < count:
            raise IndexError(f"index must lie in [{-count}, {count}) (got {k})")  # ends iteration
        k %= count
        if self._arcs is None:
            return self._of(self._poses[k : k + 1], (), None, ())
        begin, end = self._first[k : k + 2].tolist()
        return self._of(self._poses[k : k + 1], [end - begin], self._arcs[begin:end], ())

    def ravel(self) -> Path:
        """Return the same paths, of shape (K,), in the order of numpy's `ravel`."""
        make, (*own, _) = self.__reduce__()
        return make(*own, (prod(self._leading),))

    def __reduce__(self) -> tuple[Callable[..., Path], tuple[Any, ...]]:
        """Return what `pickle` needs."""
        counts = np.diff(self._first) if self._arcs is not None else ()
        return self._of, (self._poses, counts, self._arcs, self._leading)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same shape, start poses and segments."""
        return self._key() == other._key() if isinstance(other, Path) else NotImplemented

    def __hash__(self) -> int:
        """Return a hash that is equal for equal paths."""
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        arcs = None if self._arcs is None else (self._arcs + 0.0).tobytes()  # no negative zeros
        first, poses = self._first.tobytes(), (self._poses + 0.0).tobytes()
        return self._leading, self._poses.shape, poses, first, arcs

    def __repr__(self) -> str:
        """Return the kind, the number and the lengths of the paths."""
        kind = "straight" if self._arcs is None else "arcs"
        if self._leading:
            return f"Path({kind}, shape {self._leading})"
        return f"Path({kind}, {len(self._lengths()[0])} segments, {self.length:.6g} m)"

    def _repr_svg_(self) -> str | None:
        """Return a picture for notebooks; None for more than 20 000 points."""
        if len(self._poses) * _DRAWN > svg.MOST_DRAWN:
            return None
        length = np.asarray(self.length)[..., None]
        lines = self.at(length * np.linspace(0.0, 1.0, _DRAWN)).reshape(-1, _DRAWN, 3)
        return svg.picture([svg.Layer(lines[..., :2], VEHICLE)], repr(self))

    def at(self, distances: ArrayLike) -> NDArray[np.float64]:
        """Return poses on the paths, for example to draw them.

        Parameters
        ----------
        distances : array_like
            Distances driven from the start [m], from 0 to `length`. For one path, any shape (...).
            For paths of shape (...), the same m distances on each path, of shape (m,), or others
            on each path, of shape (..., m). For example ``path.length[..., None] * shares``, with
            shares from 0 to 1, for paths of different lengths.

        Returns
        -------
        ndarray, shape (..., 3) for one path, or (..., m, 3)
            x [m], y [m], yaw [rad], rounded.

        Raises
        ------
        InputError
            NON_FINITE. COORD_RANGE: a distance is negative or greater than `length`.
            ARRAY_MISMATCH: the shape is not one of those above.
        """
        given = as_floats(distances, "distances")
        shape = given.shape
        if self._leading:
            if not given.ndim or shape[:-1] not in ((), self._leading):
                rule = f"must have shape (m,) or {(*self._leading, 'm')} for paths of shape"
                rule = f"{rule} {self._leading} (got {shape})".replace("'", "")
                refuse("distances", rule, status=Status.ARRAY_MISMATCH)
            shape = (*self._leading, shape[-1])
        row = shape[-1] if self._leading else given.size
        each = np.broadcast_to(given, shape).reshape(len(self._poses), row)
        lengths = self._totals()
        outside = ~((each >= 0.0) & (each <= lengths[:, None]))
        if outside.any():
            k, i = divmod(int(np.argmax(outside)), row)
            value = each[k, i]
            status = Status.COORD_RANGE if np.isfinite(value) else Status.NON_FINITE
            rule = f"must lie in [0, {lengths[k]}] (got {value})"
            at = i if given.ndim == 1 else k * row + i
            raise located(InputError(status, "distances", at, rule), distances=given.shape)
        if self._arcs is None:
            return self._on_lines(each).reshape(*shape, 3)
        on_arcs = _core.curve_poses(self._poses, self._first, self._arcs, each)
        return on_arcs.reshape(*shape, 3)

    def _on_lines(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return poses at distances (K, m) on straight paths, shape (K, m, 3)."""
        steps = self._steps()
        each = np.arange(len(steps))[:, None]
        if not steps.shape[1]:  # one pose
            return np.broadcast_to(self._poses, (*distances.shape, 3)).copy()
        until = np.cumsum(steps, axis=1)
        on = (until[:, None, :] < distances[:, :, None]).sum(axis=-1)
        on = np.minimum(on, steps.shape[1] - 1)
        length = steps[each, on]
        since = np.maximum(distances - (until[each, on] - length), 0.0)
        share = np.divide(since, length, out=np.ones_like(since), where=length > 0.0)
        change = self._poses[each, on + 1] - self._poses[each, on]
        change[..., 2] = shorter_turn(change[..., 2])
        placed: NDArray[np.float64] = self._poses[each, on] + share[..., None] * change
        return placed

    def moved(self, poses: ArrayLike) -> Path:
        """Return these paths as driven from other poses, for example from the states of a planner.

        A path is given in the frame of each pose: a path that starts at (0, 0, 0) then starts at
        the pose. Its segments are the same.

        Parameters
        ----------
        poses : array_like, shape (..., 3)
            x [m], y [m], yaw [rad]. For states of shape (S, 3) and paths of shape (P,), the result
            has the shape (S, P).

        Returns
        -------
        Path
            Of the shape of the poses, followed by that of the paths. Its poses are rounded.

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. COORD_RANGE: a pose of a moved path is too far away,
            or the yaw of its start and all turns sum up to more than 1e6 rad. NON_FINITE,
            ARRAY_MISMATCH, INVALID_INPUT.
        """
        frames = as_poses(poses, "poses")
        shape = frames.shape[:-1]
        try:
            if self._arcs is None:
                moved = _core.moved_poses(self._poses, frames), self._first, None
            else:
                moved = _core.moved_curves(self._poses, self._first, self._arcs, frames)
        except InputError as error:  # faster than `located_in`
            raise located(error, poses=shape) from None
        path = Path.__new__(Path)
        placed, path._first, path._arcs = moved
        path._poses = placed.reshape(-1, *self._poses.shape[1:])
        path._leading = (*shape, *self._leading)
        return path

    def _check(
        self,
        scene: _core.Scene,
        shape: _core.Shape,
        times: ArrayLike | None,
        margin: float,
        tolerance: float,
        has_distance: bool,
        threads: int,
    ) -> dict[str, Any]:
        """Return the answer of the kernel: the worst verdict, and arrays with a row per path."""
        at, error = np.empty(0), 0.0
        if times is not None:
            at, error = self._knot_times(as_floats(times, "times"))
        options = margin, tolerance, has_distance, threads, error
        if self._arcs is None:
            answer = scene.check_paths(shape, self._poses, at, len(self._poses), *options)
            of_whole_length(answer, self._lengths())
            return answer
        return scene.check_curves(shape, self._poses, self._first, self._arcs, at, *options)

    def _knot_times(self, given: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return the times of the start and of the end of each segment of all paths, flat [s].

        The second value is the maximum error of these times by rounding [s].
        """
        lengths = self._lengths()
        counts = {len(steps) + 1 for steps in lengths}
        allowed = {2, *counts} if len(counts) == 1 else {2}
        fits = given.ndim > 0 and given.shape[:-1] in ((), self._leading)
        if not fits or given.shape[-1] not in allowed:
            row = " or ".join(f"({count},)" for count in sorted(allowed))
            each = f", or one such row for each path of shape {self._leading}"
            rule = f"must have shape {row}{each if self._leading else ''}"
            refuse("times", rule, given.shape, status=Status.ARRAY_MISMATCH)
        with located_in(times=given.shape):
            _core.check_times(given, "times", given.shape[-1])
        rows = np.broadcast_to(given.reshape(-1, given.shape[-1]), (len(lengths), given.shape[-1]))
        at = np.concatenate([_spread(row, own) for row, own in zip(rows, lengths, strict=True)])
        if counts == {given.shape[-1]}:
            return at, 0.0
        # 3 roundings of the largest time, and one step for each segment in `_spread`
        return at, float(np.spacing(np.abs(given).max()) * (4 + max(map(len, lengths))))

    def _only(self, argument: str) -> Path:
        if self._leading:
            is_row = len(self._leading) == 1
            how = "select one, as in path[0]" if is_row else "move one: path[0].moved(pose)"
            refuse(argument, f"needs one path (got shape {self._leading}): {how}")
        return self

    def _steps(self) -> NDArray[np.float64]:
        """Return the lengths of the segments of straight paths [m], shape (K, n - 1)."""
        change = np.diff(self._poses[..., :2], axis=1)
        return np.hypot(change[..., 0], change[..., 1])

    def _lengths(self) -> list[NDArray[np.float64]]:
        """Return the lengths of the segments of each path [m]."""
        if self._arcs is None:
            return list(self._steps())
        return np.split(np.abs(self._arcs[:, 1]), self._first[1:-1].astype(int))

    def _totals(self) -> NDArray[np.float64]:
        """Return the length of each path [m], shape (K,): a sum in the order of the segments."""
        if self._arcs is not None:
            return _core.curve_lengths(self._poses, self._first, self._arcs)
        steps = self._steps()
        return np.cumsum(steps, axis=1)[:, -1] if steps.shape[1] else np.zeros(len(steps))


def _spread(times: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a time for the start and for the end of each segment [s], of a constant speed.

    Times for all of them are returned as they are.
    """
    if len(times) == len(lengths) + 1:
        return times
    total = _sum(lengths)
    if not total > 0.0:
        count = len(lengths) + 1
        rule = f"must hold a time for each of the {count} poses of a path without length"
        refuse("times", rule, 2, status=Status.ARRAY_MISMATCH)
    shares = np.append(0.0, np.cumsum(lengths) / total)
    knots: NDArray[np.float64] = times[0] + (times[1] - times[0]) * shares
    knots[-1] = times[1]
    for i in range(1, len(knots) - 1):  # strictly increasing, also where a segment has no length
        knots[i] = max(knots[i], np.nextafter(knots[i - 1], np.inf))
    for i in range(len(knots) - 2, 0, -1):
        knots[i] = min(knots[i], np.nextafter(knots[i + 1], -np.inf))
    if not knots[0] < knots[1]:
        refuse("times", f"are too close to each other for {len(lengths)} segments", times.tolist())
    return knots


def shorter_turn(turn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an angle without whole turns, in [-pi, pi].

    As in the kernel, half a turn keeps its direction.
    """
    turns = turn / _TWO_PI
    nearest = np.rint(turns)
    whole = np.where(np.abs(turns - nearest) == 0.5, np.trunc(turns), nearest)
    shorter: NDArray[np.float64] = turn - _TWO_PI * whole
    return shorter


def _sum(lengths: NDArray[np.float64]) -> float:
    """Return the sum in the order of the path, as `at` and the kernel compute it."""
    return float(np.cumsum(lengths)[-1]) if len(lengths) else 0.0


def _checked_poses(poses: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Return poses of shape (..., 3), checked by the kernel."""
    given = as_poses(poses, argument)
    try:
        _core.check_poses(given, argument)
    except InputError as error:  # faster than `located_in`
        raise located(error, **{argument: given.shape[:-1]}) from None
    return given
