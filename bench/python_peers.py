# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Time peers that come as Python packages, on the cases that gjk_bench writes.

python python_peers.py FOLDER --json FILE [--passes 21]

A separate process, and whole arrays at a time: Python's own cost per query is small but not zero.
The JSON is laid out as Google Benchmark's.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import shapely

TOLERANCE = 1e-4  # m; as the other peers'

Floats = npt.NDArray[np.float64]


def load(file: Path, n: int) -> tuple[npt.NDArray, npt.NDArray, Floats]:
    """Polygons a, polygons b, true distances (m)."""
    raw = np.fromfile(file).reshape(-1, 4 * n + 1)
    ax, ay, bx, by = np.split(raw[:, :-1], 4, axis=1)
    a = shapely.polygons(np.stack([ax, ay], axis=-1))
    b = shapely.polygons(np.stack([bx, by], axis=-1))
    return a, b, raw[:, -1]


def measure(
    name: str,
    query: Callable[[npt.NDArray, npt.NDArray], npt.NDArray],
    cases: tuple[npt.NDArray, npt.NDArray, Floats],
    passes: int,
) -> list[dict]:
    """One run per pass, over all cases in a new order."""
    a, b, truth = cases
    is_contact = name.split("/")[1] == "touch"
    random = np.random.default_rng(1)
    runs = []
    for k in range(passes):
        order = random.permutation(len(a))
        p, q, distance = a[order], b[order], truth[order]
        start = time.perf_counter_ns()
        answers = query(p, q)
        elapsed = time.perf_counter_ns() - start
        if answers.dtype == bool:
            differs = int(np.count_nonzero(answers != (distance == 0)))
            wrong, inexact, error = (0, differs, 0.0) if is_contact else (differs, 0, 0.0)
        else:
            errors = np.abs(answers - distance)
            inexact, error = 0, float(errors.max())
            wrong = int(np.count_nonzero(~(errors <= TOLERANCE)))
        runs.append(
            {
                "name": name,
                "run_type": "iteration",
                "repetition_index": k,
                "real_time": elapsed / len(a),
                "time_unit": "ns",
                "queries": len(a),
                "wrong": wrong,
                "inexact": inexact,
                "max_error": error,
            }
        )
    return runs


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--passes", type=int, default=21)
    arguments = parser.parse_args()
    runs = []
    for file in sorted(arguments.folder.glob("*.f64")):
        kind, n = file.stem.split("-")
        cases = load(file, int(n))
        shapely.prepare(cases[0])
        shapely.intersects(cases[0], cases[1])  # the first query of a prepared geometry indexes it
        for level, query in ((1, shapely.intersects), (2, shapely.distance)):
            name = f"level{level}/{kind}/{n}/shapely (Python)"
            runs += measure(name, query, cases, arguments.passes)
    version = f"{shapely.__version__} with GEOS {shapely.geos_version_string}"
    context = {"version shapely": version}
    arguments.json.write_text(json.dumps({"context": context, "benchmarks": runs}, indent=1))


if __name__ == "__main__":
    main()
