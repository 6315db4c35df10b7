# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/CheckPoses``: a verdict for each of many poses."""

import numpy as np

from ... import _core
from ...errors import refuse
from ...verdict import Verdict
from ..data.snapshot import Snapshot
from ..frames import fields
from ..frames.poses import IDENTITY, Pose
from .answers import Answer, answer_of
from .poses import NO_FLOATS, NO_LIMIT, Data, Integers, place, pose_on
from .service import Service

__all__ = ["CheckPoses", "least_of"]

# More poses take longer than about a millisecond, and are computed in the second thread.
MANY = 1024


class CheckPoses(Service):
    """A request of ``~/check_poses``."""

    name = "check_poses"
    may_be_large = True
    digested = (
        ("verdicts", "statuses", "distances"),
        ("group_first_invalid", "gradient_ids", "gradient_distances", "gradients"),
    )

    @property
    def is_large(self) -> bool:
        """Whether this request is computed in the second thread."""
        # Distances, and obstacles that move, take several times as long.
        slow = self.message.mode or len(self.message.times)
        return len(self.message.poses) // 3 * (4 if slow else 1) > MANY

    @property
    def required_id(self) -> int:
        """Id of the snapshot that the request requires; 0: the latest."""
        return int(self.message.require_snapshot_id)

    @property
    def _footprints(self) -> list[str]:
        return [str(each) for each in self.message.footprints]

    @property
    def _which(self) -> Integers:
        return fields.numbers(self.message.which)

    def chosen(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with the footprints that the request names."""
        names, name = self._footprints, str(self.message.footprint)
        if not names:
            # No pose selects a footprint. Otherwise a smaller one might be checked.
            if count := len(self._which):
                refuse("which", f"must be empty if footprints is empty (got {count} values)")
            return snapshot.chosen(name)
        if name:
            refuse("footprint", f"must be empty if footprints is not empty (got {name!r})")
        return snapshot.chosen_among(names)

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        m, cores, errors = self.message, data.cores(), NO_FLOATS
        poses, times, which = fields.numbers(m.poses), fields.numbers(m.times), self._which
        if self.frame != IDENTITY:
            _core.check_batch(poses, times, cores[0].max_poses)
            poses, errors = place(cores, poses.reshape(-1, 3), self.frame, which=which)
        return answer_of(
            _core.check_poses(
                cores,
                poses,
                times,
                errors,
                which,
                fields.numbers(m.group_offsets),
                self.stamp,
                float(m.margin),
                int(m.mode),
                bool(m.stop_at_first),
                int(m.k),
                budget,
            )
        )

    def least(self, answer: Answer) -> tuple[float, float] | None:
        """Return the least distance at any pose."""
        return least_of(answer)

    def hit(self, answer: Answer, snapshot: Snapshot) -> Pose | None:
        """Return the first pose that is not FREE, if it is in collision."""
        first = answer.first_invalid_index
        if not 0 <= first < len(answer.verdicts) or answer.verdicts[first] != Verdict.COLLISION:
            return None
        return self.frame.of(self._pose(first))

    def _pose(self, index: int) -> Pose:
        return pose_on(fields.numbers(self.message.poses).reshape(-1, 3), index, 0.0)


def least_of(answer: Answer) -> tuple[float, float] | None:
    """Return the least of distances that are known, and the least of all bounds."""
    known = answer.distances[np.isfinite(answer.distances)]
    return (float(known.min()), float(np.min(answer.lower_bounds))) if len(known) else None
