# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Why data cannot be used, or why a question cannot be answered."""

from dataclasses import dataclass, replace
from typing import Self

from ...errors import InputError
from ...verdict import Status
from ..frames.poses import FrameError

__all__ = ["Fault"]


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why data cannot be used, or why a question cannot be answered.

    Attributes
    ----------
    status : Status
        The status of an answer with this reason.
    rule : str
        What is wrong: the value, the limit, and what to do.
    source : str
        Name in ``obstacle_sources``, "footprint" or "twist_topic"; empty: it concerns all data.
    field : str
        Field of the message or of the request; empty: none.
    index : int or None
        Index in this field.
    frame, target : str
        The frame whose pose in another one is not known, and the other one; empty: none.
    """

    status: Status
    rule: str
    source: str = ""
    field: str = ""
    index: int | None = None
    frame: str = ""
    target: str = ""

    @classmethod
    def of(cls, error: InputError | FrameError) -> Self:
        """Return the reason that an error gives."""
        if isinstance(error, InputError):
            return cls(error.status, error.rule, field=error.argument, index=error.index)
        return cls(error.status, str(error), frame=error.frame, target=error.target)

    def of_source(self, name: str) -> Self:
        """Return the same reason as that of a source."""
        return replace(self, source=name)

    @property
    def message(self) -> str:
        """The text for a person."""
        place = self.field if self.index is None else f"{self.field}[{self.index}]"
        return ": ".join(filter(None, (self.source, place, self.rule)))
