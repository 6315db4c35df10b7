# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md names the files that a request and a message pass: those that run here."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import pytest
from simulation import wire
from simulation.facts import Box, Message, Question
from simulation.node import Node, Task

import gjk_collision
from gjk_collision.server.parameters.config import Config, SourceConfig

ROOT = Path(__file__).parents[2]
PACKAGE = Path(gjk_collision.__file__).parent
S = 1_000_000_000
# Data types, and functions that are no step of the way. The shell in ros/ is not in the test.
NO_STEPS = {
    "errors.py", "record.py", "results.py", "verdict.py", "server/services/answers.py",
    "server/parameters/config.py", "server/frames/poses.py", "server/frames/fields.py",
    "server/pauses.py", "server/scheduler.py", "scene/arguments.py", "arguments.py",
}  # fmt: skip


@contextmanager
def traced() -> Iterator[list[str]]:
    """The files of the package that run, in the order of their first calls."""
    files: list[str] = []
    functions = re.compile(r"__\w+__$|<")

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event != "call" or not path.is_relative_to(PACKAGE):
            return
        name = path.relative_to(PACKAGE).as_posix()
        is_step = name not in NO_STEPS and not functions.match(frame.f_code.co_name)
        if is_step and name not in files:
            files.append(name)

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(None)


def node() -> tuple[Node, list[Any], list[Callable[[], None]]]:
    later: list[Callable[[], None]] = []
    config = Config(robot_radius=1.0, sources=(SourceConfig("lidar"),))

    def do_later(delay: int, do: Callable[[], None]) -> None:
        if not delay:
            later.append(do)

    made = Node(config, 1, lambda true: true, 10 * S, do_later, lambda: None, lambda *_: None)
    made.server.activate()
    return made, [], later


def lidar(stamp: int) -> Message:
    return Message(
        "list", stamp, stamp, "lidar", "front", 1, boxes=(Box(5.0, 0.0, 1.0, 1.0, 0.0),)
    )


def stated(title: str) -> list[str]:
    """The files of a flow, as the page names them in its first column."""
    page = (ROOT / "docs/architecture.md").read_text()
    section = page.split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([\w/.]+\.py)`", section, flags=re.M)


def path_request() -> list[str]:
    made, done, later = node()
    made.receive(lidar(10 * S))
    request = wire.request(Question("CheckPath", ((50.0, 0.0), (51.0, 0.0))), 10 * S, 0)
    made.server.snapshot()  # the message is in its scene
    with traced() as files:
        made.ask("CheckPath", request, Task(0, False, False, done.append))
        while later:
            later.pop(0)()
    assert done[0].found.is_free
    return files


def obstacle_message() -> list[str]:
    made, _, _ = node()
    with traced() as files:
        made.receive(lidar(10 * S))
        snapshot = made.server.snapshot()
    assert snapshot.fault is None and len(snapshot.scene) == 1
    return files


@pytest.mark.parametrize(
    ("title", "flow"),
    [("A path request", path_request), ("An obstacle message", obstacle_message)],
    ids=["request", "message"],
)
def test_the_page_names_the_files_that_run(title: str, flow: Callable[[], list[str]]) -> None:
    assert stated(title) == flow()


def test_every_file_that_the_page_names_exists() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    package, headers = ROOT / "gjk_collision", ROOT / "src_cpp/include"
    for name in re.findall(r"`([\w/]+\.(?:py|hpp|cpp))`", page):
        rules = headers / "gjk/rules"
        places = (
            package / name,
            headers / name,
            ROOT / "src_cpp" / name,
            rules / name,
            ROOT / name,
        )
        assert any(place.exists() for place in places), name
