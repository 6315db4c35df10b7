# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A state validity checker and a motion validator for OMPL (``pip install ompl``, version 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from ompl import base as ob
except ImportError as error:
    text = "MotionValidator and StateValidityChecker need OMPL 2: pip install ompl"
    raise ImportError(f"gjk_collision.planning: {text}") from error

from .edges import edge_poses

if TYPE_CHECKING:
    from .edges import Checker

__all__ = ["MotionValidator", "StateValidityChecker"]


class StateValidityChecker(ob.StateValidityChecker):  # type: ignore[misc]
    """A state is valid if the checker certifies its pose free."""

    def __init__(self, si: Any, checker: Checker) -> None:
        super().__init__(si)
        self._checker = checker

    def isValid(self, state: Any) -> bool:
        """Ask about one pose."""
        pose = np.array([[state.getX(), state.getY(), state.getYaw()]])
        return self._checker(pose).is_free


class MotionValidator(ob.MotionValidator):  # type: ignore[misc]
    """An edge is valid if the checker, asked once, certifies all its poses free.

    The start is asked about again, so that an edge rests on one snapshot. Planners that want the
    last valid state of an edge (KPIECE1) are told that there is none, and lose only speed.

    Parameters
    ----------
    si : ompl.base.SpaceInformation
        Of an `SE2StateSpace` or one derived from it.
    checker : Checker
        Takes all poses of the edge; its margin should be `edge_margin` or more.
    step : float
        Greatest distance between checked poses [m].
    """

    def __init__(self, si: Any, checker: Checker, step: float) -> None:
        if not step > 0.0:
            raise ValueError(f"step: must be positive (got {step})")
        super().__init__(si)
        self._space = si.getStateSpace()
        self._checker = checker
        self._step = step

    def checkMotion(self, start: Any, end: Any) -> bool:
        """Ask about one edge."""
        return self._checker(edge_poses(self._space, start, end, self._step)).is_free
