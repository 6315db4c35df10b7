# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How the verdict on the vehicle and one obstacle was decided, as text."""

from collections.abc import Sequence
from typing import Any

from ..geometry import closest, collide
from ..replay.moment import Moment
from ..tracing import deciding_step
from ..verdict import Verdict

__all__ = ["decision"]

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


def decision(moment: Moment) -> list[tuple[str, str]]:
    """Return the decision on the vehicle (a) and the obstacle (b): names and texts."""
    a, b, margin = moment.vehicle, moment.obstacle, moment.margin
    poses = moment.vehicle_pose, moment.obstacle_pose
    nearest, hit = closest(a, b, *poses), collide(a, b, *poses)
    parts = nearest.feature_a[0], nearest.feature_b[0]
    steps = [deciding_step(a, b, *poses, parts, reach) for reach in (margin, 0.0)]
    (verdict, _, certain), _ = steps
    is_certain = nearest.lower_bound > certain
    name = "COLLISION" if hit else "FREE" if is_certain or verdict is Verdict.FREE else "MARGIN"
    facts = [
        ("verdict on this pair", name),
        ("required margin", f"{_digits(margin)} m"),
        ("decided by", _steps(steps, name, margin)),
        (
            "in a query for the distance",
            "the certified lower bound decides FREE; no other step is needed"
            if is_certain
            else "the certified lower bound does not decide FREE; the step above decides",
        ),
    ]
    if nearest.lower_bound > 0.0:
        text = f"direction {_point(nearest.direction)}, from a to b, separates the nearest parts"
        facts.append(("certificate", text))
    which = "deepest" if nearest.distance < 0.0 else "closest"
    facts += [
        ("distance", f"{_digits(nearest.distance)} m"),
        ("certified lower bound", f"{_digits(nearest.lower_bound)} m"),
        (f"{which} point of a", f"{_point(nearest.point_a)} m"),
        (f"{which} point of b", f"{_point(nearest.point_b)} m"),
    ]
    for letter, shape, (x, y, yaw) in (("a", a, poses[0]), ("b", b, poses[1])):
        text = f"{_point((x, y))} m, {_digits(yaw)} rad; radius {_digits(shape.radius)} m"
        facts.append((f"pose of {letter}", text))
    return facts


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


def _point(point: Any) -> str:
    x, y = point
    return f"({_digits(x)}, {_digits(y)})"


def _digits(value: float) -> str:
    return f"{value + 0.0:.9g}"  # never -0
