# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories among boxes that move without rotation, against rational arithmetic.

If one of these tests fails, a contact is missed or reported too late, a lower bound is too large,
or the pose of an obstacle is taken as known at a time at which it is not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from gjk_collision import Scene, Shape, Status, Verdict

ROUNDING = 1e-7  # m, larger than the error of every position in these cases


class Leg(NamedTuple):
    """Motion with constant velocity, from `begin` to `end` [s]; None: without end."""

    begin: Fraction | None
    end: Fraction | None
    at: Fraction  # s
    position: list[Fraction]  # m, at the time `at`
    velocity: list[Fraction]  # m/s

    def overlap(self, other: Leg) -> tuple[Fraction, Fraction]:
        begins = [t for t in (self.begin, other.begin) if t is not None]
        ends = [t for t in (self.end, other.end) if t is not None]
        return max(begins), min(ends)

    def where(self, t: Fraction) -> list[Fraction]:
        return [p + v * (t - self.at) for p, v in zip(self.position, self.velocity, strict=True)]


def exact(values) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def through(times, positions) -> list[Leg]:
    legs = []
    for a, b, p, q in zip(times, times[1:], positions, positions[1:], strict=False):
        legs.append(Leg(a, b, a, p, [(y - x) / (b - a) for x, y in zip(p, q, strict=True)]))
    return legs or [Leg(times[0], times[0], times[0], positions[0], [Fraction(0)] * 2)]


def predicted(position, velocity, path, stamp, policy, horizon) -> list[Leg]:
    """Return the legs of an obstacle, as the notes of `Scene` describe its prediction."""
    until = stamp + horizon
    still = [Fraction(0)] * 2
    if path is not None:
        times, positions = [stamp], [position]
        for t, p in zip(*path, strict=True):
            if t == 0:
                positions[0] = p
            else:
                times.append(stamp + t)
                positions.append(p)
        if len(times) > 1 or policy != "constant_velocity":
            legs = through(times, positions)
            if policy == "constant_velocity":
                legs[-1] = legs[-1]._replace(end=None)
            if policy == "hold":
                legs.append(Leg(times[-1], None, stamp, positions[-1], still))
            legs = [leg for leg in legs if leg.begin <= until]
            return [
                leg._replace(end=until if leg.end is None else min(leg.end, until)) for leg in legs
            ]
        position = positions[0]
    if velocity is not None and any(velocity):
        return [Leg(stamp, until, stamp, position, velocity)]
    if velocity is not None or policy == "hold":
        return [Leg(None, None, stamp, position, still)]
    return [Leg(stamp, stamp, stamp, position, still)]


def is_known(legs: list[Leg], begin: Fraction, end: Fraction) -> bool:
    return (legs[0].begin is None or legs[0].begin <= begin) and (
        legs[-1].end is None or end <= legs[-1].end
    )


def meeting(ego: Leg, other: Leg, sizes: list[Fraction]) -> tuple[Fraction | None, Fraction]:
    """Return the first time of contact, and the least squared distance.

    The boxes are in contact if the distance of their centers is at most `sizes` in x and in y.
    """
    begin, end = ego.overlap(other)
    start = [p - q for p, q in zip(ego.where(begin), other.where(begin), strict=True)]
    rate = [v - u for v, u in zip(ego.velocity, other.velocity, strict=True)]
    enters, leaves = Fraction(0), end - begin
    turns = {enters, leaves}  # the least distance is at one of these times after `begin`
    for x, v, size in zip(start, rate, sizes, strict=True):
        if v == 0:
            leaves = leaves if abs(x) <= size else Fraction(-1)
            continue
        low, high = sorted([(-size - x) / v, (size - x) / v])
        enters, leaves = max(enters, low), min(leaves, high)
        turns |= {low, high}
    if speed := rate[0] ** 2 + rate[1] ** 2:
        for corner in ((x, y) for x in (-sizes[0], sizes[0]) for y in (-sizes[1], sizes[1])):
            turns.add(
                -sum((x - c) * v for x, c, v in zip(start, corner, rate, strict=True)) / speed
            )
    gaps = (
        sum(max(Fraction(0), abs(x + t * v) - size) ** 2
            for x, v, size in zip(start, rate, sizes, strict=True))
        for t in turns if 0 <= t <= end - begin
    )  # fmt: skip
    return (begin + enters if enters <= leaves else None), min(gaps)


