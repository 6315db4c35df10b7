# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Park a car with OMPL. The whole curve of each edge is certified, without sampling."""

from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from gjk_collision import Scene, Shape
from gjk_collision.planning import (
    MotionValidator,
    StateValidityChecker,
    path_checker,
    path_poses,
)

CAR = Shape.box(4.4, 1.8, center=(1.3, 0.0))
PARKED = Shape.box(4.4, 1.8)
START, GOAL = (-8.0, 0.0, 0.0), (-1.3, -3.2, 0.0)


def main() -> None:
    """Plan into a gap between two parked cars, and print how near the path comes to them."""
    kerbs = [Shape.segment((-20.0, y), (20.0, y)) for y in (-4.4, 4.4)]
    places = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (-6.6, -3.2, 0.0), (6.6, -3.2, 0.0)]
    scene = Scene([*kerbs, PARKED, PARKED], poses=places)

    space = ob.ReedsSheppStateSpace(4.0)  # turning radius [m]
    bounds = ob.RealVectorBounds(2)
    for axis, limit in enumerate((12.0, 4.0)):
        bounds.setLow(axis, -limit)
        bounds.setHigh(axis, limit)
    space.setBounds(bounds)
    si = ob.SpaceInformation(space)
    checker = path_checker(scene, CAR, margin=0.05)
    si.setStateValidityChecker(StateValidityChecker(si, checker))
    si.setMotionValidator(MotionValidator(si, checker, planner=og.RRTConnect))

    ends = [space.allocState(), space.allocState()]
    for state, (x, y, yaw) in zip(ends, (START, GOAL), strict=True):
        state.setXY(x, y)
        state.setYaw(yaw)
    problem = ob.ProblemDefinition(si)
    problem.setStartAndGoalStates(*ends, 0.01)
    planner = og.RRTConnect(si)
    planner.setProblemDefinition(problem)
    planner.setup()
    planner.solve(10.0)

    path = problem.getSolutionPath()
    drawn = scene.check(CAR, path_poses(space, path, step=0.1), mode="distance")
    print(f"parked in {len(path.getStates()) - 1} edges, {path.length():.1f} m")
    print(f"{drawn.distances.min():.2f} m from the nearest obstacle")


if __name__ == "__main__":
    ou.RNG.setSeed(1)
    ou.setLogLevel(ou.LOG_ERROR)
    main()
