# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Moving shapes, against dense sampling with shapely and against closed forms."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gjk_collision import InputError, Shape, Status, Verdict
from gjk_collision.motion import (
    Impact,
    Motion,
    closest_approach,
    ray_cast,
    shape_cast,
    time_of_impact,
)

TOLERANCE = 0.005
SAMPLES = 800
CAR = np.array([(3.8, 0.9), (-1.0, 0.9), (-1.0, -0.9), (3.8, -0.9)])
NEEDLE = np.array([(-2.0, 0.0), (2.0, 0.0)])


@dataclass(frozen=True)
class Body:
    """An outline at constant velocity, as plain numbers: the oracle's and the package's."""

    points: tuple[tuple[float, float], ...]
    radius: float
    pose: tuple[float, float, float]
    velocity: tuple[float, float, float]

    def shape(self) -> Shape:
        return Shape.hull(self.points, radius=self.radius)

    def motion(self) -> Motion:
        return Motion.constant(self.pose, self.velocity)

    def poses(self, times: np.ndarray) -> np.ndarray:
        return np.array(self.pose) + np.outer(times, self.velocity)

    def outlines(self, times: np.ndarray) -> np.ndarray:
        """Return shapely geometries without the radius, one per time."""
        return placed(self.points, self.poses(times))


def placed(points: object, poses: np.ndarray) -> np.ndarray:
    xy = np.asarray(points, dtype=float)
    x, y, yaw = poses.T[:, :, None]
    px = x + np.cos(yaw) * xy[:, 0] - np.sin(yaw) * xy[:, 1]
    py = y + np.sin(yaw) * xy[:, 0] + np.cos(yaw) * xy[:, 1]
    both = np.stack([px, py], axis=-1)
    if len(xy) == 1:
        return shapely.points(both[:, 0])
    return shapely.linestrings(both) if len(xy) == 2 else shapely.polygons(both)


def distances(a: Body, b: Body, times: np.ndarray) -> np.ndarray:
    """Distance [m] at each time; 0 or less where they overlap."""
    return shapely.distance(a.outlines(times), b.outlines(times)) - a.radius - b.radius


def some_bodies(rng: random.Random) -> tuple[Body, Body]:
    def body(spread: float, speed: float, spin: float) -> Body:
        kind = rng.randrange(4)
        points, radius = [
            (CAR.tolist(), 0.0),
            (NEEDLE.tolist(), 0.0),
            ([(0.3, 0.1)], 0.5),
            ([(rng.uniform(-3, 3), rng.uniform(-3, 3)) for _ in range(6)], rng.choice([0, 0.2])),
        ][kind]
        hull = shapely.MultiPoint(points).convex_hull
        ring = list(hull.exterior.coords)[:-1] if hull.geom_type == "Polygon" else points
        return Body(
            tuple((float(x), float(y)) for x, y in ring),
            radius,
            (rng.uniform(-spread, spread), rng.uniform(-spread, spread), rng.uniform(-4, 4)),
            (rng.uniform(-speed, speed), rng.uniform(-speed, speed), rng.uniform(-spin, spin)),
        )

    spin = rng.choice([0.0, 0.5, 3.0, 20.0])
    return body(9, 20, spin), body(6, 10, rng.choice([0.0, 0.5]))


def impact_of(a: Body, b: Body, t1: float, margin: float) -> Impact:
    return time_of_impact(
        a.shape(), b.shape(), a.motion(), b.motion(), 0.0, t1, margin=margin, tolerance=TOLERANCE
    )


@pytest.mark.parametrize("seed", range(6))
def test_impacts_against_dense_sampling(seed: int) -> None:
    rng = random.Random(seed)
    hits = 0
    for _ in range(150):
        a, b = some_bodies(rng)
        margin = rng.choice([0.0, 0.0, 0.3])
        t1 = rng.choice([0.5, 3.0])
        found = impact_of(a, b, t1, margin)
        case = f"seed {seed}: {a}, {b}, margin {margin}, t1 {t1}: {found}"
        assert found.verdict != Verdict.UNKNOWN and found.status == Status.SUCCESS, case
        until = found.time if found.hit else t1
        assert found.last_valid == until, case
        times = np.linspace(0.0, until, SAMPLES)
        before = distances(a, b, times[times < until] if found.hit else times)
        assert np.all(before > margin), case
        if found.hit:
            hits += 1
            at = distances(a, b, times[-1:])[0]
            assert at <= margin + TOLERANCE + 1e-9, case
            assert found.verdict == (
                Verdict.COLLISION
                if margin == 0.0 or found.distance <= TOLERANCE
                else Verdict.MARGIN
            ), case
            if found.distance > 0:
                assert found.distance == pytest.approx(at, abs=1e-9), case
    assert 25 <= hits <= 125, hits


