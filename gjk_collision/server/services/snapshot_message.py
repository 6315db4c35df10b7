# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots as messages, ``msg/Snapshot``, to answer requests in another process.

`gjk/rules/received_snapshot.hpp` reads them.
"""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.faults import Fault
from ..data.obstacles import ARRAYS, Obstacles
from ..data.placing import Sender, in_check_frame, time_zero
from ..data.snapshot import Snapshot
from .answers import COMPLETE, info_fields, refused

__all__ = ["data_fields", "described", "obstacle_fields"]

# Time after which a mirror answers UNKNOWN because it received no heartbeat: this number of
# periods of the heartbeat, but at least this time [s].
MISSED_HEARTBEATS = 3
LEAST_HEARTBEAT_LIMIT = 0.15

# Parameters that are fields of the message, with the same names.
PARAMETERS = (
    "base_frame", "safety_margin", "concave_policy", "prediction_horizon", "toi_tolerance",
    "max_poses", "max_future_stamp",
)  # fmt: skip

CONCAVE = 1  # as in msg/ObstacleArray


def described(snapshot: Snapshot, sequence: int) -> dict[str, Any]:
    """Return the fields of ``msg/Snapshot``, as `Answer.fields`.

    Parameters
    ----------
    snapshot : Snapshot
        A snapshot that was just made.
    sequence : int
        Number of the message.
    """
    config, zero = snapshot.config, time_zero(snapshot.senders) or 0
    return {
        "info": info_fields(snapshot),
        "sequence": sequence,
        "verdict": _verdict(snapshot.fault),
        "data_verdict": _verdict(snapshot.data_fault),
        "footprints": _footprints(snapshot),
        "footprint_names": list(config.usable_footprints),
        "footprint_selected": config.is_selected,
        "footprint_limits": [asdict(each) for each in snapshot.footprint_limits],
        "senders": [_sender(each, snapshot, zero) for each in snapshot.senders],
        **_region(snapshot),
        "require_seen": config.require_seen,
        "seen": [
            {"source": name, "boundary": region.boundary.ravel(), "radii": region._radii}
            for name, region in (snapshot.seen if config.require_seen else ())
        ],
        "time_zero": zero,
        **{name: getattr(config, name) for name in PARAMETERS},
        "heartbeat_limit": max(MISSED_HEARTBEATS / config.state_rate, LEAST_HEARTBEAT_LIMIT),
        "static_revision": snapshot.static_revision,
    }


def _sender(sender: Sender, snapshot: Snapshot, zero: int) -> dict[str, Any]:
    """Return the fields of ``msg/Sender``; static obstacles are of time zero [ns]."""
    source, config = sender.source, snapshot.config
    data = in_check_frame(sender.obstacles, sender.pose, source, config, source.inflation)
    data = replace(data, stamp=zero) if source.static else data
    return {
        "age_limit": asdict(sender.age_limit(snapshot.steady)),
        "obstacles": obstacle_fields(sender.name, data),
        "prediction_policy": config.policy_of(source),
    }


def _region(snapshot: Snapshot) -> dict[str, Any]:
    region = snapshot.scene.inside
    return {
        "region_source": snapshot.region_source,
        "region_boundary": np.empty(0) if region is None else region.boundary.ravel(),
        "region_radii": np.empty(0) if region is None else region._radii,
        "region_inflation": 0.0 if region is None else region._inflation,
    }


def _verdict(fault: Fault | None) -> dict[str, Any]:
    return refused("", fault or COMPLETE).verdict_fields()


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


def data_fields(snapshot: Snapshot) -> dict[str, Any]:
    """Return the fields of ``srv/GetSnapshot`` with data, of a snapshot, complete or not."""
    named = snapshot.footprints
    fields = {
        "footprint_names": [each.name for each in named],
        "footprints": _outlines(
            "footprints",
            snapshot,
            snapshot.stamp,
            [each.outline for each in named],
            [each.shape.radius for each in named],
        ),
        "obstacles": [
            obstacle_fields(
                each.name,
                in_check_frame(each.received, each.pose, each.source, snapshot.config, 0.0),
            )
            for each in snapshot.senders
        ],
    }
    if snapshot.outline is not None:
        radius = snapshot.footprint.radius if snapshot.footprint else 0.0
        fields["footprint"] = _outlines(
            "footprint", snapshot, snapshot.outline_stamp, [snapshot.outline], [radius]
        )
    return fields


def _outlines(
    name: str,
    snapshot: Snapshot,
    stamp: int,
    outlines: list[npt.NDArray[np.float64]],
    radii: list[float],
) -> dict[str, Any]:
    """Return the fields of ``msg/ObstacleArray`` of footprints in the base frame."""
    counts = [len(each) for each in outlines]
    return {
        "header": {"stamp": stamp, "frame_id": snapshot.config.base_frame},
        "source": name,
        "ids": np.arange(len(counts)),
        "kinds": np.array([CONCAVE if count > 2 else 0 for count in counts]),
        "offsets": np.cumsum([0, *counts]),
        "xy": np.concatenate([np.empty((0, 2)), *outlines]),
        "radius": np.array(radii),
    }
