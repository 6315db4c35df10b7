# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests that wait for a transform, without ROS: each gets one reply."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from simulation import wire
from simulation.facts import Question
from simulation.node import Node, Task

from gjk_collision.server.frames.transforms import Placement
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Status

S = 1_000_000_000


class Waiting:
    """A node with requests in two frames that wait for their transforms, at 10 s."""

    def __init__(self) -> None:
        self.replies: list[tuple[str, Status]] = []
        self.later: list[Callable[[], None]] = []
        self.timers: list[Callable[[], None]] = []
        sources = (SourceConfig("lidar", required=False),)
        config = Config(robot_radius=1.0, transform_wait=0.5, sources=sources)
        done = self.do_later, lambda: None, lambda *_: None
        self.node = Node(config, 1, lambda true: true, 10 * S, *done)
        self.node.server.activate()
        for frame in ("cam", "map"):
            self.insert(frame, 9 * S)
            question = Question("CheckPoses", ((0.0, 0.0),), frame=frame)
            task = Task(0, False, False, self.note(frame))
            self.node.ask("CheckPoses", wire.request(question, 10 * S - 1, 0), task)
        assert not self.replies

    def do_later(self, delay: int, do: Callable[[], None]) -> None:
        (self.timers if delay else self.later).append(do)

    def note(self, frame: str) -> Callable[[Any], None]:
        def done(answered: Any) -> None:
            self.replies.append((frame, answered.found.status))

        return done

    def insert(self, frame: str, stamp: int) -> None:
        tree: Any = self.node.server.transforms
        tree.set_time(self.node.now())
        tree.insert("odom", frame, stamp, Placement(), static=False)

    def run(self) -> list[str]:
        while self.later:
            self.later.pop(0)()
        return [frame for frame, _ in self.replies]


def test_a_transform_that_arrives_during_the_lookups_is_noticed() -> None:
    waiting = Waiting()
    tree: Any = waiting.node.server.transforms
    plain, arrived = tree.latest, []  # type: ignore[var-annotated]

    def latest(target: str, source: str) -> Any:
        found = plain(target, source)
        if source == "cam" and not arrived:
            arrived.append(source)
            waiting.insert("map", 10 * S)
            waiting.node.requests.resume()
        return found

    tree.latest = latest
    waiting.insert("cam", 10 * S)
    waiting.node.requests.resume()
    assert sorted(waiting.run()) == ["cam", "map"]


def test_an_error_in_a_lookup_does_not_reach_the_sender_of_transforms() -> None:
    waiting = Waiting()
    tree: Any = waiting.node.server.transforms
    errors = iter([RuntimeError("lost")])
    plain = tree.latest

    def latest(target: str, source: str) -> Any:
        for each in errors:
            raise each
        return plain(target, source)

    tree.latest = latest
    waiting.node.requests.resume()
    assert waiting.node.errors and not waiting.run()
    waiting.insert("cam", 10 * S)
    waiting.insert("map", 10 * S)
    waiting.node.requests.resume()
    assert sorted(waiting.run()) == ["cam", "map"]


def test_a_transform_and_the_end_of_the_wait_at_once_give_one_reply() -> None:
    waiting = Waiting()
    waiting.insert("cam", 10 * S)
    waiting.insert("map", 10 * S)
    waiting.node.requests.resume()
    for timer in waiting.timers:
        timer()
    assert sorted(waiting.run()) == ["cam", "map"]


def test_deactivation_ends_the_wait() -> None:
    waiting = Waiting()
    waiting.node.server.deactivate()
    waiting.node.requests.resume()
    assert sorted(waiting.run()) == ["cam", "map"]
    assert {status for _, status in waiting.replies} == {Status.NOT_ACTIVE}


def test_wait_for_a_turn_is_no_part_of_the_time_budget() -> None:
    """The first of two large requests takes ten seconds."""
    waiting, found = Waiting(), []  # type: ignore[var-annotated]
    for duration in (10 * S, 0):
        question = Question("CheckPoses", ((0.0, 0.0),), frame="odom")
        task = Task(duration, True, False, found.append)
        waiting.node.ask("CheckPoses", wire.request(question, 10 * S, 0), task)
    waiting.node.true += 10 * S
    waiting.timers.pop()()
    waiting.run()
    assert [each.seconds for each in found] == [10.0, 0.0]
