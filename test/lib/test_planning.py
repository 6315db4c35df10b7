# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Planners through OMPL: one question per edge, and what is not certified free is no way."""

import re
from dataclasses import dataclass
from itertools import pairwise
from math import hypot

import numpy as np
import pytest

pytest.importorskip("ompl", reason="OMPL is not installed (pip install ompl)")

from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from gjk_collision import Scene, Shape
from gjk_collision.planning import (
    MotionValidator,
    StateValidityChecker,
    edge_margin,
    edge_poses,
    path_checker,
    path_poses,
    reach,
    scene_checker,
)

CAR = Shape.box(4.5, 1.8, center=(1.3, 0.0))
RADIUS = 5.0
STEP = 0.3


@dataclass(frozen=True)
class Said:
    is_free: bool


def dubins_space(low=-15.0, high=15.0):
    space = ob.DubinsStateSpace(RADIUS)
    bounds = ob.RealVectorBounds(2)
    bounds.setLow(low)
    bounds.setHigh(high)
    space.setBounds(bounds)
    return space


def state_at(space, x, y, yaw):
    state = space.allocState()
    state.setX(x)
    state.setY(y)
    state.setYaw(yaw)
    return state


def solve(planner, checker, start, goal, *, space=None, questions=3000):
    """Solve with at most so many questions: the path or None, and the number asked."""
    asked = []

    def counted(poses):
        asked.append(len(poses))
        return checker(poses)

    ou.setLogLevel(ou.LOG_ERROR)
    ou.RNG.setSeed(3)
    space = space or dubins_space()
    si = ob.SpaceInformation(space)
    si.setStateValidityChecker(StateValidityChecker(si, counted))
    si.setMotionValidator(MotionValidator(si, counted, STEP))
    si.setup()
    problem = ob.ProblemDefinition(si)
    problem.setStartAndGoalStates(state_at(space, *start), state_at(space, *goal), 0.5)
    chosen = planner(si)
    chosen.setProblemDefinition(problem)
    chosen.setup()
    chosen.solve(ob.PlannerTerminationCondition(lambda: len(asked) >= questions))
    found = problem.getSolutionPath() if problem.hasExactSolution() else None
    return (None if found is None else path_poses(space, found, STEP)), asked


def wall_with_gap(gap):
    """A wall across x = 0 with a gap about y = 0."""
    height = 20.0
    return Scene(
        [Shape.box(1.0, height)] * 2,
        poses=[(0.0, sign * (height + gap) / 2.0, 0.0) for sign in (-1.0, 1.0)],
    )


def test_edge_poses_hold_both_ends_and_keep_the_step():
    space = dubins_space()
    start, end = (0.0, 0.0, 0.0), (7.0, 3.0, 1.0)
    poses = edge_poses(space, state_at(space, *start), state_at(space, *end), STEP)
    np.testing.assert_allclose(poses[[0, -1]], [start, end], atol=1e-9)
    chords = [hypot(*(b - a)[:2]) for a, b in pairwise(poses)]
    assert max(chords) <= STEP + 1e-9


def test_edge_of_no_length_has_its_pose():
    space = dubins_space()
    state = state_at(space, 1.0, 2.0, 0.5)
    np.testing.assert_allclose(edge_poses(space, state, state, STEP), [[1.0, 2.0, 0.5]] * 2)


