# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many obstacles, and a shape at many poses among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .errors import InputError
from .geometry import Pose, Shape, as_floats
from .verdict import Status, Verdict

__all__ = ["CheckResult", "NearestResult", "Scene"]

Mode: TypeAlias = Literal["collide", "distance", "witness"]
_MODES: dict[str, int] = {"collide": 0, "distance": 1, "witness": 2}

_SEVERITY = np.array([2, 0, 3, 1], dtype=np.int8)  # by Verdict: COLLISION > UNKNOWN > MARGIN > FREE


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One answer per pose, and the worst of them."""

    is_free: bool
    """All poses are FREE."""
    verdict: Verdict
    """The worst: COLLISION > UNKNOWN > MARGIN > FREE."""
    verdicts: NDArray[np.uint8]
    """Verdict per pose, shape (n,)."""
    statuses: NDArray[np.uint16]
    """Status per pose, shape (n,); UNDEFINED where `stop_at_first` left a pose out."""
    distances: NDArray[np.float64]
    """Signed distance to the nearest obstacle [m], shape (n,); NaN in mode 'collide'."""
    lower_bounds: NDArray[np.float64]
    """Certified lower bound on it [m], shape (n,); NaN in mode 'collide'."""
    nearest_ids: NDArray[np.int64]
    """Id of the obstacle that decides, shape (n,); -1: none."""
    nearest_indices: NDArray[np.int64]
    """Its index in the scene, shape (n,); -1: none."""
    witnesses: NDArray[np.float64] | None
    """Mode 'witness': x y on the shape, x y on the obstacle [m], shape (n, 4); NaN: none."""
    first_invalid_index: int
    """The first pose that is not FREE; -1: none."""


@dataclass(frozen=True, slots=True)
class NearestResult:
    """The nearest obstacles by ascending distance; arrays of length up to k."""

    indices: NDArray[np.int64]
    """Index in the scene, shape (k,)."""
    ids: NDArray[np.int64]
    """Obstacle ids, shape (k,)."""
    distances: NDArray[np.float64]
    """Signed distances [m], shape (k,)."""
    lower_bounds: NDArray[np.float64]
    """Certified lower bounds [m], shape (k,)."""
    witness_shape: NDArray[np.float64]
    """Witness points on the shape [m], shape (k, 2)."""
    witness_obstacle: NDArray[np.float64]
    """Witness points on the obstacles [m], shape (k, 2)."""
    directions: NDArray[np.float64]
    """Unit vectors from the shape to the obstacles, shape (k, 2)."""
    statuses: NDArray[np.uint16]
    """Status of each, shape (k,)."""


class Scene:
    """Obstacles at rest, immutable; any number of threads may query it.

    Parameters
    ----------
    shapes : sequence of Shape
        The obstacles; none is a scene that is free everywhere.
    poses : array_like, shape (n, 3), optional
        x [m], y [m], yaw [rad] of each; left out, the shapes are where they are.
    ids : array_like of int, shape (n,), optional
        Names for the answers; the indices where left out.

    Raises
    ------
    InputError
        Naming the argument, the index and the rule that it breaks.
    """

    __slots__ = ("_core", "_ids")

    def __init__(
        self,
        shapes: Sequence[Shape],
        poses: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> None:
        for i, shape in enumerate(shapes):
            if not isinstance(shape, Shape):
                raise InputError(Status.INVALID_INPUT, "shapes", i, "must be a Shape")
        placed = None if poses is None else as_floats(poses, "poses")
        self._core = _core.scene_from_shapes([shape._core for shape in shapes], placed)
        self._ids = _checked_ids(ids, len(shapes))

    @classmethod
    def from_arrays(
        cls,
        offsets: ArrayLike,
        xy: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        kinds: ArrayLike | None = None,
        radius: ArrayLike | None = None,
        poses: ArrayLike | None = None,
        concave_policy: Literal["decompose", "hull", "reject"] = "decompose",
    ) -> "Scene":
        """Build a scene from flat arrays, the layout of ``msg/ObstacleArray``.

        Parameters
        ----------
        offsets : array_like of int, shape (n + 1,)
            Points of obstacle i are [offsets[i], offsets[i + 1]); empty for no obstacle.
        xy : array_like, shape (2 m,) or (m, 2)
            Points [m].
        ids : array_like of int, shape (n,), optional
            Obstacle ids; the indices where left out.
        kinds : array_like of int, shape (n,), optional
            0: the hull of the points (default), 1: a concave outline.
        radius : array_like, shape (n,), optional
            Radius about each [m].
        poses : array_like, shape (3 n,) or (n, 3), optional
            x y yaw of each [m, m, rad]; left out, the points are where they are.
        concave_policy : {'decompose', 'hull', 'reject'}
            What is made of kind 1 outlines that are concave.

        Raises
        ------
        InputError
            Naming the field, the index and the rule that it breaks.
        """
        scene = cls.__new__(cls)
        empty = np.empty(0)
        if concave_policy not in ("decompose", "hull", "reject"):
            rule = "must be 'decompose', 'hull' or 'reject'"
            raise InputError(Status.INVALID_INPUT, "concave_policy", None, rule)
        scene._core = _core.scene_from_arrays(
            _as_integers(offsets, "offsets", np.uint32),
            as_floats(xy, "xy"),
            _as_integers(empty if kinds is None else kinds, "kinds", np.uint8),
            as_floats(empty if radius is None else radius, "radius"),
            as_floats(empty if poses is None else poses, "poses"),
            getattr(_core.ConcavePolicy, concave_policy),
        )
        scene._ids = _checked_ids(ids, len(scene._core))
        return scene

    def __len__(self) -> int:
        """Return the number of obstacles."""
        return len(self._core)

    @property
    def ids(self) -> NDArray[np.int64]:
        """Obstacle ids, shape (n,), read-only."""
        return self._ids

    def check(
        self,
        shape: Shape,
        poses: ArrayLike,
        *,
        margin: float = 0.0,
        mode: Mode = "collide",
        stop_at_first: bool = False,
    ) -> CheckResult:
        """Answer for `shape` at every pose; other Python threads run meanwhile.

        Parameters
        ----------
        shape : Shape
            The ego footprint in its base frame.
        poses : array_like, shape (n, 3)
            x [m], y [m], yaw [rad]; at least one.
        margin : float
            Clearance demanded [m], >= 0: 0 < distance <= margin is MARGIN, which is not free.
        mode : {'collide', 'distance', 'witness'}
            How much is computed; the verdicts are the same in each.
        stop_at_first : bool
            Leave the poses after the first that is not FREE UNKNOWN.

        Returns
        -------
        CheckResult

        Raises
        ------
        InputError
            EMPTY_REQUEST for no pose; NON_FINITE, COORD_RANGE, ARRAY_MISMATCH, INVALID_INPUT.
        """
        placed = as_floats(poses, "poses")
        if placed.size == 0:
            raise InputError(Status.EMPTY_REQUEST, "poses", None, "must hold at least one pose")
        if placed.ndim != 2 or placed.shape[1] != 3:
            rule = f"must have shape (n, 3) (got {placed.shape})"
            raise InputError(Status.ARRAY_MISMATCH, "poses", None, rule)
        if mode not in _MODES:
            rule = "must be 'collide', 'distance' or 'witness'"
            raise InputError(Status.INVALID_INPUT, "mode", None, rule)
        found = self._core.check(shape._core, placed, margin, _MODES[mode], stop_at_first)
        verdicts: NDArray[np.uint8] = found["verdicts"]
        invalid = verdicts != Verdict.FREE
        first_invalid = int(np.argmax(invalid)) if invalid.any() else -1
        return CheckResult(
            is_free=first_invalid == -1,
            verdict=Verdict(int(verdicts[np.argmax(_SEVERITY[verdicts])])),
            verdicts=verdicts,
            statuses=found["statuses"],
            distances=found["distances"],
            lower_bounds=found["lower_bounds"],
            nearest_ids=self._ids_of(found["nearest"]),
            nearest_indices=found["nearest"],
            witnesses=found["witnesses"] if mode == "witness" else None,
            first_invalid_index=first_invalid,
        )

    def nearest(
        self, shape: Shape, pose: Pose, k: int = 1, max_distance: float = np.inf
    ) -> NearestResult:
        """Return the `k` nearest obstacles no farther than `max_distance` [m].

        Raises
        ------
        InputError
            NON_FINITE, COORD_RANGE, INVALID_INPUT, ARRAY_MISMATCH.
        """
        if k < 1:
            raise InputError(Status.INVALID_INPUT, "k", None, "must be at least 1")
        placed = as_floats(pose, "pose")
        if placed.shape != (3,):
            raise InputError(Status.ARRAY_MISMATCH, "pose", None, "must be (x, y, yaw)")
        found = self._core.nearest(shape._core, placed, k, max_distance)
        return NearestResult(ids=self._ids_of(found["indices"]), **found)

    def _ids_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        if len(self._ids) == 0:
            return indices
        return np.where(indices >= 0, self._ids[indices], -1)


def _as_integers(
    values: ArrayLike, argument: str, dtype: type[np.unsignedinteger] | type[np.int64]
) -> NDArray[np.integer]:
    """Integers as `dtype`, refused by index where they do not fit it."""
    array = np.asarray(values)
    if array.size == 0:
        return np.empty(0, dtype=dtype)
    if array.dtype.kind not in "iu":
        rule = f"must be integers (got dtype {array.dtype})"
        raise InputError(Status.INVALID_INPUT, argument, None, rule)
    limits = np.iinfo(dtype)
    outside = (array < limits.min) | (array > limits.max)
    if outside.any():
        rule = f"must lie in [{limits.min}, {limits.max}]"
        raise InputError(Status.INVALID_INPUT, argument, int(np.argmax(outside)), rule)
    return array.astype(dtype)


def _checked_ids(ids: ArrayLike | None, count: int) -> NDArray[np.int64]:
    if ids is None:
        checked = np.arange(count, dtype=np.int64)
    else:
        checked = _as_integers(ids, "ids", np.int64).astype(np.int64)
    if checked.shape != (count,):
        rule = f"must hold one id for each of {count} obstacles"
        raise InputError(Status.ARRAY_MISMATCH, "ids", None, rule)
    checked.setflags(write=False)
    return checked
