# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The quality of service of the services, at both ends."""

from rclpy.qos import QoSProfile

__all__ = ["SERVICE_QOS"]

# A server's queue holds the requests of all clients, and a client's the replies to all of them,
# until it has sorted out its own. What does not fit is lost without a word: at rclpy's default of
# 10 a burst loses some, and at 64 four busy clients do. `client.MAX_OUTSTANDING` bounds a client.
SERVICE_QOS = QoSProfile(depth=256)
