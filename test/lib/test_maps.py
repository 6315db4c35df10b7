# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles from grids, scans and points, against their definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cases import FIRST_SEED
from numpy.typing import NDArray
from oracles import cos_sin

from gjk_collision import (
    InputError,
    Scene,
    Shape,
    Status,
    Verdict,
    obstacles_from_grid,
    obstacles_from_points,
    obstacles_from_scan,
)

Grid = NDArray[np.int8]


def rooms(size: int = 1000, wall: int = 2, seed: int = FIRST_SEED) -> Grid:
    """A floor plan: walls with doors, and round objects until 7 % of the cells are occupied."""
    rng = np.random.default_rng(seed)
    grid = np.zeros((size, size), np.int8)

    def split(room: Grid) -> None:
        h, w = room.shape
        if min(h, w) < 60:
            return
        if w > h:
            split(room.T)  # a view
            return
        at = int(rng.integers(25, h - 25))
        room[at : at + wall] = 100
        door = int(rng.integers(5, w - 20))
        room[at : at + wall, door : door + 15] = 0
        split(room[:at])
        split(room[at + wall :])

    split(grid)
    y, x = np.mgrid[:size, :size]
    while (grid > 0).mean() < 0.07:
        (row, column), radius = rng.integers(0, size, 2), rng.integers(3, 15)
        grid[(y - row) ** 2 + (x - column) ** 2 <= radius**2] = 100
    return grid


def small_grid(rng: np.random.Generator) -> Grid:
    """Random cells of all kinds, some of them in blocks."""
    grid = rng.choice(np.array([-1, 0, 0, 0, 0, 30, 64, 65, 100], np.int8), rng.integers(1, 30, 2))
    for _ in range(rng.integers(0, 6)):
        row, column = rng.integers(0, grid.shape)
        height, width = rng.integers(1, 9, 2)
        grid[row : row + height, column : column + width] = rng.choice([0, 100])
    return grid


@pytest.mark.requirement("G-11")
@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + 200))
def test_rectangles_cover_the_occupied_cells_and_no_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = small_grid(rng)
    threshold, unknown = int(rng.choice([1, 30, 65, 100])), bool(rng.integers(2))
    marked = (grid >= threshold) | ((grid == -1) & unknown)
    covered = np.zeros(grid.shape, bool)
    for shape in obstacles_from_grid(grid, 0.25, (3.0, -2.0, 0.0), threshold, unknown):
        (part,) = shape.parts
        low, high = (np.array([part.min(axis=0), part.max(axis=0)]) - [3.0, -2.0]) / 0.25
        assert len(part) == 4 and shape.radius == 0.0
        assert (np.array([low, high]) % 1 == 0.0).all() and (low < high).all()
        block = (slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0])))
        assert marked[block].all()
        assert not covered[block].all()  # each rectangle is needed
        covered[block] = True
    assert (covered == marked).all()


@pytest.mark.parametrize("origin", [(0.0, 0.0), (1234.5, -77.1), (-4e5, 3e6)])
def test_turned_rectangles_contain_their_cells(origin: tuple[float, float]) -> None:
    """In rational arithmetic: each true corner lies inside, and near the rounded one."""
    rng = np.random.default_rng(FIRST_SEED)
    for yaw in rng.uniform(-3.14, 3.14, 20):
        grid, size = small_grid(rng), float(rng.uniform(0.01, 0.3))
        cosine, sine = cos_sin(float(yaw))
        most = 1e-14 * (max(map(abs, origin)) + 10.0)
        for shape in obstacles_from_grid(grid, size, (*origin, float(yaw))):
            corners = [tuple(map(Fraction, v)) for v in shape.parts[0].tolist()]
            true = []
            for corner in corners:  # to the frame of the grid, and to the lines
                x, y = corner[0] - Fraction(origin[0]), corner[1] - Fraction(origin[1])
                column = round((cosine * x + sine * y) / Fraction(size))
                row = round((cosine * y - sine * x) / Fraction(size))
                u, v = column * Fraction(size), row * Fraction(size)
                true.append(
                    (u * cosine - v * sine + Fraction(origin[0]),
                     u * sine + v * cosine + Fraction(origin[1]))
                )  # fmt: skip
            for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
                assert all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for x, y in true)
            for (ax, ay), (x, y) in zip(corners, true, strict=True):
                assert max(abs(ax - x), abs(ay - y)) < most


