# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the iterations of GJK on one pair: all in one SVG, or a page to step through.

The left panel shows both shapes and the vertices of the simplex. The right panel shows the
Minkowski difference a - b, after Catto, Computing Distance (GDC 2010): the simplex, the search
direction for the next vertex, the vertex found, and the regions (barycodes, Zhang et al.), one of
which contains the origin.
"""

from collections.abc import Sequence
from html import escape
from math import hypot
from textwrap import wrap
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..formats.figures import place
from ..geometry import PoseLike, Shape
from ..tracing import Trace, TraceStep
from .decision import answer, decision, digits
from .panel import HEIGHT, WIDTH, Panel
from .templates import render

__all__ = ["trace_page", "trace_svg"]

Points = npt.NDArray[np.float64]

# Height of the text below two panels [pixel], height of a line, and characters of a line.
TEXT, LINE, LETTERS = 84.0, 18.0, 92


def trace_svg(
    trace: Trace,
    a: Shape,
    b: Shape,
    pose_a: PoseLike,
    pose_b: PoseLike,
    title: str = "a and b",
    margin: float = 0.0,
) -> str:
    """Return one SVG with the decision and a row of pictures for each iteration.

    Parameters
    ----------
    trace : Trace
        The trace of these shapes at these poses.
    a, b : Shape
        The pair.
    pose_a, pose_b : (x, y, yaw)
        Poses of the shapes [m, m, rad].
    title : str
        Name of the pair.
    margin : float
        Distance that the pair requires [m].
    """
    panels = _panels(trace, a, b, pose_a, pose_b)
    head, top = _head(title, decision(trace, a, b, pose_a, pose_b, margin))
    tall = HEIGHT + TEXT
    groups = [
        f'<g transform="translate(0 {top + i * tall:g})">{p}</g>' for i, p in enumerate(panels)
    ]
    return _svg(2 * WIDTH, top + tall * len(panels), [*head, *groups])


def trace_page(
    trace: Trace,
    a: Shape,
    b: Shape,
    pose_a: PoseLike,
    pose_b: PoseLike,
    title: str,
    margin: float = 0.0,
) -> str:
    """Return a page to step through the iterations. Parameters are as for `trace_svg`."""
    panels = _panels(trace, a, b, pose_a, pose_b)
    frames = [_svg(2 * WIDTH, HEIGHT + TEXT, [panel]) for panel in panels]
    steps = [
        {
            "lower": digits(step.lower_bound) if step.lower_bound > 0.0 else "none",
            "upper": digits(step.upper_bound),
        }
        for step in trace.steps
    ]
    facts = decision(trace, a, b, pose_a, pose_b, margin)
    return render(
        "trace.html", title=title, frames=frames, steps=steps, answer=answer(trace), facts=facts
    )


def _head(title: str, facts: Sequence[tuple[str, str]]) -> tuple[list[str], float]:
    """Return the text above the pictures, and its height."""
    lines = [("title", line) for line in wrap(title, LETTERS - 22)]
    for name, text in facts:
        lines += [("", line) for line in wrap(f"{name}: {text}", LETTERS, subsequent_indent="  ")]
    texts = [
        f'<text class="{kind}" x="{14 + 14 * line.startswith("  ")}" y="{22 + LINE * i:g}">'
        f"{escape(line.strip())}</text>"
        for i, (kind, line) in enumerate(lines)
    ]
    return texts, 22.0 + LINE * len(lines)


def _panels(trace: Trace, a: Shape, b: Shape, pose_a: PoseLike, pose_b: PoseLike) -> list[str]:
    """Return the picture of each step. If there was no step, return one with the answer."""
    part_a, part_b = trace.closest.feature_a[0], trace.closest.feature_b[0]
    ours = [place(part, pose_a) for part in a.parts]
    theirs = [place(part, pose_b) for part in b.parts]
    p, q = ours[part_a], theirs[part_b]
    difference = _hull((p[:, None, :] - q[None, :, :]).reshape(-1, 2))
    world = Panel([*ours, *theirs], 0.0, max(a.radius, b.radius))
    minkowski = Panel([difference, np.zeros((1, 2))], WIDTH)
    bodies = [
        *(_body(world, *each, "a") for each in zip(ours, a.radii, strict=True)),
        *(_body(world, *each, "b") for each in zip(theirs, b.radii, strict=True)),
    ]
    axes = [*world.axes("shapes"), *minkowski.axes("a - b")]
    panels = []
    for k, step in enumerate(trace.steps):
        left = [
            *bodies,
            *(_vertex(world, p[i], "a") for i in step.vertices_a),
            *(_vertex(world, q[j], "b") for j in step.vertices_b),
        ]
        if not _is_on_simplex(step):
            left += [_ring(world, p[step.support_a]), _ring(world, q[step.support_b])]
        if k + 1 == len(trace.steps):
            left += _closest_points(world, trace)
        is_sure = trace.is_settled or k + 1 < len(trace.steps)
        right = _difference(minkowski, difference, step, is_sure=is_sure)
        panels.append("".join([*left, *right, *axes, *_lines(k, step, trace)]))
    if not panels:
        panels.append(
            "".join(
                [
                    *bodies,
                    *_closest_points(world, trace),
                    *world.axes("shapes"),
                    *_text(["no iteration: " + answer(trace)]),
                ]
            )
        )
    return panels


def _difference(frame: Panel, difference: Points, step: TraceStep, *, is_sure: bool) -> list[str]:
    parts = [f'<polygon class="diff" points="{frame.path(difference)}"/>']
    if _has_regions(step):
        parts += _zones(frame, step, is_sure=is_sure)
    near = _nearest(step.points)
    parts.append(_line(frame, (0.0, 0.0), near, "reach"))
    if not _is_on_simplex(step):
        # A line through the vertex found, perpendicular to the search direction. No point of a - b
        # is beyond it.
        across = np.array([-step.direction[1], step.direction[0]]) * WIDTH / frame.scale
        inside = _clipped_line(frame, step.support - across, step.support + across)
        if inside is not None:
            parts.append(_line(frame, *inside, "wall"))
        tip = near + step.direction * 42.0 / frame.scale
        parts.append(_line(frame, near, tip, "next"))
        parts.append(_arrowhead(frame, near, tip))
    parts.append(f'<polyline class="simplex" points="{frame.path(step.points)}"/>')
    parts += [_dot(frame, point, "simplex", 3.5) for point in step.points]
    if not _is_on_simplex(step):
        parts.append(_dot(frame, step.support, "next", 4.5))
    u, v = frame.at((0.0, 0.0))
    parts.append(f'<path class="origin" d="M{u - 6:g} {v:g}h12M{u:g} {v - 6:g}v12"/>')
    parts.append(f'<text x="{u + 7:g}" y="{v - 7:g}">O</text>')
    return parts


def _zones(frame: Panel, step: TraceStep, *, is_sure: bool) -> list[str]:
    """Draw the four regions beside the edge BC. Fill the one with the origin if that is sure."""
    parts = []
    for code in (7, 6, 5, 4):
        region = _zone(frame.corners, step, code)
        if len(region) < 3:
            continue
        here = " here" if is_sure and code == step.barycode else ""
        parts.append(f'<polygon class="zone{here}" points="{frame.path(region)}"/>')
        x, y = region.T
        area = 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
        if area * frame.scale**2 > 1500.0:  # large enough for a digit
            u, v = frame.at(region.mean(axis=0))
            place = f'text-anchor="middle" x="{u:g}" y="{v:g}"'
            parts.append(f"<text {place}>{code}</text>")
    return parts


def _zone(within: Points, step: TraceStep, code: int) -> Points:
    """Return the region of a barycode, clipped by the convex polygon `within`."""
    a, (b, c) = step.support, step.points
    region = _half(within, b, c, a)
    region = _half(region, c, a, b, outside=not code & 2)
    return _half(region, a, b, c, outside=not code & 1)


def _is_on_simplex(step: TraceStep) -> bool:
    """Return whether the origin is on the simplex. GJK ends then, without a search direction."""
    return not np.any(step.direction)


def _has_regions(step: TraceStep) -> bool:
    return step.barycode is not None and not _is_flat(step) and not _is_on_simplex(step)


def _is_flat(step: TraceStep) -> bool:
    """Return whether the vertex found is in the simplex. GJK ends then, without a triangle."""
    return bool((step.points == step.support).all(axis=1).any())


def _half(
    polygon: Points, start: Points, end: Points, inner: Points, *, outside: bool = False
) -> Points:
    """Return the part of a convex polygon on the same side of a line as `inner`.

    If `outside` is true, return the part on the other side.
    """
    if len(polygon) == 0:
        return polygon
    normal = np.array([start[1] - end[1], end[0] - start[0]])
    sign = np.sign(normal @ (inner - start)) * (-1.0 if outside else 1.0)
    height = (polygon - start) @ normal * sign
    kept = []
    for i, (point, here) in enumerate(zip(polygon, height, strict=True)):
        before, there = polygon[i - 1], height[i - 1]
        if here * there < 0.0:
            kept.append(before + (point - before) * there / (there - here))
        if here >= 0.0:
            kept.append(point)
    return np.array(kept).reshape(-1, 2)


def _clipped_line(frame: Panel, start: Points, end: Points) -> tuple[Points, Points] | None:
    """Return the part of a segment inside the panel; None: it is outside."""
    low, high = frame.corners[0], frame.corners[2]
    along = end - start
    first, last = 0.0, 1.0
    for k in (0, 1):
        if along[k] == 0.0:
            if not low[k] <= start[k] <= high[k]:
                return None
            continue
        one, two = sorted(((low[k] - start[k]) / along[k], (high[k] - start[k]) / along[k]))
        first, last = max(first, one), min(last, two)
    return (start + first * along, start + last * along) if first < last else None


def _nearest(simplex: Points) -> Points:
    """Return the point of a simplex that is nearest to the origin, rounded, for drawing."""
    if len(simplex) == 1:
        vertex: Points = simplex[0]
        return vertex
    a, b = simplex
    ab = b - a
    share = float(np.clip(-(a @ ab) / (ab @ ab), 0.0, 1.0)) if np.any(ab) else 0.0
    nearest: Points = a + share * ab
    return nearest


def _lines(k: int, step: TraceStep, trace: Trace) -> list[str]:
    """Return the text below a step."""
    edge = "beyond an edge at the new vertex"
    regions = {4: "beyond the new vertex", 5: edge, 6: edge, 7: "inside the triangle"}
    is_last = k + 1 == len(trace.steps)
    found = f"found: vertex {step.support_a} of a, vertex {step.support_b} of b; "
    bounds = f"{digits(step.lower_bound)} m <= distance <= {digits(step.upper_bound)} m"
    if step.lower_bound <= 0.0:
        bounds = f"distance <= {digits(step.upper_bound)} m; no lower bound"
    where = ""
    if _is_on_simplex(step):
        where, found = "; the origin is on it, up to rounding errors", ""
    elif _is_flat(step):
        where = "; the vertex found is already in it, so no point is nearer"
    elif step.barycode is not None and is_last and not trace.is_settled:
        where = "; rounding errors hide the region of the origin"
    elif step.barycode is not None:
        where = f"; the origin is in region {step.barycode}, {regions[step.barycode]}"
    kind = "a vertex" if len(step.points) == 1 else "an edge"
    first = f"step {k + 1} of {len(trace.steps)}: the simplex is {kind}{where}"
    lines = [first, f"{found}{bounds} (without radii)"]
    if is_last:
        lines.append(answer(trace))
    return _text(lines)


def _text(lines: Sequence[str]) -> list[str]:
    return [
        f'<text x="14" y="{HEIGHT + 18 + 20 * i:g}">{escape(line)}</text>'
        for i, line in enumerate(lines)
    ]


# ---- shapes


def _hull(points: Points) -> Points:
    """Return the convex hull for drawing, or the points if they have no area."""
    try:
        return np.asarray(Shape.hull(points).parts[0])
    except InputError:
        return points


def _body(frame: Panel, points: Points, radius: float, name: str) -> str:
    path = frame.path(points)
    wide = ""
    if radius > 0.0:
        width = round(2.0 * radius * frame.scale, 2)
        closed = path if len(points) > 1 else f"{path} {path}"
        wide = f'<polygon class="{name} wide" style="stroke-width:{width:g}" points="{closed}"/>'
    return f'{wide}<polygon class="{name} body" points="{path}"/>'


def _closest_points(frame: Panel, trace: Trace) -> list[str]:
    """Draw the closest points of the shapes, or the deepest ones if they overlap."""
    closest = trace.closest
    points = closest.point_a, closest.point_b
    dots = [_dot(frame, point, "witness", 3.0) for point in points]
    return [_line(frame, *points, "witness"), *dots]


def _vertex(frame: Panel, point: Points, name: str) -> str:
    return _dot(frame, point, name, 4.5)


def _dot(frame: Panel, point: Points, name: str, size: float) -> str:
    u, v = frame.at(point)
    return f'<circle class="{name}" cx="{u:g}" cy="{v:g}" r="{size:g}"/>'


def _ring(frame: Panel, point: Points) -> str:
    u, v = frame.at(point)
    return f'<circle class="next" style="fill:none" cx="{u:g}" cy="{v:g}" r="7"/>'


def _line(frame: Panel, start: Any, end: Any, name: str) -> str:
    (x1, y1), (x2, y2) = frame.at(start), frame.at(end)
    return f'<line class="{name}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def _arrowhead(frame: Panel, start: Points, tip: Points) -> str:
    (x1, y1), (x2, y2) = frame.at(start), frame.at(tip)
    long = hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = (x2 - x1) / long * 8.0, (y2 - y1) / long * 8.0
    points = [(x2, y2), (x2 - dx - dy / 2, y2 - dy + dx / 2), (x2 - dx + dy / 2, y2 - dy - dx / 2)]
    return (
        '<polygon class="next" points="' + " ".join(f"{u:.2f},{v:.2f}" for u, v in points) + '"/>'
    )


def _svg(width: float, height: float, content: Sequence[str]) -> str:
    return render("trace.svg", width=f"{width:g}", height=f"{height:g}", content=content)
