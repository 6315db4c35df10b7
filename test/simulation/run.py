# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Executes a plan: the processes, the network between them, and the questions to the oracle."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any
from zlib import crc32

from gjk_collision import Status, Verdict
from gjk_collision.ros.calls import Calls
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.parameters.config import Config

from .clocks import Clock
from .facts import MS, SECOND, Event, Message, Plan, Question, Violation
from .node import Future, Node, Task
from .oracle import MirrorRecord, NodeRecord, Place, Published, need
from .plan import BEGIN, plain
from .planner import Planner, ask
from .wire import request

EPOCH = 1_700_000_000 * SECOND  # ROS time at the begin
PULSE = 50 * MS
DEPTHS = {"footprint": 1, "tf": 100, "ego": 100, "mount": 100, "tick": 1}  # of queues; others: 5
HERE: Place = (0.0, 0.0)
COMPARED = (
    "verdict", "status", "verdicts", "statuses", "distances", "lower_bounds", "ids", "nearest_id",
    "first_invalid_segment", "distance",
)  # fmt: skip


@dataclass
class Outcome:
    """What a run has shown."""

    violation: str = ""
    at: int = 0
    free: dict[str, int] = field(default_factory=dict)  # kind of answer -> poses that are FREE
    answers: dict[str, int] = field(default_factory=dict)
    # node or mirror -> true time at which the last question was asked whose answer was UNKNOWN
    last_unknown: dict[str, int] = field(default_factory=dict)


@dataclass
class Process:
    """A process of the node or of a planner."""

    server: Any  # Node or Planner
    record: Any  # NodeRecord or MirrorRecord
    blocked: int = 0  # it does nothing until this time
    waiting: deque[Callable[[], None]] = field(default_factory=deque)  # for the end of this time
    is_alive: bool = True
    is_changed: bool = False  # a snapshot is to be published soon
    parameters: Mapping[str, Any] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)  # topic -> last arrival
    queues: dict[str, deque[Callable[[], None]]] = field(default_factory=dict)
    beats: int = 0  # number of the timer of the heartbeat
    seen: int = 0  # the last time on /clock, if the clock is simulated


