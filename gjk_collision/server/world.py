# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known now: one immutable snapshot, or the reason why there is none.

`World` takes in footprints and obstacle lists and answers with a `Snapshot`. It has no clock and
knows no ROS: every call brings its times, as whole nanoseconds. `now` is the time that stamps
are in (ROS time, or a log's); `steady` runs evenly whatever the other does, and is only compared
with itself. With a message it is the earliest time at which that message can have come. Data is
fresh while it is young by both: by its stamp, and by the time since that stamp was first
received. So neither a stopped clock nor a stamp that stands still keeps old data alive.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import nan

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..geometry import Shape
from ..scene import Scene
from ..verdict import Status
from .config import Config, SourceConfig
from .frames import FrameError, Pose, SameFrameOnly, Transforms
from .obstacles import Obstacles
from .snapshot import (
    Fault,
    Placed,
    Report,
    Snapshot,
    compose_scene,
    configured_footprint,
    configured_outline,
    nothing,
    outline,
)

__all__ = ["Footprint", "World"]

# Senders that share one source's topic under names of their own; each must stay fresh.
MAX_SENDERS = 16
# Messages of one sender that may wait for the transform at their stamp, while an earlier one that
# is still fresh is used.
MAX_WAITING = 8
# Stamps ahead of the clock that are remembered of one sender: the nearest.
MAX_EARLY = 64
# Snapshots that a request may still ask for by id, as long as their data is fresh.
HISTORY = 16
# Messages that were replaced before a scene was made of them. They are checked before an earlier
# snapshot is given. With more of them none is given.
MAX_UNCHECKED = 64


@dataclass(frozen=True, eq=False)
class Footprint:
    """The vehicle's outline as a topic brings it.

    Attributes
    ----------
    frame : str
        Of the points.
    stamp : int
        Time of validity [ns].
    points : (n, 2) float64
        Outline [m].
    """

    frame: str
    stamp: int
    points: npt.NDArray[np.float64]


@dataclass(slots=True)
class _Stamps:
    """When the stamps of one sender were first received; of messages that were dropped too."""

    newest: int | None = None  # of those that are not in the future
    received: int = 0  # the newest
    early: dict[int, int] = field(default_factory=dict)  # when received; of those in the future

    def note(self, stamp: int, received: int, limit: int) -> int:
        """Note a stamp; return when it was first received.

        Parameters
        ----------
        stamp, received : int
            Of a message [ns].
        limit : int
            Stamps beyond this are in the future [ns].
        """
        first = self.early.setdefault(stamp, received)
        if stamp == self.newest:
            first = self.received
        for each in sorted(each for each in self.early if each <= limit):
            when = self.early.pop(each)
            if self.newest is None or each > self.newest:
                self.newest, self.received = each, when
        if len(self.early) > MAX_EARLY:
            del self.early[max(self.early)]
        return min(first, received)


@dataclass(slots=True)
class _Held:
    """The last message of one sender, and what came of it."""

    name: str
    stamp: int
    received: int
    revision: int
    obstacles: Obstacles | None = None
    footprint: Footprint | None = None
    fault: Fault | None = None
    pose: Pose | None = None
    shape: Shape | None = None
    outline: npt.NDArray[np.float64] | None = None  # in the base frame
    outline_error: float = 0.0  # m: how far its points may be from their true places
    dropped: str = ""
    waits: bool = False  # its transform is not known yet
    is_checked: bool = False  # its shapes are known to be good
    arrived: int = 0  # the last message of its sender; `received` is of its stamp
    stamps: _Stamps = field(default_factory=_Stamps)  # of its sender
    sequence: int = 0  # of the last message that could be read
    earlier: tuple["_Held", ...] = ()  # newest first, while this one waits for its transform
    messages: int = 1
    drops: int = 0


@dataclass(frozen=True, slots=True)
class _Part:
    """A message to use, with its source."""

    source: SourceConfig
    held: _Held

    @property
    def placed(self) -> Placed:
        assert self.held.obstacles is not None
        assert self.held.pose is not None
        return Placed(self.held.obstacles, self.held.pose, self.source.inflation)


@dataclass(frozen=True, slots=True)
class _Built:
    """A scene with the messages that it is made of."""

    id: int
    key: tuple[int, ...]  # of the scene: configuration and messages
    complete: bool
    scene: Scene
    shape: Shape | None
    footprint: _Held | None
    parts: tuple[_Part, ...]
    placed: tuple[Placed, ...]
    outline: npt.NDArray[np.float64] | None
    spans: tuple[tuple[int, str], ...]
    epoch: int


@dataclass
class _Source:
    config: SourceConfig
    senders: dict[str, _Held] = field(default_factory=dict)
    fault: Fault | None = None  # of a message that could not even be told apart


class World:
    """What is known of one vehicle and its surroundings.

    Safe to call from several threads, if the times of their calls do not go back.

    Parameters
    ----------
    config : Config
        Parameters in force.
    transforms : Transforms
        Where frames are; by default every frame but the target is unknown.
    epoch : int
        Upper 32 bits of the ids of its snapshots; the lower 32 count. Worlds of different epochs
        never give the same id.

    Raises
    ------
    InputError
        The configured footprint is no shape.
    """

    def __init__(
        self, config: Config, transforms: Transforms | None = None, epoch: int = 0
    ) -> None:
        self._lock = threading.RLock()
        self._transforms = transforms or SameFrameOnly()
        self._revision = 0
        self._next_id = (epoch << 32) + 1
        self._history: deque[_Built] = deque(maxlen=HISTORY)
        self._unchecked: list[Callable[[], Fault | None]] = []
        self._newest_now: int | None = None
        self._jump: Fault | None = None
        self._footprint: _Held | None = None
        self._sources: dict[str, _Source] = {}
        self._configure(config)

    @property
    def config(self) -> Config:
        """The parameters in force."""
        return self._config

    def reconfigure(self, config: Config) -> None:
        """Take over new parameters; the data stays. See `Config.refusal` for what may change."""
        with self._lock:
            self._configure(config)

    def reset(self) -> None:
        """Forget all data; everything is UNKNOWN until fresh data has come."""
        with self._lock:
            self._jump = None
            self._forget()

    def receive_footprint(self, footprint: Footprint, *, now: int, steady: int) -> None:
        """Take in a footprint message; nothing is raised, a bad one becomes the reason."""
        with self._lock:
            self._watch_clock(now)
            held = self._footprint
            new = self._take("footprint", footprint.stamp, held, now, steady)
            if held is not None and (why := _refuse_order(held, new)):
                _drop(held, why, steady)
                return
            self._footprint, new.footprint = new, footprint
            self._follow(new, held, now)
            if held is not None and held.footprint is not None and held.shape is None:
                points = held.footprint.points
                self._leave_unchecked(held, lambda: _outline_fault(points, self._config))

    def receive_obstacles(
        self, source: str, obstacles: Obstacles, *, now: int, steady: int
    ) -> None:
        """Take in the obstacles of a configured source; a bad list becomes the reason.

        Parameters
        ----------
        source : str
            Name in ``obstacle_sources``.
        obstacles : Obstacles
            The whole list; it replaces that sender's last one.
        now, steady : int
            Times [ns], see the module.
        """
        with self._lock:
            self._watch_clock(now)
            known = self._sources[source]
            known.senders.pop("", None)  # see `receive_fault`
            sender = obstacles.source or known.config.topic
            held = known.senders.get(sender)
            if held is None and len(known.senders) >= MAX_SENDERS:
                known.fault = Fault(
                    Status.LIMIT_EXCEEDED,
                    f"more than {MAX_SENDERS} senders on one topic; reset to forget the old ones",
                )
                return
            new = self._take(sender, obstacles.stamp, held, now, steady)
            new.obstacles, new.sequence = obstacles, obstacles.sequence
            if held is not None and (why := _refuse_order(held, new)):
                _drop(held, why, steady)
                return
            self._follow(new, held, now)
            if held is not None and held.obstacles is not None and not held.is_checked:
                unplaced = _unplaced(known.config, held.obstacles)
                self._leave_unchecked(held, lambda: _shape_fault(unplaced, self._config))
            try:
                obstacles.check(self._config.max_obstacles, self._config.max_points_per_obstacle)
            except InputError as error:
                self._spoil(new, Fault(error.status, str(error)))
            known.senders[sender] = new

    def receive_fault(self, source: str, fault: Fault, *, now: int, steady: int) -> None:
        """Take in that a message came that could not be read.

        Its sender is not known. All senders of the source are faulty until their next message.

        Parameters
        ----------
        source : str
            Name in ``obstacle_sources``, or "footprint".
        fault : Fault
            Why it could not be read.
        now, steady : int
            Times [ns], see the module.
        """
        with self._lock:
            self._watch_clock(now)
            if source == "footprint":
                self._footprint = self._faulty("footprint", self._footprint, fault, steady)
                return
            senders = self._sources[source].senders
            for name in list(senders) or [""]:  # "": nobody has been received yet
                senders[name] = self._faulty(name, senders.get(name), fault, steady)

    def reports(self, *, now: int, steady: int) -> list[Report]:
        """Return what is heard from each sender, the footprint first; times as for `snapshot`."""
        self.snapshot(now=now, steady=steady)  # shapes are tried when a scene is made of them
        with self._lock:
            held = self._footprint
            fault = self._usable_footprint(now, steady)[1]
            points = held.footprint.points if held and held.footprint else ()
            found = [_report("footprint", held, fault, False, len(points), now)]
            for name, source in self._sources.items():
                for held in source.senders.values():
                    used, fault, excused = self._usable(source.config, held, now, steady)
                    count = len(used.obstacles) if used.obstacles is not None else 0
                    found.append(_report(name, held, fault, excused, count, now))
                if source.fault is not None:
                    found.append(Report(name, "", source.fault))
                elif not source.senders:
                    text = f"none received on the topic '{source.config.topic}'"
                    missing = Fault(Status.NO_OBSTACLES, text)
                    found.append(Report(name, "", missing, not source.config.required))
            return found

    def snapshot(self, *, now: int, steady: int, require_id: int = 0) -> Snapshot:
        """Return what is known now.

        Parameters
        ----------
        now, steady : int
            Times [ns], see the module.
        require_id : int
            Answer with this snapshot, whose data must still be fresh; 0: the latest.

        Returns
        -------
        Snapshot
            Where something is missing, `Snapshot.fault` says what.
        """
        with self._lock:
            self._watch_clock(now)
            built = None
            while built is None:
                footprint, footprint_fault = self._usable_footprint(now, steady)
                parts, bad, fault = self._usable_sources(now, steady)
                fault = footprint_fault or fault
                built = self._build(footprint, parts, complete=fault is None)
            if require_id not in (0, built.id):
                old = self._recall(require_id, now, steady) if fault is None else None
                if old is None:
                    text = f"snapshot {require_id} is not at hand any more, newest is {built.id}"
                    fault = fault or Fault(Status.SNAPSHOT_MISMATCH, text)
                    return nothing(self._config, fault, now)
                built = old
            return self._view(built, fault, bad, now)

    def later(self, snapshot: Snapshot, *, now: int, steady: int) -> Snapshot:
        """Return a snapshot as it is when the answer from it leaves, with the ages of that time.

        If its data has become too old in between, nothing can be answered from it any more, and
        the reason is its fault. Times as for `snapshot`.
        """
        if not snapshot.id:
            return snapshot
        with self._lock:
            self._watch_clock(now)
            built = next((each for each in self._history if each.id == snapshot.id), None)
            passed = (now - snapshot.stamp) * 1e-9
            is_received = self._configured_shape is None
            last = replace(
                snapshot,
                footprint_age=snapshot.footprint_age + passed * is_received,
                max_obstacle_age=snapshot.max_obstacle_age + passed,
            )
            if built is None:
                gone = Fault(Status.SNAPSHOT_MISMATCH, f"snapshot {snapshot.id} is gone")
                return last.voided(self._jump or gone)
            old = dict(self._too_old(built, now, steady))
            if not old:
                return last
            stale = [each for each in old if each != "footprint"]
            bad = dict.fromkeys((*last.bad_sources, *stale))
            name, fault = next(iter(old.items()))
            return replace(last.voided(_about(name, fault)), bad_sources=tuple(bad))

    # ---- configuration and time

    def _configure(self, config: Config) -> None:
        self._config = config
        self._configured_shape = configured_footprint(config)
        self._config_revision = self._revise()
        old = self._sources
        self._sources = {each.name: _Source(each) for each in config.sources}
        for name, source in self._sources.items():
            if name in old:
                source.senders, source.fault = old[name].senders, old[name].fault
        if self._footprint is not None:
            for held in (self._footprint, *self._footprint.earlier):
                held.shape = None  # margins of direction may have changed

    def _revise(self) -> int:
        self._revision += 1
        return self._revision

    def _faulty(self, name: str, held: _Held | None, fault: Fault, steady: int) -> _Held:
        """Return what takes the place of a sender's last message when one cannot be read."""
        new = _Held(name, 0, steady, self._revise(), arrived=steady)
        if held is not None:
            new.stamp, new.stamps, new.sequence = held.stamp, held.stamps, held.sequence
        self._follow(new, held, None)
        self._spoil(new, fault)
        return new

    def _take(self, name: str, stamp: int, held: _Held | None, now: int, steady: int) -> _Held:
        """Return a message that has come from a sender; `held` is the last one.

        If its stamp is not new, neither is its data: it counts as received when that stamp was.
        """
        stamps = _Stamps() if held is None else held.stamps
        received = stamps.note(stamp, steady, now + _ns(self._config.max_future_stamp))
        if held is not None and held.stamp == stamp:
            received = min(received, held.received)
        return _Held(name, stamp, received, self._revise(), arrived=steady, stamps=stamps)

    def _follow(self, new: _Held, held: _Held | None, now: int | None) -> None:
        """Let a message take the place of the last one of its sender.

        Parameters
        ----------
        new, held : _Held
            The message and the last one of its sender.
        now : int or None
            Time [ns]; None: the message has no stamp.
        """
        if now is not None and self._is_future(new.stamp, now):  # faulty: see `_spoil`
            self._give_no_earlier()
        if held is not None:
            new.messages, new.drops = held.messages + 1, held.drops
            new.earlier = (held, *held.earlier)[:MAX_WAITING]
            held.earlier = ()
        if new.received < new.arrived:
            new.dropped = "the same stamp came again"

    def _leave_unchecked(self, held: _Held, check: Callable[[], Fault | None]) -> None:
        """Note that a message was replaced before it was known whether its shapes are good."""
        if held.fault is None and self._history:
            self._unchecked.append(check)
            if len(self._unchecked) > MAX_UNCHECKED:
                self._give_no_earlier()

    def _spoil(self, held: _Held, fault: Fault | None) -> None:
        """Note that a message is faulty, or not. No snapshot from before a faulty one is given."""
        held.fault = fault
        held.is_checked = True
        if fault is not None:
            self._give_no_earlier()

    def _give_no_earlier(self) -> None:
        self._history.clear()
        self._unchecked.clear()

    def _forget(self) -> None:
        self._footprint = None
        self._give_no_earlier()
        for source in self._sources.values():
            source.senders = {}
            source.fault = None

    def _watch_clock(self, now: int) -> None:
        """Drop everything when time runs backwards: its ages mean nothing any more.

        No step back is too small. A tolerated one would make data look younger than it is.
        """
        newest = self._newest_now
        if newest is not None and now < newest:
            self._forget()
            self._jump = Fault(
                Status.CLOCK_JUMP,
                f"the clock went back by {(newest - now) * 1e-9:.9g} s; waiting for fresh data",
            )
        self._newest_now = now

    # ---- what may be used

    def _is_future(self, stamp: int, now: int) -> bool:
        return stamp > now + _ns(self._config.max_future_stamp)

    def _time_fault(
        self, held: _Held, timeout: float, stale: Status, now: int, steady: int
    ) -> Fault | None:
        if self._is_future(held.stamp, now):
            ahead = (held.stamp - now) * 1e-9
            return Fault(
                Status.FUTURE_STAMP,
                f"stamp is {ahead:.3f} s ahead, limit {self._config.max_future_stamp:g} s",
            )
        age, silence = now - held.stamp, steady - held.received
        if max(age, silence) <= _ns(timeout):
            return None
        text = f"{age * 1e-9:.3f} s old, limit {timeout:g} s"
        if age <= _ns(timeout):
            text = f"silent for {silence * 1e-9:.3f} s, limit {timeout:g} s"
        return Fault(stale, f"{text}; {held.dropped}" if held.dropped else text)

    def _usable_footprint(self, now: int, steady: int) -> tuple[_Held | None, Fault | None]:
        """Return the footprint message to use (None: the configured one) or why there is none."""
        if self._configured_shape is not None:
            return None, None
        held = self._footprint
        if held is None:
            missing = Fault(Status.NO_FOOTPRINT, "none received on the topic, none configured")
            return None, _about("footprint", self._jump or missing)
        used, fault = _newest(held, lambda each: self._footprint_fault(each, now, steady))
        return (used, None) if fault is None else (None, _about("footprint", fault))

    def _footprint_fault(self, held: _Held, now: int, steady: int) -> Fault | None:
        timeout = self._config.footprint_timeout
        fault = held.fault or self._time_fault(held, timeout, Status.STALE_FOOTPRINT, now, steady)
        if fault is None and held.shape is None:
            fault = self._shape_footprint(held)
        return fault

    def _shape_footprint(self, held: _Held) -> Fault | None:
        assert held.footprint is not None
        frame, points = held.footprint.frame, held.footprint.points
        try:
            if held.outline is not None:
                points = held.outline
            elif frame != self._config.base_frame:
                outline(points, self._config)  # a bad one is found before its transform is known
                pose = self._find(held, self._config.base_frame, frame)
                held.outline_error = float(pose.transform_error(points).max())
                points = pose.transform(points)
            held.outline = points
            held.shape = outline(points, self._config).inflated(held.outline_error)
        except FrameError as error:
            return Fault(error.status, str(error))  # not kept: the transform may come later
        except InputError as error:
            self._spoil(held, Fault(error.status, str(error)))
        return held.fault

    def _usable_sources(
        self, now: int, steady: int
    ) -> tuple[list[_Part], tuple[str, ...], Fault | None]:
        """Return the messages to use, the names of the bad sources, and the first fault."""
        parts: list[_Part] = []
        bad: dict[str, None] = {}  # a set that keeps its order
        faults: list[Fault] = []
        for name, source in self._sources.items():
            if source.fault is not None:
                bad[name] = None
                faults.append(_about(name, source.fault))
            elif not source.senders:
                bad[name] = None
                text = f"none received on the topic '{source.config.topic}'"
                if source.config.required:
                    missing = Fault(Status.NO_OBSTACLES, text)
                    faults.append(_about(name, self._jump or missing))
            for held in source.senders.values():
                used, fault, excused = self._usable(source.config, held, now, steady)
                if fault is None:
                    parts.append(_Part(source.config, used))
                    continue
                bad[name] = None
                if not excused:
                    faults.append(_about(name, fault))
        total = sum(len(part.held.obstacles or ()) for part in parts)
        if total > self._config.max_obstacles:
            for part in parts:  # a bad one is no part, and does not count
                if not part.held.is_checked:
                    self._spoil(part.held, _shape_fault(part.placed, self._config))
            if any(part.held.fault is not None for part in parts):
                return self._usable_sources(now, steady)
            text = f"{total} obstacles of all sources, limit {self._config.max_obstacles}"
            faults.append(Fault(Status.LIMIT_EXCEEDED, text))
            parts = []
        if not parts and not faults:
            # Each may be silent, but where all are nobody has said that anything is free.
            none = Fault(Status.NO_OBSTACLES, "no source has fresh data")
            is_any = any(source.senders for source in self._sources.values())
            faults.append(none if is_any else self._jump or none)
        return parts, tuple(bad), faults[0] if faults else None

    def _usable(
        self, source: SourceConfig, held: _Held, now: int, steady: int
    ) -> tuple[_Held, Fault | None, bool]:
        """Return the message of a sender to use, or why there is none and whether that is excused.

        An optional source may be silent. While it sends, its data must be right.
        """
        used, fault = _newest(held, lambda each: self._sender_fault(source, each, now, steady))
        if source.required or fault is None:
            return used, fault, False
        if steady - held.arrived > _ns(source.timeout):
            return used, fault, True
        if held.obstacles is not None and not held.is_checked:
            self._spoil(held, _shape_fault(_unplaced(source, held.obstacles), self._config))
        fault = held.fault or fault
        return used, fault, fault.status is Status.STALE_OBSTACLES

    def _sender_fault(
        self, source: SourceConfig, held: _Held, now: int, steady: int
    ) -> Fault | None:
        """Return why a message of a sender is not used."""
        timeout = source.timeout
        fault = held.fault or self._time_fault(held, timeout, Status.STALE_OBSTACLES, now, steady)
        if fault is None and held.pose is None:
            assert held.obstacles is not None
            try:
                held.pose = self._find(held, self._config.check_frame, held.obstacles.frame)
            except FrameError as error:
                if held.waits and not held.is_checked:  # a bad one is found before that is known
                    unplaced = _unplaced(source, held.obstacles)
                    self._spoil(held, _shape_fault(unplaced, self._config))
                fault = held.fault or Fault(error.status, str(error))
        return fault

    def _find(self, held: _Held, target: str, frame: str) -> Pose:
        """Return the pose of a message's frame at its stamp; note whether it may still come."""
        if not frame:
            raise FrameError(Status.UNKNOWN_FRAME, "header.frame_id is empty")
        if frame == target:
            return Pose()
        try:
            held.waits = held.stamp > self._transforms.latest(target, frame)[1]
        except FrameError:
            held.waits = False
        return self._transforms.lookup(target, frame, held.stamp)

    # ---- snapshots

    def _build(
        self, footprint: _Held | None, parts: Sequence[_Part], *, complete: bool
    ) -> _Built | None:
        """Return the scene of these messages, built once; None: one of them has proved bad."""
        key = (self._config_revision, *(part.held.revision for part in parts))
        last = self._history[-1] if self._history else None
        if last is not None and last.key == key and last.footprint is footprint:
            return last
        scene = last.scene if last is not None and last.key == key else self._compose(parts)
        if scene is None:
            return None
        lists = [part.placed.obstacles for part in parts]
        ends = accumulate(len(each) for each in lists)
        built = _Built(
            id=self._next_id,
            key=key,
            complete=complete,
            scene=scene,
            shape=self._configured_shape if footprint is None else footprint.shape,
            footprint=footprint,
            parts=tuple(parts),
            placed=tuple(part.placed for part in parts),
            outline=configured_outline(self._config) if footprint is None else footprint.outline,
            spans=tuple(zip(ends, (part.held.name for part in parts), strict=True)),
            epoch=_epoch(parts),
        )
        self._next_id += 1
        self._history.append(built)
        return built

    def _compose(self, parts: Sequence[_Part]) -> Scene | None:
        try:
            scene = compose_scene([part.placed for part in parts], self._config, _epoch(parts))
        except InputError as error:
            # One of them is bad: each alone tells which, and in its own numbering.
            for part in parts:
                self._spoil(part.held, _shape_fault(part.placed, self._config))
            if all(part.held.fault is None for part in parts):
                raise RuntimeError(f"good obstacles make a bad scene: {error}") from error
            return None
        for part in parts:
            part.held.is_checked = True
        return scene

    def _recall(self, id: int, now: int, steady: int) -> _Built | None:
        """Return an earlier snapshot that could still be the answer: complete and fresh."""
        if any(check() for check in self._unchecked):
            self._give_no_earlier()
        self._unchecked.clear()
        for built in self._history:
            if built.id != id or not built.complete or built.key[0] != self._config_revision:
                continue
            if not any(self._too_old(built, now, steady)):
                return built
        return None

    def _too_old(self, built: _Built, now: int, steady: int) -> Iterator[tuple[str, Fault]]:
        """Yield the sources of a snapshot, or "footprint", whose data is not fresh, and why."""
        timed = [
            (part.source.name, part.held, part.source.timeout, Status.STALE_OBSTACLES)
            for part in built.parts
        ]
        if built.footprint is not None:
            timeout = self._config.footprint_timeout
            timed.insert(0, ("footprint", built.footprint, timeout, Status.STALE_FOOTPRINT))
        for name, held, timeout, stale in timed:
            fault = self._time_fault(held, timeout, stale, now, steady)
            if fault is not None:
                yield name, fault

    def _view(
        self, built: _Built, fault: Fault | None, bad: tuple[str, ...], now: int
    ) -> Snapshot:
        stamps = [part.held.stamp for part in built.parts]
        footprint_age = nan
        if built.footprint is not None:
            footprint_age = (now - built.footprint.stamp) * 1e-9
        elif built.shape is not None:
            footprint_age = 0.0
        # Of senders that are not used too; "" stands for one that was never read.
        heard = stamps + [
            held.stamp
            for source in self._sources.values()
            for name, held in source.senders.items()
            if name
        ]
        obstacle_age = (now - min(heard)) * 1e-9 if heard else nan
        if built.footprint is not None:
            stamps.append(built.footprint.stamp)
        return Snapshot(
            built.id,
            now,
            self._config,
            built.scene,
            built.shape,
            fault,
            min(stamps, default=0),
            footprint_age,
            obstacle_age,
            bad,
            built.epoch,
            built.spans,
            built.placed,
            built.outline,
            now if built.footprint is None else built.footprint.stamp,
        )


def _unplaced(source: SourceConfig, obstacles: Obstacles) -> Placed:
    """Return obstacles as if their frame were the check frame, to check their shapes."""
    return Placed(obstacles, Pose(), source.inflation)


def _shape_fault(placed: Placed, config: Config) -> Fault | None:
    try:
        compose_scene([placed], config, placed.obstacles.stamp)
    except InputError as error:
        return Fault(error.status, str(error))
    return None


def _outline_fault(points: npt.NDArray[np.float64], config: Config) -> Fault | None:
    try:
        outline(points, config)
    except InputError as error:
        return Fault(error.status, str(error))
    return None


def _epoch(parts: Sequence[_Part]) -> int:
    """Return the zero of a scene's clock [ns]."""
    return min((part.held.stamp for part in parts), default=0)


def _newest(held: _Held, why: Callable[[_Held], Fault | None]) -> tuple[_Held, Fault | None]:
    """Return the newest message of a sender that can be used, or why there is none.

    Transforms often come a little later than the data. A message whose transform may still come
    leaves the one before it in use, while that is fresh. No message is used that is older than a
    faulty one.

    Parameters
    ----------
    held : _Held
        The last message.
    why : callable
        Says why a message cannot be used; None: it can.
    """
    first = why(held)
    used, fault = held, first
    for each in held.earlier:
        if fault is None or fault.status is not Status.TF_EXTRAPOLATION or not used.waits:
            break
        used, fault = each, why(each)
    if fault is None:
        used.earlier = ()
        return used, None
    return held, used.fault or first


def _refuse_order(held: _Held, new: _Held) -> str:
    """Return why a message is dropped after the last one of its sender; empty: it is not."""
    # Stamps ahead of the clock do not count: one wrong stamp would lock out good data.
    if new.stamps.newest is not None and new.stamp < new.stamps.newest:
        return "an older message came late and was dropped"
    if new.sequence == 0:
        return ""
    if new.sequence == held.sequence:
        return f"sequence {held.sequence} came twice and was dropped"
    # With a newer stamp a lower number is a sender that has started again.
    if new.sequence < held.sequence and new.stamp == held.stamp:
        return f"sequence {new.sequence} came after {held.sequence} and was dropped"
    return ""


def _drop(held: _Held, why: str, steady: int) -> None:
    held.dropped = why
    held.drops += 1
    held.arrived = steady


def _report(
    source: str, held: _Held | None, fault: Fault | None, excused: bool, count: int, now: int
) -> Report:
    if held is None:
        return Report(source, "", fault, excused)
    age = (now - held.stamp) * 1e-9
    received = held.messages + held.drops
    return Report(source, held.name, fault, excused, age, count, received, held.drops)


def _about(name: str, fault: Fault) -> Fault:
    return Fault(fault.status, f"{name}: {fault.message}")


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
