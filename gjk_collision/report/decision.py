# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How the verdict on the vehicle and one obstacle was decided, as text."""

from collections.abc import Sequence

from ..geometry import closest, collide
from ..replay.moment import Pair
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


def decision(pair: Pair) -> list[tuple[str, str]]:
    """Return the decision on the vehicle (a) and the obstacle (b): names and texts."""
    a, pose_a, b, pose_b, margin = pair
    nearest, hit = closest(a, b, pose_a, pose_b), collide(a, b, pose_a, pose_b)
    parts = nearest.feature_a[0], nearest.feature_b[0]
    steps = [deciding_step(a, b, pose_a, pose_b, parts, reach) for reach in (margin, 0.0)]
    (verdict, _, certain), _ = steps
    is_certain = nearest.lower_bound > certain
    name = "COLLISION" if hit else "FREE" if is_certain or verdict is Verdict.FREE else "MARGIN"
    by_distance = "decides FREE; no other step is needed"
    if not is_certain:
        by_distance = "does not decide FREE; the step above decides"
    which = "deepest" if nearest.distance < 0.0 else "closest"
    facts = [
        ("verdict on this pair", name),
        ("required margin", f"{_digits(margin)} m"),
        ("decided by", _steps(steps, name, margin)),
        ("in a query for the distance", f"the certified lower bound {by_distance}"),
        ("distance", f"{_digits(nearest.distance)} m"),
        ("certified lower bound", f"{_digits(nearest.lower_bound)} m"),
        ("direction from a to b", f"({_digits(*nearest.direction)})"),
        (f"{which} point of a", f"({_digits(*nearest.point_a)}) m"),
        (f"{which} point of b", f"({_digits(*nearest.point_b)}) m"),
    ]
    for letter, shape, pose in (("a", a, pose_a), ("b", b, pose_b)):
        text = f"({_digits(*pose)}) m, m, rad; radius {_digits(shape.radius)} m"
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


def _digits(*values: float) -> str:
    return ", ".join(f"{value + 0.0:.9g}" for value in values)  # never -0
