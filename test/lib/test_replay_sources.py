# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Sources of every type are replayed from a bag, by the definitions that the bag carries.

Most bags have one thing 6.25 m ahead, which is in the vehicle from 0.5 s to 0.8 s, and broken
after that. The front of the vehicle is at 3.75 m.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from replays import broken, car_ahead, define, drive, replay, rewritten, rows_of, write_undefined
from rosbags.typesys import get_types_from_msg
from write_scenarios import CAR, Road, at, thing

from gjk_collision.__main__ import main
from gjk_collision.region import OUTSIDE
from gjk_collision.replay.interfaces import message
from gjk_collision.report.outcome import Outcome
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.parameters.config import OBSTACLE_ARRAY
from gjk_collision.verdict import Status, Verdict

OUTLINE = "geometry_msgs/msg/PolygonStamped"
CONVERTED = "costmap_converter_msgs/msg/ObstacleArrayMsg"
FOOTPRINT = {"footprint": "/footprint"}
AUTOWARE = "autoware_perception_msgs/msg/"
DEFINITIONS = {
    "unique_identifier_msgs/msg/UUID": "uint8[16] uuid",
    AUTOWARE + "ObjectClassification": "uint8 label\nfloat32 probability",
    AUTOWARE + "Shape": "uint8 type\ngeometry_msgs/Polygon footprint\n"
    "geometry_msgs/Vector3 dimensions",
    AUTOWARE + "TrackedObjectKinematics": "uint8 UNAVAILABLE=0\n"
    "geometry_msgs/PoseWithCovariance pose_with_covariance\nuint8 orientation_availability\n"
    "geometry_msgs/TwistWithCovariance twist_with_covariance\n"
    "geometry_msgs/AccelWithCovariance acceleration_with_covariance\nbool is_stationary",
    AUTOWARE + "TrackedObject": "unique_identifier_msgs/UUID object_id\n"
    "float32 existence_probability\nObjectClassification[] classification\n"
    "TrackedObjectKinematics kinematics\nShape shape",
    AUTOWARE + "TrackedObjects": "std_msgs/Header header\nTrackedObject[] objects",
    "nav2_msgs/msg/CostmapMetaData": "builtin_interfaces/Time map_load_time\n"
    "builtin_interfaces/Time update_time\nstring layer\nfloat32 resolution\nuint32 size_x\n"
    "uint32 size_y\ngeometry_msgs/Pose origin",
    "nav2_msgs/msg/Costmap": "std_msgs/Header header\nCostmapMetaData metadata\nuint8[] data",
}


def pose(x: float, y: float) -> dict[str, Any]:
    return {"position": (x, y), "orientation": {"w": 1.0}}


def scan(store: Any, x: float, bad: bool) -> dict[str, Any]:
    ranges = np.full(101, np.inf, np.float32)
    ranges[50] = np.nan if bad else x + 0.25  # a circle of 0.25 m
    angles = {"angle_min": -0.5, "angle_max": 0.5, "angle_increment": 0.01}
    return {**angles, "range_min": 0.1, "range_max": 30.0, "ranges": ranges}


def grid(store: Any, x: float, bad: bool) -> dict[str, Any]:
    cells = np.zeros((4, 8), np.int8)
    cells[1:3, 0], cells[3, 7] = 100, 101 if bad else 0
    info = {"resolution": 0.25, "width": 8, "height": 4, "origin": pose(x, -0.5)}
    return {"info": info, "data": cells.ravel()}


def costmap(store: Any, x: float, bad: bool) -> dict[str, Any]:
    cells = np.zeros((4, 8), np.uint8)
    cells[1:3, 0], cells[:, 1] = 254, 253
    size = {"size_x": 9 if bad else 8, "size_y": 4}
    return {
        "metadata": {"resolution": 0.25, "origin": pose(x, -0.5), **size}, "data": cells.ravel()
    }  # fmt: skip


