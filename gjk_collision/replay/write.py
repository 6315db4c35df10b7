# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Writer of small bags for tests and scripts, readable by replay and by `ros2 bag play`."""

from collections.abc import Sequence
from math import cos, sin
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer

from ..server.data.obstacles import Obstacles
from ..server.frames.poses import Pose
from ..server.parameters.config import OBSTACLE_ARRAY
from .interfaces import CLOCK, POLYGON_STAMPED, TF_MESSAGE, typestore

__all__ = ["BagWriter", "Storage"]

Storage = Literal["mcap", "sqlite3"]


class BagWriter:
    """A bag that is open for writing. By default, the log time of a message is its stamp.

    Parameters
    ----------
    path : Path
        Folder to write. It must not exist.
    storage : {'mcap', 'sqlite3'}
        Storage format.
    types : dict, optional
        Types that are not known by default, as `installed_types` returns them.
    """

    def __init__(
        self, path: Path, storage: Storage = "mcap", types: dict[str, Any] | None = None
    ) -> None:
        plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
        self._writer = Writer(path, version=9, storage_plugin=plugin)
        self._store = typestore(types)
        self.types = self._store.types
        self._connections: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> "BagWriter":
        self._writer.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def write(self, topic: str, kind: str, time: int, message: Any) -> None:
        """Write a message, an object of a class in `types`, at a log time [ns]."""
        self.write_bytes(topic, kind, time, bytes(self._store.serialize_cdr(message, kind)))

    def write_bytes(self, topic: str, kind: str, time: int, data: bytes) -> None:
        """Write a message in CDR at a log time [ns]."""
        if (topic, kind) not in self._connections:
            self._connections[topic, kind] = self._writer.add_connection(
                topic, kind, typestore=self._store
            )
        self._writer.write(self._connections[topic, kind], time, data)

    def header(self, stamp: int, frame: str) -> Any:
        """Return a std_msgs/Header."""
        return self.types["std_msgs/msg/Header"](self._time(stamp), frame)

    def footprint(
        self,
        stamp: int,
        points: Sequence[Sequence[float]] | np.ndarray[Any, Any],
        frame: str = "base_link",
        topic: str = "/footprint",
        log: int | None = None,
    ) -> None:
        """Write an outline [m]. It is rounded to float32, the type of geometry_msgs."""
        point = self.types["geometry_msgs/msg/Point32"]
        polygon = self.types["geometry_msgs/msg/Polygon"](
            [point(float(x), float(y), 0.0) for x, y in points]
        )
        message = self.types[POLYGON_STAMPED](self.header(stamp, frame), polygon)
        self.write(topic, POLYGON_STAMPED, stamp if log is None else log, message)

    def obstacles(
        self, obstacles: Obstacles, topic: str = "/obstacles", log: int | None = None
    ) -> None:
        """Write a list of obstacles."""
        kinds = {"ids": "i8", "kinds": "u1", "offsets": "u4", "path_offsets": "u4"}
        floats = (
            "xy", "radius", "poses", "velocities", "path_times", "path_poses",
            "margins", "margin_rates",
        )  # fmt: skip
        arrays = {
            name: np.asarray(getattr(obstacles, name), kinds.get(name, "f8"))
            for name in (*kinds, *floats)
        }
        message = self.types[OBSTACLE_ARRAY](
            header=self.header(obstacles.stamp, obstacles.frame),
            source=obstacles.source,
            sequence=obstacles.sequence,
            **arrays,
        )
        self.write(topic, OBSTACLE_ARRAY, obstacles.stamp if log is None else log, message)

    def transform(
        self,
        stamp: int,
        pose: Pose,
        parent: str = "odom",
        child: str = "base_link",
        topic: str = "/tf",
        log: int | None = None,
    ) -> None:
        """Write the pose of a frame in its parent."""
        types, geometry = self.types, "geometry_msgs/msg/"
        rotation = types[geometry + "Quaternion"](
            0.0, 0.0, sin(0.5 * pose.yaw), cos(0.5 * pose.yaw)
        )
        transform = types[geometry + "Transform"](
            types[geometry + "Vector3"](pose.x, pose.y, 0.0), rotation
        )
        stamped = types[geometry + "TransformStamped"](
            self.header(stamp, parent), child, transform
        )
        message = types[TF_MESSAGE]([stamped])
        self.write(topic, TF_MESSAGE, stamp if log is None else log, message)

    def clock(self, time: int, log: int, topic: str = "/clock") -> None:
        """Write a time [ns] to the clock topic."""
        self.write(topic, CLOCK, log, self.types[CLOCK](self._time(time)))

    def _time(self, nanoseconds: int) -> Any:
        return self.types["builtin_interfaces/msg/Time"](*divmod(nanoseconds, 10**9))
