# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/CheckPoses``: a verdict for each of many poses."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ...verdict import Status, Verdict
from ..answers import PosesAnswer, budget_spent, unknown, worst
from ..budget import chunks
from ..frames import Pose
from ..rules import MODES, batch, checked_mode, numbered_from, total_margin
from ..snapshot import Fault, Snapshot

__all__ = ["FIRST_CHUNK", "check_poses"]

FIRST_CHUNK = 128  # poses; they take a fraction of a millisecond

Floats = npt.NDArray[np.float64]
_NO_FLOATS: Floats = np.empty(0)
_Found = dict[str, Any]  # arrays by name, as the kernel returns them

# The answer for a pose after the prediction horizon.
_BEYOND = {"verdicts": Verdict.UNKNOWN, "statuses": Status.PREDICTION_TOO_SHORT, "nearest": -1}


def check_poses(
    snapshot: Snapshot,
    poses: Floats,
    times: Floats = _NO_FLOATS,
    *,
    frame: Callable[[], Pose] = Pose,
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
    frame : callable
        Returns the pose of the frame of `poses` in the check frame. It is called after `poses` and
        `times` were checked.
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
    config = snapshot.config
    rows = batch(poses, times, config.max_poses)
    rows, errors = snapshot.composed(rows, frame())
    total = total_margin(config, margin)
    number = MODES.index(checked_mode(mode))
    if snapshot.footprint is None:
        return _all_unknown(len(rows), number, snapshot.footprint_fault)
    on_scene_clock = snapshot.on_clock(times, stamp)
    is_beyond = times > snapshot.known_until(stamp)
    found: list[_Found] = []
    stopped = False
    for begin, end in _split_by_error(errors, chunks(len(rows), FIRST_CHUNK, is_late)):
        with numbered_from(begin):
            part = snapshot.scene._asked(
                [snapshot.vehicle(errors[begin])._core],
                rows[begin:end],
                on_scene_clock[begin:end],
                total,
                number,
                stop_at_first,
            )
        if len(times):
            for name, none in _BEYOND.items():
                part[name][is_beyond[begin:end]] = none
        found.append(part)
        stopped = stop_at_first and bool((part["verdicts"] != Verdict.FREE).any())
        if stopped:
            break
    return _join(snapshot, len(rows), found, number, stopped)


def _split_by_error(
    errors: Floats, chunks_: Iterator[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Split chunks of poses where their transform errors change.

    The vehicle is grown by the error. With this split, the answer for a pose does not depend on
    the other poses.
    """
    cuts = np.flatnonzero(np.diff(errors)) + 1
    for begin, end in chunks_:
        inner = cuts[(cuts > begin) & (cuts < end)].tolist()
        yield from pairwise([begin, *inner, end])


def _all_unknown(count: int, mode: int, fault: Fault) -> PosesAnswer:
    return PosesAnswer(
        unknown(fault),
        verdicts=np.zeros(count, np.uint8),
        statuses=np.full(count, fault.status, np.uint16),
        distances=np.full(count, nan) if mode else _NO_FLOATS,
        lower_bounds=np.full(count, nan) if mode else _NO_FLOATS,
        nearest_ids=np.full(count, -1),
        nearest_indices=np.full(count, -1),
        witnesses=np.full((count, 4), nan) if MODES[mode] == "witness" else _NO_FLOATS,
    )


def _join(
    snapshot: Snapshot, count: int, found: list[_Found], mode: int, stopped: bool
) -> PosesAnswer:
    """Join the chunks. A pose is UNKNOWN if it was not checked or its verdict is not certain."""
    fault = snapshot.fault
    verdicts = _column(found, "verdicts", count, Verdict.UNKNOWN)
    statuses = _column(found, "statuses", count, Status.TIME_BUDGET)
    distances = _column(found, "distances", count, nan) if mode else _NO_FLOATS
    bounds = _column(found, "lower_bounds", count, nan) if mode else _NO_FLOATS
    nearest = _column(found, "nearest", count, -1)
    witnesses = _column(found, "witnesses", count, nan) if MODES[mode] == "witness" else _NO_FLOATS
    invalid = verdicts != Verdict.FREE
    done = sum(len(part["verdicts"]) for part in found)
    if fault is not None:  # an obstacle that is not known may be nearer
        void = verdicts != Verdict.COLLISION
        verdicts[void], statuses[void], nearest[void] = Verdict.UNKNOWN, fault.status, -1
        invalid[:] = True
        bounds[:] = nan
        answer = worst(verdicts, statuses, fault)
    elif stopped:  # the other poses do not count for the worst verdict
        done = int(invalid.argmax()) + 1
        verdicts[done:], statuses[done:], nearest[done:] = Verdict.UNKNOWN, Status.UNDEFINED, -1
        answer = worst(verdicts[:done], statuses[:done])
    else:
        answer = worst(verdicts[:done], statuses[:done])
        if done < count and answer.verdict is not Verdict.COLLISION:
            answer = unknown(budget_spent(done, count))
    void = verdicts == Verdict.UNKNOWN
    for each in (distances, bounds, witnesses):
        if len(each):
            each[void] = nan
    first = int(invalid.argmax())
    return PosesAnswer(
        answer,
        verdicts=verdicts,
        statuses=statuses,
        distances=distances,
        lower_bounds=bounds,
        nearest_ids=snapshot.scene._ids_of(nearest),
        nearest_indices=nearest,
        witnesses=witnesses,
        first_invalid_index=first if invalid[first] else -1,
    )


def _column(found: list[_Found], name: str, count: int, rest: float) -> Any:
    """Join the chunks of one field, and append rows with the value `rest` up to `count` rows."""
    parts = [part[name] for part in found]
    missing = count - sum(map(len, parts))
    if missing:
        parts.append(np.full((missing, *parts[0].shape[1:]), rest, parts[0].dtype))
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
