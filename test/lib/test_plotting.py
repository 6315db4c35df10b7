# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures show the shapes that are meant."""

import io
import itertools
import tempfile

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
pytest.importorskip("shapely", reason="shapely is not installed")

import shapely
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gjk_collision import InputError, Path, PathResult, Region, Scene, Shape, Verdict
from gjk_collision.plotting import (
    VERDICT_COLOURS,
    draw_motion,
    draw_pair,
    draw_path,
    draw_region,
    draw_result,
    draw_scene,
    draw_shape,
    draw_trajectories,
    outline,
    place,
)

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


NOTCH = [(0, 0), (10, 0), (10, 10), (6, 10), (6, 6), (4, 6), (4, 10), (0, 10)]
HOLES = [[(1, 1), (3, 1), (2, 3)], [(5, 1), (8, 1), (8, 4), (5, 4)], [(8, 4), (9, 4), (9, 6)]]
BOX = Shape.box(4.0, 4.0)
CAR = Shape.box(4.0, 2.0)
AREAS = {
    "convex": Shape.polygon(NOTCH[:3]),
    "circle": Shape.circle(1.0),
    "concave": Shape.concave(NOTCH),
    "holes": Shape.concave(NOTCH, HOLES),
    "rounded": Shape.concave(NOTCH, HOLES, radius=0.25),
    "far": Shape.concave([(x + 6.6e5, y + 4e6) for x, y in NOTCH]),
    "shared edges": Shape.compound([BOX, Shape.box(4, 4, center=(4, 0)), BOX, Shape.box(1, 4)]),
    "overlap": Shape.compound([BOX, Shape.box(6, 1, (3, 1)), Shape.capsule((0, 0), (0, 5), 1)]),
    "apart": Shape.compound([BOX, Shape.circle(1.0, (9, 0))]),
}  # fmt: skip


def draw(how, *arguments, **options):
    axes = Figure().add_subplot()
    how(axes, *arguments, **options)
    return axes


def patches_of(axes):
    """Return the patches that are drawn, without those of the legend."""
    return [patch for patch in axes.patches if len(patch.get_path().vertices)]


def labels_of(axes):
    return [text.get_text() for text in axes.legend().get_texts()]


def rings_of(patch):
    path = patch.get_path()
    starts = [*np.flatnonzero(path.codes == path.MOVETO), len(path.vertices)]
    return [path.vertices[a:b] for a, b in itertools.pairwise(starts)]


@pytest.mark.parametrize("name", AREAS)
def test_a_shape_is_one_area_with_its_boundary(name):
    """No line is drawn between parts, and none of the boundary is missing."""
    shape = AREAS[name]
    body, rim = draw_shape(Figure().add_subplot(), shape, facecolor="grey", edgecolor="black")
    parts = zip(shape.parts, shape.radii, strict=True)
    polygons = [shapely.Polygon(outline(part, radius)) for part, radius in parts]
    truth = shapely.union_all(polygons, grid_size=1e-6)
    drawn = shapely.union_all([shapely.Polygon(ring) for ring in rings_of(body)], grid_size=1e-6)
    assert drawn.symmetric_difference(truth).area < 1e-4
    lines = shapely.MultiLineString(rings_of(rim))
    assert lines.length == pytest.approx(truth.boundary.length, rel=1e-5)
    assert lines.hausdorff_distance(truth.boundary) < 1e-4
    assert body.get_linewidth() == 0.0 and not rim.get_fill()


def test_what_has_no_area_is_drawn():
    axes = Figure().add_subplot()
    (line,) = draw_shape(axes, Shape.segment((0, 0), (3, 1)))
    np.testing.assert_array_equal(line.get_path().vertices[:2], [(0, 0), (3, 1)])
    assert draw_shape(axes, Shape.point((1, 1)), pose=(1.0, 0.0, 0.0)) == []
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [(2, 1)])
    wall = Shape.concave(
        NOTCH, [[(1, 1), (3, 1), (3, 3), (1, 3)], [(3, 1), (4, 1), (4, 3), (3, 3)]]
    )
    _, rim = draw_shape(axes, wall)
    lines = shapely.MultiLineString(rings_of(rim))
    assert lines.distance(shapely.Point(3, 2)) < 1e-9