@pytest.mark.parametrize("seed", range(3))
def test_closest_approach_against_dense_sampling(seed: int) -> None:
    rng = random.Random(100 + seed)
    for _ in range(100):
        a, b = some_bodies(rng)
        t1 = rng.choice([0.5, 3.0])
        found = closest_approach(a.shape(), b.shape(), a.motion(), b.motion(), 0.0, t1)
        case = f"{a}, {b}, t1 {t1}: {found}"
        assert found.status == Status.SUCCESS, case
        sampled = distances(a, b, np.linspace(0.0, t1, SAMPLES)).min()
        assert found.lower_bound <= sampled, case
        if found.lower_bound > 0.0:
            assert found.distance <= sampled + TOLERANCE + 1e-9, case
            assert found.distance - found.lower_bound <= TOLERANCE, case
        assert (
            found.distance == pytest.approx(distances(a, b, np.array([found.time]))[0], abs=1e-9)
            or found.distance <= 0.0
        ), case
        hit = impact_of(a, b, t1, 0.0).hit
        assert hit or found.lower_bound > 0.0, case


@pytest.mark.parametrize("speed", [1.0, 1e3, 1e6, 1e9])
def test_nothing_is_tunnelled_through(speed: float) -> None:
    """A wall without thickness, crossed in a ten thousandth of the interval."""
    wall = Shape.segment((1000.0, -1.0), (1000.0, 1.0))
    dot = Shape.point((0.0, 0.0))
    end = 1e7 / speed
    found = time_of_impact(
        dot, wall, Motion.constant((0, 0, 0), (speed, 0, 0)), Motion.still(), 0.0, end
    )
    assert found.verdict == Verdict.COLLISION
    assert 1000.0 - TOLERANCE <= found.time * speed <= 1000.0


@pytest.mark.parametrize("spin", [1.0, -30.0, 1e3, 1e5])
def test_a_fast_turn_hits_a_point(spin: float) -> None:
    """The end of a bar of 2 m sweeps over a point that it leaves at once."""
    bar, dot = Shape.segment((0.0, 0.0), (2.0, 0.0)), Shape.point((0.0, 1.999))
    found = time_of_impact(
        bar, dot, Motion.constant((0, 0, 0), (0, 0, spin)), Motion.still(), 0.0, 10.0
    )
    turn = math.pi / 2 if spin > 0 else 3 * math.pi / 2
    assert found.verdict == Verdict.COLLISION
    assert turn - 2 * TOLERANCE <= found.time * abs(spin) <= turn


def test_a_turn_that_stays_short_is_free() -> None:
    bar, dot = Shape.segment((0.0, 0.0), (2.0, 0.0)), Shape.point((0.0, 2.006))
    motion = Motion.constant((0, 0, 0), (0, 0, 1e4))
    assert time_of_impact(bar, dot, motion, Motion.still(), 0.0, 60.0).verdict == Verdict.FREE


def test_grazing_is_decided_within_the_tolerance() -> None:
    """Past a wall at a gap: below 0 a hit, above the tolerance free, in between either."""
    car, wall = Shape.box(4.0, 2.0), Shape.box(1000.0, 2.0)
    for gap, verdicts in (
        (-1e-9, {Verdict.COLLISION}),
        (0.0, {Verdict.COLLISION}),
        (0.004, {Verdict.COLLISION, Verdict.FREE}),
        (0.0051, {Verdict.FREE}),
    ):
        past = Motion.constant((-600, 2.0 + gap, 0), (100, 0, 0))
        found = time_of_impact(car, wall, past, Motion.still(), 0.0, 12.0)
        assert found.verdict in verdicts, gap


