# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Families of hard cases through every query of a pair, a scene and the world.

The truth is that of `families`: integers, hulls of points. GJK_CASES sets how many are tried.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import families
import numpy as np
import pytest
from families import Body
from test_world import STEADY0, T0

from gjk_collision import (
    Motion,
    Scene,
    Shape,
    closest,
    closest_approach,
    collide,
    penetration,
    ray_cast,
    shape_cast,
    time_of_impact,
)
from gjk_collision.errors import InputError
from gjk_collision.pairs import check_pairs
from gjk_collision.server import questions
from gjk_collision.server.config import Config, SourceConfig
from gjk_collision.server.frames import Pose
from gjk_collision.server.obstacles import Obstacles
from gjk_collision.server.questions import check_path
from gjk_collision.server.world import World
from gjk_collision.verdict import Verdict

Point = tuple[float, float]
Points = list[Point]
Said = tuple[str, Verdict, float]  # a query, its verdict and its lower bound; NaN: none
NAN = math.nan
MODES = ("collide", "distance", "witness")


@dataclass
class Case:
    """Two hulls of points with radii, at poses, and a margin."""

    a: Points
    b: Points
    radii: Point
    pose_a: Pose
    pose_b: Pose
    margin: float
    concave: int = 2  # which of the two is an outline that may be concave; 2: none

    def bodies(self) -> tuple[Body, Body]:
        rows = ((self.a, self.pose_a), (self.b, self.pose_b))
        placed = [families.place(families.points(points), *pose) for points, pose in rows]
        one, other = (
            body if i == self.concave else families.hull(body) for i, body in enumerate(placed)
        )
        return one, other

    def shapes(self) -> tuple[Shape, Shape]:
        one, other = (
            Shape.concave(points, radius=radius) if i == self.concave else shape(points, radius)
            for i, (points, radius) in enumerate(zip((self.a, self.b), self.radii, strict=True))
        )
        return one, other

    @property
    def is_exact(self) -> bool:
        return self.pose_a.yaw == self.pose_b.yaw == 0.0


def ulps(rng: random.Random, value: float, most: int = 4) -> float:
    for _ in range(rng.randint(0, most)):
        value = math.nextafter(value, rng.choice((-math.inf, math.inf)))
    return value


def closed_ring(rng: random.Random) -> Points:
    """A regular polygon whose last vertex is the first but for 1 to 4 ulp."""
    n, r, t = rng.randint(3, 9), rng.uniform(0.3, 3.0), rng.uniform(0, 7)
    ring = [(r * math.cos(t + 2 * math.pi * i / n), r * math.sin(t + 2 * math.pi * i / n))
            for i in range(n)]  # fmt: skip
    return [*ring, (ulps(rng, ring[0][0]), ulps(rng, ring[0][1]))]


def repeated(rng: random.Random) -> Points:
    """A few points, each up to three times, up to 4 ulp apart."""
    ring = [(rng.uniform(-2, 2), rng.uniform(-2, 2)) for _ in range(rng.randint(1, 4))]
    return [(ulps(rng, x), ulps(rng, y)) for x, y in ring for _ in range(rng.randint(1, 3))]


def tip(rng: random.Random) -> Points:
    width, length = 10.0 ** rng.uniform(-17, -6), rng.uniform(1, 5)
    return [(0.0, 0.0), (length, width), (length, -width), (rng.uniform(0, length), -1.0)]


def sliver(rng: random.Random) -> Points:
    length, width = rng.uniform(0.5, 5), 10.0 ** rng.uniform(-17, -6)
    return [(-length, rng.choice((-1, 1)) * width), (length, 0.0), (-length, width)]


def collinear(rng: random.Random) -> Points:
    """A box with many points on its edges, each up to an ulp off."""
    a, b = rng.uniform(0.5, 3), rng.uniform(0.3, 2)
    shares = [rng.uniform(-1, 1) for _ in range(3)]
    ring = [(-a, -b), *[(a * s, -b) for s in sorted(shares)], (a, -b), (a, b), (-a, b)]
    return [(ulps(rng, x, 1), ulps(rng, y, 1)) for x, y in ring]


def parallel(rng: random.Random) -> Points:
    """A slanted bar: two of them have edges that are parallel up to an ulp."""
    x, y, w = 3.0, rng.choice((1.0, 0.1, 0.7, 1e-3)), rng.uniform(0.1, 1.0)
    return [(0.0, 0.0), (ulps(rng, x, 1), ulps(rng, y, 1)), (ulps(rng, x, 1), y + w), (0.0, w)]


