# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Criticality of trajectories, against dense samples with shapely's distances."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from samples import at_times, convex, outlines

from gjk_collision import CriticalityResult, Region, Scene, Shape, Status, Verdict

CASES = int(os.environ.get("GJK_CASES", "200"))
TOLERANCE = 0.005
GROUP = 20  # trajectories of one scene
STEPS = 5  # poses of a trajectory
FINE = 60  # samples of a trajectory and of a prediction
CAR = Shape.box(4.0, 2.0)

Floats = NDArray[np.float64]


@dataclass
class Case:
    """A vehicle of several convex parts on trajectories, and obstacles at constant velocities."""

    ego: list[Floats]
    poses: Floats
    times: Floats
    others: list[Floats]
    placed: Floats
    velocities: Floats
    stamp: float
    horizon: float

    def scene(self, **more: Any) -> Scene:
        shapes, stamps = [Shape.polygon(o) for o in self.others], [self.stamp] * len(self.others)
        moves = {"velocities": self.velocities, "stamps": stamps, "horizon": self.horizon}
        return Scene(shapes, self.placed, **moves, **more)

    def shape(self) -> Shape:
        return Shape.compound([Shape.polygon(part) for part in self.ego])

    def other_at(self, i: int, times: Floats) -> NDArray[np.object_]:
        since = np.asarray(times)[..., None] - self.stamp
        return outlines(self.others[i], self.placed[i] + since * self.velocities[i])

    def gaps(self, i: int, poses: Floats, other: NDArray[np.object_]) -> Floats:
        """Return the distances of the vehicle at poses (..., 3) to obstacle i."""
        each = [shapely.distance(outlines(part, poses), other) for part in self.ego]
        return np.asarray(np.min(each, axis=0))


def some_case(rng: np.random.Generator) -> Case:
    stamp = float(rng.choice([0.0, 1.8e9]))
    count = int(rng.integers(1, 4))
    spin = float(rng.choice([0.0, 0.4]))  # of all bodies
    steps = rng.normal(size=(GROUP, STEPS, 3)) * [1, 1, spin] + [2.5, 0, 0]
    steps[:, :2, :2] += [1.5, 0]  # faster at first
    poses = np.cumsum(steps, axis=1)
    times = stamp + 0.3 + np.cumsum(rng.uniform(0.3, 1.0, STEPS))
    return Case(
        ego=[convex(rng) + rng.normal(size=2) for _ in range(int(rng.integers(1, 4)))],
        poses=poses,
        times=times,
        others=[convex(rng) for _ in range(count)],
        placed=rng.normal(size=(count, 3)) * [5, 6, 2] + [10, 0, 0],
        velocities=rng.normal(size=(count, 3)) * [2, 2, spin],
        stamp=stamp,
        horizon=float(times[-1]) - stamp + 1.0,
    )


def braked(poses: Floats, times: Floats, a: Floats, wanted: Floats) -> Floats:
    """Return the poses (n, S, 3) on a trajectory (T, 3), with decelerations a (n,) on top."""
    length = np.linalg.norm(np.diff(poses[:, :2], axis=0), axis=1)
    speed, far = length / np.diff(times), np.concatenate([[0.0], np.cumsum(length)])
    since = times - times[0]
    left = np.array([[v - b * t for v, t in zip(speed, since[1:], strict=True)] for b in a])
    found = []
    for row, b in zip(left, a, strict=True):
        stops = np.flatnonzero(row <= 0.0)
        stop = since[-1]
        if len(stops):  # in this segment, or at its begin
            stop = max(speed[stops[0]] / b, since[stops[0]])
        t = np.minimum(wanted - times[0], stop)
        driven = np.maximum(0.0, np.interp(t, since, far) - 0.5 * b * t**2)
        at = np.clip(np.searchsorted(far, driven, side="right") - 1, 0, len(length) - 1)
        share = (driven - far[at]) / length[at]
        way = np.diff(poses, axis=0)
        way[:, 2] = np.remainder(way[:, 2] + np.pi, 2 * np.pi) - np.pi
        found.append(poses[at] + share[:, None] * way[at])
    return np.array(found)


