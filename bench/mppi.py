# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision checks of nav2's MPPI controller: a scene beside the footprint check of a costmap.

python mppi.py --raster LIBRARY [--quick] [--docs FILE] [--command TEXT]

A cycle checks 2000 rollouts of 56 poses at 20 Hz. The robot is a rectangle. The obstacles are
convex polygons, and new in every pass. The costmap has cells of 0.05 m: a cell is occupied if it
touches an obstacle, and an inflation layer surrounds the occupied cells.

shapely gives the true verdicts of some rollouts. If a verdict of ours is another one, the program
fails.
"""

import ctypes
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from report import machine, parser, publish, table
from scene_peers import mistakes

from gjk_collision import CheckResult, Scene, Shape, Verdict

Floats = npt.NDArray[np.float64]
Answers = npt.NDArray[np.bool_]

ROLLOUTS, STEPS, PERIOD = 2000, 56, 0.05  # s
CYCLE = 0.05  # s, at 20 Hz
LENGTH, WIDTH = 1.0, 0.6  # m, of the robot
SIDE, RESOLUTION = 8.0, 0.05  # m, of the costmap
INFLATION, SCALING = 0.7, 3.0  # m, 1/m: nav2's defaults
SPEEDS, TURNS = (-0.35, 1.0), (-1.9, 1.9)  # m/s, rad/s
NOISE = (0.2, 0.4)  # m/s, rad/s: nav2's defaults
JUDGED = 200  # rollouts per pass
LETHAL, INSCRIBED = 254, 253
CORNERS = 0.5 * np.array([(LENGTH, WIDTH), (-LENGTH, WIDTH), (-LENGTH, -WIDTH), (LENGTH, -WIDTH)])


def turned(points: Floats, pose: Floats) -> Floats:
    """Return points at poses: (n, 2) and (..., 3) to (..., n, 2)."""
    c, s = np.cos(pose[..., 2, None]), np.sin(pose[..., 2, None])
    x, y = points.T
    return np.stack([pose[..., :1] + c * x - s * y, pose[..., 1:2] + s * x + c * y], axis=-1)


def box(x: float, y: float, yaw: float, length: float, width: float) -> Floats:
    """Return the corners of a box."""
    return turned(CORNERS / (LENGTH, WIDTH) * (length, width), np.array([x, y, yaw]))


def scattered(rng: np.random.Generator, count: int) -> list[Floats]:
    """Return poles and boxes, none within 0.8 m of the robot's centre."""
    outlines: list[Floats] = []
    while len(outlines) < count:
        x, y, yaw = rng.uniform((-SIDE / 2, -SIDE / 2, -np.pi), (SIDE / 2, SIDE / 2, np.pi))
        if rng.random() < 0.5:
            angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
            ring = np.c_[np.cos(angles), np.sin(angles)]
            outline = (x, y) + rng.uniform(0.03, 0.15) * ring
        else:
            outline = box(x, y, yaw, *rng.uniform((0.1, 0.05), (0.8, 0.4)))
        if shapely.Polygon(outline).distance(shapely.Point(0.0, 0.0)) > 0.8:
            outlines.append(outline)
    return outlines


def corridor(rng: np.random.Generator, yaw: float) -> list[Floats]:
    """Return two walls, 0.2 m further apart than the robot is wide."""
    aside = 0.5 * WIDTH + 0.1 + 0.05
    offset = aside * np.array([-np.sin(yaw), np.cos(yaw)])
    return [box(*(sign * offset), yaw, 2.0 * SIDE, 0.1) for sign in (1.0, -1.0)]


SCENES: dict[str, tuple[Callable[[np.random.Generator, float], list[Floats]], float]] = {
    "open": (lambda rng, _: scattered(rng, 10), 1.0),
    "cluttered": (lambda rng, _: scattered(rng, 80), 1.0),
    "narrow": (corridor, 0.1),
}


