# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pauses of the process: a message may have waited in a queue during a pause."""

import time
from collections import deque

__all__ = ["PERIOD", "Pauses", "steady_time"]

# Period of the timer that calls `Pauses.note_activity` [s].
PERIOD = 0.05
# If there was no call for more than this time [ns], the process was paused. Shorter pauses are not
# detected.
NOTICED = 100_000_000

# A message that was sent during a pause is processed at most this time after the pause [ns]; time
# in other pauses does not count. It passes through threads of the middleware, and the executor
# processes one message of a queue at a time.
SETTLED = 250_000_000


def steady_time() -> int:
    """Return the time of the steady clock [ns]. It includes the time when the machine slept."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return time.monotonic_ns()  # this system has no better clock


class Pauses:
    """Detects times when the process took no messages, because it was stopped or busy.

    Parameters
    ----------
    steady : int
        Steady time at which the process started to take messages [ns].
    """

    def __init__(self, steady: int) -> None:
        self._last = steady
        self._active_time = 0  # ns: time without pauses; each pause counts as NOTICED
        self._pauses: deque[tuple[int, int]] = deque()  # begin, and `_active_time` at the end

    def note_activity(self, steady: int) -> None:
        """Store that the process takes messages at this steady time [ns]."""
        gap = steady - self._last
        self._active_time += min(gap, NOTICED)
        if gap > NOTICED:
            self._pauses.append((self._last, self._active_time))
        self._last = steady
        while self._pauses and self._pauses[0][1] + SETTLED < self._active_time:
            self._pauses.popleft()

    def earliest(self, steady: int) -> int:
        """Return the earliest steady time at which a message read now can have arrived [ns].

        Parameters
        ----------
        steady : int
            Present steady time [ns].
        """
        self.note_activity(steady)
        return self._pauses[0][0] if self._pauses else steady
