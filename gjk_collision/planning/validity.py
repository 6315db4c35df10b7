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

from .edges import edge_poses, positive

if TYPE_CHECKING:
    from .edges import Checker

__all__ = ["MotionValidator", "StateValidityChecker"]


class StateValidityChecker(ob.StateValidityChecker):  # type: ignore[misc]
    """State validity checker: a state is valid if the checker certifies that its pose is free.

    Parameters
    ----------
    si : ompl.base.SpaceInformation
        Space information of an `SE2StateSpace` or of a space derived from it.
    checker : Checker
        Called with one pose, shape (1, 3).
    """

    def __init__(self, si: Any, checker: Checker) -> None:
        super().__init__(si)
        self._checker = checker

    def isValid(self, state: Any) -> bool:
        """Return whether the pose of a state is certified free."""
        pose = np.array([[state.getX(), state.getY(), state.getYaw()]])
        return self._checker(pose).is_free


class MotionValidator(ob.MotionValidator):  # type: ignore[misc]
    """Motion validator: an edge is valid if the checker certifies that all its poses are free.

    The checker is called once per edge, so that the whole edge is checked against one snapshot.
    The start of the edge is checked again for this reason. A planner that uses the last valid
    state of an edge (KPIECE1) does not get this state. This only makes the planner slower. Do not
    use PDST: it ignores the result of the check of an edge, so its paths may not be free.

    Parameters
    ----------
    si : ompl.base.SpaceInformation
        Space information of an `SE2StateSpace` or of a space derived from it.
    checker : Checker
        Called with all poses of an edge. Its margin should be at least `edge_margin`.
    step : float
        Maximum distance between two checked poses [m], in the metric of the space. If it is
        infinite, only the ends of an edge are checked.

    Raises
    ------
    InputError
        INVALID_INPUT: `step` is not greater than 0.
    """

    def __init__(self, si: Any, checker: Checker, step: float) -> None:
        super().__init__(si)
        self._space = si.getStateSpace()
        self._checker = checker
        self._step = positive(step, "step")

    def checkMotion(self, start: Any, end: Any) -> bool:
        """Return whether all checked poses of an edge are certified free."""
        return self._checker(edge_poses(self._space, start, end, self._step)).is_free
