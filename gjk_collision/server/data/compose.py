# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The obstacles of several senders at their places, and one scene of them.

A list of obstacles may have outlines of the region in which the vehicle must stay, and of its
holes, see ``msg/ObstacleArray``. The region is made from the coordinates as received, and then its
boundary is transformed, so that outlines with a common edge still have it afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InputError
from ...region import Region
from ...scene import Scene
from ...verdict import Status
from ..frames.poses import Pose
from ..parameters.config import Config, SourceConfig
from .faults import Fault
from .inbox import AgeLimit, Message, source_timeout
from .obstacles import HOLE, REGION, Obstacles

__all__ = [
    "Sender",
    "compose_scene",
    "in_check_frame",
    "placed_ways",
    "region_of",
    "time_zero",
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
        data, region = message.data, None
        assert data is not None
        solid = data.with_kinds(hulls=False)
        try:
            if data.has_region:
                # Its outlines count as obstacles, so that an error has the index in the message.
                _placed(data.with_kinds(hulls=True), pose, source, config)
                region = region_of(data, pose, source.inflation)
            placed = _placed(solid, pose, source, config)
        except InputError as error:
            fault = Fault(error.status, str(error))
            return cls(name, source, message, pose, config, solid, fault=fault)
        return cls(name, source, message, pose, config, solid, region, placed)

    def age_limit(self, steady: int) -> AgeLimit:
        """Return when the data becomes too old, at a steady time [ns]."""
        return AgeLimit.of(self.source.name, self.message, source_timeout(self.source), steady)

    @property
    def received(self) -> Obstacles:
        """The list as received."""
        assert self.message.data is not None
        return self.message.data


def _placed(
    data: Obstacles, pose: Pose, source: SourceConfig, config: Config
) -> _core.PlacedObstacles | None:
    """Return obstacles in the check frame, as a scene needs them; None: there are none."""
    if not len(data):
        return None
    paths, errors = placed_ways(data, pose, config)
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
        getattr(_core.PredictionPolicy, config.prediction_policy),
        config.prediction_horizon,
        0.0,
    )
    return _core.PlacedObstacles(
        data.parts(config.concave_policy),
        _core.sums_outwards(radius, errors),
        _poses(data, pose) if pose != Pose() or len(data.poses) else np.empty(0),
        reported,
    )


def time_zero(senders: Sequence[Sender]) -> int | None:
    """Return the time zero of a scene [ns]: the oldest stamp of its messages.

    None: all of them are static, so that the scene is the same at every time.
    """
    return min((each.message.stamp for each in senders if not each.source.static), default=None)


def compose_scene(senders: Sequence[Sender], config: Config) -> Scene:
    """Build one scene from the obstacles of several senders, in their order.

    Its times are seconds after `time_zero`; seconds since 1970 would be too coarse in a double.
    """
    regions = [each.region for each in senders if each.region is not None]
    if len(regions) > 1:
        raise ValueError("at most one sender may have a region")
    inside, epoch = regions[0] if regions else None, time_zero(senders) or 0
    used = [each for each in senders if each.placed is not None]
    if not used:
        return Scene([], inside=inside)
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
    )


def in_check_frame(
    data: Obstacles, pose: Pose, source: SourceConfig, config: Config, inflation: float
) -> Obstacles:
    """Return the obstacles of one sender in the check frame.

    The inflation and the rounding errors of the transform are added to the radii. With the
    identity as its pose and without inflation, `compose_scene` makes the same scene of the result.
    """
    radius, poses, velocities = data.radius, data.poses, data.velocities
    paths, errors = placed_ways(data, pose, config)
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


def placed_ways(data: Obstacles, frame: Pose, config: Config) -> tuple[Floats, Floats]:
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
        if config.prediction_policy == "constant_velocity":
            times = np.insert(data.path_times, ends[:-1], 0.0)
            last = ends[1:] + np.arange(count)
            stretch = times[last] - times[np.maximum(last - 1, 0)]
            goes_on = (counts > 0) & (stretch > 0.0)
            share = config.prediction_horizon / np.where(goes_on, stretch, 1.0)
            errors *= np.where(goes_on, 1.0 + 2.0 * share, 1.0)
    if len(data.velocities):
        speeds = frame.turn_error(data.velocities.reshape(-1, 3))
        errors += config.prediction_horizon * speeds
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


def region_of(obstacles: Obstacles, pose: Pose, inflation: float) -> Region | None:
    """Return the region of a list in the check frame; None: the list has no region.

    Parameters
    ----------
    obstacles : Obstacles
        The list as received; `Obstacles.check` must have passed.
    pose : Pose
        Pose of its frame in the check frame.
    inflation : float
        Distance that the vehicle must keep from the boundary [m].

    Raises
    ------
    InputError
        An outline is not valid, or the holes leave no region. The index is that of the first
        coordinate of the outline.
    """
    if not obstacles.has_region:
        return None
    ends = obstacles.offsets.astype(np.int64)
    rings: dict[int, list[bytes]] = {REGION: [], HOLE: []}
    owners: dict[int, list[int]] = {REGION: [], HOLE: []}
    for i in np.flatnonzero(obstacles.kinds >= REGION).tolist():
        kind = int(obstacles.kinds[i])
        ring = np.asarray(obstacles.xy[2 * ends[i] : 2 * ends[i + 1]], dtype=np.float64)
        rings[kind].append(ring.tobytes())
        owners[kind].append(i)
    region = _region(tuple(rings[REGION]), tuple(rings[HOLE]))
    if isinstance(region, InputError):
        kind = REGION if region.argument == "outlines" else HOLE
        if region.index is None or not owners[kind]:
            raise InputError(region.status, "kinds", None, region.rule)
        i = owners[kind][region.index]
        rule = f"obstacle {i}: {region.rule}"
        raise InputError(region.status, "xy", 2 * int(ends[i]), rule)
    if pose == Pose() and not inflation:
        return region
    segments, points = region.boundary, region.boundary.reshape(-1, 2)
    errors = pose.transform_error(points).reshape(-1, 2).max(axis=1)
    radii = np.nextafter(np.nextafter(region._radii + errors, np.inf) + inflation, np.inf)
    radii = np.where((errors == 0.0) & (region._radii == 0.0), inflation, radii)
    return region._with_boundary(pose.transform(points).reshape(segments.shape), radii, inflation)


@lru_cache(maxsize=8)
def _region(outlines: tuple[bytes, ...], holes: tuple[bytes, ...]) -> Region | InputError:
    """Return a region from the bytes of its outlines, or why they are not valid.

    Making one takes up to seconds, so an error is kept, too.
    """
    one, other = (
        [np.frombuffer(ring).reshape(-1, 2) for ring in rings] for rings in (outlines, holes)
    )
    try:
        return Region(one, other)
    except InputError as error:
        if error.status is Status.EMPTY_REQUEST:
            rule = f"a list with a HOLE ({HOLE}) must have a REGION ({REGION})"
            return InputError(Status.INVALID_INPUT, error.argument, None, rule)
        return error.with_traceback(None)
