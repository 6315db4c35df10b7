# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Some minutes of the simulated chain: no answer FREE that the oracle cannot justify.

Each seed is a test of its own. ``./dev simulate --seed N`` shows a short history of a
failure.
"""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from simulation import liveness
from simulation.facts import Box, Violation
from simulation.oracle import distance, need
from simulation.plan import new_plan
from simulation.run import Run

LENGTH = 15.0  # s of simulated time per seed


@pytest.mark.requirement("D-13")
@pytest.mark.requirement("D-16")
@pytest.mark.parametrize("seed", range(1, 13))
def test_every_free_is_justified(seed: int) -> None:
    outcome = Run(new_plan(seed, LENGTH)).execute()
    assert not outcome.violation, f"./dev simulate --seed {seed} --length {LENGTH}"


def test_a_calm_chain_answers() -> None:
    """Without faults, the answers are not all UNKNOWN, so that the test above can fail."""
    plan = next(plan for plan in map(new_plan, range(1000)) if len(plan.faults) <= 2)
    outcome = Run(plan).execute()
    assert not outcome.violation
    for kind in ("CheckPoses", "Collide", "mirror"):
        assert outcome.free[kind] > 0.2 * outcome.answers[kind]
    assert outcome.answers["compared"] > 50


@pytest.mark.requirement("N-9")
@pytest.mark.parametrize("row", liveness.rows())
def test_answers_come_back_in_time(row: str) -> None:
    assert not list(liveness.too_late(row, 1))


def test_the_same_seed_is_the_same_history() -> None:
    one, two = (Run(new_plan(3, 5.0)).execute() for _ in range(2))
    assert one == two


def test_the_oracle_can_fail() -> None:
    box = Box(2.0, 0.0, 0.5, 0.5, 0.1)
    assert distance((0.0, 0.0), (0.5, 0.5), box, (0.0, 0.0), 0.0, 0.0) == pytest.approx(0.9)
    assert distance((0.0, 0.0), (0.5, 0.5), box, (-1.5, 0.0), 0.0, 0.0) < 0.0
    with pytest.raises(Violation):
        need(False, "not justified")
