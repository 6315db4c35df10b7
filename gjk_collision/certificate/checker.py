# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the gap between two convex parts along a direction, in rational arithmetic.

It shares no code with the kernel. It computes with fractions and with integers, which are exact.
Only the cosine and the sine of a yaw are rounded, with a known error.
"""

from __future__ import annotations

from fractions import Fraction
from math import frexp, isqrt, nextafter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BITS", "Part", "Placement", "distance_along", "rounded_down", "steps", "turn"]

BITS = 200  # binary places of a cosine and a sine


class Part(NamedTuple):
    """A convex part: a vertex (x, y) [m] in each row, and a radius [m]."""

    vertices: Sequence[Sequence[float]]
    radius: float


class Placement:
    """The rigid motion to a pose (x, y, yaw) [m, m, rad]."""

    def __init__(self, pose: Sequence[float]) -> None:
        x, y, yaw = pose
        self._x, self._y = Fraction(x), Fraction(y)
        self._cos, self._sin = (Fraction(each, 1 << BITS) for each in turn(yaw))
        self._error = Fraction(2, 1 << BITS)

    def extent(self, part: Part, u: Fraction, v: Fraction) -> Fraction:
        """Return an upper bound of the extent along (u, v) of the placed vertices [m]."""
        # Along (u, v), a vertex (a, b) of the part is (u c + v s) a + (v c - u s) b further than
        # the position of the pose.
        along = u * self._cos + v * self._sin
        across = v * self._cos - u * self._sin
        error = (abs(u) + abs(v)) * self._error
        exact = [(Fraction(a), Fraction(b)) for a, b in part.vertices]
        most = max(along * a + across * b + error * (abs(a) + abs(b)) for a, b in exact)
        return u * self._x + v * self._y + most


def steps(number: float | Fraction, places: int) -> int:
    """Return a number in steps of 2**-places, rounded down."""
    above, below = number.as_integer_ratio()
    return (above << places) // below


def turn(yaw: float) -> tuple[int, int]:
    """Return cosine and sine times 2**BITS with errors of less than 2, or exactly if yaw is 0.

    The angle is halved several times, and a power series gives the complex number of the small
    angle. This number is squared as often as the angle was halved. Each squaring doubles the
    error, which uses up one of the spare places.
    """
    halvings = max(0, frexp(yaw)[1])
    places = BITS + halvings + 40
    angle = steps(abs(yaw), places) >> halvings
    sums, term, n = [0, 0, 0, 0], 1 << places, 0
    while term:
        sums[n % 4] += term
        n += 1
        term = (term * angle >> places) // n
    c, s = sums[0] - sums[2], sums[1] - sums[3]
    for _ in range(halvings):
        c, s = (c * c - s * s) >> places, (2 * c * s) >> places
    spare = places - BITS
    return c >> spare, (s if yaw > 0.0 else -s) >> spare


def distance_along(
    direction: Sequence[float], p: Part, at_p: Placement, q: Part, at_q: Placement
) -> Fraction | None:
    """Return a lower bound of the distance of p and q [m]: of the gap along p to q.

    None: the direction is zero.
    """
    u, v = map(Fraction, direction)
    square = u * u + v * v
    if square == 0:
        return None
    gap = -at_q.extent(q, -u, -v) - at_p.extent(p, u, v)
    # The length of the direction, rounded so that the quotient is too small.
    number = square.numerator * square.denominator << 2 * BITS
    length = Fraction(isqrt(number) + (gap > 0), square.denominator << BITS)
    return gap / length - Fraction(p.radius) - Fraction(q.radius)


def rounded_down(value: Fraction) -> float:
    """Return the largest double that is not greater."""
    near = float(value)
    return near if Fraction(near) <= value else nextafter(near, -float("inf"))
