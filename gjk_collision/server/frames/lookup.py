# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Lookup of the vehicle's pose, and of the pose of a request's frame, in the check frame."""

from collections.abc import Mapping
from math import inf

from ...verdict import Status
from ..parameters.config import Config
from .poses import FrameError, Pose, Transforms

__all__ = ["awaited_from", "check_age", "ego_pose", "frame_pose"]


def ego_pose(config: Config, transforms: Transforms, now: int) -> Pose:
    """Return the present pose of the vehicle: the base frame in the check frame.

    Raises
    ------
    FrameError
        The pose is not known at `now`, or it is older than `transform_tolerance`.
    """
    if config.base_frame == config.check_frame:
        return Pose()
    return _newest(config, transforms, config.base_frame, now)


def frame_pose(config: Config, transforms: Transforms, frame: str, stamp: int, now: int) -> Pose:
    """Return the pose of a request's frame in the check frame.

    Parameters
    ----------
    config : Config
        Parameters of the server.
    transforms : Transforms
        Source of the poses between frames.
    frame : str
        Frame of the request's poses.
    stamp : int
        Stamp of the request [ns]. 0: the newest pose at or before `now` is used, if it is not
        older than `transform_tolerance`.
    now : int
        Present time [ns].

    Raises
    ------
    FrameError
        The pose is not known, or too old.
    """
    if frame == config.check_frame:
        return Pose()
    if not frame:
        text = "header.frame_id is empty: set it to the frame of the poses"
        raise FrameError(Status.UNKNOWN_FRAME, text)
    if stamp:
        return transforms.lookup(config.check_frame, frame, stamp)
    return _newest(config, transforms, frame, now)


def awaited_from(config: Config, transforms: Transforms, frame: str) -> float:
    """Return the stamp [ns] of the newest transform to the frame of a request.

    A transform with a later stamp may still arrive. The result is inf if the request need not
    wait: its frame is the check frame or not known, the transforms are static, or
    `transform_wait` is 0.
    """
    if not config.transform_wait or not frame or frame == config.check_frame:
        return inf
    try:
        return transforms.latest(config.check_frame, frame)[1] or inf
    except FrameError:
        return inf


def check_age(config: Config, stamps: Mapping[str, int], now: int) -> None:
    """Check that poses that were used for the present time are not too old.

    Parameters
    ----------
    config : Config
        Parameters of the server; `transform_tolerance` is used.
    stamps : mapping of str to int
        Frame -> stamp of its pose [ns]; 0: a static pose, which has no age.
    now : int
        Present time [ns].

    Raises
    ------
    FrameError
        A stamp differs from `now` by more than `transform_tolerance`.
    """
    for frame, stamp in stamps.items():
        age = (now - stamp) * 1e-9 if stamp else 0.0
        if abs(age) > config.transform_tolerance:
            text = f"the newest pose of '{frame}' in '{config.check_frame}' is "
            limit = f"{age:.3f} s old, limit {config.transform_tolerance:g} s"
            limit += " (transform_tolerance)"
            raise FrameError(Status.TF_EXTRAPOLATION, text + limit, frame, config.check_frame)


def _newest(config: Config, transforms: Transforms, frame: str, now: int) -> Pose:
    pose, stamp = transforms.latest(config.check_frame, frame)
    if stamp > now:  # some localisers stamp their transform ahead of the clock
        pose, stamp = transforms.lookup(config.check_frame, frame, now), now
    check_age(config, {frame: stamp}, now)
    return pose
