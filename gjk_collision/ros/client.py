# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Ask a running collision server, with timeouts; what is missing, late or odd is never free."""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from geometry_msgs.msg import PoseStamped
from gjk_collision.srv import CheckPath, CheckPoses, Collide, Distance
from rclpy.executors import SingleThreadedExecutor

from ..arguments import as_flag, as_floats, as_number, as_vector, as_whole
from ..results import CheckResult, NearestResult, PathResult
from ..scene import Mode, mode_number
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
    "PathReply",
    "PosesReply",
    "Reply",
]

MAX_OUTSTANDING = 64

Enum = TypeVar("Enum", Verdict, Status)


@dataclass(frozen=True)
class Info:
    """On what a reply rests: `msg/ReplyInfo` in plain types; stamps in ns, the rest in s."""

    frame_id: str
    stamp_ns: int
    snapshot_id: int
    oldest_data_stamp_ns: int
    footprint_age: float
    max_obstacle_age: float
    bad_sources: tuple[str, ...]
    config_hash: int
    compute_time: float


@dataclass(frozen=True)
class Reply:
    """What every reply has, as read.

    One that did not come in time is read as UNKNOWN, with the "none" of each field.

    Attributes
    ----------
    is_free : bool
        True only if the server says FREE and SUCCESS, names its snapshot, and every part of the
        reply agrees.
    verdict, status : Verdict, Status
        UNKNOWN and UNDEFINED where no usable reply came in time.
    message : str
        For a person.
    info : Info
        On what the reply rests; `snapshot_id` 0: nothing.
    round_trip : float
        From sending to receipt [s]; infinite where no reply came in time.
    """

    is_free: bool
    verdict: Verdict
    status: Status
    message: str
    info: Info
    round_trip: float

    __bool__ = no_truth_value("`.is_free`")


@dataclass(frozen=True)
class CollideReply(Reply):
    """Reply of `~/collide`.

    Attributes
    ----------
    obstacle_id : int
        The obstacle that decides; -1: none.
    obstacle_source : str
        Its source; "" for none.
    """

    obstacle_id: int
    obstacle_source: str


@dataclass(frozen=True)
class DistanceReply(Reply, NearestResult):
    """Reply of `~/distance`: a `NearestResult` in the frame `info.frame_id`; `indices` is empty.

    Attributes
    ----------
    sources : tuple of str
        Of each obstacle.
    """

    sources: tuple[str, ...]


@dataclass(frozen=True)
class PosesReply(Reply, CheckResult):
    """Reply of `~/check_poses`: a `CheckResult`.

    `verdicts` and `statuses` have one entry per pose asked for, whatever the reply: UNKNOWN where
    it gives none. `distances` and `lower_bounds` (n,) and `witnesses` (n, 4) are empty in modes
    that do not compute them; `nearest_indices` is always empty. `first_invalid_index` is -1
    exactly if `is_free`.
    """

    witnesses: NDArray[np.float64]


@dataclass(frozen=True)
class PathReply(Reply, PathResult):
    """Reply of `~/check_path`: a `PathResult`.

    `first_invalid_segment` is -1 exactly if `is_free`; beside a contradiction it is 0, and
    `last_valid_fraction` 0.0. `obstacle_index` is -1.
    """


