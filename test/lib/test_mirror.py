# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A mirror gives the answers of its node, and none when the node would give none.

The oracle is the node itself: `World` and the questions, with the same snapshot and time. The
snapshot of the mirror has gone through the bytes of a message.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import fields
from typing import Any

import mirroring
import numpy as np
import pytest
from mirroring import MS, Run, S

from gjk_collision.server import questions
from gjk_collision.server.answers import Answer
from gjk_collision.server.config import Config, FootprintConfig, SourceConfig
from gjk_collision.server.frames import Pose
from gjk_collision.server.obstacles import Obstacles
from gjk_collision.server.snapshot import Fault
from gjk_collision.server.snapshot_message import described
from gjk_collision.verdict import Status, Verdict

SNAPSHOTS = int(os.environ.get("GJK_CASES", "60"))
SEED = int(os.environ.get("GJK_TEST_SEED", "1"))
PER_WORLD = 20  # snapshots
STALE = (Status.STALE_OBSTACLES, Status.STALE_FOOTPRINT)


def bits(value: Any) -> Any:
    """What is equal if and only if two answers are, bit by bit; NaN equals NaN."""
    if isinstance(value, Answer):
        return value.verdict, value.status, value.nearest_id, value.nearest_source
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape, value.tobytes()
    if isinstance(value, float):
        return np.float64(value).tobytes()
    if hasattr(value, "__dataclass_fields__"):
        return {each.name: bits(getattr(value, each.name)) for each in fields(value)}
    return value


