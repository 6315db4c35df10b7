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
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from gjk_collision.msg import CollisionState, Snapshot
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from ..arguments import as_bool, as_floats, as_integer, as_number, as_vector
from ..results import GradientResult
from ..scene import Mode, mode_number
from ..server import questions
from ..server.answers import Answer, DistanceAnswer, PathAnswer, PosesAnswer
from ..server.fields import numbers
from ..server.frames import IDENTITY, Pose
from ..server.mirror import Asked, Mirror
from ..server.mirrored import unusable
from ..server.pauses import PERIOD, Pauses, sending_time, steady_time
from ..server.snapshot import Fault
from ..server.snapshot import Snapshot as Data
from ..verdict import Status
from .client import (
    CollideReply,
    DistanceReply,
    Info,
    PathReply,
    PosesReply,
    Reply,
    footprint_name,
    path_reply,
    poses_reply,
    selected_footprints,
)
from .quality import SNAPSHOT_QOS
from .timers import steady_timer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CollisionMirror", "GradientReply"]

# The thread of a mirror checks this often whether it has to end [s].
WAKE_UP = 0.1

Found = TypeVar("Found")

_NO_INDICES = np.empty(0, np.int64)
_CLOSED = Fault(Status.NOT_ACTIVE, "the mirror is closed")


