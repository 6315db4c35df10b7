# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""No answer can be taken for a yes or a no by accident: `bool` of it raises."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_world import STEADY0, T0, Time, known

from gjk_collision import path as paths
from gjk_collision.geometry import Shape, closest, collide
from gjk_collision.motion import Motion, closest_approach, ray_cast, shape_cast, time_of_impact
from gjk_collision.pairs import check_pairs
from gjk_collision.scene import Scene
from gjk_collision.server import questions
from gjk_collision.server.frames import Pose
from gjk_collision.server.questions import check_path, check_shapes
from gjk_collision.verdict import Status, Verdict

SOURCE = Path(__file__).resolve().parents[2] / "gjk_collision"
CAR = Shape.box(2.0, 2.0)
HERE, THERE = (0.0, 0.0, 0.0), (9.0, 0.0, 0.0)
SCENE = Scene([CAR])


def server(name: str) -> Any:
    """The answer of a service where the vehicle stands in an obstacle."""
    world = known(Time(), (0.0, 0.0))
    snapshot = world.snapshot(now=T0, steady=STEADY0)
    pose = Pose()
    list_ = snapshot.parts[0].obstacles
    return {
        "collide": lambda: questions.collide(snapshot, pose),
        "distance": lambda: questions.distance(snapshot, pose),
        "check_poses": lambda: questions.check_poses(snapshot, np.zeros(3)),
        "check_path": lambda: check_path(snapshot, np.zeros(6)),
        "nearest_free": lambda: questions.nearest_free(snapshot, pose, 1.0),
        "state": lambda: questions.state(snapshot, pose),
        "check_shapes": lambda: check_shapes(
            snapshot.config, list_, list_, np.array([0, 0], np.uint32)
        ),
    }[name]()


# Each with what the message has to name.
RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "CheckResult": (lambda: SCENE.check(CAR, [HERE]), ".is_free"),
    "CheckResult of another mode": (lambda: SCENE.check(CAR, [THERE], mode="witness"), ".is_free"),
    "NearestResult": (lambda: SCENE.nearest(CAR, HERE), "len("),
    "PathResult": (lambda: SCENE.check_path(CAR, [HERE, THERE]), ".is_free"),
    "PathResult of poses": (lambda: SCENE.check_path(CAR, [THERE], swept=False), ".is_free"),
    "ContactResult": (
        lambda: SCENE.updated([0], velocities=[(0, 0, 0)]).first_contact(CAR, [[HERE]], [0.0]),
        "Verdict.FREE",
    ),
    "PathsResult": (
        lambda: SCENE.check_path(CAR, paths.Path.straight([[HERE, THERE]])),
        ".is_free",
    ),
    "TimeToCollisionResult": (
        lambda: SCENE.time_to_collision(CAR, HERE, (0, 0, 0), 0.0),
        "Verdict.FREE",
    ),
    "RayCastResult": (lambda: SCENE.ray_cast((0.0, 0.0), (1.0, 0.0)), "Verdict.FREE"),
    "GradientResult": (lambda: SCENE.gradient(CAR, HERE), ".distances > margin"),
    "PairsResult": (lambda: check_pairs(SCENE, SCENE), "Verdict.FREE"),
    "Closest": (lambda: closest(CAR, CAR), "lower_bound"),
    "Impact of two motions": (
        lambda: time_of_impact(CAR, CAR, Motion.still(), Motion.still(), 0.0, 1.0),
        ".hit",
    ),
    "Impact of a cast": (lambda: shape_cast(CAR, CAR, (1.0, 0.0), pose_b=THERE), ".hit"),
    "Impact of a ray": (lambda: ray_cast((0.0, 0.0), (1.0, 0.0), CAR, pose=THERE), ".hit"),
    "Approach": (
        lambda: closest_approach(CAR, CAR, Motion.still(), Motion.still(), 0.0, 1.0),
        "lower_bound",
    ),
    "Answer": (lambda: server("collide"), ".is_free"),
    "DistanceAnswer": (lambda: server("distance"), ".is_free"),
    "PosesAnswer": (lambda: server("check_poses"), ".is_free"),
    "PathAnswer": (lambda: server("check_path"), ".is_free"),
    "NearestFreeAnswer": (lambda: server("nearest_free"), ".is_free"),
    "ShapesAnswer": (lambda: server("check_shapes"), ".is_free"),
    "StateAnswer": (lambda: server("state"), ".is_free"),
    **{f"Verdict {each.name}": (lambda each=each: each, "Verdict.FREE") for each in Verdict},
    **{f"Status {each.name}": (lambda each=each: each, "Status.SUCCESS") for each in Status},
}


@pytest.mark.requirement("V-14")
@pytest.mark.parametrize("name", RESULTS)
def test_bool_raises_and_says_what_to_use(name: str) -> None:
    make, instead = RESULTS[name]
    result = make()
    assert type(result).__name__ == name.split()[0]
    with pytest.raises(TypeError, match=r"has no truth value: use `") as caught:
        bool(result)
    assert instead in str(caught.value) and type(result).__name__ in str(caught.value)
    with pytest.raises(TypeError):
        any([result])


def test_every_class_with_a_verdict_or_a_distance_is_among_them() -> None:
    """A new class of results cannot be forgotten: by its name or by its fields."""
    tested = {name.split()[0] for name in RESULTS} | {"Distances", "Snapshot", "Report", "Fault"}
    for module in ("results", "pairs", "geometry", "motion", "server/answers"):
        for node in ast.parse((SOURCE / f"{module}.py").read_text()).body:
            if isinstance(node, ast.ClassDef) and node.decorator_list:
                # `penetration` returns None or a Penetration: true where the shapes overlap.
                assert node.name in tested | {"Penetration"}, node.name


def test_functions_that_answer_yes_or_no_return_a_bool() -> None:
    assert collide(CAR, CAR) is True
    assert SCENE.is_free(CAR, THERE) is True
    assert SCENE.check(CAR, [THERE]).is_free is True
    assert server("collide").is_free is False


def test_a_verdict_is_still_a_number() -> None:
    for kind in (Verdict, Status):
        for each in kind:
            assert kind(int(each)) is each and each == int(each)
            assert hash(each) == hash(int(each)) and {each: 1}[int(each)] == 1
            assert np.full(2, each, np.uint16).tolist() == [each, each]
            assert (np.array([0, 1, int(each)], np.uint16) == each)[2]
            assert pickle.loads(pickle.dumps(each)) is copy.deepcopy(each) is each
            assert json.loads(json.dumps(each)) == each and f"{each:d}" == str(int(each))
    assert max(Verdict) is Verdict.MARGIN and sorted(Verdict)[0] is Verdict.UNKNOWN
