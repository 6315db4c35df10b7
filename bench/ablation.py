# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Table of what each step of the kernel's cascade is worth.

python bench/ablation.py BUILD_FOLDER [--rounds 5] [--docs docs/kernel.md]

BUILD_FOLDER holds the programs ``ablation_*`` (CMake option GJK_BENCH_ABLATION). They run in turn,
several times; the least time of each workload counts. A cell of the table is the time without the
step divided by the time with all steps.
"""

import argparse
import datetime
import subprocess
from pathlib import Path

from report import machine, put, table

PREFIX = "ablation_"


def times_of(program: Path) -> dict[str, float]:
    """Time (ns) of each workload in one run of the program."""
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def measure(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Least time (ns) of each workload, by the step that is left out."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for program in sorted(folder.glob(PREFIX + "*")):
            if not program.is_file():
                continue
            least = best.setdefault(program.name.removeprefix(PREFIX), {})
            for name, value in times_of(program).items():
                least[name] = min(value, least.get(name, value))
    return best


def ablation_table(best: dict[str, dict[str, float]]) -> str:
    """Rows: workloads. Columns: the time with all steps, and ratios without one."""
    steps = [step for step in best if step != "none"]
    lines = []
    for name, all_steps in best["none"].items():
        ratios = [best[step][name] / all_steps for step in steps]
        cells = [f"**{ratio:.2f}**" if ratio >= 1.1 else f"{ratio:.2f}" for ratio in ratios]
        lines.append([name, f"{all_steps:.0f}", *cells])
    return table(["workload", "all steps, ns", *(f"no {step}" for step in steps)], lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--docs", type=Path)
    arguments = parser.parse_args()
    rows = ablation_table(measure(arguments.folder, arguments.rounds))
    block = f"{machine()}; {datetime.date.today():%Y-%m-%d}; "
    block += f"`python bench/ablation.py BUILD_FOLDER --rounds {arguments.rounds}`.\n\n{rows}\n"
    print(block)
    if arguments.docs:
        put(arguments.docs, {"ablation": block})


if __name__ == "__main__":
    main()
