# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Random obstacles of every kind, scattered at a fixed density."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gjk_collision import Shape

SPACING = 6.0  # m: one obstacle per square of this side


@dataclass(frozen=True)
class Traffic:
    """Obstacles and where they are; `half` is half the side of their square [m]."""

    shapes: list[Shape]
    poses: NDArray[np.float64]
    half: float
    rng: np.random.Generator

    def somewhere(self, count: int) -> NDArray[np.float64]:
        """Poses in the square and a little around it."""
        poses = self.rng.uniform(-1.2 * self.half, 1.2 * self.half, (count, 3))
        poses[:, 2] = self.rng.uniform(-4, 4, count)
        return poses + np.array([*self.middle, 0.0])

    @property
    def middle(self) -> NDArray[np.float64]:
        return np.round(self.poses[:, :2].mean(axis=0)) if len(self.poses) else np.zeros(2)


def traffic(seed: int, count: int, middle: tuple[float, float] = (0.0, 0.0)) -> Traffic:
    rng = np.random.default_rng(seed)
    half = 0.5 * SPACING * max(count, 1) ** 0.5
    poses = np.c_[rng.uniform(-half, half, (count, 2)) + middle, rng.uniform(-4, 4, count)]
    return Traffic([some_shape(rng) for _ in range(count)], poses, half, rng)


def some_shape(rng: np.random.Generator) -> Shape:
    kind = rng.integers(6)
    if kind == 0:
        return Shape.circle(rng.uniform(0.1, 1.0))
    if kind == 1:
        return Shape.capsule((-1.0, 0.0), (rng.uniform(0, 2), 0.5), rng.uniform(0.1, 0.5))
    if kind == 2:
        return Shape.hull(rng.normal(0, 1.5, (rng.integers(1, 12), 2)))
    if kind == 3:  # an L: several parts
        return Shape.concave([(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)])
    return Shape.box(rng.uniform(1, 5), rng.uniform(0.5, 2), radius=0.1 * (kind == 4))
