# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of many obstacles: one shape at many poses, and scenes that several threads make."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gjk_collision import InputError, Scene, Shape, Status

BOX = Shape.box(4.0, 2.0)
CAR = Shape.box(4.8, 1.8)


def poses(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    half = 4.0 * count**0.5
    return rng.uniform((-half, -half, -3.0), (half, half, 3.0), (count, 3))


def assert_same(one: Scene, other: Scene) -> None:
    assert len(one) == len(other)
    assert np.array_equal(one.poses, other.poses)
    for mode in ("collide", "distance"):
        at = poses(len(one), 2)
        found, expected = other.check(CAR, at, mode=mode), one.check(CAR, at, mode=mode)
        assert np.array_equal(found.verdicts, expected.verdicts)
        assert np.array_equal(found.nearest_ids, expected.nearest_ids)
        assert np.array_equal(found.distances, expected.distances, equal_nan=True)


def test_one_shape_at_many_poses_is_a_list_of_it() -> None:
    """Otherwise obstacles are missing, or have another shape or id."""
    at = poses(3000, 1)
    ids = np.arange(3000) * 7
    velocities = np.tile((1.0, 0.0, 0.1), (3000, 1))
    one = Scene(BOX, at, ids=ids, velocities=velocities)
    assert_same(Scene([BOX] * 3000, at, ids=ids, velocities=velocities), one)
    assert one.shapes[2999] == BOX
    assert len(Scene(BOX, np.empty((0, 3)))) == 0


def test_one_shape_needs_poses() -> None:
    """Otherwise a list that was forgotten is a scene of one obstacle."""
    with pytest.raises(InputError) as caught:
        Scene(BOX)
    assert (caught.value.status, caught.value.argument) == (Status.INVALID_INPUT, "shapes")


def test_arrays_for_one_shape_must_fit_its_poses() -> None:
    with pytest.raises(InputError) as caught:
        Scene(BOX, poses(5, 1), ids=[1, 2])
    assert (caught.value.status, caught.value.argument) == (Status.ARRAY_MISMATCH, "ids")
    with pytest.raises(InputError) as caught:
        Scene(BOX, poses(5, 1), velocities=np.zeros((4, 3)))
    assert caught.value.argument == "velocities"


@pytest.mark.parametrize("threads", [0, 2, 5])
def test_threads_make_the_same_scene(threads: int) -> None:
    """Otherwise answers depend on the number of processors."""
    count = 40_000
    at = poses(count, 1)
    sizes = np.random.default_rng(3).uniform(0.2, 2.0, (count, 1, 2))
    xy = sizes * ((-1, -1), (1, -1), (1, 1), (-1, 1))
    offsets = np.arange(0, 4 * count + 1, 4)
    one = Scene.from_arrays(offsets, xy.reshape(-1, 2), poses=at)
    several = Scene.from_arrays(offsets, xy.reshape(-1, 2), poses=at, threads=threads)
    assert_same(one, several)
    assert_same(Scene(BOX, at), Scene([BOX] * count, at, threads=threads))


@pytest.mark.parametrize("threads", [-1, 1.5, "2"])
def test_a_wrong_number_of_threads_is_refused(threads: object) -> None:
    with pytest.raises(InputError) as caught:
        Scene([BOX], threads=threads)  # type: ignore[arg-type]
    assert caught.value.argument == "threads"


def test_memory_of_an_obstacle() -> None:
    """Otherwise a scene of a million boxes needs more memory than documented."""
    count = 20_000
    at = poses(count, 1)
    assert Scene(BOX, at).nbytes <= 160 * count
    sizes = np.random.default_rng(3).uniform(0.2, 2.0, (count, 1, 2))
    xy = (sizes * ((-1, -1), (1, -1), (1, 1), (-1, 1))).reshape(-1, 2)
    boxes = Scene.from_arrays(np.arange(0, 4 * count + 1, 4), xy, poses=at)
    assert boxes.nbytes <= 250 * count
    assert pickle.loads(pickle.dumps(boxes)).nbytes <= 250 * count
    assert pickle.loads(pickle.dumps(Scene(BOX, at))).nbytes <= 160 * count
