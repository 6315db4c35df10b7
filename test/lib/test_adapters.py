# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles out of messages of other packages, where their numbers are rounded."""

from __future__ import annotations

import random
from fractions import Fraction
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest

from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.config import Config

COSTMAP = CONVERTERS["costmap_converter_msgs/msg/ObstacleArrayMsg"]


def costmap(points: list[tuple[float, float]], radius: float) -> Any:
    header = Message(frame_id="odom", stamp=Message(sec=1, nanosec=0))
    zero = Message(x=0.0, y=0.0, z=0.0)
    obstacle = Message(
        id=1,
        header=header,
        polygon=Message(points=[Message(x=x, y=y, z=0.0) for x, y in points]),
        radius=radius,
        velocities=Message(twist=Message(linear=zero, angular=zero)),
    )
    return Message(header=header, obstacles=[obstacle])


@pytest.mark.requirement("G-10")
def test_outlines_about_their_centre_hold_the_points_of_the_message() -> None:
    """The difference of two float32 is no double where their magnitudes are far apart."""
    rng = random.Random(3)
    inexact = 0

    def number() -> float:
        magnitude = 10.0 ** rng.choice((rng.uniform(-30, -6), rng.uniform(0, 4)))
        return float(np.float32(rng.choice((-1, 1)) * magnitude))

    for _ in range(500):
        points = [(number(), number()) for _ in range(rng.randrange(1, 9))]
        radius = rng.choice((0.0, 0.5))
        found = COSTMAP(costmap(points, radius), Config())
        centre = [Fraction(v) for v in found.poses[:2].tolist()]
        room = Fraction(float(found.radius[0])) - Fraction(radius)
        assert 0 <= room < 1e-11
        for point, stored in zip(points, found.xy.reshape(-1, 2).tolist(), strict=True):
            off = [Fraction(point[k]) - centre[k] - Fraction(stored[k]) for k in (0, 1)]
            inexact += any(off)
            assert off[0] ** 2 + off[1] ** 2 <= room**2
    assert inexact > 500
