# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions from values instead of messages, each to the class of its service."""

from types import SimpleNamespace
from typing import Any

from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import empty_snapshot
from gjk_collision.server.data.world import NO_TRANSFORMS
from gjk_collision.server.frames.poses import IDENTITY, Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.server.services import RECORDED, CheckShapes, Data, place, pose_on, state
from gjk_collision.server.services.answers import Answer
from gjk_collision.server.services.poses import NO_LIMIT
from gjk_collision.verdict import Status

__all__ = [
    "check_path",
    "check_poses",
    "check_shapes",
    "collide",
    "distance",
    "nearest_free",
    "place",
    "pose_on",
    "state",
]


def ask(
    kind: str,
    data: Data,
    *,
    pose: Pose | None = None,
    frame: Pose = IDENTITY,
    stamp: int = 0,
    budget: Any = NO_LIMIT,
    **message: Any,
) -> Answer:
    request: Any = RECORDED[kind](SimpleNamespace(**message))
    request.pose, request.frame, request.stamp = pose, frame, stamp
    return request.answer(data, budget)


def collide(data: Data, pose: Pose, margin: float = 0.0, **place: Any) -> Answer:
    return ask("Collide", data, pose=pose, margin=margin, **place)


def distance(
    data: Data, pose: Pose, k: int = 1, max_distance: float = 0.0, **place: Any
) -> Answer:
    return ask("Distance", data, pose=pose, k=k, max_distance=max_distance, **place)


def nearest_free(
    data: Data,
    pose: Pose,
    max_shift: float,
    max_turn: float = 0.0,
    margin: float = 0.0,
    tolerance: float = 0.0,
    **others: Any,
) -> Answer:
    values = {"max_shift": max_shift, "max_turn": max_turn, "tolerance": tolerance}
    return ask("NearestFree", data, pose=pose, margin=margin, **values, **others)


def check_poses(data: Data, poses: Any, times: Any = (), **others: Any) -> Answer:
    defaults = {"margin": 0.0, "mode": 0, "stop_at_first": False, "which": (), "k": 1}
    defaults |= {"group_offsets": (), "footprints": ()}
    return ask("CheckPoses", data, **{**defaults, "poses": poses, "times": times, **others})


def check_path(
    data: Data, poses: Any, times: Any = (), *, swept: bool = True, **others: Any
) -> Answer:
    defaults = {"arcs": (), "margin": 0.0, "tolerance": 0.0, "interpolation": int(swept)}
    return ask("CheckPath", data, **{**defaults, "poses": poses, "times": times, **others})


def check_shapes(config: Config, a: Obstacles, b: Obstacles, pairs: Any, **others: Any) -> Answer:
    values = {"margin": 0.0, "mode": 0, "pairs": pairs, **others}
    budget = values.pop("budget", NO_LIMIT)
    request = CheckShapes(SimpleNamespace(a=_message(a), b=_message(b), **values))
    snapshot = empty_snapshot(config, Fault(Status.UNDEFINED, ""), 0)
    request.look_up(snapshot, NO_TRANSFORMS)
    return request.answer(snapshot, budget)


def _message(data: Obstacles) -> SimpleNamespace:
    header = SimpleNamespace(frame_id=data.frame, stamp=SimpleNamespace(sec=0, nanosec=data.stamp))
    return SimpleNamespace(**{**vars(data), "header": header})
