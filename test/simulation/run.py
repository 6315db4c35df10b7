# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Executes a plan: the processes, the network between them, and the questions to the oracle."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from zlib import crc32

from gjk_collision import Status, Verdict
from gjk_collision.ros import exchange
from gjk_collision.server.config import Config

from .clocks import Clock
from .facts import MS, SECOND, Event, Message, Plan, Question, Violation
from .node import Server, as_time, request_of
from .oracle import MirrorRecord, NodeRecord, Published, need
from .plan import BEGIN, plain
from .planner import Planner, ask

EPOCH = 1_700_000_000 * SECOND  # ROS time at the begin
PULSE = 50 * MS
DOWN = {"timeout"}  # the last part of the names of parameters that can only decrease


@dataclass
class Outcome:
    """What a run has shown."""

    violation: str = ""
    at: int = 0
    free: dict[str, int] = field(default_factory=dict)  # kind of answer -> poses that are FREE
    answers: dict[str, int] = field(default_factory=dict)


@dataclass
class Process:
    """A process of the node or of a planner."""

    server: Any  # Server or Planner
    record: Any  # NodeRecord or MirrorRecord
    blocked: int = 0  # it does nothing until this time
    is_alive: bool = True
    is_changed: bool = False  # a snapshot is to be published soon
    batches: list[Callable[[], None]] = field(default_factory=list)
    is_batch: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)  # topic -> last arrival
    beats: int = 0  # number of the timer of the heartbeat


