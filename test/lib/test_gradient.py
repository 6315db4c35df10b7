# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Gradients, against central differences of distances computed here in long double."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.typing import NDArray

from gjk_collision import InputError, Scene, Shape
from gjk_collision.verdict import Status

CASES = int(os.environ.get("GJK_CASES", "1000"))
GROUP = 100  # poses for each pair of shapes
STEPS = (1e-7, 0.9e-6)  # of the central differences
CAR = Shape.box(4.0, 2.0)
SQUARE = Shape.box(1.0, 1.0)

Floats = NDArray[np.longdouble]


def placed(points: NDArray[np.float64], poses: Floats) -> Floats:
    """Return points (n, 2) at poses (m, 3), shape (m, n, 2)."""
    cos, sin = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
    x, y = points.astype(np.longdouble).T
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1) + poses[:, None, :2]


def to_edges(p: Floats, q: Floats) -> Floats:
    """Return the distance of the vertices of q from the edges of p, shape (m,)."""
    edge = (np.roll(p, -1, axis=1) - p)[:, :, None]
    off = q[:, None] - p[:, :, None]
    length = (edge**2).sum(-1)
    share = np.clip((edge * off).sum(-1) / np.where(length > 0, length, 1), 0, 1)
    return np.sqrt(((off - share[..., None] * edge) ** 2).sum(-1)).min(axis=(1, 2))


def gap(p: Floats, q: Floats) -> Floats:
    """Return the largest gap along an outer normal of an edge of p, shape (m,)."""
    if p.shape[1] == 1:
        return np.full(len(p), -np.inf, np.longdouble)
    edge = np.roll(p, -1, axis=1) - p
    normal = np.stack([edge[..., 1], -edge[..., 0]], -1) / np.sqrt((edge**2).sum(-1))[..., None]
    off = q[:, None] - p[:, :, None]
    return (off * normal[:, :, None]).sum(-1).min(axis=2).max(axis=1)


def convex_distance(p: Floats, q: Floats) -> Floats:
    """Return the signed distance of convex polygons (m, n, 2)."""
    apart = np.minimum(to_edges(p, q), to_edges(q, p))
    along = np.maximum(gap(p, q), gap(q, p))
    return np.where((along > 0) | np.isinf(along), apart, along)


def ring_distance(p: Floats, q: Floats) -> Floats:
    """Return the distance of outlines that do not overlap."""
    return np.minimum(to_edges(p, q), to_edges(q, p))


def polygon(rng: np.random.Generator) -> tuple[Shape, NDArray[np.float64], float]:
    """Return a convex shape, its vertices, and its radius. Circles and capsules too."""
    kind = rng.integers(4)
    if kind == 0:
        radius = rng.uniform(0.1, 1.5)
        centre = rng.normal(size=2)
        return Shape.circle(radius, centre), centre[None], radius
    if kind == 1:
        ends, radius = rng.normal(size=(2, 2)), rng.uniform(0.1, 1.0)
        return Shape.capsule(ends[0], ends[1], radius), ends, radius
    angles = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 9)))
    while np.diff(angles, append=angles[0] + 2 * np.pi).max() > 3.0:
        angles = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 9)))
    points = np.c_[np.cos(angles), np.sin(angles)] * rng.choice([0.3, 1.0, 2.0], 2)
    points += rng.normal(size=2)
    radius = float(rng.choice([0.0, 0.3]))
    return Shape.polygon(points, radius=radius), points, radius


def star(rng: np.random.Generator) -> tuple[Shape, NDArray[np.float64], float]:
    """Return a concave outline."""
    angles = (np.arange(8) + rng.uniform(-0.3, 0.3, 8)) * np.pi / 4
    points = np.c_[np.cos(angles), np.sin(angles)] * np.tile([0.5, 2.0], 4)[:, None]
    return Shape.concave(points), points, 0.0


