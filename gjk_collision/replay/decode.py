# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages as rosbags decodes them, made into the plain data that the world takes."""

from typing import Any

import numpy as np

from ..server.fields import nanoseconds
from ..server.world import Footprint

__all__ = ["footprint"]


def footprint(message: Any) -> Footprint:
    """Return a PolygonStamped as data."""
    points = np.array([(p.x, p.y) for p in message.polygon.points], dtype=np.float64)
    header = message.header
    return Footprint(header.frame_id, nanoseconds(header.stamp), points.reshape(-1, 2))
