# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The first table of docs/benchmarks.md has the figures of the pages, and hides no loss."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKS = "<!-- begin summary -->\n<!-- end summary -->\n"
KERNEL = """<!-- begin level 1 -->
| level 1, distant | 4 | 8 |
| --- | ---: | ---: |
| **gjk** | 0.10 (1) | 0.10 (1) |
| gjk from vertices | 0.50 (20) | 0.60 (30) |
| Box2D from vertices | 1.00 (40) | 1.00 (50) |
| slow from vertices | 2.00 (80) ~5 % | 0.50 (25) ~5 % |
| wrong from vertices | 0.10 (4) | wrong in 3 % |
<!-- end level 1 -->
"""
SCENE = """<!-- begin scene -->
Microseconds per pose, collides, and so on:

| obstacles | gjk | shapely STRtree | Coal |
| --- | ---: | ---: | ---: |
| 1000 | 0.10 | 1.00 | 5.00 |
| 10000 | 0.40 | {peer} | 6.00 |

Microseconds per pose, nearest distance, and so on:

| obstacles | gjk | shapely STRtree |
| --- | ---: | ---: |
| 10000 | 0.50 | 8.00 |
<!-- end scene -->
"""


def summary(folder: Path, peer: str) -> dict[str, list[str]]:
    """Return the cells of the table by its first column."""
    (folder / "benchmarks.md").write_text(MARKS + KERNEL)
    (folder / "benchmarks-scene.md").write_text(SCENE.format(peer=peer))
    subprocess.run([sys.executable, ROOT / "bench/summary.py", folder], check=True)
    block = (folder / "benchmarks.md").read_text().partition("<!-- end summary")[0]
    lines = block.splitlines()[3:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {first: rest for first, *rest in cells}


COLLIDE = "one pose among 10 000 obstacles, of many in a call: collide"
DISTANCE = "one pose among 10 000 obstacles, of many in a call: distance"
COMMAND = "`./dev bench --scene --docs`"


def test_figures_are_those_of_the_page(tmp_path: Path) -> None:
    """A wrong row or column of the page would be reported as the result."""
    table = summary(tmp_path, "2.00")
    assert table[COLLIDE] == ["0.40 us", "shapely STRtree: 2.00 us", "5.00", COMMAND]
    assert table[DISTANCE] == ["0.50 us", "shapely STRtree: 8.00 us", "16", COMMAND]


def test_a_faster_peer_is_bold(tmp_path: Path) -> None:
    """A loss would look like a success."""
    assert summary(tmp_path, "0.30")[COLLIDE][2] == "**0.75**"


def test_the_fastest_peer_with_right_answers_counts(tmp_path: Path) -> None:
    """A faster peer would be left out, or one that guesses would be counted."""
    row = summary(tmp_path, "2.00")["two polygons from vertices, in C++: collide"]
    ours, peer, ratio, _ = row
    assert (ours, ratio) == ("20 to 30 ns", "**0.83 to 2.00**")
    assert peer == "the fastest of Box2D, slow: 25 to 40 ns"


def test_a_missing_figure_names_its_command(tmp_path: Path) -> None:
    """A row without figures would be left out, or stop the others."""
    table = summary(tmp_path, "")
    assert table[COLLIDE] == ["not measured", "shapely STRtree", "", COMMAND]
    assert table[DISTANCE][0] == "0.50 us"
    assert table["a question to the mirror, 1 pose"][0] == "not measured"


def test_the_table_is_that_of_the_pages(tmp_path: Path) -> None:
    """A page was measured again, and the first table has its old figures."""
    for page in (ROOT / "docs").glob("benchmarks*.md"):
        (tmp_path / page.name).write_text(page.read_text())
    subprocess.run([sys.executable, ROOT / "bench/summary.py", tmp_path], check=True)
    new = (tmp_path / "benchmarks.md").read_text()
    assert new == (ROOT / "docs/benchmarks.md").read_text()
    assert len(re.findall(r"^\| .*`./dev bench", new, re.MULTILINE)) > 10
