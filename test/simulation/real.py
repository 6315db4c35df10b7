# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The ROS side of a play: messages, requests and a mirror with the content of the simulator's."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "ros"))

import rclpy
from geometry_msgs.msg import Point32, PolygonStamped
from gjk_collision.msg import ObstacleArray, Snapshot
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from server import SERVICES, Bench, Server
from std_msgs.msg import Header

from gjk_collision.ros import messages
from gjk_collision.ros.mirror import CollisionMirror
from gjk_collision.ros.quality import SNAPSHOT_QOS
from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.verdict import Status

from . import wire
from .facts import MS, Message, Question

__all__ = ["SERVICES", "Bench", "Planner", "Server", "as_ros", "request_of", "said"]

UNREADABLE = b"\x00\x01\x00\x00\xff\xff"


class Planner:
    """A mirror in a thread of its own, which can pause."""

    def __init__(self, bench: Bench, name: str, now: Callable[[], int]) -> None:
        self.paused_until, self._now, self._is_closed = 0, now, False
        self.stalls: list[tuple[int, int]] = []  # begin and end, most of them short
        # When a snapshot with a message arrived, by the source and the stamp of the message [ns].
        self.arrivals: dict[tuple[str, int], int] = {}
        self._node = rclpy.create_node("planner", context=bench.context)
        self._executor = SingleThreadedExecutor(context=bench.context)
        self._executor.add_node(self._node)
        self._mirror = CollisionMirror(self._node, "odom", server=f"/{name}", own_thread=False)
        topic = f"/{name}/snapshot"
        self._node.create_subscription(Snapshot, topic, self._note_arrivals, SNAPSHOT_QOS)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def has_heard(self) -> bool:
        """Return whether the mirror has an answer from the node."""
        fault = self._mirror.fault()
        return fault is None or fault.status not in (Status.UNDEFINED, Status.NOT_ACTIVE)

    def answer(self, question: Question, at: int) -> Any:
        return self._mirror.check_poses(
            wire.rows_of(question),
            times=question.times,
            margin=question.margin,
            footprint=list(question.names) if question.which else "".join(question.names[:1]),
            which=list(question.which) if question.which else None,
            at=at,
        )

    def close(self) -> None:
        self._is_closed = True
        self._thread.join()
        self._mirror.close()
        self._executor.shutdown()
        self._node.destroy_node()

    def _note_arrivals(self, message: Snapshot) -> None:
        for limit in (sender.age_limit for sender in message.senders):
            self.arrivals.setdefault((limit.source, nanoseconds(limit.stamp)), self._now())

    def _spin(self) -> None:
        last = self._now()
        while not self._is_closed:
            if last < self.paused_until:
                time.sleep(0.002)
            else:
                self._executor.spin_once(0.005)
            now = self._now()
            self.stalls.append((last + 5 * MS, now))
            last = now


def said(found: Any, question: Question) -> tuple[Any, ...]:
    """Return what is compared of an answer of the simulator, a reply, or one of a mirror."""
    verdict: Any = found
    for name in ("answer", "verdict"):  # of a result of the library, and of a ROS message
        if hasattr(getattr(found, name, None), "status"):
            verdict = getattr(found, name)
    verdicts = [int(each) for each in getattr(found, "verdicts", ())]
    verdicts = verdicts or [0] * len(question.poses)
    return int(verdict.verdict), int(verdict.status), tuple(verdicts)


def request_of(question: Question, required: int) -> Any:
    """Return the request of a service, for the newest pose of its frame."""
    kind = next(each for each in SERVICES.values() if each.__name__ == question.service)
    return messages.filled(kind.Request, wire.request_fields(question, 0, required))


def as_ros(message: Message) -> Any:
    """Return the ROS message with the content of a message of the simulator."""
    if message.bad == "undecodable":
        return UNREADABLE
    if message.kind == "list":
        fields = {**vars(wire._array(message)), "header": _header(message)}
        return messages.filled(ObstacleArray, fields)
    found: Any
    if message.kind == "twist":
        found = Odometry(child_frame_id=message.frame)
        found.twist.twist.linear.x = nan if message.bad else message.speed
    else:
        found = PolygonStamped()
        points = wire._footprint(message).polygon.points
        found.polygon.points = [Point32(x=each.x, y=each.y) for each in points]
    found.header = messages.filled(Header, _header(message))
    return found


def _header(message: Message) -> dict[str, Any]:
    return {"stamp": message.stamp, "frame_id": message.frame}
