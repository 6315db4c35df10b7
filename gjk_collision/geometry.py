# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes, and the queries on two of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from reprlib import repr as short
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arguments import as_floats, as_number, as_point, as_vector
from .errors import InputError
from .verdict import Status, no_truth_value

__all__ = ["Closest", "Penetration", "Shape", "closest", "collide", "distance", "penetration"]

ConcavePolicy: TypeAlias = Literal["decompose", "hull", "reject"]
"""What becomes of an outline that is concave."""

Pose: TypeAlias = tuple[float, float, float] | list[float] | NDArray[np.float64]
"""x [m], y [m], yaw [rad], counter-clockwise."""
# An array is no Sequence to a type checker, but it is one to pybind11: hence the ignored errors.


class Shape:
    """One or more convex polygons plus one radius: a closed set of the plane.

    A point with a radius is a circle, two points with a radius a capsule, a polygon with a radius
    a rounded polygon. Built by the named constructors; immutable. Any winding and open or closed
    rings are accepted, nothing else is repaired.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Shape) -> None:
        """Wrap a shape of the kernel; use the named constructors."""
        if not isinstance(core, _core.Shape):
            rule = f"use Shape.polygon, hull, concave, ... (got {type(core).__name__})"
            raise InputError(Status.INVALID_INPUT, "core", None, rule)
        self._core = core

    @classmethod
    def polygon(cls, xy: ArrayLike, radius: float = 0.0) -> Shape:
        """Return a convex polygon.

        Parameters
        ----------
        xy : array_like, shape (n, 2)
            Vertices in order [m], n >= 3; collinear and repeated ones are allowed.
        radius : float
            Rounding [m], >= 0.

        Raises
        ------
        InputError
            CONCAVE_REJECTED with the first vertex that is not convex (decided exactly, with
            coordinates below 1e-40 m as 0: take `hull` for outlines that are convex up to
            rounding), TOO_FEW_POINTS, DEGENERATE (no area),
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        return cls(_core.polygon(as_floats(xy, "xy", 2), as_number(radius, "radius")))

    @classmethod
    def box(
        cls,
        length: float,
        width: float,
        center: tuple[float, float] = (0.0, 0.0),
        radius: float = 0.0,
    ) -> Shape:
        """Return a rectangle of `length` along x and `width` along y about `center` [m]."""
        half = np.array([_half(length, "length"), _half(width, "width")])
        middle = np.array(as_point(center, "center"))
        corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half + middle
        try:
            return cls(_core.polygon(corners, as_number(radius, "radius")))
        except InputError as error:
            if error.argument != "xy":
                raise
            argument = "length, width, center"
            raise InputError(error.status, argument, None, error.rule) from None

    @classmethod
    def circle(cls, radius: float, center: tuple[float, float] = (0.0, 0.0)) -> Shape:
        """Return the disc of `radius` about `center` [m]."""
        return cls(_core.hull(_points(center=center), as_number(radius, "radius"), "center"))

    @classmethod
    def capsule(cls, p: tuple[float, float], q: tuple[float, float], radius: float) -> Shape:
        """Return all points within `radius` of the segment from `p` to `q` [m]."""
        return cls(_core.hull(_points(p=p, q=q), as_number(radius, "radius"), "p, q"))

    @classmethod
    def segment(cls, p: tuple[float, float], q: tuple[float, float]) -> Shape:
        """Return the segment from `p` to `q` [m]."""
        return cls.capsule(p, q, 0.0)

    @classmethod
    def point(cls, p: tuple[float, float]) -> Shape:
        """Return the single point `p` [m]."""
        return cls(_core.hull(_points(p=p), 0.0, "p"))

    @classmethod
    def hull(cls, points: ArrayLike, radius: float = 0.0) -> Shape:
        """Return the convex hull of unordered points, which may be collinear.

        Parameters
        ----------
        points : array_like, shape (n, 2)
            Points [m], n >= 1.
        radius : float
            Rounding [m], >= 0.

        Raises
        ------
        InputError
            TOO_FEW_POINTS, NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        return cls(
            _core.hull(as_floats(points, "points", 2), as_number(radius, "radius"), "points")
        )

    @classmethod
    def concave(cls, outline: ArrayLike, radius: float = 0.0) -> Shape:
        """Return an outline, concave or not, as the exact union of convex parts.

        The outline may touch itself: at vertices, along edges (a keyhole that leads to a hole), on
        itself and back (a whisker, which is kept). It may not cross itself.

        Parameters
        ----------
        outline : array_like, shape (n, 2)
            Vertices in order [m], n >= 3.
        radius : float
            Rounding [m], >= 0.

        Raises
        ------
        InputError
            INVALID_INPUT with the first of two edges that cross, by its first vertex, and those of
            `polygon` but CONCAVE_REJECTED.
        """
        return cls(_core.concave(as_floats(outline, "outline", 2), as_number(radius, "radius")))

    def inflated(self, margin: float) -> Shape:
        """Return the shape with `margin` [m], >= 0, added to its radius; the sum is rounded up."""
        return Shape(self._core.inflated(as_number(margin, "margin")))

    def padded(
        self, front: float = 0.0, rear: float = 0.0, left: float = 0.0, right: float = 0.0
    ) -> Shape:
        """Return the shape with a margin [m], >= 0, on each side: x to the front, y to the left.

        The margins are the shape's own sides, whatever its pose. The result holds every point of
        the shape moved by up to `front`, `rear`, `left` and `right` (its Minkowski sum with that
        box, rounded outwards); the radius stays. Each convex part grows by itself, so a concave
        shape stays concave.

        Raises
        ------
        InputError
            NON_FINITE, INVALID_INPUT or COORD_RANGE, naming the side.
        """
        sides = {"front": front, "rear": rear, "left": left, "right": right}
        return Shape(self._core.padded(*(as_number(sides[name], name) for name in sides)))

    @property
    def radius(self) -> float:
        """Radius [m] about the convex parts."""
        return self._core.radius

    @property
    def parts(self) -> tuple[NDArray[np.float64], ...]:
        """Vertices of each convex part, shape (n, 2), counter-clockwise [m]."""
        return tuple(self._core.parts())

    def __repr__(self) -> str:
        """Return the parts' sizes and the radius."""
        sizes = "+".join(str(len(part)) for part in self.parts)
        return f"Shape({sizes} vertices, radius {self.radius:g} m)"


