# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Questions about a snapshot, for the services, for replay and for mirrors.

The rules are those of the kernel (`gjk/rules`). The functions here transform poses into the check
frame, call the rules, and return their answers as results. An invalid request raises `InputError`;
in all other cases an answer is returned. If the snapshot has a fault, no answer is FREE: a certain
contact is COLLISION, everything else is UNKNOWN.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..motion import Motion
from ..results import GradientResult
from ..verdict import Status
from .answers import (
    Answer,
    DistanceAnswer,
    NearestFreeAnswer,
    PathAnswer,
    PosesAnswer,
    ShapesAnswer,
    StateAnswer,
    answer_of,
)
from .config import Config
from .frames import IDENTITY, Pose
from .obstacles import Obstacles
from .snapshot import Fault
from .twist import Twist

__all__ = [
    "Data",
    "check_frame",
    "check_path",
    "check_poses",
    "check_shapes",
    "collide",
    "distance",
    "nearest_free",
    "place",
    "pose_on",
    "state",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]
_NO_FLOATS: Floats = np.empty(0)
_NO_INTEGERS: Integers = np.empty(0, np.int64)
NO_LIMIT = _core.Budget()
# Maximum error of a request's pose in another frame [m]. A pose with a greater error is refused.
MAX_ERROR = 1e6


class Data(Protocol):
    """What a question is asked of: a `Snapshot` of the server, or the data of a mirror."""

    def cores(self) -> Sequence[_core.Snapshot]:
        """Return the data with each footprint of the request."""


def collide(data: Data, pose: Pose, margin: float = 0.0, *, frame: Pose = IDENTITY) -> Answer:
    """Check one pose of the base frame.

    Parameters
    ----------
    data : Data
        The data to be used.
    pose : Pose
        x y yaw [m, m, rad] of the base frame, in `frame`.
    margin : float
        Added to the configured margin [m], >= 0.
    frame : Pose
        Pose of the request's frame in the check frame.
    """
    core, placed, error = _one_pose(data, pose, frame)
    return answer_of(core.collide(placed, margin, error))


def distance(
    data: Data,
    pose: Pose,
    k: int = 1,
    max_distance: float = 0.0,
    *,
    frame: Pose = IDENTITY,
) -> DistanceAnswer:
    """Find the obstacles that are nearest to the vehicle at a pose.

    If the data has a fault, the list may be incomplete. It is then only returned if the verdict is
    COLLISION.

    Parameters
    ----------
    data, pose, frame
        As for `collide`.
    k : int
        Maximum number of obstacles; 0: one.
    max_distance : float
        Obstacles farther away are not returned [m]; 0: no limit.
    """
    core, placed, error = _one_pose(data, pose, frame)
    answer, ids, indices, sources, distances, lower_bounds, witnesses, directions, statuses = (
        core.distance(placed, max(k, 0), max_distance, error)
    )
    return DistanceAnswer(
        answer_of(answer),
        sources,
        ids=ids,
        indices=indices,
        distances=distances,
        lower_bounds=lower_bounds,
        witness_shape=witnesses[:, :2],
        witness_obstacle=witnesses[:, 2:],
        directions=directions,
        statuses=statuses,
    )


