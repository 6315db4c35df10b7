# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The traffic scene of the demo as a function of time: a lorry has broken down in the ego lane.

Right-hand traffic on a two-lane road along +x of `odom`; y = 0 is the line between the lanes, the
ego lane lies below it. The ego car stands behind the lorry, whose driver walks beside it. On the
other lane road works leave a gap, and the oncoming cars wait there: the way out is to the left,
past the lorry, and back in before the barrier. Behind the rails move a bus, a cyclist and people.

Units: metres, radians, seconds since the start of the bag. No obstacle here is concave.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

DURATION = 20.0  # s
PERIOD = 0.1  # s, of footprint and obstacles

BASE_FRAME = "base_link"
CHECK_FRAME = "odom"

LANE_WIDTH = 3.5  # m
ROAD_X = (-15.0, 75.0)  # m, what is drawn and fenced

# Ego: base_link under the middle of the rear axle, corners cut as a real bumper's are.
FOOTPRINT = (
    (3.80, -0.55), (3.80, 0.55), (3.45, 0.93), (-0.85, 0.93),
    (-1.05, 0.75), (-1.05, -0.75), (-0.85, -0.93), (3.45, -0.93),
)  # fmt: skip
TURNING_RADIUS = 6.0  # m, of the rear axle's middle

Pose = tuple[float, float, float]
START: Pose = (0.0, -1.75, 0.0)
GOAL: Pose = (46.0, -1.75, 0.0)

CAR = ((2.2, -0.6), (2.2, 0.6), (1.8, 0.9), (-2.0, 0.9), (-2.2, 0.7), (-2.2, -0.7), (-2.0, -0.9),
       (1.8, -0.9))  # fmt: skip
LORRY = ((4.6, -0.95), (4.6, 0.95), (4.3, 1.25), (-4.5, 1.25), (-4.5, -1.25), (4.3, -1.25))
TRACTOR = ((1.9, -0.7), (1.9, 0.7), (-1.2, 1.1), (-1.7, 1.1), (-1.7, -1.1), (-1.2, -1.1))
BUS = ((6.0, -1.27), (6.0, 1.27), (-6.0, 1.27), (-6.0, -1.27))
TRIANGLE = ((-0.25, -0.3), (0.25, -0.3), (0.0, 0.3))
BIKE = ((-0.55, 0.0), (0.55, 0.0))
POINT = ((0.0, 0.0),)


@dataclass(frozen=True)
class Obstacle:
    """One obstacle at one time: points in its own frame, radius, pose and velocity in `odom`."""

    id: int
    name: str
    points: tuple[tuple[float, float], ...]
    radius: float
    pose: Pose
    velocity: Pose = (0.0, 0.0, 0.0)


def braking(stop: float, speed: float, deceleration: float, t: float) -> tuple[float, float]:
    """Return position and speed along one axis of a car that brakes to stand still at `stop`."""
    left = max(0.0, abs(speed) / deceleration - t)
    sign = 1.0 if speed > 0.0 else -1.0
    return stop - sign * 0.5 * deceleration * left * left, sign * deceleration * left


def obstacles(t: float) -> list[Obstacle]:
    """Return every obstacle at `t` seconds; identifiers are unique and stay with theirs."""
    follower_x, follower_v = braking(-7.2, 7.0, 2.0, t)
    oncoming_x, oncoming_v = braking(61.0, -9.0, 1.8, t)

    def moving(
        id_: int, name: str, points: tuple[tuple[float, float], ...], radius: float,
        x: float, y: float, speed: float, yaw: float = 0.0,
    ) -> Obstacle:  # fmt: skip
        """Make an obstacle that is at (x, y) now and moves along the road with `speed`."""
        return Obstacle(id_, name, points, radius, (x, y, yaw), (speed, 0.0, 0.0))

    return [
        Obstacle(1, "lorry", LORRY, 0.0, (19.5, -1.95, 0.02)),
        moving(2, "driver", POINT, 0.35, 16.0 + 0.3 * t, -0.25, 0.3),
        Obstacle(3, "warning triangle", TRIANGLE, 0.0, (11.0, -3.0, pi)),
        Obstacle(4, "barrier", ((-4.5, 0.0), (4.5, 0.0)), 0.3, (38.5, 2.15, 0.28)),
        Obstacle(5, "cone", POINT, 0.22, (31.0, 2.9, 0.0)),
        Obstacle(6, "cone", POINT, 0.22, (32.3, 2.0, 0.0)),
        moving(10, "waiting car", CAR, 0.0, 53.0, 1.75, 0.0, pi),
        moving(11, "oncoming", CAR, 0.0, oncoming_x, 1.8, oncoming_v, pi),
        moving(12, "tractor", TRACTOR, 0.0, 57.0 + 1.5 * t, -1.8, 1.5),
        moving(13, "car behind", CAR, 0.0, follower_x, -1.7, follower_v),
        moving(20, "bus", BUS, 0.0, 88.0 - 9.0 * t, 6.3, -9.0, pi),
        moving(21, "taxi", CAR, 0.0, 112.0 - 9.0 * t, 6.3, -9.0, pi),
        moving(22, "taxi", CAR, 0.0, 124.0 - 8.0 * t, 6.3, -8.0, pi),
        moving(30, "cyclist", BIKE, 0.3, -12.0 + 4.2 * t, -5.3, 4.2),
        moving(31, "pedestrian", POINT, 0.3, 26.0 + 1.2 * t, -6.1, 1.2),
        moving(32, "pedestrian", POINT, 0.3, 48.0 - 1.0 * t, -6.5, -1.0),
        Obstacle(40, "rail", ((-45.0, 0.0), (45.0, 0.0)), 0.15, (30.0, 4.4, 0.0)),
        Obstacle(41, "rail", ((-45.0, 0.0), (45.0, 0.0)), 0.15, (30.0, -4.2, 0.0)),
    ]
