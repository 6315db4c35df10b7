# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of autoware_perception_msgs: boxes, cylinders and outlines, most of them moving."""

from math import cos, inf, nextafter, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..frames import fields
from ..frames.poses import Pose
from ..parameters.config import Config
from .gathered import (
    UNKNOWN,
    Gathered,
    finite,
    kind_of,
    positive,
    rectangle,
    speeds,
    uuid_number,
)

__all__ = ["detected_objects", "predicted_objects", "tracked_objects"]

Floats = npt.NDArray[np.float64]

BOUNDING_BOX, CYLINDER, POLYGON = 0, 1, 2  # Shape.type
# DetectedObjectKinematics.orientation_availability, and the same of TrackedObjectKinematics
UNAVAILABLE, SIGN_UNKNOWN, AVAILABLE = 0, 1, 2
MAX_PATHS = 16  # predicted paths of one object


def detected_objects(message: Any, config: Config) -> Obstacles:
    """Convert an autoware_perception_msgs/DetectedObjects: boxes, cylinders, outlines.

    The velocity of an object is used if `has_twist` is true. An object without a known orientation
    becomes a circle. The ids are the indices of the objects.
    """
    found = Gathered(config)
    found.expect("objects", len(message.objects))
    for i, each in enumerate(message.objects):
        motion = each.kinematics
        twist = motion.twist_with_covariance.twist if motion.has_twist else None
        _add_oriented(found, f"objects[{i}]", i, each, twist)
    return found.obstacles(message.header)


def tracked_objects(message: Any, config: Config) -> Obstacles:
    """Convert an autoware_perception_msgs/TrackedObjects: moving boxes, cylinders, outlines.

    An object without a known orientation becomes a circle. The ids are those of
    `predicted_objects`.
    """
    found = Gathered(config)
    found.expect("objects", len(message.objects))
    for i, each in enumerate(message.objects):
        twist = each.kinematics.twist_with_covariance.twist
        _add_oriented(found, f"objects[{i}]", uuid_number(each.object_id), each, twist)
    return found.obstacles(message.header)


def predicted_objects(message: Any, config: Config) -> Obstacles:
    """Convert an autoware_perception_msgs/PredictedObjects: moving boxes, cylinders, outlines.

    Each predicted path of an object is one obstacle, whatever its probability. The id of the
    obstacle is the first 59 bits of the UUID, followed by 4 bits for the number of the path.
    """
    found = Gathered(config)
    found.expect("objects", len(message.objects))
    for i, each in enumerate(message.objects):
        name, motion = f"objects[{i}]", each.kinematics
        start = motion.initial_pose_with_covariance.pose
        place = fields.pose(start, f"{name} pose")
        points, radius = _shape(found, f"{name}.shape", each.shape)
        twist = motion.initial_twist_with_covariance.twist
        velocity = _velocity(
            f"{name}.kinematics.initial_twist_with_covariance.twist", twist, place
        )
        identity = uuid_number(each.object_id)
        paths = motion.predicted_paths
        if len(paths) > MAX_PATHS:
            rule = f"{len(paths)} paths, limit {MAX_PATHS}"
            refuse(f"{name}.predicted_paths", rule, status=Status.LIMIT_EXCEEDED)
        for k, path in enumerate(paths or [None]):
            found.expect("objects", len(found.ids) + 1)
            steps = () if path is None else path.path
            if len(steps) > config.max_poses:
                rule = f"{len(steps)} poses, limit {config.max_poses} (max_poses)"
                refuse(f"{name}.predicted_paths[{k}]", rule, status=Status.LIMIT_EXCEEDED)
            interval = 0.0 if path is None else path.time_step.sec + path.time_step.nanosec * 1e-9
            if len(steps) > 1:
                positive(f"{name}.predicted_paths[{k}].time_step", interval)
            found.add(
                identity + k,
                points,
                kind=kind_of(points),
                radius=radius,
                pose=place,
                velocity=velocity,
                height=finite(f"{name}.shape.dimensions.z", each.shape.dimensions.z),
                path=[fields.pose(step, f"{name}.predicted_paths[{k}]") for step in steps],
                z=max(abs(at.position.z) for at in (start, *steps)),
                step=interval,
            )
    return found.obstacles(message.header)


