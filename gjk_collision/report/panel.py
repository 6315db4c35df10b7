# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""One panel of a picture: the transform from metres to pixels, axes with units, a scale bar."""

from collections.abc import Iterable
from math import ceil, floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["HEIGHT", "WIDTH", "Panel"]

Points = npt.NDArray[np.float64]

WIDTH, HEIGHT = 340.0, 300.0  # pixels
MARGIN = 0.14

# Pixels between two ticks, at least. Coordinates with many digits need more.
BETWEEN = 48.0


class Panel:
    """Transform from metres to a panel, with y up and one scale. All given points are visible.

    Parameters
    ----------
    shown : iterable of (n, 2) float64
        The points [m].
    left : float
        Left edge of the panel [pixel].
    around : float
        Radius of the points [m].
    """

    def __init__(self, shown: Iterable[Points], left: float, around: float = 0.0) -> None:
        every = np.concatenate(list(shown))
        low, high = every.min(axis=0) - around, every.max(axis=0) + around
        extent = np.maximum(high - low, 1e-300)
        room = np.array([WIDTH, HEIGHT]) * (1.0 - 2.0 * MARGIN)
        self.scale = float((room / extent).min())
        self._left = left
        self._middle = 0.5 * (low + high)
        self._centre = np.array([left + 0.5 * WIDTH, 0.5 * HEIGHT])
        half = 0.5 * np.array([WIDTH, HEIGHT]) / self.scale
        x0, y0 = self._middle - half
        x1, y1 = self._middle + half
        self.corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])

    def at(self, point: Any) -> tuple[float, float]:
        """Return the pixel of a point [m]."""
        u, v = (np.asarray(point) - self._middle) * self.scale * (1.0, -1.0) + self._centre
        return round(float(u), 2), round(float(v), 2)

    def path(self, points: Any) -> str:
        """Return the pixels of points [m] as in the attribute ``points``."""
        return " ".join(f"{u:g},{v:g}" for u, v in map(self.at, points))

    def axes(self, name: str) -> list[str]:
        """Return the frame of the panel, its ticks and coordinates [m], and a scale bar.

        There are no ticks if the panel is smaller than the rounding errors of its coordinates.
        """
        left, right = self._left, self._left + WIDTH
        parts = [
            f'<rect class="axis" x="{left + 0.5:g}" y="0.5" width="{WIDTH - 1:g}" '
            f'height="{HEIGHT - 1:g}"/>',
            _text(left + 8, 14, f"{name}: x right, y up, in m", "start"),
        ]
        size = float(np.abs(self.corners).max())
        step = _step(BETWEEN / self.scale, size)
        if step < 1e-9 * size:
            return parts
        digits = max(0, -floor(log10(step)))
        (x0, y0), (x1, y1) = self.corners[0], self.corners[2]
        bar = round(step * self.scale, 2)
        for value in _ticks(x0, x1, step):
            u = self.at((value, y0))[0]
            parts.append(f'<path class="axis" d="M{u:g} {HEIGHT:g}v-5"/>')
            if left + 50 < u < right - bar - 24:
                parts.append(_text(u, HEIGHT - 8, f"{value:.{digits}f}", "middle"))
        for value in _ticks(y0, y1, step):
            v = self.at((x0, value))[1]
            parts.append(f'<path class="axis" d="M{left:g} {v:g}h5"/>')
            if 26 < v < HEIGHT - 20:
                parts.append(_text(left + 8, v + 4, f"{value:.{digits}f}", "start"))
        begin = right - 10 - bar
        parts.append(f'<path class="scale" d="M{begin:g} {HEIGHT - 14:g}v8m0 -4h{bar:g}m0 -4v8"/>')
        parts.append(_text(right - 10 - bar / 2, HEIGHT - 18, f"{step:g} m", "middle"))
        return parts


def _step(least: float, size: float) -> float:
    """Return 1, 2 or 5 times a power of 10, such that coordinates up to `size` have room."""
    for _ in range(2):
        unit = 10.0 ** floor(log10(least))
        step = next(k * unit for k in (1.0, 2.0, 5.0, 10.0) if k * unit >= least * (1 - 1e-9))
        characters = len(f"{size:.{max(0, -floor(log10(step)))}f}") + 1
        if characters * 7.0 <= BETWEEN:
            break
        least *= characters * 7.0 / BETWEEN
    return step


def _ticks(low: float, high: float, step: float) -> list[float]:
    return [k * step for k in range(ceil(low / step), floor(high / step) + 1)]


def _text(u: float, v: float, text: str, anchor: str) -> str:
    return f'<text class="tick" text-anchor="{anchor}" x="{u:g}" y="{v:g}">{text}</text>'
