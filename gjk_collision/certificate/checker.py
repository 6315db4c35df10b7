# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the gap between two convex parts along a direction, in rational arithmetic.

It shares no code with the kernel. It computes with fractions and with integers, which are exact.
Only the cosine and the sine of a yaw are rounded, with a known error.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, nextafter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Part", "Placement", "distance_along", "rounded_down"]

_PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459")
_PI_ERROR = Fraction(1, 10**62)
_BITS = 120  # of a cosine after the binary point


class Part(NamedTuple):
    """A convex part: a vertex (x, y) [m] in each row, and a radius [m]."""

    vertices: Sequence[Sequence[float]]
    radius: float


class Placement:
    """The rigid motion to a pose (x, y, yaw) [m, m, rad]."""

    def __init__(self, pose: Sequence[float]) -> None:
        x, y, yaw = map(Fraction, pose)
        turns = round(yaw / (2 * _PI))
        self._x, self._y = x, y
        self._cos, self._sin, error = _cosine_and_sine(yaw - 2 * turns * _PI)
        self._error = error + 2 * abs(turns) * _PI_ERROR

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


def _cosine_and_sine(angle: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return the cosine and the sine of an angle of at most 4, and a bound of their errors."""
    # Taylor series in units of 2^-_BITS, rounded down after each term.
    one = 1 << _BITS
    x = int(angle * one)
    sums, term, n = [0, 0, 0, 0], one, 0
    while term:
        sums[n % 4] += term
        n += 1
        term = term * abs(x) // (n * one)
    cosine, sine = sums[0] - sums[2], sums[1] - sums[3]
    # Each of the n terms lacks less than n + 4^n / n! <= n + 11 units, the rest less than one, and
    # the angle lacks less than one.
    error = Fraction(n * (n + 16), one)
    return Fraction(cosine, one), Fraction(sine if x >= 0 else -sine, one), error


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
    number = square.numerator * square.denominator << 2 * _BITS
    length = Fraction(isqrt(number) + (gap > 0), square.denominator << _BITS)
    return gap / length - Fraction(p.radius) - Fraction(q.radius)


def rounded_down(value: Fraction) -> float:
    """Return the largest double that is not greater."""
    near = float(value)
    return near if Fraction(near) <= value else nextafter(near, -float("inf"))
