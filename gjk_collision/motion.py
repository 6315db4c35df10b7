# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Moving shapes: time of impact, closest approach, shape casts and ray casts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arguments import (
    as_floats,
    as_integer,
    as_number,
    as_vector,
    instance,
    renamed,
)
from .errors import refuse
from .geometry import PoseLike, Shape
from .record import Record
from .verdict import Status, Verdict, no_truth_value

__all__ = [
    "Approach",
    "Impact",
    "Motion",
    "closest_approach",
    "ray_cast",
    "shape_cast",
    "time_of_impact",
]


class Motion:
    """Pose of a shape as a function of time. Immutable.

    The shape rotates about the origin of its own frame. Create motions with the class methods.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Motion) -> None:
        """Wrap a motion of the kernel. For internal use: call a class method instead."""
        if not isinstance(core, _core.Motion):
            refuse("core", "use Motion.still, Motion.constant or Motion.path", type(core).__name__)
        self._core = core

    @classmethod
    def still(cls, pose: PoseLike = (0.0, 0.0, 0.0)) -> Motion:
        """Return a motion that stays at `pose`, (x, y, yaw) [m, m, rad], at all times.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        return cls(_core.moving(as_vector(pose, "pose"), (0.0, 0.0, 0.0), 0.0))

    @classmethod
    def constant(cls, pose: PoseLike, velocity: PoseLike, time: float = 0.0) -> Motion:
        """Return a motion with constant velocity at all times.

        Parameters
        ----------
        pose : (x, y, yaw)
            Pose at `time` [m, m, rad].
        velocity : (vx, vy, wz)
            Velocity of the origin of the shape [m/s, m/s] in the frame in which `pose` is given,
            not in the frame of the shape, and rate of turn [rad/s].
        time : float
            Time at which the shape is at `pose` [s].

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        start, speed = as_vector(pose, "pose"), as_vector(velocity, "velocity", "vx, vy, wz")
        return cls(_core.moving(start, speed, as_number(time, "time")))

    @classmethod
    def path(cls, times: ArrayLike, poses: ArrayLike) -> Motion:
        """Return a motion through poses.

        Between two poses, the shape moves in a straight line with constant velocity and constant
        rate of turn. It takes the shorter rotation, as in the SE2 space of OMPL and in nav2. For a
        longer rotation, add a pose in between. The motion is known from the first to the last
        time.

        Parameters
        ----------
        times : array_like, shape (n,)
            Times, strictly increasing [s], n >= 1.
        poses : array_like, shape (n, 3)
            x, y, yaw at these times [m, m, rad].

        Raises
        ------
        InputError
            TOO_FEW_POINTS: no times are given. INVALID_INPUT, for example for times that do not
            increase. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH.
        """
        return cls(_core.path(as_floats(times, "times", 0), as_floats(poses, "poses", 3)))

    @classmethod
    def _restored(cls, pieces: NDArray[np.float64]) -> Motion:
        return cls(_core.motion_from_pieces(pieces))

    def __reduce__(self) -> tuple[Callable[..., Motion], tuple[NDArray[np.float64]]]:
        """Return what `pickle` needs."""
        return self._restored, (self._core.pieces,)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same pieces, and therefore the same poses at all times."""
        if not isinstance(other, Motion):
            return NotImplemented
        return np.array_equal(self._core.pieces, other._core.pieces)

    def __hash__(self) -> int:
        """Return a hash that is equal for equal motions."""
        return hash((self._core.pieces + 0.0).tobytes())

    def __repr__(self) -> str:
        """Return the number of pieces, and the interval in which the motion is known."""
        count = len(self._core.pieces)
        return f"Motion({count} piece{'s' * (count > 1)}, {self.begin:.6g} s to {self.end:.6g} s)"

    @property
    def begin(self) -> float:
        """First time at which the motion is known [s]. -inf: there is no first time."""
        return self._core.begin

    @property
    def end(self) -> float:
        """Last time at which the motion is known [s]. inf: there is no last time."""
        return self._core.end

    def at(self, t: float) -> NDArray[np.float64]:
        """Return the pose at time `t` [s]: x, y, yaw [m, m, rad], shape (3,).

        Raises
        ------
        InputError
            PREDICTION_TOO_SHORT: the motion is not known at `t`. NON_FINITE, COORD_RANGE,
            INVALID_INPUT.
        """
        pose = self._core.at(as_number(t, "t"))
        if pose is None:
            rule = f"must lie in [{self.begin}, {self.end}]"
            refuse("t", rule, t, status=Status.PREDICTION_TOO_SHORT)
        return np.array(pose)

    def travel(self, shape: Shape, t0: float, t1: float) -> float:
        """Return how far a point of `shape` can get from its position at time `t0` [m].

        This is a certified upper bound for all points of the shape and for all times in [t0, t1]
        [s]. It is infinite if the motion is not known in the whole interval.

        Raises
        ------
        InputError
            NON_FINITE: a time is NaN. INVALID_INPUT, for example for `t1` earlier than `t0`.
        """
        core = instance(shape, Shape, "shape")._core
        begin, end = as_number(t0, "t0"), as_number(t1, "t1")
        for name, value in (("t0", begin), ("t1", end)):
            if isnan(value):
                refuse(name, "must not be NaN", status=Status.NON_FINITE)
        if end < begin:
            refuse("t1", f"must not be earlier than t0 = {begin}", end)
        return self._core.travel(core, begin, end)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Impact(Record):
    """Result of the search for the first time at which the distance falls to a margin.

    Attributes
    ----------
    verdict : Verdict
        FREE: the distance is always greater than the margin. COLLISION or MARGIN: at `time`,
        the distance is at most margin + tolerance. It is COLLISION if the distance is at most the
        tolerance or the margin is 0. UNKNOWN: the search did not finish.
    status : Status
        SUCCESS, or the reason for UNKNOWN. PREDICTION_TOO_SHORT: a motion is not known in a part
        of the interval. ITERATION_LIMIT: more iterations are needed. NUMERIC_FAILURE: the
        tolerance is too small for the rounding errors, or a shape leaves the range of 1e15 m.
    time : float
        Time of the impact [s], or distance moved [m] for a cast. It is never later than the true
        impact. inf: the verdict is FREE. NaN: it is UNKNOWN.
    last_valid : float
        The distance is certainly greater than the margin before this time [s], or before this
        distance moved [m] for a cast. For FREE: the end of the interval.
    distance : float
        Signed distance at `time` [m]. NaN: no impact.
    point_a, point_b : ndarray or None
        Closest points of a and of b at `time`, shape (2,) [m]. None: no impact.
    direction : ndarray or None
        Unit vector from a to b at `time`, shape (2,). None: no impact.
    iterations : int
        Number of distance computations.
    """

    verdict: Verdict
    status: Status
    time: float
    last_valid: float
    distance: float
    point_a: NDArray[np.float64] | None
    point_b: NDArray[np.float64] | None
    direction: NDArray[np.float64] | None
    iterations: int

    __bool__ = no_truth_value("`.hit`, or `.verdict is Verdict.FREE`")

    @property
    def hit(self) -> bool:
        """True if the verdict is COLLISION or MARGIN."""
        return self.verdict in (Verdict.COLLISION, Verdict.MARGIN)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Approach(Record):
    """Smallest distance of two moving shapes over an interval of time.

    Attributes
    ----------
    status : Status
        As in `Impact`. If it is not SUCCESS, the other fields cover only a part of the interval.
        If no distance was computed, they are NaN, and the lower bound is -inf.
    distance : float
        Signed distance at `time` [m]. It exceeds the smallest distance by at most the tolerance.
    lower_bound : float
        Certified lower bound of the smallest distance [m]. -inf with SUCCESS: at `time`, the
        distance is at most the tolerance. The search ends there. The shapes may overlap more
        deeply at another time, or in other parts.
    time : float
        Time at which the shapes are at `distance` [s].
    point_a, point_b : ndarray
        Closest points of a and of b at `time`, shape (2,) [m].
    direction : ndarray
        Unit vector from a to b at `time`, shape (2,).
    iterations : int
        Number of distance computations.
    """

    status: Status
    distance: float
    lower_bound: float
    time: float
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    direction: NDArray[np.float64]
    iterations: int

    __bool__ = no_truth_value("`.lower_bound > 0.0`")


