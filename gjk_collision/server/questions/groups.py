# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer for the groups of ``srv/CheckPoses``: trajectories in one request."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...verdict import Status, Verdict
from ..answers import PosesAnswer, worst
from ..rules import refuse
from ..snapshot import Snapshot

__all__ = ["checked_groups", "grouped"]


def checked_groups(offsets: npt.NDArray[np.integer[Any]], count: int) -> npt.NDArray[np.int64]:
    """Return the offsets (G + 1,) of groups of `count` poses.

    Raises
    ------
    InputError
        ARRAY_MISMATCH: they do not start at 0, do not increase strictly, or do not end at `count`.
    """
    ends = np.asarray(offsets).astype(np.int64)
    if ends[0] != 0:
        refuse(Status.ARRAY_MISMATCH, "group_offsets", 0, f"must start at 0 (got {ends[0]})")
    low = np.flatnonzero(np.diff(ends) <= 0)
    if len(low):
        i = int(low[0]) + 1
        rule = f"must increase strictly, a group has at least one pose (got {ends[i]})"
        refuse(Status.ARRAY_MISMATCH, "group_offsets", i, rule)
    if ends[-1] != count:
        rule = f"must end at the number of poses, {count} (got {ends[-1]})"
        refuse(Status.ARRAY_MISMATCH, "group_offsets", len(ends) - 1, rule)
    return ends


def grouped(
    snapshot: Snapshot, found: PosesAnswer, ends: npt.NDArray[np.int64], stop_at_first: bool
) -> PosesAnswer:
    """Return the answer with the first pose of each group that is not FREE.

    Parameters
    ----------
    snapshot : Snapshot
        The data that was used.
    found : PosesAnswer
        The answer for all poses, computed without stop.
    ends : (G + 1,) int64
        Offsets of the groups, see `checked_groups`.
    stop_at_first : bool
        The poses of each group after this pose are UNKNOWN and do not count for the worst verdict.
        If the snapshot has a fault, they stay as they are.
    """
    starts, count = ends[:-1], int(ends[-1])
    owner = np.repeat(np.arange(len(starts)), np.diff(ends))
    at = np.arange(count) - starts[owner]
    invalid = found.verdicts != Verdict.FREE
    first = np.minimum.reduceat(np.where(invalid, at, count), starts)
    per_group = np.where(first < count, first, -1)
    is_whole = snapshot.fault is not None or snapshot.footprint is None or not stop_at_first
    after = at > first[owner]
    if is_whole or not after.any():
        return replace(found, group_first_invalid=per_group)
    columns: dict[str, Any] = {}
    for name, none in (
        ("verdicts", Verdict.UNKNOWN),
        ("statuses", Status.UNDEFINED),
        ("distances", np.nan),
        ("lower_bounds", np.nan),
        ("nearest_ids", -1),
        ("nearest_indices", -1),
        ("witnesses", np.nan),
    ):
        values = getattr(found, name)
        columns[name] = values.copy() if len(values) else values
        if len(values):
            columns[name][after] = none
    answer = found.answer
    if answer.status is not Status.TIME_BUDGET:
        answer = worst(columns["verdicts"][~after], columns["statuses"][~after])
    return replace(found, answer=answer, group_first_invalid=per_group, **columns)
