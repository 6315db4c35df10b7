# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan through a narrow passage with motion primitives and a Reeds-Shepp curve to the goal."""

import heapq

import numpy as np

from gjk_collision import Path, Scene, Shape, Verdict

CAR = Shape.box(4.0, 1.8, center=(1.3, 0.0))
RADIUS = 5.0  # m, of the tightest turn
ARCS = [[(k / RADIUS, s)] for k in (-1.0, -0.5, 0.0, 0.5, 1.0) for s in (2.0, -2.0)]
PRIMITIVES = Path.arcs((0.0, 0.0, 0.0), ARCS)
GOAL = (20.0, 6.0, np.pi / 2)


def world() -> Scene:
    """Return two walls with a gap, and a box behind it."""
    walls = [Shape.box(0.3, 20.0)] * 2 + [Shape.box(2.0, 2.0)]
    return Scene(walls, [(10.0, -12.0, 0.0), (10.0, 11.2, 0.0), (15.0, 3.0, 0.4)])


def cell(pose: np.ndarray) -> tuple[int, ...]:
    """Return the cell of the grid over states: 1 m and 15 degrees."""
    x, y, yaw = pose
    return round(x), round(y), round(yaw / (np.pi / 12)) % 24


def plan(scene: Scene, start: tuple[float, float, float]) -> list[Path]:
    """Return certified curves from the start to the goal, by the search of hybrid A*."""
    frontier: list = [(0.0, 0, 0.0, np.array(start), [])]
    reached, count = set(), 0
    while frontier:
        _, _, driven, pose, curves = heapq.heappop(frontier)
        if cell(pose) in reached:
            continue
        reached.add(cell(pose))
        last = Path.reeds_shepp(pose, GOAL, RADIUS)
        if scene.check_path(CAR, last, mode="collide").verdict is Verdict.FREE:
            return [*curves, last]
        ways = PRIMITIVES.moved(pose)
        checked = scene.check_path(CAR, ways, mode="collide")  # one call for all primitives
        ends, lengths = ways.ends, ways.length
        for i in np.flatnonzero(checked.verdicts == Verdict.FREE):
            count += 1
            end, so_far = ends[i], driven + lengths[i]
            to_go = Path.reeds_shepp(end, GOAL, RADIUS).length
            heapq.heappush(frontier, (so_far + to_go, count, so_far, end, [*curves, ways[i]]))
    raise SystemExit("there is no way")


if __name__ == "__main__":
    found = plan(world(), (0.0, 0.0, 0.0))
    print(f"{len(found)} curves, {sum(curve.length for curve in found):.1f} m, each certified")
