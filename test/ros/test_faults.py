# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around the server, or inside it, costs an answer and never the node."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

import rclpy
from builtin_interfaces.msg import Time
from gjk_collision.msg import ObstacleArray
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from server import BOX, Bench, Server, doubles, said
from std_srvs.srv import Trigger

from gjk_collision import srv
from gjk_collision.ros.mirror import CollisionMirror
from gjk_collision.ros.node import CollisionServer
from gjk_collision.server import server as server_module
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.pauses import steady_time
from gjk_collision.server.services import RECORDED
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]


@contextmanager
def serving(name: str, **parameters: Any) -> Iterator[tuple[CollisionServer, Bench]]:
    """A server in this process, so that a test can break what is inside it."""
    bench = Bench(name)
    server = CollisionServer(
        context=bench.context,
        cli_args=["--ros-args", "-r", f"__node:={name}"],
        parameter_overrides=[
            Parameter(key, value=value) for key, value in {"footprint": BOX, **parameters}.items()
        ],
    )
    server.start()
    bench.executor.add_node(server)
    yield server, bench
    server.destroy_node()
    bench.close()


@pytest.fixture
def inside() -> Iterator[tuple[CollisionServer, Bench]]:
    """A server that answers FREE, with limits for a busy machine."""
    limits = {"obstacles.timeout": 10.0, "time_budget": 1.0}
    with serving("inside", **limits) as (server, bench):
        bench.publish()
        bench.until_status(*FREE)
        yield server, bench


NONE = {
    "obstacle_id": -1,
    "obstacle_source": "",
    "nearest_id": -1,
    "nearest_source": "",
    "first_invalid_segment": 0,
    "first_invalid_index": 0,
    "last_valid_fraction": 0.0,
    "snapshot_sequence": 0,
}
NAN = {
    "first_collision_time", "min_distance", "min_distance_lower_bound", "distance",
    "distance_lower_bound", "shift", "time_to_collision", "turn",
}  # fmt: skip


def has_the_none_of_each_field(reply: Any) -> None:
    """Assert that a reply or heartbeat without an answer has nothing that reads as one."""
    for name in reply.get_fields_and_field_types():
        value = getattr(reply, name)
        if name in NAN:
            assert np.isnan(value), name
        elif name.startswith("witness_") and hasattr(value, "x"):
            assert np.isnan([value.x, value.y]).all(), name
        elif name == "direction":
            assert (value.x, value.y) == (0.0, 0.0), name
        elif name in NONE:
            assert value == NONE[name], name
        elif hasattr(value, "__len__"):
            assert len(value) == 0, name
        else:
            known = {"is_free", "verdict", "info", "compute_time", "footprint", "header"}
            assert name in known | {"counter", "epoch"}, name


@pytest.mark.requirement("V-13")
def test_request_that_is_refused_has_the_none_of_each_field(
    inside: tuple[CollisionServer, Bench],
) -> None:
    _, bench = inside
    bad = ObstacleArray(offsets=array("I", [0, 9]))
    for reply in (
        bench.collide(margin=-1.0),
        bench.collide(frame="nowhere"),
        bench.distance(max_distance=-1.0),
        bench.check_poses([50.0, 0]),
        bench.check_poses([50.0, 0, 0], frame="nowhere"),
        bench.check_path([50.0, 0, 0], tolerance=-1.0),
        bench.call("check_shapes", srv.CheckShapes.Request(a=bad, b=bad)),
    ):
        assert reply.verdict.verdict == Verdict.UNKNOWN
        assert reply.verdict.status > Status.SUCCESS
        has_the_none_of_each_field(reply)


