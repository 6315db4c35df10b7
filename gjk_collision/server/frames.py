# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames as data: planar poses, and what may answer for the pose of one frame in another."""

import math
from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..verdict import Status

__all__ = [
    "Arrival",
    "Arrivals",
    "FrameError",
    "Pose",
    "SameFrameOnly",
    "Transforms",
    "lost_in_sum",
    "planar",
]

Floats = npt.NDArray[np.float64]

# A vehicle on a ramp leans, and its plane with it; a frame that leans further than this is no
# frame of the plane (a camera's optical frame, say) and flattening it would move its points.
MAX_LEAN = math.radians(20.0)

U = 2.0**-53  # rounding to nearest changes a number by at most this share of it
# Error of a frame's yaw that is not 0 [rad], see `planar`. Relative to the squared norm of the
# quaternion, the numerator is off by at most 2.1 U and the denominator by 9.1 U, and the vector of
# both has a length of at least cos(MAX_LEAN): its direction is off by less than 10 U. atan2 is off
# by at most 2 ulp of a number of at most pi, which is 8 U.
YAW_ERROR = 18.0 * U
_TURN = 2.0 * math.pi


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

    def compose(self, poses: Floats) -> Floats:
        """Bring poses of this frame into its parent: (N, 3) x y yaw [m, m, rad] to the same."""
        if self == _IDENTITY:
            return poses
        points = self.transform(poses[:, :2])
        return np.column_stack((points, poses[:, 2] + self.yaw))

    def compose_error(self, poses: Floats, reach: Floats | float) -> Floats:
        """Return how far `compose` may move shapes from their true places (N,) [m].

        Parameters
        ----------
        poses : (N, 3) float64
            x y yaw [m, m, rad] in this frame.
        reach : float or (N,) float64
            No point of the shape is farther from its origin [m].

        Notes
        -----
        The origin of the shape moves by `transform_error`. Its yaw changes by the rounding of the
        sum and the error of the frame's own yaw. A turn by an angle moves a point by at most the
        angle times its distance from the origin.
        """
        if self == _IDENTITY:
            return np.zeros(len(poses))
        turn = lost_in_sum(poses[:, 2], self.yaw) + self._yaw_error
        error: Floats = (self.transform_error(poses[:, :2]) + reach * turn) * (1.0 + 16.0 * U)
        return error

    def compose_ways(
        self, poses: Floats, reach: Floats | float, begins: npt.NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Bring poses that are passed one after another into the parent.

        Between two poses the kernel turns the shorter way. Of a turn of about pi, rounding must
        not make another way the shorter one: yaws are changed by some ulp, so that each turn keeps
        its direction.

        Parameters
        ----------
        poses, reach
            As for `compose_error`.
        begins : (N,) bool
            Where a way begins.

        Returns
        -------
        poses : (N, 3) float64
            In the parent.
        errors : (N,) float64
            As `compose_error` returns, with the change of the yaws [m].
        """
        placed, errors = self.compose(poses), self.compose_error(poses, reach)
        if self.yaw == 0.0:
            return placed, errors
        yaw = placed[:, 2]
        turns = _shorter(np.diff(poses[:, 2]))
        # The sums of two yaws, their difference and its reduction are off by less than this.
        step = 8.0 * U * (np.abs(yaw) + _TURN)
        step[1:] += step[:-1].copy()
        if not (math.pi - np.abs(turns) < 3.0 * step[1:]).any():
            return placed, errors
        reaches = np.broadcast_to(reach, len(poses))
        moved = 0.0  # rad: by how much the yaw that a turn begins with was changed
        for i, turn in enumerate(turns.tolist(), start=1):
            before, moved = 0.0 if begins[i] else moved, 0.0
            if begins[i] or math.pi - abs(turn) >= 3.0 * step[i] + before:
                continue
            way = math.copysign(1.0, turn)
            if _shorter(yaw[i] - yaw[i - 1]) * way < 0.0:
                moved = step[i] + before
                yaw[i] -= way * moved
                errors[i] += 2.0 * moved * reaches[i]  # twice, for the rounding of the change
        return placed, errors

    def turn(self, velocities: Floats) -> Floats:
        """Bring velocities of this frame into its parent: (N, 3) vx vy wz to the same."""
        if self.yaw == 0.0:
            return velocities
        turned = Pose(yaw=self.yaw).transform(velocities[:, :2])
        return np.column_stack((turned, velocities[:, 2]))

    def turn_error(self, velocities: Floats) -> Floats:
        """Return how far `turn` may be off (N,) [m/s]; 0 for velocities that are not known."""
        return np.nan_to_num(Pose(yaw=self.yaw).transform_error(velocities[:, :2]), nan=0.0)

    def transform(self, points: Floats) -> Floats:
        """Bring points of this frame into its parent: (N, 2) [m] to the same."""
        turned = self._rotate(points)
        return turned + self[:2]

    def transform_error(self, points: Floats) -> Floats:
        """Return how far `transform` may move points from their true places (N,) [m].

        Notes
        -----
        Let m = |x| + |y|. A cosine or sine of the C library is off by less than 2 U, a product by
        U of it, and the difference of two by U of it: each coordinate by less than 4.1 U m, and
        the point by less than 6 U m. An error of the yaw moves it by `YAW_ERROR` m. Products that
        underflow are off by 2**-1074. What the sum with x and y of the frame loses is computed.
        """
        turned = self._rotate(points)
        error = lost_in_sum(turned[:, 0], self.x) + lost_in_sum(turned[:, 1], self.y)
        if self.yaw != 0.0:
            size = np.abs(points).sum(axis=1)
            error += (6.0 * U + YAW_ERROR) * size + 2.0**-1060 * (size > 0.0)
        rounded_up: Floats = error * (1.0 + 16.0 * U)
        return rounded_up

    @property
    def _yaw_error(self) -> float:
        """Of this frame's yaw [rad]. A yaw of 0 is exact."""
        return YAW_ERROR if self.yaw != 0.0 else 0.0

    def _rotate(self, points: Floats) -> Floats:
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        x, y = points[:, 0], points[:, 1]
        return np.column_stack((c * x - s * y, s * x + c * y))


def lost_in_sum(values: Floats, more: Floats | float) -> Floats:
    """Return the magnitude of what the rounding of `values + more` loses (Knuth's two-sum)."""
    with np.errstate(invalid="ignore", over="ignore"):  # such numbers are refused elsewhere
        sums = values + more
        rest = sums - values
        lost: Floats = np.abs((values - (sums - rest)) + (more - rest))
    return lost


def _shorter(turn: Any) -> Any:
    """Return a turn without whole ones [rad], as the kernel computes it (Piece::between)."""
    turns = turn / _TURN
    nearest = np.rint(turns)
    return turn - _TURN * np.where(np.abs(turns - nearest) == 0.5, np.trunc(turns), nearest)


_IDENTITY = Pose()


class Transforms(Protocol):
    """Something that knows where frames are: tf2, a recording, or nobody."""

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`.

        There is no fallback to another time.
        """
        ...

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`.

        The stamp is 0 where all transforms between the frames are static: the pose holds always.
        Otherwise it is the newest time at which all moving ones are known, and not 0.
        """
        ...


# ns: a transform may be stamped ahead of the clock by this much, as localisers do that say until
# when their correction holds. One of them that was silent for longer begins anew.
MAX_LEAD = 2_000_000_000


class Arrival(Enum):
    """What becomes of a transform that has arrived."""

    USE = 0
    LEAVE_OUT = 1
    RESTART = 2  # use it, but none that came before it


class Arrivals:
    """Tells which moving transforms may be used, so that no present pose is made of wrong ones.

    A pose at the present time is interpolated where a transform is stamped ahead. The transforms
    before and after must then belong together: not to the times before and after a step back of
    the clock, and not to the two ends of a silence.

    Parameters
    ----------
    now : int
        Time [ns]; 0: there is none yet.
    """

    def __init__(self, now: int) -> None:
        self._now = now
        self._newest: dict[str, int] = {}

    def is_new_time(self, now: int) -> bool:
        """Tell whether the clock [ns] has gone back since the last call.

        No transform that came before may then be used. The same is true where the clock has begun
        and there are transforms of a later time.
        """
        before, self._now = self._now, now
        if before:
            is_new = now < before
        else:
            is_new = 0 < now < max(self._newest.values(), default=0) - MAX_LEAD
        if is_new:
            self._newest.clear()
        return is_new

    def take(self, child: str, stamp: int, now: int) -> Arrival:
        """Judge a moving transform of a child frame by its stamp and the clock [ns]."""
        if now and stamp - now > MAX_LEAD:  # without a clock nothing is answered
            return Arrival.LEAVE_OUT
        last = self._newest.get(child, stamp)
        is_restart = bool(now) and stamp > now and stamp - last > MAX_LEAD
        if is_restart:
            self._newest.clear()
        self._newest[child] = max(stamp, self._newest.get(child, stamp))
        return Arrival.RESTART if is_restart else Arrival.USE


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
        """As `lookup`; the pose of the target in itself holds always, so its stamp is 0."""
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