def tiny(rng: random.Random) -> Points:
    """Coordinates down to the denormal ones, some beside 1 m."""
    size = rng.choice((5e-324, 1e-310, 1e-200, 1e-160, 1e-155, 1e-40, 1e-20))
    ring = [(rng.uniform(-9, 9) * size, rng.uniform(-9, 9) * size) for _ in range(4)]
    return ring if rng.random() < 0.5 else [*ring, (rng.choice((1.0, -1.0)), rng.uniform(-1, 1))]


def huge(rng: random.Random) -> Points:
    size = 10.0 ** rng.uniform(6, 12)
    return [(rng.uniform(-1, 1) * size, rng.uniform(-1, 1) * size) for _ in range(4)]


def box(rng: random.Random) -> Points:
    a, b = rng.choice((0.5, 1.0, 2.25)), rng.choice((0.3, 0.9, 1.0))
    return [(-a, -b), (a, -b), (a, b), (-a, b)]


FAMILIES: tuple[Callable[[random.Random], Points], ...] = (
    closed_ring, repeated, tip, sliver, collinear, parallel, tiny, huge, box,
)  # fmt: skip


def cases(family: Callable[[random.Random], Points], count: int, seed: str) -> Iterator[Case]:
    """Yield cases, the margin or a radius of most of them as large as the gap, up to an ulp."""
    rng = random.Random(f"{seed} {family.__name__}")
    for _ in range(count):
        odd, other = family(rng), rng.choice((family, box, sliver))(rng)
        size = max(abs(v) for p in odd + other for v in p)
        far = rng.choice((0.0, size, 3.0 * size, 3.0 * size, 1e-9, 4.0))
        way = rng.choice((0.0, math.pi / 2, rng.uniform(-3.2, 3.2)))
        x, y = rng.choice(((0.0, 0.0), (0.0, 0.0), (0.1, -0.7), (6.6e5, 4.0e6)))
        yaws = rng.choice(((0.0, 0.0), (0.0, 0.0), (rng.uniform(-3, 3), rng.uniform(-3, 3))))
        place = Pose(x, y, yaws[0])
        there = Pose(x + far * math.cos(way), y + far * math.sin(way), yaws[1])
        case = Case(odd, other, (0.0, 0.0), place, there, 0.0)
        gap = families.metres(families.signed(*case.bodies())[0])
        part = ulps(rng, gap, 2)
        if gap > 0.0:
            how = rng.randrange(5)
            if how == 0:
                case.margin = part
            elif how == 1:
                case.radii = (0.0, part)
            elif how == 2:
                case.radii, case.margin = (part / 4, part / 2), ulps(rng, part / 4, 2)
            elif how == 3:
                case.margin = rng.choice((0.0, 1e-9, 0.4, gap / 2))
            if max(*case.radii, case.margin) > 1e14:
                continue
        elif rng.random() < 0.3:
            case.radii = (rng.uniform(0, 0.5), 0.0)
        if rng.random() < 0.5:
            case.a, case.b, case.radii = case.b, case.a, case.radii[::-1]
            case.pose_a, case.pose_b = case.pose_b, case.pose_a
        yield case


def shape(points: Points, radius: float) -> Shape:
    """The shape by the constructor that takes it as it is, else the hull."""
    if len(points) > 2:
        try:
            return Shape.polygon(points, radius)
        except InputError:
            pass
    return Shape.hull(points, radius=radius)


def pair_says(case: Case) -> Iterator[Said]:
    """What the queries of two shapes say; they know a margin of 0 only, but for casts."""
    a, b = case.shapes()
    free, hit = Verdict.FREE, Verdict.COLLISION
    for names, p, q, at, to in (
        ("ab", a, b, case.pose_a, case.pose_b),
        ("ba", b, a, case.pose_b, case.pose_a),
    ):
        yield f"collide {names}", hit if collide(p, q, at, to) else free, NAN
        found = closest(p, q, at, to)
        yield f"closest {names}", free if found.lower_bound > 0.0 else hit, found.lower_bound
        depth = penetration(p, q, at, to)
        if depth is not None:
            yield f"penetration {names}", hit, -depth.upper_bound
    still = Motion.still(case.pose_a), Motion.still(case.pose_b)
    near = closest_approach(a, b, still[0], still[1], 0.0, 1.0)
    yield "approach", Verdict.UNKNOWN, near.lower_bound


