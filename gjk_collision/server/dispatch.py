# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Computes the answer to a request of a service. The node and replay both use it.

A request is any object with the fields of the definition in ``srv/``: a message of rclpy or of
rosbags. To add a service, add a function to `questions`, and one here with its entry in
`SERVICES`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from .. import _core
from ..errors import InputError
from ..path import Path
from ..verdict import Status
from . import fields, lookup, questions
from .answers import (
    Answer,
    DistanceAnswer,
    Found,
    NearestFreeAnswer,
    PathAnswer,
    PosesAnswer,
    ShapesAnswer,
    unknown,
)
from .frames import IDENTITY, Pose, Transforms
from .snapshot import Fault, Snapshot

__all__ = ["SERVICES", "Request", "none"]


class Request:
    """One request of a service.

    Parameters
    ----------
    service : str
        Name of the service type, a key of `SERVICES`.
    message : object
        An object with the fields of the request.

    Attributes
    ----------
    pose : Pose or None
        The pose to be checked, in `frame`. None: not known yet, or the request has several poses.
    frame : Pose or None
        The pose of the request's frame in the check frame. None: not known yet, or the request has
        no frame.
    """

    def __init__(self, service: str, message: Any) -> None:
        self.service = service
        self.message = message
        self.pose: Pose | None = None
        self.frame: Pose | None = None

    def ask(
        self,
        snapshot: Snapshot,
        transforms: Transforms,
        is_late: Callable[[], bool] | None = None,
    ) -> Found:
        """Return the answer.

        Parameters
        ----------
        snapshot : Snapshot
            The data to be used.
        transforms : Transforms
            Source of the poses between frames.
        is_late : callable, optional
            Returns whether the time budget is used up. None: there is no budget.

        Raises
        ------
        InputError
            The request is invalid.
        FrameError
            The pose of the request's frame, or of the vehicle, is not known.
        """
        self.pose = self.frame = None
        search_time = inf if is_late is None else snapshot.config.time_budget
        budget = _core.Budget(is_late, search_time=search_time)
        context = _Context(self.chosen(snapshot), transforms, budget)
        return SERVICES[self.service].ask(self, context)

    def chosen(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with the footprint that the request names.

        If it names several, see `Snapshot.chosen_among`.

        Raises
        ------
        InputError
            There is no footprint of this name.
        """
        if self.service == "CheckShapes":
            return snapshot
        # Recordings of older versions do not have these fields.
        name = str(getattr(self.message, "footprint", ""))
        names = self.footprints
        if not names:
            self._refuse_which()
            return snapshot.chosen(name)
        if name:
            rule = f"must be empty if footprints is not empty (got {name!r})"
            raise InputError(Status.INVALID_INPUT, "footprint", None, rule)
        return snapshot.chosen_among(names)

    def chosen_at(self, snapshot: Snapshot, index: int) -> Snapshot:
        """Return a snapshot with the footprint of one pose of the request."""
        names = self.footprints
        if not names:
            return self.chosen(snapshot)
        which = fields.numbers(self.message.which)
        return snapshot.chosen(names[int(which[index]) if len(which) else 0])

    def _refuse_which(self) -> None:
        """Check that no pose selects a footprint. Otherwise a smaller one might be checked."""
        if count := len(fields.numbers(getattr(self.message, "which", ()))):
            rule = f"must be empty if footprints is empty (got {count} values)"
            raise InputError(Status.INVALID_INPUT, "which", None, rule)

    @property
    def footprints(self) -> list[str]:
        """The field ``footprints`` of the request; empty if the service does not have it."""
        return [str(each) for each in getattr(self.message, "footprints", ())]

    def pose_at(self, index: int, fraction: float = 0.0, frame: Pose = IDENTITY) -> Pose:
        """Return a pose on the path through the poses of the request.

        Parameters
        ----------
        index : int
            Index of a pose of the request.
        fraction : float
            Fraction of the way from this pose to the next one, 0 to 1. If the request has arcs:
            fraction of the length of the whole path.
        frame : Pose
            Pose of the request's frame in the frame of the result. Default: the same frame.
        """
        rows = fields.numbers(self.message.poses).reshape(-1, 3)
        arcs = fields.numbers(getattr(self.message, "arcs", ()))
        if len(arcs):
            path = Path.arcs(frame.of(Pose(*rows[0].tolist())), arcs.reshape(-1, 2))
            return Pose(*path.at(fraction * float(path.length)).tolist())
        ways, _ = frame.compose_paths(rows, 0.0, np.zeros(len(rows), bool))
        return questions.pose_on(ways, index, fraction)

    def _place(self, context: "_Context") -> tuple[Pose, Pose]:
        """Return the pose to be checked and the pose of its frame in the check frame.

        If the request names no frame, the pose is the present pose of the vehicle.
        """
        snapshot, message = context.snapshot, self.message.pose
        if message.header.frame_id:
            pose = fields.pose(message.pose, "pose")
            frame = self._frame(context, message.header)
        else:
            pose = lookup.ego_pose(snapshot.config, context.transforms, snapshot.stamp)
            frame = IDENTITY
        self.pose, self.frame = pose, frame
        return pose, frame

    def _frame(self, context: "_Context", header: Any) -> Pose:
        snapshot, stamp = context.snapshot, fields.nanoseconds(header.stamp)
        self.frame = lookup.frame_pose(
            snapshot.config, context.transforms, header.frame_id, stamp, snapshot.stamp
        )
        return self.frame


@dataclass(frozen=True, slots=True)
class _Context:
    """The arguments of `Request.ask`."""

    snapshot: Snapshot
    transforms: Transforms
    budget: _core.Budget


@dataclass(frozen=True, slots=True)
class _Service:
    """The functions of one service.

    `ask` computes the answer to a request. `none` makes an answer without results, which only
    gives the reason.
    """

    ask: Callable[[Request, _Context], Found]
    none: Callable[[Answer], Found]


def _collide(request: Request, context: _Context) -> Answer:
    pose, frame = request._place(context)
    margin = float(request.message.margin)
    return questions.collide(context.snapshot, pose, margin, frame=frame)


def _distance(request: Request, context: _Context) -> DistanceAnswer:
    pose, frame = request._place(context)
    k, reach = int(request.message.k), float(request.message.max_distance)
    return questions.distance(context.snapshot, pose, k, reach, frame=frame)


def _check_poses(request: Request, context: _Context) -> PosesAnswer:
    message = request.message
    # Recordings of older versions do not have the fields that are read with `getattr`.
    return questions.check_poses(
        context.snapshot,
        fields.numbers(message.poses),
        fields.numbers(message.times),
        frame=lambda: request._frame(context, message.header),
        stamp=fields.nanoseconds(message.header.stamp),
        margin=float(message.margin),
        mode=int(message.mode),
        stop_at_first=bool(message.stop_at_first),
        which=fields.numbers(getattr(message, "which", ())),
        group_offsets=fields.numbers(getattr(message, "group_offsets", ())),
        k=int(getattr(message, "k", 0)),
        budget=context.budget,
    )


def _check_path(request: Request, context: _Context) -> PathAnswer:
    message, interpolation = request.message, int(request.message.interpolation)
    if interpolation not in (0, 1):
        rule = f"must be 0 or 1 (got {interpolation})"
        raise InputError(Status.INVALID_INPUT, "interpolation", None, rule)
    return questions.check_path(
        context.snapshot,
        fields.numbers(message.poses),
        fields.numbers(message.times),
        arcs=fields.numbers(getattr(message, "arcs", ())),
        frame=lambda: request._frame(context, message.header),
        stamp=fields.nanoseconds(message.header.stamp),
        swept=bool(interpolation),
        margin=float(message.margin),
        tolerance=float(message.tolerance),
        budget=context.budget,
    )


def _nearest_free(request: Request, context: _Context) -> NearestFreeAnswer:
    pose, frame = request._place(context)
    message = request.message
    return questions.nearest_free(
        context.snapshot,
        pose,
        float(message.max_shift),
        float(message.max_turn),
        float(message.margin),
        float(message.tolerance),
        frame=frame,
        budget=context.budget,
    )


def _check_shapes(request: Request, context: _Context) -> ShapesAnswer:
    message = request.message
    return questions.check_shapes(
        context.snapshot.config,
        fields.obstacles(message.a),
        fields.obstacles(message.b),
        fields.numbers(message.pairs),
        mode=int(message.mode),
        margin=float(message.margin),
        budget=context.budget,
    )


SERVICES = {
    "Collide": _Service(_collide, lambda answer: answer),
    "Distance": _Service(_distance, DistanceAnswer),
    "CheckPoses": _Service(_check_poses, PosesAnswer),
    "CheckPath": _Service(_check_path, PathAnswer),
    "NearestFree": _Service(_nearest_free, NearestFreeAnswer),
    "CheckShapes": _Service(_check_shapes, ShapesAnswer),
}


def none(service: str, fault: Fault) -> Found:
    """Return an answer without results, with the reason why there are none."""
    answer = unknown(fault)
    return SERVICES[service].none(answer) if service in SERVICES else answer
