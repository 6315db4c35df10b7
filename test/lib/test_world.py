# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What is missing, old, early or wrong is UNKNOWN with its reason, and never FREE."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import questions
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import (
    BOX,
    CAR,
    FAR,
    FREE,
    HIT,
    STEADY0,
    T0,
    Late,
    S,
    Time,
    Tree,
    ask,
    boxes,
    known,
    outline,
    send,
    unknown,
)

from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Report, Snapshot
from gjk_collision.server.data.twist import Twist
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import FrameError, Pose
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import Config, FootprintConfig, SourceConfig
from gjk_collision.verdict import Status, Verdict

# ---- the plain case


def why(world: World, time: Time) -> str:
    return world.snapshot(**time.both).fault.message


def confirmed(world: World, time: Time, asked: Snapshot) -> tuple[Verdict, Status]:
    """The answer to a question of before that is sent now."""
    answer = questions.collide(world.confirm(asked, **time.both), FAR)
    return answer.verdict, answer.status


@pytest.mark.requirement("V-3")
def test_fresh_empty_list_is_free_and_none_received_is_not(time: Time) -> None:
    world = World(Config(footprint=CAR))
    assert ask(world, time) == unknown(Status.NO_OBSTACLES)
    send(world, time)
    assert ask(world, time) == FREE
    nothing_at_all = Obstacles(frame="odom", stamp=time.now)
    world.receive_obstacles("obstacles", nothing_at_all, **time.both)
    assert ask(world, time) == FREE


def test_answer_names_the_obstacle_and_its_source(time: Time) -> None:
    config = Config(footprint=CAR, sources=(SourceConfig("lidar"), SourceConfig("radar")))
    world = World(config)
    send(world, time, (0, 0), (20, 0), to="lidar")
    send(world, time, (40, 0), to="radar", source="front")
    snapshot = world.snapshot(**time.both)
    answer = questions.collide(snapshot, Pose(40, 0, 0))
    assert (answer.nearest_id, answer.nearest_source) == (10, "front")
    answer = questions.collide(snapshot, Pose(20, 0, 0))
    assert (answer.nearest_id, answer.nearest_source) == (11, "lidar")
    assert questions.distance(snapshot, Pose(30, 5, 0), k=9).sources == ("lidar", "front", "lidar")


def test_source_has_one_name_and_its_topic_is_the_resolved_one(time: Time) -> None:
    """Whoever reads `bad_sources` and the verdict must see that both mean the same source."""
    sources = (SourceConfig("scan", topic="/sensors/scan"), SourceConfig("grid", required=False))
    config = Config(footprint=CAR, sources=sources, twist_topic="odom")
    topics = {"scan": "/r1/front/scan", "twist_topic": "/r1/odom", "footprint": "/r1/outline"}
    world = World(config, topics=topics)
    snapshot = world.snapshot(**time.both)
    assert snapshot.bad_sources == ("scan", "grid")
    assert snapshot.fault.message.startswith("scan: ")
    texts = {each.source: each.fault.message for each in world.reports(**time.both) if each.fault}
    assert "'/r1/front/scan'" in texts["scan"] and "'/r1/front/scan'" in snapshot.fault.message
    assert "'grid'" in texts["grid"]  # without a resolved name
    assert "'/r1/odom'" in texts["twist_topic"]
    send(world, time, (0.0, 0.0), to="scan", source="")
    assert questions.collide(world.snapshot(**time.both), Pose()).nearest_source == "scan"
    assert ("scan", "scan") in {(each.source, each.sender) for each in world.reports(**time.both)}
    for i in range(20):
        send(world, time, to="scan", source=f"sender {i}")
    for its, topic in ((world, "/r1/front/scan"), (World(Config(), topics=topics), "/r1/outline")):
        assert f"'{topic}'" in str(its.snapshot(**time.both).fault)


# ---- footprint


