# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The server as a process among others: managed, killed, started last, on another's clock."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

import rclpy
from ament_index_python import get_package_share_directory
from builtin_interfaces.msg import Time
from gjk_collision.msg import ObstacleArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from server import BOX, Bench, Server, said

from gjk_collision.ros.client import CollisionClient
from gjk_collision.ros.node import CollisionServer
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]


NEAR = {"x": 4.0}  # 2 m from the obstacle


def unknown(status: Status) -> tuple[Verdict, Status]:
    return Verdict.UNKNOWN, status


def test_as_the_lifecycle_manager_of_nav2_does(start: Start) -> None:
    """By the ids of transitions, asking for the state in between; without a bond."""
    _, bench = start("managed", autostart=False)
    bench.publish()
    get_state = bench.node.create_client(GetState, "/managed/get_state")
    bench.first_reply(get_state, GetState.Request())

    def change(transition: int) -> tuple[bool, int]:
        request = ChangeState.Request(transition=Transition(id=transition))
        done = bench.call("change_state", request).success
        future = get_state.call_async(GetState.Request())
        bench.until(future.done, "state")
        return done, future.result().current_state.id

    for _ in range(2):  # startup and reset
        assert change(Transition.TRANSITION_CONFIGURE) == (True, State.PRIMARY_STATE_INACTIVE)
        assert change(Transition.TRANSITION_ACTIVATE) == (True, State.PRIMARY_STATE_ACTIVE)
        bench.until_status(*FREE)
        assert change(Transition.TRANSITION_DEACTIVATE) == (True, State.PRIMARY_STATE_INACTIVE)
        assert change(Transition.TRANSITION_CLEANUP) == (True, State.PRIMARY_STATE_UNCONFIGURED)
        assert said(bench.collide()) == unknown(Status.NOT_ACTIVE)
    assert change(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN) == (
        True,
        State.PRIMARY_STATE_FINALIZED,
    )
    reply = bench.collide()
    assert said(reply) == unknown(Status.NOT_ACTIVE)
    assert "shut down" in reply.verdict.message


@pytest.mark.requirement("N-10")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_server_of_an_earlier_launch(start: Start, how: signal.Signals) -> None:
    """Each request gets the replies of both: none is FREE until one of them has ended.

    One that was only stopped goes on later: it may not answer before it knows the other one.
    """
    old, bench = start("twice", state_rate=20.0)
    bench.publish()
    bench.until_status(*FREE, **NEAR)
    client = CollisionClient(
        bench.node, "odom", server="/twice", timeout=60.0, executor=bench.executor
    )
    if how is signal.SIGSTOP:
        old.process.send_signal(how)
    new = Server("twice", footprint=BOX, state_rate=20.0, safety_margin=5.0)
    try:

        def answers() -> set[tuple[Verdict, Status]]:
            """Return the answers to some requests."""
            asked = [said(bench.collide(**NEAR)) for _ in range(5)]
            replies = [client.collide((NEAR["x"], 0.0, 0.0)) for _ in range(5)]
            return {*asked, *((each.verdict, each.status) for each in replies)}

        margin = (Verdict.MARGIN, Status.SUCCESS)
        if how is signal.SIGSTOP:
            bench.met.clear()  # the first reply of the new one may be lost
            bench.until_status(*margin, **NEAR)
            end = time.monotonic() + 3.5
            bench.until(lambda: time.monotonic() > end, "a long stop")
            old.process.send_signal(signal.SIGCONT)
        both = {unknown(Status.SNAPSHOT_MISMATCH)}
        bench.until(lambda: answers() == both, "that both refuse")
        bench.states.clear()
        bench.until(lambda: len({each.epoch for each in bench.states}) == 2, "both heartbeats")
        for _ in range(20):
            assert answers() == both
        bench.until(lambda: "another server with this name" in new.log, "a line in the log")
        bench.until(lambda: "/twice is UNKNOWN" in old.log, "a line in the log")
        old.stop(signal.SIGKILL)
        bench.until_status(*margin, **NEAR)
        bench.until(lambda: answers() == {margin}, "that the client knows only the new one")
    finally:
        new.stop()


def segments_of_fast_dds() -> set[Path]:
    """Return its shared memory, also that of other processes: fastrtps_ on Jazzy."""
    return {each for name in ("fastdds_*", "fastrtps_*") for each in Path("/dev/shm").glob(name)}


