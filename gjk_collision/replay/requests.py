# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded requests (service introspection), answered again from the data of their time."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..server import fields, lookup
from ..server.answers import (
    Answer,
    DistanceAnswer,
    NearestFreeAnswer,
    PathAnswer,
    PosesAnswer,
    unknown,
)
from ..server.config import Config
from ..server.dispatch import Found, Request
from ..server.frames import FrameError
from ..server.snapshot import Fault, Snapshot
from ..verdict import Status, Verdict
from .recorded_transforms import RecordedTransforms
from .rows import DIGITS, Row

__all__ = ["AskedPath", "RecordedRequests"]

# service_msgs/msg/ServiceEventInfo
REQUEST_SENT, REQUEST_RECEIVED, RESPONSE_SENT, RESPONSE_RECEIVED = 0, 1, 2, 3

ASKED, COMPARED = "not answered again", "not compared"

# Maximum number of answers that wait for the recorded reply. If there are more, the oldest one is
# returned without a recorded reply.
MAX_OPEN = 256


# Number of poses on a path of arcs, for drawing.
ARC_POSES = 33


@dataclass(frozen=True, slots=True)
class AskedPath:
    """The path of a request, and its verdict.

    Attributes
    ----------
    time : int
        Log time of the answer [ns].
    poses : (N, 3) float64
        x y yaw in the check frame [m, m, rad], up to the horizon if the request has times.
    verdict : Verdict
        The verdict of the path.
    """

    time: int
    poses: npt.NDArray[np.float64]
    verdict: Verdict


class RecordedRequests:
    """Answers recorded requests. Each answer is kept until the recorded reply is read.

    Parameters
    ----------
    config : Config
        Parameters of the server.
    transforms : RecordedTransforms
        Source of the poses between frames.
    errors : list of str
        Receives the exceptions that are raised while answers are computed.
    """

    def __init__(self, config: Config, transforms: RecordedTransforms, errors: list[str]) -> None:
        self._config = config
        self._transforms = transforms
        self._errors = errors
        # Requests that wait for a transform: service, request, log time.
        self._waiting: dict[tuple[bytes, int], tuple[str, Any, int]] = {}
        self._open: OrderedDict[tuple[bytes, int], Row] = OrderedDict()
        self.path: AskedPath | None = None  # of the last CheckPath with an answer
        # Numbers of events, for `notes`:
        self.without_content = 0  # requests recorded as metadata only
        self.sent = 0  # requests recorded by a client; they are not answered again
        self.replies_alone = 0  # replies to requests that were not answered again
        self.replies_of_clients = 0
        self.replies_without_content = 0
        self.without_reply = 0

    def process(
        self, service: str, event: Any, time: int, snapshot: Callable[[], Snapshot]
    ) -> list[Row]:
        """Process one service event; return the rows that it completes.

        Parameters
        ----------
        service : str
            Name of the service type.
        event : object
            An object with the fields of the event message.
        time : int
            Log time [ns].
        snapshot : callable
            Returns the present snapshot.
        """
        key = (bytes(event.info.client_gid), int(event.info.sequence_number))
        done = []
        self.sent += event.info.event_type == REQUEST_SENT
        self.replies_of_clients += event.info.event_type == RESPONSE_RECEIVED
        if event.info.event_type == REQUEST_RECEIVED:
            if not len(event.request):
                self.without_content += 1
                return []
            self._waiting[key] = service, event.request[0], time
            self.resume(time, snapshot)
            if len(self._open) > MAX_OPEN:
                done.append(self._open.popitem(last=False)[1])
                self.without_reply += 1
        elif event.info.event_type == RESPONSE_SENT:
            self._end_wait(key, time, snapshot)
            if key not in self._open:
                self.replies_alone += 1
                return []
            row = self._open.pop(key)
            self.replies_without_content += not len(event.response)
            if len(event.response):
                row.recorded = Verdict(int(event.response[0].verdict.verdict)).name
            done.append(row)
        for row in done:
            row.time = time
        return done

    def notes(self) -> list[str]:
        """Return how many requests were not answered again or not compared, and why."""
        found = (
            (self.without_content, "requests were recorded without their content", ASKED),
            (self.sent, "requests were recorded by a client, not by the server", ASKED),
            (self.replies_alone, "replies belong to requests not answered again", COMPARED),
            (self.replies_of_clients, "replies were recorded by a client", COMPARED),
            (self.replies_without_content, "replies have no recorded content", COMPARED),
            (self.without_reply, "requests have no recorded reply", COMPARED),
        )
        return [f"{count} {what}: {which}" for count, what, which in found if count]

    def resume(self, time: int, snapshot: Callable[[], Snapshot]) -> None:
        """Answer the requests that need not wait any longer, as the node does.

        Their transforms have arrived, or they have waited for `transform_wait`.
        """
        for key, (_, request, since) in list(self._waiting.items()):
            frame, stamp = fields.frame_and_stamp(request)
            may_come = stamp > lookup.awaited_from(self._config, self._transforms, frame)
            is_over = (time - since) * 1e-9 > self._config.transform_wait
            if is_over or not may_come:
                self._end_wait(key, time, snapshot)

    def _end_wait(
        self, key: tuple[bytes, int], time: int, snapshot: Callable[[], Snapshot]
    ) -> None:
        """Answer a request now if it still waits."""
        if key in self._waiting:
            service, request, _ = self._waiting.pop(key)
            self._open[key] = self._answer(service, request, time, snapshot())

    def finish(self, time: int, snapshot: Callable[[], Snapshot]) -> list[Row]:
        """Return the rows of all requests without a recorded reply, at the end of the bag."""
        for key in list(self._waiting):
            self._end_wait(key, time, snapshot)
        rows = list(self._open.values())
        self.without_reply += len(rows)
        self._open.clear()
        for row in rows:
            row.time = time
        return rows

    def _answer(self, service: str, message: Any, time: int, snapshot: Snapshot) -> Row:
        row = Row(time, snapshot.stamp, service, Verdict.UNKNOWN, Status.UNDEFINED)
        row.snapshot_id = snapshot.id
        row.footprint_age, row.obstacle_age = snapshot.footprint_age, snapshot.max_obstacle_age
        row.bad_sources = snapshot.bad_sources
        request = Request(service, message)
        try:
            answer = _fill(row, request.ask(snapshot, self._transforms))
            if service == "CheckPath":
                self.path = _asked_path(request, snapshot, time, answer.verdict)
        except (InputError, FrameError) as error:
            answer = unknown(Fault(error.status, str(error)))
        except Exception as error:  # the node does the same
            self._errors.append(repr(error))
            answer = unknown(Fault(Status.INTERNAL_ERROR, repr(error)))
        if request.pose is not None and request.frame is not None:
            row.ego = tuple(request.frame.of(request.pose))
        row.verdict, row.status, row.message = answer.verdict, answer.status, answer.message
        if answer.nearest_id != -1:
            row.nearest_id, row.nearest_source = answer.nearest_id, answer.nearest_source
        return row


