# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Two lists of shapes, pair by pair: stateless, so that no snapshot is involved."""

from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from .answers import ShapesAnswer, budget_spent, unknown, worst
from .config import Config
from .errors import InputError
from .geometry import Shape, closest, collide
from .obstacles import Obstacles
from .requests import checked_mode, index_pairs, non_negative
from .verdict import Status, Verdict

__all__ = ["check_shapes"]


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
    margin = non_negative("margin", margin)
    how = checked_mode(mode)
    if a.frame != b.frame:
        rule = f"must be in one frame (got '{a.frame}' and '{b.frame}')"
        raise InputError(Status.UNKNOWN_FRAME, "b.header.frame_id", None, rule)
    _check_list("a", a, config)
    _check_list("b", b, config)
    ij = index_pairs(pairs, len(a), len(b), config.max_poses)
    ones, others = _Shapes("a", a, config), _Shapes("b", b, config)
    poses_a, poses_b = _rows(a), _rows(b)
    count = done = len(ij)
    verdicts = np.zeros(count, np.uint8)
    statuses = np.full(count, Status.TIME_BUDGET, np.uint16)
    distances, lower_bounds = np.full(count, nan), np.full(count, nan)
    witnesses, directions = np.full((count, 4), nan), np.full((count, 2), nan)
    for m, (i, j) in enumerate(ij.tolist()):
        if m and is_late is not None and is_late():
            done = m
            break
        statuses[m] = Status.SUCCESS
        if collide(ones[i], others[j], poses_a[i], poses_b[j]):
            verdicts[m] = Verdict.COLLISION
        elif margin == 0.0:
            verdicts[m] = Verdict.FREE
        if how == "collide" and verdicts[m]:
            continue
        near = closest(ones[i], others[j], poses_a[i], poses_b[j])
        distances[m], lower_bounds[m] = near.distance, near.lower_bound
        witnesses[m, :2], witnesses[m, 2:] = near.point_a, near.point_b
        directions[m] = near.direction
        if not verdicts[m]:
            verdicts[m] = Verdict.FREE if near.lower_bound > margin else Verdict.MARGIN
    answer = worst(verdicts[:done], statuses[:done])
    if done < count and answer.verdict is not Verdict.COLLISION:
        answer = unknown(budget_spent(done, count))
    if how == "collide":
        return ShapesAnswer(answer, verdicts, statuses)
    if how == "distance":
        return ShapesAnswer(answer, verdicts, statuses, distances, lower_bounds)
    return ShapesAnswer(answer, verdicts, statuses, distances, lower_bounds, witnesses, directions)


def _check_list(name: str, obstacles: Obstacles, config: Config) -> None:
    try:
        obstacles.check(config.max_obstacles, config.max_points_per_obstacle, need_ids=False)
    except InputError as error:
        argument = f"{name}.{error.argument}"
        raise InputError(error.status, argument, error.index, error.rule) from error


class _Shapes:
    """The shapes of a list, each made when it is first asked for: a concave one takes its time."""

    def __init__(self, name: str, obstacles: Obstacles, config: Config) -> None:
        self._name = name
        self._obstacles = obstacles
        self._policy = config.concave_policy
        self._made: dict[int, Shape] = {}

    def __getitem__(self, index: int) -> Shape:
        if index not in self._made:
            self._made[index] = self._make(index)
        return self._made[index]

    def _make(self, index: int) -> Shape:
        data = self._obstacles
        begin, end = int(data.offsets[index]), int(data.offsets[index + 1])
        points = data.xy[2 * begin : 2 * end].reshape(-1, 2)
        radius = float(data.radius[index]) if len(data.radius) else 0.0
        concave = bool(len(data.kinds) and data.kinds[index])
        try:
            if not concave or self._policy == "hull":
                return Shape.hull(points, radius=radius)
            if self._policy == "reject":
                return Shape.polygon(points, radius=radius)
            return Shape.concave(points, radius=radius)
        except InputError as error:
            rule = f"obstacle {index}: {error}"
            raise InputError(error.status, f"{self._name}.xy", begin, rule) from error


def _rows(obstacles: Obstacles) -> list[tuple[float, float, float] | None]:
    if not len(obstacles.poses):
        return [None] * len(obstacles)
    return [(x, y, yaw) for x, y, yaw in obstacles.poses.reshape(-1, 3).tolist()]
