# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``trace``: how the verdict on the vehicle and an obstacle of a bag was decided."""

from pathlib import Path

import pytest
from write_scenarios import write

from gjk_collision import Shape
from gjk_collision.__main__ import main
from gjk_collision.replay.pair import Pair
from gjk_collision.report.decision import decision
from gjk_collision.server.frames.poses import Pose

BOX = Shape.box(2, 2)


def facts(b: Shape, pose: Pose, margin: float = 0.0) -> dict[str, str]:
    return dict(decision(Pair(BOX, Pose(), b, pose, margin)))


def test_the_step_and_the_certificate_are_told() -> None:
    apart = facts(BOX, Pose(5.0, 0.0, 0.0))
    assert apart["verdict on this pair"] == "FREE"
    assert apart["direction from a to b"] == "(1, 0)"
    assert apart["decided by"].startswith("step 'turned boxes': the bounding boxes")
    assert apart["closest point of a"].startswith("(1, ")
    over = facts(BOX, Pose(0.5, 0.25, 0.3))
    assert over["verdict on this pair"] == "COLLISION"
    assert over["distance"] == "-1.6993084 m"
    assert over["decided by"].startswith("step 'overlap': polygons inside of the shapes")
    assert facts(BOX, Pose(2.0, 0.0, 0.0))["verdict on this pair"] == "COLLISION"
    assert facts(Shape.circle(0.5), Pose(1.5, 0.0, 0.0))["verdict on this pair"] == "COLLISION"


@pytest.mark.parametrize(
    ("x", "margin", "verdict"),
    [(3.0, 0.0, "FREE"), (3.0, 0.5, "FREE"), (3.0, 1.0, "MARGIN"), (2.0, 0.5, "COLLISION")],
)
def test_the_verdict_is_with_the_margin(x: float, margin: float, verdict: str) -> None:
    """The gap is x - 2; a gap that is equal to the margin is not FREE."""
    found = facts(BOX, Pose(x, 0.0, 0.0), margin)
    assert found["verdict on this pair"] == verdict
    assert found["required margin"] == f"{margin:g} m"
    with_margin, _, without = found["decided by"].partition(". Without the margin, ")
    assert bool(without) == (margin > 0.0 and verdict != "FREE")
    assert ("overlap" in without or "no edge" in without) == (bool(without) and x == 2.0)
    assert with_margin.removeprefix("with the margin, ").startswith("step '")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = str(write(tmp_path, "street"))
    assert main(["trace", bag, "--at", "4.7"]) == 0
    output = capsys.readouterr().out
    assert (
        "FREE/SUCCESS, safety margin 0 m, frame odom\na is the vehicle, b is obstacle 6" in output
    )
    assert "distance: 0.41" in output, "as the replay says: 0.417 m to the walker"
    assert main(["trace", bag, "--at", "4.7", "--id", "9"]) == 0
    for wrong, text in (
        (["--at", "99"], "must be between 0 and the end of the bag, 8.000000 s (got 99 s)"),
        (["--at", "1", "--id", "77"], "obstacle 77 is not known"),
        ([], "--at: the time is missing"),
        ([bag, "--at", "1"], "must be one bag"),
    ):
        assert main(["trace", bag, *wrong]) == 2
        assert text in capsys.readouterr().err
