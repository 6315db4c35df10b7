# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Under load nothing is lost, and the heart beats on."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.srv import CheckPoses
from server import Bench, Server, doubles, said
from std_srvs.srv import Trigger

from gjk_collision.ros.quality import SERVICE_QOS
from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]
OUTSTANDING = 16  # requests of a client
GRID = [(6.0 * (i % 32), 6.0 * (i // 32)) for i in range(1000)]


def batch(count: int, seed: int) -> CheckPoses.Request:
    poses = np.random.default_rng(seed).uniform(-10.0, 200.0, (count, 3))
    request = CheckPoses.Request(poses=doubles(poses))
    request.header.frame_id = "odom"
    return request


def test_a_burst_of_many_clients(start: Start) -> None:
    """12 clients send 16 requests each before the first is answered: all of them wait in line."""
    _, bench = start("besieged", time_budget=1.0)
    bench.publish()
    bench.until_status(*FREE)
    clients = [
        bench.node.create_client(CheckPoses, "/besieged/check_poses", qos_profile=SERVICE_QOS)
        for _ in range(12)
    ]
    request = batch(2000, 0)
    for client in clients:
        bench.first_reply(client, request)
    futures = [client.call_async(request) for client in clients for _ in range(OUTSTANDING)]
    bench.until(lambda: all(future.done() for future in futures), "all replies")
    assert all(len(future.result().verdicts) == 2000 for future in futures)


def test_batches_of_ten_thousand_poses(start: Start) -> None:
    _, bench = start("broad", time_budget=5.0)
    bench.publish(lambda: bench.array(GRID), rate=5.0)
    bench.until_status(*FREE, x=-50.0)
    for mode in (0, 1, 2):
        request = batch(10_000, mode)
        request.mode = mode
        reply = bench.call("check_poses", request)
        assert said(reply) == (Verdict.COLLISION, Status.SUCCESS)
        assert len(reply.verdicts) == 10_000
        assert len(reply.witnesses) == (40_000 if mode == 2 else 0)
    request = batch(10_001, 0)
    assert said(bench.call("check_poses", request)) == (Verdict.UNKNOWN, Status.LIMIT_EXCEEDED)


SLOW = {"time_budget": 10.0, "max_poses": 50_000, "obstacles.timeout": 60.0}


def slow_batch() -> CheckPoses.Request:
    """Distances of 50 000 poses at as many times: half a second of computation."""
    request = batch(50_000, 3)
    request.mode = 1
    request.times = doubles(np.linspace(0.0, 0.5, 50_000))
    return request


def slow(start: Start, name: str) -> tuple[Server, Bench]:
    """A server for slow batches that is ready to answer them."""
    policy = {"prediction_policy": "hold"}
    server, bench = start(name, state_rate=50.0, **SLOW, **policy)
    bench.publish(lambda: bench.array(GRID), rate=20.0)
    bench.until_status(*FREE, x=-50.0)
    bench.check_poses([[-50.0, 0.0, 0.0]])  # so that no reply of this service is lost later
    return server, bench


def begun(bench: Bench, count: int = 4) -> list[Any]:
    """Send slow batches; return their futures after the server has answered a later question."""
    futures = [bench.clients["check_poses"].call_async(slow_batch()) for _ in range(count)]
    bench.collide(-50.0)
    return futures


def computed(reply: Any) -> tuple[float, float]:
    """When the computation of a reply began and ended, ns."""
    begin = nanoseconds(reply.info.header.stamp)
    return begin, begin + reply.info.compute_time * 1e9


def test_small_questions_are_answered_while_a_batch_is_computed(start: Start) -> None:
    """With one thread for all, no other computation lies within that of a batch."""
    _, bench = slow(start, "shared")
    within = {"collide": 0, "check_poses": 0, "state": 0}
    for _ in range(20):
        bench.states.clear()
        others: list[tuple[str, Any]] = []
        future = bench.clients["check_poses"].call_async(slow_batch())
        while not future.done():
            others.append(("collide", bench.collide(-50.0)))
            others.append(("check_poses", bench.check_poses([[-50.0, 0.0, 0.0]])))
        assert said(future.result()) == (Verdict.COLLISION, Status.SUCCESS)
        assert len(future.result().verdicts) == 50_000
        begin, end = computed(future.result())
        for name, reply in [*others, *(("state", state) for state in bench.states)]:
            assert name == "state" or said(reply) == FREE
            first, last = computed(reply)
            within[name] += begin < first <= last < end
        if min(within.values()) >= 2:
            return
    pytest.fail(f"computations during those of 20 batches: {within}")


@pytest.mark.requirement("N-1")
@pytest.mark.parametrize("change", ["deactivate", "restart", "reset"])
def test_data_deleted_during_a_batch(change: str, start: Start) -> None:
    """An answer from deleted data is not sent, whatever it is.

    A batch can be finished before the data is deleted, or begin after it: then another is sent.
    """
    _, bench = slow(start, f"deleted_{change}")
    gone = Status.NOT_ACTIVE if change == "deactivate" else Status.SNAPSHOT_MISMATCH
    now = bench.node.get_clock().now
    for _ in range(10):
        futures, asked = begun(bench), now().nanoseconds
        if change == "reset":
            assert bench.call("reset", Trigger.Request()).success
        else:
            assert bench.transition("deactivate")
        deleted = now().nanoseconds
        if change == "restart":
            assert bench.transition("activate")
        bench.until(lambda futures=futures: all(each.done() for each in futures), "replies")
        replies = [future.result() for future in futures]
        for reply in replies:
            if reply.verdict.verdict == Verdict.UNKNOWN:
                assert set(reply.verdicts) <= {Verdict.UNKNOWN}
            else:
                begin, end = computed(reply)
                assert end < deleted or begin > asked
        if any(each.verdict.status == gone and len(each.verdicts) for each in replies):
            return
        if change == "deactivate":
            assert bench.transition("activate")
        bench.until_status(*FREE, x=-50.0)
    pytest.fail("no data was deleted during a batch")


@pytest.mark.requirement("D-11")
def test_parameter_changed_during_a_batch(start: Start) -> None:
    """Each answer is that of the configuration that it names, or there is none."""
    _, bench = slow(start, "changed")
    before = bench.call("check_poses", slow_batch())
    futures = begun(bench)
    assert bench.set(safety_margin=2.0).successful
    bench.until(lambda: all(each.done() for each in futures), "replies")
    after = bench.call("check_poses", slow_batch())
    assert before.verdicts != after.verdicts
    expected = {each.info.config_hash: each.verdicts for each in (before, after)}
    for future in futures:
        reply = future.result()
        if reply.verdict.status == Status.SNAPSHOT_MISMATCH:  # changed while it was computed
            assert set(reply.verdicts) == {Verdict.UNKNOWN}
        else:
            assert reply.verdicts == expected[reply.info.config_hash]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_stop_during_a_batch(how: signal.Signals, start: Start) -> None:
    """The thread that computes ends before the interpreter does."""
    server, bench = slow(start, "stopped_busy")
    # While this process sends requests, it sends no data. If this takes long, the data is too old,
    # and the answers are UNKNOWN at once.
    bench.until(lambda: not all(each.done() for each in begun(bench, 64)), "a long batch")
    code, log = server.stop(how), server.log
    assert code == 0, log
    assert "Traceback" not in log
    assert "Timeout" not in log  # of STOP_LIMIT
