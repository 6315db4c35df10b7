# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Decides which answers FREE are justified, from the facts alone, in the strictest reading.

It is written from docs/ros.md and docs/mirror.md, and shares no code with the server. `NodeRecord`
keeps what reached one process of the node, `MirrorRecord` what reached a mirror. Obstacles are
rounded rectangles that do not turn, so distances have a closed form.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import atan2, cos, hypot, pi
from typing import Any

from .facts import (
    BEAMS,
    CELL,
    CELLS,
    MAX_RANGE,
    MS,
    SECOND,
    Box,
    Message,
    Question,
    Violation,
)

Place = tuple[float, ...]  # of a frame: x, y; cosine of the pitch, if it is not level
NEAR = 1e-6  # m: nearer to contact than this, both verdicts are accepted
PAUSE = 100 * MS  # a longer pause of a process is noticed
SETTLED = 250 * MS  # a message that is read so soon after a pause has waited
CLASH = OTHER = 3 * SECOND
GAP = LEAD = 2 * SECOND
KEPT = 10 * SECOND  # transforms
WAITING = 8  # messages of a sender that wait for their transform
SAMPLES = 6  # of each segment of a path


def seconds(value: float) -> int:
    """Return a parameter in ns."""
    return round(value * 1e9)


def need(condition: object, text: str) -> None:
    """Raise `Violation` if an answer FREE has no right to be given."""
    if not condition:
        raise Violation(text)


def distance(at: Place, size: Place, box: Box, by: Place, after: float, grown: float) -> float:
    """Return a signed distance [m] of a rectangle at a place from an obstacle.

    `by` is the place of the frame of the obstacle, `after` the time since its stamp [s].
    """
    level = by[2] if len(by) > 2 else 1.0
    x, y = (box.x + box.vx * after) * level + by[0], box.y + box.vy * after + by[1]
    dx, dy = abs(x - at[0]) - size[0] - box.hx * level, abs(y - at[1]) - size[1] - box.hy
    if box.is_region:
        return min(box.hx - abs(x - at[0]) - size[0], box.hy - abs(y - at[1]) - size[1]) - grown
    gap = hypot(max(dx, 0.0), max(dy, 0.0)) if dx > 0.0 or dy > 0.0 else max(dx, dy)
    return gap - box.r - grown


def places_of(
    question: Question, free: Iterable[int]
) -> Iterable[tuple[int, Place, float | None]]:
    """Return index, place and time [s] of what must be free: poses, or points of a path."""
    poses, times = question.poses, question.times
    if question.service != "CheckPath":
        yield from ((i, poses[i], times[i] if times else None) for i in free)
        return
    for i in range(len(poses) - 1):
        for k in range(SAMPLES + 1):
            share = k / SAMPLES
            (ax, ay), (bx, by) = poses[i], poses[i + 1]
            when = times[i] + share * (times[i + 1] - times[i]) if times else None
            yield i, (ax + share * (bx - ax), ay + share * (by - ay)), when


@dataclass
class Sender:
    """What was received from one sender."""

    receipts: dict[int, int] = field(default_factory=dict)  # stamp -> first receipt, steady
    messages: tuple[tuple[Message, str], ...] = ()  # newest first, with their faults
    newest: int = -1  # stamp, of those not too far ahead
    # Number and stamp of the last message with a number, and whether it was not greater.
    counted: tuple[int, int, bool] = (0, 0, False)
    smaller: int = -CLASH  # steady time of the last number that was not greater
    clash: int | None = None  # steady time at which two publishers were noticed
    used: Message | None = None  # the one in force, of a sender without fault

    def receive(self, new: Message, receipt: int, limit: int) -> str | None:
        """Note a message; return its fault, or None if it is dropped.

        A message with a stamp after `limit` is refused.
        """
        is_smaller = is_again = False
        if new.number:
            number, stamp, was_smaller = self.counted
            is_again = (new.number, new.stamp) == (number, stamp)
            is_smaller = was_smaller if is_again else new.number <= number
            self.counted = new.number, new.stamp, is_smaller
        if is_smaller and not is_again:
            self.clash = receipt if receipt - self.smaller <= CLASH else self.clash
            self.smaller = receipt
        if new.stamp < self.newest:
            return None
        self.receipts[new.stamp] = min(self.receipts.get(new.stamp, receipt), receipt)
        if new.stamp > limit:
            return "a stamp too far ahead"
        self.newest = new.stamp
        return "a number that does not increase" if is_smaller else "invalid" if new.bad else ""

    def add(self, new: Message, fault: str) -> None:
        """Store a message that is not dropped."""
        self.messages = ((new, fault), *self.messages)[: 1 + WAITING]


