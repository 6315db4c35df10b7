# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Check of a verdict by a second method: brute force, on the data as received.

The check uses no code of the kernel. It only shares the convex parts of the vehicle with it.
Bounding boxes exclude distant obstacles. For the other obstacles, the check compares each edge of
the vehicle with each edge of the received outline, and counts crossings to find whether a point is
inside. The outline need not be convex. The received poses and frames are composed in integer
arithmetic. The check is slow, so it is meant for a fraction of the answers.

The region in which the vehicle must stay is not checked, only the obstacles in it.

The cosine and the sine of a yaw are enclosed in intervals. If the gap is so close to the margin
that the intervals do not decide, FREE counts as wrong, and COLLISION and MARGIN count as right.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import numpy.typing as npt

from ..certificate.checker import BITS, steps, turn
from ..verdict import Verdict
from .data.obstacles import Obstacles
from .data.placing import Sender, placed_ways
from .data.snapshot import Snapshot
from .frames.poses import IDENTITY, Pose
from .parameters.config import Config
from .services import place

__all__ = ["total_margin", "verdict_error"]

Floats = npt.NDArray[np.float64]
Point = tuple[int, int]  # in steps of a grid

# The kernel may answer COLLISION or MARGIN although the gap is a little too large. This is the
# maximum excess of the gap, relative to the sizes of both shapes, to their poses, and for MARGIN
# to the margin. Derivation, with u = 2**-53: the kernel answers FREE if the gap exceeds the margin
# by 16 (e_P + e_Q) + 64 u (E_P + E_Q + r_P + r_Q + margin). The error of a placed vertex is
# e <= 56 u S, where S is the size of a shape and its pose. E is a coordinate relative to the
# middle of the scene, which is at most twice as far away as any obstacle:
# E_P + E_Q <= 5 (S_P + S_Q). The total is less than 1300 u (S_P + S_Q + r_P + r_Q + margin).
EARLY = 2.0**-42
# Maximum rounding error of bounding boxes, relative to the same sizes. Two rotations and two sums
# move a vertex by less than 20 u S. The difference of boxes and the sum of radii add less than
# 10 u.
ROUNDED = 2.0**-47


def total_margin(config: Config, margin: float) -> float:
    """Return the configured margin plus the margin of a request [m], rounded up."""
    exact = Fraction(margin) + Fraction(config.safety_margin)
    nearest = float(exact)
    return nearest if nearest >= exact else nextafter(nearest, inf)


def verdict_error(
    snapshot: Snapshot, pose: Pose, verdict: Verdict, margin: float, frame: Pose = IDENTITY
) -> str:
    """Return what is wrong with the kernel's verdict for one pose; empty: nothing is wrong.

    FREE requires a gap greater than the margin plus the margin of the obstacle, and MARGIN a gap
    greater than 0. Both are checked without a tolerance.

    Parameters
    ----------
    snapshot : Snapshot
        The snapshot that the kernel used.
    pose : Pose
        Pose of the base frame in `frame`.
    verdict : Verdict
        Verdict of the kernel, for obstacles that do not move. UNKNOWN is never wrong.
    margin : float
        Margin that the kernel used [m].
    frame : Pose
        Pose of the request's frame in the check frame.
    """
    if verdict is Verdict.UNKNOWN or snapshot.footprint is None:
        return ""
    shape = snapshot.footprint
    vehicle = [
        _Body(part, (pose, frame), Fraction(radius))
        for part, radius in zip(shape.parts, shape.radii, strict=True)
    ]
    near = list(_near(snapshot, vehicle, margin))

    def is_within(limit: float | None, *, tolerant: bool = False) -> bool:
        """Return whether the gap to any obstacle is at most a limit [m].

        None: the limit is the margin plus the margin of the obstacle.
        """
        for each in near:
            reach = Fraction(margin) + Fraction(each.margin) if limit is None else Fraction(limit)
            if tolerant:
                reach = reach * Fraction(1.0 + EARLY) + Fraction(each.early)
            if each.least_gap <= float(reach) * (1.0 + EARLY):
                obstacle = each.body()
                if any(_within(part, obstacle, reach) for part in vehicle):
                    return True
        return False

    text = f"the kernel answered {verdict.name}, but the second method found a gap of"
    required = f"{margin:g} m" + " plus the margin of the obstacle" * any(e.margin for e in near)
    # The second method does not know the region. Its outside may be the reason of the verdict.
    is_region = snapshot.region_source != ""
    if verdict is Verdict.COLLISION and not is_region and not is_within(0.0, tolerant=True):
        return f"{text} more than 0 m"
    if verdict is Verdict.MARGIN and not is_region and not is_within(None, tolerant=True):
        return f"{text} more than {required}"
    if verdict is Verdict.MARGIN and is_within(0.0):
        return f"{text} at most 0 m"
    if verdict is Verdict.FREE and is_within(None):
        return f"{text} at most {required}"
    return ""


