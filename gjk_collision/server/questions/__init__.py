# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The questions that can be asked of a snapshot: one file for each service, and the heartbeat.

They are pure functions: the node and a replay call the same ones. A request that breaks a rule
raises `InputError`; everything else is an answer. Beside a fault of the data nothing is FREE: a
certain hit is COLLISION, the rest is UNKNOWN.
"""

from .batch import check_poses as check_poses
from .heartbeat import state as state
from .nearest import distance as distance
from .path import check_path as check_path
from .path import pose_on as pose_on
from .shapes import check_shapes as check_shapes
from .single_pose import collide as collide
