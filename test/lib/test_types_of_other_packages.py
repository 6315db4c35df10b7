# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages of other packages become the obstacles that they mean, or their source is bad.

The packages need not be installed: messages are built of the fields that their definitions have.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, inf, nan, sin
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import questions

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
NS = 1_000_000_000

# Fields as the packages define them; [] is a sequence.
DEFINITIONS: dict[str, dict[str, Any]] = {
    "Header": {"stamp": "Time", "frame_id": ""},
    "Time": {"sec": 0, "nanosec": 0},
    "XYZ": {"x": 0.0, "y": 0.0, "z": 0.0},
    "Quaternion": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0},
    "Pose": {"position": "XYZ", "orientation": "Quaternion"},
    "PoseWithCovariance": {"pose": "Pose", "covariance": [0.0] * 36},
    "Twist": {"linear": "XYZ", "angular": "XYZ"},
    "TwistWithCovariance": {"twist": "Twist", "covariance": [0.0] * 36},
    "AccelWithCovariance": {"accel": "Twist", "covariance": [0.0] * 36},
    "Polygon": {"points": []},
    "PolygonStamped": {"header": "Header", "polygon": "Polygon"},
    "PolygonInstance": {"polygon": "Polygon", "id": 0},
    "PolygonInstanceStamped": {"header": "Header", "polygon": "PolygonInstance"},
    # costmap_converter_msgs
    "ObstacleMsg": {
        "header": "Header", "polygon": "Polygon", "radius": 0.0, "id": 0,
        "orientation": "Quaternion", "velocities": "TwistWithCovariance",
    },
    "ObstacleArrayMsg": {"header": "Header", "obstacles": []},
    # autoware_perception_msgs
    "UUID": {"uuid": [0] * 16},
    "Shape": {"type": 0, "footprint": "Polygon", "dimensions": "XYZ"},
    "PredictedPath": {"path": [], "time_step": "Time", "confidence": 0.0},
    "PredictedObjectKinematics": {
        "initial_pose_with_covariance": "PoseWithCovariance",
        "initial_twist_with_covariance": "TwistWithCovariance",
        "initial_acceleration_with_covariance": "AccelWithCovariance",
        "predicted_paths": [],
    },
    "PredictedObject": {
        "object_id": "UUID", "existence_probability": 0.0, "classification": [],
        "kinematics": "PredictedObjectKinematics", "shape": "Shape",
    },
    "PredictedObjects": {"header": "Header", "objects": []},
    # vision_msgs
    "BoundingBox3D": {"center": "Pose", "size": "XYZ"},
    "Detection3D": {"header": "Header", "results": [], "bbox": "BoundingBox3D", "id": ""},
    "Detection3DArray": {"header": "Header", "detections": []},
    "BoundingBox3DArray": {"header": "Header", "boxes": []},
}  # fmt: skip


def make(kind: str, **fields: Any) -> Any:
    """A message with these fields, the others by default."""
    message = SimpleNamespace()
    for name, default in DEFINITIONS[kind].items():
        nested = isinstance(default, str) and default in DEFINITIONS
        value = make(default) if nested else default
        setattr(message, name, list(value) if isinstance(value, list) else value)
    for name, value in fields.items():
        assert hasattr(message, name), f"{kind} has no field {name}"
        setattr(message, name, value)
    return message


def header(frame: str = "odom") -> Any:
    return make("Header", frame_id=frame, stamp=make("Time", sec=100))


def ring(*points: tuple[float, float]) -> Any:
    return make("Polygon", points=[make("XYZ", x=x, y=y) for x, y in points])


def pose(x: float, y: float, yaw: float = 0.0) -> Any:
    turn = make("Quaternion", z=sin(yaw / 2), w=cos(yaw / 2))
    return make("Pose", position=make("XYZ", x=x, y=y), orientation=turn)


