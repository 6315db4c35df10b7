# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Penetration against rational arithmetic, and against an EPA written here."""

from __future__ import annotations

import math

import cases
import numpy as np
import oracles
import pytest
from certify import shape
from hypothesis import given
from hypothesis import strategies as st
from oracles import Body

from gjk_collision import Shape, closest, collide, distance, penetration

OVERLAPPING = (
    "contained",
    "valtr",
    "doubles",
    "rounded",
    "size_ratio",
    "halves",
    "utm",
    "parallel",
)
COUNT = 150


def epa(a: Body, b: Body) -> float:
    """Expanding polytope: a polygon in a - b grows until its nearest edge is on the boundary."""
    p, q = np.array(a.points, dtype=float), np.array(b.points, dtype=float)

    def support(d: np.ndarray) -> np.ndarray:
        return p[np.argmax(p @ d)] - q[np.argmin(q @ d)]

    ring = [support(np.array(d)) for d in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))]
    ring = [w for i, w in enumerate(ring) if not np.array_equal(w, ring[i - 1])]
    for _ in range(200):
        edges = [(ring[i - 1], ring[i]) for i in range(len(ring))]
        normals = [np.array([w[1] - v[1], v[0] - w[0]]) for v, w in edges]
        heights = [n @ e[0] / math.hypot(*n) for n, e in zip(normals, edges, strict=True)]
        nearest = int(np.argmin(heights))
        n = normals[nearest] / math.hypot(*normals[nearest])
        w = support(n)
        if n @ w <= heights[nearest] + 1e-12 * (1.0 + np.abs(ring).max()):
            return heights[nearest] + a.radius + b.radius
        ring.insert(nearest, w)
    raise AssertionError("EPA does not end")


def kinds() -> list[str]:
    return [kind for kind in OVERLAPPING if kind in cases.KINDS]


@pytest.mark.parametrize("kind", kinds())
def test_depth_is_the_least_over_all_edge_normals(kind: str) -> None:
    overlaps = 0
    for case in cases.some(kind, COUNT):
        truth = oracles.signed_distance(case.a, case.b)
        a, b = shape(case.a), shape(case.b)
        found = penetration(a, b)
        if not oracles.collide(case.a, case.b):
            assert found is None, case
            continue
        overlaps += 1
        assert found is not None, case
        assert truth.is_within(-found.depth, 1e-9 + 1e-12 * found.depth), (case, found)
        assert truth <= -found.depth and truth >= -found.upper_bound, (case, found)
        assert found.depth == -distance(a, b), case
    assert overlaps >= 10


@pytest.mark.parametrize("kind", ["contained", "valtr", "doubles"])
def test_depth_is_that_of_epa(kind: str) -> None:
    compared = 0
    for case in cases.some(kind, COUNT):
        if min(len(set(case.a.points)), len(set(case.b.points))) < 3:
            continue
        found = penetration(shape(case.a), shape(case.b))
        if found is None or found.depth < 1e-9:
            continue
        compared += 1
        assert found.depth == pytest.approx(epa(case.a, case.b), rel=1e-9, abs=1e-12), case
    assert compared >= 10


@pytest.mark.parametrize("kind", kinds())
def test_moving_by_the_depth_parts_the_shapes(kind: str) -> None:
    """And by a little less does not; the points are on their shapes, the depth apart."""
    for case in cases.some(kind, COUNT):
        a, b = shape(case.a), shape(case.b)
        found = penetration(a, b)
        if found is None or found.depth < 1e-6:
            continue
        step = 1e-9 * (1.0 + found.depth + max(abs(c) for p in case.a.points for c in p))
        for by, hit in ((found.upper_bound + step, False), (found.depth - step, True)):
            x, y = by * found.direction
            assert collide(a, b, pose_b=(x, y, 0.0)) == hit, (case, found)
        apart = found.point_a - found.depth * found.direction - found.point_b
        assert math.hypot(*apart) <= step, (case, found)
        for point, body in ((found.point_a, a), (found.point_b, b)):
            assert distance(body, Shape.point(tuple(point))) <= step, (case, found)
            assert distance(body, Shape.point(tuple(point))) >= -step, (case, found)


def test_parallel_faces_meet_in_the_middle() -> None:
    """The points are opposite each other where the faces overlap, also on split edges."""
    a = Shape.polygon([(-8, -4), (0, -4), (8, -4), (8, 4), (4, 4), (0, 4), (-4, 4), (-8, 4)])
    b = Shape.polygon([(5, 3), (20, 3), (20, 20), (5, 20)])
    found = penetration(a, b)
    assert found is not None
    assert found.depth == pytest.approx(1.0) and found.direction.tolist() == [0.0, 1.0]
    assert found.point_a.tolist() == [6.5, 4.0] and found.point_b.tolist() == [6.5, 3.0]
    corners = a.parts[0]
    ends = {tuple(corners[i]) for i in found.feature_a[1:]}
    assert ends == {(8.0, 4.0), (-8.0, 4.0)}


def test_round_shapes() -> None:
    found = penetration(Shape.circle(2.0), Shape.circle(1.0, (2.5, 0.0)))
    assert found is not None
    assert found.depth == pytest.approx(0.5) and found.direction == pytest.approx([1.0, 0.0])
    assert found.point_a == pytest.approx([2.0, 0.0]) and found.point_b == pytest.approx(
        [1.5, 0.0]
    )
    deep = penetration(Shape.capsule((-3, 0), (3, 0), 1.0), Shape.segment((0, -5), (0, 5)))
    assert deep is not None and deep.depth == pytest.approx(4.0)
    assert penetration(Shape.circle(1.0), Shape.circle(1.0, (2.1, 0.0))) is None
    touching = penetration(Shape.circle(1.0), Shape.circle(1.0, (2.0, 0.0)))
    assert touching is not None and touching.depth == 0.0


def test_the_deepest_parts_decide() -> None:
    fork = Shape.concave([(0, 0), (6, 0), (6, 1), (1, 1), (1, 3), (6, 3), (6, 4), (0, 4)])
    found = penetration(fork, Shape.box(2.0, 2.0, center=(5.0, 4.5)))
    assert found is not None and found.depth == pytest.approx(0.5)
    assert found.direction == pytest.approx([0.0, 1.0])


poses = st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.floats(-4, 4))


@given(poses, poses, st.floats(0.0, 1.0))
def test_symmetry_and_rigid_motion(
    pose_a: tuple[float, float, float], pose_b: tuple[float, float, float], radius: float
) -> None:
    a, b = Shape.box(4.0, 2.0, radius=radius), Shape.polygon([(0, 0), (3, 0), (1, 2)])
    found, swapped = penetration(a, b, pose_a, pose_b), penetration(b, a, pose_b, pose_a)
    assert (found is None) == (swapped is None)
    if found is None or swapped is None:
        return
    assert found.depth == pytest.approx(swapped.depth, abs=1e-12)
    answer = closest(a, b, pose_a, pose_b)
    assert found.depth == -answer.distance and found.upper_bound == -answer.lower_bound
    x, y, yaw = 3.0, -2.0, 0.7
    c, s = math.cos(yaw), math.sin(yaw)

    def moved(pose: tuple[float, float, float]) -> tuple[float, float, float]:
        return (c * pose[0] - s * pose[1] + x, s * pose[0] + c * pose[1] + y, pose[2] + yaw)

    turned = penetration(a, b, moved(pose_a), moved(pose_b))
    assert (0.0 if turned is None else turned.depth) == pytest.approx(found.depth, abs=1e-9)
