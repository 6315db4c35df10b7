# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Distances to the boundary of a region whose source has an inflation, of the node and its mirror.

The oracle is in closed form: the region, the vehicle and the obstacle are boxes with parallel
sides. The signed distance to the outside is the distance to the boundary, or minus the distance of
the farthest corner of the vehicle to the region; the inflation is subtracted. GJK_CASES sets how
many poses are tried.
"""

import copy
import os
import pickle
import random
from math import hypot, inf
from typing import Any

import mirroring
import numpy as np
import pytest
import questions
from mirroring import Run
from shapely import Point, Polygon, union_all
from shapely.geometry.base import BaseGeometry

from gjk_collision import OUTSIDE, InputError, Scene, Shape, _core
from gjk_collision.server.data.obstacles import HOLE, REGION, Obstacles
from gjk_collision.server.data.regions import region_of
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.server.services.snapshot_message import described
from gjk_collision.verdict import Verdict

CASES = int(os.environ.get("GJK_CASES", "400"))
ROOM = (-8.86, -5.32, 7.04, 7.77)
HALF = (0.5, 0.4)
TURNED = Pose(3.0, -2.0, 0.7)
Box = tuple[float, float, float, float]


def corners(box: Box) -> np.ndarray:
    x, y, u, v = box
    return np.array([(x, y), (u, y), (u, v), (x, v)])


def placed(pose: tuple[float, float], half: tuple[float, float] = HALF) -> Box:
    return pose[0] - half[0], pose[1] - half[1], pose[0] + half[0], pose[1] + half[1]


def to_outside(car: Box, room: Box) -> float:
    gap = min(car[0] - room[0], car[1] - room[1], room[2] - car[2], room[3] - car[3])
    if gap >= 0.0:
        return gap
    return -max(
        hypot(max(room[0] - x, x - room[2], 0.0), max(room[1] - y, y - room[3], 0.0))
        for x, y in corners(car)
    )


def between(a: Box, b: Box) -> float:
    """Return the distance of boxes that are apart."""
    return hypot(max(a[0] - b[2], b[0] - a[2], 0.0), max(a[1] - b[3], b[1] - a[3], 0.0))


def message(frame: str, room: Box, obstacle: Box | None, stamp: int) -> Obstacles:
    """The outlines in a frame that is at `TURNED`, or in the check frame."""
    rings = [corners(room)] + ([] if obstacle is None else [corners(obstacle)])
    if frame != "odom":
        x, y, yaw = TURNED
        rings = [Pose(yaw=-yaw).transform(ring - (x, y)) for ring in rings]
    return outlines(rings, [REGION, 0][: len(rings)], frame, stamp)


def outlines(rings: list[np.ndarray], kinds: list[int], frame: str, stamp: int) -> Obstacles:
    return Obstacles(
        frame=frame, stamp=stamp, ids=np.array([1, 10, 11][: len(rings)]),
        kinds=np.array(kinds, dtype=np.uint8), xy=np.concatenate(rings).ravel(),
        offsets=4 * np.arange(len(rings) + 1, dtype=np.uint32),
    )  # fmt: skip


def views(
    inflation: float, frame: str = "odom", room: Box = ROOM, obstacle: Box | None = None
) -> tuple[Snapshot, Snapshot]:
    outline = tuple(float(v) for v in corners(placed((0.0, 0.0))).ravel())
    source = SourceConfig("fence", inflation=inflation)
    config = Config(footprint=outline, sources=(source,))
    run = Run(config, mirroring.Frames({"odom": Pose(), "base_link": Pose(), "turned": TURNED}))
    data = message(frame, room, obstacle, run.now)
    run.world.receive_obstacles("fence", data, **run.times)
    run.beat()
    assert run.fault() is None
    return run.snapshot(), run.mirrored()


@pytest.mark.requirement("G-5")
@pytest.mark.parametrize("frame", ["odom", "turned"])
@pytest.mark.parametrize("inflation", [0.0, 0.2])
def test_bounds_hold_the_truth(frame: str, inflation: float) -> None:
    """In the room, nearer to the boundary than the inflation, across the boundary, and outside."""
    rng = random.Random(5)
    obstacle = placed((2.0, 1.0), (0.3, 0.2))
    both = views(inflation, frame, obstacle=obstacle)
    seen = {"free": 0, "near": 0, "outside": 0}
    for case in range(CASES):
        x, y = rng.uniform(-10.5, 8.5), rng.uniform(-7, 9.5)
        if case % 2:  # within 0.5 m of a side
            x = rng.choice([ROOM[0] + HALF[0] + rng.uniform(-0.3, 0.5), ROOM[2] - HALF[0] - 0.1])
            y = rng.uniform(-4, 6)
        car = placed((x, y))
        gap = to_outside(car, ROOM)
        other = between(car, obstacle)
        if other == 0.0:
            continue
        truth = {OUTSIDE: gap - inflation, 10: other - inflation}
        seen["free" if truth[OUTSIDE] > 0.0 else "near" if gap > 0.0 else "outside"] += 1
        order = sorted(truth, key=lambda each: truth[each])
        least = min(truth.values())
        for snapshot in both:
            where = f"case {case}: {(x, y)}: {truth}"
            for k in (1, 3):
                near = questions.distance(snapshot, Pose(x, y, 0.0), k)
                if abs(truth[OUTSIDE] - truth[10]) > 1e-8:
                    assert near.ids.tolist() == order[:k], where
                for i, one in enumerate(near.ids.tolist()):
                    lower, distance = near.lower_bounds[i], near.distances[i]
                    assert lower <= truth[one] + 1e-12, where
                    assert truth[one] - 1e-12 <= distance <= truth[one] + 1e-9, where
                    if gap > 0.0:
                        assert distance - lower < 1e-9, where
            state = questions.state(snapshot, Pose(x, y, 0.0), None)
            assert state.distance == pytest.approx(least, abs=1e-9), where
            if abs(least) > 1e-9:
                assert (state.verdict is Verdict.FREE) == (least > 0.0), where
            poses = questions.check_poses(snapshot, np.array([x, y, 0.0]), mode=1)
            assert poses.distances[0] == pytest.approx(least, abs=1e-9), where
            path = questions.check_path(snapshot, np.array([x, y, 0.0]))
            assert path.min_distance >= least - 1e-9, where
            if least > 0.01:
                assert path.min_distance <= least + 0.01, where
            elif least < -1e-9:
                assert path.min_distance <= 1e-9, where
    assert min(seen.values()) > CASES // 16 or inflation == 0.0, seen


@pytest.mark.requirement("G-5")
@pytest.mark.parametrize("inflation", [0.0, 0.3])
def test_concave_vehicles_in_concave_regions(inflation: float) -> None:
    """Turned vehicles of two parts; lanes with a hole, whose crossings are rounded. By shapely."""
    rng = random.Random(6)
    ell = np.array([(-1.0, -0.6), (1.0, -0.6), (1.0, 0.0), (0.2, 0.0), (0.2, 0.7), (-1.0, 0.7)])
    car = Shape.concave(ell)
    seen = {"free": 0, "near": 0, "outside": 0}
    for _ in range(CASES // 40):
        turn = Pose(0.0, 0.0, rng.uniform(-3, 3))
        lanes = [turn.transform(corners((-6, -2, 6, 2))), corners((-2.5, -7, 2.5, 7))]
        hole = turn.transform(corners((0.4, 0.3, 1.4, 1.1)))
        data = outlines([*lanes, hole], [REGION, REGION, HOLE], "odom", 0)
        region = region_of(data, TURNED, inflation)
        scene = Scene([], inside=region)
        area = union_all([Polygon(TURNED.transform(each)) for each in lanes])
        area -= Polygon(TURNED.transform(hole))
        for _ in range(40):
            x, y = TURNED.transform(np.array([(rng.uniform(-6, 6), rng.uniform(-6, 6))]))[0]
            pose = (float(x), float(y), rng.uniform(-4, 4))
            own = Polygon(Pose(*pose).transform(ell))
            inside = area.contains(own)
            gap = own.distance(area.boundary)
            found = scene.check(car, pose, mode="distance")
            near, gradient = scene.nearest(car, pose), scene.gradient(car, pose)
            pairs = [(float(found.lower_bounds), float(found.distances))]
            pairs += [(each.lower_bounds[0], each.distances[0]) for each in (near, gradient)]
            for lower, distance in pairs:
                if inside and gap > 1e-9:
                    truth = gap - inflation
                    assert truth - 1e-9 <= distance <= truth + 1e-9, pose
                    assert truth - 1e-9 <= lower <= truth + 1e-9, pose
                elif not inside:
                    farthest = max(area.distance(Point(p)) for p in own.exterior.coords)
                    assert lower <= -farthest - inflation + 1e-9, pose
                    assert distance <= -inflation + 1e-9, pose
                    # No point is farther than the sides of the vehicle and the region allow.
                    assert -distance - inflation <= hausdorff(own, area) + 1e-9, pose
            seen["outside" if not inside else "near" if gap < inflation else "free"] += 1
    assert min(seen.values()) > CASES // 20 or inflation == 0.0, seen


def hausdorff(own: Polygon, area: BaseGeometry) -> float:
    """Return an upper bound of the largest distance of a point of a polygon to an area."""
    ring = own.exterior.segmentize(0.1)
    points = [Point(p) for p in ring.coords]
    # The largest distance in the inside can be to a hole of the area.
    deepest = max((Polygon(each).length / 2 for each in area.interiors), default=0.0)
    return max(max(area.distance(p) for p in points) + 0.1, deepest)


def test_other_queries_of_the_scene() -> None:
    scene = views(0.2)[0].scene
    car, x = Shape.box(2 * HALF[0], 2 * HALF[1]), ROOM[0] + HALF[0]
    for gap in (0.5, 0.1, -0.3):
        gradient = scene.gradient(car, (x + gap, 0.0, 0.0))
        assert gradient.distances[0] == pytest.approx(gap - 0.2, abs=1e-9)
        assert gradient.gradients[0][:2] == pytest.approx((1.0, 0.0), abs=1e-9)
        found = scene.nearest_free(car, (x + gap, 0.0, 0.0), max_shift=2.0)
        assert found is not None
        assert found[0] - x - gap == pytest.approx(max(0.2 - gap, 0.0), abs=0.01)
    ray = scene.ray_cast((0.0, 0.0), [(1.0, 0.0)], 100.0)
    assert ray.distances[0] == pytest.approx(ROOM[2] - 0.2, abs=0.01)
    assert scene.ray_cast((ROOM[2] - 0.1, 0.0), [(1.0, 0.0)]).distances[0] == 0.0


def test_a_region_with_an_inflation_is_copied_with_it() -> None:
    data = message("odom", ROOM, None, 0)
    region, other = region_of(data, TURNED, 0.2), region_of(data, TURNED, 0.25)
    assert region is not None and other is not None
    assert region != other
    car, pose = Shape.box(1.0, 0.8), (3.0, 0.0, 0.7)
    wanted = Scene([], inside=region).check(car, pose, mode="distance").distances
    for each in (pickle.loads(pickle.dumps(region)), copy.deepcopy(region), copy.copy(region)):
        assert (each, hash(each)) == (region, hash(region))
        assert Scene([], inside=each).check(car, pose, mode="distance").distances == wanted
    scene = pickle.loads(pickle.dumps(Scene([], inside=region)))
    assert scene.check(car, pose, mode="distance").distances == wanted
    assert Scene([], inside=other).check(car, pose, mode="distance").distances < wanted


@pytest.mark.parametrize("inflation", [-0.1, inf, float("nan"), 0.2 + 1e-9])
def test_bad_inflation_is_refused(inflation: float) -> None:
    """An inflation that a radius does not include would make distances too small."""
    run_of = views(0.2)[0]
    fields: dict[str, Any] = described(run_of, 1)
    assert fields["region_inflation"] == 0.2
    fields["region_inflation"] = inflation
    content = _core.Mirror.read(mirroring.message(mirroring.SNAPSHOT, fields))
    assert "region_" in content.error


def test_a_region_that_is_not_turned_has_its_inflation_exactly() -> None:
    """No rounding is added, so the distance that is required is the parameter."""
    data = message("odom", ROOM, None, 0)
    region, turned = region_of(data, Pose(), 0.3), region_of(data, TURNED, 0.3)
    assert region is not None and turned is not None
    assert (region._radii == 0.3).all() and (turned._radii > 0.3).all()


def test_holes_that_leave_nothing_are_named_by_the_kinds() -> None:
    room, hole = corners(ROOM), corners((-9.0, -6.0, 8.0, 8.0))
    with pytest.raises(InputError, match=r"^kinds: "):
        region_of(outlines([room, hole], [REGION, HOLE], "odom", 0), Pose(), 0.0)
