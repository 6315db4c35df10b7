# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Read the bag back: the footprint, and the very obstacle message on which an answer rests."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.rosbag2 import Reader
from write_bag import typestore

TOLERANCE_NS = 1000  # ages are given in float64 seconds


@dataclass(frozen=True)
class Obstacle:
    """One obstacle of one message: points (n, 2) in its own frame, pose and velocity in `odom`."""

    id: int
    points: NDArray[np.float64]
    radius: float
    pose: NDArray[np.float64]
    velocity: NDArray[np.float64]


class Drive:
    """A bag as it was played: all stamps shifted by `shift_ns`."""

    def __init__(self, bag: Path, shift_ns: int) -> None:
        store = typestore()
        self._arrays: list[Any] = []
        with Reader(bag) as reader:
            for connection, _, data in reader.messages():
                if connection.topic == "/obstacles":
                    self._arrays.append(store.deserialize_cdr(data, connection.msgtype))
                elif connection.topic == "/footprint":
                    polygon = store.deserialize_cdr(data, connection.msgtype).polygon
        # As the node got it: rounded to float32 on the way.
        self.footprint = np.array([(float(p.x), float(p.y)) for p in polygon.points])
        self.stamps_ns = [
            a.header.stamp.sec * 10**9 + a.header.stamp.nanosec + shift_ns for a in self._arrays
        ]

    def message(self, answer: dict[str, Any]) -> int:
        """Return the index of the obstacle message on which an answer rests.

        Raises
        ------
        LookupError
            If no message has the stamp that the answer names, or the data are older than it says.
        """
        age, footprint_age = answer["max_obstacle_age"], answer["footprint_age"]
        if not np.isfinite(age + footprint_age):
            raise LookupError("it names no age of its data")
        oldest, oldest_ns = max(age, footprint_age), answer["oldest_data_stamp_ns"]
        # The ages are those of the time at which the reply left, after the one it is for.
        if oldest_ns < answer["stamp_ns"] - round(oldest * 1e9) - TOLERANCE_NS:
            raise LookupError("its data are older than it says")
        seen_ns = oldest_ns + round((oldest - age) * 1e9)
        index = bisect_left(self.stamps_ns, seen_ns - TOLERANCE_NS)
        if index == len(self.stamps_ns) or self.stamps_ns[index] > seen_ns + TOLERANCE_NS:
            raise LookupError(f"no obstacles were sent with the stamp {seen_ns} ns")
        return index

    def obstacles(self, index: int) -> list[Obstacle]:
        """Return the obstacles of the message with this index."""
        array = self._arrays[index]
        points = np.split(array.xy.reshape(-1, 2), array.offsets[1:-1])
        poses, velocities = array.poses.reshape(-1, 3), array.velocities.reshape(-1, 3)
        rows = zip(array.ids, points, array.radius, poses, velocities, strict=True)
        return [Obstacle(int(row[0]), row[1], float(row[2]), *row[3:]) for row in rows]
