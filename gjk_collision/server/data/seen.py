# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the sources with ``marks_seen`` have seen, in the check frame."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import pi

import numpy as np
import numpy.typing as npt

from ...convert.seen import Boundary, grown_outline, region_in
from ...geometry import Shape
from ...region import Region
from ..frames.poses import FrameError, Pose, TransformSource
from ..parameters.config import Config
from .regions import placed_boundary

__all__ = ["VEHICLE", "Seen", "all_seen", "seen_of"]

VEHICLE = "footprint"  # the name of the space that the vehicle itself fills
_CORNERS = 32  # of a polygon in a round vehicle
_BEYOND = 0.001  # m. The vehicle may not touch the boundary of the space that it fills


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What one message has seen.

    Attributes
    ----------
    name : str
        Name of the sender.
    region : Region
        The region that it has seen, smaller by the errors of its place.
    vehicle : Pose or None
        Pose of the base frame at the stamp of the message; None: not known.
    """

    name: str
    region: Region
    vehicle: Pose | None


def seen_of(
    name: str,
    boundary: Boundary,
    pose: Pose,
    inflation: float,
    stamp: int | None,
    config: Config,
    transforms: TransformSource,
) -> Seen:
    """Return what a message has seen, from the boundary of it in its own frame with a pose.

    What makes obstacles larger makes the region smaller: the error of the pose, and `inflation`.
    `stamp`: when the vehicle filled a part of the space [ns]; None: this is not known.
    """
    placed = region_in(placed_boundary(boundary, pose, inflation))
    vehicle = None
    if stamp is not None:
        with suppress(FrameError):
            vehicle = transforms.lookup(config.check_frame, config.base_frame, stamp)
    return Seen(name, placed, vehicle)


def all_seen(
    seen: Sequence[Seen], outline: npt.NDArray[np.float64] | None, shape: Shape | None
) -> tuple[tuple[str, Region], ...]:
    """Return all regions with their names: what was seen, and the space of the vehicle itself.

    Parameters
    ----------
    seen : sequence of Seen
        What was seen.
    outline : (n, 2) float64 or None
        Outline of the vehicle in its base frame [m]; None: not known.
    shape : Shape or None
        The footprint; its radius is that of a vehicle whose outline is one point.
    """
    found = [(each.name, each.region) for each in seen]
    if not seen or outline is None or shape is None:
        return tuple(found)
    if len(outline) == 1:
        angles = np.arange(_CORNERS) * (2.0 * pi / _CORNERS)
        outline = outline + shape.radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if len(outline) > 2:
        vehicle = grown_outline(outline, _BEYOND)
        places = dict.fromkeys(each.vehicle for each in seen if each.vehicle is not None)
        found += [(VEHICLE, region_in(placed_boundary(vehicle, pose, 0.0))) for pose in places]
    return tuple(found)
