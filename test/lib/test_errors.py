# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Bad input: refused as it is, with the status, the argument, the index and the rule by name.

Nothing here may ever end in an answer.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from gjk_collision import (
    Motion,
    Region,
    Scene,
    Shape,
    _core,
    closest,
    closest_approach,
    collide,
    distance,
    penetration,
    ray_cast,
    shape_cast,
    time_of_impact,
    trace,
)
from gjk_collision.errors import InputError
from gjk_collision.pairs import check_pairs
from gjk_collision.verdict import Status

NAN, INF = math.nan, math.inf
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
CAR = Shape.box(4.0, 2.0)
SCENE = Scene([Shape.point((50.0, 0.0))])
POSE = (0.0, 1.0, 2.0)
STILL = Motion.still()
PAIR = {"a": CAR, "motion_a": STILL, "b": CAR, "motion_b": STILL}
FLAT = ([0, 1, 5], [9.0, 9.0, *(c for p in SQUARE for c in p)])


def arrays(**changes: Any) -> Callable[[], Scene]:
    """A scene of a point and a square, with some fields changed."""
    fields = {"offsets": FLAT[0], "xy": FLAT[1], **changes}
    return lambda: Scene.from_arrays(fields.pop("offsets"), fields.pop("xy"), **fields)


def with_value(i: int, value: float) -> list[float]:
    xy = list(FLAT[1])
    xy[i] = value
    return xy


