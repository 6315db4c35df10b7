# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What sources with `marks_seen` have seen, and when a server says NOT_SEEN."""

from __future__ import annotations

from math import cos, inf, nan, pi, radians, sin
from types import SimpleNamespace as Message
from typing import Any, ClassVar

import numpy as np
import pytest
import questions
from questions import Answer
from scipy.spatial.transform import Rotation

from gjk_collision.errors import InputError
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.frames.poses import FrameError, Pose, SameFrameOnly
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import (
    COSTMAP,
    GRID,
    SCAN,
    Config,
    FootprintConfig,
    SourceConfig,
)
from gjk_collision.verdict import Status, Verdict

S = 1_000_000_000
T0 = 100 * S
VEHICLE = (0.3, 0.2, -0.3, 0.2, -0.3, -0.2, 0.3, -0.2)


class Driving(SameFrameOnly):
    """The vehicle drives along x with 1 m/s; its lasers are fixed to it, the map to odom."""

    LASERS: ClassVar = {
        "front": Pose(0.2, 0.0, 0.0),
        "rear": Pose(-0.2, 0.0, pi),
        "map": Pose(1.0, 1.0, 0.5),
    }

    is_lost = False  # the vehicle

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        assert target == "odom"
        if self.is_lost and source == "base_link":
            raise FrameError(Status.TF_EXTRAPOLATION, "not yet")
        if source == "map":
            return self.LASERS[source]
        base = Pose((stamp - T0) / S, 0.0, 0.0)
        if source == "lost":
            raise FrameError(Status.TF_EXTRAPOLATION, "not yet")
        return base if source == "base_link" else base.of(self.LASERS[source])

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        return self.lookup(target, source, T0), 0 if source == "map" else T0


