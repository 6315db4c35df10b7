# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Planar poses, their rounding errors, and the interface to a source of transforms."""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...errors import InputError, refuse
from ...verdict import Status

__all__ = [
    "IDENTITY",
    "MAX_TILT",
    "MAX_TILT_OF_READINGS",
    "DroppedError",
    "FlippedError",
    "FrameError",
    "Pose",
    "SameFrameOnly",
    "TransformSource",
    "Transforms",
    "lost_in_sum",
    "orientation",
    "planar",
    "planar_as_sent",
    "upside_down",
]

Floats = npt.NDArray[np.float64]

# Maximum tilt of a frame against the plane [rad]. The tilt of a vehicle on a ramp is allowed. A
# frame with more tilt, such as the optical frame of a camera, is not a frame of the plane; its
# projection onto the plane would move its points.
MAX_TILT = math.radians(20.0)
# Maximum tilt of the frame of a scan, a cloud or a grid [rad]. Their points can be far away and
# high, where a tilt moves them by metres.
MAX_TILT_OF_READINGS = math.radians(2.0)

U = 2.0**-53  # maximum relative error of rounding to nearest
# Maximum error of a frame's yaw that is not 0 [rad], see `planar`. Relative to the squared norm of
# the quaternion, the error of the numerator is at most 2.1 U, that of the denominator 9.1 U. The
# vector of both has a length of at least cos(MAX_TILT), so the error of its direction is less than
# 10 U. The error of atan2 is at most 2 ulp of a number of at most pi, which is 8 U.
YAW_ERROR = 18.0 * U
_TURN = 2.0 * math.pi


class FrameError(Exception):
    """The pose of one frame in another is not available.

    Attributes
    ----------
    status : Status
        UNKNOWN_FRAME, TF_UNAVAILABLE or TF_EXTRAPOLATION.
    frame, target : str
        The frame whose newest pose in the other one is too old; empty: another reason.
    """

    def __init__(self, status: Status, message: str, frame: str = "", target: str = "") -> None:
        super().__init__(message)
        self.status, self.frame, self.target = status, frame, target

    def __reduce__(self) -> "tuple[type[FrameError], tuple[Any, ...]]":
        """Return what `pickle` needs."""
        return type(self), (self.status, str(self), self.frame, self.target)


class DroppedError(FrameError):
    """The pose at this time is not stored any more, because it is old."""


class FlippedError(FrameError):
    """The frame is upside down.

    Attributes
    ----------
    pose : Pose
        The pose of the frame after half a turn about its x axis; its `is_flipped` is True.
    stamp : int
        The time of the pose [ns].
    """

    def __init__(self, message: str, pose: "Pose", stamp: int) -> None:
        super().__init__(Status.TF_UNAVAILABLE, message)
        self.pose, self.stamp = pose, stamp

    def __reduce__(self) -> "tuple[type[FrameError], tuple[Any, ...]]":
        """Return what `pickle` needs."""
        return type(self), (str(self), self.pose, self.stamp)


