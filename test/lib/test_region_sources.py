# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Regions and static data of a source: kinds REGION and HOLE, and the parameter `static`.

The oracle of a region is the parity of crossings of a ray, for each outline alone.
"""

import random
import re
from math import cos, nan, pi, sin
from typing import Any

import numpy as np
import pytest
import questions
import sensors
import shapely

from gjk_collision import OUTSIDE, Scene
from gjk_collision.errors import InputError
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.inbox import Message
from gjk_collision.server.data.obstacles import HOLE, REGION, Obstacles
from gjk_collision.server.data.placing import Sender, compose_scene
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import NO_TRANSFORMS, World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.frames.transforms import Placement, TransformTree
from gjk_collision.server.parameters.config import COSTMAP, GRID, POLYGON, Config, SourceConfig
from gjk_collision.verdict import Status, Verdict

NS = 1_000_000_000
ROBOT = 0.25
Ring = list[tuple[float, float]]


def outlines(
    rings: list[tuple[int, Ring]], frame: str = "odom", source: str = "", **arrays: Any
) -> Obstacles:
    points = np.array([point for _, ring in rings for point in ring], dtype=np.float64)
    return Obstacles(
        frame=frame,
        stamp=100 * NS,
        source=source,
        ids=np.arange(10, 10 + len(rings)),
        kinds=np.array([kind for kind, _ in rings], dtype=np.uint8),
        offsets=np.cumsum([0, *(len(ring) for _, ring in rings)]),
        xy=points.ravel(),
        **arrays,
    )


def box(x: float, y: float, width: float, height: float) -> Ring:
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def star(rng: random.Random, x: float, y: float, size: float) -> Ring:
    count = rng.randrange(3, 9)
    turn, step = rng.uniform(0, 2 * pi), 2 * pi / count
    return [
        (x + size * r * cos(turn + i * step), y + size * r * sin(turn + i * step))
        for i, r in enumerate(rng.uniform(0.4, 1.0) for _ in range(count))
    ]  # fmt: skip


def make_world(
    *sources: SourceConfig, transforms: Any = NO_TRANSFORMS, **parameters: Any
) -> World:
    sources = sources or (SourceConfig("fence"),)
    return World(Config(robot_radius=ROBOT, sources=sources, **parameters), transforms)


def turned_map(at: Pose) -> TransformTree:
    tree = TransformTree(100 * NS)
    turn = (0.0, 0.0, sin(at.yaw / 2), cos(at.yaw / 2))
    tree.insert("odom", "map", 0, Placement((at.x, at.y, 0.0), turn), static=True)
    return tree


FENCE = SourceConfig("fence", static=True)


class MovingMap:
    """A world with a static box of 2 m in a map that moves along x."""

    def __init__(self, x: float) -> None:
        self.tree = TransformTree(100 * NS)
        self.world = make_world(FENCE, transforms=self.tree)
        receive(self.world, outlines([(0, box(x, -1, 2, 2))], "map"))

    def moved(self, x: float, passed: float) -> int:
        """Place the map at x, this time after 101 s [s]; return the time."""
        now = 101 * NS + round(passed * NS)
        self.tree.set_time(now)
        self.tree.insert("odom", "map", now, Placement((x, 0.0, 0.0)), static=False)
        return now


def receive(world: World, data: Obstacles, source: str = "fence", now: int = 100 * NS) -> None:
    world.receive_obstacles(source, data, now=now, steady=now)


def shot(world: World, now: int = 100 * NS, **options: int) -> Snapshot:
    return world.snapshot(now=now, steady=now, **options)


def answer(world: World, x: float, y: float, now: int = 100 * NS) -> Any:
    return questions.collide(shot(world, now), Pose(x, y, 0.0))


def cells_of(rng: random.Random) -> tuple[np.ndarray, Any, Any]:
    """Return a grid of half metres, with the areas of its known and of its occupied cells."""
    cells = np.array([[rng.choice((0, 0, 0, 0, -1, 100)) for _ in range(12)] for _ in range(9)])
    squares = {(i, j): shapely.box(j / 2, i / 2, (j + 1) / 2, (i + 1) / 2)
               for i, j in np.ndindex(cells.shape)}  # fmt: skip
    known, occupied = (
        shapely.union_all([square for at, square in squares.items() if chosen[at]])
        for chosen in (cells >= 0, cells == 100)
    )
    return cells, known, occupied


@pytest.mark.parametrize("kind", [POLYGON, GRID, COSTMAP])
def test_the_vehicle_must_stay_in_what_a_source_marks(kind: str) -> None:
    """A polygon, or the known cells; also turned, with inflation, and in the frame of a map."""
    rng = random.Random(3)
    seen = dict.fromkeys((Verdict.FREE, Verdict.COLLISION), 0)
    for _ in range(20):
        at, inflation = Pose(*(rng.uniform(-3, 3) for _ in range(3))), rng.choice((0.0, 0.1))
        source = SourceConfig("fence", type=kind, marks_outside=True, inflation=inflation)
        world = World(Config(robot_radius=0.1, sources=(source,)), turned_map(at))
        cells, known, occupied = cells_of(rng)
        message = sensors.grid(cells)
        if kind == COSTMAP:
            given = np.select([cells == 100, cells == -1], [254, 255]).astype(np.uint8)
            message.metadata, message.data = message.info, given.ravel()
            message.metadata.size_x, message.metadata.size_y = cells.shape[::-1]
        elif kind == POLYGON:
            ring = star(rng, 3.0, 2.0, 3.0)
            message.polygon = sensors.polygon(*ring)
            known, occupied = shapely.Polygon(np.float32(ring)), shapely.Polygon()
        message.header.frame_id = "map"
        receive(world, CONVERTERS[kind](message, world.config, source))
        edges = shapely.union_all([known.boundary, occupied])
        for _ in range(100):
            u, v = rng.uniform(-1, 7), rng.uniform(-1, 5)
            x, y = at.transform(np.array([[u, v]]))[0].tolist()
            gap = float(edges.distance(shapely.Point(u, v))) - 0.1 - inflation
            found = answer(world, x, y)
            is_free = gap > 0 and known.contains(shapely.Point(u, v))
            if abs(gap) > 1e-6:
                assert found.verdict is (Verdict.FREE if is_free else Verdict.COLLISION)
                seen[found.verdict] += 1
    assert min(seen.values()) > 100, seen


@pytest.mark.requirement("V-21")
@pytest.mark.parametrize("seed", range(6))
def test_region_with_holes_and_obstacles(seed: int) -> None:
    """In one outline, outside of the holes and clear of the obstacles: FREE. Frames are turned."""
    rng = random.Random(seed)
    at = Pose(*(rng.uniform(-3, 3) for _ in range(3))) if seed else Pose()
    # Outlines that do not touch, so that the boundary is that of each of them.
    rings = [(REGION, star(rng, 20.0 * i, 0.0, 8.0)) for i in range(3)]
    holes = [(HOLE, star(rng, 20.0 * i, 0.0, 1.5)) for i in range(3)]
    solids = [(0, box(20.0 * i + 2.0, 1.0, 0.5, 0.5)) for i in range(3)]
    order = rings + holes + solids
    rng.shuffle(order)
    edges = shapely.union_all([shapely.LinearRing(ring) for _, ring in order])
    inside = shapely.union_all([shapely.Polygon(ring) for _, ring in rings])
    inside -= shapely.union_all([shapely.Polygon(ring) for _, ring in (*holes, *solids)])
    inflation = rng.choice((0.0, 0.2))
    world = make_world(SourceConfig("fence", inflation=inflation), transforms=turned_map(at))
    receive(world, outlines(order, frame="map"))
    seen = {Verdict.FREE: 0, Verdict.COLLISION: 0}
    by_id = {10 + i: kind for i, (kind, _) in enumerate(order)}
    for _ in range(300):
        u, v = rng.uniform(-10, 50), rng.uniform(-9, 9)
        x = at.x + cos(at.yaw) * u - sin(at.yaw) * v
        y = at.y + sin(at.yaw) * u + cos(at.yaw) * v
        point = shapely.Point(u, v)
        gap = float(edges.distance(point)) - ROBOT - inflation
        found = answer(world, x, y)
        seen[found.verdict] += 1
        if abs(gap) > 1e-9:
            is_free = gap > 0 and inside.contains(point)
            wanted = Verdict.FREE if is_free else Verdict.COLLISION
            assert found.verdict is wanted, (u, v, gap, found)
        assert found.nearest_id == OUTSIDE or by_id.get(found.nearest_id, 0) == 0
    assert min(seen.values()) > 10, seen


def test_outside_is_named_with_its_sender() -> None:
    world = make_world()
    receive(world, outlines([(0, box(3.0, 3.0, 0.5, 0.5)), (REGION, box(-5, -5, 10, 10))]))
    found = answer(world, 5.0, 0.0)
    assert found.verdict is Verdict.COLLISION
    assert (found.nearest_id, found.nearest_source) == (OUTSIDE, "fence")
    assert answer(world, 3.0, 3.0).nearest_id == 10
    snapshot = shot(world)
    near = questions.distance(snapshot, Pose(4.0, 0.0, 0.0), k=5)
    assert near.ids.tolist() == [OUTSIDE, 10]
    assert near.sources == ("fence", "fence")
    assert near.distances[0] == pytest.approx(1.0 - ROBOT)
    state = questions.state(snapshot, Pose(4.0, 0.0, 0.0), None)
    assert (state.nearest_id, state.distance) == (OUTSIDE, pytest.approx(0.75))


def test_outlines_with_a_common_edge_stay_one_region_in_every_frame() -> None:
    """The edge of one is a part of the edge of the other; rounded apart, it would be a wall."""
    rng = random.Random(7)
    for _ in range(50):
        at = Pose(rng.uniform(-1e3, 1e3), rng.uniform(-1e3, 1e3), rng.uniform(-pi, pi))
        world = make_world(transforms=turned_map(at))
        cut = rng.uniform(-1, 1)
        receive(world, outlines([(REGION, box(-4, -4, 4, 8)), (REGION, [(0, -3), (4, -3), (4, 3), (0, cut + 2)])], "map"))  # fmt: skip  # noqa: E501
        found = answer(world, at.x, at.y)  # in the middle of the common edge
        assert found.verdict is Verdict.FREE, at


UNIT = (REGION, box(0, 0, 1, 1))
SOLID = (0, box(0, 0, 1, 1))
PATH = {"path_offsets": np.array([0, 1]), "path_times": np.ones(1), "path_poses": np.zeros(3)}


@pytest.mark.parametrize(
    ("rings", "arrays", "text"),
    [
        ([(HOLE, box(0, 0, 1, 1))], {}, "HOLE"),  # a hole alone
        ([UNIT, (HOLE, box(-1, -1, 3, 3))], {}, "region"),  # no region is left
        ([SOLID, (REGION, [(0, 0), (1, 1), (1, 0), (0, 2)])], {}, r"xy\[8\]"),  # it crosses itself
        ([SOLID, (REGION, [(0, 0), (1, 1)])], {}, r"xy\[8\]"),
        ([(REGION, [(0, 0), (1, nan), (1, 0)])], {}, "xy"),
        ([UNIT, (4, box(0, 0, 1, 1))], {}, r"kinds\[1\]"),
        ([UNIT], {"poses": np.array([0.0, 1.0, 0.0])}, r"poses\[1\]"),
        ([UNIT], {"velocities": np.array([0.0, 1.0, 0.0])}, r"velocities\[1\]"),
        ([UNIT], {"radius": np.array([0.1])}, r"radius\[0\]"),
        ([UNIT], {"margins": np.array([0.1])}, r"margins\[0\]"),
        ([UNIT], {"margin_rates": np.array([0.1])}, r"margin_rates\[0\]"),
        ([UNIT], PATH, r"path_offsets\[0\]"),
        ([UNIT, (1, [(0, 0), (1, 1), (1, 0), (0, 1)])], {}, r"xy\[8\]: obstacle 1: the edge"),
    ],
)
def test_bad_region_is_unknown(rings: Any, arrays: dict[str, Any], text: str) -> None:
    world = make_world()
    receive(world, outlines(rings, **arrays))
    found = answer(world, 0.5, 0.5)
    assert found.verdict is Verdict.UNKNOWN
    assert re.search(f"^fence: .*{text}", found.message), found.message


def test_a_scene_has_no_kinds_of_regions() -> None:
    with pytest.raises(InputError, match=r"kinds\[0\]"):
        Scene.from_arrays([0, 4], np.array(box(0, 0, 1, 1)), kinds=[REGION])


def test_two_senders_with_a_region_are_refused() -> None:
    """What is meant, the union or the intersection, is not for the server to guess."""
    world = make_world()
    receive(world, outlines([(REGION, box(-5, -5, 10, 10))], source="one"))
    assert answer(world, 0.0, 0.0).verdict is Verdict.FREE
    receive(world, outlines([(REGION, box(-5, -5, 10, 10))], source="two"))
    found = answer(world, 0.0, 0.0)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.INVALID_INPUT)
    assert "one, two" in found.message
    message = Message(0, 0, outlines([(REGION, box(-5, -5, 10, 10))]), None)
    fence = Sender.of("one", SourceConfig("fence"), message, Pose(), Config())
    with pytest.raises(ValueError, match="at most one sender may have a region"):
        compose_scene([fence, fence], Config())


def test_an_obstacle_with_the_id_of_the_outside_is_refused_beside_a_region() -> None:
    world = make_world(SourceConfig("fence"), SourceConfig("other"))
    plain = outlines([(0, box(3, 3, 1, 1))])
    vars(plain)["ids"] = np.array([OUTSIDE])
    receive(world, plain, "other")
    receive(world, plain)
    assert answer(world, 0.0, 0.0).verdict is Verdict.FREE
    receive(world, outlines([(REGION, box(-5, -5, 10, 10))]))
    assert "other: ids" in answer(world, 0.0, 0.0).message


# ---- static sources


@pytest.mark.requirement("D-15")
def test_static_data_stays_valid_and_is_known_at_all_times() -> None:
    world = make_world(FENCE, SourceConfig("seen"))
    receive(world, outlines([(REGION, box(-50, -5, 100, 10)), (0, box(20, -5, 1, 10))]))
    late = 100 * NS + 3600 * NS
    live = outlines([(0, box(0, 3, 1, 1))], velocities=np.zeros(3))
    vars(live)["stamp"] = late
    receive(world, live, "seen", late)
    snapshot = shot(world, late)
    assert questions.collide(snapshot, Pose()).verdict is Verdict.FREE
    assert snapshot.max_obstacle_age == 0.0
    assert snapshot.oldest_data_stamp == late
    poses = np.array([0.0, 0.0, 0.0, 20.0, 0.0, 0.0])
    timed = questions.check_poses(snapshot, poses, np.array([4.0, 4.0]))
    assert timed.verdicts.tolist() == [Verdict.FREE, Verdict.COLLISION]
    # The other source is stale, as ever.
    stale = answer(world, 0.0, 0.0, late + NS)
    assert (stale.status, stale.message[:5]) == (Status.STALE_OBSTACLES, "seen:")


def test_snapshot_of_static_data_ends_with_the_next_message() -> None:
    world = make_world(FENCE)
    receive(world, outlines([(0, box(20, -5, 1, 10))]))
    late = 4000 * NS
    first = shot(world, late)
    again = shot(world, late, require_id=first.id)
    assert questions.collide(again, Pose()).verdict is Verdict.FREE
    receive(world, outlines([(0, box(-0.5, -5, 1, 10))]), now=late)
    shot(world, late)
    fault = shot(world, late, require_id=first.id).fault
    assert fault is not None and fault.status is Status.SNAPSHOT_MISMATCH
    assert f"the latest snapshot is {first.id + 1}" in fault.message


def test_static_data_alone_has_the_horizon_of_each_request() -> None:
    world = make_world(FENCE, prediction_horizon=2.0)
    receive(world, outlines([(0, box(20, -5, 1, 10))]))
    for later in (0, 10, 1000):
        snapshot = shot(world, (100 + later) * NS)
        timed = questions.check_poses(snapshot, np.zeros(6), np.array([1.9, 2.1]))
        assert timed.verdicts.tolist() == [Verdict.FREE, Verdict.UNKNOWN]


def test_static_data_survives_a_clock_that_goes_back_but_not_a_reset() -> None:
    world = make_world(FENCE)
    receive(world, outlines([(0, box(20, -5, 1, 10))]))
    assert answer(world, 0.0, 0.0, 50 * NS).verdict is Verdict.FREE
    newer = outlines([(0, box(-0.5, -5, 1, 10))])
    vars(newer)["stamp"] = 20 * NS  # of a sender that started again with the clock
    receive(world, newer, now=51 * NS)
    assert answer(world, 0.0, 0.0, 51 * NS).verdict is Verdict.COLLISION
    world.reset()
    assert answer(world, 0.0, 0.0, 51 * NS).status is Status.NO_OBSTACLES


@pytest.mark.requirement("D-15")
def test_static_data_is_placed_by_the_present_transform() -> None:
    fenced, ids = MovingMap(-1.0), set()
    assert answer(fenced.world, 0.0, 0.0).status is Status.UNKNOWN_FRAME
    for k, x in enumerate((0.0, 5.0, 5.0)):
        now = fenced.moved(x, 0.01 * k)
        assert (answer(fenced.world, 0.0, 0.0, now).verdict is Verdict.COLLISION) == (x == 0.0)
        ids.add(shot(fenced.world, now).id)
    assert len(ids) == 2
    old = answer(fenced.world, 0.0, 0.0, 102 * NS)
    assert (old.verdict, old.status) == (Verdict.UNKNOWN, Status.TF_EXTRAPOLATION)


def test_static_data_with_a_bad_place_is_used_again_at_a_good_one() -> None:
    fenced, said = MovingMap(20.0), []
    for k, x in enumerate((0.0, 1e16, 0.0, -20.0)):
        found = answer(fenced.world, 0.0, 0.0, fenced.moved(x, 0.01 * k))
        said.append(found.status)
        assert (found.verdict is Verdict.COLLISION) == (x == -20.0)
    assert said == [Status.SUCCESS, Status.COORD_RANGE, Status.SUCCESS, Status.SUCCESS]


def test_optional_static_data_that_cannot_be_placed_is_a_fault() -> None:
    sources = SourceConfig("fence", static=True, required=False), SourceConfig("seen", static=True)
    world = make_world(*sources, transforms=TransformTree(100 * NS))
    receive(world, outlines([(0, box(20, -1, 2, 2))]), "seen")
    assert answer(world, 0.0, 0.0).verdict is Verdict.FREE
    receive(world, outlines([(0, box(-1, -1, 2, 2))], "map"))
    for now in (100 * NS, 200 * NS):
        assert answer(world, 0.0, 0.0, now).status is Status.UNKNOWN_FRAME


@pytest.mark.requirement("D-15")
def test_static_data_that_moves_is_refused() -> None:
    world = make_world(FENCE)
    receive(world, outlines([(0, box(20, -1, 2, 2))], velocities=np.array([0.0, 0.1, 0.0])))
    found = answer(world, 0.0, 0.0)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, Status.INVALID_INPUT)
    assert "velocities[1]: must be 0 or unknown, " in found.message
    assert "has the parameter static (got 0.1)" in found.message
    receive(world, outlines([(0, box(20, -1, 2, 2))], margin_rates=np.array([0.1])))
    said = answer(world, 0.0, 0.0).message
    assert "margin_rates[0]: must be 0, " in said and said.endswith("(got 0.1)")
    with pytest.raises(InputError):
        SourceConfig("fence", static=1)  # type: ignore[arg-type]


def test_a_bad_static_message_stays_bad_until_the_next_good_one() -> None:
    world = make_world(FENCE)
    good = outlines([(0, box(20, -1, 2, 2))])
    receive(world, good)
    world.receive_fault("fence", Fault(Status.NON_FINITE, "bad"), now=101 * NS, steady=101 * NS)
    assert answer(world, 0.0, 0.0, 1000 * NS).status is Status.NON_FINITE
    receive(world, good, now=1001 * NS)
    assert answer(world, 0.0, 0.0, 1001 * NS).verdict is Verdict.FREE


def test_the_paths_beside_a_region_stay_with_their_obstacles() -> None:
    """The region is taken out of the list; an obstacle after it keeps its own path."""
    world = make_world()
    data = outlines(
        [(0, box(-4, 3, 1, 1)), (REGION, box(-5, -5, 10, 10)), (0, box(3, 3, 1, 1))],
        path_offsets=np.array([0, 1, 1, 2]),
        path_times=np.array([1.0, 1.0]),
        path_poses=np.array([0.0, 0.0, 0.0, 0.0, -6.0, 0.0]),  # the second one moves down
    )
    receive(world, data)
    snapshot = shot(world)
    poses = np.array([-3.5, 3.5, 0.0, 3.5, -2.5, 0.0, 3.5, 3.5, 0.0])
    found = questions.check_poses(snapshot, poses, np.ones(3))
    assert found.verdicts.tolist() == [Verdict.COLLISION, Verdict.COLLISION, Verdict.FREE]
    assert found.nearest_ids.tolist()[:2] == [10, 12]


def test_static_data_has_no_paths() -> None:
    """It is known at all times, but a path ends."""
    world = make_world(FENCE)
    receive(world, outlines([(0, box(3, 3, 1, 1))], **PATH))
    found = answer(world, 0.0, 0.0)
    assert found.verdict is Verdict.UNKNOWN
    assert "path_times: must be empty" in found.message
