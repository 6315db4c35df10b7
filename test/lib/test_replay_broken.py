# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recordings without an end, or with damage: the part before is answered, and never passes."""

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
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


def read_to_the_break(path: Path, match: str) -> list[tuple[str, int, bytes]]:
    found: list[tuple[str, int, bytes]] = []
    with Bag(path) as bag, pytest.raises(BagError, match=match):
        found.extend((each.topic, each.time, each.data) for each in bag.messages(bag.topics))
    return found


def incomplete(path: Path, out: Path, last: int, stamps: int, *words: str) -> None:
    """Check that a result covers the stamps up to `last` [ns], and says that more is missing."""
    rule, until = "the recording is incomplete", f"(log time {last} ns) could be read"
    result = broken(path, out, rule, until, "repair it with", *words)
    assert len([row for row in rows_of(out) if row.is_state]) == stamps
    assert result.summary["outcome"] == "broken"
    assert json.loads((out / "drive" / "summary.json").read_text())["failures"] == result.failures


def stamps_before(start: int) -> tuple[int, int]:
    """Return the last stamp before a log time, and the number of the stamps before that."""
    stamps = [at(t) for t in steps(4.0) if at(t) < start]
    return stamps[-1], len(stamps) - 1


compressions = pytest.mark.parametrize("compression", ["NONE", "LZ4", "ZSTD"])
storages = pytest.mark.parametrize("storage", ["mcap", "sqlite3"])


