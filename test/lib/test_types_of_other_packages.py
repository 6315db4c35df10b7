# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of other packages become the obstacles that they mean, or their source is bad.

The packages need not be installed: messages are built of the fields that their definitions have.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, hypot, inf, nan, sin
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest
import questions
from sensors import NS, converted, header, polygon, pose, twist, xyz

from gjk_collision.errors import InputError
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict

CAR = (1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0)
CONFIG = Config(footprint=CAR, max_obstacles=40, max_points_per_obstacle=16)
FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)


def verdict(data: Obstacles, x: float, y: float = 0.0) -> tuple[Verdict, Status]:
    world = World(CONFIG)
    world.receive_obstacles("obstacles", data, now=100 * NS, steady=0)
    found = questions.collide(world.snapshot(now=100 * NS, steady=0), Pose(x, y, 0.0))
    return found.verdict, found.status


def convert(kind: str, message: Any) -> Obstacles:
    (name,) = (each for each in CONVERTERS if f"/{each}".endswith(f"/{kind}"))
    return CONVERTERS[name](message, CONFIG, CONFIG.sources[0])


SQUARE = ((4.0, 1.0), (4.0, -1.0), (6.0, -1.0), (6.0, 1.0))
ANGLE = ((4.0, 4.0), (4.0, -4.0), (8.0, -4.0), (8.0, -3.0), (5.0, -3.0), (5.0, 4.0))


# ---- polygons


def test_polygon() -> None:
    data = convert("PolygonStamped", Message(header=header(), polygon=polygon(*ANGLE)))
    assert (data.frame, data.stamp, len(data)) == ("odom", 100 * NS, 1)
    assert verdict(data, 3.0) == HIT
    assert verdict(data, 2.9) == FREE
    assert verdict(data, 7.0, 0.0) == FREE  # in the angle of the outline
    for few, status in (((), Status.TOO_FEW_POINTS), (((nan, 0.0),) * 4, Status.NON_FINITE)):
        bad = Message(header=header(), polygon=polygon(*few))
        assert verdict(convert("PolygonStamped", bad), 50.0) == (Verdict.UNKNOWN, status)


def test_polygon_instances_stand_beside_each_other() -> None:
    world = World(CONFIG)
    for number, x in ((7, 0.0), (8, 20.0)):
        shape = Message(polygon=polygon(*((a + x, b) for a, b in SQUARE)), id=number)
        message = Message(header=header(), polygon=shape)
        data = convert("PolygonInstanceStamped", message)
        world.receive_obstacles("obstacles", data, now=100 * NS, steady=0)
    snapshot = world.snapshot(now=100 * NS, steady=0)
    for number, x in ((7, 5.0), (8, 25.0)):
        assert questions.collide(snapshot, Pose(x, 0.0, 0.0)).nearest_id == number


# ---- costmap_converter


def test_costmap_obstacles() -> None:
    point = converted((20.0, 0.0), radius=0.5, number=3)
    line = converted((30.0, 0.0), (30.0, 9.0), number=4)
    flat = converted(*((40.0 + i, 0.0) for i in range(5)), number=5)
    moving = converted(*SQUARE, number=6)
    moving.velocities.twist.linear.x, moving.velocities.twist.angular.z = 1.5, 0.2
    message = Message(header=header(), obstacles=[point, line, flat, moving])
    data = convert("ObstacleArrayMsg", message)
    assert data.ids.tolist() == [3, 4, 5, 6]
    assert verdict(data, 18.5) == HIT and verdict(data, 18.4) == FREE
    assert verdict(data, 29.0, 9.0) == HIT and verdict(data, 28.9) == FREE
    assert verdict(data, 42.0, 1.0) == HIT and verdict(data, 42.0, 1.1) == FREE
    assert verdict(data, 3.0) == HIT and verdict(data, 2.9) == FREE
    velocities = data.velocities.reshape(-1, 3)
    assert np.isnan(velocities[:3]).all()  # nobody said that they stand
    assert velocities[3].tolist() == [1.5, 0.0, 0.2]
    assert data.poses.reshape(-1, 3)[3].tolist() == [5.0, 0.0, 0.0]  # it turns about itself


