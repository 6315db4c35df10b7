# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for callbacks in a way that no callback can end, and in several threads."""

import sys
import threading
from types import FrameType
from typing import Any

from rclpy import executors
from rclpy.executors import Executor, ExternalShutdownException

__all__ = ["Waiting", "spin_once"]

# If another thread spins, it is checked this often whether it still does [s].
CHECK = 0.01


def spin_once(executor: Executor, timeout: float | None = None) -> Exception | None:
    """Process one callback, and return what it raised.

    Parameters
    ----------
    executor : Executor
        The executor of the callbacks.
    timeout : float, optional
        Maximum time to wait for a callback [s]. Default: no limit.

    Raises
    ------
    ExternalShutdownException
        The context was shut down.
    """
    try:
        executor.spin_once(timeout)
    except ExternalShutdownException:
        raise
    except Exception as error:
        return error
    return None


class Waiting:
    """Waits for replies in any number of threads. One thread at a time spins the executor.

    Two threads must not spin one executor: rclpy then raises ``ValueError: generator already
    executing`` in one of them, or one waits although the other has received its reply.

    Parameters
    ----------
    executor : Executor
        The executor that receives the replies.
    is_shared : bool
        Whether other code may spin the executor too. While another thread does, it is not spun
        here.
    """

    def __init__(self, executor: Executor, *, is_shared: bool) -> None:
        self._executor, self._is_shared = executor, is_shared
        self._turn = threading.Condition()
        self._is_spinning = False

    def watch(self, future: Any, is_done: threading.Event) -> None:
        """Set the event, and end a `wait` for it, as soon as a future is done."""

        def note(_: Any) -> None:
            with self._turn:
                is_done.set()
                self._turn.notify_all()

        future.add_done_callback(note)

    def wait(self, seconds: float, is_done: threading.Event) -> None:
        """Wait up to this time [s] for the event, and clear it. It may return earlier."""
        with self._turn:
            if is_done.is_set():
                is_done.clear()
                return
            if self._is_spinning or (self._is_shared and _is_spun(self._executor)):
                self._turn.wait(min(seconds, CHECK))
                return
            self._is_spinning = True
        try:
            self._executor.spin_once(min(seconds, CHECK) if self._is_shared else seconds)
        finally:
            with self._turn:
                self._is_spinning = False
                self._turn.notify_all()


def _is_spun(executor: Executor) -> bool:
    """Return whether another thread is in a method of the executor."""
    for thread, innermost in sys._current_frames().items():
        frame: FrameType | None = innermost
        while thread != threading.get_ident() and frame is not None:
            is_rclpy = frame.f_code.co_filename == executors.__file__
            if is_rclpy and frame.f_locals.get("self") is executor:
                return True
            frame = frame.f_back
    return False
