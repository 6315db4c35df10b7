# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads geometries of GeoJSON, and objects with `__geo_interface__`, such as those of shapely.

S. Gillies, "A Python Protocol for Geospatial Data"; GeoJSON: RFC 7946.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import as_floats, as_list
from ..errors import refuse
from ..verdict import Status

__all__ = ["Piece", "pieces"]

_KINDS = (
    "Point",
    "LineString",
    "LinearRing",
    "Polygon",
    "MultiPoint",
    "MultiLineString",
    "MultiPolygon",
)


_DEEPEST = 16  # levels of features and collections in each other


class Piece(NamedTuple):
    """A point, a polyline or a polygon.

    `where` names its place in the input, `rings` are its points, shape (n, 2) [m]: one array, or
    the outline of a polygon and its holes.
    """

    kind: str
    where: str
    rings: list[NDArray[np.float64]]


def pieces(g: Any, where: str = "g", depth: int = 0) -> Iterator[Piece]:
    """Yield the points, polylines and polygons of a geometry.

    Raises
    ------
    InputError
        INVALID_INPUT: it is not a geometry, or more than 16 features and collections are in each
        other. TOO_FEW_POINTS: it is empty. ARRAY_MISMATCH: a
        position is not x, y.
    """
    found = getattr(g, "__geo_interface__", g)
    if not isinstance(found, Mapping) or "type" not in found:
        rule = "must have __geo_interface__ or be a mapping as in GeoJSON"
        refuse(where, rule, type(g).__name__)
    if depth > _DEEPEST:
        refuse("g", f"must not hold more than {_DEEPEST} features or collections in each other")
    kind = found["type"]
    if not isinstance(kind, str):
        refuse(where, "type must be a string", type(kind).__name__)
    if kind == "Feature":
        yield from pieces(found.get("geometry"), f"{where}.geometry", depth + 1)
        return
    for group, members in (
        ("GeometryCollection", "geometries"),
        ("FeatureCollection", "features"),
    ):
        if kind == group:
            listed = _listed(found.get(members), f"{where}.{members}")
            for i, each in enumerate(listed):
                yield from pieces(each, f"{where}.{members}[{i}]", depth + 1)
            return
    if kind not in _KINDS:
        names = ", ".join(_KINDS)
        refuse(where, f"type must be one of {names}, GeometryCollection, Feature", short(kind))
    place, coordinates = f"{where}.coordinates", found.get("coordinates")
    if not kind.startswith("Multi"):
        yield _piece(kind, coordinates, place)
        return
    for i, each in enumerate(_listed(coordinates, place)):
        yield _piece(kind.removeprefix("Multi"), each, f"{place}[{i}]")


def _piece(kind: str, coordinates: Any, where: str) -> Piece:
    if kind == "Polygon":
        rings = _listed(coordinates, where)
        return Piece(kind, where, [_points(r, f"{where}[{i}]") for i, r in enumerate(rings)])
    listed = [coordinates] if kind == "Point" else coordinates
    return Piece("Point" if kind == "Point" else "LineString", where, [_points(listed, where)])


def _listed(values: Any, where: str) -> list[Any]:
    listed = as_list(values, where)
    if not listed:
        refuse(where, "must not be empty", status=Status.TOO_FEW_POINTS)
    return listed


def _points(values: Any, where: str) -> NDArray[np.float64]:
    points = as_floats(_listed(values, where), where)
    if points.size == 0:
        refuse(where, "must not be empty", status=Status.TOO_FEW_POINTS)
    if points.ndim != 2 or points.shape[1] != 2:
        rule = f"must be a list of positions x, y (got shape {points.shape})"
        if points.ndim == 2 and points.shape[1] == 3:
            rule += ": drop z, for example with shapely.force_2d"
        refuse(where, rule, status=Status.ARRAY_MISMATCH)
    return points
