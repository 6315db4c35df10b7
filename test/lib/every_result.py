# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""An object of every class of results, and what its message about `bool` has to name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import questions
from questions import check_path, check_shapes
from worlds import STEADY0, T0, Time, known

from gjk_collision import path as paths
from gjk_collision.geometry import Shape, closest
from gjk_collision.motion import Motion, closest_approach, ray_cast, shape_cast, time_of_impact
from gjk_collision.pairs import check_pairs
from gjk_collision.scene import Scene
from gjk_collision.server.frames.poses import Pose
from gjk_collision.verdict import Status, Verdict

CAR = Shape.box(2.0, 2.0)
HERE, THERE = (0.0, 0.0, 0.0), (9.0, 0.0, 0.0)
SCENE = Scene([CAR], prediction="hold")


def server(name: str) -> Any:
    """The answer of a service where the vehicle stands in an obstacle."""
    world = known(Time(), (0.0, 0.0))
    snapshot = world.snapshot(now=T0, steady=STEADY0)
    pose = Pose()
    list_ = snapshot.senders[0].obstacles
    return {
        "collide": lambda: questions.collide(snapshot, pose),
        "distance": lambda: questions.distance(snapshot, pose),
        "check_poses": lambda: questions.check_poses(snapshot, np.zeros(3)),
        "check_path": lambda: check_path(snapshot, np.zeros(6)),
        "nearest_free": lambda: questions.nearest_free(snapshot, pose, 1.0),
        "state": lambda: questions.state(snapshot, pose, None),
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
    "CriticalityResult": (
        lambda: SCENE.criticality(CAR, [[HERE, THERE]], [0.0, 1.0]),
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
    "Answer of distance": (lambda: server("distance"), ".is_free"),
    "Answer of check_poses": (lambda: server("check_poses"), ".is_free"),
    "Answer of check_path": (lambda: server("check_path"), ".is_free"),
    "Answer of nearest_free": (lambda: server("nearest_free"), ".is_free"),
    "Answer of check_shapes": (lambda: server("check_shapes"), ".is_free"),
    "Answer of the heartbeat": (lambda: server("state"), ".is_free"),
    **{f"Verdict {each.name}": (lambda each=each: each, "Verdict.FREE") for each in Verdict},
    **{f"Status {each.name}": (lambda each=each: each, "Status.SUCCESS") for each in Status},
}
