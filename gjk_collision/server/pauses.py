# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pauses of the process: a message may have waited in a queue during a pause."""

import time
from collections import deque
from typing import Any

__all__ = ["PERIOD", "Pauses", "sending_time", "steady_time"]

# Period of the timer that calls `Pauses.note_activity` [s].
PERIOD = 0.05
# If there was no call for more than this time [ns], the process was paused. Shorter pauses are not
# detected.
NOTICED = 100_000_000

# Every message that is processed at most this time after a pause [ns] counts as sent before the
# end of the pause; time in other pauses does not count. For a message that is processed later,
# this depends on its time stamps.
SETTLED = 250_000_000


# It includes the time when the machine slept, where the system has such a clock.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def steady_time() -> int:
    """Return the time of the steady clock [ns]."""
    return time.clock_gettime_ns(_STEADY)


def sending_time(
    info: dict[str, Any], steady: int | None = None, system: int | None = None
) -> int:
    """Return the steady time at which a message was sent, or was received if that is earlier [ns].

    Parameters
    ----------
    info : dict
        The time stamps of the middleware, which rclpy passes to a callback. The source timestamp
        is the time of the sender's system clock. The other one is the time of the reception by a
        thread of the middleware, which reads the network some time after a pause of the process.
    steady, system : int, optional
        Times of the steady clock and of the system clock [ns]. Default: the present times.
    """
    if steady is None or system is None:
        steady, system = steady_time(), time.time_ns()
    stamps = info["source_timestamp"], info["received_timestamp"]
    known = [stamp for stamp in stamps if stamp > 0]  # a middleware may lack one of them
    return steady - (system - min(known, default=system))


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
        self._last_pause: tuple[int, int] | None = None  # begin and end

    def note_activity(self, steady: int) -> None:
        """Store that the process takes messages at this steady time [ns]."""
        gap = steady - self._last
        self._active_time += min(gap, NOTICED)
        if gap > NOTICED:
            self._pauses.append((self._last, self._active_time))
            self._last_pause = self._last, steady
        self._last = steady
        while self._pauses and self._pauses[0][1] + SETTLED < self._active_time:
            self._pauses.popleft()

    def earliest(self, steady: int, sent: int) -> int:
        """Return the earliest steady time at which a message read now can have arrived [ns].

        Parameters
        ----------
        steady : int
            Present steady time [ns].
        sent : int
            Steady time at which the message was sent [ns], see `sending_time`.
        """
        self.note_activity(steady)
        found = self._pauses[0][0] if self._pauses else steady
        if self._last_pause is None or sent >= self._last_pause[1]:
            return found
        return min(found, self._last_pause[0], sent)
