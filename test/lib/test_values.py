# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Every object of the library pickles, is copied, and prints in at most 10 lines.

A class that is exported without a sample here fails.
"""

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from every_result import RESULTS

import gjk_collision
from gjk_collision import InputError, Motion, Path, Region, Scene, Shape, Status
from gjk_collision.geometry import penetration
from gjk_collision.planning import edges
from gjk_collision.record import Record
from gjk_collision.server.frames.poses import Pose
from gjk_collision.tracing import trace

CAR = Shape.box(4.0, 2.0, radius=0.1)
WEDGE = [(0.0, 0.0), (4.0, 0.0), (1.0, 1.0), (0.0, 4.0)]
MANY = np.random.default_rng(7).normal(size=(20_000, 3)) * [30.0, 30.0, 3.0]
NEAR = MANY[:300]
TRAFFIC = Scene(
    [CAR, Shape.concave(WEDGE, radius=0.2), Shape.circle(1.0)],
    [(9.0, 0.0, 0.3), (-9.0, 5.0, 1.0), (0.0, 30.0, 0.0)],
    ids=[7, 5, -3],
    velocities=[(1.0, 0.0, 0.1), (np.nan, 0.0, 0.0), (0.0, 0.0, 0.0)],
    paths=[None, ([0.5, 2.0], [(-8.0, 5.0, 1.0), (-8.0, 9.0, 2.0)]), None],
    stamps=[1.8e9, 1.8e9 + 0.25, 1.8e9],
    margins=[0.1, 0.0, 0.3],
    margin_rates=[0.0, 0.5, 0.0],
    prediction="hold",
    time_error=1e-6,
)
LANES = Region([[(-40, -9), (40, -9), (40, 9), (-40, 9)], [(-40, 9), (40, 9), (0, 40)]])
ON_LANES = Scene(
    TRAFFIC.shapes, TRAFFIC.poses, ids=[7, 5, -3], margins=[0.1, 0.0, 0.3], inside=LANES
)
TIMES = 1.8e9 + np.linspace(0.3, 4.0, len(NEAR))

# At least one of each class; huge ones too.
SAMPLES: dict[str, Callable[[], Any]] = {
    "Shape": lambda: CAR,
    "Shape of parts": lambda: Shape.concave(WEDGE),
    "Shape of radii": lambda: Shape.compound([CAR, Shape.point((-0.0, 1e-300))]),
    "Shape, huge": lambda: Shape.compound([Shape.hull(row) for row in MANY.reshape(-1, 10, 2)]),
    "Motion": lambda: Motion.constant((1.0, 2.0, 3.0), (-0.0, 1.0, 0.1), 5.0),
    "Motion of a path": lambda: Motion.path(np.arange(300.0), NEAR),
    "Path": lambda: Path.straight(NEAR),
    "Path, several": lambda: Path.straight(MANY.reshape(10, 20, 100, 3)),
    "Path of arcs": lambda: Path.arcs((0.0, 0.0, 1.0), [(0.1, 3.0), (0.0, -2.0)]),
    "Path of curves": lambda: Path.dubins(NEAR, NEAR[::-1], 5.0),
    "Scene": lambda: TRAFFIC,
    "Scene with a region": lambda: ON_LANES,
    "Region": lambda: LANES,
    "Scene, empty": lambda: Scene([]),
    "Scene, huge": lambda: Scene([Shape.point((0.0, 0.0))] * len(MANY), MANY),
    "CheckResult of many": lambda: TRAFFIC.check(CAR, MANY, mode="witness"),
    "CheckResult of trajectories": lambda: TRAFFIC.check(CAR, MANY.reshape(-1, 20, 3)),
    "GradientResult of many": lambda: TRAFFIC.gradient(CAR, MANY, k=3),
    "PathsResult of many": lambda: TRAFFIC.check_path(CAR, Path.straight(NEAR.reshape(30, 10, 3))),
    "Penetration": lambda: penetration(CAR, CAR),
    "FreeCertificate": lambda: Scene([CAR]).certify(CAR, (9.0, 0.0, 0.0)),
    "Trace": lambda: trace(CAR, CAR),
    "TraceStep": lambda: trace(CAR, CAR).steps[0],
    "InputError": lambda: InputError(Status.NON_FINITE, "xy", 3, "must be finite"),
    "SceneChecker": lambda: edges.path_checker(TRAFFIC, CAR),
    **{name: make for name, (make, _) in RESULTS.items()},
}


def state(value: Any) -> Any:
    """What a copy must share with its original, for classes without an equality of values."""
    if isinstance(value, Scene):
        rows = value.poses.tolist(), value.ids.tolist()
        return (value.shapes, *rows, value.inside, repr(value))
    if isinstance(value, InputError):
        return (value.status, value.argument, value.index, value.rule, str(value))
    if isinstance(value, edges.SceneChecker):
        return (state(value.scene), value.shape, value.margin, value.tolerance)
    return value


@pytest.mark.parametrize("name", SAMPLES)
def test_pickles_and_copies_and_is_short(name: str) -> None:
    value = SAMPLES[name]()
    copies = [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(6)]
    copies += [copy.copy(value), copy.deepcopy(value)]
    for each in copies:
        assert type(each) is type(value)
        assert state(each) == state(value)
        assert repr(each) == repr(value) or isinstance(value, edges.SceneChecker)
    lines = repr(value).splitlines()
    assert len(lines) <= 10 and max(map(len, lines)) < 500
    assert len(repr(value)) < 2000


def test_everything_exported_has_a_sample() -> None:
    exported = [getattr(gjk_collision, name) for name in gjk_collision.__all__]
    classes = {each.__name__ for each in exported if isinstance(each, type)}
    assert len(classes) > 15
    assert classes <= {type(make()).__name__ for make in SAMPLES.values()}


def exceptions(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    for each in kind.__subclasses__():
        yield each
        yield from exceptions(each)


def test_every_exception_pickles_with_its_fields() -> None:
    for module in ("server.frames", "replay.case", "replay.scene_file", "replay.expect"):
        import_module(f"gjk_collision.{module}")
    own = [each for each in exceptions(Exception) if each.__module__.startswith("gjk_collision")]
    assert {"InputError", "FrameError", "SceneError"} <= {each.__name__ for each in own}
    fields = {
        "InputError": (Status.NON_FINITE, "xy", None, "must be finite"),
        "FrameError": (Status.UNKNOWN_FRAME, "no frame"),
        "DroppedError": (Status.TF_EXTRAPOLATION, "too old"),
        "FlippedError": ("upside down", Pose(1.0, 2.0, 0.5), 7),
    }
    for kind in own:
        error = kind(*fields.get(kind.__name__, ("what is wrong",)))
        for protocol in range(6):
            again = pickle.loads(pickle.dumps(error, protocol))
            assert type(again) is kind and str(again) == str(error)
            assert vars(again) == vars(error)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickled_scene_answers_as_the_original_does(protocol: int) -> None:
    """Also one that was updated far from where it was made, to the last bit."""
    moved = TRAFFIC.updated([0], [(1e6, 1e6, 0.5)], velocities=[(2.0, 0.0, 0.0)], stamps=[1.8e9])
    for scene, about in ((TRAFFIC, 0.0), (moved, 0.0), (moved, 1e6)):
        again = pickle.loads(pickle.dumps(scene, protocol))
        poses = NEAR + [about, about, 0.0]
        for times in (None, TIMES):
            for mode in ("collide", "distance", "witness"):
                left = scene.check(CAR, poses, times, mode=mode)
                assert again.check(CAR, poses, times, mode=mode) == left
            assert again.gradient(CAR, poses, times, k=2) == scene.gradient(CAR, poses, times, k=2)
            assert again.check_path(CAR, poses, times) == scene.check_path(CAR, poses, times)
        changed = [each.updated([1], [(3.0, 3.0, 0.0)]) for each in (scene, again)]
        assert changed[0].check(CAR, poses, TIMES) == changed[1].check(CAR, poses, TIMES)


@pytest.mark.requirement("V-21")
def test_a_pickled_scene_keeps_its_region() -> None:
    again = pickle.loads(pickle.dumps(ON_LANES))
    for mode in ("collide", "distance", "witness"):
        answer = again.check(CAR, NEAR, mode=mode)
        assert answer == ON_LANES.check(CAR, NEAR, mode=mode)
    assert again.inside == LANES and (answer.ids == gjk_collision.OUTSIDE).any()
    assert len(again) == 3 and len(again.poses_at(0.0)) == 3


def test_nothing_of_a_scene_is_left_out_of_its_pickle() -> None:
    """A new field must be added to `Scene.__reduce__` and `Scene._restored`, then to this list."""
    assert set(Scene.__slots__) == {
        "_core", "_id_of", "_lacks_motion", "_prediction", "_region", "_seen",
    }  # fmt: skip


def test_a_scene_gives_back_what_it_was_made_of() -> None:
    poses = [(9.0, 0.0, 0.3), (-9.0, 5.0, 1.0), (0.0, 30.0, 0.0)]
    assert TRAFFIC.shapes == (CAR, Shape.concave(WEDGE, radius=0.2), Shape.circle(1.0))
    assert np.array_equal(TRAFFIC.poses, poses) and TRAFFIC.ids.tolist() == [7, 5, -3]
    TRAFFIC.poses[0] = 0.0  # a copy
    assert np.array_equal(TRAFFIC.poses, poses)
    other = TRAFFIC.updated([1], [(1.0, 2.0, 3.0)], [Shape.box(1.0, 1.0)])
    assert other.shapes == (CAR, Shape.box(1.0, 1.0), Shape.circle(1.0))
    assert other.poses[1].tolist() == [1.0, 2.0, 3.0]
    assert Scene([]).shapes == () and Scene([]).poses.shape == (0, 3)


@pytest.mark.parametrize("name", [name for name in SAMPLES if "Verdict" not in name])
def test_a_record_differs_from_one_with_another_field(name: str) -> None:
    value = SAMPLES[name]()
    if not isinstance(value, Record):
        return
    with pytest.raises(TypeError):
        hash(value)
    assert value == copy.copy(value) and value != "text"
    assert is_dataclass(value)
    for field in fields(value):
        old = getattr(value, field.name)
        if isinstance(old, np.ndarray) and old.size:
            other = old.copy()
            other.flat[-1] = other.flat[-1] == 0
        elif isinstance(old, float):
            other = 0.5 if old != 0.5 else 1.5
        else:
            continue
        assert replace_field(value, field.name, other) != value, field.name
        assert replace_field(value, field.name, copy.deepcopy(old)) == value


def replace_field(value: Any, name: str, new: Any) -> Any:
    changed = copy.copy(value)
    object.__setattr__(changed, name, new)
    return changed


def test_arrays_of_another_type_or_shape_are_not_equal() -> None:
    one = TRAFFIC.check(CAR, NEAR)
    assert replace(one, verdicts=one.verdicts.astype(np.int64)) != one
    assert replace(one, verdicts=one.verdicts[:, None]) != one
    assert replace(one, witnesses=np.zeros(1)) != one
    assert TRAFFIC.check(CAR, NEAR[0]) == TRAFFIC.check(CAR, NEAR[0])  # scalars, NaN among them


def test_the_text_of_a_result_names_verdicts() -> None:
    found = repr(TRAFFIC.check(CAR, [(0.0, 0.0, 0.0), (9.0, 0.0, 0.0), (9.0, 1.0, 0.0)]))
    assert found.startswith("CheckResult(is_free=False, verdict=COLLISION, ")
    assert "verdicts=<(3,): 2 COLLISION, 1 FREE>" in found
    assert "statuses=<(3,): 3 SUCCESS>" in found


@pytest.mark.parametrize("make", [Motion.still, lambda: Path.straight([(0.0, 0.0, 0.0)])])
def test_motions_and_paths_compare(make: Callable[[], Any]) -> None:
    assert make() == make() and hash(make()) == hash(make()) and len({make(), make()}) == 1
    others = [
        Motion.still((0.0, 0.0, 1e-300)),
        Motion.path([0.0], [(0.0, 0.0, 0.0)]),
        Path.straight([(0.0, 0.0, 1e-300)]),
        Path.straight([[(0.0, 0.0, 0.0)]]),
        Path.straight([(0.0, 0.0, 0.0)] * 2),
        Path.arcs((0.0, 0.0, 0.0), [(0.0, 0.0)]),
        None,
    ]
    assert all(make() != each for each in others)


def test_negative_zero_is_zero() -> None:
    assert Motion.still((-0.0, 0.0, 0.0)) == Motion.still()
    assert hash(Motion.still((-0.0, 0.0, 0.0))) == hash(Motion.still())
    one, other = Path.straight([(-0.0, 0.0, 0.0)]), Path.straight([(0.0, 0.0, 0.0)])
    assert one == other and hash(one) == hash(other)


def test_a_damaged_state_is_refused() -> None:
    build, (offsets, xy, radii) = CAR.__reduce__()
    for damaged in (
        (offsets[:-1], xy, radii),
        (offsets, xy[:-2], radii),
        (offsets, xy * np.nan, radii),
        (offsets, xy.reshape(-1, 2)[::-1].ravel(), radii),
        (offsets, xy.reshape(-1, 2)[[0, 2, 1, 3]].ravel(), radii),
        (offsets, xy, radii - 1.0),
        (offsets[::-1], xy, radii),
    ):
        with pytest.raises(ValueError, match="damaged"):
            build(*damaged)


def test_a_damaged_state_of_a_scene_is_refused() -> None:
    build, (state, *rest) = TRAFFIC.__reduce__()
    names = "first_part parts poses stamps margins rates lifetimes first_piece pieces origin error"
    assert len(state) == len(names.split())

    def refused(i: int, value: Any) -> None:
        with pytest.raises((ValueError, TypeError)):
            build((*state[:i], value, *state[i + 1 :]), *rest)

    for i in (2, 3, 4, 5, 10):
        for value in (np.nan, np.inf, -1.0)[: 2 if i < 4 else 3]:  # a pose may be negative
            damaged = np.array(state[i], np.float64)
            damaged.reshape(-1)[0] = value
            refused(i, damaged if i < 10 else float(damaged))
    refused(0, state[0][:-1])
    refused(0, np.zeros_like(state[0]))
    refused(9, (np.nan, 0.0))
    for begin, end in ((np.nan, 1.0), (2.0, 1.0), (np.inf, np.inf), (-np.inf, -np.inf)):
        refused(6, np.array([begin, end, *state[6][2:]]))
    refused(6, state[6][:-1])
    offsets, xy, radii = state[1]
    refused(1, (offsets, xy * np.nan, radii))
    refused(1, (offsets, xy, -radii - 1.0))
    pieces = state[8].reshape(-1, 15)
    for column in range(15):
        may_be_negative = column in (0, 1, 2, *range(4, 10))
        for value in () if column == 12 else (np.nan,) if may_be_negative else (np.nan, -1.0):
            damaged = pieces.copy()
            damaged[0, column] = value
            refused(8, damaged.ravel())


def test_a_shape_without_parts_is_refused() -> None:
    two = [0, 1, 1], np.zeros(2), [1.0, 1.0]
    for offsets, points, radii in (([0], [], []), ([0, 0], [], [1.0]), two):
        with pytest.raises(ValueError, match="damaged"):
            Shape._restored(np.array(offsets, np.uint64), np.array(points), np.array(radii))
