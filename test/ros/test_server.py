# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server as its users meet it: a process of its own, over DDS."""

from __future__ import annotations

import signal
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.msg import CollisionState, ObstacleArray
from gjk_collision.srv import (
    CheckPath,
    CheckPoses,
    CheckShapes,
    Collide,
    Distance,
    NearestFree,
)
from server import BOX, MISSING_FRAME, Bench, Server, doubles, said
from std_srvs.srv import Trigger

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
    "service", [Collide, Distance, CheckPoses, CheckPath, NearestFree, CheckShapes]
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
    assert reply.verdict.message == "seen: no message received on the topic '/obstacles'"
    assert list(reply.info.bad_sources) == ["seen"]
    bench.publish()
    bench.until_status(*FREE)
    hit = bench.collide(0.0)
    assert (hit.obstacle_id, hit.obstacle_source) == (0, "seen")
    assert list(bench.distance(k=1).sources) == ["seen"]
    bench.states.clear()
    state = bench.until(lambda: bench.states, "heartbeat")[0]
    assert state.nearest_source in ("seen", "")  # "": the pose of the vehicle is not known
    bench.stop_publishing()
    reply = bench.until_status(Verdict.UNKNOWN, Status.STALE_OBSTACLES)
    assert reply.verdict.message.startswith("seen: ")
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


def test_distance(bench: Bench) -> None:
    bench.publish(lambda: bench.array([(0, 0), (10, 0)]))
    reply = bench.until(
        lambda: (r := bench.distance(4.0, k=5)) and len(r.ids) == 2 and r, "both obstacles"
    )
    assert list(reply.ids) == [0, 1]
    assert list(reply.sources) == ["obstacles"] * 2
    assert list(reply.distances) == pytest.approx([2.0, 4.0])
    assert all(lower <= d for lower, d in zip(reply.lower_bounds, reply.distances, strict=True))
    assert list(reply.directions) == pytest.approx([-1, 0, 1, 0])
    assert list(reply.statuses) == [Status.SUCCESS] * 2
    assert list(bench.distance(4.0, max_distance=3.0).ids) == [0]
    assert bench.distance(0.5).distances[0] == pytest.approx(-1.5)


def test_groups_and_gradients(bench: Bench) -> None:
    """The obstacle and the vehicle are boxes of 2 m."""
    poses = [[5.0, 0, 0], [6.0, 0, 0], [5.0, 0, 0], [1.0, 0, 0], [50.0, 0, 0]]
    ends = array("I", [0, 2, 5])
    reply = bench.check_poses(poses, group_offsets=ends, stop_at_first=True)
    assert said(reply) == HIT
    assert list(reply.group_first_invalid) == [-1, 1]
    assert list(reply.verdicts) == [1, 1, 1, 2, 0]
    assert not len(reply.gradients) and not len(reply.gradient_ids)
    reply = bench.check_poses(poses, mode=CheckPoses.Request.MODE_GRADIENT, k=2)
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


def test_arcs(bench: Bench) -> None:
    """A half circle around the obstacle is free, the straight line through it is not."""
    radius = 6.0
    start = [-radius, 0.0, np.pi / 2]
    around = doubles([-1.0 / radius, np.pi * radius])
    reply = bench.check_path([start], arcs=around)
    assert said(reply) == FREE
    assert (reply.first_invalid_segment, reply.last_valid_fraction) == (-1, 1.0)
    through = doubles([0.0, 2.0, 0.0, 9.0])
    reply = bench.check_path([[-radius, 0.0, 0.0]], arcs=through)
    assert said(reply) == HIT
    assert reply.first_invalid_segment == 1
    assert reply.last_valid_fraction == pytest.approx(4.0 / 11.0, abs=0.01)
    refused = bench.check_path([start, start], arcs=around)
    assert said(refused) == unknown(Status.ARRAY_MISMATCH)
    assert not refused.is_free


