# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The transform tree of a recording, which counts the transforms that it does not use."""

from ..server.transforms import Placement, TransformTree

__all__ = ["RecordedTransforms"]


class RecordedTransforms(TransformTree):
    """A transform tree with notes for the report."""

    def __init__(self) -> None:
        super().__init__()
        self._left_out: dict[str, tuple[int, str]] = {}  # why -> how many, the first child frame

    def insert(
        self, parent: str, child: str, stamp: int, placement: Placement, *, static: bool
    ) -> str:
        """Insert a transform, and count it if it is not used."""
        why = super().insert(parent, child, stamp, placement, static=static)
        if why:
            count, first = self._left_out.get(why, (0, child))
            self._left_out[why] = count + 1, first
        return why

    def notes(self) -> list[str]:
        """Return how many transforms were not used, and why."""
        return [
            f"{count} transforms were not used: {why} (the first child frame is '{first}')"
            for why, (count, first) in self._left_out.items()
        ]
