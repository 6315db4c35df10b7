# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The obstacles of several senders at their places, and one scene of them.

A list of obstacles may have outlines of the region in which the vehicle must stay, and of its
holes, see ``msg/ObstacleArray``. The region is made from the coordinates as received, and then its
boundary is transformed, so that outlines with a common edge still have it afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from ..parameters.config import Config
from .obstacles import HOLE, REGION, Obstacles

__all__ = [
    "Placed",
    "compose_scene",
    "in_check_frame",
    "placed_ways",
    "placing_errors",
    "region_of",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Placed:
    """The obstacles of one sender, and where they are.

    Attributes
    ----------
    obstacles : Obstacles
        The obstacles, without the outlines of a region.
    pose : Pose
        Pose of their frame in the check frame.
    inflation : float
        Length that is added to each radius [m].
    is_static : bool
        Whether the obstacles never move, and their stamp has no meaning.
    region : Region or None
        The region of this sender in the check frame, with the inflation.
    received : Obstacles or None
        The list as received, if it has outlines of a region; else None.
    """

    obstacles: Obstacles
    pose: Pose
    inflation: float
    is_static: bool = False
    region: Region | None = None
    received: Obstacles | None = None
    _placed: dict[tuple[Any, ...], _core.PlacedObstacles] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def core(self, config: Config) -> _core.PlacedObstacles:
        """Return the obstacles in the check frame, as a scene needs them.

        They are computed once for the policies and the horizon of the parameters.
        """
        key = config.concave_policy, config.prediction_policy, config.prediction_horizon
        if key not in self._placed:
            data, (paths, errors) = self.obstacles, placed_ways(self, config)
            radius = _core.sums_outwards(_or_zeros(data.radius, len(data)), self.inflation)
            reported = _core.Reported(
                _velocities(self),
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
            self._placed[key] = _core.PlacedObstacles(
                data.parts(config.concave_policy),
                _core.sums_outwards(radius, errors),
                _poses(self) if self.pose != Pose() or len(data.poses) else np.empty(0),
                reported,
            )
        return self._placed[key]

    @classmethod
    def of(cls, received: Obstacles, pose: Pose, inflation: float, *, is_static: bool) -> "Placed":
        """Divide a list into its obstacles and its region.

        Raises
        ------
        InputError
            The region is not valid.
        """
        if not received.has_region:
            return cls(received, pose, inflation, is_static)
        region = region_of(received, pose, inflation)
        solid = received.with_kinds(hulls=False)
        return cls(solid, pose, inflation, is_static, region, received)


def compose_scene(parts: Sequence[Placed], config: Config, epoch: int) -> Scene:
    """Build one scene from the obstacles of several senders, in their order.

    Parameters
    ----------
    parts : sequence of Placed
        The obstacles of each sender.
    config : Config
        Parameters of the server; the concave and prediction policies and the horizon are used.
    epoch : int
        Time zero of the scene [ns]. Seconds since 1970 would be too coarse in a double.

    Raises
    ------
    InputError
        A shape or a pose is not valid; the index is that in its message.
    """
    regions = [part.region for part in parts if part.region is not None]
    if len(regions) > 1:
        raise ValueError("at most one sender may have a region")
    inside = regions[0] if regions else None
    used = [part for part in parts if len(part.obstacles)]
    if not used:
        return Scene([], inside=inside)
    stamps = [0.0 if p.is_static else (p.obstacles.stamp - epoch) * 1e-9 for p in used]
    latest = max(map(abs, stamps)) + config.prediction_horizon
    return Scene._composed(
        [part.core(config) for part in used],
        stamps,
        np.concatenate([part.obstacles.ids for part in used]),
        inside,
        config.prediction_policy,
        config.prediction_horizon,
        # The conversions of stamps and of query times have a few rounding errors each.
        2.0**-50 * (latest + 1.0),
    )


def in_check_frame(part: Placed, config: Config) -> Obstacles:
    """Return the obstacles of one sender in the check frame, without a region.

    The inflation and the rounding errors of the transform are added to the radii. With the
    identity as its pose and without inflation, `compose_scene` makes the same scene of the result.
    """
    data, place = part.obstacles, part.pose
    radius, poses, velocities = data.radius, data.poses, data.velocities
    paths, errors = placed_ways(part, config)
    if part.inflation > 0.0 or place != Pose():
        radius = _core.sums_outwards(_or_zeros(radius, len(data)), part.inflation)
        radius = _core.sums_outwards(radius, errors)
    if place != Pose():
        poses, velocities = _poses(part).ravel(), place.turn(velocities.reshape(-1, 3)).ravel()
    if part.is_static:
        velocities = _velocities(part).ravel()
    return replace(
        data,
        frame=config.check_frame,
        radius=radius,
        poses=poses,
        velocities=velocities,
        path_poses=paths.ravel(),
    )


def placing_errors(part: Placed, config: Config) -> Floats:
    """Return a bound of the transform's error for each obstacle (n,) [m].

    This is its rounding error, and the error of a frame that is tilted.

    No point of the obstacle is farther than this from its exact place, at its pose and at all
    predicted poses until the prediction horizon. It is 0 for data in the check frame.
    """
    return placed_ways(part, config)[1]


def placed_ways(part: Placed, config: Config) -> tuple[Floats, Floats]:
    """Return the predicted poses in the check frame, and the errors of `placing_errors`.

    Notes
    -----
    Let e be a bound of the errors of two consecutive poses. A place is interpolated at a fraction
    s of the way between them. Its error is at most e for s in [0, 1], and at most (1 + 2 s) e if
    the last segment is extrapolated beyond its end.
    """
    data, frame = part.obstacles, part.pose
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


def _poses(part: Placed) -> Floats:
    own = part.obstacles.poses
    if len(own):
        return part.pose.compose(own.reshape(-1, 3))
    return np.tile(np.asarray(part.pose, dtype=np.float64), (len(part.obstacles), 1))


def _velocities(part: Placed) -> Floats:
    own = part.obstacles.velocities.reshape(-1, 3)
    if part.is_static:
        return np.zeros((len(part.obstacles), 3))
    if not len(own):
        return np.full((len(part.obstacles), 3), nan)
    return part.pose.turn(own)


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
