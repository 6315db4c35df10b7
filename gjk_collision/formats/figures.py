# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What all figures share: their colours, and the outlines of placed and rounded polygons."""

from __future__ import annotations

from math import cos, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..verdict import Verdict

__all__: list[str] = []

# Colours of Okabe and Ito, which colour-blind people can distinguish too.
ORANGE, GREY = "#d55e00", "#7a7a7a"
VERDICT_COLOURS = {
    Verdict.UNKNOWN: GREY,
    Verdict.FREE: "#009e73",
    Verdict.COLLISION: ORANGE,
    Verdict.MARGIN: "#e69f00",
}
VEHICLE, VEHICLE_AREA = "#0072b2", "#dcecf7"  # also of its path and its region
OBSTACLE, OBSTACLE_AREA = "#4d4d4d", "#c8c8c8"
SEEN, SEEN_AREA = "#d8c878", "#fdf8e1"

ARC_STEP = np.pi / 24  # rad; a rounded corner is drawn as a polygon with this step


def rgb(colour: str) -> tuple[float, float, float]:
    """Return red, green and blue in [0, 1] of a colour ``#rrggbb``."""
    red, green, blue = bytes.fromhex(colour[1:])
    return red / 255, green / 255, blue / 255


def place(points: ArrayLike, pose: ArrayLike) -> NDArray[np.float64]:
    """Transform points (n, 2) [m] from a frame at `pose` to the frame in which `pose` is given.

    `pose` is x, y, yaw [m, m, rad]. The result has the shape (n, 2) [m].
    """
    x, y, yaw = np.asarray(pose, np.float64)
    c, s = cos(yaw), sin(yaw)
    placed: NDArray[np.float64] = np.asarray(points, np.float64) @ [[c, s], [-s, c]] + [x, y]
    return placed


def outline(points: ArrayLike, radius: float = 0.0, step: float = ARC_STEP) -> NDArray[np.float64]:
    """Return the outline of a convex polygon that is grown by a radius.

    Parameters
    ----------
    points : array_like, shape (n, 2)
        Vertices, counter-clockwise [m]. One vertex gives a circle, two vertices a capsule.
    radius : float
        Radius [m]. The arcs at the corners are approximated by chords.
    step : float
        Largest angle of a chord [rad].

    Returns
    -------
    ndarray, shape (m, 2)
        Vertices, counter-clockwise [m]. The first vertex is not repeated at the end.
    """
    points = np.asarray(points, np.float64)
    if radius == 0.0:
        return points
    if len(points) == 1:
        begin, turn = np.zeros(1), np.full(1, 2 * np.pi)
    else:
        # The arc at a corner begins at the outward normal of the edge before it, and ends at that
        # of the edge after it.
        edge = np.roll(points, -1, axis=0) - points
        normal = np.arctan2(-edge[:, 0], edge[:, 1])
        begin = np.roll(normal, 1)
        turn = (normal - begin) % (2 * np.pi)
    arcs = []
    for corner, angle, swept in zip(points, begin, turn, strict=True):
        # Multiples of the step, so that arcs around the same corner of two parts coincide.
        grid = step * np.arange(np.ceil(angle / step), (angle + swept) / step)
        t = np.concatenate([[angle], grid[grid > angle], [angle + swept]])
        arcs.append(corner + radius * np.column_stack([np.cos(t), np.sin(t)]))
    return np.concatenate(arcs)


def rings(segments: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the closed lines (m, 2) [m] of the segments (n, 4) of a boundary."""
    following: dict[tuple[float, float], list[tuple[float, float]]] = {}
    for ax, ay, bx, by in segments.tolist():
        following.setdefault((ax, ay), []).append((bx, by))
    closed = []
    while following:
        # A boundary leaves each point as often as it arrives, so each walk ends where it began.
        ring = [next(iter(following))]
        while len(ring) == 1 or ring[-1] != ring[0]:
            ends = following[ring[-1]]
            ring.append(ends.pop())
            if not ends:
                del following[ring[-2]]
        closed.append(np.array(ring))
    return closed
