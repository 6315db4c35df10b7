# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The main loop of a replay: it passes the messages of a bag to the `World` of the server.

Messages are processed in the order of log time, which replaces the steady clock. After all
messages with the same log time, an answer is computed if one of them has obstacles. If there was
no answer for 1 / ``state_rate``, an answer is computed too, so that missing data is visible.
The result does not depend on the clock of this machine or on the order of threads.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from time import perf_counter_ns
from typing import Any

from ..errors import InputError
from ..server import lookup, questions
from ..server.adapters import CONVERTERS, footprint, twist
from ..server.config import Config
from ..server.fields import nanoseconds
from ..server.frames import FrameError, Pose
from ..server.snapshot import Fault, Report, Snapshot, empty_snapshot
from ..server.transforms import insert_message
from ..server.world import World
from ..verdict import Status, Verdict
from .bag import Bag, Message
from .faults import FaultSpec, Faulty, clock_shift, inject
from .requests import AskedPath, Recorded
from .rows import Row
from .topics import Topics
from .transforms import RecordedTransforms

__all__ = ["Drive"]


class Drive:
    """One run through a bag.

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

    Attributes
    ----------
    snapshot : Snapshot
        The snapshot that the last row was answered from.
    latency : int
        Computation time of the last answer [ns].
    processed, unreadable : int
        Number of messages so far, and number of those that could not be decoded.
    errors : list of str
        Exceptions that were raised while answers were computed.
    """

    def __init__(
        self, bag: Bag, config: Config, topics: Topics, faults: Sequence[FaultSpec] = ()
    ) -> None:
        self._bag, self._topics, self._faults = bag, topics, faults
        self._config = config
        self.transforms = RecordedTransforms()
        self._world = World(config, self.transforms, topics=topics.resolved(config))
        self.errors: list[str] = []
        self._requests = Recorded(config, self.transforms, self.errors)
        self._clock = 0
        self._time = bag.begin
        self.snapshot = self._empty_snapshot()
        self.latency = 0
        self.processed = self.unreadable = 0
        self._handlers = self._dispatch()

    def rows(self) -> Iterator[Row]:
        """Yield a row for each evaluated stamp and each recorded request.

        Raises
        ------
        BagError
            The bag is not complete. The rows of all messages before the break were yielded.
        """
        period = round(1e9 / self._config.state_rate)
        messages = inject(self._bag.messages(self._topics.names), self._faults, self._bag.begin)
        evaluated = self._bag.begin
        for time, together in groupby(messages, key=attrgetter("time")):
            while time - evaluated > period:
                evaluated += period
                yield self._state(evaluated, "silence")
            self._time = time
            self._now()  # set the time before the first transform of that time is stored
            self._requests.resume(time, self._present_snapshot)
            has_data = False
            for message in together:
                self.processed += 1
                is_data, rows = self._process(message)
                has_data |= is_data
                yield from rows
            if has_data:
                evaluated = time
                yield self._state(time, "data")
        yield from self._requests.finish(self._time, self._present_snapshot)

    @property
    def requests_without_content(self) -> int:
        """Number of recorded requests without content, which cannot be answered again."""
        return self._requests.without_content

    def reports(self) -> list[Report]:
        """Return the state of each sender at the time of the last row."""
        return self._world.reports(now=self._now(), steady=self._time)

    @property
    def asked_path(self) -> AskedPath | None:
        """The path of the last recorded request that was answered again; None: no such request."""
        return self._requests.path

    def notes(self) -> list[str]:
        """Return notes about the parts of the bag that were not used."""
        return self._requests.notes() + self.transforms.notes()

    # ---- messages

    def _dispatch(self) -> dict[str, Callable[[Any], list[Row]]]:
        """Return a function for each topic that processes its messages, except obstacles."""
        topics = self._topics
        handlers: dict[str, Callable[[Any], list[Row]]] = {}
        if topics.tf:
            handlers[topics.tf] = partial(self._receive_transforms, static=False)
        if topics.tf_static:
            handlers[topics.tf_static] = partial(self._receive_transforms, static=True)
        for name, service in topics.services.items():
            handlers[name] = partial(self._receive_request, service)
        if topics.footprint:
            handlers[topics.footprint] = self._receive_footprint
        if topics.twist:
            handlers[topics.twist] = self._receive_twist
        if topics.clock:
            handlers[topics.clock] = self._receive_clock
        return handlers

    def _process(self, message: Message) -> tuple[bool, list[Row]]:
        """Process one message; return whether it has obstacles, and the rows that it completes."""
        sources = self._topics.obstacles.get(message.topic, ())
        rows: list[Row] = []
        try:
            fields = self._bag.decode(message)
            for change in message.changes if isinstance(message, Faulty) else ():
                change(fields)
            if message.topic in self._handlers:
                rows = self._handlers[message.topic](fields)
        except Exception as error:  # invalid bytes can raise any error
            self.unreadable += 1
            parts = {self._topics.footprint: "footprint", self._topics.twist: "twist_topic"}
            part = parts.get(message.topic, "")
            for source in (*sources, *([part] if part else [])):
                self._fail(source, error)
            return bool(sources), []
        understood = [self._receive_obstacles(source, fields) for source in sources]
        self.unreadable += not all(understood)
        return bool(sources), rows

    def _receive_obstacles(self, source: str, fields: Any) -> bool:
        """Store the obstacles of a source; return whether the message could be converted."""
        try:
            used = self._config.source(source)
            obstacles = CONVERTERS[used.type](fields, self._config, used)
        except Exception as error:
            self._fail(source, error)
            return isinstance(error, InputError)
        self._world.receive_obstacles(source, obstacles, now=self._now(), steady=self._time)
        return True

    def _fail(self, source: str, error: Exception) -> None:
        """Store the fault of a source, "footprint" or "twist_topic", of an unusable message."""
        fault = Fault(Status.INTERNAL_ERROR, f"the message cannot be decoded: {error!r}")
        if isinstance(error, InputError):
            fault = Fault(error.status, str(error))  # decoded, but invalid; the node does the same
        self._world.receive_fault(source, fault, now=self._now(), steady=self._time)

    def _receive_footprint(self, message: Any) -> list[Row]:
        outline = footprint(message, self._config)
        self._world.receive_footprint(outline, now=self._now(), steady=self._time)
        return []

    def _receive_twist(self, message: Any) -> list[Row]:
        found = twist(message, self._config)
        self._world.receive_twist(found, now=self._now(), steady=self._time)
        return []

    def _receive_transforms(self, message: Any, *, static: bool) -> list[Row]:
        self._now()
        for each in message.transforms:
            insert_message(self.transforms, each, static=static)
        self._requests.resume(self._time, self._present_snapshot)
        return []

    def _receive_request(self, service: str, event: Any) -> list[Row]:
        return self._requests.process(service, event, self._time, self._present_snapshot)

    def _receive_clock(self, message: Any) -> list[Row]:
        self._clock = nanoseconds(message.clock)
        self._now()
        return []

    # ---- time and answers

    def _now(self) -> int:
        """Return the present time [ns], with which stamps are compared."""
        now = self._clock if self._topics.clock else self._time
        if now:
            now += clock_shift(self._faults, self._bag.begin, self._time)
        self.transforms.set_time(now)
        return now

    def _present_snapshot(self) -> Snapshot:
        now = self._now()
        if now == 0:
            return self._empty_snapshot()
        return self._world.snapshot(now=now, steady=self._time)

    def _empty_snapshot(self) -> Snapshot:
        return empty_snapshot(
            self._config, Fault(Status.CLOCK_JUMP, "no clock time received yet"), 0
        )

    def _state(self, time: int, cause: str) -> Row:
        """Return the answer for the vehicle at its pose. As in the node, an error is UNKNOWN."""
        self._time = time
        begin = perf_counter_ns()
        try:
            row = self._answer(time, cause)
        except Exception as error:
            self.errors.append(repr(error))
            fault = Fault(Status.INTERNAL_ERROR, repr(error))
            # The snapshot of the row before is not drawn with this row.
            self.snapshot = empty_snapshot(self._config, fault, self._now())
            row = Row(time, self._now(), cause, Verdict.UNKNOWN, fault.status, fault.message)
        self.latency = perf_counter_ns() - begin
        return row

    def _answer(self, time: int, cause: str) -> Row:
        self.snapshot = snapshot = self._present_snapshot()
        pose: Pose | Fault
        try:
            pose = lookup.ego_pose(self._config, self.transforms, snapshot.stamp)
        except FrameError as error:
            pose = Fault(error.status, str(error))
        found = questions.state(snapshot, pose)
        found = questions.with_time_to_collision(found, snapshot, pose)
        answer = found.answer
        has_witness = answer.nearest_id != -1
        return Row(
            time,
            snapshot.stamp,
            cause,
            answer.verdict,
            answer.status,
            answer.message,
            found.distance,
            found.lower_bound,
            answer.nearest_id,
            answer.nearest_source,
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
