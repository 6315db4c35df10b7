# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The obstacles of senders at their places, and one scene of them.

The shapes of a message are checked when it is received. What depends on its place, for example its
distance from the origin, is checked when this is known. The result is stored in the message.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import degrees, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...convert.seen import region_in
from ...errors import InputError
from ...region import OUTSIDE, Region
from ...scene import Scene
from ...verdict import Status
from ..frames import lookup
from ..frames.poses import FrameError, Pose, TransformSource
from ..parameters.config import Config, SourceConfig
from .faults import Fault
from .inbox import AgeLimit, Message, pose_of, source_timeout
from .obstacles import Obstacles
from .regions import placed_boundary, region_of

__all__ = [
    "Sender",
    "compose_scene",
    "in_check_frame",
    "list_fault",
    "placed_ways",
    "sender_of",
    "time_zero",
    "together_fault",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sender:
    """The obstacles of one sender at their place: those of one message.

    Attributes
    ----------
    name : str
        Name of the sender.
    source : SourceConfig
        The source of the message.
    message : Message
        The message, with its list as received.
    pose : Pose
        Pose of its frame in the check frame.
    config : Config
        The parameters of the server that `placed` is made with.
    obstacles : Obstacles
        The list without the outlines of a region.
    region : Region or None
        The region of this sender in the check frame, with the inflation.
    placed : _core.PlacedObstacles or None
        The obstacles in the check frame, as a scene needs them; None: there are none.
    seen : Region or None
        What the message has seen, smaller by what makes obstacles larger: the error of its place,
        and the inflation. None: the source has not ``marks_seen``.
    fault : Fault or None
        Why the list is not valid at this place.
    """

    name: str
    source: SourceConfig
    message: "Message[Obstacles, Sender]"
    pose: Pose
    config: Config
    obstacles: Obstacles
    region: Region | None = None
    placed: _core.PlacedObstacles | None = None
    seen: Region | None = None
    fault: Fault | None = None

    @classmethod
    def of(
        cls,
        name: str,
        source: SourceConfig,
        message: "Message[Obstacles, Sender]",
        pose: Pose,
        config: Config,
    ) -> "Sender":
        """Place the list of a message."""
        region, seen = None, None
        data = _upright(message, pose)
        solid = data.with_kinds(hulls=False)
        try:
            if data.has_region:
                # Its outlines count as obstacles, so that an error has the index in the message.
                _placed(data.with_kinds(hulls=True), pose, source, config)
            region = region_of(data, pose, source.inflation)
            placed = _placed(solid, pose, source, config)
            if data.seen is not None:
                inflation = source.inflation
                seen = region_in(placed_boundary(data.seen, pose, inflation, data.height))
        except InputError as error:
            fault = Fault.of(error)
            return cls(name, source, message, pose, config, solid, fault=fault)
        return cls(name, source, message, pose, config, solid, region, placed, seen)

    def age_limit(self, steady: int) -> AgeLimit:
        """Return when the data becomes too old, at a steady time [ns]."""
        return AgeLimit.of(self.source.name, self.message, source_timeout(self.source), steady)

    @property
    def received(self) -> Obstacles:
        """The list as received; mirrored, if its frame is upside down."""
        return _upright(self.message, self.pose)


def _upright(message: "Message[Obstacles, Sender]", pose: Pose) -> Obstacles:
    assert message.data is not None
    return message.data.flipped() if pose.is_flipped else message.data


def list_fault(
    message: Message[Obstacles, Sender], source: SourceConfig, name: str, config: Config
) -> Fault | None:
    """Return why the list of a message is not valid at any place.

    What is built for this is kept for data in the check frame, because its place is known.
    """
    data = message.data
    assert data is not None
    try:
        data.check(config.max_obstacles, config.max_points_per_obstacle)
        if source.static:
            data.check_at_rest()
    except InputError as error:
        return Fault.of(error)
    made = Sender.of(name, source, message, Pose(), config)
    if data.frame == config.check_frame:
        message.made = made
    return made.fault


def sender_of(
    message: Message[Obstacles, Sender],
    source: SourceConfig,
    name: str,
    config: Config,
    transforms: TransformSource,
    now: int,
) -> Sender | Fault:
    """Return the obstacles of a message at their place, or why this is not possible.

    The place of static data is that of its frame at the present time, and the place of other data
    is that at its stamp.
    """
    data, last, target = message.data, message.made, config.check_frame
    assert data is not None
    pose: Pose | Fault
    if source.static:
        try:
            pose = lookup.frame_pose(config, transforms, data.frame, 0, now)
        except FrameError as error:
            pose = Fault.of(error)
    else:
        pose = pose_of(message, transforms, target)
    if isinstance(pose, Fault):
        return pose
    if pose.tilt > data.max_tilt:
        text = f"the frame '{data.frame}' is tilted by {degrees(pose.tilt):.3g} degrees against "
        text += f"'{target}', limit {degrees(data.max_tilt):g} for scans, clouds and grids: "
        return Fault(Status.TF_UNAVAILABLE, f"{text}transform the data into a level frame")
    message.late = transforms.late
    if last is None or last.pose != pose or last.source != source or last.config is not config:
        last = message.made = Sender.of(name, source, message, pose, config)
        if not source.static:
            message.fault = last.fault  # it counts until the next message
    return last.fault or last


def together_fault(senders: Sequence[Sender], config: Config) -> Fault | None:
    """Return why the lists of all senders cannot be used together."""
    total, limit = sum(len(each.received) for each in senders), config.max_obstacles
    if total > limit:
        text = f"{total} obstacles in all sources together, limit {limit} (max_obstacles)"
        return Fault(Status.LIMIT_EXCEEDED, text)
    regions = [each.name for each in senders if each.region is not None]
    if len(regions) > 1:
        text = f"{len(regions)} senders have a region: {', '.join(regions)}; "
        text += "send all outlines and holes from one sender"
        return Fault(Status.INVALID_INPUT, text)
    for each in senders if regions else ():
        if (each.received.ids == OUTSIDE).any():
            text = f"{each.name}: ids: must not be {OUTSIDE}, the id of the outside of the region"
            return Fault(Status.INVALID_INPUT, text)
    return None


def time_zero(senders: Sequence[Sender]) -> int | None:
    """Return the time zero of a scene [ns]: the oldest stamp of its messages.

    None: all of them are static, so that the scene is the same at every time.
    """
    return min((each.message.stamp for each in senders if not each.source.static), default=None)


def compose_scene(
    senders: Sequence[Sender], config: Config, seen: Sequence[tuple[str, Region]] = ()
) -> Scene:
    """Build one scene from the obstacles of several senders, in their order.

    `seen`: what was seen, with names; it counts with ``require_seen``. The times of the scene are
    seconds after `time_zero`; seconds since 1970 would be too coarse in a double.
    """
    limits = [each.region for each in senders if each.region is not None]
    if len(limits) > 1:
        raise ValueError("at most one sender may have a region")
    inside, epoch = limits[0] if limits else None, time_zero(senders) or 0
    used = [each for each in senders if each.placed is not None]
    regions = tuple(region for _, region in seen) if config.require_seen else None
    names = [name for name, _ in seen]
    if not used:
        return Scene([], inside=inside)._see(regions, names)
    stamps = [0.0 if s.source.static else (s.message.stamp - epoch) * 1e-9 for s in used]
    latest = max(map(abs, stamps)) + config.prediction_horizon
    return Scene._composed(
        [each.placed for each in used if each.placed is not None],
        stamps,
        np.concatenate([each.obstacles.ids for each in used]),
        inside,
        config.prediction_policy,
        config.prediction_horizon,
        # The conversions of stamps and of query times have a few rounding errors each.
        2.0**-50 * (latest + 1.0),
    )._see(regions, names)


def _placed(
    data: Obstacles, pose: Pose, source: SourceConfig, config: Config
) -> _core.PlacedObstacles | None:
    """Return obstacles in the check frame, as a scene needs them; None: there are none."""
    if not len(data):
        return None
    policy = config.policy_of(source)
    paths, errors = placed_ways(data, pose, policy, config.prediction_horizon)
    radius = _core.sums_outwards(_or_zeros(data.radius, len(data)), source.inflation)
    reported = _core.Reported(
        _velocities(data, pose, source),
        np.empty(0),
        data.path_offsets if len(data.path_times) else np.empty(0, np.uint32),
        data.path_times,
        paths,
        data.margins,
        data.margin_rates,
        np.empty(0),
        getattr(_core.PredictionPolicy, policy),
        config.prediction_horizon,
        0.0,
    )
    return _core.PlacedObstacles(
        data.parts(config.concave_policy),
        _core.sums_outwards(radius, errors),
        _poses(data, pose) if pose != Pose() or len(data.poses) else np.empty(0),
        reported,
    )


def in_check_frame(
    data: Obstacles, pose: Pose, source: SourceConfig, config: Config, inflation: float
) -> Obstacles:
    """Return the obstacles of one sender in the check frame.

    The inflation and the rounding errors of the transform are added to the radii. With the
    identity as its pose and without inflation, `compose_scene` makes the same scene of the result.
    """
    radius, poses, velocities = data.radius, data.poses, data.velocities
    policy, horizon = config.policy_of(source), config.prediction_horizon
    paths, errors = placed_ways(data, pose, policy, horizon)
    if inflation > 0.0 or pose != Pose():
        radius = _core.sums_outwards(_or_zeros(radius, len(data)), inflation)
        radius = _core.sums_outwards(radius, errors)
    if pose != Pose():
        poses, velocities = (
            _poses(data, pose).ravel(),
            pose.turn(velocities.reshape(-1, 3)).ravel(),
        )
    if source.static:
        velocities = _velocities(data, pose, source).ravel()
    return replace(
        data,
        frame=config.check_frame,
        radius=radius,
        poses=poses,
        velocities=velocities,
        path_poses=paths.ravel(),
    )


def placed_ways(
    data: Obstacles, frame: Pose, policy: str, horizon: float
) -> tuple[Floats, Floats]:
    """Return the predicted poses in the check frame, and a bound of the transform's errors [m].

    The bound of each obstacle (n,) is the rounding error, and the error of a frame that is tilted.
    No point of the obstacle is farther than this from its exact place, at its pose and at all
    predicted poses until the prediction horizon. It is 0 for data in the check frame.

    Notes
    -----
    Let e be a bound of the errors of two consecutive poses. A place is interpolated at a fraction
    s of the way between them. Its error is at most e for s in [0, 1], and at most (1 + 2 s) e if
    the last segment is extrapolated beyond its end.
    """
    count, paths = len(data), data.path_poses.reshape(-1, 3)
    if frame == Pose():
        return paths, np.zeros(count)
    sizes = np.append(np.abs(data.xy.reshape(-1, 2)).sum(axis=1), 0.0)
    reaches = np.maximum.reduceat(sizes, data.offsets[:-1].astype(np.int64))
    own = data.poses.reshape(-1, 3) if len(data.poses) else np.zeros((count, 3))
    errors = frame.compose_error(own, reaches) + frame.tilt_error(0.0, data.height)
    if len(paths):
        ends = data.path_offsets.astype(np.int64)
        counts = np.diff(ends)
        owner = np.repeat(np.arange(count), counts)
        # A path begins at the obstacle's pose.
        rows = np.insert(paths, ends[:-1], own, axis=0)
        begins = np.insert(np.zeros(len(paths), bool), ends[:-1], True)
        reaches_of = np.insert(reaches[owner], ends[:-1], reaches)
        ways, at = frame.compose_paths(rows, reaches_of, begins)
        paths = ways[~begins]
        np.maximum.at(errors, owner, at[~begins])
        if policy == "constant_velocity":
            times = np.insert(data.path_times, ends[:-1], 0.0)
            last = ends[1:] + np.arange(count)
            stretch = times[last] - times[np.maximum(last - 1, 0)]
            goes_on = (counts > 0) & (stretch > 0.0)
            share = horizon / np.where(goes_on, stretch, 1.0)
            errors *= np.where(goes_on, 1.0 + 2.0 * share, 1.0)
    if len(data.velocities):
        speeds = frame.turn_error(data.velocities.reshape(-1, 3))
        errors += horizon * speeds
    return paths, errors * (1.0 + 2.0**-40)


def _poses(data: Obstacles, frame: Pose) -> Floats:
    if len(data.poses):
        return frame.compose(data.poses.reshape(-1, 3))
    return np.tile(np.asarray(frame, dtype=np.float64), (len(data), 1))


def _velocities(data: Obstacles, frame: Pose, source: SourceConfig) -> Floats:
    if source.static:
        return np.zeros((len(data), 3))
    if not len(data.velocities):
        return np.full((len(data), 3), nan)
    return frame.turn(data.velocities.reshape(-1, 3))


def _or_zeros(values: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    return values if len(values) else np.zeros(length, values.dtype)
