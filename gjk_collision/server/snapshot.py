# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots: the footprint and the obstacles at one time, as a shape and a scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..geometry import Shape, outlined
from ..region import Region
from ..scene import Scene
from ..verdict import Status
from .boundary import region_of
from .config import DEFAULT_FOOTPRINT, Config, FootprintConfig
from .frames import IDENTITY, Pose
from .obstacles import Obstacles
from .rules import refuse, sums_rounded_up
from .twist import Twist

__all__ = [
    "Expiry",
    "Fault",
    "NamedFootprint",
    "Placed",
    "Report",
    "Snapshot",
    "compose_scene",
    "configured_footprint",
    "configured_outline",
    "empty_snapshot",
    "in_check_frame",
    "named_footprints",
    "outline",
    "placed_ways",
    "placing_errors",
]

Floats = npt.NDArray[np.float64]

# Maximum number of footprints of one request: an index is a uint8.
MAX_NAMES = 256
# Maximum error of a request's pose in another frame [m]. A pose with a greater error is refused.
MAX_ERROR = 1e6


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why data cannot be used, or why a question cannot be answered."""

    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class Expiry:
    """The limits of the age of one message.

    Attributes
    ----------
    source : str
        Name in ``obstacle_sources``, "footprint" or "twist_topic".
    stamp : int
        Stamp of the message [ns].
    timeout : float
        Maximum age by the stamp, and maximum time since the stamp was first received [s]; 0: no
        limit, because the source is static.
    receipt_age : int
        Time since the stamp was first received [ns], at the time of the snapshot.
    """

    source: str
    stamp: int
    timeout: float
    receipt_age: int


@dataclass(frozen=True, slots=True)
class NamedFootprint:
    """A footprint from the parameters.

    Attributes
    ----------
    name : str
        Name in ``footprint_names``, or `DEFAULT_FOOTPRINT`.
    shape : Shape
        The footprint with the directional margins, in the base frame.
    outline : (n, 2) float64
        Its points, without the directional margins [m].
    """

    name: str
    shape: Shape
    outline: Floats


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The footprint and the obstacles at one time. A snapshot never changes.

    Attributes
    ----------
    id : int
        Two snapshots with the same id have the same footprint, obstacles and configuration. The
        upper 32 bits are the epoch of the `World`, the lower 32 bits are a counter. 0: none.
    stamp : int
        Time of the snapshot [ns].
    config : Config
        Parameters at that time.
    scene : Scene
        The obstacles of all sources with usable data, in `config.check_frame`.
    footprint : Shape or None
        The footprint in `config.base_frame`, with the directional margins. None: not known.
    fault : Fault or None
        Why the snapshot is incomplete. No answer is FREE if there is a fault. None: complete.
    oldest_data_stamp : int
        Stamp of the oldest data in use [ns]; 0: no data.
    footprint_age : float
        Age of the footprint [s] at `stamp`, or at the time when the answer is sent (see
        `World.confirm`). 0: footprint from a parameter; NaN: no footprint.
    max_obstacle_age : float
        Age of the oldest obstacle message [s] at the same time, even if it is not used. NaN: no
        message.
    bad_sources : tuple of str
        Names of the required and optional sources whose data is missing, stale or invalid.
    epoch : int
        Time zero of the scene [ns]. Times in the scene are seconds after this.
    spans : tuple of (int, str)
        For each sender, in the order of the scene: the index after its last obstacle, and the name
        of the sender.
    parts : tuple of Placed
        The obstacles of each sender, in the order of `spans`.
    outline : (n, 2) float64 or None
        Points of the footprint in `config.base_frame` [m], without the directional margins.
    outline_stamp : int
        Stamp of a footprint from the topic [ns]; otherwise `stamp`.
    footprint_names : tuple of str
        Name of `footprint`; empty: it is not known. If a request uses several footprints, the
        names of all that are known, see `chosen_among`.
    footprints : tuple of NamedFootprint
        All footprints from the parameters, which `chosen` can return; empty if every answer is
        UNKNOWN.
    data_fault : Fault or None
        The first fault that does not concern `footprint`.
    twist : Twist, Fault or None
        The twist of the base frame, or why it is not known; None: ``twist_topic`` is not set.
    expiries : tuple of Expiry
        When the data of each sender becomes too old, in the order of `spans`.
    footprint_expiries : tuple of Expiry
        The same for the messages that the footprints of `footprint_names` depend on: a footprint
        from the topic, or the twist that selected it.
    region_source : str
        Name of the sender of the region; empty: there is no region.
    static_revision : int
        Increases with each message of a static source, and with each correction of a static
        transform; 0: there was neither.
    origin : Snapshot or None
        The snapshot without the choice of a footprint, if `chosen` returned this one.
    """

    id: int
    stamp: int
    config: Config
    scene: Scene
    footprint: Shape | None
    fault: Fault | None
    oldest_data_stamp: int
    footprint_age: float
    max_obstacle_age: float
    bad_sources: tuple[str, ...]
    epoch: int
    spans: tuple[tuple[int, str], ...]
    parts: tuple["Placed", ...] = ()
    outline: Floats | None = None
    outline_stamp: int = 0
    footprint_names: tuple[str, ...] = ()
    footprints: tuple[NamedFootprint, ...] = ()
    data_fault: Fault | None = None
    twist: Twist | Fault | None = None
    expiries: tuple[Expiry, ...] = ()
    footprint_expiries: tuple[Expiry, ...] = ()
    region_source: str = ""
    static_revision: int = 0
    origin: "Snapshot | None" = None
    # The result of `core`. A copy with other values has its own.
    _cores: list[_core.Snapshot] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def footprint_name(self) -> str:
        """`footprint_names`, separated by ", "."""
        return ", ".join(self.footprint_names)

    @property
    def footprint_fault(self) -> Fault:
        """The reason for an answer UNKNOWN if the footprint is not known."""
        return self.fault or Fault(Status.NO_FOOTPRINT, "the footprint is not known")

    def chosen(self, name: str, field: str = "footprint", index: int | None = None) -> "Snapshot":
        """Return a copy with the footprint of this name.

        Parameters
        ----------
        name : str
            Name in ``footprint_names``, or `DEFAULT_FOOTPRINT`. Empty: the footprint of a request
            that names none.
        field : str
            Field of the request with the name, for the error.
        index : int, optional
            Index in this field.

        Raises
        ------
        InputError
            There is no footprint of this name.
        """
        if not name or (name == DEFAULT_FOOTPRINT and not self.config.is_by_speed):
            return self.origin or self
        known = self.config.usable_footprints
        if name not in known:
            rule = f"must be empty or one of {', '.join(known)} (got {name!r})"
            refuse(Status.INVALID_INPUT, field, index, rule)
        for each in self.footprints:
            if each.name == name:
                return replace(
                    self,
                    origin=self.origin or self,
                    footprint=each.shape,
                    outline=each.outline,
                    outline_stamp=self.stamp,
                    footprint_names=(name,),
                    footprint_expiries=(),
                    footprint_age=0.0,
                    fault=self.data_fault,
                )
        return self

    def chosen_among(self, names: Sequence[str], field: str = "footprints") -> "Snapshot":
        """Return a copy for a request whose poses have footprints of several names.

        It has the first footprint that is from the parameters, and depends on the messages of all.

        Parameters
        ----------
        names : sequence of str
            Names as for `chosen`, at least one and at most `MAX_NAMES`.
        field : str
            Field of the request with the names, for the error.

        Raises
        ------
        InputError
            A name is unknown, or there are too many or none.
        """
        if not names:
            refuse(Status.INVALID_INPUT, field, None, "must have at least one name (got none)")
        if len(names) > MAX_NAMES:
            rule = f"must have at most {MAX_NAMES} names (got {len(names)})"
            refuse(Status.LIMIT_EXCEEDED, field, None, rule)
        found = [self.chosen(each, field, i) for i, each in enumerate(names)]
        expiries = dict.fromkeys(expiry for each in found for expiry in each.footprint_expiries)
        known = dict.fromkeys(name for each in found for name in each.footprint_names)
        ages = [each.footprint_age for each in found if each.footprint is not None]
        return replace(
            next((each for each in found if each.origin is not None), found[0]),
            footprint_names=tuple(known),
            footprint_expiries=tuple(expiries),
            footprint_age=max(ages, default=nan),
        )

    def known_until(self, stamp: int) -> float:
        """Return until what time obstacles are predicted, in s after the stamp of a request.

        The prediction horizon begins at the stamp of the oldest data in use. After the horizon no
        obstacle is predicted, and new obstacles may have appeared.

        Parameters
        ----------
        stamp : int
            Stamp of the request [ns]; 0: the stamp of the snapshot.
        """
        return self.core().known_until(stamp)

    def composed(
        self, poses: Floats, frame: Pose, *, is_path: bool = False, reach: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Transform poses of a request into the check frame.

        Parameters
        ----------
        poses : (N, 3) float64
            x y yaw [m, m, rad] of the base frame in `frame`.
        frame : Pose
            Pose of the request's frame in the check frame.
        is_path : bool
            Whether the vehicle moves from each pose to the next one.
        reach : float
            Maximum length of a path from the poses, in the frame of the vehicle [m].

        Returns
        -------
        poses : (N, 3) float64
            x y yaw [m, m, rad] of the base frame in the check frame.
        errors : (N,) float64
            Upper bound of the distance between a point of the footprint and its exact place [m].
            It is a power of two or 0. The footprint is grown by it, so that it contains the
            footprint at the exact pose.

        Raises
        ------
        InputError
            COORD_RANGE: a pose is so far from the origin of its frame that its error is
            `MAX_ERROR` or more.
        """
        if frame == IDENTITY or self.footprint is None:
            return frame.compose(poses), np.zeros(len(poses))
        size = _reach(self.footprint.parts) + reach
        if is_path:
            placed, errors = frame.compose_paths(poses, size, np.zeros(len(poses), bool))
        else:
            placed, errors = frame.compose(poses), frame.compose_error(poses, size)
        known = errors < MAX_ERROR
        if not known.all():
            i = int(np.argmin(known))
            rule = "the pose is too far from the origin of its frame to be transformed accurately"
            raise InputError(Status.COORD_RANGE, "poses", 3 * i, rule)
        # Poses near each other have the same error after this, and are checked together.
        rounded_up = np.ldexp(1.0, np.frexp(errors)[1])
        return placed, np.where(errors > 0.0, rounded_up, 0.0)

    def core(self) -> _core.Snapshot:
        """Return the snapshot for the rules of the kernel, which answer the questions."""
        if not self._cores:
            config, fault, shape = self.config, self.fault, self.footprint
            found = _core.Snapshot(
                self.scene._core,
                None if shape is None else shape._core,
                self.stamp,
                self.epoch,
                config.prediction_horizon,
                config.safety_margin,
                config.toi_tolerance,
                config.max_poses,
                None if fault is None else int(fault.status),
                "" if fault is None else fault.message,
            )
            self._cores.append(found)
        return self._cores[0]

    def invalidated(self, fault: Fault) -> "Snapshot":
        """Return a copy without a footprint. Every answer from it is UNKNOWN with the fault."""
        return replace(
            self, footprint=None, fault=fault, data_fault=fault, footprints=(), origin=None
        )

    def source_of(self, index: int) -> str:
        """Return the name of the sender of an obstacle of the scene; '' for the index -1.

        The index after the last obstacle is that of the outside of the region.
        """
        if index < 0:
            return ""
        return next((name for end, name in self.spans if index < end), self.region_source)


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

    @classmethod
    def of(
        cls, received: Obstacles, pose: Pose, inflation: float, *, is_static: bool = False
    ) -> "Placed":
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


@dataclass(frozen=True, slots=True)
class Report:
    """The state of one sender.

    Attributes
    ----------
    source : str
        Name in ``obstacle_sources``, or "footprint".
    sender : str
        Name of the sender; empty: no message was received.
    fault : Fault or None
        Why its data is not used; None: its data is used.
    is_excused : bool
        Whether the fault is excused, because the source is optional. Answers can still be FREE.
    age : float
        Age, by its stamp, of the message that is used [s]. This is not the last message while
        the transform of the last one is not known yet. If no message is used: age of the last one.
        NaN: no message.
    count : int
        Number of obstacles, or of points of a footprint, in the same message.
    received, dropped : int
        Number of messages since activation, and number of those that were dropped.
    """

    source: str
    sender: str
    fault: Fault | None
    is_excused: bool = False
    age: float = nan
    count: int = 0
    received: int = 0
    dropped: int = 0


def empty_snapshot(config: Config, fault: Fault, stamp: int) -> Snapshot:
    """Return a snapshot without data for a time [ns], with the reason."""
    return Snapshot(0, stamp, config, Scene([]), None, fault, 0, nan, nan, (), stamp, ())


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
        A shape is invalid. Its index counts the obstacles of all parts. To get the index in its
        own message, compose that part alone.
    """
    lists = [part.obstacles for part in parts if len(part.obstacles)]
    used = [part for part in parts if len(part.obstacles)]
    regions = [part.region for part in parts if part.region is not None]
    if len(regions) > 1:
        raise ValueError("at most one sender may have a region")
    inside = regions[0] if regions else None
    if not used:
        return Scene([], inside=inside)
    ends = np.cumsum([len(each.xy) // 2 for each in lists])
    starts = [0, *ends[:-1]]
    offsets = [
        each.offsets[:-1].astype(np.int64) + start
        for each, start in zip(lists, starts, strict=True)
    ]
    posed = any(part.pose != Pose() or len(part.obstacles.poses) for part in used)
    ways = [placed_ways(part, config) for part in used]
    stamps = [0.0 if p.is_static else (p.obstacles.stamp - epoch) * 1e-9 for p in used]
    latest = max(map(abs, stamps)) + config.prediction_horizon
    return Scene.from_arrays(
        np.concatenate([*offsets, ends[-1:]]),
        np.concatenate([each.xy for each in lists]),
        ids=np.concatenate([each.ids for each in lists]),
        kinds=np.concatenate([_or_zeros(each.kinds, len(each)) for each in lists]),
        radius=np.concatenate(
            [
                sums_rounded_up(
                    sums_rounded_up(_or_zeros(p.obstacles.radius, len(p.obstacles)), p.inflation),
                    errors,
                )
                for p, (_, errors) in zip(used, ways, strict=True)
            ]
        ),
        poses=np.concatenate([_poses(part) for part in used]) if posed else None,
        velocities=np.concatenate([_velocities(part) for part in used]),
        path_offsets=_path_offsets(lists),
        path_times=np.concatenate([each.path_times for each in lists]),
        path_poses=np.concatenate([poses for poses, _ in ways]),
        stamps=np.repeat(stamps, [len(each) for each in lists]),
        margins=np.concatenate([_or_zeros(each.margins, len(each)) for each in lists]),
        margin_rates=np.concatenate([_or_zeros(each.margin_rates, len(each)) for each in lists]),
        inside=inside,
        concave_policy=config.concave_policy,
        prediction=config.prediction_policy,
        horizon=config.prediction_horizon,
        # The conversions of stamps and of query times have a few rounding errors each.
        time_error=2.0**-50 * (latest + 1.0),
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
        radius = sums_rounded_up(_or_zeros(radius, len(data)), part.inflation)
        radius = sums_rounded_up(radius, errors)
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


def _reach(rings: Sequence[Floats]) -> float:
    """Return a bound of the distance from the origin [m] to any point of outlines (n, 2)."""
    return max((float(np.abs(ring).sum(axis=1).max()) for ring in rings), default=0.0)


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


def configured_footprint(
    config: Config, footprint: Config | FootprintConfig | None = None
) -> Shape | None:
    """Return the configured footprint with the directional margins; None: not configured.

    Parameters
    ----------
    config : Config
        Parameters of the server.
    footprint : FootprintConfig, optional
        A named footprint. Default: the parameter ``footprint`` or ``robot_radius`` of `config`.

    Raises
    ------
    InputError
        The configured outline is not a valid shape.
    """
    own = footprint or config
    if own.footprint:
        return outline(np.reshape(own.footprint, (-1, 2)), config)
    if own.robot_radius > 0.0:
        return _with_margins(Shape.circle(own.robot_radius), config)
    return None


def named_footprints(config: Config) -> tuple[NamedFootprint, ...]:
    """Return all configured footprints, the default one last.

    Raises
    ------
    InputError
        A configured outline is not a valid shape. The message names the parameter.
    """
    found = []
    owners: list[tuple[str, Config | FootprintConfig]]
    owners = [*((each.name, each) for each in config.footprints), ("", config)]
    for name, own in owners:
        try:
            shape, points = configured_footprint(config, own), configured_outline(own)
        except InputError as error:
            if not name:
                raise
            rule = f"is not a footprint: {error}"
            raise InputError(error.status, f"{name}.footprint", None, rule) from error
        if shape is not None and points is not None:
            found.append(NamedFootprint(name or DEFAULT_FOOTPRINT, shape, points))
    return tuple(found)


def configured_outline(config: Config | FootprintConfig) -> Floats | None:
    """Return the points of the configured footprint (n, 2) [m], without margins."""
    if config.footprint:
        return np.reshape(config.footprint, (-1, 2))
    return np.zeros((1, 2)) if config.robot_radius > 0.0 else None


def outline(points: Floats, config: Config) -> Shape:
    """Return the shape of the vehicle with this outline and the directional margins.

    Parameters
    ----------
    points : (n, 2) float64
        Outline in the base frame [m].
    config : Config
        Parameters of the server; `concave_policy` and the directional margins are used.

    Raises
    ------
    InputError
        The outline is not a valid shape, has too many points, or is concave and the policy is
        'reject'.
    """
    if len(points) > config.max_points_per_obstacle:
        limit = config.max_points_per_obstacle
        rule = f"must have at most {limit} points (max_points_per_obstacle)"
        raise InputError(Status.LIMIT_EXCEEDED, "outline", None, rule)
    return _with_margins(outlined(points, config.concave_policy), config)


def _with_margins(shape: Shape, config: Config) -> Shape:
    """Return a shape that is grown by the directional margins."""
    sides = config.margin_front, config.margin_rear, config.margin_left, config.margin_right
    return shape.padded(*sides) if any(sides) else shape


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


def _path_offsets(lists: Sequence[Obstacles]) -> npt.NDArray[np.int64]:
    """Return the offsets of the paths of all lists together; empty if there are no paths."""
    if not any(len(each.path_times) for each in lists):
        return np.empty(0, np.int64)
    counts = [
        np.diff(each.path_offsets.astype(np.int64))
        if len(each.path_offsets)
        else np.zeros(len(each), np.int64)
        for each in lists
    ]
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]))


def _or_zeros(values: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    return values if len(values) else np.zeros(length, values.dtype)
