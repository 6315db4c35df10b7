# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Grids and objects with a rotation, and a vehicle that touches them to within some ulp.

The oracle is rational: a quaternion of doubles is a rotation with a rational sine and cosine, also
if its length is not 1.
"""

import random
from fractions import Fraction
from math import cos, inf, nextafter, pi, sin
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest
import questions

from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Verdict

NS = 1_000_000_000
HEADER = Message(frame_id="odom", stamp=Message(sec=100, nanosec=0))
CAR = (1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0)
Point = tuple[Fraction, Fraction]


def placed(rng: random.Random) -> tuple[Any, Any]:
    """A geometry_msgs/Pose, and the function that moves points with it."""
    x, y = (rng.uniform(-5.0, 5.0) * rng.choice((1, 1000)) for _ in "xy")
    yaw, length = rng.choice((pi / 2, rng.uniform(-pi, pi))), rng.choice((1.0, 1.0003, 0.9997))
    z, w = sin(yaw / 2) * length, cos(yaw / 2) * length
    pose = Message(position=Message(x=x, y=y, z=0.0), orientation=Message(x=0.0, y=0.0, z=z, w=w))
    qz, qw = Fraction(z), Fraction(w)
    norm = qz * qz + qw * qw
    c, s = (qw * qw - qz * qz) / norm, 2 * qz * qw / norm

    def move(u: Fraction, v: Fraction) -> Point:
        return Fraction(x) + c * u - s * v, Fraction(y) + s * u + c * v

    return pose, move


def grid(rng: random.Random) -> tuple[str, Any, list[Point]]:
    pose, move = placed(rng)
    rows, columns = rng.randrange(1, 6), rng.randrange(1, 6)
    cells = np.array([rng.choice((0, 100)) for _ in range(rows * columns)], np.int8)
    cells[rng.randrange(len(cells))] = 100
    size = float(np.float32(rng.choice((0.05, 0.25, 1.0))))
    info = Message(resolution=size, width=columns, height=rows, origin=pose)
    corners = [
        move((i % columns + u) * Fraction(size), (i // columns + v) * Fraction(size))
        for i in np.flatnonzero(cells).tolist()
        for u in (0, 1)
        for v in (0, 1)
    ]
    message = Message(header=HEADER, info=info, data=cells)
    return "nav_msgs/msg/OccupancyGrid", message, corners


def box(rng: random.Random) -> tuple[str, Any, list[Point]]:
    pose, move = placed(rng)
    length, width = rng.uniform(0.1, 5.0), rng.uniform(0.1, 2.0)
    zero = Message(x=0.0, y=0.0, z=0.0)
    kinematics = Message(
        pose_with_covariance=Message(pose=pose), orientation_availability=rng.choice((1, 2)),
        twist_with_covariance=Message(twist=Message(linear=zero, angular=zero)), has_twist=False,
    )  # fmt: skip
    shape = Message(type=0, dimensions=Message(x=length, y=width, z=1.0))
    message = Message(header=HEADER, objects=[Message(kinematics=kinematics, shape=shape)])
    half = Fraction(length) / 2, Fraction(width) / 2
    corners = [move(u * half[0], v * half[1]) for u in (-1, 1) for v in (-1, 1)]
    return "autoware_perception_msgs/msg/DetectedObjects", message, corners


@pytest.mark.requirement("G-10")
@pytest.mark.parametrize("make", [grid, box])
@pytest.mark.parametrize("seed", range(3))
def test_contact_is_never_free(make: Any, seed: int) -> None:
    """The vehicle is to the right of the corner that is farthest to the right."""
    rng = random.Random(seed)
    free = touching = 0
    for n in range(60):
        kind, message, corners = make(rng)
        source = SourceConfig("obstacles", type=kind)
        config = Config(footprint=CAR, sources=(source,))
        world = World(config)
        data = CONVERTERS[kind](message, config, source)
        world.receive_obstacles("obstacles", data, now=100 * NS, steady=0)
        snapshot = world.snapshot(now=100 * NS, steady=0)
        right, y = max(corners)
        x = float(right) + 1.0
        for _ in range(4):
            x = nextafter(x, -inf)
        for k in range(10):
            gap = Fraction(x) - 1 - right
            found = questions.collide(snapshot, Pose(x, float(y), 0.0)).verdict
            assert found in (Verdict.FREE, Verdict.COLLISION)
            assert found is Verdict.COLLISION or gap > 0, (n, k, x, float(gap), message)
            touching += gap <= 0
            x = nextafter(x, inf)
        clear = Pose(float(right) + 1.0 + 1e-9 * (1.0 + abs(float(right))), float(y), 0.0)
        free += questions.collide(snapshot, clear).verdict is Verdict.FREE
    assert free == 60
    assert touching > 100
