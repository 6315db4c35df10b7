# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The main loop of a replay: it passes the messages of a bag to the `Server`, as the node does.

Messages are processed in the order of log time, which replaces the steady clock. After all
messages with the same log time, an answer is computed if one of them has obstacles. If there was
no answer for 1 / ``state_rate``, an answer is computed too, so that missing data is visible. After
a long time without any message, nothing is evaluated until the next message: the log times jump.
The result does not depend on the clock of this machine or on the order of threads.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby, islice
from math import nan
from operator import attrgetter
from typing import Any

import numpy as np

from ..errors import InputError
from ..server.adapters import footprint, twist
from ..server.data.faults import Fault
from ..server.data.snapshot import Report, empty_snapshot
from ..server.frames.fields import nanoseconds
from ..server.frames.poses import FrameError
from ..server.frames.transforms import TransformTree, insert_message
from ..server.parameters.config import CLOUD, COSTMAP, GRID, POLYGON, RANGE, SCAN, Config
from ..server.server import Heartbeat, Server
from ..verdict import Status, Verdict
from .bag import Bag, BagError, Message
from .causes import Causes, Reason
from .faults import FaultSpec, Faulty, clock_shift, inject
from .live_parameters import LiveParameters
from .origin import Recording
from .requests import RecordedRequests
from .rows import DIGITS, Row
from .topics import Topics

__all__ = ["TRANSFORM", "Drive"]

# Name of the pose of the vehicle among the sources. No source can have this name.
TRANSFORM = "pose of the vehicle"

# Without a message, stamps are evaluated for this time [ns], or for the longest timeout if that is
# longer. After that, all data that can become too old is too old.
SILENCE = 10_000_000_000

# Types of data whose ids are only numbers.
READINGS = CLOUD, COSTMAP, GRID, POLYGON, RANGE, SCAN

# Header stamps that differ more from the log times are of another clock [ns].
OTHER_CLOCK = 60_000_000_000


