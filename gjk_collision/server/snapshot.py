# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots: the footprint and the obstacles at one time, as a shape and a scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan
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
from .frames import Pose
from .obstacles import Obstacles
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
    "sums_rounded_up",
]

Floats = npt.NDArray[np.float64]


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
    among : tuple of Snapshot
        The snapshot with each footprint of the request, if `chosen_among` returned this one.
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
    among: tuple["Snapshot", ...] = ()
    # The result of `cores`. A copy with other values has its own.
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
        try:
            config = self.config
            is_named = _core.choose_footprint(name, config.usable_footprints, config.is_by_speed)
        except InputError as error:
            raise InputError(error.status, field, index, error.rule) from None
        if not is_named:
            return self.origin or self
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
            Names as for `chosen`, at least one.
        field : str
            Field of the request with the names, for the error.

        Raises
        ------
        InputError
            A name is unknown, or there is none.
        """
        if not names:
            rule = "must have at least one name (got none)"
            raise InputError(Status.INVALID_INPUT, field, None, rule)
        found = [self.chosen(each, field, i) for i, each in enumerate(names)]
        expiries = dict.fromkeys(expiry for each in found for expiry in each.footprint_expiries)
        known = dict.fromkeys(name for each in found for name in each.footprint_names)
        ages = [each.footprint_age for each in found if each.footprint is not None]
        return replace(
            next((each for each in found if each.origin is not None), found[0]),
            footprint_names=tuple(known),
            footprint_expiries=tuple(expiries),
            footprint_age=max(ages, default=nan),
            among=tuple(found),
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
        return self.cores()[0].known_until(stamp)

    def cores(self) -> list[_core.Snapshot]:
        """Return the snapshot for the rules of the kernel, with each footprint of the request."""
        if not self._cores:
            for each in self.among or (self,):
                config, fault, shape = each.config, each.fault, each.footprint
                core = _core.Snapshot(
                    scene=each.scene._core,
                    footprint=None if shape is None else shape._core,
                    stamp=each.stamp,
                    epoch=each.epoch,
                    horizon=config.prediction_horizon,
                    safety_margin=config.safety_margin,
                    toi_tolerance=config.toi_tolerance,
                    max_poses=config.max_poses,
                    fault=None if fault is None else (int(fault.status), fault.message),
                    ids=each.scene.ids.tolist(),
                    senders=list(each.spans),
                    region_source=each.region_source,
                )
                self._cores.append(core)
        return self._cores

    def invalidated(self, fault: Fault) -> "Snapshot":
        """Return a copy without a footprint. Every answer from it is UNKNOWN with the fault."""
        return replace(
            self,
            footprint=None,
            fault=fault,
            data_fault=fault,
            footprints=(),
            origin=None,
            among=tuple(each.invalidated(fault) for each in self.among),
        )


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
            radius = sums_rounded_up(_or_zeros(data.radius, len(data)), self.inflation)
            reported = _core.Reported(
                _velocities(self),
                np.empty(0),
                data.path_offsets if len(data.path_times) else np.empty(0, np.uint32),
                data.path_times,
                paths,
                data.margins,
                data.margin_rates,
                getattr(_core.PredictionPolicy, config.prediction_policy),
                config.prediction_horizon,
                0.0,
            )
            self._placed.clear()
            self._placed[key] = _core.PlacedObstacles(
                data.parts(config.concave_policy),
                sums_rounded_up(radius, errors),
                _poses(self) if self.pose != Pose() or len(data.poses) else np.empty(0),
                reported,
            )
        return self._placed[key]

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


def _or_zeros(values: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    return values if len(values) else np.zeros(length, values.dtype)


def sums_rounded_up(values: Floats, more: Floats | float) -> Floats:
    """Return `values + more`. If a sum is not a double, it is rounded up.

    Notes
    -----
    The rounding error of a sum is computed exactly (Knuth's two-sum).
    """
    sums = values + more
    rest = sums - values
    errors = (values - (sums - rest)) + (more - rest)
    rounded: Floats = np.where(errors > 0.0, np.nextafter(sums, inf), sums)
    return rounded
