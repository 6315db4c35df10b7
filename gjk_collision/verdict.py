# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The enumerations `Verdict` and `Status`, with the values of ``msg/Verdict.msg``."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NoReturn

from . import _core

__all__ = ["WORST_FIRST", "Status", "Verdict", "no_truth_value"]


def no_truth_value(instead: str) -> Callable[[Any], NoReturn]:
    """Return a `__bool__` that raises TypeError with a message that names a replacement.

    Without this method, ``bool()`` would return True for every object and for every number except
    0, and therefore also for a COLLISION.

    Parameters
    ----------
    instead : str
        The expression to use instead.
    """

    def refuse(self: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} has no truth value: use {instead}")

    return refuse


class Verdict(IntEnum):
    """Whether a shape is clear of all obstacles. 0 is UNKNOWN, so zeros never mean FREE.

    Attributes
    ----------
    UNKNOWN
        No answer. Treat it as not free.
    FREE
        Certified: the distance to every obstacle is greater than the required distance, which is
        the margin plus the obstacle's own margin.
    COLLISION
        Contact or overlap, or this cannot be excluded.
    MARGIN
        No contact, but a distance is not greater than the required one. Treat it as not free.
    """

    UNKNOWN = 0
    FREE = 1
    COLLISION = 2
    MARGIN = 3

    __bool__ = no_truth_value("`verdict is Verdict.FREE`")


WORST_FIRST = tuple(sorted(Verdict, key=lambda verdict: -_core.SEVERITIES[verdict]))
"""The verdict of several items is the first of these that one of them has."""


class Status(IntEnum):
    """The reason for a verdict. FREE requires SUCCESS.

    The values from 10 to 20, LIMIT_EXCEEDED and TIME_BUDGET are used only by the server.

    Attributes
    ----------
    UNDEFINED
        No result.
    SUCCESS
        No error.
    NOT_ACTIVE
        The lifecycle node is not active.
    NO_FOOTPRINT, STALE_FOOTPRINT
        There is no footprint, or it is too old.
    NO_OBSTACLES, STALE_OBSTACLES
        NO_OBSTACLES: there is no message from a required source, or no source has fresh data.
        STALE_OBSTACLES: the data of a required source is too old.
    FUTURE_STAMP
        Data is stamped too far in the future.
    TF_UNAVAILABLE, TF_EXTRAPOLATION
        There is no transform between two known frames, or it is not known at the required time.
    UNKNOWN_FRAME
        A frame is empty or not in the transform tree.
    CLOCK_JUMP
        The clock jumped. Data from before the jump is not used.
    SNAPSHOT_MISMATCH
        The requested snapshot is not available.
    NOT_SEEN
        No sensor has seen a part of the space that the shape needs, see `Scene`, `seen`.
    INVALID_INPUT
        An argument is invalid, and no other status describes the reason.
    NON_FINITE
        A value is NaN or infinite.
    TOO_FEW_POINTS
        A shape or a path has too few points.
    DEGENERATE
        The extent of a shape is too small for its kind, for example a polygon without area.
    CONCAVE_REJECTED
        An outline is concave, but must be convex.
    COORD_RANGE
        The magnitude of a value is too large.
    ARRAY_MISMATCH
        The shape of an array is wrong, or the lengths of arrays do not match.
    LIMIT_EXCEEDED
        There are more obstacles, points or poses than a parameter allows.
    EMPTY_REQUEST
        There is no pose or no pair to check.
    PREDICTION_TOO_SHORT
        The motion of an obstacle or of a shape is not known at a required time.
    ITERATION_LIMIT
        A computation did not finish within its maximum number of iterations.
    NUMERIC_FAILURE
        No certain result is possible, because of rounding errors or very large coordinates.
    TIME_BUDGET
        A computation took too long.
    INTERNAL_ERROR
        Error in this package.
    """

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
    NOT_SEEN = 21
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
