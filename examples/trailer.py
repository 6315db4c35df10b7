# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Check a tractor whose trailer turns about its hitch, on the way around a corner."""

import numpy as np

from gjk_collision import Scene, Shape, Verdict

TRACTOR = Shape.box(5.5, 2.5, center=(1.8, 0.0))
HITCH = 0.6  # m, behind the rear axle of the tractor
TONGUE = 7.0  # m, from the hitch to the axle of the trailer
TRAILER = np.array([(-9.5, -1.25), (0.8, -1.25), (0.8, 1.25), (-9.5, 1.25)])  # m, from the hitch
ANGLES = np.linspace(-1.2, 1.2, 97)  # rad, of the trailer relative to the tractor
STEP = 0.2  # m


def vehicle(angle: float) -> Shape:
    """Return the tractor and its trailer. Each may turn by half a step of `ANGLES` from here."""
    cos, sin = np.cos(angle), np.sin(angle)
    turned = TRAILER @ [[cos, sin], [-sin, cos]] - [HITCH, 0.0]
    sweep = np.hypot(9.5, 1.25) * (ANGLES[1] - ANGLES[0]) / 2.0
    return Shape.compound([TRACTOR, Shape.hull(turned, radius=sweep)])


def drive(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the poses of the tractor around a corner to the left, and the trailer's angles."""
    straight, arc = np.zeros(100), np.full(round(np.pi / 2 * radius / STEP), STEP / radius)
    turns = np.concatenate([straight, arc, straight])
    yaw = np.cumsum(turns)
    steps = np.column_stack([np.cos(yaw), np.sin(yaw)]) * STEP
    angle, angles = 0.0, []
    for turn in turns:  # the axle of the trailer does not slip sideways
        angle -= turn + (STEP * np.sin(angle) + HITCH * turn * np.cos(angle)) / TONGUE
        angles.append(angle)
    return np.column_stack([np.cumsum(steps, axis=0), yaw]), np.array(angles)


def main() -> None:
    """Check the corner with and without the trailer."""
    shapes = [vehicle(angle) for angle in ANGLES]
    for radius in (9.0, 20.0):
        poses, angles = drive(radius)
        inside = (radius - 3.0) * np.sqrt(0.5)  # a post, 3 m to the left of the middle of the arc
        scene = Scene([Shape.circle(0.2)], poses=[(20.0 + inside, radius - inside, 0.0)])
        which = np.abs(angles[:, None] - ANGLES).argmin(axis=1)
        alone = scene.check(TRACTOR, poses, margin=0.1)
        both = scene.check(shapes, poses, which=which, margin=0.1, mode="distance")
        print(f"radius {radius:g} m, trailer up to {np.degrees(abs(angles).max()):.0f} degrees:")
        print(f"  tractor alone {alone.verdict.name}, with its trailer {both.verdict.name}")
        if both.verdict != Verdict.FREE:
            print(f"  first at pose {both.first_invalid_index} of {len(poses)}")
        print(f"  least distance {both.distances.min():.2f} m")


if __name__ == "__main__":
    main()
