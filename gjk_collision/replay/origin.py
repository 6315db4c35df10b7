# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What a result was computed from, and why two results differ."""

from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import inf
from pathlib import Path
from typing import Any
from zlib import crc32

from .bag import Bag, Message
from .faults import FaultSpec

__all__ = ["Recording", "origin", "why"]

# The messages of a topic have one digest per `WIDTH` [ns], or per 2, 4, 8, ... times `WIDTH`, so
# that there are at most `KEPT` digests.
WIDTH, KEPT = 100_000_000, 1024

# Number of topics whose first difference is explained.
EXPLAINED = 3

_UNKNOWN = "not known: the folder of the golden result has no summary.json with its origin"


class Recording:
    """Digests of the messages that a replay has read, by topic and time.

    A digest is the sum of the CRC-32 of the messages, with their log times. So the digests of two
    neighbouring parts can be added.
    """

    def __init__(self) -> None:
        self._digests: dict[str, list[int]] = {}
        self._times: dict[str, int] = {}  # the number of `WIDTH` that a digest is for
        self._counts: dict[str, int] = {}

    def add(self, t: int, message: Message) -> None:
        """Add a message at the time `t` [ns] after the begin of the bag."""
        sums, times = self._digests.get(message.topic, []), self._times.get(message.topic, 1)
        while (i := t // (times * WIDTH)) >= KEPT:
            sums, times = _folded(sums), 2 * times
        sums.extend([0] * (i + 1 - len(sums)))
        own = crc32(message.data, crc32(message.time.to_bytes(8, "little", signed=True)))
        sums[i] = (sums[i] + own) & 0xFFFFFFFF
        self._digests[message.topic], self._times[message.topic] = sums, times
        self._counts[message.topic] = self._counts.get(message.topic, 0) + 1

    def to_dict(self) -> dict[str, Any]:
        """Return the number of messages and the digests of each topic as plain data."""
        found = {}
        for topic, sums in sorted(self._digests.items()):
            text, times = "".join(f"{value:08x}" for value in sums), self._times[topic]
            found[topic] = {"messages": self._counts[topic], "times": times, "digests": text}
        return found


def origin(
    bag: Bag, recording: Recording, faults: Sequence[FaultSpec], end: float
) -> dict[str, Any]:
    """Return the version of this package, the bag, the digests of its messages, and the faults.

    `end` is the time to which the messages were read [s]; infinity: all of them.
    """
    try:
        code = version("gjk_collision")
    except PackageNotFoundError:
        code = "unknown version"
    return {
        "version": code,
        "faults": [_text(each) for each in faults],
        "bag": str(bag.path.resolve()),
        "read_to": None if end == inf else end,
        "topics": sorted(name for name, count in bag.counts.items() if count),
        "recording": recording.to_dict(),
    }


def why(
    old: dict[str, Any] | None,
    new: dict[str, Any] | None,
    parameters: Sequence[Sequence[Any]] | None,
    explain: Callable[[Path, str, float], str] = lambda bag, topic, begin: "",
) -> list[str]:
    """Return the causes for which two results can differ, one line for each kind.

    Parameters
    ----------
    old, new : dict
        Results of `origin`; None: not known.
    parameters : sequence of (name, old, new)
        The parameters that differ; None: not known.
    explain : callable
        Returns how the first message after a time [s] of a topic differs from that in the golden
        bag; empty: not known.
    """
    found = []
    if parameters:
        each = (f"{name} {_value(before)} -> {_value(now)}" for name, before, now in parameters)
        found.append(f"parameters: {', '.join(each)}")
    if new is None:  # nothing was read
        return found
    if old is None or parameters is None:
        return [*found, _UNKNOWN]
    if old["faults"] != new["faults"]:
        found.append(f"faults: {_value(old['faults'])} -> {_value(new['faults'])}")
    limits = (inf if each["read_to"] is None else each["read_to"] for each in (old, new))
    bags = [Path(each["bag"]) for each in (old, new)]
    for i, (begin, topic, kind, text) in enumerate(_differing(old, new, min(limits))):
        is_other = kind == "recording" and bags[0].name != bags[1].name
        other = f" {bags[1].name}, not {bags[0].name}" if is_other else ""
        more = explain(bags[0], topic, begin) if i < EXPLAINED and begin >= 0.0 else ""
        found.append(f"{kind}{other}: {topic} {text}{': ' * bool(more)}{more}")
    if old["version"] != new["version"]:
        found.append(f"code: {old['version']} -> {new['version']}")
    return found


def _text(fault: FaultSpec) -> str:
    values = "".join(f" {name} {value}" for name, value in fault.values.items())
    where = f"{fault.kind} {fault.topic}".rstrip()
    return f"{where} from {fault.begin:g} to {fault.end:g} s{values}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return "not set" if value is None else str(value)


def _differing(
    one: dict[str, Any], other: dict[str, Any], end: float
) -> list[tuple[float, str, str, str]]:
    """Return time [s], topic, kind, text of each difference before `end` [s], in order of time."""
    found = []
    old, new = one["recording"], other["recording"]
    for topic in sorted(old.keys() | new.keys()):
        if topic not in new or topic not in old:
            which, by = ("golden", one) if topic in new else ("new", other)
            kind = "topics" if topic in by.get("topics", ()) else "recording"
            found.append((-1.0, topic, kind, f"is not used by the {which} result"))
            continue
        times = max(old[topic]["times"], new[topic]["times"])
        a, b = (_digests(each[topic], times) for each in (old, new))
        size, width = max(len(a), len(b)), times * WIDTH * 1e-9
        size = size if end == inf else min(size, int(end * 1e9) // (times * WIDTH))
        if parts := [i for i in range(size) if a[i : i + 1] != b[i : i + 1]]:
            begin, last = parts[0] * width, parts[-1] + 1
            text = f"{begin:.1f} s on" if last == size else f"{begin:.1f} to {last * width:.1f} s"
            counts = [each[topic]["messages"] for each in (old, new)]
            if end == inf and counts[0] != counts[1]:
                text += f" ({counts[0]} -> {counts[1]} messages)"
            found.append((begin, topic, "recording", f"differs from {text}"))
    return sorted(found)


def _digests(topic: dict[str, Any], times: int) -> list[int]:
    """Return the digests of a topic, each of them for `times` of `WIDTH`."""
    text = topic["digests"]
    sums = [int(text[i : i + 8], 16) for i in range(0, len(text), 8)]
    own = topic["times"]
    while own < times:
        sums, own = _folded(sums), 2 * own
    return sums


def _folded(sums: list[int]) -> list[int]:
    """Return the sums of neighbouring digests."""
    return [sum(sums[i : i + 2]) & 0xFFFFFFFF for i in range(0, len(sums), 2)]
