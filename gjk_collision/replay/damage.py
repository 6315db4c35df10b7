# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are not complete: what is wrong with them, and what to do.

Some damage is not found by the readers of mcap and SQLite: they skip it, or read zeros in its
place. Answers without this data would be those of silent sensors.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import yaml

__all__ = ["STORAGE", "advice", "damage", "text_of"]

STORAGE = (".mcap", ".db3")

# The first bytes of a file, by its suffix.
_BEGINS = {".mcap": b"\x89MCAP0\r\n", ".db3": b"SQLite format 3"}

# Records in a chunk of an mcap file: Schema, Channel, Message. _CHUNK: the chunk itself.
_CHUNK, _IN_CHUNK = b"\x06", (b"\x03", b"\x04", b"\x05")


def damage(bag: Path) -> str:
    """Return why a bag cannot be read to its end, and what to do; empty: nothing is known."""
    if not bag.is_dir():
        return _file_damage(bag) or _without_note(bag)
    again = "make it again with 'ros2 bag reindex FOLDER'"
    try:
        about = yaml.safe_load((bag / "metadata.yaml").read_text("utf-8"))
        names = [str(each) for each in about["rosbag2_bagfile_information"]["relative_file_paths"]]
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError, RecursionError):
        return f"metadata.yaml is missing or damaged; {again}"
    if missing := [name for name in names if not (bag / name).exists()]:
        text = f"{missing[0]} of metadata.yaml is not there"
        return f"{text}; put it back, or delete metadata.yaml and {again}"
    return next(filter(None, (_file_damage(bag / name) for name in names)), "")


def advice(bag: Path) -> str:
    """Return how to repair a bag that cannot be read, for the message of an error."""
    files = sorted(bag.iterdir()) if bag.is_dir() else [bag]
    if any(each.suffix == ".zstd" for each in files):
        return "decompress its files with 'zstd -d', then 'ros2 bag reindex FOLDER'"
    if any(each.suffix == ".mcap" for each in files):
        return "repair it with 'mcap recover FILE.mcap -o NEW.mcap'"
    # Not .recover: sqlite3 3.40.1 ends it with "SQL logic error" for each recording.
    text = """repair it with 'sqlite3 FILE.db3 ".clone NEW.db3"'"""
    return f"{text}, then 'ros2 bag reindex -s sqlite3 FOLDER'"


def text_of(error: Exception) -> str:
    """Return the message of an error, or its type if it has none."""
    return f"{error}" if str(error) else type(error).__name__


def _file_damage(file: Path) -> str:
    """Return what is wrong with one file, and what to do."""
    if file.suffix not in STORAGE:  # it is compressed, or it has a name that rosbags refuses
        return ""
    with file.open("rb") as opened:
        head = opened.read(100)
    if head.startswith(b"version https://git-lfs"):
        return f"{file.name} is a pointer of Git LFS; get the file with 'git lfs pull'"
    if not head:
        return f"{file.name} is empty; use a copy of it, or leave it out of the bag"
    if len(head) >= 16 and not head.startswith(_BEGINS[file.suffix]):
        other = next((end for end, begin in _BEGINS.items() if head.startswith(begin)), "")
        text = f"{file.name} is no {file.suffix} file"
        return f"{text}; give it the suffix {other}" if other else f"{text}; use a copy of it"
    wrong = _without_end(file, head) if file.suffix == ".db3" else _damaged_chunk(file)
    return f"{wrong}; {advice(file)}" if wrong else ""


def _without_end(file: Path, header: bytes) -> str:
    """Return why an SQLite file seems not to be complete; empty: it is."""
    given = int.from_bytes(header[16:18], "big")
    page, pages = 65536 if given == 1 else given, int.from_bytes(header[28:32], "big")
    size = file.stat().st_size
    if size < page * pages:  # SQLite would read zeros in place of the missing part
        return f"{file.name} is truncated: it has {size} of {page * pages} bytes"
    for end in ("-wal", "-journal"):
        other = file.with_name(file.name + end)
        if other.is_file() and other.stat().st_size:
            return f"{file.name} was not closed: messages in {other.name} are not read"
    return ""


def _damaged_chunk(file: Path) -> str:
    """Return which chunk of a complete mcap file is damaged; empty: none is known to be.

    rosbags finds damage in a chunk with compression or with a checksum when it reads the chunk.
    Of another chunk it silently skips what is no record, such as zeros.
    """
    from mcap.reader import make_reader

    with file.open("rb") as opened:
        try:
            summary = make_reader(opened).get_summary()
        except Exception as error:  # a damaged file can raise any error
            return f"{file.name} has no end that can be read: {text_of(error)}"
        chunks = () if summary is None else summary.chunk_indexes
        for chunk in sorted(chunks, key=lambda each: each.chunk_start_offset):
            begin = chunk.chunk_start_offset
            if not chunk.compression and not _is_whole(opened, begin, chunk.chunk_length):
                return f"{file.name}: the chunk at byte {begin} is damaged"
    return ""


def _is_whole(file: BinaryIO, begin: int, length: int) -> bool:
    """Return whether the uncompressed chunk at a byte consists of records."""
    file.seek(begin)
    head = file.read(49)  # type, length, two times, size, checksum, compression, size
    if head[:1] != _CHUNK or int.from_bytes(head[1:9], "little") != length - 9:
        return False
    place, end = begin + 49, begin + length
    while not any(head[33:37]) and place < end:  # without a checksum
        file.seek(place)
        record = file.read(9)
        place += 9 + int.from_bytes(record[1:], "little")
        if record[:1] not in _IN_CHUNK:
            return False
    return any(head[33:37]) or place == end


def _without_note(file: Path) -> str:
    """Return why an SQLite file without its folder is not known to be complete; empty: it is."""
    if file.suffix != ".db3" or (file.parent / "metadata.yaml").is_file():
        return ""
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as data:
            tables = {name for (name,) in data.execute("SELECT name FROM sqlite_master")}
            if "metadata" in tables and data.execute("SELECT 1 FROM metadata").fetchone():
                return ""
    except sqlite3.Error as error:
        return f"{error}; {advice(file)}"
    text = "its end is not noted in the file, and metadata.yaml is missing"
    return f"{text}; make it with 'ros2 bag reindex -s sqlite3 FOLDER'"
