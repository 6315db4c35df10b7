# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/Collide``: whether the vehicle is free at one pose."""

from ..answers import Answer, answer_of
from ..frames import IDENTITY, Pose
from ..rules import non_negative, single
from ..snapshot import Snapshot

__all__ = ["collide"]


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
    extra = non_negative("margin", margin)
    poses, errors = snapshot.composed(single(pose), frame)
    return answer_of(snapshot, snapshot.core().collide(poses[0], extra, float(errors[0])))
