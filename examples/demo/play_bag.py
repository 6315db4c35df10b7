# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Play a bag in real time, its stamps shifted so that it happens now.

Every stamp is moved by the same whole number of nanoseconds, which is written down: so whoever
reads a stamp in an answer of the node finds the very message in the bag.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rosbags.rosbag2 import Reader

DISCOVERY_TIMEOUT = 20.0  # s, for a subscriber of every required topic
REQUIRED = ("/footprint", "/obstacles")


def message_class(kind: str) -> Any:
    """Return the rclpy class of e.g. `geometry_msgs/msg/PolygonStamped`; None where not there."""
    package, _, name = kind.split("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), name)
    except ImportError:
        return None


def move_stamps(message: Any, shift_ns: int) -> None:
    """Shift the message's own stamp, or those of its transforms."""
    for stamped in getattr(message, "transforms", [message]):
        stamp = stamped.header.stamp
        stamp.sec, stamp.nanosec = divmod(stamp.sec * 10**9 + stamp.nanosec + shift_ns, 10**9)


def play(bag: Path, shift_file: Path) -> str | None:
    """Play `bag` once; return the reason why not, or None."""
    node = rclpy.create_node("bag_player")
    with Reader(bag) as reader:
        classes = {c.topic: message_class(c.msgtype) for c in reader.connections}
        for topic, kind in classes.items():
            if kind is None and topic in REQUIRED:
                return f"the message package of {topic} is not installed"
        publishers = {
            topic: node.create_publisher(kind, topic, QoSProfile(depth=5))
            for topic, kind in classes.items()
            if kind is not None
        }

        deadline = time.monotonic() + DISCOVERY_TIMEOUT
        while any(publishers[topic].get_subscription_count() == 0 for topic in REQUIRED):
            if time.monotonic() > deadline:
                return f"nobody subscribed to {' and '.join(REQUIRED)}"
            time.sleep(0.05)

        shift_ns = time.time_ns() - reader.start_time
        partial = shift_file.with_suffix(".part")
        partial.write_text(str(shift_ns), encoding="ascii")
        partial.rename(shift_file)  # complete or not there
        for connection, stamp_ns, data in reader.messages():
            if connection.topic not in publishers:
                continue
            message = deserialize_message(data, classes[connection.topic])
            move_stamps(message, shift_ns)
            time.sleep(max(0.0, (stamp_ns + shift_ns - time.time_ns()) * 1e-9))
            if not rclpy.ok():
                return None  # stopped by a signal
            publishers[connection.topic].publish(message)
    return None


def main() -> int:
    """Play the bag named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bag", type=Path)
    parser.add_argument("shift", type=Path, help="file to write the shift to, ns")
    arguments = parser.parse_args()
    rclpy.init()
    try:
        reason = play(arguments.bag, arguments.shift)
    finally:
        rclpy.try_shutdown()
    if reason:
        print(f"bag player: {reason}", file=sys.stderr)
    return 1 if reason else 0


if __name__ == "__main__":
    sys.exit(main())
