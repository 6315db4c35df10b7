# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Every frame of recorded and simulated traffic, by one query of a scene."""

from typing import Any

import numpy as np
import pytest
from data import SCENES, load, needs_data

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Status, Verdict

pytestmark = [needs_data, pytest.mark.parametrize("name", SCENES)]

IDENTITY = np.zeros((1, 3))


def frames(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(f"scenes/{name}.json")["frames"]
    assert found
    return found


def near(found: float, truth: float) -> bool:
    return abs(found - truth) <= 1e-9 + 1e-12 * abs(truth)


def test_by_scene(name: str) -> None:
    for frame in frames(name):
        truth, where = frame["gt"], (name, frame["t"])
        ids = [obstacle["id"] for obstacle in frame["obstacles"]]
        scene = Scene([Shape.polygon(o["polygon"]) for o in frame["obstacles"]], ids=ids)
        ego = Shape.polygon(frame["ego"]["polygon"])
        expected = Verdict.COLLISION if truth["collide"] else Verdict.FREE
        for mode in ("collide", "distance", "witness"):
            result = scene.check(ego, IDENTITY, mode=mode)
            assert result.is_free != truth["collide"], where
            assert result.verdict == expected, where
            assert result.verdicts[0] == result.verdict
            assert result.statuses[0] == Status.SUCCESS
            if truth["collide"]:
                assert result.ids[0] in truth["colliding_ids"], where
            if mode == "collide":
                continue
            if truth["collide"]:
                assert result.distances[0] <= 0.0
            else:
                assert near(result.distances[0], truth["min_distance"]), where
                found = truth["distances"][result.indices[0]]
                assert near(found, truth["min_distance"]), where
                assert result.ids[0] == ids[result.indices[0]]
            assert result.lower_bounds[0] <= result.distances[0]
