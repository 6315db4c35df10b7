# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A trace is what happened: each step is checked against the shapes themselves."""

import cases
import numpy as np
import oracles
import pytest
from certify import shape

from gjk_collision import Shape, closest, collide, trace
from gjk_collision.tracing import deciding_step
from gjk_collision.verdict import Verdict


def region(triangle: np.ndarray) -> int:
    """The barycode from areas: of the three, with the sign of the whole, largest bit first BC."""
    a, b, c = triangle

    def area(p: np.ndarray, q: np.ndarray) -> float:
        return float(p[0] * q[1] - p[1] * q[0])

    areas = area(b, c), area(c, a), area(a, b)
    whole = sum(areas)
    return sum(bit for bit, part in zip((4, 2, 1), areas, strict=True) if part * whole > 0)


@pytest.mark.parametrize("kind", ["valtr", "doubles", "touching", "contained", "needles"])
def test_steps_are_those_of_the_shapes(kind: str) -> None:
    codes = set()
    for case in cases.some(kind, 100):
        a, b = shape(case.a), shape(case.b)
        found = trace(a, b)
        answer = closest(a, b)
        assert found.closest.distance == answer.distance, case
        assert len(found.steps) == answer.iterations, case
        p, q = a.parts[0], b.parts[0]
        core = np.sqrt(float(oracles.squared_distance(case.a.points, case.b.points)))
        scale = np.abs(p).max() + np.abs(q).max()
        for step in found.steps:
            assert len(step.points) in (1, 2), case
            for point, i, j in zip(step.points, step.vertices_a, step.vertices_b, strict=True):
                assert np.array_equal(point, p[i] - q[j]), case
            assert np.array_equal(step.support, p[step.support_a] - q[step.support_b]), case
            farthest = (p @ step.direction).max() - (q @ step.direction).min()
            assert abs(step.support @ step.direction - farthest) <= 1e-12 * scale, case
            assert step.lower_bound <= core * (1 + 1e-12) <= step.upper_bound * (1 + 2e-12), case
            if step.barycode is None:
                assert len(step.points) == 1
                continue
            assert len(step.points) == 2
            codes.add(step.barycode)
            triangle = np.vstack([step.support, step.points])
            areas = np.abs([np.linalg.det(triangle[[i, j]]) for i, j in ((0, 1), (1, 2), (2, 0))])
            if areas.min() > 1e-9 * scale**2:
                assert step.barycode == region(triangle), case
        for before, after in zip(found.steps, found.steps[1:], strict=False):
            kept = {tuple(point) for point in (*before.points, before.support)}
            assert {tuple(point) for point in after.points} <= kept, case
            assert after.upper_bound <= before.upper_bound * (1 + 1e-12), case
    assert codes <= {4, 5, 6, 7}


def test_the_region_tells_the_outcome() -> None:
    apart = trace(Shape.box(2, 2), Shape.box(2, 2), pose_b=(5, 1, 0.3))
    assert apart.is_settled and apart.closest.distance > 0
    assert apart.steps[-1].lower_bound == pytest.approx(apart.closest.distance)
    over = trace(Shape.box(2, 2), Shape.box(2, 2), pose_b=(0.5, 0.25, 0.3))
    assert over.is_settled and over.closest.distance < 0
    assert over.steps[-1].barycode == 7
    touching = trace(Shape.box(2, 2), Shape.box(2, 2, center=(2, 2)))
    assert not touching.is_settled and touching.closest.distance == 0


def test_the_deciding_parts_are_traced() -> None:
    fork = Shape.concave([(0, 0), (6, 0), (6, 1), (1, 1), (1, 3), (6, 3), (6, 4), (0, 4)])
    found = trace(fork, Shape.point((5.0, 5.0)))
    part = fork.parts[found.closest.feature_a[0]]
    last = found.steps[-1]
    for point, i in zip(last.points, last.vertices_a, strict=True):
        assert np.array_equal(point, part[i] - (5.0, 5.0))
    assert found.closest.distance == pytest.approx(1.0)


DIAMOND = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
STEPS = {
    # Boxes 2 m apart.
    "turned boxes": (Shape.box(2, 2), Shape.box(2, 2), (4.0, 0.0, 0.0), 0.0, Verdict.FREE),
    # Turned by 45 degrees, the box around the own box of a diamond is twice as wide as it is.
    "boxes": (
        Shape.box(2, 2), Shape.polygon(DIAMOND), (2.0, 0.0, np.pi / 4), 0.0, Verdict.FREE
    ),
    # Squares whose boxes overlap, but a diagonal edge is between them.
    "axes": (Shape.polygon(DIAMOND), Shape.polygon(DIAMOND), (1.2, 1.2, 0.0), 0.0, Verdict.FREE),
    "overlap": (Shape.box(2, 2), Shape.box(2, 2), (0.5, 0.25, 0.3), 0.0, Verdict.COLLISION),
    # A margin needs the distance, so the edges do not decide.
    "GJK": (Shape.polygon(DIAMOND), Shape.polygon(DIAMOND), (1.2, 1.2, 0.0), 0.2, Verdict.FREE),
    "exact": (Shape.box(2, 2), Shape.circle(1.0), (2.0, 0.0, 0.0), 0.0, Verdict.COLLISION),
    "extremes": (
        Shape.box(2, 2), Shape.segment((-1.0, 0.0), (1.0, 0.1)), (0.0, 0.0, 0.0), 0.0,
        Verdict.COLLISION,
    ),
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_each_step_is_named_where_it_decides(step: str) -> None:
    a, b, pose, margin, verdict = STEPS[step]
    found = deciding_step(a, b, None, pose, margin=margin)
    assert found[:2] == (verdict, step)


@pytest.mark.parametrize("kind", ["valtr", "doubles", "touching", "contained", "needles"])
def test_the_step_has_the_verdict_and_its_proof(kind: str) -> None:
    """The verdict is that of `collide`, and what the step has proven holds for the shapes."""
    for case in cases.some(kind, 200):
        a, b = shape(case.a), shape(case.b)
        verdict, step, certain = deciding_step(a, b)
        assert (verdict is Verdict.COLLISION) == collide(a, b), case
        found = closest(a, b)
        if found.lower_bound > certain:
            assert verdict is Verdict.FREE, case
        p, q = a.parts[0], b.parts[0]
        gaps = np.maximum(p.min(axis=0) - q.max(axis=0), q.min(axis=0) - p.max(axis=0))
        if "boxes" in step:
            assert verdict is Verdict.FREE and gaps.max() > a.radius + b.radius, case
        elif step in ("overlap", "extremes"):
            assert verdict is Verdict.COLLISION, case
            assert oracles.squared_distance(case.a.points, case.b.points) == 0, case
        else:
            assert step in ("axes", "GJK", "exact"), case
