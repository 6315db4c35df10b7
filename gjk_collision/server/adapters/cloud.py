# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Point clouds: sensor_msgs/PointCloud2."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..frames import fields
from ..parameters.config import SourceConfig
from .readings import check_count, convex, merged

__all__ = ["cloud"]

Floats = npt.NDArray[np.float64]

_TYPES = {7: "f4", 8: "f8"}  # PointField.FLOAT32, FLOAT64


def cloud(message: Any, source: SourceConfig, limit: int) -> Obstacles:
    """Convert a sensor_msgs/PointCloud2: the points between two heights, seen from above.

    Heights are measured along z of the frame of the cloud. Points in the same cell of `voxel_size`
    are merged. The id of an obstacle is the lowest index of its points. If `is_dense` is false, a
    point with three NaN is a missing measurement, see `invalid_returns`. There may be `limit`
    obstacles.

    Raises
    ------
    InputError
        Names the field, and the index of the point.
    """
    xyz = _points(message)
    index = np.arange(len(xyz))
    if not np.isfinite(xyz).all():
        missing = np.count_nonzero(np.isnan(xyz), axis=1) == 3
        may_miss = not message.is_dense and source.invalid_returns == "no_return"
        bad = ~np.isfinite(xyz).all(axis=1) & ~(missing & may_miss)
        if bad.any():
            i = int(np.argmax(bad))
            rule = f"the x, y and z of point {i} must be finite (got {tuple(xyz[i].tolist())})"
            if missing[i] and not message.is_dense:
                rule += (
                    f"; the parameter {source.name}.invalid_returns: no_return ignores such points"
                )
            refuse("data", rule, index=i, status=Status.NON_FINITE)
        xyz, index = xyz[~missing], index[~missing]
    in_band = (xyz[:, 2] >= source.min_height) & (xyz[:, 2] <= source.max_height)
    xy, index = xyz[in_band, :2], index[in_band]
    height = float(np.abs(xyz[in_band, 2]).max(initial=0.0))
    radius = np.full(len(xy), source.point_radius)
    found = merged("data", index, xy, radius, source.voxel_size)
    remedy = f"increase {source.name}.voxel_size, or use a smaller range of heights"
    check_count("data", len(found[0]), limit, remedy)
    return convex(message.header, *found, height=height)


def _points(message: Any) -> Floats:
    """Return the coordinates of all points, shape (n, 3) [m]."""
    width, height = int(message.width), int(message.height)
    step, row = int(message.point_step), int(message.row_step)
    data = fields.numbers(message.data)
    if data.dtype != np.uint8:
        refuse("data", "must be an array of uint8", data.dtype)
    byte_order = ">" if message.is_bigendian else "<"
    layout: dict[str, tuple[str, int]] = {}
    for i, each in enumerate(message.fields):
        if each.name not in ("x", "y", "z"):
            continue
        name = f"fields[{i}]"
        if each.name in layout:
            refuse(f"{name}.name", f"must be unique (got {each.name!r} again)")
        if each.datatype not in _TYPES:
            rule = f"must be 7 (float32) or 8 (float64) for {each.name}"
            refuse(f"{name}.datatype", rule, each.datatype)
        if each.count != 1:
            refuse(f"{name}.count", f"must be 1 for {each.name}", each.count)
        kind, begin = _TYPES[each.datatype], int(each.offset)
        if begin + int(kind[1]) > step:
            rule = f"{each.name} must end within point_step = {step} bytes (got offset {begin})"
            refuse(f"{name}.offset", rule, status=Status.ARRAY_MISMATCH)
        layout[each.name] = byte_order + kind, begin
    for name in "xyz":
        if name not in layout:
            refuse("fields", f"must have x, y and z ({name} is missing)")
    spans = sorted((begin, begin + int(kind[-1]), name) for name, (kind, begin) in layout.items())
    for (_, end, one), (begin, _, other) in pairwise(spans):
        if begin < end:
            refuse("fields", f"{one} and {other} must not overlap")
    if not width * height and len(data):
        rule = f"must not be 0 beside {len(data)} bytes of data (got {width} x {height})"
        refuse("width, height", rule, status=Status.ARRAY_MISMATCH)
    if row < width * step:
        rule = f"must be at least width * point_step = {width * step} bytes"
        refuse("row_step", rule, row, status=Status.ARRAY_MISMATCH)
    if len(data) != height * row:
        rule = f"must have height * row_step = {height * row} bytes"
        refuse("data", rule, len(data), status=Status.ARRAY_MISMATCH)
    xyz = np.empty((height, width, 3))
    if not xyz.size:
        return xyz.reshape(-1, 3)
    data = np.ascontiguousarray(data)
    for k, name in enumerate("xyz"):
        kind, begin = layout[name]
        xyz[:, :, k] = np.ndarray((height, width), kind, data, begin, (row, step))
    return xyz.reshape(-1, 3)