def test_nearest_free(bench: Bench) -> None:
    request = NearestFree.Request(max_shift=4.0, margin=0.5)
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
    request.max_shift = -1.0
    refused = bench.call("nearest_free", request)
    assert said(refused) == unknown(Status.INVALID_INPUT)
    assert np.isnan(refused.shift) and len(refused.free_pose) == 0


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_check_poses(bench: Bench, mode: int) -> None:
    poses = np.zeros((1000, 3))
    poses[:, 0] = np.linspace(10.0, 0.0, 1000)
    reply = bench.check_poses(poses, mode=mode)
    assert said(reply) == HIT
    first = int(np.argmax(poses[:, 0] <= 2.0))
    assert reply.first_invalid_index == first
    assert list(reply.verdicts) == [Verdict.FREE] * first + [Verdict.COLLISION] * (1000 - first)
    assert set(reply.statuses) == {Status.SUCCESS}
    assert len(reply.distances) == len(reply.lower_bounds) == (1000 if mode else 0)
    assert len(reply.witnesses) == (4000 if mode == 2 else 0)
    if mode:
        assert reply.distances[0] == pytest.approx(8.0)
    reply = bench.check_poses(poses[:first], mode=mode)
    assert said(reply) == FREE
    assert reply.is_free
    assert reply.first_invalid_index == -1


@pytest.mark.requirement("V-9")
def test_check_path(bench: Bench) -> None:
    """What no pose touches, the way between two of them may."""
    through = [-10.0, 0, 0, 10, 0, 0, 10, 50, 0]
    reply = bench.check_path(through)
    assert said(reply) == HIT
    assert not reply.is_free
    assert (reply.first_invalid_segment, reply.obstacle_id) == (0, 0)
    assert reply.last_valid_fraction == pytest.approx(0.4, abs=0.01)
    assert np.isnan(reply.first_collision_time)
    assert reply.info.snapshot_id > 0
    reply = bench.check_path(through, interpolation=0)
    assert said(reply) == FREE
    assert reply.is_free
    assert (reply.first_invalid_segment, reply.last_valid_fraction) == (-1, 1.0)
    assert reply.min_distance == pytest.approx(8.0)
    assert reply.min_distance_lower_bound <= 8.0
    assert said(bench.check_path([-9.0, 2.5, 0, 9, 2.5, 0], margin=1.0)) == (
        Verdict.MARGIN,
        Status.SUCCESS,
    )
    assert said(bench.check_path([5.0, 0, 0])) == FREE


def test_check_path_against_what_moves(bench: Bench) -> None:
    """Nothing is in the way now, and something crosses it later."""

    def make() -> ObstacleArray:
        message = bench.array([(0, -10)])
        message.velocities = doubles([0.0, 10.0, 0.0])
        return message

    bench.publish(make)
    path, times = [-10.0, 0, 0, 10, 0, 0], doubles([0.0, 2.0])
    bench.until(lambda: said(bench.check_path(path)) == FREE, "free")
    reply = bench.check_path(path, times=times)
    assert said(reply) == HIT
    # Its data has an age, and it has gone on since.
    assert 0.8 - reply.info.max_obstacle_age - 0.01 <= reply.first_collision_time <= 0.8 + 0.01
    reply = bench.check_path(path, times=doubles([0.0, 60.0]))
    assert said(reply)[1] in (Status.SUCCESS, Status.PREDICTION_TOO_SHORT)
    assert not reply.is_free


def test_check_shapes_answers_before_activation(
    start: Callable[..., tuple[Server, Bench]],
) -> None:
    _, bench = start("sleeper", autostart=False)
    request = CheckShapes.Request(a=bench.array(), b=bench.array([(1.5, 0), (4, 0)]), mode=2)
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


