# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of parameters: those of every node, those that are close to a misspelled one."""

import re
from collections.abc import Container, Iterable, Sequence
from difflib import get_close_matches

from ...errors import refuse

__all__ = [
    "OF_EVERY_NODE",
    "check_names",
    "did_you_mean",
    "is_of_every_node",
]

# Parameters that rclpy gives every node. Further ones are "qos_overrides.<topic>.*".
OF_EVERY_NODE = ("use_sim_time", "start_type_description_service")
_QOS_OVERRIDES = "qos_overrides"
# If the similarity of two names (difflib's ratio) is at least this, one counts as a misspelling of
# the other. Names with one or two wrong letters are above it. Names that nav2 uses
# (robot_base_frame: 0.77) are below it.
_CLOSE = 0.8
_GROUP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def did_you_mean(name: str, names: Iterable[str], cutoff: float = _CLOSE) -> str:
    """Return the end of an error message that names the closest name; empty if none is close.

    Two names are close if their letters are similar, or if their words are similar but in another
    order (``front_margin`` and ``margin_front``).
    """
    for key in (str.lower, _sorted_words):
        by_key = {key(each): each for each in names}
        for match in get_close_matches(key(name), by_key, n=1, cutoff=cutoff):
            return f"; did you mean '{by_key[match]}'?"
    return ""


def _sorted_words(name: str) -> str:
    return "_".join(sorted(name.lower().split("_")))


def is_of_every_node(name: str) -> bool:
    """Return whether rclpy gives every node this parameter; it is not one of the server.

    The whole name is compared. ``use_sim_time_a.inflation`` is a parameter of a source, and
    ``use_sim_timee`` is a misspelling. A topic in ``qos_overrides.<topic>.*`` begins with "/".
    """
    return name in OF_EVERY_NODE or name.startswith(f"{_QOS_OVERRIDES}./")


def check_names(parameter: str, names: Sequence[str], taken: Container[str]) -> None:
    """Check the names of sources or footprints."""
    if parameter == "obstacle_sources" and not names:
        refuse(parameter, "must name at least one source", [])
    reserved = (*OF_EVERY_NODE, _QOS_OVERRIDES)
    for i, name in enumerate(names):
        is_used = name in taken or name in reserved or name in names[:i]
        if not _GROUP_NAME.fullmatch(name) or is_used:
            rule = (
                "must be a unique name of letters, digits and underscores, "
                "and not the name of a parameter"
            )
            if parameter == "footprint_names":
                rule += ", of a source or 'default'"
            refuse(parameter, rule, repr(name), i)
