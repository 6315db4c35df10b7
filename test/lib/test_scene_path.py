# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Between the poses of a path nothing is tunnelled through."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traffic import traffic

from gjk_collision import Motion, Scene, Shape, closest_approach, time_of_impact
from gjk_collision.verdict import Status, Verdict

CAR = Shape.box(4.0, 2.0)
TOLERANCE = 0.005
WALL = Shape.segment((0.0, -5.0), (0.0, 5.0))


def between(a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Straight on, turning the shorter way."""
    turn = np.remainder(b[2] - a[2] + np.pi, 2 * np.pi) - np.pi
    return a + share[:, None] * np.array([b[0] - a[0], b[1] - a[1], turn])


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


def test_beyond_the_prediction() -> None:
    scene = Scene([CAR], [(100, 0, 0)], ids=[3], velocities=[(1, 0, 0)], horizon=1.5)
    found = scene.check_path(CAR, [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [0.0, 1.0, 2.0])
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
    assert found.first_invalid_segment == 1 and found.id == 3
    assert found.last_valid_fraction == pytest.approx(0.5, abs=1e-9)
    assert found.lower_bound == -np.inf
    hit = scene.check_path(CAR, [(0, 0, 0), (120, 0, 0)], [0.0, 2.0])
    assert hit.verdict == Verdict.UNKNOWN, "at 1.5 s it is still 7 m ahead"
    sure = scene.check_path(CAR, [(0, 0, 0), (200, 0, 0)], [0.0, 2.0])
    assert sure.verdict == Verdict.COLLISION


def test_one_pose_and_no_obstacle() -> None:
    scene = Scene([CAR], [(10.0, 0.0, 0.0)])
    assert scene.check_path(CAR, [(0, 0, 0)]).distance == pytest.approx(6.0, abs=TOLERANCE)
    inside = scene.check_path(CAR, [(9, 0, 0)])
    assert inside.verdict == Verdict.COLLISION
    assert (inside.first_invalid_segment, inside.last_valid_fraction) == (0, 0.0)
    empty = Scene([]).check_path(CAR, [(0, 0, 0), (9, 0, 0)], [0.0, 1.0])
    assert empty.is_free and empty.distance == empty.lower_bound == np.inf


@pytest.mark.requirement("V-9")
@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from((3, 12, 60)), st.booleans())
def test_against_dense_samples(seed: int, count: int, timed: bool) -> None:
    area = traffic(seed, count)
    rng = area.rng
    velocities = rng.normal(0, 3, (count, 3)) * (1, 1, 0.2)
    scene = Scene(area.shapes, area.poses, velocities=velocities, horizon=10.0)
    poses = area.somewhere(4)
    poses[:, 2] = rng.uniform(-1.4, 1.4, 4)
    times = np.array([0.0, 0.7, 1.5, 2.6]) if timed else None
    found = scene.check_path(CAR, poses, times, margin=0.1)
    share = np.linspace(0.0, 1.0, 400)
    least = np.inf
    for i in range(3):
        when = times[i] + share * (times[i + 1] - times[i]) if times is not None else None
        at = between(poses[i], poses[i + 1], share)
        sample = scene.check(CAR, at, when, mode="distance", margin=0.1)
        if i == found.first_invalid_segment:
            before = share < found.last_valid_fraction
            assert sample.distances[before].min(initial=np.inf) > 0.1, "free means free"
            after = np.abs(share - found.last_valid_fraction) < 0.02
            assert sample.distances[after].min(initial=np.inf) < 0.1 + TOLERANCE + 0.5
        elif found.first_invalid_segment < 0 or i < found.first_invalid_segment:
            assert sample.is_free
        least = min(least, sample.distances.min())
        if found.verdict == Verdict.COLLISION and i == found.first_invalid_segment:
            break
    assert found.lower_bound <= least + 1e-9
    if found.is_free:
        assert least > 0.1
        assert found.distance <= least + TOLERANCE


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


def test_a_free_path_with_an_obstacle_has_a_distance() -> None:
    rng = np.random.default_rng(2)
    free = 0
    for _ in range(400):
        place = (5.0, float(rng.uniform(1, 3)), float(rng.uniform(-3, 3)))
        scene = Scene([Shape.box(1.0, 1.0)], [place])
        path = [(0, 0, 0), (rng.uniform(5, 15), rng.uniform(-5, 5), rng.uniform(-3, 3))]
        for margin in (0.0, 0.2):
            found = scene.check_path(Shape.box(2.0, 1.0), path, tolerance=1e-6, margin=margin)
            if found.is_free:
                free += 1
                assert margin <= found.lower_bound <= found.distance < np.inf
    assert free > 300


def test_a_place_beyond_the_domain_is_unknown_in_every_mode() -> None:
    """After two seconds the predicted yaw is beyond what the kernel places."""
    box, pose = Shape.box(1.0, 1.0), (5.0, 5.0, 0.0)
    scene = Scene([box], [(0, 0, 0)], velocities=[(0, 0, 1e6)], horizon=100.0)
    for time, verdict in ((0.5, Verdict.FREE), (2.0, Verdict.UNKNOWN), (50.0, Verdict.UNKNOWN)):
        for mode in ("collide", "distance", "witness"):
            assert scene.check(box, [pose], [time], mode=mode).verdict is verdict, (time, mode)
        assert scene.is_free(box, pose, time=time) == (verdict is Verdict.FREE)


@pytest.mark.requirement("V-15")
@pytest.mark.parametrize("end", [0.4, 1.5, 4.0])
def test_a_swept_path_past_the_domain_is_answered_as_its_poses(end: float) -> None:
    """An obstacle that leaves the domain on the way is at no known place."""
    disc, path = Shape.circle(1.0), [(0.0, 0.0, 0.0)] * 2
    leaving = Scene([disc], [(5e14, 0, 0)], velocities=[(5e14, 0, 0)])
    turning = Scene([Shape.box(4, 1)], [(50, 0, 1e6 - 1.0)], velocities=[(0, 0, 2.0)])
    coming = Scene([disc], [(9e14, 0, 0)], velocities=[(-1e14, 0, 0)])
    for scene in (leaving, turning, coming):
        right = scene.check(disc, path[:1], [end]).verdict
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


@pytest.mark.parametrize("halves", [1, 3, 5, 7, -1, -3, -7])
def test_half_turns_go_the_way_of_the_sign(halves: int) -> None:
    middle = Motion.path([0, 1], [(0, 0, 0), (0, 0, halves * math.pi)]).at(0.5)[2]
    assert middle == pytest.approx(math.copysign(math.pi / 2, halves))


@pytest.mark.parametrize("time_error", [0.0, 1e-4, 1e-2])
def test_an_error_of_the_times_keeps_a_lower_bound(time_error: float) -> None:
    """The ego passes at 1 m and 10 m/s; the error moves it by up to 0.1 m."""
    car = Shape.box(4.0, 2.0)
    scene = Scene([car], [(20, 3, 0)], velocities=[(1, 0, 0)], horizon=20.0, time_error=time_error)
    found = scene.check_path(car, [(0, 0, 0), (40, 0, 0)], [0.0, 4.0])
    assert found.verdict is Verdict.FREE
    assert 1.0 - 0.01 - 40 * time_error < found.lower_bound <= 1.0


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
