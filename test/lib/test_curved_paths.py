# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Curved paths and several paths at once. `test_path_durations` samples them densely."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gjk_collision import InputError, Path, Scene, Shape, Verdict

CAR = Shape.polygon([(-1, -0.9), (3.8, -0.9), (3.8, 0.9), (-1, 0.9)])
WALL = Shape.box(0.001, 30.0)

Floats = NDArray[np.float64]


def random_arcs(rng: np.random.Generator, count: int) -> Floats:
    """Return arcs (count, m, 2): straight, nearly straight, tight, backwards, long, short."""
    m = int(rng.integers(1, 5))
    curvature = rng.normal(size=(count, m)) * rng.choice(
        [0.0, 1e-13, 1e-6, 0.1, 0.3, 2.0], (count, m)
    )
    length = rng.normal(size=(count, m)) * rng.choice([0.0, 1e-9, 0.3, 4.0, 9.0], (count, m))
    limit = 3.0 / np.maximum(np.abs(curvature), 1e-3)  # rad / (rad/m)
    return np.stack([curvature, np.clip(length, -limit, limit)], axis=-1)


def test_no_thin_wall_is_missed_by_a_curve() -> None:
    """The wall lies between any two poses that are checked, and beside the chord of the arc."""
    scene = Scene([WALL], [(3.0, 20.0, 0.0)])
    quarter = [(0.2, 2.5 * np.pi)]  # from (0, 0) to (5, 5)
    point = Shape.point((0.0, 0.0))
    found = scene.check_path(point, Path.arcs((0, 0, 0), quarter))
    assert found.verdict is Verdict.FREE
    found = scene.check_path(point, Path.arcs((0, 4.5, 0), quarter))
    assert found.verdict is Verdict.COLLISION
    assert found.last_valid_fraction * 2.5 * np.pi == pytest.approx(5 * np.arcsin(0.6), abs=0.01)


def test_a_path_keeps_a_copy_of_its_arrays() -> None:
    scene = Scene([WALL], [(30.0, 0.0, 0.0)])
    start, arcs, poses = np.zeros((1, 3)), np.array([[[0.0, 20.0]]]), np.zeros((1, 2, 3))
    paths = [Path.arcs(start, arcs), Path.straight(poses)]
    before = [scene.check_path(CAR, path).verdict for path in paths]
    start[:], arcs[:], poses[:] = np.nan, 60.0, 30.0
    assert [scene.check_path(CAR, path).verdict for path in paths] == before
    assert paths[0].length == [20.0]


def test_constant_speed_covers_the_rounding_of_the_times_between() -> None:
    """The obstacle crosses at 100 m/s exactly where and when the point passes."""
    begin = 1.8e9
    point = Shape.point((0.0, 0.0))
    scene = Scene([Shape.circle(1e-6)], [(30, -30, 0)], velocities=[(0, 100, 0)], stamps=[begin])
    for arcs in ([(0, 30), (0, 70)], [(0, 0), (0, 30), (0, 0), (0, 70)], [(0, 100)]):
        found = scene.check_path(point, Path.arcs((0, 0, 0), arcs), [begin, begin + 1], 1e-7)
        assert found.verdict is not Verdict.FREE
    poses = [(0, 0, 0), (30, 0, 0), (100, 0, 0)]
    found = scene.check_path(point, Path.straight(poses), [begin, begin + 1], 1e-7)
    assert found.verdict is not Verdict.FREE


def test_every_length_up_to_the_end_has_a_pose() -> None:
    rng = np.random.default_rng(24)
    for _ in range(100):
        arcs = random_arcs(rng, 1)[0]
        for path in (
            Path.arcs((0, 0, 0), np.tile(arcs, (7, 1))),
            Path.straight(rng.normal(size=(20, 3))),
        ):
            end = path.at(path.length) - path.poses[-1]
            np.testing.assert_allclose(end[:2], 0.0, atol=1e-12)
            assert np.cos(end[2]) == pytest.approx(1.0)
            assert path.at(np.linspace(0, path.length, 9)).shape == (9, 3)


@pytest.mark.parametrize("turns", [1, 15000])
def test_many_turns_on_the_spot(turns: int) -> None:
    path = Path.arcs((0, 0, 0), [(1.0, 2 * np.pi * turns)])
    for x, expected in ((8.0, Verdict.FREE), (1.0, Verdict.COLLISION)):
        scene = Scene([Shape.circle(0.5)], [(x, 1.0, 0)])
        found = scene.check_path(Shape.point((0.0, 0.0)), path)
        assert found.verdict is expected


def test_half_turns_go_the_way_of_the_kernel() -> None:
    """Between yaws of 0 and 3 pi, both half turns are equally short."""
    bar = Shape.segment((0, 0), (1, 0))
    for yaw in (np.pi, 3 * np.pi, -np.pi, -3 * np.pi, 5 * np.pi):
        path = Path.straight([(0, 0, 0), (1, 0, yaw)])
        poses = path.at(np.linspace(0, 1, 200))
        for y in (0.7, -0.7):
            scene = Scene([Shape.circle(0.1)], [(0.5, y, 0)])
            is_hit = scene.check(bar, poses).verdict is Verdict.COLLISION
            assert is_hit == (scene.check_path(bar, path).verdict is Verdict.COLLISION)


