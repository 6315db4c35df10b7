# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever comes, and in whatever order: `World` says what its model says.

GJK_MODEL_EXAMPLES is the number of runs of the state machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest
import questions
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from world_model import CAR, Message, Model, State
from worlds import BOX, S

from gjk_collision import _core
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.frames import lookup
from gjk_collision.server.frames.poses import FrameError, Pose, SameFrameOnly
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Status, Verdict

EXAMPLES = int(os.environ.get("GJK_MODEL_EXAMPLES", "150"))
MS = 1_000_000
# Poses that meet, touch, come near and pass boxes at 0, 10 and 20 m, for every margin below.
PLACES = (0.0, 2.0, 2.25, 2.5, 2.75, 3.0, 5.0, 7.0, 7.5, -2.0, -2.25, -2.5, -3.0, 12.5, 50.0)
POSES = np.array([(x, 0.0, 0.0) for x in PLACES]).ravel()


class Frames(SameFrameOnly):
    """Frames that shift from one millisecond to the next, known for a span of time."""

    def __init__(self, newest: int) -> None:
        self.oldest, self.newest, self.is_alive = 0, newest, True

    @staticmethod
    def shift(stamp: int) -> float:
        return 10.0 * (stamp // MS % 5)

    def trouble(self, frame: str, stamp: int) -> set[Status]:
        if frame in ("", "lost"):
            return {Status.UNKNOWN_FRAME}
        if not self.is_alive:
            return {Status.TF_UNAVAILABLE}
        is_known = self.oldest <= stamp <= self.newest
        return set() if is_known else {Status.TF_EXTRAPOLATION}

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        for status in self.trouble(source, stamp):
            raise FrameError(status, "trouble")
        return Pose(self.shift(stamp), 0.0, 0.0)

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        # A stamp of 0 would mean that the frames are static.
        return self.lookup(target, source, self.newest), max(self.newest, 1)


def obstacles(message: Message) -> Obstacles:
    n = len(message.boxes)
    shift = 0.0 if message.frame == "odom" else Frames.shift(message.stamp)
    return Obstacles(
        message.frame,
        message.stamp,
        message.sender,
        message.sequence,
        ids=np.arange(1, n + 1),
        offsets=np.arange(0, 4 * n + 1, 4),
        xy=np.array([BOX + (x - shift, 0.0) for x, _ in message.boxes]).ravel(),
        velocities=np.array([(speed, 0.0, 0.0) for _, speed in message.boxes]).ravel(),
    )


def footprint(message: Message) -> Footprint:
    shift = 0.0 if message.frame == "base_link" else Frames.shift(message.stamp)
    points = BOX * (message.half, 1.0) - (shift, 0.0)
    return Footprint(message.frame, message.stamp, points)


def _xy(index: int, value: float) -> Callable[[Obstacles], Obstacles]:
    def spoil(data: Obstacles) -> Obstacles:
        xy = data.xy.copy()
        xy[index] = value
        return replace(data, xy=xy)

    return spoil


def _put(**fields: Any) -> Callable[[Obstacles], Obstacles]:
    return lambda data: replace(data, **{k: np.asarray(v) for k, v in fields.items()})


# What is found when a message comes, and what is found when a scene is made of it.
BAD: tuple[tuple[Status, Callable[[Obstacles], Obstacles]], ...] = (
    (Status.INVALID_INPUT, _put(radius=[-1.0])),
    (Status.ARRAY_MISMATCH, _put(ids=np.empty(0, np.int64))),
    (Status.INVALID_INPUT, _put(ids=[-1])),
    (Status.LIMIT_EXCEEDED, _put(offsets=[0, 9], xy=np.ones(18))),
    (Status.NON_FINITE, _xy(3, np.nan)),
    (Status.NON_FINITE, _xy(0, np.inf)),
    (Status.COORD_RANGE, _xy(2, 1e300)),
    (Status.TOO_FEW_POINTS, _put(offsets=[0, 0], xy=np.empty(0))),
)
BAD_OUTLINES = (
    (Status.NON_FINITE, BOX * np.nan),
    (Status.TOO_FEW_POINTS, BOX[:2]),
    (Status.DEGENERATE, BOX * (1.0, 0.0) + [[0, 0], [1, 0], [2, 0], [3, 0]]),
    (Status.LIMIT_EXCEEDED, np.tile(BOX, (3, 1))),
)
STEPS = st.sampled_from([0, 1, 10 * MS, 60 * MS, 110 * MS, 290 * MS, 300 * MS, 501 * MS, 2 * S])
# Live parameters, and the direction that is safe while the node is active.
LIVE = {
    "safety_margin": (1, [0.0, 0.25, 0.5]),
    "margin_front": (1, [0.0, 0.25, 0.5]),
    "margin_rear": (1, [0.0, 0.25]),
    "footprint_timeout": (-1, [0.2, 0.4]),
    "lidar.timeout": (-1, [0.25, 0.5]),
    "lidar.inflation": (1, [0.0, 0.25, 0.5]),
    "radar.timeout": (-1, [0.2, 0.3]),
    "radar.inflation": (1, [0.0, 0.25]),
}
LATE = Verdict.UNKNOWN, Status.TIME_BUDGET
BOXES = st.lists(
    st.tuples(st.sampled_from([0.0, 10.0, 20.0]), st.sampled_from([0.0, 5.0, -2.0])), max_size=3
).map(tuple)


def used(state: State) -> list[Message]:
    """What was received of what is used."""
    return [each for each in (state.car, *state.parts) if each and each.source]


def assert_age(seconds: float, nanoseconds: float) -> None:
    assert seconds == pytest.approx(nanoseconds / S, abs=1e-6, nan_ok=True), (seconds, nanoseconds)


class Machine(RuleBasedStateMachine):
    """Tells a world and its model the same, and compares what they say."""

    @initialize(
        begin=st.sampled_from([0, 7 * MS, 1000 * S, 1_800_000_000 * S]),
        required=st.sampled_from([(True, True), (True, False), (True, False), (False, False)]),
        by_topic=st.booleans(),
        epoch=st.sampled_from([0, 7, 2**32 - 1]),
    )
    def start(self, begin: int, required: tuple[bool, bool], by_topic: bool, epoch: int) -> None:
        sources = (
            SourceConfig("lidar", timeout=0.5, required=required[0]),
            SourceConfig("radar", timeout=0.3, required=required[1]),
        )
        config = Config(
            footprint=() if by_topic else tuple(BOX.ravel().tolist()),
            sources=sources,
            footprint_timeout=0.4,
            max_obstacles=5,
            max_points_per_obstacle=8,
            prediction_horizon=1.0,
        )
        self.by_topic, self.epoch = by_topic, epoch
        self.now, self.steady, self.last = begin, 3 * S, 3 * S
        self.frames = Frames(begin)
        self.world = World(config, self.frames, epoch)
        self.model = Model(config, self.frames)
        self.stamps: dict[str, list[int]] = {"lidar": [], "radar": [], CAR: []}
        self.sequence: dict[tuple[str, str], int] = {}
        self.given: dict[int, tuple[State, int, Config]] = {}
        self.look = True

    # ---- what happens

    @rule(dt=STEPS, which=st.sampled_from(["both", "both", "both", "now", "steady"]))
    def pass_time(self, dt: int, which: str) -> None:
        self.now += dt * (which != "steady")
        self.steady += dt * (which != "now")

    @rule(dt=st.sampled_from([1, 10 * MS, S]), often=st.integers(0, 3))
    def go_back(self, dt: int, often: int) -> None:
        if often == 0:
            self.now = max(self.now - dt, 0)

    @rule(
        lag=st.sampled_from([0, 0, 20 * MS, 150 * MS, -100 * MS]),
        span=st.sampled_from([10 * S, 10 * S, 100 * MS, 0]),
        alive=st.sampled_from([True, True, True, False]),
    )
    def move_frames(self, lag: int, span: int, alive: bool) -> None:
        self.frames.newest = max(self.now - lag, 0)
        self.frames.oldest = self.frames.newest - span
        self.frames.is_alive = alive

    def stamp(self, source: str, kind: int) -> int:
        earlier = self.stamps[source]
        offsets = [0, 0, 0, -10, -10, -120, -290, -600, 50, 51, 1000, 100_000]
        if kind >= len(offsets) and earlier:
            return max(0, earlier[-1 - kind // 4 % len(earlier)] + (0, 0, 1, -1)[kind % 4])
        stamp = max(0, self.now + offsets[kind % len(offsets)] * MS)
        earlier.append(stamp)
        return stamp

    def times(self, waited: int) -> dict[str, int]:
        """With a message: the earliest steady time at which it can have come."""
        self.last = max(self.last, self.steady - waited)
        return {"now": self.now, "steady": self.last}

    @rule(
        source=st.sampled_from(["lidar", "lidar", "radar"]),
        sender=st.sampled_from(["", "", "", "left"]),
        kind=st.integers(0, 27),
        count=st.sampled_from([None, None, 1, 1, 0, -1]),
        frame=st.sampled_from(["odom"] * 4 + ["lidar"] * 5 + ["lost", ""]),
        bad=st.sampled_from([None] * 4 * len(BAD) + [*BAD]),
        boxes=BOXES,
        waited=st.sampled_from([0, 0, 0, 350 * MS]),
        look=st.booleans(),
    )
    def send(
        self, source: str, sender: str, kind: int, count: Any, frame: str, bad: Any,
        boxes: Any, waited: int, look: bool,
    ) -> None:  # fmt: skip
        last = self.sequence.get((source, sender), 0)
        sequence = 0 if count is None else max(last + count, 0)
        self.sequence[source, sender] = max(last, sequence)
        stamp = self.stamp(source, kind)
        message = Message(source, stamp, sender, sequence, frame, boxes=boxes)
        if bad is not None:
            message.boxes = ((10.0, 0.0),)
        self.tell(message, bad, waited)
        self.look = look

    @rule(
        kind=st.integers(0, 27),
        frame=st.sampled_from(["base_link", "base_link", "map", "map", "map", "lost"]),
        bad=st.sampled_from([None] * 12 + [*BAD_OUTLINES]),
        half=st.sampled_from([1.0, 2.0]),
        waited=st.sampled_from([0, 0, 350 * MS]),
        look=st.booleans(),
    )
    def send_footprint(
        self, kind: int, frame: str, bad: Any, half: float, waited: int, look: bool
    ) -> None:
        if not self.by_topic:
            return
        self.tell_footprint(
            Message(CAR, self.stamp(CAR, kind), frame=frame, half=half), bad, waited
        )
        self.look = look

    def tell_footprint(self, message: Message, bad: Any = None, waited: int = 0) -> None:
        data = footprint(message)
        if bad is not None:
            message.bad, data = bad[0], replace(data, points=bad[1])
        self.model.receive(message, **(times := self.times(waited)))
        self.world.receive_footprint(data, **times)

    @rule(
        source=st.sampled_from(["lidar", "radar"]),
        dt=st.sampled_from([60 * MS, 250 * MS, 310 * MS, 510 * MS]),
        which=st.sampled_from(["both", "steady", "steady"]),
        is_restamped=st.booleans(),
        is_garbage=st.booleans(),
    )
    def relay(
        self, source: str, dt: int, which: str, is_restamped: bool, is_garbage: bool
    ) -> None:
        """The same message again and again, with its stamp or with one of now."""
        self.send_all(boxes=((10.0, 0.0),))
        message = Message(source, self.now, "", 1000 + self.steady % 1000)
        for number in range(3):
            stamp = self.now if is_restamped else message.stamp
            message = replace(message, stamp=stamp, is_placed=False)
            self.tell(message)
            self.agrees()
            if is_garbage and number == 1:
                self.garble(source, Status.INTERNAL_ERROR)
            self.pass_time(dt, which)
            if not is_restamped:  # counted anew, so that its number is no reason to drop it
                message.sequence += 1

    @rule(
        what=st.sampled_from(["nothing", "garbage", "early", "reconfigure", *BAD]),
        look=st.booleans(),
        source=st.sampled_from(["lidar", "radar"]),
    )
    def recall(self, what: Any, look: bool, source: str) -> None:
        """A snapshot is asked for again after something faulty and something good."""
        self.send_all(boxes=((10.0, 0.0),))
        self.agrees()
        self.pass_time(10 * MS, "both")
        stamp = self.now + (S if what == "early" else 0)
        if what == "garbage":
            self.garble(source, Status.INTERNAL_ERROR)
        elif what == "reconfigure":
            self.reconfigure("safety_margin", 1)
            self.reconfigure("lidar.inflation", 1)
        elif what != "nothing":
            bad = None if what == "early" else what
            self.tell(Message(source, stamp, boxes=((10.0, 0.0),)), bad)
        if look:
            self.agrees()
        self.ask_again(1, 10 * MS, "both", True)

    @rule(
        source=st.sampled_from(["lidar", "radar"]),
        oldest=st.sampled_from([-10 * S, -10 * S, 0, 10 * MS]),
        newest=st.sampled_from([-60 * MS, -10 * MS, 10 * MS, 10 * MS]),
    )
    def late(self, source: str, oldest: int, newest: int) -> None:
        """A message whose transform is there, or may come, or cannot come any more."""
        self.send_all(boxes=((10.0, 0.0),))
        self.agrees()
        self.pass_time(50 * MS, "both")
        self.frames.oldest = self.now + oldest
        self.frames.newest = max(self.now + newest, self.frames.oldest, 0)
        self.frames.is_alive = True
        self.tell(Message(source, self.now - 5 * MS, frame="lidar", boxes=((20.0, 0.0),)))
        self.look = True

    @rule(source=st.sampled_from(["lidar", "radar"]), bad=st.sampled_from([None, *BAD[4:]]))
    def old(self, source: str, bad: Any) -> None:
        """A message that is old when it comes, and may be bad too."""
        self.pass_time(700 * MS, "both")
        self.send_all(boxes=((0.0, 0.0),), only="radar" if source == "lidar" else "lidar")
        self.tell(Message(source, self.now - 600 * MS, boxes=((20.0, 0.0),)), bad)
        self.look = True

    def tell(self, message: Message, bad: Any = None, waited: int = 0) -> None:
        message.stamp = max(message.stamp, 0)
        data = obstacles(message)
        if bad is not None:
            message.bad, data = bad[0], bad[1](data)
        self.model.receive(message, **(times := self.times(waited)))
        self.world.receive_obstacles(message.source, data, **times)

    @rule(boxes=BOXES, senders=st.sampled_from([("",), ("",), ("", "left")]))
    def send_all(self, boxes: Any, senders: Any = ("",), only: str = "") -> None:
        """What is good and fresh, from everybody."""
        new = [(source, sender) for source in ("lidar", "radar") for sender in senders]
        for who in dict.fromkeys([*new, *self.model.log]):
            if who[0] != CAR and only in ("", who[0]):
                self.tell(Message(who[0], self.now, who[1], boxes=boxes[:1]))
        if self.by_topic:
            self.tell_footprint(Message(CAR, self.now, frame="base_link"))
        self.look = True

    @rule(
        source=st.sampled_from(["lidar", "radar", CAR]),
        status=st.sampled_from([Status.INTERNAL_ERROR, Status.INVALID_INPUT]),
        waited=st.sampled_from([0, 350 * MS]),
        often=st.integers(0, 2),
        look=st.booleans(),
    )
    def send_garbage(
        self, source: str, status: Status, waited: int, often: int, look: bool
    ) -> None:
        if often or (source == CAR and not self.by_topic):
            return
        self.garble(source, status, waited)
        self.look = look

    def garble(self, source: str, status: Status, waited: int = 0) -> None:
        self.model.receive_garbage(source, status, **(times := self.times(waited)))
        self.world.receive_fault(source, Fault(status, "not understood"), **times)

    @rule(source=st.sampled_from(["lidar", "radar"]), often=st.integers(0, 15))
    def crowd(self, source: str, often: int) -> None:
        for i in range(17 if often == 0 else 0):
            self.tell(Message(source, self.now, f"s{i}"))

    @rule(often=st.integers(0, 7))
    def reset(self, often: int) -> None:
        if often == 0:
            self.model.forget(False)
            self.world.reset()

    @rule(name=st.sampled_from(sorted(LIVE)), choice=st.integers(0, 2), is_known=st.booleans())
    def reconfigure(self, name: str, choice: int, is_known: bool = False) -> None:
        if is_known:
            self.send_all(boxes=((10.0, 0.0),))
            self.agrees()
        safe, values = LIVE[name]
        old, value = self.world.config.parameters()[name], values[choice % len(values)]
        assert isinstance(old, float)
        new = self.world.config.changed({name: value})
        refusal = self.world.config.refusal(new, active=True)
        source, _, field = name.partition(".")
        is_fixed = field == "timeout" and not new.source(source).required
        assert bool(refusal) == ((value - old) * safe < 0.0 or (is_fixed and value != old))
        if not refusal:
            self.world.reconfigure(new)
            self.model.config = new

    # ---- what is said

    @invariant()
    def agrees(self) -> None:
        if self.look:
            self.compare(*self.ask())
        self.look = True

    def ask(self) -> tuple[Snapshot, State]:
        times = {"now": self.now, "steady": self.steady}
        snapshot, state = self.world.snapshot(**times), self.model.state(**times)
        assert snapshot.id >> 32 == self.epoch
        return snapshot, state

    def compare(self, snapshot: Snapshot, state: State, margin: float = 0.25) -> None:
        """Verdicts, status, blamed source and ages."""
        assert snapshot.bad_sources == state.bad_sources, (snapshot.bad_sources, state)
        assert (snapshot.fault is None) == (not state.faults), (snapshot.fault, state.faults)
        for name, statuses in list(state.faults.items())[:1]:
            assert snapshot.fault.status in statuses, (snapshot.fault, statuses)
            assert not name or snapshot.fault.message.startswith(f"{name}: "), snapshot.fault
        car = nan if state.car is None else state.now - state.car.stamp if state.car.source else 0
        assert_age(snapshot.footprint_age, car)
        assert_age(snapshot.max_obstacle_age, state.now - state.oldest)
        oldest = min((each.stamp for each in used(state)), default=0)
        assert snapshot.oldest_data_stamp == oldest
        known = self.given.setdefault(snapshot.id, (state, self.model.faulty, self.model.config))
        assert used(known[0]) == used(state)
        self.judge(questions.check_poses(snapshot, POSES, margin=margin), state, margin)
        for x in PLACES[1:8:3]:
            answer = questions.collide(snapshot, Pose(x, 0.0, 0.0), margin)
            allowed = self.model.verdict(state, x, margin)
            assert (answer.verdict, answer.status) in allowed, (x, answer, allowed)
            assert answer.is_free == (answer.verdict is Verdict.FREE)

    def judge(self, found: Any, state: State, margin: float, at: int | None = None) -> None:
        """Compare the verdicts at all places, and the statuses of those that are no collision."""
        for x, verdict, status in zip(PLACES, found.verdicts, found.statuses, strict=True):
            allowed = self.model.verdict(state, x, margin, at)
            assert verdict in {each for each, _ in allowed}, (x, verdict, allowed)
            assert verdict == Verdict.COLLISION or (verdict, status) in allowed, (x, allowed)

    @rule(
        seconds=st.sampled_from([0.0, 0.1, 0.5, 0.75, 0.9, 1.0, 5.0]),
        ago=st.sampled_from([None, 0, 70 * MS, 4 * S]),
        apart=st.sampled_from([0, 60 * MS, 250 * MS]),
    )
    def ask_about_later(self, seconds: float, ago: int | None, apart: int) -> None:
        """Timed poses; the stamp of the request is the origin of their times."""
        if apart:
            self.send_all(boxes=((10.0, 0.0),))
            self.pass_time(apart, "both")
            self.send_all(boxes=((20.0, 0.0),), only="lidar")
        snapshot, state = self.ask()
        stamp = 0 if ago is None else max(self.now - ago, 0)
        at = (stamp or self.now) + round(seconds * S)
        times = np.full(len(PLACES), seconds)
        self.judge(questions.check_poses(snapshot, POSES, times, stamp=stamp), state, 0.0, at)

    @rule(x=st.sampled_from(PLACES))
    def ask_beyond_the_budget(self, x: float) -> None:
        """Only a collision that was found in time is said."""
        snapshot, state = self.ask()
        poses, budget = np.tile((x, 0.0, 0.0), 500), _core.Budget(lambda: True)
        found = questions.check_poses(snapshot, poses, budget=budget)
        allowed = {
            each if each[0] in (Verdict.COLLISION, Verdict.UNKNOWN) else LATE
            for each in self.model.verdict(state, x, 0.0)
        }
        assert (found.verdict, found.status) in allowed, (found.answer, allowed)

    @rule(
        frame=st.sampled_from(["odom", "lidar", "lidar", "lost", ""]),
        ago=st.sampled_from([None, 0, 30 * MS, 200 * MS]),
    )
    def ask_in_a_frame(self, frame: str, ago: int | None) -> None:
        config, stamp = self.model.config, 0 if ago is None else max(self.now - ago, 0)
        present = min(self.frames.newest, self.now)
        is_old = self.now - present > config.transform_tolerance * S
        wanted = self.frames.trouble(frame, stamp or present)
        wanted |= {Status.TF_EXTRAPOLATION} if not stamp and not wanted and is_old else set()
        if frame != "odom" and wanted:
            with pytest.raises(FrameError) as caught:
                lookup.frame_pose(config, self.frames, frame, stamp, self.now)
            assert caught.value.status in wanted
            return
        pose = lookup.frame_pose(config, self.frames, frame, stamp, self.now)
        at = stamp or present
        assert pose.x == (0.0 if frame == "odom" else self.frames.shift(at))

    @rule(dt=STEPS, which=st.sampled_from(["both", "now", "steady"]), back=st.integers(0, 9))
    def answer_that_takes_its_time(self, dt: int, which: str, back: int) -> None:
        """Freshness and ages when the answer leaves."""
        snapshot, state = self.ask()
        self.compare(snapshot, state)
        if back == 0:
            self.now = max(self.now - dt, 0)
        else:
            self.pass_time(dt, which)
        times = {"now": self.now, "steady": self.steady}
        self.compare(self.world.confirm(snapshot, **times), self.model.confirm(state, **times))

    @rule(
        which=st.integers(0, 20),
        step=st.sampled_from([0, 10 * MS, 120 * MS, 310 * MS, 510 * MS]),
        clocks=st.sampled_from(["both", "steady"]),
        is_fresh=st.booleans(),
    )
    def ask_again(self, which: int, step: int, clocks: str, is_fresh: bool) -> None:
        """An earlier snapshot is given while its data is fresh and nothing faulty has come."""
        self.pass_time(step, clocks)
        if is_fresh:
            self.send_all(boxes=((0.0, 0.0),))
        latest, now = self.ask()
        ids = sorted(self.given)
        wanted = ids[-1 - which % len(ids)] if ids and which < 20 else 10**6
        again = self.world.snapshot(now=self.now, steady=self.steady, require_id=wanted)
        if wanted == latest.id:
            self.compare(again, now)
            return
        state, faulty, config = self.given.get(wanted, (now, -1, None))
        may = (
            not state.faults and not now.faults and faulty == self.model.faulty
            and config is self.model.config
            and not self.model.too_old(state, self.steady)
        )  # fmt: skip
        if again.id == wanted:
            assert may, (wanted, state)
            car = state.car if state.car and state.car.source else now.car
            oldest = min(now.oldest, *(m.stamp for m in state.parts))
            self.compare(again, replace(now, car=car, parts=state.parts, oldest=oldest))
            return
        assert again.id == 0
        assert again.fault is not None
        wanted_status = next(iter(now.faults.values()), {Status.SNAPSHOT_MISMATCH})
        assert again.fault.status in wanted_status
        assert not (may and ids.index(wanted) >= len(ids) - 16), wanted


@pytest.mark.requirement("D-13")
def test_world_and_model_agree() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=EXAMPLES, stateful_step_count=40)
    )
