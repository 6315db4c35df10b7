# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/CheckPath``: whether the vehicle is free along a path."""

import numpy as np

from ... import _core
from ...errors import InputError
from ...path import Path
from ...verdict import Status, Verdict
from .. import fields
from ..answers import Answer, answer_of
from ..frames import IDENTITY, Pose
from ..snapshot import Snapshot
from .poses import NO_FLOATS, NO_LIMIT, Data, Floats, place, pose_on
from .service import Service

__all__ = ["CheckPath", "check_path"]

DISCRETE, SWEPT = 0, 1  # as in srv/CheckPath


class CheckPath(Service):
    """A request of ``~/check_path``."""

    name = "check_path"
    may_be_large = True
    digested = ("first_invalid_segment", "last_valid_fraction", "first_collision_time"), ()

    @property
    def is_large(self) -> bool:
        """Whether this request is computed in the second thread."""
        return (len(self.message.poses) + len(getattr(self.message, "arcs", ()))) // 3 > 8

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        message, interpolation = self.message, int(self.message.interpolation)
        if interpolation not in (DISCRETE, SWEPT):
            rule = f"must be 0 or 1 (got {interpolation})"
            raise InputError(Status.INVALID_INPUT, "interpolation", None, rule)
        return check_path(
            data,
            fields.numbers(message.poses),
            fields.numbers(message.times),
            # Recordings of older versions do not have this field.
            arcs=fields.numbers(getattr(message, "arcs", ())),
            frame=self.frame or IDENTITY,
            stamp=self.stamp,
            swept=interpolation == SWEPT,
            margin=float(message.margin),
            tolerance=float(message.tolerance),
            budget=budget,
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

    def verifiable(
        self, answer: Answer, snapshot: Snapshot, index: int
    ) -> tuple[Snapshot, Pose, Pose, Verdict] | None:
        """Return one of the poses of a path that is FREE, unless the obstacles move."""
        if len(self.message.times) or answer.verdict is not Verdict.FREE:
            return None
        rows = fields.numbers(self.message.poses).reshape(-1, 3)
        pose = pose_on(rows, index % len(rows), 0.0)
        return snapshot, pose, self.frame or IDENTITY, answer.verdict

    def _pose(self, segment: int, fraction: float) -> Pose:
        """Return the pose in the check frame at a fraction of a segment, or of a path of arcs."""
        frame, rows = self.frame or IDENTITY, fields.numbers(self.message.poses).reshape(-1, 3)
        arcs = fields.numbers(getattr(self.message, "arcs", ()))
        if len(arcs):
            path = Path.arcs(frame.of(Pose(*rows[0].tolist())), arcs.reshape(-1, 2))
            return Pose(*path.at(fraction * float(path.length)).tolist())
        ways, _ = frame.compose_paths(rows, 0.0, np.zeros(len(rows), bool))
        return pose_on(ways, segment, fraction)


def check_path(
    data: Data,
    poses: Floats,
    times: Floats = NO_FLOATS,
    *,
    arcs: Floats = NO_FLOATS,
    frame: Pose = IDENTITY,
    stamp: int = 0,
    swept: bool = True,
    margin: float = 0.0,
    tolerance: float = 0.0,
    budget: _core.Budget = NO_LIMIT,
) -> Answer:
    """Check a path through poses of the base frame, or a path of arcs from one pose.

    Parameters
    ----------
    data, poses, times, frame, stamp, margin
        As for `check_poses`. The times must increase strictly. If the path goes on after
        `Snapshot.known_until`, the answer is UNKNOWN with the status PREDICTION_TOO_SHORT, unless
        there is a collision before.
    arcs : (2 A,) float64
        Curvature [1/m] and length [m] per arc; `times` are then those of the start and of the end
        of each arc, and segments are arcs. Empty: the path is straight from pose to pose.
    swept : bool
        Whether the path between the poses is checked too; otherwise, only the poses are.
    tolerance : float
        Tolerance of swept checks [m]: a path that passes an obstacle closer than margin +
        tolerance may be reported as not free. 0: the parameter `toi_tolerance`.
    budget : _core.Budget
        Time limit. When it is over, the answer is UNKNOWN, unless a collision was found before.
    """
    (core,) = cores = data.cores()
    _core.check_batch(poses, NO_FLOATS, core.max_poses)
    length = float(np.abs(arcs[1::2]).sum())
    rows = poses.reshape(-1, 3)
    placed, errors = place(cores, rows, frame, is_path=True, beyond=length)
    return answer_of(
        core.check_path(placed, times, errors, arcs, stamp, margin, swept, tolerance, budget)
    )
