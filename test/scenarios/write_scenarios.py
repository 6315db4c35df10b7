# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the bags of the scenarios: ``python write_scenarios.py FOLDER``.

Each function is one drive, told by what happens when; the .yaml beside this says what must come
of it. Lengths are sums of powers of two where shapes touch exactly, so that float32 (the
footprint) and float64 (the rest) mean the same. Metres, radians, seconds from the begin.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import pi
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode

from gjk_collision.replay.write import BagWriter, Storage
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.frames.poses import Pose

BEGIN = 1_700_000_000_000_000_000  # ns

EGO = [(3.75, 1.0), (-1.0, 1.0), (-1.0, -1.0), (3.75, -1.0)]
CAR = [(2.25, 1.0), (-2.25, 1.0), (-2.25, -1.0), (2.25, -1.0)]
DIAMOND = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
POINT = [(0.0, 0.0)]

# points, pose, radius, whether an outline that may be concave
Thing = tuple[list[tuple[float, float]], Pose, float, bool]


def thing(points: list[tuple[float, float]], x: float, y: float, yaw: float = 0.0,
          radius: float = 0.0, concave: bool = False) -> Thing:  # fmt: skip
    return points, Pose(x, y, yaw), radius, concave


class Road:
    """A bag with a vehicle; obstacles are numbered from 1."""

    def __init__(self, writer: BagWriter, footprint: list[tuple[float, float]] = EGO) -> None:
        self.writer = writer
        self._footprint = footprint
        self._sequence = 0
        self.frame, self.base = "odom", "base_link"

    def ego(self, t: float, pose: Pose = Pose(), log: float | None = None) -> None:  # noqa: B008
        stamp, logged = at(t), at(t if log is None else log)
        if self.base != self.frame:
            self.writer.transform(stamp, pose, self.frame, self.base, log=logged)
        self.writer.footprint(stamp, self._footprint, self.base, log=logged)

    def obstacles(
        self, t: float, things: list[Thing], log: float | None = None, topic: str = "/obstacles"
    ) -> None:
        self._sequence += 1
        n = len(things)
        message = Obstacles(
            frame=self.frame,
            stamp=at(t),
            sequence=self._sequence,
            ids=np.arange(1, n + 1),
            kinds=np.array([concave for *_, concave in things], np.uint8),
            offsets=np.cumsum([0, *(len(points) for points, *_ in things)]),
            xy=np.array([value for points, *_ in things for xy in points for value in xy]),
            radius=np.array([radius for _, _, radius, _ in things]),
            poses=np.ravel([pose for _, pose, _, _ in things]),
            velocities=np.zeros(3 * n),
        )
        self.writer.obstacles(message, topic, log=at(t if log is None else log))


def at(t: float) -> int:
    return BEGIN + round(t * 1e9)


def steps(end: float, rate: float = 20.0) -> list[float]:
    return [k / rate for k in range(round(end * rate) + 1)]


def approach(writer: BagWriter) -> None:
    """A car comes head-on at 6 m/s: 20 m away at 0 s, touching at 3.333 s."""
    road = Road(writer)
    for t in steps(4.0):
        road.ego(t)
        road.obstacles(t, [thing(CAR, 26.0 - 6.0 * t, 0.0, pi)])


def pass_by(writer: BagWriter) -> None:
    """A car comes towards and passes by half a metre to the left; alongside from 2.5 to 4 s."""
    road = Road(writer)
    for t in steps(6.0):
        road.ego(t)
        road.obstacles(t, [thing(CAR, 21.0 - 6.0 * t, 2.5)])


def graze(writer: BagWriter) -> None:
    """A car passes with no gap at all: the sides lie on one line while it is alongside."""
    road = Road(writer)
    for t in steps(5.0):
        road.ego(t)
        road.obstacles(t, [thing(CAR, 16.0 - 5.0 * t, 2.0)])


def containment(writer: BagWriter) -> None:
    """0 s: the vehicle inside an obstacle. 1 s: an obstacle inside the vehicle. 2 s: in a bay."""
    road = Road(writer)
    hall = [(20.0, 20.0), (-20.0, 20.0), (-20.0, -20.0), (20.0, -20.0)]
    bay = [(-3.0, -3.0), (8.0, -3.0), (8.0, -2.0), (-2.0, -2.0), (-2.0, 2.0), (8.0, 2.0),
           (8.0, 3.0), (-3.0, 3.0)]  # fmt: skip
    for t in steps(2.95):
        road.ego(t)
        inside = [
            thing(hall, 0.0, 0.0),
            thing(POINT, 1.0, 0.0, radius=0.125),
            thing(bay, 0.0, 0.0, concave=True),
        ]
        road.obstacles(t, [inside[int(t)]])


