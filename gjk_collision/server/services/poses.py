# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The poses of a request in the check frame, for all services."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InputError, refuse
from ...motion import Motion
from ...verdict import Status
from ..frames.poses import IDENTITY, Pose

__all__ = ["NO_LIMIT", "Data", "check_frame", "place", "pose_on"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]
NO_FLOATS: Floats = np.empty(0)
NO_INTEGERS: Integers = np.empty(0, np.int64)
NO_LIMIT = _core.Budget()
# Maximum error of a request's pose in another frame [m]. A pose with a greater error is refused.
MAX_ERROR = 1e6


class Data(Protocol):
    """What a question is asked of: a `Snapshot` of the server, or the data of a mirror."""

    def cores(self) -> Sequence[_core.Snapshot]:
        """Return the data with each footprint of the request."""


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
    motion = Motion.path((0.0, 1.0), rows[segment : segment + 2])
    return Pose(*motion.at(fraction).tolist())


def check_frame(pose: Pose) -> None:
    """Check the pose of a frame in the check frame.

    Raises
    ------
    InputError
        NON_FINITE or COORD_RANGE.
    """
    try:
        _core.check_batch(np.array(pose), NO_FLOATS, 1)
    except InputError as error:
        raise InputError(error.status, "frame_pose", None, error.rule) from error


def place(
    cores: Sequence[_core.Snapshot],
    poses: Floats,
    frame: Pose,
    *,
    which: Integers = NO_INTEGERS,
    is_path: bool = False,
    beyond: float = 0.0,
) -> tuple[Floats, Floats]:
    """Transform poses of a request into the check frame.

    Parameters
    ----------
    cores : sequence of _core.Snapshot
        The data with each footprint of the request.
    poses : (N, 3) float64
        x y yaw [m, m, rad] of the base frame in `frame`.
    frame : Pose
        Pose of the request's frame in the check frame.
    which : (N,) integers, optional
        Index of the footprint at each pose. Default: the first one.
    is_path : bool
        Whether the vehicle moves from each pose to the next one.
    beyond : float
        Maximum length of a path from the poses, in the frame of the vehicle [m].

    Returns
    -------
    poses : (N, 3) float64
        x y yaw [m, m, rad] of the base frame in the check frame.
    errors : (N,) float64
        Upper bound of the distance between a point of the footprint and its exact place [m]. It is
        a power of two or 0. The footprint is grown by it, so that it contains the footprint at the
        exact pose.

    Raises
    ------
    InputError
        COORD_RANGE: a pose is so far from the origin of its frame that its error is `MAX_ERROR` or
        more.
    """
    if frame == IDENTITY or not any(core.has_footprint for core in cores):
        return frame.compose(poses), np.zeros(len(poses))
    reaches = np.array([core.reach for core in cores]) + beyond
    known = len(which) == len(poses) and np.all((which >= 0) & (which < len(cores)))
    reach = reaches[which] if known else reaches.max()  # wrong indices are refused by the rules
    if is_path:
        placed, errors = frame.compose_paths(poses, reach, np.zeros(len(poses), bool))
    else:
        placed, errors = frame.compose(poses), frame.compose_error(poses, reach)
    small = errors < MAX_ERROR
    if not small.all():
        i = int(np.argmin(small))
        rule = "the pose is too far from the origin of its frame to be transformed accurately"
        refuse("poses", rule, index=3 * i, status=Status.COORD_RANGE)
    # Poses near each other have the same error after this, and are checked together.
    rounded_up = np.ldexp(1.0, np.frexp(errors)[1])
    return placed, np.where(errors > 0.0, rounded_up, 0.0)