@dataclass(frozen=True, eq=False)
class Part:
    """A list that is in use, with the place of its frame."""

    source: str
    message: Message
    receipt: int
    place: Place


@dataclass(frozen=True, eq=False)
class Data:
    """The data in force at one time. `key` is equal for equal data."""

    at: int
    key: tuple[Any, ...]
    fault: str  # why data other than the footprint is not complete
    parts: tuple[Part, ...]
    config: Mapping[str, Any]
    choice: str  # name of the footprint of a request that names none
    choice_fault: str
    footprint: Message | None  # from the topic
    twist: Message | None
    receipts: Mapping[str, int]  # of the footprint and of the twist

    def size_of(self, name: str) -> Place | None:
        """Return the half sizes of a footprint; None: it is not known."""
        name = name or self.choice
        if name == "default" and self.config["footprint_is"] == "topic":
            return None if self.footprint is None else self.footprint.size
        return self.config["sizes"].get(name)  # type: ignore[no-any-return]

    def is_named(self, question: Question, free: Iterable[int]) -> bool:
        """Return whether no footprint of poses is from a topic or selected by a twist."""
        return all(self.is_fixed(question.name_at(i)) for i in free)

    def is_fixed(self, name: str) -> bool:
        """Return whether a footprint depends on no message."""
        if name not in ("", "default"):
            return True
        kind = self.config["footprint_is"]
        return bool(kind == "parameter" or (kind == "speed" and name == "default"))

    def check_geometry(
        self, question: Question, free: Iterable[int], at: int, by: Place, bound: float = -1.0
    ) -> None:
        """Check that poses are free of this data; `at` is the time of the question (ROS).

        `bound`: a lower bound of the distance [m].
        """
        stamps = [p.message.stamp for p in self.parts if not self.is_static(p)]
        for i, (x, y), time in places_of(question, free):
            size = self.size_of(question.name_at(i))
            need(size is not None, "the footprint is not known")
            assert size is not None
            if self.config["require_seen"]:
                margin = self.config["safety_margin"] + question.margin
                self._check_seen(i, (x + by[0], y + by[1]), size, margin)
            when = None
            if time is not None:
                when = at + seconds(time)
                begin, most = min(stamps, default=at), seconds(self.config["prediction_horizon"])
                need(when <= begin + most + 1000, "after the prediction horizon")
            for part in self.parts:
                moves = when is not None and not self.is_static(part)
                after = (when - part.message.stamp) * 1e-9 if moves and when is not None else 0.0
                grown = self.config[f"{part.source}.inflation"]
                for box in part.message.boxes:
                    runs = moves and (box.vx or box.vy)
                    need(not runs or after > -1e-6, "before its data")
                    gap = distance((x + by[0], y + by[1]), size, box, part.place, after, grown)
                    margin = self.config["safety_margin"] + question.margin
                    if not gap > margin - NEAR or not bound < gap + NEAR:
                        where = f"{gap:.3f} m from {part.source}: {box}"
                        raise Violation(f"pose {i} is {where}; lower bound {bound} m")

    def _check_seen(self, i: int, at: Place, size: Place, margin: float) -> None:
        """Check that points of a vehicle, and within its margin, were seen."""
        parts = [each for each in self.parts if self.config[f"{each.source}.marks_seen"]]
        own = self.size_of("") or (-1.0, -1.0)
        steps = [k / 4.0 for k in range(-4, 5)]
        for u, v in ((u, v) for u in steps for v in steps):
            x = at[0] + u * (size[0] + (margin if abs(v) < 1.0 else 0.0))
            y = at[1] + v * (size[1] + (margin if abs(u) < 1.0 else 0.0))
            stands = abs(x) <= own[0] + 0.0011 and abs(y) <= own[1] + 0.0011
            if not (stands or any(is_seen(each, x, y) for each in parts)):
                raise Violation(f"pose {i}: nobody has seen ({x:.3f}, {y:.3f})")

    def is_static(self, part: Part) -> bool:
        """Return whether a list never becomes too old."""
        return bool(self.config[f"{part.source}.static"])

    def check_ages(
        self, ros: int, steady: int, *, is_named: bool, twist: Message | None, slack: int = 0
    ) -> None:
        """Check that all data is fresh by both clocks. `twist`: the one that must be fresh."""
        ahead = seconds(self.config["max_future_stamp"])
        limits = [
            (each.source, each.message, each.receipt, self.config[f"{each.source}.timeout"])
            for each in self.parts
            if not self.is_static(each)
        ]
        if not is_named:
            for name, message in (("footprint", self.footprint), ("twist", twist)):
                if message is not None and name in self.receipts:
                    limit = self.config[f"{name}_timeout"]
                    limits.append((name, message, self.receipts[name], limit))
        for name, message, receipt, limit in limits:
            age, silence = ros - message.stamp, steady - receipt
            need(age <= seconds(limit), f"{name} is {age * 1e-9:.3f} s old, limit {limit}")
            text = f"{name} was received {silence * 1e-9:.3f} s ago, limit {limit}"
            need(silence <= seconds(limit) + slack, text)
            need(-age <= ahead, f"{name} is {-age * 1e-9:.3f} s ahead of the clock")


