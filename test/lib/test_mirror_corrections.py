# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A mirror's answer that takes long, while a static transform of the node is corrected."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from gjk_collision import Status, _core
from gjk_collision.server.config import Config
from gjk_collision.server.obstacles import Obstacles
from gjk_collision.server.snapshot_message import described
from gjk_collision.server.transforms import Placement, TransformTree
from gjk_collision.server.world import World

MS = 1_000_000
NOW = 1_000_000 * MS
UP = (0.0, 0.0, 0.0, 1.0)
TIMES = ("stamp", "time_zero", "oldest_data_stamp", "footprint_stamps")


def message(value: Any, name: str = "") -> Any:
    """Return fields as an object with the fields of a message."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: message(each, key) for key, each in value.items()})
    if isinstance(value, list):
        return [message(each, name) for each in value]
    if name in TIMES:
        return SimpleNamespace(sec=value // 10**9, nanosec=value % 10**9)
    return value


def circle(stamp: int) -> Obstacles:
    """Return one obstacle in the frame of a sensor."""
    return Obstacles(
        "sensor", stamp, "lidar", 0, np.array([1]), np.array([0]), np.array([0, 1]),
        np.array([3.0, 0.0]), np.array([0.5]),
    )  # fmt: skip


def test_static_transform_is_corrected_while_an_answer_is_computed() -> None:
    tree = TransformTree(NOW)
    tree.insert("odom", "sensor", 0, Placement((0.0, 0.0, 0.0), UP), static=True)
    world, mirror = World(Config(robot_radius=1.0), tree, epoch=7), _core.Mirror()

    def publish(at: int, sequence: int) -> None:
        snapshot = world.snapshot(now=at, steady=at)
        assert snapshot.fault is None
        content = mirror.read(message(described(snapshot, sequence)))
        mirror.receive_snapshot(content=content, now=at, steady=at, earliest=at)

    world.receive_obstacles("obstacles", circle(NOW), now=NOW, steady=NOW)
    publish(NOW, 1)

    def ask(at: int) -> _core.MirrorAsked:
        return mirror.ask(footprints=[], at=0, required=0, frame=None, now=at, steady=at)

    used, later = ask(NOW), NOW + 20 * MS
    assert mirror.fault(used, now=later, steady=later) is None

    tree.insert("odom", "sensor", 0, Placement((-3.0, 0.0, 0.0), UP), static=True)
    publish(later, 2)  # the obstacle is now at the place of the vehicle
    fault = mirror.fault(used, now=later, steady=later)
    assert fault is not None
    assert fault[0] == Status.SNAPSHOT_MISMATCH
    assert mirror.fault(ask(later), now=later, steady=later) is None
