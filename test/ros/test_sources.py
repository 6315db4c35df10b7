# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans, clouds, grids and regions over the network, and topics that keep their last message."""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Callable
from math import cos, nan, pi, radians, sin
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from array import array

from geometry_msgs.msg import Point32, PolygonStamped
from gjk_collision.msg import ObstacleArray
from gjk_collision.srv import GetSnapshot
from nav_msgs.msg import OccupancyGrid
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import LaserScan, PointCloud2, PointField
from server import HAS_TRANSFORMS, Bench, Server, doubles, said
from std_srvs.srv import Trigger

from gjk_collision.errors import InputError
from gjk_collision.region import OUTSIDE
from gjk_collision.ros.sources import adapter
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.parameters.config import SourceConfig
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
def test_measurements_over_the_network(start: Start, name: str) -> None:
    kind, make, parameters, field = KINDS[name]
    message = class_of(kind)
    given = {f"obstacles.{each}": value for each, value in parameters.items()}
    _, bench = start(
        f"reads_{name}",
        **{"obstacles.type": kind, "obstacles.topic": "seen", **given},
    )
    bad = []
    publish(bench, message, lambda: make(bool(bad)))
    bench.until_status(*FREE)
    assert said(bench.collide(4.7)) == FREE
    assert said(bench.collide(4.8)) == HIT
    assert bench.distance(3.0).distances[0] == pytest.approx(1.75, abs=1e-6)
    bad.append(True)
    bench.until(lambda: field in bench.collide(50.0).verdict.message, "the field of the fault")
    assert said(bench.collide(50.0))[0] == Verdict.UNKNOWN
    bad.clear()
    bench.until(lambda: said(bench.collide(50.0)) == FREE, "the next good message")


def test_tracked_object_moves_with_its_twist(start: Start) -> None:
    """The twist is in the frame of the object, which is turned by 90 degrees."""
    message = class_of(TRACKED)
    _, bench = start(
        "follows",
        **{"obstacles.type": TRACKED, "obstacles.topic": "seen"},
    )

    def make() -> Any:
        found = tracked(False)
        (each,) = found.objects
        each.kinematics.orientation_availability = each.kinematics.AVAILABLE
        place(each, 6.0, pi / 2)
        each.kinematics.twist_with_covariance.twist.linear.x = 5.0
        return found

    publish(bench, message, make)
    bench.until_status(*FREE)
    poses = [[6.0, 12.0, 0.0], [6.0, 12.0, 0.0], [18.0, 0.0, 0.0]]
    reply = bench.check_poses(poses, times=doubles([0.0, 2.4, 2.4]))
    assert list(reply.verdicts) == [Verdict.FREE, Verdict.COLLISION, Verdict.FREE]
    assert list(reply.nearest_ids) == [-1, TRACKED_ID, -1]


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


@pytest.mark.skipif(not HAS_TRANSFORMS, reason="tf2_msgs is not installed")
@pytest.mark.parametrize(("degrees", "is_used"), [(1.9, True), (19.9, False)])
def test_scan_in_a_tilted_frame(start: Start, degrees: float, is_used: bool) -> None:
    """A return at 10 m is 9.4 m away, seen from above, if the laser looks down by 20 degrees."""
    from geometry_msgs.msg import TransformStamped
    from tf2_msgs.msg import TFMessage

    name = f"tilted_{is_used}"
    _, bench = start(
        name, **{"obstacles.type": "sensor_msgs/msg/LaserScan",
        "obstacles.topic": f"scan_{name}", "obstacles.point_radius": 0.0},
    )  # fmt: skip
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    transforms = bench.node.create_publisher(TFMessage, "/tf_static", latched)
    transform = TransformStamped(child_frame_id=f"laser_{name}")
    transform.header.frame_id = "odom"
    half = radians(degrees) / 2.0
    transform.transform.rotation.y, transform.transform.rotation.w = sin(half), cos(half)
    transforms.publish(TFMessage(transforms=[transform]))
    publisher = bench.node.create_publisher(LaserScan, f"/scan_{name}", 5)
    true = 10.0 * cos(radians(degrees))

    def send() -> None:
        message = scan(bad=False)
        message.ranges[50] = 10.0
        message.header.frame_id = f"laser_{name}"
        message.header.stamp = bench.node.get_clock().now().to_msg()
        publisher.publish(message)

    timer = bench.node.create_timer(0.05, send)
    if is_used:
        bench.until_status(*FREE, x=-50.0)
        assert said(bench.collide(true - 1.0 + 0.001)) == HIT
    else:
        reply = bench.until_status(Verdict.UNKNOWN, Status.TF_UNAVAILABLE, x=true - 1.3)
        assert "tilted by 19.9 degrees" in reply.verdict.message
    bench.node.destroy_timer(timer)


@pytest.mark.parametrize("kind", CONVERTERS)
def test_package_that_is_missing_is_named(kind: str) -> None:
    package, name = kind.partition("/")[0], kind.rpartition("/")[2]
    source = SourceConfig("obstacles", type=kind)
    if importlib.util.find_spec(package):
        assert adapter(source).message.__name__ == name
        return
    with pytest.raises(InputError, match=f"^obstacles.type: the package '{package}'"):
        adapter(source)


def test_polygons_over_the_network(start: Start) -> None:
    angle = ((4.0, 4.0), (4.0, -4.0), (8.0, -4.0), (8.0, -3.0), (5.0, -3.0), (5.0, 4.0))
    _, bench = start("zoned", **{"obstacles.type": "geometry_msgs/msg/PolygonStamped"})
    bench.node.destroy_publisher(bench.obstacles)
    publisher = bench.node.create_publisher(PolygonStamped, "/obstacles", 5)

    bench.node.create_timer(0.05, lambda: publisher.publish(bench.outline(angle, "odom")))
    bench.until_status(*FREE)
    assert said(bench.collide(5.0)) == HIT
    assert said(bench.collide(7.0)) == FREE
