# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles that exist for a time only. `test_path_durations` checks paths beside them."""

from __future__ import annotations

import os
import pickle
from math import inf, nan

import numpy as np
import pytest
from traffic import some_shape

from gjk_collision import InputError, Region, Scene, Shape, Status, Verdict
from gjk_collision.scene import Mode

CASES = int(os.environ.get("GJK_CASES", "12"))
MODES: tuple[Mode, ...] = ("distance", "collide")
CAR = Shape.box(4.0, 2.0)
BOX = Shape.box(1.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)
STILL = (0.0, 0.0, 0.0)


@pytest.mark.requirement("V-9")
def test_poses_at_times_and_at_the_limits() -> None:
    """The answers are those of a scene of the obstacles that exist at that time."""
    rng, n = np.random.default_rng(370), 6
    seen = set()
    for _ in range(CASES):
        lifetimes = np.sort(rng.uniform(-2, 10, (n, 2)), axis=1)
        lifetimes[rng.random((n, 2)) < 0.2] = nan
        each = {
            "shapes": np.array([some_shape(rng) for _ in range(n)]),
            "poses": rng.normal(size=(n, 3)) * [5, 5, 3],
            "velocities": rng.normal(size=(n, 3)) * [2, 2, 1] * rng.choice([0, 1], (n, 1)),
            "stamps": rng.choice([-3.0, -2.5, -4.25], n),
        }
        scene = Scene(**each, lifetimes=lifetimes, horizon=99.0)
        limits = lifetimes[np.isfinite(lifetimes)]
        near = [limits, np.nextafter(limits, inf), np.nextafter(limits, -inf)]
        for time in (*np.concatenate(near), *rng.uniform(-1, 9, 3)):
            exist = ~(time < lifetimes[:, 0]) & ~(time > lifetimes[:, 1])
            assert scene.exist_at(time).tolist() == exist.tolist()
            assert (~np.isnan(scene.poses_at(time)[:, 0])).tolist() == exist.tolist()
            others = Scene(**{name: of[exist] for name, of in each.items()}, horizon=99.0)
            poses = rng.normal(size=(70, 3)) * [6, 6, 3]  # enough to be grouped by their time
            times = np.full(70, time)
            clear = np.abs(others.check(CAR, poses, times, mode="distance").distances) > 1e-9
            for mode in MODES:
                found = scene.check(CAR, poses, times, mode=mode)
                wanted = others.check(CAR, poses, times, mode=mode)
                np.testing.assert_array_equal(found.verdicts[clear], wanted.verdicts[clear])
                np.testing.assert_allclose(found.distances, wanted.distances, atol=1e-9)
            expected = [-1] * (n - exist.sum()) + np.flatnonzero(exist).tolist()
            near_ids = scene.nearest(CAR, poses[:1], n, time=times[:1]).ids
            for ids in (near_ids, scene.gradient(CAR, poses[:1], times[:1], n).ids):
                assert np.sort(ids[0]).tolist() == expected
            assert scene.is_free(CAR, poses[0], time=time) == (found.verdicts[0] == Verdict.FREE)
            seen |= set(found.verdicts)
    assert seen == {Verdict.FREE, Verdict.COLLISION}


def brief(lifetime: tuple[float, float], **options) -> Scene:
    """Return an obstacle at the origin that never moves."""
    return Scene([BOX], velocities=[STILL], lifetimes=[lifetime], **options)


def test_an_obstacle_that_exists_between_two_poses_only() -> None:
    scene, way = brief((1.4, 1.5)), [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)]
    assert scene.check(CAR, way, [1.0, 2.0]).is_free
    path = scene.check_path(CAR, way, [1.0, 2.0])
    assert path.verdict is Verdict.COLLISION
    assert path.first_collision_time == pytest.approx(1.4, abs=1e-12)
    assert path.first_collision_time <= 1.4
    assert scene.check_path(CAR, way, [1.0, 1.39]).distance == inf
    # All times of an instant count.
    assert scene.check_path(CAR, way, [1.5, np.nextafter(1.5, 2)]).verdict is Verdict.COLLISION


