# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What an answer does not say itself: which clock, which message, which value, which margin."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np

from ..server.data.faults import Fault
from ..server.data.snapshot import Report, Snapshot
from ..server.frames.fields import nanoseconds
from ..server.frames.poses import FrameError
from ..server.frames.transforms import TransformTree
from ..server.parameters.config import Config
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
    """The last message of a sender, or transform of a frame. Times are log times, as in `t`."""

    t: float  # after the begin of the bag [s]
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

    Attributes
    ----------
    jump : str
        The jump of the log times since the stamp before; empty: there is none.
    """

    def __init__(self, names: Mapping[str, str], clock: str, begin: int) -> None:
        self._names, self._clock, self._begin = names, clock, begin
        self._received: dict[tuple[str, str], _Received] = {}  # by topic and sender
        self._frames: dict[str, _Received] = {}  # moving transforms, by child frame
        self._limits: dict[str, float] = {}  # of the age [s], by child frame that was too old
        self._late: dict[str, tuple[float, float]] = {}  # the last one: log time of stamp, age [s]
        self._now = 0
        self._step = ""
        self.jump = ""

    def pass_time(self, t: float, now: int) -> None:
        """Note the time [s] after the begin of the bag, and the time of the clock [ns]."""
        if now < self._now:
            self._step = f"step back of {self._clock}, at {t:.3f} s"
            self._received.clear()
            self._frames.clear()
        self._now = now

    def receive(self, topic: str, t: float, fields: Any) -> None:
        """Note a message at the time `t` [s] after the begin of the bag."""
        if hasattr(fields, "header"):
            key = topic, getattr(fields, "source", "")
            _note(self._received, key, f"on {topic}", t, fields)

    def receive_transform(self, t: float, each: Any) -> None:
        """Note a transform that moves, at the time `t` [s] after the begin of the bag."""
        frame = each.child_frame_id.lstrip("/")
        stamp = _note(self._frames, frame, f"of transforms of {frame}", t, each)
        age = (self._now - stamp) * 1e-9
        if age > self._limits.get(frame, inf):
            self._late[frame] = t - age, age

    def explain(
        self, row: Row, snapshot: Snapshot, fault: Fault | None, tree: TransformTree
    ) -> str:
        """Return what else is known about an answer with this fault; empty: nothing."""
        if not row.is_state or row.verdict is Verdict.FREE:
            return ""
        if row.verdict is Verdict.UNKNOWN:
            if row.status is Status.CLOCK_JUMP:
                return self._step
            with suppress(FrameError):  # the frames may have changed since then
                frame = tree.oldest(fault.target, fault.frame) if fault and fault.frame else ""
                if frame in self._frames:
                    self._limits[frame] = snapshot.config.transform_tolerance
                    return self._stalled(row, self._frames[frame], "transform", f"of {frame}")
            return ", ".join(
                filter(None, (self._of_source(row, name, fault) for name in row.bad_sources))
            )
        pair = nearest_pair(snapshot, row)
        if row.verdict is Verdict.COLLISION:
            return "inside the vehicle" if pair is not None and is_inside(pair) else ""
        margin = snapshot.config.safety_margin if pair is None else pair.margin
        return f"required {margin:g} m"

    def states(self, reports: Iterable[Report], config: Config) -> Iterator[State]:
        """Yield a jump of the log times, late transforms, and header stamps that went back.

        Jumps and late transforms are those since the last call.
        """
        if self.jump:
            yield "", "jump of the log times", 0.0, self.jump
        limits = {each.name: inf if each.static else each.timeout for each in config.sources}
        for each in reports:
            limit = limits.get(each.source, config.footprint_timeout)
            if each.waiting is not None and each.age > LATE * limit:
                text = f"{each.source}: data from {each.age:.3f} s before is used, because the "
                text += f"newest message waits for its transform; limit {limit:g} s"
                yield f"{each.source} {each.sender}", "late transform", each.age, text
        for frame, (t, age) in self._late.items():
            text = f"delayed: the transform of {t:.3f} s of {frame} is recorded {age:.3f} s late"
            yield frame, "late transform", 0.0, text
        self._late.clear()
        static = {self._names.get(name) for name, limit in limits.items() if limit == inf}
        for key, last in self._received.items():
            if last.back and key[0] not in static:
                text = f"{last.back}; messages with older stamps are not used"
                yield " ".join(key), "step back of header stamps", 0.0, text

    def _of_source(self, row: Row, name: str, fault: Fault | None) -> str:
        topic = self._names.get(name, "")
        if not (senders := [each for key, each in self._received.items() if key[0] == topic]):
            return ""
        if row.status not in STALE:
            last = max(senders, key=attrgetter("t"))
            return f"{_value(last.fields, fault)}in the message of {last.t:.3f} s on {topic}"
        last = min(senders, key=attrgetter("stamp"))
        return self._stalled(row, last, "message", f"on {topic}")

    def _stalled(self, row: Row, last: _Received, what: str, where: str) -> str:
        """Return why no newer data than the last one is known."""
        if 2.0 * (row.time - self._begin - 1e9 * last.t) > row.now - last.stamp:
            return f"silence: no {what} {where} since {last.t:.3f} s"
        if last.back:
            return f"step back of header stamps {last.back}"
        if last.t > last.since:
            text = f"frozen: {what}s {where} have the same header stamp"
            return f"{text} from {last.since:.3f} to {last.t:.3f} s"
        return f"delayed: the {what} of {last.t:.3f} s {where} has an old header stamp"


def _note(received: dict[Any, _Received], key: Any, where: str, t: float, fields: Any) -> int:
    """Note a message or a transform at the time `t` [s]; return its header stamp [ns]."""
    stamp, last = nanoseconds(fields.header.stamp), received.get(key)
    if last is None or stamp > last.stamp:
        received[key] = _Received(t, fields, stamp, t)
        return stamp
    if stamp < last.stamp and not last.back:
        by = (last.stamp - stamp) * 1e-9 + t - last.since
        last.back = f"{where}, at {t:.3f} s, by {by:.3f} s against the log times"
    last.t, last.fields = t, fields
    return stamp


def _value(fields: Any, fault: Fault | None) -> str:
    """Return the value and the obstacle of an ObstacleArray that a fault names; empty: none."""
    if fault is None or fault.index is None or not hasattr(fields, "offsets"):
        return ""
    name, i, values = fault.field, fault.index, getattr(fields, fault.field, None)
    if not isinstance(values, np.ndarray) or not len(values) > i:
        return ""
    count = len(fields.ids)
    begins, width = _PARTS.get(name, ("", max(1, len(values) // max(1, count))))
    first = getattr(fields, begins) if begins else range(count)
    k = bisect_right(first[:count], i // width) - 1
    if k < 0:
        return ""
    point = f"{'xy'[i % 2]} of point {i // 2 - first[k]} of " if name == "xy" else ""
    return f"{values[i]:g} as {point}obstacle {fields.ids[k]}, "
