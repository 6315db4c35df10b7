# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep a robot clear of moving obstacles: a control barrier function as a QP, solved by OSQP.

The safe speed is the one nearest to the desired speed for which no distance d decreases faster
than RATE * (d - MARGIN). Source: Ames et al., "Control barrier functions", 2019.
"""

import numpy as np
import osqp
from scipy import sparse

from gjk_collision import Scene, Shape, Verdict

ROBOT, WALL = Shape.box(0.9, 0.6), Shape.box(0.3, 4.0)  # the robot is omnidirectional
MARGIN, RATE, NEAR = 0.15, 2.0, 4  # m, 1/s, number of obstacles
STEP, DURATION = 0.05, 18.0  # s
LIMITS = np.array([1.2, 1.2, 1.5])  # m/s, m/s, rad/s
GOAL = np.array([9.0, 0.0, 0.0])
SCENE = Scene(  # a wall with a gap of 1.2 m, and two obstacles that move
    [WALL, WALL, Shape.circle(0.3), Shape.capsule((0, 0), (1, 0), 0.2)],
    poses=[(5.0, 2.6, 0.0), (5.0, -2.6, 0.0), (9.0, 0.25, 0.0), (2.5, -3.0, 0.0)],
    velocities=[(0, 0, 0), (0, 0, 0), (-0.5, 0, 0), (0, 0.5, 0.3)],
    horizon=DURATION + 1.0,
)


def safe_speed(pose: np.ndarray, time: float, desired: np.ndarray) -> np.ndarray:
    """Return the nearest speed (vx, vy, wz) that keeps the barriers."""
    near = SCENE.gradient(ROBOT, pose, time, k=NEAR)
    # Variables: the speed, and a slack for the case that an obstacle is too fast to avoid.
    rows = sparse.csc_matrix(np.block([[near.gradients, np.ones((NEAR, 1))], [np.eye(4)]]))
    low = np.r_[-RATE * (near.distances - MARGIN) - near.rates, -LIMITS, 0.0]
    high = np.r_[np.full(NEAR, np.inf), LIMITS, np.inf]
    weights, solver = np.array([1.0, 1.0, 0.1, 1e4]), osqp.OSQP()
    aim = -weights * np.r_[desired, 0.0]
    solver.setup(sparse.diags(weights, format="csc"), aim, rows, low, high, verbose=False)
    return solver.solve().x[:3]


def drive() -> tuple[np.ndarray, np.ndarray]:
    """Drive to the goal. Return poses and times."""
    times = np.arange(0.0, DURATION, STEP)
    poses = np.zeros((len(times), 3))
    for i, time in enumerate(times[:-1]):
        desired = np.clip(GOAL - poses[i], -0.8, 0.8)
        poses[i + 1] = poses[i] + STEP * safe_speed(poses[i], time, desired)
    return poses, times


if __name__ == "__main__":
    poses, times = drive()
    contact = SCENE.first_contact(ROBOT, poses[None], times, tolerance=0.001)
    print(f"{np.linalg.norm(GOAL - poses[-1]):.2f} m from the goal")
    print(f"{Verdict(contact.verdicts[0]).name}, least distance {contact.distances[0]:.3f} m")
    assert contact.verdicts[0] == Verdict.FREE
