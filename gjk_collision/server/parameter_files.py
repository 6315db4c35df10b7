# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""ROS parameter files: the sections that they hold, and the nodes that each section is for.

rcl reads the files and gives a node its parameters, but it does not tell which file or section a
parameter came from, nor that a file had none for a node.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..verdict import Status
from .config import is_foreign

__all__ = [
    "NODE_NAME",
    "Section",
    "flat",
    "foreign_names",
    "named_files",
    "read_sections",
    "sections_for",
]

# Of the server, where it is not remapped.
NODE_NAME = "collision_server"


@dataclass(frozen=True)
class Section:
    """One mapping ``ros__parameters`` of a file.

    Attributes
    ----------
    key : str
        Names of nodes, fully qualified; ``/*`` stands for one name, ``/**`` for any number.
    parameters : dict
        By flat name.
    """

    key: str
    parameters: dict[str, Any]

    @property
    def shared(self) -> bool:
        """Whether the section is for several nodes."""
        return "*" in self.key

    def applies_to(self, node: str) -> bool:
        """Return whether a node of this fully qualified name gets the parameters."""
        pattern = re.escape(self.key).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
        return re.fullmatch(pattern, node) is not None

    def is_named_as(self, node: str) -> bool:
        """Return whether the key ends in the name of the node, in whatever namespace."""
        return self.name == node.rpartition("/")[2]

    @property
    def name(self) -> str:
        """Name of the nodes, without their namespace."""
        return self.key.rpartition("/")[2]


def read_sections(path: Path) -> list[Section]:
    """Return the sections of a parameter file.

    Raises
    ------
    InputError
        The file cannot be read, or is no parameter file.
    """
    import yaml

    try:
        return list(_sections("", yaml.safe_load(path.read_text(encoding="utf-8")) or {}))
    except (OSError, ValueError, yaml.YAMLError) as error:
        rule = f"not readable as a parameter file: {error}"
        raise InputError(Status.INVALID_INPUT, str(path), None, rule) from error


def sections_for(path: Path, node: str) -> list[Section]:
    """Return the sections of a parameter file that apply to a node of this fully qualified name.

    A section without parameters does not count.

    Raises
    ------
    InputError
        The file cannot be read, nothing in it applies to the node, or it has sections for nodes of
        this name, or of the name before a remapping, none of which applies. What a section with a
        wildcard sets would hide that.
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
        rule = f"nothing in this file applies to {node}: use the key '/**' or '{node}'"
        keys = ", ".join(
            f"'{each.key}'" + ("" if each.parameters else " without parameters")
            for each in sections
        )
        rule += f" (keys: {keys or 'none'})"
    elif missed and not any(each.is_named_as(node) for each in mine):
        keys = ", ".join(f"'{key}'" for key in missed)
        rule = f"{keys} does not apply to {node}: use the key '{node}'"
    else:
        return mine
    raise InputError(Status.INVALID_INPUT, str(path), None, rule)


def _sections(key: str, content: Any) -> Iterator[Section]:
    if not isinstance(content, dict):
        raise ValueError(f"'{key}' must hold a mapping with the key ros__parameters")
    for name, inner in content.items():
        if name == "ros__parameters":
            yield Section(key, flat(inner or {}))
        else:
            yield from _sections(f"{key}/{str(name).lstrip('/')}", inner)


def flat(parameters: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested parameters by their flat names, ``<group>.<name>``.

    Raises
    ------
    ValueError
        It is no mapping.
    """
    if not isinstance(parameters, dict):
        raise ValueError(f"parameters must be a mapping (got {parameters!r})")
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def foreign_names(sections: Iterable[Section], sources: Iterable[str]) -> set[str]:
    """Return the names of shared sections that are parameters of other nodes."""
    shared: set[str] = set()
    own: set[str] = set()
    for section in sections:
        (shared if section.shared else own).update(section.parameters)
    return {name for name in shared - own if is_foreign(name, sources)}


def named_files(arguments: Sequence[str]) -> Iterable[str]:
    """Yield the parameter files that the ROS arguments of a command line name."""
    inside = False
    for flag, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if flag in ("--ros-args", "--"):
            inside = flag == "--ros-args"
        elif inside and flag == "--params-file":
            yield value
