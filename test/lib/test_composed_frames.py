# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames are composed in floating point, and no verdict is better for it.

Far from the origin the sum of two positions is rounded by up to 5e-10 m. Radii and margins are
chosen so that the true gap, in integers, is the margin up to some ulp.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import oracles
import pytest
import questions
from oracles import Body
from worlds import STEADY0, T0

from gjk_collision import Motion
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.placing import placed_ways
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.frames.poses import Pose, SameFrameOnly
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Verdict

COUNT = int(os.environ.get("GJK_CASES", "300"))  # cases per family
BLUR = Fraction(1, 2**150)  # m, more than the error of sines and cosines
HERE = Pose()
ORIGINS = ((0.0, 0.0), (4.5e5, 5.4e6), (-3e3, 2e4))
Points = list[oracles.Point]


def place(points: Points, pose: Pose) -> Points:
    """Bring points into the parent of a frame; exact where the yaw is 0, else up to `BLUR`."""
    return list(oracles.posed(Body.of(points), pose).points)


class Frames(SameFrameOnly):
    def __init__(self, **frames: Pose) -> None:
        self.frames = frames

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        del target, stamp
        return self.frames[source]

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        return self.lookup(target, source, 0), T0


@dataclass
class Case:
    """An obstacle and the vehicle, each a point or a few with a radius, and their frames."""

    rng: random.Random
    origin: tuple[float, float]
    frame: Pose = HERE  # of the obstacle, in the check frame
    own: Pose = HERE  # of the obstacle, in its frame
    ring: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])
    asked_in: Pose = HERE
    asked: Pose = HERE
    mounted: Pose = HERE  # the footprint's frame, in the base frame
    footprint: list[tuple[float, float]] = field(default_factory=list)
    velocity: tuple[float, float, float] | None = None
    path: list[Pose] = field(default_factory=list)  # after 1, 2, ... s
    time: float = 0.0
    vehicle_radius: float = 1.0

    def somewhere(self, reach: float = 50.0) -> Pose:
        u = self.rng.uniform
        return Pose(u(-reach, reach), u(-reach, reach), u(-3.2, 3.2))

    def frame_there(self) -> Pose:
        x, y, yaw = self.somewhere(100.0)
        return Pose(self.origin[0] + x, self.origin[1] + y, yaw)

    def obstacle_body(self) -> Points:
        own = self.path[int(self.time) - 1] if self.path else self.own  # times are whole
        body = place(oracles.hull(self.ring), own)
        if self.velocity is not None and not self.path:
            vx, vy, _ = (Fraction(v) * Fraction(self.time) for v in self.velocity)
            body = [(x + vx, y + vy) for x, y in body]
        return place(body, self.frame)

    def vehicle_body(self) -> Points:
        body = oracles.hull(self.footprint or [(0.0, 0.0)])
        return place(place(place(body, self.mounted), self.asked), self.asked_in)

    def gap(self, radii: Fraction | float = 0.0) -> oracles.Signed:
        ends = (Body.of(oracles.hull(b)) for b in (self.vehicle_body(), self.obstacle_body()))
        return oracles.Signed(oracles.signed_distance(*ends).core, Fraction(radii))


def obstacle_own_pose(case: Case) -> None:
    case.frame, case.own = case.frame_there(), case.somewhere()
    case.ring = [(case.rng.uniform(-9, 9), case.rng.uniform(-9, 9)) for _ in range(3)]
    beside(case)


def obstacle_points(case: Case) -> None:
    """The frame is far away, and the points are far the other way: both cancel."""
    case.frame = case.frame_there()
    case.ring = [(case.somewhere().x, case.somewhere().y)]
    beside(case)


def cancelling(case: Case, far: Pose) -> Pose:
    """Return a turned frame in which a far place comes to lie near the origin of the parent."""
    yaw = case.rng.uniform(-3.2, 3.2)
    x, y = Pose(yaw=yaw).transform(np.array([far[:2]]))[0].tolist()
    return Pose(-x, -y, yaw)


def obstacle_from_afar(case: Case) -> None:
    """UTM is the obstacle's frame, and the check frame is near: a yaw has a long lever."""
    far = case.frame_there()
    case.frame = cancelling(case, far)
    case.own = Pose(far.x + 9.0, far.y - 7.0, case.rng.uniform(-3, 3))
    beside(case)


def request(case: Case) -> None:
    case.asked_in, case.asked = case.frame_there(), case.somewhere()
    near(case)