class Pose(NamedTuple):
    """The pose of a frame in its parent: x, y [m] and yaw [rad, counter-clockwise]."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    @property
    def tilt(self) -> float:
        """Angle between the plane of the frame and that of its parent [rad]."""
        return 0.0

    @property
    def is_flipped(self) -> bool:
        """Whether data in the frame must be mirrored at its x axis first: it is upside down."""
        return False

    def tilt_error(self, reach: float, height: float = 0.0) -> float:
        """Return a bound of the distance between a point and its place in the tilted frame [m].

        Parameters
        ----------
        reach : float
            Maximum distance of the point from the origin of the frame, in its plane [m].
        height : float
            Maximum distance of the point from the plane of the frame [m].

        Notes
        -----
        Seen from above, a rotation by a tilt t and a yaw is the yaw, followed by a compression by
        cos(t) along one direction. With v = 1 - cos(t), this moves a point by at most v reach. The
        compression also turns the x axis, from which the yaw is computed, by at most
        v / (2 sqrt(1 - v)). The height moves the point by height sin(t).
        """
        if self.tilt == 0.0:
            return 0.0
        v = 2.0 * math.sin(self.tilt / 2.0) ** 2
        flat = v * (1.0 + 0.5 / math.sqrt(1.0 - v)) * reach
        return (flat + math.sin(self.tilt) * height) * (1.0 + 2.0**-40)

    def of(self, inner: "Pose") -> "Pose":
        """Transform one pose from this frame to its parent."""
        if self == IDENTITY:
            return inner
        x, y, yaw = self.compose(np.array([inner]))[0].tolist()
        return Pose(x, y, yaw)

    def compose(self, poses: Floats) -> Floats:
        """Transform poses (N, 3), x y yaw [m, m, rad], from this frame to its parent."""
        if self == IDENTITY:
            return poses
        points = self.transform(poses[:, :2])
        return np.column_stack((points, poses[:, 2] + self.yaw))

    def compose_error(self, poses: Floats, reach: Floats | float) -> Floats:
        """Return a bound of the error of `compose` for shapes at the poses (N,) [m].

        No point of a shape is farther than this from its exact place.

        Parameters
        ----------
        poses : (N, 3) float64
            x y yaw [m, m, rad] in this frame.
        reach : float or (N,) float64
            Maximum distance of a point of the shape from the origin of the shape [m].

        Notes
        -----
        The error of the shape's origin is `transform_error`. The error of its yaw is the rounding
        error of the sum plus the error of the frame's yaw. A rotation moves a point by at most the
        angle times the distance of the point from the origin.
        """
        if self == IDENTITY:
            return np.zeros(len(poses))
        turn = lost_in_sum(poses[:, 2], self.yaw) + self._yaw_error + self.tilt_error(1.0)
        error: Floats = (self.transform_error(poses[:, :2]) + reach * turn) * (1.0 + 16.0 * U)
        return error

    def compose_paths(
        self, poses: Floats, reach: Floats | float, begins: npt.NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Transform the poses of paths from this frame to its parent.

        Between two poses of a path the kernel rotates in the shorter direction. If a rotation is
        close to pi, a rounding error could reverse that direction. Such yaws are changed by some
        ulp, so that each rotation keeps its direction.

        Parameters
        ----------
        poses, reach
            As for `compose_error`.
        begins : (N,) bool
            Whether a pose is the first one of a path.

        Returns
        -------
        poses : (N, 3) float64
            x y yaw [m, m, rad] in the parent.
        errors : (N,) float64
            The bounds of `compose_error` plus the effect of the changed yaws [m].
        """
        placed, errors = self.compose(poses), self.compose_error(poses, reach)
        if self.yaw == 0.0:
            return placed, errors
        yaw = placed[:, 2]
        turns = _shorter(np.diff(poses[:, 2]))
        # Bound of the rounding errors of two sums of yaws, their difference and its reduction.
        step = 8.0 * U * (np.abs(yaw) + _TURN)
        step[1:] += step[:-1].copy()
        if not (math.pi - np.abs(turns) < 3.0 * step[1:]).any():
            return placed, errors
        reaches = np.broadcast_to(reach, len(poses))
        moved = 0.0  # rad: change of the yaw at the begin of the rotation
        for i, turn in enumerate(turns.tolist(), start=1):
            before, moved = 0.0 if begins[i] else moved, 0.0
            if begins[i] or math.pi - abs(turn) >= 3.0 * step[i] + before:
                continue
            way = math.copysign(1.0, turn)
            if _shorter(yaw[i] - yaw[i - 1]) * way < 0.0:
                moved = step[i] + before
                yaw[i] -= way * moved
                errors[i] += 2.0 * moved * reaches[i]  # the factor 2 includes its rounding
        return placed, errors

    def turn(self, velocities: Floats) -> Floats:
        """Transform velocities (N, 3), vx vy wz, from this frame to its parent."""
        if self.yaw == 0.0:
            return velocities
        turned = Pose(yaw=self.yaw).transform(velocities[:, :2])
        return np.column_stack((turned, velocities[:, 2]))

    def turn_error(self, velocities: Floats) -> Floats:
        """Return a bound of the error of `turn` (N,) [m/s]; 0 for unknown velocities."""
        speeds = velocities[:, :2]
        error = Pose(yaw=self.yaw).transform_error(speeds)
        error += self.tilt_error(1.0) * np.abs(speeds).sum(axis=1)
        return np.nan_to_num(error, nan=0.0)

    def transform(self, points: Floats) -> Floats:
        """Transform points (N, 2) [m] from this frame to its parent."""
        turned = self._rotate(points)
        return turned + self[:2]

    def transform_error(self, points: Floats, height: float = 0.0) -> Floats:
        """Return a bound of the distance of transformed points from their exact places (N,) [m].

        `height` is the largest distance of a point from the plane of this frame [m].

        Notes
        -----
        Let m = |x| + |y|. The error of a cosine or sine of the C library is less than 2 U. The
        relative error of a product, and of the difference of two products, is at most U. The error
        of each coordinate is therefore less than 4.1 U m, and that of the point less than 6 U m.
        The error of the yaw adds `YAW_ERROR` m. A product that underflows has an error of at most
        2**-1074. The rounding error of the sums with x and y of the frame is computed exactly.
        A tilt of the frame adds `tilt_error`.
        """
        turned = self._rotate(points)
        error = lost_in_sum(turned[:, 0], self.x) + lost_in_sum(turned[:, 1], self.y)
        size = np.abs(points).sum(axis=1)
        error += self.tilt_error(1.0) * size + self.tilt_error(0.0, height)
        if self.yaw != 0.0:
            error += (6.0 * U + YAW_ERROR) * size + 2.0**-1060 * (size > 0.0)
        rounded_up: Floats = error * (1.0 + 16.0 * U)
        return rounded_up

    @property
    def _yaw_error(self) -> float:
        """Bound of the error of this frame's yaw [rad]. A yaw of 0 is exact."""
        return YAW_ERROR if self.yaw != 0.0 else 0.0

    def _rotate(self, points: Floats) -> Floats:
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        x, y = points[:, 0], points[:, 1]
        return np.column_stack((c * x - s * y, s * x + c * y))


