# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Which change in the data an answer comes from: the clock, a message, a value, a parameter."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf, isfinite
from operator import attrgetter
from typing import Any

import numpy as np

from ..server.data.faults import Fault
from ..server.data.obstacles import Obstacles
from ..server.data.snapshot import Report, Snapshot
from ..server.frames.fields import nanoseconds
from ..server.frames.poses import FrameError, Pose
from ..server.frames.transforms import TransformTree
from ..server.parameters.config import Config
from ..verdict import Status, Verdict
from .motions import Change, Motion, PoseMotion
from .pair import is_inside, nearest_pair
from .rows import Row
from .senders import BACK, LATE, Cause, Sender

__all__ = ["Causes", "Reason"]

STALE = Status.STALE_OBSTACLES, Status.STALE_FOOTPRINT, Status.NO_OBSTACLES

# s. An answer that begins at most this time after a change can come from it.
RECENT = 0.5

# s. A clock that steps ahead or stands for a longer time is told.
STEP = 1.0

# Number of changes that are kept to explain answers.
KEPT = 50

# Array of an ObstacleArray whose length is not in proportion to the number of obstacles -> the
# array with the first element of each obstacle, and the numbers of an element.
_PARTS = {
    "xy": ("offsets", 2), "path_times": ("path_offsets", 1), "path_poses": ("path_offsets", 3)
}  # fmt: skip

# Changes that are told each time.
ONCE = "clock stands", "jump of the log times", "late transform", "parameters"

# What else is known about an answer. The text of a cause is known at its end.
Reason = tuple[str | Cause, ...]