def is_seen(part: Part, x: float, y: float) -> bool:
    """Return whether a sensor has seen a point: a triangle between beams, or a grid."""
    level = part.place[2] if len(part.place) > 2 else 1.0
    x, y = (x - part.place[0]) / level, y - part.place[1]
    message = part.message
    if message.is_grid:
        half = 0.5 * CELL * CELLS + NEAR
        return abs(x - message.place[0]) <= half and abs(y - message.place[1]) <= half
    ranges, step = dict(message.returns), 2.0 * pi / BEAMS
    angle = atan2(y, x) % (2.0 * pi)
    beam = int(angle / step) % BEAMS
    least = min(ranges.get(k % BEAMS, MAX_RANGE) for k in (beam, beam + 1))
    along = hypot(x, y) * cos(angle - (beam + 0.5) * step)
    return along <= least * cos(0.5 * step) + NEAR


class Activity:
    """When a process took messages."""

    def __init__(self) -> None:
        self.pauses: list[tuple[int, int]] = []
        self.acted = 0

    def act(self, at: int) -> None:
        """Note that the process takes messages now: at each message, and every 50 ms."""
        gap = at - self.acted
        if self.acted and gap > PAUSE:
            self.pauses.append((self.acted, at))
        self.acted = at

    def receipt(self, at: int, sent: int) -> int:
        """Return when a message that is read now counts as received (steady = true time)."""
        self.act(at)
        found = at
        settled = 0  # time since the end of a pause, without the other pauses
        until = at
        for i, (begin, end) in enumerate(reversed(self.pauses[-20:])):
            settled += until - end
            if settled <= SETTLED:
                found = min(found, begin)
            if i == 0 and sent < end:
                found = min(found, begin, sent)
            settled, until = settled + PAUSE, begin
        return found


