# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries of two shapes: each field as Python gives it, against rational arithmetic.

`./dev verify` asks the kernel the same of millions of pairs and of families of hard cases. The
pairs here are few, of every kind: that the bindings pass each shape, pose and field through.
"""

from __future__ import annotations

import math
import random

import cases
import numpy as np
import oracles
import pytest
from certify import broken_rules, shape
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import Body

from gjk_collision import Scene, Shape, closest, collide, collide_many, distance, penetration
from gjk_collision.verdict import Status, Verdict

COUNT = 60
Pose = tuple[float, float, float]
MODES = ("collide", "distance", "witness")


def rounding(body: Body, pose: Pose) -> float:
    """The promise: the transform is off by less than this [m]."""
    size = max(abs(float(c)) for p in body.points for c in p)
    return 0.0 if pose == (0.0, 0.0, 0.0) else 2.0**-47 * (size + abs(pose[0]) + abs(pose[1]))


def assert_feature(made: Shape, feature: tuple[int, int, int], point: np.ndarray) -> None:
    """The point is on the edge, or the vertex, that is named, but for the radius."""
    part, *ends = feature
    edge = Shape.hull(made.parts[part][ends])
    size = 1.0 + np.abs(made.parts[part]).max()
    assert distance(edge, Shape.point(tuple(point))) <= made.radius + 1e-6 * size


@pytest.mark.requirement("G-3")
@pytest.mark.requirement("G-5")
@pytest.mark.parametrize("kind", sorted(cases.KINDS))
def test_every_query_of_every_kind_of_pair(kind: str) -> None:
    hits = 0
    for case in cases.some(kind, COUNT):
        a, b = shape(case.a), shape(case.b)
        truth = oracles.signed_distance(case.a, case.b)
        is_hit = oracles.collide(case.a, case.b)
        hits += is_hit
        assert collide(a, b) == collide(b, a) == is_hit, case
        answer = closest(a, b)
        assert not (broken := broken_rules(case.a, case.b, answer)), f"{case}\n{broken}"
        assert answer.status is Status.SUCCESS and answer.iterations >= 0
        assert distance(a, b) == answer.distance, case
        for made, feature, point in (
            (a, answer.feature_a, answer.point_a),
            (b, answer.feature_b, answer.point_b),
        ):
            if kind in ("doubles", "rounded", "valtr", "small_grid"):
                assert_feature(made, feature, point)
        deep = penetration(a, b)
        assert (deep is not None) == is_hit, case
        if deep is not None:
            assert truth <= -deep.depth and truth >= -deep.upper_bound, (case, deep)
            assert (deep.depth, deep.upper_bound) == (-answer.distance, -answer.lower_bound)
            for name in ("direction", "point_a", "point_b", "feature_a", "feature_b"):
                assert np.array_equal(getattr(deep, name), getattr(answer, name)), (name, case)
    assert hits > 0
    assert hits < COUNT or kind in ("touching", "contained")


def closed_ring(rng: random.Random) -> list[tuple[float, float]]:
    """A circle whose last point is its first up to rounding."""
    t = np.linspace(0, 2 * np.pi * rng.choice((-1, 1)), rng.randint(5, 33))
    return [(float(x), float(y)) for x, y in rng.uniform(0.3, 3) * np.c_[np.cos(t), np.sin(t)]]


def bumpers(rng: random.Random) -> tuple[Body, Body, float]:
    """Two boxes, circles or capsules, and how far one is ahead of the other where they touch."""
    half = rng.choice((2.0, 2.25, rng.uniform(1, 3)))
    box = Body.of([(-half, -1.0), (half, -1.0), (half, 1.0), (-half, 1.0)])
    core = rng.choice((((-half / 2, 0.0), (half / 2, 0.0)), ((half / 2, 0.0),)))
    other = tuple((-p[0], 0.0) for p in core)
    bodies = (box, box) if rng.random() < 0.5 else (Body(core, half / 2), Body(other, half / 2))
    return *bodies, 2 * half


def rings(rng: random.Random) -> tuple[Body, Body, float]:
    ring = Body(tuple(oracles.hull(closed_ring(rng))), rng.choice((0.0, rng.uniform(0, 0.5))))
    half = rng.uniform(0.5, 3)
    box = Body.of([(-half, -1.0), (half, -1.0), (half, 1.0), (-half, 1.0)])
    return ring, box, rng.uniform(0.0, 5.0)


@pytest.mark.requirement("G-4")
@pytest.mark.parametrize("make", [bumpers, rings], ids=lambda make: make.__name__)
def test_shapes_at_poses(make: object) -> None:
    """Never FREE where the shapes meet, and free beyond the rounding of the poses."""
    hits = misses = 0
    for seed in range(cases.FIRST_SEED, cases.FIRST_SEED + 250):
        rng = random.Random(f"{make.__name__} {seed}")
        a, b, ahead = make(rng)
        yaw = rng.choice((math.pi / 4, math.pi / 2, math.pi, rng.uniform(-4, 4)))
        x, y = rng.choice(((0.0, 0.0), (rng.uniform(-50, 50), -7.0), (6.6e5, 4.0e6)))
        ahead += rng.choice((-1, 0, 1, 1)) * 10.0 ** rng.uniform(-17, 0)
        aside = rng.uniform(-1.0, 1.0) if len(a.points) > 2 else 0.0
        c, s = math.cos(yaw), math.sin(yaw)
        pose_a = (x, y, yaw)
        pose_b = (x + c * ahead - s * aside, y + s * ahead + c * aside, yaw)
        where = (seed, a, pose_a, b, pose_b)
        placed = oracles.posed(a, pose_a), oracles.posed(b, pose_b)
        truth, slack = oracles.signed_distance(*placed), rounding(a, pose_a) + rounding(b, pose_b)
        one, other = Shape.hull(a.points, radius=a.radius), shape(b)
        assert not broken_rules(*placed, closest(one, other, pose_a, pose_b), slack), where
        scene = Scene([other], poses=[pose_b])
        free = [not collide(one, other, pose_a=pose_a, pose_b=pose_b)]
        free += [scene.check(one, [pose_a], mode=mode).is_free for mode in MODES]
        hits, misses = hits + (truth <= 0), misses + (truth >= 16 * slack)
        assert not (truth <= 0 and any(free)), where
        assert all(free) or not truth >= 16 * slack, where
    assert hits >= 40 and misses >= 40


def near(value: float) -> object:
    """Distances are certified from above, so they may exceed the true one by its rounding."""
    return pytest.approx(value, rel=1e-12)


def test_documented_constructors_make_the_same_sets() -> None:
    box = Shape.box(4.0, 2.0, center=(1.0, 2.0))
    outline = [(-1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (-1.0, 3.0)]
    probe, origin, above = (Shape.point(p) for p in ((6.0, 7.0), (0.0, 0.0), (4.0, 3.0)))
    assert distance(box, probe) == distance(Shape.polygon(outline), probe) == near(5.0)
    assert distance(Shape.circle(1.0, center=(3.0, 4.0)), origin) == near(4.0)
    assert distance(Shape.capsule((0.0, 0.0), (9.0, 0.0), 1.0), above) == near(2.0)
    assert distance(Shape.segment((0.0, 0.0), (9.0, 0.0)), above) == near(3.0)
    assert distance(Shape.hull([(0, 0), (9, 0), (4, 0)]), above) == near(3.0)


@pytest.mark.requirement("G-6")
def test_inflation_adds_to_the_radius() -> None:
    square = Shape.polygon([(0, 0), (1, 0), (1, 1), (0, 1)], radius=0.25)
    grown = square.inflated(0.5)
    assert (square.radius, grown.radius) == (0.25, 0.75)
    assert collide(grown, Shape.point((1.75, 0.5)))
    assert not collide(square, Shape.point((1.75, 0.5)))


def test_the_deepest_parts_decide() -> None:
    fork = Shape.concave([(0, 0), (6, 0), (6, 1), (1, 1), (1, 3), (6, 3), (6, 4), (0, 4)])
    found = penetration(fork, Shape.box(2.0, 2.0, center=(5.0, 4.5)))
    assert found.depth == pytest.approx(0.5)
    assert found.direction == pytest.approx([0.0, 1.0])


def test_parallel_faces_meet_in_the_middle() -> None:
    """The points are opposite each other where the faces overlap, also on split edges."""
    a = Shape.polygon([(-8, -4), (0, -4), (8, -4), (8, 4), (4, 4), (0, 4), (-4, 4), (-8, 4)])
    found = penetration(a, Shape.polygon([(5, 3), (20, 3), (20, 20), (5, 20)]))
    assert found.point_a.tolist() == [6.5, 4.0] and found.point_b.tolist() == [6.5, 3.0]
    ends = {tuple(a.parts[0][i]) for i in found.feature_a[1:]}
    assert ends == {(8.0, 4.0), (-8.0, 4.0)}


whole = st.integers(-20, 20).map(float)
# Full doubles within vehicle distances; none so near to zero that products underflow.
real = st.floats(-1e3, 1e3).filter(lambda x: x == 0.0 or abs(x) > 1e-30)
radii = st.sampled_from((0.0, 0.0, 1.0, 0.1, 2.5))


def outlines(coordinate: st.SearchStrategy[float]) -> st.SearchStrategy[Body]:
    points = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=10)
    return st.builds(lambda p, r: Body(tuple(oracles.hull(p)), r), points, radii)


bodies = st.one_of(outlines(whole), outlines(real))
pairs = st.tuples(bodies, bodies)


@pytest.mark.requirement("G-1")
@given(pairs, st.data())
def test_the_writing_of_an_outline(pair: tuple[Body, Body], data: st.DataObject) -> None:
    """First vertex, winding, repeated vertices and the closing vertex mean nothing."""
    a, b = pair
    assume(len(a.points) > 2)
    start = data.draw(st.integers(0, len(a.points) - 1))
    ring = [*a.points[start:], *a.points[:start]]
    if data.draw(st.booleans()):
        ring.reverse()
    ring = [p for p in ring for _ in range(data.draw(st.integers(1, 3)))]
    if data.draw(st.booleans()):
        ring.append(ring[0])
    one, other, written = shape(a), shape(b), shape(Body.of(ring, a.radius))
    assert collide(one, other) == collide(written, other) == oracles.collide(a, b)
    assert distance(written, other) == pytest.approx(distance(one, other), rel=1e-12, abs=1e-9)


@pytest.mark.requirement("G-8")
@given(pairs, st.floats(0, 50), st.floats(0, 50))
def test_a_margin_never_frees(pair: tuple[Body, Body], first: float, second: float) -> None:
    a, b = map(shape, pair)
    less, more = sorted((first, second))
    assert collide(a.inflated(more), b) >= collide(a.inflated(less), b) >= collide(a, b)
    scene, here = Scene([b]), np.zeros((1, 3))
    worse = {Verdict.FREE: 0, Verdict.MARGIN: 1, Verdict.UNKNOWN: 2, Verdict.COLLISION: 3}
    verdicts = [scene.check(a, here, margin=m).verdict for m in (0.0, less, more)]
    ranks = [worse[Verdict(v)] for v in verdicts]
    assert ranks == sorted(ranks)
    assert (verdicts[0] == Verdict.COLLISION) == (verdicts[2] == Verdict.COLLISION)


def test_a_closed_circle_that_a_box_overlaps() -> None:
    """An overlap of 2.3 m2 that was FREE: the placed outline turned the wrong way at one edge."""
    t = np.linspace(0, 2 * np.pi, 17)
    circle = Shape.hull(2 * np.c_[np.cos(t), np.sin(t)])
    place = (10.363215575692443, 0.7329133825426553, 1.852806687356785)
    ego, pose = Shape.box(4.5, 1.8), (8.573901326751274, 1.8913722510108242, -1.650454797127966)
    scene = Scene([circle], [place])
    for mode in MODES:
        assert scene.check(ego, [pose], mode=mode).verdict is Verdict.COLLISION
    assert not scene.is_free(ego, pose)
    assert closest(ego, circle, pose, place).distance < -0.5


@pytest.mark.parametrize("length", [1e-140, 2.7e-162, 1e-200, 5e-324])
def test_lengths_whose_squares_underflow(length: float) -> None:
    """A segment inside a circle, and one beside it: too short for its length to be squared."""
    tiny, disc = Shape.segment((0.0, 0.0), (length, 0.0)), Shape.circle(1.0)
    away = Shape.circle(1.0, center=(3.0, 0.0))
    for a, b in ((tiny, disc), (disc, tiny)):
        assert collide(a, b)
        assert closest(a, b).lower_bound <= -1.0
        assert not Scene([a]).is_free(b, (0.0, 0.0, 0.0))
        assert not Scene([a]).check_path(b, [(0.5, 0.0, 0.0), (0.6, 0.0, 1.0)]).is_free
    for a, b in ((tiny, away), (away, tiny)):
        assert not collide(a, b)
        assert closest(a, b).distance == pytest.approx(2.0, rel=1e-9)


def test_a_concave_outline_that_underflows_is_refused() -> None:
    """Exact arithmetic of its coordinates underflows; the decomposition did not end."""
    outline = [
        (1.0405008460186358, 0), (1.0405008460186358, -1.5e-323), (1.0405008460186356, 1e-323),
        (1.0405008460186362, -5e-324), (-0.52025042300931768, 0.90110016531133919),
        (-0.52025042300931834, -0.90110016531133885), (-0.52025042300931856, -0.90110016531133863),
        (-0.52025042300931856, -0.9011001653113393),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="1e-40"):
        Shape.concave(outline)


def test_a_notch_that_underflows_is_not_convex() -> None:
    """A square with a notch to its middle, where cross products underflow: taken for convex."""
    outline = [(-2, -2), (2, -2), (2, 2), (5e-324, 2e-323), (0, 0), (-3e-323, 3e-42), (-2, 2)]
    with pytest.raises(ValueError, match="not convex"):
        Shape.polygon(outline)
    with pytest.raises(ValueError, match="1e-40"):
        Shape.concave(outline)
    assert len(Shape.hull(outline).parts[0]) == 4


def test_a_tiny_coordinate_makes_a_gap_as_uncertain_as_a_pose_does() -> None:
    """A point below a sliver: it is certain if each coordinate is 0 or above 1e-40 m."""
    sliver = Shape.hull([(-1, 0), (1, 1e-16), (1, 2e-16), (-1, 1e-16)])
    for x, is_certain in ((0.0, True), (1e-39, True), (1e-50, False)):
        point = Shape.hull([(x, 0.5e-16 - 1e-20)])
        assert collide(sliver, point) is not is_certain
        assert (closest(sliver, point).lower_bound > 0.0) is is_certain
        one, other = np.ravel(sliver.parts[0]), np.array([x, 0.5e-16 - 1e-20])
        assert collide_many([0, 4], one, [0, 1], other) == [not is_certain]


def test_no_vertex_is_lost_where_exact_arithmetic_underflows() -> None:
    """Points whose x differ by a subnormal: none far from the others was kept."""
    tiny = 5e-324
    for points, disc in (
        ([(0.0, 0.45), (tiny, 0.0), (tiny, 0.44)], Shape.circle(0.1, (0.0, 0.2))),
        ([(0, 1.3), (tiny, 0.99), (tiny, 0.63), (tiny, 0), (3, 0), (3, 2), (0, 2)],
         Shape.circle(0.1, (0.0, 0.05))),
    ):  # fmt: skip
        hull = Shape.hull(points)
        assert collide(hull, disc) and collide(disc, hull)
        assert closest(hull, disc).lower_bound < 0.0
        for kinds in (None, [0]):
            scene = Scene.from_arrays([0, len(points)], np.ravel(points), kinds=kinds)
            assert not scene.is_free(disc, (0, 0, 0))


def test_points_that_are_one_but_for_an_underflow() -> None:
    """The hull of a box and of two such points in it was a bow tie, and FREE deep inside."""
    corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    ego = Shape.polygon([(-0.1, -0.9), (0.1, -0.9), (0.1, -0.5), (-0.1, -0.5)])
    for points in ([(1e-300, 1e-300), (2e-300, 0.0)], [(0.0, -1e-323), (1e-320, 0.0), (0.0, 0.0)]):
        scene = Scene([Shape.hull([*corners, *points])])
        for mode in MODES:
            found = scene.check(ego, [(-0.7, 0.7, 0.0), (0.0, 0.0, 0.0)], mode=mode)
            assert (found.verdicts == Verdict.COLLISION).all()
    edge = Shape.hull([*corners, (0.0, -1.0 - 2**-52), (1e-300, -1.0 - 2**-52)])
    assert edge.parts[0].shape == (5, 2)


def test_far_limits() -> None:
    """Beyond 3e8 m the squares of distances exceed what a box may reach."""
    point = Shape.point((0.0, 0.0))
    found = Scene([point], [(5e8, 0, 0)]).nearest(point, (0, 0, 0), max_distance=1e9)
    assert found.distances == pytest.approx([5e8])
    scene = Scene([point] * 2, [(0, 999999999.3333333, 0), (1000000000.1428571, 0, 0)])
    verdicts = {scene.check(point, [(0, 0, 0)], margin=1e9, mode=mode).verdict for mode in MODES}
    assert verdicts == {Verdict.MARGIN}
