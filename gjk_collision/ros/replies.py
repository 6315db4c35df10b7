# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The replies of the client and of the mirror. Their fields have the names of the ``.srv``.

A reply that is inconsistent is never free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import _core
from ..record import Record
from ..server.frames.fields import nanoseconds, numbers
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
    "reply_of",
    "results_of",
]

Enum = TypeVar("Enum", Verdict, Status)
Values = dict[str, Any]  # name of a field -> value
Given = Mapping[str, Any]

_FREE, _SUCCESS = int(Verdict.FREE), int(Status.SUCCESS)  # numpy compares members slowly


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

    @classmethod
    def _judged(cls, common: Values, results: Values, request: Given) -> Values:
        """Return the results, or those for "none" where they are contradictory.

        If they contradict it, `common` is not free afterwards.
        """
        return results


@dataclass(frozen=True, eq=False, repr=False)
class CollideReply(Reply):
    """Reply of `~/collide`.

    Attributes
    ----------
    obstacle_id : int
        Id of an obstacle that determines the verdict; -1: none.
    obstacle_source : str
        Source of this obstacle; "": none.
    """

    obstacle_id: int
    obstacle_source: str


@dataclass(frozen=True, eq=False, repr=False)
class DistanceReply(Reply):
    """Reply of `~/distance`: the n nearest obstacles, in the frame `info.frame_id`.

    Attributes
    ----------
    ids : ndarray of int64, shape (n,)
        Ids of the obstacles, sorted by distance.
    sources : tuple of str
        Source of each obstacle.
    distances, lower_bounds : ndarray, shape (n,)
        Signed distances and their certified lower bounds [m], as in `NearestResult`.
    witness_ego, witness_obstacle : ndarray, shape (n, 2)
        Closest points of the vehicle and of the obstacle: x, y [m].
    directions : ndarray, shape (n, 2)
        Unit vectors from the vehicle to the obstacle.
    statuses : ndarray of uint16, shape (n,)
        `Status` of each obstacle.
    """

    ids: NDArray[np.int64]
    sources: tuple[str, ...]
    distances: NDArray[np.float64]
    lower_bounds: NDArray[np.float64]
    witness_ego: NDArray[np.float64]
    witness_obstacle: NDArray[np.float64]
    directions: NDArray[np.float64]
    statuses: NDArray[np.uint16]