# name: what is called, its status, the argument, the index, words of the rule.
BAD: dict[str, tuple[Callable[[], Any], Status, str, int | None, str]] = {
    # outlines
    "polygon of none": (
        lambda: Shape.polygon(np.zeros((0, 2))), Status.TOO_FEW_POINTS, "xy", None, "3"),
    "polygon of two": (
        lambda: Shape.polygon(SQUARE[:2]), Status.TOO_FEW_POINTS, "xy", None, "3"),
    "polygon of two, closed": (
        lambda: Shape.polygon([*SQUARE[:2], SQUARE[0]]), Status.TOO_FEW_POINTS, "xy", None, "3"),
    "polygon without area": (
        lambda: Shape.polygon([(0, 0), (1, 1), (2, 2)]), Status.DEGENERATE, "xy", None, "line"),
    "polygon with nan": (
        lambda: Shape.polygon([*SQUARE, (0.0, NAN)]), Status.NON_FINITE, "xy", 4, "finite"),
    "polygon with infinity": (
        lambda: Shape.polygon([(0, 0), (-INF, 0), (1, 1)]), Status.NON_FINITE, "xy", 1, "finite"),
    "polygon beyond the range": (
        lambda: Shape.polygon([(0, 0), (1, 0), (1, 1.1e15)]), Status.COORD_RANGE, "xy", 2, "1e15"),
    "polygon with a notch": (
        lambda: Shape.polygon([(0, 0), (4, 0), (1, 1), (0, 4)]),
        Status.CONCAVE_REJECTED, "xy", 2, "not convex"),
    "polygon with a notch, clockwise": (
        lambda: Shape.polygon([(0, 4), (1, 1), (4, 0), (0, 0)]),
        Status.CONCAVE_REJECTED, "xy", 1, "not convex"),
    "polygon with a notch of one step of a double": (
        lambda: Shape.polygon([(0, 0), (1, math.nextafter(0, 1)), (2, 0), (2, 2)]),
        Status.CONCAVE_REJECTED, "xy", 1, "not convex"),
    "polygon in three dimensions": (
        lambda: Shape.polygon(np.zeros((4, 3))), Status.ARRAY_MISMATCH, "xy", None, "(n, 2)"),
    "polygon of flat numbers": (
        lambda: Shape.polygon([0.0, 0.0, 1.0, 0.0, 1.0, 1.0]),
        Status.ARRAY_MISMATCH, "xy", None, "(n, 2)"),
    "polygon of ragged rows": (
        lambda: Shape.polygon([(0, 0), (1, 0, 3), (1, 1)]),
        Status.ARRAY_MISMATCH, "xy", 1, "must have 2 values"),
    "polygon of words": (
        lambda: Shape.polygon([("a", "b")] * 3), Status.INVALID_INPUT, "xy", None, "real"),
    "polygon of complex numbers": (
        lambda: Shape.polygon(np.array(SQUARE) * 1j), Status.INVALID_INPUT, "xy", None, "real"),
    "polygon with a negative radius": (
        lambda: Shape.polygon(SQUARE, radius=-0.1),
        Status.INVALID_INPUT, "radius", None, "negative"),
    "circle of a duration": (
        lambda: Shape.circle(np.timedelta64(5)),
        Status.INVALID_INPUT, "radius", None, "must be a number"),
    "circle of a signalling nan": (
        lambda: Shape.circle(Decimal("sNaN")),
        Status.INVALID_INPUT, "radius", None, "must be a number"),
    "hull of none": (
        lambda: Shape.hull(np.zeros((0, 2))), Status.TOO_FEW_POINTS, "points", None, "1"),
    "polygon with a mask": (
        lambda: Shape.polygon(np.ma.array(SQUARE, mask=[[0, 0], [0, 0], [0, 1], [0, 0]])),
        Status.INVALID_INPUT, "xy", 2, "masked"),
    "hull with a masked row": (
        lambda: Shape.hull([np.ma.array([0.0, 0.0], mask=[1, 0]), [1.0, 1.0]]),
        Status.INVALID_INPUT, "points", 0, "masked"),
    "collide with a masked pose": (
        lambda: collide(CAR, CAR, pose_b=np.ma.array([5.0, 0.0, 0.0], mask=[1, 0, 0])),
        Status.INVALID_INPUT, "pose_b", None, "masked"),
    "is_free with a masked pose": (
        lambda: Scene([CAR]).is_free(CAR, np.ma.array([9.0, 0.0, 0.0], mask=[0, 1, 0])),
        Status.INVALID_INPUT, "pose", 1, "masked"),
    "ray from too far away": (
        lambda: ray_cast((1e15, 0.0), (-1.0, 0.0), CAR, tolerance=1.0),
        Status.COORD_RANGE, "pose", None, "apart"),
    "hull with nan": (
        lambda: Shape.hull([(0, 0), (NAN, 0)]), Status.NON_FINITE, "points", 1, "finite"),
    "concave of two": (
        lambda: Shape.concave(SQUARE[:2]), Status.TOO_FEW_POINTS, "outline", None, "3"),
    "concave without area": (
        lambda: Shape.concave([(0, 0), (1, 0), (3, 0)]),
        Status.DEGENERATE, "outline", None, "line"),
    "concave that crosses itself": (
        lambda: Shape.concave([(0, 0), (2, 2), (2, 0), (0, 3)]),
        Status.INVALID_INPUT, "outline", 0, "crosses"),
    "concave with nan": (
        lambda: Shape.concave([*SQUARE, (NAN, 0)]), Status.NON_FINITE, "outline", 4, "finite"),
    # radii, boxes, margins
    "circle of negative radius": (
        lambda: Shape.circle(-1.0), Status.INVALID_INPUT, "radius", None, "negative"),
    "circle of nan": (
        lambda: Shape.circle(NAN), Status.NON_FINITE, "radius", None, "finite"),
    "circle of infinity": (
        lambda: Shape.circle(INF), Status.NON_FINITE, "radius", None, "finite"),
    "circle beyond the range": (
        lambda: Shape.circle(2e15), Status.COORD_RANGE, "radius", None, "1e15"),
    "circle about nan": (
        lambda: Shape.circle(1.0, center=(NAN, 0.0)), Status.NON_FINITE, "center", 0, "finite"),
    "box of negative length": (
        lambda: Shape.box(-4.0, 2.0), Status.INVALID_INPUT, "length", None, "greater"),
    "box without width": (
        lambda: Shape.box(4.0, 0.0), Status.INVALID_INPUT, "width", None, "greater"),
    "box of nan": (
        lambda: Shape.box(NAN, 2.0), Status.INVALID_INPUT, "length", None, "greater"),
    "inflation by less than nothing": (
        lambda: CAR.inflated(-0.1), Status.INVALID_INPUT, "margin", None, "negative"),
    "inflation by nan": (
        lambda: CAR.inflated(NAN), Status.NON_FINITE, "margin", None, "finite"),
    # poses of pairs
    "collide with a list": (
        lambda: collide(CAR, SQUARE), Status.INVALID_INPUT, "b", None, "Shape"),  # type: ignore[arg-type]
    "collide at a point": (
        lambda: collide(CAR, CAR, pose_b=(1.0, 2.0)),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "pose_b", None, "x, y, yaw"),
    "distance at a word": (
        lambda: distance(CAR, CAR, "abc"),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "pose_a", None, "x, y, yaw"),
    "closest to nothing": (
        lambda: closest(None, CAR), Status.INVALID_INPUT, "a", None, "Shape"),  # type: ignore[arg-type]
    "collide at nan": (
        lambda: collide(CAR, CAR, pose_a=(0.0, 0.0, NAN)),
        Status.NON_FINITE, "pose_a", None, "finite"),
    "distance at infinity": (
        lambda: distance(CAR, CAR, pose_b=(INF, 0.0, 0.0)),
        Status.NON_FINITE, "pose_b", None, "finite"),
    "closest beyond the range": (
        lambda: closest(CAR, CAR, pose_b=(0.0, -2e15, 0.0)),
        Status.COORD_RANGE, "pose_b", None, "1e15"),
    "collide at a yaw without digits": (
        lambda: collide(CAR, CAR, pose_a=(0.0, 0.0, 1e7)),
        Status.COORD_RANGE, "pose_a", None, "yaw"),
    "collide at a number": (
        lambda: collide(CAR, CAR, np.array(3.0)), Status.INVALID_INPUT, "pose_a", None, "yaw"),
    "trace at a number": (
        lambda: trace(CAR, CAR, None, np.array(3.0)),
        Status.INVALID_INPUT, "pose_b", None, "yaw"),
    "collide beyond a double": (
        lambda: collide(CAR, CAR, (10**400, 0, 0)), Status.INVALID_INPUT, "pose_a", None, "yaw"),
    "collide at complex numbers": (
        lambda: collide(CAR, CAR, pose_b=np.array([1 + 1j, 0, 0])),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "pose_b", None, "yaw"),
    "collide at a complex number": (
        lambda: collide(CAR, CAR, pose_b=(0, np.complex64(1), 0)),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "pose_b", None, "yaw"),
    "distance at a set": (
        lambda: distance(CAR, CAR, pose_b={3.0, 1.0, 0.0}),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "pose_b", None, "yaw"),
    "circle of a complex number": (
        lambda: Shape.circle(np.complex128(1)),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "radius", None, "number"),
    "box of infinity": (
        lambda: Shape.box(INF, 1), Status.NON_FINITE, "length", None, "finite"),
    "box beyond the range": (
        lambda: Shape.box(1, 1e16), Status.COORD_RANGE, "width", None, "2e15"),
    "box about a far point": (
        lambda: Shape.box(1, 1, center=(0, 1e16)), Status.COORD_RANGE, "center", 1, "1e15"),
    "box that reaches too far": (
        lambda: Shape.box(1.9e15, 1, center=(1e15, 0)),
        Status.COORD_RANGE, "length, width, center", None, "1e15"),
    # motion
    "ray from nan": (
        lambda: ray_cast((NAN, 0), (1, 0), CAR), Status.NON_FINITE, "origin", 0, "finite"),
    "ray from beyond the range": (
        lambda: ray_cast((0, 1e16), (1, 0), CAR), Status.COORD_RANGE, "origin", 1, "1e15"),
    "ray to nan": (
        lambda: ray_cast((0, 0), (1, 0), CAR, pose=(NAN, 0, 0)),
        Status.NON_FINITE, "pose", None, "finite"),
    "impact in fewer than no iterations": (
        lambda: time_of_impact(**PAIR, t0=0, t1=1, max_iterations=-1),
        Status.INVALID_INPUT, "max_iterations", None, "from 0"),
    "impact beyond all times": (
        lambda: time_of_impact(**PAIR, t0=0, t1=1e20), Status.COORD_RANGE, "t1", None, "1e15"),
    "approach over too long": (
        lambda: closest_approach(**PAIR, t0=-1e15, t1=1e15),
        Status.COORD_RANGE, "t1", None, "1e15"),
    "cast with no tolerance": (
        lambda: shape_cast(CAR, CAR, (1, 0), tolerance=0.0),
        Status.INVALID_INPUT, "tolerance", None, "greater than 0 and at most 1e15 m (got 0.0)"),
    "cast with an infinite tolerance": (
        lambda: shape_cast(CAR, CAR, (1, 0), tolerance=INF),
        Status.INVALID_INPUT, "tolerance", None, "greater than 0 and at most 1e15 m (got inf)"),
    "cast over less than nothing": (
        lambda: shape_cast(CAR, CAR, (1, 0), -1.0),
        Status.INVALID_INPUT, "max_distance", None, "negative or NaN (got -1.0)"),
    "velocity of two numbers": (
        lambda: Motion.constant(POSE, (1, 0)),  # type: ignore[arg-type]
        Status.ARRAY_MISMATCH, "velocity", None, "must be (vx, vy, wz) (got shape (2,))"),
    "point of three numbers": (
        lambda: Shape.point(POSE),  # type: ignore[arg-type]
        Status.ARRAY_MISMATCH, "p", None, "must be (x, y) (got shape (3,))"),
    "path of too few poses": (
        lambda: Motion.path([0, 1], [POSE]), Status.ARRAY_MISMATCH, "poses", None, "of 2 (got 3)"),
    "path to nan": (
        lambda: Motion.path([0, 1], [POSE, (0, NAN, 1)]),
        Status.NON_FINITE, "poses", 1, "finite (got (0, nan, 1))"),
    "path at an infinite time": (
        lambda: Motion.path([0, INF], [POSE, POSE]), Status.NON_FINITE, "times", 1, "(got inf)"),
    "travel back in time": (
        lambda: STILL.travel(CAR, 5, 0), Status.INVALID_INPUT, "t1", None, "earlier than t0"),
    "travel until nan": (
        lambda: STILL.travel(CAR, 0, NAN), Status.NON_FINITE, "t1", None, "NaN"),
    # Scene
    "scene of something else": (
        lambda: Scene([CAR, SQUARE]), Status.INVALID_INPUT, "shapes", 1, "Shape"),
    "scene with too few poses": (
        lambda: Scene([CAR, CAR], poses=[(0, 0, 0)]), Status.ARRAY_MISMATCH, "poses", None, "2"),
    "scene with a bad pose": (
        lambda: Scene([CAR, CAR], poses=[(0, 0, 0), (0, NAN, 0)]),
        Status.NON_FINITE, "poses", 1, "finite"),
    "scene with too many ids": (
        lambda: Scene([CAR], ids=[1, 2]), Status.ARRAY_MISMATCH, "ids", None, "1"),
    "scene with ids that are no integers": (
        lambda: Scene([CAR], ids=[1.5]), Status.INVALID_INPUT, "ids", None, "integers"),
    "check without poses": (
        lambda: SCENE.check(CAR, np.zeros((0, 3))), Status.EMPTY_REQUEST, "poses", None, "one"),
    "check of a flat pose": (
        lambda: SCENE.check(CAR, [0.0, 0.0, 0.0, 0.0]),
        Status.ARRAY_MISMATCH, "poses", None, "(..., 3)"),
    "check of a number": (
        lambda: SCENE.check(CAR, 0.0), Status.ARRAY_MISMATCH, "poses", None, "(..., 3)"),
    "check of no shape": (
        lambda: SCENE.check([], [(0, 0, 0)]), Status.INVALID_INPUT, "shape", None, "at least one"),
    "check of several shapes of which one is none": (
        lambda: SCENE.check([CAR, 3], [(0, 0, 0)], which=0),
        Status.INVALID_INPUT, "shape", 1, "must be a Shape"),
    "check of several shapes without a choice": (
        lambda: SCENE.check([CAR, CAR], [(0, 0, 0)]),
        Status.INVALID_INPUT, "which", None, "one of the 2 shapes"),
    "check of a shape that is not there": (
        lambda: SCENE.check([CAR, CAR], [(0, 0, 0), (0, 0, 0)], which=[1, 2]),
        Status.INVALID_INPUT, "which", 1, "[0, 2)"),
    "check of shapes by negative numbers": (
        lambda: SCENE.check([CAR, CAR], [(0, 0, 0)], which=-1),
        Status.INVALID_INPUT, "which", 0, "[0, 2)"),
    "check of shapes by fractions": (
        lambda: SCENE.check([CAR, CAR], [(0, 0, 0)], which=0.0),
        Status.INVALID_INPUT, "which", None, "integers"),
    "check of shapes for other poses": (
        lambda: SCENE.check([CAR, CAR], np.zeros((2, 3, 3)), which=[0, 1]),
        Status.ARRAY_MISMATCH, "which", None, "broadcast to (2, 3)"),
    "check of a pose with nan": (
        lambda: SCENE.check(CAR, [(0, 0, 0), (0, 0, 0), (NAN, 0, 0)]),
        Status.NON_FINITE, "poses", 2, "finite"),
    "check of a pose beyond the range": (
        lambda: SCENE.check(CAR, [(0, 0, 0), (1e16, 0, 0)]),
        Status.COORD_RANGE, "poses", 1, "1e15"),
    "check with a negative margin": (
        lambda: SCENE.check(CAR, np.zeros((1, 3)), margin=-1.0),
        Status.INVALID_INPUT, "margin", None, "negative"),
    "check with a margin of nan": (
        lambda: SCENE.check(CAR, np.zeros((1, 3)), margin=NAN),
        Status.NON_FINITE, "margin", None, "finite"),
    "check at no times": (
        lambda: SCENE.check(CAR, np.zeros((1, 3)), times=[]),
        Status.ARRAY_MISMATCH, "times", None, "(1,)"),
    "way at no times": (
        lambda: SCENE.check_path(CAR, np.zeros((1, 3)), times=[]),
        Status.ARRAY_MISMATCH, "times", None, "(n,)"),
    **{
        f"way of which {name}, {'swept' if swept else 'pose by pose'}": (
            lambda how={**how, "swept": swept}: SCENE.check_path(CAR, np.zeros((2, 3)), **how),
            *said)
        for swept in (True, False)
        for name, how, said in (
            ("the times fall", {"times": [1, 0]}, (Status.INVALID_INPUT, "times", 1, "strictly")),
            ("a time is nan", {"times": [1, NAN]}, (Status.NON_FINITE, "times", 1, "finite")),
            ("the tolerance is nan", {"tolerance": NAN},
             (Status.INVALID_INPUT, "tolerance", None, "greater")))
    },
    "check in an unknown mode": (
        lambda: SCENE.check(CAR, np.zeros((1, 3)), mode="swept"),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "mode", None, "collide"),
    "scene of a path whose times stand": (
        lambda: Scene([CAR] * 3, paths=[([1], [POSE]), None, ([0, 1, 1], [POSE] * 3)]),
        Status.INVALID_INPUT, "paths", 2, "times[2]: must increase strictly"),
    "update with a path to nan": (
        lambda: SCENE.updated([0], paths=[([0, 1], [POSE, (NAN, 0, 0)])]),
        Status.NON_FINITE, "paths", 0, "poses[1]: "),
    "scene of two predictions": (
        lambda: Scene([CAR], prediction=np.array(["hold", "hold"])),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "prediction", None, "'hold'"),
    "scene with a horizon below zero": (
        lambda: Scene([CAR], horizon=-1.0),
        Status.INVALID_INPUT, "horizon", None, "must lie in [0, 1e10] s (got -1.0)"),
    "scene with a time error of nan": (
        lambda: Scene([CAR], time_error=NAN),
        Status.INVALID_INPUT, "time_error", None, "must lie in [0, 1e10] s (got nan)"),
    "no velocities for one obstacle": (
        lambda: Scene([CAR], velocities=[]),
        Status.ARRAY_MISMATCH, "velocities", None, "n = 1"),
    "no stamps for one obstacle": (
        lambda: Scene([CAR], stamps=[]), Status.ARRAY_MISMATCH, "stamps", None, "n = 1"),
    "is free at nan": (
        lambda: SCENE.is_free(CAR, (0.0, NAN, 0.0)), Status.NON_FINITE, "pose", None, "finite"),
    "is free at complex numbers": (
        lambda: SCENE.is_free(CAR, np.zeros(3, complex)),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "pose", None, "real"),
    "is free at a set": (
        lambda: SCENE.is_free(CAR, {3.0, 1.0, 0.0}),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "pose", None, "real"),
    "is free with a complex margin": (
        lambda: SCENE.is_free(CAR, POSE, margin=np.complex128(1 + 5j)),  # type: ignore[arg-type]
        Status.INVALID_INPUT, "margin", None, "number"),
    "is free at half a pose": (
        lambda: SCENE.is_free(CAR, (0.0, 0.0)),  # type: ignore[arg-type]
        Status.ARRAY_MISMATCH, "pose", None, "must be (x, y, yaw) (got shape (2,))"),
    "is free at no time": (
        lambda: SCENE.is_free(CAR, (0.0, 0.0, 0.0), time=NAN),
        Status.NON_FINITE, "time", None, "finite"),
    "is free with a negative margin": (
        lambda: SCENE.is_free(CAR, (0.0, 0.0, 0.0), margin=-1.0),
        Status.INVALID_INPUT, "margin", None, "negative"),
    "nearest none": (
        lambda: SCENE.nearest(CAR, (0.0, 0.0, 0.0), k=0),
        Status.INVALID_INPUT, "k", None, "from 1 to 2147483647 (got 0)"),
    "check with threads below zero": (
        lambda: SCENE.check(CAR, [POSE], threads=-1),
        Status.INVALID_INPUT, "threads", None, "from 0 to 2147483647 (got -1)"),
    "nearest at nan": (
        lambda: SCENE.nearest(CAR, (0.0, NAN, 0.0)), Status.NON_FINITE, "pose", None, "finite"),
    "nearest at half a pose": (
        lambda: SCENE.nearest(CAR, (0.0, 0.0)),  # type: ignore[arg-type]
        Status.ARRAY_MISMATCH, "pose", None, "must be (x, y, yaw) (got shape (2,))"),
    "nearest within less than nothing": (
        lambda: SCENE.nearest(CAR, (0.0, 0.0, 0.0), max_distance=-1.0),
        Status.INVALID_INPUT, "max_distance", None, "negative"),
    "nearest within nan": (
        lambda: SCENE.nearest(CAR, (0.0, 0.0, 0.0), max_distance=NAN),
        Status.INVALID_INPUT, "max_distance", None, "NaN"),
    # arrays as they arrive in messages
    "offsets that do not start at 0": (
        arrays(offsets=[1, 2, 5]), Status.ARRAY_MISMATCH, "offsets", 0, "start"),
    "offsets that decrease": (
        arrays(offsets=[0, 4, 1, 5]), Status.ARRAY_MISMATCH, "offsets", 2, "decrease"),
    "offsets that end early": (
        arrays(offsets=[0, 1, 4]), Status.ARRAY_MISMATCH, "offsets", 2, "number of points"),
    "offsets that end late": (
        arrays(offsets=[0, 1, 6]), Status.ARRAY_MISMATCH, "offsets", 2, "number of points"),
    "offsets beyond the points in the middle": (
        arrays(offsets=[0, 4294967295, 5]), Status.ARRAY_MISMATCH, "offsets", 1, ""),
    "offsets below zero": (
        arrays(offsets=[0, -1, 5]), Status.INVALID_INPUT, "offsets", 1, ""),
    "points without offsets": (
        arrays(offsets=[]), Status.ARRAY_MISMATCH, "offsets", None, "xy"),
    "an obstacle without points": (
        arrays(offsets=[0, 1, 1, 5]), Status.TOO_FEW_POINTS, "offsets", 1, "no points"),
    "half a point": (
        arrays(xy=FLAT[1][:-1]), Status.ARRAY_MISMATCH, "xy", None, "2 values"),
    "a coordinate of nan": (
        arrays(xy=with_value(7, NAN)), Status.NON_FINITE, "xy", 7, "finite"),
    "a coordinate beyond the range": (
        arrays(xy=with_value(0, -1e300)), Status.COORD_RANGE, "xy", 0, "1e15"),
    "too few kinds": (
        arrays(kinds=[0]), Status.ARRAY_MISMATCH, "kinds", None, "2"),
    "an unknown kind": (
        arrays(kinds=[0, 7]), Status.INVALID_INPUT, "kinds", 1, "0 (convex)"),
    "a kind beyond a byte": (
        arrays(kinds=[0, 256]), Status.INVALID_INPUT, "kinds", 1, "255"),
    "too many radii": (
        arrays(radius=[0.0] * 3), Status.ARRAY_MISMATCH, "radius", None, "2"),
    "a negative radius": (
        arrays(radius=[0.0, -1.0]), Status.INVALID_INPUT, "radius", 1, "negative"),
    "a radius of nan": (
        arrays(radius=[NAN, 0.0]), Status.NON_FINITE, "radius", 0, "finite"),
    "too few poses of obstacles": (
        arrays(poses=[0.0] * 3), Status.ARRAY_MISMATCH, "poses", None, "2"),
    "a pose of nan of an obstacle": (
        arrays(poses=[0.0] * 5 + [NAN]), Status.NON_FINITE, "poses", 1, "finite"),
    "a flat outline": (
        arrays(offsets=[0, 2, 5], kinds=[1, 1]), Status.TOO_FEW_POINTS, "xy", None, "obstacle 0"),
    "a concave outline where none may be": (
        arrays(offsets=[0, 4], xy=[0, 0, 4, 0, 1, 1, 0, 4], kinds=[1], concave_policy="reject"),
        Status.CONCAVE_REJECTED, "xy", 4, "obstacle 0"),
    "an unknown policy": (
        arrays(concave_policy="skip"), Status.INVALID_INPUT, "concave_policy", None, "decompose"),
    "flat times of a path that stand": (
        arrays(path_offsets=[0, 1, 3], path_times=[0, 1, 1], path_poses=np.zeros(9)),
        Status.INVALID_INPUT, "path_times", 2, "strictly"),
    "too few ids": (
        arrays(ids=[1]), Status.ARRAY_MISMATCH, "ids", None, "2"),
}  # fmt: skip


