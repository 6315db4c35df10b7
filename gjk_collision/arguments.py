# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments as the kernel takes them; what is of another kind is refused by name."""

from operator import index
from reprlib import repr as short
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .verdict import Status

__all__ = ["as_flag", "as_floats", "as_integers", "as_number", "as_vector", "as_whole", "instance"]

T = TypeVar("T")

_FLAGS = (bool, np.bool_)  # a tuple: to make a union at each query costs more than to check it


def instance(value: T, kind: type[T], argument: str) -> T:
    """Return an object of one of this package's classes."""
    if not isinstance(value, kind):
        rule = f"must be a {kind.__name__} (got {type(value).__name__})"
        raise InputError(Status.INVALID_INPUT, argument, None, rule)
    return value


def as_number(value: float, argument: str) -> float:
    """One real number."""
    try:
        return value.__float__()  # which no text has, unlike what float() takes
    except (AttributeError, TypeError, OverflowError):
        rule = f"must be a number (got {short(value)})"
        raise InputError(Status.INVALID_INPUT, argument, None, rule) from None


def as_whole(value: int, argument: str, low: int = -(2**31), high: int = 2**31 - 1) -> int:
    """One whole number from `low` to `high`."""
    try:
        if low <= (whole := index(value)) <= high:
            return whole
    except TypeError:
        pass
    rule = f"must be a whole number from {low} to {high} (got {short(value)})"
    raise InputError(Status.INVALID_INPUT, argument, None, rule)


def as_flag(value: bool, argument: str) -> bool:
    """Yes or no; not what only counts as such."""
    if not isinstance(value, _FLAGS):
        rule = f"must be True or False (got {short(value)})"
        raise InputError(Status.INVALID_INPUT, argument, None, rule)
    return bool(value)


def as_floats(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Real numbers as a C-contiguous float64 array."""
    array = _as_array(values, argument)
    if array.dtype.kind not in "fiu" and array.size:
        rule = f"must be an array of real numbers (got dtype {array.dtype})"
        raise InputError(Status.INVALID_INPUT, argument, None, rule)
    return np.ascontiguousarray(array, dtype=np.float64)


def as_vector(values: ArrayLike, count: int, argument: str) -> list[float]:
    """`count` real numbers."""
    array = as_floats(values, argument)
    if array.shape != (count,):
        raise InputError(Status.ARRAY_MISMATCH, argument, None, f"must have shape ({count},)")
    numbers: list[float] = array.tolist()
    return numbers


def as_integers(
    values: ArrayLike, argument: str, dtype: type[np.unsignedinteger] | type[np.int64]
) -> NDArray[np.integer]:
    """Integers as `dtype`, refused by index where they do not fit it."""
    array = _as_array(values, argument)
    if array.size == 0:
        return np.empty(array.shape, dtype=dtype)
    if array.dtype.kind not in "iu":
        rule = f"must be integers (got dtype {array.dtype})"
        raise InputError(Status.INVALID_INPUT, argument, None, rule)
    limits = np.iinfo(dtype)
    outside = (array < limits.min) | (array > limits.max)
    if outside.any():
        rule = f"must lie in [{limits.min}, {limits.max}]"
        raise InputError(Status.INVALID_INPUT, argument, int(np.argmax(outside)), rule)
    return array.astype(dtype)


def _as_array(values: ArrayLike, argument: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InputError(Status.ARRAY_MISMATCH, argument, None, str(error)) from error