def _half(size: float, argument: str) -> float:
    number = as_number(size, argument)
    if not number > 0.0:
        raise InputError(Status.INVALID_INPUT, argument, None, "must be greater than 0")
    if number == inf:
        raise InputError(Status.NON_FINITE, argument, None, "must be finite")
    if number > 2.0 * _core.MAX_COORDINATE:
        raise InputError(Status.COORD_RANGE, argument, None, "must not exceed 2e15 m")
    return number / 2.0


def _points(**named: tuple[float, float]) -> NDArray[np.float64]:
    return np.array([as_vector(point, name, "x, y") for name, point in named.items()])


def outlined(points: NDArray[np.float64], policy: ConcavePolicy, radius: float = 0.0) -> Shape:
    """Return the shape with an outline (n, 2) [m] that may be concave.

    Raises
    ------
    InputError
        It is no shape, or a concave one that the policy refuses.
    """
    make = {"decompose": Shape.concave, "hull": Shape.hull, "reject": Shape.polygon}[policy]
    return make(points, radius)


@dataclass(frozen=True, slots=True)
class Closest:
    """Distance of two shapes, its certificate, and what decides it.

    ``point_b == point_a + distance * direction`` up to rounding. Where shapes of several parts
    overlap, the deepest pair of parts stands for the whole: distance, bound and direction are its.
    Shapes at poses may `collide` at a positive distance, one within the rounding of the poses.

    Attributes
    ----------
    distance : float
        Signed distance [m]; negative: penetration depth. Never below the true one.
    lower_bound : float
        Certified lower bound [m]: never above the true distance.
    point_a : ndarray
        Witness point on a, shape (2,) [m].
    point_b : ndarray
        Witness point on b, shape (2,) [m].
    direction : ndarray
        Unit vector from a to b, shape (2,); at contact and overlap the way out.
    feature_a : tuple of 3 int
        Part of a, and the two vertices of its deciding edge (equal: a vertex).
    feature_b : tuple of 3 int
        The same of b.
    iterations : int
        Iterations of GJK.
    status : Status
        SUCCESS.
    """

    distance: float
    lower_bound: float
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    direction: NDArray[np.float64]
    feature_a: tuple[int, int, int]
    feature_b: tuple[int, int, int]
    iterations: int
    status: Status

    __bool__ = no_truth_value("`.lower_bound > 0.0` or `collide`")