@pytest.mark.requirement("D-6")
def test_footprint_topic_goes_stale_by_stamp_and_by_silence(time: Time) -> None:
    world = known(time, (0, 0), footprint=(), sources=(SourceConfig("obstacles", timeout=60.0),))
    outline(world, time)
    assert ask(world, time) == FREE
    time.pass_(1.0)
    assert ask(world, time) == FREE
    time.pass_(5e-7)
    assert ask(world, time) == unknown(Status.STALE_FOOTPRINT)
    outline(world, time)
    time.steady += round(1.1 * S)  # the clock of the stamps stands still
    assert ask(world, time) == unknown(Status.STALE_FOOTPRINT)
    outline(world, time, stamp=time.now + S // 10)
    assert ask(world, time) == unknown(Status.FUTURE_STAMP)


@pytest.mark.requirement("D-6")
@pytest.mark.parametrize(
    ("points", "status"),
    [
        (BOX[:2], Status.TOO_FEW_POINTS),
        (np.array([[0, 0], [1, 0], [2, 0]]), Status.DEGENERATE),
        (np.array([[0, 0], [1, 0], [np.nan, 1]]), Status.NON_FINITE),
    ],
)
def test_bad_footprint_is_the_reason_until_a_good_one_comes(
    time: Time, points: Any, status: Status
) -> None:
    world = known(time, footprint=())
    outline(world, time, points)
    assert ask(world, time) == unknown(status)
    time.pass_(0.1)
    outline(world, time)
    assert ask(world, time) == FREE


def test_footprint_with_too_many_points_says_so(time: Time) -> None:
    world = known(time, footprint=(), max_points_per_obstacle=8)
    turns = np.linspace(0.0, 6.0, 9)
    outline(world, time, np.column_stack([np.cos(turns), np.sin(turns)]))
    fault = world.snapshot(**time.both).fault
    assert fault is not None and fault.status is Status.LIMIT_EXCEEDED
    rule = "polygon.points: must have at most 8 points (max_points_per_obstacle)"
    assert rule in fault.message


# ---- age and order


@pytest.mark.requirement("D-1")
@pytest.mark.parametrize("clocks", [("now", "steady"), ("steady",)])
def test_stale_by_stamp(time: Time, clocks: tuple[str, ...]) -> None:
    """A stopped clock does not keep data alive."""
    world = known(time, (0, 0))
    for passed, expected in ((0.5, FREE), (0.01, unknown(Status.STALE_OBSTACLES))):
        time.pass_(passed, clocks)
        assert ask(world, time) == expected
    assert ask(world, time, Pose()) == expected  # it may be gone
    time.now += 1
    send(world, time, (0, 0))
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-1")
def test_frozen_stamp_does_not_keep_data_alive(time: Time) -> None:
    world = known(time, (0, 0))
    for sequence in range(1, 20):
        time.pass_(0.1)
        send(world, time, (0, 0), stamp=T0, sequence=sequence)
    assert ask(world, time) == unknown(Status.STALE_OBSTACLES)
    note = "the stamp of the last message was received before"
    assert note in why(world, time)
    send(world, time, (0, 0))
    time.pass_(1.0)
    assert ask(world, time) == unknown(Status.STALE_OBSTACLES)
    assert note not in why(world, time)


@pytest.mark.requirement("D-1")
@pytest.mark.parametrize("is_counted", [False, True])
@pytest.mark.parametrize("early", [0, 1])
def test_stopped_clock_and_the_same_stamp_again(time: Time, is_counted: bool, early: int) -> None:
    """Neither keeps data alive, nor both together; nor does another stamp between."""
    world = known(time, (0, 0))
    for sequence in range(1, 20):
        time.steady += round(0.1 * S)
        if early:
            send(world, time, (0, 0), stamp=T0 + early * S, sequence=0)
        send(world, time, (0, 0), stamp=T0, sequence=sequence if is_counted else 0)
        assert ask(world, time) == (FREE if sequence <= 5 else unknown(Status.STALE_OBSTACLES))
    time.now += 1  # the clock goes on
    send(world, time, (0, 0))
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-3")
@pytest.mark.parametrize("first", [1, 90, 100])
@pytest.mark.parametrize("required", [True, False])
def test_two_publishers_with_one_name_are_noticed(time: Time, first: int, required: bool) -> None:
    """One list hits the vehicle and the other does not: the answers would alternate."""
    source = SourceConfig("obstacles", required=required)
    world = World(Config(footprint=CAR, sources=(source,)))
    answers = []
    for k in range(20):
        for number, x in ((100 + k, 0.0), (first + k, 60.0)):
            send(world, time, (x, 0.0), source="tracker", sequence=number)
            answers.append(ask(world, time, Pose()))
            time.pass_(0.05)
    assert FREE not in answers[3:]
    assert answers[-1] == unknown(Status.INVALID_INPUT)
    message = questions.collide(world.snapshot(**time.both), Pose()).message
    assert "two publishers use the name 'tracker'" in message
    # One of them has ended. A publisher that is started again, once, is not two publishers: only
    # its first message is refused.
    for k in range(70):
        number = 200 + k if k < 65 else k - 60
        send(world, time, (60.0, 0.0), source="tracker", sequence=number)
        if k > 61:
            expected = unknown(Status.INVALID_INPUT) if k == 65 else FREE
            assert ask(world, time, Pose()) == expected, k
        time.pass_(0.05)


@pytest.mark.requirement("D-3")
def test_a_repeated_message_while_two_publishers_use_one_name_ends_snapshots(time: Time) -> None:
    """After a pause, a message counts at the earliest time at which it can have arrived."""
    world = World(Config(footprint=CAR, sources=(SourceConfig("obstacles", timeout=9.0),)))
    stamp = time.now
    for number in (9, 8, 7):
        send(world, time, (60.0, 0.0), stamp=stamp, source="tracker", sequence=number)
    early = time.both
    time.pass_(3.1)
    new = boxes((60.0, 0.0), stamp=time.now, source="tracker", sequence=10)
    world.receive_obstacles("obstacles", new, **time.both)
    snapshot = world.snapshot(**time.both)
    assert snapshot.fault is None
    world.receive_obstacles("obstacles", new, now=time.now, steady=early["steady"])
    assert world.confirm(snapshot, **time.both).fault is not None


@pytest.mark.requirement("D-7")
@pytest.mark.parametrize("required", [False, True])
def test_data_that_is_not_valid_at_its_place_counts_when_it_is_old(
    time: Time, required: bool
) -> None:
    """Only its place shows the fault: it is too far away there."""
    sources = SourceConfig("near"), SourceConfig("far", required=required)
    tree = Tree({("odom", "far"): Pose(9e14, 0.0, 0.0)})
    world = World(Config(footprint=CAR, sources=sources), tree)
    poses = np.array([9e14, 0.0, 0.0])
    send(world, time, (0.0, 0.0), to="far", frame="far", poses=poses)
    for _ in range(3):
        send(world, time, (0.0, 0.0), to="near")
        assert ask(world, time) == unknown(Status.COORD_RANGE)
        time.pass_(0.6)
    good = boxes((0.0, 0.0), stamp=time.now)
    for name in ("near", "far"):
        world.receive_obstacles(name, good, **time.both)
    assert ask(world, time)[0] is Verdict.FREE


@pytest.mark.requirement("D-3")
@pytest.mark.parametrize("later", [0, 1])
def test_message_with_a_number_that_does_not_increase_is_refused(time: Time, later: int) -> None:
    """It is late, or a relay has stamped it anew. The sender is not used until its next one."""
    world = World(Config(footprint=CAR))
    number = 1 + later
    send(world, time, (0, 0), stamp=T0, sequence=2)
    send(world, time, (50, 50), stamp=T0 + later, sequence=number)
    assert ask(world, time) == unknown(Status.INVALID_INPUT)
    assert f"sequence number {number} was received after 2: it must increase" in why(world, time)
    time.pass_(5.0)
    for _ in range(3):  # the network may deliver it several times
        send(world, time, (0, 0), sequence=number)
        assert ask(world, time) == unknown(Status.INVALID_INPUT)
        assert f"sequence number {number} was received after" in why(world, time)
    time.pass_(0.1)
    send(world, time, (0, 0), sequence=number + 1)
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-3")
def test_the_same_message_again_changes_nothing(time: Time) -> None:
    """Stamp and number are those of the last one: a network may deliver a message twice."""
    world = World(Config(footprint=CAR))
    for tenths in range(8):
        send(world, time, (0, 0), stamp=T0, sequence=2)
        assert ask(world, time) == (FREE if tenths <= 5 else unknown(Status.STALE_OBSTACLES))
        time.pass_(0.1)


@pytest.mark.requirement("D-8")
@pytest.mark.parametrize("step", [1, round(0.04 * S), round(0.05 * S), S, 10 * S])
def test_no_step_back_of_the_clock_is_too_small(time: Time, step: int) -> None:
    """All data is dropped. A tolerated step would make data look younger than it is."""
    world = known(time, (0, 0))
    assert ask(world, time) == FREE
    time.now -= step
    for passed in (0.05, 5.0):
        assert ask(world, time) == unknown(Status.CLOCK_JUMP)
        time.pass_(passed)
    assert ask(world, time) == unknown(Status.CLOCK_JUMP)
    send(world, time, (0, 0))
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-8")
def test_a_step_back_that_only_the_transforms_have_read_counts(time: Time) -> None:
    tree = TransformTree(time.now)
    world = World(Config(footprint=CAR), tree)
    send(world, time, (0, 0))
    assert ask(world, time) == FREE
    tree.set_time(time.now - 1)
    tree.set_time(time.now)
    assert ask(world, time) == unknown(Status.CLOCK_JUMP)


@pytest.mark.requirement("D-8")
def test_a_step_back_that_is_reported_counts_from_a_time_that_was_not_read(time: Time) -> None:
    """The clock leaps to 0.4 s ahead, and back by 0.3 s, between two readings."""
    world = known(time, (0, 0))
    assert ask(world, time) == FREE
    time.pass_(0.1)
    world.note_step_back(time.now, round(0.3 * S))
    assert ask(world, time) == unknown(Status.CLOCK_JUMP)
    fault = world.snapshot(**time.both).fault
    assert fault is not None and "the clock went back by 0.3 s, all data" in fault.message
    send(world, time, (0, 0))
    assert ask(world, time) == FREE


# ---- between the question and the answer


@pytest.mark.requirement("D-11")
@pytest.mark.parametrize("clocks", [("now", "steady"), ("now",), ("steady",)])
def test_data_that_ages_while_it_is_worked_on(time: Time, clocks: tuple[str, ...]) -> None:
    """The answer is UNKNOWN, of the same length, and the ages are those of the time it leaves."""
    world = known(time, (0, 0))
    first = world.snapshot(**time.both)
    time.pass_(0.4, clocks)
    last = world.confirm(first, **time.both)
    assert (last.id, last.scene, last.stamp, last.fault) == (first.id, first.scene, T0, None)
    assert last.max_obstacle_age == pytest.approx(0.4 if "now" in clocks else 0.0)
    assert last.footprint_age == 0.0  # configured
    assert questions.collide(last, FAR).is_free
    time.pass_(0.2, clocks)
    last = world.confirm(first, **time.both)
    assert last.bad_sources == ("obstacles",)
    for pose in (FAR, Pose()):  # it may be gone
        answer = questions.collide(last, pose)
        assert (answer.verdict, answer.status) == unknown(Status.STALE_OBSTACLES)
    batch = questions.check_poses(last, np.tile(FAR, 3), mode=1)
    assert batch.statuses.tolist() == [Status.STALE_OBSTACLES] * 3
    path = questions.check_path(last, np.tile(FAR, 3))
    assert (path.verdict, path.status) == unknown(Status.STALE_OBSTACLES)


@pytest.mark.requirement("D-11")
@pytest.mark.parametrize("is_replaced", [False, True])
def test_footprint_that_ages_while_it_is_worked_on(time: Time, is_replaced: bool) -> None:
    world = known(time, (0, 0), footprint=(), sources=(SourceConfig("obstacles", timeout=60.0),))
    outline(world, time)
    first = world.snapshot(**time.both)
    time.pass_(0.9)
    last = world.confirm(first, **time.both)
    assert (last.fault, last.footprint_age) == (None, pytest.approx(0.9))
    assert last.outline_stamp == T0 and last.outline is not None
    if is_replaced:
        outline(world, time)
        assert world.snapshot(**time.both, require_id=first.id).fault is None
    time.pass_(0.2)
    assert world.snapshot(**time.both, require_id=first.id).fault is not None
    last = world.confirm(first, **time.both)
    assert questions.collide(last, FAR).status is Status.STALE_FOOTPRINT
    message = questions.collide(last, FAR).message
    assert re.fullmatch(r"footprint: [^;]+", message), message


def send_a_bad_shape(world: World, time: Time, tree: TransformTree) -> None:
    bow_tie = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    send(world, time, (0.0, 0.0), xy=bow_tie, kinds=np.array([1], np.uint8))


def send_a_bad_shape_and_a_good_one(world: World, time: Time, tree: TransformTree) -> None:
    send_a_bad_shape(world, time, tree)
    time.pass_(0.01)
    send(world, time, (0.0, 0.0))


HAPPENINGS: dict[str, Callable[[World, Time, TransformTree], object]] = {
    "another margin": lambda world, time, tree: world.reconfigure(
        world.config.changed({"safety_margin": 5.0})
    ),
    "another map": lambda world, time, tree: send(world, time, (50.0, 0.0), to="map", frame="map"),
    "a corrected transform": lambda world, time, tree: tree.insert(
        "odom", "map", 0, Placement((40.0, 0.0, 0.0)), static=True
    ),
    "garbage": lambda world, time, tree: garble(world, time),
    "a bad shape": send_a_bad_shape,
    "a bad shape and a good one": send_a_bad_shape_and_a_good_one,
    "too many senders": lambda world, time, tree: crowd(world, time),
    "a step back of the clock": lambda world, time, tree: time.pass_(-1.0, ("now",)),
}
ENDED_BY = {
    "too many senders": Status.LIMIT_EXCEEDED, "a step back of the clock": Status.CLOCK_JUMP,
}  # fmt: skip


@pytest.mark.requirement("D-11")
@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("name", HAPPENINGS)
def test_what_happens_while_an_answer_is_computed(time: Time, name: str, is_large: bool) -> None:
    """A reply from replaced parameters, a replaced map or before a fault is not sent as FREE."""
    tree = TransformTree(time.now)
    tree.insert("odom", "map", 0, Placement(), static=True)
    sources = (SourceConfig("obstacles"), SourceConfig("map", static=True))
    world = World(Config(footprint=CAR, sources=sources), tree)
    send(world, time, (0.0, 0.0), to="map", frame="map")
    send(world, time, (0.0, 0.0))
    first = world.snapshot(**time.both)
    if is_large:
        world.keep(first)
    assert confirmed(world, time, first) == FREE
    time.pass_(0.01)
    assert not HAPPENINGS[name](world, time, tree)  # a transform is refused by a text
    time.pass_(0.01)
    assert confirmed(world, time, first) == unknown(ENDED_BY.get(name, Status.SNAPSHOT_MISMATCH))
    assert world.snapshot(**time.both, require_id=first.id).fault is not None


def drive(world: World, time: Time, speed: float) -> None:
    world.receive_twist(Twist("base_link", time.now, speed, 0.0, 0.0), **time.both)


@pytest.mark.requirement("D-14")
def test_vehicle_that_becomes_faster_while_an_answer_is_computed(time: Time) -> None:
    slow = FootprintConfig("slow", footprint=CAR, linear_max=1.0)
    fast = FootprintConfig("fast", footprint=CAR, linear_min=1.0, linear_max=9.0)
    by_speed = {"footprints": (slow, fast), "speed_footprints": ("slow", "fast")}
    world = known(time, (0.0, 0.0), footprint=(), **by_speed, twist_topic="odom")
    drive(world, time, 0.5)
    first = world.snapshot(**time.both)
    named = first.chosen("slow")
    time.pass_(0.01)
    drive(world, time, 0.6)
    assert confirmed(world, time, first) == FREE
    time.pass_(0.01)
    drive(world, time, 5.0)
    assert confirmed(world, time, first) == unknown(Status.SNAPSHOT_MISMATCH)
    assert confirmed(world, time, named) == FREE


def test_place_of_static_data_is_valid_for_the_transform_tolerance(time: Time) -> None:
    """A map in a frame that moves: each reply would be UNKNOWN if the place had to be equal."""
    tree = TransformTree(time.now)
    tree.insert("odom", "map", time.now, Placement(), static=False)
    sources = (SourceConfig("map", static=True),)
    world = World(Config(footprint=CAR, sources=sources, transform_tolerance=0.2), tree)
    send(world, time, (0.0, 0.0), to="map", frame="map")
    first = world.snapshot(**time.both)
    late = unknown(Status.TF_EXTRAPOLATION)
    for passed, expected in ((0.1, FREE), (0.2, FREE), (0.201, late)):
        time.now, time.steady = T0 + round(passed * S), STEADY0 + round(passed * S)
        tree.set_time(time.now)
        tree.insert("odom", "map", time.now, Placement((passed, 0.0, 0.0)), static=False)
        assert confirmed(world, time, first) == expected
        wanted = world.snapshot(**time.both, require_id=first.id)
        assert (wanted.fault is None) == (expected == FREE)


# ---- sources


def two(time: Time, required: bool) -> World:
    sources = (SourceConfig("lidar"), SourceConfig("radar", timeout=0.2, required=required))
    world = World(Config(footprint=CAR, sources=sources))
    send(world, time, (0, 0), to="lidar")
    return world


@pytest.mark.requirement("D-7")
@pytest.mark.requirement("V-5")
def test_required_source_that_is_missing_leaves_only_certain_hits(time: Time) -> None:
    world = two(time, required=True)
    assert ask(world, time) == unknown(Status.NO_OBSTACLES)
    assert ask(world, time, Pose()) == (Verdict.COLLISION, Status.NO_OBSTACLES)
    near = Pose(2.1, 0, 0)
    assert ask(world, time, near, 0.5) == unknown(Status.NO_OBSTACLES)  # margin is no hit
    snapshot = world.snapshot(**time.both)
    assert snapshot.bad_sources == ("radar",)
    poses = np.array([FAR, Pose(), near]).ravel()
    batch = questions.check_poses(snapshot, poses, mode=1)
    assert batch.verdicts.tolist() == [0, 2, 0]
    assert batch.statuses.tolist() == [13, 1, 13]
    assert batch.verdict is Verdict.COLLISION
    assert not batch.is_free
    assert not len(questions.distance(snapshot, FAR).ids)  # the list would not be complete


@pytest.mark.requirement("D-7")
def test_optional_source_may_be_silent_but_not_wrong(time: Time) -> None:
    world = two(time, required=False)
    assert ask(world, time) == FREE
    assert world.snapshot(**time.both).bad_sources == ("radar",)
    send(world, time, (50, 0), to="radar")
    assert ask(world, time) == HIT
    time.pass_(0.1)
    send(world, time, (np.nan, 0), to="radar")
    assert ask(world, time) == unknown(Status.NON_FINITE)
    time.pass_(0.4)  # a fault does not end by silence
    send(world, time, (0, 0), to="lidar")
    assert ask(world, time) == unknown(Status.NON_FINITE)
    send(world, time, (50, 0), to="radar")
    assert ask(world, time) == HIT
    time.pass_(0.3)  # silent again
    assert ask(world, time) == FREE
    assert world.snapshot(**time.both).bad_sources == ("radar",)


# ---- bad obstacles


def _set(name: str, index: int, value: float) -> Callable[[Obstacles], Obstacles]:
    def change(data: Obstacles) -> Obstacles:
        values = getattr(data, name).copy()
        values[index] = value
        return replace(data, **{name: values})

    return change


def _put(**fields: Any) -> Callable[[Obstacles], Obstacles]:
    return lambda data: replace(data, **{k: np.asarray(v) for k, v in fields.items()})


# One for each place that checks a list; test_obstacle_rules.py and test_errors.py have each rule.
BAD: dict[str, tuple[Callable[[Obstacles], Obstacles], Status, str]] = {
    "nan vertex": (_set("xy", 9, np.nan), Status.NON_FINITE, "xy[9]"),
    "huge vertex": (_set("xy", 3, 1e300), Status.COORD_RANGE, "xy[3]"),
    "negative radius": (_put(radius=[0.1, -0.2]), Status.INVALID_INPUT, "radius[1]"),
    "negative rate": (_put(margin_rates=[0, -0.1]), Status.INVALID_INPUT, "margin_rates[1]"),
    "unknown kind": (_put(kinds=[0, 7]), Status.INVALID_INPUT, "kinds[1]"),
    "ids missing": (_put(ids=np.empty(0, np.int64)), Status.ARRAY_MISMATCH, "ids"),
    "ids twice": (_put(ids=[3, 3]), Status.INVALID_INPUT, "ids[1]"),
    "id of none": (_put(ids=[3, -1]), Status.INVALID_INPUT, "ids[1]"),
    "offsets beyond": (_put(offsets=[0, 4, 4_000_000_000]), Status.ARRAY_MISMATCH, "offsets[2]"),
    "no points": (_put(offsets=[0, 0, 8]), Status.TOO_FEW_POINTS, "offsets[0]"),
    "concave outline that crosses itself": (
        _put(kinds=[0, 1], xy=[*CAR, 0, 0, 1, 1, 1, 0, 0, 1.0]), Status.INVALID_INPUT, "xy",
    ),
}  # fmt: skip


@pytest.mark.requirement("D-4")
@pytest.mark.parametrize("name", BAD)
def test_one_bad_obstacle_poisons_its_source(time: Time, name: str) -> None:
    """Nothing is skipped and nothing repaired; the reason names field and index."""
    spoil, status, where = BAD[name]
    world = two(time, required=True)
    bad = spoil(boxes((100, 100), (50, 0), stamp=time.now))
    world.receive_obstacles("radar", bad, **time.both)
    assert ask(world, time) == unknown(status)
    assert why(world, time).startswith(f"radar: {where}")
    assert ask(world, time, Pose()) == (Verdict.COLLISION, status)  # of the good source
    time.pass_(0.05)
    send(world, time, (100, 100), to="radar")
    assert ask(world, time) == FREE


@pytest.mark.requirement("V-5")
@pytest.mark.parametrize("now", [T0, 1_800_000_000 * S])
@pytest.mark.parametrize("name", ["nan vertex", "too few points", "huge vertex"])
def test_one_bad_source_leaves_the_others_good(time: Time, now: int, name: str) -> None:
    """With stamps of today too: a time that great is no fault of a source."""
    time.now = now
    spoil, status, where = {**BAD, "too few points": BAD["no points"]}[name]
    sources = tuple(SourceConfig(name) for name in ("lidar", "radar", "sonar"))
    world = World(Config(footprint=CAR, sources=sources))
    moving = np.array([1.0, 0.0, 0.0])
    send(world, time, (0, 0), to="lidar", stamp=now - S // 10, velocities=moving)
    bad = spoil(boxes((100, 100), (50, 0), stamp=now))
    world.receive_obstacles("radar", bad, **time.both)
    send(world, time, (9, 0), to="sonar", stamp=now)
    for pose in (Pose(), Pose(9, 0, 0)):
        assert ask(world, time, pose) == (Verdict.COLLISION, status)
    snapshot = world.snapshot(**time.both)
    assert snapshot.bad_sources == ("radar",)
    assert snapshot.fault.message.startswith(f"radar: {where}")


@pytest.mark.requirement("D-4")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name",
    ["xy", "radius", "poses", "velocities", "path_times", "path_poses", "margins", "margin_rates"],
)
def test_number_that_is_none_in_any_place_of_any_field(
    time: Time, name: str, value: float
) -> None:
    """FREE never follows, but of a velocity that is not known (NaN)."""
    far = boxes((100, 100), (120, 100), stamp=time.now)
    whole = replace(
        far,
        radius=np.zeros(2),
        poses=np.zeros(6),
        velocities=np.zeros(6),
        path_offsets=np.array([0, 2, 4]),
        path_times=np.array([1.0, 2.0, 1.0, 2.0]),
        path_poses=np.zeros(12),
        margins=np.zeros(2),
        margin_rates=np.zeros(2),
    )
    for index in range(len(getattr(whole, name))):
        world = two(time, required=True)
        world.receive_obstacles("radar", _set(name, index, value)(whole), **time.both)
        expected = unknown(Status.NON_FINITE)
        if name == "velocities" and np.isnan(value):
            expected = FREE
        assert ask(world, time) == expected, index


def test_inflation_does_not_mend_a_negative_radius(time: Time) -> None:
    world = known(time, sources=(SourceConfig("obstacles", inflation=1.0),))
    time.pass_(0.1)
    send(world, time, (0, 0), radius=np.array([-0.5]))
    assert ask(world, time) == unknown(Status.INVALID_INPUT)


def test_paths_of_several_obstacles_each_begin_anew(time: Time) -> None:
    world = World(Config(footprint=CAR))
    paths = {"path_offsets": np.array([0, 2, 2, 4]), "path_poses": np.zeros(12)}
    times = np.array([1.0, 2.0, 0.5, 1.0])
    send(world, time, (0, 0), (9, 0), (18, 0), path_times=times, **paths)
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-5")
def test_over_the_limits_nothing_is_cut(time: Time) -> None:
    world = known(time, max_obstacles=2, max_points_per_obstacle=4)
    five = boxes((0, 0), offsets=np.array([0, 5]), xy=np.zeros(10))
    for spoil, where in (
        (boxes((0, 0), (9, 0), (18, 0)), "offsets: 3 obstacles, limit 2"),
        (five, "offsets[0]: 5 points in this obstacle, limit 4"),
    ):
        world.receive_obstacles("obstacles", spoil, **time.both)
        assert ask(world, time, Pose()) == unknown(Status.LIMIT_EXCEEDED)
        assert why(world, time) == f"obstacles: {where}"


@pytest.mark.requirement("D-5")
def test_the_limit_is_on_all_sources_together(time: Time) -> None:
    sources = (SourceConfig("lidar"), SourceConfig("radar"))
    world = World(Config(footprint=CAR, sources=sources, max_obstacles=3))
    send(world, time, (0, 0), (9, 0), to="lidar")
    send(world, time, (0, 0), to="radar")
    assert ask(world, time) == FREE
    time.pass_(0.01)
    send(world, time, (0, 0), (9, 0), to="radar")
    assert ask(world, time) == unknown(Status.LIMIT_EXCEEDED)


# ---- frames


@pytest.mark.requirement("D-9")
def test_obstacles_in_another_frame_are_placed_at_their_stamp(time: Time) -> None:
    tree = Tree({("odom", "lidar"): Pose(10.0, 0.0, np.pi / 2)})
    world = World(Config(footprint=CAR), tree)
    # at (10, 5) in odom
    send(world, time, (5, 0), frame="lidar")
    assert ask(world, time, Pose(10, 5, 0)) == HIT
    assert ask(world, time, Pose(5, 0, 0)) == FREE
    assert set(tree.asked) == {("odom", "lidar", T0)}
    time.pass_(0.01)
    send(world, time, (0, 0), frame="lidar", poses=np.array([5.0, 0.0, 0.3]), sequence=2)
    assert ask(world, time, Pose(10, 5, 0)) == HIT
    assert ask(world, time, Pose(10, 0, 0)) == FREE


OTHER_PARENT = {"odom": "map", "base_link": "rack"}


def put(
    tree: TransformTree, parent: str, child: str, x: float, *tenths: float, static: bool = False
) -> None:
    """Insert a transform at these times after T0 [0.1 s]."""
    for each in tenths:
        stamp = T0 + round(each * S / 10)
        tree.insert(parent, child, stamp, Placement((x, 0.0, 0.0)), static=static)


# Times of the first transforms, or none if they are static; what moves a frame then.
CHANGES: dict[str, tuple[tuple[float, ...], Callable[[TransformTree, str, str, float], None]]] = {
    "a static one is corrected": ((), lambda *given: put(*given, 0, static=True)),
    "one comes late": ((-1, 0.1), lambda *given: put(*given, 0)),
    "one is replaced": ((-1, 0, 0.1), lambda *given: put(*given, 0)),
    "a static one becomes a moving one": ((), lambda *given: put(*given, -0.5, 0.1)),
    "another parent": (
        (-1, 0.1),
        lambda tree, parent, child, x: put(tree, OTHER_PARENT[parent], child, x, -0.5, 0.1),
    ),
}


@pytest.mark.requirement("D-10")
@pytest.mark.parametrize("name", CHANGES)
def test_transform_that_changes_moves_what_was_placed_before(time: Time, name: str) -> None:
    """Obstacles and the footprint. Snapshots from before a static one changed are not used."""
    tenths, change = CHANGES[name]
    is_static = not tenths
    tree = TransformTree(time.now)
    tree.insert("odom", "map", 0, Placement(), static=True)
    for child, parent in (("lidar", "odom"), ("rear", "base_link"), ("rack", "base_link")):
        put(tree, parent, child, 0.0, *(tenths or (0,)), static=is_static)
    world = World(Config(), tree)
    send(world, time, (0, 0), frame="lidar")
    outline(world, time, frame="rear")

    def hits() -> list[bool]:
        """Where the outline hits the box if no frame, the lidar, or both have moved."""
        found = [ask(world, time, Pose(x, 0, 0)) for x in (0, 20, 15)]
        assert {*found} == {FREE, HIT}
        return [each == HIT for each in found]

    assert hits() == [True, False, False]
    before = world.snapshot(**time.both)
    change(tree, "odom", "lidar", 20.0)
    assert (world.confirm(before, **time.both).fault is not None) == is_static
    assert hits() == [False, True, False]
    change(tree, "base_link", "rear", 5.0)
    assert hits() == [False, False, True]
    last = world.snapshot(**time.both).id
    change(tree, "base_link", "rear", 5.0)  # the same again
    assert world.snapshot(**time.both).id == last


@pytest.mark.requirement("D-10")
@settings(deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["lidar", "lidar", "map", "odom"]),
            st.sampled_from(["odom", "map", "lidar"]),
            st.integers(-4, 2),
            st.sampled_from([0.0, 20.0, 40.0]),
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    ),
    base_frame=st.sampled_from(["odom", "map"]),
)
def test_place_does_not_depend_on_who_asked_before(
    steps: list[tuple[str, str, int, float, bool]], base_frame: str
) -> None:
    """What a world finds is what another one finds that is asked once, at the end."""
    time = Time()
    worlds = []
    for asks in (True, False):
        tree = TransformTree(time.now)
        tree.insert("odom", "map", 0, Placement(), static=True)
        world = World(Config(base_frame=base_frame), tree)
        send(world, time, (0, 0), frame="lidar")
        outline(world, time, frame="odom")
        for child, parent, tenths, x, static in steps:
            stamp = T0 + tenths * S // 10
            tree.insert(parent, child, stamp, Placement((x, 0.0, 0.0)), static=static)
            if asks:
                ask(world, time)
        worlds.append([ask(world, time, Pose(x, 0, 0)) for x in (0, 20, 40)])
    assert worlds[0] == worlds[1]


