# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A running node does not send FREE from data that changed while it computed the answer."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.msg import ObstacleArray
from gjk_collision.srv import CheckPoses
from rclpy.qos import DurabilityPolicy, QoSProfile
from server import Bench, Server, doubles, said

from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]
SLOW = {"time_budget": 10.0, "max_poses": 50_000, "prediction_policy": "hold"}
GRID = [(6.0 * (i % 32), 6.0 * (i // 32)) for i in range(1000)]


def free_batch(**fields: Any) -> CheckPoses.Request:
    """Distances of 50 000 free poses: half a second of computation."""
    poses = np.random.default_rng(3).uniform(-60.0, -20.0, (50_000, 3))
    request = CheckPoses.Request(poses=doubles(poses), mode=1, **fields)
    request.times = doubles(np.linspace(0.0, 0.5, 50_000))
    request.header.frame_id = "odom"
    return request


def times_of(reply: Any) -> tuple[float, float]:
    """When the computation of a reply began and ended, ns."""
    begin = nanoseconds(reply.info.header.stamp)
    return begin, begin + reply.info.compute_time * 1e9


@pytest.mark.requirement("D-11")
@pytest.mark.parametrize("names", [["", "loaded"], ["", ""]])
def test_footprint_that_becomes_too_old_during_a_batch(start: Start, names: list[str]) -> None:
    name = f"old_footprint_{len(set(names))}"
    _, bench = start(
        name, footprint="[]", footprint_timeout=60.0, footprint_names="[loaded]",
        **{"loaded.robot_radius": 1.0, "obstacles.timeout": 60.0}, **SLOW,
    )  # fmt: skip
    bench.publish(lambda: bench.array(GRID), rate=20.0)

    def send() -> float:
        outline = bench.outline()
        bench.footprint.publish(outline)
        return float(nanoseconds(outline.header.stamp))

    def is_free() -> bool:
        send()
        return said(bench.collide(-50.0)) == FREE

    bench.until(is_free, "a footprint")
    which = (np.arange(50_000) % 2).astype(np.uint8)
    request = free_batch(footprints=names, which=array("B", which.tobytes()))
    client = bench.clients["check_poses"]
    duration = bench.call("check_poses", request).info.compute_time
    limit = max(0.4, 2.0 * duration)
    assert bench.set(footprint_timeout=limit).successful
    for _ in range(10):
        bench.until(is_free, "a footprint")
        # Batches are computed one after the other, from before the limit until after it.
        futures = [client.call_async(request) for _ in range(int(2.0 * limit / duration) + 2)]
        sent = send()
        bench.until(lambda futures=futures: all(each.done() for each in futures), "replies")
        late = 0
        for future in futures:
            reply = future.result()
            begin, end = ((time - sent) * 1e-9 for time in times_of(reply))
            if said(reply) == FREE:
                assert end <= limit + 0.05, "FREE with a footprint that is too old"
            is_stale = said(reply) == (Verdict.UNKNOWN, Status.STALE_FOOTPRINT)
            late += is_stale and begin <= limit < end
        if late:
            return
    pytest.fail("the footprint became too old during no batch")


@pytest.mark.requirement("N-5")
def test_timeout_of_an_optional_source_is_refused_while_active(start: Start) -> None:
    """A source that stands still: with a lower timeout, its obstacle would be ignored."""
    _, bench = start(
        "optional", obstacle_sources=["obstacles", "radar"],
        **{"obstacles.timeout": 60.0},
        **{"radar.required": False, "radar.timeout": 60.0, "radar.topic": "radar"},
    )  # fmt: skip
    bench.publish(lambda: bench.array([(0.0, 0.0)]))
    radar = bench.node.create_publisher(ObstacleArray, "/radar", 5)

    def is_hit() -> bool:
        radar.publish(bench.array([(50.0, 0.0)]))
        return said(bench.collide()) == HIT

    bench.until(is_hit, "the obstacle of the radar")
    refused = bench.set(**{"radar.timeout": 0.1})
    assert not refused.successful
    assert "radar.timeout: cannot change while the node is active" in refused.reason
    for _ in range(30):
        assert said(bench.collide()) == HIT


@pytest.mark.requirement("D-11")
@pytest.mark.parametrize("change", ["margin", "map"])
def test_change_during_a_batch(start: Start, change: str) -> None:
    """After the change is known, no reply is FREE that was computed before it."""
    qos = {"map.qos_durability": "transient_local", "map.qos_reliability": "reliable"}
    of_map = {"map.static": True, "map.topic": f"map_{change}", **qos}
    _, bench = start(
        f"change_{change}", obstacle_sources=["obstacles", "map"],
        **{"obstacles.timeout": 60.0}, **of_map, **SLOW,
    )  # fmt: skip
    bench.publish(lambda: bench.array(GRID), rate=20.0)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = bench.node.create_publisher(ObstacleArray, f"/map_{change}", latched)
    publisher.publish(bench.array([(300.0, 0.0)]))
    bench.until_status(*FREE, x=-50.0)
    bench.check_poses([[-50.0, 0.0, 0.0]])
    margin = 0.0
    for k in range(20):
        futures = [bench.clients["check_poses"].call_async(free_batch()) for _ in range(3)]
        before = bench.collide(-50.0).info
        if change == "margin":
            margin += 0.1
            assert bench.set(safety_margin=margin).successful
            changed = float(bench.node.get_clock().now().nanoseconds)
        else:
            publisher.publish(bench.array([(301.0 + k, 0.0)]))

            def is_used(x: float = 301.0 + k, old: int = before.snapshot_id) -> bool:
                reply = bench.distance(x)
                return reply.info.snapshot_id != old and said(reply) == HIT

            bench.until(is_used, "the next map")
            changed = float(bench.node.get_clock().now().nanoseconds)
        bench.until(lambda futures=futures: all(each.done() for each in futures), "replies")
        for future in futures:
            reply = future.result()
            begin, end = times_of(reply)
            print(f"{k} {begin:.3f} {end:.3f} {said(reply)[1].name} {len(reply.verdicts)}")
        if said(reply) == FREE:
            assert not begin < nanoseconds(before.header.stamp) < changed < end
        replies = [said(future.result()) for future in futures]
        if (Verdict.UNKNOWN, Status.SNAPSHOT_MISMATCH) in replies:
            return
    pytest.fail("no change was made during a batch")
