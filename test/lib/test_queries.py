# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests are bounded and checked; batches, chunks and pairs agree with single questions."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
import questions
from questions import check_shapes
from worlds import CAR, STANDING, STILL, shapes, snapshot

from gjk_collision import _core
from gjk_collision.errors import InputError
from gjk_collision.geometry import Shape
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot, empty_snapshot
from gjk_collision.server.data.world import World
from gjk_collision.server.frames import lookup
from gjk_collision.server.frames.poses import FrameError, Pose, SameFrameOnly, planar
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Status, Verdict

# ---- check_poses


def test_too_many_poses_are_refused_before_they_are_placed() -> None:
    far = np.full(33, 1e300)  # could not be placed
    for ask in (questions.check_poses, questions.check_path):
        with pytest.raises(InputError, match="limit 10"):
            ask(snapshot((0, 0), max_poses=10), far, frame=Pose(1.0, 2.0, 0.3))


@pytest.mark.requirement("V-6")
def test_stop_at_first_leaves_the_rest_unknown() -> None:
    poses = np.array([50.0, 0, 0, 2.2, 0, 0, 50, 0, 0])
    found = questions.check_poses(snapshot((0, 0)), poses, margin=0.5, stop_at_first=True)
    assert found.verdicts.tolist() == [Verdict.FREE, Verdict.MARGIN, Verdict.UNKNOWN]
    assert found.statuses.tolist() == [Status.SUCCESS, Status.SUCCESS, Status.UNDEFINED]
    assert found.verdict is Verdict.MARGIN
    assert found.first_invalid_index == 1


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_stop_at_the_last_pose_of_a_chunk(margin: float) -> None:
    """The rest is left out, not late."""
    poses = np.tile([50.0, 0, 0], 2 * _core.FIRST_POSES)
    poses[3 * (_core.FIRST_POSES - 1)] = 2.0 + 0.5 * margin
    found = questions.check_poses(
        snapshot((0, 0)),
        poses,
        margin=margin,
        stop_at_first=True,
        budget=_core.Budget(lambda: False),
    )
    expected = Verdict.MARGIN if margin else Verdict.COLLISION
    assert (found.verdict, found.status) == (expected, Status.SUCCESS)
    assert found.first_invalid_index == _core.FIRST_POSES - 1
    assert set(found.statuses[_core.FIRST_POSES :]) == {Status.UNDEFINED}


def test_collision_found_in_time_stands_past_the_time_budget() -> None:
    poses = np.tile([0.0, 0, 0], 1000)
    found = questions.check_poses(snapshot((0, 0)), poses, budget=_core.Budget(lambda: True))
    assert found.verdict is Verdict.COLLISION
    assert not found.is_free


def test_times_meet_the_obstacles_where_they_are_then() -> None:
    """Seconds after the request's stamp, on the clock of each obstacle's own."""
    coming = shapes((20, 0), velocities=np.array([-2.0, 0, 0]))
    poses, times = np.zeros(9), np.array([0.0, 8.9, 9.1])
    known = snapshot(data=coming, prediction_horizon=20.0)
    found = questions.check_poses(known, poses, times)
    assert found.verdicts.tolist() == [Verdict.FREE, Verdict.FREE, Verdict.COLLISION]
    later = questions.check_poses(known, poses, times - 1.0, stamp=10**9)
    assert later.verdicts.tolist() == found.verdicts.tolist()
    beyond = questions.check_poses(snapshot(data=coming), poses, times)
    assert beyond.statuses.tolist()[1:] == [Status.PREDICTION_TOO_SHORT] * 2
    path = {
        "path_offsets": np.array([0, 2]),
        "path_times": np.array([0.0, 4.0]),
        "path_poses": np.array([0.0, 0, 0, -20, 0, 0]),
    }
    followed = snapshot(data=shapes((20, 0), **path))
    verdicts = questions.check_poses(followed, poses, np.array([3.5, 3.7, 4.5])).verdicts
    assert verdicts.tolist() == [Verdict.FREE, Verdict.COLLISION, Verdict.UNKNOWN]


