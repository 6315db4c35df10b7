# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The present state of the vehicle's footprint and of all obstacles.

`World` stores footprints and obstacle lists, and returns an immutable `Snapshot` of them. It has
no clock and does not use ROS: each call passes two times in nanoseconds.

now : int
    Time of the clock that the stamps refer to (ROS time, or the time of a log).
steady : int
    Time of a steady (monotonic) clock. Steady times are only compared with each other. If the call
    passes a message, this is the earliest time at which the message can have arrived.

Data has two ages: the age by its stamp, and the time since that stamp was first received. It is
fresh while both ages are within the timeout. If a clock stops, or if a sender repeats a stamp, one
of the ages still increases, so the data becomes stale.
"""

import threading
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import degrees, nan

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..geometry import Shape
from ..region import OUTSIDE
from ..scene import Scene
from ..verdict import Status
from . import lookup
from .boundary import region_of
from .config import DEFAULT_FOOTPRINT, Config, SourceConfig
from .frames import FrameError, Pose, SameFrameOnly, TransformSource
from .obstacles import Footprint, Obstacles
from .snapshot import (
    Expiry,
    Fault,
    NamedFootprint,
    Placed,
    Report,
    Snapshot,
    compose_scene,
    empty_snapshot,
    named_footprints,
    outline,
)
from .twist import Twist, footprint_at

__all__ = ["Footprint", "World"]

# Maximum number of senders on the topic of one source. The data of each sender must be fresh.
MAX_SENDERS = 16
# Maximum number of earlier messages that are kept for one sender. An earlier message is used while
# it is fresh and the transform at the stamp of the newest message is not known yet.
MAX_WAITING = 8
# Maximum number of stamps ahead of the clock that are stored for one sender. If there are more,
# the latest stamps are removed.
MAX_EARLY = 64
# If the sequence number of a sender twice does not increase within this time [ns], two publishers
# use its name. The sender is not used until this has not happened for this time.
CLASH = 3_000_000_000
# Number of snapshots that a request can name by id, as long as their data is fresh.
HISTORY = 16
# Maximum number of messages that were replaced before a scene was built from them. Their shapes
# are checked before an earlier snapshot is returned. With more of them, no earlier snapshot is
# returned.
MAX_UNCHECKED = 64


@dataclass(slots=True)
class _Stamps:
    """The steady times at which the stamps of one sender were first received.

    The stamps of dropped messages are included.
    """

    newest: int | None = None  # the newest stamp that is not in the future [ns]
    received: int = 0  # steady time at which `newest` was first received [ns]
    early: dict[int, int] = field(default_factory=dict)  # stamps in the future -> steady time
    not_greater: int | None = None  # steady time of the last sequence number that was not greater
    clash: int | None = None  # steady time at which two publishers were noticed last [ns]

    def note(self, stamp: int, received: int, limit: int) -> int:
        """Store a stamp, and return the steady time at which it was first received [ns].

        Parameters
        ----------
        stamp : int
            Stamp of a message [ns].
        received : int
            Steady time at which the message was received [ns].
        limit : int
            A stamp greater than this is in the future [ns].
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

    def note_number(self, last: int, number: int, steady: int) -> bool:
        """Store the sequence number of a new stamp; return whether there are two publishers.

        A publisher that was started again begins to count again, but not twice in a short time.
        """
        if not last or not number or number > last:
            return False
        before, self.not_greater = self.not_greater, steady
        if before is None or steady - before > CLASH:
            return False
        self.clash = steady
        return True


@dataclass(slots=True)
class _Message:
    """A message of one sender, with its fault or the data computed from it."""

    name: str  # name of the sender
    stamp: int  # ns
    received: int  # steady time at which the stamp was first received [ns]
    revision: int  # changes with the place of static data
    number: int = 0  # increases with each message
    obstacles: Obstacles | None = None
    footprint: Footprint | None = None
    twist: Twist | None = None
    fault: Fault | None = None
    pose: Pose | None = None
    shape: Shape | None = None
    outline: npt.NDArray[np.float64] | None = None  # in the base frame
    outline_error: float = 0.0  # m: bound of the distance of its points from their exact places
    dropped: str = ""  # why a later message was dropped, or that this stamp is not new
    placed: Placed | None = None  # its obstacles at `pose`, while these are not changed
    waits: bool = False  # its transform is not known yet
    is_checked: bool = False  # its shapes were checked; see `fault` for the result
    is_misplaced: bool = False  # its fault is that of its place, of a static source
    arrived: int = 0  # steady time of the last message of this sender, dropped or not [ns]
    stamps: _Stamps = field(default_factory=_Stamps)  # stamps of its sender
    sequence: int = 0  # sequence number of the last message that was decoded
    earlier: tuple["_Message", ...] = ()  # newest first, while this one waits for its transform
    messages: int = 1  # number of messages of this sender that were not dropped
    drops: int = 0  # number of messages of this sender that were dropped


@dataclass(frozen=True, slots=True)
class _Part:
    """A message that is used, with its source."""

    source: SourceConfig
    held: _Message

    @property
    def placed(self) -> Placed:
        assert self.held.obstacles is not None
        assert self.held.pose is not None
        source, last = self.source, self.held.placed
        if last is None or last.pose != self.held.pose or last.inflation != source.inflation:
            last = self.held.placed = Placed.of(
                self.held.obstacles, self.held.pose, source.inflation, is_static=source.static
            )
        return last

    @property
    def unplaced(self) -> Placed:
        """The list as received, to check its shapes."""
        assert self.held.obstacles is not None
        assert self.held.pose is not None
        return _unplaced(self.source, self.held.obstacles, self.held.pose)


@dataclass(frozen=True, slots=True)
class _Choice:
    """The footprint for a request that names none, or the reason why it is not known."""

    name: str = ""
    shape: Shape | None = None
    outline: npt.NDArray[np.float64] | None = None
    held: _Message | None = None  # the message that it is from; None: it is from a parameter
    fault: Fault | None = None