def check_poses(
    data: Data,
    poses: Floats,
    times: Floats = _NO_FLOATS,
    *,
    frame: Callable[[], Pose] | None = None,
    stamp: int = 0,
    margin: float = 0.0,
    mode: int = 0,
    stop_at_first: bool = False,
    which: Integers = _NO_INTEGERS,
    group_offsets: Integers = _NO_INTEGERS,
    k: int = 1,
    budget: _core.Budget = NO_LIMIT,
) -> PosesAnswer:
    """Check many poses of the base frame.

    Parameters
    ----------
    data : Data
        The data to be used.
    poses : (3 M,) float64
        x y yaw [m, m, rad] per pose.
    times : (M,) float64
        Time of each pose after `stamp` [s]; empty: the obstacles do not move. A pose later than
        `Snapshot.known_until` is UNKNOWN with the status PREDICTION_TOO_SHORT.
    frame : callable, optional
        Returns the pose of the frame of `poses` in the check frame. It is called after `poses` and
        `times` were checked. None: the poses are in the check frame.
    stamp : int
        Stamp of the request [ns]; 0: the stamp of the snapshot.
    margin : float
        Added to the configured margin [m], >= 0.
    mode : int
        As in ``srv/CheckPoses``: 0 to 3, COLLIDE, DISTANCE, WITNESS or GRADIENT.
    stop_at_first : bool
        Stop at the first pose that is not FREE; with groups, at that of each group. The poses
        after it are UNKNOWN.
    which : (M,) or (0,) integers
        Index of the footprint of each pose; empty: there is one footprint.
    group_offsets : (G + 1,) or (0,) integers
        Group g has the poses ``group_offsets[g]`` to ``group_offsets[g + 1] - 1``; empty: no
        groups.
    k : int
        Number of obstacles at each pose, for derivatives.
    budget : _core.Budget
        Time limit. Poses not checked by then are UNKNOWN.
    """
    cores, errors, rows = data.cores(), _NO_FLOATS, poses
    if frame is not None:
        _core.check_batch(poses, times, cores[0].max_poses)
        rows, errors = place(cores, poses.reshape(-1, 3), frame(), which=which)
    answer, *arrays, first_invalid, groups, derivatives = _core.check_poses(
        cores, rows, times, errors, which, group_offsets, stamp, margin, mode, stop_at_first,
        max(k, 0), budget,
    )  # fmt: skip
    verdicts, statuses, distances, lower_bounds, ids, indices, witnesses = arrays
    names = GradientResult.__dataclass_fields__
    worst = answer_of(answer)
    return PosesAnswer._of(
        {
            "answer": worst,
            "verdict": worst.verdict,
            "is_free": worst.is_free,
            "verdicts": verdicts,
            "statuses": statuses,
            "distances": distances,
            "lower_bounds": lower_bounds,
            "ids": ids,
            "indices": indices,
            "witnesses": witnesses,
            "first_invalid_index": first_invalid,
            "group_first_invalid": groups,
            "gradients": derivatives
            and GradientResult(**dict(zip(names, derivatives, strict=True))),
        }
    )


def check_path(
    data: Data,
    poses: Floats,
    times: Floats = _NO_FLOATS,
    *,
    arcs: Floats = _NO_FLOATS,
    frame: Callable[[], Pose] = Pose,
    stamp: int = 0,
    swept: bool = True,
    margin: float = 0.0,
    tolerance: float = 0.0,
    budget: _core.Budget = NO_LIMIT,
) -> PathAnswer:
    """Check a path through poses of the base frame, or a path of arcs from one pose.

    Parameters
    ----------
    data, poses, times, frame, stamp, margin
        As for `check_poses`. The times must increase strictly. If the path goes on after
        `Snapshot.known_until`, the answer is UNKNOWN with the status PREDICTION_TOO_SHORT, unless
        there is a collision before.
    arcs : (2 A,) float64
        Curvature [1/m] and length [m] per arc; `times` are then those of the start and of the end
        of each arc, and segments are arcs. Empty: the path is straight from pose to pose.
    swept : bool
        Whether the path between the poses is checked too; otherwise, only the poses are.
    tolerance : float
        Tolerance of swept checks [m]: a path that passes an obstacle closer than margin +
        tolerance may be reported as not free. 0: the parameter `toi_tolerance`.
    budget : _core.Budget
        Time limit. When it is over, the answer is UNKNOWN, unless a collision was found before.
    """
    (core,) = cores = data.cores()
    _core.check_batch(poses, _NO_FLOATS, core.max_poses)
    length = float(np.abs(arcs[1::2]).sum())
    rows = poses.reshape(-1, 3)
    placed, errors = place(cores, rows, frame(), is_path=True, beyond=length)
    answer, segment, fraction, time, index, least, lower_bound = core.check_path(
        placed, times, errors, arcs, stamp, margin, swept, tolerance, budget
    )
    return PathAnswer(
        answer_of(answer),
        first_invalid_segment=segment,
        last_valid_fraction=fraction,
        first_collision_time=time,
        index=index,
        distance=least,
        lower_bound=lower_bound,
    )