def check_contacts(case: Case, found: CriticalityResult) -> None:
    """No contact is late; there is an edge and a speed of each contact only."""
    fine = np.linspace(case.times[0], case.times[-1], 8 * FINE)
    there = at_times(case.poses, case.times, np.broadcast_to(fine, (GROUP, len(fine))))
    each = [case.gaps(i, there, case.other_at(i, fine)) for i in range(len(case.others))]
    touches = np.min(each, axis=0) == 0.0
    is_hit = found.verdicts == Verdict.COLLISION
    first = np.where(touches.any(axis=1), fine[touches.argmax(axis=1)], np.inf)
    assert (found.contact_times <= first + 1e-6).all(), "late"
    assert (np.isfinite(found.contact_times) == is_hit).all()
    np.testing.assert_array_equal(found.time_to_collision, found.contact_times - case.times[0])
    assert (found.relative_speeds[~is_hit] == 0.0).all()
    assert (found.ego_edges[~is_hit] == -1).all()


def check_encroachment(case: Case, found: CriticalityResult) -> None:
    """The time is between two bounds: samples that overlap, and all that may be near."""
    mine = np.linspace(case.times[0], case.times[-1], FINE)
    known = np.linspace(case.stamp, case.stamp + case.horizon, FINE)
    apart = np.abs(mine[:, None] - known)
    between = 0.5 * (mine[1] - mine[0] + known[1] - known[0])
    there = at_times(case.poses, case.times, np.broadcast_to(mine, (GROUP, FINE)))
    high, low = np.full(GROUP, np.inf), np.full(GROUP, np.inf)
    for i in range(len(case.others)):
        gaps = case.gaps(i, there[:, :, None], case.other_at(i, known))
        high = np.minimum(high, np.where(gaps == 0.0, apart, np.inf).min(axis=(1, 2)))
        far = max(np.abs(part).max() for part in [*case.ego, *case.others]) * 1.5
        v = np.diff(there, axis=1) / (mine[1] - mine[0])
        speeds = np.linalg.norm(v[..., :2], axis=2) + far * np.abs(v[..., 2])
        own = np.abs(case.velocities[i])
        near = speeds.max(axis=1) * (mine[1] - mine[0]) / 2
        near += (np.hypot(own[0], own[1]) + far * own[2]) * (known[1] - known[0]) / 2
        may = gaps <= TOLERANCE + near[:, None, None]
        low = np.minimum(low, np.where(may, apart, np.inf).min(axis=(1, 2)))
    is_hit = found.verdicts == Verdict.COLLISION
    pet = found.post_encroachment_time
    assert (pet[is_hit] == 0.0).all()
    assert (pet[~is_hit] <= high[~is_hit] + 1e-6).all(), "too much"
    least = (low[~is_hit] - between) / 1.05 - 0.02
    assert (pet[~is_hit] >= least - 1e-6).all(), "too little"


def check_deceleration(case: Case, found: CriticalityResult) -> tuple[int, int]:
    """Samples with the deceleration are free; with a little less, they come near an obstacle."""
    fine = np.linspace(case.times[0], case.times[-1], 4 * FINE)
    others = [case.other_at(i, fine) for i in range(len(case.others))]
    drac = found.required_deceleration
    is_hit = found.verdicts == Verdict.COLLISION
    assert (drac[~is_hit] == 0.0).all()

    def least(k: int, a: Floats) -> Floats:
        at = braked(case.poses[k], case.times, a, fine)
        each = [case.gaps(i, at, other) for i, other in enumerate(others)]
        return np.asarray(np.min(each, axis=(0, 2)))

    for k in np.flatnonzero(is_hit):
        if np.isinf(drac[k]):
            assert least(k, np.array([1e9]))[0] <= 2 * TOLERANCE
            continue
        assert least(k, drac[k : k + 1])[0] > 0.0, "not free"
        if drac[k] <= 0.0101:
            continue
        less = drac[k] / np.linspace(1.0, 1.035, 8)
        span = fine[-1] - fine[0]
        bodies = np.abs(np.diff(case.poses[k], axis=0)).max() / np.diff(case.times).min()
        sampled = 4.0 * (bodies + np.abs(case.velocities).max()) * (fine[1] - fine[0])
        step = 0.005 * min(0.5 * drac[k] * span**2, 20.0) * 3
        assert least(k, less).min() <= 2 * TOLERANCE + sampled + step, "too much"
    return int(np.isinf(drac).sum()), int((drac[is_hit] < np.inf).sum())


