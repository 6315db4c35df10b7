# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries on many pairs of shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .arguments import as_integers, as_number, instance
from .results import PairsResult
from .scene import Mode, Scene, mode_number, thread_count

__all__ = ["check_pairs"]


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
    listed = None
    if pairs is not None:
        listed = as_integers(pairs, "pairs", np.int64, 2)
    verdicts, statuses, distances, lower_bounds, witnesses, directions = _core.check_pairs(
        instance(a, Scene, "a")._core,
        instance(b, Scene, "b")._core,
        listed,
        as_number(margin, "margin"),
        mode_number(mode),
        thread_count(threads),
    )
    measured, witnessed = mode != "collide", mode == "witness"
    return PairsResult(
        verdicts=verdicts,
        statuses=statuses,
        distances=distances if measured else None,
        lower_bounds=lower_bounds if measured else None,
        witnesses=witnesses if witnessed else None,
        directions=directions if witnessed else None,
    )
