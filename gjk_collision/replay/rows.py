# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What was answered at one stamp, as one line of JSON whose bytes are the same everywhere."""

import json
from dataclasses import dataclass
from math import floor, inf, isfinite, isnan, nan
from typing import Any

from ..verdict import Status, Verdict

__all__ = ["FORMAT", "Row"]

# Of the result file; counts up where a reader would have to know.
FORMAT = 1

# Written to the nanometre (nanosecond, nanoradian): what different machines' sine and cosine
# differ by lies far below.
DIGITS = 9

_NUMBERS = ("distance", "lower_bound", "footprint_age", "obstacle_age")
_POINTS = ("witness_ego", "witness_obstacle", "direction", "ego")


@dataclass(slots=True)
class Row:
    """One evaluated stamp, or one recorded request answered again.

    Attributes
    ----------
    time, now : int
        Log time; the time that stamps are compared with [ns]. Different where the bag has a
        clock of its own.
    cause : str
        ``data``: obstacles came; ``silence``: none came for a period; else a service's name.
    verdict, status, message, nearest_id, nearest_source
        As in ``msg/Verdict.msg`` and ``msg/CollisionState.msg``.
    distance, lower_bound : float
        [m]; NaN: not computed; +inf: no obstacle.
    witness_ego, witness_obstacle, direction : (float, float)
        Closest points in the check frame [m], and the unit vector between them; empty: none.
    ego : (float, float, float)
        x y yaw [m, m, rad] that was asked about; empty: not known, or many.
    snapshot_id : int
        Equal ids: the same data.
    footprint_age, obstacle_age : float
        [s]; NaN: none.
    bad_sources : tuple of str
        Missing, stale or faulty.
    recorded : str
        Verdict of the recorded reply to a request; empty: none.
    digest : int
        CRC-32 of all that a batch was answered; 0: a single answer.
    """

    time: int
    now: int
    cause: str
    verdict: Verdict
    status: Status
    message: str = ""
    distance: float = nan
    lower_bound: float = nan
    nearest_id: int = -1
    nearest_source: str = ""
    witness_ego: tuple[float, ...] = ()
    witness_obstacle: tuple[float, ...] = ()
    direction: tuple[float, ...] = ()
    ego: tuple[float, ...] = ()
    snapshot_id: int = 0
    footprint_age: float = nan
    obstacle_age: float = nan
    bad_sources: tuple[str, ...] = ()
    recorded: str = ""
    digest: int = 0

    @property
    def is_state(self) -> bool:
        """Whether this is the vehicle where it was, and not a request."""
        return self.cause in ("data", "silence")

    def to_json(self) -> str:
        """Return one line; NaN is null, infinity is a string, the rest is rounded (see DIGITS)."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields["verdict"], fields["status"] = self.verdict.name, self.status.name
        for name in _NUMBERS:
            fields[name] = _number(fields[name])
        if isfinite(self.lower_bound):
            # Rounded down, so that it stays a bound.
            fields["lower_bound"] = floor(self.lower_bound * 10**DIGITS) / 10**DIGITS
        for name in _POINTS:
            fields[name] = [_number(value) for value in fields[name]]
        return json.dumps(fields, separators=(",", ":"), allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Row":
        """Return the row of a parsed line; raises KeyError, TypeError where it is none."""
        given = dict(fields)
        given["verdict"], given["status"] = Verdict[given["verdict"]], Status[given["status"]]
        for name in _NUMBERS:
            given[name] = _parsed(given[name])
        for name in (*_POINTS, "bad_sources"):
            given[name] = tuple(given[name])
        return cls(**given)


def _number(value: float) -> float | str | None:
    if isnan(value):
        return None
    if value in (inf, -inf):
        return "Infinity" if value > 0.0 else "-Infinity"
    return round(value, DIGITS) + 0.0  # never -0.0


def _parsed(value: float | str | None) -> float:
    return nan if value is None else float(value)
