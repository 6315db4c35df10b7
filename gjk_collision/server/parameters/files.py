# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS parameter files: their sections, and the nodes that each section applies to.

rcl reads these files and sets the parameters of a node. It does not report from which file and
section a parameter comes, or that a file has no section for the node.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...verdict import Status
from .config import Config, FootprintConfig, flat_names, parameter_facts
from .names import closest_name, is_group_name, may_set_clearance
from .values import Facts, Value, facts_of, parameter_fields

__all__ = [
    "NODE_NAME",
    "Section",
    "check_values",
    "flat",
    "foreign_names",
    "is_foreign",
    "named_files",
    "read_documents",
    "read_sections",
    "sections_for",
    "to_yaml",
]

# Name of the server node, without remapping.
NODE_NAME = "collision_server"


@dataclass(frozen=True)
class Section:
    """One mapping ``ros__parameters`` of a parameter file.

    Attributes
    ----------
    key : str
        Fully qualified name of the node. The wildcard ``/*`` matches one name, ``/**`` any number
        of names.
    parameters : dict
        Flat name -> value.
    written : str
        The key as written in the file, where the first ``/`` may be missing.
    """

    key: str
    parameters: dict[str, Any]
    written: str = ""

    @property
    def shared(self) -> bool:
        """Whether the key has a wildcard, so that the section applies to several nodes."""
        return "*" in self.key

    def applies_to(self, node: str) -> bool:
        """Return whether the section applies to the node with this fully qualified name."""
        pattern = re.escape(self.key).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
        return re.fullmatch(pattern, node) is not None

    def is_named_as(self, node: str) -> bool:
        """Return whether the key has the name of this node, in any namespace."""
        return self.name == node.rpartition("/")[2]

    @property
    def name(self) -> str:
        """Name of the node in the key, without the namespace."""
        return self.key.rpartition("/")[2]


def read_sections(path: Path) -> list[Section]:
    """Return the sections of a parameter file.

    Raises
    ------
    InputError
        The file cannot be read, or it is not a parameter file.
    """
    if path.exists() and not path.is_file():  # a pipe can be read once only
        rule = "must be a regular file, because it is read twice"
        raise InputError(Status.INVALID_INPUT, str(path), None, rule)
    try:
        return list(_sections("", _parsed(path.read_text(encoding="utf-8")) or {}))
    except (OSError, ValueError) as error:
        rule = f"cannot be read as a parameter file: {error}"
        raise InputError(Status.INVALID_INPUT, str(path), None, rule) from error


def read_documents(text: str) -> list[tuple[Any, dict[tuple[Any, ...], int]]]:
    """Parse YAML as PyYAML does, which refuses some text that rcl accepts.

    Returns
    -------
    list of (Any, dict)
        For each document its value, and the line of each element: its keys and indices -> line.

    Raises
    ------
    ValueError
        PyYAML refuses the text, or a mapping has a key twice. The message has the line.
    """
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            seen: dict[tuple[str, str], int] = {}
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if (name := (key.tag, key.value)) in seen:
                    rule = f"the key '{key.value}' is given twice, first in line {seen[name]}"
                    raise yaml.MarkedYAMLError(None, None, rule, key.start_mark)
                seen[name] = key.start_mark.line + 1
            return node

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep)
            except (LookupError, AttributeError, ValueError) as error:  # a date with month 13
                rule = f"{error} (got {node.value!r})"
                raise yaml.MarkedYAMLError(None, None, rule, node.start_mark) from error

    def walk(node: Any, where: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], int]]:
        yield where, node.start_mark.line + 1
        if id(node) in walked:  # an alias of it; aliases of aliases could take forever
            return
        walked.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for i, each in enumerate(node.value):
                yield from walk(each, (*where, i))
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield from walk(value, (*where, key.value))
                yield (*where, key.value), key.start_mark.line + 1  # not that of its value

    try:
        loader = Loader(text)
        found = []
        while loader.check_node():
            node, walked = loader.get_node(), set[int]()
            found.append((loader.construct_document(node), dict(walk(node, ()))))
        return found
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"line {error.problem_mark.line + 1}: {error.problem}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _parsed(text: str) -> Any:
    """Return the value of the only document in a YAML text; None: it has no document."""
    found = read_documents(text)
    if len(found) > 1:
        line = found[1][1][()]
        raise ValueError(f"line {line}: a second document; a parameter file must have only one")
    return found[0][0] if found else None


