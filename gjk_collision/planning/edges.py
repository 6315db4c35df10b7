# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Edges of a planner: their poses, the margin for the path between two poses, and checkers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..arguments import as_number, instance
from ..errors import refuse
from ..geometry import Shape
from ..scene import Scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Checker",
    "SceneChecker",
    "edge_margin",
    "edge_poses",
    "path_checker",
    "path_poses",
    "reach",
    "scene_checker",
]


class Answer(Protocol):
    """The part of an answer that a planner uses."""

    @property
    def is_free(self) -> bool:
        """Whether every pose is certified free. UNKNOWN is not free."""


Checker = Callable[["NDArray[np.float64]"], Answer]  # poses (n, 3): x [m], y [m], yaw [rad]


class SceneChecker:
    """A checker that uses a scene in this process: the result of the functions below."""

    def __init__(self, scene: Scene, shape: Shape, margin: float, tolerance: float | None) -> None:
        self.scene = instance(scene, Scene, "scene")
        self.shape = instance(shape, Shape, "shape")
        self.margin = as_number(margin, "margin")
        self.tolerance = None if tolerance is None else positive(tolerance, "tolerance")

    def __call__(self, poses: NDArray[np.float64]) -> Answer:
        """Check poses, and the motion between them if there is a tolerance."""
        if self.tolerance is None:
            return self.scene.check(self.shape, poses, margin=self.margin, stop_at_first=True)
        return self.scene.check_path(
            self.shape, poses, tolerance=self.tolerance, margin=self.margin, mode="collide"
        )

    def is_free(self, x: float, y: float, yaw: float) -> bool:
        """Return whether one pose is certified free."""
        return self.scene.is_free(self.shape, (x, y, yaw), margin=self.margin)


def scene_checker(scene: Scene, shape: Shape, margin: float = 0.0) -> SceneChecker:
    """Return a checker of poses that uses a scene in this process.

    Parameters
    ----------
    scene : Scene
        The obstacles. They do not move.
    shape : Shape
        The vehicle, in its base frame.
    margin : float
        Required distance [m]: a pose is free if its distance is greater. See `edge_margin`.

    Returns
    -------
    SceneChecker
        Function of poses, shape (n, 3): x [m], y [m], yaw [rad]. It returns the result of
        `Scene.check`, and stops at the first pose that is not free.

    Raises
    ------
    InputError
        INVALID_INPUT: an argument has a wrong type. The checker raises the errors of
        `Scene.check`.
    """
    return SceneChecker(scene, shape, margin, None)


def path_checker(
    scene: Scene, shape: Shape, margin: float = 0.0, tolerance: float = 0.005
) -> SceneChecker:
    """Return a checker that also checks the motion between the poses.

    This is the fastest checker for OMPL: `MotionValidator` certifies the whole curve of an edge in
    one call, and `StateValidityChecker` uses `Scene.is_free`. No step and no `edge_margin` are
    needed.

    As a function of poses, it checks straight lines with constant rate of turn between them.

    Parameters
    ----------
    scene, shape, margin
        As for `scene_checker`.
    tolerance : float
        Tolerance [m]: if the vehicle passes an obstacle closer than margin + tolerance, the edge
        may be reported as not free.

    Returns
    -------
    SceneChecker
        Function of poses, shape (n, 3): x [m], y [m], yaw [rad]. It returns the result of
        `Scene.check_path`.

    Raises
    ------
    InputError
        INVALID_INPUT: an argument has a wrong type. The checker raises the errors of
        `Scene.check_path`.
    """
    return SceneChecker(scene, shape, margin, tolerance)


def reach(shape: Shape) -> float:
    """Return the maximum distance of a point of `shape` from the origin of its frame [m]."""
    instance(shape, Shape, "shape")
    parts = zip(shape.parts, shape.radii, strict=True)
    return max(radius + float(np.linalg.norm(part, axis=1).max()) for part, radius in parts)


def positive(value: float, argument: str) -> float:
    """Return a number that is greater than 0."""
    number = as_number(value, argument)
    if not number > 0.0:
        refuse(argument, "must be greater than 0", number)
    return number


def edge_margin(step: float, reach: float, turning_radius: float) -> float:
    """Return the margin with which checks at discrete poses also cover the curve between them.

    On one metre of the path, the heading changes by at most 1 / R. A point of the vehicle at the
    distance r from its base therefore travels at most 1 + r / R metres. At any time between two
    poses, the point is within half of ``step * (1 + r / R)`` from its position at one of the two
    poses.

    Parameters
    ----------
    step : float
        Maximum path length between two checked poses [m].
    reach : float
        Maximum distance of a point of the vehicle from its base [m], see the function `reach`.
    turning_radius : float
        Minimum turning radius R of the path [m], as given to `DubinsStateSpace` or
        `ReedsSheppStateSpace`. Use 0.5 for `SE2StateSpace`, because its metric counts 0.5 m per
        radian.

    Returns
    -------
    float
        Margin [m].

    Raises
    ------
    InputError
        INVALID_INPUT: `step` or `turning_radius` is not greater than 0, or `reach` is negative or
        not finite.
    """
    length, radius = positive(step, "step"), positive(turning_radius, "turning_radius")
    distance = as_number(reach, "reach")
    if not 0.0 <= distance < inf:
        refuse("reach", "must be finite and not negative", distance)
    return 0.5 * length * (1.0 + distance / radius)


def edge_poses(space: Any, start: Any, end: Any, step: float) -> NDArray[np.float64]:
    """Return poses of one edge, with both ends.

    Parameters
    ----------
    space : ompl.base.SE2StateSpace
        An `SE2StateSpace`, or a space derived from it.
    start, end : ompl.base.State
        The ends of the edge.
    step : float
        Maximum distance between two consecutive poses [m], in the metric of the space. If it is
        infinite, only the ends are returned.

    Returns
    -------
    ndarray, shape (n, 3)
        x [m], y [m], yaw [rad]; n >= 2.

    Raises
    ------
    InputError
        INVALID_INPUT: `step` is not greater than 0.
    """
    n = max(1, ceil(space.distance(start, end) / positive(step, "step")))
    state = space.allocState()
    poses = np.empty((n + 1, 3))
    for i in range(n + 1):
        space.interpolate(start, end, i / n, state)
        poses[i] = state.getX(), state.getY(), state.getYaw()
    return poses


def path_poses(space: Any, path: Any, step: float) -> NDArray[np.float64]:
    """Return the poses of all edges of a `PathGeometric`, see `edge_poses`; shape (n, 3)."""
    states = path.getStates()
    edges = [edge_poses(space, *ends, step) for ends in pairwise(states)]
    return np.concatenate([edges[0][:1], *(edge[1:] for edge in edges)])
