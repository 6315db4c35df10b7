# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that are injected into the messages of a bag during replay.

Each fault changes the messages of one topic, or the clock, for some time. It also gives the status
that the answers must have in this time. The bag itself is never changed.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Any

import numpy as np

from ..server.frames.fields import nanoseconds
from ..verdict import Status
from .bag import Message
from .case_fields import NOWHERE, Fields, Place

__all__ = ["FaultSpec", "Faulty", "clock_shift", "inject"]

# Kind of fault -> the values that it requires.
KINDS: dict[str, tuple[str, ...]] = {
    "drop": (),
    "delay": ("by",),
    "freeze": (),
    "restamp": ("by",),
    "nan": ("field",),
    "truncate": (),
    "rename_frame": ("frame",),
    "jump_clock": ("by",),
}
COMMON = ("fault", "topic", "from", "to", "after", "status", "every", "index", "field")


@dataclass(frozen=True)
class FaultSpec:
    """One fault.

    Attributes
    ----------
    kind : str
        Key of `KINDS`.
    begin, end : float
        The fault acts in [begin, end) [s] after the begin of the bag.
    topic : str
        Topic whose messages are changed; empty for the clock.
    status : Status
        Status that every answer in [begin + after, end) must have.
    after : float
        Time after `begin` from which the answers must have this status [s].
    values : dict
        The values ``by`` [s], ``frame``, ``field``, ``index`` and ``every`` of the fault.
    where : str
        Place of the topic in a scenario file, for messages of errors.
    """

    kind: str
    begin: float
    end: float
    topic: str
    status: Status
    after: float = 0.0
    values: dict[str, Any] = field(default_factory=dict)
    where: str = ""

    @classmethod
    def parse(cls, given: Any, place: Place = NOWHERE) -> "FaultSpec":
        """Return the fault that a mapping in a scenario file describes.

        Raises
        ------
        CaseError
            The mapping is not valid.
        """
        any_key = dict.fromkeys((*COMMON, "by", "frame"))
        kind = Fields(given, place, any_key).one_of("fault", KINDS)
        fields = Fields(given, place, dict.fromkeys((*COMMON, *KINDS[kind])))
        topic = "" if kind == "jump_clock" and "topic" not in given else fields.text("topic")
        begin, end = fields.span(inf)
        values: dict[str, Any] = {
            "every": fields.whole("every", 1),
            "index": fields.whole("index"),
        }
        if "by" in KINDS[kind]:
            values["by"] = fields.number("by", low=0.0 if kind == "delay" else -inf)
        for name in ("field", "frame"):
            if name in KINDS[kind] or name in given:
                values[name] = fields.text(name)
        return cls(
            kind,
            begin,
            end,
            topic,
            Status[fields.one_of("status", Status.__members__)],
            fields.number("after", 0.0),
            {name: value for name, value in values.items() if value is not None},
            str(place.at("topic")),
        )

    def check_topic(self, used: Iterable[str]) -> None:
        """Check that replay uses the topic of this fault; otherwise the fault has no effect.

        Raises
        ------
        CaseError
            It does not.
        """
        if self.kind != "jump_clock":
            Place(self.where).unless_one_of(self.topic, sorted(used))


@dataclass(slots=True)
class Faulty(Message):
    """A message with changes to apply to its fields after it is decoded."""

    changes: tuple[Callable[[Any], None], ...] = ()


def inject(
    messages: Iterable[Message], faults: Iterable[FaultSpec], begin: int
) -> Iterator[Message]:
    """Yield the messages in the order of log time, with the faults, one after another.

    `begin` is the time zero of the faults, as log time [ns].
    """
    for fault in faults:
        if fault.kind == "delay":
            messages = _delayed(messages, fault, begin)
        elif fault.kind != "jump_clock":
            messages = _changed(messages, fault, begin)
    return iter(messages)


def clock_shift(faults: Iterable[FaultSpec], begin: int, time: int) -> int:
    """Return the sum of all clock faults at a log time [ns]."""
    jumps = [fault for fault in faults if fault.kind == "jump_clock"]
    return sum(round(each.values["by"] * 1e9) for each in jumps if _acts(each, begin, time))


def _acts(fault: FaultSpec, begin: int, time: int) -> bool:
    return fault.begin <= (time - begin) * 1e-9 < fault.end


def _delayed(messages: Iterable[Message], fault: FaultSpec, begin: int) -> Iterator[Message]:
    waiting: list[tuple[int, int, Message]] = []
    by = round(fault.values["by"] * 1e9)
    for count, message in enumerate(messages):
        while waiting and waiting[0][0] <= message.time:
            yield heapq.heappop(waiting)[2]
        if message.topic == fault.topic and _acts(fault, begin, message.time):
            late = replace(message, time=message.time + by)
            heapq.heappush(waiting, (late.time, count, late))
        else:
            yield message
    while waiting:
        yield heapq.heappop(waiting)[2]


def _changed(messages: Iterable[Message], fault: FaultSpec, begin: int) -> Iterator[Message]:
    frozen: bytes | None = None
    count = -1
    for message in messages:
        if message.topic != fault.topic:
            yield message
            continue
        if not _acts(fault, begin, message.time):
            if fault.kind == "freeze":
                frozen = message.data
            yield message
            continue
        count += 1
        if count % int(fault.values.get("every", 1)):
            yield message
        elif fault.kind == "freeze":
            frozen = message.data if frozen is None else frozen
            yield replace(message, data=frozen)
        elif fault.kind == "truncate" and "field" not in fault.values:
            yield replace(message, data=message.data[: len(message.data) // 2])
        elif fault.kind != "drop":
            earlier = message.changes if isinstance(message, Faulty) else ()
            changes = (*earlier, _change(fault))
            yield Faulty(message.topic, message.kind, message.time, message.data, changes)


def _change(fault: FaultSpec) -> Callable[[Any], None]:
    """Return a function that applies a fault to the decoded fields of a message."""

    def headers(message: Any) -> list[Any]:
        return [each.header for each in getattr(message, "transforms", [message])]

    def restamp(message: Any) -> None:
        for header in headers(message):
            stamp = nanoseconds(header.stamp) + round(fault.values["by"] * 1e9)
            header.stamp.sec, header.stamp.nanosec = divmod(stamp, 10**9)

    def rename_frame(message: Any) -> None:
        for header in headers(message):
            header.frame_id = fault.values["frame"]

    def insert_nan(message: Any) -> None:
        name, index = fault.values["field"], fault.values.get("index", 0)
        if name == "polygon":
            message.polygon.points[index].x = nan
            return
        values = np.array(getattr(message, name), dtype=np.float64)
        values[index] = nan
        setattr(message, name, values)

    def shorten(message: Any) -> None:
        name = fault.values["field"]
        setattr(message, name, getattr(message, name)[:-1])

    return {
        "restamp": restamp,
        "rename_frame": rename_frame,
        "nan": insert_nan,
        "truncate": shorten,
    }[fault.kind]
