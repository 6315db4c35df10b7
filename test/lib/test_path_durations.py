# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of paths whose segments last only a few ulps of their times.

The oracle samples each segment by its shares, not by times, and measures with shapely. The poses
on arcs are integrals of the velocity (`test_curved_paths.poses_along`).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from test_curved_paths import poses_along
from test_first_contact import outlines

from gjk_collision import Path, Scene, Shape, Verdict

MODES = ["collide", "distance"]
CAR = Shape.box(4.0, 2.0)


def standing(shape: Shape, pose: tuple[float, float, float], stamp: float = 0.0) -> Scene:
    return Scene([shape], [pose], velocities=[(0.0, 0.0, 0.0)], stamps=[stamp])


@pytest.mark.requirement("V-9")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ulps", [1, 2, 3, 7, 30, 1000])
def test_an_arc_of_a_few_ulps_is_seen_as_a_whole(mode: str, ulps: int) -> None:
    """Between its times are no doubles, or few: its middle must be checked nevertheless."""
    car = Shape.box(4.9, 1.9, center=(1.4, 0.0))
    scene = standing(Shape.circle(0.1), (6.05, 2.04, 0.0), stamp=100.0)
    times = [100.0, 100.0 + ulps * np.spacing(100.0)]
    found = scene.check_path(car, Path.arcs((0.0, 0.0, 0.0), [(0.1, 30.0)]), times, mode=mode)
    assert found.verdict is Verdict.COLLISION  # 1.05 m deep at 6.5 m
    assert found.last_valid_fraction * 30.0 <= 6.5
    assert found.first_collision_time == pytest.approx(100.0)


@pytest.mark.parametrize("mode", MODES)
def test_a_short_arc_after_a_slow_one(mode: str) -> None:
    point = (-0.3427012054441217, -0.392218826752275, 0.0)
    arcs = [(0.0, 1.0), (-0.5, -11.862416154057852)]
    start = (0.0, 0.0, -0.1882923433710797)
    shares = np.linspace(0.0, 1.0, 5001)
    poses = poses_along(np.array([start]), np.array([arcs]), shares)[0]
    body = outlines(np.array([(-0.5, -0.2), (0.5, -0.2), (0.5, 0.2), (-0.5, 0.2)]), poses)
    assert shapely.intersects(body, shapely.Point(point)).any(), "the oracle sees the contact"
    found = standing(Shape.point((0.0, 0.0)), point, stamp=100.0).check_path(
        Shape.box(1.0, 0.4), Path.arcs(start, arcs), [100.0, 101.0, 101.00000000000001], mode=mode
    )
    assert found.verdict is not Verdict.FREE
    assert found.first_invalid_segment == 1


@pytest.mark.parametrize("start", [0.0, 1e-3, 100.0, 1.8e9])
@pytest.mark.parametrize("mode", MODES)
def test_a_corner_in_a_turn_in_place_is_seen(mode: str, start: float) -> None:
    """On a path of constant speed, a turn in place lasts one ulp: at time 0, a denormal.

    A corner of the car sweeps over (1.5, 1.5), where the car is neither before nor after the turn.
    """
    scene = standing(Shape.circle(0.1), (1.5, 1.5, 0.0), stamp=start)
    poses = [(0.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2), (0.0, 5.0, math.pi / 2)]
    found = scene.check_path(CAR, Path.straight(poses), [start, start + 10.0], mode=mode)
    assert found.verdict is not Verdict.FREE
