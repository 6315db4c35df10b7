# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep a car in its lanes: the drivable area is the union of lanes, without a traffic island."""

import numpy as np

from gjk_collision import OUTSIDE, Path, Region, Scene, Shape, Verdict

CAR = Shape.box(4.0, 1.8, center=(1.3, 0.0))


def lane(x: float, y: float, length: float, width: float = 3.5) -> np.ndarray:
    """Return the outline of a straight lane along x."""
    return np.array([(x, y), (x + length, y), (x + length, y + width), (x, y + width)])


def bend(radius: float, width: float = 3.5) -> np.ndarray:
    """Return the outline of a left bend that continues a lane at x = 60, y = 0."""
    angles = np.linspace(-np.pi / 2, 0.0, 12)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    outer, inner = radius * around, (radius - width) * around
    outline = np.concatenate([outer, inner[::-1]]) + [60.0, radius]
    outline[[0, -1]] = [(60.0, 0.0), (60.0, width)]  # exactly the end of the lane
    return outline


ROAD = Region(
    [lane(0.0, 0.0, 60.0), lane(0.0, 3.5, 30.0), lane(30.0, 3.5, 30.0), bend(20.0)],
    holes=[lane(28.0, 3.0, 4.0, 0.8)],
)
PARKED = Shape.box(4.5, 1.9)


def main() -> None:
    """Check poses, a path and candidate trajectories in the road and among one parked car."""
    print(ROAD, f"{ROAD.area:.1f} m^2")
    scene = Scene([PARKED], [(45.0, 5.3, 0.0)], ids=[7], inside=ROAD)
    poses = [(10.0, 3.5, 0.0), (10.0, 0.9, 0.0), (30.0, 3.4, 0.0), (45.0, 4.0, 0.0), (90.0, 0, 0)]
    found = scene.check(CAR, poses, mode="distance")
    for pose, verdict, distance, who in zip(
        poses, found.verdicts, found.distances, found.ids, strict=True
    ):
        name = "the edge of the road" if who == OUTSIDE else f"obstacle {who}"
        print(pose, Verdict(int(verdict)).name, f"{distance:.2f} m to {name}")

    turn = Path.arcs((40.0, 1.75, 0.0), [(0.0, 20.0), (1 / 18.25, 22.0)])
    result = scene.check_path(CAR, turn)
    print("through the bend:", result.verdict.name, f"clearance {result.distance:.2f} m")

    shifts = np.linspace(-3.0, 3.0, 7)
    starts = np.stack([np.full(7, 5.0), 3.5 + shifts, np.zeros(7)], axis=1)
    lines = starts[:, None] + np.linspace(0.0, 50.0, 26)[:, None] * [1.0, 0.0, 0.0]
    print("first poses not in the road:", scene.check(CAR, lines).first_invalid)


if __name__ == "__main__":
    main()
