# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Rays among many obstacles, against rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from cases import FIRST_SEED

from gjk_collision import Scene, Shape, Status, Verdict, ray_cast

Exact = tuple[Fraction, Fraction]


def exact(point: np.ndarray) -> Exact:
    return Fraction(float(point[0])), Fraction(float(point[1]))


def first_hit(origin: Exact, way: Exact, outline: list[Exact]) -> Fraction | None:
    """Parameter along `way` at which the ray enters a convex, counter-clockwise outline."""
    enters, leaves = Fraction(0), None
    for a, b in zip(outline, outline[1:] + outline[:1], strict=True):
        outward = (b[1] - a[1], a[0] - b[0])
        beyond = outward[0] * (origin[0] - a[0]) + outward[1] * (origin[1] - a[1])
        speed = outward[0] * way[0] + outward[1] * way[1]
        if speed == 0:
            if beyond > 0:
                return None
        elif speed > 0:
            leaves = -beyond / speed if leaves is None else min(leaves, -beyond / speed)
        else:
            enters = max(enters, -beyond / speed)
    return enters if leaves is None or enters <= leaves else None


@pytest.mark.requirement("V-22")
def test_hits_are_those_of_rational_arithmetic() -> None:
    """Many rays pass through a vertex. No hit is late."""
    hits = misses = 0
    for seed in range(FIRST_SEED, FIRST_SEED + 60):
        rng = np.random.default_rng(seed)
        size = 10.0 ** rng.uniform(-2, 3)
        far = 6.6e5 if size > 1.0 and seed % 2 else 0.0
        outlines = []
        while len(outlines) < rng.integers(1, 30):
            center = rng.uniform(-9, 9, 2)
            points = (center + rng.uniform(-1, 1, (rng.integers(3, 9), 2))) * size
            hull = Shape.hull(points + far)
            outlines.append(hull.parts[0])
        scene = Scene([Shape.polygon(outline) for outline in outlines])
        origin = rng.uniform(-9, 9, 2) * size + far
        limit = math.inf if seed % 2 else 6.0 * size
        ways = rng.normal(size=(30, 2)) * 10.0 ** rng.uniform(-3, 3, (30, 1))
        for i in range(15):  # through a vertex
            outline = outlines[rng.integers(len(outlines))]
            ways[i] = outline[rng.integers(len(outline))] - origin
        found = scene.ray_cast(origin, ways, limit)
        rational = [[exact(v) for v in outline] for outline in outlines]
        for i, way in enumerate(ways):
            entries = [first_hit(exact(origin), exact(way), outline) for outline in rational]
            met = [float(entry) * math.hypot(*way) for entry in entries if entry is not None]
            truth = min(met, default=math.inf)
            case = (seed, i, origin.tolist(), way.tolist())
            assert found.statuses[i] == Status.SUCCESS, case
            if found.verdicts[i] == Verdict.FREE:
                assert truth > limit * (1 - 1e-14) or truth == math.inf, case
                assert found.distances[i] == math.inf and found.ids[i] == -1, case
                misses += 1
                continue
            hits += 1
            assert found.verdicts[i] == Verdict.COLLISION, case
            assert found.distances[i] <= truth * (1 + 1e-14), case  # float() rounds the truth
            if far:  # where a cast of one shape may not resolve its tolerance
                assert truth == math.inf or found.distances[i] >= truth - 1e-6 * size, case
                continue
            single = ray_cast(origin, way, Shape.polygon(outlines[found.ids[i]]), limit)
            assert single.hit and found.distances[i] >= single.time - 1e-6 * size, case
    assert hits > 300 and misses > 100


def test_shapes_threads_and_limits() -> None:
    scene = Scene([Shape.box(1.0, 40.0, (5.0, 0.0)), Shape.box(1.0, 40.0, (9.0, 0.0))])
    found = scene.ray_cast((0.0, 0.0), [[(1, 0), (2, 2)], [(-1, 0), (1e-3, 0)]])
    assert found.distances.shape == found.ids.shape == (2, 2)
    assert found.distances.ravel() == pytest.approx([4.5, 4.5 * math.sqrt(2), math.inf, 4.5])
    assert found.ids.tolist() == [[0, 0], [-1, 0]]
    one = scene.ray_cast((0.0, 0.0), (1.0, 0.0))
    assert one.distances.shape == () and one.verdicts == Verdict.COLLISION
    assert scene.ray_cast((0.0, 0.0), (1.0, 0.0), 4.499).distances == math.inf
    assert scene.ray_cast((7.0, 0.0), (1.0, 0.0)).ids == 1
    assert Scene([]).ray_cast((0.0, 0.0), [(1.0, 0.0)]).verdicts.tolist() == [Verdict.FREE]
    rng = np.random.default_rng(FIRST_SEED)
    many = Scene([Shape.circle(0.2, tuple(c)) for c in rng.uniform(-20, 20, (400, 2))])
    ways = rng.normal(size=(1000, 2))
    one_thread, four = many.ray_cast((0, 0), ways), many.ray_cast((0, 0), ways, threads=4)
    assert (one_thread.distances == four.distances).all() and (one_thread.ids == four.ids).all()


@pytest.mark.parametrize("length", [5e-324, 1e-322, 1e-310, 1e-160, 1.0, 1e15])
def test_the_length_of_a_direction_has_no_effect(length: float) -> None:
    """Also where doubles have few digits."""
    circle, truth = Shape.circle(0.1), math.hypot(10.0, 10.0) - 0.1
    found = Scene([circle], [(10.0, 10.0, 0.0)]).ray_cast((0.0, 0.0), [(length, length)], truth)
    assert found.verdicts[0] == Verdict.COLLISION
    assert truth - 1e-8 < found.distances[0] <= truth
    alone = ray_cast((0.0, 0.0), (length, length), circle, truth, (10.0, 10.0, 0.0))
    assert alone.verdict is Verdict.COLLISION and truth - 1e-8 < alone.last_valid <= truth
