# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Each example of the library runs, and is short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
NEEDS = {"parking_ompl": "ompl"}  # packages beyond the library's own


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_runs(example: Path) -> None:
    if example.stem in NEEDS:
        package = NEEDS[example.stem]
        pytest.importorskip(package, reason=f"{package} is not installed (pip install {package})")
    done = subprocess.run([sys.executable, example], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and not done.stderr
    assert len(example.read_text().splitlines()) < 60


def test_there_are_examples() -> None:
    assert EXAMPLES
