# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Single distances of ultrasonic and infrared sensors: sensor_msgs/Range."""

from math import ceil, cos, inf, isfinite, pi
from typing import Any

import numpy as np

from ...errors import refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..parameters.config import SourceConfig
from .readings import convex

__all__ = ["cone"]

_WIDEST = pi / 8.0  # rad, of an edge around the arc; its corner is 2 % beyond the arc
_ROUNDING = 1.0 + 2.0**-40  # covers that of the corners


def cone(message: Any, source: SourceConfig, limit: int) -> Obstacles:
    """Convert a sensor_msgs/Range: one obstacle around the arc on which the object is.

    The sensor does not tell where in its field of view the object is, so the obstacle is the hull
    of the whole arc at this distance, which the polygon contains. An object that is nearer than
    `min_range` (also -inf, see REP 117) is anywhere between the sensor and `min_range`. Without
    an object (inf), there is no obstacle.

    Raises
    ------
    InputError
        Names the field.
    """
    del limit
    view, low, high = (
        float(getattr(message, name)) for name in ("field_of_view", "min_range", "max_range")
    )
    for name, value in (("field_of_view", view), ("min_range", low), ("max_range", high)):
        if not isfinite(value):
            refuse(name, "must be finite", value, status=Status.NON_FINITE)
    if not 0.0 <= view <= float(np.float32(pi)):  # the message has float32
        refuse("field_of_view", "must lie in [0, pi] rad", view)
    if not 0.0 <= low <= high:
        refuse("max_range", f"must not be less than min_range = {low}, which is at least 0", high)
    found = float(message.range)
    is_close = found < low or (low == high and found == -inf)
    is_valid = is_close or low <= found <= high or found == inf
    if not is_valid and source.invalid_returns == "error":
        rule = f"must lie in [min_range, max_range], or be inf or -inf; {source.name}."
        rule += "invalid_returns: no_return ignores other values"
        refuse("range", rule, found, status=Status.NON_FINITE)
    if not is_valid or found == inf:
        empty = np.empty(0, np.int64)
        return convex(message.header, empty, empty, np.empty((0, 2)), np.empty(0))
    pieces = max(ceil(view / _WIDEST), 1)
    step = view / pieces
    angles = (np.arange(pieces) + 0.5) * step - 0.5 * view
    reach = low if is_close else found
    corners = np.concatenate([[-0.5 * view], angles, [0.5 * view]])
    lengths = np.full(len(corners), reach * _ROUNDING)
    lengths[1:-1] /= cos(0.5 * step)  # where the tangents meet
    points = lengths[:, None] * np.stack([np.cos(corners), np.sin(corners)], axis=1)
    if is_close:
        points = np.concatenate([np.zeros((1, 2)), points])
    count = np.array([len(points)])
    return convex(message.header, np.zeros(1, np.int64), count, points,
                  np.array([source.point_radius + reach * (_ROUNDING - 1.0)]))  # fmt: skip
