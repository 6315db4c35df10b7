# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A client of a running collision server, with timeouts.

A reply that is missing, late or inconsistent is never free.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, sin
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from geometry_msgs.msg import PoseStamped
from gjk_collision.srv import CheckPath, CheckPoses, Collide, Distance, NearestFree
from rclpy.executors import SingleThreadedExecutor

from .. import _core
from ..arguments import as_bool, as_floats, as_integer, as_integers, as_number, as_vector
from ..errors import InputError
from ..record import Record
from ..results import CheckResult, GradientResult, NearestResult, PathResult
from ..scene import Mode, mode_number
from ..server.calls import Calls
from ..server.fields import nanoseconds, numbers
from ..server.snapshot import Fault
from ..verdict import Status, Verdict, no_truth_value
from .messages import none
from .quality import SERVICE_QOS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from rclpy.executors import Executor
    from rclpy.node import Node

__all__ = [
    "CollideReply",
    "CollisionClient",
    "DistanceReply",
    "Info",
    "NearestFreeReply",
    "PathReply",
    "PosesReply",
    "Reply",
    "path_reply",
    "poses_reply",
    "selected_footprints",
]

MAX_OUTSTANDING = 64
LONGEST = 86400.0  # s: maximum of a time limit

Enum = TypeVar("Enum", Verdict, Status)


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
    obstacle_id : int
        Id of an obstacle that determines the verdict; -1: none.
    obstacle_source : str
        Source of this obstacle; "": none.
    """

    obstacle_id: int
    obstacle_source: str


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
    `nearest_indices` is always empty. `first_invalid_index` is -1 if and only if `is_free` is
    True.

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
    the time after the time of the snapshot [s]. `obstacle_index` is always -1.
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


class CollisionClient:
    """Client of one collision server.

    A call blocks until the reply arrives or the timeout expires. It spins the executor during this
    time, so it must not be called from a callback of the same executor. A request is never
    repeated.

    Parameters
    ----------
    node : rclpy.node.Node
        The node of the client.
    frame : str
        Frame of all poses in requests.
    server : str
        Name of the node of the server: absolute, or relative to the namespace of `node`.
    timeout : float
        Maximum time to wait for each reply [s], > 0 and at most a day.
    max_outstanding : int
        Maximum number of requests without a reply, 1 to 64. It is limited because all clients
        share the queue of the server.
    executor : rclpy.executors.Executor, optional
        The executor to spin. `node` must have been added to it. Default: a new executor.

    Raises
    ------
    ValueError
        `timeout` or `max_outstanding` is out of range.
    """

    def __init__(
        self,
        node: Node,
        frame: str,
        *,
        server: str = "collision_server",
        timeout: float = 0.5,
        max_outstanding: int = 16,
        executor: Executor | None = None,
    ) -> None:
        if not 0.0 < timeout <= LONGEST:
            rule = f"must be positive, and at most {LONGEST:g} s (got {timeout})"
            raise ValueError(f"timeout: {rule}")
        if not 1 <= max_outstanding <= MAX_OUTSTANDING:
            rule = f"must be 1 to {MAX_OUTSTANDING} (got {max_outstanding})"
            raise ValueError(f"max_outstanding: {rule}")
        self._node = node
        self.frame = frame
        self.timeout = timeout
        self.max_outstanding = max_outstanding
        if executor is None:
            executor = SingleThreadedExecutor(context=node.context)
            executor.add_node(node)
        self._executor = executor
        self._check_poses, self._check_path, self._distance, self._collide, self._free = (
            node.create_client(service, f"{server}/{name}", qos_profile=SERVICE_QOS)
            for service, name in (
                (CheckPoses, "check_poses"),
                (CheckPath, "check_path"),
                (Distance, "distance"),
                (Collide, "collide"),
                (NearestFree, "nearest_free"),
            )
        )

    def wait_for_server(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] for all services, and return whether they are available."""
        deadline = time.monotonic() + timeout
        clients = self._check_poses, self._check_path, self._distance, self._collide, self._free
        return all(
            client.wait_for_service(max(0.0, deadline - time.monotonic())) for client in clients
        )

    def check_poses(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        margin: float = 0.0,
        mode: Mode | Literal["gradient"] = "collide",
        stop_at_first: bool = False,
        require_snapshot_id: int = 0,
        footprint: str | Sequence[str] = "",
        which: ArrayLike | None = None,
        groups: ArrayLike = (),
        k: int = 1,
    ) -> PosesReply:
        """Check the vehicle at each of many poses against one snapshot.

        Parameters
        ----------
        poses : array_like, shape (n, 3)
            Poses of the base frame: x [m], y [m], yaw [rad].
        times : array_like, shape (n,), optional
            Time of each pose after the time of the snapshot [s]. Default: the obstacles do not
            move.
        margin : float
            Required distance [m], >= 0, added to the margin of the server.
        mode : {'collide', 'distance', 'witness', 'gradient'}
            'collide': compute verdicts only. 'distance': also distances and lower bounds.
            'witness': also closest points. 'gradient': also distances, lower bounds and the
            derivatives of the distances to the k nearest obstacles.
        stop_at_first : bool
            Stop at the first pose of each group that is not free. The poses of the group after it
            are UNKNOWN.
        require_snapshot_id : int
            Id of the snapshot to use. If it is not available, the reply is UNKNOWN with
            SNAPSHOT_MISMATCH. 0: the latest snapshot.
        footprint : str or sequence of str
            Name of the footprint to check, or several names, from which `which` selects. "": the
            footprint of the server for requests that name none, see its parameters.
        which : array_like of int, shape (n,), optional
            Index in `footprint` of the footprint at each pose. It is required if `footprint` has
            several names.
        groups : array_like of int, shape (G + 1,), optional
            Trajectories: group g has the poses ``groups[g]`` to ``groups[g + 1] - 1``. Default:
            all poses are one group.
        k : int
            Number of obstacles at each pose in mode 'gradient', >= 1.

        Raises
        ------
        InputError
            INVALID_INPUT or ARRAY_MISMATCH: an argument has a wrong type or shape. The server
            checks the values.
        """
        request = CheckPoses.Request(margin=as_number(margin, "margin"), mode=poses_mode(mode))
        self._fill(request, poses, times)
        request.k = as_integer(k, "k", 1, 2**32 - 1)
        offsets = as_integers(groups, "groups", np.uint32, 0)
        request.group_offsets = array("I", offsets.astype(np.uint32).tobytes())
        request.stop_at_first = as_bool(stop_at_first, "stop_at_first")
        request.require_snapshot_id = as_integer(
            require_snapshot_id, "require_snapshot_id", 0, 2**64 - 1
        )
        names, request.which = selected_footprints(footprint, which)
        if isinstance(names, str):
            request.footprint = names
        else:
            request.footprints = names
        [(reply, round_trip)] = self._exchange(self._check_poses, [request])
        n = len(request.poses) // 3
        return poses_reply(
            self._common(reply, round_trip),
            reply,
            n,
            offsets.astype(np.int64),
            _gradients(reply, n),
        )

    def check_path(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        swept: bool = True,
        margin: float = 0.0,
        tolerance: float = 0.0,
        footprint: str = "",
        arcs: ArrayLike = (),
    ) -> PathReply:
        """Check the vehicle along a path through poses.

        Between two poses, the vehicle moves in a straight line with constant velocity and takes
        the shorter rotation.

        Parameters
        ----------
        poses, margin
            As for `check_poses`.
        times : array_like, shape (n,), optional
            As for `check_poses`, and strictly increasing.
        swept : bool
            Whether to check also between the poses.
        tolerance : float
            Tolerance [m], 1e-6 to 1: if the vehicle passes an obstacle closer than margin +
            tolerance, the path may be reported as not free. 0: the parameter of the server.
        footprint : str
            Name of the footprint, see `check_poses`.
        arcs : array_like, shape (m, 2), optional
            Curvature [1/m] and length [m] of each arc of a path from the only pose in `poses`, as
            for `Path.arcs`. `times` then has the shape (m + 1,). In the reply, segments are arcs,
            and `last_valid_fraction` is the fraction of the length of the whole path.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = CheckPath.Request(
            margin=as_number(margin, "margin"), tolerance=as_number(tolerance, "tolerance")
        )
        self._fill(request, poses, times)
        request.footprint = footprint_name(footprint)
        request.arcs = array("d", as_floats(arcs, "arcs", 2).tobytes())
        request.interpolation = request.SWEPT if as_bool(swept, "swept") else request.DISCRETE
        [(reply, round_trip)] = self._exchange(self._check_path, [request])
        return self._path_reply(reply, round_trip)

    def distances(
        self,
        poses: ArrayLike,
        *,
        k: int = 1,
        max_distance: float = 0.0,
        footprint: str = "",
    ) -> list[DistanceReply]:
        """Return the distances to the nearest obstacles at each of many poses.

        Each pose is a separate request. Up to `max_outstanding` requests are sent before their
        replies arrive. The replies may be from different snapshots.

        Parameters
        ----------
        poses : array_like, shape (n, 3)
            Poses of the base frame: x [m], y [m], yaw [rad].
        k : int
            Maximum number of obstacles per pose.
        max_distance : float
            Obstacles farther away than this are not reported [m]. 0: no limit.
        footprint : str
            Name of the footprint, see `check_poses`.

        Returns
        -------
        list of DistanceReply
            One reply per pose.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = {
            "k": as_integer(k, "k", 0, 2**32 - 1),
            "max_distance": as_number(max_distance, "max_distance"),
            "footprint": footprint_name(footprint),
        }
        requests = [
            Distance.Request(pose=self._pose(pose), **request)
            for pose in as_floats(poses, "poses", 3).tolist()
        ]
        return [self._distance_reply(*got) for got in self._exchange(self._distance, requests)]

    def distance(self, pose: ArrayLike, **options: Any) -> DistanceReply:
        """Return the distances to the nearest obstacles at one pose, see `distances`."""
        return self.distances([as_vector(pose, "pose")], **options)[0]

    def collide(
        self,
        pose: Sequence[float] | None = None,
        *,
        margin: float = 0.0,
        footprint: str = "",
    ) -> CollideReply:
        """Check the vehicle at one pose.

        Parameters
        ----------
        pose : (x, y, yaw), optional
            Pose of the base frame [m, m, rad]. None: the present pose of the vehicle.
        margin : float
            As for `check_poses`.
        footprint : str
            Name of the footprint, see `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = Collide.Request(
            margin=as_number(margin, "margin"), footprint=footprint_name(footprint)
        )
        if pose is not None:
            request.pose = self._pose(as_vector(pose, "pose"))
        [(reply, round_trip)] = self._exchange(self._collide, [request])
        return CollideReply(
            **self._common(reply, round_trip),
            obstacle_id=reply.obstacle_id,
            obstacle_source=reply.obstacle_source,
        )

    def nearest_free(
        self,
        pose: Sequence[float] | None,
        max_shift: float,
        max_turn: float = 0.0,
        *,
        margin: float = 0.0,
        tolerance: float = 0.0,
        footprint: str = "",
    ) -> NearestFreeReply:
        """Search the nearest pose at which the vehicle is free, as `Scene.nearest_free` does.

        Parameters
        ----------
        pose : (x, y, yaw) or None
            Pose of the base frame [m, m, rad]. None: the present pose of the vehicle.
        max_shift, max_turn : float
            Maximum distance [m] and change of the yaw [rad], >= 0.
        margin : float
            As for `check_poses`.
        tolerance : float
            Resolution of the search [m], 1e-6 to 1. 0: the parameter of the server.
        footprint : str
            Name of the footprint, see `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = NearestFree.Request(
            max_shift=as_number(max_shift, "max_shift"),
            max_turn=as_number(max_turn, "max_turn"),
            margin=as_number(margin, "margin"),
            tolerance=as_number(tolerance, "tolerance"),
            footprint=footprint_name(footprint),
        )
        if pose is not None:
            request.pose = self._pose(as_vector(pose, "pose"))
        [(reply, round_trip)] = self._exchange(self._free, [request])
        return nearest_free_reply(self._common(reply, round_trip), reply)

    def _exchange(self, client: Any, requests: Sequence[Any]) -> list[tuple[Any, float]]:
        """Send the requests, and return the reply and the round trip time [s] of each.

        At most `max_outstanding` requests are without a reply at any time. If no reply arrives in
        time, a reply with UNKNOWN is returned in its place.
        """
        text = f"no reply within {self.timeout} s"
        missing = none(client.srv_type, Fault(Status.UNDEFINED, text))
        calls = Calls(
            requests,
            client.call_async,
            client.remove_pending_request,
            self.timeout,
            self.max_outstanding,
            missing,
        )
        while (until := calls.send(time.monotonic())) is not None:
            # spin_until_future_complete() is not used, because each call leaks a wake-up on Jazzy.
            self._executor.spin_once(max(0.0, until - time.monotonic()))
            calls.collect(time.monotonic())
        return calls.replies

    def _fill(self, request: Any, poses: ArrayLike, times: ArrayLike) -> None:
        request.header.frame_id = self.frame
        # rclpy uses an array.array as it is, but iterates over the items of an ndarray.
        request.poses = array("d", as_floats(poses, "poses", 3).tobytes())
        request.times = array("d", as_floats(times, "times", 0).tobytes())

    def _pose(self, pose: Sequence[float]) -> PoseStamped:
        message = PoseStamped()
        message.header.frame_id = self.frame
        x, y, yaw = pose
        message.pose.position.x, message.pose.position.y = x, y
        message.pose.orientation.z, message.pose.orientation.w = sin(yaw / 2), cos(yaw / 2)
        return message

    @staticmethod
    def _common(reply: Any, round_trip: float) -> dict[str, Any]:
        """Return the values of the fields of `Reply`."""
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
                frame_id=info.header.frame_id,
                stamp_ns=nanoseconds(info.header.stamp),
                snapshot_id=info.snapshot_id,
                oldest_data_stamp_ns=nanoseconds(info.oldest_data_stamp),
                footprint_age=info.footprint_age,
                max_obstacle_age=info.max_obstacle_age,
                bad_sources=tuple(info.bad_sources),
                config_hash=info.config_hash,
                compute_time=info.compute_time,
                footprint=info.footprint,
            ),
            "round_trip": round_trip,
        }

    def _path_reply(self, reply: Any, round_trip: float) -> PathReply:
        return path_reply(self._common(reply, round_trip), reply)

    def _distance_reply(self, reply: Any, round_trip: float) -> DistanceReply:
        return DistanceReply(
            **self._common(reply, round_trip),
            ids=numbers(reply.ids),
            sources=tuple(reply.sources),
            distances=numbers(reply.distances),
            lower_bounds=numbers(reply.lower_bounds),
            witness_shape=numbers(reply.witness_ego).reshape(-1, 2),
            witness_obstacle=numbers(reply.witness_obstacle).reshape(-1, 2),
            directions=numbers(reply.directions).reshape(-1, 2),
            statuses=numbers(reply.statuses),
        )


def footprint_name(footprint: Any) -> str:
    """Return the name of a footprint.

    Raises
    ------
    InputError
        INVALID_INPUT: it is not a string.
    """
    if not isinstance(footprint, str):
        rule = f"must be a name (got {footprint!r})"
        raise InputError(Status.INVALID_INPUT, "footprint", None, rule)
    return footprint


def selected_footprints(
    footprint: str | Sequence[str], which: ArrayLike | None
) -> tuple[str | list[str], array[int]]:
    """Return the name of a footprint or a list of names, and the index of the one at each pose.

    Raises
    ------
    InputError
        INVALID_INPUT: `footprint` is not a name, or a sequence of at least one name; or `which`
        are not integers from 0 to 255, or are given beside one name.
    """
    if isinstance(footprint, str):
        if which is not None:
            rule = "can only be given if footprint is a sequence of names"
            raise InputError(Status.INVALID_INPUT, "which", None, rule)
        return footprint, array("B")
    try:
        names = [footprint_name(each) for each in footprint]
    except TypeError:
        footprint_name(footprint)
        raise
    if not names:
        rule = 'must have at least one name (got none); "" is the default footprint'
        raise InputError(Status.INVALID_INPUT, "footprint", None, rule)
    given = np.empty(0, np.uint8) if which is None else np.asarray(which)
    if given.dtype.kind not in "iu" or given.ndim != 1 or ((given < 0) | (given > 255)).any():
        rule = "must be a list of indices in footprint"
        raise InputError(Status.INVALID_INPUT, "which", None, rule)
    return names, array("B", given.astype(np.uint8).tobytes())


def _gradients(reply: Any, n: int) -> GradientResult | None:
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
    offsets: NDArray[np.int64] | None = None,
    gradients: GradientResult | None = None,
) -> PosesReply:
    """Return the reply for n poses, from the fields of `Reply` and a message or `PosesAnswer`.

    `offsets` are those of the groups, if any.
    """
    verdicts = numbers(reply.verdicts)
    statuses = numbers(reply.statuses)
    if not len(verdicts) == len(statuses) == n:  # the request was refused as a whole
        verdicts = np.full(n, Verdict.UNKNOWN, np.uint8)
        statuses = np.full(n, common["status"], np.uint16)
    free = (verdicts == Verdict.FREE) & (statuses == Status.SUCCESS)
    common["is_free"] = is_free = common["is_free"] and n > 0 and bool(free.all())
    return PosesReply(
        **common,
        verdicts=verdicts,
        statuses=statuses,
        distances=numbers(reply.distances),
        lower_bounds=numbers(reply.lower_bounds),
        nearest_ids=numbers(reply.nearest_ids),
        witnesses=numbers(() if reply.witnesses is None else reply.witnesses).reshape(-1, 4),
        first_invalid_index=-1 if is_free else int(np.argmin(free)) if n else 0,
        group_first_invalid=_first_of_groups(free, offsets),
        gradients=gradients,
    )


def _first_of_groups(
    free: NDArray[np.bool_], offsets: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the index in each group of the first pose that is not free; -1: all are free."""
    if offsets is None or len(offsets) < 2:
        return np.empty(0, np.int64)
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


def poses_mode(mode: str) -> int:
    """Return the number of a mode of CheckPoses."""
    return _core.MODE_GRADIENT if mode == "gradient" else mode_number(mode)


def path_reply(common: dict[str, Any], reply: Any) -> PathReply:
    """Return the reply for a path, from the fields of `Reply` and a message or `PathAnswer`."""
    segment, fraction = reply.first_invalid_segment, reply.last_valid_fraction
    common["is_free"] = is_free = common["is_free"] and segment == -1 and fraction == 1.0
    if not is_free and not (segment >= 0 and 0.0 <= fraction <= 1.0):
        segment, fraction = 0, 0.0
    return PathReply(
        **common,
        first_invalid_segment=segment,
        last_valid_fraction=fraction,
        first_collision_time=reply.first_collision_time,
        obstacle_id=reply.obstacle_id,
        min_distance=reply.min_distance,
        min_distance_lower_bound=reply.min_distance_lower_bound,
    )


def _member(value: int, default: Enum) -> Enum:
    """Return the member with this value, or `default` if the enumeration has none."""
    try:
        return type(default)(value)
    except ValueError:
        return default
