# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the instructions per query, from the counts of qemu.

python instructions.py FOLDER [--docs docs/benchmarks.md]

FOLDER has for each of sse2, avx2 and neon the file NAME.rows (output of gjk_instructions) and
NAME.counts (of count_instructions.c). Exit 1 if NEON misses its goal.
"""

import argparse
import datetime
import platform
import sys
from pathlib import Path

from report import COUNTS, KINDS, put, table

SETS = ("sse2", "avx2", "neon")
GOAL = 1.3  # instructions with NEON / with SSE2, at most

Counts = dict[tuple[int, str, int, str], float]


def read(folder: Path, name: str) -> Counts:
    """Instructions per query, by (level, kind, n, row)."""
    rows = (folder / f"{name}.rows").read_text().splitlines()
    counts = [int(line) for line in (folder / f"{name}.counts").read_text().split()]
    if len(counts) != 3 * len(rows):
        raise SystemExit(f"{folder}/{name}: {len(rows)} rows and {len(counts)} counts")
    result = {}
    for i, line in enumerate(rows):
        cell, queries = line.rsplit(" ", 1)
        level, kind, n, row = cell.split("/")
        # The second pass answers twice, all else is the same.
        before, once, twice = counts[3 * i : 3 * i + 3]
        answers = (twice - once) - (once - before)
        result[int(level.removeprefix("level")), kind, int(n), row] = answers / int(queries)
    return result


def tables(counts: dict[str, Counts]) -> str:
    """NEON / SSE2, and the three counts, of all cells."""
    neon = counts["neon"]
    rows = dict.fromkeys(row for *_, row in neon)
    blocks = []
    for level in (1, 2):
        for kind in KINDS:
            lines = []
            for row in rows:
                cells = [cell(counts, (level, kind, n, row)) for n in COUNTS]
                if any(cells):
                    lines.append([row, *cells])
            blocks.append(table([f"level {level}, {kind}", *map(str, COUNTS)], lines))
    return "\n\n".join(blocks)


def cell(counts: dict[str, Counts], key: tuple[int, str, int, str]) -> str:
    """Ratio, bold where it misses the goal, and the counts."""
    if key not in counts["neon"]:
        return ""
    ratio = counts["neon"][key] / counts["sse2"][key]
    mark = "**" if ratio > GOAL else ""
    each = " / ".join(f"{counts[name][key]:.0f}" for name in SETS)
    return f"{mark}{ratio:.2f}{mark} ({each})"


def summary(counts: dict[str, Counts]) -> str:
    """Say what the tables come to."""
    ratios = {key: value / counts["sse2"][key] for key, value in counts["neon"].items()}
    missed = [key for key, ratio in ratios.items() if ratio > GOAL]
    worst = max(ratios, key=lambda key: ratios[key])
    level, kind, n, row = worst
    text = (
        f"NEON needs {min(ratios.values()):.2f} to {ratios[worst]:.2f} times the instructions of "
        f"SSE2 (most: {row}, level {level}, {kind}, n = {n}; goal: {GOAL})."
    )
    return text + (f" It misses the goal in {len(missed)} cells." if missed else "")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--command", default="", help="what was run, for the docs")
    arguments = parser.parse_args()
    counts = {name: read(arguments.folder, name) for name in SETS}
    today = datetime.datetime.now(datetime.timezone.utc).date()
    said = summary(counts)
    print(tables(counts), said, sep="\n\n")
    if arguments.docs:
        release = platform.freedesktop_os_release()["PRETTY_NAME"]
        how = f"`{arguments.command}`, {today}, {release}."
        put(arguments.docs, {"instructions": f"{said} {how}\n\n{tables(counts)}"})
    sys.exit(any(n / counts["sse2"][key] > GOAL for key, n in counts["neon"].items()))


if __name__ == "__main__":
    main()
