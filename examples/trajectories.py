# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Choose one of many candidate trajectories among moving obstacles."""

import numpy as np

from gjk_collision import Scene, Shape, Verdict

CAR = Shape.box(4.6, 1.9)
HORIZON = 4.0  # s
STEPS = 21


def candidates() -> tuple[np.ndarray, np.ndarray]:
    """Return trajectories (K, T, 3) to several lanes at several speeds, and times (T,)."""
    times = np.linspace(0.0, HORIZON, STEPS)
    share = times / HORIZON
    lanes, speeds = np.meshgrid(np.linspace(-3.5, 3.5, 15), np.linspace(4.0, 14.0, 11))
    x = speeds.reshape(-1, 1) * times
    y = lanes.reshape(-1, 1) * (3.0 - 2.0 * share) * share**2
    yaw = np.arctan2(np.gradient(y, axis=1), np.gradient(x, axis=1))
    return np.stack([x, y, yaw], axis=-1), times


def main() -> None:
    """Check all candidates in two ways, and print the fastest one that is free."""
    traffic = Scene(
        [Shape.box(4.5, 1.8), Shape.box(4.5, 1.8), Shape.circle(0.4)],
        poses=[(25.0, 0.0, 0.0), (-8.0, 3.5, 0.0), (30.0, -6.0, 0.0)],
        velocities=[(3.0, 0.0, 0.0), (9.0, 0.0, 0.0), (0.0, 1.4, 0.0)],
        horizon=HORIZON,
    )
    poses, times = candidates()

    # At the poses, with a margin: one verdict for each, and the first pose that is not free.
    checked = traffic.check(CAR, poses, times, margin=0.3, stop_at_first=True, threads=0)
    is_free = checked.first_invalid == -1
    print(f"{is_free.sum()} of {len(poses)} candidates are free at their poses")

    # Between the poses too: the time of the first contact, and the least distance.
    contact = traffic.first_contact(CAR, poses, times, threads=0)
    is_clear = contact.verdicts == Verdict.FREE
    print(f"{is_clear.sum()} have no contact; the first is after {np.nanmin(contact.times):.2f} s")

    best = np.flatnonzero(is_free & is_clear & (contact.lower_bounds > 0.3))[-1]
    print(f"chosen: number {best}, at least {contact.lower_bounds[best]:.2f} m from everything")


if __name__ == "__main__":
    main()
