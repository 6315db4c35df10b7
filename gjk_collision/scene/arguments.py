# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Conversion and checks of the arguments of scenes and their queries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from reprlib import repr as short
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..arguments import (
    as_choice,
    as_floats,
    as_integer,
    as_integers,
    as_list,
    as_number,
    as_poses,
    instance,
    located_in,
)
from ..errors import InputError, refuse
from ..geometry import Shape, cores
from ..path import shorter_turn
from ..region import OUTSIDE, Region
from ..verdict import Status

__all__: list[str] = []

Mode: TypeAlias = Literal["collide", "distance", "witness"]
PathMode: TypeAlias = Literal["collide", "distance"]
PredictionPolicy: TypeAlias = Literal["unknown_is_error", "constant_velocity", "hold"]
Paths: TypeAlias = Sequence[tuple[ArrayLike, ArrayLike] | None]
"""One predicted path per obstacle, as described for `Scene`."""

_MODES: dict[str, int] = {"collide": 0, "distance": 1, "witness": 2}
EMPTY: NDArray[np.float64] = np.empty(0)
NO_INDICES: NDArray[np.uint32] = np.empty(0, dtype=np.uint32)
_FEW_ENTRIES, _MOST_ENTRIES = 100, 1_000_000  # per pose, and of all poses: see checked_entries()


def flat_arrays(
    offsets: ArrayLike,
    xy: ArrayLike,
    kinds: ArrayLike | None,
    radius: ArrayLike | None,
    poses: ArrayLike | None,
    velocities: ArrayLike | None,
    path_offsets: ArrayLike | None,
    path_times: ArrayLike | None,
    path_poses: ArrayLike | None,
    stamps: ArrayLike | None = None,
    margins: ArrayLike | None = None,
    margin_rates: ArrayLike | None = None,
    lifetimes: ArrayLike | None = None,
    prediction: _core.PredictionPolicy = _core.PredictionPolicy.unknown_is_error,
    horizon: float = 0.0,
    time_error: float = 0.0,
) -> tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike, ArrayLike, _core.Reported]:
    """Return the arguments of `Scene.from_arrays` with the types of the kernel's functions.

    The kernel checks the lengths and the values.
    """
    return (
        as_integers(offsets, "offsets", np.uint32, 0),
        as_floats(xy, "xy", 0, 2),
        as_integers(_or_empty(kinds), "kinds", np.uint8, 0),
        as_floats(_or_empty(radius), "radius", 0),
        as_floats(_or_empty(poses), "poses", 0, 3),
        _core.Reported(
            as_floats(_or_empty(velocities), "velocities", 0, 3),
            as_floats(_or_empty(stamps), "stamps", 0),
            as_integers(_or_empty(path_offsets), "path_offsets", np.uint32, 0),
            as_floats(_or_empty(path_times), "path_times", 0),
            as_floats(_or_empty(path_poses), "path_poses", 0, 3),
            as_floats(_or_empty(margins), "margins", 0),
            as_floats(_or_empty(margin_rates), "margin_rates", 0),
            as_floats(_or_empty(lifetimes), "lifetimes", 0, 2),
            prediction,
            horizon,
            time_error,
        ),
    )


def mode_number(mode: str) -> int:
    """Return the number of a mode in the kernel."""
    return _MODES[as_choice(mode, tuple(_MODES), "mode")]


def thread_count(threads: int) -> int:
    """Return the number of threads to use. `threads` 0 means one per processor."""
    return min(as_integer(threads, "threads", 0) or os.cpu_count() or 1, 256)


def checked_poses(poses: ArrayLike) -> NDArray[np.float64]:
    placed = as_floats(poses, "poses", 3)
    if placed.size == 0:
        refuse("poses", "must hold at least one pose", status=Status.EMPTY_REQUEST)
    return placed


def is_many(poses: ArrayLike) -> bool:
    """Return whether it is an array of poses; False: one pose, or not an array."""
    try:
        return np.ndim(poses) > 1
    except ValueError:  # rows of different lengths
        return False


