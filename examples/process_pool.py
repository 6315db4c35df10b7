# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Send a scene to the processes of a pool once, and share the work among them.

Threads share a scene without copies: prefer `threads=0` for one call with many poses. Processes
help where the Python code around the calls takes the time, as in a planner.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from gjk_collision import CheckResult, Scene, Shape, Verdict

CAR = Shape.box(4.6, 1.9)
WORKERS = 2


class Worker:
    """The scene of this process."""

    scene = Scene([])

    @classmethod
    def start(cls, scene: Scene) -> None:
        """Keep the scene, which was pickled once for each process."""
        cls.scene = scene

    @classmethod
    def check(cls, poses: np.ndarray) -> CheckResult:
        """Return the result to the parent process: results pickle too."""
        return cls.scene.check(CAR, poses, mode="distance")


def main() -> None:
    """Check poses in a pool, and compare with the results of this process."""
    rng = np.random.default_rng(1)
    walls = Shape.concave([(-30, -30), (30, -30), (30, -29), (-29, -29), (-29, 30), (-30, 30)])
    posts = [Shape.circle(0.2, tuple(xy)) for xy in rng.uniform(-25.0, 25.0, size=(200, 2))]
    scene = Scene([walls, *posts])
    batches = rng.uniform((-28.0, -28.0, -3.1), (28.0, 28.0, 3.1), size=(8, 5000, 3))

    context = get_context("spawn")  # each process imports this file; it inherits nothing
    with ProcessPoolExecutor(WORKERS, context, Worker.start, (scene,)) as pool:
        results = list(pool.map(Worker.check, batches))

    free = sum(np.count_nonzero(each.verdicts == Verdict.FREE) for each in results)
    print(f"{free} of {batches[..., 0].size} poses are free, checked by {WORKERS} processes")
    same = all(each == scene.check(CAR, own, mode="distance")
               for each, own in zip(results, batches, strict=True))  # fmt: skip
    print(f"the same as in this process: {same}")
    print(results[0])


if __name__ == "__main__":
    main()
