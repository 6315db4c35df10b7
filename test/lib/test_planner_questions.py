# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Groups and gradients in check_poses, arcs in check_path, and nearest_free, as requests."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan, pi
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import questions
from questions import place
from worlds import asked_as_request, shapes, snapshot

from gjk_collision import _core
from gjk_collision.errors import InputError
from gjk_collision.path import Path
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.frames.poses import Pose, SameFrameOnly
from gjk_collision.server.services import SERVICES
from gjk_collision.server.services.answers import Answer
from gjk_collision.verdict import Status, Verdict

STALE = Fault(Status.STALE_OBSTACLES, "obstacles: stale")


def asked(known: Snapshot, service: str, poses: Any, late: Any = None, **fields: Any) -> Any:
    stamp = SimpleNamespace(sec=0, nanosec=0)
    header = SimpleNamespace(frame_id=known.config.check_frame, stamp=stamp)
    rows = np.asarray(poses, float).ravel()
    message = SimpleNamespace(header=header, poses=rows, times=[], margin=0.0)
    vars(message).update(fields)
    return asked_as_request(service, message, known, SameFrameOnly(), late)


def poses_asked(known: Snapshot, poses: Any, late: Any = None, **changes: Any) -> Answer:
    given = {
        "mode": 0, "stop_at_first": False, "group_offsets": (), "k": 0, "footprint": "",
        "footprints": (), "which": (),
    }  # fmt: skip
    return asked(known, "CheckPoses", poses, late, **{**given, **changes})


def path_asked(known: Snapshot, start: Any, arcs: Any, **changes: Any) -> Answer:
    fields = {"tolerance": 0.0, "interpolation": 1, **changes}
    return asked(known, "CheckPath", start, arcs=np.asarray(arcs, float).ravel(), **fields)


def test_nothing_is_free_in_any_group_beside_a_fault_or_without_a_footprint() -> None:
    poses, ends = np.array([[0.0, 0, 0], [50, 0, 0], [51, 0, 0]]), [0, 1, 3]
    for known in (replace(snapshot((0, 0)), fault=STALE), snapshot((0, 0)).invalidated(STALE)):
        for stop in (False, True):
            found = poses_asked(known, poses, group_offsets=ends, stop_at_first=stop)
            assert found.group_first_invalid.tolist() == [0, 0]
            assert not found.is_free
            assert found.status is Status.STALE_OBSTACLES
            assert Verdict.FREE not in found.verdicts


def test_past_the_time_budget_no_group_is_free() -> None:
    poses = np.tile([50.0, 0.0, 0.0], (1000, 1))
    ends = np.arange(0, 1001, 100)
    found = poses_asked(snapshot((0, 0)), poses, lambda: True, group_offsets=ends)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.TIME_BUDGET)
    done = int((found.verdicts == Verdict.FREE).sum())
    assert 0 < done < 1000
    free = found.group_first_invalid == -1
    assert free.tolist() == [(g + 1) * 100 <= done for g in range(10)]


@pytest.mark.parametrize(
    ("ends", "index"),
    [([1, 3], 0), ([0, 2], 1), ([0, 4], 1), ([0, 2, 2, 3], 2), ([0, 2, 1, 3], 2), ([0], 0)],
)
def test_wrong_groups_are_refused(ends: list[int], index: int) -> None:
    with pytest.raises(InputError) as error:
        poses_asked(snapshot((0, 0)), np.zeros((3, 3)), group_offsets=ends)
    assert error.value.status is Status.ARRAY_MISMATCH
    assert (error.value.argument, error.value.index) == ("group_offsets", index)


@pytest.mark.parametrize("timed", [False, True])
def test_gradients_are_those_of_the_scene(timed: bool) -> None:
    rng = np.random.default_rng(3)
    known = snapshot(data=shapes((0, 0), (8, 3), velocities=rng.uniform(-1, 1, 6)))
    poses, times = rng.uniform(-14, 14, (12, 3)), rng.uniform(0.5, 3.0, 12) if timed else None
    found = poses_asked(known, poses, mode=3, k=2, times=() if times is None else times)
    wanted = known.scene.gradient(known.footprint, poses, times, 2)
    assert np.allclose(found.gradient_distances[::2], found.distances, atol=1e-9)
    for name, each in (
        ("gradient_ids", wanted.ids), ("gradient_distances", wanted.distances),
        ("gradients", wanted.gradients), ("gradient_rates", wanted.rates),
        ("gradient_smooth", wanted.smooth),
    ):  # fmt: skip
        assert np.array_equal(np.ravel(getattr(found, name)), each.ravel()), name


