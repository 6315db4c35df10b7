# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many paths at once: their starts, ends and poses, and primitives moved to states.

The oracles are integrals of the velocity by quadrature, and complex numbers for poses.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import poses_along

from gjk_collision import Path, Scene, Shape, Verdict

Floats = NDArray[np.float64]

CAR = Shape.box(4.0, 1.8, center=(1.3, 0.0))
FAR = np.array([6.6e5, -4.0e6, 30.0])


def drawn(seed: int, states: int = 7, paths: int = 5) -> tuple[Floats, Floats]:
    """Return states (S, 3) and arcs (P, 3, 2), one of them a stop."""
    rng = np.random.default_rng(seed)
    arcs = np.stack([rng.normal(size=(paths, 3)) * 0.2, rng.normal(size=(paths, 3)) * 6], axis=-1)
    arcs[0, 1, 1] = 0.0
    return rng.normal(size=(states, 3)) * [20, 20, 3], arcs


def placed(poses: Floats, frames: Floats) -> Floats:
    """Return poses (..., 3) as seen from frames of a shape that can be broadcast to theirs."""
    z = poses[..., 0] + 1j * poses[..., 1]
    z = frames[..., 0] + 1j * frames[..., 1] + np.exp(1j * frames[..., 2]) * z
    return np.stack([z.real, z.imag, poses[..., 2] + frames[..., 2]], axis=-1)


@pytest.mark.parametrize("far", [0.0, 1.0])
def test_starts_ends_and_poses_of_arcs(far: float) -> None:
    states, arcs = drawn(1)
    states = states + far * FAR
    path = Path.arcs(states[:, None], arcs)
    shares = np.linspace(0.0, 1.0, 6)
    each = np.broadcast_to(arcs, (7, 5, 3, 2)).reshape(35, 3, 2)
    expected = poses_along(np.repeat(states, 5, axis=0), each, shares)
    close = {"rtol": 0.0, "atol": 2e-9 if far else 1e-12}
    np.testing.assert_array_equal(path.starts, np.broadcast_to(states[:, None], (7, 5, 3)))
    np.testing.assert_allclose(path.ends, expected[:, -1, -1].reshape(7, 5, 3), **close)
    lengths = np.abs(arcs[..., 1])
    np.testing.assert_allclose(path.length, np.broadcast_to(lengths.sum(-1), (7, 5)))
    before = np.cumsum(lengths, axis=-1) - lengths  # (P, 3)
    along = (before[..., None] + lengths[..., None] * shares).reshape(5, 18)
    along = np.minimum(along, lengths.sum(-1)[:, None])  # rounding
    found = path.at(np.broadcast_to(along, (7, 5, 18)))
    np.testing.assert_allclose(found, expected.reshape(7, 5, 18, 3), **close)


@pytest.mark.parametrize("seed", range(3))
def test_moved_primitives(seed: int) -> None:
    states, arcs = drawn(seed)
    starts = np.random.default_rng(seed).normal(size=(5, 3))
    fan, lines = Path.arcs(starts, arcs), Path.straight(np.cumsum(arcs @ np.ones((2, 3)), axis=-2))
    for path in (fan, lines):
        moved = path.moved(states)
        assert moved.shape == (7, 5)
        on = path.length[:, None] * [0.0, 0.3, 1.0]
        wanted = placed(path.at(on), states[:, None, None])
        found = moved.at(np.minimum(on, moved.length[..., None]))
        np.testing.assert_allclose(found, wanted, atol=1e-9)
        np.testing.assert_allclose(moved.ends, placed(path.ends, states[:, None]), atol=1e-9)
        np.testing.assert_allclose(moved.starts, placed(path.starts, states[:, None]), atol=1e-9)
        assert path.moved(states[0]).shape == (5,)
        assert path[2].moved(states).shape == (7,)
        assert path[2].moved(states[0]).shape == ()
        assert path[2].moved(states[3]) == path.moved(states[3])[2]
        assert path.moved(np.reshape(states[:6], (2, 3, 3))).shape == (2, 3, 5)
        assert pickle.loads(pickle.dumps(moved)) == moved
        np.testing.assert_allclose(moved.length, np.broadcast_to(path.length, (7, 5)))


def test_from_the_origin_a_primitive_starts_exactly_at_the_state() -> None:
    states, arcs = drawn(4)
    path = Path.arcs((0.0, 0.0, 0.0), arcs).moved(states)
    assert path == Path.arcs(states[:, None], arcs)


def test_checks_of_moved_primitives_are_those_of_each() -> None:
    states, arcs = drawn(5, states=30)
    boxes = np.random.default_rng(6).normal(size=(12, 3)) * [20, 20, 3]
    scene = Scene([Shape.box(3.0, 1.0)] * 12, boxes)
    fan = Path.arcs((0.0, 0.0, 0.0), arcs)
    found = scene.check_path(CAR, fan.moved(states), mode="collide")
    assert found.verdicts.shape == found.ids.shape == (30, 5)
    assert found.verdict is Verdict.COLLISION
    assert set(np.unique(found.verdicts)) == {Verdict.FREE, Verdict.COLLISION}
    for s, state in enumerate(states):
        for p, primitive in enumerate(fan):
            alone = scene.check_path(CAR, primitive.moved(state), mode="collide")
            assert alone.verdict == found.verdicts[s, p]
            assert alone.last_valid_fraction == found.last_valid_fractions[s, p]


def test_straight_paths_of_one_pose_and_turns_in_place() -> None:
    one = Path.straight(np.ones((4, 1, 3)))
    np.testing.assert_array_equal(one.at([0.0, 0.0]), np.ones((4, 2, 3)))
    np.testing.assert_array_equal(one.ends, one.starts)
    turn = Path.straight([[(0, 0, 0), (1, 0, 0), (1, 0, 2), (1, 2, 2)]] * 2)
    np.testing.assert_allclose(turn.at([0.5, 2.0])[1], [(0.5, 0, 0), (1, 1, 2)])
