# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A frame that nobody publishes: what is answered without tf2_msgs, and with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.msg import ObstacleArray
from gjk_collision.srv import CheckPath, Collide
from server import HAS_TRANSFORMS, Bench, Server, said

from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]


@pytest.fixture(params=["without tf2_msgs", "with tf2_msgs"])
def status(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Status:
    """What servers started from now on answer; without tf2_msgs they cannot import it."""
    if request.param == "with tf2_msgs":
        if not HAS_TRANSFORMS:
            pytest.skip("tf2_msgs is not installed")
        return Status.UNKNOWN_FRAME
    (tmp_path / "tf2_msgs.py").write_text("raise ImportError('hidden by a test')\n")
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    return Status.TF_UNAVAILABLE


def test_frame_that_nobody_publishes(start: Start, status: Status) -> None:
    """In a request, in the heartbeat, in a list of obstacles; data in the check frame is used."""
    unknown = (Verdict.UNKNOWN, status)
    server, bench = start("frames")
    bench.publish()
    bench.until_status(*FREE)
    for reply in (
        bench.collide(frame="map"),
        bench.collide(frame=""),
        bench.check_poses([50.0, 0.0, 0.0], frame="map"),
        bench.check_path([50.0, 0.0, 0.0], frame="map"),
    ):
        assert said(reply) == unknown
    bench.until(lambda: bench.states and said(bench.states[-1]) == unknown, "heartbeat")
    assert "map" in bench.collide(frame="map").verdict.message
    for service, kind in (("collide", Collide), ("check_path", CheckPath)):
        request = kind.Request()
        header = request.pose.header if service == "collide" else request.header
        header.frame_id, header.stamp.sec = "map", -1  # a Time of rclpy and tf2 is not signed
        reply = bench.call(service, request)
        assert reply.verdict.verdict == Verdict.UNKNOWN
        assert reply.verdict.status in (status, Status.TF_EXTRAPOLATION)
    assert ("no transforms" in server.log) == (status is Status.TF_UNAVAILABLE)

    def elsewhere() -> ObstacleArray:
        message = bench.array()
        message.header.frame_id = "map"
        return message

    bench.publish(elsewhere)
    bench.until_status(*unknown)
    bench.publish()
    bench.until_status(*FREE)
