# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A process of the node: the package's `Server` and `Requests`, with virtual times.

It takes the place of ros/node.py and ros/services.py: it passes on messages and calls, and lets
time pass while an answer is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from math import cos, sin
from typing import Any

from gjk_collision import InputError
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import Config
from gjk_collision.server.requests import Answered, Requests
from gjk_collision.server.scheduler import Future, Scheduler
from gjk_collision.server.server import Heartbeat, Server
from gjk_collision.server.services import SERVICES

from .facts import Message
from .wire import as_message, converted, state

CHILDREN = {"mount": "sensor", "tf": "map", "ego": "base"}  # kind of message -> child of "odom"


@dataclass(eq=False)
class Task:
    """A request that is being answered."""

    duration: int  # of its computation
    is_large: bool
    is_slow_at_first: bool  # the computation is at the end of its duration, not at its begin
    done: Callable[[Answered], None]
    stamp: int = 0  # of the request
    coroutine: Coroutine[Future, None, Answered] | None = None
    # Set by the runner, when its first snapshot is made: true time, ROS time, data, and frames.
    began: int = 0
    ros: int = 0
    first: Any = None
    places: Any = None


class Watched(Server):
    """A server that tells of each snapshot that it makes."""

    def __init__(self, node: Node, epoch: int, watch: Callable[[Snapshot, int], None]) -> None:
        super().__init__(node, epoch)
        self._watch = watch

    def snapshot(self, require_id: int = 0) -> Snapshot:
        """Return the present snapshot, or the one with this id."""
        found = super().snapshot(require_id)
        self._watch(found, require_id)
        return found


class Node(Scheduler):
    """One process of the node: its shell, and its scheduler. The runner sets `true` first."""

    def __init__(
        self,
        config: Config,
        epoch: int,
        clock: Callable[[int], int],
        true: int,
        do_later: Callable[[int, Callable[[], None]], None],
        changed: Callable[[], None],
        watch: Callable[[Snapshot, int], None],
    ) -> None:
        super().__init__()
        self.true, self.clock, self.do_later, self.changed = true, clock, do_later, changed
        self.current: Task | None = None
        self.errors: list[str] = []
        self._tree = TransformTree(self.now())
        self.server = Watched(self, epoch, watch)
        self.server.configure(config, self._tree)  # type: ignore[arg-type]
        self.requests = Requests(self.server, self)

    # ---- the shell

    def now(self) -> int:
        """Return the ROS time."""
        return self.clock(self.true)

    def steady(self) -> int:
        """Return the steady time."""
        return self.true

    def note_change(self) -> None:
        """Publish the snapshot soon."""
        self.changed()

    def log_error(self, where: str, error: Exception) -> None:
        """Keep an internal error."""
        self.errors.append(f"{where}: {error!r}")

    # ---- the scheduler

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call a function later; return a function that prevents this."""
        wanted = [True]
        self.do_later(round(seconds * 1e9), lambda: callback() if wanted else None)
        return wanted.clear

    async def run(self, compute: Callable[[], Any], *, is_large: bool) -> Any:
        """Compute, and let time pass before or after it."""
        task = self.current
        assert task is not None and task.is_large == is_large
        found = None if task.is_slow_at_first else compute()
        finished = Future()
        self.do_later(task.duration, lambda: finished.set_result(None))
        await finished
        task.duration = 0  # an answer that cannot be sent is computed again in no time
        return compute() if task.is_slow_at_first else found

    def ask(self, service: str, message: Any, task: Task) -> None:
        """Begin to answer a request."""
        task.coroutine = self.requests.answer(
            SERVICES[service](message), lambda found, _: found, is_large=task.is_large
        )
        self._step(task)

    def _step(self, task: Task) -> None:
        assert task.coroutine is not None
        before, self.current = self.current, task
        try:
            waits = task.coroutine.send(None)
        except StopIteration as end:
            task.done(end.value)
        else:
            waits.add_done_callback(lambda _: self.do_later(0, lambda: self._step(task)))
        finally:
            self.current = before

    # ---- what arrives

    def receive(self, message: Message) -> None:
        """Receive one message."""
        if message.kind in CHILDREN:
            (x, y), half = message.place, 0.5 * message.pitch
            placement = Placement((x, y, 0.0), (0.0, sin(half), 0.0, cos(half)))
            child, static = CHILDREN[message.kind], message.kind == "mount"
            self._tree.set_time(self.now())
            self._tree.insert("odom", child, message.stamp, placement, static=static)
            self.requests.resume()
            self.note_change()
            return
        name = {"twist": "twist_topic"}.get(message.source, message.source)
        arrival = self.server.earliest(message.sent)
        self.server.receive(name, lambda: converted(message, self.server.config), arrival)

    def note_step_back(self, by: int) -> None:
        """The clock reports a step back."""
        self._tree.set_time(self.now() + by)
        self._tree.set_time(self.now())
        self.server.note_step_back(by)

    def set_parameter(self, name: str, value: float) -> bool:
        """Change a parameter; return whether it was accepted."""
        try:
            config = self.server.config.changed({name: value})
        except InputError:
            return False
        if self.server.refusal(config):
            return False
        self.server.reconfigure(config)
        return True

    # ---- what it sends

    def publish(self) -> Any:
        """Return the message for ~/snapshot, or None; and the number for the heartbeat."""
        sent: list[Any] = []
        number = self.server.publish(1, lambda fields: sent.append(as_message(fields)))
        return (sent or [None])[0], number

    def beat(self, sequence: int) -> tuple[Any, Heartbeat]:
        """Return a heartbeat and its content."""
        self._tree.set_time(self.now())
        message, beat, _ = self.server.beat(sequence, state)
        return message, beat
