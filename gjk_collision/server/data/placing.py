# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What is made of a message: obstacles and a footprint at their places, a twist in the base frame.

The result is stored in the message. The shapes of a message are checked when it is received. What
depends on its place, for example its distance from the origin, is checked when its scene is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...geometry import Shape
from ...region import OUTSIDE
from ...verdict import Status
from ..frames import lookup
from ..frames.poses import FrameError, Pose, TransformSource
from ..parameters.config import Config, SourceConfig
from .compose import Sender
from .faults import Fault
from .footprints import outline
from .inbox import AwaitedTransform, Message
from .obstacles import Footprint, Obstacles
from .twist import Twist

__all__ = [
    "Outline",
    "list_fault",
    "outline_fault",
    "outline_of",
    "sender_of",
    "together_fault",
    "twist_of",
]


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
        return Fault(error.status, str(error))
    made = Sender.of(name, source, message, Pose(), config)
    if data.frame == config.check_frame:
        message.made = made
    return made.fault


def outline_fault(footprint: Footprint, config: Config) -> Fault | None:
    """Return why a footprint is not valid at any place."""
    try:
        outline(footprint.points, config)
    except InputError as error:
        return Fault(error.status, str(error))
    return None


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
            pose = Fault(error.status, str(error))
    else:
        pose = _pose_of(message, transforms, target)
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


def outline_of(
    message: Message[Footprint, Outline], config: Config, transforms: TransformSource
) -> Outline | Fault:
    """Return the footprint of a message in the base frame, or why this is not possible."""
    data, last = message.data, message.made
    assert data is not None
    pose = _pose_of(message, transforms, config.base_frame)
    if isinstance(pose, Fault):
        return pose
    if last is None or last.pose != pose or last.config is not config:
        points, error = data.points, 0.0
        if data.frame != config.base_frame:
            points, error = pose.transform(points), float(pose.transform_error(points).max())
        try:
            shape = outline(points, config).inflated(error)
        except InputError as invalid:
            return Fault(invalid.status, str(invalid))
        last = message.made = Outline(points, config, shape, pose)
    message.late = transforms.late
    return last


def twist_of(
    message: Message[Twist, Twist], config: Config, transforms: TransformSource
) -> Twist | Fault:
    """Return the twist of the base frame, or why it is not known.

    The frame of the twist must be fixed to the base frame.
    """
    data, target = message.data, config.base_frame
    assert data is not None
    if message.made is not None:
        return message.made
    if not data.frame:
        text = "the frame of the twist is empty: set child_frame_id (Odometry) or "
        return Fault(Status.UNKNOWN_FRAME, f"{text}header.frame_id (TwistStamped)")
    pose = Pose()
    if data.frame != target:
        try:
            pose, stamp = transforms.latest(target, data.frame)
        except FrameError as error:
            return Fault(error.status, str(error))
        if stamp:
            text = f"the twist is in the frame '{data.frame}', which moves relative to "
            text += f"'{target}': it must be '{target}' or be fixed to it by static transforms"
            return Fault(Status.UNKNOWN_FRAME, text)
    message.made = data.moved(target, pose)
    return message.made


def _pose_of(
    message: Message[Obstacles, Sender] | Message[Footprint, Outline],
    transforms: TransformSource,
    target: str,
) -> Pose | Fault:
    """Return the pose of the frame of a message at its stamp, or why it is not known.

    It is looked up again after a transform that came late. If it is not known any more, it stays.
    """
    data, last = message.data, message.made
    assert data is not None
    if last is not None and message.late == transforms.late:
        return last.pose
    pose = _pose_at(data.stamp, transforms, target, data.frame)
    return last.pose if last is not None and isinstance(pose, Fault) else pose


def _pose_at(stamp: int, transforms: TransformSource, target: str, frame: str) -> Pose | Fault:
    """Return the pose of a frame at the stamp of a message [ns], or why it is not known."""
    if not frame:
        return Fault(Status.UNKNOWN_FRAME, "header.frame_id is empty")
    if frame == target:
        return Pose()
    try:
        newest = transforms.latest(target, frame)[1]
    except FrameError:
        newest = stamp
    try:
        return transforms.lookup(target, frame, stamp)
    except FrameError as error:
        is_awaited = error.status is Status.TF_EXTRAPOLATION and stamp > newest
        kind = AwaitedTransform if is_awaited else Fault
        return kind(error.status, str(error))