def tracked(store: Any, x: float, bad: bool) -> dict[str, Any]:
    # Its orientation is not known: a circle around the square.
    spread = {"covariance": np.zeros(36)}
    motion = {
        "pose_with_covariance": {"pose": pose(x + 2**0.5, 0.0), **spread},
        "twist_with_covariance": spread, "acceleration_with_covariance": spread,
    }  # fmt: skip
    shape = {"type": 7 if bad else 0, "dimensions": {"x": 2.0, "y": 2.0, "z": 1.0}}
    uuid = {"uuid": np.zeros(16, np.uint8)}
    kind = AUTOWARE + "TrackedObject"
    return {
        "objects": [message(store, kind, object_id=uuid, kinematics=motion, shape=shape)]
    }  # fmt: skip


def outline(store: Any, x: float, bad: bool) -> dict[str, Any]:
    corners = (x, np.nan if bad else 1.0), (x + 1.0, 0.0), (x, -1.0)
    points = [message(store, "geometry_msgs/msg/Point32", x=u, y=v) for u, v in corners]
    return {"polygon": {"points": points}}


def write(road: Road, topic: str, kind: str, t: float, make: Any, x: float, bad: bool) -> None:
    store = road.writer._store
    fields = make(store, x, bad)
    made = message(store, kind, header=road.writer.header(at(t), "odom"), **fields)
    road.writer.write(topic, kind, at(t), made)


CASES: dict[str, tuple[Callable[..., Any], dict[str, Any], int, str]] = {
    "sensor_msgs/msg/LaserScan": (scan, {"point_radius": 0.25}, 50, r"ranges[50]"),
    "nav_msgs/msg/OccupancyGrid": (grid, {}, 0, "data[31]"),
    "nav2_msgs/msg/Costmap": (costmap, {}, 0, "data"),
    OUTLINE: (outline, {}, 0, "xy[1]"),
    AUTOWARE + "TrackedObjects": (tracked, {}, 0, "objects[0].shape.type"),
}  # fmt: skip


def assert_seen(bag: Path, out: Path, parameters: dict[str, Any], nearest: int, bad: str) -> None:
    """Check the rows of a bag with one thing, whose last messages are bad for this reason.

    The footprint is found by the name of its topic, also beside another topic of its type.
    """
    result = replay(bag, out, parameters=parameters)
    assert result.outcome is Outcome.PASSED, result.failures
    for row in (rows := rows_of(out)):
        t = (row.time - at(0.0)) * 1e-9
        if t >= 0.8:
            assert row.verdict is Verdict.UNKNOWN and bad in row.message
            continue
        assert row.verdict is (Verdict.COLLISION if t >= 0.5 else Verdict.FREE), row
        assert (row.nearest_id, row.nearest_source) == (nearest, "obstacles")
        if t < 0.5:
            assert row.distance == pytest.approx(6.25 - 3.75, abs=1e-6)
    assert {row.verdict for row in rows} == {Verdict.FREE, Verdict.COLLISION, Verdict.UNKNOWN}


@pytest.mark.parametrize("kind", CASES)
def test_each_type_is_answered_for(kind: str, tmp_path: Path) -> None:
    make, parameters, nearest, field = CASES[kind]

    def each(road: Road, t: float) -> None:
        if t == 0.0:
            types: dict[str, Any] = {}
            for name, text in DEFINITIONS.items():
                types |= get_types_from_msg(text, name)
            define(road.writer, types)
        x = 3.5 if 0.5 <= t < 0.8 else 6.25
        write(road, "/seen", kind, t, make, x, t >= 0.8)

    given = {"obstacles.type": kind, "obstacles.topic": "seen"}
    given |= {f"obstacles.{name}": value for name, value in parameters.items()}
    assert_seen(drive(tmp_path / "bag", each), tmp_path, given, nearest, field)


