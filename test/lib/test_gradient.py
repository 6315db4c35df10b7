# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Gradients: ties, contact, order and bad input.

`gradient_test.cpp` compares them with central differences of an independent distance.
"""

from __future__ import annotations

import numpy as np
import pytest
from traffic import some_shape

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Status

CAR = Shape.box(4.0, 2.0)
SQUARE = Shape.box(1.0, 1.0)


def test_finite_at_contact() -> None:
    """Touching, equal and concentric shapes have finite derivatives along a unit vector."""
    capsule = Shape.capsule((0, 0), (1, 0), 0.5)
    square = Shape.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    cases = [
        (square, square, (1.0, 0.0, 0.0), 0.0),  # edges
        (square, square, (1.0, 1.0, 0.0), 0.0),  # corners
        (square, square, (0.0, 0.0, 0.0), -1.0),
        (square, Shape.circle(1.0), (-2.0, -0.5, 0.0), 0.0),
        (square, Shape.point((0.0, 0.0)), (0.0, 0.0, 0.0), 0.0),
        (Shape.circle(1.0), Shape.circle(1.0), (0.0, 0.0, 0.0), -2.0),
        (Shape.circle(1.0), Shape.circle(1.0), (2.0, 0.0, 0.0), 0.0),
        (capsule, capsule, (0.0, 0.0, 0.0), -1.0),
        (Shape.point((0.0, 0.0)), Shape.point((0.0, 0.0)), (0.0, 0.0, 0.0), 0.0),
    ]
    for ego, other, pose, distance in cases:
        found = Scene([other], velocities=[(1.0, 2.0, 3.0)]).gradient(ego, pose, 0.0)
        assert found.distances[0] == pytest.approx(distance, abs=1e-12)
        assert np.isfinite(found.gradients).all() and np.isfinite(found.rates).all()
        assert np.hypot(*found.gradients[0, :2]) == pytest.approx(1.0)
    touching = Scene([square]).gradient(square, (1.0, 0.0, 0.0))
    np.testing.assert_allclose(touching.gradients[0, :2], (1.0, 0.0), atol=1e-12)


def test_parallel_edges_give_the_derivative_of_one_side() -> None:
    """Apart, in contact and in penetration: the yaw's derivative is that of one direction."""
    scene = Scene([Shape.box(2.0, 1.0)], [(0.25, 0.0, 0.0)])
    h = 1e-6
    for radius in (0.0, 0.125):
        ego = Shape.polygon([(-0.5, -0.5), (1.0, -0.5), (1.0, 0.5), (-0.5, 0.5)], radius=radius)
        for x in (-1.25, -0.5, 0.25, 1.0):
            for y in (1.5, 1.0 + radius, 0.9, -0.75, -1.25, -3.0):
                found = scene.gradient(ego, (x, y, 0.0))
                poses = [(x, y, -h), (x, y, 0.0), (x, y, h)]
                d = scene.check(ego, poses, mode="distance").distances
                sides = np.diff(d) / h
                assert np.abs(sides - found.gradients[0, 2]).min() < 1e-5, (radius, x, y, sides)
                assert not found.smooth[0]


def test_ties_are_not_smooth() -> None:
    """Equally near obstacles, features, or depths."""
    between = Scene([SQUARE, SQUARE], [(0, 3, 0.3), (0, -3, -0.3)])
    assert not between.gradient(Shape.point((0, 0)), (0, 0, 0), k=2).smooth.any()
    assert between.gradient(Shape.point((0, 0)), (0, 1e-4, 0), k=2).smooth.all()
    alone = Scene([SQUARE])
    point = Shape.circle(0.1)
    assert not alone.gradient(SQUARE, (2, 0, 0)).smooth[0], "parallel edges"
    assert not alone.gradient(SQUARE, (2, 0, 1e-7)).smooth[0], "parallel within 1e-6 rad"
    assert alone.gradient(SQUARE, (2, 0, 1e-4)).smooth[0]
    assert not alone.gradient(SQUARE, (2, 0, np.pi)).smooth[0]
    assert not alone.gradient(point, (2, 0.5, 0)).smooth[0], "between an edge and its end"
    assert not alone.gradient(point, (2, 0.5 + 5e-7, 0)).smooth[0]
    assert alone.gradient(point, (2, 0.5 + 1e-4, 0)).smooth[0]
    assert not alone.gradient(point, (0, 0, 0)).smooth[0], "equal depths"
    assert not alone.gradient(point, (1e-7, 0, 0)).smooth[0]
    assert alone.gradient(point, (1e-4, 0, 0)).smooth[0]
    assert not Scene([point]).gradient(point, (0, 0, 0)).smooth[0], "concentric"
    turn = Scene([SQUARE], paths=[([1.0, 2.0], [(1, 0, 0), (1, 1, 0)])])
    assert not turn.gradient(point, (5, 0.2, 0), 1.0).smooth[0], "the velocity changes"
    assert not turn.gradient(point, (5, 0.2, 0), 1.0 - 5e-7).smooth[0]
    assert turn.gradient(point, (5, 0.2, 0), 1.0 - 1e-4).smooth[0]


