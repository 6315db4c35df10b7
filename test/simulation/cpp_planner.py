# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of a planner with a mirror in C++, src_cpp/test/mirror_history.cpp."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gjk_collision import Status, Verdict
from gjk_collision.server.answers import Answer

from .facts import Question, Violation
from .planner import Planner, Thinking
from .wire import rows_of

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src_cpp/test/mirror_history.cpp"
INCLUDE = ROOT / "src_cpp/include"
FLAGS = ("-std=c++20", "-O1", "-ffp-contract=off", "-fno-fast-math", "-DGJK_FP_CONTRACT_OFF")

# The fields of records, as the program reads them. A type is a message, a list of messages or
# texts, a text, a number (a format of struct), or an array of numbers (* and the format).
TIME = {"sec": "i", "nanosec": "I"}
HEADER = {"stamp": TIME, "frame_id": "text"}
VERDICT = {"status": "H", "message": "text"}
FOOTPRINT = {"name": "text", "offsets": "*I", "xy": "*d", "radius": "*d"}
OBSTACLES = {
    "header": HEADER, "source": "text", "ids": "*q", "kinds": "*B", "offsets": "*I",
    "xy": "*d", "radius": "*d", "poses": "*d", "velocities": "*d", "path_offsets": "*I",
    "path_times": "*d", "path_poses": "*d", "margins": "*d", "margin_rates": "*d",
}  # fmt: skip
SNAPSHOT = {
    "info": {"header": HEADER, "snapshot_id": "Q", "config_hash": "I", "footprint": "text"},
    "sequence": "Q", "verdict": VERDICT, "data_verdict": VERDICT, "footprints": [FOOTPRINT],
    "footprint_names": ["text"], "footprint_by_speed": "?", "footprint_sources": ["text"],
    "footprint_stamps": [TIME], "footprint_timeouts": "*d", "footprint_receipt_ages": "*d",
    "obstacles": [OBSTACLES], "sources": ["text"], "timeouts": "*d", "receipt_ages": "*d",
    "time_zero": TIME, "region_source": "text", "region_boundary": "*d", "region_radii": "*d",
    "region_inflation": "d",
    "safety_margin": "d", "concave_policy": "text", "prediction_policy": "text",
    "prediction_horizon": "d", "toi_tolerance": "d", "max_poses": "I", "max_future_stamp": "d",
    "heartbeat_limit": "d", "static_revision": "Q",
}  # fmt: skip
STATE = {
    "header": {"stamp": TIME}, "counter": "Q", "snapshot_sequence": "Q",
    "info": {"snapshot_id": "Q", "config_hash": "I"}, "verdict": VERDICT,
}  # fmt: skip

# What is compared.
HEAD, COLUMNS = ("verdict", "status", "message"), ("verdicts", "statuses", "nearest_ids")


@cache
def program() -> Path | None:
    """Return the program, built if it is older than its sources; None: there is no compiler."""
    built = ROOT / ".dev/simulation/mirror_history"
    sources = [*INCLUDE.rglob("*.hpp"), *SOURCE.parent.glob("*.hpp"), SOURCE]
    newest = max(each.stat().st_mtime for each in sources)
    for each in (ROOT / ".dev/cpp/plain/mirror_history", built):
        if each.is_file() and each.stat().st_mtime > newest:
            return each
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return None
    built.parent.mkdir(parents=True, exist_ok=True)
    own = built.with_suffix(f".{os.getpid()}")  # several processes may build at the same time
    subprocess.run([compiler, *FLAGS, f"-I{INCLUDE}", SOURCE, "-o", own], check=True)
    return own.replace(built)


def packed(value: Any, kind: Any) -> bytes:
    """Return a value as the program reads it."""
    if isinstance(kind, dict):
        return b"".join(packed(getattr(value, name), each) for name, each in kind.items())
    if isinstance(kind, list):
        return struct.pack("=I", len(value)) + b"".join(packed(each, kind[0]) for each in value)
    if kind == "text":
        return packed(np.frombuffer(value.encode(), "B"), "*B")
    if kind.startswith("*"):
        return struct.pack("=I", len(value)) + np.asarray(value, kind[1:]).tobytes()
    return struct.pack(f"={kind}", value)


@dataclass(frozen=True)
class CppAnswer:
    """An answer for poses, with the names of `PosesAnswer`."""

    answer: Answer
    verdicts: Any
    statuses: Any
    nearest_ids: Any


@dataclass
class CppThinking:
    """A question that is being answered."""

    number: int
    answer: CppAnswer  # if it is returned at once


