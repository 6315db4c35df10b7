# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots as messages, ``msg/Snapshot``, to answer requests in another process.

`described` gives the fields of a message, and `Reader` makes snapshots from messages.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from .. import _core
from ..geometry import Shape
from ..region import Region
from ..verdict import Status
from . import fields
from .answers import unknown
from .config import Config
from .frames import IDENTITY
from .obstacles import Obstacles
from .snapshot import (
    Expiry,
    Fault,
    NamedFootprint,
    Placed,
    Snapshot,
    compose_scene,
    in_check_frame,
)

__all__ = ["Content", "Reader", "described", "heartbeat_facts", "obstacle_fields", "unusable"]

# Time after which a mirror answers UNKNOWN because it received no heartbeat: this number of
# periods of the heartbeat, but at least this time [s].
MISSED_HEARTBEATS = 3
LEAST_HEARTBEAT_LIMIT = 0.15

# Parameters that are fields of the message, with the same names.
PARAMETERS = (
    "base_frame", "safety_margin", "concave_policy", "prediction_policy", "prediction_horizon",
    "toi_tolerance", "max_poses", "max_future_stamp",
)  # fmt: skip

ARRAYS = (
    "ids", "kinds", "offsets", "xy", "radius", "poses", "velocities", "path_offsets",
    "path_times", "path_poses", "margins", "margin_rates",
)  # fmt: skip


def described(snapshot: Snapshot, sequence: int) -> dict[str, Any]:
    """Return the fields of ``msg/Snapshot``.

    Times are in ns, messages are dictionaries, and numeric sequences are ndarrays.

    Parameters
    ----------
    snapshot : Snapshot
        A snapshot that was just made.
    sequence : int
        Number of the message.
    """
    config, expiries = snapshot.config, snapshot.footprint_expiries
    parts = zip(snapshot.spans, snapshot.parts, strict=True)
    return {
        "info": {
            "header": {"stamp": snapshot.stamp, "frame_id": config.check_frame},
            "snapshot_id": snapshot.id,
            "oldest_data_stamp": snapshot.oldest_data_stamp,
            "footprint_age": snapshot.footprint_age,
            "max_obstacle_age": snapshot.max_obstacle_age,
            "bad_sources": list(snapshot.bad_sources),
            "config_hash": config.hash,
            "compute_time": 0.0,
            "footprint": "" if snapshot.footprint is None else snapshot.footprint_name,
        },
        "sequence": sequence,
        "verdict": _verdict(snapshot.fault),
        "data_verdict": _verdict(snapshot.data_fault),
        "footprints": _footprints(snapshot),
        "footprint_names": list(config.usable_footprints),
        "footprint_by_speed": config.is_by_speed,
        "footprint_sources": [each.source for each in expiries],
        "footprint_stamps": [each.stamp for each in expiries],
        "footprint_timeouts": np.array([each.timeout for each in expiries]),
        "footprint_receipt_ages": np.array([each.receipt_age * 1e-9 for each in expiries]),
        "obstacles": [
            obstacle_fields(name, _obstacles(part, snapshot)) for (_, name), part in parts
        ],
        **_region(snapshot),
        "sources": [each.source for each in snapshot.expiries],
        "timeouts": np.array([each.timeout for each in snapshot.expiries]),
        "receipt_ages": np.array([each.receipt_age * 1e-9 for each in snapshot.expiries]),
        "time_zero": _time_zero(snapshot),
        **{name: getattr(config, name) for name in PARAMETERS},
        "heartbeat_limit": max(MISSED_HEARTBEATS / config.state_rate, LEAST_HEARTBEAT_LIMIT),
        "static_revision": snapshot.static_revision,
    }


def _obstacles(part: Placed, snapshot: Snapshot) -> Obstacles:
    """Return the obstacles of one sender in the check frame; static ones are of time zero."""
    placed = in_check_frame(part, snapshot.config)
    return replace(placed, stamp=_time_zero(snapshot)) if part.is_static else placed


def _time_zero(snapshot: Snapshot) -> int:
    """Return time zero of the scene [ns]; 0: no list has a limit of its age."""
    return 0 if all(part.is_static for part in snapshot.parts) else snapshot.epoch


