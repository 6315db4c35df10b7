# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of docs/concepts/ into docs/images/: python docs/pictures/concepts.py.

Shapes, distances, closest points and verdicts are results of the library.
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gjk_collision import (
    Scene,
    Shape,
    Verdict,
    closest,
    obstacles_from_scan,
    plotting,
    seen_by_scan,
)
from gjk_collision.formats.figures import (
    OBSTACLE,
    OBSTACLE_AREA,
    ORANGE,
    VEHICLE,
    VEHICLE_AREA,
)

IMAGES = Path(__file__).resolve().parents[1] / "images"
GREY, BLUE, PALE = OBSTACLE, VEHICLE, VEHICLE_AREA
# The ids of a file must not change from run to run; text stays text, in the reader's font.
mpl.rcParams.update({"svg.hashsalt": "gjk_collision", "svg.fonttype": "none", "font.size": 9})


def save(figure: Figure, name: str) -> None:
    """Write a picture without the date, so that equal pictures are equal files."""
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def plain(axes: Axes, title: str) -> None:
    """Show a plane without axes."""
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title, fontsize=9.5)


def arrow(axes: Axes, start: tuple, end: tuple, text: str, at: tuple, both: bool = False) -> None:
    """Draw an arrow, with a text at a place."""
    style = {"arrowstyle": "<->" if both else "->", "color": GREY, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style, zorder=6)
    axes.text(*at, text, color=GREY, ha="center", va="center", zorder=6)


def verdicts() -> None:
    """Draw the four verdicts, and the certificate of FREE."""
    car = Shape.polygon([[2.6, 0.9], [-1.8, 0.9], [-1.8, -0.9], [2.6, -0.9]])
    tree = Shape.hull([[0.0, -0.9], [1.2, -0.6], [1.6, 0.4], [0.7, 1.0], [-0.3, 0.3]])
    margin = 0.6
    figure, panels = plt.subplots(2, 2, figsize=(6.6, 4.4))
    cases = [
        ("FREE:\ndistance > margin", (5.0, 0.6, 0.0)),
        ("MARGIN:\n0 < distance ≤ margin", (3.3, 0.6, 0.0)),
        ("COLLISION:\ncontact or overlap", (2.4, 0.7, 0.0)),
        ("UNKNOWN:\nthe data is missing", None),
    ]
    for axes, (title, place) in zip(panels.flat, cases, strict=True):
        plain(axes, title)
        axes.set_xlim(-2.7, 7.0)
        axes.set_ylim(-2.0, 2.4)
        if place is None:
            plotting.draw_shape(axes, car, fill=False, edgecolor=GREY, linestyle="--")
            axes.text(5.0, 0.2, "?", fontsize=26, color=GREY, ha="center", va="center")
            continue
        scene = Scene([tree], [place])
        checked = scene.check(car, [(0.0, 0.0, 0.0)], margin=margin, mode="witness")
        plotting.draw_scene(axes, scene)
        plotting.draw_result(axes, car, [(0.0, 0.0, 0.0)], checked)
        ring = plotting.outline(car.parts[0], margin)
        axes.plot(*np.vstack([ring, ring[:1]]).T, color=GREY, linewidth=0.7, linestyle=":")
        if checked.is_free:
            found = closest(car, tree, pose_b=place)
            across = np.array([-found.direction[1], found.direction[0]])
            for point in (found.point_a, found.point_b):
                ends = np.array([point - 1.7 * across, point + 1.2 * across])
                axes.plot(*ends.T, color=BLUE, linewidth=0.9, linestyle="--")
            axes.text(3.6, -1.75, "gap ≥ lower_bound", color=BLUE, ha="center")
    save(figure, "concept_verdicts")


