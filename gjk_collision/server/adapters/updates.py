# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Updates of grids: nav2_msgs/CostmapUpdate and map_msgs/OccupancyGridUpdate."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...errors import refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..frames import fields
from ..parameters.config import COSTMAP, GRID, Config, SourceConfig
from . import CONVERTERS

__all__ = ["UPDATES", "Grids", "update_type", "updates_topic"]

# Type of a source -> type of the updates of its grids, which are on a topic beside it.
_TYPES = {
    COSTMAP: "nav2_msgs/msg/CostmapUpdate",
    GRID: "map_msgs/msg/OccupancyGridUpdate",
}
# Field of a grid with its size -> the names of the numbers of columns and rows.
_SIZES = {"info": ("width", "height"), "metadata": ("size_x", "size_y")}
UPDATES = frozenset(_TYPES.values())
_REMEDY = "publish the whole grid (nav2: always_send_full_costmap: true)"


def update_type(source: SourceConfig) -> str:
    """Return the type of the updates that a source uses; empty: none.

    None of its messages may be lost, or have been sent before: then later updates would be applied
    to another grid. A static source has no timeout that would notice this.
    """
    is_reliable = source.qos_reliability == "reliable" or source.qos_durability != "volatile"
    return _TYPES.get(source.type, "") if is_reliable and not source.static else ""


def updates_topic(topic: str) -> str:
    """Return the topic of the updates of a grid, with the name that nav2 uses."""
    return f"{topic}_updates"


class Grids:
    """The last grid of each source, to which its updates are applied."""

    def __init__(self) -> None:
        # As whole messages, and whether an update has been applied.
        self._last: dict[str, tuple[Any, bool]] = {}

    def convert(self, message: Any, config: Config, source: SourceConfig) -> Obstacles:
        """Convert a message of a source, or an update of its last grid.

        Raises
        ------
        InputError
            The message is not valid, or an update cannot be applied: then the grid is dropped, so
            that no later one is applied to a grid that misses this one.
        """
        if not update_type(source):
            return CONVERTERS[source.type](message, config, source)
        last, is_updated = self._last.pop(source.name, (None, False))
        is_update = not any(hasattr(message, each) for each in _SIZES)
        if is_update:
            message = _applied(message, last, source)
        is_older = last is not None and _gap(last, message) < 0.0
        if is_older and is_updated:
            rule = "its stamp is before that of an update, which was applied to another grid"
            refuse("header.stamp", f"{rule}: {_REMEDY}")
        obstacles = CONVERTERS[source.type](message, config, source)
        self._last[source.name] = (last, False) if is_older else (message, is_update)
        return obstacles


def _gap(last: Any, new: Any) -> float:
    """Return the time between the stamps of two messages [s]."""
    return (fields.nanoseconds(new.header.stamp) - fields.nanoseconds(last.header.stamp)) * 1e-9


def _applied(update: Any, last: Any, source: SourceConfig) -> Any:
    """Return the grid with the cells of an update."""
    if last is None:
        rule = f"an update came before its grid: {_REMEDY}"
        refuse("update", rule, status=Status.NO_OBSTACLES)
    gap = _gap(last, update)
    if not 0.0 <= gap <= source.timeout:
        rule = f"its stamp is {gap:.3f} s after that of the grid, so that updates may be missing "
        rule += f"(more than timeout, or less than 0): {_REMEDY}"
        refuse("update", rule)
    if update.header.frame_id != last.header.frame_id:
        rule = f"its frame '{update.header.frame_id}' is not that of the grid, "
        refuse("update", f"{rule}'{last.header.frame_id}'", status=Status.UNKNOWN_FRAME)
    name = "info" if hasattr(last, "info") else "metadata"
    whole, sizes = getattr(last, name), _SIZES[name]
    columns, rows = (int(getattr(whole, each)) for each in sizes)
    width, height = (int(getattr(update, each)) for each in sizes)
    x, y, data = int(update.x), int(update.y), fields.numbers(update.data)
    if not (0 <= x <= x + width <= columns and 0 <= y <= y + height <= rows):
        rule = (
            f"its {width} x {height} cells at ({x}, {y}) are not in the grid of {columns} x {rows}"
        )
        refuse("update", f"{rule}: {_REMEDY}", status=Status.ARRAY_MISMATCH)
    if len(data) != width * height:
        rule = f"must have {width} * {height} cells"
        refuse("update.data", rule, len(data), status=Status.ARRAY_MISMATCH)
    cells = np.array(fields.numbers(last.data)).reshape(rows, columns)
    cells[y : y + height, x : x + width] = data.reshape(height, width)
    return SimpleNamespace(header=update.header, data=cells.ravel(), **{name: whole})
