# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The question about a path: asked of a snapshot it is the scene's, in pieces, and never more."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest
import questions
from worlds import CAR, shapes, snapshot

from gjk_collision import _core
from gjk_collision.errors import InputError
from gjk_collision.geometry import Shape
from gjk_collision.scene import Scene
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import World
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.server.services.answers import Answer
from gjk_collision.verdict import Status, Verdict

# Past a box of 2 m at the origin: the poses are clear of it, the way from the first is not.
THROUGH = np.array([-10.0, 0, 0, 10, 0, 0, 10, 50, 0])
STALE = Fault(Status.STALE_OBSTACLES, "radar: 2 s old")


def said(found: Answer) -> tuple[Verdict, Status]:
    return found.verdict, found.status


def moving(*velocity: float, centre: tuple[float, float] = (0, 0), **changes: Any) -> Snapshot:
    return snapshot(data=shapes(centre, velocities=np.array(velocity)), **changes)


@pytest.mark.requirement("V-9")
def test_between_the_poses() -> None:
    """What no pose touches, the way between two of them may."""
    found = questions.check_path(snapshot((0, 0)), THROUGH)
    assert said(found) == (Verdict.COLLISION, Status.SUCCESS)
    assert (found.nearest_id, found.nearest_source) == (0, "obstacles")
    assert found.first_invalid_segment == 0
    assert 0.4 - 0.005 <= found.last_valid_fraction <= 0.4
    assert np.isnan(found.first_collision_time)
    assert found.min_distance <= Config().toi_tolerance
    discrete = questions.check_path(snapshot((0, 0)), THROUGH, swept=False)
    assert discrete.is_free
    assert (discrete.first_invalid_segment, discrete.last_valid_fraction) == (-1, 1.0)
    assert discrete.min_distance == pytest.approx(8.0)
    assert discrete.min_distance_lower_bound <= 8.0


def test_the_obstacle_is_the_first_in_the_way() -> None:
    """Segment, fraction and obstacle tell of one place, also where another is hit later."""
    for chunk in (1, 1000):
        known = snapshot((0, 2.5), (20, 0))
        way = np.array([-9.0, 0, 0, 9, 0, 0, 30, 0, 0])
        budget = _core.Budget(lambda: False, first_chunk=chunk)
        found = questions.check_path(known, way, margin=1.0, budget=budget)
        assert said(found) == (Verdict.COLLISION, Status.SUCCESS)
        assert (found.first_invalid_segment, found.nearest_id) == (0, 0)


def test_times_are_after_the_stamp_of_the_request() -> None:
    """The obstacle stands, so only the time of the hit is at stake."""
    known, times = moving(0, 0, 0), np.array([1.0, 2.0, 3.0])
    for swept, expected in ((True, 1.4), (False, nan)):
        found = questions.check_path(known, THROUGH, times, stamp=10**9, swept=swept)
        assert found.first_collision_time == pytest.approx(expected, abs=0.01, nan_ok=True)


@pytest.mark.requirement("V-9")
def test_an_obstacle_that_crosses_between_the_times() -> None:
    crossing, way = moving(0, 10, 0, centre=(0, -10)), np.array([-10.0, 0, 0, 10, 0, 0])
    met = questions.check_path(crossing, way, np.array([0.0, 2.0]))
    assert said(met) == (Verdict.COLLISION, Status.SUCCESS)
    assert met.first_collision_time == pytest.approx(0.8, abs=0.01)
    assert met.last_valid_fraction == pytest.approx(0.4, abs=0.01)
    assert met.obstacle_id == 0
    late = questions.check_path(crossing, way, np.array([0.0, 2.0]), stamp=2 * 10**9)
    assert late.is_free, "by then it is past"
    assert questions.check_path(crossing, way).is_free, "without times it stays where it is"


