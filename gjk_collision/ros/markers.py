# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Markers of the vehicle and the obstacles for RViz and Foxglove, for display only."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..geometry import Shape
from ..server.answers import StateAnswer
from ..server.frames import Pose
from ..server.snapshot import Fault, Placed, Snapshot
from ..verdict import Status, Verdict
from . import messages

__all__ = ["marker_array"]

Floats = npt.NDArray[np.float64]

# Colours of Okabe and Ito, which colour-blind people can distinguish too.
COLOURS = {
    Verdict.UNKNOWN: ColorRGBA(r=0.48, g=0.48, b=0.48, a=1.0),
    Verdict.FREE: ColorRGBA(r=0.0, g=0.62, b=0.45, a=1.0),
    Verdict.COLLISION: ColorRGBA(r=0.84, g=0.37, b=0.0, a=1.0),
    Verdict.MARGIN: ColorRGBA(r=0.90, g=0.62, b=0.0, a=1.0),
}
WIDTH = 0.04  # m, line width
HEIGHT = 0.8  # m, text height
LIFETIME = Duration(sec=1)  # markers disappear when they are old
_ANGLES = np.arange(16) * (np.pi / 8)
_CIRCLE = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])


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
    verdict, frame = found.answer.verdict, snapshot.config.check_frame
    here = ego if isinstance(ego, Pose) else None
    made = [_blank(frame)]
    if snapshot.footprint is not None and here is not None:
        lines = _vehicle(snapshot.footprint, here)
        made.append(_lines("footprint", frame, lines, COLOURS[verdict]))
    made.append(_obstacles(snapshot, here, verdict))
    if np.isfinite(found.distance) and found.answer.nearest_id != -1:
        pair = np.array([[found.witness_ego, found.witness_obstacle]])
        made.append(_lines("witness", frame, pair, COLOURS[verdict]))
    if hit is not None and snapshot.footprint is not None:
        lines = _vehicle(snapshot.footprint, hit)
        made.append(_lines("first_collision", frame, lines, COLOURS[Verdict.COLLISION]))
    if verdict is Verdict.UNKNOWN:
        text = f"{Status(found.answer.status).name}\n{found.answer.message}"
        made.append(_text(frame, text, here or Pose()))
    if 0.0 < found.time_to_collision < np.inf:
        text = f"contact in {found.time_to_collision:.1f} s"
        made.append(_text(frame, text, here or Pose()))
    for each in made:
        each.header.stamp = messages.time(snapshot.stamp)
    return MarkerArray(markers=made)


def _blank(frame: str) -> Marker:
    marker = Marker(action=Marker.DELETEALL)
    marker.header.frame_id = frame
    return marker


def _marker(namespace: str, frame: str, kind: int, colour: ColorRGBA, size: float) -> Marker:
    marker = Marker(ns=namespace, type=kind, action=Marker.ADD, color=colour, lifetime=LIFETIME)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.z = size
    return marker


def _lines(namespace: str, frame: str, segments: Floats, colour: ColorRGBA) -> Marker:
    """Return segments (n, 2, 2) [m] as one marker."""
    marker = _marker(namespace, frame, Marker.LINE_LIST, colour, WIDTH)
    marker.points = [Point(x=x, y=y) for x, y in segments.reshape(-1, 2).tolist()]
    return marker


def _text(frame: str, text: str, where: Pose) -> Marker:
    marker = _marker("warning", frame, Marker.TEXT_VIEW_FACING, COLOURS[Verdict.MARGIN], HEIGHT)
    marker.pose.position.x, marker.pose.position.y = where.x, where.y
    marker.pose.position.z = 2.0
    marker.text = text
    return marker


def _vehicle(shape: Shape, pose: Pose) -> Floats:
    parts = map(_round, shape.parts, shape.radii)
    return np.concatenate([_ring(pose.transform(part)) for part in parts])


def _obstacles(snapshot: Snapshot, ego: Pose | None, verdict: Verdict) -> Marker:
    """Return all obstacles as one marker, each in the colour of its own verdict.

    If the verdict of the vehicle is UNKNOWN, all obstacles are grey, so that none is shown as
    free.
    """
    count = len(snapshot.scene) + 1  # the last one is the outside of the region
    colours = [COLOURS[Verdict.UNKNOWN]] * count
    if ego is not None and snapshot.footprint is not None and verdict is not Verdict.UNKNOWN:
        colours = [COLOURS[Verdict.FREE]] * count
        lists = [part.obstacles for part in snapshot.parts]
        own = [each.margins if len(each.margins) else np.zeros(len(each)) for each in lists]
        margins = snapshot.config.safety_margin + np.concatenate([*own, np.zeros(1)])
        near = snapshot.scene.nearest(
            snapshot.footprint,
            (ego.x, ego.y, ego.yaw),
            k=count,
            max_distance=float(margins.max()),
        )
        is_near = near.lower_bounds <= margins[near.indices]
        for index, distance in zip(near.indices[is_near], near.distances[is_near], strict=True):
            hit = Verdict.COLLISION if distance <= 0.0 else Verdict.MARGIN
            colours[index] = COLOURS[hit]
    frame = snapshot.config.check_frame
    marker = _marker("obstacles", frame, Marker.LINE_LIST, COLOURS[verdict], WIDTH)
    outlines = [each for part in snapshot.parts for each in _outlines(part)]
    for points, colour in zip(outlines, colours[:-1], strict=True):
        corners = [Point(x=x, y=y) for x, y in points.tolist()]
        for ends in pairwise([*corners, corners[0]]):
            marker.points.extend(ends)
        marker.colors.extend([colour] * (2 * len(corners)))
    for part in snapshot.parts:
        if part.region is not None:
            vertices = part.region.boundary.reshape(-1, 2).tolist()
            marker.points.extend(Point(x=x, y=y) for x, y in vertices)
            marker.colors.extend([colours[-1]] * len(vertices))
    return marker


def _outlines(part: Placed) -> list[Floats]:
    """Return the outline of each obstacle in the check frame, with the inflation."""
    data = part.obstacles
    poses = data.poses.reshape(-1, 3) if len(data.poses) else np.zeros((len(data), 3))
    radii = data.radius.tolist() if len(data.radius) else [0.0] * len(data)
    kinds = data.kinds.tolist() if len(data.kinds) else [0] * len(data)
    points = data.xy.reshape(-1, 2)
    found = []
    for i, (pose, radius, kind) in enumerate(zip(poses.tolist(), radii, kinds, strict=True)):
        own = points[data.offsets[i] : data.offsets[i + 1]]
        # For a concave outline, the line shows the outline without the radius.
        drawn = own if kind else _round(own, radius + part.inflation)
        found.append(part.pose.transform(Pose(*pose).transform(drawn)))
    return found


def _round(points: Floats, radius: float) -> Floats:
    """Return the outline of the convex hull of points, grown by `radius` [m]."""
    grown = (points[:, None, :] + radius * _CIRCLE).reshape(-1, 2) if radius else points
    return Shape.hull(grown).parts[0]


def _ring(points: Floats) -> Floats:
    """Return the segments (n, 2, 2) of a closed outline (n, 2)."""
    return np.stack([points, np.roll(points, -1, axis=0)], axis=1)
