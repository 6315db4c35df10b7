# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Drives on the round grids of planners, where the clearance equals the margin up to rounding.

Every way of asking must give the same verdict, and none may be FREE where the exact clearance is
not greater than the margin. GJK_POSES sets how many such poses are tried (1 000 000 takes about
three minutes).
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Verdict

POSES = int(os.environ.get("GJK_POSES", "15000"))
BATCH = 64

# The grid of all doubles: one unit of the integers is 2^-GRID m.
GRID = 1074
NEAR = (1 << GRID) // 10**14


def exactly(value: float) -> int:
    """The number on the grid."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator << (GRID + 1 - denominator.bit_length())


@dataclass(frozen=True)
class Drive:
    """An axis-parallel ego, box or circle, that goes straight past or towards a box."""

    half: tuple[float, float]  # of the ego [m]; 0: a circle
    radius: float  # of the ego [m]
    low: tuple[float, float]  # of the wall [m], about its pose
    high: tuple[float, float]
    pose: tuple[float, float]  # of the wall [m]
    margin: float
    poses: NDArray[np.float64]

    @property
    def ego(self) -> Shape:
        if self.radius:
            return Shape.circle(self.radius)
        return Shape.box(2 * self.half[0], 2 * self.half[1])

    @property
    def wall(self) -> Shape:
        (a, b), (c, d) = self.low, self.high
        return Shape.polygon([(a, b), (c, b), (c, d), (a, d)])

    def is_free(self, pose: NDArray[np.float64]) -> tuple[bool, bool]:
        """Whether the exact clearance exceeds the margin, and whether it is near the margin."""
        gap = []
        for axis in (0, 1):
            at, half = exactly(pose[axis]), exactly(self.half[axis])
            low = exactly(self.pose[axis]) + exactly(self.low[axis])
            high = exactly(self.pose[axis]) + exactly(self.high[axis])
            gap.append(max(low - (at + half), (at - half) - high, 0))
        reach = exactly(self.radius) + exactly(self.margin)
        square = gap[0] ** 2 + gap[1] ** 2
        return square > reach**2, abs(math.isqrt(square) - reach) < NEAR


def draw(rng: np.random.Generator) -> Drive:
    step = float(rng.choice([0.05, 0.1, 0.125, 0.2, 0.25]))
    unit = float(rng.choice([0.05, 0.1]))
    margin = float(rng.choice([0.0, 0.05, 0.1, 0.3, 0.5]))
    circle = rng.random() < 0.4
    radius = float(rng.integers(2, 15)) * unit if circle else 0.0
    half = (0.0, 0.0) if circle else tuple((rng.integers(2, 30, 2) * unit / 2).tolist())
    low = tuple((rng.integers(10, 60, 2) * unit).tolist())
    high = tuple((low[k] + rng.integers(5, 80) * unit) for k in (0, 1))
    pose = (0.0, 0.0) if rng.random() < 0.5 else tuple((rng.integers(-40, 40, 2) * unit).tolist())
    axis = int(rng.integers(2))  # across the wall's side
    reach = (radius or half[axis]) + margin
    side = low[axis] + pose[axis] - reach
    poses = np.zeros((BATCH, 3))
    if rng.random() < 0.5:  # towards the wall, and into it
        steps = np.arange(BATCH) - BATCH // 2
        poses[:, axis] = [round(side / step) * step + k * step for k in steps]
        if rng.random() < 0.5:
            poses[:, axis] = side + steps * step
        poses[:, 1 - axis] = low[1 - axis] + pose[1 - axis] + unit
    else:  # along it, at the margin up to rounding
        poses[:, axis] = side + rng.integers(-3, 4, BATCH) * np.spacing(side)
        poses[:, 1 - axis] = low[1 - axis] + pose[1 - axis] + step * np.arange(BATCH)
    return Drive(half, radius, low, high, pose, margin, poses)


def scenes(drive: Drive, rng: np.random.Generator) -> list[Scene]:
    """The same obstacles in other orders, with others far away, and after an update."""
    place = (*drive.pose, 0.0)
    far = [(*rng.uniform(60, 90, 2), float(rng.uniform(-3, 3))) for _ in range(20)]
    others = [Shape.box(2.0, 1.0)] * len(far)
    elsewhere = Scene([drive.wall, *others], [(500.0, 500.0, 0.0), *far])
    return [
        Scene([drive.wall], [place]),
        Scene([*others, drive.wall], [*far, place]),
        elsewhere.updated([0], [place]),
    ]


@pytest.mark.requirement("V-15")
def test_every_way_of_asking_gives_the_same_verdict() -> None:
    seed = int(np.random.SeedSequence().entropy) % 2**32 if "CI" not in os.environ else 7
    rng = np.random.default_rng(seed)
    near = 0
    while near < POSES:
        drive = draw(rng)
        truth = [drive.is_free(pose) for pose in drive.poses]
        near += sum(is_near for _, is_near in truth)
        options = {"margin": drive.margin}
        for number, scene in enumerate(scenes(drive, rng)):
            asked = scene.check(drive.ego, drive.poses, **options).verdicts
            false = [
                n for n, (free, _) in enumerate(truth) if asked[n] == Verdict.FREE and not free
            ]
            assert not false, (seed, drive, number, false)
            ways = {
                "threads": scene.check(drive.ego, drive.poses, **options, threads=2).verdicts,
                "distance": scene.check(
                    drive.ego, drive.poses, **options, mode="distance"
                ).verdicts,
            }
            for way, verdicts in ways.items():
                assert np.array_equal(verdicts, asked), (way, seed, drive, number)
            alone = [scene.is_free(drive.ego, pose, **options) for pose in drive.poses.tolist()]
            assert alone == (asked == Verdict.FREE).tolist(), (seed, drive, number)
            stopped = scene.check(drive.ego, drive.poses, **options, stop_at_first=True)
            first = stopped.first_invalid_index
            bad = np.flatnonzero(asked != Verdict.FREE)
            assert first == (bad[0] if len(bad) else -1)
            assert np.array_equal(stopped.verdicts[: first + 1], asked[: first + 1])


def test_a_drive_into_a_wall() -> None:
    """A box that comes to its margin from a wall exactly, and drives on into the wall."""
    wall = Shape.polygon([(2, -3), (3, -3), (3, 3), (2, 3)])
    scene, ego = Scene([wall]), Shape.box(1.0, 0.6)
    for start in np.arange(-50, 10):
        poses = [(0.1 * start + 0.1 * k, 0.0, 0.0) for k in range(36 - start)]
        result = scene.check(ego, poses, margin=0.1)
        assert (result.verdicts[16 - start : -1] == Verdict.COLLISION).all(), start
        assert result.first_invalid_index in (14 - start, 15 - start)
