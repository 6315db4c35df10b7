# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenes composed of messages, of which some are kept, against scenes made of all shapes anew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gjk_collision import InputError, Region, Scene, Shape, _core

Floats = NDArray[np.float64]

CASES = int(os.environ.get("GJK_CASES", "100"))
HORIZON = 4.0
EGO = Shape.compound([Shape.box(4.0, 2.0), Shape.circle(0.7, (-3.0, 0.0))])


@dataclass
class Message:
    """The obstacles of one sender, and what the scene takes of them."""

    points: list[Floats]
    kinds: NDArray[np.uint8]
    radius: Floats
    poses: Floats
    velocities: Floats
    margins: Floats
    rates: Floats
    lifetimes: Floats
    stamp: float

    @classmethod
    def random(cls, rng: np.random.Generator, place: Floats, wide: float) -> Message:
        count = int(rng.choice([0, 1, 3, 12, 50]))
        kinds = rng.integers(0, 2, count).astype(np.uint8)
        lifetimes = np.sort(rng.uniform(-2, 6, (count, 2)), axis=1)
        lifetimes[rng.random((count, 2)) < 0.7] = nan
        on = rng.random(5) < [0.5, 0.5, 0.7, 0.5, 0.3]
        turned = rng.uniform(-3, 3, count) * on[0]
        return cls(
            [star(rng) for _ in range(count)],
            kinds,
            rng.choice([0.0, 0.3], count),
            np.column_stack([place + rng.uniform(-wide, wide, (count, 2)), turned]),
            rng.normal(size=(count, 3)) * rng.choice([0, 1], (count, 1)) * on[1],
            rng.choice([0.0, 0.2], count) * on[2],
            rng.choice([0.0, 0.1], count) * on[2],
            np.where(on[3], lifetimes, nan),
            float(rng.uniform(-1, 1)) if on[4] else 0.0,
        )

    def placed(self) -> _core.PlacedObstacles:
        ends = np.cumsum([0, *map(len, self.points)]).astype(np.uint32)
        xy = np.concatenate([np.empty((0, 2)), *self.points]).ravel()
        parts = _core.ObstacleParts(ends, xy, self.kinds, _core.ConcavePolicy.decompose)
        none = np.empty(0)
        reported = _core.Reported(
            self.velocities.ravel(), none, np.empty(0, np.uint32), none, none, self.margins,
            self.rates, self.lifetimes.ravel(), _core.PredictionPolicy.constant_velocity, HORIZON,
            0.0,
        )  # fmt: skip
        return _core.PlacedObstacles(parts, self.radius, self.poses.ravel(), reported)

    def shapes(self) -> Iterator[Shape]:
        for points, kind, radius in zip(self.points, self.kinds, self.radius, strict=True):
            yield (Shape.concave if kind else Shape.hull)(points, radius=radius)


def star(rng: np.random.Generator) -> Floats:
    """A star-shaped outline of 3 to 40 points; some are equal, so that scenes share them."""
    count = int(rng.choice([3, 4, 5, 9, 40]))
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    sizes = rng.uniform(0.5, 2.0, count) if rng.random() < 0.8 else np.ones(count)
    return np.column_stack([sizes * np.cos(angles), sizes * np.sin(angles)])


def composed(messages: list[Message], placed: list[Any], inside: Region | None) -> Scene:
    ids = np.arange(sum(len(each.points) for each in messages))
    return Scene._composed(
        placed, [each.stamp for each in messages], ids, inside, "constant_velocity", HORIZON, 1e-9
    )


def made_anew(messages: list[Message], inside: Region | None) -> Scene:
    def joined(name: str, *shape: int) -> Floats:
        return np.concatenate([np.empty((0, *shape)), *(getattr(each, name) for each in messages)])

    stamps = [np.full(len(each.points), each.stamp) for each in messages]
    lives = [each.lifetimes + each.stamp for each in messages]
    return Scene(
        [shape for each in messages for shape in each.shapes()],
        joined("poses", 3),
        velocities=joined("velocities", 3),
        stamps=np.concatenate(stamps),
        margins=joined("margins"),
        margin_rates=joined("rates"),
        lifetimes=np.concatenate(lives),
        inside=inside,
        prediction="constant_velocity",
        horizon=HORIZON,
        time_error=1e-9,
    )