@pytest.mark.requirement("V-12")
@pytest.mark.parametrize("name", STANDING)
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_past_the_horizon_nothing_is_known(name: str, mode: int) -> None:
    """Not where an obstacle is that stands, and not whether another one has come."""
    known = STANDING[name]()
    poses, times = np.tile([50.0, 0, 0], 4), np.array([4.9, 5.1, 0.0, 60.0])
    for later in (0, 2):  # the request's stamp [s]
        found = questions.check_poses(known, poses, times - later, stamp=later * 10**9, mode=mode)
        assert found.verdicts.tolist() == [1, 0, 1, 0]
        short = Status.PREDICTION_TOO_SHORT
        assert found.statuses.tolist() == [1, short, 1, short]
        assert (found.verdict, found.status) == (Verdict.UNKNOWN, short)
        assert found.first_invalid_index == 1
        for each in (found.distances, found.lower_bounds, found.witnesses):
            assert not len(each) or np.isnan(each[[1, 3]]).all()
        assert found.nearest_ids[[1, 3]].tolist() == [-1, -1]
    first = questions.check_poses(known, poses, times, stop_at_first=True, mode=mode)
    assert first.statuses.tolist() == [1, short, 0, 0]
    assert questions.check_poses(known, poses, mode=mode).is_free  # without times they stand


@pytest.mark.requirement("V-12")
def test_the_horizon_begins_at_the_oldest_data_in_use() -> None:
    sources = (SourceConfig("lidar", timeout=10.0), SourceConfig("radar", timeout=10.0))
    world = World(Config(footprint=CAR, sources=sources))
    lidar = shapes((0, 0), velocities=STILL, stamp=7 * 10**9)
    world.receive_obstacles("lidar", lidar, now=8 * 10**9, steady=0)
    radar = shapes((9, 0), velocities=STILL, stamp=8 * 10**9)
    world.receive_obstacles("radar", radar, now=8 * 10**9, steady=0)
    known = world.snapshot(now=8 * 10**9, steady=0)
    found = questions.check_poses(known, np.tile([50.0, 0, 0], 2), np.array([3.99, 4.01]))
    assert found.verdicts.tolist() == [Verdict.FREE, Verdict.UNKNOWN]


@pytest.mark.requirement("V-13")
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize(
    "known",
    [
        lambda: empty_snapshot(Config(), Fault(Status.NOT_ACTIVE, ""), 0),
        lambda: snapshot((0, 0)).invalidated(Fault(Status.STALE_OBSTACLES, "old")),
        lambda: replace(snapshot((0, 0)), fault=Fault(Status.STALE_OBSTACLES, "old")),
        lambda: snapshot((0, 0)),  # its motion is not known
    ],
)
def test_poses_without_an_answer_have_the_none_of_each_field(
    known: Callable[[], Snapshot], mode: int
) -> None:
    """One entry per pose of all that the mode asks for; nothing reads as an answer."""
    found = questions.check_poses(known(), np.tile([50.0, 0, 0], 3), np.full(3, 1.0), mode=mode)
    assert found.nearest_id == -1
    assert found.verdicts.tolist() == [Verdict.UNKNOWN] * 3
    assert (found.verdicts.dtype, found.statuses.dtype) == (np.uint8, np.uint16)
    assert Status.SUCCESS not in found.statuses
    assert len(found.nearest_ids) == 3
    assert found.first_invalid_index == 0
    for values, shape, least in (
        (found.distances, (3,), 1),
        (found.lower_bounds, (3,), 1),
        (found.witnesses, (3, 4), 2),
    ):
        assert values.shape == (shape if mode >= least else (0, *shape[1:]))
        assert np.isnan(values).all()


# ---- distance and state


