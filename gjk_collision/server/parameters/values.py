# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters as fields of a dataclass: their help, unit and range, and the checks of a value."""

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Literal

from ...arguments import as_frame
from ...errors import refuse

__all__ = [
    "Facts",
    "Value",
    "check_fields",
    "checked",
    "facts_of",
    "list_of_names",
    "parameter",
    "parameter_fields",
]

Value = bool | int | float | str | tuple[float, ...] | tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Help, unit and range of a parameter.

    Attributes
    ----------
    text : str
        Help, on one line.
    unit : str
        SI unit; empty for a name, a count or a choice.
    low, high : float or None
        Closed range of a number, or of each number in a list.
    choices : tuple of str
        Allowed values; empty: any value.
    safe : "up", "down", "any" or None
        Safe direction: a change in this direction never makes a verdict FREE. While the server is
        active, the parameter can only change in this direction. any: it may always change. None:
        it cannot change while the server is configured.
    types : tuple of str
        Message types of sources that have this parameter; empty: all.
    is_frame : bool
        Whether the value is the name of a frame.
    """

    text: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    safe: Literal["up", "down", "any"] | None = None
    types: tuple[str, ...] = ()
    is_frame: bool = False

    @property
    def span(self) -> str:
        """The range and the unit, or the choices, as text; empty if there are none."""
        if self.choices:
            return " | ".join(self.choices)
        if self.low is None:
            return f"[{self.unit}]" if self.unit else ""
        return f"{self.low:.7g} to {self.high:.7g} {self.unit}".rstrip()


def parameter(default: Any, text: str, unit: str = "", **facts: Any) -> Any:
    """Return a field with facts; the arguments after `default` are those of `Facts`."""
    return field(default=default, metadata={"facts": Facts(text, unit, **facts)})


def parameter_fields(owner: type[Any]) -> Iterator[Field[Any]]:
    """Yield the fields of a dataclass that are parameters."""
    return (each for each in fields(owner) if "facts" in each.metadata)


def facts_of(each: Field[Any]) -> Facts:
    """Return the facts of such a field."""
    facts: Facts = each.metadata["facts"]
    return facts


def check_fields(config: Any, prefix: str) -> None:
    """Check each field against its facts, and convert whole numbers of float fields to float."""
    for each in parameter_fields(type(config)):
        assert each.default is not MISSING
        value = checked(
            prefix + each.name, getattr(config, each.name), each.default, facts_of(each)
        )
        object.__setattr__(config, each.name, value)


def list_of_names(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of strings as a tuple."""
    if not isinstance(value, list | tuple) or not all(isinstance(n, str) for n in value):
        refuse(name, "must be a list of names", repr(value))
    return tuple(value)


def checked(name: str, value: Any, default: Value, facts: Facts) -> Value:
    """Return a value with the type of its default, after a check against its facts."""
    if isinstance(default, tuple):
        if facts.low is None:  # a list of names
            return list_of_names(name, value)
        if isinstance(value, str):
            value = _nav2_outline(name, value)
        if not isinstance(value, Sequence):
            refuse(name, "must be a list of numbers", repr(value))
        return tuple(_number(name, each, facts, index=i) for i, each in enumerate(value))
    if facts.is_frame:
        return as_frame(value, name)
    if isinstance(default, bool | str):
        if type(value) is not type(default):
            kind = "true or false" if isinstance(default, bool) else "a string"
            refuse(name, f"must be {kind}", repr(value))
        if facts.choices and value not in facts.choices:
            refuse(name, f"must be one of {facts.span}", repr(value))
        return bool(value) if isinstance(default, bool) else str(value)
    number = _number(name, value, facts)
    if isinstance(default, int):
        # rcl reads 1e3 and 1000.0 as floating-point numbers.
        if not isinstance(value, int):
            rule = "must be a whole number, without a decimal point or an exponent"
            refuse(name, rule, repr(value))
        return value
    return number


def _nav2_outline(name: str, text: str) -> list[Any]:
    """Return the flat numbers of an outline in nav2's form ``"[[2.0, 1.0], [2.0, -1.0]]"``."""
    try:
        pairs = ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pairs = None
    lists = isinstance(pairs, list) and all(isinstance(each, list) for each in pairs)
    if not lists or any(len(each) != 2 for each in pairs):
        rule = 'must be a list of numbers, or nav2\'s string "[[x, y], ...]"'
        refuse(name, rule, repr(text))
    return [number for pair in pairs for number in pair]


def _number(name: str, value: Any, facts: Facts, index: int | None = None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(name, f"must be a number, {facts.span}", repr(value), index)
    assert facts.low is not None
    assert facts.high is not None
    if not math.isfinite(value) or not facts.low <= value <= facts.high:
        refuse(name, f"must be {facts.span}", repr(value), index)
    return float(value)
