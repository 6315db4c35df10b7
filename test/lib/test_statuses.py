# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Every status is said where it is meant, and beside each but SUCCESS nothing is FREE."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_world import BOX, CAR, FAR, STEADY0, T0, S, Time, Tree, boxes, known

from gjk_collision.errors import InputError
from gjk_collision.geometry import Shape
from gjk_collision.motion import Motion, time_of_impact
from gjk_collision.scene import Scene
from gjk_collision.server import questions
from gjk_collision.server.answers import Answer, unknown
from gjk_collision.server.config import Config, SourceConfig
from gjk_collision.server.frames import FrameError, Pose
from gjk_collision.server.questions import shapes
from gjk_collision.server.questions.batch import FIRST_CHUNK
from gjk_collision.server.snapshot import Fault, empty_snapshot
from gjk_collision.server.world import Footprint, World
from gjk_collision.verdict import Status, Verdict

ROOT = Path(__file__).resolve().parents[2]


def answered(world: World, time: Time, pose: Pose = FAR) -> Answer:
    return questions.collide(world.snapshot(**time.both), pose)


def refused(ask: Callable[[], Any]) -> Answer:
    """What the server replies where a request breaks a rule."""
    with pytest.raises((InputError, FrameError)) as caught:
        ask()
    return unknown(Fault(caught.value.status, str(caught.value)))


def batch(poses: Any, **changes: Any) -> Answer:
    world = known(Time(), (0.0, 0.0), **changes)
    snapshot = world.snapshot(now=T0, steady=STEADY0)
    return refused(lambda: questions.check_poses(snapshot, np.array(poses)))


def one_bad(policy: str = "decompose", **fields: Any) -> Answer:
    time = Time()
    world = World(Config(footprint=CAR, concave_policy=policy))
    world.receive_obstacles("obstacles", replace(boxes((0.0, 0.0)), **fields), **time.both)
    return answered(world, time)


def after(seconds: float, **changes: Any) -> Answer:
    time = Time()
    world = known(time, (0.0, 0.0), **changes)
    if not world.config.footprint:
        world.receive_footprint(Footprint("base_link", time.now, BOX), **time.both)
    time.pass_(seconds)
    return answered(world, time)


def placed(tree: Tree | None, frame: str) -> Answer:
    time = Time()
    world = World(Config(footprint=CAR), tree)
    world.receive_obstacles("obstacles", boxes((0.0, 0.0), frame=frame), **time.both)
    return answered(world, time)


def stamped(ahead: float) -> Answer:
    time = Time()
    world = World(Config(footprint=CAR))
    data = boxes((0.0, 0.0), stamp=time.now + round(ahead * S))
    world.receive_obstacles("obstacles", data, **time.both)
    return answered(world, time)


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
    return questions.check_poses(snapshot, poses, is_late=lambda: True).answer


def timed() -> Answer:
    snapshot = known(Time(), (0.0, 0.0)).snapshot(now=T0, steady=STEADY0)
    return questions.check_poses(snapshot, np.array(FAR), np.array([1.0])).answer


def forced(status: Status) -> Answer:
    """An answer where the kernel gives up on a pose with this status."""
    snapshot = known(Time(), (0.0, 0.0)).snapshot(now=T0, steady=STEADY0)
    scene = Scene([])
    scene._core = GivesUpOnce(scene._core, status)  # type: ignore[assignment]
    return questions.distance(replace(snapshot, scene=scene), FAR._replace(x=77.0)).answer


def given_up() -> Answer:
    """A motion that needs more steps than it is given."""
    box = Shape.box(2.0, 2.0)
    turning = Motion.constant((0.0, 5.0, 0.3), (0.1, -1.0, 1.0))
    found = time_of_impact(box, box, turning, Motion.still(), 0.0, 9.0, max_iterations=1)
    return Answer(found.verdict, found.status)


STAR = np.array([0, 3, 1, 1, 3, 0, 1, -1, 0, -3, -1, -1, -3, 0, -1, 1], dtype=np.float64)
CASES: dict[Status, Callable[[], Answer]] = {
    Status.SUCCESS: lambda: after(0.0),
    Status.NOT_ACTIVE: lambda: questions.collide(
        empty_snapshot(Config(), Fault(Status.NOT_ACTIVE, ""), 0), FAR
    ),
    Status.NO_FOOTPRINT: lambda: answered(known(Time(), (0.0, 0.0), footprint=()), Time()),
    Status.STALE_FOOTPRINT: lambda: after(
        2.0, footprint=(), sources=(SourceConfig("obstacles", timeout=60.0),)
    ),
    Status.NO_OBSTACLES: lambda: answered(World(Config(footprint=CAR)), Time()),
    Status.STALE_OBSTACLES: lambda: after(0.6),
    Status.FUTURE_STAMP: lambda: stamped(1.0),
    Status.TF_UNAVAILABLE: lambda: placed(None, "map"),
    Status.TF_EXTRAPOLATION: lambda: placed(Tree({}), "lidar"),
    Status.UNKNOWN_FRAME: lambda: placed(None, ""),
    Status.CLOCK_JUMP: jumped,
    Status.SNAPSHOT_MISMATCH: other_snapshot,
    Status.INVALID_INPUT: lambda: one_bad(radius=np.array([-1.0])),
    Status.NON_FINITE: lambda: batch([0.0, nan, 0.0]),
    Status.TOO_FEW_POINTS: lambda: one_bad(offsets=np.array([0, 0]), xy=np.empty(0)),
    Status.DEGENERATE: lambda: one_bad(
        kinds=np.array([1]), offsets=np.array([0, 3]), xy=np.array([0.0, 0, 1, 0, 2, 0])
    ),
    Status.CONCAVE_REJECTED: lambda: one_bad(
        "reject", kinds=np.array([1]), offsets=np.array([0, 8]), xy=STAR
    ),
    Status.COORD_RANGE: lambda: one_bad(xy=np.array([*CAR[:7], 1e300])),
    Status.ARRAY_MISMATCH: lambda: batch([0.0, 0.0]),
    Status.LIMIT_EXCEEDED: lambda: batch([0.0] * 6, max_poses=1),
    Status.EMPTY_REQUEST: lambda: batch([]),
    Status.PREDICTION_TOO_SHORT: timed,
    Status.ITERATION_LIMIT: given_up,
    Status.NUMERIC_FAILURE: lambda: forced(Status.NUMERIC_FAILURE),
    Status.TIME_BUDGET: late,
}
# Said by the node alone: an exception in a request (test_faults.py), and nothing at all.
ELSEWHERE = {Status.UNDEFINED, Status.INTERNAL_ERROR}


