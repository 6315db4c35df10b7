# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense samples: shapely's polygons at poses, and poses on trajectories and arcs."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def outlines(points: Floats, poses: Floats) -> NDArray[np.object_]:
    """Return the point, line or polygon through points (n, 2) at each of the poses (..., 3)."""
    cos, sin = np.cos(poses[..., 2, None]), np.sin(poses[..., 2, None])
    x, y = points[:, 0], points[:, 1]
    turned = np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)
    at = turned + poses[..., None, :2]
    if len(points) == 1:
        return np.asarray(shapely.points(at[..., 0, :]))
    return np.asarray((shapely.linestrings if len(points) == 2 else shapely.polygons)(at))


def convex(rng: np.random.Generator) -> Floats:
    """Return a counter-clockwise convex polygon of up to 7 vertices; slender ones too."""
    points = rng.normal(size=(7, 2)) * [rng.choice([0.05, 1.0, 3.0]), 1.0]
    ring = shapely.MultiPoint(points).convex_hull
    return np.array(shapely.get_coordinates(shapely.orient_polygons(ring)))[:-1]


def at_times(poses: Floats, times: Floats, wanted: Floats) -> Floats:
    """Return poses (K, S, 3) of trajectories (K, T, 3) at the wanted times (K, S)."""
    segment = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    share = (wanted - times[segment]) / (times[segment + 1] - times[segment])
    begin = np.take_along_axis(poses, segment[..., None], axis=1)
    way = np.take_along_axis(poses, segment[..., None] + 1, axis=1) - begin
    way[..., 2] = np.remainder(way[..., 2] + np.pi, 2 * np.pi) - np.pi
    return begin + share[..., None] * way


def poses_along(starts: Floats, arcs: Floats, shares: Floats) -> Floats:
    """Return poses (K, m, S, 3) at shares (S,) of arcs (K, m, 2), from starts (K, 3)."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    at = starts
    found = []
    for curvature, length in arcs.transpose(1, 2, 0):
        turn = (curvature * length)[:, None] * shares
        headings = at[:, None, None, 2] + turn[..., None] * nodes
        moved = (length[:, None] * shares)[..., None] * weights
        x = at[:, None, 0] + (moved * np.cos(headings)).sum(axis=-1)
        y = at[:, None, 1] + (moved * np.sin(headings)).sum(axis=-1)
        found.append(np.stack([x, y, at[:, None, 2] + turn], axis=-1))
        at = found[-1][:, -1]
    return np.stack(found, axis=1)
