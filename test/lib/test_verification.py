# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The second opinion agrees with the kernel where it is right, and objects where it is not."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import cases
import certify
import numpy as np
import oracles
import pytest
import questions
from worlds import CAR, STEADY0, T0

from gjk_collision.geometry import Shape
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.inbox import Message
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.placing import Sender, placed_ways
from gjk_collision.server.data.snapshot import Snapshot, empty_snapshot
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.server.verification import verdict_error
from gjk_collision.verdict import Status, Verdict

MARGINS = (0.0, 1e-9, 0.4, 10.0)
SAID = (Verdict.FREE, Verdict.MARGIN, Verdict.COLLISION)
SQUARE = np.reshape(CAR, (-1, 2))
HERE = Pose()


def surroundings(rng: np.random.Generator, count: int) -> Obstacles:
    rings, kinds = [], []
    for i in range(count):
        n = (1, 2, 3, 7, 10)[i % 5]
        if n == 10:
            angle = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
            length = np.where(np.arange(n) % 2, 0.5, rng.uniform(1.0, 3.0, n))
            rings.append(np.column_stack([np.cos(angle), np.sin(angle)]) * length[:, None])
        else:
            rings.append(rng.uniform(-1.5, 1.5, (n, 2)))
        kinds.append(int(n == 10))
    poses = np.column_stack([rng.uniform(-15, 15, (count, 2)), rng.uniform(-4, 4, count)])
    return Obstacles(
        frame="odom", stamp=T0, ids=np.arange(count), kinds=np.array(kinds),
        offsets=np.cumsum([0, *map(len, rings)]), xy=np.concatenate(rings).ravel(),
        radius=np.where(np.arange(count) % 3, 0.0, 0.3), poses=poses.ravel(),
    )  # fmt: skip


def known(data: Obstacles, footprint: tuple[float, ...] = CAR) -> Snapshot:
    sources = (SourceConfig("obstacles", inflation=0.1),)
    world = World(Config(footprint=footprint, sources=sources))
    world.receive_obstacles("obstacles", data, now=T0, steady=STEADY0)
    found = world.snapshot(now=T0, steady=STEADY0)
    assert found.fault is None
    return found


