# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes of obstacles from occupancy grids, laser scans and points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..arguments import as_bool, as_floats, as_integer, as_integers, as_number, as_vector
from ..errors import refuse
from ..geometry import PoseLike, Shape
from ..verdict import Status

__all__ = ["obstacles_from_grid", "obstacles_from_points", "obstacles_from_scan"]


def obstacles_from_grid(
    grid: ArrayLike,
    resolution: float,
    origin: PoseLike = (0.0, 0.0, 0.0),
    occupied: int = 65,
    unknown_is_occupied: bool = True,
) -> list[Shape]:
    """Return rectangles that cover the occupied cells of a grid, and nothing else.

    Each rectangle is as large as possible, and they may overlap. There are no obstacles outside
    the grid: if the vehicle can leave it, add obstacles along its border.

    Parameters
    ----------
    grid : array_like of int, shape (h, w)
        Occupancy of each cell in percent, 0 to 100, or -1: unknown. These are the values of
        ``nav_msgs/OccupancyGrid``. Row 0 and column 0 are at the origin, rows follow the y axis of
        the grid and columns its x axis.
    resolution : float
        Size of a cell [m], > 0.
    origin : (x, y, yaw)
        Pose of the corner of cell (0, 0) [m, m, rad], in the frame of the scene.
    occupied : int
        Cells with at least this value are occupied, 0 to 100.
    unknown_is_occupied : bool
        Whether cells with the value -1 are occupied.

    Returns
    -------
    list of Shape
        The obstacles of a scene without poses.

    Raises
    ------
    InputError
        INVALID_INPUT: a value is not in [-1, 100], and `index` is that of the cell, row by row; or
        `resolution` is not greater than 0. EMPTY_REQUEST: the grid has no cells. COORD_RANGE: the
        grid is not within 1e15 m, or doubles do not resolve its cells. NON_FINITE, ARRAY_MISMATCH.

    Notes
    -----
    Line c of the columns is at ``x + c * resolution``, and line r of the rows is at ``y + r *
    resolution``, as doubles evaluate it. If the yaw is 0, neighbouring rectangles share
    these coordinates, and their union is exactly that of the cells. With a yaw, the corners are
    rounded. Therefore each rectangle is grown by a bound on the rounding error, about 1e-14 of the
    largest coordinate, so that it contains its cells.
    """
    cells = checked_cells(grid)
    size = as_number(resolution, "resolution")
    if not size > 0.0:
        refuse("resolution", "must be greater than 0", size)
    pose = as_vector(origin, "origin")
    limit = as_integer(occupied, "occupied", 0, 100)
    marked = _marked(cells, limit, as_bool(unknown_is_occupied, "unknown_is_occupied"))
    return _shapes(_core.grid_shapes(marked, size, pose))


def obstacles_from_scan(
    ranges: ArrayLike,
    angle_min: float,
    angle_increment: float,
    range_min: float,
    range_max: float,
    radius: float,
) -> list[Shape]:
    """Return an obstacle for each return of a laser scan, in the frame of the sensor.

    The parameters are the fields of ``sensor_msgs/LaserScan``. Give the pose of the sensor to
    `Scene` as the pose of each obstacle.

    Parameters
    ----------
    ranges : array_like, shape (n,)
        Distances along the beams [m]. In [range_min, range_max]: a circle at the return. inf:
        there is no return, and no obstacle. -inf: the object is closer than `range_min`, and the
        obstacle is a capsule from the sensor to `range_min`. Other values raise an error, because
        nothing is known about the beam. See the notes.
    angle_min : float
        Direction of the first beam [rad].
    angle_increment : float
        Angle from each beam to the next [rad]. Not 0, unless there is at most one beam.
    range_min, range_max : float
        Smallest and largest distance that the sensor measures [m], 0 <= range_min <= range_max.
    radius : float
        Radius of the circles and capsules [m], >= 0. The space between two beams is not
        measured. To close the gaps of a surface, the radius must be at least half the distance of
        neighbouring returns, plus the error of the measurement. If the surface is at the distance
        d and faces the sensor, half of this distance is about ``d * angle_increment / 2``.

    Returns
    -------
    list of Shape
        In the order of the beams, without those that have no return. Each radius includes the
        rounding error of the position.

    Raises
    ------
    InputError
        NON_FINITE, INVALID_INPUT: a range is NaN, below `range_min` or above `range_max`, and
        `index` is that of the beam; `angle_increment` is 0, and there are several beams.
        COORD_RANGE, ARRAY_MISMATCH.

    Notes
    -----
    The meaning of inf and -inf is that of REP 117. Drivers that do not follow it report other
    values. Replace them before the call, according to the manual of the sensor, for example
    ``np.where(ranges > range_max, np.inf, ranges)`` if such values mean that there is no return.
    """
    distances = as_floats(ranges, "ranges", 0)
    limits = as_number(range_min, "range_min"), as_number(range_max, "range_max")
    angles = as_number(angle_min, "angle_min"), as_number(angle_increment, "angle_increment")
    check_increment(angles[1], len(distances))
    return _shapes(_core.scan_shapes(distances, *angles, *limits, as_number(radius, "radius")))


