# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A client of a running collision server, with timeouts.

A reply that is missing, late or inconsistent is never free.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from geometry_msgs.msg import PoseStamped
from gjk_collision.srv import CheckPath, CheckPoses, Collide, Distance, NearestFree
from rclpy.executors import SingleThreadedExecutor

from .. import _core
from ..arguments import (
    as_bool,
    as_choice,
    as_floats,
    as_frame,
    as_integer,
    as_integers,
    as_number,
    as_vector,
)
from ..errors import InputError
from ..scene import Mode, mode_number
from ..server.answers import fault_of
from ..server.calls import Calls
from ..server.fields import numbers
from ..server.frames import orientation
from ..server.pauses import steady_time
from ..server.snapshot import Fault
from ..verdict import Status
from .messages import none
from .quality import SERVICE_QOS
from .replies import (
    CollideReply,
    DistanceReply,
    Info,
    NearestFreeReply,
    PathReply,
    PosesReply,
    Reply,
    common_fields,
    distance_reply,
    gradients_of,
    nearest_free_reply,
    path_reply,
    poses_reply,
)
from .spinning import Waiting

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
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
    "footprint_name",
    "path_reply",
    "poses_reply",
    "selected_footprints",
]

MAX_OUTSTANDING = 64
LONGEST = 86400.0  # s: maximum of a time limit

_MODES = {mode: mode_number(mode) for mode in get_args(Mode)} | {"gradient": _core.MODE_GRADIENT}


class CollisionClient:
    """Client of one collision server.

    If replies of several servers arrive within 3 s, all are UNKNOWN with SNAPSHOT_MISMATCH: each
    server must have its own name.

    A call blocks until the reply arrives or the timeout expires. It spins the executor during this
    time, so it must not be called from a callback of the same executor. Several threads may call
    it. A request is never repeated.

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
        The executor to spin. `node` must have been added to it. While another thread spins it,
        calls wait for that thread to receive their replies. Default: a new executor.

    Raises
    ------
    InputError
        `frame`, `timeout` or `max_outstanding` has a wrong type or is out of range.
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
        self._node = node
        self.frame = as_frame(frame, "frame")
        self.timeout = as_number(timeout, "timeout")
        if not 0.0 < self.timeout <= LONGEST:
            rule = f"must be positive, and at most {LONGEST:g} s (got {timeout})"
            raise InputError(Status.INVALID_INPUT, "timeout", None, rule)
        self.max_outstanding = as_integer(max_outstanding, "max_outstanding", 1, MAX_OUTSTANDING)
        is_shared = executor is not None
        if executor is None:
            executor = SingleThreadedExecutor(context=node.context)
            executor.add_node(node)
        self._executor = executor
        self._servers = _core.Servers()
        self._waiting = Waiting(executor, is_shared=is_shared)
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
        common, reply = self._ask(self._check_poses, request)
        n = len(request.poses) // 3
        ids, gradients = numbers(reply.nearest_ids), gradients_of(reply, n)
        return poses_reply(common, reply, n, ids, offsets.astype(np.int64), gradients)

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
        common, reply = self._ask(self._check_path, request)
        bounds = reply.min_distance, reply.min_distance_lower_bound
        return path_reply(common, reply, reply.obstacle_id, bounds)

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
        replies = self._exchange(self._distance, requests)
        return [distance_reply(common_fields(*each), each[0]) for each in replies]

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
        common, reply = self._ask(self._collide, request)
        return CollideReply(
            **common,
            id=reply.obstacle_id,
            source=reply.obstacle_source,
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
        return nearest_free_reply(*self._ask(self._free, request))

    def _ask(self, client: Any, request: Any) -> tuple[dict[str, Any], Any]:
        """Return the fields of `Reply`, and the reply to a request."""
        [(reply, round_trip)] = self._exchange(client, [request])
        return common_fields(reply, round_trip), reply

    def _exchange(self, client: Any, requests: Sequence[Any]) -> list[tuple[Any, float]]:
        """Send the requests, and return the reply and the round trip time [s] of each.

        At most `max_outstanding` requests are without a reply at any time. If no reply arrives in
        time, a reply with UNKNOWN is returned in its place.
        """
        text = f"no reply within {self.timeout} s"
        missing = none(client.srv_type, Fault(Status.UNDEFINED, text))
        is_done = threading.Event()

        def send(request: Any) -> Any:
            future = client.call_async(request)
            self._waiting.watch(future, is_done)
            return future

        calls = Calls(
            requests,
            send,
            client.remove_pending_request,
            self.timeout,
            self.max_outstanding,
            missing,
        )
        while (until := calls.send(time.monotonic())) is not None:
            # spin_until_future_complete() is not used, because each call leaks a wake-up on Jazzy.
            self._waiting.wait(max(0.0, until - time.monotonic()), is_done)
            calls.collect(time.monotonic())
        return self._of_one_server(client, calls.replies)

    def _of_one_server(
        self, client: Any, replies: list[tuple[Any, float]]
    ) -> list[tuple[Any, float]]:
        """Return the replies; those of several servers of one name are replaced by UNKNOWN."""
        now, checked = steady_time(), []
        for reply, _ in replies:
            self._servers.note(reply.info.snapshot_id >> 32, now)
        for reply, round_trip in replies:
            fault = fault_of(self._servers.fault(reply.info.snapshot_id >> 32, now))
            if fault is not None and reply.info.snapshot_id:  # without data, it is not FREE
                checked.append((none(client.srv_type, fault), round_trip))
            else:
                checked.append((reply, round_trip))
        return checked

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
        _, _, message.pose.orientation.z, message.pose.orientation.w = orientation(yaw)
        return message


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
    given = as_integers(() if which is None else which, "which", np.uint8, 0)
    return names, array("B", given.tobytes())


def poses_mode(mode: str) -> int:
    """Return the number of a mode of CheckPoses."""
    return _MODES[as_choice(mode, tuple(_MODES), "mode")]
