# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes under way: when they meet, how near they come, and how far they can go."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arguments import (
    as_floats,
    as_number,
    as_point,
    as_vector,
    as_whole,
    instance,
)
from .errors import InputError
from .geometry import Pose, Shape
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
    """Where a shape is over time; it turns about its own origin. Immutable."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Motion) -> None:
        """Wrap a motion of the kernel; use the named constructors."""
        if not isinstance(core, _core.Motion):
            rule = f"use Motion.still, constant or path (got {type(core).__name__})"
            raise InputError(Status.INVALID_INPUT, "core", None, rule)
        self._core = core

    @classmethod
    def still(cls, pose: Pose = (0.0, 0.0, 0.0)) -> Motion:
        """Stand at `pose`, x y yaw [m, m, rad], for ever."""
        return cls(_core.moving(as_vector(pose, "pose"), (0.0, 0.0, 0.0), 0.0))

    @classmethod
    def constant(cls, pose: Pose, velocity: Pose, time: float = 0.0) -> Motion:
        """Move at constant velocity, for ever.

        Parameters
        ----------
        pose : (x, y, yaw)
            Where the shape is at `time` [m, m, rad].
        velocity : (vx, vy, wz)
            In the frame of `pose` [m/s, m/s, rad/s].
        time : float
            [s].

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE.
        """
        start, speed = as_vector(pose, "pose"), as_vector(velocity, "velocity", "vx, vy, wz")
        return cls(_core.moving(start, speed, as_number(time, "time")))

    @classmethod
    def path(cls, times: ArrayLike, poses: ArrayLike) -> Motion:
        """Follow poses, in straight lines and at even pace from one to the next.

        The yaw takes the shorter way, as in OMPL's SE2 space and nav2: a turn of more than half a
        circle needs a pose in between. The motion is known from the first time to the last.

        Parameters
        ----------
        times : array_like, shape (n,)
            Strictly increasing [s].
        poses : array_like, shape (n, 3)
            x, y, yaw at those times [m, m, rad].

        Raises
        ------
        InputError
            TOO_FEW_POINTS, ARRAY_MISMATCH, INVALID_INPUT (times), NON_FINITE, COORD_RANGE.
        """
        return cls(_core.path(as_floats(times, "times", 0), as_floats(poses, "poses", 3)))

    @property
    def begin(self) -> float:
        """From when the motion is known [s]; -inf: always."""
        return self._core.begin

    @property
    def end(self) -> float:
        """Until when the motion is known [s]; inf: for ever."""
        return self._core.end

    def at(self, t: float) -> NDArray[np.float64]:
        """Return the pose x, y, yaw [m, m, rad] at time `t` [s], shape (3,).

        Raises
        ------
        InputError
            PREDICTION_TOO_SHORT: the motion is not known then.
        """
        pose = self._core.at(as_number(t, "t"))
        if pose is None:
            rule = f"must lie in [{self.begin}, {self.end}] (got {t})"
            raise InputError(Status.PREDICTION_TOO_SHORT, "t", None, rule)
        return np.array(pose)

    def travel(self, shape: Shape, t0: float, t1: float) -> float:
        """Return an upper bound [m] on how far any point of `shape` gets from its place at `t0`.

        Certified for all times in [t0, t1] [s]; infinite where the motion is not known.

        Raises
        ------
        InputError
            NON_FINITE for a time of NaN.
        """
        core = instance(shape, Shape, "shape")._core
        begin, end = as_number(t0, "t0"), as_number(t1, "t1")
        for name, value in (("t0", begin), ("t1", end)):
            if isnan(value):
                raise InputError(Status.NON_FINITE, name, None, "must not be NaN")
        return self._core.travel(core, begin, end)


@dataclass(frozen=True, slots=True)
class Impact:
    """The first time at which a distance falls to a margin, or the proof that it does not.

    Attributes
    ----------
    verdict : Verdict
        FREE: the distance stays above the margin. COLLISION or MARGIN: it is within the tolerance
        of the margin at `time`, COLLISION where it is within the tolerance of contact. UNKNOWN:
        neither was shown.
    status : Status
        SUCCESS; PREDICTION_TOO_SHORT (a motion ends early), ITERATION_LIMIT, NUMERIC_FAILURE.
    time : float
        When [s], or how far [m] for a cast; never after the true impact; inf: none found.
    last_valid : float
        The distance is above the margin for certain before this; up to the end where FREE.
    distance : float
        Signed distance at `time` [m]; NaN: no impact.
    point_a : ndarray or None
        Witness point on a at `time`, shape (2,) [m].
    point_b : ndarray or None
        Witness point on b at `time`, shape (2,) [m].
    direction : ndarray or None
        Unit vector from a to b at `time`, shape (2,).
    iterations : int
        How many times the distance was computed.
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
        """Whether there is an impact."""
        return self.verdict in (Verdict.COLLISION, Verdict.MARGIN)


