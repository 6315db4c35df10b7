# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The services of the collision server. Every request gets a reply."""

from collections.abc import Callable
from typing import Any

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

from ..server.answer_fields import info_fields, reply_fields
from ..server.answers import Found, PathAnswer, PosesAnswer
from ..server.frames import IDENTITY, Pose
from ..server.requests import Answered, Requests
from ..server.server import Server
from ..server.snapshot import Snapshot
from ..server.snapshot_message import data_fields
from ..verdict import Status, Verdict
from . import messages
from .batches import LARGE, Batches, is_large
from .diagnostics import Health
from .quality import SERVICE_QOS

__all__ = ["Services"]

# Types and names of the services whose requests replay answers again.
ASKED = {
    Collide: "collide",
    Distance: "distance",
    CheckPoses: "check_poses",
    CheckPath: "check_path",
    NearestFree: "nearest_free",
    CheckShapes: "check_shapes",
}


class Services:
    """Offers the services of a server, from its construction until the process ends.

    Parameters
    ----------
    node : Node
        The node that gets the services.
    server : Server
        The server that has the data for the answers.
    health : Health
        Counts the replies.
    note_hit : callable
        Shows that a request found a collision at a pose in the check frame.
    """

    def __init__(
        self, node: Node, server: Server, health: Health, note_hit: Callable[[Pose], None]
    ) -> None:
        self._node = node
        self._server, self._health = server, health
        self._note_hit = note_hit
        # A request that waits must not delay other requests.
        self._group = ReentrantCallbackGroup()
        self._batches = Batches(node)
        self._requests = Requests(server, self._batches)
        self.resume = self._requests.resume
        self._recorded = [self._serve(kind, name) for kind, name in ASKED.items()]
        self._serve(GetSnapshot, "get_snapshot")

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
        service = kind.__name__

        def fill(found: Found, snapshot: Snapshot | None) -> Any:
            reply = messages.filled(kind.Response, reply_fields(service, found))
            if kind is GetSnapshot and snapshot is not None:
                messages.fill(reply, data_fields(snapshot))
            return reply

        async def answer(request: Any) -> Any:
            answered = await self._requests.answer(
                service, request, fill, is_large=is_large(service, request), name=f"~/{name}"
            )
            reply = answered.reply
            if hasattr(reply, "info"):
                messages.fill(reply.info, info_fields(answered.snapshot, answered.seconds))
            else:
                reply.compute_time = answered.seconds
            try:  # the reply is sent in any case
                self._health.note_reply(name, answered.seconds, reply.verdict.status)
                self._show_hit(answered)
            except Exception as error:
                self._server.note_error(f"~/{name}", error)
            return reply

        async def reply_to(request: Any, empty: Any) -> Any:
            try:
                return await answer(request)
            except Exception as error:  # a reply in which all fields are zero is UNKNOWN
                self._server.note_error(f"~/{name}", error)
                empty.verdict.status = int(Status.INTERNAL_ERROR)
                empty.verdict.message = repr(error)
                return empty

        return self._node.create_service(
            kind,
            f"~/{name}",
            reply_to,
            qos_profile=SERVICE_QOS,
            callback_group=self._batches.group if service in LARGE else self._group,
        )

    def _show_hit(self, answered: Answered) -> None:
        """Show the first pose of a batch or a path at which there is a collision."""
        request, found = answered.request, answered.found
        if request is None or answered.reply.verdict.verdict != Verdict.COLLISION:
            return
        frame = request.frame or IDENTITY
        if isinstance(found, PosesAnswer):
            first = found.first_invalid_index
            if first >= 0 and found.verdicts[first] == Verdict.COLLISION:
                self._note_hit(request.pose_at(first, frame=frame))
        elif isinstance(found, PathAnswer):
            swept = request.message.interpolation == CheckPath.Request.SWEPT
            if swept and answered.snapshot.fault is None:
                at = found.first_invalid_segment, found.last_valid_fraction
                self._note_hit(request.pose_at(*at, frame))
