# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Every status is said where it is meant, and beside each but SUCCESS nothing is FREE."""

import re
from collections.abc import Callable
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import questions
from numpy.typing import NDArray
from worlds import BOX, CAR, FAR, STEADY0, T0, S, Time, Tree, boxes, known

from gjk_collision import _core
from gjk_collision.errors import InputError
from gjk_collision.geometry import Shape
from gjk_collision.motion import Motion, time_of_impact
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import empty_snapshot
from gjk_collision.server.data.world import NO_TRANSFORMS, Footprint, World
from gjk_collision.server.frames.poses import FrameError, TransformSource
from gjk_collision.server.parameters.config import SCAN, Config, SourceConfig
from gjk_collision.server.services.answers import Answer, answer_of
from gjk_collision.server.services.answers import refused as refused_with
from gjk_collision.verdict import Status, Verdict

ROOT = Path(__file__).resolve().parents[2]


def answered(world: World, time: Time) -> Answer:
    return questions.collide(world.snapshot(**time.both), FAR)


def refused(ask: Callable[[], Any]) -> Answer:
    """What the server replies where a request breaks a rule."""
    with pytest.raises((InputError, FrameError)) as caught:
        ask()
    return refused_with("Collide", Fault.of(caught.value))


def batch(poses: Any, **changes: Any) -> Answer:
    world = known(Time(), (0.0, 0.0), **changes)
    snapshot = world.snapshot(now=T0, steady=STEADY0)
    return refused(lambda: questions.check_poses(snapshot, np.array(poses)))


def one_bad(policy: str = "decompose", **fields: Any) -> Answer:
    return received(replace(boxes((0.0, 0.0)), **fields), policy=policy)


def after(seconds: float, **changes: Any) -> Answer:
    time = Time()
    world = known(time, (0.0, 0.0), **changes)
    if not world.config.footprint:
        world.receive_footprint(Footprint("base_link", time.now, BOX), **time.both)
    time.pass_(seconds)
    return answered(world, time)


def received(
    data: Obstacles, tree: TransformSource = NO_TRANSFORMS, policy: str = "decompose"
) -> Answer:
    time = Time()
    world = World(Config(footprint=CAR, concave_policy=policy), tree)
    world.receive_obstacles("obstacles", data, **time.both)
    return answered(world, time)


def placed(tree: TransformSource, frame: str) -> Answer:
    return received(boxes((0.0, 0.0), frame=frame), tree)


def jumped() -> Answer:
    time = Time()
    world = known(time, (0.0, 0.0))
    time.now -= 10 * S
    return answered(world, time)


def other_snapshot() -> Answer:
    world = known(Time(), (0.0, 0.0))
    return questions.collide(world.snapshot(now=T0, steady=STEADY0, require_id=99), FAR)


def late() -> Answer:
    snapshot = known(Time(), (0.0, 0.0)).snapshot(now=T0, steady=STEADY0)
    poses = np.tile(FAR, 1000)
    return questions.check_poses(snapshot, poses, budget=_core.Budget(lambda: True))


def timed() -> Answer:
    snapshot = known(Time(), (0.0, 0.0)).snapshot(now=T0, steady=STEADY0)
    return questions.check_poses(snapshot, np.array(FAR), np.array([1.0]))


def not_seen() -> Answer:
    source = SourceConfig("obstacles", type=SCAN, marks_seen=True)
    return answered(known(Time(), (0.0, 0.0), sources=(source,), require_seen=True), Time())


def given_up() -> Answer:
    """A motion that needs more steps than it is given."""
    box = Shape.box(2.0, 2.0)
    turning = Motion.constant((0.0, 5.0, 0.3), (0.1, -1.0, 1.0))
    found = time_of_impact(box, box, turning, Motion.still(), 0.0, 9.0, max_iterations=1)
    return Answer(found.verdict, found.status)


