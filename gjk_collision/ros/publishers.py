# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Why nothing is received from a topic, as far as its publishers tell."""

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from ..server.data.snapshot import Report
from ..server.parameters.config import Config
from ..verdict import Status

__all__ = ["fault_text"]

# What a subscription can require of each publisher.
_REQUIRED = (ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL)


def fault_text(node: Node, config: Config, report: Report) -> str:
    """Return the fault of an input; if nothing was received, also what its publishers tell."""
    fault = report.fault
    if fault is None:
        return ""
    text = f"{fault.status.name}: {fault.message}"
    if fault.status not in (Status.NO_OBSTACLES, Status.NO_FOOTPRINT):
        return text
    topics = {"footprint": "footprint", "twist_topic": config.twist_topic}
    topic = topics.get(report.source) or config.source(report.source).topic
    return f"{text}; the topic has {_publishers(node, topic)}"


def _publishers(node: Node, topic: str) -> str:
    found = node.get_publishers_info_by_topic(topic)
    for each in node.get_subscriptions_info_by_topic(topic) if found else ():
        others = {sender.topic_type for sender in found} - {each.topic_type}
        if each.node_name == node.get_name() and others:
            return f"publishers of {', '.join(sorted(others))}"
        for value in _REQUIRED if each.node_name == node.get_name() else ():
            policy = "reliability" if isinstance(value, ReliabilityPolicy) else "durability"
            offered = {getattr(sender.qos_profile, policy) for sender in found}
            if getattr(each.qos_profile, policy) == value and offered - {value}:
                return f"a publisher that is not {value.name.lower()}: see qos_{policy}"
            is_kept = value is DurabilityPolicy.TRANSIENT_LOCAL and value in offered
            if is_kept and getattr(each.qos_profile, policy) != value:
                return "a transient_local publisher: set qos_durability so to get its last message"
    return f"{len(found)} publishers; nothing was received from them" if found else "no publisher"