def test_a_region_is_answered_for(tmp_path: Path) -> None:
    def each(road: Road, t: float) -> None:
        front = 3.5 if 0.5 <= t < 0.8 else 6.25
        region = Obstacles(
            frame="odom", stamp=at(t), ids=np.array([5]),
            kinds=np.array([3 if t >= 0.8 else 2], np.uint8), offsets=np.array([0, 4]),
            xy=np.array([-9, -9, front, -9, front, 9, -9, 9], np.float64),
        )  # fmt: skip
        road.writer.obstacles(region, topic="/fence")

    bag = drive(tmp_path / "bag", each)
    assert_seen(bag, tmp_path, {"obstacles.topic": "fence"}, OUTSIDE, "HOLE")
    assert rows_of(tmp_path)[-1].status is Status.INVALID_INPUT


def test_a_static_grid_is_used_to_the_end(tmp_path: Path) -> None:
    kind = "nav_msgs/msg/OccupancyGrid"

    def each(road: Road, t: float) -> None:
        if t == 0.0:
            write(road, "/map", kind, t, grid, 6.25, False)

    bag = drive(tmp_path / "bag", each, 3.0)
    for static, last in ((True, Verdict.FREE), (False, Verdict.UNKNOWN)):
        given = {"type": kind, "topic": "map", "static": static}
        parameters = {f"obstacles.{name}": value for name, value in given.items()}
        result = replay(bag, tmp_path, parameters=parameters)
        assert result.outcome is Outcome.PASSED, result.failures
        assert rows_of(tmp_path)[-1].verdict is last


def test_a_topic_of_two_sources_is_taken_for_both(tmp_path: Path) -> None:
    """As the node does, which subscribes for each; one of them would else be silent throughout."""
    bag = drive(tmp_path / "bag")
    parameters = {
        "obstacle_sources": ["grown", "plain"], "grown.topic": "obstacles",
        "plain.topic": "obstacles", "grown.inflation": 0.5,
    }  # fmt: skip
    told = {"obstacles": {"grown": "/obstacles", "plain": "/obstacles"}}
    for topics in ({}, told):
        result = replay(bag, tmp_path, parameters=parameters, topics=topics)
        assert result.outcome is Outcome.PASSED, result.failures
        for row in rows_of(tmp_path):
            assert row.status is Status.SUCCESS, "both are required"
            assert row.distance == pytest.approx(20.0 - 2.25 - 3.75 - 0.5, abs=1e-8)
    words = "topics.obstacles: must be a mapping from source to topic for the sources grown, plain"
    broken(bag, tmp_path, words, parameters=parameters, topics={"obstacles": "/obstacles"})


def test_a_footprint_may_be_a_source_too(tmp_path: Path) -> None:
    """The vehicle is in its own way then; without the footprint nothing would be known."""
    parameters = {"obstacles.type": OUTLINE, "obstacles.topic": "footprint"}
    bag = drive(tmp_path / "bag")
    result = replay(bag, tmp_path, parameters=parameters, topics=FOOTPRINT)
    assert result.outcome is Outcome.PASSED, result.failures
    assert {row.verdict for row in rows_of(tmp_path)} == {Verdict.COLLISION}


def test_a_topic_of_two_types_is_refused(tmp_path: Path) -> None:
    """Of recordings put together: which messages are meant is not for the replay to guess."""

    def each(road: Road, t: float) -> None:
        road.obstacles(t, [thing(CAR, 20.0, 0.0)], topic="/seen")
        triangle = [(30.0, 1.0), (31.0, 1.0), (31.0, 2.0)]
        road.writer.footprint(at(t), triangle, "odom", topic="/seen")

    bag = drive(tmp_path / "bag", each)
    two = {
        "obstacle_sources": ["boxes", "outlines"], "boxes.topic": "seen",
        "outlines.topic": "seen", "outlines.type": OUTLINE,
    }  # fmt: skip
    for given, sources in ((two, "boxes, outlines"), ({"obstacles.topic": "seen"}, "obstacles")):
        words = f"/seen of {sources} has messages of {OUTLINE} and {OBSTACLE_ARRAY}: a topic must"
        broken(bag, tmp_path, words, parameters=given, topics=FOOTPRINT)


