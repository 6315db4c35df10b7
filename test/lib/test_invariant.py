# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""FREE without a lower bound of at least the margin is UNKNOWN, INTERNAL_ERROR, and is counted.

The kernel is stood in for: it says FREE of everything, with the bounds of each test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_world import FAR, Time, known

from gjk_collision import Path, Scene, Shape, pairs
from gjk_collision.results import INVARIANT
from gjk_collision.server import questions
from gjk_collision.server.snapshot import Snapshot
from gjk_collision.verdict import Status, Verdict

NAN, INF = float("nan"), float("inf")
MARGIN = 0.5
BROKEN = (0.4999999999999999, 0.0, -1.0, -INF, NAN)
KEPT = (0.5, 0.5000000000000001, 7.0, INF)
BOX = Shape.box(2.0, 2.0)


class Wrong:
    """A kernel's scene that is FREE everywhere, with these lower bounds."""

    def __init__(self, core: Any, bounds: list[float]) -> None:
        self._core = core
        self._bounds = np.array(bounds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def __len__(self) -> int:
        return len(self._core)

    def check(self, shape: Any, poses: Any, *rest: Any) -> dict[str, Any]:
        found = dict(self._core.check(shape, poses, *rest))
        n = len(poses)
        measured = rest[2] > 0
        found["verdicts"] = np.full(n, Verdict.FREE, np.uint8)
        found["statuses"] = np.full(n, Status.SUCCESS, np.uint16)
        found["lower_bounds"] = np.resize(self._bounds, n) if measured else np.full(n, NAN)
        bounds = np.where(np.isnan(self._bounds), -INF, self._bounds)
        found["least_free_bound"] = bounds[:n].min() if measured else INF
        found["worst"], found["first_invalid"] = int(Verdict.FREE), -1
        return found

    def check_paths(self, *arguments: Any) -> dict[str, Any]:
        return self._free_paths(self._core.check_paths(*arguments))

    def check_curves(self, *arguments: Any) -> dict[str, Any]:
        return self._free_paths(self._core.check_curves(*arguments))

    def _free_paths(self, found: dict[str, Any]) -> dict[str, Any]:
        found["verdicts"][:], found["statuses"][:] = Verdict.FREE, Status.SUCCESS
        found["first_invalid_segments"][:], found["last_valid_fractions"][:] = -1, 1.0
        found["lower_bounds"][:] = np.resize(self._bounds, len(found["verdicts"]))
        return found

    def nearest(self, *arguments: Any) -> tuple[Any, ...]:
        indices, _, lower_bounds, *rest = self._core.nearest(*arguments)
        return indices, np.resize(self._bounds, len(indices)), lower_bounds, *rest


def scene(bounds: list[float]) -> Scene:
    made = Scene([BOX], [[9.0, 0.0, 0.0]])
    made._core = Wrong(made._core, bounds)  # type: ignore[assignment]
    return made


def snapshot(bounds: list[float], near: list[float] | None = None) -> Snapshot:
    found = known(Time(), (0.0, 0.0), safety_margin=MARGIN).snapshot(**Time().both)
    wrong = Scene([BOX], [[9.0, 0.0, 0.0]], ids=[10])
    double = Wrong(wrong._core, bounds)
    if near is not None:
        double.nearest = Wrong(wrong._core, near).nearest  # type: ignore[method-assign]
    wrong._core = double  # type: ignore[assignment]
    return replace(found, scene=wrong)


@pytest.fixture
def counted() -> Iterator[list[int]]:
    """How many violations a test makes is put in here by it; their number must be right."""
    before, expected = INVARIANT.violations, [0]
    yield expected
    assert INVARIANT.violations - before == expected[0]


ERROR = (Verdict.UNKNOWN, Status.INTERNAL_ERROR)
FREE = (Verdict.FREE, Status.SUCCESS)


@pytest.mark.requirement("V-16")
@pytest.mark.parametrize("bound", [*BROKEN, *KEPT])
def test_every_answer_with_a_bound(bound: float, counted: list[int]) -> None:
    right = FREE if bound in KEPT else ERROR
    poses = np.zeros((1, 3))
    for mode in ("distance", "witness"):
        found = scene([bound]).check(BOX, poses, margin=MARGIN, mode=mode)
        assert (found.verdict, found.statuses[0]) == right
        assert found.is_free == (right == FREE)
        assert found.first_invalid_index == (-1 if right == FREE else 0)
    for swept in (True, False):
        path = scene([bound]).check_path(BOX, poses, margin=MARGIN, swept=swept)
        assert (path.verdict, path.status) == right
        assert path.is_free == (right == FREE)
        assert path.first_invalid_segment == (-1 if right == FREE else 0)
        assert path.last_valid_fraction == (1.0 if right == FREE else 0.0)
    for arcs in ([(0.0, 1.0)], [[(0.0, 1.0)]]):
        curve = scene([bound]).check_path(BOX, Path.arcs((0, 0, 0), arcs), margin=MARGIN)
        assert curve.verdict is right[0]
        assert curve.is_free == (right == FREE)
    known = snapshot([bound])
    flat = np.array([50.0, 0.0, 0.0])
    for mode in (1, 2):
        many = questions.check_poses(known, flat, mode=mode)
        assert (many.answer.verdict, many.answer.status) == right
        assert many.statuses[0] == right[1]
        assert many.first_invalid_index == (-1 if right == FREE else 0)
    answer = questions.check_path(known, flat).answer
    assert (answer.verdict, answer.status) == right
    near = questions.distance(known, FAR)
    assert (near.answer.verdict, near.answer.status) == right
    beat = questions.state(known, FAR)
    assert (beat.answer.verdict, beat.answer.status) == right
    # The list of the nearest has distances of its own.
    for ask in (questions.distance, questions.state):
        found = ask(snapshot([7.0], near=[bound]), FAR).answer
        assert (found.verdict, found.status) == right
    counted[0] = 0 if right == FREE else 13


@pytest.mark.requirement("V-16")
def test_the_rest_of_a_batch_stays(counted: list[int]) -> None:
    bounds = [7.0, 0.5, 0.4, NAN, 0.6]
    found = scene(bounds).check(BOX, np.zeros((5, 3)), margin=MARGIN, mode="distance")
    assert found.verdicts.tolist() == [1, 1, 0, 0, 1]
    assert found.statuses.tolist() == [1, 1, 99, 99, 1]
    assert found.first_invalid_index == 2
    assert not found.is_free
    counted[0] = 2


@pytest.mark.requirement("V-16")
def test_pairs(monkeypatch: pytest.MonkeyPatch, counted: list[int]) -> None:
    two = Scene([BOX, BOX], [[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    right = pairs._core.check_pairs

    def wrong(*arguments: Any) -> tuple[Any, ...]:
        verdicts, statuses, distances, lower_bounds, *rest, _ = right(*arguments)
        verdicts[:] = Verdict.FREE
        return verdicts, statuses, distances, lower_bounds, *rest, float(lower_bounds.min())

    monkeypatch.setattr(pairs._core, "check_pairs", wrong)
    found = pairs.check_pairs(two, two, margin=MARGIN, mode="distance")
    assert found.verdicts.tolist() == [0, 1, 1, 0]
    assert found.statuses.tolist() == [99, 1, 1, 99]
    counted[0] = 2


@pytest.mark.requirement("V-16")
def test_the_bound_of_the_nearest_is_not_below_that_of_the_verdict() -> None:
    """An exact gap one ulp above the margin: the bound of the list alone is rounded down."""
    for gap in (0.1, 0.3, 1.0, 3.0):
        margin = np.nextafter(gap, 0.0)
        time = Time()
        world = known(time, (0.0, 0.0), safety_margin=float(margin))
        near = questions.distance(world.snapshot(**time.both), FAR._replace(x=2.0 + gap))
        if near.answer.verdict is Verdict.FREE:
            assert (near.lower_bounds >= margin).all()


@pytest.mark.requirement("V-16")
def test_what_the_kernel_found_itself_is_counted(
    monkeypatch: pytest.MonkeyPatch, counted: list[int]
) -> None:
    made = scene([7.0])
    free = made._core.check

    def found_wrong(*arguments: Any) -> dict[str, Any]:
        found = free(*arguments)
        found["verdicts"][1], found["statuses"][1] = ERROR
        return {**found, "least_free_bound": -INF}

    monkeypatch.setattr(made._core, "check", found_wrong)
    for mode in ("collide", "distance", "witness"):
        found = made.check(BOX, np.zeros((3, 3)), margin=MARGIN, mode=mode)
        assert found.verdicts.tolist() == [1, 0, 1]
        assert found.verdict is Verdict.UNKNOWN
        assert found.first_invalid_index == 1
    right = made._core.check_paths
    error = {"verdicts": np.array([0], np.uint8), "statuses": np.array([99], np.uint16)}
    monkeypatch.setattr(
        made._core, "check_paths", lambda *arguments: {**right(*arguments), **error}
    )
    path = made.check_path(BOX, np.zeros((1, 3)), margin=MARGIN)
    assert (path.verdict, path.status) == ERROR
    counted[0] = 4


def test_the_kernel_tells_the_least_bound_of_what_is_free() -> None:
    """It is what the invariant is checked by; -inf where a bound is missing, inf where none is."""
    two = Scene([BOX, BOX], [[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    poses = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 0.1], [30.0, 0.0, 0.0], [5.0, 20.0, 0.0]])
    for mode in (0, 1, 2):
        for rows in (poses, poses[:1]):
            one = np.empty(0, np.uint32)
            found = two._core.check(
                [BOX._core], rows, np.empty(0), 0.0, mode, False, 1, True, 0, one
            )
            free = found["verdicts"] == Verdict.FREE
            least = min(found["lower_bounds"][free].tolist(), default=INF) if mode else INF
            assert found["least_free_bound"] == least
        *_, bounds, _, _, least = pairs._core.check_pairs(two._core, two._core, None, 0.0, mode, 1)
        assert least == (INF if not mode else bounds[1])
