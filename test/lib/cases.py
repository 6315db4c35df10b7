# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Random pairs of bodies, by kind of trouble.

Every kind is a function from a random generator to a pair. ``some(kind, count)`` yields cases
that print as their seed and as a literal that can be pasted into a test. Each case has a seed of
its own, so one case can be run again alone: ``cases.one(kind, seed)``. ``GJK_TEST_SEED`` moves
the first seed.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from oracles import Body, Point, hull

FIRST_SEED = int(os.environ.get("GJK_TEST_SEED", "1"))


@dataclass(frozen=True)
class Case:
    """A pair of bodies, and where it came from."""

    kind: str
    seed: int
    a: Body
    b: Body

    def __str__(self) -> str:
        return (
            f"cases.one({self.kind!r}, {self.seed}):\n"
            f"  a = Body({tuple(self.a.points)!r}, {self.a.radius!r})\n"
            f"  b = Body({tuple(self.b.points)!r}, {self.b.radius!r})"
        )

    __repr__ = __str__


Pair = tuple[Body, Body]


def one(kind: str, seed: int) -> Case:
    """The case of this kind and seed."""
    a, b = KINDS[kind](random.Random(f"{kind} {seed}"))
    return Case(kind, seed, a, b)


def some(kind: str, count: int) -> Iterator[Case]:
    """``count`` cases of this kind, of consecutive seeds."""
    return (one(kind, seed) for seed in range(FIRST_SEED, FIRST_SEED + count))


# Single outlines ---------------------------------------------------------------------------


def valtr(rng: random.Random, n: int, size: int) -> list[Point]:
    """Convex polygon of up to n vertices on the integer grid, counter-clockwise (P. Valtr, 1995).

    Integers keep it exactly convex. Equal directions leave collinear vertices in place, and
    zero steps leave repeated ones.
    """

    def steps() -> list[int]:
        values = sorted(rng.randint(0, size) for _ in range(n))
        low, high = values[0], values[-1]
        found, left, right = [], low, low
        for value in values[1:-1]:
            if rng.random() < 0.5:
                found.append(value - left)
                left = value
            else:
                found.append(right - value)
                right = value
        return [*found, high - left, right - high]

    dx, dy = steps(), steps()
    rng.shuffle(dy)
    ring: list[Point] = []
    x = y = 0
    for u, v in sorted(zip(dx, dy, strict=True), key=lambda s: math.atan2(s[1], s[0])):
        ring.append((x, y))
        x, y = x + u, y + v
    return ring


def polygon_on_grid(rng: random.Random, n: int, size: int) -> list[Point]:
    """As ``valtr``, with an area and with strictly convex vertices."""
    while len(ring := hull(valtr(rng, n, size))) < 3:
        pass
    return ring


def polygon(rng: random.Random, n: int, length: float, width: float) -> list[Point]:
    """Convex polygon of full doubles: points of an ellipse, turned, and their exact hull."""
    while True:
        turn = rng.uniform(0, 2 * math.pi)
        points = []
        for _ in range(n):
            t = rng.uniform(0, 2 * math.pi)
            points.append(turned((length / 2 * math.cos(t), width / 2 * math.sin(t)), turn))
        if len(ring := hull(points)) > 2:
            return ring


def turned(p: Point, angle: float) -> Point:
    c, s = math.cos(angle), math.sin(angle)
    return (c * p[0] - s * p[1], s * p[0] + c * p[1])


def moved(points: Sequence[Point], x: float, y: float) -> list[Point]:
    return [(p[0] + x, p[1] + y) for p in points]


def scaled(points: Sequence[Point], factor: float) -> list[Point]:
    """Doubles, factor times the points; exact when the factor is a power of two."""
    return [(factor * p[0], factor * p[1]) for p in points]


def sides(rng: random.Random) -> int:
    return rng.choice((3, 4, 4, 5, 6, 8, 12, 16, 24))


# Kinds of pairs ----------------------------------------------------------------------------


def valtr_pair(rng: random.Random) -> Pair:
    """The paper's dataset: Valtr polygons of 4 to 24 vertices, about half of them overlapping."""
    size = 1 << 20
    a, b = polygon_on_grid(rng, sides(rng), size), polygon_on_grid(rng, sides(rng), size)
    b = moved(b, rng.randint(-size, size), rng.randint(-size, size))
    return Body.of(scaled(a, 2.0**-18)), Body.of(scaled(b, 2.0**-18))


