# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Tracked obstacles of nav2_dynamic_msgs, as circles around their boxes."""

from math import hypot, inf, nextafter
from typing import Any

import numpy as np

from ..data.obstacles import Obstacles
from ..frames.poses import Pose
from ..parameters.config import Config
from .gathered import Gathered, finite, positive, uuid_number

__all__ = ["dynamic_obstacles"]


def dynamic_obstacles(message: Any, config: Config) -> Obstacles:
    """Convert a nav2_dynamic_msgs/ObstacleArray: circles that move.

    The message does not tell how a box is turned, so the circle around it is used. Position and
    velocity are in the frame of the header.
    """
    found = Gathered(config)
    found.expect("obstacles", len(message.obstacles))
    for i, each in enumerate(message.obstacles):
        name = f"obstacles[{i}]"
        x, y = (finite(f"{name}.position.{k}", getattr(each.position, k)) for k in "xy")
        vx, vy = (finite(f"{name}.velocity.{k}", getattr(each.velocity, k)) for k in "xy")
        size = hypot(*(positive(f"{name}.size.{k}", getattr(each.size, k)) for k in "xy"))
        found.add(
            uuid_number(each.uuid), np.zeros((1, 2)), radius=nextafter(size / 2.0, inf),
            pose=Pose(x, y), velocity=(vx, vy, 0.0), height=each.size.z, z=each.position.z,
        )  # fmt: skip
    return found.obstacles(message.header)
