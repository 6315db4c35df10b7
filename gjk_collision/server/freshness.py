# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Which message of a sender is used: its age, and whether its transform may still arrive."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple

from .. import _core
from ..verdict import Status
from .config import Config, SourceConfig
from .inbox import Data, Inbox, Instant, Made, Message
from .snapshot import Fault

__all__ = [
    "AwaitedTransform",
    "Timeout",
    "Use",
    "age_fault",
    "footprint_timeout",
    "is_excused",
    "prefixed",
    "source_timeout",
    "use_of",
]


class Timeout(NamedTuple):
    """The limit of the age of data [s], and the status of data that is older."""

    seconds: float
    status: Status


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
    """

    message: Message[Data, Made]
    made: Made | Fault

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
            return Use(message, made)
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


def is_excused(source: SourceConfig, fault: Fault | None) -> bool:
    """Return whether answers can be FREE despite a fault: the data of an optional source is old.

    All other faults of an optional source count, until its next message.
    """
    is_old = fault is not None and fault.status is Status.STALE_OBSTACLES
    return is_old and not source.required


def source_timeout(source: SourceConfig) -> Timeout | None:
    """Return the timeout of a source of obstacles; None: it is static."""
    return None if source.static else Timeout(source.timeout, Status.STALE_OBSTACLES)


def footprint_timeout(config: Config) -> Timeout:
    """Return the timeout of a footprint from the topic."""
    return Timeout(config.footprint_timeout, Status.STALE_FOOTPRINT)


def prefixed(name: str, fault: Fault) -> Fault:
    """Return a fault whose message begins with the name of its source."""
    return Fault(fault.status, f"{name}: {fault.message}")