@dataclass(slots=True, eq=False)
class _Built:
    """A scene, with the messages that it was built from."""

    id: int
    key: tuple[int, ...]  # revisions of the configuration and of the obstacle messages
    complete: bool
    scene: Scene
    choice: _Choice
    footprint: _Message | None
    parts: tuple[_Part, ...]
    placed: tuple[Placed, ...]
    spans: tuple[tuple[int, str], ...]
    region_source: str
    epoch: int | None
    placed_at: int = 0  # the last time at which its static data was at its present place [ns]
    revision: int = 0  # of all data, when this was the scene of complete data last


@dataclass(frozen=True, slots=True)
class _Present:
    """The scene of the present data, and what is wrong with this data."""

    built: _Built
    choice: _Choice
    twist: Twist | Fault | None
    data_fault: Fault | None  # the first one that does not concern the footprint
    bad_sources: tuple[str, ...]

    @property
    def fault(self) -> Fault | None:
        return self.choice.fault or self.data_fault


@dataclass
class _Source:
    config: SourceConfig
    senders: dict[str, _Message] = field(default_factory=dict)
    fault: Fault | None = None  # set if there are too many senders


class World:
    """The footprint of one vehicle and the obstacles around it.

    Several threads may call it. The times of consecutive calls must not decrease.

    Parameters
    ----------
    config : Config
        Parameters of the server.
    transforms : TransformSource
        Source of the poses between frames. By default no pose between different frames is known.
    epoch : int
        Upper 32 bits of the snapshot ids; the lower 32 bits are a counter. Two worlds with
        different epochs never have a snapshot id in common.
    topics : mapping
        Name of a source, "footprint" or "twist_topic" -> resolved name of its topic, for messages.
        A topic that is not in the mapping has its name in `config`.

    Raises
    ------
    InputError
        The configured footprint is not a valid shape.
    """

    def __init__(
        self,
        config: Config,
        transforms: TransformSource | None = None,
        epoch: int = 0,
        topics: Mapping[str, str] | None = None,
    ) -> None:
        self._topics = topics or {}
        self._lock = threading.RLock()
        self._transforms = transforms or SameFrameOnly()
        self._corrections = self._transforms.corrections
        self._steps_back = self._transforms.steps_back
        self._revision = 0
        self._placed_again = 0  # revision of the last correction of a static transform
        self._next_id = (epoch << 32) + 1
        self._history: deque[_Built] = deque(maxlen=HISTORY)
        self._kept: tuple[_Built, ...] = ()
        # Checks of replaced messages, and the first id of a snapshot from after each message.
        self._unchecked: list[tuple[int, Callable[[], Fault | None]]] = []
        self._newest_now: int | None = None
        self._jump: Fault | None = None
        self._jump_id = 0  # snapshots with lower ids are from before the jump
        self._footprint: _Message | None = None
        self._twist: _Message | None = None
        self._sources: dict[str, _Source] = {}
        self._configure(config)

    @property
    def config(self) -> Config:
        """The present parameters."""
        return self._config

    def reconfigure(self, config: Config) -> None:
        """Change the parameters and keep the data.

        The caller must check with `Config.refusal` that the change is allowed.
        """
        with self._lock:
            self._configure(config)

    def reset(self) -> None:
        """Delete all data. Every answer is UNKNOWN until fresh data is received."""
        with self._lock:
            self._jump = None
            self._delete_data()

    def note_step_back(self, now: int, by: int) -> None:
        """Delete all data, because the clock went back by a time, to `now` [ns].

        This is also right if no other call has passed the time before the step.
        """
        with self._lock:
            self._check_clock(max(now + by, self._newest_now or 0))
            self._check_clock(now)

    def receive_footprint(self, footprint: Footprint, *, now: int, steady: int) -> None:
        """Store a footprint message. If it is invalid, store its fault; no error is raised."""
        with self._lock:
            self._check_clock(now)
            held = self._footprint
            new = self._new_message("footprint", footprint.stamp, held, now, steady)
            if held is not None and (why := _order_fault(held, new)):
                _drop(held, why, steady)
                return
            self._footprint, new.footprint = new, footprint
            self._carry_over(new, held, now)
            if held is not None and held.footprint is not None and held.shape is None:
                points = held.footprint.points
                self._keep_check(held, lambda: _outline_fault(points, self._config))

    def receive_twist(self, twist: Twist, *, now: int, steady: int) -> None:
        """Store a twist of the vehicle."""
        with self._lock:
            self._check_clock(now)
            held = self._twist
            new = self._new_message("twist_topic", twist.stamp, held, now, steady)
            if held is not None and (why := _order_fault(held, new)):
                _drop(held, why, steady)
                return
            new.twist = twist
            self._replace_twist(new)

    def receive_obstacles(
        self, source: str, obstacles: Obstacles, *, now: int, steady: int
    ) -> None:
        """Store the obstacles of a source. If the list is invalid, its fault is stored.

        Parameters
        ----------
        source : str
            Name in ``obstacle_sources``.
        obstacles : Obstacles
            The complete list of the sender. It replaces the sender's last list.
        now, steady : int
            Times [ns], see the module.
        """
        with self._lock:
            self._check_clock(now)
            known = self._sources[source]
            known.senders.pop("", None)  # see `receive_fault`
            sender = obstacles.sender(source)
            held = known.senders.get(sender)
            if held is None and len(known.senders) >= MAX_SENDERS:
                self._revise()
                known.fault = Fault(
                    Status.LIMIT_EXCEEDED,
                    f"more than {MAX_SENDERS} senders on the topic "
                    f"'{self._topics.get(source, known.config.topic)}'; "
                    "call ~/reset to remove old senders",
                )
                return
            new = self._new_message(sender, obstacles.stamp, held, now, steady)
            new.obstacles, new.sequence = obstacles, obstacles.sequence
            if held is not None and not known.config.static:
                is_new = new.stamp != held.stamp
                if is_new and new.stamps.note_number(held.sequence, new.sequence, steady):
                    self._clear_history()
                if why := _order_fault(held, new):
                    _drop(held, why, steady)
                    return
            self._carry_over(new, held, now)
            if held is not None and held.obstacles is not None and not held.is_checked:
                unplaced = _unplaced(known.config, held.obstacles)
                self._keep_check(held, lambda: _shape_fault(unplaced, self._config))
            try:
                obstacles.check(self._config.max_obstacles, self._config.max_points_per_obstacle)
                if known.config.static:
                    obstacles.check_at_rest()
            except InputError as error:
                self._set_fault(new, Fault(error.status, str(error)))
            known.senders[sender] = new

    def receive_fault(self, source: str, fault: Fault, *, now: int, steady: int) -> None:
        """Store the fault of a message that could not be decoded.

        Its sender is not known. All senders of the source have this fault until their next
        message.

        Parameters
        ----------
        source : str
            Name in ``obstacle_sources``, "footprint" or "twist_topic".
        fault : Fault
            Why the message could not be decoded.
        now, steady : int
            Times [ns], see the module.
        """
        with self._lock:
            self._check_clock(now)
            if source == "footprint":
                self._footprint = self._faulty("footprint", self._footprint, fault, steady)
                return
            if source == "twist_topic":
                new = _Message(source, 0, steady, self._revise(), fault=fault, arrived=steady)
                if self._twist is not None:
                    new.stamp, new.stamps = self._twist.stamp, self._twist.stamps
                self._replace_twist(new)
                return
            senders = self._sources[source].senders
            for name in list(senders) or [""]:  # "": no sender is known yet
                senders[name] = self._faulty(name, senders.get(name), fault, steady)

    def reports(self, *, now: int, steady: int) -> list[Report]:
        """Return the state of each sender, the footprint first. Times are as for `snapshot`."""
        self.snapshot(now=now, steady=steady)  # building the scene checks the shapes
        with self._lock:
            held = self._footprint
            twist = self._usable_twist(now, steady)
            choice = self._choose(twist, now, steady)
            placed = choice.held or held
            points = placed.footprint.points if placed and placed.footprint else ()
            found = [_report("footprint", held, placed, choice.fault, False, len(points), now)]
            if twist is not None:
                bad = twist if isinstance(twist, Fault) else None
                excused = not self._config.speed_footprints
                found.append(
                    _report("twist_topic", self._twist, self._twist, bad, excused, 0, now)
                )
            for name, source in self._sources.items():
                for held in source.senders.values():
                    used, fault, excused = self._usable(source.config, held, now, steady)
                    count = len(used.obstacles) if used.obstacles is not None else 0
                    found.append(_report(name, held, used, fault, excused, count, now))
                if source.fault is not None:
                    found.append(Report(name, "", source.fault))
                elif not source.senders:
                    missing = self._nothing_received(name, source.config.topic)
                    found.append(Report(name, "", missing, not source.config.required))
            return found

    def snapshot(self, *, now: int, steady: int, require_id: int = 0) -> Snapshot:
        """Return a snapshot of the present data.

        Parameters
        ----------
        now, steady : int
            Times [ns], see the module.
        require_id : int
            Id of an earlier snapshot to return; its data must still be fresh. 0: the latest.

        Returns
        -------
        Snapshot
            If it is incomplete, `Snapshot.fault` gives the reason.
        """
        with self._lock:
            self._check_clock(now)
            present = self._present(now, steady)
            if require_id in (0, present.built.id):
                return self._view(present.built, present, now, steady)
            old = self._known(require_id) if present.fault is None else None
            if old is not None and old.complete:
                needed = {"footprint", "twist_topic"}
                if not any(self._changes(old, needed, present, 0, now, steady, is_good=True)):
                    old.placed_at = now
                    return self._view(old, present, now, steady)
            text = (
                f"snapshot {require_id} is no longer available; "
                f"the latest snapshot is {present.built.id}"
            )
            fault = present.fault or Fault(Status.SNAPSHOT_MISMATCH, text)
            return empty_snapshot(self._config, fault, now)

    def later(self, snapshot: Snapshot, *, now: int, steady: int) -> Snapshot:
        """Return a snapshot with the ages at the time when its answer is sent.

        If its data cannot be used any more, the result has no footprint, and its fault gives the
        reason. Times are as for `snapshot`.
        """
        if not snapshot.id:
            return snapshot
        with self._lock:
            self._check_clock(now)
            needed = {each.source for each in snapshot.footprint_expiries}
            present, built = None, self._stored(snapshot.id)
            is_new = built is not None and built.revision != self._revision
            # Beside a fault only COLLISION is sent, which another fault does not change.
            if (is_new and snapshot.fault is None) or "twist_topic" in needed:
                present = self._present(now, steady)
                built = self._known(snapshot.id)
            passed = (now - snapshot.stamp) * 1e-9
            last = replace(
                snapshot,
                footprint_age=snapshot.footprint_age + passed * ("footprint" in needed),
                max_obstacle_age=snapshot.max_obstacle_age + passed,
            )
            if built is None:
                text = f"snapshot {snapshot.id} is no longer available"
                gone = Fault(Status.SNAPSHOT_MISMATCH, text)
                is_jump = self._jump is not None and snapshot.id < self._jump_id
                return last.invalidated((self._jump if is_jump else None) or gone)
            placed_at = built.placed_at
            is_good = snapshot.fault is None
            changes = list(
                self._changes(built, needed, present, placed_at, now, steady, is_good=is_good)
            )
            if not changes and snapshot.fault is None and present and present.data_fault:
                changes = [("", present.data_fault)]
            if not changes:
                return last
            sources = [name for name, _ in changes if name not in ("", "footprint")]
            bad = dict.fromkeys((*last.bad_sources, *sources))
            return replace(last.invalidated(changes[0][1]), bad_sources=tuple(bad))

    def keep(self, snapshot: Snapshot) -> None:
        """Keep the data of a snapshot for `later`, until this is called again.

        Without this, a snapshot is no longer available after `HISTORY` new ones. Data that was
        deleted because of a fault, a reset or a step of the clock is not kept.
        """
        with self._lock:
            self._kept = tuple(each for each in self._history if each.id == snapshot.id)

    # ---- configuration and time

    def _configure(self, config: Config) -> None:
        self._config = config
        self._named: tuple[NamedFootprint, ...] = named_footprints(config)
        self._config_revision = self._revise()
        old = self._sources
        self._sources = {each.name: _Source(each) for each in config.sources}
        for name, source in self._sources.items():
            if name in old:
                source.senders, source.fault = old[name].senders, old[name].fault
        if self._footprint is not None:
            for held in (self._footprint, *self._footprint.earlier):
                held.shape = None  # a directional margin may have changed

    def _revise(self) -> int:
        self._revision += 1
        return self._revision

    def _faulty(self, name: str, held: _Message | None, fault: Fault, steady: int) -> _Message:
        """Return the message that replaces a sender's last one if a message cannot be decoded."""
        new = _Message(name, 0, steady, self._revise(), arrived=steady)
        if held is not None:
            new.stamp, new.stamps, new.sequence = held.stamp, held.stamps, held.sequence
        self._carry_over(new, held, None)
        self._set_fault(new, fault)
        return new

    def _new_message(
        self, name: str, stamp: int, held: _Message | None, now: int, steady: int
    ) -> _Message:
        """Return a new message of a sender without its data; `held` is the sender's last one.

        If the stamp is not new, the message counts as received when the stamp was first received.
        """
        stamps = _Stamps() if held is None else held.stamps
        received = stamps.note(stamp, steady, now + _ns(self._config.max_future_stamp))
        if held is not None and held.stamp == stamp:
            received = min(received, held.received)
        revision = self._revise()
        return _Message(name, stamp, received, revision, revision, arrived=steady, stamps=stamps)

    def _carry_over(self, new: _Message, held: _Message | None, now: int | None) -> None:
        """Carry over the state of a sender from its last message to a new one.

        Parameters
        ----------
        new, held : _Message
            The new message, and the last one of its sender.
        now : int or None
            Time [ns]; None: the message has no stamp.
        """
        if now is not None and self._is_future(new.stamp, now):  # a fault, as in `_set_fault`
            self._clear_history()
        if held is not None:
            new.messages, new.drops = held.messages + 1, held.drops
            new.earlier = (held, *held.earlier)[:MAX_WAITING]
            held.earlier = ()
        if new.received < new.arrived:
            new.dropped = "the stamp of the last message was received before"
        if held is not None:  # this message may have waited during a pause
            new.arrived = max(new.arrived, held.arrived)

    def _replace_twist(self, new: _Message) -> None:
        """Store a new message with a twist. It does not affect earlier snapshots."""
        if self._twist is not None:
            new.messages, new.drops = self._twist.messages + 1, self._twist.drops
        if new.received < new.arrived:
            new.dropped = "the stamp of the last message was received before"
        self._twist = new

    def _keep_check(self, held: _Message, check: Callable[[], Fault | None]) -> None:
        """Store the check of a message that was replaced before its shapes were checked."""
        if held.fault is None and self._history:
            self._unchecked.append((self._next_id, check))
            if len(self._unchecked) > MAX_UNCHECKED:
                self._clear_history()

    def _set_fault(self, held: _Message, fault: Fault | None) -> None:
        """Store whether a message has a fault. If it has, no earlier snapshot is returned."""
        held.fault = fault
        held.is_checked = True
        if fault is not None:
            self._clear_history()

    def _check_part(self, part: _Part) -> None:
        """Check the shapes of a message at its place."""
        held, source = part.held, part.source
        self._set_fault(held, _shape_fault(part.unplaced, self._config))
        if source.static and held.fault is not None:
            assert held.obstacles is not None
            unplaced = _unplaced(source, held.obstacles)
            held.is_misplaced = _shape_fault(unplaced, self._config) is None

    def _clear_history(self) -> None:
        self._history.clear()
        self._kept = ()
        self._unchecked.clear()

    def _delete_data(self, *, keep_static: bool = False) -> None:
        self._footprint = self._twist = None
        self._clear_history()
        for source in self._sources.values():
            if not (keep_static and source.config.static):
                source.senders = {}
                source.fault = None

    def _check_clock(self, now: int) -> None:
        """Delete all data if the clock went back, because ages cannot be computed any more.

        There is no tolerance: even a small step back makes data look younger than it is.
        """
        newest = self._newest_now
        # The transforms may have read the clock between two calls.
        is_back = self._transforms.steps_back != self._steps_back
        if newest is not None and (now < newest or is_back):
            self._delete_data(keep_static=True)
            self._jump_id = self._next_id
            by = f" by {(newest - now) * 1e-9:.9g} s" if now < newest else ""
            text = f"the clock went back{by}, all data was deleted; waiting for fresh data"
            self._jump = Fault(Status.CLOCK_JUMP, text)
        self._newest_now = now
        self._transforms.set_time(now)
        self._steps_back = self._transforms.steps_back
        if self._transforms.corrections != self._corrections:
            self._corrections = self._transforms.corrections
            self._place_again()

    def _place_again(self) -> None:
        """Delete the poses of all messages, because a static transform was corrected."""
        self._config_revision = self._placed_again = self._revise()
        senders = [held for source in self._sources.values() for held in source.senders.values()]
        newest = [*senders, *(held for held in (self._footprint, self._twist) if held is not None)]
        for held in [each for one in newest for each in (one, *one.earlier)]:
            held.pose = held.shape = held.outline = None

    # ---- which messages are used

    def _is_future(self, stamp: int, now: int) -> bool:
        return stamp > now + _ns(self._config.max_future_stamp)

    def _time_fault(
        self, held: _Message, timeout: float, stale: Status, now: int, steady: int
    ) -> Fault | None:
        if self._is_future(held.stamp, now):
            ahead = (held.stamp - now) * 1e-9
            return Fault(
                Status.FUTURE_STAMP,
                f"the stamp is {ahead:.3f} s ahead of the clock, "
                f"limit {self._config.max_future_stamp:g} s",
            )
        age, silence = now - held.stamp, steady - held.received
        if max(age, silence) <= _ns(timeout):
            return None
        text = f"{age * 1e-9:.3f} s old, limit {timeout:g} s"
        if age <= _ns(timeout):
            text = f"no new stamp received for {silence * 1e-9:.3f} s, limit {timeout:g} s"
        return Fault(stale, f"{text}; {held.dropped}" if held.dropped else text)

    def _choose(self, twist: Twist | Fault | None, now: int, steady: int) -> _Choice:
        """Return the footprint for a request that names none."""
        name = DEFAULT_FOOTPRINT
        if self._config.speed_footprints:
            if not isinstance(twist, Twist):
                return self._no_choice(twist)
            name = footprint_at(self._config, twist)
            if not name:
                speed = f"{twist.vx:g} m/s, {twist.vy:g} m/s, {twist.wz:g} rad/s"
                text = f"no footprint in speed_footprints is for the twist {speed}"
                return self._no_choice(Fault(Status.NO_FOOTPRINT, text))
        for each in self._named:
            if each.name == name:
                return _Choice(name, each.shape, each.outline)
        held = self._footprint
        if held is None:
            topic = self._topics.get("footprint", "footprint")
            text = f"no footprint configured, and none received on the topic '{topic}'"
            missing = Fault(Status.NO_FOOTPRINT, text)
            return _Choice(fault=_prefixed("footprint", self._jump or missing))
        used, fault = _newest(held, lambda each: self._footprint_fault(each, now, steady))
        if fault is not None:
            return _Choice(fault=_prefixed("footprint", fault))
        return _Choice(name, used.shape, used.outline, used)

    def _no_choice(self, twist: Fault | None) -> _Choice:
        """Return the choice if no footprint can be selected by the twist."""
        fault = twist or Fault(Status.NO_FOOTPRINT, "the twist is not known")
        text = f"footprint: none can be selected by speed: {fault.message}"
        return _Choice(fault=Fault(fault.status, f"{text}; a request can name a footprint"))

    def _usable_twist(self, now: int, steady: int) -> Twist | Fault | None:
        """Return the twist of the base frame, or why it is not known; None: not configured."""
        config, held = self._config, self._twist
        if not config.twist_topic:
            return None
        if held is None:
            missing = self._nothing_received("twist_topic", config.twist_topic)
            missing = replace(missing, status=Status.NO_FOOTPRINT)
            return _prefixed("twist_topic", self._jump or missing)
        timeout, stale = config.twist_timeout, Status.STALE_FOOTPRINT
        fault = held.fault or self._time_fault(held, timeout, stale, now, steady)
        if fault is not None:
            return _prefixed("twist_topic", fault)
        assert held.twist is not None
        try:
            if held.pose is None:
                held.pose = self._fixed_pose(config.base_frame, held.twist.frame)
        except FrameError as error:
            return _prefixed("twist_topic", Fault(error.status, str(error)))
        return held.twist.moved(config.base_frame, held.pose)

    def _fixed_pose(self, target: str, frame: str) -> Pose:
        """Return the pose of a frame in another one that it is fixed to; raise `FrameError`."""
        if not frame:
            text = "the frame of the twist is empty: set child_frame_id (Odometry) or "
            raise FrameError(Status.UNKNOWN_FRAME, f"{text}header.frame_id (TwistStamped)")
        if frame == target:
            return Pose()
        pose, stamp = self._transforms.latest(target, frame)
        if stamp:
            text = f"the twist is in the frame '{frame}', which moves relative to '{target}': "
            text += f"it must be '{target}' or be fixed to it by static transforms"
            raise FrameError(Status.UNKNOWN_FRAME, text)
        return pose

    def _footprint_fault(self, held: _Message, now: int, steady: int) -> Fault | None:
        timeout = self._config.footprint_timeout
        fault = held.fault or self._time_fault(held, timeout, Status.STALE_FOOTPRINT, now, steady)
        if fault is None and held.shape is None:
            fault = self._shape_footprint(held)
        return fault

    def _shape_footprint(self, held: _Message) -> Fault | None:
        assert held.footprint is not None
        frame, points = held.footprint.frame, held.footprint.points
        try:
            if held.outline is not None:
                points = held.outline
            elif frame != self._config.base_frame:
                outline(points, self._config)  # check it even if its transform is not known
                pose = self._find(held, self._config.base_frame, frame)
                held.outline_error = float(pose.transform_error(points).max())
                points = pose.transform(points)
            held.outline = points
            held.shape = outline(points, self._config).inflated(held.outline_error)
        except FrameError as error:
            return Fault(error.status, str(error))  # not stored: the transform may arrive later
        except InputError as error:
            self._set_fault(held, Fault(error.status, str(error)))
        return held.fault

    def _usable_sources(
        self, now: int, steady: int
    ) -> tuple[list[_Part], tuple[str, ...], Fault | None]:
        """Return the messages to use, the names of the bad sources, and the first fault."""
        parts: list[_Part] = []
        bad: dict[str, None] = {}  # an ordered set
        faults: list[Fault] = []
        for name, source in self._sources.items():
            if source.fault is not None:
                bad[name] = None
                faults.append(_prefixed(name, source.fault))
            elif not source.senders:
                bad[name] = None
                if source.config.required:
                    missing = self._nothing_received(name, source.config.topic)
                    faults.append(_prefixed(name, self._jump or missing))
            for held in source.senders.values():
                used, fault, excused = self._usable(source.config, held, now, steady)
                if fault is None:
                    parts.append(_Part(source.config, used))
                    continue
                bad[name] = None
                if not excused:
                    faults.append(_prefixed(name, fault))
        total = sum(len(part.held.obstacles or ()) for part in parts)
        if total > self._config.max_obstacles:
            for part in parts:  # obstacles of an invalid message do not count
                if not part.held.is_checked:
                    self._check_part(part)
            if any(part.held.fault is not None for part in parts):
                return self._usable_sources(now, steady)
            limit = self._config.max_obstacles
            text = f"{total} obstacles in all sources together, limit {limit} (max_obstacles)"
            faults.append(Fault(Status.LIMIT_EXCEEDED, text))
            parts = []
        if clash := self._region_fault(parts):
            faults.append(clash)
            parts = []
        if not parts and not faults:
            # Each source is optional, but without any data no place is known to be free.
            none = Fault(Status.NO_OBSTACLES, "no source has fresh data")
            is_any = any(source.senders for source in self._sources.values())
            faults.append(none if is_any else self._jump or none)
        return parts, tuple(bad), faults[0] if faults else None

    def _nothing_received(self, name: str, topic: str) -> Fault:
        topic = self._topics.get(name, topic)
        return Fault(Status.NO_OBSTACLES, f"no message received on the topic '{topic}'")

    def _region_fault(self, parts: Sequence[_Part]) -> Fault | None:
        """Return why the region does not agree with the other messages."""
        lists = [(part.held.name, part.held.obstacles) for part in parts]
        named = [(name, each) for name, each in lists if each is not None]
        regions = [name for name, each in named if each.has_region]
        if len(regions) > 1:
            text = f"{len(regions)} senders have a region: {', '.join(regions)}; "
            text += "send all outlines and holes from one sender"
            return Fault(Status.INVALID_INPUT, text)
        for name, each in named if regions else ():
            if (each.ids == OUTSIDE).any():
                text = f"{name}: ids: must not be {OUTSIDE}, the id of the outside of the region"
                return Fault(Status.INVALID_INPUT, text)
        return None

    def _usable(
        self, source: SourceConfig, held: _Message, now: int, steady: int
    ) -> tuple[_Message, Fault | None, bool]:
        """Return the message of a sender to use, its fault, and whether the fault is excused.

        The data of an optional source may be missing or too old. All other faults count.
        """
        used, fault = _newest(held, lambda each: self._sender_fault(source, each, now, steady))
        if source.required or fault is None:
            return used, fault, False
        if steady - held.arrived > _ns(source.timeout) and not source.static:
            return used, fault, True
        if held.obstacles is not None and not held.is_checked:
            self._set_fault(held, _shape_fault(_unplaced(source, held.obstacles), self._config))
        fault = held.fault or fault
        return used, fault, fault.status is Status.STALE_OBSTACLES

    def _sender_fault(
        self, source: SourceConfig, held: _Message, now: int, steady: int
    ) -> Fault | None:
        """Return why a message of a sender is not used; None: it is used."""
        if source.static:
            if held.fault is not None and not held.is_misplaced:
                return held.fault
            return self._place_static(held, now) or held.fault
        timeout, clash = source.timeout, held.stamps.clash
        if clash is not None and steady - clash <= CLASH:
            text = f"two publishers use the name '{held.name}'; give each one its own in `source`"
            return Fault(Status.INVALID_INPUT, text)
        fault = held.fault or self._time_fault(held, timeout, Status.STALE_OBSTACLES, now, steady)
        if fault is None and held.pose is None:
            assert held.obstacles is not None
            try:
                target, frame = self._config.check_frame, held.obstacles.frame
                held.pose = _level(held.obstacles, target, self._find(held, target, frame))
            except FrameError as error:
                if held.waits and not held.is_checked:  # check it before its transform is known
                    unplaced = _unplaced(source, held.obstacles)
                    self._set_fault(held, _shape_fault(unplaced, self._config))
                fault = held.fault or Fault(error.status, str(error))
        return fault

    def _place_static(self, held: _Message, now: int) -> Fault | None:
        """Place data that does not move by the present pose of its frame."""
        assert held.obstacles is not None
        try:
            frame = held.obstacles.frame
            pose = lookup.frame_pose(self._config, self._transforms, frame, 0, now)
            _level(held.obstacles, self._config.check_frame, pose)
        except FrameError as error:
            return Fault(error.status, str(error))
        if pose != held.pose:
            if held.pose is not None:
                held.revision = self._revise()
            held.pose = pose
            if held.is_misplaced:  # it is checked again
                held.fault, held.is_checked, held.is_misplaced = None, False, False
        return None

    def _find(self, held: _Message, target: str, frame: str) -> Pose:
        """Return the pose of a message's frame at its stamp.

        Set `waits` of the message: the stamp is newer than the newest transform, so the transform
        may still arrive.
        """
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

    def _present(self, now: int, steady: int) -> _Present:
        """Return the scene of the present data. This checks the shapes of all new messages."""
        twist, built = self._usable_twist(now, steady), None
        while built is None:
            choice = self._choose(twist, now, steady)
            parts, bad, data_fault = self._usable_sources(now, steady)
            complete = choice.fault is None and data_fault is None
            built = self._build(choice, parts, complete=complete)
        built.placed_at = now
        if complete:  # otherwise `later` must look for the fault
            built.revision = self._revision
        return _Present(built, choice, twist, data_fault, bad)

    def _build(self, choice: _Choice, parts: Sequence[_Part], *, complete: bool) -> _Built | None:
        """Return the scene of these messages. None: a message proved to be invalid."""
        key = (self._config_revision, *(part.held.revision for part in parts))
        last = self._history[-1] if self._history else None
        footprint, name = choice.held, choice.name
        last_key = None if last is None else (last.key, last.choice.name)
        if last is not None and last_key == (key, name) and last.footprint is footprint:
            return last
        scene = last.scene if last is not None and last.key == key else self._compose(parts)
        if scene is None:
            return None
        placed = tuple(part.placed for part in parts)
        ends = accumulate(len(each.obstacles) for each in placed)
        built = _Built(
            id=self._next_id,
            key=key,
            complete=complete,
            scene=scene,
            choice=choice,
            footprint=footprint,
            parts=tuple(parts),
            placed=placed,
            spans=tuple(zip(ends, (part.held.name for part in parts), strict=True)),
            region_source=next(
                (p.held.name for p, at in zip(parts, placed, strict=True) if at.region), ""
            ),
            epoch=_epoch(parts),
        )
        self._next_id += 1
        self._history.append(built)
        return built

    def _compose(self, parts: Sequence[_Part]) -> Scene | None:
        try:
            scene = compose_scene(
                [part.placed for part in parts], self._config, _epoch(parts) or 0
            )
        except InputError as error:
            # One message is invalid. Check each one alone, so that the index in the fault is its
            # own.
            for part in parts:
                self._check_part(part)
            if all(part.held.fault is None for part in parts):
                text = f"valid obstacle lists together make an invalid scene: {error}"
                raise RuntimeError(text) from error
            return None
        for part in parts:
            part.held.is_checked = True
        return scene

    def _known(self, id: int) -> _Built | None:
        """Return a snapshot by its id, unless data with a fault was received since."""
        first = max((since for since, check in self._unchecked if check()), default=0)
        self._unchecked.clear()
        if first:
            later = [each for each in self._history if each.id >= first]
            self._history = deque(later, maxlen=HISTORY)
            self._kept = tuple(each for each in self._kept if each.id >= first)
        return self._stored(id)

    def _stored(self, id: int) -> _Built | None:
        """Return a snapshot by its id."""
        known = (*self._history, *self._kept)
        return next((each for each in known if each.id == id), None)

    def _changes(
        self,
        built: _Built,
        needed: Container[str],
        present: _Present | None,
        placed_at: int,
        now: int,
        steady: int,
        *,
        is_good: bool,
    ) -> Iterator[tuple[str, Fault]]:
        """Yield why the data of a snapshot cannot be used any more; nothing: it can be used.

        This is decided here for replies that are sent and for snapshots that a request names.

        Parameters
        ----------
        built : _Built
            The snapshot; no data with a fault was received since.
        needed : container of str
            The messages that the footprints depend on: "footprint", "twist_topic".
        present : _Present or None
            The present data; None: nothing was received since the snapshot, and no footprint
            depends on the twist.
        placed_at : int
            Time since which static data may have moved with its frame [ns]; 0: it must be at its
            present place.
        now, steady : int
            Times [ns].
        is_good : bool
            Whether the snapshot has no fault, for the footprints that are needed.

        Yields
        ------
        str, Fault
            Name of the source, or "footprint"; empty: it concerns all data.
        """
        if built.key[0] != self._config_revision:
            text = "the parameters or a static transform have changed since the snapshot was made"
            yield "", Fault(Status.SNAPSHOT_MISMATCH, text)
        if present and "twist_topic" in needed and self._config.speed_footprints:
            if present.choice.fault is not None:
                yield "footprint", present.choice.fault
            elif present.choice.name != built.choice.name:
                text = f"footprint: the one for the present speed is '{present.choice.name}', "
                text += f"that of the snapshot is '{built.choice.name}'"
                yield "footprint", Fault(Status.SNAPSHOT_MISMATCH, text)
        if "footprint" in needed and built.footprint is not None:
            timeout, stale = self._config.footprint_timeout, Status.STALE_FOOTPRINT
            fault = self._time_fault(built.footprint, timeout, stale, now, steady)
            if fault is not None:
                yield "footprint", _prefixed("footprint", fault)
        for name in self._static_messages(built, is_good=is_good):
            text = "another message was received since the snapshot was made"
            yield name, _prefixed(name, Fault(Status.SNAPSHOT_MISMATCH, text))
        for part, placed in zip(built.parts, built.placed, strict=True):
            name, timeout = part.source.name, part.source.timeout
            if part.source.static:
                fault = self._static_change(part, placed.pose, placed_at, now)
            else:
                fault = self._time_fault(part.held, timeout, Status.STALE_OBSTACLES, now, steady)
            if fault is not None:
                yield name, _prefixed(name, fault)

    def _static_messages(self, built: _Built, *, is_good: bool) -> Iterator[str]:
        """Yield the static sources of which another message was received since a snapshot."""
        used = {(part.source.name, part.held.name): part.held for part in built.parts}
        for name, source in self._sources.items():
            for held in source.senders.values() if source.config.static else ():
                part = used.get((name, held.name))
                # Beside a fault, the message may have been there, but could not be used.
                if part is not held and (part is not None or is_good):
                    yield name

    def _static_change(self, part: _Part, pose: Pose, placed_at: int, now: int) -> Fault | None:
        """Return why static data at a pose cannot be used any more.

        It has no limit of its age. If its frame moves, its place is valid for
        `transform_tolerance`.
        """
        fault = self._place_static(part.held, now)
        if fault is None and part.held.pose != pose:
            passed, limit = (now - placed_at) * 1e-9, self._config.transform_tolerance
            if passed > limit:
                text = f"placed {passed:.3f} s ago in a frame that has moved, limit {limit:g} s"
                fault = Fault(Status.TF_EXTRAPOLATION, f"{text} (transform_tolerance)")
        return fault

    def _view(self, built: _Built, present: _Present, now: int, steady: int) -> Snapshot:
        """Return the snapshot of the present data, or of earlier data that can still be used."""
        stamps = [part.held.stamp for part in built.parts if not part.source.static]
        footprint_age = nan
        if built.footprint is not None:
            footprint_age = (now - built.footprint.stamp) * 1e-9
        elif built.choice.shape is not None:
            footprint_age = 0.0
        # Senders that are not used count too, except "": its messages could not be decoded.
        all_stamps = stamps + [
            held.stamp
            for source in self._sources.values()
            for name, held in source.senders.items()
            if name and not source.config.static
        ]
        obstacle_age = (now - min(all_stamps)) * 1e-9 if all_stamps else nan

        def expiry(name: str, held: _Message, timeout: float) -> Expiry:
            return Expiry(name, held.stamp, timeout, steady - held.received)

        is_by_speed = bool(self._config.speed_footprints and built.choice.name)
        footprint_expiries = []
        if is_by_speed and self._twist is not None:
            timeout = self._config.twist_timeout
            footprint_expiries.append(expiry("twist_topic", self._twist, timeout))
        if built.footprint is not None:
            stamps.append(built.footprint.stamp)
            timeout = self._config.footprint_timeout
            footprint_expiries.append(expiry("footprint", built.footprint, timeout))
        return Snapshot(
            built.id,
            now,
            self._config,
            built.scene,
            built.choice.shape,
            present.fault,
            min(stamps, default=0),
            footprint_age,
            obstacle_age,
            present.bad_sources,
            now if built.epoch is None else built.epoch,
            built.spans,
            built.placed,
            built.choice.outline,
            now if built.footprint is None else built.footprint.stamp,
            (built.choice.name,) if built.choice.name else (),
            self._named,
            present.data_fault,
            present.twist,
            tuple(
                expiry(p.source.name, p.held, 0.0 if p.source.static else p.source.timeout)
                for p in built.parts
            ),
            tuple(footprint_expiries),
            built.region_source,
            max(
                self._placed_again,
                *(part.held.number for part in built.parts if part.source.static),
                0,
            ),
        )


