# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The oracle of many tests is itself compared with shapely and with the sine of the C library."""

import math

import numpy as np
import oracles
import pytest
import shapely
from shapely.affinity import translate

TURNS = np.linspace(0.0, 2.0 * math.pi, 361)


def test_distances_and_contacts_are_those_of_shapely() -> None:
    rng = np.random.default_rng(20261127)
    apart = 0
    for _ in range(300):
        clouds = [rng.normal(size=(rng.integers(1, 9), 2)) + rng.uniform(-3, 3, 2) for _ in "ab"]
        radii = rng.uniform(0.0, 0.5, 2)
        hulls = [shapely.MultiPoint(cloud).convex_hull for cloud in clouds]
        rings = [shapely.get_coordinates(hull) for hull in hulls]
        bodies = [oracles.Body.of(ring, radius) for ring, radius in zip(rings, radii, strict=True)]
        gap = hulls[0].distance(hulls[1])
        assert oracles.collide(*bodies) == (gap <= radii.sum())
        found = float(oracles.signed_distance(*bodies)) + radii.sum()
        if gap > 0.0:
            apart += 1
            assert found == pytest.approx(gap, abs=1e-12)
            continue
        # A shorter way than the depth never separates them; a longer one does in some direction.
        for share, separates in ((0.999, False), (1.001, True)):
            ways = share * -found * np.column_stack([np.cos(TURNS), np.sin(TURNS)])
            moved = [translate(hulls[1], *way) for way in ways]
            assert any(hulls[0].distance(each) > 0.0 for each in moved) == separates
    assert 60 < apart < 270


def test_cosine_and_sine() -> None:
    rng = np.random.default_rng(7)
    for angle in [0.0, math.pi, -1e-12, *rng.uniform(-20.0, 20.0, 200).tolist()]:
        cosine, sine = oracles.cos_sin(angle)
        assert abs(cosine**2 + sine**2 - 1) < 2**-200
        assert float(cosine) == pytest.approx(math.cos(angle), abs=1e-15)
        assert float(sine) == pytest.approx(math.sin(angle), abs=1e-15)