def xyz(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Any:
    return make("XYZ", x=x, y=y, z=z)


def verdict(data: Obstacles, x: float, y: float = 0.0) -> tuple[Verdict, Status]:
    world = World(CONFIG)
    world.receive_obstacles("obstacles", data, now=100 * NS, steady=0)
    found = questions.collide(world.snapshot(now=100 * NS, steady=0), Pose(x, y, 0.0))
    return found.verdict, found.status


def convert(kind: str, message: Any) -> Obstacles:
    (name,) = (each for each in CONVERTERS if each.endswith(f"/{kind}"))
    return CONVERTERS[name](message, CONFIG, CONFIG.sources[0])


SQUARE = ((4.0, 1.0), (4.0, -1.0), (6.0, -1.0), (6.0, 1.0))
ANGLE = ((4.0, 4.0), (4.0, -4.0), (8.0, -4.0), (8.0, -3.0), (5.0, -3.0), (5.0, 4.0))


# ---- polygons


def test_polygon() -> None:
    data = convert("PolygonStamped", make("PolygonStamped", header=header(), polygon=ring(*ANGLE)))
    assert (data.frame, data.stamp, len(data)) == ("odom", 100 * NS, 1)
    assert verdict(data, 3.0) == HIT
    assert verdict(data, 2.9) == FREE
    assert verdict(data, 7.0, 0.0) == FREE  # in the angle of the outline
    for few, status in (((), Status.TOO_FEW_POINTS), (((nan, 0.0),) * 4, Status.NON_FINITE)):
        bad = make("PolygonStamped", header=header(), polygon=ring(*few))
        assert verdict(convert("PolygonStamped", bad), 50.0) == (Verdict.UNKNOWN, status)


def test_polygon_instances_stand_beside_each_other() -> None:
    world = World(CONFIG)
    for number, x in ((7, 0.0), (8, 20.0)):
        shape = make("PolygonInstance", polygon=ring(*((a + x, b) for a, b in SQUARE)), id=number)
        message = make("PolygonInstanceStamped", header=header(), polygon=shape)
        data = convert("PolygonInstanceStamped", message)
        world.receive_obstacles("obstacles", data, now=100 * NS, steady=0)
    snapshot = world.snapshot(now=100 * NS, steady=0)
    for number, x in ((7, 5.0), (8, 25.0)):
        assert questions.collide(snapshot, Pose(x, 0.0, 0.0)).nearest_id == number


# ---- costmap_converter


def test_costmap_obstacles() -> None:
    point = make("ObstacleMsg", polygon=ring((20.0, 0.0)), radius=0.5, id=3)
    line = make("ObstacleMsg", polygon=ring((30.0, 0.0), (30.0, 9.0)), id=4)
    flat = make("ObstacleMsg", polygon=ring(*((40.0 + i, 0.0) for i in range(5))), id=5)
    moving = make("ObstacleMsg", polygon=ring(*SQUARE), id=6)
    moving.velocities.twist.linear.x, moving.velocities.twist.angular.z = 1.5, 0.2
    message = make("ObstacleArrayMsg", header=header(), obstacles=[point, line, flat, moving])
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
    same = [make("ObstacleMsg", polygon=ring((20.0 * i, 0.0)), id=-1) for i in (1, 2)]
    data = convert("ObstacleArrayMsg", make("ObstacleArrayMsg", header=header(), obstacles=same))
    assert data.ids.tolist() == [0, 1]
    assert verdict(data, 20.0) == HIT


# ---- Autoware


def thing(kind: int, number: int = 1, where: Any = None, **shape: Any) -> Any:
    found = make("PredictedObject", object_id=make("UUID", uuid=[number] * 16))
    found.shape = make("Shape", type=kind, **shape)
    found.kinematics.initial_pose_with_covariance.pose = where or pose(5.0, 0.0)
    return found


def predicted(*things: Any) -> Obstacles:
    return convert("PredictedObjects", make("PredictedObjects", header=header(), objects=things))


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
    data = predicted(thing(2, where=pose(-5.0, 0.0), footprint=ring(*ANGLE)))
    assert verdict(data, -2.0) == HIT
    assert verdict(data, 2.0, 1.0) == FREE


def test_predicted_motion() -> None:
    found = thing(0, dimensions=xyz(4.0, 2.0), where=pose(5.0, 0.0, np.pi / 2))
    found.kinematics.initial_twist_with_covariance.twist = make(
        "Twist", linear=xyz(3.0, 1.0), angular=xyz(z=0.5)
    )
    step = make("Time", nanosec=NS // 2)
    found.kinematics.predicted_paths = [
        make("PredictedPath", path=[pose(5.0, y) for y in (0.0, 1.5, 3.0)], time_step=step),
        make("PredictedPath", path=[pose(5.0, 0.0), pose(6.0, 0.0)], time_step=step),
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
    tilted = pose(5.0, 0.0)
    tilted.orientation = make("Quaternion", x=sin(0.5), w=cos(0.5))
    with pytest.raises(InputError, match="must not be tilted out of the plane by more than"):
        predicted(thing(0, where=tilted, dimensions=xyz(1.0, 1.0)))


def test_path_without_a_time_step_is_refused() -> None:
    found = thing(0, dimensions=xyz(4.0, 2.0))
    found.kinematics.predicted_paths = [make("PredictedPath", path=[pose(5.0, 0.0)] * 3)]
    with pytest.raises(InputError, match=r"^objects\[0\].predicted_paths\[0\].time_step: must be"):
        predicted(found)


# ---- vision_msgs


def test_detections_and_boxes() -> None:
    box = make("BoundingBox3D", center=pose(5.0, 0.0), size=xyz(2.0, 4.0, 1.0))
    seen = make("Detection3DArray", header=header(), detections=[make("Detection3D", bbox=box)])
    bare = make("BoundingBox3DArray", header=header(), boxes=[box])
    for data in (convert("Detection3DArray", seen), convert("BoundingBox3DArray", bare)):
        assert verdict(data, 2.9) == FREE and verdict(data, 3.0) == HIT
        assert verdict(data, 5.0, 3.1) == FREE and verdict(data, 5.0, 3.0) == HIT
    seen.detections[0].header.frame_id = "camera"
    with pytest.raises(InputError) as caught:
        convert("Detection3DArray", seen)
    assert caught.value.status is Status.UNKNOWN_FRAME


# ---- all of them


MANY: dict[str, Callable[[], Any]] = {
    "ObstacleArrayMsg": lambda: make(
        "ObstacleArrayMsg", obstacles=[make("ObstacleMsg", polygon=ring(*SQUARE))] * 41
    ),
    "PredictedObjects": lambda: make(
        "PredictedObjects", objects=[thing(0, dimensions=xyz(1.0, 1.0))] * 41
    ),
    "Detection3DArray": lambda: make(
        "Detection3DArray",
        detections=[make("Detection3D", bbox=make("BoundingBox3D", size=xyz(1.0, 1.0)))] * 41,
    ),
    "BoundingBox3DArray": lambda: make(
        "BoundingBox3DArray", boxes=[make("BoundingBox3D", size=xyz(1.0, 1.0))] * 41
    ),
}


@pytest.mark.parametrize("kind", MANY)
def test_over_the_limits_nothing_is_cut(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        convert(kind, MANY[kind]())
    assert caught.value.status is Status.LIMIT_EXCEEDED


@pytest.mark.parametrize("value", [nan, inf])
def test_number_that_is_none_makes_the_source_bad(value: float) -> None:
    good = {
        "ObstacleArrayMsg": lambda: make("ObstacleMsg", polygon=ring(*SQUARE), id=1),
        "PredictedObjects": lambda: thing(2, footprint=ring(*SQUARE)),
    }
    spoils: list[tuple[str, Callable[[Any], None]]] = [
        ("ObstacleArrayMsg", lambda m: setattr(m.polygon.points[1], "y", value)),
        ("ObstacleArrayMsg", lambda m: setattr(m, "radius", value)),
        ("PredictedObjects", lambda m: setattr(m.shape.footprint.points[0], "x", value)),
        (
            "PredictedObjects",
            lambda m: setattr(m.kinematics.initial_pose_with_covariance.pose.position, "x", value),
        ),
    ]
    for kind, spoil in spoils:
        message = good[kind]()
        spoil(message)
        field = "objects" if kind == "PredictedObjects" else "obstacles"
        whole = make(kind, header=header(), **{field: [message]})
        assert status_of(kind, whole) is Status.NON_FINITE, kind


def status_of(kind: str, message: Any) -> Status:
    """Why a message is not used, whether its adapter finds out or the world."""
    try:
        return verdict(convert(kind, message), 50.0)[1]
    except InputError as error:
        return error.status
