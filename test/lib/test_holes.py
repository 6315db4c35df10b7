# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Polygons with holes, decided by shapely on grids, where its predicates are exact."""

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

from gjk_collision import InputError, Shape, Status, collide, distance

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
        holes = [random_ring(rng, 0, 9, 6) for _ in range(rng.randint(1, 3))]
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


@pytest.mark.parametrize("turn", range(4))
def test_holes_that_touch(turn: int) -> None:
    """Edges of holes belong to the shape. Between two holes they are a wall without width."""
    left: Ring = [(2, 2), (5, 2), (5, 6), (2, 6)]
    right: Ring = [(5, 2), (8, 2), (8, 6), (5, 6)]
    if turn % 2:
        left.reverse()
    outline = SQUARE[::-1] if turn >= 2 else SQUARE
    shape = Shape.concave(outline, [left, right])
    assert collide(shape, Shape.point((5.0, 4.0)))
    assert not collide(shape, Shape.circle(1.0, (3.5, 4.0)))
    assert collide(shape, Shape.circle(1.5, (3.5, 4.0)))
    assert distance(shape, Shape.point((4.5, 4.0))) == pytest.approx(0.5)
    slot = Shape.concave(outline, [[(0, 4), (5, 4), (5, 6), (0, 6)]])
    assert collide(slot, Shape.point((0.0, 5.0)))
    assert not collide(slot, Shape.point((1e-30, 5.0)))
    assert collide(Shape.concave(outline, [SQUARE]), Shape.point((0.0, 5.0)))
    assert not collide(Shape.concave(outline, [SQUARE]), Shape.point((5.0, 5.0)))


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
