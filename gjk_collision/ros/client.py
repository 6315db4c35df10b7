# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A client of a running collision server, with timeouts.

A reply that is missing, late or inconsistent is never free.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from gjk_collision.srv import CheckPath, CheckPoses, Collide, Distance, GetSnapshot, NearestFree
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future
from std_srvs.srv import Trigger

from .. import _core
from ..arguments import as_choice, as_floats, as_integer, as_number
from ..errors import refuse
from ..server.data.faults import Fault
from ..server.frames.poses import orientation
from ..server.pauses import steady_time
from ..server.services import SERVICES
from ..server.services.answers import fault_of
from ..verdict import Status
from .calls import Calls
from .messages import filled, none
from .quality import SERVICE_QOS
from .questions import Questions
from .replies import (
    CollideReply,
    DistanceReply,
    Info,
    NearestFreeReply,
    PathReply,
    PosesReply,
    Reply,
    common_fields,
    reply_of,
    results_of,
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
]

MAX_OUTSTANDING = 64
LONGEST = 86400.0  # s: maximum of a time limit
ASKED = "check_poses", "check_path", "distance", "collide", "nearest_free", "gradient"


class CollisionClient(Questions):
    """Client of one collision server.

    If replies of several servers arrive within 3 s, all are UNKNOWN with SNAPSHOT_MISMATCH: each
    server must have its own name.

    A call blocks until the reply arrives or the timeout expires. It spins the executor that has
    the node during this time, or waits for the thread that spins it. Several threads may call it.
    A call from a callback that this executor runs in the spinning thread raises RuntimeError,
    because it could not be answered; `call_async` does not block. In a MultiThreadedExecutor, a
    call needs a free thread; without one, it is UNKNOWN after the timeout. A request is never
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
        The executor to which `node` is added when it is in none. Default: a new executor.

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
        super().__init__(frame, server)
        self.timeout = as_number(timeout, "timeout")
        if not 0.0 < self.timeout <= LONGEST:
            refuse("timeout", f"must be positive, and at most {LONGEST:g} s", timeout)
        self.max_outstanding = as_integer(max_outstanding, "max_outstanding", 1, MAX_OUTSTANDING)
        if executor is None:
            executor = SingleThreadedExecutor(context=node.context)
            executor.add_node(node)
        self._executor = executor
        self._servers = _core.Servers()
        self._waiting = Waiting(node, executor)
        # Of its own, so that a callback of the node can wait for a reply in another thread.
        self._group = MutuallyExclusiveCallbackGroup()
        self._lock = threading.Lock()
        self._outstanding = 0  # requests of call_async
        kinds = CheckPoses, CheckPath, Distance, Collide, NearestFree, GetSnapshot
        names = {kind: SERVICES[kind.__name__].name for kind in kinds} | {Trigger: "reset"}
        self._clients = {
            kind.__name__: node.create_client(
                kind, f"{server}/{name}", qos_profile=SERVICE_QOS, callback_group=self._group
            )
            for kind, name in names.items()
        }

    def wait_for_server(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] for all services, and return whether they are available."""
        deadline = time.monotonic() + timeout
        return all(
            client.wait_for_service(max(0.0, deadline - time.monotonic()))
            for client in self._clients.values()
        )

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
        rows = as_floats(poses, "poses", 3)
        one: dict[str, Any] = {"k": k, "max_distance": max_distance, "footprint": footprint}
        requests = [self._distance_request(row, **one) for row in rows.tolist()]
        return self._replies("Distance", requests)

    def get_snapshot(self, snapshot_id: int = 0) -> GetSnapshot.Response:
        """Return the data of a snapshot, as a message: ``srv/GetSnapshot``.

        `snapshot_id` is that of an earlier reply; 0: the latest. The verdict is UNKNOWN if no
        reply arrives in time.
        """
        number = as_integer(snapshot_id, "snapshot_id", 0, 2**64 - 1)
        requests = [GetSnapshot.Request(snapshot_id=number)]
        missing = self._missing(GetSnapshot)
        [(reply, _)] = self._exchange(self._clients["GetSnapshot"], requests, missing)
        return reply

    def reset(self) -> Trigger.Response:
        """Delete all data of the server. `success` is False if no reply arrives in time."""
        missing = Trigger.Response(success=False, message=self._timed_out)
        [(reply, _)] = self._exchange(self._clients["Trigger"], [Trigger.Request()], missing)
        return reply

    def call_async(self, question: str, *arguments: Any, **named: Any) -> Future:
        """Ask without waiting: it may be called from any callback.

        Parameters
        ----------
        question : str
            Name of a method of this class with one reply, for example ``"check_path"``.
        *arguments, **named
            Its arguments.

        Returns
        -------
        rclpy.task.Future
            Its result is what the method returns. It is UNKNOWN after the timeout, if the
            executor is spun, and at once if `max_outstanding` of these requests have no reply. If
            the node is destroyed before, it has no result.

        Raises
        ------
        InputError
            There is no such question, or as for the method.
        """
        method = getattr(Questions, as_choice(question, ASKED, "question"))
        future: Future = method(_Asynchronous(self), *arguments, **named)
        return future

    def _ask(
        self,
        service: str,
        request: dict[str, Any],
        at: int | None,
        frame_pose: Sequence[float] | None,
    ) -> Any:
        _refuse_of_mirror(at=at, frame_pose=frame_pose)
        return self._replies(service, [request])[0]

    def _send(self, service: str, request: dict[str, Any]) -> Future:
        """Send a request; return a future of its reply."""
        client, sent = self._clients[service], []
        future = Future(executor=self._waiting.executor())
        missing = self._missing(client.srv_type)
        message = self._message(client.srv_type, request)

        def send(message: Any) -> Any:
            sent.append(client.call_async(message))
            return sent[0]

        def finish(_: Any = None) -> None:
            """Set the result if there is a reply or no time left."""
            with self._lock:
                calls.collect(time.monotonic())
                if not sent or calls.send(time.monotonic()) is not None:
                    return
                sent.clear()
                self._outstanding -= 1
                self._node.destroy_timer(timer)
                [answer] = self._of_one_server(client, calls.replies)
            try:
                reply = _read(service, request, answer)
            except Exception as error:  # an awaited future must not stay without a result
                future.set_exception(error)
            else:
                future.set_result(reply)  # its callbacks may ask again

        with self._lock:
            if self._outstanding >= self.max_outstanding:
                text = f"{self._outstanding} requests of call_async wait (max_outstanding)"
                full = none(client.srv_type, Fault(Status.LIMIT_EXCEEDED, text))
                future.set_result(_read(service, request, (full, inf)))
                return future
            self._outstanding += 1
            forget = client.remove_pending_request
            calls = Calls([message], send, forget, self.timeout, 1, missing)
            calls.send(time.monotonic())
            received = sent[0]
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            timer = self._node.create_timer(self.timeout, finish, self._group, steady)
        received.add_done_callback(finish)
        return future

    @property
    def _timed_out(self) -> str:
        node, client = self._node, self._clients["Collide"]
        name = node.resolve_service_name(client.srv_name).rpartition("/")[0]
        text = f"no reply from {name} within {self.timeout} s"
        if client.service_is_ready():
            return text
        found = [
            service.rpartition("/")[0]
            for service, kinds in node.get_service_names_and_types()  # of clients, too
            if "gjk_collision/srv/Collide" in kinds and node.count_services(service)
        ]
        return f"{text}; it is not there, but {' and '.join(found) or 'no other server'} is"

    def _missing(self, kind: Any) -> Any:
        """Return what stands for a reply of a type of service that does not arrive in time."""
        return none(kind, Fault(Status.UNDEFINED, self._timed_out))

    def _replies(self, service: str, requests: Sequence[dict[str, Any]]) -> list[Any]:
        """Return the replies to requests of one service."""
        client = self._clients[service]
        messages = [self._message(client.srv_type, each) for each in requests]
        answers = self._exchange(client, messages, self._missing(client.srv_type))
        answers = self._of_one_server(client, answers)
        return [
            _read(service, request, answer)
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _exchange(
        self, client: Any, requests: Sequence[Any], missing: Any
    ) -> list[tuple[Any, float]]:
        """Send the requests, and return the reply and the round trip time [s] of each.

        At most `max_outstanding` requests are without a reply at any time. If no reply arrives in
        time, `missing` is returned in its place.
        """
        self._waiting.check()
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
        return calls.replies

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

    def _message(self, service: Any, request: dict[str, Any]) -> Any:
        """Return a request as a message."""
        fields, header = dict(request), {"frame_id": self.frame}
        if "pose" not in fields:
            fields["header"] = header
        elif fields["pose"] is None:  # the server takes the present pose of the vehicle
            del fields["pose"]
        else:
            x, y, yaw = fields["pose"]
            quaternion = dict(zip("xyzw", orientation(yaw), strict=True))
            place = {"position": (x, y), "orientation": quaternion}
            fields["pose"] = {"header": header, "pose": place}
        return filled(service.Request, fields)


class _Asynchronous(Questions):
    """The questions of a client, whose answers are futures."""

    def __init__(self, client: CollisionClient) -> None:
        super().__init__(client.frame)
        self._client = client

    def _ask(
        self,
        service: str,
        request: dict[str, Any],
        at: int | None,
        frame_pose: Sequence[float] | None,
    ) -> Any:
        _refuse_of_mirror(at=at, frame_pose=frame_pose)
        return self._client._send(service, request)


def _refuse_of_mirror(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            rule = f"is for a mirror only (got {value!r}); a server uses its own clock and /tf"
            refuse(name, rule)


def _read(service: str, request: dict[str, Any], answer: tuple[Any, float]) -> Any:
    """Return the reply to a request, from its message and its round trip time [s]."""
    common = common_fields(*answer)
    return reply_of(service, common, results_of(service, answer[0]), request)