@pytest.mark.requirement("V-11")
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("seed", range(2))
def test_both_opinions_agree(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    angle = (2.0, 0.5, -2.0, 0.5, -2.0, -2.0, -1.0, -2.0, -1.0, -0.5, 2.0, -0.5)
    snapshot = known(surroundings(rng, 25), (CAR, angle)[seed % 2])
    poses = np.column_stack([rng.uniform(-12, 12, (40, 2)), rng.uniform(-4, 4, 40)])
    if margin == 10.0:
        poses[::2, :2] += 30.0
    found = questions.check_poses(snapshot, poses.ravel(), margin=margin)
    assert {1, 2} <= set(found.verdicts.tolist())
    for row, verdict in zip(poses.tolist(), found.verdicts.tolist(), strict=True):
        judge(snapshot, Verdict(verdict), margin, Pose(*row))


def judge(snapshot: Snapshot, right: Verdict, margin: float, pose: Pose = HERE) -> None:
    """Feed every verdict: the right one is accepted, the others are objected to."""
    assert verdict_error(snapshot, pose, Verdict.UNKNOWN, margin) == ""
    for said in SAID:
        why = verdict_error(snapshot, pose, said, margin)
        if said is right:
            assert why == "", (said, margin, pose, why)
        else:
            assert "the second method found a gap of" in why, (said, margin, pose)


def standing(ring: np.ndarray, pose: Pose, kind: int, radius: float = 0.0) -> Obstacles:
    return Obstacles(
        frame="odom", stamp=T0, ids=np.array([4]), kinds=np.array([kind]),
        offsets=np.array([0, len(ring)]), xy=np.ravel(ring).astype(np.float64),
        radius=np.array([radius]), poses=np.array(pose),
    )  # fmt: skip


def seen(vehicle: Shape, data: Obstacles, frame: Pose = HERE, **config: str) -> Snapshot:
    """What is known, without a world that could refuse it; the obstacles stand in `frame`."""
    empty = empty_snapshot(Config(**config), Fault(Status.UNDEFINED, ""), T0)
    message = Message(T0, T0, data, None)
    sender = Sender.of("lidar", SourceConfig("lidar"), message, frame, empty.config)
    return replace(empty, footprint=vehicle, senders=(sender,))


BAR = np.array([[3.0, 0.25], [-3.0, 0.25], [-3.0, -0.25], [3.0, -0.25]])
WALLS = np.array(
    [[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3], [-2, -2], [-2, 2], [2, 2], [2, -2], [-2, -2]]
)
# Each has a point in common with the square from (-1, -1) to (1, 1).
MEETING = {
    "coincident": SQUARE,
    "coincident, clockwise, closed": np.concatenate([SQUARE[::-1], SQUARE[-1:]]),
    "contained": SQUARE / 4,
    "contained, touching in corners": np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]),
    "containing": 9 * SQUARE,
    "containing, touching along an edge": SQUARE * 2 + [1, 0],
    "identical edge": SQUARE + [2, 0],
    "collinear edges": SQUARE + [2, 0.5],
    "vertex on vertex": SQUARE + [2, 2],
    "vertex on edge": np.array([[1, 0], [3, -1], [3, 1]]),
    "edge on vertices": np.array([[1, -4], [3, 0], [1, 4]]),
    "edges that cross, no vertex inside": BAR,
    "half over the other, every vertex on an edge's line": SQUARE + [1, 0],
    "a needle": np.array([[5, 1e-16], [5, -1e-16], [0.5, 0]]),
    "ring around, with a whisker to the edge": np.array(
        [[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, 0.5], [-2, 0.5], [-2, 2], [2, 2], [2, -2],
         [-2, -2], [-2, 0.5], [-1, 0.5], [-3, 0.5]]
    ),
}  # fmt: skip
# Any number of points as a heap, for kind 0 only.
HEAPS = {
    "point": np.array([[0.3, 0.2]]),
    "point on an edge": np.array([[1, 0.2]]),
    "point on a vertex": np.array([[1, 1]]),
    "segment inside": np.array([[0.5, 0], [-0.5, 0]]),
    "segment through": np.array([[5, 0], [-5, 0]]),
    "segment along an edge": np.array([[5, 1], [-5, 1]]),
    "segment up to an edge": np.array([[5, 0], [1, 0]]),
    "segment on line with an edge": np.array([[5, 1], [1, 1]]),
    "points on a line": np.array([[5, 0], [3, 0], [-1, 0], [3, 0], [0.1, 0]]),
}
POSES = (Pose(), Pose(0.1, -0.7, 0.0), Pose(3.3, 1e3, 0.7), Pose(-5e5, 4e6, -2.5), Pose(yaw=7e5))


@pytest.mark.requirement("V-11")
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("name", [*MEETING, *HEAPS])
def test_what_meets_is_never_accepted_as_free_or_margin(name: str, margin: float) -> None:
    """Contacts that are exact: both stand at the same pose."""
    ring = {**MEETING, **HEAPS}[name]
    for kind in (0, 1) if name in MEETING else (0,):
        for pose in POSES:
            for vehicle in (Shape.polygon(SQUARE), Shape.concave(SQUARE).padded()):
                data = standing(ring, pose, kind)
                judge(seen(vehicle, data), Verdict.COLLISION, margin, pose)
                # The obstacle's pose, or the frame that it is in.
                data = replace(data, poses=np.empty(0))
                judge(seen(vehicle, data, pose), Verdict.COLLISION, margin, pose)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("gap", [1e-10, 3e-10, 2e-9, 0.1, 0.4, 0.5, 9.0, 11.0])
