# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Check a robot in an occupancy grid, and add the returns of a simulated laser scan."""

import numpy as np

from gjk_collision import Scene, Shape, obstacles_from_grid, obstacles_from_scan

RESOLUTION = 0.05  # m
ORIGIN = (-5.0, -4.0, 0.0)  # pose of the corner of cell (0, 0)
ROBOT = Shape.box(0.8, 0.5)


def floor_plan() -> np.ndarray:
    """Return two rooms with a door, 10 m x 8 m. One corner was never seen."""
    grid = np.zeros((160, 200), np.int8)
    grid[[0, -1]] = grid[:, [0, -1]] = 100
    grid[:, 120:123] = 100
    grid[70:90, 120:123] = 0  # the door
    grid[120:, 170:] = -1
    return grid


def main() -> None:
    """Drive through the door, before and after something stands in it."""
    grid = floor_plan()
    walls = obstacles_from_grid(grid, RESOLUTION, ORIGIN)
    occupied = int(((grid >= 65) | (grid < 0)).sum())
    print(f"{occupied} occupied cells are {len(walls)} rectangles")
    static = Scene(walls)
    way = [(-3.0, 0.0, 0.0), (3.0, 0.0, 0.0)]
    print(f"through the door: {static.check_path(ROBOT, way).verdict.name}")

    # A laser scan of the rooms and of a box that is not in the map.
    sensor = (-3.0, 0.0, 0.0)
    start, step = -np.pi / 2, np.pi / 360
    angles = start + step * np.arange(361)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    real = Scene([*walls, Shape.box(0.3, 0.3, (1.1, 0.2))])
    ranges = real.ray_cast(sensor[:2], directions, max_distance=20.0).distances

    returns = obstacles_from_scan(ranges, start, step, 0.05, 20.0, radius=0.03)
    scene = Scene(walls + returns, poses=[(0.0, 0.0, 0.0)] * len(walls) + [sensor] * len(returns))
    result = scene.check_path(ROBOT, way)
    x = way[0][0] + 6.0 * result.last_valid_fraction
    print(f"with {len(returns)} returns: {result.verdict.name}, free until x = {x:.2f} m")


if __name__ == "__main__":
    main()
