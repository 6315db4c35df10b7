# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Outlines with edges as short as rounding, at poses.

A rounded placement can reverse such an edge, so the placed outline need not be convex. The truth
is the hull of the vertices, placed with 256 bits. GJK_PAIRS sets how many pairs are tried.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable

import numpy as np
import oracles
import pytest
from certify import broken_rules
from oracles import Body
from test_poses import rounding

from gjk_collision import (
    Motion,
    Scene,
    Shape,
    closest,
    closest_approach,
    collide,
    penetration,
    time_of_impact,
)
from gjk_collision.pairs import check_pairs
from gjk_collision.server.config import Config
from gjk_collision.server.frames import Pose
from gjk_collision.server.obstacles import Obstacles
from gjk_collision.server.questions import check_poses
from gjk_collision.server.world import World
from gjk_collision.verdict import Verdict

PAIRS = int(os.environ.get("GJK_PAIRS", "250"))
Point = tuple[float, float]


def ulps(rng: random.Random, value: float) -> float:
    for _ in range(rng.randint(0, 4)):
        value = math.nextafter(value, rng.choice((-math.inf, math.inf)))
    return value


def ring(rng: random.Random) -> list[Point]:
    """A circle whose last point is its first up to rounding."""
    turn = 2 * np.pi * rng.choice((-1, 1))
    t = np.linspace(0, turn, rng.randint(5, 33))
    return [(float(x), float(y)) for x, y in rng.uniform(0.3, 3) * np.c_[np.cos(t), np.sin(t)]]


def repeated(rng: random.Random) -> list[Point]:
    """A regular polygon whose vertices stand there several times, up to 4 ulp apart."""
    n, r = rng.randint(3, 9), rng.uniform(0.3, 3)
    points = [(r * math.cos(2 * math.pi * i / n), r * math.sin(2 * math.pi * i / n))
              for i in range(n)]  # fmt: skip
    return [(ulps(rng, x), ulps(rng, y)) for x, y in points for _ in range(rng.randint(1, 3))]


def tip(rng: random.Random) -> list[Point]:
    """A body with a tip of 1e-17 to 1e-8 m."""
    width, length = 10 ** rng.uniform(-17, -8), rng.uniform(1, 5)
    return [(0.0, 0.0), (length, width), (length, -width), (rng.uniform(0, length), -1.0)]


def cut(rng: random.Random) -> list[Point]:
    """A box with a corner cut off, by 1e-17 to 1e-6 m."""
    a, b, e = rng.uniform(0.5, 5), rng.uniform(0.3, 2), 10 ** rng.uniform(-17, -6)
    return [(-a, -b), (a, -b), (a, b - e), (a - e, b), (-a, b)]


def sliver(rng: random.Random) -> list[Point]:
    length, width = rng.uniform(0.5, 5), 10 ** rng.uniform(-17, -10)
    return [(-length, -width), (length, 0.0), (-length, width)]


def near_copies(rng: random.Random) -> list[Point]:
    """Random points, some of them twice, a hair apart."""
    points = [(rng.uniform(-2, 2), rng.uniform(-2, 2)) for _ in range(rng.randint(3, 9))]
    e = 10 ** rng.uniform(-17, -9)
    return points + [(x + rng.uniform(-e, e), y + rng.uniform(-e, e)) for x, y in points[:3]]


def box(rng: random.Random) -> list[Point]:
    a, b = rng.uniform(0.5, 3), rng.uniform(0.3, 1.2)
    return [(-a, -b), (a, -b), (a, b), (-a, b)]


FAMILIES: tuple[Callable[[random.Random], list[Point]], ...] = (
    ring, repeated, tip, cut, sliver, near_copies,
)  # fmt: skip


def made(rng: random.Random, points: list[Point], radius: float) -> tuple[Shape, Body]:
    """The shape by one of the constructors that take it as convex, and its hull."""
    hull = Body(tuple(oracles.hull(points)), radius)
    if len(hull.points) > 2 and oracles.is_convex(points):
        make = rng.choice((Shape.polygon, Shape.hull, Shape.concave))
        return make(points, radius=radius), hull
    return Shape.hull(points, radius=radius), hull


