# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the collision server: name, default, unit, range and help of each.

Each parameter is a field of ``Config``, ``SourceConfig`` or ``FootprintConfig``. The classes are
frozen, and their constructors check every value. The parameter file and the ROS parameter
descriptors are generated from these classes.
"""

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from ... import _core
from ...errors import refuse
from .names import OF_EVERY_NODE, check_names, did_you_mean
from .values import (
    Facts,
    Value,
    check_fields,
    checked,
    facts_of,
    list_of_names,
    parameter,
    parameter_fields,
)

__all__ = [
    "DEFAULT_FOOTPRINT",
    "WHILE_CONFIGURED",
    "Config",
    "FootprintConfig",
    "SourceConfig",
    "checked_value",
    "group_defaults",
    "parameter_facts",
]

OBSTACLE_ARRAY = "gjk_collision/msg/ObstacleArray"
ODOMETRY, TWIST_STAMPED = "nav_msgs/msg/Odometry", "geometry_msgs/msg/TwistStamped"
# Name of the footprint of the parameter footprint or robot_radius, or of the topic footprint.
DEFAULT_FOOTPRINT = "default"
MAX_FOOTPRINTS = 255  # a request selects one per pose by a uint8
SCAN = "sensor_msgs/msg/LaserScan"
CLOUD = "sensor_msgs/msg/PointCloud2"
GRID = "nav_msgs/msg/OccupancyGrid"
COSTMAP = "nav2_msgs/msg/Costmap"
POLYGON = "geometry_msgs/msg/PolygonStamped"
RANGE = "sensor_msgs/msg/Range"
_POLICIES = ("unknown_is_error", "constant_velocity", "hold")
# Why a parameter that is not live cannot change.
WHILE_CONFIGURED = "cannot change while the node is configured: deactivate and clean up first"


def _margin(side: str) -> Any:
    text = f"Length by which the footprint is extended to the {side}."
    return parameter(0.0, text, "m", low=0.0, high=5.0, safe="up")


@dataclass(frozen=True)
class SourceConfig:
    """Parameters of one obstacle source. Their names are ``<name>.<field>``.

    The constructor raises `InputError` as that of `Config` does.
    """

    name: str
    type: str = parameter(OBSTACLE_ARRAY, "Message type, as package/msg/Name.")
    topic: str = parameter("", "Name of the topic. If empty, the name of the source is used.")
    timeout: float = parameter(
        0.5, "Maximum age of obstacle data. Older data is not used. If required is false, the "
        "timeout cannot change while the node is active.", "s",
        low=0.01, high=60.0, safe="down",
    )  # fmt: skip
    required: bool = parameter(
        True, "If true, no verdict is FREE while the data of this source is missing or too old. "
        "If false, missing or old data is allowed. Invalid data is never allowed.",
    )  # fmt: skip
    inflation: float = parameter(
        0.0, "Length that is added to the radius of each obstacle.", "m",
        low=0.0, high=5.0, safe="up",
    )  # fmt: skip
    qos_reliability: str = parameter(
        "best_effort", "Reliability of the subscription.", choices=("best_effort", "reliable")
    )
    qos_durability: str = parameter(
        "volatile", "Durability of the subscription. transient_local: the node also receives the "
        "last message from before the subscription. The publisher must be transient_local and "
        "reliable, and the subscription is reliable.",
        choices=("volatile", "transient_local"),
    )  # fmt: skip
    static: bool = parameter(
        False, "If true, the data of this source is valid until the next message: it never "
        "becomes too old, its obstacles never move, and timeout has no effect. For a map or a "
        "region that is published once.",
    )  # fmt: skip
    prediction_policy: str = parameter(
        "node", "As prediction_policy of the node, for the obstacles of this source. node: the "
        "value of the node.", choices=("node", *_POLICIES),
    )  # fmt: skip
    point_radius: float = parameter(
        0.05, "Radius of the circle around each measured point.", "m",
        low=0.0, high=5.0, types=(SCAN, CLOUD, RANGE),
    )  # fmt: skip
    voxel_size: float = parameter(
        0.05, "Size of the cells in which measured points are merged: the points in a cell become "
        "the rectangle that contains them. 0: points are not merged.", "m",
        low=0.0, high=5.0, types=(SCAN, CLOUD),
    )  # fmt: skip
    invalid_returns: str = parameter(
        "error", "Treatment of beams and points without a valid measurement. error: the data is "
        "invalid; no_return: they are ignored, as if there were no object.",
        choices=("error", "no_return"), types=(SCAN, CLOUD, RANGE),
    )  # fmt: skip
    marks_seen: bool = parameter(
        False, "If true, what this source has seen counts as seen, see require_seen: a scan up to "
        "its returns, a grid or a costmap its free cells.", types=(SCAN, GRID, COSTMAP),
    )  # fmt: skip
    clear_range: float = parameter(
        0.0, "With marks_seen, how far a beam without a return (inf) has seen. 0: up to the "
        "range_max of the scan.", "m", low=0.0, high=1000.0, types=(SCAN,),
    )  # fmt: skip
    marks_outside: bool = parameter(
        False, "If true, the vehicle must stay in what this source marks, as in a region: in the "
        "polygon, or in the cells of which something is known. Unknown cells are then no "
        "obstacles.", types=(POLYGON, GRID, COSTMAP),
    )  # fmt: skip
    min_height: float = parameter(
        -1000.0, "Minimum z of a point in the frame of the cloud. Lower points are not used.", "m",
        low=-1000.0, high=1000.0, types=(CLOUD,),
    )  # fmt: skip
    max_height: float = parameter(
        1000.0, "Maximum z of a point in the frame of the cloud. Higher points are not used.", "m",
        low=-1000.0, high=1000.0, types=(CLOUD,),
    )  # fmt: skip
    occupied_threshold: int = parameter(
        65, "Cells with at least this occupancy are obstacles.", "percent",
        low=0, high=100, types=(GRID,),
    )  # fmt: skip
    unknown_is_occupied: bool = parameter(
        True, "If true, cells of which nothing is known (-1 of an OccupancyGrid, 255 of a "
        "Costmap) are obstacles.", types=(GRID, COSTMAP),
    )  # fmt: skip
    cost_threshold: int = parameter(
        254, "Cells with at least this cost are obstacles. 254: lethal; 253: also cells in the "
        "inscribed radius of nav2's inflation layer.", low=1, high=254, types=(COSTMAP,),
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_fields(self, f"{self.name}.")
        for each in parameter_fields(type(self)):
            value, types = getattr(self, each.name), facts_of(each).types
            if types and self.type not in types and value != each.default:
                rule = f"has no effect on the type {self.type}: it is for {' and '.join(types)}"
                refuse(f"{self.name}.{each.name}", rule, repr(value))
        if self.min_height > self.max_height:
            rule = f"must not be greater than max_height = {self.max_height:g}"
            refuse(f"{self.name}.min_height", rule, repr(self.min_height))
        object.__setattr__(self, "topic", self.topic or self.name)


@dataclass(frozen=True)
class FootprintConfig:
    """Parameters of one named footprint. Their names are ``<name>.<field>``.

    The ranges are those of nav2's velocity polygons. They are only used if the name is in
    `Config.speed_footprints`. The default ranges contain every twist up to 100 m/s and 100 rad/s.
    The constructor raises `InputError` as that of `Config` does.
    """

    name: str
    footprint: tuple[float, ...] = parameter(
        (), "Outline of the vehicle in base_frame: x and y of each vertex, or nav2's string "
        "\"[[x, y], ...]\". Either this or robot_radius must be set.",
        "m", low=-100.0, high=100.0,
    )  # fmt: skip
    robot_radius: float = parameter(
        0.0, "Radius of a round vehicle. If it is 0, the outline is used.", "m",
        low=0.0, high=100.0,
    )  # fmt: skip
    linear_min: float = parameter(
        -100.0, "Least speed in the direction +x at which this footprint is used; if holonomic is "
        "true, the least speed in any direction.", "m/s", low=-100.0, high=100.0,
    )  # fmt: skip
    linear_max: float = parameter(
        100.0, "Greatest speed at which this footprint is used, see linear_min.", "m/s",
        low=-100.0, high=100.0,
    )  # fmt: skip
    theta_min: float = parameter(
        -100.0, "Least rate of turn at which this footprint is used.", "rad/s",
        low=-100.0, high=100.0,
    )  # fmt: skip
    theta_max: float = parameter(
        100.0, "Greatest rate of turn at which this footprint is used.", "rad/s",
        low=-100.0, high=100.0,
    )  # fmt: skip
    direction_start_angle: float = parameter(
        -math.pi, "First direction of motion in base_frame at which this footprint is used. The "
        "range goes counter-clockwise from here to direction_end_angle. It is only used if "
        "holonomic is true.", "rad", low=-math.pi, high=math.pi,
    )  # fmt: skip
    direction_end_angle: float = parameter(
        math.pi, "Last direction of motion, see direction_start_angle.", "rad",
        low=-math.pi, high=math.pi,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_fields(self, f"{self.name}.")
        _check_outline(self, f"{self.name}.")
        if not self.footprint and not self.robot_radius:
            rule = f"must be set, or {self.name}.robot_radius must be positive"
            refuse(f"{self.name}.footprint", rule, ())
        for low, high in (("linear_min", "linear_max"), ("theta_min", "theta_max")):
            if getattr(self, low) > getattr(self, high):
                rule = f"must not be less than {self.name}.{low}"
                refuse(f"{self.name}.{high}", rule, repr(getattr(self, high)))

    def covers(self, vx: float, vy: float, wz: float, *, holonomic: bool) -> bool:
        """Return whether a twist in the base frame [m/s, m/s, rad/s] is in the ranges."""
        if not self.theta_min <= wz <= self.theta_max:
            return False
        if not holonomic:
            return self.linear_min <= vx <= self.linear_max
        speed = math.hypot(vx, vy)
        if not self.linear_min <= speed <= self.linear_max:
            return False
        if speed == 0.0:  # a vehicle at rest has no direction
            return True
        direction = math.atan2(vy, vx)
        return self._has_direction(direction) or (
            abs(direction) == math.pi and self._has_direction(-direction)
        )

    def _has_direction(self, direction: float) -> bool:
        first, last = self.direction_start_angle, self.direction_end_angle
        if first <= last:
            return first <= direction <= last
        return direction >= first or direction <= last


@dataclass(frozen=True)
class Config:
    """The parameters of a collision server.

    ``sources`` has one entry for each name in the parameter ``obstacle_sources``, and
    ``footprints`` one for each name in ``footprint_names``, in the same order. Every other field
    is a parameter of the same name.

    Raises
    ------
    InputError
        A value is out of range. The message names the parameter and its range.
    """

    base_frame: str = parameter(
        "base_link", "Frame of the vehicle and of its footprint.", is_frame=True
    )
    check_frame: str = parameter(
        "odom", "Frame in which the vehicle and the obstacles are compared.", is_frame=True
    )
    footprint: tuple[float, ...] = parameter(
        (), "Outline of the vehicle in base_frame: x and y of each vertex, or nav2's string "
        "\"[[x, y], ...]\". If it is empty and robot_radius is 0, the topic footprint is used.",
        "m", low=-100.0, high=100.0,
    )  # fmt: skip
    robot_radius: float = parameter(
        0.0, "Radius of a round vehicle. If it is 0, the parameter or the topic footprint is "
        "used.", "m", low=0.0, high=100.0,
    )  # fmt: skip
    footprint_timeout: float = parameter(
        1.0, "Maximum age of a footprint from the topic. An older footprint is not used.", "s",
        low=0.01, high=60.0, safe="down",
    )  # fmt: skip
    footprints: tuple[FootprintConfig, ...] = ()
    speed_footprints: tuple[str, ...] = parameter(
        (), "Names of footprints to select from by the speed of the vehicle, if a request names "
        "none. The first one whose ranges contain the twist is used. If there is none, or if the "
        "twist is not known, the answer is UNKNOWN. If empty, the footprint above is used.",
    )  # fmt: skip
    active_footprint: str = parameter(
        "", "Name of the footprint of the heartbeat, and of requests that name none, for a "
        "vehicle that takes and sets down a load. It may change while the node is active. If "
        "empty: the footprint above, or that of speed_footprints.", safe="any",
    )  # fmt: skip
    holonomic: bool = parameter(
        False, "If true, the speed ranges of footprints refer to the speed in any direction, and "
        "the ranges of directions are used. If false, they refer to the speed along x.",
    )  # fmt: skip
    twist_topic: str = parameter(
        "", "Topic with the twist of the vehicle, for speed_footprints and for the time to "
        "collision in the heartbeat. If empty, the twist is not known.",
    )  # fmt: skip
    twist_type: str = parameter(
        ODOMETRY, "Message type of twist_topic. The frame of the twist (child_frame_id of an "
        "Odometry) must be base_frame, or fixed to it by static transforms.",
        choices=(ODOMETRY, TWIST_STAMPED),
    )  # fmt: skip
    twist_timeout: float = parameter(
        0.5, "Maximum age of a twist. An older twist is not used.", "s",
        low=0.01, high=60.0, safe="down",
    )  # fmt: skip
    sources: tuple[SourceConfig, ...] = field(default_factory=lambda: (SourceConfig("obstacles"),))
    transform_tolerance: float = parameter(
        0.1, "Maximum age of a transform that is used for the present time.", "s",
        low=0.0, high=5.0,
    )  # fmt: skip
    transform_wait: float = parameter(
        0.0, "Maximum time that a request waits for the transform at its stamp.", "s",
        low=0.0, high=0.5,
    )  # fmt: skip
    max_future_stamp: float = parameter(
        0.05, "Maximum time by which the stamp of data may be ahead of the clock. Data with a "
        "later stamp is not used.", "s", low=0.0, high=1.0,
    )  # fmt: skip
    safety_margin: float = parameter(
        0.0, "Required distance to every obstacle. If the distance is positive but not "
        "greater than this, the verdict is MARGIN.", "m", low=0.0, high=5.0, safe="up",
    )  # fmt: skip
    require_seen: bool = parameter(
        False, "If true, space that no source with marks_seen has seen is not free: a footprint, "
        "with its margin, that is not in it is UNKNOWN with NOT_SEEN. If false, such space counts "
        "as free.", safe="up",
    )  # fmt: skip
    seen_for: float = parameter(
        0.0, "How long space counts as seen after it was. 0: only what the newest message of each "
        "source with marks_seen has seen.", "s", low=0.0, high=60.0, safe="down",
    )  # fmt: skip
    margin_front: float = _margin("front (+x)")
    margin_rear: float = _margin("rear (-x)")
    margin_left: float = _margin("left (+y)")
    margin_right: float = _margin("right (-y)")
    concave_policy: Literal["decompose", "hull", "reject"] = parameter(
        "decompose", "Treatment of concave outlines. decompose: split into convex parts; "
        "hull: replace by the convex hull; reject: refuse with CONCAVE_REJECTED.",
        choices=("decompose", "hull", "reject"),
    )  # fmt: skip
    max_obstacles: int = parameter(
        10_000, "Maximum number of obstacles of all sources together. If there are more, the "
        "status is LIMIT_EXCEEDED.", low=1, high=100_000,
    )  # fmt: skip
    max_points_per_obstacle: int = parameter(
        256, "Maximum number of points of an outline. If there are more, the status is "
        "LIMIT_EXCEEDED.", low=1, high=65_536,
    )  # fmt: skip
    max_poses: int = parameter(
        10_000, "Maximum number of poses or pairs in a request. If there are more, the status is "
        "LIMIT_EXCEEDED.", low=1, high=1_000_000,
    )  # fmt: skip
    prediction_policy: Literal["unknown_is_error", "constant_velocity", "hold"] = parameter(
        "unknown_is_error", "Controls how an obstacle is predicted after the end of its path, or "
        "if it has neither path nor velocity. unknown_is_error: its place is unknown; "
        "constant_velocity: it keeps the velocity at the end of its path, or its place is unknown "
        "if it has no path; hold: it stands still.",
        choices=_POLICIES,
    )  # fmt: skip
    prediction_horizon: float = parameter(
        5.0, "Maximum time of a prediction after the stamp of the oldest data in use. Later poses "
        "of a request with times are UNKNOWN.", "s", low=0.0, high=60.0,
    )  # fmt: skip
    time_budget: float = parameter(
        0.05, "Maximum computation time per request or heartbeat, including the time to build "
        "the scene. Items not finished by then are UNKNOWN.", "s", low=0.001, high=10.0,
    )  # fmt: skip
    toi_tolerance: float = parameter(
        0.005, "Tolerance of swept checks if the request gives none.", "m",
        low=_core.MIN_TOLERANCE, high=_core.MAX_TOLERANCE,
    )  # fmt: skip
    state_rate: float = parameter(
        10.0, "Rate of the heartbeat on ~/state.", "Hz", low=1.0, high=100.0, safe="up"
    )
    publish_markers: bool = parameter(
        True, "If true, ~/markers is published while it has a subscriber."
    )
    record_requests: bool = parameter(
        False, "If true, requests and replies are published on ~/<service>/_service_event, "
        "for replay.",
    )  # fmt: skip
    autostart: bool = parameter(
        True, "If true, the node configures and activates itself, without a lifecycle manager."
    )
    bond_heartbeat_period: float = parameter(
        0.1, "Period of the heartbeat of the bond with the lifecycle manager of nav2. The bond "
        "exists while the node is active and the package bondpy is installed. 0: no bond.", "s",
        low=0.0, high=10.0,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_fields(self, "")
        _check_outline(self, "")
        names = [each.name for each in self.footprints]
        _check_group_names([each.name for each in self.sources], names)
        for i, name in enumerate(self.speed_footprints):
            if name not in names or name in self.speed_footprints[:i]:
                listed = ", ".join(names) or "empty"
                rule = f"must be a name in footprint_names ({listed}), which is not repeated"
                refuse("speed_footprints", rule, repr(name), i)
        if self.active_footprint and self.active_footprint not in self.usable_footprints:
            usable = ", ".join(self.usable_footprints) or "no name: footprint_names is empty"
            rule = f"must be empty or one of {usable}"
            refuse("active_footprint", rule, repr(self.active_footprint))
        if self.active_footprint and (self.speed_footprints or self.is_footprint_received):
            rule = "needs the parameter footprint or robot_radius"
            if self.speed_footprints:
                rule = "must be empty with speed_footprints, which chooses the footprint"
            refuse("active_footprint", rule, repr(self.active_footprint))
        if self.speed_footprints and not self.twist_topic:
            rule = "must be set if speed_footprints is set"
            refuse("twist_topic", rule, repr(self.twist_topic))
        if self.require_seen and not any(each.marks_seen for each in self.sources):
            refuse("require_seen", "needs a source with marks_seen", repr(self.require_seen))
        if self.seen_for and self.check_frame == self.base_frame:
            rule = (
                "must be 0 if check_frame is base_frame: what was seen before is not known there"
            )
            refuse("seen_for", rule, repr(self.seen_for))

    @property
    def is_footprint_received(self) -> bool:
        """Whether the topic ``footprint`` is used: no other default footprint is configured."""
        return not (self.footprint or self.robot_radius or self.speed_footprints)

    @property
    def unseen_note(self) -> str:
        """Why space that nobody has seen counts as free although one may expect otherwise."""
        free = "space that no sensor has seen counts as free"
        grids = [each for each in self.sources if each.type in (GRID, COSTMAP)]
        if self.require_seen:
            return ""
        if self.seen_for or any(each.marks_seen for each in self.sources):
            return f"{free} although marks_seen or seen_for is set: require_seen is false"
        if any(each.unknown_is_occupied for each in grids):
            return ""
        is_scan = any(each.type == SCAN for each in self.sources)
        return f"{free}: see marks_seen and require_seen" if is_scan else ""

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> "Config":
        """Make a configuration from the flat parameters of a ROS node.

        Parameters
        ----------
        values : mapping
            Fields of `Config`, ``obstacle_sources``, ``footprint_names``, ``<source>.<field>`` and
            ``<footprint>.<field>``. A parameter that is not given has its default.

        Raises
        ------
        InputError
            A name is unknown, or a value has the wrong type or is out of range.
        """
        lists = {
            name: list_of_names(name, values.get(name, _FIELDS[name].default)) for name in _GROUPS
        }
        _check_group_names(*lists.values())
        known = {*(name for name in _FIELDS if name[0] != "."), *group_defaults(lists)}
        given: dict[str, dict[str, Any]] = {}  # source, footprint or "" -> its parameters
        for name, value in values.items():
            group, _, leaf = name.rpartition(".")
            if name not in known:
                rule = "is not a parameter of the collision server"
                if group and (listing := _LISTED.get(leaf)):
                    rule += f": '{group}' is not in {listing} ({', '.join(lists[listing])})"
                hint = did_you_mean(name, [*known, *OF_EVERY_NODE])
                hint = hint or "; parameters of other nodes need a section of their own"
                refuse(name, f"{rule}{hint}", repr(value))
            given.setdefault(group, {})[leaf] = value
        main = {name: value for name, value in given.get("", {}).items() if name not in lists}
        for list_name, (attribute, owner) in _GROUPS.items():
            main[attribute] = tuple(owner(n, **given.get(n, {})) for n in lists[list_name])
        return cls(**main)

    def parameters(self) -> dict[str, Value]:
        """Return the flat parameters of a ROS node, the inverse of `from_parameters`."""
        flat: dict[str, Value] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in _LISTS:
                flat[_LISTS[each.name]] = tuple(one.name for one in value)
            else:
                flat[each.name] = value
        for attribute, owner in _GROUPS.values():
            for one in getattr(self, attribute):
                for each in parameter_fields(owner):
                    flat[f"{one.name}.{each.name}"] = getattr(one, each.name)
        return flat

    def changed(self, changes: Mapping[str, Any]) -> "Config":
        """Return a copy of this configuration with some flat parameters changed."""
        flat: dict[str, Any] = {**self.parameters(), **changes}
        owners = {"", *(name for each in _GROUPS for name in flat[each])}
        kept = {n: flat[n] for n in flat if n in changes or n.rpartition(".")[0] in owners}
        return self.from_parameters(kept)

    def refusal(self, new: "Config", *, active: bool) -> str:
        """Return why a configured server cannot change to `new` now; empty if it can.

        Parameters
        ----------
        new : Config
            The new configuration.
        active : bool
            Whether the server is active. If it is, a live parameter can only change in its safe
            direction, see `Facts.safe`.
        """
        old, wanted = self.parameters(), new.parameters()
        for name in sorted(old.keys() | wanted.keys()):
            before: Any = old.get(name)
            after: Any = wanted.get(name)
            if before == after:
                continue
            safe = parameter_facts(name).safe
            if safe is None:
                return f"{name}: {WHILE_CONFIGURED}"
            source, _, leaf = name.rpartition(".")
            if active and leaf == "timeout" and not new.source(source).required:
                rule = "cannot change while the node is active: the source is optional, so that"
                return f"{name}: {rule} data that becomes too old is no longer an obstacle"
            if active and safe != "any" and (after < before) == (safe == "up"):
                if isinstance(after, bool):
                    return f"{name}: can be set to true only while the node is active"
                way = "increase" if safe == "up" else "decrease"
                rule = f"can only {way} while the node is active"
                return f"{name}: {rule} (now {before:g}, requested {after:g})"
        return ""

    @cached_property
    def hash(self) -> int:
        """A 32-bit number that identifies the values of all parameters.

        Equal values have the same number on every machine and in every run. It is the CRC-32 of
        the parameters as JSON with sorted keys and with floats in their shortest exact form.
        """
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return zlib.crc32(text.encode())

    @cached_property
    def is_selected(self) -> bool:
        """Whether requests that name no footprint use the active one, or that for the speed."""
        return bool(self.speed_footprints or self.active_footprint)

    @cached_property
    def usable_footprints(self) -> tuple[str, ...]:
        """The names of footprints that a request can use."""
        names = [each.name for each in self.footprints]
        if not self.is_selected or self.footprint or self.robot_radius:
            names.append(DEFAULT_FOOTPRINT)
        return tuple(names)

    def policy_of(self, source: SourceConfig) -> str:
        """Return the ``prediction_policy`` of the obstacles of a source."""
        own = source.prediction_policy
        return self.prediction_policy if own == "node" else own

    def source(self, name: str) -> SourceConfig:
        """Return the source with this name; raises KeyError."""
        return {source.name: source for source in self.sources}[name]


@dataclass(frozen=True)
class _Lists:
    """Parameters with lists of names. `_GROUPS` has what each name stands for."""

    obstacle_sources: tuple[str, ...] = parameter(
        ("obstacles",), "Names of the obstacle sources. Each source has the parameters <name>.*.",
    )  # fmt: skip
    footprint_names: tuple[str, ...] = parameter(
        (), "Names of further footprints. Each one has the parameters <name>.*. A request may "
        "name one of them.",
    )  # fmt: skip


# List of names -> field of `Config` with an entry for each name, and the class of these entries.
_GROUPS: dict[str, tuple[str, type[SourceConfig] | type[FootprintConfig]]] = {
    "obstacle_sources": ("sources", SourceConfig),
    "footprint_names": ("footprints", FootprintConfig),
}
_LISTS = {attribute: name for name, (attribute, _) in _GROUPS.items()}
# Parameter of a source or a footprint -> the list that has its name.
_LISTED = {
    each.name: name for name, (_, owner) in _GROUPS.items() for each in parameter_fields(owner)
}
# Parameter -> its field; parameters of sources and footprints begin with a point.
_FIELDS = {
    **{each.name: each for owner in (Config, _Lists) for each in parameter_fields(owner)},
    **{f".{each.name}": each for _, owner in _GROUPS.values() for each in parameter_fields(owner)},
}


def _check_group_names(sources: Sequence[str], footprints: Sequence[str]) -> None:
    taken = {each.name for each in fields(Config)}
    check_names("obstacle_sources", sources, taken)
    if len(footprints) > MAX_FOOTPRINTS:
        rule = f"must have at most {MAX_FOOTPRINTS} names"
        refuse("footprint_names", rule, len(footprints))
    check_names("footprint_names", footprints, taken | {*sources, DEFAULT_FOOTPRINT})


def group_defaults(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``<name>.<field>`` -> default for all sources and footprints in flat parameters."""
    defaults = {}
    for list_name, (_, owner) in _GROUPS.items():
        for name in parameters[list_name] or ():
            for each in parameter_fields(owner):
                defaults[f"{name}.{each.name}"] = each.default
            if owner is SourceConfig:
                defaults[f"{name}.topic"] = name
    return defaults


