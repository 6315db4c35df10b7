# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Counts over the rows of one replay. The memory does not grow with the number of rows."""

from collections import Counter
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any

from ..replay.events import LEAST
from ..replay.rows import Row
from ..verdict import Status, Verdict

__all__ = ["Counts"]


@dataclass
class Counts:
    """Counts of verdicts and statuses, and the extreme values.

    Attributes
    ----------
    stamps : int
        Number of answers for the vehicle's own pose.
    data_stamps : int
        Number of those answers that were computed because obstacles were received.
    requests : int
        Number of recorded requests that were answered again.
    free_without_success : int
        Number of answers that are FREE without SUCCESS. It must be 0.
    replies_changed : dict
        Recorded verdict and new verdict, if they differ -> number of replies and first time [s].
    """

    stamps: int = 0
    data_stamps: int = 0
    requests: int = 0
    free_without_success: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    statuses: Counter[Status] = field(default_factory=Counter)
    request_verdicts: Counter[Verdict] = field(default_factory=Counter)
    replies_compared: int = 0
    replies_changed: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    closest: Row | None = None
    closest_time: float = nan

    def add(self, t: float, row: Row) -> None:
        """Count a row at the time `t` [s] after the begin of the bag."""
        self.free_without_success += (
            row.verdict is Verdict.FREE and row.status is not Status.SUCCESS
        )
        if not row.is_state:
            self._add_request(t, row)
            return
        self.stamps += 1
        self.data_stamps += row.cause == "data"
        self.verdicts[row.verdict] += 1
        self.statuses[row.status] += 1
        if row.distance < (self.closest.distance - LEAST if self.closest else inf):
            self.closest, self.closest_time = row, t

    def _add_request(self, t: float, row: Row) -> None:
        self.requests += 1
        self.request_verdicts[row.verdict] += 1
        if row.recorded:
            self.replies_compared += 1
            if row.recorded != row.verdict.name:
                changed = row.recorded, row.verdict.name
                self.replies_changed.setdefault(changed, [0, t])[0] += 1

    def to_dict(self) -> dict[str, Any]:
        """Return all counts and extreme values as plain data."""
        closest = None
        if self.closest is not None:
            closest = {
                "time": round(self.closest_time, 9),
                "distance": round(self.closest.distance, 9),
                "id": self.closest.nearest_id,
                "source": self.closest.nearest_source,
            }
        return {
            "stamps": self.stamps,
            "data_stamps": self.data_stamps,
            "verdicts": {each.name: self.verdicts[each] for each in Verdict},
            "statuses": {each.name: n for each, n in sorted(self.statuses.items())},
            "closest": closest,
            "requests": {
                "count": self.requests,
                "verdicts": {each.name: self.request_verdicts[each] for each in Verdict},
                "replies_compared": self.replies_compared,
                "replies_changed": {
                    f"{old} to {new}": {"count": count, "first": round(t, 6)}
                    for (old, new), (count, t) in sorted(self.replies_changed.items())
                },
            },
        }