class CppPlanner:
    """A process with a mirror, as `Planner`. The runner sets `true` before each call."""

    def __init__(self, program: Path, clock: Callable[[int], int], true: int) -> None:
        self.clock, self.true, self.asked = clock, true, 0
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 16
        )
        self._write((true, "q"))

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def note_activity(self) -> None:
        """The process takes messages now."""
        self._write((b"A", "c"), (self.true, "q"))

    def receive(self, message: Any, sent: int, *, is_snapshot: bool) -> None:
        """Receive a message of ~/snapshot or ~/state."""
        kind, fields = (b"S", SNAPSHOT) if is_snapshot else (b"H", STATE)
        self._record(kind, (sent, "q"), (message, fields))

    def begin(self, question: Question, ahead: int) -> CppThinking:
        """Begin to answer a question for a time ahead of now, with one footprint."""
        name = question.name_at(0)
        self._record(
            b"B", (self.clock(self.true) + ahead, "q"), (name, "text"), (question.margin, "d"),
            (rows_of(question).ravel(), "*d"), (question.times, "*d"),
        )  # fmt: skip
        self.asked += 1
        return CppThinking(self.asked - 1, self._answer())

    def end(self, thinking: CppThinking, question: Question) -> CppAnswer:
        """Return the answer that is returned now."""
        self._record(b"E", (thinking.number, "Q"))
        return self._answer()

    def read_clock(self) -> None:
        """Read the clock, as each question does."""
        self._record(b"C")

    def _record(self, kind: bytes, *fields: tuple[Any, Any]) -> None:
        self._write((kind, "c"), (self.true, "q"), (self.clock(self.true), "q"), *fields)

    def _write(self, *fields: tuple[Any, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(packed(*each) for each in fields))

    def _answer(self) -> CppAnswer:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode()
        assert line.endswith("\n"), "mirror_history has ended"
        numbers, _, message = line[:-1].partition("\t")
        verdict, status, count, *poses = map(int, numbers.split())
        rows = np.array(poses, np.int64).reshape(count, 3)
        answer = Answer(Verdict(verdict), Status(status), message)
        return CppAnswer(answer, rows[:, 0], rows[:, 1], rows[:, 2])


class PairedPlanner:
    """A `Planner` and a `CppPlanner` to which the same happens. Their answers must be equal."""

    def __init__(self, program: Path, clock: Callable[[int], int], true: int) -> None:
        self.planner, self.cpp = Planner(clock, true), CppPlanner(program, clock, true)
        self.true, self.compared = true, 0
        self.thinking: dict[int, CppThinking] = {}  # by the id of the other's

    def close(self) -> None:
        """End the process in C++."""
        self.cpp.close()

    def note_activity(self) -> None:
        """The processes take messages now."""
        for each in self._both():
            each.note_activity()

    def receive(self, message: Any, sent: int, *, is_snapshot: bool) -> None:
        """Receive a message of ~/snapshot or ~/state."""
        for each in self._both():
            each.receive(message, sent, is_snapshot=is_snapshot)

    def begin(self, question: Question, ahead: int) -> Thinking:
        """Begin to answer a question."""
        _, cpp = self._both()
        own = self.planner.begin(question, ahead)
        if _is_for_both(question):
            other = self.thinking[id(own)] = cpp.begin(question, ahead)
            self._compare(own.answer, other.answer)
        else:
            cpp.read_clock()
        return own

    def end(self, thinking: Thinking, question: Question) -> Any:
        """Return the answer that is returned now."""
        _, cpp = self._both()
        reads = thinking.asked.state is None
        found = self.planner.end(thinking, question)
        if _is_for_both(question):
            self._compare(found, cpp.end(self.thinking.pop(id(thinking)), question))
        elif reads:
            cpp.read_clock()
        return found

    def _both(self) -> tuple[Planner, CppPlanner]:
        self.planner.true = self.cpp.true = self.true
        return self.planner, self.cpp

    def _compare(self, own: Any, other: CppAnswer) -> None:
        self.compared += 1
        one, two = getattr(own, "answer", own), other.answer
        same = all(getattr(one, name) == getattr(two, name) for name in HEAD)
        for name in COLUMNS:
            same = same and np.array_equal(getattr(own, name, ()), getattr(other, name))
        if not same:
            raise Violation(f"the mirror in C++ differs: {own} {other}")


def _is_for_both(question: Question) -> bool:
    """Return whether a question can be asked in C++: poses with one footprint."""
    return question.service == "CheckPoses" and not question.which
