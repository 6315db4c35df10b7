# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Shortest curves of a car, against OMPL and against a search that needs no formulas."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from gjk_collision import InputError, _core

CASES = int(os.environ.get("GJK_CASES", "4000"))
EPS = np.finfo(float).eps
RADII = (4.0, 1.0, 1e-3, 1e5)

Floats = NDArray[np.float64]
KINDS = {"dubins": _core.dubins, "reeds_shepp": _core.reeds_shepp}


def lengths(counts: NDArray[np.uint32], arcs: Floats) -> Floats:
    """Return the length of each curve [m]."""
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


@pytest.mark.parametrize("kind", KINDS)
def test_curves_end_at_their_goal(kind: str) -> None:
    rng = np.random.default_rng(17)
    n = -(-CASES // (7 * len(RADII)))
    for radius in RADII:
        for starts, goals in between(rng, n, radius):
            counts, arcs = KINDS[kind](starts, goals, radius)
            assert (counts <= (3 if kind == "dubins" else 5)).all()
            assert (arcs[np.arange(5) >= counts[:, None]] == 0.0).all()
            away = (drive(starts, arcs) - goals).astype(float)
            turn = np.abs(np.remainder(away[:, 2] + np.pi, 2 * np.pi) - np.pi)
            size = np.abs(starts[:, :2]).sum(axis=1) + np.abs(goals[:, :2]).sum(axis=1)
            way = radius + np.hypot(*(goals - starts)[:, :2].T)
            assert (np.hypot(away[:, 0], away[:, 1]) <= 300 * EPS * (size + way)).all()
            assert (turn <= 300 * EPS * (1.0 + size / radius)).all()


def roots(f: Callable[[Floats], Floats], values: Floats) -> Floats:
    """Return all sign changes of f, shape (n, grid), by bisection; NaN elsewhere."""
    low, high = values[:-1] + np.zeros((len(f(values[:1])), 1)), values[1:]
    low, high = np.broadcast_arrays(low, high)
    at_low = f(low)
    found = (at_low < 0) != (f(high) < 0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        same = (f(middle) < 0) == (at_low < 0)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.where(found, low, np.nan)


def test_dubins_is_the_least_of_a_search() -> None:
    """Find the first turn of each word by bisection, without the formulas."""
    rng = np.random.default_rng(18)
    n = max(1, min(CASES // 20, 1000))
    goal = rng.uniform((-5, -5, -np.pi), (5, 5, np.pi), (n, 3))
    x, y, yaw = goal.T[..., None]
    turns = np.linspace(0.0, 2 * np.pi, 721)
    best = np.full(n, np.inf)

    def centre(px: Floats, py: Floats, angle: Floats, side: int) -> tuple[Floats, Floats]:
        return px - side * np.sin(angle), py + side * np.cos(angle)

    for side in (1, -1):
        for last in (1, -1):
            ex, ey = centre(x, y, yaw, last)

            def line(
                t: Floats, side: int = side, last: int = last, ex: Floats = ex, ey: Floats = ey
            ) -> tuple[Floats, Floats]:
                """Return how far the last circle is along and beside the straight line."""
                angle = side * t
                px, py = np.sin(angle) * side, side * (1.0 - np.cos(angle))
                cx, cy = centre(px, py, angle, last)
                along = (ex - cx) * np.cos(angle) + (ey - cy) * np.sin(angle)
                return along, (ey - cy) * np.cos(angle) - (ex - cx) * np.sin(angle)

            t = roots(lambda t, line=line: line(t)[1], turns)
            along = line(t)[0]
            end = np.remainder(last * (yaw - side * t), 2 * np.pi)
            total = np.where(along >= 0.0, t + along + end, np.nan)
            best = np.fmin(best, np.fmin.reduce(total, axis=1, initial=np.inf))
        # Three arcs: the middle circle touches both others.
        ex, ey = centre(x, y, yaw, side)

        def gap(t: Floats, side: int = side, ex: Floats = ex, ey: Floats = ey) -> Floats:
            return np.hypot(ex - 2 * side * np.sin(side * t), ey - side + 2 * side * np.cos(t)) - 2

        t = roots(gap, turns)
        mx, my = 2 * side * np.sin(side * t), side - 2 * side * np.cos(t)
        begin = np.arctan2(side - my, -mx)
        turned = np.remainder(side * (begin - np.arctan2(ey - my, ex - mx)), 2 * np.pi)
        end = np.remainder(side * (yaw - side * t + side * turned), 2 * np.pi)
        total = t + turned + end
        best = np.fmin(best, np.fmin.reduce(total, axis=1, initial=np.inf))
    ours = lengths(*_core.dubins(np.zeros((n, 3)), goal, 1.0))
    np.testing.assert_allclose(ours, best, atol=1e-9, rtol=0.0)


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


def test_reeds_shepp_is_a_metric_and_no_way_is_shorter() -> None:
    rng = np.random.default_rng(20)
    a, b, c = rng.uniform((-4, -4, -np.pi), (4, 4, np.pi), (3, CASES, 3))

    def distance(p: Floats, q: Floats) -> Floats:
        return lengths(*_core.reeds_shepp(p, q, 1.0))

    assert (distance(a, c) <= distance(a, b) + distance(b, c) + 1e-11).all()
    arcs = np.stack([rng.integers(-1, 2, (CASES, 4)), rng.uniform(-2, 2, (CASES, 4))], axis=-1)
    way = np.abs(arcs[..., 1]).sum(axis=1)
    assert (distance(a, drive(a, arcs).astype(float)) <= way + 1e-7).all()


def test_invalid_input_is_refused() -> None:
    for call in KINDS.values():
        for radius in (0.0, -1.0, float("nan"), 1e16):
            with pytest.raises(InputError, match="radius: must be greater than 0"):
                call(np.zeros((1, 3)), np.zeros((1, 3)), radius)
        with pytest.raises(InputError, match="b"):
            call(np.zeros((2, 3)), np.zeros((1, 3)), 1.0)
        with pytest.raises(InputError, match="a"):
            call(np.full((1, 3), np.nan), np.zeros((1, 3)), 1.0)
