# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings that rosbags does not read: what can be read is copied.

That is the part before the break of a recording without an end, or with a damaged part; and what
is in CDR beside channels in another encoding.

If a recorder crashes, an mcap file has no index, and a folder has no metadata.yaml. rosbags reads
only complete files. So the messages before the break are copied to a complete bag. A message that
is not complete is never copied.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import yaml
from rosbags.rosbag2 import Reader

__all__ = [
    "CDR",
    "NO_BREAK",
    "STORAGE",
    "SalvageError",
    "advice",
    "damaged_chunk",
    "salvage",
    "text_of",
    "was_closed",
    "without_end",
]

STORAGE = (".mcap", ".db3")

# A log time after those of all messages [ns].
NO_BREAK = 2**64

# Records in a chunk of an mcap file: Schema, Channel, Message. _CHUNK: the chunk itself.
_CHUNK, _IN_CHUNK = b"\x06", (b"\x03", b"\x04", b"\x05")

# The encoding of messages in ROS 2, and the encodings of their definitions that rosbags knows.
CDR, _DEFINITIONS = "cdr", ("ros2msg", "ros2idl", "omgidl")

_TABLES = ("schema", "topics", "message_definitions", "messages")  # the messages are the last


class SalvageError(Exception):
    """There is no part of a bag that can be copied. The message says why, and what to do."""


def salvage(bag: Path, folder: Path, left_out: dict[str, str]) -> tuple[Path, str, int]:
    """Copy the part of a bag before its break, without what is not in CDR.

    Parameters
    ----------
    bag : Path
        Folder or file of the bag.
    folder : Path
        Empty folder for the copy. Files that are complete are links.
    left_out : dict
        Topics and definitions of types that are not copied are added, with their encoding.

    Returns
    -------
    Path, str, int
        The copy, what is wrong with the bag, and the log time of the break [ns]: later messages
        of the copy must not be used. Empty: nothing is known to be wrong.

    Raises
    ------
    SalvageError
        There is no part before the break, or the order of the files is not known.
    Exception
        Nothing can be read. Damaged files can raise any error.
    """
    if bag.is_file():
        return *_copied(bag, folder, left_out), NO_BREAK
    if _has_metadata(bag):
        return folder, *_copy_files(bag, folder, left_out)
    files = sorted(each for each in bag.iterdir() if each.suffix in STORAGE)
    if len(files) != 1:
        text = f"metadata.yaml is missing or damaged, and there are {len(files)} files"
        raise SalvageError(f"{text}; make it with 'ros2 bag reindex FOLDER'")
    copy, wrong = _copied(files[0], folder, left_out)
    wrong = "; ".join(filter(None, ("metadata.yaml is missing or damaged", wrong)))
    return copy, wrong, NO_BREAK


def _copy_files(bag: Path, folder: Path, left_out: dict[str, str]) -> tuple[str, int]:
    """Copy the files of a bag; return what is wrong with the one that breaks first, and when.

    Messages after the log time of the break [ns] must not be used, because data is missing there.
    If nothing of a file can be read, and metadata.yaml does not say when it begins, the break is
    the end of the files that are listed before it.
    """
    described = yaml.safe_load((bag / "metadata.yaml").read_text("utf-8"))
    about = described["rosbag2_bagfile_information"]
    names: list[str] = about["relative_file_paths"]
    listed = {each.get("path"): each for each in about.get("files", ())}
    begins, before = dict[str, int](), -1
    last, wrong = NO_BREAK, ""
    for name in names:
        try:
            copy, why = _copied(bag / name, folder, left_out)
            with Reader(copy) as reader:
                begin, end = reader.start_time, reader.end_time - 1
            if why and not begin <= end:  # the break is before the first message
                raise SalvageError(why)
            begins[name], before = begin, max(before, end)
        except ModuleNotFoundError:
            raise
        except Exception as error:  # a damaged file can raise any error
            why = text_of(error)
            why = why if why.startswith(name) else f"{name}: {why}"
            end = before
            if name in listed:
                end = listed[name]["starting_time"]["nanoseconds_since_epoch"] - 1
        if why and end < last:
            last, wrong = end, why
    kept = [name for name in names if begins.get(name, NO_BREAK) <= last]
    if wrong and not kept:
        raise SalvageError(f"{wrong}; {advice(bag)}")
    if later := sum(begin > last for begin in begins.values()):
        wrong += f"; files that begin after the break, {later} of {len(names)}, are not used"
    about["relative_file_paths"] = kept
    about["files"] = [each for each in about.get("files", ()) if each.get("path") in kept]
    topics = [(each, each["topic_metadata"]) for each in about["topics_with_message_count"]]
    formats = {own["name"]: own["serialization_format"] for _, own in topics}
    left_out |= {name: kind for name, kind in formats.items() if kind != CDR}
    about["topics_with_message_count"] = [
        each for each, own in topics if own["serialization_format"] == CDR
    ]
    (folder / "metadata.yaml").write_text(yaml.safe_dump(described), "utf-8")
    return wrong, last


