# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorder of what a server receives, and of its requests, for machines without `ros2 bag`."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import rclpy
from ament_index_python.packages import get_package_share_directory
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from gjk_collision import srv

from ..errors import InputError
from ..replay.interfaces import CLOCK, POLYGON_STAMPED, TF_MESSAGE, installed_types
from ..replay.live_parameters import PARAMETER_EVENT
from ..replay.write import BagWriter, Storage
from ..server.adapters.updates import update_type, updates_topic
from ..server.parameters.config import Config
from ..server.services import RECORDED
from . import sources

__all__ = ["Recorder", "record"]

PROGRESS = 5.0  # s

# End of the names of the topics of recorded requests.
EVENTS = "/_service_event"

QUEUE = QoSProfile(depth=1000)
# It receives from publishers of every kind.
ANY = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Recorder:
    """Writes the messages of the topics of a server to a bag, without decoding them.

    A log time is the time at which a message was received, on the clock of the system.

    Parameters
    ----------
    node : Node
        The node that subscribes, in the namespace of the server. Its callbacks write.
    path : Path
        Folder of the bag; it must not exist.
    config : Config
        Parameters of the server.
    server : str
        Its full name, such as ``/r1/collision_server``.
    storage : {'mcap', 'sqlite3'}
        Storage format.

    Attributes
    ----------
    counts : Counter
        Topic -> number of messages so far. All topics but those of requests are in it.

    Raises
    ------
    InputError
        The type of a source is not supported, or its package is not installed.
    """

    def __init__(
        self, node: Node, path: Path, config: Config, server: str, storage: Storage = "mcap"
    ) -> None:
        topics = {topic: others for topic, *others in _topics(node, config, server)}
        kinds = [kind for kind, *_ in topics.values() if "/srv/" not in kind]
        self._writer = BagWriter(path, storage, installed_types(kinds, _definition))
        self.counts = Counter({topic: 0 for topic in sorted(topics) if not topic.endswith(EVENTS)})
        for topic, (kind, message, qos) in topics.items():
            receive = partial(self._receive, topic, kind)
            node.create_subscription(message, topic, receive, qos, raw=True)

    def __enter__(self) -> "Recorder":
        self._writer.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._writer.__exit__(*error)

    def text(self) -> str:
        """Return the number of messages of each topic, and the topics without a message."""
        counts = ", ".join(f"{topic} {count}" for topic, count in self.counts.items() if count)
        silent = ", ".join(topic for topic, count in self.counts.items() if not count)
        return f"{counts or 'no message: are the topics those of --params?'}" + (
            f"; nothing on {silent}" if silent else ""
        )

    def _receive(self, topic: str, kind: str, data: bytes) -> None:
        self._writer.write_bytes(topic, kind, time.time_ns(), data)
        self.counts[topic] += 1


def record(path: Path, config: Config, server: str, storage: Storage, seconds: float) -> int:
    """Record until a signal, or for a time [s], and print the progress.

    Returns
    -------
    int
        Number of messages.

    Raises
    ------
    InputError
        As `Recorder`.
    """
    rclpy.init(args=[])
    try:
        namespace = server.rpartition("/")[0]
        node = Node("gjk_collision_recorder", namespace=namespace, enable_rosout=False)
        with Recorder(node, path, config, server, storage) as recorder:
            if "/tf" not in recorder.counts:
                print("tf2_msgs is not installed: transforms are not recorded", file=sys.stderr)
            begin = printed = time.monotonic()
            while (now := time.monotonic()) < begin + seconds:
                if now > printed + PROGRESS:
                    printed = now
                    print(f"{now - begin:.0f} s: {recorder.text()}", file=sys.stderr)
                try:
                    rclpy.spin_once(node, timeout_sec=0.1)
                except (ExternalShutdownException, KeyboardInterrupt):
                    break
    finally:
        rclpy.try_shutdown()
    print(recorder.text(), file=sys.stderr)
    return recorder.counts.total()


def _topics(node: Node, config: Config, server: str) -> Iterator[tuple[str, str, Any, QoSProfile]]:
    """Yield name, type, class of messages and quality of service of the topics of a server."""
    for source in config.sources:
        adapter, topic = sources.adapter(source), node.resolve_topic_name(source.topic)
        yield topic, source.type, adapter.message, sources.qos(source)
        if adapter.update:
            yield updates_topic(topic), update_type(source), adapter.update, sources.UPDATES_QOS
    others = [
        ("/tf", TF_MESSAGE, ANY),
        ("/tf_static", TF_MESSAGE, LATCHED),
        ("/clock", CLOCK, ANY),
        ("/parameter_events", PARAMETER_EVENT, QUEUE),
    ]
    if config.is_footprint_received:
        others.append((node.resolve_topic_name("footprint"), POLYGON_STAMPED, QUEUE))
    if config.twist_topic:
        others.append((node.resolve_topic_name(config.twist_topic), config.twist_type, ANY))
    for topic, kind, qos in others:
        with suppress(InputError):  # nobody here publishes it; `counts` has no such topic
            yield topic, kind, sources.message_class(topic, kind), qos
    for kind, service in RECORDED.items():
        # rosbags knows events under this name.
        name, event = f"gjk_collision/srv/msg/{kind}_Event", getattr(srv, kind).Event
        yield f"{server}/{service.name}{EVENTS}", name, event, QUEUE


def _definition(kind: str) -> str:
    """Return the text of the .msg file of an installed type."""
    package, _, name = kind.partition("/msg/")
    folder = Path(get_package_share_directory(package))
    return (folder / "msg" / f"{name}.msg").read_text(encoding="utf-8")