def sections_for(path: Path, node: str) -> list[Section]:
    """Return the sections of a parameter file that apply to the node with this full name.

    Raises
    ------
    InputError
        The file cannot be read, or no section with parameters applies to the node. The error is
        also raised if the file has sections with the name of this node, or with its name before a
        remapping, but all of them are in other namespaces: a section with a wildcard must not
        hide this mistake.
    """
    sections = read_sections(path)
    filled = [each for each in sections if each.parameters]
    mine = [each for each in filled if each.applies_to(node)]
    missed = [
        each.key
        for each in filled
        if (each.is_named_as(node) or each.name == NODE_NAME) and each not in mine
    ]
    if not mine:
        rule = f"no section of this file applies to {node}: use the key '/**' or '{node}'"
        keys = ", ".join(
            f"'{each.key}'" + ("" if each.parameters else " without parameters")
            for each in sections
        )
        rule += f" (keys: {keys or 'none'})"
    elif missed and not any(each.is_named_as(node) for each in mine):
        keys = ", ".join(f"'{key}'" for key in missed)
        rule = f"the section {keys} does not apply to {node}: use the key '{node}'"
    else:
        # Sections without parameters too: `check_values` needs the order of the keys.
        return [each for each in sections if each.applies_to(node)]
    raise InputError(Status.INVALID_INPUT, str(path), None, rule)


def _sections(key: str, content: Any) -> Iterator[Section]:
    if not isinstance(content, dict):
        raise ValueError(f"'{key}' must be a mapping with the key ros__parameters")
    for name, inner in content.items():
        if name == "ros__parameters":
            yield Section(f"/{key.lstrip('/')}", flat(inner or {}), key)
        else:
            yield from _sections(f"{key}/{str(name).lstrip('/')}" if key else str(name), inner)


