# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/CheckPath`` for a path of arcs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...path import Path
from ...verdict import Status, Verdict
from ..answers import Answer, PathAnswer, reason, unknown
from ..frames import Pose
from ..rules import batch, refuse, sums_rounded_up, total_margin
from ..snapshot import Snapshot
from .path import checked_tolerance

__all__ = ["check_arcs"]

Floats = npt.NDArray[np.float64]


def check_arcs(
    snapshot: Snapshot,
    start: Floats,
    arcs: Floats,
    times: Floats,
    *,
    frame: Callable[[], Pose] = Pose,
    stamp: int = 0,
    margin: float = 0.0,
    tolerance: float = 0.0,
) -> PathAnswer:
    """Check a path of circular arcs and straight lines from a pose of the base frame.

    The path is checked up to the last end of an arc that is before the prediction horizon. If it
    goes on after that, the answer is UNKNOWN, unless there is a collision before.

    Parameters
    ----------
    snapshot : Snapshot
        The data to be used.
    start : (3,) float64
        x y yaw [m, m, rad] of the first pose.
    arcs : (2 A,) float64
        Curvature [1/m] and length [m] per arc.
    times : (A + 1,) or (0,) float64
        Times of the start and of the end of each arc, as for `check_path`.
    frame, stamp, margin, tolerance
        As for `check_path`.

    Returns
    -------
    PathAnswer
        Segments are arcs. `last_valid_fraction` is the fraction of the length of the whole path.

    Raises
    ------
    InputError
        The request is invalid.
    """
    config = snapshot.config
    rows = batch(start, np.empty(0), config.max_poses)
    _check_lengths(len(rows), len(arcs), len(times), config.max_poses)
    for name, values in (("arcs", arcs), ("times", times)):
        for i in np.flatnonzero(~np.isfinite(values)).tolist():
            refuse(Status.NON_FINITE, name, i, f"must be finite (got {values[i]})")
    pairs = arcs.reshape(-1, 2)
    size = float(np.abs(pairs[:, 1]).sum())
    rows, errors = snapshot.composed(rows, frame(), reach=size)
    total = total_margin(config, margin)
    finest = checked_tolerance(tolerance) or config.toi_tolerance
    core = snapshot.core()
    at = core.on_clock(times, stamp)
    _core.check_increasing(at, "times", times)
    if snapshot.footprint is None:
        return PathAnswer(unknown(snapshot.footprint_fault))
    limit = snapshot.known_until(stamp)
    # Arcs that end before the horizon.
    known = int(np.count_nonzero(times <= limit)) - 1 if len(times) else len(pairs)
    if known < 0:  # the start is after the horizon
        return _short(snapshot, 0, 0.0)
    error = float(errors.max())
    shape = snapshot.footprint.inflated(error) if error else snapshot.footprint
    ways = pairs[:known]
    if known:
        path: Any = Path.arcs(rows[0], ways)
        span = at[: known + 1] if len(times) else None
        found: Any = snapshot.scene.check_path(shape, path, span, finest, margin=total)
    else:  # the first arc ends after the horizon: only the start is checked
        found = snapshot.scene.check_path(shape, rows, at[:1], finest, swept=False, margin=total)
    hit = found.verdict is Verdict.COLLISION
    fault = snapshot.fault
    if fault is not None and not hit:
        return PathAnswer(unknown(fault))
    share = 1.0
    if known < len(pairs):
        driven = float(np.abs(ways[:, 1]).sum())
        share = driven / size * (1.0 - 2.0**-40) if size > 0.0 else 0.0
        if found.verdict is Verdict.FREE:
            return _short(snapshot, known, share)
    source = snapshot.source_of(found.obstacle_index)
    status = fault.status if fault is not None else found.status
    message = fault.message if fault is not None else reason(found.status)
    verdict = found.verdict
    if known < len(pairs) and verdict is Verdict.MARGIN:
        verdict, status = Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT
        message = reason(status)
    answer = Answer(verdict, status, message, found.obstacle_id, source)
    offset = ((stamp or snapshot.stamp) - snapshot.epoch) * 1e-9
    # Rounded down, so that no contact is earlier.
    time = -float(sums_rounded_up(np.array([-found.first_collision_time]), offset)[0])
    if fault is not None:
        return PathAnswer(answer, first_collision_time=time)
    is_known = verdict is not Verdict.UNKNOWN
    return PathAnswer(
        answer,
        first_invalid_segment=found.first_invalid_segment,
        last_valid_fraction=found.last_valid_fraction * share,
        first_collision_time=time,
        obstacle_index=found.obstacle_index,
        min_distance=found.min_distance if is_known else np.nan,
        min_distance_lower_bound=found.min_distance_lower_bound if is_known else np.nan,
    )


def _check_lengths(poses: int, arcs: int, times: int, limit: int) -> None:
    if poses != 1:
        rule = f"must have one pose, the start, if arcs is not empty (got {poses})"
        refuse(Status.ARRAY_MISMATCH, "poses", None, rule)
    if arcs % 2:
        rule = f"must have 2 values per arc, curvature and length (got {arcs} values)"
        refuse(Status.ARRAY_MISMATCH, "arcs", None, rule)
    if arcs // 2 >= limit:
        rule = f"{arcs // 2} arcs, limit {limit - 1} (max_poses)"
        refuse(Status.LIMIT_EXCEEDED, "arcs", None, rule)
    if times not in (0, arcs // 2 + 1):
        rule = f"must be empty or have {arcs // 2 + 1} values, the start and the end of each arc"
        refuse(Status.ARRAY_MISMATCH, "times", None, f"{rule} (got {times})")


def _short(snapshot: Snapshot, segment: int, fraction: float) -> PathAnswer:
    if snapshot.fault is not None:
        return PathAnswer(unknown(snapshot.fault))
    status = Status.PREDICTION_TOO_SHORT
    answer = Answer(Verdict.UNKNOWN, status, reason(status))
    return PathAnswer(answer, first_invalid_segment=segment, last_valid_fraction=fraction)
