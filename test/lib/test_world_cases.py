# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Hard pairs of shapes through the messages of the world, judged in rational arithmetic.

Never FREE within the margin, no lower bound above the truth, and no COLLISION or MARGIN beyond
the bound of completeness. GJK_WORLD_CASES is the number of cases of each family.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from world_cases import Case, S, through_world, truths

from gjk_collision.verdict import Status, Verdict

CASES = int(os.environ.get("GJK_WORLD_CASES", "30"))
U = 2.0**-53
BOX = ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))


def nudged(rng: random.Random, value: float, most: int = 4) -> float:
    for _ in range(rng.randint(0, most)):
        value = math.nextafter(value, rng.choice((-math.inf, math.inf)))
    return value


def later(rng: random.Random, time: float) -> float:
    """The next time, or one of those after it."""
    for _ in range(rng.randint(1, 3)):
        time = math.nextafter(time, math.inf)
    return time


def ring(rng: random.Random, count: int, size: float) -> list[tuple[float, float]]:
    """A circle that is closed up to some ulp, with vertices that are repeated or nearly so."""
    angles = [2.0 * math.pi * k / count for k in range(count + 1)]
    points = [(size * math.cos(a), size * math.sin(a)) for a in angles]
    points[-1] = nudged(rng, points[0][0]), nudged(rng, points[0][1])
    for _ in range(rng.randint(0, 3)):
        i = rng.randrange(len(points))
        points.insert(i, (nudged(rng, points[i][0]), nudged(rng, points[i][1])))
    return points


def margin(rng: random.Random) -> float:
    return rng.choice((0.0, 0.0, 1e-9, 0.1, 0.5))


def beside(rng: random.Random, case: Case) -> Case:
    """Move the obstacle along x until the gap to the vehicle is about the margin."""
    right = max(x for x, _ in case.ego) + case.ego_radius + case.radius + case.margin
    left = min(x for x, _ in case.obstacle)
    x, y, _ = case.pose
    gap = rng.choice((0.0, 0.0, 0.0, 1e-12, -1e-12, 1e-7, -0.25, 0.25, 3.0))
    place = nudged(rng, x + (right - left) + gap), y + rng.choice((0.0, 0.5)), 0.0
    return replace(case, obstacle_pose=place)


def rings(rng: random.Random) -> Case:
    a, b = (ring(rng, rng.randint(3, 12), rng.uniform(0.1, 3.0)) for _ in range(2))
    yaw = rng.choice((0.0, rng.uniform(-7.0, 7.0)))
    radius, own = rng.choice((0.0, 0.25)), rng.choice((0.0, 0.5))
    hull = {"concave_policy": "hull"}  # a footprint is an outline in order, else
    case = Case(
        a, b, (0.0, 0.0, yaw), margin=margin(rng), ego_radius=own, radius=radius, changes=hull
    )
    return beside(rng, case)


def slivers(rng: random.Random) -> Case:
    length, width = rng.uniform(0.1, 5.0), 10.0 ** rng.uniform(-17.0, -3.0)
    tip = [(0.0, 0.0), (length, width), (length, -width * rng.random()), (length, 0.0)]
    rng.shuffle(tip)
    yaw = rng.choice((0.0, math.pi / 2, rng.uniform(-4.0, 4.0)))
    case = Case(BOX, tip, (0.0, 0.0, yaw), margin=margin(rng), radius=rng.choice((0.0, 1e-9)))
    return beside(rng, case)


def far_away(rng: random.Random) -> Case:
    """UTM coordinates."""
    x, y = rng.uniform(1e5, 9e5), rng.uniform(1e6, 1e7)
    case = Case(BOX, ring(rng, 8, 1.0), (x, y, rng.uniform(-4.0, 4.0)), margin=margin(rng))
    return beside(rng, case)


def at_the_margin(rng: random.Random) -> Case:
    """Round numbers whose sums are no doubles."""
    steps = [rng.randint(1, 40) / 10 for _ in range(3)]
    case = Case(BOX, BOX, (steps[0], 0.0, 0.0), margin=steps[1] / 4, radius=steps[2] / 10)
    return beside(rng, case)


