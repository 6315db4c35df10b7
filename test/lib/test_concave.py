# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Concave outlines and polygons with holes.

shapely decides them on grids, where its predicates are exact.
"""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import oracles
import pytest
import shapely
from cases import FIRST_SEED
from oracles import Point

from gjk_collision import InputError, Scene, Shape, Status, collide, distance

Ring = list[Point]

SQUARE: Ring = [(0, 0), (10, 0), (10, 10), (0, 10)]


def random_ring(rng: random.Random, low: int, high: int, most: int) -> Ring:
    """Return a simple polygon on a grid; many vertices have the same x or y."""
    while True:
        points = [
            (rng.randint(low, high), rng.randint(low, high)) for _ in range(rng.randint(3, most))
        ]
        if shapely.Polygon(points).is_valid and shapely.Polygon(points).area > 0:
            return [(float(x), float(y)) for x, y in points]


def comb(teeth: int) -> Ring:
    """Return a comb whose teeth begin at the same x: each sees far along the others."""
    ring: Ring = [(-3.0, 4.0 * teeth - 2.0), (-3.0, 0.0)]
    for i in range(teeth):
        ring += [(9.0, 4.0 * i), (9.0, 4.0 * i + 2.0)]
        ring += [(0.0, 4.0 * i + 2.0), (0.0, 4.0 * i + 4.0)] if i + 1 < teeth else []
    return ring


@pytest.mark.requirement("G-6")
@pytest.mark.parametrize("block", range(4))
def test_random_holes(block: int) -> None:
    """Accepted as shapely says, and then exact: touching, shared edges, and equal x are common."""
    taken = refused = free = hits = touching = 0
    for seed in range(FIRST_SEED + 400 * block, FIRST_SEED + 400 * (block + 1)):
        rng = random.Random(f"holes {seed}")
        ring = random_ring(rng, 0, 9, 7)
        if rng.random() < 0.6:
            ring = [(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0)]
        holes = [random_ring(rng, 0, 9, 6) for _ in range(rng.randint(0, 3))]
        holes = [
            [(x // 2 + dx, y // 2 + dy) for x, y in hole]
            for hole in holes
            for dx, dy in [(rng.randint(0, 4), rng.randint(0, 4))]
        ]
        areas = [shapely.Polygon(hole) for hole in holes]
        if not all(area.is_valid and area.area > 0 for area in areas):
            continue
        area = shapely.Polygon(ring)
        is_good = all(area.covers(hole) for hole in areas) and all(
            a.intersection(b).area == 0 for a, b in itertools.combinations(areas, 2)
        )
        scale = rng.choice((1.0, 2.0**-40, 3.0 * 2.0**20))
        shift = rng.choice((0.0, 0.0, 2.0**20)) * scale

        def moved(points: Ring, scale: float = scale, shift: float = shift) -> Ring:
            return [(scale * float(x) + shift, scale * float(y) - shift) for x, y in points]

        where = f"holes {seed}: {moved(ring)!r}, {[moved(hole) for hole in holes]!r}"
        if not is_good:
            with pytest.raises(InputError) as caught:
                Shape.concave(moved(ring), [moved(hole) for hole in holes])
            assert caught.value.status is Status.INVALID_INPUT, where
            assert caught.value.index is not None, where
            assert caught.value.argument.startswith("holes["), where
            refused += 1
            continue
        shape = Shape.concave(moved(ring), [moved(hole) for hole in holes])
        taken += 1
        touching += any(area.boundary.intersects(hole) for hole in areas)
        parts = [[tuple(map(float, p)) for p in part] for part in shape.parts]
        corners = {p for points in [ring, *holes] for p in moved(points)}
        assert {p for part in parts for p in part} <= corners, where
        assert all(len(part) == 2 or oracles.is_convex(part) for part in parts), where
        rest = abs(oracles.twice_area(moved(ring))) - sum(
            abs(oracles.twice_area(moved(h))) for h in holes
        )
        assert sum(oracles.twice_area(part) for part in parts) == rest, where
        for _ in range(6):
            size = rng.choice((1, 2, 4))
            x, y = rng.randint(-2, 40), rng.randint(-2, 40)
            probe = [
                ((x + rng.randint(0, size)) / 4, (y + rng.randint(0, size)) / 4)
                for _ in range(rng.randint(1, 4))
            ]
            hull = shapely.MultiPoint(probe).convex_hull
            around = [hole for hole in areas if hole.contains_properly(hull)]
            truth = bool(area.intersects(hull)) and not around
            other = Shape.hull(moved(probe))
            assert collide(shape, other) == collide(other, shape) == truth, f"{where}, {probe}"
            if truth:
                hits += 1
                assert distance(shape, other) <= 0.0, f"{where}, {probe}"
            else:
                free += bool(around)
                edge = around[0].boundary if around else area
                expected = scale * edge.distance(hull)
                assert distance(shape, other) == pytest.approx(expected, rel=1e-12), where
    counts = (taken, refused, free, hits, touching)
    assert min(taken, refused, hits) > 50 and min(free, touching) > 5, counts


def test_a_radius_shrinks_the_hole() -> None:
    ring = Shape.concave(SQUARE, [[(2, 2), (8, 2), (8, 8), (2, 8)]], radius=1.0)
    assert ring.radius == 1.0
    assert distance(ring, Shape.point((5.0, 5.0))) == pytest.approx(2.0)
    assert distance(ring, Shape.point((13.0, 5.0))) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("holes", "argument", "index", "rule"),
    [
        ([[(1, 1), (2, 1), (2, 2)], [(4, 4), (12, 5), (4, 6)]], "holes[1]", (0, 1), "of outline"),
        ([[(11, 1), (12, 1), (12, 2)]], "holes[0]", (0, 1, 2), "leaves the outline"),
        ([[(-1, -1), (11, -1), (11, 11), (-1, 11)]], "holes[0]", (0, 3), "leaves the outline"),
        ([[(1, 1), (9, 1), (9, 9)], [(3, 2), (8, 2), (8, 7)]], "holes[1]", (0, 2), "overlaps"),
        ([[(3, 2), (8, 2), (8, 7)], [(1, 1), (9, 1), (9, 9)]], "holes[1]", (0, 1, 2), "overlaps"),
        ([[(1, 1), (5, 1), (5, 5)], [(1, 1), (5, 1), (5, 5)]], "holes[1]", (0, 2), "overlaps"),
        ([[(1, 1), (5, 1), (3, 5)], [(1, 3), (5, 3), (3, 0)]], "holes[1]", (2,), r"holes\[0\]"),
        ([[(1, 1), (2, 2), (2, 1), (1, 2)]], "holes[0]", (0,), "crosses or overlaps .* 2"),
        ([[(1, 1), (2, 2)]], "holes[0]", (None,), "3 distinct"),
        ([[(1, 1), (2, 2), (3, 3)]], "holes[0]", (None,), "one line"),
        ([[(1, 1), (2, 2), (3, math.nan)]], "holes[0]", (2,), "finite"),
        ([[(1, 1), (2, 2), (3, 1e-50)]], "holes[0]", (2,), "1e-40"),
        ([[(1, 1, 1)]], "holes[0]", (None,), "shape"),
        (0.5, "holes", (None,), "radius=0.5"),
        (None, "holes", (None,), "sequence"),
    ],
)  # fmt: skip
def test_wrong_holes(
    holes: list[Ring], argument: str, index: tuple[int | None, ...], rule: str
) -> None:
    with pytest.raises(InputError, match=rule) as caught:
        Shape.concave(SQUARE, holes)
    assert caught.value.argument == argument
    assert caught.value.index in index


def test_many_vertices() -> None:
    """Where each step takes the time of all vertices, this takes hours."""
    ring = comb(10_000)
    holes = [[(x, y) for x, y in ((-2.0, k + 0.25), (-1.0, k + 0.5), (-2.0, k + 0.75))]
             for k in range(0, 39_990, 4)]  # fmt: skip
    parts = Shape.concave(ring, holes).parts
    # Sums of multiples of 1/8 are exact.
    found = shapely.area([shapely.Polygon(part) for part in parts]).sum()
    assert found == shapely.Polygon(ring).area - len(holes) * 0.25
    assert len(parts) < 2 * len(ring)


def test_a_long_slit() -> None:
    """Many vertices on one line, twice: no part is joined across it."""
    x = np.linspace(0.0, 10.0, 20_001)[:-1]
    there = np.c_[x, np.zeros(len(x))]
    outline = np.concatenate([[(-1.0, 5.0)], there, there[-2::-1], [(-1.0, -5.0), (10.0, 0.0)]])
    assert Shape.concave(outline).area == 50.0


def star(rng: random.Random) -> Ring:
    """Vertices in order of their angle: radii jump at random."""
    angles = [2 * math.pi * k / 12 for k in range(12)]
    return [(r * math.cos(t), r * math.sin(t)) for t in angles for r in [rng.uniform(2, 30)]]


@pytest.mark.requirement("G-6")
def test_points_and_slivers_on_inner_seams() -> None:
    """At a pose each part is rounded; where two parts meet, nothing slips between them."""
    found = 0
    for seed in range(FIRST_SEED, FIRST_SEED + 60):
        rng = random.Random(f"seams {seed}")
        shape = Shape.concave(star(rng))
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
