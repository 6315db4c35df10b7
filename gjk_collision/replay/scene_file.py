# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a scene file (JSON: frames of polygons in the world) to a bag.

In the bag, the vehicle has a footprint around the middle of its outline, and a transform for its
pose. Its x axis has the direction of its velocity, or of its longest edge if it does not move.
Only the footprint is rounded to float32. Because its coordinates are small, large world
coordinates such as those of UTM lose no accuracy. Obstacles are written in doubles.
"""

import json
from math import atan2, cos, hypot, sin
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..server.data.obstacles import Obstacles
from ..server.frames.poses import Pose
from .write import BagWriter, Storage

__all__ = ["SceneError", "write_bag"]

BEGIN = 1_700_000_000_000_000_000  # ns; an arbitrary time, but not 0


class SceneError(ValueError):
    """A scene file is not valid."""


def write_bag(scene: Path, bag: Path, storage: Storage = "mcap") -> int:
    """Write a bag of a scene; return the number of frames.

    Parameters
    ----------
    scene : Path
        ``frames: [{t, ego: {polygon, velocity}, obstacles: [{id, polygon, velocity}]}]``; metres,
        seconds, one world frame, which is called odom in the bag.
    bag : Path
        Folder to write. It must not exist.
    storage : {'mcap', 'sqlite3'}
        Storage format of the bag.

    Raises
    ------
    SceneError
        The file is not a valid scene.
    OSError
        The file cannot be read, or the bag cannot be written.
    """
    if bag.exists():
        raise FileExistsError(f"{bag} already exists")
    try:
        frames = json.loads(scene.read_text(encoding="utf-8"))["frames"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SceneError(f"{scene}: is not a scene file: {_text(error)}") from error
    if not isinstance(frames, list) or not frames:
        raise SceneError(f"{scene}: frames: must be a list of at least one frame")
    prepared: list[tuple[Pose, Any, Obstacles]] = []
    try:
        for frame in frames:
            prepared.append(_prepared(frame, len(prepared)))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise SceneError(f"{scene}: frames[{len(prepared)}]: {_text(error)}") from error
    with BagWriter(bag, storage) as writer:
        for pose, outline, obstacles in prepared:
            writer.transform(obstacles.stamp, pose)
            writer.footprint(obstacles.stamp, outline)
            writer.obstacles(obstacles)
    return len(prepared)


def _prepared(frame: dict[str, Any], index: int) -> tuple[Pose, Any, Obstacles]:
    stamp = BEGIN + round(float(frame["t"]) * 1e9)
    ego = _outline(frame["ego"], "ego")
    vx, vy = frame["ego"].get("velocity") or (0.0, 0.0)
    x, y = ego.mean(axis=0).tolist()
    yaw = atan2(vy, vx) if hypot(vx, vy) > 0.1 else _longest_edge(ego)
    c, s = cos(yaw), sin(yaw)
    outline = (ego - (x, y)) @ np.array([[c, -s], [s, c]])
    every = frame["obstacles"]
    polygons = [_outline(each, f"obstacles[{i}]") for i, each in enumerate(every)]
    velocities = [[*(each.get("velocity") or (np.nan, np.nan)), 0.0] for each in every]
    obstacles = Obstacles(
        frame="odom",
        stamp=stamp,
        sequence=index + 1,
        ids=np.array([each["id"] for each in every], dtype=np.int64),
        offsets=np.cumsum([0, *map(len, polygons)]) if polygons else np.empty(0, np.int64),
        xy=np.concatenate(polygons).ravel() if polygons else np.empty(0),
        velocities=np.ravel(velocities),
    )
    return Pose(x, y, yaw), outline, obstacles


def _outline(thing: Any, name: str) -> npt.NDArray[np.float64]:
    """Return the outline (n, 2) of the vehicle or of an obstacle."""
    if not isinstance(thing, dict) or "polygon" not in thing:
        raise ValueError(f"{name}: the key 'polygon' is missing")
    try:
        outline = np.array(thing["polygon"], dtype=np.float64)
    except (ValueError, TypeError):
        outline = np.empty(0)
    if outline.ndim != 2 or outline.shape[1] != 2 or not np.isfinite(outline).all():
        raise ValueError(f"{name}.polygon: must be a list of [x, y] pairs of finite numbers")
    return outline


def _text(error: Exception) -> str:
    """Return the message of an error. That of a KeyError is only the name of the key."""
    return f"the key {error} is missing" if isinstance(error, KeyError) else str(error)


def _longest_edge(polygon: Any) -> float:
    """Return the direction [rad] of the longest edge, for a vehicle that does not move."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    dx, dy = edges[np.argmax(np.hypot(edges[:, 0], edges[:, 1]))].tolist()
    return atan2(dy, dx)