class Drive:
    """One run through a bag: the shell of a `Server`, with the times of the log.

    Parameters
    ----------
    bag : Bag
        The bag, open for reading.
    config : Config
        Parameters of the server.
    topics : Topics
        The topics to read.
    faults : sequence of FaultSpec
        Faults that are injected into the messages.
    live_parameters : bool
        Whether to apply the changes of parameters that were recorded.
    nearest : int
        Number of the nearest obstacles in each row; 1: no more than `Row.nearest_id`.

    Attributes
    ----------
    snapshot : Snapshot
        The snapshot that the last row was answered from.
    processed, unreadable : int
        Number of messages so far, and number of those that could not be decoded.
    undefined : str
        Which of them are of another version and not defined in the bag; empty: none.
    errors : list of str
        Exceptions that were raised while answers were computed.
    recording : Recording
        Digests of the messages so far, without the faults.
    causes : Causes
        Explains the answers.
    live : LiveParameters
        The recorded changes of parameters.
    """

    def __init__(
        self,
        bag: Bag,
        config: Config,
        topics: Topics,
        faults: Sequence[FaultSpec] = (),
        *,
        live_parameters: bool = True,
        nearest: int = 1,
    ) -> None:
        self._bag, self._topics, self._faults = bag, topics, faults
        self._nearest = nearest
        self.recording = Recording()
        self.transforms = TransformTree()
        # Why transforms were not used -> the first child frame, and their number.
        self._left_out: dict[str, list[Any]] = {}
        self.errors: list[str] = []
        self._jumps: list[str] = []  # jumps of the log times
        self._clock = 0
        self._time = bag.begin
        is_wrong = any(each.kind == "jump_clock" for each in faults)
        clock = "an injected fault" if is_wrong else f"the time on {topics.clock}"
        # What header stamps are behind the log times [ns].
        delay = 0 if topics.has_clock else _delay(bag, topics, 1000 if topics.clock else 20)
        self._delay = delay if topics.clock else 0
        self._notes: list[str] = []
        if abs(delay) > OTHER_CLOCK and not topics.clock:
            text = f"header stamps are {delay * 1e-9:.1f} s behind the log times, on another "
            text += "clock: add --topics clock=header to replay by header stamps"
            self._notes.append(text)
        self._ego_fault: Fault | None = None  # of the last heartbeat
        self.causes = Causes(topics.resolved(config), config, clock, bag.begin)
        self._server = Server(self, epoch=-1)
        self._server.configure(config, self.transforms)
        self._server.activate(topics.resolved(config))
        # Sources whose obstacles keep their ids.
        self._tracked = {each.name for each in config.sources if each.type not in READINGS}
        self._converted: Any = None  # the last obstacles
        self._requests = RecordedRequests(self._server)
        self.live = LiveParameters(self._server, topics.server, is_applied=live_parameters)
        not_yet = Fault(Status.CLOCK_JUMP, "no time received on /clock yet")
        self.snapshot = empty_snapshot(config, not_yet, 0)
        self.processed = self.unreadable = 0
        self.undefined = ""
        self._handlers = self._dispatch()

    def rows(self) -> Iterator[Row]:
        """Yield a row for each evaluated stamp and each recorded request.

        Raises
        ------
        BagError
            The bag is not complete. The rows of all messages before the break were yielded.
        """
        messages = inject(self._messages(), self._faults, self._bag.begin)
        evaluated = before = self._bag.begin
        for time, together in groupby(messages, key=attrgetter("time")):
            period = round(1e9 / self._server.config.state_rate)
            end = before + max(SILENCE, period, self._longest_timeout())
            while time - evaluated > period and evaluated + period <= end:
                evaluated += period
                yield self._state(evaluated, "silence")
            if time - evaluated > period:
                self._note_jump(before, evaluated, time)
                evaluated += (time - evaluated - 1) // period * period
            self._time = before = time
            # Set the time before the first transform of that time is stored.
            self.causes.pass_time(self._t, self.now())
            self._requests.resume()
            has_data = False
            for message in together:
                self.processed += 1
                is_data, rows = self._process(message)
                has_data |= is_data
                yield from rows
            if has_data:
                evaluated = time
                yield self._state(time, "data")
        yield from self._requests.finish()

    def reports(self) -> list[Report]:
        """Return the state of each sender at the time of the last row."""
        return self._server.reports()

    def explain(self, row: Row) -> Reason:
        """Return what else is known about the last row."""
        known = (self._ego_fault, self.snapshot.fault)
        fault = next((each for each in known if each and each.message == row.message), None)
        return self.causes.explain(row, self.snapshot, fault, self.transforms)

    def transform(self) -> Report:
        """Return the age of the newest pose of the vehicle, or why it is not known."""
        config = self.snapshot.config
        try:
            _, stamp = self.transforms.latest(config.check_frame, config.base_frame)
        except FrameError as error:
            return Report(TRANSFORM, "", Fault.of(error))
        age = (self.snapshot.stamp - stamp) * 1e-9 if stamp else nan  # 0: it is static
        return Report(TRANSFORM, "", None, age=age)

    def notes(self) -> list[str]:
        """Return notes about the parts of the bag that were not used."""
        transforms = [
            f"{count} transforms were not used: {why} (the first child frame is '{first}')"
            for why, (first, count) in self._left_out.items()
        ]
        count = len(self._jumps)
        which = f" {count} times, the first time" if count > 1 else ""
        jumps = [f"the log times jump{which}: {each}" for each in self._jumps[:1]]
        return self._notes + self.live.notes + self._requests.notes() + transforms + jumps

    # ---- messages

    def _dispatch(self) -> dict[str, Callable[[Any], list[Row]]]:
        """Return a function for each topic without data that processes its messages."""
        topics = self._topics
        handlers: dict[str, Callable[[Any], list[Row]]] = {
            topics.tf: partial(self._receive_transforms, static=False),
            topics.tf_static: partial(self._receive_transforms, static=True),
            topics.clock: self._receive_clock,  # HEADER is no topic
            topics.parameters: self._receive_parameters,
        }
        for name, service in topics.services.items():
            handlers[name] = partial(self._requests.process, service)
        return handlers  # that of the topic "" gets no message

    def _messages(self) -> Iterator[Message]:
        for message in self._bag.messages(self._topics.names):
            self.recording.add(message.time - self._bag.begin, message)
            yield message

    def _process(self, message: Message) -> tuple[bool, list[Row]]:
        """Process one message; return whether it has obstacles, and the rows that it completes."""
        sources = self._topics.obstacles.get(message.topic, ())
        others = {self._topics.footprint: ["footprint"], self._topics.twist: ["twist_topic"]}
        names = [*sources, *(others.get(message.topic, []) if message.topic else [])]
        rows: list[Row] = []
        try:
            fields = self._bag.decode(message)
            for change in message.changes if isinstance(message, Faulty) else ():
                change(fields)
            if names:
                self.causes.receive(message.topic, self._t, fields)
            if message.topic in self._handlers:
                rows = self._handlers[message.topic](fields)
        except Exception as error:  # invalid bytes can raise any error
            self.unreadable += 1
            if isinstance(error, BagError):
                self.undefined = str(error)
            for name in names:
                self._receive(name, partial(_fail, error))
            return bool(sources), []
        errors = list[Exception | None]()
        for name in names:
            errors.append(self._receive(name, partial(self._convert, name, fields)))
            if errors[-1] is None and name in self._tracked:
                self.causes.receive_obstacles(name, self._t, self._converted)
        self.unreadable += any(e is not None and not isinstance(e, InputError) for e in errors)
        return bool(sources), rows

    def _receive(self, name: str, read: Callable[[], Any]) -> Exception | None:
        return self._server.receive(name, read, self._time)

    def _convert(self, name: str, fields: Any) -> Any:
        """Return the data of a message for a source, "footprint" or "twist_topic"."""
        config = self._server.config
        if name == "footprint":
            return footprint(fields, config)
        if name == "twist_topic":
            return twist(fields, config)
        source = config.source(name)
        self._converted = self._server.grids.convert(fields, config, source)
        return self._converted

    def _receive_transforms(self, message: Any, *, static: bool) -> list[Row]:
        self.now()
        for each in message.transforms:
            if why := insert_message(self.transforms, each, static=static):
                self._left_out.setdefault(why, [each.child_frame_id, 0])[1] += 1
            elif not static:
                self.causes.receive_transform(self._t, each)
        self._requests.resume()
        return []

    def _receive_clock(self, message: Any) -> list[Row]:
        self._clock = nanoseconds(message.clock)
        self.causes.pass_time(self._t, self.now())
        return []

    def _receive_parameters(self, message: Any) -> list[Row]:
        if changed := self.live.receive(message, self._t):
            self.causes.note("parameters", changed, self._t)
        return []

    @property
    def _t(self) -> float:
        """The log time after the begin of the bag [s]."""
        return (self._time - self._bag.begin) * 1e-9

    def _longest_timeout(self) -> int:
        """Return the time after which all data that can become too old is too old [ns]."""
        config = self._server.config
        sources = [each.timeout for each in config.sources if not each.static]
        others = config.footprint_timeout, config.twist_timeout, config.transform_tolerance
        return round(1e9 * max(*sources, *others))

    def _note_jump(self, before: int, evaluated: int, time: int) -> None:
        """Note that there is no message between two log times, and no stamp since `evaluated`."""
        first, last, end = ((each - self._bag.begin) * 1e-9 for each in (before, evaluated, time))
        found = self.causes.note("jump of the log times", "no message", first)
        text = f"for {end - first:.3f} s; no stamp is evaluated after {last:.3f} s until then"
        found.end, found.tail = end, f", {text}"
        self._jumps.append(str(found))

    # ---- the shell of the server

    def now(self) -> int:
        """Return the present time [ns], with which stamps are compared."""
        now = self._clock if self._topics.has_clock else self._time - self._delay
        if now:
            now += clock_shift(self._faults, self._bag.begin, self._time)
        self.transforms.set_time(now)
        return now

    def steady(self) -> int:
        """Return the log time [ns]."""
        return self._time

    def note_change(self) -> None:
        """There is no mirror."""

    def log_error(self, where: str, error: Exception) -> None:
        """Store an error that was raised while an answer was computed."""
        self.errors.append(repr(error))

    # ---- answers

    def _state(self, time: int, cause: str) -> Row:
        """Return the answer for the vehicle at its pose, as a heartbeat of the node."""
        self._time = time
        _, beat, is_good = self._server.beat(0, lambda beat: None)
        self.snapshot = beat.snapshot
        self._ego_fault = beat.ego if isinstance(beat.ego, Fault) else None
        if is_good:
            row = _row(time, cause, beat)
            row.near = self._near(row)
            return row
        # A snapshot whose answer is an error is not drawn.
        fault = Fault(Status.INTERNAL_ERROR, beat.found.message)
        self.snapshot = empty_snapshot(self._server.config, fault, self.now())
        return Row(time, self.now(), cause, Verdict.UNKNOWN, fault.status, fault.message)

    def _near(self, row: Row) -> tuple[tuple[int, str, float], ...]:
        """Return the nearest obstacles of an answer; empty: the case does not ask for them."""
        shape, senders = self.snapshot.footprint, self.snapshot.senders
        if self._nearest == 1 or shape is None or not row.ego:
            return ()
        found = self.snapshot.scene.nearest(shape, row.ego, self._nearest)
        ends = np.cumsum([len(each.obstacles) for each in senders])
        names = [*(each.name for each in senders), ""]  # at last: outside of a region
        where = np.searchsorted(ends, found.indices, side="right").tolist()
        ids, distances = found.ids.tolist(), found.distances.round(DIGITS).tolist()
        return tuple(zip(ids, [names[i] for i in where], distances, strict=True))


