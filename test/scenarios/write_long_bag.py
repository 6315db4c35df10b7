# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Write a long bag, to measure with: ``python write_long_bag.py BAG [SECONDS]``.

At 20 Hz, 50 cars circle about a vehicle that stands: what docs/replay.md has its figures of.
"""

from __future__ import annotations

import argparse
from math import tau
from pathlib import Path

import numpy as np
from write_scenarios import CAR, EGO, at, steps

from gjk_collision.replay.write import BagWriter
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.frames.poses import Pose

CARS = 50


def write_long(path: Path, seconds: float = 600.0) -> None:
    random = np.random.default_rng(1)
    radius = random.uniform(8.0, 80.0, CARS)  # m
    begin, turn = random.uniform(0.0, tau, CARS), random.uniform(-0.2, 0.2, CARS)  # rad, rad/s
    with BagWriter(path) as writer:
        for k, t in enumerate(steps(seconds)):
            writer.transform(at(t), Pose())
            writer.footprint(at(t), EGO)
            angle = begin + turn * t
            poses = [radius * np.cos(angle), radius * np.sin(angle), angle]
            message = Obstacles(
                frame="odom",
                stamp=at(t),
                sequence=k + 1,
                ids=np.arange(CARS),
                offsets=np.arange(0, len(CAR) * CARS + 1, len(CAR)),
                xy=np.tile(np.ravel(CAR), CARS),
                poses=np.column_stack(poses).ravel(),
            )
            writer.obstacles(message)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bag", type=Path)
    parser.add_argument("seconds", type=float, nargs="?", default=600.0)
    given = parser.parse_args()
    write_long(given.bag, given.seconds)