def parameter_facts(name: str) -> Facts:
    """Return the facts of a flat parameter, ``<source>.<field>`` included; raises KeyError."""
    return facts_of(_FIELDS[_key(name)])


def checked_value(name: str, value: Any) -> Value:
    """Check one flat parameter and return its value with the parameter's type.

    Rules that involve several parameters are not checked.

    Raises
    ------
    InputError
        The name is unknown, or the value has the wrong type or is out of range.
    """
    each = _FIELDS.get(_key(name))
    if each is None:
        refuse(name, "is not a parameter of the collision server", repr(value))
    default: Any = each.default
    typed = checked(name, value, default, facts_of(each))
    if name in _GROUPS:
        check_names(name, list_of_names(name, typed), {each.name for each in fields(Config)})
    return typed


def _key(name: str) -> str:
    """Return the key of a flat parameter in `_FIELDS`."""
    return "".join(name.rpartition(".")[1:])


def _check_outline(config: "Config | FootprintConfig", prefix: str) -> None:
    if len(config.footprint) % 2:
        rule = "must be pairs of x and y; the number of values is odd"
        refuse(f"{prefix}footprint", rule, repr(config.footprint))
    if config.footprint and config.robot_radius > 0.0:
        rule = f"must be 0 if the parameter {prefix}footprint is set"
        refuse(f"{prefix}robot_radius", rule, repr(config.robot_radius))
