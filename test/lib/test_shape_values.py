# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Bounds, area, equality, transforms, geometries and pictures of shapes.

The oracles are shapely, rational arithmetic and closed forms.
"""

import re
from fractions import Fraction
from math import nextafter, pi
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely
from shapely import affinity

from gjk_collision import InputError, Path, Region, Scene, Shape, Status, collide

SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
WEDGE = [(0.0, 0.0), (4.0, 0.0), (1.0, 1.0), (0.0, 4.0)]


def random_shapes(seed: int, count: int, scale: float = 1.0) -> list[Shape]:
    """Hulls of 1 to 5 points, every third without a radius."""
    rng = np.random.default_rng(seed)
    return [
        Shape.hull(
            scale * (rng.normal(size=(rng.integers(1, 6), 2)) + rng.normal(size=2)),
            0.0 if k % 3 == 0 else scale * rng.random(),
        )
        for k in range(count)
    ]


def compound(*shapes: Shape) -> Shape:
    return Shape.compound(shapes)


def star(n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    t = np.linspace(0.0, 2.0 * pi, n, endpoint=False)
    return np.column_stack([np.cos(t), np.sin(t)]) * (2.0 + np.sin(9.0 * t))[:, None]


# ---- bounds


def test_bounds_contain_the_shape_and_are_the_next_doubles() -> None:
    for shape in random_shapes(1, 200, 1e3):
        low_x, low_y, high_x, high_y = shape.bounds
        for axis, low, high in ((0, low_x, high_x), (1, low_y, high_y)):
            r = Fraction(shape.radius)
            least = Fraction(shape.parts[0][:, axis].min()) - r
            most = Fraction(shape.parts[0][:, axis].max()) + r
            assert Fraction(low) <= least < Fraction(nextafter(low, np.inf))
            assert Fraction(nextafter(high, -np.inf)) < most <= Fraction(high)
    assert Shape.polygon(SQUARE).bounds == (0.0, 0.0, 1.0, 1.0)
    two = Shape.compound([Shape.circle(1.0, (5.0, 0.0)), Shape.point((-3.0, 9.0))])
    assert two.bounds == (-3.0, -1.0, 6.0, 9.0)


# ---- area


def test_area_of_parts_that_overlap_is_refused() -> None:
    boxes = Shape.compound([Shape.box(4.0, 2.0), Shape.box(4.0, 2.0, (3.0, 1.0))])
    for shape in (boxes, Shape.concave(WEDGE, radius=0.25), Shape.compound([boxes] * 500)):
        with pytest.raises(
            InputError, match=r"the parts overlap: if all are .* Region\(shape.parts\)"
        ) as caught:
            _ = shape.area
        assert (caught.value.status, caught.value.argument) == (Status.INVALID_INPUT, "area")
    assert Region(boxes.parts).area == 15.0


@pytest.mark.parametrize("outline", [WEDGE, star(500), star(500) + 1e5])
def test_area_of_a_concave_shape(outline: Any) -> None:
    polygon = shapely.Polygon(outline)
    shape = Shape.concave(outline)
    assert shape.area == pytest.approx(polygon.area, rel=1e-12)
    # The rounded parts overlap by rounding errors.
    moved = shape.transformed((1e3, -1e3, 1.0))
    assert moved.area == pytest.approx(polygon.area, rel=1e-9)


# ---- equality


def test_equal_shapes_are_the_same_parts_however_they_were_given() -> None:
    one = Shape.polygon(SQUARE)
    same = [
        Shape.polygon(SQUARE[::-1]),
        Shape.polygon([*SQUARE, SQUARE[0]]),
        Shape.polygon([*SQUARE[2:], *SQUARE[:2]]),
        Shape.polygon([(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (-0.0, 1.0)]),
        Shape.hull([*SQUARE, (0.5, 0.5)]),
        Shape.concave(SQUARE),
        Shape.box(1.0, 1.0, (0.5, 0.5)),
        Shape.compound([one]),
    ]
    for each in same:
        assert each == one and hash(each) == hash(one)
    assert len({one, *same}) == 1
    assert Shape.capsule((0, 0), (1, 2), 0.5) == Shape.capsule((1, 2), (0, 0), 0.5)
    assert Shape.segment((1, 2), (1, 2)) == Shape.point((1, 2)) == Shape.circle(0.0, (1, 2))
    parts = [Shape.circle(1.0), Shape.box(1.0, 2.0)]
    assert Shape.compound(parts) == Shape.compound(parts[::-1])


def test_other_shapes_are_not_equal() -> None:
    one = Shape.polygon(SQUARE)
    others = [
        Shape.polygon(SQUARE, 5e-324),
        Shape.polygon([*SQUARE[:3], (0.0, nextafter(1.0, 2.0))]),
        Shape.hull(SQUARE[:3]),
        Shape.compound([one, one]),
        Shape.compound([one, Shape.point((0.5, 0.5))]),
        one.transformed((1e-9, 0.0, 0.0)),
        SQUARE,
        None,
    ]
    assert all(one != each for each in others)
    assert Shape.point((1e-300, 0.0)) != Shape.point((0.0, 0.0))


# ---- transforms


def test_transformed_against_shapely() -> None:
    rng = np.random.default_rng(5)
    two = Shape.concave(star(60)), Shape.concave(WEDGE, radius=1.0)
    for shape in (*random_shapes(5, 100, 10.0), *two):
        x, y, yaw = rng.normal(size=3) * [100.0, 100.0, 3.0]
        moved = shape.transformed((x, y, yaw))
        assert moved.radii == shape.radii
        for part, placed in zip(shape.parts, moved.parts, strict=True):
            turned = affinity.rotate(shapely.MultiPoint(part), yaw, (0, 0), use_radians=True)
            right = affinity.translate(turned, x, y)
            assert shapely.MultiPoint(placed).hausdorff_distance(right) < 1e-12
    assert Shape.box(2.0, 1.0).transformed((4.0, 5.0, 0.0)) == Shape.box(2.0, 1.0, (4.0, 5.0))
    same = Shape.concave(WEDGE, radius=0.5)
    assert same.transformed((0.0, 0.0, 0.0)) == same
    assert np.array_equal(same.transformed((0.0, 0.0, 0.0)).parts[0], same.parts[0])


def test_a_transformed_concave_shape_has_no_gap_along_its_seams() -> None:
    shape = Shape.concave(star(60))
    rng = np.random.default_rng(6)
    for yaw in rng.uniform(-3.0, 3.0, 20):
        moved = shape.transformed((0.1, 0.2, yaw))
        for a in moved.parts:
            for b in moved.parts:
                shared = {tuple(v) for v in a.tolist()} & {tuple(v) for v in b.tolist()}
                if len(shared) != 2:
                    continue
                p, q = shared
                for t in rng.random(5):
                    on = (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]))
                    assert collide(moved, Shape.point(on))


def test_poses_that_lose_a_shape_are_refused() -> None:
    small = Shape.box(1e-3, 1e-3)
    with pytest.raises(InputError, match="smaller than the rounding error") as caught:
        small.transformed((1e14, 1e14, 0.0))
    assert caught.value.status is Status.DEGENERATE and caught.value.argument == "pose"
    assert Shape.circle(1e-3).transformed((1e14, 1e14, 0.0)).bounds[0] < 1e14
    with pytest.raises(InputError, match="range of 1e15 m"):
        Shape.box(2.0, 2.0).transformed((1e15, 0.0, 0.0))
    with pytest.raises(InputError, match="must be finite"):
        small.transformed((np.nan, 0.0, 0.0))


# ---- geometries


CLOSED = [*SQUARE, SQUARE[0]]
SIDES = [Shape.segment(*CLOSED[i : i + 2]) for i in range(4)]
TWO = [shapely.Polygon(SQUARE), shapely.box(5.0, 5.0, 6.0, 7.0)]
BOW = shapely.MultiPolygon([([*SQUARE], []), ([(0, 0), (1, 1), (1, 0), (0, 1)], [])])


def geo(kind: str, coordinates: Any) -> dict[str, Any]:
    return {"type": kind, "coordinates": coordinates}


def feature(geometry: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": {}, "geometry": geometry}


GEOMETRIES: list[tuple[Any, Shape]] = [
    (shapely.Point(1.0, 2.0), Shape.point((1.0, 2.0))),
    (shapely.Polygon(SQUARE), Shape.polygon(SQUARE)),
    (shapely.Polygon(WEDGE), Shape.concave(WEDGE)),
    (shapely.LineString(SQUARE[:2]), SIDES[0]),
    (shapely.LineString(SQUARE[:3]), compound(*SIDES[:2])),
    (shapely.LinearRing(SQUARE), compound(*SIDES)),
    (shapely.MultiPoint(SQUARE[:2]), compound(Shape.point(SQUARE[0]), Shape.point(SQUARE[1]))),
    (shapely.MultiLineString([SQUARE[:2], SQUARE[2:]]), compound(SIDES[0], SIDES[2])),
    (shapely.MultiPolygon(TWO), compound(Shape.polygon(SQUARE), Shape.box(1, 2, (5.5, 6.0)))),
    (
        shapely.GeometryCollection([shapely.Point(1.0, 2.0), shapely.Polygon(WEDGE)]),
        compound(Shape.point((1.0, 2.0)), Shape.concave(WEDGE)),
    ),
    (geo("Polygon", [CLOSED]), Shape.polygon(SQUARE)),
    (geo("Polygon", [np.array(SQUARE)]), Shape.polygon(SQUARE)),
    (feature(geo("Point", [1, 2])), Shape.point((1.0, 2.0))),
    ({"type": "Feature", "geometry": geo("Point", [1, 2])}, Shape.point((1.0, 2.0))),
    ({"type": "FeatureCollection", "features": [feature(TWO[0])]}, Shape.polygon(SQUARE)),
]


@pytest.mark.parametrize(("geometry", "shape"), GEOMETRIES)
def test_from_geo(geometry: Any, shape: Shape) -> None:
    assert Shape.from_geo(geometry) == shape
    assert Shape.from_geo(geometry, 0.25) == shape.inflated(0.25)


HOLE = [(1, 1), (4, 1), (4, 4)]
TWICE = [[(0, 0), (9, 0), (9, 9), (0, 9)], HOLE, HOLE]
BOTH_HOLES = r"^g.coordinates\[[12]\].*g.coordinates\[[12]\]"
BAD_GEOMETRIES: list[tuple[Any, Status, str]] = [
    (3, Status.INVALID_INPUT, "g: must have __geo_interface__"),
    ({"type": "Circle"}, Status.INVALID_INPUT, "g: type must be one of .*'Circle'"),
    ({"type": []}, Status.INVALID_INPUT, "g: type must be a string"),
    ({"coordinates": []}, Status.INVALID_INPUT, "g: must have __geo_interface__"),
    ({"type": "Polygon"}, Status.INVALID_INPUT, "g.coordinates: must be a sequence"),
    (geo("Point", None), Status.INVALID_INPUT, "g.coordinates"),
    (geo("Point", "12"), Status.INVALID_INPUT, "g.coordinates"),
    (feature(None), Status.INVALID_INPUT, "g.geometry: must have"),
    (shapely.Polygon(), Status.TOO_FEW_POINTS, "g.coordinates: must not be empty"),
    (shapely.Point(), Status.TOO_FEW_POINTS, "g.coordinates: must not be empty"),
    (shapely.MultiPolygon(), Status.TOO_FEW_POINTS, "g.coordinates: must not be empty"),
    (shapely.GeometryCollection(), Status.TOO_FEW_POINTS, "g.geometries: must not be empty"),
    (shapely.Point(1.0, 2.0, 3.0), Status.ARRAY_MISMATCH, "shapely.force_2d"),
    (geo("Polygon", [[(0, 0), (1,)]]), Status.ARRAY_MISMATCH, r"g.coordinates\[0\]\[1\]"),
    (geo("Polygon", [SQUARE[:2]]), Status.TOO_FEW_POINTS, "g.coordinates"),
    (geo("LineString", SQUARE[:1]), Status.TOO_FEW_POINTS, "g.coordinates: a LineString needs"),
    (geo("LineString", [[1, 2], [3, 4], [5, np.nan]]), Status.NON_FINITE, r"^g.coordinates\[2\]"),
    (geo("MultiPoint", [(0, 1), (np.nan, 0)]), Status.NON_FINITE, r"g.coordinates\[1\]\[0\]: "),
    (geo("Polygon", TWICE), Status.INVALID_INPUT, BOTH_HOLES),
    (BOW, Status.INVALID_INPUT, r"g.coordinates\[1\]\[0\]: the edge from this vertex crosses"),
]


@pytest.mark.parametrize(("geometry", "status", "text"), BAD_GEOMETRIES)
def test_from_geo_names_what_is_wrong(geometry: Any, status: Status, text: str) -> None:
    with pytest.raises(InputError, match=text) as caught:
        Shape.from_geo(geometry)
    assert caught.value.status is status


def test_the_area_of_a_sliver_is_not_negative() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        a, b = rng.normal(size=(2, 2)) * 1e6
        middle = a + rng.random() * (b - a)
        assert Shape.hull([a, middle, b]).area >= 0.0


def test_from_geo_keeps_holes() -> None:
    ring = shapely.box(0.0, 0.0, 9.0, 9.0) - shapely.box(1.0, 1.0, 2.0, 2.0)
    shape = Shape.from_geo(ring)
    assert shape.area == 80.0
    assert not collide(shape, Shape.circle(0.25), pose_b=(1.5, 1.5, 0.0))
    assert collide(shape, Shape.circle(0.5), pose_b=(1.5, 1.5, 0.0))
    pair = shapely.MultiPolygon([ring, shapely.box(20.0, 0.0, 21.0, 1.0)])
    assert Shape.from_geo(pair).area == 81.0
    bad = shapely.Polygon(ring.exterior, [[(8.0, 8.0), (10.0, 8.0), (10.0, 10.0)]])
    with pytest.raises(InputError, match=r"^g.coordinates\[1\]"):
        Shape.from_geo(bad)


# ---- pictures


@pytest.mark.parametrize(
    "given",
    [
        Shape.box(4.5, 1.8),
        Shape.concave(star(100), radius=0.1),
        Shape.point((1e6, 2.0)),
        Shape.point((0.0, 0.0)),
        Shape.segment((0.0, 0.0), (1.0, 0.0)),
        Shape.capsule((0.0, 0.0), (0.0, 1e-9), 1e-12),
        Shape.circle(1e15, (1e15, -1e15)),
        Shape.polygon([(0.0, 0.0), (2.0, 0.0), (2.0, 0.0), (2.0, 1.0)], 0.2),
        Scene([Shape.circle(1.0), Shape.box(1.0, 2.0)], [(0, 0, 0), (5, 3, 1)]),
        Scene([Shape.circle(1.0)], inside=Region([[(-9, -3), (9, -3), (9, 3), (-9, 3)]])),
        Region([[(0, 0), (9, 0), (0, 9)]], [[(1, 1), (2, 1), (1, 2)]]),
        Path.straight([(0, 0, 0), (4, 4, 1)]),
        Path.arcs((0, 0, 0), [[(0.2, 5.0)], [(-0.2, 5.0)]]),
    ],
)
def test_pictures_are_valid_and_inside_their_frame(given: Any) -> None:
    picture = given._repr_svg_()
    assert picture is not None and "nan" not in picture and "inf" not in picture
    root = ElementTree.fromstring(picture)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert 50 <= width <= 300 and 50 <= height <= 300
    for path in root.findall("{http://www.w3.org/2000/svg}path"):
        numbers = np.array(re.sub("[MLZ]", " ", path.attrib["d"]).split(), float)
        assert (numbers >= 0.0).all() and (numbers <= max(width, height)).all()


def test_a_huge_shape_has_no_picture() -> None:
    assert Shape.compound([Shape.box(1.0, 1.0)] * 5001)._repr_svg_() is None
    assert Scene([Shape.box(1.0, 1.0)] * 5001)._repr_svg_() is Scene([])._repr_svg_() is None
