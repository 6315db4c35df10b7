# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Reader of bags: sqlite3 or mcap, compressed or not, in the order of log time."""

import heapq
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.reader import DirectoryReader

from ..server.adapters import CONVERTERS
from ..server.adapters.updates import UPDATES
from ..server.services import RECORDED
from .damage import STORAGE, advice, damage, text_of
from .file_order import step_back
from .foreign import CDR, without_foreign
from .interfaces import CLOCK, POLYGON_STAMPED, TF_MESSAGE, as_today, defined_types, typestore

__all__ = ["STORAGE", "Bag", "BagError", "Message", "find_bags"]

# First bytes of data that is compressed by zstd. Messages begin with other bytes.
ZSTD = b"\x28\xb5\x2f\xfd"

# A step back of the log time that is noted [ns]. Shorter ones come from the threads of a recorder.
STEP_BACK = 100_000_000

EVENTS = {f"gjk_collision/srv/{name}_Event" for name in RECORDED}
USED = {CLOCK, POLYGON_STAMPED, TF_MESSAGE, *CONVERTERS, *UPDATES, *EVENTS}


class BagError(Exception):
    """A bag cannot be replayed, or not to its end. The message gives the reason."""


@dataclass(slots=True)
class Message:
    """One recorded message.

    Attributes
    ----------
    topic : str
        Name of the topic.
    kind : str
        Message type: package/msg/Name, or package/srv/Name_Event.
    time : int
        Log time [ns].
    data : bytes
        The message in CDR.
    """

    topic: str
    kind: str
    time: int
    data: bytes


