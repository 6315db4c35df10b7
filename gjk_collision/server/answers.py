# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers to the questions of the services, as plain data."""

from dataclasses import dataclass, field
from math import nan

import numpy as np
import numpy.typing as npt

from ..verdict import Status, Verdict, no_truth_value
from .snapshot import Fault

__all__ = [
    "WORST_FIRST",
    "Answer",
    "DistanceAnswer",
    "PathAnswer",
    "PosesAnswer",
    "ShapesAnswer",
    "StateAnswer",
    "budget_spent",
    "reason",
    "unknown",
    "worst",
]

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.uint16]

WORST_FIRST = (Verdict.COLLISION, Verdict.UNKNOWN, Verdict.MARGIN, Verdict.FREE)


def _no_bytes() -> Bytes:
    return np.empty(0, np.uint8)


def _no_floats() -> Floats:
    return np.empty(0)


def _no_integers() -> Integers:
    return np.empty(0, np.int64)


def _no_shorts() -> Shorts:
    return np.empty(0, np.uint16)


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict with its reason, and the obstacle that decides it (-1: none)."""

    verdict: Verdict
    status: Status
    message: str = ""
    nearest_id: int = -1
    nearest_source: str = ""

    __bool__ = no_truth_value("`.is_free`")

    @property
    def is_free(self) -> bool:
        """FREE requires SUCCESS."""
        return self.verdict is Verdict.FREE and self.status is Status.SUCCESS


@dataclass(frozen=True, slots=True)
class DistanceAnswer:
    """The nearest obstacles in ascending distance; K of them. Points in the check frame [m]."""

    answer: Answer
    ids: Integers = field(default_factory=_no_integers)
    sources: tuple[str, ...] = ()
    distances: Floats = field(default_factory=_no_floats)
    lower_bounds: Floats = field(default_factory=_no_floats)
    witness_ego: Floats = field(default_factory=_no_floats)  # (K, 2)
    witness_obstacle: Floats = field(default_factory=_no_floats)  # (K, 2)
    directions: Floats = field(default_factory=_no_floats)  # (K, 2), unit, ego to obstacle
    statuses: Shorts = field(default_factory=_no_shorts)

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class PosesAnswer:
    """One verdict per pose and the worst of them; M poses (0 where the request was refused).

    Of an UNKNOWN pose distance, bound and witnesses are NaN.
    """

    answer: Answer
    verdicts: Bytes = field(default_factory=_no_bytes)
    statuses: Shorts = field(default_factory=_no_shorts)
    distances: Floats = field(default_factory=_no_floats)
    lower_bounds: Floats = field(default_factory=_no_floats)
    nearest_ids: Integers = field(default_factory=_no_integers)
    witnesses: Floats = field(default_factory=_no_floats)  # (M, 4) ego x y, obstacle x y
    first_invalid_index: int = 0  # -1: all are FREE

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The worst verdict on a path, and how far it is free; NaN: not computed.

    The obstacle of the answer is the first that keeps the path from being free.
    """

    answer: Answer
    first_invalid_segment: int = 0  # -1: none
    last_valid_fraction: float = 0.0  # of that segment
    first_collision_time: float = nan  # s after the request's stamp
    min_distance: float = nan  # m
    min_distance_lower_bound: float = nan  # m

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class ShapesAnswer:
    """One verdict per pair of shapes and the worst of them; M pairs."""

    answer: Answer
    verdicts: Bytes = field(default_factory=_no_bytes)
    statuses: Shorts = field(default_factory=_no_shorts)
    distances: Floats = field(default_factory=_no_floats)
    lower_bounds: Floats = field(default_factory=_no_floats)
    witnesses: Floats = field(default_factory=_no_floats)  # (M, 4) a x y, b x y
    directions: Floats = field(default_factory=_no_floats)  # (M, 2), unit, a to b

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class StateAnswer:
    """The vehicle where it is now, and its nearest obstacle; NaN: not computed."""

    answer: Answer
    distance: float = nan
    lower_bound: float = nan
    time_to_collision: float = nan
    witness_ego: tuple[float, float] = (nan, nan)
    witness_obstacle: tuple[float, float] = (nan, nan)
    direction: tuple[float, float] = (0.0, 0.0)

    __bool__ = no_truth_value("`.answer.is_free`")


def unknown(fault: Fault) -> Answer:
    """Return UNKNOWN with its reason."""
    return Answer(Verdict.UNKNOWN, fault.status, fault.message)


def worst(
    verdicts: npt.NDArray[np.uint8], statuses: npt.NDArray[np.uint16], fault: Fault | None = None
) -> Answer:
    """Return the worst verdict with its reason; of an empty list, UNKNOWN.

    Parameters
    ----------
    verdicts, statuses : (M,) uint8, (M,) uint16
        Of the parts.
    fault : Fault
        Of the data beside them.
    """
    counts = np.bincount(verdicts, minlength=len(WORST_FIRST)).tolist()
    verdict = next((each for each in WORST_FIRST if counts[each]), Verdict.UNKNOWN)
    if fault is not None:
        return Answer(verdict, fault.status, fault.message)
    status = Status.SUCCESS if len(verdicts) else Status.UNDEFINED
    if verdict is Verdict.UNKNOWN and len(verdicts):
        status = Status(int(statuses[np.argmax(verdicts == Verdict.UNKNOWN)]))
    return Answer(verdict, status, reason(status))


def reason(status: Status) -> str:
    """Return a status in words; empty for SUCCESS."""
    return "" if status is Status.SUCCESS else status.name.replace("_", " ").lower()


def budget_spent(done: int, count: int) -> Fault:
    """Return the fault of a request that ran out of time after `done` of `count`."""
    return Fault(Status.TIME_BUDGET, f"time_budget spent after {done} of {count}")