def _fail(error: Exception) -> Any:
    raise error


def _delay(bag: Bag, topics: Topics, count: int) -> int:
    """Return the smallest delay of the first `count` messages [ns]: log time minus header stamp.

    It is 0 if there are none with a header stamp. Static transforms have no time.
    """
    names = [topics.tf, topics.footprint, topics.twist, *topics.obstacles]
    delays = list[int]()
    with suppress(Exception):  # a message that cannot be read is reported when it is used
        for message in islice(bag.messages(filter(None, names)), count):
            fields = bag.decode(message)
            for each in getattr(fields, "transforms", [fields]):
                if stamp := nanoseconds(each.header.stamp):
                    delays.append(message.time - stamp)
    return min(delays, default=0)


def _row(time: int, cause: str, beat: Heartbeat) -> Row:
    found, snapshot, pose = beat.found, beat.snapshot, beat.ego
    has_witness = found.nearest_id != -1
    return Row(
        time,
        snapshot.stamp,
        cause,
        found.verdict,
        found.status,
        found.message,
        found.distance,
        found.distance_lower_bound,
        found.nearest_id,
        found.nearest_source,
        found.witness_ego if has_witness else (),
        found.witness_obstacle if has_witness else (),
        found.direction if has_witness else (),
        () if isinstance(pose, Fault) else tuple(pose),
        snapshot.id,
        snapshot.footprint_age,
        snapshot.max_obstacle_age,
        snapshot.bad_sources,
        time_to_collision=found.time_to_collision,
    )
