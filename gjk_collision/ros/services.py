# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The services of the collision server: convert, ask, reply. Whoever asks is answered."""

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from gjk_collision.srv import CheckPath, CheckPoses, CheckShapes, Collide, Distance, GetSnapshot
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.service import Service
from rclpy.service_introspection import ServiceIntrospectionState
from rclpy.task import Future
from std_srvs.srv import Trigger

from ..errors import InputError
from ..server import fields, lookup, questions
from ..server.frames import FrameError, Pose
from ..server.questions.path import is_swept, pose_on
from ..server.rules import demanded_margin
from ..server.snapshot import Fault, Snapshot, nothing
from ..server.verification import objection
from ..verdict import Status, Verdict
from . import messages
from .exchange import Question
from .quality import SERVICE_QOS

if TYPE_CHECKING:
    from .node import CollisionServer

__all__ = ["Services"]

HERE = Pose()

# Requests that wait for a transform at a time; one more is answered at once.
MAX_WAITING = 64


class Services:
    """Offers the services of a node, from its construction to its end.

    Parameters
    ----------
    node : CollisionServer
        Says what is known, where frames are, and takes note of each reply.
    """

    def __init__(self, node: "CollisionServer") -> None:
        self._node = node
        # A request that waits must not hold up others.
        self._group = ReentrantCallbackGroup()
        self._waiting: dict[Future, Any] = {}  # requests
        self._is_resuming = False
        self._due = 0.0  # of an answer to be verified
        self._any = count(step=7919)  # which pose of a batch; a prime, to get about
        self._recorded = (  # those that a replay answers again
            self._serve(Collide, "collide", self._collide),
            self._serve(Distance, "distance", self._distance),
            self._serve(CheckPoses, "check_poses", self._check_poses),
            self._serve(CheckPath, "check_path", self._check_path),
            self._serve(CheckShapes, "check_shapes", self._check_shapes),
        )
        self._serve(GetSnapshot, "get_snapshot", self._get_snapshot)
        node.create_service(Trigger, "~/reset", self._reset, qos_profile=SERVICE_QOS)

    def record(self, wanted: bool) -> None:
        """Publish each request and reply with its content, for whoever records; or no longer."""
        state = ServiceIntrospectionState.CONTENTS if wanted else ServiceIntrospectionState.OFF
        for each in self._recorded:
            each.configure_introspection(self._node.get_clock(), SERVICE_QOS, state)

    def _serve(self, kind: Any, name: str, ask: Callable[..., None]) -> Service:
        """Offer a service that always replies: what `ask` cannot answer is UNKNOWN."""
        node = self._node

        async def reply_to(request: Any, reply: Any) -> Any:
            question = Question(node)
            try:
                if self._is_awaited(request, {}):
                    await self._transform(request)
                    question = Question(node)  # nothing was looked at before the wait
                reply, snapshot = self._answer(kind, ask, request, question)
            except Exception as error:
                node.note_error(f"~/{name}", error)
                fault = Fault(Status.INTERNAL_ERROR, repr(error))
                reply, snapshot = messages.none(kind, fault), question.known(fault)
            seconds = question.seconds
            if hasattr(reply, "info"):
                messages.fill_info(reply.info, snapshot)
                reply.info.compute_time = seconds
            else:
                reply.compute_time = seconds
            node.health.note_reply(name, seconds, reply.verdict.status)
            return reply

        return node.create_service(
            kind, f"~/{name}", reply_to, qos_profile=SERVICE_QOS, callback_group=self._group
        )

    def resume(self) -> None:
        """Go on with the requests whose transforms have come."""
        if self._is_resuming:  # a lookup takes transforms in, which leads here again
            return
        self._is_resuming = True
        try:
            known: dict[str, float] = {}
            for done, request in list(self._waiting.items()):
                if not done.done() and not self._is_awaited(request, known):
                    done.set_result(None)
        finally:
            self._is_resuming = False

    def _is_awaited(self, request: Any, known: dict[str, float]) -> bool:
        """Tell whether a request's frame is one whose pose at its stamp may still come.

        `known` keeps what was found of each frame.
        """
        node = self._node
        if not node.is_active:
            return False
        frame, stamp = fields.frame_and_stamp(request)
        if frame not in known:
            known[frame] = lookup.awaited_from(node.config, node.transforms, frame)
        return stamp > known[frame]

    async def _transform(self, request: Any) -> None:
        """Wait until a request's transform has come, or `transform_wait` is over."""
        if len(self._waiting) >= MAX_WAITING:
            return
        done, node = Future(), self._node
        timer = node.create_steady_timer(
            node.config.transform_wait, lambda: None if done.done() else done.set_result(None)
        )
        self._waiting[done] = request
        try:
            await done
        finally:
            del self._waiting[done]
            node.destroy_timer(timer)

    def _answer(
        self, kind: Any, ask: Callable[..., None], request: Any, question: Question
    ) -> tuple[Any, Snapshot]:
        """Return the reply, and what is known when it leaves."""
        reply = kind.Response()
        if not hasattr(reply, "info"):  # it is about the request alone
            first = nothing(self._node.config, Fault(Status.UNDEFINED, ""), self._node.now())
        else:
            first = question.ask(_wanted(request), in_time=hasattr(reply, "is_free"))
        try:
            ask(request, reply, first, question)
            last = question.at_the_end(first, Verdict(reply.verdict.verdict))
            if last.fault is not first.fault:
                reply = kind.Response()
                ask(request, reply, last, question)
            return reply, last
        except (InputError, FrameError) as error:
            last, fault = self._node.later(first), Fault(error.status, str(error))
            if isinstance(error, FrameError) and not self._node.is_active:
                fault = last.fault or fault  # no frame is known then
            return messages.none(kind, fault), last

    def _collide(self, request: Any, reply: Any, snapshot: Snapshot, question: Question) -> None:
        pose, frame = self._placed(request.pose, snapshot, question)
        found = questions.collide(snapshot, pose, request.margin, frame=frame)
        if self._is_due(snapshot):
            self._verify(snapshot, pose, frame, found.verdict, request.margin)
        messages.fill_collide(reply, found)

    def _distance(self, request: Any, reply: Any, snapshot: Snapshot, question: Question) -> None:
        pose, frame = self._placed(request.pose, snapshot, question)
        found = questions.distance(snapshot, pose, request.k, request.max_distance, frame=frame)
        if self._is_due(snapshot):
            self._verify(snapshot, pose, frame, found.answer.verdict)
        messages.fill_distance(reply, found)

    def _check_poses(
        self, request: Any, reply: Any, snapshot: Snapshot, question: Question
    ) -> None:
        poses, times = messages.floats(request.poses), messages.floats(request.times)
        # Looked up once: it may move while the request is answered.
        frame = cache(lambda: self._frame(request.header, snapshot, question))
        found = questions.check_poses(
            snapshot,
            poses,
            times,
            frame=frame,
            stamp=fields.nanoseconds(request.header.stamp),
            margin=request.margin,
            mode=request.mode,
            stop_at_first=request.stop_at_first,
            is_late=question.is_late,
        )
        messages.fill_poses(reply, found)
        first = found.first_invalid_index
        if first >= 0 and found.verdicts[first] == Verdict.COLLISION:
            self._node.note_hit(_on_path(request, frame(), first))
        if not len(times) and self._is_due(snapshot):
            i = next(self._any) % len(found.verdicts)
            pose, verdict = _on_path(request, HERE, i), Verdict(int(found.verdicts[i]))
            self._verify(snapshot, pose, frame(), verdict, request.margin)

    def _check_path(
        self, request: Any, reply: Any, snapshot: Snapshot, question: Question
    ) -> None:
        poses, times = messages.floats(request.poses), messages.floats(request.times)
        swept = is_swept(request.interpolation)
        # Looked up once: it may move while the request is answered.
        frame = cache(lambda: self._frame(request.header, snapshot, question))
        found = questions.check_path(
            snapshot,
            poses,
            times,
            frame=frame,
            stamp=fields.nanoseconds(request.header.stamp),
            swept=swept,
            margin=request.margin,
            tolerance=request.tolerance,
            is_late=question.is_late,
        )
        messages.fill_path(reply, found)
        verdict, segment = found.answer.verdict, found.first_invalid_segment
        if verdict is Verdict.COLLISION and swept and snapshot.fault is None:
            fraction = found.last_valid_fraction
            self._node.note_hit(_on_path(request, frame(), segment, fraction))
        if verdict is Verdict.FREE and not len(times) and self._is_due(snapshot):
            i = next(self._any) % (len(poses) // 3)
            pose = _on_path(request, HERE, i)
            self._verify(snapshot, pose, frame(), verdict, request.margin)

    def _check_shapes(
        self, request: Any, reply: Any, snapshot: Snapshot, question: Question
    ) -> None:
        found = questions.check_shapes(
            snapshot.config,
            messages.obstacles(request.a),
            messages.obstacles(request.b),
            messages.integers(request.pairs),
            mode=request.mode,
            margin=request.margin,
            is_late=question.is_late,
        )
        messages.fill_shapes(reply, found)

    def _get_snapshot(
        self, request: Any, reply: Any, snapshot: Snapshot, question: Question
    ) -> None:
        messages.fill_snapshot(reply, snapshot)

    def _reset(self, request: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        reply.success, reply.message = self._node.reset()
        return reply

    def _is_due(self, snapshot: Snapshot) -> bool:
        """Tell whether this answer is of the share to be verified."""
        self._due += snapshot.config.verify_fraction
        if self._due < 1.0:
            return False
        self._due -= 1.0
        return True

    def _verify(
        self,
        snapshot: Snapshot,
        pose: Pose,
        frame: Pose,
        verdict: Verdict,
        margin: float = 0.0,
    ) -> None:
        """Have an answer checked by another method; raise where it disagrees."""
        total = demanded_margin(snapshot.config, margin)
        if why := objection(snapshot, pose, verdict, total, frame):
            raise RuntimeError(f"the kernel is wrong at {tuple(frame.of(pose))}: {why}")

    def _placed(
        self, message: PoseStamped, snapshot: Snapshot, question: Question
    ) -> tuple[Pose, Pose]:
        """Return a request's pose and its frame; without a frame, the vehicle's own pose."""
        if not message.header.frame_id:
            here = lookup.ego_pose(snapshot.config, question.transforms, snapshot.stamp)
            return here, HERE
        pose = fields.pose(message.pose, "pose")
        return pose, self._frame(message.header, snapshot, question)

    def _frame(self, header: Any, snapshot: Snapshot, question: Question) -> Pose:
        stamp = fields.nanoseconds(header.stamp)
        return lookup.frame_pose(
            snapshot.config, question.transforms, header.frame_id, stamp, snapshot.stamp
        )


def _on_path(request: Any, frame: Pose, index: int, fraction: float = 0.0) -> Pose:
    """Return a pose of a request, or one between it and the next, in the parent of a frame."""
    rows = messages.floats(request.poses).reshape(-1, 3)
    ways, _ = frame.compose_ways(rows, 0.0, np.zeros(len(rows), bool))
    return pose_on(ways, index, fraction)


def _wanted(request: Any) -> int:
    """Return the id of the snapshot that a request insists on; 0: any."""
    if isinstance(request, CheckPoses.Request):
        return request.require_snapshot_id
    return request.snapshot_id if isinstance(request, GetSnapshot.Request) else 0