class CollisionClient:
    """A client of one collision server.

    A call blocks until its reply or its timeout, and spins the executor meanwhile; so it must not
    be made from a callback that runs on the same executor. Nothing is asked twice.

    Parameters
    ----------
    node : rclpy.node.Node
        The node that the client belongs to.
    frame : str
        Frame of all poses asked for.
    server : str
        Name of the server's node, relative to the namespace of `node` or absolute.
    timeout : float
        Longest wait for one reply [s].
    max_outstanding : int
        Most requests in flight at once, at most 64: the server's queue is for all clients.
    executor : rclpy.executors.Executor, optional
        The executor to spin, to which `node` must have been added; None makes one.

    Raises
    ------
    ValueError
        If `timeout` or `max_outstanding` is out of range.
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
        if not timeout > 0.0:
            raise ValueError(f"timeout: must be positive (got {timeout})")
        if not 1 <= max_outstanding <= MAX_OUTSTANDING:
            raise ValueError(f"max_outstanding: must be 1 to {MAX_OUTSTANDING}")
        self._node = node
        self.frame = frame
        self.timeout = timeout
        self.max_outstanding = max_outstanding
        if executor is None:
            executor = SingleThreadedExecutor(context=node.context)
            executor.add_node(node)
        self._executor = executor
        self._check_poses, self._check_path, self._distance, self._collide = (
            node.create_client(service, f"{server}/{name}", qos_profile=SERVICE_QOS)
            for service, name in (
                (CheckPoses, "check_poses"),
                (CheckPath, "check_path"),
                (Distance, "distance"),
                (Collide, "collide"),
            )
        )

    def wait_for_server(self, timeout: float) -> bool:
        """Tell whether all services can be reached within `timeout` [s]."""
        deadline = time.monotonic() + timeout
        return all(
            client.wait_for_service(max(0.0, deadline - time.monotonic()))
            for client in (self._check_poses, self._check_path, self._distance, self._collide)
        )

    def check_poses(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        margin: float = 0.0,
        mode: Mode = "collide",
        stop_at_first: bool = False,
        require_snapshot_id: int = 0,
    ) -> PosesReply:
        """Ask for a verdict at each of many poses, all on one snapshot.

        Parameters
        ----------
        poses : array_like, shape (n, 3)
            x [m], y [m], yaw [rad] of the base frame.
        times : array_like, shape (n,), optional
            Seconds after the snapshot's time per pose; none: the obstacles stand still.
        margin : float
            Clearance to ask for [m], added to the server's own.
        mode : {'collide', 'distance', 'witness'}
            What to compute beside the verdicts.
        stop_at_first : bool
            Stop at the first pose that is not free; the rest stay UNKNOWN.
        require_snapshot_id : int
            Reply from this snapshot or not at all; 0: the latest.

        Raises
        ------
        InputError
            An argument is of another kind or shape.
        """
        request = CheckPoses.Request(margin=as_number(margin, "margin"), mode=mode_number(mode))
        self._fill(request, poses, times)
        request.stop_at_first = as_flag(stop_at_first, "stop_at_first")
        request.require_snapshot_id = as_whole(
            require_snapshot_id, "require_snapshot_id", 0, 2**64 - 1
        )
        [(reply, round_trip)] = self._exchange(self._check_poses, [request])
        return self._poses_reply(reply, round_trip, len(request.poses) // 3)

    def check_path(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        swept: bool = True,
        margin: float = 0.0,
        tolerance: float = 0.0,
    ) -> PathReply:
        """Ask whether the way through some poses is free, straight from each to the next.

        Parameters
        ----------
        poses, times, margin
            As for `check_poses`; the times increase.
        swept : bool
            Between the poses too; else at them only.
        tolerance : float
            What passes within margin + tolerance may be called a hit [m]; 0: the server's own.

        Raises
        ------
        InputError
            An argument is of another kind or shape.
        """
        request = CheckPath.Request(
            margin=as_number(margin, "margin"), tolerance=as_number(tolerance, "tolerance")
        )
        self._fill(request, poses, times)
        request.interpolation = request.SWEPT if as_flag(swept, "swept") else request.DISCRETE
        [(reply, round_trip)] = self._exchange(self._check_path, [request])
        return self._path_reply(reply, round_trip)

    def distances(
        self, poses: ArrayLike, *, k: int = 1, max_distance: float = 0.0
    ) -> list[DistanceReply]:
        """Ask for the nearest `k` obstacles at each of many poses, several requests in flight.

        Each reply is from the snapshot that was the latest when it was given.

        Parameters
        ----------
        poses : array_like, shape (n, 3)
            x [m], y [m], yaw [rad] of the base frame.
        k : int
            How many obstacles per pose.
        max_distance : float
            Report none further away than this [m]; 0: unlimited.

        Raises
        ------
        InputError
            An argument is of another kind or shape.
        """
        request = {
            "k": as_whole(k, "k", 0, 2**32 - 1),
            "max_distance": as_number(max_distance, "max_distance"),
        }
        requests = [
            Distance.Request(pose=self._pose(pose), **request)
            for pose in as_floats(poses, "poses", 3).tolist()
        ]
        return [self._distance_reply(*got) for got in self._exchange(self._distance, requests)]

    def distance(self, pose: ArrayLike, **options: Any) -> DistanceReply:
        """Ask for the nearest obstacles at one pose; see `distances`."""
        return self.distances([as_vector(pose, "pose")], **options)[0]

    def collide(self, pose: Sequence[float] | None = None, *, margin: float = 0.0) -> CollideReply:
        """Ask for a verdict at one pose (x [m], y [m], yaw [rad]); None: where the vehicle is."""
        request = Collide.Request(margin=as_number(margin, "margin"))
        if pose is not None:
            request.pose = self._pose(as_vector(pose, "pose"))
        [(reply, round_trip)] = self._exchange(self._collide, [request])
        return CollideReply(
            **self._common(reply, round_trip),
            obstacle_id=reply.obstacle_id,
            obstacle_source=reply.obstacle_source,
        )

    def _exchange(self, client: Any, requests: Sequence[Any]) -> list[tuple[Any, float]]:
        """Send all, at most `max_outstanding` at once: reply and round trip of each.

        In place of a reply that does not come in time there is one without an answer.
        """
        text = f"no reply within {self.timeout} s"
        missing = none(client.srv_type, Fault(Status.UNDEFINED, text))
        replies: list[tuple[Any, float]] = [(missing, np.inf)] * len(requests)
        unsent = deque(enumerate(requests))
        pending: list[tuple[int, Any, float]] = []
        while unsent or pending:
            while unsent and len(pending) < self.max_outstanding:
                index, request = unsent.popleft()
                pending.append((index, client.call_async(request), time.monotonic()))
            oldest = pending[0][2]
            # Not spin_until_future_complete: each such call leaks a wake-up on Jazzy.
            self._executor.spin_once(max(0.0, oldest + self.timeout - time.monotonic()))
            now = time.monotonic()
            waiting = []
            for index, future, sent in pending:
                if future.done():
                    if future.exception() is None:
                        replies[index] = (future.result(), now - sent)
                elif now - sent < self.timeout:
                    waiting.append((index, future, sent))
                else:
                    client.remove_pending_request(future)  # a late reply is dropped
            pending = waiting
        return replies

    def _fill(self, request: Any, poses: ArrayLike, times: ArrayLike) -> None:
        request.header.frame_id = self.frame
        # rclpy takes an array.array as it is; an ndarray it would walk through item by item.
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
        """Fill the fields of `Reply`."""
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
            ),
            "round_trip": round_trip,
        }

    def _poses_reply(self, reply: Any, round_trip: float, n: int) -> PosesReply:
        common = self._common(reply, round_trip)
        verdicts = numbers(reply.verdicts)
        statuses = numbers(reply.statuses)
        if not len(verdicts) == len(statuses) == n:  # a fault of the request as a whole
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
            witnesses=numbers(reply.witnesses).reshape(-1, 4),
            first_invalid_index=-1 if is_free else int(np.argmin(free)) if n else 0,
        )

    def _path_reply(self, reply: Any, round_trip: float) -> PathReply:
        common = self._common(reply, round_trip)
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


def _member(value: int, default: Enum) -> Enum:
    """Return the member of `default`'s enumeration with this value, or `default`."""
    try:
        return type(default)(value)
    except ValueError:
        return default
