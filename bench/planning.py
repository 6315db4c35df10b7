# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Time that OMPL's planners spend on collision checks, by the ways to make them.

python planning.py --worlds FILE [--passes 5]

RRT plans in worlds of Bench-MR, with Reeds-Shepp or Dubins curves of a turning radius of 4 m. All
ways then check the edges that it checked.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou
from report import machine

from gjk_collision import Scene, Shape
from gjk_collision.planning import (
    MotionValidator,
    StateValidityChecker,
    edge_margin,
    edge_poses,
    path_checker,
    reach,
    scene_checker,
)

RADIUS = 4.0  # m
STEP = 0.2  # m, between checked poses
ITERATIONS = 1000  # of a planner
SPACES = {"Reeds-Shepp": ob.ReedsSheppStateSpace, "Dubins": ob.DubinsStateSpace}
CURVES = "one curve per edge"
POSES = "one call per edge, poses"
STATES = "OMPL's validator, is_free"
TREE = "shapely, one call per edge"
TREE_STATES = "OMPL's validator, shapely"
WAYS = (CURVES, POSES, STATES, TREE, TREE_STATES)

Edges = list[tuple[Any, Any]]
Check = Callable[[Any, Any], bool]


class States(ob.StateValidityChecker):
    """A state validity checker from a function."""

    def __init__(self, si: Any, check: Callable[[Any], bool]) -> None:
        super().__init__(si)
        self.isValid = check


class Recorder(ob.MotionValidator):
    """A motion validator that records its edges."""

    def __init__(self, si: Any, check: Check) -> None:
        super().__init__(si)
        self.si, self.check = si, check
        self.edges: Edges = []

    def checkMotion(self, start: Any, end: Any) -> bool:
        """Return the answer of the check."""
        self.edges.append((self.si.cloneState(start), self.si.cloneState(end)))
        return self.check(start, end)


def shapelys(
    space: Any, outlines: list[Any], footprint: Any
) -> tuple[Callable[[Any], bool], Check]:
    """Return checks of a state and of an edge with a tree of shapely's geometries."""
    tree = shapely.STRtree(shapely.convex_hull([shapely.Polygon(each) for each in outlines]))
    shapely.prepare(tree.geometries)

    def hits(poses: Any) -> bool:
        cos, sin = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
        x = poses[:, :1] + cos * footprint[:, 0] - sin * footprint[:, 1]
        y = poses[:, 1:2] + sin * footprint[:, 0] + cos * footprint[:, 1]
        placed = shapely.polygons(np.stack([x, y], axis=-1))
        return bool(tree.query(placed, predicate="intersects").size)

    def state_is_free(state: Any) -> bool:
        return not hits(np.array([[state.getX(), state.getY(), state.getYaw()]]))

    def edge_is_free(start: Any, end: Any) -> bool:
        return not hits(edge_poses(space, start, end, STEP))

    return state_is_free, edge_is_free


class Task:
    """A planner's problem, its space, and the ways to check its edges."""

    def __init__(self, world: dict[str, Any], kind: str) -> None:
        outlines = [np.array(each) for each in world["obstacles"]]
        ends = [world["problems"][0][name] for name in ("start", "goal")]
        points = np.concatenate([*outlines, np.array(ends)[:, :2]])
        footprint = np.array(world["footprint"])
        self.space = SPACES[kind](RADIUS)
        bounds = ob.RealVectorBounds(2)
        for axis in (0, 1):
            bounds.setLow(axis, points[:, axis].min())
            bounds.setHigh(axis, points[:, axis].max())
        self.space.setBounds(bounds)
        self.space.setLongestValidSegmentFraction(STEP / self.space.getMaximumExtent())
        scene, car = Scene([Shape.hull(each) for each in outlines]), Shape.hull(footprint)
        curves = path_checker(scene, car)
        poses = scene_checker(scene, car, edge_margin(STEP, reach(car), RADIUS))
        state_is_free, edge_is_free = shapelys(self.space, outlines, footprint)
        self.si = self.with_states(StateValidityChecker, curves)
        self.keep = [self.si, self.with_states(States, state_is_free)]
        self.validators = [MotionValidator(self.si, curves), MotionValidator(self.si, poses, STEP)]
        self.ways: dict[str, Check] = {
            CURVES: self.validators[0].checkMotion,
            POSES: self.validators[1].checkMotion,
            STATES: self.keep[0].checkMotion,
            TREE: edge_is_free,
            TREE_STATES: self.keep[1].checkMotion,
        }
        self.ends = [self.space.allocState(), self.space.allocState()]
        for state, pose in zip(self.ends, ends, strict=True):
            state.setXY(pose[0], pose[1])
            state.setYaw(pose[2])

    def with_states(self, checker: Any, check: Any) -> Any:
        """Return a space information with OMPL's own motion validator."""
        si = ob.SpaceInformation(self.space)
        si.setStateValidityChecker(checker(si, check))
        si.setup()
        return si

    def record(self) -> Edges:
        """Return the edges that a planner checks."""
        si = ob.SpaceInformation(self.space)
        recorder = Recorder(si, self.ways[CURVES])
        si.setStateValidityChecker(
            StateValidityChecker(si, path_checker(Scene([]), Shape.circle(1)))
        )
        si.setMotionValidator(recorder)
        si.setup()
        problem = ob.ProblemDefinition(si)
        problem.setStartAndGoalStates(*self.ends, 1e-3)
        planner = og.RRT(si)
        planner.setProblemDefinition(problem)
        planner.setup()
        left = iter(range(ITERATIONS))
        planner.solve(ob.PlannerTerminationCondition(lambda: next(left, None) is None))
        self.keep.append(si)
        return recorder.edges


def measure(task: Task, passes: int) -> tuple[int, dict[str, int], dict[str, float]]:
    """Return the edges of a planner, how many of them are free, and the time per edge [s]."""
    edges = task.record()
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    free = {}
    for _ in range(passes):
        for way, check in task.ways.items():
            start = time.process_time()
            answers = [check(*edge) for edge in edges]
            times[way].append((time.process_time() - start) / len(edges))
            free[way] = sum(answers)
    return len(edges), free, {way: statistics.median(each) for way, each in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=Path, required=True, help="planning_worlds.json")
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()
    ou.setLogLevel(ou.LOG_ERROR)
    worlds = [w for w in json.loads(options.worlds.read_text())["worlds"] if w["problems"]]
    ou.RNG.setSeed(1)
    print(f"{machine()}; OMPL {version('ompl')}, shapely {shapely.__version__}; "
          f"{time.strftime('%Y-%m-%d')}. Microseconds of processor time per edge, and in brackets "
          "the number of edges found free:\n")  # fmt: skip
    print("| world | curves | edges |", " | ".join(WAYS), "| shapely / ours |")
    print("| --- | --- |", " | ".join(["---:"] * (len(WAYS) + 2)), "|")
    for world in worlds:
        for kind in SPACES:
            count, free, times = measure(Task(world, kind), options.passes)
            ratio = min(times[TREE], times[TREE_STATES]) / times[CURVES]
            cells = " | ".join(f"{1e6 * times[way]:.1f} ({free[way]})" for way in WAYS)
            print(f"| {world['name']} | {kind} | {count} | {cells} | {ratio:.1f} |")
    sys.stdout.flush()
    os._exit(0)  # at a normal exit, OMPL's bindings print the objects that they leak


if __name__ == "__main__":
    main()
