# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Check sampled trajectories in a CommonRoad scenario: ``commonroad_scenario.py SCENARIO.xml``.

An obstacle exists only while the scenario has states of it. The vehicle must stay on the lanelets.
"""

import sys
from math import nan
from time import perf_counter
from typing import Any

import numpy as np
from commonroad.common.file_reader import CommonRoadFileReader
from commonroad.geometry.shape import Circle, ShapeGroup
from commonroad.prediction.prediction import SetBasedPrediction
from commonroad.scenario.scenario import Scenario

from gjk_collision import Region, Scene, Shape, Verdict

CAR = Shape.box(4.5, 1.8)


def shape_of(given: Any) -> Shape:
    """Return a shape of CommonRoad as a Shape."""
    if isinstance(given, ShapeGroup):
        return Shape.compound([shape_of(part) for part in given.shapes])
    if isinstance(given, Circle):
        return Shape.circle(given.radius, tuple(given.center))
    return Shape.concave(given.vertices)


def pose_of(state: Any) -> tuple[float, float, float]:
    """Return x [m], y [m], yaw [rad] of a state."""
    return (*state.position, state.orientation)


def scene_of(scenario: Scenario, inside: Region | None) -> Scene:
    """Return all obstacles on the clock of the scenario, each with the time in which it exists."""
    dt, rows = scenario.dt, []
    for each in scenario.dynamic_obstacles:
        first = each.initial_state.time_step * dt
        if isinstance(each.prediction, SetBasedPrediction):  # a place for each time
            for place in each.prediction.occupancy_set:
                begin = place.time_step * dt
                row = shape_of(place.shape), (0.0, 0.0, 0.0), None, begin, (begin, begin + dt)
                rows.append((each.obstacle_id, *row))
            continue
        states = each.prediction.trajectory.state_list if each.prediction else []
        path = [s.time_step * dt - first for s in states], [pose_of(s) for s in states]
        last = states[-1].time_step * dt if states else first
        row = (
            shape_of(each.obstacle_shape),
            pose_of(each.initial_state),
            path,
            first,
            (first, last),
        )
        rows.append((each.obstacle_id, *row))
    for each in scenario.static_obstacles:
        row = shape_of(each.obstacle_shape), pose_of(each.initial_state), None, 0.0, (nan, nan)
        rows.append((each.obstacle_id, *row))
    for each in scenario.environment_obstacle:
        row = shape_of(each.obstacle_shape), (0.0, 0.0, 0.0), None, 0.0, (nan, nan)
        rows.append((each.obstacle_id, *row))
    ids, shapes, poses, paths, stamps, lifetimes = map(list, zip(*rows, strict=True))
    return Scene(
        shapes, poses, ids, paths=paths, stamps=stamps, lifetimes=lifetimes, inside=inside,
        prediction="hold", horizon=1e6,
    )  # fmt: skip


def lanes_of(scenario: Scenario) -> Region:
    """Return the union of the lanelets. Neighbours may have gaps of up to 1 mm."""
    lanelets = scenario.lanelet_network.lanelets
    return Region([np.concatenate([a.left_vertices, a.right_vertices[::-1]]) for a in lanelets],
                  snap=1e-3)  # fmt: skip


def sampled(state: Any, dt: float, steps: int = 31) -> tuple[np.ndarray, np.ndarray]:
    """Return trajectories (K, T, 3) of constant curvature and acceleration, and times (T,)."""
    times = np.arange(steps) * dt
    bends, speed_ups = np.meshgrid(np.linspace(-0.02, 0.02, 21), np.linspace(-8.0, 2.0, 11))
    a, curvature = speed_ups.reshape(-1, 1), bends.reshape(-1, 1)
    until = np.minimum(times, np.where(a < 0.0, state.velocity / -np.minimum(a, -1e-9), np.inf))
    driven = state.velocity * until + 0.5 * a * until**2
    turn = curvature * driven
    chord, mean = driven * np.sinc(turn / (2.0 * np.pi)), state.orientation + 0.5 * turn
    place = state.position + chord[..., None] * np.stack([np.cos(mean), np.sin(mean)], axis=-1)
    poses = np.concatenate([place, (state.orientation + turn)[..., None]], axis=-1)
    return poses, state.time_step * dt + times


def main(path: str) -> None:
    """Print how many trajectories are free at their poses, and how many between them too."""
    scenario, problems = CommonRoadFileReader(path).open()
    state = next(iter(problems.planning_problem_dict.values())).initial_state
    poses, times = sampled(state, scenario.dt)
    for name, inside in (("obstacles", None), ("obstacles and lanelets", lanes_of(scenario))):
        scene = scene_of(scenario, inside)
        begin = perf_counter()
        checked = scene.check(CAR, poses, times, mode="collide", stop_at_first=True)
        between = perf_counter()
        contact = scene.first_contact(CAR, poses, times)
        end = perf_counter()
        print(f"{name}: {len(poses)} trajectories of {len(times)} poses")
        for what, free, seconds in (
            ("at the poses", (checked.first_invalid < 0).sum(), between - begin),
            ("at all times", (contact.verdicts == Verdict.FREE).sum(), end - between),
        ):
            print(f"  free {what}: {free}, {seconds / len(poses) * 1e6:.1f} us each")


if __name__ == "__main__":
    main(sys.argv[1])
