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
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from page import Times, circumstances, parser, publish, table
from scene_peers import Floats, box, mistakes, placed

from gjk_collision import CheckResult, Scene, Shape, Verdict

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
CORNERS = box((LENGTH, WIDTH))


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
            outline = placed(box(rng.uniform((0.1, 0.05), (0.8, 0.4))), np.array([x, y, yaw]))
        if shapely.Polygon(outline).distance(shapely.Point(0.0, 0.0)) > 0.8:
            outlines.append(outline)
    return outlines


def corridor(rng: np.random.Generator, yaw: float) -> list[Floats]:
    """Return two walls, 0.2 m further apart than the robot is wide."""
    aside = 0.5 * WIDTH + 0.1 + 0.05
    offset = aside * np.array([-np.sin(yaw), np.cos(yaw)])
    wall = box((2.0 * SIDE, 0.1))
    return [placed(wall, np.array([*(sign * offset), yaw])) for sign in (1.0, -1.0)]


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
    """An occupancy grid with an inflation layer, and the footprint check of raster.cpp."""

    def __init__(self, solid: Any, library: ctypes.CDLL) -> None:
        n = round(SIDE / RESOLUTION)
        low = -0.5 * SIDE + RESOLUTION * np.arange(n)
        x, y = np.meshgrid(low, low)
        cells = shapely.box(x, y, x + RESOLUTION, y + RESOLUTION)
        self.costs = inflated(np.asarray(shapely.intersects(solid, cells)))
        self.possible = cost_at(float(np.hypot(LENGTH, WIDTH)) / 2)
        self.check = library.raster_check
        self.check.restype = ctypes.c_double
        self.footprint = CORNERS.astype(np.float32)

    def hits(self, poses: npt.NDArray[np.float32], stride: int, stop: bool) -> Answers:
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


# The rows of the table. A raster row of the second kind checks each second pose, as nav2 does by
# default (`trajectory_point_step`).
OURS = "gjk, each rollout to its first contact"
PAIR = "the same, two threads"
EVERY = "gjk, all poses"
DISTANCE = "gjk, distances of all poses"
RASTER = "raster in C++, each rollout to its first contact"
SECOND = "the same, each second pose"
TRUTH = "shapely, all poses"
ROWS = (OURS, PAIR, EVERY, DISTANCE, RASTER, SECOND, TRUTH)
Wrong = dict[str, Any]  # per method: see `wrong`


class Spent:
    """Processor time of all threads and elapsed time [s], by the method.

    Both are measured for every row, so that a column compares times of one kind. While other
    programs run, only the processor times can be compared.
    """

    def __init__(self) -> None:
        self.processor, self.elapsed = Times(), Times()

    def time(self, key: str, call: Callable[[], Any], part: float = 1.0) -> Any:
        """Add the times of a call, which is a part of a cycle; return what the call returns."""
        clock = time.process_time
        return self.elapsed.time(
            key, lambda: self.processor.time(key, call, per=part, clock=clock), per=part
        )


def scene_of(outlines: list[Floats]) -> Scene:
    return Scene([Shape.hull(each) for each in outlines])


def methods(
    outlines: list[Floats], costmap: Costmap, poses: Floats
) -> dict[str, Callable[[], Any]]:
    """Return the calls that are timed. The raster receives floats, as nav2 has them."""
    robot = Shape.box(LENGTH, WIDTH)
    floats = poses.astype(np.float32)

    def ours(**options: Any) -> CheckResult:
        return scene_of(outlines).check(robot, poses, **options)

    return {
        OURS: lambda: ours(stop_at_first=True).first_invalid,
        PAIR: lambda: ours(stop_at_first=True, threads=2).first_invalid,
        EVERY: lambda: ours().verdicts,
        DISTANCE: lambda: ours(mode="distance").distances,
        RASTER: lambda: costmap.hits(floats, 1, True),
        SECOND: lambda: costmap.hits(floats, 2, True),
    }


def wrong(hits: Answers, truth: Answers) -> npt.NDArray[np.int64]:
    """Count verdicts, for poses and rollouts: falsely free, falsely occupied, occupied, all."""
    counts = []
    for found, true in ((hits, truth), (hits.any(axis=1), truth.any(axis=1))):
        counts += [(true & ~found).sum(), (found & ~true).sum(), true.sum(), true.size]
    return np.array(counts)


