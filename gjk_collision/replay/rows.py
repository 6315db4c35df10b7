# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""An answer of a replay as one line of JSON, with the same bytes on every machine."""

import json
from dataclasses import dataclass
from math import floor, inf, isfinite, isnan, nan
from typing import Any

from ..verdict import Status, Verdict

__all__ = ["DIGITS", "FORMAT", "Row", "near_change"]

# Format of the result file. Increase it when a reader of the old format cannot read the new one.
FORMAT = 1

# Decimal places in the file: nanometres, nanoseconds, nanoradians. The differences between the
# sine and cosine of different machines are far smaller.
DIGITS = 9

_NUMBERS = ("distance", "lower_bound", "footprint_age", "obstacle_age", "time_to_collision")
_POINTS = ("witness_ego", "witness_obstacle", "direction", "ego")


@dataclass(slots=True)
class Row:
    """The answer at one stamp, or the new answer to one recorded request.

    Attributes
    ----------
    time : int
        Log time [ns].
    now : int
        Present time with which stamps are compared [ns]. It differs from `time` if the bag has a
        topic of type Clock.
    cause : str
        ``data``: obstacles were received; ``silence``: no obstacles were received for a period;
        otherwise the name of a service.
    verdict, status, message, nearest_id, nearest_source
        As in ``msg/Verdict.msg`` and ``msg/CollisionState.msg``.
    distance, lower_bound : float
        Distance and its lower bound [m]; NaN: not computed; +inf: no obstacle.
    witness_ego, witness_obstacle, direction : (float, float)
        Closest points in the check frame [m], and the unit vector between them; empty: none.
    ego : (float, float, float)
        x y yaw [m, m, rad] of the vehicle in the check frame; empty: not known, or several poses.
    snapshot_id : int
        Id of the snapshot; equal ids mean the same data.
    footprint_age, obstacle_age : float
        Ages of the footprint and of the oldest obstacle message [s]; NaN: none.
    bad_sources : tuple of str
        Names of the sources whose data is missing, stale or invalid.
    recorded : str
        Verdict of the recorded reply to a request; empty: none.
    digest : int
        CRC-32 of values in the answer to a request, for comparison with another row; 0: the answer
        has only one verdict.
    time_to_collision : float
        As in ``msg/CollisionState.msg`` [s]; NaN: not known. It is not in the file then.
    near : tuple of (int, str, float)
        Id, source and distance [m] of each of the nearest obstacles, if a case asks for several.
        It is not in the file if it is empty.
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
    time_to_collision: float = nan
    near: tuple[tuple[int, str, float], ...] = ()

    @property
    def is_state(self) -> bool:
        """Whether this is the answer for the present pose of the vehicle, not for a request."""
        return self.cause in ("data", "silence")

    def to_json(self) -> str:
        """Return one line of JSON. NaN is null, infinity is a string, numbers are rounded."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields["verdict"], fields["status"] = self.verdict.name, self.status.name
        for name in _NUMBERS:
            fields[name] = _number(fields[name])
        if isfinite(self.lower_bound):
            # Rounded down, so that it stays a bound.
            fields["lower_bound"] = floor(self.lower_bound * 10**DIGITS) / 10**DIGITS
        if isnan(self.time_to_collision):  # files of bags without a twist stay the same
            del fields["time_to_collision"]
        elif isfinite(self.time_to_collision):  # rounded down, so that it is not late
            rounded = floor(self.time_to_collision * 10**DIGITS) / 10**DIGITS
            fields["time_to_collision"] = rounded
        if not self.near:
            del fields["near"]
        for name in _POINTS:
            fields[name] = [_number(value) for value in fields[name]]
        return json.dumps(fields, separators=(",", ":"), allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Row":
        """Return the row for a parsed line.

        Raises
        ------
        KeyError, TypeError
            The line is not a row.
        """
        given = dict(fields)
        given["verdict"], given["status"] = Verdict[given["verdict"]], Status[given["status"]]
        for name in _NUMBERS:
            given[name] = _parsed(given.get(name) if name == _NUMBERS[-1] else given[name])
        for name in (*_POINTS, "bad_sources"):
            given[name] = tuple(given[name])
        given["near"] = tuple(map(tuple, given.get("near", ())))
        return cls(**given)


def _number(value: float) -> float | str | None:
    if isnan(value):
        return None
    if value in (inf, -inf):
        return "Infinity" if value > 0.0 else "-Infinity"
    return round(value, DIGITS) + 0.0  # never -0.0


def _parsed(value: float | str | None) -> float:
    return nan if value is None else float(value)


def near_change(old: Row, new: Row, tolerance: float) -> str:
    """Return the first difference between the nearest obstacles of two rows; empty: none [m]."""
    before, after = ({each[:2]: each[2] for each in row.near} for row in (old, new))
    for key in {**after, **before}:
        was, now = before.get(key, nan), after.get(key, nan)
        if not abs(now - was) <= tolerance:
            texts = ("not among the nearest" if isnan(d) else f"{d:.6g} m" for d in (was, now))
            return f"obstacle {key[0]} of {key[1]}: {' -> '.join(texts)}"
    return ""