def test_state_of_a_vehicle_in_its_own_frame(start: Callable[..., tuple[Server, Bench]]) -> None:
    """With check_frame = base_frame the vehicle is at the origin, and no transform is needed."""
    _, bench = start("ego", base_frame="odom")
    bench.publish(lambda: bench.array([(5, 0)]))
    bench.until(lambda: bench.states and said(bench.states[-1]) == FREE, "free")
    state = bench.states[-1]
    assert state.distance == pytest.approx(3.0)
    assert state.nearest_id == 0
    assert state.direction.x == pytest.approx(1.0)
    assert said(bench.collide(frame="")) == FREE
    bench.publish(lambda: bench.array([(1.5, 0)]))
    bench.until(lambda: said(bench.states[-1]) == HIT, "hit")
    bench.stop_publishing()
    bench.until(lambda: said(bench.states[-1]) == unknown(Status.STALE_OBSTACLES), "stale")


def test_footprint_topic(start: Callable[..., tuple[Server, Bench]]) -> None:
    _, bench = start("topic", footprint=[], footprint_timeout=0.5)
    bench.publish()
    bench.until_status(*unknown(Status.NO_FOOTPRINT))
    frame = "base_link"

    def send() -> None:
        bench.footprint.publish(bench.outline(frame=frame))

    timer = bench.node.create_timer(0.05, send)
    bench.until_status(*FREE)
    assert said(bench.collide(1.9)) == HIT
    frame = "map"
    bench.until_status(*unknown(MISSING_FRAME))
    frame = "base_link"
    bench.until_status(*FREE)
    bench.node.destroy_timer(timer)
    bench.until_status(*unknown(Status.STALE_FOOTPRINT))


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


def _spoilt(name: str, values: Any, kind: str = "d") -> Callable[[ObstacleArray], None]:
    return lambda message: setattr(message, name, array(kind, values))


def _frame(name: str) -> Callable[[ObstacleArray], None]:
    return lambda message: setattr(message.header, "frame_id", name)


# One for each place where faults are found; test/lib/test_world.py has each rule.
SPOILT = {
    "nan vertex": (_spoilt("xy", [*BOX[:7], float("nan")]), Status.NON_FINITE),
    "other frame": (_frame("map"), MISSING_FRAME),
    "offsets beyond": (_spoilt("offsets", [0, 4_000_000_000], "I"), Status.ARRAY_MISMATCH),
    "too many points": (
        lambda m: (
            setattr(m, "offsets", array("I", [0, 100_000])),
            setattr(m, "xy", array("d", bytes(1_600_000))),
        ),
        Status.LIMIT_EXCEEDED,
    ),
}


@pytest.mark.requirement("D-4")
@pytest.mark.requirement("V-10")
@pytest.mark.parametrize("name", SPOILT)
def test_spoilt_obstacles(bench: Bench, name: str) -> None:
    """Each gives its status and never FREE, and goes when good obstacles come."""
    spoil, status = SPOILT[name]

    def make() -> ObstacleArray:
        message = bench.array()
        spoil(message)
        return message

    bench.publish(make)
    reply = bench.until_status(*unknown(status))
    assert reply.verdict.message.startswith("obstacles: ")
    assert list(reply.info.bad_sources) == ["obstacles"]
    assert said(bench.distance()) == unknown(status)
    batch = bench.check_poses([50.0, 0, 0] * 3)
    assert said(batch) == unknown(status)
    assert list(batch.verdicts) == [Verdict.UNKNOWN] * 3
    assert list(batch.statuses) == [status] * 3
    path = bench.check_path([50.0, 0, 0, 60, 0, 0])
    assert said(path) == unknown(status)
    assert (path.first_invalid_segment, path.last_valid_fraction) == (0, 0.0)
    bench.publish()
    bench.until_status(*FREE)


