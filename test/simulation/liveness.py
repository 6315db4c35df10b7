# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How long answers are UNKNOWN after a disturbance: the table in docs/ros.md, and its check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from .facts import MS, SECOND, Event, Plan
from .plan import BEGIN, new_plan
from .run import Run

DOCS = Path(__file__).parents[2] / "docs/ros.md"
AT = BEGIN + 8 * SECOND  # begin of the disturbance
DELAY = 60 * MS  # of messages and requests in a calm plan, and of the publication of snapshots


def _pause(who: str, duration: int) -> tuple[tuple[int, str, dict[str, Any]], ...]:
    return ((0, "pause", {"who": who, "duration": duration * MS}),)


def rows() -> dict[str, tuple[str, str]]:
    """Return the table: disturbance -> limit of the node, and of mirrors."""
    text = DOCS.read_text().partition("## How long answers are UNKNOWN")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    return {name: (node, mirror) for name, node, mirror in found[1:] if name != "---"}


# Disturbance -> its events, with their times after AT [ms], and its duration [ms]. Of two of them,
# `disturbed` changes the messages instead.
DISTURBANCES: dict[str, tuple[tuple[tuple[int, str, dict[str, Any]], ...], int]] = {
    "activation": (((0, "deactivate", {}), (900, "activate", {})), 900),
    "restart of the process": (((0, "crash", {}), (700, "restart", {"epoch": 4321})), 700),
    "`~/reset`": (((0, "reset", {}),), 0),
    "step back of the clock": (((0, "step", {"who": "all", "by": -2 * SECOND}),), 0),
    "invalid message": ((), 0),
    "an input is silent": ((), 6000),
    "pause of the process of the node, of up to 3 s": (_pause("node", 1200), 1200),
    "longer pause of the process of the node": (_pause("node", 3500), 3500),
    "pause of the process of the planner": (_pause("mirror", 1200), 1200),
    "outage of the network to the planner": (
        ((0, "outage", {"topic": "both", "until": AT + 2500 * MS, "holds": False}),), 2500,
    ),
    "change of a parameter": (((0, "parameter", {"name": "safety_margin", "factor": 1.5}),), 0),
    "correction of a static transform": (((0, "mount", {"place": (2.0, 1.0)}),), 0),
    "another node with the same name": (
        ((0, "twin", {"epoch": 1234, "rate": 5.0}), (1500, "end twin", {})), 1500,
    ),
}  # fmt: skip


def disturbed(row: str, plan: Plan) -> tuple[tuple[Event, ...], int]:
    """Return the events of a plan with a disturbance, and the time at which it ends."""
    added, duration = DISTURBANCES[row]  # each row of docs/ros.md
    events, end = list(plan.events), AT + duration * MS
    events += [Event(AT + after * MS, kind, data) for after, kind, data in added]
    if row == "invalid message":
        bad = next(e for e in plan.events if e.at > AT and e.data.get("source") == "lidar")
        events[events.index(bad)] = replace(bad, data={**bad.data, "bad": "shape"})
        end = bad.at
    elif row == "an input is silent":
        events = [e for e in events if e.data.get("source") != "lidar" or not AT <= e.at < end]
    return tuple(sorted(events, key=lambda each: each.at)), end


def too_late(row: str, seed: int) -> Iterator[str]:
    """Yield the answers that are UNKNOWN for longer than the table says."""
    faults = ("tilt",) if "transform" in row else ()  # with frames that are not the check frame
    plan = new_plan(seed, 20.0, faults)
    while plan.length > 25 * SECOND:  # the senders of this one are slow
        seed += 1000
        plan = new_plan(seed, 20.0, faults)
    # A reply is UNKNOWN if another footprint is for the present speed since it was asked for.
    calm = {"twist": {"speed": 0.5}, "mount": {"pitch": 0.0}}
    slow = [replace(e, data={**e.data, **calm.get(e.kind, {})}) for e in plan.events]
    plan = replace(plan, events=tuple(slow))
    parameters = dict(plan.parameters)
    for name in parameters:
        if name.endswith("timeout"):
            parameters[name] = 1.0
    for name in parameters["obstacle_sources"]:
        parameters[f"{name}.required"] = True
    # A search for a free pose has this much real time, which a busy machine may need.
    parameters["time_budget"] = 10.0
    events, end = disturbed(row, plan)
    outcome = Run(replace(plan, parameters=parameters, events=events)).execute()
    if outcome.violation:
        yield outcome.violation
    values = {"T": period(plan), "H": 1.0 / parameters["state_rate"]}
    for who, limit in zip(("node", "mirror"), rows()[row], strict=True):
        most = sum(seconds_of(each, values) for each in limit.split("+"))
        passed = (outcome.last_unknown.get(who, 0) - end - DELAY) * 1e-9
        if passed > most:
            yield f"{who}: UNKNOWN {passed:.3f} s after {row}, limit {limit} = {most:.3f} s"
        if not outcome.answers.get("CheckPoses") or not outcome.answers.get("mirror"):
            yield "there were no questions"


def period(plan: Plan) -> float:
    """Return the longest time between two messages of an input [s]."""
    times: dict[tuple[str, str], list[int]] = {}
    for each in plan.events:
        if each.kind in ("list", "footprint", "twist") and each.data["source"] != "map":
            times.setdefault((each.data["source"], each.data["sender"]), []).append(each.at)
    return max(after - at for one in times.values() for at, after in pairwise(one)) * 1e-9


def seconds_of(term: str, values: dict[str, float]) -> float:
    """Return the value of a term of the table [s]: T, H, or a number of seconds."""
    term = term.strip()
    return values[term] if term in values else float(term.removesuffix(" s"))
