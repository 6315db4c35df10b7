# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/CheckPath``: whether the vehicle is free on the path through some poses."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InputError
from ...motion import Motion
from ...results import PathResult
from ...verdict import Status, Verdict
from ..answers import WORST_FIRST, Answer, PathAnswer, budget_spent, reason, unknown
from ..budget import chunks
from ..config import checked_value
from ..frames import Pose
from ..rules import (
    batch,
    non_negative,
    numbered_from,
    sums_rounded_up,
    total_margin,
)
from ..snapshot import Snapshot

__all__ = ["check_path", "is_swept", "pose_on"]

FIRST_CHUNK = 4  # segments; one segment among many obstacles takes up to a millisecond

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
    config = snapshot.config
    rows = batch(poses, times, config.max_poses)
    rows, errors = snapshot.composed(rows, frame(), is_path=True)
    total = total_margin(config, margin)
    finest = _checked_tolerance(tolerance) or config.toi_tolerance
    offset = ((stamp or snapshot.stamp) - snapshot.epoch) * 1e-9
    on_scene_clock = snapshot.on_clock(times, stamp)
    _core.check_increasing(on_scene_clock, "times", times)
    if snapshot.footprint is None:
        return PathAnswer(unknown(snapshot.footprint_fault))

    vehicle = snapshot.vehicle(float(errors.max()))

    def ask(begin: int, end: int) -> PathResult:
        with numbered_from(begin):
            return snapshot.scene.check_path(
                vehicle,
                rows[begin:end],
                on_scene_clock[begin:end] if len(times) else None,
                finest,
                swept,
                margin=total,
            )

    limit = snapshot.known_until(stamp)
    known = int(np.count_nonzero(times <= limit)) if len(times) else len(rows)
    segments = min(known, max(1, known - 1))  # a single pose counts as one segment
    found: list[tuple[int, PathResult]] = []
    done = 0
    for begin, done in chunks(segments, FIRST_CHUNK, is_late):
        found.append((begin, ask(begin, min(done + 1, known))))
        if found[-1][1].verdict is Verdict.COLLISION:
            return _join(snapshot, found, done, segments, times, offset)
    if known < len(rows) and done == segments:
        last = max(known - 1, 0)  # the segment that contains the limit
        piece = _BEYOND
        if swept and known:
            share = (limit - times[last]) / (times[known] - times[last])
            piece = _cut(ask(last, known + 1), float(share), limit + offset)
        found.append((last, piece))
    return _join(snapshot, found, done, segments, times, offset)


# The answer for the part of a path after the prediction horizon.
_BEYOND = PathResult(status=Status.PREDICTION_TOO_SHORT)


def _cut(found: PathResult, share: float, limit: float) -> PathResult:
    """Return the answer for a segment that begins before and ends after the prediction horizon.

    Parameters
    ----------
    found : PathResult
        Answer for the whole segment, as if there were no horizon.
    share : float
        Fraction of the segment that is before the horizon.
    limit : float
        Time of the horizon on the scene's clock [s].
    """
    if found.verdict is Verdict.COLLISION and found.first_collision_time <= limit:
        return found
    is_known = found.last_valid_fraction <= share
    return replace(
        _BEYOND,
        last_valid_fraction=min(found.last_valid_fraction, share),
        obstacle_id=found.obstacle_id if is_known else -1,
        obstacle_index=found.obstacle_index if is_known else -1,
    )


def _checked_tolerance(tolerance: float) -> float:
    """Return a tolerance if it is 0 or in the range of `toi_tolerance`.

    A smaller tolerance is refused, because the computation would take seconds.
    """
    if non_negative("tolerance", tolerance):
        try:
            checked_value("toi_tolerance", tolerance)
        except InputError as error:
            raise InputError(error.status, "tolerance", None, f"{error.rule}, or be 0") from None
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


def _end_of_free(begin: int, piece: PathResult, times: Floats) -> float:
    """Return the time until which an UNKNOWN piece is free [s]; inf for other verdicts."""
    if piece.verdict is not Verdict.UNKNOWN:
        return inf
    first = begin + piece.first_invalid_segment
    way = times[first : first + 2]
    return float(way[0] + piece.last_valid_fraction * (way[-1] - way[0]))


def _join(
    snapshot: Snapshot,
    found: list[tuple[int, PathResult]],
    done: int,
    segments: int,
    times: Floats,
    offset: float,
) -> PathAnswer:
    """Join the answers for the pieces of a path.

    If the snapshot has a fault, no part of the path is known to be free, and the minimum distance
    is not known.

    Parameters
    ----------
    snapshot : Snapshot
        The data that was used.
    found : list of (int, PathResult)
        For each piece, the index of its first segment, and its answer.
    done, segments : int
        Number of segments that were checked, and number of all segments before the horizon.
    times : (M,) float64
        Times of the request [s]; empty: no times.
    offset : float
        Time zero of `times` on the scene's clock [s].
    """
    worst = min((piece for _, piece in found), key=lambda each: WORST_FIRST.index(each.verdict))
    hit = worst.verdict is Verdict.COLLISION
    start, first = next(((i, piece) for i, piece in found if not piece.is_free), (done, None))
    fault = snapshot.fault
    if fault is not None and not hit:
        return PathAnswer(unknown(fault))
    if done < segments and not hit:
        fault = budget_spent(done, segments)
    answer = Answer(
        worst.verdict if hit or fault is None else Verdict.UNKNOWN,
        fault.status if fault else worst.status,
        fault.message if fault else reason(worst.status),
        first.obstacle_id if first is not None else -1,
        snapshot.source_of(first.obstacle_index) if first is not None else "",
    )
    # Rounded down, so that no contact is earlier.
    time = -float(sums_rounded_up(np.array([-worst.first_collision_time]), offset)[0])
    if hit and len(times):
        time = min([time, *(_end_of_free(i, piece, times) for i, piece in found)])
    if snapshot.fault is not None:
        return PathAnswer(answer, first_collision_time=time)
    is_free = first is None and fault is None
    is_known = answer.verdict is not Verdict.UNKNOWN and fault is None
    # If the time budget was used up, the first segment that was not checked is not free.
    end = PathResult() if first is None else first
    least = [piece for _, piece in found] if is_known else [PathResult()]
    return PathAnswer(
        answer,
        first_invalid_segment=-1 if is_free else start + end.first_invalid_segment,
        last_valid_fraction=1.0 if is_free else end.last_valid_fraction,
        first_collision_time=time,
        obstacle_index=end.obstacle_index,
        min_distance=min(piece.min_distance for piece in least),
        min_distance_lower_bound=min(piece.min_distance_lower_bound for piece in least),
    )
