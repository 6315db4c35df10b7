# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The nearest free pose, against shapely on a grid of shifts of 1 cm."""

from __future__ import annotations

import math
import os
from functools import cache

import numpy as np
import pytest
from cases import FIRST_SEED
from numpy.typing import NDArray
from traffic import some_shape, traffic

from gjk_collision import InputError, Scene, Shape, Status, Verdict

shapely = pytest.importorskip("shapely", reason="shapely is not installed")

CASES = int(os.environ.get("GJK_CASES", "150"))
Floats = NDArray[np.float64]


@cache
def grid(max_shift: float) -> tuple[Floats, Floats]:
    """Shifts on a grid of 1 cm and their lengths, shortest first."""
    count = round(max_shift / 0.01)
    shifts = np.mgrid[-count : count + 1, -count : count + 1].reshape(2, -1).T * 0.01
    lengths = np.hypot(*shifts.T)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] <= max_shift]
    return shifts[order], lengths[order]


def best_on_grid(
    ego: Shape, pose: Floats, others: list[Shape], margin: float, max_shift: float
) -> float:
    """The length of the shortest free shift on the grid (m); infinity: none.

    The shifts that collide are the Minkowski sum of the obstacles and the reflected ego. shapely's
    circles are polygons inside the true ones, by less than 1e-4 of the radius.
    """
    placed = ego.transformed(pose)
    blocked = []
    for part, radius in zip(placed.parts, placed.radii, strict=True):
        for other in others:
            for corners, own in zip(other.parts, other.radii, strict=True):
                sums = shapely.MultiPoint((corners[:, None] - part).reshape(-1, 2)).convex_hull
                blocked.append(sums.buffer(radius + own + margin, quad_segs=64))
    union = shapely.union_all(blocked)
    shapely.prepare(union)
    shifts, lengths = grid(max_shift)
    free = lengths[~shapely.intersects_xy(union, *shifts.T)]
    return float(free[0]) if len(free) else math.inf


@pytest.mark.requirement("V-22")
def test_shifts_are_near_the_best_on_a_grid() -> None:
    """A vehicle of any shape among 1 to 40 obstacles, which overlap it deeply or not at all."""
    worse, moved, none = [], 0, 0
    for seed in range(FIRST_SEED, FIRST_SEED + CASES):
        area = traffic(seed, 1 + seed % 40)
        ego, max_shift = some_shape(area.rng), float(area.rng.choice([0.3, 1, 2]))
        margin, pose = float(area.rng.choice([0, 0.15])), 0.4 * area.somewhere(1)[0]
        places = area.poses * [0.4, 0.4, 1.0]  # dense
        scene = Scene(area.shapes, places)
        found = scene.nearest_free(ego, pose, max_shift, margin=margin)
        others = [s.transformed(at) for s, at in zip(area.shapes, places, strict=True)]
        best = best_on_grid(ego, pose, others, margin, max_shift)
        if found is None:
            none += 1
            worse += [seed] if best < math.inf else []
            continue
        shift = math.hypot(*(found[:2] - pose[:2]))
        assert scene.check(ego, found, margin=margin).verdict is Verdict.FREE
        assert shift <= max_shift and found[2] == pose[2]
        moved += shift > 0.0
        worse += [seed] if shift > 1.05 * best + 0.01 else []
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


def test_a_tolerance_that_is_not_resolved_ends() -> None:
    scene = Scene([Shape.box(2.0, 2.0)])
    for tolerance in (1e-9, 1e-300):
        for shift in (0.0, 1.0):
            free = scene.nearest_free(
                Shape.circle(1.0), (0.0, 2.0, 0.0), shift, 3.2, tolerance=tolerance
            )
            assert free is None or scene.is_free(Shape.circle(1.0), free)