def test_costmap_obstacles_without_ids_of_their_own() -> None:
    same = [converted((20.0 * i, 0.0), number=-1) for i in (1, 2)]
    data = convert("ObstacleArrayMsg", Message(header=header(), obstacles=same))
    assert data.ids.tolist() == [0, 1]
    assert verdict(data, 20.0) == HIT


# ---- Autoware


def thing(kind: int, number: int = 1, where: Any = None, **shape: Any) -> Any:
    kinematics = Message(
        initial_pose_with_covariance=Message(pose=where or pose(5.0, 0.0)),
        initial_twist_with_covariance=Message(twist=twist()),
        initial_acceleration_with_covariance=Message(accel=twist()),
        predicted_paths=[],
    )
    outline = Message(**{"type": kind, "footprint": polygon(), "dimensions": xyz(), **shape})
    uuid = Message(uuid=[number] * 16)
    return Message(
        object_id=uuid, existence_probability=0.0, classification=[], kinematics=kinematics,
        shape=outline,
    )  # fmt: skip


def predicted(*things: Any) -> Obstacles:
    return convert("PredictedObjects", Message(header=header(), objects=things))


def test_predicted_box() -> None:
    data = predicted(thing(0, where=pose(5.0, 0.0, np.pi / 2), dimensions=xyz(4.0, 2.0, 1.5)))
    assert verdict(data, 2.9) == FREE and verdict(data, 3.01) == HIT
    assert verdict(data, 5.0, 3.1) == FREE and verdict(data, 5.0, 2.99) == HIT  # its length


def test_predicted_cylinder() -> None:
    """Its dimension is a diameter."""
    data = predicted(thing(1, dimensions=xyz(2.0, 2.0, 1.5)))
    assert verdict(data, 2.9) == FREE and verdict(data, 3.0) == HIT
    assert verdict(data, 3.2, 1.9) == FREE  # round


def test_predicted_polygon() -> None:
    """Its footprint is about the object."""
    data = predicted(thing(2, where=pose(-5.0, 0.0), footprint=polygon(*ANGLE)))
    assert verdict(data, -2.0) == HIT
    assert verdict(data, 2.0, 1.0) == FREE