def test_gradients_are_none_where_nothing_is_known() -> None:
    poses, times = np.array([[5.0, 0, 0], [6.0, 0, 0]]), np.array([1.0, 99.0])
    known = snapshot(data=shapes((0, 0), velocities=np.zeros(3)))
    found = poses_asked(known, poses, mode=3, k=2, times=times)
    assert found.gradient_ids.tolist() == [0, -1, -1, -1]
    assert np.isnan(found.gradient_distances).tolist() == [False, True, True, True]
    assert np.isnan(found.gradients[2:]).all() and not found.gradient_smooth[2:].any()
    at_fault = poses_asked(replace(known, fault=STALE), np.zeros((1, 3)), mode=3)
    assert at_fault.verdict is Verdict.COLLISION, "a certain hit"
    assert np.isnan(at_fault.gradient_distances).all() and len(at_fault.gradient_distances)
    assert not len(poses_asked(known, poses, mode=1).gradients)
    late = poses_asked(known, np.tile(poses[0], (2000, 1)), lambda: True, mode=3)
    assert (late.verdict, late.status) == (Verdict.UNKNOWN, Status.TIME_BUDGET)


def test_many_neighbours_are_over_the_limit() -> None:
    with pytest.raises(InputError, match=r"^k: 3 poses with 5 obstacles each, limit 10 together"):
        poses_asked(snapshot((0, 0), max_poses=10), np.zeros((3, 3)), mode=3, k=5)


