# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan the way past the lorry with OMPL, asking the node about every edge, and log every answer.

Trees grow while the traffic moves, so that their edges rest on many snapshots. Hence the path that
is found is asked about once more as a whole, on the latest snapshot, and again with the snapshots
that follow; when it is not free any more, a new one is planned. At the end `~/distance` gives the
clearance along it.

The log is one JSON object; `verify.py` and `picture.py` read it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
import scenario
from numpy.typing import NDArray
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from gjk_collision import Shape
from gjk_collision.planning import (
    MotionValidator,
    StateValidityChecker,
    edge_margin,
    edge_poses,
    path_poses,
    reach,
)
from gjk_collision.ros.client import CollisionClient, DistanceReply, PosesReply, Reply
from gjk_collision.verdict import Verdict

STARTUP_TIMEOUT = 30.0  # s, for the server and for its first data
EDGES = 1200  # per attempt, after which the first path will do; a tree needs about 300
ENOUGH = 4.0  # s per attempt, after which the first path will do
PLAN_UNTIL = 16.0  # s from the start; the bag lasts little longer
WATCH_UNTIL = 8.0  # s from the start; until then the path is asked about again and again
ATTEMPTS = 3
STEP = 0.4  # m, between the poses of an edge
FINE_STEP = 0.05  # m, for the independent check of the path
RANGE = 5.0  # m, longest edge of a tree
SEED = 7

Poses = NDArray[np.float64]


class PlanError(Exception):
    """Why there is no path."""


class RecordedClient:
    """Asks the server, and keeps every answer with its question."""

    def __init__(self, client: CollisionClient) -> None:
        self.client = client
        self.log: list[dict[str, Any]] = []

    def check_poses(self, poses: Poses, purpose: str, margin: float, **options: Any) -> PosesReply:
        """Ask about many poses on one snapshot."""
        answer = self.client.check_poses(poses, margin=margin, **options)
        self._record(
            answer, "check_poses", purpose, poses, margin,
            verdicts=answer.verdicts.tolist(),
            statuses=answer.statuses.tolist(),
            distances=answer.distances.tolist(),
        )  # fmt: skip
        return answer

    def distances(self, poses: Poses, purpose: str) -> list[DistanceReply]:
        """Ask for the nearest obstacle at each pose."""
        answers = self.client.distances(poses)
        for pose, answer in zip(poses, answers, strict=True):
            self._record(
                answer, "distance", purpose, pose[None], 0.0,
                ids=answer.ids.tolist(),
                distances=answer.distances.tolist(),
                witness_ego=answer.witness_ego.tolist(),
                witness_obstacle=answer.witness_obstacle.tolist(),
            )  # fmt: skip
        return answers

    def last(self) -> str:
        """Say the last answer in a few words."""
        answer = self.log[-1] if self.log else {"status": "none", "message": ""}
        return f"{answer['status']} {answer['message']}".strip()

    def _record(
        self, answer: Reply, service: str, purpose: str, poses: Poses, margin: float, **more: Any
    ) -> None:
        info = answer.info
        self.log.append({
            "service": service, "purpose": purpose, "poses": poses.tolist(), "margin": margin,
            "is_free": answer.is_free, "verdict": int(answer.verdict),
            "status": answer.status.name, "message": answer.message,
            "round_trip": answer.round_trip, "compute_time": info.compute_time,
            "snapshot_id": info.snapshot_id, "stamp_ns": info.stamp_ns,
            "oldest_data_stamp_ns": info.oldest_data_stamp_ns,
            "footprint_age": info.footprint_age, "max_obstacle_age": info.max_obstacle_age,
            **more,
        })  # fmt: skip


def wait_for_data(client: CollisionClient) -> None:
    """Return once the server has an opinion on the start pose."""
    if not client.wait_for_server(STARTUP_TIMEOUT):
        raise PlanError(f"no collision server within {STARTUP_TIMEOUT:.0f} s")
    deadline = time.monotonic() + STARTUP_TIMEOUT
    while (answer := client.collide(scenario.START)).verdict is Verdict.UNKNOWN:
        if time.monotonic() > deadline:
            raise PlanError(f"the server knows nothing yet: {answer.status.name} {answer.message}")
        time.sleep(0.05)


