# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Every frame of recorded and simulated traffic: by pairs, and by one query of a scene."""

from typing import Any

import numpy as np
import pytest
from certify import broken_rules
from data import SCENES, load, needs_data
from oracles import Body

from gjk_collision import Scene, Shape, closest
from gjk_collision.verdict import Status, Verdict

pytestmark = [needs_data, pytest.mark.parametrize("name", SCENES)]

IDENTITY = np.zeros((1, 3))


def frames(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(f"scenes/{name}.json")["frames"]
    assert found
    return found


def near(found: float, truth: float) -> bool:
    return abs(found - truth) <= 1e-9 + 1e-12 * abs(truth)


@pytest.mark.requirement("G-5")
def test_certificates(name: str) -> None:
    """Every sixth frame, since a rational check takes a millisecond a pair."""
    for frame in frames(name)[::6]:
        ego = Body.of(frame["ego"]["polygon"])
        for obstacle in frame["obstacles"]:
            other = Body.of(obstacle["polygon"])
            answer = closest(Shape.polygon(ego.points), Shape.polygon(other.points))
            broken = broken_rules(ego, other, answer)
            assert not broken, (name, frame["t"], obstacle["id"], broken)


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


def test_by_updates(name: str) -> None:
    """One scene from frame to frame, as long as it is of the same obstacles."""
    scene, ids = Scene([]), []
    for frame in frames(name):
        truth, where = frame["gt"], (name, frame["t"])
        shapes = [Shape.polygon(o["polygon"]) for o in frame["obstacles"]]
        if ids != [obstacle["id"] for obstacle in frame["obstacles"]]:
            ids = [obstacle["id"] for obstacle in frame["obstacles"]]
            scene = Scene(shapes, ids=ids)
        scene = scene.updated(range(len(ids)), shapes=shapes)
        ego = Shape.polygon(frame["ego"]["polygon"])
        result = scene.check(ego, IDENTITY, mode="distance")
        assert scene.check(ego, IDENTITY).is_free == result.is_free != truth["collide"], where
        if truth["collide"]:
            assert result.ids[0] in truth["colliding_ids"], where
        else:
            assert near(result.distances[0], truth["min_distance"]), where