class Run:
    """One execution of a plan.

    Violations of mirrors whose text contains `excused` are only counted.
    """

    def __init__(self, plan: Plan, excused: str = "") -> None:
        self.plan, self.now, self.excused = plan, BEGIN, excused
        self.queue: list[tuple[int, int, Callable[[], None]]] = []
        self.numbers = count()
        self.common = Clock(BEGIN, EPOCH)
        self.offsets = {"node": 0, "mirror": 0}
        self.outcome = Outcome()
        self.most = {"snapshot": 2 * MS, "state": 2 * MS}
        self.outages: list[tuple[int, int, str, bool]] = []
        self.stamps: dict[tuple[str, str], int] = {}
        self.latched: dict[str, Message] = {}
        self.mount: Message | None = None
        self.seen: list[int] = []  # ids of snapshots in replies
        self.twin: Process | None = None
        self.node = self._new_node(77)
        self.mirrors = [self._new_mirror() for _ in range(plan.mirrors)]

    def execute(self) -> Outcome:
        """Run to the end, or to the first answer that cannot be justified."""
        for event in self.plan.events:
            self._at(event.at, lambda event=event: self._do(event))  # type: ignore[misc]
        end, clock = BEGIN + self.plan.length, vars(exchange)["time"]
        try:
            while self.queue and self.queue[0][0] <= end:
                self.now, _, do = heapq.heappop(self.queue)
                do()
        except Violation as why:
            self.outcome.violation, self.outcome.at = str(why), self.now
        finally:
            vars(exchange)["time"] = clock
        return self.outcome

    # ---- time

    def _at(self, at: int, do: Callable[[], None]) -> None:
        heapq.heappush(self.queue, (at, next(self.numbers), do))

    def _when_free(self, process: Process, do: Callable[[], None]) -> None:
        """Do something in a process, as soon as it is not blocked."""
        if not process.is_alive:
            return
        if self.now < process.blocked:
            self._at(process.blocked, lambda: self._when_free(process, do))
            return
        process.server.true = self.now
        do()

    def _every(self, process: Process, period: int, do: Callable[[], bool]) -> None:
        def again() -> None:
            if do():
                self._at(self.now + period, lambda: self._when_free(process, again))

        self._at(self.now, lambda: self._when_free(process, again))

    def _block(self, process: Process, duration: int) -> None:
        if self.now >= process.blocked:
            process.blocked = self.now + duration

    # ---- processes

    def _new_node(self, epoch: int, rate: float = 0.0) -> Process:
        parameters = dict(self.plan.parameters)
        if rate:
            parameters["state_rate"] = rate

        def clock(true: int) -> int:
            return self.common.at(true) + self.offsets["node"]

        server = Server(Config.from_parameters(parameters), epoch, clock, self.now)
        record = NodeRecord(plain(parameters), clock)
        process = Process(server, record, parameters=parameters)
        self._pulse(process)
        if self.mount is not None:
            self._deliver(process, self.mount, self.now + 5 * MS)
        self._activate(process)
        self._start_heartbeat(process)
        return process

    def _new_mirror(self) -> Process:
        def clock(true: int) -> int:
            return self.common.at(true) + self.offsets["mirror"]

        process = Process(Planner(clock, self.now), MirrorRecord(clock))
        self._pulse(process)
        return process

    def _pulse(self, process: Process) -> None:
        def note() -> bool:
            process.server.pauses.note_activity(self.now)
            if isinstance(process.record, NodeRecord):
                process.record.act(self.now)
            return True

        self._every(process, PULSE, note)

    def _start_heartbeat(self, process: Process) -> None:
        process.beats += 1
        number = process.beats

        def beat() -> bool:
            if number != process.beats:
                return False
            self._beat(process)
            return True

        self._every(process, round(SECOND / process.parameters["state_rate"]), beat)

    def _activate(self, process: Process) -> None:
        if process.record.epoch:
            return
        process.server.true = self.now
        process.server.activate()
        record: NodeRecord = process.record
        record.epoch, record.ids = process.server.epoch, {}
        record.delete(self.now, "activated")
        self._receive_last_again(process)
        self._note_change(process)

    def _deactivate(self, process: Process) -> None:
        process.server.deactivate()
        process.record.epoch = 0
        process.record.delete(self.now, "deactivated")
        self._note_change(process)

    def _receive_last_again(self, process: Process) -> None:
        for message in list(self.latched.values()):
            self._deliver(process, message, self.now + 3 * MS)

    # ---- data

    def _send(self, event: Event) -> None:
        data = event.data
        source, sender = data.get("source", ""), data.get("sender", "")
        stamp = self.common.at(self.now) + data.get("error", 0)
        if data.get("repeat"):
            stamp = self.stamps.get((source, sender), stamp)
        self.stamps[source, sender] = stamp
        names = ("number", "frame", "boxes", "size", "speed", "place", "bad")
        given = {name: data[name] for name in names if name in data}
        message = Message(event.kind, self.now, stamp, source, sender, **given)
        if event.kind == "mount":
            self.mount = message
        elif event.kind == "list" and self.plan.parameters[f"{source}.static"]:
            self.latched[source] = message
        for process in (self.node, self.twin):
            if process is not None:
                self._deliver(process, message, self.now + data.get("delay", 2 * MS))

    def _deliver(self, process: Process, message: Message, at: int) -> None:
        def receive() -> None:
            process.record.receive(self.now, message)
            process.server.receive(message)
            self._note_change(process)

        self._at(at, lambda: self._when_free(process, receive))

    # ---- from the node to the mirrors

    def _note_change(self, process: Process) -> None:
        if not process.is_changed:
            process.is_changed = True
            later = self.now + 2 * MS
            self._at(later, lambda: self._when_free(process, lambda: self._publish(process)))

    def _statics(self, process: Process, data: Any) -> tuple[int, ...]:
        lists = [id(p.message) for p in data.parts if data.is_static(p)]
        return (*lists, id(process.record.mount))

    def _publish(self, process: Process) -> None:
        process.is_changed = False
        record, server = process.record, process.server
        data = record.data(self.now)
        message = server.publish_change()
        if message is None:
            return
        id_ = message.info.snapshot_id
        if message.verdict.status == Status.SUCCESS:
            record.remember(id_, data)
        is_active = bool(record.epoch)
        what = Published(
            id(process), self.now, record.clock(self.now), id_ >> 32, message.sequence, id_,
            data if is_active else None, True, self._statics(process, data),
        )  # fmt: skip
        self._send_to_mirrors(process, "snapshot", message, what)

    def _beat(self, process: Process) -> None:
        record, server = process.record, process.server
        self._publish(process)
        data = record.data(self.now)
        if server.world is None:
            server.note_time()
        message, snapshot, answer = server.beat()
        if snapshot.fault is None:
            record.remember(snapshot.id, data)
        if answer.is_free:
            question = Question(((0.0, 0.0),))
            self._count("heartbeat", 1, 1)
            record.judge(question, self.now, self.now, snapshot.id, [0], 0)
            record.ids[snapshot.id].check_geometry(question, [0], 0, (0.0, 0.0))
        what = Published(
            id(process), self.now, record.clock(self.now), snapshot.id >> 32,
            message.snapshot_sequence, snapshot.id, data if record.epoch else None, False,
        )  # fmt: skip
        self._send_to_mirrors(process, "state", message, what)
        self._trim(record)

    def _trim(self, record: NodeRecord) -> None:
        del record.places[:-4000], record.ends[:-500]
        if len(record.ids) > 500:
            record.ids = dict(list(record.ids.items())[-250:])

    def _send_to_mirrors(
        self, process: Process, topic: str, message: Any, what: Published
    ) -> None:
        for number, mirror in enumerate(self.mirrors):
            key = f"{topic} {number}"
            share = crc32(f"{self.plan.seed} {key} {self.now}".encode()) / 2**32
            at = self.now + MS // 2 + round(share * self.most[topic])
            cut = next(
                (o for o in self.outages if o[2] in (topic, "both") and o[0] <= self.now < o[1]),
                None,
            )
            if cut is not None:
                if not cut[3] or share > 0.2:
                    continue
                at = cut[1] + MS
            at = max(at, process.links.get(key, 0) + 1)
            process.links[key] = at
            self._hear(mirror, message, what, at)

    def _hear(self, mirror: Process, message: Any, what: Published, at: int) -> None:
        def receive() -> None:
            mirror.record.receive(self.now, what)
            mirror.server.receive(message, what.sent, is_snapshot=what.is_snapshot)

        self._at(at, lambda: self._when_free(mirror, receive))

    # ---- questions

    def _count(self, kind: str, answers: int, free: int) -> None:
        outcome = self.outcome
        outcome.answers[kind] = outcome.answers.get(kind, 0) + answers
        outcome.free[kind] = outcome.free.get(kind, 0) + free

    def _ask(self, event: Event) -> None:
        process, data = self.node, event.data
        if data["service"] == "Collide":
            self._when_free(process, lambda: self._answer(process, data, is_batch=False))
        elif process.is_batch:
            process.batches.append(lambda: self._answer(process, data, is_batch=True))
        else:
            self._when_free(process, lambda: self._answer(process, data, is_batch=True))

    def _answer(self, process: Process, data: Mapping[str, Any], *, is_batch: bool) -> None:
        record, server, question = process.record, process.server, data["question"]
        if is_batch and process.is_batch:
            process.batches.append(lambda: self._answer(process, data, is_batch=True))
            return
        process.is_batch = process.is_batch or is_batch
        required = (
            self.seen[-min(data["required"], len(self.seen))]
            if self.seen and data["required"]
            else 0
        )
        now, begin = record.data(self.now), self.now
        message = request_of(question, required) if is_batch else _collide(question)
        asked = server.begin(data["service"], message, is_batch=is_batch)
        if asked.first is not None and asked.first.fault is None:
            if required:
                why = now.fault
                need(not why, f"an earlier snapshot was returned, but {why}")
            else:
                self.seen = [*self.seen[-30:], asked.first.id]
                record.remember(asked.first.id, now)
        by = record.place_of(question.frame, record.clock(self.now))
        at = record.clock(self.now)

        def end() -> None:
            record.look(self.now)
            found, last = server.end(asked)
            if is_batch:
                process.is_batch = False
            free = _free(found)
            self._count(data["service"], 1, len(free))
            if free:
                need(by is not None, "the frame of the request is not known")
                record.judge(question, begin, self.now, last.id, free, required)
                record.ids[last.id].check_geometry(question, free, at, by)
            if is_batch and process.batches:
                self._when_free(process, process.batches.pop(0))

        if not is_batch:
            self._block(process, data["duration"])
        self._at(self.now + data["duration"], lambda: self._when_free(process, end))

    def _think(self, event: Event) -> None:
        data = event.data
        mirror = self.mirrors[data["mirror"]]
        self._when_free(mirror, lambda: self._think_now(mirror, data))

    def _think_now(self, mirror: Process, data: Mapping[str, Any]) -> None:
        question = data["question"]
        state = mirror.record.begin(self.now)
        thinking = mirror.server.begin(question, data["ahead"])
        if thinking is None:
            return
        if thinking.state is None and thinking.data.fault is None:
            self._compare(thinking, question)

        def end() -> None:
            mirror.record.look(self.now)
            found = mirror.server.end(thinking, question)
            free = _free(found)
            self._count("mirror", 1, len(free))
            try:
                mirror.record.judge(question, state, self.now, thinking.at, thinking.data.id, free)
            except Violation as why:
                if not self.excused or self.excused not in str(why):
                    raise
                self._count("excused", 1, len(free))

        self._at(self.now + data["duration"], lambda: self._when_free(mirror, end))

    def _compare(self, thinking: Any, question: Question) -> None:
        """The node and a mirror answer alike from the same snapshot, for the same time."""
        node = self.node
        if not node.is_alive or self.now < node.blocked or node.server.world is None:
            return
        node.server.true = self.now
        node.record.look(self.now)
        snapshot = node.server.snapshot()
        if snapshot.id != thinking.data.id or snapshot.fault is not None:
            return
        if question.names:
            snapshot = snapshot.chosen_among(question.names)
        own, other = thinking.answer, ask(snapshot, question, thinking.at)
        self._count("compared", 1, 0)
        for name in ("verdicts", "statuses", "distances", "nearest_ids"):
            one, two = getattr(own, name, None), getattr(other, name, None)
            same = one is None or two is None or one.tobytes() == two.tobytes()
            need(same, f"the mirror differs from the node in {name}: {one} {two}")

    # ---- events

    def _do(self, event: Event) -> None:
        kind, data, node = event.kind, event.data, self.node
        if kind in ("list", "footprint", "twist", "mount", "tf"):
            self._send(event)
        elif kind == "ask":
            self._ask(event)
        elif kind == "think":
            self._think(event)
        elif kind in ("step", "rate"):
            self._change_clock(kind, data)
        elif kind == "link":
            for topic in ("snapshot", "state"):
                if data["topic"] in (topic, "both"):
                    self.most[topic] = data["most"]
        elif kind == "outage":
            self.outages.append((self.now, data["until"], data["topic"], data["holds"]))
        elif kind == "pause":
            for each in [node] if data["who"] == "node" else self.mirrors:
                self._block(each, data["duration"])
        elif kind == "deactivate":
            self._when_free(node, lambda: self._deactivate(node))
        elif kind == "activate":
            self._when_free(node, lambda: self._activate(node))
        elif kind == "crash":
            node.is_alive = False
        elif kind == "restart":
            if not node.is_alive:
                self.node = self._new_node(data["epoch"])
        elif kind == "twin":
            if self.twin is None:
                self.twin = self._new_node(data["epoch"], data["rate"])
        elif kind == "end twin":
            if self.twin is not None:
                self.twin.is_alive = False
            self.twin = None
        elif kind == "parameter":
            self._when_free(node, lambda: self._set_parameter(node, data))
        elif kind == "reset":
            self._when_free(node, lambda: self._reset(node))

    def _reset(self, node: Process) -> None:
        if node.record.epoch:
            node.server.reset()
            node.record.delete(self.now, "reset")
            self._receive_last_again(node)
            self._note_change(node)

    def _change_clock(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "rate":
            self.common.run(self.now, data["rate"])
        elif data["who"] == "all":
            self.common.step(self.now, data["by"])
        else:
            self.offsets[data["who"]] += data["by"]
        if not self.plan.is_simulated:
            return
        for process in (self.node, self.twin):
            if process is not None and process.is_alive and self.now >= process.blocked:
                process.server.true = self.now
                process.record.look(self.now)
                process.server.note_time()

    def _set_parameter(self, node: Process, data: Mapping[str, Any]) -> None:
        name, old = data["name"], node.parameters[data["name"]]
        value = old * data["factor"] + (0.1 if not old else 0.0)
        if not node.server.set_parameter(name, value):
            return
        is_live = name != "time_budget"
        need(is_live, f"{name} was changed on a configured node")
        source, _, last = name.rpartition(".")
        if node.record.epoch:
            falls = last == "timeout" or last.endswith("_timeout")
            need((value < old) == falls, f"{name} was changed in the unsafe direction")
            optional = source and last == "timeout" and not node.parameters[f"{source}.required"]
            need(not optional, f"{name} of an optional source was changed")
        node.parameters = {**node.parameters, name: value}
        node.record.configure(self.now, plain(node.parameters))
        self._note_change(node)
        if name == "state_rate":
            self._start_heartbeat(node)


def _free(found: Any) -> list[int]:
    """Return the indices of the poses that an answer calls FREE."""
    if hasattr(found, "verdicts"):
        return [i for i, each in enumerate(found.verdicts.tolist()) if each == Verdict.FREE]
    return [0] if found.is_free else []


def _collide(question: Question) -> Any:
    from types import SimpleNamespace as Fields

    (x, y), name = question.poses[0], question.name_at(0)
    position = Fields(x=x, y=y, z=0.0)
    pose = Fields(position=position, orientation=Fields(x=0.0, y=0.0, z=0.0, w=1.0))
    header = Fields(frame_id="odom", stamp=as_time(0))
    return Fields(pose=Fields(header=header, pose=pose), margin=question.margin, footprint=name)
