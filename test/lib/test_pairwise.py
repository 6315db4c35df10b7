# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Two scenes pair by pair: the same as the pairs alone."""

from __future__ import annotations

import numpy as np
import pytest
from traffic import traffic

from gjk_collision import Scene, Shape
from gjk_collision.errors import InputError
from gjk_collision.pairs import check_pairs
from gjk_collision.verdict import Status


def test_listed_pairs() -> None:
    one, two = traffic(3, 9), traffic(4, 11)
    a, b = Scene(one.shapes, one.poses), Scene(two.shapes, two.poses)
    everything = check_pairs(a, b, mode="distance")
    listed = np.random.default_rng(5).integers(0, 9, (50, 2))
    some = check_pairs(a, b, listed, mode="distance")
    rows = listed[:, 0] * 11 + listed[:, 1]
    assert np.array_equal(some.verdicts, everything.verdicts[rows])
    assert some.distances is not None and everything.distances is not None
    assert np.array_equal(some.distances, everything.distances[rows])
    assert len(check_pairs(a, b, np.empty((0, 2), dtype=int)).verdicts) == 0
    assert len(check_pairs(a, Scene([])).verdicts) == 0


@pytest.mark.parametrize(
    ("pairs", "status", "index"),
    [
        ([(0, 2)], Status.INVALID_INPUT, 0),
        ([(0, 0), (-1, 0)], Status.INVALID_INPUT, 1),
        ([(0.0, 0.0)], Status.INVALID_INPUT, None),
        ([0, 0], Status.ARRAY_MISMATCH, None),
    ],
)
def test_bad_pairs_are_refused(pairs: object, status: Status, index: int | None) -> None:
    scene = Scene([Shape.circle(1.0)] * 2)
    with pytest.raises(InputError) as refused:
        check_pairs(scene, scene, pairs)  # type: ignore[arg-type]
    assert (refused.value.status, refused.value.argument) == (status, "pairs")
    assert refused.value.index == index