@pytest.mark.requirement("V-8")
def test_snapshot_can_be_held_on_to(bench: Bench) -> None:
    """Batches of one search see one world, as long as its data is fresh."""
    first = bench.check_poses([50.0, 0, 0])
    wanted = first.info.snapshot_id
    again = bench.check_poses([50.0, 0, 0], require_snapshot_id=wanted)
    assert (again.is_free, again.info.snapshot_id) == (True, wanted)
    held = lambda: bench.check_poses([50.0, 0, 0], require_snapshot_id=wanted)  # noqa: E731
    bench.until(lambda: said(held()) == unknown(Status.SNAPSHOT_MISMATCH), "mismatch")


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
    for bad in ({"margin": -1.0}, {"margin": np.nan}, {"footprint": "nobody"}, {"x": np.inf}):
        assert said(bench.collide(**bad)) == unknown(Status.NOT_ACTIVE)
    for poses in ([], [np.nan, 0.0, 0.0], [0.0, 0.0]):
        assert said(bench.check_poses(poses)) == unknown(Status.NOT_ACTIVE)
        assert said(bench.check_path(poses)) == unknown(Status.NOT_ACTIVE)
    assert said(bench.check_poses([0, 0, 0], mode=77)) == unknown(Status.NOT_ACTIVE)
    assert said(bench.distance(max_distance=-1.0)) == unknown(Status.NOT_ACTIVE)
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


def test_configure_fails_with_the_reason(start: Callable[..., tuple[Server, Bench]]) -> None:
    _, bench = start("broken", safety_margin=9.0)
    reply = bench.collide()
    assert said(reply) == unknown(Status.NOT_ACTIVE)
    assert "safety_margin: must be 0 to 5 m (got 9.0)" in reply.verdict.message
    refused = bench.set(safety_margin=-1.0)
    assert not refused.successful
    assert "Min: 0.0, Max: 5.0" in refused.reason
    assert bench.set(safety_margin=1).successful
    assert bench.transition("configure")
    assert bench.transition("activate")


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"safty_margin": 1.0}, "safty_margin: is not a parameter"),
        ({"obstacle_sources": []}, "obstacle_sources: must name at least one source"),
        ({"radar.timeout": 1.0}, "radar.timeout: is not a parameter"),
        ({"footprint": [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]}, "outline"),
        ({"obstacles.type": "nobody_msgs/msg/Things"}, "LaserScan, PointCloud2, OccupancyGrid, C"),
        (
            {"obstacles.type": "sensor_msgs/LaserScan"},
            "BoundingBox3DArray; did you mean 'sensor_msgs/msg/LaserScan'? (got 'sensor_msgs/L",
        ),
    ],
)
def test_slip_in_the_configuration_is_named(
    start: Callable[..., tuple[Server, Bench]], parameters: Any, words: str
) -> None:
    _, bench = start("slip", **parameters)
    reply = bench.collide()
    assert said(reply) == unknown(Status.NOT_ACTIVE)
    assert words in reply.verdict.message


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


@pytest.mark.requirement("N-2")
def test_burst_of_requests_is_answered_whole(
    start: Callable[..., tuple[Server, Bench]],
) -> None:
    # On a busy machine, the replies take long: neither the data nor the time may run out.
    _, bench = start("patient", time_budget=10.0, **{"obstacles.timeout": 60.0})
    bench.publish()
    bench.until_status(*FREE)
    request = CheckPoses.Request(poses=doubles([50.0, 0, 0] * 100))
    request.header.frame_id = "odom"
    bench.call("check_poses", request)  # so that no later reply of this service is lost
    futures = [bench.clients["check_poses"].call_async(request) for _ in range(60)]
    bench.until(lambda: all(future.done() for future in futures), "all replies")
    assert all(future.result().is_free for future in futures)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_cleanly(
    start: Callable[..., tuple[Server, Bench]], how: signal.Signals
) -> None:
    server, bench = start("mortal")
    bench.publish()
    bench.until_status(*FREE)
    assert server.stop(how) == 0, server.log
    assert "Traceback" not in server.log
