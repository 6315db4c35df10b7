# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The question of ``srv/Collide``: whether the vehicle is free at one pose."""

from ...verdict import Status, Verdict
from ..answers import Answer, reason, unknown
from ..frames import Pose
from ..rules import demanded_margin, single
from ..snapshot import Snapshot

__all__ = ["HERE", "answer_at", "collide"]

HERE = Pose()


def collide(snapshot: Snapshot, pose: Pose, margin: float = 0.0, *, frame: Pose = HERE) -> Answer:
    """Answer whether the vehicle is free at a pose of its base frame.

    Parameters
    ----------
    snapshot : Snapshot
        What is known.
    pose : Pose
        x y yaw [m, m, rad].
    margin : float
        Added to the configured one [m], >= 0.
    frame : Pose
        Of `pose`, in the check frame.
    """
    total = demanded_margin(snapshot.config, margin)
    poses, errors = snapshot.composed(single(pose), frame)
    if snapshot.footprint is None:
        return unknown(snapshot.footprint_fault)
    found = snapshot.scene.check(snapshot.vehicle(errors[0]), poses, margin=total)
    nearest, index = int(found.nearest_ids[0]), int(found.nearest_indices[0])
    return answer_at(snapshot, found.verdict, Status(int(found.statuses[0])), nearest, index)


def answer_at(
    snapshot: Snapshot, verdict: Verdict, status: Status, nearest: int, index: int
) -> Answer:
    """Answer for one pose; beside a fault only a certain hit stands."""
    fault = snapshot.fault
    if fault is not None and verdict is not Verdict.COLLISION:
        return unknown(fault)
    message = reason(status)
    if fault is not None:
        status, message = fault.status, fault.message
    return Answer(verdict, status, message, nearest, snapshot.source_of(index))
