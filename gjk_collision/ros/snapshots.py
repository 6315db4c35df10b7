# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Publisher of ``~/snapshot``, from which mirrors answer requests in other processes."""

import time

from gjk_collision.msg import Snapshot as SnapshotMessage
from rclpy.node import Node
from rclpy.timer import Timer

from ..server.mirrored import described
from ..server.snapshot import Fault, Snapshot
from .messages import filled
from .quality import SNAPSHOT_QOS
from .services import Server

__all__ = ["SnapshotPublisher"]

# Changes within this time are published in one message [s]. Messages of several sources often
# arrive together.
DELAY = 0.002
# Without a change, the snapshot is repeated after this time [s], for a mirror that has discarded
# its snapshot because its clock went back.
REPEAT = 1.0
# The stamps of the footprint and of the twist are sent again after this fraction of their timeout.
REFRESH = 0.25


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
        self._publisher = node.create_publisher(SnapshotMessage, "~/snapshot", SNAPSHOT_QOS)
        self._timer: Timer = server.create_steady_timer(DELAY, self._publish_later)
        self._timer.cancel()
        self._sequence = 0
        self._sent: object = None  # `_key` of the last message
        self._subscribers = 0  # number of subscribers of the last message
        self._sent_at = 0.0  # monotonic time of the last message [s]

    def note_change(self) -> None:
        """Publish the snapshot soon. Call this after each change of the data."""
        if self._timer.is_canceled() and self._publisher.get_subscription_count():
            self._timer.reset()

    def _publish_later(self) -> None:
        self._timer.cancel()
        self.publish_change()

    def publish_change(self) -> int:
        """Publish the snapshot if it has changed or is old, or if there is a new subscriber.

        Returns
        -------
        int
            Sequence number of the message with the present snapshot; 0: there is no subscriber,
            or an error occurred.
        """
        subscribers = self._publisher.get_subscription_count()
        if not subscribers:
            self._sent, self._subscribers = None, 0
            return 0
        try:
            snapshot = self._server.snapshot()
            key, now = _key(snapshot), time.monotonic()
            is_old = now - self._sent_at >= REPEAT
            if key != self._sent or subscribers > self._subscribers or is_old:
                self._sent, self._sent_at = None, now
                fields = described(snapshot, self._sequence + 1)
                self._publisher.publish(filled(SnapshotMessage, fields))
                self._sequence, self._sent = self._sequence + 1, key
            self._subscribers = subscribers
            return self._sequence
        except Exception as error:
            self._server.note_error("~/snapshot", error)
            return 0


def _key(snapshot: Snapshot) -> object:
    """Return what is equal if and only if a mirror need not know about a change."""
    faults = [None if each is None else each.status for each in _faults(snapshot)]
    # The footprint and the twist can be received again without a new snapshot. A mirror needs
    # their stamps in time.
    stamps = [
        int(each.stamp / (REFRESH * each.timeout * 1e9)) for each in snapshot.footprint_expiries
    ]
    return snapshot.id, snapshot.config.hash, *faults, snapshot.bad_sources, *stamps


def _faults(snapshot: Snapshot) -> tuple[Fault | None, Fault | None]:
    return snapshot.fault, snapshot.data_fault