def stamps(rng: random.Random) -> tuple[int, int]:
    stamp = rng.choice((0, 3, 1000 * S, 1_800_000_000 * S)) + rng.randint(0, S)
    return stamp, stamp + rng.choice((0, rng.randint(0, S // 10)))


def moving(rng: random.Random) -> Case:
    """With a velocity; up to the last ulp of the horizon."""
    stamp, request = stamps(rng)
    speed = rng.choice((-1.0, 1.0, -10.0, 30.0)), rng.choice((0.0, 0.5)), rng.choice((0.0, 0.3))
    limit = 5.0 - (request - stamp) * 1e-9
    at = rng.choice((0.0, 0.1, rng.uniform(0.0, limit), limit, math.nextafter(limit, 0.0)))
    case = Case(
        BOX, ring(rng, 5, 0.5), (0.0, 0.0, 0.0), margin=margin(rng), velocity=speed,
        stamp=stamp, request_stamp=request, at=max(at, 0.0),
    )  # fmt: skip
    case = beside(rng, case)
    x, y, yaw = case.obstacle_pose
    passed = case.at + (request - stamp) * 1e-9
    return replace(case, obstacle_pose=(x - speed[0] * passed, y - speed[1] * passed, yaw))


def paths(rng: random.Random) -> Case:
    """Times that nearly merge, jumps, and turns of half a circle."""
    stamp, request = stamps(rng)
    time, found = 0.0, []
    x = y = yaw = 0.0
    for _ in range(rng.randint(1, 6)):
        time = time + rng.choice((0.5, 0.1)) if rng.random() < 0.5 else later(rng, time)
        x, y = x + rng.choice((0.0, 0.3, -0.3, 5.0)), y + rng.choice((0.0, 0.2))
        yaw += rng.choice((0.0, 0.1, math.pi, -math.pi, math.pi / 2))
        found.append((time, x, y, yaw))
    end = min(found[-1][0], 4.5) - (request - stamp) * 1e-9
    at = rng.choice((max(end, 0.0), rng.uniform(0.0, max(end, 0.0)), 0.0))
    return Case(
        BOX, ring(rng, 4, 0.7), (rng.uniform(-6.0, 6.0), rng.choice((0.0, 2.0)), 0.0),
        margin=margin(rng), path=found, stamp=stamp, request_stamp=request, at=at,
    )  # fmt: skip


FAMILIES: dict[str, Callable[[random.Random], Case]] = {
    each.__name__: each for each in (rings, slivers, far_away, at_the_margin, moving, paths)
}


def completeness(case: Case) -> float:
    """By how much a gap may exceed the margin and not be certified [m]."""
    local = max(abs(c) for p in (*case.ego, *case.obstacle) for c in p)
    places = [*case.pose, *case.obstacle_pose, *(c for each in case.path for c in each[1:])]
    far = local + max(map(abs, places))
    times = 0.0
    if case.at is not None:
        speeds = [abs(each) for each in case.velocity or ()]
        for a, b in zip([(0.0, *case.obstacle_pose), *case.path], case.path, strict=False):
            if b[0] > a[0]:
                turn = math.remainder(b[3] - a[3], 2 * math.pi)
                speeds.append(
                    (math.hypot(b[1] - a[1], b[2] - a[2]) + 3 * abs(turn)) / (b[0] - a[0])
                )
        times = (
            min(sum(speeds), 1e20) * 2.0**-49 * (10.0 + (case.request_stamp - case.stamp) * 1e-9)
        )
    return 8 * 2 * 16 * U * far + 32 * U * (2 * far + case.radius + case.margin) + 4 * times + 1e-9


@pytest.mark.requirement("G-10")
@pytest.mark.parametrize("family", FAMILIES)
def test_hard_pairs_through_messages(family: str) -> None:
    rng = random.Random(f"{family} {CASES}")
    seen = dict.fromkeys(Verdict, 0)
    for number in range(CASES):
        case = FAMILIES[family](rng)
        said, true = through_world(case), truths(case)
        for way, (verdict, status, _, bound) in said.items():
            what = f"{family} {number}, {way}: {verdict.name} / {status.name} of {case!r}"
            seen[verdict] += 1
            if verdict is Verdict.UNKNOWN:
                assert status is Status.PREDICTION_TOO_SHORT and case.at is not None, what
                continue
            assert true, what  # nothing is known of the time
            demanded, slack = Fraction(case.margin), Fraction(completeness(case))
            if verdict is Verdict.FREE:
                assert not all(each <= demanded for each in true), what
            else:
                reach = slack if verdict is Verdict.COLLISION else demanded + slack
                assert any(each <= reach for each in true), what
            if verdict is Verdict.MARGIN:
                assert not all(each <= 0 for each in true), what
            if not math.isnan(bound) and math.isfinite(bound):
                below = Fraction(bound) - Fraction(1, 2**170)  # of sine and cosine
                assert not all(each <= below for each in true), (what, bound)
    assert seen[Verdict.FREE] and seen[Verdict.COLLISION], seen