def casts_say(case: Case) -> Iterator[Said]:
    a, b = case.shapes()
    still = Motion.still(case.pose_a), Motion.still(case.pose_b)
    options = {"margin": case.margin, "tolerance": 1e-9}
    found = time_of_impact(a, b, still[0], still[1], 1.8e9, 1.8e9 + 1.0, **options)
    yield "impact", found.verdict, NAN
    away = Motion.constant(case.pose_a, (-1.0, 0.5, 0.1)), still[1]
    found = time_of_impact(a, b, away[0], away[1], 0.0, 0.5, **options)
    yield "impact of what moves", found.verdict, NAN
    found = shape_cast(a, b, (1.0, 0.25), 1.0, case.pose_a, case.pose_b, **options)
    yield "cast", found.verdict, NAN
    if len(case.a) == 1 and case.radii[0] == case.margin == 0.0:
        x, y = case.pose_a.transform(np.array(case.a))[0].tolist()
        if case.pose_a == Pose(x, y, 0.0):
            found = ray_cast((x, y), (0.0, 1.0), b, 1.0, case.pose_b, tolerance=1e-9)
            yield "ray", found.verdict, NAN


def scenes_say(case: Case, rng: random.Random) -> Iterator[Said]:
    a, b = case.shapes()
    still = {"velocities": np.zeros((1, 3)), "stamps": [rng.choice((0.0, 0.3, 9e8, 1.8e9))]}
    scene = Scene([b], [case.pose_b], **still)
    other = Scene([a], [case.pose_a])
    time, margin = still["stamps"][0] + 0.5, case.margin
    pose = np.array([case.pose_a])
    aside = pose + rng.choice((1e-3, 1.0, 1e3)) * np.array([[1.0, -2.0, 0.1]])
    many = np.concatenate([pose, aside, pose, pose, aside, pose])
    mine = [0, 2, 3, 5]
    for mode in MODES:
        for warm in (True, False):
            for times in (None, [time]):
                one = scene.check(a, pose, times, margin=margin, mode=mode, warm_start=warm)
                name = f"check {mode} {warm} {times}"
                yield name, one.verdict, float(one.lower_bounds[0])
                each = None if times is None else times * len(many)
                batch = scene.check(a, many, each, margin=margin, mode=mode, warm_start=warm)
                assert set(batch.verdicts[mine].tolist()) == {int(one.verdict)}, name
                bounds = np.append(batch.lower_bounds[mine], one.lower_bounds)
                if mode != "collide":
                    assert len(set(bounds.tolist())) == 1, name
        pairs = check_pairs(other, scene, margin=margin, mode=mode)
        bound = NAN if pairs.lower_bounds is None else float(pairs.lower_bounds[0])
        yield f"pairs {mode}", Verdict(int(pairs.verdicts[0])), bound
        three = check_pairs(other, scene, [(0, 0)] * 3, margin=margin, mode=mode)
        assert (three.verdicts == pairs.verdicts[0]).all()
    for when in (None, time):
        free = scene.is_free(a, tuple(case.pose_a), time=when, margin=margin)
        yield f"is_free {when}", Verdict.FREE if free else Verdict.UNKNOWN, NAN
        near = scene.nearest(a, tuple(case.pose_a), time=when)
        yield f"nearest {when}", Verdict.UNKNOWN, float(near.lower_bounds[0])
    for swept in (True, False):
        for times in (None, [time, time + 1.0]):
            way = np.concatenate([pose, pose])
            path = scene.check_path(a, way, times, 1e-9, swept, margin=margin)
            name = f"path {'swept' if swept else ''} {times}"
            yield name, path.verdict, path.min_distance_lower_bound
        path = scene.check_path(a, pose, None, 1e-9, swept, margin=margin)
        yield f"path of one {'swept' if swept else ''}", path.verdict, NAN


def world_says(case: Case) -> Iterator[Said]:
    """The obstacle as its points, the vehicle as a configured footprint where it can be one."""
    if len(case.a) < 3 or case.radii[0]:
        return
    try:
        config = Config(
            footprint=tuple(np.ravel(case.a).tolist()),
            concave_policy="hull" if case.concave == 2 else "decompose",
            sources=(SourceConfig("obs"),),
        )
        world = World(config)
    except InputError:
        return
    data = Obstacles(
        "odom",
        T0,
        ids=np.array([3]),
        kinds=np.array([int(case.concave == 1)]),
        offsets=np.array([0, len(case.b)]),
        xy=np.ravel(case.b),
        radius=np.array([case.radii[1]]),
        poses=np.array(case.pose_b),
        velocities=np.zeros(3),
    )
    world.receive_obstacles("obs", data, now=T0, steady=STEADY0)
    known = world.snapshot(now=T0, steady=STEADY0)
    assert known.fault is None
    rows = np.array(case.pose_a)
    yield "collide in the world", questions.collide(known, case.pose_a, case.margin).verdict, NAN
    for mode in range(3):
        for times in (np.empty(0), np.array([0.5])):
            found = questions.check_poses(known, rows, times, mode=mode, margin=case.margin)
            bound = float(found.lower_bounds[0]) if mode else NAN
            yield f"poses in the world {mode}", found.answer.verdict, bound
    for swept in (True, False):
        path = check_path(known, rows, swept=swept, margin=case.margin, tolerance=1e-4)
        name = f"path in the world {'swept' if swept else ''}"
        yield name, path.answer.verdict, path.min_distance_lower_bound


