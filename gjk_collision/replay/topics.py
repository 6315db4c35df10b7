# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the topics of a bag: by a mapping, by the parameters, or by message type."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..server.adapters import CONVERTERS
from ..server.adapters.updates import update_type, updates_topic
from ..server.parameters.config import Config
from ..server.parameters.files import NODE_NAME
from .bag import EVENTS, Bag, BagError
from .case_fields import Fields, Place
from .interfaces import CLOCK, POLYGON_STAMPED, TF_MESSAGE
from .live_parameters import PARAMETER_EVENT

__all__ = ["FOOTPRINT", "Topics", "checked_mapping", "choose"]

NONE, HEADER = "none", "header"
FOOTPRINT = "/footprint"
_PARTS = ("footprint", "twist", "obstacles", "tf", "tf_static", "clock", "server")


@dataclass(frozen=True)
class Topics:
    """The topics of a bag that replay uses; empty: no such topic.

    Attributes
    ----------
    footprint : str
        Topic of the vehicle's outline.
    obstacles : dict
        Topic -> names of its sources.
    tf, tf_static : str
        Topics of moving and of static transforms.
    clock : str
        Topic of the clock that the stamps refer to; empty: they refer to log time. ``header``:
        to log time too, shifted by what is between it and the header stamps of the bag.
    twist : str
        Topic of the vehicle's twist.
    parameters : str
        Topic with the changes of parameters.
    server : str
        Full name of the server whose requests were recorded; empty: not known.
    services : dict
        Topic of service events -> name of the service's type.
    unread_events : tuple of str
        Other topics of service events; their requests cannot be answered again.
    """

    footprint: str = ""
    obstacles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tf: str = ""
    tf_static: str = ""
    clock: str = ""
    services: Mapping[str, str] = field(default_factory=dict)
    unread_events: tuple[str, ...] = ()
    twist: str = ""
    parameters: str = ""
    server: str = ""

    @property
    def has_clock(self) -> bool:
        """Whether a topic has the time with which header stamps are compared."""
        return self.clock not in ("", HEADER)

    @property
    def names(self) -> set[str]:
        """All topics that are used."""
        named = {self.footprint, self.twist, self.tf, self.tf_static, self.clock}
        return (named | {self.parameters, *self.obstacles, *self.services}) - {"", HEADER}

    def unused(self, bag: Bag) -> str:
        """Return the topics with obstacles that no source uses, and their types, as text.

        The topic of the footprint is none, also if the footprint is a parameter.
        """
        left = sorted(bag.topics.keys() - self.names - {self.footprint or FOOTPRINT})
        return ", ".join(
            f"{name} ({kind})"
            for name in left
            for kind in sorted(bag.topics[name] & {*CONVERTERS})
        )

    def resolved(self, config: Config) -> dict[str, str]:
        """Return the topic of each source, of "footprint" and of "twist_topic", for messages."""
        found = {each.name: _absolute(each.topic) for each in config.sources}
        found["footprint"] = self.footprint or FOOTPRINT
        found["twist_topic"] = self.twist or _absolute(config.twist_topic)
        return found | {name: topic for topic, names in self.obstacles.items() for name in names}


def checked_mapping(mapping: Any, place: Place) -> dict[str, Any]:
    """Check a mapping from parts to topics and return it unchanged.

    Raises
    ------
    CaseError
        The mapping is not valid.
    """
    fields = Fields(mapping, place, _PARTS)
    for part, value in mapping.items():
        several = part == "obstacles" and isinstance(value, dict)
        names = list(value.values()) if several else [value]
        if not all(isinstance(name, str) and name for name in names):
            raise fields.error(part, "must be the name of a topic")
    return dict(mapping)


def choose(bag: Bag, config: Config, mapping: Mapping[str, Any]) -> Topics:
    """Return the topics to use.

    Parameters
    ----------
    bag : Bag
        The bag, open for reading.
    config : Config
        Parameters of the server, with the sources and their topics.
    mapping : mapping
        ``server``: full name of the server whose requests are answered again. ``footprint``,
        ``twist``: a topic. ``tf``, ``tf_static``, ``clock``: a topic, or ``none``; for the
        clock also ``header``. ``obstacles``: a topic, or a mapping from source to topic. A topic
        that is not given is searched in the bag, but a twist only by its parameter.

    Raises
    ------
    BagError
        A required topic is missing or has another type, or several topics are possible.
    """
    try:
        return _choose(bag, config, mapping)
    except BagError as error:
        if config != Config():
            raise
        raise BagError(f"{error}; all parameters have their defaults: see --params") from None


