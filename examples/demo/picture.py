# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Draw the demo: the traffic, the search tree, the path, and the clearance along it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import scenario
from drive import Drive, Obstacle
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch, Rectangle
from matplotlib.path import Path as MplPath
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from gjk_collision.plotting import VERDICT_COLOURS, draw_outline, place
from gjk_collision.verdict import Verdict

EGO = "#0b6e99"
TREE = "#7fb8d3"
STATIC = "#5c6670"
MOVING = "#b08968"
ROAD = "#e9ebed"
VERGE = "#f6f7f5"
PAIR = "#c1121f"
FOOTPRINT_EVERY = 3.0  # m along the path
ARROW_SECONDS = 1.0  # a velocity arrow shows the way of this time

NAMES = {obstacle.id: obstacle.name for obstacle in scenario.obstacles(0.0)}

X_LIMITS = (-12.5, 70.0)
Y_LIMITS = (-9.0, 8.2)


def draw_road(axes: Axes) -> None:
    """Draw the road, the bus lane and the pavement."""
    left, right = X_LIMITS
    axes.set_facecolor(VERGE)
    for bottom, top in ((-scenario.LANE_WIDTH, scenario.LANE_WIDTH), (4.6, 8.0), (-6.9, -4.6)):
        axes.add_patch(
            Rectangle((left, bottom), right - left, top - bottom, color=ROAD, lw=0, zorder=0)
        )
    axes.plot(X_LIMITS, (0.0, 0.0), color="white", linewidth=1.6, dashes=(8, 5), zorder=0.5)


def draw_obstacle(axes: Axes, obstacle: Obstacle) -> None:
    """Draw its outline, its name if there is room, and its way in `ARROW_SECONDS` if it moves."""
    velocity = obstacle.velocity[:2]
    speed = float(np.hypot(*velocity))
    colour = MOVING if speed > 0.01 else STATIC
    draw_outline(
        axes, obstacle.points, obstacle.radius, obstacle.pose,
        facecolor=colour, edgecolor="none", alpha=0.9, zorder=2,
    )  # fmt: skip
    placed = place(obstacle.points, obstacle.pose)
    inside = X_LIMITS[0] < placed[:, 0].min() and placed[:, 0].max() < X_LIMITS[1]
    if inside and np.ptp(obstacle.points, axis=0).min() > 1.5:
        axes.text(
            *obstacle.pose[:2], NAMES[obstacle.id], color="white", fontsize=7.5,
            ha="center", va="center", zorder=3,
        )  # fmt: skip
    if speed > 0.2:
        ahead = (placed - obstacle.pose[:2]) @ velocity / speed
        front = obstacle.pose[:2] + (ahead.max() + obstacle.radius) * velocity / speed
        axes.annotate(
            "", xytext=front, xy=front + velocity * ARROW_SECONDS, annotation_clip=True,
            arrowprops={"arrowstyle": "-|>", "color": MOVING, "linewidth": 1.2,
                        "shrinkA": 0, "shrinkB": 0, "mutation_scale": 8}, zorder=3,
        )  # fmt: skip


def draw_tree(axes: Axes, log: dict[str, Any]) -> None:
    """Draw the trees' edges, and where edges were refused: the first pose that was not free."""
    edges = MplPath.make_compound_path(*(MplPath(np.array(edge)[:, :2]) for edge in log["tree"]))
    axes.add_patch(PathPatch(edges, fill=False, edgecolor=TREE, linewidth=0.8, zorder=4))
    for verdict in (Verdict.COLLISION, Verdict.MARGIN):
        refused = np.array([
            answer["poses"][i][:2]
            for answer in log["answers"]
            if answer["purpose"] == "edge" and verdict in answer["verdicts"]
            for i in [answer["verdicts"].index(verdict)]
        ]).reshape(-1, 2)  # fmt: skip
        axes.plot(*refused.T, ".", ms=2.0, mew=0, color=VERDICT_COLOURS[verdict], zorder=3.5)


def draw_path(
    axes: Axes,
    path: NDArray[np.float64],
    along: NDArray[np.float64],
    footprint: NDArray[np.float64],
) -> None:
    """Draw the path with footprints along it."""
    axes.plot(path[:, 0], path[:, 1], color=EGO, linewidth=1.8, zorder=6)
    marks = np.searchsorted(along, np.arange(FOOTPRINT_EVERY, along[-1], FOOTPRINT_EVERY))
    for pose in path[marks[:-1]]:
        draw_outline(
            axes, footprint, 0.0, pose, facecolor=(*mpl.colors.to_rgb(EGO), 0.06),
            edgecolor=EGO, linewidth=0.6, zorder=5,
        )  # fmt: skip
    for pose, alpha in ((path[0], 0.95), (path[-1], 0.4)):
        draw_outline(axes, footprint, 0.0, pose, color=EGO, alpha=alpha, zorder=5)


