# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A benchmark fails if the library answers wrongly, whatever distances the library reports."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
N = 64
ONE, ALL = "a pair per call", "all pairs in a call"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    for name in ("one_shot", "mppi", "scale", "scene", "scene_peers", "page"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def nothing(*_: Any) -> Any:
    return np.zeros(N, dtype=bool)


def not_a_number(*_: Any) -> Any:
    return np.full(N, np.nan)


def zero(*_: Any) -> Any:
    return np.zeros(N)


@pytest.mark.parametrize(
    "broken",
    [
        {(ONE, "collide"): nothing},
        {(ALL, "collide"): nothing},
        {(ONE, "distance"): not_a_number},
        {(ALL, "distance"): not_a_number},
        {(ALL, "collide"): nothing, (ALL, "distance"): zero},
        {(way, question): answer for way in (ONE, ALL) for question, answer in
         (("collide", nothing), ("distance", not_a_number))},
    ],
)  # fmt: skip
def test_one_shot_fails_for_wrong_answers(
    bench: None, monkeypatch: pytest.MonkeyPatch, broken: dict[tuple[str, str], Any]
) -> None:
    import one_shot

    monkeypatch.setattr(one_shot, "PAIRS", N)
    one_shot.measure(1)
    for key, answer in broken.items():
        monkeypatch.setitem(one_shot.CALLS[key], "gjk", answer)
    with pytest.raises(SystemExit, match="gjk"):
        one_shot.measure(1)


@pytest.mark.parametrize("hit", [True, False])
def test_scale_fails_for_wrong_answers(bench: None, hit: bool) -> None:
    import scale

    inputs = scale.Inputs(500)
    poses = inputs.field.somewhere(500)
    tree = inputs.tree()
    truth = tree.collide(poses)
    assert truth.any()
    assert not truth.all()
    boxes = scale.ours(inputs.ways()[scale.WAYS[2]](), 1)(poses)
    scale.agree(tree, poses, {"1": boxes, "2": boxes, scale.TREE: truth})
    wrong = boxes.copy()
    wrong[np.flatnonzero(truth != hit)[0]] = hit
    with pytest.raises(SystemExit, match="differs"):
        scale.agree(tree, poses, {"1": wrong, "2": wrong, scale.TREE: truth})
