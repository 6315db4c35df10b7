# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The log of a node: its transitions, what it waits for, and sources that appear or are lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ..server import lookup
from ..server.config import SourceConfig
from ..server.frames import FrameError
from ..server.snapshot import Report
from ..verdict import Status
from .exchange import Known
from .pauses import steady_time

__all__ = ["Progress", "Server"]

PERIOD = 0.5  # s
# An input that is missing is logged this long after activation, and each input at most this often.
QUIET = 5.0  # s
# While nothing can be answered, the reason is logged this often.
REMINDER = 60.0  # s

SECOND = 1_000_000_000  # ns
NOTHING_RECEIVED = (Status.NO_OBSTACLES, Status.NO_FOOTPRINT)


@dataclass(slots=True)
class _Input:
    """One thing that answers need.

    Attributes
    ----------
    name : str
        For a person, with the resolved names of its topics.
    logged : tuple of str or None
        Its faults in the last line about it; empty: none; None: there is no line yet.
    time : int
        Of that line, or of the activation [ns].
    """

    name: str
    logged: tuple[str, ...] | None
    time: int


class Server(Known, Protocol):
    """What the log needs of the server."""

    def reports(self) -> list[Report]:
        """Return what is heard from each sender; empty while not active."""

    def note_error(self, where: str, error: Exception) -> None:
        """Log an error of our own, and count it."""


class Progress:
    """Logs one line for each transition and for each change of an input, never a flood.

    Parameters
    ----------
    node : Node
        Whose log is written, from a timer on the steady clock.
    server : Server
        Whose inputs are logged.
    """

    def __init__(self, node: Node, server: Server) -> None:
        self._node = node
        self._server = server
        self._inputs: dict[str, _Input] = {}
        self._begin = self._incomplete_since = self._reminded = 0
        self._is_active = self._was_complete = False
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(PERIOD, lambda: self.look(steady_time()), clock=clock)

    def note(self, text: str) -> None:
        """Log a transition that ends in a state in which the node is not active."""
        self._is_active = False
        self._node.get_logger().info(text)

    def note_active(self, now: int) -> None:
        """Log the activation at a steady time [ns], and what the node waits for."""
        self._is_active, self._was_complete = True, False
        self._begin = self._incomplete_since = self._reminded = now
        self._inputs = {key: _Input(name, None, now) for key, name in self._needed()}
        names = "; ".join(each.name for each in self._inputs.values())
        self._node.get_logger().info(f"active, waiting for: {names}")

    def look(self, now: int) -> None:
        """Log what has changed, at a steady time [ns]."""
        if not self._is_active:
            return
        try:
            faults = self._faults()
            snapshot = self._server.snapshot()
        except Exception as error:
            self._server.note_error("log", error)
            return
        for key, each in self._inputs.items():
            self._log_change(each, faults.get(key, {}), now)
        fault = snapshot.fault
        if fault is None:
            if not self._was_complete:
                self._was_complete = True
                seconds = (now - self._begin) / SECOND
                count = sum(report.count for report in self._server.reports()[1:])
                text = f"first complete snapshot, {seconds:.1f} s after activation"
                self._node.get_logger().info(f"{text}: {count} obstacles")
            self._incomplete_since = self._reminded = now
        elif now - self._reminded >= REMINDER * SECOND:
            self._reminded = now
            seconds = (now - self._incomplete_since) / SECOND
            text = f"every answer has been UNKNOWN for {seconds:.0f} s: {fault.status.name}"
            self._node.get_logger().warning(f"{text}: {fault.message}")

    def _log_change(self, each: _Input, faults: dict[str, str], now: int) -> None:
        """Log an input if its faults are others than in the last line about it.

        Parameters
        ----------
        each : _Input
            The input.
        faults : dict
            What tells a fault from others -> the fault for a person.
        now : int
            Steady time [ns].
        """
        current = tuple(sorted(faults))
        is_first = each.logged is None and not current
        if current == each.logged or not (is_first or now - each.time >= QUIET * SECOND):
            return
        before, each.logged, each.time = each.logged, current, now
        if not faults:
            self._node.get_logger().info(f"received: {each.name}")
            return
        title = "lost" if before == () else "not available"
        text = "; ".join(list(faults.values())[:3])
        self._node.get_logger().warning(f"{title}: {each.name}: {text}")

    # ---- what is needed, and what is wrong with it

    def _needed(self) -> Iterator[tuple[str, str]]:
        """Yield a key and a name for each input."""
        node, config = self._node, self._server.config
        if node.get_parameter("use_sim_time").value:
            yield "clock", "the time on /clock (use_sim_time)"
        for source in config.sources:
            kind = "source" if source.required else "optional source"
            topic = node.resolve_topic_name(source.topic)
            yield f"source {source.name}", f"{kind} '{source.name}' on {topic} ({source.type})"
        if not config.footprint and not config.robot_radius:
            yield "footprint", f"footprint on {node.resolve_topic_name('footprint')}"
        if config.base_frame != config.check_frame:
            topics = " and ".join(map(node.resolve_topic_name, ("/tf", "/tf_static")))
            frames = f"transform from '{config.check_frame}' to '{config.base_frame}'"
            yield "vehicle", f"{frames} on {topics}"

    def _faults(self) -> dict[str, dict[str, str]]:
        """Return what is wrong with each input now; an input that is used is left out."""
        server, config = self._server, self._server.config
        found: dict[str, dict[str, str]] = {}
        now = server.now()
        if now == 0:
            found["clock"] = {"": "no time has been received"}
        sources = {each.name: each for each in config.sources}
        for report in server.reports():
            if (fault := report.fault) is None:
                continue
            text = f"{fault.status.name}: {fault.message}"
            key = report.source
            if key in sources:
                key = f"source {key}"
                if report.sender not in ("", report.source):
                    text = f"sender '{report.sender}': {text}"
            if fault.status in NOTHING_RECEIVED:
                text = f"{text}; {self._publishers(sources.get(report.source))}"
            found.setdefault(key, {})[f"{report.sender} {fault.status.name}"] = text
        try:
            lookup.ego_pose(config, server.transforms, now)
        except FrameError as error:
            affected = "~/state and requests without a frame are UNKNOWN"
            found["vehicle"] = {error.status.name: f"{error.status.name}: {error}; {affected}"}
        return found

    def _publishers(self, source: SourceConfig | None) -> str:
        """Return who publishes the topic of a source, or of the footprint, for a person."""
        topic, kind = "footprint", "geometry_msgs/msg/PolygonStamped"
        if source is not None:
            topic, kind = source.topic, source.type
        publishers = self._node.get_publishers_info_by_topic(topic)
        if not publishers:
            return "the topic has no publisher"
        if others := sorted({each.topic_type for each in publishers} - {kind}):
            return f"the topic has publishers of {', '.join(others)}"
        return f"publishers: {len(publishers)}; is their quality of service compatible?"
