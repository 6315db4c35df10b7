# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The quality of service of services and of `~/snapshot`, for the server and its clients."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

__all__ = ["SERVICE_QOS", "SNAPSHOT_QOS"]

# The queue of the server stores the requests of all clients. The queue of a client also receives
# the replies for other clients, until it has discarded them. If a queue is full, messages are lost
# without an error. This happened with rclpy's default of 10 during a burst, and with 64 while four
# clients were busy. `client.MAX_OUTSTANDING` limits the requests of one client.
SERVICE_QOS = QoSProfile(depth=256)

# Only the latest snapshot counts, and a new subscriber receives it at once.
SNAPSHOT_QOS = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
