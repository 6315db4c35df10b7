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

from gjk_collision import Scene, Shape, closest, collide, distance, penetration
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
@pytest.mark.parametrize("kind", cases.KINDS)
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
        if kind in ("doubles", "rounded", "valtr"):
            assert_feature(a, answer.feature_a, answer.point_a)
            assert_feature(b, answer.feature_b, answer.point_b)
        deep = penetration(a, b)
        assert (deep is not None) == is_hit, case
        if deep is not None:
            assert truth <= -deep.depth and truth >= -deep.upper_bound, (case, deep)
            assert (deep.depth, deep.upper_bound) == (-answer.distance, -answer.lower_bound)
            for name in ("direction", "point_a", "point_b", "feature_a", "feature_b"):
                assert np.array_equal(getattr(deep, name), getattr(answer, name)), (name, case)
    assert hits > 0
    assert hits < COUNT or kind in ("touching", "contained")


@pytest.mark.requirement("G-4")
@pytest.mark.parametrize("kind", ["doubles", "needles", "rounded"])
def test_shapes_at_poses(kind: str) -> None:
    """Never FREE where the shapes meet, and free beyond the rounding of the poses."""
    hits = misses = 0
    for case in cases.some(kind, COUNT):
        rng = random.Random(f"pose {case}")
        x, y = rng.choice(((0.0, 0.0), (rng.uniform(-50, 50), -7.0), (6.6e5, 4.0e6)))
        pose_a = (x, y, rng.choice((math.pi / 2, math.pi, rng.uniform(-4, 4))))
        ahead = rng.choice((0.0, 1e-12, 3.0))
        pose_b = (x + ahead, y, pose_a[2] + rng.choice((0.0, 0.0, 0.1)))
        placed = oracles.posed(case.a, pose_a), oracles.posed(case.b, pose_b)
        truth = oracles.signed_distance(*placed)
        slack = rounding(case.a, pose_a) + rounding(case.b, pose_b)
        a, b = shape(case.a), shape(case.b)
        assert not broken_rules(*placed, closest(a, b, pose_a, pose_b), slack), case
        scene = Scene([b], poses=[pose_b])
        free = [not collide(a, b, pose_a=pose_a, pose_b=pose_b)]
        free += [scene.check(a, [pose_a], mode=mode).is_free for mode in MODES]
        hits, misses = hits + (truth <= 0), misses + (truth >= 16 * slack)
        assert not (truth <= 0 and any(free)), case
        assert all(free) or not truth >= 16 * slack, case
    assert min(hits, misses) >= 5


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


TINY = 5e-324
CIRCLE = 2 * np.array([(math.cos(t), math.sin(t)) for t in np.linspace(0, 2 * math.pi, 17)])
CORNERS = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
HERE = (0.0, 0.0, 0.0)
# What was FREE in an earlier version: the points of a hull, its pose, another shape, its pose.
CONTACTS = {
    "a circle closed up to rounding": (
        CIRCLE, (10.363215575692443, 0.7329133825426553, 1.852806687356785),
        Shape.box(4.5, 1.8), (8.573901326751274, 1.8913722510108242, -1.650454797127966),
    ),
    "a length whose square underflows": ([(0, 0), (1e-200, 0)], HERE, Shape.circle(1.0), HERE),
    "x that differ by a subnormal": (
        [(0, 0.45), (TINY, 0), (TINY, 0.44)], HERE, Shape.circle(0.1, (0.0, 0.2)), HERE
    ),
    "points that are one but for an underflow": (
        [*CORNERS, (1e-300, 1e-300), (2e-300, 0.0)], HERE, Shape.box(0.2, 0.4), (-0.7, 0.0, 0.0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTACTS)
def test_contacts_that_were_free(name: str) -> None:
    points, place, shape, pose = CONTACTS[name]
    hull = Shape.hull(points)
    assert collide(hull, shape, place, pose) and collide(shape, hull, pose, place)
    assert closest(hull, shape, place, pose).lower_bound < 0.0
    for scene in (
        Scene([hull], [place]),
        Scene.from_arrays([0, len(points)], np.ravel(points), poses=place),
        Scene.from_arrays([0, len(points)], np.ravel(points), poses=place, kinds=[0]),
    ):
        assert not scene.is_free(shape, pose)
        assert not scene.check_path(shape, [pose, pose]).is_free
        for mode in MODES:
            assert scene.check(shape, [pose], mode=mode).verdict is Verdict.COLLISION
