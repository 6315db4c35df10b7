# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Each example of the library runs, and is short."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = sorted(
    each
    for each in (Path(__file__).parents[2] / "examples").glob("*.py")
    if each.stem != "commonroad_scenario"  # needs a file: test_commonroad.py
)
NEEDS = {"parking_casadi": "casadi", "parking_ompl": "ompl", "speed_filter": "osqp"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs(example: Path) -> None:
    assert len(example.read_text().splitlines()) < 60
    needed = NEEDS.get(example.stem)
    if needed is not None and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed (pip install {needed})")
    done = subprocess.run([sys.executable, example], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and not done.stderr


def test_there_are_examples() -> None:
    assert EXAMPLES
