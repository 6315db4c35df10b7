# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/NearestFree``: the nearest free pose."""

from math import hypot

import numpy as np

from ...verdict import Status, Verdict
from ..answers import Answer, NearestFreeAnswer, unknown
from ..frames import IDENTITY, Pose
from ..rules import non_negative, single, total_margin
from ..snapshot import Fault, Snapshot
from .path import checked_tolerance
from .single_pose import collide

__all__ = ["nearest_free"]


def nearest_free(
    snapshot: Snapshot,
    pose: Pose,
    max_shift: float,
    max_turn: float = 0.0,
    margin: float = 0.0,
    tolerance: float = 0.0,
    *,
    frame: Pose = IDENTITY,
    limited: bool = False,
) -> NearestFreeAnswer:
    """Search the nearest pose of the base frame that is FREE.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    pose : Pose
        x y yaw [m, m, rad] of the base frame, in `frame`.
    max_shift, max_turn : float
        Maximum distance [m] and change of the yaw [rad], >= 0.
    margin : float
        Added to the configured margin [m], >= 0.
    tolerance : float
        Resolution of the search [m]; 0: the parameter `toi_tolerance`.
    frame : Pose
        Pose of the request's frame in the check frame.
    limited : bool
        Whether the search may take no longer than the parameter `time_budget`.

    Raises
    ------
    InputError
        The request is invalid. TIME_BUDGET: the search took too long.
    """
    for name, value in (("max_shift", max_shift), ("max_turn", max_turn)):
        non_negative(name, value)
    finest = checked_tolerance(tolerance) or snapshot.config.toi_tolerance
    here = collide(snapshot, pose, margin, frame=frame)
    if here.verdict is Verdict.UNKNOWN or snapshot.fault is not None:
        return NearestFreeAnswer(here)
    assert snapshot.footprint is not None
    (start,), (error,) = snapshot.composed(single(pose), frame)
    if here.is_free:
        return NearestFreeAnswer(here, start, 0.0, 0.0)
    shape = snapshot.footprint.inflated(float(error)) if error else snapshot.footprint
    found = snapshot.scene._core.nearest_free(
        shape._core,
        start,
        max_shift,
        max_turn,
        total_margin(snapshot.config, margin),
        None,
        finest,
        snapshot.config.time_budget if limited else None,
    )
    if found is None:
        text = "no free pose was found within max_shift and max_turn"
        return NearestFreeAnswer(
            Answer(here.verdict, here.status, text, here.nearest_id, here.nearest_source)
        )
    free = np.array(found)
    again = collide(snapshot, Pose(*found), margin)
    if not again.is_free:
        text = "the pose of the search is not FREE"
        return NearestFreeAnswer(unknown(Fault(Status.INTERNAL_ERROR, text)))
    shift, turn = free[:2] - start[:2], float(free[2] - start[2])
    return NearestFreeAnswer(again, free, hypot(*shift.tolist()), turn)
