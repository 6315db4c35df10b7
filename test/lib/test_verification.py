# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The second opinion agrees with the kernel where it is right, and objects where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from test_world import CAR, STEADY0, T0

from gjk_collision import queries
from gjk_collision.config import Config, SourceConfig
from gjk_collision.frames import Pose
from gjk_collision.obstacles import Obstacles
from gjk_collision.snapshot import Snapshot
from gjk_collision.verdict import Verdict
from gjk_collision.verification import objection
from gjk_collision.world import World

MARGIN = 0.4


def surroundings(rng: np.random.Generator, count: int) -> Obstacles:
    """Points, segments, heaps of points to be hulled, and stars, posed, some with a radius."""
    rings, kinds = [], []
    for i in range(count):
        n = (1, 2, 3, 7, 10)[i % 5]
        if n == 10:
            angle = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
            length = np.where(np.arange(n) % 2, 0.5, rng.uniform(1.0, 3.0, n))
            rings.append(np.column_stack([np.cos(angle), np.sin(angle)]) * length[:, None])
        else:
            rings.append(rng.uniform(-1.5, 1.5, (n, 2)))
        kinds.append(int(n == 10))
    poses = np.column_stack([rng.uniform(-15, 15, (count, 2)), rng.uniform(-4, 4, count)])
    return Obstacles(
        frame="odom",
        stamp=T0,
        ids=np.arange(count),
        kinds=np.array(kinds),
        offsets=np.cumsum([0, *map(len, rings)]),
        xy=np.concatenate(rings).ravel(),
        radius=np.where(np.arange(count) % 3, 0.0, 0.3),
        poses=poses.ravel(),
    )


def known(data: Obstacles, footprint: tuple[float, ...] = CAR) -> Snapshot:
    sources = (SourceConfig("obstacles", inflation=0.1),)
    world = World(Config(footprint=footprint, sources=sources))
    world.receive_obstacles("obstacles", data, now=T0, steady=STEADY0)
    found = world.snapshot(now=T0, steady=STEADY0)
    assert found.fault is None
    return found


@pytest.mark.requirement("V-11")
@pytest.mark.parametrize("seed", range(2))
def test_both_opinions_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    angle = (2.0, 0.5, -2.0, 0.5, -2.0, -2.0, -1.0, -2.0, -1.0, -0.5, 2.0, -0.5)
    snapshot = known(surroundings(rng, 25), (CAR, angle)[seed % 2])
    poses = np.column_stack([rng.uniform(-12, 12, (60, 2)), rng.uniform(-4, 4, 60)])
    found = queries.check_poses(snapshot, poses.ravel(), margin=MARGIN)
    assert {1, 2, 3} <= set(found.verdicts.tolist())
    for row, verdict in zip(poses.tolist(), found.verdicts.tolist(), strict=True):
        assert objection(snapshot, Pose(*row), Verdict(verdict), MARGIN) == "", row
        for other in (Verdict.FREE, Verdict.COLLISION, Verdict.MARGIN):
            if other != verdict:
                assert "the gap is" in objection(snapshot, Pose(*row), other, MARGIN)
        assert objection(snapshot, Pose(*row), Verdict.UNKNOWN, MARGIN) == ""


def test_nothing_around() -> None:
    empty = Obstacles(frame="odom", stamp=T0)
    assert objection(known(empty), Pose(), Verdict.FREE, 0.0) == ""
    assert objection(known(empty), Pose(), Verdict.COLLISION, 0.0) != ""


def test_one_inside_the_other() -> None:
    ring = np.array([9.0, 9.0, -9.0, 9.0, -9.0, -9.0, 9.0, -9.0])
    data = Obstacles(frame="odom", stamp=T0, ids=np.array([4]), offsets=np.array([0, 4]), xy=ring)
    assert objection(known(data), Pose(), Verdict.FREE, 0.0) != ""
    assert objection(known(data), Pose(), Verdict.COLLISION, 0.0) == ""
