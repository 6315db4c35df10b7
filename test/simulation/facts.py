# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Plain values that the plan, the runner and the oracle share. They know no code of the package.

Times are in ns. A time without further name is the true time, which no process can read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SECOND = 1_000_000_000
MS = 1_000_000
BEAMS, MAX_RANGE = 24, 9.0  # of a scan; m
CELLS, CELL = 16, 0.5  # cells in each direction of a grid; m


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle with rounded corners [m]; half sizes 0: a circle. vx, vy in m/s."""

    x: float
    y: float
    hx: float
    hy: float
    r: float
    vx: float = 0.0
    vy: float = 0.0
    is_region: bool = False  # the vehicle must stay inside


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the plan lets happen at a time."""

    at: int
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole history before it happens. The same plan always has the same outcome."""

    seed: int
    faults: tuple[str, ...]  # the kinds of faults that are switched on
    parameters: Mapping[str, Any]
    is_simulated: bool  # whether each step of the ROS clock is reported, as by /clock
    mirrors: int
    length: int
    events: tuple[Event, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Message:
    """A message of a sender on its way to the node."""

    kind: str  # list, footprint, twist; transforms: mount (static), tf, ego
    sent: int
    stamp: int  # common ROS clock
    source: str = ""
    sender: str = ""
    number: int = 0
    frame: str = "odom"
    boxes: tuple[Box, ...] = ()
    size: tuple[float, float] = (0.0, 0.0)  # half sizes of the footprint
    speed: float = 0.0
    place: tuple[float, float] = (0.0, 0.0)  # of a frame, or of a grid
    pitch: float = 0.0  # rad, of a frame
    bad: str = ""  # value, shape or undecodable
    returns: tuple[tuple[float, float], ...] = ()  # of a scan: beam, range; of a grid: row, column
    is_list: bool = True  # not a scan and not a grid
    is_grid: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether it cannot be converted, so that its sender is not known."""
        return bool(self.bad) and (
            self.bad == "undecodable" or self.kind == "twist" or not self.is_list
        )


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a service or a mirror: poses without a turn, and how."""

    service: str  # CheckPoses, CheckPath, Collide, Distance or NearestFree
    poses: tuple[tuple[float, float], ...]
    names: tuple[str, ...] = ()  # of footprints; empty: the default one
    which: tuple[int, ...] = ()
    times: tuple[float, ...] = ()
    margin: float = 0.0
    frame: str = "odom"  # empty: the present pose of the vehicle
    is_stamped: bool = False  # for a time, not for the newest pose of the frame

    def name_at(self, index: int) -> str:
        """Return the name of the footprint for a pose; empty: that of a request without names."""
        if not self.names:
            return ""
        return self.names[self.which[index] if self.which else 0]


class Violation(BaseException):
    """An answer that the oracle cannot justify. The package's `except Exception` passes it on."""
