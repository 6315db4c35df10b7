# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of messages to obstacles: one function for each message type of a source.

To add a type, write a function here and add it to `CONVERTERS`; the node and replay both use it.
Messages of other packages are read one number at a time, which is slow. Their sizes are therefore
checked first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import cos, inf, isfinite, nan, nextafter, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..verdict import Status
from . import fields
from .config import OBSTACLE_ARRAY, ODOMETRY, Config
from .frames import Pose, lost_in_sum
from .obstacles import Footprint, Obstacles
from .twist import Twist

__all__ = ["CONVERTERS", "footprint", "twist"]

Floats = npt.NDArray[np.float64]
Convert = Callable[[Any, Config], Obstacles]

BOUNDING_BOX, CYLINDER, POLYGON = 0, 1, 2  # autoware_perception_msgs/Shape
MAX_PATHS = 16  # predicted paths of one object
_UNKNOWN = (nan, nan, nan)


def footprint(message: Any, config: Config) -> Footprint:
    """Convert a geometry_msgs/PolygonStamped: the outline of the vehicle.

    At most `max_points_per_obstacle` + 1 points are converted. The extra point makes the check of
    the limit fail.
    """
    points = message.polygon.points[: config.max_points_per_obstacle + 1]
    xy = np.array([(point.x, point.y) for point in points], dtype=np.float64)
    stamp = fields.nanoseconds(message.header.stamp)
    return Footprint(message.header.frame_id, stamp, xy.reshape(-1, 2))


def twist(message: Any, config: Config) -> Twist:
    """Convert a message of the type `Config.twist_type`: the twist of the vehicle.

    Raises
    ------
    InputError
        NON_FINITE: a value is NaN or infinite.
    """
    is_odometry = config.twist_type == ODOMETRY
    frame = message.child_frame_id if is_odometry else message.header.frame_id
    found = message.twist.twist if is_odometry else message.twist
    prefix = "twist.twist" if is_odometry else "twist"
    values = {
        "linear.x": float(found.linear.x),
        "linear.y": float(found.linear.y),
        "angular.z": float(found.angular.z),
    }
    for name, value in values.items():
        if not isfinite(value):
            rule = f"must be finite (got {value})"
            raise InputError(Status.NON_FINITE, f"{prefix}.{name}", None, rule)
    return Twist(frame, fields.nanoseconds(message.header.stamp), *values.values())


def obstacle_array(message: Any, config: Config) -> Obstacles:
    """Convert a gjk_collision/ObstacleArray. The arrays are neither copied nor checked."""
    del config  # the receiver checks the list
    return fields.obstacles(message)


def polygon(message: Any, config: Config) -> Obstacles:
    """Convert a geometry_msgs/PolygonStamped: one outline, the only obstacle of its sender."""
    found = _Gathered(config)
    points = found.points("polygon.points", message.polygon.points)
    found.add(0, points, kind=_kind(points))
    return found.obstacles(message.header)


def polygon_instance(message: Any, config: Config) -> Obstacles:
    """Convert a geometry_msgs/PolygonInstanceStamped: one of several outlines with an id.

    Each id counts as a sender: its outline is used until the next message with this id, and only
    while it is fresh.
    """
    found = _Gathered(config)
    points = found.points("polygon.polygon.points", message.polygon.polygon.points)
    found.add(message.polygon.id, points, kind=_kind(points))
    return found.obstacles(message.header, source=f"instance {message.polygon.id}")


def costmap_obstacles(message: Any, config: Config) -> Obstacles:
    """Convert a costmap_converter_msgs/ObstacleArrayMsg: outlines in the frame of the header.

    A velocity of zero counts as unknown, because converters without velocities send zero.
    """
    found = _Gathered(config)
    found.expect("obstacles", len(message.obstacles))
    for i, each in enumerate(message.obstacles):
        name = f"obstacles[{i}]"
        _check_frame(name, each.header, message.header)
        points = found.points(f"{name}.polygon.points", each.polygon.points)
        # The velocity is that of the centroid, so the obstacle's frame is there. Its coordinates
        # are rounded to float32 like those of the points. The rounding error of the differences is
        # added to the radius.
        centre, radius = np.zeros(2), each.radius
        if len(points) and np.isfinite(points).all():
            centre = points.mean(axis=0).astype(np.float32).astype(np.float64)
            lost = lost_in_sum(points, -centre).sum(axis=1).max()
            if lost and radius >= 0.0:  # a negative radius is refused later, as it was sent
                radius = nextafter(radius + nextafter(lost, inf), inf)
        linear, angular = each.velocities.twist.linear, each.velocities.twist.angular
        velocity = (linear.x, linear.y, angular.z)
        found.add(
            each.id,
            points - centre,
            kind=_kind(points),
            radius=radius,
            pose=Pose(float(centre[0]), float(centre[1])),
            velocity=velocity if any(velocity) else _UNKNOWN,
        )
    return found.obstacles(message.header)


