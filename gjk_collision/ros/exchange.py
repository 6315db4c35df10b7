# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""One request or heartbeat: the time that it may take, and whether its answer may still leave."""

import time
from typing import Protocol

from ..server import lookup
from ..server.config import Config
from ..server.frames import FrameError, Pose, Transforms
from ..server.snapshot import Fault, Snapshot, nothing
from ..verdict import Status, Verdict

__all__ = ["Exchange", "Known"]


class Known(Protocol):
    """What is known now."""

    config: Config
    transforms: Transforms

    def now(self) -> int:
        """Return the time that stamps are compared with [ns]."""

    def snapshot(self, require_id: int = 0) -> Snapshot:
        """Return what is known now, or was in a snapshot asked for by its id."""

    def later(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot as it is now that the answer from it leaves."""


class Exchange:
    """A request or a heartbeat, from its arrival to its answer.

    Parameters
    ----------
    known : Known
        What is known.

    Attributes
    ----------
    transforms : Transforms
        Where frames are.
    snapshot : Snapshot or None
        What was known; None: not found out yet.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._begin = time.perf_counter_ns()
        self.transforms = _Present(known.transforms)
        self.snapshot: Snapshot | None = None

    @property
    def seconds(self) -> float:
        """Time since the arrival [s]."""
        return (time.perf_counter_ns() - self._begin) * 1e-9

    def is_late(self) -> bool:
        """Tell whether the time budget is spent."""
        return self.seconds > self._known.config.time_budget

    def ask(self, require_id: int = 0, *, in_time: bool = True) -> Snapshot:
        """Return what is known now.

        Parameters
        ----------
        require_id : int
            The snapshot that is asked for; 0: the latest.
        in_time : bool
            Nothing can be answered from it if making it has spent the budget.
        """
        self.snapshot = self._known.snapshot(require_id)
        if in_time and self.snapshot.footprint is not None and self.is_late():
            text = f"time_budget spent after {self.seconds:.3f} s, on making the scene"
            self.snapshot = self.snapshot.voided(Fault(Status.TIME_BUDGET, text))
        return self.snapshot

    def known(self, fault: Fault) -> Snapshot:
        """Return what was known when an error ended the exchange with this fault."""
        return self.snapshot or nothing(self._known.config, fault, self._known.now())

    def at_the_end(self, snapshot: Snapshot, verdict: Verdict) -> Snapshot:
        """Return a snapshot as it is when the answer from it leaves.

        Its fault is another one than before if that answer must not leave. Then nothing can be
        answered from it.
        """
        last = self._known.later(snapshot)
        if last.fault is not snapshot.fault or last.footprint is None:
            return last
        # A pose from a tree that is known beyond the time of the snapshot is of that time.
        stamps = {f: min(stamp, snapshot.stamp) for f, stamp in self.transforms.stamps.items()}
        try:
            lookup.check_age(last.config, stamps, self._known.now())
        except FrameError as error:
            return last.voided(Fault(error.status, str(error)))
        if verdict in (Verdict.FREE, Verdict.MARGIN) and self.is_late():
            text = f"time_budget spent after {self.seconds:.3f} s"
            return last.voided(Fault(Status.TIME_BUDGET, text))
        return last


class _Present:
    """Transforms; the newest stamps of those that were used as the present ones are noted."""

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