class NodeRecord(Activity):
    """What one process of the node received, and when."""

    def __init__(self, config: Mapping[str, Any], clock: Callable[[int], int]) -> None:
        super().__init__()
        self.config, self.clock = config, clock
        self.epoch = 0  # of the activation; 0: not active
        self.epochs: set[int] = set()  # of all activations
        self.senders: dict[tuple[str, str], Sender] = {}
        self.unknown_bad: set[str] = set()  # sources: a message of an unknown sender was bad
        self.mount: Place | None = None  # of the frame "sensor", static
        # of the moving frames "map" and "base": stamps, and stamp -> place
        self.tf: dict[str, tuple[list[int], dict[int, Place]]] = {}
        self.placed: dict[Message, Place] = {}  # at its stamp
        self.none_ahead_until = 0
        self.ends: list[tuple[int, str]] = []  # what ends the use of every earlier snapshot
        self.places: list[tuple[int, Place | None]] = []  # of "map", at each reading
        self.ids: dict[int, Data] = {}
        self.read: int | None = None  # the last time that the node read (ROS)
        self.revision = 0
        self.others: list[int] = []  # when a heartbeat of another process was read

    # ---- what happens

    def look(self, at: int) -> int:
        """Note that the node reads its ROS clock. A step back deletes all data but static data."""
        ros = self.clock(at)
        if self.read == 0 and ros:  # the simulated clock has started
            self.tf = {}
        if self.read is not None and ros < self.read:
            self.end(at, "the clock stepped back")
            self.none_ahead_until = min(self.read, ros + LEAD)
            self.tf = {}
            self.senders = {k: v for k, v in self.senders.items() if self.is_static(k[0])}
            self.unknown_bad = set(filter(self.is_static, self.unknown_bad))
        self.read = ros
        if "map" in self.tf:
            self.places.append((ros, self.newest("map", ros)[0]))
        return ros

    def hear(self, at: int, process: int) -> None:
        """Note a heartbeat of a process with the name of this one."""
        if process != id(self):
            self.others.append(at)

    def check_name(self, sent: int) -> None:
        """Check that no other process answered under this name shortly before."""
        recent = [at for at in self.others if sent - OTHER <= at <= sent]
        need(not recent, "another process with the name of this one was heard")
        ends = [end for begin, end in [*self.pauses, (self.acted, sent)] if end - begin > OTHER]
        stops = [end for end in ends if sent - end <= OTHER]
        need(not stops, "stopped for a long time, another process may have answered meanwhile")

    def step_back(self, at: int, by: int) -> None:
        """Note that the clock reports a step back, from a time that was perhaps not read."""
        self.read = max(self.read or 0, self.clock(at) + by)
        self.look(at)

    def is_static(self, source: str) -> bool:
        """Return whether the data of a source never becomes too old."""
        return bool(self.config.get(f"{source}.static", False))

    def end(self, at: int, why: str) -> None:
        """Note that no earlier snapshot can be used any more."""
        self.ends.append((at, why))

    def activate(self, at: int, epoch: int) -> None:
        """Note an activation, with its part of the ids of snapshots."""
        need(epoch not in self.epochs, "ids of snapshots of an earlier activation are used again")
        self.epochs.add(epoch)
        self.epoch, self.ids = epoch, {}
        self.delete(at, "activated")

    def trim(self) -> None:
        """Forget what is too old to matter."""
        del self.places[:-4000], self.ends[:-500]
        if len(self.placed) > 500:
            self.placed = dict(list(self.placed.items())[-250:])
        if len(self.ids) > 500:
            self.ids = dict(list(self.ids.items())[-250:])

    def delete(self, at: int, why: str) -> None:
        """Delete all data, also static data."""
        self.end(at, why)
        self.senders, self.unknown_bad = {}, set()

    def configure(self, at: int, config: Mapping[str, Any]) -> None:
        """Note that a change of parameters was acknowledged."""
        self.config = config
        self.revision += 1
        self.end(at, "the parameters changed")

    def receive(self, at: int, message: Message) -> None:
        """Note a message that the node reads while it is active."""
        ros = self.look(at)
        if message.kind == "mount":
            self._receive_mount(at, message)
        elif message.kind in ("tf", "ego"):
            ahead = message.stamp - ros
            if ahead <= LEAD and (ahead <= 0 or ros >= self.none_ahead_until):
                self._insert("map" if message.kind == "tf" else "base", message)
            self.look(at)
        else:
            receipt = self.receipt(at, message.sent)
            if self.epoch:
                self._receive_data(at, ros, message, receipt)

    def _receive_mount(self, at: int, message: Message) -> None:
        place = (*message.place, cos(message.pitch))
        if self.mount is not None and self.mount != place:
            self.revision += 1
            self.end(at, "a static transform was corrected")
        self.mount = place

    def _insert(self, frame: str, message: Message) -> None:
        stamps, places = self.tf.setdefault(frame, ([], {}))
        if stamps and message.stamp < stamps[-1] - KEPT:
            return
        if message.stamp not in places:
            insort(stamps, message.stamp)
        places[message.stamp] = message.place
        while stamps[0] < stamps[-1] - KEPT:
            del places[stamps.pop(0)]

    def _receive_data(self, at: int, ros: int, message: Message, receipt: int) -> None:
        source = message.source
        if message.is_refused:
            if source != "twist":
                self.end(at, f"{source}: a message could not be decoded")
            known = [each for key, each in self.senders.items() if key[0] == source]
            for each in known:
                each.add(message, "not decoded")
            if not known:
                self.unknown_bad.add(source)
            return
        self.unknown_bad.discard(source)
        sender = self.senders.setdefault((source, message.sender), Sender())
        if self.is_static(source):
            self.end(at, f"{source}: another message of a static source")
            sender.receipts[message.stamp] = receipt
            sender.add(message, message.bad)
            return
        fault = sender.receive(message, receipt, ros + seconds(self.config["max_future_stamp"]))
        if fault is not None:
            sender.add(message, fault)
        if source != "twist" and (fault or self._is_clash(sender, receipt)):
            self.end(at, f"{source}: {fault or 'two publishers use one name'}")

    @staticmethod
    def _is_clash(sender: Sender, steady: int) -> bool:
        return sender.clash is not None and steady - sender.clash <= CLASH

    # ---- what is in force

    def at_stamp(self, frame: str, stamp: int) -> Place | None:
        """Return the place of a frame in the check frame at a time, if it is known."""
        if frame == "odom":
            return 0.0, 0.0
        if frame == "sensor":
            return self.mount
        stamps, places = self.tf.get(frame, ([], {}))
        k = bisect_left(stamps, stamp)
        if k < len(stamps) and stamps[k] == stamp:
            return places[stamp]
        if k in (0, len(stamps)) or stamps[k] - stamps[k - 1] > GAP:
            return None
        share = (stamp - stamps[k - 1]) / (stamps[k] - stamps[k - 1])
        (ax, ay), (bx, by) = places[stamps[k - 1]][:2], places[stamps[k]][:2]
        return ax + share * (bx - ax), ay + share * (by - ay)

    def newest(self, frame: str, ros: int) -> tuple[Place | None, int | None]:
        """Return the place of a frame now, if it is known, and its stamp; None: it is static."""
        if frame in ("odom", "sensor"):
            return self.at_stamp(frame, ros), None
        stamps = self.tf.get(frame, ([], {}))[0]
        last = min(stamps[-1], ros) if stamps else 0
        is_fresh = ros - last <= seconds(self.config["transform_tolerance"])
        return (self.at_stamp(frame, last) if is_fresh else None), last

    def is_awaited(self, message: Message) -> bool:
        """Return whether the transform of a message may still arrive."""
        stamps = self.tf.get(message.frame, ([], {}))[0]
        return bool(stamps) and message.stamp > stamps[-1]

    def place_of(self, message: Message) -> Place | None:
        """Return the place of a list at its stamp; if it is not known any more, it stays."""
        if message.frame in ("odom", "sensor"):
            return self.at_stamp(message.frame, message.stamp)
        known = self.at_stamp(message.frame, message.stamp) or self.placed.get(message)
        if known is not None:
            self.placed[message] = known
        return known

    def fault_of(self, source: str, sender: Sender, ros: int, steady: int) -> str:
        """Return why the data of a sender cannot be used; "silent": it is optional."""
        config = self.config
        is_obstacles = f"{source}.static" in config
        static = is_obstacles and config[f"{source}.static"]
        limit = seconds(config[f"{source}.timeout" if is_obstacles else f"{source}_timeout"])
        optional = is_obstacles and not config[f"{source}.required"]
        if self._is_clash(sender, steady):
            return f"{source}: two publishers use one name"
        fault = ""
        for k, (message, own) in enumerate(sender.messages):
            if own:
                return f"{source}: {own}"
            if static:
                is_known = self.newest(message.frame, ros)[0] is not None
            else:
                if max(ros - message.stamp, steady - sender.receipts[message.stamp]) > limit:
                    return fault or ("silent" if optional else f"{source} is too old")
                is_known = message.kind != "list" or self.place_of(message) is not None
            if is_known:
                sender.used, sender.messages = message, sender.messages[: k + 1]
                return ""
            fault = f"{source}: no transform"
            if static or not self.is_awaited(message):
                break
        return fault

    def data(self, at: int) -> Data:
        """Return the data in force now."""
        ros, config = self.look(at), self.config
        parts, faults = [], []
        for source in config["obstacle_sources"]:
            known = [(key, each) for key, each in self.senders.items() if key[0] == source]
            if not known and config[f"{source}.required"]:
                faults.append(f"{source} is missing")
            if source in self.unknown_bad:
                faults.append(f"{source} could not be decoded")
            for _, sender in sorted(known, key=lambda each: each[0]):
                fault = self.fault_of(source, sender, ros, at)
                if fault:
                    faults += [fault] * (fault != "silent")
                    continue
                used = sender.used
                assert used is not None
                is_static = self.is_static(source)
                place = self.newest(used.frame, ros)[0] if is_static else self.place_of(used)
                assert place is not None
                parts.append(Part(source, used, sender.receipts[used.stamp], place))
        if not parts and not faults:
            faults.append("no source has fresh data")
        choice, choice_fault, footprint, twist, receipts = self._choice(at, ros)
        key = (
            self.epoch,
            self.revision,
            choice,
            id(footprint),
            *((id(each.message), each.place) for each in parts),
        )
        fault = faults[0] if faults else "" if self.epoch else "the node is not active"
        return Data(
            at, key, fault, tuple(parts), config, choice, choice_fault, footprint, twist, receipts
        )

    def _choice(
        self, at: int, ros: int
    ) -> tuple[str, str, Message | None, Message | None, dict[str, int]]:
        """Return the footprint of a request that names none, and what it depends on."""
        kind = self.config["footprint_is"]
        if kind == "parameter":
            return "default", "", None, None, {}
        source = "footprint" if kind == "topic" else "twist"
        sender = self.senders.get((source, ""))
        if sender is None or source in self.unknown_bad:
            return "", f"no {source}", None, None, {}
        if fault := self.fault_of(source, sender, ros, at):
            return "", fault, None, None, {}
        last = sender.used
        assert last is not None
        receipts = {source: sender.receipts[last.stamp]}
        if kind == "topic":
            return "default", "", last, None, receipts
        for name in self.config["speed_footprints"]:
            low, high = self.config["speeds"][name]
            if low <= last.speed <= high:
                return name, "", None, last, receipts
        return "", "no footprint is for this speed", None, last, receipts

    def has_ended(self, since: int, until: int, *, is_named: bool) -> str:
        """Return why a snapshot that was made at a time cannot be used any more.

        An invalid footprint does not concern a request that names another one.
        """
        found = (why for at, why in self.ends if since < at <= until)
        return next((why for why in found if not is_named or not why.startswith("footprint")), "")

    # ---- answers

    def judge(
        self,
        question: Question,
        asked: int,
        sent: int,
        id_: int,
        free: list[int],
        *,
        required: int = 0,
        is_whole: bool = True,
        pose: int | None = None,
    ) -> None:
        """Check an answer that the node sends now; `asked`: when it began to answer.

        The data in force at `asked` was passed to `remember`. `is_whole`: the verdict is FREE, not
        only that of some poses. `pose`: stamp of the pose of the frame; None: it has no age.
        """
        if not free:
            return
        now = self.data(sent)
        need(self.epoch, "the node is not active")
        self.check_name(sent)
        need(id_ >> 32 == self.epoch, "the id of the snapshot is of another activation")
        data = self.ids.get(id_)
        need(data is not None, "a snapshot that was never in force")
        assert data is not None
        need(not required or id_ == required, "not the required snapshot")
        is_named = data.is_named(question, free)
        need(not data.fault, f"data was not complete: {data.fault}")
        if not is_named:
            need(not data.choice_fault, f"no footprint: {data.choice_fault}")
            need(not now.choice_fault, f"no footprint now: {now.choice_fault}")
            need(now.choice == data.choice, "another footprint is for the present speed")
        begin = data.at
        why = self.has_ended(begin, sent, is_named=is_named)
        need(not why, f"since then: {why}")
        ros = self.clock(sent)
        data.check_ages(ros, sent, is_named=is_named, twist=None)  # its present state: below
        need(not now.fault, f"the data now has a fault: {now.fault}")
        self._check_places(data, ros)
        is_late = sent - asked > seconds(self.config["time_budget"])
        need(not (is_late and is_whole), "the time budget is used up")
        if pose is not None:
            age = abs(ros - min(pose, self.clock(asked)))
            need(age <= seconds(self.config["transform_tolerance"]), "the pose is too old")

    def _check_places(self, data: Data, ros: int) -> None:
        for part in data.parts:
            if not data.is_static(part) or part.message.frame != "map":
                continue
            last = max((when for when, place in self.places if place == part.place), default=0)
            limit = seconds(self.config["transform_tolerance"])
            text = f"{part.source} was placed {(ros - last) * 1e-9:.3f} s ago"
            need(ros - last <= limit, text)

    def remember(self, id_: int, data: Data) -> None:
        """Note the data in force at the time of a complete snapshot: equal ids, equal data."""
        known = self.ids.setdefault(id_, data)
        need(known.key == data.key, f"the id {id_} stands for {known.key} and {data.key}")


