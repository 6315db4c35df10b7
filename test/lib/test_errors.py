# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Bad input: refused as it is, with the status, the argument, the index and the rule by name.

Nothing here may ever end in an answer.
"""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import gjk_collision
from gjk_collision import (
    Motion,
    Path,
    Region,
    Scene,
    Shape,
    _core,
    closest,
    collide,
    collide_many,
    distance,
    distance_many,
    penetration,
    ray_cast,
)
from gjk_collision.errors import InputError
from gjk_collision.pairs import check_pairs
from gjk_collision.verdict import Status

NAN, INF = math.nan, math.inf
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
CAR = Shape.box(4.0, 2.0)
SCENE = Scene([Shape.point((50.0, 0.0))], prediction="hold")
POSE = (0.0, 1.0, 2.0)
STILL = Motion.still()
PAIR = {"a": CAR, "motion_a": STILL, "b": CAR, "motion_b": STILL}
FLAT = ([0, 1, 5], [9.0, 9.0, *(c for p in SQUARE for c in p)])


def arrays(offsets: Any = FLAT[0], xy: Any = FLAT[1], **fields: Any) -> Scene:
    """A scene of a point and a square, with some fields changed."""
    return Scene.from_arrays(offsets, xy, **fields)


def with_value(i: int, value: float) -> list[float]:
    xy = list(FLAT[1])
    xy[i] = value
    return xy


def many(**changes: Any) -> None:
    """The questions of flat arrays refuse the same."""
    given = {"a_offsets": [0, 4], "a_xy": SQUARE, "b_offsets": [0, 4], "b_xy": SQUARE, **changes}
    if "margin" in changes:
        collide_many(**given)
    with pytest.raises(InputError) as caught:
        collide_many(**given)
    with pytest.raises(InputError, match=re.escape(str(caught.value))) as other:
        distance_many(**given)
    assert other.value.status is caught.value.status
    raise caught.value


# Of each status: the call, the argument with its index, and words of the rule.
ZERO, ROW = (0, 0, 0), np.zeros((1, 3))
PATH, POSES = np.zeros((2, 3)), np.zeros((2, 3, 3))
NINE = {"path_poses": np.zeros(9)}
CURVE = Path.arcs(ZERO, [(0, 1), (0.1, 1)])
FAN = Path.arcs(ZERO, [[(0.5, 1.0)], [(0.0, 2.0)]])
BRIEF = Scene([CAR], velocities=[POSE], horizon=5.0)
MASKED = np.ma.masked_array(ZERO, mask=[1, 0, 0])
NOTCH = [0, 0, 4, 0, 1, 1, 0, 4]
BAD: dict[Status, list[tuple[str, str, str]]] = {
    Status.TOO_FEW_POINTS: [
        ("Motion.path([], np.empty((0, 3)))", "times", "at least 1"),
        ("many(b_offsets=[0, 0, 4], a_offsets=[0, 2, 4])", "b_offsets[0]", ""),
        ("Shape.polygon(np.zeros((0, 2)))", "xy", "3"),
        ("Shape.polygon([*SQUARE[:2], SQUARE[0]])", "xy", "3"),
        ("Shape.hull(np.zeros((0, 2)))", "points", "1"),
        ("arrays(offsets=[0, 1, 1, 5])", "offsets[1]", "no points"),
        ("arrays(offsets=[0, 2, 5], kinds=[1, 1])", "xy", "obstacle 0"),
    ],
    Status.DEGENERATE: [
        ("Shape.polygon([(0, 0), (1, 1), (2, 2)])", "xy", "line"),
    ],
    Status.NON_FINITE: [
        ("Motion.constant(POSE, (0, 0, INF))", "velocity[2]", ""),
        ("time_of_impact(**PAIR, t0=0.0, t1=None)", "t1", ""),
        ("many(a_xy=[*SQUARE[:3], (0.0, NAN)])", "a_xy[7]", ""),
        ("many(margin=NAN)", "margin", ""),
        ("Shape.polygon([*SQUARE, (0, NAN)])", "xy[4]", "finite"),
        ("Shape.circle(INF)", "radius", "finite"),
        ("ray_cast((NAN, 0), (1, 0), CAR)", "origin[0]", "finite"),
        ("Motion.path([0, 1], [POSE, (0, NAN, 1)])", "poses[1]", "finite (got (0, nan, 1))"),
        ("Scene([CAR, CAR], poses=[ZERO, (0, NAN, 0)])", "poses[1]", "finite"),
        ("SCENE.check(CAR, [ZERO, ZERO, (NAN, 0, 0)])", "poses[2]", "finite"),
        ("SCENE.updated([0], paths=[([0, 1], [POSE, (NAN, 0, 0)])])", "paths[0]", "poses[1]: "),
        ("arrays(xy=with_value(7, NAN))", "xy[7]", "finite"),
        ("SCENE.check_path(CAR, PATH, times=[1, NAN], swept=True)", "times[1]", "finite"),
        ("Path.arcs((0, 0, NAN), [(0, 1)])", "start", "finite"),
        ("Path.arcs(ZERO, [(0, 1), (INF, 1)])", "arcs[1]", "curvature and length"),
        ("Path.dubins(PATH, PATH + INF, 1.0)", "b[0]", "x, y and yaw"),
        ("Path.arcs(ZERO, [(0, 1)]).at([0, NAN])", "distances[1]", ""),
        ("SCENE.first_contact(CAR, POSES, [0, 1, NAN])", "times[2]", "finite"),
        ("SCENE.check(CAR, POSES, [[0, 1, 2], [INF, 1, 2]])", "times[3]", ", at [1, 0]"),
        ("Scene([CAR], lifetimes=[(0.0, INF)])", "lifetimes[0]", "NaN where there is no"),
        ("SCENE.ray_cast((0, 0), [(1, 0), (NAN, 0)])", "directions[1]", ""),
        ("Scene([CAR], velocities=[(INF, 0, 0)])", "velocities[0]", ""),
    ],
    Status.COORD_RANGE: [
        ("many(b_xy=[*SQUARE[:3], (0.0, 1e16)])", "b_xy[7]", ""),
        ("Shape.polygon([(0, 0), (1, 0), (1, 1.1e15)])", "xy[2]", "1e15"),
        ("ray_cast((1e15, 0), (-1.0, 0), CAR, tolerance=1.0)", "pose", "apart"),
        ("Shape.circle(2e15)", "radius", "1e15"),
        ("closest(CAR, CAR, pose_b=(0, -2e15, 0))", "pose_b", "1e15"),
        ("collide(CAR, CAR, pose_a=(0, 0, 1e7))", "pose_a", "yaw"),
        ("Shape.box(1, 1e16)", "width", "2e15"),
        ("Shape.box(1.9e15, 1, center=(1e15, 0))", "length, width, center", "1e15"),
        ("time_of_impact(**PAIR, t0=0, t1=1e20)", "t1", "1e15"),
        ("closest_approach(**PAIR, t0=-1e15, t1=1e15)", "t1", "1e15"),
        ("SCENE.check(CAR, [ZERO, (1e16, 0, 0)])", "poses[1]", "1e15"),
        ("arrays(xy=with_value(0, -1e300))", "xy[0]", "1e15"),
        ("Path.arcs(ZERO, [(1e3, 1e4)])", "arcs", "at most 1e6 rad"),
        ("Path.arcs((0, 0, 9e5), [(1.0, 9e5)])", "arcs", "yaw of the start and all turns"),
        ("Path.arcs(ZERO, [(0, 1)]).at(2.0)", "distances", "must lie in [0, 1.0] (got 2.0)"),
        ("Shape.compound([Shape.circle(1e15), CAR]).inflated(1e10)", "margin", ""),
        ("SCENE.check(CAR, [[ZERO] * 4, [ZERO, (0, 1e16, 0)] * 2])", "poses[5]", ", at [1, 1]"),
        ("SCENE.check(CAR, ZERO, 1e12)", "times", ""),
        ("Scene([CAR], lifetimes=[(2.0, 3e10)])", "lifetimes[0]", "1e10 s"),
        ("CAR.padded(left=2e15)", "left", ""),
        ("SCENE.ray_cast((0, 0), [[(1, 0), (1, 1)], [(1, 2), (2e15, 0)]])", "directions[3]", ""),
        ("Scene([CAR], margins=[2e15])", "margins[0]", "must not exceed 1e15 m (got "),
        ("Scene([CAR], margin_rates=[2e15])", "margin_rates[0]", "must not exceed 1e15 m/s"),
        ("FAN.moved([ZERO, (0, 0, 2e6)])", "poses[1]", "yaw"),
        ("FAN.moved((0, 0, 1e6))", "poses", "all turns"),
        ("FAN.at([[0.0, 1.0], [0.0, 2.5]])", "distances[3]", "[0, 2.0] (got 2.5), at [1, 1]"),
    ],
    Status.CONCAVE_REJECTED: [
        ("Shape.polygon([(0, 0), (4, 0), (1, 1), (0, 4)])", "xy[2]", "not convex"),
        ("Shape.polygon([(0, 4), (1, 1), (4, 0), (0, 0)])", "xy[1]", "not convex"),
        ("Shape.polygon([(0, 0), (1, 5e-324), (2, 0), (2, 2)])", "xy[1]", "not convex"),
        ("arrays([0, 4], NOTCH, kinds=[1], concave_policy='reject')", "xy[4]", "obstacle 0"),
    ],
    Status.ARRAY_MISMATCH: [
        ("many(a_offsets=[0, 3])", "a_offsets[1]", ""),
        ("many(b_offsets=[0, 4, 2])", "b_offsets[2]", ""),
        ("many(b_offsets=[0, 2, 4])", "b_offsets", ""),
        ("many(a_xy=[1.0, 2.0, 3.0])", "a_xy", ""),
        ("check_pairs(SCENE, SCENE, [0, 0])", "pairs", ""),
        ("Shape.polygon(np.zeros((4, 3)))", "xy", "(n, 2)"),
        ("Shape.polygon([0, 0, 1.0, 0, 1.0, 1.0])", "xy", "(n, 2)"),
        ("Shape.polygon([(0, 0), (1, 0, 3), (1, 1)])", "xy[1]", "must have 2 values"),
        ("Motion.constant(POSE, (1, 0))", "velocity", "must be (vx, vy, wz) (got shape (2,))"),
        ("Shape.point(POSE)", "p", "must be (x, y) (got shape (3,))"),
        ("Motion.path([0, 1], [POSE])", "poses", "of 2 (got 3)"),
        ("Scene([CAR, CAR], poses=[ZERO])", "poses", "2"),
        ("Scene([CAR], ids=[1, 2])", "ids", "1"),
        ("SCENE.check(CAR, [0.0, 0.0, 0.0, 0.0])", "poses", "(..., 3)"),
        ("SCENE.check(CAR, 0.0)", "poses", "(..., 3)"),
        ("SCENE.check([CAR, CAR], POSES, which=[0, 1])", "which", "broadcast to (2, 3)"),
        ("SCENE.check(CAR, [POSE], times=[])", "times", "(1,)"),
        ("Scene([CAR], velocities=[])", "velocities", "n = 1"),
        ("SCENE.is_free(CAR, (0, 0))", "pose", "must be (x, y, yaw) (got shape (2,))"),
        ("arrays(offsets=[1, 2, 5])", "offsets[0]", "start"),
        ("arrays(offsets=[0, 4, 1, 5])", "offsets[2]", "decrease"),
        ("arrays(offsets=[0, 1, 6])", "offsets[2]", "number of points"),
        ("arrays(offsets=[0, 4294967295, 5])", "offsets[1]", ""),
        ("arrays(offsets=[])", "offsets", "xy"),
        ("arrays(xy=FLAT[1][:-1])", "xy", "2 values"),
        ("arrays(kinds=[0])", "kinds", "2"),
        ("arrays(ids=[1])", "ids", "2"),
        ("Path.arcs((0, 0), [(0, 1)])", "start", "(..., 3)"),
        ("Path.arcs(ZERO, [0, 1])", "arcs", "(..., m, 2)"),
        ("Path.arcs(PATH, np.zeros((3, 1, 2)))", "arcs", "broadcastable with start"),
        ("Path.dubins(PATH, np.zeros((3, 3)), 1.0)", "b", "fits that of a"),
        ("Path.straight([0, 0, 0])", "poses", "(..., n, 3)"),
        ("SCENE.check_path(CAR, CURVE, times=[0, 1, 2, 3])", "times", "(2,) or (3,) (got (4,))"),
        ("SCENE.first_contact(CAR, ROW, [0, 1, 2])", "poses", "(K, T, 3)"),
        ("SCENE.first_contact(CAR, POSES, [0, 1])", "times", "(2, 3) or (3,)"),
        ("SCENE.check(CAR, np.zeros((2, 5, 3)), np.zeros(2))", "times", "shape (2, 5) or (5,)"),
        ("SCENE.check(CAR, ZERO, np.zeros(1))", "times", "must be one number, "),
        ("Scene([CAR], lifetimes=[0.0, 1.0])", "lifetimes", "shape (n, 2)"),
        ("FAN.at(np.ones((3, 4)))", "distances", "(3, 4)"),
        ("SCENE.nearest_free(CAR, ROW, 1.0)", "pose", ""),
        ("SCENE.ray_cast((0, 0), np.zeros((2, 3)))", "directions", ""),
        ("SCENE.ray_cast(ZERO, [(1, 0)])", "origin", ""),
    ],
    Status.INVALID_INPUT: [
        ("many(pairs=[(0, 0), (0, 1)])", "pairs[1]", ""),
        ("many(pairs=[(-1, 0)])", "pairs[0]", ""),
        ("many(pairs=[(0.0, 0.0)])", "pairs", ""),
        ("many(margin=-1.0)", "margin", ""),
        ("check_pairs(SCENE, SCENE, [(0, 1)])", "pairs[0]", ""),
        ("_core.dubins(ROW, ROW, 0.0)", "radius", "greater than 0"),
        ("Shape.polygon(SQUARE, radius=-0.1)", "radius", "negative"),
        ("Shape.circle(np.timedelta64(5))", "radius", "must be a number"),
        ("Shape.circle(Decimal('sNaN'))", "radius", "must be a number"),
        ("Shape.polygon(np.ma.array(SQUARE, mask=np.eye(4, 2, -2)))", "xy[2]", "masked"),
        ("Shape.hull([np.ma.array([0, 0], mask=[1, 0]), [1.0, 1.0]])", "points[0]", "masked"),
        ("collide(CAR, CAR, pose_b=np.ma.array([5.0, 0, 0], mask=[1, 0, 0]))", "pose_b", "masked"),
        ("SCENE.is_free(CAR, np.ma.array([9.0, 0, 0], mask=[0, 1, 0]))", "pose[1]", "masked"),
        ("Shape.concave([(0, 0), (2, 2), (2, 0), (0, 3)])", "outline[0]", "crosses"),
        ("Shape.box(-4.0, 2.0)", "length", "greater"),
        ("Shape.box(4.0, 0)", "width", "greater"),
        ("CAR.inflated(-0.1)", "margin", "negative"),
        ("collide(CAR, CAR, pose_b=(1.0, 2.0))", "pose_b", "x, y, yaw"),
        ("collide(CAR, CAR, (10 ** 400, 0, 0))", "pose_a", "yaw"),
        ("distance(CAR, CAR, pose_b={3.0, 1.0, 0})", "pose_b", "yaw"),
        ("time_of_impact(**PAIR, t0=0, t1=1, max_iterations=-1)", "max_iterations", "from 0"),
        ("shape_cast(CAR, CAR, (1, 0), tolerance=0.0)", "tolerance", "at most 1e15 m (got 0)"),
        ("shape_cast(CAR, CAR, (1, 0), tolerance=INF)", "tolerance", "at most 1e15 m (got inf)"),
        ("shape_cast(CAR, CAR, (1, 0), -1.0)", "max_distance", "negative or NaN (got -1.0)"),
        ("STILL.travel(CAR, 5, 0)", "t1", "earlier than t0"),
        ("Motion.path([0, 0], [POSE] * 2)", "times[1]", "strictly"),
        ("ray_cast((0, 0), (0, 0), CAR)", "direction", ""),
        ("time_of_impact(**PAIR, t0=1.0, t1=0.0)", "t1", ""),
        ("Scene([CAR, SQUARE])", "shapes[1]", "Shape"),
        ("Scene([CAR], ids=[1.5])", "ids", "integers"),
        ("SCENE.check([], [ZERO])", "shape", "at least one"),
        ("SCENE.check([CAR, 3], [ZERO], which=0)", "shape[1]", "must be a Shape"),
        ("SCENE.check([CAR, CAR], [ZERO])", "which", "one of the 2 shapes"),
        ("SCENE.check([CAR, CAR], [ZERO, ZERO], which=[1, 2])", "which[1]", "[0, 2)"),
        ("SCENE.check([CAR, CAR], [ZERO], which=-1)", "which[0]", "[0, 2)"),
        ("SCENE.check([CAR, CAR], [ZERO], which=0.0)", "which", "integers"),
        (
            "Scene([CAR] * 3, paths=[([1], [POSE]), None, ([0, 1, 1], [POSE] * 3)])",
            "paths[2]",
            "times[2]: must increase strictly",
        ),
        ("Scene([CAR], prediction=np.array(['hold', 'hold']))", "prediction", "'hold'"),
        ("Scene([CAR], horizon=-1.0)", "horizon", "must lie in [0, 1e10] s (got -1)"),
        ("Scene([CAR], time_error=NAN)", "time_error", "must lie in [0, 1e10] s (got nan)"),
        ("SCENE.is_free(CAR, POSE, margin=np.complex128(1 + 5j))", "margin", "number"),
        ("SCENE.check(CAR, [ZERO], margin=True)", "margin", "must be a number (got True)"),
        ("SCENE.check(CAR, [POSE], threads=np.True_)", "threads", "whole number"),
        ("SCENE.is_free(CAR, ZERO, margin=-1.0)", "margin", "negative"),
        ("SCENE.nearest(CAR, ZERO, k=0)", "k", "from 1 to 2147483647 (got 0)"),
        ("SCENE.check(CAR, [POSE], threads=-1)", "threads", "from 0 to 2147483647 (got -1)"),
        ("SCENE.nearest(CAR, ZERO, max_distance=-1.0)", "max_distance", "negative"),
        ("arrays(offsets=[0, -1, 5])", "offsets[1]", ""),
        ("arrays(kinds=[0, 7])", "kinds[1]", "0 (convex)"),
        ("arrays(kinds=[0, 256])", "kinds[1]", "255"),
        ("arrays(radius=[0.0, -1.0])", "radius[1]", "negative"),
        ("arrays(concave_policy='skip')", "concave_policy", "decompose"),
        (
            "arrays(path_offsets=[0, 1, 3], path_times=[0, 1, 1], **NINE)",
            "path_times[2]",
            "strictly",
        ),
        ("SCENE.check_path(CAR, PATH, tolerance=NAN, swept=True)", "tolerance", "greater"),
        ("Path()", "Path", "use Path.straight"),
        ("Path.straight(POSES).poses", "poses", "as in path[0]"),
        ("Path.straight(PATH).segments", "segments", "use Path.poses"),
        ("Path.straight(PATH)[0]", "index", "shape (K,)"),
        ("SCENE.check_path(CAR, CURVE, times=[1, 0])", "times[1]", "strictly"),
        ("SCENE.check_path(CAR, CURVE, times=[1.8e9, 1800000000.0000002])", "times", "too close"),
        ("SCENE.check_path(CAR, CURVE, swept=False)", "swept", "must be True for a Path"),
        ("SCENE.check_path(CAR, CURVE, mode='witness')", "mode", "'collide' or 'distance'"),
        ("SCENE.check_path(CAR, CURVE, tolerance=0.0)", "tolerance", "greater than 0"),
        ("Shape.compound([])", "shapes", "at least one Shape"),
        ("SCENE.check(CAR, [[MASKED, MASKED]])", "poses[0]", "must not be masked"),
        ("Scene([CAR], lifetimes=[(2.0, 1.0)])", "lifetimes[0]", "must not end before"),
        ("Scene([CAR], margins=[-1.0])", "margins[0]", "must not be negative (got -1)"),
        ("Scene([CAR], margin_rates=[-1.0])", "margin_rates[0]", "must not be negative (got -1)"),
        ("Scene([CAR], paths=[([-1.0], ROW)])", "paths[0]", ""),
        ("Scene([CAR]).check(CAR, ROW, [1.0])", "times", ""),
        ("FAN.poses", "poses", "select one"),
        ("CAR.padded(front=-1.0)", "front", ""),
        ("SCENE.nearest_free(CAR, ZERO, INF)", "max_shift", ""),
        ("SCENE.nearest_free(CAR, ZERO, 1.0, -0.1)", "max_turn", ""),
        ("SCENE.nearest_free(CAR, ZERO, 1.0, margin=-0.1)", "margin", ""),
        ("SCENE.nearest_free(CAR, ZERO, 1.0, tolerance=0.0)", "tolerance", ""),
        ("SCENE.ray_cast((0, 0), [(1, 0), (0, 0)])", "directions[1]", ""),
        ("SCENE.ray_cast((0, 0), [(1, 0)], -1.0)", "max_distance", ""),
        ("SCENE.ray_cast((0, 0), [(1, 0)], tolerance=0.0)", "tolerance", ""),
        ("SCENE.first_contact(CAR, POSES, [0, 2, 2])", "times[2]", "strictly"),
        ("SCENE.first_contact(CAR, POSES, [[0, 1, 2], [0, 1, 1]])", "times[5]", "strictly"),
        ("SCENE.first_contact(CAR, POSES, [0, 1, 2], tolerance=0)", "tolerance", "greater than 0"),
        ("SCENE.check('car', [POSE])", "shape", "must be a Shape or a list of them (got str)"),
        ("SCENE.check([POSE], CAR)", "poses", "a Shape comes before the poses"),
        ("SCENE.nearest(POSE, CAR)", "pose", "a Shape comes before the poses"),
        ("SCENE.check_path([POSE], CAR)", "shape", "(got list), and comes before the poses"),
        ("SCENE.nearest(CAR, POSE, 2**40)", "k", "must be a whole number"),
        ("Shape.circle(10**400)", "radius", "must be a number (got 1000"),
        ("Shape(SQUARE)", "core", "use Shape.polygon"),
    ],
    Status.NUMERIC_FAILURE: [
        ("Path.dubins(ZERO, (1e15, 0, 0), 1e-300)", "b", "no curve was found"),
    ],
    Status.EMPTY_REQUEST: [
        ("SCENE.check(CAR, np.zeros((0, 3)))", "poses", "one"),
        ("Path.arcs(ZERO, np.zeros((0, 3, 2)))", "arcs", "at least one arc"),
        ("Path.straight(np.zeros((0, 3)))", "poses", "at least one pose"),
        ("SCENE.ray_cast((0, 0), np.empty((0, 2)))", "directions", ""),
        ("SCENE.first_contact(CAR, POSES[:0], [0, 1, 2])", "poses", "must hold"),
    ],
    Status.PREDICTION_TOO_SHORT: [
        ("Motion.path([0, 1], [POSE] * 2).at(1.5)", "t", "must lie in"),
        ("BRIEF.nearest(CAR, PATH, time=[0.0, 9.0])", "time[1]", ""),
    ],
}


# A call with an array a, the argument, the shape that the rule names, the shape that is given.
PATHS = {"path_offsets": range(5), "path_times": range(4), "path_poses": np.zeros(12)}
TURNED = [
    ("Scene([CAR] * 4, poses=a)", "poses", "(n, 3)", (3, 4)),
    ("Scene([CAR] * 4, velocities=a)", "velocities", "(n, 3)", (3, 4)),
    ("Scene([CAR] * 4, stamps=a)", "stamps", "(n,)", (2, 2)),
    ("Scene([CAR], paths=[(range(4), a)])", "paths", "(n, 3)", (3, 4)),
    ("Scene([CAR], paths=[(a, np.zeros((4, 3)))])", "paths", "(n,)", (4, 1)),
    ("Scene([CAR] * 4).updated(range(4), poses=a)", "poses", "(n, 3)", (3, 4)),
    ("Scene([CAR] * 4).updated(range(4), velocities=a)", "velocities", "(n, 3)", (3, 4)),
    ("SCENE.updated(a.astype(int))", "indices", "(n,)", (1, 1)),
    ("Scene.from_arrays([0, 3], a)", "xy", "(n,) or (n, 2)", (2, 3)),
    *(
        (f"Scene.from_arrays(range(5), SQUARE, **{{**PATHS, '{name}': a}})", name, shape, given)
        for name, shape, given in (
            ("poses", "(n,) or (n, 3)", (3, 4)),
            ("velocities", "(n,) or (n, 3)", (3, 4)),
            ("path_poses", "(n,) or (n, 3)", (3, 4)),
            ("path_times", "(n,)", (4, 1)),
            ("stamps", "(n,)", (2, 2)),
            ("radius", "(n,)", (4, 1)),
        )
    ),
    ("SCENE.check(CAR, a)", "poses", "(..., 3)", (3, 4)),
    ("SCENE.check(CAR, np.zeros((4, 3)), a)", "times", "(4,)", (2, 2)),
    ("SCENE.check_path(CAR, np.zeros((4, 3)), a)", "times", "(n,)", (4, 1)),
    ("check_pairs(SCENE, SCENE, a.astype(int))", "pairs", "(n, 2)", (2, 3)),
    ("Motion.path(range(4), a)", "poses", "(n, 3)", (3, 4)),
    ("Shape.hull(a)", "points", "(n, 2)", (2, 3)),
]


PUBLIC = set(gjk_collision.__all__) - {"__version__"}  # it needs the installed package
NAMES: dict[str, Any] = {name: getattr(gjk_collision, name) for name in PUBLIC}
NAMES.update(globals(), Decimal=Decimal, check_pairs=check_pairs)


@pytest.mark.parametrize(("call", "argument", "shape", "given"), TURNED)
def test_a_transposed_array_is_not_scrambled(
    call: str, argument: str, shape: str, given: tuple[int, ...]
) -> None:
    """It has as many numbers as the right one; read in its order they are other obstacles."""
    with pytest.raises(InputError) as caught:
        eval(call, {**NAMES, "a": np.zeros(given)})
    error = caught.value
    assert (error.status, error.argument) == (Status.ARRAY_MISMATCH, argument)
    assert f"must have shape {shape}" in error.rule


@pytest.mark.parametrize(
    ("status", "call", "where", "words"),
    [(status, *case) for status, cases in BAD.items() for case in cases],
)
def test_refused_by_name(status: Status, call: str, where: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        eval(call, NAMES)
    error = caught.value
    argument, _, index = where.partition("[")
    assert (error.status, error.argument) == (status, argument), error.rule
    assert error.index == (int(index[:-1]) if index else None)
    assert words in error.rule
    assert isinstance(error, ValueError)
    assert str(error).startswith(f"{where}: ")


# Public functions, each with arguments that are good.
WHERE = {"pose_a": POSE, "pose_b": list(POSE)}
MARGINS = {"margins": [1.0], "margin_rates": [0.1]}
SPAN = {**PAIR, "t0": 0, "t1": 1, "tolerance": 0.1}
GOOD: dict[str, dict[str, Any]] = {
    "Shape": {"core": CAR._core},
    "Shape.polygon": {"xy": SQUARE, "radius": 0.1},
    "Shape.box": {"length": 4, "width": 2, "center": (1, 0), "radius": 0.1},
    "Shape.circle": {"radius": 1, "center": (0, 0)},
    "Shape.capsule": {"p": (0, 0), "q": (1, 0), "radius": 0.5},
    "Shape.segment": {"p": (0, 0), "q": (1, 0)},
    "Shape.point": {"p": (0, 0)},
    "Shape.hull": {"points": SQUARE, "radius": 0.1},
    "Shape.concave": {"outline": SQUARE, "radius": 0.1},
    "Shape.from_geo": {"g": {"type": "Point", "coordinates": (1.0, 2.0)}, "radius": 0.1},
    "CAR.inflated": {"margin": 0.1},
    "CAR.padded": {"front": 1, "rear": 1.0, "left": np.float32(1), "right": np.int8(1)},
    **{
        name: {"a": CAR, "b": CAR, **WHERE}
        for name in ("collide", "distance", "closest", "penetration", "trace")
    },
    "Motion": {"core": STILL._core},
    "Motion.still": {"pose": POSE},
    "Motion.constant": {"pose": POSE, "velocity": POSE, "time": 1},
    "Motion.path": {"times": [0, 1], "poses": [POSE, POSE]},
    "STILL.at": {"t": 1},
    "STILL.travel": {"shape": CAR, "t0": 0, "t1": 1},
    "time_of_impact": {**SPAN, "margin": 0, "max_iterations": np.int8(9)},
    "closest_approach": SPAN,
    "shape_cast": {
        **{"a": CAR, "direction": (1, 0), "b": CAR, "max_distance": 9, **WHERE},
        **{"margin": 0, "tolerance": 0.1},
    },
    "ray_cast": {
        **{"origin": (0, 0), "direction": (1, 0), "shape": CAR, "max_distance": 9},
        **{"pose": POSE, "tolerance": 0.1},
    },
    "Scene": {
        **{"shapes": (CAR,), "poses": [POSE], "ids": [3], "velocities": [POSE], "stamps": [0]},
        **{"paths": [([0, 1], [POSE, POSE])], "prediction": "hold", "horizon": 5, **MARGINS},
    },
    "(lambda paths: Scene([CAR], paths=[paths]))": {"paths": None},
    "Scene.from_arrays": {
        **{"offsets": [0, 4], "xy": SQUARE, "ids": [3], "kinds": [1], "radius": [0.1]},
        **{"poses": POSE, "velocities": POSE, "path_offsets": [0, 1], "path_times": [1]},
        **{"path_poses": POSE, "stamps": [0], "concave_policy": "hull", "prediction": "hold"},
        **{"horizon": 5, **MARGINS},
    },
    "SCENE.updated": {
        **{"indices": [0], "poses": [POSE], "shapes": [CAR], "velocities": [POSE]},
        **{"paths": [None], "stamps": [0], **MARGINS},
    },
    "SCENE.check": {
        **{"shape": CAR, "poses": [POSE], "times": [0], "margin": 1, "mode": "distance"},
        **{"stop_at_first": np.bool_(True), "threads": 1},
    },
    "SCENE.is_free": {"shape": CAR, "pose": POSE, "time": 0, "margin": 1},
    "Path.dubins": {"a": POSE, "b": POSE, "radius": 1},
    "Path.reeds_shepp": {"a": POSE, "b": POSE, "radius": 1},
    "Shape.compound": {"shapes": [CAR]},
    "Scene([CAR], prediction='hold').nearest": {
        **{"shape": CAR, "pose": POSE, "k": np.int64(1), "max_distance": 9, "time": 0}
    },
    "SCENE.gradient": {"shape": CAR, "poses": [POSE], "times": [0], "k": 1, "threads": 1},
    **{
        name: {
            **{"shape": CAR, "poses": POSES, "times": [0, 1, 2], "tolerance": 0.1, "threads": 1}
        }
        for name in ("SCENE.first_contact", "SCENE.criticality")
    },
    "SCENE.nearest_free": {
        **{"shape": CAR, "pose": POSE, "max_shift": 1, "max_turn": 0.1, "margin": 0, "time": 0},
        "tolerance": 0.1,
    },
    "SCENE.ray_cast": {
        **{"origin": (0, 0), "directions": [(1, 0)], "max_distance": 9, "tolerance": 0.1},
        "threads": 1,
    },
    "SCENE.time_to_collision": {
        **{"shape": CAR, "poses": [POSE], "twists": [POSE], "times": [0], "horizon": 5},
        **{"tolerance": 0.1, "threads": 1},
    },
    "FAN.at": {"distances": [1.0]},
    "FAN.moved": {"poses": POSE},
    "SCENE.check_path": {
        **{"shape": CAR, "poses": [POSE], "times": [0], "tolerance": 0.1, "swept": True},
        "margin": 0,
    },
    "check_pairs": {
        **{"a": SCENE, "b": SCENE, "pairs": [(0, 0)], "margin": 0, "mode": "witness"},
        "threads": 1,
    },
}


def spoilt(value: Any) -> list[Any]:
    """The value with NaN as its last number, if it has numbers."""
    try:
        numbers = np.array(value, float)
    except (TypeError, ValueError):
        return []
    is_whole = np.isfinite(numbers).all()  # None has become NaN
    numbers.flat[-1:] = NAN
    return [numbers if numbers.ndim else float(numbers)] if is_whole else []


@pytest.mark.parametrize("name", GOOD)
def test_an_argument_of_another_kind_is_refused_by_name(name: str) -> None:
    """Whatever it is, the error is this package's own and says which argument it was."""
    call, good = eval(name, NAMES), GOOD[name]
    call(**good)
    for argument in good:
        numbers = spoilt(good[argument]) if argument != "velocities" else []  # NaN: not known
        is_bool = isinstance(good[argument], bool)
        if isinstance(good[argument], int | float | np.integer) and not is_bool:
            numbers += [True, np.True_, np.array(True), np.array([1.0]), np.array([1])]
        for wrong in (object(), "abc", [{}], 1j, *numbers):
            with pytest.raises(InputError) as caught:
                call(**{**good, argument: wrong})
            assert argument in caught.value.argument.split(", "), (argument, wrong)
            assert "must" in caught.value.rule or "use" in caught.value.rule