def test_shipped_profile_of_fast_dds(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    share = Path(get_package_share_directory("gjk_collision"))
    profile = share / "config/fastdds_large_replies.xml"
    assert profile.is_file()
    # As docs/deployment.md says. Kilted reads both, and reports the second one as an error.
    monkeypatch.setenv("FASTDDS_DEFAULT_PROFILES_FILE", str(profile))
    if os.environ["ROS_DISTRO"] == "jazzy":
        monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", str(profile))
    monkeypatch.delenv("FASTDDS_BUILTIN_TRANSPORTS")  # see test/conftest.py
    before = segments_of_fast_dds()
    server, bench = start("profiled")
    bench.publish()
    bench.until_status(*FREE)
    assert "XMLPARSER" not in server.log
    sizes = [each.stat().st_size for each in segments_of_fast_dds() - before]
    assert not sizes or max(sizes) > 16_000_000


@pytest.mark.requirement("D-8")
def test_clock_that_is_not_there_yet_and_then_jumps(start: Start) -> None:
    """Data stamped 0 is not fresh at time 0, and a step of the clock voids what was known."""
    _, bench = start("simulated", use_sim_time=True)
    now = [0.0]

    def stamp() -> Time:
        return Time(sec=int(now[0]), nanosec=int(now[0] % 1.0 * 1e9))

    def seen() -> ObstacleArray:
        message = bench.array()
        message.header.stamp = stamp()
        return message

    bench.publish(seen)
    bench.until_status(*unknown(Status.CLOCK_JUMP))
    clock = bench.node.create_publisher(Clock, "/clock", 10)

    def tick() -> None:
        now[0] += 0.02
        clock.publish(Clock(clock=stamp()))

    now[0] = 100.0
    bench.node.create_timer(0.02, tick)
    bench.until_status(*FREE)
    bench.stop_publishing()
    for _ in range(5):  # the last message must be received before the clock goes back
        bench.collide()
    now[0] = 50.0
    bench.until_status(*unknown(Status.CLOCK_JUMP))
    bench.publish(seen)
    bench.until_status(*FREE)


@pytest.mark.requirement("D-12")
def test_process_that_was_stopped(start: Start) -> None:
    """What waited in its queues is not new: the clock and the source have died meanwhile."""
    server, bench = start("stopped", use_sim_time=True, **{"obstacles.timeout": 0.5})
    clock = bench.node.create_publisher(Clock, "/clock", 10)
    now = [100.0]

    def stamp() -> Time:
        return Time(sec=int(now[0]), nanosec=int(now[0] % 1.0 * 1e9))

    def tick() -> None:
        now[0] += 0.02
        clock.publish(Clock(clock=stamp()))

    def seen() -> ObstacleArray:
        message = bench.array()
        message.header.stamp = stamp()
        message.sequence = 0
        return message

    def wait(seconds: float) -> None:
        end = time.monotonic() + seconds
        bench.until(lambda: time.monotonic() > end, "time")

    ticking = bench.node.create_timer(0.02, tick)
    bench.publish(seen)
    bench.until_status(*FREE)
    server.process.send_signal(signal.SIGSTOP)
    wait(1.0)
    bench.stop_publishing()
    ticking.cancel()
    wait(0.6)  # the newest data is older than its timeout
    server.process.send_signal(signal.SIGCONT)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        assert said(bench.collide()) != FREE
    ticking.reset()
    bench.publish(seen)
    bench.until_status(*FREE)


def test_quality_of_service(start: Start) -> None:
    """Obstacles best effort unless told otherwise, and so heard by whatever publisher there is."""
    _, bench = start(
        "choosy",
        **{
            "obstacle_sources": ["obstacles", "radar", "sonar"],
            "radar.qos_reliability": "reliable",
            "qos_overrides./sonar.subscription.reliability": "reliable",
        },
    )

    def reliability(topic: str) -> Any:
        found = bench.node.get_subscriptions_info_by_topic(topic)
        return [each.qos_profile.reliability for each in found if each.node_name == "choosy"]

    expected = {
        "/obstacles": ReliabilityPolicy.BEST_EFFORT,
        "/radar": ReliabilityPolicy.RELIABLE,
        "/sonar": ReliabilityPolicy.RELIABLE,
    }
    for topic, wanted in expected.items():
        assert bench.until(lambda topic=topic: reliability(topic), topic) == [wanted]


def test_clock_of_a_configured_node_cannot_be_changed(start: Start) -> None:
    """Otherwise every answer would become UNKNOWN, without a line in the log."""
    server, bench = start("steady")
    bench.publish()
    bench.until_status(*FREE)
    for label in ("", "deactivate"):
        assert not label or bench.transition(label)
        result = bench.set(use_sim_time=True)
        assert not result.successful
        assert "use_sim_time: cannot change while the node is configured" in result.reason
        assert not bench.set(use_sim_time=True, safety_margin=0.5).successful
        assert bench.get("use_sim_time", "safety_margin") == [False, 0.0]
        assert bench.set(use_sim_time=False).successful  # no change
    assert bench.transition("activate")
    bench.until_status(*FREE)
    for label in ("deactivate", "cleanup"):
        assert bench.transition(label)
    assert bench.set(use_sim_time=True).successful
    for label in ("configure", "activate"):
        assert bench.transition(label)
    bench.until_status(*unknown(Status.CLOCK_JUMP))
    assert "active, waiting for: the time on /clock (use_sim_time)" in server.log


def test_two_servers_in_one_process() -> None:
    """Each has its own namespace, parameters and data; one executor spins both."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    executor = SingleThreadedExecutor(context=context)
    servers = []
    for name, margin in (("p1", 0.0), ("p2", 1.0)):
        line = ["--ros-args", "-r", f"__ns:=/{name}", "-p", "robot_radius:=1.0"]
        line += ["-p", f"safety_margin:={margin}", "-p", "time_budget:=1.0"]
        server = CollisionServer(context=context, cli_args=line, use_global_arguments=False)
        executor.add_node(server)
        servers.append(server)
        server.start()
    spinning = threading.Thread(target=executor.spin)
    spinning.start()
    benches = [Bench(f"{name}/collision_server") for name in ("p1", "p2")]
    try:
        for bench, verdict in zip(benches, (Verdict.FREE, Verdict.MARGIN), strict=True):
            assert said(bench.collide()) == unknown(Status.NO_OBSTACLES)
            bench.publish()
            bench.until_status(verdict, Status.SUCCESS, x=2.5)
    finally:
        for bench in benches:
            bench.close()
        executor.shutdown()
        spinning.join()
        for server in servers:
            server.close()
            server.destroy_node()
        context.shutdown()
