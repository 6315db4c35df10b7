# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Why nothing is received from a topic, as far as its publishers tell."""

from rclpy.node import Node

from ..server.parameters.config import Config
from ..verdict import Status

__all__ = ["NOTHING_RECEIVED", "publishers"]

NOTHING_RECEIVED = (Status.NO_OBSTACLES, Status.NO_FOOTPRINT)


def publishers(node: Node, config: Config, name: str) -> str:
    """Return a text about the publishers of a source, "footprint" or "twist_topic"."""
    if name == "footprint":
        topic, kind = "footprint", "geometry_msgs/msg/PolygonStamped"
    elif name == "twist_topic":
        topic, kind = config.twist_topic, config.twist_type
    else:
        source = config.source(name)
        topic, kind = source.topic, source.type
    found = node.get_publishers_info_by_topic(topic)
    if not found:
        return "the topic has no publisher"
    if others := sorted({each.topic_type for each in found} - {kind}):
        return f"the topic has publishers of {', '.join(others)}"
    return f"the topic has {len(found)} publishers; check their quality of service"