class Planner:
    """RRT over Dubins curves: a car that does not reverse.

    Not RRT*: it takes an edge that is free one way as free the other way too, and a Dubins curve
    leads back elsewhere. Instead trees are grown one after the other, and the shortest path kept.
    """

    def __init__(self, client: RecordedClient) -> None:
        self.client = client
        # Checks every STEP with this margin clear the whole curve between them.
        footprint = Shape.polygon(scenario.FOOTPRINT)
        self.margin = edge_margin(STEP, reach(footprint), scenario.TURNING_RADIUS)
        self.space = ob.DubinsStateSpace(scenario.TURNING_RADIUS)
        bounds = ob.RealVectorBounds(2)
        bounds.setLow(0, scenario.START[0] - 1.0)
        bounds.setHigh(0, scenario.GOAL[0] + 2.0)
        bounds.setLow(1, -scenario.LANE_WIDTH)
        bounds.setHigh(1, scenario.LANE_WIDTH)
        self.space.setBounds(bounds)

    def state(self, pose: scenario.Pose) -> Any:
        """Make an OMPL state."""
        state = self.space.allocState()
        state.setX(pose[0])
        state.setY(pose[1])
        state.setYaw(pose[2])
        return state

    def checker(self, poses: Poses) -> PosesReply:
        """Ask about one edge."""
        return self.client.check_poses(poses, "edge", self.margin, stop_at_first=True)

    def plan(self, deadline: float) -> tuple[Any, list[Poses]]:
        """Grow trees until edges or time are spent: the shortest path, and all edges."""
        si = ob.SpaceInformation(self.space)
        si.setStateValidityChecker(StateValidityChecker(si, self.checker))
        si.setMotionValidator(MotionValidator(si, self.checker, STEP, og.RRT))
        si.setup()
        problem = ob.ProblemDefinition(si)
        problem.setStartAndGoalStates(self.state(scenario.START), self.state(scenario.GOAL), 0.5)
        rrt = og.RRT(si)
        rrt.setRange(RANGE)
        rrt.setGoalBias(0.05)
        rrt.setProblemDefinition(problem)

        last = len(self.client.log) + EDGES
        enough = time.monotonic() + ENOUGH
        paths: list[Any] = []
        edges: list[Poses] = []
        spent = ob.PlannerTerminationCondition(
            lambda: (
                time.monotonic() > (enough if paths else deadline)
                or (bool(paths) and len(self.client.log) >= last)
            )
        )
        while not spent():
            rrt.clear()
            problem.clearSolutionPaths()
            rrt.solve(spent)
            edges += self.edges(si, rrt)
            if problem.hasExactSolution():
                paths.append(problem.getSolutionPath())
        if not paths:
            asked = len(self.client.log) - (last - EDGES)
            raise PlanError(
                f"no path was found with {asked} edges; the last answer was: {self.client.last()}"
            )
        return min(paths, key=lambda path: path.length()), edges

    def edges(self, si: Any, planner: Any) -> list[Poses]:
        """Return the edges of the planner's tree."""
        data = ob.PlannerData(si)
        planner.getPlannerData(data)
        return [
            edge_poses(
                self.space, data.getVertex(i).getState(), data.getVertex(j).getState(), STEP
            )
            for i in range(data.numVertices())
            for j in data.getEdges(i)
        ]

    def plan_until_free(self, deadline: float) -> tuple[Any, list[Poses]]:
        """Plan, ask about the path as a whole, and plan again if it is not free any more."""
        for _ in range(ATTEMPTS):
            path, edges = self.plan(deadline)
            if self.is_free(path):
                return path, edges
        raise PlanError(
            f"none of {ATTEMPTS} paths was still free when found: {self.client.last()}"
        )

    def is_free(self, path: Any) -> bool:
        """Ask about the path as a whole."""
        poses = path_poses(self.space, path, STEP)
        return self.client.check_poses(poses, "path", self.margin, mode="distance").is_free

    def run(self) -> dict[str, Any]:
        """Plan and watch; return the path last found with its tree and clearance."""
        begin = time.monotonic()
        plans = 1
        path, edges = self.plan_until_free(begin + PLAN_UNTIL)
        duration = time.monotonic() - begin
        while time.monotonic() < begin + WATCH_UNTIL:
            time.sleep(scenario.PERIOD)
            if not self.is_free(path):
                plans += 1
                path, edges = self.plan_until_free(begin + PLAN_UNTIL)
        poses = path_poses(self.space, path, STEP)
        if not all(reply.is_free for reply in self.client.distances(poses, "clearance")):
            raise PlanError(f"the path is not free at the end: {self.client.last()}")
        return {
            "plans": plans,
            "duration": duration,
            "margin": self.margin,
            "length": path.length(),
            "path": poses.tolist(),
            "fine_path": path_poses(self.space, path, FINE_STEP).tolist(),
            "tree": [edge.tolist() for edge in edges],
            "answers": self.client.log,
        }


def main() -> int:
    """Plan, and write the log named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    ou.setLogLevel(ou.LOG_WARN)
    ou.RNG.setSeed(SEED)
    rclpy.init()
    try:
        node = rclpy.create_node("planner")
        # One request at a time, so that the latencies in the table are those of one request.
        client = CollisionClient(node, scenario.CHECK_FRAME, timeout=2.0, max_outstanding=1)
        wait_for_data(client)
        log = Planner(RecordedClient(client)).run()
    except PlanError as error:
        print(f"planner: {error}", file=sys.stderr)
        return 1
    finally:
        rclpy.try_shutdown()
    arguments.log.write_text(json.dumps(log), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
