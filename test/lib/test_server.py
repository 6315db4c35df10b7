# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The server without ROS: its internal errors, and the state of its senders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from simulation import wire
from simulation.facts import Question
from simulation.node import Node

from gjk_collision import Status, Verdict
from gjk_collision.server.config import Config, SourceConfig
from gjk_collision.server.requests import Requests
from gjk_collision.server.scheduler import Scheduler
from gjk_collision.server.twist import Twist

S = 1_000_000_000


class Clock:
    """A time that a test changes [ns]."""

    now = 10 * S


class AtOnce(Scheduler):
    """A scheduler for requests that wait for nothing."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        raise AssertionError(f"a wait of {seconds} s for {callback}")


def node_at(clock: Clock, **parameters: Any) -> Node:
    """Return an active node with one source."""
    config = Config(robot_radius=1.0, sources=(SourceConfig("lidar"),), **parameters)
    node = Node(
        config, 1, lambda _: clock.now, clock.now, lambda *_: None, lambda: None, lambda *_: None
    )
    node.server.activate()
    return node


def fails_once(result: Any = None) -> Callable[..., Any]:
    """Return a function that raises when it is called first."""
    errors = iter([RuntimeError("lost")])

    def function(*_: Any) -> Any:
        for each in errors:
            raise each
        return result

    return function


def test_error_while_the_snapshot_is_sent() -> None:
    node = node_at(Clock())
    assert node.server.publish(1, fails_once()) == 0
    assert node.errors == ["~/snapshot: RuntimeError('lost')"]
    assert node.server.errors == 1


def test_error_while_a_heartbeat_is_made() -> None:
    node = node_at(Clock())
    message, beat, is_good = node.server.beat(0, fails_once("message"))
    assert (message, is_good) == ("message", False)
    answer = beat.found.answer
    assert (answer.verdict, answer.status) == (Verdict.UNKNOWN, Status.INTERNAL_ERROR)
    assert answer.message == "RuntimeError('lost')"
    assert node.errors == ["~/state: RuntimeError('lost')"]


@pytest.mark.parametrize(("name", "said"), [("~/collide", "~/collide"), ("", "Collide")])
def test_error_while_a_request_is_answered(name: str, said: str) -> None:
    node = node_at(Clock())
    request = wire.request(Question("Collide", ((0.0, 0.0),)), 0, 0)
    coroutine = Requests(node.server, AtOnce()).answer(
        "Collide", request, fails_once("reply"), is_large=False, name=name
    )
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    answered = end.value.value
    assert answered.reply == "reply"
    assert answered.found.status is Status.INTERNAL_ERROR
    assert node.errors == [f"{said}: RuntimeError('lost')"]


def test_state_of_the_senders() -> None:
    clock = Clock()
    node = node_at(clock, twist_topic="odometry", twist_timeout=1.0)
    server = node.server
    server.receive("twist_topic", lambda: Twist("base_link", clock.now, 1.0, 0.0, 0.0), clock.now)
    clock.now += S // 4
    _, twist, lidar = server.reports()
    assert (twist.source, twist.fault, twist.age) == ("twist_topic", None, 0.25)
    assert (lidar.source, lidar.fault and lidar.fault.status) == ("lidar", Status.NO_OBSTACLES)
    server.deactivate()
    assert server.reports() == []
