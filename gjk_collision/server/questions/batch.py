# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/CheckPoses``: a verdict for each of many poses."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ... import _core
from .. import budget
from ..answers import PosesAnswer, answer_of
from ..frames import Pose
from ..rules import batch
from ..snapshot import Snapshot

__all__ = ["FIRST_CHUNK", "check_poses"]

FIRST_CHUNK = _core.FIRST_POSES

Floats = npt.NDArray[np.float64]
_NO_FLOATS: Floats = np.empty(0)
_NO_GROUPS: npt.NDArray[np.int64] = np.empty(0, np.int64)


def check_poses(
    snapshot: Snapshot,
    poses: Floats,
    times: Floats = _NO_FLOATS,
    *,
    frame: Callable[[], Pose] | None = None,
    stamp: int = 0,
    margin: float = 0.0,
    mode: int = 0,
    stop_at_first: bool = False,
    is_late: Callable[[], bool] | None = None,
) -> PosesAnswer:
    """Check many poses of the base frame.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    poses : (3 M,) float64
        x y yaw [m, m, rad] per pose.
    times : (M,) float64
        Time of each pose after `stamp` [s]; empty: the obstacles do not move. A pose later than
        `Snapshot.known_until` is UNKNOWN with the status PREDICTION_TOO_SHORT.
    frame : callable, optional
        Returns the pose of the frame of `poses` in the check frame. It is called after `poses` and
        `times` were checked. None: the poses are in the check frame.
    stamp : int
        Stamp of the request [ns]; 0: the stamp of the snapshot.
    margin : float
        Added to the configured margin [m], >= 0.
    mode : int
        Index in `MODES`.
    stop_at_first : bool
        Stop at the first pose that is not FREE. The poses after it are UNKNOWN.
    is_late : callable, optional
        Returns whether the time budget is used up. Poses not checked by then are UNKNOWN. None:
        there is no budget.

    Raises
    ------
    InputError
        The request is invalid.
    """
    rows, errors = poses, _NO_FLOATS
    if frame is not None:
        rows, errors = snapshot.composed(batch(poses, times, snapshot.config.max_poses), frame())
    found, *arrays, first_invalid = snapshot.core().check_poses(
        rows,
        times,
        errors,
        stamp,
        margin,
        mode,
        stop_at_first,
        is_late,
        budget.CHUNK_TIME,
        FIRST_CHUNK,
    )
    verdicts, statuses, distances, lower_bounds, nearest, witnesses = arrays
    answer = answer_of(snapshot, found)
    return PosesAnswer._of(
        {
            "answer": answer,
            "is_free": answer.is_free,
            "verdict": answer.verdict,
            "verdicts": verdicts,
            "statuses": statuses,
            "distances": distances,
            "lower_bounds": lower_bounds,
            "nearest_ids": snapshot.scene._ids_of(nearest),
            "nearest_indices": nearest,
            "witnesses": witnesses,
            "directions": None,
            "first_invalid_index": first_invalid,
            "group_first_invalid": _NO_GROUPS,
            "gradients": None,
        }
    )
