# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers to the requests of the services: results of the library, with an `Answer` each."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
import numpy.typing as npt

from ..record import Record
from ..results import (
    CheckResult,
    GradientResult,
    NearestResult,
    PairsResult,
    PathResult,
)
from ..verdict import Status, Verdict, no_truth_value
from .snapshot import Fault

__all__ = [
    "Answer",
    "DistanceAnswer",
    "Found",
    "NearestFreeAnswer",
    "PathAnswer",
    "PosesAnswer",
    "ShapesAnswer",
    "StateAnswer",
    "answer_of",
    "fault_of",
    "unknown",
]

_VERDICTS = tuple(Verdict)
_STATUSES = {int(each): each for each in Status}


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict with its reason, and the obstacle that determines it.

    Attributes
    ----------
    verdict, status : Verdict, Status
        As in ``msg/Verdict.msg``.
    message : str
        Explanation for a person. Empty if the status is SUCCESS.
    nearest_id : int
        Id of the obstacle; -1: none.
    nearest_source : str
        Source of the obstacle; empty: none.
    """

    verdict: Verdict
    status: Status
    message: str = ""
    nearest_id: int = -1
    nearest_source: str = ""

    __bool__ = no_truth_value("`.is_free`")

    @property
    def is_free(self) -> bool:
        """Whether the verdict is FREE and the status is SUCCESS."""
        return self.verdict is Verdict.FREE and self.status is Status.SUCCESS


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistanceAnswer(NearestResult):
    """The nearest obstacles and the verdict at the pose. Points are in the check frame.

    Attributes
    ----------
    answer : Answer
        The verdict.
    sources : tuple of str
        Source of each obstacle.
    """

    answer: Answer
    sources: tuple[str, ...] = ()

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, eq=False, repr=False)
class PosesAnswer(CheckResult):
    """One verdict per pose, and the worst of them.

    If the request was refused, all arrays are empty. Arrays that the mode does not compute are
    empty too. For an UNKNOWN pose, the distance, the lower bound and the witnesses are NaN.

    Attributes
    ----------
    answer : Answer
        The worst verdict. `verdict` and `is_free` are copied from it.
    group_first_invalid : (G,) int64
        Index of the first pose of each group that is not FREE, in its group; -1: all are FREE.
        Empty: the request has no groups.
    gradients : GradientResult or None
        Derivatives of the distances, of shape (M, k). None: not computed.
    """

    answer: Answer
    group_first_invalid: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.empty(0, np.int64)
    )
    gradients: GradientResult | None = None

    def __post_init__(self) -> None:
        _copy_verdict(self, self.answer)

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PathAnswer(PathResult):
    """The worst verdict on a path, and the part of the path that is free.

    Times are in s after the stamp of the request.

    Attributes
    ----------
    answer : Answer
        The worst verdict, and the first obstacle that makes the path not free. `verdict`,
        `is_free`, `status` and `id` are copied from it.
    """

    answer: Answer

    def __post_init__(self) -> None:
        _copy_verdict(self, self.answer)
        object.__setattr__(self, "status", self.answer.status)
        object.__setattr__(self, "id", self.answer.nearest_id)

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NearestFreeAnswer(Record):
    """The nearest free pose.

    Attributes
    ----------
    answer : Answer
        FREE at `free_pose`. Otherwise the verdict at the requested pose, or UNKNOWN.
    free_pose : (3,) or (0,) float64
        x y yaw [m, m, rad] of the base frame in the check frame; empty: none was found.
    shift, turn : float
        Distance [m] and change of the yaw [rad] from the requested pose; NaN: none was found.
    """

    answer: Answer
    free_pose: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    shift: float = nan
    turn: float = nan

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShapesAnswer(PairsResult):
    """One verdict per pair of shapes, and the worst of them.

    If the request was refused, all arrays are empty. Arrays that the mode does not compute are
    empty too.

    Attributes
    ----------
    answer : Answer
        The worst verdict.
    """

    answer: Answer

    __bool__ = no_truth_value("`.answer.is_free`")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StateAnswer(Record):
    """The verdict at the present pose of the vehicle, and its nearest obstacle.

    A value that was not computed is NaN, unless stated otherwise.

    Attributes
    ----------
    answer : Answer
        The verdict and the nearest obstacle.
    distance, lower_bound : float
        Signed distance to the nearest obstacle, and its certified lower bound [m]; inf: no
        obstacle.
    time_to_collision : float
        Time until the first contact if the vehicle and all obstacles keep their present twists
        [s]; inf: none until the prediction horizon.
    witness_ego, witness_obstacle : tuple of 2 float
        Closest points of the vehicle and of the obstacle, in the check frame [m].
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


Found = Answer | DistanceAnswer | PosesAnswer | PathAnswer | NearestFreeAnswer | ShapesAnswer

# Answers without a message and an obstacle, by verdict.
_SUCCESS = [Answer(each, Status.SUCCESS) for each in Verdict]


def _copy_verdict(found: CheckResult | PathResult, answer: Answer) -> None:
    object.__setattr__(found, "verdict", answer.verdict)
    object.__setattr__(found, "is_free", answer.is_free)


def unknown(fault: Fault) -> Answer:
    """Return an answer UNKNOWN with a fault as its reason."""
    return Answer(Verdict.UNKNOWN, fault.status, fault.message)


def answer_of(found: tuple[int, int, str, int, int, str]) -> Answer:
    """Return the answer of the rules.

    Parameters
    ----------
    found : tuple
        Verdict, status, message, and index, id and source of the obstacle.
    """
    verdict, status, message, index, obstacle_id, source = found
    if index < 0 and status == Status.SUCCESS:
        return _SUCCESS[verdict]
    return Answer(_VERDICTS[verdict], _status(status), message, obstacle_id, source)


def fault_of(pair: tuple[int, str] | None) -> Fault | None:
    """Return a fault of the kernel, which is a number and a text; None: there is none."""
    return None if pair is None else Fault(_status(pair[0]), pair[1])


def _status(number: int) -> Status:
    """Return the status with a number of a message; UNDEFINED: this version has no such status."""
    return _STATUSES.get(number, Status.UNDEFINED)
