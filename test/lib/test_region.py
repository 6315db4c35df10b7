# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Regions: verdicts against rational arithmetic, in all queries.

GJK_CASES sets how many poses are tried.
"""

import copy
import math
import os
import pickle
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import shapely
from regions import Truth, random_rings
from samples import outlines
from shapely.geometry import MultiPoint, Polygon
from shapely.ops import unary_union

from gjk_collision import OUTSIDE, InputError, Path, Region, Scene, Shape, Status, Verdict
from gjk_collision.region import union

CASES = int(os.environ.get("GJK_CASES", "1500"))
ORIGIN = (0.0, 0.0, 0.0)
CAR = Shape.box(4.0, 1.8)
ROAD = [(-10.0, -5.0), (10.0, -5.0), (10.0, 5.0), (-10.0, 5.0)]


def square(x: float, y: float, w: float = 1.0, h: float = 1.0) -> np.ndarray:
    return np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)])


def shape_of(points: np.ndarray) -> Shape:
    if len(points) == 1:
        return Shape.circle(0.0, points[0])
    return Shape.segment(*points) if len(points) == 2 else Shape.hull(points)


def verdict(region: Region, points: np.ndarray, **options) -> Verdict:
    return Scene([], inside=region).check(shape_of(points), ORIGIN, **options).verdict


def shapes_near(rng: random.Random, rings: list[np.ndarray], size: float) -> np.ndarray:
    """A point, a segment, a triangle or a rectangle, often with points on the boundary."""
    vertices = np.concatenate(rings)

    def offset() -> np.ndarray:
        return np.array([rng.uniform(-1, 1), rng.uniform(-1, 1)])

    def point() -> np.ndarray:
        ring = rng.choice(rings)
        i = rng.randrange(len(ring))
        share = np.array([rng.random(), rng.random()])
        at = [
            ring[i],
            0.5 * (ring[i] + ring[i - 1]),
            ring[i] + rng.choice([0.25, 0.5, rng.random()]) * (ring[i - 1] - ring[i]),
            vertices.min(axis=0) + share * np.ptp(vertices, axis=0),
        ][rng.randrange(4)]
        return at + rng.choice([0.0, 0.0, 1e-15, 1e-9, 0.1 * size]) * offset()

    kind = rng.randrange(5)
    if kind < 3:
        own = size * rng.choice([0.01, 0.3, 1.0, 4.0])
        first = point()
        return np.array([first, *(first + own * offset() for _ in range(kind))])
    if kind == 3:
        first = point()
        return square(*first, *(size * rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)))
    return np.array([point() for _ in range(rng.choice([2, 3]))])


def compare(rng: random.Random, rings: list, holes: list, size: float, cases: int) -> list[int]:
    """Compare verdicts with the truth. Returns the numbers of FREE and of COLLISION."""
    truth, region = Truth(rings, holes), Region(rings, holes)
    scene = Scene([], inside=region)
    counts = [0, 0]
    for _ in range(cases):
        points = shapes_near(rng, rings + holes, size)
        if len(points) > 2 and MultiPoint(points).convex_hull.area == 0.0:
            continue
        shape = shape_of(points)
        expected = truth.holds(points)
        for mode in ("collide", "distance"):
            found = scene.check(shape, ORIGIN, mode=mode)
            case = (rings, holes, points, mode, found)
            assert found.verdict in (Verdict.FREE, Verdict.COLLISION), case
            if found.is_free:
                assert expected, case  # never falsely free
            elif expected:  # rounded crossings only, and only near the boundary
                assert truth.has_crossings, case
                grown = Polygon(points).buffer(1e-9) if len(points) > 2 else None
                assert grown is None or not union_of(rings, holes).covers(grown), case
            if mode == "distance":
                assert found.lower_bounds <= found.distances, case
                assert (found.lower_bounds > 0.0) <= expected, case
        counts[int(found.verdict == Verdict.COLLISION)] += 1
    return counts


def union_of(rings: list, holes: list):
    return unary_union([Polygon(r) for r in rings]) - unary_union([Polygon(h) for h in holes])


@pytest.mark.requirement("V-21")
def test_random_unions() -> None:
    """Shared and partly shared edges, T-junctions, points of contact, holes, gaps, duplicates."""
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    print("seed", seed)
    total = np.zeros(2, dtype=int)
    crossed = 0
    while total.sum() < CASES:
        unit = rng.choice([1.0, 0.1, 1.0 / 3.0])
        grid = rng.choice([3, 4, 8])
        rings = random_rings(rng, grid, unit, rng.randint(1, 4))
        holes = random_rings(rng, grid, unit, rng.choice([0, 0, 1, 2]))
        try:
            Region(rings, holes)
        except InputError:  # the holes leave nothing
            assert union_of(rings, holes).area < 1e-9
            continue
        total += compare(rng, rings, holes, unit, 50)
        crossed += Truth(rings, holes).has_crossings
    print("FREE, COLLISION:", total.tolist(), "regions with crossings:", crossed)
    assert total.min() > CASES // 20


L_SHAPE = [square(0, 0, 10, 4), square(10, 0, 10, 4), square(16, 4, 4, 10)]
HOLE = square(4, 1, 1, 0.5)


def random_poses(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform((-2, -2, -4), (22, 16, 4), (count, 3))


ACROSS = np.array([[0.5, 0.5], [1.5, 0.5]])


@pytest.mark.requirement("V-21")
def test_each_part_must_be_inside() -> None:
    """A part that is wholly outside touches no boundary."""
    scene = Scene([], inside=Region(L_SHAPE))
    apart = Shape.compound([Shape.box(1, 1), Shape.box(1, 1, center=(50.0, 0.0))])
    for mode in ("collide", "distance", "witness"):
        found = scene.check(apart, (5, 2, 0), mode=mode)
        assert found.verdict == Verdict.COLLISION and found.ids == OUTSIDE
    assert found.distances == pytest.approx(-35.5)
    assert not scene.is_free(apart, (5, 2, 0))
    assert not scene.check_path(apart, [(5, 2, 0), (6, 2, 0)]).is_free
    assert scene.time_to_collision(apart, (5, 2, 0), (1, 0, 0), 0.0).times == 0.0


def test_radius_and_margin() -> None:
    scene = Scene([], inside=Region([square(0, 0, 4, 4)]))
    disc = Shape.circle(1.0)
    assert scene.check(disc, (1.5, 2, 0), margin=0.25).verdict == Verdict.FREE
    assert scene.check(disc, (1.5, 2, 0), margin=0.5).verdict == Verdict.MARGIN
    assert scene.check(disc, (1.0, 2, 0)).verdict == Verdict.COLLISION  # it touches the boundary
    found = scene.check(disc, (0.5, 2, 0), mode="witness")
    assert found.distances == pytest.approx(-0.5, abs=1e-12)
    assert found.witnesses.tolist() == [-0.5, 2.0, 0.0, 2.0]
    assert found.directions.tolist() == [-1.0, 0.0]


def test_paths_stay_inside() -> None:
    """FREE paths are inside at all poses between; the others come near to the boundary."""
    rng = np.random.default_rng()
    region, truth = Region(L_SHAPE, [HOLE]), union_of(L_SHAPE, [HOLE])
    scene = Scene([], inside=region)
    verdicts = []
    for _ in range(max(40, CASES // 30)):
        poses = rng.uniform((1, 1, -0.3), (19, 3, 0.3), (3, 3))
        poses[1:] = poses[0] + 0.2 * (poses[1:] - poses[0])
        times = np.array([5.0, 6.0, 7.5])
        ways = np.concatenate([np.linspace(a, b, 30) for a, b in pairwise(poses)])
        each = outlines(CAR.parts[0], ways)
        inside = shapely.covers(truth, each)
        least = shapely.distance(truth.boundary, each).min() if inside.all() else 0.0
        for at in (None, times):
            for mode in ("collide", "distance"):
                path = scene.check_path(CAR, poses, at, mode=mode)
                case = (poses.tolist(), path)
                assert (least > 0.0) if path.is_free else (least < 0.1), case
                assert path.is_free or path.id == OUTSIDE, case
        verdicts.append(path.verdict)
        contact = scene.first_contact(CAR, poses[None], times)
        assert contact.verdicts[0] == path.verdict, case  # both in mode distance
        if not inside.all():
            seconds = np.concatenate([np.linspace(5, 6, 30), np.linspace(6, 7.5, 30)])
            assert contact.times[0] <= seconds[inside.argmin()], case
            assert contact.ids[0] == OUTSIDE
    assert set(verdicts) == {Verdict.FREE, Verdict.COLLISION}


@pytest.mark.requirement("V-21")
def test_paths_outside() -> None:
    """A path that touches no boundary is not free if it is outside, whatever the query."""
    scene = Scene([], inside=Region([square(0, 0, 10, 10)], [square(4, 4, 3, 3)]))
    small = Shape.box(0.2, 0.2)
    for start in ((-5, 5, 0), (5, 5, 0)):  # beyond the outline, and in the hole
        poses = [start, (start[0] + 0.5, start[1] + 0.5, 1.0)]
        for path in (
            scene.check_path(small, poses),
            scene.check_path(small, poses, mode="collide"),
            scene.check_path(small, poses, [0.0, 1.0]),
            scene.check_path(small, poses, swept=False),
            scene.check_path(small, Path.arcs(start, [(0.1, 0.5)])),
        ):
            assert path.verdict == Verdict.COLLISION
            assert path.id == OUTSIDE and path.index == 0
            assert path.first_invalid_segment == 0 and path.last_valid_fraction == 0.0
            assert path.distance <= 0.0 or math.isnan(path.distance)
        contact = scene.first_contact(small, [poses], [3.0, 4.0])
        assert contact.times == 3.0 and contact.ids == OUTSIDE
        found = scene.time_to_collision(small, poses, [(0, 0, 0)] * 2, 0.0)
        assert (found.times == 0.0).all() and (found.ids == OUTSIDE).all()
        assert (scene.check(small, poses, [1.0, 2.0]).verdicts == Verdict.COLLISION).all()
        assert scene.nearest(small, start).distances < 0.0
        assert scene.gradient(small, poses).distances.max() < 0.0


def test_gradients() -> None:
    rng = np.random.default_rng()
    scene = Scene([], inside=Region(L_SHAPE, [HOLE]))
    poses = random_poses(rng, max(100, CASES // 5))
    found = scene.gradient(CAR, poses)
    assert (found.ids == OUTSIDE).all() and (found.statuses == Status.SUCCESS).all()
    step = 1e-6

    def distances(moved: np.ndarray) -> np.ndarray:
        return scene.gradient(CAR, moved).distances[:, 0]

    slopes = [distances(poses + step * e) - distances(poses - step * e) for e in np.eye(3)]
    differences = np.stack(slopes, axis=-1) / (2 * step)
    error = np.abs(differences - found.gradients[:, 0]).max(axis=1)
    smooth = found.smooth[:, 0]
    assert smooth.any() and error[smooth].max() < 1e-4
    assert not smooth[found.distances[:, 0] <= 0.0].any()
    # where the farthest point is a corner, the same holds outside
    far = found.distances[:, 0] < -3.0
    assert far.any() and np.median(error[far]) < 1e-4


def test_with_obstacles() -> None:
    rng = np.random.default_rng()
    shapes = [Shape.circle(0.3), Shape.box(1, 1), Shape.box(0.5, 0.5)]
    at, speeds = [(3, 2, 0), (12, 3, 0.5), (18, 9, 0)], [(0, 0, 0), (1, 0, 0.1), (0, -1, 0)]
    region = Region(L_SHAPE)
    options = {"velocities": speeds, "horizon": 9.0}
    both = Scene(shapes, at, inside=region, **options)
    alone, limit = Scene(shapes, at, **options), Scene([], inside=region)
    poses = random_poses(rng, CASES)
    times = np.round(rng.uniform(0, 4, CASES))
    for t in (None, times):
        for mode in ("collide", "distance"):
            found = both.check(CAR, poses, t, mode=mode)
            one, other = (scene.check(CAR, poses, t, mode=mode) for scene in (alone, limit))
            expected = np.maximum(one.verdicts, other.verdicts)  # COLLISION is above FREE
            assert (found.verdicts == expected).all()
        nearest = np.minimum(one.distances, other.distances)
        np.testing.assert_allclose(found.distances, nearest, rtol=0.0, atol=1e-11)
        outside = found.ids == OUTSIDE
        assert (outside == (found.indices == 3)).all()
        assert (other.distances[outside] <= one.distances[outside] + 1e-11).all()
        assert 0 < outside.sum() < CASES
        gradient = both.gradient(CAR, poses, t, k=4)
        assert (gradient.distances[:, 0] == found.distances).all()
        assert ((gradient.ids == OUTSIDE).sum(axis=1) == 1).all()
        near = both.nearest(CAR, poses, 4, time=t)
        assert (near.ids == gradient.ids).all() and (near.distances == gradient.distances).all()
    moved = both.updated([0], [(17, 2, 0)], [Shape.compound([Shape.circle(1.0)] * 3)])
    assert not moved.is_free(CAR, (17, 2, 0)) and not moved.is_free(CAR, (-9, 2, 0))
    assert moved.is_free(CAR, (3, 2, 0)) and moved.inside == region and len(moved) == 3
    with pytest.raises(InputError, match="must lie in"):
        both.updated([3], [(0, 0, 0)])
    assert both.ids.tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [1e6, 1e4])  # m
def test_a_long_edge_beside_a_short_outline(size: float) -> None:
    """The edge is divided at two rounded points, far from the outline beside it."""
    rng = random.Random(17)
    hidden = 0
    for _ in range(300):
        b = rng.uniform(-size, size)
        a = rng.uniform(-20.0, 20.0) - b
        road = [(-2 * size, a), (2 * size, b), (2 * size, 3 * size), (-2 * size, 3 * size)]

        def height(x: float, a: float = a, b: float = b) -> Fraction:
            share = (Fraction(x) + 2 * Fraction(size)) / (4 * Fraction(size))
            return Fraction(a) + (Fraction(b) - Fraction(a)) * share

        def across(x: float, at: object = height) -> list[tuple[float, float]]:
            y, turn = float(at(x)), rng.uniform(-0.3, 0.3)  # type: ignore[operator]
            return [
                (x - 50 + 9 * turn, y - 80),
                (x + 50, y - 80 + 5 * turn),
                (x + 50 - 7 * turn, y + 80),
                (x - 50, y + 80),
            ]

        middle = rng.uniform(-50.0, 50.0)
        gap = Fraction(rng.uniform(0.01, 1.0)) * Fraction(2.0**-53 * size)
        ends = middle - 20, middle + 20
        lane = [(x, float(height(x) - gap)) for x in ends]
        lane += [(x, float(height(x)) - 3.5) for x in reversed(ends)]
        if not all(Fraction(y) < height(x) for x, y in lane):
            continue
        region = Region([road, across(-size), across(size), lane])
        y = float(height(500.0))
        assert not region.contains((500.0, y - 100.0))
        scene = Scene([], inside=region)
        hidden += not scene.is_free(Shape.box(2.0, 2.0), (500.0, y, 0.0))
        assert hidden > 0 and scene.is_free(Shape.box(2.0, 2.0), (500.0, y + 8.0, 0.0))
    assert hidden > 100


def test_rays() -> None:
    scene = Scene([Shape.circle(1.0)], [(8.0, 0.0, 0.0)], inside=Region([ROAD]))
    assert scene.ray_cast((0.0, 0.0), [(1.0, 0.0), (-1.0, 0.0)]).ids.tolist() == [0, OUTSIDE]
    for origin in ((20.0, 0.0), (10.0, 0.0)):
        found = scene.ray_cast(origin, [(1.0, 0.0), (-1.0, 0.0)])
        assert found.distances.tolist() == [0.0, 0.0] and found.ids.tolist() == [OUTSIDE] * 2


def test_nearest_free_pose() -> None:
    car = Shape.box(2.0, 1.0)
    scene = Scene([Shape.box(4.0, 4.0)], [(-8.0, 0.0, 0.0)], inside=Region([ROAD]))
    for pose, shift in (
        ((0.0, 0.0, 0.0), 0.0),
        ((9.5, 0.0, 0.0), 0.5),  # on the boundary
        ((14.0, 0.0, 0.0), 5.0),  # wholly outside
        ((-9.0, 0.0, 0.0), 2.5),  # in an obstacle
    ):
        free = scene.nearest_free(car, pose, 8.0)
        assert free is not None and scene.is_free(car, free)
        found = math.hypot(free[0] - pose[0], free[1] - pose[1])
        assert shift <= found <= shift + 0.01
    assert scene.nearest_free(car, (30.0, 0.0, 0.0), 8.0) is None


def test_witnesses_belong_to_the_distance() -> None:
    """Shapes with a radius beside thin holes and narrow gaps."""
    rng = np.random.default_rng(29)
    outside = touching = 0
    for _ in range(400):
        x, width = rng.uniform(0.0, 9.0), 10.0 ** rng.uniform(-6.0, 0.0)
        left = [(-20, -9), (x, -9), (x, 9), (-20, 9)]
        right = [(x + width, -9), (20, -9), (20, 9), (x + width, 9)]
        if rng.random() < 0.5:
            region = Region([left, right])
        else:
            hole = [(x, -2), (x + width, -2), (x + width, 2), (x, 2)]
            region = Region([[(-20, -9), (20, -9), (20, 9), (-20, 9)]], [hole])
        scene = Scene([], inside=region)
        points = rng.normal(0.0, 2.0, (int(rng.integers(1, 6)), 2))
        shape = Shape.hull(points, rng.choice([0.0, 0.3, 3.0]))
        poses = np.c_[rng.uniform((-22, -11), (22, 11), (30, 2)), rng.uniform(-3, 3, 30)]
        found = scene.check(shape, poses, mode="witness")
        a, b = found.witnesses[:, :2], found.witnesses[:, 2:]
        reached = a + found.distances[:, None] * found.directions
        assert np.abs(reached - b).max() < 1e-9
        again = [scene.nearest(shape, pose) for pose in poses[:5]]
        assert [r.distances[0] for r in again] == found.distances[:5].tolist()
        outside += np.count_nonzero(found.distances < 0.0)
        touching += np.count_nonzero(found.distances == 0.0)
    assert outside > 3000 and touching > 100
    road = Region([[(-20, 0), (20, 0), (20, 20), (-20, 20)]], [[(-3, 5), (3, 5), (3, 5.2)]])
    over = Scene([], inside=road).check(Shape.circle(4.5), (0.0, 4.0, 0.0), mode="distance")
    assert over.distances == pytest.approx(-0.5)


def test_errors_name_the_vertices_that_were_given() -> None:
    bow = [(0, 0), (9, 9), (9, 0), (0, 5)]
    for ring in (bow, [*bow, bow[0]]):
        with pytest.raises(InputError, match=r"from vertex 0 crosses .* from vertex 2") as caught:
            Region([ROAD, ring])
        assert caught.value.index == 1
    with pytest.raises(InputError, match=r"after snapping by 0.01 m"):
        Region([bow], snap=0.01)
    with pytest.raises(InputError, match=r"at \[1, 0\]"):
        Region([ROAD]).contains([[(0, 0), (0, 0)], [(np.nan, 0), (0, 0)]])


def test_from_arrays() -> None:
    scene = Scene.from_arrays([0, 1], [(5, 2)], radius=[0.5], ids=[7], inside=Region(L_SHAPE))
    found = scene.check(CAR, [(5, 2, 0), (-9, 2, 0), (14, 2, 0)])
    assert found.ids.tolist() == [7, OUTSIDE, -1]
    with pytest.raises(InputError, match="outside of the region"):
        Scene.from_arrays([0, 1], [(5, 2)], ids=[OUTSIDE], inside=Region(L_SHAPE))
    assert Scene([Shape.circle(1.0)], ids=[OUTSIDE]).ids == [OUTSIDE]


def test_snap_closes_gaps() -> None:
    far = np.array([[0.5, 0.5], [2.5, 0.5]])
    # beside each other, a T-junction, and an edge that is not parallel to the other
    right = [(1.0 + 4e-4, 0.25), (2.0, 0.25), (2.0, 0.75), (1.0 - 4e-4, 0.75)]
    rings = [square(0, 0), np.array(right), square(2.0 + 9e-4, 0)]
    assert verdict(Region(rings), ACROSS) == Verdict.COLLISION
    assert verdict(Region(rings, snap=5e-4), ACROSS) == Verdict.FREE
    assert verdict(Region(rings, snap=5e-4), far) == Verdict.COLLISION
    closed = Region(rings, snap=1e-3)
    assert verdict(closed, far) == Verdict.FREE
    assert closed.area == pytest.approx(2.5, abs=5e-3)
    assert closed.snap == 1e-3 and closed != Region(rings, snap=5e-4)
    assert pickle.loads(pickle.dumps(closed)) == closed
    assert (closed.outlines[1] == right).all()
    with pytest.raises(InputError, match=r"outlines\[0\]: .* after snapping by 5.0 m"):
        Region(rings, snap=5.0)
    for wrong in (-1.0, 1e-300, math.nan):
        with pytest.raises(InputError, match="snap: must be 0 or lie in"):
            Region(rings, snap=wrong)


def boundary_length(region: Region) -> float:
    a, b = region.boundary[:, :2], region.boundary[:, 2:]
    return math.fsum(np.hypot(*(b - a).T).tolist())


def test_snap_removes_small_errors() -> None:
    """Random unions whose vertices are off by a little have the area and length of exact ones."""
    rng = random.Random()
    moves = np.random.default_rng()
    for _ in range(30):
        rings = random_rings(rng, 4, 1.0, 4)
        region = Region(rings)
        off = [ring + moves.uniform(-1e-7, 1e-7, ring.shape) for ring in rings]
        snapped = Region(off, snap=1e-6)
        assert snapped.area == pytest.approx(region.area, abs=1e-4), rings
        length, found = boundary_length(region), boundary_length(snapped)
        assert found == pytest.approx(length, abs=1e-2), rings  # no slits


def test_values() -> None:
    region = Region(L_SHAPE, [HOLE])
    assert region.bounds == (0.0, 0.0, 20.0, 14.0)
    assert region.area == pytest.approx(119.5)
    points = [[(1, 1), (4.5, 1.2)], [(10, 2), (0, 0)]]
    assert region.contains(points).tolist() == [[True, False], [True, False]]
    assert len(region.outlines) == 3 and (region.holes[0] == HOLE).all()
    assert not region.outlines[0].flags.writeable and not region.boundary.flags.writeable
    copies = copy.deepcopy(region), pickle.loads(pickle.dumps(region))
    for other in (*copies, Region(L_SHAPE, [HOLE])):
        assert other == region and hash(other) == hash(region)
        assert other.area == region.area
    assert region != Region(L_SHAPE) and region != 1
    assert Scene([], inside=region).inside is region and Scene([]).inside is None


@pytest.mark.parametrize(
    ("outlines", "holes", "message"),
    [
        ([], [], r"outlines: must hold at least one outline"),
        (5, [], r"outlines: must be a sequence"),
        ([square(0, 0), [(0, 0), (1, 1)]], [], r"outlines\[1\]: .*at least 3 distinct vertices"),
        ([square(0, 0), [(0, 0), (1, 1), (2, 2)]], [], r"outlines\[1\]: .*no area"),
        ([[(0, 0), (1, 1), (1, 0), (0, 2)]], [], r"vertex 0 crosses or touches .* vertex 2"),
        ([[(0, 0), (2, 0), (2, 2), (1, 0), (0, 2)]], [], r"outlines\[0\]: .*crosses or touches"),
        ([[(0, 0), (2, 0), (1, 0), (1, 2)]], [], r"outlines\[0\]: .*crosses or touches"),
        ([square(0, 0)], [[(0, 0), (np.nan, 1), (1, 1)]], r"holes\[0\]: vertex 1: must be finite"),
        ([square(0, 0)], [square(-1, -1, 3, 3)], r"holes: no region is left outside of the holes"),
        ([[(0, 0), (1, 0), (1e-50, 1)]], [], r"outlines\[0\]: vertex 2: .* at least 1e-40 m"),
        (square(0, 0), [], r"outlines\[0\]: must have shape \(n, 2\)"),
    ],
)
def test_refused(outlines, holes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Region(outlines, holes)


def test_a_scene_refuses_outlines_that_are_no_region() -> None:
    with pytest.raises(InputError, match="inside: must be a Region"):
        Scene([], inside=square(0, 0))


@pytest.mark.parametrize("snap", [0.0, 0.1])
@pytest.mark.parametrize("part", ["outlines[1]", "holes[0]"])
def test_a_ring_without_vertices_is_refused(part: str, snap: float) -> None:
    empty = [np.empty((0, 2))]
    outlines, holes = ([ROAD, *empty], []) if part == "outlines[1]" else ([ROAD], empty)
    with pytest.raises(InputError) as caught:
        Region(outlines, holes, snap=snap)
    assert caught.value.status is Status.TOO_FEW_POINTS
    assert str(caught.value).startswith(f"{part}: an outline needs at least 3 distinct")


@pytest.mark.parametrize("points", [1.0, [1.0, 2.0, 3.0], np.zeros((4, 3))])
def test_points_have_two_coordinates(points: object) -> None:
    with pytest.raises(InputError, match=r"points: must have shape \(\.\.\., 2\)"):
        Region([ROAD]).contains(points)


# ---- the work that a boundary needs


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[int]:
    """Count the calls of a function: the returned list has one element."""
    count, function = [0], getattr(owner, name)

    def call(*args: object) -> object:
        count[0] += 1
        return function(*args)

    monkeypatch.setattr(owner, name, call)
    return count


def test_crossings_inside_of_other_outlines_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 random triangles cross at 90 000 points. Almost all are inside of another triangle.

    Each crossing costs integers of hundreds of bits, so that all of them took half a minute.
    """
    crossings = counted(monkeypatch, union, "_crossing")
    rng = np.random.default_rng(3)
    triangles = [rng.uniform(0.0, 100.0, (3, 2)) for _ in range(300)]
    region = Region(triangles)
    truth = unary_union([Polygon(each) for each in triangles])
    assert region.area == pytest.approx(truth.area, rel=1e-12)
    assert boundary_length(region) == pytest.approx(truth.boundary.length, rel=1e-12)
    assert crossings[0] < 3_000


