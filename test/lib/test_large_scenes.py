# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of many obstacles: one shape at many poses, and scenes that several threads make."""

from __future__ import annotations

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
        assert np.array_equal(found.ids, expected.ids)
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
