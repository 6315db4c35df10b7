# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How the node is, once a second on /diagnostics: for a person and for a monitor."""

import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from gjk_collision.msg import CollisionState
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ..geometry import Shape, collide, distance
from ..results import INVARIANT
from ..server import lookup
from ..server.frames import FrameError
from ..server.snapshot import Report
from ..verdict import Status, Verdict
from .exchange import Known

__all__ = ["Diagnostics", "Health", "Server"]

PERIOD = 1.0  # s

# What needs the vehicle's own pose.
BY_POSE = "~/state, and ~/collide and ~/distance without a frame"
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class Health:
    """Takes note of replies and heartbeats; what it holds is about the time since `take`."""

    def __init__(self) -> None:
        self._beats: list[float] = []
        self._replies: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._longest = 0.0

    def note_reply(self, service: str, seconds: float, status: int) -> None:
        """Take note of a reply: how long it took, and its status."""
        self._replies[service] += 1
        self._longest = max(self._longest, seconds)
        self._statuses[status] += 1

    def note_beat(self) -> None:
        """Take note of a heartbeat."""
        self._beats.append(time.monotonic())

    def take(self) -> "Record":
        """Return what has been noted, and begin anew."""
        gaps = [after - before for before, after in pairwise(self._beats)]
        record = Record(self._replies, self._statuses, self._longest, max(gaps, default=0.0))
        self._replies, self._statuses, self._longest = Counter(), Counter(), 0.0
        self._beats = self._beats[-1:]
        return record


@dataclass(frozen=True)
class Record:
    """Replies by service and by status, the longest [s], the longest gap between beats [s]."""

    replies: Counter[str]
    statuses: Counter[int]
    longest: float
    longest_gap: float


class Server(Known, Protocol):
    """What the diagnostics need of the server."""

    health: Health
    errors: int
    last_state: CollisionState

    @property
    def is_active(self) -> bool:
        """Tell whether data is taken in and questions about it are answered."""

    def reports(self) -> list[Report]:
        """Return what is heard from each sender; empty while not active."""


