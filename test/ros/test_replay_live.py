# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A bag played through DDS into the node: it must say what the replay of that bag says."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import PolygonStamped
from gjk_collision.msg import ObstacleArray, Snapshot
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from server import Bench, Server, said
from write_scenarios import write

from gjk_collision.replay.bag import Bag
from gjk_collision.replay.drive import Drive
from gjk_collision.replay.rows import Row
from gjk_collision.replay.topics import choose
from gjk_collision.ros.recorder import Recorder
from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict

PARAMETERS = {"check_frame": "base_link", "safety_margin": 1.0, "time_budget": 1.0}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    server = Server("smoke", record_requests=True, **PARAMETERS)
    bench = Bench("smoke")
    try:
        yield bench
    finally:
        bench.close()
        server.stop()


def offline(path: Path) -> dict[int, Row]:
    """What the replay says, by the stamp of the obstacles."""
    config = Config.from_parameters(PARAMETERS)
    with Bag(path) as bag:
        drive = Drive(bag, config, choose(bag, config, {}))
        return {row.time: row for row in drive.rows() if row.cause == "data"}


def play(bench: Bench, path: Path) -> int:
    """Play a bag as if it happened now; return by how much its stamps were shifted [ns]."""
    kinds = {"/footprint": PolygonStamped, "/obstacles": ObstacleArray}
    publishers = {"/footprint": bench.footprint, "/obstacles": bench.obstacles}
    for publisher in publishers.values():
        bench.until(publisher.get_subscription_count, "a subscription")
    bench.until(lambda: bench.states, "a heartbeat")
    bench.states.clear()
    with Bag(path) as bag:
        shift = time.time_ns() - bag.begin
        for message in bag.messages(kinds):
            due = message.time + shift
            while time.time_ns() < due:
                bench.spin(min(0.01, max(0.0, (due - time.time_ns()) * 1e-9)))
            sent: Any = deserialize_message(message.data, kinds[message.topic])
            stamp = sent.header.stamp
            stamp.sec, stamp.nanosec = divmod(stamp.sec * 10**9 + stamp.nanosec + shift, 10**9)
            publishers[message.topic].publish(sent)
    return shift


def test_live_agrees_with_offline(bench: Bench, tmp_path: Path) -> None:
    """Through serialisation, DDS, the node's own clock and its heartbeat."""
    path = write(tmp_path, "standing")
    expected = offline(path)
    stamps: dict[int, int] = {}  # sequence number of a snapshot -> stamp of its obstacles

    def note(snapshot: Snapshot) -> None:
        for sender in snapshot.senders:
            stamps[snapshot.sequence] = nanoseconds(sender.age_limit.stamp)

    bench.node.create_subscription(Snapshot, "/smoke/snapshot", note, QoSProfile(depth=100))
    shift = play(bench, path)
    bench.until(lambda: bench.states[-1].snapshot_sequence in stamps, "the last snapshot")
    seen = []
    for state in bench.states:
        verdict, status = said(state)
        if status in (Status.STALE_OBSTACLES, Status.NO_FOOTPRINT, Status.NO_OBSTACLES):
            assert verdict is Verdict.UNKNOWN
            continue  # before the first message, or a machine too slow for its timeouts
        if state.snapshot_sequence not in stamps:
            continue  # before the subscription met its publisher
        stamp = stamps[state.snapshot_sequence] - shift
        row = expected[stamp]
        assert (verdict, status) == (row.verdict, row.status), stamp
        assert state.nearest_id == row.nearest_id
        assert state.distance == row.distance, "the same code on the same numbers"
        assert state.distance_lower_bound == row.lower_bound
        assert (state.witness_ego.x, state.witness_ego.y) == row.witness_ego
        seen.append(verdict)
    assert len(seen) >= 10, f"only {len(seen)} of {len(bench.states)} heartbeats could be compared"
    assert set(seen) == {Verdict.FREE, Verdict.COLLISION}


def test_a_recording_has_all_that_replay_needs(bench: Bench, tmp_path: Path) -> None:
    """The recorder beside the node: the same answers again, and each request with its reply."""
    config, path = Config.from_parameters(PARAMETERS), tmp_path / "recorded"
    topic = "/smoke/collide/_service_event"
    with Recorder(bench.node, path, config, "/smoke") as recorder:
        assert "nothing on /clock, /footprint, /obstacles" in recorder.text()
        bench.until(lambda: bench.node.count_publishers(topic), "events")
        play(bench, write(tmp_path, "standing"))
        sent = 0

        def asked() -> bool:  # until the subscription has met its publisher
            nonlocal sent
            bench.collide(x=7.0)
            sent += 1
            bench.spin()
            return recorder.counts[topic] >= 2

        bench.until(asked, "a request and its reply")
    with Bag(path) as bag:
        drive = Drive(bag, config, choose(bag, config, {}))
        rows = [*drive.rows()]
    found = [(row.verdict, row.distance) for row in rows if row.cause == "data"]
    expected = [(row.verdict, row.distance) for row in offline(tmp_path / "standing").values()]
    assert found[-60:] == expected[-60:], "the first ones may lack the footprint"
    assert 1 <= sum(not row.is_state for row in rows) <= sent
    # The reply to the last request may be later than the end of the recording.
    assert all("not compared" in note for note in drive.notes())


def test_the_command_records_without_a_server(tmp_path: Path) -> None:
    """It says what is missing, and refuses to replace a bag, and a recording of nothing."""
    command = [sys.executable, "-m", "gjk_collision", "record", "--live", str(tmp_path / "bag")]
    command += ["--seconds", "0.2", "--node", "/nobody/collision_server"]
    for text in (
        "nothing on /clock, /nobody/footprint, /nobody/obstacles",
        "bag exists; choose another folder",
    ):
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode == 2
        assert text in ended.stderr