def text_of(error: Exception) -> str:
    """Return the message of an error, or its type if it has none."""
    return f"{error}" if str(error) else type(error).__name__


def advice(bag: Path) -> str:
    """Return how to repair a bag, for the message of an error."""
    files = sorted(bag.glob("*.mcap")) if bag.is_dir() else [bag]
    if files and files[0].suffix == ".mcap":
        return "repair it with 'mcap recover FILE.mcap -o NEW.mcap'"
    # Not .recover: sqlite3 3.40.1 ends it with "SQL logic error" for each recording.
    text = """repair it with 'sqlite3 FILE.db3 ".clone NEW.db3"'"""
    return f"{text}, then 'ros2 bag reindex -s sqlite3 FOLDER'"


def without_end(file: Path) -> str:
    """Return why an SQLite file seems not to be complete; empty: it is, or it is not SQLite."""
    with file.open("rb") as opened:
        header = opened.read(100)
    if not header.startswith(b"SQLite format 3"):
        return ""
    page, pages = _page_size(header), int.from_bytes(header[28:32], "big")
    size = file.stat().st_size
    if size < page * pages:  # SQLite would read zeros in place of the missing part
        return f"{file.name} is truncated: it has {size} of {page * pages} bytes"
    for end in ("-wal", "-journal"):
        other = file.with_name(file.name + end)
        if other.is_file() and other.stat().st_size:
            return f"{file.name} was not closed: messages in {other.name} are not read"
    return ""


def damaged_chunk(file: Path) -> str:
    """Return which chunk of a complete mcap file is damaged; empty: none is known to be.

    rosbags finds damage in a chunk with compression or with a checksum when it reads the chunk.
    Of another chunk it silently skips what is no record, such as zeros.
    """
    from mcap.reader import make_reader

    with file.open("rb") as opened:
        summary = make_reader(opened).get_summary()
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
    return any(head[33:37]) or _are_records(file, begin + 49, begin + length)


def _are_records(file: BinaryIO, place: int, end: int) -> bool:
    """Return whether the bytes from `place` to `end` are the records of a chunk."""
    while place < end:
        file.seek(place)
        record = file.read(9)
        place += 9 + int.from_bytes(record[1:], "little")
        if record[:1] not in _IN_CHUNK:
            return False
    return place == end


def was_closed(file: Path) -> bool:
    """Return whether the recorder has noted the end of an SQLite file, there or beside it."""
    if _has_metadata(file.parent):
        return True
    with closing(_opened(file)) as data:
        tables = {name for (name,) in data.execute("SELECT name FROM sqlite_master")}
        return "metadata" in tables and bool(data.execute("SELECT 1 FROM metadata").fetchone())


def _has_metadata(folder: Path) -> bool:
    try:
        return "rosbag2_bagfile_information" in (folder / "metadata.yaml").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _copied(file: Path, folder: Path, left_out: dict[str, str]) -> tuple[Path, str]:
    """Link a file if it is complete, otherwise copy its part before the break."""
    target = folder / file.name
    wrong = without_end(file)
    if not wrong:
        try:
            with Reader(file):
                if file.suffix != ".mcap" or not damaged_chunk(file):
                    target.symlink_to(file.resolve())
                    return target, ""
        except Exception:  # a damaged file can raise any error
            pass
    copy = _copy_mcap if file.suffix == ".mcap" else _copy_sqlite
    found = copy(file, target, left_out)
    return target, wrong or (f"{file.name}: {found}" if found else "")


