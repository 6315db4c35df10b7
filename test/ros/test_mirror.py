# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A mirror of a live node gives its answers, and is never free when the node cannot answer."""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("rosbags", reason="rosbags is not installed")
sys.path.insert(0, str(Path(__file__).parents[1] / "lib"))

import mirroring
import rclpy
from gjk_collision.msg import ObstacleArray
from gjk_collision.srv import Collide
from sensor_msgs.msg import LaserScan
from server import Bench, Server

from gjk_collision.errors import InputError
from gjk_collision.ros.client import CollisionClient, Reply
from gjk_collision.ros.messages import filled
from gjk_collision.ros.mirror import CollisionMirror
from gjk_collision.server.frames import fields
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.services import SERVICES
from gjk_collision.server.services.snapshot_message import obstacle_fields
from gjk_collision.verdict import Status, Verdict

Start = Callable[..., tuple[Server, Bench]]
# Fields that depend on when it was asked.
NOT_COMPARED = {"info", "round_trip"}


@pytest.fixture
def mirrored(start: Start) -> Iterator[Callable[..., tuple[Server, Bench, CollisionMirror]]]:
    """Start a server with a mirror; both end with the test.

    The mirror waits 1.5 s for a heartbeat, because a busy machine sends some late.
    """
    mirrors = []

    def make(name: str, **parameters: Any) -> tuple[Server, Bench, CollisionMirror]:
        server, bench = start(name, **{"state_rate": 2.0, **parameters})
        mirrors.append(CollisionMirror(bench.node, "odom", server=f"/{name}"))
        return server, bench, mirrors[-1]

    yield make
    for each in mirrors:
        each.close()


def bits(reply: Reply) -> dict[str, Any]:
    """What must be equal, bit by bit."""
    found = {}
    for each in dataclasses.fields(reply):
        value = getattr(reply, each.name)
        if each.name not in NOT_COMPARED:
            found[each.name] = value.tobytes() if isinstance(value, np.ndarray) else value
            if isinstance(value, float):
                found[each.name] = np.float64(value).tobytes()
    return found


def until(mirror: CollisionMirror, bench: Bench, status: Status | None) -> None:
    """Spin until the mirror has a fault of this status; None: no fault."""

    def seen() -> bool:
        fault = mirror.fault()
        return (fault and fault.status) == status

    bench.until(seen, f"the mirror has the status {status}")


def scan(rng: np.random.Generator, stamp: int) -> dict[str, Any]:
    """Return the fields of a scan of the whole circle, of beams that are long enough."""
    ranges = np.float32(rng.uniform(5.0, 40.0, 90))
    limits = {"angle_increment": 0.07, "angle_max": 6.23, "range_min": 0.1, "range_max": 50.0}
    return {"header": {"frame_id": "odom", "stamp": stamp}, "ranges": ranges, **limits}


