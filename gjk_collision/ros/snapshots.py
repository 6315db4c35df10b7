# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Publisher of ``~/snapshot``, from which mirrors answer requests in other processes."""

from typing import Any

from gjk_collision.msg import Snapshot
from rclpy.node import Node

from ..server.server import Server
from .messages import filled
from .quality import SNAPSHOT_QOS
from .timers import steady_timer

__all__ = ["SnapshotPublisher"]

# Changes within this time are published in one message [s]. Messages of several sources often
# arrive together.
DELAY = 0.002


class SnapshotPublisher:
    """Publishes each new snapshot while there is a subscriber.

    Parameters
    ----------
    node : Node
        The node that gets the publisher.
    server : Server
        The server that has the data.
    """

    def __init__(self, node: Node, server: Server) -> None:
        self._server = server
        self._publisher = node.create_publisher(Snapshot, "~/snapshot", SNAPSHOT_QOS)
        self._timer = steady_timer(node, DELAY, self._publish_later)
        self._timer.cancel()

    def note_change(self) -> None:
        """Publish the snapshot soon. Call this after each change of the data."""
        if self._timer.is_canceled() and self._publisher.get_subscription_count():
            self._timer.reset()

    def _publish_later(self) -> None:
        self._timer.cancel()
        self.publish_change()

    def publish_change(self) -> int:
        """Publish the snapshot if necessary; return what `Server.publish` returns."""
        return self._server.publish(self._publisher.get_subscription_count(), self._send)

    def _send(self, fields: dict[str, Any]) -> None:
        self._publisher.publish(filled(Snapshot, fields))
