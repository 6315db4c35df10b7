# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""`Scene.check` of poses of any leading shape gives the results of the single trajectories."""

from __future__ import annotations

import numpy as np
import pytest

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Status, Verdict

CAR = Shape.box(4.0, 2.0)
FIELDS = "verdicts", "statuses", "distances", "lower_bounds", "ids", "indices"


def moving_scene(rng: np.random.Generator, horizon: float = 10.0) -> Scene:
    n = 40
    return Scene(
        [Shape.circle(1.0), CAR] * (n // 2),
        rng.uniform(-30, 30, (n, 3)),
        ids=np.arange(n) + 100,
        velocities=rng.normal(size=(n, 3)),
        horizon=horizon,
    )


@pytest.mark.parametrize("leading", [(3, 4, 5), (1, 1), (4, 1, 17)])
def test_axes_before_the_last_are_those_of_the_results(leading: tuple[int, ...]) -> None:
    """`test_grouped_times` compares trajectories with poses alone."""
    rng = np.random.default_rng(3)
    scene = moving_scene(rng, horizon=2.0)
    poses = rng.uniform(-30, 30, (*leading, 3))
    shared = np.linspace(0.0, 2.1, leading[-1])
    shapes, which = [CAR, Shape.circle(0.3)], rng.integers(0, 2, leading[-1])
    for times in (None, rng.uniform(0.0, 2.5, leading), shared):
        given = {"margin": 0.5, "mode": "witness", "stop_at_first": True}
        found = scene.check(shapes, poses, times, which=which, **given)  # type: ignore[arg-type]
        assert found.verdicts.shape == leading
        assert np.shape(found.first_invalid) == leading[:-1]
        every = []
        for i in np.ndindex(leading[:-1]):
            own = None if times is None else np.broadcast_to(times, leading)[i]
            alone = scene.check(shapes, poses[i], own, which=which, **given)  # type: ignore[arg-type]
            every.append(alone)
            assert np.asarray(found.first_invalid)[i] == alone.first_invalid
            assert alone.first_invalid == alone.first_invalid_index
            for name in (*FIELDS, "witnesses", "directions"):
                np.testing.assert_array_equal(getattr(found, name)[i], getattr(alone, name))
        assert found.is_free == all(each.is_free for each in every)
        assert found.verdict in {each.verdict for each in every}
    one = scene.check([CAR], poses, shared, which=np.array(0))
    np.testing.assert_array_equal(one.verdicts, scene.check(CAR, poses, shared).verdicts)


def test_one_pose_gives_scalars() -> None:
    scene = moving_scene(np.random.default_rng(4))
    one = scene.check(CAR, (1.0, 2.0, 3.0), 0.5, mode="witness")
    many = scene.check(CAR, [(1.0, 2.0, 3.0)], [0.5], mode="witness")
    for name in FIELDS:
        assert np.ndim(getattr(one, name)) == 0
        assert getattr(one, name) == getattr(many, name)[0]
    assert one.witnesses is not None and one.witnesses.shape == (4,)
    assert one.first_invalid == one.first_invalid_index == many.first_invalid


def test_the_rest_of_a_stopped_trajectory_is_not_checked() -> None:
    scene = Scene([Shape.circle(1.0)])
    poses = np.full((3, 4, 3), 50.0)
    poses[1, 1] = 0.0
    found = scene.check(CAR, poses, stop_at_first=True)
    assert list(np.asarray(found.first_invalid)) == [-1, 1, -1]
    assert found.first_invalid_index == 5
    expected = np.full((3, 4), Verdict.FREE)
    expected[1, 1:] = Verdict.COLLISION, Verdict.UNKNOWN, Verdict.UNKNOWN
    np.testing.assert_array_equal(found.verdicts, expected)
    assert list(found.statuses[1, 2:]) == [Status.UNDEFINED] * 2
    assert found.verdict == Verdict.COLLISION
