# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Check sampled trajectories in a CommonRoad scenario: ``commonroad_scenario.py SCENARIO.xml``.

An obstacle exists only while the scenario has states of it. The vehicle must stay on the lanelets.
"""

import sys
from importlib.util import find_spec
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


def is_exact(state: Any) -> bool:
    """Return whether a state has a pose, not a set of poses."""
    return isinstance(state.position, np.ndarray) and np.isscalar(state.orientation)


def scene_of(scenario: Scenario, inside: Region | None) -> Scene:
    """Return all obstacles on the clock of the scenario, each with the time in which it exists."""
    dt, rows = scenario.dt, []
    for each in scenario.dynamic_obstacles:
        known = getattr(getattr(each.prediction, "trajectory", None), "state_list", [])
        states = [each.initial_state, *known]
        if isinstance(each.prediction, SetBasedPrediction) or not all(map(is_exact, states)):
            # A place for each time: it stays until the next one.
            for k in range(each.initial_state.time_step, each.prediction.final_time_step + 1):
                place = shape_of(each.occupancy_at_time(k).shape)
                row = place, (0.0, 0.0, 0.0), None, k * dt, (k * dt, (k + 1) * dt)
                rows.append((each.obstacle_id, *row))
            continue
        first, last = states[0].time_step * dt, states[-1].time_step * dt
        path = [s.time_step * dt - first for s in known], [pose_of(s) for s in known]
        row = shape_of(each.obstacle_shape), pose_of(states[0]), path, first, (first, last)
        rows.append((each.obstacle_id, *row))
    for each in scenario.static_obstacles:
        row = shape_of(each.obstacle_shape), pose_of(each.initial_state), None, 0.0, (nan, nan)
        rows.append((each.obstacle_id, *row))
    for each in scenario.environment_obstacle:
        row = shape_of(each.obstacle_shape), (0.0, 0.0, 0.0), None, 0.0, (nan, nan)
        rows.append((each.obstacle_id, *row))
    ids, shapes, poses, paths, stamps, lifetimes = map(list, zip(*rows, strict=True))
    duration = np.nanmax([0.0, *(last - first for first, last in lifetimes)])
    return Scene(
        shapes, poses, ids, paths=paths, stamps=stamps, lifetimes=lifetimes, inside=inside,
        prediction="hold", horizon=duration,
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


def print_pycrcc(scenario: Scenario, poses: np.ndarray, first: int) -> None:
    """Ask the CommonRoad drivability checker too, in a call for each trajectory."""
    from commonroad_dc import pycrcc
    from commonroad_dc.collision.collision_detection import pycrcc_collision_dispatch

    checker = pycrcc_collision_dispatch.create_collision_checker(scenario)
    moving = []
    for trajectory in poses:
        moving.append(pycrcc.TimeVariantCollisionObject(first))
        for x, y, yaw in trajectory:
            moving[-1].append_obstacle(pycrcc.RectOBB(2.25, 0.9, yaw, x, y))
    for each in moving:  # it keeps the obstacles at each time for later calls
        checker.collide(each)
    begin = perf_counter()
    free = sum(not checker.collide(each) for each in moving)
    seconds = perf_counter() - begin
    print(f"  pycrcc, free at the poses: {free}, {seconds / len(poses) * 1e6:.1f} us each")


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
        begin = perf_counter()
        for trajectory in poses:
            scene.check(CAR, trajectory, times, stop_at_first=True)
        seconds = perf_counter() - begin
        print(f"  a call for each trajectory: {seconds / len(poses) * 1e6:.1f} us each")
        if inside is None and find_spec("commonroad_dc") is not None:
            print_pycrcc(scenario, poses, state.time_step)


if __name__ == "__main__":
    main(sys.argv[1])