def frames() -> None:
    """Draw the frames of a request, and the times of the data."""
    figure, (plane, line) = plt.subplots(
        1, 2, figsize=(10.0, 3.3), gridspec_kw={"width_ratios": [1.0, 1.35]}
    )
    plain(plane, "frames")
    car = Shape.box(4.0, 1.8, center=(1.2, 0.0))
    laser = (2.9, 0.0, 0.0)
    plotting.draw_shape(plane, car, (4.0, 1.6, 0.45), facecolor=PALE, edgecolor=BLUE)
    x, y, yaw = (4.0, 1.6, 0.45)
    sensor = (x + laser[0] * np.cos(yaw), y + laser[0] * np.sin(yaw), yaw)
    plotting.draw_shape(
        plane, Shape.circle(0.45), (9.4, 5.2, 0.0), facecolor=OBSTACLE_AREA, edgecolor=GREY
    )
    for (x, y, yaw), name, below in (
        ((-3.2, -1.2, 0.15), "map", True),
        ((0.0, 0.0, 0.0), "odom\n(check_frame)", True),
        ((4.0, 1.6, 0.45), "base_link", True),
        (sensor, "laser", True),
    ):
        for turn, colour in ((0.0, ORANGE), (np.pi / 2, BLUE)):
            end = (x + 1.3 * np.cos(yaw + turn), y + 1.3 * np.sin(yaw + turn))
            plane.annotate(
                "", end, (x, y), arrowprops={"arrowstyle": "->", "color": colour}, zorder=6
            )
        plane.text(x + 0.2, y - 0.2 - 0.3 * below, name, va="top", zorder=7)
    plane.text(9.4, 5.8, "obstacle", ha="center", va="bottom", color=GREY)
    plane.set_xlim(-4.5, 12.5)
    plane.set_ylim(-3.0, 6.6)

    line.set_title("times", fontsize=9.5)
    line.set_xlim(-1.0, 3.5)
    line.set_ylim(-1.75, 1.7)
    line.set_axis_off()
    line.annotate("", (3.45, 0.0), (-0.95, 0.0), arrowprops={"arrowstyle": "->", "color": GREY})
    line.text(3.45, -0.2, "time", ha="right", va="top", color=GREY)
    for x, text in (
        (-0.7, "stamp of\ndata"),
        (0.0, "snapshot"),
        (1.0, "times[0]\n= 1 s"),
        (2.0, "times[1]\n= 2 s"),
    ):
        line.plot([x, x], [-0.08, 0.08], color=GREY)
        line.text(x, 0.16, text, ha="center", va="bottom")
    arrow(line, (-0.7, -0.35), (0.0, -0.35), "age", (-0.35, -0.52), both=True)
    arrow(line, (-0.7, -0.85), (0.3, -0.85), "timeout", (-0.2, -1.02), both=True)
    arrow(line, (-0.7, -1.35), (2.65, -1.35), "prediction_horizon", (1.0, -1.52), both=True)
    line.axvspan(2.65, 3.4, ymin=0.1, ymax=0.62, color="#eeeeee", zorder=0)
    line.text(3.02, -0.75, "UNKNOWN", ha="center", color=GREY)
    save(figure, "concept_frames")


def margins() -> None:
    """Draw what each margin adds to which outline."""
    figure, axes = plt.subplots(figsize=(8.4, 3.7))
    plain(axes, "")
    car = np.array([[2.6, 0.9], [-1.8, 0.9], [-1.8, -0.9], [2.6, -0.9]])
    front, left, safety, inflation, own = 0.7, 0.25, 0.45, 0.3, 0.5
    grown = np.array(
        [[2.6 + front, 0.9 + left], [-1.8, 0.9 + left], [-1.8, -0.9], [2.6 + front, -0.9]]
    )
    rock = np.array([[6.4, -0.5], [7.5, -0.2], [7.1, 0.7], [6.2, 0.4]])
    for outline, radius, look in (
        (grown, safety, {"color": GREY, "linestyle": ":"}),
        (rock, inflation + own, {"color": GREY, "linestyle": ":"}),
        (rock, inflation, {"color": ORANGE, "linestyle": "--"}),
    ):
        ring = plotting.outline(outline, radius)
        axes.plot(*np.vstack([ring, ring[:1]]).T, linewidth=1.1, **look)
    plotting.draw_shape(axes, Shape.hull(grown), facecolor=PALE, edgecolor=BLUE)
    plotting.draw_shape(axes, Shape.hull(car), facecolor="#9ecae9", edgecolor=BLUE)
    plotting.draw_shape(axes, Shape.hull(rock), facecolor=OBSTACLE_AREA, edgecolor=GREY)
    found = closest(Shape.hull(grown), Shape.hull(rock, radius=inflation))
    axes.plot(*np.array([found.point_a, found.point_b]).T, color="black", marker="o", markersize=3)
    axes.text(4.42, 0.1, f"distance\n{found.distance:.2f} m", ha="center", va="center")
    axes.text(0.4, 0.0, "footprint", ha="center", va="center")
    axes.text(2.95, 0.1, "margin_front", ha="center", va="center", fontsize=8, rotation=90)
    axes.text(0.4, 1.03, "margin_left", ha="center", va="center", fontsize=8)
    axes.text(0.4, -1.7, "safety_margin + margin of the request", ha="center", color=GREY)
    axes.text(6.85, 0.05, "obstacle", ha="center", va="center")
    axes.text(8.3, 0.9, "inflation", color=ORANGE, va="center")
    axes.text(8.3, 1.25, "margins of the obstacle", color=GREY, va="center")
    for start, end in (((8.25, 0.9), (7.38, 0.79)), ((8.25, 1.25), (7.33, 1.46))):
        axes.plot(*np.array([start, end]).T, color=GREY, linewidth=0.6)
    axes.set_xlim(-2.6, 10.6)
    axes.set_ylim(-2.0, 2.0)
    save(figure, "concept_margins")


