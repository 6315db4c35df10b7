# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Clocks that step and drift."""


class Clock:
    """A clock as a function of the true time: it has a rate, and can step."""

    def __init__(self, true: int, value: int) -> None:
        self._true, self._value, self._rate = true, value, 1.0

    def at(self, true: int) -> int:
        """Return the time that the clock shows."""
        return self._value + round((true - self._true) * self._rate)

    def step(self, true: int, by: int) -> None:
        """Step by a time [ns]."""
        self._true, self._value = true, self.at(true) + by

    def run(self, true: int, rate: float) -> None:
        """Run at another rate from now on; 0: the clock stops."""
        self._true, self._value, self._rate = true, self.at(true), rate
