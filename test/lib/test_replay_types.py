# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Sources of other packages' messages are replayed by the definitions that the bag carries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from replays import replay, rows_of
from rosbags.typesys import get_types_from_msg
from write_scenarios import CAR, Road, at, steps, thing

from gjk_collision.replay.write import BagWriter
from gjk_collision.report.outcome import Outcome
from gjk_collision.server.config import OBSTACLE_ARRAY
from gjk_collision.verdict import Status, Verdict

FOOTPRINT = {"footprint": "/footprint"}
OUTLINE = "geometry_msgs/msg/PolygonStamped"
COSTMAP = "costmap_converter_msgs/msg/ObstacleArrayMsg"
DEFINITIONS = {
    "costmap_converter_msgs/msg/ObstacleMsg": """std_msgs/Header header
geometry_msgs/Polygon polygon
float64 radius
int64 id
geometry_msgs/Quaternion orientation
geometry_msgs/TwistWithCovariance velocities""",
    COSTMAP: "std_msgs/Header header\nObstacleMsg[] obstacles",
}
PARAMETERS = {
    "obstacle_sources": ["seen", "mapped"],
    "seen.type": OUTLINE,
    "seen.topic": "outline",
    "mapped.type": COSTMAP,
    "mapped.topic": "costmap",
}


def costmap(writer: BagWriter, stamp: int, points: list[tuple[float, float]], frame: str) -> Any:
    """A message of one obstacle."""
    types, geometry = writer.types, "geometry_msgs/msg/"
    zero = types[geometry + "Vector3"](0.0, 0.0, 0.0)
    still = types[geometry + "TwistWithCovariance"](
        types[geometry + "Twist"](zero, zero), np.zeros(36)
    )
    obstacle = types["costmap_converter_msgs/msg/ObstacleMsg"](
        writer.header(stamp, frame),
        types[geometry + "Polygon"]([types[geometry + "Point32"](x, y, 0.0) for x, y in points]),
        0.5,
        7,
        types[geometry + "Quaternion"](0.0, 0.0, 0.0, 1.0),
        still,
    )
    return types[COSTMAP](writer.header(stamp, "odom"), [obstacle])


def drive(path: Path, defined: bool = True) -> None:
    """An outline far away; a round thing 2 m ahead of the bonnet, and on it from 0.5 s to 0.8 s.

    From 0.8 s on that is in a frame which its message is not in.
    """
    with BagWriter(path) as writer:
        for kind, text in DEFINITIONS.items():
            writer._store.register(get_types_from_msg(text, kind))
        road = Road(writer)
        for t in steps(1.0):
            road.ego(t)
            stamp = at(t)
            writer.footprint(
                stamp, [(30.0, 1.0), (31.0, 1.0), (31.0, 2.0)], "odom", topic="/outline"
            )
            x, frame = (4.0 if 0.5 <= t < 0.8 else 6.25), ("map" if t >= 0.8 else "odom")
            message = costmap(writer, stamp, [(x, 0.0)], frame)
            if not defined and ("/costmap", COSTMAP) not in writer._connections:
                writer._connections["/costmap", COSTMAP] = writer._writer.add_connection(
                    "/costmap", COSTMAP, msgdef="", rihs01="RIHS01_0"
                )
            writer.write("/costmap", COSTMAP, stamp, message)


def test_other_types_are_answered_for(tmp_path: Path) -> None:
    drive(tmp_path / "bag")
    result = replay(tmp_path / "bag", tmp_path, parameters=PARAMETERS)
    assert result.outcome is Outcome.PASSED, result.failures
    rows = rows_of(tmp_path)
    for row in rows:
        t = (row.time - at(0.0)) * 1e-9
        if t >= 0.8:
            assert row.verdict is Verdict.UNKNOWN
            assert row.status is Status.UNKNOWN_FRAME
            assert "obstacles[0].header.frame_id" in row.message
            continue
        assert row.verdict is (Verdict.COLLISION if t >= 0.5 else Verdict.FREE)
        assert row.nearest_id == 7
        if t < 0.5:
            assert row.distance == pytest.approx(2.0, abs=1e-9)  # 6.25 - 0.5 - 3.75
    assert {row.verdict for row in rows} == {Verdict.FREE, Verdict.COLLISION, Verdict.UNKNOWN}


