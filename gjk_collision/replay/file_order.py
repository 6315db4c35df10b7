# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the log times of a recording are in the order of its file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["step_back"]

Times = npt.NDArray[np.integer[Any]]


def step_back(file: Path) -> tuple[int, int]:
    """Return the largest step back of the log time in a file, and the log time after it [ns].

    A recorder whose clock is set back writes such a file. (0, 0): there is no step back.
    """
    newest, largest = np.int64(0), (0, 0)
    for times in _of_mcap(file) if file.suffix == ".mcap" else _of_sqlite(file):
        before = np.maximum.accumulate(np.append(newest, times))
        steps = before[:-1] - times
        i = int(steps.argmax())
        largest = max(largest, (int(steps[i]), int(times[i])))
        newest = before[-1]
    return largest


def _of_sqlite(file: Path) -> Iterator[Times]:
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as data:
        rows = data.execute("SELECT timestamp FROM messages ORDER BY id")
        while some := rows.fetchmany(10_000):
            yield np.array(some, np.int64)[:, 0]


def _of_mcap(file: Path) -> Iterator[Times]:
    """Yield the log times of each chunk. They are in its index, with the place of each message."""
    from mcap.reader import make_reader

    with file.open("rb") as opened:
        summary = make_reader(opened).get_summary()
        chunks = () if summary is None else summary.chunk_indexes
        for chunk in sorted(chunks, key=lambda each: each.chunk_start_offset):
            entries = [np.empty((0, 2), np.int64)]
            for place in chunk.message_index_offsets.values():
                opened.seek(place + 1)
                index = opened.read(int.from_bytes(opened.read(8), "little"))
                entries.append(np.frombuffer(index, "<i8", offset=6).reshape(-1, 2))
            both = np.concatenate(entries)
            if len(both):
                yield both[np.argsort(both[:, 1]), 0]
