# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Planners through OMPL: one question per edge, and what is not certified free is no way."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import hypot

import numpy as np
import pytest

pytest.importorskip("ompl", reason="OMPL is not installed (pip install ompl)")

from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from gjk_collision import InputError, Scene, Shape
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
CASES = int(os.environ.get("GJK_CASES", "3000"))
SPACES = {
    "straight": lambda: ob.SE2StateSpace(),
    "dubins": lambda: ob.DubinsStateSpace(RADIUS),
    "symmetric": lambda: ob.DubinsStateSpace(RADIUS, True),
    "reeds_shepp": lambda: ob.ReedsSheppStateSpace(RADIUS),
}


@dataclass(frozen=True)
class Said:
    is_free: bool


def bounded(space, reach=15.0):
    bounds = ob.RealVectorBounds(2)
    bounds.setLow(-reach)
    bounds.setHigh(reach)
    space.setBounds(bounds)
    return space


def dubins_space():
    return bounded(ob.DubinsStateSpace(RADIUS))


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
    si.setMotionValidator(MotionValidator(si, counted, STEP, planner))
    si.setup()
    problem = ob.ProblemDefinition(si)
    problem.setStartAndGoalStates(state_at(space, *start), state_at(space, *goal), 0.5)
    chosen = planner(si)
    chosen.setProblemDefinition(problem)
    chosen.setup()
    if planner is og.PRM:
        # A thread of PRM asks the condition. In Python, it may wait for the GIL for ever.
        chosen.solve(2.0)
    else:
        chosen.solve(ob.PlannerTerminationCondition(lambda: len(asked) >= questions))
    found = problem.getSolutionPath() if problem.hasExactSolution() else None
    return (None if found is None else path_poses(space, found, STEP)), asked


def wall_with_gap(gap):
    height = 20.0
    return Scene(
        [Shape.box(1.0, height)] * 2,
        poses=[(0.0, sign * (height + gap) / 2.0, 0.0) for sign in (-1.0, 1.0)],
    )


@pytest.mark.parametrize("end", [(7.0, 3.0, 1.0), (1.0, 2.0, 0.5)])
def test_edge_poses_hold_both_ends_and_keep_the_step(end):
    """Also if the edge has no length."""
    space, start = dubins_space(), (1.0, 2.0, 0.5)
    poses = edge_poses(space, state_at(space, *start), state_at(space, *end), STEP)
    np.testing.assert_allclose(poses[[0, -1]], [start, end], atol=1e-9)
    chords = [hypot(*(b - a)[:2]) for a, b in pairwise(poses)]
    assert max(chords) <= STEP + 1e-9
    assert len(poses) == 2 or end != start


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: scene_checker([CAR], CAR), "scene: must be a Scene (got list)"),
        (lambda: path_checker(Scene([]), "car"), "shape: must be a Shape (got str)"),
        (lambda: reach([[1.0, 0.0]]), "shape: must be a Shape (got list)"),
    ],
)
def test_what_is_no_scene_or_shape_is_refused_before_planning(call, said):
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
    assert MotionValidator(si, checker, 0.5, og.RRT).checkMotion(*ends)
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


def pose_of(state):
    return state.getX(), state.getY(), state.getYaw()


def on_edge(space, ends, count):
    state, poses = space.allocState(), []
    for share in [*np.linspace(0.0, 1.0, count - 1)[:-1], np.nextafter(1.0, 0.0), 1.0]:
        space.interpolate(*ends, share, state)
        poses.append(pose_of(state))
    return np.array(poses)


def random_ends(rng, on_grid=False):
    """Return two poses; on a grid, OMPL may choose another curve of the same length."""
    if on_grid:
        return rng.integers(-4, 5, (2, 3)) * (RADIUS / 2, RADIUS / 2, np.pi / 4)
    return rng.uniform((-12.0, -12.0, -np.pi), (12.0, 12.0, np.pi), (2, 3))


