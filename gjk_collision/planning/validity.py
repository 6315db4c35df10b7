# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A state validity checker and a motion validator for OMPL (``pip install ompl``, version 2)."""

from __future__ import annotations

from math import hypot, nextafter, pi, remainder
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from ompl import base as ob
except ImportError as error:
    text = "MotionValidator and StateValidityChecker need OMPL 2: pip install ompl"
    raise ImportError(f"gjk_collision.planning: {text}") from error

from .. import _core
from ..errors import refuse
from .edges import SceneChecker, edge_margin, edge_poses, positive, reach

if TYPE_CHECKING:
    from collections.abc import Callable

    from .edges import Checker

    # Poses at the ends of the arcs of a curve: fraction of the length, x, y, yaw.
    Knots = list[tuple[float, ...]]

__all__ = ["MotionValidator", "StateValidityChecker"]

_BEFORE_END = nextafter(1.0, 0.0)  # at 1, OMPL copies the end instead of driving there
_SAMPLE_STEP = 0.05  # m
_MOST_SAMPLES = 10_000
# Planners that drive an edge only from the start to the end with which they have it checked. OMPL
# says so of some of them (`PlannerSpecs.directed`); the others were read.
_DIRECTED = {"AORRTC", "BITstar", "FMT", "InformedRRTstar", "KPIECE1"}
_DIRECTED |= {"RRT", "RRTConnect", "RRTstar", "SORRTstar"}


class StateValidityChecker(ob.StateValidityChecker):  # type: ignore[misc]
    """State validity checker: a state is valid if the checker certifies that its pose is free.

    Parameters
    ----------
    si : ompl.base.SpaceInformation
        Space information of an `SE2StateSpace` or of a space derived from it.
    checker : Checker
        Result of `path_checker` or `scene_checker`, which uses `Scene.is_free`; or another
        function, which is called with one pose, shape (1, 3).
    """

    def __init__(self, si: Any, checker: Checker) -> None:
        super().__init__(si)
        self._checker = checker
        self._is_free = checker.is_free if isinstance(checker, SceneChecker) else self._ask

    def _ask(self, x: float, y: float, yaw: float) -> bool:
        return self._checker(np.array([[x, y, yaw]])).is_free

    def isValid(self, state: Any) -> bool:
        """Return whether the pose of a state is certified free."""
        return self._is_free(state.getX(), state.getY(), state.getYaw())


class MotionValidator(ob.MotionValidator):  # type: ignore[misc]
    """Motion validator: an edge is valid if the checker certifies that it is free.

    With `path_checker`, the whole curve is certified in one call: the straight line of an
    `SE2StateSpace`, or the shortest curve of a `DubinsStateSpace` or a `ReedsSheppStateSpace`.
    Often two curves are equally short. Therefore, the certified curve is compared with the curve
    of OMPL, which is that of its function `interpolate`. If the certified curve is free, but OMPL
    uses another one, poses on the curve of OMPL at most 0.05 m apart are checked, with their
    `edge_margin`. An edge that needs more than 10 000 of them is refused.

    With another checker, poses of the edge are checked, in one call, so that the whole edge is
    checked against one snapshot.

    Some planners, for example PRM and BKPIECE1, drive an edge also from its end to its start,
    although they have it checked in one direction. Therefore, if OMPL's curve in the other
    direction may be another one, an edge is valid only if both are free, unless `planner` is one
    of AORRTC, BITstar, FMT, InformedRRTstar, KPIECE1, RRT, RRTConnect, RRTstar and SORRTstar.

    The start of the edge is checked again. A planner that uses the last valid state of an edge
    (KPIECE1) does not get this state. This only makes the planner slower. Do not use PDST: it
    ignores the result of the check of an edge, so its paths may not be free.

    Parameters
    ----------
    si : ompl.base.SpaceInformation
        Space information of an `SE2StateSpace` or of a space derived from it; with
        `path_checker`, of one of the three spaces above.
    checker : Checker
        Result of `path_checker`; or another function, which is called with poses of an edge. Its
        margin should be at least `edge_margin`.
    step : float, optional
        Maximum distance between two checked poses [m], in the metric of the space. If it is
        infinite, only the ends of an edge are checked. It is needed for other checkers, and not
        used with `path_checker`.
    planner : ompl.base.Planner or its class, optional
        The planner that uses the validator, for example `ompl.geometric.RRT`. It is needed in a
        space in which no curve can be driven back, such as a `DubinsStateSpace` that is not
        symmetric. Do not change `setDelayCC` of RRTstar: without it, it drives edges back.

    Raises
    ------
    InputError
        INVALID_INPUT: `step` is not greater than 0, or is missing; `planner` is no planner, or is
        missing; or the space is not supported.
    """

    def __init__(
        self, si: Any, checker: Checker, step: float | None = None, planner: Any = None
    ) -> None:
        super().__init__(si)
        self._space = si.getStateSpace()
        both = _drives_back(self._space, planner)
        self._is_back_asked = both
        if isinstance(checker, SceneChecker) and checker.tolerance is not None:
            self._is_free: Callable[[Any, Any], bool] = _Curve(self._space, checker, both)
            # The others are symmetric: it certifies both directions together.
            self._is_back_asked = both and not self._space.hasSymmetricInterpolate()
            return
        if step is None:
            rule = "is required for a checker of poses; use path_checker(scene, shape) to avoid it"
            refuse("step", rule)
        self._is_free = _Poses(self._space, checker, positive(step, "step"))

    def checkMotion(self, start: Any, end: Any) -> bool:
        """Return whether an edge is certified free."""
        is_back_free = not self._is_back_asked
        return self._is_free(start, end) and (is_back_free or self._is_free(end, start))


