# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Two sets of shapes, pair by pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from .arguments import as_integers, as_number, instance
from .results import INVARIANT, PairsResult
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
    """Answer for pairs of the obstacles of two scenes, at their poses.

    Parameters
    ----------
    a, b : Scene
        In one frame.
    pairs : array_like of int, shape (n, 2), optional
        Index in a, index in b; left out: all, row by row (n = len(a) len(b)).
    margin : float
        Clearance demanded [m], >= 0: 0 < distance <= margin is MARGIN, which is not free.
    mode : {'collide', 'distance', 'witness'}
        How much is computed; the verdicts are the same in each.
    threads : int
        How many share the pairs; the answers are the same. 0: as many as the machine has.

    Raises
    ------
    InputError
        INVALID_INPUT for an index that there is not, ARRAY_MISMATCH, NON_FINITE, COORD_RANGE.
    """
    listed = None
    if pairs is not None:
        listed = as_integers(pairs, "pairs", np.int64, 2)
    verdicts, statuses, distances, lower_bounds, witnesses, directions, least = _core.check_pairs(
        instance(a, Scene, "a")._core,
        instance(b, Scene, "b")._core,
        listed,
        as_number(margin, "margin"),
        mode_number(mode),
        thread_count(threads),
    )
    if not least >= margin:
        has_bounds = mode != "collide"
        INVARIANT.keep(verdicts, statuses, lower_bounds, margin, has_bounds=has_bounds)
    measured, witnessed = mode != "collide", mode == "witness"
    return PairsResult(
        verdicts=verdicts,
        statuses=statuses,
        distances=distances if measured else None,
        lower_bounds=lower_bounds if measured else None,
        witnesses=witnesses if witnessed else None,
        directions=directions if witnessed else None,
    )
