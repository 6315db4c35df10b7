# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Closing of narrow gaps between outlines."""

from __future__ import annotations

from math import floor

import numpy as np
from numpy.typing import NDArray

__all__ = ["snapped"]

Rings = list[NDArray[np.float64]]


def snapped(rings: Rings, snap: float) -> Rings:
    """Return rings whose vertices and edges meet where they were at most `snap` apart.

    A vertex moves to the nearest of the vertices before it, in the order of the rings, that are at
    most `snap` [m] away and have not moved themselves. Then each edge is bent to the vertices that
    are at most `snap` away from it. No point of a ring moves by more than 2 `snap`.

    Parameters
    ----------
    rings : list of ndarray, each of shape (n, 2)
        Vertices [m].
    snap : float
        Distance [m], > 0.
    """
    ends = np.cumsum([len(ring) for ring in rings])[:-1]
    joined = np.split(_joined(np.concatenate(rings), snap), ends)
    vertices = np.unique(np.concatenate(joined), axis=0)  # sorted by x
    return [_bent(ring, vertices, snap) for ring in joined]


def _joined(vertices: NDArray[np.float64], snap: float) -> NDArray[np.float64]:
    kept: dict[tuple[int, int], list[tuple[float, float]]] = {}  # by cell of a grid
    result = vertices.copy()
    for i, (x, y) in enumerate(vertices.tolist()):
        column, row = floor(x / snap), floor(y / snap)
        near = [
            (u, v)
            for dx in (-1, 0, 1)
            for dy in (-1, 0, 1)
            for u, v in kept.get((column + dx, row + dy), ())
            if (u - x) ** 2 + (v - y) ** 2 <= snap * snap
        ]
        if near:
            result[i] = min(near, key=lambda p: (p[0] - x) ** 2 + (p[1] - y) ** 2)
        else:
            kept.setdefault((column, row), []).append((x, y))
    return result


def _bent(
    ring: NDArray[np.float64], vertices: NDArray[np.float64], snap: float
) -> NDArray[np.float64]:
    """Return a ring with the vertices that are near its edges, which are sorted by x."""
    bent: list[NDArray[np.float64]] = []
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        bent.append(a[None])
        along = b - a
        square = along @ along
        if square == 0.0:
            continue
        begin = np.searchsorted(vertices[:, 0], min(a[0], b[0]) - snap, side="left")
        end = np.searchsorted(vertices[:, 0], max(a[0], b[0]) + snap, side="right")
        near = vertices[begin:end]
        share = (near - a) @ along / square
        off = near - a - share[:, None] * along
        is_on = (share > 0.0) & (share < 1.0) & ((off * off).sum(axis=1) <= snap * snap)
        is_on &= (near != a).any(axis=1) & (near != b).any(axis=1)
        bent.append(near[is_on][np.argsort(share[is_on])])
    return np.concatenate(bent)
