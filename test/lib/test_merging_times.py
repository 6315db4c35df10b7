# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Predicted paths whose times merge, or nearly merge, once a stamp is added to them.

The truth is computed with fractions: where each obstacle is at a time, on the clock of its stamp.
"""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from gjk_collision import Scene, Shape
from gjk_collision.verdict import Verdict

SCENES = int(os.environ.get("GJK_SCENES", "1500"))
STAMPS = (0.0, 0.1, 1.0, 1000.0, 1e6, 9e8, 1.8e9)
MODES = ("collide", "distance", "witness")


def nearby(rng: np.random.Generator, time: float) -> float:
    """A time that is 0 to 4 ulp, or a little more, after another."""
    steps = int(rng.integers(1, 5))
    for _ in range(steps):
        time = float(np.nextafter(time, np.inf))
    return time if rng.random() < 0.5 else time + float(rng.choice([1e-17, 1e-14, 1e-10, 1e-7]))


def path(rng: np.random.Generator) -> tuple[list[float], list[tuple[float, float, float]]]:
    """A path along x of strictly rising times, with jumps of metres between merging times."""
    times, poses, x = [], [], float(rng.uniform(-20, 20))
    time = float(rng.choice([0.0, 0.3, 1.0, rng.uniform(0, 2)]))
    for _ in range(int(rng.integers(1, 6))):
        times.append(time)
        poses.append((x, 0.0, 0.0))
        time = nearby(rng, time) if rng.random() < 0.5 else time + float(rng.choice([0.1, 0.3, 1]))
        x += float(rng.uniform(-20, 20))
        if times[-1] == time:
            break
    return times, poses


def places(
    times: list[float], poses: list[tuple[float, float, float]], begin: Fraction, end: Fraction
) -> tuple[Fraction, Fraction] | None:
    """The interval of x that the path takes within [begin, end] after the stamp; None: unknown."""
    knots = [(Fraction(t), Fraction(p[0])) for t, p in zip(times, poses, strict=True)]
    if knots[0][0] > 0:
        knots.insert(0, (Fraction(0), Fraction(0)))  # the pose at the stamp
    if begin < knots[0][0] or end > knots[-1][0]:
        return None

    def at(t: Fraction) -> Fraction:
        for (t0, x0), (t1, x1) in pairwise(knots):
            if t0 <= t <= t1:
                return x0 + (t - t0) / (t1 - t0) * (x1 - x0)
        return knots[0][1]

    met = [at(begin), at(end), *(x for t, x in knots if begin <= t <= end)]
    return min(met), max(met)


def is_apart(span: tuple[Fraction, Fraction], pose: float) -> Fraction:
    """The gap [m] of an obstacle 2 m long, somewhere in the span, and an ego 4 m long."""
    return max(span[0] - 1 - (Fraction(pose) + 2), (Fraction(pose) - 2) - (span[1] + 1))


@pytest.mark.requirement("G-4")
def test_no_pose_among_merging_times_is_falsely_free() -> None:
    rng = np.random.default_rng(5 if "CI" in os.environ else None)
    ego, box = Shape.box(4.0, 2.0), Shape.box(2.0, 2.0)
    free = 0
    for _ in range(SCENES):
        paths = [path(rng) for _ in range(int(rng.integers(1, 3)))]
        base = float(rng.choice(STAMPS))
        stamps = [base + float(rng.choice([0.0, 0.1, 0.2])) for _ in paths]
        margin = float(rng.choice([0.0, 0.5]))
        scene = Scene([box] * len(paths), paths=paths, stamps=stamps, horizon=100.0)
        times, poses = [], []
        for _ in range(8):
            i = int(rng.integers(len(paths)))
            own, _ = paths[i]
            time = stamps[i] + float(rng.choice(own))
            if rng.random() < 0.5:
                time = nearby(rng, time)
            times.append(time)
            span = places(*paths[i], *[Fraction(time) - Fraction(stamps[i])] * 2)
            x = float(rng.uniform(-25, 25))
            if span is not None and rng.random() < 0.7:  # at the border, up to rounding
                x = float(span[1]) + 3.0 + margin
                for _ in range(int(rng.integers(0, 3))):
                    x = float(np.nextafter(x, rng.choice([-np.inf, np.inf])))
            poses.append((x, 0.0, 0.0))
        found = {mode: scene.check(ego, poses, times, margin=margin, mode=mode) for mode in MODES}
        for n, (time, pose) in enumerate(zip(times, poses, strict=True)):
            spans = [
                places(*own, *[Fraction(time) - Fraction(stamp)] * 2)
                for own, stamp in zip(paths, stamps, strict=True)
            ]
            gaps = [is_apart(span, pose[0]) for span in spans if span is not None]
            is_free = None not in spans and min(gaps) > Fraction(margin)
            context = (paths, stamps, time, pose, margin)
            for result in found.values():
                assert is_free or result.verdicts[n] != Verdict.FREE, context
            assert is_free or not scene.is_free(ego, pose, time=time, margin=margin), context
            if len(gaps) == len(paths) and min(gaps) > 0:
                assert found["distance"].lower_bounds[n] <= min(gaps), context
            free += found["collide"].verdicts[n] == Verdict.FREE
        # The swept path through the poses that are far enough apart in time.
        order = np.argsort(times)
        way = [int(n) for k, n in enumerate(order) if k == 0 or times[n] > times[order[k - 1]]]
        result = scene.check_path(ego, [poses[n] for n in way], [times[n] for n in way])
        if result.is_free:
            for n, m in pairwise(way):
                for own, stamp in zip(paths, stamps, strict=True):
                    since = Fraction(stamp)
                    span = places(*own, Fraction(times[n]) - since, Fraction(times[m]) - since)
                    assert span is not None, (paths, stamps, times)
                    # Both move along x: apart at both ends and in one order, else they have met.
                    first = places(*own, *[Fraction(times[n]) - since] * 2)
                    last = places(*own, *[Fraction(times[m]) - since] * 2)
                    before = first[0] > Fraction(poses[n][0])
                    assert before == (last[0] > Fraction(poses[m][0])), (paths, stamps, times)
    assert free > SCENES // 4


@pytest.mark.parametrize("stamp", STAMPS)
def test_times_that_merge_with_the_stamp(stamp: float) -> None:
    """An obstacle jumps 30 m within one ulp of its time, and is met before and after."""
    later = float(np.nextafter(0.3, 1.0))
    path = ([0.1, 0.3, later, 1.0], [(0, 0, 0), (0, 0, 0), (30, 0, 0), (30, 0, 0)])
    box, ego = Shape.box(2.0, 2.0), Shape.box(4.0, 2.0)
    scene = Scene([box], [(0, 0, 0)], paths=[path], stamps=[stamp], horizon=10.0)
    times = [stamp + 0.2, stamp + 0.3, stamp + 0.5]
    if len(set(times)) == 3:
        first, _, last = scene.check(ego, [(0, 0, 0)] * 3, times).verdicts
        assert (first, last) == (Verdict.COLLISION, Verdict.FREE)
        first, _, last = scene.check(ego, [(30, 0, 0)] * 3, times).verdicts
        assert (first, last) == (Verdict.FREE, Verdict.COLLISION)
    swept = scene.check_path(ego, [(15, 0, 0), (15.1, 0, 0)], [stamp + 0.2, stamp + 0.6])
    assert swept.verdict is not Verdict.FREE


@pytest.mark.parametrize("stamps", [[0.0, 1.8e9], [1.8e9, 0.0], [-5e9, 5e9]])
@pytest.mark.parametrize("place", [(35, 0, 0), (1000, 0, 0)])
def test_stamps_far_apart(stamps: list[float], place: tuple[float, float, float]) -> None:
    """One obstacle stands since long ago, or for long; the other drives now."""
    disc, pose = Shape.circle(0.5), (30.0, 0.0, 0.0)
    for moves in (0, 1):
        poses, velocities = [place, place], [(0.0, 0.0, 0.0)] * 2
        poses[moves], velocities[moves] = (0, 0, 0), (10, 0, 0)
        scene = Scene([disc] * 2, poses, velocities=velocities, stamps=stamps)
        updated = Scene([disc] * 2, [place] * 2, velocities=[(0, 0, 0)] * 2, stamps=stamps)
        driven = {"velocities": [(10, 0, 0)], "stamps": [stamps[moves]]}
        updated = updated.updated([moves], [(0, 0, 0)], **driven)
        time = stamps[moves] + 3.0
        for each in (scene, updated):
            for mode in MODES:
                found = each.check(disc, [pose], [time], mode=mode)
                assert found.verdict is Verdict.COLLISION, mode
            assert not each.is_free(disc, pose, time=time)
            assert each.nearest(disc, pose, time=time).distances[0] < 0
            assert not each.check_path(disc, [pose], [time]).is_free
            assert not each.check_path(disc, [(30, 2, 0), pose], [time - 0.01, time]).is_free


def test_horizons_of_centuries() -> None:
    disc, velocities = Shape.circle(0.5), [(1e-6, 0, 0), (0, 0, 0)]
    slow = Scene([disc] * 2, [(0, 0, 0), (9000, 0, 0)], velocities=velocities, horizon=1e10)
    for mode in MODES:
        assert not slow.check(disc, [(5000, 0, 0)], [5e9], mode=mode).is_free
    assert not slow.is_free(disc, (5000, 0, 0), time=5e9)


@pytest.mark.parametrize(("error", "speed"), [(0.01, 50.0), (1e-9, 1000.0), (1e-3, 1.0)])
@pytest.mark.parametrize("factor", [0.0, 0.9, 1.0, 1.1, 2.0, 3.0, 5.0, 100.0])
def test_a_time_error_gives_one_verdict(error: float, speed: float, factor: float) -> None:
    """The bound of the time counts alike in every mode, and never towards FREE."""
    disc, velocities = Shape.circle(0.5), [(speed, 0, 0), (0, 0, 0)]
    poses = [(0, 0, 0), (0, 500, 0)]
    scene = Scene([disc, disc], poses, velocities=velocities, time_error=error)
    pose = (speed + 1.0 + factor * speed * error, 0.0, 0.0)
    verdicts = {scene.check(disc, [pose], [1.0], mode=mode).verdict for mode in MODES}
    free = scene.is_free(disc, pose, time=1.0)
    assert verdicts == {Verdict.FREE if free else Verdict.COLLISION}
    assert not free or factor > 1.0
    assert free or factor < 100.0


@pytest.mark.requirement("G-4")
@pytest.mark.parametrize("prediction", ["unknown_is_error", "constant_velocity", "hold"])
def test_after_its_last_ulp_no_prediction_is_used(prediction: str) -> None:
    """Beyond the horizon, and beyond a path that does not go on, nothing is FREE."""
    rng = np.random.default_rng(6 if "CI" in os.environ else None)
    box, ego, frees = Shape.box(2.0, 2.0), Shape.box(4.0, 2.0), 0
    for _ in range(SCENES // 5):
        stamp = float(rng.choice(STAMPS)) + float(rng.choice([0.0, 0.1, 0.3]))
        horizon = float(rng.choice([0.1, 0.3, 1.0, 5.0]))
        last = float(rng.choice([0.0, horizon, 2 * horizon, horizon / 3]))
        times = [last] if rng.random() < 0.5 or not last else [last / 2, last]
        poses = [(9.0 * k, 0.0, 0.0) for k in range(len(times))]
        scene = Scene(
            [box], paths=[(times, poses)], stamps=[stamp], horizon=horizon, prediction=prediction
        )
        goes_on = prediction == "hold" or (prediction == "constant_velocity" and last > 0.0)
        end = Fraction(stamp) + min(Fraction(horizon), Fraction(horizon if goes_on else last))
        time = float(end)
        for _ in range(int(rng.integers(0, 3))):
            time = float(np.nextafter(time, rng.choice([-np.inf, np.inf])))
        is_known = Fraction(stamp) <= Fraction(time) <= end
        pose = [(0.0, 200.0, 0.0)]
        context = (stamp, horizon, times, time)
        for mode in MODES:
            found = scene.check(ego, pose, [time], mode=mode).verdict
            assert is_known or found is Verdict.UNKNOWN, (mode, context)
            frees += found is Verdict.FREE
        assert is_known or not scene.is_free(ego, pose[0], time=time), context
        for swept in (True, False):
            way = scene.check_path(ego, pose * 2, [stamp, max(time, stamp + 1e-3)], swept=swept)
            late = Fraction(max(time, stamp + 1e-3)) > end
            assert not late or way.verdict is Verdict.UNKNOWN, (swept, context)
    assert frees > SCENES // 50
