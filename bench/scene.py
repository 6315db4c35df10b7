# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Cost of a pose in a scene by the number of obstacles and of poses, beside shapely's STRtree.

python scene.py [--passes 21] [--quick] [--svg FILE] [--docs docs/benchmarks-scene.md]

Obstacles are boxes of 1-5 x 1-3 m, one per 10 x 10 m; poses are new in every pass; the passes of
all rows are interleaved, and a time is the median over them. Every answer is compared while
timing.
"""

import argparse
import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import shapely

from gjk_collision import Scene, Shape

Floats = npt.NDArray[np.float64]
Answers = npt.NDArray[np.generic]

SPACING = 10.0  # m
EGO = (4.8, 1.8)  # m
COUNTS = (10, 100, 1_000, 10_000, 100_000)
BATCHES = (1, 10, 100, 1_000, 10_000, 100_000)
POSES = 2_000  # per pass
CONTACT = 1e-6  # m: nearer than this, shapely's rounding may decide otherwise
GOALS = {"collide": 2e-6, "distance": 5e-6}  # s per pose, at 10 000 obstacles
GOAL_RATIO = 10.0


def corners(poses: Floats, sizes: Floats) -> Floats:
    """Corners of boxes, shape (n, 4, 2)."""
    signs = 0.5 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    local = signs[None] * sizes[:, None]
    c, s = np.cos(poses[:, 2])[:, None], np.sin(poses[:, 2])[:, None]
    turned = np.stack([c * local[..., 0] - s * local[..., 1],
                       s * local[..., 0] + c * local[..., 1]], axis=-1)  # fmt: skip
    return turned + poses[:, None, :2]


class Field:
    """The same obstacles for both."""

    def __init__(self, count: int, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.half = 0.5 * SPACING * count**0.5
        self.sizes = self.rng.uniform((1, 1), (5, 3), (count, 2))
        self.poses = self.somewhere(count)
        local = corners(np.zeros((count, 3)), self.sizes)
        start = time.perf_counter()
        offsets = np.arange(0, 4 * count + 1, 4)
        self.scene = Scene.from_arrays(offsets, local.ravel(), poses=self.poses)
        self.build = time.perf_counter() - start
        start = time.perf_counter()
        self.tree = shapely.STRtree(shapely.polygons(corners(self.poses, self.sizes)))
        self.tree.query(shapely.Point(0, 0))  # it is built by the first query
        self.tree_build = time.perf_counter() - start
        self.ego = Shape.box(*EGO)

    def somewhere(self, count: int) -> Floats:
        """Poses among the obstacles."""
        poses = self.rng.uniform(-self.half, self.half, (count, 3))
        poses[:, 2] = self.rng.uniform(-np.pi, np.pi, count)
        return poses

    def outlines(self, poses: Floats) -> npt.NDArray[np.object_]:
        """Outline the ego for shapely."""
        return shapely.polygons(corners(poses, np.tile(EGO, (len(poses), 1))))

    def collide(self, poses: Floats, threads: int = 1) -> Answers:
        """Ours."""
        return self.scene.check(self.ego, poses, threads=threads).verdicts == 2

    def distance(self, poses: Floats) -> Answers:
        """Ours, signed."""
        return self.scene.check(self.ego, poses, mode="distance").distances

    def tree_collide(self, poses: Floats) -> Answers:
        """Of shapely."""
        egos = self.outlines(poses)
        shapely.prepare(egos)
        hits = np.zeros(len(poses), dtype=bool)
        hits[self.tree.query(egos, predicate="intersects")[0]] = True
        return hits

    def tree_distance(self, poses: Floats) -> Answers:
        """Of shapely; 0 where they overlap."""
        (ego, _), distances = self.tree.query_nearest(
            self.outlines(poses), return_distance=True, all_matches=False
        )
        found = np.full(len(poses), np.inf)
        found[ego] = distances
        return found


def timed(query: Callable[[Floats], Answers], poses: Floats) -> tuple[float, Answers]:
    start = time.perf_counter()
    answers = query(poses)
    return (time.perf_counter() - start) / len(poses), answers


def compare(field: Field, poses: Floats, answers: dict[str, Answers]) -> None:
    """Raise where the two disagree by more than rounding."""
    gap = answers["tree distance"]
    assert np.allclose(np.maximum(answers["distance"], 0.0), gap, rtol=0, atol=1e-9)
    clear = gap > CONTACT
    assert not answers["collide"][clear].any()
    differ = answers["collide"] != answers["tree collide"]
    assert (np.abs(field.distance(poses))[differ] < CONTACT).all()


def against_obstacles(counts: tuple[int, ...], passes: int) -> dict[int, dict[str, float]]:
    table = {}
    for count in counts:
        field = Field(count)
        queries = {
            "collide": field.collide,
            "distance": field.distance,
            "tree collide": field.tree_collide,
            "tree distance": field.tree_distance,
        }
        times: dict[str, list[float]] = {name: [] for name in queries}
        for _ in range(passes):
            poses = field.somewhere(POSES)
            answers = {}
            for name, query in queries.items():
                spent, answers[name] = timed(query, poses)
                times[name].append(spent)
            compare(field, poses, answers)
        moves = []
        for _ in range(passes):
            few = field.rng.permutation(count)[: max(1, count // 100)]
            there = field.poses[few] + (1.0, 0.0, 0.1)
            start = time.perf_counter()
            field.scene.updated(few, there)
            moves.append(time.perf_counter() - start)
        table[count] = {name: statistics.median(each) for name, each in times.items()} | {
            "build": field.build, "tree build": field.tree_build,
            "update": statistics.median(moves),
        }  # fmt: skip
    return table


def against_poses(batches: tuple[int, ...], passes: int) -> dict[int, dict[str, float]]:
    field = Field(10_000)
    table = {}
    for size in batches:
        queries: dict[str, Callable[[Floats], Answers]] = {
            "collide": field.collide,
            "2 threads": lambda poses: field.collide(poses, threads=2),
            "distance": field.distance,
            "tree collide": field.tree_collide,
        }
        times: dict[str, list[float]] = {name: [] for name in queries}
        for _ in range(max(3, min(passes, 200_000 // size))):
            poses = field.somewhere(size)
            for name, query in queries.items():
                times[name].append(timed(query, poses)[0])
        table[size] = {name: statistics.median(each) for name, each in times.items()}
    return table


def us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f}"


def report(by_count: dict[int, dict[str, float]], by_size: dict[int, dict[str, float]]) -> str:
    lines = [
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"shapely {shapely.__version__}, GEOS {shapely.geos_version_string}. From Python, whole "
        "batches, one thread unless said.",
        "",
        f"Microseconds per pose, {POSES} poses a call; build and update of 1 % of the obstacles "
        "in milliseconds:",
        "",
        "| obstacles | collide | STRtree | ratio | distance | STRtree | ratio | build | STRtree "
        "| update |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for count, t in by_count.items():
        lines.append(
            f"| {count} | {us(t['collide'])} | {us(t['tree collide'])} "
            f"| {t['tree collide'] / t['collide']:.0f} | {us(t['distance'])} "
            f"| {us(t['tree distance'])} | {t['tree distance'] / t['distance']:.0f} "
            f"| {t['build'] * 1e3:.2f} | {t['tree build'] * 1e3:.2f} | {t['update'] * 1e3:.3f} |"
        )
    lines += [
        "",
        "Microseconds per pose among 10 000 obstacles, by the number of poses in a call:",
        "",
        "| poses | collide | 2 threads | distance | STRtree collide |",
        "|---|---|---|---|---|",
    ]
    for size, t in by_size.items():
        lines.append(
            f"| {size} | {us(t['collide'])} | {us(t['2 threads'])} | {us(t['distance'])} "
            f"| {us(t['tree collide'])} |"
        )
    if 10_000 in by_count:
        lines.append("")
        t = by_count[10_000]
        for name, limit in GOALS.items():
            ratio = t[f"tree {name}"] / t[name]
            met = "met" if t[name] <= limit and ratio >= GOAL_RATIO else "missed"
            lines.append(
                f"- {name} among 10 000: {us(t[name])} us (goal {us(limit)}), {ratio:.0f} times "
                f"faster (goal {GOAL_RATIO:.0f}): {met}"
            )
    return "\n".join(lines)


def plot(by_count: dict[int, dict[str, float]], file: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, label, style in (
        ("collide", "collide", "C0-o"), ("distance", "distance", "C1-o"),
        ("tree collide", "shapely STRtree, intersects", "C0--s"),
        ("tree distance", "shapely STRtree, nearest", "C1--s"),
    ):  # fmt: skip
        axes.loglog(list(by_count), [t[name] * 1e6 for t in by_count.values()], style, label=label)
    axes.set(xlabel="obstacles, at a fixed density", ylabel="us per pose")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passes", type=int, default=21)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--docs", type=Path)
    options = parser.parse_args()
    passes = 5 if options.quick else options.passes
    by_count = against_obstacles(COUNTS[:-1] if options.quick else COUNTS, passes)
    by_size = against_poses(BATCHES[:-1] if options.quick else BATCHES, passes)
    text = report(by_count, by_size)
    print(text)
    if options.svg:
        plot(by_count, options.svg)
    if options.docs:
        page = options.docs.read_text()
        marked = re.compile(r"(<!-- begin scene -->\n).*?(\n<!-- end scene -->)", re.DOTALL)
        options.docs.write_text(marked.sub(lambda m: m[1] + text + m[2], page))


if __name__ == "__main__":
    main()
