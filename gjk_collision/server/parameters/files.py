# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS parameter files: their sections, and the nodes that each section applies to.

rcl reads these files and sets the parameters of a node. It does not report that a file has no
section for the node, or that a file replaces a value of the command line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError, refuse
from ...verdict import Status
from .names import did_you_mean

__all__ = [
    "NODE_NAME",
    "Section",
    "check_values",
    "flat",
    "named_files",
    "parameters_for",
    "read_documents",
    "read_sections",
]

# Name of the server node, without remapping.
NODE_NAME = "collision_server"
_KEY = re.compile(r"(/(\w+|\*\*?))+")
# Names of further servers, such as front_collision_server and collision_server_2.
_OTHER_SERVER = re.compile(rf"(\w*[^\W_]_)?{NODE_NAME}(\d+|_\w*[^\W_])?")


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
    """

    key: str
    parameters: dict[str, Any]

    def applies_to(self, node: str) -> bool:
        """Return whether the section applies to the node with this fully qualified name."""
        pattern = re.escape(self.key).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
        return re.fullmatch(pattern, node) is not None

    def has_name_of(self, node: str) -> bool:
        """Return whether the key has the name of the server, remapped or not, in any namespace."""
        return self.key.rpartition("/")[2] in (node.rpartition("/")[2], NODE_NAME)

    def is_misspelled(self) -> bool:
        """Return whether the key is nearly the name of the server, but not of a further one."""
        name = self.key.rpartition("/")[2]
        return not _OTHER_SERVER.fullmatch(name) and bool(did_you_mean(name, [NODE_NAME], 0.9))


def read_sections(path: Path) -> list[Section]:
    """Return the sections of a parameter file.

    Raises
    ------
    InputError
        The file cannot be read, or it is not a parameter file.
    """
    try:
        documents = read_documents(path.read_text(encoding="utf-8"))
        if len(documents) > 1:
            raise ValueError("it has several documents; a parameter file must have only one")
        return [each for value, _ in documents for each in _sections("", value or {})]
    except (OSError, ValueError) as error:
        rule = f"cannot be read as a parameter file: {error}"
        raise InputError(Status.INVALID_INPUT, str(path), None, rule) from error


def parameters_for(path: Path, node: str) -> dict[str, Any]:
    """Return the values that a parameter file has for the node with this full name.

    Raises
    ------
    InputError
        The file cannot be read, or no section with parameters applies to the node. If the file
        has sections with the name of the server, one of them must apply: a section with a wildcard
        must not hide that the others are in other namespaces, and have no effect. The key of a
        section is nearly the name of the server, or a later section replaces a value of the
        section for this node.
    """
    sections = read_sections(path)
    filled = [each for each in sections if each.parameters]
    _check_keys(path, filled, node)
    named = [each for each in filled if each.has_name_of(node)]
    if any(each.applies_to(node) for each in named or filled):
        return _merged(path, [each for each in filled if each.applies_to(node)])
    keys = [
        f"'{each.key}'" if each.parameters else f"'{each.key}' without parameters"
        for each in sections
    ]
    which, use = ("with its name ", "") if named else ("", "'/**' or ")
    rule = f"no section of this file {which}applies to {node}: use the key {use}'{node}'"
    rule += f" (keys: {', '.join(keys) or 'none'})"
    raise InputError(Status.INVALID_INPUT, str(path), None, rule)


def _check_keys(path: Path, sections: Sequence[Section], node: str) -> None:
    """Refuse sections that were meant for the server, but apply to no node with its name."""
    for each in sections:
        if not _KEY.fullmatch(each.key):
            rule = f"the key {each.key!r} must be the name of a node, of letters, digits and "
            refuse(str(path), f"{rule}underscores, or a wildcard")
        if each.is_misspelled() and not each.applies_to(node):
            refuse(str(path), f"the key '{each.key}' does not apply to {node}: correct its name")


def _merged(path: Path, sections: Sequence[Section]) -> dict[str, Any]:
    """Return the values of sections that apply to one node, of which rcl uses the last.

    Only a value of a section with a wildcard may be replaced by another one.
    """
    found: dict[str, Any] = {}
    fixed: dict[str, Any] = {}
    for section in sections:
        for name, value in section.parameters.items():
            if name in fixed and fixed[name] != value:
                rule = f"'{name}' is {fixed[name]!r} in the section of the node, and {value!r} in "
                refuse(str(path), f"{rule}'{section.key}' after it: remove one of the two")
        found |= section.parameters
        if "*" not in section.key:
            fixed |= section.parameters
    return found


def _sections(key: str, content: Any) -> Iterator[Section]:
    if not isinstance(content, dict):
        raise ValueError(f"'{key}' must be a mapping with the key ros__parameters")
    for name, inner in content.items():
        if name == "ros__parameters":
            yield Section(f"/{key.lstrip('/')}", flat(inner or {}))
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

    def walk(node: Any, where: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], int]]:
        yield where, node.start_mark.line + 1
        if id(node) in walked:  # an alias of it; aliases of aliases could take forever
            return
        walked.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for i, each in enumerate(node.value):
                yield from walk(each, (*where, i))
        elif isinstance(node, yaml.MappingNode):
            keys: dict[str, int] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if key.value in keys:  # PyYAML and rcl would use the last of the two values
                    rule = f"the key '{key.value}' is given twice, first in line {keys[key.value]}"
                    raise yaml.MarkedYAMLError(None, None, rule, key.start_mark)
                keys[key.value] = key.start_mark.line + 1
                yield from walk(value, (*where, key.value))
                yield (*where, key.value), key.start_mark.line + 1  # not that of its value

    try:
        loader = yaml.SafeLoader(text)
        found = []
        while loader.check_node():
            node, walked = loader.get_node(), set[int]()
            lines = dict(walk(node, ()))
            found.append((loader.construct_document(node), lines))
        return found
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"line {error.problem_mark.line + 1}: {error.problem}") from error
    # The others are errors of values, for example of a date with month 13.
    except (yaml.YAMLError, RecursionError, LookupError, AttributeError) as error:
        raise ValueError(str(error)) from error


def named_files(arguments: Sequence[str]) -> list[str]:
    """Return the paths after ``--params-file`` in the ROS arguments of a command line."""
    return [value for flag, value in _ros_arguments(arguments) if flag == "--params-file"]


def check_values(arguments: Sequence[str], node: str, used: Mapping[str, Any]) -> None:
    """Check that the values in the ROS arguments of a command line are used.

    Parameters
    ----------
    arguments : sequence of str
        The command line.
    node : str
        Full name of the node.
    used : mapping
        Flat name -> value that rcl has given the node.

    Raises
    ------
    InputError
        A parameter file does not apply to the node, see `parameters_for`. A value after ``-p`` has
        no effect: a parameter file replaces it, or it is for a node with the name of this server,
        or with its name before a remapping, in another namespace, or with nearly its name. The
        last parameter file with a value does not replace those before it: rcl orders sections by
        where their keys are first on the command line.
    """
    given: dict[str, tuple[str, Any]] = {}  # name -> last file, its value
    differ = set()
    for file in named_files(arguments):
        parameters_for(Path(file), node)
        for each in read_sections(Path(file)):
            if each.applies_to(node):
                again = given.keys() & each.parameters.keys()
                differ |= {name for name in again if given[name][1] != each.parameters[name]}
                given |= {name: (file, value) for name, value in each.parameters.items()}
    rules = [rule for flag, rule in _ros_arguments(arguments) if flag in ("-p", "--param")]
    last = dict(rule.split(":=", 1) for rule in rules if ":=" in rule)
    for target, text in last.items():
        key, _, name = target.rpartition(":")
        section = Section(f"/{key.lstrip('/')}" if key else "/**", {})
        if not (section.applies_to(node) or section.has_name_of(node) or section.is_misspelled()):
            continue
        differ.discard(name)
        if name not in used or not _is_written(used[name], text):
            why = f"is not used: {node} has the value {used.get(name)!r}. Pass '{name}:=...', "
            why += "and remove the value from parameter files, or pass the files before it"
            raise InputError(Status.INVALID_INPUT, f"-p {target}:={text}", None, why)
    for name in differ:
        file, value = given[name]
        if not _is_same(used.get(name), value):
            why = f"'{name}' is {value!r}, but {node} has the value {used.get(name)!r} of another "
            refuse(file, f"{why}section: use the key '{node}' in place of the other keys")


def _is_same(used: Any, value: Any) -> bool:
    """Return whether a value from rcl is one from PyYAML, which reads 1e3 as a string."""
    used = list(used) if isinstance(used, Iterable) and not isinstance(used, str) else used
    return bool(used == value) or (isinstance(value, str) and _is_written(used, value))


def _is_written(value: Any, text: str) -> bool:
    """Return whether rcl reads a text as this value."""
    value = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value
    try:
        ((written, _),) = read_documents(text)
        return bool(written == value or float(written) == value)  # PyYAML reads 1e3 as a string
    except (ValueError, TypeError):
        return False


def _ros_arguments(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each ROS argument of a command line with the argument after it."""
    inside = False
    for flag, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if flag in ("--ros-args", "--"):
            inside = flag == "--ros-args"
        elif inside:
            yield flag, value
