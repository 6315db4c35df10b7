# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs that broke other implementations, and pairs from the tests of JTS, Boost, Box2D, georust.

Each has its recorded truth; here it is also compared with rational arithmetic.
"""

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

# What the kernel cannot take as it stands, and why.
NO_PLANAR_PAIR = {
    "dolfinx-3653": "a point and a hull in space",
    "sch-core-28": "the thread gives no numbers",
    "bullet-2157": "the thread gives no numbers",
}
REFUSED = {
    "boost-geometry/0190": Status.COORD_RANGE,  # a point at 8e307 m
    "boost-geometry/0192": Status.COORD_RANGE,  # the same
    "boost-geometry/0355": Status.DEGENERATE,  # a "polygon" without area
}


def made(points: Any) -> Shape:
    """The shape; a concave outline is refused as a polygon, and decomposed."""
    body = Body.of(points)
    if len(points) < 4 or oracles.is_convex(points) or len(oracles.hull(body.points)) < 3:
        return shape(body)
    with pytest.raises(InputError) as error:
        Shape.polygon(points)
    assert error.value.status == Status.CONCAVE_REJECTED
    return Shape.concave(points)


@pytest.mark.requirement("G-2")
@pytest.mark.parametrize("case", cases_of("hard_cases.json") + cases_of("peer_cases.json"))
def test_case(case: dict[str, Any]) -> None:
    assert ("a" not in case) == (case["id"] in NO_PLANAR_PAIR)
    if case["id"] in NO_PLANAR_PAIR:
        pytest.skip(NO_PLANAR_PAIR[case["id"]])
    if case["id"] in REFUSED:
        with pytest.raises(InputError) as error:
            collide(made(case["a"]), made(case["b"]))
        assert error.value.status == REFUSED[case["id"]]
        return
    a, b, truth = made(case["a"]), made(case["b"]), case["exact"]
    squared = oracles.squared_distance(case["a"], case["b"])
    assert collide(a, b) == collide(b, a) == truth["collide"] == (squared == 0)
    found = distance(a, b)
    if truth["collide"]:
        assert found <= 0.0
    else:
        assert abs(found - truth["distance"]) <= 1e-9 + 1e-12 * truth["distance"]
    if len(a.parts) == len(b.parts) == 1:
        assert not broken_rules(Body.of(case["a"]), Body.of(case["b"]), closest(a, b))
    if "depth" in case.get("expect", {}):
        assert abs(found + case["expect"]["depth"]) <= 1e-9


def test_concave_pairs() -> None:
    pairs = load("concave_pairs.json")["pairs"]
    assert {pair["gt"]["collide"] for pair in pairs} == {True, False}
    for pair in pairs:
        a, b, truth = made(pair["a"]), made(pair["b"]), pair["gt"]
        assert collide(a, b) == truth["collide"], pair["names"]
        if not truth["collide"]:
            assert abs((found := distance(a, b)) - truth["distance"]) <= 1e-9 + 1e-12 * found
