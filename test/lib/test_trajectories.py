# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A thousand candidate trajectories of a planner: 20 000 poses against moving traffic.

The recorded truth rounded the ego box at each pose; the rational oracle settles what lies within
that rounding.
"""

import numpy as np
from data import load, needs_data

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Verdict

FILE = "planner_US101-3_3_1000_trajectories.json"


@needs_data
def test_first_collision_and_least_distance() -> None:
    data = load(FILE)
    length, width = data["meta"]["ego_box"]
    car = Shape.box(length, width)
    scenes = {
        int(step): Scene(
            [Shape.polygon(o["polygon"]) for o in obstacles], ids=[o["id"] for o in obstacles]
        )
        for step, obstacles in data["obstacles_by_step"].items()
    }
    trajectories = data["trajectories"]
    verdicts = np.zeros((len(trajectories), 20), dtype=np.uint8)
    distances = np.full((len(trajectories), 20), np.inf)
    ids = np.zeros((len(trajectories), 20), dtype=np.int64)
    steps = [[t["start_step"] + j for j in range(20)] for t in trajectories]
    assert all(len(t["poses"]) == 20 for t in trajectories)
    for step, scene in scenes.items():
        at = [(i, j) for i, row in enumerate(steps) for j, s in enumerate(row) if s == step]
        where = tuple(np.array(at).T)
        poses = np.array([trajectories[i]["poses"][j] for i, j in at])
        result = scene.check(car, poses, mode="distance")
        verdicts[where] = result.verdicts
        distances[where] = result.distances
        ids[where] = result.ids
    # The traffic ends before the last poses of the latest trajectories: nothing is known of those.
    asked = np.isin(steps, list(scenes))
    assert np.isin(verdicts[asked], (Verdict.FREE, Verdict.COLLISION)).all()
    assert asked.sum() > 18_000

    hits = 0
    for i, trajectory in enumerate(trajectories):
        truth = trajectory["gt"]
        colliding = np.flatnonzero(verdicts[i] == Verdict.COLLISION)
        first = None if len(colliding) == 0 else int(colliding[0])
        hits += first is not None
        assert first == truth["first_colliding_step"], (i, truth)
        least = int(np.argmin(distances[i]))
        if truth["collide"]:
            assert distances[i, least] <= 0.0, i
        else:
            assert abs(distances[i, least] - truth["min_distance"]) <= 1e-9, i
            assert least == truth["min_step"], i
            assert ids[i, least] == truth["nearest_id"], i
    assert hits == data["meta"]["in_collision"]