class _TiltedPose(Pose):
    """A pose of a frame whose plane is tilted against that of its parent."""

    _tilt: float
    _is_flipped = False

    @property
    def tilt(self) -> float:
        return self._tilt

    @property
    def is_flipped(self) -> bool:
        return self._is_flipped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or tuple(self) != tuple(other):
            return False
        shape = getattr(other, "tilt", 0.0), getattr(other, "is_flipped", False)
        return (self.tilt, self.is_flipped) == shape

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


def lost_in_sum(values: Floats, more: Floats | float) -> Floats:
    """Return the absolute rounding errors of the sums `values + more` (Knuth's two-sum)."""
    with np.errstate(invalid="ignore", over="ignore"):  # non-finite results are refused elsewhere
        sums = values + more
        rest = sums - values
        lost: Floats = np.abs((values - (sums - rest)) + (more - rest))
    return lost


def _shorter(turn: Any) -> Any:
    """Return a rotation without full turns [rad], as the kernel computes it (Piece::between)."""
    turns = turn / _TURN
    nearest = np.rint(turns)
    return turn - _TURN * np.where(np.abs(turns - nearest) == 0.5, np.trunc(turns), nearest)


IDENTITY = Pose()


class Transforms(Protocol):
    """Poses between frames: a `TransformTree`, or `SameFrameOnly`."""

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at exactly `stamp` [ns].

        Raises
        ------
        FrameError
            The pose is not known at this time.
        """
        ...

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose of `source` in `target`, and its stamp [ns].

        If all transforms between the frames are static, the pose is valid at every time, and the
        stamp is 0. Otherwise the stamp is the newest time at which all moving transforms are
        known; it is not 0.

        Raises
        ------
        FrameError
            No pose is known.
        """
        ...


class TransformSource(Transforms, Protocol):
    """Transforms that arrive over time."""

    @property
    def corrections(self) -> int:
        """Number of static transforms that were replaced, by a static or by a moving one.

        Poses from before the last one are outdated.
        """
        ...

    @property
    def late(self) -> int:
        """Number of moving transforms that came after a newer one, or in place of another one.

        The first transform of a frame that was a parent before counts, too. Poses between two
        stamps from before the last one may be outdated.
        """
        ...

    @property
    def steps_back(self) -> int:
        """Number of times that the clock was set to an earlier time."""
        ...

    def set_time(self, now: int) -> object:
        """Set the clock [ns]. After a step back, moving transforms from before are not used."""
        ...


