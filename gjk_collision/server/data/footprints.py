# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The footprints of the vehicle: those of the parameters, and those made of an outline."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...geometry import Shape, outlined
from ...verdict import Status
from ..frames.poses import Pose, TransformSource
from ..parameters.config import DEFAULT_FOOTPRINT, Config, FootprintConfig
from .faults import Fault
from .inbox import Message, pose_of
from .obstacles import Footprint

__all__ = [
    "NamedFootprint",
    "Outline",
    "configured_footprint",
    "configured_outline",
    "named_footprints",
    "outline",
    "outline_fault",
    "outline_of",
]

Floats = npt.NDArray[np.float64]


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
class Outline:
    """The footprint of a message in the base frame.

    Attributes
    ----------
    points : (n, 2) float64
        Its points [m].
    config : Config
        The parameters that `shape` is made with.
    shape : Shape
        The footprint with the directional margins, grown by the rounding error of its points.
    pose : Pose
        Pose of its frame in the base frame.
    """

    points: npt.NDArray[np.float64]
    config: Config
    shape: Shape
    pose: Pose


def configured_footprint(config: Config, owner: Config | FootprintConfig) -> Shape | None:
    """Return a configured footprint with the directional margins; None: not configured.

    Parameters
    ----------
    config : Config
        Parameters of the server.
    owner : FootprintConfig or Config
        The named footprint, or `config` for its parameters ``footprint`` and ``robot_radius``.

    Raises
    ------
    InputError
        The configured outline is not a valid shape.
    """
    if owner.footprint:
        return outline(np.reshape(owner.footprint, (-1, 2)), config)
    if owner.robot_radius > 0.0:
        return _with_margins(Shape.circle(owner.robot_radius), config)
    return None


def named_footprints(config: Config) -> tuple[NamedFootprint, ...]:
    """Return all configured footprints, the default one last.

    Raises
    ------
    InputError
        A configured outline is not a valid shape. The message names the parameter.
    """
    footprints = []
    owners: list[tuple[str, Config | FootprintConfig]]
    owners = [*((each.name, each) for each in config.footprints), ("", config)]
    for name, owner in owners:
        try:
            shape, points = configured_footprint(config, owner), configured_outline(owner)
        except InputError as error:
            parameter = f"{name}.footprint" if name else "footprint"
            rule = f"is not a footprint: {error}"
            raise InputError(error.status, parameter, None, rule) from error
        if shape is not None and points is not None:
            footprints.append(NamedFootprint(name or DEFAULT_FOOTPRINT, shape, points))
    return tuple(footprints)


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


def outline_fault(footprint: Footprint, config: Config) -> Fault | None:
    """Return why a footprint is not valid at any place."""
    shape = _shape_of(footprint.points, config)
    return shape if isinstance(shape, Fault) else None


def outline_of(
    message: Message[Footprint, Outline], config: Config, transforms: TransformSource
) -> Outline | Fault:
    """Return the footprint of a message in the base frame, or why this is not possible."""
    data, last = message.data, message.made
    assert data is not None
    pose = pose_of(message, transforms, config.base_frame)
    if isinstance(pose, Fault):
        return pose
    if last is None or last.pose != pose or last.config is not config:
        points, error = data.points, 0.0
        if data.frame != config.base_frame:
            error = float(pose.transform_error(points, data.height).max())
            points = pose.transform(points)
        shape = _shape_of(points, config, error)
        if isinstance(shape, Fault):
            return shape
        last = message.made = Outline(points, config, shape, pose)
    message.late = transforms.late
    return last


def _shape_of(points: Floats, config: Config, radius: float = 0.0) -> Shape | Fault:
    """Return the shape of a message, grown by a radius [m], or why it is not valid."""
    try:
        return outline(points, config).inflated(radius)
    except InputError as error:
        return replace(Fault.of(error), field="polygon.points")


def _with_margins(shape: Shape, config: Config) -> Shape:
    """Return a shape that is grown by the directional margins."""
    sides = config.margin_front, config.margin_rear, config.margin_left, config.margin_right
    return shape.padded(*sides) if any(sides) else shape
