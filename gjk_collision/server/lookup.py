# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of the vehicle and of the frames of requests, in the check frame."""

from collections.abc import Mapping
from math import inf

from ..verdict import Status
from .config import Config
from .frames import FrameError, Pose, Transforms

__all__ = ["awaited_from", "check_age", "ego_pose", "frame_pose"]


def ego_pose(config: Config, transforms: Transforms, now: int) -> Pose:
    """Return where the vehicle is now: base frame in check frame.

    Raises
    ------
    FrameError
        Not known at `now`, or older than `transform_tolerance`.
    """
    if config.base_frame == config.check_frame:
        return Pose()
    return _newest(config, transforms, config.base_frame, now)


def frame_pose(config: Config, transforms: Transforms, frame: str, stamp: int, now: int) -> Pose:
    """Return the pose of a request's frame in the check frame.

    Parameters
    ----------
    config, transforms : Config, Transforms
        What is known of frames.
    frame : str
        Of the request's poses.
    stamp : int
        Of the request [ns]; 0: the newest at or before `now`, no older than
        `transform_tolerance`.
    now : int
        Time [ns].

    Raises
    ------
    FrameError
        Not known.
    """
    if frame == config.check_frame:
        return Pose()
    if not frame:
        raise FrameError(Status.UNKNOWN_FRAME, "header.frame_id is empty: name a frame")
    if stamp:
        return transforms.lookup(config.check_frame, frame, stamp)
    return _newest(config, transforms, frame, now)


def awaited_from(config: Config, transforms: Transforms, frame: str) -> float:
    """Return the stamp [ns] beyond which the pose of a request's frame may still come.

    It is that of the newest transform; inf for frames that nobody has sent, and for static ones.
    """
    if not config.transform_wait or not frame or frame == config.check_frame:
        return inf
    try:
        return transforms.latest(config.check_frame, frame)[1] or inf
    except FrameError:
        return inf


def check_age(config: Config, stamps: Mapping[str, int], now: int) -> None:
    """Raise `FrameError` where a pose used as the present one is not of now.

    Parameters
    ----------
    config : Config
        Its `transform_tolerance` applies.
    stamps : mapping of str to int
        Frame -> stamp of its pose [ns]; 0: static, so never old.
    now : int
        Time [ns].
    """
    for frame, stamp in stamps.items():
        age = (now - stamp) * 1e-9 if stamp else 0.0
        if abs(age) > config.transform_tolerance:
            text = f"the newest pose of '{frame}' in '{config.check_frame}' is "
            limit = f"{age:.3f} s old, limit {config.transform_tolerance:g} s"
            raise FrameError(Status.TF_EXTRAPOLATION, text + limit)


def _newest(config: Config, transforms: Transforms, frame: str, now: int) -> Pose:
    pose, stamp = transforms.latest(config.check_frame, frame)
    if stamp > now:  # a localiser stamps its correction ahead
        pose, stamp = transforms.lookup(config.check_frame, frame, now), now
    check_age(config, {frame: stamp}, now)
    return pose
