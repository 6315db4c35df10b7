# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What was known at one time, and how shapes and a scene are made of the data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..geometry import Shape, outlined
from ..scene import Scene
from ..verdict import Status
from .config import Config
from .frames import Pose
from .obstacles import Obstacles
from .rules import sums_rounded_up

__all__ = [
    "Fault",
    "Placed",
    "Report",
    "Snapshot",
    "compose_scene",
    "configured_footprint",
    "configured_outline",
    "nothing",
    "outline",
    "placed_ways",
    "placing_errors",
]

Floats = npt.NDArray[np.float64]

MAX_ERROR = 1e6  # m: of a pose in another frame that is still answered


@dataclass(frozen=True, slots=True)
class Fault:
    """Why something is not known."""

    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was known at one time. It never changes, and one query sees one snapshot.

    Attributes
    ----------
    id : int
        Equal ids: the same footprint, obstacles and configuration. Upper 32 bits: epoch of the
        world (see `World`); lower 32: counter. 0: none.
    stamp : int
        The time it is for [ns].
    config : Config
        In force.
    scene : Scene
        The obstacles of every source that is good, in `config.check_frame`.
    footprint : Shape or None
        In `config.base_frame`, margins of direction included; None: not known.
    fault : Fault or None
        Why this is not all there is; nothing is FREE beside a fault. None: complete.
    oldest_data_stamp : int
        [ns]; 0: no data.
    footprint_age, max_obstacle_age : float
        At `stamp` [s], or when the answer left (`World.later`); NaN: none. The latter is that of
        the oldest of all senders, used or not.
    bad_sources : tuple of str
        Sources that are missing, stale or faulty, excused or not.
    epoch : int
        Zero of the scene's clock [ns]: its times are seconds after this.
    spans : tuple of (int, str)
        For each sender in the order of the scene: the index after its last obstacle, its name.
    parts : tuple of Placed
        What the scene is made of, for each sender in the order of `spans`.
    outline : (n, 2) float64 or None
        The footprint's points in `config.base_frame` [m], margins of direction not included.
    outline_stamp : int
        Of a footprint that was received [ns]; else `stamp`.
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

    @property
    def footprint_fault(self) -> Fault:
        """Why nothing can be answered, where the footprint is not known."""
        return self.fault or Fault(Status.NO_FOOTPRINT, "no footprint")

    def known_until(self, stamp: int) -> float:
        """Return the time after a request's stamp [s] until which obstacles are predicted.

        The horizon begins at the oldest data in use. Beyond it nothing is known: of no obstacle,
        and not whether another one has come.

        Parameters
        ----------
        stamp : int
            Of the request [ns]; 0: the snapshot's.
        """
        return self.config.prediction_horizon - ((stamp or self.stamp) - self.epoch) * 1e-9

    def composed(
        self, poses: Floats, frame: Pose, *, is_way: bool = False
    ) -> tuple[Floats, Floats]:
        """Bring poses of a request into the check frame.

        Parameters
        ----------
        poses : (N, 3) float64
            x y yaw [m, m, rad] of the base frame in `frame`.
        frame : Pose
            In the check frame.
        is_way : bool
            The poses are passed one after another.

        Returns
        -------
        poses : (N, 3) float64
            In the check frame.
        errors : (N,) float64
            How far a point of the footprint may be from its true place [m], a power of two or 0;
            see `vehicle`.

        Raises
        ------
        InputError
            COORD_RANGE: a pose is so far from the origin of its frame that nothing is known of it.
        """
        if frame == Pose() or self.footprint is None:
            return frame.compose(poses), np.zeros(len(poses))
        size = _reach(self.footprint.parts)
        if is_way:
            placed, errors = frame.compose_ways(poses, size, np.zeros(len(poses), bool))
        else:
            placed, errors = frame.compose(poses), frame.compose_error(poses, size)
        known = errors < MAX_ERROR
        if not known.all():
            i = int(np.argmin(known))
            rule = "too far from the origin of its frame"
            raise InputError(Status.COORD_RANGE, "poses", 3 * i, rule)
        # Poses near each other have the same error then, and are checked together.
        rounded_up = np.ldexp(1.0, np.frexp(errors)[1])
        return placed, np.where(errors > 0.0, rounded_up, 0.0)

    def vehicle(self, error: float) -> Shape:
        """Return the footprint with all that lies within an error [m] of it.

        A pose that is off by less than the error is then part of what is checked.
        """
        assert self.footprint is not None
        return self.footprint.inflated(error) if error else self.footprint

    def voided(self, fault: Fault) -> "Snapshot":
        """Return it without a footprint: all that can be answered is the fault."""
        return replace(self, footprint=None, fault=fault)

    def on_clock(self, times: Floats, stamp: int) -> Floats:
        """Return times of a request on the scene's clock [s].

        Parameters
        ----------
        times : (M,) float64
            [s] after `stamp`.
        stamp : int
            Of the request [ns]; 0: the snapshot's time.
        """
        # Whole seconds first: a stamp far from the data is cancelled by the times, and the sum is
        # then exact. Its rounding is a share of the result, see `time_error` in compose_scene.
        seconds, rest = divmod((stamp or self.stamp) - self.epoch, 1_000_000_000)
        moved: Floats = (times + float(seconds)) + rest * 1e-9
        return moved

    def source_of(self, index: int) -> str:
        """Return the name of the source of an obstacle of the scene; -1 gives ''."""
        if index < 0:
            return ""
        return next(name for end, name in self.spans if index < end)


