# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of the node, published once a second on /diagnostics, for people and for monitors."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from gjk_collision.msg import CollisionState
from rclpy.node import Node

from .. import _core
from ..geometry import Shape, collide, distance
from ..server.data.snapshot import Report
from ..server.frames import lookup
from ..server.frames.poses import FrameError
from ..server.server import Server
from ..verdict import Status, Verdict
from .publishers import fault_text
from .received_transforms import ReceivedTransforms
from .timers import steady_timer

__all__ = ["Diagnostics", "Health"]

PERIOD = 1.0  # s

# The answers that depend on the present pose of the vehicle.
BY_POSE = "~/state, and ~/collide, ~/distance and ~/nearest_free without a frame"
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class Health:
    """Counts replies and heartbeats since the last call of `take`."""

    def __init__(self) -> None:
        self._beats: list[float] = []
        self._replies: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._longest = 0.0

    def note_reply(self, service: str, seconds: float, status: int) -> None:
        """Count a reply of a service, with its computation time [s] and its status."""
        self._replies[service] += 1
        self._longest = max(self._longest, seconds)
        self._statuses[status] += 1

    def note_beat(self) -> None:
        """Store the time of a heartbeat."""
        self._beats.append(time.monotonic())

    def take(self) -> "Counts":
        """Return the counters and set them to 0."""
        gaps = [after - before for before, after in pairwise(self._beats)]
        counts = Counts(self._replies, self._statuses, self._longest, max(gaps, default=0.0))
        self._replies, self._statuses, self._longest = Counter(), Counter(), 0.0
        self._beats = self._beats[-1:]
        return counts


@dataclass(frozen=True)
class Counts:
    """The counters of one period.

    Attributes
    ----------
    replies : Counter
        Number of replies per service.
    statuses : Counter
        Number of replies per status.
    longest : float
        Longest computation time of a reply [s].
    longest_gap : float
        Longest time between two heartbeats [s].
    """

    replies: Counter[str]
    statuses: Counter[int]
    longest: float
    longest_gap: float


