# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots: the footprint and the obstacles at one time, as a shape and a scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InputError
from ...geometry import Shape
from ...region import Region
from ...scene import Scene
from ...verdict import Status
from ..parameters.config import Config
from .faults import Fault
from .footprints import NamedFootprint
from .inbox import AgeLimit
from .placing import Sender
from .twist import Twist

__all__ = ["Report", "Snapshot", "empty_snapshot"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The footprint and the obstacles at one time. A snapshot never changes.

    Attributes
    ----------
    id : int
        Two snapshots with the same id have the same footprint, obstacles and configuration. The
        upper 32 bits are the epoch of the `World`, the lower 32 bits are a counter. 0: none.
    stamp : int
        Time of the snapshot [ns].
    config : Config
        Parameters at that time.
    scene : Scene
        The obstacles of all sources with usable data, in `config.check_frame`.
    footprint : Shape or None
        The footprint in `config.base_frame`, with the directional margins. None: not known.
    fault : Fault or None
        Why the snapshot is incomplete. No answer is FREE if there is a fault. None: complete.
    oldest_data_stamp : int
        Stamp of the oldest data in use [ns]; 0: no data.
    footprint_age : float
        Age of the footprint [s] at `stamp`, or at the time when the answer is sent (see
        `World.confirm`). 0: footprint from a parameter; NaN: no footprint.
    max_obstacle_age : float
        Age of the oldest obstacle message [s] at the same time, even if it is not used. NaN: no
        message.
    bad_sources : tuple of str
        Names of the required and optional sources whose data is missing, stale or invalid.
    epoch : int
        Time zero of the scene [ns]. Times in the scene are seconds after this.
    steady : int
        Time of the snapshot by the steady clock [ns].
    senders : tuple of Sender
        The obstacles of each sender, in the order of the scene.
    outline : (n, 2) float64 or None
        Points of the footprint in `config.base_frame` [m], without the directional margins.
    outline_stamp : int
        Stamp of a footprint from the topic [ns]; otherwise `stamp`.
    footprint_names : tuple of str
        Name of `footprint`; empty: it is not known. If a request uses several footprints, the
        names of all that are known, see `chosen_among`.
    footprints : tuple of NamedFootprint
        All footprints from the parameters, which `chosen` can return; empty if every answer is
        UNKNOWN.
    data_fault : Fault or None
        The first fault that does not concern `footprint`.
    twist : Twist, Fault or None
        The twist of the base frame, or why it is not known; None: ``twist_topic`` is not set.
    footprint_limits : tuple of AgeLimit
        When the messages become too old that the footprints of `footprint_names` depend on: a
        footprint from the topic, or the twist that selected it.
    static_revision : int
        Increases with each message of a static source, and with each correction of a static
        transform; 0: there was neither.
    seen : tuple of (str, Region)
        What was seen, and the space of the vehicle itself, with names. The scene has it only with
        ``require_seen``.
    origin : Snapshot or None
        The snapshot without the choice of a footprint, if `chosen` returned this one.
    among : tuple of Snapshot
        The snapshot with each footprint of the request, if `chosen_among` returned this one.
    """

    id: int
    stamp: int
    config: Config
    scene: Scene
    footprint: Shape | None
    fault: Fault | None
    oldest_data_stamp: int
    footprint_age: float
    max_obstacle_age: float
    bad_sources: tuple[str, ...]
    epoch: int
    steady: int = 0
    senders: tuple[Sender, ...] = ()
    outline: Floats | None = None
    outline_stamp: int = 0
    footprint_names: tuple[str, ...] = ()
    footprints: tuple[NamedFootprint, ...] = ()
    data_fault: Fault | None = None
    twist: Twist | Fault | None = None
    footprint_limits: tuple[AgeLimit, ...] = ()
    static_revision: int = 0
    seen: tuple[tuple[str, Region], ...] = ()
    origin: "Snapshot | None" = None
    among: tuple["Snapshot", ...] = ()
    # The result of `cores`. A copy with other values has its own.
    _cores: list[tuple[_core.Snapshot, ...]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def footprint_name(self) -> str:
        """`footprint_names`, separated by ", "."""
        return ", ".join(self.footprint_names)

    def chosen(self, name: str, field: str = "footprint", index: int | None = None) -> "Snapshot":
        """Return a copy with the footprint of this name.

        Parameters
        ----------
        name : str
            Name in ``footprint_names``, or `DEFAULT_FOOTPRINT`. Empty: the footprint of a request
            that names none.
        field : str
            Field of the request with the name, for the error.
        index : int, optional
            Index in this field.

        Raises
        ------
        InputError
            There is no footprint of this name.
        """
        try:
            config = self.config
            is_named = _core.choose_footprint(name, config.usable_footprints, config.is_selected)
        except InputError as error:
            raise InputError(error.status, field, index, error.rule) from None
        if not is_named:
            return self.origin or self
        for each in self.footprints:
            if each.name == name:
                return replace(
                    self,
                    origin=self.origin or self,
                    footprint=each.shape,
                    outline=each.outline,
                    outline_stamp=self.stamp,
                    footprint_names=(name,),
                    footprint_limits=(),
                    footprint_age=0.0,
                    fault=self.data_fault,
                )
        return self

    def chosen_among(self, names: Sequence[str]) -> "Snapshot":
        """Return a copy for a request whose poses have footprints of several names.

        It has the first footprint that is from the parameters, and depends on the messages of all.

        Parameters
        ----------
        names : sequence of str
            Names as for `chosen`, at least one; the field ``footprints`` of the request.

        Raises
        ------
        InputError
            A name is unknown, or there is none.
        """
        if not names:
            rule = "must have at least one name (got none)"
            raise InputError(Status.INVALID_INPUT, "footprints", None, rule)
        found = [self.chosen(each, "footprints", i) for i, each in enumerate(names)]
        limits = dict.fromkeys(limit for each in found for limit in each.footprint_limits)
        known = dict.fromkeys(name for each in found for name in each.footprint_names)
        ages = [each.footprint_age for each in found if each.footprint is not None]
        return replace(
            next((each for each in found if each.origin is not None), found[0]),
            footprint_names=tuple(known),
            footprint_limits=tuple(limits),
            footprint_age=max(ages, default=nan),
            among=tuple(found),
        )

    @property
    def region_source(self) -> str:
        """Name of the sender of the region; empty: there is no region."""
        return next((each.name for each in self.senders if each.region is not None), "")

    def known_until(self, stamp: int) -> float:
        """Return until what time obstacles are predicted, in s after the stamp of a request.

        The prediction horizon begins at the stamp of the oldest data in use. After the horizon no
        obstacle is predicted, and new obstacles may have appeared.

        Parameters
        ----------
        stamp : int
            Stamp of the request [ns]; 0: the stamp of the snapshot.
        """
        return self.cores()[0].known_until(stamp)

    def cores(self) -> tuple[_core.Snapshot, ...]:
        """Return the snapshot for the rules of the kernel, with each footprint of the request."""
        if not self._cores:  # several threads may compute it at the same time; the first one stays
            self._cores.append(tuple(each._only_core() for each in self.among or (self,)))
        return self._cores[0]

    def _only_core(self) -> "_core.Snapshot":
        config, fault, shape = self.config, self.fault, self.footprint
        return _core.Snapshot(
            scene=self.scene._core,
            footprint=None if shape is None else shape._core,
            stamp=self.stamp,
            epoch=self.epoch,
            horizon=config.prediction_horizon,
            safety_margin=config.safety_margin,
            toi_tolerance=config.toi_tolerance,
            max_poses=config.max_poses,
            fault=None if fault is None else (int(fault.status), fault.message),
            ids=self.scene._id_of,
            senders=[(len(each.obstacles), each.name) for each in self.senders],
            region_source=self.region_source,
        )

    def invalidated(self, fault: Fault) -> "Snapshot":
        """Return a copy without a footprint. Every answer from it is UNKNOWN with the fault."""
        return replace(
            self,
            footprint=None,
            fault=fault,
            data_fault=fault,
            footprints=(),
            origin=None,
            among=tuple(each.invalidated(fault) for each in self.among),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The state of one sender.

    Attributes
    ----------
    source : str
        Name in ``obstacle_sources``, or "footprint".
    sender : str
        Name of the sender; empty: no message was received.
    fault : Fault or None
        Why its data is not used; None: its data is used.
    is_excused : bool
        Whether the fault is excused, because the source is optional. Answers can still be FREE.
    age : float
        Age, by its stamp, of the message that is used [s]. This is not the last message while
        the transform of the last one is not known yet. If no message is used: age of the last one.
        NaN: no message, or no stamp is known.
    count : int
        Number of obstacles, or of points of a footprint, in the same message.
    received, dropped : int
        Number of messages since activation, and number of those that were dropped.
    waiting : Obstacles, Footprint, Twist or None
        The last message, if it waits for its transform while an earlier one is used.
    """

    source: str
    sender: str
    fault: Fault | None
    is_excused: bool = False
    age: float = nan
    count: int = 0
    received: int = 0
    dropped: int = 0
    waiting: Any = field(default=None, compare=False, repr=False)


def empty_snapshot(config: Config, fault: Fault, stamp: int) -> Snapshot:
    """Return a snapshot without data for a time [ns], with the reason."""
    return Snapshot(0, stamp, config, Scene([]), None, fault, 0, nan, nan, (), stamp)
