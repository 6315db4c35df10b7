# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Each pose of a batch has the verdict that it has alone.

The oracle is one request for each pose, and for arcs the poses on them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import questions

from gjk_collision import Path, Status, Verdict, _core
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config, FootprintConfig, SourceConfig

S = 1_000_000_000
CASES = int(os.environ.get("GJK_CASES", "40"))
BIG = (2.0, 1.0, -2.0, 1.0, -2.0, -1.0, 2.0, -1.0)
FOOTPRINTS = FootprintConfig("small", robot_radius=0.3), FootprintConfig("big", footprint=BIG)
NAMES = np.array(["", "small", "big"])
OPEN = (Status.TIME_BUDGET, Status.UNDEFINED)


def some_snapshot(rng: np.random.Generator) -> Snapshot:
    n = int(rng.integers(0, 12))
    counts = rng.integers(3, 7, n)
    points = rng.normal(0, 1, (counts.sum(), 2)) + np.repeat(rng.uniform(-8, 8, (n, 2)), counts, 0)
    fields = {"ids": np.arange(n), "offsets": np.r_[0, np.cumsum(counts)], "xy": points.ravel()}
    fields["velocities"] = rng.uniform(-1, 1, 3 * n) if rng.random() < 0.6 else np.empty(0)
    obstacles = Obstacles("odom", 10 * S, **fields)
    config = Config(
        robot_radius=0.8,
        footprints=FOOTPRINTS,
        sources=(SourceConfig("obstacles", timeout=5.0),),
        prediction_horizon=float(rng.uniform(0.5, 4.0)),
    )
    world = World(config)
    world.receive_obstacles("obstacles", obstacles, now=10 * S, steady=S)
    snapshot = world.snapshot(now=10 * S + S // 10, steady=S)
    if rng.random() < 0.2:
        fault = Fault(Status.STALE_OBSTACLES, "stale")
        return replace(snapshot, fault=fault, data_fault=fault)
    return snapshot


def some_budget(rng: np.random.Generator) -> _core.Budget:
    """Over after some chunks, or not at all."""
    left = iter(range(int(rng.integers(0, 6)), -1, -1))
    first = int(rng.integers(1, 20))
    if rng.random() < 0.5:
        return _core.Budget()
    return _core.Budget(lambda: not next(left, 0), first_chunk=first, chunk_time=0.0)


@pytest.mark.requirement("V-15")
@pytest.mark.parametrize("seed", range(CASES))
def test_each_pose_of_a_batch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    snapshot, m = some_snapshot(rng), int(rng.integers(1, 60))
    poses = np.c_[rng.uniform(-9, 9, (m, 2)), rng.uniform(-3, 3, m)]
    times = rng.uniform(0, 5, m) if rng.random() < 0.5 else np.empty(0)
    names = NAMES[rng.integers(0, 3, int(rng.integers(1, 5)))].tolist()
    which, mode = rng.integers(0, len(names), m), int(rng.integers(0, 4))
    cuts = rng.choice(np.arange(1, m), min(m - 1, 3), replace=False) if m > 1 else []
    ends = np.r_[0, np.sort(cuts), m].astype(int) if rng.random() < 0.5 else np.empty(0, int)
    frame = Pose(*rng.uniform(-3, 3, 3).tolist()) if rng.random() < 0.5 else Pose()
    common: dict[str, Any] = {"frame": frame, "margin": 0.1, "mode": mode}
    of_batch = {"stop_at_first": bool(rng.random() < 0.4), "which": which, "group_offsets": ends}
    budget, many = some_budget(rng), snapshot.chosen_among(names)
    batch = questions.check_poses(many, poses.ravel(), times, budget=budget, **of_batch, **common)
    alone = [
        questions.check_poses(snapshot.chosen(names[k]), pose, times[i : i + 1], **common)
        for i, (k, pose) in enumerate(zip(which, poses, strict=True))
    ]
    verdicts = np.array([each.verdicts[0] for each in alone])
    left_open = (batch.verdicts == Verdict.UNKNOWN) & (verdicts != Verdict.UNKNOWN)
    assert ((batch.verdicts == verdicts) | left_open).all()
    has_fault = snapshot.fault is not None
    assert has_fault or np.isin(batch.statuses[left_open], OPEN).all()
    assert not has_fault or not (batch.verdicts == Verdict.FREE).any()
    if batch.verdict is Verdict.FREE:
        assert (verdicts == Verdict.FREE).all()
    if not left_open.any() and (verdicts == Verdict.COLLISION).any():
        assert batch.verdict is Verdict.COLLISION
    for begin, end, first in [
        (0, m, batch.first_invalid_index),
        *zip(ends[:-1], ends[1:], batch.group_first_invalid, strict=True),
    ]:
        invalid = np.flatnonzero(batch.verdicts[begin:end] != Verdict.FREE)
        assert first == (invalid[0] if len(invalid) else -1)
    for i in np.flatnonzero(~left_open) if mode else ():
        assert np.array_equal(batch.distances[i], alone[i].distances[0], equal_nan=True)
        assert np.array_equal(batch.lower_bounds[i], alone[i].lower_bounds[0], equal_nan=True)


@pytest.mark.requirement("V-15")
@pytest.mark.parametrize("seed", range(CASES))
def test_the_free_part_of_arcs(seed: int) -> None:
    """Before it, no pose is hit: with a horizon, and wherever the time ends."""
    rng = np.random.default_rng(seed)
    snapshot, n = some_snapshot(rng), int(rng.integers(1, 6))
    start = np.r_[rng.uniform(-9, 9, 2), rng.uniform(-3, 3)]
    arcs = np.c_[rng.uniform(-0.6, 0.6, n), rng.uniform(-4.0, 5.0, n)]
    times = np.cumsum(rng.uniform(0.05, 1.2, n + 1)) if rng.random() < 0.5 else np.empty(0)
    path = questions.check_path(
        snapshot, start, times, arcs=arcs.ravel(), margin=0.1, budget=some_budget(rng)
    )
    line = Path.arcs(start, arcs)
    shares = np.linspace(0.0, 1.0, 80)
    ends = np.r_[0.0, np.cumsum(np.abs(arcs[:, 1]))]
    at = np.interp(shares * ends[-1], ends, times) if len(times) else np.empty(0)
    dense = questions.check_poses(snapshot, line.at(shares * ends[-1]).ravel(), at, margin=0.1)
    if path.verdict is Verdict.FREE:
        assert dense.verdict is Verdict.FREE
    free = 1.0 if path.first_invalid_segment < 0 else path.last_valid_fraction
    assert (dense.verdicts[shares < free - 1e-6] == Verdict.FREE).all()
