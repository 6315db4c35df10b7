# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of messages to obstacles: one function for each message type of a source.

To add a type, write a function in the file of its family, and add it to `CONVERTERS`. The node and
replay both use this table.
"""

from collections.abc import Callable
from typing import Any

from ..data.obstacles import Obstacles
from ..parameters.config import (
    CLOUD,
    COSTMAP,
    GRID,
    OBSTACLE_ARRAY,
    POLYGON,
    RANGE,
    SCAN,
    Config,
    SourceConfig,
)
from .autoware import detected_objects, predicted_objects, tracked_objects
from .boxes import boxes, detections
from .cloud import cloud
from .dynamic import dynamic_obstacles
from .grid import costmap, grid
from .odometry import twist
from .polygons import costmap_obstacles, footprint, polygon, polygon_instance
from .range import cone
from .scan import scan

__all__ = ["CONVERTERS", "Convert", "footprint", "twist"]

Convert = Callable[[Any, Config, SourceConfig], Obstacles]


def obstacle_array(message: Any, config: Config, source: SourceConfig) -> Obstacles:
    """Convert a gjk_collision/ObstacleArray. The arrays are neither copied nor checked."""
    del config, source  # the receiver checks the list
    return Obstacles.of(message)


def _listed(convert: Callable[[Any, Config], Obstacles]) -> Convert:
    """Return a converter of lists of objects, which have no parameters of their own."""
    return lambda message, config, source: convert(message, config)


def _measured(convert: Callable[[Any, SourceConfig, int], Obstacles]) -> Convert:
    """Return a converter of measurements, which have one limit: the number of obstacles."""
    return lambda message, config, source: convert(message, source, config.max_obstacles)


CONVERTERS: dict[str, Convert] = {
    OBSTACLE_ARRAY: obstacle_array,
    SCAN: _measured(scan),
    CLOUD: _measured(cloud),
    RANGE: _measured(cone),
    GRID: _measured(grid),
    COSTMAP: _measured(costmap),
    POLYGON: polygon,
    "geometry_msgs/msg/PolygonInstanceStamped": _listed(polygon_instance),
    "costmap_converter_msgs/msg/ObstacleArrayMsg": _listed(costmap_obstacles),
    "autoware_perception_msgs/msg/DetectedObjects": _listed(detected_objects),
    "autoware_perception_msgs/msg/TrackedObjects": _listed(tracked_objects),
    "autoware_perception_msgs/msg/PredictedObjects": _listed(predicted_objects),
    "nav2_dynamic_msgs/msg/ObstacleArray": _listed(dynamic_obstacles),
    "vision_msgs/msg/Detection3DArray": _listed(detections),
    "vision_msgs/msg/BoundingBox3DArray": _listed(boxes),
}
