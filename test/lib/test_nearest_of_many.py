# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The nearest obstacles at many poses are those at each pose."""

from __future__ import annotations

import numpy as np
import pytest
from cases import FIRST_SEED

from gjk_collision import InputError, Scene, Shape, Status

FIELDS = (
    "ids", "indices", "distances", "lower_bounds", "witness_shape", "witness_obstacle",
    "directions", "statuses",
)  # fmt: skip
CAR = Shape.compound([Shape.box(3.0, 1.0), Shape.circle(0.8, (1.0, 0.5))])


def scene_of(rng: np.random.Generator, count: int = 60) -> Scene:
    shapes = [Shape.hull(rng.uniform(-1, 1, (5, 2)), 0.1 * (k % 2)) for k in range(count)]
    return Scene(
        shapes,
        np.column_stack([rng.uniform(-20, 20, (count, 2)), rng.uniform(-3, 3, count)]),
        ids=np.arange(count) * 3 + 100,
        velocities=rng.uniform(-1, 1, (count, 3)),
        horizon=5.0,
    )


@pytest.mark.parametrize(("k", "limit"), [(1, np.inf), (5, 6.0), (70, np.inf)])
@pytest.mark.parametrize("timed", [False, True])
def test_rows_are_the_answers_at_each_pose(k: int, limit: float, timed: bool) -> None:
    rng = np.random.default_rng(FIRST_SEED)
    scene = scene_of(rng)
    poses = np.concatenate([rng.uniform(-25, 25, (40, 5, 2)), rng.uniform(-9, 9, (40, 5, 1))], -1)
    times = rng.uniform(0, 5, (40, 5)) if timed else None
    found = scene.nearest(CAR, poses, k, limit, time=times, threads=3)
    fewer = 0
    for at in np.ndindex(40, 5):
        time = None if times is None else float(times[at])
        one = scene.nearest(CAR, poses[at], k, limit, time=time)
        count = len(one.ids)
        for field in FIELDS:
            row = getattr(found, field)[at]
            assert row.shape[0] == k
            assert (row[:count] == getattr(one, field)).all(), (at, field)
        assert (found.ids[at][count:] == -1).all() and (found.indices[at][count:] == -1).all()
        assert np.isnan(found.distances[at][count:]).all()
        assert np.isnan(found.lower_bounds[at][count:]).all()
        assert (found.statuses[at][count:] == Status.UNDEFINED).all()
        fewer += count < k
    assert (fewer > 0) == (k > 1)


def test_one_time_and_times_of_trajectories() -> None:
    rng = np.random.default_rng(FIRST_SEED)
    scene, poses = scene_of(rng), rng.uniform(-9, 9, (4, 3, 3))
    same = scene.nearest(CAR, poses, 2, time=np.full((4, 3), 1.5)).distances
    assert (scene.nearest(CAR, poses, 2, time=1.5).distances == same).all()
    steps = np.array([0.0, 1.0, 2.0])
    each = scene.nearest(CAR, poses, 2, time=np.tile(steps, (4, 1))).distances
    assert (scene.nearest(CAR, poses, 2, time=steps).distances == each).all()
    assert Scene([]).nearest(CAR, poses).ids.tolist() == [[[-1]] * 3] * 4


def test_a_result_of_many_empty_entries_is_refused() -> None:
    """100 poses with 100 000 entries each took 848 MB for two obstacles."""
    scene = Scene([Shape.circle(1.0)] * 2, np.zeros((2, 3)))
    poses = np.zeros((100, 3))
    for k in (10_001, 100_000, 10**9):
        for query in (scene.nearest, lambda car, at, k: scene.gradient(car, at, k=k)):
            with pytest.raises(InputError, match="must be at most 10000") as caught:
                query(CAR, poses, k)
            assert (caught.value.status, caught.value.argument) == (Status.LIMIT_EXCEEDED, "k")
    assert scene.nearest(CAR, poses, 10_000).ids.shape == (100, 10_000)
    assert scene.nearest(CAR, np.zeros((20_000, 3)), 100).ids.shape == (20_000, 100)
    assert scene.nearest(CAR, (0.0, 0.0, 0.0), 10**9).ids.shape == (2,)
    many = Scene([Shape.circle(1.0)] * 2_000, np.zeros((2_000, 3)))
    assert many.nearest(CAR, np.zeros((1_000, 3)), 2_000).ids.shape == (1_000, 2_000)
