# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Grids of cells: nav_msgs/OccupancyGrid and nav2_msgs/Costmap."""

from dataclasses import replace
from math import degrees, hypot, sin
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...convert import marked_cells
from ...convert.seen import known_cells
from ...errors import InputError, refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..data.regions import placed_boundary
from ..frames import fields
from ..frames.poses import MAX_TILT_OF_READINGS, Pose
from ..parameters.config import SourceConfig
from .readings import convex

__all__ = ["costmap", "grid"]

MAX_CELLS = 2**24  # about 4000 x 4000; converting them takes up to seconds, see docs/sources.md
_NO_INFORMATION = 255  # of a costmap


def grid(message: Any, source: SourceConfig, limit: int) -> Obstacles:
    """Convert a nav_msgs/OccupancyGrid: rectangles that cover the occupied cells.

    The rules are those of `obstacles_from_grid`. There are no obstacles outside of the grid. The
    ids are the indices of the rectangles, of which there may be `limit`.

    Raises
    ------
    InputError
        Names the field, and the index of the cell.
    """
    info = message.info
    data = _cells(message.data, info.width, info.height, "info.width, info.height")
    try:
        marked = marked_cells(data, source.occupied_threshold, _covers_unknown(source))
    except InputError as error:
        raise InputError(error.status, "data", error.index, error.rule) from None
    known = data >= 0
    marks = _Marks(source, known, known & (data < source.occupied_threshold))
    return _covered(message.header, marked, info, "info", limit, marks)


def costmap(message: Any, source: SourceConfig, limit: int) -> Obstacles:
    """Convert a nav2_msgs/Costmap: rectangles that cover the cells with a high cost.

    As for `grid`. The cost 255 means that nothing is known of a cell.

    Raises
    ------
    InputError
        Names the field.
    """
    info = message.metadata
    data = _cells(message.data, info.size_x, info.size_y, "metadata.size_x, metadata.size_y")
    known, is_clear = data != _NO_INFORMATION, data < source.cost_threshold
    marked = ~is_clear if _covers_unknown(source) else known & ~is_clear
    marks = _Marks(source, known, is_clear)
    return _covered(message.header, marked.view(np.uint8), info, "metadata", limit, marks)


def _covers_unknown(source: SourceConfig) -> bool:
    """Whether unknown cells are obstacles; with `marks_outside`, they are outside anyway."""
    return source.unknown_is_occupied and not source.marks_outside


class _Marks(NamedTuple):
    """The cells that are known, and those that are known to be free."""

    source: SourceConfig
    known: npt.NDArray[np.bool_]
    clear: npt.NDArray[np.bool_]

    def boundaries(self, size: float, origin: Pose) -> dict[str, Any]:
        """Return the boundaries `seen` and `bounds` of a list, for cells of a size [m]."""
        found: dict[str, Any] = {}
        if self.source.marks_seen:
            found["seen"] = placed_boundary(known_cells(self.clear, size), origin, 0.0)
        if self.source.marks_outside:
            found["bounds"] = placed_boundary(known_cells(self.known, size), origin, 0.0)
        return found


def _cells(values: Any, columns: int, rows: int, names: str) -> npt.NDArray[Any]:
    """Return the cells, shape (rows, columns); `names` are those of both numbers."""
    data, (width, height) = fields.numbers(values), (int(columns), int(rows))
    if not width * height:
        rule = f"must have at least one cell (got {width} x {height})"
        refuse(names, rule, status=Status.EMPTY_REQUEST)
    if width * height > MAX_CELLS:
        refuse(names, f"{width} x {height} cells, limit {MAX_CELLS}", status=Status.LIMIT_EXCEEDED)
    if len(data) != width * height:
        rule = f"must have {width} * {height} cells"
        refuse("data", rule, len(data), status=Status.ARRAY_MISMATCH)
    return data.reshape(height, width)


def _covered(
    header: Any,
    marked: npt.NDArray[np.uint8],
    info: Any,
    name: str,
    limit: int,
    marks: _Marks,
) -> Obstacles:
    """Return the rectangles over the marked cells; `info` has their size and their origin."""
    origin = fields.pose(info.origin, f"{name}.origin")
    if origin.tilt > MAX_TILT_OF_READINGS:
        most = degrees(MAX_TILT_OF_READINGS)
        rule = f"must not be tilted out of the plane by more than {most:g} degrees"
        refuse(f"{name}.origin", rule)
    resolution = float(info.resolution)
    if not 0.0 < resolution < np.inf:
        status = Status.INVALID_INPUT if np.isfinite(resolution) else Status.NON_FINITE
        rule = "must be finite and greater than 0"
        refuse(f"{name}.resolution", rule, resolution, status=status)
    try:
        corners = _core.grid_corners(marked, resolution, origin, limit)
    except InputError as error:
        argument = f"{name}.{error.argument}"
        raise InputError(error.status, argument, error.index, error.rule) from None
    count = len(corners) // 8
    if count > limit:
        rule = f"more than {limit} rectangles cover the cells, limit {limit} (max_obstacles)"
        refuse("data", rule, status=Status.LIMIT_EXCEEDED)
    size = resolution * hypot(*marked.shape)
    points, radii = corners.reshape(-1, 2), np.full(count, origin.tilt_error(size))
    z = abs(float(info.origin.position.z)) + sin(origin.tilt) * size
    covered = convex(header, np.arange(count), np.full(count, 4), points, radii, height=z)
    return replace(covered, **marks.boundaries(resolution, origin))
