# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Regions that sensors have seen, for `Scene(seen=...)`."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, floor, inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import as_floats, as_number, as_vector
from ..errors import refuse
from ..geometry import PoseLike
from ..region import Region
from ..verdict import Status
from . import check_increment, checked_cells

__all__ = [
    "Boundary",
    "grown_outline",
    "known_cells",
    "region_in",
    "seen_by_grid",
    "seen_by_scan",
    "seen_ranges",
    "star",
]

Floats = NDArray[np.float64]
# Segments (n, 4) with the region on their left, and the distance to be kept from each (n,) [m].
Boundary = tuple[Floats, Floats]

# Relative to the largest distance from the origin [m]: covers the rounding of angles, sines,
# products and sums, which is less than 2**-49.
_ROUNDING = 2.0**-46
_HERE = (0.0, 0.0, 0.0)
_WIDEST = pi / 2.0  # rad. Beams that are farther apart are no neighbours


def seen_by_scan(
    ranges: ArrayLike,
    angle_min: float,
    angle_increment: float,
    range_min: float,
    range_max: float,
    pose: PoseLike | None = None,
    *,
    clear_range: float | None = None,
) -> Region:
    """Return the region that a laser scan has seen.

    Between two neighbouring beams, it is the triangle from the sensor up to the shorter of both.
    A beam with a return has seen up to the return, and one without (inf) up to `clear_range`. A
    beam that is NaN, -inf, below `range_min` or above `range_max` has seen nothing. The region
    begins at the sensor: a beam that reached its return has passed the space before `range_min`.

    Parameters
    ----------
    ranges, angle_min, angle_increment, range_min, range_max
        As for `obstacles_from_scan`. The beams may go around in either direction, also by more
        than a turn; then those of the first turn count.
    pose : (x, y, yaw), optional
        Pose of the sensor in the frame of the scene [m, m, rad]. Default: zeros.
    clear_range : float, optional
        How far a beam without a return has seen [m], in [0, range_max]. Default: `range_max`. Use
        less if a dark or smooth surface may give no return at a smaller distance.

    Returns
    -------
    Region
        Its `outlines` are empty. It may be empty, too: then it contains no point.

    Raises
    ------
    InputError
        NON_FINITE, INVALID_INPUT: `angle_increment` is 0, and there are several beams; or not
        0 <= range_min <= range_max; or `clear_range` is not in its range, or not given although
        `range_max` is infinite. COORD_RANGE, ARRAY_MISMATCH.

    Notes
    -----
    An object that is narrower than the gap between two beams may be missed. What the region is
    for, and its assumptions: docs/safety.md. An error of `pose` must be covered by the margin.
    """
    distances = as_floats(ranges, "ranges", 0)
    angles = _finite(angle_min, "angle_min"), _finite(angle_increment, "angle_increment")
    check_increment(angles[1], len(distances))
    least, most = _finite(range_min, "range_min"), as_number(range_max, "range_max")
    if not 0.0 <= least <= most:
        refuse(
            "range_max", f"must not be less than range_min = {least}, which is at least 0", most
        )
    if clear_range is not None:
        clear = as_number(clear_range, "clear_range")
        if not 0.0 <= clear <= most:
            refuse("clear_range", f"must lie in [0, range_max], [0, {most}] m", clear)
    elif not isfinite(most):
        refuse("clear_range", "must be given, because range_max is not finite")
    else:
        clear = most
    place = as_vector(_HERE if pose is None else pose, "pose")
    return region_in(star(seen_ranges(distances, least, most, clear), *angles, place))


def _finite(value: float, argument: str) -> float:
    number = as_number(value, argument)
    if not isfinite(number):
        refuse(argument, "must be finite", number, status=Status.NON_FINITE)
    return number


def seen_ranges(ranges: Floats, range_min: float, range_max: float, clear: float) -> Floats:
    """Return how far each beam has seen [m]; 0: nothing is known."""
    is_return = (ranges >= range_min) & (ranges <= range_max) & (ranges < inf)
    return np.where(is_return, ranges, np.where(ranges == inf, clear, 0.0))


def seen_by_grid(cells: ArrayLike, resolution: float, pose: PoseLike = _HERE) -> Region:
    """Return the region of the known cells of a grid.

    Parameters
    ----------
    cells : array_like, shape (h, w)
        bool: whether each cell is known. Or int: the values of ``nav_msgs/OccupancyGrid``, where
        -1 is unknown. Row 0 and column 0 are at the origin, as for `obstacles_from_grid`.
    resolution : float
        Size of a cell [m], > 0.
    pose : (x, y, yaw)
        Pose of the corner of cell (0, 0) [m, m, rad], in the frame of the scene.

    Returns
    -------
    Region
        Its `outlines` are empty. It may be empty, too: then it contains no point. Occupied cells
        are known.

    Raises
    ------
    InputError
        As for `obstacles_from_grid`.
    """
    given = np.asarray(cells)
    known = (
        given if given.dtype == bool and given.ndim == 2 else checked_cells(cells, "cells") >= 0
    )
    size = _finite(resolution, "resolution")
    if not size > 0.0:
        refuse("resolution", "must be greater than 0", size)
    return region_in(known_cells(known, size, as_vector(pose, "pose")))