@pytest.mark.parametrize("swept", [False, True])
def test_what_is_not_predicted_is_unknown(swept: bool) -> None:
    """By policy: silence is no place, or the last velocity holds, or it stands; to the horizon."""
    way, times = np.array([50.0, 0, 0, 51, 0, 0, 52, 0, 0]), np.array([0.0, 1.0, 2.0])
    short = (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
    silent = questions.check_path(snapshot((0, 0)), way, times, swept=swept)
    assert said(silent) == short
    assert (silent.first_invalid_segment, silent.nearest_id) == (0, 0)
    hold = snapshot((0, 0), prediction_policy="hold")
    assert questions.check_path(hold, way, times, swept=swept).is_free
    ends = questions.check_path(moving(1, 0, 0, prediction_horizon=1.5), way, times, swept=swept)
    assert said(ends) == short
    assert ends.first_invalid_segment == 1
    assert ends.last_valid_fraction == pytest.approx(0.5 if swept else 0.0)
    hit = np.array([-9.0, 0, 0, 0, 0, 0, 9, 0, 0])
    assert questions.check_path(moving(0, 0, 0), hit, times, swept=swept).verdict == 2


def test_the_policy_of_a_source_is_for_its_obstacles_alone() -> None:
    """A scan stands still, beside a tracker whose object has no velocity."""
    scan = SourceConfig("scan", prediction_policy="hold")
    world = World(Config(footprint=CAR, sources=(scan, SourceConfig("tracker"))))
    world.receive_obstacles("scan", shapes((0, 0)), now=0, steady=0)
    way, times = np.array([50.0, 0, 0, 51, 0, 0]), np.array([0.0, 1.0])
    for stamp, velocity in (1, np.zeros(3)), (2, np.full(3, nan)):
        tracked = shapes((0, 30), stamp=stamp, velocities=velocity)
        world.receive_obstacles("tracker", tracked, now=stamp, steady=stamp)
        found = questions.check_path(world.snapshot(now=stamp, steady=stamp), way, times)
        assert found.is_free == (stamp == 1)
        assert found.is_free or found.message.startswith("tracker: the pose of obstacle 0")


@pytest.mark.requirement("V-12")
def test_a_hit_before_the_horizon_is_certain_and_one_after_it_is_not_known() -> None:
    """The vehicle meets the box at 0.4 of the first segment."""
    known = moving(0, 0, 0)
    for end, verdict in ((12.0, Verdict.COLLISION), (13.0, Verdict.UNKNOWN)):
        found = questions.check_path(known, THROUGH, np.array([0.0, end, 20.0]))
        assert found.verdict is verdict
        assert found.first_invalid_segment == 0
        assert found.last_valid_fraction == pytest.approx(min(0.4, 5.0 / end), abs=1e-3)
        discrete = questions.check_path(known, THROUGH, np.array([0.0, end, 20.0]), swept=False)
        assert said(discrete) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("timed", [False, True])
def test_pieces_are_the_whole(swept: bool, timed: bool) -> None:
    rng = np.random.default_rng(11)
    budget = _core.Budget(lambda: False, chunk_time=0.0)
    seen = set()
    for _ in range(60):
        fields = {"velocities": rng.uniform(-1, 1, 6)} if timed else {}
        known = snapshot(data=shapes((0, 0), (3, 3), **fields))
        way = (np.cumsum(rng.uniform(-1.5, 1.5, (9, 3)), axis=0) + rng.uniform(-6, 6, 3)).ravel()
        times = np.cumsum(rng.uniform(0.1, 0.5, 9)) if timed else np.empty(0)
        options: dict[str, Any] = {"swept": swept, "margin": float(rng.uniform(0, 1))}
        whole = questions.check_path(known, way, times, **options)
        pieces = questions.check_path(known, way, times, **options, budget=budget)
        seen.add(whole.verdict)
        assert pieces == whole  # an answer must not depend on the time that it takes
    assert seen == {Verdict.FREE, Verdict.MARGIN, Verdict.COLLISION}


@pytest.mark.requirement("N-3")
def test_past_the_time_budget() -> None:
    """Free up to where the time ran out, but not a free path; a hit before that is a hit."""
    budget = _core.Budget(lambda: True, first_chunk=2)
    clear = np.array([[50.0 + i, 0, 0] for i in range(9)]).ravel()
    found = questions.check_path(snapshot((0, 0)), clear, budget=budget)
    assert said(found) == (Verdict.UNKNOWN, Status.TIME_BUDGET)
    assert "2 of 8" in found.message
    assert (found.first_invalid_segment, found.last_valid_fraction) == (2, 0.0)
    assert np.isnan([found.min_distance, found.min_distance_lower_bound]).all()
    near = np.concatenate([[-9.0, 2.5, 0, 9, 2.5, 0], clear])
    margin = questions.check_path(snapshot((0, 0)), near, margin=1.0, budget=budget)
    assert said(margin) == (Verdict.UNKNOWN, Status.TIME_BUDGET)
    assert (margin.first_invalid_segment, margin.nearest_id) == (0, 0)
    hit = questions.check_path(snapshot((0, 0)), np.concatenate([THROUGH, clear]), budget=budget)
    assert said(hit) == (Verdict.COLLISION, Status.SUCCESS)
    done = questions.check_path(snapshot((0, 0)), clear[:9], budget=budget)
    assert done.is_free, "what is done in time is an answer"


@pytest.mark.requirement("V-10")
@pytest.mark.parametrize("swept", [False, True])
def test_beside_a_fault_nothing_of_a_path_is_free(swept: bool) -> None:
    """Not a part of it, and no distance: what is not known may be anywhere."""
    faulty = replace(snapshot((0, 0)), fault=STALE)
    for way, options, verdict, nearest in (
        ([50.0, 0, 0, 60, 0, 0], {}, Verdict.UNKNOWN, -1),
        ([2.5, 0, 0, 2.6, 0, 0], {"margin": 1.0}, Verdict.UNKNOWN, -1),
        ([-9.0, 0, 0, -5, 0, 0, 0, 0, 0], {}, Verdict.COLLISION, 0),
        ([50.0, 0, 0] * 99, {"budget": _core.Budget(lambda: True)}, Verdict.UNKNOWN, -1),
    ):
        found = questions.check_path(faulty, np.array(way), swept=swept, **options)
        assert said(found) == (verdict, Status.STALE_OBSTACLES)
        assert (found.nearest_id, found.message) == (nearest, STALE.message)
        assert (found.first_invalid_segment, found.last_valid_fraction) == (0, 0.0)
        assert np.isnan([found.min_distance, found.min_distance_lower_bound]).all()


def test_an_interpolation_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match=r"^interpolation: must be 0 or 1 \(got 2\)"):
        questions.check_path(snapshot((0, 0)), THROUGH, interpolation=2)


