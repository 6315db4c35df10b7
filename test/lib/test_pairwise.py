# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Two scenes pair by pair: the same as the pairs alone."""

from __future__ import annotations

import numpy as np
import pytest
from traffic import traffic

from gjk_collision import Scene, closest, collide
from gjk_collision.pairs import check_pairs
from gjk_collision.verdict import Status, Verdict


def test_as_the_pairs_alone() -> None:
    """Each field, in UTM coordinates."""
    middle = (660000.0, 4000000.0)
    one, two = traffic(1, 40, middle), traffic(2, 30, middle)
    a, b = Scene(one.shapes, one.poses), Scene(two.shapes, two.poses)
    found = check_pairs(a, b, margin=0.5, mode="witness")
    quick = check_pairs(a, b, margin=0.5)
    assert quick.distances is None and quick.witnesses is None
    assert list(quick.verdicts) == list(found.verdicts)
    assert np.array_equal(check_pairs(a, b, margin=0.5, threads=3).verdicts, quick.verdicts)
    assert found.distances is not None and found.directions is not None
    assert found.witnesses is not None and found.lower_bounds is not None
    assert (found.statuses == Status.SUCCESS).all()
    assert len(found.verdicts) == 40 * 30
    hits = 0
    for n, verdict in enumerate(found.verdicts):
        i, j = divmod(n, 30)
        pair = one.shapes[i], two.shapes[j], one.poses[i], two.poses[j]
        hits += collide(*pair)
        assert (verdict == Verdict.COLLISION) == collide(*pair)
        alone = closest(*pair)
        assert found.distances[n] == pytest.approx(alone.distance, abs=1e-6, rel=1e-8)
        assert found.lower_bounds[n] <= found.distances[n]
        apart = found.witnesses[n, 2:] - found.witnesses[n, :2]
        assert apart == pytest.approx(found.distances[n] * found.directions[n], abs=1e-6)
    assert hits > 5


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
