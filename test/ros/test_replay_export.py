# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The mcap file that a replay exports is read by ROS itself, as `ros2 bag play` passes it on."""

from __future__ import annotations

from pathlib import Path

from gjk_collision.msg import CollisionState
from rclpy.serialization import deserialize_message
from visualization_msgs.msg import MarkerArray
from write_scenarios import write

from gjk_collision.__main__ import main
from gjk_collision.replay.golden import read_rows


def test_messages_of_an_export_are_those_of_ros(tmp_path: Path) -> None:
    """Bytes that only our own reader accepts would be useless to Foxglove and RViz."""
    from mcap.reader import make_reader

    bag, export = write(tmp_path, "approach"), tmp_path / "answers.mcap"
    command = ["replay", str(bag), "--mcap", str(export), "--out", str(tmp_path), "--no-page"]
    assert main(command) == 0
    rows = list(read_rows(tmp_path / "approach" / "results.jsonl"))
    states, arrays = [], []
    with export.open("rb") as file:
        for _, channel, message in make_reader(file, validate_crcs=True).iter_messages():
            is_state = channel.topic == "/replay/state"
            kind, found = (CollisionState, states) if is_state else (MarkerArray, arrays)
            found.append(deserialize_message(message.data, kind))
    assert len(states) == len(arrays) == len(rows) > 0
    for state, array, row in zip(states, arrays, rows, strict=True):
        assert state.header.stamp.sec * 10**9 + state.header.stamp.nanosec == row.now
        assert (state.verdict.verdict, state.verdict.status) == (row.verdict, row.status)
        names = [marker.ns for marker in array.markers]
        assert names[:2] == ["", "footprint"]
        assert {marker.header.frame_id for marker in array.markers} == {"odom"}
