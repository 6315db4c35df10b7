# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Shapes at poses: the true placement has an irrational sine, so the promise is one-sided.

A posed query may answer COLLISION where the true shapes are apart by less than the rounding of
the transform. It never answers FREE where the true shapes meet. The true placement is known to
2^-200 here, by power series in integers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import cases
import numpy as np
import oracles
import pytest
from cases import FIRST_SEED, polygon, sides
from certify import broken_rules, shape
from oracles import Body

from gjk_collision import Scene, closest, collide
from gjk_collision.verdict import Verdict

Pose = tuple[float, float, float]
Placed = tuple[Body, Pose, Body, Pose]
HERE = (0.0, 0.0, 0.0)


def rounding(body: Body, pose: Pose) -> float:
    """The promise: the transform is off by less than this [m]."""
    size = max(abs(float(c)) for p in body.points for c in p)
    return 0.0 if pose == HERE else 2.0**-47 * (size + abs(pose[0]) + abs(pose[1]))


def anywhere(rng: random.Random) -> Placed:
    """Two vehicles near each other, somewhere on a map of 100 m or in UTM coordinates."""
    x, y = rng.choice(((rng.uniform(-50, 50), rng.uniform(-50, 50)), (6.6e5, 4.0e6)))
    near = (x + rng.uniform(-5, 5), y + rng.uniform(-5, 5), rng.uniform(-4, 4))
    yaw = rng.choice((0.0, math.pi / 2, rng.uniform(-4, 4), rng.uniform(-1e3, 1e3)))
    a, b = polygon(rng, sides(rng), 5, 2), polygon(rng, sides(rng), 5, 2)
    return Body.of(a), (x, y, yaw), Body.of(b), near


def bumper_to_bumper(rng: random.Random, beside: float = 1.0) -> Placed:
    """Two boxes in one lane, a gap or overlap of 1e-17 to 1 m between them."""
    half = rng.choice((2.0, 2.25, rng.uniform(1, 3)))
    box = [(-half, -1.0), (half, -1.0), (half, 1.0), (-half, 1.0)]
    yaw = rng.choice((math.pi / 4, math.pi / 2, math.pi, rng.uniform(-4, 4)))
    x, y = rng.choice(((0.0, 0.0), (rng.uniform(-50, 50), rng.uniform(-50, 50)), (6.6e5, 4.0e6)))
    power = rng.choice((rng.uniform(-17, -9), rng.uniform(-9, 0)))
    gap = rng.choice((-1, 0, 1, 1)) * 10.0**power
    ahead, aside = 2 * half + gap, rng.uniform(-beside, beside)
    c, s = math.cos(yaw), math.sin(yaw)
    there = (x + c * ahead - s * aside, y + s * ahead + c * aside, yaw)
    return Body.of(box), (x, y, yaw), Body.of(box), there


def round_bumpers(rng: random.Random) -> Placed:
    """As above with capsules and circles, one exactly behind the other."""
    a, here, _, there = bumper_to_bumper(rng, beside=0.0)
    half = max(p[0] for p in a.points)
    core = rng.choice((((-half / 2, 0.0), (half / 2, 0.0)), ((half / 2, 0.0),)))
    other = tuple((-p[0], 0.0) for p in core)
    return Body(core, half / 2), here, Body(other, half / 2), there


KINDS = {f.__name__: f for f in (anywhere, bumper_to_bumper, round_bumpers)}


def some(kind: str, count: int) -> Iterator[tuple[int, Placed]]:
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        yield seed, KINDS[kind](random.Random(f"{kind} {seed}"))


@pytest.mark.requirement("G-4")
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_never_falsely_free(kind: str) -> None:
    hits = misses = 0
    for seed, case in some(kind, 400):
        a, pose_a, b, pose_b = case
        where = f"{kind} {seed}: {case}"
        truth = oracles.signed_distance(oracles.posed(a, pose_a), oracles.posed(b, pose_b))
        found = collide(shape(a), shape(b), pose_a=pose_a, pose_b=pose_b)
        scene = Scene([shape(b)], poses=np.array([pose_b]))
        verdict = scene.check(shape(a), np.array([pose_a])).verdict
        if truth <= 0:
            hits += 1
            assert found, where
            assert verdict == Verdict.COLLISION, where
        elif truth >= rounding(a, pose_a) + rounding(b, pose_b):
            misses += 1
            assert not found, where
            assert verdict == Verdict.FREE, where
    assert hits >= 60 and misses >= 60


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_closest_is_certified(kind: str) -> None:
    for seed, case in some(kind, 200):
        a, pose_a, b, pose_b = case
        answer = closest(shape(a), shape(b), pose_a=pose_a, pose_b=pose_b)
        slack = rounding(a, pose_a) + rounding(b, pose_b)
        broken = broken_rules(
            oracles.posed(a, pose_a), oracles.posed(b, pose_b), answer, rounding=slack
        )
        assert not broken, f"{kind} {seed}: {case}\n" + "\n".join(broken)


@pytest.mark.parametrize("kind", ["touching_nudged", "magnitudes", "rounded_touching", "utm"])
def test_the_identity_is_exact(kind: str) -> None:
    for case in cases.some(kind, 200):
        a, b = shape(case.a), shape(case.b)
        truth = oracles.collide(case.a, case.b)
        assert collide(a, b, pose_a=HERE, pose_b=HERE) == truth, case
        assert collide(a, b, pose_a=(-0.0, 0.0, -0.0)) == truth, case
        verdict = Scene([b]).check(a, np.zeros((1, 3))).verdict
        assert verdict == (Verdict.COLLISION if truth else Verdict.FREE), case
        verdict = Scene([b], poses=np.zeros((1, 3))).check(a, np.zeros((1, 3))).verdict
        assert verdict == (Verdict.COLLISION if truth else Verdict.FREE), case


def test_a_pose_moves_the_witnesses() -> None:
    """Points and direction are in the common frame, not in a shape's own."""
    square = shape(Body.of([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]))
    answer = closest(square, square, pose_a=(10.0, 0.0, math.pi / 2), pose_b=(10.0, 5.0, 0.0))
    assert answer.distance == pytest.approx(3.0, abs=1e-12)
    assert answer.point_a[1] == pytest.approx(1.0) and answer.point_b[1] == pytest.approx(4.0)
    assert tuple(answer.direction) == pytest.approx((0.0, 1.0), abs=1e-12)