@pytest.mark.requirement("V-20")
@pytest.mark.parametrize("planner", [og.RRT, og.PRM])
@pytest.mark.parametrize("kind", SPACES)
def test_a_certified_edge_is_free_where_ompl_drives(kind, planner):
    """PRM drives it in the other direction too."""
    seed = 21
    rng = np.random.default_rng(seed)
    space = SPACES[kind]()
    margin, tolerance = 0.1, 0.02
    seen = Counter()
    for i in range(-(-CASES // 10)):
        if i % 20 == 0:
            circles = [Shape.circle(0.3, tuple(c)) for c in rng.uniform(-14.0, 14.0, (10, 2))]
            scene = Scene(circles)
            checker = path_checker(scene, CAR, margin, tolerance)
            validator = MotionValidator(ob.SpaceInformation(space), checker, planner=planner)
        ends = random_ends(rng, on_grid=i % 2 == 0)
        states = [state_at(space, *end) for end in ends]
        poses = on_edge(space, states, 400)
        allowed = validator.checkMotion(*states)
        free = scene.check(CAR, poses, margin=margin).is_free
        assert allowed <= free, f"seed {seed}: {ends.tolist()}"
        if planner is og.PRM:
            back = on_edge(space, states[::-1], 400)
            assert allowed <= scene.check(CAR, back, margin=margin).is_free, ends.tolist()
            poses = np.concatenate([poses, back])
        if i % 2:
            # An edge that is clear between the poses too is not refused.
            turning_radius = 0.5 if kind == "straight" else RADIUS
            between = edge_margin(space.distance(*states) / 398, reach(CAR), turning_radius)
            clear = scene.check(CAR, poses, margin=margin + tolerance + between).is_free
            assert allowed >= clear, f"seed {seed}: {ends.tolist()}"
        seen[allowed, free] += 1
    assert seen[True, True] > 10
    assert seen[False, False] > 10


@pytest.mark.requirement("V-20")
@pytest.mark.parametrize("kind", ["dubins", "symmetric", "reeds_shepp"])
def test_ompl_drives_the_certified_curve(kind, monkeypatch):
    """Poses are checked if OMPL drives another curve; else it stays within the tolerance."""
    rng = np.random.default_rng(22)
    space = SPACES[kind]()
    tolerance = 0.005
    validator = MotionValidator(
        ob.SpaceInformation(space), path_checker(Scene([]), CAR, tolerance=tolerance), None, og.RRT
    )
    curve = validator._is_free
    sampled = []
    monkeypatch.setattr(curve, "_sampled", lambda *ends: sampled.append(ends) or True)
    others = 0
    for i in range(-(-CASES // 4)):
        ends = random_ends(rng, on_grid=i % 3 == 1)
        if i % 3 == 2:  # the beginning of an edge, as a planner with a range makes it
            state = space.allocState()
            space.interpolate(*(state_at(space, *end) for end in ends), rng.uniform(), state)
            ends[1] = pose_of(state)
        states = [state_at(space, *end) for end in ends]
        sampled.clear()
        assert validator.checkMotion(*states)
        if sampled:
            others += 1
            continue
        number, knots = -1, None
        while knots is None:
            number, *each = curve._free_curve(*map(tuple, ends), number + 1)
            if curve._is_driven(*states, *each):
                knots = each[1]
        begin, at = ends[0], 0.0
        for share, *end in knots:  # the middle of each arc is on its bisector
            state = space.allocState()
            space.interpolate(*states, 0.5 * (at + share), state)
            ahead, turn = np.subtract(end, begin)[:2], end[2] - begin[2]
            beside = 0.5 * np.tan(0.25 * turn) * np.array([ahead[1], -ahead[0]])
            middle = begin[:2] + 0.5 * ahead + beside
            assert hypot(state.getX() - middle[0], state.getY() - middle[1]) < 0.2 * tolerance
            begin, at = np.array(end), share
    assert others < 0.2 * CASES / 4
    assert others > 0


@pytest.mark.parametrize("turn", [1e-7, 0.3, np.pi / 2])
def test_an_edge_with_too_many_poses_is_refused(turn):
    """OMPL drives 1e6 m of curves of 1e6 m radius, with errors of 0.1 m."""
    space = ob.DubinsStateSpace(1e6, True)
    validator = MotionValidator(ob.SpaceInformation(space), path_checker(Scene([]), CAR))
    ends = state_at(space, 0.0, 0.0, 0.0), state_at(space, 0.0, 0.0, turn)
    assert validator.checkMotion(*ends) in (True, False)  # in finite time and memory


def test_a_curve_needs_a_known_space_and_poses_need_a_step():
    si = ob.SpaceInformation(dubins_space())
    with pytest.raises(InputError, match="step: is required for a checker of poses"):
        MotionValidator(si, scene_checker(Scene([]), CAR), planner=og.RRT)
    with pytest.raises(InputError, match="planner: is required in a space that is not symmetric"):
        MotionValidator(si, path_checker(Scene([]), CAR))
    with pytest.raises(InputError, match="planner: must be a planner of OMPL or its class"):
        MotionValidator(si, path_checker(Scene([]), CAR), planner=3)
    with pytest.raises(InputError, match="si: path_checker needs an SE2StateSpace"):
        MotionValidator(
            ob.SpaceInformation(ob.RealVectorStateSpace(2)), path_checker(Scene([]), CAR)
        )


@pytest.mark.parametrize("step", [0.0, -1.0, float("nan")])
def test_step_must_be_positive(step):
    with pytest.raises(ValueError, match="step"):
        MotionValidator(ob.SpaceInformation(dubins_space()), lambda _: Said(True), step, og.RRT)


@pytest.mark.parametrize("gap", [4.0, 2.2])
def test_finds_the_gap_and_every_pose_is_free(gap):
    """A gap too narrow for the car and the margin is no way."""
    scene = wall_with_gap(gap)
    checker = scene_checker(scene, CAR, edge_margin(STEP, reach(CAR), RADIUS))
    questions = 3000 if gap == 4.0 else 1500
    start = (-10.0, 2.0 if gap == 4.0 else 0.0, 0.0)
    path, asked = solve(og.RRT, checker, start, (8.0, 0.0, 0.0), questions=questions)
    assert (path is not None) == (gap == 4.0)
    assert path is None or scene.check(CAR, path).is_free
    assert max(asked) > 2  # edges were asked about as batches


@pytest.mark.requirement("V-20")
@pytest.mark.parametrize("planner", [og.RRT, og.BKPIECE1, og.LBKPIECE1, og.PRM])
def test_paths_of_one_way_curves_are_free(planner):
    """If it failed, a planner could drive edges back, on curves that nobody has checked."""
    rng = np.random.default_rng(9)
    centres = rng.uniform(-13.0, 13.0, (16, 2))
    far = np.min([np.hypot(*(centres - end).T) for end in ((-10.0, 0.0), (10.0, 0.0))], axis=0)
    scene = Scene([Shape.circle(0.4, tuple(c)) for c in centres[far > 5.0]])
    checker = scene_checker(scene, CAR, edge_margin(STEP, reach(CAR), RADIUS))
    path, _ = solve(planner, checker, (-10.0, 0.0, 1.5), (10.0, 0.0, 1.5), questions=30_000)
    assert path is not None or planner is og.PRM  # PRM ends after a time
    assert path is None or scene.check(CAR, path).is_free


@pytest.mark.parametrize("planner", [og.RRT, og.RRTConnect, og.KPIECE1, og.PRM])
def test_planners_move_nowhere_on_unknown(planner):
    """KPIECE1 asks for the last valid state too: it must not be given one."""
    ends = (-10.0, 0.0, 0.0), (8.0, 0.0, 0.0)

    def only_the_ends(poses):
        return Said(len(poses) == 1 and any(np.allclose(poses[0], end) for end in ends))

    space = bounded(ob.SE2StateSpace())
    path, asked = solve(planner, only_the_ends, *ends, space=space, questions=300)
    assert path is None
    assert len(asked) >= 300


def test_a_failing_checker_ends_the_planning():
    def broken(poses):
        if len(poses) > 1:
            raise RuntimeError("connection lost")
        return Said(True)

    with pytest.raises(RuntimeError, match="connection lost"):
        solve(og.RRT, broken, (-10.0, 0.0, 0.0), (8.0, 0.0, 0.0))
