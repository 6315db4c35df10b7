# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A mirror gives the answers of its node, and none when the node would give none.

The oracle is the node itself: `World` and the questions, with the same snapshot and time. The
snapshot of the mirror has gone through the bytes of a message.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import fields, replace
from typing import Any

import mirroring
import numpy as np
import pytest
import questions
from mirroring import MS, Run, S

from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.inbox import AgeLimit
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import empty_snapshot
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import Config, FootprintConfig, SourceConfig
from gjk_collision.server.publication import _key
from gjk_collision.server.services.answers import Answer
from gjk_collision.verdict import Status, Verdict

SNAPSHOTS = int(os.environ.get("GJK_CASES", "60"))
SEED = int(os.environ.get("GJK_TEST_SEED", "1"))
PER_WORLD = 20  # snapshots
STALE = (Status.STALE_OBSTACLES, Status.STALE_FOOTPRINT)


def bits(value: Any) -> Any:
    """What is equal if and only if two answers are, bit by bit; NaN equals NaN."""
    if isinstance(value, Answer):
        names = value.verdict, value.status, value.nearest_id, value.nearest_source
        return names, bits(value.results)
    if isinstance(value, dict):
        return {name: bits(each) for name, each in value.items()}
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
    rows = np.c_[rng.uniform(-14, 14, (100, 2)), rng.uniform(-3.2, 3.2, 100)]
    poses, margin = rows.ravel(), float(rng.choice([0.0, 0.2]))
    given: dict[str, Any] = {"stamp": stamp, "margin": margin}

    def is_so(share: float = 0.5) -> bool:
        return bool(rng.random() < share)

    def times_of(n: int) -> Any:
        return np.cumsum(rng.uniform(0.1, 1.5, n)) if is_so() else np.empty(0)

    for mode in range(3):
        times = rng.uniform(-0.3, 5.0, 100) if is_so() else np.empty(0)
        found[f"poses, mode {mode}"] = questions.check_poses(
            snapshot, poses, times, **given, mode=mode, stop_at_first=is_so(0.2)
        )
    for k in range(10):
        n, tolerance = int(rng.integers(1, 6)), float(rng.choice([0.0, 0.02]))
        way = (rows[k] + np.cumsum(rng.normal(0, 1.0, (n, 3)), axis=0)).ravel()
        found[f"path {k}"] = questions.check_path(
            snapshot, way, times_of(n), **given, swept=is_so(0.8), tolerance=tolerance
        )
    pose, frame = Pose(*rows[0].tolist()), Pose(3.0, -2.0, 0.7)
    found["collide"] = questions.collide(snapshot, pose, margin)
    found["collide in a frame"] = questions.collide(snapshot, pose, margin, frame=frame)
    found["distance"] = questions.distance(snapshot, pose, 3, float(rng.choice([0.0, 5.0])))
    ends = np.r_[0, np.sort(rng.choice(np.arange(1, 100), 7, replace=False)), 100]
    found["groups"] = questions.check_poses(
        snapshot, poses, **given, group_offsets=ends, stop_at_first=is_so()
    )
    times, k = np.linspace(0.0, 4.0, 30) if is_so() else np.empty(0), int(rng.integers(1, 4))
    found["gradients"] = questions.check_poses(
        snapshot, poses[:90], times, stamp=stamp, mode=3, k=k, frame=frame
    )
    for k in range(3):
        n = int(rng.integers(1, 5))
        arcs = np.c_[rng.uniform(-0.5, 0.5, n), rng.uniform(-4.0, 6.0, n)].ravel()
        found[f"arcs {k}"] = questions.check_path(
            snapshot, rows[k], times_of(n + 1), arcs=arcs, **given
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


def send(
    run: Run, x: float, to: str = "obstacles", frame: str = "odom", ahead: int = 0, **more: Any
) -> None:
    """The node receives a box about (x, 0), which is stamped `ahead` [ns] of now."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) + [x, 0.0]
    arrays = {"ids": np.array([1]), "offsets": np.array([0, 4]), "xy": corners.ravel()}
    data = Obstacles(frame, run.now + ahead, **arrays, **more)
    run.world.receive_obstacles(to, data, **run.times)


def node(timeout: float = 0.5, epoch: int = 7, **more: Any) -> Run:
    sources = (SourceConfig("obstacles", timeout=timeout), *more.pop("sources", ()))
    config = Config(**{"robot_radius": 0.5, "sources": sources, **more})
    return Run(config, mirroring.Frames({}), epoch=epoch)


@pytest.mark.requirement("V-23")
def test_data_with_the_stamp_zero_is_not_static() -> None:
    """In a simulation that has just begun."""
    run = node(timeout=2.0, prediction_policy="constant_velocity")
    run.now = S
    send(run, 5.0, ahead=-S, velocities=np.array([-1.0, 0.0, 0.0]))
    run.beat()
    times = np.array([0.0, 1.0, 2.4, 2.6, 3.0, 3.9, 4.5])
    found, mirrored = (
        questions.check_poses(each, np.zeros(21), times, stamp=run.now)
        for each in (run.snapshot(), run.mirrored())
    )
    assert bits(found) == bits(mirrored)
    assert Verdict.COLLISION in found.verdicts


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("ahead", [-S // 2, 0, 40 * MS, 3600 * S])
def test_horizon_of_static_data_begins_now_for_a_question_of_any_time(ahead: int) -> None:
    sources = (SourceConfig("map", static=True),)
    config = Config(robot_radius=0.5, prediction_horizon=1.0, sources=sources)
    run = Run(config, mirroring.Frames({}), epoch=7)
    send(run, 20.0, "map")
    run.publish()
    run.beat()
    times = np.array([0.0, 0.5, 0.99, 1.2, 1.6])
    found, mirrored = (
        questions.check_poses(each, np.zeros(15), times, stamp=run.now + ahead)
        for each in (run.snapshot(), run.mirrored(ahead))
    )
    assert bits(found) == bits(mirrored)
    free = times * S + ahead <= S
    assert [each is Verdict.FREE for each in map(Verdict, found.verdicts)] == free.tolist()


@pytest.mark.requirement("V-23")
@pytest.mark.parametrize("change", ["obstacles", "map", "margin", "restart"])
def test_answer_of_a_long_question_is_judged_when_it_is_returned(change: str) -> None:
    """The parameters or the map of the node change while the mirror computes."""
    run = node(timeout=0.3, sources=(SourceConfig("map", static=True),))
    send(run, 40.0, "map")
    send(run, 50.0)
    run.beat()
    used = run.asked()

    def fault() -> Status | None:
        found = run.fault(used)
        return None if found is None else found.status

    if change == "margin":
        run.world.reconfigure(run.config.changed({"safety_margin": 0.1}))
    if change == "restart":
        run.restart()
    run.pass_time(10 * MS)
    for name in {"restart": ["obstacles", "map"], "margin": []}.get(change, [change]):
        send(run, 0.0, name)
    run.beat()
    assert run.fault() is None
    assert fault() is (None if change == "obstacles" else Status.SNAPSHOT_MISMATCH)


@pytest.mark.requirement("V-23")
def test_fault_since_a_snapshot_without_its_default_footprint() -> None:
    """A question names a footprint; the snapshot has a fault that does not concern it."""
    small = FootprintConfig("small", robot_radius=0.5)
    run = node(timeout=60.0, robot_radius=0.0, footprints=(small,))
    send(run, 50.0)
    run.beat()
    used = run.asked("small")
    assert run.fault(used) is None
    run.world.receive_fault("obstacles", Fault(Status.NON_FINITE, "xy[0]"), **run.times)
    run.pass_time(10 * MS)
    run.beat()
    assert run.fault(used).status is Status.SNAPSHOT_MISMATCH


def test_static_transform_is_corrected_while_an_answer_is_computed() -> None:
    tree = TransformTree(mirroring.T0)
    tree.insert("odom", "sensor", 0, Placement(), static=True)
    run = Run(Config(robot_radius=0.5), tree)
    send(run, 3.0, frame="sensor")
    run.beat()
    used = run.asked()
    run.pass_time(20 * MS)
    assert run.fault(used) is None
    tree.insert("odom", "sensor", 0, Placement((-3.0, 0.0, 0.0)), static=True)
    run.beat()  # the obstacle is now at the place of the vehicle
    assert run.fault(used).status is Status.SNAPSHOT_MISMATCH
    assert run.fault() is None
    assert questions.collide(run.mirrored(), Pose()).verdict is Verdict.COLLISION


@pytest.mark.parametrize("queued", [0, 100 * MS, 200 * MS])
def test_message_counts_from_its_earliest_arrival(queued: int) -> None:
    """A mirror that was paused reads messages that may have waited; the ROS clock stood still."""
    run = node(timeout=60.0)
    send(run, 50.0)
    run.queued = queued
    run.beat()
    run.steady += 300 * MS - queued
    assert run.fault() is None
    run.steady += 1
    assert run.fault().status is Status.UNDEFINED


def test_what_a_mirror_must_know_is_sent() -> None:
    """A fault beside that of the footprint, and the stamp of a footprint that comes again."""
    base = empty_snapshot(Config(), Fault(Status.NO_FOOTPRINT, "none"), 10**18)
    other = replace(base, data_fault=Fault(Status.UNKNOWN_FRAME, "frame"))
    assert _key(base) != _key(other)
    keys = {
        _key(replace(base, footprint_limits=(AgeLimit("footprint", 10**18 + at, 1.0, 0.0),)))
        for at in (0, 50_000_000, 300_000_000)
    }
    assert len(keys) == 2