def judge(
    scene: Scene, costmap: Costmap, poses: Floats, solid: Any, spent: Spent, where: str
) -> Wrong:
    """Return the wrong verdicts of some rollouts by shapely; fail where one is ours.

    The times that shapely takes for a cycle are added.
    """
    some = poses[:: ROLLOUTS // JUDGED]

    def true_hits() -> tuple[Any, Any]:
        outlines = shapely.polygons(placed(CORNERS, some))
        return outlines, np.asarray(shapely.intersects(solid, outlines))

    outlines, truth = spent.time(TRUTH, true_hits, JUDGED / ROLLOUTS)
    verdicts = np.asarray(scene.check(Shape.box(LENGTH, WIDTH), some).verdicts)
    hits = verdicts == Verdict.COLLISION
    if not (hits | (verdicts == Verdict.FREE)).all():
        sys.exit(f"{where}: a verdict is UNKNOWN")
    wrong_ones = mistakes(hits, outlines, lambda each, _: shapely.intersects(solid, each), 1e-9)
    if len(wrong_ones):
        sys.exit(f"{where}: shapely differs at {some.reshape(-1, 3)[wrong_ones[0]].tolist()}")
    floats = some.astype(np.float32)
    second = wrong(costmap.hits(floats, 2, False), truth)
    second[:4] = 0  # half of its poses have no answer
    raster = wrong(costmap.hits(floats, 1, False), truth)
    return {OURS: wrong(hits, truth), RASTER: raster, SECOND: second}


def measure(library: ctypes.CDLL, passes: int) -> dict[str, tuple[Spent, Wrong]]:
    """Return the times of a cycle and the wrong answers, by the scene and the method."""
    results = {}
    for kind, (make, turn) in SCENES.items():
        spent, wrongs = Spent(), dict.fromkeys((OURS, RASTER, SECOND), 0)
        for number in range(passes):
            rng = np.random.default_rng(number)
            yaw = float(rng.uniform(-np.pi, np.pi))
            outlines = make(rng, yaw)
            poses = rollouts(rng, yaw, turn)
            solid = shapely.union_all([shapely.Polygon(each) for each in outlines])
            shapely.prepare(solid)
            costmap = Costmap(solid, library)
            calls = list(methods(outlines, costmap, poses).items())
            for name, call in calls[number % len(calls) :] + calls[: number % len(calls)]:
                spent.time(name, call)
            where = f"{kind}, pass {number}"
            found = judge(scene_of(outlines), costmap, poses, solid, spent, where)
            wrongs = {name: wrongs[name] + each for name, each in found.items()}
        results[kind] = spent, wrongs
    return results


def share(count: int, total: int) -> str:
    return f"{100 * count / total:.2f} %" if total else ""


def report(kind: str, spent: Spent, wrongs: Wrong) -> str:
    """Return the table of a scene."""
    lines = []
    processor, elapsed = spent.processor.medians(), spent.elapsed.medians()
    for name in ROWS:
        line = [name, f"{1e3 * processor[name]:.2f}", f"{100 * processor[name] / CYCLE:.1f} %"]
        w = wrongs.get(name, np.zeros(8))
        wrong_shares = [share(w[i], w[i // 4 * 4 + 3]) for i in (0, 1, 4, 5)]
        lines.append([*line, f"{1e3 * elapsed[name]:.2f}", *wrong_shares])
    columns = [f"{what} falsely {how}" for what in ("poses", "rollouts")
               for how in ("free", "occupied")]  # fmt: skip
    truth = wrongs[RASTER]
    return (
        f"{kind.capitalize()}: {share(truth[2], truth[3])} of the poses and "
        f"{share(truth[6], truth[7])} of the rollouts are in collision.\n\n"
        + table([kind, "ms per cycle", "of 50 ms", "ms elapsed", *columns], lines)
    )


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--raster", type=Path, required=True, help="library of raster.cpp")
    options = arguments.parse_args()
    passes = 5 if options.quick else 31
    load = os.getloadavg()[0]
    results = measure(ctypes.CDLL(str(options.raster.resolve())), passes)
    facts = circumstances(
        f"shapely {shapely.__version__}, numpy {np.__version__}",
        f"load average {load:.1f}; `{options.command}`. Medians of {passes} cycles. The wrong "
        f"answers are those of {passes * JUDGED} rollouts per scene.",
    )
    tables = [report(kind, *each) for kind, each in results.items()]
    publish({"mppi": "\n\n".join([facts, *tables])}, options.docs)


if __name__ == "__main__":
    main()
