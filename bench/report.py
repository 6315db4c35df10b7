# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables and a plot from the JSON of gjk_bench.

python report.py RESULTS.json BOXES.json --svg FILE [--docs docs/benchmarks.md] [--command TEXT]

BOXES.json has the results for rectangles. --docs rewrites what lies between
``<!-- begin NAME -->`` and ``<!-- end NAME -->`` there.
"""

import argparse
import json
import math
import os
import platform
import re
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
    max_error: float = 0.0  # m

    @property
    def median(self) -> float:
        """Median over the passes, ns per query."""
        return statistics.median(self.times)

    @property
    def is_right(self) -> bool:
        """No wrong answer."""
        return self.wrong == 0


class Results:
    """Cells by (level, kind, n, row)."""

    def __init__(self, file: Path) -> None:
        self.cells: dict[tuple[int, str, int, str], Cell] = {}
        document = json.loads(file.read_text())
        self.context: dict[str, str] = document["context"]
        for run in document["benchmarks"]:
            if run["run_type"] == "iteration":
                self._add(run)
        # Box2D, ours, separating axes, then the others by name.
        first = (BASE, OURS, "gjk ", "SAT")
        self.rows = sorted(
            {row for *_, row in self.cells},
            key=lambda row: (next((i for i, f in enumerate(first) if row.startswith(f)), 9), row),
        )

    def _add(self, run: dict) -> None:
        level, kind, n, row = run["name"].split("/")[:4]
        key = (int(level.removeprefix("level")), kind, int(n), row)
        cell = self.cells.setdefault(key, Cell())
        if run["real_time"] > 0:
            cell.times.append(run["real_time"])
        cell.queries += run["queries"]
        cell.wrong += run["wrong"]
        cell.inexact += run["inexact"]
        cell.max_error = max(cell.max_error, run["max_error"])

    def get(self, level: int, kind: str, n: int, row: str) -> Cell | None:
        """Cell, or None where it was not measured."""
        return self.cells.get((level, kind, n, row))

    def ratio(self, level: int, kind: str, n: int, row: str) -> float | None:
        """Time divided by Box2D's in the same run for the same input; see `BASES`."""
        cell = self.get(level, kind, n, row)
        base = self.get(level, kind, n, base_of(row))
        return cell.median / base.median if cell and base and cell.times else None


