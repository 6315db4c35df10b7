# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The fields of a scenario file. An error names the file, the line, the case and the field."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Any

from ..server.parameters.names import did_you_mean

__all__ = ["NOWHERE", "CaseError", "Fields", "Place"]

_CLOSE = 0.6  # similarity of a key to the one that was meant


class CaseError(ValueError):
    """A scenario file or a parameter file is not valid."""


@dataclass(frozen=True)
class Place:
    """An element of a scenario file.

    Attributes
    ----------
    file : str
        The file, or the option of the command line; empty: not known.
    case : str
        Name of the case; empty: none.
    lines : dict
        Keys and indices of an element -> its line.
    keys : tuple
        Keys and indices of this element.
    """

    file: str = ""
    case: str = ""
    lines: Mapping[tuple[Any, ...], int] = field(default_factory=dict)
    keys: tuple[Any, ...] = ()

    def at(self, *keys: Any) -> "Place":
        """Return the place of an element of this one."""
        return replace(self, keys=(*self.keys, *keys))

    def error(self, rule: str) -> CaseError:
        """Return the error that this element breaks a rule."""
        return CaseError(f"{self}: {rule}" if str(self) else rule)

    def unless_one_of(self, given: Any, allowed: Iterable[str]) -> None:
        """Raise an error if a value is not one of those allowed."""
        names = list(allowed)
        if given not in names:
            hint = did_you_mean(str(given), names, _CLOSE)
            raise self.error(f"must be one of {', '.join(names)} (got {given!r}){hint}")

    def __str__(self) -> str:
        found = [self.lines.get(self.keys[:n]) for n in range(len(self.keys), -1, -1)]
        line = next((f"line {each}" for each in found if each is not None), "")
        case = f"case '{self.case}'" if self.case else ""
        name = "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in self.keys)
        where = ", ".join(filter(None, (self.file, line, case)))
        return ": ".join(filter(None, (where, name.removeprefix("."))))


NOWHERE = Place()


class Fields:
    """The fields of one mapping, each of which is checked when it is read.

    Parameters
    ----------
    given : Any
        The element of the file.
    place : Place
        Where it is.
    allowed : iterable of str
        The allowed keys.

    Raises
    ------
    CaseError
        The element is not a mapping, or it has an unknown key.
    """

    def __init__(self, given: Any, place: Place, allowed: Iterable[str]) -> None:
        if not isinstance(given, dict):
            raise place.error(f"must be a mapping (got {given!r})")
        names = list(allowed)
        for key in given:
            if key not in names:
                hint = did_you_mean(str(key), names, _CLOSE)
                rule = f"unknown key{hint}; allowed: {', '.join(names)}"
                raise place.at(str(key)).error(rule)
        self._given, self.place = given, place

    def get(self, name: str) -> Any:
        """Return a field without a check; None: it is not given."""
        return self._given.get(name)

    def error(self, name: str, rule: str) -> CaseError:
        """Return the error that a field breaks a rule, with its value."""
        return self.place.at(name).error(f"{rule} (got {self.get(name)!r})")

    def number(self, name: str, default: float | None = None, low: float = -inf) -> float:
        """Return a finite number of at least `low`. A field without a default is required."""
        value = self.get(name)
        if value is None and default is not None and name not in self._given:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise self.error(name, "must be a finite number")
        if value < low:
            raise self.error(name, f"must be >= {low:g}")
        return float(value)

    def whole(self, name: str, low: float = -inf) -> int | None:
        """Return a whole number of at least `low`; None: it is not given."""
        value: int | None = self.get(name)
        if value is None and name not in self._given:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            rule = f" >= {low:g}" if low > -inf else ""
            raise self.error(name, f"must be a whole number{rule}")
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a field that is true or false."""
        value = self._given.get(name, default)
        if not isinstance(value, bool):
            raise self.error(name, "must be true or false")
        return value

    def text(self, name: str) -> str:
        """Return a required text that is not empty."""
        value = self.get(name)
        if not isinstance(value, str) or not value:
            raise self.error(name, "must be a text that is not empty")
        return value

    def one_of(self, name: str, allowed: Iterable[str]) -> str:
        """Return a required text that is one of those allowed."""
        value: str = self.get(name)
        self.place.at(name).unless_one_of(value, allowed)
        return value

    def items(self, name: str) -> list[tuple[Any, Place]]:
        """Return the elements of a list with their places; empty: it is not given."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(name, "must be a list")
        return [(each, self.place.at(name, i)) for i, each in enumerate(value)]

    def span(self, end: float | None = None) -> tuple[float, float]:
        """Return the times ``from`` and ``to`` [s]; `end`: default of ``to``."""
        first, last = self.number("from"), self.number("to", end)
        if not first < last:
            raise self.error("to", f"must be > 'from', which is {first:g}")
        return first, last