@pytest.mark.parametrize("origin", [(0.1, -0.7), (1e6, -3e5), (123456.789, 0.0)])
def test_neighbours_share_their_corners(origin: tuple[float, float]) -> None:
    """All corners are on the lines of the grid, which are different doubles."""
    grid = small_grid(np.random.default_rng(FIRST_SEED))
    shapes = obstacles_from_grid(grid, 0.1, (*origin, 0.0))
    assert shapes
    for axis in range(2):
        lines = {origin[axis] + k * 0.1 for k in range(grid.shape[1 - axis] + 1)}
        assert len(lines) == grid.shape[1 - axis] + 1
        assert all(set(shape.parts[0][:, axis]) <= lines for shape in shapes)


def test_a_large_grid_becomes_few_shapes() -> None:
    grid = rooms()
    cells = int((grid > 0).sum())
    assert 0.07 <= cells / grid.size < 0.08
    assert len(obstacles_from_grid(grid, 0.05)) <= cells / 4


BAD_GRIDS: list[tuple[dict[str, Any], Status, str]] = [
    ({"grid": np.array([[0, 5], [101, 0]], np.int8)}, Status.INVALID_INPUT, "grid[2]"),
    ({"grid": np.array([[0, -2]], np.int8)}, Status.INVALID_INPUT, "grid[1]"),
    ({"grid": np.array([[0, 255]], np.uint8)}, Status.INVALID_INPUT, "grid[1]"),
    ({"grid": np.zeros((2, 2))}, Status.INVALID_INPUT, "grid"),
    ({"grid": np.zeros((2, 2), bool)}, Status.INVALID_INPUT, "grid"),
    ({"grid": np.zeros(4, np.int8)}, Status.ARRAY_MISMATCH, "grid"),
    ({"grid": np.zeros((2, 2, 2), np.int8)}, Status.ARRAY_MISMATCH, "grid"),
    ({"grid": np.zeros((0, 3), np.int8)}, Status.EMPTY_REQUEST, "grid"),
    ({"grid": np.ma.array([[0, 1]], np.int8, mask=[[0, 1]])}, Status.INVALID_INPUT, "grid[0]"),
    *(({"resolution": bad}, Status.INVALID_INPUT, "resolution") for bad in (0.0, -0.1, math.nan)),
    ({"resolution": math.inf}, Status.COORD_RANGE, "resolution"),
    ({"resolution": 1e-9, "origin": (1e9, 0.0, 0.0)}, Status.COORD_RANGE, "resolution"),
    ({"origin": (math.nan, 0.0, 0.0)}, Status.NON_FINITE, "origin"),
    ({"origin": (0.0, 0.0)}, Status.ARRAY_MISMATCH, "origin"),
    ({"origin": (0.0, 0.0, 2e6)}, Status.COORD_RANGE, "origin"),
    *(({"occupied": bad}, Status.INVALID_INPUT, "occupied") for bad in (101, -1)),
    ({"unknown_is_occupied": 1}, Status.INVALID_INPUT, "unknown_is_occupied"),
]


@pytest.mark.parametrize(("changed", "status", "where"), BAD_GRIDS)
def test_bad_grids_are_refused(changed: dict[str, Any], status: Status, where: str) -> None:
    given: dict[str, Any] = {"grid": np.array([[0, 100]], np.int8), "resolution": 0.1}
    with pytest.raises(InputError) as caught:
        obstacles_from_grid(**(given | changed))
    assert caught.value.status is status
    assert str(caught.value).startswith(f"{where}: ")


def test_grids_of_other_layouts_are_the_same() -> None:
    grid = rooms(120)
    shapes = [s.parts[0].tolist() for s in obstacles_from_grid(grid, 0.1)]
    wide = np.repeat(grid, 2, axis=1)
    for other in (grid.astype(np.int64), np.asfortranarray(grid), wide[:, ::2], grid.tolist()):
        assert [s.parts[0].tolist() for s in obstacles_from_grid(other, 0.1)] == shapes


SCAN: dict[str, Any] = {
    "angle_min": -0.5, "angle_increment": 0.25, "range_min": 0.1, "range_max": 30.0,
    "radius": 0.05,
}  # fmt: skip


