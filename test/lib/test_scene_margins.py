# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Margins of obstacles and their growth with time, against shapely's distances.

`test_path_durations` checks paths beside them.
"""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from samples import outlines

from gjk_collision import Scene, Shape
from gjk_collision.scene import Mode
from gjk_collision.verdict import Verdict

CASES = int(os.environ.get("GJK_CASES", "2000"))
GROUP = 200  # poses in the same scene
NEAR = 1e-8  # m, rounding of shapely's distances here
HORIZON = 6.0  # s
MODES: tuple[Mode, ...] = ("collide", "distance", "witness")
CAR = Shape.box(4.0, 2.0, radius=0.2)
CAR_CORE = np.array([(2.0, 1.0), (-2.0, 1.0), (-2.0, -1.0), (2.0, -1.0)])

Floats = NDArray[np.float64]


@dataclass
class World:
    """Obstacles with margins, and shapely's answers about them."""

    rings: list[Floats]
    radii: Floats
    poses: Floats
    velocities: Floats
    stamps: Floats
    margins: Floats
    rates: Floats

    @classmethod
    def random(cls, rng: np.random.Generator, count: int, spread: float) -> "World":
        hulls = [shapely.MultiPoint(rng.normal(size=(6, 2))).convex_hull for _ in range(count)]
        moves = rng.random((count, 1)) < rng.choice([0.0, 0.5, 1.0])
        return cls(
            [shapely.get_coordinates(hull)[:-1] for hull in hulls],
            rng.choice([0.0, 0.3], count),
            rng.normal(size=(count, 3)) * [spread, spread, 2.0],
            rng.normal(size=(count, 3)) * moves,
            rng.uniform(-1.0, 1.0, count),
            rng.choice([0.0, 1e-3, 0.5, 4.0], count) * rng.choice([0.0, 1.0]),
            rng.choice([0.0, 1e-3, 0.2, 2.0], count) * rng.choice([0.0, 1.0]),
        )

    def scene(self, *, with_margins: bool = True) -> Scene:
        shapes = [Shape.hull(r, radius) for r, radius in zip(self.rings, self.radii, strict=True)]
        given = {"margins": self.margins, "margin_rates": self.rates} if with_margins else {}
        return Scene(
            shapes, self.poses, velocities=self.velocities, stamps=self.stamps,
            horizon=HORIZON, **given,
        )  # fmt: skip

    def distances(self, car: Floats, times: Floats | None) -> Floats:
        """Return the distance of each obstacle (n, ...) to the car at poses (..., 3)."""
        bodies = outlines(CAR_CORE, car)
        found = []
        for i, ring in enumerate(self.rings):
            at = self.poses[i]
            if times is not None:
                at = at + (times - self.stamps[i])[..., None] * self.velocities[i]
            other = outlines(ring, np.broadcast_to(at, car.shape))
            found.append(shapely.distance(bodies, other) - 0.2 - self.radii[i])
        return np.array(found)

    def required(self, margin: float, times: Floats | None) -> Floats:
        """Return the required distance of each obstacle (n, ...) at the times (...)."""
        if times is None:
            return margin + self.margins[:, None]
        tail = (1,) * times.ndim
        age = np.maximum(0.0, times - self.stamps.reshape(-1, *tail))
        return margin + self.margins.reshape(-1, *tail) + self.rates.reshape(-1, *tail) * age