def difference(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the vertices of the Minkowski difference of two convex polygons."""
    return Shape.hull((p[:, None] - q[None]).reshape(-1, 2)).parts[0]


def closed(points: np.ndarray) -> np.ndarray:
    """Return x and y of a closed outline."""
    return np.vstack([points, points[:1]]).T


def cascade() -> None:
    """Draw four pairs of shapes, each decided by another step, and their difference W."""
    p = circle(7, 1.0)
    q = circle(6, 0.8)
    figure, rows = plt.subplots(2, 4, figsize=(10.0, 5.0))
    places = [(3.0, 0.7), (0.7, 0.5), (1.45, 1.15), (1.9, 1.2)]
    titles = [
        "1 boxes are apart:\nFREE",
        "2 O is in the quadrilateral\nof W's extremes: COLLISION",
        "3 an edge separates:\nFREE",
        "4 the nearest feature:\ndistance",
    ]
    for k, (place, title) in enumerate(zip(places, titles, strict=True)):
        moved = q + place
        upper, lower = rows[:, k]
        plain(upper, title)
        plain(lower, "")
        for outline, look in ((p, ("#9ecae9", BLUE)), (moved, (OBSTACLE_AREA, GREY))):
            upper.fill(*closed(outline), facecolor=look[0], edgecolor=look[1])
        w = difference(p, moved)
        lower.fill(*closed(w), facecolor="#f0f0f0", edgecolor=GREY)
        lower.plot(0.0, 0.0, "+", color=ORANGE, markersize=11, markeredgewidth=2)
        lower.text(0.12, 0.12, "O", color=ORANGE)
        lower.text(*w.mean(axis=0), "W = P − Q", ha="center", va="center", color=GREY)
        found = closest(Shape.hull(p), Shape.hull(moved))
        if k == 0:
            for outline, colour in ((p, BLUE), (moved, GREY)):
                low, high = outline.min(axis=0), outline.max(axis=0)
                upper.plot(
                    *closed(np.array([low, (high[0], low[1]), high, (low[0], high[1])])),
                    color=colour,
                    ls="--",
                    lw=0.9,
                )
            low, high = w.min(axis=0), w.max(axis=0)
            lower.plot(
                *closed(np.array([low, (high[0], low[1]), high, (low[0], high[1])])),
                color=GREY,
                ls="--",
                lw=0.9,
            )
        elif k == 1:
            four = w[[w[:, 0].argmax(), w[:, 1].argmax(), w[:, 0].argmin(), w[:, 1].argmin()]]
            lower.plot(*closed(four), color=BLUE, lw=1.4)
        else:
            normal = found.direction
            across = np.array([-normal[1], normal[0]])
            middle = (found.point_a + found.point_b) / 2
            if k == 2:
                upper.plot(
                    *np.array([middle - 1.6 * across, middle + 1.6 * across]).T, color=BLUE, lw=1.4
                )
            else:
                upper.plot(
                    *np.array([found.point_a, found.point_b]).T, color="black", marker="o", ms=3
                )
                nearest = found.point_a - found.point_b
                lower.plot(*np.array([nearest, (0.0, 0.0)]).T, color="black", marker="o", ms=3)
        for axes in (upper, lower):
            axes.margins(0.12)
    assert [collides(p, q + place) for place in places] == [False, True, False, False]
    save(figure, "concept_cascade")


def circle(count: int, radius: float) -> np.ndarray:
    """Return the vertices of a regular polygon."""
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False) + 0.3
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def collides(p: np.ndarray, q: np.ndarray) -> bool:
    """Return whether two polygons collide."""
    return (
        Scene([Shape.hull(q)]).check(Shape.hull(p), (0.0, 0.0, 0.0)).verdict is Verdict.COLLISION
    )


def replay() -> None:
    """Draw the messages of a bag, and the times that a replay evaluates."""
    figure, axes = plt.subplots(figsize=(9.2, 2.9))
    axes.set_axis_off()
    axes.set_xlim(-0.42, 1.12)
    axes.set_ylim(-1.7, 3.7)
    obstacles = np.array([0.05, 0.15, 0.25, 0.35, 0.85, 0.95])
    silence = np.array([0.45, 0.55, 0.65, 0.75])
    lanes = [
        (3.0, "/tf", np.arange(0.0, 1.06, 0.05), GREY),
        (2.0, "/footprint", np.arange(0.02, 1.0, 0.2), GREY),
        (1.0, "/obstacles", obstacles, BLUE),
    ]
    for height, name, times, colour in lanes:
        axes.plot([0.0, 1.05], [height, height], color="#dddddd", zorder=0)
        axes.plot(times, np.full(len(times), height), "|", color=colour, ms=11, mew=1.6)
        axes.text(-0.02, height, name, ha="right", va="center")
    axes.plot([0.0, 1.05], [0.0, 0.0], color="#dddddd", zorder=0)
    axes.text(-0.02, 0.0, "evaluated stamps", ha="right", va="center")
    for times, colour in ((obstacles, BLUE), (silence, ORANGE)):
        axes.plot(times, np.zeros(len(times)), "o", color=colour)
    for time in obstacles:
        axes.plot([time, time], [0.15, 0.8], color=BLUE, lw=0.7, ls=":")
    axes.text(0.2, -0.75, "after each obstacle message", color=BLUE, ha="center")
    axes.text(
        0.6,
        -0.75,
        "no message for one period\nof the heartbeat",
        color=ORANGE,
        ha="center",
        va="center",
    )
    axes.annotate("", (1.1, -1.4), (0.0, -1.4), arrowprops={"arrowstyle": "->", "color": GREY})
    axes.text(1.1, -1.25, "log time", ha="right", va="bottom", color=GREY)
    save(figure, "concept_replay")


def rays(at: np.ndarray, angles: np.ndarray, rings: list[np.ndarray]) -> np.ndarray:
    """Return the ranges of a scan of outlines (n, 2) [m]; inf where there is no return."""
    begin = np.concatenate(rings) - at
    way = np.concatenate([np.roll(ring, -1, axis=0) - ring for ring in rings])
    x, y = np.cos(angles)[:, None], np.sin(angles)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        det = x * way[:, 1] - y * way[:, 0]
        along = (begin[:, 0] * way[:, 1] - begin[:, 1] * way[:, 0]) / det
        share = (begin[:, 0] * y - begin[:, 1] * x) / det
    return np.where((along > 0.0) & (share >= 0.0) & (share <= 1.0), along, np.inf).min(axis=1)


def seen() -> None:
    """Draw the poses that are free beside a pallet and two shelves, without and with `seen`."""
    box = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    turn = np.array([[0.94, 0.34], [-0.34, 0.94]])
    pallet = box * [1.2, 0.8] @ turn + [2.6, 0.2]
    rings = [pallet, box * [3.0, 0.5] + [2.6, 2.2], box * [3.0, 0.5] + [2.6, -2.0]]
    angles = np.radians(np.arange(-120.0, 120.5, 0.5))
    ranges = rays(np.zeros(2), angles, rings)
    scan = (np.where(ranges > 6.0, np.inf, ranges), angles[0], np.radians(0.5), 0.05, 6.0)
    shapes = obstacles_from_scan(*scan, radius=0.03)
    robot, margin = Shape.circle(0.12), 0.05
    grid = np.stack(np.meshgrid(np.arange(-1.2, 5.0, 0.3), np.arange(-2.9, 3.0, 0.3)), axis=-1)
    poses = np.pad(grid.reshape(-1, 2), ((0, 0), (0, 1)))
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 4.2), layout="constrained")
    cases = [
        ("What no sensor has seen counts as free (default)", None),
        ("require_seen: it is UNKNOWN / NOT_SEEN", seen_by_scan(*scan)),
    ]
    for axes, (title, region) in zip(panels, cases, strict=True):
        scene = Scene(shapes, seen=region)
        plain(axes, title)
        axes.set_xlim(-1.5, 5.2)
        axes.set_ylim(-3.2, 3.2)
        plotting.draw_scene(axes, scene)
        for ring in rings:
            axes.plot(*np.vstack([ring, ring[:1]]).T, color=GREY, linewidth=0.8, linestyle=":")
        plotting.draw_result(axes, robot, poses, scene.check(robot, poses, margin=margin))
        axes.plot(0.0, 0.0, color=BLUE, marker="^", markersize=8.0, zorder=6)
        axes.annotate("lidar", (-0.1, -0.2), ha="right", va="top", zorder=6)
        axes.annotate("pallet", (2.6, 0.2), ha="center", va="center", zorder=6)
    handles, labels = panels[1].get_legend_handles_labels()
    known = {label: each for each, label in zip(handles, labels, strict=True) if label[0] != "_"}
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=6)
    figure.savefig(IMAGES / "seen.png", dpi=90)  # as SVG it has megabytes
    plt.close(figure)


if __name__ == "__main__":
    for draw in (verdicts, frames, margins, cascade, replay, seen):
        draw()
