# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many poses of few times: the same answers as for each pose alone.

A call with less than 64 poses does not group them by time.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.typing import NDArray
from traffic import some_shape

from gjk_collision import Scene, Shape
from gjk_collision.results import CheckResult
from gjk_collision.scene import Mode, PredictionPolicy
from gjk_collision.verdict import Status, Verdict

CASES = int(os.environ.get("GJK_CASES", "40"))  # scenes
FEW = 60  # poses: never grouped
SIDE = 30.0  # m
HORIZON = 4.0  # s
MODES: tuple[Mode, ...] = ("collide", "distance", "witness")
POLICIES: tuple[PredictionPolicy, ...] = ("unknown_is_error", "constant_velocity", "hold")

Floats = NDArray[np.float64]


def somewhere(rng: np.random.Generator, *shape: int) -> Floats:
    poses = rng.uniform(-SIDE, SIDE, (*shape, 3))
    poses[..., 2] = rng.uniform(-np.pi, np.pi, shape)
    poses[..., 2] *= rng.random(shape) < 0.8  # others are exactly in line with the axes
    return poses


def some_scene(rng: np.random.Generator) -> tuple[Scene, float, Floats]:
    """Obstacles that move, turn, stand, follow a path or are unknown; a stamp and an offset."""
    count = int(rng.integers(1, 40))
    offset = somewhere(rng, 1)[0] * (rng.choice([0, 0, 1e4]), rng.choice([0, 1e3]), 0)
    stamp = float(rng.choice([0.0, 1.8e9]))
    kinds = rng.integers(0, 4 + (rng.random() < 0.3), count)
    velocities = rng.normal(size=(count, 3)) * [3, 3, 0.5]
    velocities[kinds == 0] = 0.0
    velocities[kinds == 4] = np.nan
    paths: list[tuple[Floats, Floats] | None] = [None] * count
    for i in np.flatnonzero(kinds == 3):
        steps = int(rng.integers(1, 6))
        when = np.cumsum(rng.uniform(0.2, 2.0, steps))
        paths[i] = (when, somewhere(rng, steps) + offset)
    scene = Scene(
        [some_shape(rng) for _ in range(count)],
        somewhere(rng, count) + offset,
        velocities=velocities,
        paths=paths,
        stamps=stamp + rng.uniform(-0.5, 0.0, count) * (rng.random() < 0.7),
        horizon=float(rng.uniform(0.5, 1.5)) * HORIZON,
        prediction=POLICIES[rng.integers(3)],
        time_error=float(rng.choice([0.0, 0.05])),
        margins=rng.choice([0.0, 0.5, 3.0], count),
        margin_rates=rng.choice([0.0, 0.2, 1.0], count),
    )
    return scene, stamp, offset


def fields(result: CheckResult, mode: Mode) -> dict[str, Floats]:
    names = ["verdicts", "statuses", "distances", "lower_bounds"]
    if mode != "collide":  # collide may name any of several obstacles
        names += ["indices"]
    if mode == "witness":
        names += ["witnesses", "directions"]
    return {name: np.asarray(getattr(result, name)) for name in names}


def alone(
    scene: Scene,
    shapes: list[Shape],
    poses: Floats,
    times: Floats,
    which: NDArray[np.int64],
    margin: float,
    mode: Mode,
) -> dict[str, Floats]:
    """Answers for flat poses, few per call."""
    parts = []
    for begin in range(0, len(poses), FEW):
        few = slice(begin, begin + FEW)
        result = scene.check(
            shapes, poses[few], times[few], which=which[few], margin=margin, mode=mode
        )
        parts.append(fields(result, mode))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def same(name: str, got: Floats, wanted: Floats, seed: int) -> None:
    assert np.array_equal(got, wanted, equal_nan=got.dtype.kind == "f"), (name, seed)


@pytest.mark.requirement("V-15")
@pytest.mark.parametrize("first", range(0, CASES, 20))
def test_same_as_each_pose_alone(first: int) -> None:
    for seed in range(first, min(first + 20, CASES)):
        rng = np.random.default_rng([16, seed])
        scene, stamp, offset = some_scene(rng)
        count, steps = int(rng.integers(64, 200)), int(rng.integers(1, 8))
        poses = np.cumsum(somewhere(rng, count, steps) * 0.1, axis=1) + somewhere(rng, count, 1)
        poses += offset
        poses[..., 2] *= rng.random((count, steps)) < 0.9
        times = rng.choice(rng.uniform(0.0, HORIZON, steps), (count, steps)) + stamp
        times = times if seed % 2 else times[0]
        shapes = [some_shape(rng) for _ in range(3)]
        which = rng.integers(0, 3, (count, steps))
        margin = float(rng.choice([0.0, 0.5]))
        for mode in MODES:
            wanted = alone(scene, shapes, poses.reshape(-1, 3),
                           np.broadcast_to(times, (count, steps)).ravel(), which.ravel(),
                           margin, mode)  # fmt: skip
            for threads in (1, 2, 5):
                result = scene.check(shapes, poses, times, which=which, margin=margin, mode=mode,
                                     threads=threads)  # fmt: skip
                for name, got in fields(result, mode).items():
                    expected = wanted[name]
                    same(name, got, expected.reshape(got.shape), seed)
                stopped = scene.check(shapes, poses, times, which=which, margin=margin, mode=mode,
                                      threads=threads, stop_at_first=True)  # fmt: skip
                assert np.array_equal(stopped.first_invalid, result.first_invalid), seed
                is_free = wanted["verdicts"].reshape(count, steps) == Verdict.FREE
                checked = np.cumsum(~is_free, axis=1) - ~is_free == 0
                for name, got in fields(stopped, mode).items():
                    expected = wanted[name].reshape(got.shape)
                    same(name, got[checked], expected[checked], seed)
                assert (stopped.verdicts[~checked] == Verdict.UNKNOWN).all(), seed
                assert (stopped.statuses[~checked] == Status.UNDEFINED).all(), seed
