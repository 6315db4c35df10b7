# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What a scene leaves out does not matter: its answers are those of all pairs, one by one."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traffic import traffic

from gjk_collision import Scene, Shape, closest
from gjk_collision.verdict import Status, Verdict

EGOS = {
    "car": Shape.box(4.8, 1.8, center=(1.4, 0.0)),
    "disc": Shape.circle(0.5),
    "concave": Shape.concave([(0, 0), (5, 0), (5, 1), (1, 1), (1, 2), (0, 2)]),
}

seeds = st.integers(0, 2**32)
counts = st.sampled_from((0, 1, 7, 8, 9, 63, 64, 65, 150))


def test_what_is_as_far_as_the_limit_is_found() -> None:
    rng = random.Random(1)
    for _ in range(200):
        x = rng.randrange(2, 2000) / 8
        for shape in (
            Shape.polygon([(x, -1), (x + 1, 0), (x, 1)]),
            Shape.circle(0.25, (x + 0.25, 0.0)),
        ):
            found = Scene([shape]).nearest(Shape.point((0.0, 0.0)), (0, 0, 0), 1, x)
            assert found.distances == pytest.approx([x], rel=1e-12)
            assert not len(Scene([shape]).nearest(Shape.point((0, 0)), (0, 0, 0), 1, 0.99 * x).ids)


@settings(max_examples=40)
@given(seeds, counts, st.sampled_from(sorted(EGOS)), st.integers(1, 12), st.booleans())
def test_the_k_nearest(seed: int, count: int, name: str, k: int, limited: bool) -> None:
    area, ego = traffic(seed, count), EGOS[name]
    pose = area.somewhere(1)[0]
    reach = 9.0 if limited else np.inf
    found = Scene(area.shapes, area.poses).nearest(ego, pose, k, reach)
    pairs = [
        closest(ego, shape, pose, placed)
        for shape, placed in zip(area.shapes, area.poses, strict=True)
    ]
    distances = np.array([pair.distance for pair in pairs])
    expected = np.sort(distances[distances <= reach])[:k]
    assert found.distances == pytest.approx(expected, abs=1e-9, rel=1e-8)
    assert len(set(found.indices)) == len(found.indices)
    assert distances[found.indices] == pytest.approx(found.distances, abs=1e-9, rel=1e-8)
    assert np.all(found.lower_bounds <= found.distances)
    assert np.all(found.statuses == Status.SUCCESS)
    apart = found.witness_obstacle - found.witness_shape
    along = found.directions * found.distances[:, None]
    assert apart == pytest.approx(along, abs=1e-6)


def test_an_update_keeps_what_it_is_not_given() -> None:
    ego = Shape.box(2.0, 2.0)
    scene = Scene([Shape.circle(1.0)] * 2, [(10, 0, 0), (0, 10, 0)])
    bigger = scene.updated([0], shapes=[Shape.circle(3.0)])
    moved = scene.updated([1], [(0, 5, 0)])
    assert list(scene.nearest(ego, (0, 0, 0), 2).distances) == pytest.approx([8, 8])
    assert list(bigger.nearest(ego, (0, 0, 0), 2).distances) == pytest.approx([6, 8])
    assert list(moved.nearest(ego, (0, 0, 0), 2).distances) == pytest.approx([3, 8])


def test_many_at_one_place() -> None:
    """No order halves these: the tree must still hold them all."""
    scene = Scene([Shape.circle(1.0)] * 300, np.zeros((300, 3)))
    near = scene.nearest(Shape.point((4.0, 0.0)), (0, 0, 0), k=300)
    assert list(near.indices) == list(range(300)), "of equal distances the first comes first"
    assert near.distances == pytest.approx(3.0)
    assert scene.check(Shape.point((0.5, 0.0)), np.zeros((1, 3))).verdict == Verdict.COLLISION