def table(header: list[str], rows: list[list[Any]]) -> str:
    """Markdown table; the first column is left-aligned."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def time_table(results: Results, level: int, kind: str) -> str:
    """All rows of a level and kind: ratio to Box2D, and ns."""
    lines = []
    for row in results.rows:
        line = [f"**{row}**" if row == OURS else row]
        for n in COUNTS:
            cell = results.get(level, kind, n, row)
            ratio = results.ratio(level, kind, n, row)
            if cell is None or ratio is None:
                line.append("")
            elif not cell.is_right:
                line.append(f"wrong in {per_cent(cell.wrong / cell.queries)}")
            else:
                mark = otherwise(results, level, kind, n, row)
                line.append(f"{ratio:.2f} ({cell.median:.0f}){mark}")
        if any(line[1:]):
            lines.append(line)
    return table([f"level {level}, {kind}", *(str(n) for n in COUNTS)], lines)


def per_cent(share: float) -> str:
    """Percentage with two significant digits."""
    return f"{100 * share:.2g} %"


def goal_table(results: Results) -> str:
    """Our ratio, the goal, and the fastest peer with right answers, in every cell."""
    lines = []
    for (level, kind), limit in GOALS.items():
        ours, peers = [], []
        for n in COUNTS:
            ratio = results.ratio(level, kind, n, OURS)
            if ratio is None:
                continue
            missed = ratio > goal(level, kind, n)
            ours.append(f"**{ratio:.2f}**" if missed else f"{ratio:.2f}")
            fastest, name = fastest_peer(results, level, kind, n)
            text = f"{fastest:.2f} {name}" + otherwise(results, level, kind, n, name)
            peers.append(f"**{text}**" if fastest < ratio else text)
        small = f" ({goal(level, kind, 4):.2f} at 4)" if goal(level, kind, 4) != limit else ""
        lines.append([f"level {level}, {kind}", f"{limit:.2f}{small}", *ours])
        lines.append(["fastest peer", "", *peers])
        if (level, kind) == (1, "touch"):
            exact = [fastest_peer(results, level, kind, n, exact=True) for n in COUNTS]
            cells = [f"{fastest:.2f} {name}" for fastest, name in exact]
            lines.append(["fastest peer, exact at contact", "", *cells])
    return table(["", "goal", *(str(n) for n in COUNTS)], lines)


def fastest_peer(
    results: Results, level: int, kind: str, n: int, exact: bool = False, base: str = BASE
) -> tuple[float, str]:
    """Fastest peer that is given the same as `base` and is never wrong: its ratio, and its name.

    `exact`: it is right at contacts too.
    """
    candidates = []
    for row in results.rows:
        cell = results.get(level, kind, n, row)
        ratio = results.ratio(level, kind, n, row)
        if row.startswith(OURS) or base_of(row) != base:
            continue
        if not cell or not ratio or not cell.is_right:
            continue
        if not (exact and cell.inexact):
            candidates.append((ratio, row))
    return min(candidates, default=(math.inf, "none"))


def otherwise(results: Results, level: int, kind: str, n: int, row: str) -> str:
    """Mark of a row that calls some contacts otherwise than exact arithmetic does."""
    cell = results.get(level, kind, n, row)
    return f" ~{per_cent(cell.inexact / cell.queries)}" if cell and cell.inexact else ""


def losses(results: Results) -> str:
    """Where a goal is missed or a peer is faster, in words."""
    lines = []
    apart = ((row, f", {row.removeprefix(f'{OURS} ')}") for row in BASES)
    for row, where in ((OURS, ""), (BATCH, ", in a batch"), *apart):
        for level, kind in GOALS:
            name = f"- Level {level}, {kind}{where}"
            missed, beaten = [], []
            for n in COUNTS:
                ratio = results.ratio(level, kind, n, row)
                if ratio is None:
                    continue
                limit = goal(level, kind, n)
                if row == OURS and ratio > limit:
                    missed.append(f"{n} ({ratio:.2f}, goal {limit:.2f})")
                fastest, peer = fastest_peer(results, level, kind, n, base=base_of(row))
                if fastest < ratio:
                    share = otherwise(results, level, kind, n, peer)
                    beaten.append(f"{n} ({peer}{share}, {ratio / fastest:.2f} times as fast)")
            if missed:
                lines.append(f"{name}: misses the goal at n = {', '.join(missed)}.")
            if beaten:
                lines.append(f"{name}: a peer is faster at n = {', '.join(beaten)}.")
    return "\n".join(lines) or "Nowhere in this run: every goal is met, no peer is faster."


def circumstances(results: Results) -> str:
    """Table of what was measured, on what, with what, when."""
    context = results.context
    versions = dict.fromkeys(
        f"{key.split()[1]} {value.replace('_', '.')}"
        for key, value in context.items()
        if key.startswith("version ")
    )
    passes = max(len(cell.times) for cell in results.cells.values())
    cases = max(cell.queries for cell in results.cells.values()) / passes
    lines = [
        ("date", context["date"][:10]),
        ("machine", context["machine"]),
        ("compiler", context["compiler"] + ", -O3 -ffp-contract=off"),
        ("peers", ", ".join(versions)),
        ("absent peers", context.get("absent peers") or "none"),
        ("cases", f"{cases:.0f} per cell, {passes} passes"),
        ("command", f"`{context['command']}`"),
    ]
    return table(["", ""], [[key, value] for key, value in lines]).replace("---:", "---")


def machine() -> str:
    """Kind of this machine; the report is made where the benchmark ran."""
    cpus = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in cpus if "model name" in line), "")
    virtual = ", virtual machine" if any("hypervisor" in line for line in cpus) else ""
    release = platform.freedesktop_os_release()
    kind = f"{model or platform.processor()} ({platform.machine()})"
    return f"{kind}, {os.cpu_count()} cores{virtual}; {release['PRETTY_NAME']}"


def plot(results: Results, file: Path) -> None:
    """Ratio to Box2D over the number of vertices: a panel per level and kind.

    Only rows that are divided by the same row of Box2D.
    """
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "gjk_collision"  # the same file for the same numbers
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(13, 8), sharex=True, sharey=True)
    colours = plt.get_cmap("tab20").colors
    rows = [row for row in results.rows if base_of(row) == BASE]
    for (level, kind), axis in zip(GOALS, axes.flat, strict=True):
        for i, row in enumerate(rows):
            points = []
            for n in COUNTS:
                cell = results.get(level, kind, n, row)
                ratio = results.ratio(level, kind, n, row)
                if cell and ratio and cell.is_right:
                    points.append((n, ratio))
            if points:
                ours = row == OURS
                axis.plot(
                    *zip(*points, strict=True),
                    label=row,
                    color="black" if ours else colours[i % len(colours)],
                    linewidth=2.5 if ours else 1.2,
                    marker="o" if ours else "." if i < len(colours) else "x",
                    linestyle="--" if row.startswith("gjk ") else "-",
                )
        axis.plot(COUNTS, [goal(level, kind, n) for n in COUNTS], ":", color="grey", label="goal")
        axis.set_title(f"level {level}, {kind}")
        axis.set_yscale("log")
        axis.set_xticks(COUNTS)
        axis.grid(visible=True, which="both", alpha=0.2)
    for axis in axes[:, 0]:
        axis.set_ylabel("time / Box2D")
    for axis in axes[1]:
        axis.set_xlabel("vertices per polygon")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="center right", fontsize=9)
    figure.tight_layout(rect=(0, 0, 0.87, 1))
    figure.savefig(file, metadata={"Date": None})


def boxes_table(results: Results) -> str:
    """Rows for pairs of rectangles: ratio to Box2D, and ns."""
    lines = []
    for row in results.rows:
        line = [f"**{row}**" if row == OURS else row]
        for level in (1, 2):
            for kind in KINDS:
                cell = results.get(level, kind, 4, row)
                ratio = results.ratio(level, kind, 4, row)
                mark = otherwise(results, level, kind, 4, row)
                line.append(f"{ratio:.2f} ({cell.median:.0f}){mark}" if cell and ratio else "")
        lines.append(line)
    return table(["", *(f"level {level}, {kind}" for level in (1, 2) for kind in KINDS)], lines)


def put(docs: Path, blocks: dict[str, str]) -> None:
    """Put texts between their marks."""
    text = docs.read_text()
    for name, block in blocks.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text, count = pattern.subn(lambda m, block=block: m[1] + block.strip() + "\n" + m[2], text)
        if count != 1:
            raise SystemExit(f"{docs}: {count} blocks '{name}'")
    docs.write_text(text)


def parser(description: str) -> argparse.ArgumentParser:
    """Options of all benchmarks; `description` begins with their subject in one line."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("--quick", action="store_true", help="fewer measurements")
    made.add_argument("--docs", type=Path, help="page whose blocks are rewritten")
    made.add_argument("--command", default="", help="what was run, for the page")
    return made


