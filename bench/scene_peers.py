# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The broad phases that a scene is measured beside: the same boxes, asked from Python.

shapely answers whole batches in one call. Coal, FCL and commonroad-drivability-checker have no
batch: a call per pose is what their users pay. The 3D ones get boxes 1 m high.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Answers = npt.NDArray[Any]


def corners(poses: Floats, sizes: Floats) -> Floats:
    """Corners of boxes, shape (n, 4, 2)."""
    signs = 0.5 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    local = signs[None] * sizes[:, None]
    c, s = np.cos(poses[:, 2])[:, None], np.sin(poses[:, 2])[:, None]
    turned = np.stack([c * local[..., 0] - s * local[..., 1],
                       s * local[..., 0] + c * local[..., 1]], axis=-1)  # fmt: skip
    return turned + poses[:, None, :2]


class Shapely:
    """STRtree: prepared outlines that intersect, and the nearest."""

    name = "shapely STRtree"
    module = "shapely"
    poses_per_pass = 2_000

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        import shapely

        self.shapely, self.ego = shapely, ego
        self.tree = shapely.STRtree(shapely.polygons(corners(poses, sizes)))
        self.tree.query(shapely.Point(0, 0))  # it is built by the first query

    def outlines(self, poses: Floats) -> npt.NDArray[np.object_]:
        """Return the ego at the poses."""
        outlines = self.shapely.polygons(corners(poses, np.tile(self.ego, (len(poses), 1))))
        return np.asarray(outlines)

    def collide(self, poses: Floats) -> Answers:
        """Whether it hits anything, shape (n,)."""
        hits = np.zeros(len(poses), dtype=bool)
        # It prepares the outlines itself.
        hits[self.tree.query(self.outlines(poses), predicate="intersects")[0]] = True
        return hits

    def distance(self, poses: Floats) -> Answers:
        """Distance to the nearest, 0 where they overlap, shape (n,) [m]."""
        (ego, _), distances = self.tree.query_nearest(
            self.outlines(poses), return_distance=True, all_matches=False
        )
        found = np.full(len(poses), np.inf)
        found[ego] = distances
        return found


def rotation(yaw: float) -> Floats:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


class Coal:
    """DynamicAABBTreeCollisionManager of Coal."""

    name = "Coal AABB tree"
    module = "coal"
    poses_per_pass = 200

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        import coal

        self.coal = coal
        self.obstacles = [
            coal.CollisionObject(coal.Box(*size, 1.0), self.placed(pose))
            for size, pose in zip(sizes, poses, strict=True)
        ]
        self.manager = coal.DynamicAABBTreeCollisionManager()
        for obstacle in self.obstacles:
            self.manager.registerObject(obstacle)
        self.manager.setup()
        self.ego = coal.CollisionObject(coal.Box(*ego, 1.0), self.placed(poses[0]))

    def placed(self, pose: Floats) -> Any:
        """Return a pose as Coal has it."""
        return self.coal.Transform3s(rotation(pose[2]), np.array([pose[0], pose[1], 0.0]))

    def ask(self, poses: Floats, callback: str, query: str) -> list[Any]:
        """Return the result of a query of the manager at each pose."""
        results = []
        for pose in poses:
            self.ego.setTransform(self.placed(pose))
            self.ego.computeAABB()
            found = getattr(self.coal, callback)()
            getattr(self.manager, query)(self.ego, found)
            results.append(found.data.result)
        return results

    def collide(self, poses: Floats) -> Answers:
        """Whether it hits anything, shape (n,)."""
        found = self.ask(poses, "CollisionCallBackDefault", "collide")
        return np.array([each.isCollision() for each in found])

    def distance(self, poses: Floats) -> Answers:
        """Distance to the nearest, 0 where they overlap, shape (n,) [m]."""
        found = self.ask(poses, "DistanceCallBackDefault", "distance")
        return np.maximum(0.0, [each.min_distance for each in found])


class Fcl:
    """DynamicAABBTreeCollisionManager of FCL."""

    name = "FCL AABB tree"
    module = "fcl"
    poses_per_pass = 200

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        import fcl

        self.fcl = fcl
        self.obstacles = [
            fcl.CollisionObject(fcl.Box(*size, 1.0), self.placed(pose))
            for size, pose in zip(sizes, poses, strict=True)
        ]
        self.manager = fcl.DynamicAABBTreeCollisionManager()
        self.manager.registerObjects(self.obstacles)
        self.manager.setup()
        self.ego = fcl.CollisionObject(fcl.Box(*ego, 1.0), self.placed(poses[0]))

    def placed(self, pose: Floats) -> Any:
        """Return a pose as FCL has it."""
        return self.fcl.Transform(rotation(pose[2]), np.array([pose[0], pose[1], 0.0]))

    def ask(self, poses: Floats, data: Any, query: Any, callback: Any) -> list[Any]:
        """Return the result of a query of the manager at each pose."""
        results = []
        for pose in poses:
            self.ego.setTransform(self.placed(pose))
            found = data()
            query(self.ego, found, callback)
            results.append(found.result)
        return results

    def collide(self, poses: Floats) -> Answers:
        """Whether it hits anything, shape (n,)."""
        found = self.ask(
            poses, self.fcl.CollisionData, self.manager.collide, self.fcl.defaultCollisionCallback
        )
        return np.array([each.is_collision for each in found])

    def distance(self, poses: Floats) -> Answers:
        """Distance to the nearest, 0 where they overlap, shape (n,) [m]."""
        found = self.ask(
            poses, self.fcl.DistanceData, self.manager.distance, self.fcl.defaultDistanceCallback
        )
        return np.maximum(0.0, [each.min_distance for each in found])


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


EACH = (Shapely, Coal, Fcl, CommonRoad)


def installed() -> tuple[list[Any], list[str]]:
    """Return the peers that are, and the names of those that are not."""
    there = [peer for peer in EACH if find_spec(peer.module)]
    return there, [peer.name for peer in EACH if peer not in there]
