# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The oracles against the truth that comes with the data, and against each other.

If one of these fails, no other test in this folder means anything.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import cases
import oracles
import pytest
from data import SCENES, cases_of, load, needs_data


def is_close(squared: Fraction, distance: float) -> bool:
    return oracles.Signed(squared, Fraction(0)).is_within(distance, 1e-9 + 1e-12 * distance)


@needs_data
@pytest.mark.parametrize("case", cases_of("peer_cases.json") + cases_of("hard_cases.json"))
def test_the_recorded_truth(case: dict[str, Any]) -> None:
    if "a" not in case:
        pytest.skip("the thread gives no planar pair")
    squared = oracles.squared_distance(case["a"], case["b"])
    assert (squared == 0) == case["exact"]["collide"]
    assert is_close(squared, case["exact"]["distance"])
    if all(len(case[k]) < 4 or oracles.is_convex(case[k]) for k in "ab"):
        assert oracles.separated(case["a"], case["b"]) != case["exact"]["collide"]


@needs_data
@pytest.mark.parametrize("name", SCENES)
def test_the_recorded_truth_of_scenes(name: str) -> None:
    for frame in load(f"scenes/{name}.json")["frames"]:
        ego, truth = frame["ego"]["polygon"], frame["gt"]
        hits = []
        for obstacle, expected in zip(frame["obstacles"], truth["distances"], strict=True):
            squared = oracles.squared_distance(ego, obstacle["polygon"])
            assert is_close(squared, expected), (frame["t"], obstacle["id"])
            assert oracles.separated(ego, obstacle["polygon"]) == (squared > 0)
            if squared == 0:
                hits.append(obstacle["id"])
        assert sorted(hits) == sorted(truth["colliding_ids"]), frame["t"]
        assert bool(hits) == truth["collide"]


@needs_data
def test_the_recorded_truth_of_concave_pairs() -> None:
    pairs = load("concave_pairs.json")["pairs"]
    assert pairs
    for pair in pairs:
        squared = oracles.squared_distance(pair["a"], pair["b"])
        assert (squared == 0) == pair["gt"]["collide"], pair["names"]
        assert is_close(squared, pair["gt"]["distance"]), pair["names"]
        hulls = [oracles.hull(pair[k]) for k in "ab"]
        assert oracles.separated(*hulls) != pair["gt"]["hulls_collide"], pair["names"]


@pytest.mark.parametrize("kind", sorted(cases.KINDS))
def test_axes_and_edges_agree(kind: str) -> None:
    """Two methods with nothing in common must say the same."""
    for case in cases.some(kind, 40):
        squared = oracles.squared_distance(case.a.points, case.b.points)
        assert oracles.separated(case.a.points, case.b.points) == (squared > 0), case


def test_depth_of_boxes() -> None:
    a = ((0, 0), (4, 0), (4, 2), (0, 2))
    b = ((3, 1), (9, 1), (9, 8), (3, 8))
    assert oracles.squared_depth(a, b) == 1
    assert oracles.signed_distance(oracles.Body(a, 0.5), oracles.Body(b)).is_within(-1.5, 0)
    assert oracles.squared_depth(a, ((4, 0), (5, 0), (5, 2), (4, 2))) == 0
    assert oracles.signed_distance(oracles.Body(a), oracles.Body(((1, 1.5),))).is_within(-0.5, 0)


def test_depth_by_sampled_directions() -> None:
    """No direction gives a shorter way out than the least edge normal."""
    rng = random.Random(7)
    for case in cases.some("contained", 50):
        depth = math.sqrt(-oracles.signed_distance(case.a, case.b).core)
        for _ in range(100):
            turn = rng.uniform(0, 2 * math.pi)
            along = (math.cos(turn), math.sin(turn))
            assert -float(oracles.gap_along(along, case.a, case.b)) >= depth * (1 - 1e-12), case


def test_cosine_and_sine() -> None:
    for angle in (0.0, 0.5, -0.5, 3.141592653589793, -7.25, 1e-300, 100.0):
        c, s = oracles.cos_sin(angle)
        assert abs(float(c) - math.cos(angle)) <= 2e-16
        assert abs(float(s) - math.sin(angle)) <= 2e-16
        assert abs(c * c + s * s - 1) < Fraction(1, 2**240)


def test_convexity() -> None:
    square = [(0, 0), (2, 0), (2, 2), (0, 2)]
    star = [(math.cos(0.8 * k * math.pi), math.sin(0.8 * k * math.pi)) for k in range(5)]
    assert oracles.is_convex(square)
    assert oracles.is_convex([*square[::-1], square[-1]])
    assert oracles.is_convex([(0, 0), (1, 0), (2, 0), (2, 2), (2, 2), (0, 2)])
    assert not oracles.is_convex(star)  # turns one way only, but goes round twice
    assert not oracles.is_convex(square * 2)
    assert not oracles.is_convex([(0, 0), (2, 0), (1, 0), (3, 0), (2, 2)])
    assert not oracles.is_convex([(0, 0), (2, 2), (4, 4)])
    assert not oracles.is_convex([(0, 0), (4, 0), (1, 1), (0, 4)])