def answers(scene: Scene, rng: np.random.Generator, place: Floats, wide: float) -> list[bytes]:
    """All bits of the answers to random questions."""
    n = 24
    poses = np.column_stack([place + rng.uniform(-wide, wide, (n, 2)), rng.uniform(-3, 3, n)])
    times = rng.choice([0.0, 0.5, 1.25, 3.0], n)
    results: list[Any] = [
        scene.check(EGO, poses, margin=0.3, mode=mode, times=at)
        for mode in ("collide", "distance", "witness")
        for at in (None, times)
    ]
    line = poses[:2] * [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]
    results += [
        scene.check_path(EGO, line, margin=0.2),
        scene.check_path(EGO, line, times=[0.0, 2.0]),
        *(scene.nearest(EGO, pose, k=5) for pose in poses[:3]),
        scene.ray_cast(poses[0, :2], np.column_stack([np.cos(times), np.sin(times)]), 2.0 * wide),
    ]
    try:
        results += [scene.nearest(EGO, poses[0], k=5, time=0.5)]
    except InputError as error:  # an obstacle is not known at this time
        results += [error.status, error.index]
    return [bits for result in results for bits in bits_of(result)] + [
        bits for value in _core.state_of_scene(scene._core) for bits in bits_of(value)
    ]


def bits_of(value: Any) -> Iterator[bytes]:
    """All bits of numbers and arrays, also in tuples and in the fields of results."""
    if isinstance(value, tuple):
        for each in value:
            yield from bits_of(each)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from bits_of(getattr(value, name))
    elif value is not None and not isinstance(value, str):
        yield np.asarray(value).tobytes()


@pytest.mark.parametrize("seed", range(CASES))
def test_kept_messages_give_the_answers_of_new_ones(seed: int) -> None:
    """A message that is kept would be at another place, or have another index or stamp."""
    rng = np.random.default_rng(seed)
    place = np.array([(0.0, 0.0), (0.0, 0.0), (5e5, 4e6), (3e6, 10.0)][seed % 4])
    wide = float(rng.choice([8.0, 30.0, 2000.0]))
    corners = place + 0.7 * wide * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    inside = Region([corners]) if rng.random() < 0.3 else None
    messages = [Message.random(rng, place, wide) for _ in range(int(rng.integers(1, 6)))]
    placed = [each.placed() for each in messages]
    for _ in range(3):
        kept = composed(messages, placed, inside)
        anew = made_anew(messages, inside)
        same = int(rng.integers(2**32))
        assert answers(kept, np.random.default_rng(same), place, wide) == answers(
            anew, np.random.default_rng(same), place, wide
        )
        changed = int(rng.integers(len(messages)))
        messages[changed] = Message.random(rng, place, wide)
        placed[changed] = messages[changed].placed()
        order = rng.permutation(len(messages))
        messages, placed = [messages[i] for i in order], [placed[i] for i in order]


def test_an_update_of_a_composed_scene_leaves_its_messages_as_they_are() -> None:
    """Scenes share the parts of a message: an update must change those of its scene only."""
    rng = np.random.default_rng(3)
    zero = np.zeros(2)
    for count in (1, 2):
        messages = [Message.random(rng, zero, 8.0) for _ in range(9)]
        messages = sorted(messages, key=lambda each: -len(each.points))[:count]
        placed = [each.placed() for each in messages]
        scene = composed(messages, placed, None)
        before = answers(scene, np.random.default_rng(0), zero, 8.0)
        moved = scene.updated([0, 1], scene.poses[:2] + 1.0, velocities=np.zeros((2, 3)))
        shaped = moved.updated([0], shapes=[Shape.box(1.0, 2.0)], velocities=np.zeros((1, 3)))
        assert answers(shaped, np.random.default_rng(0), zero, 8.0) != before
        for each in (scene, composed(messages, placed, None)):
            assert answers(each, np.random.default_rng(0), zero, 8.0) == before
