# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Where requests wait, and where their answers are computed."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, TypeVar

__all__ = ["Future", "Scheduler"]

Result = TypeVar("Result")


class Future:
    """Something to `await` without an executor, with the methods of a future of rclpy."""

    def __init__(self) -> None:
        self._is_done = False
        self._callbacks: list[Callable[[Future], None]] = []

    def done(self) -> bool:
        """Return whether the wait has ended."""
        return self._is_done

    def set_result(self, _: Any) -> None:
        """End the wait."""
        self._is_done = True
        for each in self._callbacks:
            each(self)

    def add_done_callback(self, callback: Callable[["Future"], None]) -> None:
        """Call a function when the wait ends."""
        self._callbacks.append(callback)

    def __await__(self) -> Generator["Future", None, None]:
        while not self._is_done:
            yield self


class Scheduler(ABC):
    """The scheduler of `Requests`. Its methods are called in one thread.

    Attributes
    ----------
    is_closed : bool
        Whether the process ends. A computation must then end soon.
    """

    is_closed = False

    def __init__(self) -> None:
        self._is_busy = False
        self._turns: deque[Any] = deque()  # futures of large requests that wait for their turn

    def future(self) -> Any:
        """Return an object to `await`, with the methods `done` and `set_result`."""
        return Future()

    @abstractmethod
    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call a function after a steady time [s]; return a function that prevents this."""

    async def enter(self) -> None:
        """Wait for the turn of a large request. Its end is `leave`."""
        if self._is_busy:
            turn = self.future()
            self._turns.append(turn)
            await turn  # `leave` passes the turn on, and `_is_busy` stays true
        self._is_busy = True

    def leave(self) -> None:
        """End the turn of a large request, and begin the turn of the next one."""
        if self._turns:
            self._turns.popleft().set_result(None)
        else:
            self._is_busy = False

    async def run(self, compute: Callable[[], Result], *, is_large: bool) -> Result:
        """Return the result of a function; that of a large request may run in another thread."""
        return compute()
