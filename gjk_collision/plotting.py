# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Draw shapes, scenes, paths, regions and results on matplotlib axes.

Only this module imports matplotlib (``pip install matplotlib``). Lengths are in metres. Set the
aspect of the axes to equal; otherwise circles look like ellipses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

try:
    from matplotlib.animation import FuncAnimation
    from matplotlib.collections import LineCollection
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
except ImportError as error:
    raise ImportError("gjk_collision.plotting needs matplotlib: pip install matplotlib") from error

from .errors import refuse
from .formats.figures import (
    OBSTACLE,
    OBSTACLE_AREA,
    SEEN,
    SEEN_AREA,
    VEHICLE,
    VEHICLE_AREA,
    VERDICT_COLOURS,
    outline,
    place,
    rings,
)
from .path import Path as GivenPath
from .results import free_length
from .verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from .geometry import Shape
    from .results import CheckResult, PathResult, PathsResult
    from .scene import Scene

    class Region(Protocol):
        """A region: its boundary is segments (n, 4) [m], with the inside on the left."""

        @property
        def boundary(self) -> NDArray[np.float64]: ...


__all__ = [
    "VERDICT_COLOURS",
    "draw_motion",
    "draw_outline",
    "draw_pair",
    "draw_path",
    "draw_region",
    "draw_result",
    "draw_scene",
    "draw_shape",
    "draw_trajectories",
    "outline",
    "place",
]

PATH_POINTS = 400  # on a line along a path


def draw_outline(
    axes: Axes,
    points: ArrayLike,
    radius: float = 0.0,
    pose: ArrayLike = (0.0, 0.0, 0.0),
    **style: Any,
) -> PathPatch:
    """Draw one convex polygon with a radius [m] at a pose; `style` is passed to the patch."""
    vertices = place(outline(points, radius), pose)
    closed = np.concatenate([vertices, vertices[:1]])  # matplotlib ignores the last point
    patch = PathPatch(Path(closed, closed=True), **style)
    axes.add_patch(patch)
    return patch


def draw_shape(
    axes: Axes, shape: Shape, pose: ArrayLike = (0.0, 0.0, 0.0), **style: Any
) -> list[PathPatch]:
    """Draw a shape at a pose as one area, without lines between its parts.

    `style` is passed to the patches. Returns the patch of the area, if there is one, and that of
    its boundary. A point without a radius is drawn as a dot.
    """
    return _draw(axes, [_Outlines(shape)], [pose], style)


def draw_scene(
    axes: Axes, scene: Scene, time: float | None = None, *, ids: bool = False, **style: Any
) -> None:
    """Draw the obstacles of a scene at a time [s]; without `time`, at their poses.

    If the pose of an obstacle is not known at this time, the obstacle is drawn at its pose in the
    scene, dashed and not filled. An obstacle that does not exist then is not drawn. `style` is
    passed to the patches of the others. Its region, and what was seen, are drawn too, if given.
    With `ids`, the id of each obstacle is written beside its pose. All have labels for
    ``axes.legend()``.
    """
    if scene.inside is not None:
        draw_region(axes, scene.inside, label="region")
    for k, region in enumerate(scene.seen or ()):
        look = {"facecolor": SEEN_AREA, "edgecolor": SEEN, "zorder": 0.4, "linewidth": 0.6}
        draw_region(axes, region, label="" if k else "seen", **look)
    known = {"facecolor": OBSTACLE_AREA, "edgecolor": OBSTACLE, "label": "obstacle", **style}
    grey = VERDICT_COLOURS[Verdict.UNKNOWN]
    unknown = {"fill": False, "edgecolor": grey, "linestyle": "--", "label": "pose not known"}
    poses, exist = scene.poses, np.full(len(scene), True)
    if time is not None:
        poses, exist = scene.poses_at(time), scene.exist_at(time)
    is_known = ~np.isnan(poses[:, 0])
    poses[~is_known] = scene.poses[~is_known]
    outlined = [_Outlines(shape) for shape in scene.shapes]
    for some, look in ((is_known, known), (exist & ~is_known, unknown)):
        if some.any():
            _draw(axes, [outlined[i] for i in np.flatnonzero(some)], poses[some], look)
    for i in np.flatnonzero(exist) if ids else ():
        # Beside the pose, so that the text does not hide a small obstacle.
        at: Any = {"xytext": (4.0, 4.0), "textcoords": "offset points", "zorder": 6}
        axes.annotate(str(scene.ids[i]), poses[i, :2].tolist(), fontsize="small", **at)