def flat(parameters: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested parameters as a dict from flat names, ``<group>.<name>``, to values.

    Raises
    ------
    ValueError
        `parameters` is not a mapping, or it has the same flat name twice, or a list has
        integers and floats, which rcl does not accept.
    """
    if not isinstance(parameters, dict):
        raise ValueError(f"parameters must be a mapping (got {parameters!r})")
    found: dict[str, Any] = {}
    for key, value in parameters.items():
        name = f"{prefix}{key}"
        if isinstance(value, list) and {int, float} <= {type(each) for each in value}:
            rule = "must not have both integers and floats: write 1.0, not 1, beside floats"
            raise ValueError(f"the list '{name}' {rule} (got {value!r})")
        inner = flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
        if twice := found.keys() & inner.keys():
            raise ValueError(f"the parameter '{min(twice)}' is given twice")
        found |= inner
    return found


def foreign_names(sections: Iterable[Section], sources: Iterable[str]) -> set[str]:
    """Return the names in sections with a wildcard that are parameters of other nodes."""
    shared: set[str] = set()
    own: set[str] = set()
    for section in sections:
        (shared if section.shared else own).update(section.parameters)
    return {name for name in shared - own if is_foreign(name, sources)}


def is_foreign(name: str, groups: Iterable[str]) -> bool:
    """Return whether an unknown parameter of a shared section was meant for another node.

    The parameter may be meant for the collision server, and the result is False, if its name

    - is close to the name of a parameter, see `closest_name`;
    - may set a clearance;
    - begins with the name of a source or a footprint, which are `groups`; or
    - is ``<name>.<field>`` with a field of `SourceConfig` or `FootprintConfig`: the name may be
      missing in ``obstacle_sources`` or ``footprint_names``.
    """
    groups = list(groups)
    owner = name.rpartition(".")[0]
    if may_set_clearance(name) or name.partition(".")[0] in groups:
        return False
    if is_group_name(owner) and name in flat_names([owner]):
        return False
    return not closest_name(name, flat_names(groups))


def named_files(arguments: Sequence[str]) -> Iterable[str]:
    """Yield the paths after ``--params-file`` in the ROS arguments of a command line."""
    return (value for flag, value in _ros_arguments(arguments) if flag == "--params-file")


def check_values(
    arguments: Sequence[str], files: Mapping[str, Sequence[Section]], node: str
) -> None:
    """Check that the values after ``-p`` in the ROS arguments of a command line are used.

    Parameters
    ----------
    arguments : sequence of str
        The command line.
    files : mapping
        Path of each parameter file on the command line -> its sections that apply to the node.
    node : str
        Full name of the node.

    Raises
    ------
    InputError
        A value has the name of this server in another namespace, or its name before a remapping,
        and so has no effect; or a parameter file replaces the value.

    Notes
    -----
    rcl keeps the values of each key together, in the order in which the keys first appear on the
    command line. The keys ``n`` and ``/n`` are different. A value after ``-p`` without the name of
    a node has the key ``/**``. The later value of a key is used, and of several keys that match
    the node, the last one.
    """
    values: dict[str, dict[str, tuple[str, Any]]] = {}  # key -> name -> rule after -p or "", value
    typed: dict[str, tuple[str, str]] = {}  # name -> rule, text of the last value after -p
    for flag, word in _ros_arguments(arguments):
        if flag == "--params-file":
            for section in files.get(word, ()):
                own = values.setdefault(section.written or section.key, {})
                own |= {name: ("", value) for name, value in section.parameters.items()}
        if flag not in ("-p", "--param") or ":=" not in word:
            continue
        target, text = word.split(":=", 1)
        key, _, name = target.rpartition(":")
        given = Section(f"/{key.lstrip('/')}" if key else "/**", {})
        if given.applies_to(node):
            values.setdefault(key or given.key, {})[name] = word, text
            typed[name] = word, text
        elif given.is_named_as(node) or given.name == NODE_NAME:
            why = f"does not apply to {node}: use '{name}:=...'"
            raise InputError(Status.INVALID_INPUT, f"-p {word}", None, why)
    used = {name: (key, *each) for key, own in values.items() for name, each in own.items()}
    for name, (word, text) in typed.items():
        key, by, in_file = used[name]
        if by:
            continue
        try:
            if in_file == _parsed(text):
                continue
            why = f"the section '{key}' of a parameter file replaces it with {in_file!r}: "
            why += "remove it from the file, or pass the file before the value"
        except ValueError as error:
            why = f"the value cannot be read as YAML: {error}"
        raise InputError(Status.INVALID_INPUT, f"-p {word}", None, why)


def _ros_arguments(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each ROS argument of a command line with the argument after it."""
    inside = False
    for flag, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if flag in ("--ros-args", "--"):
            inside = flag == "--ros-args"
        elif inside:
            yield flag, value


def to_yaml(config: Config) -> str:
    """Return a configuration as a ROS parameter file with comments."""
    lines = [
        "# SPDX-FileCopyrightText: gjk_collision contributors",
        "# SPDX-License-Identifier: Apache-2.0",
        "#",
        "# Parameters of the collision server, with their defaults. This file is generated by",
        "# python -m gjk_collision.server.parameters.files, and a test checks that it is current.",
        "# Brackets: the range with the unit, or the choices. A parameter marked 'live' can",
        "# change on a configured node. While the node is active, it can only increase (up) or",
        "# decrease (down). Other parameters can only change while the node is not configured.",
        "/**:",
        "  ros__parameters:",
    ]
    group = ""
    for name, value in config.parameters().items():
        owner, _, leaf = name.rpartition(".")
        if owner and owner != group:
            lines.append(f"    {owner}:")
            group = owner
        indent = " " * (6 if owner else 4)
        # ROS refuses an empty list in a parameter file, because it has no type. Comment it out.
        setting = f"# {leaf}: []" if value == () else f"{leaf}: {_yaml_value(value)}"
        lines += [indent + _help_line(parameter_facts(name)), indent + setting]
    if not config.footprints:
        lines.append(
            "    # Each name in footprint_names has these parameters, with these defaults:"
        )
        lines.append("    # <name>:")
        for each in parameter_fields(FootprintConfig):
            text = "[]" if each.default == () else str(each.default)
            lines += [f"    #   {_help_line(facts_of(each))}", f"    #   {each.name}: {text}"]
    return "\n".join(lines) + "\n"


def _help_line(facts: Facts) -> str:
    live = {"up": "live, up", "down": "live, down", None: ""}[facts.safe]
    types = " and ".join(kind.rpartition("/")[2] for kind in facts.types)
    only = f"only {types}" if types else ""
    limits = "; ".join(part for part in (facts.span, live, only) if part)
    return f"# {facts.text} [{limits}]" if limits else f"# {facts.text}"


def _yaml_value(value: Value) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_yaml_value(each) for each in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return '""' if value == "" else str(value)


if __name__ == "__main__":
    print(to_yaml(Config()), end="")
