# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages of all senders, and the data of them that is used at present."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf, nan

import numpy as np
import numpy.typing as npt

from ...geometry import Shape
from ...verdict import Status
from ..frames.poses import FrameError, TransformSource
from ..parameters.config import DEFAULT_FOOTPRINT, Config, SourceConfig
from .faults import Fault
from .footprints import NamedFootprint, Outline, named_footprints, outline_fault, outline_of
from .inbox import (
    Data,
    Inbox,
    Instant,
    Made,
    Message,
    Use,
    footprint_timeout,
    is_excused,
    source_timeout,
    twist_timeout,
    use_of,
)
from .obstacles import Footprint, Obstacles
from .placing import Sender, list_fault, sender_of, together_fault
from .seen import NO_SPACE, Space, space_of
from .snapshot import Report
from .twist import Twist, footprint_at, twist_of

__all__ = ["Choice", "Present", "Received"]

# Maximum number of senders on the topic of one source. The data of each sender must be fresh.
MAX_SENDERS = 16
# What was seen is kept at this number of times within ``seen_for``, of each sender.
_PARTS = 8


@dataclass
class _Source:
    config: SourceConfig
    inboxes: dict[str, Inbox[Obstacles, Sender]] = field(default_factory=dict)  # by sender
    fault: Fault | None = None  # set if there are too many senders
    # Earlier messages of what was seen, the oldest first, for ``seen_for``.
    past: deque[Message[Obstacles, Sender]] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class Choice:
    """The footprint for a request that names none, or the reason why it is not known."""

    name: str = ""
    shape: Shape | None = None
    outline: npt.NDArray[np.float64] | None = None
    message: Message[Footprint, Outline] | None = None  # None: it is from a parameter
    twist: Message[Twist, Twist] | None = None  # the twist that it was selected by
    fault: Fault | None = None
    lasts: float = inf  # as for `Use`


@dataclass(frozen=True, slots=True)
class Present:
    """The data that is used at one time, and what is wrong with it.

    Attributes
    ----------
    choice : Choice
        The footprint for a request that names none.
    senders : tuple of Sender
        The obstacles of each sender whose data is used.
    twist : Twist, Fault or None
        The twist of the base frame, or why it is not known; None: ``twist_topic`` is not set.
    data_fault : Fault or None
        The first fault that does not concern the footprint.
    fault : Fault or None
        The first fault; None: the data is complete.
    bad_sources : tuple of str
        Names of the sources whose data is missing, stale or invalid.
    stamps : tuple of int
        Stamps of the last messages of all senders of obstacles, also of those not used [ns].
        Static sources and messages that could not be decoded do not count.
    lasts : float
        If no message is received, the same data is used until this time has passed by one of the
        clocks [ns].
    past : tuple of Sender
        Earlier messages, whose obstacles are not used. What they have seen counts.
    space : Space
        The space that the vehicle itself has filled.
    """

    choice: Choice
    senders: tuple[Sender, ...]
    twist: Twist | Fault | None
    data_fault: Fault | None
    fault: Fault | None
    bad_sources: tuple[str, ...]
    stamps: tuple[int, ...]
    lasts: float
    past: tuple[Sender, ...] = ()
    space: Space = NO_SPACE


