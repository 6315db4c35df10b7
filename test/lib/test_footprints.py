# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Footprints by name and by speed: each answer is the one of its own footprint, or UNKNOWN."""

from dataclasses import replace
from math import isnan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import questions
from worlds import FAR, FREE, HIT, S, Time, asked_as_request, known, outline, send, unknown

from gjk_collision.errors import InputError
from gjk_collision.server.adapters import twist as read_twist
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.twist import Twist
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose, SameFrameOnly
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import Config, FootprintConfig, SourceConfig
from gjk_collision.server.publication import Publication
from gjk_collision.server.services import SERVICES
from gjk_collision.server.services.answers import Answer
from gjk_collision.verdict import Status, Verdict

SMALL = (0.5, 0.5, -0.5, 0.5, -0.5, -0.5, 0.5, -0.5)
LONG = (3.0, 0.6, -1.0, 0.6, -1.0, -0.6, 3.0, -0.6)
NAMED = (FootprintConfig("small", footprint=SMALL), FootprintConfig("long", footprint=LONG))


def world_of(time: Time, *centres: tuple[float, float], **changes: Any) -> World:
    return known(time, *centres, **{"footprints": NAMED, **changes})


def by_speed(time: Time, *centres: tuple[float, float], **changes: Any) -> World:
    """Slow: small; fast: long; backwards: none."""
    ranges = (
        replace(NAMED[0], linear_min=0.0, linear_max=1.0),
        replace(NAMED[1], linear_min=1.0, linear_max=10.0),
    )
    given: dict[str, Any] = {"footprints": ranges, "speed_footprints": ("small", "long")}
    return world_of(time, *centres, **{**given, "twist_topic": "odom", **changes})


def drive(
    world: World, time: Time, vx: float, vy: float = 0.0, wz: float = 0.0, **how: Any
) -> None:
    twist = Twist(how.get("frame", "base_link"), how.get("stamp", time.now), vx, vy, wz)
    world.receive_twist(twist, **time.both)


def said(snapshot: Snapshot, pose: Pose) -> tuple[Verdict, Status]:
    answer = questions.collide(snapshot, pose)
    return answer.verdict, answer.status


NEAR = Pose(-3.0, 0.0, 0.0)  # a box at the origin begins 2 m ahead: long touches it


def test_the_stamp_of_the_twist_is_published_again(time: Time) -> None:
    """After a quarter of its timeout, because a mirror must know how old it is."""
    world = by_speed(time, sources=(SourceConfig("obstacles", timeout=5.0),), twist_timeout=2.0)
    publication, sent = Publication(), []  # type: ignore[var-annotated]
    for is_stopped in (False, True):
        if is_stopped:
            assert publication.stop() == 0
        for _ in range(9):
            drive(world, time, 0.5)
            publication.publish(world.snapshot(**time.both), 1, time.steady, sent.append)
            time.pass_(0.1)
        time.pass_(0.1)
        assert len(sent) == 2 + 2 * is_stopped
    snapshot = world.snapshot(**time.both)
    for subscribers, later, count in ((1, 0, 4), (2, 0, 5), (2, S, 6), (1, S + 1, 6)):
        publication.publish(snapshot, subscribers, time.steady + later, sent.append)
        assert len(sent) == count


def test_each_name_answers_with_its_own_footprint(time: Time) -> None:
    snapshot = world_of(time, (0.0, 0.0)).snapshot(**time.both)
    assert (snapshot.footprint_name, said(snapshot, NEAR)) == ("default", FREE)
    for name, expected in (("small", FREE), ("long", HIT), ("default", FREE), ("", FREE)):
        chosen = snapshot.chosen(name)
        assert (chosen.footprint_name, said(chosen, NEAR)) == (name or "default", expected)
        assert chosen.id == snapshot.id
        assert said(chosen.chosen("long"), NEAR) == HIT
        assert chosen.chosen("default").footprint_name == "default"
    with pytest.raises(InputError) as caught:
        snapshot.chosen("huge")
    assert (caught.value.argument, caught.value.status) == ("footprint", Status.INVALID_INPUT)
    assert "one of small, long, default (got 'huge')" in str(caught.value)


