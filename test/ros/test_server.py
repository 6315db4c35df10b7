# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server as its users meet it: a process of its own, over DDS."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.msg import CollisionState
from server import BOX, MISSING_FRAME, Bench, Server, said
from std_srvs.srv import Trigger

from gjk_collision import srv
from gjk_collision.verdict import Status, Verdict

TIMEOUT = 3.0  # of the obstacles, s; on a busy machine, the messages of a bench come late
FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)


def unknown(status: Status) -> tuple[Verdict, Status]:
    return Verdict.UNKNOWN, status


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One server with a configured footprint for all tests that leave it as it was."""
    process = Server(
        "server", footprint=BOX, max_poses=1000, state_rate=20.0, time_budget=5.0,
        **{"obstacles.timeout": TIMEOUT},
    )  # fmt: skip
    yield process
    if process.process.poll() is None:
        process.stop()


@pytest.fixture(scope="module")
def module_bench(server: Server) -> Iterator[Bench]:
    bench = Bench(server.name)
    yield bench
    bench.close()


@pytest.fixture
def bench(module_bench: Bench) -> Iterator[Bench]:
    """Fresh obstacles of its own, and nothing else, are known when a test begins."""
    module_bench.call("reset", Trigger.Request())
    module_bench.publish()
    module_bench.until_status(*FREE)
    yield module_bench
    module_bench.stop_publishing()


# ---- zero is not free


@pytest.mark.requirement("V-1")
@pytest.mark.parametrize(
    "service",
    [srv.Collide, srv.Distance, srv.CheckPoses, srv.CheckPath, srv.NearestFree, srv.CheckShapes],
)
def test_all_zero_reply_is_not_free(service: Any) -> None:
    reply = service.Response()
    assert said(reply) == (Verdict.UNKNOWN, Status.UNDEFINED)
    assert not getattr(reply, "is_free", False)
    assert reply.verdict.verdict != reply.verdict.FREE


@pytest.mark.requirement("V-1")
def test_all_zero_state_is_not_free() -> None:
    assert said(CollisionState()) == (Verdict.UNKNOWN, Status.UNDEFINED)


# ---- the services


def test_source_has_one_name_also_with_a_remapped_topic(start: Callable[..., Any]) -> None:
    """The name in `obstacle_sources`; a message about its topic has the name after remapping."""
    parameters = {"obstacle_sources": ["seen"], "seen.topic": "/perception/objects"}
    _, bench = start("renamed", remap=["/perception/objects:=/obstacles"], **parameters)
    reply = bench.until_status(Verdict.UNKNOWN, Status.NO_OBSTACLES)
    assert reply.verdict.message.startswith("seen: no message received on the topic '/obstacles':")
    assert list(reply.info.bad_sources) == ["seen"]


@pytest.mark.requirement("V-7")
def test_collide(bench: Bench) -> None:
    reply = bench.collide(1.5)
    assert said(reply) == HIT
    assert not reply.is_free
    assert (reply.obstacle_id, reply.obstacle_source) == (0, "obstacles")
    reply = bench.collide(2.5)
    assert said(reply) == FREE
    assert reply.is_free
    assert reply.obstacle_id == -1
    info = reply.info
    assert info.snapshot_id > 0
    assert info.header.frame_id == "odom"
    assert 0.0 <= info.max_obstacle_age < TIMEOUT
    assert info.footprint_age == 0.0
    assert info.config_hash != 0
    assert not info.bad_sources
    assert said(bench.collide(2.5, margin=0.6)) == (Verdict.MARGIN, Status.SUCCESS)


def test_groups_and_gradients(bench: Bench) -> None:
    """The obstacle and the vehicle are boxes of 2 m."""
    poses = [[5.0, 0, 0], [6.0, 0, 0], [5.0, 0, 0], [1.0, 0, 0], [50.0, 0, 0]]
    ends = array("I", [0, 2, 5])
    reply = bench.check_poses(poses, group_offsets=ends, stop_at_first=True)
    assert said(reply) == HIT
    assert list(reply.group_first_invalid) == [-1, 1]
    assert list(reply.verdicts) == [1, 1, 1, 2, 0]
    assert not len(reply.gradients) and not len(reply.gradient_ids)
    reply = bench.check_poses(poses, mode=srv.CheckPoses.Request.MODE_GRADIENT, k=2)
    assert said(reply) == HIT
    assert list(reply.gradient_ids[:2]) == [0, -1]
    assert list(reply.gradient_distances)[::2] == pytest.approx([3, 4, 3, -1, 48])
    # The faces are parallel, so the derivative by the yaw is one-sided.
    assert list(reply.gradients[:2]) == pytest.approx([1.0, 0.0], abs=1e-9)
    assert reply.gradient_smooth[0] == 0
    assert not len(reply.group_first_invalid)
    refused = bench.check_poses(poses, group_offsets=array("I", [0, 2, 4]))
    assert said(refused) == unknown(Status.ARRAY_MISMATCH)
    assert refused.verdict.message.startswith("group_offsets[2]: must end at")
    assert not refused.is_free


def test_nearest_free(bench: Bench) -> None:
    request = srv.NearestFree.Request(max_shift=4.0, margin=0.5)
    request.pose.header.frame_id = "odom"
    request.pose.pose.position.x = 1.5
    reply = bench.call("nearest_free", request)
    assert said(reply) == FREE and reply.is_free
    x, y, yaw = reply.free_pose
    assert x > 2.5 and np.hypot(x - 1.5, y) <= 1.001 + 0.005 and yaw == 0.0
    assert reply.shift == pytest.approx(1.0, abs=0.01) and reply.turn == 0.0
    assert reply.info.header.frame_id == "odom"
    request.max_shift = 0.5
    none = bench.call("nearest_free", request)
    assert said(none) == HIT and not none.is_free
    assert len(none.free_pose) == 0 and np.isnan([none.shift, none.turn]).all()


def test_check_shapes_answers_before_activation(
    start: Callable[..., tuple[Server, Bench]],
) -> None:
    _, bench = start("sleeper", autostart=False)
    request = srv.CheckShapes.Request(a=bench.array(), b=bench.array([(1.5, 0), (4, 0)]), mode=2)
    reply = bench.call("check_shapes", request)
    assert said(reply) == HIT
    assert list(reply.verdicts) == [Verdict.COLLISION, Verdict.FREE]
    assert list(reply.distances) == pytest.approx([-0.5, 2.0])
    assert list(reply.directions[2:]) == pytest.approx([1.0, 0.0])


@pytest.mark.requirement("N-6")
def test_state(bench: Bench) -> None:
    """Without a pose of the vehicle in odom the heartbeat beats on, and is not free."""
    bench.states.clear()
    bench.until(lambda: len(bench.states) >= 5, "five heartbeats")
    counters = [state.counter for state in bench.states]
    assert counters == list(range(counters[0], counters[0] + len(counters)))
    assert said(bench.states[-1]) == unknown(MISSING_FRAME)
    assert np.isnan(bench.states[-1].distance)


# ---- what is missing, old or early


@pytest.mark.requirement("D-1")
def test_publisher_that_dies_is_noticed_in_time_and_welcomed_back(bench: Bench) -> None:
    bench.stop_publishing()
    while said(reply := bench.collide()) == FREE:
        # Its age is in the reply: never free on data older than the timeout, however slow we are.
        assert reply.info.max_obstacle_age <= TIMEOUT
    assert said(reply) == unknown(Status.STALE_OBSTACLES)
    assert reply.info.bad_sources == ["obstacles"]
    bench.publish()
    bench.until_status(*FREE)


# ---- what is wrong


@pytest.mark.requirement("V-8")
def test_snapshot_of_an_earlier_activation_is_not_given(
    start: Callable[..., tuple[Server, Bench]],
) -> None:
    """Its id is never used again, in another process neither."""
    _, bench = start("counted")
    bench.publish()
    epochs, ids = set(), []
    for _ in range(3):
        bench.until_status(*FREE)
        for wanted in ids:
            reply = bench.check_poses([50.0, 0, 0], require_snapshot_id=wanted)
            assert said(reply) == unknown(Status.SNAPSHOT_MISMATCH)
        ids += [bench.collide().info.snapshot_id for _ in range(5)]
        epochs.add(ids[-1] >> 32)
        assert bench.transition("deactivate")
        assert bench.transition("activate")
    assert len(epochs) == 3
    assert 0 not in epochs


# ---- lifecycle, parameters, process


@pytest.mark.requirement("N-1")
def test_lifecycle(start: Callable[..., tuple[Server, Bench]]) -> None:
    """Unconfigured, inactive, active and back: answered throughout, free only while active."""
    _, bench = start("cycle", autostart=False)
    bench.publish()
    assert said(bench.collide()) == unknown(Status.NOT_ACTIVE)
    bench.until(lambda: bench.states, "heartbeat")
    assert said(bench.states[-1]) == unknown(Status.NOT_ACTIVE)
    assert said(bench.collide(frame="nowhere")) == unknown(Status.NOT_ACTIVE)
    assert said(bench.check_poses([np.nan], mode=77)) == unknown(Status.NOT_ACTIVE)
    assert bench.transition("configure")
    assert said(bench.collide()) == unknown(Status.NOT_ACTIVE)
    assert bench.transition("activate")
    bench.until_status(*FREE)
    assert bench.transition("deactivate")
    assert said(bench.collide()) == unknown(Status.NOT_ACTIVE)
    assert said(bench.collide(frame="nowhere")) == unknown(Status.NOT_ACTIVE)
    bench.stop_publishing()
    assert bench.transition("activate")
    assert said(bench.collide()) == unknown(Status.NO_OBSTACLES)  # nothing is kept
    bench.publish()
    bench.until_status(*FREE)
    assert bench.transition("deactivate")
    assert bench.transition("cleanup")
    assert "not configured" in bench.collide().verdict.message
    assert bench.transition("configure")
    assert bench.transition("activate")
    bench.until_status(*FREE)
    before = bench.states[-1].counter
    bench.until(lambda: bench.states[-1].counter > before, "heartbeat")


@pytest.mark.requirement("N-5")
def test_live_change_towards_the_safe_side(start: Callable[..., tuple[Server, Bench]]) -> None:
    _, bench = start("live", state_rate=5.0)
    bench.publish()
    before = bench.until_status(*FREE, x=2.5).info.config_hash
    assert bench.set(safety_margin=1.0, state_rate=20.0).successful
    reply = bench.collide(2.5)
    assert said(reply) == (Verdict.MARGIN, Status.SUCCESS)
    assert reply.info.config_hash != before
    for change, words in (
        ({"safety_margin": 0.5}, "can only increase while the node is active"),
        ({"obstacles.timeout": 20.0}, "can only decrease while the node is active"),
        ({"check_frame": "map"}, "cannot change while the node is configured"),
        ({"safety_margin": 2.0, "obstacles.timeout": 20.0}, "obstacles.timeout"),  # all or none
    ):
        refused = bench.set(**change)
        assert not refused.successful
        assert words in refused.reason
    assert said(bench.collide(3.5)) == FREE
    assert bench.transition("deactivate")
    assert bench.set(safety_margin=0.5).successful