def worlds_verdict(points: list[Point], place: Pose, ego: list[Point], pose: Pose) -> Verdict:
    """What the node's world answers, the obstacle posed in its message."""
    world = World(Config(footprint=tuple(np.ravel(ego).tolist()), concave_policy="hull"))
    data = Obstacles(
        frame="odom",
        stamp=0,
        ids=np.arange(1),
        offsets=np.array([0, len(points)]),
        xy=np.ravel(points),
        poses=np.array(place),
    )
    world.receive_obstacles("obstacles", data, now=0, steady=0)
    snapshot = world.snapshot(now=0, steady=0)
    assert snapshot.fault is None
    return check_poses(snapshot, np.array(pose)).answer.verdict


@pytest.mark.requirement("G-4")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_never_falsely_free_and_bounds_are_true(family: Callable) -> None:
    seed = 11 if "CI" in os.environ else random.randrange(2**32)
    rng = random.Random(f"{seed} {family.__name__}")
    met = apart = 0
    for number in range(PAIRS):
        radius = rng.choice((0.0, 0.0, rng.uniform(0, 0.5)))
        odd, other = family(rng), rng.choice((box, *FAMILIES))(rng)
        a, body_a = made(rng, odd, radius)
        b, body_b = made(rng, other, 0.0)
        x, y = rng.choice(((rng.uniform(-10, 10), rng.uniform(-10, 10)), (6.6e5, 4.0e6)))
        way, far = rng.uniform(-4, 4), rng.uniform(0, 5)
        pose_a = (x, y, rng.uniform(-4, 4))
        pose_b = (x + far * math.cos(way), y + far * math.sin(way), rng.uniform(-4, 4))
        if rng.random() < 0.5:  # brought to contact, up to rounding
            for _ in range(3):
                gap = closest(a, b, pose_a, pose_b).distance
                pose_b = (pose_b[0] - gap * math.cos(way), pose_b[1] - gap * math.sin(way),
                          pose_b[2])  # fmt: skip
        context = f"seed {seed} {number}: {odd} {radius} {pose_a} {other} {pose_b}"
        placed_a, placed_b = oracles.posed(body_a, pose_a), oracles.posed(body_b, pose_b)
        truth = oracles.signed_distance(placed_a, placed_b)
        overlap = truth <= 0
        met, apart = met + overlap, apart + (not overlap)

        allowed = rounding(body_a, pose_a) + rounding(body_b, pose_b)
        answer = closest(a, b, pose_a, pose_b)
        assert not broken_rules(placed_a, placed_b, answer, allowed), context
        scene, mirrored = Scene([b], [pose_b]), Scene([a], [pose_a])
        free = {
            "collide": not collide(a, b, pose_a, pose_b),
            "penetration": penetration(a, b, pose_a, pose_b) is None and answer.lower_bound > 0,
            "is_free": scene.is_free(a, pose_a),
            "mirrored": mirrored.is_free(b, pose_b),
            "swept": scene.check_path(a, [pose_a], tolerance=1e-3).is_free,
            "poses": scene.check_path(a, [pose_a], swept=False).is_free,
            "impact": time_of_impact(
                a, b, Motion.still(pose_a), Motion.still(pose_b), 0.0, 1.0, tolerance=1e-3
            ).verdict is Verdict.FREE,
            "world": worlds_verdict(other, pose_b, odd, pose_a) is Verdict.FREE
            if len(body_a.points) > 2 and radius == 0.0 else False,
        }  # fmt: skip
        for mode in ("collide", "distance", "witness"):
            for name, one, ego, pose in (
                ("", scene, a, pose_a),
                ("mirrored", mirrored, b, pose_b),
            ):
                found = one.check(ego, [pose], mode=mode)
                free[f"{mode} {name}"] = found.is_free
                if mode != "collide":
                    assert truth >= found.lower_bounds[0], context
            pair = check_pairs(mirrored, scene, mode=mode)
            free[f"pairs {mode}"] = bool(pair.verdicts[0] == Verdict.FREE)
            if pair.lower_bounds is not None:
                assert truth >= pair.lower_bounds[0], context
        near = scene.nearest(a, pose_a)
        assert truth >= near.lower_bounds[0], context
        swept = closest_approach(a, b, Motion.still(pose_a), Motion.still(pose_b), 0.0, 1.0)
        if swept.lower_bound > -math.inf:  # else it says that they meet
            assert truth >= swept.lower_bound, context
        wrong = [way for way, is_free in free.items() if is_free and overlap]
        assert not wrong, (wrong, context)
        if truth >= 16 * allowed:
            late = [way for way, is_free in free.items() if not is_free]
            assert set(late) <= {"swept", "impact", "world"}, (late, context)
    assert met > PAIRS // 10 and apart > PAIRS // 10