def test_the_active_footprint_changes_at_run_time(time: Time) -> None:
    """It is that of the heartbeat and of requests that name none, also of earlier snapshots."""
    world = world_of(time, (0, 0), footprint=SMALL)
    hashes = set()
    for name, wanted in ("", FREE), ("long", HIT), ("small", FREE), ("default", FREE):
        config = world.config.changed({"active_footprint": name})
        assert world.config.refusal(config, active=True) == ""
        world.reconfigure(config)
        hashes.add(config.hash)
        snapshot = world.snapshot(**time.both)
        assert said(snapshot, NEAR) == wanted
        assert snapshot.footprint_name == name or (not name)
        assert said(snapshot.chosen("default"), NEAR) == FREE
        assert snapshot.chosen("default").footprint_name == "default"
    assert len(hashes) == 4
    for changes, words in (
        ({"active_footprint": "lng"}, "must be empty or one of small, long, default"),
        ({"active_footprint": "long", "footprint": ()}, "needs the parameter footprint or robot"),
    ):
        with pytest.raises(InputError, match=f"^active_footprint: .*{words}"):
            world.config.changed(changes)


def test_directional_margins_grow_every_footprint(time: Time) -> None:
    world, changed = world_of(time, (0.0, 0.0), margin_front=1.0), world_of(time, (0.0, 0.0))
    changed.reconfigure(changed.config.changed({"margin_front": 1.0}))
    for each in (world, changed):
        small = each.snapshot(**time.both).chosen("small")
        assert said(small, Pose(-2.6, 0.0, 0.0)) == FREE
        assert said(small, Pose(-2.5, 0.0, 0.0)) == HIT


def test_named_footprint_needs_no_default_one(time: Time) -> None:
    """The topic footprint is silent; that concerns the requests that name none."""
    world = world_of(time, (0.0, 0.0), footprint=())
    snapshot = world.snapshot(**time.both)
    assert said(snapshot, FAR) == unknown(Status.NO_FOOTPRINT)
    assert said(snapshot.chosen("default"), FAR) == unknown(Status.NO_FOOTPRINT)
    assert isnan(snapshot.chosen_among(["default"]).footprint_age)
    assert isnan(snapshot.footprint_age)
    chosen = snapshot.chosen("long")
    assert said(chosen, FAR) == FREE
    assert (chosen.footprint_age, chosen.outline_stamp) == (0.0, snapshot.stamp)
    assert chosen.outline is not None
    assert snapshot.chosen_among(["default", "long"]).fault is None
    # It is stale after a while; a named one is not.
    outline(world, time)
    time.pass_(0.25)
    snapshot = world.snapshot(**time.both)
    assert said(snapshot, FAR) == FREE
    for names in (["small", "default"], ["default", "small"]):
        assert snapshot.chosen_among(names).footprint_age == 0.25
    time.pass_(1.1)
    send(world, time, (0.0, 0.0))
    assert said(world.snapshot(**time.both).chosen("small"), FAR) == FREE
    late = world.snapshot(**time.both)
    assert said(late, FAR) == unknown(Status.STALE_FOOTPRINT)
    assert world.confirm(late.chosen("small"), **time.both).footprint is not None


def test_fault_of_the_data_concerns_every_name(time: Time) -> None:
    world = World(Config(footprints=NAMED, footprint=SMALL))
    for name in ("", "small", "long", "default"):
        snapshot = world.snapshot(**time.both).chosen(name)
        assert said(snapshot, FAR) == unknown(Status.NO_OBSTACLES)
    send(world, time, (0.0, 0.0))
    chosen = world.snapshot(**time.both).chosen("long")
    assert said(chosen, FAR) == FREE
    time.pass_(0.6)
    late = world.confirm(chosen, **time.both)
    assert said(late, FAR) == unknown(Status.STALE_OBSTACLES)
    for name in ("", "small", "long", "default"):  # no name brings the data back
        assert said(late.chosen(name), FAR) == unknown(Status.STALE_OBSTACLES)


@pytest.mark.parametrize(
    ("vx", "name"), [(0.0, "small"), (1.0, "small"), (1.0000001, "long"), (10.0, "long")]
)
def test_speed_selects_the_first_footprint_in_whose_range_it_is(
    time: Time, vx: float, name: str
) -> None:
    world = by_speed(time, (0.0, 0.0))
    drive(world, time, vx)
    snapshot = world.snapshot(**time.both)
    assert (snapshot.footprint_name, snapshot.fault) == (name, None)
    assert said(snapshot, NEAR) == (HIT if name == "long" else FREE)