def test_distances_ascend_and_are_signed() -> None:
    known = snapshot((0, 0), (10, 0), (5, 0))
    found = questions.distance(known, Pose(0.5, 0, 0), k=5)
    assert found.ids.tolist() == [0, 2, 1]
    assert found.distances == pytest.approx([-1.5, 2.5, 7.5])
    assert found.directions == pytest.approx(np.array([[-1, 0], [1, 0], [1, 0]]))
    assert (found.lower_bounds <= found.distances).all()
    assert questions.distance(known, Pose(0.5, 0, 0), k=0).ids.tolist() == [0]
    assert questions.distance(known, Pose(0.5, 0, 0), k=4_000_000_000).ids.tolist() == [0, 2, 1]
    assert questions.distance(known, Pose(0.5, 0, 0), 5, 3.0).ids.tolist() == [0, 2]


@pytest.mark.parametrize("seed", range(20))
def test_distance_says_what_check_says(seed: int) -> None:
    """Verdict, nearest obstacle, distance and bound of `Scene.check`, at the margin too."""
    rng = np.random.default_rng(seed)
    centres = [(x, y) for x, y in rng.integers(-12, 13, (int(rng.integers(1, 9)), 2)).tolist()]
    x, y, yaw = float(rng.integers(-3, 4)), float(rng.integers(-3, 4)), rng.choice([0.0, 0.7])
    near = snapshot(*centres).scene.nearest(Shape.polygon(np.reshape(CAR, (-1, 2))), (x, y, yaw))
    gap = min(max(float(near.distances[0]), 0.1), 2.5)
    for margin in (0.0, gap, np.nextafter(gap, 0.0), np.nextafter(gap, 9.0), 0.5 * gap, 2.0 * gap):
        known = snapshot(*centres, safety_margin=float(margin))
        wanted = known.scene.check(known.footprint, [(x, y, yaw)], margin=margin, mode="distance")
        for reach in (0.0, 0.5 * gap, 2.0 * gap):
            found = questions.distance(known, Pose(x, y, yaw), len(centres), reach)
            assert found.verdict is wanted.verdict, (centres, x, y, yaw, margin)
            assert found.status == wanted.statuses[0]
            assert found.nearest_id == wanted.ids[0]
            if len(found.ids):
                assert found.ids[0] == wanted.ids[0]
                assert found.distances[0] == pytest.approx(wanted.distances[0], abs=1e-12)
                assert found.lower_bounds[0] >= wanted.lower_bounds[0] - 1e-12


def test_distance_among_nothing() -> None:
    known = snapshot(data=Obstacles(frame="odom", stamp=0))
    found = questions.distance(known, Pose())
    assert found.is_free
    assert not len(found.ids)
    assert questions.state(known, Pose(), None).distance == inf


def test_state_says_where_the_nearest_obstacle_is() -> None:
    found = questions.state(snapshot((0, 0), (10, 0)), Pose(6.0, 0.0, 0.0), None)
    assert found.is_free
    assert (found.nearest_id, found.nearest_source) == (1, "obstacles")
    assert found.distance == pytest.approx(2.0)
    assert found.direction == pytest.approx((1.0, 0.0))
    assert found.witness_obstacle[0] - found.witness_ego[0] == pytest.approx(2.0)


def test_state_without_an_ego_pose_is_unknown() -> None:
    fault = Fault(Status.TF_UNAVAILABLE, "no")
    found = questions.state(snapshot((0, 0)), fault, None)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, fault.status)


# ---- frames


def test_frame_of_a_request() -> None:
    config, none = Config(), SameFrameOnly()
    assert lookup.frame_pose(config, none, "odom", 0, 0) == Pose()
    for frame, status in (("", Status.UNKNOWN_FRAME), ("map", Status.TF_UNAVAILABLE)):
        with pytest.raises(FrameError) as caught:
            lookup.frame_pose(config, none, frame, 0, 0)
        assert caught.value.status is status
    with pytest.raises(FrameError):
        lookup.ego_pose(config, none, 0)
    assert lookup.ego_pose(Config(base_frame="odom"), none, 0) == Pose()


