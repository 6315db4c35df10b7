# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Base class of results: equality and a short text, also for fields that are arrays."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from reprlib import Repr
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .verdict import Status, Verdict

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Record"]

_WIDTH = 99  # columns
_LINES = 10
_FEW = 6  # values of an array that are all shown
_ENUMS: dict[str, type[Verdict] | type[Status]] = {"verdicts": Verdict, "statuses": Status}

_FLOATS = float, np.floating

_short = Repr()
_short.maxstring = _short.maxother = 60


class Record:
    """A dataclass whose fields may be arrays.

    Two records are equal if they have the same class and all fields are equal. Arrays are equal if
    their types, shapes and values are, and NaN is equal to NaN. Records have no hash. The text of
    a record has at most 10 lines, and shows only the first and the last values of a long array.
    """

    __slots__ = ()

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        """Return a record of a class without slots from the values of all fields.

        The record keeps the dictionary. The caller must not use it afterwards.

        It takes a tenth of the time of the constructor of a frozen dataclass, which sets each
        field by a call. For small requests, that is longer than the computation.
        """
        record = object.__new__(cls)
        object.__setattr__(record, "__dict__", values)
        return record

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same class and equal fields."""
        if type(other) is not type(self):
            return NotImplemented
        names = [each.name for each in fields(self)]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the fields, in at most 10 lines."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        texts = [f"{name}={_text(name, value)}" for name, value in values.items()]
        lines = [f"{type(self).__name__}("]
        for text in texts:
            if len(lines[-1]) + len(text) > _WIDTH:
                lines.append("    ")
            lines[-1] += f"{text}, "
        if len(lines) > _LINES:
            lines[_LINES - 1 :] = ["    ..., "]
        return "\n".join(line.rstrip() for line in lines)[:-1] + ")"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    return bool(a == b) or (
        isinstance(a, _FLOATS) and isinstance(b, _FLOATS) and bool(np.isnan(a) and np.isnan(b))
    )


def _text(name: str, value: Any) -> str:
    """Return the value of a field in one line."""
    if name in _ENUMS and isinstance(value, np.ndarray | np.integer):
        return _counts(_ENUMS[name], np.asarray(value))
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Record):
        return " ".join(repr(value).split())
    if isinstance(value, tuple) and value and isinstance(value[0], Record):
        return f"<{len(value)} {type(value[0]).__name__}>"
    if isinstance(value, dict):
        return f"<{', '.join(value)}>"
    return repr(value) if name == "message" else _short.repr(value)


def _counts(kind: type[Verdict] | type[Status], values: NDArray[Any]) -> str:
    """Return how often each verdict or status occurs; the shape, unless it is one value."""
    numbers, counts = np.unique(values, return_counts=True)
    pairs = sorted(zip(counts.tolist(), numbers.tolist(), strict=True), reverse=True)
    names = [f"{count} {kind(number).name}" for count, number in pairs]
    if values.ndim == 0:
        return kind(int(values)).name
    return f"<{values.shape}: {', '.join(names[:4] + ['...'] * (len(names) > 4))}>"


def _array(values: NDArray[Any]) -> str:
    text = np.array2string(
        values if values.size <= _FEW else values.ravel(),
        precision=6,
        separator=", ",
        threshold=_FEW,
        edgeitems=2,
        max_line_width=10**6,
    )
    text = " ".join(text.split()).replace("[ ", "[").replace(",]", "]")
    return text if values.size <= _FEW else f"<{values.shape}: {text.strip('[]')}>"
