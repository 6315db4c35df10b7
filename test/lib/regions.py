# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Regions in rational arithmetic, by a method that the package does not use; and random regions.

The plane is cut into vertical slabs at all vertices and crossings, and each slab into trapezoids.
A trapezoid is outside if its middle is in no outline, or in a hole. A shape is in the region if it
meets no closed trapezoid outside. This needs no boundary, no ray and no point of the shape.
"""

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import shapely

Exact = tuple[Fraction, Fraction]
Ring = Sequence[Sequence[float]]
FAR = 10**6  # m, beyond all coordinates here


def rational(points: Ring) -> list[Exact]:
    return [(Fraction(float(x)), Fraction(float(y))) for x, y in points]


def cross(a: Exact, b: Exact, p: Exact) -> Fraction:
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def sides(ring: list[Exact]) -> list[tuple[Exact, Exact]]:
    return [(a, b) for a, b in zip(ring, ring[1:] + ring[:1], strict=True) if a != b]


def separated(p: list[Exact], q: list[Exact]) -> bool:
    """Whether a line along an edge of a convex polygon separates it from the other one."""
    for one, other in ((p, q), (q, p)):
        for a, b in sides(one):
            own = {(at > 0) - (at < 0) for at in (cross(a, b, v) for v in one)}
            others = {(at > 0) - (at < 0) for at in (cross(a, b, v) for v in other)}
            # the one is on one side of its edge or, if it is a segment, on it
            if len(others) == 1 and 0 not in others and not others & own:
                return True
    return False


class Truth:
    """The closed outside of a region as trapezoids."""

    def __init__(self, outlines: Sequence[Ring], holes: Sequence[Ring] = ()) -> None:
        outer, inner = [rational(r) for r in outlines], [rational(r) for r in holes]
        edges = [edge for ring in outer + inner for edge in sides(ring)]
        self.has_crossings = False
        cuts = {Fraction(-FAR), Fraction(FAR)} | {x for edge in edges for x, _ in edge}
        for (a, b), (c, d) in combinations(edges, 2):
            one, other = cross(a, b, c), cross(a, b, d)
            if one * other < 0 and cross(c, d, a) * cross(c, d, b) < 0:
                self.has_crossings = True
                share = one / (one - other)
                cuts.add(c[0] + share * (d[0] - c[0]))
        self.outside: list[list[Exact]] = []
        for x0, x1 in pairwise(sorted(cuts)):
            middle = (x0 + x1) / 2
            lines = {
                (self._at(a, b, middle), self._at(a, b, x0), self._at(a, b, x1))
                for a, b in edges
                if min(a[0], b[0]) <= x0 and x1 <= max(a[0], b[0])
            }
            low, high = (Fraction(-FAR),) * 3, (Fraction(FAR),) * 3
            for below, above in pairwise([low, *sorted(lines), high]):
                p = (middle, (below[0] + above[0]) / 2)
                if not any(self._holds(r, p) for r in outer) or any(
                    self._holds(r, p) for r in inner
                ):
                    self.outside.append(
                        [(x0, below[1]), (x1, below[2]), (x1, above[2]), (x0, above[1])]
                    )
        self.boxes = np.array(
            [
                [
                    float(min(x for x, _ in t)), float(min(y for _, y in t)),
                    float(max(x for x, _ in t)), float(max(y for _, y in t)),
                ]
                for t in self.outside
            ]
        )  # fmt: skip

    @staticmethod
    def _at(a: Exact, b: Exact, x: Fraction) -> Fraction:
        return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])

    @staticmethod
    def _holds(ring: list[Exact], p: Exact) -> bool:
        """Whether a point that is on no edge is in the ring: crossings of the ray downwards."""
        inside = False
        for a, b in sides(ring):
            if (a[0] <= p[0]) != (b[0] <= p[0]) and Truth._at(a, b, p[0]) < p[1]:
                inside = not inside
        return inside

    def holds(self, shape: Ring) -> bool:
        """Whether a convex polygon, a segment or a point is in the region."""
        xy = np.array(shape, dtype=float)
        slack = 1e-6
        low, high = xy.min(axis=0) - slack, xy.max(axis=0) + slack
        near = (self.boxes[:, :2] <= high).all(axis=1) & (low <= self.boxes[:, 2:]).all(axis=1)
        exact = rational(shape)
        return all(self._apart(self.outside[k], exact) for k in np.flatnonzero(near).tolist())

    @staticmethod
    def _apart(outside: list[Exact], shape: list[Exact]) -> bool:
        boxes_apart = any(
            max(p[axis] for p in one) < min(p[axis] for p in other)
            for one, other in ((outside, shape), (shape, outside))
            for axis in (0, 1)
        )
        return boxes_apart or separated(outside, shape)


def random_rings(rng: random.Random, grid: int, unit: float, count: int) -> list[np.ndarray]:
    """Simple rings with vertices on a coarse grid, so that they often share edges and vertices."""
    rings: list[np.ndarray] = []
    while len(rings) < count:
        if rings and rng.random() < 0.1:
            rings.append(rng.choice(rings)[::-1])  # again, in the other direction
            continue
        if rng.random() < 0.5:
            x0, x1 = sorted(rng.sample(range(grid + 1), 2))
            y0, y1 = sorted(rng.sample(range(grid + 1), 2))
            points = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        else:
            size = rng.randint(3, 6)
            points = [(rng.randint(0, grid), rng.randint(0, grid)) for _ in range(size)]
        ring = np.array(points) * unit
        if shapely.Polygon(points).is_valid and shapely.Polygon(points).area > 0.0:
            rings.append(ring)
    return rings
