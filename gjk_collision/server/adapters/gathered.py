# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Collection of the obstacles of one message whose numbers are read one at a time.

This is slow, so the sizes of a message are checked first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf, isfinite, isinf, nan, nextafter, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..frames import fields
from ..frames.poses import Pose
from ..parameters.config import Config

__all__ = [
    "UNKNOWN", "Gathered", "check_header", "finite", "kind_of", "positive", "rectangle", "speeds",
    "uuid_number",
]  # fmt: skip

Floats = npt.NDArray[np.float64]

UNKNOWN = (nan, nan, nan)  # a velocity that the sender does not know


@dataclass
class Gathered:
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
    # Distances from the plane of the header's frame [m]: of points, and of what has them.
    z_of_points: list[float] = field(default_factory=list)
    z_of_poses: list[float] = field(default_factory=list)

    def expect(self, name: str, count: int) -> None:
        """Raise an error if there are more obstacles than the limit."""
        if count > self.config.max_obstacles:
            rule = f"{count} obstacles, limit {self.config.max_obstacles} (max_obstacles)"
            refuse(name, rule, status=Status.LIMIT_EXCEEDED)

    def points(self, name: str, points: Any) -> Floats:
        """Return the x and y of points as an array (n, 2); they are finite, and not too many."""
        limit = self.config.max_points_per_obstacle
        if len(points) > limit:
            rule = f"{len(points)} points in this obstacle, limit {limit}"
            refuse(name, f"{rule} (max_points_per_obstacle)", status=Status.LIMIT_EXCEEDED)
        if not len(points):
            refuse(name, "must have at least one point", status=Status.TOO_FEW_POINTS)
        xyz = np.array([(point.x, point.y, point.z) for point in points], dtype=np.float64)
        xy = xyz[:, :2]
        self.z_of_points.append(float(np.abs(xyz[:, 2]).max()))
        bad = ~np.isfinite(xy).all(axis=1)
        if bad.any():
            i = int(np.argmax(bad))
            rule = "x and y must be finite"
            refuse(name, rule, tuple(xy[i].tolist()), index=i, status=Status.NON_FINITE)
        return xy

    def add(
        self,
        identity: int,
        points: Floats,
        *,
        kind: int = 0,
        radius: float = 0.0,
        pose: Pose = Pose(),  # noqa: B008
        velocity: Sequence[float] = UNKNOWN,
        path: Sequence[Pose] = (),
        step: float = 0.0,
        height: float = 0.0,
        z: float = 0.0,
    ) -> None:
        """Add an obstacle. `path` has its predicted pose every `step` seconds, from the stamp.

        `height` is its extent along its z axis [m], and `z` the largest height of its origin. If
        it is tilted, its radius grows, so that it contains what is seen from above.
        """
        z = abs(z) + abs(height) / 2.0
        if steepest := max(each.tilt for each in (pose, *path)):
            reach = float(np.hypot(*points.T).max(initial=0.0))
            z += sin(steepest) * reach
            grown = max(each.tilt_error(reach, abs(height) / 2.0) for each in (pose, *path))
            radius = nextafter(radius + grown, inf)
        self.z_of_poses.append(z)
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
            height=sum(
                float(np.max([0.0, *each])) for each in (self.z_of_points, self.z_of_poses)
            ),
        )


def rectangle(name: str, size: Any) -> Floats:
    """Return the corners (4, 2) of a rectangle around the origin; `size` has its x and y [m]."""
    x, y = positive(f"{name}.x", size.x) / 2.0, positive(f"{name}.y", size.y) / 2.0
    return np.array([(x, y), (-x, y), (-x, -y), (x, -y)])


def positive(name: str, value: float) -> float:
    """Check that a number, such as the length of a side, is positive and finite."""
    if not value > 0.0:  # a number that the sender did not set, or NaN
        refuse(name, "must be positive", value)
    return finite(name, value)


def finite(name: str, value: float) -> float:
    """Check that a number is finite."""
    if not isfinite(value):
        refuse(name, "must be finite", value, status=Status.NON_FINITE)
    return value


def speeds(name: str, twist: Any) -> tuple[float, float, float]:
    """Return vx, vy and wz of a geometry_msgs/Twist; NaN where not known."""
    values = twist.linear.x, twist.linear.y, twist.angular.z
    for part, value in zip(("linear.x", "linear.y", "angular.z"), values, strict=True):
        if isinf(value):
            rule = "must be finite, or NaN where not known"
            refuse(f"{name}.{part}", rule, value, status=Status.NON_FINITE)
    return values


def uuid_number(uuid: Any) -> int:
    """Return the id of an obstacle: the first 59 bits of a UUID, then four zero bits."""
    return int.from_bytes(bytes(bytearray(uuid.uuid))[:8], "big") >> 5 << 4


def kind_of(points: Floats) -> int:
    """Return the kind of an obstacle with these points: 1 for an outline, 0 for a convex hull.

    Up to three points, and points on one line, are the same set in both cases: their kind is 0.
    """
    if len(points) <= 3 or not np.isfinite(points).all():
        return 0
    arms = points[1:] - points[0]
    far = arms[np.argmax(np.abs(arms).max(axis=1))]
    return int(np.any(arms[:, 0] * far[1] - arms[:, 1] * far[0]))


def check_header(name: str, header: Any, whole: Any) -> None:
    """Check that the header of an object names no other frame or stamp than that of the message.

    Its place at another time is not known, because the object may have moved since.
    """
    if header.frame_id not in ("", whole.frame_id):
        rule = f"must be empty or the frame of the message header, '{whole.frame_id}'"
        rule += f" (got '{header.frame_id}')"
        refuse(f"{name}.header.frame_id", rule, status=Status.UNKNOWN_FRAME)
    stamp = fields.nanoseconds(header.stamp)
    if stamp not in (0, fields.nanoseconds(whole.stamp)):
        rule = "must be 0 or the stamp of the message header, "
        rule += f"{whole.stamp.sec}.{whole.stamp.nanosec:09} s (got {stamp * 1e-9:.9f} s)"
        refuse(f"{name}.header.stamp", rule)
