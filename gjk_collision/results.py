# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of the library, as plain data.

The answers of the server (`server.answers`) and the replies of its client (`ros.client`) are
these classes with a reason, a snapshot and so on. Without an answer, a field holds its default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import NDArray

from .verdict import Status, Verdict, no_truth_value

__all__ = ["INVARIANT", "CheckResult", "Invariant", "NearestResult", "PairsResult", "PathResult"]


class Invariant:
    """FREE implies a lower bound that is at least the margin.

    The kernel concludes FREE from such a bound only. Where it does not hold, the kernel is wrong,
    and the answer is UNKNOWN, INTERNAL_ERROR. In mode 'collide' there are no bounds.

    Attributes
    ----------
    violations : int
        Answers since the start of the process for which it did not hold.
    """

    def __init__(self) -> None:
        self.violations = 0

    def keep(
        self,
        verdicts: NDArray[np.uint8],
        statuses: NDArray[np.uint16],
        lower_bounds: NDArray[np.float64],
        margin: float,
        *,
        has_bounds: bool = True,
    ) -> None:
        """Make each answer for which it does not hold UNKNOWN, INTERNAL_ERROR, in place.

        Those that the kernel found itself are counted too.
        """
        if has_bounds:
            broken = (verdicts == Verdict.FREE) & ~(lower_bounds >= margin)
            verdicts[broken], statuses[broken] = Verdict.UNKNOWN, Status.INTERNAL_ERROR
        self.violations += int(np.count_nonzero(statuses == Status.INTERNAL_ERROR))

    def holds(self, verdict: Verdict, lower_bound: float, margin: float) -> bool:
        """Tell whether it holds for one answer; count it where it does not."""
        if verdict is not Verdict.FREE or lower_bound >= margin:
            return True
        self.violations += 1
        return False


INVARIANT = Invariant()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One answer per pose, and the worst of them.

    Attributes
    ----------
    is_free : bool
        All poses are FREE.
    verdict : Verdict
        The worst: COLLISION > UNKNOWN > MARGIN > FREE.
    verdicts : ndarray of uint8, shape (n,)
        Verdict per pose.
    statuses : ndarray of uint16, shape (n,)
        Status per pose; UNDEFINED where `stop_at_first` left the pose out.
    distances : ndarray, shape (n,)
        Signed distances to the nearest obstacle [m]. Where shapes of several parts overlap, the
        distance is that of the deepest pair of parts. NaN in mode 'collide'.
    lower_bounds : ndarray, shape (n,)
        Certified lower bounds on the distances [m]; -inf: none. NaN in mode 'collide'.
    nearest_ids : ndarray of int64, shape (n,)
        Id of the obstacle that decides; -1: none.
    nearest_indices : ndarray of int64, shape (n,)
        Its index in the scene; -1: none.
    witnesses : ndarray, shape (n, 4), or None
        Mode 'witness': x y on the shape, x y on the obstacle [m]; NaN: none.
    first_invalid_index : int
        The first pose that is not FREE; -1: none.
    """

    is_free: bool = False
    verdict: Verdict = Verdict.UNKNOWN
    verdicts: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    statuses: NDArray[np.uint16] = field(default_factory=lambda: np.empty(0, np.uint16))
    distances: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    lower_bounds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    nearest_ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    nearest_indices: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    witnesses: NDArray[np.float64] | None = None
    first_invalid_index: int = 0

    __bool__ = no_truth_value("`.is_free`")


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestResult:
    """The nearest obstacles, n of them, by ascending distance.

    Attributes
    ----------
    ids : ndarray of int64, shape (n,)
        Obstacle ids.
    indices : ndarray of int64, shape (n,)
        Their indices in the scene.
    distances : ndarray, shape (n,)
        Signed distances [m]. Where shapes of several parts overlap, the distance is that of the
        deepest pair of parts.
    lower_bounds : ndarray, shape (n,)
        Certified lower bounds on the distances [m]; -inf: none.
    witness_shape, witness_obstacle : ndarray, shape (n, 2)
        Witness points on the shape and on the obstacles [m].
    directions : ndarray, shape (n, 2)
        Unit vectors from the shape to the obstacles.
    statuses : ndarray of uint16, shape (n,)
        Status of each.
    """

    ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    indices: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    distances: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    lower_bounds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    witness_shape: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    witness_obstacle: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    directions: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    statuses: NDArray[np.uint16] = field(default_factory=lambda: np.empty(0, np.uint16))

    __bool__ = no_truth_value("`len(result.ids)`, or `Scene.is_free`")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathResult:
    """The answer for a path.

    Attributes
    ----------
    is_free : bool
        The whole path is FREE.
    verdict : Verdict
        The worst on it: COLLISION > UNKNOWN > MARGIN > FREE.
    status : Status
        SUCCESS, or why it is UNKNOWN.
    first_invalid_segment : int
        The first segment that is not free, from pose i to pose i + 1; -1: none.
    last_valid_fraction : float
        Fraction of that segment up to which it is free; 1 where all segments are.
    first_collision_time : float
        For a path that collides, the first time at which it is not certain that there is no
        contact [s], so never later than the first collision. NaN for other verdicts and without
        times.
    obstacle_id : int
        Id of the obstacle that ends the free part; -1: none.
    obstacle_index : int
        Its index in the scene; -1: none.
    min_distance : float
        Smallest signed distance on the path [m]; for a path that collides, up to the end of the
        segment that collides. 0 or less: it collides, at no certain depth; inf: no obstacle; NaN:
        not computed.
    min_distance_lower_bound : float
        Certified lower bound on it [m]; -inf: none; NaN: not computed.
    """

    is_free: bool = False
    verdict: Verdict = Verdict.UNKNOWN
    status: Status = Status.UNDEFINED
    first_invalid_segment: int = 0
    last_valid_fraction: float = 0.0
    first_collision_time: float = nan
    obstacle_id: int = -1
    obstacle_index: int = -1
    min_distance: float = nan
    min_distance_lower_bound: float = nan

    __bool__ = no_truth_value("`.is_free`")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsResult:
    """One answer per pair of shapes, in their order; n of them.

    Attributes
    ----------
    verdicts : ndarray of uint8, shape (n,)
        Verdict per pair.
    statuses : ndarray of uint16, shape (n,)
        Status per pair.
    distances : ndarray, shape (n,), or None
        Signed distances [m]; None in mode 'collide'.
    lower_bounds : ndarray, shape (n,), or None
        Certified lower bounds on the distances [m]; None in mode 'collide'.
    witnesses : ndarray, shape (n, 4), or None
        Mode 'witness': x y on a, x y on b [m].
    directions : ndarray, shape (n, 2), or None
        Mode 'witness': unit vectors from a to b.
    """

    verdicts: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    statuses: NDArray[np.uint16] = field(default_factory=lambda: np.empty(0, np.uint16))
    distances: NDArray[np.float64] | None = None
    lower_bounds: NDArray[np.float64] | None = None
    witnesses: NDArray[np.float64] | None = None
    directions: NDArray[np.float64] | None = None

    __bool__ = no_truth_value("`(result.verdicts == Verdict.FREE).all()`")
