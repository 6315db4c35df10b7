# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The boundary of a union of outlines without holes, in rational arithmetic.

The edges are split where they meet. A piece belongs to the boundary if exactly one of its sides
is inside. Most decisions are made in floating point with an error bound, and the others with
integers or fractions.

A crossing of two outlines inside a third one is left out: both sides of both edges are covered
there, so neither edge begins or ends to be boundary. Many outlines that all overlap have many
such crossings, and few others.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import hypot
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from ..verdict import Status

__all__ = ["boundary_of"]

Number: TypeAlias = int | Fraction
Point: TypeAlias = tuple[Number, Number]
"""Exact coordinates, in units of ``2**-_Edges.power`` m."""

_ROUNDING = 2.0**-52
_MOST = 2**20  # elements of a temporary array
_BATCH = 2**13  # crossings that are looked at together

MAX_MEETINGS = 50_000
"""Maximum number of times that edges of two rings cross, or touch inside of one of them."""


def boundary_of(
    outlines: list[NDArray[np.float64]],
    holes: list[NDArray[np.float64]],
    vertices: list[NDArray[np.int64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the boundary of the union of the outlines without the holes.

    Parameters
    ----------
    outlines, holes : lists of ndarray, each of shape (n, 2)
        Vertices [m], in either direction.
    vertices : list of ndarray
        For each outline, then for each hole: the indices of at least 3 of its vertices, of which
        no two that follow each other are equal. The others are left out.

    Returns
    -------
    segments : ndarray, shape (n, 4)
        x, y of both ends of each piece [m]. The interior is on the left.
    radii : ndarray, shape (n,)
        Distance [m] within which the true piece lies; 0: the piece is exact.

    Raises
    ------
    InputError
        DEGENERATE: an outline has no area. INVALID_INPUT: it crosses or touches itself.
        LIMIT_EXCEEDED: edges meet more than `MAX_MEETINGS` times.
    """
    edges = _Edges(outlines, holes, vertices)
    return _Pieces(edges, edges.splits()).of_boundary()


def _scaled(values: NDArray[np.float64]) -> tuple[list[int], int]:
    """Return integers n and k with ``values == n / 2**k``."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64).tolist()
    powers = np.where(values == 0.0, 0, exponents - 53).tolist()
    k = -min([0, *powers])
    return [n << (power + k) for n, power in zip(whole, powers, strict=True)], k


class _Edges:
    """All edges. Edge i leads from vertex i to vertex ``next[i]`` of the same ring."""

    def __init__(
        self,
        outlines: list[NDArray[np.float64]],
        holes: list[NDArray[np.float64]],
        vertices: list[NDArray[np.int64]],
    ) -> None:
        rings = [ring[kept] for ring, kept in zip([*outlines, *holes], vertices, strict=True)]
        self.vertex = np.concatenate(vertices)
        self.outlines = len(outlines)  # the first rings; the others are holes
        sizes = [len(ring) for ring in rings]
        self.first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.ring = np.repeat(np.arange(len(rings)), sizes)
        self.xy = np.concatenate(rings)
        numbers, self.power = _scaled(self.xy.ravel())
        self.exact: list[Point] = list(zip(numbers[::2], numbers[1::2], strict=True))
        self.next = np.arange(1, len(self.xy) + 1)
        self.next[self.first[1:] - 1] = self.first[:-1]
        self.end = self.xy[self.next]
        self.low = np.minimum(self.xy, self.end)
        self.high = np.maximum(self.xy, self.end)
        self.sign = [self._winding(r) for r in range(len(rings))]

    def _winding(self, r: int) -> int:
        """Return 1 if ring r is counter-clockwise, -1 if it is clockwise."""
        own = self.exact[self.first[r] : self.first[r + 1]]
        twice = sum(
            x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in zip(own, own[1:] + own[:1], strict=True)
        )
        if twice == 0:
            self._refuse_ring(r, "the outline has no area, or crosses itself", Status.DEGENERATE)
        return 1 if twice > 0 else -1

    def _refuse_ring(self, r: int, rule: str, status: Status = Status.INVALID_INPUT) -> None:
        is_hole = r >= self.outlines
        k = r - self.outlines if is_hole else r
        refuse("holes" if is_hole else "outlines", rule, index=k, status=status)

    def _refuse_contact(self, i: int, j: int) -> None:
        r = int(self.ring[i])
        one, other = sorted((int(self.vertex[i]), int(self.vertex[j])))
        rule = f"the edge from vertex {one} crosses or touches the edge from vertex {other}: "
        rule += "divide the outline there"
        self._refuse_ring(r, rule)

    def _close_pairs(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield pairs of edges (i, j) whose boxes overlap, in chunks."""
        order, counts = min((self._in_order(axis) for axis in (0, 1)), key=lambda a: a[1].sum())
        low, high = self.low[order], self.high[order]
        total = np.concatenate([[0], np.cumsum(counts)])
        begin = 0
        while begin < len(order):
            end = int(np.searchsorted(total, total[begin] + _MOST, side="right")) - 1
            end = min(max(end, begin + 1), len(order))
            i = np.repeat(np.arange(begin, end), counts[begin:end])
            j = np.arange(len(i)) - np.repeat(total[begin:end] - total[begin], counts[begin:end])
            j += i + 1
            near = ((low[i] <= high[j]) & (low[j] <= high[i])).all(axis=1)
            yield order[i[near]], order[j[near]]
            begin = end

    def _in_order(self, axis: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the edges in order along an axis, and how many after each one overlap it."""
        order = np.argsort(self.low[:, axis], kind="stable")
        low, high = self.low[order, axis], self.high[order, axis]
        ends = np.searchsorted(low, high, side="right")
        return order, ends - np.arange(len(order)) - 1

    def _sides(self, edge: NDArray[np.int64], vertex: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the signs of the orientation of each edge and vertex: 1 is on the left."""
        a, b, p = self.xy[edge], self.end[edge], self.xy[vertex]
        left = (b[:, 0] - a[:, 0]) * (p[:, 1] - a[:, 1])
        right = (b[:, 1] - a[:, 1]) * (p[:, 0] - a[:, 0])
        det = left - right
        # Shewchuk's error bound of the orientation test, larger than necessary
        bound = 4.0 * _ROUNDING * (np.abs(left) + np.abs(right)) + 1e-290
        sign = np.where(det > 0.0, 1, -1).astype(np.int8)
        unsure = np.abs(det) <= bound
        unsure &= ~(is_end := (p == a).all(axis=1) | (p == b).all(axis=1))
        sign[is_end] = 0
        for k in np.flatnonzero(unsure).tolist():
            sign[k] = _orientation(
                self.exact[edge[k]], self.exact[self.next[edge[k]]], self.exact[vertex[k]]
            )
        return sign

    def splits(self) -> dict[int, set[Point]]:
        """Return the points in which each edge meets others, except its ends.

        Checks that the rings are simple.
        """
        found: dict[int, set[Point]] = {}
        kept = [np.empty((0, 2), dtype=np.int64)]  # pairs of edges that cross
        fresh = list(kept)
        touches = 0
        for i, j in self._close_pairs():
            on_i = self._sides(i, j), self._sides(i, self.next[j])
            on_j = self._sides(j, i), self._sides(j, self.next[i])
            meets = (on_i[0] * on_i[1] <= 0) & (on_j[0] * on_j[1] <= 0)
            has_zero = (np.array([*on_i, *on_j]) == 0).any(axis=0)
            is_own = self.ring[i] == self.ring[j]
            cross = meets & ~has_zero & ~is_own
            fresh.append(np.column_stack([i[cross], j[cross]]))
            # Edges of two rings that only have an end in common are not split.
            meets &= is_own | (has_zero & self._touch_inside(i, j, on_i, on_j))
            touches += int((meets & ~is_own).sum())
            waiting = np.concatenate(fresh)
            for k in range(0, len(waiting) - _BATCH, _BATCH):  # an error comes before the rest
                kept.append(self._exposed(waiting[k : k + _BATCH]))
                self._check_count(touches + sum(map(len, kept)))
                fresh = [waiting[k + _BATCH :]]
            self._check_count(touches + sum(map(len, kept)))
            for k in np.flatnonzero(meets).tolist():
                signs = int(on_i[0][k]), int(on_i[1][k]), int(on_j[0][k]), int(on_j[1][k])
                self._split(int(i[k]), int(j[k]), signs, found)
        kept.append(self._exposed(np.concatenate([*kept[:1], *fresh])))
        self._check_count(touches + sum(map(len, kept)))
        for one, other in np.concatenate(kept).tolist():
            point = _crossing(
                *(self.exact[k] for k in (one, self.next[one], other, self.next[other]))
            )
            found.setdefault(one, set()).add(point)
            found.setdefault(other, set()).add(point)
        return found

    def _check_count(self, count: int) -> None:
        if count > MAX_MEETINGS:
            rule = f"edges of outlines and holes cross or touch more than {MAX_MEETINGS} times, "
            rule += "inside of no third outline: divide the region, or leave out details"
            refuse("outlines", rule, status=Status.LIMIT_EXCEEDED)

    def _touch_inside(
        self,
        i: NDArray[np.int64],
        j: NDArray[np.int64],
        on_i: tuple[NDArray[np.int8], NDArray[np.int8]],
        on_j: tuple[NDArray[np.int8], NDArray[np.int8]],
    ) -> NDArray[np.bool_]:
        """Return whether an end of one edge is on the line of the other one, but not its end."""
        touch = np.zeros(len(i), dtype=bool)
        for edge, other, signs in ((i, j, on_i), (j, i, on_j)):
            for vertex, sign in zip((other, self.next[other]), signs, strict=True):
                p = self.xy[vertex]
                is_end = (p == self.xy[edge]).all(axis=1) | (p == self.end[edge]).all(axis=1)
                touch |= (sign == 0) & ~is_end
        return touch

    def _exposed(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the crossings (n, 2) of edges that are not surely inside of a third outline.

        Crossings of the edges of holes, or near these edges, are returned too: there, an outline
        ends at a hole, even if it is inside of another outline.
        """
        is_outline = (self.ring[pairs] < self.outlines).all(axis=1)
        exposed, pairs = pairs[~is_outline], pairs[is_outline]
        points, error = self._rough_crossings(pairs)
        is_hidden = np.zeros(len(pairs), dtype=bool)
        left = np.flatnonzero(np.isfinite(error))
        for r in np.argsort(-self._box_areas(), kind="stable").tolist():
            near = self.near(r, points[left], error[left])
            near &= (self.ring[pairs[left]] != r).all(axis=1)
            some = left[near]
            odd, (unsure, _) = _crossed(*self.ring_edges(r), points[some], error[some])
            odd[unsure] = False
            is_hidden[some[odd]] = True
            left = left[~is_hidden[left]]
        hidden = np.flatnonzero(is_hidden)
        for r in range(self.outlines, len(self.sign)):
            some = hidden[self.near(r, points[hidden], error[hidden])]
            _, (unsure, _) = _crossed(*self.ring_edges(r), points[some], error[some])
            is_hidden[some[unsure]] = False
        return np.concatenate([exposed, pairs[~is_hidden]])

    def ring_edges(self, r: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both ends of the edges of ring r."""
        own = slice(int(self.first[r]), int(self.first[r + 1]))
        return self.xy[own], self.end[own]

    def near(
        self, r: int, points: NDArray[np.float64], error: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return whether each point, which has an error, can be in the box of ring r."""
        own = slice(int(self.first[r]), int(self.first[r + 1]))
        low, high = self.low[own].min(axis=0), self.high[own].max(axis=0)
        near: NDArray[np.bool_] = (
            (low - error[:, None] <= points) & (points <= high + error[:, None])
        ).all(axis=1)
        return near

    def _box_areas(self) -> NDArray[np.float64]:
        """Return the areas of the boxes of the outlines, without the holes [m2]."""
        begins = self.first[: self.outlines]
        ends = int(self.first[self.outlines])
        low = np.minimum.reduceat(self.xy[:ends], begins, axis=0)
        high = np.maximum.reduceat(self.xy[:ends], begins, axis=0)
        areas: NDArray[np.float64] = (high - low).prod(axis=1)
        return areas

    def _rough_crossings(
        self, pairs: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return where edges cross (n, 2), and a bound of the error of each coordinate (n,) [m].

        Notes
        -----
        The crossing is a + s (b - a) with s = n / d, where n and d are determinants. The errors e
        of n and d, as in `_sides`, change s by at most (e_n + |s| e_d) / (|d| - e_d). If the bound
        is not small, it is infinite here.
        """
        a, b, c, d = (each[pairs[:, k]] for k in (0, 1) for each in (self.xy, self.end))
        terms = [
            ((c - a)[:, 0] * (d - c)[:, 1], (c - a)[:, 1] * (d - c)[:, 0]),
            ((b - a)[:, 0] * (d - c)[:, 1], (b - a)[:, 1] * (d - c)[:, 0]),
        ]
        (top, top_error), (bottom, bottom_error) = (
            (one - other, 4.0 * _ROUNDING * (np.abs(one) + np.abs(other)) + 1e-290)
            for one, other in terms
        )
        least = np.abs(bottom) - bottom_error
        is_known = least > 0.0
        share = np.where(is_known, top / np.where(is_known, bottom, 1.0), 0.0)
        error = (top_error + np.abs(share) * bottom_error) / np.where(is_known, least, 1.0)
        size = np.abs(np.concatenate([a, b], axis=1)).max(axis=1)
        length = np.abs(b - a).max(axis=1)
        error = length * error * 1.25 + 16.0 * _ROUNDING * size + 1e-300
        is_known &= error <= 2.0**-30 * size
        return a + share[:, None] * (b - a), np.where(is_known, error, np.inf)

    def _split(
        self, i: int, j: int, signs: tuple[int, int, int, int], crossings: dict[int, set[Point]]
    ) -> None:
        next_i, next_j = int(self.next[i]), int(self.next[j])
        ends = (i, j), (i, next_j), (j, i), (j, next_i)  # an edge, and a vertex of the other
        is_own = self.ring[i] == self.ring[j]
        touching = [
            (edge, vertex)
            for (edge, vertex), sign in zip(ends, signs, strict=True)
            if sign == 0 and self._is_in_box(edge, vertex)
        ]
        if is_own:
            # Neighbours share one vertex, which is an end of both.
            shared = {i, next_i} & {j, next_j}
            if any(vertex not in shared for _, vertex in touching) or 0 not in signs:
                self._refuse_contact(i, j)
            return
        for edge, vertex in touching:
            point = self.exact[vertex]
            if point not in (self.exact[edge], self.exact[self.next[edge]]):
                crossings.setdefault(edge, set()).add(point)

    def _is_in_box(self, edge: int, vertex: int) -> bool:
        a, b, p = self.exact[edge], self.exact[self.next[edge]], self.exact[vertex]
        return all(min(u, v) <= w <= max(u, v) for u, v, w in zip(a, b, p, strict=True))


def _orientation(a: Point, b: Point, p: Point) -> int:
    cross = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
    return (cross > 0) - (cross < 0)


def _crossing(a: Point, b: Point, c: Point, d: Point) -> Point:
    """Return the point in which the lines through a, b and through c, d cross."""
    along = b[0] - a[0], b[1] - a[1]
    other = d[0] - c[0], d[1] - c[1]
    top = (c[0] - a[0]) * other[1] - (c[1] - a[1]) * other[0]
    bottom = along[0] * other[1] - along[1] * other[0]
    x, y = (a[k] * bottom + top * along[k] for k in (0, 1))
    return Fraction(x, bottom), Fraction(y, bottom)


class _Pieces:
    """The edges, split where they meet, and which of their sides are inside."""

    def __init__(self, edges: _Edges, splits: dict[int, set[Point]]) -> None:
        self.edges = edges
        self.ends: list[tuple[Point, Point]] = []
        rings: list[int] = []
        for i, (ring, after) in enumerate(
            zip(edges.ring.tolist(), edges.next.tolist(), strict=True)
        ):
            a, b = edges.exact[i], edges.exact[after]
            if edges.sign[ring] < 0:
                a, b = b, a
            points = [a, *sorted(splits.get(i, ()), reverse=b < a), b]
            self.ends.extend(pairwise(points))
            rings.extend([ring] * (len(points) - 1))
        self.ring = np.array(rings)
        self.xy = np.array([self._rounded(a) + self._rounded(b) for a, b in self.ends])
        self.middle = 0.5 * self.xy[:, :2] + 0.5 * self.xy[:, 2:]

    def _rounded(self, point: Point) -> tuple[float, float]:
        one = 1 << self.edges.power
        return float(point[0] / one), float(point[1] / one)

    def of_boundary(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the result of `boundary_of`."""
        # by piece: whether its left and its right side are in an outline, and in a hole
        covered = np.zeros((2, len(self.ends), 2), dtype=bool)
        for r in range(len(self.edges.sign)):
            self._cover(r, covered[int(r >= self.edges.outlines)])
        inside = covered[0] & ~covered[1]
        kept: dict[tuple[Point, Point], int] = {}
        for k in np.flatnonzero(inside[:, 0] != inside[:, 1]).tolist():
            a, b = self.ends[k]
            kept.setdefault((a, b) if inside[k, 0] else (b, a), k)
        segments = np.empty((len(kept), 4))
        radii = np.zeros(len(kept))
        for row, (a, b) in enumerate(kept):
            segments[row] = self._rounded(a) + self._rounded(b)
            radii[row] = max(self._error(a), self._error(b))
        return segments, radii

    def _error(self, point: Point) -> float:
        """Return an upper bound of the rounding error of a point [m]."""
        if isinstance(point[0], int) and isinstance(point[1], int):
            return 0.0
        one = 1 << self.edges.power
        off = [
            float(abs(Fraction(rounded) - Fraction(value, one)))
            for rounded, value in zip(self._rounded(point), point, strict=True)
        ]
        return hypot(*off) * (1.0 + 2.0**-40)

    def _cover(self, r: int, covered: NDArray[np.bool_]) -> None:
        """Set the sides of the pieces that ring r covers."""
        edges = self.edges
        covered[self.ring == r, 0] = True
        begin = int(edges.first[r])
        a, b = edges.ring_edges(r)
        # The rounding of the ends of a piece moves its middle, also if they are far from the ring.
        size = np.maximum(np.abs(self.xy).max(axis=1), np.abs(a).max())
        error = 8.0 * _ROUNDING * size + 1e-300
        chosen = np.flatnonzero(edges.near(r, self.middle, error) & (self.ring != r))
        odd, unsure = _crossed(a, b, self.middle[chosen], error[chosen])
        exact, after, winding = edges.exact, edges.next, edges.sign[r]
        on_edge: dict[int, bool] = {}
        for row, column in zip(*(index.tolist() for index in unsure), strict=True):
            p, q = self.ends[chosen[row]]
            start, end = exact[begin + column], exact[after[begin + column]]
            side = _side_of_middle(p, q, start, end)
            if side == 0 and _is_between(p, q, start, end):
                along = (q[0] - p[0]) * (end[0] - start[0]) + (q[1] - p[1]) * (end[1] - start[1])
                on_edge[row] = (along > 0) == (winding > 0)
            goes_up = 2 * start[1] <= p[1] + q[1]
            if goes_up != (2 * end[1] <= p[1] + q[1]) and side != 0:
                odd[row] ^= (side > 0) == goes_up
        odd[list(on_edge)] = False
        covered[chosen[odd]] = True
        for row, same in on_edge.items():
            covered[chosen[row], 0 if same else 1] = True


def _crossed(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    points: NDArray[np.float64],
    error: NDArray[np.float64],
) -> tuple[NDArray[np.bool_], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return whether the ray from each point to the right crosses an odd number of edges a-b.

    Crossings that the `error` (n,) [m] of the points leaves undecided do not count. They are
    returned too, as points and edges.
    """
    odd = np.zeros(len(points), dtype=bool)
    unsure = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    order = np.argsort(points[:, 1], kind="stable")
    y = points[order, 1]
    most = float(error.max(initial=0.0))
    below, above = np.minimum(a[:, 1], b[:, 1]) - most, np.maximum(a[:, 1], b[:, 1]) + most
    first = np.searchsorted(y, below, side="left")
    counts = np.searchsorted(y, above, side="right") - first
    total = np.concatenate([[0], np.cumsum(counts)])
    begin = 0
    while begin < len(a):
        end = int(np.searchsorted(total, total[begin] + _MOST, side="right")) - 1
        end = min(max(end, begin + 1), len(a))
        edge = np.repeat(np.arange(begin, end), counts[begin:end])
        at = np.arange(len(edge)) - np.repeat(
            total[begin:end] - total[begin] - first[begin:end], counts[begin:end]
        )
        begin = end
        point = order[at]
        may_cross = np.maximum(a[edge, 0], b[edge, 0]) >= points[point, 0] - error[point]
        edge, point = edge[may_cross], point[may_cross]
        start, stop, p, e = a[edge], b[edge], points[point], error[point]
        rises = start[:, 1] <= p[:, 1]
        crosses = rises != (stop[:, 1] <= p[:, 1])
        left = (stop[:, 0] - start[:, 0]) * (p[:, 1] - start[:, 1])
        right = (stop[:, 1] - start[:, 1]) * (p[:, 0] - start[:, 0])
        det = left - right
        bound = 4.0 * _ROUNDING * (np.abs(left) + np.abs(right))
        bound += 2.0 * e * np.abs(stop - start).sum(axis=1)
        near_end = (np.abs(start[:, 1] - p[:, 1]) <= e) | (np.abs(stop[:, 1] - p[:, 1]) <= e)
        is_unsure = near_end | (crosses & (np.abs(det) <= bound))
        hits = point[crosses & ((det > 0.0) == rises) & ~is_unsure]
        odd ^= (np.bincount(hits, minlength=len(points)) & 1).astype(bool)
        unsure.append((point[is_unsure], edge[is_unsure]))
    return odd, (np.concatenate([p for p, _ in unsure]), np.concatenate([e for _, e in unsure]))


def _side_of_middle(p: Point, q: Point, a: Point, b: Point) -> int:
    """Return 1 if the middle of p and q is on the left of the line from a to b, and 0 on it."""
    x, y = p[0] + q[0] - 2 * a[0], p[1] + q[1] - 2 * a[1]
    cross = (b[0] - a[0]) * y - (b[1] - a[1]) * x
    return (cross > 0) - (cross < 0)


def _is_between(p: Point, q: Point, a: Point, b: Point) -> bool:
    """Return whether the middle of p and q is in the box of a and b."""
    return all(
        2 * min(start, end) <= one + other <= 2 * max(start, end)
        for one, other, start, end in zip(p, q, a, b, strict=True)
    )