@pytest.mark.requirement("V-4")
@pytest.mark.parametrize("status", CASES, ids=lambda status: status.name)
def test_status(status: Status) -> None:
    answer = CASES[status]()
    assert answer.status is status, answer
    assert answer.is_free == (status is Status.SUCCESS)
    assert (answer.verdict is Verdict.UNKNOWN) == (status is not Status.SUCCESS)


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


GIVEN_UP = [Status.NUMERIC_FAILURE, Status.ITERATION_LIMIT]


class GivesUpOnce:
    """The core of a scene that gives up on the pose at x = 77 m, and answers the others."""

    def __init__(self, core: Any, status: Status) -> None:
        self._core, self._status = core, status

    def check(self, shape: Any, poses: Any, *rest: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._core.check(shape, poses, *rest)
        which = poses[:, 0] == 77.0
        found["verdicts"] = np.where(which, Verdict.UNKNOWN, found["verdicts"]).astype(np.uint8)
        found["statuses"] = np.where(which, self._status, found["statuses"]).astype(np.uint16)
        return found


@pytest.mark.requirement("V-2")
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("status", GIVEN_UP, ids=lambda each: each.name)
def test_what_the_kernel_gives_up_on_is_unknown_in_a_batch(status: Status, mode: int) -> None:
    """In any chunk of it; the poses beside it keep their verdicts."""
    snapshot = known(Time(), (0.0, 0.0)).snapshot(now=T0, steady=STEADY0)
    scene = Scene([Shape.box(2.0, 2.0)])
    scene._core = GivesUpOnce(scene._core, status)  # type: ignore[assignment]
    snapshot = replace(snapshot, scene=scene)
    count = 3 * FIRST_CHUNK
    poses = np.tile(FAR, (count, 1))
    found = questions.check_poses(snapshot, poses.ravel(), mode=mode)
    assert found.answer.is_free and set(found.verdicts) == {Verdict.FREE}
    for bad in (0, 1, FIRST_CHUNK, count - 1):
        poses[:] = FAR
        poses[bad, 0] = 77.0
        found = questions.check_poses(snapshot, poses.ravel(), mode=mode)
        assert not found.answer.is_free
        assert (found.answer.verdict, found.answer.status) == (Verdict.UNKNOWN, status)
        assert found.first_invalid_index == bad
        assert (found.verdicts == Verdict.FREE).sum() == count - 1
        assert (found.verdicts[bad], found.statuses[bad]) == (Verdict.UNKNOWN, status)
        found = questions.check_poses(snapshot, poses.ravel(), mode=mode, stop_at_first=True)
        assert (found.answer.verdict, found.answer.status) == (Verdict.UNKNOWN, status)
        poses[bad - 1, :2] = 0.0  # a certain hit beside it is worse
        hit = questions.check_poses(snapshot, poses.ravel(), mode=mode).answer
        assert (hit.verdict, hit.status) == (Verdict.COLLISION, Status.SUCCESS)


@pytest.mark.requirement("V-2")
@pytest.mark.parametrize("status", GIVEN_UP, ids=lambda each: each.name)
def test_what_the_kernel_gives_up_on_is_unknown_alone(status: Status) -> None:
    answer = forced(status)
    assert (answer.verdict, answer.status) == (Verdict.UNKNOWN, status)


@pytest.mark.requirement("V-2")
@pytest.mark.parametrize("status", GIVEN_UP, ids=lambda each: each.name)
def test_what_the_kernel_gives_up_on_is_unknown_among_pairs(
    status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shapes.check_pairs

    def gives_up(*args: Any, **options: Any) -> Any:
        found = real(*args, **options)
        verdicts, statuses = found.verdicts.copy(), found.statuses.copy()
        verdicts[-1], statuses[-1] = Verdict.UNKNOWN, status
        return replace(found, verdicts=verdicts, statuses=statuses)

    apart = boxes((0.0, 0.0)), boxes((9.0, 0.0), (0.0, 9.0))
    assert questions.check_shapes(Config(), *apart, np.empty(0, np.uint32)).answer.is_free
    monkeypatch.setattr(shapes, "check_pairs", gives_up)
    found = questions.check_shapes(Config(), *apart, np.empty(0, np.uint32))
    assert (found.answer.verdict, found.answer.status) == (Verdict.UNKNOWN, status)
    assert found.verdicts.tolist() == [Verdict.FREE, Verdict.UNKNOWN]
    assert found.statuses.tolist() == [Status.SUCCESS, status]