@pytest.mark.requirement("D-14")
@pytest.mark.parametrize("vx", [-0.1, 10.1])
def test_speed_that_no_footprint_is_for_is_unknown(time: Time, vx: float) -> None:
    world = by_speed(time)
    drive(world, time, vx)
    snapshot = world.snapshot(**time.both)
    assert said(snapshot, FAR) == unknown(Status.NO_FOOTPRINT)
    assert f"{vx:g} m/s" in questions.collide(snapshot, FAR).message
    assert said(snapshot.chosen("small"), FAR) == FREE


@pytest.mark.requirement("D-14")
def test_twist_that_is_not_known_selects_nothing(time: Time) -> None:
    """Missing, old by its stamp, silent, repeated, early, from another frame, faulty."""
    world = by_speed(time)

    def now(status: Status, word: str) -> None:
        send(world, time)
        snapshot = world.snapshot(**time.both)
        answer = questions.collide(snapshot, FAR)
        assert (answer.verdict, answer.status) == unknown(status), answer.message
        assert word in answer.message and " twist_topic: " in answer.message
        assert isinstance(snapshot.twist, Fault)
        assert said(snapshot.chosen("long"), FAR) == FREE
        assert said(snapshot.chosen("default"), FAR) == FREE

    now(Status.NO_FOOTPRINT, "'odom'")
    drive(world, time, 0.5, stamp=time.now - S)
    late = "1.000 s old, limit 0.5 s; it was 1.000 s old when it was received: compare the clocks"
    now(Status.STALE_FOOTPRINT, late)
    drive(world, time, 0.5)
    chosen = world.snapshot(**time.both)
    assert chosen.footprint_name == "small"
    assert chosen.outline is not None and chosen.outline.ravel().tolist() == list(SMALL)
    time.pass_(0.3)
    drive(world, time, 0.5, stamp=time.now - round(0.3 * S))
    time.pass_(0.3)
    now(Status.STALE_FOOTPRINT, "0.600 s old, limit 0.5 s")
    drive(world, time, 0.5, stamp=time.now + S)
    now(Status.FUTURE_STAMP, "1.000 s ahead")
    drive(world, time, 0.5)
    assert world.snapshot(**time.both).footprint_name == "small"
    for frame, status in (("", Status.UNKNOWN_FRAME), ("wheel", Status.TF_UNAVAILABLE)):
        time.pass_(0.01)
        drive(world, time, 0.5, frame=frame)
        now(status, frame and "'wheel'")
    time.pass_(0.01)
    world.receive_fault("twist_topic", Fault(Status.NON_FINITE, "linear.x: bad"), **time.both)
    now(Status.NON_FINITE, "linear.x: bad")
    drive(world, time, 2.0)
    assert world.snapshot(**time.both).footprint_name == "long"
    world.reset()
    now(Status.NO_FOOTPRINT, "")


@pytest.mark.requirement("D-11")
@pytest.mark.parametrize("names", [[""], ["", ""], ["", "long"], ["long", "default"]])
@pytest.mark.parametrize("is_selected", [False, True])
def test_each_footprint_of_a_request_is_checked_again_when_its_answer_is_sent(
    time: Time, names: list[str], is_selected: bool
) -> None:
    """A batch that outlives the footprint of some of its poses would be FREE with an old one."""
    if is_selected:
        names = [name.replace("default", "") for name in names]
        world = by_speed(time)
        drive(world, time, 0.5, stamp=time.now - round(0.4 * S))
    else:
        world = world_of(time, footprint=(), footprint_timeout=0.1)
        outline(world, time)
    message = SimpleNamespace(footprints=names, footprint="", which=np.zeros(1, np.uint8))
    first = SERVICES["CheckPoses"](message).chosen(world.snapshot(**time.both))
    used = {"small" if is_selected else "default"} | ({"long"} if "long" in names else set())
    assert set(first.footprint_names) == used
    assert world.confirm(first, **time.both).footprint is not None
    time.pass_(0.09)
    late = world.confirm(first, **time.both)
    assert late.footprint is not None
    assert late.footprint_age == pytest.approx(0.0 if is_selected else 0.09)
    time.pass_(0.02)
    late = world.confirm(first, **time.both)
    answer = questions.check_poses(late, np.array(FAR), which=message.which)
    assert (answer.verdict, answer.status) == unknown(Status.STALE_FOOTPRINT)
    named = SimpleNamespace(footprints=["long", "long"], footprint="", which=np.zeros(1, np.uint8))
    first = SERVICES["CheckPoses"](named).chosen(first.origin or first)
    assert first.footprint_names == ("long",)
    assert world.confirm(first, **time.both).footprint is not None