def test_predicted_motion() -> None:
    found = thing(0, dimensions=xyz(4.0, 2.0), where=pose(5.0, 0.0, np.pi / 2))
    found.kinematics.initial_twist_with_covariance.twist = twist(3.0, 1.0, 0.5)
    step = Message(sec=0, nanosec=NS // 2)
    found.kinematics.predicted_paths = [
        Message(path=[pose(5.0, y) for y in (0.0, 1.5, 3.0)], time_step=step),
        Message(path=[pose(5.0, 0.0), pose(6.0, 0.0)], time_step=step),
    ]
    data = predicted(found)
    assert len(data) == 2  # along each path, however improbable
    assert data.ids[1] == data.ids[0] + 1
    np.testing.assert_allclose(data.velocities.reshape(-1, 3), [[-1.0, 3.0, 0.5]] * 2)
    assert data.path_offsets.tolist() == [0, 3, 5]
    assert data.path_times.tolist() == [0.0, 0.5, 1.0, 0.0, 0.5]
    assert data.path_poses.reshape(-1, 3)[2].tolist() == [5.0, 3.0, 0.0]
    data.check(10, 10)


@pytest.mark.parametrize("size", [0.0, -1.0, nan])
@pytest.mark.parametrize("kind", [0, 1])
def test_predicted_object_without_extent_is_refused(kind: int, size: float) -> None:
    """A field that nobody has filled in is no small obstacle."""
    with pytest.raises(InputError, match="must be positive"):
        predicted(thing(kind, dimensions=xyz(size, size)))


def test_predicted_object_of_a_kind_unknown_is_refused() -> None:
    with pytest.raises(InputError, match="type"):
        predicted(thing(3, dimensions=xyz(1.0, 1.0)))


def test_predicted_object_lying_on_its_side_is_refused() -> None:
    tilted = pose(5.0, 0.0, q=(sin(0.5), 0.0, 0.0, cos(0.5)))
    with pytest.raises(InputError, match="must not be tilted out of the plane by more than"):
        predicted(thing(0, where=tilted, dimensions=xyz(1.0, 1.0)))


def test_path_without_a_time_step_is_refused() -> None:
    found = thing(0, dimensions=xyz(4.0, 2.0))
    found.kinematics.predicted_paths = [
        Message(path=[pose(5.0, 0.0)] * 3, time_step=Message(sec=0, nanosec=0))
    ]
    with pytest.raises(InputError, match=r"^objects\[0\].predicted_paths\[0\].time_step: must be"):
        predicted(found)


# ---- vision_msgs


def test_detections_and_boxes() -> None:
    seen = listed("Detection3DArray", Message(header=header(), bbox=BOX))
    bare = listed("BoundingBox3DArray", BOX)
    for data in (convert("Detection3DArray", seen), convert("BoundingBox3DArray", bare)):
        assert verdict(data, 2.9) == FREE and verdict(data, 3.0) == HIT
        assert verdict(data, 5.0, 3.1) == FREE and verdict(data, 5.0, 3.0) == HIT
    seen.detections[0].header.frame_id = "camera"
    with pytest.raises(InputError) as caught:
        convert("Detection3DArray", seen)
    assert caught.value.status is Status.UNKNOWN_FRAME


# ---- all of them


DYNAMIC = "nav2_dynamic_msgs/msg/ObstacleArray"


def moving_box(x: float, size: float) -> Any:
    uuid = Message(uuid=np.arange(1, 17, dtype=np.uint8))
    return Message(uuid=uuid, position=xyz(x, 0.0), velocity=xyz(-1.5, 0.5), size=xyz(size, 2.0))


def test_a_box_of_nav2_dynamic_may_be_turned_in_any_direction() -> None:
    data = convert(DYNAMIC, listed(DYNAMIC, moving_box(5.0, 1.0)))
    assert data.velocities.tolist() == [-1.5, 0.5, 0.0]
    assert data.ids.tolist() == [0x0102030405060708 >> 5 << 4]
    assert data.radius[0] == pytest.approx(hypot(0.5, 1.0))
    assert data.radius[0] >= hypot(0.5, 1.0)
    assert data.poses.tolist() == [5.0, 0.0, 0.0]


BOX = Message(center=pose(5.0, 0.0), size=xyz(2.0, 4.0, 1.0))
ONE: dict[str, tuple[str, Callable[[], Any]]] = {  # the field of the list, and an element
    "ObstacleArrayMsg": ("obstacles", lambda: converted(*SQUARE)),
    "PredictedObjects": ("objects", lambda: thing(2, footprint=polygon(*SQUARE))),
    "Detection3DArray": ("detections", lambda: Message(header=header(), bbox=BOX)),
    "BoundingBox3DArray": ("boxes", lambda: BOX),
    DYNAMIC: ("obstacles", lambda: moving_box(5.0, 2.0)),
}


def listed(kind: str, *elements: Any) -> Any:
    return Message(header=header(), **{ONE[kind][0]: list(elements)})


@pytest.mark.parametrize("kind", ONE)
def test_over_the_limits_nothing_is_cut(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        convert(kind, listed(kind, *[ONE[kind][1]()] * 41))
    assert caught.value.status is Status.LIMIT_EXCEEDED


@pytest.mark.parametrize("value", [nan, inf])
def test_number_that_is_none_makes_the_source_bad(value: float) -> None:
    spoils: list[tuple[str, Callable[[Any], None]]] = [
        ("ObstacleArrayMsg", lambda m: setattr(m.polygon.points[1], "y", value)),
        ("ObstacleArrayMsg", lambda m: setattr(m, "radius", value)),
        ("PredictedObjects", lambda m: setattr(m.shape.footprint.points[0], "x", value)),
        (DYNAMIC, lambda m: setattr(m.position, "y", value)),
        (DYNAMIC, lambda m: setattr(m.velocity, "x", value)),
        (
            "PredictedObjects",
            lambda m: setattr(m.kinematics.initial_pose_with_covariance.pose.position, "x", value),
        ),
    ]
    for kind, spoil in spoils:
        message = ONE[kind][1]()
        spoil(message)
        assert status_of(kind, listed(kind, message)) is Status.NON_FINITE, kind


def status_of(kind: str, message: Any) -> Status:
    """Why a message is not used, whether its adapter finds out or the world."""
    try:
        return verdict(convert(kind, message), 50.0)[1]
    except InputError as error:
        return error.status