def doubles(rng: random.Random) -> Pair:
    """Vehicle-sized polygons of full doubles within 100 m of the origin."""
    a = polygon(rng, sides(rng), rng.uniform(1, 5), rng.uniform(1, 3))
    b = polygon(rng, sides(rng), rng.uniform(1, 5), rng.uniform(1, 3))
    x, y = rng.uniform(-50, 50), rng.uniform(-50, 50)
    b = moved(b, rng.uniform(-4, 4), rng.uniform(-4, 4))
    return Body.of(hull(moved(a, x, y))), Body.of(hull(moved(b, x, y)))


def needles(rng: random.Random) -> Pair:
    """Slivers of a micrometre and less on lengths of up to a kilometre, crossing or just not."""

    def needle() -> list[Point]:
        length = 10.0 ** rng.uniform(0, 3)
        while True:
            width = length * 10.0 ** rng.uniform(-16, -5)
            turn = rng.uniform(0, 2 * math.pi)
            flat = [(-length, 0.0), (rng.uniform(-1, 1) * length, -width), (length, 0.0)]
            if rng.random() < 0.5:
                flat.append((rng.uniform(-1, 1) * length, width))
            if len(ring := hull([turned(p, turn) for p in flat])) > 2:
                return ring

    a, b = needle(), needle()
    offset = rng.choice((0.0, 1e-12, 1e-6, 1.0, 100.0))
    b = hull(moved(b, rng.uniform(-offset, offset), rng.uniform(-offset, offset)))
    return (Body.of(a), Body.of(b)) if len(b) > 2 else needles(rng)


def touching(rng: random.Random) -> Pair:
    """A vertex of b exactly on an edge or a vertex of a, and the rest of b beyond that edge."""
    size = rng.choice((16, 1 << 20))
    a = [(2 * p[0], 2 * p[1]) for p in polygon_on_grid(rng, sides(rng), size)]
    b = polygon_on_grid(rng, sides(rng), size)
    i = rng.randrange(len(a))
    p, q = a[i - 1], a[i]
    target = rng.choice((p, q, ((p[0] + q[0]) // 2, (p[1] + q[1]) // 2)))
    normal = (q[1] - p[1], p[0] - q[0])  # outward, since a is counter-clockwise
    first = min(b, key=lambda v: normal[0] * v[0] + normal[1] * v[1])
    b = moved(b, target[0] - first[0], target[1] - first[1])
    scale = 2.0 ** rng.randint(-20, 0)
    return Body.of(scaled(a, scale)), Body.of(scaled(b, scale))


def contained(rng: random.Random) -> Pair:
    """One polygon inside the other, or the same polygon twice."""
    a = polygon(rng, sides(rng), rng.uniform(2, 50), rng.uniform(2, 50))
    x = sum(p[0] for p in a) / len(a)
    y = sum(p[1] for p in a) / len(a)
    shrink = rng.choice((1.0, 0.5, 1e-3, 1e-9))
    b = hull([(x + shrink * (p[0] - x), y + shrink * (p[1] - y)) for p in a])
    if shrink == 1.0:
        b = a
    return (Body.of(a), Body.of(b)) if len(b) > 2 else contained(rng)


def rounded(rng: random.Random) -> Pair:
    """Circles, capsules and rounded polygons of full doubles."""

    def body() -> Body:
        n = rng.choice((1, 2, 4, 8))
        return Body.of(hull(polygon(rng, 8, 4, 2)[:n]), rng.choice((0.0, rng.uniform(0, 2))))

    a, b = body(), body()
    offset = rng.choice((1.0, 4.0, 20.0))
    b_points = moved(b.points, rng.uniform(-offset, offset), rng.uniform(-offset, offset))
    return a, Body.of(hull(b_points), b.radius)


KINDS: dict[str, Callable[[random.Random], Pair]] = {
    "valtr": valtr_pair,
    "doubles": doubles,
    "needles": needles,
    "touching": touching,
    "contained": contained,
    "rounded": rounded,
}
