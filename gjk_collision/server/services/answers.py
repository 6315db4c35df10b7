# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answer to a request or of a heartbeat, with the names of its message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ... import _core
from ...record import Record
from ...verdict import Status, Verdict, no_truth_value
from ..data.faults import Fault
from ..data.snapshot import Snapshot

__all__ = ["COMPLETE", "Answer", "answer_of", "fault_of", "info_fields", "refused"]

# Stands for the fault of data that is complete, in messages that are not about a question.
COMPLETE = Fault(Status.SUCCESS, "")
_VERDICTS = tuple(Verdict)
_NO_RESULTS = _core.no_results()
_STATUSES = {int(each): each for each in Status}


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Record):
    """A verdict with its reason, the obstacle that determines it, and the results.

    A result can also be read as an attribute. Arrays are ndarrays, with a row per obstacle, pose
    or pair.
    """

    verdict: Verdict
    status: Status
    message: str = ""  # for a person; empty if the status is SUCCESS
    nearest_id: int = -1  # of the obstacle; -1: none
    nearest_source: str = ""
    # The fields of the message that depend on this answer, beside `verdict`, by their names.
    results: dict[str, Any] = field(default_factory=dict)

    __bool__ = no_truth_value("`.is_free`")

    def __getattr__(self, name: str) -> Any:
        """Return a result."""
        try:
            return self.__dict__["results"][name]
        except KeyError:
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(text) from None

    @property
    def is_free(self) -> bool:
        """Whether the verdict is FREE and the status is SUCCESS."""
        return self.verdict is Verdict.FREE and self.status is Status.SUCCESS

    def verdict_fields(self) -> dict[str, Any]:
        """Return the fields of ``msg/Verdict``."""
        names = "verdict", "status", "message"
        return dict(zip(names, (int(self.verdict), int(self.status), self.message), strict=True))

    def fields(self) -> dict[str, Any]:
        """Return the fields of the message: points are pairs, and numbers are ndarrays."""
        return {"verdict": self.verdict_fields(), **self.results}


def answer_of(found: tuple[int, int, str, int, str, dict[str, Any]]) -> Answer:
    """Return the answer of the rules, from the values of the fields of `Answer`."""
    verdict, status, message, obstacle, source, results = found
    return Answer(_VERDICTS[verdict], _status(status), message, obstacle, source, results)


def refused(kind: str, fault: Fault) -> Answer:
    """Return an answer UNKNOWN with a fault as its reason, and without results.

    `kind` is the name of a service type, "CollisionState", or another name if there are no fields.
    """
    results = dict(_NO_RESULTS.get(kind, {}))
    return Answer(Verdict.UNKNOWN, fault.status, fault.message, results=results)


def fault_of(pair: tuple[int, str] | None) -> Fault | None:
    """Return a fault of the kernel, which is a number and a text; None: there is none."""
    return None if pair is None else Fault(_status(pair[0]), pair[1])


def info_fields(snapshot: Snapshot, seconds: float = 0.0) -> dict[str, Any]:
    """Return the fields of ``msg/ReplyInfo``, with the computation time [s]."""
    return {
        "header": {"stamp": snapshot.stamp, "frame_id": snapshot.config.check_frame},
        "snapshot_id": snapshot.id,
        "oldest_data_stamp": snapshot.oldest_data_stamp,
        "footprint_age": snapshot.footprint_age,
        "max_obstacle_age": snapshot.max_obstacle_age,
        "bad_sources": list(snapshot.bad_sources),
        "config_hash": snapshot.config.hash,
        "compute_time": seconds,
        "footprint": "" if snapshot.footprint is None else snapshot.footprint_name,
    }


def _status(number: int) -> Status:
    """Return the status with a number of a message; UNDEFINED: this version has no such status."""
    return _STATUSES.get(number, Status.UNDEFINED)