def ask(snapshot: questions.Data, stamp: int, seed: int) -> dict[str, Any]:
    """The answers to random questions: 100 poses, 10 paths, and single poses."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    poses = np.c_[rng.uniform(-14, 14, (100, 2)), rng.uniform(-3.2, 3.2, 100)]
    margin = float(rng.choice([0.0, 0.2]))
    for mode in range(3):
        timed = rng.random() < 0.5
        times = rng.uniform(-0.3, 5.0, 100) if timed else np.empty(0)
        found[f"poses, mode {mode}"] = questions.check_poses(
            snapshot,
            poses.ravel(),
            times,
            stamp=stamp,
            margin=margin,
            mode=mode,
            stop_at_first=bool(rng.random() < 0.2),
        )
    for k in range(10):
        n = int(rng.integers(1, 6))
        way = poses[k] + np.cumsum(rng.normal(0, 1.0, (n, 3)), axis=0)
        times = np.cumsum(rng.uniform(0.1, 1.5, n)) if rng.random() < 0.5 else np.empty(0)
        found[f"path {k}"] = questions.check_path(
            snapshot,
            way.ravel(),
            times,
            stamp=stamp,
            swept=bool(rng.random() < 0.8),
            margin=margin,
            tolerance=float(rng.choice([0.0, 0.02])),
        )
    pose, frame = Pose(*poses[0].tolist()), Pose(3.0, -2.0, 0.7)
    found["collide"] = questions.collide(snapshot, pose, margin)
    found["collide in a frame"] = questions.collide(snapshot, pose, margin, frame=frame)
    found["distance"] = questions.distance(snapshot, pose, 3, float(rng.choice([0.0, 5.0])))
    ends = np.r_[0, np.sort(rng.choice(np.arange(1, 100), 7, replace=False)), 100]
    found["groups"] = questions.check_poses(
        snapshot,
        poses.ravel(),
        margin=margin,
        stamp=stamp,
        group_offsets=ends,
        stop_at_first=bool(rng.random() < 0.5),
    )
    found["gradients"] = questions.check_poses(
        snapshot,
        poses[:30].ravel(),
        np.linspace(0.0, 4.0, 30) if rng.random() < 0.5 else np.empty(0),
        stamp=stamp,
        mode=3,
        k=int(rng.integers(1, 4)),
        frame=lambda: frame,
    )
    for k in range(3):
        n = int(rng.integers(1, 5))
        arcs = np.c_[rng.uniform(-0.5, 0.5, n), rng.uniform(-4.0, 6.0, n)]
        times = np.cumsum(rng.uniform(0.1, 1.5, n + 1)) if rng.random() < 0.5 else np.empty(0)
        found[f"arcs {k}"] = questions.check_path(
            snapshot, poses[k], times, arcs=arcs.ravel(), stamp=stamp, margin=margin
        )
    found["nearest free"] = questions.nearest_free(snapshot, pose, 3.0, 0.5, tolerance=0.1)
    return found


def verdicts(found: dict[str, Any]) -> Counter[Verdict]:
    answers = (getattr(each, "answer", each) for each in found.values())
    return Counter(each.verdict for each in answers)


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("delay", [0, 30 * MS, 120 * MS])
def test_a_mirror_answers_as_its_node(delay: int) -> None:
    """Any difference would be a verdict that depends on who is asked."""
    said: Counter[Verdict] = Counter()
    compared = skipped = 0
    for world in range(max(1, SNAPSHOTS // PER_WORLD)):
        seed = SEED * 10_000 + world
        rng = np.random.default_rng(seed)
        run = Run(mirroring.some_config(rng), mirroring.some_frames(rng), delay)
        for step in range(PER_WORLD):
            event = mirroring.some_event(rng, run)
            where = f"seed {seed}, step {step}, after {event}"
            run.publish()
            if delay == 0:
                run.beat()
            run.pass_time(int(rng.integers(1, 80)) * MS)
            node, mirror = run.snapshot(), run.mirrored()
            held = run.used
            theirs = ask(node, run.now, step)
            ours = ask(mirror, run.now, step)
            is_valid = run.fault() is None
            if not is_valid:
                assert set(verdicts(ours)) == {Verdict.UNKNOWN}, where
            if node.fault is not None and node.fault.status in STALE:
                # Until the message arrives, the mirror cannot know of a shorter timeout.
                is_old = held is not None and held.config_hash != node.config.hash
                assert is_old or not verdicts(ours)[Verdict.FREE], where
            same = held is not None and held.snapshot_id == node.id
            if delay == 0 and node.fault is None:
                # An optional source may have expired after the last heartbeat.
                is_stale = mirror.fault is not None and mirror.fault.status in STALE
                assert (same and is_valid) or (not same and is_stale), (where, mirror.fault)
            if not same or not is_valid:
                skipped += 1
                continue
            compared += 1
            said += verdicts(ours)
            for name, each in theirs.items():
                assert bits(ours[name]) == bits(each), (where, name)
    total = said.total()
    if delay == 0:
        assert compared >= 0.7 * SNAPSHOTS, (compared, skipped)
    for verdict in Verdict if delay < 100 * MS else ():
        share = 0.0 if verdict is Verdict.MARGIN else 0.01
        assert said[verdict] > share * total, (said, compared, skipped)


def boxes(stamp: int, x: float, **more: Any) -> Obstacles:
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) + [x, 0.0]
    arrays = {"ids": np.array([1]), "offsets": np.array([0, 4]), "xy": corners.ravel()}
    return Obstacles("odom", stamp, **arrays, **more)


@pytest.mark.requirement("V-23")
def test_an_older_snapshot_that_arrives_late_is_not_used() -> None:
    config = Config(robot_radius=0.5)
    run = Run(config, mirroring.Frames({}))
    sent = []
    for sequence, x in ((1, 50.0), (2, 0.0)):
        run.pass_time(10 * MS)
        run.world.receive_obstacles("obstacles", boxes(run.now, x), **run.times)
        sent.append(described(run.snapshot(), sequence))
    run.sequence, run.key = 2, None
    for fields_ in reversed(sent):
        run._send(mirroring.SNAPSHOT, fields_)
    run.beat()
    assert questions.collide(run.mirrored(), Pose()).verdict is Verdict.COLLISION


@pytest.mark.requirement("V-23")
def test_data_with_the_stamp_zero_is_not_static() -> None:
    """In a simulation that has just begun."""
    source = SourceConfig("obstacles", timeout=2.0)
    config = Config(robot_radius=0.5, sources=(source,), prediction_policy="constant_velocity")
    run = Run(config, mirroring.Frames({}), now=1 * mirroring.S)
    coming = boxes(0, 5.0, velocities=np.array([-1.0, 0.0, 0.0]))
    run.world.receive_obstacles("obstacles", coming, **run.times)
    run.beat()
    times = np.array([0.0, 1.0, 2.4, 2.6, 3.0, 3.9, 4.5])
    found = [
        questions.check_poses(each, np.zeros(21), times, stamp=run.now)
        for each in (run.snapshot(), run.mirrored())
    ]
    assert bits(found[0]) == bits(found[1])
    assert Verdict.COLLISION in found[0].verdicts


def outage(run: Run, seconds: float) -> None:
    """Let time pass; what is sent meanwhile is lost."""
    delay, run.delay = run.delay, 10**6 * S
    run.pass_time(round(seconds * S))
    run.under_way.clear()
    run.delay = delay


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("seconds", [0.31, 0.5, 1.6])
def test_superseded_snapshot_is_not_used_again_after_an_outage(seconds: float) -> None:
    """The first heartbeat after the outage names a newer snapshot, with an obstacle on the way."""
    source = SourceConfig("obstacles", timeout=5.0)
    run = Run(Config(robot_radius=0.5, sources=(source,)), mirroring.Frames({}))
    run.world.receive_obstacles("obstacles", boxes(run.now, 50.0), **run.times)
    run.beat()
    assert questions.collide(run.mirrored(), Pose()).is_free
    run.world.receive_obstacles("obstacles", boxes(run.now + 1, 0.0), **run.times)
    outage(run, seconds)
    assert questions.collide(run.snapshot(), Pose()).verdict is Verdict.COLLISION
    for _ in range(50):  # heartbeats arrive, the snapshot does not
        run.beat()
        run.pass_time(20 * MS)
        assert questions.collide(run.mirrored(), Pose()).verdict is Verdict.UNKNOWN
    run.key = None
    run.beat()
    assert questions.collide(run.mirrored(), Pose()).verdict is Verdict.COLLISION


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("slow", [1, 10])
def test_nodes_with_one_name_are_noticed(count: int, slow: int) -> None:
    """In rotation, each heartbeat is of another node; one of them may be ten times slower."""
    config = Config(robot_radius=0.5, sources=(SourceConfig("obstacles", timeout=60.0),))
    runs = [Run(config, mirroring.Frames({}), epoch=7 + 5 * k) for k in range(count)]
    for k, run in enumerate(runs):
        run.mirror = runs[0].mirror
        run.world.receive_obstacles("obstacles", boxes(run.now, 50.0 * k), **run.times)
    for step in range(40):
        for k, run in enumerate(runs):
            if k or step % slow == 0:
                run.key = None
                run.beat()
            if step:
                assert questions.collide(run.mirrored(), Pose(9.0)).verdict is Verdict.UNKNOWN
        for run in runs:
            run.is_beating = False
            run.pass_time(100 * MS)


@pytest.mark.requirement("V-23")
def test_answer_of_a_long_question_is_judged_when_it_is_returned() -> None:
    """The node ends while the mirror computes; or its parameters or its map change."""

    def world() -> Run:
        sources = (SourceConfig("obstacles", timeout=0.3), SourceConfig("map", static=True))
        run = Run(Config(robot_radius=0.5, sources=sources), mirroring.Frames({}))
        run.world.receive_obstacles("map", boxes(run.now, 40.0), **run.times)
        run.world.receive_obstacles("obstacles", boxes(run.now, 50.0), **run.times)
        run.beat()
        return run

    def fault(run: Run, asked: Any) -> Status | None:
        found = run.fault(asked)
        return None if found is None else found.status

    run = world()
    used = run.asked()
    run.is_beating = False
    run.pass_time(300 * MS)
    assert fault(run, used) is None
    run.pass_time(1)
    assert fault(run, used) is Status.UNDEFINED

    for change in ("obstacles", "map", "margin", "restart"):
        run = world()
        used = run.asked()
        if change == "margin":
            run.world.reconfigure(run.config.changed({"safety_margin": 0.1}))
        if change == "restart":
            run.restart()
        run.pass_time(10 * MS)
        for name in ("obstacles", "map") if change == "restart" else (change,):
            if change != "margin":
                run.world.receive_obstacles(name, boxes(run.now, 0.0), **run.times)
        run.beat()
        assert run.fault() is None
        expected = None if change == "obstacles" else Status.SNAPSHOT_MISMATCH
        assert fault(run, used) is expected, change


@pytest.mark.requirement("V-23")
def test_fault_since_a_snapshot_without_its_default_footprint() -> None:
    """A question names a footprint; the snapshot has a fault that does not concern it."""
    small = FootprintConfig("small", robot_radius=0.5)
    source = SourceConfig("obstacles", timeout=60.0)
    run = Run(Config(footprints=(small,), sources=(source,)), mirroring.Frames({}))
    run.world.receive_obstacles("obstacles", boxes(run.now, 50.0), **run.times)
    run.beat()
    used = run.asked("small")
    assert run.fault(used) is None
    run.world.receive_fault("obstacles", Fault(Status.NON_FINITE, "xy[0]"), **run.times)
    run.pass_time(10 * MS)
    run.beat()
    fault = run.fault(used)
    assert fault is not None
    assert fault.status is Status.SNAPSHOT_MISMATCH