def _drives_back(space: Any, planner: Any) -> bool:
    """Return whether an edge may be driven from its end to its start, on another curve."""
    kind = planner if isinstance(planner, type) else type(planner)
    if planner is not None and not issubclass(kind, ob.Planner):
        refuse("planner", f"must be a planner of OMPL or its class (got {planner!r})")
    if type(space) is ob.SE2StateSpace or kind.__name__ in _DIRECTED:
        return False
    if planner is None and not space.hasSymmetricInterpolate():
        rule = "is required in a space that is not symmetric, because some planners drive edges "
        rule += "in the direction that was not checked; pass the one that you use, for example "
        rule += "planner=ompl.geometric.RRT"
        refuse("planner", rule)
    return True


class _Poses:
    """Checks poses of an edge."""

    def __init__(self, space: Any, checker: Checker, step: float) -> None:
        self._space, self._checker, self._step = space, checker, step

    def __call__(self, start: Any, end: Any) -> bool:
        return self._checker(edge_poses(self._space, start, end, self._step)).is_free


def back(knots: Knots, start: tuple[float, float, float]) -> Knots:
    """Return the poses of a curve from its end to its start."""
    return [*((1.0 - share, *pose) for share, *pose in reversed(knots[:-1])), (1.0, *start)]


class _Curve:
    """Certifies the curve of an edge, and that OMPL drives this curve.

    OMPL does not provide the arcs of its curve. Both curves are compared at the ends of the arcs,
    where arcs of more than 2.4 rad are divided. Let e be the largest difference (m, and rad times
    the turning radius R), and at least the difference of the lengths.

    On an arc of angle w < pi and length R w, OMPL's curve must have turned by w too, up to
    4 e / R. There are two ways to turn as fast as that: forwards to one side, or backwards to the
    other. It must also advance along the chord as far as ours. Thus, it is the same arc, up to
    32 e.

    On a line of length s, OMPL's curve must advance by s - 3 e. Thus, it drives backwards for at
    most 3 e. Driven in one direction, a curve of OMPL is an arc, a line and an arc, or two arcs.
    Arcs of an angle a at its ends shift it to one side by R a^2 or by the length of its line
    times a, which is at most 3 e. Thus, a is at most 12 e / s and at most s / R.

    Altogether, no point of the vehicle is further than 32 e (1 + reach / R) + reach a away from
    its place on our curve. A fifth of the tolerance is kept for this.
    """

    def __init__(self, space: Any, checker: SceneChecker, both: bool) -> None:
        self._space, self._scene = space, checker.scene
        self._shape, self._margin = checker.shape, checker.margin
        self._radius = 1.0
        if type(space) is ob.SE2StateSpace:
            self._steering = 0
        elif type(space) is ob.DubinsStateSpace:
            self._steering = 2 if space.hasSymmetricDistance() else 1
        elif type(space) is ob.ReedsSheppStateSpace:
            self._steering = 3
        else:
            name = type(space).__name__
            rule = "path_checker needs an SE2StateSpace, DubinsStateSpace or ReedsSheppStateSpace"
            rule += f" (got {name}): use scene_checker with a step and edge_margin"
            refuse("si", rule)
        # Driven back, the curve of OMPL may be another one of the same length.
        self._is_symmetric = both and self._steering in (2, 3)
        self._at = at = space.allocState()
        self._values = at.getX, at.getY, at.getYaw
        self._interpolate = space.interpolate
        tolerance = checker.tolerance or 0.0
        self._slack = 0.2 * tolerance if self._steering else 0.0
        self._tolerance = tolerance - self._slack
        if self._steering:
            self._radius = self._turning_radius()
            self._reach = reach(self._shape)
            margin = self._margin + edge_margin(_SAMPLE_STEP, self._reach, self._radius)
            sampled = SceneChecker(self._scene, self._shape, margin, None)
            self._sampled = _Poses(space, sampled, _SAMPLE_STEP)

    def _turning_radius(self) -> float:
        """Return the turning radius [m]: a turn by pi in place is proportional to it."""
        start, end = self._space.allocState(), self._space.allocState()
        for state, yaw in ((start, 0.0), (end, pi)):
            state.setXY(0.0, 0.0)
            state.setYaw(yaw)
        length: float = self._space.distance(start, end)
        return length / (pi if self._steering == 3 else 7.0 * pi / 3.0)

    def __call__(self, start: Any, end: Any) -> bool:
        a = start.getX(), start.getY(), start.getYaw()
        b = end.getX(), end.getY(), end.getYaw()
        curve = self._free_curve(a, b, 0)
        if curve is None or self._steering == 0:
            return curve is not None
        is_free, is_free_back = False, not self._is_symmetric
        while curve is not None:
            number, length, knots = curve
            is_free = is_free or self._is_driven(start, end, length, knots)
            is_free_back = is_free_back or self._is_driven(end, start, length, back(knots, a))
            if is_free and is_free_back:
                return True
            curve = self._free_curve(a, b, number + 1)
        shortest = _core.shortest_curves(self._steering, a, b, self._radius)
        is_free = is_free or self._is_another_free(start, end, shortest)
        if not is_free or is_free_back:
            return is_free
        shortest = [(length, back(knots, a)) for length, knots in shortest]
        return self._is_another_free(end, start, shortest)

    def _is_another_free(self, start: Any, end: Any, shortest: list[tuple[float, Knots]]) -> bool:
        """Check poses on OMPL's curve, unless it is one of the shortest, none of which is free.

        An edge with too many poses is not free.
        """
        if any(self._is_driven(start, end, *curve) for curve in shortest):
            return False
        is_short = self._space.distance(start, end) <= _MOST_SAMPLES * _SAMPLE_STEP
        return is_short and self._sampled(start, end)

    def _free_curve(
        self, start: tuple[float, float, float], end: tuple[float, float, float], first: int
    ) -> tuple[int, float, Knots] | None:
        found: tuple[int, float, Knots] | None
        found = _core.free_curve(
            self._scene._core,
            self._shape._core,
            self._steering,
            start,
            end,
            self._radius,
            self._margin + self._slack,
            self._tolerance,
            first,
        )
        return found

    def _is_driven(self, start: Any, end: Any, length: float, knots: Knots) -> bool:
        """Return whether OMPL's curve is this one up to the slack."""
        drift = abs(self._space.distance(start, end) - length)
        interpolate, at, (get_x, get_y, get_yaw) = self._interpolate, self._at, self._values
        slack, radius, turn_round = self._slack, self._radius, 2.0 * pi
        for share, x, y, yaw in knots:
            interpolate(start, end, share if share < 1.0 else _BEFORE_END, at)
            turn = radius * abs(remainder(get_yaw() - yaw, turn_round))
            beside = hypot(get_x() - x, get_y() - y) + turn
            if not beside <= slack:
                return False
            drift = max(drift, beside)
        tilt, before = 0.0, 0.0
        for share, *_ in knots:
            size = max((share - before) * length, 1e-300)
            tilt = max(tilt, min(12.0 * drift / size, size / self._radius))
            before = share
        away = 32.0 * drift * (1.0 + self._reach / self._radius) + self._reach * tilt
        return bool(knots) and away <= self._slack
