# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many pairs from flat arrays: the answers of `collide` and `distance` for each pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gjk_collision import Shape, collide, collide_many, distance, distance_many

Points = np.ndarray[Any, np.dtype[np.float64]]


def flat(shapes: list[Points]) -> tuple[Points, Points]:
    return np.cumsum([0, *map(len, shapes)]), np.concatenate([np.empty((0, 2)), *shapes])


def points(rng: np.random.Generator, most: int) -> Points:
    """Points in no order: some repeat, lie inside the hull or on a line; on a coarse grid too."""
    count = int(rng.integers(1, most))
    spread = rng.choice([0.0, 1e-12, 1.0, 1e3], 2)
    given = rng.normal(size=(count, 2)) * spread + rng.uniform(-3.0, 3.0, 2)
    return np.asarray(np.round(given * 4.0) / 4.0 if rng.random() < 0.4 else given)


@pytest.mark.parametrize("most", [7, 40])
def test_each_pair_has_the_answer_that_it_has_alone(most: int) -> None:
    rng = np.random.default_rng(most)
    a = [points(rng, most) for _ in range(60)]
    b = [points(rng, most) for _ in range(50)]
    pairs = rng.integers(0, 50, (400, 2))
    hits = collide_many(*flat(a), *flat(b), pairs)
    gaps = distance_many(*flat(a), *flat(b), pairs)
    near = collide_many(*flat(a), *flat(b), pairs, margin=0.5)
    for n, (i, j) in enumerate(pairs):
        p, q = Shape.hull(a[i]), Shape.hull(b[j])
        assert hits[n] == collide(p, q), (a[i].tolist(), b[j].tolist())
        assert gaps[n] == pytest.approx(distance(p, q), rel=1e-13, abs=0.0)
        assert near[n] == collide(p, p.hull(b[j], radius=0.5)), (a[i].tolist(), b[j].tolist())
    assert 20 < hits.sum() < 380
    same = collide_many(*flat(a[:50]), *flat(b))
    assert same.tolist() == collide_many(*flat(a[:50]), *flat(b), np.c_[:50, :50]).tolist()


def test_distances_of_shapes_of_the_size_of_rounding() -> None:
    """Far from the origin, the vertices of a tiny shape are at few different places, or at one."""
    rng = np.random.default_rng(5)
    a, b = [], []
    for _ in range(3000):
        far = 10.0 ** rng.uniform(-1.0, 6.0)
        centre = rng.normal(size=2) * far
        sizes = far * 10.0 ** rng.uniform(-17.0, -12.0), 10.0 ** rng.uniform(-2.0, 1.0)
        places = centre, centre + rng.normal(size=2) * 10.0 ** rng.uniform(-2.0, 3.0)
        for shapes, size, place in zip((a, b), sizes, places, strict=True):
            angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, rng.integers(3, 9)))
            shapes.append(np.stack([np.cos(angles), np.sin(angles)], axis=1) * size + place)
    found = distance_many(*flat(a), *flat(b))
    alone = [distance(Shape.hull(p), Shape.hull(q)) for p, q in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, alone, rtol=1e-13, atol=0.0)
    assert 100 < (found < 0.0).sum() < 1500


def test_no_pairs() -> None:
    box = [np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])]
    assert len(collide_many([], [], [], [])) == 0
    assert len(distance_many(*flat(box), *flat(box), np.empty((0, 2), int))) == 0
