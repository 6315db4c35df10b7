# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A case: a bag, the parameters to replay it with, what to break in it, what must come out."""

from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from ..errors import InputError
from ..server.config import Config
from ..server.parameter_files import flat, foreign_names, read_sections
from .bag import STORAGE, BagError, find_bags
from .expect import Reaction, Share, Window, parse
from .faults import FaultSpec
from .topics import checked_mapping

__all__ = ["Case", "CaseError", "read_cases", "read_parameters"]

# Distances of two results may differ by this [m], where the case says nothing.
TOLERANCE = 1e-6

_KEYS = ("name", "bag", "topics", "parameters", "faults", "expect", "tolerance")


class CaseError(ValueError):
    """A scenario file that is none; the message says where."""


@dataclass(frozen=True)
class Case:
    """One replay to be run. It travels to other processes and machines as it is.

    Attributes
    ----------
    name : str
        Of its reports; unique in a run.
    bag : Path
        Folder or file.
    config : Config
        Parameters.
    topics : dict
        See `topics.choose`.
    faults, expect
        See the modules of those names.
    tolerance : float
        For distances beside a golden result [m].
    """

    name: str
    bag: Path
    config: Config = field(default_factory=Config)
    topics: dict[str, Any] = field(default_factory=dict)
    faults: tuple[FaultSpec, ...] = ()
    expect: tuple[Window | Reaction | Share, ...] = ()
    tolerance: float = TOLERANCE


def read_cases(path: Path, config: Config, bags: Path | None = None) -> list[Case]:
    """Return the cases that a path on the command line stands for.

    Parameters
    ----------
    path : Path
        A scenario file (.yaml, several documents: several cases), a bag, or a folder of bags.
    config : Config
        Parameters, where the scenario has none.
    bags : Path
        Folder of the scenarios' bags; None: that of the file.

    Raises
    ------
    CaseError, BagError
        It is none of those.
    """
    if path.suffix not in (".yaml", ".yml") or path.name == "metadata.yaml":
        found = find_bags(path.parent if path.name == "metadata.yaml" else path)
        if not found:
            raise BagError(f"{path}: no bag in this folder")
        root = path if path.is_dir() and found != [path] else None
        return [Case(_name(bag, root), bag, config) for bag in found]
    try:
        documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CaseError(f"{path}: {error}") from error
    cases = []
    for i, given in enumerate(documents):
        default = path.stem if len(documents) == 1 else f"{path.stem}-{i}"
        try:
            cases.append(_parse(given, default, config, bags or path.parent))
        except ValueError as error:
            raise CaseError(f"{path}, document {i}: {error}") from error
    if not cases:
        raise CaseError(f"{path}: holds no case")
    return cases


def read_parameters(path: Path) -> Config:
    """Return the configuration of a ROS parameter file; raises `CaseError`."""
    given: dict[str, Any] = {}
    try:
        sections = read_sections(path)
        for section in sections:
            given |= section.parameters
        sources = given.get("obstacle_sources")
        named = [str(each) for each in sources] if isinstance(sources, list) else ["obstacles"]
        for name in foreign_names(sections, named):
            del given[name]
        if not given:
            raise CaseError(f"{path}: holds no parameter of the collision server")
        given.pop("use_sim_time", None)  # every node's own
        return Config.from_parameters(given)
    except InputError as error:
        raise CaseError(f"{path}: {error}") from error


def _parse(given: Any, default: str, config: Config, folder: Path) -> Case:
    if not isinstance(given, dict):
        raise CaseError("must be a mapping")
    if stray := given.keys() - set(_KEYS):
        raise CaseError(f"knows no {', '.join(sorted(map(str, stray)))}")
    if not isinstance(given.get("bag"), str):
        raise CaseError("bag: must name a bag")
    tolerance = given.get("tolerance", TOLERANCE)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise CaseError(f"tolerance: must be a number (got {tolerance!r})")
    if not isfinite(tolerance) or tolerance < 0.0:
        raise CaseError(f"tolerance: must be finite and >= 0 (got {tolerance})")
    parameters = given.get("parameters") or {}
    case = Case(
        str(given.get("name", default)),
        folder / given["bag"],
        config.changed(flat(parameters)),
        checked_mapping(given.get("topics") or {}),
        tuple(FaultSpec.parse(each) for each in given.get("faults") or ()),
        tuple(parse(given.get("expect"))),
        float(tolerance),
    )
    return replace(case, name=case.name.replace("/", "_"))


def _name(bag: Path, root: Path | None) -> str:
    relative = bag.relative_to(root) if root is not None else Path(bag.name)
    if relative.suffix in STORAGE:
        relative = relative.with_suffix("")
    return "_".join(relative.parts)
