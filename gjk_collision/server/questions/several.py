# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/CheckPoses`` if the request selects one of several footprints per pose."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...verdict import Status, Verdict
from ..answers import PosesAnswer, unknown, worst
from ..frames import Pose
from ..rules import batch, refuse
from ..snapshot import Fault, Snapshot
from .batch import check_poses

__all__ = ["check_poses_of_several", "selected"]

Floats = npt.NDArray[np.float64]


def selected(
    count: int, names: Sequence[str], which: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.int64]:
    """Return the index of the footprint of each of `count` poses (count,).

    Parameters
    ----------
    count : int
        Number of poses.
    names : sequence of str
        Names of the footprints.
    which : (count,) or (0,) integers
        Index in `names` per pose; empty: there is one name, for all poses.

    Raises
    ------
    InputError
        ARRAY_MISMATCH: `which` has another length. INVALID_INPUT: an index is out of range.
    """
    if not len(which) and len(names) == 1:
        return np.zeros(count, np.int64)
    if len(which) != count:
        rule = f"must have {count} values, one per pose (got {len(which)})"
        if len(names) == 1:
            rule = f"must be empty or have {count} values, one per pose (got {len(which)})"
        refuse(Status.ARRAY_MISMATCH, "which", None, rule)
    indices = np.asarray(which).astype(np.int64)
    beyond = (indices < 0) | (indices >= len(names))
    if beyond.any():
        i = int(np.argmax(beyond))
        rule = f"must be an index in footprints, 0 to {len(names) - 1} (got {indices[i]})"
        refuse(Status.INVALID_INPUT, "which", i, rule)
    return indices


def check_poses_of_several(
    snapshot: Snapshot,
    names: Sequence[str],
    which: npt.NDArray[np.integer[Any]],
    poses: Floats,
    times: Floats,
    *,
    frame: Callable[[], Pose] | None = None,
    mode: int = 0,
    stop_at_first: bool = False,
    **options: Any,
) -> PosesAnswer:
    """Check many poses, each with one of several footprints.

    The answer for a pose is the one of `check_poses` with its footprint.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    names : sequence of str
        Names of the footprints, not empty, see `Snapshot.chosen`.
    which : (M,) or (0,) integers
        Index in `names` per pose; empty: there is one name, for all poses.
    poses, times, frame, mode, stop_at_first, **options
        As for `check_poses`.

    Raises
    ------
    InputError
        The request is invalid.
    """
    count = len(batch(poses, times, snapshot.config.max_poses))
    indices = selected(count, names, which)
    chosen = [snapshot.chosen(name, "footprints", i) for i, name in enumerate(names)]
    # Beside a fault no pose is FREE, so that each search would stop before a certain collision.
    stops = stop_at_first and all(each.fault is None for each in chosen)
    pose = None if frame is None else frame()
    found: list[tuple[npt.NDArray[np.intp], PosesAnswer]] = []
    for i in range(len(names)):
        rows = np.flatnonzero(indices == i)
        if not len(rows):
            continue
        try:
            part = check_poses(
                chosen[i],
                np.asarray(poses).reshape(-1, 3)[rows].ravel(),
                times[rows] if len(times) else times,
                frame=None if pose is None else lambda: pose,
                mode=mode,
                stop_at_first=stops,
                **options,
            )
        except InputError as error:
            raise _located(error, rows) from None
        found.append((rows, part))
    first = found[0][1]
    if len(found) == 1 and len(first.verdicts) == count:
        return first
    columns = {
        name: _scattered(name, found, count)
        for name in ("verdicts", "statuses", "distances", "lower_bounds", "nearest_ids",
                     "nearest_indices", "witnesses")
    }  # fmt: skip
    return _joined(columns, [part for _, part in found], count, stops)


def _located(error: InputError, rows: npt.NDArray[np.intp]) -> InputError:
    """Return an error with the index of the pose in the whole request."""
    if error.index is None:
        return error
    index = error.index
    if error.argument == "poses":  # 3 values per pose
        index = 3 * int(rows[index // 3]) + index % 3
    elif error.argument == "times":
        index = int(rows[index])
    return InputError(error.status, error.argument, index, error.rule)


def _scattered(
    name: str, found: list[tuple[npt.NDArray[np.intp], PosesAnswer]], count: int
) -> Any:
    first = getattr(found[0][1], name)
    if not len(first):  # not computed in this mode
        return first
    whole = np.empty((count, *first.shape[1:]), first.dtype)
    for rows, part in found:
        whole[rows] = getattr(part, name)
    return whole


def _joined(
    columns: dict[str, Any], parts: list[PosesAnswer], count: int, stop_at_first: bool
) -> PosesAnswer:
    """Return the answer for all poses, and the worst verdict."""
    verdicts, statuses = columns["verdicts"], columns["statuses"]
    invalid = verdicts != Verdict.FREE
    first = int(invalid.argmax()) if invalid.any() else -1
    done = count
    if stop_at_first and first >= 0:
        # Each part stopped at its own first pose that is not FREE, so all poses before `first` are
        # checked. The others do not count for the worst verdict.
        done = first + 1
        verdicts[done:], statuses[done:] = Verdict.UNKNOWN, Status.UNDEFINED
        columns["nearest_ids"][done:] = columns["nearest_indices"][done:] = -1
        for name in ("distances", "lower_bounds", "witnesses"):
            if len(columns[name]):
                columns[name][done:] = np.nan
    answer = worst(verdicts[:done], statuses[:done])
    # The reason of a part, such as a fault of the data beside a collision, says more.
    for own in (part.answer for part in parts if part.answer.verdict is answer.verdict):
        is_fault = answer.verdict is Verdict.COLLISION and own.status is not Status.SUCCESS
        if is_fault or (own.status is answer.status and own.message):
            answer = replace(answer, status=own.status, message=own.message)
            break
    if answer.verdict is Verdict.FREE and not all(part.is_free for part in parts):
        answer = unknown(Fault(Status.INTERNAL_ERROR, "FREE, but a part of the poses is not"))
    return PosesAnswer(answer, **columns, first_invalid_index=first)
