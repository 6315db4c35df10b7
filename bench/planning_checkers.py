# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision checkers with which planners are measured, and the worlds that they check.

A checker of states is used by OMPL's own motion validator, which checks states of an edge one at
a time and stops at the first one that is not free.
"""

from collections.abc import Callable
from importlib.util import find_spec
from math import cos, sin
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from scene_peers import placed

from gjk_collision import Scene, Shape
from gjk_collision.planning import (
    MotionValidator,
    StateValidityChecker,
    path_checker,
    scene_checker,
)

State = Callable[[Any], bool]
Edge = Callable[[Any, Any], bool]

CERTIFIED = "ours, certified edges"
STATES = "ours, `is_free`"
SHAPELY = "shapely"
FCL = "python-fcl"


class World:
    """Obstacles and a footprint, as outlines of convex polygons."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.name = data["name"]
        # Some outlines are concave by up to 0.4 % of their area: all checkers use the hulls.
        hulls = shapely.convex_hull([shapely.Polygon(each) for each in data["obstacles"]])
        self.outlines = [shapely.get_coordinates(hull)[:-1] for hull in hulls]
        self.footprint = np.array(data["footprint"])
        self.low, self.high = shapely.total_bounds(hulls).reshape(2, 2)
        self.solid = shapely.union_all(hulls)
        shapely.prepare(self.solid)
        self.scene = Scene([Shape.hull(each) for each in self.outlines])
        self.car = Shape.hull(self.footprint)

    def hits(self, poses: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Return whether the footprint touches an obstacle at the poses, by shapely."""
        outlines = shapely.polygons(placed(self.footprint, poses))
        return np.asarray(shapely.intersects(self.solid, outlines))


def certified(world: World, si: Any, planner: Any = None) -> tuple[State, Edge]:
    """Return checks as docs/planners.md recommends: an edge is certified in one call."""
    checker = path_checker(world.scene, world.car)
    states, edges = StateValidityChecker(si, checker), MotionValidator(si, checker, None, planner)
    return states.isValid, edges.checkMotion


def states(world: World, si: Any, _: Any = None) -> tuple[State, None]:
    """Return a check of states with a scene."""
    return StateValidityChecker(si, scene_checker(world.scene, world.car)).isValid, None


def shapely_states(world: World, si: Any, _: Any = None) -> tuple[State, None]:
    """Return a check of states with the prepared union of the obstacles.

    This was the fastest of seven ways to use shapely in these worlds. A query of an STRtree takes
    about 1.6 times as long, because the footprint is prepared in each query.
    """
    solid, footprint = world.solid, world.footprint
    intersects, polygons = shapely.intersects, shapely.polygons

    def check(state: Any) -> bool:
        yaw = state.getYaw()
        c, s = cos(yaw), sin(yaw)
        turn = np.array(((c, s), (-s, c)))
        return not intersects(solid, polygons(footprint @ turn + (state.getX(), state.getY())))

    return check, None


def prism(outline: npt.NDArray[np.float64]) -> Any:
    """Return a convex polygon as a prism of FCL of the height 1."""
    import fcl

    ring = outline if shapely.LinearRing(outline).is_ccw else outline[::-1]
    n = len(ring)
    corners = np.concatenate([np.c_[ring, np.full(n, z)] for z in (-0.5, 0.5)])
    faces = [n, *range(n - 1, -1, -1), n, *range(n, 2 * n)]
    for i in range(n):
        j = (i + 1) % n
        faces += [4, i, j, n + j, n + i]
    return fcl.Convex(corners, n + 2, np.array(faces))


def fcl_states(world: World, si: Any, _: Any = None) -> tuple[State, None]:
    """Return a check of states with FCL's tree of bounding boxes."""
    import fcl

    manager = fcl.DynamicAABBTreeCollisionManager()
    manager.registerObjects(
        [fcl.CollisionObject(prism(each), fcl.Transform()) for each in world.outlines]
    )
    manager.setup()
    car = fcl.CollisionObject(prism(world.footprint), fcl.Transform())

    def check(state: Any) -> bool:
        half = 0.5 * state.getYaw()
        place = np.array((state.getX(), state.getY(), 0.0))
        car.setTransform(fcl.Transform(np.array((cos(half), 0.0, 0.0, sin(half))), place))
        found = fcl.CollisionData()
        manager.collide(car, found, fcl.defaultCollisionCallback)
        return not found.result.is_collision

    return check, None


CHECKERS: dict[str, Callable[..., tuple[State, Edge | None]]] = {
    CERTIFIED: certified,
    STATES: states,
    SHAPELY: shapely_states,
    **({FCL: fcl_states} if find_spec("fcl") else {}),
}
