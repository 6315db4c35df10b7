# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The services, one file each.

The rules are those of the kernel (`gjk/rules`). An invalid request raises `InputError`; in all
other cases an answer is returned. If the snapshot has a fault, no answer is FREE: a certain
contact is COLLISION, everything else is UNKNOWN.
"""

from .check_path import CheckPath
from .check_poses import CheckPoses
from .check_shapes import CheckShapes
from .collide import Collide
from .distance import Distance
from .get_snapshot import GetSnapshot
from .nearest_free import NearestFree
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
