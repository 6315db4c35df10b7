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
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scene_peers
import shapely
from report import machine, parser, publish, table
from scene_peers import Answers, Floats

from gjk_collision import Path as Curve
from gjk_collision import Region, Scene, Shape, Verdict, obstacles_from_grid

SPACING = 10.0  # m
EGO = (4.8, 1.8)  # m
EGO_SHAPE = Shape.box(*EGO)
PRIMITIVES = Curve.arcs(
    (0.0, 0.0, 0.0), [[(k / 4.0, s)] for k in (-1.0, -0.5, 0.0, 0.5, 1.0) for s in (2.0, -2.0)]
)
COUNTS = (10, 100, 1_000, 10_000, 100_000)
BATCHES = (1, 10, 100, 1_000, 10_000, 100_000)
POSES = 2_000  # per pass
STEP = 0.2  # m: between the poses of a drive
PERIOD = 0.1  # s: between the poses of a trajectory
CONTACT = 1e-6  # m: nearer than this, a peer's rounding may decide otherwise
TREE = scene_peers.Shapely.name

Times = dict[tuple[str, str], float]


class Ours:
    """A scene, asked as the peers are."""

    name = "gjk"
    poses_per_pass = POSES

    def __init__(self, poses: Floats, sizes: Floats, ego: tuple[float, float]) -> None:
        local = scene_peers.corners(np.zeros((len(poses), 3)), sizes)
        offsets = np.arange(0, 4 * len(poses) + 1, 4)
        self.scene = Scene.from_arrays(offsets, local.ravel(), poses=poses)
        self.ego = Shape.box(*ego)

    def collide(self, poses: Floats, threads: int = 1) -> Answers:
        """Whether it hits anything, shape (n,)."""
        return np.asarray(self.scene.check(self.ego, poses, threads=threads).verdicts == 2)

    def one_by_one(self, poses: Floats) -> Answers:
        """Say the same in a call for each pose."""
        is_free = self.scene.is_free
        return ~np.array([is_free(self.ego, pose) for pose in poses.tolist()])

    def distance(self, poses: Floats, warm: bool = True) -> Answers:
        """Signed distance to the nearest, shape (n,) [m]."""
        return self.scene.check(self.ego, poses, mode="distance", warm_start=warm).distances


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

    def drives(self, count: int) -> Floats:
        """Poses one step from each other, in drives of 100."""
        start = np.repeat(self.somewhere(-(-count // 100)), 100, axis=0)[:count]
        yaw = start[:, 2] + 0.01 * (np.arange(count) % 100)
        along = STEP * (np.arange(count) % 100)
        return np.c_[start[:, 0] + along * np.cos(yaw), start[:, 1] + along * np.sin(yaw), yaw]

    def made(
        self, kind: Callable[[Floats, Floats, tuple[float, float]], Any]
    ) -> tuple[Any, float]:
        """Return a broad phase of these obstacles, and how long it took [s]."""
        start = time.perf_counter()
        broad = kind(self.poses, self.sizes, EGO)
        return broad, time.perf_counter() - start


def timed(query: Callable[[Floats], Answers], poses: Floats) -> tuple[float, Answers]:
    start = time.perf_counter()
    answers = query(poses)
    return (time.perf_counter() - start) / len(poses), answers


def agree(name: str, query: str, answers: Answers, truth: Answers) -> None:
    """Raise where a peer differs from the signed distances by more than its rounding."""
    if query == "distance":
        assert np.allclose(np.maximum(answers, 0.0), np.maximum(truth, 0.0), atol=CONTACT), name
    else:
        decided = ~(np.abs(truth) <= CONTACT)  # NaN is not excused
        assert np.array_equal(answers[decided], truth[decided] < 0.0), name


def against_obstacles(counts: tuple[int, ...], passes: int) -> dict[int, Times]:
    """Time per pose by (row, query), for each number of obstacles; and what building costs."""
    peers, _ = scene_peers.installed()
    table = {}
    for count in counts:
        field = Field(count)
        spent: dict[tuple[str, str], list[float]] = {}
        rows = []
        for kind in (Ours, *peers):
            broad, build = field.made(kind)
            rows.append(broad)
            spent[kind.name, "build"] = [build]
        ours = rows[0]
        for number in range(passes):
            poses = field.somewhere(POSES)
            truth = ours.distance(poses)
            for row in rows:
                if row.poses_per_pass < POSES and number >= 5:
                    continue
                some = slice(row.poses_per_pass)
                for query in ("collide", "distance"):
                    if getattr(row, query) is None:
                        continue
                    each, answers = timed(getattr(row, query), poses[some])
                    spent.setdefault((row.name, query), []).append(each)
                    agree(row.name, query, answers, truth[some])
            few = field.rng.permutation(count)[: max(1, count // 100)]
            one = few[:1]
            for query, moved in (("update", few), ("update one", one)):
                there = field.poses[moved] + (1.0, 0.0, 0.1)
                start = time.perf_counter()
                ours.scene.updated(moved, there)
                spent.setdefault((ours.name, query), []).append(time.perf_counter() - start)
        table[count] = {key: statistics.median(each) for key, each in spent.items()}
        table[count][ours.name, "bytes"] = ours.scene.nbytes / count
    return table


def against_poses(batches: tuple[int, ...], passes: int) -> dict[int, dict[str, float]]:
    """Time per pose among 10 000 obstacles, for each number of poses in a call."""
    field = Field(10_000)
    ours, tree = field.made(Ours)[0], field.made(scene_peers.Shapely)[0]
    queries: dict[str, Callable[[Floats], Answers]] = {
        "collide": ours.collide,
        "one by one": ours.one_by_one,
        "2 threads": lambda poses: ours.collide(poses, threads=2),
        "distance": ours.distance,
        "tree collide": tree.collide,
        "tree distance": tree.distance,
    }
    table = {}
    for size in batches:
        times: dict[str, list[float]] = {name: [] for name in queries}
        for _ in range(max(3, min(10 * passes, 200_000 // size))):
            poses = field.somewhere(size)
            for name, query in queries.items():
                times[name].append(timed(query, poses)[0])
        table[size] = {name: statistics.median(each) for name, each in times.items()}
    return table


def of_drives(passes: int) -> dict[str, float]:
    """Time per pose of drives among 10 000 obstacles, mode distance, warm and cold."""
    field = Field(10_000)
    call = field.made(Ours)[0].distance
    times: dict[str, list[float]] = {"warm": [], "cold": []}
    for number in range(passes):
        # Each on drives of its own, either first in turn: the second finds warmer caches.
        for warm in (number % 2 == 0, number % 2 != 0):
            poses = field.drives(POSES)
            spent, answers = timed(lambda p, w=warm: call(p, warm=w), poses)
            times["warm" if warm else "cold"].append(spent)
            assert np.array_equal(answers, call(poses, warm=not warm))
    return {name: statistics.median(each) for name, each in times.items()}


def of_gradients(passes: int) -> dict[str, tuple[float, float]]:
    """Time per pose of mode distance and of gradients (k = 1) among 1000 obstacles, one thread."""
    field = Field(1_000)
    shapes = [Shape.box(*size) for size in field.sizes]
    velocities = field.rng.normal(size=(len(shapes), 3)) * (2.0, 2.0, 0.2)
    scene = Scene(shapes, field.poses, velocities=velocities, horizon=10.0)
    ego = Shape.box(*EGO)
    times = np.tile(np.linspace(0.0, 5.0, 50), -(-POSES // 50))[:POSES]
    spent: dict[str, list[tuple[float, float]]] = {}
    for _ in range(passes):
        for name, poses, at in (
            ("random poses", field.somewhere(POSES), None),
            ("drives", field.drives(POSES), None),
            ("random poses, obstacles in motion", field.somewhere(POSES), times),
        ):
            distance, answers = timed(
                lambda p, at=at: scene.check(ego, p, at, mode="distance").distances, poses
            )
            gradient, own = timed(
                lambda p, at=at: scene.gradient(ego, p, at).distances[:, 0], poses
            )
            assert np.allclose(answers, own, rtol=0.0, atol=1e-9)  # they differ by rounding
            spent.setdefault(name, []).append((distance, gradient))
    return {
        name: (statistics.median(d for d, _ in each), statistics.median(g for _, g in each))
        for name, each in spent.items()
    }


def of_curves(passes: int) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Return time per edge [s], mean length [m] and share of FREE by (curve, scene).

    An edge is a curve of radius 4 m to a pose about 6 m away. 1000 of them are checked in a call
    with two threads, mode 'collide', among 200 boxes. The call that makes the curves is included.
    Ten motion primitives are checked from one state and from 1000 states with one thread. The
    calls that move them and compute their ends are included.

    Some poses on FREE curves are checked too.
    """
    ego = Shape.box(*EGO)
    spent: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for number in range(passes):
        for side in (200.0, 100.0):
            rng = np.random.default_rng(number)
            half = np.array([side / 2, side / 2, np.pi])
            boxes = [Shape.box(*size) for size in rng.uniform((1, 1), (5, 3), (200, 2))]
            scene = Scene(boxes, rng.uniform(-half, half, (200, 3)))
            starts = rng.uniform(-half, half, (1000, 3))
            ends = starts + rng.normal(0.0, (5.0, 5.0, 1.0), (1000, 3))
            for name, make in (("Reeds-Shepp", Curve.reeds_shepp), ("Dubins", Curve.dubins)):
                start = time.perf_counter()
                curves = make(starts, ends, 4.0)
                found = scene.check_path(ego, curves, mode="collide", threads=2)
                each = (time.perf_counter() - start) / len(starts)
                free = np.asarray(found.verdicts == Verdict.FREE)
                for i in np.flatnonzero(free)[:20]:
                    on_way = curves[i].at(np.linspace(0.0, curves[i].length, 20))
                    assert scene.check(ego, on_way).is_free
                key = (name, f"{side:.0f} x {side:.0f} m")
                spent.setdefault(key, []).append((each, np.mean(curves.length), np.mean(free)))
            for states in (starts[:1], starts):
                edges = len(states) * len(PRIMITIVES)
                runs = 10_000 // edges
                start = time.perf_counter()
                for _ in range(runs):
                    fan = PRIMITIVES.moved(states)
                    found = scene.check_path(ego, fan, mode="collide")
                    ends = fan.ends
                each = (time.perf_counter() - start) / (runs * edges)
                assert ends.shape == (*found.verdicts.shape, 3)
                key = (f"10 primitives from {len(states)} states", f"{side:.0f} x {side:.0f} m")
                free = np.mean(found.verdicts == Verdict.FREE)
                spent.setdefault(key, []).append((each, np.mean(fan.length), free))
    return {key: tuple(np.median(each, axis=0)) for key, each in spent.items()}


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


def of_grids(passes: int) -> dict[str, tuple[float, int, int]]:
    """Return time [s], shapes and occupied cells of `obstacles_from_grid`, by the kind of map."""
    table = {}
    for kind in ("rooms and discs", "walls at 20 degrees, 3 cells", "independent cells"):
        times = []
        for number in range(passes):
            grid = grid_map(kind, number)
            start = time.perf_counter()
            shapes = obstacles_from_grid(grid, 0.05)
            times.append(time.perf_counter() - start)
            if number == 0:
                covered = np.zeros(grid.shape, bool)
                for shape in shapes:
                    x0, y0, x1, y1 = (round(v / 0.05) for v in shape.bounds)
                    covered[y0:y1, x0:x1] = True
                assert np.array_equal(covered, grid > 0)
        table[kind] = (statistics.median(times), len(shapes), int((grid > 0).sum()))
    return table


def of_region(passes: int) -> dict[str, float]:
    """Return time per pose [s] in a road of 600 vertices: as a region, and the edge alone."""
    along = np.linspace(0.0, 600.0, 300)
    middle = np.c_[along, 20.0 * np.sin(along / 40.0)]
    slope = np.gradient(middle[:, 1], along)
    aside = 5.0 * np.c_[-slope, np.ones(300)] / np.hypot(1.0, slope)[:, None]
    road = np.r_[middle - aside, (middle + aside)[::-1]]
    ends = np.stack([road, np.roll(road, -1, axis=0)], axis=1)
    scenes = {
        "region": Scene([], inside=Region([road])),
        "segments of its edge": Scene([Shape.hull(each) for each in ends]),
    }
    rng = np.random.default_rng(1)
    spent: dict[str, list[float]] = {}
    for _ in range(passes):
        n = rng.integers(0, 300, POSES)
        poses = np.c_[middle[n] + rng.normal(0.0, 3.0, (POSES, 2)), np.arctan(slope[n])]
        for name, scene in scenes.items():
            for mode in ("collide", "distance"):
                spent.setdefault(f"{name}, {mode}", []).append(
                    timed(
                        lambda p, s=scene, m=mode: s.check(EGO_SHAPE, p, mode=m).verdicts, poses
                    )[0]
                )
    return {name: statistics.median(each) for name, each in spent.items()}


def of_trajectories(file: Path, passes: int) -> tuple[int, int, Times]:
    """Return poses, pose-obstacle pairs, and time per pair of a planner's trajectories.

    Ours is one call, with the obstacles in motion; shapely's, one of all pairs per time step.
    """
    data = json.loads(file.read_text())
    by_step = {int(step): obstacles for step, obstacles in data["obstacles_by_step"].items()}
    dt, length, width = data["meta"]["dt"], *data["meta"]["ego_box"]
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
    ego = Shape.box(length, width)
    standing = {step: shapely.polygons(outlines[k]) for k, step in enumerate(sorted(by_step))}

    def ours(mode: str) -> Answers:
        found = scene.check(ego, poses, dt * at, mode=mode)  # type: ignore[arg-type]
        return np.asarray(found.verdicts == 2) if mode == "collide" else found.distances

    def theirs(mode: str) -> Answers:
        found = np.empty(len(poses), bool if mode == "collide" else float)
        egos = shapely.polygons(scene_peers.corners(poses, np.tile((length, width), (len(at), 1))))
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
    times: dict[tuple[str, str], list[float]] = {}
    truth = ours("distance")
    for _ in range(passes):
        for name, query in (("gjk", ours), ("shapely", theirs)):
            for mode in ("collide", "distance"):
                start = time.perf_counter()
                answers = query(mode)
                spent = (time.perf_counter() - start) / count
                times.setdefault((name, mode), []).append(spent)
                agree(name, mode, answers, truth)
    return len(poses), count, {key: statistics.median(each) for key, each in times.items()}


def of_criticality(passes: int) -> dict[str, float]:
    """Time of a call [s]: 64 trajectories among 100 predicted paths, both of 50 steps of 0.1 s.

    No post-encroachment time may be longer than the time between two poses that overlap in
    shapely.
    """
    count, trajectories, steps, side = 100, 64, 50, 150.0
    ego = Shape.box(*EGO)
    times: dict[str, list[float]] = {}
    for number in range(passes):
        rng = np.random.default_rng(number)
        now, later = PERIOD * np.arange(steps), PERIOD * np.arange(1, steps + 1)

        def driven(v: Floats, turn: Floats, at: Floats, starts: Floats) -> Floats:
            yaw = starts[:, 2:] + turn * at
            way = np.diff(v * at, axis=1, prepend=0.0)
            x, y = np.cumsum(way * np.cos(yaw), axis=1), np.cumsum(way * np.sin(yaw), axis=1)
            return np.stack([starts[:, :1] + x, starts[:, 1:2] + y, yaw], axis=-1)

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
        for name, call in (("criticality", scene.criticality), ("contacts", scene.first_contact)):
            begin = time.perf_counter()
            call(ego, poses, now)  # type: ignore[operator]
            times.setdefault(name, []).append(time.perf_counter() - begin)
        rated = scene.criticality(ego, poses, now)
        other = np.concatenate([starts[:, None], ways], axis=1)
        outlines = boxes_at(np.array([EGO] * trajectories), poses)
        for k, way in enumerate(boxes_at(sides, other)):
            overlaps = shapely.intersects(outlines[:, :, None], way[None, None])
            apart = np.abs(now[:, None] - PERIOD * np.arange(steps + 1))
            longest = np.where(overlaps, apart, np.inf).min(axis=(1, 2))
            assert (rated.post_encroachment_time <= longest + 1e-9).all(), (number, k)
    return {name: statistics.median(each) for name, each in times.items()}


def boxes_at(sides: Floats, poses: Floats) -> npt.NDArray[np.object_]:
    """Return shapely's boxes of these sides (n, 2) at their poses (n, m, 3)."""
    corners = 0.5 * sides[:, None, None, :] * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
    cos, sin = np.cos(poses[..., 2:]), np.sin(poses[..., 2:])
    x, y = corners[..., 0], corners[..., 1]
    xy = np.stack([poses[..., :1] + cos * x - sin * y, poses[..., 1:2] + sin * x + cos * y], -1)
    return np.asarray(shapely.polygons(xy))


def us(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.2f}" if seconds < 1e-4 else f"{seconds * 1e6:.0f}"


def section(title: str, header: list[str], rows: list[list[Any]]) -> str:
    return f"{title}\n\n{table(header, rows)}"


def report(
    by_count: dict[int, Times],
    by_size: dict[int, dict[str, float]],
    drives: dict[str, float],
    gradients: dict[str, tuple[float, float]],
    curves: dict[tuple[str, str], tuple[float, float, float]],
    grids: dict[str, tuple[float, int, int]],
    region: dict[str, float],
    critical: dict[str, float],
    trajectories: tuple[int, int, Times] | None,
) -> str:
    peers, missing = scene_peers.installed()
    names = ["gjk", *(peer.name for peer in peers)]
    parts = [
        f"{machine()}; Python {platform.python_version()}, shapely {shapely.__version__} with "
        f"GEOS {shapely.geos_version_string}; {time.strftime('%Y-%m-%d')}. From Python, one "
        "thread unless said; medians.",
        *(f"{name}: not installed." for name in missing),
    ]
    for query, title in (("collide", "collides"), ("distance", "nearest distance")):
        shown = [name for name in names if any((name, query) in t for t in by_count.values())]
        parts.append(
            section(
                f"Microseconds per pose, {title}, and how many times longer STRtree takes:",
                ["obstacles", *shown, f"{TREE} / gjk"],
                [
                    [count, *(us(t.get((name, query))) for name in shown),
                     f"{t[TREE, query] / t['gjk', query]:.1f}"]
                    for count, t in by_count.items()
                ],
            )
        )  # fmt: skip
    columns = ["collide", "one by one", "2 threads", "distance", "tree collide", "tree distance"]
    parts += [
        section(
            "Milliseconds to build, and for ours to move 1 % of the obstacles, and one:",
            ["obstacles", *names, "gjk, 1 % moved", "gjk, one moved", "bytes per obstacle"],
            [
                [count, *(f"{1e3 * t[name, 'build']:.2f}" for name in names),
                 f"{1e3 * t['gjk', 'update']:.3f}", f"{1e3 * t['gjk', 'update one']:.3f}",
                 f"{t['gjk', 'bytes']:.0f}"]
                for count, t in by_count.items()
            ],
        ),
        section(
            "Microseconds per pose among 10 000 obstacles, by the number of poses in a call:",
            ["poses", *columns[:4], f"{TREE}, collide", "distance"],
            [[size, *(us(t[name]) for name in columns)] for size, t in by_size.items()],
        ),
        section(
            f"Microseconds per pose of drives, poses {STEP} m apart, 10 000 obstacles:",
            ["", "warm", "cold", "cold / warm"],
            [["distance", us(drives["warm"]), us(drives["cold"]),
              f"{drives['cold'] / drives['warm']:.2f}"]],
        ),
        section(
            "Microseconds per pose of the distance and of its gradient, among 1000 obstacles:",
            ["", "distance", "gradient", "gradient / distance"],
            [[name, us(d), us(g), f"{g / d:.2f}"] for name, (d, g) in gradients.items()],
        ),
        section(
            "Microseconds per edge, made and checked, of 1000 curves of radius 4 m in a call, "
            "among 200 boxes, two threads; primitives with their ends, one thread:",
            ["", "us", "mean length (m)", "FREE"],
            [
                [f"{name}, {side}", us(t), f"{length:.1f}", f"{100 * free:.0f} %"]
                for (name, side), (t, length, free) in curves.items()
            ],
        ),
        section(
            "Microseconds per pose near the edges of a road of 600 vertices:",
            ["", "us"],
            [[name, us(t)] for name, t in region.items()],
        ),
        section(
            "Milliseconds for 64 trajectories among 100 predicted paths, both of 50 steps, one "
            "thread (goal of criticality: 4 ms):",
            ["", "ms"],
            [[name, f"{1e3 * t:.1f}"] for name, t in critical.items()],
        ),
        section(
            "Milliseconds for the obstacles of a grid of 1000 x 1000 cells, 7 % occupied:",
            ["", "ms", "shapes", "occupied cells per shape"],
            [
                [name, f"{1e3 * t:.1f}", shapes, f"{cells / shapes:.1f}"]
                for name, (t, shapes, cells) in grids.items()
            ],
        ),
    ]  # fmt: skip
    if trajectories is not None:
        poses, pairs, t = trajectories
        parts.append(
            section(
                "Nanoseconds per pose-obstacle pair of a planner's 1000 trajectories "
                f"(US101-3_3): {poses} poses, {pairs} pairs, the obstacles in motion:",
                ["", "gjk", "shapely", "shapely / gjk"],
                [
                    [query, *(f"{1e9 * t[name, query]:.1f}" for name in ("gjk", "shapely")),
                     f"{t['shapely', query] / t['gjk', query]:.1f}"]
                    for query in ("collide", "distance")
                ],
            )
        )  # fmt: skip
    return "\n\n".join(parts)


def plot(by_count: dict[int, Times], by_size: dict[int, dict[str, float]], file: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "gjk_collision"  # the same file for the same numbers
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 5), layout="constrained")
    names = dict.fromkeys(name for t in by_count.values() for name, _ in t)
    for axis, query in zip(axes, ("collide", "distance"), strict=False):
        for i, name in enumerate(names):
            points = [(n, 1e6 * t[name, query]) for n, t in by_count.items() if (name, query) in t]
            if points:
                axis.loglog(*zip(*points, strict=True), "o-", color="k" if i == 0 else f"C{i - 1}",
                            linewidth=2.5 if i == 0 else 1.2, label=name)  # fmt: skip
        axis.set(title=query, xlabel="obstacles, at a fixed density", ylabel="us per pose")
    for name, style in (("collide", "ko-"), ("2 threads", "k^:"), ("distance", "ks--"),
                        ("tree collide", "C0o-"), ("tree distance", "C0s--")):  # fmt: skip
        label = name.replace("tree", TREE)
        label = label if "tree" in name else f"gjk {name}"
        axes[2].loglog(
            list(by_size), [1e6 * t[name] for t in by_size.values()], style, label=label
        )
    axes[2].set(title="10 000 obstacles", xlabel="poses in a call", ylabel="us per pose")
    for axis in axes:
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--trajectories", type=Path, help="of the planner, left out if absent")
    arguments.add_argument("--svg", type=Path, required=True)
    options = arguments.parse_args()
    passes = 5 if options.quick else 21
    by_count = against_obstacles(COUNTS[:-1] if options.quick else COUNTS, passes)
    by_size = against_poses(BATCHES[:-1] if options.quick else BATCHES, passes)
    trajectories = None
    if options.trajectories and options.trajectories.exists():
        trajectories = of_trajectories(options.trajectories, passes)
    text = report(
        by_count,
        by_size,
        of_drives(passes),
        of_gradients(passes),
        of_curves(passes),
        of_grids(min(passes, 9)),
        of_region(passes),
        of_criticality(passes),
        trajectories,
    )
    publish({"scene": text}, options.docs)
    plot(by_count, by_size, options.svg)
    if options.docs:
        plot(by_count, by_size, options.docs.with_suffix(".svg"))


if __name__ == "__main__":
    main()
