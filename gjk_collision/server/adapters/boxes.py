# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Boxes of vision_msgs, as rectangles of their length and width."""

from collections.abc import Sequence
from typing import Any

from ..data.obstacles import Obstacles
from ..frames import fields
from ..parameters.config import Config
from .gathered import Gathered, check_header, finite, rectangle

__all__ = ["boxes", "detections"]


def detections(message: Any, config: Config) -> Obstacles:
    """Convert a vision_msgs/Detection3DArray: boxes, as rectangles of their length and width."""
    for i, each in enumerate(message.detections[: config.max_obstacles + 1]):
        check_header(f"detections[{i}]", each.header, message.header)
    boxes = [each.bbox for each in message.detections[: config.max_obstacles + 1]]
    return _boxes("detections", message.header, boxes, config)


def boxes(message: Any, config: Config) -> Obstacles:
    """Convert a vision_msgs/BoundingBox3DArray: boxes, as rectangles of their length and width."""
    return _boxes("boxes", message.header, message.boxes, config)


def _boxes(name: str, header: Any, found_boxes: Sequence[Any], config: Config) -> Obstacles:
    found = Gathered(config)
    found.expect(name, len(found_boxes))
    for i, box in enumerate(found_boxes):
        pose = fields.pose(box.center, f"{name}[{i}] center")
        points = rectangle(f"{name}[{i}].size", box.size)
        height = finite(f"{name}[{i}].size.z", box.size.z)
        found.add(i, points, pose=pose, height=height, z=box.center.position.z)
    return found.obstacles(header)
