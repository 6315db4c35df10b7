# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of messages that rosbags decoded to the plain data of the server."""

from typing import Any

import numpy as np

from ..server.fields import nanoseconds
from ..server.world import Footprint

__all__ = ["footprint"]


def footprint(message: Any) -> Footprint:
    """Return a geometry_msgs/PolygonStamped as a `Footprint`."""
    points = np.array([(p.x, p.y) for p in message.polygon.points], dtype=np.float64)
    header = message.header
    return Footprint(header.frame_id, nanoseconds(header.stamp), points.reshape(-1, 2))
