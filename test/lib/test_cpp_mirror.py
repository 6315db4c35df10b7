# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A mirror in C++ beside each mirror of the simulation: their answers are equal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from simulation.cpp_planner import program
from simulation.plan import new_plan
from simulation.run import Run


@pytest.fixture(scope="module")
def path() -> Path:
    found = program()
    if found is None:
        pytest.skip("a C++ compiler is needed")
    return found


@pytest.mark.requirement("D-16")
@pytest.mark.timeout(600)  # the first test builds the program
@pytest.mark.parametrize("seed", range(21, 29))
def test_the_mirror_in_cpp_answers_as_in_python(path: Path, seed: int) -> None:
    outcome = Run(new_plan(seed, 15.0), path).execute()
    assert not outcome.violation, f"./dev simulate --seed {seed} --length 15"
    assert outcome.answers["compared with C++"] > 10