def draw_result(
    axes: Axes, shape: Shape, poses: ArrayLike, result: CheckResult, **style: Any
) -> None:
    """Draw a shape at the poses of `Scene.check`, in the colours and line styles of the verdicts.

    Each verdict has a label for ``axes.legend()``. If the result has witnesses, the closest points
    are joined by lines.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    shape : Shape
        The shape that was checked.
    poses : array_like, shape (..., 3)
        The poses that were checked [m, m, rad].
    result : CheckResult
        The result of the check.
    **style
        Passed to the patches.

    Raises
    ------
    InputError
        ARRAY_MISMATCH: the number of poses is not that of the result.
    """
    placed = np.asarray(poses, np.float64).reshape(-1, 3)
    verdicts = np.ravel(result.verdicts)
    if len(verdicts) != len(placed):
        rule = f"must be those of the result, {len(verdicts)}"
        refuse("poses", rule, len(placed), status=Status.ARRAY_MISMATCH)
    drawing = _Outlines(shape)
    for verdict in (Verdict.FREE, Verdict.MARGIN, Verdict.UNKNOWN, Verdict.COLLISION):
        some = placed[verdicts == verdict]
        if len(some):
            look = {"label": verdict.name, **_look(verdict), **style}
            _draw(axes, [drawing] * len(some), some, look)
    if result.witnesses is not None:
        pairs = np.reshape(result.witnesses, (-1, 2, 2))
        pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))]
        _draw_lines(axes, list(pairs), color="black", linewidth=0.8, zorder=4)


def draw_trajectories(
    axes: Axes,
    poses: ArrayLike,
    result: CheckResult,
    times: ArrayLike | None = None,
    *,
    colour: Literal["verdict", "distance", "time"] = "verdict",
    **style: Any,
) -> LineCollection:
    """Draw the ways of the origin of the vehicle along K trajectories of T poses.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    poses : array_like, shape (K, T, 3)
        The poses that were checked [m, m, rad].
    result : CheckResult
        The result of `Scene.check`.
    times : array_like, shape (K, T) or (T,), optional
        Time of each pose [s].
    colour : {'verdict', 'distance', 'time'}
        What the colour of each segment shows: the verdict of the pose at its end, the distance
        there (mode="distance"), or the time. For a colour bar: ``figure.colorbar(lines)``.
    **style
        Passed to the lines.

    Raises
    ------
    InputError
        ARRAY_MISMATCH: shapes do not fit. INVALID_INPUT: the result has no distances, or no times
        are given.
    """
    placed = np.asarray(poses, np.float64)
    if placed.ndim != 3 or placed.shape[2] != 3 or np.shape(result.verdicts) != placed.shape[:2]:
        rule = f"must have shape (K, T, 3), as those of the result, {np.shape(result.verdicts)}"
        refuse("poses", rule, placed.shape, status=Status.ARRAY_MISMATCH)
    segments = np.stack([placed[:, :-1, :2], placed[:, 1:, :2]], axis=2).reshape(-1, 2, 2)
    lines = LineCollection(list(segments), **{"linewidth": 1.0, "zorder": 2.5, **style})
    if colour == "verdict":
        found = np.asarray(result.verdicts)[:, 1:].ravel()
        lines.set_color([VERDICT_COLOURS[Verdict(each)] for each in found.tolist()])
        for each in map(Verdict, sorted({*found.tolist()})):
            axes.plot([], [], color=VERDICT_COLOURS[each], **_named(axes, each.name))
    else:
        if colour == "distance" and result.distances is None:
            refuse("result", "must be of mode='distance'")
        if colour == "time" and times is None:
            refuse("times", "must be given for colour='time'")
        values: Any = result.distances if colour == "distance" else times
        lines.set_array(np.broadcast_to(values, placed.shape[:2])[:, 1:].ravel())
    axes.add_collection(lines)
    axes.autoscale_view()
    return lines