@pytest.mark.requirement("D-10")
def test_step_back_of_the_clock_reaches_the_transforms(time: Time) -> None:
    """Without a lookup in between: nobody asks for a pose while check and base frame are one."""
    tree = TransformTree(time.now)
    world = World(Config(footprint=CAR, base_frame="odom"), tree)
    tree.insert("odom", "lidar", T0, Placement(), static=False)
    world.snapshot(**time.both)
    time.now -= S
    world.snapshot(**time.both)
    time.now += 2 * S
    with pytest.raises(FrameError):
        tree.lookup("odom", "lidar", T0)


# ---- what comes after a faulty message, while a transform is awaited


def lidar(world: World, time: Time, *centres: tuple[float, float], **fields: Any) -> None:
    send(world, time, *(centres or ((0, 0),)), frame="lidar", **fields)


def garble(world: World, time: Time, to: str = "obstacles") -> None:
    world.receive_fault(to, Fault(Status.INTERNAL_ERROR, "no"), **time.both)


# Each makes the second of three messages a faulty one.
FAULTY: dict[str, tuple[Callable[[World, Time], None], Status]] = {
    "bad shape": (lambda world, time: lidar(world, time, (np.nan, 0)), Status.NON_FINITE),
    "bad shape in the check frame": (
        lambda world, time: send(world, time, (np.nan, 0)),
        Status.NON_FINITE,
    ),
    "bad list": (
        lambda world, time: lidar(world, time, radius=np.array([-1.0])),
        Status.INVALID_INPUT,
    ),
    "not decoded": (garble, Status.INTERNAL_ERROR),
    "unknown frame": (
        lambda world, time: send(world, time, (0, 0), frame="lost"),
        Status.TF_EXTRAPOLATION,  # of the newest
    ),
    "early": (lambda world, time: lidar(world, time, stamp=time.now + S), Status.FUTURE_STAMP),
}


