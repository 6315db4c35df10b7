# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The log tells an integrator which topic, source or frame is missing, and does not flood."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.msg import ObstacleArray
from rcl_interfaces.msg import LoggerLevel
from rcl_interfaces.srv import SetLoggerLevels
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import LaserScan
from server import Bench, Server

from gjk_collision.ros.progress import PERIOD, QUIET, REMINDER, Progress
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.snapshot import Report
from gjk_collision.server.frames.poses import SameFrameOnly
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
STALE = Fault(Status.STALE_OBSTACLES, "0.7 s old")
LATE = Fault(Status.FUTURE_STAMP, "0.2 s ahead")
MISSING = Fault(Status.NO_OBSTACLES, "none received")
Start = Callable[..., tuple[Server, Bench]]


def lines(server: Server, *words: str) -> list[str]:
    """Lines of the log, without time and name, that have all these words."""
    prefix = re.compile(r"^\[(\w+)\] \[[^]]*\] \[[^]]*\]: ")
    found = [prefix.sub(r"\1 ", line) for line in server.log.splitlines()]
    return [line for line in found if all(word in line for word in words)]


def test_one_line_for_each_transition(start: Start) -> None:
    server, bench = start("walked", autostart=False)
    assert not bench.transition("no such transition")  # has a line of its own

    def new_lines(label: str) -> list[str]:
        before = len(lines(server))
        assert bench.transition(label)
        bench.until(lambda: len(lines(server)) > before, label)
        found = lines(server)[before:]
        return [line for line in found if "no transforms" not in line]

    [configured] = new_lines("configure")
    assert re.fullmatch(r"INFO configured: config hash 0x[0-9a-f]{8}", configured)
    [active] = new_lines("activate")
    assert active.startswith("INFO active, waiting for: source 'obstacles' on /obstacles")
    assert new_lines("deactivate") == ["INFO deactivated: all data deleted"]
    assert new_lines("cleanup") == ["INFO cleaned up: not configured"]
    assert new_lines("shutdown") == ["INFO shut down"]


def test_log_names_a_topic_whose_quality_of_service_does_not_fit(start: Start) -> None:
    """The executor looks for such events once per second."""
    server, bench = start("reliable", **{"obstacles.qos_reliability": "reliable"})
    bench.until(lambda: lines(server, "active, waiting for"), "the activation")
    quality = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    for count in (1, 2):
        bench.node.create_publisher(ObstacleArray, "obstacles", quality)
        bench.until(
            lambda count=count: len(lines(server, "'obstacles', offering incompatible")) == count,
            f"the warning of publisher {count}",
        )
    [said] = bench.until(lambda: lines(server, "not available: source"), "the missing source")
    assert said.endswith("; the topic has a publisher that is not reliable: see qos_reliability")


def test_log_names_a_publisher_whose_last_message_is_kept_for_others(start: Start) -> None:
    kept = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    server, bench = start("volatile")
    bench.node.create_publisher(ObstacleArray, "obstacles", kept)
    [said] = bench.until(lambda: lines(server, "not available: source"), "the missing source")
    assert said.endswith(
        "transient_local publisher: set qos_durability so to get its last message"
    )


def test_yaw_that_looks_like_degrees_is_logged(start: Start) -> None:
    server, bench = start("turned")
    bench.publish()
    bench.until_status(*FREE)
    bench.check_poses([50.0, 0.0, 90.0])
    bench.until(lambda: lines(server, "WARN poses[0]: yaw must be in radians"), "the warning")


def test_log_names_the_inputs_that_are_missing() -> None:
    """All topics are the resolved ones: with the namespace, after remapping."""
    parameters: dict[str, Any] = {
        "obstacle_sources": ["obstacles", "radar", "lidar"],
        "radar.required": False,
        "radar.topic": "radar/objects",
    }
    server, bench = Server("told", __ns="/r1", **parameters), Bench("r1/told")

    def elsewhere() -> ObstacleArray:
        message = bench.array()
        message.header.frame_id = "lidar_link"
        return message

    try:
        bench.node.create_publisher(LaserScan, "/r1/lidar", 1)  # of another type
        assert bench.until(lambda: lines(server, "active, waiting for"), "the activation") == [
            "INFO active, waiting for: "
            "source 'obstacles' on /r1/obstacles (gjk_collision/msg/ObstacleArray); "
            "optional source 'radar' on /r1/radar/objects (gjk_collision/msg/ObstacleArray); "
            "source 'lidar' on /r1/lidar (gjk_collision/msg/ObstacleArray); "
            "footprint on /r1/footprint; "
            "transform from 'odom' to 'base_link' on /tf and /tf_static"
        ]
        bench.publish()
        bench.until(lambda: lines(server, "INFO received: source 'obstacles' on /r1/"), "source")
        said = bench.until(lambda: lines(server, "not available: footprint"), "the footprint")
        assert said == [
            "WARN not available: footprint on /r1/footprint: NO_FOOTPRINT: footprint: no footprint"
            " configured, and none received on the topic '/r1/footprint'; the topic has 1 "
            "publishers; nothing was received from them"
        ]
        bench.until(lambda: len(lines(server, "not available")) == 4, "the other inputs")
        [lidar] = lines(server, "not available: source 'lidar'")
        assert lidar.endswith("the topic has publishers of sensor_msgs/msg/LaserScan")
        [radar] = lines(server, "not available: optional source 'radar'")
        assert radar.endswith("; the topic has no publisher")
        [vehicle] = lines(server, "not available: transform from 'odom' to 'base_link'")
        assert vehicle.endswith("; ~/state and requests without a frame are UNKNOWN")
        assert not lines(server, "first complete snapshot")
        bench.publish(elsewhere)
        bench.until(lambda: lines(server, "lidar_link"), "the name of a frame that is missing")
    finally:
        bench.close()
        server.stop()


