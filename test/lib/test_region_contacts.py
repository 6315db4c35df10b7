# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Vehicles that touch the boundary of a region up to rounding: the truth lies between the bounds.

The truth is rational: minus the largest distance of a vertex to the region if one is outside, else
the smallest distance of a vertex to the boundary. The regions are convex, or convex beside the
vehicle. GJK_CASES sets how many poses are tried.
"""

import math
import os
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import oracles
import pytest
from oracles import Body

from gjk_collision import Region, Scene, Shape, Verdict

CASES = int(os.environ.get("GJK_CASES", "600"))


def truth(
    points: np.ndarray, pose: Sequence[float], ring: Sequence[Sequence[float]]
) -> oracles.Signed:
    """Return the signed distance to the outside.

    In a convex region, the distance to the outside is concave: a vertex of the vehicle is nearest.
    """
    sides = list(zip(ring, [*ring[1:], ring[0]], strict=True))
    heights = []  # signed squares: positive outside
    for vertex in oracles.posed(Body.of(points.tolist()), pose).points:
        beyond = oracles.squared_distance([vertex], ring)
        inside = min(oracles.squared_distance([vertex], side) for side in sides)
        heights.append(beyond if beyond > 0 else -inside)
    return oracles.Signed(-max(heights), Fraction(0))


def bounds(scene: Scene, car: Shape, pose: Sequence[float]) -> dict[str, tuple[float, float]]:
    """Return the bounds of each query, 1e300 m instead of infinity."""
    check, path = scene.check(car, pose, mode="distance"), scene.check_path(car, [pose])
    found = {
        "nearest": scene.nearest(car, pose), "gradient": scene.gradient(car, pose),
        "first_contact": scene.first_contact(car, [[pose]], [0.0]),
    }  # fmt: skip
    pairs = {
        "check": (float(check.lower_bounds), float(check.distances)),
        "check_path": (path.lower_bound, path.distance),
        **{name: (each.lower_bounds[0], each.distances[0]) for name, each in found.items()},
    }
    return {name: (max(low, -1e300), min(high, 1e300)) for name, (low, high) in pairs.items()}


def test_a_vehicle_that_touches_from_outside() -> None:
    """It is 4.5 m outside; whether its front touches the boundary is undecided."""
    road = Region([[(0, 0), (60, 0), (60, 3.5), (0, 3.5)]])
    scene = Scene([], inside=road)
    pose = (30.0, -2.25, math.pi / 2)
    for name, (lower, distance) in bounds(scene, Shape.box(4.5, 1.8), pose).items():
        assert lower <= -4.5, name
        if "path" not in name and "contact" not in name:
            assert distance == pytest.approx(-4.5, abs=1e-9), name
            assert lower == pytest.approx(-4.5, abs=1e-9), name


@pytest.mark.parametrize("width", [1e-9, 1e-3, 0.5])
def test_a_thin_vehicle_through_the_tip_of_a_wedge(width: float) -> None:
    ring = [(0.0, 0.0), (20.0, -3.0), (20.0, 3.0)]
    scene = Scene([], inside=Region([ring]))
    for yaw in np.linspace(-3.0, 3.0, 25).tolist():
        pose = (1e-17, 0.0, yaw)
        corners = np.array([(-2, -width), (2, -width), (2, width), (-2, width)]) / (1, 2)
        true = truth(corners, pose, ring)
        for name, (lower, distance) in bounds(scene, Shape.polygon(corners), pose).items():
            assert true >= lower and true <= distance, (name, pose)


@pytest.mark.requirement("G-5")
def test_bounds_hold_the_truth() -> None:
    rng = random.Random(11)
    inside = outside = 0
    for case in range(CASES):
        ring, rings = region_near(rng)
        scene = Scene([], inside=Region(rings))
        length, width = rng.uniform(1, 8), rng.choice([1.8, 1e-9, 1e-3, rng.uniform(0.1, 3)])
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (length, width) / 2
        pose = pose_at_boundary(rng, ring, corners)
        true = truth(corners, pose, ring)
        found = bounds(scene, Shape.polygon(corners), pose)
        literal = f"case {case}: {rings}, {corners.tolist()}, {pose}: {float(true)}, {found}"
        for name, (lower, distance) in found.items():
            assert true >= lower, f"{name}, lower bound: {literal}"
            assert true <= distance, f"{name}, distance: {literal}"
        if not true >= 0:
            outside += 1
            off = float(true) + 1e-6 * (length + width) + 1e-9
            assert found["check"][1] <= off + 1e-13 * abs(ring[0][0]), literal
        else:
            inside += 1
        if scene.check(Shape.polygon(corners), pose).verdict == Verdict.FREE:
            assert true.core > 0, literal
    assert outside > CASES // 4 and inside > CASES // 50


def region_near(rng: random.Random) -> tuple[list[tuple[float, float]], list]:
    """Return a convex ring, and the outlines of a region that is that ring near its left side."""
    if rng.random() < 0.5:
        wide, high = rng.choice([60.0, 7.5, rng.uniform(5, 50)]), rng.uniform(2, 9)
        ring = [(0.0, 0.0), (wide, 0.0), (wide, high), (0.0, high)]
    else:
        angle = rng.uniform(0.05, 1.2)
        far = 20 * math.cos(angle), 20 * math.sin(angle)
        ring = [(0.0, 0.0), (far[0], -far[1]), far]
    x, y = rng.choice([(0, 0), (0, 0), (1e3, 5e2), (6.6e5, 4.1e6)])
    ring = [(math.fsum([x, a]), math.fsum([y, b])) for a, b in ring]
    rings = [ring]
    if len(ring) == 4 and ring[1][0] - ring[0][0] > 49.0:
        # A triangle across the upper side, far from the left: its crossings must be rounded.
        x, y = ring[3]
        rings.append([(x + 45.0, y - 0.7), (x + 48.0, y + 0.9), (x + 44.1, y + 1.1)])
    return ring, rings


def pose_at_boundary(
    rng: random.Random, ring: list[tuple[float, float]], corners: np.ndarray
) -> tuple[float, float, float]:
    """Return a pose at which a corner or an edge lies on the boundary, up to rounding."""
    yaw = rng.choice([0.0, math.pi / 2, -math.pi / 2, math.pi, rng.uniform(-4, 4)])
    own = corners[rng.randrange(4)] * rng.choice([(1, 1), (1, 1), (1, 0), (0, 1), (0.5, 0.5)])
    i = rng.choice([0, len(ring) - 1])
    a, b = np.array(ring[i]), np.array(ring[(i + 1) % len(ring)])
    if a[0] > b[0]:
        a, b = b, a
    at = a + rng.choice([0.0, 0.5, rng.random()]) * 0.3 * (b - a)
    sine, cosine = math.sin(yaw), math.cos(yaw)
    at = at - np.array([cosine * own[0] - sine * own[1], sine * own[0] + cosine * own[1]])
    size = rng.choice([0.0, 0.0, 1e-16, 1e-15, 1e-13, 1e-9, 0.3])
    at = at + size * np.array([rng.uniform(-1, 1), rng.uniform(-1, 1)])
    if rng.random() < 0.4:
        at = np.round(64 * at) / 64
    return float(at[0]), float(at[1]), yaw