@pytest.mark.requirement("D-4")
@pytest.mark.parametrize(
    ("name", "sender"), [*((name, "") for name in FAULTY), ("not decoded", "front")]
)
@pytest.mark.parametrize("is_placed", [False, True])
def test_no_message_older_than_a_faulty_one_is_used(
    time: Time, name: str, sender: str, is_placed: bool
) -> None:
    """A good one, a faulty one, and one that waits for its transform."""
    spoil, status = FAULTY[name]
    tree = Late(0, time.now)
    world = World(Config(footprint=CAR), tree)
    lidar(world, time, source=sender)
    assert ask(world, time) == FREE
    time.pass_(0.05)
    if is_placed:
        tree.newest = time.now
    spoil(world, time)
    time.pass_(0.05)
    lidar(world, time, source=sender)
    assert ask(world, time) == unknown(status)
    tree.newest = time.now
    assert ask(world, time) == FREE  # the newest one has its place


def test_a_static_list_in_a_frame_that_nobody_publishes(time: Time) -> None:
    sources = (SourceConfig("map", static=True),)
    world = World(Config(footprint=CAR, sources=sources), TransformTree(time.now))
    send(world, time, (0, 0), to="map", frame="lost")
    fault = world.snapshot(**time.both).fault
    assert fault is not None and fault.status is Status.UNKNOWN_FRAME
    assert "no transform from 'lost' to 'odom': the frame" in fault.message