def time_of_impact(
    a: Shape,
    b: Shape,
    motion_a: Motion,
    motion_b: Motion,
    t0: float | None = None,
    t1: float | None = None,
    *,
    margin: float = 0.0,
    tolerance: float = 0.005,
    max_iterations: int = 1000,
) -> Impact:
    """Return the first time at which the distance of two moving shapes falls to `margin`.

    No impact is missed, however thin the shapes are or however fast they move.

    Parameters
    ----------
    a, b : Shape
        The shapes.
    motion_a, motion_b : Motion
        Their motions.
    t0, t1 : float, optional
        First and last time of the interval [s]. Default: the interval in which both motions are
        known.
    margin : float
        Distance that counts as an impact [m], >= 0.
    tolerance : float
        Tolerance [m], > 0: a distance up to margin + tolerance may be reported as an impact.
    max_iterations : int
        Maximum number of distance computations for two convex parts, >= 0. If more are needed, the
        verdict is UNKNOWN.

    Returns
    -------
    Impact

    Raises
    ------
    InputError
        NON_FINITE, COORD_RANGE, INVALID_INPUT.

    Notes
    -----
    Conservative advancement (B. Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems",
    1996). Each step uses a certified lower bound of the gap along the separating direction. The
    bound includes the rotation: its first-order term and the maximum of all higher terms.
    """
    return _impact(
        _core.time_of_impact(
            *_checked_motions(a, b, motion_a, motion_b, t0, t1),
            as_number(margin, "margin"),
            as_number(tolerance, "tolerance"),
            as_integer(max_iterations, "max_iterations", 0),
        )
    )


