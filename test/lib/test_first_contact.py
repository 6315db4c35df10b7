# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Times of first contact of many trajectories, against dense samples with shapely's distances."""

from __future__ import annotations

import os

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from samples import at_times, convex, outlines

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Verdict

CASES = int(os.environ.get("GJK_CASES", "2000"))
STEPS = 4  # poses of a trajectory
SAMPLES = 33  # of a segment
TOLERANCE = 0.005
ROUNDING = 1e-9  # m, of shapely's distances here
CAR = Shape.box(4.0, 2.0)
POINT = Shape.point((0.0, 0.0))

Floats = NDArray[np.float64]


def distances(
    at: Floats, ego: Floats, poses: Floats, times: Floats, other: Floats, start: Floats, v: Floats
) -> Floats:
    """Return the gaps (K, S) of an ego on its trajectories and an obstacle at constant speed."""
    moved = outlines(other, start + at[..., None] * v)
    return np.asarray(shapely.distance(outlines(ego, at_times(poses, times, at)), moved))


def test_against_dense_samples() -> None:
    """No contact is later than a sample that touches, or earlier than the tolerance allows."""
    rng = np.random.default_rng(16)
    group = 500
    hits = 0
    for _ in range(-(-CASES // group)):
        ego, other = convex(rng), convex(rng)
        start, velocity = rng.normal(size=3) * [4, 4, 3], rng.normal(size=3) * [2, 2, 1]
        scene = Scene([Shape.polygon(other)], [start], velocities=[velocity], horizon=20.0)
        poses = np.cumsum(rng.normal(size=(group, STEPS, 3)) * [3, 3, 2], axis=1)
        times = np.cumsum(rng.uniform(0.1, 2.0, STEPS)) - 0.1
        times -= min(times[0], 0.0)
        found = scene.first_contact(Shape.polygon(ego), poses, times, tolerance=TOLERANCE)

        samples = np.linspace(times[:-1], times[1:], SAMPLES).T.ravel()
        way = ego, poses, times, other, start, velocity
        least = distances(np.broadcast_to(samples, (group, len(samples))), *way)
        touches = least == 0.0
        first = np.where(touches.any(axis=1), samples[touches.argmax(axis=1)], np.inf)
        is_hit = found.verdicts == Verdict.COLLISION
        assert is_hit[touches.any(axis=1)].all()
        assert set(found.verdicts) <= {Verdict.COLLISION, Verdict.FREE}
        assert (np.isnan(found.times) == ~is_hit).all()
        assert (found.times[is_hit] <= first[is_hit] + 1e-9).all(), "late"
        early = distances(np.where(is_hit, found.times, times[0])[:, None], *way)[:, 0]
        assert (early[is_hit] <= TOLERANCE + ROUNDING).all(), "early"
        free = ~is_hit
        assert (found.lower_bounds[free] <= least[free].min(axis=1) + ROUNDING).all()
        assert (found.lower_bounds[free] >= 0.0).all()
        assert (found.distances[free] <= least[free].min(axis=1) + TOLERANCE + ROUNDING).all()
        assert (found.distances[is_hit] <= TOLERANCE).all()
        hits += int(is_hit.sum())
    assert 0.1 * CASES < hits < 0.9 * CASES, "both answers occur"


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