def test_a_scene_is_drawn_at_a_time():
    scene = Scene([CAR, CAR], [(0, 0, 0), (0, 9, 0)], velocities=[(1, 0, 0), (np.nan,) * 3])
    axes = draw(draw_scene, scene)
    assert [patch.get_linestyle() for patch in patches_of(axes)] == ["solid", "solid"]
    axes = draw(draw_scene, scene, time=2.0, ids=True)
    body, rim, unknown = patches_of(axes)
    assert labels_of(axes) == ["obstacle", "pose not known"]
    assert [text.get_text() for text in axes.texts] == ["0", "1"]
    assert [text.xy for text in axes.texts] == [(2.0, 0.0), (0.0, 9.0)]
    assert body.get_path().get_extents().x1 == pytest.approx(4.0)
    assert rim.get_path().get_extents().y1 == pytest.approx(1.0)
    assert unknown.get_linestyle() == "--" and not unknown.get_fill()
    assert unknown.get_path().get_extents().y1 == pytest.approx(10.0)
    with pytest.raises(InputError, match="finite"):
        draw_scene(axes, scene, time=np.nan)


def test_no_dots_where_parts_meet():
    frame = Shape.concave(
        [(0, 0), (6, 0), (6, 5), (0, 5)], [[(1, 1), (5, 1), (5, 4), (1, 4)]], radius=0.4
    )
    for patch in draw_shape(Figure().add_subplot(), frame):
        for ring in rings_of(patch):
            assert np.hypot(*np.ptp(ring, axis=0)) > 0.1


def test_the_region_of_a_scene_is_drawn():
    road = Region([[(-9, -3), (9, -3), (9, 3), (-9, 3)]])
    axes = draw(draw_scene, Scene([CAR], inside=road))
    assert axes.patches[0].get_path().get_extents().bounds == (-9, -3, 18, 6)
    assert len(patches_of(axes)) == 3
    assert labels_of(axes) == ["region", "obstacle"]


def test_obstacles_are_those_of_the_scene():
    path = ([0.0, 2.0], [(0, 9, 0), (4, 9, 1)])
    scene = Scene(
        [AREAS["rounded"], CAR, CAR],
        [(1, 2, 3), (0, 9, 0), (0, 0, 0)],
        velocities=[(0, 0, 0), (np.nan,) * 3, (1, 0, 0.5)],
        paths=[None, path, None],
        stamps=[100.0] * 3,
        horizon=5.0,
    )
    assert scene.shapes[0] == AREAS["rounded"]
    assert scene.poses[0].tolist() == [1, 2, 3]
    assert scene.poses_at(101.0).tolist() == [[1, 2, 3], [2, 9, 0.5], [1, 0, 0.5]]
    assert np.isnan(scene.poses_at(103.0)).tolist() == [[False] * 3, [True] * 3, [False] * 3]
    assert np.isnan(scene.poses_at(99.0)[:, 0]).tolist() == [False, True, True]
    assert scene.poses_at(103.0)[2].tolist() == [3, 0, 1.5]
    assert Scene([]).poses_at(1.0).shape == (0, 3)


@pytest.mark.parametrize("velocity", [(0, 0, 0), (1, 0, 0.5), (np.nan,) * 3])
@pytest.mark.parametrize("prediction", ["unknown_is_error", "constant_velocity", "hold"])
def test_a_pose_is_known_where_queries_know_it(velocity, prediction):
    for path in (None, ([0.0, 2.0], [(0, 0, 0), (4, 0, 1)])):
        scene = Scene(
            [CAR], velocities=[velocity], paths=[path], stamps=[9.0], prediction=prediction
        )
        for time in (8.0, 9.0, 9.5, 11.0, 13.0, 14.0, 15.0):
            known = not np.isnan(scene.poses_at(time)).any()
            result = scene.check(CAR, (99.0, 0.0, 0.0), times=time)
            assert known == (result.verdict == Verdict.FREE), time