def publish(blocks: dict[str, str], docs: Path | None) -> None:
    """Print texts, and put them into a page if there is one."""
    print("\n\n".join(blocks.values()), flush=True)
    if docs:
        put(docs, blocks)


def blocks_of(results: Results, boxes: Results) -> dict[str, str]:
    """Return the text of each block of the page."""
    blocks = {
        "circumstances": circumstances(results),
        "goals": goal_table(results),
        "losses": losses(results),
    }
    for level in (1, 2):
        blocks[f"level {level}"] = "\n\n".join(time_table(results, level, k) for k in KINDS)
    date, command = boxes.context["date"][:10], results.context["command"]
    how = f"`{command}`, {date}, {results.context['machine']}."
    return {**blocks, "boxes": f"{how}\n\n{boxes_table(boxes)}"}


def main() -> None:
    """Command line."""
    options = parser(__doc__)
    options.add_argument("results", type=Path)
    options.add_argument("boxes", type=Path)
    options.add_argument("--svg", type=Path, required=True)
    arguments = options.parse_args()
    results = Results(arguments.results)
    results.context |= {"command": arguments.command, "machine": machine()}
    publish(blocks_of(results, Results(arguments.boxes)), arguments.docs)
    plot(results, arguments.svg)
    if arguments.docs:
        plot(results, arguments.docs.with_suffix(".svg"))


if __name__ == "__main__":
    main()
