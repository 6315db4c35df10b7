# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The nearest free pose, against shapely on a grid of shifts of 1 cm."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from cases import FIRST_SEED
from numpy.typing import NDArray

from gjk_collision import InputError, Scene, Shape, Status, Verdict

shapely = pytest.importorskip("shapely", reason="shapely is not installed")

CASES = int(os.environ.get("GJK_CASES", "300"))
Part = tuple[NDArray[np.float64], float]  # vertices of a hull, and its radius
CORNERS = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
EGOS: list[list[Part]] = [
    [(np.array([[3.6, 1], [-1, 1], [-1, -1], [3.6, -1]]), 0.0)],  # a car
    [(np.array([[2, 0.5], [-0.5, 0.5], [-0.5, -0.5], [2, -0.5]]), 0.0),
     (np.array([[0.3, 1.5], [-0.5, 1.5], [-0.5, 0.3], [0.3, 0.3]]), 0.1)],  # concave
    [(np.zeros((1, 2)), 0.5)],
    [(CORNERS * [0.5, 0.3], 0.05)],
    [(CORNERS * 0.2 + [1.5, 0], 0.0), (CORNERS * 0.2 - [1.5, 0], 0.0)],  # two apart
]  # fmt: skip


@dataclass
class Case:
    ego: list[Part]
    obstacles: list[Part]
    margin: float
    pose: NDArray[np.float64]
    max_shift: float


def random_hull(rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.uniform(-1, 1, (rng.integers(3, 9), 2)) * rng.uniform(0.2, 1.2)


def case(seed: int) -> Case:
    """An ego among 1 to 40 obstacles, which overlap it deeply or not at all."""
    rng = np.random.default_rng(seed)
    ego = EGOS[seed % 6] if seed % 6 < 5 else [(random_hull(rng), float(rng.choice([0, 0.2])))]
    area = rng.uniform(2, 6)
    obstacles: list[Part] = []
    for _ in range(rng.integers(1, 41)):
        center = rng.uniform(-area, area, 2)
        kind = rng.integers(3)
        if kind == 0:
            obstacles.append((center + random_hull(rng), 0.0))
        elif kind == 1:
            obstacles.append((center[None], rng.uniform(0.05, 0.8)))
        else:
            yaw = rng.uniform(0, 7) * rng.integers(0, 2)
            box = turned(CORNERS * rng.uniform(0.03, 0.8, 2), yaw)
            obstacles.append((center + box, float(rng.choice([0, 0.1]))))
    pose = np.array([*rng.uniform(-0.5, 0.5, 2) * area, rng.uniform(-np.pi, np.pi)])
    return Case(
        ego, obstacles, float(rng.choice([0, 0, 0.15])), pose, float(rng.choice([0.3, 1, 3]))
    )


def turned(vertices: NDArray[np.float64], yaw: float) -> NDArray[np.float64]:
    return vertices @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])


def shape(parts: list[Part]) -> Shape:
    return Shape.compound([Shape.hull(vertices, radius) for vertices, radius in parts])