def _asked_path(
    request: Request, snapshot: Snapshot, time: int, verdict: Verdict
) -> AskedPath | None:
    """Return the path of an answered CheckPath; None: the pose of its frame is not known."""
    message, frame = request.message, request.frame
    if frame is None:
        return None
    poses, times = fields.numbers(message.poses).reshape(-1, 3), fields.numbers(message.times)
    until = snapshot.known_until(fields.nanoseconds(message.header.stamp))
    arcs = fields.numbers(getattr(message, "arcs", ())).reshape(-1, 2)
    if len(arcs):
        ends = np.append(0.0, np.cumsum(np.abs(arcs[:, 1])))
        stop = float(np.interp(until, times, ends) / ends[-1]) if len(times) else 1.0
        shares = np.linspace(0.0, stop, ARC_POSES).tolist()
        turned = np.array([request.pose_at(0, share, frame) for share in shares])
        return AskedPath(time, turned, verdict)
    if len(times):
        poses = poses[times <= until]
    return AskedPath(time, frame.compose(poses), verdict) if len(poses) else None


def _fill(row: Row, answer: Found) -> Answer:
    """Copy an answer to a row, and return its verdict with the reason.

    A row has one distance and one obstacle. The digest covers the values of all obstacles, poses
    or pairs.
    """
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, PathAnswer):
        if np.isfinite(answer.min_distance):
            row.distance, row.lower_bound = answer.min_distance, answer.min_distance_lower_bound
        row.digest = _digest(
            np.array([answer.first_invalid_segment]),
            np.array([answer.last_valid_fraction, answer.first_collision_time]),
        )
    elif isinstance(answer, DistanceAnswer):
        if len(answer.ids):
            row.distance = float(answer.distances[0])
            row.lower_bound = float(answer.lower_bounds[0])
            row.nearest_id, row.nearest_source = int(answer.ids[0]), answer.sources[0]
            row.witness_ego = tuple(answer.witness_shape[0].tolist())
            row.witness_obstacle = tuple(answer.witness_obstacle[0].tolist())
            row.direction = tuple(answer.directions[0].tolist())
            row.digest = _digest(answer.ids, answer.statuses, answer.distances)
    elif isinstance(answer, NearestFreeAnswer):
        row.digest = _digest(answer.free_pose)
    else:
        distances, bounds = answer.distances, answer.lower_bounds
        row.digest = _digest(answer.verdicts, answer.statuses)
        if distances is not None and bounds is not None:
            known = distances[np.isfinite(distances)]
            if len(known):
                row.distance, row.lower_bound = float(known.min()), float(np.min(bounds))
            row.digest = _digest(answer.verdicts, answer.statuses, distances)
        if isinstance(answer, PosesAnswer):
            groups = answer.group_first_invalid
            more: list[Any] = [groups] if len(groups) else []
            if (own := answer.gradients) is not None:
                more += [own.ids, own.distances, own.gradients]
            if more:
                row.digest = _digest(np.array([row.digest]), *more)
    return answer.answer


def _digest(*arrays: Any) -> int:
    """Return the CRC-32 of arrays. Floats are first rounded to `DIGITS` decimal places."""
    total = 0
    for each in arrays:
        values = np.round(each, DIGITS) + 0.0 if each.dtype.kind == "f" else each
        total = crc32(np.ascontiguousarray(values).tobytes(), total)
    return total
