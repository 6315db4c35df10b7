# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded requests (service introspection), answered again from the data of their time."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from ..server.data.snapshot import Snapshot
from ..server.requests import Answered, Requests
from ..server.scheduler import Future, Scheduler
from ..server.server import Server
from ..server.services import RECORDED, Service
from ..server.services.answers import Answer
from ..verdict import Verdict
from .rows import DIGITS, Row

__all__ = ["RecordedRequests"]

# service_msgs/msg/ServiceEventInfo
REQUEST_SENT, REQUEST_RECEIVED, RESPONSE_SENT, RESPONSE_RECEIVED = 0, 1, 2, 3

ASKED, COMPARED = "not answered again", "not compared"
WITHOUT_REPLY = f"requests have no recorded reply: {COMPARED}"

# Maximum number of answers that wait for the recorded reply. If there are more, the oldest one is
# returned without a recorded reply.
MAX_OPEN = 256

_Key = tuple[bytes, int]  # client and number of a request


@dataclass(slots=True)
class _Task:
    """A request that is being answered, and what it waits for."""

    coroutine: Coroutine[Future, None, Answered]
    wait: Future


class RecordedRequests(Scheduler):
    """Answers recorded requests. Each answer is kept until the recorded reply is read.

    Parameters
    ----------
    server : Server
        The server that has the data for the answers. Its steady time is the log time.
    """

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server
        self._requests = Requests(server, self, is_live=False)
        self._timers: list[tuple[int, Callable[[], None]]] = []  # log time, function
        self._waiting: dict[_Key, _Task] = {}
        self._open: OrderedDict[_Key, Row] = OrderedDict()
        self._left_out: Counter[str] = Counter()  # what was not answered again or not compared

    def process(self, service: str, event: Any) -> list[Row]:
        """Process one service event; return the rows that it completes.

        Parameters
        ----------
        service : str
            Name of the service type.
        event : object
            An object with the fields of the event message.
        """
        key = (bytes(event.info.client_gid), int(event.info.sequence_number))
        done = []
        if event.info.event_type == REQUEST_SENT:
            self._left_out[f"requests were recorded by a client, not by the server: {ASKED}"] += 1
        elif event.info.event_type == RESPONSE_RECEIVED:
            self._left_out[f"replies were recorded by a client: {COMPARED}"] += 1
        elif event.info.event_type == REQUEST_RECEIVED:
            if not len(event.request):
                self._left_out[f"requests were recorded without their content: {ASKED}"] += 1
                return []
            request = RECORDED[service](event.request[0])
            answer = self._requests.answer(request, _reply(request), is_large=False)
            self._waiting[key] = _Task(answer, Future())
            self._step(key)
            if len(self._open) > MAX_OPEN:
                done.append(self._open.popitem(last=False)[1])
                self._left_out[WITHOUT_REPLY] += 1
        elif event.info.event_type == RESPONSE_SENT:
            self._end_wait(key)
            if key not in self._open:
                text = f"replies belong to requests not answered again: {COMPARED}"
                self._left_out[text] += 1
                return []
            row = self._open.pop(key)
            if len(event.response):
                row.recorded = Verdict(int(event.response[0].verdict.verdict)).name
            else:
                self._left_out[f"replies have no recorded content: {COMPARED}"] += 1
            done.append(row)
        for row in done:
            row.time = self._server.steady()
        return done

    def notes(self) -> list[str]:
        """Return how many requests were not answered again or not compared, and why."""
        return [f"{count} {text}" for text, count in sorted(self._left_out.items())]

    def finish(self) -> list[Row]:
        """Return the rows of all requests without a recorded reply, at the end of the bag."""
        for key in list(self._waiting):
            self._end_wait(key)
        rows = list(self._open.values())
        self._left_out += Counter({WITHOUT_REPLY: len(rows)})
        self._open.clear()
        for row in rows:
            row.time = self._server.steady()
        return rows

    # ---- the wait for a transform

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call a function by `resume` after a log time [s]; return a function to prevent this."""
        timer = self._server.steady() + round(seconds * 1e9), callback
        self._timers.append(timer)
        return lambda: self._timers.remove(timer)

    def resume(self) -> None:
        """Answer the requests whose transforms have arrived, or that have waited long enough."""
        for due, callback in self._timers:
            if self._server.steady() > due:
                callback()
        self._requests.resume()
        for key in [key for key, task in self._waiting.items() if task.wait.done()]:
            self._step(key)

    def _end_wait(self, key: _Key) -> None:
        """Answer a request now if it still waits."""
        if key in self._waiting:
            self._waiting[key].wait.set_result(None)
            self._step(key)

    def _step(self, key: _Key) -> None:
        """Answer a request, unless it must wait."""
        task = self._waiting[key]
        try:
            task.wait = task.coroutine.send(None)
        except StopIteration as end:
            del self._waiting[key]
            self._open[key] = self._completed(end.value)

    def _completed(self, answered: Answered) -> Row:
        """Return the row of an answer, with the data that it is from."""
        row: Row = answered.reply
        request, snapshot = answered.request, answered.snapshot
        row.now, row.snapshot_id = snapshot.stamp, snapshot.id
        row.bad_sources = snapshot.bad_sources
        row.footprint_age, row.obstacle_age = snapshot.footprint_age, snapshot.max_obstacle_age
        if request is not None and request.pose is not None:
            row.ego = tuple(request.frame.of(request.pose))
        return row


def _reply(request: Service) -> Callable[[Answer, Snapshot | None], Row]:
    """Return a function that makes a row.

    A row has one distance and one obstacle. The digest covers the values of all obstacles, poses
    or pairs.
    """

    def fill(found: Answer, snapshot: Snapshot | None) -> Row:
        service = type(request).__name__
        row = Row(0, 0, service, found.verdict, found.status, found.message)
        if found.nearest_id != -1:
            row.nearest_id, row.nearest_source = found.nearest_id, found.nearest_source
        if snapshot is None:
            return row
        if (least := request.least(found)) is not None:
            row.distance, row.lower_bound = least
        if service == "Distance" and len(found.ids):
            row.nearest_id, row.nearest_source = int(found.ids[0]), found.sources[0]
            row.witness_ego = tuple(found.witness_ego[0].tolist())
            row.witness_obstacle = tuple(found.witness_obstacle[0].tolist())
            row.direction = tuple(found.directions[0].tolist())
        first, more = ([found.results[name] for name in names] for names in request.digested)
        if first:
            row.digest = _digest(*first)
        if any(map(len, more)):
            row.digest = _digest(row.digest, *more)
        return row

    return fill


def _digest(*values: Any) -> int:
    """Return the CRC-32 of numbers. Floats are first rounded to `DIGITS` decimal places."""
    total = 0
    for each in map(np.atleast_1d, values):
        rounded = np.round(each, DIGITS) + 0.0 if each.dtype.kind == "f" else each
        total = crc32(np.ascontiguousarray(rounded).tobytes(), total)
    return total