def checked_trajectories(poses: ArrayLike) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Return poses of shape (..., 3) as shape (n, 3), and the leading shape."""
    placed = as_poses(poses, "poses")
    return placed.reshape(-1, 3), placed.shape[:-1]


def timed_trajectories(
    poses: ArrayLike, times: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[int, ...]]:
    """Return poses (K, T, 3) as shape (n, 3), times (T,) or (K, T), and (K, T)."""
    placed, leading = checked_trajectories(poses)
    if len(leading) != 2:
        rule = f"must have shape (K, T, 3) (got {(*leading, 3)}); K is 1 for one trajectory"
        refuse("poses", rule, status=Status.ARRAY_MISMATCH)
    return placed, checked_times(as_floats(times, "times"), leading), leading


def lacks_motion(policy: _core.PredictionPolicy, *motions: Any) -> bool:
    """Return whether it is not known how the obstacles move, nor that they stay where they are.

    `motions` are checked velocities and paths, None or empty if they are not given.
    """
    given = any(each is not None and len(each) for each in motions)
    return policy != _core.PredictionPolicy.hold and not given


def checked_times(times: ArrayLike | None, leading: tuple[int, ...]) -> NDArray[np.float64]:
    """Return times of each pose, or of the poses of one trajectory; EMPTY if `times` is None."""
    if times is None:
        return EMPTY
    given = as_floats(times, "times")
    if given.shape != leading and given.shape != leading[-1:]:
        allowed = f"have shape {leading}" if leading else "be one number"
        allowed += f" or {leading[-1:]}" if len(leading) > 1 else ""
        rule = f"must {allowed}, one time for each pose (got shape {given.shape})"
        refuse("times", rule, status=Status.ARRAY_MISMATCH)
    return given


def finite_time(time: float) -> float:
    at = as_number(time, "time")
    if not isfinite(at):
        refuse("time", "must be finite", at, status=Status.NON_FINITE)
    return at


def at_each(times: NDArray[np.float64], leading: tuple[int, ...]) -> NDArray[np.float64]:
    """Return checked times for each of the poses (..., 3), flat; EMPTY stays EMPTY."""
    return times if times is EMPTY else np.broadcast_to(times, leading).reshape(-1)


def shaped(arrays: Sequence[NDArray[Any]], leading: tuple[int, ...]) -> list[NDArray[Any]]:
    """Return arrays of n rows with the shape `leading` in place of n; numbers, if it is ()."""
    return [values.reshape(leading + values.shape[1:])[()] for values in arrays]


def check_entries(k: int, obstacles: int, poses: int) -> None:
    """Refuse a result that has many more entries for each pose than there are obstacles."""
    # The outside of a region counts as an obstacle.
    most = max(_FEW_ENTRIES, obstacles + 1, _MOST_ENTRIES // max(1, poses))
    if k > most:
        rule = f"must be at most {most}, because each of {poses} poses has k entries"
        refuse("k", rule, k, status=Status.LIMIT_EXCEEDED)


def core_of(shape: Shape) -> _core.Shape:
    """Return the kernel's object of the vehicle."""
    if isinstance(shape, Shape):
        return shape._core
    refuse("shape", f"must be a Shape (got {type(shape).__name__}), and comes before the poses")