def _unplaced(source: SourceConfig, obstacles: Obstacles, pose: Pose = Pose()) -> Placed:  # noqa: B008
    """Return a list with a pose of its frame, to check its shapes."""
    return Placed(obstacles, pose, source.inflation, source.static)


def _level(obstacles: Obstacles, target: str, pose: Pose) -> Pose:
    """Return the pose of a list's frame; raise `FrameError` if it is tilted too much."""
    if pose.tilt <= obstacles.max_tilt:
        return pose
    found, limit = degrees(pose.tilt), degrees(obstacles.max_tilt)
    text = f"the frame '{obstacles.frame}' is tilted by {found:.3g} degrees against '{target}', "
    text += f"limit {limit:g} for scans, clouds and grids: transform the data into a level frame"
    raise FrameError(Status.TF_UNAVAILABLE, text)


def _shape_fault(unplaced: Placed, config: Config) -> Fault | None:
    """Return why the shapes of a list are not valid. The outlines of a region are in the list."""
    received = unplaced.obstacles
    whole = replace(unplaced, obstacles=received.with_kinds(hulls=True))
    try:
        compose_scene([whole], config, received.stamp)
        region_of(received, unplaced.pose, unplaced.inflation)
    except InputError as error:
        return Fault(error.status, str(error))
    return None