def test_a_topic_of_two_sources_is_taken_for_both(tmp_path: Path) -> None:
    """As the node does, which subscribes for each; one of them would else be silent throughout."""
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        for t in steps(1.0):
            road.ego(t)
            road.obstacles(t, [thing(CAR, 20.0, 0.0)])
    parameters: dict[str, Any] = {
        "obstacle_sources": ["grown", "plain"],
        "grown.topic": "obstacles",
        "plain.topic": "obstacles",
        "grown.inflation": 0.5,
    }
    told = {"obstacles": {"grown": "/obstacles", "plain": "/obstacles"}}
    for topics in ({}, told):
        result = replay(tmp_path / "bag", tmp_path, parameters=parameters, topics=topics)
        assert result.outcome is Outcome.PASSED, result.failures
        for row in rows_of(tmp_path):
            assert row.status is Status.SUCCESS, "both are required"
            assert row.distance == pytest.approx(20.0 - 2.25 - 3.75 - 0.5, abs=1e-8)
    result = replay(
        tmp_path / "bag", tmp_path, parameters=parameters, topics={"obstacles": "/obstacles"}
    )
    assert result.outcome is Outcome.BROKEN
    said = "topics.obstacles: must be a mapping from source to topic for the sources grown, plain"
    assert said in result.failures[0]


def test_a_footprint_may_be_a_source_too(tmp_path: Path) -> None:
    """The vehicle is in its own way then; without the footprint nothing would be known."""
    drive(tmp_path / "bag")
    parameters = {"obstacles.type": OUTLINE, "obstacles.topic": "footprint"}
    result = replay(tmp_path / "bag", tmp_path, parameters=parameters, topics=FOOTPRINT)
    assert result.outcome is Outcome.PASSED, result.failures
    assert {row.verdict for row in rows_of(tmp_path)} == {Verdict.COLLISION}


def test_a_topic_of_two_types_is_refused(tmp_path: Path) -> None:
    """Of recordings put together: which messages are meant is not for the replay to guess."""
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        for t in steps(1.0):
            road.ego(t)
            road.obstacles(t, [thing(CAR, 20.0, 0.0)], topic="/seen")
            writer.footprint(at(t), [(30.0, 1.0), (31.0, 1.0), (31.0, 2.0)], "odom", topic="/seen")
    parameters: dict[str, Any] = {
        "obstacle_sources": ["boxes", "outlines"],
        "boxes.topic": "seen",
        "outlines.topic": "seen",
        "outlines.type": OUTLINE,
    }
    one = {"obstacles.topic": "seen"}
    for given, sources in ((parameters, "boxes, outlines"), (one, "obstacles")):
        result = replay(tmp_path / "bag", tmp_path, parameters=given, topics=FOOTPRINT)
        assert result.outcome is Outcome.BROKEN
        said = f"/seen of {sources} has messages of {OUTLINE} and {OBSTACLE_ARRAY}: a topic must"
        assert said in result.failures[0]


def test_type_that_nobody_defines_is_named(tmp_path: Path) -> None:
    """Bags of old recorders carry no definitions: that is said at once, not at each message."""
    drive(tmp_path / "bag", defined=False)
    result = replay(tmp_path / "bag", tmp_path, parameters=PARAMETERS)
    assert result.outcome is Outcome.BROKEN
    assert f"/costmap: the bag does not define {COSTMAP}" in result.failures[0]
    result = replay(
        tmp_path / "bag", tmp_path, parameters={"obstacles.type": "sensor_msgs/msg/Range"}
    )
    assert result.outcome is Outcome.BROKEN
    assert "obstacles.type: must be one of" in result.failures[0]