def star(corners: int, turns: int) -> list[tuple[float, float]]:
    """It turns one way only; taken for convex, its tips would be cut off."""
    angles = [2 * math.pi * turns * k / corners for k in range(corners)]
    return [(math.cos(angle), math.sin(angle)) for angle in angles]


@pytest.mark.parametrize(
    ("outline", "is_star"),
    [
        (star(5, 2), True),
        (star(7, 2), True),
        (star(8, 3), True),
        ([(0, 0), (4, 0), (2, 0), (4, 4)], False),  # back along its own edge
        ([(0, 0), (4, 0), (4, 4), (2, 2), (4, 4)], False),  # out and back
        ([(0, 0), (1, 0), (1, 1), (0, 1)] * 2, False),  # twice around
        ([(0, 0), (2, 2), (2, 0), (0, 2)], False),  # bow tie
    ],
)
def test_outlines_that_fold_are_not_convex(outline: Any, is_star: bool) -> None:
    with pytest.raises(InputError) as caught:
        Shape.polygon(outline)
    concave = caught.value.status is Status.CONCAVE_REJECTED
    assert concave or (caught.value.status is Status.DEGENERATE and not is_star)
    if is_star:
        with pytest.raises(InputError):
            Shape.concave(outline)


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
        lambda: arrays(**flat),
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
@pytest.mark.parametrize("other", [None, POSE])
def test_the_pose_that_leaves_the_range_is_named(query: Callable[..., Any], other: Any) -> None:
    """The user would look for the error in the other pose."""
    far, near = Shape.hull([(1e15, 1e15), (1e15, 0.0)]), Shape.point((0.0, 0.0))
    away = (1e15, 0.0, 0.0)
    for arguments, name in (
        ((far, near, away, other), "pose_a"),
        ((near, far, other, away), "pose_b"),
    ):
        with pytest.raises(InputError) as caught:
            query(*arguments)
        assert (caught.value.status, caught.value.argument) == (Status.COORD_RANGE, name)


