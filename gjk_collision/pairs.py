# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries on many pairs of shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .arguments import as_floats, as_integers, as_number, instance
from .results import PairsResult
from .scene import Mode, Scene, mode_number, thread_count

__all__ = ["check_pairs", "collide_many", "distance_many"]


def check_pairs(
    a: Scene,
    b: Scene,
    pairs: ArrayLike | None = None,
    *,
    margin: float = 0.0,
    mode: Mode = "collide",
    threads: int = 1,
) -> PairsResult:
    """Check pairs of obstacles, one from each of two scenes, at their poses.

    Parameters
    ----------
    a, b : Scene
        The scenes, in one frame. The motion and the margins of the obstacles are
        not used.
    pairs : array_like of int, shape (n, 2), optional
        Index in a and index in b of each pair. Default: all pairs, with a in the outer loop.
    margin : float
        Required distance [m], >= 0. If 0 < distance <= margin, the verdict is MARGIN, which is not
        free.
    mode : {'collide', 'distance', 'witness'}
        'collide': compute verdicts only. 'distance': also distances and lower bounds. 'witness':
        also closest points and directions. The verdicts are the same in all modes.
    threads : int
        Number of threads, at most 256. 0: one per processor. The result is the same for any
        number.

    Returns
    -------
    PairsResult

    Raises
    ------
    InputError
        INVALID_INPUT, for example an index out of range; NON_FINITE, COORD_RANGE, ARRAY_MISMATCH.
    """
    verdicts, statuses, distances, lower_bounds, witnesses, directions = _core.check_pairs(
        instance(a, Scene, "a")._core,
        instance(b, Scene, "b")._core,
        _index_pairs(pairs),
        as_number(margin, "margin"),
        mode_number(mode),
        thread_count(threads),
    )
    return PairsResult(
        verdicts=verdicts,
        statuses=statuses,
        distances=distances,
        lower_bounds=lower_bounds,
        witnesses=witnesses,
        directions=directions,
    )


def collide_many(
    a_offsets: ArrayLike,
    a_xy: ArrayLike,
    b_offsets: ArrayLike,
    b_xy: ArrayLike,
    pairs: ArrayLike | None = None,
    margin: float = 0.0,
) -> NDArray[np.bool_]:
    """Return for many pairs of convex shapes whether they collide, or are too near.

    Each shape is the convex hull of its points, as `Shape.hull`. It is fastest if they are the
    vertices of a convex polygon in counter-clockwise order. The answers are those of `collide`.
    `check_pairs` is faster for shapes that take part in many pairs.

    Parameters
    ----------
    a_offsets, b_offsets : array_like of int, shape (n + 1,)
        Shape i of a has the points with the indices a_offsets[i] to a_offsets[i + 1] - 1.
    a_xy, b_xy : array_like, shape (2 m,) or (m, 2)
        x, y of all points [m].
    pairs : array_like of int, shape (k, 2), optional
        Index of a shape of a and of a shape of b for each pair. Default: the shapes of a and of b
        with the same index, of which there must be equally many.
    margin : float
        Required distance [m], >= 0. A pair that is not farther apart than this counts as a
        collision.

    Returns
    -------
    ndarray of bool, shape (k,)

    Raises
    ------
    InputError
        ARRAY_MISMATCH, TOO_FEW_POINTS, NON_FINITE, COORD_RANGE, INVALID_INPUT: names the argument
        and the index.
    """
    return _core.collide_many(
        *_flat(a_offsets, a_xy, "a"),
        *_flat(b_offsets, b_xy, "b"),
        _index_pairs(pairs),
        as_number(margin, "margin"),
    )


def distance_many(
    a_offsets: ArrayLike,
    a_xy: ArrayLike,
    b_offsets: ArrayLike,
    b_xy: ArrayLike,
    pairs: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the signed distances of many pairs of convex shapes [m].

    They are those of `distance`, to within 1e-13 of the distance.

    Parameters and errors are as for `collide_many`.

    Returns
    -------
    ndarray of float64, shape (k,)
        Negative: minus the penetration depth.
    """
    return _core.distance_many(
        *_flat(a_offsets, a_xy, "a"), *_flat(b_offsets, b_xy, "b"), _index_pairs(pairs)
    )


def _index_pairs(pairs: ArrayLike | None) -> NDArray[np.integer] | None:
    return None if pairs is None else as_integers(pairs, "pairs", np.int64, 2)


def _flat(offsets: ArrayLike, xy: ArrayLike, side: str) -> tuple[ArrayLike, ArrayLike]:
    return (
        as_integers(offsets, f"{side}_offsets", np.uint32, 0),
        as_floats(xy, f"{side}_xy", 0, 2),
    )
