# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Margins of obstacles in messages: they count in every answer, also from another frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import questions
from replays import define, replay, rows_of
from worlds import CAR, T0, S, boxes
from write_scenarios import CAR as OTHER_CAR
from write_scenarios import Road, at, steps, thing

from gjk_collision.replay.bag import Bag
from gjk_collision.replay.interfaces import default_types
from gjk_collision.replay.write import BagWriter
from gjk_collision.report.outcome import Outcome
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose, SameFrameOnly
from gjk_collision.server.parameters.config import OBSTACLE_ARRAY, Config, SourceConfig
from gjk_collision.verdict import Verdict

HERE = Pose()
MODES = range(3)


class Turned(SameFrameOnly):
    """The frame lidar is at (10, 0) in odom, turned by 90 degrees."""

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        assert (target, source) == ("odom", "lidar")
        return Pose(10.0, 0.0, np.pi / 2)

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        return self.lookup(target, source, T0), T0


def box(x: float, y: float, **fields: Any) -> Obstacles:
    return boxes((x, y), **{"ids": np.array([7]), "velocities": np.zeros(3), **fields})


def world_of(*lists: Obstacles, age: float = 0.0, **config: Any) -> tuple[World, dict[str, int]]:
    """A world with one list of obstacles per source."""
    names = [f"source{i}" for i in range(len(lists))]
    sources = tuple(SourceConfig(name) for name in names)
    world = World(Config(**{"footprint": CAR, "sources": sources, **config}), Turned())
    for name, each in zip(names, lists, strict=True):
        world.receive_obstacles(name, each, now=T0, steady=0)
    return world, {"now": T0 + round(age * S), "steady": round(age * S)}


def test_the_margin_of_an_obstacle_counts() -> None:
    """The gap is 3 m. A list without margins beside it stays as it is."""
    beside = box(-20.0, 0.0, ids=np.array([8]))
    for margin, verdict in ((2.9, Verdict.FREE), (3.1, Verdict.MARGIN)):
        near = box(5.0, 0.0, margins=np.array([margin]))
        for lists in ((near,), (near, beside), (beside, near)):
            world, now = world_of(*lists)
            snapshot = world.snapshot(**now)
            nearest = questions.distance(snapshot, HERE)
            assert nearest.distances[0] == pytest.approx(3.0)
            found = [nearest, questions.collide(snapshot, HERE)]
            found += [questions.state(snapshot, HERE, None)]
            found += [questions.check_path(snapshot, np.zeros(6))]
            found += [questions.check_poses(snapshot, np.zeros(6), mode=m) for m in MODES]
            assert {each.verdict for each in found} == {verdict}
            assert questions.collide(snapshot, HERE, 0.5).verdict == Verdict.MARGIN
            hit = questions.collide(snapshot, Pose(3.5, 0.0, 0.0))
            assert hit.verdict == Verdict.COLLISION


@pytest.mark.requirement("V-19")
@pytest.mark.parametrize("age", [0.0, 0.25])
def test_it_grows_from_the_stamp_on(age: float) -> None:
    """The gap is 3 m: MARGIN from 2.5 s after the stamp of the data on, whatever its age."""
    data = box(5.0, 0.0, margins=np.array([0.5]), margin_rates=np.array([1.0]))
    world, now = world_of(data, age=age)
    snapshot = world.snapshot(**now)
    assert questions.collide(snapshot, HERE).verdict == Verdict.FREE
    times = np.array([0.0, 2.49, 2.51]) - age + np.array([age, 0.0, 0.0])
    for mode in MODES:
        found = questions.check_poses(snapshot, np.zeros(9), times, mode=mode)
        assert list(found.verdicts) == [Verdict.FREE, Verdict.FREE, Verdict.MARGIN]
    path = questions.check_path(snapshot, np.zeros(6), np.array([0.0, 4.0]))
    assert path.verdict == Verdict.MARGIN and path.nearest_id == 7
    assert path.last_valid_fraction * 4.0 == pytest.approx(2.5 - age, abs=0.02)
    assert path.last_valid_fraction * 4.0 <= 2.5 - age


