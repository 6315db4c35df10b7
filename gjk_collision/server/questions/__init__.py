# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions that answer requests from a snapshot: one file for each service and the heartbeat.

They are pure functions, and the node and replay call the same ones. An invalid request raises
`InputError`; in all other cases an answer is returned. If the snapshot has a fault, no answer is
FREE: a certain contact is COLLISION, everything else is UNKNOWN.
"""

from .arcs import check_arcs as check_arcs
from .batch import check_poses as check_poses
from .gradients import MODE_GRADIENT as MODE_GRADIENT
from .gradients import checked_neighbours as checked_neighbours
from .gradients import with_gradients as with_gradients
from .groups import checked_groups as checked_groups
from .groups import grouped as grouped
from .heartbeat import state as state
from .heartbeat import with_time_to_collision as with_time_to_collision
from .nearest import distance as distance
from .nearest_free import nearest_free as nearest_free
from .path import check_path as check_path
from .path import pose_on as pose_on
from .several import check_poses_of_several as check_poses_of_several
from .shapes import check_shapes as check_shapes
from .single_pose import collide as collide