@dataclass(frozen=True, eq=False, repr=False)
class GradientReply(Reply, GradientResult):
    """Distances and derivatives at poses: a `GradientResult`, with the verdict for all poses.

    If the reason for UNKNOWN concerns the whole question and not a single pose, all values are NaN
    and all ids are -1.
    """


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
    """

    def __init__(
        self,
        node: Node,
        frame: str,
        *,
        server: str = "collision_server",
        own_thread: bool = True,
    ) -> None:
        self.frame = frame
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._mirror = Mirror()
        self._pauses = Pauses(steady_time())
        self._thread: threading.Thread | None = None
        self._is_closed = False
        if own_thread:
            node = _node_beside(node)
        self._node, self._clock = node, node.get_clock()
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
                executor.spin_once(WAKE_UP)
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
            content = self._mirror.read(deserialize_message(data, Snapshot))
        except Exception as error:
            content = unusable(error)
        if content.error is not None:
            self._log_error("~/snapshot", content.error)
        with self._changed:
            now, steady = self._times()
            self._mirror.receive_snapshot(content, now=now, steady=steady, earliest=earliest)
            self._changed.notify_all()

    def _receive_state(self, data: bytes, info: dict[str, Any]) -> None:
        earliest = self._pauses.earliest(steady_time(), sending_time(info))
        try:
            message = deserialize_message(data, CollisionState)
        except Exception as error:
            self._log_error("~/state", error)
            return
        with self._changed:
            now, steady = self._times()
            self._mirror.receive_state(message, now=now, steady=steady, earliest=earliest)
            self._changed.notify_all()

    def _log_error(self, topic: str, error: Exception) -> None:
        text = f"{topic}: the message cannot be used: {error!r}"
        self._node.get_logger().error(text, throttle_duration_sec=1.0)

    def _times(self) -> tuple[int, int]:
        """Return the present ROS time and steady time [ns]."""
        # Without simulated time, ROS time is the time of the system, which is read faster here.
        # The property `ros_time_is_active` of the clock would take three times as long.
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
        fault = self._mirror.fault(at=now, now=now, steady=steady)
        if fault is None and self._mirror.snapshot is not None:
            fault = self._mirror.snapshot.fault
        return fault

    # ---- questions

    def check_poses(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        margin: float = 0.0,
        mode: Mode = "collide",
        stop_at_first: bool = False,
        require_snapshot_id: int = 0,
        footprint: str | Sequence[str] = "",
        which: ArrayLike | None = None,
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> PosesReply:
        """Check the vehicle at each of many poses, as `CollisionClient.check_poses` does.

        Parameters
        ----------
        poses, times, margin, mode, stop_at_first, footprint, which
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
        extra, number = as_number(margin, "margin"), mode_number(mode)
        stops = as_bool(stop_at_first, "stop_at_first")
        required = as_integer(require_snapshot_id, "require_snapshot_id", 0, 2**64 - 1)
        names, selected = selected_footprints(footprint, which)
        ask: Callable[..., PosesAnswer] = questions.check_poses
        if not isinstance(names, str):
            ask = partial(_several, names, numbers(selected))
        asked = self._ask(names, at, frame_pose, required)
        found = asked.answer(
            lambda data, frame: ask(
                data,
                rows,
                seconds,
                frame=None if frame is IDENTITY else lambda: frame,
                stamp=asked.at,
                margin=extra,
                mode=number,
                stop_at_first=stops,
            ),
            PosesAnswer,
        )
        common = asked.common(found.answer)
        if len(found.verdicts) != len(rows):  # the request was refused as a whole
            return poses_reply(common, found, len(rows))
        values = {**vars(found), **common, "nearest_indices": _NO_INDICES}
        del values["answer"]
        return PosesReply._of(values)

    def check_path(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        swept: bool = True,
        margin: float = 0.0,
        tolerance: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> PathReply:
        """Check the vehicle along a path through poses, as `CollisionClient.check_path` does.

        Parameters
        ----------
        poses, times, swept, margin, tolerance
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
        between = as_bool(swept, "swept")
        asked = self._ask(footprint_name(footprint), at, frame_pose)
        found = asked.answer(
            lambda data, frame: questions.check_path(
                data,
                rows.ravel(),
                seconds,
                frame=lambda: frame,
                stamp=asked.at,
                swept=between,
                margin=extra,
                tolerance=finest,
            ),
            PathAnswer,
        )
        return path_reply(asked.common(found.answer), found)

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
            lambda data, frame: questions.distance(data, place, count, reach, frame=frame),
            DistanceAnswer,
        )
        return DistanceReply(
            **asked.common(found.answer),
            ids=found.ids,
            sources=found.sources,
            distances=found.distances,
            lower_bounds=found.lower_bounds,
            witness_shape=found.witness_shape,
            witness_obstacle=found.witness_obstacle,
            directions=found.directions,
            statuses=found.statuses,
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
            lambda data, frame: questions.collide(data, place, extra, frame=frame),
            lambda answer: answer,
        )
        return CollideReply(
            **asked.common(found),
            obstacle_id=found.nearest_id,
            obstacle_source=found.nearest_source,
        )

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
        rows = as_floats(poses, "poses", 3)
        seconds = as_floats(times, "times", 0)
        count = as_integer(k, "k", 1, 2**32 - 1)
        extra = as_number(margin, "margin")
        asked = self._ask(footprint_name(footprint), at, None)

        def ask(data: Data, _: Pose) -> tuple[PosesAnswer, GradientResult | None]:
            found = questions.check_poses(
                data, rows.ravel(), seconds, stamp=asked.at, margin=extra
            )
            if data.footprint is None or data.fault is not None or not len(found.verdicts):
                return found, None
            on_scene_clock = data.core().on_clock(seconds, asked.at) if len(seconds) else None
            result = data.scene.gradient(data.footprint, rows, on_scene_clock, count)
            if len(seconds):
                _clear(result, seconds > data.known_until(asked.at))
            return found, result

        found, result = asked.answer(ask, lambda answer: (PosesAnswer(answer), None))
        if result is None:
            result = _no_gradients(len(rows), count, found.answer.status)
        return GradientReply(
            **asked.common(found.answer),
            **{name: getattr(result, name) for name in GradientResult.__dataclass_fields__},
        )

    def _ask(
        self,
        footprint: str | Sequence[str],
        at: int | None,
        frame_pose: Sequence[float] | None,
        required: int = 0,
    ) -> _Question:
        begin = time.perf_counter()
        frame = IDENTITY if frame_pose is None else Pose(*as_vector(frame_pose, "frame_pose"))
        when = None if at is None else as_integer(at, "at", 1, 2**62)
        with self._lock:
            now, steady = self._times()
            asked = self._mirror.ask(
                footprint,
                when,
                self.frame if frame_pose is None else None,
                now=now,
                steady=steady,
                required=required,
            )
        if self._is_closed:
            asked.state = _CLOSED
            asked.data = asked.data.invalidated(_CLOSED)
        return _Question(self, asked, frame, begin)

    def _fault_at_return(self, asked: Asked) -> Fault | None:
        """Return why an answer that was computed cannot be returned; None: it can."""
        if self._is_closed:
            return _CLOSED
        with self._lock:
            now, steady = self._times()
            return self._mirror.fault_at_return(asked, now=now, steady=steady)


def _several(
    names: Sequence[str], which: NDArray[np.uint8], data: Data, *request: Any, **options: Any
) -> PosesAnswer:
    return questions.check_poses_of_several(data, names, which, *request, **options)


def _node_beside(node: Node) -> Node:
    """Return a node with the clock and the namespace of another one, without services."""
    values = {
        "use_sim_time": node.get_parameter("use_sim_time").value,
        "start_type_description_service": False,
    }
    name = f"{node.get_name()}_mirror"
    return Node(
        name,
        context=node.context,
        # The command line may name all nodes of the process.
        cli_args=["--ros-args", "-r", f"__node:={name}"],
        namespace=node.get_namespace(),
        parameter_overrides=[Parameter(each, value=value) for each, value in values.items()],
        start_parameter_services=False,
    )


@dataclass(slots=True)
class _Question:
    """A question with the pose of its frame."""

    mirror: CollisionMirror
    asked: Asked
    frame: Pose
    begin: float  # of time.perf_counter [s]

    @property
    def at(self) -> int:
        """Time for which the question is asked [ns]."""
        return self.asked.at

    def answer(self, ask: Callable[[Data, Pose], Found], none: Callable[[Answer], Found]) -> Found:
        """Return the answer; if the request is refused, one without results.

        If the data cannot be used any more after the computation, the answer is UNKNOWN.
        """

        def compute(data: Data) -> Found:
            return ask(data, self.frame)

        found, fault = self.asked.answer(compute, none), None
        if self.asked.state is None:
            fault = self.mirror._fault_at_return(self.asked)
        return self.asked.at_return(found, fault, compute, none)

    def common(self, answer: Answer) -> dict[str, Any]:
        """Return the values of the fields of `Reply`."""
        data, at, seconds = self.asked.data, self.at, time.perf_counter() - self.begin
        config, stamp = data.config, data.stamp
        passed = (at - stamp) * 1e-9
        is_received = data.footprint_age != 0.0
        info = {
            "frame_id": config.check_frame if stamp > 0 else "",
            "stamp_ns": at,
            "snapshot_id": data.id,
            "oldest_data_stamp_ns": data.oldest_data_stamp,
            "footprint_age": data.footprint_age + passed * is_received,
            "max_obstacle_age": data.max_obstacle_age + passed,
            "bad_sources": data.bad_sources,
            "config_hash": config.hash if stamp > 0 else 0,
            "compute_time": seconds,
            "footprint": "" if data.footprint is None else data.footprint_name,
        }
        return {
            "is_free": answer.is_free and data.id > 0,
            "verdict": answer.verdict,
            "status": answer.status,
            "message": answer.message,
            "info": Info._of(info),
            "round_trip": seconds,
        }


def _no_gradients(rows: int, k: int, status: Status) -> GradientResult:
    result = GradientResult(
        distances=np.empty((rows, k)),
        lower_bounds=np.empty((rows, k)),
        gradients=np.empty((rows, k, 3)),
        rates=np.empty((rows, k)),
        ids=np.empty((rows, k), np.int64),
        smooth=np.empty((rows, k), bool),
        statuses=np.full(rows, status, np.uint16),
    )
    _clear(result, np.ones(rows, bool), status)
    return result


def _clear(
    result: GradientResult, rows: Any, status: Status = Status.PREDICTION_TOO_SHORT
) -> None:
    """Set the rows of a result to what is not known."""
    for each in (result.distances, result.lower_bounds, result.gradients, result.rates):
        each[rows] = nan
    result.ids[rows], result.smooth[rows], result.statuses[rows] = -1, False, status
