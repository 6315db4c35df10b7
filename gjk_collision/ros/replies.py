# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The replies of the client and of the mirror, from messages or from answers.

A reply that is inconsistent is never free.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..record import Record, renamed
from ..results import CheckResult, GradientResult, NearestResult, PathResult
from ..server.fields import nanoseconds, numbers
from ..verdict import Status, Verdict, no_truth_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CollideReply",
    "DistanceReply",
    "Info",
    "NearestFreeReply",
    "PathReply",
    "PosesReply",
    "Reply",
    "common_fields",
    "data_fields",
    "distance_reply",
    "gradients_of",
    "path_reply",
    "poses_reply",
]

Enum = TypeVar("Enum", Verdict, Status)

_FREE, _SUCCESS = int(Verdict.FREE), int(Status.SUCCESS)  # numpy compares members slowly
_NO_WITNESSES, _NO_INTEGERS = np.empty((0, 4)), np.empty(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Info(Record):
    """The data and the configuration that a reply was computed from, as in ``msg/ReplyInfo``.

    Attributes
    ----------
    frame_id : str
        Frame of all geometry in the reply.
    stamp_ns : int
        Time for which the question was answered [ns].
    snapshot_id : int
        Identifies the snapshot that was used; 0: none.
    oldest_data_stamp_ns : int
        Stamp of the oldest data in the snapshot [ns]; 0: no data.
    footprint_age : float
        Age of the footprint at the time of the reply [s]. 0: footprint from a parameter. NaN: no
        footprint.
    max_obstacle_age : float
        Age of the oldest obstacle message at the time of the reply [s]. NaN: no message.
    bad_sources : tuple of str
        Names of the sources that are missing, stale or invalid.
    config_hash : int
        Identifies the values of all parameters.
    compute_time : float
        Computation time of the reply [s].
    footprint : str
        Name of the footprint that was used; several names are separated by ", "; "": none.
    """

    frame_id: str
    stamp_ns: int
    snapshot_id: int
    oldest_data_stamp_ns: int
    footprint_age: float
    max_obstacle_age: float
    bad_sources: tuple[str, ...]
    config_hash: int
    compute_time: float
    footprint: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Reply(Record):
    """The fields that all replies have.

    If no reply arrives in time, the verdict is UNKNOWN and the other fields have the values that
    mean "none".

    Attributes
    ----------
    is_free : bool
        True only if the reply contains FREE, SUCCESS and the id of a snapshot, and no other field
        contradicts it.
    verdict, status : Verdict, Status
        UNKNOWN and UNDEFINED if no valid reply arrived in time.
    message : str
        Explanation for a person; may be empty.
    info : Info
        The data that the reply was computed from. Its `snapshot_id` is 0 if no data was used.
    round_trip : float
        Time from the request to the reply [s]; inf: no reply in time.
    """

    is_free: bool
    verdict: Verdict
    status: Status
    message: str
    info: Info
    round_trip: float

    __bool__ = no_truth_value("`.is_free`")


@dataclass(frozen=True, eq=False, repr=False)
class CollideReply(Reply):
    """Reply of `~/collide`.

    Attributes
    ----------
    id : int
        Id of an obstacle that determines the verdict; -1: none.
    source : str
        Source of this obstacle; "": none.
    """

    id: int
    source: str

    obstacle_id = renamed("obstacle_id", "id")
    obstacle_source = renamed("obstacle_source", "source")


@dataclass(frozen=True, eq=False, repr=False)
class DistanceReply(Reply, NearestResult):
    """Reply of `~/distance`: a `NearestResult` in the frame `info.frame_id`.

    `indices` is always empty.

    Attributes
    ----------
    sources : tuple of str
        Source of each obstacle.
    """

    sources: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class PosesReply(Reply, CheckResult):
    """Reply of `~/check_poses`: a `CheckResult`.

    `verdicts` and `statuses` always have one entry per requested pose. If the reply has another
    number of entries, each verdict is UNKNOWN and each status is that of the reply. `distances`,
    `lower_bounds` and `witnesses` are empty in modes that do not compute them.
    `indices` is always empty. `first_invalid_index` is -1 if and only if `is_free` is True.

    Attributes
    ----------
    group_first_invalid : ndarray of int64, shape (G,)
        Index of the first pose of each group that is not free, in its group; -1: all are free.
        Computed from `verdicts`. Empty: the request has no groups.
    gradients : GradientResult or None
        Derivatives of the distances to the k nearest obstacles, of shape (n, k). None: not
        requested, or the reply has none.
    """

    witnesses: NDArray[np.float64] = field()  # without the default of `CheckResult`
    group_first_invalid: NDArray[np.int64]
    gradients: GradientResult | None


@dataclass(frozen=True, eq=False, repr=False)
class PathReply(Reply, PathResult):
    """Reply of `~/check_path`: a `PathResult`.

    `first_invalid_segment` is -1 if and only if `is_free` is True. In a contradictory reply,
    `first_invalid_segment` and `last_valid_fraction` are replaced by 0. `first_collision_time` is
    the time after the time of the snapshot [s]. `index` is always -1.
    """


@dataclass(frozen=True, eq=False, repr=False)
class GradientReply(Reply, GradientResult):
    """Distances and derivatives at poses: a `GradientResult`, with the verdict for all poses.

    If the reason for UNKNOWN concerns the whole question and not a single pose, all values are NaN
    and all ids are -1.
    """


@dataclass(frozen=True, eq=False, repr=False)
class NearestFreeReply(Reply):
    """Reply of `~/nearest_free`.

    Attributes
    ----------
    pose : ndarray, shape (3,), or None
        The free pose: x [m], y [m], yaw [rad] in the frame `info.frame_id`. It is given if and
        only if `is_free` is True. None: none was found, or none is known.
    shift, turn : float
        Distance [m] and change of the yaw [rad] from the requested pose. NaN: `pose` is None.
    """

    pose: NDArray[np.float64] | None
    shift: float
    turn: float


def common_fields(reply: Any, round_trip: float) -> dict[str, Any]:
    """Return the values of the fields of `Reply`, from a message."""
    info = reply.info
    verdict = _member(reply.verdict.verdict, Verdict.UNKNOWN)
    status = _member(reply.verdict.status, Status.UNDEFINED)
    return {
        "is_free": (
            bool(reply.is_free)
            and verdict is Verdict.FREE
            and status is Status.SUCCESS
            and info.snapshot_id > 0
        ),
        "verdict": verdict,
        "status": status,
        "message": reply.verdict.message,
        "info": Info(
            **data_fields(info),
            stamp_ns=nanoseconds(info.header.stamp),
            snapshot_id=info.snapshot_id,
            footprint_age=info.footprint_age,
            max_obstacle_age=info.max_obstacle_age,
            compute_time=info.compute_time,
            footprint=info.footprint,
        ),
        "round_trip": round_trip,
    }


def data_fields(info: Any) -> dict[str, Any]:
    """Return the fields of `Info` that do not depend on the time, from a ``msg/ReplyInfo``."""
    return {
        "frame_id": info.header.frame_id,
        "oldest_data_stamp_ns": nanoseconds(info.oldest_data_stamp),
        "bad_sources": tuple(info.bad_sources),
        "config_hash": info.config_hash,
    }


def gradients_of(reply: Any, n: int) -> GradientResult | None:
    """Return the derivatives in a reply for n poses; None: there are none."""
    ids, statuses = numbers(reply.gradient_ids), numbers(reply.statuses)
    k = len(ids) // n if n else 0
    each = {
        "ids": ids,
        "distances": numbers(reply.gradient_distances),
        "rates": numbers(reply.gradient_rates),
        "smooth": numbers(reply.gradient_smooth).astype(bool),
    }
    gradients = numbers(reply.gradients)
    whole = all(len(values) == k * n for values in each.values()) and len(gradients) == 3 * k * n
    if not k or not whole or len(statuses) != n:
        return None
    return GradientResult(
        **{name: values.reshape(n, k) for name, values in each.items()},
        lower_bounds=np.full((n, k), np.nan),
        gradients=gradients.reshape(n, k, 3),
        statuses=statuses,
    )


def poses_reply(
    common: dict[str, Any],
    reply: Any,
    n: int,
    ids: NDArray[np.int64],
    offsets: NDArray[np.int64] | None = None,
    gradients: GradientResult | None = None,
) -> PosesReply:
    """Return the reply for n poses, from the fields of `Reply` and a message or `PosesAnswer`.

    `ids` are those of the obstacles, and `offsets` those of the groups, if any.
    """
    verdicts = numbers(reply.verdicts)
    statuses = numbers(reply.statuses)
    if not len(verdicts) == len(statuses) == n:  # the request was refused as a whole
        verdicts = np.full(n, Verdict.UNKNOWN, np.uint8)
        statuses = np.full(n, common["status"], np.uint16)
    free = (verdicts == _FREE) & (statuses == _SUCCESS)
    first = int(free.argmin()) if n else 0
    is_free = common["is_free"] and n > 0 and bool(free[first])
    witnesses = reply.witnesses
    return PosesReply._of(
        common
        | {
            "is_free": is_free,
            "verdicts": verdicts,
            "statuses": statuses,
            "distances": numbers(reply.distances),
            "lower_bounds": numbers(reply.lower_bounds),
            "ids": ids,
            "indices": _NO_INTEGERS,
            "witnesses": _NO_WITNESSES if witnesses is None else numbers(witnesses).reshape(-1, 4),
            "first_invalid_index": -1 if is_free else first,
            "group_first_invalid": _first_of_groups(free, offsets),
            "gradients": gradients,
        }
    )


def _first_of_groups(
    free: NDArray[np.bool_], offsets: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the index in each group of the first pose that is not free; -1: all are free."""
    if offsets is None or len(offsets) < 2:
        return _NO_INTEGERS
    first = np.zeros(len(offsets) - 1, np.int64)  # nothing is known of groups that are not valid
    if offsets[0] == 0 and offsets[-1] == len(free) and (np.diff(offsets) > 0).all():
        for g, (begin, end) in enumerate(pairwise(offsets.tolist())):
            own = free[begin:end]
            first[g] = -1 if own.all() else int(np.argmin(own))
    return first


def nearest_free_reply(common: dict[str, Any], reply: Any) -> NearestFreeReply:
    """Return the reply from the fields of `Reply` and a message or `NearestFreeAnswer`."""
    free = numbers(reply.free_pose)
    common["is_free"] = is_free = common["is_free"] and len(free) == 3
    return NearestFreeReply(
        **common,
        pose=free if is_free else None,
        shift=reply.shift if is_free else np.nan,
        turn=reply.turn if is_free else np.nan,
    )


def gradient_reply(reply: PosesReply, k: int) -> GradientReply:
    """Return the derivatives in a reply, for k obstacles at each pose."""
    result = reply.gradients
    if result is None:
        result = _no_gradients(len(reply.verdicts), k, reply.status)
    return GradientReply(
        **{name: getattr(reply, name) for name in Reply.__dataclass_fields__},
        **{name: getattr(result, name) for name in GradientResult.__dataclass_fields__},
    )


def _no_gradients(rows: int, k: int, status: Status) -> GradientResult:
    return GradientResult(
        distances=np.full((rows, k), np.nan),
        lower_bounds=np.full((rows, k), np.nan),
        gradients=np.full((rows, k, 3), np.nan),
        rates=np.full((rows, k), np.nan),
        ids=np.full((rows, k), -1),
        smooth=np.zeros((rows, k), bool),
        statuses=np.full(rows, status, np.uint16),
    )


def path_reply(
    common: dict[str, Any], reply: Any, obstacle: int, bounds: tuple[float, float]
) -> PathReply:
    """Return the reply for a path, from the fields of `Reply` and a message or `PathAnswer`.

    `obstacle` is the id of the obstacle, and `bounds` the distance and its lower bound [m].
    """
    segment, fraction = reply.first_invalid_segment, reply.last_valid_fraction
    common["is_free"] = is_free = common["is_free"] and segment == -1 and fraction == 1.0
    if not is_free and not (segment >= 0 and 0.0 <= fraction <= 1.0):
        segment, fraction = 0, 0.0
    return PathReply(
        **common,
        first_invalid_segment=segment,
        last_valid_fraction=fraction,
        first_collision_time=reply.first_collision_time,
        id=obstacle,
        distance=bounds[0],
        lower_bound=bounds[1],
    )


def distance_reply(common: dict[str, Any], reply: Any) -> DistanceReply:
    """Return the reply with distances, from the fields of `Reply` and a message."""
    return DistanceReply(
        **common,
        ids=numbers(reply.ids),
        sources=tuple(reply.sources),
        distances=numbers(reply.distances),
        lower_bounds=numbers(reply.lower_bounds),
        witness_shape=numbers(reply.witness_ego).reshape(-1, 2),
        witness_obstacle=numbers(reply.witness_obstacle).reshape(-1, 2),
        directions=numbers(reply.directions).reshape(-1, 2),
        statuses=numbers(reply.statuses),
    )


def _member(value: int, default: Enum) -> Enum:
    """Return the member with this value, or `default` if the enumeration has none."""
    try:
        return type(default)(value)
    except ValueError:
        return default
