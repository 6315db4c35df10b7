# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A frame or an object that is tilted: nothing is placed farther away than it is, seen from above.

The oracle rotates points in space with numpy, by quaternions, and drops z.
"""

import random
from math import cos, hypot, pi, radians, sin
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest
import questions
from sensors import NS, cloud, grid, header, pose, scan, xyz

from gjk_collision.errors import InputError
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.frames.poses import IDENTITY, Pose, planar
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import (
    CLOUD,
    GRID,
    OBSTACLE_ARRAY,
    SCAN,
    Config,
    SourceConfig,
)
from gjk_collision.verdict import Status, Verdict

NOW = 100 * NS
BOXES, DETECTIONS = "vision_msgs/msg/BoundingBox3DArray", "vision_msgs/msg/Detection3DArray"
AUTOWARE = "autoware_perception_msgs/msg/DetectedObjects"
POLYGON = "geometry_msgs/msg/PolygonStamped"
CONVERTER = "costmap_converter_msgs/msg/ObstacleArrayMsg"
DYNAMIC = "nav2_dynamic_msgs/msg/ObstacleArray"
BASE = np.array([(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0)])

Quaternion = tuple[float, float, float, float]


def tilt_of(angle: float, direction: float, yaw: float) -> Quaternion:
    """x y z w of a yaw, followed by a tilt about a horizontal axis."""
    qx, qy, qw = sin(angle / 2) * cos(direction), sin(angle / 2) * sin(direction), cos(angle / 2)
    z, w = sin(yaw / 2), cos(yaw / 2)
    return (qx * w + qy * z, qy * w - qx * z, qw * z, qw * w)


def rotated(q: Quaternion, points: Any) -> Any:
    x, y, z, w = q
    matrix = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    return np.asarray(points) @ matrix.T


def world_of(
    kind: str, message: Any, q: Quaternion, at: tuple[float, float, float], *, static: bool = False
) -> World:
    """A world with one message in the frame 'sensor', which is at a place in 'odom'."""
    tree = TransformTree(NOW)
    assert not tree.insert("odom", "sensor", NOW, Placement(at, q), static=False)
    points = {"point_radius": 0.0} if kind in (SCAN, CLOUD) else {}
    source = SourceConfig("obstacles", type=kind, static=static, **points)
    world = World(Config(robot_radius=0.001, sources=(source,)), tree)
    data = CONVERTERS[kind](message, world.config, source)
    world.receive_obstacles("obstacles", data, now=NOW, steady=0)
    return world


def verdict(world: World, x: float, y: float) -> Any:
    return questions.collide(world.snapshot(now=NOW, steady=0), Pose(x, y, 0.0))


def one_cell(origin: Quaternion = (0.0, 0.0, 0.0, 1.0), z: float = 0.0) -> Any:
    """A grid of 40 m with one occupied cell of 0.1 m in its far corner."""
    cells = np.zeros((400, 400), np.int8)
    cells[399, 399] = 100
    at = pose(0.0, 0.0, q=origin)
    at.position.z = z
    return in_sensor(grid(cells, 0.1, at))


def in_sensor(message: Any) -> Any:
    message.header = header("sensor")
    return message


def some_tilt(rng: np.random.Generator, limit: float) -> Quaternion:
    return tilt_of(rng.uniform(0, radians(limit)), *rng.uniform(-pi, pi, 2).tolist())


def test_a_tilt_does_not_move_the_origin_of_its_frame() -> None:
    tree = TransformTree(NOW)
    tree.insert(
        "odom", "sensor", NOW, Placement((0.0, 0.0, 1.0), tilt_of(0.1, 0.0, 0.0)), static=False
    )
    world = World(Config(robot_radius=0.001), tree)
    point = Obstacles("sensor", NOW, ids=np.arange(1), offsets=np.arange(2), xy=np.zeros(2))
    world.receive_obstacles("obstacles", point, now=NOW, steady=0)
    assert verdict(world, 0.0011, 0.0).is_free
    assert verdict(world, 0.0009, 0.0).verdict is Verdict.COLLISION


@pytest.mark.requirement("G-12")
@pytest.mark.parametrize("kind", [SCAN, CLOUD, GRID, OBSTACLE_ARRAY])
def test_no_point_of_a_tilted_frame_is_free(kind: str) -> None:
    """The vehicle is a point where the measured point really is."""
    rng = np.random.default_rng(5)
    for run in range(150):
        q = some_tilt(rng, 20.0 if kind == OBSTACLE_ARRAY else 1.999)
        at = (float(rng.uniform(-50, 50)), float(rng.uniform(-50, 50)), float(rng.uniform(0, 2)))
        if kind == SCAN:
            ranges = np.float32(rng.uniform(1.0, 60.0, 8))
            angles = -pi + np.arange(8) * 2 * pi / 8
            points = np.c_[ranges * np.cos(angles), ranges * np.sin(angles), np.zeros(8)]
            message = in_sensor(scan(ranges))
        elif kind == CLOUD:
            points = np.c_[rng.uniform(-40, 40, (6, 2)), rng.uniform(0.2, 1.9, 6)]
            message = in_sensor(cloud(points, random.Random(run)))
        elif kind == GRID:
            z = -1.5 * (run % 2)
            points, message = np.array([[39.95, 39.95, z], [40.0, 40.0, z]]), one_cell(z=z)
        else:
            points = np.c_[rng.uniform(-40, 40, (6, 2)), np.zeros(6)]
            data = Obstacles(
                frame="sensor", stamp=NOW, ids=np.arange(6), offsets=np.arange(7),
                xy=np.ascontiguousarray(points[:, :2]).ravel(),
            )  # fmt: skip
            message = Message(**{**vars(data), "header": header("sensor")})
        world = world_of(kind, message, q, at)
        for x, y, _ in rotated(q, points) + at:
            found = verdict(world, float(x), float(y))
            assert found.verdict is Verdict.COLLISION, (kind, q, at, x, y, found)
        # The bound is not larger than what a tilt can do: 0.15 of the distance and the height.
        far = rotated(q, points)[0] + at
        far = far + 0.2 * (far - at) + 1.0 * np.sign(far - at)
        others = rotated(q, points) + at
        if np.hypot(*(others[:, :2] - far[:2]).T).min() > 0.2 * hypot(*(far[:2] - at[:2])) + 1.0:
            assert verdict(world, float(far[0]), float(far[1])).verdict is Verdict.FREE


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (SCAN, in_sensor(scan([10.0] * 8))),
        (GRID, one_cell()),
        (CLOUD, in_sensor(cloud([(9, 0, 1)], random.Random(1)))),
    ],
)
def test_readings_in_a_frame_that_is_tilted_too_much_are_refused(
    kind: str, message: Any, static: bool
) -> None:
    for angle, is_used in ((1.99, True), (2.01, False), (10.0, False), (19.9, False)):
        q = tilt_of(radians(angle), 1.0, 0.5)
        world = world_of(kind, message, q, (0, 0, 0), static=static)
        found = verdict(world, 500.0, 0.0)
        assert found.is_free == is_used
        if not is_used:
            assert found.status is Status.TF_UNAVAILABLE
            assert "tilted by" in found.message and "limit 2" in found.message


def test_origin_of_a_grid_must_be_level() -> None:
    still = (0.0, 0.0, 0.0, 1.0)
    for direction in (0.0, 1.0, 2.0):
        q = tilt_of(radians(1.9), direction, 0.4)
        world = world_of(GRID, one_cell(q), still, (0, 0, 0))
        for x, y, _ in rotated(q, [[39.95, 39.95, 0.0], [39.91, 39.99, 0.0]]):
            assert verdict(world, float(x), float(y)).verdict is Verdict.COLLISION
    with pytest.raises(InputError, match=r"info.origin: must not be tilted .* more than 2 deg"):
        world_of(GRID, one_cell(tilt_of(radians(2.1), 0.0, 0.0)), still, (0, 0, 0))


def with_height(kind: str, place: Any, size: Any, q: Quaternion) -> Any:
    """A message with a box; for polygons, with its base, at the height of its middle."""
    dimensions, at = xyz(*map(float, size)), pose(0.0, 0.0, q=q)
    at.position = xyz(*map(float, place))
    box, top = Message(center=at, size=dimensions), header("sensor")
    base = rotated(q, BASE * size / 2) + place
    outline = Message(points=[xyz(*map(float, each)) for each in base])
    if kind == BOXES:
        return Message(header=top, boxes=[box])
    if kind == DETECTIONS:
        return Message(header=top, detections=[Message(header=top, bbox=box)])
    if kind == POLYGON:
        return Message(header=top, polygon=outline)
    if kind == CONVERTER:
        still = Message(twist=Message(linear=xyz(), angular=xyz()))
        thing = Message(header=top, id=1, polygon=outline, radius=0.0, velocities=still)
        return Message(header=top, obstacles=[thing])
    if kind == DYNAMIC:
        thing = Message(uuid=Message(uuid=bytes(16)), position=at.position, size=dimensions)
        return Message(header=top, obstacles=[Message(**vars(thing), velocity=xyz())])
    motion = Message(has_twist=False, orientation_availability=2)
    motion.pose_with_covariance = Message(pose=at)
    shape = Message(type=0, dimensions=dimensions, footprint=Message(points=[]))
    return Message(header=top, objects=[Message(kinematics=motion, shape=shape)])


@pytest.mark.requirement("G-12")
@pytest.mark.parametrize("kind", [BOXES, DETECTIONS, AUTOWARE, POLYGON, CONVERTER, DYNAMIC])
def test_tilted_boxes_contain_what_is_seen_from_above(kind: str) -> None:
    """A box of 1 x 1 x 3 m that is tilted by 20 degrees reaches 0.48 m farther.

    Boxes may also be in a tilted frame, and above or below its plane.
    """
    rng = np.random.default_rng(8)
    is_box = kind in (BOXES, DETECTIONS, AUTOWARE)
    level = (0.0, 0.0, 0.0, 1.0)
    for run in range(150):
        size = (1.0, 1.0, 3.0) if run == 0 else rng.uniform(0.2, 4.0, 3)
        frame = some_tilt(rng, 19.99) if run % 2 else level
        q = tilt_of(radians(19.99), 0.0, 0.0) if run == 0 else some_tilt(rng, 19.99)
        q = q if is_box else level
        place = rng.uniform(-20, 20, 3) * (1.0, 1.0, 0.1 * (run % 2))
        world = world_of(kind, with_height(kind, place, size, q), frame, (0, 0, 0))
        corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        inside = np.concatenate([corners, rng.uniform(-1, 1, (10, 3))])
        if kind in (POLYGON, CONVERTER):  # they have no height of their own
            inside = np.concatenate([BASE, inside * (1.0, 1.0, 0.0)])
        for px, py, _ in rotated(frame, rotated(q, inside * size / 2) + place):
            found = verdict(world, float(px), float(py))
            assert found.verdict is Verdict.COLLISION, (kind, size, q, frame, place, px, py)


@pytest.mark.parametrize("z", [0.0, 0.8])
def test_footprint_in_a_tilted_frame_contains_its_points(z: float) -> None:
    rng = np.random.default_rng(9)
    for _ in range(50):
        q = some_tilt(rng, 19.9)
        tree = TransformTree(NOW)
        tree.insert("base_link", "tilted", 0, Placement((0.5, 0.2, 1.0), q), static=True)
        world = World(Config(), tree)
        outline = np.array([(2.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (2.0, -1.0)])
        world.receive_footprint(Footprint("tilted", NOW, outline, z), now=NOW, steady=0)
        for corner in rotated(q, np.c_[outline, np.full(4, z)]) + (0.5, 0.2, 1.0):
            point = Obstacles("odom", NOW, ids=np.arange(1), offsets=np.arange(2), xy=corner[:2])
            world.receive_obstacles("obstacles", point, now=NOW, steady=0)
            assert verdict(world, 0.0, 0.0).verdict is Verdict.COLLISION
            world.reset()
            world.receive_footprint(Footprint("tilted", NOW, outline, z), now=NOW, steady=0)


def test_a_tilted_pose_is_not_the_same_as_a_level_one() -> None:
    """A frame that is only tilted is not the identity, whose points need no bound."""
    tilted = planar(0.0, 0.0, tilt_of(0.1, 0.0, 0.0))
    assert tuple(tilted) == tuple(IDENTITY)
    for one, other in ((tilted, IDENTITY), (IDENTITY, tilted)):
        assert one != other
        assert (one == other) is False
    assert tilted == planar(0.0, 0.0, tilt_of(0.1, 0.0, 0.0))
    assert tilted.tilt == pytest.approx(0.1)
    assert planar(1.0, 2.0, (0.0, 0.0, 1.0, 0.0)).tilt == 0.0


def test_bound_of_a_tilt_is_near_its_largest_error() -> None:
    """The largest error at 1 m is at most the bound, and at least half of it."""
    for angle in (1e-6, 0.001, 0.03, 0.1, 0.34):
        worst = 0.0
        for direction in np.linspace(0, pi, 91):
            q = tilt_of(angle, float(direction), 0.3)
            frame = planar(0.0, 0.0, q)
            around = np.linspace(0, 2 * pi, 73)
            points = np.c_[np.cos(around), np.sin(around)]
            true = rotated(q, np.c_[points, np.zeros(73)])[:, :2]
            worst = max(worst, float(np.hypot(*(true - frame.transform(points)).T).max()))
        bound = frame.tilt_error(1.0)
        assert 0.5 * bound - 1e-15 <= worst <= bound + 1e-15