def test_eight_messages_may_wait_for_their_transforms(time: Time) -> None:
    """The one before them is used; with a ninth it is not kept any more."""
    world = World(Config(footprint=CAR), Late(0, time.now))
    lidar(world, time)
    for count in range(1, 10):
        time.pass_(0.01)
        lidar(world, time)
        assert ask(world, time) == (FREE if count < 9 else unknown(Status.TF_EXTRAPOLATION))


@pytest.mark.requirement("D-9")
def test_a_stamp_before_the_oldest_transform_is_not_awaited(time: Time) -> None:
    tree = Late(0, time.now)
    world = World(Config(footprint=CAR), tree)
    lidar(world, time)
    assert ask(world, time) == FREE
    time.pass_(0.05)
    lidar(world, time)
    tree.oldest, tree.newest = time.now + 1, time.now + S
    assert ask(world, time) == unknown(Status.TF_EXTRAPOLATION)
    assert "outside the span" in why(world, time)


@pytest.mark.parametrize("what", ["obstacles", "footprint"])
def test_the_message_before_is_used_until_a_transform_arrives(time: Time, what: str) -> None:
    """Also from a real tree, which knows only its own frames."""
    tree = TransformTree(time.now)
    config = Config(footprint=CAR) if what == "obstacles" else Config()
    world = World(config, tree)

    def arrive(place: float) -> None:
        frames = ("lidar", "base_link") if what == "obstacles" else ("odom", "rear")
        send(world, time, (place, 0.0), frame=frames[0])
        outline(world, time, frame=frames[1])

    tree.insert("odom", "lidar", time.now, Placement(), static=False)
    tree.insert("base_link", "rear", time.now, Placement(), static=False)
    arrive(0.0)
    assert ask(world, time) == FREE
    time.pass_(0.05)
    arrive(20.0)
    assert ask(world, time) == FREE
    is_moved = what == "footprint"  # the obstacles need no transform then
    assert ask(world, time, Pose(20.0, 0.0, 0.0)) == (HIT if is_moved else FREE)
    tree.insert("odom", "lidar", time.now, Placement(), static=False)
    tree.insert("base_link", "rear", time.now, Placement(), static=False)
    assert ask(world, time, Pose(20.0, 0.0, 0.0)) == HIT