def test_gaps(gap: float, margin: float) -> None:
    far = 1.0 + gap
    gap = float(Fraction(far) - 1)
    right = Verdict.FREE if gap > margin else Verdict.MARGIN
    rings = {
        "square": np.array([[far, -1], [far + 2, -1], [far + 2, 1], [far, 1]]),
        "vertex": np.array([[far, 0], [far + 2, -1], [far + 2, 1]]),
        "u around the vehicle": np.array(
            [[-14, -14], [14, -14], [14, 14], [-14, 14], [-14, 13], [far, 13], [far, -13],
             [-14, -13]]
        ),
        "point": np.array([[far, 0.3]]),
    }  # fmt: skip
    for name, ring in rings.items():
        for pose in (Pose(), Pose(2.0, -4.0, 0.0)):
            kind = int(name.startswith("u"))
            snapshot = seen(Shape.polygon(SQUARE), standing(ring, pose, kind))
            judge(snapshot, right, margin, pose)
    # Turned, the border itself is not exact: it is left out, the rest is not.
    if gap != margin:
        for pose in (Pose(2.0, -4.0, 0.6), Pose(yaw=-3.0)):
            snapshot = seen(Shape.polygon(SQUARE), standing(rings["square"], pose, 0))
            judge(snapshot, right, margin, pose)


def test_a_hole_is_free_and_its_seam_is_not() -> None:
    """A keyhole leads from the corner of the walls to the hole."""
    hole = seen(Shape.polygon(SQUARE), standing(WALLS, Pose(), 1))
    judge(hole, Verdict.FREE, 0.4)
    judge(hole, Verdict.MARGIN, 1.0)
    seam = seen(Shape.polygon(SQUARE / 16), standing(WALLS, Pose(), 1))
    judge(seam, Verdict.COLLISION, 0.4, Pose(-2.5, -2.5, 0.0))
    judge(seam, Verdict.COLLISION, 0.4, Pose(-2.5, 2.5, 0.0))
    # As a heap of points, or under the policy `hull`, there is no hole.
    judge(seen(Shape.polygon(SQUARE), standing(WALLS, Pose(), 0)), Verdict.COLLISION, 0.4)
    hulled = seen(Shape.polygon(SQUARE), standing(WALLS, Pose(), 1), concave_policy="hull")
    judge(hulled, Verdict.COLLISION, 0.4)


@pytest.mark.parametrize("radius", [0.0, 0.3, 1e-9])
@pytest.mark.parametrize("margin", MARGINS)
def test_the_last_digit_of_a_gap_counts(margin: float, radius: float) -> None:
    vehicle = Shape.polygon(SQUARE).inflated(0.1)
    touching = 1 + Fraction(0.1) + Fraction(radius)
    for border in (touching, touching + Fraction(margin)):
        far = float(border)
        for _ in range(3):
            far = math.nextafter(far, 0.0)
        for _ in range(7):
            snapshot = seen(vehicle, standing(np.array([[far, 0.25]]), Pose(), 0, radius))
            is_hit, is_free = far <= touching, far > touching + Fraction(margin)
            said = {each: verdict_error(snapshot, Pose(), each, margin) for each in SAID}
            assert (said[Verdict.FREE] == "") == is_free
            assert not is_hit or said[Verdict.MARGIN]
            assert not is_hit or not said[Verdict.COLLISION]
            assert is_hit or margin < 1e-8 or border == touching or said[Verdict.COLLISION]
            assert is_hit or is_free or not said[Verdict.MARGIN]
            far = math.nextafter(far, math.inf)


@pytest.mark.parametrize("kind", cases.KINDS)
def test_agrees_with_the_oracle_of_convex_pairs(kind: str) -> None:
    for case in cases.some(kind, 8):
        vehicle = certify.shape(case.a)
        data = standing(np.array(case.b.points), Pose(), 0, float(case.b.radius))
        truth = oracles.signed_distance(case.a, case.b)
        size = certify.largest(case.a, case.b)
        for margin in (0.0, 1e-9 * size, 0.4, size):
            snapshot = seen(vehicle, data)
            is_free, is_hit = not truth <= margin, truth <= 0
            assert (verdict_error(snapshot, Pose(), Verdict.FREE, margin) == "") == is_free, case
            is_right = not is_hit and not is_free
            if is_right or truth.core <= 0 or not truth <= 1.001 * margin + 1e-10 * size:
                said = verdict_error(snapshot, Pose(), Verdict.MARGIN, margin)
                assert (said == "") == is_right, case
            if is_hit or not truth <= 1e-10 * size:
                said = verdict_error(snapshot, Pose(), Verdict.COLLISION, margin)
                assert (said == "") == is_hit, case


