# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The first table of docs/benchmarks.md, from the tables that the benchmarks wrote into docs/.

python summary.py [DOCS]

DOCS is the folder of the pages, by default docs/ of this checkout. A row whose figures are missing
names the command that produces them.
"""

import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from report import put

HEADER = ("what you do", "ours", "the peer", "peer / ours", "command")
MISSING = "not measured"


@dataclass
class Row:
    """A row of the table: two times of the same question, in the same unit."""

    task: str
    command: str
    peer: str = ""
    ours: str = MISSING
    theirs: str = ""
    ratio: str = ""

    def cells(self) -> list[str]:
        """Return the cells in the order of `HEADER`."""
        peer = f"{self.peer}: {self.theirs}" if self.theirs else self.peer
        return [self.task, self.ours, peer, self.ratio, f"`{self.command} --docs`"]


def blocks(file: Path) -> dict[str, str]:
    """Return the text of each block of a page."""
    text = file.read_text() if file.exists() else ""
    marked = re.compile(r"<!-- begin ([^>]*?) -->\n(.*?)<!-- end \1 -->", re.DOTALL)
    return dict(marked.findall(text))


def cells(text: str, row: str, column: str, after: str = "") -> list[str]:
    """Return the cells of the tables of a text, by patterns of the whole row and column names.

    If `after` is not empty, only the first table after it is used.
    """
    found = []
    tables = re.findall(r"(?:^\|.*\n)+", text.partition(after)[2] if after else text, re.MULTILINE)
    for each in tables[: 1 if after else None]:
        split = [[c.strip() for c in line.split("|")[1:-1]] for line in each.splitlines()]
        header, _, *lines = split
        for line in lines:
            if re.fullmatch(row, line[0]):
                pairs = zip(header[1:], line[1:], strict=False)
                found += [cell for name, cell in pairs if re.fullmatch(column, name) and cell]
    return found


def number(cell: str) -> float:
    """Return the first number in a cell."""
    match = re.search(r"\d+(?:\.\d+)?", cell)
    if match is None:
        raise ValueError(f"no number in '{cell}'")
    return float(match[0])


def span(values: list[float], unit: str = "") -> str:
    """Return the least and the greatest value."""
    low, high = (f"{v:.2f}" if v < 10 else f"{v:.0f}" for v in (min(values), max(values)))
    return (low if low == high else f"{low} to {high}") + (f" {unit}" if unit else "")


def ratios(values: list[float]) -> str:
    """Return a span, bold where a peer is faster."""
    return f"**{span(values)}**" if min(values) < 1.0 else span(values)


def row(
    task: str, command: str, peer: str, unit: str, ours: list[str], theirs: list[str],
    note: str = "",
) -> Row:  # fmt: skip
    """Return a row, without figures if some are missing."""
    made = Row(task, command, peer)
    if ours and len(ours) == len(theirs):
        mine, other = ([number(cell) for cell in each] for each in (ours, theirs))
        made.ours, made.theirs = span(mine, unit), span(other, unit) + note
        quotients = [b / a for a, b in zip(mine, other, strict=True)]
        made.ratio = ratios(quotients)
    return made


def in_brackets(cells: list[str]) -> list[str]:
    """Return the times of cells such as '0.58 (43)'."""
    return [match[1] for cell in cells if (match := re.search(r"\((\d+)\)", cell))]


def rows(docs: Path) -> list[Row]:
    """Return the rows of the table."""
    pages = (blocks(docs / f"benchmarks{n}.md") for n in ("", "-scene", "-node", "-planning"))
    kernel, scene, node, planning = (defaultdict(str, page) for page in pages)
    made = []

    for question, level in (("collide", "level 1"), ("distance", "level 2")):
        ours = in_brackets(cells(kernel[level], "gjk from vertices", r"\d+"))
        names = re.findall(r"^\| (?!gjk)([^|]*) from vertices ", kernel[level], re.MULTILINE)
        peers = {
            name: in_brackets(cells(kernel[level], f"{re.escape(name)} from vertices", r"\d+"))
            for name in names or ["Box2D"]
        }
        # A peer with wrong answers has fewer times.
        right = {name: times for name, times in peers.items() if len(times) == len(ours)}
        fastest = [min(each, key=number) for each in zip(*right.values(), strict=True)]
        task = f"two polygons from vertices, in C++: {question}"
        name = ("the fastest of " if len(right) > 1 else "") + ", ".join(right)
        made.append(row(task, "./dev bench", name, "ns", ours, fastest))
    for way in ("a pair per call", "all pairs in a call"):
        for question in ("collide", "distance"):
            which = f"{question}, {way}, n = .*"
            pair = [cells(kernel["one shot"], which, name) for name in ("gjk", "shapely")]
            task = f"two polygons from vertices, in Python, {way}: {question}"
            made.append(row(task, "./dev bench --one-shot", "shapely", "us", *pair))

    command = "./dev bench --scene"
    for question, title in (("collide", "collides"), ("distance", "nearest distance")):
        after = f"Microseconds per pose, {title}"
        names = ("gjk", "shapely STRtree")
        pair = [cells(scene["scene"], "10000", name, after) for name in names]
        task = f"one pose among 10 000 obstacles, of many in a call: {question}"
        made.append(row(task, command, "shapely STRtree", "us", *pair))
    for question in ("collide", "distance"):
        after = "Nanoseconds per pose-obstacle pair"
        pair = [cells(scene["scene"], question, name, after) for name in ("gjk", "shapely")]
        task = f"1000 trajectories among moving cars, per pose and car: {question}"
        made.append(row(task, command, "shapely", "ns", *pair))

    time, first = "ms per cycle", ", each rollout to its first contact"
    ours = cells(planning["mppi"], f"gjk{first}", time)
    for peer in ("shapely, all poses", f"raster in C++{first}"):
        label = re.escape(peer)
        wrong = [
            [number(cell) for cell in cells(planning["mppi"], label, f"rollouts falsely {how}")]
            for how in ("free", "occupied")
        ]
        shares = [a + b for a, b in zip(*wrong, strict=True)]
        note = f", wrong for {span(shares)} % of the rollouts" if shares else ""
        pair = [ours, cells(planning["mppi"], label, time)]
        task = "a cycle of nav2's MPPI, 2000 x 56 poses: collide"
        made.append(row(task, "./dev bench --mppi", peer.split(",")[0], "ms", *pair, note=note))

    for peer in ("shapely", "python-fcl"):
        pair = [
            cells(planning["planning rows"], f".*, {name}", "in checks, ms")
            for name in ("ours, certified edges", peer)
        ]
        task = "a plan of OMPL (RRTConnect, RRT\\*, BIT\\*, PRM): time in checks"
        name = f"{peer}, states 0.2 m apart"
        made.append(row(task, "./dev bench --planning", name, "ms", *pair))

    command, jazzy = "./dev bench --node", node["jazzy"]
    for poses, label in (("1 pose", "`~/collide`"), ("1000 poses", "`~/check_poses`, 1000 poses")):
        pair = [cells(jazzy, label, name) for name in ("collision_server", "empty service")]
        task = f"a request to the service, {poses}"
        made.append(row(task, command, "an empty service", "us", *pair))
    for poses in ("1 pose", "1000 poses"):
        task = f"a question to the mirror, {poses}"
        for peer in ("service", "library alone"):
            pair = [cells(jazzy, poses, name) for name in ("mirror", peer)]
            made.append(row(task, command, f"the {peer}", "us", *pair))
    return made


def table(lines: list[Row]) -> str:
    """Return the table in Markdown."""
    rule = ["---", "---:", "---", "---:", "---"]
    all_lines = [list(HEADER), rule, *(line.cells() for line in lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in all_lines)


def main() -> None:
    docs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs"
    put(docs / "benchmarks.md", {"summary": table(rows(docs))})


if __name__ == "__main__":
    main()