def test_a_closed_circle_that_a_box_overlaps() -> None:
    """An overlap of 2.3 m2 that was FREE: the placed outline turned the wrong way at one edge."""
    t = np.linspace(0, 2 * np.pi, 17)
    circle = Shape.hull(2 * np.c_[np.cos(t), np.sin(t)])
    place = (10.363215575692443, 0.7329133825426553, 1.852806687356785)
    ego, pose = Shape.box(4.5, 1.8), (8.573901326751274, 1.8913722510108242, -1.650454797127966)
    scene = Scene([circle], [place])
    for mode in ("collide", "distance", "witness"):
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
        assert not Scene([a]).is_free(b, (1e-3, 0.0, 1.0))
        assert not Scene([a]).check_path(b, [(0.5, 0.0, 0.0), (0.6, 0.0, 1.0)]).is_free
    for a, b in ((tiny, away), (away, tiny)):
        assert not collide(a, b)
        assert closest(a, b).distance == pytest.approx(2.0, rel=1e-9)
    triangle = Shape.hull([(0, 0), (length, 0), (0, length)])
    assert collide(triangle, disc) and collide(disc, triangle, (0.1, 0, 1), (0, 0, 2))
    assert collide(triangle, tiny)


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


def test_no_vertex_is_lost_where_exact_arithmetic_underflows() -> None:
    """Points whose x differ by a subnormal: none far from the others was kept."""
    tiny = 5e-324
    for points, disc in (
        ([(0.0, 0.45), (tiny, 0.0), (tiny, 0.44)], Shape.circle(0.1, (0.0, 0.2))),
        ([(0, 1.3), (tiny, 0.99), (tiny, 0.63), (tiny, 0), (3, 0), (3, 2), (0, 2)],
         Shape.circle(0.1, (0.0, 0.05))),
    ):  # fmt: skip
        shape = Shape.hull(points)
        assert collide(shape, disc) and collide(disc, shape)
        assert closest(shape, disc).lower_bound < 0.0
        xy = np.ravel(points)
        for kinds in (None, [0]):
            scene = Scene.from_arrays([0, len(points)], xy, kinds=kinds)
            assert not scene.is_free(disc, (0, 0, 0))


def test_points_that_are_one_but_for_an_underflow() -> None:
    """The hull of a box and of two such points in it was a bow tie, and FREE deep inside."""
    corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    ego = Shape.polygon([(-0.1, -0.9), (0.1, -0.9), (0.1, -0.5), (-0.1, -0.5)])
    for points in ([(1e-300, 1e-300), (2e-300, 0.0)], [(0.0, -1e-323), (1e-320, 0.0), (0.0, 0.0)]):
        scene = Scene([Shape.hull([*corners, *points])])
        for mode in ("collide", "distance", "witness"):
            found = scene.check(ego, [(-0.7, 0.7, 0.0), (0.0, 0.0, 0.0)], mode=mode)
            assert (found.verdicts == Verdict.COLLISION).all()
    edge = Shape.hull([*corners, (0.0, -1.0 - 2**-52), (1e-300, -1.0 - 2**-52)])
    assert edge.parts[0].shape == (5, 2)


def test_a_distance_is_not_below_the_true_one_where_little_is_known() -> None:
    a, b = Shape.segment((0, 1e-41), (0, 1)), Shape.segment((1e-17, 0), (1, 0))
    found = closest(a, b)
    assert found.lower_bound <= 1e-17 <= found.distance


def test_far_limits() -> None:
    """Beyond 3e8 m the squares of distances exceed what a box may reach."""
    point = Shape.point((0.0, 0.0))
    near = Scene([point], [(5e8, 0, 0)]).nearest(point, (0, 0, 0), max_distance=1e9)
    assert near.distances == pytest.approx([5e8])
    scene = Scene([point] * 2, [(0, 999999999.3333333, 0), (1000000000.1428571, 0, 0)])
    verdicts = {
        scene.check(point, [(0, 0, 0)], margin=1e9, mode=mode).verdict
        for mode in ("collide", "distance", "witness")
    }
    assert verdicts == {Verdict.MARGIN}