# ---- obstacles near the vehicle, in rounded arithmetic


@dataclass(frozen=True, slots=True)
class _Body:
    """A filled ring (n, 2) [m], grown by a radius [m].

    The first pose is that of the ring in its frame. The second pose is that of this frame in the
    check frame.
    """

    ring: Floats
    poses: tuple[Pose, Pose]
    radius: Fraction


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """Obstacle `index` of a part of the scene.

    The gap between its box and the box of the vehicle is at least `least_gap` [m]. `early` is the
    tolerance [m] for COLLISION and MARGIN, see `EARLY`. `margin` is its own margin [m].
    """

    part: Sender
    index: int
    pose: Pose
    least_gap: float
    early: float
    margin: float
    takes_hull: bool

    def body(self) -> _Body:
        data, i = self.part.obstacles, self.index
        ring = _ring(data, i)
        is_hull = self.takes_hull or not (len(data.kinds) and data.kinds[i])
        outline = _hull(ring) if is_hull else ring
        return _Body(outline, (self.pose, self.part.pose), _radius(self.part, i))


def _near(snapshot: Snapshot, vehicle: list[_Body], margin: float) -> Iterator[_Obstacle]:
    """Yield the obstacles whose boxes come within the margin [m] of the vehicle's box."""
    (pose, frame), radius = vehicle[0].poses, max(part.radius for part in vehicle)
    rings = np.concatenate([part.ring for part in vehicle])
    low, high, size = _boxes(rings, np.zeros(1, np.int64), np.array([pose]), frame)
    # The kernel's shapes are grown by the rounding errors of transforms. Allow for them here.
    _, ego_error = place(snapshot.cores(), np.array([pose]), frame)
    takes_hull = snapshot.config.concave_policy == "hull"
    for part in snapshot.senders:
        data = part.obstacles
        own = data.poses.reshape(-1, 3) if len(data.poses) else np.zeros((len(data), 3))
        if not len(own):
            continue
        points, starts = data.xy.reshape(-1, 2), data.offsets[:-1].astype(np.int64)
        west, east, sizes = _boxes(points, starts, own, part.pose)
        radii = data.radius if len(data.radius) else np.zeros(len(data))
        reach = float(radius) + part.source.inflation + radii
        sizes += size + reach
        beyond = np.maximum(west - high, low - east).clip(0.0)
        least_gap = np.hypot(*beyond.T) - reach - ROUNDED * sizes
        early = (
            EARLY * sizes + placed_ways(part.obstacles, part.pose, snapshot.config)[1] + ego_error
        )
        margins = data.margins if len(data.margins) else np.zeros(len(data))
        required = (margin + margins) * (1.0 + 2.0 * EARLY) + early
        for i in np.flatnonzero(least_gap <= required).tolist():
            at, gap = Pose(*own[i].tolist()), float(least_gap[i])
            yield _Obstacle(part, i, at, gap, float(early[i]), float(margins[i]), takes_hull)


def _boxes(
    points: Floats, starts: npt.NDArray[np.int64], poses: Floats, frame: Pose
) -> tuple[Floats, Floats, Floats]:
    """Return the rounded bounding boxes of placed rings, and bounds of their coordinates.

    Parameters
    ----------
    points : (m, 2) float64
        Points of all rings [m].
    starts : (n,) int64
        Index of the first point of each ring.
    poses : (n, 3) float64
        Pose of each ring in the frame.
    frame : Pose
        Pose of the frame in the check frame.

    Returns
    -------
    low, high : (n, 2) float64
        Minimum and maximum coordinates in the check frame [m].
    sizes : (n,) float64
        Upper bound of the absolute coordinates in all steps of the computation [m].
    """
    each = np.repeat(poses, np.diff(starts, append=len(points)), axis=0)
    c, s = np.cos(each[:, 2]), np.sin(each[:, 2])
    x, y = points[:, 0], points[:, 1]
    inner = np.column_stack((c * x - s * y + each[:, 0], s * x + c * y + each[:, 1]))
    placed = frame.transform(inner)
    sizes = 2.0 * np.maximum.reduceat(np.abs(points).max(axis=1), starts)
    sizes += np.abs(poses[:, :2]).sum(axis=1) + abs(frame.x) + abs(frame.y)
    low, high = np.minimum.reduceat(placed, starts), np.maximum.reduceat(placed, starts)
    return low, high, sizes


def _ring(data: Obstacles, index: int) -> Floats:
    """Return the received points of an obstacle (n, 2) [m]."""
    return data.xy.reshape(-1, 2)[data.offsets[index] : data.offsets[index + 1]]


def _radius(part: Sender, index: int) -> Fraction:
    """Return the radius of an obstacle with its inflation [m]."""
    radius = part.obstacles.radius
    own = Fraction(float(radius[index])) if len(radius) else Fraction(0)
    return own + Fraction(part.source.inflation)


