# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Outlines of vehicles and obstacles: geometry_msgs and costmap_converter_msgs."""

from math import inf, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import refuse
from ..data.obstacles import REGION, Footprint, Obstacles
from ..frames import fields
from ..frames.poses import Pose, lost_in_sum
from ..parameters.config import Config, SourceConfig
from .gathered import UNKNOWN, Gathered, check_header, finite, kind_of, speeds

__all__ = ["costmap_obstacles", "footprint", "polygon", "polygon_instance"]


def footprint(message: Any, config: Config) -> Footprint:
    """Convert a geometry_msgs/PolygonStamped: the outline of the vehicle.

    The points are not checked here.
    """
    stamp = fields.nanoseconds(message.header.stamp)
    points, z = _points(message.polygon, config)
    return Footprint(message.header.frame_id, stamp, points, z)


def polygon(message: Any, config: Config, source: SourceConfig) -> Obstacles:
    """Convert a geometry_msgs/PolygonStamped: one outline, an obstacle or a region."""
    found, (points, z) = Gathered(config), _points(message.polygon, config)
    found.add(0, points, kind=REGION if source.marks_outside else kind_of(points), z=z)
    return found.obstacles(message.header)


def polygon_instance(message: Any, config: Config) -> Obstacles:
    """Convert a geometry_msgs/PolygonInstanceStamped: one of several outlines with an id.

    Each id counts as a sender: its outline is used until the next message with this id, and only
    while it is fresh. The points are not checked here: the fault of an outline is that of its
    sender, also in the first message with this id.
    """
    found, (points, z) = Gathered(config), _points(message.polygon.polygon, config)
    found.add(message.polygon.id, points, kind=kind_of(points), z=z)
    return found.obstacles(message.header, source=f"instance {message.polygon.id}")


def _points(polygon: Any, config: Config) -> tuple[npt.NDArray[np.float64], float]:
    """Return the points of a geometry_msgs/Polygon (n, 2), and the largest height of one.

    There are at most `max_points_per_obstacle` + 1. The extra one makes the check of the limit
    fail.
    """
    points = polygon.points[: config.max_points_per_obstacle + 1]
    xyz = np.array([(p.x, p.y, p.z) for p in points], dtype=np.float64).reshape(-1, 3)
    return xyz[:, :2].copy(), float(np.abs(xyz[:, 2]).max(initial=0.0))


def costmap_obstacles(message: Any, config: Config) -> Obstacles:
    """Convert a costmap_converter_msgs/ObstacleArrayMsg: outlines in the frame of the header.

    A velocity of zero counts as unknown, because converters without velocities send zero.
    """
    found = Gathered(config)
    found.expect("obstacles", len(message.obstacles))
    for i, each in enumerate(message.obstacles):
        name = f"obstacles[{i}]"
        check_header(name, each.header, message.header)
        points = found.points(f"{name}.polygon.points", each.polygon.points)
        # The velocity is that of the centroid, so the obstacle's frame is there. Its coordinates
        # are rounded to float32 like those of the points. The rounding error of the differences is
        # added to the radius.
        radius = finite(f"{name}.radius", each.radius)
        if radius < 0.0:
            refuse(f"{name}.radius", "must not be negative", radius)
        centre = points.mean(axis=0).astype(np.float32).astype(np.float64)
        lost = lost_in_sum(points, -centre).sum(axis=1).max()
        if lost:
            radius = nextafter(radius + nextafter(lost, inf), inf)
        velocity = speeds(f"{name}.velocities.twist", each.velocities.twist)
        found.add(
            each.id,
            points - centre,
            kind=kind_of(points),
            radius=radius,
            pose=Pose(float(centre[0]), float(centre[1])),
            velocity=velocity if any(velocity) else UNKNOWN,
        )
    return found.obstacles(message.header)
