# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Random plans. Each seed switches a part of the kinds of faults on."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin
from random import Random
from typing import Any

from .facts import BEAMS, CELL, CELLS, MAX_RANGE, MS, SECOND, Box, Event, Plan, Question

BEGIN = 1000 * SECOND  # true time at which a plan begins
FAULTS = (
    "steps", "rates", "skew", "delay", "outage", "bad", "repeat", "order", "future", "silence",
    "pause", "life", "crash", "twin", "parameters", "reset", "static", "mount", "map", "long",
    "required", "several", "times", "shared name", "jumps", "loss", "duplicate", "clock", "ego",
    "region", "client", "tilt", "seen",
)  # fmt: skip
SIZES = {"default": (0.5, 0.4), "big": (0.9, 0.6), "slow": (0.4, 0.4), "fast": (0.8, 0.4)}
SPEEDS = {"slow": (-0.5, 1.0), "fast": (1.0, 3.0)}
LIVE = ("safety_margin", "footprint_timeout", "twist_timeout", "state_rate")
FIELD = 6.0  # m: half the width of the field with obstacles and poses
ARRAY, SCAN = "gjk_collision/msg/ObstacleArray", "sensor_msgs/msg/LaserScan"
GRID = "nav_msgs/msg/OccupancyGrid"
SERVICES = ("CheckPoses", "CheckPoses", "CheckPath", "Collide", "Distance", "NearestFree")


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters in the words of the oracle."""
    if parameters["speed_footprints"]:
        kind = "speed"
    else:
        kind = "parameter" if parameters["footprint"] else "topic"
    return {**parameters, "footprint_is": kind, "sizes": SIZES, "speeds": SPEEDS}


def outline(name: str) -> list[float]:
    """Return the parameter of a footprint."""
    x, y = SIZES[name]
    return [x, y, -x, y, -x, -y, x, -y]


def new_plan(
    seed: int,
    length: float = 40.0,
    faults: tuple[str, ...] | None = None,
    *,
    is_simple: bool = False,
) -> Plan:
    """Return the plan of a seed.

    `length` is the simulated time [s]; a plan with slow senders is longer. `faults` are the kinds
    of faults; default: a random part of all. A simple plan has no slow senders, only lists of
    obstacles, and only questions about single poses.
    """
    random = Random(seed)
    share = random.choice((0.1, 0.2, 0.4))
    chosen = tuple(each for each in FAULTS if random.random() < share)
    if random.random() < 0.4:  # what happens while an answer is computed
        chosen = tuple(dict.fromkeys((*chosen, "long")))
    made = _Maker(random, set(chosen if faults is None else faults), length, is_simple=is_simple)
    made.write()
    return Plan(
        seed,
        tuple(each for each in FAULTS if each in made.faults),
        made.parameters,
        random.random() < 0.5,
        made.mirrors,
        made.length,
        tuple(sorted(made.events, key=lambda each: each.at)),
    )


class _Maker:
    def __init__(
        self, random: Random, faults: set[str], length: float, *, is_simple: bool
    ) -> None:
        self.random, self.faults, self.is_simple = random, faults, is_simple
        # Senders, timeouts and requests of a slow plan are slower, and so are its faults.
        self.scale = 1 if is_simple else random.choice((1, 1, 5, 20, 20))
        self.length = round(length * self.scale * SECOND)
        self.events: list[Event] = []
        # Begin and length of long computations during which the node, or a mirror, receives.
        self.windows: dict[str, list[tuple[int, int]]] = {"node": [], "mirror": []}
        self.mirrors = random.choice((1, 1, 2))
        self.senders: list[tuple[str, str]] = []
        self.parameters = self._parameters()

    def _parameters(self) -> dict[str, Any]:
        random, faults = self.random, self.faults
        kind = random.choice(("topic", "parameter", "speed"))
        sources = ["lidar", *(["radar"] if random.random() < 0.6 else [])]
        if faults & {"static", "map", "region"}:
            sources.append("map")
        found: dict[str, Any] = {
            "base_frame": "base" if "ego" in faults and "seen" not in faults else "odom",
            "check_frame": "odom",
            "footprint": [] if kind == "topic" else outline("default"),
            "footprint_names": ["big", "slow", "fast"],
            "speed_footprints": ["slow", "fast"] if kind == "speed" else [],
            "twist_topic": "odom" if kind == "speed" else "",
            "footprint_timeout": self._seconds(0.3, 0.6, 1.0),
            "twist_timeout": self._seconds(0.3, 0.5),
            "obstacle_sources": sources,
            "state_rate": random.choice((1.0, 2.0) if self.scale > 1 else (1.0, 2.0, 5.0, 20.0)),
            "safety_margin": random.choice((0.0, 0.0, 0.1)),
            "time_budget": random.choice((0.05, 1.0, 3.0)) if "long" in faults else 0.05,
            "prediction_horizon": random.choice((1.0, 5.0)),
            "transform_tolerance": min(self._seconds(0.1, 0.3), 1.0),
            "transform_wait": random.choice((0.0, 0.1)),
            "max_future_stamp": 0.05,
        }
        for name in ("big", "slow", "fast"):
            found[f"{name}.footprint"] = outline(name)
        for name in ("slow", "fast"):
            found[f"{name}.linear_min"], found[f"{name}.linear_max"] = SPEEDS[name]
        # Lists may outlast a long computation: then something else ends the use of a snapshot.
        lasting = "long" in faults and random.random() < 0.6
        is_lidar_required = random.random() < 0.8
        for each in sources:
            types = (ARRAY, GRID) if each == "map" else (ARRAY, ARRAY, SCAN, GRID)
            if "seen" in faults and each == "lidar":
                types = (SCAN, SCAN, GRID)
            chosen = random.choice(types)
            is_list = self.is_simple or ("region" in faults and each == "map")
            found[f"{each}.type"] = ARRAY if is_list else chosen
            found[f"{each}.timeout"] = self._seconds(*((1.0, 2.0) if lasting else (0.2, 0.4, 0.8)))
            is_required = is_lidar_required if each == "lidar" else random.random() < 0.4
            found[f"{each}.required"] = is_required
            found[f"{each}.inflation"] = random.choice((0.0, 0.0, 0.2))
            found[f"{each}.static"] = each == "map"
            sees = "seen" in faults and found[f"{each}.type"] in (SCAN, GRID)
            found[f"{each}.marks_seen"] = sees
            found["require_seen"] = sees or found.get("require_seen", False)
            is_named = each != "map" and found[f"{each}.type"] == ARRAY
            several = is_named and random.random() < 0.3
            names = ("a", "b") if several else ("a",) if is_named or each == "map" else (each,)
            self.senders += [(each, name) for name in names]
        return found

    def _seconds(self, *values: float) -> float:
        return self.random.choice(values) * self.scale

    def _hide(self, at: int) -> None:
        """Sometimes, mirrors hear of a change from the heartbeat alone."""
        if self.random.random() < 0.4:
            until, holds = at + self.random.randrange(3 * SECOND), self.random.random() < 0.5
            self._add(at, "outage", topic="snapshot", until=BEGIN + until, holds=holds)

    # ---- parts of a plan

    def write(self) -> None:
        """Write all events."""
        self._requests()
        for source, sender in self.senders:
            self._lists(source, sender)
        if not self.parameters["footprint"]:
            self._data(
                "footprint", "", self._seconds(0.1, 0.2), frame=self.parameters["base_frame"]
            )
        if self.parameters["speed_footprints"]:
            self._data("twist", "", self._seconds(0.05, 0.15), frame=self.parameters["base_frame"])
        mounts = self.random.randint(1, 4) if "mount" in self.faults else 0
        pitches = (0.0, 0.02, -0.03, 0.1, 0.35) if "tilt" in self.faults else (0.0,)
        self._add(0, "mount", place=(0.5, 0.0), pitch=self.random.choice(pitches))
        for at in self._times(mounts):
            self._add(at, "mount", place=self._place(), pitch=self.random.choice(pitches))
        for kind, fault in (("tf", "map"), ("ego", "ego")):
            if fault in self.faults:
                self._transforms(kind)
        self._disturbances()

    def _add(self, after: int, kind: str, **data: Any) -> None:
        self.events.append(Event(BEGIN + after, kind, data))

    def _times(self, count: int, who: str = "node") -> list[int]:
        """Return random times, most of them while the node or a mirror computes an answer."""
        random, found = self.random, []
        for _ in range(count):
            begin, width = 0, self.length
            if self.windows[who] and random.random() < 0.7:
                begin, width = random.choice(self.windows[who])
            found.append(begin + random.randrange(width))
        return found

    def _some(self, fault: str, most: int) -> list[int]:
        """Return times at which a kind of fault occurs."""
        who = self.random.choice(("node", "node", "mirror"))
        return self._times(self.random.randint(1, most), who) if fault in self.faults else []

    def _place(self) -> tuple[float, float]:
        return self.random.choice((-1.0, 0.0, 0.5, 2.0)), self.random.choice((0.0, 1.0))

    def _delay(self) -> int:
        random = self.random
        if "delay" in self.faults and random.random() < 0.2:
            return random.randrange(500 * self.scale * MS)
        return random.randrange(1, 8) * MS

    # ---- what sensors see

    def _boxes(self) -> tuple[Box, ...]:
        random, found = self.random, []
        for _ in range(random.randint(1, 3)):
            x, y = random.uniform(-FIELD, FIELD), random.uniform(-FIELD, FIELD)
            is_circle = random.random() < 0.4
            hx, hy = (0.0, 0.0) if is_circle else (random.uniform(0.1, 2), random.uniform(0.1, 2))
            found.append(Box(x, y, hx, hy, random.uniform(0.1, 0.8)))
        return tuple(found)

    def _region(self) -> Box:
        random = self.random
        x, y = random.uniform(-2, 2), random.uniform(-2, 2)
        return Box(x, y, random.uniform(4, 9), random.uniform(4, 9), 0.0, is_region=True)

    def _reading(self, source: str, *, moves: bool) -> dict[str, Any]:
        """Return the obstacles of a message, and how they are written in it."""
        random, kind = self.random, self.parameters[f"{source}.type"]
        if kind == SCAN:
            beams = random.sample(range(BEAMS), random.randint(1, 5))
            returns = tuple((beam, random.uniform(1.0, MAX_RANGE)) for beam in beams)
            angles = [(2.0 * pi * beam / BEAMS, r) for beam, r in returns]
            seen = tuple(Box(r * cos(a), r * sin(a), 0.0, 0.0, 0.0) for a, r in angles)
            return {"boxes": seen, "returns": returns, "is_list": False}
        if kind == GRID:
            place = random.uniform(-2, 2), random.uniform(-2, 2)
            cells = {(random.randrange(CELLS), random.randrange(CELLS)) for _ in range(6)}
            first = [each - 0.5 * CELL * (CELLS - 1) for each in place]
            half = 0.5 * CELL
            seen = tuple(
                Box(first[0] + CELL * column, first[1] + CELL * row, half, half, 0.0)
                for row, column in sorted(cells)
            )
            returns = tuple((float(row), float(column)) for row, column in sorted(cells))
            return {
                "boxes": seen,
                "returns": returns,
                "is_list": False,
                "place": place,
                "is_grid": True,
            }
        boxes = self._boxes()
        if moves:
            speeds = [(random.uniform(-2, 2), random.uniform(-2, 2)) for _ in boxes]
            boxes = tuple(
                Box(b.x, b.y, b.hx, b.hy, b.r, *v) for b, v in zip(boxes, speeds, strict=True)
            )
        if "region" in self.faults and source == "map":
            boxes = (*boxes, self._region())
        return {"boxes": boxes}

    def _lists(self, source: str, sender: str) -> None:
        frame = "odom"
        if "map" in self.faults and (source == "map" or self.random.random() < 0.4):
            frame = "map"
        elif self.faults & {"mount", "tilt"} and self.random.random() < 0.5:
            # Distances to a region in a tilted frame are less accurate than the oracle's.
            frame = "odom" if source == "map" and "region" in self.faults else "sensor"
        if source == "map":
            for at in (0, *self._some("static", 6)):
                bad = "shape" if "bad" in self.faults and self.random.random() < 0.1 else ""
                self._message(at, "list", source, sender, frame=frame, bad=bad)
            return
        self._data("list", source, self._seconds(0.05, 0.1, 0.15), sender, frame)

    def _data(
        self, kind: str, source: str, period: float, sender: str = "", frame: str = "odom"
    ) -> None:
        """Write the messages of one sender, with the faults that are switched on."""
        source = source or kind
        random, at = self.random, self.random.randrange(200 * MS)
        longest = 3 * self.scale * SECOND
        if kind != "list" and random.random() < 0.3:  # only requests with a name are answered then
            longest = self.length
        silences = [(t, t + random.randrange(longest)) for t in self._some("silence", 4)]
        counts = kind == "list" and self.parameters[f"{source}.type"] == ARRAY
        moves = counts and random.random() < 0.4
        counts = counts and random.random() < 0.7
        number, stuck, stuck_until = 1, 0, 0
        while at < self.length:
            is_lost = "loss" in self.faults and random.random() < 0.15
            if any(begin <= at < end for begin, end in silences):
                if "bad" in self.faults and random.random() < 0.1:  # only this can be heard
                    self._message(at, kind, source, sender, frame=frame, bad="undecodable")
            elif not is_lost:
                given: dict[str, Any] = {"number": number if counts else 0, "frame": frame}
                for fault, values in (
                    ("bad", {"bad": random.choice(("value", "shape", "shape", "undecodable"))}),
                    ("repeat", {"repeat": True}),
                    ("order", {"error": -random.randrange(400 * self.scale * MS)}),
                    ("future", {"error": random.randrange(20, 900) * MS}),
                    ("shared name", {"number": max(1, number - 40) if counts else 0}),
                    ("duplicate", {"again": random.randrange(300 * self.scale * MS)}),
                ):
                    if fault in self.faults and random.random() < 0.03:
                        given.update(values)
                if at < stuck_until:
                    given["error"] = stuck - at - 200 * self.scale * MS
                self._message(at, kind, source, sender, moves=moves, **given)
                number += 1
                what = random.random() if "bad" in given else 1.0
                if what < 0.2:  # only messages with an older stamp follow
                    stuck, stuck_until = at, at + random.randrange(longest)
                elif what < 0.6:  # replaced before it is used
                    again = {"number": number if counts else 0, "frame": frame, "error": -4 * MS}
                    self._message(at + MS, kind, source, sender, moves=moves, **again)
                    number += 1
            at += round(period * random.uniform(0.9, 1.1) * SECOND)

    def _message(
        self, at: int, kind: str, source: str, sender: str, *, moves: bool = False, **given: Any
    ) -> None:
        random = self.random
        given.setdefault("error", -random.randrange(5, 30) * MS)
        if kind == "list":
            given.update(self._reading(source, moves=moves))
        elif kind == "footprint":
            given["size"] = random.choice(((0.4, 0.4), (0.8, 0.5), (1.2, 0.6)))
        else:
            given["speed"] = random.choice((0.0, 0.5, 1.5, 2.0))
            if "bad" in self.faults and random.random() < 0.01:
                given["speed"] = 9.0  # no footprint is for it
        self._add(at, kind, source=source, sender=sender, delay=self._delay(), **given)

    def _transforms(self, kind: str) -> None:
        """Write a moving transform: late, ahead of the clock, with steps and silences."""
        random, at, place = self.random, 0, (0.0, 0.0)
        period, error = self._seconds(0.02, 0.05), random.choice((-10, -80, 40, 700)) * MS
        longest = self.scale * SECOND
        count = random.randint(0, 3)
        silences = [(t, t + random.randrange(longest)) for t in self._times(count)]
        drift = (random.uniform(-0.02, 0.02), 0.0) if random.random() < 0.5 else (0.0, 0.0)
        while at < self.length:
            if random.random() < 0.02:
                place = self._place()
            place = place[0] + drift[0], place[1]
            if abs(place[0]) > 3.0:
                drift = -drift[0], 0.0
            if not any(begin <= at < end for begin, end in silences):
                self._add(at, kind, place=place, error=error, delay=self._delay())
            at += round(period * SECOND)

    # ---- what is asked

    def _question(self, *, is_mirror: bool) -> Question:
        random = self.random
        services = SERVICES[: -1 if is_mirror else None]
        if self.is_simple:
            services = ("CheckPoses",) if is_mirror else ("CheckPoses", "CheckPoses", "Collide")
        service = random.choice(services)
        is_batch = service in ("CheckPoses", "CheckPath")
        count = random.randint(2, 12) if is_batch else 1
        poses = [(random.uniform(-FIELD, FIELD), random.uniform(-FIELD, FIELD))]
        step = 1.0 if service == "CheckPath" else 2.0 * FIELD
        while len(poses) < count:
            x, y = poses[-1] if service == "CheckPath" else (0.0, 0.0)
            poses.append((x + random.uniform(-step, step), y + random.uniform(-step, step)))
        names: tuple[str, ...] = ()
        which: tuple[int, ...] = ()
        if random.random() < 0.4:
            names = (random.choice(("big", "slow", "default", "default")),)
        if "several" in self.faults and service == "CheckPoses" and random.random() < 0.5:
            pool = ("", "default", "big", "slow")
            names = tuple(random.choice(pool) for _ in range(random.randint(1, 3)))
            which = tuple(random.randrange(len(names)) for _ in poses)
        times: tuple[float, ...] = ()
        if "times" in self.faults and is_batch and random.random() < 0.5:
            times = tuple(sorted(random.uniform(0.0, 1.5) for _ in poses))
        margin = 0.0 if service == "Distance" else random.choice((0.0, 0.0, 0.2))
        frame, is_stamped = "odom", False
        if not is_mirror and "map" in self.faults and random.random() < 0.4:
            frame, is_stamped = "map", random.random() < 0.4
        elif not (is_mirror or is_batch or self.is_simple) and random.random() < 0.3:
            frame, poses = "", [(0.0, 0.0)]
        return Question(service, tuple(poses), names, which, times, margin, frame, is_stamped)

    def _duration(self, at: int, who: str) -> int:
        """Return the duration of a computation; `who`: who receives meanwhile, or nothing."""
        random = self.random
        if "long" in self.faults and random.random() < 0.5:
            found = random.randrange(20 * MS, random.choice((150, 400, 1500)) * self.scale * MS)
            if random.random() < 0.3:  # near a limit
                limits = [
                    value for name, value in self.parameters.items()
                    if name.endswith("timeout") or name in ("transform_tolerance", "time_budget")
                ]  # fmt: skip
                found = round(random.choice(limits) * random.uniform(0.7, 1.5) * SECOND)
            if who:
                self.windows[who].append((at, found))
            return found
        return random.randrange(1, 10) * MS

    def _requests(self) -> None:
        random, at = self.random, 200 * MS
        while at < self.length:
            required = 0
            question = self._question(is_mirror=False)
            if "required" in self.faults and random.random() < 0.4:
                required = random.randint(1, 6)
            is_large = random.random() < 0.6 and question.service in ("CheckPoses", "CheckPath")
            self._add(
                at, "ask", question=question, required=required, is_large=is_large,
                duration=self._duration(at, "node" if is_large else ""),
                is_slow_at_first=random.random() < 0.3, error=-random.randrange(-5, 60) * MS,
                count=random.choice((1, 1, 1, 3)),
                timeout=random.choice((0.02, 0.1, 2.0)), limit=random.choice((1, 16)),
                way=[random.randrange(MS, (200 if "client" in self.faults else 3) * MS)
                     for _ in range(6)],
            )  # fmt: skip
            at += random.randrange(20, 300) * self.scale * MS
        for mirror in range(self.mirrors):
            at = 200 * MS
            while at < self.length:
                question = self._question(is_mirror=True)
                ahead = random.randrange(300 * MS) if random.random() < 0.1 else 0
                self._add(
                    at, "think", mirror=mirror, question=question, ahead=ahead,
                    duration=self._duration(at, "mirror"),
                )  # fmt: skip
                at += random.randrange(20, 300) * self.scale * MS

    def _disturbances(self) -> None:
        random, add, some, scale = self.random, self._add, self._some, self.scale
        for at in some("steps", 6):
            by = random.choice((-1, -1, 1)) * random.choice((1, MS, 50 * MS, SECOND, 3 * SECOND))
            add(at, "step", who=random.choice(("all", "node", "mirror")), by=by)
        for at in some("jumps", 4):  # back and forth
            by, pause = random.choice((100 * MS, SECOND)), random.randrange(1, 50) * MS
            add(at, "step", who="all", by=-by)
            add(at + pause, "step", who="all", by=by + pause)
        for at in some("rates", 5):
            add(at, "rate", rate=random.choice((0.0, 0.1, 0.9, 1.0, 2.0)))
            add(at + random.randrange(4 * scale * SECOND), "rate", rate=1.0)
        if "skew" in self.faults:
            add(0, "step", who="node", by=random.randrange(-20, 20) * MS)
            add(0, "step", who="mirror", by=random.randrange(-20, 20) * MS)
        if "clock" in self.faults:
            at, period = 0, random.choice((10, 50)) * MS * min(scale, 4)
            while at < self.length:
                if random.random() < 0.9:
                    add(at, "tick", delay=self._delay())
                at += period
        if "delay" in self.faults:
            for at in self._times(6):
                most = random.choice((2, 20, 100, 400)) * MS
                add(at, "link", topic=random.choice(("snapshot", "state", "both")), most=most)
        for at in some("outage", 6):
            until = at + random.randrange(4 * SECOND)
            topic = random.choice(("snapshot", "state", "both", "both"))
            add(at, "outage", topic=topic, until=BEGIN + until, holds=random.random() < 0.5)
        for at in some("pause", 5):
            who = random.choice(("node", "mirror"))
            duration = random.randrange(20, 2500 * scale) * MS
            add(at, "pause", who=who, duration=duration)
            if random.random() < 0.3:  # nothing newer arrives, and the clock is slow
                until = BEGIN + at + duration + SECOND
                hidden = at + random.randrange(duration)
                add(hidden, "outage", topic="both", until=until, holds=False)
                add(at, "rate", rate=0.1)
                add(at + duration, "rate", rate=1.0)
        for at in some("life", 6):
            self._hide(at)
            add(at, "deactivate")
            add(at + random.randrange(10, 1500 * scale) * MS, "activate")
        for at in some("crash", 3):
            add(at, "crash")
            epoch = random.randrange(1, 2**32 - 100)
            add(at + random.randrange(10, 3000) * MS, "restart", epoch=epoch)
        for at in some("twin", 2):
            rate = random.choice((1.0, 2.0, 10.0))
            add(at, "twin", epoch=random.randrange(1, 2**32 - 100), rate=rate)
            end = at + random.randrange(5 * scale * SECOND)
            add(end, "end twin")
            if random.random() < 0.4:  # it is stopped, and goes on when the node is alone
                begin = random.randrange(at, end + 1)
                add(begin, "pause", who="twin", duration=random.randrange(20, 5000 * scale) * MS)
        for at in some("parameters", 8):
            source = random.choice(self.parameters["obstacle_sources"])
            own = random.choice((f"{source}.timeout", f"{source}.inflation"))
            name = random.choice((own, own, *LIVE, "time_budget"))
            factor = random.choice((0.5, 0.8, 1.5))
            self._hide(at)
            add(at, "parameter", name=name, factor=factor)
        for at in some("reset", 6):
            add(at, "reset")
