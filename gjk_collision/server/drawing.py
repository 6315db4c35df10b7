# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Markers of the vehicle and the obstacles for RViz and Foxglove, for display only."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats.figures import VERDICT_COLOURS, outline, rgb
from ..geometry import Shape
from ..verdict import Status, Verdict
from .data.placing import Sender
from .data.snapshot import Snapshot
from .frames.poses import Pose
from .services.answers import Answer

__all__ = ["marker_array"]

Floats = npt.NDArray[np.float64]

# visualization_msgs/msg/Marker
LINE_LIST, TEXT_VIEW_FACING, ADD, DELETEALL = 5, 9, 0, 3

WIDTH = 0.04  # m, line width
HEIGHT = 0.8  # m, text height
LIFETIME = 1  # s; a drawing disappears when it is old
_ARC_STEP = np.pi / 8  # rad


def marker_array(
    make: Callable[..., Any],
    stamp: int,
    snapshot: Snapshot,
    ego: Pose | None,
    found: Answer,
    hit: Pose | None = None,
) -> Any:
    """Return a visualization_msgs/MarkerArray of a snapshot.

    Its namespaces are "footprint", "obstacles", "seen" (the boundary of what each source has
    seen), "witness" (the closest points), "first_collision" and "warning". The first marker
    deletes those of the last array.

    Parameters
    ----------
    make : callable
        ``make(name, **fields)`` returns a message of the type with this name in std_msgs,
        geometry_msgs, builtin_interfaces or visualization_msgs.
    stamp : int
        Time of the markers [ns].
    snapshot : Snapshot
        The footprint and the obstacles.
    ego : Pose or None
        The pose of the vehicle in the check frame; None: not known.
    found : Answer
        The answer of the heartbeat for this pose.
    hit : Pose, optional
        A pose in collision from a recent request, in the check frame.
    """
    colours = {
        verdict: make("ColorRGBA", **dict(zip("rgb", rgb(colour), strict=True)), a=1.0)
        for verdict, colour in VERDICT_COLOURS.items()
    }
    sec, nanosec = divmod(stamp, 10**9)
    time = make("Time", sec=sec, nanosec=nanosec)
    header = make("Header", frame_id=snapshot.config.check_frame, stamp=time)
    markers = [make("Marker", header=header, action=DELETEALL)]

    def add(name: str, kind: int, verdict: Verdict, size: float, at: Any, **fields: Any) -> None:
        marker = make(
            "Marker",
            header=header,
            ns=name,
            id=len(markers),
            type=kind,
            action=ADD,
            pose=make("Pose", position=at, orientation=make("Quaternion", w=1.0)),
            scale=make("Vector3", x=size, z=size),
            color=colours[verdict],
            lifetime=make("Duration", sec=LIFETIME),
            **fields,
        )
        markers.append(marker)

    def lines(
        name: str, verdict: Verdict, segments: Floats, verdicts: Sequence[Verdict] = ()
    ) -> None:
        """Add segments (n, 2, 2) [m], of the colour of `verdict` or each of its own."""
        points = [make("Point", x=x, y=y) for x, y in segments.reshape(-1, 2).tolist()]
        colors = [colours[own] for own in verdicts for _ in range(2)]
        add(name, LINE_LIST, verdict, WIDTH, make("Point"), points=points, colors=colors)

    def warning(text: str) -> None:
        here = ego or Pose()
        at = make("Point", x=here.x, y=here.y, z=2.0)
        add("warning", TEXT_VIEW_FACING, Verdict.MARGIN, HEIGHT, at, text=text)

    verdict = found.verdict
    if snapshot.footprint is not None and ego is not None:
        lines("footprint", verdict, _vehicle(snapshot.footprint, ego))
    lines("obstacles", verdict, *_obstacles(snapshot, ego, verdict))
    if snapshot.seen:
        ends = np.concatenate([region.boundary for _, region in snapshot.seen])
        lines("seen", Verdict.UNKNOWN, ends.reshape(-1, 2, 2))
    if np.isfinite(found.distance) and found.nearest_id != -1:
        lines("witness", verdict, np.array([found.witness_ego, found.witness_obstacle]))
    if hit is not None and snapshot.footprint is not None:
        lines("first_collision", Verdict.COLLISION, _vehicle(snapshot.footprint, hit))
    if verdict is Verdict.UNKNOWN:
        warning(f"{Status(found.status).name}\n{found.message}")
    if 0.0 < found.time_to_collision < np.inf:
        warning(f"contact in {found.time_to_collision:.1f} s")
    return make("MarkerArray", markers=markers)


def _vehicle(shape: Shape, pose: Pose) -> Floats:
    parts = map(_round, shape.parts, shape.radii)
    return np.concatenate([_ring(pose.transform(part)) for part in parts])


def _obstacles(
    snapshot: Snapshot, ego: Pose | None, verdict: Verdict
) -> tuple[Floats, list[Verdict]]:
    """Return the segments of all obstacles, and the verdict of each segment.

    If the verdict of the vehicle is UNKNOWN, that of all obstacles is UNKNOWN, so that none is
    shown as free.
    """
    count = len(snapshot.scene) + 1  # the last one is the outside of the region
    verdicts = [Verdict.UNKNOWN] * count
    if ego is not None and snapshot.footprint is not None and verdict is not Verdict.UNKNOWN:
        verdicts = [Verdict.FREE] * count
        lists = [each.obstacles for each in snapshot.senders]
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
            verdicts[index] = Verdict.COLLISION if distance <= 0.0 else Verdict.MARGIN
    rings = [_ring(ring) for each in snapshot.senders for ring in _outlines(each)]
    regions = [
        each.region.boundary.reshape(-1, 2, 2)
        for each in snapshot.senders
        if each.region is not None
    ]
    own_verdicts = [own for ring, own in zip(rings, verdicts[:-1], strict=True) for _ in ring]
    own_verdicts += [verdicts[-1] for region in regions for _ in region]
    return np.concatenate([np.empty((0, 2, 2)), *rings, *regions]), own_verdicts


def _outlines(sender: Sender) -> list[Floats]:
    """Return the outline of each obstacle in the check frame, with the inflation."""
    data = sender.obstacles
    poses = data.poses.reshape(-1, 3) if len(data.poses) else np.zeros((len(data), 3))
    radii = data.radius.tolist() if len(data.radius) else [0.0] * len(data)
    kinds = data.kinds.tolist() if len(data.kinds) else [0] * len(data)
    points = data.xy.reshape(-1, 2)
    found = []
    for i, (pose, radius, kind) in enumerate(zip(poses.tolist(), radii, kinds, strict=True)):
        own = points[data.offsets[i] : data.offsets[i + 1]]
        # For a concave outline, the line shows the outline without the radius.
        drawn = own if kind else _round(own, radius + sender.source.inflation)
        found.append(sender.pose.transform(Pose(*pose).transform(drawn)))
    return found


def _round(points: Floats, radius: float) -> Floats:
    """Return the outline of the convex hull of points, grown by `radius` [m]."""
    return outline(Shape.hull(points).parts[0], radius, _ARC_STEP)


def _ring(points: Floats) -> Floats:
    """Return the segments (n, 2, 2) of a closed outline (n, 2)."""
    return np.stack([points, np.roll(points, -1, axis=0)], axis=1)
