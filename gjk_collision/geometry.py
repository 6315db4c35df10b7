# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes, and collision and distance queries on two shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arguments import as_floats, as_list, as_number, as_vector
from .errors import InputError, refuse
from .formats import geo, svg
from .formats.figures import VEHICLE, outline
from .record import Record
from .verdict import Status, no_truth_value

__all__ = ["Closest", "Penetration", "Shape", "closest", "collide", "distance", "penetration"]

ConcavePolicy: TypeAlias = Literal["decompose", "hull", "reject"]
"""How to handle a concave outline: split it into convex parts, take its hull, or refuse it."""

PoseLike: TypeAlias = tuple[float, float, float] | list[float] | NDArray[np.float64]
"""x [m], y [m], yaw [rad], counter-clockwise."""
# The stub of the kernel declares a pose as Sequence[float], although an array is accepted too.
# Calls with a pose therefore suppress an error of the type checker.


_FEW_PARTS = 8  # of which `repr` shows each


class Shape:
    """Union of convex parts, each grown by a radius. A part is a polygon, a segment or a point.

    A point with a radius is a circle, a segment with a radius is a capsule, and a polygon with a
    radius is a polygon with rounded corners. A shape is a closed set: its boundary belongs to it.

    Create shapes with the class methods, such as `polygon` and `box`. Shapes are immutable.
    Outlines may be clockwise or counter-clockwise, and the last vertex may repeat the first.
    Invalid input raises `InputError` and is never repaired.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Shape) -> None:
        """Wrap a shape of the kernel. For internal use: call a class method instead."""
        if not isinstance(core, _core.Shape):
            refuse("core", "use Shape.polygon or another class method", type(core).__name__)
        self._core = core

    @classmethod
    def polygon(cls, xy: ArrayLike, radius: float = 0.0) -> Shape:
        """Return a convex polygon.

        Parameters
        ----------
        xy : array_like, shape (n, 2)
            Vertices in order [m], n >= 3. Collinear and repeated vertices are allowed.
        radius : float
            Radius [m], >= 0. All points within this distance of the polygon belong to the shape.

        Raises
        ------
        InputError
            CONCAVE_REJECTED: the outline is concave. `index` is the first vertex that is not
            convex. The test is exact, except that coordinates below 1e-40 m count as 0. Use `hull`
            for an outline that is convex only up to rounding, and `concave` for a concave one.
            DEGENERATE: the polygon has no area. TOO_FEW_POINTS, NON_FINITE, COORD_RANGE,
            ARRAY_MISMATCH, INVALID_INPUT.
        """
        try:
            return cls(_core.polygon(as_floats(xy, "xy", 2), as_number(radius, "radius")))
        except InputError as error:
            if error.status is not Status.CONCAVE_REJECTED:
                raise
            rule = f"{error.rule}: use Shape.concave, or Shape.hull for the convex hull"
            raise InputError(error.status, error.argument, error.index, rule) from None

    @classmethod
    def box(
        cls,
        length: float,
        width: float,
        center: tuple[float, float] = (0.0, 0.0),
        radius: float = 0.0,
    ) -> Shape:
        """Return a rectangle whose sides are parallel to the axes.

        Parameters
        ----------
        length, width : float
            Size along x and along y [m], > 0.
        center : (x, y)
            Center of the rectangle [m].
        radius : float
            Radius [m], >= 0. All points within this distance of the rectangle belong to the shape.

        Raises
        ------
        InputError
            DEGENERATE: the size is smaller than the rounding error of the corners. NON_FINITE,
            COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        size = as_number(length, "length"), as_number(width, "width")
        middle = as_vector(center, "center", "x, y")
        return cls(_core.box(*size, middle, as_number(radius, "radius")))

    @classmethod
    def circle(cls, radius: float, center: tuple[float, float] = (0.0, 0.0)) -> Shape:
        """Return a circle with its interior.

        Parameters
        ----------
        radius : float
            Radius [m], >= 0.
        center : (x, y)
            Center [m].

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        return cls(_core.hull(_points(center=center), as_number(radius, "radius"), "center"))

    @classmethod
    def capsule(cls, p: tuple[float, float], q: tuple[float, float], radius: float) -> Shape:
        """Return a capsule: all points within `radius` of a segment.

        Parameters
        ----------
        p, q : (x, y)
            Ends of the segment [m].
        radius : float
            Radius [m], >= 0.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        return cls(_core.hull(_points(p=p, q=q), as_number(radius, "radius"), "p, q"))

    @classmethod
    def segment(cls, p: tuple[float, float], q: tuple[float, float]) -> Shape:
        """Return the segment from `p` to `q`, each (x, y) [m]. Errors are as for `capsule`."""
        return cls.capsule(p, q, 0.0)

    @classmethod
    def point(cls, p: tuple[float, float]) -> Shape:
        """Return the point `p`, (x, y) [m], as a shape. Errors are as for `capsule`."""
        return cls(_core.hull(_points(p=p), 0.0, "p"))

    @classmethod
    def hull(cls, points: ArrayLike, radius: float = 0.0) -> Shape:
        """Return the convex hull of points.

        Parameters
        ----------
        points : array_like, shape (n, 2)
            Points in any order [m], n >= 1. They may be collinear.
        radius : float
            Radius [m], >= 0. All points within this distance of the hull belong to the shape.

        Raises
        ------
        InputError
            TOO_FEW_POINTS, NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        return cls(
            _core.hull(as_floats(points, "points", 2), as_number(radius, "radius"), "points")
        )

    @classmethod
    def concave(
        cls, outline: ArrayLike, holes: Sequence[ArrayLike] = (), radius: float = 0.0
    ) -> Shape:
        """Return a polygon that may be concave and may have holes.

        The polygon is split into convex parts, in O(n log n). Their union is exactly the polygon.
        The inside of a hole is free. The edges of a hole belong to the shape.

        Outline and holes may touch themselves and each other, at vertices and along edges, but
        must not cross. A hole must lie in the outline, and must not overlap another hole. If two
        edges go to a point and straight back, this spike without area is part of the shape,
        wherever it is. A ring without area consists of such spikes.

        Parameters
        ----------
        outline : array_like, shape (n, 2)
            Vertices in order [m], n >= 3.
        holes : sequence of array_like, each of shape (n, 2)
            Vertices of each hole in order [m], n >= 3.
        radius : float
            Radius [m], >= 0. All points within this distance of the polygon belong to the shape.

        Raises
        ------
        InputError
            INVALID_INPUT: two edges cross, and `index` is the first vertex of one of them; a hole
            leaves the outline or overlaps another hole; or the polygon is concave or has holes,
            and has a coordinate that is below 1e-40 m in magnitude, but not 0. The `argument` of
            an error in hole k is ``holes[k]``. The other errors are those of `polygon`, without
            CONCAVE_REJECTED.

        Notes
        -----
        The polygon is triangulated in a plane sweep, and triangles are joined while the result is
        convex: Hertel and Mehlhorn, "Fast Triangulation of Simple Polygons", 1983.
        """
        if isinstance(holes, (int, float)):
            given = short(holes)
            rule = f"must be a sequence of outlines (got {given}): a radius is radius={given}"
            refuse("holes", rule)
        rings = [
            as_floats(hole, f"holes[{k}]", 2) for k, hole in enumerate(as_list(holes, "holes"))
        ]
        ring = as_floats(outline, "outline", 2)
        return cls(_core.concave(ring, rings, as_number(radius, "radius")))

    @classmethod
    def compound(cls, shapes: Sequence[Shape]) -> Shape:
        """Return the union of shapes, for example of a tractor and its trailer.

        The shapes may overlap, or be apart. Each part keeps its own radius.

        Parameters
        ----------
        shapes : sequence of Shape
            At least one shape, all in the same frame. They may be concave or compounds.

        Raises
        ------
        InputError
            INVALID_INPUT: there is no shape, or an element is not a shape.
        """
        given = cores(shapes)
        if not given:
            refuse("shapes", "must hold at least one Shape")
        return cls(_core.compound(given))

    @classmethod
    def from_geo(cls, g: Any, radius: float = 0.0) -> Shape:
        """Return the shape of a geometry of GeoJSON, shapely or another library.

        Coordinates are x, y [m]: those of a map in degrees must be projected first. Polygons may
        be concave and have holes. A LineString gives one part for each of its segments. A geometry
        of several members gives a `compound`.

        Parameters
        ----------
        g : object with ``__geo_interface__``, or mapping as in GeoJSON
            Point, LineString, LinearRing or Polygon, one of their Multi types, a
            GeometryCollection, a Feature or a FeatureCollection.
        radius : float
            Radius [m], >= 0. All points within this distance of the geometry belong to the shape.

        Raises
        ------
        InputError
            Errors of points and outlines name their place, for example ``g.coordinates[0]``, and
            the index of the vertex. INVALID_INPUT: `g` is not a geometry. The other errors are
            those of `concave` and `capsule`.
        """
        number = as_number(radius, "radius")
        shapes = [shape for piece in geo.pieces(g) for shape in _of_piece(piece, number)]
        return shapes[0] if len(shapes) == 1 else cls.compound(shapes)

    def inflated(self, margin: float) -> Shape:
        """Return the shape with `margin` [m], >= 0, added to each radius. The sums are rounded up.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, INVALID_INPUT.
        """
        return Shape(self._core.inflated(as_number(margin, "margin")))

    def padded(
        self, front: float = 0.0, rear: float = 0.0, left: float = 0.0, right: float = 0.0
    ) -> Shape:
        """Return the shape grown by a different margin on each side.

        The sides are those of the frame of the shape, in which x points to the front and y to the
        left. The result is the Minkowski sum of the shape and the box [-rear, front] x
        [-right, left], rounded outwards. The radii do not change. Each convex part is grown
        separately, so a concave shape stays concave.

        Parameters
        ----------
        front, rear, left, right : float
            Margins [m], >= 0.

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, INVALID_INPUT.
        """
        sides = {"front": front, "rear": rear, "left": left, "right": right}
        return Shape(self._core.padded(*(as_number(sides[name], name) for name in sides)))

    def transformed(self, pose: PoseLike) -> Shape:
        """Return the shape at `pose`, (x, y, yaw) [m, m, rad]: rotated by yaw, then moved.

        The vertices are rounded. If rounding makes a part concave, the part is replaced by its
        hull. Queries with a pose need no rounded vertices, because they include the rounding
        errors: for certified answers, pass the pose to them, and not a transformed shape.

        Raises
        ------
        InputError
            DEGENERATE: the shape is smaller than the rounding error of its coordinates at this
            pose. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        return Shape(self._core.transformed(as_vector(pose, "pose")))

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Least x and y, and largest x and y [m], with the radii. Rounded outwards.

        The order is that of shapely.
        """
        return self._core.bounds

    @property
    def area(self) -> float:
        """Area [m2], with the radii: the sum of the areas of the parts, which must not overlap.

        The area of a part is that of its polygon + perimeter * radius + pi * radius^2 (Steiner's
        formula), up to a few rounding errors relative to the square of its size. The area is
        computed at each call.

        Raises
        ------
        InputError
            INVALID_INPUT: two parts overlap, as those of a concave shape with a radius. Use
            `Region` for the area of the union of polygons.
        """
        return self._core.area

    @property
    def radius(self) -> float:
        """Radius [m]: all points within this distance of the parts belong to the shape.

        If the parts of a `compound` have different radii, this is the largest. See `radii`.
        """
        return self._core.radius

    @property
    def radii(self) -> tuple[float, ...]:
        """Radius of each convex part [m], in the order of `parts`."""
        return tuple(self._core.radii())

    @property
    def parts(self) -> tuple[NDArray[np.float64], ...]:
        """Vertices of each convex part [m], counter-clockwise: read-only arrays, shape (n, 2)."""
        return tuple(self._core.parts())

    def __eq__(self, other: object) -> bool:
        """Return whether both shapes have the same parts, with the same radii.

        Parts are the same if they have the same corners. The order of the parts, the first vertex,
        the direction of an outline, and repeated or collinear vertices make no difference.
        Therefore equal shapes are the same set of points, but the indices of vertices in results
        may differ. Shapes that are split into different parts are not equal.
        """
        return self._core.key == other._core.key if isinstance(other, Shape) else NotImplemented

    def __hash__(self) -> int:
        """Return a hash that is equal for equal shapes."""
        return hash(self._core.key)

    @classmethod
    def _restored(cls, *state: Any) -> Shape:
        return cls(_core.shape_from_state(*state))

    def __reduce__(self) -> tuple[Callable[..., Shape], tuple[Any, ...]]:
        """Return what `pickle` needs."""
        return self._restored, _core.state_of_shape(self._core)

    def __repr__(self) -> str:
        """Return the number of vertices of each part, and the radius or the radii."""
        counts, radii = [len(part) for part in self.parts], self.radii
        few = len(counts) <= _FEW_PARTS
        sizes = "+".join(map(str, counts)) if few else f"{len(counts)} parts, {sum(counts)}"
        if len(set(radii)) == 1:
            return f"Shape({sizes} vertices, radius {radii[0]:g} m)"
        each = "+".join(f"{r:g}" for r in radii) if few else f"{min(radii):g} to {max(radii):g}"
        return f"Shape({sizes} vertices, radii {each} m)"

    def _repr_svg_(self) -> str | None:
        """Return a picture for notebooks; None for more than 20 000 vertices."""
        return svg.picture([svg.Layer(self._rings(), VEHICLE, VEHICLE)], repr(self))

    def _rings(self) -> Iterator[NDArray[np.float64]]:
        """Return the outline of each part, for drawing [m]."""
        return map(outline, self.parts, self.radii)


def cores(shapes: Sequence[Shape], argument: str = "shapes") -> list[_core.Shape]:
    """Return the kernel's objects of a sequence of shapes."""
    listed = []
    for i, shape in enumerate(as_list(shapes, argument)):
        if not isinstance(shape, Shape):
            refuse(argument, "must be a Shape, as of Shape.hull", type(shape).__name__, index=i)
        listed.append(shape._core)
    return listed


