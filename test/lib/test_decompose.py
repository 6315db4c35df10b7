# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Outlines that touch or cross themselves; margins per side.

The area of the touching ones is known; the crossing ones are decided in rational arithmetic.
"""

from __future__ import annotations

import itertools
import math
import random
import re

import numpy as np
import oracles
import pytest
from cases import polygon_on_grid
from oracles import Point

from gjk_collision import InputError, Shape, Status, collide


def parts_of(shape: Shape) -> list[list[Point]]:
    return [[(float(x), float(y)) for x, y in part] for part in shape.parts]


# What is inside is known by hand: outline, area, number of parts at most.
TOUCHING = {
    "two triangles at a vertex": (
        [(-1, -1), (0, 0), (1, -1), (1, 1), (0, 0), (-1, 1)], 2, 2
    ),
    "a vertex on an edge": ([(0, 0), (10, 0), (10, 4), (5, 0), (0, 4)], 20, 2),
    "a hole through a keyhole": (
        [(0, 0), (10, 0), (10, 10), (0, 10), (0, 0), (3, 3), (3, 6), (6, 6), (6, 3), (3, 3)], 91, 4
    ),
    "a hole at a vertex": (
        [(0, 0), (10, 0), (10, 10), (0, 10), (0, 5), (5, 7), (5, 3), (0, 5)], 90, 4
    ),
    "a whisker outside": ([(0, 0), (4, 0), (4, 4), (6, 6), (4, 4), (0, 4)], 16, 2),
    "a whisker inside": ([(0, 0), (4, 0), (4, 4), (2, 2), (4, 4), (0, 4)], 16, 2),
    "a bridge without width": (
        [(0, 0), (1, 0), (3, 0), (4, 0), (4, 1), (3, 1), (3, 0), (1, 0), (1, 1), (0, 1)], 2, 3
    ),
    "an edge there and back": ([(0, 0), (4, 0), (8, 0), (4, 0), (4, 4)], 8, 2),
    "a slot without width": (
        [(0, 0), (4, 0), (4, 4), (2, 4), (2, 1), (2, 4), (0, 4)], 16, 3
    ),
    "edges that overlap in part": (
        [(0, 0), (6, 0), (6, 2), (1, 2), (1, 3), (2, 3), (2, 2), (4, 2), (4, 4), (0, 4)], 19, 5
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOUCHING)
@pytest.mark.parametrize("turn", range(2))
def test_touching_outlines(name: str, turn: int) -> None:
    outline, area, most = TOUCHING[name]
    ring = [(float(x), float(y)) for x, y in (outline[::-1] if turn else outline)]
    for shift in range(len(ring)):
        rolled = ring[shift:] + ring[:shift]
        parts = parts_of(Shape.concave(rolled))
        assert sum(oracles.twice_area(part) for part in parts) == 2 * area, parts
        assert all(oracles.is_convex(part) or len(part) == 2 for part in parts), parts
        assert len(parts) <= most, parts
        shape = Shape.concave(rolled)
        for p, q in zip(rolled, rolled[1:] + rolled[:1], strict=True):
            middle = ((p[0] + q[0]) / 2, (p[1] + q[1]) / 2)
            assert collide(shape, Shape.point(middle)), f"{middle} is on the outline"


def test_parts_are_few() -> None:
    """Hertel and Mehlhorn: at most four times the fewest, which is more than half the reflex."""
    rng = random.Random(1)
    for _ in range(50):
        n = rng.randrange(8, 40)
        angles = [math.tau * i / n for i in range(n)]
        ring = [(r * math.cos(t), r * math.sin(t)) for t in angles for r in [rng.uniform(2, 5)]]
        corners = zip(ring, ring[1:] + ring[:1], ring[2:] + ring[:2], strict=True)
        reflex = sum(oracles.twice_area(list(corner)) < 0 for corner in corners)
        parts = parts_of(Shape.concave(ring))
        assert sum(oracles.twice_area(part) for part in parts) == oracles.twice_area(ring)
        assert len(parts) <= reflex + 1 + n // 8


# Crossings ---------------------------------------------------------------------------------


def cross_properly(e: tuple[Point, Point], f: tuple[Point, Point]) -> bool:
    def turn(a: Point, b: Point, c: Point) -> int:
        area = oracles.twice_area([a, b, c])
        return (area > 0) - (area < 0)

    (a, b), (c, d) = e, f
    return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0


def test_crossing_outlines_are_refused_by_their_edges() -> None:
    """Random walks on a grid: refused where two edges cross, and where the winding is not one."""
    rng = random.Random(2)
    refused = taken = unclear = 0
    for _ in range(1500):
        n = rng.randrange(4, 9)
        ring = [(float(rng.randrange(5)), float(rng.randrange(5))) for _ in range(n)]
        if len(oracles.hull(ring)) < 3 or ring[0] == ring[-1]:
            continue
        edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
        crossing = any(cross_properly(e, f) for e, f in itertools.combinations(edges, 2))
        parts = refusal = None
        try:
            parts = parts_of(Shape.concave(ring))
        except InputError as error:
            refusal = error
        if refusal is not None:
            if refusal.status == Status.DEGENERATE:
                continue
            refused += 1
            assert refusal.status == Status.INVALID_INPUT and refusal.index is not None, ring
            [second] = map(int, re.findall(r"vertex (\d+)", refusal.rule))
            first = refusal.index
            assert first < second, (ring, str(refusal))
            e, f = edges[first], edges[second]
            assert oracles.squared_distance(e, f) == 0, f"{ring}: {refusal}"
            if not crossing:
                unclear += 1
                # Not a crossing of two edges: some place is wound twice, or the wrong way.
                assert not is_wound_once(ring), ring
            continue
        assert parts is not None
        taken += 1
        assert not crossing, ring
        assert is_wound_once(ring), ring
        assert all(oracles.is_convex(part) or len(part) == 2 for part in parts), ring
        assert sum(oracles.twice_area(part) for part in parts) == abs(oracles.twice_area(ring)), (
            ring
        )
    assert refused > 300 and taken > 100 and unclear > 30, (refused, taken, unclear)


def is_wound_once(ring: list[Point]) -> bool:
    """Winding numbers at points of a fine lattice that no line through grid points meets."""
    # In whole numbers: steps of 1/12, moved by 1/1009 and 1/2003.
    step, dx, dy = 12 * 1009 * 2003, 12 * 2003, 12 * 1009
    x, y = np.meshgrid(
        np.arange(0, 4 * step, step // 12) + dx, np.arange(0, 4 * step, step // 12) + dy
    )
    winding = np.zeros(x.shape, dtype=np.int64)
    whole = [(int(px) * step, int(py) * step) for px, py in ring]
    for (ax, ay), (bx, by) in zip(whole, whole[1:] + whole[:1], strict=True):
        side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        winding += (ay <= y) & (y < by) & (side > 0)
        winding -= (by <= y) & (y < ay) & (side < 0)
    turns = set(winding.ravel().tolist())
    return turns <= {0, 1} or turns <= {0, -1}


# Margins per side --------------------------------------------------------------------------


def test_padding_is_the_minkowski_sum_with_a_box() -> None:
    rng = random.Random(4)
    for _ in range(100):
        ring = polygon_on_grid(rng, 6, 20)
        front, rear, left, right = (rng.choice([0.0, 1.0, 0.25, 3.0]) for _ in range(4))
        grown = Shape.polygon(ring, radius=0.5).padded(front, rear, left, right)
        box = itertools.product((-rear, front), (-right, left))
        sums = [(p[0] + dx, p[1] + dy) for dx, dy in box for p in ring]
        truth = oracles.hull(sums)
        (part,) = parts_of(grown)
        assert sorted(part) == sorted(truth) and grown.radius == 0.5
        assert oracles.twice_area(part) > 0


def test_padding_follows_the_sides_of_the_vehicle() -> None:
    car = Shape.polygon([(3.8, 0.9), (-1.0, 0.9), (-1.0, -0.9), (3.8, -0.9)])
    grown = car.padded(front=1.0, rear=0.5, left=0.25, right=0.125)
    (part,) = parts_of(grown)
    assert np.max(part, axis=0) == pytest.approx([4.8, 1.15])
    assert np.min(part, axis=0) == pytest.approx([-1.5, -1.025])
    assert len(part) == 4
    assert parts_of(car.padded()) != [] and car.padded().radius == 0.0
    fork = Shape.concave([(0, 0), (6, 0), (6, 1), (1, 1), (1, 3), (6, 3), (6, 4), (0, 4)])
    assert not collide(fork.padded(left=1.9), Shape.point((5.0, 2.95)))
    assert collide(fork.padded(left=2.0), Shape.point((5.0, 2.95)))
