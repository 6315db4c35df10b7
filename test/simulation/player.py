# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Plays a plan on a real process of the node, in real time.

It writes down what happened, and when, as a plan that the simulator can execute. Times are those
of plans: the system clock, moved so that the play begins at BEGIN.
"""

from __future__ import annotations

import heapq
import signal
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import rclpy.parameter
from gjk_collision.msg import ObstacleArray
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile

from gjk_collision.ros.quality import SERVICE_QOS
from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.server.services.check_poses import MANY

from .facts import MS, SECOND, Event, Message, Plan, Question
from .plan import BEGIN
from .real import SERVICES, Bench, Planner, Server, as_ros, request_of, said

LATENCY = MS  # from a publisher to the node
STALL = 30 * MS  # a thread or a process that is later than this stood still
PAUSE = 80 * MS  # the node or a mirror may notice a longer stall as a pause
SETTLED = 300 * MS  # after it, the ends of a new topic or service have found each other
QUEUES = 100 * MS  # after a pause, the queues are empty
USED = ("collide", "check_poses", "set_parameters_atomically", "reset", "change_state")
HERE = Question("Collide", ((0.0, 0.0),))
ALL = ("CheckPoses", "Collide", "mirror", "heartbeat", "parameter")
Task = Generator[None, None, Any]


@dataclass(frozen=True)
class Answer:
    """A reply of a service or of the mirror, a heartbeat, or whether a parameter was changed."""

    kind: str  # one of ALL
    at: int  # when the node or the mirror began to answer
    said: tuple[Any, ...]  # overall verdict, overall status, verdicts of the poses
    text: str = ""  # the reason, and the stamp of the oldest data


@dataclass
class History:
    """What happened in a play."""

    plan: Plan  # with the events as they happened
    answers: dict[int, Answer] = field(default_factory=dict)  # by the number of the event
    quiet: list[tuple[int, int, tuple[str, ...], str]] = field(default_factory=list)
    unanswered: int = 0

    def reason(self, answer: Answer) -> str:
        """Return why an answer depends on times that the simulator does not know; or nothing."""
        for begin, end, kinds, reason in self.quiet:
            if begin <= answer.at <= end and answer.kind in kinds:
                return reason
        return ""


@dataclass(eq=False)
class Process:
    """A process of the node that the player has started."""

    server: Server
    clients: Mapping[str, Any]
    begin: int
    rate: float = 0.0  # of its heartbeat, if it is a twin
    wanted: int = 0  # it is not activated before this time; 0: not yet
    is_up: bool = False
    is_stopped: bool = False  # paused by a signal


class Player:
    """Plays one plan. Only events of the kinds in `live.PLAYED` may occur in it."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.name = plan, f"h{plan.seed}/node"
        self.zero = time.time_ns() - BEGIN
        self.bench = Bench(self.name)
        self.history = History(plan)
        self.events: list[Event] = []
        self.numbers = count(1)
        self.queue: list[tuple[int, int, Callable[[], None]]] = []
        self.tasks: list[tuple[Any, Task]] = []  # with the process that each is for
        self.stamps: dict[tuple[str, str], int] = {}
        # Time that each thread has waited for a processor [ns], and when this was read.
        self.waits: dict[Path, int] = {}
        self.looked = 0
        # When a message was published, by its source and its stamp [ns].
        self.published: dict[tuple[str, int], int] = {}
        self.ids: list[tuple[int, int]] = []  # number of an answer, and id of its snapshot
        self.asked = self.heard = self.beat = self.counter = self.calm = 0
        self.values = dict(plan.parameters)
        self.twin: Process | None = None
        self.publishers = self._make_publishers()
        self.planner = Planner(self.bench, self.name, self.now)
        self.node = self._start()
        self.node.wanted = 1

    def play(self) -> History:
        """Play the plan; return what happened."""
        try:
            self.bench.until(self._is_up, "the first process")
            self._begin()
            while self.queue and self.queue[0][0] < BEGIN + self.plan.length:
                self._step(self.queue[0][0] - self.now())
                while self.queue and self.queue[0][0] <= (now := self.now()):
                    at, _, do = heapq.heappop(self.queue)
                    self._note_stall(at, now)
                    do()
            end = self.now() + SECOND // 2
            while self.now() < end and self.asked:
                self._step(5 * MS)  # the last replies
        finally:
            self._close()
        for begin, end in self.planner.stalls:
            self._note_stall(begin, end)
        for message, arrival in self.planner.arrivals.items():
            if message in self.published:
                self._note_stall(self.published[message], arrival)
        self.history.unanswered = self.asked
        for process in self._processes():
            if not process.is_up:
                self._is_quiet(process.begin, self.now(), "start")
        events = tuple(sorted(self.events, key=lambda each: each.at))
        self.history.plan = replace(
            self.plan, events=events, is_simulated=False, mirrors=1, length=self.now() - BEGIN
        )
        return self.history

    # ---- time

    def now(self) -> int:
        return time.time_ns() - self.zero

    def _is_up(self) -> bool:
        self._step(0)
        return self.node.is_up

    def _begin(self) -> None:
        self.bench.until(self.planner.has_heard, "a snapshot for the mirror")
        self.zero = time.time_ns() - BEGIN
        self.events.clear()
        self.history.quiet.clear()
        self.history.answers.clear()
        self.planner.stalls.clear()
        self.planner.arrivals.clear()
        self.heard, self.beat = len(self.bench.states), 0
        for event in self.plan.events:
            self._at(event.at, lambda event=event: self._do(event))  # type: ignore[misc]

    def _at(self, at: int, do: Callable[[], None]) -> None:
        heapq.heappush(self.queue, (at, next(self.numbers), do))

    def _step(self, most: int) -> None:
        """Spin once, for at most 5 ms, and continue the tasks."""
        self.bench.spin(max(0.0, min(most, 5 * MS) / SECOND))
        if self.now() - self.looked > PAUSE:
            self._note_waits()
        self.tasks = [each for each in self.tasks if next(each[1], self) is not self]
        while self.heard < len(self.bench.states):
            self._hear(self.bench.states[self.heard])
            self.heard += 1

    def _note_waits(self) -> None:
        """Note each thread that has waited for a processor: it did not do what it should have."""
        now, known = self.now(), self.waits
        self.waits = {}
        for process in ("self", *(str(each.server.process.pid) for each in self._processes())):
            for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
                with suppress(OSError):  # the thread has ended
                    self.waits[file] = int(file.read_text().split()[1])
        most = max((v - known.get(file, v) for file, v in self.waits.items()), default=0)
        if most > STALL:
            self._is_quiet(self.looked, now + SETTLED, "no processor")
        self.looked = now

    def _processes(self) -> list[Process]:
        return [each for each in (self.node, self.twin) if each is not None]

    def _note_stall(self, begin: int, end: int) -> None:
        """After a stall, the order of messages is not known, and there may be a pause."""
        if end - begin > STALL:
            after = SETTLED if end - begin > PAUSE else QUEUES
            self._is_quiet(begin, end + after, "stall")

    def _note(self, kind: str, at: int = 0, **data: Any) -> None:
        self.events.append(Event(at or self.now(), kind, data))

    def _record(self, number: int, kind: str, at: int, reply: Any, question: Question) -> None:
        text = str(getattr(reply, "message", getattr(reply.verdict, "message", "")))
        self.history.answers[number] = Answer(kind, at, said(reply, question), text)

    def _is_quiet(self, begin: int, end: int, reason: str, kinds: tuple[str, ...] = ALL) -> None:
        self.history.quiet.append((begin, end, kinds, reason))

    # ---- processes

    def _start(self, rate: float = 0.0) -> Process:
        """Start a process. A twin has other names for its services, so that only one answers."""
        given = {name: v for name, v in self.plan.parameters.items() if v not in ([], "")}
        for publisher in self.publishers.values():  # the simulated network loses no message
            given[f"qos_overrides.{publisher.topic_name}.subscription.reliability"] = "reliable"
        clients, remaps = {name: self.bench.clients[name] for name in USED}, []
        if rate:
            given["state_rate"] = rate
            remaps = [f"~/{name}:=/{self.name}/twin/{name}" for name in USED]
            topic, make = f"/{self.name}/twin/change_state", self.bench.node.create_client
            clients = {"change_state": make(ChangeState, topic, qos_profile=SERVICE_QOS)}
        given |= {"__ns": f"/{self.name.partition('/')[0]}", "remap": remaps, "autostart": False}
        process = Process(Server(self.name, **given), clients, self.now(), rate)
        self.tasks.append((process, self._bring_up(process)))
        return process

    def _bring_up(self, process: Process) -> Task:
        counts = {each: each.get_subscription_count() + 1 for each in self.publishers.values()}
        for client in process.clients.values():
            yield from self._meet(client)
        is_twin = process is self.twin
        epoch = 1000 + next(self.numbers)
        self._note("twin" if is_twin else "restart", epoch=epoch, rate=process.rate)
        yield from self._change(process, "configure")
        while any(each.get_subscription_count() < n for each, n in counts.items()):
            yield
        wanted = max(process.wanted, self.now() + SETTLED)
        while self.now() < wanted or not process.wanted:
            wanted = max(wanted, process.wanted)
            yield
        yield from self._change(process, "activate")
        self._note("activate twin" if is_twin else "activate")
        process.is_up = True
        self._is_quiet(process.begin, self.now() + SETTLED, "start")

    def _meet(self, client: Any) -> Task:
        """Ask until a reply arrives: the first replies of a new process may be lost."""
        futures: list[Any] = []
        again = 0
        while not any(each.done() for each in futures):
            if client.service_is_ready() and self.now() > again:
                futures.append(client.call_async(client.srv_type.Request()))
                again = self.now() + SECOND // 4
            yield

    def _change(self, process: Process, label: str) -> Task:
        request = ChangeState.Request()
        request.transition.label = label
        future = process.clients["change_state"].call_async(request)
        while not future.done():
            yield
        assert future.result().success, (label, process.server.log)

    def _end(self, process: Process, how: signal.Signals) -> None:
        self.tasks = [each for each in self.tasks if each[0] is not process]
        process.server.stop(how)

    def _close(self) -> None:
        for process in self._processes():
            process.server.process.send_signal(signal.SIGCONT)
            self._end(process, signal.SIGTERM)
        self.planner.close()
        self.bench.close()

    # ---- data

    def _make_publishers(self) -> dict[str, Any]:
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        new, space = self.bench.node.create_publisher, f"/{self.name.partition('/')[0]}"
        found: dict[str, Any] = {}
        for source in self.plan.parameters["obstacle_sources"]:
            qos = latched if self.plan.parameters[f"{source}.static"] else 10
            found[source] = new(ObstacleArray, f"{space}/{source}", qos)
        if topic := self.plan.parameters["twist_topic"]:
            found["twist"] = new(Odometry, f"{space}/{topic}", 10)
        if not self.plan.parameters["footprint"]:
            found["footprint"] = self.bench.footprint
        return found

    def _send(self, event: Event) -> None:
        data = dict(event.data)
        key = data["source"], data["sender"]
        stamp = self.now() + data["error"]
        if data.pop("repeat", False):
            stamp = self.stamps.get(key, stamp)
        self.stamps[key] = stamp
        names = ("number", "frame", "boxes", "size", "speed", "bad")
        given = {name: data[name] for name in names if name in data}
        real = stamp + self.zero
        content = as_ros(Message(event.kind, 0, real, *key, **given))

        def publish() -> None:
            at = self.now()
            self.published.setdefault((key[0], real), at)
            self.publishers[key[0]].publish(content)
            self._note(event.kind, at, **{**data, "error": stamp - at, "delay": LATENCY})

        self._at(self.now() + data["delay"], publish)

    # ---- questions

    def _ask(self, event: Event) -> None:
        data, number, sent = event.data, next(self.numbers), self.now()
        service = data["question"].service
        is_large = service == "CheckPoses" and number % 3 == 0
        question = _repeated(data["question"]) if is_large else data["question"]
        of, required = 0, 0
        if data["required"] and self.ids:
            of, required = self.ids[-min(data["required"], len(self.ids))]
        request = request_of(question, required)
        client = self.bench.clients["collide" if service == "Collide" else "check_poses"]
        self.asked += 1

        def note(reply: Any) -> None:
            self.asked -= 1
            at = nanoseconds(reply.info.header.stamp) - self.zero
            duration = round(reply.info.compute_time * SECOND)
            given = {"question": question, "duration": duration, "of": of, "answer": number}
            self._note("ask", at, **{**data, **given})
            self._record(number, service, at, reply, question)
            if not self.node.is_stopped:
                self._note_stall(sent, at)
            if reply.verdict.status == reply.verdict.SUCCESS and not required:
                self.ids.append((number, reply.info.snapshot_id))

        client.call_async(request).add_done_callback(lambda future: note(future.result()))

    def _think(self, event: Event) -> None:
        if event.data["mirror"]:
            return
        if self.now() < self.planner.paused_until:
            self._at(self.planner.paused_until, lambda: self._think(event))
            return
        data, number, at = event.data, next(self.numbers), self.now()
        reply = self.planner.answer(data["question"], at + self.zero + data["ahead"])
        self._note("think", at, **{**data, "duration": self.now() - at, "answer": number})
        self._record(number, "mirror", at, reply, data["question"])

    def _hear(self, state: Any) -> None:
        number, at = next(self.numbers), nanoseconds(state.info.header.stamp) - self.zero
        if at < BEGIN:
            return
        is_twin = self.twin is not None and not 0 < state.counter - self.counter < 4
        self._note("beat", at, answer=number, twin=is_twin)
        if is_twin:
            return
        self.counter = state.counter
        period = round(SECOND / self.values["state_rate"])
        if self.beat:
            self._note_stall(self.beat + period, at)
        self.beat = at
        self._record(number, "heartbeat", at, state, HERE)

    # ---- other events

    def _do(self, event: Event) -> None:
        kind, data = event.kind, event.data
        if kind in ("list", "footprint", "twist"):
            self._send(event)
        elif kind == "ask":
            self._ask(event)
        elif kind == "think":
            self._think(event)
        elif kind == "pause":
            self._pause(data["who"], data["duration"])
        elif kind == "restart":
            self.node.wanted = self.now()
        elif kind == "twin" and self.twin is None:
            self.twin = self._start(data["rate"])
            self.twin.wanted = self.now()
        elif kind == "end twin" and self.twin is not None:
            self._end_twin(self.twin)
        elif self.node.is_stopped or self.now() < self.calm:
            self._at(self.now() + QUEUES, lambda: self._do(event))  # after the messages in queues
        elif self.node.is_up:  # else the planned event has nothing to act on
            if kind == "crash":
                self._crash()
            elif kind in ("activate", "deactivate"):
                request = ChangeState.Request()
                request.transition.label = kind
                self._call("change_state", request, lambda reply, at: self._note(kind, at))
            elif kind == "reset":
                request = SERVICES["reset"].Request()
                self._call("reset", request, lambda reply, at: self._note(kind, at))
            elif kind == "parameter":
                self._set(data)

    def _call(self, name: str, request: Any, note: Callable[[Any, int], None]) -> None:
        """Call a service; `note` gets the reply and the time at which the call was executed."""
        sent = self.now()

        def done(future: Any) -> None:
            at = max(sent, self.now() - MS)
            note(future.result(), at)
            if name in ("change_state", "reset") and "map" in self.publishers:
                self._is_quiet(sent, at + QUEUES, "static data")

        self.node.clients[name].call_async(request).add_done_callback(done)

    def _set(self, data: Mapping[str, Any]) -> None:
        name, number = data["name"], next(self.numbers)
        old = self.values[name]
        value = old * data["factor"] + (0.1 if not old else 0.0)
        request = SERVICES["set_parameters_atomically"].Request()
        parameter = rclpy.parameter.Parameter(name, value=value)
        request.parameters = [parameter.to_parameter_msg()]

        def note(reply: Any, at: int) -> None:
            if reply.result.successful:
                self.values[name] = value
            self._note("parameter", at, answer=number, **data)
            accepted, reason = reply.result.successful, reply.result.reason
            self.history.answers[number] = Answer("parameter", at, (accepted,), reason)

        self._call("set_parameters_atomically", request, note)

    def _pause(self, who: str, duration: int) -> None:
        begin, node, planner = self.now(), self.node, self.planner
        if who == "mirror":
            if begin < planner.paused_until:
                return
            planner.paused_until = begin + duration
        else:
            if node.is_stopped or not node.is_up:
                return
            node.is_stopped = True
            node.server.process.send_signal(signal.SIGSTOP)
            self._at(begin + duration, lambda: self._resume(node))
        self._note("pause", begin, who=who, duration=duration)
        kinds = ("mirror",) if who == "mirror" else ALL
        self._is_quiet(begin, begin + duration + QUEUES, "pause", kinds)

    def _resume(self, node: Process) -> None:
        node.server.process.send_signal(signal.SIGCONT)
        node.is_stopped, self.beat = False, 0
        self.calm = self.now() + QUEUES

    def _crash(self) -> None:
        self._note("crash")
        self._end(self.node, signal.SIGKILL)
        self.values, self.counter = dict(self.plan.parameters), 0
        self.node = self._start()

    def _end_twin(self, twin: Process) -> None:
        self._end(twin, signal.SIGKILL)
        self._note("end twin")
        if not twin.is_up:
            self._is_quiet(twin.begin, self.now() + SETTLED, "start")
        self.twin = None


def _repeated(question: Question) -> Question:
    """Return the question with its poses repeated: the node computes it in its second thread."""
    more = MANY // len(question.poses) + 1
    poses, which, times = question.poses * more, question.which * more, question.times * more
    return replace(question, poses=poses, which=which, times=times)