@dataclass(frozen=True, slots=True)
class Approach:
    """The smallest distance over an interval of time.

    Attributes
    ----------
    status : Status
        As in `Impact`. Unless SUCCESS, the distance is that of a part of the interval only.
    distance : float
        Signed distance at `time` [m], at most the tolerance above the smallest.
    lower_bound : float
        Certified lower bound [m] on the smallest distance. -inf: the shapes come within the
        tolerance of contact at `time`; the search ends there, and they may go deeper later.
    time : float
        [s].
    point_a : ndarray
        Witness point on a at `time`, shape (2,) [m].
    point_b : ndarray
        Witness point on b at `time`, shape (2,) [m].
    direction : ndarray
        Unit vector from a to b at `time`, shape (2,).
    iterations : int
        How many times the distance was computed.
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
    motion_a: Motion,
    b: Shape,
    motion_b: Motion,
    t0: float | None = None,
    t1: float | None = None,
    *,
    margin: float = 0.0,
    tolerance: float = 0.005,
    max_iterations: int = 1000,
) -> Impact:
    """Return the first time at which two moving shapes come within `margin` of each other.

    Parameters
    ----------
    a, b : Shape
        The shapes.
    motion_a, motion_b : Motion
        Where they are.
    t0, t1 : float, optional
        The interval [s]; left out, the times at which both motions are known.
    margin : float
        How near is an impact [m], >= 0.
    tolerance : float
        A distance this much above the margin may count as an impact [m], > 0. No true one is
        missed, however thin the shapes or fast the motion.
    max_iterations : int
        More distance computations than this for two convex parts: UNKNOWN. >= 0.

    Raises
    ------
    InputError
        NON_FINITE, INVALID_INPUT, COORD_RANGE, naming the argument.

    Notes
    -----
    Conservative advancement (Mirtich, "Impulse-based dynamic simulation", 1996) on the certified
    gap along the separating direction, with the rotation to second order.
    """
    return _impact(
        _core.time_of_impact(
            *_moving(a, motion_a, b, motion_b, t0, t1),
            as_number(margin, "margin"),
            as_number(tolerance, "tolerance"),
            as_whole(max_iterations, "max_iterations", 0),
        )
    )


def closest_approach(
    a: Shape,
    motion_a: Motion,
    b: Shape,
    motion_b: Motion,
    t0: float | None = None,
    t1: float | None = None,
    *,
    tolerance: float = 0.005,
) -> Approach:
    """Return the smallest distance of two moving shapes over an interval, within `tolerance`.

    Parameters and errors as for `time_of_impact`.
    """
    status, distance, lower_bound, time, closest, iterations = _core.closest_approach(
        *_moving(a, motion_a, b, motion_b, t0, t1), as_number(tolerance, "tolerance")
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
    direction: ArrayLike,
    b: Shape,
    max_distance: float = inf,
    pose_a: Pose | None = None,
    pose_b: Pose | None = None,
    *,
    margin: float = 0.0,
    tolerance: float = 1e-9,
) -> Impact:
    """Return how far [m] shape a can go in a straight line before it comes within `margin` of b.

    Parameters
    ----------
    a, b : Shape
        The shape that moves, and the one that stands.
    direction : array_like, shape (2,)
        Where to; its length does not matter.
    max_distance : float
        How far to look [m], >= 0.
    pose_a, pose_b : (x, y, yaw), optional
        Where the shapes are at first [m, m, rad]; the identity where left out.
    margin, tolerance : float
        As for `time_of_impact` [m].

    Returns
    -------
    Impact
        `time` and `last_valid` are distances [m].

    Raises
    ------
    InputError
        As for `time_of_impact`.
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
    pose: Pose | None = None,
    *,
    tolerance: float = 1e-9,
) -> Impact:
    """Return how far [m] a ray goes before it meets a shape.

    Parameters
    ----------
    origin, direction : array_like, shape (2,)
        The ray [m]; the length of the direction does not matter.
    shape : Shape
        What it may meet.
    max_distance : float
        How far to look [m], >= 0.
    pose : (x, y, yaw), optional
        Where the shape is [m, m, rad].
    tolerance : float
        A ray that passes at this distance may count as a hit [m], > 0.

    Returns
    -------
    Impact
        `time` and `last_valid` are distances [m]; `point_a` is the end of the ray.

    Raises
    ------
    InputError
        As for `time_of_impact`.
    """
    x, y = as_point(origin, "origin")
    stands = None if pose is None else as_vector(pose, "pose")
    try:
        return shape_cast(
            Shape.point((0.0, 0.0)),
            direction,
            instance(shape, Shape, "shape"),
            max_distance,
            (x, y, 0.0),
            stands,
            tolerance=tolerance,
        )
    except InputError as error:
        if error.argument != "pose_b":
            raise
        raise InputError(error.status, "pose", None, error.rule) from None


def _moving(
    a: Shape, motion_a: Motion, b: Shape, motion_b: Motion, t0: float | None, t1: float | None
) -> tuple[_core.Shape, _core.Motion, _core.Shape, _core.Motion, float, float]:
    """Check two moving shapes, and fill in the times at which both motions are known."""
    shapes = instance(a, Shape, "a")._core, instance(b, Shape, "b")._core
    instance(motion_a, Motion, "motion_a")
    instance(motion_b, Motion, "motion_b")
    begin = max(motion_a.begin, motion_b.begin) if t0 is None else as_number(t0, "t0")
    end = min(motion_a.end, motion_b.end) if t1 is None else as_number(t1, "t1")
    for name, value in (("t0", begin), ("t1", end)):
        if not isfinite(value):
            rule = f"must be finite, and given where the motions have no end (got {value})"
            raise InputError(Status.NON_FINITE, name, None, rule)
        if abs(value) > _core.MAX_COORDINATE:
            rule = f"magnitude must not exceed 1e15 s (got {value})"
            raise InputError(Status.COORD_RANGE, name, None, rule)
    if end < begin:
        rule = f"must not lie before t0 = {begin} (got {end})"
        raise InputError(Status.INVALID_INPUT, "t1", None, rule)
    if not end - begin < _core.MAX_COORDINATE:
        rule = f"must lie less than 1e15 s after t0 = {begin} (got {end})"
        raise InputError(Status.COORD_RANGE, "t1", None, rule)
    return shapes[0], motion_a._core, shapes[1], motion_b._core, begin, end


def _impact(answer: tuple[Any, ...]) -> Impact:
    """Name the parts of the kernel's answer."""
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
