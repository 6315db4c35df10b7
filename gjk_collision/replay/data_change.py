# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs on a topic between two recordings: each kind of change, with its first message."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import dropwhile, islice
from math import isnan
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from ..errors import InputError
from ..server.adapters import CONVERTERS, footprint
from ..server.data.obstacles import Obstacles
from ..server.frames.fields import nanoseconds
from ..server.frames.poses import Pose
from ..server.parameters.config import Config
from .bag import Bag, Message
from .interfaces import TF_MESSAGE
from .topics import Topics

__all__ = ["changes"]

# Number of messages of each recording that are compared.
SEARCHED = 2000

# Number of changes that are named.
LISTED = 3

# Points whose changes differ by at most this are moved together [m].
SAME = 1e-6

# Fields of an obstacle that are compared: number of values, unit.
_FIELDS = {
    "radius": (1, "m"),
    "velocities": (3, "m/s, m/s, rad/s"),
    "margins": (1, "m"),
    "margin_rates": (1, "m/s"),
}

# A thing that is compared, such as an obstacle -> what is known about it.
_Things = dict[str, dict[str, Any]]


def changes(old: Bag, new: Bag, topic: str, begin: int, topics: Topics, config: Config) -> str:
    """Return what differs between the messages of a topic; empty: nothing was found.

    Messages from the log time `begin` [ns] on are read. The topics and the parameters are those
    of the replay of `new`.
    """
    messages = [[*islice(_since(bag, topic, begin), SEARCHED)] for bag in (old, new)]
    gone, come = (_without(*pair) for pair in (messages, messages[::-1]))
    found = dict[str, str]()  # kind of change -> its first text
    differing = 0
    for time, before, after in _pairs(gone, come):
        if before is None or after is None:
            texts = {"message": f"is {'new' if before is None else 'missing'}"}
        elif before.data == after.data:
            late = (after.time - before.time) * 1e-9
            way = "later" if late > 0.0 else "earlier"
            texts = {"message": f"is recorded {abs(late):.3f} s {way}"}
        else:
            texts = dict(_contents(old.decode(before), new.decode(after), before, topics, config))
        differing += bool(texts)
        for key, text in texts.items():
            if key not in found:
                when = f"the message of {(time - old.begin) * 1e-9:.3f} s"
                found[key] = f"{when}{' ' if key == 'message' else ': '}{text}"
    return _told(list(found.values()), differing, max(map(len, messages)))


def _told(found: list[str], differing: int, total: int) -> str:
    """Return the changes in the order of their first messages, those of one message together."""
    texts = list[str]()
    for each in found[:LISTED]:
        when, _, what = each.partition(": ")
        is_more = bool(texts) and what and texts[-1].startswith(f"{when}: ")
        texts[-1:] = [f"{texts[-1]}, {what}"] if is_more else [*texts[-1:], each]
    more = [f"and {len(found) - LISTED} more changes"] if len(found) > LISTED else []
    text = "; ".join(texts + more)
    return f"{text} ({differing} of {total} messages differ)" if differing > 1 else text


def _since(bag: Bag, topic: str, begin: int) -> Iterator[Message]:
    return dropwhile(lambda each: each.time < begin, bag.messages([topic]))


def _without(messages: list[Message], others: list[Message]) -> list[Message]:
    """Return the messages that are not among the others, with the same log time."""
    known = Counter((each.time, each.data) for each in others)
    rest = list[Message]()
    for each in messages:
        key = each.time, each.data
        if known[key]:
            known[key] -= 1
        else:
            rest.append(each)
    return rest


def _pairs(
    gone: list[Message], come: list[Message]
) -> list[tuple[int, Message | None, Message | None]]:
    """Return log time [ns] and which message replaces which; None: there is none.

    The same contents at another time come first, then other contents at the same time.
    """
    found = list[tuple[int, Message | None, Message | None]]()
    for key in attrgetter("data"), attrgetter("time"):
        rest = dict[Any, list[Message]]()
        for each in come:
            rest.setdefault(key(each), []).append(each)
        again = [(each, rest[key(each)].pop(0)) for each in gone if rest.get(key(each))]
        found += [(min(a.time, b.time), a, b) for a, b in again]
        told = {id(each) for pair in again for each in pair}
        gone, come = ([each for each in some if id(each) not in told] for some in (gone, come))
    found += [(each.time, each, None) for each in gone]
    found += [(each.time, None, each) for each in come]
    return sorted(found, key=itemgetter(0))


def _contents(
    old: Any, new: Any, message: Message, topics: Topics, config: Config
) -> Iterator[tuple[str, str]]:
    """Yield key and text of each difference between two decoded messages of one log time."""
    a, b = (_things(each, message, topics, config) for each in (old, new))
    for names, word in ((a.keys() - b.keys(), "missing"), (b.keys() - a.keys(), "new")):
        if names:
            kind = "transforms" if message.kind == TF_MESSAGE else "obstacles"
            text = f"{_listed(sorted(names))} {'is' if len(names) == 1 else 'are'} {word}"
            yield word, f"{text} ({len(a)} -> {len(b)} {kind})"
    both = [name for name in a if name in b]
    if swapped := [name for name in both if a[name] != b[name] and _swapped(name, a, b)]:
        yield "swapped", f"{_listed(swapped)} have each other's ids"
    kinds = dict[str, list[str]]()
    for name in both:
        if name not in swapped:
            for kind, text in _change(a[name], b[name]):
                kinds.setdefault(kind, []).append(f"{name} {text}")
    for kind, texts in kinds.items():
        yield kind, _listed(texts)
    stamps = [nanoseconds(m.header.stamp) for m in (old, new) if hasattr(m, "header")]
    if stamps and stamps[0] != stamps[1]:
        yield "stamp", f"stamp moved by {(stamps[1] - stamps[0]) * 1e-9:.3f} s"
    # What the server does not read as points is compared by the names of the fields.
    for name, before, after in () if a and message.kind == TF_MESSAGE else _fields(old, new):
        is_told = a and name.partition(".")[0] != "header"
        if not (name.startswith("header.stamp") or is_told):
            yield name, f"{name} {_pair(before, after)}"


