# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pass a crossing with a cyclist whose predicted position becomes less certain with time."""

import numpy as np

from gjk_collision import Scene, Shape, Verdict

CAR = Shape.box(4.6, 1.9)
CYCLIST = Shape.capsule((-0.6, 0.0), (0.6, 0.0), 0.35)
GROWTH = 0.5  # m/s: after a second, the cyclist may be half a metre from the predicted position
HORIZON = 6.0  # s


def scene(growth: float) -> Scene:
    """Return a cyclist, who comes from the right and crosses the lane at y = 0, and a post."""
    return Scene(
        [CYCLIST, Shape.circle(0.2)],
        poses=[(20.0, -14.0, np.pi / 2), (24.0, 1.5, 0.0)],
        velocities=[(0.0, 4.0, 0.0), (0.0, 0.0, 0.0)],
        margins=[0.3, 0.1],
        margin_rates=[growth, 0.0],  # the post stays where it is
        horizon=HORIZON,
    )


def main() -> None:
    """Check some constant speeds, with and without growth."""
    speeds = np.array([3.0, 3.8, 5.5, 8.5, 12.0])
    times = np.linspace(0.0, HORIZON, 31)
    poses = np.zeros((len(speeds), len(times), 3))
    poses[..., 0] = speeds[:, None] * times

    certain, uncertain = scene(0.0), scene(GROWTH)
    plain = certain.first_contact(CAR, poses, times)
    grown = uncertain.first_contact(CAR, poses, times)
    for k, speed in enumerate(speeds):
        before, after = Verdict(plain.verdicts[k]).name, Verdict(grown.verdicts[k]).name
        print(f"{speed:4.1f} m/s: {before} as predicted, {after} with growth,", end=" ")
        print(f"least distance {grown.distances[k]:.2f} m")

    # The time until which the car keeps the required distance.
    path = uncertain.check_path(CAR, poses[1], times)
    until = times[path.first_invalid_segment] + path.last_valid_fraction * (times[1] - times[0])
    print(f"at {speeds[1]:g} m/s, the required distance is kept for {until:.2f} s")


if __name__ == "__main__":
    main()