def footprint(case: Case) -> None:
    case.mounted = case.somewhere(3.0)
    case.footprint = [(case.rng.uniform(-3, 3), case.rng.uniform(-3, 3)) for _ in range(3)]
    case.vehicle_radius = 0.0
    case.asked_in, case.asked = case.frame_there(), case.somewhere()
    near(case)


def footprint_from_afar(case: Case) -> None:
    """The outline and its frame are far from the vehicle, and cancel."""
    far = case.frame_there()
    case.mounted = cancelling(case, far)
    corners = ((2.0, 1.0), (-2.0, 1.0), (0.0, -1.0))
    case.footprint = [(far.x + a, far.y + b) for a, b in corners]
    case.vehicle_radius = 0.0
    near(case)


def chain(case: Case) -> None:
    footprint(case)
    case.frame, case.own = case.frame_there(), case.somewhere()
    case.asked_in = case.frame
    case.asked = Pose(case.own.x + case.rng.uniform(5, 12), case.own.y, case.rng.uniform(-3, 3))


def velocity(case: Case) -> None:
    case.frame, case.own = case.frame_there(), case.somewhere()
    case.velocity = (case.rng.uniform(-30, 30), case.rng.uniform(-30, 30), 0.0)
    case.time = case.rng.randrange(1, 16) / 4
    beside(case)


def predicted_path(case: Case) -> None:
    case.frame, case.own = case.frame_there(), case.somewhere()
    case.path = [case.somewhere() for _ in range(3)]
    case.time = float(case.rng.randrange(1, 4))
    beside(case)


def near(case: Case) -> None:
    """Put an obstacle, exact in the check frame, beside the vehicle."""
    x, y = map(float, case.vehicle_body()[0])
    u = case.rng.uniform
    case.frame, case.own = HERE, Pose(x + u(5, 15), y + u(5, 15), 0.0)


def beside(case: Case) -> None:
    """Put the vehicle, exact in the check frame, beside the obstacle."""
    x, y = map(float, case.obstacle_body()[0])
    u = case.rng.uniform
    case.asked = Pose(x + u(15, 25), y + u(-5, 15), 0.0)


KINDS = (
    obstacle_own_pose,
    obstacle_points,
    obstacle_from_afar,
    request,
    footprint,
    footprint_from_afar,
    chain,
    velocity,
    predicted_path,
)


def snapshot_of(case: Case, radius: float) -> Snapshot:
    config = Config(
        robot_radius=0.0 if case.footprint else case.vehicle_radius,
        prediction_policy="hold" if case.path else "unknown_is_error",
        sources=(SourceConfig("obs"),),
    )
    world = World(config, Frames(lidar=case.frame, mounted=case.mounted))
    stands = case.velocity is None and not case.path
    world.receive_obstacles(
        "obs",
        Obstacles(
            "odom" if case.frame == HERE else "lidar",
            T0,
            ids=np.array([1]),
            offsets=np.array([0, len(case.ring)]),
            xy=np.ravel(case.ring),
            radius=np.array([radius]),
            poses=np.array(case.own),
            velocities=np.zeros(3) if stands else np.array(case.velocity or (0.0, 0.0, 0.0)),
            path_offsets=np.array([0, len(case.path)]),
            path_times=np.arange(1.0, len(case.path) + 1.0),
            path_poses=np.ravel(case.path),
        ),
        now=T0,
        steady=STEADY0,
    )
    if case.footprint:
        outline = np.array(case.footprint)
        world.receive_footprint(Footprint("mounted", T0, outline), now=T0, steady=STEADY0)
    found = world.snapshot(now=T0, steady=STEADY0)
    assert found.fault is None, found.fault
    if case.rng.random() < 0.3:  # a change of parameters forgets no error
        world.reconfigure(replace(config, toi_tolerance=0.5 * config.toi_tolerance))
        found = world.snapshot(now=T0, steady=STEADY0)
    return found


def cases(kind: Callable[[Case], None], count: int) -> Iterator[tuple[Case, float, float]]:
    """Yield cases with a radius of the obstacle and a margin whose gap is theirs up to an ulp."""
    rng = random.Random(f"{kind.__name__} 1")
    while count:
        case = Case(rng, rng.choice(ORIGINS))
        kind(case)
        margin = rng.choice((0.0, 0.0, 1e-9, 0.4, 3.0))
        radius = float(case.gap()) - case.vehicle_radius - margin
        if radius < 0.01:
            continue
        for _ in range(rng.randrange(-3, 4)):
            radius = math.nextafter(radius, math.inf)
        radius += rng.choice((0.0, 0.0, 1e-10, -1e-10, 4e-10, -4e-10, 2e-9, -2e-9, -1e-6, -1e-3))
        count -= 1
        yield case, radius, margin