def test_a_pose_too_far_away_in_its_frame_is_refused() -> None:
    """The rounding of its place in the check frame would be greater than any obstacle."""
    known, frame = snapshot((0, 0)), Pose(1.0, 2.0, 0.3)
    poses = np.array([50.0, 0, 0, 50.0, 0, 0, 1e300, 0, 0])
    asked: list[tuple[Callable[[], Any], str]] = [
        (lambda: questions.collide(known, Pose(1e300, 0, 0), frame=frame), "poses[0]"),
        (lambda: questions.distance(known, Pose(1e300, 0, 0), frame=frame), "poses[0]"),
        (lambda: questions.check_poses(known, poses, frame=frame), "poses[6]"),
        (lambda: questions.check_path(known, poses, frame=frame), "poses[6]"),
    ]
    for ask, where in asked:
        with pytest.raises(InputError) as caught:
            ask()
        assert caught.value.status is Status.COORD_RANGE
        rule = "the pose is too far from the origin of its frame"
        assert str(caught.value).startswith(f"{where}: {rule}")


@pytest.mark.requirement("D-10")
def test_static_pose_is_of_every_time() -> None:
    """Only what moves grows old."""
    config, tree, now = Config(), TransformTree(), 1_800_000_000 * 10**9
    tree.insert("odom", "dock", 0, Placement((3.0, 4.0, 0.0)), static=True)
    tree.insert("dock", "base_link", now, Placement((1.0, 0.0, 0.0)), static=True)
    assert lookup.ego_pose(config, tree, now + 10**18) == Pose(4.0, 4.0, 0.0)
    assert lookup.frame_pose(config, tree, "dock", 0, now) == Pose(3.0, 4.0, 0.0)
    tree.insert("dock", "base_link", now, Placement((2.0, 0.0, 0.0)), static=False)
    assert lookup.ego_pose(config, tree, now + 10**8) == Pose(5.0, 4.0, 0.0)
    with pytest.raises(FrameError) as caught:
        lookup.ego_pose(config, tree, now + 10**8 + 1)
    assert caught.value.status is Status.TF_EXTRAPOLATION


