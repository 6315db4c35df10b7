# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A process of the node without ROS: what ros/ does in callbacks, with virtual times.

It follows ros/node.py, ros/services.py and ros/snapshots.py, and uses ros/exchange.py and
ros/pauses.py themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from gjk_collision import InputError, Status, Verdict
from gjk_collision.ros import exchange as exchange_module
from gjk_collision.ros.exchange import Exchange
from gjk_collision.ros.pauses import Pauses
from gjk_collision.server import dispatch, lookup, questions
from gjk_collision.server.config import Config
from gjk_collision.server.dispatch import Request
from gjk_collision.server.frames import FrameError
from gjk_collision.server.mirrored import described
from gjk_collision.server.obstacles import Footprint, Obstacles
from gjk_collision.server.snapshot import Fault, Snapshot, empty_snapshot
from gjk_collision.server.transforms import Placement, TransformTree
from gjk_collision.server.twist import Twist
from gjk_collision.server.world import World

from .facts import SECOND, Box, Message, Question

REFRESH, REPEAT = 0.25, SECOND  # of ros/snapshots.py
UP = (0.0, 0.0, 0.0, 1.0)
BOW = [(-1, -1), (1, 1), (1, -1), (-1, 1)]  # an outline that crosses itself


class Server:
    """One process of the node. The runner sets `true` before each call."""

    def __init__(self, config: Config, epoch: int, clock: Callable[[int], int], true: int) -> None:
        self.config, self.epoch, self.clock, self.true = config, epoch, clock, true
        self.transforms: Any = TransformTree()
        self.world: World | None = None
        self.pauses = Pauses(true)
        self.counter = self.sequence = 0
        self.last_key: object = None
        self.last_sent = 0
        self.time: Any = SimpleNamespace(perf_counter_ns=lambda: self.true)

    # ---- as in ros/node.py

    def now(self) -> int:
        """Return the ROS time."""
        return self.clock(self.true)

    def activate(self) -> None:
        """Start with no data, under another epoch."""
        self.epoch += 1
        self.world = World(self.config, self.transforms, self.epoch)

    def deactivate(self) -> None:
        """Delete all data."""
        self.world = None

    def note_time(self) -> None:
        """A simulated clock reports each step."""
        if self.world is not None:
            self.world.note_time(self.now())
        else:
            self.transforms.set_time(self.now())

    def set_parameter(self, name: str, value: float) -> bool:
        """Change a parameter; return whether it was accepted."""
        try:
            config = self.config.changed({name: value})
        except InputError:
            return False
        if self.config.refusal(config, active=self.world is not None):
            return False
        self.config = config
        if self.world is not None:
            self.world.reconfigure(config)
        return True

    def receive(self, message: Message) -> None:
        """Receive one message."""
        if message.kind in ("mount", "tf"):
            self._receive_transform(message)
            return
        if self.world is None:
            return
        now = self.now()
        steady = self.pauses.earliest(self.true, message.sent)
        world, source = self.world, message.source
        times = {"now": now, "steady": steady}
        if message.bad == "undecodable":
            name = "twist_topic" if source == "twist" else source
            world.receive_fault(name, Fault(Status.INTERNAL_ERROR, "not decoded"), **times)
        elif message.kind == "footprint":
            world.receive_footprint(_footprint(message), **times)
        elif message.kind == "twist":
            world.receive_twist(Twist("odom", message.stamp, message.speed, 0.0, 0.0), **times)
        else:
            world.receive_obstacles(source, _obstacles(message), **times)

    def _receive_transform(self, message: Message) -> None:
        now, static = self.now(), message.kind == "mount"
        self.transforms.set_time(now)
        child, (x, y) = ("sensor" if static else "map"), message.place
        placement = Placement((x, y, 0.0), UP)
        self.transforms.insert("odom", child, message.stamp, placement, static=static)

    def reset(self) -> None:
        """Delete all data, as the service does."""
        if self.world is not None:
            self.world.reset()

    def snapshot(self, require_id: int = 0) -> Snapshot:
        """Return the present snapshot, or the one with this id."""
        if self.world is None:
            return empty_snapshot(self.config, Fault(Status.NOT_ACTIVE, "inactive"), self.now())
        return self.world.snapshot(now=self.now(), steady=self.true, require_id=require_id)

    def later(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with the present ages, to send an answer from it."""
        if self.world is None:
            fault = Fault(Status.NOT_ACTIVE, "inactive")
            return snapshot.invalidated(fault) if snapshot.id else snapshot
        return self.world.later(snapshot, now=self.now(), steady=self.true)

    # ---- as in ros/services.py

    def begin(self, service: str, message: Any, *, is_batch: bool) -> Asked:
        """Begin to answer a request: its first snapshot, and the answer from it."""
        vars(exchange_module)["time"] = self.time
        asked = Asked(service, message, Exchange(self))
        try:
            first = asked.exchange.first_snapshot(getattr(message, "require_snapshot_id", 0))
            asked.first = first
            asked.first = first = Request(service, message).chosen(first)
            if is_batch and self.world is not None:
                self.world.keep(first)
            asked.answer = self._answer(asked, first)
        except (InputError, FrameError) as error:
            asked.error = Fault(error.status, str(error))
        return asked

    def end(self, asked: Asked) -> tuple[Any, Snapshot]:
        """Return the reply that is sent now, and its snapshot."""
        vars(exchange_module)["time"] = self.time
        assert asked.first is not None
        if asked.error is None:
            try:
                verdict = _verdict_of(asked.answer)
                last = asked.exchange.final_snapshot(asked.first, verdict)
                if last.fault is not asked.first.fault:
                    asked.answer = self._answer(asked, last)
                return asked.answer, last
            except (InputError, FrameError) as error:
                asked.error = Fault(error.status, str(error))
        last, fault = self.later(asked.first), asked.error
        return dispatch.none(asked.service, fault), last

    def _answer(self, asked: Asked, snapshot: Snapshot) -> Any:
        transforms = asked.exchange.transforms
        return Request(asked.service, asked.message).ask(
            snapshot, transforms, asked.exchange.is_late
        )

    # ---- as in ros/snapshots.py and ros/node.py

    def publish_change(self) -> SimpleNamespace | None:
        """Return the message for ~/snapshot if one is to be sent."""
        snapshot = self.snapshot()
        key = _key(snapshot)
        if key == self.last_key and self.true - self.last_sent < REPEAT:
            return None
        self.last_key, self.last_sent = key, self.true
        self.sequence += 1
        message: SimpleNamespace = as_message(described(snapshot, self.sequence))
        return message

    def beat(self) -> tuple[SimpleNamespace, Snapshot, Any]:
        """Return a heartbeat, with its snapshot and the answer in it."""
        vars(exchange_module)["time"] = self.time
        exchange = Exchange(self)
        self.counter += 1
        first = exchange.first_snapshot()
        ego = lookup.ego_pose(first.config, exchange.transforms, first.stamp)
        found = questions.with_time_to_collision(questions.state(first, ego), first, ego)
        last = exchange.final_snapshot(first, found.answer.verdict)
        if last.fault is not first.fault:
            found = questions.state(last, ego)
        answer = found.answer
        message = SimpleNamespace(
            counter=self.counter,
            snapshot_sequence=self.sequence,
            header=SimpleNamespace(stamp=as_time(self.now())),
            info=SimpleNamespace(snapshot_id=last.id, config_hash=last.config.hash),
            verdict=SimpleNamespace(status=int(answer.status), message=answer.message),
        )
        return message, last, answer


@dataclass
class Asked:
    """A request that is being answered."""

    service: str
    message: Any
    exchange: Exchange
    first: Snapshot | None = None
    answer: Any = None
    error: Fault | None = None


def request_of(question: Question, required: int) -> Any:
    """Return a question as the request of ~/check_poses."""
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=question.frame, stamp=as_time(0)),
        poses=rows_of(question).ravel(),
        times=np.array(question.times),
        margin=question.margin,
        mode=0,
        k=0,
        stop_at_first=False,
        group_offsets=(),
        footprint="",
        footprints=list(question.names),
        which=np.array(question.which, np.uint8),
        require_snapshot_id=required,
    )


def rows_of(question: Question) -> Any:
    """Return the poses of a question (n, 3)."""
    return np.array([(x, y, 0.0) for x, y in question.poses])


def as_time(value: int) -> SimpleNamespace:
    """Return a builtin_interfaces/Time."""
    return SimpleNamespace(sec=value // SECOND, nanosec=value % SECOND)


def as_message(value: Any, name: str = "") -> Any:
    """Return fields as `described` makes them as an object with the fields of a message."""
    if isinstance(value, Mapping):
        return SimpleNamespace(**{key: as_message(each, key) for key, each in value.items()})
    if isinstance(value, list):
        return [as_message(each, name) for each in value]
    is_time = name in ("stamp", "time_zero", "oldest_data_stamp", "footprint_stamps")
    return as_time(value) if is_time else value


def _key(snapshot: Snapshot) -> object:
    faults = [None if f is None else f.status for f in (snapshot.fault, snapshot.data_fault)]
    stamps = [
        int(each.stamp / (REFRESH * each.timeout * 1e9)) for each in snapshot.footprint_expiries
    ]
    return snapshot.id, snapshot.config.hash, *faults, snapshot.bad_sources, *stamps


def _verdict_of(found: Any) -> Verdict:
    return getattr(found, "answer", found).verdict  # type: ignore[no-any-return]


def _footprint(message: Message) -> Footprint:
    hx, hy = message.size
    points = np.array([(hx, hy), (-hx, hy), (-hx, -hy), (hx, -hy)])
    if message.bad == "value":
        points[1, 0] = np.nan
    if message.bad == "shape":
        points = np.array([(0.0, 0.0), (1.0, 1.0)])[:1]
    return Footprint("odom", message.stamp, points)


def _corners(box: Box) -> list[tuple[float, float]]:
    if not box.hx and not box.hy:
        return [(0.0, 0.0)]
    return [(box.hx, box.hy), (-box.hx, box.hy), (-box.hx, -box.hy), (box.hx, -box.hy)]


def _obstacles(message: Message) -> Obstacles:
    boxes = message.boxes
    outlines = [_corners(each) for each in boxes]
    kinds = [0] * len(boxes)
    radius = [each.r for each in boxes]
    if message.bad == "shape":
        outlines[0], kinds[0] = [(float(x), float(y)) for x, y in BOW], 1
    if message.bad == "value":
        radius[0] = float("nan")
    flat = [value for outline in outlines for point in outline for value in point]
    velocities = [v for each in boxes for v in (each.vx, each.vy, 0.0)]
    return Obstacles(
        message.frame,
        message.stamp,
        message.sender,
        message.number,
        np.arange(len(boxes), dtype=np.int64),
        np.array(kinds, np.int64),
        np.cumsum([0, *map(len, outlines)]),
        np.array(flat, float),
        np.array(radius, float),
        np.array([v for each in boxes for v in (each.x, each.y, 0.0)], float),
        np.array(velocities, float),
    )