def test_reset_forgets_the_footprint(time: Time) -> None:
    world = World(Config())
    outline(world, time)
    world.reset()
    send(world, time, (0, 0), stamp=T0)
    assert ask(world, time) == unknown(Status.NO_FOOTPRINT)
    outline(world, time)
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-6")
@pytest.mark.parametrize("is_decoded", [False, True])
def test_no_footprint_older_than_a_faulty_one_is_used(time: Time, is_decoded: bool) -> None:
    tree = Late(0, time.now)
    world = World(Config(), tree)

    def arrive(points: Any) -> None:
        outline(world, time, points, frame="map")
        send(world, time, (0, 0))

    arrive(BOX)
    assert ask(world, time) == FREE
    time.pass_(0.05)
    arrive(BOX)
    assert ask(world, time) == FREE  # the one before
    earlier = world.snapshot(**time.both)
    time.pass_(0.05)
    if is_decoded:
        arrive(BOX * np.nan)
    else:
        fault = Fault(Status.NON_FINITE, "no")
        world.receive_fault("footprint", fault, **time.both)
    assert ask(world, time) == unknown(Status.NON_FINITE)
    time.pass_(0.05)
    arrive(BOX)
    assert ask(world, time) == unknown(Status.NON_FINITE)
    tree.newest = time.now
    assert ask(world, time) == FREE
    ended = world.confirm(earlier, **time.both).fault
    assert ended is not None and "was received: footprint: " in ended.message
    tree.oldest, tree.newest = time.now + S, time.now + 2 * S
    time.pass_(0.05)
    arrive(BOX)
    assert ask(world, time) == unknown(Status.TF_EXTRAPOLATION)


# ---- snapshots


def recall(world: World, time: Time, wanted: int, pose: Pose = FAR) -> Status:
    return questions.collide(world.snapshot(**time.both, require_id=wanted), pose).status


def test_snapshot_keeps_its_id_while_the_data_is_the_same(time: Time) -> None:
    world = known(time, (0, 0))
    first = world.snapshot(**time.both)
    time.pass_(0.1)
    second = world.snapshot(**time.both)
    assert (second.id, second.scene) == (first.id, first.scene)
    assert second.max_obstacle_age == pytest.approx(0.1)
    send(world, time, (0, 0))
    third = world.snapshot(**time.both)
    assert third.id == first.id + 1
    assert third.oldest_data_stamp == time.now


@pytest.mark.requirement("V-7")
@pytest.mark.parametrize("required", [False, True])
def test_the_greatest_age_is_that_of_all_sources(time: Time, required: bool) -> None:
    """Of those that are stale or bad too, excused or not."""
    world = two(time, required)
    assert world.snapshot(**time.both).max_obstacle_age == 0.0  # the other never came
    send(world, time, (0, 0), to="radar")
    for tenths in range(1, 9):
        time.pass_(0.1)
        send(world, time, (0, 0), to="lidar")
        snapshot = world.snapshot(**time.both)
        assert snapshot.max_obstacle_age == pytest.approx(0.1 * tenths)
        oldest = T0 if tenths <= 2 else time.now  # of what is used
        assert snapshot.oldest_data_stamp == oldest
    garble(world, time, "radar")
    assert world.snapshot(**time.both).max_obstacle_age == pytest.approx(0.8)
    time.pass_(0.1)
    send(world, time, (0, 0), to="lidar")
    send(world, time, (0, 0), to="radar")
    assert world.snapshot(**time.both).max_obstacle_age == 0.0


@pytest.mark.requirement("V-8")
def test_earlier_snapshot_can_be_asked_for_while_it_is_fresh(time: Time) -> None:
    world = known(time, (0, 0))
    first = world.snapshot(**time.both)
    time.pass_(0.3)
    send(world, time, (50, 0))
    latest = world.snapshot(**time.both)
    assert latest.id != first.id
    again = world.snapshot(**time.both, require_id=first.id)
    assert (again.id, again.scene, again.fault) == (first.id, first.scene, None)
    assert again.max_obstacle_age == pytest.approx(0.3)
    time.pass_(0.3)
    assert recall(world, time, first.id) is Status.SNAPSHOT_MISMATCH
    never = world.snapshot(**time.both, require_id=10**9)
    assert questions.collide(never, Pose()).status is Status.SNAPSHOT_MISMATCH
    assert questions.collide(never, Pose()).verdict is Verdict.UNKNOWN