def answers(case: Case, snapshot: Snapshot, margin: float) -> Iterator[tuple[Verdict, float]]:
    """Yield the verdict and the lower bound of every query; NaN where it has none."""
    frame, pose = case.asked_in, case.asked
    given: dict[str, Any] = {"frame": frame, "margin": margin}
    rows = np.array(pose)
    times = np.array([case.time]) if case.time else np.empty(0)
    for mode in range(3):
        for many in (1, 3):
            found = questions.check_poses(
                snapshot, np.tile(rows, many), np.tile(times, many), **given, mode=mode
            )
            assert len(set(found.verdicts.tolist())) == 1
            yield found.verdict, found.lower_bounds[0] if mode else math.nan
    way = rows if case.time else np.concatenate([rows, rows])
    for swept in (False, True):
        path = questions.check_path(snapshot, way, times, **given, swept=swept, tolerance=1e-6)
        yield path.verdict, path.min_distance_lower_bound
    if not case.time:
        yield questions.collide(snapshot, pose, margin, frame=frame).verdict, math.nan
        near = questions.distance(snapshot, pose, frame=frame)
        yield Verdict.UNKNOWN, near.lower_bounds[0]


def judge(case: Case, snapshot: Snapshot, margin: float, gap: oracles.Signed) -> None:
    # COLLISION and MARGIN may be too early by a share of all coordinates.
    poses = case.frame, case.own, case.asked_in, case.asked, case.mounted
    early = Fraction(1e-12 * float(np.abs([*poses, *np.eye(3)])[:, :2].sum()) + 1e-9)
    clearance = Fraction(margin)
    wrong = {
        Verdict.FREE: gap <= clearance - BLUR,
        Verdict.MARGIN: gap <= -BLUR or not gap <= clearance + early,
        Verdict.COLLISION: not gap <= early,
    }
    verdict = questions.collide(snapshot, case.asked, margin, frame=case.asked_in).verdict
    assert not wrong[verdict], (case, verdict, margin)