def test_what_is_no_scene_or_shape_is_refused_before_planning():
    for call, said in (
        (lambda: scene_checker([CAR], CAR), "scene: must be a Scene (got list)"),
        (lambda: path_checker(Scene([]), "car"), "shape: must be a Shape (got str)"),
        (lambda: reach([[1.0, 0.0]]), "shape: must be a Shape (got list)"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            call()


def test_reach_includes_the_radius():
    assert reach(Shape.capsule((0.0, 0.0), (3.0, 4.0), 0.5)) == pytest.approx(5.5)


def test_margin_clears_what_lies_between_the_checked_poses():
    """If it failed, a plan that was certified pose by pose could touch between the poses."""
    seed = 20
    random = np.random.default_rng(seed)
    space = dubins_space()
    step = 2.0  # long, so that the margin matters
    margin = edge_margin(step, reach(CAR), RADIUS)
    scene = Scene([Shape.circle(0.2, tuple(c)) for c in random.uniform(-15.0, 15.0, (12, 2))])
    certified = touched_without_margin = 0
    for _ in range(1500):
        ends = random.uniform((-15.0, -15.0, -np.pi), (15.0, 15.0, np.pi), (2, 3))
        states = [state_at(space, *end) for end in ends]
        coarse = edge_poses(space, *states, step)
        hits = not scene.check(CAR, edge_poses(space, *states, 0.02)).is_free
        if scene.check(CAR, coarse, margin=margin).is_free:
            certified += 1
            assert not hits, f"seed {seed}: {ends.tolist()}"
        touched_without_margin += hits and scene.check(CAR, coarse).is_free
    assert certified > 50
    assert touched_without_margin > 5  # else the test would not have shown anything


def test_an_edge_is_one_question():
    space = dubins_space()
    si = ob.SpaceInformation(space)
    asked = []

    def checker(poses):
        asked.append(poses)
        return Said(True)

    ends = state_at(space, 0.0, 0.0, 0.0), state_at(space, 6.0, 0.0, 0.0)
    assert MotionValidator(si, checker, 0.5).checkMotion(*ends)
    [poses] = asked
    assert poses.shape == (13, 3)
    assert StateValidityChecker(si, checker).isValid(ends[1])
    np.testing.assert_array_equal(asked[1], [[6.0, 0.0, 0.0]])


def test_a_straight_edge_needs_its_two_ends_alone():
    """If it failed, a wall as thin as paper could stand in a certified edge."""
    space = ob.SE2StateSpace()
    wall = Scene([Shape.segment((0.0, -3.0), (0.0, 3.0))])
    asked = []

    def checker(poses):
        asked.append(len(poses))
        return path_checker(wall, CAR, margin=0.2)(poses)

    validator = MotionValidator(ob.SpaceInformation(space), checker, float("inf"))
    random = np.random.default_rng(4)
    seen = set()
    for _ in range(300):
        ends = random.uniform((-12.0, -8.0, -np.pi), (12.0, 8.0, np.pi), (2, 3))
        states = [state_at(space, *end) for end in ends]
        free = wall.check(CAR, edge_poses(space, *states, 0.02), margin=0.2)
        allowed = validator.checkMotion(*states)
        assert allowed <= free.is_free, ends.tolist()
        seen.add((allowed, free.is_free))
    assert {(True, True), (False, False)} <= seen
    assert set(asked) == {2}


@pytest.mark.parametrize("step", [0.0, -1.0, float("nan")])
def test_step_must_be_positive(step):
    with pytest.raises(ValueError, match="step"):
        MotionValidator(ob.SpaceInformation(dubins_space()), lambda _: Said(True), step)


def test_finds_the_gap_and_every_pose_is_free():
    scene = wall_with_gap(4.0)
    checker = scene_checker(scene, CAR, edge_margin(STEP, reach(CAR), RADIUS))
    path, asked = solve(og.RRT, checker, (-10.0, 2.0, 0.0), (8.0, 0.0, 0.0))
    assert path is not None
    assert scene.check(CAR, path).is_free
    assert max(asked) > 2  # edges were asked about as batches


def test_a_gap_too_narrow_for_car_and_margin_is_no_way():
    checker = scene_checker(wall_with_gap(2.2), CAR, edge_margin(STEP, reach(CAR), RADIUS))
    path, _ = solve(og.RRT, checker, (-10.0, 0.0, 0.0), (8.0, 0.0, 0.0), questions=1500)
    assert path is None


@pytest.mark.parametrize("planner", [og.RRT, og.RRTConnect, og.KPIECE1, og.PRM])
def test_planners_move_nowhere_on_unknown(planner):
    """KPIECE1 asks for the last valid state too: it must not be given one."""
    start, goal = (-10.0, 0.0, 0.0), (8.0, 0.0, 0.0)
    ends = [start, goal]

    def only_the_ends(poses):
        return Said(len(poses) == 1 and any(np.allclose(poses[0], end) for end in ends))

    space = ob.SE2StateSpace()
    bounds = ob.RealVectorBounds(2)
    bounds.setLow(-15.0)
    bounds.setHigh(15.0)
    space.setBounds(bounds)
    path, asked = solve(planner, only_the_ends, start, goal, space=space, questions=300)
    assert path is None
    assert len(asked) >= 300


def test_a_failing_checker_ends_the_planning():
    def broken(poses):
        if len(poses) > 1:
            raise RuntimeError("connection lost")
        return Said(True)

    with pytest.raises(RuntimeError, match="connection lost"):
        solve(og.RRT, broken, (-10.0, 0.0, 0.0), (8.0, 0.0, 0.0))
