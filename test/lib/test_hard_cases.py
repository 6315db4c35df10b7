# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs that broke other implementations, each with the thread that reports it."""

from __future__ import annotations

from typing import Any

import pytest
from certify import broken_rules, shape
from data import cases_of, needs_data
from oracles import Body

from gjk_collision import Shape, closest, collide, distance
from gjk_collision.errors import InputError
from gjk_collision.verdict import Status

pytestmark = needs_data

CASES = cases_of("hard_cases.json")
# What the kernel cannot take as it stands, and why.
NO_PLANAR_PAIR = {
    "dolfinx-3653": "a point and a hull in space",
    "sch-core-28": "the thread gives no numbers",
    "bullet-2157": "the thread gives no numbers",
}
CONCAVE = {"sat-js-68": "an L-shaped room, which is what the thread is about"}


@pytest.mark.requirement("G-2")
@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any]) -> None:
    assert ("a" not in case) == (case["id"] in NO_PLANAR_PAIR)
    if case["id"] in NO_PLANAR_PAIR:
        pytest.skip(NO_PLANAR_PAIR[case["id"]])
    a, b = Body.of(case["a"]), Body.of(case["b"])
    if case["id"] in CONCAVE:
        with pytest.raises(InputError) as error:
            shape(a)
        assert error.value.status == Status.CONCAVE_REJECTED
        made = Shape.concave(case["a"])
    else:
        made = shape(a)
        assert not broken_rules(a, b, closest(made, shape(b)))
    truth = case["exact"]
    assert collide(made, shape(b)) == collide(shape(b), made) == truth["collide"]
    found = distance(made, shape(b))
    if truth["collide"]:
        assert found <= 0.0
    else:
        assert abs(found - truth["distance"]) <= 1e-9 + 1e-12 * truth["distance"]
    if "depth" in case.get("expect", {}):
        assert abs(found + case["expect"]["depth"]) <= 1e-9


def test_the_lists_name_real_cases() -> None:
    assert set(NO_PLANAR_PAIR) | set(CONCAVE) <= {case.id for case in CASES}
