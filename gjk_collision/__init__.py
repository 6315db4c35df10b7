# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Exact and certified 2D collision and distance queries.

The main question is whether a vehicle, at a given pose and time, is clear of all known obstacles:
see `Scene.check`. Units are m, s and rad; angles are counter-clockwise. Contact is a collision.
Invalid input raises `InputError`; the sections "Raises" list the possible values of its `status`.

A public name is loaded from its module when it is first used. Therefore importing the package, or
one of its modules, does not import the other modules.
"""

from importlib import import_module
from importlib.metadata import version
from sys import version_info
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .certificate import FreeCertificate as FreeCertificate
    from .convert import obstacles_from_grid as obstacles_from_grid
    from .convert import obstacles_from_points as obstacles_from_points
    from .convert import obstacles_from_scan as obstacles_from_scan
    from .convert.seen import seen_by_grid as seen_by_grid
    from .convert.seen import seen_by_scan as seen_by_scan
    from .errors import InputError as InputError
    from .geometry import Closest as Closest
    from .geometry import Penetration as Penetration
    from .geometry import Shape as Shape
    from .geometry import closest as closest
    from .geometry import collide as collide
    from .geometry import distance as distance
    from .geometry import penetration as penetration
    from .motion import Approach as Approach
    from .motion import Impact as Impact
    from .motion import Motion as Motion
    from .motion import closest_approach as closest_approach
    from .motion import ray_cast as ray_cast
    from .motion import shape_cast as shape_cast
    from .motion import time_of_impact as time_of_impact
    from .pairs import check_pairs as check_pairs
    from .pairs import collide_many as collide_many
    from .pairs import distance_many as distance_many
    from .path import Path as Path
    from .region import OUTSIDE as OUTSIDE
    from .region import Region as Region
    from .results import CheckResult as CheckResult
    from .results import ContactResult as ContactResult
    from .results import CriticalityResult as CriticalityResult
    from .results import GradientResult as GradientResult
    from .results import NearestResult as NearestResult
    from .results import PairsResult as PairsResult
    from .results import PathResult as PathResult
    from .results import PathsResult as PathsResult
    from .results import RayCastResult as RayCastResult
    from .results import TimeToCollisionResult as TimeToCollisionResult
    from .scene import Scene as Scene
    from .tracing import Trace as Trace
    from .tracing import TraceStep as TraceStep
    from .tracing import trace as trace
    from .verdict import Status as Status
    from .verdict import Verdict as Verdict

    __version__: str

# Module of each public name, for loading at run time. A test compares this with the imports above.
_MODULE_OF = {
    "FreeCertificate": "certificate",
    "obstacles_from_grid": "convert",
    "obstacles_from_points": "convert",
    "obstacles_from_scan": "convert",
    "seen_by_grid": "convert.seen",
    "seen_by_scan": "convert.seen",
    "InputError": "errors",
    "Closest": "geometry",
    "Penetration": "geometry",
    "Shape": "geometry",
    "closest": "geometry",
    "collide": "geometry",
    "distance": "geometry",
    "penetration": "geometry",
    "Approach": "motion",
    "Impact": "motion",
    "Motion": "motion",
    "closest_approach": "motion",
    "ray_cast": "motion",
    "shape_cast": "motion",
    "time_of_impact": "motion",
    "check_pairs": "pairs",
    "collide_many": "pairs",
    "distance_many": "pairs",
    "Path": "path",
    "OUTSIDE": "region",
    "Region": "region",
    "CheckResult": "results",
    "ContactResult": "results",
    "CriticalityResult": "results",
    "GradientResult": "results",
    "NearestResult": "results",
    "PairsResult": "results",
    "PathResult": "results",
    "PathsResult": "results",
    "RayCastResult": "results",
    "TimeToCollisionResult": "results",
    "Scene": "scene",
    "Trace": "tracing",
    "TraceStep": "tracing",
    "trace": "tracing",
    "Status": "verdict",
    "Verdict": "verdict",
}

__all__ = [*_MODULE_OF, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first used (PEP 562)."""
    if name == "__version__":
        value: object = version(__name__)
    elif name == "_core":  # `from . import _core`, the first time
        value = _kernel()
    elif name in _MODULE_OF:
        value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _kernel() -> object:
    """Load the compiled kernel. The source folder of a clone does not contain it."""
    try:
        return import_module(f"{__name__}._core")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}._core":
            raise
        raise ImportError(
            f"the compiled kernel gjk_collision._core is not in {__path__[0]} for Python "
            f"{version_info.major}.{version_info.minor}. If this is the source folder of a clone: "
            "run 'pip install .' in the clone, then start Python in another folder or with "
            "PYTHONSAFEPATH=1 (Python 3.11 or newer). Otherwise, install gjk_collision for this "
            "Python",
            name=error.name,
        ) from None


def __dir__() -> list[str]:
    """Return all names, including public names that are not loaded yet."""
    return sorted({*globals(), *__all__})
