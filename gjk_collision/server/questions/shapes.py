# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer of ``srv/CheckShapes``: a verdict for each pair of shapes. It uses no snapshot."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...geometry import Shape
from ...pairs import check_pairs
from ...results import PairsResult
from ...scene import Scene
from ...verdict import Status, Verdict
from ..answers import ShapesAnswer, budget_spent, unknown, worst
from ..config import Config
from ..obstacles import Obstacles
from ..rules import checked_mode, index_pairs

__all__ = ["check_shapes"]

# Number of pairs between two checks of the time budget; they take a fraction of a millisecond.
CHUNK = 256


def check_shapes(
    config: Config,
    a: Obstacles,
    b: Obstacles,
    pairs: npt.NDArray[np.integer[Any]],
    *,
    mode: int = 0,
    margin: float = 0.0,
    is_late: Callable[[], bool] | None = None,
) -> ShapesAnswer:
    """Check pairs of shapes of two lists.

    Parameters
    ----------
    config : Config
        Parameters of the server; the limits and `concave_policy` are used.
    a, b : Obstacles
        The two lists, in the same frame. They need no ids.
    pairs : (2 M,) integers
        Index in a, index in b per pair; empty: all pairs, a in the outer loop.
    mode : int
        Index in `MODES`.
    margin : float
        Margin [m], >= 0. If the distance is positive and not greater, the verdict is MARGIN.
    is_late : callable, optional
        Returns whether the time budget is used up. Pairs not checked by then are UNKNOWN. None:
        there is no budget.

    Raises
    ------
    InputError
        The request is invalid.
    """
    how = checked_mode(mode)
    if a.frame != b.frame:
        rule = f"must be in one frame (got '{a.frame}' and '{b.frame}')"
        raise InputError(Status.UNKNOWN_FRAME, "b.header.frame_id", None, rule)
    _check_list("a", a, config)
    _check_list("b", b, config)
    ij = index_pairs(pairs, len(a), len(b), config.max_poses)
    clock = is_late or (lambda: False)
    ones, others = _Shapes("a", a, config, clock), _Shapes("b", b, config, clock)
    count = len(ij)
    found: list[PairsResult] = []
    for begin in range(0, count, CHUNK):
        if begin and clock():
            break
        part = ij[begin : begin + CHUNK]
        rows, i = np.unique(part[:, 0], return_inverse=True)
        columns, j = np.unique(part[:, 1], return_inverse=True)
        one, other = ones.scene(rows), others.scene(columns)
        if one is None or other is None:
            break
        found.append(check_pairs(one, other, np.c_[i, j], margin=margin, mode=how))
    done = min(count, CHUNK * len(found))
    verdicts = _column(found, "verdicts", np.full(count, Verdict.UNKNOWN, np.uint8))
    statuses = _column(found, "statuses", np.full(count, Status.TIME_BUDGET, np.uint16))
    answer = worst(verdicts[:done], statuses[:done])
    if done < count and answer.verdict is not Verdict.COLLISION:
        answer = unknown(budget_spent(done, count))
    fields = {"distances": (), "lower_bounds": (), "witnesses": (4,), "directions": (2,)}
    asked = list(fields)[: {"collide": 0, "distance": 2}.get(how, 4)]
    floats = dict.fromkeys(fields, np.empty(0))
    for name in asked:
        floats[name] = _column(found, name, np.full((count, *fields[name]), np.nan))
    return ShapesAnswer(answer, verdicts=verdicts, statuses=statuses, **floats)


def _column(found: list[PairsResult], name: str, whole: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Copy one field of the chunks to the first rows of `whole`."""
    if found:
        filled = np.concatenate([getattr(each, name) for each in found])
        whole[: len(filled)] = filled
    return whole


def _check_list(name: str, obstacles: Obstacles, config: Config) -> None:
    try:
        obstacles.check(config.max_obstacles, config.max_points_per_obstacle, need_ids=False)
    except InputError as error:
        argument = f"{name}.{error.argument}"
        raise InputError(error.status, argument, error.index, error.rule) from error


class _Shapes:
    """The shapes of a list. A shape is made at its first use, because a concave one takes long."""

    def __init__(
        self, name: str, obstacles: Obstacles, config: Config, is_late: Callable[[], bool]
    ) -> None:
        self._name = name
        self._obstacles = obstacles
        self._policy = config.concave_policy
        self._is_late = is_late
        self._made: dict[int, Shape] = {}

    def scene(self, indices: npt.NDArray[np.int64]) -> Scene | None:
        """Return a scene of the shapes with these indices; None: the time budget is used up."""
        for index in indices.tolist():
            if index not in self._made:
                if self._made and self._is_late():
                    return None
                self._made[index] = self._make(index)
        poses = self._obstacles.poses
        placed = poses.reshape(-1, 3)[indices] if len(poses) else None
        return Scene([self._made[index] for index in indices.tolist()], placed)

    def _make(self, index: int) -> Shape:
        try:
            return self._obstacles.shape(index, self._policy)
        except InputError as error:
            begin = int(self._obstacles.offsets[index])
            rule = f"obstacle {index}: {error}"
            raise InputError(error.status, f"{self._name}.xy", begin, rule) from error
