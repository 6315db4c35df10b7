# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A live node says only what the model of its rules permits, whatever happens to it.

When a message was received is not known exactly, only that it was not before it was sent. A reply
names the time that it was evaluated for. So the model is asked for each message that can have
been the last one, at the earliest and at the latest time at which it can have been received.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from builtin_interfaces.msg import Time
from gjk_collision.msg import ObstacleArray
from rosgraph_msgs.msg import Clock
from server import BOX, Bench, Server, said
from world_model import Message, Model

from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.server.parameters.config import Config
from gjk_collision.server.pauses import steady_time
from gjk_collision.verdict import Status, Verdict

S = 1_000_000_000
FREE = (Verdict.FREE, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]
PARAMETERS = {"safety_margin": 0.5, "obstacles.timeout": 0.5}
# x of the vehicle: free, within the margin, and in the obstacle at 0.
PLACES = (50.0, 2.25, 0.0)
SLACK = 60_000_000  # ns between two signs of life of the node, and a little more


class Witness:
    """Sends to a node, and judges each of its replies.

    Attributes
    ----------
    now : int
        Of the clock that the node is given [ns]; 0: the node has the clock of the system.
    replies : list
        What was said.
    """

    def __init__(self, server: Server, bench: Bench, now: int = 0) -> None:
        self.server, self.bench, self.now = server, bench, now
        self.config = Config.from_parameters({"footprint": BOX, **PARAMETERS})
        self.sent: list[tuple[int, Message]] = []  # when, by the steady clock
        self.pauses: list[tuple[int, int]] = []
        self.has_jumped = False  # a reply is for an earlier time than the one before
        self.may_have_jumped = False
        self.replies: list[tuple[Verdict, Status]] = []
        self.last_now = 0  # of the last reply
        self.confirmed = 0  # messages that a reply has shown to have come, by its age
        self.forgotten = 0  # of these, when the clock of the node went back
        if now:
            self.clock = bench.node.create_publisher(Clock, "/clock", 10)

    # ---- what happens

    def tick(self, seconds: float) -> None:
        """Set the clock of the node on, or back."""
        self.may_have_jumped |= seconds < 0.0
        self.now += round(seconds * S)
        self.clock.publish(Clock(clock=self.stamp()))

    def stamp(self, ahead: float = 0.0) -> Time:
        now = self.now or self.bench.node.get_clock().now().nanoseconds
        return Time(
            **dict(zip(("sec", "nanosec"), divmod(now + round(ahead * S), S), strict=True))
        )

    def send(self, bad: Status | None = None, ahead: float = 0.0, count: int = 1) -> None:
        message: ObstacleArray = self.bench.array([(3.0 * i, 0.0) for i in range(1 - count, 1)])
        message.header.stamp = self.stamp(ahead)
        message.sequence = 0
        if bad is Status.NON_FINITE:
            message.xy[3] = math.nan
        boxes = tuple((3.0 * i, 0.0) for i in range(1 - count, 1))
        stamp = nanoseconds(message.header.stamp)
        self.sent.append((steady_time(), Message("obstacles", stamp, bad=bad, boxes=boxes)))
        self.bench.obstacles.publish(message)

    def stop(self, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Stop the process for a while."""
        begin = steady_time()
        self.server.process.send_signal(signal.SIGSTOP)
        self.run(seconds, meanwhile, ask=False)
        self.pauses.append((begin, steady_time()))
        self.server.process.send_signal(signal.SIGCONT)

    def run(self, seconds: float, each: Callable[[], None], ask: bool = True) -> None:
        """Do something every 50 ms, and ask in between."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            each()
            until = time.monotonic() + 0.05
            for x in PLACES if ask else ():
                self.ask(x)
            while time.monotonic() < until:
                self.bench.spin(0.005)

    # ---- what may be said

    def ask(self, x: float) -> tuple[Verdict, Status]:
        begin = steady_time()
        reply = self.bench.collide(x)
        end = steady_time()
        now, found = nanoseconds(reply.info.header.stamp), said(reply)
        if now < self.last_now:
            self.has_jumped, self.forgotten = True, self.confirmed
        self.last_now = now
        allowed = self.allowed(x, now, begin, end)
        if reply.info.compute_time > 1.0:
            allowed.add((Verdict.UNKNOWN, Status.TIME_BUDGET))
        assert found in allowed, (x, reply.verdict, reply.info, allowed)
        assert reply.is_free == (found == FREE)
        age, slack = reply.info.max_obstacle_age, (end - begin) * 1e-9 + 1e-6
        if not math.isnan(age):
            stamps = [m.stamp for _, m in self.sent]
            fits = [
                i for i, each in enumerate(stamps) if -1e-6 <= age - (now - each) * 1e-9 <= slack
            ]
            assert fits, (age, now)
            self.confirmed = max(self.confirmed, fits[0] + 1)
        self.replies.append(found)
        return found

    def allowed(self, x: float, now: int, begin: int, end: int) -> set[Any]:
        """Everything that the model permits for some times within the bracket."""
        if now == 0:  # no /clock has been received
            return {(Verdict.UNKNOWN, Status.CLOCK_JUMP)}
        result: set[Any] = set()
        for last in (
            None,
            *(
                each
                for each in self.sent[max(self.forgotten, len(self.sent) - 200) :]
                if each[0] <= end
            ),
        ):
            for has_jumped in {self.has_jumped, self.may_have_jumped}:
                for at in (begin, end):
                    for received in self.received(last[1], last[0], at) if last else (at,):
                        model = Model(self.config, None)
                        model.has_jumped = has_jumped
                        if last:
                            model.receive(last[1], now, received)
                        result |= model.verdict(model.state(now, at), x, 0.0)
        return result

    def received(self, message: Message, sent: int, at: int) -> tuple[int, int]:
        """The earliest and the latest time at which a message counts as received."""
        first = next(when for when, each in self.sent if each.stamp == message.stamp)
        early, late = sent, min(at, first + S)  # of many with one stamp, some come within 1 s
        for begin, end in self.pauses:
            if sent < end:  # it was in a queue then, if it had not come before
                late = min(late, begin + SLACK)
            if begin - SLACK < sent < end + S:
                early = min(early, begin - SLACK)
        return early, late


def nothing() -> None:
    """Nobody sends."""


@pytest.mark.requirement("D-13")
def test_stops_floods_and_dying_publishers(start: Start) -> None:
    w = Witness(*start("judged", **PARAMETERS))
    w.bench.until(lambda: w.ask(50.0) == (Verdict.UNKNOWN, Status.NO_OBSTACLES), "the node")
    w.bench.until(lambda: w.send() or w.ask(50.0) == FREE, "data")
    w.run(0.5, w.send)
    w.run(1.0, nothing)  # the publisher has died
    assert w.replies[-1] == (Verdict.UNKNOWN, Status.STALE_OBSTACLES)
    for seconds in (0.7, 1.5):
        w.bench.until(lambda: w.send() or w.ask(50.0) == FREE, "data")
        w.stop(seconds, w.send)  # what is sent meanwhile waits in a queue
        w.run(0.7, nothing)
        assert w.replies[-1] == (Verdict.UNKNOWN, Status.STALE_OBSTACLES)
    w.run(1.0, lambda: [w.send(count=100) for _ in range(20)] and None)  # a flood
    w.run(0.8, nothing)
    w.run(0.3, lambda: w.send(Status.NON_FINITE))
    w.run(0.3, lambda: w.send(ahead=5.0))
    for each in range(6):
        w.send(Status.NON_FINITE if each % 2 else None)
        w.run(0.1, nothing)
    w.run(0.7, nothing)
    seen = set(w.replies)
    assert {FREE, (Verdict.MARGIN, Status.SUCCESS), (Verdict.COLLISION, Status.SUCCESS)} <= seen
    unknown = {status for verdict, status in seen if verdict is Verdict.UNKNOWN}
    assert {Status.STALE_OBSTACLES, Status.NON_FINITE, Status.FUTURE_STAMP} <= unknown


@pytest.mark.requirement("D-13")
def test_clocks_that_stop_and_jump(start: Start) -> None:
    w = Witness(*start("clocked", use_sim_time=True, **PARAMETERS), now=1_800_000_000 * S)

    def go(seconds: float = 0.05) -> None:
        w.tick(seconds)
        w.send()

    for step in (-1e-9, -0.04, -50.0, 3600.0):
        w.bench.until(lambda: go() or w.ask(50.0) == FREE, "data")
        w.run(0.3, go)
        w.run(2.0, w.send)  # the clock stands, and with it the stamp
        assert w.replies[-1] == (Verdict.UNKNOWN, Status.STALE_OBSTACLES)
        w.bench.until(lambda: go() or w.ask(50.0) == FREE, "data")
        w.stop(0.7, go)
        w.run(0.3, nothing)
        w.bench.until(lambda: go() or w.ask(50.0) == FREE, "data")
        w.run(0.2, nothing)
        w.tick(step)
        w.run(0.3, nothing)
    unknown = {status for verdict, status in w.replies if verdict is Verdict.UNKNOWN}
    assert {Status.STALE_OBSTACLES, Status.CLOCK_JUMP} <= unknown
