# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/Collide``: whether the vehicle is free at one pose."""

from ...verdict import Status, Verdict
from ..answers import Answer, reason, unknown
from ..frames import IDENTITY, Pose
from ..rules import single, total_margin
from ..snapshot import Snapshot

__all__ = ["answer_at", "collide"]


def collide(
    snapshot: Snapshot, pose: Pose, margin: float = 0.0, *, frame: Pose = IDENTITY
) -> Answer:
    """Check one pose of the base frame.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    pose : Pose
        x y yaw [m, m, rad] of the base frame, in `frame`.
    margin : float
        Added to the configured margin [m], >= 0.
    frame : Pose
        Pose of the request's frame in the check frame.

    Raises
    ------
    InputError
        The request is invalid.
    """
    total = total_margin(snapshot.config, margin)
    poses, errors = snapshot.composed(single(pose), frame)
    if snapshot.footprint is None:
        return unknown(snapshot.footprint_fault)
    found = snapshot.scene.check(snapshot.vehicle(errors[0]), poses, margin=total)
    nearest, index = int(found.nearest_ids[0]), int(found.nearest_indices[0])
    return answer_at(snapshot, found.verdict, Status(int(found.statuses[0])), nearest, index)


def answer_at(
    snapshot: Snapshot, verdict: Verdict, status: Status, nearest: int, index: int
) -> Answer:
    """Return the answer for one pose. If the snapshot has a fault, only COLLISION is kept."""
    fault = snapshot.fault
    if fault is not None and verdict is not Verdict.COLLISION:
        return unknown(fault)
    message = reason(status)
    if fault is not None:
        status, message = fault.status, fault.message
    return Answer(verdict, status, message, nearest, snapshot.source_of(index))
