# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The broad phases that a scene is measured beside: the same boxes, asked from Python.

shapely answers whole batches in one call. FCL and commonroad-drivability-checker have no batch: a
call per pose is what their users pay. FCL is 3D and gets boxes 1 m high.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

Floats = npt.NDArray[np.float64]
Answers = npt.NDArray[Any]


def mistakes(
    hits: Answers, outlines: Answers, intersects: Callable[[Answers, Answers], Answers], by: float
) -> Answers:
    """Return the indices of the wrong verdicts, flat, by shapely alone.

    A verdict is wrong if shapely contradicts it for the outline, and also for the outline that is
    grown by `by` [m] if the verdict is a hit, or shrunk if it is not.

    Parameters
    ----------
    hits : ndarray of bool, shape (n,)
        Verdicts.
    outlines : ndarray of shapely geometries, shape (n,)
        The vehicle.
    intersects : callable
        Whether outlines hit; it takes outlines and their indices.
    """
    hits, outlines = hits.ravel(), outlines.ravel()
    differ = np.flatnonzero(hits != intersects(outlines, np.arange(len(hits))))
    moved = shapely.buffer(outlines[differ], np.where(hits[differ], by, -by))
    wrong: Answers = differ[hits[differ] != intersects(moved, differ)]
    return wrong


def box(sizes: Any) -> Floats:
    """Corners (..., 4, 2) of boxes around the origin, of their lengths and widths (..., 2)."""
    signs = 0.5 * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
    return np.asarray(sizes)[..., None, :] * signs


def placed(points: Floats, poses: Floats) -> Floats:
    """Points (..., k, 2) at poses (..., 3)."""
    c, s = np.cos(poses[..., 2:]), np.sin(poses[..., 2:])
    x, y = points[..., 0], points[..., 1]
    return np.stack([poses[..., :1] + c * x - s * y, poses[..., 1:2] + s * x + c * y], axis=-1)


class Shapely:
    """STRtree: prepared outlines that intersect, and the nearest."""

    name = "shapely STRtree"
    module = "shapely"
    poses_per_pass = 2_000

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        self.ego = box(ego)
        self.tree = shapely.STRtree(shapely.polygons(placed(box(sizes), poses)))
        self.tree.query(shapely.Point(0, 0))  # it is built by the first query

    def outlines(self, poses: Floats) -> Answers:
        """Return the ego at the poses."""
        return np.asarray(shapely.polygons(placed(self.ego, poses)))

    def collide(self, poses: Floats) -> Answers:
        """Whether it hits anything, shape (n,)."""
        return self.hits(self.outlines(poses))

    def hits(self, outlines: Answers) -> Answers:
        """Whether outlines hit anything, shape (n,)."""
        hits = np.zeros(len(outlines), dtype=bool)
        # It prepares the outlines itself.
        hits[self.tree.query(outlines, predicate="intersects")[0]] = True
        return hits

    def distance(self, poses: Floats) -> Answers:
        """Distance to the nearest, 0 where they overlap, shape (n,) [m]."""
        (ego, _), distances = self.tree.query_nearest(
            self.outlines(poses), return_distance=True, all_matches=False
        )
        found = np.full(len(poses), np.inf)
        found[ego] = distances
        return found


class Fcl:
    """FCL's DynamicAABBTreeCollisionManager."""

    name = "FCL AABB tree"
    module = "fcl"
    poses_per_pass = 200

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        self.library = import_module(self.module)
        self.obstacles = [self._box(*each) for each in zip(sizes, poses, strict=True)]
        self.manager = self.library.DynamicAABBTreeCollisionManager()
        self.manager.registerObjects(self.obstacles)
        self.manager.setup()
        self.ego = self._box(ego, poses[0])

    def _placed(self, pose: Floats) -> Any:
        c, s = np.cos(pose[2]), np.sin(pose[2])
        rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return self.library.Transform(rotation, np.array([pose[0], pose[1], 0.0]))

    def _box(self, size: Any, pose: Floats) -> Any:
        return self.library.CollisionObject(self.library.Box(*size, 1.0), self._placed(pose))

    def collide(self, poses: Floats) -> Answers:
        """Whether it hits anything, shape (n,)."""
        hits = []
        for pose in poses:
            self.ego.setTransform(self._placed(pose))
            found = self.library.CollisionData()
            self.manager.collide(self.ego, found, self.library.defaultCollisionCallback)
            hits.append(found.result.is_collision)
        return np.array(hits)

    def distance(self, poses: Floats) -> Answers:
        """Distance to the nearest, 0 where they overlap, shape (n,) [m]."""
        gaps = []
        for pose in poses:
            self.ego.setTransform(self._placed(pose))
            found = self.library.DistanceData()
            self.manager.distance(self.ego, found, self.library.defaultDistanceCallback)
            gaps.append(found.result.min_distance)
        return np.maximum(0.0, gaps)


class CommonRoad:
    """CollisionChecker of commonroad-drivability-checker; it has no distance."""

    name = "commonroad"
    module = "commonroad_dc"
    poses_per_pass = 200
    distance = None

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        from commonroad_dc import pycrcc

        self.box, self.ego = pycrcc.RectOBB, ego
        self.checker = pycrcc.CollisionChecker()
        for (length, width), (x, y, yaw) in zip(sizes, poses, strict=True):
            self.checker.add_collision_object(self.box(0.5 * length, 0.5 * width, yaw, x, y))
        self.collide(poses[:1])  # it is built by the first query

    def collide(self, poses: Floats) -> Answers:
        """Whether it hits anything, shape (n,)."""
        length, width = 0.5 * self.ego[0], 0.5 * self.ego[1]
        box, hit = self.box, self.checker.collide
        return np.array([hit(box(length, width, yaw, x, y)) for x, y, yaw in poses])


EACH = (Shapely, Fcl, CommonRoad)


def installed() -> tuple[list[Any], list[str]]:
    """Return the peers that are, and the names of those that are not."""
    there = [peer for peer in EACH if find_spec(peer.module)]
    return there, [peer.name for peer in EACH if peer not in there]
