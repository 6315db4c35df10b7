# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes the history of a failure short: drops events while it still fails in the same way."""

from __future__ import annotations

import re
from dataclasses import replace

from .facts import Event, Plan
from .run import Outcome, Run


def shrunk(plan: Plan, outcome: Outcome, runs: int = 400) -> Plan:
    """Return a plan with fewer events that fails like `plan`."""
    wanted = _kind(outcome.violation)
    events = tuple(each for each in plan.events if each.at <= outcome.at)
    best = replace(plan, events=events)
    if not _fails(best, wanted):
        return plan
    size = max(1, len(events) // 2)
    while runs > 0:
        at, dropped = 0, False
        while at < len(best.events) and runs > 0:
            runs -= 1
            rest: tuple[Event, ...] = best.events[:at] + best.events[at + size :]
            tried = replace(best, events=rest)
            if _fails(tried, wanted):
                best, dropped = tried, True
            else:
                at += size
        if size == 1 and not dropped:
            break
        size = max(1, size // 2)
    return best


def _fails(plan: Plan, wanted: str) -> bool:
    return _kind(Run(plan).execute().violation) == wanted


def _kind(violation: str) -> str:
    return re.sub(r"[-\d.e]+", "#", violation)
