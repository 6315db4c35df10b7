# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of obstacles, and collision and distance queries of one shape against them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..arguments import (
    as_bool,
    as_choice,
    as_floats,
    as_integer,
    as_integers,
    as_number,
    as_poses,
    as_rows_of,
    as_vector,
    located,
    located_in,
    renamed,
)
from ..errors import InputError, refuse
from ..formats import svg
from ..formats.figures import OBSTACLE, place
from ..geometry import ConcavePolicy, PoseLike, Shape, cores
from ..path import Path
from ..region import Region
from ..results import (
    CheckResult,
    ContactResult,
    CriticalityResult,
    GradientResult,
    NearestResult,
    PathResult,
    PathsResult,
    RayCastResult,
    TimeToCollisionResult,
)
from ..verdict import Status, Verdict
from .arguments import (
    EMPTY,
    Mode,
    PathMode,
    Paths,
    PredictionPolicy,
    as_rows,
    as_vehicles,
    at_each,
    check_entries,
    checked_ids,
    checked_poses,
    checked_prediction,
    checked_region,
    checked_seen,
    checked_times,
    checked_trajectories,
    checked_which,
    core_of,
    errors_of_paths,
    finite_time,
    flat_arrays,
    is_many,
    lacks_motion,
    mode_number,
    reported_motion,
    shaped,
    thread_count,
    timed_trajectories,
    twists_along,
)

if TYPE_CHECKING:
    from ..certificate import FreeCertificate

__all__ = ["Mode", "PredictionPolicy", "Scene", "flat_arrays", "mode_number", "thread_count"]

_MARGINS = 4  # their place in `_core.state_of_scene`
_VERDICTS = tuple(Verdict)  # _VERDICTS[n] is faster than Verdict(n)


