# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact geometry in integers, and families of hard cases.

Nothing here uses the kernel, numpy or shapely. A point is a pair of integers in steps of
2**-PLACES m, so every double is a whole number of steps. Cosine and sine of a yaw are enclosed by
a power series. Bodies are hulls of points, or filled rings; nothing has to be convex, ordered or
distinct.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import isqrt

PLACES = 1300
ONE = 1 << PLACES
Point = tuple[int, int]
Body = list[Point]
Rows = Sequence[Sequence[float]]
CASES = int(os.environ.get("GJK_CASES", "300"))  # cases per family


def steps(number: float) -> int:
    """Return a double in steps, exactly."""
    above, below = float(number).as_integer_ratio()
    return above * (ONE // below)


def metres(number: int) -> float:
    """Return steps in metres, rounded."""
    return number / ONE


@lru_cache(maxsize=65536)
def turn(yaw: float) -> Point:
    """Return cosine and sine of a yaw in steps, less than 2 off.

    The series of exp(i yaw / 2**k) is summed with 150 spare places and squared k times.
    """
    halvings = max(0, abs(int(yaw)).bit_length() + 8)
    places = PLACES + 150
    angle = (steps(yaw) << 150) >> halvings
    re, im = 1 << places, 0
    term_re, term_im, n = 1 << places, 0, 0
    while term_re or term_im:
        n += 1
        term_re, term_im = -(term_im * angle >> places) // n, (term_re * angle >> places) // n
        if abs(term_re) <= 1 and abs(term_im) <= 1:
            break
        re, im = re + term_re, im + term_im
    for _ in range(halvings):
        re, im = (re * re - im * im) >> places, (2 * re * im) >> places
    return re >> 150, im >> 150


def points(rows: Rows) -> list[Point]:
    """Return points of doubles (n, 2) in steps."""
    return [(steps(x), steps(y)) for x, y in rows]


def place(body: Iterable[Point], x: float, y: float, yaw: float) -> list[Point]:
    """Bring points into the parent of a frame; exact where the yaw is 0, else up to `blur`."""
    u, v = steps(x), steps(y)
    if yaw == 0.0:
        return [(p + u, q + v) for p, q in body]
    c, s = turn(yaw)
    return [(((c * p - s * q) >> PLACES) + u, ((s * p + c * q) >> PLACES) + v) for p, q in body]


def apart(p: Point, q: Point) -> float:
    """Return the distance of two points in metres, rounded."""
    return metres(isqrt((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2))


def blur(*bodies: Iterable[Point]) -> int:
    """Return by how many steps points that went through a few frames may be off."""
    return 64 + (64 * max(abs(value) for body in bodies for p in body for value in p) >> PLACES)


def cross(o: Point, p: Point, q: Point) -> int:
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])


def hull(body: Iterable[Point]) -> list[Point]:
    """Return the convex hull, counter-clockwise (monotone chain)."""
    order = sorted(set(body))
    if len(order) < 3:
        return order
    chain: list[Point] = []
    for each in (order, order[-2::-1]):
        least = len(chain) + 1 if chain else 2
        for p in each:
            while len(chain) >= least and cross(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
    return chain[:-1]


def edges(ring: list[Point]) -> list[tuple[Point, Point]]:
    return list(zip(ring, ring[1:] + ring[:1], strict=True))


def inside(ring: list[Point], p: Point) -> bool:
    """Tell whether a point lies in a filled ring or on it."""
    odd = False
    for a, b in edges(ring):
        side = cross(a, b, p)
        if side == 0 and all(min(s, t) <= v <= max(s, t) for s, t, v in zip(a, b, p, strict=True)):
            return True
        if (a[1] > p[1]) != (b[1] > p[1]) and (side > 0) == (b[1] > a[1]):
            odd = not odd
    return odd


def squared(p: Point, a: Point, b: Point) -> tuple[int, int]:
    """Return the squared distance of a point to a segment as a fraction."""
    ux, uy, vx, vy = b[0] - a[0], b[1] - a[1], p[0] - a[0], p[1] - a[1]
    length, along = ux * ux + uy * uy, ux * vx + uy * vy
    if along <= 0:
        return vx * vx + vy * vy, 1
    if along >= length:
        return (vx - ux) ** 2 + (vy - uy) ** 2, 1
    return (ux * vy - uy * vx) ** 2, length


def meet(a: list[Point], b: list[Point]) -> bool:
    """Tell whether two filled rings have a point in common."""
    for p, q in edges(a):
        for s, t in edges(b):
            one, two = cross(p, q, s), cross(p, q, t)
            if (one > 0 > two or one < 0 < two) and cross(s, t, p) * cross(s, t, q) < 0:
                return True
    return any(inside(a, p) for p in b) or any(inside(b, p) for p in a)


def within(a: list[Point], b: list[Point], reach: int) -> bool:
    """Tell whether two filled rings are at most `reach` steps apart; exact."""
    if reach < 0:
        return False
    for one, two in ((a, b), (b, a)):
        for s, t in edges(two):
            for p in one:
                above, below = squared(p, s, t)
                if above <= reach * reach * below:
                    return True
    return meet(a, b)


def distance(a: list[Point], b: list[Point]) -> tuple[int, int]:
    """Enclose the distance of two filled rings, in steps; 0 where they meet."""
    if meet(a, b):
        return 0, 0
    above, below = squared(a[0], b[0], b[0])
    for one, two in ((a, b), (b, a)):
        for s, t in edges(two):
            for p in one:
                u, v = squared(p, s, t)
                if u * below < above * v:
                    above, below = u, v
    return isqrt(above // below), isqrt(above // below) + 1


def signed(a: list[Point], b: list[Point]) -> tuple[int, int]:
    """Enclose the signed distance of two convex rings, in steps: negative, their depth."""
    apart = distance(a, b)
    if apart[1]:
        return apart
    depth = None
    for ring in (a, b):
        for p, q in edges(ring):
            for x, y in ((q[1] - p[1], p[0] - q[0]), (p[1] - q[1], q[0] - p[0])):
                if x or y:
                    span = max(x * u + y * v for u, v in a) - min(x * u + y * v for u, v in b)
                    value = isqrt(span * span // (x * x + y * y))
                    depth = value if depth is None else min(depth, value)
    depth = depth or 0
    return -depth - 1, -depth
