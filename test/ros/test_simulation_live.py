# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated chain is that of the real node: the same histories have the same answers.

``PYTHONPATH=test python -m simulation.live --histories 30`` compares more of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("nav_msgs", reason="nav_msgs is not installed")
sys.path.append(str(Path(__file__).parents[1]))

from simulation.live import Report, live_plan
from simulation.player import Player

LENGTH = 5.0  # s per history
ENOUGH = 100  # comparisons with only one possible answer


@pytest.mark.requirement("D-13")
def test_the_simulated_node_answers_like_the_real_one() -> None:
    report = Report()
    for seed in range(1, 13):  # two or three of them are enough on an idle machine
        # Only what comes again counts: the player does not see every delay of the machine.
        for _ in range(3):
            report.differences.clear()
            report.add(Player(live_plan(seed, LENGTH)).play())
            if not report.differences:
                break
        assert not report.differences, "\n".join(report.differences)
        if report.histories > 1 and report.counts["strong"] >= ENOUGH:
            return
    pytest.skip(f"this machine stood still too often: {report.reasons}")
