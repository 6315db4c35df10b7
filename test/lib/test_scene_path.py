# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Between the poses of a path nothing is tunnelled through."""

import math
from fractions import Fraction

import numpy as np
import pytest

from gjk_collision import Motion, Scene, Shape, closest_approach, time_of_impact
from gjk_collision.verdict import Verdict

CAR = Shape.box(4.0, 2.0)
TOLERANCE = 0.005
MODES = ("collide", "distance", "witness")
WALL = Shape.segment((0.0, -5.0), (0.0, 5.0))


def test_the_margin() -> None:
    scene = Scene([Shape.circle(1.0)], [(0.0, 3.0, 0.0)])
    path = [(-20, 0, 0), (20, 0, 0)]
    free = scene.check_path(CAR, path, margin=0.9)
    assert free.is_free and free.last_valid_fraction == 1.0 and free.first_invalid_segment == -1
    assert free.distance == pytest.approx(1.0, abs=TOLERANCE)
    assert free.lower_bound <= 1.0 <= free.distance
    near = scene.check_path(CAR, path, margin=1.2)
    assert (near.verdict, near.index) == (Verdict.MARGIN, 0)
    ahead = Scene([WALL], [(10.0, 0.0, 0.0)]).check_path(CAR, path, margin=1.0)
    assert ahead.verdict == Verdict.COLLISION
    assert ahead.last_valid_fraction == pytest.approx(27 / 40, abs=1e-3), "free up to the margin"


def test_one_pose_and_no_obstacle() -> None:
    scene = Scene([CAR], [(10.0, 0.0, 0.0)])
    assert scene.check_path(CAR, [(0, 0, 0)]).distance == pytest.approx(6.0, abs=TOLERANCE)
    inside = scene.check_path(CAR, [(9, 0, 0)])
    assert inside.verdict == Verdict.COLLISION
    assert (inside.first_invalid_segment, inside.last_valid_fraction) == (0, 0.0)
    empty = Scene([]).check_path(CAR, [(0, 0, 0), (9, 0, 0)], [0.0, 1.0])
    assert empty.is_free and empty.distance == empty.lower_bound == np.inf


@pytest.mark.parametrize("epoch", [0.0, 5e8, 1.8e9])
def test_the_first_collision_is_not_later_than_what_was_left_open(epoch: float) -> None:
    """An ego too fast for its clock passes one obstacle at a hair's breadth, then hits another."""
    rng = np.random.default_rng(1)
    ego, left_open = Shape.box(1.0, 1.0), 0
    for _ in range(300):
        speed, gap = 10 ** rng.uniform(0, 5), 10 ** rng.uniform(-6, -2)
        times = epoch + np.array([0.0, 10.0, 20.0]) / speed
        if len(set(times)) < 3:
            continue
        beside = [(5.0, 1.0 + gap, 0.0), (15.0, 0.0, 0.0)]
        scene = Scene([ego, ego], beside, velocities=[(0, 0, 0)] * 2)
        tolerance = float(rng.choice([1e-2, 1e-4, 1e-6]))
        found = scene.check_path(ego, [(0, 0, 0), (10, 0, 0), (20, 0, 0)], times, tolerance)
        assert found.verdict is not Verdict.FREE
        if found.verdict is Verdict.COLLISION and found.first_invalid_segment == 0:
            left_open += 1
            assert times[0] <= found.first_collision_time <= times[1]
    assert left_open > 100


@pytest.mark.requirement("V-15")
@pytest.mark.parametrize("end", [0.4, 1.5, 4.0])
def test_a_swept_path_past_the_domain_is_answered_as_its_poses(end: float) -> None:
    """An obstacle that leaves the domain on the way is at no known place."""
    disc, path = Shape.circle(1.0), [(0.0, 0.0, 0.0)] * 2
    leaving = Scene([disc], [(5e14, 0, 0)], velocities=[(5e14, 0, 0)])
    turning = Scene([Shape.box(4, 1)], [(50, 0, 1e6 - 1.0)], velocities=[(0, 0, 2.0)])
    coming = Scene([disc], [(9e14, 0, 0)], velocities=[(-1e14, 0, 0)])
    for scene in (leaving, turning, coming):
        verdicts = {scene.check(disc, path[:1], [end], mode=mode).verdict for mode in MODES}
        (right,) = verdicts
        assert scene.is_free(disc, path[0], time=end) == (right is Verdict.FREE)
        assert right is (Verdict.FREE if scene is coming or end < 0.5 else Verdict.UNKNOWN)
        assert scene.check_path(disc, path, [0.0, end]).verdict is right
    still, leaves = Motion.still(), Motion.constant((5e14, 0, 0), (5e14, 0, 0))
    right = Verdict.FREE if end < 0.5 else Verdict.UNKNOWN
    assert time_of_impact(disc, disc, still, leaves, 0.0, end).verdict is right


