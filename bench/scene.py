# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Cost of a pose in a scene against the number of obstacles and poses, beside other broad phases.

python scene.py --svg FILE [--quick] [--docs FILE] [--trajectories FILE]

Obstacles are boxes of 1-5 x 1-3 m, one per 10 x 10 m; poses are new in every pass; the passes of
all rows are interleaved, and a time is the median over them. Every answer is compared while
timing.
"""

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scene_peers
import shapely
from page import Times, circumstances, parser, plotter, publish, save, table
from scene_peers import Answers, Floats, box, placed

from gjk_collision import Path as Curve
from gjk_collision import Scene, Shape, Verdict, obstacles_from_grid

SPACING = 10.0  # m
EGO = (4.8, 1.8)  # m
EGO_SHAPE = Shape.box(*EGO)
PRIMITIVES = Curve.arcs(
    (0.0, 0.0, 0.0), [[(k / 4.0, s)] for k in (-1.0, -0.5, 0.0, 0.5, 1.0) for s in (2.0, -2.0)]
)
COUNTS = (10, 100, 1_000, 10_000, 100_000)
BATCHES = (1, 10, 100, 1_000, 10_000, 100_000)
POSES = 2_000  # per pass
PERIOD = 0.1  # s: between the poses of a trajectory
CONTACT = 1e-6  # m: nearer than this, a peer's rounding may decide otherwise
TREE = scene_peers.Shapely.name
QUESTIONS = ("collide", "distance")

ByCount = dict[int, dict[tuple[str, str], float]]  # by the number of obstacles, row and question
BySize = dict[int, dict[str, float]]  # by the number of poses in a call, and row


class Ours:
    """A scene, asked as the peers are."""

    name = "gjk"
    poses_per_pass = POSES

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        offsets = np.arange(0, 4 * len(poses) + 1, 4)
        self.scene = Scene.from_arrays(offsets, box(sizes).ravel(), poses=poses)
        self.ego = Shape.box(*ego)

    def collide(self, poses: Floats, threads: int = 1) -> Answers:
        """Whether it hits anything, shape (n,)."""
        return np.asarray(self.scene.check(self.ego, poses, threads=threads).verdicts == 2)

    def one_by_one(self, poses: Floats) -> Answers:
        """Say the same in a call for each pose."""
        is_free = self.scene.is_free
        return ~np.array([is_free(self.ego, pose) for pose in poses.tolist()])

    def distance(self, poses: Floats) -> Answers:
        """Signed distance to the nearest, shape (n,) [m]."""
        return self.scene.check(self.ego, poses, mode="distance").distances


class Field:
    """Obstacles at a fixed density."""

    def __init__(self, count: int, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.half = 0.5 * SPACING * count**0.5
        self.sizes = self.rng.uniform((1, 1), (5, 3), (count, 2))
        self.poses = self.somewhere(count)

    def somewhere(self, count: int) -> Floats:
        """Poses among the obstacles."""
        poses = self.rng.uniform(-self.half, self.half, (count, 3))
        poses[:, 2] = self.rng.uniform(-np.pi, np.pi, count)
        return poses

    def held_by(self, kind: Callable[[Floats, Floats, tuple[float, float]], Any]) -> Any:
        """Return a broad phase of these obstacles."""
        return kind(self.poses, self.sizes, EGO)


def agree(name: str, query: str, answers: Answers, truth: Answers) -> None:
    """Raise where a peer differs from the signed distances by more than its rounding."""
    if query == "distance":
        assert np.allclose(np.maximum(answers, 0.0), np.maximum(truth, 0.0), atol=CONTACT), name
    else:
        decided = ~(np.abs(truth) <= CONTACT)  # NaN is not excused
        assert np.array_equal(answers[decided], truth[decided] < 0.0), name


def us(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.2f}" if seconds < 1e-4 else f"{seconds * 1e6:.0f}"


def section(title: str, header: list[str], rows: list[list[Any]]) -> str:
    return f"{title}\n\n{table(header, rows)}"


# ---- what is measured: each returns a section of the page, and the first two what is plotted


def against_obstacles(counts: tuple[int, ...], passes: int) -> tuple[str, ByCount]:
    """Time per pose for each number of obstacles; and what building and moving them costs."""
    peers, missing = scene_peers.installed()
    results: ByCount = {}
    for count in counts:
        field, times = Field(count), Times()
        rows = [times.time((kind.name, "build"), field.held_by, kind) for kind in (Ours, *peers)]
        ours = rows[0]
        for number in range(passes):
            poses = field.somewhere(POSES)
            truth = ours.distance(poses)
            for row in rows:
                if row.poses_per_pass < POSES and number >= 5:
                    continue
                some = poses[: row.poses_per_pass]
                for query in QUESTIONS:
                    if (ask := getattr(row, query)) is not None:
                        answers = times.time((row.name, query), ask, some, per=len(some))
                        agree(row.name, query, answers, truth[: len(some)])
            few = field.rng.permutation(count)[: max(1, count // 100)]
            for query, moved in (("update", few), ("update one", few[:1])):
                there = field.poses[moved] + (1.0, 0.0, 0.1)
                times.time((ours.name, query), ours.scene.updated, moved, there)
        results[count] = times.medians() | {(ours.name, "bytes"): ours.scene.nbytes / count}
    return obstacle_tables(results, missing), results


def obstacle_tables(results: ByCount, missing: list[str]) -> str:
    names = list(dict.fromkeys(name for times in results.values() for name, _ in times))
    parts = [f"{name}: not installed." for name in missing]
    for query, answer in zip(QUESTIONS, ("collides", "nearest distance"), strict=True):
        shown = [name for name in names if any((name, query) in t for t in results.values())]
        rows = [
            [count, *(us(t.get((name, query))) for name in shown),
             f"{t[TREE, query] / t['gjk', query]:.1f}"]
            for count, t in results.items()
        ]  # fmt: skip
        title = f"Microseconds per pose, {answer}, and how many times longer STRtree takes:"
        parts.append(section(title, ["obstacles", *shown, f"{TREE} / gjk"], rows))
    title = "Milliseconds to build, and for ours to move 1 % of the obstacles, and one:"
    header = ["obstacles", *names, "gjk, 1 % moved", "gjk, one moved", "bytes per obstacle"]
    rows = [
        [count, *(f"{1e3 * t[name, 'build']:.2f}" for name in names),
         f"{1e3 * t['gjk', 'update']:.3f}", f"{1e3 * t['gjk', 'update one']:.3f}",
         f"{t['gjk', 'bytes']:.0f}"]
        for count, t in results.items()
    ]  # fmt: skip
    return "\n\n".join([*parts, section(title, header, rows)])


def against_poses(batches: tuple[int, ...], passes: int) -> tuple[str, BySize]:
    """Time per pose among 10 000 obstacles, for each number of poses in a call."""
    field = Field(10_000)
    ours, tree = field.held_by(Ours), field.held_by(scene_peers.Shapely)
    queries: dict[str, Callable[[Floats], Answers]] = {
        "collide": ours.collide,
        "one by one": ours.one_by_one,
        "2 threads": lambda poses: ours.collide(poses, threads=2),
        "distance": ours.distance,
        "tree collide": tree.collide,
        "tree distance": tree.distance,
    }
    results: BySize = {}
    for size in batches:
        times = Times()
        for _ in range(max(3, min(10 * passes, 200_000 // size))):
            poses = field.somewhere(size)
            for name, query in queries.items():
                times.time(name, query, poses, per=size)
        results[size] = times.medians()
    title = "Microseconds per pose among 10 000 obstacles, by the number of poses in a call:"
    header = ["poses", *list(queries)[:4], f"{TREE}, collide", "distance"]
    rows = [[size, *map(us, times.values())] for size, times in results.items()]
    return section(title, header, rows), results


def of_curves(passes: int) -> str:
    """Return time per edge, mean length and share of FREE by curve and scene.

    An edge is a curve of radius 4 m to a pose about 6 m away. 1000 of them are checked in a call
    with two threads, mode 'collide', among 200 boxes. The call that makes the curves is included.
    Ten motion primitives are checked from one state and from 1000 states with one thread. The
    calls that move them and compute their ends are included.

    Some poses on FREE curves are checked too.
    """
    times = Times()
    facts: dict[str, list[tuple[float, float]]] = {}  # length [m] and share of FREE
    for number in range(passes):
        for side in (200.0, 100.0):
            rng = np.random.default_rng(number)
            half = np.array([side / 2, side / 2, np.pi])
            boxes = [Shape.box(*size) for size in rng.uniform((1, 1), (5, 3), (200, 2))]
            scene = Scene(boxes, rng.uniform(-half, half, (200, 3)))
            starts = rng.uniform(-half, half, (1000, 3))
            ends = starts + rng.normal(0.0, (5.0, 5.0, 1.0), (1000, 3))

            def checked(curves: Curve, threads: int, scene: Scene = scene) -> tuple[Any, Curve]:
                found = scene.check_path(EGO_SHAPE, curves, mode="collide", threads=threads)
                return np.asarray(found.verdicts == Verdict.FREE), curves

            def joined(make: Any, *ends: Floats, checked: Any = checked) -> tuple[Any, Curve]:
                return checked(make(*ends, 4.0), 2)

            def fans(states: Floats, runs: int, checked: Any = checked) -> tuple[Any, Curve]:
                for _ in range(runs):
                    free, fan = checked(PRIMITIVES.moved(states), 1)
                    assert fan.ends.shape == (*free.shape, 3)
                return free, fan

            where = f"{side:.0f} x {side:.0f} m"
            for name, make in (("Reeds-Shepp", Curve.reeds_shepp), ("Dubins", Curve.dubins)):
                key = f"{name}, {where}"
                free, curves = times.time(key, joined, make, starts, ends, per=1000)
                facts.setdefault(key, []).append((np.mean(curves.length), np.mean(free)))
                for i in np.flatnonzero(free)[:20]:
                    on_way = curves[i].at(np.linspace(0.0, curves[i].length, 20))
                    assert scene.check(EGO_SHAPE, on_way).is_free
            for states in (starts[:1], starts):
                key = f"10 primitives from {len(states)} states, {where}"
                free, fan = times.time(key, fans, states, 1000 // len(states), per=10_000)
                facts.setdefault(key, []).append((np.mean(fan.length), np.mean(free)))
    lines = []
    for key, spent in times.medians().items():
        length, free = np.median(facts[key], axis=0)
        lines.append([key, us(spent), f"{length:.1f}", f"{100 * free:.0f} %"])
    title = (
        "Microseconds per edge, made and checked, of 1000 curves of radius 4 m in a call, "
        "among 200 boxes, two threads; primitives with their ends, one thread:"
    )
    return section(title, ["", "us", "mean length (m)", "FREE"], lines)


def grid_map(kind: str, seed: int) -> npt.NDArray[np.int8]:
    """Return a grid of 1000 x 1000 cells of which 7 % are occupied."""
    rng = np.random.default_rng(seed)
    size = 1000
    if kind == "independent cells":
        return np.where(rng.random((size, size)) < 0.07, 100, 0).astype(np.int8)
    y, x = np.mgrid[:size, :size]
    if kind == "walls at 20 degrees, 3 cells":
        u = x * np.cos(0.35) + y * np.sin(0.35)
        v = y * np.cos(0.35) - x * np.sin(0.35)
        return np.where((u % 86 < 3) | (v % 86 < 3), 100, 0).astype(np.int8)
    grid = np.where((x % 80 < 2) | (y % 80 < 2), 100, 0).astype(np.int8)
    while (grid > 0).mean() < 0.07:
        (row, column), radius = rng.integers(0, size, 2), rng.integers(3, 15)
        grid[(y - row) ** 2 + (x - column) ** 2 <= radius**2] = 100
    return grid


def of_grids(passes: int) -> str:
    """Return time and shapes of `obstacles_from_grid`, by the kind of map."""
    times, lines = Times(), []
    for kind in ("rooms and discs", "walls at 20 degrees, 3 cells", "independent cells"):
        for number in reversed(range(passes)):
            grid = grid_map(kind, number)
            shapes = times.time(kind, obstacles_from_grid, grid, 0.05)
        covered = np.zeros(grid.shape, bool)
        for shape in shapes:
            x0, y0, x1, y1 = (round(v / 0.05) for v in shape.bounds)
            covered[y0:y1, x0:x1] = True
        assert np.array_equal(covered, grid > 0)
        cells = f"{covered.sum() / len(shapes):.1f}"
        lines.append([kind, f"{1e3 * times.medians()[kind]:.1f}", len(shapes), cells])
    title = "Milliseconds for the obstacles of a grid of 1000 x 1000 cells, 7 % occupied:"
    return section(title, ["", "ms", "shapes", "occupied cells per shape"], lines)


def of_trajectories(file: Path, passes: int) -> str:
    """Return the time per pose-obstacle pair of a planner's trajectories.

    Ours is one call, with the obstacles in motion; shapely's, one of all pairs per time step.
    """
    data = json.loads(file.read_text())
    by_step = {int(step): obstacles for step, obstacles in data["obstacles_by_step"].items()}
    dt, ego = data["meta"]["dt"], data["meta"]["ego_box"]
    outlines = np.array([[each["polygon"] for each in by_step[step]] for step in sorted(by_step)])
    when = dt * np.array(sorted(by_step))
    yaw = np.arctan2(*np.moveaxis(outlines[:, :, 1] - outlines[:, :, 0], -1, 0)[::-1])
    places = np.concatenate([outlines.mean(axis=2), yaw[..., None]], axis=-1)
    sides = np.linalg.norm(np.diff(outlines[0, :, :3], axis=1), axis=-1)
    scene = Scene(
        [Shape.box(*side) for side in sides],
        places[0],
        paths=[(when, places[:, i]) for i in range(len(sides))],
        horizon=1e3,
    )
    steps = np.array([[t["start_step"] + j for j in range(20)] for t in data["trajectories"]])
    known = steps.ravel() <= max(by_step)
    poses = np.array([t["poses"] for t in data["trajectories"]]).reshape(-1, 3)[known]
    at = steps.ravel()[known]
    standing = {step: shapely.polygons(outlines[k]) for k, step in enumerate(sorted(by_step))}

    def ours(mode: str) -> Answers:
        found = scene.check(Shape.box(*ego), poses, dt * at, mode=mode)  # type: ignore[arg-type]
        return np.asarray(found.verdicts == 2) if mode == "collide" else found.distances

    def theirs(mode: str) -> Answers:
        found = np.empty(len(poses), bool if mode == "collide" else float)
        egos = shapely.polygons(placed(box(ego), poses))
        if mode == "collide":
            shapely.prepare(egos)
        for step, obstacles in standing.items():
            mine = np.flatnonzero(at == step)
            pairs = egos[mine][:, None], obstacles[None]
            if mode == "collide":
                found[mine] = shapely.intersects(*pairs).any(axis=1)
            else:
                found[mine] = shapely.distance(*pairs).min(axis=1)
        return found

    count = len(poses) * len(sides)
    times, truth = Times(), ours("distance")
    for _ in range(passes):
        for mode in QUESTIONS:
            for name, query in (("gjk", ours), ("shapely", theirs)):
                answers = times.time((mode, name), query, mode, per=count)
                agree(name, mode, answers, truth)
    spent = times.medians()
    lines = []
    for mode in QUESTIONS:
        mine, other = spent[mode, "gjk"], spent[mode, "shapely"]
        lines.append([mode, f"{1e9 * mine:.1f}", f"{1e9 * other:.1f}", f"{other / mine:.1f}"])
    title = (
        "Nanoseconds per pose-obstacle pair of a planner's 1000 trajectories "
        f"(US101-3_3): {len(poses)} poses, {count} pairs, the obstacles in motion:"
    )
    return section(title, ["", "gjk", "shapely", "shapely / gjk"], lines)


def of_criticality(passes: int) -> str:
    """Return the time of a call: 64 trajectories among 100 predicted paths, 50 steps of 0.1 s.

    No post-encroachment time may be longer than the time between two poses that overlap in
    shapely.
    """
    count, trajectories, steps, side = 100, 64, 50, 150.0
    now, later = PERIOD * np.arange(steps), PERIOD * np.arange(1, steps + 1)

    def driven(v: Floats, turn: Floats, at: Floats, starts: Floats) -> Floats:
        yaw = starts[:, 2:] + turn * at
        way = np.diff(v * at, axis=1, prepend=0.0)
        x, y = np.cumsum(way * np.cos(yaw), axis=1), np.cumsum(way * np.sin(yaw), axis=1)
        return np.stack([starts[:, :1] + x, starts[:, 1:2] + y, yaw], axis=-1)

    times = Times()
    for number in range(passes):
        rng = np.random.default_rng(number)
        most = np.array([side / 2, side / 2, np.pi])
        starts = rng.uniform(-most, most, (count, 3))
        starts = starts[np.hypot(*starts[:, :2].T) > 8.0]
        rest = len(starts), 1
        ways = driven(rng.uniform(0, 12, rest), rng.uniform(-0.2, 0.2, rest), later, starts)
        sides = rng.uniform((3, 1.5), (6, 2.2), (len(starts), 2))
        paths = [(later, way) for way in ways]
        scene = Scene([Shape.box(*each) for each in sides], starts, paths=paths)
        rest = trajectories, 1
        speeds, turns = rng.uniform(4, 14, rest), rng.uniform(-0.25, 0.25, rest)
        poses = driven(speeds, turns, now, np.zeros((trajectories, 3)))
        rated = times.time("criticality", scene.criticality, EGO_SHAPE, poses, now)
        times.time("contacts", scene.first_contact, EGO_SHAPE, poses, now)
        other = np.concatenate([starts[:, None], ways], axis=1)
        outlines = shapely.polygons(placed(box(EGO), poses))
        for k, way in enumerate(shapely.polygons(placed(box(sides)[:, None], other))):
            overlaps = shapely.intersects(outlines[:, :, None], way[None, None])
            apart = np.abs(now[:, None] - PERIOD * np.arange(steps + 1))
            longest = np.where(overlaps, apart, np.inf).min(axis=(1, 2))
            assert (rated.post_encroachment_time <= longest + 1e-9).all(), (number, k)
    title = (
        "Milliseconds for 64 trajectories among 100 predicted paths, both of 50 steps, one "
        "thread (goal of criticality: 4 ms):"
    )
    lines = [[name, f"{1e3 * spent:.1f}"] for name, spent in times.medians().items()]
    return section(title, ["", "ms"], lines)


def plot(by_count: ByCount, by_size: BySize) -> Any:
    figure, axes = plotter().subplots(1, 3, figsize=(13, 5), layout="constrained")
    names = dict.fromkeys(name for t in by_count.values() for name, _ in t)
    for axis, query in zip(axes, QUESTIONS, strict=False):
        for i, name in enumerate(names):
            points = [(n, 1e6 * t[name, query]) for n, t in by_count.items() if (name, query) in t]
            if points:
                axis.loglog(*zip(*points, strict=True), "o-", color="k" if i == 0 else f"C{i - 1}",
                            linewidth=2.5 if i == 0 else 1.2, label=name)  # fmt: skip
        axis.set(title=query, xlabel="obstacles, at a fixed density", ylabel="us per pose")
    for name, style in (("collide", "ko-"), ("2 threads", "k^:"), ("distance", "ks--"),
                        ("tree collide", "C0o-"), ("tree distance", "C0s--")):  # fmt: skip
        label = name.replace("tree", TREE) if "tree" in name else f"gjk {name}"
        spent = [1e6 * t[name] for t in by_size.values()]
        axes[2].loglog(list(by_size), spent, style, label=label)
    axes[2].set(title="10 000 obstacles", xlabel="poses in a call", ylabel="us per pose")
    for axis in axes:
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return figure


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--trajectories", type=Path, help="of the planner, left out if absent")
    arguments.add_argument("--svg", type=Path, required=True)
    options = arguments.parse_args()
    passes = 5 if options.quick else 21
    obstacles, by_count = against_obstacles(COUNTS[:-1] if options.quick else COUNTS, passes)
    batches, by_size = against_poses(BATCHES[:-1] if options.quick else BATCHES, passes)
    facts = circumstances(
        f"Python {platform.python_version()}, shapely {shapely.__version__} with "
        f"GEOS {shapely.geos_version_string}; `{options.command}`. From Python, one thread unless "
        "said; medians."
    )
    parts = [facts, obstacles, batches, of_curves(passes)]
    parts += [of_criticality(passes), of_grids(min(passes, 9))]
    if options.trajectories and options.trajectories.exists():
        parts.append(of_trajectories(options.trajectories, passes))
    publish({"scene": "\n\n".join(parts)}, options.docs)
    save(plot(by_count, by_size), options.svg, options.docs)


if __name__ == "__main__":
    main()