def test_each_source_grows_from_its_own_stamp() -> None:
    grows = {"margin_rates": np.array([1.0])}
    older = box(5.0, 0.0, stamp=T0 - S // 4, **grows)
    newer = box(-5.0, 0.0, ids=np.array([8]), **grows)
    world, now = world_of(older, newer)
    found = questions.check_poses(
        world.snapshot(**now), np.tile([0.0, 0.0, 0.0], 2), np.array([2.7, 2.8])
    )
    assert list(found.verdicts) == [Verdict.FREE, Verdict.MARGIN]
    assert found.nearest_ids[1] == 7


def test_from_another_frame() -> None:
    """(0, 5) in lidar is (5, 0) in odom."""
    data = box(0.0, 5.0, frame="lidar", margins=np.array([2.0]), margin_rates=np.array([1.0]))
    world, now = world_of(data)
    snapshot = world.snapshot(**now)
    assert questions.collide(snapshot, HERE).verdict == Verdict.FREE
    assert questions.collide(snapshot, HERE, 1.1).verdict == Verdict.MARGIN
    found = questions.check_poses(snapshot, np.zeros(6), np.array([0.9, 1.1]))
    assert list(found.verdicts) == [Verdict.FREE, Verdict.MARGIN]


def test_inflation_and_margin_add_up() -> None:
    sources = (SourceConfig("source0", inflation=1.0),)
    world, now = world_of(box(5.0, 0.0, margins=np.array([2.1])), sources=sources)
    assert questions.collide(world.snapshot(**now), HERE).verdict == Verdict.MARGIN


def drive(path: Path, **fields: Any) -> None:
    with BagWriter(path) as writer:
        road = Road(writer)
        for t in steps(0.5):
            road.ego(t)
            road.obstacles(t, [thing(OTHER_CAR, 12.0, 0.0)])
        if fields:
            writer.obstacles(box(12.0, 0.0, stamp=at(0.55), sequence=99, **fields))


def test_replay_uses_the_margins(tmp_path: Path) -> None:
    drive(tmp_path / "bag", margins=np.array([30.0]))
    replay(tmp_path / "bag", tmp_path)
    verdicts = [row.verdict for row in rows_of(tmp_path)]
    assert verdicts[0] is Verdict.FREE and verdicts[-1] is Verdict.MARGIN


@pytest.mark.parametrize("is_defined", [True, False])
def test_recordings_without_margins_are_replayed(tmp_path: Path, is_defined: bool) -> None:
    """If the bag has the definition of the message. Otherwise, the reason is given."""
    with BagWriter(tmp_path / "bag") as writer:
        constants, fields = default_types()[OBSTACLE_ARRAY]
        older = [each for each in fields if each[0] not in ("margins", "margin_rates")]
        define(writer, {OBSTACLE_ARRAY: (constants, older)})
        made = writer.types[OBSTACLE_ARRAY]
        writer.types[OBSTACLE_ARRAY] = lambda margins, margin_rates, **rest: made(**rest)
        if not is_defined:
            writer._connections["/obstacles", OBSTACLE_ARRAY] = writer._writer.add_connection(
                "/obstacles", OBSTACLE_ARRAY, msgdef="", rihs01="RIHS01_0"
            )
        road = Road(writer)
        for t in steps(0.5):
            road.ego(t)
            road.obstacles(t, [thing(OTHER_CAR, 12.0, 0.0)])
    result = replay(tmp_path / "bag", tmp_path)
    if not is_defined:
        assert result.outcome is Outcome.BROKEN
        assert {row.verdict for row in rows_of(tmp_path)} == {Verdict.UNKNOWN}
        text = f"{OBSTACLE_ARRAY} is not defined in the bag, and differs from this version: "
        assert f"{text}replay with the version that recorded it; 0.12.0" in str(result)
        return
    assert result.outcome is Outcome.PASSED, result.failures
    assert {row.verdict for row in rows_of(tmp_path)} == {Verdict.FREE}
    with Bag(tmp_path / "bag") as bag:
        message = next(iter(bag.messages(["/obstacles"])))
        read = Obstacles.of(bag.decode(message))
        assert len(read) == 1 and len(read.margins) == len(read.margin_rates) == 0
