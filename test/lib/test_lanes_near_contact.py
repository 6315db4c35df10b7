# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Groups of poses near contact: FREE and lower bounds are true, and all ways to ask agree.

Consecutive poses are checked in groups, in single precision where that suffices. Here they are
moved to within 1e-16 m to 1 mm of contact or of the margin. The oracle is rational arithmetic, for
the given doubles. GJK_CASES sets how many scenes are tried. The seed is random. It is printed if a
test fails; GJK_SEED repeats it.
"""

from __future__ import annotations

import os
import time

import numpy as np
import oracles
import pytest
from oracles import Body

from gjk_collision import InputError, Scene, Shape, Verdict

CASES = int(os.environ.get("GJK_CASES", "40"))
SEED = os.environ.get("GJK_SEED")
FAMILIES = ("plain", "far", "tiny", "wall", "compound", "quarter_turns", "large_yaw")
FIELDS = ("verdicts", "statuses", "distances", "lower_bounds", "ids")


class Scenes:
    """A vehicle among obstacles, and a trajectory of the vehicle."""

    def __init__(self, family: str, rng: np.random.Generator) -> None:
        self.rng = rng
        size = {"tiny": 1e-6}.get(family, float(10 ** rng.uniform(-3, 1)))
        origin = rng.uniform(-1e5, 1e5, 2) if family == "far" else np.zeros(2)
        self.vehicle = self.shape(size, 3 if family == "compound" else 1)
        self.obstacles = [self.shape(size, int(rng.integers(1, 3))) for _ in range(3)]
        if family == "wall":
            self.obstacles[0] = self.wall(size)
        places = origin + 3 * size * rng.normal(size=(3, 2))
        turns = np.where(rng.random(3) < 0.5, 0.0, rng.uniform(-4, 4, 3))
        self.places = np.column_stack([places, turns])
        self.scene = Scene(self.obstacles, poses=self.places)
        count = int(rng.choice([3, 8, 9, 17]))
        yaws = rng.uniform(-4, 4) + np.cumsum(rng.normal(0, 0.02, count))
        if family == "quarter_turns":
            offsets = rng.choice([-1, 1], count) * 10 ** rng.uniform(-17, -3, count)
            yaws = rng.integers(-4, 5) * np.pi / 2 + offsets
        elif family == "large_yaw":
            yaws = rng.uniform(-100, 100) + yaws
        ways = np.cumsum(np.column_stack([np.cos(yaws), np.sin(yaws)]), axis=0)
        start = origin + 4 * size * rng.normal(size=2)
        self.poses = np.column_stack([start + size * 10 ** rng.uniform(-4, -1) * ways, yaws])
        self.approach()

    def shape(self, size: float, parts: int) -> Shape:
        each = [self.part(size) for _ in range(parts)]
        return each[0] if parts == 1 else Shape.compound(each)

    def part(self, size: float) -> Shape:
        rng = self.rng
        kind = rng.choice(["point", "circle", "capsule", "segment", "sliver", "polygon"])
        radius = size * float(10 ** rng.uniform(-6, 0))
        centre, way = 0.3 * size * rng.normal(size=(2, 2))
        if kind == "point":
            return Shape.point(centre)
        if kind == "circle":
            return Shape.circle(radius, centre)
        if kind == "segment":
            return Shape.segment(centre - way, centre + way)
        if kind == "capsule":
            return Shape.capsule(centre - way, centre + way, radius)
        angles = np.sort(rng.uniform(0, 2 * np.pi, 3 if kind == "sliver" else rng.integers(4, 40)))
        width = 10 ** rng.uniform(-9, -3) if kind == "sliver" else rng.uniform(0.2, 1)
        points = centre + size * np.column_stack([np.cos(angles), width * np.sin(angles)])
        return Shape.hull(points, radius if rng.random() < 0.3 else 0.0)

    def wall(self, size: float) -> Shape:
        angle = self.rng.choice([0.0, np.pi / 2, self.rng.uniform(0, 7)])
        way = 250 * np.array([np.cos(angle), np.sin(angle)])
        aside = size * 10 ** self.rng.uniform(-4, 0) * np.array([-way[1], way[0]]) / 250
        return Shape.hull([-way, way, way + aside, aside - way])

    def approach(self) -> None:
        """Move the poses until they are nearly in contact."""
        for _ in range(3):
            found = self.scene.check(self.vehicle, self.poses, mode="witness")
            count = len(self.poses)
            gaps = self.rng.choice([-1, 1], count) * 10 ** self.rng.uniform(-16, -3, count)
            shift = found.directions * (found.distances - gaps)[:, None]
            self.poses[:, :2] += np.where(np.isfinite(shift), shift, 0.0)

    def margin(self) -> float:
        """0, or nearly the distance at one of the poses."""
        if self.rng.random() < 0.5:
            return 0.0
        near = self.scene.check(self.vehicle, self.poses[:1], mode="distance").distances[0]
        return float(max(0.0, near * (1 + self.rng.choice([-1, 0, 1]) * 1e-16)))

    def truth(self, pose: np.ndarray) -> list[oracles.Signed]:
        """Return the signed distances of all pairs of parts at a pose."""
        own = bodies(self.vehicle, pose)
        pairs = zip(self.obstacles, self.places, strict=True)
        others = [body for shape, place in pairs for body in bodies(shape, place)]
        return [oracles.signed_distance(a, b) for a in own for b in others]


def bodies(shape: Shape, pose: np.ndarray) -> list[Body]:
    parts = zip(shape.parts, shape.radii, strict=True)
    return [oracles.posed(Body.of(p.tolist(), float(r)), pose.tolist()) for p, r in parts]


@pytest.mark.requirement("V-15")
@pytest.mark.parametrize("family", FAMILIES)
def test_poses_near_contact(family: str) -> None:
    seed = int(SEED) if SEED else time.time_ns()
    print(f"GJK_SEED={seed}")
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    tried = free = 0
    for _ in range(-(-CASES // len(FAMILIES))):
        try:
            case = Scenes(family, rng)
        except InputError:  # a shape without extent
            continue
        scene, vehicle, poses, margin = case.scene, case.vehicle, case.poses, case.margin()
        asked = {"margin": margin, "threads": 1}
        found = scene.check(vehicle, poses, mode="distance", **asked)
        for mode in ("collide", "witness"):
            other = scene.check(vehicle, poses, mode=mode, **asked)
            assert np.array_equal(other.verdicts, found.verdicts), (mode, poses.tolist())
        order = rng.permutation(len(poses))
        mixed = scene.check(vehicle, poses[order], mode="distance", **asked)
        for name in FIELDS:
            assert np.array_equal(
                getattr(found, name)[order], getattr(mixed, name), equal_nan=True
            ), name
        for i, pose in enumerate(poses):
            alone = scene.check(vehicle, poses[i : i + 1], mode="distance", **asked)
            for name in FIELDS:
                one, of_batch = getattr(alone, name)[0], getattr(found, name)[i]
                assert np.array_equal(one, of_batch, equal_nan=name in FIELDS[2:4]), (name, i)
            truth, bound = case.truth(pose), float(found.lower_bounds[i])
            if np.isfinite(bound):
                assert all(each >= bound for each in truth), (i, bound, pose.tolist())
            if found.verdicts[i] == Verdict.FREE:
                assert not any(each <= margin for each in truth), (i, margin, pose.tolist())
                free += 1
            tried += 1
    assert tried
    assert family == "compound" or free
