# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The iterations of GJK on one pair of shapes, for pictures and for debugging."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _core
from .geometry import Closest, PoseLike, Shape, closest
from .record import Record
from .verdict import Verdict

__all__ = ["Trace", "TraceStep", "deciding_step", "trace"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TraceStep(Record):
    """One iteration of Alg. 1 of Zhang et al., on the Minkowski difference a - b.

    Attributes
    ----------
    points : ndarray
        Simplex, shape (1 or 2, 2) [m]: the vertex or edge of a - b nearest to the origin so far.
        The newest vertex is first.
    vertices_a, vertices_b : tuple of int
        For each point of the simplex: the index of its vertex in the part of a or b.
    direction : ndarray
        Unit vector, shape (2,), from the simplex towards the origin: the search direction for the
        next vertex. Zero if the origin is on the simplex.
    support : ndarray
        The vertex of a - b that is farthest in the search direction, shape (2,) [m].
    support_a, support_b : int
        Index of the vertex in the part of a or b. The difference of both vertices is `support`.
    lower_bound : float
        Certified lower bound of the distance between the polygons without their radii [m]. A value
        <= 0 proves nothing.
    upper_bound : float
        Certified upper bound of the same distance [m]: from the simplex to the origin.
    barycode : int or None
        Region of the origin relative to the triangle of the support vertex and the simplex
        (Alg. 3): 7: inside; 6 and 5: beyond an edge at the support vertex; 4: beyond the support
        vertex. None: the simplex is a single vertex.
    """

    points: NDArray[np.float64]
    vertices_a: tuple[int, ...]
    vertices_b: tuple[int, ...]
    direction: NDArray[np.float64]
    support: NDArray[np.float64]
    support_a: int
    support_b: int
    lower_bound: float
    upper_bound: float
    barycode: int | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace(Record):
    """All iterations of GJK on one pair of convex parts, and the answer.

    Attributes
    ----------
    steps : tuple of TraceStep
        The iterations, in order.
    is_settled : bool
        Whether GJK proved that the polygons overlap or that they do not. If False, exact
        arithmetic decided this after the last iteration.
    closest : Closest
        The answer. Its features name the traced parts.
    """

    steps: tuple[TraceStep, ...]
    is_settled: bool
    closest: Closest


def trace(
    a: Shape, b: Shape, pose_a: PoseLike | None = None, pose_b: PoseLike | None = None
) -> Trace:
    """Return each iteration of the GJK loop in `closest`.

    If a shape has several parts, the part that determines the answer is traced. Parameters and
    errors are as for `closest`.
    """
    answer = closest(a, b, pose_a, pose_b)
    steps, is_settled = _core.trace(
        a._core,
        b._core,
        pose_a,  # type: ignore[arg-type]
        pose_b,  # type: ignore[arg-type]
        answer.feature_a[0],
        answer.feature_b[0],
    )
    named = []
    for simplex, direction, (support, support_a, support_b), lower, upper, barycode in steps:
        named.append(
            TraceStep(
                np.array([point for point, _, _ in simplex]),
                tuple(i for _, i, _ in simplex),
                tuple(j for _, _, j in simplex),
                np.array(direction),
                np.array(support),
                support_a,
                support_b,
                lower,
                upper,
                barycode or None,
            )
        )
    return Trace(tuple(named), is_settled, answer)


def deciding_step(
    a: Shape,
    b: Shape,
    pose_a: PoseLike | None = None,
    pose_b: PoseLike | None = None,
    parts: tuple[int, int] = (0, 0),
    margin: float = 0.0,
) -> tuple[Verdict, str, float]:
    """Return the step of the kernel's cascade that decides the verdict on two convex parts.

    Parameters
    ----------
    a, b, pose_a, pose_b
        As for `closest`.
    parts : (int, int)
        Number of the part of `a` and of the part of `b`.
    margin : float
        Distance up to which the parts collide [m].

    Returns
    -------
    verdict : Verdict
        FREE or COLLISION.
    step : str
        ``turned boxes``, ``overlap``, ``boxes``, ``extremes``, ``axes``, ``GJK`` or ``exact``, as
        in docs/kernel.md.
    certain : float
        Limit [m]: if the certified lower bound of a distance query is greater than this, the parts
        are FREE by this bound, and these steps are not needed.
    """
    verdict, step, certain = _core.deciding_step(
        a._core,
        b._core,
        pose_a,  # type: ignore[arg-type]
        pose_b,  # type: ignore[arg-type]
        *parts,
        margin,
    )
    return Verdict(verdict), step, certain