class Bag:
    """A bag that is open for reading.

    Parameters
    ----------
    path : Path
        Folder with metadata.yaml, or a single .mcap or .db3 file.

    Attributes
    ----------
    topics : dict
        Topic -> types of its messages. A topic can have several types if recordings were merged.
    counts : Counter
        Topic -> number of messages.
    begin, end : int
        Log time of the first message, and that of the last message + 1 [ns]. If metadata.yaml
        names a longer time, this time.

    Raises
    ------
    BagError
        The path does not exist, it is not a valid bag, or it has no message that can be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._left_out: dict[str, str] = {}  # topics and definitions, with their encoding
        self._folder = TemporaryDirectory(prefix="gjk_collision_")
        try:
            self._reader = self._opened()
        except Exception as error:  # a damaged file can raise any error
            self._folder.cleanup()
            if isinstance(error, ModuleNotFoundError):
                raise
            raise BagError(f"{path.name}: cannot be read as a bag: {text_of(error)}") from error
        if self._is_compressed():
            self.__exit__(None, None, None)
            rule = "its messages are compressed (zstd), described only in metadata.yaml"
            raise BagError(f"{path.name}: {rule}; replay the folder with its metadata.yaml")
        whole = self._reader.storage
        files: list[Any] = whole.storages if isinstance(whole, DirectoryReader) else [whole]
        self._files = sorted(files, key=lambda each: each.metadata.start_time)
        about = [self._reader.storage.metadata, *(each.metadata for each in files)]
        self.begin: int = min(each.start_time for each in about)
        self.end: int = max(each.end_time for each in about)
        others = [each for each in self._reader.connections if _encoding(each) != CDR]
        self._left_out |= {each.topic: _encoding(each) for each in others}
        self._connections = [each for each in self._reader.connections if each not in others]
        if self._reader.message_count <= sum(each.msgcount for each in others) or not files:
            self.__exit__(None, None, None)
            text = "; ".join(filter(None, ("the recording contains no message", self._foreign())))
            raise BagError(f"{path.name}: {text}")
        if not 0 <= self.begin < self.end <= 2**63:
            self.__exit__(None, None, None)
            rule = "log times must be >= 0 and < 2^63 ns"
            text = f"{rule} (got {self.begin} to {self.end - 1} ns)"
            raise BagError(f"{path.name}: {text}; remove the messages with other log times")
        self.topics: dict[str, set[str]] = {}
        self.counts: Counter[str] = Counter()
        for each in self._connections:
            self.topics.setdefault(each.topic, set()).add(_ros_name(each.msgtype))
            self.counts[each.topic] += each.msgcount
        self._own_types = self._defined()
        self._store = typestore(self._own_types)
        self._converted = as_today if self._store is not typestore() else lambda found: found

    def __enter__(self) -> "Bag":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A truncated file can also fail here. The error was reported before.
        with suppress(Exception):
            self._reader.close()
        self._folder.cleanup()

    @property
    def seconds(self) -> float:
        """Duration of the recording [s]."""
        duration: float = (self.end - self.begin) * 1e-9
        return duration

    def messages(self, topics: Iterable[str]) -> Iterator[Message]:
        """Yield the messages of some topics in the order of log time.

        Raises
        ------
        BagError
            The bag is not complete. All messages that could be read were yielded before.
        """
        wanted = set(topics)
        used = [each for each in self._connections if each.topic in wanted]
        expected = sum(each.msgcount for each in used)
        count, time = 0, 0
        if used:
            try:
                for connection, following, data in self._merged(used):
                    if following < time:
                        text = f"the log time {following} ns follows {time} ns"
                        raise BagError(f"the index of a file is wrong: {text}")
                    count, time = count + 1, following
                    kind = _ros_name(connection.msgtype)
                    yield Message(connection.topic, kind, time, data)
            except Exception as error:
                text = f"{text_of(error)}; {advice(self.path)}"
                raise BagError(self._break(text, time)) from error
        if count != expected:
            text = f"truncated or damaged: {count} messages found, but its index lists {expected}"
            text += f"; {advice(self.path)}"
            raise BagError(self._break(text, time))

    def notes(self) -> list[str]:
        """Return notes about log times out of order, and about topics that cannot be read."""
        return [note for note in (self._step_back(), self._overlap(), self._foreign()) if note]

    def can_decode(self, kind: str) -> bool:
        """Return whether the definition of a message type is known, by default or from the bag."""
        return kind in self._store.fielddefs

    def decode(self, message: Message) -> Any:
        """Return the fields of a message. If it cannot be decoded, any exception can be raised.

        A message of this package has the present fields. Those that its definition in the bag does
        not have are 0 or empty.

        Raises
        ------
        BagError
            The bag does not define a type of this package, and the message is not of this version.
        """
        package, middle, name = message.kind.split("/")
        # rosbags stores requests, responses and events of services under names of messages.
        kind = message.kind if middle == "msg" else f"{package}/{middle}/msg/{name}"
        try:
            return self._converted(self._store.deserialize_cdr(message.data, kind))
        except Exception as error:
            if package != "gjk_collision" or kind in self._own_types:
                raise
            text = f"{message.kind} is not defined in the bag, and differs from this version"
            rule = "replay with the version that recorded it; 0.12.0 reads all recordings before"
            raise BagError(f"{text}: {rule}") from error

    def _merged(self, used: Sequence[Any]) -> Iterator[Any]:
        """Yield connection, log time and data of the messages of all files by log time.

        For equal log times, the file that begins first is the first.
        """
        return (
            each
            for each in heapq.merge(
                *(self._of_file(file, used) for file in self._files), key=itemgetter(1)
            )
            if each[0] is not None
        )

    def _of_file(self, file: Any, used: Sequence[Any]) -> Iterator[tuple[Any, int, bytes]]:
        """Yield the messages of one file, after its first log time without a message.

        So its data is not read before its time, and the memory is that of the files that overlap.
        """
        yield None, file.metadata.start_time, b""
        whole = self._reader.storage
        if isinstance(whole, DirectoryReader):
            whole = copy(whole)
            whole.storages = [file]
        yield from whole.messages(used)

    def _step_back(self) -> str:
        """Return a note if log times are not in the order of a file; empty: they are."""
        for file in self._files:
            by, time = 0, 0
            with suppress(Exception):  # a damaged file can raise any error, and is reported
                by, time = step_back(file.path)
            if by > STEP_BACK:
                t = (time - self.begin) * 1e-9
                return (
                    f"log times are not in the order of {file.path.name}: they go back by "
                    f"{by * 1e-9:.3f} s, to {t:.3f} s. The messages are read in the order of log "
                    "time, which is not that of the recording"
                )
        return ""

    def _foreign(self) -> str:
        """Return a note about what is not in an encoding of ROS 2; empty: there is nothing."""
        names = ", ".join(f"{name} ({kind})" for name, kind in sorted(self._left_out.items()))
        rule = "left out, because only messages in cdr and their definitions for ROS 2 are read"
        return f"{rule}: {names}" if names else ""

    def _overlap(self) -> str:
        """Return a note if a file begins before the end of another one; empty: none does."""
        found, last = list[str](), self._files[0]
        for file in self._files[1:]:
            begin, end = file.metadata.start_time, last.metadata.end_time - 1
            if begin < end:
                found.append(
                    f"{file.path.name} begins at {(begin - self.begin) * 1e-9:.3f} s, before the "
                    f"end of {last.path.name} at {(end - self.begin) * 1e-9:.3f} s"
                )
            last = max(last, file, key=lambda each: each.metadata.end_time)
        if not found:
            return ""
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return f"files overlap: {found[0]}{more}. Their messages are read in the order of log time"

    def _opened(self) -> Reader:
        """Return a reader of the bag, or of its part that rosbags reads."""
        if wrong := damage(self.path):
            raise BagError(wrong)
        try:
            return _reader(self.path)
        except (FileNotFoundError, ModuleNotFoundError):
            raise
        except Exception as error:  # a damaged file can raise any error
            with suppress(Exception):
                part, self._left_out = without_foreign(self.path, Path(self._folder.name))
                if self._left_out:
                    return _reader(part)
            raise BagError(f"{text_of(error)}; {advice(self.path)}") from error

    def _is_compressed(self) -> bool:
        """Return whether the first message is compressed, which rosbags does not know."""
        if (self.path / "metadata.yaml").is_file():
            return False  # rosbags decompresses the messages
        with suppress(Exception):  # a damaged message is reported when it is read
            return next(self._reader.messages())[2].startswith(ZSTD)
        return False

    def _break(self, wrong: str, last: int) -> str:
        """Return the text that the bag is not complete; `last`: the last log time read [ns]."""
        seconds = (last - self.begin) * 1e-9
        read = f"up to {seconds:.3f} s (log time {last} ns)" if last else "no message"
        return f"{self.path.name}: the recording is incomplete, {read} could be read: {wrong}"

    def _defined(self) -> dict[str, Any]:
        """Return the message definitions in the bag, for the types that replay uses."""
        types: dict[str, Any] = {}
        for each in self._connections:
            given = each.msgdef.format.name == "MSG" and each.msgdef.data.strip()
            if _ros_name(each.msgtype) in USED and given:
                # If a definition cannot be parsed, the default definition is used.
                with suppress(Exception):
                    types.update(defined_types(each.msgtype, each.msgdef.data))
        return types


def _reader(path: Path) -> Reader:
    reader = Reader(path)
    reader.open()
    return reader


def find_bags(folder: Path) -> list[Path]:
    """Return the bags at or below a path, sorted; a folder with metadata.yaml is one bag."""
    if folder.is_file() or (folder / "metadata.yaml").is_file():
        return [folder]
    if not folder.is_dir():
        raise BagError(f"{folder}: this file or folder does not exist")
    found: list[Path] = []
    seen: set[Path] = set()
    for name, folders, files in os.walk(folder, followlinks=True):
        here = Path(name)
        if here.resolve() in seen:
            folders.clear()  # a link to a folder that was visited before
            continue
        seen.add(here.resolve())
        if "metadata.yaml" in files:
            found.append(here)
        else:
            found += [here / file for file in files if Path(file).suffix in STORAGE]
    return sorted(found)


def _ros_name(kind: str) -> str:
    """Return the ROS name of a type. rosbags writes package/srv/msg/Name_Event."""
    return kind.replace("/srv/msg/", "/srv/")


def _encoding(connection: Any) -> str:
    """Return the encoding of the messages of a connection."""
    encoding: str = connection.ext.serialization_format
    return encoding
