# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Markers of the vehicle and the obstacles for RViz and Foxglove, for display only."""

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..formats.figures import VERDICT_COLOURS, rgb
from ..server import drawing
from ..server.answers import StateAnswer
from ..server.frames import Pose
from ..server.snapshot import Fault, Snapshot
from ..verdict import Verdict
from . import messages

__all__ = ["marker_array"]

COLOURS = {
    verdict: ColorRGBA(**dict(zip("rgb", rgb(colour), strict=True)), a=1.0)
    for verdict, colour in VERDICT_COLOURS.items()
}
LIFETIME = Duration(sec=drawing.LIFETIME)


def marker_array(
    snapshot: Snapshot,
    ego: Pose | Fault,
    found: StateAnswer,
    hit: Pose | None = None,
) -> MarkerArray:
    """Return the markers of a snapshot.

    Parameters
    ----------
    snapshot : Snapshot
        The footprint and the obstacles.
    ego : Pose or Fault
        The pose of the vehicle in the check frame, or why it is not known.
    found : StateAnswer
        The answer of the heartbeat for this pose.
    hit : Pose, optional
        A pose in collision from a recent request, in the check frame.
    """
    here = ego if isinstance(ego, Pose) else None
    made = [
        Marker(action=Marker.DELETEALL),
        *(
            _lines(part) if isinstance(part, drawing.Lines) else _text(part)
            for part in drawing.drawing(snapshot, here, found, hit)
        ),
    ]
    for each in made:
        each.header.frame_id = snapshot.config.check_frame
        each.header.stamp = messages.time(snapshot.stamp)
    return MarkerArray(markers=made)


def _marker(namespace: str, kind: int, colour: ColorRGBA, size: float) -> Marker:
    marker = Marker(ns=namespace, type=kind, action=Marker.ADD, color=colour, lifetime=LIFETIME)
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.z = size
    return marker


def _lines(lines: drawing.Lines) -> Marker:
    marker = _marker(lines.name, Marker.LINE_LIST, COLOURS[lines.verdict], drawing.WIDTH)
    marker.points = [Point(x=x, y=y) for x, y in lines.segments.reshape(-1, 2).tolist()]
    marker.colors = [COLOURS[verdict] for verdict in lines.verdicts for _ in range(2)]
    return marker


def _text(label: drawing.Label) -> Marker:
    kind, colour = Marker.TEXT_VIEW_FACING, COLOURS[Verdict.MARGIN]
    marker = _marker("warning", kind, colour, drawing.HEIGHT)
    marker.pose.position.x, marker.pose.position.y, marker.pose.position.z = label.x, label.y, 2.0
    marker.text = label.text
    return marker