@pytest.mark.requirement("V-23")
def test_a_mirror_answers_as_the_node(mirrored: Any) -> None:
    """The same bits as from the services, for the same snapshot and time."""
    seed = 1
    rng = np.random.default_rng(seed)
    config = mirroring.some_config(rng).changed({"map.static": False})
    frames = mirroring.some_frames(rng)
    values = {name: v for name, v in config.parameters().items() if v not in ((), "")}
    values = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
    if not config.footprint and not config.robot_radius:
        values["robot_radius"] = 0.7
    values |= {f"{each.name}.timeout": 20.0 for each in config.sources}
    values |= {"time_budget": 2.0, "footprint": values.get("footprint")}
    _, bench, mirror = mirrored("live_mirror", **values)
    client = CollisionClient(
        bench.node, "odom", server="/live_mirror", timeout=10.0, executor=bench.executor
    )
    publishers = {
        each.name: bench.node.create_publisher(
            LaserScan if each.marks_seen else ObstacleArray, f"/{each.name}", 5
        )
        for each in config.sources
    }
    said: Counter[Verdict] = Counter()
    step = compared = 0

    def publish() -> None:
        for name, publisher in publishers.items():
            now = bench.node.get_clock().now().nanoseconds
            if publisher.msg_type is LaserScan:
                publisher.publish(filled(LaserScan, scan(rng, now)))
                continue
            data = mirroring.some_obstacles(rng, now, frames, 0, "")
            data = dataclasses.replace(data, frame="odom")
            publisher.publish(filled(ObstacleArray, obstacle_fields(name, data)))

    def is_complete() -> bool:
        publish()
        return mirror.fault() is None

    bench.until(is_complete, f"a complete snapshot of {values}")

    def is_compared() -> bool:
        nonlocal step, compared
        publish()
        if step == 20:
            margin = config.safety_margin + 0.05
            assert bench.set(safety_margin=margin).successful
        poses = np.c_[rng.uniform(-14, 14, (40, 2)), rng.uniform(-3, 3, 40)]
        times = np.cumsum(rng.uniform(0.01, 0.2, 40)) if rng.random() < 0.5 else ()
        pose = tuple(poses[0])
        mode = ("collide", "distance", "witness")[step % 3]
        questions: list[tuple[str, Any, dict[str, Any]]] = [
            ("check_poses", poses, {"times": times, "margin": 0.1, "mode": mode}),
            ("check_path", poses[:5], {"times": times[:5]}),
            ("distance", pose, {"k": 3}),
            ("collide", pose, {"margin": 0.1}),
        ]
        for name, what, options in questions:
            theirs = getattr(client, name)(what, **options)
            assert theirs.round_trip < 10.0, theirs.message
            ours = getattr(mirror, name)(what, **options, at=theirs.info.stamp_ns)
            if ours.info.snapshot_id != theirs.info.snapshot_id or mirror.fault() is not None:
                continue  # another message was received in between, or is under way
            if ours.status is Status.UNDEFINED:
                continue  # no heartbeat was received for too long
            compared += 1
            said[ours.verdict] += 1
            assert bits(ours) == bits(theirs), (seed, step, name)
            assert ours.info.config_hash == theirs.info.config_hash
            assert ours.info.oldest_data_stamp_ns == theirs.info.oldest_data_stamp_ns
        step += 1
        return step > 30 and compared >= 60

    # On a busy machine, a message often comes between the two answers.
    bench.until(is_compared, "60 answers for the same snapshot", 300.0)
    assert said[Verdict.COLLISION] > 5, said


