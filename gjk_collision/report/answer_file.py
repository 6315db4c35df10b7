# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answers of a replay as an mcap file, for Foxglove and `ros2 bag play`.

The messages have the types and the meaning of those that the node publishes. Their log times are
those of the replayed bag, so that both files can be shown together.
"""

from math import nan
from pathlib import Path
from typing import Any

from ..replay.case_fields import CaseError
from ..replay.drive import Drive
from ..replay.golden import Comparison
from ..replay.interfaces import message, typestore
from ..replay.rows import Row
from ..server.drawing import marker_array
from ..server.frames.poses import Pose
from ..server.services.answers import Answer, info_fields

__all__ = ["MARKERS", "STATE", "AnswerFile", "check_file"]

# Topic and message type.
STATE = "/replay/state", "gjk_collision/msg/CollisionState"
MARKERS = "/replay/markers", "visualization_msgs/msg/MarkerArray"
GOLDEN = "/golden/state", "gjk_collision/msg/CollisionState"
CHANGE = "/difference/change", "std_msgs/msg/String"
# The types of the messages that markers consist of.
_TYPES = {
    name: f"{package}/msg/{name}"
    for package, names in (
        ("builtin_interfaces", ("Duration", "Time")),
        ("geometry_msgs", ("Point", "Pose", "Quaternion", "Vector3")),
        ("std_msgs", ("ColorRGBA", "Header")),
        ("visualization_msgs", ("Marker", "MarkerArray")),
    )
    for name in names
}


def check_file(path: Path) -> None:
    """Raise an error if a file cannot be written. An existing file could be a recording.

    Raises
    ------
    CaseError
        The file exists, or its name does not end in .mcap, or its folder does not exist.
    """
    if path.suffix != ".mcap":
        raise CaseError(f"--mcap: must end in .mcap (got {path})")
    if path.exists() or path.is_symlink():
        raise CaseError(f"--mcap: {path} exists: delete it, or use another name")
    if not path.parent.is_dir():
        raise CaseError(f"--mcap: the folder {path.parent} does not exist")


class AnswerFile:
    """An mcap file that is open for writing.

    Parameters
    ----------
    path : Path
        The file to write. It must not exist.

    Raises
    ------
    CaseError
        The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        from mcap.writer import Writer

        self._store = typestore()
        try:
            self._file = path.open("xb")
        except OSError as error:
            raise CaseError(f"--mcap: {path} cannot be written: {error}") from error
        self._writer: Any = Writer(self._file)
        self._writer.start(profile="ros2", library="gjk_collision")
        self._channels: dict[tuple[str, str], int] = {}
        self._count = 0

    def close(self) -> None:
        """Write the index, and close the file."""
        self._writer.finish()
        self._file.close()

    def add(self, row: Row, drive: Drive, change: Comparison | None) -> None:
        """Write the answer `row` of a replay, and its comparison with the golden result."""
        if not row.is_state:
            self._write(
                (f"/replay/requests/{row.cause}", "gjk_collision/msg/Verdict"),
                row,
                _answer(row).verdict_fields(),
            )
            return
        self._count += 1
        frame = drive.snapshot.config.check_frame
        # The time of computation is NaN, so that the file is the same in every run.
        self._write(STATE, row, self._state(row, frame, info_fields(drive.snapshot, nan)))
        if change is not None:
            self._write(CHANGE, row, {"data": change.label or "no change"})
            if (old := change.old) is not None:
                ages = {"footprint_age": old.footprint_age, "max_obstacle_age": old.obstacle_age}
                info = {"bad_sources": list(old.bad_sources), **ages}
                self._write(GOLDEN, row, self._state(old, frame, info))
        ego = Pose(*row.ego) if row.ego else None
        found = marker_array(self._made, row.now, drive.snapshot, ego, _answer(row))
        self._write(MARKERS, row, found)

    def _channel(self, topic: str, kind: str) -> int:
        package, _, name = kind.split("/")
        text, _ = self._store.generate_msgdef(kind, ros_version=2)
        schema = self._writer.register_schema(f"{package}/msg/{name}", "ros2msg", text.encode())
        channel: int = self._writer.register_channel(topic, "cdr", schema)
        return channel

    def _write(self, channel: tuple[str, str], row: Row, content: Any) -> None:
        """Write a message, or its fields, at the log time of a row."""
        if isinstance(content, dict):
            content = message(self._store, channel[1], **content)
        if channel not in self._channels:
            self._channels[channel] = self._channel(*channel)
        data = bytes(self._store.serialize_cdr(content, channel[1]))
        self._writer.add_message(self._channels[channel], row.time, data, row.time, self._count)

    # ---- messages

    def _state(self, row: Row, frame: str, info: dict[str, Any]) -> dict[str, Any]:
        return {
            "header": {"stamp": row.now, "frame_id": frame},
            "counter": self._count,
            "info": info,
            **_answer(row).fields(),
        }

    def _made(self, name: str, **fields: Any) -> Any:
        return message(self._store, _TYPES[name], **fields)


def _answer(row: Row) -> Answer:
    """Return the answer of the heartbeat that a row was made from."""
    results = {
        "distance": row.distance,
        "distance_lower_bound": row.lower_bound,
        "nearest_id": row.nearest_id,
        "nearest_source": row.nearest_source,
        "time_to_collision": row.time_to_collision,
        "witness_ego": _pair(row.witness_ego, nan),
        "witness_obstacle": _pair(row.witness_obstacle, nan),
        "direction": _pair(row.direction, 0.0),
    }
    named = row.nearest_id, row.nearest_source
    return Answer(row.verdict, row.status, row.message, *named, results)


def _pair(values: tuple[float, ...], missing: float) -> tuple[float, float]:
    x, y = values or (missing, missing)
    return x, y