@pytest.mark.requirement("V-13")
@pytest.mark.requirement("N-2")
def test_error_inside_is_answered_and_survived(
    inside: tuple[CollisionServer, Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, bench = inside

    def fail(*_: Any, **__: Any) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch:
        for each in RECORDED.values():
            patch.setattr(each, "answer", fail)
        patch.setattr(server_module, "state", fail)
        batch = [50.0, 0, 0]
        for reply in (
            bench.collide(),
            bench.distance(),
            bench.check_poses(batch),
            bench.check_path(batch),
        ):
            assert said(reply) == (Verdict.UNKNOWN, Status.INTERNAL_ERROR)
            assert not reply.is_free
            assert reply.info.snapshot_id > 0
            has_the_none_of_each_field(reply)
        bench.until(
            lambda: bench.states and said(bench.states[-1])[1] is Status.INTERNAL_ERROR, "state"
        )
        has_the_none_of_each_field(bench.states[-1])
    assert server.server.errors >= 5
    assert said(bench.collide()) == FREE


class Drifting:
    """Knows one frame, a metre further each time that it is asked for the newest pose."""

    def __init__(self) -> None:
        self.asked = 0

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        self.asked += source == "lidar"  # not the heartbeat
        return self.lookup(target, source, 0), time.time_ns()

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        return Pose(float(self.asked), 0.0, 0.0)


def test_a_hit_is_shown_at_the_poses_that_were_answered(
    inside: tuple[CollisionServer, Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The frame of the request moves on between the answer and the markers."""
    server, bench = inside
    hits: list[Pose] = []
    frames = Drifting()
    monkeypatch.setattr(server.server, "transforms", frames)
    monkeypatch.setattr(server, "note_hit", hits.append)
    wanted = Verdict.COLLISION, Status.SUCCESS
    for ask in (bench.check_poses, bench.check_path):

        def is_answered(ask: Callable[..., Any] = ask) -> bool:
            hits.clear()
            before = frames.asked
            reply = ask([0.0] * 6, frame="lidar")
            assert frames.asked == before + 1
            return said(reply) == wanted  # else the pose became too old on a busy machine

        bench.until(is_answered, f"{ask.__name__}: {wanted}")
        assert hits and {pose.x for pose in hits} == {frames.asked}


@pytest.mark.requirement("N-2")
def test_a_hit_that_cannot_be_shown_does_not_cost_the_reply(
    inside: tuple[CollisionServer, Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arcs after the horizon may be out of range; and the display may have any error."""
    server, bench = inside
    far = {"arcs": doubles([0.0, 8.0, 0.0, 1e15]), "times": doubles([0.0, 1.0, 100.0])}
    assert said(bench.check_path([0, 0, 0], **far))[0] is not Verdict.FREE

    def fail(*_: Any, **__: Any) -> Any:
        raise KeyError("lost")

    monkeypatch.setattr(server, "note_hit", fail)
    assert said(bench.check_path([-50.0, 0, 0, 50.0, 0, 0]))[0] is Verdict.COLLISION
    monkeypatch.setattr(
        RECORDED["Collide"], "is_large", property(fail)
    )  # before the request is looked at
    reply = bench.collide()
    assert said(reply) == (Verdict.UNKNOWN, Status.INTERNAL_ERROR)
    assert not reply.is_free


@pytest.mark.requirement("D-12")
def test_the_time_at_which_a_message_was_sent_is_read(
    inside: tuple[CollisionServer, Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It decides how old a message is that is read long after a pause of the process."""
    server, bench = inside
    bench.stop_publishing()
    earliest, noted = server.server.earliest, list[int]()
    monkeypatch.setattr(
        server.server, "earliest", lambda sent: noted.append(sent) or earliest(sent)
    )
    begin = steady_time()
    bench.obstacles.publish(bench.array())
    sent = steady_time()
    while steady_time() < sent + 50_000_000:  # this thread is the one that reads
        pass
    bench.until(lambda: noted and noted[-1] > begin - 1_000_000, "the message")
    assert noted[-1] < sent + 10_000_000


def busy(*_: Any) -> None:
    raise RuntimeError("busy")


@pytest.mark.requirement("N-1")
def test_a_release_that_fails_leaves_no_data(
    inside: tuple[CollisionServer, Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, bench = inside

    with monkeypatch.context() as patch:
        patch.setattr(server, "destroy_subscription", busy)
        with pytest.raises(RuntimeError):
            server._release("released")
    assert said(bench.collide()) == (Verdict.UNKNOWN, Status.NOT_ACTIVE)


def test_a_reset_that_fails_gets_a_reply(
    inside: tuple[CollisionServer, Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, bench = inside

    monkeypatch.setattr(server, "_receive_last_again", busy)
    reply = bench.call("reset", Trigger.Request())
    assert (reply.success, reply.message) == (False, "RuntimeError('busy')")


def test_a_live_change_does_not_delay_the_heartbeat(
    inside: tuple[CollisionServer, Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, bench = inside
    timer = server._heartbeat
    assert bench.set(safety_margin=0.1).successful
    assert server._heartbeat is timer
    assert bench.set(state_rate=20.0).successful
    assert server._heartbeat is not timer


@pytest.mark.requirement("N-3")
def test_time_budget_is_kept(start: Start) -> None:
    """10 000 poses cannot be done in a millisecond: the rest is UNKNOWN, and soon."""
    _, bench = start("hasty", time_budget=0.001, **{"obstacles.timeout": 5.0})
    grid = [(4 * (i % 32), 4 * (i // 32)) for i in range(1000)]
    bench.publish(lambda: bench.array(grid), rate=5.0)
    bench.until_status(*FREE, x=-50.0)
    poses = np.random.default_rng(3).uniform(-3, 3, (10_000, 3))
    poses[:, 0] -= 20.0
    reply = bench.check_poses(poses, mode=srv.CheckPoses.Request.MODE_WITNESS)
    assert said(reply) == (Verdict.UNKNOWN, Status.TIME_BUDGET), reply.verdict
    assert len(reply.verdicts) == 10_000
    late = np.array(reply.statuses) == Status.TIME_BUDGET
    assert late.sum() > 5_000, "and soon, on any machine"
    assert not np.array(reply.verdicts)[late].any()


@pytest.mark.requirement("D-8")
def test_clock_that_steps_back_and_forth_between_two_readings() -> None:
    """The data is deleted although the clock shows its old time again."""
    with serving("stepping", use_sim_time=True, **{"obstacles.timeout": 60.0}) as (server, bench):
        publisher = bench.node.create_publisher(Clock, "/clock", 10)
        first = Time(sec=100)

        def seen() -> ObstacleArray:
            publisher.publish(Clock(clock=first))
            message = bench.array()
            message.header.stamp = first
            return message

        bench.publish(seen)
        bench.until_status(*FREE)
        bench.stop_publishing()
        last = bench.array([(0.0, 0.0), (90.0, 0.0)])
        last.header.stamp = Time(sec=100, nanosec=1)
        bench.obstacles.publish(last)  # after it, no message is on its way
        bench.until(lambda: server.server.reports()[-1].count == 2, "the last message")
        clock = server.get_clock()
        now = clock.now()
        for each in (now - Duration(seconds=3), now):
            clock.set_ros_time_override(each)
        assert said(bench.collide()) == (Verdict.UNKNOWN, Status.CLOCK_JUMP)
        bench.publish(seen)
        bench.until_status(*FREE)


@pytest.mark.requirement("D-8")
def test_a_negative_time_on_the_clock_is_a_step_back(start: Start) -> None:
    """rclpy raises for it. Neither the node nor a mirror ends."""
    _, bench = start("negative", use_sim_time=True, **{"obstacles.timeout": 60.0})
    publisher = bench.node.create_publisher(Clock, "/clock", 10)
    ticks = count()
    time = [Parameter("use_sim_time", value=True)]
    planner = rclpy.create_node("planner", context=bench.context, parameter_overrides=time)
    mirror = CollisionMirror(planner, "odom", server="/negative")

    def seen() -> ObstacleArray:
        message = bench.array()
        second, tick = divmod(next(ticks), 50)
        message.header.stamp = Time(sec=100 + second, nanosec=20_000_000 * tick)
        publisher.publish(Clock(clock=message.header.stamp))
        return message

    for _ in range(2):
        bench.publish(seen)
        bench.until_status(*FREE)
        bench.until(lambda: mirror.fault() is None, "a mirror that is complete")
        bench.stop_publishing()
        # A message of /clock may be lost: who listens to it asks for best effort.
        back = bench.node.create_timer(0.1, lambda: publisher.publish(Clock(clock=Time(sec=-1))))
        bench.until_status(Verdict.UNKNOWN, Status.CLOCK_JUMP)
        bench.until(lambda: not mirror.collide((50.0, 0.0, 0.0)).is_free, "a mirror that knows it")
        bench.node.destroy_timer(back)
    mirror.close()


# ---- bytes that are no message


def spoilt(data: bytes, rng: random.Random) -> bytes:
    """Random bytes, or good ones with some changed, cut off or put in."""
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(data[:4]) + rng.randbytes(rng.randrange(400))
    changed = bytearray(data)
    if kind == 1:
        return bytes(changed[: rng.randrange(4, len(changed))])
    for _ in range(rng.randrange(1, 12)):
        where = rng.randrange(4, len(changed))
        if kind == 2:
            changed[where] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        else:
            changed[where : where + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, rng.randbytes(4)])
    return bytes(changed)


@pytest.mark.requirement("N-7")
def test_random_bytes_on_a_topic(start: Start) -> None:
    """Sent as they are over the network; afterwards the node is as good as before."""
    server, bench = start("pelted", footprint=[])
    good = bench.array([(0, 0), (5, 5)])
    timer = bench.node.create_timer(0.1, lambda: bench.footprint.publish(bench.outline()))
    bench.publish()
    bench.until_status(*FREE)
    bench.stop_publishing()
    bench.node.destroy_timer(timer)
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(300):
        bench.obstacles.publish(spoilt(serialize_message(good), rng))
        bench.footprint.publish(spoilt(serialize_message(bench.outline()), rng))
        reply = bench.collide(0.0)
        assert not reply.is_free, f"seed {seed}"  # the last good obstacle is at (0, 0)
        assert server.process.poll() is None, f"seed {seed}"
    bench.node.create_timer(0.1, lambda: bench.footprint.publish(bench.outline()))
    bench.publish()
    bench.call("reset", Trigger.Request())  # of senders whose names were random bytes
    bench.until_status(*FREE)


@pytest.mark.requirement("N-7")
def test_random_bytes_as_requests(inside: tuple[CollisionServer, Bench]) -> None:
    """What can be read at all is answered, and consistently; the rest is not read."""
    _, bench = inside
    shapes = bench.array([(0, 0), (5, 5)])
    requests = {
        "collide": srv.Collide.Request(margin=0.5),
        "distance": srv.Distance.Request(k=3, max_distance=10.0),
        "check_poses": srv.CheckPoses.Request(poses=doubles([50.0, 0, 0] * 5), mode=2),
        "check_path": srv.CheckPath.Request(
            poses=doubles([50.0, 0, 0, 60, 0, 0]), interpolation=1
        ),
        "check_shapes": srv.CheckShapes.Request(a=shapes, b=shapes, pairs=array("I", [0, 1])),
        "get_snapshot": srv.GetSnapshot.Request(snapshot_id=1),
    }
    for name in ("collide", "distance"):
        requests[name].pose.header.frame_id = "odom"
        requests[name].pose.pose.position.x = 50.0
    for name in ("check_poses", "check_path"):
        requests[name].header.frame_id = "odom"
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    read = 0
    for _ in range(400):
        name, request = rng.choice(list(requests.items()))
        data = spoilt(serialize_message(request), rng)
        try:
            message = deserialize_message(data, type(request))
        except Exception:
            continue
        read += 1
        reply = bench.call(name, message)
        where = f"seed {seed}: {name} {message}"
        assert reply.verdict.status != Status.INTERNAL_ERROR, f"{where}: {reply.verdict.message}"
        if reply.verdict.verdict == Verdict.FREE:
            assert reply.verdict.status == Status.SUCCESS, where
            assert set(getattr(reply, "verdicts", [1])) <= {Verdict.FREE}, where
        assert getattr(reply, "is_free", False) <= (reply.verdict.verdict == Verdict.FREE), where
    assert read > 50, f"seed {seed}"
    assert said(bench.collide()) == FREE


@pytest.mark.requirement("N-7")
def test_message_that_is_not_decoded_makes_its_source_bad(start: Start) -> None:
    """What was received before it is not used any more, however fresh."""
    long = {"obstacles.timeout": 60.0, "footprint_timeout": 60.0}
    _, bench = start("garbled", footprint=[], **long)
    timer = bench.node.create_timer(0.1, lambda: bench.footprint.publish(bench.outline()))
    bench.publish()
    for publisher in (bench.obstacles, bench.footprint):
        bench.until_status(*FREE)
        bench.stop_publishing()
        timer.cancel()
        publisher.publish(b"\x00\x01\x00\x00\xff\xff")
        bench.until_status(Verdict.UNKNOWN, Status.INTERNAL_ERROR)
        bench.publish()
        timer.reset()
    bench.until_status(*FREE)


# ---- around the node


def test_disk_that_is_full_for_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Start
) -> None:
    """Logs that cannot be written are lost, nothing else."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(tmp_path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a full disk takes the right to mount one")
    try:
        (tmp_path / "full").write_bytes(b"x" * 4096)
        monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
        server, bench = start("full")
        bench.publish()
        bench.until_status(*FREE)
        for margin in (0.1, 0.2, 0.3):  # each is logged
            assert bench.set(safety_margin=margin).successful
        bench.until_status(*FREE)
        server.stop()
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=False)


def test_many_messages_leave_no_more_behind(start: Start) -> None:
    """Memory is flat: what thousands of messages and requests take is given back."""
    server, bench = start("thrifty")
    page = resource.getpagesize()

    def resident() -> float:
        pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
        return int(pages) * page / 2**20

    obstacles = [(5 * (i % 20), 5 * (i // 20)) for i in range(200)]
    poses = np.tile([-50.0, 0.0, 0.0], 2000)

    def work(rounds: int) -> None:
        for _ in range(rounds):
            bench.obstacles.publish(bench.array(obstacles))
            bench.collide(-50.0)
            bench.check_poses(poses)
            bench.distance(-50.0, k=5)

    work(300)
    grown = []
    for _ in range(20):  # queues of the middleware fill up once, a leak grows in each
        before = resident()
        work(100)
        grown.append(resident() - before)
        if grown[-1] < 0.25:
            return
    raise AssertionError(f"MiB more after each 100 rounds: {grown}")
