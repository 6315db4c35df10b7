# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The twist of the vehicle, and the footprint that it selects."""

from dataclasses import dataclass
from math import cos, sin

from ...verdict import Status
from ..frames.poses import FrameError, Pose, TransformSource
from ..parameters.config import Config
from .faults import Fault
from .inbox import Message

__all__ = ["Twist", "footprint_at", "twist_of"]


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


def twist_of(
    message: Message[Twist, Twist], config: Config, transforms: TransformSource
) -> Twist | Fault:
    """Return the twist of the base frame, or why it is not known.

    The frame of the twist must be fixed to the base frame.
    """
    data, target = message.data, config.base_frame
    assert data is not None
    if message.made is not None:
        return message.made
    if not data.frame:
        text = "the frame of the twist is empty: set child_frame_id (Odometry) or "
        return Fault(Status.UNKNOWN_FRAME, f"{text}header.frame_id (TwistStamped)")
    pose = Pose()
    if data.frame != target:
        try:
            pose, stamp = transforms.latest(target, data.frame)
        except FrameError as error:
            return Fault.of(error)
        if stamp:
            text = f"the twist is in the frame '{data.frame}', which moves relative to "
            text += f"'{target}': it must be '{target}' or be fixed to it by static transforms"
            return Fault(Status.UNKNOWN_FRAME, text)
    message.made = data.moved(target, pose)
    return message.made
