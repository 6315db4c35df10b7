# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A field without an answer holds NaN: not 0, and not inf, which means that there is no obstacle.

Each obstacle far away here is one whose distance is known, so that a distance would be at hand.
"""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np
import pytest

from gjk_collision import (
    Motion,
    Path,
    Scene,
    Shape,
    Status,
    Verdict,
    check_pairs,
    closest_approach,
    time_of_impact,
)

CAR = Shape.box(4.0, 2.0)
BOX = Shape.box(1.0, 1.0)
EDGE = (1e15, 0.0, 0.0)  # a shape at this pose is beyond the range of the kernel
AWAY = (50.0, 0.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)
WAY = [ORIGIN, (5.0, 0.0, 0.0)]


def short_and_known() -> Scene:
    """One obstacle is known until 1 s, the other one until 9 s."""
    paths = [([0.0, end], [pose, pose]) for end, pose in ((1.0, AWAY), (9.0, (0.0, 30.0, 0.0)))]
    return Scene([BOX, BOX], [AWAY, (0.0, 30.0, 0.0)], paths=paths)


SCENES = {
    "not known at that time": (short_and_known, Status.PREDICTION_TOO_SHORT),
    "no other obstacle": (
        lambda: Scene([BOX], [AWAY], velocities=[(nan,) * 3]),
        Status.PREDICTION_TOO_SHORT,
    ),
    "out of range": (
        lambda: Scene([BOX, BOX], [EDGE, AWAY], velocities=[(0.0, 0.0, 0.0)] * 2),
        Status.NUMERIC_FAILURE,
    ),
}
scenes = pytest.mark.parametrize("name", SCENES)


@pytest.mark.requirement("V-13")
@scenes
@pytest.mark.parametrize("mode", ["distance", "witness"])
def test_poses(name: str, mode: str) -> None:
    make, status = SCENES[name]
    found = make().check(CAR, [ORIGIN, (1.0, 0.0, 0.0)], [2.0, 2.0], mode=mode)
    assert found.verdicts.tolist() == [Verdict.UNKNOWN] * 2
    assert found.statuses.tolist() == [status] * 2
    assert np.isnan(found.distances).all()
    assert not (found.lower_bounds > -inf).any(), "-inf: no bound, or NaN"
    if mode == "witness":
        assert np.isnan(found.witnesses).all() and np.isnan(found.directions).all()


@scenes
def test_a_single_pose_at_its_time_and_in_a_slice_of_many(name: str) -> None:
    scene = SCENES[name][0]()
    assert isnan(scene.check(CAR, ORIGIN, 2.0, mode="distance").distances)
    many = scene.check(CAR, np.zeros((300, 3)), np.full(300, 2.0), mode="distance")
    assert np.isnan(many.distances).all()


def test_poses_after_the_first_hit() -> None:
    scene = Scene([BOX], [(2.0, 0.0, 0.0)])
    found = scene.check(CAR, [ORIGIN, ORIGIN], mode="witness", stop_at_first=True)
    assert found.verdicts.tolist() == [Verdict.COLLISION, Verdict.UNKNOWN]
    assert np.isnan(found.distances).tolist() == [False, True]
    assert isnan(found.lower_bounds[1]) and np.isnan(found.witnesses[1]).all()


def test_inf_means_that_there_is_no_obstacle() -> None:
    nothing = Scene([], [])
    assert nothing.check(CAR, ORIGIN, mode="distance").distances == inf
    assert nothing.check_path(CAR, WAY).distance == inf
    assert nothing.first_contact(CAR, [WAY], [0.0, 1.0]).distances[0] == inf


@scenes
def test_paths(name: str) -> None:
    make, status = SCENES[name]
    scene, times = make(), [0.5, 2.0]
    for path, options in (
        (WAY, {}),
        (WAY, {"swept": False}),
        (WAY, {"mode": "collide"}),
        (Path.straight(WAY), {}),
        (Path.arcs(ORIGIN, [(0.0, 5.0)]), {}),
    ):
        found = scene.check_path(CAR, path, times, **options)
        assert (found.verdict, found.status) == (Verdict.UNKNOWN, status)
        assert isnan(found.distance), (path, options)
        assert not found.lower_bound > -inf
        assert isnan(found.first_collision_time)
    several = scene.check_path(CAR, Path.arcs([ORIGIN, ORIGIN], [(0.0, 5.0)]), times)
    assert np.isnan(several.distances).all() and np.isnan(several.first_collision_times).all()
    contact = scene.first_contact(CAR, [WAY], times)
    assert isnan(contact.distances[0]) and isnan(contact.times[0])


def test_the_nearest_and_gradients() -> None:
    scene = Scene([BOX, BOX], [EDGE, AWAY])
    for found in (scene.nearest(CAR, ORIGIN, 2), scene.nearest(CAR, [ORIGIN], 2)):
        lost = found.statuses.ravel() != Status.SUCCESS
        assert lost.sum() == 1
        for name in ("distances", "witness_shape", "witness_obstacle", "directions"):
            values = getattr(found, name).reshape(2, -1)
            assert np.isnan(values[lost]).all() and np.isfinite(values[~lost]).all()
    gradient = scene.gradient(CAR, ORIGIN, k=2)
    lost = gradient.ids == 0
    assert gradient.statuses == Status.NUMERIC_FAILURE
    for values in (gradient.distances, gradient.gradients, gradient.rates):
        assert np.isnan(values[lost]).all()
    assert not gradient.smooth[lost].any()
    with_time = short_and_known().gradient(CAR, [ORIGIN], [2.0], k=2)
    assert np.isnan(with_time.distances).all() and (with_time.ids == -1).all()


@pytest.mark.parametrize("mode", ["distance", "witness"])
@pytest.mark.parametrize("parts", [1, 2])
def test_pairs(mode: str, parts: int) -> None:
    """With several parts too: the distance of the other parts is none of the pair."""
    both = Shape.compound([BOX] * parts) if parts > 1 else BOX
    found = check_pairs(Scene([both], [EDGE]), Scene([BOX], [AWAY]), mode=mode)
    assert found.verdicts.tolist() == [Verdict.UNKNOWN]
    assert isnan(found.distances[0]) and found.lower_bounds[0] == -inf
    if mode == "witness":
        assert np.isnan(found.witnesses).all() and np.isnan(found.directions).all()


def test_casts() -> None:
    still, short = Motion.still(AWAY), Motion.path([0.0, 1.0], WAY)
    found = time_of_impact(CAR, BOX, short, still, 0.0, 2.0)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
    assert isnan(found.time) and isnan(found.distance) and found.point_a is None
    assert found.last_valid == 1.0
    assert time_of_impact(CAR, BOX, short, still).time == inf, "FREE: there is no impact"
    unknown = closest_approach(CAR, BOX, short, still, 2.0, 3.0)
    assert unknown.status is Status.PREDICTION_TOO_SHORT
    assert isnan(unknown.distance) and isnan(unknown.time) and unknown.lower_bound == -inf
    for vector in (unknown.point_a, unknown.point_b, unknown.direction):
        assert np.isnan(vector).all()