class Diagnostics:
    """Publishes the health of a server, by the steady clock, in every state of its lifecycle.

    Parameters
    ----------
    node : Node
        Has the publisher and the timer.
    server : Server
        Whose health it is.
    """

    def __init__(self, node: Node, server: Server) -> None:
        self._node = node
        self._server = server
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        node.create_timer(PERIOD, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _publish(self) -> None:
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        name = self._node.get_fully_qualified_name().lstrip("/")
        for title, check in (
            ("verdict", self._verdict),
            ("inputs", self._inputs),
            ("frames", self._frames),
            ("kernel", self._kernel),
            ("latency", self._latency),
        ):
            try:
                found = check()
            except Exception as error:
                found = [_status("", ERROR, f"not to be had: {error!r}")]
            for each in found:
                each.name = f"{name}: {each.name or title}"
                message.status.append(each)
        self._publisher.publish(message)

    def _verdict(self) -> list[DiagnosticStatus]:
        state = self._server.last_state
        verdict, status = Verdict(state.verdict.verdict), Status(state.verdict.status)
        level = {Verdict.FREE: OK, Verdict.UNKNOWN: ERROR}.get(verdict, WARN)
        if status is Status.NOT_ACTIVE:
            level = WARN
        text = f"{verdict.name} / {status.name}"
        words = {
            "message": state.verdict.message,
            "affected": self._affected(verdict, status),
            "distance": f"{state.distance:.3f} m",
            "nearest": f"{state.nearest_id} of '{state.nearest_source}'",
            "snapshot": state.info.snapshot_id,
            "config hash": f"{state.info.config_hash:#010x}",
        }
        return [_status("", level, text, **words)]

    def _affected(self, verdict: Verdict, status: Status) -> str:
        """Say which answers are not to be had: planners need not know the vehicle's own pose."""
        snapshot = self._server.snapshot()
        if not self._server.is_active:
            return "every request but ~/check_shapes"
        if snapshot.fault is not None or snapshot.footprint is None:
            return "~/state and every request but ~/check_shapes: nothing is FREE"
        if verdict is not Verdict.UNKNOWN:
            return "nothing"
        if status in (Status.UNKNOWN_FRAME, Status.TF_UNAVAILABLE, Status.TF_EXTRAPOLATION):
            frame = self._server.config.check_frame
            return f"{BY_POSE}; requests in '{frame}' are answered"
        return "~/state"

    def _inputs(self) -> list[DiagnosticStatus]:
        reports = self._server.reports()
        if not reports:
            return [_status("", WARN, "nothing is listened to: the node is not active")]
        return [_input(each) for each in reports]

    def _frames(self) -> list[DiagnosticStatus]:
        server, config = self._server, self._server.config
        words = {"base frame": config.base_frame, "check frame": config.check_frame}
        words["transforms"] = str(server.transforms)
        try:
            pose = lookup.ego_pose(config, server.transforms, server.now())
        except FrameError as error:
            text = f"the vehicle's pose is not known: {error.status.name}: {error}"
            return [_status("", ERROR, f"{text}; affected: {BY_POSE}", **words)]
        words["vehicle"] = f"x {pose.x:.3f} m, y {pose.y:.3f} m, yaw {pose.yaw:.4f} rad"
        return [_status("", OK, "the vehicle's pose is known", **words)]

    def _kernel(self) -> list[DiagnosticStatus]:
        """Ask the kernel what it must know: touching, a gap of one unit in the last place."""
        box, near = Shape.box(2.0, 2.0), 1.0000000000000002
        beside = Shape.polygon([[near, -1.0], [3.0, -1.0], [3.0, 1.0], [near, 1.0]])
        right = (
            collide(box, box, pose_b=(2.0, 0.0, 0.0))
            and not collide(box, beside)
            and abs(distance(box, box, pose_b=(5.0, 0.0, 0.0)) - 3.0) < 1e-9
        )
        right = right and not INVARIANT.violations
        errors = self._server.errors
        text = "answers as it must" if right else "ANSWERS WRONGLY: do not drive"
        level = OK if right and not errors else ERROR
        words = {
            "internal errors since start": errors,
            "FREE without its lower bound, since start": INVARIANT.violations,
        }
        return [_status("", level, text, **words)]

    def _latency(self) -> list[DiagnosticStatus]:
        record, config = self._server.health.take(), self._server.config
        late = record.statuses[Status.TIME_BUDGET]
        beat = 1.0 / config.state_rate
        slow = record.longest_gap > 2.0 * beat
        text = "as configured"
        if late or slow:
            text = f"{late} replies past time_budget" if late else "the heartbeat is late"
        words = {
            **{f"replies of {name}": count for name, count in sorted(record.replies.items())},
            "longest reply": f"{record.longest * 1e3:.2f} ms",
            "time_budget": f"{config.time_budget * 1e3:g} ms",
            "longest gap between heartbeats": f"{record.longest_gap * 1e3:.1f} ms",
            "heartbeats every": f"{beat * 1e3:g} ms",
        }
        return [_status("", WARN if late or slow else OK, text, **words)]


def _input(report: Report) -> DiagnosticStatus:
    name = report.source
    if report.sender not in ("", report.source):
        name = f"{report.source}: {report.sender}"
    words = {
        "age": f"{report.age:.3f} s",
        "count": report.count,
        "received": report.received,
        "dropped": report.dropped,
    }
    if report.fault is None:
        return _status(name, OK, "used", **words)
    text = f"{report.fault.status.name}: {report.fault.message}"
    return _status(name, WARN if report.is_excused else ERROR, text, **words)


def _status(name: str, level: bytes, text: str, **words: object) -> DiagnosticStatus:
    values = [KeyValue(key=key, value=str(value)) for key, value in words.items()]
    return DiagnosticStatus(name=name, level=level, message=text, values=values)