def outline(xy: NDArray[np.float64]) -> dict[str, Any]:
    return {"kinds": np.array([1]), "offsets": np.array([0, len(xy) // 2]), "xy": xy}


STAR = np.array([0, 3, 1, 1, 3, 0, 1, -1, 0, -3, -1, -1, -3, 0, -1, 1], dtype=np.float64)
INACTIVE = empty_snapshot(Config(), Fault(Status.NOT_ACTIVE, ""), 0)
LASTING = SourceConfig("obstacles", timeout=60.0)
CASES: dict[Status, Callable[[], Answer]] = {
    Status.SUCCESS: lambda: after(0.0),
    Status.NOT_ACTIVE: lambda: questions.collide(INACTIVE, FAR),
    Status.NO_FOOTPRINT: lambda: answered(known(Time(), (0.0, 0.0), footprint=()), Time()),
    Status.STALE_FOOTPRINT: lambda: after(2.0, footprint=(), sources=(LASTING,)),
    Status.NO_OBSTACLES: lambda: answered(World(Config(footprint=CAR)), Time()),
    Status.STALE_OBSTACLES: lambda: after(0.6),
    Status.FUTURE_STAMP: lambda: received(boxes((0.0, 0.0), stamp=T0 + S)),
    Status.TF_UNAVAILABLE: lambda: placed(NO_TRANSFORMS, "map"),
    Status.TF_EXTRAPOLATION: lambda: placed(Tree({}), "lidar"),
    Status.UNKNOWN_FRAME: lambda: placed(NO_TRANSFORMS, ""),
    Status.CLOCK_JUMP: jumped,
    Status.SNAPSHOT_MISMATCH: other_snapshot,
    Status.NOT_SEEN: lambda: not_seen(),
    Status.INVALID_INPUT: lambda: one_bad(radius=np.array([-1.0])),
    Status.NON_FINITE: lambda: batch([0.0, nan, 0.0]),
    Status.TOO_FEW_POINTS: lambda: one_bad(offsets=np.array([0, 0]), xy=np.empty(0)),
    Status.DEGENERATE: lambda: one_bad(**outline(np.array([0.0, 0, 1, 0, 2, 0]))),
    Status.CONCAVE_REJECTED: lambda: one_bad("reject", **outline(STAR)),
    Status.COORD_RANGE: lambda: one_bad(xy=np.array([*CAR[:7], 1e300])),
    Status.ARRAY_MISMATCH: lambda: batch([0.0, 0.0]),
    Status.LIMIT_EXCEEDED: lambda: batch([0.0] * 6, max_poses=1),
    Status.EMPTY_REQUEST: lambda: batch([]),
    Status.PREDICTION_TOO_SHORT: timed,
    Status.ITERATION_LIMIT: given_up,
    Status.TIME_BUDGET: late,
}
# Said by the node alone: an exception in a request (test_faults.py), and nothing at all. What the
# kernel gives up on: rules_test.cpp.
ELSEWHERE = {Status.UNDEFINED, Status.INTERNAL_ERROR, Status.NUMERIC_FAILURE}


@pytest.mark.requirement("V-4")
@pytest.mark.parametrize("status", CASES, ids=lambda status: status.name)
def test_status(status: Status) -> None:
    answer = CASES[status]()
    assert answer.status is status, answer
    assert answer.is_free == (status is Status.SUCCESS)
    assert (answer.verdict is Verdict.UNKNOWN) == (status is not Status.SUCCESS)


def test_a_fault_names_its_source_field_and_index() -> None:
    time, bad = Time(), boxes((0.0, 0.0))
    world = World(Config(footprint=CAR))
    world.receive_obstacles(
        "obstacles", replace(bad, xy=np.full_like(bad.xy, np.nan)), **time.both
    )
    fault = world.snapshot(**time.both).fault
    assert fault is not None
    assert (fault.source, fault.field, fault.index) == ("obstacles", "xy", 0)
    assert fault.message == f"obstacles: xy[0]: {fault.rule}"


def test_what_is_not_predicted_is_named() -> None:
    """The sender, the obstacle and the time; after the horizon, the limit and its parameter."""
    assert timed().message.startswith("obstacles: the pose of obstacle 10 is not known at 1 s")
    snapshot = known(Time(), (0.0, 0.0)).snapshot(now=T0, steady=STEADY0)
    for times in ([6.0, 7.0], [0.0, 6.0]):
        path = questions.check_path(snapshot, np.array([FAR, FAR]), np.array(times))
        late = questions.check_poses(snapshot, np.array([FAR]), np.array(times[1:]))
        assert late.status is Status.PREDICTION_TOO_SHORT
        assert late.message.startswith(f"times: nothing is predicted after 5 s (got {times[1]:g},")
        assert "prediction_horizon" in late.message
        beyond = "times: nothing is predicted after 5 s (got 7,"
        unknown = "obstacles: the pose of obstacle 10 is not known after 0 s"
        assert path.message.startswith(beyond if times[0] else unknown)
    for time in (np.nextafter(5.0, 0.0), 5.0):  # at the horizon, the reason is still the obstacle
        text = questions.check_poses(snapshot, np.array([FAR]), np.array([time])).message
        assert text.startswith(f"obstacles: the pose of obstacle 10 is not known at {time:.16g} s")


def test_every_status_is_tested() -> None:
    assert set(Status) == CASES.keys() | ELSEWHERE


def test_every_status_is_used() -> None:
    """By the package itself, or by the kernel, whose names are in lower case."""
    files = [*(ROOT / "gjk_collision").rglob("*.py"), *(ROOT / "src_cpp").rglob("*.hpp")]
    files.remove(ROOT / "gjk_collision" / "verdict.py")
    files.remove(ROOT / "src_cpp" / "include" / "gjk" / "verdict.hpp")
    text = "".join(path.read_text() for path in files)
    used = {name.upper() for name in re.findall(r"\bStatus(?:\.|::)(\w+)", text)}
    assert {status.name for status in Status} <= used


@pytest.mark.requirement("V-2")
@pytest.mark.parametrize("status", set(Status) - {Status.SUCCESS}, ids=lambda each: each.name)
def test_free_requires_success(status: Status) -> None:
    assert not Answer(Verdict.FREE, status).is_free


def test_status_of_a_later_version_is_undefined() -> None:
    """A mirror reads the number in a message of another version of the node."""
    found = answer_of((Verdict.UNKNOWN, 999, "a rule of a later version", -1, "", {}))
    assert (found.status, found.message) == (Status.UNDEFINED, "a rule of a later version")
