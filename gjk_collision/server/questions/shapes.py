# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Two lists of shapes, pair by pair: stateless, so that no snapshot is involved."""

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

# Pairs between two looks at the clock: a fraction of a millisecond.
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
    """Answer for pairs of shapes of two lists; no snapshot is involved.

    Parameters
    ----------
    config : Config
        Its limits and `concave_policy` apply.
    a, b : Obstacles
        In one frame. Ids are not needed.
    pairs : (2 M,) integers
        i j per pair, indices into `a` and `b`; empty: all, row by row.
    mode : int
        Index into `MODES`.
    margin : float
        A smaller distance is MARGIN [m], >= 0.
    is_late : callable
        Says when the time budget is spent; the pairs not checked by then are UNKNOWN.

    Raises
    ------
    InputError
        The request breaks a rule.
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
    """Put one field of the chunks over the first rows of `whole`."""
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
    """The shapes of a list, each made when it is first asked for: a concave one takes its time."""

    def __init__(
        self, name: str, obstacles: Obstacles, config: Config, is_late: Callable[[], bool]
    ) -> None:
        self._name = name
        self._obstacles = obstacles
        self._policy = config.concave_policy
        self._is_late = is_late
        self._made: dict[int, Shape] = {}

    def scene(self, indices: npt.NDArray[np.int64]) -> Scene | None:
        """Return some of them at their poses; None: the time is spent."""
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
