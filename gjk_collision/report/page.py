# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The HTML pages of replays: single files that load no other files, made from templates."""

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

from ..formats.figures import VEHICLE, VERDICT_COLOURS
from ..replay.drive import TRANSFORM
from ..verdict import Verdict
from .outcome import Outcome, Result, outcome_text, total_text
from .texts import causes, event_time, shared_causes

__all__ = ["overview", "page", "render"]


def page(summary: dict[str, Any], timeline: dict[str, Any], film: dict[str, Any]) -> str:
    """Return the page of one replay.

    `summary` is the content of summary.json; the others are from `Timeline` and `Film.to_dict`.
    """
    data = {
        "verdicts": [each.name for each in Verdict],
        "timeline": timeline,
        "film": film,
        "margin": summary.get("safety_margin", 0.0),
        "frame": summary.get("identity", {}).get("check_frame", ""),
        "events": [[each["from"], each["to"]] for each in summary["events"]["kept"]],
        "opens": _opens(summary),
        "from": summary.get("identity", {}).get("judged", (None,))[0],
        "limits": _limits(summary.get("parameters", {})),
        "names": (summary["golden"] or {}).get("names"),
    }
    result = Result(summary["name"], Outcome.PASSED, [], summary)
    return render(
        "page.html",
        summary=summary,
        counts=result.counts,
        event_time=event_time,
        data=_embedded(data),
    )


def _opens(summary: dict[str, Any]) -> float | None:
    """Return the time at which the page opens [s]: the first failure, or the worst event."""
    worst = (each["from"] for each in summary["events"]["kept"] if each["rank"] == 0)
    failures = (t for t in summary["failure_times"] if t is not None)
    return min(failures, default=next(worst, None))


def _limits(parameters: dict[str, Any]) -> dict[str, float]:
    """Return the maximum age of the data of each source [s]."""
    named = {
        name: parameters[f"{name}.timeout"]
        for name in parameters.get("obstacle_sources", ())
        if not parameters[f"{name}.static"]
    }
    own = {
        TRANSFORM: "transform_tolerance",
        "footprint": "footprint_timeout",
        "twist_topic": "twist_timeout",
    }
    return named | {name: parameters[key] for name, key in own.items() if key in parameters}


def overview(results: Sequence[Result]) -> str:
    """Return the page with links to the pages of many replays, the worst first."""
    ranked = sorted(results, key=_trouble)
    return render(
        "overview.html",
        results=ranked,
        outcome_text=outcome_text,
        total=total_text(results),
        causes=causes,
        shared=shared_causes(results),
    )


def render(name: str, **values: Any) -> str:
    """Return a template of this folder, filled in. All values are escaped, none may be missing."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(
        verdicts=VERDICT_COLOURS, vehicle=VEHICLE, **values
    )


def _trouble(result: Result) -> tuple[float | str, ...]:
    verdicts = result.summary.get("verdicts", {})
    counts = (-verdicts.get(name, 0) for name in ("COLLISION", "UNKNOWN", "MARGIN"))
    closest = result.summary.get("closest")
    return -result.outcome, *counts, closest["distance"] if closest else inf, result.name


def _embedded(data: Any) -> str:
    """Return JSON that cannot close the script element around it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
