# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Moving shapes: closed forms, and bad input.

`cast_test.cpp` and `./dev verify` sample the casts of the kernel densely.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from gjk_collision import Shape, Status, Verdict
from gjk_collision.motion import Motion, closest_approach, shape_cast, time_of_impact

TOLERANCE = 0.005
CAR = np.array([(3.8, 0.9), (-1.0, 0.9), (-1.0, -0.9), (3.8, -0.9)])


@pytest.mark.parametrize("most", [1, 2])
def test_too_few_iterations_are_never_free(most: int) -> None:
    """A needle that turns passes a disc at 0.02 m."""
    needle, disc = Shape.segment((-2.0, 0.0), (2.0, 0.0)), Shape.circle(1.0)
    turns, passes = (
        Motion.constant((0, 0, 0), (0, 0, 9)),
        Motion.constant((-9, 3.02, 0), (6, 0, 0)),
    )
    pair = needle, disc, turns, passes, 0.0, 3.0
    assert time_of_impact(*pair).verdict is Verdict.FREE
    found = time_of_impact(*pair, max_iterations=most)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.ITERATION_LIMIT)
    assert found.last_valid < 3.0 and math.isnan(found.time)


def test_beyond_a_path_is_unknown() -> None:
    box = Shape.box(1.0, 1.0)
    path = Motion.path([1.0, 2.0], [(0, 0, 0), (1, 0, 0)])
    for t0, t1, last_valid in ((1.0, 3.0, 2.0), (0.0, 2.0, 0.0), (2.5, 3.0, 2.5)):
        found = time_of_impact(box, box, path, Motion.still((9, 0, 0)), t0, t1)
        assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
        assert found.last_valid == last_valid
    # A hit before the end is certain all the same.
    assert time_of_impact(box, box, path, Motion.still((1.5, 0, 0)), 1.0, 3.0).hit
    one = Motion.path([1.0], [(0, 0, 0)])
    assert time_of_impact(box, box, one, Motion.still((9, 0, 0))).verdict == Verdict.FREE


def test_the_shorter_turn_is_taken() -> None:
    path = Motion.path([0.0, 1.0], [(0, 0, 3.0), (0, 0, -3.0)])
    assert path.at(0.5)[2] == pytest.approx(math.pi)
    assert Motion.path([0, 1], [(0, 0, 1), (0, 0, -1)]).at(0.5)[2] == 0.0
    half = Motion.path([0, 1], [(0, 0, 0), (0, 0, math.pi)])
    assert half.at(0.5)[2] == math.pi / 2


def test_concave_shapes_and_the_first_of_many_parts() -> None:
    fork = Shape.concave([(0, 0), (6, 0), (6, 1), (1, 1), (1, 3), (6, 3), (6, 4), (0, 4)])
    ball = Shape.circle(0.5)
    into = Motion.constant((20, 2, 0), (-1, 0, 0))
    found = time_of_impact(ball, fork, into, Motion.still(), 0.0, 30.0)
    assert found.verdict == Verdict.COLLISION
    assert 18.5 - TOLERANCE <= found.time <= 18.5
    near = closest_approach(ball, fork, into, Motion.still(), 0.0, 18.0)
    assert near.distance == pytest.approx(0.5, abs=TOLERANCE)
    assert near.distance - TOLERANCE <= near.lower_bound <= 0.5


def test_the_closest_approach_has_a_time_and_points() -> None:
    """A disc passes a post at 3 m."""
    past = Motion.constant((-5.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    found = closest_approach(
        Shape.circle(0.5), Shape.point((0.0, 3.0)), past, Motion.still(), 0.0, 10.0
    )
    assert found.status is Status.SUCCESS and 2.5 <= found.distance <= 2.5 + TOLERANCE
    assert 2.5 - TOLERANCE <= found.lower_bound <= 2.5
    assert found.time == pytest.approx(5.0, abs=0.2)
    assert found.point_a == pytest.approx([0.0, 0.5], abs=0.2)
    assert found.point_b.tolist() == [0.0, 3.0]
    assert found.direction == pytest.approx([0.0, 1.0], abs=0.1)


def test_a_shape_is_cast_until_it_touches() -> None:
    car, wall = Shape.polygon(CAR), Shape.box(1.0, 10.0)
    found = shape_cast(car, wall, (3.0, 0.0), pose_b=(20.0, 0.0, 0.0))
    assert found.time == pytest.approx(19.5 - 3.8, abs=1e-8) and found.time <= 19.5 - 3.8
    assert shape_cast(car, wall, (3.0, 0.0), 15.0, pose_b=(20, 0, 0)).last_valid == 15.0
    with_margin = shape_cast(car, wall, (1, 0), pose_b=(20, 0, 0), margin=0.5)
    assert with_margin.verdict == Verdict.MARGIN
    assert with_margin.time == pytest.approx(19.5 - 3.8 - 0.5, abs=1e-8)
    assert not shape_cast(car, wall, (-1, 0), pose_b=(20, 0, 0)).hit


@pytest.mark.parametrize("is_overlap_first", [True, False])
def test_the_nearest_of_several_parts_decides_at_the_start(is_overlap_first: bool) -> None:
    """One part overlaps, the other is within the margin; neither moves."""
    parts = [Shape.box(1.0, 1.0, (1.2, 0.0)), Shape.box(1.0, 1.0, (0.0, 2.0))]
    pair = Shape.compound(parts if is_overlap_first else parts[::-1])
    ball = Shape.circle(1.0)
    hit = time_of_impact(ball, pair, Motion.still(), Motion.still(), 0.0, 1.0, margin=1.0)
    cast = shape_cast(ball, pair, (0.0, -1.0), margin=1.0)
    for found in (hit, cast):
        assert found.verdict is Verdict.COLLISION
        assert found.distance == pytest.approx(-0.3, abs=1e-9)