def draw_motion(
    axes: Axes,
    scene: Scene,
    shape: Shape,
    poses: ArrayLike,
    times: ArrayLike,
    margin: float = 0.0,
    **options: Any,
) -> FuncAnimation:
    """Animate a vehicle among the obstacles: one picture per pose, in the colour of its verdict.

    Save it with ``animation.save("motion.gif", writer="pillow")``, or show it.

    Parameters
    ----------
    axes : Axes
        Where to draw. Everything on it is replaced.
    scene : Scene
        The obstacles, each at its pose at the time of the picture.
    shape : Shape
        The vehicle.
    poses : array_like, shape (T, 3)
        The poses of the vehicle [m, m, rad].
    times : array_like, shape (T,)
        Time of each pose [s], on the clock of the stamps of the obstacles.
    margin : float
        Distance to keep [m], as for `Scene.check`.
    **options
        Passed to `FuncAnimation`, such as ``interval=50`` [ms].

    Raises
    ------
    InputError
        As `Scene.check`.
    """
    placed, result = np.asarray(poses, np.float64), scene.check(shape, poses, times, margin=margin)
    at = np.ravel(times).tolist()
    drawn, end = _Outlines(shape), placed[:, :2]
    limits = [(low - 10.0, high + 10.0) for low, high in zip(end.min(0), end.max(0), strict=True)]

    def picture(k: int) -> list[Artist]:
        axes.clear()
        draw_scene(axes, scene, at[k])
        axes.plot(end[:, 0], end[:, 1], color=VEHICLE, linewidth=0.8, zorder=1.5)
        verdict = Verdict(result.verdicts[k])
        _draw(axes, [drawn], [placed[k]], _look(verdict))
        title = f"{at[k]:.2f} s: {verdict.name}"
        axes.set(xlim=limits[0], ylim=limits[1], title=title, aspect="equal")
        return list(axes.get_children())

    figure: Any = axes.get_figure(root=True)
    return FuncAnimation(figure, picture, frames=len(at), **options)


def draw_path(
    axes: Axes,
    path: GivenPath | ArrayLike,
    shape: Shape | None = None,
    result: PathResult | PathsResult | None = None,
    footprints: int = 9,
    *,
    ends: bool = False,
    **style: Any,
) -> None:
    """Draw the line of the base frame along a path, and the shape at equal distances on it.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    path : Path, or array_like of shape (n, 3)
        The path, or several, as a `Path`; or poses [m, m, rad], as for `Scene.check_path`.
    shape : Shape, optional
        The shape to draw on the path.
    result : PathResult or PathsResult, optional
        Result of `Scene.check_path` for this path, or for these. The part that is certainly free
        is drawn as FREE, and the rest as UNKNOWN, dotted. At the end of the free part, the shape
        and a cross have the colour of the verdict. All have labels for ``axes.legend()``.
    footprints : int
        Number of poses at which the shape is drawn, >= 1.
    ends : bool
        Whether to mark the start by a circle and the goal by a square, with labels.
    **style
        Passed to the lines.

    Raises
    ------
    InputError
        ARRAY_MISMATCH: the number of paths is not that of the result. The errors of
        `Path.straight`.
    """
    given = path if isinstance(path, GivenPath) else GivenPath.straight(path)
    outlined = None if shape is None else _Outlines(shape)
    found: Any = getattr(result, "verdicts", getattr(result, "verdict", None))
    if result is not None and np.shape(found) != given.shape:
        rule = f"must be the result of check_path for these paths, of shape {given.shape}"
        refuse("result", rule, status=Status.ARRAY_MISMATCH)
    steps = None if given is path else np.hypot(*np.diff(given.poses[:, :2], axis=0).T)
    free = None if result is None else np.ravel(free_length(result, given.length, steps))
    for k in range(np.size(given.length)):
        to, said = (None, None) if free is None else (free[k], Verdict(np.ravel(found)[k]))
        _draw_path(axes, given.ravel()[k], outlined, to, said, footprints, style)
    if ends:
        for poses, name, marker in ((given.starts, "start", "o"), (given.ends, "goal", "s")):
            x, y, _ = poses.reshape(-1, 3).T
            axes.plot(x, y, marker, label=name, color=VEHICLE, zorder=5)


