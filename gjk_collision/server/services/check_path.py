# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/CheckPath``: whether the vehicle is free along a path."""

import numpy as np

from ... import _core
from ...errors import refuse
from ...path import Path
from ..data.snapshot import Snapshot
from ..frames import fields
from ..frames.poses import Pose
from .answers import Answer, answer_of
from .poses import NO_FLOATS, NO_LIMIT, Data, Floats, place, pose_on
from .service import Service

__all__ = ["CheckPath"]

DISCRETE, SWEPT = 0, 1  # as in srv/CheckPath


class CheckPath(Service):
    """A request of ``~/check_path``."""

    name = "check_path"
    may_be_large = True
    digested = ("first_invalid_segment", "last_valid_fraction", "first_collision_time"), ()

    @property
    def is_large(self) -> bool:
        """Whether this request is computed in the second thread."""
        return (len(self.message.poses) + len(self._arcs)) // 3 > 8

    @property
    def _arcs(self) -> Floats:
        return fields.numbers(self.message.arcs)

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        m, cores, interpolation = self.message, data.cores(), int(self.message.interpolation)
        if interpolation not in (DISCRETE, SWEPT):
            refuse("interpolation", "must be 0 or 1", interpolation)
        poses, times, arcs = fields.numbers(m.poses), fields.numbers(m.times), self._arcs
        _core.check_batch(poses, NO_FLOATS, cores[0].max_poses)
        length = float(np.abs(arcs[1::2]).sum())
        rows, errors = place(cores, poses.reshape(-1, 3), self.frame, is_path=True, beyond=length)
        return answer_of(
            cores[0].check_path(
                rows,
                times,
                errors,
                arcs,
                self.stamp,
                float(m.margin),
                interpolation == SWEPT,
                float(m.tolerance),
                budget,
            )
        )

    def least(self, answer: Answer) -> tuple[float, float] | None:
        """Return the least distance on the path."""
        known = np.isfinite(answer.min_distance)
        return (answer.min_distance, answer.min_distance_lower_bound) if known else None

    def hit(self, answer: Answer, snapshot: Snapshot) -> Pose | None:
        """Return the pose after the free part of a path that was checked between its poses."""
        if self.message.interpolation != SWEPT or snapshot.fault is not None:
            return None
        return self._pose(answer.first_invalid_segment, answer.last_valid_fraction)

    def _pose(self, segment: int, fraction: float) -> Pose:
        """Return the pose in the check frame at a fraction of a segment, or of a path of arcs."""
        frame, rows = self.frame, fields.numbers(self.message.poses).reshape(-1, 3)
        if len(self._arcs):
            path = Path.arcs(frame.of(Pose(*rows[0].tolist())), self._arcs.reshape(-1, 2))
            return Pose(*path.at(fraction * float(path.length)).tolist())
        ways, _ = frame.compose_paths(rows, 0.0, np.zeros(len(rows), bool))
        return pose_on(ways, segment, fraction)
