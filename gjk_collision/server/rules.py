# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules that the numbers of a request obey; a broken one raises `InputError`."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf, isfinite
from typing import Any, Literal, NoReturn, get_args

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..verdict import Status
from .config import Config
from .frames import Pose

__all__ = [
    "MODES",
    "Mode",
    "batch",
    "checked_mode",
    "demanded_margin",
    "index_pairs",
    "non_negative",
    "numbered_from",
    "refuse",
    "rising",
    "single",
    "sums_rounded_up",
]

Mode = Literal["collide", "distance", "witness"]
MODES: tuple[Mode, ...] = get_args(
    Mode
)  # by the constants MODE_COLLIDE, MODE_DISTANCE, MODE_WITNESS

Floats = npt.NDArray[np.float64]


def refuse(status: Status, name: str, index: int | None, rule: str) -> NoReturn:
    """Raise the `InputError` of these facts."""
    raise InputError(status, name, index, rule)


def non_negative(name: str, value: float) -> float:
    """Return a finite number that is not negative."""
    if not isfinite(value):
        refuse(Status.NON_FINITE, name, None, f"must be finite (got {value})")
    if value < 0.0:
        refuse(Status.INVALID_INPUT, name, None, f"must be >= 0 (got {value})")
    return value


def demanded_margin(config: Config, margin: float) -> float:
    """Return the configured margin plus that of a request [m], rounded up."""
    extra = np.array([non_negative("margin", margin)])
    return float(sums_rounded_up(extra, config.safety_margin)[0])


def sums_rounded_up(values: Floats, more: Floats | float) -> Floats:
    """Return `values + more`; sums that are no doubles are rounded up, never to nearest.

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
    """Return the library's name of a mode."""
    if not 0 <= mode < len(MODES):
        refuse(Status.INVALID_INPUT, "mode", None, f"must be 0, 1 or 2 (got {mode})")
    return MODES[mode]


def single(pose: Pose) -> Floats:
    """Return one finite pose as (1, 3)."""
    if not all(map(isfinite, pose)):
        refuse(Status.NON_FINITE, "pose", None, f"must be finite (got {tuple(pose)})")
    return np.array([pose], dtype=np.float64)


def batch(poses: Floats, times: Floats, limit: int) -> Floats:
    """Check flat poses and their times, their number before anything else; return (M, 3)."""
    count, rest = divmod(len(poses), 3)
    if count > limit:
        refuse(Status.LIMIT_EXCEEDED, "poses", None, f"{count} poses, limit {limit}")
    if rest:
        rule = f"must hold x y yaw per pose (got {len(poses)} numbers)"
        refuse(Status.ARRAY_MISMATCH, "poses", None, rule)
    if count == 0:
        refuse(Status.EMPTY_REQUEST, "poses", None, "must hold one pose at least")
    if len(times) not in (0, count):
        rule = f"must hold one per pose, {count}, or none (got {len(times)})"
        refuse(Status.ARRAY_MISMATCH, "times", None, rule)
    for name, values in (("poses", poses), ("times", times)):
        finite = np.isfinite(values)
        if not finite.all():
            i = int(np.argmin(finite))
            refuse(Status.NON_FINITE, name, i, f"must be finite (got {values[i]})")
    return poses.reshape(-1, 3)


def rising(name: str, values: Floats, compared: Floats) -> None:
    """Refuse numbers that do not increase, told by what they are compared as."""
    falling = np.diff(compared) <= 0.0
    if falling.any():
        i = int(np.argmax(falling)) + 1
        refuse(Status.INVALID_INPUT, name, i, f"must increase strictly (got {values[i]})")


@contextmanager
def numbered_from(start: int) -> Iterator[None]:
    """Give what is refused of a batch's poses from `start` on its index in the flat field."""
    try:
        yield
    except InputError as error:
        if error.index is None:
            raise
        index = start + error.index
        if error.argument == "poses":  # the kernel counts poses, the field holds numbers
            index *= 3
        raise InputError(error.status, error.argument, index, error.rule) from None


def index_pairs(
    pairs: npt.NDArray[np.integer[Any]], rows: int, columns: int, limit: int
) -> npt.NDArray[np.int64]:
    """Return (M, 2) indices; counted before they are made."""
    if len(pairs) % 2:
        refuse(Status.ARRAY_MISMATCH, "pairs", None, f"must hold pairs (got {len(pairs)})")
    count = len(pairs) // 2 or rows * columns
    if count == 0:
        refuse(Status.EMPTY_REQUEST, "pairs", None, "must name one at least")
    if count > limit:
        refuse(Status.LIMIT_EXCEEDED, "pairs", None, f"{count} pairs, limit {limit}")
    if not len(pairs):
        return np.indices((rows, columns)).reshape(2, -1).T
    ij = pairs.astype(np.int64).reshape(-1, 2)
    beyond = (ij < 0) | (ij >= (rows, columns))
    if beyond.any():
        k = int(np.argmax(beyond.ravel()))
        rule = f"must be below {(rows, columns)[k % 2]} (got {pairs[k]})"
        refuse(Status.INVALID_INPUT, "pairs", k, rule)
    return ij
