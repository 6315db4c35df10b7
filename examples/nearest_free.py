# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Move a parking pose that overlaps other cars to the nearest free pose."""

import numpy as np

from gjk_collision import Scene, Shape, Verdict

CAR = Shape.box(4.6, 1.9, (1.4, 0.0))
MARGIN = 0.2  # m


def main() -> None:
    """Try goals in a gap between two parked cars at a curb."""
    curb = Shape.box(30.0, 0.2, (0.0, -1.4))
    scene = Scene([CAR, CAR, curb], poses=[(-6.5, 0.0, 0.0), (6.5, 0.1, 0.05), (0.0, 0.0, 0.0)])
    goals = [(0.0, 0.0, 0.0), (0.9, -0.3, 0.0), (0.3, 0.1, 0.5), (4.0, 0.0, 0.0)]
    for goal in goals:
        before = scene.check(CAR, goal, margin=MARGIN)
        free = scene.nearest_free(CAR, goal, max_shift=3.0, max_turn=0.2, margin=MARGIN)
        print(f"{goal}: {before.verdict.name},", end=" ")
        if free is None:
            print("no free pose within 3 m and 0.2 rad")
            continue
        assert scene.check(CAR, free, margin=MARGIN).verdict is Verdict.FREE
        shift = float(np.hypot(*(free[:2] - goal[:2])))
        print(f"shift {shift:.3f} m, turn {free[2] - goal[2]:+.3f} rad")


if __name__ == "__main__":
    main()
