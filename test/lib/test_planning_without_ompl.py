# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A planner of one's own needs no OMPL."""

import sys

import pytest

from gjk_collision import InputError, Scene, Shape

CAR = Shape.box(4.0, 2.0, center=(1.0, 0.0))


@pytest.fixture(autouse=True)
def no_ompl(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("gjk_collision.planning")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ompl", None)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan")])
def test_lengths_must_be_positive(bad: float) -> None:
    from gjk_collision.planning import edge_margin, edge_poses

    with pytest.raises(InputError, match="step: must be greater than 0"):
        edge_margin(bad, 1.0, 1.0)
    with pytest.raises(InputError, match="turning_radius: must be greater than 0"):
        edge_margin(1.0, 1.0, bad)

    for wrong in (float("nan"), float("inf"), -1.0):
        with pytest.raises(InputError, match="reach: must be finite and not negative"):
            edge_margin(1.0, wrong, 1.0)
    assert edge_margin(1.0, 0.0, 1.0) == 0.5

    class Line:
        def distance(self, start: float, end: float) -> float:
            return end - start

    with pytest.raises(InputError, match="step: must be greater than 0"):
        edge_poses(Line(), 0.0, 1.0, bad)


def test_margin_reach_and_checkers() -> None:
    from gjk_collision.planning import edge_margin, path_checker, reach, scene_checker

    assert reach(CAR) == pytest.approx(10**0.5)
    assert edge_margin(0.5, reach(CAR), 5.0) == pytest.approx(0.25 * (1.0 + 10**0.5 / 5.0))
    scene = Scene([Shape.circle(0.5, (0.0, 5.0))])
    ends = [(0.0, 0.0, 0.0), (0.0, 10.0, 0.0)]
    assert scene_checker(scene, CAR)(ends).is_free
    assert not path_checker(scene, CAR)(ends).is_free


def test_says_what_to_install() -> None:
    with pytest.raises(ImportError, match="pip install ompl"):
        from gjk_collision.planning import MotionValidator  # noqa: F401
