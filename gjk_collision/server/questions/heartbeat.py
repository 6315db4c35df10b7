# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer in the heartbeat, ``msg/CollisionState``, for the present pose of the vehicle."""

from math import nan

import numpy as np
import numpy.typing as npt

from ..answers import StateAnswer, unknown
from ..frames import Pose
from ..snapshot import Fault, Snapshot
from .nearest import distance

__all__ = ["state"]


def state(snapshot: Snapshot, pose: Pose | Fault) -> StateAnswer:
    """Check the present pose of the vehicle, and find the nearest obstacle.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    pose : Pose or Fault
        Pose of the base frame in the check frame, or the reason why it is not known.
    """
    if snapshot.footprint is None:
        return StateAnswer(unknown(snapshot.footprint_fault))
    if isinstance(pose, Fault):
        return StateAnswer(unknown(snapshot.fault or pose))
    near = distance(snapshot, pose)
    if not len(near.ids):
        clear = np.inf if near.answer.is_free else nan
        return StateAnswer(near.answer, distance=clear, lower_bound=clear)
    return StateAnswer(
        near.answer,
        float(near.distances[0]),
        float(near.lower_bounds[0]),
        witness_ego=_pair(near.witness_shape[0]),
        witness_obstacle=_pair(near.witness_obstacle[0]),
        direction=_pair(near.directions[0]),
    )


def _pair(row: npt.NDArray[np.float64]) -> tuple[float, float]:
    return float(row[0]), float(row[1])
