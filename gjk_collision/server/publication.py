# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Decides when a snapshot is published on ``~/snapshot``. Mirrors answer from these snapshots."""

from collections.abc import Callable
from typing import Any

from .data.snapshot import Snapshot
from .services.snapshot_message import described

__all__ = ["Publication"]

# Without a change, the snapshot is repeated after this time [ns], for a mirror that has discarded
# its snapshot because its clock went back.
REPEAT = 1_000_000_000
# The stamps of the footprint and of the twist are sent again after this fraction of their timeout.
REFRESH = 0.25


class Publication:
    """Publishes a snapshot if it has changed, if it is old, or if there is a new subscriber."""

    def __init__(self) -> None:
        self._sequence = 0
        self._sent: object = None  # `_key` of the last message
        self._sent_at = 0  # steady time of the last message [ns]
        self._subscribers = 0  # number of subscribers of the last message

    def stop(self) -> int:
        """There is no subscriber. Return the sequence number for the heartbeat: 0."""
        self._sent, self._subscribers = None, 0
        return 0

    def publish(
        self,
        snapshot: Snapshot,
        subscribers: int,
        steady: int,
        send: Callable[[dict[str, Any]], Any],
    ) -> int:
        """Publish the present snapshot if necessary.

        Parameters
        ----------
        snapshot : Snapshot
            A snapshot that was just made.
        subscribers : int
            Number of subscribers.
        steady : int
            Present steady time [ns].
        send : callable
            Publishes the fields of a ``msg/Snapshot``, see `described`.

        Returns
        -------
        int
            Sequence number of the message with the present snapshot.
        """
        key, is_old = _key(snapshot), steady - self._sent_at >= REPEAT
        if key != self._sent or subscribers > self._subscribers or is_old:
            self._sent, self._sent_at = None, steady
            send(described(snapshot, self._sequence + 1))
            self._sequence, self._sent = self._sequence + 1, key
        self._subscribers = subscribers
        return self._sequence


def _key(snapshot: Snapshot) -> object:
    """Return what is equal if and only if a mirror need not know about a change."""
    faults = snapshot.fault, snapshot.data_fault
    # The footprint and the twist can be received again without a new snapshot. A mirror needs
    # their stamps in time.
    stamps = [
        int(each.stamp / (REFRESH * each.timeout * 1e9)) for each in snapshot.footprint_limits
    ]
    statuses = [None if each is None else each.status for each in faults]
    return snapshot.id, snapshot.config.hash, *statuses, snapshot.bad_sources, *stamps
