# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The questions of the services, asked of a snapshot. Pure: the node and a replay use these.

A request that breaks a rule raises `InputError`; everything else is an answer. Nothing here is
FREE beside a fault of the data: what certainly hits is COLLISION, the rest is UNKNOWN.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ..results import INVARIANT
from ..verdict import Status, Verdict
from .answers import (
    Answer,
    DistanceAnswer,
    PosesAnswer,
    StateAnswer,
    budget_spent,
    reason,
    unknown,
    worst,
)
from .budget import chunks
from .config import Config
from .frames import FrameError, Pose, Transforms
from .rules import (
    MODES,
    batch,
    checked_mode,
    demanded_margin,
    non_negative,
    numbered_from,
    single,
)
from .snapshot import Fault, Snapshot

__all__ = [
    "awaited_from",
    "check_age",
    "check_poses",
    "collide",
    "distance",
    "ego_pose",
    "frame_pose",
    "state",
]

FIRST_CHUNK = 128  # poses, a fraction of a millisecond

Floats = npt.NDArray[np.float64]
_NO_FLOATS: Floats = np.empty(0)
HERE = Pose()

_Found = dict[str, Any]  # arrays by name, as the kernel gives them

# What a pose beyond the prediction horizon is answered.
_BEYOND = {"verdicts": Verdict.UNKNOWN, "statuses": Status.PREDICTION_TOO_SHORT, "nearest": -1}


def ego_pose(config: Config, transforms: Transforms, now: int) -> Pose:
    """Return where the vehicle is now: base frame in check frame.

    Raises
    ------
    FrameError
        Not known at `now`, or older than `transform_tolerance`.
    """
    if config.base_frame == config.check_frame:
        return Pose()
    return _newest(config, transforms, config.base_frame, now)


def frame_pose(config: Config, transforms: Transforms, frame: str, stamp: int, now: int) -> Pose:
    """Return the pose of a request's frame in the check frame.

    Parameters
    ----------
    config, transforms : Config, Transforms
        What is known of frames.
    frame : str
        Of the request's poses.
    stamp : int
        Of the request [ns]; 0: the newest at or before `now`, no older than
        `transform_tolerance`.
    now : int
        Time [ns].

    Raises
    ------
    FrameError
        Not known.
    """
    if frame == config.check_frame:
        return Pose()
    if not frame:
        raise FrameError(Status.UNKNOWN_FRAME, "header.frame_id is empty: name a frame")
    if stamp:
        return transforms.lookup(config.check_frame, frame, stamp)
    return _newest(config, transforms, frame, now)


def awaited_from(config: Config, transforms: Transforms, frame: str) -> float:
    """Return the stamp [ns] beyond which the pose of a request's frame may still come.

    It is that of the newest transform; inf for frames that nobody has sent, and for static ones.
    """
    if not config.transform_wait or not frame or frame == config.check_frame:
        return inf
    try:
        return transforms.latest(config.check_frame, frame)[1] or inf
    except FrameError:
        return inf


def check_age(config: Config, stamps: Mapping[str, int], now: int) -> None:
    """Raise `FrameError` where a pose used as the present one is not of now.

    Parameters
    ----------
    config : Config
        Its `transform_tolerance` applies.
    stamps : mapping of str to int
        Frame -> stamp of its pose [ns]; 0: static, so never old.
    now : int
        Time [ns].
    """
    for frame, stamp in stamps.items():
        age = (now - stamp) * 1e-9 if stamp else 0.0
        if abs(age) > config.transform_tolerance:
            text = f"the newest pose of '{frame}' in '{config.check_frame}' is "
            limit = f"{age:.3f} s old, limit {config.transform_tolerance:g} s"
            raise FrameError(Status.TF_EXTRAPOLATION, text + limit)


def collide(snapshot: Snapshot, pose: Pose, margin: float = 0.0, *, frame: Pose = HERE) -> Answer:
    """Answer whether the vehicle is free at a pose of its base frame.

    Parameters
    ----------
    snapshot : Snapshot
        What is known.
    pose : Pose
        x y yaw [m, m, rad].
    margin : float
        Added to the configured one [m], >= 0.
    frame : Pose
        Of `pose`, in the check frame.
    """
    total = demanded_margin(snapshot.config, margin)
    poses, errors = snapshot.composed(single(pose), frame)
    if snapshot.footprint is None:
        return unknown(snapshot.footprint_fault)
    found = snapshot.scene.check(snapshot.vehicle(errors[0]), poses, margin=total)
    nearest, index = int(found.nearest_ids[0]), int(found.nearest_indices[0])
    return _single(snapshot, found.verdict, Status(int(found.statuses[0])), nearest, index)