def scan(frame: str, stamp: int, ranges: Any, view: float = 180.0) -> Message:
    step = radians(view) / (len(ranges) - 1)
    return Message(
        header=Message(frame_id=frame, stamp=Message(sec=stamp // S, nanosec=stamp % S)),
        angle_min=-radians(view) / 2, angle_max=radians(view) / 2, angle_increment=step,
        range_min=0.1, range_max=10.0, ranges=np.array(ranges, dtype=np.float32),
        intensities=np.empty(0, np.float32),
    )  # fmt: skip


def world(
    *names: str, source: dict[str, Any] | None = None, **parameters: Any
) -> tuple[World, Config]:
    given: dict[str, Any] = {"type": SCAN, "marks_seen": True, "invalid_returns": "no_return"}
    sources = tuple(SourceConfig(name, **(given | (source or {}))) for name in names)
    config = Config(
        **{"footprint": VEHICLE, "sources": sources, "require_seen": True} | parameters
    )
    return World(config, Driving()), config


def send(world: World, name: str, message: Any, now: int | None = None) -> None:
    source = world.config.source(name)
    stamp = message.header.stamp.sec * S + message.header.stamp.nanosec
    data = CONVERTERS[source.type](message, world.config, source)
    now = stamp if now is None else now
    world.receive_obstacles(name, data, now=now, steady=now)


def grid(cells: np.ndarray, stamp: int) -> Message:
    origin = Message(
        position=Message(x=0.0, y=-1.0, z=0.0), orientation=Message(x=0.0, y=0.0, z=0.0, w=1.0)
    )
    (rows, columns), size = cells.shape, 0.1
    info = Message(
        width=columns, height=rows, size_x=columns, size_y=rows, resolution=size, origin=origin
    )
    header = Message(frame_id="map", stamp=Message(sec=stamp // S, nanosec=stamp % S))
    return Message(header=header, info=info, metadata=info, data=cells.ravel())


def grid_answer(world: World, along: float, across: float, now: int) -> Answer:
    """The answer at a place in the frame of the map, whose grid begins at (0, -1)."""
    x, y = along * cos(0.5) - across * sin(0.5), along * sin(0.5) + across * cos(0.5)
    place = Pose(1.0 + x, 1.0 + y, 0.5)
    return questions.collide(world.snapshot(now=now, steady=now), place)


def ask(world: World, x: float, y: float = 0.0, now: int = T0, margin: float = 0.0) -> Answer:
    return questions.collide(world.snapshot(now=now, steady=now), Pose(x, y, 0.0), margin)


def is_seen(world: World, *place: float, now: int = T0) -> bool:
    answer = ask(world, *place, now=now)
    assert answer.verdict is (Verdict.FREE if answer.is_free else Verdict.UNKNOWN)
    assert answer.is_free or answer.status is Status.NOT_SEEN
    return answer.is_free


def wall(distance: float, beams: int = 721) -> list[float]:
    """A wall across the view, at x = distance before the sensor."""
    angles = np.linspace(-pi / 2, pi / 2, beams)
    found = distance / np.maximum(np.cos(angles), 1e-9)
    return [float(r) if r <= 10.0 else inf for r in found]


@pytest.mark.requirement("V-26")
def test_space_that_no_source_has_seen_is_not_free() -> None:
    made, _ = world("front")
    send(made, "front", scan("front", T0, wall(3.0)))
    assert is_seen(made, 2.0)
    assert ask(made, 3.3).verdict is Verdict.COLLISION  # the wall
    behind = ask(made, 4.0)
    assert (behind.verdict, behind.status) == (Verdict.UNKNOWN, Status.NOT_SEEN)
    assert behind.message.startswith("not seen: (3.700, -0.200) in the check frame, 0.5")
    assert "from what 'front' has seen (require_seen)" in behind.message
    loose, _ = world("front", require_seen=False)
    send(loose, "front", scan("front", T0, wall(3.0)))
    assert is_seen(loose, 4.0)
    unmarked, _ = world("front", "rear", source={"required": False})
    send(unmarked, "rear", scan("rear", T0, wall(3.0)))
    assert not is_seen(unmarked, 2.0)
    assert is_seen(unmarked, -2.0)


def test_two_sensors_and_the_vehicle_between_them_have_seen_a_union() -> None:
    made, _ = world("front", "rear")
    send(made, "front", scan("front", T0, wall(5.0)))
    send(made, "rear", scan("rear", T0, wall(5.0)))
    assert is_seen(made, 0.0)  # the vehicle itself
    assert is_seen(made, 0.25)
    assert not is_seen(made, 0.0, 0.1)  # beside it, between the sensors
    alone, _ = world("front")
    send(alone, "front", scan("front", T0, wall(5.0)))
    assert is_seen(alone, 0.0)
    assert not is_seen(alone, -0.05)


@pytest.mark.parametrize("radius", [0.05, 0.3, 3.0])
def test_a_round_vehicle_stands_on_seen_ground(radius: float) -> None:
    made, _ = world("front", footprint=(), robot_radius=radius)
    send(made, "front", scan("front", T0, [nan] * 10))
    assert is_seen(made, 0.0)
    assert not is_seen(made, 0.002)


def test_only_the_space_that_the_vehicle_has_filled_counts() -> None:
    """A topic's outline may have grown, and one for a speed includes the way to stop."""
    made, _ = world("front", footprint=(), seen_for=5.0)
    blind = [nan] * 10
    for ms, size in ((0, 0.1), (500, 0.4)):
        now = T0 + ms * S // 1000
        points = size * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])
        made.receive_footprint(Footprint("base_link", now, points), now=now, steady=now)
        send(made, "front", scan("front", now, blind))
        assert is_seen(made, ms / 1000, now=now)
    assert not is_seen(made, 0.0, now=now)
    points, later = 2.0 * points, now + S // 10
    made.receive_footprint(Footprint("base_link", later, points), now=later, steady=later)
    assert not is_seen(made, 0.5, now=later), "it was not so large at the stamp of the scan"
    send(made, "front", scan("front", later, blind))
    assert is_seen(made, 0.6, now=later)
    names = ("slow", "fast")
    shapes = tuple(FootprintConfig(each, VEHICLE) for each in names)
    by_speed = {"footprints": shapes, "speed_footprints": names, "twist_topic": "odom"}
    for outline, expected in (((), 0), (VEHICLE, 1)):
        made, _ = world("front", footprint=outline, **by_speed)
        send(made, "front", scan("front", T0, blind))
        seen = made.snapshot(now=T0, steady=T0).seen
        assert sum(name == "footprint" for name, _ in seen) == expected


def test_the_space_of_the_vehicle_counts_when_its_transform_comes() -> None:
    drive = Driving()
    drive.is_lost = True
    made = World(world("front")[1], drive)
    send(made, "front", scan("front", T0, [nan] * 10))
    assert not is_seen(made, 0.0)
    drive.is_lost, drive.late = False, 1
    assert is_seen(made, 0.0)


@pytest.mark.parametrize(("kind", "full", "unknown"), [(GRID, 100, -1), (COSTMAP, 254, 255)])
def test_a_cell_that_was_occupied_was_not_seen_to_be_free(
    kind: str, full: int, unknown: int
) -> None:
    marked = {"type": kind, "invalid_returns": "error", "unknown_is_occupied": False}
    made, _ = world("map", source=marked, seen_for=5.0)
    cells = np.zeros((40, 60), dtype=np.int8 if kind == GRID else np.uint8)
    cells[18:22, 40:44] = full
    send(made, "map", grid(cells, T0))
    assert grid_answer(made, 4.2, 1.0, T0).verdict is Verdict.COLLISION
    now = T0 + S // 10
    send(made, "map", grid(np.full_like(cells, unknown), now))
    assert grid_answer(made, 4.2, 1.0, now).status is Status.NOT_SEEN
    assert grid_answer(made, 1.5, 0.5, now).is_free


def test_space_counts_as_seen_for_a_time() -> None:
    made, _ = world("front", seen_for=1.0)
    send(made, "front", scan("front", T0, wall(3.0)))
    now = T0
    for _ in range(20):  # the wall seems to be at 3 m; a blind scan from then on
        now += S // 10
        send(made, "front", scan("front", now, [nan] * 721))
        assert is_seen(made, 1.5, 1.0, now=now) == (now - T0 <= S)
    short, _ = world("front")
    send(short, "front", scan("front", T0, wall(3.0)))
    first = short.snapshot(now=T0, steady=T0).id
    send(short, "front", scan("front", T0 + S // 10, [nan] * 721))
    assert not is_seen(short, 2.0, now=T0 + S // 10)
    assert short.snapshot(now=T0 + S // 10, steady=T0 + S // 10).id != first


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_corrected_sensor_has_not_seen_what_was_before_it(is_turned: bool) -> None:
    tree = TransformTree(T0)
    tree.insert("odom", "base_link", 0, Placement(), static=True)
    tree.insert("base_link", "front", 0, Placement(), static=True)
    _, config = world("front", seen_for=5.0)
    made, now = World(config, tree), T0 + S // 10
    send(made, "front", scan("front", T0, wall(3.0)))
    send(made, "front", scan("front", now, [nan] * 721), now)
    assert is_seen(made, 1.5, now=now)
    if is_turned:
        turned = Placement(rotation=(0.0, 0.0, 1.0, 0.0))
        tree.insert("base_link", "front", 0, turned, static=True)
    assert is_seen(made, 1.5, now=now) != is_turned
    assert is_seen(made, -1.5, now=now) == is_turned


def test_the_past_is_thinned_forgotten_and_placed_where_it_was() -> None:
    made, _ = world("front", seen_for=0.8)
    for k in range(41):
        send(made, "front", scan("front", T0 + k * S // 20, wall(3.0)))
    now = T0 + 2 * S
    seen = made.snapshot(now=now, steady=now).seen
    scans = [region.bounds[0] for name, region in seen if name == "front"]
    assert len(scans) in (8, 9)
    assert min(scans) == pytest.approx(2.0 - 0.8 + 0.2, abs=0.06)
    assert is_seen(made, 1.4, now=now)  # where the vehicle was
    assert not is_seen(made, 0.5, now=now)
    made.reset()
    send(made, "front", scan("front", now, wall(3.0)))
    assert len(made.snapshot(now=now, steady=now).seen) == 2


def test_a_place_that_is_not_known_has_not_been_seen() -> None:
    made, _ = world("front", "other", source={"required": False}, seen_for=1.0)
    send(made, "front", scan("front", T0, wall(3.0)))
    send(made, "other", scan("lost", T0, wall(3.0)))
    send(made, "other", scan("lost", T0 + S // 5, wall(3.0)))
    assert ask(made, 2.0, now=T0 + S // 5).status is Status.TF_EXTRAPOLATION
    now = T0 + 4 * S // 5  # `other` is too old, which is excused
    send(made, "front", scan("front", now, wall(3.0)))
    assert {name for name, _ in made.snapshot(now=now, steady=now).seen} == {"front", "footprint"}


def test_what_is_uncertain_makes_the_region_smaller() -> None:
    plain, _ = world("front", source={"point_radius": 0.0})
    wide, _ = world("front", source={"point_radius": 0.0, "inflation": 0.1})
    for made in (plain, wide):
        send(made, "front", scan("front", T0, [inf] * 721))
    limit = 10.2 - 0.3 - 0.003  # the end of the view, less the half of the vehicle
    assert is_seen(plain, limit)
    assert not is_seen(wide, limit)
    assert not is_seen(wide, limit - 0.09)
    assert is_seen(wide, limit - 0.11)
    near, _ = world("front", source={"clear_range": 4.0, "point_radius": 0.0})
    send(near, "front", scan("front", T0, [inf] * 721))
    wide, _ = world("front", source={"point_radius": 0.2}, seen_for=5.0)
    send(wide, "front", scan("front", T0, wall(3.0)))
    now = T0 + S // 10
    send(wide, "front", scan("front", now, [nan] * 721))  # it sees the wall no more
    assert is_seen(wide, 2.65, now=now)
    assert not is_seen(wide, 2.75, now=now)
    assert is_seen(near, 3.8)
    assert not is_seen(near, 4.0)


@pytest.mark.parametrize("kind", [GRID, COSTMAP])
def test_known_cells_of_a_grid_are_seen(kind: str) -> None:
    marked = {"type": kind, "invalid_returns": "error", "static": kind == GRID}
    made, _ = world("map", source={**marked, "unknown_is_occupied": False})
    cells = np.zeros((40, 60), dtype=np.int8 if kind == GRID else np.uint8)
    cells[:, 30:] = -1 if kind == GRID else 255
    send(made, "map", grid(cells, T0))
    for along, across, expected in ((1.5, 0.5, True), (2.5, 0.5, True), (2.8, 0.5, False),
                                    (4.5, 0.5, False), (0.2, 0.5, False)):  # fmt: skip
        found = grid_answer(made, along, across, T0)
        assert found.is_free == expected, (along, across, found)


def test_every_question_says_it() -> None:
    made, _ = world("front")
    send(made, "front", scan("front", T0, wall(3.0)))
    snapshot: Snapshot = made.snapshot(now=T0, steady=T0)
    poses = np.array([(1.0, 0.0, 0.0), (2.0, 0.0, 0.0), (2.0, 3.0, 0.0), (-1.0, 0.0, 0.0)]).ravel()
    found = questions.check_poses(snapshot, poses)
    assert found.results["statuses"].tolist() == [1, 1, 1, Status.NOT_SEEN]
    assert (found.status, found.results["first_invalid_index"]) == (Status.NOT_SEEN, 3)
    assert "not seen: (-" in found.message
    path = questions.check_path(snapshot, poses[[3, 4, 5, 9, 10, 11]])
    assert (path.verdict, path.status) == (Verdict.UNKNOWN, Status.NOT_SEEN)
    assert path.results["last_valid_fraction"] == pytest.approx(2.0 / 3.0, abs=0.01)
    assert "not seen: (-" in path.message
    arcs = questions.check_path(snapshot, poses[3:6], arcs=np.array([0.0, -3.0]))
    assert arcs.status is Status.NOT_SEEN
    assert arcs.results["last_valid_fraction"] == pytest.approx(2.0 / 3.0, abs=0.01)
    near = questions.distance(snapshot, Pose(-1.0, 0.0, 0.0), 2)
    assert near.status is Status.NOT_SEEN
    assert not len(near.results["ids"])
    free = questions.nearest_free(snapshot, Pose(-1.0, 0.0, 0.0), 3.0)
    assert free.is_free
    assert free.results["free_pose"][0] == pytest.approx(0.5, abs=0.001)
    none = questions.nearest_free(snapshot, Pose(-1.0, 0.0, 0.0), 0.5)
    assert (none.verdict, none.status) == (Verdict.UNKNOWN, Status.NOT_SEEN)
    steep = questions.check_poses(snapshot, poses, mode=3, k=1)
    assert np.isnan(steep.results["gradients"][9:]).all()
    state = questions.state(snapshot, Pose(-1.0, 0.0, 0.0), None)
    assert state.status is Status.NOT_SEEN


@pytest.mark.parametrize("roll", [180.0, 181.5, 178.5])
def test_a_lidar_may_hang_upside_down(roll: float) -> None:
    """What it returned, and what it has seen, are where a rotation in space puts them."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, y, yaw = rng.uniform(-3, 3, 3)
        turn = Rotation.from_euler("ZX", [yaw, radians(roll)])
        tree = TransformTree(T0)
        place = Placement((x, y, 2.0), tuple(turn.as_quat()))
        tree.insert("odom", "front", T0, place, static=False)
        source = SourceConfig("front", type=SCAN, marks_seen=True, point_radius=0.01)
        made = World(Config(robot_radius=0.05, sources=(source,), require_seen=True), tree)
        ranges = rng.uniform(2.0, 5.0, 46)
        message = scan("front", T0, ranges, 90.0)
        message.angle_min, message.angle_max = 0.0, pi / 2  # to one side only
        send(made, "front", message)
        angles = np.linspace(0.0, pi / 2, 46)
        for share, verdict in (1.0, Verdict.COLLISION), (0.3, Verdict.FREE), (-0.3, 0):
            local = share * ranges[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
            for point in turn.apply(np.c_[local, np.zeros(46)])[3:-3, :2] + (x, y):
                assert ask(made, *point).verdict is Verdict(verdict)
    with pytest.raises(FrameError, match="must not be tilted out of the plane"):
        tree.lookup("odom", "front", T0)  # of anything but obstacles
    tilted = tuple(Rotation.from_euler("X", 170.0, degrees=True).as_quat())
    tree.insert("odom", "front", T0, Placement((0.0, 0.0, 0.0), tilted), static=False)
    made = World(made.config, tree)
    send(made, "front", scan("front", T0, ranges))
    assert "the frame 'front' is tilted by 10 degrees" in ask(made, 0.0).message


def test_a_scan_from_below_waits_for_its_transform() -> None:
    """Until then, the scan before is used."""
    tree, now = TransformTree(T0), T0 + 10_000_000
    below = Placement((0.0, 0.0, 2.0), (1.0, 0.0, 0.0, 0.0))
    tree.insert("odom", "front", T0, below, static=False)
    source = SourceConfig("front", type=SCAN)
    made = World(Config(robot_radius=0.05, sources=(source,)), tree)
    for stamp in (T0, now):
        send(made, "front", scan("front", stamp, wall(3.0)))
        assert made.snapshot(now=stamp, steady=stamp).fault is None


def test_only_scans_and_grids_mark() -> None:
    with pytest.raises(InputError, match="marks_seen: has no effect on the type"):
        SourceConfig("obstacles", marks_seen=True)
