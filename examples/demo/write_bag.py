# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the demo's drive as a rosbag2 (mcap): `/footprint`, `/obstacles` and `/tf` at 10 Hz.

Needs no ROS: the `rosbags` library writes it, with our message type taken from its .msg file.
The bytes are the same on every run.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import scenario
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

MSG = Path(__file__).resolve().parents[2] / "msg"
BEGIN_NS = 1_700_000_000 * 10**9  # stamp of the first message; the player shifts all to now

OBSTACLE_ARRAY = "gjk_collision/msg/ObstacleArray"
POLYGON_STAMPED = "geometry_msgs/msg/PolygonStamped"
TF_MESSAGE = "tf2_msgs/msg/TFMessage"


def typestore() -> Any:
    """Load the types of ROS 2 Jazzy and our `ObstacleArray`."""
    store = get_typestore(Stores.ROS2_JAZZY)
    text = (MSG / "ObstacleArray.msg").read_text(encoding="utf-8")
    store.register(get_types_from_msg(text, OBSTACLE_ARRAY))
    return store


class Messages:
    """Builds the messages of one instant."""

    def __init__(self, store: Any) -> None:
        self.types = store.types

    def header(self, stamp_ns: int, frame: str) -> Any:
        """Make a header."""
        stamp = self.types["builtin_interfaces/msg/Time"](*divmod(stamp_ns, 10**9))
        return self.types["std_msgs/msg/Header"](stamp, frame)

    def footprint(self, stamp_ns: int) -> Any:
        """Make the ego outline in its base frame."""
        point = self.types["geometry_msgs/msg/Point32"]
        polygon = self.types["geometry_msgs/msg/Polygon"](
            [point(x, y, 0.0) for x, y in scenario.FOOTPRINT]
        )
        header = self.header(stamp_ns, scenario.BASE_FRAME)
        return self.types[POLYGON_STAMPED](header, polygon)

    def obstacles(self, stamp_ns: int, sequence: int, t: float) -> Any:
        """Make flat arrays: the points of obstacle i are [offsets[i], offsets[i+1])."""
        seen = scenario.obstacles(t)
        counts = [len(obstacle.points) for obstacle in seen]
        return self.types[OBSTACLE_ARRAY](
            header=self.header(stamp_ns, scenario.CHECK_FRAME),
            source="",
            sequence=sequence,
            ids=np.array([obstacle.id for obstacle in seen], np.int64),
            kinds=np.zeros(0, np.uint8),
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
            xy=np.concatenate([np.ravel(obstacle.points) for obstacle in seen]),
            radius=np.array([obstacle.radius for obstacle in seen]),
            poses=np.ravel([obstacle.pose for obstacle in seen]),
            velocities=np.ravel([obstacle.velocity for obstacle in seen]),
            path_offsets=np.zeros(0, np.uint32),
            path_times=np.zeros(0),
            path_poses=np.zeros(0),
            margins=np.zeros(0),
            margin_rates=np.zeros(0),
        )

    def transform(self, stamp_ns: int) -> Any:
        """Place `base_link` in `odom`: the ego car stands still."""
        x, y, yaw = scenario.START
        geometry = "geometry_msgs/msg/"
        rotation = self.types[geometry + "Quaternion"](0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2))
        transform = self.types[geometry + "TransformStamped"](
            self.header(stamp_ns, scenario.CHECK_FRAME),
            scenario.BASE_FRAME,
            self.types[geometry + "Transform"](
                self.types[geometry + "Vector3"](x, y, 0.0), rotation
            ),
        )
        return self.types[TF_MESSAGE]([transform])


def write_bag(path: Path) -> None:
    """Write the bag folder `path`; an older one there is replaced."""
    shutil.rmtree(path, ignore_errors=True)
    store = typestore()
    messages = Messages(store)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        footprint, obstacles, transform = (
            writer.add_connection(topic, kind, typestore=store)
            for topic, kind in (
                ("/footprint", POLYGON_STAMPED),
                ("/obstacles", OBSTACLE_ARRAY),
                ("/tf", TF_MESSAGE),
            )
        )
        for k in range(round(scenario.DURATION / scenario.PERIOD) + 1):
            t = k * scenario.PERIOD
            stamp = BEGIN_NS + round(t * 1e9)
            for connection, message in (
                (footprint, messages.footprint(stamp)),
                (transform, messages.transform(stamp)),
                (obstacles, messages.obstacles(stamp, k, t)),
            ):
                data = store.serialize_cdr(message, connection.msgtype)
                writer.write(connection, stamp, data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bag", type=Path, help="folder to write")
    write_bag(parser.parse_args().bag)
