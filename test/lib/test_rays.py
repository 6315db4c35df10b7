# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Rays against rational arithmetic: many through a vertex, or along an axis past one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from cases import FIRST_SEED

from gjk_collision import Shape, Verdict, ray_cast

Exact = tuple[Fraction, Fraction]


def exact(point: np.ndarray) -> Exact:
    return Fraction(float(point[0])), Fraction(float(point[1]))


def first_hit(origin: Exact, way: Exact, outline: list[Exact]) -> Fraction | None:
    """Parameter along `way` at which the ray enters a convex, counter-clockwise outline."""
    enters, leaves = Fraction(0), None
    for a, b in zip(outline, outline[1:] + outline[:1], strict=True):
        outward = (b[1] - a[1], a[0] - b[0])
        beyond = outward[0] * (origin[0] - a[0]) + outward[1] * (origin[1] - a[1])
        speed = outward[0] * way[0] + outward[1] * way[1]
        if speed == 0:
            if beyond > 0:
                return None
        elif speed > 0:
            leaves = -beyond / speed if leaves is None else min(leaves, -beyond / speed)
        else:
            enters = max(enters, -beyond / speed)
    return enters if leaves is None or enters <= leaves else None


def test_rays_that_graze() -> None:
    hits = misses = 0
    for seed in range(FIRST_SEED, FIRST_SEED + 3000):
        rng = np.random.default_rng(seed)
        size = 10.0 ** rng.uniform(-3, 3)
        shape = Shape.hull(rng.uniform(-1, 1, (rng.integers(3, 12), 2)) * size)
        vertices = shape.parts[0]
        if len(vertices) < 3:
            continue
        origin = rng.uniform(-5, 5, 2) * size
        target = vertices[rng.integers(len(vertices))] if seed % 5 < 3 else np.zeros(2)
        way = (target - origin) * 10.0 ** rng.uniform(-3, 3)
        if seed % 3 == 0:
            axis = rng.integers(2)
            way = np.roll([rng.choice([-1.0, 1.0]), 0.0], axis)
            origin[1 - axis] = target[1 - axis]
        limit = size * rng.uniform(0, 9) if seed % 2 else math.inf
        outline = [exact(v) for v in vertices]
        entry = first_hit(exact(origin), exact(way), outline)
        truth = math.inf if entry is None else float(entry) * math.hypot(*way)
        found = ray_cast(origin, way, shape, limit)
        case = (seed, origin.tolist(), way.tolist(), vertices.tolist(), limit)
        assert found.verdict is not Verdict.UNKNOWN, case
        assert found.last_valid <= truth + 1e-12 * size, case
        if found.verdict is Verdict.FREE:
            assert truth == math.inf or truth > limit * (1 - 1e-15), case
            misses += 1
            continue
        hits += 1
        if truth < math.inf:
            assert found.time <= truth + 1e-12 * size, case
        else:  # it passes within the tolerance
            (x, y), (u, v) = exact(origin), exact(way)
            aside = min(abs(u * (b - y) - v * (a - x)) for a, b in outline)
            assert float(aside) <= 2.1e-9 * math.hypot(*way), case
    assert hits > 500
    assert misses > 500