def _add_oriented(found: Gathered, name: str, identity: int, each: Any, twist: Any) -> None:
    """Add an object whose orientation may be unknown; `twist` is None if it has none.

    If the sign of the orientation is not known, the front may be the rear: an outline is replaced
    by the convex hull of both. If the orientation is not known, the shape is replaced by a circle
    that contains it in every orientation. In both cases the velocity counts as unknown, because it
    is given in the frame of the object.
    """
    motion = each.kinematics
    points, radius = _shape(found, f"{name}.shape", each.shape)
    known, at = motion.orientation_availability, motion.pose_with_covariance.pose
    if known == UNAVAILABLE:
        x, y = (
            finite(f"{name}.kinematics.pose_with_covariance.pose.position.{axis}", value)
            for axis, value in (("x", at.position.x), ("y", at.position.y))
        )
        place = Pose(float(x), float(y))
        far = np.abs(points) * (1.0 + 2.0**-50)
        radius = nextafter(radius + float(np.hypot(*far.T).max(initial=0.0)), inf)
        points = points[:1] * 0.0
    elif known in (SIGN_UNKNOWN, AVAILABLE):
        place = fields.pose(at, f"{name} pose")
    else:
        rule = "must be 0 (unavailable), 1 (sign unknown) or 2 (available)"
        refuse(f"{name}.kinematics.orientation_availability", rule, known)
    kind = kind_of(points)
    if known == SIGN_UNKNOWN and each.shape.type == POLYGON:
        if 2 * len(points) > (limit := found.config.max_points_per_obstacle):
            rule = f"{len(points)} points, limit {limit // 2} if the sign of the orientation is "
            rule += "not known (half of max_points_per_obstacle)"
            refuse(f"{name}.shape.footprint.points", rule, status=Status.LIMIT_EXCEEDED)
        points, kind = np.concatenate([points, -points]), 0
    velocity = UNKNOWN
    if twist is not None:
        moving = _velocity(f"{name}.kinematics.twist_with_covariance.twist", twist, place)
        velocity = moving if known == AVAILABLE else UNKNOWN
    height = finite(f"{name}.shape.dimensions.z", each.shape.dimensions.z)
    found.add(
        identity, points, kind=kind, radius=radius, pose=place, velocity=velocity, height=height,
        z=at.position.z,
    )  # fmt: skip


def _velocity(name: str, twist: Any, place: Pose) -> tuple[float, float, float]:
    """Return the velocity in the frame of the header. Autoware gives it in the object's frame."""
    vx, vy, wz = speeds(name, twist)
    c, s = cos(place.yaw), sin(place.yaw)
    return c * vx - s * vy, s * vx + c * vy, wz


def _shape(found: Gathered, name: str, shape: Any) -> tuple[Floats, float]:
    """Return the points and the radius of an Autoware shape, in the frame of the object."""
    size = shape.dimensions
    if shape.type == BOUNDING_BOX:
        return rectangle(f"{name}.dimensions", size), 0.0
    if shape.type == CYLINDER:
        return np.zeros((1, 2)), positive(f"{name}.dimensions.x", size.x) / 2.0
    if shape.type == POLYGON:
        outline = found.points(f"{name}.footprint.points", shape.footprint.points)
        if len(outline) < 3:
            rule = "an outline must have at least 3 points"
            refuse(f"{name}.footprint.points", rule, len(outline), status=Status.TOO_FEW_POINTS)
        return outline, 0.0
    refuse(f"{name}.type", "must be 0 (bounding box), 1 (cylinder) or 2 (polygon)", shape.type)