def test_type_that_nobody_defines_is_named(tmp_path: Path) -> None:
    """Bags of old recorders carry no definitions: that is said at once, not at each message."""

    def end(road: Road) -> None:
        write_undefined(road.writer, "/costmap", CONVERTED, at(1.0), b"\x00\x01\x00\x00")

    bag = drive(tmp_path / "bag", car_ahead, end=end)
    given = {"obstacles.type": CONVERTED, "obstacles.topic": "costmap"}
    broken(bag, tmp_path, f"/costmap: the bag does not define {CONVERTED}", parameters=given)
    given = {"obstacles.type": "sensor_msgs/msg/Image"}
    broken(bag, tmp_path, "obstacles.type: must be one of", parameters=given)


OTHERS = [
    ("protobuf", "protobuf", b"\n\xff\x01"), ("json", "jsonschema", b"{}"), ("json", "", b""),
    ("ros1", "ros1msg", b"string data"), ("cdr", "unknown", b""),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "definition", "data"), OTHERS)
@pytest.mark.parametrize("where", ["file", "folder"])
def test_channel_in_another_encoding_is_left_out(
    where: str, encoding: str, definition: str, data: bytes, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Otherwise, one channel of another program makes the whole recording useless."""
    bag = drive(tmp_path / "bag")
    assert replay(bag, tmp_path / "first").outcome is Outcome.PASSED
    path = next(bag.glob("*.mcap"))

    def first(writer: Any) -> None:
        own = writer.register_schema("lidar/msg/Scan", definition, data) if definition else 0
        other = writer.register_channel("/lidar", encoding, own)
        writer.add_message(other, at(0.5), b"\xff", at(0.5))

    rewritten(path.rename(tmp_path / "plain.mcap"), path, first=first)
    metadata = bag / "metadata.yaml"
    if where == "folder":
        listed = yaml.safe_load(metadata.read_text())
        topics = listed["rosbag2_bagfile_information"]["topics_with_message_count"]
        one = {**topics[0]["topic_metadata"], "name": "/lidar", "type": "lidar/msg/Scan"}
        one["serialization_format"] = encoding
        topics.append({"topic_metadata": one, "message_count": 1})
        metadata.write_text(yaml.safe_dump(listed))
    result = replay(bag if where == "folder" else path, tmp_path / "second")
    assert result.outcome is not Outcome.BROKEN
    name = (
        "lidar/msg/Scan (definition in unknown)" if encoding == "cdr" else f"/lidar ({encoding})"
    )
    assert [note for note in result.summary["notes"] if note.endswith(f"are read: {name}")]
    found = [
        [row for row in rows_of(tmp_path / each) if row.time < at(1.0)]
        for each in ("first", "second")
    ]
    assert found[0] == found[1]
    assert main(["info", str(bag if where == "folder" else path)]) == 0
    assert name in capsys.readouterr().out


def test_bag_of_other_encodings_only_names_them(tmp_path: Path) -> None:
    from mcap.writer import Writer

    with (tmp_path / "bag.mcap").open("wb") as target:
        writer = Writer(target)
        writer.start("")
        channel = writer.register_channel("/lidar", "json", 0)
        writer.add_message(channel, 1, b"{}", 1)
        writer.finish()
    broken(tmp_path / "bag.mcap", tmp_path, "Profile is not ros2")


def test_definition_in_an_unknown_encoding_in_sqlite(tmp_path: Path) -> None:
    """Otherwise, a recorder that does not find one definition makes the recording useless."""
    bag = drive(tmp_path / "bag", storage="sqlite3")
    with closing(sqlite3.connect(next(bag.glob("*.db3")))) as data:
        data.execute("UPDATE message_definitions SET encoding = 'unknown' WHERE id = 1")
        data.commit()
    result = replay(bag, tmp_path)
    assert result.outcome is Outcome.PASSED, result.failures
    assert [note for note in result.summary["notes"] if "(definition in unknown)" in note]