class Scene:
    """Immutable set of obstacles, at rest or in motion. Several threads may query it at once.

    Parameters
    ----------
    shapes : Shape or sequence of Shape
        The n obstacles; or one Shape, which is placed at each of the n `poses`. A scene without
        obstacles is free everywhere.
    poses : array_like, shape (n, 3), optional
        Pose of each obstacle: x [m], y [m], yaw [rad]. Default: zeros.
    ids : array_like of int, shape (n,), optional
        Ids that results report. Default: the indices of the obstacles.
    velocities : array_like, shape (n, 3), optional
        vx, vy [m/s] in the frame in which the poses are given, and wz [rad/s] about the origin of
        the shape. NaN: unknown. Zeros: the obstacle never moves.
    paths : sequence of n paths, optional
        Predicted path of each obstacle: None, or a pair (times, poses). Times have shape (m,) and
        are seconds after the stamp, >= 0 and strictly increasing. Poses have shape (m, 3): x [m],
        y [m], yaw [rad]. The obstacle starts at its pose in `poses`. Between two poses, it moves
        in a straight line with constant velocity and takes the shorter rotation. If an obstacle
        has a path, its velocity is used only as described in the notes.
    stamps : array_like, shape (n,), optional
        Time of each pose [s], on the same clock as the `times` of queries. Default: zeros.
    margins : array_like, shape (n,), optional
        Distance [m], >= 0, that each obstacle requires in addition to the margin of a query.
        Default: zeros. See the notes.
    margin_rates : array_like, shape (n,), optional
        Growth of this distance per second of prediction [m/s], >= 0, for queries with times.
        Default: zeros.
    lifetimes : array_like, shape (n, 2), optional
        First and last time at which each obstacle exists [s], on the clock of the stamps. NaN: no
        limit on that side. Default: the obstacles always exist. See the notes.
    inside : Region, optional
        The region in which the vehicle must stay. Default: there is no such limit. See the notes.
    seen : Region or sequence of Region, optional
        What sensors have seen: the union of the regions, for example of `seen_by_scan` and
        `seen_by_grid`. Default: everything, so that space which no sensor has seen counts as free.
        See the notes.
    prediction : {'unknown_is_error', 'constant_velocity', 'hold'}
        How to predict an obstacle after the end of its path, or if it has neither path nor
        velocity. See the notes.
    horizon : float
        Obstacles with a path, or with a velocity other than zero, are predicted up to this time
        after the stamp [s], >= 0.
    time_error : float
        Maximum error of the stamps and of the times of queries [s], >= 0, for example from
        conversion from nanoseconds. All bounds include it. Distances may be greater than the true
        ones by a few times the movement of an obstacle in this time; `lower_bounds` are not. At
        the first and at the last time at which an obstacle is known, the true time may be outside
        by `time_error`. There the obstacle is where it can be after moving for this time, with the
        velocity that it has at the first or last time. If that velocity is not known, it counts as
        zero.
    threads : int
        Number of threads that make the scene, at most 256. 0: one per processor. The scene is the
        same for any number.

    Raises
    ------
    InputError
        Names the argument, the index and the rule that is broken.

    Notes
    -----
    Queries without times use `poses`. Queries with times are refused if the scene was made with
    obstacles, but with neither `velocities` nor `paths`, and not with ``prediction="hold"``.
    Otherwise, `prediction` means for them:

    - 'unknown_is_error': after the end of its path, the pose of an obstacle is not known. The
      pose of an obstacle with neither path nor velocity is known only at the stamp.
    - 'constant_velocity': after the end of its path, an obstacle continues with the velocity of
      the last segment. If its path is a single pose at the stamp, it continues with its velocity
      from `velocities`. The pose of an obstacle with neither path nor velocity is known only at
      the stamp.
    - 'hold': after the end of its path, an obstacle stays where it is. An obstacle with neither
      path nor velocity never moves.

    The required distance to obstacle i is ``margin + margins[i]`` for queries without times, and
    ``margin + margins[i] + margin_rates[i] * max(0, t - stamps[i] + time_error)`` at the time t,
    rounded up. If an obstacle is nearer than its required distance without contact, the verdict is
    MARGIN. FREE means that the distance to every obstacle is greater than its required distance.
    Distances, lower bounds, closest points and the order of `nearest` are those of the true
    shapes. Therefore, the obstacle that causes MARGIN need not be the nearest one. If the required
    distances could exceed 1e15 m, the verdict is UNKNOWN with COORD_RANGE, or COLLISION.

    An obstacle with `lifetimes` has no effect on queries with times before and after them. At both
    limits, and within `time_error` of them, it exists. Its motion need not be known while it does
    not exist. If its path ends before its lifetime, by not more than twice `time_error` and
    rounding, the path is continued to the end of the lifetime; the same applies to the start.
    Queries without times ignore `lifetimes`: all obstacles are at `poses`, each at its own stamp.

    If `inside` is given, its outside counts as one more obstacle in all queries. It never moves
    and has no margin of its own. Results report it with the id `OUTSIDE` and the index n. For
    a vehicle in the region, the distance is that to the boundary. Otherwise, the verdict is
    COLLISION, and the distance is minus the largest distance of a point of the vehicle to the
    region, as far as the search found it. The lower bound also covers all other points.

    If `seen` is given, a vehicle is FREE or MARGIN only where all of its points, and all points
    within the margin of the query, are certainly in one of the regions. Otherwise the verdict is
    UNKNOWN with NOT_SEEN, unless it is COLLISION. The free part of a path ends where the vehicle
    leaves what was seen. Times do not matter: space that was seen stays seen. `margins` of
    obstacles do not count for this. Distances and `nearest` are those of the obstacles;
    `time_to_collision` and `ray_cast` ignore `seen`. The kernel divides the vehicle into pieces
    that are each in one of the regions, down to a size of 4 mm. Where two regions overlap by less,
    it may say NOT_SEEN without need.
    """

    __slots__ = ("_core", "_id_of", "_region", "_prediction", "_lacks_motion", "_seen")  # noqa: RUF023

    def __init__(
        self,
        shapes: Shape | Sequence[Shape],
        poses: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        paths: Paths | None = None,
        *,
        stamps: ArrayLike | None = None,
        margins: ArrayLike | None = None,
        margin_rates: ArrayLike | None = None,
        lifetimes: ArrayLike | None = None,
        inside: Region | None = None,
        seen: Region | Sequence[Region] | None = None,
        prediction: PredictionPolicy = "unknown_is_error",
        horizon: float = 5.0,
        time_error: float = 0.0,
        threads: int = 1,
    ) -> None:
        region, known = checked_region(inside), checked_seen(seen)
        said = checked_prediction(prediction, horizon, time_error)
        placed = None if poses is None else as_floats(poses, "poses", 3)
        if isinstance(shapes, Shape):
            if placed is None:
                refuse(
                    "shapes",
                    "must be a sequence (got Shape): pass a list of shapes, or the poses at which "
                    "this Shape is placed",
                )
            listed = [shapes._core]
            count = len(placed)
        else:
            listed = cores(shapes)
            count = len(listed)
        reported = reported_motion(
            count, velocities, paths, stamps, margins, margin_rates, lifetimes, *said
        )
        workers = thread_count(threads)
        with errors_of_paths(reported):
            core = _core.scene_from_shapes(listed, count, placed, reported, region, workers)
        self._core, self._id_of = core, checked_ids(ids, count, inside)
        self._region, self._prediction = inside, said
        self._lacks_motion = lacks_motion(said[0], velocities, paths)
        self._see(known)

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
        margins: ArrayLike | None = None,
        margin_rates: ArrayLike | None = None,
        lifetimes: ArrayLike | None = None,
        inside: Region | None = None,
        seen: Region | Sequence[Region] | None = None,
        concave_policy: ConcavePolicy = "decompose",
        prediction: PredictionPolicy = "unknown_is_error",
        horizon: float = 5.0,
        time_error: float = 0.0,
        threads: int = 1,
    ) -> Scene:
        """Return a scene of n obstacles from flat arrays, in the layout of ``msg/ObstacleArray``.

        Parameters
        ----------
        offsets : array_like of int, shape (n + 1,)
            Obstacle i has the points with the indices offsets[i] to offsets[i + 1] - 1. Empty: no
            obstacles.
        xy : array_like, shape (2 m,) or (m, 2)
            x, y of all points [m].
        ids : array_like of int, shape (n,), optional
            Ids that results report. Default: the indices of the obstacles.
        kinds : array_like of int, shape (n,), optional
            0: convex hull of the points, 1: outline that may be concave. Default: zeros.
        radius : array_like, shape (n,), optional
            Radius of each obstacle [m], >= 0. Default: zeros.
        poses : array_like, shape (3 n,) or (n, 3), optional
            x, y, yaw of each obstacle [m, m, rad]. Default: zeros.
        velocities : array_like, shape (3 n,) or (n, 3), optional
            As for `Scene`.
        path_offsets : array_like of int, shape (n + 1,), optional
            The path of obstacle i has the times and poses with the indices path_offsets[i] to
            path_offsets[i + 1] - 1.
        path_times : array_like, shape (p,), optional
            Times of all paths [s after the stamp], >= 0, strictly increasing for each obstacle.
        path_poses : array_like, shape (3 p,) or (p, 3), optional
            x, y, yaw at each path time [m, m, rad].
        stamps, margins, margin_rates, inside, seen, prediction, horizon, time_error, threads
            As for `Scene`.
        lifetimes : array_like, shape (2 n,) or (n, 2), optional
            As for `Scene`.
        concave_policy : {'decompose', 'hull', 'reject'}
            How to handle concave outlines of kind 1: split them into convex parts, take their
            hull, or refuse them.

        Raises
        ------
        InputError
            Names the argument, the index and the rule that is broken.
        """
        region, known = checked_region(inside), checked_seen(seen)
        policy = as_choice(concave_policy, ("decompose", "hull", "reject"), "concave_policy")
        said = checked_prediction(prediction, horizon, time_error)
        arrays = flat_arrays(
            offsets, xy, kinds, radius, poses,
            velocities, path_offsets, path_times, path_poses, stamps, margins, margin_rates,
            lifetimes, *said,
        )  # fmt: skip
        core = _core.scene_from_arrays(
            *arrays, getattr(_core.ConcavePolicy, policy), region, thread_count(threads)
        )
        lacks = lacks_motion(said[0], velocities, path_times)
        scene = cls._made(core, checked_ids(ids, len(core), inside), inside, said, lacks)
        return scene._see(known)

    def updated(
        self,
        indices: ArrayLike,
        poses: ArrayLike | None = None,
        shapes: Sequence[Shape] | None = None,
        velocities: ArrayLike | None = None,
        paths: Paths | None = None,
        *,
        stamps: ArrayLike | None = None,
        margins: ArrayLike | None = None,
        margin_rates: ArrayLike | None = None,
        lifetimes: ArrayLike | None = None,
    ) -> Scene:
        """Return a scene in which some obstacles are changed. This scene does not change.

        This is faster than a new scene, because the search tree is rebuilt only if it has become
        inefficient.

        Parameters
        ----------
        indices : array_like of int, shape (m,)
            Indices of the changed obstacles, without repetition.
        poses : array_like, shape (m, 3), optional
            New poses [m, m, rad]. Default: the old poses.
        shapes : sequence of m Shape, optional
            New shapes. Default: the old shapes.
        velocities, paths, stamps, lifetimes
            As for `Scene`, for the m changed obstacles. Their old values are not kept: if an
            argument is not given, it has the same default as for `Scene`. Then the motion of
            these obstacles is not known, unless the scene has ``prediction="hold"``, and they
            exist at all times.
        margins, margin_rates : array_like, shape (m,), optional
            New margins [m] and their growth [m/s], as for `Scene`. Default: the old values.

        Raises
        ------
        InputError
            Names the argument, the index and the rule that is broken.
        """
        changed = as_integers(indices, "indices", np.int64, 0)
        reported = reported_motion(
            len(changed), velocities, paths, stamps, margins, margin_rates, lifetimes,
            *self._prediction,
        )  # fmt: skip
        with errors_of_paths(reported):
            core = self._core.updated(
                changed,
                None if poses is None else as_floats(poses, "poses", 3),
                None if shapes is None else cores(shapes),
                reported,
            )
        lacks = self._lacks_motion and lacks_motion(self._prediction[0], velocities, paths)
        scene = self._made(core, self._id_of, self._region, self._prediction, lacks)
        scene._seen = self._seen
        return scene

    @classmethod
    def _composed(
        cls,
        messages: list[_core.PlacedObstacles],
        stamps: list[float],
        ids: NDArray[np.int64],
        inside: Region | None,
        prediction: PredictionPolicy,
        horizon: float,
        time_error: float,
    ) -> Scene:
        """Return a scene of the obstacles of several messages, each with its stamp [s]."""
        settings = checked_prediction(prediction, horizon, time_error)
        core = _core.compose(messages, stamps, checked_region(inside), time_error)
        return cls._made(core, checked_ids(ids, len(core), inside), inside, settings, False)

    def _see(self, seen: tuple[Region, ...] | None, names: Sequence[str] = ()) -> Scene:
        """Set what was seen, and by which sources; None: everything. Call it when it is made."""
        self._seen = seen
        if seen is not None:
            named = tuple(names) or ("",) * len(seen)
            self._core.see([(each._core, name) for each, name in zip(seen, named, strict=True)])
        return self

    @classmethod
    def _restored(
        cls,
        core: tuple[Any, ...],
        ids: NDArray[np.int64],
        inside: Region | None,
        seen: tuple[Region, ...] | None,
        lacks: bool,
        *prediction: Any,
    ) -> Scene:
        state = *core, checked_region(inside)
        restored = _core.scene_from_state(*state)
        id_of = checked_ids(ids, len(restored), inside)
        scene = cls._made(restored, id_of, inside, checked_prediction(*prediction), lacks)
        return scene._see(seen)

    @classmethod
    def _made(cls, *values: Any) -> Scene:
        """Return a scene with the values of `__slots__`, of which everything is seen."""
        scene = cls.__new__(cls)
        for name, value in zip(cls.__slots__, (*values, None), strict=True):
            setattr(scene, name, value)
        return scene

    def __reduce__(self) -> tuple[Callable[..., Scene], tuple[Any, ...]]:
        """Return what `pickle` needs."""
        policy, *limits = self._prediction
        said = self._seen, self._lacks_motion, policy.name, *limits
        return self._restored, (_core.state_of_scene(self._core), self.ids, self._region, *said)

    def __repr__(self) -> str:
        """Return the number of obstacles and of their convex parts."""
        return f"Scene({len(self)} obstacles, {self._core.parts} parts)"

    def _repr_svg_(self) -> str | None:
        """Return a picture of the obstacles and the region for notebooks.

        None for more than 20 000 vertices, and for an empty scene.
        """
        pairs = zip(self.shapes, self.poses, strict=True)
        placed = (place(ring, pose) for shape, pose in pairs for ring in shape._rings())
        layers = [] if self._region is None else [self._region._layer()]
        return svg.picture([*layers, svg.Layer(placed, OBSTACLE, OBSTACLE)], repr(self))

    def __len__(self) -> int:
        """Return the number of obstacles."""
        return len(self._core)

    @property
    def nbytes(self) -> int:
        """Memory of the scene in the kernel [bytes]. `updated` scenes may share a part of it."""
        return self._core.bytes

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The obstacles, in their own frames. They are copied from the kernel at each call."""
        return tuple(Shape(_core.obstacle(self._core, i)) for i in range(len(self)))

    @property
    def poses(self) -> NDArray[np.float64]:
        """A copy of the poses of the obstacles, shape (n, 3): x [m], y [m], yaw [rad]."""
        return _core.poses_of(self._core, None)

    @property
    def ids(self) -> NDArray[np.int64]:
        """Obstacle ids, shape (n,), read-only."""
        return self._id_of[: len(self)]

    @property
    def inside(self) -> Region | None:
        """The region in which the vehicle must stay."""
        return self._region

    @property
    def seen(self) -> tuple[Region, ...] | None:
        """What sensors have seen: the union of these regions; None: everything."""
        return self._seen

    def poses_at(self, time: float) -> NDArray[np.float64]:
        """Return the poses of the obstacles at a time, rounded, for example to draw them.

        Parameters
        ----------
        time : float
            Time [s], on the clock of `stamps`.

        Returns
        -------
        ndarray, shape (n, 3)
            x [m], y [m], yaw [rad] of each obstacle. NaN: its pose is not known at this time, or
            it does not exist.

        Raises
        ------
        InputError
            NON_FINITE, INVALID_INPUT.
        """
        return _core.poses_of(self._core, finite_time(time))

    def exist_at(self, time: float) -> NDArray[np.bool_]:
        """Return whether each obstacle exists at a time, by its lifetime, shape (n,).

        Parameters
        ----------
        time : float
            Time [s], on the clock of `stamps`.

        Raises
        ------
        InputError
            NON_FINITE, INVALID_INPUT.
        """
        return _core.exist_at(self._core, finite_time(time))

    def check(
        self,
        shape: Shape | Sequence[Shape],
        poses: ArrayLike,
        times: ArrayLike | None = None,
        *,
        which: ArrayLike | None = None,
        margin: float = 0.0,
        mode: Mode = "collide",
        stop_at_first: bool = False,
        threads: int = 1,
    ) -> CheckResult:
        """Check a shape against the obstacles at each of many poses.

        Other Python threads can run during the computation.

        Parameters
        ----------
        shape : Shape or sequence of Shape
            The vehicle, in its base frame; or several, of which `which` selects one per pose.
        poses : array_like, shape (..., 3)
            Poses of the base frame: x [m], y [m], yaw [rad]; at least one. For example, (n, 3) are
            n poses, and (K, T, 3) are K trajectories of T poses.
        times : array_like, shape (...) or (T,), optional
            Time of each pose [s], on the clock of the stamps of the obstacles. If the shape is
            (T,), all trajectories have the same times. Each pose is
            checked against the obstacles at their predicted poses. If the pose of any obstacle is
            not known at that time, the verdict is UNKNOWN with PREDICTION_TOO_SHORT, unless the
            vehicle certainly collides with another obstacle. Default: the obstacles do not move.
        which : array_like of int, optional
            Index in `shape` of the vehicle at each pose, broadcast to the shape (...). Required
            if `shape` is a sequence of several.
        margin : float
            Required distance [m], >= 0. If 0 < distance <= margin, the verdict is MARGIN, which is
            not free. The `margins` of the scene are added to it.
        mode : {'collide', 'distance', 'witness'}
            'collide': compute verdicts only. 'distance': also distances and lower bounds.
            'witness': also closest points. The verdicts are the same in all modes.
        stop_at_first : bool
            Stop at the first pose of a trajectory that is not FREE. The poses of this trajectory
            after it are UNKNOWN.
        threads : int
            Number of threads, at most 256. 0: one per processor. The result is the same for any
            number.

        Returns
        -------
        CheckResult

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.
        """
        self._check_timed(times)
        placed = as_poses(poses, "poses")
        leading = placed.shape[:-1]
        vehicles = as_vehicles(shape)
        at = checked_times(times, leading)
        try:
            worst, first, *arrays = self._core.check(
                vehicles,
                placed,
                at_each(at, leading),
                as_number(margin, "margin"),
                mode_number(mode),
                as_bool(stop_at_first, "stop_at_first"),
                thread_count(threads),
                checked_which(which, len(vehicles), leading),
            )
        except InputError as error:  # faster than `located_in`
            raise located(error, poses=leading, times=at.shape) from None
        if not leading:
            arrays = [None if each is None else each[()] for each in arrays]
        verdicts, statuses, distances, lower_bounds, indices, witnesses, directions = arrays
        return CheckResult._of(
            {
                "is_free": first == -1,
                "verdict": _VERDICTS[worst],
                "verdicts": verdicts,
                "statuses": statuses,
                "distances": distances,
                "lower_bounds": lower_bounds,
                "_id_of": self._id_of,
                "indices": indices,
                "witnesses": witnesses,
                "directions": directions,
                "first_invalid_index": first,
            }
        )

    def is_free(
        self, shape: Shape, pose: PoseLike, time: float | None = None, *, margin: float = 0.0
    ) -> bool:
        """Return whether `shape` is certified free at one pose.

        This is the verdict of `check`, computed faster, for planners that check one pose at a
        time. COLLISION, MARGIN and UNKNOWN all return False.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        pose : (x, y, yaw)
            Pose of the base frame [m, m, rad].
        time : float, optional
            Time of the pose [s], on the clock of the stamps of the obstacles. Default: the
            obstacles do not move.
        margin : float
            Required distance [m], >= 0: the distance must be greater.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        self._check_timed(time, "time")
        try:
            return self._core.is_free(shape._core, pose, time, margin)  # type: ignore[arg-type]
        except (AttributeError, TypeError):  # convert the arguments, or name the invalid one
            return self._core.is_free(
                core_of(shape),
                as_vector(pose, "pose"),
                None if time is None else as_number(time, "time"),
                as_number(margin, "margin"),
            )

    def certify(self, shape: Shape, pose: PoseLike, margin: float = 0.0) -> FreeCertificate | None:
        """Return a proof that a pose is free, which can be checked without the kernel.

        It takes milliseconds, and more for scenes of many obstacles. `check` does not compute it.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        pose : (x, y, yaw)
            Pose of the base frame [m, m, rad].
        margin : float
            Required distance [m], >= 0. The `margins` of the scene are added to it.

        Returns
        -------
        FreeCertificate or None
            None: the verdict of `check` is not FREE, or the directions that the kernel proposes
            do not prove it. This may happen if the gap is near the rounding errors.

        Raises
        ------
        InputError
            The errors of `check`. INVALID_INPUT: the scene has `inside` or `seen`.
        """
        if self._region is not None:
            refuse("inside", "must be None for a certificate, which is about obstacles only")
        if self._seen is not None:
            refuse("seen", "must be None for a certificate, which is about obstacles only")
        from ..certificate import certified  # a planner that does not certify loads no fractions

        at, margin = np.array(as_vector(pose, "pose")), as_number(margin, "margin")
        if not self.is_free(shape, at, margin=margin):
            return None
        own = _core.state_of_scene(self._core)[_MARGINS]
        # The sum is rounded up, as that of the kernel.
        required = np.where(own > 0.0, np.nextafter(own + margin, np.inf), margin)
        return certified(shape, at, self.shapes, self.poses, self.ids, required)

    def nearest(
        self,
        shape: Shape,
        pose: PoseLike | ArrayLike,
        k: int = 1,
        max_distance: float = np.inf,
        *,
        time: ArrayLike | None = None,
        threads: int = 1,
    ) -> NearestResult:
        """Return the nearest obstacles at one or many poses, sorted by distance.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        pose : array_like, shape (3,) or (..., 3)
            Pose or poses of the base frame: x [m], y [m], yaw [rad].
        k : int
            Maximum number of obstacles at each pose, >= 1. For many poses: at most the largest of
            100, the number of obstacles, and 1 000 000 / number of poses.
        max_distance : float
            Maximum distance [m], >= 0. Obstacles whose lower bound of the distance is greater are
            left out.
        time : float, or array_like, shape (...) or (T,), optional
            Time of the pose [s], on the clock of the stamps of the obstacles. For many poses: one
            time for all, or one for each as for `check`. Default: the obstacles do not move.
        threads : int
            Number of threads for many poses, at most 256. 0: one per processor.

        Returns
        -------
        NearestResult
            For poses of shape (..., 3), its arrays have the shape (..., k) instead of (n,). After
            the last obstacle, there are the id -1 and NaN.

        Raises
        ------
        InputError
            PREDICTION_TOO_SHORT: the pose of an obstacle is not known at `time`. LIMIT_EXCEEDED:
            `k` is too large for many poses. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.
        """
        self._check_timed(time, "time")
        count = as_integer(k, "k", 1)
        if is_many(pose):
            return self._nearest_at_each(shape, pose, count, max_distance, time, threads)
        thread_count(threads)
        at = None if time is None else as_number(time, "time")  # type: ignore[arg-type]
        placed, most = as_vector(pose, "pose"), as_number(max_distance, "max_distance")
        answer = self._core.nearest(core_of(shape), placed, at, count, most)
        return self._nearest_result(answer)

    def _nearest_at_each(
        self,
        shape: Shape,
        poses: ArrayLike,
        k: int,
        max_distance: float,
        time: ArrayLike | None,
        threads: int,
    ) -> NearestResult:
        placed = as_poses(poses, "pose")
        leading = placed.shape[:-1]
        check_entries(k, len(self), placed.size // 3)
        times = EMPTY
        if time is not None:
            given = as_floats(time, "time")
            if given.shape not in ((), leading, leading[-1:]):
                rule = f"must be one number or have shape {leading} (got shape {given.shape})"
                refuse("time", rule, status=Status.ARRAY_MISMATCH)
            times = np.broadcast_to(given, leading).reshape(-1)
        with located_in(pose=leading, time=leading), renamed(poses="pose", times="time"):
            answer = self._core.nearest_at_each(
                core_of(shape),
                placed.reshape(-1, 3),
                times,
                k,
                as_number(max_distance, "max_distance"),
                thread_count(threads),
            )
        return self._nearest_result(shaped(answer, (*leading, k)))

    def _nearest_result(self, answer: Sequence[NDArray[Any]]) -> NearestResult:
        indices, distances, lower_bounds, witnesses, directions, statuses = answer
        return NearestResult(
            indices=indices,
            ids=self._ids_of(indices),
            distances=distances,
            lower_bounds=lower_bounds,
            witness_shape=witnesses[..., :2],
            witness_obstacle=witnesses[..., 2:],
            directions=directions,
            statuses=statuses,
        )

    def ray_cast(
        self,
        origin: ArrayLike,
        directions: ArrayLike,
        max_distance: float = np.inf,
        *,
        tolerance: float = 1e-9,
        threads: int = 1,
    ) -> RayCastResult:
        """Return the first obstacle on each of many rays from one point.

        The obstacles do not move. Other Python threads can run during the computation.

        Parameters
        ----------
        origin : array_like, shape (2,)
            Start of the rays [m].
        directions : array_like, shape (..., 2)
            Directions of the rays. Their lengths must not be 0, and have no effect.
        max_distance : float
            Maximum length of the rays [m], >= 0.
        tolerance : float
            Tolerance [m], > 0: a ray that passes an obstacle within this distance may be reported
            as a hit.
        threads : int
            Number of threads, at most 256. 0: one per processor.

        Returns
        -------
        RayCastResult

        Raises
        ------
        InputError
            EMPTY_REQUEST: no direction is given. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.
        """
        rays = as_rows_of(directions, "directions", 2, "direction")
        leading = rays.shape[:-1]
        with located_in(directions=leading):
            answer = self._core.ray_cast(
                as_vector(origin, "origin", "x, y"),
                rays.reshape(-1, 2),
                as_number(max_distance, "max_distance"),
                as_number(tolerance, "tolerance"),
                thread_count(threads),
            )
        return RayCastResult(**self._first_hits("distances", answer, leading))

    def nearest_free(
        self,
        shape: Shape,
        pose: PoseLike,
        max_shift: float,
        max_turn: float = 0.0,
        *,
        margin: float = 0.0,
        time: float | None = None,
        tolerance: float = 0.001,
    ) -> NDArray[np.float64] | None:
        """Return the nearest pose that is FREE: that with the smallest shift.

        Of poses with equal shifts, it is the one with the smallest turn. The path to this pose is
        not checked: it may lead through obstacles.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        pose : (x, y, yaw)
            Pose of the base frame [m, m, rad].
        max_shift : float
            Maximum distance of the positions [m], >= 0.
        max_turn : float
            Maximum difference of the yaws [rad], >= 0.
        margin : float
            Margin [m], >= 0, as for `check`.
        time : float, optional
            Time of the pose [s], on the clock of the stamps of the obstacles. Default: the
            obstacles do not move.
        tolerance : float
            Resolution of the search [m], > 0.

        Returns
        -------
        ndarray, shape (3,), or None
            `check` says FREE at this pose. If `pose` is FREE, it is returned as it is. None: no
            free pose was found.

        Raises
        ------
        InputError
            PREDICTION_TOO_SHORT: the pose of an obstacle is not known at `time`. NON_FINITE,
            COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.

        Notes
        -----
        If a turn alone suffices, the shift is 0. Otherwise, the shift exceeds the smallest one by
        at most 0.1 % plus the tolerance. Free space that is narrower than four times the tolerance
        may be missed; with turns, than sixteen times. The search ends after 200 000 steps, or
        100 000 000 pairs of parts, and may then miss other free space. A turn is made only if it
        shortens the shift.
        """
        self._check_timed(time, "time")
        free_pose = self._core.nearest_free(
            core_of(shape),
            as_vector(pose, "pose"),
            as_number(max_shift, "max_shift"),
            as_number(max_turn, "max_turn"),
            as_number(margin, "margin"),
            None if time is None else as_number(time, "time"),
            as_number(tolerance, "tolerance"),
        )
        return None if free_pose is None else np.array(free_pose)

    def gradient(
        self,
        shape: Shape,
        poses: ArrayLike,
        times: ArrayLike | None = None,
        k: int = 1,
        *,
        threads: int = 1,
    ) -> GradientResult:
        """Return signed distances to the nearest obstacles, and derivatives by pose and time.

        Other Python threads can run during the computation.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        poses : array_like, shape (..., 3)
            Poses of the base frame: x [m], y [m], yaw [rad]; at least one.
        times : array_like, shape (...) or (T,), optional
            Time of each pose [s], as for `check`. If the pose of any obstacle is not known at that
            time, the status of the pose is PREDICTION_TOO_SHORT. Default: the obstacles do not
            move.
        k : int
            Number of obstacles at each pose, >= 1. At most the largest of 100, the number of
            obstacles, and 1 000 000 / number of poses.
        threads : int
            Number of threads, at most 256. 0: one per processor. The result is the same for any
            number.

        Returns
        -------
        GradientResult

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. LIMIT_EXCEEDED: `k` is too large. NON_FINITE,
            COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.

        Notes
        -----
        a and b are the closest points, c is the origin of the vehicle, and v is the velocity of
        the obstacle at b. n is the unit vector from a to b. In penetration, n is the direction of
        the smallest translation of the obstacle that separates the shapes. perp turns a vector by
        +90 degrees. The derivatives of the distance are -n by x and y, -n . perp(a - c) by yaw,
        and n . v by time. While the closest features do not change, they
        are exact (Lin and Canny, "A fast algorithm for incremental distance calculation", 1991).
        In contact, they are finite.
        """
        self._check_timed(times)
        count = as_integer(k, "k", 1)
        placed, leading = checked_trajectories(poses)
        check_entries(count, len(self), len(placed))
        at = checked_times(times, leading)
        with located_in(poses=leading, times=at.shape):
            *answer, statuses = self._core.gradient(
                core_of(shape), placed, at_each(at, leading), count, thread_count(threads)
            )
        distances, bounds, gradients, rates, indices, smooth = shaped(answer, (*leading, count))
        return GradientResult(
            distances=distances,
            lower_bounds=bounds,
            gradients=gradients,
            rates=rates,
            ids=self._ids_of(indices),
            smooth=smooth,
            statuses=statuses.reshape(leading)[()],
        )

    @overload
    def check_path(
        self,
        shape: Shape,
        poses: ArrayLike,
        times: ArrayLike | None = None,
        tolerance: float = 0.005,
        swept: bool = True,
        *,
        margin: float = 0.0,
        mode: PathMode = "distance",
        threads: int = 1,
    ) -> PathResult: ...
    @overload
    def check_path(
        self,
        shape: Shape,
        poses: Path,
        times: ArrayLike | None = None,
        tolerance: float = 0.005,
        swept: bool = True,
        *,
        margin: float = 0.0,
        mode: PathMode = "distance",
        threads: int = 1,
    ) -> PathResult | PathsResult: ...
    def check_path(
        self,
        shape: Shape,
        poses: ArrayLike | Path,
        times: ArrayLike | None = None,
        tolerance: float = 0.005,
        swept: bool = True,
        *,
        margin: float = 0.0,
        mode: PathMode = "distance",
        threads: int = 1,
    ) -> PathResult | PathsResult:
        """Check a shape against the obstacles along a path, also between its poses.

        FREE is certain, however thin the obstacles are, however fast the motion is, and however
        much the path is curved.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        poses : array_like, shape (n, 3), or Path
            Poses of the base frame: x [m], y [m], yaw [rad]; n >= 1. One pose is a valid path.
            Between two poses, the shape moves in a straight line with constant velocity and
            constant rate of turn, and takes the shorter rotation. Half a turn, up to rounding, is
            in the direction of the difference of the yaws: from 0 to pi to the left, from 0 to -pi
            to the right (`angles` of ROS makes pi of both). To choose the way, or to check both,
            add a pose in between. For curves, or for several paths in one call, pass a `Path`.
        times : array_like, shape (n,), optional
            Time of each pose [s], strictly increasing, on the clock of the stamps of the
            obstacles. Default: the obstacles do not move. For a `Path`, shape (2,): the times of
            its start and of its end. Its speed is then constant. Or shape (m + 1,), if all paths
            have m segments: the times of the start and of the end of each segment. For several
            paths of shape (...), also shape (..., 2) or (..., m + 1).
        tolerance : float
            Tolerance [m], > 0: if the shape passes an obstacle at a distance of up to margin +
            tolerance, the path may be reported as not free. If the scene has `margins`, this holds
            for the required distance of each obstacle. It should be at least ten times the
            error of the positions, which includes `time_error` of the scene times the speed.
            Otherwise the result can be UNKNOWN with NUMERIC_FAILURE, or not free without need.
        swept : bool
            False: check only at the poses. The free part of the path then ends at the pose before
            the first one that is not free. It must be True for a `Path`.
        margin : float
            Required distance [m], >= 0, as for `check`.
        mode : {'collide', 'distance'}
            'collide': several times faster, but `distance` and its lower bound are not
            computed. If the smallest distance is within `tolerance` of the margin, the verdict may
            differ between the modes.
        threads : int
            Number of threads for several paths. 0: one per processor. More than 256 are not used.

        Returns
        -------
        PathResult or PathsResult
            PathsResult for a `Path` whose shape is not ().

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.

        Notes
        -----
        Each part of the shape is compared with each part of the obstacles near the path. If both
        have thousands of parts, a segment takes seconds.

        Conservative advancement on certified lower bounds, see `time_of_impact`. On an arc, the
        bound includes the Taylor remainder of the position, ``v w t^2 / 2`` for a speed v and a
        rate of turn w.
        """
        core = core_of(shape)
        has_distance = as_choice(mode, ("collide", "distance"), "mode") == "distance"
        required = as_number(margin, "margin")
        options = (
            required,
            as_number(tolerance, "tolerance"),
            has_distance,
            thread_count(threads),
        )
        self._check_timed(times)
        is_swept = as_bool(swept, "swept")
        if isinstance(poses, Path):
            if not is_swept:
                refuse("swept", "must be True for a Path: pass Path.at(distances) to check poses")
            found = poses._check(self._core, core, times, *options)
            return self._paths_result(found, poses.shape)
        placed = checked_poses(poses)
        at = as_rows(times, len(placed), "times", 0)
        if is_swept:
            found = self._core.check_paths(core, placed, at, 1, *options)
        else:
            found = self._core.check_stops(core, placed, at, *options[:2])
        return self._paths_result(found, ())

    def first_contact(
        self,
        shape: Shape,
        poses: ArrayLike,
        times: ArrayLike,
        *,
        tolerance: float = 0.005,
        threads: int = 1,
    ) -> ContactResult:
        """Return the time of the first contact on each of K trajectories.

        The vehicle moves between the poses as described in `check_path`, and the obstacles are at
        their predicted poses. If the verdict is FREE, there is certainly no contact. If it is
        UNKNOWN, a contact is not excluded. MARGIN occurs only if the scene has `margins` or
        `margin_rates`: there is no contact, but a distance of at most the required one.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        poses : array_like, shape (K, T, 3)
            Poses of the base frame: x [m], y [m], yaw [rad]; K >= 1, T >= 1.
        times : array_like, shape (T,) or (K, T)
            Time of each pose [s], strictly increasing, on the clock of the stamps of the
            obstacles. If the shape is (T,), all trajectories have the same times.
        tolerance : float
            Tolerance [m], > 0: if the shape passes an obstacle at a distance of up to `tolerance`,
            this may be reported as a contact. It should be at least ten times the error of the
            positions, which includes `time_error` of the scene times the speed. Otherwise, the
            verdict near an obstacle may be UNKNOWN with NUMERIC_FAILURE.
        threads : int
            Number of threads, at most 256. 0: one per processor.

        Returns
        -------
        ContactResult

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.

        Notes
        -----
        Conservative advancement on certified lower bounds, see `time_of_impact`.
        """
        self._check_timed(times)
        placed, at, leading = timed_trajectories(poses, times)
        with located_in(poses=leading, times=at.shape):
            answer = self._core.check_paths(
                core_of(shape),
                placed,
                at,
                leading[0],
                0.0,
                as_number(tolerance, "tolerance"),
                True,
                thread_count(threads),
            )
        return ContactResult(
            times=answer["first_collision_times"],
            distances=answer["distances"],
            lower_bounds=answer["lower_bounds"],
            ids=self._ids_of(answer["indices"]),
            verdicts=answer["verdicts"],
            statuses=answer["statuses"],
        )

    def criticality(
        self,
        shape: Shape,
        poses: ArrayLike,
        times: ArrayLike,
        *,
        tolerance: float = 0.005,
        threads: int = 1,
    ) -> CriticalityResult:
        """Return how critical each of K trajectories is.

        The motions and the verdicts are those of `first_contact`. The verdict may differ if the
        smallest distance is within `tolerance` of the required one, or if the positions are less
        certain than a tenth of `tolerance`.

        Parameters
        ----------
        shape, poses, times, tolerance, threads
            As for `first_contact`.

        Returns
        -------
        CriticalityResult

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.

        Notes
        -----
        Deceleration rate to avoid a crash (DRAC): S. Almqvist, C. Hyden and R. Risser, "Use of
        speed limiters in cars for increased safety and a better environment", Transportation
        Research Record 1318, 1991; CommonRoad-CriMe: Y. Lin and M. Althoff, "CommonRoad-CriMe: A
        toolbox for criticality measures of autonomous vehicles", IV 2023. Here, the vehicle brakes
        on its own path: with the deceleration a, it has driven ``a (t - t0)**2 / 2`` less at the
        time t than on the given trajectory, where t0 is the time of the first pose. When its speed
        has fallen to 0, it stands until the last time. Its speed is that of the origin of its base
        frame: a turn on the spot is a stop. The search is a bisection. It begins at the closing
        speed divided by twice the time to collision. With the returned deceleration, there is
        certainly no contact until the last time. With one that is about 3 % smaller, this was not
        proven; values below 0.01 m/s2 are not tried. A smaller one may still avoid all contacts,
        if the vehicle can pass in front of an obstacle.

        Post-encroachment time (PET): B. L. Allen, B. T. Shin and P. J. Cooper, "Analysis of
        traffic conflicts and collisions", Transportation Research Record 667, 1978. It is the
        least ``abs(t - u)`` for which the vehicle at the time t of its trajectory and an obstacle
        at a time u of its known motion overlap, or pass within `tolerance`. The result is at most
        5 % + 0.02 s, plus `time_error` of the scene, smaller. It may be smaller still for a
        trajectory that passes thousands of places just beside those of obstacles.
        """
        self._check_timed(times)
        placed, at, leading = timed_trajectories(poses, times)
        with located_in(poses=leading, times=at.shape):
            answer = self._core.criticality(
                core_of(shape),
                placed,
                at,
                leading[0],
                as_number(tolerance, "tolerance"),
                thread_count(threads),
            )
        return CriticalityResult(
            ids=self._ids_of(answer.pop("obstacles")),
            time_to_collision=answer["contact_times"] - at[..., 0],
            **answer,
        )

    def time_to_collision(
        self,
        shape: Shape,
        poses: ArrayLike,
        twists: ArrayLike | None,
        times: ArrayLike,
        *,
        horizon: float = 10.0,
        tolerance: float = 0.005,
        threads: int = 1,
    ) -> TimeToCollisionResult:
        """Return the time to collision (TTC) at each of many poses.

        The time to collision at a time t is the time from t until the vehicle and an obstacle
        first touch, if the vehicle and all obstacles keep the twists that they have at t. A twist
        is a velocity in the frame of the body and a rate of turn: a body that keeps it moves on an
        arc, or in a straight line. The contact is that of the true shapes, not of circles around
        them.

        Parameters
        ----------
        shape : Shape
            The vehicle, in its base frame.
        poses : array_like, shape (..., 3)
            Poses of the base frame: x [m], y [m], yaw [rad]; at least one.
        twists : array_like, shape (..., 3) or (3,), or None
            Twist of the vehicle at each pose, in its base frame: vx, vy [m/s], wz [rad/s]. For
            example (v, 0, v tan(steering angle) / wheelbase). None, for trajectories of shape
            (..., T, 3) with T >= 2: the constant twist from each pose to the next; at the last
            pose, that of the segment before it.
        times : array_like, shape (...) or (T,), or float
            Time of each pose [s], on the clock of the stamps of the obstacles. The obstacles start
            at their predicted poses at this time. If the pose or the velocity of any obstacle is
            not known then, the verdict is UNKNOWN with PREDICTION_TOO_SHORT, unless the vehicle
            touches another obstacle now. An obstacle that exists from a later time on keeps the
            twist that it has then. An obstacle that never moves has the velocity zero, or
            ``prediction='hold'``.
        horizon : float
            How far ahead contacts are searched [s], > 0 and at most 1e10.
        tolerance : float
            Tolerance [m], > 0: if the vehicle passes an obstacle at a distance of up to
            `tolerance`, this may be reported as a contact. It should be at least ten times the
            error of the positions, as for `first_contact`.
        threads : int
            Number of threads, at most 256. 0: one per processor.

        Returns
        -------
        TimeToCollisionResult

        Raises
        ------
        InputError
            EMPTY_REQUEST: no pose is given. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH,
            INVALID_INPUT.

        Notes
        -----
        J. C. Hayward, "Near-miss determination through use of a scale of danger", Highway Research
        Record 384, 1972, for constant velocities. If a time is uncertain (`time_error`), an
        obstacle may have any of the velocities that it has within the error. For the time of
        contact on a given trajectory, with the predicted motions of the obstacles, use
        `first_contact`.
        """
        placed, leading = checked_trajectories(poses)
        self._check_timed(times)
        given = as_floats(times, "times")
        at = np.broadcast_to(given, leading) if given.ndim == 0 else checked_times(given, leading)
        if twists is None:
            twist_rows = twists_along(placed.reshape(*leading, 3), given)
        else:
            twist_rows = as_floats(twists, "twists")
            if twist_rows.shape not in ((*leading, 3), (3,)):
                other = " or (3,)" if leading else ""
                rule = f"must have shape {(*leading, 3)}{other}"
                refuse("twists", rule, twist_rows.shape, status=Status.ARRAY_MISMATCH)
        with located_in(poses=leading, times=given.shape, twists=twist_rows.shape[:-1]):
            answer = self._core.time_to_collision(
                core_of(shape),
                placed,
                np.broadcast_to(twist_rows, (*leading, 3)).reshape(-1, 3),
                np.broadcast_to(at, leading).reshape(-1),
                as_number(horizon, "horizon"),
                as_number(tolerance, "tolerance"),
                thread_count(threads),
            )
        return TimeToCollisionResult(**self._first_hits("times", answer, leading))

    def _check_timed(self, times: object, argument: str = "times") -> None:
        """Refuse times if it is not known how the obstacles move.

        Without this, poses would be UNKNOWN at all times but the stamps, unless something is hit
        that is known.
        """
        if self._lacks_motion and times is not None and len(self):
            rule = (
                "need the motion of the obstacles: make the scene with velocities or paths, or "
                "with prediction='hold' if the obstacles stay where they are"
            )
            refuse(argument, rule)

    def _first_hits(
        self, name: str, answer: tuple[NDArray[Any], ...], leading: tuple[int, ...]
    ) -> dict[str, Any]:
        """Return the fields of a result."""
        until, indices, verdicts, statuses = shaped(answer, leading)
        ids = self._ids_of(indices)
        return {name: until, "ids": ids, "verdicts": verdicts, "statuses": statuses}

    def _paths_result(
        self, found: dict[str, Any], leading: tuple[int, ...]
    ) -> PathResult | PathsResult:
        verdict, indices = _VERDICTS[found.pop("verdict")], found.pop("indices")
        common = {"is_free": verdict is Verdict.FREE, "verdict": verdict}
        if leading:
            found["ids"] = self._ids_of(indices)
            return PathsResult._of(
                common | {name: values.reshape(leading) for name, values in found.items()}
            )
        del found["verdicts"]
        status, index = Status(found.pop("statuses").item()), indices.item()
        only = {name.removesuffix("s"): values.item() for name, values in found.items()}
        return PathResult._of(
            common | {"status": status, "id": int(self._id_of[index]), "index": index} | only
        )

    def _ids_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._id_of.take(indices)
