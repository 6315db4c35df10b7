# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the replay tests share: a case run into a folder, its rows, a drive with requests."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from write_scenarios import CAR, Road, at, steps, thing

from gjk_collision.replay.case import Case
from gjk_collision.replay.golden import read_rows
from gjk_collision.replay.interfaces import message, typestore
from gjk_collision.replay.rows import Row
from gjk_collision.replay.write import BagWriter, Storage
from gjk_collision.report.outcome import Outcome, Result
from gjk_collision.report.run import Options, run
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Verdict

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def replay(
    bag: Path, out: Path, name: str = "drive", golden: Path | None = None, **fields: Any
) -> Result:
    """Replay a bag without its page."""
    parameters = fields.pop("parameters", {})
    case = Case(name, bag, Config.from_parameters(parameters), **fields)
    return run(case, out, Options(golden, page=False))


def rows_of(out: Path, name: str = "drive") -> list[Row]:
    return list(read_rows(out / name / "results.jsonl"))


def broken(bag: Path, out: Path, *words: str, **fields: Any) -> Result:
    """Check that a replay ends as broken, with these words in its first failure."""
    result = replay(bag, out, **fields)
    assert result.outcome is Outcome.BROKEN
    assert all(each in result.failures[0] for each in words), result.failures
    return result


def car_ahead(road: Road, t: float) -> None:
    road.obstacles(t, [thing(CAR, 20.0, 0.0)])


def drive(
    path: Path,
    each: Callable[[Road, float], object] = car_ahead,
    seconds: float = 1.0,
    end: Callable[[Road], object] = lambda road: None,
    storage: Storage = "mcap",
) -> Path:
    """Write a drive of a vehicle that stands; `each` writes the rest of a step, `end` the end."""
    with BagWriter(path, storage) as writer:
        road = Road(writer)
        for t in steps(seconds):
            road.ego(t)
            each(road, t)
        end(road)
    return path


def bag_of(path: Path, parts: Iterable[Path]) -> Path:
    """Make one bag of the files of several bags, listed in this order."""
    path.mkdir()
    found = [yaml.safe_load((part / "metadata.yaml").read_text()) for part in parts]
    abouts = [each["rosbag2_bagfile_information"] for each in found]
    topics: dict[str, Any] = {}
    for about, part in zip(abouts, parts, strict=True):
        for name in about["relative_file_paths"]:
            shutil.copy(part / name, path / name)
        for each in about["topics_with_message_count"]:
            first = topics.setdefault(each["topic_metadata"]["name"], each)
            if first is not each:
                first["message_count"] += each["message_count"]
    about = abouts[0]
    about["relative_file_paths"] = [each["relative_file_paths"][0] for each in abouts]
    about["message_count"] = sum(each["message_count"] for each in abouts)
    about["topics_with_message_count"] = list(topics.values())
    about["files"] = []
    (path / "metadata.yaml").write_text(yaml.safe_dump(found[0]))
    return path


def define(writer: BagWriter, types: dict[str, Any]) -> None:
    """Have the writer use these definitions in the place of those of the same names."""
    writer._store = typestore(types)
    writer.types = dict(writer._store.types)


def write_undefined(
    writer: BagWriter, topic: str, kind: str, time: int, data: bytes, definition: str = ""
) -> None:
    """Write a message whose definition the bag does not have, or has in another form.

    rosbag2 recorded service events without definitions before its version 0.26.8.
    """
    key = topic, kind
    if key not in writer._connections:
        added = writer._writer.add_connection(*key, msgdef=definition, rihs01="RIHS01_0")
        writer._connections[key] = added
    writer._writer.write(writer._connections[key], time, data)


