# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How a verdict on one pair of shapes was decided, and its certificate, as text.

The kernel's functions return the verdict, the step of the cascade that decided, the distance, its
certified lower bound and the separating direction. They do not return the triangle of a
collision. So the text says which of the two each statement is: returned by the kernel, or
computed here from the trace.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ..geometry import PoseLike, Shape, collide
from ..tracing import Trace, TraceStep, deciding_step
from ..verdict import Verdict

__all__ = ["answer", "decision", "digits"]

# What each step of the cascade has proven, by the verdict: docs/kernel.md.
_PROVEN = {
    Verdict.FREE: {
        "turned boxes": "the bounding boxes, turned to the poses, are farther apart than required",
        "boxes": "the bounding boxes are farther apart than required",
        "axes": "an edge separates the polygons",
        "GJK": "all points of a - b are beyond a line",
        "exact": "the exact sign of a polynomial shows a gap",
    },
    Verdict.COLLISION: {
        "overlap": "polygons inside of the shapes overlap",
        "extremes": "the four outermost vertices of a - b enclose the origin",
        "axes": "no edge separates the polygons",
        "GJK": "points of a - b enclose the origin, or are within the radii and the margin",
        "exact": "exact arithmetic shows no gap, or no gap larger than the rounding errors",
    },
}


def decision(
    trace: Trace, a: Shape, b: Shape, pose_a: PoseLike, pose_b: PoseLike, margin: float = 0.0
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
    closest = trace.closest
    hit = collide(a, b, pose_a, pose_b)
    parts = closest.feature_a[0], closest.feature_b[0]
    steps = [deciding_step(a, b, pose_a, pose_b, parts, reach) for reach in (margin, 0.0)]
    (verdict, _, certain), _ = steps
    free = not hit and (closest.lower_bound > certain or verdict is Verdict.FREE)
    name = "COLLISION" if hit else "FREE" if free else "MARGIN"
    facts = [
        ("verdict on this pair", name),
        ("required margin", f"{digits(margin, 9)} m"),
        ("decided by", _steps(steps, name, margin)),
        ("in a query for the distance", _by_distance(closest.lower_bound, certain)),
        ("certificate", _contact(trace) if hit else _separation(trace)),
        ("distance", f"{digits(closest.distance, 9)} m"),
        ("certified lower bound", f"{digits(closest.lower_bound, 9)} m"),
    ]
    if closest.distance < 0.0:
        facts.append(("penetration", f"{digits(-closest.distance, 9)} m"))
    which = "deepest" if closest.distance < 0.0 else "closest"
    facts += [
        (f"{which} point of a", f"{_point(closest.point_a)} m"),
        (f"{which} point of b", f"{_point(closest.point_b)} m"),
    ]
    for name, shape, pose in (("a", a, pose_a), ("b", b, pose_b)):
        x, y, yaw = (digits(value, 9) for value in pose)
        radius = digits(shape.radius, 9)
        facts.append((f"pose of {name}", f"{x}, {y} m, {yaw} rad; radius {radius} m"))
    return facts


def answer(trace: Trace) -> str:
    """Return the answer on one line."""
    closest = trace.closest
    settled = "" if trace.is_settled else ", decided by exact arithmetic after GJK"
    return (
        f"distance {digits(closest.distance, 9)} m, "
        f"certified at least {digits(closest.lower_bound, 9)} m, "
        f"{len(trace.steps)} iterations{settled}"
    )


def digits(value: float, count: int = 6) -> str:
    """Return a number with a count of significant digits."""
    return f"{value + 0.0:.{count}g}"  # never -0


def _steps(steps: Sequence[tuple[Verdict, str, float]], name: str, margin: float) -> str:
    """Return which step decides with the margin, and which one without it if that is needed."""
    (with_margin, step, _), (without, bare_step, _) = steps
    if name == "COLLISION" and without is Verdict.FREE:
        return f"another pair of parts. For the nearest parts, {_step(without, bare_step)}"
    if name == "FREE" or margin == 0.0:
        return _step(with_margin, step)
    required = f"with the margin, {_step(with_margin, step)}"
    return f"{required}. Without the margin, {_step(without, bare_step)}"


def _step(verdict: Verdict, step: str) -> str:
    return f"step '{step}': {_PROVEN[verdict][step]}"


def _by_distance(lower_bound: float, certain: float) -> str:
    if lower_bound > certain:
        return "the certified lower bound decides FREE; no other step is needed"
    return "the certified lower bound does not decide FREE; the step above decides"


def _separation(trace: Trace) -> str:
    closest = trace.closest
    if closest.lower_bound > 0.0:
        gap = digits(closest.lower_bound, 9)
        return (
            f"direction {_point(closest.direction)}, from a to b, separates the nearest parts; "
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
