# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the services have in common. Each has a file of its own, with all that is known about it.

A request is any object with the fields of the definition in ``srv/``: a message of rclpy or of
rosbags, or the plain object of a mirror.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from ... import _core
from ...errors import refuse
from ...verdict import Status
from ..data.faults import Fault
from ..data.snapshot import Snapshot
from ..frames import fields, lookup
from ..frames.poses import IDENTITY, Pose, Transforms
from .answers import Answer, refused
from .poses import NO_LIMIT, Data, place

__all__ = ["OnePose", "Service"]


class Service(ABC):
    """A request of a service. Its class has the name of the service type."""

    name: ClassVar[str]  # of the service, without the name of the node
    # Whether some requests are so large that they are computed in a second thread.
    may_be_large: ClassVar[bool] = False
    # Whether the answer depends on a snapshot; whether footprint and time budget count.
    needs_data: ClassVar[bool] = True
    needs_footprint: ClassVar[bool] = True
    # The results that the digest of a replay covers. The second ones only if there are any.
    digested: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = (), ()

    frame: Pose = IDENTITY  # pose of the request's frame in the check frame, after `look_up`
    pose: Pose | None = None  # the pose in `frame`; None: not looked up yet, or several

    def __init__(self, message: Any) -> None:
        self.message = message
        self.frame_id, self.stamp = fields.frame_and_stamp(message)

    @classmethod
    def refused(cls, fault: Fault) -> Answer:
        """Return an answer without results, with the reason why there are none."""
        return refused(cls.__name__, fault)

    @property
    def is_large(self) -> bool:
        """Whether this request is computed in the second thread."""
        return False

    @property
    def required_id(self) -> int:
        """Id of the snapshot that the request requires; 0: the latest."""
        return 0

    def chosen(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with the footprint that the request names.

        Raises
        ------
        InputError
            There is no footprint of this name.
        """
        # `CheckShapes` has no footprint.
        return snapshot.chosen(str(getattr(self.message, "footprint", "")))

    def look_up(self, snapshot: Snapshot, transforms: Transforms) -> None:
        """Look up the pose of the request's frame in the check frame.

        Raises
        ------
        InputError, FrameError
            The pose of the request is not in the plane, or one of the poses is not known.
        """
        self.frame = lookup.frame_pose(
            snapshot.config, transforms, self.frame_id, self.stamp, snapshot.stamp
        )

    @abstractmethod
    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer, after `look_up`.

        Raises
        ------
        InputError
            The request is invalid.
        """

    def fields(self, answer: Answer, snapshot: Snapshot | None) -> dict[str, Any]:
        """Return the fields of the reply, without its info. None: it has no data."""
        return answer.fields()

    def least(self, answer: Answer) -> tuple[float, float] | None:
        """Return the least distance in an answer and its lower bound [m]; None: not known."""
        return None

    def hit(self, answer: Answer, snapshot: Snapshot) -> Pose | None:
        """Return the first pose in the check frame at which there is a collision, to be shown."""
        return None


class OnePose(Service):
    """A request with one pose. If it names no frame, it is the present pose of the vehicle."""

    pose: Pose

    def look_up(self, snapshot: Snapshot, transforms: Transforms) -> None:
        """Look up the pose of the request's frame, or of the vehicle."""
        if self.frame_id:
            pose = fields.pose(self.message.pose.pose, "pose")
            super().look_up(snapshot, transforms)
            self.pose = pose
        else:
            self.pose = lookup.ego_pose(snapshot.config, transforms, snapshot.stamp)

    def placed(self, data: Data) -> tuple[_core.Snapshot, list[float], float]:
        """Return the data, the pose in the check frame, and its error [m]."""
        (core,) = cores = data.cores()
        if not all(map(isfinite, self.pose)):
            refuse("pose", "must be finite", tuple(self.pose), status=Status.NON_FINITE)
        poses, errors = place(cores, np.array([self.pose]), self.frame)
        return core, poses[0].tolist(), float(errors[0])
