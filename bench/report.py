# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables and a plot from the JSON of gjk_bench.

python report.py POLYGONS.json BOXES.json --svg FILE [--docs docs/benchmarks.md] [--command TEXT]

BOXES.json has the results for rectangles. --docs rewrites what lies between
``<!-- begin NAME -->`` and ``<!-- end NAME -->`` there.
"""

import json
import math
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from page import machine, parser, plotter, publish, save, table

KINDS = ("distant", "overlap", "touch")
COUNTS = (4, 8, 12, 16, 20, 24)
OURS = "gjk"
BASE = "Box2D"

BATCH = "gjk batch"
# Shapes in their own frames with transforms, beside Box2D given the same.
AT_POSES = "gjk at poses"
# Both make their own form of the shapes from the vertices, in the time that is measured.
FROM_VERTICES = "gjk from vertices"
BASES = {AT_POSES: "Box2D at poses", FROM_VERTICES: "Box2D from vertices"}


def base_of(row: str) -> str:
    """Box2D's row for the same input as `row`."""
    endings = (base.removeprefix(BASE) for base in BASES.values())
    return BASE + next((ending for ending in endings if row.endswith(ending)), "")


# Time divided by Box2D's, at most; by (level, kind). Touching squares may take longer.
GOALS = {
    (1, "distant"): 0.10,
    (1, "overlap"): 0.30,
    (1, "touch"): 0.60,
    (2, "distant"): 0.45,
    (2, "overlap"): 0.33,
    (2, "touch"): 0.55,
}


def goal(level: int, kind: str, n: int) -> float:
    """Goal of a cell."""
    return 0.80 if (level, kind, n) == (1, "touch", 4) else GOALS[level, kind]


@dataclass
class Cell:
    """Passes of one row over one dataset."""

    times: list[float] = field(default_factory=list)  # ns per query
    queries: float = 0.0
    wrong: float = 0.0
    inexact: float = 0.0
    base: "Cell | None" = None  # Box2D's in the same run for the same input; see `BASES`

    @property
    def median(self) -> float:
        """Median over the passes, ns per query."""
        return statistics.median(self.times)

    @property
    def ratio(self) -> float:
        """Time divided by Box2D's, NaN where one of them was not measured."""
        return self.median / self.base.median if self.base and self.times else math.nan

    @property
    def mark(self) -> str:
        """Mark of a row that calls some contacts otherwise than exact arithmetic does."""
        return f" ~{per_cent(self.inexact / self.queries)}" if self.inexact else ""

    def __str__(self) -> str:
        if math.isnan(self.ratio):
            return ""
        if self.wrong:
            return f"wrong in {per_cent(self.wrong / self.queries)}"
        return f"{self.ratio:.2f} ({self.median:.0f}){self.mark}"


class Results:
    """Cells by level, kind, number of vertices and row."""

    def __init__(self, file: Path) -> None:
        document = json.loads(file.read_text())
        self.context: dict[str, str] = document["context"]
        self.cells: dict[tuple[int, str, int, str], Cell] = {}
        for run in document["benchmarks"]:
            if run["run_type"] == "iteration":
                self._add(run)
        for (*where, row), cell in self.cells.items():
            cell.base = self.cells.get((*where, base_of(row)))
        # Box2D, ours, separating axes, then the others by name.
        first = (BASE, OURS, "gjk ", "SAT")
        self.rows = sorted(
            {row for *_, row in self.cells},
            key=lambda row: (next((i for i, f in enumerate(first) if row.startswith(f)), 9), row),
        )

    def _add(self, run: dict[str, Any]) -> None:
        level, kind, n, row = run["name"].split("/")[:4]
        cell = self.cells.setdefault((int(level[-1]), kind, int(n), row), Cell())
        cell.times += [run["real_time"]] if run["real_time"] > 0 else []
        cell.queries += run["queries"]
        cell.wrong += run["wrong"]
        cell.inexact += run["inexact"]

    def table(self, header: list[str], columns: list[tuple[int, str, int]]) -> str:
        """All rows that have a cell in some of the columns."""
        lines = []
        for row in self.rows:
            cells = [str(self.cells.get((*column, row), "")) for column in columns]
            if any(cells):
                lines.append([f"**{row}**" if row == OURS else row, *cells])
        return table(header, lines)

    def fastest_peer(
        self, level: int, kind: str, n: int, base: str = BASE, exact: bool = False
    ) -> tuple[float, str, str]:
        """Fastest peer that is given the same as `base` and is never wrong: ratio, name, mark.

        `exact`: it is right at contacts too.
        """
        peers = [row for row in self.rows if not row.startswith(OURS) and base_of(row) == base]
        cells = {row: self.cells[level, kind, n, row] for row in peers
                 if (level, kind, n, row) in self.cells}  # fmt: skip
        candidates = [
            (cell.ratio, row, cell.mark)
            for row, cell in cells.items()
            if cell.ratio > 0.0 and not cell.wrong and not (exact and cell.inexact)
        ]
        return min(candidates, default=(math.inf, "none", ""))


def per_cent(share: float) -> str:
    """Percentage with two significant digits."""
    return f"{100 * share:.2g} %"


def bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def goal_table(results: Results) -> str:
    """Our ratio, the goal, and the fastest peer with right answers, in every cell."""
    lines = []
    for (level, kind), limit in GOALS.items():
        ours, peers, exact = [], [], []
        for n in COUNTS:
            ratio = results.cells[level, kind, n, OURS].ratio
            ours.append(bold(f"{ratio:.2f}", ratio > goal(level, kind, n)))
            fastest, name, mark = results.fastest_peer(level, kind, n)
            peers.append(bold(f"{fastest:.2f} {name}{mark}", fastest < ratio))
            exact.append("{:.2f} {}".format(*results.fastest_peer(level, kind, n, exact=True)))
        small = f" ({goal(level, kind, 4):.2f} at 4)" if goal(level, kind, 4) != limit else ""
        lines.append([f"level {level}, {kind}", f"{limit:.2f}{small}", *ours])
        lines.append(["fastest peer", "", *peers])
        if (level, kind) == (1, "touch"):
            lines.append(["fastest peer, exact at contact", "", *exact])
    return table(["", "goal", *COUNTS], lines)


def losses(results: Results) -> str:
    """Where a goal is missed or a peer is faster, in words."""
    lines = []
    for row in (OURS, BATCH, *BASES):
        where = {OURS: "", BATCH: ", in a batch"}.get(row, f", {row.removeprefix(f'{OURS} ')}")
        for level, kind in GOALS:
            name = f"- Level {level}, {kind}{where}"
            missed, beaten = [], []
            for n in COUNTS:
                if (level, kind, n, row) not in results.cells:
                    continue
                ratio, limit = results.cells[level, kind, n, row].ratio, goal(level, kind, n)
                if row == OURS and ratio > limit:
                    missed.append(f"{n} ({ratio:.2f}, goal {limit:.2f})")
                fastest, peer, mark = results.fastest_peer(level, kind, n, base_of(row))
                if fastest < ratio:
                    beaten.append(f"{n} ({peer}{mark}, {ratio / fastest:.2f} times as fast)")
            if missed:
                lines.append(f"{name}: misses the goal at n = {', '.join(missed)}.")
            if beaten:
                lines.append(f"{name}: a peer is faster at n = {', '.join(beaten)}.")
    return "\n".join(lines) or "Nowhere in this run: every goal is met, no peer is faster."


def circumstances(results: Results, command: str) -> str:
    """Table of what was measured, on what, with what, when."""
    context = results.context
    passes = max(len(cell.times) for cell in results.cells.values())
    cases = max(cell.queries for cell in results.cells.values()) / passes
    lines = [
        ["date", time.strftime("%Y-%m-%d")],
        ["machine", machine()],
        ["compiler", context["compiler"] + ", -O3 -ffp-contract=off"],
        ["peers", context["peers"].replace("_", ".")],
        ["absent peers", context["absent peers"] or "none"],
        ["cases", f"{cases:.0f} per cell, {passes} passes"],
        ["command", f"`{command}`"],
    ]
    return table(["", ""], lines, left=(0, 1))


def plot(results: Results) -> Any:
    """Ratio to Box2D over the number of vertices: a panel per level and kind.

    Only rows that are divided by the same row of Box2D.
    """
    plt = plotter()
    figure, axes = plt.subplots(2, 3, figsize=(13, 8), sharex=True, sharey=True)
    colours = plt.get_cmap("tab20").colors
    rows = [row for row in results.rows if base_of(row) == BASE]
    for (level, kind), axis in zip(GOALS, axes.flat, strict=True):
        for i, row in enumerate(rows):
            cells = {n: results.cells.get((level, kind, n, row)) for n in COUNTS}
            points = {n: c.ratio for n, c in cells.items() if c and c.ratio > 0.0 and not c.wrong}
            if points:
                ours = row == OURS
                axis.plot(
                    list(points),
                    list(points.values()),
                    label=row,
                    color="black" if ours else colours[i % len(colours)],
                    linewidth=2.5 if ours else 1.2,
                    marker="o" if ours else "." if i < len(colours) else "x",
                    linestyle="--" if row.startswith("gjk ") else "-",
                )
        axis.plot(COUNTS, [goal(level, kind, n) for n in COUNTS], ":", color="grey", label="goal")
        axis.set(title=f"level {level}, {kind}", yscale="log", xticks=COUNTS)
        axis.grid(visible=True, which="both", alpha=0.2)
    for axis in axes[:, 0]:
        axis.set_ylabel("time / Box2D")
    for axis in axes[1]:
        axis.set_xlabel("vertices per polygon")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="center right", fontsize=9)
    figure.tight_layout(rect=(0, 0, 0.87, 1))
    return figure


def main() -> None:
    """Command line."""
    options = parser(__doc__)
    options.add_argument("results", type=Path)
    options.add_argument("boxes", type=Path)
    options.add_argument("--svg", type=Path, required=True)
    arguments = options.parse_args()
    results, boxes = Results(arguments.results), Results(arguments.boxes)
    blocks = {
        "circumstances": circumstances(results, arguments.command),
        "goals": goal_table(results),
        "losses": losses(results),
    }
    for level in (1, 2):
        blocks[f"level {level}"] = "\n\n".join(
            results.table([f"level {level}, {kind}", *map(str, COUNTS)],
                          [(level, kind, n) for n in COUNTS])
            for kind in KINDS
        )  # fmt: skip
    how = f"`{arguments.command}`, {time.strftime('%Y-%m-%d')}, {machine()}."
    header = ["", *(f"level {level}, {kind}" for level, kind in GOALS)]
    of_boxes = boxes.table(header, [(level, kind, 4) for level, kind in GOALS])
    publish({**blocks, "boxes": f"{how}\n\n{of_boxes}"}, arguments.docs)
    save(plot(results), arguments.svg, arguments.docs)


if __name__ == "__main__":
    main()
