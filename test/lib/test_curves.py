# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Shortest curves of a car, against OMPL.

`curves_test.cpp` compares them with other ways to the same goal.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.typing import NDArray

from gjk_collision import _core

CASES = int(os.environ.get("GJK_CASES", "4000"))
RADII = (4.0, 1.0, 1e-3, 1e5)

Floats = NDArray[np.float64]
KINDS = {"dubins": _core.dubins, "reeds_shepp": _core.reeds_shepp}


def lengths(counts: NDArray[np.uint32], arcs: Floats) -> Floats:
    used = np.arange(5) < counts[:, None]
    return np.asarray(np.where(used, np.abs(arcs[:, :, 1]), 0.0).sum(axis=1))


def drive(poses: Floats, arcs: Floats) -> NDArray[np.longdouble]:
    """Return the ends of curves, shape (n, 3); arcs of no length do not move."""
    x, y, yaw = poses.T.astype(np.longdouble)
    for curvature, length in np.moveaxis(arcs.astype(np.longdouble), 0, -1):
        half = 0.5 * curvature * length
        chord = length * np.where(half == 0.0, 1.0, np.sin(half) / np.where(half == 0.0, 1, half))
        x, y = x + chord * np.cos(yaw + half), y + chord * np.sin(yaw + half)
        yaw = yaw + 2.0 * half
    return np.stack([x, y, yaw], axis=-1)


def between(rng: np.random.Generator, n: int, radius: float) -> list[tuple[Floats, Floats]]:
    """Return pairs of poses: random, near, on grids, ends of curves, and far from the origin."""

    def anywhere() -> Floats:
        return rng.uniform((-20.0, -20.0, -4.0), (20.0, 20.0, 4.0), (n, 3))

    def grid(divided: int) -> Floats:
        steps = rng.integers(-5 * divided, 5 * divided + 1, (n, 3)) / divided
        return np.asarray(steps * (radius, radius, np.pi / 2))

    start = anywhere()
    near = start + rng.uniform((-3 * radius, -3 * radius, -4), (3 * radius, 3 * radius, 4), (n, 3))
    arcs = np.zeros((n, 3, 2))
    arcs[..., 0] = rng.integers(-1, 2, (n, 3)) / radius
    arcs[..., 1] = rng.uniform(-1.5, 1.5, (n, 3)) * radius * rng.integers(0, 2, (n, 3))
    return [
        (anywhere(), anywhere()),
        (start, near),
        (start, start + rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-5, 0, (n, 1))),
        (grid(1), grid(1)),
        (grid(2), grid(2)),
        (start, drive(start, arcs).astype(float)),
        (start + (4e6, 5e6, 0.0), near + (4e6, 5e6, 0.0)),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_lengths_agree_with_ompl(kind: str) -> None:
    """Where they differ, ours is shorter, or OMPL's curve does not end at its goal."""
    ob = pytest.importorskip("ompl.base", reason="OMPL is not installed (pip install ompl)")
    rng = np.random.default_rng(16)
    n = -(-CASES // (7 * len(RADII)))
    worse = missing = 0
    for radius in RADII:
        make = ob.DubinsStateSpace if kind == "dubins" else ob.ReedsSheppStateSpace
        space = make(radius)
        a, b, at = (space.allocState() for _ in range(3))
        for starts, goals in between(rng, n, radius):
            ours = lengths(*KINDS[kind](starts, goals, radius))
            for start, goal, length in zip(starts.tolist(), goals.tolist(), ours, strict=True):
                for state, pose in ((a, start), (b, goal)):
                    state.setXY(*pose[:2])
                    state.setYaw(pose[2])
                theirs = space.distance(a, b)
                tolerance = 1e-9 * (radius + theirs) + 1e-15 * abs(start[0])
                worse += theirs > length + tolerance
                if length > theirs + tolerance:
                    space.interpolate(a, b, np.nextafter(1.0, 0.0), at)
                    miss = np.hypot(at.getX() - goal[0], at.getY() - goal[1])
                    turn = np.remainder(at.getYaw() - goal[2] + np.pi, 2 * np.pi) - np.pi
                    case = f"{start} to {goal}, radius {radius}: {length}, OMPL {theirs}"
                    assert max(miss, radius * abs(turn)) > 1e-12 * (radius + theirs), case
                    missing += 1
    assert worse + missing < 0.02 * CASES


def test_symmetries_of_reeds_shepp() -> None:
    """Driven back, mirrored or reversed, a curve has the same length; backing up is shorter."""
    rng = np.random.default_rng(19)
    zero = np.zeros((CASES, 3))
    goal = rng.uniform((-5, -5, -np.pi), (5, 5, np.pi), (CASES, 3))
    ours = lengths(*_core.reeds_shepp(zero, goal, 1.0))
    for a, b in (
        (goal, zero),
        (zero, goal * (1, -1, -1)),
        (zero, goal * (-1, 1, -1)),
        (zero, goal * (-1, -1, 1)),
    ):
        other = lengths(*_core.reeds_shepp(a, b, 1.0))
        np.testing.assert_allclose(other, ours, atol=1e-11, rtol=0.0)
    for a, b in ((zero, goal), (goal, zero)):
        assert (ours <= lengths(*_core.dubins(a, b, 1.0)) + 1e-11).all()