@cache
def grid(max_shift: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shifts on a grid of 1 cm and their lengths, shortest first."""
    count = round(max_shift / 0.01)
    shifts = np.mgrid[-count : count + 1, -count : count + 1].reshape(2, -1).T * 0.01
    lengths = np.hypot(*shifts.T)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] <= max_shift]
    return shifts[order], lengths[order]


def best_on_grid(c: Case, turn: float = 0.0) -> float:
    """The length of the shortest free shift on the grid (m); infinity: none.

    The shifts that collide are the Minkowski sum of the obstacles and the reflected ego. shapely's
    circles are polygons inside the true ones, by less than 1e-4 of the radius.
    """
    blocked = []
    for vertices, radius in c.ego:
        placed = turned(vertices, c.pose[2] + turn) + c.pose[:2]
        for other, other_radius in c.obstacles:
            sums = shapely.MultiPoint((other[:, None] - placed).reshape(-1, 2)).convex_hull
            blocked.append(sums.buffer(radius + other_radius + c.margin, quad_segs=64))
    union = shapely.union_all(blocked)
    shapely.prepare(union)
    shifts, lengths = grid(c.max_shift)
    for i in range(0, len(lengths), 4000):
        free = ~shapely.intersects_xy(union, *shifts[i : i + 4000].T)
        if free.any():
            return float(lengths[i : i + 4000][free][0])
    return math.inf


def found_shift(c: Case, max_turn: float = 0.0) -> float:
    """The length of the shift that was found (m), checked; infinity: none."""
    scene = Scene([shape([part]) for part in c.obstacles])
    ego = shape(c.ego)
    found = scene.nearest_free(ego, c.pose, c.max_shift, max_turn, margin=c.margin)
    if found is None:
        return math.inf
    assert found.shape == (3,)
    assert scene.check(ego, found, margin=c.margin).verdict is Verdict.FREE
    again = scene.nearest_free(ego, c.pose, c.max_shift, max_turn, margin=c.margin)
    assert again is not None and (again == found).all()
    shift = float(np.hypot(*(found[:2] - c.pose[:2])))
    assert shift <= c.max_shift and abs(found[2] - c.pose[2]) <= max_turn
    return shift


@pytest.mark.requirement("V-22")
def test_shifts_are_near_the_best_on_a_grid() -> None:
    seeds = range(FIRST_SEED, FIRST_SEED + CASES)
    worse, moved, none = [], 0, 0
    for seed in seeds:
        c = case(seed)
        best, found = best_on_grid(c), found_shift(c)
        if not found <= 1.05 * best + 0.01:
            worse.append(seed)
        moved += 0.0 < found < math.inf
        none += found == math.inf
    assert len(worse) <= 0.01 * CASES, worse
    assert moved > CASES / 5 and none > CASES / 20


BOX = Shape.box(2.0, 2.0)


def test_a_free_pose_is_returned_as_it_is() -> None:
    scene = Scene([BOX])
    pose = (3.0, 0.1, 7.5)
    found = scene.nearest_free(BOX, pose, 0.0)
    assert found is not None and found.tolist() == list(pose)
    assert Scene([]).nearest_free(BOX, pose, 1.0).tolist() == list(pose)  # type: ignore[union-attr]


@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_the_way_out_of_a_box(margin: float) -> None:
    found = Scene([BOX]).nearest_free(BOX, (0.5, 0.3, 0.0), 5.0, margin=margin)
    assert found is not None
    assert found[0] - 2.0 - margin == pytest.approx(0.0, abs=1e-3) and found[0] > 2.0 + margin
    assert found[1] == pytest.approx(0.3, abs=0.12) and found[2] == 0.0


def test_no_way_out_within_the_limit() -> None:
    scene = Scene([BOX])
    assert scene.nearest_free(BOX, (0.5, 0.3, 0.0), 1.49) is None
    assert scene.nearest_free(BOX, (0.5, 0.3, 0.0), 1.51) is not None
    assert scene.nearest_free(BOX, (0.5, 0.3, 0.0), 0.0) is None
    # Walls all around: nothing within 3 m, but behind the walls.
    walls = [Shape.box(12, 4, (0, 6)), Shape.box(12, 4, (0, -6))]
    walls += [Shape.box(4, 12, (6, 0)), Shape.box(4, 12, (-6, 0)), Shape.box(8, 8)]
    assert Scene(walls).nearest_free(BOX, (0.1, 0.2, 0.4), 3.0, 3.0) is None
    assert Scene(walls).nearest_free(BOX, (0.1, 0.2, 0.4), 12.0) is not None


def test_a_turn_alone_is_preferred() -> None:
    """A long vehicle between two walls, slightly oblique."""
    walls = [Shape.box(8.0, 1.0, (0.0, 1.6)), Shape.box(8.0, 1.0, (0.0, -1.6))]
    car, scene = Shape.box(4.0, 2.0), Scene(walls)
    pose = (0.0, 0.0, 0.2)
    assert scene.nearest_free(car, pose, 0.3) is None
    found = scene.nearest_free(car, pose, 0.3, 0.3)
    assert found is not None and found[:2].tolist() == [0.0, 0.0]
    # 2 sin(a) + cos(a) = 1.1 at the smallest turn
    least = math.acos(1.1 / math.sqrt(5)) - math.atan(2)
    assert found[2] == pytest.approx(-least, abs=1e-3) and found[2] <= -least
    mirrored = scene.nearest_free(car, (0.0, 0.0, -0.2), 0.3, 0.3)
    assert mirrored is not None and mirrored[2] == pytest.approx(least, abs=1e-3)
    assert scene.nearest_free(car, pose, 0.3, 0.1) is None


def test_margins_of_obstacles_are_kept() -> None:
    scene = Scene([BOX], margins=[1.0])
    found = scene.nearest_free(BOX, (0.5, 0.0, 0.0), 5.0)
    assert found is not None and found[0] == pytest.approx(3.0, abs=2e-3)
    assert scene.check(BOX, found).verdict is Verdict.FREE


def test_moving_obstacles() -> None:
    scene = Scene([BOX], velocities=[(1.0, 0.0, 0.0)], horizon=10.0)
    assert scene.nearest_free(BOX, (0.5, 0.0, 0.0), 5.0, time=4.0).tolist() == [0.5, 0.0, 0.0]  # type: ignore[union-attr]
    found = scene.nearest_free(BOX, (4.5, 0.0, 0.0), 5.0, time=4.0)
    assert found is not None and found[0] == pytest.approx(6.0, abs=1e-3)
    assert scene.check(BOX, found, times=4.0).verdict is Verdict.FREE
    with pytest.raises(InputError) as caught:
        scene.nearest_free(BOX, (0.5, 0.0, 0.0), 5.0, time=11.0)
    assert caught.value.status is Status.PREDICTION_TOO_SHORT
    assert caught.value.argument == "time"


def test_far_from_the_origin() -> None:
    scene = Scene([BOX], poses=[(5e5, -4e6, 0.3)])
    pose = np.array([5e5 + 0.2, -4e6 + 0.5, 1.0])
    found = scene.nearest_free(BOX, pose, 5.0)
    near = Scene([BOX], poses=[(0, 0, 0.3)]).nearest_free(BOX, (0.2, 0.5, 1.0), 5.0)
    assert found is not None and near is not None
    assert found - pose == pytest.approx(near - [0.2, 0.5, 1.0], abs=2e-3)


def test_a_grid_without_free_space_ends() -> None:
    """Slits narrower than the resolution: the search ends without a pose that is not free."""
    slits = [Shape.box(0.2, 20.0, (0.2001 * i, 0.0)) for i in range(-40, 41)]
    found = Scene(slits).nearest_free(Shape.point((0.0, 0.0)), (0.03, 0.0, 0.0), 3.0)
    assert found is None or Scene(slits).is_free(Shape.point((0.0, 0.0)), found)


def test_a_tolerance_that_is_not_resolved_ends() -> None:
    scene = Scene([Shape.box(2.0, 2.0)])
    for tolerance in (1e-9, 1e-300):
        for shift in (0.0, 1.0):
            free = scene.nearest_free(
                Shape.circle(1.0), (0.0, 2.0, 0.0), shift, 3.2, tolerance=tolerance
            )
            assert free is None or scene.is_free(Shape.circle(1.0), free)