class Case:
    """A scene of up to four boxes, and up to three trajectories of up to four poses."""

    def __init__(self, seed: int) -> None:
        r = np.random.default_rng(seed)
        on_grid = r.random() < 0.6  # then boxes touch exactly, and times coincide

        def numbers(low, high, *shape):
            if on_grid:
                return r.integers(low * 4, high * 4 + 1, shape) / 4
            return r.uniform(low, high, shape)

        n, count, steps = (int(r.integers(1, high)) for high in (5, 4, 5))
        clock = r.choice([0.0, -5.0, 1.8e9])
        far = r.choice([0.0, 0.0, 2.0**20])
        policy = str(r.choice(["unknown_is_error", "constant_velocity", "hold"]))
        horizon = r.choice([0.0, 1.0, 2.5, 5.0])
        half = numbers(0, 2, n, 2) + 0.125
        poses = np.zeros((n, 3))
        poses[:, :2] = numbers(-6, 6, n, 2) + [far, 0.0]
        velocities = np.zeros((n, 3))
        velocities[:, :2] = numbers(-4, 4, n, 2) * r.choice([0, 1, 1, 16], (n, 1))
        velocities[r.random(n) < 0.25] = np.nan
        stamps = clock + (numbers(-1, 1, n) if r.random() < 0.5 else np.zeros(n))
        paths: list[tuple[np.ndarray, np.ndarray] | None] = [None] * n
        for i in np.flatnonzero(r.random(n) < 0.35):
            times = np.unique(numbers(0, 3, r.integers(1, 4)))
            ways = np.zeros((len(times), 3))
            ways[:, :2] = numbers(-6, 6, len(times), 2) + [far, 0.0]
            paths[i] = times, ways
        if r.random() < 0.2:  # no motion is given
            velocities[:], paths = np.nan, [None] * n
            moves = {"velocities": velocities} if policy != "hold" else {}
        else:
            moves = {"velocities": velocities, "paths": paths}
        shapes = [Shape.box(*size) for size in 2 * half]
        rule = {"prediction": policy, "horizon": horizon}
        if r.random() < 0.3:
            before = Scene(shapes[::-1], poses + 1.0, velocities=np.ones((n, 3)), **rule)
            self.scene = before.updated(np.arange(n), poses, shapes, **moves, stamps=stamps)
        else:
            self.scene = Scene(shapes, poses, **moves, stamps=stamps, **rule)

        half_ego = numbers(0, 2, 2) + 0.125
        self.ego = Shape.box(*(2 * half_ego))
        self.poses = np.zeros((count, steps, 3))
        self.poses[..., :2] = numbers(-7, 7, count, steps, 2) + [far, 0.0]
        start = clock + numbers(-1, 1, 1)
        self.times = start + np.cumsum(numbers(0, 2, count, steps) + 0.25, axis=1) - 0.25
        if r.random() < 0.5:
            self.times = self.times[0]
        self.tolerance = float(r.choice([0.005, 0.25, 1.0]))

        self.sizes = [exact(size + half_ego) for size in half]
        self.obstacles = [
            predicted(
                exact(poses[i, :2]),
                None if np.isnan(velocities[i]).any() else exact(velocities[i, :2]),
                path and (exact(path[0]), [exact(way[:2]) for way in path[1]]),
                Fraction(float(stamps[i])),
                policy,
                Fraction(float(horizon)),
            )
            for i, path in enumerate(paths)
        ]

    def truth(self, legs: list[Leg]) -> tuple[Fraction | None, list[Fraction], bool]:
        """Return the first contact, the least squared distance on each leg, and if all is known.

        The distances end with the leg of the first contact.
        """
        least = []
        for leg in legs:
            met = [
                meeting(leg, other, sizes)
                for others, sizes in zip(self.obstacles, self.sizes, strict=True)
                for other in others
                if (common := leg.overlap(other))[0] <= common[1]
            ]
            least += [gap for _, gap in met]
            contacts = [time for time, _ in met if time is not None]
            if contacts:
                break
        known = all(is_known(others, legs[0].begin, legs[-1].end) for others in self.obstacles)
        return min(contacts, default=None), least, known