def symmetric_diamonds(writer: BagWriter) -> None:
    """Two equal diamonds pass through each other, tip to tip, and coincide at 8 s."""
    road = Road(writer, DIAMOND)
    for t in steps(16.0, rate=16.0):
        road.ego(t)
        road.obstacles(t, [thing(DIAMOND, 4.0 - 0.5 * t, 0.0)])


def crossing_mover(writer: BagWriter) -> None:
    """The vehicle drives at 5 m/s; a walker crosses and is hit from 3.2 to 3.625 s."""
    road = Road(writer)
    for t in steps(6.0):
        road.ego(t, Pose(5.0 * t, 0.0, 0.0))
        road.obstacles(t, [thing(POINT, 20.0, -6.0 + 2.0 * t, radius=0.25)])


def street(writer: BagWriter) -> None:
    """Past parked cars at 6 m/s; a walker steps out between them at 3 s and is hit at 4.9 s."""
    road = Road(writer)
    shelter = [(-2.0, 0.0), (2.0, 0.0), (2.0, 1.5), (1.7, 1.5), (1.7, 0.3), (-1.7, 0.3),
               (-1.7, 1.5), (-2.0, 1.5)]  # fmt: skip
    house = [(7.0, 4.0), (-7.0, 4.0), (-7.0, -4.0), (7.0, -4.0)]
    for t in steps(8.0):
        road.ego(t, Pose(6.0 * t, 0.0, 0.0))
        parked = [
            thing(CAR, x, -2.8, 0.02 * k) for k, x in enumerate((8.0, 14.5, 21.0, 28.0, 37.0))
        ]
        walked = max(0.0, 1.2 * (t - 3.0))
        road.obstacles(
            t,
            [
                *parked,
                thing(POINT, 32.5, -3.5 + walked, radius=0.3),
                thing(CAR, 70.0 - 8.0 * t, 3.5, pi),
                thing([(-0.8, 0.0), (0.8, 0.0)], 20.0 + 4.0 * t, 5.5, radius=0.3),
                thing(shelter, 24.0, -7.5, 0.0, concave=True),
                thing(house, 12.0, 13.0),
                thing(house, 34.0, 13.0, 0.1),
                thing(house, 40.0, -13.0),
            ],
        )


def dropout(writer: BagWriter) -> None:
    """Obstacles are silent from 2 to 3.5 s; the rest goes on."""
    road = Road(writer)
    for t in steps(5.0):
        road.ego(t)
        if not 2.0 <= t < 3.5:
            road.obstacles(t, [thing(CAR, 20.0, 0.0)])


def utm(writer: BagWriter) -> None:
    """In UTM coordinates: a gap of a centimetre for 2 s, then of nothing."""
    road = Road(writer)
    road.frame = "utm"
    x, y = 691_234.5, 5_334_567.25
    for t in steps(4.0):
        road.ego(t, Pose(x, y, 0.0))
        gap = 0.01 if t < 2.0 else 0.0
        road.obstacles(t, [thing(CAR, x + 3.75 + 2.25 + gap, y)])


def clock_jump(writer: BagWriter) -> None:
    """`/clock` is set back by 3 s at 2 s; obstacles are heard again 0.3 s later."""
    road = Road(writer)
    for t in steps(5.0):
        now = 10.0 + t - (3.0 if t >= 2.0 else 0.0)
        writer.clock(at(now), log=at(t))
        if not 2.0 <= t < 2.3:
            road.ego(now, log=t)
            road.obstacles(now, [thing(CAR, 20.0, 0.0)], log=t)


def standing(writer: BagWriter) -> None:
    """All in the vehicle's own frame, as a node without transforms takes it: free, hit, free."""
    road = Road(writer)
    road.frame = "base_link"
    for t in steps(4.0):
        road.ego(t)
        road.obstacles(t, [thing(CAR, 5.0 if 1.0 <= t < 2.0 else 9.0, 0.0)])


SCENARIOS: dict[str, Callable[[BagWriter], None]] = {
    each.__name__: each
    for each in (
        approach, pass_by, graze, containment, symmetric_diamonds, crossing_mover, street, dropout,
        utm, clock_jump, standing,
    )
}  # fmt: skip


def compressing(path: Path, storage: Storage, compression: str) -> BagWriter:
    """Return a writer with zstd: of each 'message', of the whole 'file', or of chunks ('storage').

    '': without compression.
    """
    writer = BagWriter(path, storage)
    if compression:
        mode = CompressionMode[compression.upper()]
        writer._writer.set_compression(mode, CompressionFormat.ZSTD)
    return writer


def write(folder: Path, name: str, storage: Storage = "mcap", compression: str = "") -> Path:
    """Write the bag of one scenario into a folder; return its path."""
    with compressing(folder / name, storage, compression) as writer:
        SCENARIOS[name](writer)
    return folder / name


def write_all(folder: Path) -> None:
    """Write all of them, in the two formats by turns."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate(SCENARIOS):
        write(folder, name, "mcap" if i % 2 == 0 else "sqlite3")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    write_all(parser.parse_args().folder)
