# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of paths whose segments last any time: a denormal, a few ulps, nothing (a stop), weeks.

The oracle samples each segment by its shares, not by times, and measures with shapely. The poses
on arcs are integrals of the velocity (`samples.poses_along`). GJK_CASES sets how many
random paths are tried.
"""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
import shapely
from samples import Floats, convex, outlines, poses_along

from gjk_collision import Motion, Path, Region, Scene, Shape, Verdict, time_of_impact

CASES = int(os.environ.get("GJK_CASES", "3000"))
SAMPLES = 101  # of a segment
TOLERANCE = 0.005
MODES = ["collide", "distance"]
CAR = Shape.box(4.0, 2.0)
DENORMAL = 5e-324


def standing(shape: Shape, pose: tuple[float, float, float], stamp: float = 0.0) -> Scene:
    return Scene([shape], [pose], velocities=[(0.0, 0.0, 0.0)], stamps=[stamp])


@pytest.mark.requirement("V-9")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ulps", [1, 2, 3, 7, 30, 1000])
def test_an_arc_of_a_few_ulps_is_seen_as_a_whole(mode: str, ulps: int) -> None:
    """Between its times are no doubles, or few: its middle must be checked nevertheless."""
    car = Shape.box(4.9, 1.9, center=(1.4, 0.0))
    scene = standing(Shape.circle(0.1), (6.05, 2.04, 0.0), stamp=100.0)
    times = [100.0, 100.0 + ulps * np.spacing(100.0)]
    found = scene.check_path(car, Path.arcs((0.0, 0.0, 0.0), [(0.1, 30.0)]), times, mode=mode)
    assert found.verdict is Verdict.COLLISION  # 1.05 m deep at 6.5 m
    assert found.last_valid_fraction * 30.0 <= 6.5
    assert found.first_collision_time == pytest.approx(100.0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("start", [0.0, 1e-3, 100.0, 1.8e9])
@pytest.mark.parametrize("is_hit", [True, False])
def test_a_turn_in_place_takes_an_instant(mode: str, start: float, is_hit: bool) -> None:
    """At constant speed it lasts one ulp: at time 0, a denormal. Nothing is early or unknown.

    A corner of the car sweeps over (1.5, 1.5), where the car is neither before nor after the turn.
    """
    scene = standing(Shape.circle(0.1), (1.5, 1.5, 0) if is_hit else (20, 0, 0), stamp=start)
    poses = [(0.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2), (0.0, 5.0, math.pi / 2)]
    found = scene.check_path(CAR, Path.straight(poses), [start, start + 10.0], mode=mode)
    if is_hit:
        assert found.verdict is Verdict.COLLISION
        assert (found.first_invalid_segment, found.last_valid_fraction) == (0, 0.0)
        assert found.first_collision_time == pytest.approx(start, abs=1e-5)
        return
    assert found.verdict is Verdict.FREE
    if mode == "distance":
        # from (x, y) of a corner of the turned car, reached at the end of the turn or in it
        nearest = 20.0 - math.hypot(2.0, 1.0) - 0.1
        assert nearest - 1e-6 <= found.distance <= nearest + TOLERANCE


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("poses", [1, 30, 300])
def test_a_turn_among_many_poses_far_from_the_obstacle(mode: str, poses: int) -> None:
    """The error of the times grows with the number of poses; the turn is a few of them long."""
    ahead = np.linspace(0.0, 30.0, poses)
    way = [*zip(ahead, 0 * ahead, 0 * ahead, strict=True), (30, 0, -0.5), (40, 0, -0.5)]
    for start, speed in ((0.0, 50.0), (1.8e9, 5.0), (1.8e9, 50.0)):
        scene = Scene(
            [Shape.box(4.0, 2.0)], [(20.0, 60.0, 0.0)], velocities=[(speed, 0, 0)],
            stamps=[start], horizon=100.0,
        )  # fmt: skip
        found = scene.check_path(CAR, Path.straight(way), (start, start + 5.0), mode=mode)
        assert found.is_free, (start, speed, found)
        assert mode == "collide" or found.lower_bound > 50.0


def test_a_region_and_an_instant() -> None:
    """A turn in place within a region, whose corners stay inside, is FREE; else it is not."""
    poses = [(0.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2), (0.0, 1.0, math.pi / 2)]
    for half, verdict in ((4.0, Verdict.FREE), (2.1, Verdict.COLLISION)):
        square = [(-half, -half), (half, -half), (half, half), (-half, half)]
        scene = Scene([], inside=Region([square]))
        for mode in MODES:
            found = scene.check_path(CAR, Path.straight(poses), [0.0, 10.0], mode=mode)
            assert found.verdict is verdict


@pytest.mark.parametrize("duration", [DENORMAL, 1e-310, 1e-160, 1e-15])
def test_motions_of_any_duration_are_never_falsely_free(duration: float) -> None:
    """Of the speed of such a motion, nothing may be known, but it is never FREE in contact."""
    over = Motion.path([0.0, duration], [(-50.0, 0.0, 0.0), (50.0, 0.3, 1.0)])
    here = Motion.still()
    found = time_of_impact(Shape.point((0.0, 0.0)), CAR, over, here, 0.0, duration)
    assert found.verdict in (Verdict.COLLISION, Verdict.UNKNOWN)
    assert math.isnan(found.time) == (found.verdict is Verdict.UNKNOWN)


def duration_after(rng: np.random.Generator, time: float) -> float:
    ulp = math.nextafter(time, math.inf) - time
    choices = (
        lambda: ulp,
        lambda: ulp * rng.integers(1, 31),
        lambda: max(ulp, 10.0 ** rng.uniform(-18, -6)),
        lambda: max(ulp, DENORMAL * rng.integers(1, 100)),
        lambda: 10.0 ** rng.uniform(2, 6),
        lambda: 10.0 ** rng.uniform(-3, 1),
        lambda: 10.0 ** rng.uniform(-3, 1),
    )
    return choices[rng.integers(7)]()


def some_path(rng: np.random.Generator, m: int) -> tuple[Path, Floats, Floats]:
    """Return a path of m arcs or straight segments, its samples, and the lengths of its segments.

    Some segments are stops or turns in place.
    """
    shares = np.linspace(0.0, 1.0, SAMPLES)
    if rng.random() < 0.3:
        poses = np.cumsum(rng.normal(size=(m + 1, 3)) * [3.0, 3.0, 1.0], axis=0)
        for i in np.flatnonzero(rng.random(m) < 0.4):
            poses[i + 1, :2] = poses[i, :2]
        change = np.diff(poses, axis=0)
        change[:, 2] = np.remainder(change[:, 2] + np.pi, 2 * np.pi) - np.pi
        at = poses[:-1, None] + shares[:, None] * change[:, None]
        return Path.straight(poses), at, np.hypot(change[:, 0], change[:, 1])
    curvature = rng.normal(size=m) * rng.choice([0.0, 1e-13, 0.1, 0.5, 2.0], m)
    length = rng.normal(size=m) * rng.choice([0.0, 1e-9, 1.0, 6.0], m)
    most = 6.0 / np.maximum(np.abs(curvature), 1e-3)
    length = np.clip(length, -most, most)
    arcs, start = np.stack([curvature, length], axis=-1), rng.normal(size=3) * 2.0
    at = poses_along(start[None], arcs[None], shares)[0]
    return Path.arcs(start, arcs), at, np.abs(length)


@pytest.mark.requirement("V-9")
@pytest.mark.requirement("V-19")
def test_any_durations_against_dense_samples() -> None:
    """FREE, bounds, the free part and the time of contact, beside an obstacle that may move.

    It may exist for a time only, and may have a margin that grows. Some paths have no times.
    """
    rng = np.random.default_rng(31)
    shares = np.linspace(0.0, 1.0, SAMPLES)
    answers = dict.fromkeys(Verdict, 0)
    for case in range(CASES):
        begin = float(rng.choice([0.0, 100.0, 1e-3, -5.0, 1.7e9]))
        times = [begin]
        for _ in range(int(rng.integers(1, 5))):
            later = times[-1] + duration_after(rng, times[-1])
            times.append(max(later, math.nextafter(times[-1], math.inf)))
        m, knots, is_timed = len(times) - 1, np.array(times), rng.random() < 0.7
        path, at, lengths = some_path(rng, m)
        driven = np.append(0.0, np.cumsum(lengths))
        if rng.random() < 0.4 and driven[-1] > 0.0:  # constant speed
            times = [begin, begin + float(rng.choice([10.0, 1.0]))]
            knots = begin + (times[1] - begin) * driven / driven[-1]
        given = times if is_timed else None
        ego, other = 0.7 * convex(rng), 0.1 * convex(rng)
        velocity = rng.normal(size=3) * rng.choice([0.0, 0.5]) * (knots[-1] - begin < 100.0)
        velocity *= is_timed
        passed = at[rng.integers(m), rng.integers(SAMPLES)]
        place = np.append(passed[:2] + rng.normal(size=2) * rng.choice([0.0, 1.5]), 0.0)
        since = is_timed * ((knots[:-1, None] - begin) + shares * np.diff(knots)[:, None])
        life = np.sort(rng.uniform(0.0, 1.5 * since.max() + 1e-9, 2))
        is_brief = is_timed and rng.random() < 0.3
        margin, rate = rng.choice([0.0, 0.0, 0.5, 2.0]), rng.choice([0.0, 0.0, 0.1])
        need = margin + rate * since
        scene = Scene(
            [Shape.polygon(other)], [place], velocities=[velocity], stamps=[begin], horizon=1e7,
            prediction="constant_velocity", margins=[margin], margin_rates=[rate],
            lifetimes=[begin + life] if is_brief else None,
        )  # fmt: skip
        moved = place + since[..., None] * velocity
        gaps = shapely.distance(outlines(ego, at), outlines(other, moved))
        if is_brief:  # what is surely there; the sums of times are rounded
            slack = 1e-15 * abs(begin)
            gaps[(since < life[0] + slack) | (since > life[1] - slack)] = math.inf
        way = np.diff(at, axis=1)
        step = np.hypot(way[..., 0], way[..., 1]) + 3.0 * np.abs(way[..., 2])
        step += (2.0 * np.linalg.norm(velocity) + rate) * np.diff(since, axis=1)
        for mode in MODES:
            found = scene.check_path(Shape.polygon(ego), path, given, TOLERANCE, mode=mode)
            literal = f"case {case}: {path.poses.tolist()}, {given}, {mode}: {found}"
            answers[found.verdict] += 1
            if found.verdict is Verdict.FREE:
                assert (gaps > need - 1e-9 * (need > 0.0)).all(), f"falsely free: {literal}"
                assert found.last_valid_fraction == 1.0, literal
            elif not is_brief and found.verdict is not Verdict.UNKNOWN:
                least = (gaps if found.verdict is Verdict.COLLISION else gaps - need).min()
                assert least <= TOLERANCE + step.max() + 1e-6, f"needlessly: {literal}"
            if mode == "distance":
                is_hit = found.verdict is Verdict.COLLISION
                least = gaps[: found.first_invalid_segment + 1 if is_hit else None].min()
                assert found.lower_bound <= least + 1e-5, literal
                assert math.isnan(found.distance) == (found.verdict is Verdict.UNKNOWN)
                if found.verdict is Verdict.FREE and not is_brief:
                    assert found.distance <= least + TOLERANCE + 1e-5, literal
            if found.first_invalid_segment < 0:
                continue
            near = gaps < need - 1e-9 if need.any() else gaps == 0.0
            assert not near[: found.first_invalid_segment].any(), f"not free: {literal}"
            if (gaps == 0.0).any() and found.verdict is Verdict.COLLISION and is_timed:
                contact = begin + since[gaps == 0.0][0]
                assert found.first_collision_time <= contact + 1e-6, literal
            if near.any() and found.verdict is not Verdict.UNKNOWN:
                i, j = np.argwhere(near)[0]
                done = driven[i] + shares[j] * lengths[i]
                assert found.last_valid_fraction * driven[-1] <= done + 1e-6, literal
    assert answers[Verdict.FREE] > 0.2 * CASES and answers[Verdict.COLLISION] > 0.2 * CASES
    assert answers[Verdict.MARGIN] > 0.05 * CASES
    assert answers[Verdict.UNKNOWN] <= 0.02 * CASES, "nearly all have an answer"