@pytest.mark.requirement("V-25")
def test_against_dense_samples() -> None:
    rng = np.random.default_rng(int(os.environ.get("GJK_SEED", "31")))
    hits = avoided = hopeless = free = 0
    for _ in range(-(-CASES // GROUP)):
        case = some_case(rng)
        scene = case.scene()
        found = scene.criticality(case.shape(), case.poses, case.times, tolerance=TOLERANCE)
        first = scene.first_contact(case.shape(), case.poses, case.times, tolerance=TOLERANCE)
        is_hit = found.verdicts == Verdict.COLLISION
        clear = (found.verdicts == first.verdicts) | (np.abs(first.distances) > TOLERANCE)
        np.testing.assert_array_equal(found.verdicts[clear], first.verdicts[clear])
        both = is_hit & (first.verdicts == Verdict.COLLISION)
        np.testing.assert_array_equal(found.contact_times[both], first.times[both])
        assert set(found.verdicts) <= {Verdict.COLLISION, Verdict.FREE}
        check_contacts(case, found)
        check_encroachment(case, found)
        more = check_deceleration(case, found)
        hopeless, avoided = hopeless + more[0], avoided + more[1]
        hits += int(is_hit.sum())
        free += int((np.isfinite(found.post_encroachment_time) & ~is_hit).sum())
    assert 0.2 * CASES < hits < 0.9 * CASES
    assert min(avoided, hopeless, free) > 0.03 * CASES, "all kinds of answers occur"


def straight(speed: float, duration: float = 5.0, n: int = 51) -> tuple[Floats, Floats]:
    times = np.linspace(0.0, duration, n)
    return np.stack([speed * times, 0 * times, 0 * times], axis=1)[None], times


@pytest.mark.parametrize(
    ("speed", "other", "velocity", "closing", "edge"),
    [
        (10.0, (30.0, 0.5, 0.0), (0, 0, 0), 10.0, "front"),
        (10.0, (14.0, -0.5, 0.0), (4, 0, 0), 6.0, "front"),
        (10.0, (30.0, 0.0, 0.0), (-6, 0, 0), 16.0, "front"),
        (2.0, (-24.0, 0.0, 0.0), (9, 0, 0), 7.0, "back"),
    ],
)
def test_cars_on_one_lane(
    speed: float, other: Any, velocity: Any, closing: float, edge: str
) -> None:
    """Against closed forms: v / (2 TTC), and the edges of the box."""
    gap = abs(other[0]) - 4.0
    poses, times = straight(speed)
    scene = Scene([CAR], [other], ids=[7], velocities=[velocity], horizon=5.0)
    found = scene.criticality(CAR, poses, times)
    assert found.verdicts[0] == Verdict.COLLISION and found.ids[0] == 7
    assert found.time_to_collision[0] == pytest.approx(gap / closing, abs=0.002)
    assert found.time_to_collision[0] <= gap / closing
    assert found.relative_speeds[0] == pytest.approx(closing, rel=1e-6)
    assert found.relative_speeds[0] >= closing
    assert found.post_encroachment_time[0] == 0.0
    begin = np.array(CAR.parts[0])[found.ego_edges[0]]
    end = np.roll(CAR.parts[0], -1, axis=0)[found.ego_edges[0]]
    assert begin[0] == end[0] == (2.0 if edge == "front" else -2.0)
    least = closing**2 / (2.0 * gap)  # if the other one does not come towards the vehicle
    drac = found.required_deceleration[0]
    if edge == "back" or velocity[0] < 0.0:
        assert drac == np.inf
    else:
        assert least <= drac <= 1.04 * least


def test_predicted_paths_and_threads() -> None:
    """A path of many poses has the answers of one constant velocity; threads do not matter."""
    rng = np.random.default_rng(5)
    count, steps = 40, 25
    placed = rng.uniform(-40, 40, (count, 3))
    velocities = rng.normal(size=(count, 3)) * [6, 6, 0.2]
    at = np.linspace(0.2, 5.0, steps)
    paths = [(at, p + at[:, None] * v) for p, v in zip(placed, velocities, strict=True)]
    one = Scene([CAR] * count, placed, velocities=velocities, horizon=5.0)
    many = Scene([CAR] * count, placed, paths=paths, horizon=5.0)
    poses, times = straight(8.0, 4.0, 21)
    poses = poses + rng.uniform(-30, 30, (40, 1, 3)) * [1, 1, 0]
    a, b = one.criticality(CAR, poses, times), many.criticality(CAR, poses, times)
    np.testing.assert_array_equal(a.verdicts, b.verdicts)
    assert len(np.unique(a.verdicts)) == 2
    is_hit = a.verdicts == Verdict.COLLISION
    np.testing.assert_allclose(a.contact_times, b.contact_times, atol=2e-3)
    pet, other = a.post_encroachment_time, b.post_encroachment_time
    np.testing.assert_array_equal(np.isinf(pet), np.isinf(other))
    assert (np.abs(pet - other)[~is_hit & np.isfinite(pet)] <= 0.05 * pet.min() + 0.6).all()
    for threads in (2, 3):
        again = many.criticality(CAR, poses, times, threads=threads)
        for name in (each.name for each in fields(CriticalityResult)):
            np.testing.assert_array_equal(getattr(again, name), getattr(b, name))


def test_all_parts_in_contact_count() -> None:
    """Whatever the order of the parts of both bodies, the fastest point of contact counts."""
    rng = np.random.default_rng(3)
    bar = [Shape.polygon([[a, -0.05], [b, -0.05], [b, 0.05], [a, 0.05]])
           for a, b in ((-11.0, -2.0), (-2.0, 3.0), (3.0, 11.0))]  # fmt: skip
    for _ in range(50):
        count = int(rng.integers(2, 6))
        x = rng.uniform(-10.5, 10.5, count)
        y = 0.05 + rng.uniform(-0.01, 0.9 * TOLERANCE, count)  # overlap, or nearly touch
        points = [Shape.point(each) for each in np.stack([x, y], axis=1)]
        shift, turn = rng.normal(size=2), rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.5)
        poses, times = np.array([[0.0, 0.0, 0.0], [*shift, turn]]), [0.0, 1.0]
        # The velocity of the point (x, y) of the bar, which turns about its origin
        truth = np.hypot(shift[0] - turn * y, shift[1] + turn * x)
        fastest = int(truth.argmax())
        answers = []
        for _ in range(4):
            own, order = rng.permutation(3), rng.permutation(count)
            ego = Shape.compound([bar[i] for i in own])
            others = Shape.compound([points[i] for i in order])
            scene = Scene([others], prediction="hold")
            found = scene.criticality(ego, [poses], times, tolerance=TOLERANCE)
            assert found.contact_times[0] == 0.0
            edge = ego.parts[found.ego_edges[0] // 4]
            answers.append((found.relative_speeds[0], *sorted(edge[:, 0])[1:3]))
            assert truth.max() <= found.relative_speeds[0] <= truth.max() + 0.1 * abs(turn) + 1e-6
            slower = np.delete(truth, fastest).max()
            if slower < truth.max() - 0.1:
                assert edge[:, 0].min() - 0.02 <= x[fastest] <= edge[:, 0].max() + 0.02
        np.testing.assert_allclose(answers, answers[:1] * 4, rtol=1e-12)


def test_margins_do_not_change_the_numbers() -> None:
    poses, times = straight(10.0)
    poses = np.concatenate([poses, poses + [0, 2.5, 0], poses + [0, 50, 0]])
    moves = {"velocities": [(1.0, 0, 0)], "horizon": 5.0}
    plain = Scene([CAR], [(30.0, 0, 0)], **moves).criticality(CAR, poses, times)
    scene = Scene([CAR], [(30.0, 0, 0)], margins=[1.0], margin_rates=[0.1], **moves)
    found = scene.criticality(CAR, poses, times)
    assert list(found.verdicts) == [Verdict.COLLISION, Verdict.MARGIN, Verdict.FREE]
    assert list(found.ids) == [0, 0, -1]
    for each in ("contact_times", "relative_speeds", "ego_edges", "post_encroachment_time"):
        np.testing.assert_allclose(getattr(found, each), getattr(plain, each), atol=0.01)
    drac = found.required_deceleration
    assert drac[0] == pytest.approx(plain.required_deceleration[0], rel=0.03)
    assert list(drac[1:]) == [0.0, 0.0]


def test_region() -> None:
    region = Region([[(-5.0, -5.0), (30.0, -5.0), (30.0, 5.0), (-5.0, 5.0)]])
    scene = Scene([], inside=region)
    poses, times = straight(10.0)
    found = scene.criticality(CAR, np.concatenate([poses, poses + [50, 0, 0]]), times)
    assert list(found.verdicts) == [Verdict.COLLISION] * 2
    assert 100 / 56 <= found.required_deceleration[0] <= 1.04 * 100 / 56
    assert found.required_deceleration[1] == np.inf and found.contact_times[1] == 0.0
    assert (found.relative_speeds >= 10.0).all() and list(found.ego_edges >= 0) == [True, False]
    assert (found.ids == scene.criticality(CAR, poses, times).ids[0]).all()


@pytest.mark.requirement("V-25")
def test_unknown_motion_is_unknown() -> None:
    """With a contact before the end of the prediction, only the deceleration is not known."""
    poses, times = straight(10.0)
    poses = np.concatenate([poses, poses + [0, 9, 0]])
    scene = Scene([CAR], [(20.0, 0, 0)], velocities=[(-1.0, 0, 0)], horizon=3.0)
    found = scene.criticality(CAR, poses, times)
    assert list(found.verdicts) == [Verdict.COLLISION, Verdict.UNKNOWN]
    assert found.statuses[1] == Status.PREDICTION_TOO_SHORT and found.ids[1] == 0
    assert found.relative_speeds[0] == pytest.approx(11.0)
    assert np.isnan(found.required_deceleration).all() and found.ego_edges[1] == -1
    for name in ("contact_times", "time_to_collision", "relative_speeds",
                 "required_deceleration", "post_encroachment_time"):  # fmt: skip
        assert np.isnan(getattr(found, name)[1])


def test_one_pose_and_no_obstacles() -> None:
    empty = Scene([]).criticality(CAR, [[(0, 0, 0)]], [1.0])
    assert empty.verdicts[0] == Verdict.FREE and empty.contact_times[0] == np.inf
    assert empty.required_deceleration[0] == 0.0 and empty.post_encroachment_time[0] == np.inf
    hit = Scene([CAR], velocities=[(3.0, 4.0, 0)]).criticality(CAR, [[(0, 0, 0)]], [0.0])
    assert hit.time_to_collision[0] == 0.0 and hit.required_deceleration[0] == np.inf
    assert hit.relative_speeds[0] == pytest.approx(5.0)


def test_obstacles_count_while_they_exist() -> None:
    """A parked car leaves before the vehicle is there, after 3.6 s, or comes later."""
    place, way = (40.0, 0.0, 0.0), [[(0.0, 0.0, 0.0), (60.0, 0.0, 0.0)]]
    still, nan = [(0.0, 0.0, 0.0)], np.nan

    def rated(life: tuple[float, float], speed: float = 10.0) -> CriticalityResult:
        scene = Scene([Shape.box(4.0, 2.0)], [place], velocities=still, lifetimes=[life])
        return scene.criticality(Shape.box(4.0, 2.0), way, [0.0, 60.0 / speed])

    gone = rated((nan, 2.0))
    assert gone.verdicts[0] == Verdict.FREE
    assert gone.post_encroachment_time[0] == pytest.approx(1.6, rel=0.06)  # touches at 36 m
    later = rated((5.0, nan))
    assert later.post_encroachment_time[0] == pytest.approx(5.0 - 4.4, rel=0.06)
    hit = rated((nan, 4.0))  # 36 m in 4 s: 40 - a 4^2 / 2
    assert hit.verdicts[0] == Verdict.COLLISION and hit.post_encroachment_time[0] == 0.0
    assert 0.5 <= hit.required_deceleration[0] <= 0.6
    always = rated((nan, nan))  # stops after 36 m: v^2 / 2 / 36
    assert always.required_deceleration[0] == pytest.approx(100 / 72, rel=0.05)
