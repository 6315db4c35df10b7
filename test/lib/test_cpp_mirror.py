# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A mirror in C++ beside each mirror of the simulation: their answers are equal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from simulation.cpp_planner import PairedPlanner, program
from simulation.plan import new_plan
from simulation.run import Run


@pytest.fixture(scope="module")
def path() -> Path:
    found = program()
    if found is None:
        pytest.skip("a C++ compiler is needed")
    return found


@pytest.mark.timeout(600)  # the first test builds the program
@pytest.mark.parametrize("seed", range(21, 29))
def test_the_mirror_in_cpp_answers_as_in_python(path: Path, seed: int) -> None:
    run = Run(new_plan(seed, 15.0))
    for each in run.mirrors:
        each.server = PairedPlanner(path, each.server.clock, run.now)
    try:
        outcome = run.execute()
        assert not outcome.violation, f"seed {seed}"
        assert all(each.server.compared > 50 for each in run.mirrors)
    finally:
        for each in run.mirrors:
            each.server.close()