def _draw_path(
    axes: Axes,
    path: GivenPath,
    outlined: _Outlines | None,
    free: float | None,
    verdict: Verdict | None,
    footprints: int,
    style: dict[str, Any],
) -> None:
    """Draw one path, which is certainly free up to a distance [m]."""
    length = float(path.length)
    drawn = {"color": VEHICLE} if free is None else {"color": VERDICT_COLOURS[Verdict.FREE]}
    end = length if free is None else min(free, length)
    rest = {"color": VERDICT_COLOURS[Verdict.UNKNOWN], "linestyle": ":"}
    name = "path" if free is None else Verdict.FREE.name
    for begin, stop, look, what in ((0.0, end, drawn, name), (end, length, rest, "not certified")):
        if stop > begin:
            line = path.at(np.linspace(begin, stop, PATH_POINTS))
            drawn_so = {"linewidth": 1.6, "zorder": 3, **_named(axes, what), **look, **style}
            axes.plot(line[:, 0], line[:, 1], **drawn_so)
    distances = np.linspace(0.0, length, max(footprints, 1))
    for some, look in ((distances <= end, drawn), (distances > end, rest)):
        if outlined is not None and some.any():
            poses = path.at(distances[some])
            _draw(axes, [outlined] * len(poses), poses, {"fill": False, **look})
    if verdict is not None and verdict != Verdict.FREE:
        pose = path.at(end)
        if outlined is not None:
            _draw(axes, [outlined], [pose], _look(verdict))
        cross = {"color": VERDICT_COLOURS[verdict], **_named(axes, verdict.name)}
        axes.plot(*pose[:2], marker="X", markersize=9.0, linestyle="", zorder=5, **cross)


def _named(axes: Axes, name: str) -> dict[str, Any]:
    """Return a label for the legend; one that is hidden if the name is there."""
    return {"label": "_" * (name in axes.get_legend_handles_labels()[1]) + name}


def draw_region(axes: Axes, region: Region, **style: Any) -> PathPatch:
    """Draw a region with its boundary. `style` is passed to the patch."""
    style = {"facecolor": VEHICLE_AREA, "edgecolor": VEHICLE, "zorder": 0.5, **style}
    closed = [Path(ring, closed=True) for ring in rings(region.boundary)]
    patch = PathPatch(Path.make_compound_path(*closed), **style)
    axes.add_patch(patch)
    axes.autoscale_view()
    return patch


def draw_pair(
    axes: Axes, point_a: ArrayLike, point_b: ArrayLike, distance: float, **style: Any
) -> None:
    """Draw a closest pair of points and the distance [m] between them.

    `style` is passed to the line.
    """
    pair = np.array([point_a, point_b], np.float64)
    style = {"color": "black", "linewidth": 1.2, "marker": "o", "markersize": 3.0, **style}
    axes.plot(pair[:, 0], pair[:, 1], **style)
    look = {"xytext": (6.0, 6.0), "textcoords": "offset points", "color": style["color"]}
    axes.annotate(f"{distance:.2f} m", pair.mean(axis=0), **look)


class _Outlines:
    """The areas and the boundary lines of a shape in its own frame."""

    def __init__(self, shape: Shape) -> None:
        parts = zip(shape.parts, shape.radii, strict=True)
        polygons = [outline(part, radius) for part, radius in parts]
        self.areas = [polygon for polygon in polygons if len(polygon) > 2]
        self.dots = [polygon for polygon in polygons if len(polygon) == 1]
        self.lines = _boundary([polygon for polygon in polygons if len(polygon) > 1])


def _draw(
    axes: Axes, outlined: Sequence[_Outlines], poses: Iterable[ArrayLike], style: dict[str, Any]
) -> list[PathPatch]:
    """Draw shapes at poses: one patch for all areas, and one for all boundaries."""
    pairs = list(zip(outlined, poses, strict=True))
    areas = [place(area, pose) for drawing, pose in pairs for area in drawing.areas]
    lines = [place(line, pose) for drawing, pose in pairs for line in drawing.lines]
    dots = [place(dot, pose) for drawing, pose in pairs for dot in drawing.dots]
    if "label" in style:  # an entry of the legend shows area and boundary
        axes.add_patch(PathPatch(Path(np.empty((0, 2))), **style))
        style = {key: value for key, value in style.items() if key != "label"}
    patches = []
    if areas and style.get("fill", True):
        rings = [Path(np.concatenate([area, area[:1]]), closed=True) for area in areas]
        body = PathPatch(Path.make_compound_path(*rings), **style)
        body.set_linestyle("solid")  # dashes of width 0 raise an error when the figure is saved
        body.set_linewidth(0.0)
        patches.append(body)
    if lines:
        look = {"capstyle": "round", "joinstyle": "round", **style, "fill": False, "hatch": None}
        patches.append(PathPatch(Path.make_compound_path(*map(Path, lines)), **look))
    for patch in patches:
        axes.add_patch(patch)
    if dots:
        colour = style.get("color", style.get("edgecolor", style.get("facecolor", "black")))
        xy = np.concatenate(dots)
        own = {key: style[key] for key in ("zorder", "alpha") if key in style}
        axes.plot(xy[:, 0], xy[:, 1], linestyle="none", marker=".", color=colour, **own)
    axes.autoscale_view()
    return patches


