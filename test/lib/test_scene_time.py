# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A pose at a time meets the obstacles where they are then, or it is not free."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gjk_collision import Path, Scene, Shape
from gjk_collision.errors import InputError
from gjk_collision.verdict import Status, Verdict

CAR = Shape.box(4.0, 2.0)
HERE = np.zeros((1, 3))
BALL = Shape.circle(1.0)
AHEAD = [(20.0, 0.0, 0.0)]  # 17 m of room
MODES = ("collide", "distance", "witness")
KNOWN = (Verdict.FREE, Status.SUCCESS)
TOO_SHORT = (Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)


def answers(scene: Scene, times: list[float], mode: str = "collide") -> list[tuple[int, int]]:
    poses = np.zeros((len(times), 3))
    result = scene.check(CAR, poses, times, mode=mode)  # type: ignore[arg-type]
    return list(zip(result.verdicts.tolist(), result.statuses.tolist(), strict=True))


def test_a_velocity_moves_an_obstacle() -> None:
    scene = Scene([BALL], AHEAD, velocities=[(-10.0, 0.0, 0.0)])
    result = scene.check(CAR, np.zeros((4, 3)), [0.0, 1.0, 1.6, 2.0], mode="distance")
    assert result.distances == pytest.approx([17.0, 7.0, 1.0, -2.0], abs=1e-9)
    assert result.lower_bounds == pytest.approx(result.distances, abs=1e-9)
    assert list(result.verdicts) == [Verdict.FREE] * 3 + [Verdict.COLLISION]
    assert scene.check(CAR, HERE).is_free, "without times it stands"


NAN = float("nan")
STRAIGHT = ([1.0, 2.0], [(20.0, 10.0, 0.0), (20.0, 20.0, 0.0)])


@pytest.mark.parametrize(
    ("policy", "said", "known_until", "after"),
    [
        ("unknown_is_error", {"velocities": [(0.0, NAN, 0.0)]}, 0.0, TOO_SHORT),
        ("unknown_is_error", {"velocities": [(0.0, 0.0, 0.0)]}, 100.0, KNOWN),
        ("unknown_is_error", {"paths": [STRAIGHT]}, 2.0, TOO_SHORT),
        ("unknown_is_error", {"paths": [None]}, 0.0, TOO_SHORT),
        ("constant_velocity", {"velocities": [(0.0, 1.0, 0.0)]}, 4.0, TOO_SHORT),
        ("constant_velocity", {"paths": [STRAIGHT]}, 4.0, TOO_SHORT),
        ("hold", {}, 100.0, KNOWN),
        ("hold", {"paths": [STRAIGHT]}, 4.0, TOO_SHORT),
    ],
)
def test_the_policies(policy: str, said: dict, known_until: float, after: tuple) -> None:
    scene = Scene([BALL], AHEAD, **said, prediction=policy, horizon=4.0)
    late, early = np.nextafter(known_until, np.inf), np.nextafter(0.0, -1.0)
    for mode in ("collide", "distance"):
        known = [t for t in (0.0, 1.0, 2.0, 4.0, 100.0) if t <= known_until]
        assert answers(scene, [*known, late], mode) == [KNOWN] * len(known) + [after]
    assert all(scene.is_free(CAR, HERE[0], time=t) for t in known)
    assert scene.is_free(CAR, HERE[0], late) == (after == KNOWN)
    stands = "velocities" in said and said["velocities"][0] == (0.0, 0.0, 0.0)
    before = KNOWN if stands or (policy == "hold" and known_until == 100.0) else TOO_SHORT
    assert answers(scene, [early]) == [before], "what was before the stamp is not known either"


def test_the_nearest_at_a_time() -> None:
    """The second overtakes the first; later it is not known where it is."""
    scene = Scene([BALL] * 2, [(10.0, 0.0, 0.0), (30.0, 0.0, 0.0)], ids=[4, 5],
                  velocities=[(0.0, 0.0, 0.0), (-10.0, 0.0, 0.0)], horizon=2.5)  # fmt: skip
    for time, ids, far in ((None, [4, 5], [7, 27]), (1.0, [4, 5], [7, 17]), (2.2, [5, 4], [5, 7])):
        found = scene.nearest(CAR, (0.0, 0.0, 0.0), 2, time=time)
        assert list(found.ids) == ids and found.distances == pytest.approx(far)
    with pytest.raises(InputError) as refused:
        scene.nearest(CAR, (0.0, 0.0, 0.0), 2, time=2.6)
    assert (refused.value.status, refused.value.argument) == (Status.PREDICTION_TOO_SHORT, "time")


def test_a_certain_hit_stands_beside_an_unknown() -> None:
    motion = {"velocities": [(NAN, 0, 0), (0, 0, 0)]}
    both = Scene([BALL, BALL], [(20, 0, 0), (0, 0, 0)], ids=[7, 8], **motion)
    for mode in ("collide", "distance"):
        result = both.check(CAR, np.zeros((2, 3)), [1.0, 1.0], mode=mode)  # type: ignore[arg-type]
        assert list(result.verdicts) == [Verdict.COLLISION] * 2
        assert list(result.ids) == [8, 8]
    away = both.check(CAR, [(0.0, 50.0, 0.0)], [1.0], mode="distance")
    assert (away.verdict, away.statuses[0]) == TOO_SHORT
    assert away.lower_bounds[0] == -np.inf, "of what may be anywhere no distance is certain"
    # Where the unknown one was is no certain hit.
    assert both.check(CAR, [(20.0, 0.0, 0.0)], [1.0]).verdict == Verdict.UNKNOWN
    assert both.check(CAR, [(20.0, 0.0, 0.0)], margin=1.0).verdict == Verdict.COLLISION
    named = both.check(CAR, [(0.0, 50.0, 0.0)], [1.0])
    assert named.ids[0] == 7, "the one that is not known decides"


