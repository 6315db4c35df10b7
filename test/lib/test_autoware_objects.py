# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Detected and tracked objects of Autoware, whose orientation may be unknown.

The oracle samples points of each object in each orientation that is possible.
"""

from __future__ import annotations

import random
from math import cos, hypot, inf, nan, pi, sin
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest
import questions
from sensors import NS, header, polygon, pose, xyz
from sensors import twist as twist_of

from gjk_collision.errors import InputError
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Verdict

DETECTED = "autoware_perception_msgs/msg/DetectedObjects"
TRACKED = "autoware_perception_msgs/msg/TrackedObjects"
UNAVAILABLE, SIGN_UNKNOWN, AVAILABLE = 0, 1, 2
BOX, CYLINDER, POLYGON = 0, 1, 2
ROBOT = 0.2
ROUND = [(cos(2 * pi * i / 150), sin(2 * pi * i / 150)) for i in range(150)]


def thing(
    kind: int,
    known: int,
    *,
    size: tuple[float, float] = (0.0, 0.0),
    points: list[tuple[float, float]] | None = None,
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    twist: tuple[float, float, float] | None = None,
    number: int = 1,
) -> Any:
    kinematics = Message(
        pose_with_covariance=Message(pose=pose(*at)),
        has_position_covariance=False,
        orientation_availability=known,
        twist_with_covariance=Message(twist=twist_of(*(twist or ()))),
        has_twist=twist is not None,
        has_twist_covariance=False,
        is_stationary=False,
    )
    return Message(
        object_id=Message(uuid=np.full(16, number, np.uint8)),
        existence_probability=0.1,
        classification=[],
        kinematics=kinematics,
        shape=Message(
            type=kind,
            footprint=polygon(*(points or [])),
            dimensions=xyz(*size, 1.0),
        ),
    )


def convert(kind: str, *things: Any) -> Obstacles:
    message = Message(header=header(), objects=list(things))
    return CONVERTERS[kind](message, Config(), SourceConfig("obstacles", type=kind))


def verdict(data: Obstacles, x: float, y: float) -> Verdict:
    world = World(Config(robot_radius=ROBOT))
    world.receive_obstacles("obstacles", data, now=100 * NS, steady=0)
    return questions.collide(world.snapshot(now=100 * NS, steady=0), Pose(x, y, 0.0)).verdict


@pytest.mark.requirement("G-12")
@pytest.mark.parametrize("kind", [DETECTED, TRACKED])
@pytest.mark.parametrize("known", [UNAVAILABLE, SIGN_UNKNOWN, AVAILABLE])
@pytest.mark.parametrize("seed", range(5))
def test_every_possible_orientation_is_held(kind: str, known: int, seed: int) -> None:
    rng = random.Random(seed)
    at = (rng.uniform(-9, 9), rng.uniform(-9, 9), rng.uniform(-pi, pi))
    length, width = rng.uniform(0.5, 5), rng.uniform(0.5, 3)
    count = rng.randrange(3, 8)
    outline = [
        (r * cos(2 * pi * i / count), r * sin(2 * pi * i / count))
        for i, r in enumerate(float(np.float32(rng.uniform(0.4, 3))) for _ in range(count))
    ]
    outline = [(float(np.float32(x)), float(np.float32(y))) for x, y in outline]
    shape = rng.choice((BOX, CYLINDER, POLYGON))
    corners = {
        BOX: [
            (sx * length / 2, sy * width / 2) for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1))
        ],
        CYLINDER: [(length / 2 * cos(a), length / 2 * sin(a)) for a in np.linspace(0, 2 * pi, 60)],
        POLYGON: outline,
    }[shape]
    data = convert(kind, thing(shape, known, size=(length, width), points=outline, at=at))
    yaws = {
        AVAILABLE: [at[2]],
        SIGN_UNKNOWN: [at[2], at[2] + pi],
        UNAVAILABLE: [rng.uniform(-pi, pi) for _ in range(20)],
    }[known]
    for yaw in yaws:
        for u, v in corners:
            share = rng.random()
            x = at[0] + share * (cos(yaw) * u - sin(yaw) * v)
            y = at[1] + share * (sin(yaw) * u + cos(yaw) * v)
            assert verdict(data, x, y) is Verdict.COLLISION
    reach = max(hypot(*corner) for corner in corners) + ROBOT + 1e-6
    angle = rng.uniform(-pi, pi)
    far = verdict(data, at[0] + reach * cos(angle), at[1] + reach * sin(angle))
    assert far is Verdict.FREE


@pytest.mark.parametrize(("kind", "known", "twist", "wanted"), [
    (DETECTED, AVAILABLE, (2.0, 0.5, 0.1), (-0.5, 2.0, 0.1)),
    (DETECTED, AVAILABLE, None, None),
    (DETECTED, SIGN_UNKNOWN, (2.0, 0.5, 0.1), None),
    (DETECTED, UNAVAILABLE, (2.0, 0.5, 0.1), None),
    (TRACKED, AVAILABLE, (2.0, 0.5, 0.1), (-0.5, 2.0, 0.1)),
    (TRACKED, SIGN_UNKNOWN, (2.0, 0.5, 0.1), None),
    (TRACKED, UNAVAILABLE, (2.0, 0.5, 0.1), None),
])  # fmt: skip
def test_velocity_is_known_with_the_orientation_only(
    kind: str, known: int, twist: Any, wanted: Any
) -> None:
    data = convert(kind, thing(BOX, known, size=(4.0, 2.0), at=(1.0, 2.0, pi / 2), twist=twist))
    if wanted is None:
        assert np.isnan(data.velocities).all()
    else:
        np.testing.assert_allclose(data.velocities, wanted, atol=1e-12)


def test_ids_of_tracked_objects_are_those_of_their_predictions() -> None:
    data = convert(TRACKED, *(thing(BOX, 2, size=(1.0, 1.0), number=n) for n in (3, 4)))
    assert data.ids.tolist() == [int.from_bytes(bytes([n] * 8), "big") >> 5 << 4 for n in (3, 4)]
    detected = convert(DETECTED, *(thing(BOX, 2, size=(1.0, 1.0), number=n) for n in (3, 4)))
    assert detected.ids.tolist() == [0, 1]


def test_unknown_orientation_needs_no_quaternion() -> None:
    found = thing(BOX, UNAVAILABLE, size=(2.0, 2.0))
    found.kinematics.pose_with_covariance.pose.orientation = Message(x=0.0, y=0.0, z=0.0, w=0.0)
    assert verdict(convert(DETECTED, found), 1.0, 0.0) is Verdict.COLLISION
    found.kinematics.orientation_availability = AVAILABLE
    with pytest.raises(InputError, match=r"objects\[0\] pose"):
        convert(DETECTED, found)


@pytest.mark.parametrize("kind", [DETECTED, TRACKED])
@pytest.mark.parametrize(("changes", "field"), [
    ({"known": 3}, r"objects\[0\].kinematics.orientation_availability"),
    ({"kind": 3}, r"objects\[0\].shape.type"),
    ({"size": (0.0, 1.0)}, r"objects\[0\].shape.dimensions.x: must be positive"),
    ({"size": (1.0, nan)}, r"objects\[0\].shape.dimensions.y: must be positive"),
    ({"size": (1.0, inf)}, r"objects\[0\].shape.dimensions.y: must be finite"),
    ({"kind": CYLINDER, "size": (inf, 1.0)}, r"objects\[0\].shape.dimensions.x: must be finite"),
    ({"at": (0.0, nan, 0.0)}, r"objects\[0\] pose"),
    ({"at": (0.0, nan, 0.0), "known": UNAVAILABLE}, r"objects\[0\].kinematics.*position.y"),
    ({"twist": (0.0, 0.0, inf)}, r"objects\[0\].kinematics.twist_with_.*angular.z: must be fin"),
    ({"twist": (-inf, 0.0, 0.0), "known": SIGN_UNKNOWN}, r"objects\[0\].kinematics.*linear.x"),
    *(
        ({"kind": POLYGON, "known": known, "points": outline}, rf"objects\[0\].{field}{text}")
        for field in ["shape.footprint.points"]
        for outline, text in (
            (ROUND[:0], ": must have at least one point"),
            (ROUND[:2], r": an outline must have at least 3 points \(got 2\)"),
            ([*ROUND[:3], (nan, 0.0)], r"\[3\]: x and y must be finite"),
            ([*ROUND, *ROUND], ": 300 points in this obstacle, limit 256"),
        )
        for known in (UNAVAILABLE, SIGN_UNKNOWN, AVAILABLE)
    ),
    ({"kind": POLYGON, "known": SIGN_UNKNOWN, "points": ROUND}, "points: 150 points, limit 128"),
])  # fmt: skip
def test_malformed_object_is_refused(kind: str, changes: Any, field: str) -> None:
    """The error names the field of the message."""
    given: dict[str, Any] = {"kind": BOX, "known": AVAILABLE, "size": (1.0, 1.0), **changes}
    with pytest.raises(InputError, match=field):
        convert(kind, thing(**given))


def test_velocity_that_is_nan_is_not_known() -> None:
    data = convert(DETECTED, thing(BOX, AVAILABLE, size=(1.0, 1.0), twist=(1.0, nan, 0.0)))
    assert np.isnan(data.velocities[:2]).all()
