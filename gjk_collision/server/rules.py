# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the values in a request. A check that fails raises `InputError`."""

from math import inf, isfinite
from typing import Any, Literal, NoReturn, get_args

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..verdict import Status
from .config import Config
from .frames import Pose

__all__ = [
    "MODES",
    "Mode",
    "batch",
    "checked_mode",
    "index_pairs",
    "non_negative",
    "refuse",
    "single",
    "sums_rounded_up",
    "total_margin",
]

Mode = Literal["collide", "distance", "witness"]
# The indices are the constants MODE_COLLIDE, MODE_DISTANCE and MODE_WITNESS of the services.
MODES: tuple[Mode, ...] = get_args(Mode)

Floats = npt.NDArray[np.float64]


def refuse(status: Status, name: str, index: int | None, rule: str) -> NoReturn:
    """Raise an `InputError` with these attributes."""
    raise InputError(status, name, index, rule)


def non_negative(name: str, value: float) -> float:
    """Return the value if it is finite and not negative; otherwise raise `InputError`."""
    if not isfinite(value):
        refuse(Status.NON_FINITE, name, None, f"must be finite (got {value})")
    if value < 0.0:
        refuse(Status.INVALID_INPUT, name, None, f"must not be negative (got {value})")
    return value


def total_margin(config: Config, margin: float) -> float:
    """Return the configured margin plus the margin of a request [m], rounded up."""
    extra = np.array([non_negative("margin", margin)])
    return float(sums_rounded_up(extra, config.safety_margin)[0])


def sums_rounded_up(values: Floats, more: Floats | float) -> Floats:
    """Return `values + more`. If a sum is not a double, it is rounded up.

    Notes
    -----
    The rounding error of a sum is computed exactly (Knuth's two-sum).
    """
    sums = values + more
    rest = sums - values
    errors = (values - (sums - rest)) + (more - rest)
    rounded: Floats = np.where(errors > 0.0, np.nextafter(sums, inf), sums)
    return rounded


def checked_mode(mode: int) -> Mode:
    """Return the name of a mode in the library."""
    if not 0 <= mode < len(MODES):
        rule = "must be 0 (collide), 1 (distance) or 2 (witness)"
        refuse(Status.INVALID_INPUT, "mode", None, f"{rule} (got {mode})")
    return MODES[mode]


def single(pose: Pose) -> Floats:
    """Return one pose as an array (1, 3); raise `InputError` if it is not finite."""
    if not all(map(isfinite, pose)):
        refuse(Status.NON_FINITE, "pose", None, f"must be finite (got {tuple(pose)})")
    return np.array([pose], dtype=np.float64)


def batch(poses: Floats, times: Floats, limit: int) -> Floats:
    """Check flat poses and their times, and return the poses as an array (M, 3).

    The number of poses is checked first.

    Parameters
    ----------
    poses : (3 M,) float64
        x y yaw [m, m, rad] per pose.
    times : (M,) or (0,) float64
        Time of each pose [s]; empty: no times.
    limit : int
        Maximum number of poses.

    Raises
    ------
    InputError
        LIMIT_EXCEEDED, ARRAY_MISMATCH, EMPTY_REQUEST or NON_FINITE.
    """
    _core.check_batch(poses, times, limit)
    return poses.reshape(-1, 3)


def index_pairs(
    pairs: npt.NDArray[np.integer[Any]], rows: int, columns: int, limit: int
) -> npt.NDArray[np.int64]:
    """Return the indices of all pairs as an array (M, 2). Their number is checked first.

    Parameters
    ----------
    pairs : (2 M,) integers
        Index in a, index in b per pair; empty: all pairs, a in the outer loop.
    rows, columns : int
        Number of shapes in a and in b.
    limit : int
        Maximum number of pairs.

    Raises
    ------
    InputError
        ARRAY_MISMATCH, EMPTY_REQUEST, LIMIT_EXCEEDED or INVALID_INPUT.
    """
    if len(pairs) % 2:
        rule = f"must have an even number of values, two per pair (got {len(pairs)})"
        refuse(Status.ARRAY_MISMATCH, "pairs", None, rule)
    count = len(pairs) // 2 or rows * columns
    if count == 0:
        rule = "there must be at least one pair; a or b has no shapes"
        refuse(Status.EMPTY_REQUEST, "pairs", None, rule)
    if count > limit:
        refuse(Status.LIMIT_EXCEEDED, "pairs", None, f"{count} pairs, limit {limit}")
    if not len(pairs):
        return np.indices((rows, columns)).reshape(2, -1).T
    ij = pairs.astype(np.int64).reshape(-1, 2)
    beyond = (ij < 0) | (ij >= (rows, columns))
    if beyond.any():
        k = int(np.argmax(beyond.ravel()))
        size = (rows, columns)[k % 2]
        rule = f"must be an index in {'ab'[k % 2]}, 0 to {size - 1} (got {pairs[k]})"
        refuse(Status.INVALID_INPUT, "pairs", k, rule)
    return ij