def _listed(texts: list[str]) -> str:
    more = [f"and {len(texts) - LISTED} more"] if len(texts) > LISTED else []
    return ", ".join(texts[:LISTED] + more)


def _swapped(name: str, a: _Things, b: _Things) -> bool:
    return any(
        a[name] == b[each] and a[each] == b[name] for each in a if each in b and each != name
    )


def _change(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each change of one thing."""
    for name, before in old.items():
        after = new[name]
        if before == after:
            continue
        if name != "points":
            unit = _FIELDS.get(name, (1, ""))[1]
            yield name, f"{name} {_pair(before, after)} {unit}".rstrip()
        elif len(before) != len(after):
            yield name, f"{len(before)} -> {len(after)} points"
        else:
            by = np.array(after) - np.array(before)
            far = np.hypot(*by.T).max()
            is_shift = bool((np.ptp(by, axis=0) <= SAME).all())
            yield (
                name,
                f"moved by {far:.3g} m" if is_shift else f"points moved by up to {far:.3g} m",
            )


def _pair(old: Any, new: Any) -> str:
    """Return two values with as many digits as make them differ."""
    for digits in (6, 9, 17):
        texts = [_text(each, digits) for each in (old, new)]
        if texts[0] != texts[1]:
            break
    return " -> ".join(texts)


def _text(value: Any, digits: int) -> str:
    if value is None:
        return "nan"
    if isinstance(value, tuple):
        return f"({', '.join(_text(each, digits) for each in value)})"
    return f"{value:.{digits}g}" if isinstance(value, float) else repr(value)


def _things(message: Any, of: Message, topics: Topics, config: Config) -> _Things:
    """Return what the server reads from a message: obstacles, the footprint or transforms."""
    if of.kind == TF_MESSAGE:
        return {
            f"{each.header.frame_id} -> {each.child_frame_id}": _of_transform(each.transform)
            for each in message.transforms
        }
    try:
        if of.topic == topics.footprint:
            return {"footprint": {"points": _points(footprint(message, config).points)}}
        for name in topics.obstacles.get(of.topic, ()):
            source = config.source(name)
            if of.kind == source.type:  # not an update of a grid
                return _of_obstacles(CONVERTERS[source.type](message, config, source))
    except InputError:
        pass  # the fields are compared
    return {}


def _of_transform(transform: Any) -> dict[str, Any]:
    at, turn = transform.translation, transform.rotation
    rotation = float(turn.x), float(turn.y), float(turn.z), float(turn.w)
    return {"points": _points(np.array([[at.x, at.y]])), "z": float(at.z), "rotation": rotation}


def _of_obstacles(obstacles: Obstacles) -> _Things:
    found, points = {}, obstacles.xy.reshape(-1, 2)
    for i, number in enumerate(obstacles.ids.tolist()):
        outline = points[slice(*obstacles.offsets[i : i + 2].tolist())]
        if len(obstacles.poses):
            outline = Pose(*obstacles.poses[3 * i : 3 * i + 3].tolist()).transform(outline)
        known: dict[str, Any] = {"points": _points(outline)}
        for name, (width, _) in _FIELDS.items():
            values = getattr(obstacles, name)[width * i : width * (i + 1)].tolist()
            own = tuple(None if isnan(each) else each for each in values)  # NaN differs from NaN
            known[name] = own[0] if len(own) == 1 else own
        if len(obstacles.path_offsets):
            path = slice(*obstacles.path_offsets[i : i + 2].tolist())
            known["path"] = tuple(map(tuple, obstacles.path_poses.reshape(-1, 3)[path].tolist()))
        found[f"obstacle {number}"] = known
    return found


def _points(values: Any) -> tuple[tuple[float, float], ...]:
    return tuple(map(tuple, np.asarray(values, np.float64).tolist()))


def _fields(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield name and values of each field that differs; of an array, the first element."""
    if is_dataclass(old) and is_dataclass(new):
        for each in fields(old):
            if not each.name.startswith("__") and hasattr(new, each.name):
                inner = f"{name}.{each.name}".lstrip(".")
                yield from _fields(getattr(old, each.name), getattr(new, each.name), inner)
    elif isinstance(old, list | np.ndarray):
        if len(old) != len(new):
            yield f"number of {name}", len(old), len(new)
        for i, pair in enumerate(zip(old, new, strict=False)):
            if found := next(_fields(*pair, f"{name}[{i}]"), None):
                yield found
                return
    elif old != new and str(old) != str(new):  # NaN is NaN
        yield name, *(each.item() if isinstance(each, np.generic) else each for each in (old, new))
