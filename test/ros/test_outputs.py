# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person or a monitor sees of the server: diagnostics, markers, snapshots, names."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from gjk_collision.msg import ObstacleArray
from gjk_collision.srv import GetSnapshot
from server import BOX, Bench, Server, doubles, said
from visualization_msgs.msg import Marker, MarkerArray

from gjk_collision import _core
from gjk_collision.ros.diagnostics import Diagnostics
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]


def hear(bench: Bench, kind: Any, topic: str) -> list[Any]:
    """A list that fills with the messages of a topic."""
    heard: list[Any] = []
    bench.node.create_subscription(kind, topic, heard.append, 10)
    return heard


def test_diagnostics_say_how_each_part_is(start: Start) -> None:
    """A monitor must see which part is ill, and in which way, without asking."""
    _, bench = start(
        "ill",
        **{
            "base_frame": "odom",
            "obstacle_sources": ["obstacles", "radar"],
            "radar.required": False,
        },
    )
    heard = hear(bench, DiagnosticArray, "/diagnostics")

    def levels() -> dict[str, tuple[bytes, str]]:
        said_last = heard[-1].status if heard else []
        return {each.name.removeprefix("ill: "): (each.level, each.message) for each in said_last}

    bench.publish()
    bench.until(lambda: levels().get("obstacles") == (DiagnosticStatus.OK, "used"), "used")
    hit = DiagnosticStatus.WARN, "COLLISION / SUCCESS"  # of the last heartbeat, which may be older
    bench.until(lambda: levels()["verdict"] == hit, "verdict")
    assert {each.hardware_id for each in heard[-1].status} == {"/ill"}
    now = levels()
    assert now["footprint"][0] == DiagnosticStatus.OK
    assert now["frames"][0] == DiagnosticStatus.OK
    assert now["kernel"] == (DiagnosticStatus.OK, "self-test passed")
    assert now["radar"][0] == DiagnosticStatus.WARN  # excused
    assert "NO_OBSTACLES" in now["radar"][1]
    assert now["radar"][1].endswith("; the topic has no publisher")
    bench.stop_publishing()
    bench.until(lambda: levels()["obstacles"][0] == DiagnosticStatus.ERROR, "stale")
    assert levels()["obstacles"][1].startswith("STALE_OBSTACLES")
    stale = DiagnosticStatus.ERROR, "UNKNOWN / STALE_OBSTACLES"
    bench.until(lambda: levels()["verdict"] == stale, "verdict")


def test_diagnostics_say_what_an_unknown_pose_affects(start: Start) -> None:
    """Planners are answered FREE without it, so ERROR alone would be a riddle."""
    _, bench = start("unplaced")
    heard = hear(bench, DiagnosticArray, "/diagnostics")

    def affected() -> str:
        for status in heard[-1].status if heard else []:
            if status.name == "unplaced: verdict":
                return {each.key: each.value for each in status.values}["affected"]
        return ""

    bench.until(lambda: "no answer is FREE" in affected(), "no data")
    bench.publish()
    bench.until_status(Verdict.FREE, Status.SUCCESS)
    bench.until(lambda: "requests in 'odom' are answered" in affected(), "pose")
    by_pose = "~/state, and ~/collide, ~/distance and ~/nearest_free without a frame"
    assert affected().startswith(by_pose)
    [frames] = [each for each in heard[-1].status if each.name == "unplaced: frames"]
    assert frames.level == DiagnosticStatus.ERROR
    assert frames.message.endswith(f"affected: {by_pose}")
    assert said(bench.collide()) == (Verdict.FREE, Status.SUCCESS)
    assert said(bench.collide(frame=""))[0] is Verdict.UNKNOWN
    assert said(bench.states[-1])[0] is Verdict.UNKNOWN
    bench.transition("deactivate")
    bench.until(lambda: affected() == "all requests except ~/check_shapes", "not active")
    [frames] = [each for each in heard[-1].status if each.name == "unplaced: frames"]
    assert frames.level == DiagnosticStatus.WARN


