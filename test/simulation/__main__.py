# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulates the whole chain under random seeds, and checks each answer FREE."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from functools import partial
from multiprocessing import Pool

from .facts import Event, Plan
from .plan import BEGIN, new_plan
from .run import Outcome, Run
from .shrink import shrunk

AT_ONCE = 4


def main() -> int:
    """Return 1 if an answer could not be justified."""
    parser = argparse.ArgumentParser(prog="./dev simulate", description=__doc__)
    parser.add_argument(
        "--seed", type=int, help="simulate this seed alone; with --hours: the first one. Default: "
        "from the date, so that each day has its own seeds",
    )  # fmt: skip
    parser.add_argument("--hours", type=float, help="time to run for; default without --seed: .05")
    parser.add_argument("--seeds", type=int, help="number of seeds, instead of --hours")
    parser.add_argument("--length", type=float, default=40.0, help="simulated time per seed [s]")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count(), help="default: one per core"
    )
    parser.add_argument("--keep-going", action="store_true", help="do not stop at a violation")
    given = parser.parse_args()
    first = given.seed
    if first is None:
        first = int(datetime.now(tz=timezone.utc).strftime("%y%m%d")) * 1_000_000
    hours = given.hours or (0.0 if given.seeds or given.seed is not None else 0.05)
    count = (given.seeds or 1) if not hours else 1_000_000
    begin, seeds, simulated, failed = time.monotonic(), 0, 0, 0
    free: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    print(f"seeds from {first}", flush=True)
    # A simulated process that ends leaves requests behind, which keep its memory.
    with Pool(min(given.processes, count), maxtasksperchild=50) as pool:
        found = pool.imap_unordered(
            partial(outcome_of, given.length),
            range(first, first + count),
            1 if count < 50 else AT_ONCE,
        )
        for seed, length, outcome in found:
            seeds, simulated = seeds + 1, simulated + length
            free.update(outcome.free)
            answers.update(outcome.answers)
            passed = time.monotonic() - begin
            if outcome.violation:
                failed += 1
                report(seed, given.length, outcome, passed, short=not given.keep_going)
            is_over = failed and not given.keep_going
            if is_over or (hours and passed > 3600.0 * hours):
                pool.terminate()
                break
    print(f"{seeds} seeds, {simulated / 6e10:.0f} simulated minutes, {passed:.0f} s")
    print(f"answers {dict(answers)}\nFREE poses {dict(free)}\n{failed} seeds failed")
    return 1 if failed else 0


def outcome_of(length: float, seed: int) -> tuple[int, int, Outcome]:
    """Return the outcome of a seed, and its simulated time [ns]."""
    plan = new_plan(seed, length)
    return seed, plan.length, Run(plan).execute()


def report(seed: int, length: float, outcome: Outcome, passed: float, *, short: bool) -> None:
    """Print a violation, and the shortest history that was found for it."""
    plan = new_plan(seed, length)
    print(f"seed {seed} after {passed:.0f} s: {outcome.violation}")
    print(f"  faults: {', '.join(plan.faults)}; {(outcome.at - BEGIN) * 1e-9:.3f} s", flush=True)
    if short:
        print("\n".join(lines(shrunk(plan, outcome))))


def lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of a history."""
    yield f"parameters: {dict(plan.parameters)}"
    yield f"steps of the clock are reported: {plan.is_simulated}"
    for event in plan.events:
        yield _line(event)


def _line(event: Event) -> str:
    return f"{(event.at - BEGIN) * 1e-9:10.4f} {event.kind:10} {dict(event.data)}"


if __name__ == "__main__":
    sys.exit(main())
