# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Regions in which a vehicle must stay."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..arguments import as_floats, as_list, as_number, located_in
from ..errors import InputError, refuse
from ..formats import svg
from ..formats.figures import VEHICLE, VEHICLE_AREA, rings
from ..verdict import Status
from .snapping import snapped
from .union import boundary_of

__all__ = ["OUTSIDE", "Region"]

OUTSIDE: Final = -2
"""Id that results report for the outside of a region, like that of an obstacle."""


class Region:
    """Area in which a vehicle must stay: the union of outlines, without holes.

    The region is the interior of the union of the closed outlines, minus the closed holes. A shape
    is in the region if all of its points are in the region; it may not touch the boundary. If two
    outlines overlap or share a part of an edge, a shape can pass from one to the other. If they
    share only a point, it cannot. Gaps between outlines are outside, however narrow.

    The boundary is exact if no two edges cross in their interiors. Otherwise, the crossings are
    rounded to the nearest doubles. The distance of a shape from the two edges must then exceed the
    rounding error. The error is at most 1e-9 m if coordinates do not exceed 5e6 m.

    Regions are immutable. Pass one to `Scene` as `inside`.

    Parameters
    ----------
    outlines : sequence of array_like, each of shape (n, 2)
        Vertices of each outline in order [m], n >= 3, in either direction; the last vertex may
        repeat the first. Outlines may be concave, but may not cross or touch themselves.
    holes : sequence of array_like, each of shape (n, 2)
        Vertices of each hole, as for `outlines`. Holes may overlap each other and the outlines.
    snap : float
        Distance [m], 0 or >= 1e-40. Each vertex, in the order of the outlines, is moved to the
        nearest earlier vertex within this distance that was not moved itself. Then each edge is
        bent to the vertices within this distance of it. This closes gaps between outlines, and
        moves points of the boundary by at most 2 `snap`. If more than two vertices follow each
        other at such distances, a gap may stay: use a larger `snap`.

    Raises
    ------
    InputError
        `argument` is ``outlines`` or ``holes``, and `index` is the index of the outline.
        EMPTY_REQUEST: there is no outline. TOO_FEW_POINTS. DEGENERATE: an outline has no area, or
        the holes leave no region. INVALID_INPUT: an outline crosses or touches itself, or a
        coordinate other than 0 is below 1e-40 m in magnitude. LIMIT_EXCEEDED: edges of different
        outlines and holes cross or touch more than 50 000 times; crossings inside of a third
        outline and shared vertices do not count. NON_FINITE, COORD_RANGE, ARRAY_MISMATCH.
    """

    __slots__ = (
        "_core",
        "_holes",
        "_inflation",
        "_moved",
        "_outlines",
        "_radii",
        "_segments",
        "_snap",
    )

    def __init__(
        self,
        outlines: Sequence[ArrayLike],
        holes: Sequence[ArrayLike] = (),
        snap: float = 0.0,
    ) -> None:
        self._outlines = _checked(outlines, "outlines")
        self._holes = _checked(holes, "holes")
        if not self._outlines:
            refuse("outlines", "must hold at least one outline", status=Status.EMPTY_REQUEST)
        self._snap = as_number(snap, "snap")
        if not (self._snap == 0.0 or 1e-40 <= self._snap <= _core.MAX_COORDINATE):
            refuse("snap", "must be 0 or lie in [1e-40, 1e15] m", self._snap)
        rings = [*self._outlines, *self._holes]
        for k, ring in enumerate(rings):
            if len(ring) == 0:
                self._refuse_few(k, 0)
        if self._snap > 0.0:
            rings = snapped(rings, self._snap)
        vertices = [
            np.flatnonzero((ring != np.roll(ring, -1, axis=0)).any(axis=1)) for ring in rings
        ]
        for k, kept in enumerate(vertices):
            if len(kept) < 3:
                self._refuse_few(k, len(kept))
        count = len(self._outlines)
        try:
            segments, radii = boundary_of(rings[:count], rings[count:], vertices)
        except InputError as error:
            if self._snap == 0.0:
                raise
            rule = f"{error.rule}, after snapping by {self._snap} m"
            raise InputError(error.status, error.argument, error.index, rule) from None
        if len(segments) == 0:
            refuse("holes", "no region is left outside of the holes", status=Status.DEGENERATE)
        self._segments = _frozen(segments)
        self._radii = radii
        self._inflation = 0.0
        self._moved: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self._core = _core.Region(segments, radii)

    def _with_boundary(
        self, segments: NDArray[np.float64], radii: NDArray[np.float64], inflation: float = 0.0
    ) -> Region:
        """Return a region with the same outlines, whose boundary was moved.

        Equal ends of `segments` must stay equal. `radii`: distances that a shape must keep from
        each segment [m]; `inflation`: a part of each, from the true boundary. The rest is
        rounding error.
        """
        given = (self._outlines, self._holes, self._snap)
        return self._of_boundary(given, segments, radii, inflation)

    @classmethod
    def _of_boundary(
        cls,
        given: tuple[Any, ...],
        segments: NDArray[np.float64],
        radii: NDArray[np.float64],
        inflation: float,
    ) -> Region:
        """Return a region with a known boundary; `given` are the arguments of `Region`."""
        other = cls.__new__(cls)
        other._outlines, other._holes, other._snap = given
        other._segments, other._radii = _frozen(segments), radii
        other._inflation = inflation
        other._moved = (other._segments, radii)
        other._core = _core.Region(segments, radii, inflation)
        return other

    @property
    def outlines(self) -> tuple[NDArray[np.float64], ...]:
        """The given outlines, each of shape (n, 2) [m], read-only."""
        return self._outlines

    @property
    def holes(self) -> tuple[NDArray[np.float64], ...]:
        """The given holes, each of shape (n, 2) [m], read-only."""
        return self._holes

    @property
    def snap(self) -> float:
        """The distance [m] up to which gaps are closed."""
        return self._snap

    @property
    def boundary(self) -> NDArray[np.float64]:
        """The boundary as segments, shape (n, 4): x, y of both ends [m]. The inside is left."""
        return self._segments

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The bounding box: min x, min y, max x, max y [m]."""
        ends = self._segments.reshape(-1, 2)
        low, high = ends.min(axis=0).tolist(), ends.max(axis=0).tolist()
        return low[0], low[1], high[0], high[1]

    @property
    def area(self) -> float:
        """The area [m^2], rounded."""
        x, y, *_ = self.bounds
        local = self._segments - [x, y, x, y]
        cross = local[:, 0] * local[:, 3] - local[:, 1] * local[:, 2]
        return 0.5 * fsum(cross.tolist())

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point is in the region, shape (...). The boundary is not.

        Near a piece of the boundary that was rounded, the answer is also False within 1e-13 of the
        largest coordinate of the region.

        Parameters
        ----------
        points : array_like, shape (..., 2)
            x, y of each point [m].

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        given = as_floats(points, "points")
        if given.ndim == 0 or given.shape[-1] != 2:
            refuse("points", "must have shape (..., 2)", given.shape, status=Status.ARRAY_MISMATCH)
        with located_in(points=given.shape[:-1]):
            inside: NDArray[np.bool_] = self._core.contains(given).reshape(given.shape[:-1])
        return inside

    def __eq__(self, other: object) -> bool:
        """Return whether the outlines, the holes and `snap` are the same, in the same order."""
        if not isinstance(other, Region):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Return a hash of the outlines, the holes and `snap`."""
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        # The sum replaces -0 by 0, which is equal.
        rings = [
            tuple((ring + 0.0).tobytes() for ring in group)
            for group in (self._outlines, self._holes)
        ]
        moved = () if self._moved is None else tuple((a + 0.0).tobytes() for a in self._moved)
        return (*rings, self._snap, moved, self._inflation)

    def _refuse_few(self, k: int, count: int) -> None:
        """Refuse ring k of the outlines and holes, which has too few vertices."""
        first_hole = len(self._outlines)
        argument, k = ("outlines", k) if k < first_hole else ("holes", k - first_hole)
        snap = f", after snapping by {self._snap} m" if self._snap > 0.0 else ""
        rule = f"an outline needs at least 3 distinct vertices (got {count}{snap})"
        refuse(argument, rule, index=k, status=Status.TOO_FEW_POINTS)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make an equal region, for pickle and copy."""
        given = self._outlines, self._holes, self._snap
        if self._moved is None:
            return type(self), given
        return self._of_boundary, (given, *self._moved, self._inflation)

    def __repr__(self) -> str:
        """Return the numbers of outlines and holes, and the bounds."""
        bounds = ", ".join(f"{value:.6g}" for value in self.bounds)
        return f"<Region: {len(self._outlines)} outlines, {len(self._holes)} holes, in ({bounds})>"

    def _repr_svg_(self) -> str | None:
        """Return a picture for notebooks; None for more than 20 000 vertices."""
        return svg.picture([self._layer()], repr(self))

    def _layer(self) -> svg.Layer:
        return svg.Layer(rings(self.boundary), VEHICLE, VEHICLE_AREA)


def _frozen(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a copy that cannot be made writeable."""
    return np.frombuffer(values.tobytes()).reshape(values.shape)


def _checked(rings: Sequence[ArrayLike], argument: str) -> tuple[NDArray[np.float64], ...]:
    checked = []
    for k, ring in enumerate(as_list(rings, argument)):
        try:
            xy = as_floats(ring, argument, 2)
        except InputError as error:
            raise InputError(error.status, argument, k, error.rule) from None
        try:
            _core.check_coordinates(xy, argument)
        except InputError as error:
            rule = f"vertex {(error.index or 0) // 2}: {error.rule}"
            raise InputError(error.status, argument, k, rule) from None
        tiny = (xy != 0.0) & (np.abs(xy) < 1e-40)
        if tiny.any():
            vertex = int(np.argmax(tiny.any(axis=1)))
            rule = f"vertex {vertex}: a coordinate must be 0 or at least 1e-40 m in magnitude"
            refuse(argument, rule, index=k)
        checked.append(_frozen(xy))
    return tuple(checked)
