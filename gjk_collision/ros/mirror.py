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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from gjk_collision.msg import CollisionState, ReplyInfo, Snapshot
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from .. import _core
from ..arguments import (
    as_bool,
    as_floats,
    as_frame,
    as_integer,
    as_integers,
    as_number,
    as_vector,
)
from ..errors import InputError
from ..results import NearestResult
from ..server import fields, questions
from ..server.answers import (
    Answer,
    DistanceAnswer,
    NearestFreeAnswer,
    PathAnswer,
    PosesAnswer,
    fault_of,
    unknown,
)
from ..server.frames import IDENTITY, Pose, planar_as_sent
from ..server.pauses import PERIOD, Pauses, sending_time, steady_time
from ..server.snapshot import Fault
from ..verdict import Status
from .client import footprint_name, poses_mode, selected_footprints
from .node_beside import node_beside
from .quality import SNAPSHOT_QOS
from .replies import (
    CollideReply,
    DistanceReply,
    GradientReply,
    Info,
    NearestFreeReply,
    PathReply,
    PosesReply,
    data_fields,
    gradient_reply,
    nearest_free_reply,
    path_reply,
    poses_reply,
)
from .spinning import spin_once
from .throttled_log import ThrottledLog
from .timers import steady_timer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["CollisionMirror", "GradientReply"]

# The thread of a mirror checks this often whether it has to end [s].
WAKE_UP = 0.1

Found = TypeVar("Found")

_CLOSED = Fault(Status.NOT_ACTIVE, "the mirror is closed")


