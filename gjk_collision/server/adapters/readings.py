# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of measured points, which can be merged in the cells of a grid."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._core import MAX_COORDINATE
from ...errors import refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..frames import fields
from ..frames.poses import MAX_TILT_OF_READINGS

__all__ = ["check_count", "convex", "merged"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Largest index of a cell. The quotient of a coordinate and the size of a cell is exact enough.
_FARTHEST = 2.0**30


def check_count(name: str, count: int, limit: int, remedy: str) -> None:
    """Raise an error if there are more obstacles than the limit; `name` is that of the field."""
    if count > limit:
        rule = f"{count} obstacles, limit {limit} (max_obstacles): {remedy}"
        refuse(name, rule, status=Status.LIMIT_EXCEEDED)


def convex(
    header: Any,
    ids: Integers,
    counts: Integers,
    xy: Floats,
    radius: Floats,
    *,
    height: float = 0.0,
) -> Obstacles:
    """Return convex obstacles in the frame of a header, with unknown velocities.

    Parameters
    ----------
    header : Any
        The fields of std_msgs/Header.
    ids, counts : (n,) int64
        Id and number of points of each obstacle.
    xy : (m, 2) float64
        The points of all obstacles [m].
    radius : (n,) float64
        Radius of each obstacle [m].
    height : float
        Maximum distance of the points from the plane of the frame [m].
    """
    return Obstacles(
        frame=header.frame_id,
        stamp=fields.nanoseconds(header.stamp),
        ids=ids,
        kinds=np.zeros(len(ids), dtype=np.uint8),
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
        xy=np.ascontiguousarray(xy).ravel(),
        radius=radius,
        height=height,
        max_tilt=MAX_TILT_OF_READINGS,
    )


def merged(
    name: str, ids: Integers, xy: Floats, radius: Floats, size: float
) -> tuple[Integers, Integers, Floats, Floats]:
    """Replace the points in each cell of a grid by the rectangle that contains them.

    The rectangle is the bounding box of the points, so it is not larger than the cell.

    Parameters
    ----------
    name : str
        Name of the field with the points, for the message of an error.
    ids : (n,) int64
        Ids of the points, increasing.
    xy : (n, 2) float64
        Points [m].
    radius : (n,) float64
        Radius of each point [m].
    size : float
        Size of a cell [m]; 0: the points are not merged.

    Returns
    -------
    ids, counts, xy, radius
        Arguments of `convex`. The id of a rectangle is the lowest id of its points, and its radius
        is their largest radius.

    Raises
    ------
    InputError
        COORD_RANGE: a point is too far away, or too far for cells of this size.
    """
    farthest = min(_FARTHEST * size, MAX_COORDINATE) if size else MAX_COORDINATE
    beyond = ~(np.abs(xy) < farthest).all(axis=1)
    if beyond.any():
        i = int(np.argmax(beyond))
        reason = " for this voxel_size" if farthest < MAX_COORDINATE else ""
        rule = f"must be within {farthest:g} m{reason}"
        refuse(name, rule, tuple(xy[i].tolist()), index=int(ids[i]), status=Status.COORD_RANGE)
    if not size or not len(ids):
        return ids, np.ones(len(ids), np.int64), xy, radius
    cells = np.floor(xy / size)
    keys = (cells[:, 0].astype(np.int64) << 32) + cells[:, 1].astype(np.int64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    points = xy[order]
    low = np.minimum.reduceat(points, begins)
    high = np.maximum.reduceat(points, begins)
    corners = np.stack([low, np.c_[high[:, 0], low[:, 1]], high, np.c_[low[:, 0], high[:, 1]]], 1)
    # One point stays a point; points on a line parallel to an axis give two different corners.
    is_point = (low == high).all(axis=1)
    counts = np.where(is_point, 1, 4)
    used = np.ones((len(begins), 4), dtype=bool)
    used[is_point, 1:] = False
    least = np.minimum.reduceat(ids[order], begins)
    return least, counts, corners[used], np.maximum.reduceat(radius[order], begins)
