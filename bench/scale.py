# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Time of large scenes and of many poses, beside the STRtree of shapely.

python scale.py [--quick] [--docs FILE]

Obstacles, ego and poses are those of scene.py. The passes of all rows are interleaved, and a time
is the median over them. The answers of both libraries are compared for all poses.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scene_peers
from page import Times, circumstances, parser, publish, table
from scene import CONTACT, EGO_SHAPE, TREE, Field
from scene_peers import Answers, Floats, box

from gjk_collision import Scene, Shape

COUNTS = (1_000, 10_000, 100_000, 1_000_000)
POSES = (10_000, 100_000, 1_000_000, 10_000_000)
MOST_SHAPES = 100_000  # a list of as many Shape objects takes long to make
CHUNK = 1_000_000  # poses in a call
WAYS = ("one Shape, poses", "list of Shape", "arrays, boxes", "arrays, circles")


class Inputs:
    """The obstacles in the form that each way to make a scene needs."""

    def __init__(self, count: int) -> None:
        self.field = Field(count)
        self.poses = self.field.poses
        self.xy = box(self.field.sizes).reshape(-1, 2)
        self.offsets = np.arange(0, 4 * count + 1, 4, dtype=np.uint32)
        self.points = np.ascontiguousarray(self.poses[:, :2])
        self.radius = np.full(count, 0.3)
        self.each = np.arange(count + 1, dtype=np.uint32)
        self.shapes = [Shape.box(*size) for size in self.field.sizes if count <= MOST_SHAPES]

    def ways(self, threads: int = 1) -> dict[str, Callable[[], Any]]:
        """Return what makes a scene, by name."""
        ways: dict[str, Callable[[], Any]] = {
            WAYS[0]: lambda: Scene(EGO_SHAPE, self.poses, threads=threads),
            WAYS[1]: lambda: Scene(self.shapes, self.poses, threads=threads),
            WAYS[2]: lambda: Scene.from_arrays(
                self.offsets, self.xy, poses=self.poses, threads=threads
            ),
            WAYS[3]: lambda: Scene.from_arrays(
                self.each, self.points, radius=self.radius, threads=threads
            ),
        }
        if not self.shapes:
            del ways[WAYS[1]]
        return ways

    def tree(self) -> scene_peers.Shapely:
        """Return the tree of shapely, with its polygons."""
        tree: scene_peers.Shapely = self.field.held_by(scene_peers.Shapely)
        return tree


def making(count: int, passes: int) -> dict[tuple[str, int], float]:
    """Time to make scenes of `count` obstacles, by the way and the number of threads."""
    inputs = Inputs(count)
    calls = {(TREE, 1): inputs.tree}
    for threads in (1, 2):
        calls |= {(name, threads): make for name, make in inputs.ways(threads).items()}
    times = Times()
    for _ in range(passes):
        for key, make in calls.items():
            times.time(key, make)
    return times.medians()


def in_chunks(check: Callable[[Floats], Answers], poses: Floats, chunk: int = CHUNK) -> Answers:
    return np.concatenate([check(poses[i : i + chunk]) for i in range(0, len(poses), chunk)])


def ours(scene: Scene, threads: int) -> Callable[[Floats], Answers]:
    return lambda poses: scene.check(EGO_SHAPE, poses, threads=threads).verdicts == 2


def checking(count: int, batches: tuple[int, ...], passes: int) -> dict[int, dict[str, float]]:
    """Seconds to check poses among `count` obstacles."""
    inputs = Inputs(count)
    scene = inputs.ways(2)[WAYS[2]]()
    tree = inputs.tree()

    checks = {
        "1": ours(scene, 1),
        "2": ours(scene, 2),
        TREE: lambda poses: in_chunks(tree.collide, poses, CHUNK // 10),
    }
    results = {}
    for batch in batches:
        poses = inputs.field.somewhere(batch)
        times = Times()
        for _ in range(1 if batch > CHUNK else passes):
            found = {
                name: times.time(name, in_chunks, check, poses) for name, check in checks.items()
            }
        agree(tree, poses, found)
        hits = float(np.count_nonzero(found["1"])) / batch
        results[batch] = times.medians() | {"hits": hits}
    return results


def agree(tree: scene_peers.Shapely, poses: Floats, found: dict[str, Answers]) -> None:
    """Exit if the answers differ by more than the rounding error of the peer."""
    if not np.array_equal(found["1"], found["2"]):
        raise SystemExit("the answers depend on the number of threads")
    differ = np.flatnonzero(found["1"] != found[TREE])
    wrong = scene_peers.mistakes(
        found["1"][differ], tree.outlines(poses[differ]), lambda each, _: tree.hits(each), CONTACT
    )
    if len(wrong):
        raise SystemExit(f"{TREE} differs at {poses[differ[wrong[0]]].tolist()}")


def main() -> None:
    options = parser(__doc__).parse_args()
    counts, batches = (COUNTS[:-1], POSES[:-1]) if options.quick else (COUNTS, POSES)
    columns = [*((way, threads) for way in WAYS for threads in (1, 2)), (TREE, 1)]
    made = []
    for n in counts:
        times = making(n, {1_000: 21, 10_000: 11, 100_000: 5}.get(n, 3))
        made.append([n, *(f"{1e3 * times[key]:.2f}" if key in times else "-" for key in columns)])
    checked = [
        [n, *(f"{t[k]:.3f}" for k in ("1", "2", TREE)), f"{t[TREE] / t['1']:.1f}",
         f"{100 * t['hits']:.0f} %"]
        for n, t in checking(counts[-1], batches, 3).items()
    ]  # fmt: skip
    header = ["poses", "gjk", "2 threads", TREE, f"{TREE} / gjk", "collide"]
    names = [name if threads == 1 else "2 threads" for name, threads in columns]
    text = [
        circumstances(f"`{options.command}`. From Python; medians."),
        f"Milliseconds to make a scene:\n\n{table(['obstacles', *names], made)}",
        f"Seconds to check poses among {counts[-1]} obstacles, at most {CHUNK} in a call:",
        table(header, checked),
    ]
    publish({"scale": "\n\n".join(text)}, options.docs)


if __name__ == "__main__":
    main()
