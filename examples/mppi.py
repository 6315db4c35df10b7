# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Model predictive path integral control (MPPI) with costs from distances to moving obstacles."""

import numpy as np

from gjk_collision import Scene, Shape

CAR = Shape.box(4.6, 1.9, center=(1.4, 0.0))
ROLLOUTS, STEPS, PERIOD = 500, 30, 0.1  # s
WHEELBASE, SPEED = 2.8, 8.0  # m, m/s
MARGIN = 0.3  # m
TEMPERATURE = 5.0


def rollouts(start: np.ndarray, steering: np.ndarray) -> np.ndarray:
    """Return poses (K, T, 3) of a bicycle model for steering angles (K, T)."""
    yaw = start[2] + np.cumsum(PERIOD * SPEED * np.tan(steering) / WHEELBASE, axis=-1)
    x = start[0] + np.cumsum(PERIOD * SPEED * np.cos(yaw), axis=-1)
    y = start[1] + np.cumsum(PERIOD * SPEED * np.sin(yaw), axis=-1)
    return np.stack([x, y, yaw], axis=-1)


def main() -> None:
    """Drive 4 s along y = 0 among pedestrians and cars."""
    rng = np.random.default_rng(1)
    traffic = Scene(
        [Shape.box(4.5, 1.8), Shape.circle(0.4), Shape.circle(0.4)],
        poses=[(18.0, 0.4, 0.0), (24.0, -4.0, 0.0), (30.0, 5.0, 0.0)],
        velocities=[(1.0, 0.0, 0.0), (0.0, 1.2, 0.0), (0.0, -1.0, 0.0)],
        horizon=10.0,
    )
    pose, steering = np.zeros(3), np.zeros(STEPS)
    least = np.inf
    for cycle in range(40):
        now = cycle * PERIOD
        noise = np.cumsum(rng.normal(0.0, 0.03, (ROLLOUTS, STEPS)), axis=1)
        noise[0] = 0.0
        samples = np.clip(steering + noise, -0.5, 0.5)
        poses = rollouts(pose, samples)
        times = now + PERIOD * np.arange(1, STEPS + 1)  # the same for all rollouts
        near = traffic.check(CAR, poses, times, margin=MARGIN, mode="distance", threads=0)
        cost = 0.2 * (poses[..., 1] ** 2).sum(axis=1) + 20.0 * (samples**2).sum(axis=1)
        cost += np.exp(2.0 * np.clip(1.0 - near.distances, -2.0, 2.0)).sum(axis=1)
        cost[near.first_invalid != -1] += 1000.0  # collides, or an obstacle is unknown
        weights = np.exp((cost.min() - cost) / TEMPERATURE)
        steering = weights @ samples / weights.sum()
        pose = rollouts(pose, steering[:1])[0]
        steering = np.append(steering[1:], steering[-1])
        found = traffic.check(CAR, pose[None], [now + PERIOD], mode="distance")
        least = min(least, float(found.lower_bounds[0]))
    print(f"at x = {pose[0]:.1f} m, y = {pose[1]:.2f} m; never nearer than {least:.2f} m")


if __name__ == "__main__":
    main()
