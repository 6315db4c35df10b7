# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Planners on this package, with OMPL or without: one batched question per edge.

A planner calls a `Checker` with all poses of an edge at once. The checker asks a `Scene` in this
process (`scene_checker`, `path_checker`) or a server (`check_poses`, `check_path` of a
`CollisionClient`). `StateValidityChecker` and `MotionValidator` need OMPL (``pip install ompl``,
version 2), which is imported when one of them is first used.
"""

from typing import TYPE_CHECKING

from .edges import Checker, edge_margin, edge_poses, path_checker, path_poses, reach, scene_checker

if TYPE_CHECKING:
    from .validity import MotionValidator as MotionValidator
    from .validity import StateValidityChecker as StateValidityChecker

__all__ = [
    "Checker",
    "MotionValidator",
    "StateValidityChecker",
    "edge_margin",
    "edge_poses",
    "path_checker",
    "path_poses",
    "reach",
    "scene_checker",
]


def __getattr__(name: str) -> object:
    """Load the classes that need OMPL on first use (PEP 562)."""
    if name not in ("MotionValidator", "StateValidityChecker"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import validity

    return getattr(validity, name)
