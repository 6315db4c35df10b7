# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A drawing of the vehicle and the obstacles: lines and texts in the check frame."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..formats.figures import outline
from ..geometry import Shape
from ..verdict import Status, Verdict
from .answers import StateAnswer
from .frames import Pose
from .snapshot import Placed, Snapshot

__all__ = ["HEIGHT", "LIFETIME", "WIDTH", "Label", "Lines", "drawing"]

Floats = npt.NDArray[np.float64]

WIDTH = 0.04  # m, line width
HEIGHT = 0.8  # m, text height
LIFETIME = 1  # s; a drawing disappears when it is old
_ARC_STEP = np.pi / 8  # rad


@dataclass(frozen=True)
class Lines:
    """Segments of one kind.

    Attributes
    ----------
    name : str
        "footprint", "obstacles", "witness" (the closest points) or "first_collision".
    verdict : Verdict
        The verdict whose colour they have.
    segments : (n, 2, 2) float64
        Both ends of each segment [m].
    verdicts : list of Verdict
        The verdict of each segment; empty: all have the colour of `verdict`.
    """

    name: str
    verdict: Verdict
    segments: Floats
    verdicts: list[Verdict]


@dataclass(frozen=True)
class Label:
    """A text for people.

    Attributes
    ----------
    text : str
        The text.
    x, y : float
        Where it is [m].
    """

    text: str
    x: float
    y: float


def drawing(
    snapshot: Snapshot, ego: Pose | None, found: StateAnswer, hit: Pose | None = None
) -> Iterator[Lines | Label]:
    """Yield the parts of a drawing of a snapshot.

    Parameters
    ----------
    snapshot : Snapshot
        The footprint and the obstacles.
    ego : Pose or None
        The pose of the vehicle in the check frame; None: not known.
    found : StateAnswer
        The answer for this pose.
    hit : Pose, optional
        A pose in collision from a recent request, in the check frame.
    """
    verdict, here = found.answer.verdict, ego or Pose()
    if snapshot.footprint is not None and ego is not None:
        yield Lines("footprint", verdict, _vehicle(snapshot.footprint, ego), [])
    yield _obstacles(snapshot, ego, verdict)
    if np.isfinite(found.distance) and found.answer.nearest_id != -1:
        pair = np.array([[found.witness_ego, found.witness_obstacle]])
        yield Lines("witness", verdict, pair, [])
    if hit is not None and snapshot.footprint is not None:
        lines = _vehicle(snapshot.footprint, hit)
        yield Lines("first_collision", Verdict.COLLISION, lines, [])
    if verdict is Verdict.UNKNOWN:
        text = f"{Status(found.answer.status).name}\n{found.answer.message}"
        yield Label(text, here.x, here.y)
    if 0.0 < found.time_to_collision < np.inf:
        yield Label(f"contact in {found.time_to_collision:.1f} s", here.x, here.y)


def _vehicle(shape: Shape, pose: Pose) -> Floats:
    parts = map(_round, shape.parts, shape.radii)
    return np.concatenate([_ring(pose.transform(part)) for part in parts])


def _obstacles(snapshot: Snapshot, ego: Pose | None, verdict: Verdict) -> Lines:
    """Return all obstacles, each with its own verdict.

    If the verdict of the vehicle is UNKNOWN, that of all obstacles is UNKNOWN, so that none is
    shown as free.
    """
    count = len(snapshot.scene) + 1  # the last one is the outside of the region
    verdicts = [Verdict.UNKNOWN] * count
    if ego is not None and snapshot.footprint is not None and verdict is not Verdict.UNKNOWN:
        verdicts = [Verdict.FREE] * count
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
            verdicts[index] = Verdict.COLLISION if distance <= 0.0 else Verdict.MARGIN
    rings = [_ring(each) for part in snapshot.parts for each in _outlines(part)]
    regions = [
        part.region.boundary.reshape(-1, 2, 2)
        for part in snapshot.parts
        if part.region is not None
    ]
    each = zip(rings, verdicts[:-1], strict=True)
    colours = [own for ring, own in each for _ in ring]
    colours += [verdicts[-1] for region in regions for _ in region]
    return Lines(
        "obstacles", verdict, np.concatenate([np.empty((0, 2, 2)), *rings, *regions]), colours
    )


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
    return outline(Shape.hull(points).parts[0], radius, _ARC_STEP)


def _ring(points: Floats) -> Floats:
    """Return the segments (n, 2, 2) of a closed outline (n, 2)."""
    return np.stack([points, np.roll(points, -1, axis=0)], axis=1)
