# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The server without ROS: its internal errors, and the state of its senders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1]))

from simulation import wire
from simulation.facts import Question
from simulation.node import Node
from worlds import boxes

from gjk_collision import InputError, Status, Verdict
from gjk_collision.server import server as server_module
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.twist import Twist
from gjk_collision.server.frames.poses import FrameError, Pose
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import Config, FootprintConfig, SourceConfig
from gjk_collision.server.requests import Answered, Requests
from gjk_collision.server.scheduler import Scheduler
from gjk_collision.server.services import SERVICES, check_frame
from gjk_collision.server.services.answers import Answer
from gjk_collision.server.services.snapshot_message import data_fields, obstacle_fields

S = 1_000_000_000


class Clock:
    """A time that a test changes [ns]."""

    now = 10 * S


class AtOnce(Scheduler):
    """A scheduler for requests that wait for nothing."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        raise AssertionError(f"a wait of {seconds} s for {callback}")


def node_at(clock: Clock, epoch: int = 1, **parameters: Any) -> Node:
    """Return an active node with one source."""
    config = Config(robot_radius=1.0, sources=(SourceConfig("lidar"),), **parameters)
    node = Node(config, epoch, lambda _: clock.now, clock.now, *[lambda *_: None] * 3)
    node.server.activate()
    return node


def answer_to(
    node: Node,
    service: str,
    message: Any,
    fill: Callable[..., Any],
    name: str = "",
    scheduler: Scheduler | None = None,
) -> Answered:
    """Return the answer to a request."""
    coroutine = Requests(node.server, scheduler or AtOnce()).answer(
        SERVICES[service](message), fill, is_large=False, name=name
    )
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    answered: Answered = end.value.value
    return answered


def placed(node: Node) -> TransformTree:
    """Insert the pose of the vehicle at the present time; return the transforms."""
    tree = cast(TransformTree, node.server.transforms)
    tree.insert("odom", "base_link", node.now(), Placement(), static=False)
    return tree


def slow_state(monkeypatch: pytest.MonkeyPatch, spend: Callable[[], None]) -> None:
    """Let time pass before the state of a heartbeat is computed."""
    state = server_module.state

    def slowly(*args: Any) -> Any:
        spend()
        return state(*args)

    monkeypatch.setattr(server_module, "state", slowly)


def fails_once(result: Any = None) -> Callable[..., Any]:
    """Return a function that raises when it is called first."""
    errors = iter([RuntimeError("lost")])

    def function(*_: Any) -> Any:
        for each in errors:
            raise each
        return result

    return function


def fails(error: Exception) -> Any:
    raise error


def test_error_while_the_snapshot_is_sent() -> None:
    node = node_at(Clock())
    assert node.server.publish(1, fails_once()) == 0
    assert node.errors == ["~/snapshot: RuntimeError('lost')"]
    assert node.server.errors == 1


def test_error_while_a_heartbeat_is_made() -> None:
    node = node_at(Clock())
    message, beat, is_good = node.server.beat(7, fails_once("message"))
    assert (message, is_good) == ("message", False)
    assert beat.fields()["snapshot_sequence"] == 7
    answer = beat.found
    assert (answer.verdict, answer.status) == (Verdict.UNKNOWN, Status.INTERNAL_ERROR)
    assert answer.message == "RuntimeError('lost')"
    assert node.errors == ["~/state: RuntimeError('lost')"]


def test_error_while_the_snapshot_of_a_heartbeat_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    node = node_at(Clock(), epoch=-1)
    monkeypatch.setattr(node.server, "snapshot", fails_once())
    _, beat, is_good = node.server.beat(0, lambda made: made)
    assert not is_good
    fields = beat.fields()
    assert fields["header"] == {"stamp": Clock.now, "frame_id": "odom"}
    assert fields["epoch"] == 0
    assert fields["info"]["config_hash"] == node.server.config.hash
    assert fields["verdict"]["message"] == "RuntimeError('lost')"


@pytest.mark.parametrize(("name", "said"), [("~/collide", "~/collide"), ("", "Collide")])
def test_error_while_a_request_is_answered(name: str, said: str) -> None:
    node = node_at(Clock())
    request = wire.request(Question("Collide", ((0.0, 0.0),)), 0, 0)
    answered = answer_to(node, "Collide", request, fails_once("reply"), name)
    assert answered.reply == "reply"
    assert isinstance(answered.found, Answer)
    assert answered.found.status is Status.INTERNAL_ERROR
    assert answered.found.message == "RuntimeError('lost')"
    assert answered.snapshot.stamp == Clock.now
    assert node.errors == [f"{said}: RuntimeError('lost')"]


@pytest.mark.parametrize(
    ("margin", "status"), [(0.5, Status.SUCCESS), (-1.0, Status.INVALID_INPUT)]
)
def test_pairs_of_shapes_need_no_data(margin: float, status: Status) -> None:
    node = node_at(Clock())
    one = wire.as_message(obstacle_fields("", boxes((0.0, 0.0), stamp=0)))
    message = SimpleNamespace(a=one, b=one, pairs=(), mode=0, margin=margin)
    answered: Any = answer_to(node, "CheckShapes", message, lambda found, _: found)
    assert answered.found.status is status
    assert (answered.snapshot.id, answered.snapshot.stamp) == (0, Clock.now)
    assert answered.request is not None


def test_the_snapshot_is_answered_with_its_data() -> None:
    node = node_at(Clock())
    answered = answer_to(node, "GetSnapshot", SimpleNamespace(snapshot_id=0), lambda *each: each)
    found, snapshot = answered.reply
    assert snapshot is not None
    assert (found.status, snapshot.id) == (Status.NO_OBSTACLES, answered.snapshot.id)
    place = Placement((4.5e5, 5.4e6, 0.0), (0.0, 0.0, 0.6, 0.8))
    tree = cast(TransformTree, node.server.transforms)
    tree.insert("odom", "front", Clock.now, place, static=False)
    for frame, radius in (("odom", 0.5), ("front", 0.0), ("front", 0.5)):
        far = boxes((9.0, 0.0), frame=frame, stamp=Clock.now, radius=np.array([radius]))
        node.server.receive("lidar", partial(lambda data: data, far), Clock.now)
        [sent] = data_fields(node.server.snapshot())["obstacles"]
        assert sent["header"] == {"stamp": Clock.now, "frame_id": "odom"}
        rounding = sent["radius"][0] - radius  # of the composed frames: the radius holds it
        assert rounding == 0.0 if frame == "odom" else 0.0 < rounding < 1e-7


@pytest.mark.requirement("N-3")
@pytest.mark.parametrize("footprint", ["", "small"])
def test_time_budget_is_that_of_answers(footprint: str) -> None:
    """If it is used up after the scene was made, the snapshot is still sent."""
    small = FootprintConfig("small", robot_radius=0.5)
    node = node_at(Clock(), footprints=(small,), time_budget=0.05)
    node.server.receive("lidar", lambda: boxes((90.0, 0.0), stamp=Clock.now), Clock.now)

    def spend(*_: Any) -> None:
        node.true += S // 10

    node.server._watch = spend
    message = SimpleNamespace(snapshot_id=0)
    found: Any = answer_to(node, "GetSnapshot", message, lambda found, _: found).found
    assert (found.verdict, found.status, found.message) == (Verdict.UNKNOWN, Status.SUCCESS, "")
    request = wire.request(Question("Collide", ((0.0, 0.0),), names=(footprint,)), 0, 0)
    found = answer_to(node, "Collide", request, lambda found, _: found).found
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.TIME_BUDGET)
    node.server._watch = lambda *_: None

    class Slow(AtOnce):
        async def run(self, compute: Callable[[], Any], *, is_large: bool) -> Any:
            spend()
            return compute()

    request = wire.request(Question("CheckPoses", ((90.0, 0.0),) * 999, (footprint,)), 0, 0)
    answered = answer_to(node, "CheckPoses", request, lambda found, _: found, scheduler=Slow())
    assert answered.reply.verdict is Verdict.COLLISION
    assert answered.reply.verdicts[-1] == Verdict.UNKNOWN, "the computation ended"
    path = wire.request(Question("CheckPath", ((0.0, 0.0),) * 999, (footprint,)), 0, 0)
    one = wire.as_message(obstacle_fields("", boxes(*[(9.0 * i, 0.0) for i in range(40)])))
    shapes = SimpleNamespace(a=one, b=one, pairs=(), mode=0, margin=0.0)
    for service, asked in (("CheckPath", path), ("CheckShapes", shapes)):
        found = answer_to(node, service, asked, lambda found, _: found, scheduler=Slow()).found
        assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.TIME_BUDGET)


@pytest.mark.requirement("D-10")
@pytest.mark.parametrize("ahead", [0, S])
def test_pose_of_the_vehicle_that_ages_while_the_node_works(
    ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree that is known beyond the present does not make an old answer young."""
    clock = Clock()
    node = node_at(clock)
    tree = cast(TransformTree, node.server.transforms)
    for stamp in (clock.now - S // 10, clock.now + ahead):
        tree.insert("odom", "base_link", stamp, Placement(), static=False)
    spent = 0

    class Slow(AtOnce):
        async def run(self, compute: Callable[[], Any], *, is_large: bool) -> Any:
            found, clock.now = compute(), clock.now + spent
            return found

    def send() -> None:
        node.server.receive("lidar", lambda: boxes((90.0, 0.0), stamp=clock.now), clock.now)

    def status(frame: str) -> Status:
        send()
        request = wire.request(Question("Collide", ((0.0, 0.0),), frame=frame), 0, 0)
        answered = answer_to(node, "Collide", request, lambda found, _: found, scheduler=Slow())
        return cast(Status, answered.found.status)

    assert status("") is Status.SUCCESS
    spent = S // 5
    assert status("") is Status.TF_EXTRAPOLATION
    assert status("odom") is Status.SUCCESS  # a pose that was given does not age
    tree.insert("odom", "base_link", clock.now + ahead, Placement(), static=False)
    send()
    assert node.server.beat(0, lambda made: made)[1].found.is_free
    slow_state(monkeypatch, lambda: setattr(clock, "now", clock.now + spent))
    assert node.server.beat(0, lambda made: made)[1].found.status is Status.TF_EXTRAPOLATION


def test_footprints_of_no_name_are_refused() -> None:
    with pytest.raises(InputError, match=r"^footprints: must have at least one name"):
        node_at(Clock()).server.snapshot().chosen_among([])


def test_a_fault_applies_to_each_of_several_footprints() -> None:
    small = FootprintConfig("small", robot_radius=0.5)
    snapshot = node_at(Clock(), footprints=(small,)).server.snapshot()
    both = snapshot.chosen_among(["", "small"])
    fault = Fault(Status.STALE_OBSTACLES, "too old")
    ended = both.invalidated(fault)
    assert [each.fault for each in ended.among] == [fault, fault]
    assert (ended.fault, ended.data_fault) == (fault, fault)
    assert ended.chosen("small").footprint is None


@pytest.mark.parametrize("frame", ["", "lidar"])
def test_poses_are_looked_up_before_a_large_request_is_computed(frame: str) -> None:
    """Another thread may compute it, while this one inserts transforms."""
    node = node_at(Clock())
    tree = cast(TransformTree, node.server.transforms)
    for child in ("base_link", "lidar"):
        tree.insert("odom", child, Clock.now, Placement(), static=False)
    node.server.receive("lidar", lambda: boxes((90.0, 2.0), stamp=Clock.now), Clock.now)

    class Elsewhere(AtOnce):
        async def run(self, compute: Callable[[], Any], *, is_large: bool) -> Any:
            tree.lookup = tree.latest = fails_once()  # type: ignore[method-assign]
            return compute()

    request = wire.request(Question("NearestFree", ((0.0, 0.0),), frame=frame), 0, 0)
    coroutine = Requests(node.server, Elsewhere()).answer(
        SERVICES["NearestFree"](request), lambda found, _: found, is_large=True
    )
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    assert end.value.value.found.is_free


def test_no_pose_is_known_without_a_configuration() -> None:
    node = node_at(Clock())
    node.server.release("cleaned up")
    with pytest.raises(FrameError, match="the node is not configured"):
        node.server.transforms.latest("odom", "lidar")
    assert node.server.snapshot().fault == Fault(Status.NOT_ACTIVE, "cleaned up")


def test_pose_of_a_frame_that_is_not_a_number() -> None:
    check_frame(Pose(1.0, 2.0, 3.0))
    with pytest.raises(InputError, match=r"^frame_pose: ") as caught:
        check_frame(Pose(0.0, float("nan"), 0.0))
    assert caught.value.status is Status.NON_FINITE


def test_heartbeat_has_the_time_to_collision(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    node = node_at(clock, twist_topic="odometry", prediction_policy="hold")
    server = node.server
    placed(node)
    server.receive("lidar", lambda: boxes((10.0, 0.0), stamp=clock.now), clock.now)
    server.receive("twist_topic", lambda: Twist("base_link", clock.now, 2.0, 0.0, 0.0), clock.now)
    beat, _, _ = server.beat(0, lambda made: made)
    assert beat.fields()["info"]["compute_time"] == beat.seconds
    assert beat.found.verdict is Verdict.FREE
    assert beat.found.time_to_collision == pytest.approx((9.0 - 1.0) / 2.0, abs=0.01)
    slow_state(monkeypatch, lambda: setattr(clock, "now", clock.now + S // 20))
    later = server.beat(0, lambda made: made)[1].found.time_to_collision
    assert later == pytest.approx(beat.found.time_to_collision - 0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "spent", "said"),
    [
        (90.0, S // 20, (Verdict.FREE, Status.SUCCESS)),
        (90.0, S // 10, (Verdict.UNKNOWN, Status.TIME_BUDGET)),
        (0.0, S // 10, (Verdict.COLLISION, Status.SUCCESS)),
    ],
)
def test_heartbeat_that_takes_too_long(
    x: float, spent: int, said: tuple[Verdict, Status], monkeypatch: pytest.MonkeyPatch
) -> None:
    node = node_at(Clock(), time_budget=0.05)
    placed(node)
    node.server.receive("lidar", lambda: boxes((x, 0.0), stamp=Clock.now), Clock.now)
    slow_state(monkeypatch, lambda: setattr(node, "true", node.true + spent))
    beat, _, is_good = node.server.beat(0, lambda made: made)
    assert is_good
    assert (beat.found.verdict, beat.found.status) == said


def test_heartbeat_of_a_scene_that_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """No contact is looked for any more."""
    node = node_at(Clock(), time_budget=0.05)
    placed(node)
    node.server.receive("lidar", lambda: boxes((0.0, 0.0), stamp=Clock.now), Clock.now)
    world = node.server.world
    assert world is not None
    build = world.snapshot

    def slowly(**times: int) -> Any:
        node.true += S // 10
        return build(**times)

    monkeypatch.setattr(world, "snapshot", slowly)
    answer = node.server.beat(0, lambda made: made)[1].found
    assert (answer.verdict, answer.status) == (Verdict.UNKNOWN, Status.TIME_BUDGET)


def test_distance_has_the_closest_points() -> None:
    node = node_at(Clock())
    node.server.receive("lidar", lambda: boxes((9.0, 0.0), stamp=Clock.now), Clock.now)
    request = wire.request(Question("Distance", ((0.0, 0.0),)), 0, 0)
    found: Any = answer_to(node, "Distance", request, lambda found, _: found).found
    assert found.distances == pytest.approx([7.0])
    assert found.witness_ego[0] == pytest.approx([1.0, 0.0])
    assert found.witness_obstacle[0] == pytest.approx([8.0, 0.0])
    assert found.directions[0] == pytest.approx([1.0, 0.0])


def test_state_of_the_senders() -> None:
    clock = Clock()
    node = node_at(clock, twist_topic="odometry", twist_timeout=1.0)
    server = node.server
    server.receive("twist_topic", lambda: Twist("base_link", clock.now, 1.0, 0.0, 0.0), clock.now)
    clock.now += S // 4
    _, twist, lidar = server.reports()
    assert (twist.source, twist.fault, twist.age, twist.count) == ("twist_topic", None, 0.25, 0)
    assert (lidar.source, lidar.fault and lidar.fault.status) == ("lidar", Status.NO_OBSTACLES)
    for count in (2, 3):
        server.receive("twist_topic", lambda: Twist(**{}), clock.now)
        _, twist, _ = server.reports()
        assert (twist.fault and twist.fault.status, twist.received) == (
            Status.INTERNAL_ERROR, count,
        )  # fmt: skip
    wrong = InputError(Status.NON_FINITE, "linear.x", None, "must be finite (got nan)")
    assert server.receive("twist_topic", lambda: fails(wrong), clock.now) is wrong
    _, twist, _ = server.reports()
    said = Fault.of(wrong).of_source("twist_topic")
    assert said.message == f"twist_topic: {wrong}"
    assert (twist.fault, twist.received) == (said, 4)
    server.deactivate()
    assert server.reports() == []


def own_epoch(node: Node) -> int:
    """Return the epoch in the node's heartbeats."""
    _, beat, _ = node.server.beat(0, lambda made: made)
    return int(beat.fields()["epoch"])


OTHER = 77  # epoch of another server


def said_by(node: Node) -> list[tuple[Status, bool]]:
    """Return the statuses of a reply and of a heartbeat, and whether they are FREE."""
    request = wire.request(Question("Collide", ((9.0, 0.0),)), 0, 0)
    found = answer_to(node, "Collide", request, lambda found, _: found).found
    _, beat, _ = node.server.beat(0, lambda made: made)
    answers = [found, beat.found]
    return [(each.status, each.is_free) for each in answers]


def feed(node: Node, clock: Clock, passed: int = 0) -> None:
    """Let a time pass [ns], in which the node takes messages; then it receives an obstacle."""
    for _ in range(passed // PULSE):
        clock.now, node.true = clock.now + PULSE, node.true + PULSE
        node.server.note_activity()
    clock.now, node.true = clock.now + passed % PULSE, node.true + passed % PULSE
    node.server.note_activity()
    far = boxes((50.0, 0.0), stamp=clock.now)
    assert node.server.receive("lidar", lambda: far, node.true) is None


PULSE = S // 20
FREE, REFUSED = [(Status.SUCCESS, True)] * 2, [(Status.SNAPSHOT_MISMATCH, False)] * 2


@pytest.mark.requirement("N-10")
def test_another_server_with_this_name() -> None:
    """Each request gets replies of both: until one is silent for 3 s, none of them is FREE."""
    clock = Clock()
    node = node_at(clock, base_frame="odom")
    feed(node, clock)
    assert said_by(node) == FREE
    for own in (own_epoch(node), own_epoch(node) - 1):  # the last activation
        assert node.server.receive_heartbeat(own) is None
    assert said_by(node) == FREE
    for _ in range(2):
        fault = node.server.receive_heartbeat(OTHER)
        assert fault is not None  # for the log
        assert "another server with this name" in fault.message
        assert node.server.receive_heartbeat(OTHER) is None
        assert node.server.receive_heartbeat(own_epoch(node)) is None
        assert said_by(node) == REFUSED
        feed(node, clock, 3 * S)
        assert said_by(node) == REFUSED
        feed(node, clock, 1)
        assert said_by(node) == FREE


def test_another_server_while_an_answer_is_computed() -> None:
    clock = Clock()
    node = node_at(clock, base_frame="odom")
    feed(node, clock)
    snapshot = node.server.snapshot()
    assert node.server.confirm(snapshot).fault is None
    node.server.receive_heartbeat(OTHER)
    last = node.server.confirm(snapshot)
    assert last.footprint is None
    assert last.fault is not None
    assert last.fault.status is Status.SNAPSHOT_MISMATCH


@pytest.mark.requirement("N-10")
@pytest.mark.parametrize(("stopped", "is_free"), [(3 * S, True), (3 * S + 1, False)])
def test_a_stop_in_which_another_server_may_have_taken_over(stopped: int, is_free: bool) -> None:
    """After a stop of more than 3 s, the node first waits for heartbeats of the other one."""
    clock = Clock()
    node = node_at(clock, base_frame="odom")
    feed(node, clock)
    clock.now, node.true = clock.now + stopped, node.true + stopped
    assert not any(free for _, free in said_by(node))  # its data is too old, too
    feed(node, clock)
    assert said_by(node) == (FREE if is_free else REFUSED)
    feed(node, clock, 3 * S)
    assert said_by(node) == (FREE if is_free else REFUSED)
    feed(node, clock, 1)
    assert said_by(node) == FREE


@pytest.mark.parametrize("how", ["reset", "a step back", "another activation"])
def test_no_update_is_applied_to_a_grid_from_before(how: str) -> None:
    """The update would bring back what was deleted."""
    node = node_at(Clock())
    server, before = node.server, node.server.grids
    if how == "reset":
        server.reset()
    elif how == "a step back":
        server.note_step_back(1)
    else:
        server.deactivate()
        server.activate()
    assert server.grids is not before
