# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans, clouds and grids become obstacles that hold all that was measured, or are refused.

The oracles compute the measured points and cells anew, from the numbers of the message.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from math import cos, hypot, inf, nan, pi, sin
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest
import questions
from sensors import NS, cloud, grid, header, scan
from sensors import pose as origin

from gjk_collision import obstacles_from_grid
from gjk_collision.errors import InputError
from gjk_collision.server.adapters import CONVERTERS
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.world import World
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import CLOUD, COSTMAP, GRID, SCAN, Config, SourceConfig
from gjk_collision.verdict import Status, Verdict

ROBOT = 0.3  # m, radius


def world_of(kind: str, message: Any, **parameters: Any) -> World:
    source = SourceConfig("obstacles", type=kind, **parameters)
    config = Config(robot_radius=ROBOT, sources=(source,))
    world = World(config)
    try:
        data = CONVERTERS[kind](message, config, source)
    except InputError as error:
        fault = Fault.of(error)
        world.receive_fault("obstacles", fault, now=100 * NS, steady=0)
    else:
        world.receive_obstacles("obstacles", data, now=100 * NS, steady=0)
    return world


def answer(world: World, x: float, y: float) -> Any:
    return questions.collide(world.snapshot(now=100 * NS, steady=0), Pose(x, y, 0.0))


def compare(
    world: World,
    rng: random.Random,
    gap: Callable[[float, float], float],
    loose: float,
    places: Callable[[], tuple[float, float]],
) -> None:
    """Compare verdicts with the true gap of a point [m]; obstacles may be `loose` too large."""
    seen = {Verdict.FREE: 0, Verdict.COLLISION: 0}
    for _ in range(300):
        x, y = places()
        found = answer(world, x, y)
        true = gap(x, y) - ROBOT
        if true <= -1e-9:
            assert found.verdict is Verdict.COLLISION, (x, y, true)
        elif true > loose + 1e-9:
            assert found.verdict is Verdict.FREE, (x, y, true, found)
        seen[found.verdict] += 1
    assert min(seen.values()) > 15, seen


def scan_of(ranges: list[float], **changes: Any) -> Any:
    return scan(ranges, **{"range_min": 0.25, "range_max": 20.0, **changes})


def room(rng: random.Random, count: int) -> list[float]:
    """Beams of a lumpy room, some without a return, some too close."""
    lumps = rng.choice((1, 3, 12))
    ranges = []
    for i in range(count):
        each = 4.0 + 2.0 * sin(lumps * 2 * pi * i / count) + rng.gauss(0.0, 0.05)
        ranges.append(rng.choices((each, inf, -inf), (20, 2, 0.05))[0])
    return ranges