def test_scans_follow_rep_117() -> None:
    ranges = [2.0, math.inf, -math.inf, 0.1, 30.0]
    shapes = obstacles_from_scan(ranges, **SCAN)
    assert [len(shape.parts[0]) for shape in shapes] == [1, 2, 1, 1]
    for shape, angle, reach in zip(shapes, [-0.5, 0.0, 0.25, 0.5], [2, 0.1, 0.1, 30], strict=True):
        end = np.array([math.cos(angle), math.sin(angle)]) * reach
        assert abs(shape.parts[0] - end).sum(axis=1).min() < 1e-14
        assert 0.05 <= shape.radius < 0.05 + 1e-12
    scene = Scene(shapes)
    near = [(0.0, 0.0, 0.0), (0.05, 0.0, 0.0), (0.1, 0.0, 0.0), (0.16, 0.0, 0.0)]
    verdicts = scene.check(Shape.point((0.0, 0.0)), near).verdicts.tolist()
    assert verdicts == [Verdict.COLLISION] * 3 + [Verdict.FREE]
    assert obstacles_from_scan([], **SCAN) == []


@pytest.mark.requirement("G-11")
@pytest.mark.parametrize("value", [math.nan, 0.0, 0.0999, 30.001, 65.535, -1.0])
def test_ranges_that_are_no_measurement_are_refused(value: float) -> None:
    with pytest.raises(InputError) as caught:
        obstacles_from_scan([1.0, math.inf, value], **SCAN)
    assert (caught.value.argument, caught.value.index) == ("ranges", 2)
    assert "inf if there is no return" in caught.value.rule


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("range_min", -0.1), ("range_min", math.nan), ("range_max", 0.05), ("range_max", math.inf),
        ("range_max", math.nan), ("radius", -1.0), ("radius", math.nan), ("angle_min", math.inf),
        ("angle_min", 2e6), ("angle_increment", math.nan), ("angle_increment", 1e6),
        ("angle_increment", 0.0), ("angle_increment", -0.0),
    ],
)  # fmt: skip
def test_bad_scans_are_refused(argument: str, value: float) -> None:
    with pytest.raises(InputError) as caught:
        obstacles_from_scan([1.0, 2.0], **(SCAN | {argument: value}))
    assert caught.value.argument == argument


def test_one_beam_needs_no_increment() -> None:
    """A range finder with one beam has none."""
    [shape] = obstacles_from_scan([2.0], **(SCAN | {"angle_increment": 0.0}))
    assert abs(shape.parts[0][0] - 2.0 * np.array([math.cos(0.5), -math.sin(0.5)])).max() < 1e-14
    assert obstacles_from_scan([], **(SCAN | {"angle_increment": 0.0})) == []


def test_returns_lie_within_their_circles() -> None:
    """In rational arithmetic, with sine and cosine by their series."""
    rng = np.random.default_rng(FIRST_SEED)
    start, step = -2.356194490192345, 0.004363323129985824
    ranges = rng.uniform(0.1, 30.0, 1081)
    shapes = obstacles_from_scan(ranges, start, step, 0.1, 30.0, 0.0)
    for i in range(0, len(shapes), 20):
        shape = shapes[i]
        cosine, sine = cos_sin(Fraction(start) + i * Fraction(step))
        x, y = (Fraction(float(v)) for v in shape.parts[0][0])
        reach = Fraction(float(ranges[i]))
        aside = (x - reach * cosine) ** 2 + (y - reach * sine) ** 2
        assert aside <= Fraction(shape.radius) ** 2, i
        assert shape.radius < 1e-11


def test_points_become_circles() -> None:
    xy = np.random.default_rng(FIRST_SEED).uniform(-9, 9, (500, 2))
    shapes = obstacles_from_points(xy, 0.125)
    assert len(shapes) == 500 and obstacles_from_points(np.empty((0, 2)), 0.1) == []
    for shape, point in zip(shapes, xy, strict=True):
        assert shape.parts[0].tolist() == [point.tolist()] and shape.radius == 0.125
    poses = np.random.default_rng(1).uniform(-9, 9, (2000, 3))
    gaps = np.hypot(*(poses[:, None, :2] - xy).transpose(2, 0, 1)).min(axis=1)
    free = Scene(shapes).check(Shape.point((0.0, 0.0)), poses).verdicts == Verdict.FREE
    assert (free == (gaps > 0.125)).all()
    for bad, index in ((np.array([[0, 1], [np.nan, 0]]), 1), (np.array([[2e15, 0]]), 0)):
        with pytest.raises(InputError) as caught:
            obstacles_from_points(bad, 0.1)
        assert (caught.value.argument, caught.value.index) == ("xy", index)
    for radius in (-0.1, math.nan):
        with pytest.raises(InputError, match="radius"):
            obstacles_from_points(xy, radius)
    with pytest.raises(InputError, match="xy"):
        obstacles_from_points(np.zeros((2, 3)), 0.1)
