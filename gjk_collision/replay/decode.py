# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of messages that rosbags decoded to the plain data of the server."""

from typing import Any

import numpy as np

from ..server.fields import nanoseconds
from ..server.world import Footprint
from .transforms import Placement, RecordedTransforms

__all__ = ["footprint", "take_transforms"]


def footprint(message: Any) -> Footprint:
    """Return a geometry_msgs/PolygonStamped as a `Footprint`."""
    points = np.array([(p.x, p.y) for p in message.polygon.points], dtype=np.float64)
    header = message.header
    return Footprint(header.frame_id, nanoseconds(header.stamp), points.reshape(-1, 2))


def take_transforms(transforms: RecordedTransforms, message: Any, *, static: bool) -> None:
    """Insert the transforms of a tf2_msgs/TFMessage."""
    for each in message.transforms:
        p, q = each.transform.translation, each.transform.rotation
        transforms.insert(
            each.header.frame_id,
            each.child_frame_id,
            nanoseconds(each.header.stamp),
            Placement((p.x, p.y, p.z), (q.x, q.y, q.z, q.w)),
            static=static,
        )
