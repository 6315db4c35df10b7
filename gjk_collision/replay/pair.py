# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicle and one obstacle, as an answer was computed from them."""

from typing import NamedTuple

import numpy as np

from ..geometry import Shape, distance, outlined
from ..region import OUTSIDE
from ..server.data.snapshot import Snapshot
from ..server.frames.poses import Pose
from .rows import Row

__all__ = ["MomentError", "Pair", "is_inside", "nearest_pair", "pair_of"]


class MomentError(ValueError):
    """The bag has no such stamp or obstacle, or the vehicle is not known at the stamp."""


class Pair(NamedTuple):
    """The vehicle with the directional margins, and an obstacle with the inflation.

    Attributes
    ----------
    vehicle, obstacle : Shape
        The shapes.
    vehicle_pose, obstacle_pose : Pose
        Their poses in the check frame.
    margin : float
        Distance that the obstacle requires [m]: the safety margin and the margin of the obstacle.
    """

    vehicle: Shape
    vehicle_pose: Pose
    obstacle: Shape
    obstacle_pose: Pose
    margin: float


def nearest_pair(snapshot: Snapshot, row: Row) -> Pair | None:
    """Return the vehicle and the nearest obstacle of an answer; None: it is not known."""
    try:
        return pair_of(snapshot, row, row.nearest_id, row.nearest_source)
    except MomentError:
        return None


def is_inside(found: Pair) -> bool:
    """Return whether an obstacle is inside the vehicle with all its corners."""
    return all(
        distance(found.vehicle, Shape.point((x, y)), found.vehicle_pose) <= -radius
        for part, radius in zip(found.obstacle.parts, found.obstacle.radii, strict=True)
        for x, y in found.obstacle_pose.transform(part).tolist()
    )


def pair_of(snapshot: Snapshot, row: Row, wanted: int, source: str) -> Pair:
    """Return the vehicle and the obstacle of an id, of a source (empty: of any)."""
    vehicle, config = snapshot.footprint, snapshot.config
    if vehicle is None or not row.ego:
        raise MomentError(f"the vehicle is not known: {row.status.name}, {row.message}")
    for sender in snapshot.senders:
        obstacles = sender.obstacles
        found = np.flatnonzero(obstacles.ids == wanted)
        if wanted == -1 or not len(found) or source not in ("", sender.name):
            continue
        i = int(found[0])
        begin, end = obstacles.offsets[i : i + 2].tolist()
        is_concave = len(obstacles.kinds) and obstacles.kinds[i]
        shape = outlined(
            obstacles.xy[2 * begin : 2 * end].reshape(-1, 2),
            config.concave_policy if is_concave else "hull",
            float(obstacles.radius[i]) if len(obstacles.radius) else 0.0,
        ).inflated(sender.source.inflation)
        pose = sender.pose
        if len(obstacles.poses):
            pose = pose.of(Pose(*obstacles.poses.reshape(-1, 3)[i].tolist()))
        own = float(obstacles.margins[i]) if len(obstacles.margins) else 0.0
        return Pair(vehicle, Pose(*row.ego), shape, pose, config.safety_margin + own)
    if wanted == OUTSIDE and snapshot.region_source:
        text = "the outside of the region is nearest, and it is not a shape that can be traced; "
        raise MomentError(f"{text}choose an obstacle by its id")
    text = "there is no nearest obstacle" if wanted == -1 else f"obstacle {wanted} is not known"
    if wanted != -1 and row.nearest_id != -1:
        text += f" (the nearest one is {row.nearest_id} of {row.nearest_source})"
    said = f": {row.message}" if row.message else ""
    raise MomentError(f"{text}: {row.verdict.name}/{row.status.name}{said}")
