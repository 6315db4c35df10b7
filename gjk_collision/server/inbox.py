# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages of one sender: which of them are dropped, refused or stored."""

from collections import deque
from typing import Generic, NamedTuple, Protocol, TypeVar

from .. import _core
from ..verdict import Status
from .snapshot import Fault

__all__ = ["Data", "Inbox", "Instant", "Made", "Message"]

# Maximum number of earlier messages that are kept for one sender. An earlier message is used while
# it is fresh and the transform at the stamp of the newest message is not known yet.
MAX_WAITING = 8
# Maximum number of stamps of one sender whose first reception is known. If there are more, the
# latest stamps, which are farthest ahead of the clock, are removed.
MAX_STAMPS = 64
# If the sequence number of a sender twice does not increase within this time [ns], two publishers
# use its name. The sender is not used until this has not happened for this time.
CLASH = 3_000_000_000


class _Stamped(Protocol):
    @property
    def stamp(self) -> int:
        """Time at which the data is valid [ns]."""


Data = TypeVar("Data", bound=_Stamped)
Made = TypeVar("Made")


class Instant(NamedTuple):
    """A time by both clocks.

    Attributes
    ----------
    now : int
        Time of the clock that the stamps refer to [ns].
    steady : int
        Time of the steady clock [ns].
    """

    now: int
    steady: int


class Message(Generic[Data, Made]):
    """A message of a sender.

    Attributes
    ----------
    stamp : int
        Its stamp [ns]. If it could not be decoded, the stamp of the message before it.
    received : int
        Steady time at which its stamp was first received [ns].
    data : Data or None
        Its content; None: it could not be decoded.
    fault : Fault or None
        Why its content cannot be used at any place.
    made : Made or None
        What was made of its content at its place, as soon as its place is known.
    """

    __slots__ = ("data", "fault", "made", "received", "stamp")

    def __init__(self, stamp: int, received: int, data: Data | None, fault: Fault | None) -> None:
        self.stamp, self.received, self.data, self.fault = stamp, received, data, fault
        self.made: Made | None = None


class Inbox(Generic[Data, Made]):
    """The messages of one sender.

    Parameters
    ----------
    name : str
        Name of the sender.

    Attributes
    ----------
    messages : deque of Message
        The messages that may be used, the newest one first.
    count, dropped : int
        Number of messages that were received, and number of those that were dropped.
    note : str
        Why the last message did not make the data younger; empty: it did.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.messages: deque[Message[Data, Made]] = deque(maxlen=1 + MAX_WAITING)
        self.count = self.dropped = 0
        self.note = ""
        self._newest: int | None = None  # the newest stamp that was not refused [ns]
        # The newest stamp, and refused ones after it -> steady time of their first reception [ns].
        self._first: dict[int, int] = {}
        # Sequence number and stamp of the last message that has a number, and its fault.
        self._numbered: tuple[int, int, Fault | None] = (0, 0, None)
        self._not_greater: int | None = None  # when a number last did not increase, steady [ns]
        self._clash: int | None = None  # when this last happened twice within CLASH, steady [ns]

    @property
    def last(self) -> Message[Data, Made] | None:
        """The last message that was not dropped."""
        return self.messages[0] if self.messages else None

    def receive(
        self, data: Data, at: Instant, max_future_stamp: float, *, number: int = 0
    ) -> Message[Data, Made] | None:
        """Store a message.

        Parameters
        ----------
        data : Data
            Its content.
        at : Instant
            The present time. By the steady clock, the earliest time at which the message can have
            arrived.
        max_future_stamp : float
            A message whose stamp is farther ahead of the clock is refused [s].
        number : int
            Its sequence number; 0: it has none.

        Returns
        -------
        Message or None
            The message; if it is refused, it has a fault. None: it was dropped.
        """
        self.count += 1
        stamp, steady = data.stamp, at.steady
        fault = self._number_fault(number, stamp, steady)
        if self._newest is not None and stamp < self._newest:
            self.dropped += 1
            self.note = "a message with an older stamp was dropped"
            return None
        received = self._first[stamp] = min(self._first.get(stamp, steady), steady)
        self.note = "the stamp of the last message was received before" * (received < steady)
        if text := _core.too_far_ahead(stamp - at.now, max_future_stamp):
            fault = Fault(Status.FUTURE_STAMP, text)
        else:
            self._newest = stamp
            self._first = {each: when for each, when in self._first.items() if each >= stamp}
        if len(self._first) > MAX_STAMPS:
            del self._first[max(self._first)]
        return self._store(Message(stamp, received, data, fault))

    def receive_static(self, data: Data, at: Instant) -> Message[Data, Made]:
        """Store a message of a static source: its stamp and number have no meaning."""
        self.count += 1
        return self._store(Message(data.stamp, at.steady, data, None))

    def receive_fault(self, fault: Fault, at: Instant) -> None:
        """Store a message that could not be decoded."""
        self.count += 1
        stamp = 0 if self.last is None else self.last.stamp
        self._store(Message(stamp, at.steady, None, fault))

    def clash_fault(self, at: Instant) -> Fault | None:
        """Return the fault that two publishers use the name of the sender."""
        if self._clash is None or at.steady - self._clash > CLASH:
            return None
        text = f"two publishers use the name '{self.name}'; give each one its own in `source`"
        return Fault(Status.INVALID_INPUT, text)

    def forget_before(self, message: Message[Data, Made]) -> None:
        """Delete the messages before one that is used."""
        while self.messages[-1] is not message:
            self.messages.pop()

    def place_again(self) -> None:
        """Delete what was made of the messages at their places."""
        for message in self.messages:
            message.made = None

    def _store(self, message: Message[Data, Made]) -> Message[Data, Made]:
        self.messages.appendleft(message)
        return message

    def _number_fault(self, number: int, stamp: int, steady: int) -> Fault | None:
        """Return the fault that a sequence number does not increase.

        The same message again has the same fault as before, or none. A sender that was started
        again begins to count again, but not twice in a short time.
        """
        last, last_stamp, fault = self._numbered
        if not number:
            return None
        if (number, stamp) == (last, last_stamp):
            return fault
        fault = None
        if number <= last:
            text = f"sequence number {number} was received after {last}: it must increase"
            fault = Fault(Status.INVALID_INPUT, text)
            before, self._not_greater = self._not_greater, steady
            if before is not None and steady - before <= CLASH:
                self._clash = steady
        self._numbered = number, stamp, fault
        return fault