def twists_along(poses: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the constant twist from each pose of trajectories (..., T, 3) to the next.

    The chord of an arc has the mean of both headings. Its length is that of the arc times
    sin(h) / h, where h is half of the turn.
    """
    if poses.ndim < 2 or poses.shape[-2] < 2:
        rule = f"must be given where poses is not a trajectory (poses has shape {poses.shape})"
        refuse("twists", rule)
    if times.ndim == 0:
        rule = "must be given for each pose, if twists is None (got one number)"
        refuse("times", rule, status=Status.ARRAY_MISMATCH)
    with located_in(poses=poses.shape[:-1], times=times.shape):
        _core.check_poses(poses.reshape(-1, 3), "poses")
        _core.check_times(times, "times", times.shape[-1])
    duration = np.diff(times, axis=-1)[..., None]
    change = np.diff(poses, axis=-2)
    turn = shorter_turn(change[..., 2])
    mean = poses[..., :-1, 2] + 0.5 * turn
    stretch = 1.0 / np.sinc(turn / (2.0 * np.pi))  # numpy's sinc(x) is sin(pi x) / (pi x)
    ahead = change[..., 0] * np.cos(mean) + change[..., 1] * np.sin(mean)
    beside = change[..., 1] * np.cos(mean) - change[..., 0] * np.sin(mean)
    # In the frame of the pose, the chord points to half of the turn.
    cos, sin = np.cos(0.5 * turn) * stretch, np.sin(0.5 * turn) * stretch
    twists = (
        np.stack([cos * ahead - sin * beside, sin * ahead + cos * beside, turn], axis=-1)
        / duration
    )
    return np.concatenate([twists, twists[..., -1:, :]], axis=-2)


def as_rows(
    values: ArrayLike | None, count: int, argument: str, columns: int
) -> NDArray[np.float64]:
    """Return `values` as an array of `count` rows, or an empty array if `values` is None."""
    if values is None:
        return EMPTY
    rows = as_floats(values, argument, columns)
    if len(rows) != count:
        shape = f"(n, {columns})" if columns else "(n,)"
        rule = f"must have shape {shape} with n = {count}"
        refuse(argument, rule, rows.shape, status=Status.ARRAY_MISMATCH)
    return rows


def as_vehicles(shape: Shape | Sequence[Shape]) -> list[_core.Shape]:
    if isinstance(shape, Shape):
        return [shape._core]
    if not isinstance(shape, list | tuple):
        refuse("shape", "must be a Shape or a list of them", type(shape).__name__)
    if not shape:
        refuse("shape", "must hold at least one Shape")
    return cores(shape, "shape")


def checked_which(
    which: ArrayLike | None, count: int, leading: tuple[int, ...]
) -> NDArray[np.integer]:
    """Return the index of the shape at each pose, flat; empty: there is one shape."""
    if which is None:
        if count != 1:
            refuse("which", f"must select one of the {count} shapes for each pose (got None)")
        return NO_INDICES
    given = as_integers(which, "which", np.int64)
    outside = (given < 0) | (given >= count)
    if outside.any():
        i = int(np.argmax(outside))
        refuse("which", f"must lie in [0, {count})", given.flat[i], index=i)
    try:
        indices = np.broadcast_to(given, leading)
    except ValueError:
        rule = f"must have a shape that can be broadcast to {leading} (got {given.shape})"
        raise InputError(Status.ARRAY_MISMATCH, "which", None, rule) from None
    return indices.astype(np.uint32).reshape(-1)


def checked_prediction(
    prediction: str, horizon: float, time_error: float
) -> tuple[_core.PredictionPolicy, float, float]:
    """Return the arguments of `Scene` about predictions with the types of the kernel."""
    names = "unknown_is_error", "constant_velocity", "hold"
    policy = getattr(_core.PredictionPolicy, as_choice(prediction, names, "prediction"))
    return policy, as_number(horizon, "horizon"), as_number(time_error, "time_error")


def reported_motion(
    count: int,
    velocities: ArrayLike | None,
    paths: Paths | None,
    stamps: ArrayLike | None,
    margins: ArrayLike | None,
    margin_rates: ArrayLike | None,
    lifetimes: ArrayLike | None,
    policy: _core.PredictionPolicy,
    horizon: float,
    time_error: float,
) -> _core.Reported:
    """Return the reported motions, margins and lifetimes of obstacles as flat arrays."""
    offsets, all_times, all_poses = NO_INDICES, [EMPTY], [EMPTY]
    if paths is not None:
        listed = as_list(paths, "paths")
        if len(listed) != count:
            rule = f"must hold (times, poses) or None for each of {count} obstacles"
            refuse("paths", rule, len(listed), status=Status.ARRAY_MISMATCH)
        for i, path in enumerate(listed):
            own_times, own_poses = EMPTY, EMPTY
            if path is not None:
                try:
                    times, poses = path
                except (TypeError, ValueError):
                    rule = f"must be None or a pair of times and poses (got {short(path)})"
                    raise InputError(Status.INVALID_INPUT, "paths", i, rule) from None
                try:
                    own_times = as_floats(times, "times", 0)
                    own_poses = as_floats(poses, "poses", 3).ravel()
                except InputError as error:
                    rule = f"{error.argument}: {error.rule}"
                    raise InputError(error.status, "paths", i, rule) from None
            if len(own_poses) != 3 * len(own_times):
                rule = "must hold one pose (x, y, yaw) for each time"
                refuse("paths", rule, index=i, status=Status.ARRAY_MISMATCH)
            all_times.append(own_times)
            all_poses.append(own_poses)
        offsets = np.cumsum([len(own) for own in all_times]).astype(np.uint32)
    return _core.Reported(
        as_rows(velocities, count, "velocities", 3),
        as_rows(stamps, count, "stamps", 0),
        offsets,
        np.concatenate(all_times),
        np.concatenate(all_poses),
        as_rows(margins, count, "margins", 0),
        as_rows(margin_rates, count, "margin_rates", 0),
        as_rows(lifetimes, count, "lifetimes", 2),
        policy,
        horizon,
        time_error,
    )


@contextmanager
def errors_of_paths(reported: _core.Reported) -> Iterator[None]:
    """Convert an error in the flat path arrays to one that names the path of an obstacle."""
    try:
        yield
    except InputError as error:
        if error.index is None or error.argument not in ("path_times", "path_poses"):
            raise
        ends = reported.path_offsets
        i = int(np.searchsorted(ends, error.index, side="right")) - 1
        name = error.argument.removeprefix("path_")
        rule = f"{name}[{error.index - int(ends[i])}]: {error.rule}"
        raise InputError(error.status, "paths", i, rule) from None


def _or_empty(values: ArrayLike | None) -> ArrayLike:
    return EMPTY if values is None else values


def checked_region(inside: Region | None) -> Any:
    """Return the region of the kernel, or None, which its stub does not declare."""
    return None if inside is None else instance(inside, Region, "inside")._core


def checked_seen(seen: Region | Sequence[Region] | None) -> tuple[Region, ...] | None:
    """Return the regions that were seen; None: everything."""
    if seen is None or isinstance(seen, Region):
        return None if seen is None else (seen,)
    listed = as_list(seen, "seen")
    for i, each in enumerate(listed):
        if not isinstance(each, Region):
            rule = f"must be a Region or a sequence of Regions (got {type(each).__name__})"
            refuse("seen", rule, index=i)
    return tuple(listed)


def checked_ids(ids: ArrayLike | None, count: int, inside: Region | None) -> NDArray[np.int64]:
    """Return the ids, after them OUTSIDE if there is a region, and -1, the id for no obstacle."""
    if ids is None:
        checked = np.arange(count, dtype=np.int64)
    else:
        checked = as_integers(ids, "ids", np.int64).astype(np.int64)
    if checked.shape != (count,):
        rule = f"must hold one id for each of {count} obstacles (got shape {checked.shape})"
        refuse("ids", rule, status=Status.ARRAY_MISMATCH)
    if inside is not None:
        if (checked == OUTSIDE).any():
            rule = f"must not be {OUTSIDE}, which stands for the outside of the region"
            i = int(np.argmax(checked == OUTSIDE))
            refuse("ids", rule, index=i)
        checked = np.append(checked, OUTSIDE)
    checked = np.append(checked, -1)
    checked.setflags(write=False)
    return checked
