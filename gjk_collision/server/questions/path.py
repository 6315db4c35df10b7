# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/CheckPath``: whether the vehicle is free on the path through some poses."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InputError
from ...motion import Motion
from ...verdict import Status
from .. import budget
from ..answers import PathAnswer, answer_of
from ..frames import Pose
from ..rules import batch
from ..snapshot import Snapshot

__all__ = ["check_path", "checked_tolerance", "is_swept", "pose_on"]

FIRST_CHUNK = _core.FIRST_SEGMENTS

Floats = npt.NDArray[np.float64]
_NO_FLOATS: Floats = np.empty(0)


def check_path(
    snapshot: Snapshot,
    poses: Floats,
    times: Floats = _NO_FLOATS,
    *,
    frame: Callable[[], Pose] = Pose,
    stamp: int = 0,
    swept: bool = True,
    margin: float = 0.0,
    tolerance: float = 0.0,
    is_late: Callable[[], bool] | None = None,
) -> PathAnswer:
    """Check a path through poses of the base frame.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    poses, times, frame, stamp, margin
        As for `check_poses`. The times must increase strictly. If the path goes on after
        `Snapshot.known_until`, the answer is UNKNOWN with the status PREDICTION_TOO_SHORT, unless
        there is a collision before.
    swept : bool
        Whether the path between the poses is checked too; otherwise, only the poses are.
    tolerance : float
        Tolerance of swept checks [m]: a path that passes an obstacle closer than margin +
        tolerance may be reported as not free. 0: the parameter `toi_tolerance`.
    is_late : callable, optional
        Returns whether the time budget is used up. The answer is then UNKNOWN, unless a collision
        was found before. None: there is no budget.

    Raises
    ------
    InputError
        The request is invalid.
    """
    checked = batch(poses, times, snapshot.config.max_poses)
    rows, errors = snapshot.composed(checked, frame(), is_path=True)
    answer, segment, fraction, time, index, least, lower_bound = snapshot.core().check_path(
        rows,
        times,
        errors,
        stamp,
        margin,
        swept,
        tolerance,
        is_late,
        budget.CHUNK_TIME,
        FIRST_CHUNK,
    )
    return PathAnswer(
        answer_of(snapshot, answer),
        first_invalid_segment=segment,
        last_valid_fraction=fraction,
        first_collision_time=time,
        obstacle_index=index,
        min_distance=least,
        min_distance_lower_bound=lower_bound,
    )


def checked_tolerance(tolerance: float) -> float:
    """Return a tolerance if it is 0 or in the range of `toi_tolerance`.

    A smaller tolerance is refused, because the computation would take seconds.
    """
    _core.check_tolerance(tolerance)
    return tolerance


def is_swept(interpolation: int) -> bool:
    """Return whether an interpolation is SWEPT (1), not DISCRETE (0).

    Raises
    ------
    InputError
        It is neither.
    """
    if interpolation not in (0, 1):
        rule = f"must be 0 or 1 (got {interpolation})"
        raise InputError(Status.INVALID_INPUT, "interpolation", None, rule)
    return bool(interpolation)


def pose_on(rows: Floats, segment: int, fraction: float) -> Pose:
    """Return the pose at a fraction of a segment of a path.

    Parameters
    ----------
    rows : (M, 3) float64
        Poses of the path, x y yaw [m, m, rad], in the frame in which the path was checked. In
        another frame, the rounding of the yaws can reverse the direction of a half turn.
    segment : int
        Index of the segment, from this pose to the next one.
    fraction : float
        Fraction of the segment, 0 to 1.
    """
    if not fraction or segment + 1 == len(rows):
        return Pose(*rows[segment].tolist())
    way = Motion.path((0.0, 1.0), rows[segment : segment + 2])
    return Pose(*way.at(fraction).tolist())
