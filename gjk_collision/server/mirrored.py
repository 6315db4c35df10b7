# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots as messages, ``msg/Snapshot``, to answer requests in another process.

`described` gives the fields of a message, and `Mirror` makes snapshots from messages.
"""

from typing import Any

import numpy as np

from ..verdict import Status
from .answers import unknown
from .obstacles import Obstacles
from .snapshot import Fault, Snapshot, in_check_frame

__all__ = ["described", "obstacle_fields"]

# Time after which a mirror answers UNKNOWN because it received no heartbeat: this number of
# periods of the heartbeat, but at least this time [s].
MISSED_HEARTBEATS = 3
LEAST_HEARTBEAT_LIMIT = 0.15
# Time that a snapshot may be under way after a heartbeat has named it [s].
LAG_LIMIT = 0.1

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
    config = snapshot.config
    expiry = snapshot.footprint_expiry
    answer = unknown(snapshot.fault or Fault(Status.SUCCESS, "complete"))
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
        },
        "sequence": sequence,
        "verdict": {
            "verdict": int(answer.verdict),
            "status": int(answer.status),
            "message": answer.message,
        },
        "footprints": [] if snapshot.footprint is None else [_footprint(snapshot)],
        "footprint_stamp": 0 if expiry is None else expiry.stamp,
        "footprint_timeout": 0.0 if expiry is None else expiry.timeout,
        "footprint_receipt_age": 0.0 if expiry is None else expiry.receipt_age * 1e-9,
        "obstacles": [
            obstacle_fields(name, in_check_frame(part, config)) for (_, name), part in parts
        ],
        "sources": [each.source for each in snapshot.expiries],
        "timeouts": np.array([each.timeout for each in snapshot.expiries]),
        "receipt_ages": np.array([each.receipt_age * 1e-9 for each in snapshot.expiries]),
        "time_zero": snapshot.epoch if snapshot.parts else 0,
        **{name: getattr(config, name) for name in PARAMETERS},
        "heartbeat_limit": max(MISSED_HEARTBEATS / config.state_rate, LEAST_HEARTBEAT_LIMIT),
        "lag_limit": LAG_LIMIT,
    }


def _footprint(snapshot: Snapshot) -> dict[str, Any]:
    assert snapshot.footprint is not None
    parts = snapshot.footprint.parts
    return {
        "name": "",
        "offsets": np.cumsum([0, *map(len, parts)]),
        "xy": np.concatenate(parts).ravel(),
        "radius": np.array(snapshot.footprint.radii),
    }


def obstacle_fields(name: str, data: Obstacles) -> dict[str, Any]:
    """Return the fields of ``msg/ObstacleArray``, as `described` does; `name` is the sender."""
    return {
        "header": {"stamp": data.stamp, "frame_id": data.frame},
        "source": name,
        "sequence": data.sequence,
        **{name: getattr(data, name) for name in ARRAYS},
    }