def closest_approach(
    a: Shape,
    b: Shape,
    motion_a: Motion,
    motion_b: Motion,
    t0: float | None = None,
    t1: float | None = None,
    *,
    tolerance: float = 0.005,
) -> Approach:
    """Return the smallest distance of two moving shapes over an interval of time.

    The result exceeds the smallest distance by at most `tolerance` [m], > 0. The search ends when
    the distance is at most `tolerance`, see `Approach.lower_bound`. The other parameters and the
    errors are as for `time_of_impact`.
    """
    status, distance, lower_bound, time, closest, iterations = _core.closest_approach(
        *_checked_motions(a, b, motion_a, motion_b, t0, t1), as_number(tolerance, "tolerance")
    )
    _, _, point_a, point_b, direction = closest
    return Approach(
        Status(status),
        distance,
        lower_bound,
        time,
        np.array(point_a),
        np.array(point_b),
        np.array(direction),
        iterations,
    )


def shape_cast(
    a: Shape,
    b: Shape,
    direction: ArrayLike,
    max_distance: float = inf,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    *,
    margin: float = 0.0,
    tolerance: float = 1e-9,
) -> Impact:
    """Return how far shape a can move in a straight line until its distance to b is `margin`.

    Parameters
    ----------
    a, b : Shape
        The moving shape, which does not rotate, and the shape at rest.
    direction : array_like, shape (2,)
        Direction of the motion. Its length must not be 0, and has no effect.
    max_distance : float
        Maximum distance to move [m], >= 0.
    pose_a, pose_b : (x, y, yaw), optional
        Start pose of a, and pose of b [m, m, rad]. Default: (0, 0, 0).
    margin, tolerance : float
        As for `time_of_impact` [m].

    Returns
    -------
    Impact
        `time` and `last_valid` are distances moved [m].

    Raises
    ------
    InputError
        NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
    """
    return _impact(
        _core.shape_cast(
            instance(a, Shape, "a")._core,
            None if pose_a is None else as_vector(pose_a, "pose_a"),
            as_vector(direction, "direction", "x, y"),
            as_number(max_distance, "max_distance"),
            instance(b, Shape, "b")._core,
            None if pose_b is None else as_vector(pose_b, "pose_b"),
            as_number(margin, "margin"),
            as_number(tolerance, "tolerance"),
        )
    )


