# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses in lanes: batches of neighbouring poses against single poses, and against shapely."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from samples import outlines

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Verdict

ROLLOUTS, STEPS = 60, 56
ROUNDING = 1e-9  # m, of shapely's distances here

Floats = NDArray[np.float64]

ROBOT = np.array([(0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3)])


def rollouts(rng: np.random.Generator) -> Floats:
    """Return poses (ROLLOUTS, STEPS, 3) of a differential drive at 20 Hz."""
    speed = rng.uniform(0.5, 1.0, (ROLLOUTS, STEPS))
    heading = rng.uniform(-3, 3) + np.cumsum(rng.normal(0.0, 0.05, (ROLLOUTS, STEPS)), axis=1)
    along = [np.cumsum(0.05 * speed * f(heading), axis=1) for f in (np.cos, np.sin)]
    return np.stack([*along, heading], axis=-1)


def turned(points: Floats, pose: Floats) -> Floats:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.asarray(pose[:2] + points @ np.array([[c, s], [-s, c]]))


def obstacles(rng: np.random.Generator) -> list[tuple[Floats, float]]:
    """Return points and radii: boxes, circles, capsules, a sliver and a long wall."""
    found: list[tuple[Floats, float]] = []
    for k in range(25):
        at = rng.uniform((-2, -2, -3), (2, 2, 3))
        at[:2] *= 1.0 + 0.8 / np.hypot(*at[:2])  # beside the first poses
        if k % 3 == 0:
            found.append((turned(ROBOT * rng.uniform(0.1, 0.6), at), 0.0))
        elif k % 3 == 1:
            found.append((at[None, :2], 0.1))
        else:
            found.append((turned(np.array([(-0.2, 0.0), (0.2, 0.0)]), at), 0.05))
    found.append((turned(np.array([(-2.0, 0.0), (2.0, -1e-7), (2.0, 1e-7)]), at), 0.0))
    wall = np.array([(-300.0, 0.0), (300.0, 0.0), (300.0, 0.1), (-300.0, 0.1)])
    found.append((turned(wall, np.array([0.0, 1.5, rng.uniform(-0.2, 0.2)])), 0.0))
    return found


@pytest.mark.parametrize("margin", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(4))
def test_batches_against_single_poses_and_shapely(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    found = obstacles(rng)
    scene = Scene([Shape.hull(*each) for each in found])
    robot = Shape.polygon(ROBOT)
    poses = rollouts(rng)
    result = scene.check(robot, poses, margin=margin)
    flat = poses.reshape(-1, 3)
    verdicts, nearest = result.verdicts.reshape(-1), result.indices.reshape(-1)
    ego = outlines(ROBOT, flat)
    gaps = np.array(
        [shapely.distance(ego, shapely.MultiPoint(p).convex_hull) - r for p, r in found]
    )
    least = gaps.min(axis=0)
    free = verdicts == Verdict.FREE
    assert (least[free] > margin - ROUNDING).all()
    assert (least[~free] <= margin + ROUNDING).all()
    assert 0 < free.sum() < free.size
    collides = verdicts == Verdict.COLLISION
    assert (gaps[nearest[collides], np.flatnonzero(collides)] <= ROUNDING).all()
    assert (nearest[free] == -1).all()
    for n in rng.choice(len(flat), 300, replace=False):
        alone = scene.check(robot, flat[n], margin=margin)
        assert (alone.verdicts, alone.indices) == (verdicts[n], nearest[n])


@pytest.mark.parametrize("length", [1, 3, 8, 31, 56, 150, 1000])
def test_first_contacts_are_those_of_all_poses(length: int) -> None:
    """stop_at_first ends each rollout at the first pose that is not FREE."""
    rng = np.random.default_rng(length)
    scene = Scene([Shape.hull(*each) for each in obstacles(rng)])
    robot, poses = Shape.polygon(ROBOT), rollouts(rng).reshape(-1, 3)
    poses = poses[: len(poses) // length * length].reshape(-1, length, 3)
    every = scene.check(robot, poses)
    for threads in (1, 2):
        first = scene.check(robot, poses, stop_at_first=True, threads=threads)
        hit = every.verdicts != Verdict.FREE
        stopped = np.cumsum(hit, axis=1) - hit > 0
        assert (first.verdicts[~stopped] == every.verdicts[~stopped]).all()
        assert (first.indices[~stopped] == every.indices[~stopped]).all()
        assert (first.verdicts[stopped] == Verdict.UNKNOWN).all()
