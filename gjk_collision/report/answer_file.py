# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answers of a replay as an mcap file, for Foxglove and `ros2 bag play`.

The messages have the types and the meaning of those that the node publishes. Their log times are
those of the replayed bag, so that both files can be shown together.
"""

from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.figures import VERDICT_COLOURS, rgb
from ..replay.drive import Drive
from ..replay.interfaces import typestore
from ..replay.rows import Row
from ..server.answers import Answer, StateAnswer
from ..server.drawing import HEIGHT, LIFETIME, WIDTH, Label, Lines, drawing
from ..server.frames import Pose
from ..verdict import Verdict

__all__ = ["MARKERS", "STATE", "AnswerFile"]

# Topic -> message type.
STATE = "/replay/state", "gjk_collision/msg/CollisionState"
MARKERS = "/replay/markers", "visualization_msgs/msg/MarkerArray"

# visualization_msgs/msg/Marker
LINE_LIST, TEXT_VIEW_FACING, ADD, DELETEALL = 5, 9, 0, 3


class AnswerFile:
    """An mcap file that is open for writing.

    Parameters
    ----------
    path : Path
        The file to write. It must not exist.
    """

    def __init__(self, path: Path) -> None:
        from mcap.writer import Writer

        self._store = typestore()
        self._types: Any = self._store.types
        self._file = path.open("xb")
        self._writer: Any = Writer(self._file)
        self._writer.start(profile="ros2", library="gjk_collision")
        self._channels = {each: self._channel(*each) for each in (STATE, MARKERS)}
        colour = self._types["std_msgs/msg/ColorRGBA"]
        self._colours = {each: colour(*rgb(VERDICT_COLOURS[each]), 1.0) for each in Verdict}
        self._count = 0
        self._no_bytes = np.zeros(0, np.uint8)

    def close(self) -> None:
        """Write the index, and close the file."""
        self._writer.finish()
        self._file.close()

    def add(self, t: float, row: Row, drive: Drive) -> None:
        """Write the answer `row` of a replay; `t` is not used, the log time is that of the row."""
        self._count += 1
        self._write(STATE, row, self._state(row, drive))
        ego = Pose(*row.ego) if row.ego else None
        drawn = drawing(drive.snapshot, ego, _answer(row))
        header = self._header(row, drive)
        markers = [self._marker(header, "", 0, 0, Verdict.UNKNOWN, 0.0, action=DELETEALL)]
        for number, part in enumerate(drawn):
            if isinstance(part, Lines):
                markers.append(self._lines(header, number, part))
            else:
                markers.append(self._text(header, number, part))
        self._write(MARKERS, row, self._types[MARKERS[1]](markers))

    def _channel(self, topic: str, kind: str) -> int:
        package, _, name = kind.split("/")
        text, _ = self._store.generate_msgdef(kind, ros_version=2)
        schema = self._writer.register_schema(f"{package}/msg/{name}", "ros2msg", text.encode())
        channel: int = self._writer.register_channel(topic, "cdr", schema)
        return channel

    def _write(self, channel: tuple[str, str], row: Row, message: Any) -> None:
        data = bytes(self._store.serialize_cdr(message, channel[1]))
        self._writer.add_message(self._channels[channel], row.time, data, row.time, self._count)

    # ---- messages

    def _header(self, row: Row, drive: Drive) -> Any:
        frame = drive.snapshot.config.check_frame
        return self._types["std_msgs/msg/Header"](self._time(row.now), frame)

    def _time(self, nanoseconds: int) -> Any:
        return self._types["builtin_interfaces/msg/Time"](*divmod(nanoseconds, 10**9))

    def _point(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Any:
        return self._types["geometry_msgs/msg/Point"](x, y, z)

    def _vector(self, x: float, y: float, z: float) -> Any:
        return self._types["geometry_msgs/msg/Vector3"](x, y, z)

    def _state(self, row: Row, drive: Drive) -> Any:
        snapshot, own = drive.snapshot, "gjk_collision/msg/"
        header, found = self._header(row, drive), _answer(row)
        info = self._types[own + "ReplyInfo"](
            header=header,
            snapshot_id=row.snapshot_id,
            oldest_data_stamp=self._time(snapshot.oldest_data_stamp),
            footprint_age=row.footprint_age,
            max_obstacle_age=row.obstacle_age,
            bad_sources=list(row.bad_sources),
            config_hash=snapshot.config.hash,
            compute_time=nan,  # so that the file is the same in every run
            footprint=snapshot.footprint_name if snapshot.footprint is not None else "",
        )
        return self._types[STATE[1]](
            header=header,
            counter=self._count,
            verdict=self._types[own + "Verdict"](int(row.verdict), int(row.status), row.message),
            info=info,
            distance=row.distance,
            distance_lower_bound=row.lower_bound,
            time_to_collision=row.time_to_collision,
            nearest_id=row.nearest_id,
            nearest_source=row.nearest_source,
            witness_ego=self._point(*found.witness_ego),
            witness_obstacle=self._point(*found.witness_obstacle),
            direction=self._vector(*found.direction, 0.0),
            snapshot_sequence=0,
        )

    def _lines(self, header: Any, number: int, lines: Lines) -> Any:
        return self._marker(
            header,
            lines.name,
            number,
            LINE_LIST,
            lines.verdict,
            WIDTH,
            points=[self._point(x, y) for x, y in lines.segments.reshape(-1, 2).tolist()],
            colors=[self._colours[verdict] for verdict in lines.verdicts for _ in range(2)],
        )

    def _text(self, header: Any, number: int, label: Label) -> Any:
        where = self._point(label.x, label.y, 2.0)
        kind, verdict = TEXT_VIEW_FACING, Verdict.MARGIN
        return self._marker(
            header, "warning", number, kind, verdict, HEIGHT, where=where, text=label.text
        )

    def _marker(
        self,
        header: Any,
        namespace: str,
        number: int,
        kind: int,
        verdict: Verdict,
        size: float,
        *,
        action: int = ADD,
        where: Any = None,
        text: str = "",
        points: list[Any] | None = None,
        colors: list[Any] | None = None,
    ) -> Any:
        types, geometry = self._types, "geometry_msgs/msg/"
        rotation = types[geometry + "Quaternion"](0.0, 0.0, 0.0, 1.0)
        empty = types["std_msgs/msg/Header"](self._time(0), "")
        return types["visualization_msgs/msg/Marker"](
            header=header,
            ns=namespace,
            id=number,
            type=kind,
            action=action,
            pose=types[geometry + "Pose"](where or self._point(), rotation),
            scale=self._vector(size, 0.0, size),
            color=self._colours[verdict],
            lifetime=types["builtin_interfaces/msg/Duration"](LIFETIME, 0),
            frame_locked=False,
            points=points or [],
            colors=colors or [],
            texture_resource="",
            texture=types["sensor_msgs/msg/CompressedImage"](empty, "", self._no_bytes),
            uv_coordinates=[],
            text=text,
            mesh_resource="",
            mesh_file=types["visualization_msgs/msg/MeshFile"]("", self._no_bytes),
            mesh_use_embedded_materials=False,
        )


def _answer(row: Row) -> StateAnswer:
    """Return the answer of the heartbeat that a row was made from."""
    answer = Answer(
        row.verdict,
        row.status,
        row.message,
        nearest_id=row.nearest_id,
        nearest_source=row.nearest_source,
    )
    return StateAnswer(
        answer,
        row.distance,
        row.lower_bound,
        row.time_to_collision,
        _pair(row.witness_ego, nan),
        _pair(row.witness_obstacle, nan),
        _pair(row.direction, 0.0),
    )


def _pair(values: tuple[float, ...], missing: float) -> tuple[float, float]:
    x, y = values or (missing, missing)
    return x, y
