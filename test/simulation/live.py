# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Compares real processes of the node with the simulator: the same history has the same answers.

`player` plays a plan in real time, and writes down what happened when. The simulator executes
this several times; each time, all questions are a little earlier or later. The answer of the node
must be one of those of the simulator.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from gjk_collision.server.services.check_poses import MANY

from .facts import MS, SECOND, Event, Plan
from .plan import BEGIN, new_plan
from .player import HERE, Answer, History, Player
from .real import said
from .run import Process, Run

# Kinds of faults that can be played in real time, without transforms.
PLAYED = (
    "delay", "bad", "repeat", "order", "future", "silence", "pause", "life", "crash", "twin",
    "parameters", "reset", "static", "required", "several", "times", "shared name",
)  # fmt: skip
NEAR = tuple(each * MS for each in (-3, -2, -1, 0, 1, 2, 3))  # of a strong comparison
SHIFTS = tuple(each * MS for each in (-40, -30, -20, -15, -11, -7, -5, 5, 7, 11, 15, 20, 30, 40))
# Shifts of the questions, and seeds. With a seed, the latency of messages is random; with the seed
# 1, heartbeats are not shifted.
RUNS = tuple((each, seed) for each in NEAR for seed in (0, 1)) + tuple(
    (each, 2) for each in SHIFTS
)
DATA = ("footprint", "list", "twist")


class Replay(Run):
    """Executes what happened in a play, and collects the answers by the numbers of questions."""

    def __init__(self, plan: Plan, shift: int, seed: int) -> None:
        random, events = Random(seed), list(plan.events)
        kinds = ("ask", "think") if seed == 1 else ("ask", "think", "beat")
        events = [_moved(each, shift, kinds, random if seed else None) for each in events]
        self.said: dict[int, tuple[Any, ...]] = {}
        self.ids: dict[int, int] = {}
        super().__init__(replace(plan, events=tuple(sorted(events, key=lambda each: each.at))))

    def _ask(self, event: Event) -> None:
        data, node, question = event.data, self.node, event.data["question"]
        # The snapshot of the same earlier answer as in the play.
        self.seen = [self.ids.get(data["of"], 1)] if data["of"] else []
        is_large = len(question.poses) > MANY
        data = {**data, "required": int(data["of"] > 0), "is_large": is_large}
        self._when_free(node, lambda: self._answer(node, data, lambda found, free: None))

    def _note_answer(self, data: Mapping[str, Any], found: Any, id_: int) -> None:
        self.said[data["answer"]] = said(found, data["question"])
        self.ids[data["answer"]] = id_

    def _do(self, event: Event) -> None:
        if event.kind == "beat":
            process = self.twin if event.data["twin"] else self.node
            if process is not None:
                number = event.data["answer"]
                self._when_free(process, lambda: self._send_heartbeat(process, number))
        elif event.kind == "activate twin":
            self._activate(self.twin)  # type: ignore[arg-type]
        else:
            super()._do(event)
        if event.kind == "restart":
            self._deactivate(self.node)
        elif event.kind == "twin" and self.twin is not None:
            self._deactivate(self.twin)

    def _start_heartbeat(self, process: Process) -> None:
        """Heartbeats are sent at the times of the play."""

    def _send_heartbeat(self, process: Process, number: int) -> None:
        beat = process.server.beat

        def recorded(sequence: int) -> Any:
            found = beat(sequence)
            self.said[number] = said(found[1].found, HERE)
            return found

        process.server.beat = recorded
        self._beat(process)
        process.server.beat = beat

    def _set_parameter(self, node: Process, data: Mapping[str, Any]) -> None:
        before = node.parameters
        super()._set_parameter(node, data)
        self.said[data["answer"]] = (node.parameters is not before,)


def _moved(event: Event, shift: int, kinds: tuple[str, ...], random: Random | None) -> Event:
    if event.kind in DATA and random is not None:
        return replace(event, data={**event.data, "delay": random.randrange(MS // 5, 3 * MS)})
    return replace(event, at=event.at + shift) if event.kind in kinds else event


@dataclass
class Report:
    """Counts of answers, and the differences.

    An answer is strong if the simulator has only this answer up to 3 ms earlier and later, weak if
    it has others too, and late if it only has this answer more than 3 ms earlier or later.
    """

    histories: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, history: History) -> None:
        """Compare all answers of a history with those of the simulator."""
        self.histories += 1
        plan, runs = history.plan, {}
        for each in RUNS:
            runs[each] = run = Replay(plan, *each)
            if why := run.execute().violation:
                self.differences.append(f"seed {plan.seed}, run {each}: {why}")
        for number, answer in history.answers.items():
            found = {each: run.said.get(number) for each, run in runs.items()}
            outcome = self._outcome(history, answer, found)
            if outcome == "different":
                self.differences.append(_line(plan, answer, found))
            self.counts[outcome] += 1
        self.reasons["no reply"] += history.unanswered
        self.counts["not compared"] += history.unanswered

    def _outcome(self, history: History, answer: Answer, found: Mapping[Any, Any]) -> str:
        reason = history.reason(answer)
        if reason:
            self.reasons[reason] += 1
            return "not compared"
        if answer.said not in found.values():
            return "different"
        near = {value for (shift, _), value in found.items() if shift in NEAR}
        if answer.said not in near:
            return "late"
        return "strong" if len(near) == 1 else "weak"


def _text(counts: Counter[str]) -> str:
    names = ("strong", "weak", "late", "not compared", "different")
    return ", ".join(f"{counts[name]} {name}" for name in names)


def _line(plan: Plan, answer: Answer, found: Mapping[Any, Any]) -> str:
    values = [str(each)[:200] for each in (answer.said, *dict.fromkeys(found.values()))]
    at = (answer.at - BEGIN) / SECOND
    return (
        f"seed {plan.seed}, {at:.3f} s, {answer.kind}: node {values[0]} {answer.text!r}, "
        f"simulator {'; '.join(values[1:])}"
    )


def live_plan(seed: int, length: float) -> Plan:
    """Return a plan that can be played."""
    random = Random(seed)
    faults = tuple(each for each in PLAYED if random.random() < 0.3)
    plan = new_plan(seed, length, faults, is_simple=True)
    parameters = {**plan.parameters, "time_budget": 1.0}
    if "map" in parameters["obstacle_sources"]:
        parameters["map.qos_durability"] = "transient_local"
    return replace(plan, parameters=parameters)


def main() -> int:
    """Return 1 if an answer of the node was not one of the simulator."""
    parser = argparse.ArgumentParser(prog="simulation.live", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="first seed")
    parser.add_argument("--histories", type=int, default=30, help="number of seeds")
    parser.add_argument("--length", type=float, default=8.0, help="time per history [s]")
    given = parser.parse_args()
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)
    report = Report()
    for seed in range(given.seed, given.seed + given.histories):
        known = len(report.differences)
        report.add(Player(live_plan(seed, given.length)).play())
        print(f"seed {seed}: {_text(report.counts)}", flush=True)
        for each in report.differences[known:]:
            print(f"  {each}", flush=True)
    print(f"{report.histories} histories, {report.counts.total()} answers")
    print(f"not compared: {dict(report.reasons)}")
    return 1 if report.differences else 0


if __name__ == "__main__":
    sys.exit(main())
