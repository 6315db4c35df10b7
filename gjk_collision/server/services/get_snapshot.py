# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/GetSnapshot``: the data that answers are from."""

from typing import Any

from ... import _core
from ..data.snapshot import Snapshot
from ..frames.poses import Transforms
from .answers import COMPLETE, Answer
from .poses import NO_LIMIT, Data
from .service import Service
from .snapshot_message import data_fields

__all__ = ["GetSnapshot"]


class GetSnapshot(Service):
    """A request of ``~/get_snapshot``."""

    name = "get_snapshot"
    needs_footprint = False

    @property
    def required_id(self) -> int:
        """Id of the snapshot that the request requires; 0: the latest."""
        return int(self.message.snapshot_id)

    def look_up(self, snapshot: Snapshot, transforms: Transforms) -> None:
        """Note whether the snapshot is complete."""
        self._fault = snapshot.fault or COMPLETE

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Return whether the snapshot is complete."""
        return self.refused(self._fault)

    def fields(self, answer: Answer, snapshot: Snapshot | None) -> dict[str, Any]:
        """Return the fields of the reply, also of a snapshot that is not complete."""
        return answer.fields() | ({} if snapshot is None else data_fields(snapshot))
