# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The twist of the vehicle: nav_msgs/Odometry and geometry_msgs/TwistStamped."""

from math import isfinite
from typing import Any

from ...errors import refuse
from ...verdict import Status
from ..data.twist import Twist
from ..frames import fields
from ..parameters.config import ODOMETRY, Config

__all__ = ["twist"]


def twist(message: Any, config: Config) -> Twist:
    """Convert a message of the type `Config.twist_type`: the twist of the vehicle.

    Raises
    ------
    InputError
        NON_FINITE: a value is NaN or infinite.
    """
    is_odometry = config.twist_type == ODOMETRY
    frame = message.child_frame_id if is_odometry else message.header.frame_id
    found = message.twist.twist if is_odometry else message.twist
    prefix = "twist.twist" if is_odometry else "twist"
    values = {
        "linear.x": float(found.linear.x),
        "linear.y": float(found.linear.y),
        "angular.z": float(found.angular.z),
    }
    for name, value in values.items():
        if not isfinite(value):
            refuse(f"{prefix}.{name}", "must be finite", value, status=Status.NON_FINITE)
    return Twist(frame, fields.nanoseconds(message.header.stamp), *values.values())