def _copy_mcap(file: Path, target: Path, left_out: dict[str, str]) -> str:
    """Copy the messages of an mcap file before its break; return what the break is."""
    from mcap.records import Channel, Header, Message, Schema
    from mcap.stream_reader import StreamReader
    from mcap.writer import CompressionType, Writer

    schemas, channels, unknown = {0: 0}, dict[int, int](), dict[int, Schema]()
    with file.open("rb") as opened, target.open("wb") as written:
        writer: Any = Writer(written, compression=CompressionType.NONE)
        source: Any = _Exact(opened)
        try:
            for record in _records(StreamReader(source, emit_chunks=True, validate_crcs=True)):
                if isinstance(record, Header):
                    writer.start("ros2", record.library)
                elif isinstance(record, Schema) and record.id not in schemas:
                    is_known = record.encoding in ("", *_DEFINITIONS)
                    given = (record.encoding, record.data) if is_known else ("", b"")
                    schemas[record.id] = writer.register_schema(record.name, *given)
                    if not is_known:
                        unknown[record.id] = record
                elif isinstance(record, Channel) and record.message_encoding != CDR:
                    left_out[record.topic] = record.message_encoding
                elif isinstance(record, Channel) and record.id not in channels:
                    if (own := unknown.get(record.schema_id)) is not None:
                        left_out[own.name] = f"definition in {own.encoding}"
                    channels[record.id] = writer.register_channel(
                        record.topic,
                        record.message_encoding,
                        schemas[record.schema_id],
                        record.metadata,
                    )
                elif isinstance(record, Message) and record.channel_id in channels:
                    writer.add_message(
                        channels[record.channel_id],
                        record.log_time,
                        record.data,
                        record.publish_time,
                        record.sequence,
                    )
        except Exception as error:
            return text_of(error)
        finally:
            writer.finish()
    return ""


def _records(reader: Any) -> Iterator[Any]:
    """Yield the records of an mcap file, including those in chunks."""
    from mcap.records import Chunk
    from mcap.stream_reader import breakup_chunk

    for record in reader.records:
        if not isinstance(record, Chunk):
            yield record
            continue
        if not record.compression and not _are_records(BytesIO(record.data), 0, len(record.data)):
            raise ValueError(f"the chunk from log time {record.message_start_time} ns is damaged")
        yield from breakup_chunk(record, validate_crc=True)


class _Exact:
    """A file whose read fails where the file ends early, or where a record begins with zeros.

    The reader of mcap accepts both.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes."""
        position = self._file.tell()
        found = self._file.read(size)
        if len(found) != size:
            raise EOFError(f"the file ends inside a record that begins at byte {position}")
        if found == b"\0":  # only the type of a record has one byte
            raise ValueError(f"there is no record at byte {position}")
        return found


def _copy_sqlite(file: Path, target: Path, left_out: dict[str, str]) -> str:
    """Copy the messages of an SQLite file before its break; return what the break is."""
    with file.open("rb") as opened:
        page = _page_size(opened.read(100))
    rest = file.stat().st_size % page
    if rest:  # the missing part of the last page would be read as zeros
        whole = target.with_suffix(".part")
        shutil.copyfile(file, whole)
        with whole.open("r+b") as opened:
            opened.truncate(file.stat().st_size - rest)
        file = whole
    with closing(_opened(file)) as old, closing(sqlite3.connect(target)) as new:
        old.execute("PRAGMA writable_schema = ON")  # otherwise a file that is too short is refused
        created = dict(old.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        for name in filter(created.__contains__, _TABLES):
            new.execute(created[name])
        new.execute("CREATE INDEX timestamp_idx ON messages (timestamp ASC)")
        for name in filter(created.__contains__, _TABLES[:-1]):
            _copy_table(name, old, new)
        if "message_definitions" in created:
            condition = f"encoding NOT IN ({', '.join('?' * len(_DEFINITIONS))})"
            found = new.execute(
                f"SELECT topic_type, encoding FROM message_definitions WHERE {condition}",
                _DEFINITIONS,
            )
            left_out |= {name: f"definition in {kind}" for name, kind in found}
            new.execute(f"DELETE FROM message_definitions WHERE {condition}", _DEFINITIONS)
        topics = new.execute("SELECT name, serialization_format FROM topics")
        left_out |= {name: kind for name, kind in topics if kind != CDR}
        wrong = ""
        try:
            _copy_table(_TABLES[-1], old, new)
        except sqlite3.DatabaseError as error:
            wrong = str(error)
        new.commit()
    return wrong


def _copy_table(name: str, old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    for row in old.execute(f"SELECT * FROM {name}"):
        new.execute(f"INSERT INTO {name} VALUES ({','.join('?' * len(row))})", row)


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def _page_size(header: bytes) -> int:
    given = int.from_bytes(header[16:18], "big")
    return 65536 if given == 1 else given
