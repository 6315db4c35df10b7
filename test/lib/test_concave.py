# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Concave outlines: the parts are convex, and their union is the outline, exactly."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable

import oracles
import pytest
from cases import FIRST_SEED, moved, polygon_on_grid, untidy
from oracles import Point

from gjk_collision import InputError, Scene, Shape, Status, collide, distance


def star(rng: random.Random) -> list[Point]:
    """Vertices on the grid, in order of their angle: radii jump at random."""
    angles = sorted(rng.uniform(0, 2 * math.pi) for _ in range(rng.randint(4, 16)))
    radii = [rng.choice((3, 10, rng.uniform(2, 30))) for _ in angles]
    return [
        (round(r * math.cos(t)), round(r * math.sin(t)))
        for r, t in zip(radii, angles, strict=True)
    ]


def comb(rng: random.Random) -> list[Point]:
    """Teeth with collinear roots and tips, and gaps of no width but a cell."""
    teeth = rng.randint(2, 6)
    ring: list[Point] = [(4 * teeth - 2, -3), (0, -3)]
    for i in range(teeth):
        ring += [(4 * i, rng.randint(1, 9))] + [(4 * i + 2, rng.choice((1, 9, 5)))]
        ring += [(4 * i + 2, 0), (4 * i + 4, 0)] if i + 1 < teeth else []
    return ring


def spiral(rng: random.Random) -> list[Point]:
    """A corridor two wide that winds inwards: no point of it sees the whole."""
    arms = rng.randint(2, 12)
    ways = [((1, 0), (0, 1), (-1, 0), (0, -1))[i % 4] for i in range(arms)]
    left: list[Point] = []
    right: list[Point] = []
    x = y = 0
    for i in range(arms + 1):
        # The sides meet at the sum of the normals of the arms before and after.
        beside = [(-dy, dx) for dx, dy in ways[max(i - 1, 0) : i + 1]]
        u, v = sum(n[0] for n in beside), sum(n[1] for n in beside)
        left.append((x + u, y + v))
        right.append((x - u, y - v))
        if i < arms:
            length = 4 * (arms - i) + rng.randint(3, 4)
            x, y = x + length * ways[i][0], y + length * ways[i][1]
    return left + right[::-1]


def is_simple(ring: list[Point]) -> bool:
    """No two edges meet but neighbours at their vertex; and there is an area."""
    n = len(ring)
    if n < 4 or len(set(ring)) < n or oracles.is_convex(ring) or oracles.twice_area(ring) == 0:
        return False
    edges = [(ring[i - 1], ring[i]) for i in range(n)]
    for i in range(n):
        for j in range(i + 2, n if i else n - 1):
            if oracles.squared_distance(edges[i], edges[j]) == 0:
                return False
        if oracles.squared_distance([edges[i][0]], edges[(i + 1) % n]) == 0:
            return False
        if oracles.squared_distance(edges[i], [edges[(i + 1) % n][1]]) == 0:
            return False
    return True


@pytest.mark.requirement("G-6")
@pytest.mark.parametrize("make", [star, comb, spiral], ids=lambda f: f.__name__)
def test_parts_are_the_outline(make: Callable[[random.Random], list[Point]]) -> None:
    made = 0
    for seed in range(FIRST_SEED, FIRST_SEED + 150):
        rng = random.Random(f"{make.__name__} {seed}")
        ring = make(rng)
        if not is_simple(ring):
            continue
        made += 1
        outline = untidy(rng, ring)
        where = f"{make.__name__} {seed}: {outline!r}"
        shape = Shape.concave(outline)
        parts = [[tuple(p) for p in part] for part in shape.parts]
        assert all(oracles.is_convex(part) for part in parts), where
        assert {p for part in parts for p in part} <= set(ring), where
        # Convex parts within the outline, of the same area as the outline, are the outline.
        assert sum(oracles.twice_area(part) for part in parts) == abs(oracles.twice_area(ring)), (
            where
        )
        for _ in range(4):
            size = max(abs(c) for p in ring for c in p)
            other = moved(
                polygon_on_grid(rng, 5, rng.choice((1, 3, size))),
                rng.randint(-size, size),
                rng.randint(-size, size),
            )
            truth = oracles.squared_distance(ring, other)
            convex = Shape.polygon(other)
            assert collide(shape, convex) == collide(convex, shape) == (truth == 0), where
            if truth:
                assert distance(shape, convex) == pytest.approx(math.sqrt(truth), rel=1e-12), where
            else:
                assert distance(shape, convex) <= 0.0, where
    assert made >= 50, f"only {made} simple outlines"


@pytest.mark.requirement("G-6")
def test_points_and_slivers_on_inner_seams() -> None:
    """At a pose each part is rounded; where two parts meet, nothing slips between them."""
    found = 0
    for seed in range(FIRST_SEED, FIRST_SEED + 60):
        rng = random.Random(f"seams {seed}")
        ring = star(rng)
        if not is_simple(ring):
            continue
        shape = Shape.concave(ring)
        pose = (*rng.choice(((0.0, 0.0), (3.0, -7.0), (6.6e5, 4.0e6))), rng.uniform(-3, 3))
        scene = Scene([shape], [pose])
        for a, b in itertools.combinations(shape.parts, 2):
            shared = [p for p in a.tolist() if p in b.tolist()]
            if len(shared) < 2:
                continue
            (x, y), (u, v) = shared[:2]
            share, width = rng.uniform(0.05, 0.45), 10.0 ** rng.uniform(-17, -9)
            at = (x + share * (u - x), y + share * (v - y))
            to = (x + 0.9 * (u - x), y + 0.9 * (v - y))
            for points in ([at], [at, to], [at, to, (at[0] - width, at[1] + width)]):
                found += 1
                thing = Shape.hull(points)
                assert collide(shape, thing, pose, pose) and collide(thing, shape, pose, pose)
                for mode in ("collide", "distance", "witness"):
                    assert not scene.check(thing, [pose], mode=mode).is_free, (seed, points)
    assert found > 100


def test_the_radius_goes_all_around() -> None:
    notch = [(-6, -4), (6, -4), (6, 9), (4, 9), (4, -3), (-4, -3), (-4, 9), (-6, 9)]
    probe = Shape.point((0.0, 5.0))
    assert distance(Shape.concave(notch), probe) == pytest.approx(4.0)
    assert distance(Shape.concave(notch, radius=1.5), probe) == pytest.approx(2.5)
    assert collide(Shape.concave(notch, radius=4.0), probe)
    assert not collide(Shape.concave(notch, radius=math.nextafter(4.0, 0.0)), probe)


@pytest.mark.parametrize("far", [(9e14, 0.0, 0.0), (0.0, 9e14, 0.0)])
def test_a_contact_counts_although_another_part_leaves_the_domain(
    far: tuple[float, float, float],
) -> None:
    """In whatever order the parts are; without a contact there is no answer."""
    angle = [[0, 0], [2e14, 0], [2e14, 1], [1, 1], [1, 2e14], [0, 2e14]]
    shape, circle = Shape.concave(angle), Shape.circle(1.0)
    assert collide(circle, shape, far, far)
    assert collide(shape, circle, far, far)
    with pytest.raises(InputError) as error:
        collide(circle, shape, (far[0] - 9.0, far[1] - 9.0, 0.0), far)
    assert error.value.status is Status.COORD_RANGE