@pytest.mark.requirement("D-10")
def test_localiser_that_stamps_ahead() -> None:
    """The pose at the present time, interpolated; neither a future one nor an extrapolated one."""
    config, tree = Config(), TransformTree()
    second, now = 10**9, 1_800_000_000 * 10**9
    for t in range(5):  # metre t holds at second t
        tree.insert("map", "odom", now + t * second, Placement((float(t), 0, 0)), static=False)
    for half in (0, 1, 7, 8):
        at = now + half * second // 2
        assert lookup.frame_pose(config, tree, "map", 0, at).x == pytest.approx(-0.5 * half)
    assert lookup.frame_pose(config, tree, "map", 0, now + 4 * second + 10**8).x == -4.0
    for at in (now - 1, now + 4 * second + 10**8 + 1):
        with pytest.raises(FrameError) as caught:
            lookup.frame_pose(config, tree, "map", 0, at)
        assert caught.value.status is Status.TF_EXTRAPOLATION
    # The vehicle by odometry that comes late, below the localiser: the oldest part counts.
    config = Config(check_frame="map")
    tree.insert("odom", "base_link", now, Placement((10.0, 0.0, 0.0)), static=False)
    tree.insert("odom", "base_link", now + second, Placement((20.0, 0, 0)), static=False)
    assert lookup.ego_pose(config, tree, now + second + 10**8) == Pose(21.0, 0.0, 0.0)
    assert lookup.ego_pose(config, tree, now + second // 2).x == pytest.approx(15.5)


@pytest.mark.parametrize(
    ("quaternion", "status"),
    [
        ((0.0, 0.0, 0.0, 0.0), Status.INVALID_INPUT),
        ((0.0, 0.0, 0.0, 1.1), Status.INVALID_INPUT),
        ((0.0, 0.0, nan, 1.0), Status.NON_FINITE),
        ((0.5, -0.5, 0.5, -0.5), Status.INVALID_INPUT),  # an optical frame
        ((1.0, 0.0, 0.0, 0.0), Status.INVALID_INPUT),  # upside down
    ],
)
def test_pose_that_is_none_of_the_plane_is_refused(quaternion: Any, status: Status) -> None:
    with pytest.raises(InputError) as caught:
        planar(0.0, 0.0, quaternion)
    assert caught.value.status is status


# ---- check_shapes


def pairs_of(*ij: int) -> Any:
    return np.array(ij, dtype=np.uint32)


def test_pairs_of_shapes() -> None:
    a, b = shapes((0, 0), (10, 0)), shapes((1, 0), (13, 0), (30, 0))
    found = check_shapes(Config(), a, b, pairs_of(), mode=2, margin=1.5)
    assert found.verdicts.tolist() == [2, 1, 1, 1, 3, 1]
    assert found.distances == pytest.approx([-1, 11, 28, 7, 1, 18])
    assert found.lower_bounds == pytest.approx(found.distances)
    assert (found.lower_bounds <= found.distances).all()
    assert found.directions[4] == pytest.approx([1, 0])
    assert found.witnesses[4][[0, 2]] == pytest.approx([11, 12])
    assert found.verdict is Verdict.COLLISION
    some = check_shapes(Config(), a, b, pairs_of(1, 1, 0, 2), mode=1, margin=1.5)
    assert some.verdicts.tolist() == [3, 1]
    assert some.verdict is Verdict.MARGIN
    assert not len(some.witnesses)


def test_pairs_with_poses_radii_and_concave_outlines() -> None:
    u = np.array([0, 0, 4, 0, 4, 4, 3, 4, 3, 1, 1, 1, 1, 4, 0, 4.0])
    cup = Obstacles("", 0, kinds=np.array([1]), offsets=np.array([0, 8]), xy=u)
    ball = Obstacles(
        "", 0, offsets=np.array([0, 1]), xy=np.zeros(2),
        radius=np.array([0.5]), poses=np.array([2.0, 2.5, 0.3]),
    )  # fmt: skip
    found = check_shapes(Config(), cup, ball, pairs_of(), mode=1)
    assert found.verdicts.tolist() == [Verdict.FREE]
    assert found.distances == pytest.approx([0.5])
    hulled = check_shapes(Config(concave_policy="hull"), cup, ball, pairs_of())
    assert hulled.verdicts.tolist() == [Verdict.COLLISION]
    with pytest.raises(InputError) as caught:
        check_shapes(Config(concave_policy="reject"), cup, ball, pairs_of())
    assert caught.value.status is Status.CONCAVE_REJECTED


@pytest.mark.parametrize("is_late", [None, lambda: False])
def test_pairs_of_several_chunks_are_all_answered(is_late: Callable[[], bool] | None) -> None:
    count = 20
    row = shapes(*((3.0 * i, 0.0) for i in range(count)))
    found = check_shapes(Config(), row, row, pairs_of(), mode=1, budget=_core.Budget(is_late))
    assert count**2 > _core.FIRST_PAIRS
    steps = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).ravel()
    assert found.distances == pytest.approx(3.0 * steps - 2.0)
    assert found.verdicts.tolist() == [
        Verdict.FREE if step else Verdict.COLLISION for step in steps
    ]
    assert set(found.statuses) == {Status.SUCCESS}
    assert (found.verdict, found.message) == (Verdict.COLLISION, "")


