# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Decides, by time limits, which replies a client uses."""

from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

__all__ = ["Calls"]


class Calls:
    """The requests of one call of a client.

    At most `limit` requests are without a reply at any time. A reply that takes `timeout` or
    longer is not used, also if it is here.

    Parameters
    ----------
    requests : sequence
        The requests.
    call : callable
        Sends a request, and returns a future.
    forget : callable
        Removes a future whose reply is not used any more.
    timeout : float
        Maximum time to wait for each reply [s].
    limit : int
        Maximum number of requests without a reply.
    missing : object
        Stands for a reply that did not arrive in time.

    Attributes
    ----------
    replies : list of (object, float)
        The reply and the round trip time [s] of each request.
    """

    def __init__(
        self,
        requests: Sequence[Any],
        call: Callable[[Any], Any],
        forget: Callable[[Any], Any],
        timeout: float,
        limit: int,
        missing: Any,
    ) -> None:
        self.replies: list[tuple[Any, float]] = [(missing, inf)] * len(requests)
        self._call, self._forget, self._timeout, self._limit = call, forget, timeout, limit
        self._unsent = deque(enumerate(requests))
        self._pending: list[tuple[int, Any, float]] = []

    def send(self, now: float) -> float | None:
        """Send requests at a steady time [s]; return until when to wait, None: all are done."""
        while self._unsent and len(self._pending) < self._limit:
            index, request = self._unsent.popleft()
            self._pending.append((index, self._call(request), now))
        return self._pending[0][2] + self._timeout if self._pending else None

    def collect(self, now: float) -> None:
        """Store the replies that have arrived, at a steady time [s]."""
        waiting = []
        for index, future, sent in self._pending:
            if now - sent >= self._timeout:
                self._forget(future)
            elif not future.done():
                waiting.append((index, future, sent))
            elif future.exception() is None:
                self.replies[index] = (future.result(), now - sent)
        self._pending = waiting