def test_arcs_meet_a_moving_obstacle_and_end_at_the_horizon() -> None:
    crossing = snapshot(data=shapes((0, -10), velocities=np.array([0.0, 10, 0])))
    way, start = [[0.0, 10.0], [0.0, 10.0]], [-10.0, 0, 0]
    met = path_asked(crossing, start, way, times=np.array([0.0, 1.0, 2.0]))
    assert (met.verdict, met.status) == (Verdict.COLLISION, Status.SUCCESS)
    assert met.first_collision_time == pytest.approx(0.8, abs=0.01)
    assert met.last_valid_fraction == pytest.approx(0.4, abs=0.01)
    away = [-10.0, 50.0, 0]
    for times, segment, fraction in (
        ([0.0, 4.0, 6.0], 1, 0.5),
        ([0.0, 6.0, 7.0], 0, 0.0),
        ([6.0, 7.0, 8.0], 0, 0.0),
    ):
        short = path_asked(crossing, away, way, times=np.array(times))
        assert said(short) == (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
        assert short.first_invalid_segment == segment
        assert short.last_valid_fraction == pytest.approx(fraction)
        assert short.last_valid_fraction <= fraction
        assert np.isnan(short.min_distance)
    at_once = path_asked(crossing, [0.0, -10.0, 0.0], way, times=np.array([0.0, 6.0, 7.0]))
    assert (at_once.verdict, at_once.first_collision_time) == (Verdict.COLLISION, 0.0)
    assert (at_once.first_invalid_segment, at_once.last_valid_fraction) == (0, 0.0)
    faulty = replace(crossing, fault=STALE)
    assert path_asked(faulty, away, way).status is Status.STALE_OBSTACLES
    hit = path_asked(faulty, start, way, times=np.array([0.0, 1.0, 2.0]))
    assert said(hit) == (Verdict.COLLISION, Status.STALE_OBSTACLES)
    assert hit.last_valid_fraction == 0.0


def said(found: Any) -> tuple[Verdict, Status]:
    return found.verdict, found.status


def test_arcs_with_missing_data_are_unknown() -> None:
    """After the horizon, a contact may follow a part that is only too close."""
    known = snapshot(data=shapes((0, 50), velocities=np.zeros(3)))
    lost, stale = replace(known, footprint=None), replace(known, fault=STALE)
    start, way = [-10.0, 0.0, 0.0], [[0.0, 10.0], [0.0, 10.0]]
    short = (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)
    for data, times, margin, expected in (
        (known, [0.0, 2.0, 4.0], 100.0, (Verdict.MARGIN, Status.SUCCESS)),
        (known, [0.0, 4.0, 6.0], 100.0, short),
        (stale, [6.0, 7.0, 8.0], 0.0, (Verdict.UNKNOWN, Status.STALE_OBSTACLES)),
        (lost, [], 0.0, (Verdict.UNKNOWN, Status.NO_FOOTPRINT)),
    ):
        found = path_asked(data, start, way, times=np.array(times), margin=margin)
        assert said(found) == expected
        assert np.isnan(found.min_distance) or expected[0] is Verdict.MARGIN
    assert (found.first_invalid_segment, found.last_valid_fraction) == (0, 0.0)


def test_arcs_from_another_frame_contain_its_rounding() -> None:
    """The rounding of the frame's yaw turns the end of a long path by more than its start."""
    known, frame = snapshot((0, 0)), Pose(0.3, -0.2, 1000.0)
    start = np.array([50.0, 0.0, -1000.0])
    (at_start,) = place(known.cores(), start.reshape(1, 3), frame)[1]
    (at_end,) = place(known.cores(), start.reshape(1, 3), frame, beyond=1e6)[1]
    assert at_end > 1e3 * at_start > 0.0
    long = np.array([0.0, 1e6])
    found = questions.check_path(known, start, arcs=long, frame=frame)
    placed = place(known.cores(), start.reshape(1, 3), frame)[0][0]
    exact = questions.check_path(known, placed, arcs=long)
    assert found.verdict is exact.verdict
    grown = exact.min_distance - found.min_distance
    assert grown > 0.9 * at_end, "the vehicle is grown by the error"


@pytest.mark.parametrize(
    ("changes", "status", "argument"),
    [
        ({"start": np.zeros((2, 3))}, Status.ARRAY_MISMATCH, "poses"),
        ({"arcs": [0.0, 1.0, 2.0]}, Status.ARRAY_MISMATCH, "arcs"),
        ({"arcs": [0.0, nan]}, Status.NON_FINITE, "arcs"),
        ({"arcs": [1.0, 1e7]}, Status.COORD_RANGE, "arcs"),
        ({"times": np.array([0.0, inf])}, Status.NON_FINITE, "times"),
        ({"times": np.array([0.0])}, Status.ARRAY_MISMATCH, "times"),
        ({"times": np.array([1.0, 1.0])}, Status.INVALID_INPUT, "times"),
        ({"interpolation": 0}, Status.INVALID_INPUT, "interpolation"),
        ({"tolerance": 1e-9}, Status.INVALID_INPUT, "tolerance"),
        ({"margin": -1.0}, Status.INVALID_INPUT, "margin"),
        ({"arcs": np.zeros(40)}, Status.LIMIT_EXCEEDED, "arcs"),
    ],
)
def test_wrong_arcs_are_refused(changes: dict[str, Any], status: Status, argument: str) -> None:
    given: dict[str, Any] = {"start": [50.0, 0, 0], "arcs": [0.0, 1.0], **changes}
    with pytest.raises(InputError) as error:
        path_asked(snapshot((0, 0), max_poses=10), **given)
    assert (error.value.status, error.value.argument) == (status, argument)


def test_the_pose_on_arcs_is_that_of_the_library() -> None:
    arcs = np.array([[0.2, 3.0], [-0.1, 2.0]])
    message = SimpleNamespace(poses=np.array([1.0, 2.0, 0.3]), arcs=arcs.ravel())
    request = SERVICES["CheckPath"](message)
    request.frame = Pose(5.0, 0.0, 0.0)
    at = request._pose(1, 0.8)
    assert np.allclose(at, Path.arcs([6.0, 2.0, 0.3], arcs).at(4.0))
    message.poses, message.arcs = np.array([1.0, 2.0, 0.3, 3.0, 4.0, 0.5]), np.empty(0)
    assert np.allclose(request._pose(0, 0.5), [7.0, 3.0, 0.4])
    batch = SERVICES["CheckPoses"](message)
    batch.frame = request.frame
    found: Any = SimpleNamespace(first_invalid_index=1, verdicts=[Verdict.FREE, Verdict.COLLISION])
    assert batch.hit(found, snapshot((0, 0))) == Pose(8.0, 4.0, 0.5)


def test_no_free_pose_and_no_answer_are_not_free() -> None:
    known = snapshot((0, 0))
    wide = snapshot((0, 0), safety_margin=0.3)
    free = questions.nearest_free(wide, Pose(1.5, 0.0, 0.0), 2.0, 0.1, margin=0.2)
    assert free.is_free and 1.0 < free.shift < 1.01 and free.turn == 0.0
    assert free.free_pose == pytest.approx([1.5 + free.shift, 0.0, 0.0], abs=0.1)
    none = questions.nearest_free(known, Pose(), 0.5)
    assert (none.verdict, none.status) == (Verdict.COLLISION, Status.SUCCESS)
    assert not none.is_free and none.nearest_id == 0
    assert "no free pose was found" in none.message
    assert len(none.free_pose) == 0 and np.isnan([none.shift, none.turn]).all()
    for faulty in (replace(known, fault=STALE), known.invalidated(STALE)):
        for pose in (Pose(), Pose(50.0, 0.0, 0.0)):
            found = questions.nearest_free(faulty, pose, 9.0)
            assert not found.is_free and len(found.free_pose) == 0
            assert found.status is Status.STALE_OBSTACLES
    with pytest.raises(InputError, match=r"^max_shift: must not be negative") as error:
        questions.nearest_free(known, Pose(), -1.0)
    assert error.value.status is Status.INVALID_INPUT
    short = _core.Budget(search_time=0.001)
    with pytest.raises(InputError) as error:
        questions.nearest_free(known, Pose(), 9e14, max_turn=pi, tolerance=1e-6, budget=short)
    assert error.value.status is Status.TIME_BUDGET


def test_a_replayed_row_covers_the_new_answers() -> None:
    pytest.importorskip("rosbags")
    from gjk_collision.replay.requests import _reply

    def digest(found: Any) -> int:
        name = "CheckPoses" if "verdicts" in found.results else "NearestFree"
        return _reply(SERVICES[name](SimpleNamespace(footprints=[])))(found, known).digest

    known, poses = snapshot((0, 0)), np.array([[5.0, 0, 0], [6.0, 0, 0]])
    found = [
        poses_asked(known, poses, mode=1),
        poses_asked(known, poses, mode=1, group_offsets=[0, 1, 2]),
        poses_asked(known, poses, mode=1, group_offsets=[0, 2]),
        poses_asked(known, poses, mode=3),
        questions.nearest_free(known, Pose(1.0, 0.0, 0.0), 9.0),
        questions.nearest_free(known, Pose(1.0, 0.5, 0.0), 9.0),
    ]
    assert len({digest(each) for each in found}) == len(found)
