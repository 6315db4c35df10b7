# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers to the questions of the services: results of the library with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from ..results import CheckResult, NearestResult, PairsResult, PathResult
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

WORST_FIRST = (Verdict.COLLISION, Verdict.UNKNOWN, Verdict.MARGIN, Verdict.FREE)


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict with its reason, and the obstacle that decides it.

    Attributes
    ----------
    verdict, status : Verdict, Status
        As in ``msg/Verdict.msg``.
    message : str
        For a person; empty beside SUCCESS.
    nearest_id : int
        Id of the obstacle; -1: none.
    nearest_source : str
        Its source; empty: none.
    """

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
class DistanceAnswer(NearestResult):
    """The nearest obstacles, and the verdict at the pose; points in the check frame.

    Attributes
    ----------
    answer : Answer
        The verdict.
    sources : tuple of str
        Of each obstacle.
    """

    answer: Answer
    sources: tuple[str, ...] = ()

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class PosesAnswer(CheckResult):
    """One verdict per pose and the worst of them; no pose where the request was refused.

    For an UNKNOWN pose, distance, bound and witnesses are NaN. Arrays that the mode does not
    compute are empty.

    Attributes
    ----------
    answer : Answer
        The worst verdict; `verdict` and `is_free` are its.
    """

    answer: Answer

    def __post_init__(self) -> None:
        _take(self, self.answer)

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class PathAnswer(PathResult):
    """The worst verdict on a path, and how far it is free; times in s after the request's stamp.

    Attributes
    ----------
    answer : Answer
        The worst verdict, and the first obstacle that keeps the path from being free; `verdict`,
        `is_free`, `status` and `obstacle_id` are its.
    """

    answer: Answer

    def __post_init__(self) -> None:
        _take(self, self.answer)
        object.__setattr__(self, "status", self.answer.status)
        object.__setattr__(self, "obstacle_id", self.answer.nearest_id)

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class ShapesAnswer(PairsResult):
    """One verdict per pair of shapes, and the worst of them.

    Arrays that the mode does not compute are empty; all are where the request was refused.

    Attributes
    ----------
    answer : Answer
        The worst verdict.
    """

    answer: Answer

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True)
class StateAnswer:
    """The vehicle where it is now, and its nearest obstacle; NaN: not computed.

    Attributes
    ----------
    answer : Answer
        The verdict, and the nearest obstacle.
    distance, lower_bound : float
        Signed distance to it and its certified lower bound [m]; inf: no obstacle.
    time_to_collision : float
        [s].
    witness_ego, witness_obstacle : tuple of 2 float
        Closest points in the check frame [m].
    direction : tuple of 2 float
        Unit vector from the vehicle to the obstacle; zero: not computed.
    """

    answer: Answer
    distance: float = nan
    lower_bound: float = nan
    time_to_collision: float = nan
    witness_ego: tuple[float, float] = (nan, nan)
    witness_obstacle: tuple[float, float] = (nan, nan)
    direction: tuple[float, float] = (0.0, 0.0)

    __bool__ = no_truth_value("`.answer.is_free`")


def _take(found: CheckResult | PathResult, answer: Answer) -> None:
    object.__setattr__(found, "verdict", answer.verdict)
    object.__setattr__(found, "is_free", answer.is_free)


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
