# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures in notebooks, as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_DRAWN", "Layer", "picture"]

MOST_DRAWN = 20_000  # vertices of a picture
_SIZE, _LEAST, _PAD = 240.0, 30.0, 12.0  # px: the longer side, the least side, and around them
_ROUND = 'stroke-linejoin="round" stroke-linecap="round"'  # a point is a dot


class Layer(NamedTuple):
    """Lines (n, 2) [m] with one look; with a `fill`, they bound areas."""

    lines: Iterable[NDArray[np.float64]]
    stroke: str
    fill: str = "none"


def picture(layers: Iterable[Layer], title: str) -> str | None:
    """Return a picture of layers, the last one on top; x points to the right and y up.

    None if there is nothing to draw, or more than `MOST_DRAWN` vertices. `title` is the tooltip.
    """
    taken = [(list(islice(layer.lines, MOST_DRAWN + 1)), layer) for layer in layers]
    lines = [line for drawn, _ in taken for line in drawn]
    if not 0 < sum(map(len, lines)) <= MOST_DRAWN:
        return None
    points = np.concatenate(lines)
    low, high = points.min(axis=0), points.max(axis=0)
    scale = _SIZE / max(float((high - low).max()), 1e-30)  # px/m
    width, height = np.maximum((high - low) * scale, _LEAST) + 2.0 * _PAD
    body = ""
    for drawn, (_, stroke, fill) in taken:
        path = ""
        for line in drawn:
            pixels = (line - low - 0.5 * (high - low)) * scale * [1.0, -1.0]
            path += "M" + "L".join(f"{u:.2f} {v:.2f}" for u, v in pixels + [width / 2, height / 2])
            path += "Z" if fill != "none" else ""
        body += f'<path d="{path}" fill="{fill}" stroke="{stroke}" stroke-width="2" {_ROUND}/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">'
        f"<title>{escape(title)}</title>{body}</svg>"
    )