@pytest.mark.requirement("V-23")
def test_a_mirror_uses_the_yaw_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request has a quaternion: the yaw that the node reads from it is often another one."""
    seed = 11
    rng = np.random.default_rng(seed)
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("asker", context=context)
    client = CollisionClient(node, "odom")
    mirror = CollisionMirror(node, "odom", own_thread=False)
    monkeypatch.setattr(mirror, "_fault_of", lambda asked: None)
    used: list[Pose] = []

    def note(asked: Any, *more: Any) -> Any:
        used.append(asked.pose)
        raise InputError(Status.INVALID_INPUT, "pose", None, "is noted")

    for name in ("Collide", "Distance", "NearestFree"):
        monkeypatch.setattr(SERVICES[name], "answer", note)

    def sent(pose: Any) -> Any:
        return client._message(Collide, {"pose": pose}).pose.pose

    yaws = [*rng.uniform(-np.pi, np.pi, 2000), *rng.uniform(-50, 50, 500), np.pi, -np.pi, 0.0]
    others = 0
    for yaw in map(float, yaws):
        pose = (1.0, 2.0, yaw)
        wanted = fields.pose(sent(pose), "pose")
        used.clear()
        mirror.collide(pose)
        mirror.distance(pose)
        mirror.nearest_free(pose, 1.0)
        assert [np.float64(each).tobytes() for each in used] == [
            np.float64(wanted).tobytes()
        ] * 3, (seed, yaw)
        others += wanted.yaw != yaw
    assert others > 500, "the yaws of this test are not changed"
    for bad in ((np.inf, 0.0, 0.0), (0.0, 0.0, np.inf), (0.0, 0.0, np.nan)):
        with pytest.raises(InputError) as refused:
            fields.pose(sent(bad), "pose")
        assert mirror.collide(bad).message == str(refused.value)
    mirror.close()
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.requirement("V-23")
def test_it_follows_the_state_of_the_node(mirrored: Any) -> None:
    _, bench, mirror = mirrored("mirror_states")
    near = (2.25, 0.0, 0.0)
    bench.publish()
    until(mirror, bench, None)
    assert mirror.collide(near).is_free
    assert bench.set(safety_margin=0.5).successful
    bench.until(lambda: mirror.collide(near).verdict is Verdict.MARGIN, "the new margin is used")
    assert bench.transition("deactivate")
    until(mirror, bench, Status.NOT_ACTIVE)
    before = mirror.collide(near)
    assert (before.verdict, before.status) == (Verdict.UNKNOWN, Status.NOT_ACTIVE)
    assert bench.transition("activate")
    until(mirror, bench, None)


@pytest.mark.requirement("V-23")
def test_a_node_that_stands_still_or_ends(mirrored: Any, start: Start) -> None:
    server, bench, mirror = mirrored("mirror_lost", **{"obstacles.timeout": 60.0})
    far = (50.0, 0.0, 0.0)
    bench.publish()
    until(mirror, bench, None)
    server.process.send_signal(signal.SIGSTOP)
    until(mirror, bench, Status.UNDEFINED)  # although its data is fresh for a minute
    assert not mirror.collide(far).is_free
    server.process.send_signal(signal.SIGCONT)
    until(mirror, bench, None)
    first = mirror.collide(far).info.snapshot_id
    server.stop()
    until(mirror, bench, Status.UNDEFINED)
    start("mirror_lost", **{"obstacles.timeout": 60.0})
    until(mirror, bench, None)
    assert mirror.collide(far).info.snapshot_id >> 32 != first >> 32


FAR = (50.0, 0.0, 0.0)
QUESTIONS = {
    "collide": lambda mirror: mirror.collide(FAR),
    "distance": lambda mirror: mirror.distance(FAR),
    "check_poses": lambda mirror: mirror.check_poses([FAR] * 3, mode="distance"),
    "check_path": lambda mirror: mirror.check_path([FAR, (51.0, 0.0, 0.0)]),
    "gradient": lambda mirror: mirror.gradient([FAR] * 3),
}


@pytest.mark.requirement("V-23")
def test_an_answer_is_judged_when_it_is_returned(
    mirrored: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node is deactivated during a computation, of each question in turn."""
    _, bench, mirror = mirrored("mirror_interrupted")
    bench.publish()
    computed: list[Verdict] = []

    def slow(compute: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*arguments: Any, **options: Any) -> Any:
            found = compute(*arguments, **options)
            if not computed:
                assert bench.transition("deactivate")
                until(mirror, bench, Status.NOT_ACTIVE)
            computed.append(found.verdict)
            return found

        return answer

    names = {"collide": "Collide", "distance": "Distance", "check_path": "CheckPath"}
    for question, ask in QUESTIONS.items():
        until(mirror, bench, None)
        used = SERVICES[names.get(question, "CheckPoses")]
        computed.clear()
        with monkeypatch.context() as patch:
            patch.setattr(used, "answer", slow(used.answer))
            reply = ask(mirror)
        assert computed[0] is Verdict.FREE
        assert not reply.is_free, question
        assert (reply.verdict, reply.status) == (Verdict.UNKNOWN, Status.NOT_ACTIVE)
        assert {*getattr(reply, "verdicts", ())} <= {Verdict.UNKNOWN}
        assert bench.transition("activate")


def test_one_footprint_where_one_is_asked_for_and_none_after_close() -> None:
    bench = Bench("names")
    mirror = CollisionMirror(bench.node, "odom", server="/names")
    try:
        for wrong in (["small", "big"], [], None, 3, True):
            for ask in (mirror.collide, mirror.distance):
                with pytest.raises(InputError, match="footprint"):
                    ask((0.0, 0.0, 0.0), footprint=wrong)  # type: ignore[arg-type]
            for ask_many in (mirror.check_path, mirror.gradient):
                with pytest.raises(InputError, match="footprint"):
                    ask_many([(0.0, 0.0, 0.0)], footprint=wrong)  # type: ignore[arg-type]
        for wrong in (None, 3, True):
            with pytest.raises(InputError, match="footprint"):
                mirror.check_poses([(0.0, 0.0, 0.0)], footprint=wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="which: can only be given if footprint is a seq"):
            mirror.check_poses([(0.0, 0.0, 0.0)], which=[0])
    finally:
        mirror.close()
        bench.close()
    fault = mirror.fault()
    assert fault is not None and fault.status is Status.NOT_ACTIVE
    assert not mirror.wait_until_complete(0.0)