@pytest.mark.requirement("D-14")
def test_snapshot_of_another_speed_is_not_returned_by_id(time: Time) -> None:
    world = by_speed(time, (0.0, 0.0))
    drive(world, time, 0.5)
    slow = world.snapshot(**time.both)
    time.pass_(0.05)
    drive(world, time, 0.6)
    assert world.snapshot(**time.both).id == slow.id  # the same footprint, the same snapshot
    drive(world, time, 5.0, stamp=time.now + 1)
    time.pass_(0.001)
    fast = world.snapshot(**time.both)
    assert fast.id != slow.id
    again = world.snapshot(**time.both, require_id=slow.id)
    assert said(again, FAR) == unknown(Status.SNAPSHOT_MISMATCH)


def test_direction_of_a_holonomic_vehicle() -> None:
    left = FootprintConfig(
        "left", footprint=SMALL, linear_min=0.0, linear_max=2.0, direction_start_angle=0.5,
        direction_end_angle=2.5,
    )  # fmt: skip
    behind = replace(left, direction_start_angle=2.5, direction_end_angle=-2.5)  # through pi
    rng = np.random.default_rng(5)
    for vx, vy, wz in rng.uniform(-2.0, 2.0, (2000, 3)).tolist():
        speed, angle = abs(complex(vx, vy)), np.angle(complex(vx, vy))
        assert left.covers(vx, vy, wz, holonomic=True) == (speed <= 2.0 and 0.5 <= angle <= 2.5)
        is_behind = speed <= 2.0 and abs(angle) >= 2.5
        assert behind.covers(vx, vy, wz, holonomic=True) == is_behind
        assert left.covers(vx, vy, wz, holonomic=False) == (0.0 <= vx <= 2.0)
    for vy in (0.0, -0.0):  # the direction is pi and -pi
        for first, last in ((2.5, np.pi), (-np.pi, -2.5), (2.5, -2.5)):
            reverse = replace(left, direction_start_angle=first, direction_end_angle=last)
            assert reverse.covers(-0.5, vy, 0.0, holonomic=True)
    back = replace(left, direction_start_angle=np.pi / 2, direction_end_angle=-np.pi / 2)
    assert all(back.covers(0.0, vy, 0.0, holonomic=True) for vy in (0.5, -0.5))
    ahead = replace(left, direction_start_angle=0.0, direction_end_angle=0.0)  # and no other
    assert ahead.covers(1.0, 0.0, 0.0, holonomic=True)
    assert not ahead.covers(1.0, 0.1, 0.0, holonomic=True)
    steady = replace(left, linear_min=1.0, linear_max=1.0)
    assert steady.covers(1.0, 0.0, 0.0, holonomic=False)
    turning = replace(left, theta_min=-0.1, theta_max=0.2)
    assert turning.covers(1.0, 1.0, 0.2, holonomic=True)
    assert not turning.covers(1.0, 1.0, 0.21, holonomic=True)
    assert left.covers(0.0, 0.0, 0.0, holonomic=True)  # at rest there is no direction


def test_twist_of_a_frame_that_is_fixed_to_the_vehicle() -> None:
    """The velocity of the base's origin, by differences of the motion of a rigid body."""
    rng = np.random.default_rng(11)
    for _ in range(200):
        x, y, yaw, vx, vy, wz = rng.uniform(-2.0, 2.0, 6).tolist()
        pose = Pose(x, y, yaw)  # of the sensor in the base
        step = 1e-6
        # The base moves by its twist; the sensor's origin has moved by the sensor's twist.
        found = Twist("sensor", 0, vx, vy, wz).moved("base", pose)
        moved = Pose(found.vx * step, found.vy * step, found.wz * step).of(pose)
        c, s = np.cos(yaw), np.sin(yaw)
        dx, dy = (moved.x - x) / step, (moved.y - y) / step
        assert np.allclose((c * dx + s * dy, -s * dx + c * dy), (vx, vy), atol=1e-4)
        assert found.wz == wz


