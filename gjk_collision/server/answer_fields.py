# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The fields of replies and heartbeats, from answers.

Times are in ns, messages are mappings, points and vectors are pairs, and numeric sequences are
ndarrays, or None if they are empty. `ros/messages.py` makes messages of them.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from .answers import Answer, Found, StateAnswer
from .snapshot import Snapshot

__all__ = ["info_fields", "reply_fields", "verdict_fields"]


def info_fields(snapshot: Snapshot, seconds: float = 0.0) -> dict[str, Any]:
    """Return the fields of ``msg/ReplyInfo``, with the computation time [s]."""
    return {
        "header": {"stamp": snapshot.stamp, "frame_id": snapshot.config.check_frame},
        "snapshot_id": snapshot.id,
        "oldest_data_stamp": snapshot.oldest_data_stamp,
        "footprint_age": snapshot.footprint_age,
        "max_obstacle_age": snapshot.max_obstacle_age,
        "bad_sources": list(snapshot.bad_sources),
        "config_hash": snapshot.config.hash,
        "compute_time": seconds,
        "footprint": "" if snapshot.footprint is None else snapshot.footprint_name,
    }


def verdict_fields(answer: Answer) -> dict[str, Any]:
    """Return the fields of ``msg/Verdict``."""
    return {
        "verdict": int(answer.verdict),
        "status": int(answer.status),
        "message": answer.message,
    }


def reply_fields(kind: str, found: Found | StateAnswer) -> dict[str, Any]:
    """Return the fields of a message with an answer.

    Parameters
    ----------
    kind : str
        Name of the service type, or "CollisionState".
    found : object
        The answer.

    Returns
    -------
    dict
        All fields that depend on the answer only: not the info, nor the data of ``GetSnapshot``.
    """
    fields = {"verdict": verdict_fields(found if isinstance(found, Answer) else found.answer)}
    if kind in _FIELDS:
        names, values = _FIELDS[kind]
        fields |= zip(names, values(found), strict=True)
    if getattr(found, "gradients", None) is not None:
        names, values = _GRADIENTS
        fields |= zip(names, values(found), strict=True)
    return fields


def _named(*same: str, **other: str) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """Return names of fields, and a function that returns their values in an answer.

    `same` are names that the answer has too; `other` are the attributes of the others.
    """
    return (*same, *other), attrgetter(*same, *other.values())


# The fields of each message beside the verdict. `msg/` and `srv/` describe them.
_FIELDS = {
    "Collide": _named("is_free", obstacle_id="nearest_id", obstacle_source="nearest_source"),
    "Distance": _named(
        "ids", "sources", "distances", "lower_bounds", "witness_obstacle", "directions",
        "statuses", is_free="answer.is_free", witness_ego="witness_shape",
    ),
    "CheckPoses": _named(
        "is_free", "verdicts", "statuses", "distances", "lower_bounds", "witnesses",
        "first_invalid_index", "group_first_invalid", nearest_ids="ids",
    ),
    "CheckPath": _named(
        "is_free", "first_invalid_segment", "last_valid_fraction", "first_collision_time",
        obstacle_id="id", min_distance="distance", min_distance_lower_bound="lower_bound",
    ),
    "NearestFree": _named("free_pose", "shift", "turn", is_free="answer.is_free"),
    "CheckShapes": _named(
        "verdicts", "statuses", "distances", "lower_bounds", "witnesses", "directions"
    ),
    "CollisionState": _named(
        "distance", "time_to_collision", "witness_ego", "witness_obstacle", "direction",
        distance_lower_bound="lower_bound", nearest_id="answer.nearest_id",
        nearest_source="answer.nearest_source",
    ),
}  # fmt: skip
_GRADIENTS = _named(
    gradient_ids="gradients.ids",
    gradient_distances="gradients.distances",
    gradients="gradients.gradients",
    gradient_rates="gradients.rates",
    gradient_smooth="gradients.smooth",
)
