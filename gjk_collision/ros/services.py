# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The services of the collision server. Every request gets a reply."""

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.service import Service as ServerOf
from rclpy.service_introspection import ServiceIntrospectionState

from gjk_collision import srv

from ..server.data.snapshot import Snapshot
from ..server.frames.poses import Pose
from ..server.requests import Answered, Requests
from ..server.server import Server
from ..server.services import RECORDED, SERVICES, Service
from ..server.services.answers import Answer, info_fields
from ..verdict import Status, Verdict
from . import messages
from .batches import Batches
from .diagnostics import Health
from .quality import SERVICE_QOS

__all__ = ["Services"]


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
        offered = {name: self._serve(each) for name, each in SERVICES.items()}
        self._recorded = [offered[name] for name in RECORDED]

    def record(self, wanted: bool) -> None:
        """Start or stop publishing the contents of requests and replies (introspection)."""
        state = ServiceIntrospectionState.CONTENTS if wanted else ServiceIntrospectionState.OFF
        for each in self._recorded:
            each.configure_introspection(self._node.get_clock(), SERVICE_QOS, state)

    def close(self) -> None:
        """End the computation of large requests, before the context is shut down."""
        self._batches.close()

    def _serve(self, service: type[Service]) -> ServerOf:
        """Create a service. After any error, its reply is UNKNOWN."""
        kind, name = getattr(srv, service.__name__), service.name

        async def answer(message: Any) -> Any:
            request = service(message)

            def fill(found: Answer, snapshot: Snapshot | None) -> Any:
                return messages.filled(kind.Response, request.fields(found, snapshot))

            answered = await self._requests.answer(
                request, fill, is_large=request.is_large, name=f"~/{name}"
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
            callback_group=self._batches.group if service.may_be_large else self._group,
        )

    def _show_hit(self, answered: Answered) -> None:
        """Show the first pose of a batch or a path at which there is a collision."""
        request = answered.request
        if request is None or answered.reply.verdict.verdict != Verdict.COLLISION:
            return
        pose = request.hit(answered.found, answered.snapshot)
        if pose is not None:
            self._note_hit(pose)
