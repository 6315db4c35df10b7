# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts among many obstacles of a message, judged one by one in rational arithmetic.

Outlines may be concave, obstacles have radii and poses, and their source has an inflation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import oracles
import pytest
import questions
from oracles import Body
from worlds import CAR, STEADY0, T0

from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Verdict

MARGINS = (0.0, 1e-9, 0.4, 10.0)
ANGLE = (2.0, 0.5, -2.0, 0.5, -2.0, -2.0, -1.0, -2.0, -1.0, -0.5, 2.0, -0.5)
COUNT, INFLATION = 25, 0.1
EARLY = Fraction(1, 10**9)  # m, more than the rounding of poses within 100 m


@dataclass
class Surroundings:
    """Obstacles in the check frame, as the server knows them and as bodies of the oracle."""

    snapshot: Snapshot
    bodies: list[Body]
    outline: tuple[float, ...]

    def is_within(self, pose: Pose, reach: Fraction) -> bool:
        """Whether the gap to an obstacle is at most `reach` [m]."""
        vehicle = oracles.posed(Body.of(np.reshape(self.outline, (-1, 2)).tolist()), pose)
        return any(
            oracles.squared_distance(vehicle.points, body.points)
            <= (reach + Fraction(body.radius)) ** 2
            for body in self.bodies
        )

    def assert_right(self, verdict: Verdict, pose: Pose, margin: float) -> None:
        """FREE and MARGIN have no tolerance; MARGIN and COLLISION may be early."""
        case = (verdict, tuple(pose), margin)
        required = Fraction(margin)
        assert verdict in (Verdict.FREE, Verdict.MARGIN, Verdict.COLLISION), case
        if verdict is Verdict.FREE:
            assert not self.is_within(pose, required), case
        elif verdict is Verdict.MARGIN:
            assert self.is_within(pose, required + EARLY), case
            assert not self.is_within(pose, Fraction(0)), case
        else:
            assert self.is_within(pose, EARLY), case


def surroundings(seed: int) -> Surroundings:
    """Points, segments, hulls of points and stars, which are concave."""
    rng = np.random.default_rng(seed)
    rings = []
    for i in range(COUNT):
        n = (1, 2, 3, 7, 10)[i % 5]
        if n == 10:
            angle = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
            length = np.where(np.arange(n) % 2, 0.5, rng.uniform(1.0, 3.0, n))
            rings.append(np.column_stack([np.cos(angle), np.sin(angle)]) * length[:, None])
        else:
            rings.append(rng.uniform(-1.5, 1.5, (n, 2)))
    kinds = np.array([len(ring) == 10 for ring in rings], np.uint8)
    radii = np.where(np.arange(COUNT) % 3, 0.0, 0.3)
    poses = np.column_stack([rng.uniform(-15, 15, (COUNT, 2)), rng.uniform(-4, 4, COUNT)])
    data = Obstacles(
        frame="odom", stamp=T0, ids=np.arange(COUNT), kinds=kinds,
        offsets=np.cumsum([0, *map(len, rings)]), xy=np.concatenate(rings).ravel(),
        radius=radii, poses=poses.ravel(),
    )  # fmt: skip
    outline = (CAR, ANGLE)[seed % 2]
    sources = (SourceConfig("obstacles", inflation=INFLATION),)
    world = World(Config(footprint=outline, sources=sources))
    world.receive_obstacles("obstacles", data, now=T0, steady=STEADY0)
    bodies = [
        oracles.posed(Body.of(points if kind else oracles.hull(points), radius), pose)
        for points, kind, radius, pose in zip(
            [[(x, y) for x, y in ring.tolist()] for ring in rings],
            kinds.tolist(),
            [Fraction(radius) + Fraction(INFLATION) for radius in radii.tolist()],
            poses.tolist(),
            strict=True,
        )
    ]
    snapshot = world.snapshot(now=T0, steady=STEADY0)
    assert snapshot.fault is None
    return Surroundings(snapshot, bodies, outline)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("seed", range(2))
def test_verdicts_of_a_batch(seed: int, margin: float) -> None:
    around = surroundings(seed)
    rng = np.random.default_rng(seed + 100)
    poses = np.column_stack([rng.uniform(-12, 12, (40, 2)), rng.uniform(-4, 4, 40)])
    if margin == 10.0:
        poses[::2, :2] += 30.0
    found = questions.check_poses(around.snapshot, poses.ravel(), margin=margin)
    assert {Verdict.FREE, Verdict.COLLISION} <= set(found.verdicts.tolist())
    for row, verdict in zip(poses.tolist(), found.verdicts.tolist(), strict=True):
        around.assert_right(Verdict(verdict), Pose(*row), margin)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("seed", range(4))
def test_verdicts_at_the_border(seed: int, margin: float) -> None:
    """Between a pose that is free and one that is not, down to neighbouring doubles."""
    around = surroundings(seed)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        yaw = 0.0 if rng.uniform() < 0.3 else rng.uniform(-4, 4)
        y = rng.uniform(-10.0, 10.0)
        free, hit = 60.0, rng.uniform(-10.0, 10.0)

        def said(x: float, y: float = y, yaw: float = yaw) -> Verdict:
            return questions.collide(around.snapshot, Pose(x, y, yaw), margin).verdict

        while (middle := (free + hit) / 2) not in (free, hit):
            if said(middle) is Verdict.FREE:
                free = middle
            else:
                hit = middle
        for x in (free, hit):
            around.assert_right(said(x), Pose(x, y, yaw), margin)
