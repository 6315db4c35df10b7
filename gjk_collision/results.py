# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What a scene answers, as plain data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .verdict import Status, Verdict, no_truth_value

__all__ = ["INVARIANT", "CheckResult", "Invariant", "NearestResult", "PathResult"]


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


@dataclass(frozen=True, slots=True)
class Distances:
    """What every list of answers holds; n of them."""

    statuses: NDArray[np.uint16]
    """Status of each, shape (n,)."""
    distances: NDArray[np.float64]
    """Signed distances [m], shape (n,)."""
    lower_bounds: NDArray[np.float64]
    """Certified lower bounds on them [m], shape (n,); -inf: none. Where shapes of several parts
    overlap, the deepest pair of parts stands for the whole."""


@dataclass(frozen=True, slots=True)
class CheckResult(Distances):
    """One answer per pose, and the worst of them.

    Distances are those to the nearest obstacle; they and their bounds are NaN in mode 'collide'.
    A status is UNDEFINED where `stop_at_first` left a pose out.
    """

    is_free: bool
    """All poses are FREE."""
    verdict: Verdict
    """The worst: COLLISION > UNKNOWN > MARGIN > FREE."""
    verdicts: NDArray[np.uint8]
    """Verdict per pose, shape (n,)."""
    nearest_ids: NDArray[np.int64]
    """Id of the obstacle that decides, shape (n,); -1: none."""
    nearest_indices: NDArray[np.int64]
    """Its index in the scene, shape (n,); -1: none."""
    witnesses: NDArray[np.float64] | None
    """Mode 'witness': x y on the shape, x y on the obstacle [m], shape (n, 4); NaN: none."""
    first_invalid_index: int
    """The first pose that is not FREE; -1: none."""

    __bool__ = no_truth_value("`.is_free`")


@dataclass(frozen=True, slots=True)
class NearestResult(Distances):
    """The nearest obstacles, n of them, by ascending distance."""

    ids: NDArray[np.int64]
    """Obstacle ids, shape (n,)."""
    indices: NDArray[np.int64]
    """Their indices in the scene, shape (n,)."""
    witness_shape: NDArray[np.float64]
    """Witness points on the shape [m], shape (n, 2)."""
    witness_obstacle: NDArray[np.float64]
    """Witness points on the obstacles [m], shape (n, 2)."""
    directions: NDArray[np.float64]
    """Unit vectors from the shape to the obstacles, shape (n, 2)."""

    __bool__ = no_truth_value("`len(result.ids)`, or `Scene.is_free`")


@dataclass(frozen=True, slots=True)
class PathResult:
    """The answer for a path."""

    is_free: bool
    """All of it is FREE."""
    verdict: Verdict
    """The worst on it: COLLISION > UNKNOWN > MARGIN > FREE."""
    status: Status
    """SUCCESS, or why it is UNKNOWN."""
    first_invalid_segment: int
    """The first segment that is not free, from pose i to pose i + 1; -1: none."""
    last_valid_fraction: float
    """Of that segment: up to there it is free; 1 where all are."""
    first_collision_time: float
    """Of a path that collides: the first time at which it is not certain that there is no contact
    [s], so never later than the first collision; NaN for other verdicts and without times."""
    obstacle_id: int
    """Of the obstacle that ends the free part; -1: none."""
    obstacle_index: int
    """Its index in the scene; -1: none."""
    min_distance: float
    """Smallest signed distance on the way [m], of a path that collides of the part up to the end
    of that segment; 0 or less: it collides, at no certain depth; inf: no obstacle."""
    min_distance_lower_bound: float
    """Certified lower bound on it [m]; -inf: none."""

    __bool__ = no_truth_value("`.is_free`")
