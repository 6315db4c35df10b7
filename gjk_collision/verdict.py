# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdict and status: the two enumerations of ``msg/Verdict.msg``, which describes each value."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NoReturn

__all__ = ["Status", "Verdict", "no_truth_value"]


def no_truth_value(instead: str) -> Callable[[Any], NoReturn]:
    """Return a `__bool__` that raises TypeError with a message that names a replacement.

    Without it, Python would convert every object and every number except 0 to True, and a
    COLLISION too.

    Parameters
    ----------
    instead : str
        The expression to use instead.
    """

    def refuse(self: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} has no truth value: use {instead}")

    return refuse


class Verdict(IntEnum):
    """Whether a shape is clear of all obstacles. 0 is UNKNOWN, so zeros never mean FREE."""

    UNKNOWN = 0  # no answer: treat it as not free
    FREE = 1  # certified: the distance to every obstacle is greater than the margin
    COLLISION = 2  # contact or overlap
    MARGIN = 3  # 0 < distance <= margin: treat it as not free

    __bool__ = no_truth_value("`verdict is Verdict.FREE`")


class Status(IntEnum):
    """The reason for a verdict. FREE requires SUCCESS."""

    UNDEFINED = 0
    SUCCESS = 1
    NOT_ACTIVE = 10
    NO_FOOTPRINT = 11
    STALE_FOOTPRINT = 12
    NO_OBSTACLES = 13
    STALE_OBSTACLES = 14
    FUTURE_STAMP = 15
    TF_UNAVAILABLE = 16
    TF_EXTRAPOLATION = 17
    UNKNOWN_FRAME = 18
    CLOCK_JUMP = 19
    SNAPSHOT_MISMATCH = 20
    INVALID_INPUT = 30
    NON_FINITE = 31
    TOO_FEW_POINTS = 32
    DEGENERATE = 33
    CONCAVE_REJECTED = 34
    COORD_RANGE = 35
    ARRAY_MISMATCH = 36
    LIMIT_EXCEEDED = 37
    EMPTY_REQUEST = 38
    # 39 is not used.
    PREDICTION_TOO_SHORT = 40
    ITERATION_LIMIT = 50
    NUMERIC_FAILURE = 51
    TIME_BUDGET = 52
    INTERNAL_ERROR = 99

    __bool__ = no_truth_value("`status is Status.SUCCESS`")
