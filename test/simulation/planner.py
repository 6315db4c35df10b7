# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of a planner: the package's mirror, with virtual times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gjk_collision import InputError, Status, _core
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.pauses import Pauses
from gjk_collision.server.services import SERVICES
from gjk_collision.server.services.answers import refused

from .facts import Question
from .wire import request


@dataclass
class Thinking:
    """A question to a mirror that is being answered."""

    asked: _core.MirrorAsked
    answer: Any

    @property
    def at(self) -> int:
        """ROS time asked for."""
        return self.asked.at


class Planner:
    """A process with a mirror. The runner sets `true` before each call."""

    def __init__(self, clock: Callable[[int], int], true: int) -> None:
        self.mirror, self.clock, self.true = _core.Mirror(), clock, true
        self.pauses = Pauses(true)

    def note_activity(self) -> None:
        """The process takes messages now."""
        self.pauses.note_activity(self.true)

    def receive(self, message: Any, sent: int, *, is_snapshot: bool) -> None:
        """Receive a message of ~/snapshot or ~/state."""
        earliest = self.pauses.earliest(self.true, sent)
        times = {"now": self.clock(self.true), "steady": self.true, "earliest": earliest}
        if is_snapshot:
            self.mirror.receive_snapshot(content=self.mirror.read(message), **times)
        else:
            self.mirror.receive_heartbeat(message=message, **times)

    def begin(self, question: Question, ahead: int) -> Thinking:
        """Begin to answer a question for a time ahead of now."""
        now = self.clock(self.true)
        asked = self.mirror.ask(
            footprints=list(question.names if question.which else question.names[:1]),
            at=max(now + ahead, 1),
            required=0,
            frame=question.frame,
            now=now,
            steady=self.true,
        )
        try:
            answer = ask(question, asked.at, Data(asked))
        except InputError as error:
            answer = refused(question.service, Fault.of(error))
        return Thinking(asked, answer)

    def end(self, thinking: Thinking, question: Question) -> Any:
        """Return the answer that is returned now."""
        now = self.clock(self.true)
        fault = self.mirror.fault(thinking.asked, now=now, steady=self.true)
        if fault is None:
            return thinking.answer
        return refused(question.service, Fault(Status(fault[0]), fault[1]))


@dataclass
class Data:
    """The data of a question."""

    asked: _core.MirrorAsked

    def cores(self) -> list[_core.Snapshot]:
        """Return the data with each footprint of the question."""
        return self.asked.snapshots


def ask(question: Question, at: int, data: Data) -> Any:
    """Answer a question from the data for it."""
    asked: Any = SERVICES[question.service](request(question, 0, 0))
    asked.pose, asked.stamp = Pose(*question.poses[0]), at
    return asked.answer(data)
