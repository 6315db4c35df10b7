# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The log of the node: transitions, missing inputs, and inputs that appear or are lost."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rclpy.logging import LoggingSeverity
from rclpy.node import Node

from ..server.data.snapshot import Report
from ..server.frames import lookup
from ..server.frames.poses import FrameError
from ..server.parameters.config import OBSTACLE_ARRAY
from ..server.pauses import steady_time
from ..server.server import Server
from ..verdict import Status
from .publishers import fault_text
from .timers import steady_timer

__all__ = ["Progress"]

PERIOD = 0.5  # s
# A missing input is logged this long after activation. Each input is logged at most this often.
QUIET = 5.0  # s
# While every answer is UNKNOWN, the reason is logged this often.
REMINDER = 60.0  # s

SECOND = 1_000_000_000  # ns


@dataclass(slots=True)
class _Input:
    """An input that answers depend on."""

    name: str  # for the log, with the resolved names of the topics
    logged: tuple[str, ...] | None  # the faults in its last log line; None: no line yet
    time: int  # steady time of that line, or of the activation [ns]
    since: int  # steady time since when it has its present faults [ns]
    faults: tuple[str, ...] | None = None
    was_good: bool = False
    losses: int = 0  # without a line


class Progress:
    """Logs one line for each transition and for each change of an input, at a limited rate.

    Parameters
    ----------
    node : Node
        The node whose log is used. It gets a timer on the steady clock.
    server : Server
        The server whose inputs are logged.
    """

    def __init__(self, node: Node, server: Server) -> None:
        self._node = node
        self._server = server
        self._inputs: dict[str, _Input] = {}
        self._shared: dict[str, int] = {}  # source -> steady time of its line about publishers
        self._begin = self._incomplete_since = self._reminded = 0
        self._is_active = self._was_complete = False
        steady_timer(node, PERIOD, lambda: self.log_changes(steady_time()))

    def log_transition(self, text: str) -> None:
        """Log a transition that ends in a state in which the node is not active."""
        self._is_active = False
        self._node.get_logger().info(text)

    def log_activation(self, now: int) -> None:
        """Log the activation at a steady time [ns], and the inputs that the node waits for."""
        self._is_active, self._was_complete = True, False
        self._begin = self._incomplete_since = self._reminded = now
        self._inputs = {key: _Input(name, None, now, now) for key, name in self._needed()}
        names = "; ".join(each.name for each in self._inputs.values())
        self._node.get_logger().info(f"active, waiting for: {names}")

    def log_changes(self, now: int) -> None:
        """Log the changes of inputs, at a steady time [ns]."""
        if not self._is_active:
            return
        try:
            reports = self._server.reports()
            faults = self._faults(reports)
            snapshot = self._server.snapshot()
        except Exception as error:
            self._server.note_error("log", error)
            return
        for key, each in self._inputs.items():
            self._log_change(each, faults.get(key, {}), now)
        self._log_shared_names(reports, now)
        self._log_details(reports)
        fault = snapshot.fault
        if fault is None:
            if not self._was_complete:
                self._was_complete = True
                seconds = (now - self._begin) / SECOND
                count = sum(report.count for report in reports[1:])
                text = f"first complete snapshot, {seconds:.1f} s after activation"
                self._node.get_logger().info(f"{text}: {count} obstacles")
            self._incomplete_since = self._reminded = now
        elif now - self._reminded >= REMINDER * SECOND:
            self._reminded = now
            seconds = (now - self._incomplete_since) / SECOND
            text = f"every answer has been UNKNOWN for {seconds:.0f} s: {fault.status.name}"
            self._node.get_logger().warning(f"{text}: {fault.message}")

    def _log_shared_names(self, reports: list[Report], now: int) -> None:
        """Log each source with more publishers than senders, once per minute.

        Two publishers that use one name replace each other's data.
        """
        senders = Counter(each.source for each in reports if each.sender)
        for source in self._server.config.sources:
            count = len(self._node.get_publishers_info_by_topic(source.topic))
            last = self._shared.get(source.name, now - REMINDER * SECOND)
            if count > senders[source.name] > 0 and now - last >= REMINDER * SECOND:
                self._shared[source.name] = now
                text = f"source '{source.name}': {count} publishers on the topic replace each "
                text += "other's data: give each its own topic and source"
                if source.type == OBSTACLE_ARRAY:
                    text += ", or its own name in the field `source` of its messages"
                self._node.get_logger().warning(text)

    def _log_details(self, reports: list[Report]) -> None:
        """Log the state of each sender at the level debug."""
        logger = self._node.get_logger()
        if not logger.is_enabled_for(LoggingSeverity.DEBUG):
            return
        for each in reports:
            name = f"sender '{each.sender}' of '{each.source}'"
            counts = f"{each.received} messages received, {each.dropped} dropped"
            state = "used" if each.fault is None else each.fault.message
            logger.debug(f"{name}: {each.count} items, {each.age:.3f} s old; {counts}; {state}")

    def _log_change(self, each: _Input, faults: dict[str, str], now: int) -> None:
        """Log an input if its faults (key -> text) differ from those in its last log line."""
        current = tuple(sorted(faults))
        if current != each.faults:
            each.losses += each.faults == ()
            each.faults, each.since = current, now
        is_first = each.logged is None and not current
        is_same = current == each.logged and not each.losses
        if is_same or not (is_first or now - each.time >= QUIET * SECOND):
            return
        before, each.logged, each.time = each.logged, current, now
        title = "not available" if current else "usable again" if each.was_good else "received"
        if current and before == ():
            title = "lost"
            each.losses -= 1
        if each.was_good and now > each.since:
            title += f" for the last {(now - each.since) / SECOND:.1f} s"
        if each.losses:
            title += f" (other losses since the last line: {each.losses})"
        each.losses, each.was_good = 0, each.was_good or not current
        text = f"{title}: {each.name}"
        if not current:
            self._node.get_logger().info(text)
            return
        reasons = "; ".join(list(faults.values())[:3])
        self._node.get_logger().warning(f"{text}: {reasons}")

    # ---- the inputs and their faults

    def _needed(self) -> Iterator[tuple[str, str]]:
        """Yield a key and a name for each input."""
        node, config = self._node, self._server.config
        if node.get_parameter("use_sim_time").value:
            yield "clock", "the time on /clock (use_sim_time)"
        for source in config.sources:
            kind = "source" if source.required else "optional source"
            topic = node.resolve_topic_name(source.topic)
            yield f"source {source.name}", f"{kind} '{source.name}' on {topic} ({source.type})"
        if config.twist_topic:
            topic = node.resolve_topic_name(config.twist_topic)
            kind = "twist" if config.speed_footprints else "optional twist"
            yield "twist_topic", f"{kind} on {topic} ({config.twist_type})"
        if config.is_footprint_received:
            yield "footprint", f"footprint on {node.resolve_topic_name('footprint')}"
        if config.base_frame != config.check_frame:
            topics = " and ".join(map(node.resolve_topic_name, ("/tf", "/tf_static")))
            frames = f"transform from '{config.check_frame}' to '{config.base_frame}'"
            yield "vehicle", f"{frames} on {topics}"

    def _faults(self, reports: list[Report]) -> dict[str, dict[str, str]]:
        """Return the present faults of each input; inputs without a fault are not included."""
        server, config = self._server, self._server.config
        found: dict[str, dict[str, str]] = {}
        now = server.now()
        if now == 0:
            found["clock"] = {"": "no time has been received: use_sim_time needs a publisher"}
        sources = {each.name: each for each in config.sources}
        for report in reports:
            fault = report.fault
            if fault is None or (now == 0 and fault.status is Status.FUTURE_STAMP):
                continue
            text = fault_text(self._node, config, report)
            key = report.source
            if key in sources:
                key = f"source {key}"
                if report.sender not in ("", report.source):
                    text = f"sender '{report.sender}': {text}"
            found.setdefault(key, {})[f"{report.sender} {fault.status.name}"] = text
        try:
            lookup.ego_pose(config, server.transforms, now)
        except FrameError as error:
            affected = "~/state and requests without a frame are UNKNOWN"
            found["vehicle"] = {error.status.name: f"{error.status.name}: {error}; {affected}"}
        return found
