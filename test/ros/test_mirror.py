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
from gjk_collision.msg import CollisionState, ObstacleArray
from gjk_collision.msg import Snapshot as SnapshotMessage
from gjk_collision.srv import Collide
from rclpy.qos import QoSProfile
from server import Bench, Server

from gjk_collision.errors import InputError
from gjk_collision.ros.client import CollisionClient, Reply
from gjk_collision.ros.messages import filled
from gjk_collision.ros.mirror import CollisionMirror
from gjk_collision.ros.quality import SNAPSHOT_QOS
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.inbox import AgeLimit
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import empty_snapshot
from gjk_collision.server.frames import fields
from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.server.publication import _key
from gjk_collision.server.services import SERVICES
from gjk_collision.server.services.snapshot_message import described, obstacle_fields
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


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("seed", range(3))
def test_a_mirror_answers_as_the_node(mirrored: Any, seed: int) -> None:
    """The same bits as from the services, for the same snapshot and time."""
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
        name: bench.node.create_publisher(ObstacleArray, f"/{name}", 5)
        for name in ("lidar", "radar", "map")
    }
    said: Counter[Verdict] = Counter()
    step = compared = 0

    def publish() -> None:
        for name, publisher in publishers.items():
            now = bench.node.get_clock().now().nanoseconds
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
def test_it_is_not_free_when_the_node_finds_data_too_old(mirrored: Any) -> None:
    _, bench, mirror = mirrored("mirror_stale", **{"obstacles.timeout": 0.5})
    far = (50.0, 0.0, 0.0)
    bench.publish()
    bench.until(lambda: mirror.collide(far).verdict is Verdict.FREE, "free")
    bench.until(lambda: mirror.collide((0, 0, 0)).verdict is Verdict.COLLISION, "a collision")
    bench.stop_publishing()
    until(mirror, bench, Status.STALE_OBSTACLES)
    assert mirror.collide(far).verdict is Verdict.UNKNOWN
    assert not mirror.check_poses([far], at=bench.node.get_clock().now().nanoseconds).is_free
    bench.publish()
    until(mirror, bench, None)


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
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_judged_when_it_is_returned(
    mirrored: Any, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """The node is killed during a computation, which then lasts until its data is too old."""
    server, bench, mirror = mirrored(f"mirror_killed_{question}")
    bench.publish()
    until(mirror, bench, None)
    assert QUESTIONS[question](mirror).is_free
    names = {"collide": "Collide", "distance": "Distance", "check_path": "CheckPath"}
    used = SERVICES[names.get(question, "CheckPoses")]
    compute, computed = used.answer, []

    def slow(*arguments: Any, **options: Any) -> Any:
        found = compute(*arguments, **options)
        if not computed:
            server.stop(signal.SIGKILL)
            until(mirror, bench, Status.UNDEFINED)
        computed.append(found)
        return found

    monkeypatch.setattr(used, "answer", slow)
    reply = QUESTIONS[question](mirror)
    assert computed[0].verdict is Verdict.FREE
    assert (reply.is_free, reply.verdict) == (False, Verdict.UNKNOWN)
    assert reply.status is Status.UNDEFINED
    for each in getattr(reply, "verdicts", ()):
        assert each == Verdict.UNKNOWN


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
    finally:
        mirror.close()
        bench.close()
    fault = mirror.fault()
    assert fault is not None and fault.status is Status.NOT_ACTIVE
    assert not mirror.wait_until_complete(0.0)


@pytest.mark.requirement("V-23")
def test_superseded_snapshot_after_an_outage() -> None:
    """The first heartbeats after an outage name a newer snapshot, which is lost."""
    bench = Bench("outage")
    mirror = CollisionMirror(bench.node, "odom", server="/outage")
    source = SourceConfig("obstacles", timeout=60.0)
    run = mirroring.Run(
        Config(robot_radius=0.5, state_rate=2.0, sources=(source,)), mirroring.Frames({})
    )
    snapshots = bench.node.create_publisher(SnapshotMessage, "/outage/snapshot", SNAPSHOT_QOS)
    states = bench.node.create_publisher(CollisionState, "/outage/state", QoSProfile(depth=1))
    near = (0.0, 0.0, 0.0)
    try:

        def see(x: float) -> None:
            run.now = run.steady = bench.node.get_clock().now().nanoseconds
            corners = np.array([[x - 1, -1], [x + 1, -1], [x + 1, 1], [x - 1, 1]])
            arrays = {"ids": np.array([1]), "offsets": np.array([0, 4]), "xy": corners.ravel()}
            data = Obstacles("odom", run.now, **arrays)
            run.world.receive_obstacles("obstacles", data, **run.times)
            run.sequence += 1

        def send(*, with_snapshot: bool) -> None:
            run.now = run.steady = bench.node.get_clock().now().nanoseconds
            snapshot, run.counter = run.snapshot(), run.counter + 1
            if with_snapshot:
                snapshots.publish(filled(SnapshotMessage, described(snapshot, run.sequence)))
            state = CollisionState(counter=run.counter, snapshot_sequence=run.sequence)
            state.info.snapshot_id = snapshot.id
            state.info.config_hash = snapshot.config.hash
            state.header.stamp = bench.node.get_clock().now().to_msg()
            states.publish(state)
            bench.spin(0.02)

        def is_free() -> bool:
            send(with_snapshot=True)
            return mirror.collide(near).is_free

        see(50.0)
        bench.until(is_free, "the first snapshot")
        until(mirror, bench, Status.UNDEFINED)  # the outage
        see(0.0)

        def is_announced() -> bool:
            send(with_snapshot=False)
            assert not mirror.collide(near).is_free
            fault = mirror.fault()
            return fault is not None and fault.status is Status.SNAPSHOT_MISMATCH

        bench.until(is_announced, "a heartbeat with the newer snapshot")
        for _ in range(20):
            assert is_announced()

        def is_hit() -> bool:
            send(with_snapshot=True)
            return mirror.collide(near).verdict is Verdict.COLLISION

        bench.until(is_hit, "the newer snapshot")
    finally:
        mirror.close()
        bench.close()


@pytest.mark.requirement("V-23")
def test_three_nodes_of_one_name(mirrored: Any, start: Start) -> None:
    """No answer of a mirror is FREE while it hears all of them."""
    _, bench, mirror = mirrored("mirror_three")
    bench.publish()
    until(mirror, bench, None)
    more = [start("mirror_three")[0] for _ in range(2)]
    until(mirror, bench, Status.SNAPSHOT_MISMATCH)
    last: dict[int, int] = {}  # activation of a node -> stamp of its last heartbeat [ns]
    compared = 0

    def is_compared() -> bool:
        nonlocal compared
        last.update(
            (each.info.snapshot_id >> 32, nanoseconds(each.header.stamp)) for each in bench.states
        )
        last.pop(0, None)
        now = bench.node.get_clock().now().nanoseconds
        # A busy machine may stop nodes for longer than a mirror remembers them.
        if sum(now - stamp < 2_000_000_000 for stamp in last.values()) > 1:
            assert not mirror.collide(FAR).is_free
            compared += 1
        return len(last) == 3 and compared > 60

    bench.until(is_compared, "heartbeats of three nodes")
    for server in more:
        server.stop()
    until(mirror, bench, None)


def test_the_state_is_said_before_errors_of_the_question(mirrored: Any) -> None:
    _, bench, mirror = mirrored("mirror_state_first", autostart=False)
    until(mirror, bench, Status.NOT_ACTIVE)
    bad = (np.nan, 0.0, 0.0)
    for reply in (
        mirror.collide(bad),
        mirror.collide(FAR, footprint="nobody"),
        mirror.distance(FAR, max_distance=-1.0),
        mirror.check_poses([bad]),
        mirror.check_path([bad]),
        mirror.gradient([bad]),
    ):
        assert (reply.verdict, reply.status) == (Verdict.UNKNOWN, Status.NOT_ACTIVE)


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


@pytest.mark.requirement("V-15")
def test_each_pose_has_its_footprint(mirrored: Any) -> None:
    """At the same pose, the long vehicle hits the box, and the small one does not."""
    _, bench, mirror = mirrored(
        "mirror_footprints",
        footprint_names=["small", "long"],
        **{"small.robot_radius": 0.5, "long.robot_radius": 2.5},
    )
    bench.publish()
    until(mirror, bench, None)
    poses, names = [(-3.0, 0.0, 0.0)] * 3, ["small", "long"]
    found = mirror.check_poses(poses, footprint=names, which=[0, 1, 0])
    assert found.verdicts.tolist() == [Verdict.FREE, Verdict.COLLISION, Verdict.FREE]
    wrong = mirror.check_poses(poses, footprint=names, which=[0, 2, 0])
    assert (wrong.verdict, wrong.status) == (Verdict.UNKNOWN, Status.INVALID_INPUT)
    with pytest.raises(InputError, match="which: can only be given if footprint is a sequence"):
        mirror.check_poses(poses, which=[0, 1, 0])
    client = CollisionClient(
        bench.node, "odom", server="/mirror_footprints", executor=bench.executor, timeout=30.0
    )
    assert client.wait_for_server(60.0)
    for each in (client, mirror):
        with pytest.raises(InputError, match=r"^footprint: must have at least one name"):
            each.check_poses(poses, footprint=[])
        many = each.check_poses(poses, footprint=["small"] * 257, which=[0, 1, 2])
        assert (many.verdict, many.status) == (Verdict.UNKNOWN, Status.LIMIT_EXCEEDED)
        some = each.check_poses(poses, footprint=["small", "long", "small"], which=[0, 1, 2])
        assert some.info.footprint == "small, long"


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


def test_what_a_mirror_must_know_is_sent() -> None:
    """A fault beside that of the footprint, and the stamp of a footprint that comes again."""
    base = empty_snapshot(Config(), Fault(Status.NO_FOOTPRINT, "none"), 10**18)
    other = dataclasses.replace(base, data_fault=Fault(Status.UNKNOWN_FRAME, "frame"))
    assert _key(base) != _key(other)
    keys = {
        _key(
            dataclasses.replace(
                base, footprint_limits=(AgeLimit("footprint", 10**18 + at, 1.0, 0.0),)
            )
        )
        for at in (0, 50_000_000, 300_000_000)
    }
    assert len(keys) == 2