def with_requests(
    path: Path,
    recorded: Verdict,
    interpolation: int = 1,
    spellings: tuple[str, str] = ("srv", "srv"),
    storage: Storage = "mcap",
    stamp_and_frame: tuple[int, str] = (0, "odom"),
    replied: float = 0.52,
    required: int = 0,
    is_standing: bool = False,
) -> None:
    """A drive with four requests at 0.51 s, one reply, and a request without content at 0.6 s.

    The requests of the client come first, as it recorded them. `spellings` are those of the
    types of requests and replies: "srv" as rosbag2 writes them, "srv/msg" as rosbags does.
    `is_standing`: the path has one arc of length zero. The frame of the lidar is that of odom; its
    transforms come a step of 0.05 s late.
    """
    service = "gjk_collision/srv/msg/"
    way: dict[str, Any] = {"poses": np.array([0.0, 0.0, 0.0, 20.0, 0.0, 0.0])}
    if is_standing:
        way = {"poses": np.zeros(3), "times": np.array([0.0, 0.1]), "arcs": np.zeros(2)}
    with BagWriter(path, storage) as writer:
        road, store = Road(writer), writer._store
        header = writer.header(*stamp_and_frame)
        place = {"position": (10.0, 0.0), "orientation": {"w": 1.0}}
        pose = {"header": header, "pose": place}
        rows = np.array([0.0, 0.0, 0.0, 10.0, 0.0, 0.0])
        fields: dict[str, dict[str, Any]] = {
            "Collide": {"pose": pose},
            "Distance": {"pose": pose, "k": 1},
            "CheckPoses": {
                "header": header, "poses": rows, "mode": 1, "require_snapshot_id": required
            },
            "CheckPath": {"header": header, "interpolation": interpolation, **way},
        }  # fmt: skip
        requests = {
            name: message(store, f"{service}{name}_Request", **given)
            for name, given in fields.items()
        }
        answer = {"verdict": int(recorded), "status": 1}
        about = {"header": header, "snapshot_id": 1}
        reply = message(
            store, f"{service}Collide_Response", verdict=answer, info=about, obstacle_id=-1
        )
        gid = np.arange(16, dtype=np.uint8)

        def event(name: str, t: float, kind: int, request: Any, response: Any, seq: int) -> None:
            info = {"event_type": kind, "client_gid": gid, "sequence_number": seq}
            internal = f"{service}{name}_Event"
            made = message(store, internal, info=info, request=request, response=response)
            topic = f"/collision_server/{name.lower()}/_service_event"
            if spellings[bool(response)] == "srv/msg":
                writer.write(topic, internal, at(t), made)
                return
            data = bytes(store.serialize_cdr(made, internal))
            write_undefined(writer, topic, f"gjk_collision/srv/{name}_Event", at(t), data)

        for t in steps(1.0):
            road.ego(t)
            road.obstacles(t, [thing(CAR, 10.0, 0.0)])
            writer.transform(at(t - 0.05), Pose(), "odom", "lidar", log=at(t))
            if t == 0.5:
                event("Collide", t + 0.005, 0, [requests["Collide"]], [], 0)
                for seq, (name, request) in enumerate(requests.items()):
                    event(name, t + 0.01, 1, [request], [], seq)
            if abs(t - replied) <= 0.025:
                event("Collide", replied, 2, [], [reply], 0)
            if t == 0.6:
                event("Collide", t, 1, [], [], 9)


def rewritten(
    source: Path, target: Path, *options: Any, first: Callable[[Any], object] = id, **more: Any
) -> None:
    """Write the messages of an mcap file anew, as the options of the writer say.

    `first` is called with the writer, before these messages are written.
    """
    from mcap.reader import make_reader
    from mcap.writer import Writer

    with source.open("rb") as read, target.open("wb") as write:
        writer = Writer(write, *options, **more)
        writer.start("ros2")
        first(writer)
        channels: dict[int, int] = {}
        for schema, channel, message in make_reader(read).iter_messages():
            assert schema is not None
            if channel.id not in channels:
                key = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.id] = writer.register_channel(
                    channel.topic, "cdr", key, channel.metadata
                )
            own = channels[channel.id]
            writer.add_message(own, message.log_time, message.data, message.publish_time)
        writer.finish()
