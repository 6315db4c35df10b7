# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Planners of OMPL with different collision checkers: planning time, time in checks, and paths.

python planning.py --worlds FILE [--quick] [--docs FILE] [--command TEXT]

Each problem is solved by each planner with each checker, from the same seed, with Reeds-Shepp
curves. A planner ends after a number of iterations (PRM: of states in its roadmap), not after a
time. So a run can be repeated.

The answers are checked while timing. The program fails

- if a path of certified edges is not free by shapely,
- if the two exact checkers of states, ours and shapely, do not make a planner do the same, or
  differ for one of 5000 random states or for an end of a problem.
"""

import heapq
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou
from page import circumstances, parser, publish, table
from planning_checkers import CERTIFIED, CHECKERS, FCL, SHAPELY, STATES, Edge, State, World

from gjk_collision.planning import edge_poses, path_poses

RADIUS = 4.0  # m
STEP = 0.2  # m, between the states of an edge that a checker of states checks
FINE = 0.05  # m, the same when problems are drawn
DENSE = 0.02  # m, between the poses of a path that shapely checks
TRIES = 1000  # drawn problems per world, at most
GOAL = 8.0  # times less time in checks than with shapely

now = time.thread_time  # processor time: other work on the machine has less effect
# s: what a measured interval contains of the clock itself
CLOCK = min(-(now() - now()) for _ in range(1000))
Ends = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass
class Run:
    """What a planner did with a checker, for one problem."""

    planning: float = 0.0  # s
    checks: float = 0.0  # s: the part of it in checks
    states: int = 0
    edges: int = 0
    path: Any = None  # poses, DENSE apart
    is_free: bool = False  # the path, by shapely


class TimedStates(ob.StateValidityChecker):
    """Counts the checks of states, and adds up their time outside checks of edges."""

    def __init__(self, si: Any, run: Run, check: State) -> None:
        super().__init__(si)
        self.run, self.check, self.is_in_edge = run, check, False

    def isValid(self, state: Any) -> bool:
        """Return the answer of the check."""
        self.run.states += 1
        if self.is_in_edge:
            return self.check(state)
        start = now()
        answer = self.check(state)
        self.run.checks += now() - start - CLOCK
        return answer


class TimedEdges(ob.MotionValidator):
    """Counts the checks of edges, and adds up their time."""

    def __init__(self, si: Any, states: TimedStates, check: Edge) -> None:
        super().__init__(si)
        self.states, self.run, self.check = states, states.run, check

    def checkMotion(self, start: Any, end: Any) -> bool:
        """Return the answer of the check."""
        self.run.edges += 1
        self.states.is_in_edge = True
        begin = now()
        answer = self.check(start, end)
        self.run.checks += now() - begin - CLOCK
        self.states.is_in_edge = False
        return answer


def until(stop: Callable[[], bool], count: int) -> Any:
    """Return a condition that ends a planner when `stop` returns True, or after `count` calls."""
    left = iter(range(count))
    return ob.PlannerTerminationCondition(lambda: next(left, None) is None or stop())


def iterate(planner: Any, count: int) -> None:
    """Run a planner for a number of iterations."""
    planner.solve(until(lambda: False, count))


def grow(planner: Any, count: int) -> None:
    """Add the start and the goal to a roadmap, and let it grow to a number of states."""
    planner.solve(ob.plannerAlwaysTerminatingCondition())
    planner.growRoadmapPtc(until(lambda: planner.milestoneCount() >= count, 100_000))


def roadmap_path(si: Any, planner: Any) -> Any:
    """Return the shortest path in the roadmap of a planner, or None.

    `PRM.solve` searches in a thread, while the roadmap grows: the path depends on the time.
    """
    data = ob.PlannerData(si)
    planner.getPlannerData(data)
    if not (data.numStartVertices() and data.numGoalVertices()):
        return None  # a peer calls the start or the goal occupied
    length = si.getStateSpace().distance
    state = [data.getVertex(i).getState() for i in range(data.numVertices())]
    goal = data.getGoalIndex(0)
    queue = [(0.0, data.getStartIndex(0), [])]
    seen = set()
    while queue:
        so_far, at, before = heapq.heappop(queue)
        if at in seen:
            continue
        seen.add(at)
        if at == goal:
            path = og.PathGeometric(si)
            for number in [*before, at]:
                path.append(state[number])
            return path
        for to in data.getEdges(at):
            heapq.heappush(queue, (so_far + length(state[at], state[to]), to, [*before, at]))
    return None


def bit_star(si: Any) -> Any:
    """Return BIT* without pruning, with which it sometimes crashes (ompl/ompl#1317)."""
    planner = og.BITstar(si)
    planner.setPruning(False)
    return planner


@dataclass(frozen=True)
class Planner:
    """A planner, and when it ends."""

    make: Any
    count: int  # of iterations; PRM: of states
    quick: int
    run: Callable[[Any, int], None] = iterate


PLANNERS = {
    "RRTConnect": Planner(og.RRTConnect, 2000, 500),
    "RRT*": Planner(og.RRTstar, 1000, 300),
    "BIT*": Planner(bit_star, 300, 300),
    "PRM": Planner(og.PRM, 100, 40, grow),
}


def space_of(world: World, step: float) -> Any:
    """Return the states of a world."""
    space = ob.ReedsSheppStateSpace(RADIUS)
    bounds = ob.RealVectorBounds(2)
    for axis in (0, 1):
        bounds.setLow(axis, world.low[axis])
        bounds.setHigh(axis, world.high[axis])
    space.setBounds(bounds)
    space.setLongestValidSegmentFraction(step / space.getMaximumExtent())
    return space


def state(space: Any, pose: tuple[float, ...]) -> Any:
    """Return a state of a space."""
    made = space.allocState()
    made.setXY(*pose[:2])
    made.setYaw(pose[2])
    return made


def solve(
    world: World, planner: Planner, checker: str, ends: Ends, seed: int, count: int,
    step: float = STEP,
) -> Run:  # fmt: skip
    """Run a planner, with a checker, for one problem."""
    run = Run()
    ou.RNG.setSeed(seed)
    space = space_of(world, step)
    si = ob.SpaceInformation(space)
    made = planner.make(si)
    check_state, check_edge = CHECKERS[checker](world, si, made)
    states = TimedStates(si, run, check_state)
    si.setStateValidityChecker(states)
    si.setup()
    edges = TimedEdges(si, states, check_edge or si.getMotionValidator().checkMotion)
    si.setMotionValidator(edges)
    problem = ob.ProblemDefinition(si)
    problem.setStartAndGoalStates(*(state(space, pose) for pose in ends))
    made.setProblemDefinition(problem)
    made.setup()
    begin = now()
    planner.run(made, count)
    run.planning = now() - begin
    path = roadmap_path(si, made) if planner.run is grow else problem.getSolutionPath()
    if path is not None and (planner.run is grow or problem.hasExactSolution()):
        run.path = path_poses(space, path, DENSE)
    return run


def drawn(world: World, count: int, most: int) -> list[Ends]:
    """Return problems that RRTConnect solves with small steps, with a path that shapely accepts.

    A problem whose direct curve is free is not used.
    """
    rng = np.random.default_rng(19)
    space = space_of(world, FINE)
    low, high = (*world.low, -np.pi), (*world.high, np.pi)
    found: list[Ends] = []
    for number in range(TRIES):
        if len(found) == count:
            break
        poses = rng.uniform(low, high, (1000, 3))
        start, goal = poses[~world.hits(poses)][:2].tolist()
        ends = (tuple(start), tuple(goal))
        if not world.hits(edge_poses(space, *(state(space, pose) for pose in ends), DENSE)).any():
            continue
        run = solve(world, PLANNERS["RRTConnect"], STATES, ends, 1000 + number, most, FINE)
        if run.path is not None and not world.hits(run.path).any():
            found.append(ends)
    return found


def wrong_states(world: World, checker: str, problems: list[Ends]) -> int:
    """Count random states and ends of problems for which a checker differs from shapely."""
    si = ob.SpaceInformation(space_of(world, STEP))
    check, _ = CHECKERS[checker](world, si)
    low, high = (*world.low, -np.pi), (*world.high, np.pi)
    poses = np.random.default_rng(20).uniform(low, high, (5000, 3))
    poses = np.concatenate([poses, *np.array(problems)])
    free = np.array([check(state(si.getStateSpace(), pose)) for pose in poses.tolist()])
    return int((free == world.hits(poses)).sum())


def is_free(world: World, run: Run, earlier: list[Run]) -> bool:
    """Return shapely's verdict on a path. Checkers that agree have found the same path."""
    for other in earlier:
        if other.path is not None and np.array_equal(other.path, run.path):
            return other.is_free
    return not world.hits(run.path).any()


Runs = dict[tuple[str, str, str], list[Run]]  # by world, planner and checker


def measure(worlds: list[World], quick: bool) -> tuple[Runs, dict[str, int]]:
    """Run all planners with all checkers in all worlds; also count the wrong answers of FCL."""
    runs: Runs = {}
    wrongs: dict[str, int] = {}
    for world in worlds:
        problems = drawn(world, 3 if quick else 20, 1000)
        if wrong := wrong_states(world, STATES, problems):
            sys.exit(f"{world.name}: `is_free` and shapely differ for {wrong} states")
        if FCL in CHECKERS:
            wrongs[world.name] = wrong_states(world, FCL, problems)
        progress(f"{world.name}: {len(problems)} problems")
        for checker in CHECKERS:  # the first use of a checker takes longer
            solve(world, PLANNERS["RRTConnect"], checker, problems[0], 1, 100)
        for name, planner in PLANNERS.items():
            for number, ends in enumerate(problems):
                row: dict[str, Run] = {}
                turn = number % len(CHECKERS)
                for checker in [*CHECKERS, *CHECKERS][turn : turn + len(CHECKERS)]:
                    count = planner.quick if quick else planner.count
                    run = solve(world, planner, checker, ends, number + 1, count)
                    if run.path is not None:
                        run.is_free = is_free(world, run, list(row.values()))
                    row[checker] = run
                    runs.setdefault((world.name, name, checker), []).append(run)
                where = f"{world.name}, {name}, problem {number}: {ends}"
                judge(row, where)
                for run in row.values():
                    run.path = None if run.path is None else len(run.path)
            progress(f"{world.name}, {name}")
    return runs, wrongs


def progress(text: str) -> None:
    """Print what was done, with the processor time since the start."""
    print(f"{now():7.1f} s  {text}", file=sys.stderr, flush=True)


def judge(row: dict[str, Run], where: str) -> None:
    """Fail if an answer of ours is wrong."""
    if row[CERTIFIED].path is not None and not row[CERTIFIED].is_free:
        sys.exit(f"{where}: a path of certified edges is not free by shapely")
    ours, theirs = row[STATES], row[SHAPELY]
    if (ours.states, ours.edges) != (theirs.states, theirs.edges):
        sys.exit(
            f"{where}: {ours.states} checks of states and {ours.edges} of edges with `is_free`, "
            f"{theirs.states} and {theirs.edges} with shapely"
        )


def mean(runs: list[Run], field: str) -> float:
    return float(np.mean([getattr(run, field) for run in runs]))


def checks(runs: Runs) -> dict[tuple[str, str], dict[str, float]]:
    """Return the mean time in checks by checker, of each world and planner."""
    return {
        key: {checker: mean(runs[(*key, checker)], "checks") for checker in CHECKERS}
        for key in dict.fromkeys(each[:2] for each in runs)
    }


def ratio_table(runs: Runs) -> str:
    """Time in checks with shapely and with FCL, divided by ours."""
    peers = [checker for checker in CHECKERS if checker not in (CERTIFIED, STATES)]
    pairs = [(peer, ours) for peer in peers for ours in (CERTIFIED, STATES)]
    lines = []
    for (world, planner), spent in checks(runs).items():
        cells = []
        for peer, ours in pairs:
            ratio = spent[peer] / spent[ours]
            limit = GOAL if (peer, ours) == (SHAPELY, CERTIFIED) else 1.0
            cells.append(f"{ratio:.1f}" if ratio >= limit else f"**{ratio:.1f}**")
        lines.append([f"{world}, {planner}", *cells])
    return table(["time in checks", *(f"{peer} / {ours}" for peer, ours in pairs)], lines)


def full_table(runs: Runs, world: str) -> str:
    """All that was measured in a world."""
    lines = []
    for (where, planner, checker), each in runs.items():
        if where == world:
            found = [run for run in each if run.path is not None]
            line = [
                f"{planner}, {checker}",
                f"{1e3 * mean(each, 'planning'):.1f}",
                f"{1e3 * mean(each, 'checks'):.2f}",
                f"{mean(each, 'states'):.0f}",
                f"{mean(each, 'edges'):.0f}",
                f"{len(found)} of {len(each)}",
                f"{sum(run.is_free for run in found)} of {len(found)}",
            ]
            lines.append(line)
    header = ["planning, ms", "in checks, ms", "states", "edges", "solved", "paths free"]
    return table([world, *header], lines)


def head(runs: Runs, wrongs: dict[str, int], command: str) -> str:
    """Return what was measured, and the wrong answers of FCL."""
    counts = {world: len(each) for (world, *_), each in runs.items()}
    problems, wrong = (
        ", ".join(f"{count} in {world}" for world, count in each.items())
        for each in (counts, wrongs)
    )
    peers = ["ompl", "shapely", *(["python-fcl"] if FCL in CHECKERS else [])]
    versions = ", ".join(f"{name} {version(name)}" for name in peers)
    facts = circumstances(versions, f"`{command}`. Problems: {problems}.")
    if FCL not in CHECKERS:
        return f"{facts}\n\npython-fcl: not installed."
    return (
        f"{facts}\n\nWrong answers of python-fcl, of 5000 random states and the ends of the "
        f"problems: {wrong}. The other checkers have none."
    )


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--worlds", type=Path, required=True, help="planning_worlds.json")
    options = arguments.parse_args()
    ou.setLogLevel(ou.LOG_NONE)  # the seed is set anew for each run, which OMPL reports
    worlds = [World(each) for each in json.loads(options.worlds.read_text())["worlds"]]
    runs, wrongs = measure(worlds, options.quick)
    blocks = {
        "planning": f"{head(runs, wrongs, options.command)}\n\n{ratio_table(runs)}",
        "planning rows": "\n\n".join(full_table(runs, world.name) for world in worlds),
    }
    publish(blocks, options.docs)
    os._exit(0)  # at a normal exit, OMPL's bindings print the objects that they leak


if __name__ == "__main__":
    main()
