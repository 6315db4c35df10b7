# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of shapes in notebooks, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["picture"]

_SIZE = 240.0  # px, of the longer side
_PAD = 12.0  # px
_LEAST = 120.0, 24.0  # px, width and height without the pad
_DOT = 1.5  # px, least radius of a point


def picture(
    parts: Sequence[NDArray[np.float64]],
    radii: Sequence[float],
    bounds: tuple[float, float, float, float],
    title: str,
) -> str:
    """Return a picture of the union of convex parts; x points to the right and y up.

    The origin of the frame is marked by a cross, if it is inside the picture. Below the shape is
    its size.

    Parameters
    ----------
    parts : sequence of ndarray, shape (n, 2)
        Vertices of each part, counter-clockwise [m].
    radii : sequence of float
        Radius of each part [m].
    bounds : tuple of 4 float
        Least x and y, largest x and y of the shape, with the radii [m].
    title : str
        Text of the tooltip.
    """
    low, high = np.array(bounds[:2]), np.array(bounds[2:])
    span = high - low
    scale = _SIZE / max(float(span.max()), 1e-30)  # px/m
    box = np.maximum(span * scale, _LEAST)
    middle = low + 0.5 * span
    centre = 0.5 * box + _PAD
    width, height = box + 2.0 * _PAD

    def pixels(points: NDArray[np.float64]) -> NDArray[np.float64]:
        placed: NDArray[np.float64] = centre + (points - middle) * scale * [1.0, -1.0]
        return placed

    path = " ".join(
        _outline(pixels(part), radius * scale) for part, radius in zip(parts, radii, strict=True)
    )
    # The wider stroke is seen only outside of the fill, so parts have no seams between them.
    shape = f'<path d="{path}" stroke-linejoin="round" stroke-linecap="round"'
    x, y = pixels(np.zeros(2))
    cross = ""
    if 0.0 <= x <= width and 0.0 <= y <= height:
        cross = f'<path d="M{x - 5:.1f} {y:.1f}h10M{x:.1f} {y - 5:.1f}v10" stroke="#d55e00"/>'
    text = f"{span[0]:.4g} m x {span[1]:.4g} m"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height + 18:.0f}" '
        f'viewBox="0 0 {width:.2f} {height + 18:.2f}"><title>{title}</title>'
        f'{shape} fill="#0072b2" stroke="#0072b2" stroke-width="3"/>'
        f'{shape} fill="#a6cee3" stroke="#a6cee3" stroke-width="0.6"/>{cross}'
        f'<text x="{width / 2:.1f}" y="{height + 12:.1f}" text-anchor="middle" fill="#7a7a7a" '
        f'font-family="sans-serif" font-size="12">{text}</text></svg>'
    )


def _outline(points: NDArray[np.float64], radius: float) -> str:
    """Return a path around a convex polygon with a radius, clockwise on the screen's y axis."""
    if len(points) == 1:
        (x, y), r = points[0], max(radius, _DOT)
        half = f"a{r:.2f} {r:.2f} 0 1 0"
        return f"M{x - r:.2f} {y:.2f}{half} {2 * r:.2f} 0{half} {-2 * r:.2f} 0Z"
    if radius < 0.005:
        return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in points) + "Z"
    edges = np.roll(points, -1, axis=0) - points
    lengths = np.hypot(*edges.T)
    kept = lengths > 0.0
    points, edges = points[kept], edges[kept]
    out = radius / lengths[kept, None] * np.column_stack([-edges[:, 1], edges[:, 0]])
    starts, ends = points + out, points + edges + out
    steps = [
        f"A{radius:.2f} {radius:.2f} 0 0 0 {x:.2f} {y:.2f}L{u:.2f} {v:.2f}"
        for (x, y), (u, v) in zip(starts, ends, strict=True)
    ]
    return f"M{ends[-1][0]:.2f} {ends[-1][1]:.2f}{''.join(steps)}Z"