def check_increment(angle_increment: float, count: int) -> None:
    """Check the angle [rad] between the beams of a scan with this number of beams.

    Raises
    ------
    InputError
        INVALID_INPUT: it is 0, and there are several beams: all returns would be in one direction.
    """
    if angle_increment == 0.0 and count > 1:
        rule = f"must not be 0 for {count} beams; give the angle from each beam to the next in rad"
        refuse("angle_increment", rule)


def obstacles_from_points(xy: ArrayLike, radius: float) -> list[Shape]:
    """Return a circle around each point, for example of a point cloud.

    Parameters
    ----------
    xy : array_like, shape (n, 2)
        Points [m]. Without points, there are no obstacles.
    radius : float
        Radius of each circle [m], >= 0. To close the gaps of a surface, it must be at least half
        the distance of neighbouring points.

    Returns
    -------
    list of n Shape

    Raises
    ------
    InputError
        NON_FINITE, COORD_RANGE: `index` is that of the point. ARRAY_MISMATCH, INVALID_INPUT.
    """
    return _shapes(_core.circles(as_floats(xy, "xy", 2), as_number(radius, "radius")))


def marked_cells(grid: ArrayLike, occupied: int, unknown_is_occupied: bool) -> NDArray[np.uint8]:
    """Return which cells of a grid are occupied, as for `obstacles_from_grid`, shape (h, w)."""
    return _marked(checked_cells(grid), occupied, unknown_is_occupied)


def _marked(
    cells: NDArray[np.integer], occupied: int, unknown_is_occupied: bool
) -> NDArray[np.uint8]:
    marked = cells >= occupied
    if unknown_is_occupied:
        marked |= cells < 0
    return marked.view(np.uint8)


def _shapes(cores: list[_core.Shape]) -> list[Shape]:
    return [Shape(core) for core in cores]


def checked_cells(grid: ArrayLike, argument: str = "grid") -> NDArray[np.integer]:
    """Return the cells of a grid, shape (h, w), each from -1 to 100."""
    if isinstance(grid, np.ndarray) and grid.dtype == np.int8 and not np.ma.isMaskedArray(grid):
        cells: NDArray[np.integer] = np.ascontiguousarray(grid)  # a large grid is not copied
    else:
        cells = as_integers(grid, argument, np.int64)
    if cells.size == 0:
        refuse(argument, "must hold at least one cell", status=Status.EMPTY_REQUEST)
    if cells.ndim != 2:
        rule = f"must have shape (h, w) (got {cells.shape})"
        if cells.ndim == 1:
            rule += ": reshape it, as in data.reshape(info.height, info.width)"
        refuse(argument, rule, status=Status.ARRAY_MISMATCH)
    if cells.min() < -1 or cells.max() > 100:
        i = int(np.argmax((cells < -1) | (cells > 100)))
        row, column = divmod(i, cells.shape[1])
        rule = (
            "must be an occupancy from 0 to 100, or -1: unknown"
            f" (got {cells[row, column]} at [{row}, {column}])"
        )
        refuse(argument, rule, index=i)
    return cells