@pytest.mark.parametrize("seed", range(60))
def test_holes_begin_at_hidden_crossings_too(seed: int) -> None:
    """A hole with an edge on that of an outline, which is inside of other outlines.

    If only one of both edges were divided at a crossing, a piece of the boundary would be there
    twice.
    """
    rng = np.random.default_rng(seed)

    def star() -> np.ndarray:
        angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, rng.integers(3, 9)))
        radii = rng.uniform(2.0, 9.0, len(angles))
        ring = np.column_stack([np.cos(angles), np.sin(angles)]) * radii[:, None]
        return np.round(ring + rng.uniform(0.0, 18.0, 2))

    outlines: list[np.ndarray] = []
    while len(outlines) < 12:
        ring = star()
        if Polygon(ring).is_valid and Polygon(ring).area > 0.0:
            outlines.append(ring)
    holes = [outlines[0], outlines[1][::-1]]
    truth = union_of(outlines, holes)
    assert Region(outlines, holes).area == pytest.approx(truth.area, rel=1e-9)


def test_outlines_that_share_a_vertex_are_not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """1000 wedges around one vertex have 2 000 000 pairs of edges that meet there."""
    splits = counted(monkeypatch, union._Edges, "_split")
    angles = np.linspace(0.0, 2.0 * np.pi, 1001)
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    rim[-1] = rim[0]
    wedges = [[(0.0, 0.0), *rim[k : k + 2].tolist()] for k in range(1000)]
    region = Region(wedges)
    truth = math.fsum(np.linalg.det(rim[k : k + 2]) / 2.0 for k in range(1000))
    assert region.area == pytest.approx(truth, rel=1e-12)
    assert len(region.boundary) == 1000
    assert splits[0] <= 5 * 1000  # mostly an edge and the next one of the same wedge


