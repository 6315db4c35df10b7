# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The question of ``srv/CheckPoses``: a verdict for each of many poses."""

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
from ..rules import MODES, batch, checked_mode, demanded_margin, numbered_from
from ..snapshot import Fault, Snapshot

__all__ = ["FIRST_CHUNK", "check_poses"]

FIRST_CHUNK = 128  # poses, a fraction of a millisecond

Floats = npt.NDArray[np.float64]
_NO_FLOATS: Floats = np.empty(0)
_Found = dict[str, Any]  # arrays by name, as the kernel gives them

# What a pose beyond the prediction horizon is answered.
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
    """Answer for many poses of the base frame: the planner's batch.

    Parameters
    ----------
    snapshot : Snapshot
        What is known.
    poses : (3 M,) float64
        x y yaw [m, m, rad] per pose.
    times : (M,) float64
        [s] after `stamp` per pose; empty: the obstacles stand still. A pose beyond
        `Snapshot.known_until` is UNKNOWN, PREDICTION_TOO_SHORT.
    frame : callable
        Gives the pose of the frame of `poses` in the check frame; called once their number is
        known to be in bounds.
    stamp : int
        Of the request [ns]; 0: the snapshot's time.
    margin : float
        Added to the configured one [m], >= 0.
    mode : int
        Index into `MODES`.
    stop_at_first : bool
        Leave the poses after the first that is not free UNKNOWN.
    is_late : callable
        Says when the time budget is spent; the poses not checked by then are UNKNOWN.

    Raises
    ------
    InputError
        The request breaks a rule.
    """
    config = snapshot.config
    rows = batch(poses, times, config.max_poses)
    rows, errors = snapshot.composed(rows, frame())
    total = demanded_margin(config, margin)
    number = MODES.index(checked_mode(mode))
    if snapshot.footprint is None:
        return _all_unknown(len(rows), number, snapshot.footprint_fault)
    on_scene_clock = snapshot.on_clock(times, stamp)
    is_beyond = times > snapshot.known_until(stamp)
    found: list[_Found] = []
    stopped = False
    for begin, end in _alike(errors, chunks(len(rows), FIRST_CHUNK, is_late)):
        with numbered_from(begin):
            part = snapshot.scene._asked(
                snapshot.vehicle(errors[begin]),
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


def _alike(errors: Floats, chunks_: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cut chunks of poses where their errors change: a pose is answered as it is alone."""
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
    """Put the chunks together; what was not reached is UNKNOWN, and what is not certain too."""
    fault = snapshot.fault
    verdicts = _column(found, "verdicts", count, Verdict.UNKNOWN)
    statuses = _column(found, "statuses", count, Status.TIME_BUDGET)
    distances = _column(found, "distances", count, nan) if mode else _NO_FLOATS
    bounds = _column(found, "lower_bounds", count, nan) if mode else _NO_FLOATS
    nearest = _column(found, "nearest", count, -1)
    witnesses = _column(found, "witnesses", count, nan) if MODES[mode] == "witness" else _NO_FLOATS
    invalid = verdicts != Verdict.FREE
    done = sum(len(part["verdicts"]) for part in found)
    if fault is not None:  # what is not known may be nearer
        void = verdicts != Verdict.COLLISION
        verdicts[void], statuses[void], nearest[void] = Verdict.UNKNOWN, fault.status, -1
        invalid[:] = True
        bounds[:] = nan
        answer = worst(verdicts, statuses, fault)
    elif stopped:  # the rest was not asked, so is not worse
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
    """Put the chunks of one field together, and fill up to `count` rows."""
    parts = [part[name] for part in found]
    missing = count - sum(map(len, parts))
    if missing:
        parts.append(np.full((missing, *parts[0].shape[1:]), rest, parts[0].dtype))
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
