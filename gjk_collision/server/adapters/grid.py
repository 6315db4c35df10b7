# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Occupancy grids: nav_msgs/OccupancyGrid."""

from typing import Any

import numpy as np

from ... import _core
from ...convert import marked_cells
from ...errors import InputError
from ...verdict import Status
from .. import fields
from ..config import SourceConfig
from ..obstacles import Obstacles
from .readings import convex

__all__ = ["grid"]

MAX_CELLS = 2**24  # about 4000 x 4000; converting them takes tenths of a second


def grid(message: Any, source: SourceConfig) -> Obstacles:
    """Convert a nav_msgs/OccupancyGrid: rectangles that cover the occupied cells.

    The rules are those of `obstacles_from_grid`. There are no obstacles outside of the grid. The
    ids are the indices of the rectangles.

    Raises
    ------
    InputError
        Names the field, and the index of the cell.
    """
    info = message.info
    width, height = int(info.width), int(info.height)
    data = fields.numbers(message.data)
    origin = fields.pose(info.origin, "info.origin")
    if not width * height:
        rule = f"must have at least one cell (got {width} x {height})"
        raise InputError(Status.EMPTY_REQUEST, "info.width, info.height", None, rule)
    if width * height > MAX_CELLS:
        rule = f"{width} x {height} cells, limit {MAX_CELLS}"
        raise InputError(Status.LIMIT_EXCEEDED, "info.width, info.height", None, rule)
    if len(data) != width * height:
        rule = f"must have info.width * info.height = {width * height} cells (got {len(data)})"
        raise InputError(Status.ARRAY_MISMATCH, "data", None, rule)
    resolution = float(info.resolution)
    if not 0.0 < resolution < np.inf:
        status = Status.INVALID_INPUT if np.isfinite(resolution) else Status.NON_FINITE
        rule = f"must be finite and greater than 0 (got {resolution})"
        raise InputError(status, "info.resolution", None, rule)
    try:
        marked = marked_cells(
            data.reshape(height, width), source.occupied_threshold, source.unknown_is_occupied
        )
        corners = _core.grid_corners(marked, resolution, origin)
    except InputError as error:
        name = {"grid": "data"}.get(error.argument, f"info.{error.argument}")
        raise InputError(error.status, name, error.index, error.rule) from None
    count = len(corners) // 8
    return convex(
        message.header,
        np.arange(count),
        np.full(count, 4),
        corners.reshape(-1, 2),
        np.zeros(count),
    )
