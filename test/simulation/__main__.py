# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs random seeds: python -m simulation [--seed N] [--hours H] [--minutes M]."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from .facts import Event, Plan
from .plan import BEGIN, new_plan
from .run import Run
from .shrink import shrunk


def main() -> int:
    """Return 1 if an answer could not be justified."""
    parser = argparse.ArgumentParser(prog="simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="first seed")
    parser.add_argument("--hours", type=float, default=0.0, help="real time to run for")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds, without --hours")
    parser.add_argument("--length", type=float, default=40.0, help="simulated time per seed [s]")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a violation")
    parser.add_argument("--no-shrink", action="store_true", help="print the whole history")
    given = parser.parse_args()
    begin, seed, failed, simulated = time.monotonic(), given.seed, 0, 0
    free: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    while True:
        plan = new_plan(seed, given.length)
        outcome = Run(plan).execute()
        free.update(outcome.free)
        answers.update(outcome.answers)
        seed += 1
        simulated += plan.length
        passed = time.monotonic() - begin
        if outcome.violation:
            failed += 1
            print(f"seed {plan.seed} after {passed:.0f} s: {outcome.violation}", flush=True)
            print(f"  faults: {', '.join(plan.faults)}; {(outcome.at - BEGIN) * 1e-9:.3f} s")
            if not given.keep_going:
                if not given.no_shrink:
                    plan = shrunk(plan, outcome)
                show(plan)
                break
        is_over = (
            passed > given.hours * 3600.0 if given.hours else seed >= given.seed + given.seeds
        )
        if is_over:
            break
    minutes = simulated * 1e-9 / 60.0
    print(f"{seed - given.seed} seeds, {minutes:.1f} simulated minutes, {passed:.0f} s")
    print(f"answers {dict(answers)}, FREE poses {dict(free)}, {failed} seeds failed")
    return 1 if failed else 0


def show(plan: Plan) -> None:
    """Print a history."""
    print(f"parameters: {dict(plan.parameters)}\nsimulated clock: {plan.is_simulated}")
    for event in plan.events:
        print(_line(event))


def _line(event: Event) -> str:
    return f"{(event.at - BEGIN) * 1e-9:10.4f} {event.kind:10} {dict(event.data)}"


if __name__ == "__main__":
    sys.exit(main())
