# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles out of messages of other packages, where their numbers are rounded."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from math import inf, nan
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
import pytest
import shapely
from sensors import NS as S
from sensors import converted, header, polygon, pose, xyz

from gjk_collision.errors import InputError
from gjk_collision.server.adapters import CONVERTERS, footprint
from gjk_collision.server.data.obstacles import Footprint
from gjk_collision.server.data.world import World
from gjk_collision.server.parameters.config import RANGE, Config, SourceConfig
from gjk_collision.verdict import Status

SOURCE = SourceConfig("obstacles")
COSTMAP = CONVERTERS["costmap_converter_msgs/msg/ObstacleArrayMsg"]


def costmap(points: list[tuple[float, float]], radius: float) -> Any:
    return Message(header=header(), obstacles=[converted(*points, radius=radius)])


@pytest.mark.requirement("G-10")
def test_outlines_about_their_centre_hold_the_points_of_the_message() -> None:
    """The difference of two float32 is no double where their magnitudes are far apart."""
    rng = random.Random(3)
    inexact = 0

    def number() -> float:
        magnitude = 10.0 ** rng.choice((rng.uniform(-30, -6), rng.uniform(0, 4)))
        return float(np.float32(rng.choice((-1, 1)) * magnitude))

    for _ in range(500):
        points = [(number(), number()) for _ in range(rng.randrange(1, 9))]
        radius = rng.choice((0.0, 0.5))
        found = COSTMAP(costmap(points, radius), Config(), SOURCE)
        centre = [Fraction(v) for v in found.poses[:2].tolist()]
        room = Fraction(float(found.radius[0])) - Fraction(radius)
        assert 0 <= room < 1e-11
        for point, stored in zip(points, found.xy.reshape(-1, 2).tolist(), strict=True):
            off = [Fraction(point[k]) - centre[k] - Fraction(stored[k]) for k in (0, 1)]
            inexact += any(off)
            assert off[0] ** 2 + off[1] ** 2 <= room**2
    assert inexact > 500


def reading(**values: float) -> Any:
    given = {"field_of_view": 0.5, "min_range": 0.2, "max_range": 4.0, "range": 2.0}
    return Message(header=header(), **(given | values))


def test_a_single_distance_is_somewhere_on_its_arc() -> None:
    """The obstacle holds the arc, or all before the least distance, and little more."""
    rng = random.Random(5)
    source = SourceConfig("sonar", type=RANGE, point_radius=0.0)
    for view in (0.0, 0.01, 0.5, 1.0, np.pi, *(rng.uniform(0, np.pi) for _ in range(30))):
        far = rng.uniform(0.3, 4.0)
        for value in (far, 0.1, -inf):
            found = CONVERTERS[RANGE](reading(range=value, field_of_view=view), Config(), source)
            corners = shapely.MultiPoint(found.xy.reshape(-1, 2)).convex_hull
            hull = corners.buffer(float(found.radius[0]) + 1e-12)
            reach = far if value == far else 0.2
            angles = np.linspace(-view / 2, view / 2, 101)
            arc = reach * np.c_[np.cos(angles), np.sin(angles)]
            held = arc if value == far else np.concatenate([arc, 0.5 * arc, 0.0 * arc])
            assert all(hull.contains(shapely.Point(point)) for point in held)
            exact = shapely.MultiPoint(held).convex_hull
            assert corners.hausdorff_distance(exact) < 0.021 * reach
    assert not len(CONVERTERS[RANGE](reading(range=inf), Config(), source))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"range": nan}, "range: must lie in"),
        ({"range": 4.5}, "range: must lie in"),
        ({"field_of_view": 3.2}, "field_of_view: must lie in"),
        ({"field_of_view": nan}, "field_of_view: must be finite"),
        ({"min_range": 5.0}, "max_range: must not be less than min_range"),
    ],
)
def test_a_distance_that_is_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=f"^{words}"):
        CONVERTERS[RANGE](reading(**values), Config(), SourceConfig("sonar", type=RANGE))
    lenient = SourceConfig("sonar", type=RANGE, invalid_returns="no_return")
    if "range" in values:
        assert not len(CONVERTERS[RANGE](reading(**values), Config(), lenient))


@pytest.mark.parametrize("radius", [-1e-17, -1e-16, -1e-15, -1.0])
def test_a_negative_radius_is_refused_as_it_was_sent(radius: float) -> None:
    """What the move to the centre rounds is not added to it first."""
    small, large = float(np.float32(1e-9)), float(np.float32(30.1))
    message = costmap([(small, 0.0), (large, 0.0), (large, 1.0)], radius)
    with pytest.raises(InputError, match=f"radius.*got {radius}"):
        COSTMAP(message, Config(), SOURCE).check(10, 10)


FIRST = r"obstacles\[0\]"