def _region(snapshot: Snapshot) -> dict[str, Any]:
    region = snapshot.scene.inside
    return {
        "region_source": snapshot.region_source,
        "region_boundary": np.empty(0) if region is None else region.boundary.ravel(),
        "region_radii": np.empty(0) if region is None else region._radii,
        "region_inflation": 0.0 if region is None else region._inflation,
    }


def _verdict(fault: Fault | None) -> dict[str, Any]:
    answer = unknown(fault or Fault(Status.SUCCESS, "complete"))
    return {
        "verdict": int(answer.verdict),
        "status": int(answer.status),
        "message": answer.message,
    }


def _footprints(snapshot: Snapshot) -> list[dict[str, Any]]:
    shapes = {each.name: each.shape for each in snapshot.footprints}
    if snapshot.footprint is not None:
        shapes[snapshot.footprint_name] = snapshot.footprint
    return [
        {
            "name": name,
            "offsets": np.cumsum([0, *map(len, shape.parts)]),
            "xy": np.concatenate(shape.parts).ravel(),
            "radius": np.array(shape.radii),
        }
        for name, shape in shapes.items()
    ]


def obstacle_fields(name: str, data: Obstacles) -> dict[str, Any]:
    """Return the fields of ``msg/ObstacleArray``, as `described` does; `name` is the sender."""
    return {
        "header": {"stamp": data.stamp, "frame_id": data.frame},
        "source": name,
        "sequence": data.sequence,
        **{name: getattr(data, name) for name in ARRAYS},
    }


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a ``msg/Snapshot``.

    Attributes
    ----------
    snapshot : Snapshot or None
        The snapshot; None: the message cannot be used.
    facts : _core.SnapshotFacts
        What decides whether the snapshot is valid.
    is_timeless : bool
        Whether the obstacles are the same at every time, because all sources are static.
    error : Exception or None
        Why the message cannot be used.
    """

    snapshot: Snapshot | None
    facts: _core.SnapshotFacts
    is_timeless: bool = False
    error: Exception | None = None


class Reader:
    """Makes snapshots from messages."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._config: Config | None = None

    def read(self, message: Any) -> Content:
        """Return the content of a ``msg/Snapshot``, or why it cannot be used."""
        try:
            is_timeless = not np.any(fields.numbers(message.timeouts))
            return Content(self._read(message), _snapshot_facts(message), is_timeless)
        except Exception as error:
            return unusable(error)

    def _read(self, message: Any) -> Snapshot:
        info, config = message.info, self._config_of(message)
        parts = tuple(Placed(fields.obstacles(each), IDENTITY, 0.0) for each in message.obstacles)
        time_zero = fields.nanoseconds(message.time_zero)
        if message.region_source:
            region = _region_of(message)
            parts = (*parts, Placed(_NO_OBSTACLES, IDENTITY, 0.0, region=region))
        ends = accumulate(len(part.obstacles) for part in parts)
        shapes = {each.name: _shape(each) for each in message.footprints}
        named = dict(shapes)
        if "footprint" in message.footprint_sources:  # it is from the topic
            named.pop(info.footprint, None)
        return Snapshot(
            id=info.snapshot_id,
            stamp=fields.nanoseconds(info.header.stamp),
            config=config,
            scene=compose_scene(parts, config, time_zero),
            footprint=shapes[info.footprint] if info.footprint else None,
            fault=_fault(message.verdict),
            oldest_data_stamp=fields.nanoseconds(info.oldest_data_stamp),
            footprint_age=info.footprint_age,
            max_obstacle_age=info.max_obstacle_age,
            bad_sources=tuple(info.bad_sources),
            epoch=time_zero,
            spans=tuple(zip(ends, (part.obstacles.source for part in parts), strict=True)),
            parts=parts,
            footprint_names=(info.footprint,) if info.footprint else (),
            footprint_expiries=tuple(_expiries_of_footprint(message)),
            footprints=tuple(NamedFootprint(*each, _NO_POINTS) for each in named.items()),
            data_fault=_fault(message.data_verdict),
            region_source=message.region_source,
        )

    def _config_of(self, message: Any) -> Config:
        """Return a configuration with the parameters of a message, and with their hash."""
        values = {name: getattr(message, name) for name in PARAMETERS}
        values["check_frame"] = message.info.header.frame_id
        names = tuple(message.footprint_names)
        key = (message.info.config_hash, names, message.footprint_by_speed, *values.values())
        if self._config is None or key != self._key:
            self._key, self._config = key, Config(**values)
            # They depend on parameters that are not known here.
            object.__setattr__(self._config, "hash", message.info.config_hash)
            object.__setattr__(self._config, "is_by_speed", message.footprint_by_speed)
            object.__setattr__(self._config, "usable_footprints", key[1])
        return self._config