def test_overlap_at_first_is_reported_at_first() -> None:
    box = Shape.box(2.0, 2.0)
    away = Motion.constant((1.0, 0.0, 0.0), (100.0, 0.0, 0.0))
    found = time_of_impact(box, box, away, Motion.still(), 5.0 - 5.0, 1.0)
    assert (found.verdict, found.time, found.last_valid) == (Verdict.COLLISION, 0.0, 0.0)
    assert found.distance == pytest.approx(-1.0)
    touching = Motion.constant((2.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert time_of_impact(box, box, touching, Motion.still(), 0.0, 1.0).time == 0.0


def test_an_interval_may_be_a_moment() -> None:
    box = Shape.box(2.0, 2.0)
    motion = Motion.constant((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    for t, verdict in ((6.9, Verdict.FREE), (8.0, Verdict.COLLISION)):
        found = time_of_impact(box, box, motion, Motion.still((9, 0, 0)), t, t)
        assert found.verdict == verdict


def test_too_few_iterations_are_never_free() -> None:
    rng = random.Random(7)
    for _ in range(200):
        a, b = some_bodies(rng)
        found = time_of_impact(
            a.shape(), b.shape(), a.motion(), b.motion(), 0.0, 3.0, max_iterations=2
        )
        truth = impact_of(a, b, 3.0, 0.0)
        if found.verdict == Verdict.UNKNOWN:
            assert found.status == Status.ITERATION_LIMIT
            assert found.last_valid <= truth.last_valid and math.isnan(found.time)
        else:
            assert found.verdict == truth.verdict


def test_beyond_a_path_is_unknown() -> None:
    box = Shape.box(1.0, 1.0)
    path = Motion.path([1.0, 2.0], [(0, 0, 0), (1, 0, 0)])
    for t0, t1, last_valid in ((1.0, 3.0, 2.0), (0.0, 2.0, 0.0), (2.5, 3.0, 2.5)):
        found = time_of_impact(box, box, path, Motion.still((9, 0, 0)), t0, t1)
        assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
        assert found.last_valid == last_valid
    # A hit before the end is certain all the same.
    assert time_of_impact(box, box, path, Motion.still((1.5, 0, 0)), 1.0, 3.0).hit
    one = Motion.path([1.0], [(0, 0, 0)])
    assert time_of_impact(box, box, one, Motion.still((9, 0, 0))).verdict == Verdict.FREE


def test_a_path_is_its_pieces() -> None:
    """Along random paths, sampled with the interpolation written out here."""
    rng = random.Random(11)
    car, post = Shape.polygon(CAR), Shape.circle(0.3)
    hits = 0
    for _ in range(150):
        n = rng.randrange(2, 8)
        times = np.cumsum([rng.uniform(0.1, 1.0) for _ in range(n)])
        poses = np.cumsum(
            [[rng.uniform(-1, 4), rng.uniform(-2, 2), rng.uniform(-3, 3)] for _ in range(n)],
            axis=0,
        )
        wrapped = poses.copy()
        wrapped[:, 2] = (poses[:, 2] + math.pi) % (2 * math.pi) - math.pi
        target = (rng.uniform(0, 10), rng.uniform(-4, 4), 0.0)
        found = time_of_impact(car, post, Motion.path(times, wrapped), Motion.still(target))
        until = min(found.time, times[-1])
        t = np.linspace(times[0], until, SAMPLES)
        along = np.stack([np.interp(t, times, poses[:, k]) for k in range(3)], axis=1)
        gaps = shapely.distance(placed(CAR, along), shapely.Point(target[:2])) - 0.3
        assert found.verdict != Verdict.UNKNOWN
        assert np.all(gaps[t < until] > 0.0)
        if found.hit:
            hits += 1
            assert gaps[-1] <= TOLERANCE + 1e-9
        else:
            assert gaps[-1] > 0.0
        unwrapped = time_of_impact(car, post, Motion.path(times, poses), Motion.still(target))
        assert (unwrapped.verdict, unwrapped.time) == (found.verdict, pytest.approx(found.time))
    assert 30 <= hits <= 120


def test_the_shorter_turn_is_taken() -> None:
    path = Motion.path([0.0, 1.0], [(0, 0, 3.0), (0, 0, -3.0)])
    assert path.at(0.5)[2] == pytest.approx(math.pi)
    assert Motion.path([0, 1], [(0, 0, 1), (0, 0, -1)]).at(0.5)[2] == 0.0
    half = Motion.path([0, 1], [(0, 0, 0), (0, 0, math.pi)])
    assert half.at(0.5)[2] == math.pi / 2


def test_concave_shapes_and_the_first_of_many_parts() -> None:
    fork = Shape.concave([(0, 0), (6, 0), (6, 1), (1, 1), (1, 3), (6, 3), (6, 4), (0, 4)])
    ball = Shape.circle(0.5)
    into = Motion.constant((20, 2, 0), (-1, 0, 0))
    found = time_of_impact(ball, fork, into, Motion.still(), 0.0, 30.0)
    assert found.verdict == Verdict.COLLISION
    assert 18.5 - TOLERANCE <= found.time <= 18.5
    near = closest_approach(ball, fork, into, Motion.still(), 0.0, 18.0)
    assert near.distance == pytest.approx(0.5, abs=TOLERANCE)
    assert near.distance - TOLERANCE <= near.lower_bound <= 0.5


def test_large_coordinates_do_not_make_anything_free() -> None:
    """At UTM coordinates the rounding of the poses is counted."""
    x, y = 6.6e5, 4.0e6
    box = Shape.box(4.0, 2.0)
    for gap, verdict in ((0.0, Verdict.COLLISION), (0.02, Verdict.FREE)):
        past = Motion.constant((x - 50, y + 2.0 + gap, 0), (20, 0, 0))
        found = time_of_impact(box, box, past, Motion.still((x, y, 0)), 0.0, 5.0)
        assert found.verdict == verdict
    far = Motion.constant((0, 0, 0), (1, 0, 0), time=1.7e9)
    found = time_of_impact(box, box, far, Motion.still((10, 0, 0)), 1.7e9, 1.7e9 + 20)
    assert 6.0 - 2 * TOLERANCE <= found.time - 1.7e9 <= 6.0


def test_a_spin_out_of_range_is_unknown() -> None:
    bar = Shape.segment((0.0, 0.0), (2.0, 0.0))
    spin = Motion.constant((0, 0, 0), (0, 0, 1e9))
    found = time_of_impact(bar, Shape.point((0.0, 1.0)), spin, Motion.still(), 1.0, 2.0)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.NUMERIC_FAILURE)


def test_travel_bounds_every_point() -> None:
    rng = random.Random(3)
    shape = Shape.polygon(CAR, radius=0.25)
    for _ in range(100):
        n = rng.randrange(2, 6)
        times = np.cumsum([rng.uniform(0.1, 1.0) for _ in range(n)])
        poses = np.array(
            [[rng.uniform(-9, 9), rng.uniform(-9, 9), rng.uniform(-3, 3)] for _ in times]
        )
        motion = Motion.path(times, poses)
        t0, t1 = sorted(rng.uniform(times[0], times[-1]) for _ in range(2))
        bound = motion.travel(shape, t0, t1)
        places = np.array([motion.at(t) for t in np.linspace(t0, t1, 200)])
        corners = np.array([shapely.get_coordinates(g)[:-1] for g in placed(CAR, places)])
        # A point of the rounding is as far from its corner in every pose.
        assert np.hypot(*np.moveaxis(corners - corners[0], -1, 0)).max() <= bound
    assert motion.travel(shape, times[0] - 1, times[0]) == math.inf
    assert Motion.still((3, 4, 5)).travel(shape, 0, 100) <= 1e-12


def test_rays_against_shapely() -> None:
    rng = random.Random(5)
    hits = 0
    for _ in range(400):
        points = [(rng.uniform(-3, 3), rng.uniform(-3, 3)) for _ in range(6)]
        hull = shapely.MultiPoint(points).convex_hull
        origin = (rng.uniform(-10, 10), rng.uniform(-10, 10))
        angle = rng.uniform(-math.pi, math.pi)
        way = (math.cos(angle), math.sin(angle))
        end = (origin[0] + 50 * way[0], origin[1] + 50 * way[1])
        met = shapely.LineString([origin, end]).intersection(hull)
        found = ray_cast(origin, way, Shape.hull(points))
        if met.is_empty:
            assert found.verdict == Verdict.FREE and found.last_valid == math.inf
            continue
        hits += 1
        truth = shapely.Point(origin).distance(met)
        assert found.hit and found.time <= truth + 1e-12
        assert found.time == pytest.approx(truth, abs=1e-6)
        short = ray_cast(origin, way, Shape.hull(points), max_distance=0.99 * truth)
        assert short.hit == (truth == 0.0)
    assert hits > 40


def test_rays_against_a_circle() -> None:
    """Closed form: the nearer root of a quadratic."""
    rng = random.Random(6)
    for _ in range(200):
        o, c = (np.array([rng.uniform(-9, 9), rng.uniform(-9, 9)]) for _ in range(2))
        r = rng.uniform(0.1, 3.0)
        angle = rng.uniform(-math.pi, math.pi)
        d = np.array([math.cos(angle), math.sin(angle)])
        found = ray_cast(o, 7.0 * d, Shape.circle(r), pose=(c[0], c[1], 1.0))
        along, inside = d @ (c - o), (c - o) @ (c - o) - r * r
        under = along * along - inside
        if inside <= 0.0:
            assert found.hit and found.time == 0.0
        elif under < -1e-6 or along < 0.0:
            assert found.verdict == Verdict.FREE
        elif under > 1e-6:
            assert found.time == pytest.approx(along - math.sqrt(under), abs=1e-5)
            assert found.time <= along - math.sqrt(under) + 1e-12


def test_a_shape_is_cast_until_it_touches() -> None:
    car, wall = Shape.polygon(CAR), Shape.box(1.0, 10.0)
    found = shape_cast(car, wall, (3.0, 0.0), pose_b=(20.0, 0.0, 0.0))
    assert found.time == pytest.approx(19.5 - 3.8, abs=1e-8) and found.time <= 19.5 - 3.8
    assert shape_cast(car, wall, (3.0, 0.0), 15.0, pose_b=(20, 0, 0)).last_valid == 15.0
    with_margin = shape_cast(car, wall, (1, 0), pose_b=(20, 0, 0), margin=0.5)
    assert with_margin.verdict == Verdict.MARGIN
    assert with_margin.time == pytest.approx(19.5 - 3.8 - 0.5, abs=1e-8)
    assert not shape_cast(car, wall, (-1, 0), pose_b=(20, 0, 0)).hit


@given(st.integers(0, 10**6), st.floats(-50, 50), st.floats(-50, 50))
def test_swapping_and_moving_both_change_nothing(seed: int, dx: float, dy: float) -> None:
    a, b = some_bodies(random.Random(seed))
    first = impact_of(a, b, 2.0, 0.0)
    swapped = impact_of(b, a, 2.0, 0.0)

    def moved(body: Body) -> Body:
        x, y, yaw = body.pose
        return Body(body.points, body.radius, (x + dx, y + dy, yaw), body.velocity)

    shifted = impact_of(moved(a), moved(b), 2.0, 0.0)
    gap = closest_approach(a.shape(), b.shape(), a.motion(), b.motion(), 0.0, 2.0)
    if gap.lower_bound > TOLERANCE or gap.distance <= 0.0:  # else either verdict is right
        assert first.verdict == swapped.verdict == shifted.verdict


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_larger_margin_is_reached_no_later(seed: int, small: float, more: float) -> None:
    a, b = some_bodies(random.Random(seed))
    late = impact_of(a, b, 2.0, small)
    early = impact_of(a, b, 2.0, small + more + 2 * TOLERANCE)
    if late.hit:
        assert early.hit and early.time <= late.time


@pytest.mark.parametrize(
    ("make", "argument", "index"),
    [
        (lambda: Motion.path([], np.empty((0, 3))), "times", None),
        (lambda: Motion.path([0, 0], [(0, 0, 0)] * 2), "times", 1),
        (lambda: Motion.path([0, 1], [(0, 0, 0)]), "poses", None),
        (lambda: Motion.path([0, 1], [(0, 0, 0), (0, math.nan, 0)]), "poses", 1),
        (lambda: Motion.path([0, math.inf], [(0, 0, 0)] * 2), "times", 1),
        (lambda: Motion.constant((0, 0, 0), (0, 0, math.inf)), "velocity", 2),
        (lambda: Motion.path([0, 1], [(0, 0, 0)] * 2).at(1.5), "t", None),
        (lambda: ray_cast((0, 0), (0, 0), Shape.circle(1)), "direction", None),
        (lambda: ray_cast((0, 0), (1, 0), Shape.circle(1), -1.0), "max_distance", None),
    ],
)
def test_bad_input_is_named(make: object, argument: str, index: int | None) -> None:
    with pytest.raises(InputError) as caught:
        make()  # type: ignore[operator]
    assert (caught.value.argument, caught.value.index) == (argument, index)


def test_bad_intervals_are_named() -> None:
    box, still = Shape.box(1.0, 1.0), Motion.still()
    for t0, t1, argument in ((0.0, None, "t1"), (None, 1.0, "t0"), (1.0, 0.0, "t1")):
        with pytest.raises(InputError) as caught:
            time_of_impact(box, box, still, still, t0, t1)
        assert caught.value.argument == argument
    with pytest.raises(InputError, match="tolerance"):
        time_of_impact(box, box, still, still, 0.0, 1.0, tolerance=0.0)
