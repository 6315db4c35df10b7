# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs from the test suites of JTS, Boost.Geometry, Box2D and georust."""

from __future__ import annotations

from typing import Any

import oracles
import pytest
from certify import broken_rules, shape
from data import cases_of, load, needs_data
from oracles import Body

from gjk_collision import Shape, closest, collide, distance
from gjk_collision.errors import InputError
from gjk_collision.verdict import Status

pytestmark = needs_data

# What the kernel cannot take, and the status by which it says so.
REFUSED = {
    "boost-geometry/0190": Status.COORD_RANGE,  # a point at 8e307 m
    "boost-geometry/0192": Status.COORD_RANGE,  # the same
    "boost-geometry/0355": Status.DEGENERATE,  # a "polygon" without area
}
CONVEX = [
    case for case in cases_of("peer_cases.json")
    if "concave" not in (case.values[0]["kind_a"], case.values[0]["kind_b"])
]  # fmt: skip
CONCAVE = [case for case in cases_of("peer_cases.json") if case not in CONVEX]


def bodies(case: dict[str, Any]) -> tuple[Body, Body]:
    return Body.of(case["a"]), Body.of(case["b"])


@pytest.mark.parametrize("case", CONVEX)
def test_convex(case: dict[str, Any]) -> None:
    """Every case is either answered exactly or stands in the list above: both ways."""
    a, b = bodies(case)
    if case["id"] in REFUSED:
        with pytest.raises(InputError) as error:
            collide(shape(a), shape(b))
        assert error.value.status == REFUSED[case["id"]]
        return
    truth = case["exact"]
    assert collide(shape(a), shape(b)) == truth["collide"]
    found = distance(shape(a), shape(b))
    if truth["collide"]:
        assert found <= 0.0
    else:
        assert abs(found - truth["distance"]) <= 1e-9 + 1e-12 * truth["distance"]
    assert not broken_rules(a, b, closest(shape(a), shape(b)))


def test_an_outline_without_area_is_taken_as_a_hull() -> None:
    (case,) = [c.values[0] for c in CONVEX if c.id == "boost-geometry/0355"]
    a, b = bodies(case)
    assert collide(shape(a), Shape.hull(b.points)) == case["exact"]["collide"]
    assert not broken_rules(a, b, closest(shape(a), Shape.hull(b.points)))


def test_every_case_is_in_one_list() -> None:
    assert CONVEX and CONCAVE
    assert len(CONVEX) + len(CONCAVE) == len(load("peer_cases.json")["cases"])
    assert set(REFUSED) <= {case.id for case in CONVEX}


@pytest.mark.parametrize("case", CONCAVE)
def test_concave(case: dict[str, Any]) -> None:
    """A concave outline is refused as a polygon and answered as its decomposition."""
    made = []
    for kind, body in zip((case["kind_a"], case["kind_b"]), bodies(case), strict=True):
        if kind != "concave":
            made.append(shape(body))
            continue
        with pytest.raises(InputError) as error:
            Shape.polygon(body.points)
        assert error.value.status == Status.CONCAVE_REJECTED
        made.append(Shape.concave(body.points))
    truth = case["exact"]
    assert collide(*made) == truth["collide"]
    if not truth["collide"]:
        found = distance(*made)
        assert abs(found - truth["distance"]) <= 1e-9 + 1e-12 * truth["distance"]


def test_concave_pairs() -> None:
    """Vehicles against lanelets, convex or not."""
    pairs = load("concave_pairs.json")["pairs"]
    assert {pair["gt"]["collide"] for pair in pairs} == {True, False}
    for pair in pairs:
        made = [
            Shape.polygon(pair[k]) if oracles.is_convex(pair[k]) else Shape.concave(pair[k])
            for k in "ab"
        ]
        truth = pair["gt"]
        assert collide(*made) == truth["collide"], pair["names"]
        if not truth["collide"]:
            found = distance(*made)
            assert abs(found - truth["distance"]) <= 1e-9 + 1e-12 * found, pair["names"]