def draw_closest(axes: Axes, answer: dict[str, Any], footprint: NDArray[np.float64]) -> None:
    """Draw the closest pair of the path, with the footprint there."""
    ego, obstacle = (np.array(answer[side][0]) for side in ("witness_ego", "witness_obstacle"))
    pose = answer["poses"][0]
    draw_outline(axes, footprint, 0.0, pose, fill=False, edgecolor=PAIR, lw=1.1, zorder=7)
    axes.plot(*np.array([ego, obstacle]).T, "o-", color=PAIR, lw=1.6, markersize=2.5, zorder=8)
    middle = (ego + obstacle) / 2
    axes.annotate(
        f"closest: {answer['distances'][0]:.2f} m", middle, xytext=(middle[0] - 8.0, -8.0),
        color=PAIR, fontsize=9, ha="center", va="center", zorder=9,
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": PAIR,
              "linewidth": 0.8},
        arrowprops={"arrowstyle": "-", "color": PAIR, "linewidth": 0.8, "shrinkB": 3},
    )  # fmt: skip


def draw_clearance(
    axes: Axes, along: NDArray[np.float64], clearance: NDArray[np.float64], margin: float
) -> None:
    """Draw the distance to the nearest obstacle along the path."""
    axes.fill_between(along, 0.0, clearance, color=TREE, alpha=0.35, linewidth=0)
    axes.plot(along, clearance, color=EGO, linewidth=1.6)
    axes.axhline(margin, color=VERDICT_COLOURS[Verdict.MARGIN], linewidth=1.2, dashes=(5, 3))
    axes.text(
        along[-1], margin, f"margin {margin:.2f} m ", ha="right", va="bottom", fontsize=8,
        color="#9a6700",
    )  # fmt: skip
    least = int(np.argmin(clearance))
    axes.plot(along[least], clearance[least], "o", color=PAIR, markersize=4)
    axes.annotate(
        f"{clearance[least]:.2f} m", (along[least], clearance[least]), xytext=(0, 9),
        textcoords="offset points", color=PAIR, fontsize=8, ha="center",
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip
    axes.set(xlim=(0.0, along[-1]), ylim=(0.0, None), xlabel="along the path [m]",
             ylabel="clearance [m]")  # fmt: skip
    axes.grid(color="#dddddd", linewidth=0.6)


def clearances(
    log: dict[str, Any],
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[dict[str, Any]], NDArray[np.float64]]:
    """Return the path's poses, the lengths of path up to them, the answers and their distances."""
    path = np.array(log["path"])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path[:, :2], axis=0).T))])
    answers = [a for a in log["answers"] if a["purpose"] == "clearance"][-len(path) :]
    return path, along, answers, np.array([answer["distances"][0] for answer in answers])


def draw(log: dict[str, Any], drive: Drive, files: list[Path]) -> None:
    """Write the picture to every file, in the format that its suffix names."""
    path, along, answers, clearance = clearances(log)
    closest = answers[int(np.argmin(clearance))]
    obstacles = drive.obstacles(drive.message(closest))

    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                         "svg.hashsalt": "demo", "svg.fonttype": "path"})  # fmt: skip
    figure, (scene, profile) = plt.subplots(
        2, 1, figsize=(12.5, 5.1), height_ratios=(2.6, 1.0), layout="constrained"
    )
    draw_road(scene)
    for obstacle in obstacles:
        draw_obstacle(scene, obstacle)
    draw_tree(scene, log)
    draw_path(scene, path, along, drive.footprint)
    draw_closest(scene, closest, drive.footprint)
    scene.set(xlim=X_LIMITS, ylim=Y_LIMITS, aspect="equal", xlabel="x [m]", ylabel="y [m]")
    edges = sum(answer["purpose"] == "edge" for answer in log["answers"])
    scene.set_title(
        f"{edges} edges asked about over DDS, traffic as in snapshot {closest['snapshot_id']}",
        loc="left", fontsize=10, pad=8,
    )  # fmt: skip
    dot = {"marker": "o", "linestyle": "", "markersize": 4}
    figure.legend(
        handles=[
            Patch(color=EGO, label="ego: start, goal (pale)"),
            Line2D([], [], color=EGO, linewidth=1.8, label=f"path, {log['length']:.1f} m"),
            Line2D([], [], color=TREE, label="search trees"),
            *(
                Line2D([], [], color=VERDICT_COLOURS[why], label=f"refused: {why.name}", **dot)
                for why in (Verdict.COLLISION, Verdict.MARGIN)
            ),
            Patch(color=STATIC, label="standing obstacle"),
            Patch(color=MOVING, label="moving, with its way in 1 s"),
        ],
        loc="outside lower center", ncols=7, frameon=False, fontsize=8.5, handlelength=1.4,
        columnspacing=1.6,
    )  # fmt: skip
    draw_clearance(profile, along, clearance, log["margin"])
    for file in files:
        metadata = {"Date": None} if file.suffix == ".svg" else None
        figure.savefig(file, dpi=130, metadata=metadata)
    plt.close(figure)