def nearest_free(
    data: Data,
    pose: Pose,
    max_shift: float,
    max_turn: float = 0.0,
    margin: float = 0.0,
    tolerance: float = 0.0,
    *,
    frame: Pose = IDENTITY,
    budget: _core.Budget = NO_LIMIT,
) -> NearestFreeAnswer:
    """Search the nearest pose of the base frame that is FREE.

    Parameters
    ----------
    data, pose, margin, frame
        As for `collide`.
    max_shift, max_turn : float
        Maximum distance [m] and change of the yaw [rad], >= 0.
    tolerance : float
        Resolution of the search [m]; 0: the parameter `toi_tolerance`.
    budget : _core.Budget
        Its `search_time` is the longest duration of the search. After it, `InputError` is raised
        with the status TIME_BUDGET.
    """
    core, placed, error = _one_pose(data, pose, frame)
    answer, free_pose, shift, turn = core.nearest_free(
        placed, max_shift, max_turn, margin, tolerance, error, budget
    )
    return NearestFreeAnswer(answer_of(answer), free_pose, shift, turn)


def state(data: Data, pose: Pose | Fault, twist: Twist | Fault | None) -> StateAnswer:
    """Check the present pose of the vehicle, and find the nearest obstacle.

    Parameters
    ----------
    data : Data
        The data to be used.
    pose : Pose or Fault
        Pose of the base frame in the check frame, or the reason why it is not known.
    twist : Twist, Fault or None
        Twist of the base frame. If it is not known, there is no time to collision.
    """
    answer, *values = data.cores()[0].state(
        None if isinstance(pose, Fault) else (pose.x, pose.y, pose.yaw),
        (int(pose.status), pose.message) if isinstance(pose, Fault) else None,
        (twist.vx, twist.vy, twist.wz) if isinstance(twist, Twist) else None,
    )
    return StateAnswer(answer_of(answer), *values)


def check_shapes(
    config: Config,
    a: Obstacles,
    b: Obstacles,
    pairs: Integers,
    *,
    mode: int = 0,
    margin: float = 0.0,
    budget: _core.Budget = NO_LIMIT,
) -> ShapesAnswer:
    """Check pairs of shapes of two lists.

    Parameters
    ----------
    config : Config
        Parameters of the server; the limits and `concave_policy` are used.
    a, b : Obstacles
        The two lists, in the same frame. They need no ids.
    pairs : (2 M,) integers
        Index in a, index in b per pair; empty: all pairs, a in the outer loop.
    mode : int
        As in ``srv/CheckShapes``: 0 to 2, COLLIDE, DISTANCE or WITNESS.
    margin : float
        Margin [m], >= 0. If the distance is positive and not greater, the verdict is MARGIN.
    budget : _core.Budget
        Time limit. Pairs not checked by then are UNKNOWN.
    """
    if a.frame != b.frame:
        rule = f"must be in one frame (got '{a.frame}' and '{b.frame}')"
        raise InputError(Status.UNKNOWN_FRAME, "b.header.frame_id", None, rule)
    _check_list("a", a, config)
    _check_list("b", b, config)
    one, other = ((each.offsets, each.xy, each.kinds, each.radius, each.poses) for each in (a, b))
    policy = getattr(_core.ConcavePolicy, config.concave_policy)
    answer, verdicts, statuses, distances, lower_bounds, witnesses, directions = (
        _core.check_shapes(one, other, pairs, mode, margin, policy, config.max_poses, budget)
    )
    return ShapesAnswer(
        answer_of(answer),
        verdicts=verdicts,
        statuses=statuses,
        distances=distances,
        lower_bounds=lower_bounds,
        witnesses=witnesses,
        directions=directions,
    )


def _check_list(name: str, shapes: Obstacles, config: Config) -> None:
    try:
        shapes.check(config.max_obstacles, config.max_points_per_obstacle, need_ids=False)
    except InputError as error:
        argument = f"{name}.{error.argument}"
        raise InputError(error.status, argument, error.index, error.rule) from error


