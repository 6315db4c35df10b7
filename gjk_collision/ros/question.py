# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""One request or heartbeat: the time that it may take, and whether its answer may still leave."""

import time
from typing import TYPE_CHECKING

from .. import queries
from ..frames import FrameError, Pose, Transforms
from ..snapshot import Fault, Snapshot
from ..verdict import Status, Verdict

if TYPE_CHECKING:
    from .node import CollisionServer

__all__ = ["Question"]


class Question:
    """A question from its arrival to its answer.

    Parameters
    ----------
    node : CollisionServer
        That answers.

    Attributes
    ----------
    transforms : Transforms
        Where frames are.
    """

    def __init__(self, node: "CollisionServer") -> None:
        self._node = node
        self._begin = time.perf_counter_ns()
        self.transforms = _Present(node.transforms)

    @property
    def seconds(self) -> float:
        """Time since the question came [s]."""
        return (time.perf_counter_ns() - self._begin) * 1e-9

    def is_late(self) -> bool:
        """Tell whether the time budget is spent."""
        return self.seconds > self._node.config.time_budget

    def in_time(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot; nothing can be answered from it if making it spent the budget."""
        if snapshot.footprint is None or not self.is_late():
            return snapshot
        text = f"time_budget spent after {self.seconds:.3f} s, on making the scene"
        return snapshot.voided(Fault(Status.TIME_BUDGET, text))

    def at_the_end(self, snapshot: Snapshot, verdict: Verdict) -> Snapshot:
        """Return a snapshot as it is when the answer from it leaves.

        Its fault is another one than before if that answer must not leave. Then nothing can be
        answered from it.
        """
        last = self._node.later(snapshot)
        if last.fault is not snapshot.fault or last.footprint is None:
            return last
        try:
            queries.check_age(last.config, self.transforms.stamps, self._node.now())
        except FrameError as error:
            return last.voided(Fault(error.status, str(error)))
        if verdict in (Verdict.FREE, Verdict.MARGIN) and self.is_late():
            text = f"time_budget spent after {self.seconds:.3f} s"
            return last.voided(Fault(Status.TIME_BUDGET, text))
        return last


class _Present:
    """Transforms; the stamps of those that were used as the present ones are noted."""

    def __init__(self, transforms: Transforms) -> None:
        self._transforms = transforms
        self.stamps: dict[str, int] = {}

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`."""
        return self._transforms.lookup(target, source, stamp)

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        pose, self.stamps[source] = self._transforms.latest(target, source)
        return pose, self.stamps[source]
