# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of a planner: the package's mirror, with virtual times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gjk_collision.server import questions
from gjk_collision.server.answers import DistanceAnswer, PathAnswer, PosesAnswer
from gjk_collision.server.frames import Pose
from gjk_collision.server.mirror import Asked, Mirror
from gjk_collision.server.pauses import Pauses
from gjk_collision.server.snapshot import Snapshot

from .facts import Question
from .wire import rows_of


@dataclass
class Thinking:
    """A question to a mirror that is being answered."""

    asked: Asked
    answer: Any

    @property
    def at(self) -> int:
        """ROS time asked for."""
        return self.asked.at


class Planner:
    """A process with a mirror. The runner sets `true` before each call."""

    def __init__(self, clock: Callable[[int], int], true: int) -> None:
        self.mirror, self.clock, self.true = Mirror(), clock, true
        self.pauses = Pauses(true)

    def note_activity(self) -> None:
        """The process takes messages now."""
        self.pauses.note_activity(self.true)

    def receive(self, message: Any, sent: int, *, is_snapshot: bool) -> None:
        """Receive a message of ~/snapshot or ~/state."""
        earliest = self.pauses.earliest(self.true, sent)
        times = {"now": self.clock(self.true), "steady": self.true, "earliest": earliest}
        if is_snapshot:
            self.mirror.receive_snapshot(self.mirror.read(message), **times)
        else:
            self.mirror.receive_state(message, **times)

    def begin(self, question: Question, ahead: int) -> Thinking:
        """Begin to answer a question for a time ahead of now."""
        now = self.clock(self.true)
        # As its callers do: one name as a string, several as a sequence.
        names = question.names if question.which else "".join(question.names[:1])
        asked = self.mirror.ask(
            names, max(now + ahead, 1), question.frame, now=now, steady=self.true
        )
        return Thinking(
            asked, asked.answer(partial(ask, question, asked.at), NONE[question.service])
        )

    def end(self, thinking: Thinking, question: Question) -> Any:
        """Return the answer that is returned now."""
        asked = thinking.asked
        fault = None
        if asked.state is None:
            now = self.clock(self.true)
            fault = self.mirror.fault_at_return(asked, now=now, steady=self.true)
        return asked.at_return(
            thinking.answer, fault, partial(ask, question, asked.at), NONE[question.service]
        )


NONE: dict[str, Callable[[Any], Any]] = {
    "CheckPoses": PosesAnswer,
    "CheckPath": PathAnswer,
    "Distance": DistanceAnswer,
    "Collide": lambda answer: answer,
}


def ask(question: Question, at: int, data: Snapshot) -> Any:
    """Answer a question from a snapshot with its footprint."""
    if question.service == "Collide":
        return questions.collide(data, Pose(*question.poses[0]), question.margin)
    if question.service == "Distance":
        return questions.distance(data, Pose(*question.poses[0]), 1, 0.0)
    rows, times = rows_of(question).ravel(), np.array(question.times)
    options: Any = {"stamp": at, "margin": question.margin}
    if question.service == "CheckPath":
        return questions.check_path(data, rows, times, frame=Pose, swept=True, **options)
    if question.which:
        which = np.array(question.which, np.uint8)
        several = questions.check_poses_of_several
        return several(data, question.names, which, rows, times, **options)
    return questions.check_poses(data, rows, times, **options)
