# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server without ROS: its states, the data that it receives, and its heartbeat.

An `Exchange` is one request or heartbeat: its time budget, and the check that its answer may still
be sent.

The node in ros/ reads the clocks, passes on messages and calls, and publishes the results. A
replay does the same with the times of a log.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .._core import Servers
from ..errors import InputError
from ..verdict import Status, Verdict
from .adapters.updates import Grids
from .data.faults import Fault
from .data.obstacles import Footprint, Obstacles
from .data.snapshot import Report, Snapshot, empty_snapshot
from .data.twist import Twist
from .data.world import NO_TOPICS, World
from .frames import lookup
from .frames.poses import FrameError, Pose, SameFrameOnly, Transforms, TransformSource
from .parameters.config import Config
from .pauses import Pauses
from .publication import Publication
from .services import state
from .services.answers import Answer, fault_of, info_fields, refused

__all__ = ["MAX_FIRST_EPOCH", "UNREADABLE", "Exchange", "Heartbeat", "Server", "Shell"]

# A process begins with an epoch of snapshot ids from 1 to this number, see `World`. Each
# activation has another epoch, so that ids are never used again. A replay has the epoch 0.
MAX_FIRST_EPOCH = 2**31
# Stands for the epoch in a heartbeat that cannot be decoded.
UNREADABLE = 2**32 - 1

_STOPPED = Fault(
    Status.SNAPSHOT_MISMATCH,
    "the process was stopped for more than 3 s, so another server with this name may have taken "
    "its place: wait 3 s",
)


class Shell(Protocol):
    """What the server needs from its process."""

    def now(self) -> int:
        """Return the present time [ns], with which stamps are compared."""

    def steady(self) -> int:
        """Return the present steady time [ns]."""

    def note_change(self) -> None:
        """Publish the snapshot soon, because the data has changed."""

    def log_error(self, where: str, error: Exception) -> None:
        """Write an internal error to the log."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The content of a ``msg/CollisionState``.

    Attributes
    ----------
    counter : int
        Number of the heartbeat.
    epoch : int
        Epoch of the server, see `Server`.
    sequence : int
        Number of the last message on ``~/snapshot``; 0: none.
    stamp : int
        Time of the heartbeat [ns].
    found : Answer
        The verdict at the present pose of the vehicle.
    snapshot : Snapshot
        The data that it is from.
    ego : Pose or Fault
        The present pose of the vehicle in the check frame.
    seconds : float
        Time that the computation took [s].
    """

    counter: int
    epoch: int
    sequence: int
    stamp: int
    found: Answer
    snapshot: Snapshot
    ego: Pose | Fault
    seconds: float

    def fields(self) -> dict[str, Any]:
        """Return the fields of the message, as `Answer.fields`."""
        return {
            "header": {"stamp": self.stamp, "frame_id": self.snapshot.config.check_frame},
            "counter": self.counter,
            "epoch": self.epoch,
            "info": info_fields(self.snapshot, self.seconds),
            "snapshot_sequence": self.sequence,
            **self.found.fields(),
        }