@pytest.mark.parametrize("seed", range(400))
def test_first_contact_is_that_of_rational_arithmetic(seed):
    case = Case(seed)
    found = case.scene.first_contact(
        case.ego, case.poses, case.times, tolerance=case.tolerance, threads=1 + seed % 2
    )
    times = np.broadcast_to(case.times, case.poses.shape[:2])
    for k in range(len(case.poses)):
        legs = through(exact(times[k]), [exact(pose[:2]) for pose in case.poses[k]])
        first, least, known = case.truth(legs)
        print(f"seed {seed}, trajectory {k}: contact {first and float(first)}, known {known}")
        if first is not None:
            assert found.verdicts[k] == Verdict.COLLISION
            assert Fraction(found.times[k]) <= first
        elif found.verdicts[k] == Verdict.COLLISION:  # it passes within the tolerance
            assert min(least) <= (case.tolerance + ROUNDING) ** 2
        else:
            expected = Status.SUCCESS if known else Status.PREDICTION_TOO_SHORT
            assert found.statuses[k] == expected
            assert (found.verdicts[k] == Verdict.FREE) == known
        assert np.isnan(found.times[k]) == (found.verdicts[k] != Verdict.COLLISION)
        if least and found.lower_bounds[k] > 0.0:
            assert Fraction(found.lower_bounds[k]) ** 2 <= min(least)
        if found.verdicts[k] == Verdict.FREE:
            nearest = float(min(least)) ** 0.5
            assert nearest - ROUNDING <= found.distances[k] <= nearest + case.tolerance + ROUNDING


@pytest.mark.parametrize("seed", range(400))
def test_each_pose_of_the_trajectories_is_that_of_rational_arithmetic(seed):
    case = Case(seed)
    checked = case.scene.check(case.ego, case.poses, case.times, mode="distance")
    times = np.broadcast_to(case.times, case.poses.shape[:2])
    for k, j in np.ndindex(times.shape):
        _, least, known = case.truth(through(exact([times[k, j]]), [exact(case.poses[k, j, :2])]))
        gap = min(least, default=None)
        print(f"seed {seed}, pose {k, j}: squared gap {gap and float(gap)}, known {known}")
        verdict = checked.verdicts[k, j]
        if gap == 0:
            assert verdict == Verdict.COLLISION
        elif gap is None or gap > ROUNDING**2:
            assert verdict == (Verdict.FREE if known else Verdict.UNKNOWN)
        if gap is not None and verdict == Verdict.FREE:
            assert Fraction(checked.lower_bounds[k, j]) ** 2 <= gap
    invalid = checked.verdicts != Verdict.FREE
    expected = [np.flatnonzero(row)[0] if row.any() else -1 for row in invalid]
    assert checked.first_invalid.tolist() == expected
    stopped = case.scene.check(case.ego, case.poses, case.times, stop_at_first=True, threads=2)
    assert stopped.first_invalid.tolist() == expected


def test_enough_cases_of_each_kind():
    kinds = {"contact": 0, "free": 0, "unknown": 0}
    for seed in range(400):
        case = Case(seed)
        times = np.broadcast_to(case.times, case.poses.shape[:2])
        for k in range(len(case.poses)):
            legs = through(exact(times[k]), [exact(pose[:2]) for pose in case.poses[k]])
            first, _, known = case.truth(legs)
            kinds["contact" if first is not None else "free" if known else "unknown"] += 1
    assert min(kinds.values()) >= 60, kinds