def test_the_pose_need_not_be_known_while_it_does_not_exist() -> None:
    path = ([1.0, 3.0], [(0.0, 0.0, 0.0), (8.0, 0.0, 0.0)])
    away = [(0.0, 30.0, 0.0), (1.0, 30.0, 0.0)]
    cases = [
        ((nan, nan), 9.0, Verdict.UNKNOWN),
        ((-1.0, 3.0), 9.0, Verdict.FREE),
        ((-1.0, 3.0), -0.5, Verdict.UNKNOWN),
        ((-1.0, 3.0), -1.5, Verdict.FREE),
        ((2.0, 5.0), 0.5, Verdict.FREE),
        ((2.0, 5.0), 4.0, Verdict.UNKNOWN),
        ((2.0, 5.0), 5.0, Verdict.UNKNOWN),
        ((2.0, 5.0), 5.5, Verdict.FREE),
        ((4.0, 5.0), 3.9, Verdict.FREE),
        ((4.0, 5.0), 4.5, Verdict.UNKNOWN),
        ((4.0, nan), 4.5, Verdict.UNKNOWN),
        ((nan, -2.0), -2.5, Verdict.UNKNOWN),
        ((nan, -2.0), -1.0, Verdict.FREE),
        ((2.0, nan), 2.5, Verdict.FREE),
    ]
    for lifetime, time, verdict in cases:
        scene = Scene([BOX], [ORIGIN], paths=[path], lifetimes=[lifetime])
        for found in (
            scene.check(CAR, away, [time, time]),
            scene.check_path(CAR, away, [time, time + 1e-3]),
        ):
            assert found.verdict is verdict, (lifetime, time)
    scene = Scene([BOX], [ORIGIN], paths=[path], lifetimes=[(2.0, 5.0)])
    long = scene.check_path(CAR, away, [0.0, 9.0])
    assert (long.verdict, long.status) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
    assert long.id == 0
    assert 3.0 / 9.0 - 1e-9 <= long.last_valid_fraction <= 3.0 / 9.0 + 1e-9
    assert scene.check_path(CAR, away, [5.1, 9.0]).is_free
    assert scene.check_path(CAR, away, [0.0, 2.9]).is_free
    with pytest.raises(InputError, match="not known at this time"):
        scene.nearest(CAR, ORIGIN, time=4.0)


def test_queries_without_times_ignore_lifetimes() -> None:
    scene = brief((1.0, 2.0))
    assert not scene.is_free(CAR, ORIGIN)
    assert scene.check_path(CAR, [ORIGIN]).verdict is Verdict.COLLISION
    assert scene.nearest(CAR, (9.0, 0.0, 0.0)).ids.tolist() == [0]
    assert scene.ray_cast((-9.0, 0.0), (1.0, 0.0)).distances == pytest.approx(8.5)
    assert np.hypot(*scene.nearest_free(CAR, ORIGIN, 9.0)[:2]) > 1.4
    np.testing.assert_array_equal(scene.nearest_free(CAR, ORIGIN, 9.0, time=3.0), ORIGIN)


def test_time_to_collision() -> None:
    """A car at 10 m/s reaches the wall at x = 22 after 2 s, if it exists."""
    wall, car, ahead = Shape.box(0.1, 9.0), Shape.box(4.0, 2.0), (10.0, 0.0, 0.0)
    for lifetime, expected in (
        ((nan, nan), 1.995),
        ((0.0, 1.9), inf),
        ((0.0, 2.0), 1.995),
        ((1.0, nan), 1.995),
        ((2.1, 9.0), 2.1),  # it begins where the vehicle is
        ((2.5, 9.0), inf),  # the vehicle has passed
        ((-2.0, -1.0), inf),
        ((11.0, 12.0), inf),
    ):
        scene = Scene([wall], [(22.0, 0.0, 0.0)], velocities=[STILL], lifetimes=[lifetime])
        found = scene.time_to_collision(car, ORIGIN, ahead, 0.0, tolerance=1e-6)
        assert float(found.times) == pytest.approx(expected, abs=1e-5), lifetime
        assert found.verdicts == (Verdict.FREE if expected == inf else Verdict.COLLISION)
    moving = Scene(
        [wall], [(60.0, 0.0, 0.0)], velocities=[(-10.0, 0.0, 0.0)], lifetimes=[(1.0, 8.0)]
    )
    found = moving.time_to_collision(car, ORIGIN, ahead, 0.0, tolerance=1e-6)
    assert float(found.times) == pytest.approx((60.0 - 2.05) / 20.0, abs=1e-5)
    late = Scene([wall], paths=[([1.0], [ORIGIN])], lifetimes=[(3.0, 9.0)])
    assert late.time_to_collision(car, (50, 0, 0), ahead, 0.5).verdicts == Verdict.UNKNOWN


def test_near_a_limit_the_derivatives_are_one_sided() -> None:
    scene, pose = brief((1.0, 3.0)), (9.0, 0.2, 0.1)
    for time, smooth in ((2.0, True), (1.0, False), (3.0 - 1e-7, False), (1.0 + 1e-5, True)):
        assert scene.gradient(CAR, pose, time).smooth.tolist() == [smooth]


