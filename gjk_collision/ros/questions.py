# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The questions to a collision server, for the client and for the mirror."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from .. import _core
from ..arguments import (
    as_bool,
    as_choice,
    as_floats,
    as_frame,
    as_integer,
    as_integers,
    as_number,
    as_vector,
)
from ..errors import refuse
from ..scene import Mode, mode_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .replies import CollideReply, DistanceReply, NearestFreeReply, PathReply, PosesReply

__all__ = ["Questions"]

_MODES = {mode: mode_number(mode) for mode in get_args(Mode)} | {"gradient": _core.MODE_GRADIENT}


class Questions(ABC):
    """The methods that ask a server. `frame` is the frame of all poses in questions."""

    def __init__(self, frame: str, server: str = "collision_server") -> None:
        self.frame = as_frame(frame, "frame")
        if not server or server.endswith("/"):
            refuse("server", "must be the name of a node, without '/' at its end", repr(server))

    @abstractmethod
    def _ask(
        self,
        service: str,
        request: dict[str, Any],
        at: int | None,
        frame_pose: Sequence[float] | None,
    ) -> Any:
        """Return the reply to a request of a service type.

        The request has the fields of the ``.srv``, but no header. Its pose is x y yaw, or None.
        """

    def check_poses(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        margin: float = 0.0,
        mode: Mode | Literal["gradient"] = "collide",
        stop_at_first: bool = False,
        require_snapshot_id: int = 0,
        footprint: str | Sequence[str] = "",
        which: ArrayLike | None = None,
        groups: ArrayLike = (),
        k: int = 1,
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> PosesReply:
        """Check the vehicle at each of many poses against one snapshot.

        Parameters
        ----------
        poses : array_like, shape (n, 3)
            Poses of the base frame: x [m], y [m], yaw [rad].
        times : array_like, shape (n,), optional
            Time of each pose after the time of the snapshot [s]. Default: the obstacles do not
            move.
        margin : float
            Required distance [m], >= 0, added to the margin of the server.
        mode : {'collide', 'distance', 'witness', 'gradient'}
            'collide': compute verdicts only. 'distance': also distances and lower bounds.
            'witness': also closest points. 'gradient': also distances, lower bounds and the
            derivatives of the distances to the k nearest obstacles.
        stop_at_first : bool
            Stop at the first pose of each group that is not free. The poses of the group after it
            are UNKNOWN.
        require_snapshot_id : int
            Id of the snapshot to use. If it is not available, the reply is UNKNOWN with
            SNAPSHOT_MISMATCH. 0: the latest snapshot.
        footprint : str or sequence of str
            Name of the footprint to check, or several names, from which `which` selects. "": the
            footprint of the server for requests that name none, see its parameters.
        which : array_like of int, shape (n,), optional
            Index in `footprint` of the footprint at each pose. It is required if `footprint` has
            several names.
        groups : array_like of int, shape (G + 1,), optional
            Trajectories: group g has the poses ``groups[g]`` to ``groups[g + 1] - 1``. Default:
            all poses are one group.
        k : int
            Number of obstacles at each pose in mode 'gradient', >= 1.
        at : int, optional
            Of a mirror only: time for which the question is asked [ns], on the clock of the node.
            `times` are relative to it. Data must not be too old at this time, nor at the time of
            the call. Default: now.
        frame_pose : (x, y, yaw), optional
            Of a mirror only: pose of `frame` in the check frame [m, m, rad]. Default: `frame` is
            the check frame.

        Raises
        ------
        InputError
            INVALID_INPUT or ARRAY_MISMATCH: an argument has a wrong type or shape. The server
            checks the values.
        """
        rows = as_floats(poses, "poses", 3)
        request = {
            "poses": rows.ravel(),
            "times": as_floats(times, "times", 0),
            "margin": as_number(margin, "margin"),
            "mode": _MODES[as_choice(mode, tuple(_MODES), "mode")],
            "stop_at_first": as_bool(stop_at_first, "stop_at_first"),
            "require_snapshot_id": as_integer(
                require_snapshot_id, "require_snapshot_id", 0, 2**64 - 1
            ),
            "group_offsets": as_integers(groups, "groups", np.uint32, 0).astype(np.int64),
            "k": as_integer(k, "k", 1, 2**32 - 1),
            **_selected_footprints(footprint, which),
        }
        return cast("PosesReply", self._ask("CheckPoses", request, at, frame_pose))

    def check_path(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        swept: bool = True,
        margin: float = 0.0,
        tolerance: float = 0.0,
        footprint: str = "",
        arcs: ArrayLike = (),
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> PathReply:
        """Check the vehicle along a path through poses.

        Between two poses, the vehicle moves in a straight line with constant velocity and takes
        the shorter rotation.

        Parameters
        ----------
        poses, margin
            As for `check_poses`.
        times : array_like, shape (n,), optional
            As for `check_poses`, and strictly increasing.
        swept : bool
            Whether to check also between the poses.
        tolerance : float
            Tolerance [m], 1e-6 to 1: if the vehicle passes an obstacle closer than margin +
            tolerance, the path may be reported as not free. 0: the parameter of the server.
        footprint : str
            Name of the footprint, see `check_poses`.
        arcs : array_like, shape (m, 2), optional
            Curvature [1/m] and length [m] of each arc of a path from the only pose in `poses`, as
            for `Path.arcs`. `times` then has the shape (m + 1,). In the reply, segments are arcs,
            and the fraction that is valid is that of the length of the whole path.
        at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = {
            "poses": as_floats(poses, "poses", 3).ravel(),
            "times": as_floats(times, "times", 0),
            "margin": as_number(margin, "margin"),
            "tolerance": as_number(tolerance, "tolerance"),
            "interpolation": int(as_bool(swept, "swept")),
            "arcs": as_floats(arcs, "arcs", 2).ravel(),
            "footprint": _footprint_name(footprint),
        }
        return cast("PathReply", self._ask("CheckPath", request, at, frame_pose))

    def distance(
        self,
        pose: ArrayLike,
        *,
        k: int = 1,
        max_distance: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> DistanceReply:
        """Return the distances to the nearest obstacles at one pose.

        Parameters
        ----------
        pose : (x, y, yaw)
            Pose of the base frame [m, m, rad].
        k : int
            Maximum number of obstacles; 0: one.
        max_distance : float
            Obstacles farther away than this are not reported [m]. 0: no limit.
        footprint : str
            Name of the footprint, see `check_poses`.
        at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = self._distance_request(pose, k, max_distance, footprint)
        return cast("DistanceReply", self._ask("Distance", request, at, frame_pose))

    def _distance_request(
        self, pose: ArrayLike, k: int, max_distance: float, footprint: str
    ) -> dict[str, Any]:
        return {
            "pose": as_vector(pose, "pose"),
            "k": as_integer(k, "k", 0, 2**32 - 1),
            "max_distance": as_number(max_distance, "max_distance"),
            "footprint": _footprint_name(footprint),
        }

    def collide(
        self,
        pose: Sequence[float] | None = None,
        *,
        margin: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> CollideReply:
        """Check the vehicle at one pose.

        Parameters
        ----------
        pose : (x, y, yaw), optional
            Pose of the base frame [m, m, rad]. None: the present pose of the
            vehicle, which a mirror does not know.
        margin : float
            As for `check_poses`.
        footprint : str
            Name of the footprint, see `check_poses`.
        at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = {
            "pose": None if pose is None else as_vector(pose, "pose"),
            "margin": as_number(margin, "margin"),
            "footprint": _footprint_name(footprint),
        }
        return cast("CollideReply", self._ask("Collide", request, at, frame_pose))

    def nearest_free(
        self,
        pose: Sequence[float] | None,
        max_shift: float,
        max_turn: float = 0.0,
        *,
        margin: float = 0.0,
        tolerance: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> NearestFreeReply:
        """Search the nearest pose at which the vehicle is free, as `Scene.nearest_free` does.

        Parameters
        ----------
        pose : (x, y, yaw) or None
            Pose of the base frame [m, m, rad]. None: as for `collide`.
        max_shift, max_turn : float
            Maximum distance [m] and change of the yaw [rad], >= 0.
        margin : float
            As for `check_poses`.
        tolerance : float
            Resolution of the search [m], 1e-6 to 1. 0: the parameter of the server.
        footprint : str
            Name of the footprint, see `check_poses`.
        at, frame_pose
            As for `check_poses`.

        Raises
        ------
        InputError
            As for `check_poses`.
        """
        request = {
            "pose": None if pose is None else as_vector(pose, "pose"),
            "max_shift": as_number(max_shift, "max_shift"),
            "max_turn": as_number(max_turn, "max_turn"),
            "margin": as_number(margin, "margin"),
            "tolerance": as_number(tolerance, "tolerance"),
            "footprint": _footprint_name(footprint),
        }
        return cast("NearestFreeReply", self._ask("NearestFree", request, at, frame_pose))

    def gradient(
        self,
        poses: ArrayLike,
        *,
        times: ArrayLike = (),
        k: int = 1,
        margin: float = 0.0,
        footprint: str = "",
        at: int | None = None,
        frame_pose: Sequence[float] | None = None,
    ) -> PosesReply:
        """Return `check_poses` in the mode 'gradient', with the same arguments."""
        return self.check_poses(
            poses,
            times=times,
            margin=margin,
            mode="gradient",
            footprint=_footprint_name(footprint),
            k=k,
            at=at,
            frame_pose=frame_pose,
        )


def _footprint_name(footprint: Any) -> str:
    """Return the name of a footprint, or refuse what is not a string."""
    if not isinstance(footprint, str):
        refuse("footprint", f"must be a name (got {footprint!r})")
    return footprint


def _selected_footprints(
    footprint: str | Sequence[str], which: ArrayLike | None
) -> dict[str, Any]:
    """Return the fields of a request with the names of footprints, and which is at each pose."""
    if isinstance(footprint, str):
        if which is not None:
            refuse("which", "can only be given if footprint is a sequence of names")
        return {"footprint": footprint, "footprints": [], "which": np.empty(0, np.uint8)}
    try:
        names = [_footprint_name(each) for each in footprint]
    except TypeError:
        _footprint_name(footprint)
        raise
    if not names:
        refuse("footprint", 'must have at least one name (got none); "" is the default footprint')
    given = as_integers(() if which is None else which, "which", np.uint8, 0)
    return {"footprint": "", "footprints": names, "which": given}
