# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages of one sender: which of them are dropped, refused or stored, and which is used."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ... import _core
from ...verdict import Status
from ..frames.poses import DroppedError, FlippedError, FrameError, Pose, TransformSource
from ..parameters.config import Config, SourceConfig
from .faults import Fault

__all__ = [
    "AgeLimit",
    "AwaitedTransform",
    "Data",
    "Inbox",
    "Instant",
    "Made",
    "Message",
    "Timeout",
    "Use",
    "age_fault",
    "footprint_timeout",
    "is_excused",
    "pose_of",
    "source_timeout",
    "twist_timeout",
    "use_of",
]

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
    late : int
        `TransformSource.late` when its place was looked up; -1: it was not.
    """

    __slots__ = ("data", "fault", "late", "made", "received", "stamp")

    def __init__(self, stamp: int, received: int, data: Data | None, fault: Fault | None) -> None:
        self.stamp, self.received, self.data, self.fault = stamp, received, data, fault
        self.made: Made | None = None
        self.late = -1


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
        repeated = received < steady
        self.note = "the stamp of the last message was received before" if repeated else ""
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


class Timeout(NamedTuple):
    """The limit of the age of data [s], and the status of data that is older."""

    seconds: float
    status: Status


@dataclass(frozen=True, slots=True)
class AgeLimit:
    """The fields of ``msg/AgeLimit``: when the data of one message becomes too old.

    Attributes
    ----------
    source : str
        Name in ``obstacle_sources``, "footprint" or "twist_topic".
    stamp : int
        Stamp of the message [ns].
    timeout : float
        Maximum age by the stamp, and maximum time since the stamp was first received [s]; 0: no
        limit, because the source is static.
    receipt_age : float
        Time since the stamp was first received [s], at the time of the snapshot.
    """

    source: str
    stamp: int
    timeout: float
    receipt_age: float

    @classmethod
    def of(
        cls, source: str, message: Message[Any, Any], timeout: Timeout | None, steady: int
    ) -> "AgeLimit":
        """Return the limit of a message at a steady time [ns]."""
        seconds = 0.0 if timeout is None else timeout.seconds
        return cls(source, message.stamp, seconds, (steady - message.received) * 1e-9)


@dataclass(frozen=True, slots=True)
class AwaitedTransform(Fault):
    """The transform at the stamp of a message is not known yet, but may still arrive."""


@dataclass(frozen=True, slots=True)
class Use(Generic[Data, Made]):
    """The message of a sender that is used, or the last one if none is used.

    Attributes
    ----------
    message : Message
        The message.
    made : Made or Fault
        What was made of it, or the reason why no message is used.
    lasts : float
        For how long the message is used if no other is received [ns], by each of the clocks.
    """

    message: Message[Data, Made]
    made: Made | Fault
    lasts: float = inf

    @property
    def fault(self) -> Fault | None:
        """The reason why no message is used."""
        return self.made if isinstance(self.made, Fault) else None


def use_of(
    inbox: Inbox[Data, Made],
    timeout: Timeout | None,
    at: Instant,
    make: Callable[[Message[Data, Made]], Made | Fault],
) -> Use[Data, Made]:
    """Return the newest message of a sender that can be used.

    A transform often arrives a little later than the data. While the transform of the last message
    may still arrive, the message before it is used as long as it is fresh. A message that is older
    than one with another fault is not used.

    Parameters
    ----------
    inbox : Inbox
        The messages of the sender, at least one.
    timeout : Timeout or None
        The limit of both ages; None: the data never becomes too old.
    at : Instant
        The present time.
    make : callable
        Places a message without a fault; returns the result, or why this is not possible.
    """
    last = inbox.messages[0]
    if clash := inbox.clash_fault(at):
        return Use(last, clash)
    first: Fault | None = None
    for message in inbox.messages:
        fault = message.fault or age_fault(message, timeout, at, inbox.note)
        made = fault or make(message)
        if not isinstance(made, Fault):
            inbox.forget_before(message)
            return Use(message, made, 0.0 if first else _rest(message, timeout, at))
        first = first or made
        if not isinstance(made, AwaitedTransform):
            break
    assert first is not None
    return Use(last, message.fault or first)


def age_fault(
    message: Message[Data, Made], timeout: Timeout | None, at: Instant, note: str = ""
) -> Fault | None:
    """Return the fault that data is too old, by its stamp or since its stamp was first received.

    `note` is added to the text.
    """
    if timeout is None:
        return None
    age, silence = at.now - message.stamp, at.steady - message.received
    text = _core.too_old(age, silence, timeout.seconds)
    if not text:
        return None
    return Fault(timeout.status, f"{text}; {note}" if note else text)


def _rest(message: Message[Data, Made], timeout: Timeout | None, at: Instant) -> float:
    """Return for how long data that is not too old will not be [ns]."""
    if timeout is None:
        return inf
    # A microsecond less, because a timeout in seconds is rounded.
    return timeout.seconds * 1e9 - max(at.now - message.stamp, at.steady - message.received) - 1e3


def pose_of(message: Message[Any, Any], transforms: TransformSource, target: str) -> Pose | Fault:
    """Return the pose of the frame of a message at its stamp, or why it is not known.

    It is looked up again after a transform that came late. If the transforms at its stamp have
    been dropped meanwhile, because they are old, it stays.
    """
    last, stamp = message.made, message.stamp
    assert message.data is not None
    if last is not None and message.late == transforms.late:
        return last.pose  # type: ignore[no-any-return]
    frame = message.data.frame
    if not frame:
        return Fault(Status.UNKNOWN_FRAME, "header.frame_id is empty")
    if frame == target:
        return Pose()
    try:
        newest = transforms.latest(target, frame)[1]
    except FrameError as error:
        newest = error.stamp if isinstance(error, FlippedError) else stamp
    try:
        return transforms.lookup(target, frame, stamp)
    except FrameError as error:
        if last is not None and isinstance(error, DroppedError):
            return last.pose  # type: ignore[no-any-return]
        if isinstance(error, FlippedError) and message.data.may_be_flipped:
            return error.pose
        is_awaited = error.status is Status.TF_EXTRAPOLATION and stamp > newest
        kind = AwaitedTransform if is_awaited else Fault
        return kind.of(error)


def is_excused(source: SourceConfig, fault: Fault | None) -> bool:
    """Return whether answers can be FREE despite a fault: the data of an optional source is old.

    All other faults of an optional source count, until its next message.
    """
    is_old = fault is not None and fault.status is Status.STALE_OBSTACLES
    return is_old and not source.required


def source_timeout(source: SourceConfig) -> Timeout | None:
    """Return the timeout of a source of obstacles; None: it is static."""
    return None if source.static else Timeout(source.timeout, Status.STALE_OBSTACLES)


def twist_timeout(config: Config) -> Timeout:
    """Return the timeout of a twist."""
    return Timeout(config.twist_timeout, Status.STALE_FOOTPRINT)


def footprint_timeout(config: Config) -> Timeout:
    """Return the timeout of a footprint from the topic."""
    return Timeout(config.footprint_timeout, Status.STALE_FOOTPRINT)