class Received:
    """The messages of all senders: the footprint, the twist and the obstacles of all sources.

    Parameters
    ----------
    config : Config
        Parameters of the server.
    transforms : TransformSource
        Source of the poses between frames.
    topics : mapping
        As for `World`.

    Attributes
    ----------
    footprint, twist : Inbox
        The messages with footprints and with twists.
    named : tuple of NamedFootprint
        The footprints from the parameters.
    is_misplaced : bool
        Set when a list is found that is not valid at its place.

    Raises
    ------
    InputError
        The configured footprint is not a valid shape.
    """

    def __init__(
        self, config: Config, transforms: TransformSource, topics: Mapping[str, str]
    ) -> None:
        self._transforms, self._topics = transforms, topics
        self._sources: dict[str, _Source] = {}
        self.is_misplaced = False
        self.configure(config)
        self.delete()

    def configure(self, config: Config) -> None:
        """Change the parameters and keep the data."""
        self._config = config
        self.named: tuple[NamedFootprint, ...] = named_footprints(config)
        old = self._sources
        self._sources = {each.name: _Source(each) for each in config.sources}
        for name, source in self._sources.items():
            if name in old:
                source.inboxes, source.fault = old[name].inboxes, old[name].fault
                source.past = old[name].past

    def delete(self, jump: Fault | None = None) -> None:
        """Delete all data.

        Parameters
        ----------
        jump : Fault, optional
            The fault that the clock went back. It is then the fault of missing data, and the data
            of static sources is kept.
        """
        self._jump = jump
        self.footprint: Inbox[Footprint, Outline] = Inbox("footprint")
        self.twist: Inbox[Twist, Twist] = Inbox("twist_topic")
        self._body, self._body_since = b"", 0  # outline and radius of the vehicle; ns
        for source in self._sources.values():
            if jump is None or not source.config.static:
                source.inboxes, source.fault = {}, None
                source.past.clear()

    def place_again(self) -> None:
        """Place all data again, because a static transform was replaced."""
        for _, inbox in self._inboxes():
            inbox.place_again()
        for source in self._sources.values():
            for message in source.past:
                message.made = None
        self.footprint.place_again()
        self.twist.place_again()

    # ---- messages

    def receive_footprint(self, footprint: Footprint, at: Instant) -> Fault | None:
        """Store a footprint; return the fault of this message."""
        message = self.footprint.receive(footprint, at, self._config.max_future_stamp)
        if message is None:
            return None
        message.fault = message.fault or outline_fault(footprint, self._config)
        return message.fault

    def receive_twist(self, twist: Twist, at: Instant) -> None:
        """Store a twist of the vehicle."""
        self.twist.receive(twist, at, self._config.max_future_stamp)

    def receive_obstacles(self, source: str, obstacles: Obstacles, at: Instant) -> Fault | None:
        """Store the obstacles of a source; return the fault of this message or its sender."""
        owner = self._sources[source]
        owner.inboxes.pop("", None)  # see `receive_fault`
        name = obstacles.sender(source)
        inbox = owner.inboxes.get(name)
        if inbox is None:
            if len(owner.inboxes) >= MAX_SENDERS:
                topic = self._topics.get(source, owner.config.topic)
                text = f"more than {MAX_SENDERS} senders on the topic '{topic}'; "
                text += "call ~/reset to remove old senders"
                owner.fault = Fault(Status.LIMIT_EXCEEDED, text)
                return None
            inbox = owner.inboxes[name] = Inbox(name)
        message: Message[Obstacles, Sender] | None
        if owner.config.static:
            message = inbox.receive_static(obstacles, at)
        else:
            limit, number = self._config.max_future_stamp, obstacles.sequence
            message = inbox.receive(obstacles, at, limit, number=number)
        fault = inbox.clash_fault(at)
        if message is not None:
            message.fault = message.fault or list_fault(message, owner.config, name, self._config)
            fault = message.fault or fault
            self._keep_seen(owner, message)
        return fault

    def _keep_seen(self, owner: _Source, message: Message[Obstacles, Sender]) -> None:
        """Keep a message for ``seen_for``; of many, one in each `_PARTS` th of this time."""
        own, past, time = message.data, owner.past, self._config.seen_for * 1e9
        if own is None or own.seen is None or owner.config.static or not time:
            return
        newest = max((each.stamp for each in past if _is_of(each, own)), default=0)
        if not message.fault and message.stamp - newest >= time / _PARTS:
            past.append(message)
        while past and past[0].stamp < message.stamp - time:
            past.popleft()

    def receive_fault(self, source: str, fault: Fault, at: Instant) -> None:
        """Store the fault of a message that could not be decoded, see `World.receive_fault`."""
        if source == "twist_topic":
            self.twist.receive_fault(fault, at)
        elif source == "footprint":
            self.footprint.receive_fault(fault, at)
        else:
            inboxes = self._sources[source].inboxes
            if not inboxes:
                inboxes[""] = Inbox("")
            for inbox in inboxes.values():
                inbox.receive_fault(fault, at)

    # ---- the data that is used

    def present(self, at: Instant) -> Present:
        """Return the data that is used at a time."""
        senders, bad_sources, data_fault, lasts = self._usable_senders(at)
        twist, twist_lasts = self._twist_at(at)
        stamps = tuple(
            inbox.messages[0].stamp
            for source, inbox in self._inboxes()
            if inbox.name and not source.config.static
        )
        choice = self._choose(twist, at)
        fault = choice.fault or data_fault
        past, past_lasts = self._past_at(senders, at)
        space = self._space(senders, past, choice, at.now)
        lasts = min(lasts, twist_lasts, choice.lasts, past_lasts)
        if fault is not None or isinstance(twist, Fault):
            lasts = 0.0  # the text of a fault has an age, and it may end with a transform
        return Present(
            choice, senders, twist, data_fault, fault, bad_sources, stamps, lasts, past, space
        )

    def _past_at(self, senders: Sequence[Sender], at: Instant) -> tuple[tuple[Sender, ...], float]:
        """Return what earlier messages have seen, and how long this lasts."""
        found, lasts, config = [], inf, self._config
        used = {each.message for each in senders}
        for source in self._sources.values():
            for message in source.past:
                rest = config.seen_for * 1e9 - abs(at.now - message.stamp)
                if rest < 0.0 or message in used or message.fault or message.data is None:
                    continue
                name = message.data.sender(source.config.name)
                made = sender_of(message, source.config, name, config, self._transforms, at.now)
                if not isinstance(made, Fault):
                    found.append(made)
                    lasts = min(lasts, rest)
        return tuple(found), lasts

    def _space(
        self, senders: Sequence[Sender], past: Sequence[Sender], choice: Choice, now: int
    ) -> Space:
        """Return the space of the vehicle at the stamps of the messages that have seen something.

        A footprint that may change counts at the newest messages only, and not at those before it
        has changed. Footprints for a speed include the way to stop, and do not count.
        """
        config = self._config
        own = next((each for each in self.named if each.name == DEFAULT_FOOTPRINT), None)
        outline, shape = (own.outline, own.shape) if own else (None, None)
        if config.is_footprint_received or config.active_footprint:
            past, outline, shape = (), choice.outline, choice.shape
        stamps = {each.message.stamp for each in (*senders, *past)
                  if each.seen is not None and not each.source.static}  # fmt: skip
        if outline is None or shape is None or not stamps:
            return NO_SPACE
        body = np.append(outline, shape.radius).tobytes()
        if body != self._body:
            self._body, self._body_since = body, now if self._body else 0
        poses = []
        for stamp in sorted(each for each in stamps if each >= self._body_since):
            with suppress(FrameError):
                pose = self._transforms.lookup(config.check_frame, config.base_frame, stamp)
                poses.append(pose)
        return space_of(outline, shape.radius, poses)

    def _inboxes(self) -> Iterator[tuple[_Source, Inbox[Obstacles, Sender]]]:
        for source in self._sources.values():
            for inbox in source.inboxes.values():
                yield source, inbox

    def _choose(self, twist: Twist | Fault | None, at: Instant) -> Choice:
        """Return the footprint for a request that names none."""
        name, selector = self._config.active_footprint or DEFAULT_FOOTPRINT, None
        if self._config.speed_footprints:
            assert twist is not None  # speed_footprints requires twist_topic
            if isinstance(twist, Fault):
                return _no_choice(twist)
            selector = self.twist.last
            name = footprint_at(self._config, twist)
            if not name:
                speed = f"{twist.vx:g} m/s, {twist.vy:g} m/s, {twist.wz:g} rad/s"
                text = f"no footprint in speed_footprints is for the twist {speed}"
                return _no_choice(Fault(Status.NO_FOOTPRINT, text))
        for each in self.named:
            if each.name == name:
                return Choice(name, each.shape, each.outline, twist=selector)
        if self.footprint.last is None:
            topic = self._topics.get("footprint", "footprint")
            text = f"no footprint configured, and none received on the topic '{topic}'"
            missing = Fault(Status.NO_FOOTPRINT, text)
            return Choice(fault=(self._jump or missing).of_source("footprint"))
        use = use_of(
            self.footprint,
            footprint_timeout(self._config),
            at,
            lambda message: outline_of(message, self._config, self._transforms),
        )
        if isinstance(use.made, Fault):
            return Choice(fault=use.made.of_source("footprint"))
        shape, points = use.made.shape, use.made.points
        return Choice(name, shape, points, use.message, selector, lasts=use.lasts)

    def _twist_at(self, at: Instant) -> tuple[Twist | Fault | None, float]:
        """Return the twist of the base frame or why it is not known, and how long this lasts.

        None: it is not configured.
        """
        config = self._config
        if not config.twist_topic:
            return None, inf
        if self.twist.last is None:
            missing = self._nothing_received("twist_topic", config.twist_topic)
            missing = replace(missing, status=Status.NO_FOOTPRINT)
            return (self._jump or missing).of_source("twist_topic"), 0.0
        use = use_of(
            self.twist,
            twist_timeout(config),
            at,
            lambda message: twist_of(message, config, self._transforms),
        )
        made = use.made
        return made.of_source("twist_topic") if isinstance(made, Fault) else made, use.lasts

    def _use(
        self, source: SourceConfig, inbox: Inbox[Obstacles, Sender], at: Instant
    ) -> Use[Obstacles, Sender]:
        """Return the message of a sender of obstacles that is used."""
        return use_of(
            inbox,
            source_timeout(source),
            at,
            lambda each: self._place(source, inbox.name, each, at),
        )

    def _place(
        self, source: SourceConfig, name: str, message: Message[Obstacles, Sender], at: Instant
    ) -> Sender | Fault:
        """Return the obstacles of a message at their place, or why this is not possible."""
        last, config = message.made, self._config
        made = sender_of(message, source, name, config, self._transforms, at.now)
        self.is_misplaced |= isinstance(made, Fault) and message.made is not last
        return made

    def _usable_senders(
        self, at: Instant
    ) -> tuple[tuple[Sender, ...], tuple[str, ...], Fault | None, float]:
        """Return the senders to use, the bad sources, the first fault, and how long this lasts."""
        senders: list[Sender] = []
        bad: list[str] = []
        faults: list[Fault] = []
        lasts = inf
        for name, source in self._sources.items():
            if source.fault is not None:
                bad.append(name)
                faults.append(source.fault.of_source(name))
            elif not source.inboxes:
                bad.append(name)
                if source.config.required:
                    missing = self._nothing_received(name, source.config.topic)
                    faults.append((self._jump or missing).of_source(name))
            for inbox in source.inboxes.values():
                use = self._use(source.config, inbox, at)
                made, lasts = use.made, min(lasts, use.lasts)
                if not isinstance(made, Fault):
                    senders.append(made)
                    if source.config.static and made.received.frame != self._config.check_frame:
                        lasts = 0.0  # its frame may move
                    continue
                bad.append(name)
                if not is_excused(source.config, made):
                    faults.append(made.of_source(name))
        if fault := together_fault(senders, self._config):
            faults.append(fault)
            senders = []
        if not senders and not faults:
            # Each source is optional, but without any data no place is known to be free.
            none = Fault(Status.NO_OBSTACLES, "no source has fresh data")
            is_any = any(source.inboxes for source in self._sources.values())
            faults.append(none if is_any else self._jump or none)
        first = faults[0] if faults else None
        return tuple(senders), tuple(dict.fromkeys(bad)), first, lasts

    def _nothing_received(self, name: str, topic: str) -> Fault:
        topic = self._topics.get(name, topic)
        text = f"no message received on the topic '{topic}': is it published, with a quality of "
        return Fault(Status.NO_OBSTACLES, f"{text}service that matches?")

    # ---- reports

    def reports(self, present: Present, at: Instant) -> list[Report]:
        """Return the state of each sender, the footprint first; `present`: the data in use."""
        choice, twist = present.choice, present.twist
        used = choice.message or self.footprint.last
        points = used.data.points if used and used.data else ()
        reports = [_report("footprint", self.footprint, used, choice.fault, at, len(points))]
        if twist is not None:
            fault = twist if isinstance(twist, Fault) else None
            excused = not self._config.speed_footprints
            last = self.twist.last
            reports.append(_report("twist_topic", self.twist, last, fault, at, 0, excused))
        for name, source in self._sources.items():
            for inbox in source.inboxes.values():
                use = self._use(source.config, inbox, at)
                count = len(use.message.data or ())
                excused = is_excused(source.config, use.fault)
                reports.append(_report(name, inbox, use.message, use.fault, at, count, excused))
            if source.fault is not None:
                reports.append(Report(name, "", source.fault))
            elif not source.inboxes:
                missing = self._nothing_received(name, source.config.topic)
                reports.append(Report(name, "", missing, not source.config.required))
        return reports


def _is_of(message: Message[Obstacles, Sender], sender: Obstacles) -> bool:
    return message.data is not None and message.data.source == sender.source


def _no_choice(fault: Fault) -> Choice:
    """Return the choice if no footprint can be selected by the twist."""
    text = f"footprint: none can be selected by speed: {fault.message}"
    return Choice(fault=Fault(fault.status, f"{text}; a request can name a footprint"))


def _report(
    source: str,
    inbox: Inbox[Data, Made],
    used: Message[Data, Made] | None,
    fault: Fault | None,
    at: Instant,
    count: int,
    excused: bool = False,
) -> Report:
    """Return the report of a sender; `used` is the message that is used, or the last one."""
    if used is None:
        return Report(source, "", fault, excused)
    age = (at.now - used.stamp) * 1e-9 if used.stamp else nan
    counts = count, inbox.count, inbox.dropped
    waiting = inbox.last.data if inbox.last is not None and used is not inbox.last else None
    return Report(source, inbox.name, fault, excused, age, *counts, waiting)
