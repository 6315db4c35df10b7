# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How a verdict on one pair of shapes was decided, and its certificate, as text.

The kernel's functions return the verdict, the distance, its certified lower bound and the
separating direction. They return neither the step of the cascade that decided nor the triangle of
a collision. So the text says which of the two each statement is: returned by the kernel, or
computed here from the trace.
"""

from fractions import Fraction
from math import cos, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry import Pose, Shape, collide
from ..tracing import Trace, TraceStep

__all__ = ["answer", "decision", "digits", "placed"]

Points = npt.NDArray[np.float64]


def decision(
    trace: Trace, a: Shape, b: Shape, pose_a: Pose, pose_b: Pose, margin: float = 0.0
) -> list[tuple[str, str]]:
    """Return the decision on a pair and its certificate: names and texts.

    Parameters
    ----------
    trace : Trace
        The trace of these shapes at these poses.
    a, b : Shape
        The pair.
    pose_a, pose_b : (x, y, yaw)
        Poses of the shapes [m, m, rad].
    margin : float
        Distance that the pair requires [m]. Without a greater certified distance, the verdict is
        not FREE.
    """
    found = trace.closest
    hit = collide(a, b, pose_a, pose_b)
    free = found.lower_bound > margin or (margin == 0.0 and not hit)
    name = "COLLISION" if hit else "FREE" if free else "MARGIN"
    facts = [
        ("verdict on this pair", name),
        ("required margin", f"{digits(margin, 9)} m"),
        ("decided by", _step(trace, a, b, pose_a, pose_b, hit=hit)),
        ("certificate", _contact(trace) if hit else _separation(trace)),
        ("distance", f"{digits(found.distance, 9)} m"),
        ("certified lower bound", f"{digits(found.lower_bound, 9)} m"),
    ]
    if found.distance < 0.0:
        facts.append(("penetration", f"{digits(-found.distance, 9)} m"))
    which = "deepest" if found.distance < 0.0 else "closest"
    facts += [
        (f"{which} point of a", f"{_point(found.point_a)} m"),
        (f"{which} point of b", f"{_point(found.point_b)} m"),
    ]
    for name, shape, pose in (("a", a, pose_a), ("b", b, pose_b)):
        x, y, yaw = (digits(value, 9) for value in pose)
        radius = digits(shape.radius, 9)
        facts.append((f"pose of {name}", f"{x}, {y} m, {yaw} rad; radius {radius} m"))
    return facts


def answer(trace: Trace) -> str:
    """Return the answer on one line."""
    found = trace.closest
    settled = "" if trace.is_settled else ", decided by exact arithmetic after GJK"
    return (
        f"distance {digits(found.distance, 9)} m, "
        f"certified at least {digits(found.lower_bound, 9)} m, "
        f"{len(trace.steps)} iterations{settled}"
    )


def digits(value: float, count: int = 6) -> str:
    """Return a number with a count of significant digits."""
    return f"{value + 0.0:.{count}g}"  # never -0


def placed(shape: Shape, pose: Pose) -> list[Points]:
    """Return the vertices of each part of a shape at a pose, rounded."""
    x, y, yaw = pose
    turn = np.array([[cos(yaw), sin(yaw)], [-sin(yaw), cos(yaw)]])
    return [np.asarray(part) @ turn + (x, y) for part in shape.parts]


def _step(trace: Trace, a: Shape, b: Shape, pose_a: Pose, pose_b: Pose, *, hit: bool) -> str:
    """Return what is known about the step of the cascade."""
    unknown = "not reported by the kernel."
    if hit:
        return f"{unknown} The certificate was computed again, from the trace of GJK."
    part_a, part_b = trace.closest.feature_a[0], trace.closest.feature_b[0]
    p, q = placed(a, pose_a)[part_a], placed(b, pose_b)[part_b]
    reach = a.radii[part_a] + b.radii[part_b]
    gaps = np.maximum(p.min(axis=0) - q.max(axis=0), q.min(axis=0) - p.max(axis=0)) - reach
    axis = int(np.argmax(gaps))
    parts = "" if len(a.parts) == len(b.parts) == 1 else " of the nearest parts"
    boxes = f"The bounding boxes{parts}"
    if gaps[axis] > 1e-9 * max(float(np.abs(p).max()), float(np.abs(q).max())):
        gap = f"{digits(float(gaps[axis]))} m apart along {'xy'[axis]}"
        return f"{unknown} {boxes} are {gap}, so a test of boxes is sufficient."
    return f"{unknown} {boxes} overlap, so a test of boxes is not sufficient."


def _separation(trace: Trace) -> str:
    found = trace.closest
    if found.lower_bound > 0.0:
        gap = digits(found.lower_bound, 9)
        return (
            f"direction {_point(found.direction)}, from a to b, separates the nearest parts; "
            f"the gap is at least {gap} m, with radii and rounding errors (from the kernel)"
        )
    return "exact arithmetic: the gap is smaller than the rounding errors of the distance"


def _contact(trace: Trace) -> str:
    """Return why the pair collides."""
    last = trace.steps[-1] if trace.steps else None
    if last is not None and trace.is_settled and last.barycode == 7:
        corners = ", ".join(map(_point, (last.support, *last.points)))
        sure = " (checked in exact arithmetic)" if _encloses(last) else ""
        return f"the triangle {corners} m of points of a - b encloses the origin{sure}"
    if trace.closest.distance > 0.0:
        return "the gap is smaller than the rounding errors of the poses, so FREE is not proven"
    if trace.is_settled:
        return "the polygons are not farther apart than the sum of the radii"
    return "no direction has a gap: GJK does not decide, exact arithmetic does"


def _encloses(step: TraceStep) -> bool:
    """Return whether the origin is inside the triangle of a step: exact signs of the areas."""
    corners = [tuple(map(Fraction, point.tolist())) for point in (step.support, *step.points)]
    turns = []
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        turns.append(ax * by - ay * bx)
    return min(turns) > 0 or max(turns) < 0


def _point(point: Any) -> str:
    x, y = point
    return f"({digits(x, 9)}, {digits(y, 9)})"
