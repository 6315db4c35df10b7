# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The services of the collision server. Every request gets a reply."""

from collections.abc import Callable
from itertools import count
from typing import Any, Protocol

from gjk_collision.srv import (
    CheckPath,
    CheckPoses,
    CheckShapes,
    Collide,
    Distance,
    GetSnapshot,
    NearestFree,
)
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.service import Service
from rclpy.service_introspection import ServiceIntrospectionState
from rclpy.task import Future
from rclpy.timer import Timer
from std_srvs.srv import Trigger

from ..errors import InputError
from ..server import fields, lookup
from ..server.answers import Answer, NearestFreeAnswer, PathAnswer, PosesAnswer
from ..server.dispatch import Found, Request
from ..server.frames import IDENTITY, FrameError, Pose
from ..server.rules import total_margin
from ..server.snapshot import Fault, Snapshot, empty_snapshot
from ..server.verification import verdict_error
from ..verdict import Status, Verdict
from . import messages
from .batches import LARGE, Batches, is_large
from .diagnostics import Health
from .exchange import Exchange, ServerData
from .quality import SERVICE_QOS

__all__ = ["Server", "Services"]

# Types and names of the services whose requests replay answers again.
ASKED = {
    Collide: "collide",
    Distance: "distance",
    CheckPoses: "check_poses",
    CheckPath: "check_path",
    NearestFree: "nearest_free",
    CheckShapes: "check_shapes",
}

# Maximum number of requests that wait for a transform. Further requests are answered at once.
MAX_WAITING = 64


class Server(ServerData, Protocol):
    """The part of the server that the services use."""

    health: Health

    @property
    def is_active(self) -> bool:
        """Whether the server receives data and answers requests from it."""

    def create_steady_timer(self, period: float, callback: Callable[[], None]) -> Timer:
        """Create a timer on the steady clock. The period is in s."""

    def reset(self) -> tuple[bool, str]:
        """Delete all data; return whether the server is active, and a message."""

    def keep(self, snapshot: Snapshot) -> None:
        """Keep the data of a snapshot for `later`, until this is called again."""

    def note_error(self, where: str, error: Exception) -> None:
        """Log and count an internal error."""

    def note_hit(self, pose: Pose) -> None:
        """Show that a request found a collision at a pose in the check frame."""


