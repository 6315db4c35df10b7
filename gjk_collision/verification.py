# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A second opinion on a verdict, by brute force on the data as received.

It shares nothing with the kernel but the convex parts of the vehicle. Obstacles are the rings that
were received, every edge is compared with every edge, and the inside of a ring is found by
counting crossings, so nothing has to be convex. Boxes sort out what is far away; integers decide
the rest. Slow: it is meant for a share of the answers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import frexp

import numpy as np
import numpy.typing as npt

from .frames import Pose
from .snapshot import Placed, Snapshot
from .verdict import Verdict

__all__ = ["objection"]

Floats = npt.NDArray[np.float64]
Point = tuple[int, int]  # in steps of a grid

# By how much COLLISION or MARGIN may be too early, relative to coordinates and lengths. This is
# more than the rounding for which the kernel says COLLISION although there is a gap, and more than
# the rounding of boxes.
TOLERANCE = 1e-12
HERE = Pose()
# Binary places of a cosine and a sine.
BITS = 200


def objection(
    snapshot: Snapshot, pose: Pose, verdict: Verdict, margin: float, frame: Pose = HERE
) -> str:
    """Say what is wrong with the verdict for one pose; empty where nothing is.

    FREE requires a gap greater than the margin, MARGIN one greater than 0, without a tolerance.

    Parameters
    ----------
    snapshot : Snapshot
        With a footprint.
    pose : Pose
        Of the base frame in `frame`.
    verdict : Verdict
        The kernel's, for obstacles that stand still. UNKNOWN is never wrong.
    margin : float
        That it was given [m].
    frame : Pose
        In the check frame.
    """
    pose = frame.of(pose)
    if verdict is Verdict.UNKNOWN or snapshot.footprint is None:
        return ""
    shape = snapshot.footprint
    vehicle = [_Body(part, pose, Fraction(shape.radius)) for part in shape.parts]
    near = list(_near(snapshot, vehicle, margin))

    def is_within(limit: float, *, tolerant: bool = False) -> bool:
        """Tell whether the gap to any obstacle is at most a limit [m]."""
        for each in near:
            reach = _beyond(limit, each.slack) if tolerant else limit
            if each.least_gap <= reach:
                obstacle = each.body()
                if any(_within(part, obstacle, reach) for part in vehicle):
                    return True
        return False

    said = f"{verdict.name}, but by another method the gap is"
    greatest = 0.0 if verdict is Verdict.COLLISION else margin
    if verdict is not Verdict.FREE and not is_within(greatest, tolerant=True):
        return f"{said} more than {greatest:g} m"
    least = margin if verdict is Verdict.FREE else 0.0
    if verdict is not Verdict.COLLISION and is_within(least):
        return f"{said} at most {least:g} m"
    return ""


# ---- which obstacles are near, in rounded arithmetic


@dataclass(frozen=True, slots=True)
class _Body:
    """All within a radius [m] of a ring (n, 2) [m] or inside it, at a pose."""

    ring: Floats
    pose: Pose
    radius: Fraction


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """Obstacle `index` of a part of the scene.

    Its gap to the vehicle is at least `least_gap` [m]; `slack` [m] is `TOLERANCE` of its size.
    """

    part: Placed
    index: int
    pose: Pose
    least_gap: float
    slack: float
    takes_hull: bool

    def body(self) -> _Body:
        data, i = self.part.obstacles, self.index
        ring = data.xy.reshape(-1, 2)[data.offsets[i] : data.offsets[i + 1]]
        radius = Fraction(float(data.radius[i])) if len(data.radius) else Fraction(0)
        is_heap = self.takes_hull or not (len(data.kinds) and data.kinds[i])
        shown = _hull(ring) if is_heap else ring
        return _Body(shown, self.pose, radius + Fraction(self.part.inflation))


def _near(snapshot: Snapshot, vehicle: list[_Body], margin: float) -> Iterator[_Obstacle]:
    """Yield the obstacles whose boxes come within the margin [m] of the vehicle's box."""
    pose, points = vehicle[0].pose, np.concatenate([part.ring for part in vehicle])
    radius = float(vehicle[0].radius)
    placed = pose.transform(points)
    low, high = placed.min(axis=0), placed.max(axis=0)
    size = _size(points) + abs(pose.x) + abs(pose.y) + radius
    takes_hull = snapshot.config.concave_policy == "hull"
    for part in snapshot.parts:
        data, poses = part.obstacles, _poses(part)
        for i, row in enumerate(poses.tolist()):
            own = data.xy.reshape(-1, 2)[data.offsets[i] : data.offsets[i + 1]]
            at = Pose(*row).transform(own)
            reach = radius + part.inflation + (float(data.radius[i]) if len(data.radius) else 0.0)
            slack = TOLERANCE * (size + _size(own) + abs(row[0]) + abs(row[1]) + reach)
            beyond = np.maximum(at.min(axis=0) - high, low - at.max(axis=0)).clip(0.0)
            least_gap = float(np.hypot(*beyond)) - reach - slack
            if least_gap <= _beyond(margin, slack):
                yield _Obstacle(part, i, Pose(*row), least_gap, slack, takes_hull)


