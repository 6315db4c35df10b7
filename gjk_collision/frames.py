# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames as data: planar poses, and what may answer for the pose of one frame in another."""

import math
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .errors import InputError
from .verdict import Status

__all__ = ["FrameError", "Pose", "SameFrameOnly", "Transforms", "planar"]

# A vehicle on a ramp leans, and its plane with it; a frame that leans further than this is no
# frame of the plane (a camera's optical frame, say) and flattening it would move its points.
MAX_LEAN = math.radians(20.0)


class FrameError(Exception):
    """A pose between two frames is not to be had.

    Attributes
    ----------
    status : Status
        UNKNOWN_FRAME, TF_UNAVAILABLE or TF_EXTRAPOLATION.
    """

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class Pose(NamedTuple):
    """A frame in the plane: x, y [m] and yaw [rad, counter-clockwise] in its parent."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def of(self, inner: "Pose") -> "Pose":
        """Bring a pose of this frame into its parent."""
        if self == _IDENTITY:
            return inner
        x, y, yaw = self.compose(np.array([inner]))[0].tolist()
        return Pose(x, y, yaw)

    def compose(self, poses: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Bring poses of this frame into its parent: (N, 3) x y yaw [m, m, rad] to the same."""
        if self == _IDENTITY:
            return poses
        points = self.transform(poses[:, :2])
        return np.column_stack((points, poses[:, 2] + self.yaw))

    def turn(self, velocities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Bring velocities of this frame into its parent: (N, 3) vx vy wz to the same."""
        if self.yaw == 0.0:
            return velocities
        turned = Pose(yaw=self.yaw).transform(velocities[:, :2])
        return np.column_stack((turned, velocities[:, 2]))

    def transform(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Bring points of this frame into its parent: (N, 2) [m] to the same."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        x, y = points[:, 0], points[:, 1]
        return np.column_stack((c * x - s * y + self.x, s * x + c * y + self.y))


_IDENTITY = Pose()


class Transforms(Protocol):
    """Something that knows where frames are: tf2, a recording, or nobody."""

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`.

        There is no fallback to another time.
        """
        ...

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        ...


class SameFrameOnly:
    """Knows no frame but the target itself: what remains where there is no tf2.

    Parameters
    ----------
    reason : str
        Why no more is known, for the message.
    """

    def __init__(self, reason: str = "no transforms are available") -> None:
        self._reason = reason

    def __str__(self) -> str:
        """Say so, for a person."""
        return f"none: {self._reason}; only data in the frame it is compared in is accepted"

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the identity where the frames are the same; raises `FrameError` otherwise."""
        del stamp
        if target == source:
            return Pose()
        raise FrameError(
            Status.TF_UNAVAILABLE, f"no transform from '{source}' to '{target}': {self._reason}"
        )

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """As `lookup`; asked for the target itself it has no stamp to give, and gives 0."""
        return self.lookup(target, source, 0), 0


def planar(
    x: float, y: float, quaternion: tuple[float, float, float, float], name: str = "pose"
) -> Pose:
    """Flatten a pose in space onto the plane.

    Parameters
    ----------
    x, y : float
        Position [m].
    quaternion : tuple of float
        Orientation x y z w; of unit length within 1e-3, as every honest sender's is.
    name : str
        Of the argument, for the message.

    Returns
    -------
    Pose
        With the yaw of the rotated x axis.

    Raises
    ------
    InputError
        Not finite, not of unit length, or leaning by more than `MAX_LEAN`.
    """
    qx, qy, qz, qw = quaternion
    values = (x, y, qx, qy, qz, qw)
    if not all(map(math.isfinite, values)):
        raise InputError(Status.NON_FINITE, name, None, f"must be finite (got {values})")
    norm = qx * qx + qy * qy + qz * qz + qw * qw
    if abs(norm - 1.0) > 2e-3:
        rule = f"orientation must be a unit quaternion (got length {math.sqrt(norm):g})"
        raise InputError(Status.INVALID_INPUT, name, None, rule)
    # The z component of the rotated z axis is the cosine of the lean.
    if 1.0 - 2.0 * (qx * qx + qy * qy) / norm < math.cos(MAX_LEAN):
        rule = f"must lean by less than {math.degrees(MAX_LEAN):g} degrees out of the plane"
        raise InputError(Status.INVALID_INPUT, name, None, rule)
    return Pose(x, y, math.atan2(2.0 * (qw * qz + qx * qy), norm - 2.0 * (qy * qy + qz * qz)))
