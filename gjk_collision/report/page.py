# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The HTML pages of replays: single files that load no other files, made from templates."""

import json
from collections.abc import Sequence
from math import inf
from typing import Any

from ..verdict import Verdict
from .outcome import Outcome, Result, outcome_text, total_text
from .templates import render
from .texts import event_time

__all__ = ["overview", "page"]


def page(summary: dict[str, Any], timeline: dict[str, Any], film: dict[str, Any]) -> str:
    """Return the page of one replay.

    Parameters
    ----------
    summary : dict
        The content of summary.json.
    timeline : dict
        The result of `timeline.Timeline.to_dict`.
    film : dict
        The result of `film.Film.to_dict`.
    """
    golden = summary["golden"] or {}
    data = {
        "verdicts": [each.name for each in Verdict],
        "timeline": timeline,
        "film": film,
        "margin": summary.get("safety_margin", 0.0),
        "frame": summary.get("identity", {}).get("check_frame", ""),
        "events": [each["from"] for each in summary["events"]["kept"]],
        "opens": _opens(summary),
        "from": summary.get("identity", {}).get("judged", (None,))[0],
        "expectations": summary["expectations"],
        "limits": _limits(summary.get("parameters", {})),
        "names": golden.get("names"),
        "golden_margin": _golden_margin(summary.get("parameters", {}), golden.get("parameters")),
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
    own = {"footprint": "footprint_timeout", "twist_topic": "twist_timeout"}
    return named | {name: parameters[key] for name, key in own.items() if key in parameters}


def _golden_margin(parameters: dict[str, Any], differing: list[Any] | None) -> float | None:
    """Return the safety margin of the golden result [m].

    None: it is not known, or the vehicle of the golden result can have another footprint.
    """
    if differing is None:
        return None
    old = {name: value for name, value, _ in differing}
    own = ("margin_", "footprint", "robot_radius", "base_frame", "check_frame")
    if any(name.startswith(own) for name in old if name != "footprint_timeout"):
        return None
    margin: float = old.get("safety_margin", parameters.get("safety_margin", 0.0))
    return margin


def overview(results: Sequence[Result]) -> str:
    """Return the page with links to the pages of many replays, the worst first."""
    ranked = sorted(results, key=_trouble)
    return render(
        "overview.html", results=ranked, outcome_text=outcome_text, total=total_text(results)
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