@dataclass(frozen=True, eq=False, repr=False)
class PosesReply(Reply):
    """Reply of `~/check_poses` for n poses.

    `verdicts` and `statuses` always have one entry per requested pose. If the reply has another
    number of entries, each verdict is UNKNOWN and each status is that of the reply. `distances`,
    `lower_bounds` and `witnesses` are empty in modes that do not compute them.

    Attributes
    ----------
    verdicts : ndarray of uint8, shape (n,)
        `Verdict` at each pose.
    statuses : ndarray of uint16, shape (n,)
        `Status` at each pose.
    distances, lower_bounds : ndarray, shape (n,)
        Signed distance to the nearest obstacle and its certified lower bound [m]; NaN: not known.
    nearest_ids : ndarray of int64, shape (n,)
        Id of the obstacle that determines the verdict; -1: none.
    witnesses : ndarray, shape (n, 4)
        Closest points: x, y on the vehicle and x, y on the obstacle [m]; NaN: none.
    first_invalid_index : int
        Index of the first pose that is not FREE; -1 if and only if `is_free` is True.
    group_first_invalid : ndarray of int64, shape (G,)
        Index of the first pose of each group that is not free, in its group; -1: all are free.
        Computed from `verdicts`. Empty: the request has no groups.
    gradient_ids : ndarray of int64, shape (n, k)
        Ids of the k nearest obstacles at each pose; -1: none. In other modes than
        'gradient', k is 0.
    gradient_distances : ndarray, shape (n, k)
        Signed distances to them [m]. NaN: not known, also if the whole request was refused.
    gradients : ndarray, shape (n, k, 3)
        Derivatives of the distances by x, y [1] and yaw [m/rad] of the pose.
    gradient_rates : ndarray, shape (n, k)
        Derivatives by the time [m/s].
    gradient_smooth : ndarray of bool, shape (n, k)
        As `GradientResult.smooth`.
    """

    verdicts: NDArray[np.uint8]
    statuses: NDArray[np.uint16]
    distances: NDArray[np.float64]
    lower_bounds: NDArray[np.float64]
    nearest_ids: NDArray[np.int64]
    witnesses: NDArray[np.float64]
    first_invalid_index: int
    group_first_invalid: NDArray[np.int64]
    gradient_ids: NDArray[np.int64]
    gradient_distances: NDArray[np.float64]
    gradients: NDArray[np.float64]
    gradient_rates: NDArray[np.float64]
    gradient_smooth: NDArray[np.bool_]

    @classmethod
    def _judged(cls, common: Values, results: Values, request: Given) -> Values:
        n, verdicts, statuses = (
            len(request["poses"]) // 3,
            results["verdicts"],
            results["statuses"],
        )
        if not len(verdicts) == len(statuses) == n:  # the request was refused as a whole
            verdicts = np.full(n, Verdict.UNKNOWN, np.uint8)
            statuses = np.full(n, common["status"], np.uint16)
            results = {
                name: each[:0] if hasattr(each, "ndim") else 0 for name, each in results.items()
            }
            results |= {"verdicts": verdicts, "statuses": statuses}
        free = (verdicts == _FREE) & (statuses == _SUCCESS)
        first = int(free.argmin()) if n else 0
        common["is_free"] = is_free = common["is_free"] and n > 0 and bool(free[first])
        return results | {
            "first_invalid_index": -1 if is_free else first,
            "group_first_invalid": _first_of_groups(free, request["group_offsets"]),
            **_derivatives(
                results, n, request["k"] if request["mode"] == _core.MODE_GRADIENT else 0
            ),
        }


@dataclass(frozen=True, eq=False, repr=False)
class PathReply(Reply):
    """Reply of `~/check_path`.

    In a contradictory reply, `first_invalid_segment` and `last_valid_fraction` are replaced by 0.

    Attributes
    ----------
    first_invalid_segment : int
        The first segment that is not free, as in `PathResult`; -1 if and only if `is_free`
        is True.
    last_valid_fraction : float
        Fraction of this segment that is certainly free; for arcs: of the whole path.
    first_collision_time : float
        The first time at which contact is not excluded, after the time of the snapshot [s]; NaN:
        no collision, or no times.
    obstacle_id : int
        Id of the first obstacle that makes the path not free; -1: none.
    min_distance, min_distance_lower_bound : float
        Smallest signed distance on the path and its certified lower bound [m]; NaN: not known.
    """

    first_invalid_segment: int
    last_valid_fraction: float
    first_collision_time: float
    obstacle_id: int
    min_distance: float
    min_distance_lower_bound: float

    @classmethod
    def _judged(cls, common: Values, results: Values, request: Given) -> Values:
        segment, fraction = results["first_invalid_segment"], results["last_valid_fraction"]
        common["is_free"] = is_free = common["is_free"] and segment == -1 and fraction == 1.0
        if is_free or (segment >= 0 and 0.0 <= fraction <= 1.0):
            return results
        return results | {"first_invalid_segment": 0, "last_valid_fraction": 0.0}


@dataclass(frozen=True, eq=False, repr=False)
class NearestFreeReply(Reply):
    """Reply of `~/nearest_free`.

    Attributes
    ----------
    free_pose : ndarray, shape (3,), or None
        The free pose: x [m], y [m], yaw [rad] in the frame `info.frame_id`. It is given if and
        only if `is_free` is True. None: none was found, or none is known.
    shift, turn : float
        Distance [m] and change of the yaw [rad] from the requested pose. NaN: there is no
        `free_pose`.
    """

    free_pose: NDArray[np.float64] | None
    shift: float
    turn: float

    @classmethod
    def _judged(cls, common: Values, results: Values, request: Given) -> Values:
        common["is_free"] = is_free = common["is_free"] and len(results["free_pose"]) == 3
        return results if is_free else {"free_pose": None, "shift": np.nan, "turn": np.nan}


