# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Which topic of a bag plays which part: as told, by the parameters' names, or by type."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..server.adapters import CONVERTERS
from ..server.config import Config
from ..server.dispatch import SERVICES
from .bag import Bag, BagError
from .interfaces import CLOCK, POLYGON_STAMPED, TF_MESSAGE

__all__ = ["Topics", "TopicsError", "checked_mapping", "choose"]

NONE = "none"
_PARTS = ("footprint", "obstacles", "tf", "tf_static", "clock")


class TopicsError(ValueError):
    """A mapping of topics that is none."""


@dataclass(frozen=True)
class Topics:
    """The parts of a bag's topics; empty: no topic plays that part.

    Attributes
    ----------
    footprint, clock : str
        The vehicle's outline; the clock that stamps follow, where log time is another.
    obstacles : dict
        Topic -> names of its sources.
    tf, tf_static : tuple of str
        Transforms.
    services : dict
        Topic of service events -> name of the service's type.
    unread_events : tuple of str
        Other topics of service events: they hold no requests that can be answered again.
    """

    footprint: str = ""
    obstacles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tf: tuple[str, ...] = ()
    tf_static: tuple[str, ...] = ()
    clock: str = ""
    services: Mapping[str, str] = field(default_factory=dict)
    unread_events: tuple[str, ...] = ()

    @property
    def names(self) -> set[str]:
        """All topics that are used."""
        named = {*self.obstacles, *self.tf, *self.tf_static, *self.services}
        return (named | {self.footprint, self.clock}) - {""}


def checked_mapping(mapping: Any) -> dict[str, Any]:
    """Return a mapping as it stands in a file; raises `TopicsError` where it is none."""
    if not isinstance(mapping, dict):
        raise TopicsError("topics: must be a mapping")
    for part, value in mapping.items():
        if part not in _PARTS:
            raise TopicsError(f"topics.{part}: must be one of {', '.join(_PARTS)}")
        several = part == "obstacles" and isinstance(value, dict)
        names = list(value.values()) if several else [value]
        if not all(isinstance(name, str) and name for name in names):
            raise TopicsError(f"topics.{part}: must name a topic (got {value!r})")
    return mapping


def choose(bag: Bag, config: Config, mapping: Mapping[str, Any]) -> Topics:
    """Return the topics to use.

    Parameters
    ----------
    bag : Bag
        Open.
    config : Config
        Names the sources and their topics.
    mapping : mapping
        ``footprint``, ``tf``, ``tf_static``, ``clock``: a topic (or ``none``); ``obstacles``: a
        topic, or one for each source. What it does not name is found in the bag.

    Raises
    ------
    BagError
        A topic that is needed is missing, has another type, or cannot be told from others.
    """
    needs_footprint = not config.footprint and not config.robot_radius
    footprint = ""
    if needs_footprint:
        footprint = _one(bag, "footprint", POLYGON_STAMPED, mapping.get("footprint"), "footprint")
    named = mapping.get("obstacles")
    by_source = named if isinstance(named, dict) else {}
    if isinstance(named, str) and len(config.sources) > 1:
        names = ", ".join(source.name for source in config.sources)
        raise BagError(f"topics.obstacles: {named} for {names}: name one for each source")
    if stray := set(by_source) - {source.name for source in config.sources}:
        raise BagError(f"topics.obstacles: no source is called {sorted(stray)}")
    obstacles: dict[str, tuple[str, ...]] = {}
    for source in config.sources:
        told = by_source.get(source.name, named if isinstance(named, str) else None)
        if source.type not in CONVERTERS:
            known = ", ".join(CONVERTERS)
            raise BagError(f"{source.name}.type: must be one of {known} (got {source.type!r})")
        if len(config.sources) > 1 and told is None:
            told = _absolute(source.topic)
        if not source.required and told not in bag.topics:
            continue  # it may be silent
        topic = _one(bag, source.topic, source.type, told, f"source {source.name}")
        if not bag.can_decode(source.type):
            raise BagError(f"{bag.path.name}: {topic}: the bag does not define {source.type}")
        obstacles[topic] = (*obstacles.get(topic, ()), source.name)
    tf = _of_kind(bag, TF_MESSAGE)
    clock = mapping.get("clock", "")
    if not clock:
        clocks = _of_kind(bag, CLOCK)
        clock = clocks[0] if len(clocks) == 1 else ""
    services = {
        name: kind.removeprefix("gjk_collision/srv/").removesuffix("_Event")
        for name, kinds in bag.topics.items()
        for kind in kinds & {f"gjk_collision/srv/{service}_Event" for service in SERVICES}
    }
    topics = Topics(
        footprint,
        obstacles,
        _told(mapping, "tf", [name for name in tf if not name.endswith("static")]),
        _told(mapping, "tf_static", [name for name in tf if name.endswith("static")]),
        "" if clock == NONE else clock,
        services,
        tuple(sorted(filter(partial(_has_events, bag), bag.topics.keys() - services))),
    )
    for name in sorted(topics.names):
        if len(kinds := bag.topics.get(name, set())) > 1:
            sources = f" of {', '.join(obstacles[name])}" if name in obstacles else ""
            text = f"{name}{sources} holds {' and '.join(sorted(kinds))}: it must hold one type"
            raise BagError(f"{bag.path.name}: {text}")
    return topics


def _has_events(bag: Bag, name: str) -> bool:
    """Tell whether a topic looks like one of service events, whatever the service."""
    is_service = any("/srv/" in kind for kind in bag.topics[name])
    return is_service or name.endswith("/_service_event")


def _told(mapping: Mapping[str, Any], part: str, found: list[str]) -> tuple[str, ...]:
    name = mapping.get(part)
    if name is None:
        return tuple(found)
    return () if name == NONE else (name,)


def _one(bag: Bag, usual: str, kind: str, told: str | None, what: str) -> str:
    """Return the topic told, else the one of the usual name, else the only one of its type."""
    if told is not None:
        have = bag.topics.get(told)
        if have is None:
            raise BagError(f"{bag.path.name}: missing topic {told} for {what}; {_listing(bag)}")
        if kind not in have:
            text = f"{told} for {what} is {', '.join(sorted(have))}, must be {kind}"
            raise BagError(f"{bag.path.name}: {text}")
        return told
    of_kind = _of_kind(bag, kind)
    if _absolute(usual) in of_kind:
        return _absolute(usual)
    if len(of_kind) == 1:
        return of_kind[0]
    if not of_kind:
        text = f"missing topic {_absolute(usual)} for {what}, and none is of type {kind}"
        raise BagError(f"{bag.path.name}: {text}; {_listing(bag)}")
    text = f"{what} may be any of {', '.join(of_kind)}; say which under 'topics'"
    raise BagError(f"{bag.path.name}: {text}")


def _of_kind(bag: Bag, kind: str) -> list[str]:
    """Return the topics that hold messages of a type."""
    return sorted(name for name, kinds in bag.topics.items() if kind in kinds)


def _absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def _listing(bag: Bag) -> str:
    names = [f"{name} ({', '.join(sorted(bag.topics[name]))})" for name in sorted(bag.topics)]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return "it has " + (", ".join(names[:8]) + more if names else "no topics")
