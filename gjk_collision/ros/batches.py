# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Large requests are computed in a second thread, so that small requests need not wait for them.

Only the computation from an immutable snapshot is done in the second thread. Everything that can
change (data, transforms, counters, log) is used in the thread of the executor only.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeVar

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from ..server.scheduler import Scheduler
from .timers import steady_timer

__all__ = ["Batches"]

# If the second thread finishes within this time [s], the reply is sent at once. Meanwhile the
# executor waits.
GRACE = 0.001

# Maximum number of large requests that are computed or wait. Further requests stay in the queue of
# the service, because rclpy resumes each waiting request in each cycle, which takes time.
MAX_WAITING = 16

Result = TypeVar("Result")


class Batches(Scheduler):
    """Computes large requests, one after the other, in a second thread.

    All methods are called in the thread of the executor.

    Parameters
    ----------
    node : rclpy.node.Node
        The node whose executor continues a request when its computation is finished.

    Attributes
    ----------
    group : CallbackGroup
        Callback group of the services with large requests. It limits how many of them wait.
    """

    def __init__(self, node: Node) -> None:
        super().__init__()
        self._node = node
        self.group = _Group(self)
        self._finished: deque[Future] = deque()  # appended by the second thread
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="batches")
        # A future of rclpy is only used in the thread of the executor.
        self._guard = node.create_guard_condition(self._resume, ReentrantCallbackGroup())

    @property
    def is_full(self) -> bool:
        """Whether no further request is taken from the queues of the services."""
        return self._is_busy + len(self._turns) >= MAX_WAITING

    def future(self) -> Future:
        """Return an object to `await`."""
        return Future()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call a function after a steady time [s]; return a function that prevents this."""
        timer = steady_timer(self._node, seconds, callback)
        return lambda: self._node.destroy_timer(timer)

    async def run(self, compute: Callable[[], Result], *, is_large: bool) -> Result:
        """Return the result of a function; that of a large request runs in the second thread.

        An error that it raises is raised here.
        """
        if not is_large:
            return compute()
        job = self._pool.submit(compute)
        if not wait([job], GRACE).done:
            done = Future()
            job.add_done_callback(lambda _: self._note_finished(done))
            await done
        return job.result()

    def close(self) -> None:
        """End the second thread. Requests that wait get no reply."""
        self.is_closed = True
        self._pool.shutdown(cancel_futures=True)

    def _note_finished(self, done: Future) -> None:
        """Wake the executor; called by the second thread."""
        self._finished.append(done)
        with suppress(Exception):  # the node or its context has ended
            self._guard.trigger()

    def _resume(self) -> None:
        while self._finished:
            self._finished.popleft().set_result(None)


class _Group(ReentrantCallbackGroup):
    """A callback group that leaves requests in the queue of the service if too many wait."""

    def __init__(self, batches: Batches) -> None:
        super().__init__()
        self._batches = batches

    def can_execute(self, entity: Any) -> bool:
        """Return whether a request may be taken from the queue."""
        return not self._batches.is_full
