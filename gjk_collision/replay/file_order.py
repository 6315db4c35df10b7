# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the log times of a recording are in the order of its file. Only its index is read."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["step_back"]

Entries = npt.NDArray[np.integer[Any]]


def step_back(file: Path) -> tuple[int, int]:
    """Return the largest step back of the log time in a file, and the log time after it [ns].

    A recorder whose clock is set back writes such a file. (0, 0): there is no step back.
    """
    entries = _of_mcap(file) if file.suffix == ".mcap" else _of_sqlite(file)
    times = entries[np.argsort(entries[:, 0], kind="stable"), 1]
    steps = np.maximum.accumulate(times) - times
    i = int(steps.argmax()) if len(steps) else 0
    return (int(steps[i]), int(times[i])) if len(steps) and steps[i] else (0, 0)


def _of_sqlite(file: Path) -> Entries:
    """Return the number in the file and the log time of each message."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as data:
        rows = data.execute("SELECT id, timestamp FROM messages ORDER BY timestamp")
        return np.fromiter(rows, np.dtype((np.int64, 2)))


def _of_mcap(file: Path) -> Entries:
    """Return the chunk and place in it as one number, and the log time, of each message."""
    from mcap.reader import make_reader

    found = [np.empty((0, 2), np.int64)]
    with file.open("rb") as opened:
        summary = make_reader(opened).get_summary()
        chunks = [] if summary is None else summary.chunk_indexes
        for k, chunk in enumerate(sorted(chunks, key=lambda each: each.chunk_start_offset)):
            for place in chunk.message_index_offsets.values():
                opened.seek(place + 1)
                index = opened.read(int.from_bytes(opened.read(8), "little"))
                own = np.frombuffer(index, "<i8", offset=6).reshape(-1, 2)[:, ::-1].copy()
                own[:, 0] += k << 40  # more than the size of a chunk
                found.append(own)
    return np.concatenate(found)
