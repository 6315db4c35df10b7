# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""One pair of shapes through `World`, by messages; and its true distance in rational numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import oracles
import questions
from oracles import Body

from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import Snapshot
from gjk_collision.server.data.world import Footprint, World
from gjk_collision.server.parameters.config import Config, SourceConfig
from gjk_collision.verdict import Status, Verdict

S = 1_000_000_000
Points = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Case:
    """A vehicle and an obstacle; both are the convex hulls of their points [m, rad, s]."""

    ego: Points  # in the base frame
    obstacle: Points  # in the obstacle's frame
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
    obstacle_pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
    margin: float = 0.0
    ego_radius: float = 0.0  # to 5 m; inflates the obstacle: a received footprint has no radius
    radius: float = 0.0
    velocity: tuple[float, float, float] | None = None
    path: Sequence[tuple[float, float, float, float]] = ()  # time after `stamp`, x, y, yaw
    stamp: int = 1_800_000_000 * S  # of the obstacle [ns]
    request_stamp: int = 1_800_000_000 * S
    at: float | None = None  # time after `request_stamp`; None: the obstacle stands still
    changes: dict[str, Any] = field(default_factory=dict)  # of the configuration


class Said(NamedTuple):
    """What the world says of a case."""

    verdict: Verdict
    status: Status
    distance: float
    lower_bound: float


def snapshot(case: Case) -> Snapshot:
    """A world that has received the messages of a case."""
    source = SourceConfig("obstacles", timeout=60.0, inflation=case.ego_radius)
    world = World(Config(**{"sources": (source,), "footprint_timeout": 60.0, **case.changes}))
    times = {"now": max(case.stamp, 1), "steady": S}
    world.receive_footprint(Footprint("base_link", times["now"], np.array(case.ego)), **times)
    path = np.reshape(np.array(case.path, dtype=float), (-1, 4))
    data = Obstacles(
        "odom",
        case.stamp,
        ids=np.array([7]),
        offsets=np.array([0, len(case.obstacle)]),
        xy=np.array(case.obstacle, dtype=float).ravel(),
        radius=np.array([case.radius]),
        poses=np.array(case.obstacle_pose),
        velocities=np.array(case.velocity or ()),
        path_offsets=np.array([0, len(path)] if case.path else (), int),
        path_times=path[:, 0],
        path_poses=path[:, 1:].ravel(),
    )
    world.receive_obstacles("obstacles", data, **times)
    return world.snapshot(**times)


def through_world(case: Case) -> dict[str, Said]:
    """What each way of asking says of a case; a distance is NaN where it is not asked for."""
    known = snapshot(case)
    times = np.empty(0) if case.at is None else np.array([case.at])
    stamp = 0 if case.at is None else case.request_stamp
    said = {}
    for mode, name in enumerate(("collide", "distance", "witness")):
        found = questions.check_poses(
            known, np.array(case.pose), times, stamp=stamp, margin=case.margin, mode=mode
        )
        distance = (found.distances[0], found.lower_bounds[0]) if mode else (np.nan, np.nan)
        verdict, status = Verdict(int(found.verdicts[0])), Status(int(found.statuses[0]))
        said[name] = Said(verdict, status, *map(float, distance))
    return said


# s: a few roundings of a time do not make it later than the end of a prediction.
SLACK = Fraction(1, 2**48)
HORIZON = 5 + SLACK


def moved(case: Case) -> list[tuple[Fraction, ...]]:
    """Where the obstacle is at the time of the request; both ways at a turn of half a circle.

    Empty where that is not known: after the horizon of 5 s, or after the end of the path.
    """
    begin = tuple(map(Fraction, (0.0, *case.obstacle_pose)))
    if case.at is None:
        return [begin[1:]]
    time = Fraction(case.at) + Fraction(case.request_stamp - case.stamp, S)
    if time > HORIZON:
        return []
    if not case.path:
        velocity = map(Fraction, case.velocity or (0.0, 0.0, 0.0))
        return [tuple(p + v * time for p, v in zip(begin[1:], velocity, strict=True))]
    for each in case.path:
        end = tuple(map(Fraction, each))
        if time <= end[0] and end[0] > begin[0]:
            share = (time - begin[0]) / (end[0] - begin[0])
            x, y = (begin[k] + share * (end[k] - begin[k]) for k in (1, 2))
            turns = shorter_turns(end[3] - begin[3])
            return [(x, y, begin[3] + share * turn) for turn in turns]
        begin = end
    is_at_the_end = time <= begin[0] + SLACK
    return [begin[1:]] if is_at_the_end else []


PI = Fraction(
    314159265358979323846264338327950288419716939937510582097494459230781640628620899, 10**80
)


def shorter_turns(turn: Fraction) -> list[Fraction]:
    """The shorter way of turning; both, where rounding of 2 pi may decide."""
    turn -= 2 * PI * round(turn / (2 * PI))
    is_half = abs(abs(turn) - PI) < Fraction(1, 10**12)
    return [turn, turn - 2 * PI if turn > 0 else turn + 2 * PI] if is_half else [turn]


def truths(case: Case) -> list[oracles.Signed]:
    """The signed distance at each place where the obstacle may be."""
    ego, other = (
        Body(tuple(oracles.hull(Body.of(points).points)), radius)
        for points, radius in ((case.ego, case.ego_radius), (case.obstacle, case.radius))
    )
    ego = oracles.posed(ego, case.pose)
    return [oracles.signed_distance(ego, oracles.posed(other, each)) for each in moved(case)]