def test_pose_on_a_path() -> None:
    """Straight on, turning the shorter way, as the kernel goes."""
    way = np.array([[0.0, 0, 3.0], [4, 2, -3.0]])
    half = questions.pose_on(way, 0, 0.5)
    assert (half.x, half.y, abs(half.yaw)) == pytest.approx((2.0, 1.0, np.pi))
    assert questions.pose_on(way[:1], 0, 0.0) == (0.0, 0.0, 3.0)
    assert questions.pose_on(way[:1], 0, 1.0) == (0.0, 0.0, 3.0)
    assert questions.pose_on(way, 1, 0.0) == (4.0, 2.0, -3.0)


BAR = ((3.0, 0.1), (0.0, 0.1), (0.0, -0.1), (3.0, -0.1))  # ahead of the origin that it turns about


@pytest.mark.parametrize("turns", [0, 1, -1, 2, 5, -8])
@pytest.mark.parametrize("half", [np.pi, -np.pi])
@pytest.mark.parametrize("begin", [0.0, np.pi, -np.pi, 0.3, -2.0, 100.0])
def test_pose_on_a_half_turn_is_where_the_kernel_turns(
    begin: float, half: float, turns: int
) -> None:
    """A bar sweeps over one half of a circle: the side of an obstacle that it hits tells which."""
    way = np.array([[0.0, 0.0, begin], [0.0, 0.0, begin + half + turns * 2.0 * np.pi]])
    quarter = questions.pose_on(way, 0, 0.5)
    for side in (np.pi / 2, -np.pi / 2):
        scene = Scene([Shape.circle(0.05, (2 * np.cos(begin + side), 2 * np.sin(begin + side)))])
        known = replace(snapshot((0, 0)), footprint=Shape.polygon(BAR), scene=scene)
        found = questions.check_path(known, way.ravel())
        is_hit = found.verdict is Verdict.COLLISION
        assert is_hit == (np.cos(quarter.yaw - begin - side) > 0.99)
        if is_hit:  # and where it hits, it is almost in contact
            at = questions.pose_on(way, 0, found.last_valid_fraction)
            assert 0.0 <= scene.nearest(Shape.polygon(BAR), at).distances[0] < 0.02
