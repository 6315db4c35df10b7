# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many obstacles, and a shape at many poses among them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from reprlib import repr as short
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arguments import (
    as_choice,
    as_flag,
    as_floats,
    as_integers,
    as_number,
    as_vector,
    as_whole,
    instance,
)
from .errors import InputError
from .geometry import ConcavePolicy, Pose, Shape
from .results import INVARIANT, CheckResult, NearestResult, PathResult
from .verdict import Status, Verdict

__all__ = ["Scene"]

Mode: TypeAlias = Literal["collide", "distance", "witness"]
PredictionPolicy: TypeAlias = Literal["unknown_is_error", "constant_velocity", "hold"]
Paths: TypeAlias = Sequence[tuple[ArrayLike, ArrayLike] | None]
"""Per obstacle None, or times (m,) [s after its stamp, rising] and poses (m, 3) [m, m, rad]."""

_MODES: dict[str, int] = {"collide": 0, "distance": 1, "witness": 2}
T = TypeVar("T")
_EMPTY: NDArray[np.float64] = np.empty(0)
_VERDICTS = tuple(Verdict)  # by number: Verdict(n) takes longer
_NO_OFFSETS: NDArray[np.uint32] = np.empty(0, dtype=np.uint32)


class Scene:
    """Obstacles at rest or in motion, immutable; any number of threads may query it.

    Parameters
    ----------
    shapes : sequence of Shape
        The obstacles; none is a scene that is free everywhere.
    poses : array_like, shape (n, 3), optional
        x [m], y [m], yaw [rad] of each; left out, the shapes are where they are.
    ids : array_like of int, shape (n,), optional
        Names for the answers; the indices where left out.
    velocities : array_like, shape (n, 3), optional
        vx vy [m/s] in the frame of the poses, wz [rad/s] about the shape's origin; NaN: not known,
        zeros: it stands for good.
    paths : sequence, one per obstacle, optional
        Predicted poses; linear in between, turning the shorter way. A path goes before a velocity.
        See `Paths`.
    stamps : array_like, shape (n,), optional
        Time of each pose on the clock of the `times` of a query [s]; 0 where left out.
    prediction : {'unknown_is_error', 'constant_velocity', 'hold'}
        After a path's end an obstacle's place is not known; or it goes on as on the last stretch
        (with its velocity, if the path is one pose at the stamp); or it stands. An obstacle
        without path and velocity has no known place at any time but its stamp's; under 'hold' it
        stands. Where neither `paths` nor `velocities` is given at all, no place is known at any
        time but under 'hold'.
    horizon : float
        What moves is predicted no further after its stamp [s].
    time_error : float
        How far the given stamps and the times of queries may be from the true ones [s], for
        example because they were converted from nanoseconds. It is part of every bound. Queries up
        to the end of what is known are answered, although the true time may be past it by as much.

    Raises
    ------
    InputError
        Naming the argument, the index and the rule that it breaks.
    """

    __slots__ = ("_core", "_id_of", "_prediction")

    def __init__(
        self,
        shapes: Sequence[Shape],
        poses: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        paths: Paths | None = None,
        *,
        stamps: ArrayLike | None = None,
        prediction: PredictionPolicy = "unknown_is_error",
        horizon: float = 5.0,
        time_error: float = 0.0,
    ) -> None:
        self._prediction = (
            _checked_policy(prediction),
            as_number(horizon, "horizon"),
            as_number(time_error, "time_error"),
        )
        cores = _cores(shapes)
        said = _said(len(cores), velocities, paths, stamps, *self._prediction)
        placed = None if poses is None else as_floats(poses, "poses", 3)
        with _paths_named(said):
            self._core = _core.scene_from_shapes(cores, placed, said)
        self._id_of = _checked_ids(ids, len(cores))

    @classmethod
    def from_arrays(
        cls,
        offsets: ArrayLike,
        xy: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        kinds: ArrayLike | None = None,
        radius: ArrayLike | None = None,
        poses: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        path_offsets: ArrayLike | None = None,
        path_times: ArrayLike | None = None,
        path_poses: ArrayLike | None = None,
        stamps: ArrayLike | None = None,
        concave_policy: ConcavePolicy = "decompose",
        prediction: PredictionPolicy = "unknown_is_error",
        horizon: float = 5.0,
        time_error: float = 0.0,
    ) -> Scene:
        """Build a scene from flat arrays, the layout of ``msg/ObstacleArray``.

        Parameters
        ----------
        offsets : array_like of int, shape (n + 1,)
            Points of obstacle i are [offsets[i], offsets[i + 1]); empty for no obstacle.
        xy : array_like, shape (2 m,) or (m, 2)
            Points [m].
        ids : array_like of int, shape (n,), optional
            Obstacle ids; the indices where left out.
        kinds : array_like of int, shape (n,), optional
            0: the hull of the points (default), 1: a concave outline.
        radius : array_like, shape (n,), optional
            Radius about each [m].
        poses : array_like, shape (3 n,) or (n, 3), optional
            x y yaw of each [m, m, rad]; left out, the points are where they are.
        velocities : array_like, shape (3 n,) or (n, 3), optional
            As for `Scene`.
        path_offsets : array_like of int, shape (n + 1,), optional
            The path of obstacle i is [path_offsets[i], path_offsets[i + 1]).
        path_times : array_like, shape (p,), optional
            Per path rising [s after the stamp].
        path_poses : array_like, shape (3 p,) or (p, 3), optional
            x y yaw per path time [m, m, rad].
        stamps, prediction, horizon, time_error
            As for `Scene`.
        concave_policy : {'decompose', 'hull', 'reject'}
            What is made of kind 1 outlines that are concave.

        Raises
        ------
        InputError
            Naming the field, the index and the rule that it breaks.
        """
        scene = cls.__new__(cls)
        policy = as_choice(concave_policy, ("decompose", "hull", "reject"), "concave_policy")
        scene._prediction = (
            _checked_policy(prediction),
            as_number(horizon, "horizon"),
            as_number(time_error, "time_error"),
        )
        arrays = flat_arrays(
            offsets, xy, kinds, radius, poses,
            velocities, path_offsets, path_times, path_poses, stamps, *scene._prediction,
        )  # fmt: skip
        scene._core = _core.scene_from_arrays(*arrays, getattr(_core.ConcavePolicy, policy))
        scene._id_of = _checked_ids(ids, len(scene._core))
        return scene

    def updated(
        self,
        indices: ArrayLike,
        poses: ArrayLike | None = None,
        shapes: Sequence[Shape] | None = None,
        velocities: ArrayLike | None = None,
        paths: Paths | None = None,
        *,
        stamps: ArrayLike | None = None,
    ) -> Scene:
        """Return the scene with some obstacles changed; this one stays as it is.

        Cheaper than a new scene: the arrangement of the obstacles is kept while it is good. What
        is said of the motion of these obstacles replaces what was said before.

        Parameters
        ----------
        indices : array_like of int, shape (m,)
            The obstacles that change, each once.
        poses : array_like, shape (m, 3), optional
            Where they are now [m, m, rad]; where they were, if left out.
        shapes : sequence of m Shape, optional
            What they are now.
        velocities, paths, stamps
            As for `Scene`, for these m.

        Raises
        ------
        InputError
            Naming the argument, the index and the rule that it breaks.
        """
        changed = as_integers(indices, "indices", np.int64, 0)
        said = _said(len(changed), velocities, paths, stamps, *self._prediction)
        scene = type(self).__new__(type(self))
        scene._id_of, scene._prediction = self._id_of, self._prediction
        with _paths_named(said):
            scene._core = self._core.updated(
                changed,
                None if poses is None else as_floats(poses, "poses", 3),
                None if shapes is None else _cores(shapes),
                said,
            )
        return scene

    def __len__(self) -> int:
        """Return the number of obstacles."""
        return len(self._core)

    @property
    def nbytes(self) -> int:
        """Memory that the kernel holds for it [bytes]; some is shared with its `updated` kin."""
        return self._core.bytes

    @property
    def ids(self) -> NDArray[np.int64]:
        """Obstacle ids, shape (n,), read-only."""
        return self._id_of[:-1]

    def check(
        self,
        shape: Shape,
        poses: ArrayLike,
        times: ArrayLike | None = None,
        *,
        margin: float = 0.0,
        mode: Mode = "collide",
        stop_at_first: bool = False,
        threads: int = 1,
        warm_start: bool = True,
    ) -> CheckResult:
        """Answer for `shape` at every pose; other Python threads run meanwhile.

        Parameters
        ----------
        shape : Shape
            The ego footprint in its base frame.
        poses : array_like, shape (n, 3)
            x [m], y [m], yaw [rad]; at least one.
        times : array_like, shape (n,), optional
            When each pose is taken [s, on the clock of the obstacles' stamps]: it meets the
            obstacles where they are then. A pose at which the place of any of them is not known
            is UNKNOWN, PREDICTION_TOO_SHORT, unless it certainly hits another. Left out, all
            stand still.
        margin : float
            Clearance demanded [m], >= 0: 0 < distance <= margin is MARGIN, which is not free.
        mode : {'collide', 'distance', 'witness'}
            How much is computed; the verdicts are the same in each.
        stop_at_first : bool
            Leave the poses after the first that is not FREE UNKNOWN.
        threads : int
            How many share the poses; the answers are the same. 0: as many as the machine has.
        warm_start : bool
            In modes 'distance' and 'witness', look first at the obstacle that was nearest to
            the pose before. The answers are the same, faster for poses near each other.

        Returns
        -------
        CheckResult

        Raises
        ------
        InputError
            EMPTY_REQUEST for no pose; NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        placed = _checked_poses(poses)
        found = self._asked(
            instance(shape, Shape, "shape"),
            placed,
            _one_each(times, len(placed), "times", 0),
            as_number(margin, "margin"),
            mode_number(mode),
            as_flag(stop_at_first, "stop_at_first"),
            thread_count(threads),
            as_flag(warm_start, "warm_start"),
        )
        return CheckResult(
            is_free=found["first_invalid"] == -1,
            verdict=_VERDICTS[found["worst"]],
            verdicts=found["verdicts"],
            statuses=found["statuses"],
            distances=found["distances"],
            lower_bounds=found["lower_bounds"],
            nearest_ids=self._ids_of(found["nearest"]),
            nearest_indices=found["nearest"],
            witnesses=found["witnesses"] if mode == "witness" else None,
            first_invalid_index=found["first_invalid"],
        )

    def _asked(
        self,
        shape: Shape,
        poses: NDArray[np.float64],
        times: NDArray[np.float64],
        margin: float,
        mode: int,
        stop_at_first: bool,
        threads: int = 1,
        warm_start: bool = True,
    ) -> dict[str, Any]:
        """Return what the kernel answers, with the invariant of its bounds kept."""
        found: dict[str, Any] = self._core.check(
            shape._core, poses, times, margin, mode, stop_at_first, threads, warm_start
        )
        if not found["least_free_bound"] >= margin:
            verdicts = found["verdicts"]
            bounds = found["lower_bounds"]
            INVARIANT.keep(verdicts, found["statuses"], bounds, margin, has_bounds=mode > 0)
            found["first_invalid"] = int(np.argmax(verdicts != Verdict.FREE))
            is_hit = (verdicts == Verdict.COLLISION).any()
            found["worst"] = int(Verdict.COLLISION if is_hit else Verdict.UNKNOWN)
        return found

    def is_free(
        self, shape: Shape, pose: Pose, *, time: float | None = None, margin: float = 0.0
    ) -> bool:
        """Tell whether `shape` is certified free at one pose: the verdict of `check`, sooner.

        For a planner that asks pose by pose. COLLISION, MARGIN and UNKNOWN are all not free.

        Parameters
        ----------
        shape, pose, time
            As for `nearest`.
        margin : float
            Clearance that the distance must exceed [m], >= 0.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, INVALID_INPUT, ARRAY_MISMATCH.
        """
        try:
            return self._core.is_free(shape._core, pose, time, margin)  # type: ignore[arg-type]
        except (AttributeError, TypeError):  # of another kind: which one is looked for only now
            return self._core.is_free(
                instance(shape, Shape, "shape")._core,
                as_vector(pose, "pose"),
                None if time is None else as_number(time, "time"),
                as_number(margin, "margin"),
            )

    def nearest(
        self,
        shape: Shape,
        pose: Pose,
        k: int = 1,
        max_distance: float = np.inf,
        *,
        time: float | None = None,
    ) -> NearestResult:
        """Return the nearest obstacles, by ascending distance.

        Parameters
        ----------
        shape : Shape
            The ego footprint in its base frame.
        pose : tuple of float
            Of it: x [m], y [m], yaw [rad].
        k : int
            How many, at most.
        max_distance : float
            Those whose lower bound is greater than this [m] are left out.
        time : float, optional
            When [s, on the clock of the obstacles' stamps]; left out, they stand still.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, INVALID_INPUT, ARRAY_MISMATCH; PREDICTION_TOO_SHORT where
            the place of any obstacle is not known at `time`.
        """
        count = as_whole(k, "k", 1)
        placed = as_vector(pose, "pose")
        at = None if time is None else as_number(time, "time")
        indices, distances, lower_bounds, witnesses, directions, statuses = self._core.nearest(
            instance(shape, Shape, "shape")._core,
            placed,
            at,
            count,
            as_number(max_distance, "max_distance"),
        )
        return NearestResult(
            indices=indices,
            ids=self._ids_of(indices),
            distances=distances,
            lower_bounds=lower_bounds,
            witness_shape=witnesses[:, :2],
            witness_obstacle=witnesses[:, 2:],
            directions=directions,
            statuses=statuses,
        )

    def check_path(
        self,
        shape: Shape,
        poses: ArrayLike,
        times: ArrayLike | None = None,
        tolerance: float = 0.005,
        swept: bool = True,
        *,
        margin: float = 0.0,
    ) -> PathResult:
        """Answer for the way from pose to pose: straight, at constant speed, the shorter turn.

        Parameters
        ----------
        shape : Shape
            The ego footprint in its base frame.
        poses : array_like, shape (n, 3)
            x [m], y [m], yaw [rad]; one is a path of that pose alone.
        times : array_like, shape (n,), optional
            When each pose is reached [s], rising; left out, the obstacles stand still.
        tolerance : float
            What passes at up to margin + tolerance [m] may be called a hit; what is called free is
            free, however thin the obstacle and fast the motion.
        swept : bool
            False: look at the poses alone; the part before a pose that is not free ends at the
            pose before it.
        margin : float
            Clearance demanded [m], >= 0.

        Raises
        ------
        InputError
            EMPTY_REQUEST for no pose; NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.

        Notes
        -----
        Conservative advancement on certified lower bounds (B. Mirtich, 1996).
        """
        placed = _checked_poses(poses)
        at = _one_each(times, len(placed), "times", 0)
        finest = as_number(tolerance, "tolerance")
        if as_flag(swept, "swept"):
            found = self._core.check_path(
                instance(shape, Shape, "shape")._core,
                placed,
                at,
                as_number(margin, "margin"),
                finest,
            )
            index = int(found.pop("obstacle"))
            verdict = Verdict(found.pop("verdict"))
            if not INVARIANT.holds(verdict, found["min_distance_lower_bound"], margin):
                verdict = Verdict.UNKNOWN
                found.update(
                    status=Status.INTERNAL_ERROR, first_invalid_segment=0, last_valid_fraction=0.0
                )
            elif found["status"] == Status.INTERNAL_ERROR:
                INVARIANT.violations += 1  # found by the kernel itself
            return PathResult(
                is_free=verdict is Verdict.FREE,
                verdict=verdict,
                status=Status(found.pop("status")),
                obstacle_id=int(self._id_of[index]),
                obstacle_index=index,
                **found,
            )
        self._core.check_way(at, finest)
        each = self.check(shape, placed, times, margin=margin, mode="distance")
        first = each.first_invalid_index
        hits = np.flatnonzero(each.verdicts == Verdict.COLLISION)
        unsure = np.flatnonzero(
            (each.verdicts == Verdict.COLLISION) | (each.verdicts == Verdict.UNKNOWN)
        )
        worst = int(np.argmax(each.verdicts == each.verdict))
        end = hits[0] + 1 if len(hits) else None
        return PathResult(
            is_free=each.is_free,
            verdict=each.verdict,
            status=Status(int(each.statuses[worst])),
            first_invalid_segment=max(first - 1, 0) if first >= 0 else -1,
            last_valid_fraction=1.0 if first < 0 else 0.0,
            first_collision_time=float(at[unsure[0]]) if len(hits) and len(at) else np.nan,
            obstacle_id=int(each.nearest_ids[first]) if first >= 0 else -1,
            obstacle_index=int(each.nearest_indices[first]) if first >= 0 else -1,
            min_distance=float(each.distances[:end].min()),
            min_distance_lower_bound=float(each.lower_bounds[:end].min()),
        )

    def _ids_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._id_of.take(indices)


def flat_arrays(
    offsets: ArrayLike,
    xy: ArrayLike,
    kinds: ArrayLike | None,
    radius: ArrayLike | None,
    poses: ArrayLike | None,
    velocities: ArrayLike | None,
    path_offsets: ArrayLike | None,
    path_times: ArrayLike | None,
    path_poses: ArrayLike | None,
    stamps: ArrayLike | None = None,
    prediction: _core.PredictionPolicy = _core.PredictionPolicy.unknown_is_error,
    horizon: float = 0.0,
    time_error: float = 0.0,
) -> tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike, ArrayLike, _core.Said]:
    """Return the arguments of `Scene.from_arrays` with the types of the kernel's functions.

    The kernel checks the lengths and the values.
    """
    return (
        as_integers(offsets, "offsets", np.uint32, 0),
        as_floats(xy, "xy", 0, 2),
        as_integers(_or_empty(kinds), "kinds", np.uint8, 0),
        as_floats(_or_empty(radius), "radius", 0),
        as_floats(_or_empty(poses), "poses", 0, 3),
        _core.Said(
            as_floats(_or_empty(velocities), "velocities", 0, 3),
            as_floats(_or_empty(stamps), "stamps", 0),
            as_integers(_or_empty(path_offsets), "path_offsets", np.uint32, 0),
            as_floats(_or_empty(path_times), "path_times", 0),
            as_floats(_or_empty(path_poses), "path_poses", 0, 3),
            prediction,
            horizon,
            time_error,
        ),
    )


def mode_number(mode: str) -> int:
    """Return the kernel's number of a mode."""
    return _MODES[as_choice(mode, tuple(_MODES), "mode")]


def thread_count(threads: int) -> int:
    """Return how many threads to use; 0 asks the machine."""
    return min(as_whole(threads, "threads", 0) or os.cpu_count() or 1, 256)


def _checked_poses(poses: ArrayLike) -> NDArray[np.float64]:
    placed = as_floats(poses, "poses", 3)
    if placed.size == 0:
        raise InputError(Status.EMPTY_REQUEST, "poses", None, "must hold at least one pose")
    return placed


def _one_each(
    values: ArrayLike | None, count: int, argument: str, columns: int
) -> NDArray[np.float64]:
    """Return a row for each of `count`; none where they are left out, not where none are given."""
    if values is None:
        return _EMPTY
    rows = as_floats(values, argument, columns)
    if len(rows) != count:
        shape = f"(n, {columns})" if columns else "(n,)"
        rule = f"must have shape {shape} with n = {count} (got {rows.shape})"
        raise InputError(Status.ARRAY_MISMATCH, argument, None, rule)
    return rows


def _cores(shapes: Sequence[Shape]) -> list[_core.Shape]:
    cores = []
    for i, shape in enumerate(_listed(shapes, "shapes")):
        if not isinstance(shape, Shape):
            rule = f"must be a Shape (got {type(shape).__name__})"
            raise InputError(Status.INVALID_INPUT, "shapes", i, rule)
        cores.append(shape._core)
    return cores


def _listed(values: Sequence[T], argument: str) -> list[T]:
    """Return the members of a sequence."""
    try:
        return list(values)
    except TypeError:
        rule = f"must be a sequence (got {type(values).__name__})"
        raise InputError(Status.INVALID_INPUT, argument, None, rule) from None


def _checked_policy(prediction: str) -> _core.PredictionPolicy:
    names = "unknown_is_error", "constant_velocity", "hold"
    name = as_choice(prediction, names, "prediction")
    policy: _core.PredictionPolicy = getattr(_core.PredictionPolicy, name)
    return policy


def _said(
    count: int,
    velocities: ArrayLike | None,
    paths: Paths | None,
    stamps: ArrayLike | None,
    policy: _core.PredictionPolicy,
    horizon: float,
    time_error: float,
) -> _core.Said:
    """Flatten what is said of the motion of `count` obstacles."""
    offsets, all_times, all_poses = _NO_OFFSETS, [_EMPTY], [_EMPTY]
    if paths is not None:
        listed = _listed(paths, "paths")
        if len(listed) != count:
            rule = f"must hold a path or None for each of {count}"
            raise InputError(Status.ARRAY_MISMATCH, "paths", None, rule)
        for i, path in enumerate(listed):
            own_times, own_poses = _EMPTY, _EMPTY
            if path is not None:
                try:
                    times, poses = path
                except (TypeError, ValueError):
                    rule = f"must be None, or times and poses (got {short(path)})"
                    raise InputError(Status.INVALID_INPUT, "paths", i, rule) from None
                try:
                    own_times = as_floats(times, "times", 0)
                    own_poses = as_floats(poses, "poses", 3).ravel()
                except InputError as error:
                    rule = f"{error.argument}: {error.rule}"
                    raise InputError(error.status, "paths", i, rule) from None
            if len(own_poses) != 3 * len(own_times):
                rule = "must hold a pose (x, y, yaw) for each time"
                raise InputError(Status.ARRAY_MISMATCH, "paths", i, rule)
            all_times.append(own_times)
            all_poses.append(own_poses)
        offsets = np.cumsum([len(own) for own in all_times]).astype(np.uint32)
    return _core.Said(
        _one_each(velocities, count, "velocities", 3),
        _one_each(stamps, count, "stamps", 0),
        offsets,
        np.concatenate(all_times),
        np.concatenate(all_poses),
        policy,
        horizon,
        time_error,
    )


@contextmanager
def _paths_named(said: _core.Said) -> Iterator[None]:
    """Name the path of what is refused of the times and poses of all."""
    try:
        yield
    except InputError as error:
        if error.index is None or error.argument not in ("path_times", "path_poses"):
            raise
        ends = said.path_offsets
        i = int(np.searchsorted(ends, error.index, side="right")) - 1
        name = error.argument.removeprefix("path_")
        rule = f"{name}[{error.index - int(ends[i])}]: {error.rule}"
        raise InputError(error.status, "paths", i, rule) from None


def _or_empty(values: ArrayLike | None) -> ArrayLike:
    return _EMPTY if values is None else values


def _checked_ids(ids: ArrayLike | None, count: int) -> NDArray[np.int64]:
    """Ids by index, and -1 in the last place: that of index -1, none."""
    if ids is None:
        checked = np.arange(count, dtype=np.int64)
    else:
        checked = as_integers(ids, "ids", np.int64).astype(np.int64)
    if checked.shape != (count,):
        rule = f"must hold one id for each of {count} obstacles (got {checked.shape})"
        raise InputError(Status.ARRAY_MISMATCH, "ids", None, rule)
    checked = np.append(checked, -1)
    checked.setflags(write=False)
    return checked