def test_copies_arrays_updates_and_a_region() -> None:
    shapes, poses = [BOX, BOX, BOX], [(0, 0, 0), (9, 0, 0), (-9, 0, 0)]
    lifetimes = [(1.0, 2.0), (nan, 5.0), (nan, nan)]
    area = Region([[(-20, -9), (20, -9), (20, 9), (-20, 9)]])
    still = np.zeros((3, 3))
    scene = Scene(shapes, poses, velocities=still, lifetimes=lifetimes, inside=area)
    square = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    flat = Scene.from_arrays(
        [0, 4, 8, 12], np.tile(square, (3, 1)), poses=poses, velocities=still,
        lifetimes=lifetimes, inside=area,
    )  # fmt: skip
    longer = scene.updated([0], velocities=[STILL], lifetimes=[(1.0, 4.0)])
    always = scene.updated([0, 1], velocities=still[:2])
    first = Scene(shapes, poses, velocities=still, inside=area)
    limited = first.updated([0, 1], velocities=still[:2], lifetimes=lifetimes[:2])
    for made, ends in (
        (scene, (2.0, 5.0)),
        (pickle.loads(pickle.dumps(scene)), (2.0, 5.0)),
        (flat, (2.0, 5.0)),
        (limited, (2.0, 5.0)),
        (longer, (4.0, 5.0)),
        (always, (inf, inf)),
        (first, (inf, inf)),
    ):
        for time in (1.5, 2.5, 4.5, 6.0):
            exist = [time <= ends[0], time <= ends[1], True]
            found = made.check(CAR, [*poses, (19, 0, 0)], np.full(4, time))
            assert (found.verdicts == Verdict.COLLISION).tolist() == [*exist, True]
            assert made.exist_at(time).tolist() == exist
    assert pickle.dumps(scene) == pickle.dumps(pickle.loads(pickle.dumps(scene)))


def test_an_obstacle_exists_for_longer_if_the_time_is_not_exact() -> None:
    scene = Scene(
        [CAR], [(0, 0, 0)], velocities=np.zeros((1, 3)), lifetimes=[(0.0, 1.0)], time_error=0.1
    )
    for time, exists in ((-0.11, False), (-0.09, True), (1.09, True), (1.11, False)):
        found = scene.check(CAR, [(0, 0, 0)], np.array([time])).verdicts[0]
        assert (found == Verdict.COLLISION) == exists
        assert scene.exist_at(time).tolist() == [exists]
        assert np.isnan(scene.poses_at(time)).all() != exists


def test_drawings_leave_out_what_does_not_exist() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from gjk_collision.plotting import draw_scene

    scene = Scene(
        [BOX] * 3, [(0, 0, 0), (3, 0, 0), (6, 0, 0)], velocities=[STILL, STILL, (nan,) * 3],
        lifetimes=[(1.0, 2.0), (nan, nan), (nan, 5.0)],
    )  # fmt: skip
    for time, filled, dashed in ((None, 3, 0), (1.5, 2, 1), (3.0, 1, 1), (6.0, 1, 0)):
        figure, axes = pyplot.subplots()
        draw_scene(axes, scene, time)
        drawn = [patch for patch in axes.patches if len(patch.get_path().vertices)]
        corners = [len(patch.get_path().vertices) for patch in drawn if patch.get_fill()]
        lines = [patch for patch in drawn if patch.get_linestyle() in ("--", "dashed")]
        pyplot.close(figure)
        assert (sum(corners), len(lines)) == (5 * filled, dashed), time


@pytest.mark.parametrize("x", [12.0, 20.0, 60.0])
def test_an_obstacle_that_begins_at_an_unknown_place_may_be_anywhere(x: float) -> None:
    """Its path is known up to 0.5 s, and it exists from 1 s on; another one stands at 20 m."""
    path, wall = ([0.5], [(x, 1.0, 0.0)]), ([0.5], [(20.0, 0.0, 0.0)])
    begins = Scene([BOX], [(x, 0.0, 0.0)], paths=[path], lifetimes=[(1.0, nan)])
    for speed in (0.0, 1.0, 4.0):
        found = begins.time_to_collision(CAR, ORIGIN, (speed, 0.0, 0.0), 0.0)
        assert (found.verdicts, found.statuses) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
        assert found.ids == 0
    early = begins.time_to_collision(CAR, ORIGIN, (1.0, 0.0, 0.0), 0.0, horizon=0.9)
    assert early.verdicts == Verdict.FREE
    both = Scene(
        [BOX, BOX], [(20.0, 0.0, 0.0), (x, 0.0, 0.0)], paths=[wall, path],
        lifetimes=[(nan, nan), (1.0, nan)],
    )  # fmt: skip
    slow, fast = (
        both.time_to_collision(CAR, ORIGIN, (speed, 0.0, 0.0), 0.0) for speed in (10.0, 30.0)
    )
    assert (slow.verdicts, slow.ids) == (Verdict.UNKNOWN, 1), "contact after 1.75 s"
    assert (fast.verdicts, fast.ids) == (Verdict.COLLISION, 0), "contact after 0.58 s"


def test_the_velocity_of_an_obstacle_that_has_left_is_not_needed() -> None:
    left = Scene([BOX], [(60.0, 0.0, 0.0)], velocities=[(nan,) * 3], lifetimes=[(-1.0, 1.0)])
    twists = [(1.0, 0.0, 0.0)] * 2
    verdicts = left.time_to_collision(CAR, [ORIGIN] * 2, twists, [5.0, 0.5]).verdicts
    assert verdicts.tolist() == [Verdict.FREE, Verdict.UNKNOWN]