# ---- rings that are closed only up to rounding


def nearly_closed(rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
    """A ring whose last vertex is the first but for rounding; radii of discs inside, around."""
    n = int(rng.integers(5, 34))
    t = np.linspace(0.0, 2 * np.pi, n) + rng.uniform(0, 7) * int(rng.integers(0, 2))
    size = rng.choice([2.0, 0.37, 41.0])
    ring = size * np.column_stack([np.cos(t), np.sin(t)])
    return ring[:: rng.choice([-1, 1])], 0.999 * size * math.cos(math.pi / (n - 1)), 1.001 * size


def near_and_far(
    rng: np.random.Generator, inner: float, outer: float
) -> Iterator[tuple[Pose, bool]]:
    """Poses at which a disc inside a ring holds the origin, or one around it stays off by 12 m."""
    for depth in (0.0, 0.5, 0.99):
        angle = rng.uniform(0, 7)
        for radius, is_hit in ((depth * inner, True), ((outer + 12.0) / 0.99, False)):
            at = radius * math.cos(angle), radius * math.sin(angle)
            yield Pose(*at, rng.uniform(-7, 7)), is_hit


@pytest.mark.requirement("V-11")
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("seed", range(20))
def test_rings_that_are_closed_up_to_rounding(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    ring, inner, outer = nearly_closed(rng)
    tip = 0.1 * np.array([[0.0, 0.0], [1.0, 0.2], [1.0, -0.2]])  # it touches the origin
    for at, is_hit in near_and_far(rng, inner, outer):
        right = Verdict.COLLISION if is_hit else Verdict.FREE
        turned = Pose(0.0, 0.0, rng.uniform(-7, 7))
        for kind in (0, 1):
            judge(seen(Shape.polygon(tip), standing(ring, at, kind)), right, margin, turned)
        judge(seen(Shape.hull(ring), standing(tip, turned, 1)), right, margin, at)


def test_a_ring_that_the_kernel_has_called_free() -> None:
    """The two overlap by 2.278 m2."""
    t = np.linspace(0, 2 * np.pi, 17)
    ring = 2 * np.column_stack([np.cos(t), np.sin(t)])
    at = Pose(10.363215575692443, 0.7329133825426553, 1.852806687356785)
    pose = Pose(8.573901326751274, 1.8913722510108242, -1.650454797127966)
    for kind in (0, 1):
        for margin in MARGINS:
            snapshot = seen(Shape.box(4.5, 1.8), standing(ring, at, kind))
            judge(snapshot, Verdict.COLLISION, margin, pose)


# ---- verdicts of the kernel at the border


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("seed", range(4))
def test_right_verdicts_at_the_border_are_accepted(seed: int, margin: float) -> None:
    """Between a pose that is free and one that is not, down to neighbouring doubles."""
    rng = np.random.default_rng(seed)
    snapshot = known(surroundings(rng, 25))
    for _ in range(4):
        yaw = 0.0 if rng.uniform() < 0.3 else rng.uniform(-4, 4)
        y = rng.uniform(-10.0, 10.0)
        free, hit = 60.0, rng.uniform(-10.0, 10.0)

        def said(x: float, y: float = y, yaw: float = yaw) -> Verdict:
            return questions.collide(snapshot, Pose(x, y, yaw), margin).verdict

        while (middle := (free + hit) / 2) not in (free, hit):
            if said(middle) is Verdict.FREE:
                free = middle
            else:
                hit = middle
        for x in (free, hit):
            assert verdict_error(snapshot, Pose(x, y, yaw), said(x), margin) == "", (x, y, yaw)


def test_a_disc_that_touches_a_point() -> None:
    """At a distance of 5 m, which is the root of 3 m squared and 4 m squared."""
    disc = standing(np.array([[3.0, 4.0]]), Pose(), 0, radius=5.0)
    judge(seen(Shape.point((0.0, 0.0)), disc), Verdict.COLLISION, 0.0)


def test_nothing_around() -> None:
    empty = Obstacles(frame="odom", stamp=T0)
    assert verdict_error(known(empty), Pose(), Verdict.FREE, 0.0) == ""
    assert verdict_error(known(empty), Pose(), Verdict.COLLISION, 0.0) != ""


def test_a_sender_without_obstacles_does_not_hide_the_next_one() -> None:
    sources = SourceConfig("lidar"), SourceConfig("radar")
    world = World(Config(footprint=CAR, sources=sources))
    nothing = Obstacles(frame="odom", stamp=T0)
    world.receive_obstacles("lidar", nothing, now=T0, steady=STEADY0)
    world.receive_obstacles("radar", standing(SQUARE, Pose(), 0), now=T0, steady=STEADY0)
    judge(world.snapshot(now=T0, steady=STEADY0), Verdict.COLLISION, 0.0)


def test_the_hull_of_the_smallest_triangle_has_all_its_corners() -> None:
    """Its corners are neighbours on the grid of the computation."""
    ring = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    snapshot = seen(Shape.polygon(SQUARE), standing(ring, Pose(), 0))
    for x, y in ((-1.0, -1.0), (2.0, -1.0), (-1.0, 2.0)):
        judge(snapshot, Verdict.COLLISION, 0.0, Pose(x, y, 0.0))
        judge(snapshot, Verdict.FREE, 0.0, Pose(1.5 * x, 1.5 * y, 0.0))


@pytest.mark.requirement("V-11")
@pytest.mark.parametrize("margin", MARGINS)
def test_contacts_within_the_intervals_of_turns_are_not_free(margin: float) -> None:
    """Both are turned by the same angle, one in two turns: the contact is exact."""
    vehicle = Shape.polygon(SQUARE)
    for a, b in ((0.5, 0.25), (1.0, -3.5), (2.0, 2.0**-50), (-0.75, 0.625), (5.0, 0.125)):
        for shift in ([2.0, 0.0], [2.0, 2.0], [0.5, -2.0]):
            snapshot = seen(vehicle, standing(SQUARE + shift, Pose(yaw=a + b), 0))
            asked = Pose(yaw=b), margin, Pose(yaw=a)
            for said in SAID:
                why = verdict_error(snapshot, asked[0], said, *asked[1:])
                assert (why == "") == (said is Verdict.COLLISION), (a, b, shift, said)


@pytest.mark.parametrize("place", [(2e6, 0.0), (-2e6, 0.0), (0.0, 2e6), (0.0, -2e6)])
def test_an_exact_contact_far_away_is_not_free(place: tuple[float, float]) -> None:
    """The boxes are rounded there; the bound of this error has the size of both coordinates."""
    for a, b in itertools.product((0.5, 1.0, -0.75, 2.5), (0.0, 0.25, -3.5)):
        frame = Pose(*place, a)
        for shift in ([2.0, 0.0], [2.0, 2.0], [0.5, -2.0]):
            obstacle = standing(SQUARE + shift, Pose(yaw=b), 0)
            snapshot = seen(Shape.polygon(SQUARE), obstacle, frame)
            for said in SAID:
                why = verdict_error(snapshot, Pose(yaw=b), said, 0.0, frame)
                assert (why == "") == (said is Verdict.COLLISION), (a, b, shift, said)


def test_a_collision_may_be_as_early_as_what_is_predicted_is_uncertain() -> None:
    """A path of 0.1 ms goes on for 5 s: the rounding of its poses grows by 100 000."""
    data = replace(
        standing(SQUARE, Pose(9.0, 0.0, 0.0), 0),
        path_offsets=np.array([0, 1]),
        path_times=np.array([1e-4]),
        path_poses=np.array([9.0, 0.0, 0.0]),
    )
    frame = Pose(4.5e5, 5.4e6, 0.3)
    snapshot = seen(Shape.polygon(SQUARE), data, frame, prediction_policy="constant_velocity")
    error = float(placed_ways(data, frame, snapshot.config)[1][0])
    assert 1e-5 < error < 1e-3
    for gap, is_right in ((0.5 * error, True), (2.0 * error, False), (1e-2, False)):
        why = verdict_error(snapshot, Pose(7.0 - gap, 0.0, 0.0), Verdict.COLLISION, 0.0, frame)
        assert (why == "") == is_right, gap
