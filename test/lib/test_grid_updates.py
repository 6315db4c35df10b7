# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Updates of grids are applied to the grid that they belong to, or end its use."""

from __future__ import annotations

from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest
import questions

from gjk_collision.errors import InputError
from gjk_collision.server.adapters.updates import Grids, update_type, updates_topic
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import COSTMAP, GRID, SCAN, Config, SourceConfig
from gjk_collision.verdict import Status, Verdict

MS = 1_000_000
FREE, FULL = 0, {GRID: 100, COSTMAP: 254}


def header(ms: int, frame: str = "odom") -> Message:
    return Message(frame_id=frame, stamp=Message(sec=100 + ms // 1000, nanosec=ms % 1000 * MS))


def whole(kind: str, ms: int, columns: int = 40, rows: int = 30) -> Message:
    here = Message(x=0.0, y=0.0, z=0.0)
    origin = Message(position=here, orientation=Message(**vars(here), w=1.0))
    info = Message(
        width=columns, height=rows, size_x=columns, size_y=rows, resolution=0.1, origin=origin
    )
    cells = np.zeros(columns * rows, np.int8 if kind == GRID else np.uint8)
    name = "info" if kind == GRID else "metadata"
    return Message(header=header(ms), data=cells, **{name: info})


def update(kind: str, ms: int, value: int, **changes: Any) -> Message:
    sizes = {"width": 3, "height": 2} if kind == GRID else {"size_x": 3, "size_y": 2}
    data = np.full(6, value, np.int8 if kind == GRID else np.uint8)
    return Message(**{"header": header(ms), "x": 20, "y": 10, "data": data, **sizes, **changes})


class Run:
    """A server with one grid. Each message comes at its stamp."""

    def __init__(self, kind: str, **parameters: Any) -> None:
        given = {"qos_reliability": "reliable", "timeout": 1.0, **parameters}
        self.source = SourceConfig("obstacles", type=kind, **given)
        self.config = Config(robot_radius=0.1, sources=(self.source,))
        self.world, self.grids = World(self.config), Grids()

    def send(self, message: Message) -> Fault | None:
        now = message.header.stamp.sec * 1000 * MS + message.header.stamp.nanosec
        try:
            data = self.grids.convert(message, self.config, self.source)
        except InputError as error:
            self.world.receive_fault("obstacles", fault := Fault.of(error), now=now, steady=now)
            return fault
        self.world.receive_obstacles("obstacles", data, now=now, steady=now)
        return None

    def ask(self, x: float, y: float, ms: int) -> tuple[Verdict, Status]:
        now = (100_000 + ms) * MS
        answer = questions.collide(self.world.snapshot(now=now, steady=now), Pose(x, y, 0.0))
        return answer.verdict, answer.status


@pytest.mark.parametrize("kind", [GRID, COSTMAP])
def test_a_grid_with_updates_only_stays_in_use(kind: str) -> None:
    run = Run(kind)
    assert run.send(whole(kind, 0)) is None
    assert run.ask(2.1, 1.1, 0) == (Verdict.FREE, Status.SUCCESS)
    for ms in range(500, 5000, 500):
        assert run.send(update(kind, ms, FULL[kind])) is None
        assert run.ask(2.1, 1.1, ms + 400) == (Verdict.COLLISION, Status.SUCCESS)
        assert run.ask(1.8, 1.1, ms + 400) == (Verdict.FREE, Status.SUCCESS)
        assert run.ask(2.1, 1.4, ms + 400) == (Verdict.FREE, Status.SUCCESS)
    assert run.send(update(kind, 5000, FREE, x=21)) is None
    assert run.ask(2.25, 1.1, 5000) == (Verdict.FREE, Status.SUCCESS)
    assert run.ask(2.05, 1.1, 5000) == (Verdict.COLLISION, Status.SUCCESS)
    assert run.ask(2.05, 1.1, 6100)[1] is Status.STALE_OBSTACLES


@pytest.mark.parametrize("kind", [GRID, COSTMAP])
@pytest.mark.parametrize(
    ("changes", "status", "text"),
    [
        ({"x": 38}, Status.ARRAY_MISMATCH, "cells at (38, 10) are not in the grid of 40 x 30"),
        ({"x": -1}, Status.ARRAY_MISMATCH, "are not in the grid"),
        ({"y": 29}, Status.ARRAY_MISMATCH, "are not in the grid"),
        ({"data": np.zeros(5, np.int8)}, Status.ARRAY_MISMATCH, "must have 3 * 2 cells"),
        ({"header": header(100, "map")}, Status.UNKNOWN_FRAME, "'map' is not that of the grid"),
        ({"header": header(1001)}, Status.INVALID_INPUT, "1.001 s after that of the grid"),
    ],
)  # fmt: skip
def test_an_update_that_does_not_fit_ends_the_use_of_its_grid(
    kind: str, changes: dict[str, Any], status: Status, text: str
) -> None:
    run = Run(kind)
    run.send(whole(kind, 0))
    fault = run.send(update(kind, 100, FULL[kind], **changes))
    assert fault is not None
    assert fault.status is status
    assert text in fault.message
    assert run.ask(1.0, 1.0, 1001) == (Verdict.UNKNOWN, status)
    later = run.send(update(kind, 1002, FULL[kind]))
    assert later is not None
    assert later.status is Status.NO_OBSTACLES
    assert "always_send_full_costmap" in later.message
    assert run.send(whole(kind, 1003)) is None
    assert run.ask(1.0, 1.0, 1003) == (Verdict.FREE, Status.SUCCESS)
    assert run.send(update(kind, 1002, FULL[kind])) is not None  # older than its grid


@pytest.mark.parametrize("kind", [GRID, COSTMAP])
def test_a_grid_that_an_update_has_overtaken_ends_its_use(kind: str) -> None:
    """They are two topics: the cells of the update may be those of another origin."""
    run = Run(kind)
    run.send(whole(kind, 0))
    assert run.send(update(kind, 500, FULL[kind])) is None
    fault = run.send(late := whole(kind, 400))
    assert fault is not None
    assert "before that of an update" in fault.message
    assert run.ask(1.0, 1.0, 500)[0] is Verdict.UNKNOWN
    assert run.send(update(kind, 600, FREE)) is not None
    assert run.send(whole(kind, 700)) is None
    assert run.grids.convert(late, run.config, run.source) is not None  # no update: it is dropped
    assert run.send(update(kind, 800, FULL[kind])) is None
    assert run.ask(2.1, 1.1, 800) == (Verdict.COLLISION, Status.SUCCESS)


@pytest.mark.parametrize(
    ("parameters", "is_used"),
    [
        ({}, False),  # a grid that was lost cannot be told from one that did not change
        ({"qos_reliability": "reliable"}, True),
        ({"qos_durability": "transient_local"}, True),
        ({"qos_reliability": "reliable", "static": True}, False),
        ({"qos_reliability": "reliable", "type": SCAN}, False),
    ],
)
def test_updates_are_used_if_none_can_be_lost(parameters: dict[str, Any], is_used: bool) -> None:
    source = SourceConfig("local", **{"type": COSTMAP, **parameters})
    assert update_type(source) == ("nav2_msgs/msg/CostmapUpdate" if is_used else "")
    assert updates_topic("/c") == "/c_updates"


def test_the_message_of_a_grid_is_not_changed_and_other_types_pass() -> None:
    run, first = Run(COSTMAP), whole(COSTMAP, 0)
    run.send(first)
    run.send(update(COSTMAP, 100, 254))
    assert not first.data.any()
    with pytest.raises(AttributeError):
        Grids().convert(first, run.config, SourceConfig("scan", type=SCAN))
