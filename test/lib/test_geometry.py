# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pair queries on random pairs of every kind of trouble, against rational arithmetic."""

from __future__ import annotations

import cases
import oracles
import pytest
from certify import broken_rules, shape
from oracles import Body

from gjk_collision import Shape, closest, collide, distance

# Least share of hits and of misses in 300 pairs; a kind that stopped hitting would test nothing.
HITS = dict.fromkeys(cases.KINDS, (0.1, 0.1)) | {
    "touching": (1.0, 0.0),  # every pair touches
    "contained": (1.0, 0.0),  # every pair overlaps
    "halves": (0.5, 0.02),
    "size_ratio": (0.1, 0.01),
}
COUNT = 300


@pytest.mark.requirement("G-3")
@pytest.mark.parametrize("kind", sorted(cases.KINDS))
def test_collide_is_exact(kind: str) -> None:
    """Level 1 is the answer of rational arithmetic, also one step of a double beside a touch."""
    wrong, hits = [], 0
    for case in cases.some(kind, COUNT):
        truth = oracles.collide(case.a, case.b)
        hits += truth
        a, b = shape(case.a), shape(case.b)
        if collide(a, b) != truth or collide(b, a) != truth:
            wrong.append(case)
    assert not wrong, f"{len(wrong)} of {COUNT} wrong, the first: {wrong[0]}"
    least_hits, least_misses = HITS[kind]
    assert hits >= least_hits * COUNT and COUNT - hits >= least_misses * COUNT, f"{hits} hits"


@pytest.mark.requirement("G-5")
@pytest.mark.parametrize("kind", sorted(cases.KINDS))
def test_closest_is_certified(kind: str) -> None:
    """Distance, bound, witness points and direction hold what they promise."""
    for case in cases.some(kind, COUNT):
        a, b = shape(case.a), shape(case.b)
        broken = broken_rules(case.a, case.b, closest(a, b))
        assert not broken, f"{case}\n" + "\n".join(broken)


@pytest.mark.parametrize("kind", sorted(cases.KINDS))
def test_the_levels_agree(kind: str) -> None:
    for case in cases.some(kind, COUNT):
        a, b = shape(case.a), shape(case.b)
        answer = closest(a, b)
        assert distance(a, b) == answer.distance, case
        assert collide(a, b) == (answer.distance <= 0.0), case
        if answer.lower_bound > 0.0:
            assert not collide(a, b), case


def near(value: float) -> object:
    """Distances are certified from above, so they may exceed the true one by its rounding."""
    return pytest.approx(value, rel=1e-12)


def test_documented_constructors_make_the_same_sets() -> None:
    box = Shape.box(4.0, 2.0, center=(1.0, 2.0))
    outline = [(-1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (-1.0, 3.0)]
    probe, origin, above = (Shape.point(p) for p in ((6.0, 7.0), (0.0, 0.0), (4.0, 3.0)))
    assert distance(box, probe) == distance(Shape.polygon(outline), probe) == near(5.0)
    assert distance(Shape.circle(1.0, center=(3.0, 4.0)), origin) == near(4.0)
    assert distance(Shape.capsule((0.0, 0.0), (9.0, 0.0), 1.0), above) == near(2.0)
    assert distance(Shape.segment((0.0, 0.0), (9.0, 0.0)), above) == near(3.0)
    assert distance(Shape.hull([(0, 0), (9, 0), (4, 0)]), above) == near(3.0)


@pytest.mark.requirement("G-6")
def test_inflation_adds_to_the_radius() -> None:
    square = Shape.polygon([(0, 0), (1, 0), (1, 1), (0, 1)], radius=0.25)
    grown = square.inflated(0.5)
    assert (square.radius, grown.radius) == (0.25, 0.75)
    assert collide(grown, Shape.point((1.75, 0.5)))
    assert not collide(square, Shape.point((1.75, 0.5)))


def test_a_hull_is_the_same_set_as_its_points() -> None:
    for case in cases.some("magnitudes", 100):
        for body in (case.a, case.b):
            other = case.b if body is case.a else case.a
            middle = tuple((p[0], q[1]) for p in body.points for q in body.points)
            everything = (*body.points, *middle)
            taken = Body(tuple(oracles.hull(everything)))
            got = collide(Shape.hull(everything), shape(other))
            assert got == oracles.collide(taken, other), case


def test_an_overlap_has_a_depth() -> None:
    """Deep overlaps: the depth is the least over all edge normals of the Minkowski difference."""
    for case in cases.some("contained", COUNT):
        truth = oracles.signed_distance(case.a, case.b)
        found = distance(shape(case.a), shape(case.b))
        assert found < 0.0 and truth.is_within(found, 1e-9 + 1e-12 * abs(found)), case