def region_in(boundary: Boundary, inflation: float = 0.0) -> Region:
    """Return the region in a boundary, whose distances include the inflation [m].

    Its `outlines` are empty.
    """
    return Region._of_boundary(((), (), 0.0), *boundary, inflation)


def known_cells(known: NDArray[np.bool_], size: float, pose: Sequence[float] = _HERE) -> Boundary:
    """Return the boundary of known cells (h, w) of a size [m], whose corner is at the pose."""
    padded = np.pad(known, 1).astype(np.int8)
    runs = []
    for turned in (False, True):
        # Where the cell after a line is known, and the one before is not: 1; the other way: -1.
        step = np.diff(padded.T if turned else padded, axis=0)
        edges = np.pad(step[:, 1:-1], ((0, 0), (1, 1)))
        changes = np.diff(edges, axis=1)
        line, begin = np.nonzero((changes != 0) & (edges[:, 1:] != 0))
        end_line, end = np.nonzero((changes != 0) & (edges[:, :-1] != 0))
        assert (line == end_line).all()
        is_up = edges[line, begin + 1] > 0
        first, last = np.where(is_up, begin, end), np.where(is_up, end, begin)
        ends = np.stack([first, line, last, line], axis=1)
        runs.append(ends[:, [3, 2, 1, 0]] if turned else ends)  # the known cell is on the left
    corners = np.concatenate(runs).reshape(-1, 2) * size
    return _bounded(corners, pose, float(max(known.shape)) * size)


def grown_outline(outline: Floats, beyond: float) -> Boundary:
    """Return the boundary of a simple outline (n, 2), whose edges are moved outwards [m]."""
    after = np.roll(outline, -1, axis=0)
    area = float((outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0]).sum())
    ring = (outline if area > 0.0 else outline[::-1])[(outline != after).any(axis=1)]
    way = np.roll(ring, -1, axis=0) - ring
    normal = np.stack([way[:, 1], -way[:, 0]], axis=1) / np.hypot(*way.T)[:, None]
    before = np.roll(normal, 1, axis=0)
    share = np.maximum(1.0 + (normal * before).sum(axis=1), 0.5)  # a sharp corner moves less
    ring = ring + beyond * (normal + before) / share[:, None]
    ends = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
    return _bounded(ends, _HERE, float(np.abs(ring).max()))


def star(
    reaches: Floats, angle_min: float, increment: float, pose: Sequence[float] = _HERE
) -> Boundary:
    """Return the boundary of the union of the triangles between neighbouring beams."""
    width = abs(increment)
    count, gap = len(reaches), inf
    if width:
        count = floor(min(count - 1, 2.0 * pi / width)) + 1
        gap = 2.0 * pi - (count - 1) * width
    angles = angle_min + np.arange(count) * increment
    least = np.minimum(reaches[: count - 1], reaches[1:count])
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ends = np.stack([rays[:-1], rays[1:]], axis=1)
    is_closed = count > 2 and gap < 1.5 * width
    if is_closed and gap > 2.0**-20 * width:
        # The beam after these, if there is one, is that of the first direction again.
        least = np.append(least, min(reaches[0], *reaches[count - 1 : count + 1]))
        ends = np.concatenate([ends, [[rays[-1], rays[0]]]])
    elif is_closed:  # no triangle is between the last beam and the first one
        least[[0, -1]] = min(least[0], least[-1])
    if width > _WIDEST:
        least = np.zeros_like(least)
    corners = (ends * least[:, None, None]).reshape(-1, 2)
    if not is_closed:
        corners = np.concatenate([np.zeros((1, 2)), corners])
    if increment < 0.0:
        corners = corners[::-1]
    size = float(least.max(initial=0.0)) * (1.0 + float(np.abs(angles).max(initial=0.0)))
    return _bounded(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1), pose, size)


def _bounded(ends: Floats, pose: Sequence[float], size: float) -> Boundary:
    """Return the boundary of segments; `ends`: relative to a pose, two for each [m].

    `size` bounds the magnitude of what was rounded before [m].
    """
    x, y, yaw = pose
    if not all(map(isfinite, pose)):
        refuse("pose", "must be finite", tuple(pose), status=Status.NON_FINITE)
    if not size < 1e15:
        rule = "ranges and angles must be less than 1e15 m and rad; with inf, give clear_range"
        refuse("ranges", rule, status=Status.COORD_RANGE)
    local = ends.reshape(-1, 2)
    turn = np.array([[cos(yaw), sin(yaw)], [-sin(yaw), cos(yaw)]])
    segments = (local @ turn if yaw else local).reshape(-1, 4) + [x, y, x, y]
    segments = segments[(segments[:, :2] != segments[:, 2:]).any(axis=1)]
    if not len(segments):
        segments = np.array([[x, y, x, y]])
    error = _ROUNDING * (size * (1.0 + abs(yaw)) + abs(x) + abs(y)) + 1e-300
    if not error < _ROUNDING * 1e15:
        refuse("pose", "must not move the region out of 1e15 m", status=Status.COORD_RANGE)
    return segments, np.full(len(segments), error)