def judge(case: Case, said: Iterator[Said], margin: float) -> int:
    """Hold answers against the truth; return how many were FREE."""
    a, b = case.bodies()
    blur = 0 if case.is_exact else families.blur(a, b)
    radii = sum(map(families.steps, case.radii))
    reach = radii + families.steps(margin)
    may_be_free = not families.within(a, b, reach - blur)
    if case.concave == 2:
        greatest = families.signed(a, b)[1] - radii + blur
    else:  # parts that overlap stand for the whole: then it is only known to be at most 0
        greatest = families.distance(a, b)[1] - radii + blur
    # What is farther away than this is FREE: the completeness bound, with the size of both.
    size = max(abs(v) for p in a + b for v in p) + reach
    size += max(families.steps(abs(v)) for p in case.a + case.b for v in p)
    must_be_free = not families.within(a, b, reach + (size >> 40) + families.steps(1e-38))
    frees = 0
    for name, verdict, bound in said:
        frees += verdict is Verdict.FREE
        assert may_be_free or verdict is not Verdict.FREE, (name, case)
        if not math.isnan(bound) and bound != -math.inf:
            assert families.steps(bound) <= greatest, (name, bound, case)
        loose = ("approach", "impact", "cast", "ray", "nearest", "is_free", "path")
        if must_be_free and not name.startswith(loose):
            assert verdict is Verdict.FREE, (name, case)
    return frees


def seams(count: int) -> Iterator[Case]:
    """Yield points and slivers on the lines along which a concave outline may be cut."""
    rng = random.Random("seams")
    while count:
        n = rng.choice((6, 8, 12))
        lengths = [rng.choice((0.3, 1.0, 2.0, rng.uniform(0.3, 3))) for _ in range(n)]
        turns = [2 * math.pi * i / n for i in range(n)]
        ring = [(r * math.cos(t), r * math.sin(t)) for r, t in zip(lengths, turns, strict=True)]
        (x, y), (u, v) = rng.sample(ring, 2)
        share, width = rng.random(), 10.0 ** rng.uniform(-17, -9)
        at = (x + share * (u - x), y + share * (v - y))
        needle = [at, (x + 0.9 * (u - x), y + 0.9 * (v - y)), (at[0] - width, at[1] + width)]
        thing = rng.choice(([at], needle[:2], needle))
        yaw = rng.choice((0.0, rng.uniform(-3, 3)))
        place = Pose(*rng.choice(((0.0, 0.0), (3.0, -7.0), (6.6e5, 4.0e6))), yaw)
        case = Case(thing, ring, (0.0, rng.choice((0.0, 0.1))), place, place, 0.0, 1)
        try:
            case.shapes()
        except InputError:  # its edges cross
            continue
        gap = families.metres(families.distance(*case.bodies())[0]) - case.radii[1]
        if gap > 0.0:
            case.margin = rng.choice((0.0, ulps(rng, gap, 2)))
        count -= 1
        yield case
        radii = case.radii[::-1]
        yield Case(ring, thing, radii, place, place, case.margin, 0)


@pytest.mark.requirement("G-6")
def test_points_and_slivers_on_inner_seams() -> None:
    rng = random.Random(2)
    frees = 0
    for case in seams(families.CASES // 2):
        frees += judge(case, pair_says(case), 0.0)
        frees += judge(case, casts_say(case), case.margin)
        frees += judge(case, scenes_say(case, rng), case.margin)
        frees += judge(case, world_says(case), case.margin)
    assert frees > families.CASES // 10


@pytest.mark.requirement("G-3")
@pytest.mark.requirement("G-4")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_query_of_every_family(family: Callable[[random.Random], Points]) -> None:
    rng = random.Random(family.__name__)
    frees = 0
    for case in cases(family, families.CASES, "1"):
        frees += judge(case, pair_says(case), 0.0)
        frees += judge(case, casts_say(case), case.margin)
        frees += judge(case, scenes_say(case, rng), case.margin)
        frees += judge(case, world_says(case), case.margin)
    assert frees > families.CASES // 10
