# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Transforms from /tf and /tf_static: at the stamp of the data or not at all."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from functools import partial
from math import cos, sin
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("tf2_ros", reason="tf2_ros is not installed")  # as the sender, and as oracle

import numpy as np
import tf2_ros
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from gjk_collision.msg import ObstacleArray
from rclpy.time import Time as RclpyTime
from server import SERVICES, Bench, Server, doubles, said
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.server.frames.poses import FrameError, Pose, planar
from gjk_collision.server.frames.transforms import TransformTree, insert_message
from gjk_collision.verdict import Status, Verdict

S = 1_000_000_000
FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]


def transform(parent: str, child: str, pose: Pose, stamp: Time) -> TransformStamped:
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id, message.header.stamp = parent, stamp
    message.transform.translation.x, message.transform.translation.y = pose.x, pose.y
    message.transform.rotation.z, message.transform.rotation.w = (
        sin(pose.yaw / 2),
        cos(pose.yaw / 2),
    )
    return message


STATUS_OF = {
    tf2_ros.ExtrapolationException: Status.TF_EXTRAPOLATION,
    tf2_ros.LookupException: Status.UNKNOWN_FRAME,
    tf2_ros.ConnectivityException: Status.TF_UNAVAILABLE,
}


@pytest.mark.requirement("D-10")
@pytest.mark.parametrize("seed", range(20))
def test_poses_are_those_of_tf2(seed: int) -> None:
    """A tree of frames that are static or move in space, asked at random times, by tf2's buffer.

    What the tree refuses on purpose is not among it: silences, step backs, two parents, stamps
    far ahead.
    """
    rng = np.random.default_rng(seed)
    buffer, tree = tf2_ros.Buffer(), TransformTree(100 * S)
    frames = [f"f{i}" for i in range(8)]
    for i in range(1, 8):
        parent = frames[rng.integers(0, i)] if rng.random() < 0.9 else "other"
        static = rng.random() < 0.3
        stamps = [0] if static else (98 * S + rng.permutation(30) * (S // 10)).tolist()
        for stamp in stamps:
            message = TransformStamped(child_frame_id=frames[i])
            message.header.frame_id = parent
            message.header.stamp = RclpyTime(nanoseconds=int(stamp)).to_msg()
            p, q = message.transform.translation, message.transform.rotation
            p.x, p.y, p.z = rng.uniform(-5.0, 5.0, 3).tolist()
            tilt, half = rng.uniform(-0.01, 0.01, 2), rng.uniform(-3.1, 3.1)
            q.x, q.y, q.z, q.w = float(tilt[0]), float(tilt[1]), sin(half), cos(half)
            if static:
                buffer.set_transform_static(message, "")
            else:
                buffer.set_transform(message, "")
            assert insert_message(tree, message, static=static) == ""
    found = 0
    for _ in range(300):
        target, source = rng.choice([*frames, "other", "nowhere"], 2, replace=False).tolist()
        stamp = int(97.5 * S + rng.integers(0, 4 * S))
        if rng.random() < 0.1:
            stamp = 98 * S + int(rng.integers(0, 30)) * (S // 10)
        failed: type[Exception] | None = None
        try:
            wanted = buffer.lookup_transform(target, source, RclpyTime(nanoseconds=stamp))
        except tf2_ros.TransformException as error:
            failed = type(error)
        if failed is not None:
            with pytest.raises(FrameError) as caught:
                tree.lookup(target, source, stamp)
            status = caught.value.status
            if status is Status.TF_UNAVAILABLE:  # tf2 may stop at a stamp before it finds that
                with pytest.raises(tf2_ros.ConnectivityException):
                    buffer.lookup_transform(target, source, RclpyTime())
            else:
                assert status is STATUS_OF[failed], (target, source, stamp)
            continue
        p, q = wanted.transform.translation, wanted.transform.rotation
        flat = planar(p.x, p.y, (q.x, q.y, q.z, q.w))
        pose = tree.lookup(target, source, stamp)
        assert (pose.x, pose.y) == pytest.approx((flat.x, flat.y), abs=1e-9)
        assert np.cos(pose.yaw - flat.yaw) == pytest.approx(1.0, abs=1e-12)
        try:
            newest = buffer.lookup_transform(target, source, RclpyTime())
            assert tree.latest(target, source)[1] == nanoseconds(newest.header.stamp)
        except tf2_ros.TransformException:
            with pytest.raises(FrameError):
                tree.latest(target, source)
        found += 1
    assert found > 50


class Robot:
    """A vehicle that drives along x at 1 m/s, sends its transforms late, and looks about."""

    def __init__(self, bench: Bench, lateness: float = 0.0) -> None:
        self.bench, self.lateness = bench, lateness
        self.moving, self.static = (
            TransformBroadcaster(bench.node),
            StaticTransformBroadcaster(bench.node),
        )
        self.queue: list[tuple[int, TransformStamped]] = []
        self.begin = bench.node.get_clock().now().nanoseconds
        self.static.sendTransform(
            transform("base_link", "lidar", Pose(2.0, 0.0, 0.0), Time(sec=1))
        )
        bench.node.create_timer(0.02, self.tick)

    def tick(self) -> None:
        now = self.bench.node.get_clock().now()
        x = (now.nanoseconds - self.begin) * 1e-9
        due = now.nanoseconds + round(self.lateness * S)
        self.queue.append((due, transform("odom", "base_link", Pose(x, 0.0, 0.0), now.to_msg())))
        while self.queue and self.queue[0][0] <= now.nanoseconds:
            self.moving.sendTransform(self.queue.pop(0)[1])

    def wall(self) -> ObstacleArray:
        """A box about (20, 0) in odom, as the lidar sees it now."""
        message = self.bench.array()
        now = message.header.stamp.sec * S + message.header.stamp.nanosec
        message.header.frame_id = "lidar"
        x = 20.0 - (now - self.begin) * 1e-9 - 2.0
        for i in range(0, len(message.xy), 2):
            message.xy[i] += x
        return message


@pytest.mark.parametrize("lateness", [0.0, 0.15])
def test_obstacles_and_vehicle_in_frames_of_their_own(start: Start, lateness: float) -> None:
    """Transforms that are later than the data cost freshness, not the answer."""
    _, bench = start("driven", transform_tolerance=0.5, state_rate=20.0)
    robot = Robot(bench, lateness)
    bench.publish(robot.wall)
    bench.until_status(*FREE, x=10.0)
    for _ in range(20):
        assert said(bench.collide(10.0)) == FREE
        assert said(bench.collide(18.1)) == HIT
        assert said(bench.collide(17.9)) == FREE
    assert said(bench.collide(frame="")) == FREE  # where the vehicle is now
    bench.until(lambda: said(bench.states[-1]) == FREE, "heartbeat")
    assert bench.states[-1].distance == pytest.approx(18.0 - 10.0, abs=10.0)
    ahead = bench.collide(frame="lidar", x=0.0)  # stamped 0: the newest transform
    assert said(ahead) == FREE


class Waiting:
    """Requests in a frame whose transforms the test sends, and the order of their replies."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.order, self.asked = bench, list[str](), 0
        self.sender = TransformBroadcaster(bench.node)
        bench.publish()

        def is_known() -> bool:
            self.send()
            return said(bench.collide(50.0, frame="lidar")) == FREE

        bench.until(is_known, "first transform")
        for kind in ("distance", "check_poses", "check_path"):  # the first reply may be lost
            getattr(bench, kind)(*([50.0] if kind == "distance" else [[50.0, 0, 0]]))

    def send(self) -> None:
        now = self.bench.node.get_clock().now().to_msg()
        self.sender.sendTransform(transform("odom", "lidar", Pose(), now))

    def ask(self, kind: str = "collide", ago: float = 0.0, what: str = "") -> Any:
        """Ask for a free pose in the frame, stamped so long ago [s]."""
        request = SERVICES[kind].Request()
        header = request.header if kind.startswith("check") else request.pose.header
        if kind.startswith("check"):
            request.poses = doubles([50.0, 0.0, 0.0])
        else:
            request.pose.pose.position.x = 50.0
        now = self.bench.node.get_clock().now().nanoseconds
        header.frame_id = "lidar"
        header.stamp = RclpyTime(nanoseconds=now - round(ago * S)).to_msg()
        self.asked += 1
        future = self.bench.clients[kind].call_async(request)
        future.add_done_callback(lambda _: self.order.append(what or kind))
        return future

    def reply(self, future: Any) -> Any:
        self.bench.until(future.done, "reply")
        return future.result()

    def finished(self) -> list[str]:
        """The order of the replies: callbacks come after them."""
        self.bench.until(lambda: len(self.order) == self.asked, "callbacks")
        return self.order


NOT_YET = (Verdict.UNKNOWN, Status.TF_EXTRAPOLATION)


@pytest.mark.requirement("D-9")
def test_request_that_waits_for_its_transform(start: Start) -> None:
    """It holds up no other, and is answered when the transform has come, or the wait is over."""
    _, bench = start("patient", transform_wait=0.5, transform_tolerance=5.0)
    asker = Waiting(bench)

    def answered_late(kind: str) -> bool:
        """The transform may come after the wait where the machine is busy."""
        begin = bench.node.get_clock().now().nanoseconds
        late = asker.ask(kind)
        assert said(bench.collide()) == FREE
        assert said(bench.collide(0.0, frame="lidar")) == HIT  # the newest, which is known
        if late.done():
            return False
        asker.send()
        found = asker.reply(late)
        assert said(found) in (FREE, NOT_YET)
        # Not only at the end of its wait.
        return said(found) == FREE and nanoseconds(found.info.header.stamp) - begin < S // 2

    for kind in ("collide", "distance", "check_poses", "check_path"):
        bench.until(partial(answered_late, kind), f"a reply of {kind} after the transform")
    begin = time.monotonic()
    never, old = asker.ask(what="never"), asker.ask(ago=9.0, what="old")
    assert said(asker.reply(never)) == NOT_YET
    assert time.monotonic() - begin >= 0.5
    assert said(asker.reply(old)) == NOT_YET
    assert asker.finished()[-2:] == ["old", "never"], "what cannot come any more is not awaited"


def test_transitions_and_stops_while_a_request_waits(start: Start) -> None:
    server, bench = start("interrupted", transform_wait=0.5, transform_tolerance=5.0)
    asker = Waiting(bench)
    waits = asker.ask()
    assert bench.transition("deactivate")
    assert said(asker.reply(waits))[0] is Verdict.UNKNOWN
    assert bench.transition("activate")
    asker = Waiting(bench)
    waits = asker.ask()
    assert bench.transition("deactivate")
    assert bench.transition("cleanup")
    assert said(asker.reply(waits))[0] is Verdict.UNKNOWN
    assert bench.transition("configure")
    assert bench.transition("activate")
    asker = Waiting(bench)
    asker.ask()
    assert said(bench.collide()) == FREE
    assert server.stop(signal.SIGINT) == 0
    assert "Traceback" not in server.log
