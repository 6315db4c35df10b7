# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What GJK did, iteration by iteration: for pictures and for understanding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _core
from .geometry import Closest, Pose, Shape, closest

__all__ = ["Trace", "TraceStep", "trace"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One iteration of Alg. 1 of Zhang et al., on the Minkowski difference a - b.

    Attributes
    ----------
    points : ndarray
        The simplex, shape (1 or 2, 2) [m]: what is known of a - b nearest the origin, the newest
        vertex first.
    vertices_a : tuple of int
        Vertices of a that the simplex comes from, by index into the part.
    vertices_b : tuple of int
        The same of b.
    direction : ndarray
        Unit vector, shape (2,), from the simplex towards the origin: where the next vertex is
        sought. Zero where the origin lies on the simplex.
    support : ndarray
        The vertex of a - b farthest that way, shape (2,) [m].
    support_a : int
        Vertex of a that it comes from.
    support_b : int
        Vertex of b that it comes from.
    lower_bound : float
        Certified lower bound [m] on the distance of the polygons, without their radii. Not above
        0: nothing is proven yet.
    upper_bound : float
        Certified upper bound [m] on it: the distance of the simplex.
    barycode : int or None
        Region of the origin in the triangle of the support vertex and the simplex (Alg. 3): 7
        inside, 6 and 5 beyond an edge of the support vertex, 4 beyond that vertex. None: the
        simplex is a single vertex.
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


@dataclass(frozen=True, slots=True)
class Trace:
    """All iterations, and the answer.

    Attributes
    ----------
    steps : tuple of TraceStep
        In order.
    is_settled : bool
        GJK itself proved whether the polygons overlap; else exact arithmetic did after it.
    closest : Closest
        The answer; its features name the parts that were traced.
    """

    steps: tuple[TraceStep, ...]
    is_settled: bool
    closest: Closest


def trace(a: Shape, b: Shape, pose_a: Pose | None = None, pose_b: Pose | None = None) -> Trace:
    """Return each iteration of `closest`, by the same loop; of many parts, those that decide.

    Parameters and errors as for `closest`.
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
