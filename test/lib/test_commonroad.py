# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The example for CommonRoad places obstacles where and when the scenario has them."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gjk_collision import Verdict

EXAMPLE = Path(__file__).parents[2] / "examples/commonroad_scenario.py"

pytest.importorskip("commonroad", reason="commonroad-io is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*no lanelet type"),
    pytest.mark.filterwarnings("ignore:Call to deprecated create function"),  # of protobuf
]


def state(kind: type, k: int, x: float, **more: float) -> Any:
    place = np.array([x, 0.0])
    return kind(time_step=k, position=place, orientation=0.0, velocity=10.0, **more)


@pytest.fixture(scope="module")
def scenario() -> Any:
    """A car from x = 30 m at 10 m/s, which leaves after 1 s, and a parked car at x = 80 m."""
    from commonroad.geometry.shape import Rectangle
    from commonroad.prediction.prediction import TrajectoryPrediction
    from commonroad.scenario.lanelet import Lanelet
    from commonroad.scenario.obstacle import DynamicObstacle, ObstacleType, StaticObstacle
    from commonroad.scenario.scenario import Scenario, ScenarioID
    from commonroad.scenario.state import CustomState, InitialState
    from commonroad.scenario.trajectory import Trajectory

    still = {"yaw_rate": 0.0, "slip_angle": 0.0, "acceleration": 0.0}
    made = Scenario(0.1, ScenarioID.from_benchmark_id("ZAM_Test-1_1_T-1", "2020a"))
    x = np.linspace(0.0, 100.0, 11)
    left, center, right = (np.stack([x, np.full(11, y)], axis=1) for y in (1.75, 0.0, -1.75))
    made.add_objects(Lanelet(left, center, right, 1))
    car = Rectangle(4.5, 1.8)
    ahead = Trajectory(1, [state(CustomState, k, 30.0 + k) for k in range(1, 11)])
    first, parked = (state(InitialState, 0, x, **still) for x in (30.0, 80.0))
    drives = TrajectoryPrediction(ahead, car)
    made.add_objects(DynamicObstacle(10, ObstacleType.CAR, car, first, drives))
    made.add_objects(StaticObstacle(11, ObstacleType.PARKED_VEHICLE, car, parked))
    return made


def test_obstacles_exist_while_the_scenario_has_them(scenario: Any) -> None:
    example = runpy.run_path(str(EXAMPLE))
    scene = example["scene_of"](scenario, example["lanes_of"](scenario))
    assert scene.ids.tolist() == [10, 11]
    assert [scene.exist_at(t).tolist() for t in (0.0, 1.0, 1.1)] == [[True] * 2] * 2 + [
        [False, True]
    ]
    np.testing.assert_allclose(scene.poses_at(0.55)[:, 0], [35.5, 80.0], rtol=1e-12)
    place = (39.0, 0.0, 0.0), (81.0, 0.0, 0.0), (50.0, 1.0, 0.0), (50.0, 0.0, 0.0)
    found = scene.check(example["CAR"], np.array([place] * 2), np.array([[0.9] * 4, [1.5] * 4]))
    free, hit = Verdict.FREE, Verdict.COLLISION
    assert found.verdicts.tolist() == [[hit, hit, hit, free], [free, hit, hit, free]]


def test_runs_on_a_file(scenario: Any, tmp_path: Path) -> None:
    from commonroad.common.file_writer import CommonRoadFileWriter
    from commonroad.common.util import Interval
    from commonroad.planning.goal import GoalRegion
    from commonroad.planning.planning_problem import PlanningProblem, PlanningProblemSet
    from commonroad.scenario.scenario import Location
    from commonroad.scenario.state import CustomState, InitialState

    start = state(InitialState, 0, 5.0, yaw_rate=0.0, slip_angle=0.0, acceleration=0.0)
    goal = GoalRegion([CustomState(time_step=Interval(0, 30))])
    problems = PlanningProblemSet([PlanningProblem(20, start, goal)])
    file = tmp_path / "scenario.xml"
    writer = CommonRoadFileWriter(scenario, problems, "a", "b", "c", set(), Location())
    writer.write_to_file(str(file))
    done = subprocess.run(
        [sys.executable, EXAMPLE, file], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split(",")[0] for line in done.stdout.splitlines()]
    assert lines[0] == "obstacles: 231 trajectories of 31 poses"
    assert len(lines) == 8