_NO_OBSTACLES = Obstacles("", 0)
_NO_POINTS = np.empty((0, 2))


def _fault(verdict: Any) -> Fault | None:
    status = Status(verdict.status)
    return None if status is Status.SUCCESS else Fault(status, verdict.message)


def _region_of(message: Any) -> Region:
    segments = fields.numbers(message.region_boundary).reshape(-1, 4)
    radii = fields.numbers(message.region_radii)
    return Region._of_boundary(((), (), 0.0), segments, radii, message.region_inflation)


def _shape(message: Any) -> Shape:
    arrays = (fields.numbers(each) for each in (message.offsets, message.xy, message.radius))
    return Shape(_core.shape_from_state(*arrays))


def _snapshot_facts(message: Any) -> _core.SnapshotFacts:
    stamps = [each.header.stamp for each in message.obstacles]
    limits = [
        *_limits(
            Status.STALE_FOOTPRINT,
            message.footprint_sources,
            message.footprint_stamps,
            message.footprint_timeouts,
            message.footprint_receipt_ages,
        ),
        *_limits(
            Status.STALE_OBSTACLES,
            message.sources,
            stamps,
            message.timeouts,
            message.receipt_ages,
        ),
    ]
    return _core.SnapshotFacts(
        id=message.info.snapshot_id,
        sequence=message.sequence,
        config_hash=message.info.config_hash,
        stamp=fields.nanoseconds(message.info.header.stamp),
        heartbeat_limit=message.heartbeat_limit,
        static_revision=message.static_revision,
        max_future_stamp=message.max_future_stamp,
        limits=limits,
        status=message.verdict.status,
        message=message.verdict.message,
        data_status=message.data_verdict.status,
    )


def heartbeat_facts(message: Any) -> _core.HeartbeatFacts:
    """Return what a ``msg/CollisionState`` says about the validity of a snapshot."""
    return _core.HeartbeatFacts(
        counter=message.counter,
        id=message.info.snapshot_id,
        sequence=message.snapshot_sequence,
        config_hash=message.info.config_hash,
        stamp=fields.nanoseconds(message.header.stamp),
        status=message.verdict.status,
        message=message.verdict.message,
    )


def _expiries_of_footprint(message: Any) -> Iterator[Expiry]:
    for source, stamp, timeout, age in zip(
        message.footprint_sources,
        message.footprint_stamps,
        message.footprint_timeouts,
        message.footprint_receipt_ages,
        strict=True,
    ):
        yield Expiry(source, fields.nanoseconds(stamp), float(timeout), round(age * 1e9))


def _limits(stale: Status, *columns: Any) -> Iterator[tuple[str, int, int, float, float]]:
    for source, stamp, timeout, age in zip(*columns, strict=True):
        if not timeout:
            continue
        yield source, int(stale), fields.nanoseconds(stamp), timeout, age


def unusable(error: Exception) -> Content:
    """Return the content of a message that cannot be used."""
    facts = _core.SnapshotFacts(
        id=0, sequence=0, config_hash=0, stamp=0, static_revision=0,
        heartbeat_limit=0.0, max_future_stamp=0.0, limits=[], status=int(Status.INTERNAL_ERROR),
        message=f"the message on ~/snapshot cannot be used: {error!r}",
        data_status=int(Status.INTERNAL_ERROR),
    )  # fmt: skip
    return Content(None, facts, error=error)
