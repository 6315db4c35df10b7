# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The time to collision of the heartbeat: by the vehicle's twist, never later than the contact."""

from dataclasses import replace
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest
import questions
from worlds import BOX, CAR, FAR, Time, boxes

from gjk_collision import Scene, Shape
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.twist import Twist
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import FrameError, Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict

S = 1_000_000_000
START = Pose(-20.0, 0.0, 0.0)


def moving(time: Time, *centres: tuple[float, float], age: float = 0.0, **fields: Any) -> Any:
    """Boxes with the velocity 0, or as `fields` say."""
    velocities = np.zeros(3 * len(centres))
    given = {"velocities": velocities, **fields}
    return boxes(*centres, stamp=time.now - round(age * S), **given)


def world_of(time: Time, *centres: tuple[float, float], data: Any = None, **changes: Any) -> World:
    usual = {"footprint": CAR, "twist_topic": "odom", "prediction_horizon": 10.0}
    world = World(Config(**{**usual, **changes}))
    given = moving(time, *centres) if data is None else data
    world.receive_obstacles("obstacles", given, **time.both)
    return world


def left(snapshot: Snapshot, pose: Pose | Fault = START) -> float:
    plain = questions.state(snapshot, pose, None)
    found = questions.state(snapshot, pose, snapshot.twist)
    assert replace(found, results=found.results | {"time_to_collision": nan}) == plain
    assert isnan(plain.time_to_collision)
    return found.time_to_collision


def go(world: World, time: Time, vx: float, vy: float = 0.0, wz: float = 0.0) -> Snapshot:
    world.receive_twist(Twist("base_link", time.now, vx, vy, wz), **time.both)
    return world.snapshot(**time.both)


def test_horizon_begins_at_the_stamp_of_the_data(time: Time) -> None:
    data = moving(time, (0.0, 0.0), age=0.4)
    world = world_of(time, data=data, prediction_horizon=3.0)
    assert left(go(world, time, 18.0 / 2.5)) < 2.6
    time.pass_(0.001)
    assert left(go(world, time, 18.0 / 2.7)) == inf
    nothing = world_of(time, prediction_horizon=0.0)
    assert isnan(left(go(nothing, time, 2.0)))


@pytest.mark.requirement("V-18")
def test_random_motions_against_the_library(time: Time) -> None:
    """The vehicle on its arc against a box that moves straight: dense samples."""
    rng = np.random.default_rng(17)
    hits = 0
    car, thing = Shape.polygon(BOX), Shape.polygon(BOX)
    for _ in range(60):
        x, y, yaw = rng.uniform((-8, -8, -4), (8, 8, 4)).tolist()
        vx, vy, wz = rng.uniform((-6, -2, -1), (6, 2, 1)).tolist()
        ux, uy = rng.uniform(-2, 2, 2).tolist()
        data = moving(time, (0.0, 0.0), velocities=np.array([ux, uy, 0.0]))
        world = world_of(time, data=data, prediction_horizon=6.0)
        found = left(go(world, time, vx, vy, wz), Pose(x, y, yaw))
        times = np.linspace(0.0, 6.0, 1201)
        turn = yaw + wz * times
        # The integral of the rotated velocity.
        sin, cos = (np.sin(turn) - np.sin(yaw)) / wz, (np.cos(yaw) - np.cos(turn)) / wz
        poses = np.column_stack([x + vx * sin - vy * cos, y + vx * cos + vy * sin, turn])
        scene = Scene([thing], [(0, 0, 0)], velocities=[(ux, uy, 0)], horizon=10.0)
        at = scene.check(car, poses, times, mode="distance")
        touched = np.flatnonzero(at.verdicts == Verdict.COLLISION)
        if len(touched):
            hits += 1
            assert found <= times[touched[0]]
        if np.isfinite(found):
            passed = (times >= found - 0.02) & (times <= found + 0.1)
            assert at.distances[passed].min() < 0.1
        else:
            assert found == inf and not len(touched)
        time.pass_(1.0)
    assert 10 < hits < 50


@pytest.mark.parametrize("policy", ["unknown_is_error", "constant_velocity", "hold"])
def test_obstacle_without_a_velocity(time: Time, policy: Any) -> None:
    """Nobody knows where it will be, unless the policy says that it stands."""
    world = world_of(time, prediction_policy=policy)
    unknown = moving(time, (0.0, 0.0), velocities=np.full(3, nan))
    world.receive_obstacles("obstacles", unknown, **time.both)
    snapshot = go(world, time, 2.0)
    assert questions.state(snapshot, START, None).verdict is Verdict.FREE
    found = left(snapshot)
    assert isnan(found) if policy != "hold" else 8.99 <= found <= 9.0


@pytest.mark.requirement("V-18")
def test_twist_that_is_not_known_leaves_the_verdict_alone(time: Time) -> None:
    """Missing, stale, of a wrong frame, faulty: NaN, and the verdict as before."""
    world = world_of(time, (0.0, 0.0))

    def now() -> None:
        world.receive_obstacles("obstacles", moving(time, (0.0, 0.0)), **time.both)
        snapshot = world.snapshot(**time.both)
        assert isinstance(snapshot.twist, Fault)
        assert isnan(left(snapshot))
        assert questions.state(snapshot, START, None).is_free
        name = next(r for r in world.reports(**time.both) if r.source == "twist_topic")
        assert name.fault is not None and name.is_excused

    now()
    assert left(go(world, time, 2.0)) < 9.0
    time.pass_(0.6)
    now()  # stale
    assert left(go(world, time, 2.0)) < 9.0
    time.pass_(0.01)
    world.receive_twist(Twist("wheel", time.now, 2.0, 0.0, 0.0), **time.both)
    now()
    time.pass_(0.01)
    assert left(go(world, time, 2.0)) < 9.0
    world.receive_fault("twist_topic", Fault(Status.NON_FINITE, "bad"), **time.both)
    now()
    time.pass_(0.01)
    assert left(go(world, time, 2.0)) < 9.0
    time.pass_(0.1)
    world.receive_twist(Twist("base_link", time.now + S, 2.0, 0.0, 0.0), **time.both)
    now()  # stamped in the future


@pytest.mark.requirement("V-18")
def test_nothing_is_said_beside_a_fault(time: Time) -> None:
    """An obstacle that is not known may be nearer."""
    world = world_of(time, (0.0, 0.0))
    snapshot = go(world, time, 2.0)
    assert left(snapshot) < 9.0
    lost = Fault(FrameError(Status.TF_UNAVAILABLE, "no pose").status, "no pose")
    assert isnan(left(snapshot, lost))
    assert isnan(left(snapshot.invalidated(Fault(Status.TIME_BUDGET, "late"))))
    time.pass_(0.45)
    go(world, time, 2.0)
    time.pass_(0.1)
    stale = world.snapshot(**time.both)
    assert stale.fault is not None and isinstance(stale.twist, Twist)
    assert isnan(left(stale))
    assert isnan(left(world_of(time, twist_topic="").snapshot(**time.both), FAR))


def test_empty_list_is_infinite(time: Time) -> None:
    assert left(go(world_of(time), time, 30.0)) == inf