def _of_piece(piece: geo.Piece, radius: float) -> list[Shape]:
    """Return the shapes of a piece of a geometry; errors name its place."""
    points, *holes = piece.rings
    try:
        if piece.kind == "Polygon":
            return [Shape.concave(points, holes, radius)]
        if piece.kind == "Point":
            return [Shape.hull(points, radius)]
        if len(points) < 2:
            refuse("points", "a LineString needs at least 2 points", status=Status.TOO_FEW_POINTS)
        Shape.hull(points)  # checks all points
        return [Shape.hull(points[i : i + 2], radius) for i in range(len(points) - 1)]
    except InputError as error:
        if error.argument == "radius":
            raise
        hole = re.fullmatch(r"holes\[(\d+)\]", error.argument)
        where = f"{piece.where}[{int(hole[1]) + 1}]" if hole else piece.where
        rule = re.sub(r"holes\[(\d+)\]", lambda m: f"{piece.where}[{int(m[1]) + 1}]", error.rule)
        raise InputError(error.status, where, error.index, rule) from None


def _points(**named: tuple[float, float]) -> NDArray[np.float64]:
    return np.array([as_vector(point, name, "x, y") for name, point in named.items()])


def outlined(points: NDArray[np.float64], policy: ConcavePolicy, radius: float = 0.0) -> Shape:
    """Return a polygon that may be concave, according to a policy for concave outlines.

    Parameters
    ----------
    points : ndarray, shape (n, 2)
        Vertices in order [m].
    policy : {'decompose', 'hull', 'reject'}
        Constructor to use: `Shape.concave`, `Shape.hull` or `Shape.polygon`.
    radius : float
        Radius [m], >= 0.

    Raises
    ------
    InputError
        As for the constructor.
    """
    if policy == "decompose":
        return Shape.concave(points, radius=radius)
    return (Shape.hull if policy == "hull" else Shape.polygon)(points, radius)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Closest(Record):
    """Distance of two shapes a and b, with a certified lower bound and the closest points.

    ``point_b == point_a + distance * direction`` up to rounding. If shapes with several parts
    overlap, all fields describe the deepest pair of parts. With poses, `collide` may return True
    although `distance` is positive: then `distance` is smaller than the rounding error of the
    poses.

    Attributes
    ----------
    distance : float
        Signed distance [m]. Negative: the shapes overlap, and this is minus the penetration depth.
        It is never smaller than the true distance.
    lower_bound : float
        Certified lower bound of the distance [m]. It is never greater than the true distance.
    point_a, point_b : ndarray
        Closest points of a and of b, shape (2,) [m]. At overlap: the deepest points.
    direction : ndarray
        Unit vector from a to b, shape (2,). At contact or overlap: moving b in this direction
        separates the shapes.
    feature_a, feature_b : tuple of 3 int
        The edge of a and the edge of b that determine the distance: index of the part, and indices
        of two vertices of this part. If the two vertices are equal, the feature is a vertex.
    iterations : int
        Number of iterations of the GJK loop on this pair of parts.
    status : Status
        Always SUCCESS, because a query without a result raises `InputError`.
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Penetration(Record):
    """Penetration depth of two shapes a and b, and the shortest translation that separates them.

    ``point_b == point_a - depth * direction`` up to rounding. For shapes with several parts, all
    fields describe the deepest pair of parts. A longer translation may be needed to separate the
    whole shapes.

    Attributes
    ----------
    depth : float
        Penetration depth [m], >= 0. It is ``-distance``, and never greater than the true depth.
    upper_bound : float
        Certified upper bound of the depth [m].
    direction : ndarray
        Unit vector, shape (2,). Moving b by ``depth * direction`` separates the shapes.
    point_a : ndarray
        Point of a that is deepest in b, shape (2,) [m].
    point_b : ndarray
        Point of b that is deepest in a, shape (2,) [m].
    feature_a, feature_b : tuple of 3 int
        The edge of a and the edge of b that determine the depth, as in `Closest`.
    """

    depth: float
    upper_bound: float
    direction: NDArray[np.float64]
    point_a: NDArray[np.float64]
    point_b: NDArray[np.float64]
    feature_a: tuple[int, int, int]
    feature_b: tuple[int, int, int]


def collide(
    a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> bool:
    """Return whether two shapes have a common point. Contact is a collision.

    Without poses, the result is exact for the given doubles, as in rational arithmetic, and is the
    same on every machine. With poses, a gap smaller than the rounding error of the transform
    counts as a collision. A shape with a coordinate that is not 0, but below 1e-40 m in magnitude,
    is treated as if it had a pose.

    Parameters
    ----------
    a, b : Shape
        The shapes.
    pose_a, pose_b : (x, y, yaw), optional
        Poses of the shapes [m, m, rad]. Default: (0, 0, 0).

    Raises
    ------
    InputError
        NON_FINITE or COORD_RANGE: a pose is not finite or out of range. INVALID_INPUT: an argument
        is not a shape or not a pose.

    Notes
    -----
    Zhang et al., "Barycode-based GJK Algorithm", level 1 (Alg. 6), with termination conditions
    that include the rounding error.
    """
    try:
        return _core.collide(a._core, b._core, pose_a, pose_b)  # type: ignore[arg-type]
    except (AttributeError, TypeError) as error:
        raise _wrong_argument(a, b, pose_a, pose_b) from error


def distance(
    a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> float:
    """Return the signed distance of two shapes [m]. Negative: minus the penetration depth.

    The result is an upper bound of the true distance. Its relative error is at most 1e-9, or the
    rounding error of the coordinates if that is larger. `closest` also returns a certified lower
    bound. If shapes with several parts overlap, the result is that of the deepest pair of parts.
    Parameters and errors are as for `collide`.
    """
    try:
        return _core.distance(a._core, b._core, pose_a, pose_b)  # type: ignore[arg-type]
    except (AttributeError, TypeError) as error:
        raise _wrong_argument(a, b, pose_a, pose_b) from error


def closest(
    a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> Closest:
    """Return the distance of two shapes, its certified lower bound, and the closest points.

    Parameters and errors are as for `collide`.

    Notes
    -----
    Zhang et al., "Barycode-based GJK Algorithm", level 3 (section II-A). The direction is computed
    from the final simplex and not from the closest points, so it is also defined at contact.
    """
    try:
        found = _core.closest(a._core, b._core, pose_a, pose_b)  # type: ignore[arg-type]
    except (AttributeError, TypeError) as error:
        raise _wrong_argument(a, b, pose_a, pose_b) from error
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
    a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> Penetration | None:
    """Return the penetration depth of two shapes, or None if their `distance` is positive.

    Parameters and errors are as for `collide`. For shapes with several parts, see `Penetration`.

    Notes
    -----
    The depth is the minimum over all edge normals of the Minkowski difference. The expanding
    polytope algorithm (EPA) converges to the same value.
    """
    deepest = closest(a, b, pose_a, pose_b)
    if deepest.distance > 0.0:
        return None
    return Penetration(
        -deepest.distance,
        -deepest.lower_bound,
        deepest.direction,
        deepest.point_a,
        deepest.point_b,
        deepest.feature_a,
        deepest.feature_b,
    )


def _wrong_argument(a: object, b: object, pose_a: object, pose_b: object) -> InputError:
    """Return the error that names the argument of the wrong type. Called if a query failed."""
    for name, shape in (("a", a), ("b", b)):
        if not isinstance(shape, Shape):
            rule = f"must be a Shape (got {type(shape).__name__})"
            return InputError(Status.INVALID_INPUT, name, None, rule)
    name, pose = ("pose_b", pose_b) if _core.is_pose(pose_a) else ("pose_a", pose_a)
    if np.ma.is_masked(pose):
        rule = "must not be masked: remove the element"
        return InputError(Status.INVALID_INPUT, name, None, rule)
    return InputError(Status.INVALID_INPUT, name, None, f"must be (x, y, yaw) (got {short(pose)})")