@pytest.mark.requirement("D-14")
def test_twist_in_a_frame_that_moves_is_refused(time: Time) -> None:
    tree = TransformTree()
    still = Placement((0.5, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    tree.set_time(time.now)
    assert not tree.insert("base_link", "imu", time.now, still, static=True)
    assert not tree.insert("base_link", "mast", time.now, still, static=False)
    config = by_speed(time).config
    world = World(config, tree)
    send(world, time)
    drive(world, time, 0.9, 0.0, 1.0, frame="imu")
    twist = world.snapshot(**time.both).twist
    assert isinstance(twist, Twist)
    assert (twist.frame, twist.vx, twist.vy, twist.wz) == ("base_link", 0.9, -0.5, 1.0)
    time.pass_(0.01)
    drive(world, time, 0.9, frame="mast")
    snapshot = world.snapshot(**time.both)
    assert said(snapshot, FAR) == unknown(Status.UNKNOWN_FRAME)
    assert (
        "'mast', which moves relative to 'base_link'" in questions.collide(snapshot, FAR).message
    )


def message_of(vx: float, vy: float, wz: float, *, odometry: bool) -> Any:
    twist = SimpleNamespace(
        linear=SimpleNamespace(x=vx, y=vy, z=0.0), angular=SimpleNamespace(x=0.0, y=0.0, z=wz)
    )
    header = SimpleNamespace(frame_id="odom", stamp=SimpleNamespace(sec=3, nanosec=7))
    if odometry:
        whole = SimpleNamespace(twist=twist)
        return SimpleNamespace(header=header, child_frame_id="base", twist=whole)
    return SimpleNamespace(header=header, twist=twist)


def test_twist_of_an_odometry_is_in_its_child_frame() -> None:
    config = Config()
    found = read_twist(message_of(1.0, 2.0, 3.0, odometry=True), config)
    assert found == Twist("base", 3 * S + 7, 1.0, 2.0, 3.0)
    config = Config(twist_type="geometry_msgs/msg/TwistStamped")
    found = read_twist(message_of(1.0, 2.0, 3.0, odometry=False), config)
    assert found == Twist("odom", 3 * S + 7, 1.0, 2.0, 3.0)
    for i, name in enumerate(("linear.x", "linear.y", "angular.z")):
        values = [0.0, 0.0, 0.0]
        values[i] = float("nan")
        with pytest.raises(InputError, match=f"^twist.{name}: must be finite"):
            read_twist(message_of(*values, odometry=False), config)


def ask(
    snapshot: Snapshot, poses: Any, *names: str, late: Any = lambda: False, **fields: Any
) -> Answer:
    stamp = SimpleNamespace(sec=0, nanosec=0)
    given = {
        "header": SimpleNamespace(frame_id="odom", stamp=stamp),
        "poses": np.ravel(poses), "times": np.empty(0), "margin": 0.0, "mode": 2,
        "stop_at_first": False, "require_snapshot_id": 0, "footprint": "",
        "footprints": list(names), "which": np.empty(0, np.uint8),
        "group_offsets": np.empty(0, np.uint32), "k": 0, **fields,
    }  # fmt: skip
    message = SimpleNamespace(**given)
    return asked_as_request("CheckPoses", message, snapshot, SameFrameOnly(), late)


def which(*indices: int) -> Any:
    return np.array(indices, np.uint8)


@pytest.mark.parametrize(
    ("names", "fields", "text"),
    [
        ("small long", {"which": which(0, 1, 2)}, "which[2]: must be an index in footprints"),
        ("small long", {"which": np.array([0, -1, 0])}, "which[1]: must be an index"),
        ("small long", {}, "which: must have 3 values, one per pose (got 0)"),
        ("small", {"which": which(0, 1)}, "which: must be empty or have 3 values"),
        ("small huge", {"which": which(0, 0, 0)}, "footprints[1]: must be"),
        ("small " * 257, {"which": which(0, 1, 2)}, "footprints: must have at most 256"),
        ("small", {"footprint": "long"}, "footprint: must be empty"),
        # Without the names, all poses would be checked with the default footprint.
        ("", {"which": which(0, 1, 2)}, "which: must be empty if footprints is empty"),
        ("", {"mode": 4}, "mode: must be"),
        # Indices count all poses and not those of one footprint.
        ("small long", {"poses": [0] * 7 + [np.nan, 0], "which": which(0, 1, 0)}, "poses[7]"),
        ("small long", {"poses": [0] * 4 + [1e300] * 5, "which": which(0, 1, 0)}, "poses[3]"),
        ("small long", {"times": np.array([0, 0, 1e11]), "which": which(0, 1, 0)}, "times[2]: "),
        ("small long", {"margin": 1e300, "which": which(0, 1, 0)}, "margin: must not exceed"),
    ],
)  # fmt: skip
def test_footprint_per_pose_is_refused_where_it_is_not_clear(
    time: Time, names: str, fields: dict[str, Any], text: str
) -> None:
    snapshot = world_of(time).snapshot(**time.both)
    fields = {"poses": np.zeros(9), **fields}
    poses = fields.pop("poses")
    with pytest.raises(InputError) as caught:
        ask(snapshot, poses, *names.split(), **fields)
    assert str(caught.value).startswith(text)
    assert ask(snapshot, np.zeros((3, 3)), "long").is_free


def test_fault_beside_a_footprint_per_pose(time: Time) -> None:
    """A part that is FREE does not make up for one whose footprint is not known."""
    snapshot = world_of(time, (0.0, 0.0), footprint=()).snapshot(**time.both)
    found = ask(snapshot, [FAR, FAR, FAR], "small", "default", which=which(0, 1, 0))
    assert found.verdicts.tolist() == [Verdict.FREE, Verdict.UNKNOWN, Verdict.FREE]
    assert found.statuses[1] == Status.NO_FOOTPRINT
    assert (found.verdict, found.status) == unknown(Status.NO_FOOTPRINT)
    assert found.first_invalid_index == 1 and not found.is_free
    assert "'footprint'" in found.message


ROUND = {"a.robot_radius": 1.0}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        *(
            ({"footprint_names": names}, f"footprint_names[{i}]: must be a unique name")
            for names, i in ((["a", "a"], 1), (["default"], 0), (["obstacles"], 0))
        ),
        ({"footprint_names": ["margin_front"]}, "footprint_names[0]: must be a unique name"),
        ({"footprint_names": "a"}, "footprint_names: must be a list of names"),
        ({"footprint_names": ["a"]}, "a.footprint: must be set, or a.robot_radius"),
        ({"a.footprint": list(SMALL)}, "a.footprint: is not a parameter"),
        ({"a.robot_radius": -1.0}, "a.robot_radius: must be 0 to 100 m"),
        ({**ROUND, "a.linear_max": -101.0}, "a.linear_max: must be -100 to 100"),
        ({**ROUND, "a.theta_min": 1.0, "a.theta_max": 0.5}, "a.theta_max: must not be less than"),
        ({**ROUND, "a.footprint": list(SMALL)}, "a.robot_radius: must be 0"),
        ({"a.footprint": [1.0, 2.0, 3.0]}, "a.footprint: must be pairs"),
        (
            {"footprint_names": [f"f{i}" for i in range(256)]}
            | {f"f{i}.robot_radius": 1.0 for i in range(256)},
            "footprint_names: must have at most 255 names (got 256)",
        ),
        (
            {"footprint_names": [], "speed_footprints": ["b"]},
            "speed_footprints[0]: must be a name in footprint_names (empty)",
        ),
        (
            {**ROUND, "speed_footprints": ["b"]},
            "speed_footprints[0]: must be a name in footprint_names (a)",
        ),
        (
            {**ROUND, "speed_footprints": ["a"]},
            "twist_topic: must be set if speed_footprints is set (got '')",
        ),
    ],
)
def test_footprints_that_are_refused(values: dict[str, Any], words: str) -> None:
    is_named = "footprint_names" not in values and "is not" not in words
    given = {"footprint_names": ["a"], **values} if is_named else values
    with pytest.raises(InputError) as caught:
        Config.from_parameters(given)
    assert str(caught.value).startswith(words)