@pytest.mark.requirement("G-12")
@pytest.mark.parametrize("voxel", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_scan(seed: int, voxel: float) -> None:
    rng = random.Random(seed)
    count = rng.choice((90, 360, 1440))
    ranges = room(rng, count)
    world = world_of(SCAN, scan_of(ranges), voxel_size=voxel, point_radius=0.1)

    def gap(x: float, y: float) -> float:
        nearest = inf
        for i, each in enumerate(np.float32(ranges).tolist()):
            angle = -pi + i * (2 * pi / count)
            reach, along = each, 1.0
            if each == -inf:
                reach = 0.25
                along = min(max((x * cos(angle) + y * sin(angle)) / reach, 0.0), 1.0)
            if reach != inf:
                end = along * reach
                nearest = min(nearest, hypot(x - end * cos(angle), y - end * sin(angle)))
        return nearest - 0.1

    def place() -> tuple[float, float]:
        reach, angle = rng.uniform(0.0, 7.5), rng.uniform(-pi, pi)
        return reach * cos(angle), reach * sin(angle)

    compare(world, rng, gap, voxel * 2**0.5, place)


def test_beam_of_an_obstacle_is_its_id() -> None:
    world = world_of(SCAN, scan_of([5.0, inf, 5.0, 5.0]))
    for at, beam in (((-5.0, 0.0), 0), ((5.0, 0.0), 2), ((0.0, 5.0), 3)):
        assert answer(world, *at).nearest_id == beam


@pytest.mark.parametrize(
    ("bad", "status"),
    [(nan, Status.NON_FINITE), *((bad, Status.INVALID_INPUT) for bad in (0.0, 20.5, -1.0))],
)
def test_invalid_returns_are_refused_unless_they_are_chosen_to_be_free(
    bad: float, status: Status
) -> None:
    message = scan_of([5.0, 5.0, bad, 5.0])
    found = answer(world_of(SCAN, message), 2.0, 2.0)
    assert (found.verdict, found.status) == (Verdict.UNKNOWN, status)
    assert "ranges[2]" in found.message and "obstacles.invalid_returns" in found.message
    chosen = world_of(SCAN, message, invalid_returns="no_return")
    assert answer(chosen, 2.0, 2.0).verdict is Verdict.FREE
    assert answer(chosen, -5.0, 0.0).verdict is Verdict.COLLISION


def test_scan_may_leave_out_its_last_incomplete_bin() -> None:
    """velodyne_laserscan does so with its default resolution of 0.007 rad."""
    step = float(np.float32(0.007))
    count = int(2 * pi / step)
    whole = {"angle_min": -pi, "angle_max": pi, "angle_increment": step}
    assert 2 * pi / step + 1 - count == pytest.approx(1.598, abs=1e-3)
    for beam in (0, count // 3, count - 1):
        ranges = [inf] * count
        ranges[beam] = 5.0
        angle = -pi + beam * step
        found = answer(
            world_of(SCAN, scan_of(ranges, **whole)), 5.0 * cos(angle), 5.0 * sin(angle)
        )
        assert (found.verdict, found.nearest_id) == (Verdict.COLLISION, beam)
    for other in (count - 1, count + 4):
        found = answer(world_of(SCAN, scan_of([5.0] * other, **whole)), 0.0, 0.0)
        assert (found.status, found.verdict) == (Status.ARRAY_MISMATCH, Verdict.UNKNOWN)
        assert f"898.598 beams, to within less than 2 (got {other})" in found.message


# Of each kind: what is set, to what, and the field that is named.
SCAN_FAULTS: list[tuple[str, Any, str]] = [
    ("ranges", np.empty(0, np.float32), "ranges"),
    ("ranges", np.array([5.0, nan, 5.0, 5.0], np.float32), r"ranges\[1\]"),
    ("ranges", np.array([inf], np.float32), "ranges"),
    ("ranges", np.array([5.0, 5.0], np.float32), "ranges"),
    ("ranges", np.full(8, 5.0, np.float32), "ranges"),
    ("angle_min", nan, "angle_min"),
    ("angle_max", nan, "angle_max"),
    ("angle_max", inf, "angle_max"),
    ("angle_increment", nan, "angle_increment"),
    ("angle_increment", 0.0, "angle_increment"),
    ("angle_increment", -0.1, "ranges"),
    ("range_min range_max", 0.0, "range_max"),
    ("range_min", nan, "range_min"),
    ("range_min", -0.1, "range_min"),
    ("range_max", nan, "range_max"),
    ("range_max", 0.1, "range_max"),
]


@pytest.mark.requirement("G-12")
@pytest.mark.parametrize("voxel", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_cloud(seed: int, voxel: float) -> None:
    rng = random.Random(seed)
    low, high = rng.choice(((-1000.0, 1000.0), (0.2, 1.5)))

    def point() -> tuple[float, float, float]:
        x, y = rng.gauss(3.0 * rng.choice((-1, 1)), 0.6), rng.gauss(0.0, 2.0)
        z = rng.choice((-0.1, 0.2, 1.0, 1.5, 3.0))
        return float(np.float32(x)), float(np.float32(y)), float(np.float32(z))

    points = [point() for _ in range(rng.choice((40, 200)))]
    message = cloud(points, rng, rows=rng.choice((1, 4)), padding=rng.choice((0, 6)))
    world = world_of(
        CLOUD, message, voxel_size=voxel, point_radius=0.05, min_height=low, max_height=high
    )
    kept = [(x, y) for x, y, z in points if low <= z <= high]

    def gap(x: float, y: float) -> float:
        return min(hypot(x - u, y - v) for u, v in kept) - 0.05

    compare(world, rng, gap, voxel * 2**0.5, lambda: (rng.uniform(-6, 6), rng.uniform(-6, 6)))


def test_missing_points_are_refused_unless_they_are_chosen_to_be_free() -> None:
    points = [(5.0, 0.0, 1.0), (nan, nan, nan), (0.0, 5.0, 1.0)]
    for dense, chosen, verdict in (
        (False, "no_return", Verdict.FREE),
        (False, "error", Verdict.UNKNOWN),
        (True, "no_return", Verdict.UNKNOWN),  # the cloud says that it has no such points
    ):
        message = cloud(points, random.Random(1), is_dense=dense)
        world = world_of(CLOUD, message, invalid_returns=chosen)
        assert answer(world, 0.0, 0.0).verdict is verdict
        if verdict is Verdict.FREE:
            found = answer(world, 0.0, 5.0)
            assert (found.verdict, found.nearest_id) == (Verdict.COLLISION, 2)
        else:
            assert "data[1]" in answer(world, 0.0, 0.0).message
    half = cloud([(5.0, 0.0, nan)], random.Random(1), is_dense=False)
    found = answer(world_of(CLOUD, half, invalid_returns="no_return"), 0.0, 0.0)
    assert found.status is Status.NON_FINITE


def test_cloud_without_points_has_no_obstacles() -> None:
    message = cloud([(1.0, 1.0, 1.0)], random.Random(1))
    message.width, message.row_step, message.data = 0, 0, np.empty(0, np.uint8)
    assert answer(world_of(CLOUD, message), 0.0, 0.0).verdict is Verdict.FREE


def more(count: int) -> Callable[[Any], Any]:
    return lambda value: value + count


def cut(count: int | None) -> Callable[[Any], Any]:
    return lambda data: data[:count]


CLOUD_FAULTS: list[tuple[str, Any, str]] = [
    *((f"{name}.name", "w", "fields") for name in "xyz"),
    *((f"{name}.datatype", kind, r"fields\[\d\].datatype") for name in "xyz" for kind in (5, 0)),
    *((f"{name}.count", 3, r"fields\[\d\].count") for name in "xyz"),
    *((f"{name}.offset", 1000, r"fields\[\d\].offset") for name in "xyz"),
    ("y.name", "x", r"fields\[\d\].name"),
    ("fields", [], "fields"),
    ("point_step", 0, r"fields\[\d\].offset"),
    ("point_step", more(1), "row_step"),
    ("row_step", 0, "row_step"),
    ("row_step", more(1), "data"),
    ("width", more(1), "row_step"),
    ("height", more(1), "data"),
    ("height", 0, "width, height"),
    ("width", 0, "width, height"),
    ("y.offset", 1, "fields"),
    ("x.offset y.offset z.offset", 0, "fields"),
    ("data", cut(-1), "data"),
    ("data", cut(0), "data"),
]


@pytest.mark.requirement("G-12")
@pytest.mark.parametrize("seed", range(8))
def test_grid(seed: int) -> None:
    """The obstacles are those of `obstacles_from_grid`, which test_maps.py compares with cells."""
    rng = random.Random(seed)
    resolution = float(np.float32(rng.choice((0.05, 0.3, 0.5))))
    shares = [0.02, 0.6, 0.2, 0.08, 0.05, 0.05]
    cells = np.random.default_rng(seed).choice([-1, 0, 40, 64, 65, 100], (12, 15), p=shares)
    place = rng.choice((Pose(), Pose(-2.0, 1.0), Pose(0.3, -0.7, rng.uniform(-pi, pi))))
    occupied, unknown = rng.choice(((65, True), (65, False), (41, True), (100, False)))
    chosen = {"occupied_threshold": occupied, "unknown_is_occupied": unknown}
    source = SourceConfig("obstacles", type=GRID, **chosen)
    found = CONVERTERS[GRID](grid(cells, resolution, origin(*place)), Config(), source)
    shapes = obstacles_from_grid(cells.astype(np.int8), resolution, place, occupied, unknown)
    wanted = np.concatenate([each.parts[0] for each in shapes])
    assert len(found) == len(shapes) > 5
    assert {*map(tuple, found.xy.reshape(-1, 2))} == {*map(tuple, wanted)}


@pytest.mark.requirement("G-12")
@pytest.mark.parametrize(("threshold", "unknown"), [(254, True), (253, False), (1, True)])
def test_costmap(threshold: int, unknown: bool) -> None:
    costs = [0, 1, 100, 252, 253, 254, 255, 0]
    message = costmap(np.array([costs] * 2, np.uint8), 10.0)
    chosen = {"cost_threshold": threshold, "unknown_is_occupied": unknown}
    world = world_of(COSTMAP, message, **chosen)
    hit = [answer(world, 10.0 * i + 5.0, 5.0).verdict is Verdict.COLLISION for i in range(8)]
    assert hit == [unknown if cost == 255 else cost >= threshold for cost in costs]


def costmap(cells: Any, resolution: float = 0.5) -> Any:
    info = grid(cells, resolution).info
    size = {"size_x": info.width, "size_y": info.height}
    metadata = Message(resolution=resolution, origin=info.origin, **size)
    return Message(header=header(), metadata=metadata, data=cells.ravel())


COSTMAP_FAULTS: list[tuple[str, Any, str]] = [
    ("metadata.resolution", 0.0, "metadata.resolution"),
    ("metadata.resolution", nan, "metadata.resolution"),
    ("metadata.size_x", 0, "metadata.size_x"),
    ("metadata.size_y", 5, "data"),
    ("metadata.origin.position.x", nan, "metadata.origin"),
    ("data", cut(-1), "data"),
]


GRID_FAULTS: list[tuple[str, Any, str]] = [
    *(("info.resolution", bad, "info.resolution") for bad in (0.0, -1.0, nan, inf)),
    ("info.width", 0, "info.width"),
    ("info.height", 0, "info.height"),
    ("info.width", 5, "data"),
    ("info.width info.height", 2**16, "info.width"),
    ("data", cut(-1), "data"),
    ("data", cut(0), "data"),
    ("data", lambda data: np.where(np.arange(24) == 3, 101, data), r"data\[3\]"),
    ("data", lambda data: np.where(np.arange(24) == 7, -2, data), r"data\[7\]"),
    ("info.origin.position.x", nan, "info.origin"),
    ("info.origin.position.y", 1e300, "info.origin|info.resolution"),
    ("info.origin.orientation.w", 0.0, "info.origin"),
    ("info.origin.orientation", Message(x=sin(0.3), y=0.0, z=0.0, w=cos(0.3)), "info.origin"),
]


MAKE: dict[str, Callable[[], Any]] = {
    SCAN: lambda: scan_of([5.0] * 4),
    CLOUD: lambda: cloud([(5.0, 5.0, 1.0)] * 4, random.Random(2), rows=2),
    GRID: lambda: grid(np.zeros((4, 6), np.int8)),
    COSTMAP: lambda: costmap(np.zeros((4, 6), np.uint8)),
}
FAULTS = {SCAN: SCAN_FAULTS, CLOUD: CLOUD_FAULTS, GRID: GRID_FAULTS, COSTMAP: COSTMAP_FAULTS}


def spoilt(kind: str, names: str, value: Any) -> Any:
    """A message of which these fields have a value, or what a function makes of theirs."""
    message = MAKE[kind]()
    for name in names.split():
        *owners, last = name.split(".")
        owner = message
        for each in owners:
            by_name = {field.name: field for field in getattr(owner, "fields", ())}
            owner = by_name[each] if each in by_name else getattr(owner, each)
        setattr(owner, last, value(getattr(owner, last)) if callable(value) else value)
    return message


@pytest.mark.requirement("D-15")
@pytest.mark.parametrize(
    ("kind", "names", "value", "field"),
    [
        pytest.param(kind, *row, id=f"{kind.rpartition('/')[2]}: {row[0]} {number}")
        for kind, rows in FAULTS.items()
        for number, row in enumerate([*rows, ("header.frame_id", "", "frame_id")])
    ],
)
def test_malformed_is_unknown_and_the_field_is_named(
    kind: str, names: str, value: Any, field: str
) -> None:
    found = answer(world_of(kind, spoilt(kind, names, value)), -50.0, -50.0)
    assert found.verdict is Verdict.UNKNOWN
    assert found.status not in (Status.SUCCESS, Status.INTERNAL_ERROR)
    assert re.search(f"^obstacles: .*{field}", found.message), found.message


@pytest.mark.parametrize("kind", MAKE)
def test_the_unspoiled_message_is_used(kind: str) -> None:
    assert answer(world_of(kind, MAKE[kind]()), -50.0, -50.0).verdict is Verdict.FREE


CELLS = np.indices((11, 23)).sum(axis=0) % 2  # a chess board: 126 rectangles


@pytest.mark.parametrize(("kind", "make", "field"), [
    (SCAN, lambda: scan_of([5.0] * 126), "ranges"),
    (CLOUD, lambda: cloud([(i, i, 1.0) for i in range(126)], random.Random(2), rows=2), "data"),
    (GRID, lambda: grid((CELLS * 100).astype(np.int8)), "data"),
    (COSTMAP, lambda: costmap((CELLS * 254).astype(np.uint8)), "data"),
])  # fmt: skip
def test_too_many_obstacles_are_not_cut(kind: str, make: Callable[[], Any], field: str) -> None:
    """None is left out: the message is refused with its field. At the limit it is used."""
    source = SourceConfig(
        "obstacles", type=kind, **({"voxel_size": 0.0} if kind in (SCAN, CLOUD) else {})
    )
    known = CONVERTERS[kind](make(), Config(max_obstacles=126, sources=(source,)), source)
    assert len(known) == 126
    with pytest.raises(InputError, match=f"^{field}: .* limit 125 .max_obstacles.") as caught:
        CONVERTERS[kind](make(), Config(max_obstacles=125, sources=(source,)), source)
    assert caught.value.status is Status.LIMIT_EXCEEDED


@pytest.mark.parametrize(("voxel", "text"), [(0.0, "1e.15 m "), (0.05, "m for this voxel_size ")])
def test_point_out_of_range_is_named(voxel: float, text: str) -> None:
    far = cloud([(1.0, 2.0, 1.0), (1.0, 1e20, 1.0)], random.Random(2), rows=1)
    found = answer(world_of(CLOUD, far, voxel_size=voxel), -50.0, -50.0)
    assert found.status is Status.COORD_RANGE
    assert re.search(rf"^obstacles: data\[1\]: must be within .*{text}", found.message)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (SCAN, "min_height", 0.0),
        (GRID, "voxel_size", 0.1),
        (CLOUD, "occupied_threshold", 50),
        ("geometry_msgs/msg/PolygonStamped", "point_radius", 1.0),
    ],
)
def test_parameter_of_another_type_is_refused(kind: str, name: str, value: Any) -> None:
    rule = f"s.{name}: has no effect on the type {kind}"
    with pytest.raises(InputError, match=rf"^{rule}.*got {value}"):
        SourceConfig("s", type=kind, **{name: value})


def test_heights_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(InputError, match=r"^s.min_height: must not be greater than max_height"):
        SourceConfig("s", type=CLOUD, min_height=2.0, max_height=1.0)
