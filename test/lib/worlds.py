# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A world with boxes of 2 m, two clocks that are moved by hand, and what is asked of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import questions

from gjk_collision._core import Budget
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.frames.poses import FrameError, Pose, SameFrameOnly
from gjk_collision.server.parameters.config import Config
from gjk_collision.server.services import SERVICES
from gjk_collision.server.services.answers import Answer
from gjk_collision.verdict import Status, Verdict

S = 1_000_000_000
T0 = 1_000 * S  # a stamp; the steady clock is elsewhere, as it is in life
STEADY0 = 7 * S
BOX = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
CAR = tuple(BOX.ravel().tolist())
FAR = Pose(50.0, 0.0, 0.0)


def boxes(*centres: tuple[float, float], stamp: int = T0, **fields: Any) -> Obstacles:
    """Boxes of 2 m about these centres, in odom."""
    n = len(centres)
    xy = [BOX + np.array(centre) for centre in centres]
    return Obstacles(
        **{
            "frame": "odom",
            "stamp": stamp,
            "ids": np.arange(10, 10 + n),
            "offsets": np.arange(0, 4 * n + 1, 4),
            "xy": np.concatenate(xy).ravel() if n else np.empty(0),
            **fields,
        }
    )


class Time:
    """Both clocks, moved together or apart."""

    def __init__(self) -> None:
        self.now, self.steady = T0, STEADY0

    def pass_(self, seconds: float, clocks: tuple[str, ...] = ("now", "steady")) -> None:
        for each in clocks:
            setattr(self, each, getattr(self, each) + round(seconds * S))

    @property
    def both(self) -> dict[str, int]:
        return {"now": self.now, "steady": self.steady}


def known(time: Time, *centres: tuple[float, float], **changes: Any) -> World:
    """A world with a configured footprint and fresh obstacles."""
    world = World(Config(**{"footprint": CAR, **changes}))
    world.receive_obstacles("obstacles", boxes(*centres, stamp=time.now), **time.both)
    return world


def send(
    world: World, time: Time, *centres: tuple[float, float], to: str = "obstacles", **fields: Any
) -> None:
    """Boxes are received now. Their stamp is that of now if there is no other."""
    data = boxes(*centres, **{"stamp": time.now, **fields})
    world.receive_obstacles(to, data, **time.both)


def outline(
    world: World, time: Time, points: Any = BOX, frame: str = "base_link", stamp: int | None = None
) -> None:
    stamp = time.now if stamp is None else stamp
    world.receive_footprint(Footprint(frame, stamp, points), **time.both)


def ask(world: World, time: Time, pose: Pose = FAR, margin: float = 0.0) -> tuple[Verdict, Status]:
    answer = questions.collide(world.snapshot(**time.both), pose, margin)
    assert answer.is_free == ((answer.verdict, answer.status) == (Verdict.FREE, Status.SUCCESS))
    return answer.verdict, answer.status


FREE = (Verdict.FREE, Status.SUCCESS)
HIT = (Verdict.COLLISION, Status.SUCCESS)


def unknown(status: Status) -> tuple[Verdict, Status]:
    return Verdict.UNKNOWN, status


class Tree(SameFrameOnly):
    """The given poses, at every time. All others are not known yet."""

    def __init__(self, poses: dict[tuple[str, str], Pose]) -> None:
        self.poses = poses
        self.stamp = T0
        self.asked: list[tuple[str, str, int]] = []

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        self.asked.append((target, source, stamp))
        if (target, source) not in self.poses:
            raise FrameError(Status.TF_EXTRAPOLATION, "not yet")
        return self.poses[target, source]

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        if (target, source) not in self.poses:
            raise FrameError(Status.TF_UNAVAILABLE, "not yet")
        return self.poses[target, source], self.stamp


class Late(SameFrameOnly):
    """Knows every frame at the stamps of a span, and nothing outside it."""

    def __init__(self, oldest: int, newest: int) -> None:
        self.oldest, self.newest = oldest, newest

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        if source == "lost":
            raise FrameError(Status.UNKNOWN_FRAME, "no such frame")
        if not self.oldest <= stamp <= self.newest:
            raise FrameError(Status.TF_EXTRAPOLATION, "outside the span")
        return Pose()

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        return self.lookup(target, source, self.newest), self.newest


def shapes(*centres: tuple[float, float], **fields: Any) -> Obstacles:
    n = len(centres)
    xy = np.concatenate([BOX + np.array(centre) for centre in centres]).ravel()
    return Obstacles(
        **{
            "frame": "odom",
            "stamp": 0,
            "ids": np.arange(n),
            "offsets": np.arange(0, 4 * n + 1, 4),
            "xy": xy,
            **fields,
        }
    )


def snapshot(
    *centres: tuple[float, float], data: Obstacles | None = None, **changes: Any
) -> Snapshot:
    world = World(Config(**{"footprint": CAR, **changes}))
    obstacles = shapes(*centres) if data is None else data
    world.receive_obstacles("obstacles", obstacles, now=0, steady=0)
    found = world.snapshot(now=0, steady=0)
    assert found.fault is None
    return found


STILL = np.zeros(3)
# Obstacles that are somewhere at every time, if there is no horizon.
STANDING: dict[str, Callable[[], Snapshot]] = {
    "stands": lambda: snapshot(data=shapes((0, 0), velocities=STILL)),
    "held": lambda: snapshot((0, 0), prediction_policy="hold"),
    "none": lambda: snapshot(data=Obstacles(frame="odom", stamp=0)),
    "path held": lambda: snapshot(
        data=shapes(
            (0, 0),
            path_offsets=np.array([0, 2]),
            path_times=np.array([0.0, 1.0]),
            path_poses=np.zeros(6),
        ),
        prediction_policy="hold",
    ),
}


def asked_as_request(
    service: str,
    message: Any,
    snapshot: Snapshot,
    transforms: Any,
    late: Callable[[], bool] | None = None,
) -> Answer:
    """Answer a request as the node does, without waits and checks of the time."""
    request = SERVICES[service](message)
    if request.needs_footprint:
        snapshot = request.chosen(snapshot)
    request.look_up(snapshot, transforms)
    return request.answer(snapshot, Budget(late))
