# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/Distance``: the obstacles that are nearest to the vehicle at one pose."""

from ..answers import DistanceAnswer, answer_of
from ..frames import IDENTITY, Pose
from ..rules import non_negative, single
from ..snapshot import Snapshot

__all__ = ["distance"]


def distance(
    snapshot: Snapshot,
    pose: Pose,
    k: int = 1,
    max_distance: float = 0.0,
    *,
    frame: Pose = IDENTITY,
) -> DistanceAnswer:
    """Find the obstacles that are nearest to the vehicle at a pose.

    If the snapshot has a fault, the list may be incomplete. It is then only returned if the
    verdict is COLLISION.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    pose : Pose
        x y yaw [m, m, rad] of the base frame, in `frame`.
    k : int
        Maximum number of obstacles; 0: one.
    max_distance : float
        Obstacles farther away are not returned [m]; 0: no limit.
    frame : Pose
        Pose of the request's frame in the check frame.

    Raises
    ------
    InputError
        The request is invalid.
    """
    non_negative("max_distance", max_distance)
    poses, errors = snapshot.composed(single(pose), frame)
    answer, indices, distances, lower_bounds, witnesses, directions, statuses = (
        snapshot.core().distance(poses[0], max(k, 0), max_distance, float(errors[0]))
    )
    return DistanceAnswer(
        answer_of(snapshot, answer),
        tuple(snapshot.source_of(int(i)) for i in indices),
        ids=snapshot.scene._ids_of(indices),
        indices=indices,
        distances=distances,
        lower_bounds=lower_bounds,
        witness_shape=witnesses[:, :2],
        witness_obstacle=witnesses[:, 2:],
        directions=directions,
        statuses=statuses,
    )