def nested(values: Any, depth: int, copies: int = 1) -> Any:
    """The values in `depth` lists, each of which has the one below it `copies` times."""
    for _ in range(depth):
        values = [values] * copies
    return values


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (Shape.hull, "points"),
        (Shape.polygon, "xy"),
        (lambda values: Shape.polygon([values]), "xy"),
        (lambda values: Shape.concave(SQUARE, [values]), "holes[0]"),
        (lambda values: Region([SQUARE, values]), "outlines"),
        (lambda values: SCENE.check(CAR, values), "poses"),
    ],
)
def test_lists_in_lists_are_refused_by_name_and_at_once(
    call: Callable[[Any], Any], name: str
) -> None:
    """Else they end in a RecursionError, which names no argument, or 2^40 numbers are read."""
    endless: list[Any] = []
    endless.append(endless)
    twice = [nested([0.0, 0.0], depth, 2) for depth in (9, 40, 3000)]
    for values in (endless, nested(0.0, 100), nested(0.0, 3000), *twice):
        with pytest.raises(InputError, match=": must") as caught:
            call(values)
        assert caught.value.argument == name
        assert caught.value.status in (Status.ARRAY_MISMATCH, Status.INVALID_INPUT)


def test_geometries_in_geometries_without_end_are_refused() -> None:
    collection: dict[str, Any] = {"type": "GeometryCollection"}
    collection["geometries"] = [collection]
    feature: dict[str, Any] = {"type": "Feature"}
    feature["geometry"] = feature
    deep: dict[str, Any] = {"type": "Point", "coordinates": (1.0, 2.0)}
    for _ in range(16):
        deep = {"type": "GeometryCollection", "geometries": [deep]}
    assert Shape.from_geo(deep) == Shape.point((1.0, 2.0))
    for _ in range(3000):
        deep = {"type": "Feature", "geometry": deep}
    for geometry in (collection, feature, deep):
        with pytest.raises(InputError, match="16 features or collections") as caught:
            Shape.from_geo(geometry)
        assert (caught.value.status, caught.value.argument) == (Status.INVALID_INPUT, "g")