class SameFrameOnly:
    """No transforms: only the pose of a frame in itself is known.

    Parameters
    ----------
    reason : str
        Why there are no transforms, for the message of an error.
    """

    corrections = late = steps_back = 0

    def __init__(self, reason: str = "no transforms are available") -> None:
        self._reason = reason

    def set_time(self, now: int) -> None:
        """Do nothing."""

    def __str__(self) -> str:
        """Describe this source of transforms in a log line."""
        return (
            f"none: {self._reason}; obstacles are only accepted in check_frame, "
            "and footprints only in base_frame"
        )

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the identity if the frames are the same; otherwise raise `FrameError`."""
        del stamp
        if target == source:
            return Pose()
        raise FrameError(
            Status.TF_UNAVAILABLE, f"no transform from '{source}' to '{target}': {self._reason}"
        )

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the pose of `lookup` and the stamp 0, because it is valid at every time."""
        return self.lookup(target, source, 0), 0


def orientation(yaw: float) -> tuple[float, float, float, float]:
    """Return the quaternion x y z w of a yaw [rad]; NaN if the yaw is not finite."""
    half = yaw / 2 if math.isfinite(yaw) else math.nan
    return 0.0, 0.0, math.sin(half), math.cos(half)


def planar_as_sent(pose: Pose, name: str = "pose") -> Pose:
    """Return the pose that the server reads from a message with the orientation of a pose.

    The yaw of a message can differ from the original one by its rounding, and by full turns.

    Raises
    ------
    InputError
        NON_FINITE: the pose is not finite.
    """
    return planar(pose.x, pose.y, orientation(pose.yaw), name)


def planar(
    x: float, y: float, quaternion: tuple[float, float, float, float], name: str = "pose"
) -> Pose:
    """Project a pose in space onto the plane.

    Parameters
    ----------
    x, y : float
        Position [m].
    quaternion : tuple of float
        Orientation x y z w. Its length must be 1 within 1e-3.
    name : str
        Name of the argument, for the message of an error.

    Returns
    -------
    Pose
        Pose with the yaw of the rotated x axis, and its tilt.

    Raises
    ------
    InputError
        The pose is not finite, the quaternion does not have unit length, or the tilt is more than
        `MAX_TILT`.
    """
    qx, qy, qz, qw = quaternion
    values = (x, y, qx, qy, qz, qw)
    if not all(map(math.isfinite, values)):
        refuse(name, "must be finite", values, status=Status.NON_FINITE)
    norm = qx * qx + qy * qy + qz * qz + qw * qw
    if abs(norm - 1.0) > 2e-3:
        refuse(name, f"orientation must be a unit quaternion (got length {math.sqrt(norm):g})")
    # The z component of the rotated z axis is the cosine of the tilt, 1 - v.
    v = 2.0 * (qx * qx + qy * qy) / norm
    if 1.0 - v < math.cos(MAX_TILT):
        limit = math.degrees(MAX_TILT)
        rule = f"orientation must not be tilted out of the plane by more than {limit:g} degrees"
        refuse(name, rule, f"{math.degrees(math.acos(max(-1.0, 1.0 - v))):.1f} degrees")
    yaw = math.atan2(2.0 * (qw * qz + qx * qy), norm - 2.0 * (qy * qy + qz * qz))
    if v == 0.0:
        return Pose(x, y, yaw)
    return _tilted(Pose(x, y, yaw), 2.0 * math.asin(math.sqrt(v / 2.0)))


def upside_down(x: float, y: float, quaternion: tuple[float, float, float, float]) -> Pose | None:
    """Return the pose after half a turn about the x axis of a frame that is upside down.

    None: it is not upside down. The arguments are those of `planar`, which refused them.
    """
    qx, qy, qz, qw = quaternion
    try:
        pose = planar(x, y, (qw, qz, -qy, -qx))
    except InputError:
        return None
    return _tilted(pose, pose.tilt, is_flipped=True)


def _tilted(pose: Pose, tilt: float, *, is_flipped: bool = False) -> Pose:
    found = _TiltedPose(*pose)
    found._tilt, found._is_flipped = tilt, is_flipped
    return found
