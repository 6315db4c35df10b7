# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Refine a parking path with CasADi: the car's kinematics, and distances from Scene.gradient."""

import casadi as ca
import numpy as np

from gjk_collision import Scene, Shape

CAR = Shape.box(4.5, 1.8, center=(1.3, 0.0))  # the base is the rear axle
WHEELBASE, MAX_STEER, MAX_STEP = 2.7, 0.6, 0.2  # m, rad, m
MARGIN = 0.2  # m, at the poses; half of it between them
STEPS, NEAR, TRUST = 80, 3, 0.3
START, GOAL = (6.8, 2.3, 0.0), (0.0, 0.0, 0.0)
SHAPES = [Shape.box(4.6, 1.9), Shape.box(4.6, 1.9), Shape.box(30.0, 0.4)]  # two cars, the kerb
STREET = Scene(SHAPES, poses=[(-3.9, 0.0, 0.0), (7.2, 0.1, 0.0), (0.0, -1.4, 0.0)])


def first_guess() -> np.ndarray:
    """Return a curve from start to goal, shape (STEPS + 1, 3). It ignores the obstacles."""
    share = np.linspace(0.0, 1.0, STEPS + 1)
    x, y = START[0] * (1.0 - share), START[1] * 0.5 * (1.0 + np.cos(np.pi * share))
    return np.stack([x, y, np.arctan2(np.gradient(-y), np.gradient(-x))], axis=-1)


def refine(path: np.ndarray, rounds: int = 8) -> np.ndarray:
    """Solve problems in which each distance is d + g . (pose - path), within TRUST of the path."""
    opti = ca.Opti()
    pose, slack = opti.variable(STEPS + 1, 3), opti.variable(STEPS + 1)
    step, steer = opti.variable(STEPS), opti.variable(STEPS)
    last, d = opti.parameter(STEPS + 1, 3), opti.parameter(STEPS + 1, NEAR)
    g = [opti.parameter(STEPS + 1, 3) for _ in range(NEAR)]
    middle = pose[:-1, 2] + 0.5 * step * ca.tan(steer) / WHEELBASE
    way = ca.horzcat(ca.cos(middle), ca.sin(middle), ca.tan(steer) / WHEELBASE)
    opti.subject_to(pose[1:, :] == pose[:-1, :] + ca.repmat(step, 1, 3) * way)
    opti.subject_to([pose[0, :] == ca.DM(START).T, pose[-1, :] == ca.DM(GOAL).T, slack >= 0.0])
    for value, most in (steer, MAX_STEER), (step, MAX_STEP), (ca.vec(pose - last), TRUST):
        opti.subject_to(opti.bounded(-most, value, most))
    for j in range(NEAR):
        opti.subject_to(d[:, j] + ca.sum2(g[j] * (pose - last)) >= MARGIN - slack)
    opti.minimize(1e3 * ca.sum1(slack) + ca.sumsqr(ca.diff(steer)) + ca.sumsqr(ca.diff(step)))
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    for _ in range(rounds):
        near = STREET.gradient(CAR, path, k=NEAR)
        opti.set_value(d, near.distances)
        for j in range(NEAR):
            opti.set_value(g[j], near.gradients[:, j])
        opti.set_value(last, path)
        opti.set_initial(pose, path)
        path = opti.solve().value(pose)
    return path


if __name__ == "__main__":
    guess = first_guess()
    for name, poses in ("first guess", guess), ("refined", refine(guess)):
        found = STREET.check_path(CAR, poses, margin=0.5 * MARGIN)
        print(f"{name}: {found.verdict.name}, least distance {found.distance:.3f} m")
    assert found.is_free