_REPLIES: dict[str, type[Reply]] = {
    "Collide": CollideReply,
    "Distance": DistanceReply,
    "CheckPoses": PosesReply,
    "CheckPath": PathReply,
    "NearestFree": NearestFreeReply,
}
_RESULTS = {
    name: [each for each in kind.__dataclass_fields__ if each not in Reply.__dataclass_fields__]
    for name, kind in _REPLIES.items()
}
# Numbers in a row of an array; 1 in others.
_COLUMNS = {
    "witnesses": 4,
    "witness_ego": 2,
    "witness_obstacle": 2,
    "directions": 2,
    "gradients": 3,
}


def reply_of(service: str, common: Values, results: Values, request: Given) -> Any:
    """Return a reply, from the values of the fields of `Reply` and the results.

    `service` is the name of the service type, and `request` has the fields of the request.
    """
    kind = _REPLIES[service]
    judged = kind._judged(common, results, request)
    return kind._of(common | {name: judged[name] for name in _RESULTS[service]})


def results_of(service: str, reply: Any) -> Values:
    """Return the results in a message, as `Answer.results` has them."""
    return {name: _value(name, getattr(reply, name)) for name in _RESULTS[service]}


def _value(name: str, value: Any) -> Any:
    if name == "sources":
        return tuple(value)
    if isinstance(value, int | float | str):
        return value
    columns, values = _COLUMNS.get(name), numbers(value)
    if columns is None:
        return values
    if len(values) % columns:  # contradictory
        values = values[:0]
    return values.reshape(-1, columns)


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


def _derivatives(results: Values, n: int, k: int) -> Values:
    """Return the derivatives for n poses; if there are none, those of k unknown obstacles."""
    whole = len(results["gradient_ids"])
    found = whole // n if n else 0
    names = "gradient_ids", "gradient_distances", "gradient_rates", "gradient_smooth", "gradients"
    if found and all(len(results[name]) == whole == n * found for name in names):
        shaped = {name: results[name].reshape(n, found) for name in names[:4]}
        smooth = shaped["gradient_smooth"].astype(bool)
        gradients = results["gradients"].reshape(n, found, 3)
        return shaped | {"gradient_smooth": smooth, "gradients": gradients}
    floats, smooth = np.empty((n, 0)), np.empty((n, 0), bool)
    ids, gradients = np.empty((n, 0), np.int64), np.empty((n, 0, 3))
    if k:  # views of one value: `k` may be so great that the request was refused because of it
        floats, smooth = np.broadcast_to(np.nan, (n, k)), np.broadcast_to(False, (n, k))
        ids, gradients = np.broadcast_to(-1, (n, k)), np.broadcast_to(np.nan, (n, k, 3))
    values = ids, floats, floats, smooth, gradients
    return dict(zip(names, values, strict=True))


def _first_of_groups(free: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index in each group of the first pose that is not free; -1: all are free."""
    if len(offsets) < 2:
        return np.empty(0, np.int64)
    first = np.zeros(len(offsets) - 1, np.int64)  # nothing is known of groups that are not valid
    if offsets[0] == 0 and offsets[-1] == len(free) and (np.diff(offsets) > 0).all():
        for g, (begin, end) in enumerate(pairwise(offsets.tolist())):
            own = free[begin:end]
            first[g] = -1 if own.all() else int(np.argmin(own))
    return first


def _member(value: int, default: Enum) -> Enum:
    """Return the member with this value, or `default` if the enumeration has none."""
    try:
        return type(default)(value)
    except ValueError:
        return default
