# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures in notebooks, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .figures import GREY, ORANGE

__all__ = ["MOST_DRAWN", "Layer", "picture"]

MOST_DRAWN = 20_000  # vertices of a picture
_SIZE = 240.0  # px, of the longer side
_PAD = 12.0  # px
_LEAST = 120.0, 24.0  # px, width and height without the pad
_DOT = 3.0  # px, least width of a line


class Layer(NamedTuple):
    """Lines (n, 2) [m] with one look; without `fill` they are open, else they bound areas."""

    lines: Sequence[NDArray[np.float64]]
    stroke: str
    fill: str = ""


def picture(layers: Sequence[Layer], title: str) -> str | None:
    """Return a picture of layers, the last one on top; x points to the right and y up.

    None if there is nothing to draw, or more than `MOST_DRAWN` vertices. The origin of the frame
    is marked by a cross, if it is inside the picture. Below is the size. `title` is the tooltip.
    """
    lines = [line for layer in layers for line in layer.lines if len(line)]
    if not lines or sum(map(len, lines)) > MOST_DRAWN:
        return None
    points = np.concatenate(lines)
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    scale = _SIZE / max(float(span.max()), 1e-30)  # px/m
    box = np.maximum(span * scale, _LEAST)
    middle = low + 0.5 * span
    centre = 0.5 * box + _PAD
    width, height = box + 2.0 * _PAD

    def pixels(points: NDArray[np.float64]) -> NDArray[np.float64]:
        placed: NDArray[np.float64] = centre + (points - middle) * scale * [1.0, -1.0]
        return placed

    def drawn(layer: Layer) -> str:
        end = "Z" if layer.fill else ""
        corners = [pixels(line) for line in layer.lines if len(line)]
        path = " ".join("M" + "L".join(f"{u:.2f} {v:.2f}" for u, v in c) + end for c in corners)
        look = f'<path d="{path}" stroke-linejoin="round" stroke-linecap="round"'
        rim = f'{look} fill="none" stroke="{layer.stroke}" stroke-width="{_DOT:g}"/>'
        if not layer.fill:
            return rim
        # The wider stroke is seen only outside of the fill, so parts have no seams between them.
        return f'{rim}{look} fill="{layer.fill}" stroke="{layer.fill}" stroke-width="0.6"/>'

    x, y = pixels(np.zeros(2))
    cross = ""
    if 0.0 <= x <= width and 0.0 <= y <= height:
        cross = f'<path d="M{x - 5:.1f} {y:.1f}h10M{x:.1f} {y - 5:.1f}v10" stroke="{ORANGE}"/>'
    text = f"{span[0]:.4g} m x {span[1]:.4g} m"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height + 18:.0f}" '
        f'viewBox="0 0 {width:.2f} {height + 18:.2f}"><title>{escape(title)}</title>'
        f"{''.join(map(drawn, layers))}{cross}"
        f'<text x="{width / 2:.1f}" y="{height + 12:.1f}" text-anchor="middle" fill="{GREY}" '
        f'font-family="sans-serif" font-size="12">{text}</text></svg>'
    )
