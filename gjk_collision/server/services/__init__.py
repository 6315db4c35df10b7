# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The services, one file each, and the functions that answer from values instead of messages.

The rules are those of the kernel (`gjk/rules`). An invalid request raises `InputError`; in all
other cases an answer is returned. If the snapshot has a fault, no answer is FREE: a certain
contact is COLLISION, everything else is UNKNOWN.
"""

from .check_path import CheckPath, check_path
from .check_poses import CheckPoses, check_poses
from .check_shapes import CheckShapes, check_shapes
from .collide import Collide, collide
from .distance import Distance, distance
from .get_snapshot import GetSnapshot
from .nearest_free import NearestFree, nearest_free
from .poses import Data, check_frame, place, pose_on
from .service import OnePose, Service
from .state import state

__all__ = [
    "RECORDED",
    "SERVICES",
    "Data",
    "OnePose",
    "Service",
    "check_frame",
    "check_path",
    "check_poses",
    "check_shapes",
    "collide",
    "distance",
    "nearest_free",
    "place",
    "pose_on",
    "state",
]

# The services whose requests replay answers again, by the names of their types.
RECORDED: dict[str, type[Service]] = {
    each.__name__: each
    for each in (Collide, Distance, CheckPoses, CheckPath, NearestFree, CheckShapes)
}
SERVICES: dict[str, type[Service]] = {**RECORDED, "GetSnapshot": GetSnapshot}
