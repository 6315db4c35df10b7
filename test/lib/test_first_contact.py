# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Times of first contact of many trajectories: those of the paths one by one.

test_path_durations.py compares paths with dense samples.
"""

from __future__ import annotations

import numpy as np
import pytest

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Verdict

CAR = Shape.box(4.0, 2.0)
POINT = Shape.point((0.0, 0.0))


def test_as_each_path_alone() -> None:
    rng = np.random.default_rng(17)
    n = 30
    moves = {"velocities": rng.normal(size=(n, 3)), "horizon": 2.5}
    scene = Scene([CAR] * n, rng.uniform(-30, 30, (n, 3)), ids=np.arange(n) + 100, **moves)
    poses = np.cumsum(rng.normal(size=(200, 5, 3)) * [4, 4, 1], axis=1)
    for times in (np.arange(5.0), np.cumsum(rng.uniform(0.01, 1.2, (200, 5)), axis=1)):
        alone = [
            scene.check_path(CAR, each, own)
            for each, own in zip(poses, np.broadcast_to(times, (200, 5)), strict=True)
        ]
        for threads in (1, 2):
            found = scene.first_contact(CAR, poses, times, threads=threads)
            assert {Verdict.COLLISION, Verdict.UNKNOWN} <= set(found.verdicts)
            for many, one in (
                ("verdicts", "verdict"),
                ("statuses", "status"),
                ("times", "first_collision_time"),
                ("distances", "distance"),
                ("lower_bounds", "lower_bound"),
                ("ids", "id"),
            ):
                expected = [getattr(each, one) for each in alone]
                np.testing.assert_array_equal(getattr(found, many), expected)


def test_seconds_since_1970() -> None:
    stamp = 1.8e9
    scene = Scene([POINT], [(10.0, 0.0, 0.0)], stamps=[stamp], velocities=[(-1, 0, 0)], horizon=20)
    found = scene.first_contact(CAR, [[(0, 0, 0), (0, 0, 0)]], [stamp, stamp + 10.0])
    assert found.times[0] == pytest.approx(stamp + 8.0, abs=0.01)
    with pytest.raises(TypeError, match="verdicts"):
        bool(found)


def test_without_obstacles_and_at_one_time() -> None:
    empty = Scene([]).first_contact(CAR, [[(0, 0, 0)]], [0.0])
    assert empty.verdicts[0] == Verdict.FREE and empty.distances[0] == np.inf
    assert empty.ids[0] == -1 and np.isnan(empty.times[0])
    still = Scene([POINT], [(1.0, 0.0, 0.0)], velocities=[(0.0, 0.0, 0.0)])
    hit = still.first_contact(CAR, [[(0, 0, 0)], [(9, 0, 0)]], [3.0])
    assert list(hit.verdicts) == [Verdict.COLLISION, Verdict.FREE]
    assert hit.times[0] == 3.0 and hit.distances[1] == pytest.approx(6.0)