class Run:
    """One execution of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.now = plan, BEGIN
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
        self.has_ticks = "clock" in plan.faults
        self.node = self._new_node(77)
        self.mirrors = [self._new_mirror() for _ in range(plan.mirrors)]

    def execute(self) -> Outcome:
        """Run to the end, or to the first answer that cannot be justified."""
        for event in self.plan.events:
            self._at(event.at, lambda event=event: self._do(event))  # type: ignore[misc]
        end = BEGIN + self.plan.length
        try:
            while self.queue and self.queue[0][0] <= end:
                self.now, _, do = heapq.heappop(self.queue)
                do()
            for process in (self.node, self.twin):
                errors = [] if process is None else process.server.errors
                need(not errors, f"an internal error: {errors[:1]}")
        except Violation as why:
            self.outcome.violation, self.outcome.at = str(why), self.now
        return self.outcome

    # ---- time

    def _at(self, at: int, do: Callable[[], None]) -> None:
        heapq.heappush(self.queue, (at, next(self.numbers), do))

    def _when_free(self, process: Process, do: Callable[[], None]) -> None:
        """Do something in a process, as soon as it is not blocked."""
        if not process.is_alive:
            return
        if self.now < process.blocked:
            process.waiting.append(do)
            if len(process.waiting) == 1:
                self._at(process.blocked, lambda: self._go_on(process))
            return
        process.server.true = self.now
        do()

    def _go_on(self, process: Process) -> None:
        """Do what has waited in a process, in its order."""
        while process.is_alive and self.now >= process.blocked and process.waiting:
            process.server.true = self.now
            process.waiting[0]()
            process.waiting.popleft()  # now, so that only this method comes back to the others
        if process.is_alive and process.waiting:
            self._at(process.blocked, lambda: self._go_on(process))

    def _later(self, process: Process, delay: int, do: Callable[[], None]) -> None:
        self._at(self.now + delay, lambda: self._when_free(process, do))

    def _share(self, key: str) -> float:
        """Return a number from 0 to 1 that depends on the time."""
        return crc32(f"{self.plan.seed} {key} {self.now}".encode()) / 2**32

    def _every(self, process: Process, period: int, do: Callable[[], bool]) -> None:
        def again() -> None:
            if do():
                self._later(process, period, again)

        self._later(process, 0, again)

    def _block(self, process: Process, duration: int) -> None:
        if self.now >= process.blocked:
            process.blocked = self.now + duration

    # ---- processes

    def _clock_of(self, process: Process, who: str) -> Callable[[int], int]:
        if self.has_ticks:
            return lambda true: process.seen
        return lambda true: self.common.at(true) + self.offsets[who]

    def _new_node(self, epoch: int, rate: float = 0.0) -> Process:
        parameters = dict(self.plan.parameters)
        if rate:
            parameters["state_rate"] = rate
        process = Process(None, None, parameters=parameters)
        clock = self._clock_of(process, "node")
        process.record = NodeRecord(plain(parameters), clock)
        process.server = Node(
            Config.from_parameters(parameters), epoch, clock, self.now,
            lambda delay, do: self._later(process, delay, do),
            lambda: self._note_change(process),
            lambda snapshot, required: self._watch(process, snapshot, required),
        )  # fmt: skip
        self._every(process, PULSE, lambda: self._pulse(process))
        if self.mount is not None:
            self._deliver(process, self.mount, self.now + 5 * MS)
        self._activate(process)
        self._start_heartbeat(process)
        return process

    def _new_mirror(self) -> Process:
        process = Process(None, None)
        clock = self._clock_of(process, "mirror")
        process.server = Planner(clock, self.now)
        process.record = MirrorRecord(clock)
        self._every(process, PULSE, lambda: self._pulse(process))
        return process

    def _pulse(self, process: Process) -> bool:
        process.record.act(self.now)
        if isinstance(process.record, NodeRecord):
            process.server.server.note_activity()
        else:
            process.server.note_activity()
        return True

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
        process.server.server.activate()
        process.record.activate(self.now, process.server.server.world._next_id >> 32)
        self._receive_last_again(process)

    def _deactivate(self, process: Process) -> None:
        process.server.server.deactivate()
        process.server.requests.resume()
        process.record.epoch = 0
        process.record.delete(self.now, "deactivated")

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
        names = (
            "number", "frame", "boxes", "size", "speed", "place", "pitch", "bad", "returns",
            "is_list",
            "is_grid",
        )  # fmt: skip
        given = {name: data[name] for name in names if name in data}
        message = Message(event.kind, self.now, stamp, source, sender, **given)
        if event.kind == "mount":
            self.mount = message
        elif event.kind == "list" and self.plan.parameters[f"{source}.static"]:
            self.latched[source] = message
        for process in (self.node, self.twin):
            if process is not None:
                delay = data.get("delay", 2 * MS)
                self._deliver(process, message, self.now + delay)
                if "again" in data:
                    self._deliver(process, message, self.now + delay + data["again"])

    def _deliver(self, process: Process, message: Message, at: int) -> None:
        def receive() -> None:
            process.record.receive(self.now, message)
            process.server.receive(message)

        self._put(process, message.source or message.kind, at, receive)

    def _put(self, process: Process, topic: str, at: int, read: Callable[[], None]) -> None:
        """Put a message in the queue of a topic; if it is full, the oldest one is lost."""
        is_ordered = topic in ("tf", "ego", "mount", "tick")  # reliable, or from one publisher
        if is_ordered:
            at = process.links[topic] = max(at, process.links.get(topic, 0) + 1)

        def arrive() -> None:
            waiting = process.queues.setdefault(topic, deque())
            waiting.append(read)
            if len(waiting) > DEPTHS.get(topic, 5):
                waiting.popleft()
            late = self._share(topic)  # after a pause, a message may be read late
            if is_ordered or self.now >= process.blocked or late > 0.3:
                self._when_free(process, take)
            else:
                then = process.blocked + round(2.0 * late * SECOND)
                self._at(then, lambda: self._when_free(process, take))

        def take() -> None:
            if process.queues[topic]:
                process.queues[topic].popleft()()

        self._at(at, arrive)

    def _tick(self, delay: int) -> None:
        """A message on /clock."""
        shown = self.common.at(self.now)
        for process in (self.node, self.twin, *self.mirrors):
            if process is not None:
                self._put(
                    process, "tick", self.now + delay,
                    lambda process=process: self._see(process, shown),  # type: ignore[misc]
                )  # fmt: skip

    def _see(self, process: Process, shown: int) -> None:
        by, process.seen = process.seen - shown, shown
        if isinstance(process.server, Node):
            process.record.look(self.now)
            if by > 0:
                process.server.note_step_back(by)

    # ---- from the node to the mirrors

    def _note_change(self, process: Process) -> None:
        if not process.is_changed:
            process.is_changed = True
            self._later(process, 2 * MS, lambda: self._publish(process))

    def _watch(self, process: Process, snapshot: Snapshot, required: int) -> None:
        """Note the data in force when the node makes a snapshot."""
        data = process.record.data(self.now)
        task = process.server.current
        if task is not None and task.first is None:
            record, ros = process.record, process.record.clock(self.now)
            task.began, task.ros, task.first = self.now, ros, data
            frames = "odom", "map", "base"
            if task.stamp:
                task.places = {each: (record.at_stamp(each, task.stamp), None) for each in frames}
            else:
                task.places = {each: record.newest(each, ros) for each in frames}
        fault, server = snapshot.data_fault, process.server.server
        if fault is not None and fault.status is Status.SNAPSHOT_MISMATCH and server.world:
            # Refused because of the other process. Its id may be required when that is gone.
            fault = server.world.snapshot(now=server.now(), steady=server.steady()).data_fault
        if snapshot.id and not required and fault is None:
            process.record.remember(snapshot.id, data)
        if required and snapshot.fault is None:
            need(not data.fault, f"an earlier snapshot was returned, but {data.fault}")

    def _publish(self, process: Process) -> int:
        process.is_changed = False
        record = process.record
        data = record.data(self.now)
        message, number = process.server.publish()
        if message is not None:
            id_ = message.info.snapshot_id
            statics = tuple(id(p.message) for p in data.parts if data.is_static(p))
            what = Published(
                id(process), self.now, record.clock(self.now), id_ >> 32, message.sequence, id_,
                data if record.epoch else None, True, (*statics, record.revision),
            )  # fmt: skip
            self._send_to_mirrors("snapshot", message, what)
        return int(number)

    def _beat(self, process: Process) -> None:
        record, server = process.record, process.server
        number = self._publish(process)
        data = record.data(self.now)
        message, beat = server.beat(number)
        if beat.found.is_free:
            question = Question("Collide", (HERE,))
            self._count("heartbeat", 1, 1)
            ros = record.clock(self.now)
            by, pose = record.newest(data.config["base_frame"], ros)
            need(by is not None, "the pose of the vehicle is not known")
            record.judge(question, self.now, self.now, beat.snapshot.id, [0], pose=pose)
            bound = beat.found.distance_lower_bound
            record.ids[beat.snapshot.id].check_geometry(question, [0], 0, by, bound)
        what = Published(
            id(process), self.now, record.clock(self.now), beat.snapshot.id >> 32,
            number, beat.snapshot.id, data if record.epoch else None, False,
        )  # fmt: skip
        self._send_to_mirrors("state", message, what)
        self._send_to_servers(process, message)
        record.trim()

    def _send_to_servers(self, sender: Process, message: Any) -> None:
        """A heartbeat reaches all processes with the name of the node, also its own."""

        def hear(process: Process) -> None:
            process.record.hear(self.now, id(sender.record))
            process.server.server.receive_heartbeat(message.epoch)

        for process in (self.node, self.twin):
            if process is not None:
                at = self.now + MS + round(self._share(f"name {id(process) == id(sender)}") * MS)
                self._put(process, "state", at, lambda process=process: hear(process))  # type: ignore[misc]

    def _send_to_mirrors(self, topic: str, message: Any, what: Published) -> None:
        for number, mirror in enumerate(self.mirrors):
            key = f"{topic} {number}"
            share = self._share(key)
            at = self.now + MS // 2 + round(share * self.most[topic])
            cut = next(
                (o for o in self.outages if o[2] in (topic, "both") and o[0] <= self.now < o[1]),
                None,
            )
            if cut is not None:
                if not cut[3] or share > 0.2:
                    continue
                at = cut[1] + MS
            if "order" not in self.plan.faults or share < 0.8:  # else: a later one may overtake it
                at = mirror.links[key] = max(at, mirror.links.get(key, 0) + 1)
            self._hear(mirror, message, what, at)

    def _hear(self, mirror: Process, message: Any, what: Published, at: int) -> None:
        def receive() -> None:
            mirror.record.receive(self.now, what)
            mirror.server.receive(message, what.sent, is_snapshot=what.is_snapshot)

        self._at(at, lambda: self._when_free(mirror, receive))

    # ---- questions to the node

    def _count(self, kind: str, answers: int, free: int) -> None:
        outcome = self.outcome
        outcome.answers[kind] = outcome.answers.get(kind, 0) + answers
        outcome.free[kind] = outcome.free.get(kind, 0) + free

    def _ask(self, event: Event) -> None:
        """A client calls: one request, or several at once."""
        data, question, steady = event.data, event.data["question"], lambda: self.now * 1e-9
        questions = [question] * data["count"]
        futures: list[tuple[Any, list[Any]]] = []

        def call(index: int) -> Any:
            future, arrived = Future(), []  # type: ignore[var-annotated]
            futures.append((future, arrived))
            future.exception = lambda: None  # type: ignore[attr-defined]
            future.result = lambda: arrived[0]  # type: ignore[attr-defined]
            way = data["way"][index], data["way"][index + 3]
            servers = [each for each in (self.node, self.twin) if each is not None]

            waiting = sum(not each.done() for each, _ in futures)
            is_over = self.now - begun >= data["timeout"] * SECOND
            need(waiting <= data["limit"] or is_over, "too many requests without a reply")

            def ask(process: Process) -> None:
                is_answered = []

                def reply(found: Any, free: list[int]) -> None:
                    need(not is_answered, "a second reply of one process")
                    is_answered.append(True)
                    self._at(self.now + way[1], lambda: arrive(found, free))

                self._answer(process, data, reply)

            def arrive(found: Any, free: list[int]) -> None:
                if not arrived:  # the first reply counts
                    arrived.append((index, found, free, self.now))
                    future.set_result(None)
                    collect()

            for each in servers:
                self._at(
                    self.now + way[0],
                    lambda each=each: self._when_free(each, lambda: ask(each)),  # type: ignore[misc]
                )
            return future

        calls = Calls(
            range(len(questions)), call, lambda future: None, data["timeout"], data["limit"], None
        )
        begun = self.now

        def collect() -> None:
            before = list(calls.replies)
            calls.collect(steady())
            for index, (reply, took) in enumerate(calls.replies):
                if reply is None or before[index][0] is not None:
                    continue
                need(reply[0] == index, "a reply to another request")
                is_late = self.now - begun > seconds_of(data) or took >= data["timeout"]
                need(not is_late, f"a reply after {took} s is used")
                self._count("client", 1, len(reply[2]))
            wait()

        def wait() -> None:
            until = calls.send(steady())
            if until is not None:
                at = max(round(until * 1e9), self.now + MS)
                self._at(at, collect)

        def seconds_of(data: Mapping[str, Any]) -> float:
            return float((data["timeout"] * SECOND + MS) * data["count"])

        wait()

    def _answer(
        self, process: Process, data: Mapping[str, Any], reply: Callable[[Any, list[int]], None]
    ) -> None:
        record, node, question = process.record, process.server, data["question"]
        required = 0
        if data["required"] and self.seen and question.service == "CheckPoses":
            required = self.seen[-min(data["required"], len(self.seen))]
        stamp = self.common.at(self.now) + data["error"] if question.is_stamped else 0
        begun, is_large = self.now, data["is_large"]

        def done(answered: Any) -> None:
            record.look(self.now)
            found, last = answered.found, answered.snapshot
            free = _free(found)
            self._count(question.service, 1, len(free))
            if process is self.node:
                self._note_answer(data, found, last.id)
                self._note_unknown("node", found, begun)
                if last.id and not required:
                    self.seen = [*self.seen[-30:], last.id]
            if free:
                self._judge(process, question, task, last.id, found, free, required, stamp)
            reply(found, free)

        is_slow = is_large and data["is_slow_at_first"]
        task = Task(data["duration"], is_large, is_slow, done, stamp)
        node.ask(question.service, request(question, stamp, required), task)
        if not is_large and task.first is not None and self.now >= process.blocked:
            self._block(process, task.duration)

    def _judge(
        self, process: Process, question: Question, task: Task, id_: int, found: Any,
        free: list[int], required: int, stamp: int,
    ) -> None:  # fmt: skip
        record = process.record
        frame = question.frame or record.config["base_frame"]
        by, pose = task.places[frame]
        need(by is not None, f"the frame {frame} of the request is not known")
        whole = getattr(found, "answer", found).is_free
        record.judge(
            question, task.began, self.now, id_, free, required=required, is_whole=whole,
            pose=pose,
        )  # fmt: skip
        data = record.ids[id_]
        if question.service == "NearestFree":
            x, y, _ = found.free_pose.tolist()
            question, by = replace(question, poses=((x, y),)), HERE
        bound = -1e9
        if question.service == "Distance" and len(found.lower_bounds):
            bound = float(found.lower_bounds[0])
        data.check_geometry(question, free, stamp or task.ros, by, bound)

    def _note_answer(self, data: Mapping[str, Any], found: Any, id_: int) -> None:
        """The node or a mirror has answered the question of an event; `id_`: of the snapshot."""

    # ---- questions to mirrors

    def _note_unknown(self, who: str, found: Any, begun: int) -> None:
        if found.verdict is Verdict.UNKNOWN:
            self.outcome.last_unknown[who] = max(begun, self.outcome.last_unknown.get(who, 0))

    def _think(self, event: Event) -> None:
        data = event.data
        mirror = self.mirrors[data["mirror"]]
        self._when_free(mirror, lambda: self._think_now(mirror, data))

    def _think_now(self, mirror: Process, data: Mapping[str, Any]) -> None:
        question, begun = data["question"], self.now
        state = mirror.record.begin(self.now)
        thinking = mirror.server.begin(question, data["ahead"])
        if thinking.asked.fault is None:
            self._compare(mirror, thinking, question)

        def end() -> None:
            mirror.record.look(self.now)
            found = mirror.server.end(thinking, question)
            free = _free(found)
            self._note_answer(data, found, 0)
            self._count("mirror", 1, len(free))
            self._note_unknown("mirror", found, begun)
            bound = -1e9
            if free and question.service == "Distance" and len(found.lower_bounds):
                bound = float(found.lower_bounds[0])
            mirror.record.judge(
                question, state, self.now, thinking.at, thinking.asked.snapshot_id, free, bound
            )

        self._at(self.now + data["duration"], lambda: self._when_free(mirror, end))

    def _compare(self, mirror: Process, thinking: Any, question: Question) -> None:
        """The node and a mirror answer alike from the same snapshot, for the same time."""
        node = self.node
        if not node.is_alive or self.now < node.blocked or not node.record.epoch:
            return
        node.server.true = self.now
        node.record.look(self.now)
        snapshot = node.server.server.snapshot()
        if snapshot.id != thinking.asked.snapshot_id or snapshot.fault is not None:
            return
        # If all data is static, the horizon begins now; the clocks of both may differ a little.
        if snapshot.epoch == snapshot.stamp:
            snapshot = replace(snapshot, epoch=mirror.server.clock(self.now))
        if question.which:
            snapshot = snapshot.chosen_among(question.names)
        elif question.names:
            snapshot = snapshot.chosen(question.names[0])
        own, other = thinking.answer, ask(question, thinking.at, snapshot)
        self._count("compared", 1, 0)
        for name in COMPARED:
            one, two = _value(own, name), _value(other, name)
            need(one == two, f"the mirror differs from the node in {name}: {one} {two}")

    # ---- events

    def _do(self, event: Event) -> None:
        kind, data, node = event.kind, event.data, self.node
        if kind in ("list", "footprint", "twist", "mount", "tf", "ego"):
            self._send(event)
        elif kind == "ask":
            self._ask(event)
        elif kind == "think":
            self._think(event)
        elif kind == "tick":
            self._tick(data["delay"])
        elif kind in ("step", "rate"):
            self._change_clock(kind, data)
        elif kind == "link":
            for topic in ("snapshot", "state"):
                if data["topic"] in (topic, "both"):
                    self.most[topic] = data["most"]
        elif kind == "outage":
            self.outages.append((self.now, data["until"], data["topic"], data["holds"]))
        elif kind == "pause":
            processes = {"node": [node], "mirror": self.mirrors, "twin": [self.twin]}
            for each in processes[data["who"]]:
                if each is not None:
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
            node.server.server.reset()
            node.record.delete(self.now, "reset")
            self._receive_last_again(node)

    def _change_clock(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind == "rate":
            self.common.run(self.now, data["rate"])
        elif data["who"] == "all" or self.has_ticks:
            self.common.step(self.now, data["by"])
        else:
            self.offsets[data["who"]] += data["by"]
        if not self.plan.is_simulated or self.has_ticks or data.get("by", 0) >= 0:
            return
        for process in (self.node, self.twin):
            if process is not None and process.is_alive and self.now >= process.blocked:
                process.server.true = self.now
                process.record.step_back(self.now, -data["by"])
                process.server.note_step_back(-data["by"])

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
        if name == "state_rate":
            self._start_heartbeat(node)


def _value(found: Any, name: str) -> Any:
    value = getattr(found, name, getattr(getattr(found, "answer", None), name, None))
    return value.tobytes() if hasattr(value, "tobytes") else repr(value)


def _free(found: Any) -> list[int]:
    """Return the indices of the poses that an answer calls FREE."""
    if hasattr(found, "verdicts"):
        return [i for i, each in enumerate(found.verdicts.tolist()) if each == Verdict.FREE]
    return [0] if getattr(found, "answer", found).is_free else []
