# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for callbacks in a way that no callback can end, and in several threads."""

import sys
import threading
from types import FrameType
from typing import Any

from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node

__all__ = ["Waiting", "spin_once"]

# It is checked this often who spins the executor, and which one has the node [s].
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
    node : Node
        The node that receives the replies.
    executor : Executor
        Its executor. `rclpy.spin_once` and other functions remove the node from it. The node is
        then added again, unless it is in another executor, which is used instead.
    """

    def __init__(self, node: Node, executor: Executor) -> None:
        self._node, self._own = node, executor
        self._turn = threading.Condition()
        self._is_spinning = False

    def executor(self) -> Executor:
        """Return the executor that has the node."""
        present = self._node.executor
        # rclpy does not reset `node.executor` when an executor removes the node.
        if present is None or self._node not in present.get_nodes():
            self._own.add_node(self._node)
            return self._own
        return present

    def check(self) -> None:
        """Raise RuntimeError in a callback that the executor must end before it goes on."""
        if threading.get_ident() in _spinning_threads(self.executor()):
            raise RuntimeError(
                "called from a callback of the executor that must receive the reply: use "
                "call_async, or spin the node in a MultiThreadedExecutor or another thread"
            )

    def watch(self, future: Any, is_done: threading.Event) -> None:
        """Set the event, and end a `wait` for it, as soon as a future is done."""

        def note(_: Any) -> None:
            with self._turn:
                is_done.set()
                self._turn.notify_all()

        future.add_done_callback(note)

    def wait(self, seconds: float, is_done: threading.Event) -> None:
        """Wait up to this time [s] for the event, and clear it. It may return earlier."""
        executor = self.executor()
        with self._turn:
            if is_done.is_set():
                is_done.clear()
                return
            if self._is_spinning or _spinning_threads(executor):
                self._turn.wait(min(seconds, CHECK))
                return
            self._is_spinning = True
        try:
            executor.spin_once(min(seconds, CHECK))
        finally:
            with self._turn:
                self._is_spinning = False
                self._turn.notify_all()


def _spinning_threads(executor: Executor) -> set[int]:
    """Return the threads that spin the executor.

    Their frames are searched, because executors of Jazzy and Kilted have no attribute for it, and
    a second thread may also get no error.
    """
    found = set()
    for thread, innermost in sys._current_frames().items():
        frame: FrameType | None = innermost
        while frame is not None:
            if "spin" in frame.f_code.co_name and frame.f_locals.get("self") is executor:
                found.add(thread)
            frame = frame.f_back
    return found