@compressions
def test_mcap_without_its_end_is_read_up_to_the_break(compression: str, tmp_path: Path) -> None:
    path = chunked(tmp_path, compression)
    chunks = chunks_of(path)
    assert len(chunks) > 3
    last = chunks[-1]
    cut(path, last.chunk_start_offset + last.chunk_length // 2)  # inside the last chunk
    times = [time for _, time, _ in read_to_the_break(path, "the file ends inside a record")]
    assert times == sorted(times)
    assert times[-1] == chunks[-2].message_end_time
    stamps = len([t for t in steps(4.0) if at(t) < times[-1]])
    # Of the last stamp, messages may be missing.
    incomplete(path, tmp_path, times[-1], stamps, "mcap recover")


@compressions
def test_mcap_cut_behind_its_data_has_all_stamps_but_is_incomplete(
    compression: str, tmp_path: Path
) -> None:
    path = chunked(tmp_path, compression)
    cut(path, path.stat().st_size - 4)  # inside the magic at the end
    incomplete(path, tmp_path, at(4.0), 80)


@compressions
@pytest.mark.parametrize("has_end", [True, False])
def test_damage_in_the_middle_of_an_mcap_file(
    has_end: bool, compression: str, tmp_path: Path
) -> None:
    path = chunked(tmp_path, compression)
    damaged = chunks_of(path)[2]
    data = bytearray(path.read_bytes())
    data[damaged.chunk_start_offset + damaged.chunk_length // 2] ^= 0xFF
    path.write_bytes(data if has_end else data[:-100])
    incomplete(path, tmp_path, *stamps_before(damaged.message_start_time))


@pytest.mark.parametrize("part", ["records", "chunk", "tail"])
@pytest.mark.parametrize("fill", [b"\0", b"\x05"])
@pytest.mark.parametrize("has_end", [True, False])
@pytest.mark.parametrize("has_checksums", [True, False])
def test_damaged_chunk_without_compression_is_a_break(
    has_checksums: bool, has_end: bool, fill: bytes, part: str, tmp_path: Path
) -> None:
    """rosbags skips it: the answers after it would be those of silent sensors."""
    path = chunked(tmp_path, "NONE")
    damaged = chunks_of(path)[2]
    begin = damaged.chunk_start_offset
    end = begin + damaged.chunk_length
    data = bytearray(path.read_bytes())
    if not has_checksums:
        for each in chunks_of(path):
            crc = each.chunk_start_offset + 33
            data[crc : crc + 4] = bytes(4)
        data_end = data.rindex(b"\x0f\x04" + bytes(7))
        data[data_end + 9 : data_end + 13] = bytes(4)
    first = {"records": begin + 49, "chunk": begin, "tail": (begin + end) // 2}[part]
    data[first:end] = fill * (end - first)
    path.write_bytes(data if has_end else data[:-100])
    incomplete(path, tmp_path, *stamps_before(damaged.message_start_time))


def test_zeros_of_records_of_nine_bytes_are_a_break(tmp_path: Path) -> None:
    """A reader of nine zeros as an empty record finds the records behind them again."""
    path = chunked(tmp_path, "NONE")
    damaged = chunks_of(path)[2]
    size = damaged.chunk_length // 9 * 9
    data = bytearray(path.read_bytes())
    data[damaged.chunk_start_offset : damaged.chunk_start_offset + size] = bytes(size)
    path.write_bytes(data[:-100])
    before = stamps_before(damaged.message_start_time)
    incomplete(path, tmp_path, *before, "there is no record at byte")


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


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
@pytest.mark.parametrize("has_metadata", [True, False])
def test_truncated_sqlite_is_read_up_to_the_break(
    share: float, has_metadata: bool, tmp_path: Path
) -> None:
    bag = long_drive(tmp_path)
    with Bag(bag) as whole:
        wanted = [(each.topic, each.time, each.data) for each in whole.messages(whole.topics)]
    path = file_of(bag)
    cut(path, int(share * path.stat().st_size))
    if not has_metadata:
        (bag / "metadata.yaml").unlink()
    found = read_to_the_break(bag if has_metadata else path, "is truncated: it has")
    assert 0.5 * share * len(wanted) < len(found) < len(wanted)
    assert found == wanted[: len(found)], "no message with zeros in place of the missing part"


def test_damaged_page_of_an_sqlite_file(tmp_path: Path) -> None:
    bag = long_drive(tmp_path)
    file_of(bag).write_bytes(with_damaged_page(bag)[0])
    broken(bag, tmp_path, "the recording is incomplete", "malformed")
    assert len(rows_of(tmp_path)) < 400


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
    incomplete(path, tmp_path, at(20.0), 400, "metadata.yaml is missing", "ros2 bag reindex")


@pytest.mark.parametrize("end", ["-wal", "-journal"])
def test_messages_beside_an_sqlite_file_are_reported(end: str, tmp_path: Path) -> None:
    """A recorder that was killed leaves messages in these files, which rosbags does not read."""
    bag = long_drive(tmp_path)
    name = file_of(bag).name + end
    (bag / name).write_bytes(b"x" * 100)
    incomplete(bag, tmp_path, at(20.0), 400, f"messages in {name} are not read")


@storages
def test_compressed_messages_without_metadata_are_named(storage: Any, tmp_path: Path) -> None:
    """Only metadata.yaml says that they are compressed: no message could be decoded."""
    bag = write(tmp_path, "approach", storage, "message")
    assert replay(bag, tmp_path).outcome is Outcome.PASSED
    (bag / "metadata.yaml").unlink()
    for path in (bag, file_of(bag)):
        [failure] = broken(path, tmp_path).failures
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


def with_files(bag: Path, *names: str) -> None:
    """Write other names of files into the metadata of a bag."""
    metadata = bag / "metadata.yaml"
    old = re.search(r"(  - \w+\.mcap\n)+", text := metadata.read_text())
    assert old
    metadata.write_text(text.replace(old[0], "".join(f"  - {name}\n" for name in names)))


def test_broken_file_of_several_leaves_the_others(tmp_path: Path) -> None:
    """The files of one recording: the first is read, the second was being written."""
    bag = write(tmp_path, "approach")
    with_files(bag, file_of(bag).name, "second.mcap")
    second = Path(shutil.move(chunked(tmp_path, "NONE", "second"), bag / "second.mcap"))
    cut(second, second.stat().st_size - 100)
    assert len(read_to_the_break(bag, r"second\.mcap")) == 2 * 243


def recording_of_two(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Write a bag of two files with the same messages; return its folder and the files."""
    bag = write(tmp_path, "approach")
    second = Path(shutil.move(file_of(bag), bag / "two.mcap"))
    first = Path(shutil.move(chunked(tmp_path, "NONE", "one"), bag / "one.mcap"))
    with_files(bag, "one.mcap", "two.mcap")
    return bag, first, second


@pytest.mark.parametrize("names", [("one.mcap", "two.mcap"), ("two.mcap", "one.mcap")])
def test_files_are_read_up_to_the_break_of_one(names: tuple[str, str], tmp_path: Path) -> None:
    """Otherwise, answers are computed without the data of the broken file."""
    bag, first, _ = recording_of_two(tmp_path)
    with_files(bag, *names)
    chunks = chunks_of(first)
    cut(first, chunks[2].chunk_start_offset + 10)
    found = read_to_the_break(bag, r"one\.mcap: the file ends inside a record")
    end = chunks[1].message_end_time
    assert found[-1][1] == end
    assert len(found) == 2 * len({each for each in found if each[1] < end}) + len(
        [each for each in found if each[1] == end]
    )
    broken(bag, tmp_path)
    assert max(row.time for row in rows_of(tmp_path)) <= end


@pytest.mark.parametrize("content", [b"", b"no recording"])
def test_files_before_an_unreadable_one_are_used(tmp_path: Path, content: bytes) -> None:
    bag, _, second = recording_of_two(tmp_path)
    second.write_bytes(content)
    assert len(read_to_the_break(bag, r"two\.mcap: .*repair it with")) == 243
    second.unlink()
    assert len(read_to_the_break(bag, r"two\.mcap: .*repair it with")) == 243


def test_an_unreadable_first_file_is_named(tmp_path: Path) -> None:
    bag, first, _ = recording_of_two(tmp_path)
    first.write_bytes(b"")
    with pytest.raises(BagError, match=r"one\.mcap: .*repair it with"):
        Bag(bag)


def test_folder_of_two_files_without_metadata_names_the_remedy(tmp_path: Path) -> None:
    bag, *_ = recording_of_two(tmp_path)
    (bag / "metadata.yaml").unlink()
    with pytest.raises(BagError, match=r"there are 2 files; make it with 'ros2 bag reindex"):
        Bag(bag)


@pytest.fixture
def without_end(tmp_path: Path) -> Path:
    path = chunked(tmp_path, "ZSTD")
    cut(path, path.stat().st_size - 100)
    return path


def test_command_reports_an_incomplete_recording(
    without_end: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["replay", str(without_end), "--out", str(out)]) == 3
    assert "broken" in (text := capsys.readouterr().out)
    assert "the recording is incomplete, up to 4.000 s" in text
    assert "the recording is incomplete" in (out / "bag" / "index.html").read_text()
    assert main(["info", str(without_end)]) == 3
    shown = capsys.readouterr()
    assert "/footprint" in shown.out
    assert "the recording is incomplete" in shown.err
    assert main(["trace", str(without_end), "--at", "1.0"]) == 0


def test_copy_of_the_readable_part_is_deleted(
    without_end: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with Bag(without_end):
        assert list(temporary.iterdir())
    assert not list(temporary.iterdir())
    cut(without_end, 30)
    with pytest.raises(BagError):
        Bag(without_end)
    assert not list(temporary.iterdir())
