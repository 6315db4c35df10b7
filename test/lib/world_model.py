# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/ros.md and the messages once more, judged from a log of all messages.

Obstacles are boxes of 2 m on the x axis. Sets of statuses and verdicts: what may be said.
"""

from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

from gjk_collision.verdict import Status, Verdict

CAR, S = "footprint", 1_000_000_000  # the name of the topic; ns per second


@dataclass(eq=False)
class Message:
    source: str  # "": a configured footprint
    stamp: int
    sender: str = ""
    sequence: int = 0
    frame: str = "odom"
    bad: Status | None = None
    boxes: tuple[tuple[float, float], ...] = ()  # x of the centre and speed, in the check frame
    half: float = 1.0  # half the length of a footprint [m]
    is_placed: bool = False  # its transform has been found
    received: int = 0  # when its stamp was first received
    fault: Status | None = None  # its own, or why it was refused


@dataclass(frozen=True)
class State:
    now: int
    car: Message | None
    parts: tuple[Message, ...]
    faults: dict[str, set[Status]]  # by source, the footprint first
    bad_sources: tuple[str, ...]
    oldest: float  # stamp of the oldest of all senders
    is_void: bool = False  # nothing can be answered any more


class Model:
    def __init__(self, config: Any, frames: Any) -> None:
        self.config, self.frames, self.now, self.faulty = config, frames, -1, 0
        self.forget(False)

    def forget(self, has_jumped: bool) -> None:
        # Messages by source and sender, without those that were dropped; when each stamp of a
        # sender was first received; sources with too many senders; number and stamp of the last
        # message of a sender, and whether its number did not increase; when this was so, and when
        # twice within 3 s; the newest stamp of a sender that was not refused.
        self.log, self.first, self.crowded, self.number = {}, {}, set(), {}
        self.stuck, self.clash, self.newest = {}, {}, {}
        self.has_jumped, self.faulty = has_jumped, self.faulty + 1  # how often there was a fault

    def clock(self, now: int) -> None:
        if now < self.now:
            self.forget(True)
        self.now = now

    def rules(self) -> dict[str, tuple[float, str, bool, Status, Status]]:
        c, car = self.config, (Status.STALE_FOOTPRINT, Status.NO_FOOTPRINT)
        of_car = {} if c.footprint else {CAR: (c.footprint_timeout, c.base_frame, True, *car)}
        rest = c.check_frame, Status.STALE_OBSTACLES, Status.NO_OBSTACLES
        return of_car | {s.name: (s.timeout, rest[0], s.required, *rest[1:]) for s in c.sources}

    def receive(self, m: Message, now: int, steady: int) -> None:
        self.clock(now)
        who = m.source, m.sender or m.source
        self.log.pop((m.source, ""), None)
        if who not in self.log and sum(each[0] == m.source for each in self.log) >= 16:
            self.crowded.add(m.source)
            return
        log = self.log.setdefault(who, [])
        number, stamp, was_stuck = self.number.get(who, (0, 0, False))
        is_again = m.sequence > 0 and (m.sequence, m.stamp) == (number, stamp)
        is_stuck = was_stuck if is_again else 0 < m.sequence <= number
        if m.sequence:
            self.number[who] = m.sequence, m.stamp, is_stuck
        if is_stuck and not is_again:
            if steady - self.stuck.get(who, -inf) <= 3 * S:
                self.clash[who] = steady
            self.stuck[who] = steady
        is_late = m.stamp < self.newest.get(who, 0)
        if not is_late:
            m.received = self.first.setdefault((*who, m.stamp), steady)
            m.fault = Status.INVALID_INPUT if is_stuck else m.bad
            is_early = m.stamp > now + round(self.config.max_future_stamp * S)
            m.fault = Status.FUTURE_STAMP if is_early else m.fault
            self.newest[who] = self.newest.get(who, 0) if is_early else m.stamp
            log.append(m)
        self.faulty += self.is_clash(who, steady) or (m.fault is not None and not is_late)

    def is_clash(self, who: tuple[str, str], steady: int) -> bool:
        return steady - self.clash.get(who, -inf) <= 3 * S

    def receive_garbage(self, source: str, status: Status, now: int, steady: int) -> None:
        self.clock(now)
        self.faulty += 1
        for who in [k for k in self.log if k[0] == source] or [(source, source * (source == CAR))]:
            log = self.log.setdefault(who, [])
            log.append(Message(source, log[-1].stamp if log else 0, fault=status))

    def is_old(self, m: Message, steady: int) -> bool:
        return max(self.now - m.stamp, steady - m.received) > round(self.rules()[m.source][0] * S)

    def judge(self, m: Message, steady: int) -> tuple[set[Status], bool]:
        """Why a message is not used, and whether its transform may still come."""
        _, target, _, stale, _ = self.rules()[m.source]
        if m.fault is not None or self.is_old(m, steady):
            return {stale if m.fault is None else m.fault}, False
        why = set() if m.frame == target or m.is_placed else self.frames.trouble(m.frame, m.stamp)
        m.is_placed = not why
        return why, why == {Status.TF_EXTRAPOLATION} and m.stamp > max(self.frames.newest, 1)

    def choose(self, log: list[Message], steady: int) -> tuple[list[Message], set[Status]]:
        """The newest message that can be used, but none older than a faulty one; or why not."""
        found: set[Status] = set()
        for m in log[:-10:-1]:
            why, may_come = self.judge(m, steady)
            found |= why
            if not why or not may_come:
                return ([], found) if why else ([m], why)
        return [], found

    def state(self, now: int, steady: int) -> State:
        self.clock(now)
        parts, faults, bad, jump = [], {}, [], {Status.CLOCK_JUMP}
        for name, (_, _, required, stale, none) in self.rules().items():
            logs = [log for who, log in self.log.items() if who[0] == name]
            whys = [(jump if self.has_jumped else {none}, not required)] if not logs else []
            whys += [({Status.LIMIT_EXCEEDED}, False)] if name in self.crowded else []
            for who, log in ((who, log) for who, log in self.log.items() if who[0] == name):
                m, why = self.choose(log, steady)
                m, why = ([], {Status.INVALID_INPUT}) if self.is_clash(who, steady) else (m, why)
                parts += m
                whys += [(why, why == {stale} and not required)] if why else []
            bad += [name] if whys else []
            if counted := [why for why, is_excused in whys if not is_excused]:
                faults[name] = set().union(*counted)
        configured = Message("", now) if self.config.footprint else None
        car = next((each for each in parts if each.source == CAR), configured)
        parts = [each for each in parts if each.source != CAR]
        if sum(len(each.boxes) for each in parts) > self.config.max_obstacles:
            faults, parts = {**faults, "": {Status.LIMIT_EXCEEDED}}, []
        if not parts and not faults.keys() - {CAR}:
            is_first = self.has_jumped and all(each[0] == CAR for each in self.log)
            faults[""] = jump if is_first else {Status.NO_OBSTACLES}
        logs = [log[-1:] for who, log in self.log.items() if who[0] != CAR and who[1]]
        oldest = min((each.stamp for each in sum(logs, parts)), default=nan)
        return State(now, car, tuple(parts), faults, tuple(b for b in bad if b != CAR), oldest)

    def too_old(self, state: State, steady: int) -> list[str]:
        used = [m for m in (state.car, *state.parts) if m and m.source]
        return [m.source for m in used if self.is_old(m, steady)]

    def confirm(self, state: State, now: int, steady: int) -> State:
        """What is known when an answer from this state leaves."""
        old = {"": {Status.CLOCK_JUMP}} if now < self.now else {}
        self.clock(now)
        old = old or {name: {self.rules()[name][3]} for name in self.too_old(state, steady)}
        bad = dict.fromkeys((*state.bad_sources, *(name for name in old if name not in ("", CAR))))
        faults, bad = old or state.faults, tuple(bad)
        return replace(state, now=now, bad_sources=bad, is_void=bool(old), faults=faults)

    def verdict(self, state: State, x: float, margin: float, at: int | None = None) -> set[Any]:
        """What may be said of the vehicle at x; `at`: the time of a timed pose [ns]."""
        c, gap, slack = self.config, inf, 0.0 if at is None else 1e-6  # times are rounded
        why = next(iter(state.faults.values()), set())
        unknown = {(Verdict.UNKNOWN, status) for status in why}
        too_short = {(Verdict.UNKNOWN, Status.PREDICTION_TOO_SHORT)}
        end = min((m.stamp for m in state.parts), default=0) + round(c.prediction_horizon * S)
        if state.car is None or state.is_void or (at is not None and at > end):
            return unknown or too_short
        for m in state.parts:
            for centre, speed in m.boxes:
                ahead = centre - x + (0.0 if at is None else speed * (at - m.stamp) / S)
                size = 1.0 + state.car.half + c.source(m.source).inflation
                if at is not None and speed and at < m.stamp:  # not predicted backwards
                    unknown, size = unknown or too_short, -inf
                gap = min(gap, abs(ahead) - size - (c.margin_front, c.margin_rear)[ahead < 0.0])
        hit, said = {(Verdict.COLLISION, status) for status in why or {Status.SUCCESS}}, set()
        for each in {gap - slack, gap + slack}:
            verdict = Verdict.MARGIN if each <= c.safety_margin + margin else Verdict.FREE
            said |= hit if each <= 0.0 else unknown or {(verdict, Status.SUCCESS)}
        return said
