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


def untidy(rng: random.Random, points: Sequence[Point]) -> list[Point]:
    """The same ring: other first vertex, maybe other winding, repeated vertices, maybe closed."""
    start = rng.randrange(len(points))
    ring = [*points[start:], *points[:start]]
    if rng.random() < 0.5:
        ring.reverse()
    ring = [p for p in ring for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    return [*ring, ring[0]] if rng.random() < 0.5 else ring


def nudged(rng: random.Random, p: Point) -> Point:
    """A neighbouring double in one coordinate; beside zero, the least one that is exact."""

    def beside(x: float) -> float:
        sign = rng.choice((-1.0, 1.0))
        return math.nextafter(x, sign * math.inf) if x else sign * 1e-40

    x, y = float(p[0]), float(p[1])
    return (beside(x), y) if rng.random() < 0.5 else (x, beside(y))


def with_midpoints(points: Sequence[Point]) -> list[Point]:
    """A collinear vertex in every edge; exact where the coordinates are even integers."""
    ring: list[Point] = []
    for i, p in enumerate(points):
        q = points[i - 1]
        ring += [((p[0] + q[0]) // 2, (p[1] + q[1]) // 2), p]
    return ring


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


def utm(rng: random.Random) -> Pair:
    """Vehicles at UTM coordinates, where a double's step is half a nanometre."""
    a = polygon(rng, sides(rng), 5, 2)
    b = polygon(rng, sides(rng), 5, 2)
    b = moved(b, rng.uniform(-5, 5), rng.uniform(-3, 3))
    return Body.of(hull(moved(a, 6.6e5, 4.0e6))), Body.of(hull(moved(b, 6.6e5, 4.0e6)))


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


def collinear_and_repeated(rng: random.Random) -> Pair:
    """Untidy outlines: collinear vertices, repeated ones, any winding, open or closed."""
    size = rng.choice((8, 64, 1 << 16))
    outlines = []
    for _ in "ab":
        ring = [(2 * p[0], 2 * p[1]) for p in polygon_on_grid(rng, sides(rng), size)]
        ring = moved(ring, 2 * rng.randint(-size, size), 2 * rng.randint(-size, size))
        outlines.append(untidy(rng, with_midpoints(ring)))
    return Body.of(scaled(outlines[0], 1.0)), Body.of(scaled(outlines[1], 1.0))


def small_grid(rng: random.Random) -> Pair:
    """A few cells of a grid: every way for points, segments and polygons to touch."""

    def outline() -> list[Point]:
        n = rng.choice((1, 2, 3, 4, 5, 6))
        x, y = rng.randint(0, 4), rng.randint(0, 4)
        points = [(x + rng.randint(0, 3), y + rng.randint(0, 3)) for _ in range(n)]
        return scaled(hull(points), 1.0)

    return Body.of(outline()), Body.of(outline())


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


def touching_nudged(rng: random.Random) -> Pair:
    """As ``touching``, off by one step of a double in one or two vertices."""
    a, b = touching(rng)
    offset = rng.choice((0.0, 0.0, 1000.0, 6.6e5))
    outlines = []
    for body in (a, b):
        ring = moved(list(body.points), offset, -offset)
        i = rng.randrange(len(ring))
        ring[i] = nudged(rng, ring[i])
        outlines.append(hull(ring))
    if min(map(len, outlines)) < 3:
        return touching_nudged(rng)
    return Body.of(outlines[0]), Body.of(outlines[1])


def halves(rng: random.Random) -> Pair:
    """One polygon of full doubles cut along a diagonal: the halves share an edge, or nearly."""
    ring = polygon(rng, rng.randint(5, 16), rng.uniform(1, 100), rng.uniform(1, 100))
    if len(ring) < 4:
        return halves(rng)
    cut = rng.randint(2, len(ring) - 2)
    a, b = ring[: cut + 1], [*ring[cut:], ring[0]]
    for i in rng.choice(((), (0,), (-1,), (0, -1))):
        b[i] = nudged(rng, b[i])
    a, b = hull(a), hull(b)
    return (Body.of(a), Body.of(b)) if min(len(a), len(b)) > 2 else halves(rng)


def parallel(rng: random.Random) -> Pair:
    """Two boxes with parallel edges at any angle, a tiny gap or overlap between them."""
    turn = rng.choice((0.0, math.pi / 4, rng.uniform(0, 2 * math.pi)))
    gap = rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(-17, 0) * rng.choice((0, 1))
    slide = rng.uniform(-3, 3)
    a = [(-2.0, -1.0), (2.0, -1.0), (2.0, 1.0), (-2.0, 1.0)]
    b = [(-1.0, 1.0 + gap), (1.0, 1.0 + gap), (1.0, 2.0), (-1.0, 2.0)]
    a = [turned(p, turn) for p in a]
    b = [turned(p, turn) for p in moved(b, slide, 0.0)]
    return Body.of(hull(a)), Body.of(hull(b))


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


def size_ratio(rng: random.Random) -> Pair:
    """A speck of 1e-6 m at the border of a polygon of 1e4 m."""
    a = polygon(rng, sides(rng), 1e4, rng.uniform(1, 1e4))
    i = rng.randrange(len(a))
    t = rng.random()
    x = a[i - 1][0] + t * (a[i][0] - a[i - 1][0])
    y = a[i - 1][1] + t * (a[i][1] - a[i - 1][1])
    speck = moved(polygon(rng, sides(rng), 1e-6, 1e-6), x, y)
    return (Body.of(a), Body.of(hull(speck))) if len(hull(speck)) > 2 else size_ratio(rng)


def tiny(rng: random.Random) -> Pair:
    """The grid of ``small_grid`` and of ``valtr_pair`` at 1e-39 m a cell."""
    make, factor = rng.choice(((small_grid, 2.0**-129), (valtr_pair, 2.0**-111)))
    a, b = make(rng)
    return Body.of(scaled(a.points, factor)), Body.of(scaled(b.points, factor))


def huge(rng: random.Random) -> Pair:
    """Coordinates up to the limit of 1e15 m."""
    make, factor = rng.choice(((small_grid, 2.0**46), (valtr_pair, 2.0**46)))
    a, b = make(rng)
    return Body.of(scaled(a.points, factor)), Body.of(scaled(b.points, factor))


def magnitudes(rng: random.Random) -> Pair:
    """Points whose coordinates differ by up to fifty orders of magnitude."""

    def coordinate() -> float:
        if rng.random() < 0.2:
            return 0.0
        power = rng.choice((-130, -60, -20, 0, 3, 40))
        return rng.choice((-1, 1)) * rng.uniform(1, 2) * 2.0**power

    def outline() -> list[Point]:
        return hull([(coordinate(), coordinate()) for _ in range(rng.choice((1, 2, 3, 4, 6)))])

    return Body.of(outline()), Body.of(outline())


def round_on_grid(rng: random.Random) -> Pair:
    """Whole-number radii on a grid with 3-4-5 triangles: round shapes that exactly touch."""
    a, b = small_grid(rng)
    b = Body.of(
        moved(b.points, rng.choice((0.0, 3.0, 4.0, 5.0, 8.0)), rng.choice((0.0, 4.0, 6.0)))
    )
    return Body(a.points, float(rng.randint(0, 5))), Body(b.points, float(rng.randint(0, 5)))


def rounded(rng: random.Random) -> Pair:
    """Circles, capsules and rounded polygons of full doubles."""

    def body() -> Body:
        n = rng.choice((1, 2, 4, 8))
        return Body.of(hull(polygon(rng, 8, 4, 2)[:n]), rng.choice((0.0, rng.uniform(0, 2))))

    a, b = body(), body()
    offset = rng.choice((1.0, 4.0, 20.0))
    b_points = moved(b.points, rng.uniform(-offset, offset), rng.uniform(-offset, offset))
    return a, Body.of(hull(b_points), b.radius)


def rounded_touching(rng: random.Random) -> Pair:
    """Two round shapes whose radii are the rounded gap of their outlines, or next to it."""
    a, b = rounded(rng)
    gap = min(math.dist(p, q) for p in a.points[:1] for q in b.points[:1])
    gap = rng.choice((gap, math.nextafter(gap, 0), math.nextafter(gap, math.inf)))
    share = rng.choice((0.0, 0.5, rng.random()))
    return Body(a.points[:1], share * gap), Body(b.points[:1], gap - share * gap)


KINDS: dict[str, Callable[[random.Random], Pair]] = {
    "valtr": valtr_pair,
    "doubles": doubles,
    "utm": utm,
    "needles": needles,
    "collinear_and_repeated": collinear_and_repeated,
    "small_grid": small_grid,
    "touching": touching,
    "touching_nudged": touching_nudged,
    "halves": halves,
    "parallel": parallel,
    "contained": contained,
    "size_ratio": size_ratio,
    "tiny": tiny,
    "huge": huge,
    "magnitudes": magnitudes,
    "round_on_grid": round_on_grid,
    "rounded": rounded,
    "rounded_touching": rounded_touching,
}