class Diagnostics:
    """Publishes the state of a server in every lifecycle state.

    Parameters
    ----------
    node : Node
        The node that gets the publisher and a timer on the steady clock.
    server : Server
        The server whose state is published.
    health : Health
        Counters of replies and heartbeats.
    last_state : callable
        Returns the last heartbeat.
    """

    def __init__(
        self, node: Node, server: Server, health: Health, last_state: Callable[[], CollisionState]
    ) -> None:
        self._node = node
        self._server = server
        self._health, self._last_state = health, last_state
        self._refused = 0  # number of refused transforms at the last message
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        steady_timer(node, PERIOD, self._publish)

    def _publish(self) -> None:
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        name = self._node.get_fully_qualified_name().lstrip("/")
        for title, check in (
            ("verdict", self._verdict),
            ("inputs", self._inputs),
            ("frames", self._frames),
            ("transforms", self._transforms),
            ("kernel", self._kernel),
            ("latency", self._latency),
        ):
            try:
                found = check()
            except Exception as error:
                found = [_status("", ERROR, f"this check failed: {error!r}")]
            for each in found:
                each.name = f"{name}: {each.name or title}"
                each.hardware_id = self._node.get_fully_qualified_name()
                message.status.append(each)
        self._publisher.publish(message)

    def _verdict(self) -> list[DiagnosticStatus]:
        state = self._last_state()
        verdict, status = Verdict(state.verdict.verdict), Status(state.verdict.status)
        level = {Verdict.FREE: OK, Verdict.UNKNOWN: ERROR}.get(verdict, WARN)
        if status is Status.NOT_ACTIVE and "failed" not in state.verdict.message:
            level = WARN
        text = f"{verdict.name} / {status.name}"
        found = state.nearest_id != -1
        words = {
            "message": state.verdict.message,
            "affected": self._affected(verdict, status),
            "distance": f"{state.distance:.3f} m",
            "time to collision": f"{state.time_to_collision:.3f} s",
            "footprint": state.info.footprint,
            "nearest": f"{state.nearest_id} of '{state.nearest_source}'" if found else "none",
            "snapshot": state.info.snapshot_id,
            "config hash": f"{state.info.config_hash:#010x}",
        }
        return [_status("", level, text, **words)]

    def _affected(self, verdict: Verdict, status: Status) -> str:
        """Return which requests are affected by the verdict of the heartbeat.

        Many requests of planners do not depend on the present pose of the vehicle. They may be
        answered although the heartbeat is UNKNOWN.
        """
        snapshot = self._server.snapshot()
        if not self._server.is_active:
            return "all requests except ~/check_shapes"
        if snapshot.fault is not None or snapshot.footprint is None:
            return "~/state and all requests except ~/check_shapes: no answer is FREE"
        if verdict is not Verdict.UNKNOWN:
            return "none"
        if status in (Status.UNKNOWN_FRAME, Status.TF_UNAVAILABLE, Status.TF_EXTRAPOLATION):
            frame = self._server.config.check_frame
            return f"{BY_POSE}; requests in '{frame}' are answered"
        return "~/state"

    def _inputs(self) -> list[DiagnosticStatus]:
        reports = self._server.reports()
        if not reports:
            return [_status("", WARN, "no data is received: the node is not active")]
        return [self._input(each) for each in reports]

    def _input(self, report: Report) -> DiagnosticStatus:
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
        text = fault_text(self._node, self._server.config, report)
        return _status(name, WARN if report.is_excused else ERROR, text, **words)

    def _frames(self) -> list[DiagnosticStatus]:
        server, config = self._server, self._server.config
        words = {"base frame": config.base_frame, "check frame": config.check_frame}
        words["transforms"] = str(server.transforms)
        if not server.is_active:
            return [_status("", WARN, "not used: the node is not active", **words)]
        try:
            pose = lookup.ego_pose(config, server.transforms, server.now())
        except FrameError as error:
            text = f"the vehicle's pose is not known: {error.status.name}: {error}"
            return [_status("", ERROR, f"{text}; affected: {BY_POSE}", **words)]
        words["vehicle"] = f"x {pose.x:.3f} m, y {pose.y:.3f} m, yaw {pose.yaw:.4f} rad"
        return [_status("", OK, "the vehicle's pose is known", **words)]

    def _transforms(self) -> list[DiagnosticStatus]:
        """Return which transforms were refused, and whether this happened in the last period."""
        transforms = self._server.transforms
        if not isinstance(transforms, ReceivedTransforms):
            return [_status("", OK, "no transforms are received")]
        refused, pauses = transforms.refused, transforms.pauses
        before, self._refused = self._refused, refused.total()
        words: dict[str, object] = {
            "refused": refused.total(),
            "pauses because of too many transforms": pauses,
        }
        for (frame, why), count in refused.most_common():
            words[f"refused: '{frame}': {why}"] = count
        if refused.total() > before:
            return [_status("", WARN, "transforms are refused, see the values", **words)]
        return [_status("", OK, "no transform was refused since the last message", **words)]

    def _kernel(self) -> list[DiagnosticStatus]:
        """Test the kernel: shapes that touch, a gap of one unit in the last place, a distance."""
        box, near = Shape.box(2.0, 2.0), 1.0000000000000002
        beside = Shape.polygon([[near, -1.0], [3.0, -1.0], [3.0, 1.0], [near, 1.0]])
        right = (
            collide(box, box, pose_b=(2.0, 0.0, 0.0))
            and not collide(box, beside)
            and abs(distance(box, box, pose_b=(5.0, 0.0, 0.0)) - 3.0) < 1e-9
        )
        wrong = _core.internal_errors()
        right = right and not wrong
        errors = self._server.errors
        text = "self-test passed" if right else "WRONG RESULTS: do not drive"
        level = OK if right and not errors else ERROR
        words = {
            "internal errors since start": errors,
            "FREE without a sufficient lower bound, since start": wrong,
        }
        return [_status("", level, text, **words)]

    def _latency(self) -> list[DiagnosticStatus]:
        counts, config = self._health.take(), self._server.config
        late = counts.statuses[Status.TIME_BUDGET]
        beat = 1.0 / config.state_rate
        slow = counts.longest_gap > 2.0 * beat
        text = "within the limits"
        if late or slow:
            text = f"{late} replies exceeded time_budget" if late else "the heartbeat is late"
        words = {
            **{f"replies of {name}": count for name, count in sorted(counts.replies.items())},
            "longest reply": f"{counts.longest * 1e3:.2f} ms",
            "time_budget": f"{config.time_budget * 1e3:g} ms",
            "longest gap between heartbeats": f"{counts.longest_gap * 1e3:.1f} ms",
            "configured period of heartbeats": f"{beat * 1e3:g} ms",
        }
        return [_status("", WARN if late or slow else OK, text, **words)]


def _status(name: str, level: bytes, text: str, **words: object) -> DiagnosticStatus:
    values = [KeyValue(key=key, value=str(value)) for key, value in words.items()]
    return DiagnosticStatus(name=name, level=level, message=text, values=values)