@pytest.mark.requirement("V-19")
def test_against_shapely() -> None:
    """Verdicts follow the required distances; distances do not change."""
    rng = np.random.default_rng(1)
    seen: set[int] = set()
    sure_ones = 0
    groups = -(-CASES // GROUP)
    for _ in range(groups):
        world = World.random(rng, int(rng.choice([1, 3, 40])), 15.0)
        scene, plain = world.scene(), world.scene(with_margins=False)
        poses = rng.normal(size=(GROUP, 3)) * [20.0, 20.0, 2.0]
        margin = float(rng.choice([0.0, 0.4]))
        for times in (None, rng.uniform(1.0, 4.9, GROUP)):
            gaps, required = world.distances(poses, times), world.required(margin, times)
            expected = np.full(GROUP, Verdict.FREE)
            expected[(gaps <= required).any(axis=0)] = Verdict.MARGIN
            expected[(gaps <= 0.0).any(axis=0)] = Verdict.COLLISION
            sure = ((np.abs(gaps) > NEAR) & (np.abs(gaps - required) > NEAR)).all(axis=0)
            first = None
            for mode in MODES:
                found = scene.check(CAR, poses, times, margin=margin, mode=mode)
                first = found if first is None else first
                np.testing.assert_array_equal(found.verdicts[sure], expected[sure])
                np.testing.assert_array_equal(found.verdicts, first.verdicts)
                np.testing.assert_array_equal(found.statuses, first.statuses)
                if mode == "collide":
                    continue
                without = plain.check(CAR, poses, times, margin=margin, mode=mode)
                for name in ("distances", "lower_bounds", "ids"):
                    np.testing.assert_array_equal(getattr(found, name), getattr(without, name))
                if mode == "witness":
                    np.testing.assert_array_equal(found.witnesses, without.witnesses)
            seen |= set(expected[sure])
            sure_ones += int(sure.sum())
            at = None if times is None else float(times[0])
            near, without = (each.nearest(CAR, poses[0], 3, time=at) for each in (scene, plain))
            assert near == without
    assert seen == {Verdict.FREE, Verdict.MARGIN, Verdict.COLLISION}
    assert sure_ones > 1.9 * groups * GROUP


def one(shape: Shape = CAR, **given: Any) -> Scene:
    return Scene([shape], [(10.0, 0.0, 0.0)], **given)


def test_the_edge_belongs_to_the_margin() -> None:
    """The gap is 6 m: MARGIN if that is required, FREE if a little less is required."""
    vehicle, below = Shape.box(4.0, 2.0), np.nextafter(6.0, 0.0)
    for fixed, verdict in ((6.0, Verdict.MARGIN), (below, Verdict.FREE)):
        scene = one(vehicle, margins=[fixed])
        for mode in MODES:
            assert scene.check(vehicle, (0.0, 0.0, 0.0), mode=mode).verdict == verdict
    still = {"velocities": [(0.0, 0.0, 0.0)], "stamps": [5.0]}
    scene = one(vehicle, margins=[1.0], margin_rates=[0.5], **still)
    # Before the stamp, the margin does not shrink; a still obstacle is known forever.
    known = {0.0: Verdict.FREE, 14.9: Verdict.FREE, 15.1: Verdict.MARGIN, 1e6: Verdict.MARGIN}
    for time, verdict in known.items():
        for mode in MODES:
            found = scene.check(vehicle, (0.0, 0.0, 0.0), time, mode=mode)
            assert (time, found.verdict) == (time, verdict)
    assert scene.check(vehicle, (0.0, 0.0, 0.0)).is_free
    late = one(vehicle, margins=[1.0], margin_rates=[0.5], time_error=1.0, **still)
    assert late.check(vehicle, (0.0, 0.0, 0.0), 14.1).verdict == Verdict.MARGIN
    path = scene.check_path(vehicle, [(0, 0, 0), (0, 0, 0)], [0.0, 30.0], 0.01)
    assert path.verdict == Verdict.MARGIN and path.id == 0
    assert 14.97 <= 30.0 * path.last_valid_fraction <= 15.0
    contact = scene.first_contact(vehicle, np.zeros((1, 2, 3)), [0.0, 30.0])
    assert contact.verdicts[0] == Verdict.MARGIN and contact.ids[0] == 0
    assert np.isnan(contact.times[0]) and contact.distances[0] == pytest.approx(6.0)


def test_the_obstacle_that_causes_margin_need_not_be_the_nearest() -> None:
    point = Shape.point((0.0, 0.0))
    scene = Scene([point, point], [(1.0, 0.0, 0.0), (3.0, 0.0, 0.0)], margins=[0.5, 4.0])
    for mode in MODES:
        assert scene.check(point, (0.0, 0.0, 0.0), mode=mode).verdict == Verdict.MARGIN
    found = scene.check(point, (0.0, 0.0, 0.0), mode="distance")
    assert found.ids == 0 and found.distances == pytest.approx(1.0)


def test_updated_keeps_margins() -> None:
    """`Scene.an_update_of_shapes_motions_and_margins_is_a_new_scene` in C++ has random ones."""
    still = {"velocities": [(0.0, 0.0, 0.0)]}
    scene, here = one(margins=[1.0], margin_rates=[1.0], **still), (0.0, 0.0, 0.0)
    moved = scene.updated([0], [(11.0, 0.0, 0.0)], **still)
    for each in (scene, moved):
        assert each.check(CAR, here, 0.5).is_free
        assert each.check(CAR, here, 9.0).verdict == Verdict.MARGIN
    assert moved.updated([0], margins=[0.0], margin_rates=[0.0]).check(CAR, here).is_free
    grown = moved.updated([0], margins=[8.0], **still)
    assert grown.check(CAR, here, 0.5).verdict == Verdict.MARGIN


def test_flat_arrays_have_margins_too() -> None:
    scene = Scene.from_arrays(
        [0, 1, 2], [(5.0, 0.0), (0.0, 9.0)], margins=[5.0, 0.0], margin_rates=[0.0, 1.0],
        velocities=np.zeros((2, 3)),
    )  # fmt: skip
    point = Shape.point((0.0, 0.0))
    assert scene.check(point, (0.0, 0.0, 0.0)).verdict == Verdict.MARGIN
    assert scene.check(point, (-1.0, 0.0, 0.0)).is_free
    assert scene.check(point, (-1.0, 0.0, 0.0), 9.0).is_free
    assert scene.check(point, (-1.0, 0.0, 0.0), 9.2).verdict == Verdict.MARGIN
