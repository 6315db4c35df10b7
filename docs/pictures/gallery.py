# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of docs/gallery.md: python docs/pictures/gallery.py.

Each picture is drawn from the variables of an example, or of the code of a tutorial, at its end.
It needs matplotlib, and ompl for the example of OMPL.
"""

import contextlib
import io
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from gjk_collision import Verdict, plotting
from gjk_collision.formats.figures import VEHICLE, VEHICLE_AREA, VERDICT_COLOURS

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
FREE, COLLISION = VERDICT_COLOURS[Verdict.FREE], VERDICT_COLOURS[Verdict.COLLISION]
# The ids of a file must not change from run to run; text stays text, in the reader's font.
mpl.rcParams.update({"svg.hashsalt": "gjk_collision", "svg.fonttype": "none", "font.size": 9})
WITH_MANY_LINES = {"grid_map", "mppi", "trajectories"}  # smaller as pixels
DRAWINGS: dict[str, Callable[[Axes, Any], None]] = {}


def drawing(function: Callable[[Axes, Any], None]) -> Callable[[Axes, Any], None]:
    """Register the drawing of the example with the name of the function."""
    DRAWINGS[function.__name__] = function
    return function


class Names(dict):
    """Variables of an example, as attributes."""

    __getattr__ = dict.__getitem__


def names_of(example: str) -> Names:
    """Run an example; return its global variables, and those of its `main` at the return."""
    found = Names()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code.co_name == "main":
            found.update(frame.f_locals)

    sys.setprofile(watch)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found.update(
                runpy.run_path(str(ROOT / "examples" / f"{example}.py"), None, "__main__")
            )
    finally:
        sys.setprofile(None)
    return found


@drawing
def curves(axes: Axes, names: Names) -> None:
    """Draw the motion primitives of the path, and the last curve."""
    plotting.draw_scene(axes, names.world())
    for curve in names.found:
        plotting.draw_path(axes, curve, names.CAR, footprints=3)
    axes.set_ylim(-4.0, 10.0)


@drawing
def trajectories(axes: Axes, names: Names) -> None:
    """Draw all candidates in the colour of their verdict, and the chosen one."""
    plotting.draw_scene(axes, names.traffic)
    for poses, free in zip(names.poses, names.is_free & names.is_clear, strict=True):
        axes.plot(poses[:, 0], poses[:, 1], color=FREE if free else COLLISION, lw=0.5, alpha=0.7)
    plotting.draw_path(axes, names.poses[names.best], names.CAR, footprints=5)


@drawing
def region(axes: Axes, names: Names) -> None:
    """Draw the road with a parked car, and the poses with their verdicts."""
    plotting.draw_scene(axes, names.scene)
    plotting.draw_result(
        axes, names.CAR, names.poses[:4], names.scene.check(names.CAR, names.poses[:4])
    )
    plotting.draw_path(axes, names.turn, names.CAR, names.result, footprints=7)


@drawing
def grid_map(axes: Axes, names: Names) -> None:
    """Draw the rooms with the returns of the scan, and the way that ends at an obstacle."""
    plotting.draw_scene(axes, names.scene, linewidth=0.4)
    plotting.draw_path(axes, names.way, names.ROBOT, names.result)


@drawing
def nearest_free(axes: Axes, names: Names) -> None:
    """Draw the goals that are not free, and the nearest free poses."""
    plotting.draw_scene(axes, names.scene)
    for goal in names.goals[:3]:
        free = names.scene.nearest_free(names.CAR, goal, 3.0, 0.2, margin=names.MARGIN)
        plotting.draw_shape(axes, names.CAR, goal, fill=False, edgecolor=COLLISION, linestyle="--")
        if free is not None:
            plotting.draw_shape(axes, names.CAR, free, fill=False, edgecolor=FREE)
    axes.set_xlim(-6.0, 7.0)


@drawing
def trailer(axes: Axes, names: Names) -> None:
    """Draw a lorry with its trailer around a corner."""
    plotting.draw_scene(axes, names.scene)
    some = np.arange(60, len(names.poses) - 40, 36)
    for i in some:
        shape, pose = names.shapes[names.which[i]], names.poses[i]
        one = names.scene.check(shape, pose[None], margin=0.1)
        plotting.draw_result(axes, shape, pose[None], one)


@drawing
def mppi(axes: Axes, names: Names) -> None:
    """Draw rollouts from the start, and the traffic after 2 s."""
    poses = names.rollouts(np.zeros(3), names.samples[::3])
    times = names.PERIOD * np.arange(1, names.STEPS + 1)
    checked = names.traffic.check(names.CAR, poses, times, margin=names.MARGIN)
    plotting.draw_scene(axes, names.traffic, 2.0)
    for rollout, first in zip(poses, checked.first_invalid, strict=True):
        colour = FREE if first == -1 else COLLISION
        axes.plot(rollout[:, 0], rollout[:, 1], color=colour, lw=0.5, alpha=0.7)
    plotting.draw_shape(axes, names.CAR, facecolor=VEHICLE_AREA, edgecolor=VEHICLE)


@drawing
def parking_ompl(axes: Axes, names: Names) -> None:
    """Draw the path into the gap."""
    plotting.draw_scene(axes, names.scene)
    poses = names.path_poses(names.space, names.path, step=0.1)
    plotting.draw_path(axes, poses, names.CAR, footprints=12)
    axes.set_xlim(-11.0, 11.0)


def draw(name: str) -> None:
    """Draw one example."""
    figure, axes = plt.subplots(figsize=(6.4, 4.0))
    DRAWINGS[name](axes, names_of(name))
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    if name in WITH_MANY_LINES:
        figure.savefig(IMAGES / f"gallery_{name}.png", dpi=110, bbox_inches="tight")
    else:
        path = IMAGES / f"gallery_{name}.svg"
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def tutorial() -> None:
    """Run the Python code of the first tutorial, which writes its picture."""
    text = (ROOT / "docs" / "tutorials" / "first_path.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    code = "".join(blocks).replace('"first_path.svg"', "PICTURE, metadata={'Date': None}")
    exec(compile(code, "first_path.md", "exec"), {"PICTURE": IMAGES / "first_path.svg"})


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):
        tutorial()
    for each in sys.argv[1:] or DRAWINGS:
        draw(each)