def test_a_result_has_the_colours_of_its_verdicts():
    scene = Scene([Shape.circle(1.0)])
    poses = np.array([[(9.0, 0.0, 0.0), (0.0, 0.0, 0.0)], [(3.5, 0.0, 0.0), (0.0, 9.0, 0.0)]])
    axes = draw(draw_result, CAR, poses, scene.check(CAR, poses, margin=1.0, mode="witness"))
    labels = labels_of(axes)
    assert labels == ["FREE", "MARGIN", "COLLISION"]
    edges = {
        to_hex(patch.get_edgecolor()) for patch in axes.patches if patch.get_label() in labels
    }
    assert edges == {VERDICT_COLOURS[Verdict[label]] for label in labels}
    axes = Figure().add_subplot()
    far = [(9.0, 0.0, 0.0)]
    unknown = Scene([CAR], velocities=[(np.nan,) * 3])
    draw_result(axes, CAR, far, unknown.check(CAR, far, times=[1.0]))
    assert labels_of(axes) == ["UNKNOWN"]
    axes = draw(draw_result, CAR, far[0], scene.check(CAR, far[0]))  # one pose
    assert labels_of(axes) == ["FREE"]
    with pytest.raises(InputError, match="must be those of the result, 1"):
        draw_result(axes, CAR, far * 2, scene.check(CAR, far[0]))


def test_trajectories_have_the_colour_of_what_they_show():
    scene = Scene([BOX], [(8.0, 0.0, 0.0)], velocities=[(0.0, 0.0, 0.0)])
    times = np.linspace(0.0, 2.0, 5)
    poses = np.array([[(4.0 * t, y, 0.0) for t in times] for y in (0.0, 9.0)])
    result = scene.check(BOX, poses, times, mode="distance")
    lines = draw_trajectories(Figure().subplots(), poses, result)
    verdicts = result.verdicts[:, 1:].ravel()
    assert [to_hex(each) for each in lines.get_color()] == [
        VERDICT_COLOURS[Verdict(each)] for each in verdicts
    ]
    assert {*verdicts} == {1, 2}
    for colour, values in ("distance", result.distances), ("time", np.tile(times, (2, 1))):
        lines = draw_trajectories(Figure().subplots(), poses, result, times, colour=colour)
        np.testing.assert_array_equal(lines.get_array(), values[:, 1:].ravel())
        ends = np.array(lines.get_segments())[:, 1]
        np.testing.assert_array_equal(ends, poses[:, 1:, :2].reshape(-1, 2))
    for given, options in (poses[0], {}), (poses, {"colour": "time"}):
        with pytest.raises(InputError, match=r"^poses|^times"):
            draw_trajectories(Figure().subplots(), given, result, **options)


def test_a_motion_shows_everything_at_its_time():
    scene = Scene([BOX], [(8.0, 0.0, 0.0)], velocities=[(-1.0, 0.0, 0.0)])
    times, axes = np.array([0.0, 2.0, 4.0]), Figure().subplots()
    shown = draw_motion(axes, scene, BOX, np.zeros((3, 3)), times)
    with io.BytesIO() as file, tempfile.TemporaryDirectory() as folder:
        shown.save(f"{folder}/motion.gif", writer="pillow")
        axes.figure.savefig(file)
    assert axes.get_title() == "4.00 s: COLLISION"  # the last picture
    areas = [each for each in axes.patches if len(each.get_path().vertices)]
    boxes = {tuple(np.round(each.get_path().get_extents().extents, 6)) for each in areas}
    assert boxes == {(2.0, -2.0, 6.0, 2.0), (-2.0, -2.0, 2.0, 2.0)}
    assert VERDICT_COLOURS[Verdict.COLLISION] in {to_hex(each.get_edgecolor()) for each in areas}