def predicted_objects(message: Any, config: Config) -> Obstacles:
    """Convert an autoware_perception_msgs/PredictedObjects: moving boxes, cylinders, outlines.

    Each predicted path of an object is one obstacle, whatever its probability. The id of the
    obstacle is the first 59 bits of the UUID, followed by 4 bits for the number of the path.
    """
    found = _Gathered(config)
    found.expect("objects", len(message.objects))
    for i, each in enumerate(message.objects):
        name, motion = f"objects[{i}]", each.kinematics
        place = fields.pose(motion.initial_pose_with_covariance.pose, f"{name} pose")
        points, radius = _shape(found, f"{name}.shape", each.shape)
        # Autoware gives the twist in the object's own frame.
        twist, c, s = motion.initial_twist_with_covariance.twist, cos(place.yaw), sin(place.yaw)
        velocity = (
            c * twist.linear.x - s * twist.linear.y,
            s * twist.linear.x + c * twist.linear.y,
            twist.angular.z,
        )
        identity = int.from_bytes(bytes(bytearray(each.object_id.uuid))[:8], "big") >> 5 << 4
        paths = motion.predicted_paths
        if len(paths) > MAX_PATHS:
            _refuse(f"{name}.predicted_paths", f"{len(paths)} paths, limit {MAX_PATHS}")
        for k, path in enumerate(paths or [None]):
            found.expect("objects", len(found.ids) + 1)
            steps = () if path is None else path.path
            if len(steps) > config.max_poses:
                rule = f"{len(steps)} poses, limit {config.max_poses} (max_poses)"
                _refuse(f"{name}.predicted_paths[{k}]", rule)
            found.add(
                identity + k,
                points,
                kind=_kind(points),
                radius=radius,
                pose=place,
                velocity=velocity,
                path=[fields.pose(step, f"{name}.predicted_paths[{k}]") for step in steps],
                step=0.0 if path is None else path.time_step.sec + path.time_step.nanosec * 1e-9,
            )
    return found.obstacles(message.header)


def detections(message: Any, config: Config) -> Obstacles:
    """Convert a vision_msgs/Detection3DArray: boxes, as rectangles of their length and width."""
    for i, each in enumerate(message.detections[: config.max_obstacles + 1]):
        _check_frame(f"detections[{i}]", each.header, message.header)
    boxes = [each.bbox for each in message.detections[: config.max_obstacles + 1]]
    return _boxes("detections", message.header, boxes, config)


def boxes(message: Any, config: Config) -> Obstacles:
    """Convert a vision_msgs/BoundingBox3DArray: boxes, as rectangles of their length and width."""
    return _boxes("boxes", message.header, message.boxes, config)


CONVERTERS: dict[str, Convert] = {
    OBSTACLE_ARRAY: obstacle_array,
    "geometry_msgs/msg/PolygonStamped": polygon,
    "geometry_msgs/msg/PolygonInstanceStamped": polygon_instance,
    "costmap_converter_msgs/msg/ObstacleArrayMsg": costmap_obstacles,
    "autoware_perception_msgs/msg/PredictedObjects": predicted_objects,
    "vision_msgs/msg/Detection3DArray": detections,
    "vision_msgs/msg/BoundingBox3DArray": boxes,
}


