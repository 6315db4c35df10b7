# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer in the heartbeat, ``msg/CollisionState``, for the present pose of the vehicle."""

from dataclasses import replace
from math import nan

import numpy as np
import numpy.typing as npt

from ...verdict import Status
from ..answers import StateAnswer, unknown
from ..frames import Pose
from ..snapshot import Fault, Snapshot
from ..twist import Twist
from .nearest import distance

__all__ = ["state", "time_to_collision", "with_time_to_collision"]

# Tolerance of the time to collision [m]: a pass at up to this distance may count as a contact.
TOLERANCE = 0.005


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


def time_to_collision(snapshot: Snapshot, pose: Pose | Fault) -> float:
    """Return the time until the first contact at the present twists [s].

    The vehicle keeps its twist, and the obstacles keep the velocities that their paths or
    velocities give at the time of the snapshot. The result does not depend on margins.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    pose : Pose or Fault
        Pose of the base frame in the check frame, or the reason why it is not known.

    Returns
    -------
    float
        It is never later than the contact. inf: no contact until the prediction horizon ends. NaN:
        not known, because the snapshot has a fault, or the pose, the twist or the motion of an
        obstacle is not known.
    """
    twist = snapshot.twist
    if snapshot.footprint is None or snapshot.fault is not None or isinstance(pose, Fault):
        return nan
    horizon = snapshot.known_until(0)
    if not isinstance(twist, Twist) or not horizon > 0.0:
        return nan
    found = snapshot.scene.time_to_collision(
        snapshot.footprint,
        (pose.x, pose.y, pose.yaw),
        (twist.vx, twist.vy, twist.wz),
        (snapshot.stamp - snapshot.epoch) * 1e-9,
        horizon=horizon,
        tolerance=TOLERANCE,
    )
    if found.statuses != Status.SUCCESS:
        return nan
    return float(found.times)


def with_time_to_collision(
    found: StateAnswer, snapshot: Snapshot, pose: Pose | Fault
) -> StateAnswer:
    """Return an answer of `state` with `time_to_collision`. The rest is not changed."""
    if snapshot.twist is None:
        return found
    return replace(found, time_to_collision=time_to_collision(snapshot, pose))


def _pair(row: npt.NDArray[np.float64]) -> tuple[float, float]:
    return float(row[0]), float(row[1])
