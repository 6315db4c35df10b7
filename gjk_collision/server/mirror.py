# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The rules of a mirror: which snapshot it has, and which answers it may return."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .. import _core
from ..errors import InputError
from ..verdict import Status
from .answers import Answer, unknown
from .config import Config
from .mirrored import Content, Reader, heartbeat_facts
from .snapshot import Fault, Snapshot, empty_snapshot

__all__ = ["Asked", "Mirror"]

Found = TypeVar("Found")

_NOTHING = empty_snapshot(Config(), Fault(Status.UNDEFINED, ""), 0)


class Mirror:
    """The last snapshot of a server, received by messages, and whether it is still valid.

    It has no clock: each call passes times in ns, as for `World`. If a call passes a message,
    `earliest` is the earliest steady time at which the message can have arrived. Calls must not
    overlap.

    Attributes
    ----------
    snapshot : Snapshot or None
        The snapshot in the last message, with the time of the message. Answer from it only if
        `fault` is None; otherwise answer from `snapshot.invalidated(fault)`.
    """

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self._is_timeless = False
        self._validity = _core.Validity()
        self._reader = Reader()

    def read(self, message: Any) -> Content:
        """Return the content of a ``msg/Snapshot``, or why it cannot be used.

        This builds the scene. It can overlap with all calls except itself.
        """
        return self._reader.read(message)

    def receive_snapshot(self, content: Content, *, now: int, steady: int, earliest: int) -> None:
        """Store the content of a message. If it has none, `fault` gives the reason."""
        is_used = self._validity.receive_snapshot(content.facts, now, steady, earliest)
        if content.snapshot is not None and is_used:
            self.snapshot, self._is_timeless = content.snapshot, content.is_timeless

    def receive_state(self, message: Any, *, now: int, steady: int, earliest: int) -> None:
        """Store a ``msg/CollisionState``."""
        self._validity.receive_heartbeat(heartbeat_facts(message), now, steady, earliest)

    def fault(
        self,
        *,
        at: int,
        now: int,
        steady: int,
        is_named: bool = False,
        used: _core.HeldSnapshot | None = None,
    ) -> Fault | None:
        """Return why no answer may be given from the snapshot; None: it is valid.

        Parameters
        ----------
        at : int
            Time for which the question is asked [ns].
        now, steady : int
            Present times [ns].
        is_named : bool
            Whether the request names a footprint of the parameters, see `Snapshot.chosen`. It does
            not depend on messages with the footprint or the speed.
        used : _core.HeldSnapshot, optional
            The snapshot that an answer was computed from which is returned now, see `held`.
            Default: the last one.
        """
        found = self._validity.check(at, now, steady, is_named, used)
        return None if found is None else Fault(Status(found[0]), found[1])

    def held(self) -> _core.HeldSnapshot | None:
        """Return the last snapshot for `fault`, when an answer from it is returned."""
        return self._validity.held()

    def ask(
        self,
        footprint: str | Sequence[str],
        at: int | None,
        frame: str | None,
        *,
        now: int,
        steady: int,
        required: int = 0,
    ) -> "Asked":
        """Return the data for the answer to a question.

        Parameters
        ----------
        footprint : str or sequence of str
            Name or names of the footprint; "": the one for requests that name none.
        at : int, optional
            Time for which the question is asked [ns]. Default: now.
        frame : str, optional
            Frame of the poses, which must be the check frame. Default: not checked.
        now, steady : int
            Present times [ns].
        required : int
            Id of the snapshot that must be used; 0: any.
        """
        when = max(now, 1) if at is None else at
        snapshot, used = self.snapshot_at(when), self.held()
        chosen, issue = snapshot or _NOTHING, None
        if snapshot is not None and footprint:
            try:
                chosen = (
                    snapshot.chosen(footprint)
                    if isinstance(footprint, str)
                    else snapshot.chosen_among(footprint, "footprint")
                )
            except InputError as error:
                issue = Fault(error.status, str(error))
        is_named = not chosen.footprint_expiries
        state = self.fault(at=when, now=now, steady=steady, is_named=is_named)
        fault = state or issue
        if fault is None and required not in (0, chosen.id):
            text = f"snapshot {required} is not available; the last snapshot is {chosen.id}"
            fault = Fault(Status.SNAPSHOT_MISMATCH, text)
        if fault is None and frame not in (None, chosen.config.check_frame):
            text = f"the poses are in '{frame}', but the server checks in "
            text += f"'{chosen.config.check_frame}': pass frame_pose"
            fault = Fault(Status.UNKNOWN_FRAME, text)
        if fault is not None:
            chosen = chosen.invalidated(fault)
        return Asked(chosen, when, used, is_named, state)

    def fault_at_return(self, asked: "Asked", *, now: int, steady: int) -> Fault | None:
        """Return why an answer that was computed cannot be returned; None: it can."""
        return self.fault(
            at=asked.at, now=now, steady=steady, is_named=asked.is_named, used=asked.used
        )

    def snapshot_at(self, at: int) -> Snapshot | None:
        """Return the snapshot for a question at a time [ns]."""
        held = self.snapshot
        if held is None or not self._is_timeless:
            return held
        return replace(held, epoch=at)  # the obstacles are the same at every time


@dataclass(slots=True)
class Asked:
    """A question to a mirror: the data for its answer, and its time [ns].

    Call `answer`, then `Mirror.fault_at_return`, and `at_return` with the result.

    Attributes
    ----------
    data : Snapshot
        The data.
    at : int
        Time for which the question is asked [ns].
    used : _core.HeldSnapshot or None
        The snapshot, see `Mirror.held`.
    is_named : bool
        Whether the answer does not depend on messages with the footprint or the speed.
    state : Fault or None
        Why the mirror has no valid snapshot.
    """

    data: Snapshot
    at: int
    used: _core.HeldSnapshot | None
    is_named: bool
    state: Fault | None

    def answer(self, ask: Callable[[Snapshot], Found], none: Callable[[Answer], Found]) -> Found:
        """Return the answer; if the request is refused, one without results."""
        try:
            return ask(self.data)
        except InputError as error:
            return none(unknown(self.state or Fault(error.status, str(error))))

    def at_return(
        self,
        found: Found,
        fault: Fault | None,
        ask: Callable[[Snapshot], Found],
        none: Callable[[Answer], Found],
    ) -> Found:
        """Return the answer to be returned; if it cannot be returned, UNKNOWN with the fault."""
        if self.state is not None or fault is None:
            return found
        self.state, self.data = fault, self.data.invalidated(fault)
        return self.answer(ask, none)
