# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings without an end, or with damage: none of them passes, and each says what to do."""

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from replays import broken, drive, replay, rewritten, rows_of
from write_scenarios import CAR, Road, at, compressing, steps, thing, write

from gjk_collision.__main__ import main
from gjk_collision.replay.bag import Bag, BagError
from gjk_collision.report.outcome import Outcome

CHUNK = 4096


def file_of(bag: Path) -> Path:
    return next(path for path in bag.iterdir() if path.suffix in (".mcap", ".db3"))


def chunked(folder: Path, compression: str, name: str = "bag") -> Path:
    """Write one mcap file of 4 s in small chunks, as a recorder does; return it."""
    from mcap.writer import CompressionType

    path, kind = folder / f"{name}.mcap", CompressionType[compression]
    whole = file_of(write(folder / "whole", "approach"))
    rewritten(whole, path, CHUNK, kind, enable_data_crcs=True)
    return path


def chunks_of(path: Path) -> list[Any]:
    from mcap.reader import make_reader

    with path.open("rb") as source:
        summary = make_reader(source).get_summary()
    assert summary is not None
    return list(summary.chunk_indexes)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def refused(path: Path, out: Path, *words: str) -> None:
    """Check that a recording has no result, and that the reason and the remedy are said."""
    result = broken(path, out, "cannot be read as a bag", *words)
    assert result.summary["outcome"] == "broken"
    with pytest.raises(BagError, match=re.escape(words[-1])):
        Bag(path)


compressions = pytest.mark.parametrize("compression", ["NONE", "LZ4", "ZSTD"])
storages = pytest.mark.parametrize("storage", ["mcap", "sqlite3"])


@compressions
@pytest.mark.parametrize("rest", [4, 100, 10_000])
def test_mcap_without_its_end_is_refused(rest: int, compression: str, tmp_path: Path) -> None:
    path = chunked(tmp_path, compression)
    cut(path, path.stat().st_size - rest)
    refused(path, tmp_path, "no end that can be read", "mcap recover")


@pytest.mark.parametrize("compression", ["LZ4", "ZSTD"])
def test_damage_in_the_middle_is_a_break(compression: str, tmp_path: Path) -> None:
    """The stamps before it are answered. Of its own stamp, messages may be missing."""
    path = chunked(tmp_path, compression)
    damaged = chunks_of(path)[2]
    data = bytearray(path.read_bytes())
    data[damaged.chunk_start_offset + damaged.chunk_length // 2] ^= 0xFF
    path.write_bytes(data)
    stamps = [at(t) for t in steps(4.0) if at(t) < damaged.message_start_time]
    until = f"(log time {stamps[-1]} ns) could be read"
    result = broken(path, tmp_path, "the recording is incomplete", until, "mcap recover")
    assert len([row for row in rows_of(tmp_path) if row.is_state]) == len(stamps) - 1
    assert (
        json.loads((tmp_path / "drive" / "summary.json").read_text())["failures"]
        == result.failures
    )


@pytest.mark.parametrize("part", ["records", "chunk", "tail"])
@pytest.mark.parametrize("fill", [b"\0", b"\x05"])
def test_damaged_chunk_without_a_checksum_is_refused(
    fill: bytes, part: str, tmp_path: Path
) -> None:
    """rosbags skips it: the answers after it would be those of silent sensors."""
    path = chunked(tmp_path, "NONE")
    damaged = chunks_of(path)[2]
    begin = damaged.chunk_start_offset
    end = begin + damaged.chunk_length
    data = bytearray(path.read_bytes())
    for each in chunks_of(path):
        crc = each.chunk_start_offset + 33
        data[crc : crc + 4] = bytes(4)
    data_end = data.rindex(b"\x0f\x04" + bytes(7))
    data[data_end + 9 : data_end + 13] = bytes(4)
    first = {"records": begin + 49, "chunk": begin, "tail": (begin + end) // 2}[part]
    data[first:end] = fill * (end - first)
    path.write_bytes(data)
    refused(path, tmp_path, f"the chunk at byte {begin} is damaged", "mcap recover")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("is empty", "leave it out of the bag")),
        (b"version https://git-lfs.github.com/spec/v1\noid", ("Git LFS", "git lfs pull")),
        (b"SQLite format 3\0" + bytes(100), ("is no .mcap file", "give it the suffix .db3")),
        (b"no recording of this kind", ("is no .mcap file", "use a copy of it")),
        (None, ("is not there", "put it back")),
    ],
)
def test_what_to_do_fits_the_damage(
    content: bytes | None, words: tuple[str, str], tmp_path: Path
) -> None:
    bag = write(tmp_path, "approach")
    path = file_of(bag)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    refused(bag, tmp_path, *words)