# name: what is called, the argument, the shape that the rule names, the shape that is given.
TURNED: dict[str, tuple[Callable[..., Any], str, str, tuple[int, ...]]] = {
    "poses": (lambda a: Scene([CAR] * 4, poses=a), "poses", "(n, 3)", (3, 4)),
    "velocities": (lambda a: Scene([CAR] * 4, velocities=a), "velocities", "(n, 3)", (3, 4)),
    "stamps": (lambda a: Scene([CAR] * 4, stamps=a), "stamps", "(n,)", (2, 2)),
    "poses of a path": (
        lambda a: Scene([CAR], paths=[(range(4), a)]), "paths", "(n, 3)", (3, 4)),
    "times of a path": (
        lambda a: Scene([CAR], paths=[(a, np.zeros((4, 3)))]), "paths", "(n,)", (4, 1)),
    "poses that change": (
        lambda a: Scene([CAR] * 4).updated(range(4), poses=a), "poses", "(n, 3)", (3, 4)),
    "velocities that change": (
        lambda a: Scene([CAR] * 4).updated(range(4), velocities=a),
        "velocities", "(n, 3)", (3, 4)),
    "indices": (
        lambda a: SCENE.updated(a.astype(int)), "indices", "(n,)", (1, 1)),
    "points in a flat scene": (
        lambda a: Scene.from_arrays([0, 3], a), "xy", "(n,) or (n, 2)", (2, 3)),
    **{
        f"{name} in a flat scene": (
            lambda a, name=name: Scene.from_arrays(
                range(5), SQUARE, **{"path_offsets": range(5), "path_times": range(4),
                                     "path_poses": np.zeros(12), name: a}),
            name, shape, given)
        for name, shape, given in (
            ("poses", "(n,) or (n, 3)", (3, 4)),
            ("velocities", "(n,) or (n, 3)", (3, 4)),
            ("path_poses", "(n,) or (n, 3)", (3, 4)),
            ("path_times", "(n,)", (4, 1)),
            ("stamps", "(n,)", (2, 2)),
            ("radius", "(n,)", (4, 1)))
    },
    "poses of a check": (lambda a: SCENE.check(CAR, a), "poses", "(..., 3)", (3, 4)),
    "times of a check": (
        lambda a: SCENE.check(CAR, np.zeros((4, 3)), a), "times", "(4,)", (2, 2)),
    "times of a way": (
        lambda a: SCENE.check_path(CAR, np.zeros((4, 3)), a), "times", "(n,)", (4, 1)),
    "pairs": (
        lambda a: check_pairs(SCENE, SCENE, a.astype(int)), "pairs", "(n, 2)", (2, 3)),
    "poses of a motion": (
        lambda a: Motion.path(range(4), a), "poses", "(n, 3)", (3, 4)),
    "points of a hull": (Shape.hull, "points", "(n, 2)", (2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", TURNED)
def test_a_transposed_array_is_not_scrambled(name: str) -> None:
    """It has as many numbers as the right one; read in its order they are other obstacles."""
    call, argument, shape, given = TURNED[name]
    with pytest.raises(InputError) as caught:
        call(np.zeros(given))
    error = caught.value
    assert (error.status, error.argument) == (Status.ARRAY_MISMATCH, argument)
    assert f"must have shape {shape}" in error.rule


@pytest.mark.parametrize("name", BAD)
def test_refused_by_name(name: str) -> None:
    call, status, argument, index, words = BAD[name]
    with pytest.raises(InputError) as caught:
        call()
    error = caught.value
    assert (error.status, error.argument, error.index) == (status, argument, index), error.rule
    assert words in error.rule
    assert isinstance(error, ValueError)
    where = argument if index is None else f"{argument}[{index}]"
    assert str(error).startswith(where)


# Public functions, each with arguments that are good.
GOOD: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Shape": (Shape, {"core": CAR._core}),
    "Shape.polygon": (Shape.polygon, {"xy": SQUARE, "radius": 0.1}),
    "Shape.box": (Shape.box, {"length": 4, "width": 2, "center": (1, 0), "radius": 0.1}),
    "Shape.circle": (Shape.circle, {"radius": 1, "center": (0, 0)}),
    "Shape.capsule": (Shape.capsule, {"p": (0, 0), "q": (1, 0), "radius": 0.5}),
    "Shape.segment": (Shape.segment, {"p": (0, 0), "q": (1, 0)}),
    "Shape.point": (Shape.point, {"p": (0, 0)}),
    "Shape.hull": (Shape.hull, {"points": SQUARE, "radius": 0.1}),
    "Shape.concave": (Shape.concave, {"outline": SQUARE, "radius": 0.1}),
    "inflated": (CAR.inflated, {"margin": 0.1}),
    "padded": (CAR.padded, {"front": 1, "rear": 1.0, "left": np.float32(1), "right": np.int8(1)}),
    **{
        each.__name__: (each, {"a": CAR, "b": CAR, "pose_a": POSE, "pose_b": list(POSE)})
        for each in (collide, distance, closest, penetration, trace)
    },
    "Motion": (Motion, {"core": STILL._core}),
    "Motion.still": (Motion.still, {"pose": POSE}),
    "Motion.constant": (Motion.constant, {"pose": POSE, "velocity": POSE, "time": 1}),
    "Motion.path": (Motion.path, {"times": [0, 1], "poses": [POSE, POSE]}),
    "at": (STILL.at, {"t": 1}),
    "travel": (STILL.travel, {"shape": CAR, "t0": 0, "t1": 1}),
    "time_of_impact": (
        time_of_impact,
        {**PAIR, "t0": 0, "t1": 1, "margin": 0, "tolerance": 0.1, "max_iterations": np.int8(9)}),
    "closest_approach": (closest_approach, {**PAIR, "t0": 0, "t1": 1, "tolerance": 0.1}),
    "shape_cast": (
        shape_cast,
        {"a": CAR, "direction": (1, 0), "b": CAR, "max_distance": 9, "pose_a": POSE,
         "pose_b": POSE, "margin": 0, "tolerance": 0.1}),
    "ray_cast": (
        ray_cast,
        {"origin": (0, 0), "direction": (1, 0), "shape": CAR, "max_distance": 9, "pose": POSE,
         "tolerance": 0.1}),
    "Scene": (
        Scene,
        {"shapes": (CAR,), "poses": [POSE], "ids": [3], "velocities": [POSE],
         "paths": [([0, 1], [POSE, POSE])], "stamps": [0], "prediction": "hold", "horizon": 5}),
    "Scene, a path": (lambda paths: Scene([CAR], paths=[paths]), {"paths": None}),
    "Scene.from_arrays": (
        Scene.from_arrays,
        {"offsets": [0, 4], "xy": SQUARE, "ids": [3], "kinds": [1], "radius": [0.1],
         "poses": POSE, "velocities": POSE, "path_offsets": [0, 1], "path_times": [1],
         "path_poses": POSE, "stamps": [0], "concave_policy": "hull", "prediction": "hold",
         "horizon": 5}),
    "updated": (
        SCENE.updated,
        {"indices": [0], "poses": [POSE], "shapes": [CAR], "velocities": [POSE],
         "paths": [None], "stamps": [0]}),
    "check": (
        SCENE.check,
        {"shape": CAR, "poses": [POSE], "times": [0], "margin": 1, "mode": "distance",
         "stop_at_first": np.bool_(True), "threads": 1, "warm_start": False}),
    "nearest": (
        Scene([CAR], prediction="hold").nearest,
        {"shape": CAR, "pose": POSE, "k": np.int64(1), "max_distance": 9, "time": 0}),
    "check_path": (
        SCENE.check_path,
        {"shape": CAR, "poses": [POSE], "times": [0], "tolerance": 0.1, "swept": True,
         "margin": 0}),
    "check_pairs": (
        check_pairs,
        {"a": SCENE, "b": SCENE, "pairs": [(0, 0)], "margin": 0, "mode": "witness",
         "threads": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_an_argument_of_another_kind_is_refused_by_name(name: str) -> None:
    """Whatever it is, the error is this package's own and says which argument it was."""
    call, good = GOOD[name]
    call(**good)
    for argument in good:
        for wrong in (object(), "abc", [{}], 1j):
            with pytest.raises(InputError) as caught:
                call(**{**good, argument: wrong})
            assert argument in caught.value.argument.split(", "), (argument, wrong)
            assert "must" in caught.value.rule or "use" in caught.value.rule


def test_what_only_looks_alike_is_refused() -> None:
    """The likeliest slips, and what is said of them."""
    for call, said in (
        (lambda: Scene(CAR), "shapes: must be a sequence (got Shape)"),  # type: ignore[arg-type]
        (lambda: Scene([CAR, SCENE]), "shapes[1]: must be a Shape (got Scene)"),  # type: ignore[list-item]
        (lambda: SCENE.check("car", [POSE]), "shape: must be a Shape or a list of them (got str)"),  # type: ignore[arg-type]
        (lambda: SCENE.check_path(CAR, [POSE], None, 0.1, 0.5),  # type: ignore[arg-type]
         "swept: must be True or False (got 0.5)"),
        (lambda: SCENE.check(CAR, [POSE], margin="1"), "margin: must be a number (got '1')"),  # type: ignore[arg-type]
        (lambda: SCENE.is_free("car", POSE), "shape: must be a Shape (got str)"),  # type: ignore[arg-type]
        (lambda: SCENE.is_free(CAR, "abc"), "pose: must be an array of real numbers"),  # type: ignore[arg-type]
        (lambda: SCENE.is_free(CAR, POSE, margin="1"), "margin: must be a number (got '1')"),  # type: ignore[arg-type]
        (lambda: SCENE.is_free(CAR, POSE, time="1"), "time: must be a number (got '1')"),  # type: ignore[arg-type]
        (lambda: SCENE.nearest(CAR, POSE, 1.0), "k: must be a whole number"),  # type: ignore[arg-type]
        (lambda: SCENE.nearest(CAR, POSE, 2**40), "k: must be a whole number"),
        (lambda: Shape.circle(10**400), "radius: must be a number (got 1000"),
        (lambda: Shape(SQUARE), "core: use Shape.polygon"),  # type: ignore[arg-type]
        (lambda: time_of_impact(CAR, CAR, POSE, STILL), "motion_a: must be a Motion (got tuple)"),  # type: ignore[arg-type]
    ):  # fmt: skip
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value).startswith(said)


@pytest.mark.parametrize("corners", [5, 7, 8])
def test_stars_are_not_convex(corners: int) -> None:
    """A star turns one way only; taken for convex, its tips would be cut off."""
    turns = 2 if corners < 8 else 3
    star = [
        (math.cos(2 * math.pi * turns * k / corners), math.sin(2 * math.pi * turns * k / corners))
        for k in range(corners)
    ]
    with pytest.raises(InputError) as caught:
        Shape.polygon(star)
    assert caught.value.status == Status.CONCAVE_REJECTED
    with pytest.raises(InputError):
        Shape.concave(star)


@pytest.mark.parametrize(
    "outline",
    [
        [(0, 0), (4, 0), (2, 0), (4, 4)],  # back along its own edge
        [(0, 0), (4, 0), (4, 4), (2, 2), (4, 4)],  # out and back
        [(0, 0), (1, 0), (1, 1), (0, 1)] * 2,  # twice around
        [(0, 0), (2, 2), (2, 0), (0, 2)],  # bow tie
    ],
)
def test_outlines_that_fold_are_not_convex(outline: list[tuple[int, int]]) -> None:
    with pytest.raises(InputError) as caught:
        Shape.polygon(outline)
    assert caught.value.status in (Status.CONCAVE_REJECTED, Status.DEGENERATE)


def test_good_outlines_are_not_refused() -> None:
    """The edge of what is allowed: none of these may raise."""
    Shape.polygon([*SQUARE, SQUARE[0]])
    Shape.polygon(SQUARE[::-1])
    Shape.polygon([(0, 0), (1, 0), (1, 0), (2, 0), (2, 2), (0, 2)])
    Shape.polygon([(0, 0), (1e15, 0), (1e15, 1e15), (-1e15, 1e15)])
    Shape.polygon([(0, 0), (1e-40, 0), (0, 1e-40)])
    Shape.hull([(1, 1), (1, 1)])
    Shape.segment((2.0, 2.0), (2.0, 2.0))
    Shape.circle(0.0)
    Shape.concave(SQUARE)
    Shape.concave([(0, 0), (4, 0), (4, 0), (4, 4), (2, 1), (0, 4), (0, 0)])


def test_times_that_do_not_rise_are_refused_in_the_same_words() -> None:
    times, poses = [0.0, 2.0, 2.0], [POSE] * 3
    flat = {"path_offsets": [0, 0, 3], "path_times": times, "path_poses": poses}
    for call in (
        lambda: Motion.path(times, poses),
        lambda: SCENE.check_path(CAR, poses, times),
        lambda: SCENE.check_path(CAR, poses, times, swept=False),
        lambda: Scene([CAR], paths=[(times, poses)]),
        arrays(**flat),
    ):
        with pytest.raises(InputError, match=r"times\[2\]: must increase strictly \(got 2(.0)?\)"):
            call()


def test_the_range_of_coordinates_is_that_of_the_kernel() -> None:
    """The constant, and the rule where Python computes with a point before the kernel does."""
    Shape.point((0.0, _core.MAX_COORDINATE))
    Shape.box(4.0, 4.0, center=(0.0, _core.MAX_COORDINATE - 2.0))
    for make in (
        lambda x: Shape.point((0.0, x)),
        lambda x: Shape.box(4.0, 4.0, center=(0.0, x)),
        lambda x: ray_cast((0.0, x), (1.0, 0.0), CAR),
    ):
        with pytest.raises(InputError, match="magnitude must not exceed 1e15 m") as caught:
            make(math.nextafter(_core.MAX_COORDINATE, INF))
        assert caught.value.status is Status.COORD_RANGE


@pytest.mark.parametrize("query", [collide, closest, distance, penetration])
def test_the_pose_that_leaves_the_range_is_named(query: Callable[..., Any]) -> None:
    """The user would look for the error in the other pose."""
    far, near = Shape.hull([(1e15, 1e15), (1e15, 0.0)]), Shape.point((0.0, 0.0))
    away = (1e15, 0.0, 0.0)
    for call, name in (
        (lambda: query(far, near, away, None), "pose_a"),
        (lambda: query(near, far, None, away), "pose_b"),
        (lambda: query(far, near, away, POSE), "pose_a"),
        (lambda: query(near, far, POSE, away), "pose_b"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert (caught.value.status, caught.value.argument) == (Status.COORD_RANGE, name)


def nested(depth: int) -> list[Any]:
    """A number in `depth` lists."""
    values: Any = 0.0
    for _ in range(depth):
        values = [values]
    found: list[Any] = values
    return found


def test_lists_in_lists_without_end_are_refused_by_name() -> None:
    """Else they end in a RecursionError, which names no argument."""
    endless: list[Any] = []
    endless.append(endless)
    for values in (endless, nested(100), nested(3000)):
        for call, name in (
            (lambda: Shape.hull(values), "points"),  # noqa: B023
            (lambda: Shape.polygon([values]), "xy"),  # noqa: B023
            (lambda: Shape.concave(SQUARE, [values]), "holes[0]"),  # noqa: B023
            (lambda: Region([SQUARE, values]), "outlines"),  # noqa: B023
            (lambda: SCENE.check(CAR, values), "poses"),  # noqa: B023
        ):
            with pytest.raises(InputError) as caught:
                call()
            assert caught.value.argument == name
            assert caught.value.status in (Status.ARRAY_MISMATCH, Status.INVALID_INPUT)


@pytest.mark.parametrize("depth", [9, 40, 3000])
def test_lists_that_hold_others_twice_are_refused_at_once(depth: int) -> None:
    """They have 2^depth numbers: a conversion of 40 lists would never end."""
    values: Any = [0.0, 0.0]
    for _ in range(depth):
        values = [values, values]
    scene, circle = Scene([Shape.circle(1.0)]), Shape.circle(1.0)
    for call, argument in (
        (Shape.hull, "points"),
        (Shape.polygon, "xy"),
        (lambda v: scene.check(circle, v), "poses"),
        (lambda v: Region([v]), r"outlines\[0\]"),
    ):
        with pytest.raises(InputError, match=f"^{argument}: must"):
            call(values)


def test_geometries_in_geometries_without_end_are_refused() -> None:
    collection: dict[str, Any] = {"type": "GeometryCollection"}
    collection["geometries"] = [collection]
    feature: dict[str, Any] = {"type": "Feature"}
    feature["geometry"] = feature
    deep: dict[str, Any] = {"type": "Point", "coordinates": (1.0, 2.0)}
    for _ in range(3000):
        deep = {"type": "Feature", "geometry": deep}
    for geometry in (collection, feature, deep):
        with pytest.raises(InputError, match="16 features or collections") as caught:
            Shape.from_geo(geometry)
        assert (caught.value.status, caught.value.argument) == (Status.INVALID_INPUT, "g")
    point: dict[str, Any] = {"type": "Point", "coordinates": (1.0, 2.0)}
    for _ in range(16):
        point = {"type": "GeometryCollection", "geometries": [point]}
    assert Shape.from_geo(point) == Shape.point((1.0, 2.0))


@pytest.mark.parametrize("kind", [np.array(["Point", "Point"]), np.array(["Point"]), ["Point"], 1])
def test_the_type_of_a_geometry_is_a_string(kind: Any) -> None:
    """An array of several words has no truth value, and one of one word is not a type."""
    with pytest.raises(InputError, match="type must be a string") as caught:
        Shape.from_geo({"type": kind, "coordinates": (0.0, 0.0)})
    assert caught.value.argument == "g"


@pytest.mark.parametrize("empty", ["", b"", {}, set(), frozenset()])
def test_no_string_and_no_mapping_counts_as_an_empty_sequence(empty: Any) -> None:
    """Else a wrong argument would leave out holes or obstacles in silence."""
    for call, name in (
        (lambda: Shape.concave(SQUARE, empty), "holes"),
        (lambda: Region([SQUARE], empty), "holes"),
        (lambda: Shape.compound(empty), "shapes"),
        (lambda: Scene(empty), "shapes"),
    ):
        with pytest.raises(InputError, match=r"must be a sequence \(got ") as caught:
            call()
        assert caught.value.argument == name


class Old(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of one element that becomes a float, as all of them did before numpy 2.4."""

    def __float__(self) -> float:
        return float(self.ravel()[0])


def test_an_array_with_axes_is_not_a_number() -> None:
    one = np.zeros((1, 1, 1, 1)).view(Old)
    for call, name in (
        (lambda: SCENE.check(CAR, (0.0, 0.0, 0.0), margin=one), "margin"),
        (lambda: Shape.circle(one), "radius"),
    ):
        with pytest.raises(InputError, match="must be a number") as caught:
            call()
        assert caught.value.argument == name
    assert Shape.circle(np.array(1.0)) == Shape.circle(1.0)


def test_a_message_is_short_whatever_was_given() -> None:
    """A log line with the whole input hides the rule."""
    wordy = type("X" * 1000, (), {})()
    for call, word in (
        (lambda: Shape.hull(wordy), "must be an array of real numbers"),
        (lambda: Shape.concave(SQUARE, 10**900), "must be a sequence of outlines"),  # type: ignore[arg-type]
        (lambda: Shape.from_geo({"type": "x" * 1000}), "type must be one of"),
        (lambda: SCENE.check(wordy, POSE), "must be a Shape"),
    ):
        with pytest.raises(InputError, match=word) as caught:
            call()
        assert len(str(caught.value)) < 450


def test_an_error_survives_pickling() -> None:
    """Worker processes hand errors back."""
    error = InputError(Status.NON_FINITE, "xy", 3, "must be finite")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "xy[3]: must be finite"
    assert (again.status, again.index) == (Status.NON_FINITE, 3)
