# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""One request or heartbeat: its time budget, and the check that its answer may still be sent."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from ..verdict import Status, Verdict
from . import lookup
from .config import Config
from .frames import FrameError, Pose, Transforms
from .snapshot import Fault, Snapshot, empty_snapshot

__all__ = ["Exchange"]


class _Server(Protocol):
    """The part of `Server` that an exchange uses."""

    config: Config

    @property
    def transforms(self) -> Transforms:
        """Source of the poses between frames."""

    def now(self) -> int:
        """Return the present time [ns], with which stamps are compared."""

    def steady(self) -> int:
        """Return the present steady time [ns]."""

    def snapshot(self, require_id: int = 0) -> Snapshot:
        """Return the present snapshot, or the earlier one with this id; 0: the present one."""

    def confirm(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with the present ages, to send an answer from it."""


class Exchange:
    """A request or a heartbeat, from its arrival to its answer.

    Parameters
    ----------
    server : Server
        The server that received the request.

    Attributes
    ----------
    transforms : Transforms
        Source of the poses between frames.
    snapshot : Snapshot or None
        The snapshot of the answer; None: `first_snapshot` was not called yet.
    """

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._begin = server.steady()
        self.transforms = _Present(server.transforms)
        self.snapshot: Snapshot | None = None

    @property
    def seconds(self) -> float:
        """Time since the arrival [s]."""
        return (self._server.steady() - self._begin) * 1e-9

    def is_late(self) -> bool:
        """Return whether the time budget is used up."""
        return self.seconds > self._server.config.time_budget

    def first_snapshot(self, require_id: int = 0, *, in_time: bool = True) -> Snapshot:
        """Return the snapshot to answer from.

        Parameters
        ----------
        require_id : int
            Id of the requested snapshot; 0: the latest.
        in_time : bool
            Whether the time budget applies. If it is used up after the scene was built, the result
            has no footprint and the fault TIME_BUDGET.
        """
        self.snapshot = self._server.snapshot(require_id)
        if in_time and self.snapshot.footprint is not None and self.is_late():
            budget = self._server.config.time_budget
            text = f"building the scene took {self.seconds:.3f} s, limit {budget:g} s"
            text = f"{text} (time_budget)"
            self.snapshot = self.snapshot.invalidated(Fault(Status.TIME_BUDGET, text))
        return self.snapshot

    def find_frame(self, request: tuple[str, int], snapshot: Snapshot) -> None:
        """Look up the poses that a request needs, so that another thread can use `transforms`.

        Parameters
        ----------
        request : (str, int)
            Frame and stamp [ns] of the request; an empty frame: the present pose of the vehicle.
        snapshot : Snapshot
            The snapshot of the answer.
        """
        frame, stamp = request
        with suppress(FrameError):  # it is raised again when the answer needs the pose
            if frame:
                lookup.frame_pose(snapshot.config, self.transforms, frame, stamp, snapshot.stamp)
            else:
                lookup.ego_pose(snapshot.config, self.transforms, snapshot.stamp)

    def snapshot_or_empty(self, fault: Fault) -> Snapshot:
        """Return the snapshot; if an error prevented it, return an empty one with this fault."""
        return self.snapshot or empty_snapshot(self._server.config, fault, self._server.now())

    def final_snapshot(self, snapshot: Snapshot, verdict: Verdict) -> Snapshot:
        """Return a snapshot with the ages at the time when its answer is sent.

        If the answer must not be sent, the result has no footprint and a new fault: the data or a
        pose has become too old, or the time budget is used up. A COLLISION is sent even if the
        time budget is used up.
        """
        last = self._server.confirm(snapshot)
        if last.fault is not snapshot.fault or last.footprint is None:
            return last
        # If a transform is stamped ahead of the snapshot, the pose was computed for the time of
        # the snapshot.
        stamps = {f: min(stamp, snapshot.stamp) for f, stamp in self.transforms.stamps.items()}
        try:
            lookup.check_age(last.config, stamps, self._server.now())
        except FrameError as error:
            return last.invalidated(Fault(error.status, str(error)))
        if verdict in (Verdict.FREE, Verdict.MARGIN) and self.is_late():
            budget = self._server.config.time_budget
            text = f"the answer took {self.seconds:.3f} s, limit {budget:g} s (time_budget)"
            return last.invalidated(Fault(Status.TIME_BUDGET, text))
        return last


class _Present:
    """Transforms that look up each pose only once, and store the stamp of each `latest` one.

    A pose that was looked up before can be used in any thread.
    """

    def __init__(self, transforms: Transforms) -> None:
        self._transforms = transforms
        self._results: dict[tuple[Any, ...], Any] = {}  # arguments -> result or `FrameError`
        self.stamps: dict[str, int] = {}

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`."""
        pose: Pose = self._once(self._transforms.lookup, target, source, stamp)
        return pose

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        pose, self.stamps[source] = self._once(self._transforms.latest, target, source)
        return pose, self.stamps[source]

    def _once(self, find: Callable[..., Any], *arguments: Any) -> Any:
        if arguments not in self._results:
            try:
                self._results[arguments] = find(*arguments)
            except FrameError as error:
                self._results[arguments] = error
        result = self._results[arguments]
        if isinstance(result, FrameError):
            raise result
        return result
