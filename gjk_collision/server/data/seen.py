# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the sources with ``marks_seen`` have seen, and the space of the vehicle itself."""

from collections.abc import Iterable
from math import pi
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...convert.seen import grown_outline, region_in
from ...region import Region
from ..frames.poses import Pose
from .placing import Sender
from .regions import placed_boundary

__all__ = ["NO_SPACE", "VEHICLE", "Space", "all_seen", "space_of"]

VEHICLE = "footprint"  # the name of the space that the vehicle itself fills
_CORNERS = 256  # of a polygon in a round vehicle: less than _BEYOND from it up to a radius of 13 m
_BEYOND = 0.001  # m. The vehicle may not touch the boundary of the space that it fills


class Space(NamedTuple):
    """The space that the vehicle has filled.

    Attributes
    ----------
    outline : bytes
        The outline (n, 2) in the base frame [m]; empty: not known.
    poses : tuple of Pose
        Poses of the base frame in the check frame.
    """

    outline: bytes
    poses: tuple[Pose, ...]


NO_SPACE = Space(b"", ())


def space_of(outline: npt.NDArray[np.float64], radius: float, poses: Iterable[Pose]) -> Space:
    """Return the space of a vehicle. A circle of `radius` [m] has one point as its outline."""
    if len(outline) == 1:
        angles = np.arange(_CORNERS) * (2.0 * pi / _CORNERS)
        outline = outline + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if len(outline) < 3:
        return NO_SPACE
    return Space(np.asarray(outline, np.float64).tobytes(), tuple(dict.fromkeys(poses)))


def all_seen(senders: Iterable[Sender], space: Space) -> tuple[tuple[str, Region], ...]:
    """Return all regions with their names: what was seen, and the space of the vehicle."""
    found = [(each.name, each.seen) for each in senders if each.seen is not None]
    if space.poses:
        vehicle = grown_outline(np.frombuffer(space.outline).reshape(-1, 2), _BEYOND)
        placed = (placed_boundary(vehicle, pose, 0.0) for pose in space.poses)
        found += [(VEHICLE, region_in(each)) for each in placed]
    return tuple(found)
