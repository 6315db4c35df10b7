# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""No answer can be taken for a yes or a no by accident: `bool` of it raises."""

import ast
import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from every_result import CAR, RESULTS, SCENE, THERE, server

from gjk_collision.geometry import collide
from gjk_collision.verdict import Status, Verdict

SOURCE = Path(__file__).resolve().parents[2] / "gjk_collision"


@pytest.mark.requirement("V-14")
@pytest.mark.parametrize("name", RESULTS)
def test_bool_raises_and_says_what_to_use(name: str) -> None:
    make, instead = RESULTS[name]
    result = make()
    assert type(result).__name__ == name.split()[0]
    with pytest.raises(TypeError, match=r"has no truth value: use `") as caught:
        bool(result)
    assert instead in str(caught.value) and type(result).__name__ in str(caught.value)
    with pytest.raises(TypeError):
        any([result])


def test_every_class_with_a_verdict_or_a_distance_is_among_them() -> None:
    """A new class of results cannot be forgotten: by its name or by its fields."""
    tested = {name.split()[0] for name in RESULTS} | {"Distances", "Snapshot", "Report", "Fault"}
    for module in ("results", "pairs", "geometry", "motion", "server/services/answers"):
        for node in ast.parse((SOURCE / f"{module}.py").read_text()).body:
            if isinstance(node, ast.ClassDef) and node.decorator_list:
                # `penetration` returns None or a Penetration: true where the shapes overlap.
                assert node.name in tested | {"Penetration"}, node.name


def test_functions_that_answer_yes_or_no_return_a_bool() -> None:
    assert collide(CAR, CAR) is True
    assert SCENE.is_free(CAR, THERE) is True
    assert SCENE.check(CAR, [THERE]).is_free is True
    assert server("collide").is_free is False


def test_a_verdict_is_still_a_number() -> None:
    for kind in (Verdict, Status):
        for each in kind:
            assert kind(int(each)) is each and each == int(each)
            assert hash(each) == hash(int(each)) and {each: 1}[int(each)] == 1
            assert np.full(2, each, np.uint16).tolist() == [each, each]
            assert (np.array([0, 1, int(each)], np.uint16) == each)[2]
            assert pickle.loads(pickle.dumps(each)) is copy.deepcopy(each) is each
            assert json.loads(json.dumps(each)) == each and f"{each:d}" == str(int(each))
    assert max(Verdict) is Verdict.MARGIN and sorted(Verdict)[0] is Verdict.UNKNOWN
