# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""`Shape.compound`: the union of shapes with different radii, against shapely's distances."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from samples import outlines

from gjk_collision import Scene, Shape, closest, collide, distance
from gjk_collision.planning import reach
from gjk_collision.scene import Mode
from gjk_collision.verdict import Verdict

CASES = int(os.environ.get("GJK_CASES", "2000"))
GROUP = 200  # poses with the same shapes
NEAR = 1e-9  # m, rounding of shapely's distances here
MODES: tuple[Mode, ...] = ("collide", "distance", "witness")

Floats = NDArray[np.float64]
Part = tuple[Floats, float]  # vertices of a convex polygon, and radius


def random_parts(rng: np.random.Generator) -> list[Part]:
    """Return circles, capsules and polygons; some have the radius 0."""
    parts = []
    for _ in range(rng.integers(1, 5)):
        points = rng.normal(size=(rng.choice([1, 2, 6]), 2)) * rng.choice([0.1, 1.0])
        hull = shapely.get_coordinates(shapely.MultiPoint(points).convex_hull)
        ring = hull[:-1] if len(hull) > 2 else hull
        radius = float(rng.choice([0.0, 0.05, rng.uniform(0.0, 1.5)]))
        parts.append((ring + rng.normal(size=2) * 2.0, radius))
    return parts


def compound(parts: Sequence[Part]) -> Shape:
    """Return the union, with a compound within the compound."""
    shapes = [Shape.hull(points, radius) for points, radius in parts]
    return Shape.compound([shapes[0], Shape.compound(shapes[1:])] if len(shapes) > 1 else shapes)


def gaps(a: Sequence[Part], poses: Floats, b: Sequence[Part], pose: Floats) -> Floats:
    """Return the distance of two unions, a at each of the poses (...); negative at overlap."""
    each = [
        shapely.distance(outlines(p, poses), outlines(q, np.broadcast_to(pose, poses.shape)))
        - r
        - s
        for p, r in a
        for q, s in b
    ]
    return np.min(each, axis=0)


def test_against_shapely() -> None:
    rng = np.random.default_rng(1)
    found_of = set()
    for _ in range(-(-CASES // GROUP)):
        ego, others = random_parts(rng), [random_parts(rng) for _ in range(3)]
        at = rng.normal(size=(3, 3)) * [4, 4, 3]
        poses = rng.normal(size=(GROUP, 3)) * [4, 4, 3]
        car, obstacles = compound(ego), [compound(each) for each in others]
        truth = np.array([gaps(ego, poses, *each) for each in zip(others, at, strict=True)])
        least = truth.min(axis=0)
        margin = float(rng.choice([0.0, 0.5]))
        scene = Scene(obstacles, at)
        for mode in MODES:
            found = scene.check(car, poses, margin=margin, mode=mode)
            sure = np.where(least > 0.0, Verdict.MARGIN, Verdict.COLLISION)
            sure[least > margin] = Verdict.FREE
            clear = (np.abs(least) > NEAR) & (np.abs(least - margin) > NEAR)
            np.testing.assert_array_equal(found.verdicts[clear], sure[clear])
            found_of |= set(found.verdicts)
            if mode == "collide":
                continue
            assert (found.lower_bounds <= least + NEAR)[least > 0.0].all()
            apart = least > NEAR
            np.testing.assert_allclose(found.distances[apart], least[apart], atol=NEAR)
    assert found_of == {Verdict.FREE, Verdict.MARGIN, Verdict.COLLISION}


def test_a_pair_has_the_least_distance_of_its_parts() -> None:
    """At overlap too: the distance is that of the deepest pair of parts."""
    rng = np.random.default_rng(3)
    overlaps = 0
    for _ in range(300):
        ego, other = random_parts(rng), random_parts(rng)
        pose = tuple(rng.normal(size=3) * 2)
        pairs = [distance(Shape.hull(*p), Shape.hull(*q), pose) for p in ego for q in other]
        found = closest(compound(ego), compound(other), pose)
        assert found.distance == min(pairs)
        assert found.lower_bound <= found.distance
        overlaps += found.distance < 0.0
    assert 50 < overlaps < 250


def test_a_part_keeps_its_radius() -> None:
    """Growing a compound grows each part by the same amount."""
    two = Shape.compound([Shape.box(4.0, 2.0), Shape.circle(0.5, center=(5.0, 0.0))])
    assert two.radii == (0.0, 0.5) and two.radius == 0.5
    assert repr(two) == "Shape(4+1 vertices, radii 0+0.5 m)"
    assert two.inflated(0.25).radii == (0.25, 0.75)
    assert two.inflated(0.25).inflated(0.25).radius == 1.0
    padded = two.padded(front=1.0)
    assert padded.radii == (0.0, 0.5)
    assert distance(two, Shape.point((-3.0, 0.0))) == pytest.approx(1.0)
    assert distance(two, Shape.point((7.0, 0.0))) == pytest.approx(1.5)
    assert distance(padded, Shape.point((7.0, 0.0))) == pytest.approx(0.5)
    assert collide(two, Shape.point((5.5, 0.0))) and not collide(two, Shape.point((2.1, 0.0)))
    far = Shape.compound([Shape.circle(3.0), Shape.point((4.0, 0.0))])
    assert reach(far) == 4.0
    assert reach(Shape.compound([Shape.circle(5.0), Shape.point((4.0, 0.0))])) == 5.0