def ray_cast(
    origin: ArrayLike,
    direction: ArrayLike,
    shape: Shape,
    max_distance: float = inf,
    pose: PoseLike | None = None,
    *,
    tolerance: float = 1e-9,
) -> Impact:
    """Return the distance along a ray to a shape.

    Parameters
    ----------
    origin : array_like, shape (2,)
        Start of the ray [m].
    direction : array_like, shape (2,)
        Direction of the ray. Its length must not be 0, and has no effect.
    shape : Shape
        The shape.
    max_distance : float
        Maximum length of the ray [m], >= 0.
    pose : (x, y, yaw), optional
        Pose of the shape [m, m, rad]. Default: (0, 0, 0).
    tolerance : float
        Tolerance [m], > 0: a ray that passes the shape within this distance may be reported as a
        hit.

    Returns
    -------
    Impact
        `time` and `last_valid` are distances from `origin` [m]. `point_a` is the end of the ray.

    Raises
    ------
    InputError
        NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
    """
    x, y = as_vector(origin, "origin", "x, y")
    _core.check_coordinates((x, y), "origin")
    placed = None if pose is None else as_vector(pose, "pose")
    point, core = Shape.point((0.0, 0.0)), instance(shape, Shape, "shape")
    with renamed(pose_b="pose"):
        return shape_cast(
            point, core, direction, max_distance, (x, y, 0.0), placed, tolerance=tolerance
        )


def _checked_motions(
    a: Shape, b: Shape, motion_a: Motion, motion_b: Motion, t0: float | None, t1: float | None
) -> tuple[_core.Shape, _core.Motion, _core.Shape, _core.Motion, float, float]:
    """Check the arguments, and replace a time of None by a limit of the known motions."""
    shapes = instance(a, Shape, "a")._core, instance(b, Shape, "b")._core
    instance(motion_a, Motion, "motion_a")
    instance(motion_b, Motion, "motion_b")
    begin = max(motion_a.begin, motion_b.begin) if t0 is None else as_number(t0, "t0")
    end = min(motion_a.end, motion_b.end) if t1 is None else as_number(t1, "t1")
    for name, value in (("t0", begin), ("t1", end)):
        if not isfinite(value):
            rule = "must be finite: give it if both motions are known at all times"
            refuse(name, rule, value, status=Status.NON_FINITE)
        if abs(value) > _core.MAX_COORDINATE:
            refuse(name, "magnitude must not exceed 1e15 s", value, status=Status.COORD_RANGE)
    if end < begin:
        refuse("t1", f"must not be earlier than t0 = {begin}", end)
    if not end - begin < _core.MAX_COORDINATE:
        rule = f"must be less than 1e15 s later than t0 = {begin}"
        refuse("t1", rule, end, status=Status.COORD_RANGE)
    return shapes[0], motion_a._core, shapes[1], motion_b._core, begin, end


def _impact(answer: tuple[Any, ...]) -> Impact:
    """Return the answer of the kernel as an `Impact`."""
    verdict, status, time, last_valid, closest, iterations = answer
    if closest is None:
        distance, point_a, point_b, direction = np.nan, None, None, None
    else:
        distance, _, *vectors = closest
        point_a, point_b, direction = (np.array(vector) for vector in vectors)
    return Impact(
        Verdict(verdict),
        Status(status),
        time,
        last_valid,
        distance,
        point_a,
        point_b,
        direction,
        iterations,
    )
