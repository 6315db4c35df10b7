# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What all benchmarks share: options, times, the kind of machine, tables, and blocks of pages."""

import argparse
import os
import platform
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Times(defaultdict[Any, list[float]]):
    """Measured times [s], by a key."""

    def __init__(self) -> None:
        super().__init__(list)

    def time(
        self, key: Any, call: Callable[..., Any], *arguments: Any, per: float = 1.0,
        clock: Callable[[], float] = time.perf_counter, **options: Any,
    ) -> Any:  # fmt: skip
        """Add the time of a call, divided by `per`; return what the call returns."""
        start = clock()
        answer = call(*arguments, **options)
        self[key].append((clock() - start) / per)
        return answer

    def medians(self) -> dict[Any, float]:
        """Return the median by the key."""
        return {key: statistics.median(each) for key, each in self.items()}


def parser(description: str) -> argparse.ArgumentParser:
    """Options of all benchmarks; `description` begins with their subject in one line."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("--quick", action="store_true", help="fewer measurements")
    made.add_argument("--docs", type=Path, help="page whose blocks are rewritten")
    made.add_argument("--command", default="", help="what was run, for the page")
    return made


def machine() -> str:
    """Kind of this machine; the report is made where the benchmark ran."""
    cpus = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in cpus if "model name" in line), "")
    virtual = ", virtual machine" if any("hypervisor" in line for line in cpus) else ""
    release = platform.freedesktop_os_release()
    kind = f"{model or platform.processor()} ({platform.machine()})"
    return f"{kind}, {os.cpu_count()} cores{virtual}; {release['PRETTY_NAME']}"


def circumstances(*facts: str) -> str:
    """Machine, date and further facts of a run."""
    return "; ".join([machine(), time.strftime("%Y-%m-%d"), *facts])


def table(header: list[Any], rows: list[list[Any]], left: tuple[int, ...] = (0,)) -> str:
    """Markdown table; the columns `left` are left-aligned, by default the first one."""
    rule = ["---" if column in left else "---:" for column in range(len(header))]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [header, rule, *rows])


def publish(blocks: dict[str, str], docs: Path | None) -> None:
    """Print texts, and put them into a page if there is one."""
    print("\n\n".join(blocks.values()), flush=True)
    if docs:
        put(docs, blocks)


def put(docs: Path, blocks: dict[str, str]) -> None:
    """Put texts between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``."""
    text = docs.read_text()
    for name, block in blocks.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        text, count = pattern.subn(lambda m, block=block: m[1] + block.strip() + "\n" + m[2], text)
        if count != 1:
            raise SystemExit(f"{docs}: {count} blocks '{name}'")
    docs.write_text(text)


def plotter() -> Any:
    """Return matplotlib's pyplot, which writes the same SVG for the same numbers."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "gjk_collision"
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, file: Path, docs: Path | None) -> None:
    """Write a figure to a file, and beside a page if there is one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    for each in [file, *([docs.with_suffix(".svg")] if docs else [])]:
        figure.savefig(each, metadata={"Date": None})