def _outline_fault(points: npt.NDArray[np.float64], config: Config) -> Fault | None:
    try:
        outline(points, config)
    except InputError as error:
        return Fault(error.status, str(error))
    return None


def _epoch(parts: Sequence[_Part]) -> int | None:
    """Return the time zero of a scene [ns]: the oldest stamp of its messages.

    None: all of them are static, so that the scene is the same at every time.
    """
    return min((part.held.stamp for part in parts if not part.source.static), default=None)


def _newest(
    held: _Message, why: Callable[[_Message], Fault | None]
) -> tuple[_Message, Fault | None]:
    """Return the newest message of a sender that can be used, or the last one with its fault.

    A transform often arrives a little later than the data. While the transform of the last message
    may still arrive, the message before it is used as long as it is fresh. A message that is older
    than one with another fault is not used.

    Parameters
    ----------
    held : _Message
        The last message.
    why : callable
        Returns the fault of a message; None: the message can be used.
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


def _order_fault(held: _Message, new: _Message) -> str:
    """Return why a new message is dropped; empty: it is not. `held` is the sender's last one."""
    # `newest` ignores stamps ahead of the clock. Otherwise, all messages after one wrong stamp
    # would be dropped.
    if new.stamps.newest is not None and new.stamp < new.stamps.newest:
        return "a message with an older stamp was dropped"
    if new.sequence == 0:
        return ""
    if new.sequence == held.sequence:
        return f"a second message with the sequence number {held.sequence} was dropped"
    # A lower number with a newer stamp means that the sender was restarted.
    if new.sequence < held.sequence and new.stamp == held.stamp:
        return f"sequence number {new.sequence} was received after {held.sequence} and dropped"
    return ""


def _drop(held: _Message, why: str, steady: int) -> None:
    held.dropped = why
    held.drops += 1
    held.arrived = max(held.arrived, steady)


def _report(
    source: str,
    held: _Message | None,
    used: _Message | None,
    fault: Fault | None,
    excused: bool,
    count: int,
    now: int,
) -> Report:
    """Return the report of a sender with the last message `held`; `used` is in force."""
    if held is None or used is None:
        return Report(source, "", fault, excused)
    age = (now - used.stamp) * 1e-9
    received = held.messages + held.drops
    return Report(source, held.name, fault, excused, age, count, received, held.drops)


def _prefixed(name: str, fault: Fault) -> Fault:
    return Fault(fault.status, f"{name}: {fault.message}")


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