class CollisionMirror:
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
        self.frame = as_frame(frame, "frame")
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
        except Exception as error:
            content = self._mirror.unusable(repr(error))
        if content.error:
            text = f"~/snapshot: the message cannot be used: {content.error}"
            self._log.error("~/snapshot", text)
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

    def check_poses(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        margin: float = 0.0,
        mode: str = "collide",
        stop_at_first: bool = False,
        require_snapshot_id: int = 0,
        footprint: str | Sequence[str] = "",
        which: ArrayLike | None = None,
        groups: ArrayLike = (),
        k: int = 1,
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> PosesReply:
        """Check the vehicle at each of many poses, as `CollisionClient.check_poses` does.

        Parameters
        ----------
        poses, times, margin, mode, stop_at_first, footprint, which, groups, k
            As for `CollisionClient.check_poses`.
        require_snapshot_id : int
            Id of the snapshot to use. If it is not the last one, the reply is UNKNOWN with
            SNAPSHOT_MISMATCH. 0: the last one.
        at : int, optional
            Time for which the question is asked [ns], on the clock of the node. `times` are
            relative to it. Data must not be too old at this time, nor at the time of the call.
            Default: now.
        frame_pose : (x, y, yaw), optional
            Pose of `frame` in the check frame [m, m, rad]. Default: `frame` is the check frame.

        Raises
        ------
        InputError
            INVALID_INPUT or ARRAY_MISMATCH: an argument has a wrong type or shape. Wrong values
            give a reply with UNKNOWN, as from the server.
        """
        rows = as_floats(poses, "poses", 3)
        seconds = as_floats(times, "times", 0)
        extra, number = as_number(margin, "margin"), poses_mode(mode)
        stops = as_bool(stop_at_first, "stop_at_first")
        required = as_integer(require_snapshot_id, "require_snapshot_id", 0, 2**64 - 1)
        offsets = as_integers(groups, "groups", np.uint32, 0).astype(np.int64)
        neighbours = as_integer(k, "k", 1, 2**32 - 1)
        names, selected = selected_footprints(footprint, which)
        asked = self._ask(names, at, frame_pose, required)
        found = asked.answer(
            lambda data, frame: questions.check_poses(
                data,
                rows.ravel(),
                seconds,
                frame=None if frame is IDENTITY else lambda: frame,
                stamp=asked.at,
                margin=extra,
                mode=number,
                stop_at_first=stops,
                which=fields.numbers(selected),
                group_offsets=offsets,
                k=neighbours,
            ),
            PosesAnswer,
        )
        common = asked.common(found.answer)
        return poses_reply(common, found, len(rows), found.ids, offsets, found.gradients)

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
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> PathReply:
        """Check the vehicle along a path, as `CollisionClient.check_path` does.

        Parameters
        ----------
        poses, times, swept, margin, tolerance, arcs
            As for `CollisionClient.check_path`.
        footprint, at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        rows = as_floats(poses, "poses", 3)
        seconds = as_floats(times, "times", 0)
        extra, finest = as_number(margin, "margin"), as_number(tolerance, "tolerance")
        between, curves = as_bool(swept, "swept"), as_floats(arcs, "arcs", 2)
        asked = self._ask(footprint_name(footprint), at, frame_pose)
        found = asked.answer(
            lambda data, frame: questions.check_path(
                data,
                rows.ravel(),
                seconds,
                arcs=curves.ravel(),
                frame=lambda: frame,
                stamp=asked.at,
                swept=between,
                margin=extra,
                tolerance=finest,
            ),
            PathAnswer,
        )
        bounds = found.distance, found.lower_bound
        return path_reply(asked.common(found.answer), found, found.id, bounds)

    def distance(
        self,
        pose: ArrayLike,
        *,
        k: int = 1,
        max_distance: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> DistanceReply:
        """Return the distances to the nearest obstacles, as `CollisionClient.distance` does.

        Parameters
        ----------
        pose : array_like, shape (3,)
            Pose of the base frame: x [m], y [m], yaw [rad].
        k, max_distance
            As for `CollisionClient.distances`.
        footprint, at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        place = Pose(*as_vector(pose, "pose"))
        count = as_integer(k, "k", 0, 2**32 - 1)
        reach = as_number(max_distance, "max_distance")
        asked = self._ask(footprint_name(footprint), at, frame_pose)
        found = asked.answer(
            lambda data, frame: questions.distance(
                data, planar_as_sent(place), count, reach, frame=frame
            ),
            DistanceAnswer,
        )
        return DistanceReply(
            **asked.common(found.answer),
            **{name: getattr(found, name) for name in NearestResult.__dataclass_fields__},
            sources=found.sources,
        )

    def collide(
        self,
        pose: ArrayLike,
        *,
        margin: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> CollideReply:
        """Check the vehicle at one pose, as `CollisionClient.collide` does.

        Parameters
        ----------
        pose : array_like, shape (3,)
            Pose of the base frame: x [m], y [m], yaw [rad].
        margin, footprint, at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        place, extra = Pose(*as_vector(pose, "pose")), as_number(margin, "margin")
        asked = self._ask(footprint_name(footprint), at, frame_pose)
        found = asked.answer(
            lambda data, frame: questions.collide(data, planar_as_sent(place), extra, frame=frame),
            lambda answer: answer,
        )
        return CollideReply(
            **asked.common(found),
            id=found.nearest_id,
            source=found.nearest_source,
        )

    def nearest_free(
        self,
        pose: ArrayLike,
        max_shift: float,
        max_turn: float = 0.0,
        *,
        margin: float = 0.0,
        tolerance: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> NearestFreeReply:
        """Search the nearest pose at which the vehicle is free.

        There is no limit of the time that the search takes. The found pose is in the check frame.

        Parameters
        ----------
        pose : array_like, shape (3,)
            Pose of the base frame: x [m], y [m], yaw [rad].
        max_shift, max_turn, margin, tolerance
            As for `CollisionClient.nearest_free`.
        footprint, at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        place, extra = Pose(*as_vector(pose, "pose")), as_number(margin, "margin")
        shift, turn = as_number(max_shift, "max_shift"), as_number(max_turn, "max_turn")
        finest = as_number(tolerance, "tolerance")
        asked = self._ask(footprint_name(footprint), at, frame_pose)
        found = asked.answer(
            lambda data, frame: questions.nearest_free(
                data, planar_as_sent(place), shift, turn, extra, finest, frame=frame
            ),
            NearestFreeAnswer,
        )
        return nearest_free_reply(asked.common(found.answer), found)

    def gradient(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        k: int = 1,
        margin: float = 0.0,
        footprint: str = "",
        at: int | None = None,
    ) -> GradientReply:
        """Return the distances to the nearest obstacles and their derivatives, at many poses.

        The verdict is that of `check_poses`. Poses are in the check frame.

        Parameters
        ----------
        poses, times, margin, footprint, at
            As for `check_poses`.
        k : int
            Number of obstacles at each pose, >= 1.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        reply = self.check_poses(
            poses,
            times=times,
            margin=margin,
            mode="gradient",
            footprint=footprint_name(footprint),
            k=k,
            at=at,
        )
        return gradient_reply(reply, k)

    def _ask(
        self,
        footprint: str | Sequence[str],
        at: int | None,
        frame_pose: Sequence[float] | None,
        required: int = 0,
    ) -> _Question:
        begin = time.perf_counter()
        frame = IDENTITY if frame_pose is None else Pose(*as_vector(frame_pose, "frame_pose"))
        when = 0 if at is None else as_integer(at, "at", 1, 2**62)
        with self._lock:
            now, steady = self._times()
            asked = self._mirror.ask(
                footprints=[footprint] if isinstance(footprint, str) else list(footprint),
                at=when,
                required=required,
                frame=self.frame if frame_pose is None else None,
                now=now,
                steady=steady,
            )
            return _Question(self, asked, self._info, frame, begin)

    def _fault_of(self, asked: _core.MirrorAsked) -> Fault | None:
        """Return why no answer may be given from this data; None: it can be returned now."""
        if self._is_closed:
            return _CLOSED
        with self._lock:
            now, steady = self._times()
            return fault_of(self._mirror.fault(asked, now=now, steady=steady))


@dataclass(slots=True)
class _Question:
    """A question with the pose of its frame: `questions.Data`."""

    mirror: CollisionMirror
    asked: _core.MirrorAsked
    info: dict[str, Any]  # of the snapshot, see `data_fields`
    frame: Pose
    begin: float  # of time.perf_counter [s]

    @property
    def at(self) -> int:
        """Time for which the question is asked [ns]."""
        return self.asked.at

    def cores(self) -> list[_core.Snapshot]:
        """Return the data with each footprint of the question."""
        return self.asked.snapshots

    def answer(
        self, ask: Callable[[_Question, Pose], Found], none: Callable[[Answer], Found]
    ) -> Found:
        """Return the answer.

        If the request is refused, it has no results. If the data is not valid, or cannot be used
        any more after the computation, the answer is UNKNOWN with this reason.
        """
        try:
            if self.frame is not IDENTITY:
                questions.check_frame(self.frame)
            found = ask(self, self.frame)
        except InputError as error:
            found = none(unknown(Fault(error.status, str(error))))
        fault = self.mirror._fault_of(self.asked)
        return found if fault is None else none(unknown(fault))

    def common(self, answer: Answer) -> dict[str, Any]:
        """Return the values of the fields of `Reply`."""
        asked, seconds = self.asked, time.perf_counter() - self.begin
        info = self.info | {
            "stamp_ns": self.at,
            "snapshot_id": asked.snapshot_id,
            "footprint_age": asked.footprint_age,
            "max_obstacle_age": asked.max_obstacle_age,
            "compute_time": seconds,
            "footprint": asked.footprint,
        }
        return {
            "is_free": answer.is_free and asked.snapshot_id > 0,
            "verdict": answer.verdict,
            "status": answer.status,
            "message": answer.message,
            "info": Info._of(info),
            "round_trip": seconds,
        }
