# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The lists of ./dev mutate cpp speak of the code as it is."""

from pathlib import Path
from typing import Any

import pytest
import yaml

SOURCES = Path(__file__).parents[2] / "src_cpp"
TARGETS: dict[str, Any] = yaml.safe_load((SOURCES / "mutation/targets.yaml").read_text())
SURVIVORS: list[dict[str, str]] = yaml.safe_load((SOURCES / "mutation/survivors.yaml").read_text())


def lines_of(file: str) -> list[str]:
    return (SOURCES / "include/gjk" / file).read_text().splitlines()


@pytest.mark.parametrize("file", TARGETS["files"])
def test_each_region_begins_on_one_line(file: str) -> None:
    """A region that is renamed would be mutated, or left out, unnoticed."""
    options = TARGETS["files"][file]
    regions = [*options.get("only", ()), *(r["text"] for r in options.get("left_out", ()))]
    for text in regions:
        assert sum(text in line for line in lines_of(file)) == 1, text
    for test in options["tests"]:
        assert (SOURCES / f"test/{test}.cpp").exists()


@pytest.mark.parametrize("entry", SURVIVORS, ids=lambda entry: entry["to"])
def test_each_survivor_changes_a_line_that_exists(entry: dict[str, str]) -> None:
    """The reason was given for this code; where it changes, the mutant is judged anew."""
    assert entry["from"] in (line.strip() for line in lines_of(entry["file"]))
    assert entry["from"] != entry["to"]
    assert entry["kind"] in ("no effect", "conservative")
    assert entry["reason"]
