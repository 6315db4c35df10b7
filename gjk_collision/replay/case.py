# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A case of replay: a bag, the parameters, the injected faults, and the expected results."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..server.data.footprints import named_footprints
from ..server.parameters.config import Config
from ..server.parameters.files import (
    NODE_NAME,
    flat,
    parameters_for,
    read_documents,
    read_sections,
)
from ..server.parameters.names import is_of_every_node
from .bag import STORAGE, BagError, find_bags
from .case_fields import CaseError, Fields, Place
from .expect import Reaction, Share, Window, parse
from .faults import FaultSpec
from .topics import checked_mapping

__all__ = ["Case", "CaseError", "only_server", "read_cases", "read_parameters"]

# Default of `Case.tolerance` [m].
TOLERANCE = 1e-6

_KEYS = (
    "name", "bag", "topics", "parameters", "faults", "expect", "tolerance", "replies_may_differ",
    "live_parameters", "nearest",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One replay to run. It can be pickled and sent to other processes and machines.

    Attributes
    ----------
    name : str
        Name of the case in the reports; unique in a run.
    bag : Path
        Folder or file of the bag.
    config : Config
        Parameters of the server.
    topics : dict
        The topics to use, see `topics.choose`.
    faults : tuple of FaultSpec
        Faults that are injected into the messages.
    expect : tuple of Window, Reaction or Share
        Expected results.
    tolerance : float
        Maximum difference between a distance and that of the golden result [m].
    replies_may_differ : bool
        Whether a recorded reply FREE may have another verdict now.
    live_parameters : bool
        Whether the changes of parameters that were recorded are applied.
    nearest : int
        Number of the nearest obstacles that are compared with the golden result.
    """

    name: str
    bag: Path
    config: Config = field(default_factory=Config)
    topics: dict[str, Any] = field(default_factory=dict)
    faults: tuple[FaultSpec, ...] = ()
    expect: tuple[Window | Reaction | Share, ...] = ()
    tolerance: float = TOLERANCE
    replies_may_differ: bool = False
    live_parameters: bool = True
    nearest: int = 1


def read_cases(path: Path, config: Config, bags: Path | None = None) -> list[Case]:
    """Return the cases for a path on the command line.

    Parameters
    ----------
    path : Path
        A scenario file (.yaml, one case per document), a bag, or a folder of bags.
    config : Config
        Parameters of the server. Each parameter in a scenario replaces the one given here.
    bags : Path
        Folder of the scenarios' bags; None: the folder of the scenario file.

    Raises
    ------
    CaseError
        The scenario file is not valid.
    BagError
        There is no bag at this path.
    """
    if path.suffix not in (".yaml", ".yml") or path.name == "metadata.yaml":
        found = find_bags(path.parent if path.name == "metadata.yaml" else path)
        if not found:
            raise BagError(f"{path}: this folder contains no bag")
        root = path if path.is_dir() and found != [path] else None
        return [Case(_name(bag, root), bag, config) for bag in found]
    if not path.is_file():
        rule = "this scenario file does not exist. A scenario is a text such as"
        example = "{bag: drive_0412, expect: {windows: [{from: 0, to: 60, never: COLLISION}]}}"
        raise CaseError(f"{path}: {rule} {example}")
    try:
        documents = read_documents(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CaseError(f"{path}: {error}") from error
    cases = []
    for i, (given, lines) in enumerate(documents):
        default = path.stem if len(documents) == 1 else f"{path.stem}-{i}"
        name = str(given.get("name", default)) if isinstance(given, dict) else default
        name = name.replace("/", "_")
        place = Place(str(path), name, lines)
        # It is the name of a folder.
        if name.strip() in ("", ".", "..") or not name.isprintable() or len(name.encode()) > 200:
            rule = "must be a name of a folder: printable, at most 200 bytes, and not '.' or '..'"
            raise place.at("name").error(f"{rule} (got {name!r})")
        cases.append(_parse(given, place, config, bags or path.parent))
    if not cases:
        raise CaseError(f"{path}: the file contains no case")
    return cases


def read_parameters(path: Path, node: str = "") -> Config:
    """Return the configuration of a server in a ROS parameter file.

    Parameters
    ----------
    path : Path
        The parameter file.
    node : str
        Full name of the server, such as ``/r1/collision_server``. Default: the only server with a
        section, or ``/collision_server`` if there is none.

    Raises
    ------
    CaseError
        The file cannot be read, a parameter is not valid, no section applies to the server, or
        several servers have a section and none is chosen.
    """
    try:
        given = parameters_for(path, node or only_server(path))
        own = {name: given[name] for name in given if not is_of_every_node(name)}
        config = Config.from_parameters(own)
        named_footprints(config)  # refuses outlines that are not valid
        return config
    except InputError as error:
        raise CaseError(f"{path}: {error}") from error


def only_server(path: Path) -> str:
    """Return the full name of the only server with a section in a parameter file.

    Without any, it is the usual name. Several are refused with a `CaseError`.
    """
    keys = {each.key for each in read_sections(path) if "*" not in each.key}
    servers = {key for key in keys if key.rpartition("/")[2] == NODE_NAME}
    if len(servers) > 1:
        names = ", ".join(sorted(servers))
        raise CaseError(f"{path}: sections of several servers: {names}; choose one with --node")
    return servers.pop() if servers else f"/{NODE_NAME}"


def _parse(given: Any, place: Place, config: Config, folder: Path) -> Case:
    fields = Fields(given, place, _KEYS)
    try:
        parameters = flat(fields.get("parameters") or {})
        own = config.changed(parameters)
        named_footprints(own)  # refuses outlines that are not valid
    except InputError as error:
        name = error.argument
        keys = [name] if ("parameters", name) in place.lines else name.split(".")
        raise place.at("parameters", *keys).error(error.rule) from error
    except ValueError as error:
        raise place.at("parameters").error(str(error)) from error
    return Case(
        place.case,
        folder / fields.text("bag"),
        own,
        checked_mapping(fields.get("topics") or {}, place.at("topics")),
        tuple(FaultSpec.parse(*each) for each in fields.items("faults")),
        tuple(parse(fields.get("expect"), place.at("expect"))),
        fields.number("tolerance", TOLERANCE, 0.0),
        fields.flag("replies_may_differ"),
        fields.flag("live_parameters", default=True),
        fields.whole("nearest", 1) or 1,
    )


def _name(bag: Path, root: Path | None) -> str:
    relative = bag.relative_to(root) if root is not None else Path(bag.resolve().name)
    if relative.suffix in STORAGE:
        relative = relative.with_suffix("")
    return "_".join(relative.parts)
