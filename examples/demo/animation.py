# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Draw the demo as an animation: the search, then the vehicle on the path that was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from drive import Drive
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.collections import LineCollection
from picture import (
    EGO,
    PAIR,
    TREE,
    X_LIMITS,
    Y_LIMITS,
    clearances,
    draw_clearance,
    draw_obstacle,
    draw_road,
)  # fmt: skip

from gjk_collision.plotting import VERDICT_COLOURS, place
from gjk_collision.verdict import Verdict

RATE = 12  # frames/s
SEARCH = 18  # frames
DRIVE = 36
REST = 18  # frames of the last picture, before it begins again


def animate(log: dict[str, Any], drive: Drive, file: Path) -> None:
    """Write the animation as a GIF."""
    path, along, answers, clearance = clearances(log)
    closest = answers[int(np.argmin(clearance))]
    edges = [answer for answer in log["answers"] if answer["purpose"] == "edge"]
    figure, (scene, profile) = plt.subplots(
        2, 1, figsize=(11.0, 4.8), height_ratios=(2.4, 1.0), layout="constrained"
    )
    draw_road(scene)
    for obstacle in drive.obstacles(drive.message(closest)):
        draw_obstacle(scene, obstacle)
    scene.set(xlim=X_LIMITS, ylim=Y_LIMITS, aspect="equal", xlabel="x [m]", ylabel="y [m]")
    draw_clearance(profile, along, clearance, log["margin"])
    curtain = profile.axvspan(0.0, along[-1], color="white", zorder=5)
    tree = scene.add_collection(LineCollection([], colors=TREE, linewidths=0.7, zorder=4))
    refused = {
        verdict: scene.plot([], [], ".", ms=2.5, mew=0, color=colour, zorder=3.5)[0]
        for verdict, colour in VERDICT_COLOURS.items()
        if verdict in {Verdict.COLLISION, Verdict.MARGIN}
    }
    (driven,) = scene.plot([], [], color=EGO, linewidth=1.8, zorder=6)
    (vehicle,) = scene.fill([0.0], [0.0], color=EGO, zorder=7)
    (nearest,) = scene.plot([], [], "o-", color=PAIR, lw=1.4, markersize=2.5, zorder=8)

    def show_search(count: int) -> None:
        lines = []
        dots: dict[Verdict, list[list[float]]] = {verdict: [] for verdict in refused}
        for answer in edges[:count]:
            wrong = [i for i, v in enumerate(answer["verdicts"]) if Verdict(v) in dots]
            if wrong:
                first = wrong[0]
                dots[Verdict(answer["verdicts"][first])].append(answer["poses"][first][:2])
            else:
                lines.append(np.array(answer["poses"])[:, :2])
        tree.set_segments(lines)
        for verdict, points in dots.items():
            refused[verdict].set_data(*np.array(points).reshape(-1, 2).T)
        scene.set_title(f"{count} edges checked by the node", loc="left", fontsize=10)

    def show(frame: int) -> None:
        if frame < SEARCH:
            show_search(len(edges) * (frame + 1) // SEARCH)
            vehicle.set_xy(place(drive.footprint, path[0]))
            driven.set_data([], [])
            nearest.set_data([], [])
            curtain.set(x=0.0, width=along[-1] + 1.0)
            return
        way = min((frame - SEARCH + 1) / DRIVE, 1.0) * along[-1]
        at = min(int(np.searchsorted(along, way)), len(path) - 1)
        vehicle.set_xy(place(drive.footprint, path[at]))
        driven.set_data(*path[: at + 1, :2].T)
        pair = [answers[at][side][0] for side in ("witness_ego", "witness_obstacle")]
        nearest.set_data(*np.array(pair).T)
        curtain.set(x=along[at], width=along[-1] - along[at] + 1.0)
        scene.set_title(
            f"{len(edges)} edges checked by the node; clearance {clearance[at]:.2f} m",
            loc="left", fontsize=10,
        )  # fmt: skip

    animation = FuncAnimation(figure, show, SEARCH + DRIVE + REST, init_func=lambda: [])
    animation.save(file, writer=PillowWriter(fps=RATE), dpi=80)
    plt.close(figure)
