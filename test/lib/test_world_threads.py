# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots are asked in several threads while new data is received."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
import pytest
import questions
from worlds import CAR, S, boxes

from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Verdict

PLACES = 7
POSES = np.tile([[10.0 * i, 0.0, 0.0] for i in range(PLACES)], (60, 1))
UPDATES, THREADS = 400, 3


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def hits_in(snapshot: Snapshot) -> set[int]:
    verdicts = questions.check_poses(snapshot, POSES.ravel(), mode=1).verdicts
    is_hit = (verdicts == Verdict.COLLISION).reshape(-1, PLACES)
    hits = {tuple(np.flatnonzero(row)) for row in is_hit}
    assert len(hits) == 1, hits
    (place,) = hits.pop()
    path = questions.check_path(snapshot, POSES[:PLACES].ravel(), swept=False)
    assert path.first_invalid_segment == max(place - 1, 0)
    nearest = questions.distance(snapshot, Pose(*POSES[place]))
    assert nearest.verdict is Verdict.COLLISION
    return {int(place)}


def test_each_snapshot_keeps_its_answer() -> None:
    """The answer is that of the obstacles that the snapshot was made from, not of later ones."""
    world = World(Config(footprint=CAR))
    waiting: SimpleQueue[tuple[int, Snapshot] | None] = SimpleQueue()  # None: the end

    def ask() -> Counter[str]:
        counts: Counter[str] = Counter()
        while (asked := waiting.get()) is not None:
            place, snapshot = asked
            counts["right" if hits_in(snapshot) == {place} else "wrong"] += 1
        return counts

    with ThreadPoolExecutor(THREADS) as pool:
        found = [pool.submit(ask) for _ in range(THREADS)]
        try:
            for i in range(UPDATES):
                now, place = (1000 + i) * S, i % PLACES
                data = boxes((10.0 * place, 0.0), stamp=now)
                world.receive_obstacles("obstacles", data, now=now, steady=now)
                snapshot = world.snapshot(now=now, steady=now)
                world.keep(snapshot)
                for _ in range(THREADS):
                    waiting.put((place, snapshot))
                assert world.confirm(snapshot, now=now + 1, steady=now + 1).fault is None
        finally:
            for _ in range(THREADS):
                waiting.put(None)
        counts = sum((each.result() for each in found), Counter[str]())
    assert counts == {"right": UPDATES * THREADS}
