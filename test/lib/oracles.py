# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers in rational arithmetic, by methods that the kernel does not use.

A double is a dyadic rational, so every answer here is the true one for the doubles given. Nothing
in this module imports the package under test.

Each question has the slowest and plainest method: separating axes for ``collide``, every vertex
against every edge for the distance, every edge normal of the Minkowski difference for the depth.
Coordinates are first put on one common grid of integers, because integers are faster than
fractions and as exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Number: TypeAlias = int | float | Fraction
Point: TypeAlias = tuple[Number, Number]
Lattice: TypeAlias = list[tuple[int, int]]


@dataclass(frozen=True)
class Body:
    """A point, a segment or an outline, widened by a radius [m].

    ``points`` may repeat, may be collinear, may have any winding and may be closed. One distinct
    point is a point, two are a segment; more are the outline of a polygon.
    """

    points: tuple[Point, ...]
    radius: Number = 0.0

    @staticmethod
    def of(points: Iterable[Sequence[Number]], radius: Number = 0.0) -> Body:
        return Body(tuple((p[0], p[1]) for p in points), radius)


def _on_one_grid(*outlines: Sequence[Point]) -> tuple[list[Lattice], int]:
    """Integer coordinates of all outlines, and the number of grid steps in a metre."""
    ratios = [[(x.as_integer_ratio(), y.as_integer_ratio()) for x, y in pts] for pts in outlines]
    steps = math.lcm(*{r[1] for pts in ratios for point in pts for r in point})
    grid = [[(x[0] * (steps // x[1]), y[0] * (steps // y[1])) for x, y in pts] for pts in ratios]
    return grid, steps


def _cross(o: tuple[int, int], p: tuple[int, int], q: tuple[int, int]) -> int:
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])


def _edges(ring: Lattice) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Edges of the closed ring that have a length; for a lone point, the point twice."""
    found = False
    for i, p in enumerate(ring):
        if p != ring[i - 1]:
            found = True
            yield ring[i - 1], p
    if not found:
        yield ring[0], ring[0]


def hull(points: Sequence[Point]) -> list[Point]:
    """Vertices of the convex hull, strictly convex, counter-clockwise (Andrew's chain)."""
    (grid,), _ = _on_one_grid(points)
    back = dict(zip(grid, points, strict=True))
    order = sorted(back)
    if len(order) < 3:
        return [back[g] for g in order]
    ring: Lattice = []
    for sweep in (order, order[::-1]):
        chain: Lattice = []
        for p in sweep:
            while len(chain) > 1 and _cross(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        ring += chain[:-1]
    return [back[g] for g in ring]


def twice_area(ring: Sequence[Point]) -> Fraction:
    """Twice the area, positive if counter-clockwise."""
    total = Fraction(0)
    for i, (x, y) in enumerate(ring):
        total += Fraction(ring[i - 1][0]) * Fraction(y) - Fraction(x) * Fraction(ring[i - 1][1])
    return total


def is_convex(points: Sequence[Point]) -> bool:
    """Whether the ring has an area, never turns back and goes round once."""
    (grid,), _ = _on_one_grid(points)
    ring = [p for i, p in enumerate(grid) if p != grid[i - 1]]
    n = len(ring)
    if n < 3:
        return False
    turns = [_cross(ring[i - 2], ring[i - 1], ring[i]) for i in range(n)]
    if not any(turns) or (min(turns) < 0 < max(turns)):
        return False
    # A ring that turns one way only and never lies flat on itself goes round once when its
    # edges change from rightward to leftward and back once.
    steps = [(q[0] - p[0], q[1] - p[1]) for p, q in _edges(ring)]
    half = [dx > 0 or (dx == 0 and dy > 0) for dx, dy in steps]
    changes = sum(half[i] != half[i - 1] for i in range(n))
    reversals = sum(
        turns[i] == 0
        and (ring[i - 1][0] - ring[i - 2][0]) * (ring[i][0] - ring[i - 1][0])
        + (ring[i - 1][1] - ring[i - 2][1]) * (ring[i][1] - ring[i - 1][1])
        < 0
        for i in range(n)
    )
    return changes == 2 and reversals == 0


def separated(a: Sequence[Point], b: Sequence[Point]) -> bool:
    """Whether a line keeps two convex outlines apart without touching either.

    The candidates are the normals of all edges; the edges themselves and one difference of
    vertices are needed when both outlines are flat. A candidate too many does no harm: any line
    that separates is a proof.
    """
    (p, q), _ = _on_one_grid(a, b)
    axes = [(p[0][0] - q[0][0], p[0][1] - q[0][1])]
    for s, t in (*_edges(p), *_edges(q)):
        d = (t[0] - s[0], t[1] - s[1])
        axes += [d, (-d[1], d[0])]
    for x, y in axes:
        on_p = [x * v[0] + y * v[1] for v in p]
        on_q = [x * v[0] + y * v[1] for v in q]
        if max(on_p) < min(on_q) or max(on_q) < min(on_p):
            return True
    return False


def _point_to_segment(
    p: tuple[int, int], s: tuple[int, int], t: tuple[int, int]
) -> tuple[int, int]:
    """Squared distance as numerator and denominator."""
    ux, uy = t[0] - s[0], t[1] - s[1]
    vx, vy = p[0] - s[0], p[1] - s[1]
    along, length = ux * vx + uy * vy, ux * ux + uy * uy
    if along <= 0:
        return vx * vx + vy * vy, 1
    if along >= length:
        return (p[0] - t[0]) ** 2 + (p[1] - t[1]) ** 2, 1
    return (ux * vy - uy * vx) ** 2, length


def _crosses(
    p: tuple[int, int], q: tuple[int, int], s: tuple[int, int], t: tuple[int, int]
) -> bool:
    """Whether each segment's ends lie strictly on both sides of the other."""
    s_side, t_side = _cross(p, q, s), _cross(p, q, t)
    if not (s_side < 0 < t_side or t_side < 0 < s_side):
        return False
    p_side, q_side = _cross(s, t, p), _cross(s, t, q)
    return p_side < 0 < q_side or q_side < 0 < p_side


def _surrounds(ring: Lattice, p: tuple[int, int]) -> bool:
    """Whether a ray from the point crosses the ring an odd number of times."""
    inside = False
    for s, t in _edges(ring):
        if (s[1] > p[1]) != (t[1] > p[1]):
            side = _cross(s, t, p)
            inside ^= (side > 0) == (t[1] > s[1]) and side != 0
    return inside


def squared_distance(a: Sequence[Point], b: Sequence[Point]) -> Fraction:
    """Squared distance [m^2] of two points, segments or simple polygons, convex or not."""
    (p, q), steps = _on_one_grid(a, b)
    if _surrounds(p, q[0]) or _surrounds(q, p[0]):
        return Fraction(0)
    best = ((p[0][0] - q[0][0]) ** 2 + (p[0][1] - q[0][1]) ** 2, 1)
    for s, t in _edges(p):
        for u, v in _edges(q):
            if _crosses(s, t, u, v):
                return Fraction(0)
            for found in (
                _point_to_segment(u, s, t),
                _point_to_segment(v, s, t),
                _point_to_segment(s, u, v),
                _point_to_segment(t, u, v),
            ):
                if found[0] * best[1] < best[0] * found[1]:
                    best = found
    return Fraction(best[0], best[1] * steps * steps)


def squared_depth(a: Sequence[Point], b: Sequence[Point]) -> Fraction:
    """Squared length [m^2] of the shortest shift that ends the overlap of two convex outlines.

    The Minkowski difference of convex outlines has the edge normals of both; the shortest shift
    is along one of them. Zero for outlines that touch; meaningless for separated ones.
    """
    (p, q), steps = _on_one_grid(a, b)
    best: Fraction | None = None
    for s, t in (*_edges(p), *_edges(q)):
        if s == t:
            continue  # a lone point has no normal
        for x, y in ((t[1] - s[1], s[0] - t[0]), (s[1] - t[1], t[0] - s[0])):
            shift = max(x * v[0] + y * v[1] for v in p) - min(x * v[0] + y * v[1] for v in q)
            found = Fraction(shift * shift, (x * x + y * y) * steps * steps)
            best = found if best is None else min(best, found)
    return Fraction(0) if best is None else best


def signed_square(x: Number) -> Fraction:
    """x |x|: as monotone as x, and rational where the root is not."""
    return Fraction(x) * abs(Fraction(x))


@dataclass(frozen=True)
class Signed:
    """Signed distance of two bodies: the signed root of ``core``, less ``radii``.

    ``core`` is the squared distance of the outlines, or minus the squared depth. The comparisons
    are exact.
    """

    core: Fraction
    radii: Fraction

    def __le__(self, x: Number) -> bool:
        return self.core <= signed_square(Fraction(x) + self.radii)

    def __ge__(self, x: Number) -> bool:
        return self.core >= signed_square(Fraction(x) + self.radii)

    def is_within(self, x: Number, tolerance: Number) -> bool:
        low, high = Fraction(x) - Fraction(tolerance), Fraction(x) + Fraction(tolerance)
        return self >= low and self <= high

    def __float__(self) -> float:
        return float(_root(abs(self.core)) * (1 if self.core >= 0 else -1) - self.radii)


def _root(x: Fraction) -> Fraction:
    """Square root to 200 bits beyond the first."""
    if x == 0:
        return Fraction(0)
    shift = 400 + 2 * max(0, x.denominator.bit_length() - x.numerator.bit_length())
    return Fraction(math.isqrt((x.numerator << shift) // x.denominator), 1 << (shift // 2))


def collide(a: Body, b: Body) -> bool:
    """Whether two convex bodies share a point; touching counts."""
    radii = Fraction(a.radius) + Fraction(b.radius)
    if radii == 0:
        return not separated(a.points, b.points)
    return squared_distance(a.points, b.points) <= radii * radii


def signed_distance(a: Body, b: Body) -> Signed:
    """Signed distance of two convex bodies: minus the depth when the outlines overlap."""
    core = squared_distance(a.points, b.points)
    if core == 0:
        core = -squared_depth(a.points, b.points)
    return Signed(core, Fraction(a.radius) + Fraction(b.radius))


def gap_along(direction: Sequence[float], a: Body, b: Body) -> Fraction:
    """How far b begins beyond the end of a, times the length of the direction; no radius."""
    x, y = Fraction(direction[0]), Fraction(direction[1])
    end = max(x * Fraction(p[0]) + y * Fraction(p[1]) for p in a.points)
    start = min(x * Fraction(q[0]) + y * Fraction(q[1]) for q in b.points)
    return start - end


def cos_sin(angle: Number, bits: int = 256) -> tuple[Fraction, Fraction]:
    """Cosine and sine [angle in rad] to about ``bits`` binary places, by the power series."""
    # The largest term is about exp(|angle|); that many more bits keep the sum as good.
    scale = bits + 16 + 2 * math.ceil(abs(angle))
    num, den = Fraction(angle).as_integer_ratio()
    term = 1 << scale
    sums = [0, 0, 0, 0]  # real, imaginary, minus real, minus imaginary
    n = 0
    while term:
        sums[n % 4] += term
        n += 1
        # Truncated towards zero, so that the series of a negative angle ends too.
        product, divisor = term * num, den * n
        term = abs(product) // divisor * (1 if product >= 0 else -1)
    one = 1 << scale
    return Fraction(sums[0] - sums[2], one), Fraction(sums[1] - sums[3], one)


def posed(body: Body, pose: Sequence[float]) -> Body:
    """The body turned by pose[2] [rad] and moved by pose[:2] [m]; off by 2^-200 of it at most."""
    if tuple(pose) == (0.0, 0.0, 0.0):
        return body
    c, s = cos_sin(pose[2])
    x0, y0 = Fraction(pose[0]), Fraction(pose[1])
    points = [(Fraction(x), Fraction(y)) for x, y in body.points]
    return Body(tuple((x0 + c * x - s * y, y0 + s * x + c * y) for x, y in points), body.radius)