def _beyond(limit: float, slack: float) -> float:
    """Return a limit [m] with the tolerance of an early verdict added."""
    return limit * (1.0 + TOLERANCE) + slack


def _poses(part: Placed) -> Floats:
    """Return the pose of each obstacle in the check frame (n, 3), as the scene has it."""
    own = part.obstacles.poses
    if len(own):
        return part.pose.compose(own.reshape(-1, 3))
    return np.tile(np.asarray(part.pose, dtype=np.float64), (len(part.obstacles), 1))


def _size(points: Floats) -> float:
    return 2.0 * float(np.abs(points).max())


# ---- whether two bodies meet, in integers: every double is one on a grid that is fine enough


def _within(a: _Body, b: _Body, limit: float) -> bool:
    """Tell whether two bodies are at most `limit` [m] apart.

    The cosine and sine of a yaw are known to `BITS` places. The bodies are taken to be nearer by
    as much as that may put them off.
    """
    reach = a.radius + b.radius + Fraction(limit)
    numbers: list[float | Fraction] = [*a.pose[:2], *b.pose[:2], reach]
    for ring in (a.ring, b.ring):
        numbers += ring.ravel().tolist()
    places = _places(numbers)
    one, one_error = _on_grid(a, places)
    other, other_error = _on_grid(b, places)
    return _touch(one, other, _steps(reach, places + BITS) + one_error + other_error)


def _places(numbers: Iterable[float | Fraction]) -> int:
    """Return the most binary places that any of these numbers has."""
    return max(number.as_integer_ratio()[1].bit_length() for number in numbers) - 1


def _steps(number: float | Fraction, places: int) -> int:
    above, below = number.as_integer_ratio()
    return (above << places) // below


def _on_grid(body: _Body, places: int) -> tuple[list[Point], int]:
    """Return the placed vertices in steps of 2**-(places + BITS), and their error in steps."""
    c, s = _turn(body.pose.yaw)
    x, y = (_steps(value, places + BITS) for value in body.pose[:2])
    ring = [(_steps(u, places), _steps(v, places)) for u, v in body.ring.tolist()]
    error = 4 * max(abs(u) + abs(v) for u, v in ring) if body.pose.yaw else 0
    return [(c * u - s * v + x, s * u + c * v + y) for u, v in ring], error


def _turn(yaw: float) -> tuple[int, int]:
    """Return cosine and sine times 2**BITS, less than 2 off; exact where the yaw is 0.

    The power series of a part of the angle gives a complex number, which is squared until it is
    that of the whole angle. A squaring doubles the error, so each costs one of the spare places.
    """
    halvings = max(0, frexp(yaw)[1])
    places = BITS + halvings + 40
    angle = _steps(abs(yaw), places) >> halvings
    sums, term, n = [0, 0, 0, 0], 1 << places, 0
    while term:
        sums[n % 4] += term
        n += 1
        term = (term * angle >> places) // n
    c, s = sums[0] - sums[2], sums[1] - sums[3]
    for _ in range(halvings):
        c, s = (c * c - s * s) >> places, (2 * c * s) >> places
    spare = places - BITS
    return c >> spare, (s if yaw > 0.0 else -s) >> spare


def _hull(points: Floats) -> Floats:
    """Return the convex hull of points (n, 2), by Andrew's chain (1979)."""
    rows = points.tolist()
    places = _places(value for row in rows for value in row)
    row_at = {(_steps(x, places), _steps(y, places)): [x, y] for x, y in rows}
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
    """Tell whether two filled rings are at most `reach` steps apart."""
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
    """Return a number > 0 where r lies left of the line from p to q, < 0 right, 0 on it."""
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def _pass(p: Point, q: Point, s: Point, t: Point) -> bool:
    """Tell whether the ends of each segment lie strictly on both sides of the other."""
    return _side(p, q, s) * _side(p, q, t) < 0 and _side(s, t, p) * _side(s, t, q) < 0


def _is_near(p: Point, s: Point, t: Point, reach: int) -> bool:
    """Tell whether a point is at most `reach` from a segment."""
    ux, uy, vx, vy = t[0] - s[0], t[1] - s[1], p[0] - s[0], p[1] - s[1]
    along, length = ux * vx + uy * vy, ux * ux + uy * uy
    if along <= 0:
        return vx * vx + vy * vy <= reach * reach
    if along >= length:
        return (vx - ux) ** 2 + (vy - uy) ** 2 <= reach * reach
    return (ux * vy - uy * vx) ** 2 <= reach * reach * length


def _surrounds(ring: list[Point], p: Point) -> bool:
    """Tell whether a point that is not on a ring lies in it, by the parity of crossings."""
    inside = False
    for s, t in _edges(ring):
        if (s[1] > p[1]) != (t[1] > p[1]):
            inside ^= (_side(s, t, p) > 0) == (t[1] > s[1])
    return inside
