# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What must not change the answer, whatever the shapes: found by hypothesis.

Moves of a shape are exact here (whole numbers, quarter turns, powers of two), so level 1 may not
change at all.
"""

from __future__ import annotations

import math

import numpy as np
import oracles
import pytest
from certify import shape
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import Body

from gjk_collision import Scene, Shape, closest, collide, distance
from gjk_collision.verdict import Verdict

whole = st.integers(-20, 20).map(float)
# Full doubles within vehicle distances; none so near to zero that products underflow.
real = st.floats(-1e3, 1e3).filter(lambda x: x == 0.0 or abs(x) > 1e-30)
radii = st.sampled_from((0.0, 0.0, 1.0, 0.1, 2.5))


def outlines(coordinate: st.SearchStrategy[float]) -> st.SearchStrategy[Body]:
    points = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=10)
    return st.builds(lambda p, r: Body(tuple(oracles.hull(p)), r), points, radii)


on_grid = outlines(whole)
bodies = st.one_of(on_grid, outlines(real))
grid_pairs = st.tuples(on_grid, on_grid)
pairs = st.one_of(grid_pairs, st.tuples(bodies, bodies))
poses = st.tuples(
    st.floats(-100, 100), st.floats(-100, 100), st.one_of(st.just(0.0), st.floats(-7, 7))
)


def near(x: float, y: float) -> bool:
    return abs(x - y) <= 1e-9 + 1e-12 * max(abs(x), abs(y))


def same(before: tuple[Shape, Shape], after: tuple[Shape, Shape], scale: float = 1.0) -> None:
    assert collide(*before) == collide(*after)
    assert near(scale * distance(*before), distance(*after))


@pytest.mark.requirement("G-3")
@given(pairs)
def test_the_oracle_agrees(pair: tuple[Body, Body]) -> None:
    assert collide(*map(shape, pair)) == oracles.collide(*pair)


@given(pairs)
def test_swapping(pair: tuple[Body, Body]) -> None:
    a, b = map(shape, pair)
    same((a, b), (b, a))
    one, two = closest(a, b), closest(b, a)
    assert near(one.lower_bound, two.lower_bound)
    if one.distance > 1e-6:  # the direction is unique
        turn = math.dist(one.direction, [-c for c in two.direction])
        assert turn <= 1e-6


@given(grid_pairs, st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40))
def test_moving_both(pair: tuple[Body, Body], x: int, y: int) -> None:
    """Whole numbers up to 2^40: the sums are exact."""
    a, b = pair
    after = [Body.of([(p[0] + x, p[1] + y) for p in body.points], body.radius) for body in pair]
    same((shape(a), shape(b)), (shape(after[0]), shape(after[1])))


@given(pairs, st.integers(1, 3))
def test_quarter_turns(pair: tuple[Body, Body], turns: int) -> None:
    after = list(pair)
    for _ in range(turns):
        after = [Body.of([(-p[1], p[0]) for p in body.points], body.radius) for body in after]
    same((shape(pair[0]), shape(pair[1])), (shape(after[0]), shape(after[1])))


@given(pairs)
def test_mirror(pair: tuple[Body, Body]) -> None:
    after = [Body.of([(-p[0], p[1]) for p in body.points], body.radius) for body in pair]
    same((shape(pair[0]), shape(pair[1])), (shape(after[0]), shape(after[1])))


@given(grid_pairs, st.integers(-100, 40))
def test_scale(pair: tuple[Body, Body], exponent: int) -> None:
    """Powers of two change no digit: not of the distance either, so no tolerance is a length."""
    scale = 2.0**exponent
    after = [
        Body.of([(p[0] * scale, p[1] * scale) for p in body.points], body.radius * scale)
        for body in pair
    ]
    before, later = tuple(map(shape, pair)), tuple(map(shape, after))
    assert collide(*before) == collide(*later)
    assert distance(*later) == scale * distance(*before)


@pytest.mark.requirement("G-1")
@given(pairs, st.data())
def test_the_writing_of_an_outline(pair: tuple[Body, Body], data: st.DataObject) -> None:
    """First vertex, winding, repeated vertices and the closing vertex mean nothing."""
    a, b = pair
    assume(len(a.points) > 2)
    start = data.draw(st.integers(0, len(a.points) - 1))
    ring = [*a.points[start:], *a.points[:start]]
    if data.draw(st.booleans()):
        ring.reverse()
    ring = [p for p in ring for _ in range(data.draw(st.integers(1, 3)))]
    if data.draw(st.booleans()):
        ring.append(ring[0])
    same((shape(a), shape(b)), (shape(Body.of(ring, a.radius)), shape(b)))


@pytest.mark.requirement("G-8")
@given(pairs, st.floats(0, 50), st.floats(0, 50))
def test_a_margin_never_frees(pair: tuple[Body, Body], first: float, second: float) -> None:
    a, b = map(shape, pair)
    less, more = sorted((first, second))
    assert collide(a.inflated(more), b) >= collide(a.inflated(less), b) >= collide(a, b)
    scene, here = Scene([b]), np.zeros((1, 3))
    worse = {Verdict.FREE: 0, Verdict.MARGIN: 1, Verdict.UNKNOWN: 2, Verdict.COLLISION: 3}
    verdicts = [scene.check(a, here, margin=m).verdict for m in (0.0, less, more)]
    ranks = [worse[Verdict(v)] for v in verdicts]
    assert ranks == sorted(ranks)
    assert (verdicts[0] == Verdict.COLLISION) == (verdicts[2] == Verdict.COLLISION)


@given(pairs, st.floats(0, 50))
def test_inflation_is_the_distance(pair: tuple[Body, Body], margin: float) -> None:
    a, b = map(shape, pair)
    assert near(distance(a.inflated(margin), b), distance(a, b) - margin)


@settings(max_examples=60)
@given(bodies, st.lists(bodies, max_size=6), st.lists(poses, min_size=1, max_size=8))
def test_a_scene_is_its_pairs(
    ego: Body, obstacles: list[Body], where: list[tuple[float, float, float]]
) -> None:
    """Scene.check over a batch says what the pair queries say one by one."""
    a, others = shape(ego), [shape(body) for body in obstacles]
    scene = Scene(others)
    batch = scene.check(a, np.array(where), mode="distance")
    levels = scene.check(a, np.array(where), mode="collide")
    for i, pose in enumerate(where):
        hit = any(collide(a, other, pose_a=pose) for other in others)
        assert batch.verdicts[i] == levels.verdicts[i]
        least = min((distance(a, other, pose_a=pose) for other in others), default=math.inf)
        free = batch.verdicts[i] == Verdict.FREE
        assert free or batch.verdicts[i] == Verdict.COLLISION
        # What lies within the rounding of a pose is a collision; a pair's bound is the coarser.
        gap = batch.distances[i] if free else least
        assert free != hit or 0.0 < gap < 1e-9
        assert batch.distances[i] == least or near(batch.distances[i], least)
        assert batch.lower_bounds[i] <= least
        alone = scene.check(a, np.array([pose]), mode="distance")
        assert alone.distances[0] == batch.distances[i]
        assert alone.lower_bounds[0] == batch.lower_bounds[i]
        assert alone.verdicts[0] == batch.verdicts[i]
        assert alone.nearest_indices[0] == batch.nearest_indices[i]
    assert batch.is_free == levels.is_free == bool(np.all(batch.verdicts == Verdict.FREE))