def distance(
    snapshot: Snapshot,
    pose: Pose,
    k: int = 1,
    max_distance: float = 0.0,
    *,
    frame: Pose = HERE,
) -> DistanceAnswer:
    """Return the nearest obstacles to the vehicle at a pose.

    Beside a fault of the data the list would not be complete, so it is given only where the
    verdict stands all the same (COLLISION).

    Parameters
    ----------
    snapshot : Snapshot
        What is known.
    pose : Pose
        x y yaw [m, m, rad] of the base frame.
    k : int
        How many; 0: one.
    max_distance : float
        Obstacles further away are left out [m]; 0: none are.
    frame : Pose
        Of `pose`, in the check frame.
    """
    reach = non_negative("max_distance", max_distance) or inf
    poses, errors = snapshot.composed(single(pose), frame)
    if snapshot.footprint is None:
        return DistanceAnswer(unknown(snapshot.footprint_fault))
    config, scene, vehicle = snapshot.config, snapshot.scene, snapshot.vehicle(errors[0])
    result = scene.check(vehicle, poses, margin=config.safety_margin, mode="distance")
    answer = _single(
        snapshot,
        result.verdict,
        Status(int(result.statuses[0])),
        int(result.nearest_ids[0]),
        int(result.nearest_indices[0]),
    )
    if answer.verdict is Verdict.UNKNOWN or not len(scene):
        return DistanceAnswer(answer)
    near = scene.nearest(
        vehicle,
        poses[0].tolist(),
        k=min(max(k, 1), len(scene)),
        max_distance=reach,
    )
    bounds, least = near.lower_bounds, float(near.distances.min(initial=inf))
    if not INVARIANT.holds(answer.verdict, least, config.safety_margin):
        text = f"FREE, but the distance is {least:g} m"
        return DistanceAnswer(unknown(Fault(Status.INTERNAL_ERROR, text)))
    if answer.verdict is Verdict.FREE:  # no obstacle is nearer than what that was concluded from
        bounds = np.maximum(bounds, result.lower_bounds[0])
    return DistanceAnswer(
        answer,
        near.ids,
        tuple(snapshot.source_of(int(i)) for i in near.indices),
        near.distances,
        bounds,
        near.witness_shape,
        near.witness_obstacle,
        near.directions,
        near.statuses,
    )


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


def state(snapshot: Snapshot, pose: Pose | Fault) -> StateAnswer:
    """Answer for the vehicle where it is now (the heartbeat).

    Parameters
    ----------
    snapshot : Snapshot
        What is known.
    pose : Pose or Fault
        Of the base frame in the check frame, or why it is not known.
    """
    if snapshot.footprint is None:
        return StateAnswer(unknown(snapshot.footprint_fault))
    if isinstance(pose, Fault):
        return StateAnswer(unknown(snapshot.fault or pose))
    near = distance(snapshot, pose)
    if not len(near.ids):
        clear = np.inf if near.answer.is_free else nan
        return StateAnswer(near.answer, distance=clear, lower_bound=clear)
    return StateAnswer(
        replace(near.answer, nearest_id=int(near.ids[0]), nearest_source=near.sources[0]),
        float(near.distances[0]),
        float(near.lower_bounds[0]),
        witness_ego=_pair(near.witness_ego[0]),
        witness_obstacle=_pair(near.witness_obstacle[0]),
        direction=_pair(near.directions[0]),
    )


def _newest(config: Config, transforms: Transforms, frame: str, now: int) -> Pose:
    pose, stamp = transforms.latest(config.check_frame, frame)
    if stamp > now:  # a localiser stamps its correction ahead
        pose, stamp = transforms.lookup(config.check_frame, frame, now), now
    check_age(config, {frame: stamp}, now)
    return pose


def _pair(row: Floats) -> tuple[float, float]:
    return float(row[0]), float(row[1])


def _single(
    snapshot: Snapshot, verdict: Verdict, status: Status, nearest: int, index: int
) -> Answer:
    """Answer for one pose; beside a fault only a certain hit stands."""
    fault = snapshot.fault
    if fault is not None and verdict is not Verdict.COLLISION:
        return unknown(fault)
    message = reason(status)
    if fault is not None:
        status, message = fault.status, fault.message
    return Answer(verdict, status, message, nearest, snapshot.source_of(index))


def _all_unknown(count: int, mode: int, fault: Fault) -> PosesAnswer:
    return PosesAnswer(
        unknown(fault),
        np.zeros(count, np.uint8),
        np.full(count, fault.status, np.uint16),
        np.full(count, nan) if mode else _NO_FLOATS,
        np.full(count, nan) if mode else _NO_FLOATS,
        np.full(count, -1),
        np.full((count, 4), nan) if MODES[mode] == "witness" else _NO_FLOATS,
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
    nearest = snapshot.scene._ids_of(_column(found, "nearest", count, -1))
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
        verdicts,
        statuses,
        distances,
        bounds,
        nearest,
        witnesses,
        first if invalid[first] else -1,
    )


def _column(found: list[_Found], name: str, count: int, rest: float) -> Any:
    """Put the chunks of one field together, and fill up to `count` rows."""
    parts = [part[name] for part in found]
    missing = count - sum(map(len, parts))
    if missing:
        parts.append(np.full((missing, *parts[0].shape[1:]), rest, parts[0].dtype))
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