@pytest.mark.requirement("G-9")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_composed_pose_is_falsely_free(kind: Callable[[Case], None]) -> None:
    frees = 0
    for case, radius, margin in cases(kind, COUNT // 4):
        snapshot = snapshot_of(case, radius)
        gap, clearance = (
            case.gap(Fraction(case.vehicle_radius) + Fraction(radius)),
            Fraction(margin),
        )
        is_free = not gap <= clearance - BLUR
        for verdict, bound in answers(case, snapshot, margin):
            assert is_free or verdict is not Verdict.FREE, (case, radius, margin)
            if not math.isnan(bound):
                assert gap >= Fraction(max(bound, -1e3)) - BLUR, (case, radius, margin)
            frees += verdict is Verdict.FREE
        # What is farther away than the rounding of the frames is free.
        if not gap <= clearance + Fraction(4e-8):
            verdict, _ = next(answers(case, snapshot, margin))
            assert verdict is Verdict.FREE, (case, radius, margin)
        if not case.time:
            judge(case, snapshot, margin, gap)
    assert frees > 5


@pytest.mark.requirement("G-9")
def test_bounds_of_composed_poses_hold_and_are_tight() -> None:
    """Each bound alone: in a verdict, the kernel's own bounds would hide some of them."""
    rng = random.Random(7)
    reach, worst = 1e12, np.zeros(3)

    def apart(found: Any, true: oracles.Point) -> float:
        return math.hypot(*(float(Fraction(p) - q) for p, q in zip(found, true, strict=True)))

    for _ in range(COUNT):
        size = 10.0 ** rng.uniform(-3.0, 7.0)
        x, y, yaw = (rng.uniform(-size, size), rng.uniform(-size, size), rng.uniform(-3.2, 3.2))
        frame, inner = Case(rng, (x, y)).frame_there(), Pose(y, x, yaw * rng.choice((1.0, 1e5)))
        row = np.array([inner])
        composed = frame.compose(row)[0]
        off = (
            apart(composed[:2], place([inner[:2]], frame)[0]),
            apart(frame.turn(row)[0, :2], place([inner[:2]], Pose(yaw=frame.yaw))[0]),
            reach * abs(float(Fraction(composed[2]) - Fraction(inner.yaw) - Fraction(frame.yaw))),
        )
        bounds = (
            frame.transform_error(row[:, :2])[0],
            frame.turn_error(row)[0],
            frame.compose_error(row, reach)[0],
        )
        assert (np.array(off) <= bounds).all()
        worst = np.maximum(worst, np.divide(off, bounds))
    assert (worst > 0.02).all(), worst


@pytest.mark.requirement("G-9")
def test_what_grows_an_obstacle_from_another_frame() -> None:
    """The rounding of its poses, and of its velocity until the horizon."""
    frame = Pose(4.5e5, 5.4e6, 0.3)
    plain = Obstacles(
        "lidar", T0, offsets=np.array([0, 1, 2]), xy=np.array([9.0, 0, 9.0, 0]), poses=np.ones(6)
    )

    def grown(at: Pose = frame, **changes: np.ndarray) -> float:
        first, second = placed_ways(replace(plain, **changes), at, "constant_velocity", 8.0)[1]
        return float(second - first if changes else second)

    path = {"path_offsets": np.array([0, 0, 2]), "path_times": np.array([1.0, 1.5])}
    pose_error = float(frame.compose_error(np.ones((1, 3)), 9.0)[0])
    assert grown() >= pose_error > 0.0
    assert grown(HERE) == 0.0
    still = np.zeros(6)
    moving = np.array([0, 0, 0, 3e3, 4e3, 0])
    assert grown(velocities=still) == 0.0
    assert grown(velocities=moving) >= 8.0 * float(frame.turn_error(moving[3:].reshape(1, 3))[0])
    assert grown(velocities=np.array([0, 0, 0, *[math.nan] * 3])) == 0.0
    assert grown(**path, path_poses=np.tile([5e7, 5e7, 1.0], 2)) > 8 * pose_error
    # A path goes on beyond its end: 2 * 8 s / 0.5 s more than the error of its poses.
    assert grown(**path, path_poses=np.ones(6)) == pytest.approx(32.0 * pose_error, rel=0.01)
    at_once = {"path_offsets": np.array([0, 0, 1]), "path_times": np.zeros(1)}
    assert grown(**at_once, path_poses=np.ones(3)) < pose_error


@pytest.mark.requirement("G-9")
def test_in_the_check_frame_nothing_is_lost() -> None:
    """Where nothing is composed, or no sum is rounded, the last digit of a gap counts."""
    for frame in (HERE, Pose(2.0**20, -(2.0**19), 0.0)):
        case = Case(random.Random(1), (0.0, 0.0), frame=frame, own=Pose(3.0, 0.0, 0.0))
        case.asked_in = frame
        for radius, right in ((2.0, Verdict.COLLISION), (math.nextafter(2.0, 0.0), Verdict.FREE)):
            snapshot = snapshot_of(case, radius)
            found = questions.check_poses(snapshot, np.array(HERE), frame=case.asked_in)
            assert found.verdict is right, (frame, radius)


@pytest.mark.requirement("G-9")
@pytest.mark.parametrize("asks", [False, True])
def test_half_turns_keep_their_direction(asks: bool) -> None:
    """Half a turn leads through the obstacle or away from it: rounding must not choose."""
    rng = random.Random(5)
    arm = [(0.0, 0.0), (8.0, 0.1), (8.0, -0.1)]
    for _ in range(COUNT // 10):
        turn = added = 1.0
        while turn * added > 0.0:  # the sums of the yaws alone would turn the other way
            yaw = rng.choice((0.0, rng.uniform(-3.0, 3.0), rng.uniform(-700.0, 700.0)))
            half = rng.choice((-1, 1)) * rng.choice((math.pi, math.nextafter(math.pi, 0.0)))
            frame = Pose(rng.uniform(-9, 9), rng.uniform(-9, 9), rng.uniform(-3.2, 3.2))
            turn = math.remainder((yaw + half) - yaw, 2 * math.pi)
            added = math.remainder((yaw + half + frame.yaw) - (yaw + frame.yaw), 2 * math.pi)
        middle = yaw + turn / 2
        ways = [Pose(0.0, 0.0, yaw), Pose(0.0, 0.0, yaw + half)]
        at = Pose(6 * math.cos(middle), 6 * math.sin(middle), 0.0)
        case = Case(rng, (0.0, 0.0), vehicle_radius=0.5)
        if asks:
            case.frame, case.own = frame, at
            snapshot = snapshot_of(replace(case, footprint=arm), 0.25)
            found = questions.check_path(snapshot, np.ravel(ways), frame=frame)
            verdict = found.verdict
        else:
            case.frame, case.own, case.path, case.ring = frame, ways[0], ways[1:], arm
            spot = np.array(at)
            ask = questions.check_poses(
                snapshot_of(case, 0.0),
                spot,
                np.array([0.5]),
                frame=frame,
            )
            verdict = ask.verdict
        assert verdict is Verdict.COLLISION, (yaw, half, frame)


@pytest.mark.requirement("G-9")
def test_half_turns_one_after_another_keep_their_direction() -> None:
    """A yaw that is changed for one turn must not change the direction of the next."""
    rng, pi = random.Random(6), math.pi
    ways = [
        [-pi, 0.0, pi], [2 * pi, pi, 0.0], [3 * pi, 2 * pi, pi, 0.0], [1 + pi, 1.0, 1 - pi],
        [5 * pi, 4 * pi, pi], [0.0, pi, 0.0, -pi, 0.0], [pi, 0.0, pi, 2 * pi, 700.0 + pi, 700.0],
    ]  # fmt: skip
    for _ in range(COUNT // 2):
        yaws = [*rng.choice(ways)]
        if rng.random() < 0.3:
            yaws = [yaw + 100.0 * rng.random() for yaw in yaws]
        if rng.random() < 0.3:
            yaws = [math.nextafter(yaw, rng.uniform(-9, 9)) for yaw in yaws]
        rows = np.array([(0.0, 0.0, yaw) for yaw in yaws])
        begins = np.arange(len(rows)) == rng.choice((0, 2))
        frame = Pose(0.0, 0.0, rng.uniform(-pi, pi))
        placed, errors = frame.compose_paths(rows, 1.0, begins)
        assert (errors < 1e-11).all()
        for i in np.flatnonzero(~begins[1:]):
            half = [Motion.path((0.0, 1.0), way[i : i + 2]).at(0.5)[2] for way in (rows, placed)]
            turns = half[0] - rows[i, 2], half[1] - placed[i, 2]
            assert turns[0] * turns[1] > 0.0, (yaws, frame, i)


@pytest.mark.requirement("G-9")
def test_poses_of_a_batch_in_another_frame_are_answered_as_alone() -> None:
    rng = random.Random(3)
    case = Case(rng, ORIGINS[1])
    request(case)
    snapshot = snapshot_of(case, 4.0)
    rows = np.array([[10.0 ** rng.uniform(-3, 6), 7.0 * i, 0.1 * i] for i in range(40)])
    rows[::3] = case.asked
    for mode in range(3):
        many = questions.check_poses(snapshot, rows.ravel(), frame=case.asked_in, mode=mode)
        for i, row in enumerate(rows):
            one = questions.check_poses(snapshot, row, frame=case.asked_in, mode=mode)
            assert one.verdicts[0] == many.verdicts[i]
            if mode:
                assert one.lower_bounds[0] == many.lower_bounds[i]


def test_the_rounding_of_each_obstacle_is_that_of_it_alone() -> None:
    """Of three with paths, one is much larger than the others."""
    frame = Pose(4.5e5, 5.4e6, 0.3)
    sizes = [1.0, 1e7, 2.0]
    triangles = np.array([[0.0, 0, size, 0, 0, size] for size in sizes])
    path = np.array([[1.0, 2.0, 0.1], [3.0, 4.0, 0.4]])

    def errors(which: list[int]) -> np.ndarray:
        n = len(which)
        data = Obstacles(
            "lidar", T0, offsets=3 * np.arange(n + 1), xy=triangles[which].ravel(),
            poses=np.ones(3 * n), path_offsets=2 * np.arange(n + 1),
            path_times=np.tile([1.0, 1.5], n), path_poses=np.tile(path.ravel(), n),
        )  # fmt: skip
        return placed_ways(data, frame, "constant_velocity", 8.0)[1]

    alone = [float(errors([i])[0]) for i in range(3)]
    assert alone[1] > 2.0 * max(alone[0], alone[2])
    assert errors([0, 1, 2]).tolist() == alone
