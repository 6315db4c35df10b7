# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/Distance``: the obstacles that are nearest to the vehicle at one pose."""

from dataclasses import replace
from math import inf

import numpy as np

from ...results import INVARIANT
from ...verdict import Status, Verdict
from ..answers import DistanceAnswer, unknown
from ..frames import IDENTITY, Pose
from ..rules import non_negative, single
from ..snapshot import Fault, Snapshot
from .single_pose import answer_at

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
    reach = non_negative("max_distance", max_distance) or inf
    poses, errors = snapshot.composed(single(pose), frame)
    if snapshot.footprint is None:
        return DistanceAnswer(unknown(snapshot.footprint_fault))
    margin, scene = snapshot.config.safety_margin, snapshot.scene
    vehicle = snapshot.vehicle(errors[0])
    hit = scene.check(vehicle, poses, margin=margin)
    status = Status(int(hit.statuses[0]))
    decides = int(hit.nearest_ids[0]), int(hit.nearest_indices[0])
    answer = answer_at(snapshot, hit.verdict, status, *decides)
    count = len(scene) + (snapshot.region_source != "")  # the outside counts as an obstacle
    if answer.verdict is Verdict.UNKNOWN or not count:
        return DistanceAnswer(answer)
    at = poses[0].tolist()
    near = scene.nearest(vehicle, at, k=min(max(k, 1), count), max_distance=reach)
    # The answer names the nearest obstacle, also where it is farther away than `max_distance`.
    nearest = near if len(near.ids) else scene.nearest(vehicle, at)
    answer = replace(
        answer,
        nearest_id=int(nearest.ids[0]),
        nearest_source=snapshot.source_of(int(nearest.indices[0])),
    )
    bounds, least = near.lower_bounds, float(near.distances.min(initial=inf))
    if not INVARIANT.holds(answer.verdict, least, margin):
        text = f"FREE, but the distance is {least:g} m"
        return DistanceAnswer(unknown(Fault(Status.INTERNAL_ERROR, text)))
    if answer.verdict is Verdict.FREE:  # this proves that no obstacle is nearer than the margin
        bounds = np.maximum(bounds, margin)
    return DistanceAnswer(
        answer,
        tuple(snapshot.source_of(int(i)) for i in near.indices),
        ids=near.ids,
        indices=near.indices,
        distances=near.distances,
        lower_bounds=bounds,
        witness_shape=near.witness_shape,
        witness_obstacle=near.witness_obstacle,
        directions=near.directions,
        statuses=near.statuses,
    )
