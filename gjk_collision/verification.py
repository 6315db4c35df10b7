# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A second opinion on a verdict, by brute force on the data as received.

It shares nothing with the kernel but the vehicle's parts: obstacles are taken as the rings they
came as, every edge is set against every edge, and what lies inside what is found by counting
crossings. Slow, and without exactness; it finds what is plainly wrong.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .frames import Pose
from .snapshot import Placed, Snapshot
from .verdict import Verdict

__all__ = ["objection"]

Floats = npt.NDArray[np.float64]

# Both opinions are rounded; nearer to the border than this, relative to the coordinates, either
# may be right.
TOLERANCE = 1e-9


def objection(snapshot: Snapshot, pose: Pose, verdict: Verdict, margin: float) -> str:
    """Say what is wrong with the verdict for one pose; empty where nothing is.

    Parameters
    ----------
    snapshot : Snapshot
        With a footprint.
    pose : Pose
        Of the base frame in the check frame.
    verdict : Verdict
        The kernel's, for obstacles that stand still. UNKNOWN is never wrong.
    margin : float
        That it was given [m].
    """
    if verdict is Verdict.UNKNOWN or snapshot.footprint is None:
        return ""
    shape = snapshot.footprint
    vehicle = [pose.transform(part) for part in shape.parts]
    gap, reach = np.inf, max(float(np.abs(part).max()) for part in vehicle)
    for ring, radius in _rings(snapshot.parts):
        reach = max(reach, float(np.abs(ring).max()))
        nearest = min(_distance(part, ring) for part in vehicle)
        gap = min(gap, nearest - radius - shape.radius)
    slack = TOLERANCE * (1.0 + reach)
    right = {
        Verdict.FREE: gap > margin - slack,
        Verdict.MARGIN: -slack < gap < margin + slack,
        Verdict.COLLISION: gap < slack,
    }[verdict]
    return "" if right else f"{verdict.name}, but by another method the gap is {gap:.9g} m"


def _rings(parts: tuple[Placed, ...]) -> Iterator[tuple[Floats, float]]:
    """Yield each obstacle's ring of vertices (n, 2) in the check frame, and its radius."""
    for part in parts:
        data = part.obstacles
        points = data.xy.reshape(-1, 2)
        for i in range(len(data)):
            ring = points[data.offsets[i] : data.offsets[i + 1]]
            if not (len(data.kinds) and data.kinds[i]):
                ring = _hull(ring)
            if len(data.poses):
                ring = Pose(*data.poses[3 * i : 3 * i + 3].tolist()).transform(ring)
            radius = float(data.radius[i]) if len(data.radius) else 0.0
            yield part.pose.transform(ring), radius + part.inflation


def _hull(points: Floats) -> Floats:
    """Return the convex hull (Andrew, 1979); points on its edges may stay."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))].tolist()
    chain: list[list[float]] = []
    for each in (order, order[::-1]):
        base = len(chain)
        for x, y in each:
            while len(chain) - base >= 2:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0.0:
                    break
                chain.pop()
            chain.append([x, y])
        if len(order) > 1:
            chain.pop()
    return np.array(chain or order)


def _distance(a: Floats, b: Floats) -> float:
    """Return the distance of two filled rings [m]; 0 where they overlap."""
    if _inside(a[0], b) or _inside(b[0], a):
        return 0.0
    a_end, b_end = np.roll(a, -1, axis=0), np.roll(b, -1, axis=0)
    if _cross(a, a_end, b, b_end):
        return 0.0
    return min(_to_segments(a, b, b_end), _to_segments(b, a, a_end))


def _to_segments(points: Floats, begin: Floats, end: Floats) -> float:
    """Return the smallest distance of points (n, 2) to segments (m, 2) each [m]."""
    along = end - begin
    length = (along**2).sum(axis=1)
    arm = points[:, None, :] - begin[None, :, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip((arm * along).sum(axis=2) / length, 0.0, 1.0)
    share[:, length == 0.0] = 0.0
    off = arm - share[:, :, None] * along
    return float(np.sqrt((off**2).sum(axis=2).min()))


def _cross(a: Floats, a_end: Floats, b: Floats, b_end: Floats) -> bool:
    """Tell whether a segment of one ring passes through one of the other."""

    def side(p: Floats, q: Floats, r: Floats) -> Floats:
        u, v = (q - p)[:, None, :], r[None, :, :] - p[:, None, :]
        found: Floats = np.sign(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])
        return found

    apart_b = side(a, a_end, b) * side(a, a_end, b_end)
    apart_a = side(b, b_end, a) * side(b, b_end, a_end)
    return bool(((apart_b < 0) & (apart_a.T < 0)).any())


def _inside(point: Floats, ring: Floats) -> bool:
    """Tell whether a point lies in a filled ring, by the parity of crossings."""
    begin, end = ring, np.roll(ring, -1, axis=0)
    above = begin[:, 1] > point[1]
    spans = above != (end[:, 1] > point[1])
    along = end[spans] - begin[spans]
    x = begin[spans, 0] + (point[1] - begin[spans, 1]) / along[:, 1] * along[:, 0]
    return bool(np.count_nonzero(x > point[0]) % 2)