@dataclass(frozen=True, slots=True)
class Penetration:
    """How deep two shapes are in each other, and the shortest way out.

    ``point_b == point_a - depth * direction`` up to rounding. Of shapes of several parts all is
    said of the deepest pair of parts: to part the whole may take more.

    Attributes
    ----------
    depth : float
        Penetration depth [m], >= 0: ``-distance``. Never above the true one.
    upper_bound : float
        Certified upper bound [m] on the depth.
    direction : ndarray
        Unit vector, shape (2,): moving b along it by the depth parts the shapes.
    point_a : ndarray
        Deepest point of a in b, shape (2,) [m].
    point_b : ndarray
        Deepest point of b in a, shape (2,) [m].
    feature_a : tuple of 3 int
        Part of a, and the two vertices of its deciding edge (equal: a vertex).
    feature_b : tuple of 3 int
        The same of b.
    """

    depth: float
    upper_bound: float
    direction: NDArray[np.float64]
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    feature_a: tuple[int, int, int]
    feature_b: tuple[int, int, int]


def collide(a: Shape, b: Shape, pose_a: Pose | None = None, pose_b: Pose | None = None) -> bool:
    """Tell whether two shapes have a point in common; touching is a collision.

    Without poses the answer is that of rational arithmetic on the given doubles, the same on every
    machine. With poses, what lies within the rounding of the transform is a collision.

    Parameters
    ----------
    a, b : Shape
        The shapes.
    pose_a, pose_b : (x, y, yaw), optional
        Their placements [m, m, rad]; the identity where left out.

    Raises
    ------
    InputError
        NON_FINITE or COORD_RANGE, naming the pose; INVALID_INPUT for what is no shape or pose.

    Notes
    -----
    Level 1 of Zhang et al., "Barycode-based GJK Algorithm", Alg. 6, with certified exits.
    """
    try:
        return _core.collide(a._core, b._core, pose_a, pose_b)  # type: ignore[arg-type]
    except (AttributeError, TypeError) as error:
        raise _misuse(a, b, pose_a, pose_b) from error


def distance(a: Shape, b: Shape, pose_a: Pose | None = None, pose_b: Pose | None = None) -> float:
    """Return the signed distance [m] of two shapes; negative is the penetration depth.

    Parameters and errors as for `collide`. An upper bound within a relative 1e-9 of the true
    distance, or within the rounding of the coordinates where they are larger; `closest` returns
    the certified lower bound with it. Of overlapping shapes of several parts, the deepest pair
    counts.
    """
    try:
        return _core.distance(a._core, b._core, pose_a, pose_b)  # type: ignore[arg-type]
    except (AttributeError, TypeError) as error:
        raise _misuse(a, b, pose_a, pose_b) from error


def closest(a: Shape, b: Shape, pose_a: Pose | None = None, pose_b: Pose | None = None) -> Closest:
    """Return distance, certified lower bound, witness points and direction of two shapes.

    Parameters and errors as for `collide`. Level 3 of Zhang et al., II-A: the direction comes from
    the final simplex, not from the witness points, and so is defined at contact too.
    """
    try:
        found = _core.closest(a._core, b._core, pose_a, pose_b)  # type: ignore[arg-type]
    except (AttributeError, TypeError) as error:
        raise _misuse(a, b, pose_a, pose_b) from error
    gap, lower_bound, point_a, point_b, direction, feature_a, feature_b, iterations, status = found
    return Closest(
        gap,
        lower_bound,
        np.array(point_a),
        np.array(point_b),
        np.array(direction),
        feature_a,
        feature_b,
        iterations,
        Status(status),
    )


def penetration(
    a: Shape, b: Shape, pose_a: Pose | None = None, pose_b: Pose | None = None
) -> Penetration | None:
    """Return depth and direction of the overlap of two shapes; None where `distance` is positive.

    Parameters and errors as for `collide`. The least over all edge normals of the Minkowski
    difference, which is what EPA (the expanding polytope algorithm) converges to. Of shapes of
    several parts, that of the deepest pair: to part the whole may take more.
    """
    found = closest(a, b, pose_a, pose_b)
    if found.distance > 0.0:
        return None
    return Penetration(
        -found.distance,
        -found.lower_bound,
        found.direction,
        found.point_a,
        found.point_b,
        found.feature_a,
        found.feature_b,
    )


def _misuse(a: object, b: object, pose_a: object, pose_b: object) -> InputError:
    """Say which argument is not what it should be; looked for only once a query has failed."""
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            rule = f"must be a Shape (got {type(shape).__name__})"
            return InputError(Status.INVALID_INPUT, name, None, rule)
    name, pose = ("pose_b", pose_b) if _core.is_pose(pose_a) else ("pose_a", pose_a)
    return InputError(Status.INVALID_INPUT, name, None, f"must be x, y, yaw (got {short(pose)})")
