# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Changes between two messages that no motion explains: jumps, swapped ids, other outlines."""

from collections.abc import Iterator
from math import hypot, isfinite, pi, remainder

import numpy as np
import numpy.typing as npt

from ..server.data.obstacles import Obstacles
from ..server.frames.poses import Pose

__all__ = ["Change", "Motion", "PoseMotion"]

Floats = npt.NDArray[np.float64]

# A point jumps if it is farther than this [m] from where it is at constant velocity, ...
JUMP = 0.5
# ... and farther than this acceleration moves it [m/s^2].
ACCELERATION = 10.0

# ... and farther than this number of times what it has been off on average.
NOISE = 5.0
FIRST = 0.3  # the average at the begin [m, rad]
SHARE_OF_NEW = 0.1

# s. In a shorter time, noise hides velocities.
SHORTEST = 0.02

# As JUMP and ACCELERATION, for headings [rad, rad/s^2].
TURN, TURN_ACCELERATION = 0.2, 3.0

# An outline changes if its size does by more than this share, and by more than this length [m].
SHARE, LENGTH = 0.2, 0.1

# Name, numbers of the obstacles, and the text after the numbers.
Change = tuple[str, tuple[int, ...], str]


class Motion:
    """The obstacles of one sender in the last message, and how they have moved."""

    def __init__(self) -> None:
        self._stamp = 0
        self._ids: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._points: Floats = np.empty((0, 2))  # m
        self._speeds: Floats = np.empty((0, 2))  # m/s; NaN: not known
        self._sizes: Floats = np.empty(0)
        self._noise: Floats = np.empty(0)  # m

    def receive(self, obstacles: Obstacles) -> Iterator[Change]:
        """Yield what has changed since the message before."""
        dt = (obstacles.stamp - self._stamp) * 1e-9
        if 0.0 < dt < SHORTEST:
            return
        ids, points, sizes = _measures(obstacles)
        speeds, noise = np.full(points.shape, np.nan), np.full(len(ids), FIRST)
        old = new = np.arange(len(ids))
        if not np.array_equal(ids, self._ids):
            _, old, new = np.intersect1d(self._ids, ids, return_indices=True)
        if len(old) and dt > 0.0:
            expected = self._points[old] + dt * self._speeds[old]
            off = np.hypot(*(points[new] - expected).T)
            usual = self._noise[old]
            jumped = off > JUMP + ACCELERATION * dt * dt + NOISE * usual
            speeds[new] = (points[new] - self._points[old]) / dt
            speeds[new[jumped]] = np.nan
            change = np.where(np.isfinite(off) & ~jumped, off - usual, 0.0)
            noise[new] = usual + SHARE_OF_NEW * change
            yield from _jumps(ids[new], expected, points[new], off, jumped)
            before, after = self._sizes[old], sizes[new]
            for k in np.flatnonzero(abs(after - before) > np.maximum(SHARE * before, LENGTH)):
                text = f" changes its size from {before[k]:.3g} to {after[k]:.3g} m"
                yield "other outline", (int(ids[new[k]]),), text
        self._stamp, self._ids, self._points = obstacles.stamp, ids, points
        self._speeds, self._sizes, self._noise = speeds, sizes, noise


def _measures(obstacles: Obstacles) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Return id, position and size of each obstacle whose id is its own."""
    ids = np.asarray(obstacles.ids, np.int64)
    begins = np.asarray(obstacles.offsets[:-1], np.int64)
    xy = obstacles.xy.reshape(-1, 2)
    counts = obstacles.offsets[1:] - obstacles.offsets[:-1]
    if not len(ids) or not (counts > 0).all():
        return ids[:0], np.empty((0, 2)), np.empty(0)
    low, high = np.minimum.reduceat(xy, begins), np.maximum.reduceat(xy, begins)
    poses = obstacles.poses.reshape(-1, 3)
    points = poses[:, :2] if len(poses) else 0.5 * (low + high)
    # The size of an outline that turns does not change.
    means = np.add.reduceat(xy, begins) / counts[:, None]
    far = np.hypot(*(xy - np.repeat(means, counts, axis=0)).T)
    sizes = 2.0 * np.maximum.reduceat(far, begins)
    sizes += 2.0 * obstacles.radius if len(obstacles.radius) else 0.0
    is_finite = np.isfinite(points).all(axis=1) & np.isfinite(sizes)
    return ids[is_finite], points[is_finite], sizes[is_finite]


def _jumps(
    ids: npt.NDArray[np.int64], expected: Floats, found: Floats, off: Floats,
    jumped: npt.NDArray[np.bool_],
) -> Iterator[Change]:  # fmt: skip
    where = np.flatnonzero(jumped)
    told = set[int]()
    for k in where.tolist() if len(where) <= len(ids) // 2 + 2 else ():
        there = np.hypot(*(found[where] - expected[k]).T) < 0.5 * off[k]
        for i in where[there].tolist():
            if i != k and hypot(*(found[k] - expected[i])) < 0.5 * off[k]:
                if k < i:
                    yield "swapped ids", (int(ids[k]), int(ids[i])), " swap their ids"
                told |= {k, i}
    rest = [k for k in where.tolist() if k not in told]
    if len(rest) > 3:
        far = max(off[rest].tolist())
        yield "jump", tuple(ids[rest].tolist()), f" jump by up to {far:.3g} m"
    else:
        for k in rest:
            yield "jump", (int(ids[k]),), f" jumps by {off[k]:.3g} m"


class PoseMotion:
    """The last pose of a frame in its parent, and its velocity."""

    def __init__(self) -> None:
        self._stamp, self._pose = 0, (0.0, 0.0, 0.0)
        self._speed: tuple[float, float, float] | None = None
        self._noise = self._turn_noise = FIRST  # m, rad

    def receive(self, stamp: int, pose: Pose) -> str:
        """Return by how much the pose jumps; empty: it does not."""
        dt = (stamp - self._stamp) * 1e-9
        if dt < SHORTEST or not all(map(isfinite, pose)):
            return ""
        dx, dy = pose[0] - self._pose[0], pose[1] - self._pose[1]
        turn = remainder(pose[2] - self._pose[2], 2.0 * pi)
        is_first = self._stamp == 0
        self._stamp, self._pose = stamp, (pose[0], pose[1], pose[2])
        if is_first:
            return ""
        last, self._speed = self._speed, (dx / dt, dy / dt, turn / dt)
        if last is None:
            return ""
        u, v, w = last
        far, turned = hypot(dx - u * dt, dy - v * dt), abs(turn - w * dt)
        is_far = far > JUMP + ACCELERATION * dt * dt + NOISE * self._noise
        is_turned = turned > TURN + TURN_ACCELERATION * dt * dt + NOISE * self._turn_noise
        if is_far or is_turned:
            self._speed = None
            return f"{far:.3g} m" if is_far else f"{turned:.3g} rad"
        self._noise += SHARE_OF_NEW * (far - self._noise)
        self._turn_noise += SHARE_OF_NEW * (turned - self._turn_noise)
        return ""