class Server:
    """What the node decides.

    Its methods must be called in one thread.

    Parameters
    ----------
    shell : Shell
        The process that it runs in.
    epoch : int
        Epoch of the snapshot ids before the first activation. Each activation adds 1. -1: the
        first activation has the epoch 0.

    Attributes
    ----------
    config : Config
        Present parameters.
    transforms : TransformSource
        Source of the poses between frames.
    errors : int
        Number of internal errors since the start; normally 0.
    """

    def __init__(self, shell: Shell, epoch: int) -> None:
        self._shell = shell
        self._first_epoch = self._epoch = epoch
        self.config = Config()
        self.transforms: TransformSource = SameFrameOnly("the node is not configured")
        self.errors = 0
        self.world: World | None = None  # while active
        self.grids = Grids()
        self._reason = "not configured"
        self._counter = 0
        self._publication = Publication()
        self._pauses = Pauses(self.steady())
        self._servers = Servers()  # others that publish on ~/state
        # Steady times of the last call of `note_activity`, and of the end of the last long stop.
        self._last_activity: int | None = None
        self._resumed: int | None = None

    def now(self) -> int:
        """Return the present time [ns], with which stamps are compared."""
        return self._shell.now()

    def steady(self) -> int:
        """Return the present steady time [ns]."""
        return self._shell.steady()

    def note_error(self, where: str, error: Exception) -> None:
        """Log and count an internal error."""
        self.errors += 1
        self._shell.log_error(where, error)

    # ---- life

    @property
    def is_active(self) -> bool:
        """Whether the server receives data and answers requests from it."""
        return self.world is not None

    def configure(self, config: Config, transforms: TransformSource) -> None:
        """Use these parameters and transforms. The server is not active."""
        self.config, self.transforms = config, transforms
        self._pauses = Pauses(self.steady())
        self._last_activity = None
        self._reason = "inactive"

    def activate(self, topics: Mapping[str, str] = NO_TOPICS) -> None:
        """Start to receive data and to answer requests. Earlier data is not used.

        `topics` are the resolved names of the topics, as for `World`.
        """
        self._epoch += 1
        self.world = World(self.config, self.transforms, self._epoch, topics)
        self.grids = Grids()  # updates may have been missed
        self._shell.note_change()

    def deactivate(self) -> None:
        """Delete all data."""
        self.world = None
        self._shell.note_change()

    def release(self, reason: str) -> None:
        """Delete all data and the transforms. `reason` is the message of replies."""
        self.deactivate()
        self.transforms = SameFrameOnly("the node is not configured")
        self._reason = reason

    def refusal(self, config: Config) -> str:
        """Return why the parameters may not be changed to these now; empty: they may."""
        return self.config.refusal(config, active=self.is_active)

    def reconfigure(self, config: Config) -> None:
        """Change the parameters and keep the data. `refusal` must allow it."""
        self.config = config
        if self.world is not None:
            self.world.reconfigure(config)
        self._shell.note_change()

    def reset(self) -> tuple[bool, str]:
        """Delete all data; return whether the server is active, and a message."""
        if self.world is None:
            return False, f"the node has no data: {self._reason}"
        self.world.reset()
        self.grids = Grids()
        self._shell.note_change()
        return True, "all data deleted; answers are UNKNOWN until fresh data is received"

    # ---- data

    def note_activity(self) -> None:
        """Note that the process takes messages now. Call this every `pauses.PERIOD`."""
        steady = self.steady()
        self._note_stop(steady)
        self._last_activity = steady
        self._pauses.note_activity(steady)

    def receive_heartbeat(self, epoch: int) -> Fault | None:
        """Receive a heartbeat on ~/state: its own, or that of another server with this name.

        While there is another one, each request gets two replies, so all answers are UNKNOWN.

        Parameters
        ----------
        epoch : int
            The field of the heartbeat, or `UNREADABLE`.

        Returns
        -------
        Fault or None
            Why all answers are UNKNOWN, if another server was not known before this.
        """
        if self._first_epoch <= epoch <= self._epoch:
            return None
        steady = self.steady()
        before = self._servers.fault(self._epoch, steady)
        self._servers.note(epoch, steady)
        return fault_of(self._servers.fault(self._epoch, steady)) if before is None else None

    def _name_fault(self) -> Fault | None:
        """Return why another server may answer under this name; None: there is none."""
        steady = self.steady()
        self._note_stop(steady)
        if self._resumed is not None and steady - self._resumed <= Servers.OTHER:
            return _STOPPED
        return fault_of(self._servers.fault(self._epoch, steady))

    def _note_stop(self, steady: int) -> None:
        if self._last_activity is not None and steady - self._last_activity > Servers.OTHER:
            self._resumed = steady

    def note_step_back(self, by: int) -> None:
        """Delete the data, because the clock went back by a time [ns]."""
        if self.world is not None:
            self.world.note_step_back(self.now(), by)
            self.grids = Grids()
            self._shell.note_change()

    def earliest(self, sent: int) -> int:
        """Return the earliest steady time at which a message that is read now can have arrived.

        `sent` is the steady time at which it was sent [ns], see `pauses.sending_time`.
        """
        return self._pauses.earliest(self.steady(), sent)

    def receive(
        self, source: str, read: Callable[[], Obstacles | Footprint | Twist], arrival: int
    ) -> Exception | None:
        """Receive a message, or the fault that it cannot be used.

        Parameters
        ----------
        source : str
            Name of the source, "footprint" or "twist_topic".
        read : callable
            Decodes and converts the message. Any error that it raises is a fault of the source.
        arrival : int
            The earliest steady time at which it can have arrived [ns].

        Returns
        -------
        Exception or None
            The error that `read` raised.
        """
        world = self.world
        if world is None:
            return None
        times = {"now": self.now(), "steady": arrival}
        why: Exception | None = None
        try:
            data = read()
        except Exception as error:
            why = error
            fault = Fault(Status.INTERNAL_ERROR, f"the message cannot be decoded: {error!r}")
            if isinstance(error, InputError):  # decoded, but invalid
                fault = Fault.of(error)
            world.receive_fault(source, fault, **times)
        else:
            if isinstance(data, Footprint):
                world.receive_footprint(data, **times)
            elif isinstance(data, Twist):
                world.receive_twist(data, **times)
            else:
                world.receive_obstacles(source, data, **times)
        self._shell.note_change()
        return why

    def snapshot(self, require_id: int = 0) -> Snapshot:
        """Return the present snapshot, or the earlier one with this id; 0: the present one."""
        now, steady = self.now(), self.steady()
        if self.world is None:
            return empty_snapshot(self.config, Fault(Status.NOT_ACTIVE, self._reason), now)
        if now == 0:
            # Before the first message on /clock. Data stamped 0 would be fresh.
            text = "no time received on /clock yet: use_sim_time needs its publisher"
            fault = Fault(Status.CLOCK_JUMP, text)
            return empty_snapshot(self.config, fault, now)
        snapshot = self.world.snapshot(now=now, steady=steady, require_id=require_id)
        other = self._name_fault()
        return snapshot if other is None else snapshot.invalidated(other)

    def confirm(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with the present ages, to send an answer from it."""
        now, steady = self.now(), self.steady()
        if self.world is None:  # deactivated since the snapshot was made, if it has an id
            fault = Fault(Status.NOT_ACTIVE, self._reason)
            return snapshot.invalidated(fault) if snapshot.id else snapshot
        last = self.world.confirm(snapshot, now=now, steady=steady)
        other = self._name_fault() if snapshot.id else None
        return last if other is None else last.invalidated(other)

    def keep(self, snapshot: Snapshot) -> None:
        """Keep the data of a snapshot for `confirm`, until this is called again."""
        if self.world is not None:
            self.world.keep(snapshot)

    def reports(self) -> list[Report]:
        """Return the state of each sender; empty while the server is not active."""
        now, steady = self.now(), self.steady()
        return [] if self.world is None else self.world.reports(now=now, steady=steady)

    # ---- for mirrors and monitors

    def publish(self, subscribers: int, send: Callable[[dict[str, Any]], Any]) -> int:
        """Publish the snapshot if necessary, see `Publication.publish`.

        Returns
        -------
        int
            Sequence number of the message with the present snapshot; 0: there is no subscriber,
            or an error occurred.
        """
        if not subscribers:
            return self._publication.stop()
        try:
            present = self.snapshot()
            return self._publication.publish(present, subscribers, self.steady(), send)
        except Exception as error:
            self.note_error("~/snapshot", error)
            return 0

    def beat(self, sequence: int, fill: Callable[[Heartbeat], Any]) -> tuple[Any, Heartbeat, bool]:
        """Make a heartbeat.

        Parameters
        ----------
        sequence : int
            What `publish` returned.
        fill : callable
            Makes the message.

        Returns
        -------
        (object, Heartbeat, bool)
            The message, its content, and whether no error occurred. After an error the verdict is
            UNKNOWN.
        """
        exchange = Exchange(self)
        self._counter += 1
        try:
            first = exchange.first_snapshot()
            ego = self._ego(first, exchange.transforms)
            found = state(first, ego, first.twist)
            last = exchange.final_snapshot(first, found.verdict)
            if last.fault is not first.fault:
                found = state(last, ego, None)
            made = self._heartbeat(sequence, found, last, ego, exchange)
            return fill(made), made, True
        except Exception as error:
            self.note_error("~/state", error)
            fault = Fault(Status.INTERNAL_ERROR, repr(error))
            last = exchange.snapshot_or_empty(fault)
            made = self._heartbeat(
                sequence, refused("CollisionState", fault), last, fault, exchange
            )
            return fill(made), made, False

    def _heartbeat(
        self,
        sequence: int,
        found: Answer,
        snapshot: Snapshot,
        ego: Pose | Fault,
        exchange: "Exchange",
    ) -> Heartbeat:
        stamp = self.now()
        # from the time of the snapshot to the stamp of the message
        left = found.time_to_collision - (stamp - snapshot.stamp) * 1e-9
        left = 0.0 if left < 0.0 else left  # NaN stays NaN
        found = replace(found, results=found.results | {"time_to_collision": left})
        return Heartbeat(
            self._counter,
            max(self._epoch, 0),
            sequence,
            stamp,
            found,
            snapshot,
            ego,
            exchange.seconds,
        )

    def _ego(self, snapshot: Snapshot, transforms: Transforms) -> Pose | Fault:
        try:
            return lookup.ego_pose(snapshot.config, transforms, snapshot.stamp)
        except FrameError as error:
            return Fault.of(error)


class Exchange:
    """A request or a heartbeat, from its arrival to its answer.

    Parameters
    ----------
    server : Server
        The server that received the request.

    Attributes
    ----------
    transforms : Transforms
        Source of the poses between frames.
    snapshot : Snapshot or None
        The snapshot of the answer; None: `first_snapshot` was not called yet.
    """

    def __init__(self, server: "Server") -> None:
        self._server = server
        self._begin = server.steady()
        self.transforms = _Present(server.transforms)
        self.snapshot: Snapshot | None = None

    @property
    def seconds(self) -> float:
        """Time since the arrival [s]."""
        return (self._server.steady() - self._begin) * 1e-9

    def is_late(self) -> bool:
        """Return whether the time budget is used up."""
        return self.seconds > self._server.config.time_budget

    def first_snapshot(self, require_id: int = 0, *, in_time: bool = True) -> Snapshot:
        """Return the snapshot to answer from.

        Parameters
        ----------
        require_id : int
            Id of the requested snapshot; 0: the latest.
        in_time : bool
            Whether the time budget applies. If it is used up after the scene was built, the result
            has no footprint and the fault TIME_BUDGET.
        """
        self.snapshot = self._server.snapshot(require_id)
        if in_time and self.snapshot.footprint is not None and self.is_late():
            budget = self._server.config.time_budget
            text = f"building the scene took {self.seconds:.3f} s, limit {budget:g} s"
            text = f"{text} (time_budget)"
            self.snapshot = self.snapshot.invalidated(Fault(Status.TIME_BUDGET, text))
        return self.snapshot

    def snapshot_or_empty(self, fault: Fault) -> Snapshot:
        """Return the snapshot; if an error prevented it, return an empty one with this fault."""
        return self.snapshot or empty_snapshot(self._server.config, fault, self._server.now())

    def final_snapshot(self, snapshot: Snapshot, verdict: Verdict) -> Snapshot:
        """Return a snapshot with the ages at the time when its answer is sent.

        If the answer must not be sent, the result has no footprint and a new fault: the data or a
        pose has become too old, or the time budget is used up. A COLLISION is sent even if the
        time budget is used up.
        """
        last = self._server.confirm(snapshot)
        if last.fault is not snapshot.fault or last.footprint is None:
            return last
        # If a transform is stamped ahead of the snapshot, the pose was computed for the time of
        # the snapshot.
        stamps = {f: min(stamp, snapshot.stamp) for f, stamp in self.transforms.stamps.items()}
        try:
            lookup.check_age(last.config, stamps, self._server.now())
        except FrameError as error:
            return last.invalidated(Fault.of(error))
        if verdict in (Verdict.FREE, Verdict.MARGIN) and self.is_late():
            budget = self._server.config.time_budget
            text = f"the answer took {self.seconds:.3f} s, limit {budget:g} s (time_budget)"
            text = f"{text}: send fewer poses in a request, or raise it"
            return last.invalidated(Fault(Status.TIME_BUDGET, text))
        return last


class _Present:
    """Transforms that look up each pose only once, and store the stamp of each `latest` one.

    A pose that was looked up before can be used in any thread.
    """

    def __init__(self, transforms: Transforms) -> None:
        self._transforms = transforms
        self._results: dict[tuple[Any, ...], Any] = {}  # arguments -> result or `FrameError`
        self.stamps: dict[str, int] = {}

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`."""
        pose: Pose = self._once(self._transforms.lookup, target, source, stamp)
        return pose

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        pose, self.stamps[source] = self._once(self._transforms.latest, target, source)
        return pose, self.stamps[source]

    def _once(self, find: Callable[..., Any], *arguments: Any) -> Any:
        if arguments not in self._results:
            try:
                self._results[arguments] = find(*arguments)
            except FrameError as error:
                self._results[arguments] = error
        result = self._results[arguments]
        if isinstance(result, FrameError):
            raise result
        return result