def test_stamps_shift_the_clock() -> None:
    late = Scene([BALL], AHEAD, velocities=[(-10.0, 0.0, 0.0)], stamps=[-1.0], horizon=2.0)
    result = late.check(CAR, np.zeros((2, 3)), [0.0, 1.0], mode="distance")
    assert result.distances == pytest.approx([7.0, -2.0], abs=1e-9)
    assert answers(late, [1.001]) == [TOO_SHORT]


def test_an_update_replaces_what_was_said() -> None:
    scene = Scene([BALL, BALL], [(20, 0, 0), (40, 0, 0)], velocities=[(0, 0, 0), (-1, 0, 0)])
    moved = scene.updated([0], [(30, 0, 0)], velocities=[(-10, 0, 0)])
    result = moved.check(CAR, np.zeros((2, 3)), [0.0, 2.0], mode="distance")
    assert result.distances == pytest.approx([27.0, 7.0], abs=1e-9)
    assert answers(scene.updated([0], [(30, 0, 0)]), [1.0]) == [TOO_SHORT]


def test_flat_arrays_say_the_same() -> None:
    listed = Scene(
        [BALL, BALL], [(20, 0, 0), (40, 0, 0)], velocities=[(-1, 0, 0), (NAN, NAN, NAN)],
        paths=[None, STRAIGHT],
    )  # fmt: skip
    flat = Scene.from_arrays(
        [0, 1, 2], [0, 0, 0, 0], radius=[1, 1], poses=[20, 0, 0, 40, 0, 0],
        velocities=[-1, 0, 0, NAN, NAN, NAN], path_offsets=[0, 0, 2], path_times=STRAIGHT[0],
        path_poses=np.ravel(STRAIGHT[1]),
    )  # fmt: skip
    times = [0.0, 0.7, 2.0, 2.1]
    for mode in ("collide", "distance"):
        assert answers(listed, times, mode) == answers(flat, times, mode)
    assert answers(flat, times)[-1] == TOO_SHORT


TIMED: dict[str, Callable[[Scene], object]] = {
    "check": lambda scene: scene.check(CAR, HERE, [0.0]),
    "is_free": lambda scene: scene.is_free(CAR, HERE[0], time=0.0),
    "nearest": lambda scene: scene.nearest(CAR, HERE[0], time=0.0),
    "nearest at each": lambda scene: scene.nearest(CAR, HERE, time=0.0),
    "nearest_free": lambda scene: scene.nearest_free(CAR, HERE[0], 1.0, time=0.0),
    "gradient": lambda scene: scene.gradient(CAR, HERE, [0.0]),
    "check_path": lambda scene: scene.check_path(CAR, [HERE[0]] * 2, [0.0, 1.0]),
    "check_path of arcs": lambda scene: scene.check_path(CAR, ARC, [0.0, 1.0]),
    "first_contact": lambda scene: scene.first_contact(CAR, [[HERE[0]] * 2], [0.0, 1.0]),
    "time_to_collision": lambda scene: scene.time_to_collision(CAR, HERE, [(1.0, 0.0, 0.0)], 0.0),
}
ARC = Path.arcs((0.0, 0.0, 0.0), [(0.1, 1.0)])


@pytest.mark.parametrize("query", TIMED)
def test_times_are_refused_if_no_motion_was_given(query: str) -> None:
    ask = TIMED[query]
    ball: dict[str, Any] = {"offsets": [0, 1], "xy": [AHEAD[0][:2]], "radius": [1.0]}
    still = Scene([BALL], AHEAD)
    for lacking in (
        still,
        still.updated([0], AHEAD),
        pickle.loads(pickle.dumps(still)),
        Scene([BALL], AHEAD, prediction="constant_velocity", stamps=[0.0]),
        still.updated([], velocities=np.empty((0, 3)), paths=[]),
        Scene.from_arrays(**ball),
        Scene.from_arrays(**ball, velocities=[], path_times=[]),
    ):
        with pytest.raises(InputError, match=r"^times?: need the motion .*prediction='hold'"):
            ask(lacking)
    for given in (
        Scene([]),
        still.updated([0], velocities=[(0.0, 0.0, 0.0)]),
        Scene([BALL], AHEAD, prediction="hold"),
        Scene([BALL], AHEAD, paths=[STRAIGHT]),
        pickle.loads(pickle.dumps(Scene([BALL], AHEAD, velocities=[(0.0, 0.0, 0.0)]))),
        Scene.from_arrays(**ball, velocities=[0.0, 0.0, 0.0]),
        Scene.from_arrays(**ball, prediction="hold"),
    ):
        ask(given)


@pytest.mark.parametrize("stamp", [0.0, 0.1, 1000.0, 9e8, 1.8e9])
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
