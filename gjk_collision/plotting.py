# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Draw shapes and closest pairs on matplotlib axes.

Only this module imports matplotlib (``pip install matplotlib``). Lengths are in metres. Set the
aspect of the axes to equal; otherwise circles look like ellipses.
"""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
except ImportError as error:
    raise ImportError("gjk_collision.plotting needs matplotlib: pip install matplotlib") from error

from .verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from .geometry import Shape

__all__ = ["VERDICT_COLOURS", "draw_outline", "draw_pair", "draw_shape", "outline", "place"]

# Colours of Okabe and Ito, which colour-blind people can distinguish too.
VERDICT_COLOURS = {
    Verdict.UNKNOWN: "#7a7a7a",
    Verdict.FREE: "#009e73",
    Verdict.COLLISION: "#d55e00",
    Verdict.MARGIN: "#e69f00",
}

ARC_STEP = np.pi / 24  # rad; a rounded corner is drawn as a polygon with this step


def place(points: ArrayLike, pose: ArrayLike) -> NDArray[np.float64]:
    """Transform points (n, 2) [m] from a frame at `pose` to the frame in which `pose` is given.

    `pose` is x, y, yaw [m, m, rad]. The result has the shape (n, 2) [m].
    """
    x, y, yaw = np.asarray(pose, np.float64)
    c, s = cos(yaw), sin(yaw)
    placed: NDArray[np.float64] = np.asarray(points, np.float64) @ [[c, s], [-s, c]] + [x, y]
    return placed


def outline(points: ArrayLike, radius: float = 0.0) -> NDArray[np.float64]:
    """Return the outline of a convex polygon that is grown by a radius.

    Parameters
    ----------
    points : array_like, shape (n, 2)
        Vertices, counter-clockwise [m]. One vertex gives a circle, two vertices a capsule.
    radius : float
        Radius [m]. The arcs at the corners are approximated by chords.

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
        t = angle + np.linspace(0.0, swept, 2 + int(swept / ARC_STEP))
        arcs.append(corner + radius * np.column_stack([np.cos(t), np.sin(t)]))
    return np.concatenate(arcs)


def draw_outline(
    axes: Axes,
    points: ArrayLike,
    radius: float = 0.0,
    pose: ArrayLike = (0.0, 0.0, 0.0),
    **style: Any,
) -> PathPatch:
    """Draw one convex polygon with a radius [m] at a pose; `style` is passed to the patch."""
    vertices = place(outline(points, radius), pose)
    closed = np.concatenate([vertices, vertices[:1]])  # matplotlib ignores the last point
    patch = PathPatch(Path(closed, closed=True), **style)
    axes.add_patch(patch)
    return patch


def draw_shape(
    axes: Axes, shape: Shape, pose: ArrayLike = (0.0, 0.0, 0.0), **style: Any
) -> list[PathPatch]:
    """Draw every convex part of a shape at a pose; `style` is passed to the patches."""
    parts = zip(shape.parts, shape.radii, strict=True)
    return [draw_outline(axes, part, radius, pose, **style) for part, radius in parts]


def draw_pair(
    axes: Axes, point_a: ArrayLike, point_b: ArrayLike, distance: float, **style: Any
) -> None:
    """Draw a closest pair of points and the distance [m] between them.

    `style` is passed to the line.
    """
    pair = np.array([point_a, point_b], np.float64)
    style = {"color": "black", "linewidth": 1.2, "marker": "o", "markersize": 3.0, **style}
    axes.plot(pair[:, 0], pair[:, 1], **style)
    axes.annotate(
        f"{distance:.2f} m",
        pair.mean(axis=0),
        xytext=(6.0, 6.0),
        textcoords="offset points",
        color=style["color"],
    )