# ---- contact of two bodies, in integers: on a fine enough grid each double is an integer


def _within(a: _Body, b: _Body, limit: Fraction) -> bool:
    """Return whether two bodies are at most `limit` [m] apart.

    The widths of the intervals of cosine and sine are added to the limit.
    """
    reach = a.radius + b.radius + limit
    numbers: list[float | Fraction] = [reach]
    for body in (a, b):
        numbers += body.ring.ravel().tolist()
        numbers += [value for pose in body.poses for value in pose[:2]]
    places = _places(numbers)
    one, one_error = _on_grid(a, places)
    other, other_error = _on_grid(b, places)
    return _touch(one, other, steps(reach, places + 2 * BITS) + one_error + other_error)


def _places(numbers: Iterable[float | Fraction]) -> int:
    """Return the largest number of binary places after the point among these numbers."""
    return max(number.as_integer_ratio()[1].bit_length() for number in numbers) - 1


def _on_grid(body: _Body, places: int) -> tuple[list[Point], int]:
    """Return the placed vertices in steps of 2**-(places + 2 * BITS), and their error in steps.

    Each of the two poses makes the steps finer by BITS. The errors of cosine and sine are less
    than 2, so the error of a vertex is less than 4 times the sum of its absolute coordinates.
    """
    ring = [(steps(u, places), steps(v, places)) for u, v in body.ring.tolist()]
    error = 0
    for pose in body.poses:
        places += BITS
        c, s = turn(pose.yaw)
        x, y = (steps(value, places) for value in pose[:2])
        error <<= BITS
        if pose.yaw:
            error = 2 * error + 4 * max(abs(u) + abs(v) for u, v in ring)
        ring = [(c * u - s * v + x, s * u + c * v + y) for u, v in ring]
    return ring, error


def _hull(points: Floats) -> Floats:
    """Return the convex hull of points (n, 2), by Andrew's chain (1979)."""
    rows = points.tolist()
    places = _places(value for row in rows for value in row)
    row_at = {(steps(x, places), steps(y, places)): [x, y] for x, y in rows}
    order = sorted(row_at)
    chain: list[Point] = []
    for each in (order, order[::-1]):
        base = len(chain)
        for p in each:
            while len(chain) - base >= 2 and _side(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        if len(order) > 1:
            chain.pop()
    return np.array([row_at[p] for p in chain])


def _touch(a: list[Point], b: list[Point], reach: int) -> bool:
    """Return whether two filled rings are at most `reach` steps apart."""
    others = [(_box(s, t, 0), s, t) for s, t in _edges(b)]
    for p, q in _edges(a):
        left, bottom, right, top = _box(p, q, reach)
        for (west, south, east, north), s, t in others:
            if west <= right and left <= east and south <= top and bottom <= north:
                pairs = ((p, s, t), (q, s, t), (s, p, q), (t, p, q))
                if _pass(p, q, s, t) or any(_is_near(*pair, reach) for pair in pairs):
                    return True
    return _surrounds(a, b[0]) or _surrounds(b, a[0])


def _edges(ring: list[Point]) -> Iterator[tuple[Point, Point]]:
    return zip(ring, ring[1:] + ring[:1], strict=True)


def _box(p: Point, q: Point, by: int) -> tuple[int, int, int, int]:
    (a, b), (c, d) = p, q
    return min(a, c) - by, min(b, d) - by, max(a, c) + by, max(b, d) + by


def _side(p: Point, q: Point, r: Point) -> int:
    """Return a number > 0 if r is left of the line from p to q, < 0 if right, 0 if on it."""
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def _pass(p: Point, q: Point, s: Point, t: Point) -> bool:
    """Return whether two segments cross and neither has an end on the line of the other."""
    return _side(p, q, s) * _side(p, q, t) < 0 and _side(s, t, p) * _side(s, t, q) < 0


def _is_near(p: Point, s: Point, t: Point, reach: int) -> bool:
    """Return whether a point p is at most `reach` from the segment from s to t."""
    ux, uy, vx, vy = t[0] - s[0], t[1] - s[1], p[0] - s[0], p[1] - s[1]
    along, length = ux * vx + uy * vy, ux * ux + uy * uy
    if along <= 0:
        return vx * vx + vy * vy <= reach * reach
    if along >= length:
        return (vx - ux) ** 2 + (vy - uy) ** 2 <= reach * reach
    return (ux * vy - uy * vx) ** 2 <= reach * reach * length


def _surrounds(ring: list[Point], p: Point) -> bool:
    """Return whether a point that is not on a ring is inside it, by the parity of crossings."""
    inside = False
    for s, t in _edges(ring):
        if (s[1] > p[1]) != (t[1] > p[1]):
            inside ^= (_side(s, t, p) > 0) == (t[1] > s[1])
    return inside
