# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Timers on the steady clock, which does not depend on the ROS clock."""

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.timer import Timer

__all__ = ["steady_timer"]


def steady_timer(node: Node, period: float, callback: Callable[[], None]) -> Timer:
    """Create a timer of a node on the steady clock. The period is in s."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
