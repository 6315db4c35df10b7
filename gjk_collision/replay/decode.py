# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages as rosbags decodes them, made into the plain data that the world takes."""

from typing import Any

import numpy as np

from ..server.adapters import CONVERTERS
from ..server.config import OBSTACLE_ARRAY, Config, SourceConfig
from ..server.fields import nanoseconds
from ..server.obstacles import Obstacles
from ..server.world import Footprint

__all__ = ["footprint", "obstacles", "obstacles_of"]


def obstacles(message: Any) -> Obstacles:
    """Return an ObstacleArray as data; nothing is checked yet."""
    return Obstacles(
        frame=message.header.frame_id,
        stamp=nanoseconds(message.header.stamp),
        source=message.source,
        sequence=int(message.sequence),
        ids=message.ids,
        kinds=message.kinds,
        offsets=message.offsets,
        xy=message.xy,
        radius=message.radius,
        poses=message.poses,
        velocities=message.velocities,
        path_offsets=message.path_offsets,
        path_times=message.path_times,
        path_poses=message.path_poses,
    )


def obstacles_of(source: SourceConfig, message: Any, config: Config) -> Obstacles:
    """Return the obstacles in a message of a source; raises `InputError` where it has none."""
    if source.type == OBSTACLE_ARRAY:
        return obstacles(message)
    return CONVERTERS[source.type](message, config)


def footprint(message: Any) -> Footprint:
    """Return a PolygonStamped as data."""
    points = np.array([(p.x, p.y) for p in message.polygon.points], dtype=np.float64)
    header = message.header
    return Footprint(header.frame_id, nanoseconds(header.stamp), points.reshape(-1, 2))
