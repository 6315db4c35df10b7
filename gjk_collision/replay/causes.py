# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What an answer does not say itself: which clock, which message, which value, which margin."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np

from ..server.config import Config
from ..server.fields import nanoseconds
from ..server.snapshot import Report, Snapshot
from ..verdict import Status, Verdict
from .pair import is_inside, nearest_pair
from .rows import Row

__all__ = ["Causes", "State"]

# Share of the timeout of a source. If older data than this is used while the newest message waits
# for its transform, this is an event.
LATE = 0.5

STALE = Status.STALE_OBSTACLES, Status.STALE_FOOTPRINT

# Array of an ObstacleArray whose length is not in proportion to the number of obstacles -> the
# array with the first element of each obstacle, and the numbers of an element.
_PARTS = {
    "xy": ("offsets", 2), "path_times": ("path_offsets", 1), "path_poses": ("path_offsets", 3)
}  # fmt: skip

# What lasts for some stamps: what it concerns, its name, its size (s), and a text.
State = tuple[str, str, float, str]


@dataclass(slots=True)
class _Received:
    """The last message of a sender. Its times are log times after the begin of the bag [s]."""

    t: float
    fields: Any
    stamp: int  # the newest header stamp [ns]
    since: float  # when this stamp was first received
    back: str = ""  # when and by how much header stamps went back, until one is newer again


class Causes:
    """Keeps the last message of each sender of data, and explains answers with it.

    Parameters
    ----------
    names : mapping
        The topic of each source, of "footprint" and of "twist_topic".
    clock : str
        Name of the clock that header stamps are compared with.
    begin : int
        Log time of the begin of the bag [ns].
    """

    def __init__(self, names: Mapping[str, str], clock: str, begin: int) -> None:
        self._names, self._clock, self._begin = names, clock, begin
        self._received: dict[tuple[str, str], _Received] = {}  # by topic and sender
        self._now = 0
        self._passed = 0.0  # when the clock has last gone on, in log time [s]
        self._step = ""

    def pass_time(self, t: float, now: int) -> None:
        """Note the time [s] after the begin of the bag, and the time of the clock [ns]."""
        if now < self._now:
            by = (self._now - now) * 1e-9 + t - self._passed
            self._step = f"step back of {self._clock}, at {t:.3f} s, "
            self._step += f"by {by:.3f} s against the log times"
            self._received.clear()
        if now != self._now:
            self._now, self._passed = now, t

    def receive(self, topic: str, t: float, fields: Any) -> None:
        """Note a message at the time `t` [s] after the begin of the bag."""
        if not hasattr(fields, "header"):
            return
        stamp, key = nanoseconds(fields.header.stamp), (topic, getattr(fields, "source", ""))
        last = self._received.get(key)
        if last is None or stamp > last.stamp:
            self._received[key] = _Received(t, fields, stamp, t)
            return
        if stamp < last.stamp and not last.back:
            by = (last.stamp - stamp) * 1e-9 + t - last.since
            last.back = f"on {topic}, at {t:.3f} s, by {by:.3f} s against the "
            last.back += "log times; messages with older stamps are not used"
        last.t, last.fields = t, fields

    def explain(self, row: Row, snapshot: Snapshot) -> str:
        """Return what else is known about an answer; empty: nothing."""
        if not row.is_state or row.verdict is Verdict.FREE:
            return ""
        if row.verdict is Verdict.UNKNOWN:
            if row.status is Status.CLOCK_JUMP:
                return self._step
            return ", ".join(
                filter(None, (self._of_source(row, name) for name in row.bad_sources))
            )
        pair = nearest_pair(snapshot, row)
        if row.verdict is Verdict.COLLISION:
            return "inside the vehicle" if pair is not None and is_inside(pair) else ""
        margin = snapshot.config.safety_margin if pair is None else pair.margin
        return f"required {margin:g} m"

    def states(self, reports: Iterable[Report], config: Config) -> Iterator[State]:
        """Yield late transforms, and header stamps that went back."""
        limits = {each.name: inf if each.static else each.timeout for each in config.sources}
        for each in reports:
            limit = limits.get(each.source, config.footprint_timeout)
            if each.waiting is not None and each.age > LATE * limit:
                text = f"{each.source}: data from {each.age:.3f} s before is used, because the "
                text += f"newest message waits for its transform; limit {limit:g} s"
                yield f"{each.source} {each.sender}", "late transform", each.age, text
        static = {self._names.get(name) for name, limit in limits.items() if limit == inf}
        for key, last in self._received.items():
            if last.back and key[0] not in static:
                yield " ".join(key), "step back of header stamps", 0.0, last.back

    def _of_source(self, row: Row, name: str) -> str:
        topic = self._names.get(name, "")
        if not (senders := [each for key, each in self._received.items() if key[0] == topic]):
            return ""
        if row.status not in STALE:
            last = max(senders, key=attrgetter("t"))
            return f"{_value(last.fields, row.message)}in the message of {last.t:.3f} s on {topic}"
        last = min(senders, key=attrgetter("stamp"))
        if 2.0 * (row.time - self._begin - 1e9 * last.t) > row.now - last.stamp:
            return f"silence: no message on {topic} since {last.t:.3f} s"
        if last.back:
            return f"step back of header stamps {last.back}"
        if last.t > last.since:
            text = f"frozen: messages on {topic} have the same header stamp"
            return f"{text} from {last.since:.3f} to {last.t:.3f} s"
        return f"delayed: the message of {last.t:.3f} s on {topic} has an old header stamp"


def _value(fields: Any, text: str) -> str:
    """Return the value and the obstacle of an ObstacleArray that an error names; empty: none."""
    found = re.search(r"(\w+)\[(\d+)\]", text)
    values = getattr(fields, found[1], None) if found and hasattr(fields, "offsets") else None
    if not found or not isinstance(values, np.ndarray) or not len(values) > int(found[2]):
        return ""
    i, count = int(found[2]), len(fields.ids)
    begins, width = _PARTS.get(found[1], ("", max(1, len(values) // max(1, count))))
    first = getattr(fields, begins) if begins else range(count)
    k = bisect_right(first[:count], i // width) - 1
    if k < 0:
        return ""
    point = f"{'xy'[i % 2]} of point {i // 2 - first[k]} of " if found[1] == "xy" else ""
    return f"{values[i]:g} as {point}obstacle {fields.ids[k]}, "