def rollouts(rng: np.random.Generator, yaw: float, turn: float) -> Floats:
    """Return poses (ROLLOUTS, STEPS, 3) of a differential drive with noise; turn in rad/s."""
    nominal = rng.uniform((0.5, -turn), (1.0, turn))
    controls = nominal + rng.normal(0.0, NOISE, (ROLLOUTS, STEPS, 2))
    way = PERIOD * np.clip(controls[..., 0], *SPEEDS)
    heading = yaw + np.cumsum(PERIOD * np.clip(controls[..., 1], *TURNS), axis=1)
    along = np.cumsum(way * np.cos(heading), axis=1), np.cumsum(way * np.sin(heading), axis=1)
    return np.stack([*along, heading], axis=-1)


class Costmap:
    """An occupancy grid with an inflation layer, and the footprint check in C++ and in numpy."""

    def __init__(self, solid: Any, library: ctypes.CDLL) -> None:
        n = round(SIDE / RESOLUTION)
        low = -0.5 * SIDE + RESOLUTION * np.arange(n)
        x, y = np.meshgrid(low, low)
        cells = shapely.box(x, y, x + RESOLUTION, y + RESOLUTION)
        self.costs = inflated(np.asarray(shapely.intersects(solid, cells)))
        outer = float(np.hypot(LENGTH, WIDTH)) / 2
        self.possible = cost_at(outer)
        self.check = library.raster_check
        self.check.restype = ctypes.c_double
        self.footprint = CORNERS.astype(np.float32)
        ends = np.stack([CORNERS, np.roll(CORNERS, -1, axis=0)], axis=1)
        self.edge = np.concatenate([along(*each, 0.5 * RESOLUTION) for each in ends])

    def compiled(self, poses: npt.NDArray[np.float32], stride: int, stop: bool) -> Answers:
        """Return the poses in collision; with `stop`, only the first one of each rollout."""
        hits = np.zeros(poses.shape[:2], np.uint8)
        real = ctypes.c_double
        self.check(
            self.costs.ctypes, self.costs.shape[1], self.costs.shape[0],
            real(-0.5 * SIDE), real(-0.5 * SIDE), real(RESOLUTION),
            self.footprint.ctypes, len(self.footprint), self.possible,
            poses.ctypes, *(ctypes.c_int64(v) for v in (*poses.shape[:2], stride)),
            ctypes.c_bool(stop), hits.ctypes,
        )  # fmt: skip
        return hits.view(bool)

    def in_numpy(self, poses: Floats) -> Answers:
        """Return the poses in collision: points of the edges half a cell apart are looked up."""
        hits = np.zeros(poses.shape[:2], bool)
        near = np.argwhere(self.look_up(poses[..., :2]) >= self.possible)
        for some in np.array_split(near, len(near) // 1000 + 1):  # they fit into the cache
            at = tuple(some.T)
            hits[at] = (self.look_up(turned(self.edge, poses[at])) == LETHAL).any(axis=-1)
        return hits

    def look_up(self, points: Floats) -> npt.NDArray[np.uint8]:
        """Return the costs of points (..., 2); outside the map they are occupied."""
        cells = np.floor((points + 0.5 * SIDE) / RESOLUTION).astype(np.int64)
        inside = ((cells >= 0) & (cells < len(self.costs))).all(axis=-1)
        cells[~inside] = 0
        return np.where(inside, self.costs[cells[..., 1], cells[..., 0]], LETHAL)


def cost_at(distance: float) -> int:
    """Return the cost at a distance from an occupied cell [m]."""
    return int((INSCRIBED - 1) * np.exp(-SCALING * (distance - 0.5 * WIDTH)))


def inflated(occupied: Answers) -> npt.NDArray[np.uint8]:
    """Return the costs of an inflation layer, by the distance between the centres of cells."""
    reach = int(INFLATION / RESOLUTION)
    padded = np.pad(occupied, reach)
    costs = np.zeros(occupied.shape, np.uint8)
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            distance = RESOLUTION * float(np.hypot(i, j))
            if distance > INFLATION:
                continue
            cost = LETHAL if distance == 0.0 else INSCRIBED
            cost = cost_at(distance) if distance > 0.5 * WIDTH else cost
            rows, columns = (slice(reach + k, reach + k + len(occupied)) for k in (i, j))
            np.maximum(costs, np.uint8(cost) * padded[rows, columns], out=costs)
    return costs


def along(start: Floats, end: Floats, step: float) -> Floats:
    """Return points of a line, at most a step apart."""
    count = int(np.ceil(np.linalg.norm(end - start) / step))
    return start + np.linspace(0.0, 1.0, count, endpoint=False)[:, None] * (end - start)


# The rows of the table. The raster rows of the second kind check each second pose, as nav2 does by
# default (`trajectory_point_step`).
OURS = "gjk, each rollout to its first contact"
PAIR = "the same, two threads"
EVERY = "gjk, all poses"
DISTANCE = "gjk, distances of all poses"
RASTER = "raster in C++, each rollout to its first contact"
SECOND = "the same, each second pose"
NUMPY = "raster in numpy, all poses"
TRUTH = "shapely, all poses"
ROWS = (OURS, PAIR, EVERY, DISTANCE, RASTER, SECOND, NUMPY, TRUTH)
Methods = dict[str, Callable[[], Any]]
Wrong = dict[str, npt.NDArray[np.int64]]  # per method: see `wrong`
Spent = tuple[float, float]  # processor time of all threads, and elapsed time [s]


def spent_since(start: Spent) -> Spent:
    """Return the processor time of all threads and the elapsed time [s] since a start.

    Both are measured for every row, so that a column compares times of one kind. While other
    programs run, only the processor times can be compared.
    """
    return time.process_time() - start[0], time.perf_counter() - start[1]


def scene_of(outlines: list[Floats]) -> Scene:
    return Scene([Shape.hull(each) for each in outlines])


def methods(outlines: list[Floats], costmap: Costmap, poses: Floats) -> Methods:
    """Return the calls that are timed. The raster in C++ receives floats, as nav2 has them."""
    robot = Shape.box(LENGTH, WIDTH)
    floats = poses.astype(np.float32)

    def ours(**options: Any) -> CheckResult:
        return scene_of(outlines).check(robot, poses, **options)

    return {
        OURS: lambda: ours(stop_at_first=True).first_invalid,
        PAIR: lambda: ours(stop_at_first=True, threads=2).first_invalid,
        EVERY: lambda: ours().verdicts,
        DISTANCE: lambda: ours(mode="distance").distances,
        RASTER: lambda: costmap.compiled(floats, 1, True),
        SECOND: lambda: costmap.compiled(floats, 2, True),
        NUMPY: lambda: costmap.in_numpy(poses),
    }


def wrong(hits: Answers, truth: Answers) -> npt.NDArray[np.int64]:
    """Count verdicts, for poses and rollouts: falsely free, falsely occupied, occupied, all."""
    counts = []
    for found, true in ((hits, truth), (hits.any(axis=1), truth.any(axis=1))):
        counts += [(true & ~found).sum(), (found & ~true).sum(), true.sum(), true.size]
    return np.array(counts)


def judge(
    scene: Scene, costmap: Costmap, poses: Floats, solid: Any, wrongs: Wrong, where: str
) -> Spent:
    """Compare the verdicts of some rollouts with shapely's, and fail where ours is another one.

    Return the times that shapely takes for a cycle.
    """
    some = poses[:: ROLLOUTS // JUDGED]
    start = spent_since((0.0, 0.0))
    outlines = shapely.polygons(turned(CORNERS, some))
    truth = np.asarray(shapely.intersects(solid, outlines))
    processor, elapsed = (each * (ROLLOUTS / JUDGED) for each in spent_since(start))
    verdicts = np.asarray(scene.check(Shape.box(LENGTH, WIDTH), some).verdicts)
    hits = verdicts == Verdict.COLLISION
    if not (hits | (verdicts == Verdict.FREE)).all():
        sys.exit(f"{where}: a verdict is UNKNOWN")
    wrong_ones = mistakes(hits, outlines, lambda each, _: shapely.intersects(solid, each), 1e-9)
    if len(wrong_ones):
        sys.exit(f"{where}: shapely differs at {some.reshape(-1, 3)[wrong_ones[0]].tolist()}")
    floats = some.astype(np.float32)
    second = costmap.compiled(floats, 2, False)
    rows = {OURS: hits, RASTER: costmap.compiled(floats, 1, False), NUMPY: costmap.in_numpy(some)}
    for name, each in rows.items():
        wrongs[name] = wrongs.get(name, 0) + wrong(each, truth)
    both = wrongs.get(SECOND, 0) + wrong(second, truth)
    both[:4] = 0  # half of its poses have no answer
    wrongs[SECOND] = both
    return processor, elapsed


def measure(library: ctypes.CDLL, passes: int) -> dict[str, tuple[dict[str, Spent], Wrong]]:
    """Return the median times of a cycle and the wrong answers, by the scene and the method."""
    results = {}
    for kind, (make, turn) in SCENES.items():
        spent: dict[str, list[Spent]] = {}
        wrongs: Wrong = {}
        for number in range(passes):
            rng = np.random.default_rng(number)
            yaw = float(rng.uniform(-np.pi, np.pi))
            outlines = make(rng, yaw)
            poses = rollouts(rng, yaw, turn)
            solid = shapely.union_all([shapely.Polygon(each) for each in outlines])
            shapely.prepare(solid)
            scene = scene_of(outlines)
            costmap = Costmap(solid, library)
            calls = list(methods(outlines, costmap, poses).items())
            for name, call in calls[number % len(calls) :] + calls[: number % len(calls)]:
                start = spent_since((0.0, 0.0))
                call()
                spent.setdefault(name, []).append(spent_since(start))
            where = f"{kind}, pass {number}"
            exact = judge(scene, costmap, poses, solid, wrongs, where)
            spent.setdefault(TRUTH, []).append(exact)
        medians = {name: median(each) for name, each in spent.items()}
        results[kind] = medians, wrongs
    return results


def median(times: list[Spent]) -> Spent:
    """Return the median of each kind of time."""
    processor, elapsed = zip(*times, strict=True)
    return statistics.median(processor), statistics.median(elapsed)


def share(count: int, total: int) -> str:
    return f"{100 * count / total:.2f} %"


def report(results: dict[str, tuple[dict[str, Spent], Wrong]]) -> str:
    """Return the tables, one for each scene."""
    tables = []
    for kind, (spent, wrongs) in results.items():
        lines = []
        for name in ROWS:
            processor, elapsed = spent[name]
            line = [name, f"{1e3 * processor:.2f}", f"{100 * processor / CYCLE:.1f} %"]
            line.append(f"{1e3 * elapsed:.2f}")
            if name in wrongs:
                w = wrongs[name]
                poses = [share(w[0], w[3]), share(w[1], w[3])] if w[3] else ["", ""]
                line += [*poses, share(w[4], w[7]), share(w[5], w[7])]
            else:
                line += [""] * 4
            lines.append(line)
        truth = wrongs[RASTER]
        tables.append(
            f"{kind.capitalize()}: {share(truth[2], truth[3])} of the poses and "
            f"{share(truth[6], truth[7])} of the rollouts are in collision.\n\n"
            + table(
                [
                    kind,
                    "ms per cycle",
                    "of 50 ms",
                    "ms elapsed",
                    "poses falsely free",
                    "poses falsely occupied",
                    "rollouts falsely free",
                    "rollouts falsely occupied",
                ],
                lines,
            )
        )
    return "\n\n".join(tables)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--raster", type=Path, required=True, help="library of raster.cpp")
    options = arguments.parse_args()
    passes = 5 if options.quick else 31
    load = os.getloadavg()[0]
    results = measure(ctypes.CDLL(str(options.raster.resolve())), passes)
    head = (
        f"{machine()}; shapely {shapely.__version__}, numpy {np.__version__}; "
        f"{time.strftime('%Y-%m-%d')}; load average {load:.1f}; `{options.command}`. Medians of "
        f"{passes} cycles. The wrong "
        f"answers are those of {passes * JUDGED} rollouts per scene."
    )
    publish({"mppi": f"{head}\n\n{report(results)}"}, options.docs)


if __name__ == "__main__":
    main()