def _choose(bag: Bag, config: Config, mapping: Mapping[str, Any]) -> Topics:
    footprint = twist = ""
    if config.twist_topic:
        chosen = mapping.get("twist", _absolute(config.twist_topic))
        # Without a twist, answers are the same, unless it selects the footprint.
        if config.speed_footprints or "twist" in mapping or chosen in bag.topics:
            twist = _one(bag, config.twist_topic, config.twist_type, chosen, "twist")
    if config.is_footprint_received:
        footprint = _one(bag, "footprint", POLYGON_STAMPED, mapping.get("footprint"), "footprint")
    named = mapping.get("obstacles")
    by_source = named if isinstance(named, dict) else {}
    if isinstance(named, str) and len(config.sources) > 1:
        names = ", ".join(source.name for source in config.sources)
        rule = f"must be a mapping from source to topic for the sources {names} (got {named!r})"
        raise BagError(f"topics.obstacles: {rule}")
    if stray := set(by_source) - {source.name for source in config.sources}:
        names = ", ".join(source.name for source in config.sources)
        unknown = ", ".join(sorted(map(str, stray)))
        raise BagError(f"topics.obstacles: unknown source: {unknown}; allowed: {names}")
    obstacles: dict[str, tuple[str, ...]] = {}
    for source in config.sources:
        chosen = by_source.get(source.name, named if isinstance(named, str) else None)
        if source.type not in CONVERTERS:
            known = ", ".join(CONVERTERS)
            raise BagError(f"{source.name}.type: must be one of {known} (got {source.type!r})")
        if chosen is None and (len(config.sources) > 1 or not source.required):
            chosen = _absolute(source.topic)
        if not source.required and chosen not in bag.topics:
            continue  # an optional source may have no data
        topic = _one(bag, source.topic, source.type, chosen, f"source {source.name}")
        if not bag.can_decode(source.type):
            raise BagError(f"{bag.path.name}: {topic}: the bag does not define {source.type}")
        obstacles[topic] = (*obstacles.get(topic, ()), source.name)
        update = updates_topic(topic)
        if update_type(source) in bag.topics.get(update, ()):
            obstacles[update] = (*obstacles.get(update, ()), source.name)
    tf = _of_kind(bag, TF_MESSAGE)
    services = {
        name: kind.removeprefix("gjk_collision/srv/").removesuffix("_Event")
        for name, kinds in bag.topics.items()
        for kind in kinds & EVENTS
    }
    servers = sorted({name.rsplit("/", 2)[0] for name in services})
    server = mapping.get("server") or _usual(bag, "server", servers, NODE_NAME)
    services = {name: kind for name, kind in services.items() if name.startswith(f"{server}/")}
    topics = Topics(
        footprint,
        obstacles,
        _chosen(bag, mapping, "tf", [name for name in tf if not name.endswith("static")]),
        _chosen(bag, mapping, "tf_static", [name for name in tf if name.endswith("static")]),
        _chosen(bag, mapping, "clock", _of_kind(bag, CLOCK)),
        services,
        tuple(sorted(filter(partial(_has_events, bag), bag.topics.keys() - services))),
        twist,
        "".join(_of_kind(bag, PARAMETER_EVENT)[:1]),
        server,
    )
    for name in sorted(topics.names):
        if len(kinds := bag.topics.get(name, set())) > 1:
            sources = f" of {', '.join(obstacles[name])}" if name in obstacles else ""
            text = f"{name}{sources} has messages of {' and '.join(sorted(kinds))}"
            text += ": a topic must have one message type"
            raise BagError(f"{bag.path.name}: {text}")
    return topics


def _has_events(bag: Bag, name: str) -> bool:
    """Return whether a topic seems to have service events, of any service."""
    is_service = any("/srv/" in kind for kind in bag.topics[name])
    return is_service or name.endswith("/_service_event")


def _chosen(bag: Bag, mapping: Mapping[str, Any], part: str, topics: list[str]) -> str:
    """Return the topic in the mapping, or the only one that was found; empty if there is none."""
    name: str = mapping.get(part) or _usual(bag, part, topics)
    return "" if name == NONE else name


def _usual(bag: Bag, part: str, topics: list[str], usual: str = "") -> str:
    """Return the topic with the usual name, or the only one; empty if there is none."""
    if f"/{usual or part}" in topics:
        return f"/{usual or part}"
    if len(topics) > 1:
        text = f"{part} may be any of {', '.join(topics)}; choose one under 'topics'"
        raise BagError(f"{bag.path.name}: {text}")
    return topics[0] if topics else ""


def _one(bag: Bag, usual: str, kind: str, chosen: str | None, what: str) -> str:
    """Return the topic in the mapping, or that with the usual name, or the only one of a type."""
    if chosen is not None:
        have = bag.topics.get(chosen)
        if have is None:
            raise BagError(f"{bag.path.name}: missing topic {chosen} for {what}; {_listing(bag)}")
        if kind not in have:
            text = f"the type of {chosen} for {what} is {', '.join(sorted(have))}, must be {kind}"
            raise BagError(f"{bag.path.name}: {text}")
        return chosen
    of_kind = _of_kind(bag, kind)
    if _absolute(usual) in of_kind:
        return _absolute(usual)
    if len(of_kind) == 1:
        return of_kind[0]
    if not of_kind:
        text = f"missing topic {_absolute(usual)} for {what}, and no topic has the type {kind}"
        raise BagError(f"{bag.path.name}: {text}; {_listing(bag)}")
    text = f"{what} may be any of {', '.join(of_kind)}; choose one under 'topics'"
    raise BagError(f"{bag.path.name}: {text}")


def _of_kind(bag: Bag, kind: str) -> list[str]:
    """Return the topics with messages of a type."""
    return sorted(name for name, kinds in bag.topics.items() if kind in kinds)


def _absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def _listing(bag: Bag) -> str:
    names = [f"{name} ({', '.join(sorted(bag.topics[name]))})" for name in sorted(bag.topics)]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return "the bag has " + (", ".join(names[:8]) + more if names else "no topics")