@pytest.mark.requirement("V-8")
def test_no_snapshot_of_another_epoch_is_given(time: Time) -> None:
    ids = []
    for epoch in (0, 1, 2, 2**32 - 1):
        config = Config(footprint=CAR)
        world = World(config, epoch=epoch) if epoch else World(config)
        send(world, time, (0, 0))
        snapshot = world.snapshot(**time.both)
        assert divmod(snapshot.id, 2**32) == (epoch, 1)
        for earlier in ids:
            assert recall(world, time, earlier) is Status.SNAPSHOT_MISMATCH
        ids.append(snapshot.id)


@pytest.mark.requirement("V-8")
@pytest.mark.parametrize("name", ["bad shape", "bad list", "not decoded"])
def test_no_snapshot_from_before_a_faulty_message_is_given(time: Time, name: str) -> None:
    spoil, status = FAULTY[name]
    world = World(Config(footprint=CAR), Late(0, 2 * T0))
    send(world, time, (0, 0))
    wanted = world.snapshot(**time.both).id
    time.pass_(0.05)
    spoil(world, time)
    assert recall(world, time, wanted, Pose()) is status
    time.pass_(0.05)
    send(world, time, (0, 0))
    assert ask(world, time) == FREE
    assert recall(world, time, wanted) is Status.SNAPSHOT_MISMATCH


@pytest.mark.requirement("V-8")
def test_no_snapshot_from_before_a_fault_of_a_place_is_given(time: Time) -> None:
    """The shapes are valid, but not where the frame is. It is a fault of this place only."""
    tree = Tree({("odom", "lidar"): Pose(1e16, 0.0, 0.0)})
    world = World(Config(footprint=CAR), tree)
    send(world, time, (0, 0))
    wanted = world.snapshot(**time.both).id
    time.pass_(0.05)
    send(world, time, (0, 0), (5, 0), frame="lidar")
    assert ask(world, time) == unknown(Status.COORD_RANGE)
    tree.poses["odom", "lidar"] = Pose()
    time.pass_(0.05)
    send(world, time, (0, 0), frame="lidar")
    assert ask(world, time) == FREE
    assert recall(world, time, wanted) is Status.SNAPSHOT_MISMATCH


@pytest.mark.requirement("V-8")
def test_no_snapshot_from_before_a_clash_is_given(time: Time) -> None:
    """It is noticed by messages that are dropped, and does not last as long as the data."""
    source = SourceConfig("obstacles", timeout=60.0)
    world = World(Config(footprint=CAR, sources=(source,)))
    send(world, time, (0, 0), sequence=5)
    wanted = world.snapshot(**time.both).id
    for number in (4, 3):
        send(world, time, (0, 0), stamp=T0 - 1, sequence=number)
    assert ask(world, time) == unknown(Status.INVALID_INPUT)
    time.pass_(3.1)
    assert ask(world, time) == FREE
    assert recall(world, time, wanted) is Status.SNAPSHOT_MISMATCH


# ---- what a stranger's messages found


@pytest.mark.parametrize("what", ["undecodable", "future", "future and back"])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 40])
def test_a_stamp_that_stands_still_is_not_forgotten(what: str, count: int, time: Time) -> None:
    """The clock stands; other messages come in between, more than are kept."""
    world = known(time)
    assert ask(world, time) == FREE
    time.steady += 10 * S
    for number in range(count):
        if what == "undecodable":
            garble(world, time)
        else:
            send(world, time, stamp=time.now + (100 + number) * S)
    if what == "future and back":
        send(world, time, stamp=time.now - 1)
    send(world, time)
    assert ask(world, time) == unknown(Status.STALE_OBSTACLES)
    time.pass_(0.1)
    send(world, time)
    assert ask(world, time) == FREE


# ---- what a model of the rules found


@pytest.mark.requirement("D-3")
def test_a_message_older_than_one_before_the_last_is_dropped(time: Time) -> None:
    """The last message is stamped ahead of the clock; the one before it decides the order."""
    world = World(Config(footprint=CAR))
    send(world, time, (0, 0))
    send(world, time, (0, 0), stamp=T0 + S)
    send(world, time, (50, 0), stamp=T0 - 1)
    assert ask(world, time) == unknown(Status.FUTURE_STAMP)
    send(world, time, (0, 0), stamp=T0 + 1)
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-1")
@pytest.mark.parametrize("between", [0, 1, 9, 40])
def test_a_stamp_that_was_ahead_when_it_first_came(time: Time, between: int) -> None:
    """When the clock has come to it, the same stamp again is as old as its first reception."""
    world = World(Config(footprint=CAR))
    for number in range(between + 1):
        send(world, time, (0, 0), stamp=T0 + 10 * S + number * S)
    time.pass_(10.0)
    send(world, time, (0, 0))
    assert ask(world, time) == unknown(Status.STALE_OBSTACLES)
    send(world, time, (0, 0), stamp=time.now + 1)
    assert ask(world, time) == FREE


@pytest.mark.requirement("D-1")
def test_the_stamp_of_a_dropped_message_is_not_new_when_it_comes_again(time: Time) -> None:
    """The clock stands. A repeated number brought the stamp first."""
    world = World(Config(footprint=CAR))
    send(world, time, (0, 0), sequence=5)
    send(world, time, (0, 0), stamp=T0 + 1, sequence=5)
    time.steady += 10 * S
    send(world, time, (0, 0), stamp=T0 + 1, sequence=6)
    assert ask(world, time) == unknown(Status.STALE_OBSTACLES)


@pytest.mark.requirement("D-3")
def test_a_number_is_known_after_a_message_that_was_not_decoded(time: Time) -> None:
    world = World(Config(footprint=CAR))
    send(world, time, (0, 0), sequence=5)
    garble(world, time)
    time.pass_(0.4)
    for sequence, expected in ((5, unknown(Status.INVALID_INPUT)), (6, FREE)):
        send(world, time, (0, 0), sequence=sequence)
        assert ask(world, time) == expected


@pytest.mark.requirement("D-7")
def test_an_optional_source_with_a_bad_shape_and_an_old_stamp(time: Time) -> None:
    """Only silence is excused."""
    world = two(time, required=False)
    send(world, time, (np.nan, 0), to="radar", stamp=time.now - S)
    assert ask(world, time) == unknown(Status.NON_FINITE)


@pytest.mark.requirement("D-7")
def test_a_fault_of_an_optional_source_lasts_until_a_good_message(time: Time) -> None:
    """Neither time nor messages that are dropped end it."""
    world = two(time, required=False)
    send(world, time, (np.nan, 0), to="radar")
    for _ in range(10):
        send(world, time, (50, 0), to="radar", stamp=T0 - S)
        send(world, time, (0, 0), to="lidar")
        assert ask(world, time) == unknown(Status.NON_FINITE)
        time.pass_(0.1)
    send(world, time, (50, 0), to="radar")
    assert ask(world, time) == HIT


@pytest.mark.requirement("D-11")
def test_the_first_message_of_a_map_while_an_answer_is_computed(time: Time) -> None:
    """As another one: the answer does not know its obstacles."""
    sources = SourceConfig("lidar"), SourceConfig("map", static=True, required=False)
    world = World(Config(footprint=CAR, sources=sources))
    send(world, time, (0, 0), to="lidar")
    first = world.snapshot(**time.both)
    assert confirmed(world, time, first) == FREE
    send(world, time, (50, 0), to="map", stamp=0, ids=np.array([7]))
    assert confirmed(world, time, first) == unknown(Status.SNAPSHOT_MISMATCH)
    assert recall(world, time, first.id) is Status.SNAPSHOT_MISMATCH