def test_questions_that_are_refused(mirrored: Any) -> None:
    """As the client says it: a wrong value is UNKNOWN with the status of the server."""
    _, bench, mirror = mirrored("mirror_refusals", max_poses=10)
    bench.publish()
    until(mirror, bench, None)
    far = (50.0, 0.0, 0.0)
    many = mirror.check_poses([far] * 11)
    assert many.status is Status.LIMIT_EXCEEDED
    assert many.verdicts.tolist() == [Verdict.UNKNOWN] * 11
    assert many.first_invalid_index == 0
    names = ["default"] * 257
    assert mirror.check_poses([far], footprint=names, which=[0]).status is Status.LIMIT_EXCEEDED
    path = mirror.check_path([far, far], times=[1.0, 1.0])
    assert (path.status, path.first_invalid_segment) == (Status.INVALID_INPUT, 0)
    assert mirror.collide((np.nan, 0.0, 0.0)).status is Status.NON_FINITE
    wrong = mirror.collide(far, footprint="trailer")
    assert wrong.status is Status.INVALID_INPUT
    other = mirror.check_poses([far], require_snapshot_id=1)
    assert other.status is Status.SNAPSHOT_MISMATCH
    later = mirror.collide(far, at=bench.node.get_clock().now().nanoseconds + 10**11)
    assert later.status is Status.STALE_OBSTACLES
    assert np.isnan(mirror.gradient([far], at=2**62).gradient_distances).all()
    found = mirror.gradient([far, (5.0, 0.0, 0.0)], k=2)
    assert found.verdict is Verdict.FREE
    assert found.gradient_distances[1, 0] == pytest.approx(3.0)
    assert found.gradients[1, 0, :2].tolist() == pytest.approx([1.0, 0.0])
    elsewhere = CollisionMirror(bench.node, "map", server="/mirror_refusals")
    try:
        until(elsewhere, bench, None)
        assert elsewhere.collide(far).status is Status.UNKNOWN_FRAME
        assert elsewhere.collide(far, frame_pose=(1.0, 2.0, 3.0)).is_free
        assert not elsewhere.collide(far, frame_pose=(-50.0, 0.0, 0.0)).is_free
    finally:
        elsewhere.close()
    closed = elsewhere.collide(far, frame_pose=(1.0, 2.0, 3.0))
    assert (closed.verdict, closed.status) == (Verdict.UNKNOWN, Status.NOT_ACTIVE)
    assert bench.transition("deactivate")
    until(mirror, bench, Status.NOT_ACTIVE)
    bad = (np.nan, 0.0, 0.0)
    for reply in (
        mirror.collide(far, footprint="nobody"),
        mirror.distance(far, max_distance=-1.0),
        *(ask([bad]) for ask in (mirror.check_poses, mirror.check_path, mirror.gradient)),
    ):  # the state is said before errors of the question
        assert (reply.verdict, reply.status) == (Verdict.UNKNOWN, Status.NOT_ACTIVE)


def test_nothing_is_sent_without_a_subscriber(start: Start) -> None:
    _, bench = start("no_mirror")
    bench.publish()
    bench.until_status(Verdict.FREE, Status.SUCCESS)
    bench.states.clear()
    bench.until(lambda: len(bench.states) > 5, "heartbeats")
    assert {state.snapshot_sequence for state in bench.states} == {0}
    mirror = CollisionMirror(bench.node, "odom", server="/no_mirror", own_thread=False)
    until(mirror, bench, None)
    bench.until(lambda: bench.states[-1].snapshot_sequence > 0, "a sequence number")
    mirror.close()