@dataclass
class _Gathered:
    """Collects the obstacles of one message."""

    config: Config
    ids: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    outlines: list[Floats] = field(default_factory=list)
    radii: list[float] = field(default_factory=list)
    poses: list[Pose] = field(default_factory=list)
    velocities: list[Sequence[float]] = field(default_factory=list)
    paths: list[list[Pose]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)

    def expect(self, name: str, count: int) -> None:
        """Raise an error if there are more obstacles than the limit."""
        if count > self.config.max_obstacles:
            _refuse(name, f"{count} obstacles, limit {self.config.max_obstacles} (max_obstacles)")

    def points(self, name: str, points: Any) -> Floats:
        """Return the x and y of points as an array (n, 2); their number is checked."""
        limit = self.config.max_points_per_obstacle
        if len(points) > limit:
            rule = f"{len(points)} points in this obstacle, limit {limit}"
            _refuse(name, f"{rule} (max_points_per_obstacle)")
        xy = [(point.x, point.y) for point in points]
        return np.array(xy, dtype=np.float64).reshape(-1, 2)

    def add(
        self,
        identity: int,
        points: Floats,
        *,
        kind: int = 0,
        radius: float = 0.0,
        pose: Pose = Pose(),  # noqa: B008
        velocity: Sequence[float] = _UNKNOWN,
        path: Sequence[Pose] = (),
        step: float = 0.0,
    ) -> None:
        """Add an obstacle. `path` has its predicted pose every `step` seconds, from the stamp."""
        self.ids.append(identity)
        self.kinds.append(kind)
        self.outlines.append(points)
        self.radii.append(radius)
        self.poses.append(pose)
        self.velocities.append(velocity)
        self.paths.append(list(path))
        self.steps.append(step)

    def obstacles(self, header: Any, source: str = "") -> Obstacles:
        """Return the added obstacles. The values are checked later, by `Obstacles.check`."""
        ids = np.array(self.ids, dtype=np.int64)
        if len(np.unique(ids)) < len(ids) or (ids == -1).any():
            ids = np.arange(len(ids))  # the ids of the sender cannot be used
        times = [k * step for path, step in zip(self.paths, self.steps, strict=True)
                 for k in range(len(path))]  # fmt: skip
        counts = [len(path) for path in self.paths]
        return Obstacles(
            frame=header.frame_id,
            stamp=fields.nanoseconds(header.stamp),
            source=source,
            ids=ids,
            kinds=np.array(self.kinds, dtype=np.uint8),
            offsets=np.cumsum([0, *map(len, self.outlines)]),
            xy=np.concatenate([np.empty((0, 2)), *self.outlines]).ravel(),
            radius=np.array(self.radii, dtype=np.float64),
            poses=np.array(self.poses, dtype=np.float64).ravel(),
            velocities=np.array(self.velocities, dtype=np.float64).ravel(),
            path_offsets=np.cumsum([0, *counts]),
            path_times=np.array(times, dtype=np.float64),
            path_poses=np.array(list(chain(*self.paths)), dtype=np.float64).ravel(),
        )


def _shape(found: _Gathered, name: str, shape: Any) -> tuple[Floats, float]:
    """Return the points and the radius of an Autoware shape, in the frame of the object."""
    size = shape.dimensions
    if shape.type == BOUNDING_BOX:
        return _rectangle(name, size.x, size.y), 0.0
    if shape.type == CYLINDER:
        return np.zeros((1, 2)), _extent(f"{name}.dimensions", size.x) / 2.0
    if shape.type == POLYGON:
        return found.points(f"{name}.footprint.points", shape.footprint.points), 0.0
    rule = f"must be 0 (bounding box), 1 (cylinder) or 2 (polygon) (got {shape.type})"
    raise InputError(Status.INVALID_INPUT, f"{name}.type", None, rule)


def _boxes(name: str, header: Any, found_boxes: Sequence[Any], config: Config) -> Obstacles:
    found = _Gathered(config)
    found.expect(name, len(found_boxes))
    for i, box in enumerate(found_boxes):
        pose = fields.pose(box.center, f"{name}[{i}] center")
        found.add(i, _rectangle(f"{name}[{i}]", box.size.x, box.size.y), pose=pose)
    return found.obstacles(header)


def _rectangle(name: str, length: float, width: float) -> Floats:
    x, y = _extent(f"{name} length", length) / 2.0, _extent(f"{name} width", width) / 2.0
    return np.array([(x, y), (-x, y), (-x, -y), (x, -y)])


def _extent(name: str, value: float) -> float:
    if not value > 0.0:  # an extent that the sender did not set, or NaN
        raise InputError(Status.INVALID_INPUT, name, None, f"must be positive (got {value})")
    return value


def _kind(points: Floats) -> int:
    """Return the kind of an obstacle with these points: 1 for an outline, 0 for a convex hull.

    Up to three points, and points on one line, are the same set in both cases: their kind is 0.
    """
    if len(points) <= 3 or not np.isfinite(points).all():
        return 0
    arms = points[1:] - points[0]
    far = arms[np.argmax(np.abs(arms).max(axis=1))]
    return int(np.any(arms[:, 0] * far[1] - arms[:, 1] * far[0]))


def _check_frame(name: str, header: Any, whole: Any) -> None:
    if header.frame_id not in ("", whole.frame_id):
        rule = f"must be empty or the frame of the message header, '{whole.frame_id}'"
        rule += f" (got '{header.frame_id}')"
        raise InputError(Status.UNKNOWN_FRAME, f"{name}.header.frame_id", None, rule)


def _refuse(name: str, rule: str) -> None:
    raise InputError(Status.LIMIT_EXCEEDED, name, None, rule)