@dataclass(frozen=True, slots=True)
class Placed:
    """Obstacles, the pose of their frame in the check frame, and what their radii grow by [m]."""

    obstacles: Obstacles
    pose: Pose
    inflation: float


@dataclass(frozen=True, slots=True)
class Report:
    """What is heard from one sender, or not.

    Attributes
    ----------
    source, sender : str
        Name in ``obstacle_sources`` (or "footprint"), and of who sends.
    fault : Fault or None
        Why its data is not used; None: it is.
    is_excused : bool
        The fault of an optional source, which keeps nothing from being FREE.
    age : float
        Of the data by its stamp [s]; NaN: none.
    count : int
        Obstacles, or points of a footprint.
    received, dropped : int
        Messages since activation, and those among them that came out of order.
    """

    source: str
    sender: str
    fault: Fault | None
    is_excused: bool = False
    age: float = nan
    count: int = 0
    received: int = 0
    dropped: int = 0


def nothing(config: Config, fault: Fault, stamp: int) -> Snapshot:
    """Return the snapshot of a time [ns] at which nothing is known, and why."""
    return Snapshot(0, stamp, config, Scene([]), None, fault, 0, nan, nan, (), stamp, ())


def compose_scene(parts: Sequence[Placed], config: Config, epoch: int) -> Scene:
    """Make one scene of the obstacles of several sources, in their order.

    Parameters
    ----------
    parts : sequence of Placed
        The obstacles.
    config : Config
        Its policies apply.
    epoch : int
        Zero of the scene's clock [ns]. Seconds since 1970 would be too coarse in a double.

    Raises
    ------
    InputError
        A shape is bad. The index counts through all parts: compose one alone to learn its own.
    """
    lists = [part.obstacles for part in parts if len(part.obstacles)]
    used = [part for part in parts if len(part.obstacles)]
    if not used:
        return Scene([])
    ends = np.cumsum([len(each.xy) // 2 for each in lists])
    starts = [0, *ends[:-1]]
    offsets = [
        each.offsets[:-1].astype(np.int64) + start
        for each, start in zip(lists, starts, strict=True)
    ]
    posed = any(part.pose != Pose() or len(part.obstacles.poses) for part in used)
    ways = [placed_ways(part, config) for part in used]
    stamps = [(each.stamp - epoch) * 1e-9 for each in lists]
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
        concave_policy=config.concave_policy,
        prediction=config.prediction_policy,
        horizon=config.prediction_horizon,
        # Of the conversion of stamps and of the times of queries: a few roundings each.
        time_error=2.0**-50 * (latest + 1.0),
    )


def placing_errors(part: Placed, config: Config) -> Floats:
    """Return how far composing may move each obstacle from its true place (n,) [m].

    Of its pose and its predicted poses, until the prediction horizon. 0 in the check frame.
    """
    return placed_ways(part, config)[1]


def _reach(rings: Sequence[Floats]) -> float:
    """Return a distance from the origin [m] that no point of some outlines (n, 2) exceeds."""
    return max((float(np.abs(ring).sum(axis=1).max()) for ring in rings), default=0.0)


def placed_ways(part: Placed, config: Config) -> tuple[Floats, Floats]:
    """Return the predicted poses in the check frame, and what `placing_errors` says.

    Notes
    -----
    A predicted place at a share s between two poses, whose errors are at most e, is off by at most
    e for s in [0, 1], and by (1 + 2 s) e where the last stretch is continued beyond its end.
    """
    data, frame = part.obstacles, part.pose
    count, paths = len(data), data.path_poses.reshape(-1, 3)
    if frame == Pose():
        return paths, np.zeros(count)
    sizes = np.append(np.abs(data.xy.reshape(-1, 2)).sum(axis=1), 0.0)
    reaches = np.maximum.reduceat(sizes, data.offsets[:-1].astype(np.int64))
    own = data.poses.reshape(-1, 3) if len(data.poses) else np.zeros((count, 3))
    errors = frame.compose_error(own, reaches)
    if len(paths):
        ends = data.path_offsets.astype(np.int64)
        counts = np.diff(ends)
        owner = np.repeat(np.arange(count), counts)
        # A path begins at the obstacle's pose.
        rows = np.insert(paths, ends[:-1], own, axis=0)
        begins = np.insert(np.zeros(len(paths), bool), ends[:-1], True)
        reaches_of = np.insert(reaches[owner], ends[:-1], reaches)
        ways, at = frame.compose_ways(rows, reaches_of, begins)
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


def configured_footprint(config: Config) -> Shape | None:
    """Return the footprint that the parameters give, margins included; None: a topic brings it.

    Raises
    ------
    InputError
        It is no shape.
    """
    if config.footprint:
        return outline(np.reshape(config.footprint, (-1, 2)), config)
    if config.robot_radius > 0.0:
        return _with_margins(Shape.circle(config.robot_radius), config)
    return None


def configured_outline(config: Config) -> Floats | None:
    """Return the points of the configured footprint (n, 2) [m], without any margin."""
    if config.footprint:
        return np.reshape(config.footprint, (-1, 2))
    return np.zeros((1, 2)) if config.robot_radius > 0.0 else None


def outline(points: Floats, config: Config) -> Shape:
    """Return the vehicle with this outline, margins of direction included.

    Parameters
    ----------
    points : (n, 2) float64
        In the base frame [m].
    config : Config
        Its `concave_policy` and margins apply.

    Raises
    ------
    InputError
        It is no shape, or a concave one that the policy refuses.
    """
    if len(points) > config.max_points_per_obstacle:
        rule = f"more points than the limit, {config.max_points_per_obstacle}"
        raise InputError(Status.LIMIT_EXCEEDED, "outline", None, rule)
    return _with_margins(outlined(points, config.concave_policy), config)


def _with_margins(shape: Shape, config: Config) -> Shape:
    """Grow a shape by the margins of direction."""
    sides = config.margin_front, config.margin_rear, config.margin_left, config.margin_right
    return shape.padded(*sides) if any(sides) else shape


def _poses(part: Placed) -> Floats:
    own = part.obstacles.poses
    if len(own):
        return part.pose.compose(own.reshape(-1, 3))
    return np.tile(np.asarray(part.pose, dtype=np.float64), (len(part.obstacles), 1))


def _velocities(part: Placed) -> Floats:
    own = part.obstacles.velocities.reshape(-1, 3)
    if not len(own):
        return np.full((len(part.obstacles), 3), nan)
    return part.pose.turn(own)


def _path_offsets(lists: Sequence[Obstacles]) -> npt.NDArray[np.int64]:
    """Return the offsets of all paths together; empty where there is none."""
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
