# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Markers of the vehicle and the obstacles for RViz and Foxglove, for display only."""

from typing import Any

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Quaternion, Vector3
from geometry_msgs.msg import Pose as PoseMessage
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from ..server import drawing
from ..server.data.faults import Fault
from ..server.data.snapshot import Snapshot
from ..server.frames.poses import Pose
from ..server.services.answers import Answer

__all__ = ["marker_array"]

_TYPES = (
    ColorRGBA, Duration, Header, Marker, MarkerArray, Point, PoseMessage, Quaternion, Time,
    Vector3,
)  # fmt: skip
_TYPE_OF: dict[str, Any] = {each.__name__: each for each in _TYPES}


def marker_array(
    snapshot: Snapshot,
    ego: Pose | Fault,
    found: Answer,
    hit: Pose | None = None,
) -> MarkerArray:
    """Return the markers of a snapshot, see `drawing.marker_array`.

    `ego` is the pose of the vehicle in the check frame, or why it is not known.
    """
    here = ego if isinstance(ego, Pose) else None
    return drawing.marker_array(
        lambda name, **fields: _TYPE_OF[name](**fields), snapshot.stamp, snapshot, here, found, hit
    )