def test_a_name_that_comes_again_is_refused() -> None:
    with pytest.raises(InputError, match=r"^footprint_names\[1\]: "):
        Config(footprints=(FootprintConfig("a", robot_radius=1.0),) * 2)


def test_footprints_read_back_and_count_for_the_hash() -> None:
    outline = "[[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]]"
    given = {
        "footprint_names": ["empty", "loaded"], "empty.footprint": outline,
        "loaded.robot_radius": 2, "speed_footprints": ["loaded"], "twist_topic": "odom",
    }  # fmt: skip
    config = Config.from_parameters(given)
    assert config.footprints[0].footprint == SMALL
    assert Config.from_parameters(config.parameters()) == config
    assert config.changed({"empty.linear_min": 1.0}).hash != config.hash
    refusal = config.refusal(config.changed({"loaded.robot_radius": 3.0}), active=False)
    assert "loaded.robot_radius: cannot change while the node is configured" in refusal
    without = config.changed({"footprint_names": ["empty"], "speed_footprints": []})
    assert [each.name for each in without.footprints] == ["empty"]


def test_invalid_outline_is_named() -> None:
    crossed = (0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0)
    with pytest.raises(InputError, match=r"^odd\.footprint: "):
        World(Config(footprints=(FootprintConfig("odd", footprint=crossed),)))
    with pytest.raises(InputError, match=r"^footprint: "):
        World(Config(footprint=crossed))