def pose_on(rows: Floats, segment: int, fraction: float) -> Pose:
    """Return the pose at a fraction of a segment of a path.

    Parameters
    ----------
    rows : (M, 3) float64
        Poses of the path, x y yaw [m, m, rad], in the frame in which the path was checked. In
        another frame, the rounding of the yaws can reverse the direction of a half turn.
    segment : int
        Index of the segment, from this pose to the next one.
    fraction : float
        Fraction of the segment, 0 to 1.
    """
    if not fraction or segment + 1 == len(rows):
        return Pose(*rows[segment].tolist())
    motion = Motion.path((0.0, 1.0), rows[segment : segment + 2])
    return Pose(*motion.at(fraction).tolist())


def check_frame(pose: Pose) -> None:
    """Check the pose of a frame in the check frame.

    Raises
    ------
    InputError
        NON_FINITE or COORD_RANGE.
    """
    try:
        _core.check_batch(np.array(pose), _NO_FLOATS, 1)
    except InputError as error:
        raise InputError(error.status, "frame_pose", None, error.rule) from error


def _one_pose(data: Data, pose: Pose, frame: Pose) -> tuple[_core.Snapshot, list[float], float]:
    """Return the data, the pose in the check frame, and its error [m]."""
    (core,) = cores = data.cores()
    if not all(map(isfinite, pose)):
        rule = f"must be finite (got {tuple(pose)})"
        raise InputError(Status.NON_FINITE, "pose", None, rule)
    poses, errors = place(cores, np.array([pose]), frame)
    return core, poses[0].tolist(), float(errors[0])


def place(
    cores: Sequence[_core.Snapshot],
    poses: Floats,
    frame: Pose,
    *,
    which: Integers = _NO_INTEGERS,
    is_path: bool = False,
    beyond: float = 0.0,
) -> tuple[Floats, Floats]:
    """Transform poses of a request into the check frame.

    Parameters
    ----------
    cores : sequence of _core.Snapshot
        The data with each footprint of the request.
    poses : (N, 3) float64
        x y yaw [m, m, rad] of the base frame in `frame`.
    frame : Pose
        Pose of the request's frame in the check frame.
    which : (N,) integers, optional
        Index of the footprint at each pose. Default: the first one.
    is_path : bool
        Whether the vehicle moves from each pose to the next one.
    beyond : float
        Maximum length of a path from the poses, in the frame of the vehicle [m].

    Returns
    -------
    poses : (N, 3) float64
        x y yaw [m, m, rad] of the base frame in the check frame.
    errors : (N,) float64
        Upper bound of the distance between a point of the footprint and its exact place [m]. It is
        a power of two or 0. The footprint is grown by it, so that it contains the footprint at the
        exact pose.

    Raises
    ------
    InputError
        COORD_RANGE: a pose is so far from the origin of its frame that its error is `MAX_ERROR` or
        more.
    """
    if frame == IDENTITY or not any(core.has_footprint for core in cores):
        return frame.compose(poses), np.zeros(len(poses))
    reaches = np.array([core.reach for core in cores]) + beyond
    known = len(which) == len(poses) and np.all((which >= 0) & (which < len(cores)))
    reach = reaches[which] if known else reaches.max()  # wrong indices are refused by the rules
    if is_path:
        placed, errors = frame.compose_paths(poses, reach, np.zeros(len(poses), bool))
    else:
        placed, errors = frame.compose(poses), frame.compose_error(poses, reach)
    small = errors < MAX_ERROR
    if not small.all():
        i = int(np.argmin(small))
        rule = "the pose is too far from the origin of its frame to be transformed accurately"
        raise InputError(Status.COORD_RANGE, "poses", 3 * i, rule)
    # Poses near each other have the same error after this, and are checked together.
    rounded_up = np.ldexp(1.0, np.frexp(errors)[1])
    return placed, np.where(errors > 0.0, rounded_up, 0.0)