@pytest.mark.parametrize(("change", "field"), [
    (lambda o: setattr(o, "radius", nan), ".radius: must be finite"),
    (lambda o: setattr(o.polygon, "points", []), ".polygon.points: must have at least one"),
    (lambda o: setattr(o.polygon.points[1], "y", inf), r".polygon.points\[1\]: x and y must be"),
    (lambda o: setattr(o.velocities.twist.linear, "y", inf), ".velocities.twist.linear.y: must"),
])  # fmt: skip
def test_malformed_obstacle_is_refused(change: Callable[[Any], None], field: str) -> None:
    """The error names the field of the message."""
    message = costmap([(0.0, 0.0), (1.0, 0.0)], 0.0)
    change(message.obstacles[0])
    with pytest.raises(InputError, match=FIRST + field):
        COSTMAP(message, Config(), SOURCE)


def instance(number: int, count: int, x: float, nanosec: int) -> Any:
    outline = polygon(*((x + i / count, float(i % 2)) for i in range(count)))
    return Message(header=header(stamp=S + nanosec), polygon=Message(id=number, polygon=outline))


@pytest.mark.parametrize(("count", "x", "status"), [
    (6, 5.0, Status.LIMIT_EXCEEDED),
    (3, nan, Status.NON_FINITE),
    (0, 5.0, Status.TOO_FEW_POINTS),
])  # fmt: skip
def test_bad_outline_stays_a_fault_of_its_instance(count: int, x: float, status: Status) -> None:
    """A good outline of another id does not hide it, also if there was none of this id before."""
    kind = "geometry_msgs/msg/PolygonInstanceStamped"
    source = SourceConfig("obstacles", type=kind)
    config = Config(robot_radius=0.3, sources=(source,), max_points_per_obstacle=5)
    world = World(config)

    def send(*outline: Any) -> Status | None:
        data = CONVERTERS[kind](instance(*outline), config, source)
        now = data.stamp
        world.receive_obstacles("obstacles", data, now=now, steady=now)
        fault = world.snapshot(now=now, steady=now).fault
        return None if fault is None else fault.status

    assert send(8, 3, 20.0, 1) is None
    assert send(7, count, x, 2) is status
    assert send(8, 3, 20.0, 3) is status
    assert send(7, 3, 5.0, 4) is None


@pytest.mark.parametrize(
    ("count", "status"), [(4, Status.NO_OBSTACLES), (5, Status.LIMIT_EXCEEDED)]
)
def test_footprint_with_too_many_points_is_refused(count: int, status: Status) -> None:
    """Points beyond the limit are not read: they raise here."""
    unread = [None] * 100 if count > 4 else []
    corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, 0.5)][:count]
    message = Message(
        header=header("base_link", S + 5),
        polygon=Message(points=[*polygon(*corners).points, *unread]),
    )
    config = Config(max_points_per_obstacle=4)
    found = footprint(message, config)
    assert (found.frame, found.stamp) == ("base_link", 1_000_000_005)
    assert found.points.tolist() == [list(corner) for corner in corners]
    world = World(config)
    world.receive_footprint(found, now=found.stamp, steady=0)
    fault = world.snapshot(now=found.stamp, steady=0).fault
    assert fault is not None
    assert fault.status is status
    assert count == 4 or fault.message.startswith("footprint: polygon.points: must have at most 4")


def test_wrong_footprint_is_named_by_the_field_of_its_message() -> None:
    world, crossed = World(Config()), np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 3.0]])
    world.receive_footprint(Footprint("base_link", S, crossed), now=S, steady=0)
    fault = world.snapshot(now=S, steady=0).fault
    assert fault is not None
    assert fault.message.startswith("footprint: polygon.points[0]: ")


@pytest.mark.parametrize("kind", ["Detection3DArray", "ObstacleArrayMsg"])
@pytest.mark.parametrize(("inner", "is_used"), [(0, True), (7 * S, True), (7 * S - 1, False)])
def test_stamp_of_an_object_is_not_ignored(kind: str, inner: int, is_used: bool) -> None:
    """An object that was seen earlier may have moved since; it would be placed where it was."""

    each = converted((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), stamp=inner)
    each.bbox = Message(center=pose(0.0, 0.0), size=xyz(1.0, 1.0, 1.0))
    message = Message(header=header(stamp=7 * S), detections=[each], obstacles=[each])
    package = "vision_msgs" if kind == "Detection3DArray" else "costmap_converter_msgs"
    source = SourceConfig("seen", type=f"{package}/msg/{kind}")
    convert = CONVERTERS[source.type]
    if is_used:
        assert convert(message, Config(), source).stamp == 7 * S
        return
    with pytest.raises(InputError, match=r"\[0\].header.stamp: must be 0 or the stamp") as caught:
        convert(message, Config(), source)
    assert caught.value.status is Status.INVALID_INPUT
