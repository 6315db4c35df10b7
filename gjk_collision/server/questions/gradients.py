# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The derivatives in ``srv/CheckPoses``, mode GRADIENT."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...results import GradientResult
from ...verdict import Status, Verdict
from ..answers import PosesAnswer, budget_spent, unknown
from ..budget import chunks
from ..frames import Pose
from ..rules import refuse
from ..snapshot import Snapshot

__all__ = ["MODE_GRADIENT", "checked_neighbours", "with_gradients"]

MODE_GRADIENT = 3
FIRST_CHUNK = 128  # poses

Floats = npt.NDArray[np.float64]


def checked_neighbours(k: int, count: int, limit: int) -> int:
    """Return the number of obstacles per pose; 0 means 1.

    Raises
    ------
    InputError
        LIMIT_EXCEEDED: `count` poses times k is more than `limit`.
    """
    wanted = max(k, 1)
    if count * wanted > limit:
        rule = f"{count} poses with {wanted} obstacles each, limit {limit} together (max_poses)"
        refuse(Status.LIMIT_EXCEEDED, "k", None, rule)
    return wanted


def with_gradients(
    found: PosesAnswer,
    vehicles: Sequence[tuple[Snapshot, npt.NDArray[np.intp]]],
    poses: Floats,
    times: Floats,
    *,
    frame: Pose,
    stamp: int = 0,
    k: int = 1,
    is_late: Callable[[], bool] | None = None,
) -> PosesAnswer:
    """Return the answer with the derivatives of the distances to the k nearest obstacles.

    They are not known at UNKNOWN poses, and nowhere if the snapshot has a fault, because an
    obstacle that is not known may be nearer. If the time budget is used up before all are
    computed, the answer is UNKNOWN, unless there is a collision.

    Parameters
    ----------
    found : PosesAnswer
        The answer for the poses.
    vehicles : sequence of (Snapshot, (n,) intp)
        For each footprint, the snapshot with it, and the indices of its poses.
    poses, times, frame, stamp, is_late
        As for `check_poses`.
    k : int
        Number of obstacles per pose, >= 1.
    """
    count = len(found.verdicts)
    rows = np.asarray(poses).reshape(-1, 3)
    columns: dict[str, npt.NDArray[Any]] = {
        "distances": np.full((count, k), np.nan),
        "lower_bounds": np.full((count, k), np.nan),
        "gradients": np.full((count, k, 3), np.nan),
        "rates": np.full((count, k), np.nan),
        "ids": np.full((count, k), -1),
        "smooth": np.zeros((count, k), bool),
        "statuses": found.statuses.copy(),
    }
    done = wanted = 0
    for snapshot, indices in vehicles:
        if snapshot.fault is not None or snapshot.footprint is None:
            continue
        known = indices[found.verdicts[indices] != Verdict.UNKNOWN]
        wanted += len(known)
        if done < wanted - len(known) or not len(known):
            continue
        placed, errors = snapshot.composed(rows[known], frame)
        at = snapshot.core().on_clock(times[known], stamp) if len(times) else None
        for begin, end in chunks(len(known), FIRST_CHUNK, is_late):
            for error in np.unique(errors[begin:end]).tolist():
                part = begin + np.flatnonzero(errors[begin:end] == error)
                shape = snapshot.footprint.inflated(error) if error else snapshot.footprint
                own = snapshot.scene.gradient(
                    shape, placed[part], None if at is None else at[part], k
                )
                for name, values in columns.items():
                    values[known[part]] = getattr(own, name)
            done += end - begin
    answer = found.answer
    if done < wanted and answer.verdict is not Verdict.COLLISION:
        answer = unknown(budget_spent(done, wanted))
    return replace(found, answer=answer, gradients=GradientResult(**columns))
