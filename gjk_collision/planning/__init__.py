# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Collision checks for planners, with or without OMPL: one call per edge.

A planner calls a `Checker` with all poses of an edge. `scene_checker` and `path_checker` return
checkers that use a `Scene` in this process. The methods `check_poses` and `check_path` of a
`CollisionClient` are checkers that use a server. `StateValidityChecker` and `MotionValidator` need
OMPL (``pip install ompl``, version 2). OMPL is imported when one of them is first used.
"""

from typing import TYPE_CHECKING

from . import edges
from .edges import *  # noqa: F403

if TYPE_CHECKING:
    from .validity import MotionValidator as MotionValidator
    from .validity import StateValidityChecker as StateValidityChecker

_NEED_OMPL = ("MotionValidator", "StateValidityChecker")

__all__ = [*edges.__all__, *_NEED_OMPL]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Import the classes that need OMPL when they are first used (PEP 562)."""
    if name not in _NEED_OMPL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import validity

    return getattr(validity, name)
