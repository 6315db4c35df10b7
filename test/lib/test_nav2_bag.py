# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""nav2's own acceptance: the bag and the limits of its collision_monitor_node_bag test.

The bag is not part of this package. It is nav2_collision_monitor/test/bags/cm_moving_obstacle of
navigation2: a costmap of 5 m x 5 m at 20 Hz, with one lethal cell under the robot from 3 s to 8 s.
"""

from __future__ import annotations

import os
from math import inf
from pathlib import Path

import pytest
from data import DATA
from replays import replay, rows_of

from gjk_collision.report.outcome import Outcome
from gjk_collision.verdict import Verdict

BAG = Path(os.environ.get("GJK_NAV2_BAG", DATA / "cm_moving_obstacle"))

# As in collision_monitor_node_bag.yaml: a stop zone of 1 m around the robot.
PARAMETERS = {
    "base_frame": "base_footprint",
    "check_frame": "base_footprint",
    "robot_radius": 1.0,
    "obstacles.type": "nav2_msgs/msg/Costmap",
    "obstacles.topic": "/local_costmap/costmap",
    "obstacles.timeout": 1.0,
    "obstacles.cost_threshold": 253,
}
BEGIN, END = 3.0, 8.0  # s: the obstacle is there
IN_A_ROW = 3  # answers that count as a change
GUARD = 0.2  # s


@pytest.mark.skipif(
    not (BAG / "metadata.yaml").is_file(),
    reason=f"nav2's bag is not at {BAG} (set GJK_NAV2_BAG to its folder)",
)
def test_limits_of_nav2(tmp_path: Path) -> None:
    result = replay(BAG, tmp_path, parameters=PARAMETERS)
    assert result.outcome is Outcome.PASSED, result.failures
    stopped = [(row.now * 1e-9, row.verdict is not Verdict.FREE) for row in rows_of(tmp_path)]
    assert len(stopped) > 200

    def first(begin: float, end: float, wanted: bool) -> float:
        """The time of the last of the first answers in a row that are as wanted."""
        count = 0
        for t, is_stopped in stopped:
            if begin <= t <= end:
                count = count + 1 if is_stopped == wanted else 0
                if count == IN_A_ROW:
                    return t
        return inf

    held = [is_stopped for t, is_stopped in stopped if BEGIN <= t <= END]
    clear = [s for t, s in stopped if t <= BEGIN - GUARD or t >= END + GUARD]
    assert first(BEGIN, END, True) - BEGIN <= 0.6
    assert sum(held) >= 0.90 * len(held) > 0
    assert first(END + GUARD, inf, False) - END <= 0.6
    assert sum(clear) <= 0.05 * len(clear)
    assert len(clear) > 100
