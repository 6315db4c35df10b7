# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of a recording that is judged."""

from dataclasses import dataclass
from math import inf

from .case_fields import CaseError

__all__ = ["TOLERANCE", "Span"]

# s. The page of a replay shows times to the microsecond.
TOLERANCE = 5e-7


@dataclass(frozen=True)
class Span:
    """The times from `begin` to `end`, both included, after the begin of the bag [s].

    Raises
    ------
    CaseError
        `begin` is not before `end`, or it is negative.
    """

    begin: float = 0.0
    end: float = inf

    def __post_init__(self) -> None:
        if not self.begin >= 0.0:
            raise CaseError(f"--from: must be >= 0 (got {self.begin:g})")
        if not self.begin < self.end:
            raise CaseError(f"--to: must be > --from, which is {self.begin:g} (got {self.end:g})")

    def __contains__(self, t: float) -> bool:
        return self.begin - TOLERANCE <= t <= self.end + TOLERANCE

    def __str__(self) -> str:
        return f"from {self.begin:g} s to {'the end' if self.end == inf else f'{self.end:g} s'}"

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole recording."""
        return self == Span()

    def is_after(self, t: float) -> bool:
        """Return whether the time `t` [s] is after the span."""
        return t > self.end + TOLERANCE

    def check(self, name: str, seconds: float) -> None:
        """Raise an error if the span is not inside a recording of a duration [s]."""
        for option, value in (("--from", self.begin), ("--to", self.end)):
            if value != inf and value > seconds + TOLERANCE:
                rule = f"must be <= {seconds:.6f}, the duration of {name} in seconds"
                raise CaseError(f"{option}: {rule} (got {value:g})")