def test_times_at_the_ends_of_equally_many_arcs() -> None:
    arcs = np.zeros((3, 2, 2))
    arcs[..., 1] = 5.0
    path = Path.arcs((0, 0, 0), arcs)
    scene = Scene([WALL], [(8.0, 0.0, 0.0)], prediction="hold")
    point = Shape.point((0.0, 0.0))
    found = scene.check_path(point, path, [0.0, 1.0, 11.0])
    np.testing.assert_allclose(found.first_collision_times, 7.0, atol=0.02)
    rows = [[0.0, 1.0, 11.0], [0.0, 5.0, 10.0], [0.0, 1.0, 2.0]]
    found = scene.check_path(point, path, rows)
    np.testing.assert_allclose(found.first_collision_times, [7.0, 8.0, 1.6], atol=0.02)
    assert len(path) == 3


def test_straight_paths_are_those_of_poses() -> None:
    rng = np.random.default_rng(20)
    scene = Scene([CAR] * 20, rng.normal(size=(20, 3)) * 20)
    poses = rng.normal(size=(3, 40, 4, 3)) * [15, 15, 2]
    path = Path.straight(poses)
    found = scene.check_path(CAR, path, margin=0.1)
    assert found.verdicts.shape == path.shape == (3, 40)
    assert found.verdict is Verdict.COLLISION and not found.is_free
    for i, j in np.ndindex(3, 40):
        alone = scene.check_path(CAR, poses[i, j], margin=0.1)
        assert alone.verdict == found.verdicts[i, j]
        assert alone.first_invalid_segment == found.first_invalid_segments[i, j]
        assert alone.lower_bound == found.lower_bounds[i, j]
        assert alone.id == found.ids[i, j]
    assert len(list(Path.straight(poses[0]))) == 40


def test_shortest_curves_end_at_their_goals() -> None:
    rng = np.random.default_rng(23)
    a, b = rng.normal(size=(2, 50, 3)) * [20, 20, 3]
    for make in (Path.dubins, Path.reeds_shepp):
        paths = make(a, b, 4.0)
        assert paths.shape == (50,)
        for path, end in zip(paths, b, strict=True):
            arrived = path.poses[-1] - end
            arrived[2] = np.remainder(arrived[2] + np.pi, 2 * np.pi) - np.pi
            np.testing.assert_allclose(arrived, 0.0, atol=1e-9)
            assert (np.abs(path.segments[:, 0]) <= 0.25 * (1 + 1e-12)).all()
        grid = make(a[:4, None], b, 4.0)
        assert grid.shape == (4, 50)
        assert make(a[0], a[0], 4.0).length == 0.0
    assert (Path.dubins(a, b, 4.0).length >= Path.reeds_shepp(a, b, 4.0).length).all()


def test_a_vehicle_that_stands() -> None:
    scene = Scene([CAR], [(20.0, 0.0, np.pi)], velocities=[(-4.0, 0.0, 0.0)])
    for arcs in ([], [(0.3, 0.0)]):
        path = Path.arcs((0, 0, 0), arcs)
        assert scene.check_path(CAR, path).verdict is Verdict.FREE
        with pytest.raises(InputError, match="must have shape"):
            scene.check_path(CAR, path, [0.0, 1.0, 2.0])
        timed = scene.check_path(CAR, path, [0.0, 4.9])
        assert timed.verdict is Verdict.COLLISION


def test_only_several_paths_have_a_count() -> None:
    """The length of one path is in metres: `Path.length`."""
    assert len(Path.straight(np.zeros((4, 2, 3)))) == 4
    with pytest.raises(TypeError, match=r"a Path of shape \(\) has no length"):
        len(Path.straight(np.zeros((2, 3))))


def test_a_turn_on_the_spot_has_no_constant_speed() -> None:
    """Two times say when the path begins and ends, but not when it passes the pose between."""
    turn = Path.straight([(0, 0, 0), (0, 0, 1), (0, 0, 2)])
    scene, car = Scene([]), Shape.box(4.0, 2.0)
    with pytest.raises(InputError, match="times: must hold a time for each of the 3 poses"):
        scene.check_path(car, turn, times=[0.0, 2.0])
    assert scene.check_path(car, turn, times=[0.0, 1.0, 2.0]).is_free


def test_a_distance_that_takes_too_many_steps_is_near_the_smallest() -> None:
    """The vehicle turns a whole circle beside the obstacle: 1e-4 m would take 1100 steps."""
    arcs = [(-0.0066, 6.73), (-0.0052, -3.16), (0.0064, -2.29), (-0.13882205, 49.23043460)]
    path = Path.arcs((0.0, 0.0, 0.0), arcs)
    scene = Scene([Shape.box(1.0, 4.0)], [(-2.7157, -10.4539, -2.2605)])
    car = Shape.box(4.9, 1.9, (1.4, 0.0))
    poses = path.at(np.linspace(0.0, path.length, 20_000))
    sampled = scene.check(car, poses, mode="distance").distances.min()
    for tolerance in (1e-3, 1e-4, 1e-6):
        found = scene.check_path(car, path, tolerance=tolerance)
        assert found.is_free
        assert found.lower_bound <= sampled <= found.distance + 1e-6
        assert found.distance - sampled <= 1e-3
        assert found.distance - found.lower_bound <= max(8 * tolerance, 1e-3)
