# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The bond with nav2's lifecycle manager: with bondpy, with a stand-in, and without."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from server import Bench, Server

from gjk_collision.verdict import Status, Verdict

FREE = (Verdict.FREE, Status.SUCCESS)
Start = Callable[..., tuple[Server, Bench]]

# The part of bondpy 4.1 that the server uses. It tells on stderr what is done with it.
STAND_IN = """
import sys
from std_msgs.msg import Empty

class Bond:
    def __init__(self, node, topic, bond_id):
        if "refuse" in node.get_name():
            raise RuntimeError("no bond today")
        self.node, self.topic, self.id, self.period = node, topic, bond_id, None
        self.pub = node.create_publisher(Empty, topic, 1)

    def set_heartbeat_period(self, period):
        self.period = period

    def say(self, what):
        listed = len(list(self.node.subscriptions))
        print("bond:", what, self.topic, self.id, self.period, listed, file=sys.stderr, flush=True)

    def start(self):
        self.sub = self.node.create_subscription(Empty, self.topic, print, 1)
        self.say("start")

    def break_bond(self):
        self.say("break")

    def shutdown(self):
        self.sub.destroy()
        self.pub.destroy()
        self.say("shutdown")
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "bondpy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "bondpy.py").write_text(STAND_IN)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def said(server: Server) -> list[str]:
    return [line[6:] for line in server.log.splitlines() if line.startswith("bond: ")]


@pytest.mark.usefixtures("stand_in")
def test_bond_exists_while_active(start: Start) -> None:
    server, bench = start("tied", autostart=False, bond_heartbeat_period=0.25)
    assert bench.transition("configure")
    assert said(server) == []
    for _ in range(2):
        assert bench.transition("activate")
        assert bench.transition("deactivate")
    assert bench.transition("cleanup")
    done = [line.rpartition(" ") for line in said(server)]
    words = ["start", "break", "shutdown"]
    assert [what for what, _, _ in done] == [f"{word} bond tied 0.25" for word in words * 2]
    # The subscription of the first bond is gone when the second one starts.
    assert len({listed for _, _, listed in done}) == 1


@pytest.mark.usefixtures("stand_in")
def test_period_of_zero_makes_no_bond(start: Start) -> None:
    server, bench = start("loose", bond_heartbeat_period=0.0)
    bench.publish()
    bench.until_status(*FREE)
    assert said(server) == []


@pytest.mark.usefixtures("stand_in")
def test_bond_that_cannot_be_made_is_logged(start: Start) -> None:
    """The server answers nevertheless; the manager finds out that there is no bond."""
    server, bench = start("refused")
    bench.publish()
    bench.until_status(*FREE)
    assert "no bond today" in server.log


def test_bond_with_bondpy(start: Start) -> None:
    bondpy = pytest.importorskip("bondpy.bondpy", reason="bondpy is not installed")
    _, bench = start("bonded", autostart=False)
    assert bench.transition("configure")
    others: list[Any] = []  # bondpy's own end of a bond disturbs the executor: keep them all
    for _ in range(2):
        others.append(bondpy.Bond(bench.node, "bond", "bonded"))
        others[-1].set_heartbeat_period(0.1)
        others[-1].start()
        assert bench.transition("activate")
        bench.until(lambda: "Alive" in repr(others[-1]), "bond")
        end = time.monotonic() + 1.0  # until the server has heard of this end, too
        while time.monotonic() < end:
            bench.spin(0.02)
        assert bench.transition("deactivate")
        bench.until(others[-1].is_broken, "broken bond")
