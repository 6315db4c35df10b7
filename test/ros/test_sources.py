# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of other packages as rclpy makes them, and topics that keep their last message."""

from __future__ import annotations

import importlib.util
import re
import struct
from collections.abc import Callable
from math import cos, nan, pi, sin
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from array import array

import questions
from geometry_msgs.msg import Point32
from nav_msgs.msg import OccupancyGrid
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import LaserScan, PointCloud2, PointField, Range
from server import Bench, Server, said
from std_srvs.srv import Trigger

from gjk_collision.errors import InputError
from gjk_collision.ros.sources import adapter, qos
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]

# Each message has one thing at x = 6, y = 0, whose nearest point is at 5.75; the vehicle is a
# circle with a radius of 1 m.


def scan(bad: bool) -> LaserScan:
    ranges = [float("inf")] * 101
    ranges[50] = nan if bad else 6.0
    return LaserScan(
        angle_min=-0.5, angle_max=0.5, angle_increment=0.01, range_min=0.1, range_max=30.0,
        ranges=array("f", ranges),
    )  # fmt: skip


def distance(bad: bool) -> Range:
    return Range(field_of_view=0.01, min_range=0.1, max_range=30.0, range=nan if bad else 6.0)


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


def costmap(bad: bool) -> Any:
    found = class_of(COSTMAP)()
    found.metadata.resolution, found.metadata.size_x, found.metadata.size_y = 0.25, 4, 2
    found.metadata.origin.position.x, found.metadata.origin.position.y = 5.5, -0.25
    found.data = array("B", [253, 254, 255, 0] * 2)
    if bad:
        found.data.pop()
    return found


def detected(bad: bool) -> Any:
    """A box of 1 m x 0.5 m that is turned by 90 degrees."""
    found = class_of(DETECTED)(objects=[class_of(DETECTED[:-1])()])
    (each,) = found.objects
    each.kinematics.orientation_availability = each.kinematics.AVAILABLE
    place(each, 6.0, pi / 2)
    each.shape.dimensions.x, each.shape.dimensions.y = 1.0, 0.0 if bad else 0.5
    return found


def tracked(bad: bool) -> Any:
    """A triangle whose orientation is not known: a circle with a radius of 0.25 m."""
    found = class_of(TRACKED)(objects=[class_of(TRACKED[:-1])()])
    (each,) = found.objects
    each.object_id.uuid = UUID
    place(each, 6.0)
    each.shape.type = each.shape.POLYGON
    points = [(0.25, 0.0), (0.0, 0.125), (nan if bad else 0.0, -0.125)]
    each.shape.footprint.points = [Point32(x=x, y=y) for x, y in points]
    return found


def place(each: Any, x: float, yaw: float = 0.0) -> None:
    pose = each.kinematics.pose_with_covariance.pose
    pose.position.x = x
    pose.orientation.z, pose.orientation.w = sin(yaw / 2), cos(yaw / 2)


def class_of(kind: str) -> type[Any]:
    package, _, name = kind.partition("/msg/")
    reason = f"the package {package} is not installed"
    found: type[Any] = getattr(pytest.importorskip(f"{package}.msg", reason=reason), name)
    return found


COSTMAP = "nav2_msgs/msg/Costmap"
DETECTED = "autoware_perception_msgs/msg/DetectedObjects"
TRACKED = "autoware_perception_msgs/msg/TrackedObjects"
UUID = array("B", range(0x90, 0xA0))
# docs/sources.md: the first 59 bits, then four zero bits; the first bit is the sign of an int64.
TRACKED_ID = int.from_bytes(UUID[:8].tobytes(), "big") >> 5 << 4

KINDS: dict[str, tuple[str, Callable[[bool], Any], dict[str, Any], str]] = {
    "scan": ("sensor_msgs/msg/LaserScan", scan, {"point_radius": 0.25}, "ranges[50]"),
    "cloud": (
        "sensor_msgs/msg/PointCloud2", cloud, {"point_radius": 0.25, "min_height": 0.0}, "fields"
    ),
    "distance": ("sensor_msgs/msg/Range", distance, {"point_radius": 0.25}, "range"),
    "grid": ("nav_msgs/msg/OccupancyGrid", grid, {}, "data"),
    "costmap": (COSTMAP, costmap, {"unknown_is_occupied": False}, "data"),
    "detected": (DETECTED, detected, {}, "objects[0].shape.dimensions.y"),
    "tracked": (TRACKED, tracked, {}, "objects[0].shape.footprint.points[2]"),
}  # fmt: skip


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
def test_messages_of_rclpy_are_read(name: str) -> None:
    """Their fields have other types than those of the tests without ROS."""
    kind, make, parameters, field = KINDS[name]
    source = SourceConfig("seen", type=kind, **parameters)
    config = Config(robot_radius=1.0, sources=(source,))

    def read(bad: bool) -> Obstacles:
        message = make(bad)
        message.header.frame_id, message.header.stamp.sec = "odom", 1
        received = deserialize_message(serialize_message(message), class_of(kind))
        return CONVERTERS[kind](received, config, source)

    world = World(config)
    world.receive_obstacles("seen", read(False), now=10**9, steady=0)
    snapshot = world.snapshot(now=10**9, steady=0)
    assert questions.collide(snapshot, Pose(4.7, 0.0, 0.0)).is_free
    assert questions.collide(snapshot, Pose(4.8, 0.0, 0.0)).verdict is Verdict.COLLISION
    with pytest.raises(InputError, match=re.escape(field)):
        read(True)


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


@pytest.mark.parametrize("kind", CONVERTERS)
def test_package_that_is_missing_is_named(kind: str) -> None:
    package, name = kind.partition("/")[0], kind.rpartition("/")[2]
    source = SourceConfig("obstacles", type=kind)
    if importlib.util.find_spec(package):
        assert adapter(source).message.__name__ == name
        return
    with pytest.raises(InputError, match=f"^obstacles.type: the package '{package}'"):
        adapter(source)


@pytest.mark.parametrize("durability", ["volatile", "transient_local"])
@pytest.mark.parametrize("reliability", ["best_effort", "reliable"])
def test_a_latched_source_is_reliable(reliability: str, durability: str) -> None:
    """Otherwise the last message of a map is not kept for the server."""
    found = qos(SourceConfig("a", qos_reliability=reliability, qos_durability=durability))
    assert found.durability.name.lower() == durability
    is_reliable = found.reliability.name == "RELIABLE"
    assert is_reliable == (durability == "transient_local" or reliability == "reliable")
