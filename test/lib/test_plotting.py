# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures show the shapes that are meant."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
pytest.importorskip("shapely", reason="shapely is not installed")

import shapely
from matplotlib.figure import Figure

from gjk_collision import Shape
from gjk_collision.plotting import draw_pair, draw_shape, outline, place

SHAPES = {
    "circle": [(1.0, 2.0)],
    "capsule": [(0.0, 0.0), (3.0, 1.0)],
    "triangle": [(0.0, 0.0), (2.0, 0.0), (1.0, 2.0)],
    "box": [(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)],
}


@pytest.mark.parametrize("points", SHAPES.values(), ids=SHAPES.keys())
def test_outline_is_that_of_all_points_within_the_radius(points):
    kind = [shapely.Point, shapely.LineString, shapely.Polygon][min(len(points), 3) - 1]
    core = kind(points[0] if len(points) == 1 else points)
    drawn = shapely.Polygon(outline(points, 0.7))
    assert drawn.is_valid
    assert drawn.exterior.is_ccw
    # Chords cut off no more than 0.7 * (1 - cos(step / 2)).
    assert drawn.hausdorff_distance(core.buffer(0.7, quad_segs=64)) < 0.01


def test_without_radius_the_points_are_the_outline():
    np.testing.assert_array_equal(outline(SHAPES["box"]), SHAPES["box"])


def test_place_turns_counter_clockwise_and_moves():
    np.testing.assert_allclose(place([(1.0, 0.0)], (2.0, 3.0, np.pi / 2)), [(2.0, 4.0)])


def test_draws_every_part():
    axes = Figure().add_subplot()
    notch = [(0, 0), (4, 0), (4, 3), (2, 1), (0, 3)]
    shape = Shape.concave(notch)
    patches = draw_shape(axes, shape, pose=(1.0, 0.0, 0.0), facecolor="grey")
    assert len(patches) == len(shape.parts) >= 2
    area = sum(shapely.Polygon(patch.get_path().vertices).area for patch in patches)
    assert area == pytest.approx(shapely.Polygon(notch).area)


def test_pair_names_its_distance():
    axes = Figure().add_subplot()
    draw_pair(axes, (0.0, 0.0), (0.0, 1.5), 1.5)
    assert [text.get_text() for text in axes.texts] == ["1.50 m"]
