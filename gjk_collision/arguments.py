# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of arguments to the types that the kernel accepts.

Each function raises `InputError`, which names the argument, if the conversion is not possible.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from operator import index
from reprlib import repr as short
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, refuse
from .verdict import Status

__all__: list[str] = []

T = TypeVar("T")

_FLOAT64 = np.dtype(np.float64)
_EMPTY = np.empty(0)  # it has no element that could be changed
_NESTED = {list, tuple, np.ma.MaskedArray}
_DEEPEST = 8  # maximum depth of nested lists; no argument has more axes
_BOOLS = (bool, np.bool_)  # a tuple, because each use of `bool | np.bool_` creates a new object


def instance(value: T, kind: type[T], argument: str) -> T:
    """Return `value`, which must be an instance of the class `kind`."""
    if not isinstance(value, kind):
        refuse(argument, f"must be a {kind.__name__}", type(value).__name__)
    return value


def as_number(value: float, argument: str) -> float:
    """Return a real number as float."""
    if type(value) is float:
        return value
    try:
        if not _loses_meaning(value):
            return value.__float__()  # unlike float(), this refuses strings
    except (AttributeError, TypeError, ValueError, OverflowError):
        pass
    refuse(argument, "must be a number", short(value))


def _loses_meaning(value: object) -> bool:
    """Return whether a conversion to float would drop axes, an imaginary part or a time unit."""
    if isinstance(value, _BOOLS):
        return True
    dtype = getattr(value, "dtype", None)
    return dtype is not None and (dtype.kind in "bcmM" or getattr(value, "ndim", 0) > 0)


def as_integer(value: int, argument: str, low: int = -(2**31), high: int = 2**31 - 1) -> int:
    """Return a whole number from `low` to `high`."""
    try:
        if not isinstance(value, _BOOLS) and low <= (whole := index(value)) <= high:
            return whole
    except TypeError:
        pass
    refuse(argument, f"must be a whole number from {low} to {high}", short(value))


def as_bool(value: bool, argument: str) -> bool:
    """Return True or False. Other objects with a truth value are refused."""
    if not isinstance(value, _BOOLS):
        refuse(argument, "must be True or False", short(value))
    return bool(value)


def as_frame(value: object, argument: str) -> str:
    """Return the name of a frame. tf2 has no frames with a slash at the begin or the end."""
    if isinstance(value, str) and value and value == value.strip("/"):
        return value
    rule = "must be the name of a frame, without a slash at its begin or end"
    refuse(argument, rule, short(value))


def as_choice(value: object, choices: tuple[str, ...], argument: str) -> str:
    """Return a string that is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        refuse(argument, f"must be {', '.join(others)} or {last}", short(value))
    return value


def as_list(values: Sequence[T], argument: str) -> list[T]:
    """Return the elements of a sequence. Strings, mappings and sets are refused, also if empty."""
    try:
        if not isinstance(values, str | bytes | bytearray | Mapping | Set):
            return list(values)
    except TypeError:
        pass
    refuse(argument, "must be a sequence", type(values).__name__)


def as_floats(values: ArrayLike, argument: str, *columns: int) -> NDArray[np.float64]:
    """Return real numbers as a C-contiguous float64 array.

    Each number in `columns` allows the shape (n, number), and 0 allows the shape (n,). Without
    `columns`, any shape is allowed.
    """
    if isinstance(values, tuple) and not values:
        return _EMPTY
    if type(values) is np.ndarray and values.dtype is _FLOAT64:
        array: NDArray[Any] = values
    else:
        array = _as_array(values, argument)
        if array.dtype.kind not in "fiu" and array.size:
            kind = _kind(values, array)
            rule = f"must be an array of real numbers (got {kind})"
            if kind == "Shape" and argument in ("pose", "poses"):
                rule += ": a Shape comes before the poses"
            rule += ": use Shape.from_geo" * hasattr(values, "__geo_interface__")
            refuse(argument, rule)
    if columns:
        _check_shape(array, argument, columns)
    return np.asarray(array, dtype=np.float64, order="C")


def as_vector(values: ArrayLike, argument: str, names: str = "x, y, yaw") -> list[float]:
    """Return a list of real numbers, one for each name."""
    array = as_floats(values, argument)
    if array.shape != (names.count(",") + 1,):
        rule = f"must be ({names}) (got shape {array.shape})"
        refuse(argument, rule, status=Status.ARRAY_MISMATCH)
    numbers: list[float] = array.tolist()
    return numbers


def as_poses(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Return real numbers as an array of poses, shape (..., 3), with at least one pose."""
    return as_rows_of(values, argument, 3, "pose")


def as_rows_of(values: ArrayLike, argument: str, columns: int, name: str) -> NDArray[np.float64]:
    """Return real numbers as an array of shape (..., `columns`), with at least one row."""
    rows = as_floats(values, argument)
    shape = rows.shape
    if rows.size and shape and shape[-1] == columns:
        return rows
    if rows.size == 0 and shape[-1] in (0, columns):
        refuse(argument, f"must hold at least one {name}", status=Status.EMPTY_REQUEST)
    rule = f"must have shape (..., {columns}) (got {shape})"
    if rows.ndim == 2 and len(rows) == columns:
        rule += f": transpose it, as in {argument}.T"
    refuse(argument, rule, status=Status.ARRAY_MISMATCH)


