# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between two recordings: the first message of a topic that differs."""

from collections.abc import Iterator
from itertools import dropwhile, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ..server.adapters import CONVERTERS, footprint
from ..server.data.obstacles import Obstacles
from ..server.frames.fields import nanoseconds
from ..server.frames.poses import Pose
from ..server.parameters.config import Config
from .bag import Bag, Message
from .interfaces import TF_MESSAGE
from .topics import Topics

__all__ = ["first_change"]

# Number of messages in which a message that is recorded at another time is searched.
SEARCHED = 500

# Number of elements of a message that are named.
LISTED = 3

# Points whose changes differ by at most this are moved together [m].
SAME = 1e-6


def first_change(
    old: Bag, new: Bag, topic: str, begin: int, topics: Topics, config: Config
) -> str:
    """Return how the first message of a topic that differs has changed; empty: none was found.

    Messages from the log time `begin` [ns] on are read. The topics and the parameters are those
    of the replay of `new`.
    """
    a, b = ([*islice(_since(bag, topic, begin), SEARCHED)] for bag in (old, new))
    size = next((i for i in range(max(len(a), len(b))) if a[i : i + 1] != b[i : i + 1]), None)
    if size is None:
        return ""
    a, b = a[size:], b[size:]
    if a and b and a[0].time == b[0].time:
        t = _time(a[0], old)
        return _contents(old.decode(a[0]), new.decode(b[0]), a[0], topics, config, t)
    is_less = not b or bool(a and a[0].time < b[0].time)
    message = a[0] if is_less else b[0]
    t = _time(message, old)
    again = next((each for each in (b if is_less else a) if each.data == message.data), None)
    if again is None:
        return f"{t} is {'missing' if is_less else 'new'}"
    late = (again.time - message.time) * (1e-9 if is_less else -1e-9)
    return f"{t} is recorded {abs(late):.3f} s {'later' if late > 0.0 else 'earlier'}"


def _time(message: Message, bag: Bag) -> str:
    return f"the message of {(message.time - bag.begin) * 1e-9:.3f} s"


def _since(bag: Bag, topic: str, begin: int) -> Iterator[Message]:
    return dropwhile(lambda each: each.time < begin, bag.messages([topic]))


def _contents(old: Any, new: Any, message: Message, topics: Topics, config: Config, t: str) -> str:
    """Return the difference between two decoded messages of one log time."""
    a, b = (_things(each, message, topics, config) for each in (old, new))
    texts = []
    if a.keys() != b.keys():
        for names, word in ((a.keys() - b.keys(), "missing"), (b.keys() - a.keys(), "new")):
            are = "is" if len(names) == 1 else "are"
            texts += [f"{_listed(sorted(names))} {are} {word}"] if names else []
        kind = "transforms" if message.kind == TF_MESSAGE else "obstacles"
        texts[-1] += f" ({len(a)} -> {len(b)} {kind})"
    changes = [text for name in a if name in b and (text := _change(name, a[name], b[name]))]
    texts += [_listed(changes)] if changes else []
    stamps = [nanoseconds(m.header.stamp) for m in (old, new) if hasattr(m, "header")]
    if stamps and stamps[0] != stamps[1]:
        texts.append(f"stamp moved by {(stamps[1] - stamps[0]) * 1e-9:.3f} s")
    return f"{t}: {', '.join(texts) or 'other values'}"


def _listed(texts: list[str]) -> str:
    more = [f"and {len(texts) - LISTED} more"] if len(texts) > LISTED else []
    return ", ".join(texts[:LISTED] + more)


_Thing = tuple[npt.NDArray[np.float64], float]


def _change(name: str, old: _Thing, new: _Thing) -> str:
    """Return how points and a radius have changed; empty: they have not."""
    texts = []
    if len(old[0]) != len(new[0]):
        texts.append(f"{len(old[0])} -> {len(new[0])} points")
    elif (old[0] != new[0]).any():
        by = new[0] - old[0]
        is_shift = bool((np.ptp(by, axis=0) <= SAME).all())
        far = np.hypot(*by.T).max()
        texts.append(f"moved by {far:.3g} m" if is_shift else f"points moved by up to {far:.3g} m")
    if old[1] != new[1]:
        texts.append(f"radius {old[1]:g} -> {new[1]:g} m")
    return f"{name} {' and '.join(texts)}" if texts else ""


def _things(fields: Any, message: Message, topics: Topics, config: Config) -> dict[str, _Thing]:
    """Return the points [m] and the radius [m] of each obstacle, footprint or transform."""
    if message.kind == TF_MESSAGE:
        return {
            f"{each.header.frame_id} -> {each.child_frame_id}":
            (np.array([[each.transform.translation.x, each.transform.translation.y]]), 0.0)
            for each in fields.transforms
        }  # fmt: skip
    if message.topic == topics.footprint:
        return {"footprint": (footprint(fields, config).points, 0.0)}
    for name in topics.obstacles.get(message.topic, ()):
        source = config.source(name)
        if message.kind != source.type:
            return {}  # an update of a grid
        return _of_obstacles(CONVERTERS[source.type](fields, config, source))
    return {}


def _of_obstacles(obstacles: Obstacles) -> dict[str, _Thing]:
    found, points = {}, obstacles.xy.reshape(-1, 2)
    for i, number in enumerate(obstacles.ids.tolist()):
        own = points[slice(*obstacles.offsets[i : i + 2].tolist())]
        if len(obstacles.poses):
            own = Pose(*obstacles.poses[3 * i : 3 * i + 3].tolist()).transform(own)
        radius = float(obstacles.radius[i]) if len(obstacles.radius) else 0.0
        found[f"obstacle {number}"] = own, radius
    return found
