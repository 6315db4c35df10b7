# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Laser scans: sensor_msgs/LaserScan."""

from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np

from ... import _core
from ...convert import check_increment
from ...convert.seen import seen_ranges, star
from ...errors import InputError, refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..frames import fields
from ..parameters.config import SourceConfig
from .readings import check_count, convex, merged

__all__ = ["scan"]

# `angle_max` may differ from the angle of the last beam by less than this number of beams: some
# drivers give the angle after the last beam, and leave out the last bin if it is incomplete.
_TOLERANCE = 2.0


def scan(message: Any, source: SourceConfig, limit: int) -> Obstacles:
    """Convert a sensor_msgs/LaserScan: a circle around each return, in the frame of the sensor.

    The rules are those of `obstacles_from_scan`. `invalid_returns` controls how beams without a
    valid measurement are treated: NaN, and numbers outside [range_min, range_max]. Returns in the
    same cell of `voxel_size` are merged. The id of an obstacle is the lowest index of its beams.
    There may be `limit` obstacles.

    Raises
    ------
    InputError
        Names the field, and the index of the beam.
    """
    ranges = fields.numbers(message.ranges).astype(np.float64)
    angles = float(message.angle_min), float(message.angle_increment)
    limits = float(message.range_min), float(message.range_max)
    if not len(ranges):
        refuse("ranges", "must have at least one beam", status=Status.EMPTY_REQUEST)
    _check_count(len(ranges), *angles, float(message.angle_max))
    if not limits[0] < limits[1]:
        rule = f"must be greater than range_min = {limits[0]} (got {limits[1]})"
        status = Status.INVALID_INPUT if limits[0] >= limits[1] else Status.NON_FINITE
        refuse("range_max", rule, status=status)
    seen = None
    if source.marks_seen:
        # Nothing was seen in the circle of a return, also when it is no obstacle any more.
        clear = min(source.clear_range or limits[1], limits[1])
        reaches = seen_ranges(ranges, *limits, clear) - source.point_radius * np.isfinite(ranges)
        seen = star(np.maximum(reaches, 0.0), *angles)
    if source.invalid_returns == "no_return":
        is_valid = (ranges >= limits[0]) & (ranges <= limits[1])
        ranges = np.where(is_valid | (ranges == -np.inf), ranges, np.inf)
    try:
        beams, counts, flat, radius = _core.scan_points(
            ranges, *angles, *limits, source.point_radius
        )
    except InputError as error:
        if error.argument != "ranges":
            raise
        remedy = f"{source.name}.invalid_returns: no_return ignores such beams"
        rule = f"{error.rule}; the parameter {remedy}"
        raise InputError(error.status, "ranges", error.index, rule) from None
    xy = flat.reshape(-1, 2)
    is_point = np.repeat(counts, counts) == 1
    single = counts == 1
    points = merged("ranges", beams[single], xy[is_point], radius[single], source.voxel_size)
    close = beams[~single], counts[~single], xy[~is_point], radius[~single]
    joined = [np.concatenate(pair) for pair in zip(points, close, strict=True)]
    check_count("ranges", len(joined[0]), limit, f"increase {source.name}.voxel_size")
    return replace(convex(message.header, *joined), seen=seen)


def _check_count(count: int, angle_min: float, increment: float, angle_max: float) -> None:
    """Check that the angles are those of all beams: a shortened scan would leave gaps."""
    for name, value in (("angle_min", angle_min), ("angle_increment", increment),
                        ("angle_max", angle_max)):  # fmt: skip
        if not isfinite(value):
            refuse(name, "must be finite", value, status=Status.NON_FINITE)
    if count == 1 and angle_max == angle_min:
        return
    check_increment(increment, count)
    expected = (angle_max - angle_min) / increment + 1.0 if increment else inf
    if not abs(expected - count) < _TOLERANCE:
        rule = "must have a beam for each angle from angle_min to angle_max"
        rule += f": {expected:.6g} beams, to within less than {_TOLERANCE:g} (got {count})"
        refuse("ranges", rule, status=Status.ARRAY_MISMATCH)
