# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of queries.

The name of a field with a value for each of several questions is in the plural.

The answers of the server (`server.services.answers`) and the replies of the client (`ros.client`)
are derived from these classes. The derived classes add, for example, a message and the id of the
snapshot. A field for which there is no result has its default value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .record import Record
from .verdict import Status, Verdict, no_truth_value

__all__ = [
    "CheckResult",
    "ContactResult",
    "CriticalityResult",
    "GradientResult",
    "NearestResult",
    "PairsResult",
    "PathResult",
    "PathsResult",
    "TimeToCollisionResult",
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CheckResult(Record):
    """Results at n poses, and the worst verdict.

    The attributes are described for poses of shape (n, 3). For poses of shape (..., 3), each array
    has the shape (...) instead of (n,). For one pose of shape (3,), it is a scalar.

    Attributes
    ----------
    is_free : bool
        Whether all poses are FREE.
    verdict : Verdict
        The worst verdict: COLLISION > UNKNOWN > MARGIN > FREE.
    verdicts : ndarray of uint8, shape (n,)
        `Verdict` at each pose.
    statuses : ndarray of uint16, shape (n,)
        `Status` at each pose. UNDEFINED: not checked, because of `stop_at_first`.
    distances : ndarray, shape (n,)
        Signed distance to the nearest obstacle [m]. Negative: minus the penetration depth; for
        shapes with several parts, that of the deepest pair of parts. Outside of a region: minus
        the largest distance found of a point of the shape to the region. inf: no obstacle. NaN:
        the verdict is UNKNOWN, or not computed, for example in mode 'collide'.
    lower_bounds : ndarray, shape (n,)
        Certified lower bound of the distance [m]. -inf: no bound. NaN: not computed.
    ids : ndarray of int64, shape (n,)
        In mode 'collide', id of an obstacle that determines the verdict. In the other modes, id of
        the nearest obstacle; if the scene has `margins`, another one may cause MARGIN. -1: none.
        `OUTSIDE`: the outside of the region of the scene.
    indices : ndarray of int64, shape (n,)
        Index of this obstacle in the scene; -1: none. The outside of a region has the index
        ``len(scene)``.
    witnesses : ndarray, shape (n, 4), or None
        Closest points: x, y on the shape and x, y on the obstacle [m]; NaN: none. This field is
        None in all modes except 'witness'.
    directions : ndarray, shape (n, 2), or None
        Unit vector from the shape to the obstacle, as in `Closest`; NaN: none. This field is None
        in all modes except 'witness'.
    first_invalid_index : int
        Index of the first pose that is not FREE, in ``verdicts.ravel()``; -1: all are FREE.
    """

    is_free: bool = False
    verdict: Verdict = Verdict.UNKNOWN
    verdicts: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    statuses: NDArray[np.uint16] = field(default_factory=lambda: np.empty(0, np.uint16))
    distances: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    lower_bounds: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    indices: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    witnesses: NDArray[np.float64] | None = None
    directions: NDArray[np.float64] | None = None
    first_invalid_index: int = 0

    __bool__ = no_truth_value("`.is_free`")

    def __getattr__(self, name: str) -> Any:
        """Return the ids of a result that has the ids of all obstacles of the scene instead.

        They are looked up when they are first read. For a large batch of poses, this takes a tenth
        of the time of the check.
        """
        if name != "ids":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        ids = self._id_of.take(self.indices)
        object.__setattr__(self, "ids", ids)
        return ids

    @property
    def first_invalid(self) -> int | NDArray[np.int64]:
        """Index of the first pose of each trajectory that is not FREE; -1: all are FREE.

        For poses of shape (n, 3) or (3,), an int. For poses of shape (..., T, 3), an array of
        int64 of shape (...), with an index from 0 to T - 1 for each trajectory.
        """
        if np.ndim(self.verdicts) < 2:
            return self.first_invalid_index
        *leading, length = self.verdicts.shape
        return _core.first_invalid(self.verdicts.reshape(-1, length)).reshape(leading)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NearestResult(Record):
    """The n nearest obstacles, sorted by distance.

    For many poses of shape (..., 3), each array has the shape (..., k) instead of (n,). If there
    are fewer than k obstacles, the other entries have the id and index -1, NaN values and the
    status UNDEFINED.

    Attributes
    ----------
    ids : ndarray of int64, shape (n,)
        Ids of the obstacles.
    indices : ndarray of int64, shape (n,)
        Indices of the obstacles in the scene.
    distances : ndarray, shape (n,)
        Signed distances [m]. Negative: minus the penetration depth; for shapes with several parts,
        that of the deepest pair of parts.
    lower_bounds : ndarray, shape (n,)
        Certified lower bounds of the distances [m]. -inf: no bound.
    witness_shape, witness_obstacle : ndarray, shape (n, 2)
        Closest points of the shape and of the obstacle: x, y [m].
    directions : ndarray, shape (n, 2)
        Unit vectors from the shape to the obstacle.
    statuses : ndarray of uint16, shape (n,)
        `Status` of each obstacle. If it is not SUCCESS, the distance, the closest points and the
        direction are NaN.
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PathResult(Record):
    """Result of the check of a path.

    Attributes
    ----------
    is_free : bool
        Whether the whole path is FREE.
    verdict : Verdict
        The worst verdict on the path: COLLISION > UNKNOWN > MARGIN > FREE.
    status : Status
        SUCCESS, or the reason for UNKNOWN.
    first_invalid_segment : int
        The first segment that is not free. Segment i leads from pose i to pose i + 1. -1: all
        segments are free.
    last_valid_fraction : float
        Fraction of `first_invalid_segment` that is certainly free, in [0, 1]. 1 if all segments
        are free. For a `Path`: fraction of the length of the whole path. A turn in place has no
        length: if it is not free, the fraction is that of its position.
    first_collision_time : float
        The first time at which contact is not excluded [s]. It is never later than the first
        collision. NaN: the verdict is not COLLISION, or no times are given.
    id : int
        Id of the first obstacle that makes the path not free; -1: none.
    index : int
        Index of this obstacle in the scene; -1: none.
    distance : float
        Smallest signed distance on the path up to the end of the first segment in collision [m].
        The true distance is not smaller than `lower_bound`. They differ by at most the tolerance,
        unless the lower bound is 0 or -inf, or the tolerance is too small for the path (below
        1e-3 m, on long curves). A value <= 0 means a collision, but is not the penetration depth.
        inf: no obstacle. NaN: the verdict is UNKNOWN, or not computed.
    lower_bound : float
        Certified lower bound of this distance [m]. -inf: no bound. NaN: not computed.
    """

    is_free: bool = False
    verdict: Verdict = Verdict.UNKNOWN
    status: Status = Status.UNDEFINED
    first_invalid_segment: int = 0
    last_valid_fraction: float = 0.0
    first_collision_time: float = nan
    id: int = -1
    index: int = -1
    distance: float = nan
    lower_bound: float = nan

    __bool__ = no_truth_value("`.is_free`")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PathsResult(Record):
    """Results of the check of several paths. The shape (...) is that of the `Path`.

    Attributes
    ----------
    is_free : bool
        Whether all paths are FREE.
    verdict : Verdict
        The worst verdict: COLLISION > UNKNOWN > MARGIN > FREE.
    verdicts : ndarray of uint8, shape (...)
        The worst `Verdict` on each path.
    statuses : ndarray of uint16, shape (...)
        `Status` of each path: SUCCESS, or the reason for UNKNOWN.
    first_invalid_segments : ndarray of int64, shape (...)
        The first segment of each path that is not free; -1: all are free.
    last_valid_fractions : ndarray, shape (...)
        Fraction of the length of each path that is certainly free, in [0, 1]. 1: all of it.
    first_collision_times : ndarray, shape (...)
        As `PathResult.first_collision_time` [s].
    ids : ndarray of int64, shape (...)
        Id of the first obstacle that makes the path not free; -1: none.
    distances : ndarray, shape (...)
        As `PathResult.distance` [m]. NaN if the verdict is UNKNOWN, and in mode 'collide'.
    lower_bounds : ndarray, shape (...)
        Certified lower bound of this distance [m]. NaN in mode 'collide'.
    """

    is_free: bool
    verdict: Verdict
    verdicts: NDArray[np.uint8]
    statuses: NDArray[np.uint16]
    first_invalid_segments: NDArray[np.int64]
    last_valid_fractions: NDArray[np.float64]
    first_collision_times: NDArray[np.float64]
    ids: NDArray[np.int64]
    distances: NDArray[np.float64]
    lower_bounds: NDArray[np.float64]

    __bool__ = no_truth_value("`.is_free`")


def free_length(
    result: PathResult | PathsResult, whole: Any, steps: NDArray[np.float64] | None
) -> Any:
    """Return how much of a path, or of each, is certainly free [m]; `whole`: its length.

    `steps`: the lengths of the segments, if fractions are those of a segment.
    """
    if isinstance(result, PathsResult):
        return whole * result.last_valid_fractions
    if result.is_free or steps is None:
        return whole * result.last_valid_fraction
    k = result.first_invalid_segment
    return steps[:k].sum() + steps[k : k + 1].sum() * result.last_valid_fraction


def of_whole_length(found: dict[str, Any], lengths: list[NDArray[np.float64]]) -> None:
    """Convert fractions of segments to fractions of straight paths; `lengths`: of segments [m]."""
    segments, fractions = found["first_invalid_segments"], found["last_valid_fractions"]
    for k, steps in enumerate(lengths):
        first, ends = int(segments[k]), np.cumsum([0.0, *steps])
        if first >= 0 and ends[-1] > 0.0:
            valid = ends[first] + fractions[k] * steps[first]
            fractions[k] = min(1.0, valid / ends[-1] * (1.0 - 2.0**-40))
        elif first >= 0:
            fractions[k] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ContactResult(Record):
    """First contacts of K trajectories.

    Attributes
    ----------
    times : ndarray, shape (K,)
        The first time at which contact is not excluded [s]. It is never later than the first
        contact. At this time, the distance to an obstacle is at most `tolerance` plus the error
        of the positions, or the pose of an obstacle becomes unknown, or the vehicle leaves what
        was seen (``seen=``). NaN: the verdict is not COLLISION.
    distances : ndarray, shape (K,)
        Upper bound of the smallest signed distance [m], up to the end of the first segment with a
        collision. The true distance is not smaller than `lower_bounds`. They differ by at most the
        tolerance, with the exceptions of `PathResult.distance`. A value <= 0 means a
        collision, but is not the penetration depth. inf: no obstacle. NaN: the verdict is UNKNOWN.
    lower_bounds : ndarray, shape (K,)
        Certified lower bound of this distance [m]. -inf: no bound.
    ids : ndarray of int64, shape (K,)
        Id of the first obstacle that makes the trajectory not free: by a contact, by a distance
        that is not greater than its required distance, or because its pose becomes unknown. -1:
        none.
    verdicts : ndarray of uint8, shape (K,)
        The worst `Verdict` on each trajectory: COLLISION > UNKNOWN > MARGIN > FREE. MARGIN: there
        is no contact, but a distance is not greater than its required distance (`margins` of the
        scene).
    statuses : ndarray of uint16, shape (K,)
        `Status`: SUCCESS, or the reason for UNKNOWN.
    """

    times: NDArray[np.float64]
    distances: NDArray[np.float64]
    lower_bounds: NDArray[np.float64]
    ids: NDArray[np.int64]
    verdicts: NDArray[np.uint8]
    statuses: NDArray[np.uint16]

    __bool__ = no_truth_value("`.verdicts == Verdict.FREE`")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CriticalityResult(Record):
    """How critical K trajectories are.

    Times are never greater than the true ones, speeds and decelerations never smaller.

    If the verdict is UNKNOWN, all numbers are NaN.

    Attributes
    ----------
    verdicts : ndarray of uint8, shape (K,)
        The worst `Verdict` on each trajectory, as in `ContactResult`.
    statuses : ndarray of uint16, shape (K,)
        `Status`: SUCCESS, or the reason for UNKNOWN.
    contact_times : ndarray, shape (K,)
        The first time at which contact is not excluded [s]. It is never later than the first
        contact. inf: there is certainly no contact.
    time_to_collision : ndarray, shape (K,)
        `contact_times` minus the time of the first pose [s].
    ids : ndarray of int64, shape (K,)
        Id of the obstacle that is met, or that causes MARGIN or UNKNOWN. -1: none.
    relative_speeds : ndarray, shape (K,)
        Upper bound of the relative speed of both bodies at the points of contact, at
        `contact_times` [m/s]. Points of all parts that are within the tolerance of contact count.
        0: no contact. NaN: also if the motion of the obstacle is not known at this time.
    ego_edges : ndarray of int64, shape (K,)
        Edge of the vehicle that faces the obstacle at this time, where the relative speed is the
        greatest: edge i leads from vertex i of a part to the next one. The vertices are counted
        through `Shape.parts`. -1: no contact, or not known.
    required_deceleration : ndarray, shape (K,)
        Deceleration that avoids all contacts (DRAC) [m/s2], see `Scene.criticality`. 0: no
        contact. inf: none was found. NaN: also if the pose of an obstacle is not known at all
        times.
    post_encroachment_time : ndarray, shape (K,)
        Lower bound of the time between the vehicle and an obstacle at the same place (PET) [s],
        see `Scene.criticality`. 0: contact. inf: they share no place.
    """

    verdicts: NDArray[np.uint8]
    statuses: NDArray[np.uint16]
    contact_times: NDArray[np.float64]
    time_to_collision: NDArray[np.float64]
    ids: NDArray[np.int64]
    relative_speeds: NDArray[np.float64]
    ego_edges: NDArray[np.int64]
    required_deceleration: NDArray[np.float64]
    post_encroachment_time: NDArray[np.float64]

    __bool__ = no_truth_value("`.verdicts == Verdict.FREE`")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TimeToCollisionResult(Record):
    """Times to collision. The shape (...) is that of the poses without their last axis.

    Attributes
    ----------
    times : ndarray, shape (...)
        Time from each pose until the vehicle and an obstacle touch [s], if all keep their twists.
        It is never later than the contact. It is 0 if the vehicle touches an obstacle now. inf:
        there is certainly no contact within the horizon. NaN: UNKNOWN.
    ids : ndarray of int64, shape (...)
        Id of the first obstacle that is met, or that makes the answer UNKNOWN; -1: none.
    verdicts : ndarray of uint8, shape (...)
        `Verdict`. COLLISION: there is a contact within the horizon. FREE: there is none. UNKNOWN,
        also if there may be an earlier contact with an obstacle whose motion is not known.
    statuses : ndarray of uint16, shape (...)
        `Status`: SUCCESS, or the reason for UNKNOWN.
    """

    times: NDArray[np.float64]
    ids: NDArray[np.int64]
    verdicts: NDArray[np.uint8]
    statuses: NDArray[np.uint16]

    __bool__ = no_truth_value("`.verdicts == Verdict.FREE`")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RayCastResult(Record):
    """First obstacles on rays. The shape (...) is that of the directions without their last axis.

    Attributes
    ----------
    distances : ndarray, shape (...)
        Distance from the origin to the first obstacle [m]. It is never greater than the true one.
        inf: there is certainly no obstacle up to the maximum distance. NaN: UNKNOWN.
    ids : ndarray of int64, shape (...)
        Id of the first obstacle, or of one that makes the result UNKNOWN; -1: none.
    verdicts : ndarray of uint8, shape (...)
        `Verdict`: COLLISION: the ray meets an obstacle. FREE. UNKNOWN.
    statuses : ndarray of uint16, shape (...)
        `Status`: SUCCESS, or the reason for UNKNOWN.
    """

    distances: NDArray[np.float64]
    ids: NDArray[np.int64]
    verdicts: NDArray[np.uint8]
    statuses: NDArray[np.uint16]

    __bool__ = no_truth_value("`.verdicts == Verdict.FREE`")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GradientResult(Record):
    """Signed distances to the k nearest obstacles at each pose, and their derivatives.

    Poses of shape (..., 3) give arrays of shape (..., k), and (...) for `statuses`. If there are
    fewer than k obstacles, or the status of the pose is INVALID_INPUT or PREDICTION_TOO_SHORT, the
    entries without an obstacle have the id -1 and NaN values. NaN compares as False with every
    number: test for the wanted case, as in ``distances > 0.5``, and not for its opposite.

    Attributes
    ----------
    distances : ndarray, shape (..., k)
        Signed distances [m], in ascending order. Negative: minus the penetration depth; for
        shapes with several parts, that of the deepest pair of parts.
    lower_bounds : ndarray, shape (..., k)
        Certified lower bounds of the distances [m]. -inf: no bound.
    gradients : ndarray, shape (..., k, 3)
        Derivatives of each distance by x [m/m], y [m/m] and yaw [m/rad] of the pose.
    rates : ndarray, shape (..., k)
        Derivatives of each distance by time, at a fixed pose [m/s]. 0 if no times are given. NaN
        if the velocity of the obstacle is not known, because its pose is known at one time only.
    ids : ndarray of int64, shape (..., k)
        Ids of the obstacles, in the order of `Scene.nearest`; -1: none.
    smooth : ndarray of bool, shape (..., k)
        True: the closest pair of features is unique, and it stays the same if x, y, yaw and time
        change by at most 1e-6 (m, rad, s), as far as the predictions are known. False: this is not
        certain, and the derivatives may be one-sided.
    statuses : ndarray of uint16, shape (...)
        `Status` of each pose: SUCCESS, or the reason why values are missing.
    """

    distances: NDArray[np.float64]
    lower_bounds: NDArray[np.float64]
    gradients: NDArray[np.float64]
    rates: NDArray[np.float64]
    ids: NDArray[np.int64]
    smooth: NDArray[np.bool_]
    statuses: NDArray[np.uint16]

    __bool__ = no_truth_value("`.distances > margin`")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PairsResult(Record):
    """Results for n pairs of shapes, in the order of the pairs.

    Attributes
    ----------
    verdicts : ndarray of uint8, shape (n,)
        `Verdict` of each pair.
    statuses : ndarray of uint16, shape (n,)
        `Status` of each pair.
    distances : ndarray, shape (n,), or None
        Signed distances [m]. Negative: minus the penetration depth. NaN if the verdict is UNKNOWN.
        None in mode 'collide'.
    lower_bounds : ndarray, shape (n,), or None
        Certified lower bounds of the distances [m]. -inf: no bound. None in mode 'collide'.
    witnesses : ndarray, shape (n, 4), or None
        Closest points: x, y on a and x, y on b [m]; NaN: none. None in all modes except 'witness'.
    directions : ndarray, shape (n, 2), or None
        Unit vectors from a to b; NaN: none. None in all modes except 'witness'.
    """

    verdicts: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    statuses: NDArray[np.uint16] = field(default_factory=lambda: np.empty(0, np.uint16))
    distances: NDArray[np.float64] | None = None
    lower_bounds: NDArray[np.float64] | None = None
    witnesses: NDArray[np.float64] | None = None
    directions: NDArray[np.float64] | None = None

    __bool__ = no_truth_value("`(result.verdicts == Verdict.FREE).all()`")