def comb(teeth: int) -> np.ndarray:
    """Teeth along y, 1 m wide and 1 m apart, on a bar along x."""
    long = 2.0 * teeth + 1.0
    ring = [(0.0, -1.0), (2.0 * teeth - 1.0, -1.0)]
    for k in reversed(range(teeth)):
        x = 2.0 * k
        ring += [(x + 1.0, 0.0), (x + 1.0, long), (x, long), (x, 0.0)]
    return np.array(ring)


def test_outlines_may_cross_at_many_points_but_not_without_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The teeth of two combs of n teeth cross 4 n^2 times, and all crossings are boundary."""
    lying = comb(20)[:, ::-1] + (-1.0, 1.0)
    region = Region([comb(20), lying])
    truth = unary_union([Polygon(comb(20)), Polygon(lying)])
    assert region.area == pytest.approx(truth.area, rel=1e-12)
    crossings = counted(monkeypatch, union, "_crossing")
    with pytest.raises(InputError, match=r"50000 times.*divide the region") as caught:
        Region([comb(300), comb(300)[:, ::-1] + (-1.0, 1.0)])
    assert (caught.value.status, caught.value.argument) == (Status.LIMIT_EXCEEDED, "outlines")
    assert crossings[0] == 0, "the limit is checked first"


def test_too_many_crossings_are_refused_before_all_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """160 x 160 bars cross 102 400 times; to look at all of them takes seconds."""
    looked_at, expose = [], union._Edges._exposed

    def counting(self: union._Edges, pairs: np.ndarray) -> np.ndarray:
        looked_at.append(len(pairs))
        return expose(self, pairs)

    monkeypatch.setattr(union._Edges, "_exposed", counting)
    bars = [square(3.0 * k, -1.0, 1.0, 482.0) for k in range(160)]
    bars += [square(-1.0, 3.0 * k, 482.0, 1.0) for k in range(160)]
    with pytest.raises(InputError, match="cross or touch more than 50000 times"):
        Region(bars)
    assert sum(looked_at) < 70_000


def test_outlines_that_touch_each_other_have_the_same_limit() -> None:
    """400 rectangles with a common corner: the corners of each are on edges of larger ones."""
    with pytest.raises(InputError, match="cross or touch more than 50000 times"):
        Region([square(0.0, 0.0, k, 1.0) for k in range(1, 401)])
    assert Region([square(0.0, 0.0, k, 1.0) for k in range(1, 101)]).area == 100.0


def test_large_outlines_are_not_compared_edge_by_edge() -> None:
    """Two outlines of 20 000 vertices that cross: n^2 tests of points would take minutes."""
    angles = np.linspace(0.0, 2.0 * np.pi, 20_000, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    region = Region([ring, ring + (1.0, 0.0)])
    assert region.area == pytest.approx(4.0 * np.pi / 3.0 + math.sqrt(3.0) / 2.0, rel=1e-6)
