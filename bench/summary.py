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
from pathlib import Path

from page import put, table

HEADER = ["what you do", "ours", "the peer", "peer / ours", "command"]
MISSING = "not measured"


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
    task: str, option: str, peer: str, unit: str, ours: list[str], theirs: list[str],
    note: str = "",
) -> list[str]:  # fmt: skip
    """Return a row, without figures if some are missing."""
    command = f"`./dev bench{option and f' --{option}'} --docs`"
    if not ours or len(ours) != len(theirs):
        return [task, MISSING, peer, "", command]
    mine, other = ([number(cell) for cell in each] for each in (ours, theirs))
    quotients = ratios([b / a for a, b in zip(mine, other, strict=True)])
    return [task, span(mine, unit), f"{peer}: {span(other, unit)}{note}", quotients, command]


def in_brackets(cells: list[str]) -> list[str]:
    """Return the times of cells such as '0.58 (43)'."""
    return [match[1] for cell in cells if (match := re.search(r"\((\d+)\)", cell))]


def rows(docs: Path) -> list[list[str]]:
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
        made.append(row(task, "", name, "ns", ours, fastest))

    def add(
        task: str, option: str, peer: str, unit: str, text: str, questions: tuple[str, str],
        columns: tuple[str, str], after: str = "", note: str = "",
    ) -> None:  # fmt: skip
        """Add a row from the cells of our and the peer's row and column."""
        pair = [cells(text, *each, after) for each in zip(questions, columns, strict=True)]
        made.append(row(task, option, peer, unit, *pair, note=note))

    for way in ("a pair per call", "all pairs in a call"):
        for question in ("collide", "distance"):
            task = f"two polygons from vertices, in Python, {way}: {question}"
            which = f"{question}, {way}, n = .*"
            names = ("gjk", "shapely")
            add(task, "one-shot", "shapely", "us", kernel["one shot"], (which, which), names)

    for question, title in (("collide", "collides"), ("distance", "nearest distance")):
        task = f"one pose among 10 000 obstacles, of many in a call: {question}"
        names = ("gjk", "shapely STRtree")
        after = f"Microseconds per pose, {title}"
        add(task, "scene", names[1], "us", scene["scene"], ("10000", "10000"), names, after)
    for question in ("collide", "distance"):
        task = f"1000 trajectories among moving cars, per pose and car: {question}"
        names, after = ("gjk", "shapely"), "Nanoseconds per pose-obstacle pair"
        add(task, "scene", "shapely", "ns", scene["scene"], (question, question), names, after)

    time, first, text = "ms per cycle", ", each rollout to its first contact", planning["mppi"]
    for peer in ("shapely, all poses", f"raster in C++{first}"):
        label = re.escape(peer)
        wrong = [
            [number(cell) for cell in cells(text, label, f"rollouts falsely {how}")]
            for how in ("free", "occupied")
        ]
        shares = [a + b for a, b in zip(*wrong, strict=True)]
        note = f", wrong for {span(shares)} % of the rollouts" if shares else ""
        task, name = "a cycle of nav2's MPPI, 2000 x 56 poses: collide", peer.split(",")[0]
        add(task, "mppi", name, "ms", text, (f"gjk{first}", label), (time, time), note=note)

    for peer in ("shapely", "python-fcl"):
        task = "a plan of OMPL (RRTConnect, RRT\\*, BIT\\*, PRM): time in checks"
        name, time = f"{peer}, states 0.2 m apart", "in checks, ms"
        labels = (".*, ours, certified edges", f".*, {peer}")
        add(task, "planning", name, "ms", planning["planning rows"], labels, (time, time))

    for poses, label in (("1 pose", "`~/collide`"), ("1000 poses", "`~/check_poses`, 1000 poses")):
        task, names = f"a request to the service, {poses}", ("collision_server", "empty service")
        add(task, "node", "an empty service", "us", node["jazzy"], (label, label), names)
    for poses in ("1 pose", "1000 poses"):
        for peer in ("service", "library alone"):
            task, names = f"a question to the mirror, {poses}", ("mirror", peer)
            add(task, "node", f"the {peer}", "us", node["jazzy"], (poses, poses), names)
    return made


def main() -> None:
    docs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs"
    put(docs / "benchmarks.md", {"summary": table(HEADER, rows(docs), left=(0, 2, 4))})


if __name__ == "__main__":
    main()
