# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Space that no sensor has seen is not free: `Scene(seen=...)`, scans and grids.

shapely is the oracle: it computes the union of the triangles between beams, which the kernel never
does.
"""

import copy
import math
import os
import pickle

import numpy as np
import pytest
import shapely
from samples import outlines, poses_along

from gjk_collision import (
    InputError,
    Path,
    Region,
    Scene,
    Shape,
    Status,
    Verdict,
    seen_by_grid,
    seen_by_scan,
)

CASES = int(os.environ.get("GJK_CASES", "1500"))
CAR = Shape.box(1.0, 0.6)
CORNERS = np.array([[-0.5, -0.3], [0.5, -0.3], [0.5, 0.3], [-0.5, 0.3]])
NEAR = 1e-9  # m, more than the rounding of shapely
WORST = 0.02  # m. Where two regions overlap by less, the kernel may say NOT_SEEN without need


def rays(at: np.ndarray, angles: np.ndarray, world: list[np.ndarray], most: float) -> np.ndarray:
    """Return the ranges of beams from a point: inf where nothing is nearer than `most`."""
    begins = np.concatenate(world)
    ways = np.concatenate([np.roll(ring, -1, axis=0) - ring for ring in world])
    beams = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None]

    def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]

    with np.errstate(divide="ignore", invalid="ignore"):
        det = cross(beams, ways)
        along, share = cross(begins - at, ways) / det, cross(begins - at, beams) / det
    hits = np.where((along > 0) & (share >= 0) & (share <= 1), along, np.inf)
    nearest = hits.min(axis=1)
    return np.where(nearest > most, np.inf, nearest)


def triangles(
    at: np.ndarray, angles: np.ndarray, ranges: np.ndarray, clear: float
) -> shapely.Geometry:
    """Return the union of the triangles between beams, as the rule says it."""
    reach = np.where(np.isinf(ranges), clear, np.nan_to_num(ranges))
    least = np.minimum(reach[:-1], reach[1:])
    ends = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = [
        [at, at + m * a, at + m * b]
        for m, a, b in zip(least, ends[:-1], ends[1:], strict=True)
        if m > 0.0
    ]
    return (
        shapely.union_all(shapely.polygons(rings), grid_size=1e-10) if rings else shapely.Point()
    )


def worlds(count: int) -> list[tuple[list[np.ndarray], list[Region], shapely.Geometry]]:
    rng, made = np.random.default_rng(3), []
    while len(made) < count:
        places = np.column_stack([rng.uniform(-9, 9, (6, 2)), rng.uniform(-3, 3, 6)])
        sizes = rng.uniform(0.4, 3.0, (6, 2))
        world = [
            shapely.get_coordinates(outlines(size * CORNERS, pose))[:-1]
            for size, pose in zip(sizes, places, strict=True)
        ]
        regions, union = [], []
        for at in rng.uniform(-6, 6, (rng.integers(1, 4), 2)):
            if any(shapely.Polygon(ring).covers(shapely.Point(at)) for ring in world):
                continue
            beams, view = int(rng.choice([181, 361, 721])), rng.choice([2.0, 4.7, 2 * math.pi])
            step = float(rng.choice([-1, 1]) * view / beams)
            step = float(np.float32(step)) if rng.random() < 0.5 else step  # also beyond a turn
            first, yaw, most = rng.uniform(-4, 4), rng.uniform(-3, 3), rng.uniform(3, 12)
            angles = first + np.arange(beams + 1) * step
            ranges = rays(at, angles + yaw, world, most)
            ranges[rng.random(beams + 1) < 0.02] = np.nan
            regions.append(seen_by_scan(ranges, first, step, 0.0, most, (*at, yaw)))
            union.append(triangles(at, angles + yaw, ranges, most))
        if regions:
            made.append((world, regions, shapely.union_all(union, grid_size=1e-10)))
    return made


@pytest.mark.requirement("V-26")
def test_no_pose_is_free_where_something_was_not_seen():
    rng = np.random.default_rng(4)
    lost = seen_poses = 0
    for world, regions, union in worlds(max(CASES // 150, 4)):
        obstacles = [Shape.polygon(ring) for ring in world]
        margin = float(rng.choice([0.0, 0.1]))
        poses = np.column_stack([rng.uniform(-9, 9, (150, 2)), rng.uniform(-3, 3, 150)])
        found = Scene(obstacles, seen=regions).check(CAR, poses, margin=margin, mode="distance")
        known = Scene(obstacles).check(CAR, poses, margin=margin, mode="distance")
        hits = known.verdicts == Verdict.COLLISION
        assert (found.verdicts[hits] == Verdict.COLLISION).all()
        vehicles = shapely.buffer(outlines(CORNERS, poses), margin, quad_segs=32)
        certain = found.verdicts[~hits] != Verdict.UNKNOWN
        assert (found.statuses[~hits][~certain] == Status.NOT_SEEN).all()
        assert np.isnan(found.distances[~hits][~certain]).all()
        assert shapely.covers(shapely.buffer(union, NEAR), vehicles[~hits][certain]).all()
        same = ~hits & (found.verdicts != Verdict.UNKNOWN)
        assert (found.verdicts[same] == known.verdicts[same]).all()
        assert (found.distances[same] == known.distances[same]).all()
        # The margin has corners in the kernel's pieces, and overlaps of millimetres are missed.
        wide = shapely.buffer(outlines(CORNERS, poses), 1.05 * margin + WORST)
        is_seen = shapely.covers(union, wide[~hits])
        assert certain[is_seen].all()
        seen_poses += is_seen.sum()
        lost += (shapely.covers(union, vehicles[~hits]) & ~certain).sum()
    assert seen_poses > 40
    assert lost <= 0.1 * seen_poses


@pytest.mark.requirement("V-26")
def test_the_free_part_of_a_path_ends_where_the_vehicle_leaves_what_was_seen():
    rng = np.random.default_rng(5)
    shares = np.linspace(0.0, 1.0, 201)
    ended = 0
    for _world, regions, union in worlds(max(CASES // 150, 4)):
        scene, seen = Scene([], seen=regions), shapely.buffer(union, NEAR)
        for _ in range(20):
            start = np.array([*rng.uniform(-4, 4, 2), rng.uniform(-3, 3)])
            arc = np.array([[rng.uniform(-0.4, 0.4), rng.uniform(-4, 4)]])
            way = poses_along(start[None], arc[None], shares)[0, 0]
            curve = scene.check_path(CAR, Path.arcs(start, arc))
            straight = scene.check_path(CAR, way[[0, -1]])
            line = way[0] + shares[:, None] * (way[-1] - way[0])
            for result, poses in ((curve, way), (straight, line)):
                inside = shapely.covers(seen, outlines(CORNERS, poses))
                if result.is_free:
                    assert inside.all()
                    continue
                ended += 1
                assert (result.status, result.id) == (Status.NOT_SEEN, -1)
                assert result.first_invalid_segment == 0
                assert inside[shares < result.last_valid_fraction].all()
                later = shares <= result.last_valid_fraction + 0.1
                wide = shapely.buffer(outlines(CORNERS, poses[later]), WORST)
                assert not shapely.covers(union, wide).all()
    assert ended > 40


def test_a_collision_stays_one_and_begins_no_later_than_what_was_not_seen():
    square = Region([[(-2, -2), (2, -2), (2, 2), (-2, 2)]])
    wall = Shape.box(0.2, 4.0)
    scene = Scene([wall], [(5.0, 0.0, 0.0)], velocities=[(0.0, 0.0, 0.0)], seen=square)
    poses, times = [(0.0, 0.0, 0.0), (8.0, 0.0, 0.0)], [0.0, 8.0]
    path = scene.check_path(CAR, poses, times)
    assert path.verdict is Verdict.COLLISION
    assert path.last_valid_fraction == pytest.approx(1.5 / 8.0, abs=0.001)
    assert path.first_collision_time == pytest.approx(1.5, abs=0.01)
    contact = scene.first_contact(CAR, np.array([poses]), times)
    assert contact.verdicts.tolist() == [Verdict.COLLISION]
    stops = scene.check_path(CAR, [*poses, (9.0, 0.0, 0.0)], swept=False)
    assert stops.first_invalid_segment == 0
    assert stops.verdict is Verdict.UNKNOWN
    assert stops.status is Status.NOT_SEEN
    assert scene.criticality(CAR, np.array([poses[:1] * 2]), [0.0, 1.0]).verdicts == Verdict.FREE
    assert scene.criticality(CAR, [[poses[0], (3, 0, 0)]], [0, 1]).statuses == Status.NOT_SEEN


def test_a_path_with_times_leaves_at_the_same_place_with_and_without_arcs_of_no_turn():
    square = Region([[(-2, -2), (2, -2), (2, 2), (-2, 2)]])
    scene = Scene([], seen=square)
    way = Path.arcs((0.0, 0.0, 0.0), [(0.0, 1.0), (0.0, 1.0)])
    found = scene.check_path(CAR, way, [0.0, 1.0, 3.0])
    assert found.status is Status.NOT_SEEN
    assert found.last_valid_fraction == pytest.approx(0.75, abs=0.002)
    assert scene.check_path(CAR, way, margin=0.4).last_valid_fraction == pytest.approx(
        0.55, abs=0.002
    )


def test_queries_of_many_poses_agree_with_single_ones():
    ((_, regions, _),) = worlds(1)
    rng = np.random.default_rng(6)
    poses = np.column_stack([rng.uniform(-6, 6, (300, 2)), rng.uniform(-3, 3, 300)])
    scene = Scene([Shape.circle(0.3)], [(1.0, 1.0, 0.0)], seen=regions, prediction="hold")
    all_at_once = scene.check(CAR, poses, threads=2)
    for i, pose in enumerate(poses):
        one = scene.check(CAR, pose)
        assert (one.verdict, one.statuses) == (all_at_once.verdicts[i], all_at_once.statuses[i])
        assert scene.is_free(CAR, pose) == (one.verdict is Verdict.FREE)
        assert scene.is_free(CAR, pose, time=1.0) == (one.verdict is Verdict.FREE)
    timed = scene.check(CAR, poses, times=np.ones(300))
    assert (timed.verdicts == all_at_once.verdicts).all()
    stopped = scene.check(CAR, poses, stop_at_first=True)
    first = int(np.flatnonzero(all_at_once.verdicts != Verdict.FREE)[0])
    assert stopped.first_invalid == first
    assert stopped.statuses[first] == all_at_once.statuses[first]
    assert (stopped.statuses[first + 1 :] == Status.UNDEFINED).all()


def pallet(corner: tuple[float, float] = (3.0, -0.5)) -> tuple[np.ndarray, Region, Scene]:
    """A scan of a pallet, of which two faces return, and the scene that an integrator makes."""
    ring = np.array(corner) + [(0.0, 0.0), (1.2, 0.3), (1.0, 1.1), (-0.2, 0.8)]
    angles = np.radians(np.arange(-135.0, 135.25, 0.25))
    ranges = rays(np.zeros(2), angles, [ring], 10.0)
    hit = np.isfinite(ranges)
    points = (ranges * [np.cos(angles), np.sin(angles)]).T[hit]
    seen = seen_by_scan(ranges, angles[0], np.radians(0.25), 0.05, 10.0)
    return (
        ring,
        seen,
        Scene([Shape.circle(0.02)] * hit.sum(), np.pad(points, ((0, 0), (0, 1))), seen=seen),
    )


@pytest.mark.requirement("V-26")
def test_the_nearest_free_pose_is_never_inside_of_a_pallet():
    ring, seen, scene = pallet()
    inside = Shape.circle(0.15)
    solid = shapely.Polygon(ring)
    for x, y in (shapely.get_coordinates(solid.centroid)[0], (3.6, 0.2), (3.2, 0.3)):
        assert not scene.is_free(inside, (x, y, 0.0))
        free = scene.nearest_free(inside, (x, y, 0.0), 3.0, margin=0.05)
        assert free is not None
        assert solid.distance(shapely.Point(free[:2])) > 0.15
        assert scene.check(inside, free, margin=0.05).verdict is Verdict.FREE
        assert Scene([], seen=seen).nearest_free(inside, (x, y, 0.0), 0.1) is None


@pytest.mark.parametrize(
    ("ranges", "area"),
    [
        ([2.0, 2.0, 2.0], 2),
        ([math.inf, math.inf, math.inf], 2 * (5.0 / 2.0) ** 2),
        ([2.0, 1.0, 2.0], 2 * (1.0 / 2.0) ** 2),
        ([2.0, math.nan, 2.0], 0),
        ([2.0, 2.0, math.nan], 1),
        ([2.0, 2.0, 0.05], 1),
        ([2.0, 2.0, 5.5], 1),
        ([2.0, 2.0, -math.inf], 1),
        ([2.0, 2.0, 5.0], 2),
        ([0.1, 0.1, 2.0], 2 * (0.1 / 2.0) ** 2),
        ([2.0], 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", [0.02, -0.02])
def test_a_beam_has_seen_up_to_its_return(ranges: list[float], area: float, step: float):
    region = seen_by_scan(ranges, 0.3, step, 0.1, 5.0, (1.0, -2.0, 0.4))
    one = 0.5 * 4.0 * math.sin(0.02)
    assert region.area == pytest.approx(area * one, abs=1e-9)
    middle = 0.7 + 0.5 * step
    there = (1.0 + 0.01 * math.cos(middle), -2.0 + 0.01 * math.sin(middle))
    assert region.contains(there) == (area > 0 and not math.isnan(ranges[1]))


def test_a_beam_without_a_return_has_seen_up_to_the_clear_range():
    half = seen_by_scan([math.inf] * 3, 0.0, 0.1, 0.1, 5.0, clear_range=2.5)
    assert half.area == pytest.approx(0.25 * seen_by_scan([math.inf] * 3, 0, 0.1, 0.1, 5).area)
    assert seen_by_scan([math.inf] * 3, 0.0, 0.1, 0.1, 5.0, clear_range=0.0).area == 0.0
    assert seen_by_scan([1.0] * 3, 0.0, 0.1, 0.1, math.inf, clear_range=2.0).area > 0.0


@pytest.mark.parametrize("beams", [360, 361, 362, 400, 719])
@pytest.mark.parametrize("step", [math.radians(1.0), float(np.float32(-math.radians(1.0)))])
def test_a_scan_around_the_sensor_has_no_seam(beams: int, step: float):
    region = seen_by_scan(np.full(beams, 3.0), -2.0, step, 0.1, 5.0)
    scene = Scene([], seen=region)
    angles = np.radians(np.arange(0.0, 360.0, 0.5))
    poses = np.column_stack([1.5 * np.cos(angles), 1.5 * np.sin(angles), angles])
    assert scene.check(CAR, poses).is_free
    assert scene.check(CAR, (0.0, 0.0, 0.0)).is_free
    assert region.area == pytest.approx(180 * 9.0 * math.sin(math.radians(1.0)), rel=1e-5)
    last = seen_by_scan([*np.full(360, 3.0), math.nan], -2.0, 1.0000001 * step, 0.1, 5.0)
    assert last.area == pytest.approx(region.area * 359 / 360, rel=1e-5), (
        "the first direction again"
    )
    some = seen_by_scan(np.full(358, 3.0), -2.0, step, 0.1, 5.0)
    gap = -2.0 + 358.5 * step
    assert not Scene([], seen=some).is_free(CAR, (2.0 * math.cos(gap), 2.0 * math.sin(gap), 0.0))


@pytest.mark.parametrize("short", [0, 4])
def test_no_sliver_is_seen_between_the_last_beam_and_the_first(short: int):
    step, ranges = 0.5 * math.pi - 2.5e-7, np.full(5, 10.0)
    ranges[short] = 1.0
    scene = Scene([], seen=seen_by_scan(ranges, 0.0, step, 0.0, 20.0))
    between = -0.75 * (2.0 * math.pi - 4.0 * step)
    point = (2.0 * math.cos(between), 2.0 * math.sin(between), 0.0)
    assert scene.check(Shape.point((0.0, 0.0)), point).statuses == Status.NOT_SEEN


def test_beams_that_are_far_apart_see_nothing_between_them():
    assert seen_by_scan([1.0, 1.0], 0.0, 5e-324, 0.0, 2.0).area == 0.0
    assert seen_by_scan([1.0, 1.0], 0.0, 1.6, 0.0, 2.0).area == 0.0


def test_known_cells_are_seen():
    rng = np.random.default_rng(7)
    for _ in range(40):
        grid = rng.choice([-1, 0, 100], (rng.integers(1, 7), rng.integers(1, 7)))
        pose = (*rng.uniform(-5, 5, 2), rng.choice([0.0, rng.uniform(-3, 3)]))
        region = seen_by_grid(grid, 0.5, pose)
        assert region == seen_by_grid(grid >= 0, 0.5, pose)
        cells = [shapely.box(0.5 * c, 0.5 * r, 0.5 * c + 0.5, 0.5 * r + 0.5)
                 for r, c in np.argwhere(grid >= 0)]  # fmt: skip
        local = shapely.union_all(cells)
        assert region.area == pytest.approx(local.area, abs=1e-9)
        points = rng.uniform(-1.0, 4.0, (200, 2))
        cos, sin = math.cos(pose[2]), math.sin(pose[2])
        placed = points @ np.array([[cos, sin], [-sin, cos]]) + pose[:2]
        sure = shapely.distance(local.boundary, shapely.points(points)) > 1e-9
        inside = shapely.covers(local, shapely.points(points))
        assert (region.contains(placed) == inside)[sure].all()


def test_a_scene_keeps_what_was_seen():
    region = seen_by_scan([2.0] * 100, 0.0, 0.02, 0.1, 5.0)
    scene = Scene([Shape.circle(0.1)], [(9.0, 0.0, 0.0)], seen=region)
    arrays = Scene.from_arrays([0, 1], [9.0, 0.0], radius=[0.1], seen=[region])
    small = Shape.circle(0.05)
    for each in (scene, arrays, copy.copy(scene), pickle.loads(pickle.dumps(scene)),
                 scene.updated([0], [(8.0, 0.0, 0.0)])):  # fmt: skip
        assert each.seen == (region,)
        assert each.check(small, (1.0, 1.0, 0.0)).verdict is Verdict.FREE
        assert each.check(small, (-1.0, 1.0, 0.0)).statuses == Status.NOT_SEEN
    assert Scene([]).seen is None
    assert Scene([], seen=[]).check(small, (0.0, 0.0, 0.0)).statuses == Status.NOT_SEEN
    assert pickle.loads(pickle.dumps(region)) == region
    assert region != seen_by_scan([2.5] * 100, 0.0, 0.02, 0.1, 5.0)


@pytest.mark.parametrize(
    ("call", "argument", "rule"),
    [
        (lambda: Scene([], seen=3), "seen", "must be a sequence"),
        (lambda: Scene([], seen=[Region([CORNERS]), CAR]), "seen", "sequence of Regions"),
        (lambda: Scene([], seen=[]).certify(CAR, (0, 0, 0)), "seen", "must be None"),
        (lambda: seen_by_scan([1, 2], 0, 0, 0, 5), "angle_increment", "must not be 0"),
        (lambda: seen_by_scan([1], 0, 0.1, 0, 5, clear_range=6), "clear_range", r"\[0, 5.0\] m"),
        (lambda: seen_by_scan([1], 0, 0.1, 0, math.inf), "clear_range", "must be given"),
        (lambda: seen_by_scan([-1] * 9, 0, 0.1, -2, 5), "range_max", "range_min = -2.0, which"),
        (lambda: seen_by_scan([1], 0, 0.1, 6, 5), "range_max", "range_min = 6.0"),
        (lambda: seen_by_scan([1], math.nan, 0.1, 0, 5), "angle_min", "must be finite"),
        (lambda: seen_by_scan([1, 2], 0, 0.1, 0, 5, (0, 0, math.nan)), "pose", "finite"),
        (lambda: seen_by_scan([1e300] * 2, 0, 0.1, 0, 1e301), "ranges", "less than 1e15"),
        (lambda: seen_by_grid([[1, 200]], 0.1), "cells", "occupancy from 0 to 100"),
        (lambda: seen_by_grid([[True]], 0.0), "resolution", "greater than 0"),
        (lambda: seen_by_grid([[True]], 0.1, (1e16, 0, 0)), "pose", "1e15"),
    ],
)  # fmt: skip
def test_errors_name_the_argument(call, argument: str, rule: str):
    with pytest.raises(InputError, match=rule) as caught:
        call()
    assert caught.value.argument == argument