def test_first_complete_snapshot_and_a_source_that_goes_and_comes(start: Start) -> None:
    server, bench = start("seen")
    bench.publish(lambda: bench.array([(0, 0), (5, 0)]))
    [first] = bench.until(lambda: lines(server, "first complete snapshot"), "the first")
    assert re.fullmatch(
        r"INFO first complete snapshot, \d+\.\d s after activation: 2 obstacles", first
    )
    bench.stop_publishing()
    [lost] = bench.until(lambda: lines(server, "lost: "), "the loss")
    assert lost.startswith("WARN lost: source 'obstacles' on /obstacles")
    assert ": STALE_OBSTACLES: " in lost
    bench.publish()
    bench.until(lambda: lines(server, "INFO usable again"), "its return")
    assert len(lines(server, "first complete snapshot")) == 1
    assert bench.transition("deactivate")
    assert bench.transition("activate")
    bench.until(lambda: len(lines(server, "first complete snapshot")) == 2, "a new activation")


def test_time_that_is_missing_is_named(start: Start) -> None:
    server, bench = start("timeless", use_sim_time=True)
    [line] = bench.until(lambda: lines(server, "not available: the time"), "the clock")
    assert "/clock (use_sim_time): no time has been received" in line


# ---- by a clock of the test's own


class Node:
    """What `Progress` asks of a node, and the lines that it writes."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.transforms = SameFrameOnly("the test has none")
        self.fault: Fault | None = MISSING
        self.senders: dict[str, Fault | None] = {"": MISSING}
        self.lines: list[str] = []
        self.progress = Progress(self, self)  # type: ignore[arg-type]
        self.time = 10**12
        self.publishers = 1

    def after(self, seconds: float) -> list[str]:
        """Let time pass; return the lines of it."""
        self.lines.clear()
        end = self.time + round(seconds * 1e9)
        while self.time < end:
            self.time += round(PERIOD * 1e9)
            self.progress.log_changes(self.time)
        return list(self.lines)

    def get_logger(self) -> Any:
        log = self.lines.append
        never = lambda level: False  # noqa: E731
        return SimpleNamespace(info=log, warning=log, error=log, is_enabled_for=never)

    def create_timer(self, *args: Any, **more: Any) -> None:
        pass

    def reports(self) -> list[Report]:
        footprint = Report("footprint", "", None)
        return [footprint, *(Report("lidar", name, f) for name, f in self.senders.items())]

    def snapshot(self) -> Any:
        return SimpleNamespace(fault=self.fault)

    def now(self) -> int:
        return self.time

    def get_parameter(self, name: str) -> Any:
        return SimpleNamespace(value=False)

    def resolve_topic_name(self, name: str) -> str:
        return f"/{name}"

    def get_publishers_info_by_topic(self, name: str) -> list[Any]:
        return [SimpleNamespace(topic_type="")] * self.publishers

    def get_subscriptions_info_by_topic(self, name: str) -> list[Any]:
        return []


@pytest.fixture
def node() -> Node:
    config = Config.from_parameters(
        {"obstacle_sources": ["lidar"], "robot_radius": 1.0, "base_frame": "odom"}
    )
    node = Node(config)
    node.progress.log_activation(node.time)
    return node


def test_source_that_comes_at_once_is_never_said_to_be_missing(node: Node) -> None:
    assert node.after(QUIET - 1.0) == []
    node.senders, node.fault = {"lidar": None}, None
    said = node.after(600.0)
    assert [line.partition(":")[0] for line in said] == [
        "received",
        f"first complete snapshot, {QUIET - 1.0 + PERIOD:.1f} s after activation",
    ]


def test_source_that_flaps_costs_one_line_in_five_seconds(node: Node) -> None:
    """The last line agrees with what is."""
    said: list[str] = []
    for i in range(120):
        node.senders = {"lidar": STALE if i % 2 else None}
        said += node.after(PERIOD)
    assert 4 <= len(said) <= 1 + 120 * PERIOD / QUIET
    node.senders, node.fault = {"lidar": None}, None
    said += node.after(QUIET)
    last = [line for line in said if "lidar" in line][-1]
    assert last.startswith("usable again")


def test_losses_between_two_lines_are_told(node: Node) -> None:
    """A loss of 1 s just after a line: the next one says so, and when the loss ended."""
    node.senders, node.fault = {"lidar": None}, None
    assert node.after(PERIOD)[0].startswith("received: source 'lidar'")
    node.senders = {"lidar": STALE}
    assert node.after(1.0) == []
    node.senders = {"lidar": None}
    [line] = node.after(3 * QUIET)
    loss = "(other losses since the last line: 1): source 'lidar'"
    assert line.startswith(f"usable again for the last {QUIET - 1.5:.1f} s {loss}")


def test_senders_that_come_and_go_do_not_flood(node: Node) -> None:
    said: list[str] = []
    for i in range(120):
        node.senders = {f"sender {i + k}": STALE for k in range(16)}
        said += node.after(PERIOD)
    assert 4 <= len(said) <= 1 + 120 * PERIOD / QUIET
    assert all(line.count("STALE_OBSTACLES") == 3 for line in said if "lidar" in line)


def test_another_fault_is_logged_and_the_same_one_is_not(node: Node) -> None:
    node.senders = {"lidar": None}
    node.after(1.0)
    node.after(QUIET)
    node.senders = {"lidar": STALE}
    assert len(node.after(REMINDER / 2)) == 1
    node.senders = {"lidar": Fault(STALE.status, "0.9 s old")}
    assert node.after(QUIET) == []
    node.senders = {"lidar": LATE}
    [line] = node.after(QUIET)
    assert line == (
        "not available: source 'lidar' on /lidar (gjk_collision/msg/ObstacleArray): "
        "FUTURE_STAMP: 0.2 s ahead"
    )


def test_publishers_that_share_a_name_are_logged(node: Node) -> None:
    """Each replaces the list of the other one, and the verdict alternates."""
    node.senders, node.fault = {"front": None, "rear": None}, None
    node.publishers = 2
    node.after(QUIET)
    assert node.after(REMINDER) == []
    node.publishers = 3
    [line] = node.after(REMINDER)
    text = (
        "source 'lidar': 3 publishers on the topic replace each other's data: give each its own "
    )
    assert line == f"{text}topic and source, or its own name in the field `source` of its messages"
    assert len(node.after(REMINDER)) == 1
    node.senders = {"": MISSING}  # nothing is received: another line says so
    assert not [line for line in node.after(2 * REMINDER) if "replace each other" in line]


def test_reminder_while_nothing_is_answered(node: Node) -> None:
    node.after(QUIET + 1.0)
    said = node.after(2 * REMINDER)
    assert said == [
        f"every answer has been UNKNOWN for {n * REMINDER:.0f} s: NO_OBSTACLES: none received"
        for n in (1, 2)
    ]
    node.senders, node.fault = {"lidar": None}, None
    node.after(REMINDER)
    node.fault = STALE
    assert node.after(REMINDER - 2.0) == []
    assert len(node.after(4.0)) == 1


def test_nothing_is_logged_while_not_active(node: Node) -> None:
    node.progress.log_transition("deactivated")
    assert node.after(0.0) == []
    assert node.after(10 * REMINDER) == []


def test_log_tells_that_it_waits_and_the_state_of_senders(start: Start) -> None:
    """At the level debug, which the service of the node sets."""
    server, bench = start("waiting", autostart=False)
    [line] = bench.until(lambda: lines(server, "autostart is false"), "the line")
    assert line.startswith("INFO autostart is false: not configured until")
    client = bench.node.create_client(SetLoggerLevels, "/waiting/set_logger_levels")
    level = LoggerLevel(name="waiting", level=LoggerLevel.LOG_LEVEL_DEBUG)
    (result,) = bench.first_reply(client, SetLoggerLevels.Request(levels=[level])).results
    assert result.successful
    for label in ("configure", "activate"):
        assert bench.transition(label)
    bench.publish(lambda: bench.array([(0, 0), (5, 0)]))
    found = bench.until(
        lambda: lines(server, "DEBUG sender 'obstacles' of 'obstacles': 2 items"), "the state"
    )
    assert re.search(
        r": 2 items, \d\.\d{3} s old; \d+ messages received, 0 dropped; used", found[0]
    )
