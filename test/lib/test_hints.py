# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Common mistakes: the message says what to do instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gjk_collision import (
    Impact,
    InputError,
    Motion,
    Path,
    Scene,
    Shape,
    closest,
    closest_approach,
    collide,
    shape_cast,
    time_of_impact,
)

CAR = Shape.box(4.0, 2.0)
WALL = Shape.box(1.0, 9.0)
SCENE = Scene([WALL], [(9.0, 0.0, 0.0)])
STILL, AWAY = Motion.still(), Motion.still((9.0, 0.0, 0.0))
POINTS = np.random.default_rng(1).normal(size=(5, 2))
POSES = np.random.default_rng(1).normal(size=(5, 3))
THERE = (9.0, 0.0, 0.0)

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "not convex": (
        lambda: Shape.polygon([(0, 0), (2, 0), (1, 0.5), (0, 2)]),
        r"xy\[2\]: the outline is not convex at this vertex: use Shape.concave, or Shape.hull",
    ),
    "Shape as poses": (
        lambda: SCENE.check(CAR, CAR),  # type: ignore[arg-type]
        r"poses: must be an array of real numbers \(got Shape\)",
    ),
    "Shapes as poses": (
        lambda: SCENE.check(CAR, [CAR, CAR]),  # type: ignore[list-item]
        r"poses: must be an array of real numbers \(got objects of type Shape\)",
    ),
    "Shape as pose": (lambda: collide(CAR, CAR, CAR), r"pose_a: must be .* \(got Shape\(4"),  # type: ignore[arg-type]
    "poses as shape": (lambda: SCENE.check(POSES, CAR), r"poses: .* \(got Shape\)"),  # type: ignore[arg-type]
    "ragged points": (
        lambda: Shape.hull([(0, 0), (1, 1), (1, 2, 3)]),
        r"points\[2\]: must have 2 values, as the first row \(got 3\)",
    ),
    "ragged poses": (
        lambda: SCENE.check(CAR, [(0, 0, 0), (1, 1)]),
        r"poses\[1\]: must have 3 values, as the first row \(got 2\)",
    ),
    "ragged trajectories": (
        lambda: SCENE.check(CAR, [[(0, 0, 0)], [(0, 0, 0), (1, 1, 0)]]),
        r"poses\[1\]: must have 1 values, as the first row \(got 2\)",
    ),
    "rows and numbers": (lambda: Shape.hull([1.0, (1, 2)]), "points: "),  # type: ignore[list-item]
    "points of columns": (lambda: Shape.polygon(POINTS.T), r"xy: .*transpose it, as in xy.T"),
    "poses of columns": (lambda: SCENE.check(CAR, POSES.T), r"transpose it, as in poses.T"),
    "obstacles of columns": (
        lambda: Scene([CAR] * 5, POSES.T),
        r"poses: must have shape \(n, 3\) \(got \(3, 5\)\): transpose it, as in poses.T",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_names_the_remedy(name: str) -> None:
    wrong, text = MISTAKES[name]
    with pytest.raises(InputError, match=text):
        wrong()


# ---- degrees

DEGREES: dict[str, tuple[Callable[[float], Any], str]] = {
    "check": (lambda yaw: SCENE.check(CAR, [(0, 0, 0), (0, 0, yaw), (0, 0, yaw)]), "poses[1]"),
    "is_free": (lambda yaw: SCENE.is_free(CAR, (0, 0, yaw)), "pose"),
    "nearest": (lambda yaw: SCENE.nearest(CAR, (0, 0, yaw)), "pose"),
    "collide": (lambda yaw: collide(CAR, WALL, (0, 0, yaw)), "pose_a"),
    "closest": (lambda yaw: closest(CAR, WALL, (0, 0, yaw)), "pose_a"),
    "collide b": (lambda yaw: collide(CAR, WALL, None, (0, 0, yaw)), "pose_b"),
    "Scene": (lambda yaw: Scene([CAR], [(0, 0, yaw)]), "poses[0]"),
    "Path": (lambda yaw: Path.straight([(0, 0, 0), (1, 0, yaw)]), "poses[1]"),
    "arcs": (lambda yaw: Path.arcs((0, 0, yaw), [(0.0, 1.0)]), "start[0]"),
    "Motion": (lambda yaw: Motion.still((0, 0, yaw)), "pose"),
    "transformed": (lambda yaw: CAR.transformed((0, 0, yaw)), "pose"),
}


@pytest.mark.parametrize("name", DEGREES)
@pytest.mark.parametrize("yaw", [90.0, -45.0, 180.0, 15.0, 360.0, -360.0])
def test_a_yaw_in_degrees_gives_one_warning(name: str, yaw: float) -> None:
    call, where = DEGREES[name]
    with pytest.warns(UserWarning, match="looks like degrees: use np.deg2rad") as caught:
        call(yaw)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"{where}: ") and f"{yaw:g}" in str(caught[0].message)
    assert caught[0].filename == __file__  # the line of the user


@pytest.mark.parametrize("yaw", [0.0, 10.0, 3.2, 14.9, 90.5, np.deg2rad(90.0), 365.0, 12.5, 1e6])
def test_other_yaws_give_no_warning(yaw: float) -> None:
    """Small ones, those that are not round, and more turns than angles in degrees have."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call, _ in DEGREES.values():
            call(yaw)


def test_a_warning_can_be_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="degrees"):
            SCENE.check(CAR, [(0.0, 0.0, 90.0)])
        with pytest.raises(UserWarning, match="degrees"):
            SCENE.is_free(CAR, (0.0, 0.0, 90.0))


# ---- the order of arguments


def test_names_of_arguments_need_no_order() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = time_of_impact(motion_a=STILL, a=CAR, motion_b=AWAY, b=WALL, t0=0.0, t1=1.0)
        assert isinstance(found, Impact) and not found.hit
        assert shape_cast(direction=(1.0, 0.0), b=WALL, a=CAR, pose_b=THERE).hit


def test_shapes_come_first() -> None:
    """Any other order names the argument that is wrong."""
    with pytest.raises(InputError, match="b: must be a Shape"):
        time_of_impact(CAR, STILL, WALL, AWAY)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="b: must be a Shape"):
        closest_approach(CAR, STILL, WALL, AWAY)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="motion_a: must be a Motion"):
        time_of_impact(CAR, WALL, WALL, STILL)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"direction: must .* \(got Shape\)"):
        shape_cast(CAR, (1.0, 0.0), WALL)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="b: must be a Shape"):
        shape_cast(CAR, (1.0, 0.0), (1.0, 0.0))  # type: ignore[arg-type]
