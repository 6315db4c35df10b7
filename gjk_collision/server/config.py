# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Every parameter of the collision server, once: name, default, unit, range and help.

``Config`` and ``SourceConfig`` are frozen, and a bad value never gets into one: construction
checks each field against the facts that stand beside it. The parameter file, the ROS parameter
descriptors and the documentation are all made from these two classes; ``python -m
gjk_collision.server.config`` prints ``config/collision_server.yaml``.
"""

import ast
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal

from ..errors import InputError
from ..verdict import Status

__all__ = [
    "Config",
    "SourceConfig",
    "checked_value",
    "closest_parameter",
    "is_foreign",
    "parameter_facts",
    "to_yaml",
]

Value = bool | int | float | str | tuple[float, ...] | tuple[str, ...]

OBSTACLE_ARRAY = "gjk_collision/msg/ObstacleArray"
_SOURCE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Similarity (difflib's ratio) from which a name counts as a misspelling of another. One or two
# wrong letters are above it. Names that nav2 uses (robot_base_frame: 0.77) are below it.
_CLOSE = 0.8
# An unknown name with one of these words may set a clearance (safety_distance,
# footprint_padding). If it were left out, the clearance would be smaller than the user means.
_WORDS_OF_SAFETY = {
    "clearance", "collision", "distance", "footprint", "gap", "inflation", "margin", "obstacle",
    "padding", "safe", "safety", "standoff",
}  # fmt: skip
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Facts:
    """What is known of a parameter beside its default.

    Attributes
    ----------
    text : str
        Help, one line.
    unit : str
        SI unit; empty for a name, a count or a choice.
    low, high : float or None
        Closed range of a number; each number of a list.
    choices : tuple of str
        The values that a choice may take; empty for any.
    safe : "up", "down" or None
        A live parameter names the direction that can only turn FREE into something else; it may
        change so while the server is active. None: read at configure only.
    """

    text: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    safe: Literal["up", "down"] | None = None

    @property
    def span(self) -> str:
        """The range and unit (or the choices) in words; empty where there is neither."""
        if self.choices:
            return " | ".join(self.choices)
        if self.low is None:
            return f"[{self.unit}]" if self.unit else ""
        return f"{self.low:.7g} to {self.high:.7g} {self.unit}".rstrip()


def _parameter(default: Any, text: str, unit: str = "", **facts: Any) -> Any:
    return field(default=default, metadata={"facts": Facts(text, unit, **facts)})


@dataclass(frozen=True)
class SourceConfig:
    """One source of obstacles; its parameters are called ``<name>.<field>``.

    Raises
    ------
    InputError
        Naming the parameter and its range where a value lies outside it.
    """

    name: str
    type: str = _parameter(OBSTACLE_ARRAY, "message type, package/msg/Name")
    topic: str = _parameter("", "topic; empty: the name of the source")
    timeout: float = _parameter(
        0.5, "obstacles older than this are not used", "s", low=0.01, high=60.0, safe="down"
    )
    required: bool = _parameter(
        True, "false excuses silence (never heard, or too old); bad data are never excused"
    )
    inflation: float = _parameter(
        0.0, "added to the radius of each obstacle", "m", low=0.0, high=5.0, safe="up"
    )
    qos_reliability: str = _parameter(
        "best_effort", "of the subscription", choices=("best_effort", "reliable")
    )

    def __post_init__(self) -> None:
        _check_fields(self, f"{self.name}.")
        object.__setattr__(self, "topic", self.topic or self.name)


@dataclass(frozen=True)
class Config:
    """The parameters of a collision server.

    ``sources`` holds what the parameter ``obstacle_sources`` names, in its order; everything
    else is a parameter of the same name.

    Raises
    ------
    InputError
        Naming the parameter and its range where a value lies outside it.
    """

    base_frame: str = _parameter("base_link", "frame of the vehicle and its footprint")
    check_frame: str = _parameter("odom", "frame in which everything is compared")
    footprint: tuple[float, ...] = _parameter(
        (), "x y per vertex in base_frame, or nav2's string \"[[x, y], ...]\"; "
        "empty: robot_radius, or the topic footprint", "m",
        low=-100.0, high=100.0,
    )  # fmt: skip
    robot_radius: float = _parameter(
        0.0, "a round vehicle; 0: footprint, or the topic footprint", "m", low=0.0, high=100.0
    )
    footprint_timeout: float = _parameter(
        1.0, "an older footprint is not used (topic only)", "s", low=0.01, high=60.0, safe="down"
    )
    sources: tuple[SourceConfig, ...] = field(default_factory=lambda: (SourceConfig("obstacles"),))
    transform_tolerance: float = _parameter(
        0.1, "greatest age of a transform used as the current one", "s", low=0.0, high=5.0
    )
    transform_wait: float = _parameter(
        0.0, "maximum time that a request waits for the transform at its stamp", "s",
        low=0.0, high=0.5,
    )  # fmt: skip
    max_future_stamp: float = _parameter(
        0.05, "stamps further ahead of the clock are refused", "s", low=0.0, high=1.0
    )
    safety_margin: float = _parameter(
        0.0, "a smaller distance is not free (verdict MARGIN)", "m", low=0.0, high=5.0, safe="up"
    )
    margin_front: float = _parameter(
        0.0, "the footprint grows ahead (+x)", "m", low=0.0, high=5.0, safe="up"
    )
    margin_rear: float = _parameter(
        0.0, "the footprint grows behind (-x)", "m", low=0.0, high=5.0, safe="up"
    )
    margin_left: float = _parameter(
        0.0, "the footprint grows to its left (+y)", "m", low=0.0, high=5.0, safe="up"
    )
    margin_right: float = _parameter(
        0.0, "the footprint grows to its right (-y)", "m", low=0.0, high=5.0, safe="up"
    )
    concave_policy: Literal["decompose", "hull", "reject"] = _parameter(
        "decompose", "what becomes of concave outlines", choices=("decompose", "hull", "reject")
    )
    max_obstacles: int = _parameter(
        1000, "of all sources together; more: LIMIT_EXCEEDED", low=1, high=100_000
    )
    max_points_per_obstacle: int = _parameter(256, "more: LIMIT_EXCEEDED", low=1, high=65_536)
    max_poses: int = _parameter(
        10_000, "poses (or pairs) in a request; more: LIMIT_EXCEEDED", low=1, high=1_000_000
    )
    prediction_policy: Literal["unknown_is_error", "constant_velocity", "hold"] = _parameter(
        "unknown_is_error", "for timed requests, where an obstacle's motion is not known",
        choices=("unknown_is_error", "constant_velocity", "hold"),
    )  # fmt: skip
    prediction_horizon: float = _parameter(
        5.0, "timed poses later than this after the oldest data in use are UNKNOWN", "s",
        low=0.0, high=60.0,
    )  # fmt: skip
    time_budget: float = _parameter(
        0.05, "maximum time per request or heartbeat, making the scene included; "
        "what is not done by then is UNKNOWN", "s", low=0.001, high=10.0,
    )  # fmt: skip
    toi_tolerance: float = _parameter(
        0.005, "of swept checks that name none", "m", low=1e-6, high=1.0
    )
    state_rate: float = _parameter(
        10.0, "of the heartbeat on ~/state", "Hz", low=1.0, high=100.0, safe="up"
    )
    publish_markers: bool = _parameter(True, "publish ~/markers while someone listens")
    verify_fraction: float = _parameter(
        0.0, "share of queries that an independent method checks again", low=0.0, high=1.0
    )
    record_requests: bool = _parameter(
        False, "publish requests and replies on ~/<service>/_service_event, for replay"
    )
    autostart: bool = _parameter(True, "configure and activate without a lifecycle manager")

    def __post_init__(self) -> None:
        _check_fields(self, "")
        if not self.base_frame or not self.check_frame:
            name = "check_frame" if self.base_frame else "base_frame"
            raise _refusal(name, "must name a frame", "")
        if len(self.footprint) % 2:
            raise _refusal("footprint", "must hold x y pairs", self.footprint)
        if self.footprint and self.robot_radius > 0.0:
            raise _refusal("robot_radius", "must be 0 beside a footprint", self.robot_radius)
        names = [source.name for source in self.sources]
        own = {each.name for each in fields(self)}
        if not names:
            raise _refusal("obstacle_sources", "must name one source at least", names)
        for i, name in enumerate(names):
            if not _SOURCE_NAME.fullmatch(name) or name in own or name in names[:i]:
                rule = "must be a new name of letters, digits and underscores"
                raise _refusal("obstacle_sources", rule, name, index=i)

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> "Config":
        """Make a configuration of flat parameters as ROS has them.

        Parameters
        ----------
        values : mapping
            ``obstacle_sources`` and ``<source>.<field>`` beside the fields of `Config`. Absent
            ones take their default; names that are no parameter here are refused.

        Raises
        ------
        InputError
            Unknown name, wrong type, or outside the range.
        """
        rest = dict(values)
        names = rest.pop("obstacle_sources", [source.name for source in cls().sources])
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise _refusal("obstacle_sources", "must be a list of names", names)
        sources = []
        for name in names:
            given = {
                each.name: rest.pop(f"{name}.{each.name}")
                for each in _parameter_fields(SourceConfig)
                if f"{name}.{each.name}" in rest
            }
            sources.append(SourceConfig(name, **given))
        known = {each.name for each in _parameter_fields(cls)}
        for name, value in rest.items():
            if name not in known:
                closest = closest_parameter(name, names)
                hint = f"; did you mean '{closest}'?" if closest else ""
                rule = f"is no parameter of the collision server{hint}"
                raise _refusal(name, rule, value)
        return cls(sources=tuple(sources), **rest)

    def parameters(self) -> dict[str, Value]:
        """Flat parameters as ROS has them; `from_parameters` reads them back."""
        flat: dict[str, Value] = {}
        for each in fields(self):
            if each.name == "sources":
                flat["obstacle_sources"] = tuple(source.name for source in self.sources)
            else:
                flat[each.name] = getattr(self, each.name)
        for source in self.sources:
            for each in _parameter_fields(SourceConfig):
                flat[f"{source.name}.{each.name}"] = getattr(source, each.name)
        return flat

    def changed(self, changes: Mapping[str, Any]) -> "Config":
        """Return this configuration with some flat parameters changed."""
        flat: dict[str, Any] = {**self.parameters(), **changes}
        sources = set(flat["obstacle_sources"]) | {source.name for source in self.sources}
        dropped = sources - set(flat["obstacle_sources"])
        kept = {name: flat[name] for name in flat if name.partition(".")[0] not in dropped}
        return self.from_parameters(kept)

    def refusal(self, new: "Config", *, active: bool) -> str:
        """Say why a configured server may not take over `new` now; empty where it may.

        Parameters
        ----------
        new : Config
            What it would become.
        active : bool
            While active, live parameters move towards the safe side only.
        """
        old, wanted = self.parameters(), new.parameters()
        for name in sorted(old.keys() | wanted.keys()):
            before, after = old.get(name), wanted.get(name)
            if before == after:
                continue
            safe = parameter_facts(name).safe
            if safe is None:
                return f"{name}: read at configure only; deactivate and clean up first"
            assert isinstance(before, int | float)
            assert isinstance(after, int | float)
            if active and (after < before) == (safe == "up"):
                way = "grow" if safe == "up" else "shrink"
                return f"{name}: may only {way} while active (is {before:g}, wanted {after:g})"
        return ""

    @cached_property
    def hash(self) -> int:
        """A 32-bit number that is equal for equal parameters, on every machine and in every run.

        CRC-32 of the parameters as JSON with sorted keys; floats in their shortest exact form.
        """
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return zlib.crc32(text.encode())

    def source(self, name: str) -> SourceConfig:
        """Return the source of that name.

        Raises
        ------
        KeyError
            There is none.
        """
        for source in self.sources:
            if source.name == name:
                return source
        raise KeyError(name)


def parameter_facts(name: str) -> Facts:
    """Return the facts of a flat parameter, ``<source>.<field>`` included.

    Raises
    ------
    KeyError
        There is no such parameter.
    """
    if name == "obstacle_sources":
        return Facts("names of the obstacle sources; each has the parameters <name>.*")
    owner = SourceConfig if "." in name else Config
    for each in _parameter_fields(owner):
        if each.name == name.rpartition(".")[2]:
            return _facts(each)
    raise KeyError(name)


def closest_parameter(name: str, sources: Iterable[str]) -> str:
    """Return the flat parameter that a name is probably a misspelling of; empty if there is none.

    Two names are close if they are similar letter by letter, or have similar words in another
    order (``front_margin``).
    """
    ours = [each.name for each in _parameter_fields(Config)] + ["obstacle_sources"]
    ours += [
        f"{source}.{leaf.name}" for source in sources for leaf in _parameter_fields(SourceConfig)
    ]
    for key in (str.lower, _sorted_words):
        by_key = {key(each): each for each in ours}
        for match in get_close_matches(key(name), by_key, n=1, cutoff=_CLOSE):
            return by_key[match]
    return ""


def _sorted_words(name: str) -> str:
    return "_".join(sorted(name.lower().split("_")))


def is_foreign(name: str, sources: Iterable[str]) -> bool:
    """Return whether an unknown parameter of a shared section was meant for another node.

    It may be meant for the collision server if it is close to one of its parameters, if it has a
    word of safety, or if it has the form of a source's: it begins with the name of a source, or
    it is ``<name>.<field>`` with a field that sources have (a source that is missing in
    ``obstacle_sources``).
    """
    split = re.split(r"[._]", _CAMEL.sub("_", name).lower())
    words = {word.removesuffix("s") for word in split}
    if words & _WORDS_OF_SAFETY:
        return False
    owner, _, leaf = name.rpartition(".")
    own = {each.name for each in _parameter_fields(SourceConfig)}
    sources = list(sources)
    if name.partition(".")[0] in sources or (_SOURCE_NAME.fullmatch(owner) and leaf in own):
        return False
    return not closest_parameter(name, sources)


def checked_value(name: str, value: Any) -> Value:
    """Return the value as a flat parameter keeps it; whether it fits the others is not asked.

    Raises
    ------
    InputError
        Wrong type, outside the range, or no such parameter.
    """
    if name == "obstacle_sources":
        return Config.from_parameters({name: value}).parameters()[name]
    owner = SourceConfig if "." in name else Config
    for each in _parameter_fields(owner):
        if each.name == name.rpartition(".")[2]:
            default: Any = each.default
            return _checked(name, value, default, _facts(each))
    raise _refusal(name, "is no parameter of the collision server", value)


def to_yaml(config: Config) -> str:
    """Return the commented ROS parameter file of a configuration."""
    lines = [
        "# SPDX-FileCopyrightText: gjk_collision contributors",
        "# SPDX-License-Identifier: Apache-2.0",
        "#",
        "# Parameters of the collision server, with their defaults. Made by",
        "# python -m gjk_collision.server.config; a test holds the two equal.",
        "# live: can change at run time, while active only towards the safe side (arrow).",
        "/**:",
        "  ros__parameters:",
    ]
    sources = {source.name for source in config.sources}
    group = ""
    for name, value in config.parameters().items():
        owner, _, leaf = name.rpartition(".")
        if owner in sources and owner != group:
            lines.append(f"    {owner}:")
            group = owner
        facts = parameter_facts(name)
        arrow = {"up": "live, up", "down": "live, down", None: ""}[facts.safe]
        notes = "; ".join(part for part in (facts.text, facts.span, arrow) if part)
        indent = " " * (6 if owner else 4)
        # An empty list has no type in a ROS parameter file and is refused: show the name only.
        setting = f"# {leaf}: []" if value == () else f"{leaf}: {_yaml_value(value)}"
        lines += [f"{indent}# {notes}", f"{indent}{setting}"]
    return "\n".join(lines) + "\n"


def _yaml_value(value: Value) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_yaml_value(each) for each in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _parameter_fields(owner: type[Config] | type[SourceConfig]) -> Iterator[Field[Any]]:
    return (each for each in fields(owner) if "facts" in each.metadata)


def _facts(each: Field[Any]) -> Facts:
    facts: Facts = each.metadata["facts"]
    return facts


def _refusal(name: str, rule: str, got: Any, index: int | None = None) -> InputError:
    return InputError(Status.INVALID_INPUT, name, index, f"{rule} (got {got!r})")


def _check_fields(config: Config | SourceConfig, prefix: str) -> None:
    """Check each field against its facts; whole numbers become floats where floats are meant."""
    for each in _parameter_fields(type(config)):
        assert each.default is not MISSING
        value = _checked(
            prefix + each.name, getattr(config, each.name), each.default, _facts(each)
        )
        object.__setattr__(config, each.name, value)


def _checked(name: str, value: Any, default: Value, facts: Facts) -> Value:
    if isinstance(default, tuple):
        if isinstance(value, str):
            value = _nav2_outline(name, value)
        if not isinstance(value, Sequence):
            raise _refusal(name, "must be a list of numbers", value)
        return tuple(_number(name, each, facts, index=i) for i, each in enumerate(value))
    if isinstance(default, bool | str):
        if type(value) is not type(default):
            raise _refusal(name, f"must be a {type(default).__name__}", value)
        if facts.choices and value not in facts.choices:
            raise _refusal(name, f"must be one of {facts.span}", value)
        checked: bool | str = value
        return checked
    number = _number(name, value, facts)
    if isinstance(default, int):
        if not number.is_integer():
            raise _refusal(name, "must be a whole number", value)
        return int(number)
    return number


def _nav2_outline(name: str, text: str) -> list[Any]:
    """Return the flat numbers of an outline as nav2 writes it: ``"[[2.0, 1.0], [2.0, -1.0]]"``."""
    try:
        pairs = ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pairs = None
    lists = isinstance(pairs, list) and all(isinstance(each, list) for each in pairs)
    if not lists or any(len(each) != 2 for each in pairs):
        rule = 'must be a list of numbers, or nav2\'s string "[[x, y], ...]"'
        raise _refusal(name, rule, text)
    return [number for pair in pairs for number in pair]


def _number(name: str, value: Any, facts: Facts, index: int | None = None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refusal(name, f"must be a number, {facts.span}", value, index)
    assert facts.low is not None
    assert facts.high is not None
    if not math.isfinite(value) or not facts.low <= value <= facts.high:
        raise _refusal(name, f"must be {facts.span}", value, index)
    return float(value)


if __name__ == "__main__":
    print(to_yaml(Config()), end="")