@dataclass(frozen=True, eq=False)
class Published:
    """A snapshot or a heartbeat that a node sent to its mirrors."""

    process: int  # number of the process that sent it
    sent: int
    ros: int  # its stamp
    epoch: int
    sequence: int
    id: int
    data: Data | None  # in force when it was sent
    is_snapshot: bool
    statics: tuple[int, ...] = ()  # which messages of static sources, and which corrections


class MirrorRecord(Activity):
    """What one mirror received, and when it read it."""

    def __init__(self, clock: Callable[[int], int]) -> None:
        super().__init__()
        self.clock = clock
        self.receipts: dict[Published, int] = {}
        self.received: list[tuple[int, int, Published]] = []  # read at, ROS time then, what
        self.read: int | None = None
        self.count = 0  # number of messages
        self.last: Published | None = None  # the snapshot in use
        self.ends: list[int] = []  # `count` at each step back of the clock

    def look(self, at: int) -> int:
        """Note that the mirror reads its ROS clock. After a step back it knows nothing."""
        ros = self.clock(at)
        if self.read is not None and ros < self.read:
            self.ends.append(self.count)
            self.last = None
        self.read = ros
        return ros

    def receive(self, at: int, what: Published) -> None:
        """Note a message that the mirror reads."""
        ros = self.look(at)
        self.received.append((at, ros, what))
        self.receipts[what] = self.receipt(at, what.sent)
        self.count += 1
        for _, _, old in self.received[:-600]:
            del self.receipts[old]
        del self.received[:-600]
        if what.is_snapshot:
            last = self.last
            is_same = last is not None and last.epoch == what.epoch != 0
            if last is None or not is_same or what.sequence >= last.sequence:
                self.last = what

    def used(self) -> Published | None:
        """Return the snapshot that a question is answered from now."""
        return self.last

    def begin(self, at: int) -> tuple[Published | None, int, int]:
        """Return the state at the time of a question, for `judge`."""
        self.look(at)
        return self.used(), len(self.ends), self.count

    def judge(
        self,
        question: Question,
        begin: tuple[Published | None, int, int],
        sent: int,
        when: int,
        id_: int,
        free: list[int],
        bound: float,
    ) -> None:
        """Check an answer that the mirror returns now; `when`: the time asked for (ROS)."""
        if not free:
            return
        used, ends, number = begin
        need(used is not None and used.id == id_, "not the last snapshot")
        assert used is not None
        need(len(self.ends) == ends, "the clock stepped back")
        data = used.data
        need(data is not None and not data.fault, f"fault of the node: {data and data.fault}")
        assert data is not None
        is_named = data.is_named(question, free)
        need(is_named or not data.choice_fault, f"no footprint: {data.choice_fault}")
        ros = self.clock(sent)
        slack = min(self._slack(at, ros_, what) for at, ros_, what in self._of(used))
        latest = max(ros, when)
        data.check_ages(latest, sent, is_named=is_named, twist=data.twist, slack=slack)
        ahead = seconds(data.config["max_future_stamp"])
        need(used.ros <= max(ros, when) + ahead, "the snapshot is ahead of the clock")
        self._check_confirmation(used, sent)
        self._check_others(used, sent)
        new = (
            self.received[len(self.received) - (self.count - number) :]
            if self.count > number
            else []
        )
        for _, _, what in new:
            if what.is_snapshot and what.epoch == used.epoch:
                if what.sequence <= used.sequence:
                    continue
                late = what.data
                need(late is not None and not late.fault, "a fault of the node since")
                assert late is not None
                need(late.config == data.config, "other parameters since")
                need(what.statics == used.statics, "other static data or transforms since")
        data.check_geometry(question, free, when, (0.0, 0.0), bound)

    def _of(self, what: Published) -> list[tuple[int, int, Published]]:
        return [each for each in self.received if each[2] is what]

    def _slack(self, at: int, ros: int, what: Published) -> int:
        """Return by how much the time under way may be more than what is measured.

        It is measured by the ROS clock. After a pause, the time since the receipt counts too.
        """
        slow = (at - what.sent) - max(0, ros - what.ros)
        return max(0, min(slow, self.receipts[what] - what.sent)) + MS

    def _check_confirmation(self, used: Published, sent: int) -> None:
        """A message that confirms the snapshot was sent within the limit."""
        assert used.data is not None
        limit = max(seconds(3.0 / used.data.config["state_rate"]), 150 * MS)
        good: list[int] = []
        newest = 0
        since = self.ends[-1] if self.ends else 0
        known = self.received[since - self.count :] if since < self.count else []
        for at, ros, what in known:
            is_same = what.epoch == used.epoch and what.sequence == used.sequence
            data = what.data
            is_same = is_same and data is not None and not data.fault
            if is_same and data is not None and data.key == used.data.key:
                slack = self._slack(at, ros, what)
                good.append(sent - what.sent - slack)
                newest = max(newest, what.sent)
        need(good and min(good) <= limit, f"not confirmed for {min(good, default=0) * 1e-9} s")
        for _, _, what in known:
            if what.sent > newest and sent - what.sent <= limit:
                # A node without a clock has no id by which it could be told from another one.
                is_other = not what.epoch and what.process != used.process
                if is_other or what.epoch not in (0, used.epoch):
                    continue
                need(what.epoch, "the node is not active")
                config = None if what.data is None else what.data.config
                need(config == used.data.config, "the parameters have changed")

    def _check_others(self, used: Published, sent: int) -> None:
        """No message of another node, or of a later activation, within 3 s."""
        for at, _, what in self.received:
            if what.epoch and what.epoch != used.epoch and sent - OTHER <= at <= sent:
                is_before = what.process == used.process and what.epoch < used.epoch
                need(is_before, "messages of another node of this name")