@pytest.mark.parametrize("kind", ["poses", "arcs"])
def test_the_free_part_of_a_path_ends_before_the_obstacle(kind):
    poses = [(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (20.0, 0.0, 0.0)]
    way = poses if kind == "poses" else Path.arcs(poses[0], [(0.0, 4.0), (0.0, 16.0)])
    scene = Scene([Shape.box(2.0, 2.0, center=(15.0, 0.0))])  # contact at x = 12
    result = scene.check_path(CAR, way)
    axes = draw(draw_path, way, CAR, result)
    free, rest, mark = axes.lines
    assert 11.5 < free.get_xdata()[-1] <= 12.0
    assert rest.get_xdata()[-1] == pytest.approx(20.0)
    assert to_hex(free.get_color()) == VERDICT_COLOURS[Verdict.FREE]
    assert to_hex(rest.get_color()) == VERDICT_COLOURS[Verdict.UNKNOWN]
    assert to_hex(mark.get_color()) == VERDICT_COLOURS[Verdict.COLLISION]
    axes = draw(draw_path, way, CAR, Scene([]).check_path(CAR, way))
    assert len(axes.lines) == 1


def test_curves_and_several_paths():
    axes = Figure().add_subplot()
    circle = Path.arcs((0, 0, 0), [(0.5, 4 * np.pi)])
    draw_path(axes, circle, CAR, footprints=4)
    distance = np.hypot(*(axes.lines[0].get_xydata() - [0.0, 2.0]).T)
    np.testing.assert_allclose(distance, 2.0)
    assert len(rings_of(axes.patches[0])) == 4
    several = Path.arcs(np.zeros((1, 3)), [[[c, 5.0]] for c in (-0.1, 0.0, 0.1)])
    axes = draw(draw_path, several, ends=True)
    *lines, start, goal = axes.lines
    assert len(lines) == 3 and labels_of(axes) == ["path", "start", "goal"]
    np.testing.assert_array_equal(start.get_xydata(), np.zeros((3, 2)))
    np.testing.assert_array_equal(goal.get_xydata(), [line.get_xydata()[-1] for line in lines])
    with pytest.raises(
        InputError,
        match=r"result: must be the result of check_path for these paths, of shape \(3,\)",
    ):
        draw_path(axes, several, CAR, PathResult())
    wall = Scene([Shape.box(0.2, 0.2)], [(6.0, 2.0, 0.0)])  # beside the path to the left
    axes = draw(draw_path, several, CAR, wall.check_path(CAR, several))
    colours = [to_hex(line.get_color()) for line in axes.lines]
    assert colours.count(VERDICT_COLOURS[Verdict.COLLISION]) == 1
    assert colours.count(VERDICT_COLOURS[Verdict.FREE]) == 3
    assert labels_of(axes) == ["FREE", "not certified", "COLLISION"]
    grid = Path.arcs(np.zeros((2, 1, 3)), [[[c, 5.0]] for c in (-0.1, 0.0, 0.1)])
    both = draw(draw_path, grid, CAR, wall.check_path(CAR, grid))
    assert [to_hex(line.get_color()) for line in both.lines] == 2 * colours
    draw_path(axes, [(1.0, 2.0, 0.0)], CAR)  # one pose


def test_a_region_is_drawn_with_its_holes():
    touching = [(6, 6), (2, 8), (2, 6)]  # a hole that crosses the outline
    patch = draw_region(Figure().add_subplot(), Region([NOTCH], [HOLES[1], touching]))
    rings = rings_of(patch)
    assert all(np.array_equal(ring[0], ring[-1]) for ring in rings)
    x, y = np.concatenate([ring[:-1] for ring in rings]).T
    nx, ny = np.concatenate([ring[1:] for ring in rings]).T
    rest = shapely.Polygon(NOTCH) - shapely.Polygon(HOLES[1]) - shapely.Polygon(touching)
    assert (x * ny - y * nx).sum() / 2 == rest.area


def test_pair_names_its_distance():
    axes = draw(draw_pair, (0.0, 0.0), (0.0, 1.5), 1.5)
    assert [text.get_text() for text in axes.texts] == ["1.50 m"]


@pytest.mark.parametrize("dash", ["--", "-.", ":"])
def test_a_shape_with_dashes_can_be_saved(dash):
    """MARGIN and UNKNOWN are drawn with dashes, and matplotlib refuses dashes of width 0."""
    figure = Figure()
    draw_shape(figure.add_subplot(), CAR, linestyle=dash)
    result = Scene([CAR], [(4.5, 0.0, 0.0)]).check(CAR, [(0.0, 0.0, 0.0)], margin=1.0)
    assert result.verdict is Verdict.MARGIN
    draw_result(figure.add_subplot(), CAR, [(0.0, 0.0, 0.0)], result)
    figure.savefig(io.BytesIO(), format="svg")