class Services:
    """Offers the services of a server, from its construction until the process ends.

    Parameters
    ----------
    node : Node
        The node that gets the services.
    server : Server
        The server that has the data for the answers.
    """

    def __init__(self, node: Node, server: Server) -> None:
        self._node = node
        self._server = server
        # A request that waits must not delay other requests.
        self._group = ReentrantCallbackGroup()
        self._batches = Batches(node)
        self._waiting: dict[Future, Any] = {}  # future -> request that waits for its transform
        self._is_resuming = False
        self._due = 0.0  # sum of verify_fraction; at 1 an answer is verified
        self._any = count(step=7919)  # selects poses to verify; the step is a prime number
        self._recorded = [self._serve(kind, name) for kind, name in ASKED.items()]
        self._serve(GetSnapshot, "get_snapshot")
        node.create_service(Trigger, "~/reset", self._reset, qos_profile=SERVICE_QOS)

    def record(self, wanted: bool) -> None:
        """Start or stop publishing the contents of requests and replies (introspection)."""
        state = ServiceIntrospectionState.CONTENTS if wanted else ServiceIntrospectionState.OFF
        for each in self._recorded:
            each.configure_introspection(self._node.get_clock(), SERVICE_QOS, state)

    def close(self) -> None:
        """End the computation of large requests, before the context is shut down."""
        self._batches.close()

    def _serve(self, kind: Any, name: str) -> Service:
        """Create a service. After any error, its reply is UNKNOWN."""
        server, batches = self._server, self._batches

        async def reply_to(request: Any, reply: Any) -> Any:
            exchange = Exchange(server)
            is_batch = is_large(kind.__name__, request)
            try:
                if self._is_awaited(request, {}):
                    await self._transform(request)
                    exchange = Exchange(server)  # the time budget does not include the wait
                if is_batch:
                    await batches.enter()
                    exchange = Exchange(server)
                try:
                    reply, snapshot = await self._answer(kind, request, exchange, is_batch)
                finally:
                    if is_batch:
                        batches.leave()
            except Exception as error:
                server.note_error(f"~/{name}", error)
                fault = Fault(Status.INTERNAL_ERROR, repr(error))
                reply, snapshot = messages.none(kind, fault), exchange.snapshot_or_empty(fault)
            seconds = exchange.seconds
            if hasattr(reply, "info"):
                messages.fill_info(reply.info, snapshot)
                reply.info.compute_time = seconds
            else:
                reply.compute_time = seconds
            server.health.note_reply(name, seconds, reply.verdict.status)
            return reply

        return self._node.create_service(
            kind,
            f"~/{name}",
            reply_to,
            qos_profile=SERVICE_QOS,
            callback_group=batches.group if kind.__name__ in LARGE else self._group,
        )

    def resume(self) -> None:
        """Continue the requests whose transforms have arrived."""
        if self._is_resuming:  # a lookup inserts received transforms, which calls this again
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
        """Return whether the transform of a request's frame at its stamp may still arrive.

        `known` stores the result of `lookup.awaited_from` for each frame.
        """
        server = self._server
        if not server.is_active:
            return False
        frame, stamp = fields.frame_and_stamp(request)
        if frame not in known:
            known[frame] = lookup.awaited_from(server.config, server.transforms, frame)
        return stamp > known[frame]

    async def _transform(self, request: Any) -> None:
        """Wait until the transform of a request has arrived, but at most `transform_wait`."""
        if len(self._waiting) >= MAX_WAITING:
            return
        done, server = Future(), self._server
        timer = server.create_steady_timer(
            server.config.transform_wait, lambda: None if done.done() else done.set_result(None)
        )
        self._waiting[done] = request
        try:
            await done
        finally:
            del self._waiting[done]
            self._node.destroy_timer(timer)

    async def _answer(
        self, kind: Any, message: Any, exchange: Exchange, is_batch: bool
    ) -> tuple[Any, Snapshot]:
        """Return the reply, and the snapshot with the ages at the time when it is sent."""
        server = self._server
        if kind is CheckShapes:  # it needs no snapshot
            first = empty_snapshot(server.config, Fault(Status.UNDEFINED, ""), server.now())
        else:
            in_time = kind is not GetSnapshot
            first = exchange.first_snapshot(_wanted(message), in_time=in_time)
        try:
            if kind is not GetSnapshot:
                first = Request(kind.__name__, message).chosen(first)
            if is_batch:
                server.keep(first)
            reply = await self._reply(kind, message, first, exchange, is_batch)
            last = exchange.final_snapshot(first, Verdict(reply.verdict.verdict))
            if last.fault is not first.fault:
                reply = await self._reply(kind, message, last, exchange, is_batch)
            return reply, last
        except (InputError, FrameError) as error:
            last, fault = server.later(first), Fault(error.status, str(error))
            # Without a snapshot, the state of the node is the reason, whatever is asked.
            if kind is not CheckShapes and not (last.id and server.is_active):
                fault = last.fault or fault
            return messages.none(kind, fault), last

    async def _reply(
        self, kind: Any, message: Any, snapshot: Snapshot, exchange: Exchange, is_batch: bool
    ) -> Any:
        """Return the reply from a snapshot, without its info."""
        reply = kind.Response()
        if kind is GetSnapshot:
            messages.fill_snapshot(reply, snapshot)
            return reply
        request, batches = Request(kind.__name__, message), self._batches

        def compute(is_late: Callable[[], bool]) -> Found:
            found = request.ask(snapshot, exchange.transforms, is_late)
            messages.fill(reply, found)
            return found

        if is_batch:
            exchange.find_frame(fields.frame_and_stamp(message), snapshot)
            found = await batches.run(
                lambda: compute(lambda: batches.is_closed or exchange.is_late())
            )
        else:
            found = compute(exchange.is_late)
        if kind is not CheckShapes:
            self._show_hit(request, found, snapshot)
            self._verify(request, found, snapshot)
        return reply

    def _show_hit(self, request: Request, found: Found, snapshot: Snapshot) -> None:
        """Show the first pose of a batch or a path at which there is a collision."""
        frame = request.frame or IDENTITY
        if isinstance(found, PosesAnswer):
            first = found.first_invalid_index
            if first >= 0 and found.verdicts[first] == Verdict.COLLISION:
                self._server.note_hit(request.pose_at(first, frame=frame))
        elif isinstance(found, PathAnswer) and found.answer.verdict is Verdict.COLLISION:
            swept = request.message.interpolation == CheckPath.Request.SWEPT
            if swept and snapshot.fault is None:
                at = found.first_invalid_segment, found.last_valid_fraction
                self._server.note_hit(request.pose_at(*at, frame))

    def _verify(self, request: Request, found: Found, snapshot: Snapshot) -> None:
        """Check the fraction `verify_fraction` of the answers by a second method.

        The second method checks single poses among obstacles that do not move. For a batch, and
        for a path that is FREE, it checks one of the poses.

        Raises
        ------
        RuntimeError
            The second method contradicts the verdict.
        """
        message = request.message
        is_path, is_batch = isinstance(found, PathAnswer), isinstance(found, PosesAnswer)
        verdict = found.verdict if isinstance(found, Answer) else found.answer.verdict
        if (is_path or is_batch) and len(message.times):
            return
        if (is_path and verdict is not Verdict.FREE) or not self._is_due(snapshot):
            return
        pose, frame = request.pose, request.frame or IDENTITY
        if pose is None:
            i = next(self._any) % (len(message.poses) // 3)
            pose = request.pose_at(i)
            if isinstance(found, PosesAnswer):
                verdict = Verdict(int(found.verdicts[i]))
            snapshot = request.chosen_at(snapshot, i)
        elif isinstance(found, NearestFreeAnswer) and len(found.free_pose):
            pose, frame = Pose(*found.free_pose.tolist()), IDENTITY
        margin = total_margin(snapshot.config, getattr(message, "margin", 0.0))
        if why := verdict_error(snapshot, pose, verdict, margin, frame):
            raise RuntimeError(f"kernel error at {tuple(frame.of(pose))}: {why}")

    def _is_due(self, snapshot: Snapshot) -> bool:
        """Return whether this answer is to be verified."""
        self._due += snapshot.config.verify_fraction
        if self._due < 1.0:
            return False
        self._due -= 1.0
        return True

    def _reset(self, request: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        reply.success, reply.message = self._server.reset()
        return reply


def _wanted(request: Any) -> int:
    """Return the id of the snapshot that a request requires; 0: the latest."""
    if isinstance(request, CheckPoses.Request):
        return request.require_snapshot_id
    return request.snapshot_id if isinstance(request, GetSnapshot.Request) else 0
