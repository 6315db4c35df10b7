# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Watch the time to collision while a car follows another one that brakes."""

import numpy as np

from gjk_collision import Scene, Shape, Verdict

CAR = Shape.box(4.6, 1.9)
WARNING = 3.0  # s


def brakes(time: float) -> tuple[float, float]:
    """Return the position [m] and the speed [m/s] of the car in front, which brakes at 3 m/s^2."""
    speed = max(0.0, 12.0 - 3.0 * time)
    return 30.0 + (12.0**2 - speed**2) / 6.0, speed


def main() -> None:
    """Print the time to collision of every tenth of a second, and when it calls for braking."""
    others = [Shape.box(4.5, 1.8), Shape.circle(0.4)]
    for step in range(31):
        now = step / 10.0
        x, speed = brakes(now)
        scene = Scene(
            others,
            poses=[(x, 0.0, 0.0), (40.0, 6.0 - 1.4 * now, 0.0)],
            velocities=[(speed, 0.0, 0.0), (0.0, -1.4, 0.0)],
            stamps=[now, now],
        )
        own = (13.0 * now, 0.0, 0.0)  # the driver sleeps: 13 m/s, straight on
        keep, turn = scene.time_to_collision(
            CAR, [own, own], [(13.0, 0.0, 0.0), (13.0, 0.0, 0.1)], now
        ).times
        if step % 10 == 0:
            print(f"{now:.1f} s: contact in {keep:.2f} s, or in {turn:.2f} s turning left")
        if keep < WARNING:
            print(f"{now:.1f} s: warning, contact in {keep:.2f} s")
            break

    # Along a planned trajectory: the time to collision at each of its poses.
    times = np.linspace(0.0, 3.0, 7)
    plan = np.column_stack([13.0 * times - 1.5 * times**2, np.zeros((7, 2))])
    scene = Scene(others[:1], [(30.0, 0.0, 0.0)], velocities=[(12.0, 0.0, 0.0)], horizon=3.0)
    found = scene.time_to_collision(CAR, plan, None, times)
    print(f"braking: {np.count_nonzero(found.verdicts == Verdict.FREE)} of {len(plan)} poses free")


if __name__ == "__main__":
    main()
