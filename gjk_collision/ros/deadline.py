# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""An upper limit on the time that a process takes to end."""

import ctypes
import faulthandler
from contextlib import suppress

__all__ = ["end_process_after"]

# <time.h> and <signal.h> of Linux
CLOCK_MONOTONIC = 1
SIGEV_THREAD = 2


class _SigEvent(ctypes.Structure):
    """`struct sigevent`; its size is 64 bytes."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("unused", ctypes.c_byte * 48),
    )


def end_process_after(seconds: float) -> None:
    """End the process with exit code 0 after some time, and write its stack to the log before.

    Fast DDS 2.14 can deadlock when a participant is deleted while it discovers another one. The
    thread that waits then holds the lock of the interpreter, so no code in Python can run.
    Instead, a timer of the C library calls ``_exit(0)``.

    Parameters
    ----------
    seconds : float
        Time [s] until then, >= 1.
    """
    faulthandler.dump_traceback_later(0.9 * seconds)
    with suppress(AttributeError):  # a C library without timers
        c = ctypes.CDLL(None)
        exit_ = ctypes.cast(c._exit, ctypes.c_void_p)
        event = _SigEvent(value=None, notify=SIGEV_THREAD, function=exit_)  # value: the exit code
        timer = ctypes.c_void_p()
        whole, rest = divmod(round(seconds * 1e9), 10**9)
        times = (ctypes.c_long * 4)(0, 0, whole, rest)  # struct itimerspec
        if c.timer_create(CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)) == 0:
            c.timer_settime(timer, 0, times, None)