@pytest.mark.parametrize("empty", ["", b"", {}, set(), frozenset()])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda empty: Shape.concave(SQUARE, empty), "holes"),
        (lambda empty: Region([SQUARE], empty), "holes"),
        (Shape.compound, "shapes"),
        (Scene, "shapes"),
    ],
)
def test_no_string_and_no_mapping_counts_as_an_empty_sequence(
    empty: Any, call: Callable[[Any], Any], name: str
) -> None:
    """Else a wrong argument would leave out holes or obstacles in silence."""
    with pytest.raises(InputError, match=rf"^{name}: must be a sequence \(got "):
        call(empty)


class Old(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of one element that becomes a float, as all of them did before numpy 2.4."""

    def __float__(self) -> float:
        return float(self.ravel()[0])


def test_an_array_with_axes_is_not_a_number() -> None:
    one = np.zeros((1, 1, 1, 1)).view(Old)
    with pytest.raises(InputError, match=r"^margin: must be a number"):
        SCENE.check(CAR, (0.0, 0.0, 0.0), margin=one)
    with pytest.raises(InputError, match=r"^radius: must be a number"):
        Shape.circle(one)
    assert Shape.circle(np.array(1.0)) == Shape.circle(1.0)


def test_a_message_is_short_whatever_was_given() -> None:
    """A log line with the whole input hides the rule."""
    wordy = type("X" * 1000, (), {})()
    for call in (
        lambda: Shape.hull(wordy),
        lambda: Shape.concave(SQUARE, 10**900),
        lambda: Shape.from_geo({"type": "x" * 1000}),
        lambda: SCENE.check(wordy, POSE),
    ):
        with pytest.raises(InputError, match=r"must be (a|an|one of) ") as caught:
            call()
        assert len(str(caught.value)) < 450


def test_an_error_survives_pickling() -> None:
    """Worker processes hand errors back."""
    error = InputError(Status.NON_FINITE, "xy", 3, "must be finite")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "xy[3]: must be finite"
    assert (again.status, again.index) == (Status.NON_FINITE, 3)