def test_markers_while_somebody_looks(start: Start) -> None:
    _, bench = start("shown", base_frame="odom", safety_margin=1.0)
    heard = hear(bench, MarkerArray, "/shown/markers")
    bench.publish(lambda: bench.array([(5, 0), (0, 2.5)]))
    bench.until(lambda: bench.states and bench.states[-1].verdict.verdict == 3, "margin")
    heard.clear()

    def known() -> Any:  # not a picture of obstacles that were late
        return heard and "warning" not in {each.ns for each in heard[-1].markers} and heard[-1]

    picture = bench.until(known, "markers")
    markers = {each.ns: each for each in picture.markers}
    assert set(markers) == {"", "footprint", "obstacles", "witness"}
    assert picture.markers[0].action == Marker.DELETEALL
    assert all(each.header.frame_id == "odom" for each in markers.values())
    obstacles = markers["obstacles"]
    assert len(obstacles.points) == len(obstacles.colors) == 16
    green, amber = obstacles.colors[0], obstacles.colors[8]
    assert green.g > green.r and amber.r > amber.g
    ends = {(p.x, p.y) for p in markers["witness"].points}
    assert {y for _, y in ends} == {1.0, 1.5}
    assert bench.check_poses([50.0, 0.0, 0.0, 5.0, 0.0, 0.0]).first_invalid_index == 1

    def shown() -> Any:  # not in a message that was under way before the request
        return heard and [each for each in heard[-1].markers if each.ns == "first_collision"]

    (hit,) = bench.until(shown, "the first collision")
    assert {p.x for p in hit.points} == {4.0, 6.0}
    bench.stop_publishing()

    def warning() -> Any:
        texts = [each.text for array in heard for each in array.markers if each.ns == "warning"]
        return texts and texts[-1]

    assert bench.until(warning, "a warning").startswith("STALE_OBSTACLES")
    last = {each.ns: each for each in heard[-1].markers}
    if last["obstacles"].colors:  # nothing looks free that is not known to be
        assert all(each.g == each.r for each in last["obstacles"].colors)


def test_snapshot_as_it_is_used(start: Start) -> None:
    _, bench = start("known")

    def make() -> ObstacleArray:
        message = bench.array([(0, 0), (9, 0)])
        message.radius = doubles([0.0, 0.5])
        message.velocities = doubles([0, 0, 0, 1, 2, 3])
        return message

    reply = bench.call("get_snapshot", GetSnapshot.Request())
    assert said(reply) == (Verdict.UNKNOWN, Status.NO_OBSTACLES)
    assert list(reply.footprint.xy) == BOX  # what is known is given anyway
    bench.publish(make)
    bench.until_status(*FREE)
    bench.stop_publishing()
    reply = bench.call("get_snapshot", GetSnapshot.Request())
    assert said(reply) == (Verdict.UNKNOWN, Status.SUCCESS)
    assert reply.info.snapshot_id > 0
    assert reply.footprint.header.frame_id == "base_link"
    (obstacles,) = reply.obstacles
    sent = make()
    assert obstacles.header.frame_id == "odom"
    assert obstacles.source == "obstacles"
    for name in ("ids", "offsets", "xy", "radius", "velocities", "poses"):
        assert getattr(obstacles, name) == getattr(sent, name), name
    request = GetSnapshot.Request(snapshot_id=10**6)
    assert said(bench.call("get_snapshot", request))[1] is Status.SNAPSHOT_MISMATCH


@pytest.mark.requirement("V-16")
def test_free_without_its_lower_bound_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    node: Any = SimpleNamespace(_server=SimpleNamespace(errors=0))
    (status,) = Diagnostics._kernel(node)
    assert status.level == DiagnosticStatus.OK
    monkeypatch.setattr(_core, "internal_errors", lambda: 3)
    (status,) = Diagnostics._kernel(node)
    assert status.level == DiagnosticStatus.ERROR
    assert "WRONG RESULTS" in status.message
    assert "3" in [each.value for each in status.values]


def test_all_names_follow_the_namespace(start: Start) -> None:
    """Two vehicles on one network must not hear each other: /diagnostics and /tf are shared."""
    _, bench = start("own", __ns="/robot7")
    node = bench.node

    def names() -> set[str]:
        found = [
            *node.get_publisher_names_and_types_by_node("own", "/robot7"),
            *node.get_subscriber_names_and_types_by_node("own", "/robot7"),
            *node.get_service_names_and_types_by_node("own", "/robot7"),
        ]
        return {name for name, _ in found}

    def complete() -> bool:
        try:
            return "/robot7/obstacles" in names()
        except Exception:  # not discovered yet
            return False

    bench.until(complete, "the node's names")
    shared = {"/diagnostics", "/rosout", "/parameter_events", "/clock", "/tf", "/tf_static"}
    assert {name for name in names() if not name.startswith("/robot7/")} <= shared
