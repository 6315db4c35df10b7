# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans, clouds, grids and regions over the network, and topics that keep their last message."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import nan
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from array import array

from gjk_collision.msg import ObstacleArray
from gjk_collision.srv import GetSnapshot
from nav_msgs.msg import OccupancyGrid
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import LaserScan, PointCloud2, PointField
from server import Bench, Server, said
from std_srvs.srv import Trigger

from gjk_collision.region import OUTSIDE
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]

# Each message has one thing at x = 6, y = 0, whose nearest point is at 5.75; the vehicle is a
# square of 2 m.


def scan(bad: bool) -> LaserScan:
    ranges = [float("inf")] * 101
    ranges[50] = nan if bad else 6.0
    return LaserScan(
        angle_min=-0.5, angle_max=0.5, angle_increment=0.01, range_min=0.1, range_max=30.0,
        ranges=array("f", ranges),
    )  # fmt: skip


def cloud(bad: bool) -> PointCloud2:
    names = ["x", "y", "w" if bad else "z"]
    return PointCloud2(
        height=1, width=2, point_step=12, row_step=24, is_dense=True,
        fields=[
            PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
            for i, name in enumerate(names)
        ],
        data=array("B", struct.pack("<6f", 6.0, 0.0, 1.0, 3.0, 0.0, -0.2)),
    )  # fmt: skip


def grid(bad: bool) -> OccupancyGrid:
    found = OccupancyGrid()
    found.info.resolution, found.info.width, found.info.height = 0.25, 4, 2
    found.info.origin.position.x, found.info.origin.position.y = 5.5, -0.25
    found.data = array("b", [0, 100, 100, 0] * 2)
    if bad:
        found.data.pop()
    return found


KINDS: dict[str, tuple[type[Any], Callable[[bool], Any], dict[str, Any], str]] = {
    "scan": (LaserScan, scan, {"point_radius": 0.25}, "ranges[50]"),
    "cloud": (PointCloud2, cloud, {"point_radius": 0.25, "min_height": 0.0}, "fields"),
    "grid": (OccupancyGrid, grid, {}, "data"),
}


def publish(bench: Bench, kind: type[Any], make: Callable[[], Any], **quality: Any) -> Any:
    """Send what `make` returns, stamped now, 20 times a second; quality: of a latched topic."""
    qos = QoSProfile(depth=5, **quality)
    publisher = bench.node.create_publisher(kind, "/seen", qos)

    def send() -> None:
        message = make()
        message.header.frame_id = "odom"
        message.header.stamp = bench.node.get_clock().now().to_msg()
        publisher.publish(message)

    if quality:
        send()
    else:
        bench.node.create_timer(0.05, send)
    return publisher


@pytest.mark.parametrize("name", KINDS)
def test_measurements_over_the_network(start: Start, name: str) -> None:
    kind, make, parameters, field = KINDS[name]
    given = {f"obstacles.{each}": value for each, value in parameters.items()}
    package = kind.__module__.partition(".")[0]
    _, bench = start(
        f"reads_{name}",
        **{"obstacles.type": f"{package}/msg/{kind.__name__}", "obstacles.topic": "seen", **given},
    )
    bad = []
    publish(bench, kind, lambda: make(bool(bad)))
    bench.until_status(*FREE)
    assert said(bench.collide(4.7)) == FREE
    assert said(bench.collide(4.8)) == HIT
    assert bench.distance(3.0).distances[0] == pytest.approx(1.75, abs=1e-6)
    bad.append(True)
    bench.until(lambda: field in bench.collide(50.0).verdict.message, "the field of the fault")
    assert said(bench.collide(50.0))[0] == Verdict.UNKNOWN
    bad.clear()
    bench.until(lambda: said(bench.collide(50.0)) == FREE, "the next good message")


def test_region_over_the_network(start: Start) -> None:
    _, bench = start("fenced", **{"obstacles.topic": "seen"})

    def make() -> ObstacleArray:
        return ObstacleArray(
            source="fence", ids=[1, 2], kinds=[ObstacleArray.REGION, ObstacleArray.HOLE],
            offsets=[0, 4, 8],
            xy=array("d", [-9, -9, 9, -9, 9, 9, -9, 9, 4, -1, 5, -1, 5, 1, 4, 1]),
        )  # fmt: skip

    publish(bench, ObstacleArray, make)
    bench.until(lambda: said(bench.collide(0.0)) == FREE, "the region")
    hit = bench.collide(8.5)
    assert (said(hit), hit.obstacle_id, hit.obstacle_source) == (HIT, OUTSIDE, "fence")
    assert said(bench.collide(4.5)) == HIT
    snapshot = bench.call("get_snapshot", GetSnapshot.Request())
    (sent,) = snapshot.obstacles
    assert list(sent.kinds) == [ObstacleArray.REGION, ObstacleArray.HOLE]
    assert list(sent.offsets) == [0, 4, 8]


def test_map_that_was_published_once_before_the_activation(start: Start) -> None:
    """It is received again at each activation and after a reset; its age has no limit."""
    _, bench = start(
        "mapped",
        **{
            "obstacles.type": "nav_msgs/msg/OccupancyGrid", "obstacles.topic": "seen",
            "obstacles.static": True, "obstacles.qos_durability": "transient_local",
            "obstacles.qos_reliability": "reliable", "obstacles.timeout": 0.01,
        },
    )  # fmt: skip
    latched = {"durability": DurabilityPolicy.TRANSIENT_LOCAL}
    publish(bench, OccupancyGrid, lambda: grid(False), **latched)
    bench.until_status(*FREE)
    assert said(bench.collide(4.8)) == HIT
    assert bench.transition("deactivate")
    assert said(bench.collide(50.0)) == (Verdict.UNKNOWN, Status.NOT_ACTIVE)
    assert bench.transition("activate")
    bench.until(lambda: said(bench.collide(50.0)) == FREE, "the map, after the activation")
    assert bench.call("reset", Trigger.Request(), may_repeat=False).success
    bench.until(lambda: said(bench.collide(50.0)) == FREE, "the map, after the reset")
    assert said(bench.collide(4.8)) == HIT
