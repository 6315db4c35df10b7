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
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from math import nan

from ...region import Region
from ...scene import Scene
from ...verdict import Status
from ..frames.poses import SameFrameOnly, TransformSource
from ..parameters.config import Config
from .faults import Fault
from .inbox import (
    AgeLimit,
    Instant,
    age_fault,
    footprint_timeout,
    source_timeout,
    twist_timeout,
)
from .obstacles import Footprint, Obstacles
from .placing import Sender, compose_scene, time_zero
from .seen import Space, all_seen
from .senders import Choice, Present, Received
from .snapshot import Report, Snapshot, empty_snapshot
from .twist import Twist

__all__ = ["Footprint", "World"]

# Number of snapshots that a request can name by id, as long as their data is fresh.
HISTORY = 16
NO_TRANSFORMS: TransformSource = SameFrameOnly()
NO_TOPICS: Mapping[str, str] = {}


@dataclass(slots=True, eq=False)
class _Composed:
    """A scene, and the data that it was composed from."""

    id: int
    is_complete: bool
    scene: Scene
    choice: Choice
    senders: tuple[Sender, ...]
    past: tuple[Sender, ...]
    space: Space
    seen: tuple[tuple[str, Region], ...]  # of senders, past and space
    placed_at: int = 0  # the last time at which its static data was at its present place [ns]


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The data that was used at a time, with its scene, and `TransformSource.late` then."""

    at: Instant
    late: int
    present: Present
    composed: _Composed

    def lasts(self, at: Instant, late: int) -> bool:
        """Return whether the same data is used at a later time, if none was received since."""
        passed = at.now - self.at.now, at.steady - self.at.steady
        return late == self.late and min(passed) >= 0 and max(passed) < self.present.lasts


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
        transforms: TransformSource = NO_TRANSFORMS,
        epoch: int = 0,
        topics: Mapping[str, str] = NO_TOPICS,
    ) -> None:
        self._config = config
        self._lock = threading.RLock()
        self._transforms = transforms
        self._corrections = self._transforms.corrections
        self._steps_back = self._transforms.steps_back
        self._received = Received(config, transforms, topics)
        self._static_revision = 0  # number of static messages and of corrections of transforms
        self._next_id = (epoch << 32) + 1
        self._history: deque[_Composed] = deque(maxlen=HISTORY)
        self._kept: _Composed | None = None
        self._found: _Found | None = None  # None: data was received or deleted since
        # The first id of a snapshot that can be used, and why those before it cannot.
        self._ended = 0, Fault(Status.SNAPSHOT_MISMATCH, "")
        self._newest_now: int | None = None

    @property
    def config(self) -> Config:
        """The present parameters."""
        return self._config

    def reconfigure(self, config: Config) -> None:
        """Change the parameters and keep the data.

        The caller must check with `Config.refusal` that the change is allowed.
        """
        with self._lock:
            self._received.configure(config)
            self._config = config
            self._end_snapshots("the parameters were changed")

    def reset(self) -> None:
        """Delete all data. Every answer is UNKNOWN until fresh data is received."""
        with self._lock:
            self._received.delete()
            self._end_snapshots("all data was deleted")

    def note_step_back(self, now: int, by: int) -> None:
        """Delete all data, because the clock went back by a time, to `now` [ns].

        This is also right if no other call has passed the time before the step.
        """
        with self._lock:
            self._check_clock(max(now + by, self._newest_now or 0))
            self._check_clock(now)

    # ---- messages

    def receive_footprint(self, footprint: Footprint, *, now: int, steady: int) -> None:
        """Store a footprint message. If it is invalid, store its fault; no error is raised."""
        with self._lock:
            at = self._arrival(now, steady)
            fault = self._received.receive_footprint(footprint, at)
            self._note_fault("footprint", fault)

    def receive_twist(self, twist: Twist, *, now: int, steady: int) -> None:
        """Store a twist of the vehicle."""
        with self._lock:
            at = self._arrival(now, steady)
            self._received.receive_twist(twist, at)

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
            at = self._arrival(now, steady)
            if self._config.source(source).static:
                self._static_revision += 1
                self._end_snapshots(f"another message of the static source {source} was received")
            fault = self._received.receive_obstacles(source, obstacles, at)
            self._note_fault(source, fault)

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
            at = self._arrival(now, steady)
            self._received.receive_fault(source, fault, at)
            if source != "twist_topic":  # it does not affect requests that name a footprint
                self._note_fault(source, fault)

    def _arrival(self, now: int, steady: int) -> Instant:
        """Return the time of a message that is about to be stored."""
        self._check_clock(now)
        self._found = None
        return Instant(now, steady)

    def _note_fault(self, source: str, fault: Fault | None) -> None:
        """If a message has a fault, no snapshot from before is used any more."""
        if fault is not None:
            self._end_snapshots(f"a message with a fault was received: {source}: {fault.message}")

    # ---- snapshots

    def snapshot(self, *, now: int, steady: int, require_id: int = 0) -> Snapshot:
        """Return a snapshot of the present data.

        Parameters
        ----------
        now, steady : int
            Times [ns], see the module.
        require_id : int
            Id of an earlier snapshot to return; it must still be usable. 0: the latest.

        Returns
        -------
        Snapshot
            If it is incomplete, `Snapshot.fault` gives the reason.
        """
        with self._lock:
            self._check_clock(now)
            at = Instant(now, steady)
            present, latest = self._present(at)
            if require_id in (0, latest.id):
                return self._view(latest, present, at)
            earlier = self._stored(require_id)
            if earlier is not None and earlier.is_complete:
                needed = {"footprint", "twist_topic"}
                if not any(self._changes(earlier, needed, present, at, is_complete=True)):
                    return self._view(earlier, present, at)
            text = f"snapshot {require_id} is no longer available; "
            text += f"the latest snapshot is {latest.id}"
            fault = present.fault or Fault(Status.SNAPSHOT_MISMATCH, text)
            return empty_snapshot(self._config, fault, now)

    def confirm(self, snapshot: Snapshot, *, now: int, steady: int) -> Snapshot:
        """Return a snapshot with the ages at the time when its answer is sent.

        If it cannot be used any more, the result has no footprint, and its fault gives the reason.
        Times are as for `snapshot`.
        """
        if not snapshot.id:
            return snapshot
        with self._lock:
            self._check_clock(now)
            at = Instant(now, steady)
            present, latest = self._present(at)
            needed = {each.source for each in snapshot.footprint_limits}
            passed = (now - snapshot.stamp) * 1e-9
            last = replace(
                snapshot,
                footprint_age=snapshot.footprint_age + (passed if "footprint" in needed else 0.0),
                max_obstacle_age=snapshot.max_obstacle_age + passed,
            )
            if snapshot.id == latest.id and present.fault is None:
                return last
            composed = self._stored(snapshot.id)
            if composed is None:
                return last.invalidated(self._end_of(snapshot.id))
            is_complete = snapshot.fault is None
            changes = list(self._changes(composed, needed, present, at, is_complete=is_complete))
            if not changes:
                return last
            sources = [name for name, _ in changes if name not in ("", "footprint")]
            bad = dict.fromkeys((*last.bad_sources, *sources))
            return replace(last.invalidated(changes[0][1]), bad_sources=tuple(bad))

    def keep(self, snapshot: Snapshot) -> None:
        """Keep the data of a snapshot for `confirm`, until this is called again.

        Without this, a snapshot is no longer available after `HISTORY` new ones. Data that was
        deleted because of a fault, a reset or a step of the clock is not kept.
        """
        with self._lock:
            self._kept = next((each for each in self._history if each.id == snapshot.id), None)

    def _stored(self, id: int) -> _Composed | None:
        """Return the scene of a snapshot by its id, unless something has ended its use."""
        known = (*self._history, *([self._kept] if self._kept else []))
        return next((each for each in known if each.id == id), None)

    def _end_snapshots(self, why: str) -> None:
        """Stop the use of all earlier snapshots."""
        self._end_with(Fault(Status.SNAPSHOT_MISMATCH, f"since the snapshot was made, {why}"))

    def _end_with(self, fault: Fault) -> None:
        self._history.clear()
        self._kept = self._found = None
        self._ended = self._next_id, fault

    def _end_of(self, id: int) -> Fault:
        """Return why a snapshot is not stored any more."""
        first, why = self._ended
        gone = Fault(Status.SNAPSHOT_MISMATCH, f"snapshot {id} is no longer available")
        return why if id < first else gone

    def _changes(
        self,
        composed: _Composed,
        needed: Set[str],
        present: Present,
        at: Instant,
        *,
        is_complete: bool,
    ) -> Iterator[tuple[str, Fault]]:
        """Yield (source, fault) why a snapshot that is stored cannot be used any more.

        This is decided here for replies that are sent and for snapshots that a request names.
        What ends the use of all earlier snapshots, see `_end_snapshots`, has removed them. Beside
        a fault only COLLISION is sent, which a fault of the present data does not change.
        """
        footprint = composed.choice.message if "footprint" in needed else None
        timeout = footprint_timeout(self._config)
        if footprint is not None and (fault := age_fault(footprint, timeout, at)):
            yield "footprint", fault.of_source("footprint")
        name, present_name = composed.choice.name, present.choice.name
        if needed and present.choice.fault is not None:
            yield "footprint", present.choice.fault
        elif "twist_topic" in needed and name != present_name:
            text = f"footprint: the one for the present speed is '{present_name}', "
            text += f"that of the snapshot is '{name}'"
            yield "footprint", Fault(Status.SNAPSHOT_MISMATCH, text)
        for each in composed.senders:
            if fault := age_fault(each.message, source_timeout(each.source), at):
                yield each.source.name, fault.of_source(each.source.name)
        static = [each for each in composed.senders if each.source.static]
        moved = [each for each in static if each not in present.senders]
        if not moved:
            composed.placed_at = at.now
        passed, limit = (at.now - composed.placed_at) * 1e-9, self._config.transform_tolerance
        if passed > limit:
            text = f"placed {passed:.3f} s ago in a frame that has moved, limit {limit:g} s"
            fault = Fault(Status.TF_EXTRAPOLATION, f"{text} (transform_tolerance)")
            yield from ((each.source.name, fault.of_source(each.source.name)) for each in moved)
        if is_complete and present.data_fault is not None:
            yield "", present.data_fault

    # ---- the clock

    def _check_clock(self, now: int) -> None:
        """Delete all data if the clock went back, because ages cannot be computed any more.

        There is no tolerance: even a small step back makes data look younger than it is.
        """
        newest = self._newest_now
        # The transforms may have read the clock between two calls.
        is_back = self._transforms.steps_back != self._steps_back
        if newest is not None and (now < newest or is_back):
            by = f" by {(newest - now) * 1e-9:.9g} s" if now < newest else ""
            text = f"the clock went back{by}, all data was deleted; waiting for fresh data"
            jump = Fault(Status.CLOCK_JUMP, text)
            self._received.delete(jump)
            self._end_with(jump)
        self._newest_now = now
        self._transforms.set_time(now)
        self._steps_back = self._transforms.steps_back
        if self._transforms.corrections != self._corrections:
            self._corrections = self._transforms.corrections
            self._static_revision += 1
            self._received.place_again()
            self._end_snapshots("a static transform was corrected or became a moving one")

    # ---- the present data

    def _present(self, at: Instant) -> tuple[Present, _Composed]:
        """Return the present data and its scene."""
        found, late = self._found, self._transforms.late
        if found is None or not found.lasts(at, late):
            present = self._received.present(at)
            if self._received.is_misplaced:
                self._received.is_misplaced = False
                self._end_snapshots("data that is not valid at its place was received")
            found = self._found = _Found(at, late, present, self._composed(present))
        found.composed.placed_at = at.now
        return found.present, found.composed

    def _composed(self, present: Present) -> _Composed:
        """Return the scene of the present data."""
        choice, senders = present.choice, present.senders
        last = self._history[-1] if self._history else None
        of_scene = senders, present.past, present.space
        if last is not None and (last.senders, last.past, last.space) == of_scene:
            scene, seen = last.scene, last.seen
            same = last.choice.name == choice.name and last.choice.shape is choice.shape
            if same and last.choice.message is choice.message:
                return last
        else:
            seen = all_seen((*senders, *present.past), present.space)
            scene = compose_scene(senders, self._config, seen)
        is_complete = present.fault is None
        composed = _Composed(self._next_id, is_complete, scene, choice, *of_scene, seen)
        self._next_id += 1
        self._history.append(composed)
        return composed

    # ---- results

    def reports(self, *, now: int, steady: int) -> list[Report]:
        """Return the state of each sender, the footprint first. Times are as for `snapshot`."""
        with self._lock:
            self._check_clock(now)
            at = Instant(now, steady)
            present, _ = self._present(at)  # this checks each part at its place
            return self._received.reports(present, at)

    def _view(self, composed: _Composed, present: Present, at: Instant) -> Snapshot:
        """Return the snapshot of the present data, or of earlier data that can still be used."""
        now, config, choice, senders = at.now, self._config, composed.choice, composed.senders
        stamps = [each.message.stamp for each in senders if not each.source.static]
        all_stamps = (*stamps, *present.stamps)
        epoch, twist = time_zero(senders), present.choice.twist
        footprint_age = nan if choice.shape is None else 0.0
        footprint_limits = []
        if twist is not None:
            timeout = twist_timeout(config)
            footprint_limits.append(AgeLimit.of("twist_topic", twist, timeout, at.steady))
        if choice.message is not None:
            footprint_age = (now - choice.message.stamp) * 1e-9
            stamps.append(choice.message.stamp)
            timeout = footprint_timeout(config)
            footprint_limits.append(AgeLimit.of("footprint", choice.message, timeout, at.steady))
        return Snapshot(
            id=composed.id,
            stamp=now,
            config=config,
            scene=composed.scene,
            footprint=choice.shape,
            fault=present.fault,
            oldest_data_stamp=min(stamps, default=0),
            footprint_age=footprint_age,
            max_obstacle_age=(now - min(all_stamps)) * 1e-9 if all_stamps else nan,
            bad_sources=present.bad_sources,
            epoch=now if epoch is None else epoch,
            steady=at.steady,
            senders=senders,
            outline=choice.outline,
            outline_stamp=now if choice.message is None else choice.message.stamp,
            footprint_names=(choice.name,) if choice.name else (),
            footprints=self._received.named,
            data_fault=present.data_fault,
            twist=present.twist,
            footprint_limits=tuple(footprint_limits),
            static_revision=self._static_revision,
            seen=composed.seen,
        )