def test_shared_vertex_of_parts_is_smooth() -> None:
    """The parts of a decomposed outline share vertices, which is no tie."""
    shape = Shape.concave([(0, 0), (4, 0), (4, 1), (1, 1), (1, 4), (0, 4)])
    points = np.array([(-1, -1, 0), (5, -1, 0), (5, 2, 0), (2, 5, 0), (-1, 5, 0)])
    assert Scene([shape]).gradient(Shape.circle(0.3), points).smooth.all()
    assert Scene([SQUARE], [(-3, -3, 0.3)]).gradient(shape, (0, 0, 0.1)).smooth.all()


def test_as_nearest() -> None:
    """Order, distances and bounds are those of `nearest`, for parts of concave shapes too."""
    rng = np.random.default_rng(3)
    shapes = [some_shape(rng) for _ in range(30)]
    ids = rng.permutation(30) + 100
    where = rng.uniform(-10, 10, (30, 3))
    velocities = rng.normal(size=(30, 3))
    scene = Scene(shapes, where, ids, velocities, horizon=5.0)
    ego = Shape.concave([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (0, 1)])
    poses = rng.uniform(-10, 10, (4, 50, 3))
    poses[:, 25:] = poses[:, 24:25] + 0.1 * rng.normal(size=(4, 25, 3))
    times = np.linspace(0, 5, 50)
    for at in (None, times):
        for k in (1, 4, 33):
            found = scene.gradient(ego, poses, at, k)
            assert found.ids.shape == (4, 50, k) and found.gradients.shape == (4, 50, k, 3)
            assert found.statuses.shape == (4, 50)
            for i in np.ndindex(4, 50):
                one = None if at is None else at[i[1]]
                near = scene.nearest(ego, poses[i], k, time=one)
                n = len(near.ids)
                np.testing.assert_array_equal(found.ids[i][:n], near.ids)
                np.testing.assert_array_equal(found.distances[i][:n], near.distances)
                np.testing.assert_array_equal(found.lower_bounds[i][:n], near.lower_bounds)
                assert n == min(k, 30) and (found.ids[i][n:] == -1).all()
                assert np.isnan(found.distances[i][n:]).all()
                assert np.isnan(found.gradients[i][n:]).all()
                assert not found.smooth[i][n:].any()
        for threads in (1, 2):
            first = scene.gradient(ego, poses, at, threads=threads)
            check = scene.check(ego, poses, at, mode="distance")
            np.testing.assert_allclose(first.distances[..., 0], check.distances, atol=1e-12)
            np.testing.assert_array_equal(first.ids[..., 0], check.ids)
            alone = [[scene.gradient(ego, p, None if at is None else at[t]).smooth[0]
                      for t, p in enumerate(row)] for row in poses]  # fmt: skip
            np.testing.assert_array_equal(first.smooth[..., 0], alone)


def test_without_an_answer() -> None:
    nothing = Scene([]).gradient(CAR, (0, 0, 0), k=2)
    assert nothing.statuses == Status.SUCCESS and (nothing.ids == -1).all()
    assert np.isnan(nothing.distances).all() and not nothing.smooth.any()
    scene = Scene([SQUARE, SQUARE], [(5, 0, 0), (0, 9, 1)], velocities=[(1, 0, 0), (0, 0, 0)])
    late = scene.gradient(CAR, np.zeros((2, 3)), [1.0, 99.0])
    assert list(late.statuses) == [Status.SUCCESS, Status.PREDICTION_TOO_SHORT]
    assert late.ids[1, 0] == -1 and np.isnan(late.distances[1]).all()
    assert np.isnan(late.gradients[1]).all() and np.isnan(late.rates[1]).all()
    assert np.isnan(late.lower_bounds[1]).all() and not late.smooth[1, 0]
    assert late.rates[0, 0] == 1.0 and scene.gradient(CAR, (0, 0, 0)).rates[0] == 0.0
    at_stamp = Scene([SQUARE], [(5, 0, 0.3)], velocities=[(np.nan,) * 3]).gradient(
        CAR, (0, 0, 0), 0.0
    )
    assert at_stamp.distances[0] > 0 and np.isnan(at_stamp.rates[0]) and not at_stamp.smooth[0]
    far = Scene([SQUARE]).gradient(Shape.box(1e15, 1.0), (8e14, 0, 0))
    assert far.statuses == Status.INVALID_INPUT and np.isnan(far.distances).all()
    with pytest.raises(TypeError, match="distances"):
        bool(nothing)
