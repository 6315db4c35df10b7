# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What an answer says, and why: the two enumerations of ``msg/Verdict.msg``."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NoReturn

__all__ = ["Status", "Verdict", "no_truth_value"]


def no_truth_value(instead: str) -> Callable[[Any], NoReturn]:
    """Return a `__bool__` that raises TypeError and names what to use instead.

    By Python's rules every object and every number but 0 is true, a COLLISION too.
    """

    def refuse(self: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} has no truth value: use {instead}")

    return refuse


class Verdict(IntEnum):
    """The answer. Zero is UNKNOWN, so that an all-zero reply never reads as free."""

    UNKNOWN = 0
    FREE = 1
    COLLISION = 2
    MARGIN = 3  # 0 < distance <= margin; not free

    __bool__ = no_truth_value("`verdict is Verdict.FREE`")


class Status(IntEnum):
    """The reason. FREE requires SUCCESS."""

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
