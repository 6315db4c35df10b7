# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicle and one obstacle of a bag, at one stamp."""

from dataclasses import dataclass

import numpy as np

from ..geometry import Shape
from ..server.frames import Pose
from .bag import Bag
from .case import Case
from .drive import Drive
from .rows import Row
from .topics import choose

__all__ = ["Moment", "MomentError", "moment"]


class MomentError(ValueError):
    """The bag has no such stamp or obstacle, or the vehicle is not known at the stamp."""


@dataclass(frozen=True)
class Moment:
    """The vehicle and an obstacle at one stamp, with the answer.

    Attributes
    ----------
    row : Row
        The answer at the stamp.
    vehicle, obstacle : Shape
        The vehicle with the directional margins, and the obstacle with the inflation.
    vehicle_pose, obstacle_pose : Pose
        Poses in the check frame.
    obstacle_id : int
        Id of the obstacle.
    """

    row: Row
    vehicle: Shape
    vehicle_pose: Pose
    obstacle: Shape
    obstacle_pose: Pose
    obstacle_id: int


def moment(case: Case, seconds: float, obstacle_id: int | None = None) -> Moment:
    """Return the vehicle and an obstacle at the first stamp at or after a time.

    Parameters
    ----------
    case : Case
        The bag, with parameters, topics and faults.
    seconds : float
        Time after the begin of the bag [s].
    obstacle_id : int
        Id of the obstacle; None: the nearest obstacle.

    Raises
    ------
    MomentError
        There is no such stamp or obstacle, or the vehicle is not known at the stamp.
    BagError
        The bag cannot be replayed up to the stamp.
    """
    with Bag(case.bag) as bag:
        drive = Drive(bag, case.config, choose(bag, case.config, case.topics), case.faults)
        for row in drive.rows():
            if row.is_state and (row.time - bag.begin) * 1e-9 >= seconds - 1e-9:
                return _moment(drive, row, row.nearest_id if obstacle_id is None else obstacle_id)
    raise MomentError(f"{case.bag.name}: no stamp at or after {seconds:g} s")


def _moment(drive: Drive, row: Row, wanted: int) -> Moment:
    vehicle, config = drive.snapshot.footprint, drive.snapshot.config
    if vehicle is None or not row.ego:
        raise MomentError(f"the vehicle is not known: {row.status.name}, {row.message}")
    for (source, _), obstacles in drive.shown.items():
        found = np.flatnonzero(obstacles.ids == wanted)
        if wanted == -1 or not len(found):
            continue
        i = int(found[0])
        shape = obstacles.shape(i, config.concave_policy)
        shape = shape.inflated(config.source(source).inflation)
        pose = drive.frame_of(source, obstacles)
        if len(obstacles.poses):
            pose = pose.of(Pose(*obstacles.poses.reshape(-1, 3)[i].tolist()))
        return Moment(row, vehicle, Pose(*row.ego), shape, pose, wanted)
    text = "there is no nearest obstacle" if wanted == -1 else f"obstacle {wanted} is not known"
    raise MomentError(f"{text}: {row.verdict.name}/{row.status.name}")
