# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Sums of margins, radii and inflation are rounded up: at the border nothing becomes FREE."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
import questions
from questions import check_path
from worlds import CAR, STEADY0, T0

from gjk_collision import _core
from gjk_collision.geometry import Shape
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Verdict

U_SHAPE = np.array([0, 0, 6, 0, 6, 1, 1, 1, 1, 3, 6, 3, 6, 4, 0, 4.0])


def rounded_up(a: float, b: float) -> float:
    """The smallest double that is not below a + b."""
    exact = Fraction(a) + Fraction(b)
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def pairs(count: int) -> Iterator[tuple[float, float]]:
    rng = random.Random(17)
    for _ in range(count):
        yield rng.uniform(0.0, 5.0), rng.choice([rng.uniform(0.0, 2.0), 0.25, 0.0, 1e-20])


def borders(count: int) -> Iterator[tuple[float, float, float, float]]:
    """Numbers a, b, fine and x: a + b + fine reaches x, but rounding a + b to nearest does not.

    `fine` is so much smaller than the others that its last digit settles the comparison.
    """
    rng = random.Random(3)
    while count:
        a, b = rng.uniform(0.2, 4.0), rng.uniform(0.2, 2.0)
        x = a + b + rng.uniform(1e-4, 1e-3)
        fine = rounded_up(0.0, float(Fraction(x) - Fraction(a) - Fraction(b)))
        while Fraction(a) + Fraction(b) + Fraction(fine) < Fraction(x):
            fine = math.nextafter(fine, math.inf)
        if Fraction(a + b) + Fraction(fine) < Fraction(x):
            count -= 1
            yield a, b, fine, x


def point_at(x: float, y: float, radius: float = 0.0) -> Obstacles:
    return Obstacles(
        frame="odom",
        stamp=T0,
        ids=np.array([4]),
        offsets=np.array([0, 1]),
        xy=np.array([x, y]),
        radius=np.array([radius]),
    )


def known(
    data: Obstacles, inflation: float = 0.0, outline: bool = False, **config: object
) -> Snapshot:
    sources = (SourceConfig("obstacles", inflation=inflation),)
    footprint = config.pop("footprint", CAR)
    if not outline:
        config["footprint"] = footprint
    world = World(Config(sources=sources, **config))
    world.receive_obstacles("obstacles", data, now=T0, steady=STEADY0)
    if outline:
        points = np.reshape(footprint, (-1, 2))
        world.receive_footprint(Footprint("base_link", T0, points), now=T0, steady=STEADY0)
    found = world.snapshot(now=T0, steady=STEADY0)
    assert found.fault is None
    return found


def verdicts(snapshot: Snapshot, margin: float) -> set[Verdict]:
    """What each question says of the vehicle at the origin."""
    here = np.zeros(3)
    way = np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    found = {
        questions.collide(snapshot, Pose(), margin).verdict,
        check_path(snapshot, here, margin=margin).verdict,
        check_path(snapshot, way, margin=margin).verdict,
        check_path(snapshot, way, swept=False, margin=margin).verdict,
    }
    for mode in range(3):
        found.add(questions.check_poses(snapshot, here, margin=margin, mode=mode).verdict)
    return found


def test_a_sum_is_the_next_double_that_is_not_less() -> None:
    shape = Shape.point((0.0, 0.0))
    for a, b in pairs(2000):
        least = rounded_up(a, b)
        assert shape.inflated(a).inflated(b).radius == least
        assert _core.sums_outwards(np.array([a, b]), b).tolist() == [least, 2.0 * b]
        for x in (a, -a):
            (part,) = Shape.point((x, x)).padded(b, b, b, b).parts
            assert (part.max() if x > 0.0 else -part.min()) == least


@pytest.mark.requirement("G-8")
def test_the_margin_of_a_request_adds_to_the_configured_one_in_full() -> None:
    for a, b, fine, x in borders(50):
        snapshot = known(point_at(x, 0.0), footprint=(), robot_radius=fine, safety_margin=a)
        assert verdicts(snapshot, b) == {Verdict.MARGIN}, (a, b, fine, x)


@pytest.mark.requirement("G-8")
def test_inflation_adds_to_the_radius_in_full() -> None:
    for a, b, fine, x in borders(50):
        snapshot = known(point_at(x, 0.0, a), inflation=b, footprint=(), robot_radius=fine)
        assert verdicts(snapshot, 0.0) == {Verdict.COLLISION}, (a, b, fine, x)
        assert questions.distance(snapshot, Pose()).verdict is Verdict.COLLISION
        assert questions.state(snapshot, Pose(), None).verdict is Verdict.COLLISION


@pytest.mark.requirement("G-8")
@pytest.mark.parametrize("outline", [False, True], ids=["configured", "received"])
@pytest.mark.parametrize(
    ("side", "x", "y"), [("front", 1, 0), ("rear", -1, 0), ("left", 0, 1), ("right", 0, -1)]
)
def test_a_margin_of_direction_adds_in_full(side: str, x: int, y: int, outline: bool) -> None:
    for a, b, fine, far in borders(10):
        given = {"footprint": (a, a, -a, a, -a, -a, a, -a), f"margin_{side}": b}
        snapshot = known(point_at(x * far, y * far, fine), outline=outline, **given)
        assert verdicts(snapshot, 0.0) == {Verdict.COLLISION}, (a, b, fine, far)


def test_margins_of_direction_keep_a_concave_footprint_concave() -> None:
    """Between the arms of a U there is as much room as the margins leave."""
    u_shape, pose = tuple(U_SHAPE.tolist()), Pose(0.0, -2.0, 0.0)
    for margin, verdict in ((0.9, Verdict.FREE), (1.0, Verdict.COLLISION)):
        margins = {"margin_left": margin, "margin_right": margin}
        snapshot = known(point_at(5.0, 0.0), footprint=u_shape, **margins)
        assert questions.collide(snapshot, pose).verdict is verdict
    # Each arm has grown ahead and to its sides, the bottom to the rear.
    margins = {"margin_front": 0.5, "margin_rear": 0.25, "margin_left": 0.5}
    snapshot = known(point_at(5.0, 0.0), footprint=u_shape, **margins)
    for x, y in [(6.5, 0.5), (6.5, 3.5), (-0.25, 2), (6, 4.5), (6, 1.5)]:
        assert questions.collide(snapshot, Pose(5.0 - x, -y, 0.0)).verdict is Verdict.COLLISION
    for x, y in [(6.6, 0.5), (6.6, 3.5), (-0.3, 2.0), (6.0, 4.6), (6.0, 1.6), (6.0, -0.1)]:
        assert questions.collide(snapshot, Pose(5.0 - x, -y, 0.0)).verdict is Verdict.FREE
