# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of shapes in notebooks, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .figures import GREY, ORANGE, VEHICLE, VEHICLE_AREA, outline

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
        placed: NDArray[np.float64] = centre + points * scale * [1.0, -1.0]
        return placed

    def ring(part: NDArray[np.float64], radius: float) -> str:
        least = _DOT / scale if len(part) == 1 else 0.0
        corners = pixels(outline(part - middle, max(radius, least)))
        return "M" + "L".join(f"{u:.2f} {v:.2f}" for u, v in corners) + "Z"

    path = " ".join(map(ring, parts, radii))
    # The wider stroke is seen only outside of the fill, so parts have no seams between them.
    shape = f'<path d="{path}" stroke-linejoin="round" stroke-linecap="round"'
    x, y = pixels(-middle)
    cross = ""
    if 0.0 <= x <= width and 0.0 <= y <= height:
        cross = f'<path d="M{x - 5:.1f} {y:.1f}h10M{x:.1f} {y - 5:.1f}v10" stroke="{ORANGE}"/>'
    text = f"{span[0]:.4g} m x {span[1]:.4g} m"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height + 18:.0f}" '
        f'viewBox="0 0 {width:.2f} {height + 18:.2f}"><title>{title}</title>'
        f'{shape} fill="{VEHICLE}" stroke="{VEHICLE}" stroke-width="3"/>'
        f'{shape} fill="{VEHICLE_AREA}" stroke="{VEHICLE_AREA}" stroke-width="0.6"/>{cross}'
        f'<text x="{width / 2:.1f}" y="{height + 12:.1f}" text-anchor="middle" fill="{GREY}" '
        f'font-family="sans-serif" font-size="12">{text}</text></svg>'
    )
