# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What an answer of the package must satisfy, decided in rational arithmetic.

Each function returns the rules that the answer breaks, as text; an empty list is a good answer.
"""

import math
from fractions import Fraction

import oracles
from oracles import Body

from gjk_collision import Closest, Shape

# Distances: metres, and share of the distance.
ABSOLUTE, RELATIVE = 1e-9, 1e-12
EPSILON = 2.0**-52


def shape(body: Body) -> Shape:
    """The body as the package has it: by the constructor that its number of points asks for."""
    points = [(float(x), float(y)) for x, y in body.points]
    radius = float(body.radius)
    if len(points) == 1:
        return Shape.circle(radius, center=points[0]) if radius else Shape.point(points[0])
    if len(points) == 2:
        return Shape.capsule(*points, radius) if radius else Shape.segment(*points)
    return Shape.polygon(points, radius=radius)


def largest(*bodies: Body) -> float:
    """The largest coordinate or radius [m], which fixes the step of the doubles that report."""
    return max(
        max(abs(float(c)) for body in bodies for p in body.points for c in p),
        max(float(body.radius) for body in bodies),
    )


def span(a: Body, b: Body) -> float:
    """The diagonal [m] of the box around both outlines."""
    xs = [Fraction(p[0]) for body in (a, b) for p in body.points]
    ys = [Fraction(p[1]) for body in (a, b) for p in body.points]
    return math.hypot(float(max(xs) - min(xs)), float(max(ys) - min(ys)))


def broken_rules(a: Body, b: Body, answer: Closest, rounding: float = 0.0) -> list[str]:
    """Check ``closest(a, b)`` rule by rule.

    ``rounding`` [m] is added to every tolerance except those of the certificates: the rounding of
    a pose. The certificates have no tolerance: lower_bound <= true distance, and true distance <=
    distance where the shapes are apart.
    """
    truth = oracles.signed_distance(a, b)
    d, low = answer.distance, answer.lower_bound
    if not (math.isfinite(d) and math.isfinite(low)):
        return [f"distance {d} and lower bound {low} are finite"]
    if not all(map(math.isfinite, (*answer.direction, *answer.point_a, *answer.point_b))):
        return [f"direction and witness points are finite (answer {answer!r})"]
    near = ABSOLUTE + RELATIVE * abs(d) + rounding
    # Points are doubles: two of them cannot say a gap below the step of their coordinates.
    step = near + 8 * EPSILON * largest(a, b)
    # A double turns a direction by about EPSILON, which moves the far end of a shape by that
    # much of the span.
    turn = near + 8 * EPSILON * span(a, b)
    # A depth is a length along a normal and no better than that normal, which shows on shapes of
    # more than 1e9 m; two edges that rounding cannot tell apart may then exchange witnesses.
    beyond = span(a, b) if truth.core <= 0 and span(a, b) > 1e9 else 0.0
    close = near + 32 * EPSILON * beyond
    way = answer.direction
    length = math.hypot(*way)
    broken = []

    def rule(holds: bool, text: str) -> None:
        if not holds:
            broken.append(f"{text} (truth {float(truth)!r}, answer {answer!r})")

    rule(truth >= low, "lower_bound <= true distance")
    rule(low <= d, "lower_bound <= distance")
    if truth.core > 0 and rounding == 0.0:
        rule(truth <= d, "true distance <= distance")
    rule(truth.is_within(d, close), "distance is the true one")
    # How far below is the documentation's promise, not a certificate.
    loose = near + 1e-9 * abs(d) + 64 * EPSILON * largest(a, b)
    rule(d - low <= loose, "lower_bound is close to distance")

    rule(abs(length - 1.0) <= 4 * EPSILON, "direction is a unit vector")
    gap = oracles.gap_along(way, a, b) - truth.radii * Fraction(length)
    rule(gap >= Fraction(d) - Fraction(turn), "direction, from a to b, separates by the distance")

    for name, point, body in (("a", answer.point_a, a), ("b", answer.point_b, b)):
        to_core = oracles.signed_distance(
            Body(body.points), Body(((float(point[0]), float(point[1])),))
        )
        on_shape = beyond > 0.0 or to_core <= float(body.radius) + step + turn
        rule(on_shape, f"point_{name} lies on its shape")
    apart = [answer.point_b[i] - answer.point_a[i] - d * way[i] for i in (0, 1)]
    rule(math.hypot(*apart) <= step + turn, "point_b is `distance` beyond point_a along direction")
    return broken