@pytest.mark.parametrize("pieces", [1, 2, 40])
def test_a_turn_past_the_domain_among_joints_is_not_free(pieces: int) -> None:
    """A stick turns past 1e6 rad through a disc whose own path has joints."""
    yaw = 1e6
    stick, disc = Shape.segment((0, 0), (10, 0)), Shape.circle(0.1)
    ways = [(0.0, 0.0, yaw), (0.0, 0.0, yaw - 4.0)]  # the shorter way is 2.28 rad on
    x, y = 5.0 * math.cos(yaw + 1.0), 5.0 * math.sin(yaw + 1.0)
    times = np.linspace(0.0, 1.0, pieces + 1)
    still = Motion.path(times, [(x, y, 0.0)] * (pieces + 1))
    turn = Motion.path([0.0, 1.0], ways)
    assert time_of_impact(stick, disc, turn, still).verdict is not Verdict.FREE
    assert closest_approach(stick, disc, turn, still).lower_bound <= -0.1
    path = (times[1:], [(x, y, 0.0)] * pieces)
    scene = Scene([disc], poses=[(x, y, 0.0)], paths=[path], horizon=5.0)
    found = scene.check_path(stick, ways, [0.0, 1.0])
    assert found.verdict is not Verdict.FREE
    assert found.lower_bound <= -0.1


@pytest.mark.parametrize("error", [0.0, 1e-9, 0.3, 2.5])
def test_a_path_is_valid_up_to_the_first_time_that_may_be_a_contact(error: float) -> None:
    disc = Shape.circle(0.5)
    for stamp in (0.0, 1.8e9):
        motion = {"velocities": [(-10, 0, 0)], "stamps": [stamp], "time_error": error}
        scene = Scene([disc], [(20, 0, 0)], **motion)
        found = scene.check_path(disc, [(0, 0, 0), (0, 0, 0)], [stamp, stamp + 5.0])
        assert found.verdict is Verdict.COLLISION
        first = found.first_collision_time - stamp
        assert max(0.0, 1.89 - error) <= first <= max(0.0, 1.9 - error) + 1e-6
        free_until = stamp + 5.0 * found.last_valid_fraction
        assert free_until <= found.first_collision_time + 1e-6


@pytest.mark.parametrize("yaw", [999723.8974106511, -999723.8974106511, 2.0 * math.pi])
def test_whole_turns_are_not_those_of_the_doubles(yaw: float) -> None:
    """A dot that a large triangle holds at the yaw, which is nearly a whole number of turns."""
    pi = Fraction(314159265358979323846264338327950288419716939937510, 10**50)
    turn = float(Fraction(yaw) - 2 * pi * round(Fraction(yaw) / (2 * pi)))
    assert 0.0 < abs(turn) < 1e-9
    side, length = math.copysign(1.0, turn), 1e4
    triangle = Shape.polygon([(0, 0), (length, 0), (0, -side * length)])
    dot = Shape.point((0.5 * length, 0.25 * length * turn))
    here, there = (0.0, 0.0, 0.0), (0.0, 0.0, yaw)
    scene = Scene([triangle], poses=[here], paths=[([1.0], [there])])
    for mode in ("collide", "distance", "witness"):
        assert scene.check(dot, [here], [1.0], mode=mode).verdict is not Verdict.FREE
    way = Scene([dot]).check_path(triangle, [here, there], None, 1e-12)
    assert way.verdict is not Verdict.FREE
    turning = Motion.path([0, 1], [here, there])
    impact = time_of_impact(triangle, dot, turning, Motion.still(), tolerance=1e-12)
    assert impact.verdict is not Verdict.FREE


@pytest.mark.requirement("V-9")
@pytest.mark.parametrize("is_end", [False, True])
def test_the_times_may_be_off_at_an_end_of_the_prediction(is_end: bool) -> None:
    """A time error may put the obstacle before or after the times at which it is known."""
    random = np.random.default_rng(3 + is_end)
    counts = {True: 0, False: 0}
    for _ in range(300):
        error, radius, margin = random.uniform(0.01, 0.3), random.uniform(0.1, 1.0), 0.2
        place, velocity = random.uniform(-6, 6, 2), random.uniform(-10, 10, 2)
        stamp, horizon = random.choice([0.0, -3.0, 1e6]), random.uniform(0.02, 1.0)
        scene = Scene(
            [Shape.circle(radius)], [(*place, 0.0)], velocities=[(*velocity, 0.0)],
            stamps=[stamp], horizon=horizon, time_error=error,
        )  # fmt: skip
        known = stamp + horizon if is_end else stamp
        times = [known - 0.1 * horizon, known] if is_end else [known, known + 0.1 * horizon]
        poses = [(0, 0, 0)] * 2
        off = np.linspace(-error, error, 41)[:, None] + (np.array(times) - stamp)
        outside = np.abs(place + off[..., None] * velocity) - (2.0, 1.0)  # of a car of 4 m x 2 m
        gap = np.hypot(*np.maximum(outside, 0.0).T).min() - radius
        found = scene.check_path(CAR, poses, times, margin=margin)
        first = scene.first_contact(CAR, [poses], times)
        at_once = scene.check(CAR, poses, times, margin=margin, mode="distance")
        assert not (at_once.is_free and gap < margin - 1e-6), (at_once, gap)
        assert at_once.lower_bounds.min() <= gap + 1e-6 or gap < 0.0
        assert not (found.is_free and gap < margin - 1e-6), (found, gap)
        assert not (first.verdicts[0] == Verdict.FREE and gap < -1e-6), (first, gap)
        assert found.lower_bound <= gap + 1e-6 or gap < 0.0
        counts[found.is_free] += 1
    assert min(counts.values()) > 30
