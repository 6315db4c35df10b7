# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A node without ROS that publishes its snapshots, the way of its messages, and random data.

The messages are serialised and read again by rosbags, from the definitions in ``msg/``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from rosbags.typesys.base import Nodetype

from gjk_collision import _core, seen_by_scan
from gjk_collision.replay.interfaces import typestore
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.frames.poses import FrameError, Pose, SameFrameOnly
from gjk_collision.server.parameters.config import OBSTACLE_ARRAY, SCAN, Config, SourceConfig
from gjk_collision.server.services.snapshot_message import described
from gjk_collision.verdict import Status

S, MS = 1_000_000_000, 1_000_000
T0 = 1_800_000_000 * S
STORE = typestore()
SNAPSHOT, STATE = "gjk_collision/msg/Snapshot", "gjk_collision/msg/CollisionState"


def message(kind: str, fields: Mapping[str, Any]) -> Any:
    """An object of rosbags; times are in ns, and fields that are not given are zero."""
    definition = STORE.fielddefs[kind][1]
    return STORE.types[kind](**{name: _value(node, fields.get(name)) for name, node in definition})


def _value(node: Any, value: Any) -> Any:
    kind, of = node
    if kind is Nodetype.BASE:
        name = of[0]
        return ("" if name == "string" else 0) if value is None else value
    if kind is Nodetype.NAME:
        if of == "builtin_interfaces/msg/Time":
            return STORE.types[of](*divmod(value or 0, S))
        return message(of, value or {})
    inner = of[0]
    if inner[0] is Nodetype.NAME:
        return [_value(inner, each) for each in (value or [])]
    if inner[1][0] == "string":
        return list(value or [])
    types = {"float64": "f8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "int64": "i8"}
    return np.asarray([] if value is None else value, types[inner[1][0]])


def encoded(kind: str, fields: Mapping[str, Any]) -> bytes:
    return bytes(STORE.serialize_cdr(message(kind, fields), kind))


class Frames(SameFrameOnly):
    """Frames by name; each is at the same pose at any stamp."""

    def __init__(self, frames: Mapping[str, Pose]) -> None:
        super().__init__()
        self.frames = frames

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        del target, stamp
        if source not in self.frames:
            raise FrameError(Status.UNKNOWN_FRAME, f"no frame '{source}'")
        return self.frames[source]

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        return self.lookup(target, source, 0), T0


@dataclass
class Run:
    """A node, its mirror, and the messages under way. `delay` [ns] is that of each message.

    Each message arrives in the order in which it was sent. The steady clocks of the two processes
    have different zeros.
    """

    config: Config
    frames: Frames
    delay: int = 0
    queued: int = 0  # ns, what a message may have waited in a mirror that was paused
    now: int = T0
    steady: int = 5 * S
    epoch: int = 7
    world: World = field(init=False)
    mirror: _core.Mirror = field(default_factory=_core.Mirror)
    used: Any = None  # info of the message in use
    sequence: int = 0
    counter: int = 0
    key: Any = None
    under_way: deque[tuple[int, str, bytes]] = field(default_factory=deque)
    next_beat: int = 0
    is_beating: bool = True
    bytes_sent: int = 0
    OTHER_ZERO = 77 * S

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.epoch += 1
        self.world = World(self.config, self.frames, self.epoch)

    @property
    def times(self) -> dict[str, int]:
        return {"now": self.now, "steady": self.steady}

    def snapshot(self) -> Snapshot:
        return self.world.snapshot(**self.times)

    def publish(self) -> None:
        snapshot = self.snapshot()
        fault = snapshot.fault and snapshot.fault.status
        key = snapshot.id, snapshot.config.hash, fault, snapshot.bad_sources
        if key != self.key:
            self.key, self.sequence = key, self.sequence + 1
            self._send(SNAPSHOT, described(snapshot, self.sequence))

    def beat(self) -> None:
        self.publish()
        snapshot = self.snapshot()
        self.counter += 1
        info = {"snapshot_id": snapshot.id, "config_hash": snapshot.config.hash}
        rest = {"counter": self.counter, "info": info, "snapshot_sequence": self.sequence}
        self._send(STATE, {"header": {"stamp": self.now}, **rest})

    def _send(self, kind: str, fields: Mapping[str, Any]) -> None:
        data = encoded(kind, fields)
        self.bytes_sent += len(data)
        self.under_way.append((self.steady + self.delay, kind, data))
        self.arrive()

    def arrive(self) -> None:
        while self.under_way and self.under_way[0][0] <= self.steady:
            _, kind, data = self.under_way.popleft()
            read = STORE.deserialize_cdr(data, kind)
            times = {**self.mirror_times, "earliest": self.mirror_times["steady"] - self.queued}
            if kind == STATE:
                self.mirror.receive_heartbeat(message=read, **times)
                continue
            content = self.mirror.read(read)
            assert not content.error, content.error
            if self.mirror.receive_snapshot(content=content, **times):
                self.used = read.info

    @property
    def mirror_times(self) -> dict[str, int]:
        return {"now": self.now, "steady": self.steady + self.OTHER_ZERO}

    def pass_time(self, by: int, *, clock: float = 1.0) -> None:
        """Let time pass, with heartbeats at 10 Hz. `clock` is the rate of the ROS clock."""
        end = self.steady + by
        while self.steady < end:
            at = [end, *([self.next_beat] if self.is_beating else [])]
            at += [self.under_way[0][0]] if self.under_way else []
            step = max(min(at), self.steady) - self.steady
            self.steady, self.now = self.steady + step, self.now + round(step * clock)
            self.arrive()
            if self.is_beating and self.steady >= self.next_beat:
                self.next_beat = self.steady + round(S / self.config.state_rate)
                self.beat()

    def asked(self, *names: str, ahead: int = 0) -> _core.MirrorAsked:
        given = {"footprints": list(names), "at": self.now + ahead, "required": 0, "frame": None}
        return self.mirror.ask(**given, **self.mirror_times)

    def fault(self, asked: _core.MirrorAsked | None = None) -> Fault | None:
        """Why the mirror has no valid snapshot now, or may not return an answer to a question."""
        found = self.mirror.fault(asked or self.asked(), **self.mirror_times)
        return None if found is None else Fault(Status(found[0]), found[1])

    def mirrored(self, ahead: int = 0) -> Mirrored:
        return Mirrored(self.asked(ahead=ahead))


@dataclass
class Mirrored:
    asked: _core.MirrorAsked

    def cores(self) -> list[_core.Snapshot]:
        return self.asked.snapshots

    @property
    def fault(self) -> Fault | None:
        found = self.asked.fault
        return None if found is None else Fault(Status(found[0]), found[1])


OUTLINES = (
    [(0, 0), (4, 0), (4, 1), (1, 1), (1, 3), (0, 3)],  # an L
    [(-2, -1), (2, -1), (2, 1), (0, -0.25), (-2, 1)],  # a V
    [(-1, -1), (1, -1), (1, 1), (-1, 1)],
)


def some_config(rng: np.random.Generator) -> Config:
    """Three sources, and every parameter that an answer depends on."""
    on = rng.random(12) < 0.5
    outline = tuple(np.ravel(OUTLINES[rng.integers(3)]).astype(float).tolist())
    given: dict[str, Any] = {}
    if on[0]:
        given["footprint"] = outline
    elif on[1]:
        given["robot_radius"] = float(rng.uniform(0.2, 1.5))
    else:
        given["footprint_timeout"] = float(rng.uniform(0.3, 1.0))
    marks_seen = rng.random() < 0.4
    if marks_seen:
        given.update(require_seen=True, seen_for=float(rng.choice([0.0, 1.5])))
    names = ("margin_front", "margin_rear", "margin_left", "margin_right", "safety_margin")
    for name in np.array(names)[on[2:7]].tolist():
        given[name] = float(rng.uniform(0, 0.5))
    sources = tuple(
        SourceConfig(
            name,
            timeout=float(rng.uniform(0.2, 0.8)),
            required=i == 0 or bool(on[7]),
            inflation=float(rng.uniform(0, 0.3)) * bool(on[8 + i]),
            static=name == "map" and rng.random() < 0.4,
            marks_seen=marks_seen and name == "lidar",
            prediction_policy=("node", "node", "unknown_is_error", "hold")[rng.integers(4)],
            type=SCAN if marks_seen and name == "lidar" else OBSTACLE_ARRAY,
        )
        for i, name in enumerate(("lidar", "radar", "map"))
    )
    return Config(
        sources=sources,
        concave_policy=("decompose", "hull")[int(on[11])],
        prediction_policy=("unknown_is_error", "constant_velocity", "hold")[rng.integers(3)],
        prediction_horizon=float(rng.uniform(0.5, 6.0)),
        toi_tolerance=float(rng.choice([0.005, 0.05])),
        **given,
    )


def some_frames(rng: np.random.Generator) -> Frames:
    """The check frame and others: near, turned, and far."""
    far = float(rng.choice([10.0, 1e4, 5e6]))
    return Frames(
        {
            "odom": Pose(),
            "base_link": Pose(),
            "near": Pose(rng.uniform(-5, 5), rng.uniform(-5, 5), 0.0),
            "turned": Pose(rng.uniform(-5, 5), rng.uniform(-5, 5), rng.uniform(-3, 3)),
            "far": Pose(far, -far, rng.uniform(-3, 3)),
        }
    )


def some_obstacles(
    rng: np.random.Generator, stamp: int, frames: Frames, sequence: int, source: str
) -> Obstacles:
    """A list with every kind of field, about the origin of the check frame."""
    frame = str(rng.choice(["odom", "near", "turned", "far"], p=[0.4, 0.2, 0.2, 0.2]))
    count = int(rng.integers(0, 9)) if rng.random() < 0.95 else 0
    has = rng.random(8) < 0.5
    points, kinds = [], []
    for _ in range(count):
        kind = rng.integers(5)
        kinds.append(int(kind == 0))
        if kind == 0:
            points.append(np.array(OUTLINES[rng.integers(3)]) * rng.uniform(0.3, 1.5))
        elif kind == 1:
            points.append(np.zeros((1, 2)))  # a circle, or a point
        elif kind == 2:
            points.append(rng.uniform(-2, 2, (2, 2)))
        else:
            points.append(rng.normal(0, 1.0, (rng.integers(3, 9), 2)))
    # Of the frame in the check frame, the inverse: the places are about the vehicle.
    x, y, yaw = frames.frames[frame]
    places = rng.uniform(-12, 12, (count, 2)) - (x, y)
    turned = Pose(yaw=-yaw).transform(places)
    poses = np.c_[turned, rng.uniform(-3.2, 3.2, count)]
    own = [] if has[0] and frame == "odom" else [poses]
    if not own:
        points = [ring + place for ring, place in zip(points, places, strict=True)]
    velocities = rng.uniform(-3, 3, (count, 3))
    velocities[rng.random(count) < 0.3] = np.nan
    lengths = rng.integers(0, 4, count) * bool(has[1])
    ways = np.concatenate(
        [poses[i] + np.cumsum(rng.normal(0, 0.7, (n, 3)), axis=0) for i, n in enumerate(lengths)]
        or [np.empty((0, 3))]
    )
    times = [np.sort(rng.uniform(0.1, 3.0, n)) for n in lengths]
    floats = np.empty(0)
    return Obstacles(
        frame=frame,
        stamp=stamp,
        source=source,
        sequence=sequence,
        ids=rng.choice(10**6, count, replace=False).astype(np.int64),
        kinds=np.array(kinds, np.uint8),
        offsets=np.cumsum([0, *map(len, points)]).astype(np.uint32),
        xy=np.concatenate(points).ravel() if points else floats,
        radius=rng.uniform(0, 0.5, count) if has[2] else floats,
        poses=np.concatenate(own).ravel() if own else floats,
        velocities=velocities.ravel() if has[3] else floats,
        path_offsets=np.cumsum([0, *lengths] if has[1] else []).astype(np.uint32),
        path_times=np.concatenate(times) if count and has[1] else floats,
        path_poses=ways.ravel() if has[1] else floats,
        margins=rng.uniform(0, 0.5, count) if has[4] else floats,
        margin_rates=rng.uniform(0, 0.3, count) if has[5] else floats,
    )


def some_region(rng: np.random.Generator, stamp: int, frames: Frames) -> Obstacles:
    """Two lanes that overlap, with or without a hole, and an obstacle at rest."""
    frame = str(rng.choice(["odom", "near", "turned"]))
    size = rng.uniform(4, 15)
    lanes = [
        np.array([(-size, -3), (size, -3), (size, 3), (-size, 3)]),
        np.array([(-4, -size), (4, -size), (4, size), (-4, size)]),
    ]
    hole = np.array([(1, 1), (2, 1), (2, 2), (1, 2)]) * rng.uniform(0.3, 1.0)
    holes = [hole] if rng.random() < 0.5 else []
    x, y, yaw = frames.frames[frame]
    rings = [
        Pose(yaw=-yaw).transform(ring - (x, y)) for ring in [*lanes, *holes, hole - (6.0, 5.0)]
    ]
    count = len(rings)
    return Obstacles(
        frame=frame,
        stamp=stamp,
        ids=np.arange(count),
        kinds=np.array([2, 2, *[3] * len(holes), 0], np.uint8),
        offsets=np.arange(0, 4 * count + 1, 4).astype(np.uint32),
        xy=np.concatenate(rings).ravel(),
    )


def some_event(rng: np.random.Generator, run: Run) -> str:
    """Do something that happens to a node; return its name."""
    event = str(
        rng.choice(
            ["obstacles", "footprint", "bad list", "undecodable", "parameter", "clock back",
             "restart", "reset", "silence"],
            p=[0.66, 0.1, 0.04, 0.02, 0.06, 0.02, 0.03, 0.02, 0.05],
        )
    )  # fmt: skip
    name = str(rng.choice(["lidar", "radar", "map"]))
    stamp = run.now - int(rng.integers(0, 60)) * MS
    if event == "obstacles":
        # All sources, so that most snapshots are complete.
        for each in ("lidar", "radar", "map") if rng.random() < 0.7 else (name,):
            source = str(rng.choice(["", "front", "rear"], p=[0.8, 0.1, 0.1]))
            data = some_obstacles(rng, stamp, run.frames, 0, source)
            static = run.config.source(each).static
            if each == "map" and (static or rng.random() < 0.2):
                data = some_region(rng, stamp, run.frames)
                if rng.random() < 0.4:
                    data = data.with_kinds(hulls=False)
            if run.config.source(each).marks_seen:
                ranges = rng.choice([15.0, rng.uniform(0.0, 15.0)]) + np.zeros(90)
                ranges[rng.random(90) < 0.1] = rng.uniform(0.0, 20.0)
                scan = (ranges, rng.uniform(-3, 3), rng.choice([-0.07, 0.07]), 0.1, 16.0)
                seen = seen_by_scan(*scan, (0.0, 0.0, 1.0))
                data = replace(data, seen=(seen.boundary, seen._radii))
            run.world.receive_obstacles(each, data, **run.times)
    if event in ("obstacles", "footprint"):
        outline = np.array(OUTLINES[rng.integers(3)], float) * rng.uniform(0.3, 1.0)
        frame = str(rng.choice(["base_link", "turned"]))
        run.world.receive_footprint(Footprint(frame, stamp, outline), **run.times)
    elif event == "bad list":
        data = some_obstacles(rng, stamp, run.frames, 0, "")
        changes = [("frame", "nowhere"), ("stamp", run.now + S)]
        changes += [("xy", data.xy * np.nan), ("ids", data.ids[:-1])]
        bad = replace(data, **dict([changes[rng.integers(4)]]))
        run.world.receive_obstacles(name, bad, **run.times)
    elif event == "undecodable":
        fault = Fault(Status.NON_FINITE, "xy[3]: must be finite")
        run.world.receive_fault(name, fault, **run.times)
    elif event == "parameter":
        margin = run.config.safety_margin + 0.01
        run.config = run.config.changed({"safety_margin": min(margin, 5.0)})
        run.world.reconfigure(run.config)
    elif event == "clock back":
        run.now -= int(rng.integers(1, 300)) * MS
    elif event == "restart":
        run.restart()
    elif event == "reset":
        run.world.reset()
    elif event == "silence":
        run.pass_time(int(rng.integers(100, 900)) * MS)
    return event
