# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Edges of a planner: their poses, the margin between two poses, and checkers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..arguments import instance
from ..geometry import Shape
from ..scene import Scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Checker",
    "edge_margin",
    "edge_poses",
    "path_checker",
    "path_poses",
    "reach",
    "scene_checker",
]


class Answer(Protocol):
    """What a planner needs of an answer: UNKNOWN is not free."""

    @property
    def is_free(self) -> bool:
        """Tell whether every pose is certified free."""


Checker = Callable[["NDArray[np.float64]"], Answer]  # poses (n, 3): x [m], y [m], yaw [rad]


def scene_checker(scene: Scene, shape: Shape, margin: float = 0.0) -> Checker:
    """Return a checker on a scene in this process.

    Parameters
    ----------
    scene : Scene
        The obstacles, all at one time.
    shape : Shape
        The vehicle, in its base frame.
    margin : float
        Clearance that a free pose must exceed [m]; see `edge_margin`.
    """
    instance(scene, Scene, "scene")
    instance(shape, Shape, "shape")
    return lambda poses: scene.check(shape, poses, margin=margin, stop_at_first=True)


def path_checker(
    scene: Scene, shape: Shape, margin: float = 0.0, tolerance: float = 0.005
) -> Checker:
    """Return a checker that follows the vehicle from pose to pose, straight and at constant turn.

    So an edge of `SE2StateSpace` needs its two ends alone (`MotionValidator` with an infinite
    step) and no `edge_margin`. A curve needs poses, and a margin for its way off the straight.

    Parameters
    ----------
    scene, shape, margin
        As for `scene_checker`.
    tolerance : float
        What passes within margin + tolerance may be called a hit [m].
    """
    instance(scene, Scene, "scene")
    instance(shape, Shape, "shape")
    return lambda poses: scene.check_path(shape, poses, tolerance=tolerance, margin=margin)


def reach(shape: Shape) -> float:
    """Return the greatest distance of a point of `shape` from the origin of its frame [m]."""
    instance(shape, Shape, "shape")
    return shape.radius + max(float(np.linalg.norm(part, axis=1).max()) for part in shape.parts)


def edge_margin(step: float, reach: float, turning_radius: float) -> float:
    """Return the margin with which checks at discrete poses clear the whole curve between them.

    Along one metre of path the heading turns by at most 1 / R, and so a point of the vehicle at
    distance r from its base travels at most 1 + r / R. Anywhere between two poses it is therefore
    within half of ``step * (1 + r / R)`` of where it was at one of them.

    Parameters
    ----------
    step : float
        Greatest path length between two checked poses [m].
    reach : float
        Greatest distance of a point of the vehicle from its base [m].
    turning_radius : float
        Least turning radius R of the path [m], as given to `DubinsStateSpace` or
        `ReedsSheppStateSpace`. For `SE2StateSpace`, whose metric counts 0.5 per radian, 0.5.

    Returns
    -------
    float
        Margin [m].
    """
    return 0.5 * step * (1.0 + reach / turning_radius)


def edge_poses(space: Any, start: Any, end: Any, step: float) -> NDArray[np.float64]:
    """Return the poses of one edge, both ends included, at most `step` of the metric apart.

    Parameters
    ----------
    space : ompl.base.SE2StateSpace
        Or one derived from it.
    start, end : ompl.base.State
        The ends of the edge.
    step : float
        Greatest distance between neighbours [m]; infinite: the ends alone.

    Returns
    -------
    ndarray, shape (n, 3)
        x [m], y [m], yaw [rad]; n >= 2.
    """
    n = max(1, ceil(space.distance(start, end) / step))
    state = space.allocState()
    poses = np.empty((n + 1, 3))
    for i in range(n + 1):
        space.interpolate(start, end, i / n, state)
        poses[i] = state.getX(), state.getY(), state.getYaw()
    return poses


def path_poses(space: Any, path: Any, step: float) -> NDArray[np.float64]:
    """Return the poses of a whole `PathGeometric`, as `edge_poses`; shape (n, 3)."""
    states = path.getStates()
    edges = [edge_poses(space, *ends, step) for ends in pairwise(states)]
    return np.concatenate([edges[0][:1], *(edge[1:] for edge in edges)])
