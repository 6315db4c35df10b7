# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of a planner: a mirror, as ros/mirror.py drives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gjk_collision import InputError
from gjk_collision.ros.pauses import Pauses
from gjk_collision.server import questions
from gjk_collision.server.answers import unknown
from gjk_collision.server.mirrored import Mirror
from gjk_collision.server.snapshot import Fault, Snapshot

from .facts import Question
from .node import rows_of


@dataclass
class Thinking:
    """A question to a mirror that is being answered."""

    at: int  # ROS time asked for
    data: Snapshot
    used: Any
    is_named: bool
    state: Fault | None
    answer: Any


class Planner:
    """A process with a mirror. The runner sets `true` before each call."""

    def __init__(self, clock: Callable[[int], int], true: int) -> None:
        self.mirror, self.clock, self.true = Mirror(), clock, true
        self.pauses = Pauses(true)

    def receive(self, message: Any, sent: int, *, is_snapshot: bool) -> None:
        """Receive a message of ~/snapshot or ~/state."""
        earliest = self.pauses.earliest(self.true, sent)
        times = {"now": self.clock(self.true), "steady": self.true, "earliest": earliest}
        if is_snapshot:
            self.mirror.receive_snapshot(self.mirror.read(message), **times)
        else:
            self.mirror.receive_state(message, **times)

    def begin(self, question: Question, ahead: int) -> Thinking | None:
        """Begin to answer a question for a time ahead of now; None: there is no snapshot."""
        now = self.clock(self.true)
        at = now + ahead
        snapshot, used = self.mirror.snapshot_at(at), self.mirror.held()
        if snapshot is None:
            self.mirror.fault(at=at, now=now, steady=self.true)
            return None
        chosen, issue = snapshot, None
        try:
            if question.names:
                chosen = snapshot.chosen_among(question.names, "footprint")
        except InputError as error:
            issue = Fault(error.status, str(error))
        is_named = not chosen.footprint_expiries
        state = self.mirror.fault(at=at, now=now, steady=self.true, is_named=is_named)
        if (fault := state or issue) is not None:
            chosen = chosen.invalidated(fault)
        return Thinking(at, chosen, used, is_named, state, ask(chosen, question, at))

    def end(self, thinking: Thinking, question: Question) -> Any:
        """Return the answer that is returned now."""
        now = self.clock(self.true)
        if thinking.state is None:
            fault = self.mirror.fault(
                at=thinking.at,
                now=now,
                steady=self.true,
                is_named=thinking.is_named,
                used=thinking.used,
            )
            if fault is not None:
                thinking.answer = ask(thinking.data.invalidated(fault), question, thinking.at)
        return thinking.answer


def ask(data: Snapshot, question: Question, at: int) -> Any:
    """Answer a question from a snapshot."""
    rows, times = rows_of(question).ravel(), np.array(question.times)
    options: Any = {"stamp": at, "margin": question.margin}
    try:
        if question.names:
            which = np.array(question.which, np.uint8)
            return questions.check_poses_of_several(
                data, question.names, which, rows, times, **options
            )
        return questions.check_poses(data, rows, times, **options)
    except InputError as error:
        return unknown(Fault(error.status, str(error)))
