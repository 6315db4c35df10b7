# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How long a message may have waited in a queue: as long as the process took no messages."""

import time
from collections import deque

__all__ = ["PERIOD", "Pauses", "steady_time"]

# How often the executor is asked for a sign of life, and after how long without one it counts as
# paused. A shorter pause is not noticed.
PERIOD = 0.05  # s
NOTICED = 100_000_000  # ns

# What was sent during a pause may still come so long after it, another pause in between left out:
# through the threads of the middleware, and one message of a queue at a time.
SETTLED = 250_000_000  # ns


def steady_time() -> int:
    """Return the time of the steady clock [ns], with the time that the machine slept."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return time.monotonic_ns()  # the best that this system has


class Pauses:
    """When the process took no messages: it was stopped, or busy with something else.

    Parameters
    ----------
    steady : int
        Time of the steady clock [ns] from which on messages are taken.
    """

    def __init__(self, steady: int) -> None:
        self._last = steady
        self._life = 0  # ns, in which messages were taken; of a pause it counts NOTICED
        self._pauses: deque[tuple[int, int]] = deque()  # begin, life at the end

    def note_life(self, steady: int) -> None:
        """Note that messages are being taken now [ns]."""
        gap = steady - self._last
        self._life += min(gap, NOTICED)
        if gap > NOTICED:
            self._pauses.append((self._last, self._life))
        self._last = steady
        while self._pauses and self._pauses[0][1] + SETTLED < self._life:
            self._pauses.popleft()

    def earliest(self, steady: int) -> int:
        """Return when a message that is taken now [ns] can have come at the earliest [ns]."""
        self.note_life(steady)
        return self._pauses[0][0] if self._pauses else steady
