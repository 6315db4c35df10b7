# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Footprints by name and by speed, in a running node."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from geometry_msgs.msg import TwistStamped
from gjk_collision.srv import GetSnapshot
from nav_msgs.msg import Odometry
from server import BOX, Bench, Server, said

from gjk_collision.errors import InputError
from gjk_collision.ros.client import CollisionClient
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]
LONG = [3.0, 0.6, -1.0, 0.6, -1.0, -0.6, 3.0, -0.6]
NAMED = {
    "base_frame": "odom",
    "footprint_names": ["small", "long"],
    "small.robot_radius": 0.5,
    "long.footprint": LONG,
}
BY_SPEED = {
    **NAMED,
    "speed_footprints": ["small", "long"],
    "small.linear_min": -1.0,
    "small.linear_max": 1.0,
    "long.linear_min": 1.0,
    "long.linear_max": 10.0,
    "twist_topic": "odometry",
}
NEAR = -3.0  # x [m]: the box at the origin begins 2 m ahead


class Driver:
    """Publishes a twist at 20 Hz, while `vx` is not None."""

    def __init__(self, bench: Bench, kind: Any = Odometry, topic: str = "odometry") -> None:
        self.bench, self.kind = bench, kind
        self.vx: float | None = None
        self.publisher = bench.node.create_publisher(kind, topic, 5)
        bench.node.create_timer(0.05, self.send)

    def send(self) -> None:
        if self.vx is None:
            return
        message = self.kind()
        now = self.bench.node.get_clock().now().nanoseconds
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
        twist = message.twist
        if self.kind is Odometry:
            message.header.frame_id, message.child_frame_id = "world", "odom"
            twist = message.twist.twist
        else:
            message.header.frame_id = "odom"  # the base frame of these tests
        twist.linear.x = float(self.vx)
        self.publisher.publish(message)


def test_one_footprint_per_pose(start: Start) -> None:
    _, bench = start("perpose", footprint=BOX, **NAMED)
    bench.publish()
    bench.until_status(*FREE, x=NEAR)
    poses = [NEAR, 0.0, 0.0] * 5
    which = array("B", [0, 1, 2, 1, 0])
    names = ["small", "long", "default"]
    reply = bench.check_poses(poses, footprints=names, which=which, mode=1)
    hit, free = Verdict.COLLISION, Verdict.FREE
    assert list(reply.verdicts) == [free, hit, free, hit, free]
    assert reply.distances == pytest.approx([1.5, -1.0, 1.0, -1.0, 1.5], abs=1e-9)
    assert (reply.first_invalid_index, reply.info.footprint) == (1, "small, long, default")
    reply = bench.check_poses(poses, footprints=names, which=which[:4])
    assert said(reply) == (Verdict.UNKNOWN, Status.ARRAY_MISMATCH)
    assert not len(reply.verdicts) and reply.first_invalid_index == 0

    client = CollisionClient(bench.node, "odom", server="/perpose", executor=bench.executor)
    found = client.check_poses(np.reshape(poses, (-1, 3)), footprint=names, which=list(which))
    assert found.verdicts.tolist() == [free, hit, free, hit, free]
    assert found.info.footprint == "small, long, default"
    assert client.collide((NEAR, 0.0, 0.0), footprint="small").is_free
    assert client.distance((NEAR, 0.0, 0.0), footprint="long").distances[0] < -0.99
    assert not client.check_path([(-9, 0, 0), (NEAR, 0, 0)], footprint="long").is_free
    with pytest.raises(InputError, match=r"^which: can only be given"):
        client.check_poses([(0, 0, 0)], footprint="small", which=[0])
    for bad in ([0.0], [-1], [256], ["a"]):
        with pytest.raises(InputError, match=r"^which(\[0\])?: must "):
            client.check_poses([(0, 0, 0)], footprint=["small"], which=bad)


def test_snapshot_has_all_footprints(start: Start) -> None:
    _, bench = start("all", footprint=BOX, margin_front=0.5, **NAMED)
    bench.publish()
    bench.until_status(*FREE, x=-4.0)
    reply = bench.call("get_snapshot", GetSnapshot.Request())
    assert reply.footprint_names == ["small", "long", "default"]
    found = reply.footprints
    assert list(found.offsets) == [0, 1, 5, 9]
    assert list(found.xy) == [0.0, 0.0, *LONG, *BOX]
    assert list(found.ids) == [0, 1, 2]
    assert found.header.frame_id == "odom"


@pytest.mark.parametrize("kind", [Odometry, TwistStamped])
def test_speed_selects_the_footprint(start: Start, kind: Any) -> None:
    name = f"fast_{kind.__name__.lower()}"
    package = "nav_msgs" if kind is Odometry else "geometry_msgs"
    _, bench = start(name, **BY_SPEED, twist_type=f"{package}/msg/{kind.__name__}")
    bench.publish()
    reply = bench.until_status(Verdict.UNKNOWN, Status.NO_FOOTPRINT, x=NEAR)
    assert "no message received on the topic '/odometry'" in reply.verdict.message
    bench.until_status(*FREE, x=NEAR, footprint="small")
    driver = Driver(bench, kind)
    driver.vx = 0.5
    reply = bench.until_status(*FREE, x=NEAR)
    assert reply.info.footprint == "small"
    driver.vx = 2.0
    reply = bench.until_status(*HIT, x=NEAR)
    assert reply.info.footprint == "long"
    bench.until(lambda: bench.states[-1].info.footprint == "long", "the heartbeat")
    driver.vx = -3.0  # there is none for it
    reply = bench.until_status(Verdict.UNKNOWN, Status.NO_FOOTPRINT, x=NEAR)
    assert "-3 m/s" in reply.verdict.message and reply.info.footprint == ""
    driver.vx = None  # it falls silent
    reply = bench.until_status(Verdict.UNKNOWN, Status.STALE_FOOTPRINT, x=NEAR)
    assert "twist_topic: " in reply.verdict.message
    bench.until_status(*FREE, x=NEAR, footprint="small")
