# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""FREE leaves the kernel with a lower bound of at least the margin, whatever is asked.

``certificate_test.cpp`` tests what happens to an answer without such a bound.
"""

from __future__ import annotations

import numpy as np
import pytest
import questions
from worlds import FAR, Time, known

from gjk_collision import Path, Scene, Shape, _core, check_pairs
from gjk_collision.verdict import Verdict


@pytest.mark.requirement("V-16")
@pytest.mark.parametrize("seed", range(20))
def test_every_answer_with_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = [
        Shape.hull(rng.normal(0.0, 1.0, (n, 2)), radius)
        for n, radius in zip(
            rng.integers(1, 9, 40), rng.uniform(0.0, 0.3, 40).tolist(), strict=True
        )
    ]
    scene = Scene(shapes, np.c_[rng.uniform(-12, 12, (40, 2)), rng.uniform(-3, 3, 40)])
    poses = np.c_[rng.uniform(-12, 12, (300, 2)), rng.uniform(-3, 3, 300)]
    margin = float(rng.uniform(0.0, 0.5))
    free = 0
    for mode in ("distance", "witness"):
        found = scene.check(shapes[0], poses, margin=margin, mode=mode)
        is_free = found.verdicts == Verdict.FREE
        assert (found.lower_bounds[is_free] >= margin).all()
        free += is_free.sum()
    for way in (poses[:2], Path.arcs(poses[0], [(0.1, 2.0), (0.0, 1.0)])):
        path = scene.check_path(shapes[0], way, margin=margin)
        assert path.verdict is not Verdict.FREE or path.lower_bound >= margin
    pairs = check_pairs(scene, scene, margin=margin, mode="distance")
    assert pairs.lower_bounds is not None
    assert (pairs.lower_bounds[pairs.verdicts == Verdict.FREE] >= margin).all()
    assert free > 0 and not _core.internal_errors()


@pytest.mark.requirement("V-16")
def test_the_bound_of_the_nearest_is_not_below_that_of_the_verdict() -> None:
    """An exact gap one ulp above the margin: the bound of the list alone is rounded down."""
    for gap in (0.1, 0.3, 1.0, 3.0):
        margin = np.nextafter(gap, 0.0)
        time = Time()
        world = known(time, (0.0, 0.0), safety_margin=float(margin))
        near = questions.distance(world.snapshot(**time.both), FAR._replace(x=2.0 + gap))
        if near.verdict is Verdict.FREE:
            assert (near.lower_bounds >= margin).all()