def as_integers(
    values: ArrayLike,
    argument: str,
    dtype: type[np.unsignedinteger] | type[np.int64],
    *columns: int,
) -> NDArray[np.integer]:
    """Return integers as an array of type `dtype`, which must be able to represent them.

    The allowed shapes are as for `as_floats`.
    """
    if isinstance(values, tuple) and not values:
        return np.empty(0, dtype)
    array = _as_array(values, argument)
    if array.dtype.kind not in "iu" and array.size:
        refuse(argument, "must be an array of integers", _kind(values, array))
    _check_shape(array, argument, columns)
    if array.size == 0:
        return np.empty(array.shape, dtype=dtype)
    limits = np.iinfo(dtype)
    outside = (array < limits.min) | (array > limits.max)
    if outside.any():
        i = int(np.argmax(outside))
        refuse(argument, f"must lie in [{limits.min}, {limits.max}]", array.flat[i], index=i)
    return array.astype(dtype)


def located(error: InputError, **shapes: tuple[int, ...]) -> InputError:
    """Return an error with the index on each axis; `shapes` has the shape of each array."""
    shape = shapes.get(error.argument)
    if error.index is None or shape is None or len(shape) == 1:
        return error
    if not shape:
        return InputError(error.status, error.argument, None, error.rule)
    at = ", ".join(str(i) for i in np.unravel_index(error.index, shape))
    return InputError(error.status, error.argument, error.index, f"{error.rule}, at [{at}]")


@contextmanager
def located_in(**shapes: tuple[int, ...]) -> Iterator[None]:
    """Raise errors of this block as `located` returns them."""
    try:
        yield
    except InputError as error:
        raise located(error, **shapes) from None


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Raise errors of this block with other names for some arguments."""
    try:
        yield
    except InputError as error:
        name = names.get(error.argument, error.argument)
        raise InputError(error.status, name, error.index, error.rule) from None


def warn_of_degrees(argument: str, at: int | None, yaw: float) -> None:
    """Warn of a yaw that looks like degrees. The kernel's bindings call this."""
    where = argument if at is None else f"{argument}[{at}]"
    text = f"{where}: yaw must be in radians, but {yaw:g} looks like degrees: use np.deg2rad"
    warnings.warn(text, UserWarning, stacklevel=_caller_level())


def _caller_level() -> int:
    """Return the `stacklevel` of a warning of the calling function, which points to the user."""
    frame = sys._getframe(1)
    count = 1
    while frame.f_back is not None and _is_ours(frame.f_globals):
        frame, count = frame.f_back, count + 1
    return count


def _is_ours(names: dict[str, Any]) -> bool:
    return str(names.get("__name__")).partition(".")[0] == __name__.partition(".")[0]


def _as_array(values: ArrayLike, argument: str) -> NDArray[Any]:
    masked = _masked_row(values)  # asarray() would drop the mask
    if masked is not None:
        refuse(argument, "must not be masked: remove the element", index=masked)
    try:
        # Lists that hold each other have too many elements long before numpy refuses them.
        if _depth(values) > _DEEPEST:
            raise RecursionError
        return np.asarray(values)
    except (ValueError, RecursionError) as error:
        rule, row = _uneven_row(values) or (
            f"must be an array: rows of equal length, at most {_DEEPEST} of them in each other",
            None,
        )
        raise InputError(Status.ARRAY_MISMATCH, argument, row, rule) from error


def _depth(values: Any) -> int:
    """Return how many lists or tuples are in each other, by their first elements."""
    depth = 0
    while isinstance(values, list | tuple) and len(values) and depth <= _DEEPEST:
        values, depth = values[0], depth + 1
    return depth


def _uneven_row(values: Any) -> tuple[str, int] | None:
    """Return a rule and the index of the first row that differs in length from the first one."""
    try:
        if not all(isinstance(row, list | tuple) or np.ndim(row) for row in values):
            return None
    except (TypeError, ValueError, RecursionError):
        return None
    lengths = [len(row) for row in values]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            return f"must have {lengths[0]} values, as the first row (got {length})", i
    return None


def _kind(values: object, array: NDArray[Any]) -> str:
    """Return what was given instead of numbers."""
    inner = array.flat[0] if array.dtype == object else array.dtype
    if isinstance(inner, np.dtype):
        return f"dtype {inner}"
    return type(inner).__name__ if inner is values else f"objects of type {type(inner).__name__}"


def _masked_row(values: ArrayLike, depth: int = 0) -> int | None:
    """Return the index of the first row with a masked element, also in nested lists."""
    if depth > _DEEPEST:
        return None  # it cannot become an array
    if isinstance(values, np.ma.MaskedArray):
        rows: Any = values if values.ndim else [values]
        return next((i for i, row in enumerate(rows) if np.ma.is_masked(row)), None)
    if isinstance(values, list | tuple) and _NESTED & set(map(type, values)):
        return next(
            (i for i, row in enumerate(values) if _masked_row(row, depth + 1) is not None), None
        )
    return None


def _check_shape(array: NDArray[Any], argument: str, columns: tuple[int, ...]) -> None:
    """Refuse an array of a wrong shape. The kernel reads flat data and would not detect it."""
    if not columns or array.shape == (0,):
        return
    if array.ndim == 2 and array.shape[1] in columns and array.shape[1]:
        return
    allowed = [(count,) if count else () for count in columns]
    if array.ndim == 0 or array.shape[1:] not in allowed:
        shapes = " or ".join(f"(n, {count})" if count else "(n,)" for count in columns)
        rule = f"must have shape {shapes} (got {array.shape})"
        if array.ndim == 2 and len(array) in columns:
            rule += f": transpose it, as in {argument}.T"
        refuse(argument, rule, status=Status.ARRAY_MISMATCH)