class Causes:
    """Finds the changes in the data while messages pass, and explains answers with them.

    Parameters
    ----------
    names : mapping
        The topic of each source, of "footprint" and of "twist_topic".
    config : Config
        Parameters of the server, with the limits of the ages.
    clock : str
        Name of the clock that header stamps are compared with.
    begin : int
        Log time of the begin of the bag [ns].

    Attributes
    ----------
    fresh : list of Cause
        The changes since the reader emptied it.
    """

    def __init__(self, names: Mapping[str, str], config: Config, clock: str, begin: int) -> None:
        self._names, self._clock, self._begin = names, clock, begin
        self._config = config
        self._limits = dict[str, float]()  # of the age [s], by topic
        of_source = {each.name: inf if each.static else each.timeout for each in config.sources}
        others = {"footprint": config.footprint_timeout, "twist_topic": config.twist_timeout}
        for name, limit in (of_source | others).items():
            topic = names.get(name, "")
            self._limits[topic] = min(limit, self._limits.get(topic, inf))
        self._senders: dict[tuple[str, str], Sender] = {}  # by topic and sender
        self._frames: dict[str, Sender] = {}  # moving transforms, by child frame
        self._poses: dict[str, PoseMotion] = {}
        self._begun = list[tuple[float, str]]()  # first times of frames
        self._motions: dict[tuple[str, str], Motion] = {}
        self._waiting = dict[tuple[str, str], Cause]()
        self._now = 0
        self._usual_step = 0.0  # of the clock [s]
        self._t = self._moved = 0.0  # of the last message, and of the last step of the clock
        self._step: Cause | None = None
        self._stand: Cause | None = None
        self._recent = deque[Cause](maxlen=KEPT)
        self.fresh: list[Cause] = []

    def note(
        self, kind: str, head: str, t: float, source: str = "", ids: tuple[int, ...] = ()
    ) -> Cause:
        """Note a change at the time `t` [s] after the begin of the bag, as all times here.

        What changes again, of a source and with one of the ids, has come back.
        """
        for last in reversed(self._recent):
            is_same = (last.kind, last.source) == (kind, source) and t - last.end <= BACK
            if is_same and kind not in ONCE and (not ids or {*ids} & {*last.ids}):
                last.times += t > last.end
                last.end = t
                return last
        found = Cause(kind, head, t, t, t, ids=ids, source=source)
        self._add(found)
        return found

    def pass_time(self, t: float, now: int) -> None:
        """Note the time, and the time of the clock [ns]."""
        step = (now - self._now) * 1e-9
        if step < 0.0:
            self._step = self.note("step of the clock", f"step back of {self._clock},", t)
            for known in (self._senders, self._frames, self._poses, self._motions):
                known.clear()
        elif self._now and step > max(t - self._t, 3.0 * self._usual_step) + STEP:
            text = f"step of {self._clock} by {step:.3f} s,"
            self._step = self.note("step of the clock", text, t)
        if step or not now:
            self._moved, self._usual_step = t, step
        elif t - self._moved > STEP:
            if self._stand is None or self._stand.begin != self._moved:
                self._stand = self.note("clock stands", f"{self._clock} stands", self._moved)
            self._stand.end = t
        self._now, self._t = now, t

    def receive(self, topic: str, t: float, fields: Any) -> None:
        """Note a message."""
        if not hasattr(fields, "header"):
            return
        key = topic, getattr(fields, "source", "")
        if (sender := self._senders.get(key)) is None:
            limit = self._limits.get(topic, inf)
            sender = self._senders[key] = Sender(self._add, "message", f"on {topic}", limit)
        sender.receive(t, nanoseconds(fields.header.stamp), self._now, fields)

    def receive_obstacles(self, name: str, t: float, obstacles: Obstacles) -> None:
        """Note obstacles of a source, whose ids stay theirs."""
        topic, source = self._names[name], obstacles.source or name
        motion = self._motions.setdefault((name, source), Motion())
        found = list[Change]()
        with suppress(ValueError, IndexError):  # the server refuses arrays of another length
            found += motion.receive(obstacles)
        for kind, ids, text in found:
            many = len(ids) > 1
            which = f"obstacle{'s' * many} {' and '.join(map(str, ids[:2]))}"
            more = f" and {len(ids) - 2} more" if len(ids) > 2 else ""
            self.note(kind, f"{which}{more} on {topic}{text},", t, source, ids)

    def receive_transform(self, t: float, each: Any) -> None:
        """Note a transform that moves."""
        frame, stamp = each.child_frame_id.lstrip("/"), nanoseconds(each.header.stamp)
        if (sender := self._frames.get(frame)) is None:
            limit = self._config.transform_tolerance
            sender = Sender(self._add, "transform", f"of {frame}", limit)
            self._frames[frame] = sender
            self._begun.append((t, frame))
        sender.receive(t, stamp, self._now, each)
        at, turn = each.transform.translation, each.transform.rotation
        if abs(turn.x) + abs(turn.y) < 0.2:  # not a wheel that turns
            yaw = 2.0 * float(np.arctan2(turn.z, turn.w))
            motion = self._poses.setdefault(frame, PoseMotion())
            if by := motion.receive(stamp, Pose(at.x, at.y, yaw)):
                self.note("jump of a pose", f"the pose of {frame} jumps by {by},", t, frame)

    def explain(
        self, row: Row, snapshot: Snapshot, fault: Fault | None, tree: TransformTree
    ) -> Reason:
        """Return what else is known about an answer with this fault."""
        if not row.is_state:
            return ()
        t = 1e-9 * (row.time - self._begin)
        if row.verdict is Verdict.UNKNOWN:
            return self._of_unknown(t, row, fault, tree)
        changes = self._changes(t, row)
        pair = None if row.verdict is Verdict.FREE else nearest_pair(snapshot, row)
        if row.verdict is Verdict.COLLISION:
            return ("inside the vehicle",) * (pair is not None and is_inside(pair)) + changes
        if row.verdict is Verdict.FREE:
            return changes
        margin = snapshot.config.safety_margin if pair is None else pair.margin
        return (f"required {margin:g} m", *changes)

    def finish(self, t: float) -> None:
        """Note what is silent at the end of the bag."""
        for each in (*self._senders.values(), *self._frames.values()):
            each.finish(t)

    def wait(self, t: float, reports: Iterable[Report]) -> None:
        """Note the sources whose newest message waits for its transform."""
        for each in reports:
            if each.waiting is None or not each.age > LATE * self._limit(each.source):
                continue
            key = each.source, each.sender
            found = self._waiting.get(key)
            if found is None or t - found.end > RECENT:
                head = f"{each.source}: older data is used, because the newest message waits for "
                found = self.note("late transform", f"{head}its transform,", t)
                self._waiting[key] = found
            found.end, found.size = t, max(found.size, each.age)
            limit = self._limit(each.source)
            found.tail = f", {found.size:.3f} s old, limit {limit:g} s"

    def _limit(self, source: str) -> float:
        return self._limits.get(self._names.get(source, ""), inf)

    def _add(self, found: Cause) -> None:
        self.fresh.append(found)
        self._recent.append(found)

    def _changes(
        self, t: float, row: Row, kinds: tuple[str, ...] = ("parameters", "jump of a pose")
    ) -> Reason:
        """Return the changes shortly before an answer that can have changed it."""
        found = [
            each
            for each in self._recent
            if -RECENT <= each.end - t <= 0.0
            and (
                each.kind in kinds
                or (each.source == row.nearest_source and row.nearest_id in each.ids)
            )
        ]
        return tuple(found[-2:])

    def _of_unknown(self, t: float, row: Row, fault: Fault | None, tree: TransformTree) -> Reason:
        step = self._step
        if row.status is Status.CLOCK_JUMP:
            return () if step is None else (step,)
        if self._stand is not None and t - self._stand.end < RECENT:
            return (self._stand,)
        changed = self._changes(t, row, ("parameters",))
        with suppress(FrameError):  # the frames may have changed since then
            frame = tree.oldest(fault.target, fault.frame) if fault and fault.frame else ""
            if sender := self._frames.get(frame):
                found = sender.stalled(t, 1e-9 * (row.now - sender.stamp))
                begun = [
                    name for when, name in self._begun if when > 0.0 and abs(when - sender.t) < 1.0
                ]
                if begun and found.kind == "silence":
                    found.tail = f", when {' and '.join(begun)} begins"
                return (found, *changed)
        names = ("footprint",) if row.message.startswith("footprint:") else row.bad_sources
        of = [self._of_source(t, row, name, fault) for name in names]
        known = tuple(each for each in of if each)
        if step is not None and row.status in STALE and t - step.end < RECENT:
            return (step, *changed)
        return known + changed

    def _of_source(self, t: float, row: Row, name: str, fault: Fault | None) -> str | Cause:
        topic = self._names.get(name, "")
        if not (senders := [each for key, each in self._senders.items() if key[0] == topic]):
            return ""
        if row.status not in STALE:
            last = max(senders, key=attrgetter("t"))
            if renamed := last.is_in_force("frame_id"):
                return renamed
            return f"{_value(last.fields, fault)}in the message of {last.t:.3f} s on {topic}"
        last = min(senders, key=attrgetter("stamp"))
        return last.stalled(t, 1e-9 * (row.now - last.stamp))


def _value(fields: Any, fault: Fault | None) -> str:
    """Return the value and the obstacle of an ObstacleArray that a fault names; empty: none."""
    if fault is None or fault.index is None or not hasattr(fields, "offsets"):
        return ""
    name, i, values = fault.field, fault.index, getattr(fields, fault.field, None)
    if name in ("poses", "velocities") and isinstance(values, np.ndarray):
        row = values[3 * i : 3 * i + 3].tolist()
        if len(row) < 3 or i >= len(fields.ids):
            return ""
        k = next((k for k in range(3) if not isfinite(row[k])), 0)
        part = (("x", "y", "yaw") if name == "poses" else ("vx", "vy", "wz"))[k]
        return f"{row[k]:g} as {part} of obstacle {fields.ids[i]}, "
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
