# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many pairs from flat arrays: the answers of `collide` and `distance` for each pair."""

from __future__ import annotations

from fractions import Fraction
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
        assert gaps[n] == pytest.approx(distance(p, q), rel=1e-9, abs=1e-12)
        assert near[n] == collide(p, p.hull(b[j], radius=0.5)), (a[i].tolist(), b[j].tolist())
    assert 20 < hits.sum() < 380
    same = collide_many(*flat(a[:50]), *flat(b))
    assert same.tolist() == collide_many(*flat(a[:50]), *flat(b), np.c_[:50, :50]).tolist()


def is_left(o: Points, p: Points, q: Points) -> int:
    """Sign of the turn from o by p to q, in rational arithmetic."""
    (ox, oy), (px, py), (qx, qy) = ([Fraction(float(v)) for v in each] for each in (o, p, q))
    turn = (px - ox) * (qy - oy) - (py - oy) * (qx - ox)
    return (turn > 0) - (turn < 0)


def test_points_beside_triangles_are_exact() -> None:
    """A point within an ulp of an edge: the answer is that of rational arithmetic."""
    rng = np.random.default_rng(1)
    corners = rng.uniform(0.5, 4.0, (500, 3, 2)) * rng.choice([1.0, 1e5], (500, 1, 1))
    turns = np.array([is_left(*each) for each in corners])
    corners[turns < 0] = corners[turns < 0][:, ::-1]
    share = rng.uniform(0.1, 0.9, (500, 1))
    beside = corners[:, 0] * share + corners[:, 1] * (1.0 - share)
    beside = np.nextafter(beside, np.where(rng.random((500, 2)) < 0.5, -np.inf, np.inf))
    hits = collide_many(3 * np.arange(501), corners.reshape(-1, 2), np.arange(501), beside)
    truth = [is_left(t[0], t[1], p) >= 0 for t, p in zip(corners, beside, strict=True)]
    assert hits.tolist() == truth
    assert 0 < sum(truth) < 500


def test_hull_with_many_vertices() -> None:
    """More vertices than the quickest query takes, clockwise."""
    angles = np.linspace(0.0, -2.0 * np.pi, 1000, endpoint=False)
    ring = np.c_[np.cos(angles), np.sin(angles)]
    right = np.array([[1.5, 0.0]])
    assert not collide_many(*flat([ring]), *flat([right]))[0]
    assert collide_many(*flat([ring]), *flat([right]), margin=0.51)[0]
    assert distance_many(*flat([ring]), *flat([right]))[0] == pytest.approx(0.5)


def test_no_pairs() -> None:
    box = [np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])]
    assert len(collide_many([], [], [], [])) == 0
    assert len(distance_many(*flat(box), *flat(box), np.empty((0, 2), int))) == 0