def test_a_compressed_file_that_is_cut_is_named(tmp_path: Path) -> None:
    bag = write(tmp_path, "approach", "mcap", "file")
    [path] = bag.glob("*.zstd")
    cut(path, path.stat().st_size // 2)
    refused(bag, tmp_path, "zstd -d")


@pytest.mark.parametrize("size", [0, 5, 8, 20, 60])
@pytest.mark.parametrize("kind", [".mcap", ".db3"])
def test_file_cut_inside_its_header_is_refused(size: int, kind: str, tmp_path: Path) -> None:
    whole = write(tmp_path, "approach", "mcap" if kind == ".mcap" else "sqlite3")
    path = shutil.copy(file_of(whole), tmp_path / f"bag{kind}")
    cut(path, size)
    [failure] = broken(path, tmp_path).failures
    assert failure.startswith(f"bag{kind}: ")
    assert "cannot be read as a bag" in failure or "no message" in failure


@storages
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_file_cut_in_its_folder(storage: Any, share: float, tmp_path: Path) -> None:
    whole = write(tmp_path, "approach", storage)
    cut(file_of(whole), int(share * file_of(whole).stat().st_size))
    failure = broken(whole, tmp_path).failures[0]
    assert "incomplete" in failure or "cannot be read" in failure


@storages
@pytest.mark.parametrize("compression", ["", "file"])
def test_bag_without_messages(storage: Any, compression: Any, tmp_path: Path) -> None:
    with compressing(tmp_path / "bag", storage, compression) as writer:
        writer._writer.add_connection(
            "/footprint", "geometry_msgs/msg/PolygonStamped", typestore=writer._store
        )
    result = broken(tmp_path / "bag", tmp_path)
    assert result.failures == ["bag: the recording contains no message"]
    assert main(["info", str(tmp_path / "bag")]) == 3


def test_mcap_of_another_profile_is_not_repaired(tmp_path: Path) -> None:
    from mcap.writer import Writer

    with (tmp_path / "bag.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start("ros1")
        writer.finish()
    with pytest.raises(BagError, match="Profile is not ros2"):
        Bag(tmp_path / "bag.mcap")


# ---- sqlite3


def long_drive(folder: Path) -> Path:
    def each(road: Road, t: float) -> None:
        road.obstacles(t, [thing(CAR, 20.0 + k, 0.0) for k in range(8)])

    return drive(folder / "long", each, 20.0, storage="sqlite3")


def with_damaged_page(bag: Path) -> tuple[bytearray, int]:
    """Return the data of a file whose middle page is damaged, and where that begins."""
    data = bytearray(file_of(bag).read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 4096] = b"\xa5" * 4096
    return data, middle


@pytest.mark.parametrize("share", [0.3, 0.95])
@pytest.mark.parametrize("has_metadata", [True, False])
def test_truncated_sqlite_is_refused(share: float, has_metadata: bool, tmp_path: Path) -> None:
    bag = long_drive(tmp_path)
    path = file_of(bag)
    cut(path, int(share * path.stat().st_size))
    if not has_metadata:
        (bag / "metadata.yaml").unlink()
    refused(bag if has_metadata else path, tmp_path, "is truncated: it has", ".clone")


def test_damaged_page_of_an_sqlite_file(tmp_path: Path) -> None:
    bag = long_drive(tmp_path)
    file_of(bag).write_bytes(with_damaged_page(bag)[0])
    broken(bag, tmp_path, "malformed", ".clone")


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no program sqlite3 on this machine")
@pytest.mark.parametrize("damage", ["page", "cut"])
def test_advice_repairs_an_sqlite_file(damage: str, tmp_path: Path) -> None:
    bag = long_drive(tmp_path)
    with Bag(bag) as whole:
        count = sum(whole.counts.values())
    path = file_of(bag)
    data, middle = with_damaged_page(bag)
    path.write_bytes(data if damage == "page" else data[:middle])
    [failure] = replay(bag, tmp_path).failures
    command = re.search(r"repair it with '(sqlite3 .*?)', then", failure)
    assert command
    text = command[1].replace("FILE.db3", str(path)).replace("NEW.db3", str(tmp_path / "new.db3"))
    subprocess.run(shlex.split(text), check=True, capture_output=True, timeout=60)
    with Bag(tmp_path / "new.db3") as new:
        found = sum(new.counts.values())
    assert 0.3 * count < found < count
    if damage == "page":
        assert found > 0.9 * count


def test_sqlite_without_metadata_is_complete_only_if_its_end_is_noted(tmp_path: Path) -> None:
    bag = long_drive(tmp_path)
    path = Path(shutil.copy(file_of(bag), tmp_path / "alone.db3"))
    assert replay(path, tmp_path).outcome is Outcome.PASSED
    with closing(sqlite3.connect(path)) as data:
        data.execute("DELETE FROM metadata")
        data.commit()
    refused(path, tmp_path, "metadata.yaml is missing", "ros2 bag reindex")


@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_messages_beside_an_sqlite_file_are_reported(end: str, tmp_path: Path) -> None:
    """A recorder that was killed leaves messages in these files, which rosbags does not read."""
    bag = long_drive(tmp_path)
    name = file_of(bag).name + end
    (bag / name).write_bytes(b"x" * 100)
    refused(bag, tmp_path, f"messages in {name} are not read")


@storages
def test_compressed_messages_without_metadata_are_named(storage: Any, tmp_path: Path) -> None:
    """Only metadata.yaml says that they are compressed: no message could be decoded."""
    bag = write(tmp_path, "approach", storage, "message")
    assert replay(bag, tmp_path).outcome is Outcome.PASSED
    (bag / "metadata.yaml").unlink()
    [failure] = broken(file_of(bag), tmp_path).failures
    assert "its messages are compressed (zstd), described only in metadata.yaml" in failure


# ---- folders


@storages
@pytest.mark.parametrize("text", ["", "rosbag2_bagfile_information:\n  version: 9\n", None])
def test_folder_without_valid_metadata(storage: Any, text: str | None, tmp_path: Path) -> None:
    bag = write(tmp_path, "approach", storage)
    if text is None:
        (bag / "metadata.yaml").unlink()
    else:
        (bag / "metadata.yaml").write_text(text)
    broken(bag, tmp_path, "metadata")


def test_folder_of_two_files_without_metadata_names_the_remedy(tmp_path: Path) -> None:
    bag = write(tmp_path, "approach")
    shutil.copy(file_of(bag), bag / "two.mcap")
    (bag / "metadata.yaml").unlink()
    refused(bag, tmp_path, "metadata.yaml is missing", "ros2 bag reindex FOLDER")


def test_command_refuses_an_incomplete_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = chunked(tmp_path, "ZSTD"), tmp_path / "out"
    cut(path, path.stat().st_size - 100)
    assert main(["replay", str(path), "--out", str(out)]) == 3
    assert "mcap recover" in capsys.readouterr().out
    for command in (["info", str(path)], ["trace", str(path), "--at", "1.0"]):
        assert main(command) == 3
        assert "mcap recover" in capsys.readouterr().err
