# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Times to collision, against dense samples with shapely's distances.

The samples integrate the twists in small steps of the midpoint rule, which shares no formula with
the kernel.
"""

import os

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from samples import convex, outlines

from gjk_collision import InputError, Path, Scene, Shape, Status, Verdict

CASES = int(os.environ.get("GJK_CASES", "400"))
TOLERANCE = 0.005
HORIZON = 4.0
STEPS = 400
CAR = Shape.box(4.0, 2.0)

Floats = NDArray[np.float64]


def integrate(pose: Floats, twist: Floats) -> Floats:
    """Return the poses (..., STEPS + 1, 3) of bodies that keep their twists (vx, vy, wz)."""
    dt = HORIZON / STEPS
    yaw = pose[..., None, 2] + twist[..., None, 2] * dt * np.arange(STEPS + 1)
    mean = 0.5 * (yaw[..., :-1] + yaw[..., 1:])
    vx, vy = twist[..., None, 0], twist[..., None, 1]
    x = np.cumsum(vx * np.cos(mean) - vy * np.sin(mean), axis=-1) * dt
    y = np.cumsum(vx * np.sin(mean) + vy * np.cos(mean), axis=-1) * dt
    start = np.zeros((*pose.shape[:-1], 1))
    x, y = np.concatenate([start, x], -1), np.concatenate([start, y], -1)
    return np.stack([pose[..., None, 0] + x, pose[..., None, 1] + y, yaw], axis=-1)


@pytest.mark.requirement("V-18")
def test_twists_against_dense_samples() -> None:
    rng = np.random.default_rng(21)
    group = 100
    hits = 0
    for _ in range(-(-CASES // group)):
        stamp = float(rng.choice([0.0, 1.8e9]))
        now = stamp + float(rng.uniform(0, 2))
        ego = convex(rng) + rng.normal(size=2)
        count = int(rng.integers(1, 5))
        others = [convex(rng) + rng.normal(size=2) for _ in range(count)]
        placed = rng.normal(size=(count, 3)) * [10, 10, 3]
        world = rng.normal(size=(count, 3)) * rng.choice([0, 1, 4], (count, 1)) * [1, 1, 0.5]
        shapes, stamps = [Shape.polygon(o) for o in others], np.full(count, stamp)
        scene = Scene(shapes, placed, velocities=world, stamps=stamps)
        poses = rng.normal(size=(group, 3)) * [8, 8, 3]
        twists = rng.normal(size=(group, 3)) * rng.choice([0, 1, 5], (group, 1)) * [1, 0.3, 0.4]
        found = scene.time_to_collision(
            Shape.polygon(ego), poses, twists, now, horizon=HORIZON, tolerance=TOLERANCE
        )
        there = integrate(poses, twists)
        least = np.full(there.shape[:-1], np.inf)
        speed = np.linalg.norm(twists, axis=1) * (1 + np.abs(ego).max())
        fastest = 0.0
        for outline, begin, velocity in zip(others, placed, world, strict=True):
            at = begin + (now - stamp) * velocity
            cos, sin = np.cos(at[2]), np.sin(at[2])
            vx, vy, wz = velocity
            own = np.array([cos * vx + sin * vy, cos * vy - sin * vx, wz])
            ways = np.broadcast_to(integrate(at, own), there.shape)
            gaps = shapely.distance(outlines(ego, there), outlines(outline, ways))
            least = np.minimum(least, gaps)
            fastest = max(fastest, float(np.linalg.norm(velocity)) * (1 + np.abs(outline).max()))
        between = (speed + fastest) * HORIZON / STEPS  # m, motion from a sample to the next
        accuracy = 1e-4  # m, of the midpoint rule and of times of 1.8e9 s
        touches = least <= 0.0
        first = np.where(touches.any(axis=1), touches.argmax(axis=1), STEPS + 1) * HORIZON / STEPS
        is_hit = found.verdicts == Verdict.COLLISION
        certain = (least <= -accuracy).any(axis=1) | ((least[:, 1:-1] == 0).sum(axis=1) > 2)
        assert set(found.verdicts) <= {Verdict.COLLISION, Verdict.FREE}
        assert is_hit[certain].all(), "falsely free"
        assert (np.isinf(found.times) == ~is_hit).all()
        late = found.times[is_hit] - first[is_hit]
        assert (late <= 1e-3).all(), "late"
        # At the time of a hit, the shapes are within the tolerance.
        step = found.times[is_hit] / HORIZON * STEPS
        below = least[is_hit, np.floor(step).astype(int)]
        assert (below <= TOLERANCE + between[is_hit] + accuracy).all(), "early"
        hits += int(is_hit.sum())
    assert 0.1 * CASES < hits < 0.9 * CASES, "both answers occur"


def test_head_on_and_behind() -> None:
    scene = Scene([CAR] * 2, [(30, 0, np.pi), (-50, 0, 0)], velocities=[(-6, 0, 0), (10, 0, 0)])
    found = scene.time_to_collision(CAR, (0, 0, 0), (7, 0, 0), 0.0)
    assert found.verdicts == Verdict.COLLISION
    assert found.times == pytest.approx(26.0 / 13.0, abs=0.001)
    assert found.times <= 26.0 / 13.0
    assert found.ids == 0
    slow = scene.time_to_collision(CAR, (0, 50, 0), (7, 0, 0), 0.0)
    assert slow.verdicts == Verdict.FREE
    assert slow.times == np.inf
    touching = scene.time_to_collision(CAR, (28, 1, 0), (0, 0, 0), 0.0)
    assert touching.times == 0.0


def test_twists_of_a_trajectory() -> None:
    """The twists from pose to pose are those with which an arc was driven."""
    arcs = [(0.2, 4.0), (-0.1, 5.0), (0.0, 3.0), (0.3, -2.0)]
    poses = Path.arcs((3, 2, 1), arcs).poses
    times = np.array([0.0, 1.0, 3.0, 4.0, 5.0])
    scene = Scene([Shape.box(1, 1)], [(12, 9, 0)], velocities=[(-0.5, 0.1, 0.2)], horizon=9)
    found = scene.time_to_collision(CAR, np.stack([poses, poses]), None, times)
    twists = [(s / d, 0.0, k * s / d) for (k, s), d in zip(arcs, np.diff(times), strict=True)]
    expected = scene.time_to_collision(CAR, poses, [*twists, twists[-1]], times)
    np.testing.assert_allclose(found.times, np.stack([expected.times] * 2), atol=1e-9)
    assert found.ids.shape == (2, 5)


NO_VELOCITY = Scene([CAR], [(30, 0, 0)], velocities=[(np.nan,) * 3])
TOUCHING = Scene([CAR], [(3, 0, 0)], velocities=[(np.nan,) * 3])
ONE_UNKNOWN = Scene([CAR] * 2, [(30, 0, 0), (0, 40, 0)], velocities=[(0, 0, 0), (np.nan,) * 3])
PATH = Scene([CAR], [(30, 0, 0)], paths=[([1.0], [(31, 0, 0)])])


@pytest.mark.requirement("V-18")
@pytest.mark.parametrize(
    ("scene", "time"),
    [(NO_VELOCITY, 0.0), (NO_VELOCITY, 1.0), (TOUCHING, 0.0), (ONE_UNKNOWN, 0.0), (PATH, 1.1)],
)
def test_unknown_motion_is_unknown(scene: Scene, time: float) -> None:
    """At the stamp of NO_VELOCITY and TOUCHING, the pose is known, but the velocity is not."""
    found = scene.time_to_collision(CAR, (0, 0, 0), (0, 0, 0), time)
    assert found.verdicts == Verdict.UNKNOWN
    assert found.statuses == Status.PREDICTION_TOO_SHORT
    assert np.isnan(found.times)
    assert found.ids >= 0


def test_velocity_of_a_path() -> None:
    """At its last time, an obstacle keeps the velocity with which it came."""
    for time, expected in ((0.0, 27.0), (0.5, 26.5), (1.0, 26.0)):
        scene = Scene([CAR], [(31, 0, 0)], paths=[([1.0], [(30, 0, 0)])])
        found = scene.time_to_collision(CAR, (0, 0, 0), (0, 0, 0), time, horizon=50.0)
        assert found.times == pytest.approx(expected, abs=0.01)


@pytest.mark.requirement("V-18")
@pytest.mark.parametrize("time", [0.991, 0.995, 1.0, 1.005])
def test_near_a_change_of_velocity_every_possible_one_counts(time: float) -> None:
    """The obstacle stands until 1 s; the error of the times is 0.01 s."""
    circle = Shape.circle(1.0)
    # It goes at 10 m/s after 1 s; or it comes so, and then stands.
    for ends, latest in (([(30, 0, 0), (-70, 0, 0)], 2.8), ([(20, 0, 0)] * 2, 2.0)):
        path = [1.0, 11.0], ends
        scene = Scene([circle], [(30, 0, 0)], paths=[path], time_error=0.01, horizon=20.0)
        found = scene.time_to_collision(circle, (0, 0, 0), (0, 0, 0), time, tolerance=2.0)
        assert found.times <= latest
    before = scene.time_to_collision(circle, (0, 0, 0), (0, 0, 0), 1.5)
    assert before.times == np.inf


def test_the_error_of_a_rate_of_turn_counts() -> None:
    """Whole turns are subtracted from the yaws of the path, which rounds the rate of turn."""
    bar = Shape.hull([(0.0, -0.01), (20.0, -0.01), (20.0, 0.01), (0.0, 0.01)])
    yaws, duration = (-635043.0, 635040.0), 1.1e-6
    scene = Scene([bar], [(0, 0, yaws[0])], paths=[([duration], [(0, 0, yaws[1])])], horizon=1.0)
    real = np.longdouble  # a double is off by 1e-10 rad after 1e5 whole turns
    whole = 8 * np.arctan(real(1))
    turn = real(yaws[1]) - real(yaws[0])
    turn -= whole * np.rint(turn / whole)
    rate = turn / real(duration)
    yaw = real(yaws[0]) - whole * np.rint(real(yaws[0]) / whole) + np.sign(rate) / 2
    point = (float(19 * np.cos(yaw)), float(19 * np.sin(yaw)), 0.0)
    expected = float(real(0.5) / abs(rate))
    found = scene.time_to_collision(Shape.point((0.0, 0.0)), point, (0, 0, 0), 0.0, horizon=100.0)
    assert found.verdicts == Verdict.UNKNOWN or found.times <= expected


def test_an_obstacle_of_unknown_motion() -> None:
    circle = Shape.circle(1.0)
    for x, verdict, number in ((1.5, Verdict.COLLISION, 7), (10.0, Verdict.UNKNOWN, 8)):
        places, velocities = [(x, 0, 0), (1000, 500, 0)], [(-1, 0, 0), (np.nan,) * 3]
        scene = Scene([circle] * 2, places, ids=[7, 8], velocities=velocities)
        found = scene.time_to_collision(circle, (0, 0, 0), (0, 0, 0), 0.0)
        assert (found.verdicts, found.ids) == (verdict, number)


def test_no_obstacles() -> None:
    found = Scene([]).time_to_collision(CAR, np.zeros((2, 3)), (9, 0, 1), 0.0)
    assert (found.times == np.inf).all()
    assert (found.ids == -1).all()


def test_shapes_and_threads() -> None:
    rng = np.random.default_rng(22)
    scene = Scene([CAR] * 40, rng.normal(size=(40, 3)) * 25, velocities=rng.normal(size=(40, 3)))
    poses, twists = rng.normal(size=(2, 30, 6, 3)) * [[[[20, 20, 3]]], [[[4, 0, 0.2]]]]
    times = np.linspace(0, 2, 6)
    found = scene.time_to_collision(CAR, poses, twists, times)
    again = scene.time_to_collision(CAR, poses, twists, times, threads=3)
    assert found.times.shape == found.verdicts.shape == (30, 6)
    np.testing.assert_array_equal(found.times, again.times)
    for i, j in np.ndindex(30, 6):
        alone = scene.time_to_collision(CAR, poses[i, j], twists[i, j], times[j])
        assert alone.times == found.times[i, j]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"twists": (1, 2)}, "twists: must have shape (2, 3) or (3,)"),
        ({"twists": None, "poses": np.zeros(3), "times": 0.0}, "twists: must be given"),
        ({"twists": None, "times": 0.0}, "times: must be given for each pose"),
        ({"twists": None, "times": [0, np.nan]}, "times[1]: must be finite"),
        ({"twists": None, "times": [1, 1]}, "times[1]: must increase strictly"),
        ({"twists": None, "poses": np.full((2, 3), np.inf)}, "poses[0]: x, y and yaw"),
        ({"twists": (np.nan, 0, 0)}, "twists: vx, vy and wz must be finite"),
        ({"twists": [(0, 0, 0), (0, 0, 1e6)]}, "twists[1]: must not move by more than"),
        ({"times": [1.0, np.inf]}, "times[1]: must be finite"),
        ({"times": [1.0]}, "times: must have shape (2,)"),
        ({"horizon": 0.0}, "horizon: must be greater than 0"),
        ({"tolerance": -1.0}, "tolerance: must be greater than 0"),
    ],
)
def test_refusals(how: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"poses": np.zeros((2, 3)), "twists": (1, 0, 0), "times": [0, 1]}
    with pytest.raises(InputError) as caught:
        Scene([CAR], prediction="hold").time_to_collision(CAR, **{**given, **how})  # type: ignore[arg-type]
    assert message in str(caught.value)
