# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded requests (service introspection), asked again of what was known at their time."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np

from ..errors import InputError
from ..server import fields, lookup, questions
from ..server.answers import Answer, PosesAnswer, ShapesAnswer, unknown
from ..server.config import Config
from ..server.frames import FrameError, Pose
from ..server.questions import check_shapes
from ..server.questions.path import check_path, is_swept
from ..server.snapshot import Fault, Snapshot
from ..verdict import Status, Verdict
from . import decode
from .rows import DIGITS, Row
from .transforms import RecordedTransforms

__all__ = ["Requests"]

# service_msgs/msg/ServiceEventInfo
REQUEST_SENT, REQUEST_RECEIVED, RESPONSE_SENT, RESPONSE_RECEIVED = 0, 1, 2, 3

ASKED, COMPARED = "not answered again", "not compared"

# Requests whose reply was not recorded by then are given up waiting for.
MAX_OPEN = 256


class Requests:
    """Answers requests, and holds each answer until the recorded reply has come."""

    def __init__(self, config: Config, transforms: RecordedTransforms, errors: list[str]) -> None:
        self._config = config
        self._transforms = transforms
        self._errors = errors
        # Requests that wait for a transform: service, request, log time.
        self._waiting: dict[tuple[bytes, int], tuple[str, Any, int]] = {}
        self._open: OrderedDict[tuple[bytes, int], Row] = OrderedDict()
        self.without_content = 0  # recorded as metadata only
        self.sent = 0  # events of clients; they are not answered again
        self.replies_alone = 0  # of no request that was answered again
        self.replies_of_clients = 0
        self.replies_without_content = 0
        self.without_reply = 0

    def take(
        self, service: str, event: Any, time: int, snapshot: Callable[[], Snapshot]
    ) -> list[Row]:
        """Take in one event; return the rows that are complete by it."""
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
        """Say how many events were not answered again, or compared, and why."""
        found = (
            (self.without_content, "requests were recorded without their content", ASKED),
            (self.sent, "requests were recorded by a client, not by the server", ASKED),
            (self.replies_alone, "replies are of no request that was answered again", COMPARED),
            (self.replies_of_clients, "replies were recorded by a client", COMPARED),
            (
                self.replies_without_content,
                "replies have no recorded content",
                COMPARED,
            ),
            (self.without_reply, "requests have no recorded reply", COMPARED),
        )
        return [f"{count} {what}: {which}" for count, what, which in found if count]

    def resume(self, time: int, snapshot: Callable[[], Snapshot]) -> None:
        """Answer the requests whose transforms have come, or whose wait is over, as the node."""
        for key, (_, request, since) in list(self._waiting.items()):
            frame, stamp = fields.frame_and_stamp(request)
            may_come = stamp > lookup.awaited_from(self._config, self._transforms, frame)
            is_over = (time - since) * 1e-9 > self._config.transform_wait
            if is_over or not may_come:
                self._end_wait(key, time, snapshot)

    def _end_wait(
        self, key: tuple[bytes, int], time: int, snapshot: Callable[[], Snapshot]
    ) -> None:
        """Answer a request now where it waits: the node has replied, or would have."""
        if key in self._waiting:
            service, request, _ = self._waiting.pop(key)
            self._open[key] = self._ask(service, request, time, snapshot())

    def rest(self, time: int, snapshot: Callable[[], Snapshot]) -> list[Row]:
        """Return the rows whose reply was not recorded."""
        for key in list(self._waiting):
            self._end_wait(key, time, snapshot)
        rows = list(self._open.values())
        self.without_reply += len(rows)
        self._open.clear()
        for row in rows:
            row.time = time
        return rows

    def _ask(self, service: str, request: Any, time: int, snapshot: Snapshot) -> Row:
        row = Row(time, snapshot.stamp, service, Verdict.UNKNOWN, Status.UNDEFINED)
        row.snapshot_id = snapshot.id
        row.footprint_age, row.obstacle_age = snapshot.footprint_age, snapshot.max_obstacle_age
        row.bad_sources = snapshot.bad_sources
        try:
            answer = getattr(self, f"_{service}")(request, snapshot, row)
        except (InputError, FrameError) as error:
            answer = unknown(Fault(error.status, str(error)))
        except Exception as error:  # as the node has it
            self._errors.append(repr(error))
            answer = unknown(Fault(Status.INTERNAL_ERROR, repr(error)))
        row.verdict, row.status, row.message = answer.verdict, answer.status, answer.message
        if answer.nearest_id != -1:
            row.nearest_id, row.nearest_source = answer.nearest_id, answer.nearest_source
        return row

    # ---- by service; what is not compared with an obstacle's distance is summed up in a digest

    def _Collide(self, request: Any, snapshot: Snapshot, row: Row) -> Answer:
        pose, frame = self._placed(request.pose, snapshot)
        row.ego = tuple(frame.of(pose))
        return questions.collide(snapshot, pose, float(request.margin), frame=frame)

    def _Distance(self, request: Any, snapshot: Snapshot, row: Row) -> Answer:
        pose, frame = self._placed(request.pose, snapshot)
        row.ego = tuple(frame.of(pose))
        k, reach = int(request.k), float(request.max_distance)
        found = questions.distance(snapshot, pose, k, reach, frame=frame)
        if len(found.ids):
            row.distance, row.lower_bound = float(found.distances[0]), float(found.lower_bounds[0])
            row.nearest_id, row.nearest_source = int(found.ids[0]), found.sources[0]
            row.witness_ego = tuple(found.witness_ego[0].tolist())
            row.witness_obstacle = tuple(found.witness_obstacle[0].tolist())
            row.direction = tuple(found.directions[0].tolist())
            row.digest = _digest(found.ids, found.statuses, found.distances)
        return found.answer

    def _CheckPoses(self, request: Any, snapshot: Snapshot, row: Row) -> Answer:
        found = questions.check_poses(
            snapshot,
            request.poses,
            request.times,
            frame=lambda: self._frame(request.header, snapshot),
            stamp=fields.nanoseconds(request.header.stamp),
            margin=float(request.margin),
            mode=int(request.mode),
            stop_at_first=bool(request.stop_at_first),
        )
        return self._batch(found, row)

    def _CheckPath(self, request: Any, snapshot: Snapshot, row: Row) -> Answer:
        found = check_path(
            snapshot,
            request.poses,
            request.times,
            frame=lambda: self._frame(request.header, snapshot),
            stamp=fields.nanoseconds(request.header.stamp),
            swept=is_swept(request.interpolation),
            margin=float(request.margin),
            tolerance=float(request.tolerance),
        )
        if np.isfinite(found.min_distance):
            row.distance, row.lower_bound = found.min_distance, found.min_distance_lower_bound
        row.digest = _digest(
            np.array([found.first_invalid_segment]),
            np.array([found.last_valid_fraction, found.first_collision_time]),
        )
        return found.answer

    def _CheckShapes(self, request: Any, snapshot: Snapshot, row: Row) -> Answer:
        found = check_shapes(
            snapshot.config,
            decode.obstacles(request.a),
            decode.obstacles(request.b),
            request.pairs,
            mode=int(request.mode),
            margin=float(request.margin),
        )
        return self._batch(found, row)

    def _batch(self, found: PosesAnswer | ShapesAnswer, row: Row) -> Answer:
        known = found.distances[np.isfinite(found.distances)]
        if len(known):
            row.distance, row.lower_bound = float(known.min()), float(np.min(found.lower_bounds))
        row.digest = _digest(found.verdicts, found.statuses, found.distances)
        return found.answer

    def _placed(self, message: Any, snapshot: Snapshot) -> tuple[Pose, Pose]:
        """Return a request's pose and its frame; without a frame, the vehicle's own pose."""
        if not message.header.frame_id:
            here = lookup.ego_pose(snapshot.config, self._transforms, snapshot.stamp)
            return here, Pose()
        frame = self._frame(message.header, snapshot)
        return fields.pose(message.pose, "pose"), frame

    def _frame(self, header: Any, snapshot: Snapshot) -> Pose:
        stamp = fields.nanoseconds(header.stamp)
        return lookup.frame_pose(
            snapshot.config, self._transforms, header.frame_id, stamp, snapshot.stamp
        )


def _digest(*arrays: Any) -> int:
    """Sum up arrays; floats by the same digits as are written of single ones."""
    total = 0
    for each in arrays:
        values = np.round(each, DIGITS) + 0.0 if each.dtype.kind == "f" else each
        total = crc32(np.ascontiguousarray(values).tobytes(), total)
    return total
