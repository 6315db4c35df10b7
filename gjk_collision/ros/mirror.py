# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A mirror of a collision server: it answers in this process, without a request over the network.

The answers are those of the server for the same snapshot and time. If the snapshot is no longer
valid, every answer is UNKNOWN. See ``docs/mirror.md``.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from gjk_collision.msg import CollisionState, ReplyInfo, Snapshot
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from .. import _core
from ..arguments import as_integer, as_vector
from ..errors import InputError, refuse
from ..server.data.faults import Fault
from ..server.frames.poses import IDENTITY, Pose, planar_as_sent
from ..server.pauses import PERIOD, Pauses, sending_time, steady_time
from ..server.services import SERVICES, check_frame
from ..server.services.answers import fault_of
from ..verdict import Status
from .node_beside import node_beside
from .quality import SNAPSHOT_QOS
from .questions import Questions
from .replies import Info, data_fields, reply_of
from .spinning import spin_once
from .throttled_log import ThrottledLog
from .timers import steady_timer

__all__ = ["CollisionMirror"]

# The thread of a mirror checks this often whether it has to end [s].
WAKE_UP = 0.1

_CLOSED = Fault(Status.NOT_ACTIVE, "the mirror is closed")


class CollisionMirror(Questions):
    """Answers questions about one collision server, in this process.

    It receives `~/snapshot` and `~/state` of the server. Several threads may call it.

    Parameters
    ----------
    node : rclpy.node.Node
        The node of the planner.
    frame : str
        Frame of all poses in questions. If it is not the check frame of the server, each question
        must pass `frame_pose`.
    server : str
        Name of the node of the server: absolute, or relative to the namespace of `node`.
    own_thread : bool
        True: the mirror has a node and a thread of its own, so that it receives messages while the
        planner computes. Call `close` at the end. False: `node` is used, and its executor must
        spin. If it does not spin for more than 0.1 s, messages count as received earlier, and
        answers may be UNKNOWN.

    Raises
    ------
    InputError
        `frame` is not the name of a frame.
    """

    def __init__(
        self, node: Node, frame: str, *, server: str = "collision_server", own_thread: bool = True
    ) -> None:
        super().__init__(frame, server)
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._mirror = _core.Mirror()
        self._info = data_fields(ReplyInfo())  # of the snapshot in use
        self._pauses = Pauses(steady_time())
        self._thread: threading.Thread | None = None
        self._is_closed = False
        if own_thread:
            node = node_beside(node)
        self._node, self._clock = node, node.get_clock()
        self._log = ThrottledLog(node)
        # Subscribe to raw messages, to read the times before a message is decoded.
        self._inputs = [
            node.create_subscription(kind, f"{server}/{name}", receive, qos, raw=True)
            for kind, name, receive, qos in (
                (Snapshot, "snapshot", self._receive_snapshot, SNAPSHOT_QOS),
                (CollisionState, "state", self._receive_state, QoSProfile(depth=1)),
            )
        ]
        self._pulse = steady_timer(node, PERIOD, self._note_activity)
        if own_thread:
            self._thread = threading.Thread(target=self._spin, name="mirror", daemon=True)
            self._thread.start()
            atexit.register(self.close)

    def close(self) -> None:
        """Stop receiving. Later answers are UNKNOWN."""
        if self._is_closed:
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            atexit.unregister(self.close)
            if self._thread is not threading.current_thread():
                self._thread.join()
            return
        self._release()

    def _release(self) -> None:
        if not self._node.context.ok():
            return
        for each in self._inputs:
            self._node.destroy_subscription(each)
        self._node.destroy_timer(self._pulse)
        if self._thread is not None:
            self._node.destroy_node()

    # ---- messages

    def _spin(self) -> None:
        executor = SingleThreadedExecutor(context=self._node.context)
        executor.add_node(self._node)
        try:
            while not self._is_closed and self._node.context.ok():
                error = spin_once(executor, WAKE_UP)
                if error is not None:
                    self._log.error("callback", f"a callback failed: {error!r}")
        except ExternalShutdownException:
            pass
        finally:
            executor.shutdown()
            self._release()

    def _note_activity(self) -> None:
        self._pauses.note_activity(steady_time())

    def _receive_snapshot(self, data: bytes, info: dict[str, Any]) -> None:
        earliest = self._pauses.earliest(steady_time(), sending_time(info))
        try:
            message = deserialize_message(data, Snapshot)
            content = self._mirror.read(message)
            why = content.error  # refuses names that are not UTF-8
        except Exception as error:
            why = repr(error)
            content = self._mirror.unusable(why)
        if why:
            self._log.error("~/snapshot", f"~/snapshot: the message cannot be used: {why}")
        with self._changed:
            now, steady = self._times()
            if self._mirror.receive_snapshot(
                content=content, now=now, steady=steady, earliest=earliest
            ):
                self._info = data_fields(message.info)
            self._changed.notify_all()

    def _receive_state(self, data: bytes, info: dict[str, Any]) -> None:
        earliest = self._pauses.earliest(steady_time(), sending_time(info))
        try:
            message = deserialize_message(data, CollisionState)
        except Exception as error:
            text = f"~/state: the message cannot be used: {error!r}"
            self._log.error("~/state", text)
            return
        with self._changed:
            now, steady = self._times()
            self._mirror.receive_heartbeat(
                message=message, now=now, steady=steady, earliest=earliest
            )
            self._changed.notify_all()

    def _times(self) -> tuple[int, int]:
        """Return the present ROS time and steady time [ns]."""
        # Without simulated time, ROS time is the time of the system. This is the fastest way.
        is_simulated = self._clock.handle.get_ros_time_override_is_enabled()
        now = self._clock.now().nanoseconds if is_simulated else time.time_ns()
        return now, steady_time()

    # ---- state

    def fault(self) -> Fault | None:
        """Return why no answer can be FREE now; None: answers can be FREE."""
        with self._lock:
            return self._fault()

    def wait_until_complete(self, timeout: float) -> bool:
        """Wait up to `timeout` [s] until answers can be FREE, and return whether they can.

        Do not call it from a callback of the executor that spins the mirror.
        """
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._fault() is not None:
                rest = deadline - time.monotonic()
                if rest <= 0.0:
                    return False
                self._changed.wait(rest)
        return True

    def _fault(self) -> Fault | None:
        if self._is_closed:
            return _CLOSED
        now, steady = self._times()
        asked = self._mirror.ask(
            footprints=[], at=0, required=0, frame=None, now=now, steady=steady
        )
        return fault_of(asked.fault)

    # ---- questions

    def _ask(
        self,
        service: str,
        request: dict[str, Any],
        at: int | None,
        frame_pose: Sequence[float] | None,
    ) -> Any:
        begin = time.perf_counter()
        frame = IDENTITY if frame_pose is None else Pose(*as_vector(frame_pose, "frame_pose"))
        place = request.get("pose", ())
        if place is None:
            refuse("pose", "must be given; a mirror does not know the present pose of the vehicle")
        asked, info = self._asked(request, at, self.frame if frame_pose is None else None)
        question = SERVICES[service](SimpleNamespace(**request))
        question.frame, question.stamp = frame, asked.at
        try:
            if place:
                question.pose = planar_as_sent(Pose(*place))
            if frame is not IDENTITY:
                check_frame(frame)
            found = question.answer(_Data(asked.snapshots))
        except InputError as error:
            found = question.refused(Fault.of(error))
        fault = self._fault_of(asked)
        if fault is not None:
            found = question.refused(fault)
        seconds = time.perf_counter() - begin
        info |= {
            "stamp_ns": asked.at,
            "snapshot_id": asked.snapshot_id,
            "footprint_age": asked.footprint_age,
            "max_obstacle_age": asked.max_obstacle_age,
            "compute_time": seconds,
            "footprint": asked.footprint,
        }
        common = {
            "is_free": found.is_free and asked.snapshot_id > 0,
            "verdict": found.verdict,
            "status": found.status,
            "message": found.message,
            "info": Info._of(info),
            "round_trip": seconds,
        }
        return reply_of(service, common, found.results, request)

    def _asked(
        self, request: dict[str, Any], at: int | None, frame: str | None
    ) -> tuple[_core.MirrorAsked, dict[str, Any]]:
        """Return the data for a question, and the values of `data_fields` for it.

        `frame` must be the check frame, unless it is None.
        """
        when = 0 if at is None else as_integer(at, "at", 1, 2**62)
        with self._lock:
            now, steady = self._times()
            asked = self._mirror.ask(
                footprints=request.get("footprints") or [request["footprint"]],
                at=when,
                required=request.get("require_snapshot_id", 0),
                frame=frame,
                now=now,
                steady=steady,
            )
            return asked, dict(self._info)

    def _fault_of(self, asked: _core.MirrorAsked) -> Fault | None:
        """Return why no answer may be given from this data; None: it can be returned now."""
        if self._is_closed:
            return _CLOSED
        with self._lock:
            now, steady = self._times()
            return fault_of(self._mirror.fault(asked, now=now, steady=steady))


@dataclass(slots=True)
class _Data:
    """The data for a question: `services.Data`."""

    snapshots: list[_core.Snapshot]  # with each footprint of the question

    def cores(self) -> list[_core.Snapshot]:
        """Return the data with each footprint of the question."""
        return self.snapshots
