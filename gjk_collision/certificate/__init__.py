# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A proof that a pose is free, which can be checked without the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..geometry import Shape, closest
from ..record import Record
from .checker import Part, Placement, distance_along, rounded_down

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["FreeCertificate", "certified"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FreeCertificate(Record):
    """A proof that a shape at a pose is farther from all obstacles than required.

    There is a row for each pair of a convex part of the shape and a convex part of an obstacle. If
    two convex sets have a gap along some direction, their distance is at least this gap. Therefore
    the directions are a proof, no matter how they were found.

    Attributes
    ----------
    shape : Shape
        The vehicle.
    pose : ndarray, shape (3,)
        Its pose [m, m, rad].
    obstacles : tuple of Shape
        The n obstacles.
    obstacle_poses : ndarray, shape (n, 3)
        Their poses [m, m, rad].
    required : ndarray, shape (n,)
        The distance [m] that each obstacle requires: the margin and that of the obstacle.
    pairs : ndarray of int64, shape (m, 3)
        Part of the shape, index of the obstacle, and part of the obstacle, of each row, in
        ascending order.
    ids : ndarray of int64, shape (m,)
        Id of the obstacle of each row.
    directions : ndarray, shape (m, 2)
        Direction from the shape to the obstacle, of any length.
    bounds : ndarray, shape (m,)
        Lower bound of the distance of the pair [m], by the gap along the direction.
    """

    shape: Shape
    pose: NDArray[np.float64]
    obstacles: tuple[Shape, ...]
    obstacle_poses: NDArray[np.float64]
    required: NDArray[np.float64]
    pairs: NDArray[np.int64]
    ids: NDArray[np.int64]
    directions: NDArray[np.float64]
    bounds: NDArray[np.float64]

    def verify(self, *, fast: bool = False) -> bool:
        """Return whether the certificate proves that the pose is free.

        It does if no required distance is negative, if each pair of parts has a row whose bound is
        greater than the required distance, and if the gap along the direction of each row is at
        least its bound. This is computed in rational arithmetic by
        `gjk_collision.certificate.checker`, without the kernel. A certificate whose fields are not
        of the classes, types and shapes above proves nothing.

        Parameters
        ----------
        fast : bool
            Only verify that the gaps are greater than the required distances, and ignore `bounds`.
            This is computed by ``src_cpp/proofs/checker`` in integers, without the kernel. It is
            proven with Frama-C that this function is right, see ``docs/safety.md``.
            It takes less than 1 us per row. It may return False if a gap exceeds the required
            distance by less than 2**-53 m, or 3e-12 times the largest of these numbers of both
            parts: coordinates, where those of the obstacle are relative to the pose of the shape,
            radii, and the required distance.
        """
        if not self._is_well_formed() or not (self.required >= 0.0).all():
            return False
        if fast:
            return _core.proves_free(
                self.shape._core,
                self.pose,
                [each._core for each in self.obstacles],
                self.obstacle_poses,
                self.required,
                self.pairs,
                self.directions,
            )
        own = _parts(self.shape)
        others = [_parts(obstacle) for obstacle in self.obstacles]
        rows = list(map(tuple, self.pairs.tolist()))
        if rows != list(_pairs(len(own), others)):
            return False
        values = self.pose, self.obstacle_poses, self.required, self.directions, self.bounds
        if not all(np.isfinite(each).all() for each in values):
            return False
        at = Placement(self.pose.tolist())
        places = [Placement(pose) for pose in self.obstacle_poses.tolist()]
        for (i, k, j), direction, bound in zip(rows, self.directions, self.bounds, strict=True):
            gap = distance_along(direction.tolist(), own[i], at, others[k][j], places[k])
            if gap is None or not Fraction(self.required[k]) < Fraction(bound) <= gap:
                return False
        return True

    def _is_well_formed(self) -> bool:
        if not isinstance(self.obstacles, tuple):
            return False
        if not all(isinstance(each, Shape) for each in (self.shape, *self.obstacles)):
            return False
        count, size = len(self.obstacles), len(self.bounds) if np.ndim(self.bounds) == 1 else -1
        fields: list[tuple[Any, Any, tuple[int, ...]]] = [
            (self.pose, np.float64, (3,)),
            (self.obstacle_poses, np.float64, (count, 3)),
            (self.required, np.float64, (count,)),
            (self.pairs, np.int64, (size, 3)),
            (self.ids, np.int64, (size,)),
            (self.directions, np.float64, (size, 2)),
            (self.bounds, np.float64, (size,)),
        ]
        return all(
            isinstance(value, np.ndarray) and value.dtype == kind and value.shape == shape
            for value, kind, shape in fields
        )


def certified(
    shape: Shape,
    pose: NDArray[np.float64],
    obstacles: tuple[Shape, ...],
    poses: NDArray[np.float64],
    ids: NDArray[np.int64],
    required: NDArray[np.float64],
) -> FreeCertificate | None:
    """Return a certificate with the directions of the kernel. None: they do not prove it."""
    own = _parts(shape)
    others = [_parts(obstacle) for obstacle in obstacles]
    pairs = list(_pairs(len(own), others))
    at, places = Placement(pose.tolist()), [Placement(each) for each in poses.tolist()]
    hulls = [_hull(part) for part in own]
    directions, bounds = np.empty((len(pairs), 2)), np.empty(len(pairs))
    for row, (i, k, j) in enumerate(pairs):
        part = others[k][j]
        directions[row] = closest(hulls[i], _hull(part), pose, poses[k]).direction
        gap = distance_along(directions[row].tolist(), own[i], at, part, places[k])
        if gap is None:
            return None
        bounds[row] = rounded_down(gap)
    index = np.array(pairs, np.int64).reshape(-1, 3)
    if not (bounds > required[index[:, 1]]).all():
        return None
    return FreeCertificate(
        shape=shape,
        pose=pose,
        obstacles=obstacles,
        obstacle_poses=poses,
        required=required,
        pairs=index,
        ids=ids[index[:, 1]],
        directions=directions,
        bounds=bounds,
    )


def _parts(shape: Shape) -> list[Part]:
    parts = [part.tolist() for part in shape.parts]
    return [Part(*each) for each in zip(parts, shape.radii, strict=True)]


def _pairs(own: int, others: Sequence[Sequence[Part]]) -> Iterator[tuple[int, int, int]]:
    """Yield the pairs of parts, in ascending order."""
    for i, k in product(range(own), range(len(others))):
        yield from ((i, k, j) for j in range(len(others[k])))


def _hull(part: Part) -> Shape:
    return Shape.hull(part.vertices, part.radius)