@pytest.mark.parametrize(
    ("change", "status", "where"),
    [
        ({"pairs": pairs_of(0)}, Status.ARRAY_MISMATCH, "pairs"),
        ({"pairs": pairs_of(0, 2)}, Status.INVALID_INPUT, "pairs[1]"),
        ({"pairs": pairs_of(2, 0)}, Status.INVALID_INPUT, "pairs[0]"),
        ({"pairs": pairs_of(*[0] * 22)}, Status.LIMIT_EXCEEDED, "pairs: 11 pairs, limit 10"),
        ({"b": Obstacles("odom", 0)}, Status.EMPTY_REQUEST, "pairs"),
        ({"b": shapes((0, 0), frame="map")}, Status.UNKNOWN_FRAME, "b.header.frame_id"),
        ({"b": shapes((0, nan))}, Status.NON_FINITE, "b.xy"),
        ({"a": shapes((0, 0), radius=np.array([-1.0]))}, Status.INVALID_INPUT, "a.radius[0]"),
        ({"a": shapes((0, 0), offsets=np.array([0, 3]))}, Status.ARRAY_MISMATCH, "a.offsets[1]"),
        ({"mode": 9}, Status.INVALID_INPUT, "mode"),
        ({"margin": -1.0}, Status.INVALID_INPUT, "margin"),
    ],
)
def test_bad_pairs_are_refused(change: dict[str, Any], status: Status, where: str) -> None:
    request: dict[str, Any] = {
        "a": shapes((0, 0)), "b": shapes((1, 0)), "pairs": pairs_of(), **change,
    }  # fmt: skip
    with pytest.raises(InputError) as caught:
        check_shapes(Config(max_poses=10), **request)
    assert caught.value.status is status
    assert str(caught.value).startswith(where), str(caught.value)


@pytest.mark.requirement("N-3")
def test_pairs_past_the_time_budget_are_unknown() -> None:
    """Shapes are made within the budget too: a thousand concave outlines would take seconds."""
    a, b = shapes(*((0, 0),) * 30), shapes(*((50, 0),) * 30)
    looks = iter([False] * (29 + 8 + 1) + [True])  # shapes of the first chunk, the next chunk
    found = check_shapes(
        Config(), a, b, pairs_of(), mode=2, budget=_core.Budget(lambda: next(looks))
    )
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.TIME_BUDGET)
    assert found.verdicts.tolist() == [1] * _core.FIRST_PAIRS + [0] * (900 - _core.FIRST_PAIRS)
    assert (
        np.isnan(found.distances[_core.FIRST_PAIRS :]).all()
        and np.isnan(found.witnesses[_core.FIRST_PAIRS :]).all()
    )
    none = check_shapes(Config(), a, b, pairs_of(), budget=_core.Budget(lambda: True))
    assert none.status is Status.TIME_BUDGET
    assert set(none.verdicts) == {Verdict.UNKNOWN}


def test_a_stamp_far_from_the_data_and_times_that_bring_it_back() -> None:
    """The rounding of the sum is in the bound: no bound is above the true distance."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        second = int(rng.integers(1_800_000_000, 1_900_000_000)) * 10**9
        epoch, speed = second + int(rng.integers(10**9)), float(rng.choice([16.0, 128.0]))
        world = World(Config(footprint=CAR, prediction_horizon=10.0))
        data = Obstacles(
            frame="odom",
            stamp=epoch,
            ids=np.arange(1),
            offsets=np.array([0, 1]),
            xy=np.zeros(2),
            radius=np.array([0.5]),
            poses=np.array([0.0, 2 * speed + 1.5, 0.0]),
            velocities=np.array([0.0, -speed, 0.0]),
        )
        world.receive_obstacles("obstacles", data, now=epoch, steady=0)
        snapshot = world.snapshot(now=epoch, steady=0)
        stamp = int(rng.choice([1, 10**9, second - 10**13]))
        time = (epoch - stamp) * 1e-9 + 2.0 + float(rng.uniform(-1e-6, 1e-6))
        found = questions.check_poses(snapshot, np.zeros(3), np.array([time]), stamp=stamp, mode=1)
        since = Fraction(time) - Fraction(epoch - stamp, 10**9)
        truth = 2 * Fraction(speed) + Fraction(3, 2) - Fraction(speed) * since - Fraction(3, 2)
        assert found.lower_bounds[0] <= truth
        assert truth > 0 or found.verdict is not Verdict.FREE