@pytest.mark.parametrize("kinds", ["convex", "concave ego", "concave obstacle"])
def test_central_differences(kinds: str) -> None:
    """Where a gradient is smooth, it is that of an independent distance, in all four variables."""
    rng = np.random.default_rng(16)
    distance = convex_distance if kinds == "convex" else ring_distance
    count = smooth = deep = 0
    for _ in range(-(-CASES // GROUP)):
        ego, mine, r_ego = (star if kinds == "concave ego" else polygon)(rng)
        other, its, r_other = (star if kinds == "concave obstacle" else polygon)(rng)
        start, velocity = rng.normal(size=3) * (2, 2, 3), rng.normal(size=3)
        scene = Scene([other], [start], velocities=[velocity], horizon=10.0)
        poses = rng.normal(size=(GROUP, 3)) * (3, 3, 3)
        times = rng.uniform(0.01, 2.0, GROUP)
        found = scene.gradient(ego, poses, times, threads=2)
        assert (found.statuses == Status.SUCCESS).all() and found.distances.shape == (GROUP, 1)
        where = np.c_[poses, times].astype(np.longdouble)

        def at(
            change: Floats,
            where: Floats = where,
            mine: NDArray[np.float64] = mine,
            its: NDArray[np.float64] = its,
            start: NDArray[np.float64] = start,
            velocity: NDArray[np.float64] = velocity,
            radii: float = r_ego + r_other,
        ) -> Floats:
            there = where + change
            moved = start + there[:, 3:] * velocity.astype(np.longdouble)
            return distance(placed(mine, there[:, :3]), placed(its, moved)) - radii

        here = at(np.zeros(4, np.longdouble))
        used = np.abs(here) > 0.01
        if kinds != "convex":  # the depth depends on the decomposition
            used &= found.distances[:, 0] > 0.01
        np.testing.assert_allclose(found.distances[used, 0], here[used].astype(float), atol=1e-9)
        count += int(used.sum())
        used &= found.smooth[:, 0]
        smooth += int(used.sum())
        deep += int((found.distances[used, 0] < 0).sum())
        reach = max(1.0, float(np.hypot(*mine.T).max()) + r_ego)
        fast = max(1.0, float(np.hypot(*velocity[:2]) + 4 * abs(velocity[2])))
        ours = np.concatenate([found.gradients[:, 0], found.rates], axis=1)
        for h in STEPS:
            for axis, scale in enumerate((1.0, 1.0, reach, fast)):
                change = np.zeros(4, np.longdouble)
                change[axis] = h
                ahead, behind = at(change), at(-change)
                slope = ((ahead - behind) / (2 * np.longdouble(h))).astype(float)
                off = np.abs(slope - ours[:, axis])[used]
                assert (off <= 1e-6 * scale).all(), (kinds, axis, off.max())
                # A pair of features that changes within h shows as a bend.
                bend = (np.abs(ahead - 2 * here + behind) / h)[used]
                assert (bend <= 1e-7 + 4e3 * h * scale**2).all(), (kinds, axis, bend.max())
    assert smooth >= 0.95 * count
    assert deep > 0.05 * count or kinds != "convex"


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
    shapes = [(star if i % 3 == 0 else polygon)(rng)[0] for i in range(30)]
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
            np.testing.assert_array_equal(first.distances[..., 0], check.distances)
            np.testing.assert_array_equal(first.ids[..., 0], check.nearest_ids)
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
    at_stamp = Scene([SQUARE], [(5, 0, 0.3)]).gradient(CAR, (0, 0, 0), 0.0)
    assert at_stamp.distances[0] > 0 and np.isnan(at_stamp.rates[0]) and not at_stamp.smooth[0]
    far = Scene([SQUARE]).gradient(Shape.box(1e15, 1.0), (8e14, 0, 0))
    assert far.statuses == Status.INVALID_INPUT and np.isnan(far.distances).all()
    with pytest.raises(TypeError, match="distances"):
        bool(nothing)


def test_bad_arguments_are_named() -> None:
    scene = Scene([SQUARE], velocities=[(0, 0, 0)])
    good = np.zeros((2, 3, 3))
    cases: list[tuple[object, object, object, Status, str]] = [
        (good, None, 0, Status.INVALID_INPUT, "k: must be a whole number from 1"),
        (good, None, 1.5, Status.INVALID_INPUT, "k: must be a whole number"),
        (good[..., :2], None, 1, Status.ARRAY_MISMATCH, "poses: must have shape (..., 3)"),
        (good, [0.0, 1.0], 1, Status.ARRAY_MISMATCH, "times: must have shape (2, 3) or (3,)"),
        (good * np.nan, None, 1, Status.NON_FINITE, "poses[0]: x, y and yaw must be finite"),
        (good[:0], None, 1, Status.EMPTY_REQUEST, "poses: must hold at least one pose"),
    ]
    for poses, times, k, status, message in cases:
        with pytest.raises(InputError) as caught:
            scene.gradient(CAR, poses, times, k)  # type: ignore[arg-type]
        assert caught.value.status == status
        assert str(caught.value).startswith(message), caught.value
    with pytest.raises(InputError, match="shape: "):
        scene.gradient("car", good)  # type: ignore[arg-type]
