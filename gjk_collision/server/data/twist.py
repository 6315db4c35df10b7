# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The twist of the vehicle, and the footprint that it selects."""

from dataclasses import dataclass
from math import cos, sin

from ..frames.poses import Pose
from ..parameters.config import Config

__all__ = ["Twist", "footprint_at"]


@dataclass(frozen=True, slots=True)
class Twist:
    """The velocity of a frame that is fixed to the vehicle, in the axes of this frame.

    Attributes
    ----------
    frame : str
        Name of the frame.
    stamp : int
        Time at which the twist is valid [ns].
    vx, vy : float
        Velocity of the origin of the frame [m/s].
    wz : float
        Rate of turn [rad/s], counter-clockwise.
    """

    frame: str
    stamp: int
    vx: float
    vy: float
    wz: float

    def moved(self, frame: str, pose: Pose) -> "Twist":
        """Return the twist of another frame that is fixed to this one.

        Parameters
        ----------
        frame : str
            Name of the other frame.
        pose : Pose
            Pose of this frame in the other frame.
        """
        c, s = cos(pose.yaw), sin(pose.yaw)
        vx = c * self.vx - s * self.vy + self.wz * pose.y
        vy = s * self.vx + c * self.vy - self.wz * pose.x
        return Twist(frame, self.stamp, vx, vy, self.wz)


def footprint_at(config: Config, twist: Twist) -> str:
    """Return the name of the footprint for a twist of the base frame; empty: none is for it."""
    named = {each.name: each for each in config.footprints}
    for name in config.speed_footprints:
        if named[name].covers(twist.vx, twist.vy, twist.wz, holonomic=config.holonomic):
            return name
    return ""
