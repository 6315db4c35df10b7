# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that hold more than messages in CDR: a copy without the rest, which rosbags reads."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml

__all__ = ["CDR", "without_foreign"]

# The encoding of messages in ROS 2, and the encodings of their definitions that rosbags knows. A
# recorder that does not find a definition writes another one.
CDR, _DEFINITIONS = "cdr", ("", "ros2msg", "ros2idl", "omgidl")


def without_foreign(bag: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """Copy a bag without topics that are not in CDR and without definitions that are not of ROS 2.

    Parameters
    ----------
    bag : Path
        Folder or file of the bag, complete.
    folder : Path
        Empty folder for the copy.

    Returns
    -------
    Path, dict
        The copy; topics and definitions that it does not have -> their encoding.
    """
    left_out = dict[str, str]()
    names = [bag.name]
    if bag.is_dir():
        described = yaml.safe_load((bag / "metadata.yaml").read_text("utf-8"))
        about = described["rosbag2_bagfile_information"]
        names = about["relative_file_paths"]
        formats = {
            each["topic_metadata"]["name"]: each["topic_metadata"]["serialization_format"]
            for each in about["topics_with_message_count"]
        }
        left_out |= {name: kind for name, kind in formats.items() if kind != CDR}
        about["topics_with_message_count"] = [
            each
            for each in about["topics_with_message_count"]
            if each["topic_metadata"]["name"] not in left_out
        ]
        (folder / "metadata.yaml").write_text(yaml.safe_dump(described), "utf-8")
    for name in names:
        source = bag / name if bag.is_dir() else bag
        copy = _copy_mcap if source.suffix == ".mcap" else _copy_sqlite
        copy(source, folder / name, left_out)
    return folder if bag.is_dir() else folder / bag.name, left_out


def _copy_mcap(source: Path, target: Path, left_out: dict[str, str]) -> None:
    from mcap.reader import make_reader
    from mcap.writer import CompressionType, Writer

    channels = dict[int, int]()
    with source.open("rb") as opened, target.open("wb") as written:
        reader: Any = make_reader(opened)
        writer: Any = Writer(written, compression=CompressionType.NONE)
        writer.start(reader.get_header().profile, reader.get_header().library)
        for schema, channel, message in reader.iter_messages():
            if channel.message_encoding != CDR:
                left_out[channel.topic] = channel.message_encoding
                continue
            if channel.id not in channels:
                is_known = schema is not None and schema.encoding in _DEFINITIONS
                if schema is not None and not is_known:
                    left_out[schema.name] = f"definition in {schema.encoding}"
                given = (schema.encoding, schema.data) if is_known else ("", b"")
                own = 0 if schema is None else writer.register_schema(schema.name, *given)
                channels[channel.id] = writer.register_channel(
                    channel.topic, CDR, own, channel.metadata
                )
            times = message.log_time, message.data, message.publish_time, message.sequence
            writer.add_message(channels[channel.id], *times)
        writer.finish()


def _copy_sqlite(source: Path, target: Path, left_out: dict[str, str]) -> None:
    shutil.copyfile(source, target)
    where = f"WHERE encoding NOT IN ({', '.join('?' * len(_DEFINITIONS))})"
    with closing(sqlite3.connect(target)) as data:
        tables = {name for (name,) in data.execute("SELECT name FROM sqlite_master")}
        if "message_definitions" in tables:
            found = data.execute(
                f"SELECT topic_type, encoding FROM message_definitions {where}", _DEFINITIONS
            )
            left_out |= {name: f"definition in {kind}" for name, kind in found}
            data.execute(f"DELETE FROM message_definitions {where}", _DEFINITIONS)
        topics = data.execute("SELECT name, serialization_format FROM topics")
        left_out |= {name: kind for name, kind in topics if kind != CDR}
        data.commit()