def _draw_lines(axes: Axes, lines: list[NDArray[np.float64]], **style: Any) -> None:
    if lines:
        axes.add_patch(PathPatch(Path.make_compound_path(*map(Path, lines)), fill=False, **style))


def _look(verdict: Verdict) -> dict[str, Any]:
    """Return the style of a shape with this verdict. The line style helps if colours do not."""
    lines = {Verdict.COLLISION: "-", Verdict.UNKNOWN: "--", Verdict.MARGIN: "-."}
    colour = VERDICT_COLOURS[verdict]
    return {
        "facecolor": (colour, 0.25),
        "edgecolor": colour,
        "linestyle": lines.get(verdict, "-"),
        "linewidth": 2.0 if verdict == Verdict.COLLISION else 1.0,
        "zorder": 2.0 + 0.1 * (verdict == Verdict.COLLISION),
    }


def _boundary(polygons: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Return lines along the boundary of the union of convex polygons, accurate for drawing."""
    if len(polygons) < 2:
        return [np.concatenate([each, each[:1]]) for each in polygons]
    boxes = np.array([[each.min(axis=0), each.max(axis=0)] for each in polygons])
    middle = boxes[:, 0].min(axis=0)
    slack = 1e-9 * float(np.max(boxes[:, 1].max(axis=0) - middle))
    lines: list[NDArray[np.float64]] = []
    for i, polygon in enumerate(polygons):
        near = (boxes[:, 0] <= boxes[i, 1] + slack) & (boxes[:, 1] >= boxes[i, 0] - slack)
        others = [j for j in np.flatnonzero(near.all(axis=1)) if j != i and len(polygons[j]) > 2]
        start = polygon - middle
        end = np.roll(start, -1, axis=0)
        if len(polygon) == 2:
            start, end = start[:1], end[:1]
        hidden = [_inside(start, end, polygons[j] - middle, bool(j > i), slack) for j in others]
        length = np.hypot(*(end - start).T)
        for k in range(len(start)):
            covered = sorted((lo[k], hi[k]) for lo, hi in hidden if lo[k] < hi[k])
            reached = 0.0
            for lo, hi in [*covered, (1.0, 1.0)]:
                if (lo - reached) * length[k] > 10.0 * slack or (
                    lo > reached and length[k] == 0.0
                ):
                    ends = start[k] + np.array([[reached], [lo]]) * (end[k] - start[k]) + middle
                    if lines and np.array_equal(lines[-1][-1], ends[0]):
                        lines[-1] = np.concatenate([lines[-1], ends[1:]])
                    else:
                        lines.append(ends)
                reached = max(reached, hi)
    return lines


def _inside(
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    polygon: NDArray[np.float64],
    is_later: bool,
    slack: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return from which to which fraction each segment is in a convex polygon (Cyrus and Beck).

    Sides count as inside, up to `slack` [m]. If the polygon is the later of two, its sides that
    run along a segment in the same direction do not, so that one of both is drawn.
    """
    along = np.roll(polygon, -1, axis=0) - polygon
    size = np.hypot(along[:, 0], along[:, 1])
    corner, along = polygon[size > 0.0], along[size > 0.0] / size[size > 0.0, None]
    inward = np.column_stack([-along[:, 1], along[:, 0]])
    first = start @ inward.T - (corner * inward).sum(axis=1)
    last = end @ inward.T - (corner * inward).sum(axis=1)
    slope = last - first
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = (-slack - first) / slope
    lo = np.where(slope > 0.0, crossing, 0.0).max(axis=1, initial=0.0)
    hi = np.where(slope < 0.0, crossing, 1.0).min(axis=1, initial=1.0)
    is_out = ((slope == 0.0) & (first < -slack)).any(axis=1)
    if is_later:
        on_side = (abs(first) <= slack) & (abs(last) <= slack) & ((end - start) @ along.T > 0.0)
        is_out |= on_side.any(axis=1)
    is_out |= (hi - lo) * np.hypot(*(end - start).T) <= 10.0 * slack
    return np.where(is_out, 1.0, lo), np.where(is_out, 0.0, hi)
