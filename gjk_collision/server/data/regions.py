# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The region of a list of obstacles, in which the vehicle must stay.

A list may have outlines of the region and of its holes, see ``msg/ObstacleArray``. The region is
made from the coordinates as received, and then its boundary is transformed, so that outlines with
a common edge still have it afterwards.
"""

from functools import lru_cache

import numpy as np

from ...convert.seen import Boundary, region_in
from ...errors import InputError
from ...region import Region
from ...verdict import Status
from ..frames.poses import Pose
from .obstacles import HOLE, REGION, Obstacles

__all__ = ["placed_boundary", "region_of"]


def region_of(obstacles: Obstacles, pose: Pose, inflation: float) -> Region | None:
    """Return the region of a list in the check frame; None: the list has no region.

    Parameters
    ----------
    obstacles : Obstacles
        The list as received; `Obstacles.check` must have passed.
    pose : Pose
        Pose of its frame in the check frame.
    inflation : float
        Distance that the vehicle must keep from the boundary [m].

    Raises
    ------
    InputError
        An outline is not valid, or the holes leave no region. The index is that of the first
        coordinate of the outline.
    """
    height = obstacles.height
    if obstacles.bounds is not None:
        return region_in(placed_boundary(obstacles.bounds, pose, inflation, height), inflation)
    if not obstacles.has_region:
        return None
    ends = obstacles.offsets.astype(np.int64)
    rings: dict[int, list[bytes]] = {REGION: [], HOLE: []}
    owners: dict[int, list[int]] = {REGION: [], HOLE: []}
    for i in np.flatnonzero(obstacles.kinds >= REGION).tolist():
        kind = int(obstacles.kinds[i])
        ring = np.asarray(obstacles.xy[2 * ends[i] : 2 * ends[i + 1]], dtype=np.float64)
        rings[kind].append(ring.tobytes())
        owners[kind].append(i)
    region = _region(tuple(rings[REGION]), tuple(rings[HOLE]))
    if isinstance(region, InputError):
        kind = REGION if region.argument == "outlines" else HOLE
        if region.index is None or not owners[kind]:
            raise InputError(region.status, "kinds", None, region.rule)
        i = owners[kind][region.index]
        rule = f"obstacle {i}: {region.rule}"
        raise InputError(region.status, "xy", 2 * int(ends[i]), rule)
    if pose == Pose() and not inflation:
        return region
    placed = placed_boundary((region.boundary, region._radii), pose, inflation, height)
    return region._with_boundary(*placed, inflation)


def placed_boundary(boundary: Boundary, pose: Pose, keep: float, height: float = 0.0) -> Boundary:
    """Return a boundary in the parent frame of a pose.

    The distance to be kept from it includes the error of the pose, and `keep` [m]. `height` is
    the largest distance of a point from the plane of the pose [m].
    """
    segments, radii = boundary
    if pose == Pose() and not keep:
        return boundary
    points = segments.reshape(-1, 2)
    errors = pose.transform_error(points, height).reshape(-1, 2).max(axis=1)
    grown = np.nextafter(np.nextafter(radii + errors, np.inf) + keep, np.inf)
    grown = np.where((errors == 0.0) & (radii == 0.0), keep, grown)
    return pose.transform(points).reshape(segments.shape), grown


@lru_cache(maxsize=8)
def _region(outlines: tuple[bytes, ...], holes: tuple[bytes, ...]) -> Region | InputError:
    """Return a region from the bytes of its outlines, or why they are not valid.

    Making one takes up to seconds, so an error is kept, too.
    """
    one, other = (
        [np.frombuffer(ring).reshape(-1, 2) for ring in rings] for rings in (outlines, holes)
    )
    try:
        return Region(one, other)
    except InputError as error:
        if error.status is Status.EMPTY_REQUEST:
            rule = f"a list with a HOLE ({HOLE}) must have a REGION ({REGION})"
            return InputError(Status.INVALID_INPUT, error.argument, None, rule)
        return error.with_traceback(None)
