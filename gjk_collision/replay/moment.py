# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicle and one obstacle of a bag, at one stamp."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..geometry import Shape, distance, outlined
from ..region import OUTSIDE
from ..server.frames import Pose
from ..server.snapshot import Snapshot
from .bag import Bag
from .case import Case
from .drive import Drive
from .rows import Row
from .topics import choose

__all__ = ["Moment", "MomentError", "Pair", "is_inside", "moment"]

# s. The page of a replay shows times to the microsecond.
_TOLERANCE = 5e-7


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


@dataclass(frozen=True)
class Moment:
    """A stamp with its number (from 0), its time after the begin of the bag [s], and a pair."""

    stamp: int
    time: float
    row: Row
    obstacle_id: int
    pair: Pair


def moment(case: Case, seconds: float, obstacle_id: int | None = None) -> Moment:
    """Return the vehicle and an obstacle at the last stamp at or before a time.

    Its answer holds at that time. If no stamp is before the time, this is the first stamp.

    Parameters
    ----------
    case : Case
        The bag, with parameters, topics and faults.
    seconds : float
        Time after the begin of the bag [s], to the microsecond.
    obstacle_id : int
        Id of the obstacle; None: the nearest obstacle.

    Raises
    ------
    MomentError
        There is no such stamp or obstacle, or the vehicle is not known at the stamp.
    BagError
        The bag cannot be replayed up to the stamp.
    """
    last: tuple[int, Row, Snapshot] | None = None
    with Bag(case.bag) as bag:
        topics, live = choose(bag, case.config, case.topics), case.live_parameters
        drive = Drive(bag, case.config, topics, case.faults, live_parameters=live)
        end = bag.seconds
        for stamp, row in enumerate(row for row in drive.rows() if row.is_state):
            time = (row.time - bag.begin) * 1e-9
            if last is not None and time > seconds + _TOLERANCE:
                end = time
                break
            last, end = (stamp, row, drive.snapshot), max(end, time)  # a fault can delay messages
        if not 0.0 <= seconds <= end + _TOLERANCE:
            rule = f"the time must be between 0 and the end of the bag, {end:.6f} s"
            raise MomentError(f"{bag.path.name}: {rule} (got {seconds:g} s)")
        if last is None:
            raise MomentError(f"{bag.path.name}: the bag has no stamp")
        stamp, row, snapshot = last
        named = (row.nearest_id, row.nearest_source) if obstacle_id is None else (obstacle_id, "")
        time = (row.time - bag.begin) * 1e-9
        return Moment(stamp, time, row, named[0], _pair(snapshot, row, *named))


def is_inside(snapshot: Snapshot, row: Row) -> bool:
    """Return whether the nearest obstacle is inside the vehicle with all its corners."""
    try:
        found = _pair(snapshot, row, row.nearest_id, row.nearest_source)
    except MomentError:
        return False
    return all(
        distance(found.vehicle, Shape.point((x, y)), found.vehicle_pose) <= -radius
        for part, radius in zip(found.obstacle.parts, found.obstacle.radii, strict=True)
        for x, y in found.obstacle_pose.transform(part).tolist()
    )


def _pair(snapshot: Snapshot, row: Row, wanted: int, source: str) -> Pair:
    """Return the vehicle and the obstacle of an id, of a source (empty: of any)."""
    vehicle, config = snapshot.footprint, snapshot.config
    if vehicle is None or not row.ego:
        raise MomentError(f"the vehicle is not known: {row.status.name}, {row.message}")
    for part, (_, sender) in zip(snapshot.parts, snapshot.spans, strict=True):
        obstacles = part.obstacles
        found = np.flatnonzero(obstacles.ids == wanted)
        if wanted == -1 or not len(found) or source not in ("", sender):
            continue
        i = int(found[0])
        begin, end = obstacles.offsets[i : i + 2].tolist()
        is_concave = len(obstacles.kinds) and obstacles.kinds[i]
        shape = outlined(
            obstacles.xy[2 * begin : 2 * end].reshape(-1, 2),
            config.concave_policy if is_concave else "hull",
            float(obstacles.radius[i]) if len(obstacles.radius) else 0.0,
        ).inflated(part.inflation)
        pose = part.pose
        if len(obstacles.poses):
            pose = pose.of(Pose(*obstacles.poses.reshape(-1, 3)[i].tolist()))
        own = float(obstacles.margins[i]) if len(obstacles.margins) else 0.0
        return Pair(vehicle, Pose(*row.ego), shape, pose, config.safety_margin + own)
    if wanted == OUTSIDE and snapshot.region_source:
        text = "the outside of the region is nearest, and it is not a shape that can be traced; "
        raise MomentError(f"{text}choose an obstacle by its id")
    text = "there is no nearest obstacle" if wanted == -1 else f"obstacle {wanted} is not known"
    raise MomentError(f"{text}: {row.verdict.name}/{row.status.name}")
