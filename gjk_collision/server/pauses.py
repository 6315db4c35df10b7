# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Detects pauses of the process, because messages may have waited in a queue meanwhile.

The rules are in ``gjk/rules/pauses.hpp``, which mirrors in C++ use too.
"""

import time
from typing import Any

from .._core import Pauses

__all__ = ["NOTICED", "PERIOD", "SETTLED", "Pauses", "sending_time", "steady_time"]

# Period of the timer that calls `Pauses.note_activity` [s].
PERIOD = Pauses.PERIOD * 1e-9
NOTICED, SETTLED = Pauses.NOTICED, Pauses.SETTLED  # ns

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
        A middleware may lack one of them.
    steady, system : int, optional
        Times of the steady clock and of the system clock [ns]. Default: the present times.
    """
    if steady is None or system is None:
        steady, system = steady_time(), time.time_ns()
    stamps = info["source_timestamp"], info["received_timestamp"]
    return Pauses.sending_time(*stamps, steady, system)