@pytest.mark.requirement("D-11")
def test_a_fault_of_an_optional_source_that_returns_while_an_answer_is_computed(
    time: Time,
) -> None:
    """The scene stays the same, because the message is not used."""
    world = two(time, required=False)
    send(world, time, (0, 0), to="lidar")
    first = world.snapshot(**time.both)
    send(world, time, (0, 0), to="radar", frame="nowhere")
    present = world.snapshot(**time.both)  # for example of a heartbeat
    assert first.fault is None and present.fault is not None and present.id == first.id
    assert world.confirm(first, **time.both).fault is not None


@pytest.mark.requirement("D-2")
@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("ahead", [0.1, 0.3, 1000.0])
def test_a_refused_stamp_is_a_fault_until_the_next_message(
    time: Time, required: bool, ahead: float
) -> None:
    """It does not become usable when the clock catches up, and hides no earlier data."""
    world = two(time, required)
    send(world, time, (0, 0), to="radar", stamp=time.now + round(0.05 * S))  # not too far ahead
    assert ask(world, time) == FREE
    send(world, time, (0, 0), to="radar", stamp=time.now + round(ahead * S))
    for _ in range(6):
        assert ask(world, time) == unknown(Status.FUTURE_STAMP)
        time.pass_(0.1)
        send(world, time, (0, 0), to="lidar")
    send(world, time, (0, 0), to="radar")
    assert ask(world, time) == FREE


def test_a_jump_is_not_the_reason_once_data_has_come(time: Time) -> None:
    source = SourceConfig("obstacles", required=False)
    world = known(time, (0, 0), sources=(source,))
    time.now -= S
    assert ask(world, time) == unknown(Status.CLOCK_JUMP)
    send(world, time, (0, 0))
    assert ask(world, time) == FREE
    time.pass_(1.0)
    assert ask(world, time) == unknown(Status.NO_OBSTACLES)


@pytest.mark.requirement("D-11")
def test_what_is_named_when_all_data_ages_while_it_is_worked_on(time: Time) -> None:
    """The footprint first, as in an answer at once; and its age, also after a jump."""
    world = known(time, (0, 0), footprint=())
    outline(world, time, stamp=T0 - S // 2)
    first = world.snapshot(**time.both)
    time.pass_(1.0)
    assert confirmed(world, time, first) == unknown(Status.STALE_FOOTPRINT)
    time.now = T0 - 1
    last = world.confirm(first, **time.both)
    assert last.footprint_age == pytest.approx(0.5 - 1e-9, abs=1e-12)


# ---- reports


SENSORS = (SourceConfig("lidar"), SourceConfig("radar", required=False))


def test_reports_before_any_message(time: Time) -> None:
    """A missing optional source is excused, a missing required one is not."""
    world = World(Config(sources=SENSORS))
    footprint, lidar_, radar = world.reports(**time.both)
    for report, name, status in (
        (footprint, "footprint", Status.NO_FOOTPRINT),
        (lidar_, "lidar", Status.NO_OBSTACLES),
        (radar, "radar", Status.NO_OBSTACLES),
    ):
        assert report.fault is not None
        assert (report.source, report.sender, report.fault.status) == (name, "", status)
        assert report.is_excused is (name == "radar")
        assert np.isnan(report.age)
        assert (report.count, report.received, report.dropped) == (0, 0, 0)
    assert "'lidar'" in str(lidar_.fault)  # the topic


def test_reports_of_each_sender(time: Time) -> None:
    world = World(Config(sources=SENSORS))
    outline(world, time)
    send(world, time, (0, 0), (9, 0), to="lidar", stamp=T0, source="front")
    send(world, time, (0, 0), to="lidar", stamp=T0, source="rear")
    send(world, time, to="radar", stamp=T0)
    time.pass_(0.25)
    send(world, time, (5, 0), to="lidar", source="rear")
    send(world, time, (0, 0), to="lidar", stamp=time.now - 1, source="rear")
    assert world.reports(**time.both) == [
        Report("footprint", "footprint", None, False, 0.25, 4, 1, 0),
        Report("lidar", "front", None, False, 0.25, 2, 1, 0),
        Report("lidar", "rear", None, False, 0.0, 1, 3, 1),
        Report("radar", "radar", None, False, 0.25, 0, 1, 0),
    ]
    time.pass_(0.5)
    reports = world.reports(**time.both)
    statuses = [each.fault and each.fault.status for each in reports]
    assert statuses == [None, Status.STALE_OBSTACLES, None, Status.STALE_OBSTACLES]
    assert [each.is_excused for each in reports] == [False, False, False, True]
    assert [each.age for each in reports] == [0.75, 0.75, 0.5, 0.75]


def test_a_report_has_the_age_and_the_count_of_the_message_in_use(time: Time) -> None:
    """Else it would look fresh while its answers come from an older message."""
    tree = Late(0, time.now)
    world = World(Config(), tree)
    outline(world, time, frame="map")
    send(world, time, (0, 0), stamp=T0, frame="map")
    time.pass_(0.25)  # the transforms of the next messages are late
    outline(world, time, BOX[:3], frame="map")
    send(world, time, (0, 0), (9, 0), frame="map")
    reports = world.reports(**time.both)
    assert reports == [
        Report("footprint", "footprint", None, False, 0.25, 4, 2, 0),
        Report("obstacles", "obstacles", None, False, 0.25, 1, 2, 0),
    ]
    assert [len(each.waiting.points) for each in reports[:1]] == [3]
    assert [len(each.waiting) for each in reports[1:]] == [2]
    tree.newest = time.now
    assert [(each.age, each.count) for each in world.reports(**time.both)] == [(0.0, 3), (0.0, 2)]
    assert [each.waiting for each in world.reports(**time.both)] == [None, None]


def test_reports_of_a_configured_footprint_and_of_messages_without_data(time: Time) -> None:
    world = World(Config(footprint=CAR))
    garble(world, time)
    footprint, unread = world.reports(**time.both)
    assert footprint.fault is None
    assert (footprint.sender, footprint.count) == ("", 0)
    assert unread.fault == Fault(Status.INTERNAL_ERROR, "no")
    assert (unread.sender, unread.count, unread.received) == ("", 0, 1)
    assert np.isnan(unread.age)


def test_reports_of_a_static_source(time: Time) -> None:
    world = World(Config(footprint=CAR, sources=(SourceConfig("map", static=True),)))
    for _ in range(3):
        send(world, time, (0, 0), to="map")
        time.pass_(10.0)
    assert world.reports(**time.both)[1] == Report("map", "map", None, False, 10.0, 1, 3, 0)


def crowd(world: World, time: Time) -> None:
    for i in range(17):
        send(world, time, source=f"s{i}")


def test_reports_of_too_many_senders(time: Time) -> None:
    world = World(Config(footprint=CAR))
    crowd(world, time)
    *senders, last = world.reports(**time.both)
    assert [each.sender for each in senders[1:]] == [f"s{i}" for i in range(16)]
    assert (last.source, last.sender, last.is_excused) == ("obstacles", "", False)
    assert last.fault.status is Status.LIMIT_EXCEEDED


def test_reports_check_the_shapes(time: Time) -> None:
    """Also where nobody has asked a question yet."""
    world = World(Config(footprint=CAR))
    send(world, time, (np.nan, 0))
    assert world.reports(**time.both)[1].fault.status is Status.NON_FINITE
